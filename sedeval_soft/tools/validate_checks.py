"""Names of files and classes: those that are unknown or missing, and those that hide something."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.codes import problem
from sedeval_soft.core.filenames import match_names
from sedeval_soft.core.misread import (
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
from sedeval_soft.errors import Problem
from sedeval_soft.names import did_you_mean, folded
from sedeval_soft.tables.columns import is_number
from sedeval_soft.tables.event_table import UNNAMED
from sedeval_soft.tools.validate_tables import Log, Table

_COMPARED = 200_000
"""How many pairs of names are compared, letter by letter, to guess what was meant."""

_SHOWN = 80


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
    ignored = [
        (name, i + 1)
        for i, (name, role) in enumerate(zip(*_columns(table), strict=True))
        if role is None and table.sniffed.layout.has_header and i not in table.sniffed.layout.settled
    ]
    log.add_many("ignored-column", len(ignored), (_ignored(table, *column) for column in ignored))


def _columns(table: Table) -> tuple[Sequence[str], Sequence[str | None]]:
    return table.sniffed.layout.names, table.sniffed.layout.roles


def _ignored(table: Table, name: str, column: int) -> Problem:
    hint = did_you_mean(name.lower(), ("soft_value", "value", "score", "filename"), n=1, cutoff=0.8)
    message = f"column {shown(name)} is read past{hint}"
    return problem("ignored-column", table.name, message, table.sniffed.skip or None, column)


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


# Rows of one file and class: whether they are there twice, overlap, touch, or leave gaps between them.
#
# Rows are put in order of their group (file and class) and onset, and compared with their neighbours. Where
# neighbours overlap, a second, slower look finds which rows do.


Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]


def check_spans(table: Table, log: Log) -> None:
    """Find rows that are there twice, overlap or touch, and those without length; gaps of a wide table."""
    rows = table.rows
    if not len(rows):
        return
    _check_lengths(table, log)
    group = rows.groups()
    ordered = in_order(rows, group)
    before = ordered.offset[:-1]
    if bool(ordered.overlaps.any()):
        ordered, before = _check_overlaps(table, group, log)
    if not rows.is_wide:
        _check_touching(table, ordered, log)
    else:
        _check_gaps(table, ordered, before, log)


def _check_lengths(table: Table, log: Log) -> None:
    empty = np.flatnonzero(table.rows.offset == table.rows.onset)
    if not len(empty):
        return
    shown = empty[: log.most]
    column = table.column("offset")
    log.add_many(
        "zero-length",
        len(empty),
        (
            problem(
                "zero-length", table.name, f"begins and ends at {table.rows.onset[row]:.6g} s", line, column
            )
            for row, line in zip(shown, table.lines_of(shown), strict=True)
        ),
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
    _tell_pairs(table, "duplicate-row", order[again], order[first[again]], log)
    kept = np.concatenate([[True], ~twice])
    ordered = Ordered.of(rows, order[kept], group)
    # The rank of a row's end within its group, so that one running maximum serves all groups.
    rank = np.empty(len(ordered.row), dtype=np.int64)
    by_end = np.lexsort((ordered.offset, group[ordered.row]))
    rank[by_end] = np.arange(len(by_end))
    longest = by_end[np.maximum.accumulate(rank)]
    held = np.flatnonzero(ordered.same & (ordered.onset[1:] < ordered.offset[longest[:-1]] - TICK / 2))
    _tell_pairs(table, "overlapping-rows", ordered.row[held + 1], ordered.row[longest[held]], log)
    return ordered, ordered.offset[longest[:-1]]


def _tell_pairs(table: Table, code: str, one: Index, other: Index, log: Log) -> None:
    """Tell of pairs of rows where the later of the two stands."""
    if not len(one):
        return
    later, earlier = np.maximum(one, other), np.minimum(one, other)
    shown = np.argsort(later, kind="stable")[: log.most]
    lines = table.lines_of(np.concatenate([later[shown], earlier[shown]]))
    rows = table.rows
    column = table.column("onset")

    def said(row: int, line: int) -> str:
        if code == "duplicate-row":
            return f"stands on line {line} already"
        span = f"{rows.onset[row]:.6g} to {rows.offset[row]:.6g} s"
        return f"overlaps line {line} of the same file" + (
            f" and class: {span}" if not rows.is_wide else f": {span}"
        )

    log.add_many(
        code,
        len(one),
        (
            problem(code, table.name, said(int(earlier[at]), before), line, column)
            for at, line, before in zip(shown, lines[: len(shown)], lines[len(shown) :], strict=True)
        ),
    )


def _check_touching(table: Table, ordered: Ordered, log: Log) -> None:
    """Note rows that go on where another of their class and value ends, in a table of events.

    Where most rows do so, they are time steps, which touch by nature.
    """
    rows = table.rows
    touching = ordered.same & (np.abs(ordered.onset[1:] - ordered.offset[:-1]) <= TICK / 2)
    touching &= ordered.offset[1:] > ordered.onset[1:]
    touching &= ordered.offset[:-1] > ordered.onset[:-1]
    if 2 * int(np.count_nonzero(touching)) > max(len(ordered.row), 4):
        return
    for values in rows.values:
        touching &= np.diff(values[ordered.row]) == 0
    found = np.flatnonzero(touching)
    if not len(found):
        return
    one, other = ordered.row[found + 1], ordered.row[found]
    shown = np.argsort(one, kind="stable")[: log.most]
    lines = table.lines_of(np.concatenate([one[shown], other[shown]]))
    column = table.column("onset")
    log.add_many(
        "touching-rows",
        len(found),
        (
            problem("touching-rows", table.name, f"goes on where line {before} ends", line, column)
            for line, before in zip(lines[: len(shown)], lines[len(shown) :], strict=True)
        ),
    )


def _check_gaps(table: Table, ordered: Ordered, before: Floats, log: Log) -> None:
    """Find the times within a recording, and at its start, for which a wide table has no row."""
    rows, column = table.rows, table.column("onset")
    found = np.flatnonzero(ordered.same & (ordered.onset[1:] > before + TICK / 2))
    if len(found):
        shown = found[np.argsort(ordered.row[found + 1], kind="stable")][: log.most]
        log.add_many(
            "gap",
            len(found),
            (
                problem("gap", table.name, f"there are no rows from {before[at]:.6g} to "
                        f"{ordered.onset[at + 1]:.6g} s", line, column)
                for at, line in zip(shown, table.lines_of(ordered.row[shown + 1]), strict=True)
            ),
        )  # fmt: skip
    starts = np.concatenate([[True], ~ordered.same])
    late = ordered.row[starts & (ordered.onset > TICK / 2)]
    if len(late):
        late = np.sort(late)
        log.add_many(
            "late-start",
            len(late),
            (
                problem("late-start", table.name, f"the first row of the recording begins at "
                        f"{rows.onset[row]:.6g} s", line, column)
                for row, line in zip(late[: log.most], table.lines_of(late[: log.most]), strict=True)
            ),
        )  # fmt: skip


# Times that can be scored but are probably not seconds, or not of this recording.


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
    unit = RowStatistics.of(rows, expected, known).unit()
    if unit is not None:
        row = int(np.argmax(rows.offset == last.max()))
        place = (table.lines_of([row])[0], table.column("offset"))
        log.add(problem("time-unit", table.name, f"ends at {last.max():.6g} s; {unit}", *place))
        return
    offset, code = rows.offset, rows.file
    long = np.flatnonzero((last > DAY) & ~np.isfinite(known))
    _tell_times(
        table,
        "long-recording",
        (len(long), _last_rows(table, last, long[: log.most])),
        lambda row: f"ends at {offset[row]:.6g} s: the recording would be {offset[row] / DAY:.3g} days long",
        log,
    )
    late = rows_after_end(rows, last, known)
    _tell_times(
        table,
        "after-end",
        (len(late), late[: log.most].tolist()),
        lambda row: f"ends at {offset[row]:.6g} s, after the recording, which has {known[code[row]]:.6g} s",
        log,
    )
    early = files_ended_early(rows, last, expected)
    _tell_times(
        table,
        "early-end",
        (len(early), _last_rows(table, last, early[: log.most])),
        lambda row: f"its last row ends at {offset[row]:.6g} s, the recording at {expected[code[row]]:.6g} s",
        log,
    )


def _last_rows(table: Table, last: Floats, files: Index) -> list[int]:
    """Return the row of each of some files that ends last."""
    rows = table.rows
    return [int(np.argmax((rows.file == file) & (rows.offset == last[file]))) for file in files]


def _tell_times(
    table: Table, code: str, found: tuple[int, list[int]], said: Callable[[int], str], log: Log
) -> None:
    """Enter problems of offsets; found: how many there are, and the rows of those that are told."""
    number, rows = found
    column, lines = table.column("offset"), table.lines_of(rows) if rows else []
    told = zip(rows, lines, strict=True)
    log.add_many(code, number, (problem(code, table.name, said(row), line, column) for row, line in told))


# Values that can be scored but look like something else: decisions, a constant, rounding.


_FEW = 10
"""Fewer values than this may be alike by chance."""

_SAMPLE = 1000


def check_values(table: Table, log: Log) -> None:
    """Note values that are all 0 or 1, all alike, or were rounded into [0, 1]."""
    rows = table.rows
    log.add(*(problem("value-rounded", table.name, note) for note in rows.origin.notes))
    columns = rows.values
    number = sum(map(len, columns))
    if not number:
        return
    column = None if rows.is_wide else table.column("soft_value")
    header = table.sniffed.skip or None
    if all(_is_hard(values) for values in columns):
        said = "the only value is" if number == 1 else f"all {number} values are"
        message = f"{said} 0 or 1; soft scores are between them"
        log.add(problem("values-all-hard", table.name, message, header, column))
    elif number >= _FEW and all(_is_constant(values, columns[0][0]) for values in columns):
        message = f"all {number} values are {columns[0][0]:.6g}"
        log.add(problem("values-all-equal", table.name, message, header, column))


def _is_constant(values: npt.NDArray[np.float64], value: float) -> bool:
    return bool((values[:_SAMPLE] == value).all()) and bool((values == value).all())


def _is_hard(values: npt.NDArray[np.float64]) -> bool:
    """Answer from the first values where that is enough."""
    return all(bool(((part == 0) | (part == 1)).all()) for part in (values[:_SAMPLE], values))
