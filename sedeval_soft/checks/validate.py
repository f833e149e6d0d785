"""Checks of what can be scored but is probably not what was meant: names, overlaps, gaps, times, values."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sedeval_soft.arrays import Floats
from sedeval_soft.checks.files import files_with_events, name_single_file
from sedeval_soft.checks.messages import MESSAGES
from sedeval_soft.checks.names import are_swapped, known_spellings, similar_names
from sedeval_soft.checks.placed_tables import Log, Table
from sedeval_soft.checks.row_statistics import RowStatistics
from sedeval_soft.checks.rows import CHECKS, Found, Side, last_offsets, touching
from sedeval_soft.errors import InputError, be, counted, quoted
from sedeval_soft.names import apart, did_you_mean
from sedeval_soft.tables.columns import is_number
from sedeval_soft.tables.event_table import UNNAMED, EventTable
from sedeval_soft.tables.filenames import listing, match_names, named_alike, unknown_names
from sedeval_soft.tables.problem_codes import problem

_COMPARED = 200_000
"""How many pairs of names are compared, letter by letter, to guess what was meant."""

_FEW = 10
"""Fewer values than this may be alike by chance."""

_OF_NAMES = {
    "control-character": "parts of {name} cannot be seen",
    "similar-classes": "class {name} is not the same as {other}",
    "unknown-class": "class {name} is not {where}{hint}",
    "class-spelling": "class {name} is not {where}, {other} is",
    "unknown-file": "file {name} is not {where}{hint}",
    "ambiguous-file": "file {name} could be more than one file of those {where}",
}
"""Of the codes of names: the message."""


def _add_names(
    log: Log,
    code: str,
    tables: Sequence[Table],
    role: str,
    names: Sequence[str],
    where: str = "",
    *,
    known: Sequence[str] = (),
    others: Mapping[str, str] | None = None,
) -> None:
    """Enter a problem of each of some names of files or classes, where it stands first.

    where: in which list they are not, in words. known: names of which they may be misspelt. others: of each
    name the one that is meant.
    """
    if not names:
        return
    places: dict[str, tuple[str, int | None, int | None]] = {}
    for table in reversed(tables):
        places |= table.places(role)
    problems = []
    for name in names[: log.most]:
        hint = did_you_mean(name, known, n=1) if len(names) * len(known) <= _COMPARED else ""
        shown, other = apart(name, (others or {}).get(name, ""), quoted)
        message = _OF_NAMES[code].format(name=shown, where=where, other=other, hint=hint)
        mend = f"write {other}" if code == "class-spelling" else ""
        place = places.get(name, (tables[0].name, None, None))
        problems.append(problem(code, place[0], message, *place[1:], mend))
    log.add(*problems, counts={code: len(names)})


def _add_rows(log: Log, code: str, table: Table, found: Found, **facts: Any) -> None:  # noqa: ANN401
    """Enter a problem of each row that a check found; facts: of all of them, beside those of the check."""
    rows, others, of_each = found
    if not len(rows):
        return
    message = MESSAGES[code]
    order = np.argsort(rows, kind="stable")[: log.most]
    first, about = (np.asarray(each)[order] for each in (rows, rows if others is None else others))
    facts = {name: np.broadcast_to(value, len(rows))[order] for name, value in {**of_each, **facts}.items()}
    facts |= {"onset": table.rows.onset[about], "offset": table.rows.offset[about]}
    facts["line"] = table.lines_of(about)
    column, problems = table.column(message.role), []
    for line, *values in zip(table.lines_of(first), *facts.values(), strict=True):
        text = message.placed.format(**dict(zip(facts, values, strict=True)))
        problems.append(problem(code, table.name, text, line, column))
    log.add(*problems, counts={code: len(rows)})


# One table by itself.


def check_table(table: Table, log: Log) -> None:
    """Look at the names, the values and the times of one table by themselves."""
    rows, layout = table.rows, table.layout
    for role in ("filename", "event_label"):
        hidden = [name for name in table.names(role) if not name.isprintable()]
        _add_names(log, "control-character", [table], role, hidden)
    alike = similar_names(table.names("event_label"))
    _add_names(log, "similar-classes", [table], "event_label", list(alike), others=alike)
    if not layout.wide and rows.classes and all(map(is_number, rows.classes)):
        line, column = table.header or 1, table.column("event_label")
        log.add(problem("numeric-labels", table.name, "all classes are numbers", line, column))
    for i, (name, role_) in enumerate(zip(layout.names, layout.roles, strict=True)):
        if layout.has_header and role_ is None and i not in layout.settled:
            meant = ("soft_value", "value", "score", "filename")
            message = f"column {quoted(name)} is ignored{did_you_mean(name.lower(), meant, n=1, cutoff=0.8)}"
            log.add(problem("ignored-column", table.name, message, table.header, i + 1))
    log.add(*(problem("assumed", table.name, text) for text in rows.origin.assumed))
    log.add(*(problem("value-rounded", table.name, note) for note in rows.origin.notes))
    _check_values(table, log)
    if len(rows):
        _check_spans(table, log)


def _check_values(table: Table, log: Log) -> None:
    """Note values that are all 0 or 1, or all alike."""
    columns = table.rows.values
    number = sum(map(len, columns))
    if not number:
        return
    first = columns[0][0]
    if all(((values == 0) | (values == 1)).all() for values in columns):
        which = "the only value is" if number == 1 else f"all {number} values are"
        code, message = "values-all-hard", f"{which} 0 or 1; soft scores lie between them"
    elif number >= _FEW and all((values == first).all() for values in columns):
        code, message = "values-all-equal", f"all {number} values are {first:.6g}"
    else:
        return
    log.add(problem(code, table.name, message, table.header, table.column("soft_value")))


def _check_spans(table: Table, log: Log) -> None:
    """Find rows that are there twice, overlap or touch, and those without length; gaps between time steps."""
    rows = table.rows
    n_files = len(rows.files)
    side = Side(rows, np.zeros(n_files), np.full(n_files, np.inf), last_offsets(rows))
    for code in ("zero-length", "duplicate-row", "overlapping-rows", "gap", "late-start"):
        _add_rows(log, code, table, CHECKS[code](side))
    if rows.has_steps:
        return
    later, earlier, _ = touching(side)
    # Where most rows touch, they are time steps, which do so by nature. Without values each is an event.
    if earlier is not None and not (rows.has_values and 2 * len(later) > max(len(side.spans.ordered.row), 4)):
        alike = np.ones(len(later), dtype=bool)
        for values in rows.values:
            alike &= values[later] == values[earlier]
        later, earlier = later[alike], earlier[alike]
        if len(later):
            # In some tables thousands do: the first is told, and how many others there are.
            first = [int(np.argmin(later))]
            others = f", and {counted(len(later) - 1, 'other row')} likewise" if len(later) > 1 else ""
            _add_rows(log, "touching-rows", table, Found(later[first], earlier[first]), likewise=others)


# Tables held against what is expected.


def only_listed(
    name: str,
    tables: list[Table],
    reference: EventTable | None,
    durations: Mapping[str, float],
    files: Sequence[str],
    log: Log,
) -> tuple[list[Table], EventTable | None, Mapping[str, float]]:
    """Return tables, reference and durations of listed files only; others as for `compare`.

    The names of both sides match first, then those of the list match theirs, as where they are scored.
    """
    expected = [*dict.fromkeys([*(reference.files if reference is not None else ()), *durations])]
    named = dict.fromkeys(file for table in tables for file in table.names("filename"))
    own = match_names(expected, named).canonical
    every = [*dict.fromkeys([*expected, *own.values()])]
    match = match_names(every, files)
    inside = {*match.canonical.values()} & {*every}
    unknown = unknown_names(files, {file for file, other in match.canonical.items() if other in inside})
    if unknown:
        hint = named_alike(sorted({*every} - inside), unknown, ("table", "list"))
        text = (
            f"{listing(unknown, 'listed file')} {be(len(unknown))} neither in it nor in the reference{hint}"
        )
        log.add(problem("listed-file", name, text))
    left_out = [file for file in named if own[file] not in inside]
    if left_out:
        text = f"{listing(left_out, 'file')} {be(len(left_out))} not listed, and not looked at"
        log.add(problem("files-left-out", name, text))
    if reference is not None:
        stays = np.array([file in inside for file in reference.files], dtype=bool)
        reference = reference if stays.all() else reference.only_files(stays).of_used_classes()
    chosen = []
    for table in tables:
        stays = np.array([own[file] in inside for file in table.rows.files], dtype=bool)
        on_lines = {file: at for file, at in table.named.get("filename", {}).items() if own[file] in inside}
        rows, lines = table.rows, table.lines
        if not stays.all():
            lines = table.lines_of(np.flatnonzero(stays[rows.file]))
            rows = rows.only_files(stays).of_used_classes()
        chosen.append(replace(table, rows=rows, lines=lines, named={**table.named, "filename": on_lines}))
    return chosen, reference, {file: s for file, s in durations.items() if file in inside}


def compare(
    name: str,
    tables: list[Table],
    reference: EventTable | None,
    classes: Sequence[str] | None,
    whose: str,
    durations: Mapping[str, float],
    log: Log,
    listed: Sequence[str] = (),
) -> list[Table]:
    """Hold tables against what is expected; return them with the names that files have there.

    name: of all of them, as the user gave it. classes: those that there can be, and whose they are, in words.
    durations: seconds by file name. listed: files that are to be there, where nothing else says so.
    """
    reference = _name_files(tables, reference, durations, log)
    swapped = [
        table
        for table in tables
        if reference is not None
        and not table.layout.wide
        and are_swapped(table.rows.files, table.rows.classes, reference.files, reference.classes)
    ]
    if swapped:
        why = "file names are classes of the reference, and classes are its files"
        _add_rows(log, "swapped-columns", swapped[0], Found(np.array([0])), why=why)
    if reference is not None:
        for pair in similar_names(reference.classes).items():
            shown, other = apart(*pair, quoted)
            text = _OF_NAMES["similar-classes"].format(name=shown, other=other)
            log.add(problem("similar-classes", reference.origin.name, text))
    if classes is None and reference is not None:
        unknown = reference.origin.unknown
        classes, whose = [name for name in reference.classes if name not in unknown], "in the reference"
    if classes is not None and not swapped:
        _check_classes(tables, classes, whose, name, log)
    # How long recordings are at least, and how long exactly where that is known.
    lengths: dict[str, float] = {}
    whole: dict[str, float] = {}
    if reference is not None:
        ends = zip(reference.files, last_offsets(reference).tolist(), strict=True)
        lengths = {file: end for file, end in ends if end and reference.origin.timed}
        # Time steps are of all of a recording; events may end long before it does.
        whole = dict(lengths) if reference.has_steps else {}
        canonical = match_names(reference.files, durations).canonical
        durations = {canonical[file]: seconds for file, seconds in durations.items()}
    whole |= durations
    lengths |= whole
    renamed: Mapping[str, str] = {}
    files = [*(reference.files if reference is not None else ()), *whole]
    files = files or [*listed]
    if not swapped and files and files != [UNNAMED] and "missing-filename-column" not in log.counts:
        where = (
            "in the reference" if reference is not None else "in the durations" if whole else "in the list"
        )
        # In a recording without events nothing can be missed.
        eventful = files if reference is None else files_with_events(reference, reference.files)
        renamed = _check_files(tables, tuple(dict.fromkeys(files)), eventful, where, name, log)
    for table in tables:
        names = [renamed.get(file, file) for file in table.rows.files]
        least = np.array([lengths.get(name, 0.0) for name in names])
        _check_times(table, least, np.array([whole.get(name, np.inf) for name in names]), log)
    return tables


def _name_files(
    tables: list[Table], reference: EventTable | None, durations: Mapping[str, float], log: Log
) -> EventTable | None:
    """Name the files of tables without names as expected, in place; return the reference, if it is of use."""
    try:
        for i, table in enumerate(tables):
            if reference is not None:
                reference, rows = name_single_file(reference, table.rows, durations)
                tables[i] = replace(table, rows=rows)
            elif table.rows.files == (UNNAMED,) and len(durations) == 1:
                tables[i] = replace(table, rows=replace(table.rows, files=tuple(durations)))
            elif table.rows.files == (UNNAMED,) and durations:
                message = f"there is no column of file names, but {len(durations)} files have a duration"
                log.add(problem("missing-filename-column", table.name, message))
    except InputError as error:
        log.add_error(error)
        return None
    return reference


def _check_classes(tables: Sequence[Table], known: Sequence[str], where: str, source: str, log: Log) -> None:
    """Compare the classes of some tables with those that are known; where: in words."""
    named = list(dict.fromkeys(name for table in tables for name in table.names("event_label")
                               if name not in table.rows.origin.unknown))  # fmt: skip
    spelt = known_spellings(named, known)
    expected, present = {*known, *spelt}, {*named, *spelt.values()}
    unknown = [name for name in named if name not in expected]
    _add_names(log, "unknown-class", tables, "event_label", unknown, where, known=known)
    respelt = [name for name in named if name in spelt]
    _add_names(log, "class-spelling", tables, "event_label", respelt, where, others=spelt)
    for name in known:
        if name not in present:
            message = f"class {quoted(name)} of those {where} is never named"
            log.add(problem("missing-class", source, message))


def _check_files(
    tables: Sequence[Table],
    reference: Sequence[str],
    eventful: Collection[str],
    where: str,
    source: str,
    log: Log,
) -> Mapping[str, str]:
    """Compare the files of some tables with those of the reference; return by what names it knows them.

    eventful: those of the reference that may have events.
    """
    named = list(dict.fromkeys(name for table in tables for name in table.names("filename")))
    match = match_names(reference, named)
    known, ambiguous = {*reference}, {*match.ambiguous}
    extra = [name for name in named if match.canonical[name] not in known and name not in ambiguous]
    missing = sorted(known - {*match.canonical.values(), UNNAMED})
    _add_names(log, "unknown-file", tables, "filename", extra, where, known=missing)
    _add_names(log, "ambiguous-file", tables, "filename", match.ambiguous, where)
    for name in (name for name in missing if name in eventful):
        log.add(problem("missing-file", source, f"there are no rows for file {quoted(name)}"))
    return match.canonical


def _check_times(table: Table, expected: Floats, whole: Floats, log: Log) -> None:
    """Find times in another unit, and rows beyond the end of their recording.

    expected: (n_files,) how long recordings are at least, 0 where unknown. whole: how long exactly, else
    infinite.
    """
    rows = table.rows
    if not len(rows) or not rows.origin.timed:
        return
    side = Side(rows, expected, whole, last_offsets(rows))
    found, latest = RowStatistics.of(side), Found(np.array([np.argmax(rows.offset)]))
    unit = found.unit()
    if unit is not None:
        _add_rows(log, "time-unit", table, latest, unit=unit[0])
        return
    row, late = found.latest, side.after_end
    if row is not None and found.is_late() and not found.over_day and not len(late):
        at = np.flatnonzero((rows.offset == row.offset) & (rows.onset == row.onset))
        at = at[[rows.files[file] == row.file for file in rows.file[at].tolist()]]
        after = "many times as late as the recording, which is at least"
        length = row.length or found.longest
        _add_rows(log, "after-end", table, Found(at[:1]), after=after, length=length, likewise="")
    if found.outlasts() and not found.longest and not found.over_day:
        _add_rows(log, "outlasting-row", table, latest, times=found.ends[0] / found.ends[1])
    after, likewise = "after the recording, which is", ""
    if rows.has_steps and len(late) > 1:
        # Frames of a window go on after the end of what they were made of, in all recordings alike.
        late, likewise = late[:1], f", and {counted(len(late) - 1, 'other row')} likewise"
    ends = whole[rows.file[late]]
    _add_rows(log, "after-end", table, Found(late), after=after, length=ends, likewise=likewise)
    for code in ("long-recording", "early-end"):
        _add_rows(log, code, table, CHECKS[code](side))
