"""Checks of what can be scored but is probably not what was meant: names, overlaps, gaps, times, values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from sedeval_soft.errors import Problem
from sedeval_soft.names import did_you_mean, folded
from sedeval_soft.tables.columns import is_number
from sedeval_soft.tables.event_table import UNNAMED
from sedeval_soft.tables.filenames import match_names
from sedeval_soft.tables.problem_codes import problem
from sedeval_soft.timeline.plausibility import (
    DAY,
    TICK,
    Ordered,
    RowStatistics,
    are_swapped,
    decimal_files,
    files_ended_early,
    in_order,
    last_offsets,
    rows_after_end,
    similar_names,
)
from sedeval_soft.tools.validate_tables import Log, Table

Index = npt.NDArray[np.intp]
Floats = npt.NDArray[np.float64]

_COMPARED = 200_000
"""How many pairs of names are compared, letter by letter, to guess what was meant."""

_SHOWN = 80

_FEW = 10
"""Fewer values than this may be alike by chance."""

_SAMPLE = 1000
"""Values that are looked at before all of them are."""


def shown(name: str) -> str:
    """Return a name in quotes, what cannot be seen escaped, the end of a long one left out."""
    return repr(name if len(name) <= _SHOWN else name[:_SHOWN] + "...")


def check_names(table: Table, log: Log) -> None:
    """Look at the names of one table by themselves."""
    rows = table.rows
    for role, names in (("filename", table.files), ("event_label", table.classes)):
        hidden = [name for name in names if not name.isprintable()]
        _tell("control-character", [table], role, hidden, lambda n: f"{shown(n)} is not all to be seen", log)
    like = similar_names(table.classes)
    said = "class {} is another than {}"
    _tell("similar-classes", [table], "event_label", list(like),
          lambda n: said.format(shown(n), shown(like[n])), log)  # fmt: skip
    if not rows.is_wide and rows.classes and all(map(is_number, rows.classes)):
        line = table.sniffed.skip or 1
        at = table.column("event_label")
        log.add(problem("numeric-labels", table.name, "all classes are numbers", line, at))
    message = decimal_files(rows, has_header=table.sniffed.layout.has_header)
    if message is not None and len(rows):
        first = table.lines_of([0])[0]
        log.add(problem("swapped-columns", table.name, message, first, table.column("filename")))
    layout = table.sniffed.layout
    columns = enumerate(zip(layout.names, layout.roles, strict=True))
    ignored = [(i, name) for i, (name, role) in columns if role is None and i not in layout.settled]
    ignored = ignored if layout.has_header else []
    log.add_many("ignored-column", len(ignored), (_ignored(table, *column) for column in ignored))


def _ignored(table: Table, at: int, name: str) -> Problem:
    hint = did_you_mean(name.lower(), ("soft_value", "value", "score", "filename"), n=1, cutoff=0.8)
    message = f"column {shown(name)} is read past{hint}"
    return problem("ignored-column", table.name, message, table.sniffed.skip or None, at + 1)


def _tell(
    code: str,
    tables: Sequence[Table],
    role: str,
    names: Sequence[str],
    said: Callable[[str], str],
    log: Log,
    mend: Callable[[str], str] = lambda _: "",
) -> None:
    """Tell of some names of files or classes, where each stands first."""
    places = places_of(tables, role, names[: log.most])
    log.add_many(
        code,
        len(names),
        (
            problem(code, source, said(name), line, column, mend(name))
            for name, (source, line, column) in places.items()
        ),
    )


def places_of(
    tables: Sequence[Table], role: str, names: Sequence[str]
) -> dict[str, tuple[str, int | None, int | None]]:
    """Return the table, line and column where each of some names stands first."""
    places: dict[str, tuple[str, int | None, int | None]] = {}
    for table in tables:
        left = {name for name in names if name not in places}
        if not left:
            break
        places |= {name: (table.name, *at) for name, at in _places_in(table, role, left).items()}
    return {name: places.get(name, (tables[0].name, None, None)) for name in names}


def _places_in(table: Table, role: str, names: set[str]) -> dict[str, tuple[int | None, int | None]]:
    rows, column = table.rows, table.column(role)
    if role == "event_label" and rows.is_wide:
        known = names & {*rows.classes}
        return {name: (table.sniffed.skip, table.column(name)) for name in known}
    of = rows.files if role == "filename" else rows.classes
    if column is None:
        return dict.fromkeys(names & {*of}, (None, None))
    codes = rows.file if role == "filename" else rows.row_label
    first = {name: _first(codes, code) for code, name in enumerate(of) if name in names}
    used = {name: row for name, row in first.items() if row is not None}
    lines: dict[str, int] = {n: line for n, line in table.named.get(role, {}).items() if n in names}
    if len(used) < len(first):
        declared = table.lines_of_declared()
        lines |= {name: declared[name] for name in first if name not in used and name in declared}
    lines |= dict(zip(used, table.lines_of(list(used.values())), strict=True))
    return {name: (line, column) for name, line in lines.items()}


def _first(codes: npt.NDArray[np.int32], code: int) -> int | None:
    """Return the first row of a code, None where there is none."""
    found = codes == code
    row = int(np.argmax(found)) if len(found) else 0
    return row if len(found) and bool(found[row]) else None


def check_classes(tables: Sequence[Table], known: Sequence[str], where: str, source: str, log: Log) -> None:
    """Compare the classes of some tables with those that are known; where: in words."""
    named = list(dict.fromkeys(name for table in tables for name in table.classes))
    by_look: dict[str, list[str]] = {}
    for name in known:
        by_look.setdefault(folded(name), []).append(name)
    strange = _without(named, known)
    spelt = {name: by_look[folded(name)][0] for name in strange if len(by_look.get(folded(name), ())) == 1}
    unknown = _without(strange, spelt)
    hints = len(unknown) * len(known) <= _COMPARED
    _tell(
        "unknown-class",
        tables,
        "event_label",
        unknown,
        lambda n: f"class {shown(n)} is not {where}{did_you_mean(n, known, n=1) if hints else ''}",
        log,
    )
    _tell(
        "class-spelling",
        tables,
        "event_label",
        list(spelt),
        lambda n: f"class {shown(n)} is not {where}, {shown(spelt[n])} is",
        log,
        lambda n: f"write {shown(spelt[n])}",
    )
    missing = _without(known, [*named, *spelt.values()])
    log.add_many(
        "missing-class",
        len(missing),
        (
            problem("missing-class", source, f"class {shown(name)} of those {where} is never named")
            for name in missing
        ),
    )


def _without(names: Iterable[str], others: Iterable[str]) -> list[str]:
    """Return the names that are not among others, in their order."""
    left_out = set(others)
    return [name for name in names if name not in left_out]


def check_files(
    tables: Sequence[Table], reference: Sequence[str], where: str, source: str, log: Log
) -> Mapping[str, str]:
    """Compare the files of some tables with those of the reference; return by what names it knows them."""
    named = list(dict.fromkeys(name for table in tables for name in table.files))
    match = match_names(reference, named)
    known, doubtful = set(reference), set(match.ambiguous)
    extra = [name for name in named if match.canonical[name] not in known and name not in doubtful]
    missing = sorted(known - set(match.canonical.values()) - {UNNAMED})
    hints = len(extra) * len(missing) <= _COMPARED
    _tell(
        "unknown-file",
        tables,
        "filename",
        extra,
        lambda n: f"file {shown(n)} is not {where}{did_you_mean(n, missing, n=1) if hints else ''}",
        log,
    )
    _tell(
        "ambiguous-file",
        tables,
        "filename",
        match.ambiguous,
        lambda n: f"file {shown(n)} could be more than one file of those {where}",
        log,
    )
    log.add_many(
        "missing-file",
        len(missing),
        (problem("missing-file", source, f"there are no rows for file {shown(name)}") for name in missing),
    )
    return match.canonical


def check_swapped(tables: Sequence[Table], files: Sequence[str], classes: Sequence[str], log: Log) -> bool:
    """Find classes where files belong, and files where classes do; return whether it is so."""
    for table in tables:
        rows = table.rows
        if not rows.is_wide and are_swapped(rows.files, rows.classes, files, classes):
            message = "classes of the reference stand as file names, and its files as classes"
            place = (table.lines_of([0])[0], table.column("filename"))
            log.add(problem("swapped-columns", table.name, message, *place))
            return True
    return False


def check_spans(table: Table, log: Log) -> None:
    """Find rows that are there twice, overlap or touch, and those without length; gaps of a wide table.

    Rows are put in order of their group (file and class) and onset, and compared with their neighbours. Where
    neighbours overlap, a second, slower look finds which rows do.
    """
    rows = table.rows
    if not len(rows):
        return
    empty = np.flatnonzero(rows.offset == rows.onset)
    tell_rows(
        *(table, log, "zero-length", "offset", empty),
        lambda row, _: f"begins and ends at {rows.onset[row]:.6g} s",
    )
    group = rows.groups()
    ordered = in_order(rows, group)
    before = ordered.offset[:-1]
    if bool(ordered.overlaps.any()):
        ordered, before = _check_overlaps(table, group, log)
    if rows.is_wide:
        _check_gaps(table, ordered, before, log)
    else:
        _check_touching(table, ordered, log)


def tell_rows(
    table: Table,
    log: Log,
    code: str,
    role: str,
    rows: Index | Sequence[int],
    message: Callable[[int, int], str],
    others: Index | None = None,
    number: int | None = None,
) -> None:
    """Enter a problem of each of some rows, those to tell first in front.

    role: of the column that is wrong. others: the row that each is about, if that is another one. message: of
    such a row and its line. number: how many problems there are, if these are not all.
    """
    shown = [int(row) for row in rows[: log.most]]
    about = shown if others is None else [int(row) for row in others[: log.most]]
    lines, about_lines = (table.lines_of(each) if each else [] for each in (shown, about))
    column = table.column(role)
    told = zip(about, about_lines, lines, strict=True)
    log.add_many(
        code,
        len(rows) if number is None else number,
        (problem(code, table.name, message(row, at), line, column) for row, at, line in told),
    )


def _check_overlaps(table: Table, group: npt.NDArray[np.int64], log: Log) -> tuple[Ordered, Floats]:
    """Find the rows that are there twice, and those that begin before another has ended.

    Returns rows by group and onset without those that are there twice, and where the rows before each but the
    first end.
    """
    rows = table.rows
    order = np.lexsort((*rows.values, rows.offset, rows.onset, group))
    ordered = Ordered.of(rows, order, group)
    twice = ordered.repeats
    for column in rows.values:
        twice &= np.diff(column[order]) == 0
    # The sort is stable: the first of equal rows stands first in the table, too.
    first = np.maximum.accumulate(np.where(np.concatenate([[False], twice]), 0, np.arange(len(order))))
    again = np.flatnonzero(twice) + 1
    later, earlier = _in_table_order(order[again], order[first[again]])
    tell_rows(
        *(table, log, "duplicate-row", "onset", later),
        lambda _, line: f"stands on line {line} already",
        earlier,
    )
    ordered = Ordered.of(rows, order[np.concatenate([[True], ~twice])], group)
    # The rank of a row's end within its group, so that one running maximum serves all groups.
    rank = np.empty(len(ordered.row), dtype=np.int64)
    by_end = np.lexsort((ordered.offset, group[ordered.row]))
    rank[by_end] = np.arange(len(by_end))
    longest = by_end[np.maximum.accumulate(rank)]
    held = np.flatnonzero(ordered.same & (ordered.onset[1:] < ordered.offset[longest[:-1]] - TICK / 2))
    later, earlier = _in_table_order(ordered.row[held + 1], ordered.row[longest[held]])
    what = "file" if rows.is_wide else "file and class"
    tell_rows(
        *(table, log, "overlapping-rows", "onset", later),
        lambda row, line: (
            f"overlaps line {line} of the same {what}: {rows.onset[row]:.6g} to {rows.offset[row]:.6g} s"
        ),
        earlier,
    )
    return ordered, ordered.offset[longest[:-1]]


def _in_table_order(one: Index, other: Index) -> tuple[Index, Index]:
    """Return the later and the earlier row of pairs, in the order of the later ones."""
    later, earlier = np.maximum(one, other), np.minimum(one, other)
    order = np.argsort(later, kind="stable")
    return later[order], earlier[order]


def _check_touching(table: Table, ordered: Ordered, log: Log) -> None:
    """Note rows that go on where another of their class and value ends, in a table of events.

    Where most rows do so, they are time steps, which touch by nature.
    """
    touching = ordered.same & (np.abs(ordered.onset[1:] - ordered.offset[:-1]) <= TICK / 2)
    touching &= ordered.offset[1:] > ordered.onset[1:]
    touching &= ordered.offset[:-1] > ordered.onset[:-1]
    if 2 * int(np.count_nonzero(touching)) > max(len(ordered.row), 4):
        return
    for values in table.rows.values:
        touching &= np.diff(values[ordered.row]) == 0
    found = np.flatnonzero(touching)
    found = found[np.argsort(ordered.row[found + 1], kind="stable")]
    later, earlier = ordered.row[found + 1], ordered.row[found]
    tell_rows(
        *(table, log, "touching-rows", "onset", later),
        lambda _, line: f"goes on where line {line} ends",
        earlier,
    )


def _check_gaps(table: Table, ordered: Ordered, before: Floats, log: Log) -> None:
    """Find the times within a recording, and at its start, for which a wide table has no row."""
    onset = table.rows.onset
    found = np.flatnonzero(ordered.same & (ordered.onset[1:] > before + TICK / 2))
    ends = dict(zip(ordered.row[found + 1].tolist(), before[found].tolist(), strict=True))
    tell_rows(
        *(table, log, "gap", "onset", np.sort(ordered.row[found + 1])),
        lambda row, _: f"there are no rows from {ends[row]:.6g} to {onset[row]:.6g} s",
    )
    starts = np.concatenate([[True], ~ordered.same])
    tell_rows(
        *(table, log, "late-start", "onset", np.sort(ordered.row[starts & (ordered.onset > TICK / 2)])),
        lambda row, _: f"the first row of the recording begins at {onset[row]:.6g} s",
    )


def check_times(table: Table, lengths: Mapping[str, float], whole: Mapping[str, float], log: Log) -> None:
    """Find times in another unit, and rows beyond the end of their recording.

    lengths: at least how long recordings are, by the table's file names. whole: how long exactly, if known.
    """
    if not len(table.rows):
        return
    rows = table.rows
    last = last_offsets(rows)
    expected = np.array([lengths.get(name, 0.0) for name in rows.files])
    known = np.array([whole.get(name, np.inf) for name in rows.files])
    offset, code = rows.offset, rows.file
    unit = RowStatistics.of(rows, expected, known, last).unit()
    if unit is not None:
        row = int(np.argmax(offset == last.max()))
        tell_rows(
            *(table, log, "time-unit", "offset", [row]), lambda _, __: f"ends at {last.max():.6g} s; {unit}"
        )
        return

    def last_rows(files: Index) -> list[int]:
        return [int(np.argmax((code == file) & (offset == last[file]))) for file in files[: log.most]]

    long = np.flatnonzero((last > DAY) & ~np.isfinite(known))
    tell_rows(
        *(table, log, "long-recording", "offset", last_rows(long)),
        lambda row, _: (
            f"ends at {offset[row]:.6g} s: the recording would be {offset[row] / DAY:.3g} days long"
        ),
        number=len(long),
    )
    tell_rows(
        *(table, log, "after-end", "offset", rows_after_end(rows, last, known)),
        lambda row, _: (
            f"ends at {offset[row]:.6g} s, after the recording, which has {known[code[row]]:.6g} s"
        ),
    )
    early = files_ended_early(rows, last, expected)
    tell_rows(
        *(table, log, "early-end", "offset", last_rows(early)),
        lambda row, _: (
            f"its last row ends at {offset[row]:.6g} s, the recording at {expected[code[row]]:.6g} s"
        ),
        number=len(early),
    )


def check_values(table: Table, log: Log) -> None:
    """Note values that are all 0 or 1, all alike, or were rounded into [0, 1]."""
    rows = table.rows
    log.add(*(problem("value-rounded", table.name, note) for note in rows.origin.notes))
    columns = rows.values
    number = sum(map(len, columns))
    if not number:
        return

    def of_all(test: Callable[[Floats], npt.NDArray[np.bool_]]) -> bool:
        """Answer from the first values where that is enough."""
        return all(bool(test(part).all()) for column in columns for part in (column[:_SAMPLE], column))

    first = columns[0][0]
    if of_all(lambda values: (values == 0) | (values == 1)):
        said = "the only value is" if number == 1 else f"all {number} values are"
        code, message = "values-all-hard", f"{said} 0 or 1; soft scores are between them"
    elif number >= _FEW and of_all(lambda values: values == first):
        code, message = "values-all-equal", f"all {number} values are {first:.6g}"
    else:
        return
    column = None if rows.is_wide else table.column("soft_value")
    log.add(problem(code, table.name, message, table.sniffed.skip or None, column))
