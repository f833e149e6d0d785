"""Checks of what can be scored but is probably not what was meant: names, overlaps, gaps, times, values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sedeval_soft.arrays import Floats
from sedeval_soft.errors import InputError, be, counted, quoted
from sedeval_soft.names import apart, did_you_mean, folded
from sedeval_soft.tables.columns import is_number
from sedeval_soft.tables.event_table import UNNAMED, EventTable
from sedeval_soft.tables.filenames import listing, match_names, named_alike, unknown_names
from sedeval_soft.tables.problem_codes import problem
from sedeval_soft.timeline.alignment_report import (
    DAY,
    TICK,
    Ordered,
    RowStatistics,
    are_swapped,
    files_ended_early,
    last_offsets,
    rows_after_end,
    similar_names,
    touching_rows,
)
from sedeval_soft.timeline.recordings import files_with_events, name_single_file
from sedeval_soft.tools.validate_tables import Log, Table

_COMPARED = 200_000
"""How many pairs of names are compared, letter by letter, to guess what was meant."""

_FEW = 10
"""Fewer values than this may be alike by chance."""

_OF_ROWS = {
    "zero-length": ("offset", "begins and ends at {onset:.6g} s"),
    "duplicate-row": ("onset", "repeats line {line}"),
    "overlapping-rows": ("onset", "overlaps line {line} of the same {group}: {onset:.6g} to {offset:.6g} s"),
    "touching-rows": ("onset", "begins where line {line} ends{likewise}"),
    "gap": ("onset", "there are no rows from {end:.6g} to {onset:.6g} s"),
    "late-start": ("onset", "the first row of the recording begins at {onset:.6g} s"),
    "swapped-columns": ("filename", "{why}"),
    "time-unit": ("offset", "ends at {offset:.6g} s; {unit}"),
    "long-recording": ("offset", "ends at {offset:.6g} s: the recording would be {days:.3g} days long"),
    "after-end": ("offset", "ends at {offset:.6g} s, {after} {length:.6g} s long{likewise}"),
    "outlasting-row": ("offset", "ends at {offset:.6g} s, {times:,.3g} times as late as any other row"),
    "early-end": ("offset", "its last row ends at {offset:.6g} s, the recording at {length:.6g} s"),
}
"""Of the codes of single rows: the role of the column that is wrong, and the message."""

_OF_NAMES = {
    "control-character": "parts of {name} cannot be seen",
    "similar-classes": "class {name} is not the same as {other}",
    "unknown-class": "class {name} is not {where}{hint}",
    "class-spelling": "class {name} is not {where}, {other} is",
    "unknown-file": "file {name} is not {where}{hint}",
    "ambiguous-file": "file {name} could be more than one file of those {where}",
}
"""Of the codes of names: the message."""


def known_spellings(names: Iterable[str], known: Sequence[str]) -> dict[str, str]:
    """Return the names that are not known, but differ from one known name alone as `folded` names do not."""
    by_look: dict[str, list[str]] = {}
    for name in known:
        by_look.setdefault(folded(name), []).append(name)
    alike = {name: by_look.get(folded(name), []) for name in {*names} - {*known}}
    return {name: others[0] for name, others in alike.items() if len(others) == 1}


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


def _add_rows(log: Log, code: str, table: Table, rows: Any, others: Any = None, **facts: Any) -> None:  # noqa: ANN401
    """Enter a problem of each of some rows, (n,) places in the table.

    others: (n,) the row that each is about, if that is another one. facts: of all or of each, what the
    message needs beside the times of the row that it is about, and that one's line.
    """
    if not len(rows):
        return
    role, message = _OF_ROWS[code]
    order = np.argsort(rows, kind="stable")[: log.most]
    first, about = (np.asarray(each)[order] for each in (rows, rows if others is None else others))
    facts = {name: np.broadcast_to(value, len(rows))[order] for name, value in facts.items()}
    facts |= {"onset": table.rows.onset[about], "offset": table.rows.offset[about]}
    facts["line"] = table.lines_of(about)
    column, problems = table.column(role), []
    for line, *values in zip(table.lines_of(first), *facts.values(), strict=True):
        text = message.format(**dict(zip(facts, values, strict=True)))
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
    """Find rows that are there twice, overlap or touch, and those without length; gaps between time steps.

    Rows are put in order of their group (file and class) and onset, and compared with their neighbours. Where
    neighbours overlap, a second, slower look finds which rows do.
    """
    rows = table.rows
    _add_rows(log, "zero-length", table, np.flatnonzero(rows.offset == rows.onset))
    group = rows.groups()
    ordered = Ordered.of(rows, group)
    ends = ordered.offset[:-1]
    if ordered.overlaps.any():
        order = np.lexsort((*rows.values, rows.offset, rows.onset, group))
        ordered = Ordered.of(rows, group, order)
        twice = np.append(False, ordered.repeats)
        for column in rows.values:
            twice[1:] &= np.diff(column[order]) == 0
        # The sort is stable: the first of equal rows stands first in the table, too.
        first = np.maximum.accumulate(np.where(twice, 0, np.arange(len(order))))
        _add_rows(log, "duplicate-row", table, order[twice], order[first[twice]])
        ordered = Ordered.of(rows, group, order[~twice])
        # The rank of a row's end within its group, so that one running maximum serves all groups.
        by_end = np.lexsort((ordered.offset, group[ordered.row]))
        longest = by_end[np.maximum.accumulate(np.argsort(by_end))][:-1]
        ends = ordered.offset[longest]
        overlaps = ordered.same & (ordered.onset[1:] < ends - TICK / 2)
        pairs = np.stack((ordered.row[1:][overlaps], ordered.row[longest[overlaps]]))
        group_name = "file" if rows.has_steps else "file and class"
        _add_rows(log, "overlapping-rows", table, pairs.max(axis=0), pairs.min(axis=0), group=group_name)
    later, earlier = ordered.row[1:], ordered.row[:-1]
    if rows.has_steps:
        gaps = ordered.same & (ordered.onset[1:] > ends + TICK / 2)
        _add_rows(log, "gap", table, later[gaps], end=ends[gaps])
        starts = np.append(True, ~ordered.same) & (ordered.onset > TICK / 2)
        _add_rows(log, "late-start", table, ordered.row[starts])
        return
    touching = touching_rows(ordered)
    # Where most rows touch, they are time steps, which do so by nature. Without values each is an event.
    if not rows.has_values or 2 * np.count_nonzero(touching) <= max(len(ordered.row), 4):
        for values in rows.values:
            touching &= values[later] == values[earlier]
        touch = np.flatnonzero(touching)
        if len(touch):
            # In some tables thousands do: the first is told, and how many others there are.
            first = touch[[np.argmin(later[touch])]]
            others = f", and {counted(len(touch) - 1, 'other row')} likewise" if len(touch) > 1 else ""
            _add_rows(log, "touching-rows", table, later[first], earlier[first], likewise=others)


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
        _add_rows(log, "swapped-columns", swapped[0], [0], why=why)
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
    last = last_offsets(rows)
    found, latest = RowStatistics.of(rows, expected, whole, last), int(np.argmax(rows.offset))
    unit = found.unit()
    if unit is not None:
        _add_rows(log, "time-unit", table, [latest], unit=unit[0])
        return
    row, late = found.latest, rows_after_end(rows, last, whole)
    if row is not None and found.is_late() and not found.over_day and not len(late):
        at = np.flatnonzero((rows.offset == row.offset) & (rows.onset == row.onset))
        at = at[[rows.files[file] == row.file for file in rows.file[at].tolist()]]
        after = "many times as late as the recording, which is at least"
        length = row.length or found.longest
        _add_rows(log, "after-end", table, at[:1], after=after, length=length, likewise="")
    if found.outlasts() and not found.longest and not found.over_day:
        _add_rows(log, "outlasting-row", table, [latest], times=found.ends[0] / found.ends[1])
    at_end = np.flatnonzero(rows.offset == last[rows.file])[::-1]
    last_row = np.zeros(len(last), dtype=np.intp)
    last_row[rows.file[at_end]] = at_end  # the first of those that end last
    long = last_row[(last > DAY) & ~np.isfinite(whole)]
    _add_rows(log, "long-recording", table, long, days=rows.offset[long] / DAY)
    after, likewise = "after the recording, which is", ""
    if rows.has_steps and len(late) > 1:
        # Frames of a window go on after the end of what they were made of, in all recordings alike.
        late, likewise = late[:1], f", and {counted(len(late) - 1, 'other row')} likewise"
    ends = whole[rows.file[late]]
    _add_rows(log, "after-end", table, late, after=after, length=ends, likewise=likewise)
    early = files_ended_early(rows, last, expected)
    _add_rows(log, "early-end", table, last_row[early], length=expected[early])
