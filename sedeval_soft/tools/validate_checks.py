"""Checks of what can be scored but is probably not what was meant: names, overlaps, gaps, times, values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.names import did_you_mean, folded
from sedeval_soft.tables.columns import is_number
from sedeval_soft.tables.event_table import UNNAMED
from sedeval_soft.tables.filenames import match_names
from sedeval_soft.tables.problem_codes import problem
from sedeval_soft.timeline.alignment_report import (
    DAY,
    TICK,
    Ordered,
    RowStatistics,
    are_swapped,
    decimal_files,
    files_ended_early,
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


_OF_ROWS = {
    "zero-length": ("offset", "begins and ends at {onset:.6g} s"),
    "duplicate-row": ("onset", "stands on line {line} already"),
    "overlapping-rows": (
        "onset",
        "overlaps line {line} of the same {group}: {onset:.6g} to {offset:.6g} s",
    ),
    "touching-rows": ("onset", "goes on where line {line} ends"),
    "gap": ("onset", "there are no rows from {end:.6g} to {onset:.6g} s"),
    "late-start": ("onset", "the first row of the recording begins at {onset:.6g} s"),
    "swapped-columns": ("filename", "{why}"),
    "time-unit": ("offset", "ends at {offset:.6g} s; {unit}"),
    "long-recording": ("offset", "ends at {offset:.6g} s: the recording would be {days:.3g} days long"),
    "after-end": ("offset", "ends at {offset:.6g} s, after the recording, which has {length:.6g} s"),
    "early-end": ("offset", "its last row ends at {offset:.6g} s, the recording at {length:.6g} s"),
}
"""Of the codes of single rows: the role of the column that is wrong, and the message."""


def shown(name: str) -> str:
    """Return a name in quotes, what cannot be seen escaped, the end of a long one left out."""
    return repr(name if len(name) <= _SHOWN else name[:_SHOWN] + "...")


def known_spellings(names: Iterable[str], known: Sequence[str]) -> dict[str, str]:
    """Return the names that are not known, but differ from one known name alone in case and blanks only."""
    by_look: dict[str, list[str]] = {}
    for name in known:
        by_look.setdefault(folded(name), []).append(name)
    all_known = {*known}
    alike = {name: by_look.get(folded(name), []) for name in names if name not in all_known}
    return {name: others[0] for name, others in alike.items() if len(others) == 1}


def check_table(table: Table, log: Log) -> None:
    """Look at the names, the values and the times of one table by themselves."""
    _check_names(table, log)
    _check_values(table, log)
    if len(table.rows):
        _check_spans(table, log)


# How problems of names and of rows are entered, with their places.


def _add_names(
    log: Log,
    code: str,
    tables: Sequence[Table],
    role: str,
    names: Sequence[str],
    message: Callable[[str], str],
    mend: Callable[[str], str] = lambda _: "",
) -> None:
    """Enter a problem of each of some names of files or classes, where it stands first."""
    places: dict[str, tuple[str, int | None, int | None]] = {}
    for table in reversed(tables) if names else ():
        places |= table.places(role)
    problems = []
    for name in names[: log.most]:
        source, line, column = places.get(name, (tables[0].name, None, None))
        problems.append(problem(code, source, message(name), line, column, mend(name)))
    log.add_many(code, len(names), problems)


def _add_rows(
    log: Log,
    code: str,
    table: Table,
    rows: Index | Sequence[int],
    others: Index | None = None,
    **facts: Sequence[Any] | Floats,
) -> None:
    """Enter a problem of each of some rows.

    others: the row that each is about, if that is another one. facts: of each row, what its message needs
    beside the times of the row that it is about, and that one's line.
    """
    role, message = _OF_ROWS[code]
    first = [int(row) for row in rows[: log.most]]
    about = first if others is None else [int(row) for row in others[: log.most]]
    column, problems = table.column(role), []
    for i, (line, row, at) in enumerate(
        zip(table.lines_of(first), about, table.lines_of(about), strict=True)
    ):
        times = {"onset": table.rows.onset[row], "offset": table.rows.offset[row], "line": at}
        text = message.format(**times, **{name: values[i] for name, values in facts.items()})
        problems.append(problem(code, table.name, text, line, column))
    log.add_many(code, len(rows), problems)


# One table by itself.


def _check_names(table: Table, log: Log) -> None:
    rows, layout = table.rows, table.sniffed.layout
    for role in ("filename", "event_label"):
        hidden = [name for name in table.names(role) if not name.isprintable()]
        _add_names(
            log,
            "control-character",
            [table],
            role,
            hidden,
            lambda name: f"{shown(name)} is not all to be seen",
        )
    alike = similar_names(table.names("event_label"))
    _add_names(
        *(log, "similar-classes", [table], "event_label", list(alike)),
        lambda name: f"class {shown(name)} is another than {shown(alike[name])}",
    )
    if not layout.wide and rows.classes and all(map(is_number, rows.classes)):
        line, column = table.header or 1, table.column("event_label")
        log.add(problem("numeric-labels", table.name, "all classes are numbers", line, column))
    decimal = decimal_files(rows, has_header=layout.has_header)
    if decimal is not None and len(rows):
        _add_rows(log, "swapped-columns", table, [0], why=[decimal])
    if layout.has_header:
        meant = ("soft_value", "value", "score", "filename")
        for i, (name, of_column) in enumerate(zip(layout.names, layout.roles, strict=True)):
            if of_column is None and i not in layout.settled:
                hint = did_you_mean(name.lower(), meant, n=1, cutoff=0.8)
                message = f"column {shown(name)} is read past{hint}"
                log.add(problem("ignored-column", table.name, message, table.header, i + 1))


def _check_values(table: Table, log: Log) -> None:
    """Note values that are all 0 or 1, all alike, or were rounded into [0, 1]."""
    log.add(*(problem("value-rounded", table.name, note) for note in table.rows.origin.notes))
    columns = table.rows.values
    number = sum(map(len, columns))
    if not number:
        return

    def all_values(test: Callable[[Floats], npt.NDArray[np.bool_]]) -> bool:
        """Answer from the first values where that is enough."""
        return all(bool(test(part).all()) for column in columns for part in (column[:_SAMPLE], column))

    first = columns[0][0]
    if all_values(lambda values: (values == 0) | (values == 1)):
        which = "the only value is" if number == 1 else f"all {number} values are"
        code, message = "values-all-hard", f"{which} 0 or 1; soft scores are between them"
    elif number >= _FEW and all_values(lambda values: values == first):
        code, message = "values-all-equal", f"all {number} values are {first:.6g}"
    else:
        return
    column = None if table.sniffed.layout.wide else table.column("soft_value")
    log.add(problem(code, table.name, message, table.header, column))


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
        ordered, ends = _check_overlaps(table, group, log)
    if rows.has_steps:
        _check_gaps(table, ordered, ends, log)
    else:
        _check_touching(table, ordered, log)


def _check_overlaps(table: Table, group: npt.NDArray[np.int64], log: Log) -> tuple[Ordered, Floats]:
    """Find the rows that are there twice, and those that begin before another has ended.

    Returns rows by group and onset without those that are there twice, and where the rows before each but the
    first end.
    """
    rows = table.rows
    order = np.lexsort((*rows.values, rows.offset, rows.onset, group))
    ordered = Ordered.of(rows, group, order)
    twice = ordered.repeats.copy()
    for column in rows.values:
        twice &= np.diff(column[order]) == 0
    # The sort is stable: the first of equal rows stands first in the table, too.
    first = np.maximum.accumulate(np.where(np.concatenate([[False], twice]), 0, np.arange(len(order))))
    again = np.flatnonzero(twice) + 1
    later, earlier = _in_table_order(order[again], order[first[again]])
    _add_rows(log, "duplicate-row", table, later, earlier)
    ordered = Ordered.of(rows, group, order[np.concatenate([[True], ~twice])])
    # The rank of a row's end within its group, so that one running maximum serves all groups.
    rank = np.empty(len(ordered.row), dtype=np.int64)
    by_end = np.lexsort((ordered.offset, group[ordered.row]))
    rank[by_end] = np.arange(len(by_end))
    longest = by_end[np.maximum.accumulate(rank)]
    held = np.flatnonzero(ordered.same & (ordered.onset[1:] < ordered.offset[longest[:-1]] - TICK / 2))
    later, earlier = _in_table_order(ordered.row[held + 1], ordered.row[longest[held]])
    group_name = "file" if rows.has_steps else "file and class"
    _add_rows(log, "overlapping-rows", table, later, earlier, group=[group_name] * len(later))
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
    has_length = ordered.offset > ordered.onset
    touching = ordered.same & (np.abs(ordered.onset[1:] - ordered.offset[:-1]) <= TICK / 2)
    touching &= has_length[1:] & has_length[:-1]
    if 2 * int(np.count_nonzero(touching)) > max(len(ordered.row), 4):
        return
    for values in table.rows.values:
        touching &= np.diff(values[ordered.row]) == 0
    before = np.flatnonzero(touching)
    before = before[np.argsort(ordered.row[before + 1], kind="stable")]
    _add_rows(log, "touching-rows", table, ordered.row[before + 1], ordered.row[before])


def _check_gaps(table: Table, ordered: Ordered, ends: Floats, log: Log) -> None:
    """Find the times within a recording, and at its start, for which there is no time step.

    ends: where the rows before each but the first end.
    """
    before = np.flatnonzero(ordered.same & (ordered.onset[1:] > ends + TICK / 2))
    before = before[np.argsort(ordered.row[before + 1], kind="stable")]
    _add_rows(log, "gap", table, ordered.row[before + 1], end=ends[before])
    starts = np.concatenate([[True], ~ordered.same]) & (ordered.onset > TICK / 2)
    _add_rows(log, "late-start", table, np.sort(ordered.row[starts]))


# Tables held against what is expected.


def check_swapped(tables: Sequence[Table], files: Sequence[str], classes: Sequence[str], log: Log) -> bool:
    """Find classes where files belong, and files where classes do; return whether it is so."""
    why = "classes of the reference stand as file names, and its files as classes"
    for table in tables:
        rows = table.rows
        if not table.sniffed.layout.wide and are_swapped(rows.files, rows.classes, files, classes):
            _add_rows(log, "swapped-columns", table, [0], why=[why])
            return True
    return False


def check_classes(tables: Sequence[Table], known: Sequence[str], where: str, source: str, log: Log) -> None:
    """Compare the classes of some tables with those that are known; where: in words."""
    named = list(dict.fromkeys(name for table in tables for name in table.names("event_label")))
    spelt = known_spellings(named, known)
    expected = {*known, *spelt}
    unknown = [name for name in named if name not in expected]
    hints = len(unknown) * len(known) <= _COMPARED
    _add_names(
        *(log, "unknown-class", tables, "event_label", unknown),
        lambda name: f"class {shown(name)} is not {where}{did_you_mean(name, known, n=1) if hints else ''}",
    )
    _add_names(
        *(log, "class-spelling", tables, "event_label", list(spelt)),
        lambda name: f"class {shown(name)} is not {where}, {shown(spelt[name])} is",
        lambda name: f"write {shown(spelt[name])}",
    )
    present = {*named, *spelt.values()}
    for name in known:
        if name not in present:
            message = f"class {shown(name)} of those {where} is never named"
            log.add(problem("missing-class", source, message))


def check_files(
    tables: Sequence[Table], reference: Sequence[str], where: str, source: str, log: Log
) -> Mapping[str, str]:
    """Compare the files of some tables with those of the reference; return by what names it knows them."""
    named = list(dict.fromkeys(name for table in tables for name in table.names("filename")))
    match = match_names(reference, named)
    known, ambiguous = set(reference), set(match.ambiguous)
    extra = [name for name in named if match.canonical[name] not in known and name not in ambiguous]
    missing = sorted(known - set(match.canonical.values()) - {UNNAMED})
    hints = len(extra) * len(missing) <= _COMPARED
    _add_names(
        *(log, "unknown-file", tables, "filename", extra),
        lambda name: f"file {shown(name)} is not {where}{did_you_mean(name, missing, n=1) if hints else ''}",
    )
    _add_names(
        *(log, "ambiguous-file", tables, "filename", match.ambiguous),
        lambda name: f"file {shown(name)} could be more than one file of those {where}",
    )
    for name in missing:
        log.add(problem("missing-file", source, f"there are no rows for file {shown(name)}"))
    return match.canonical


def check_times(table: Table, lengths: Mapping[str, float], whole: Mapping[str, float], log: Log) -> None:
    """Find times in another unit, and rows beyond the end of their recording.

    lengths: at least how long recordings are, by the table's file names. whole: how long exactly, if known.
    """
    rows = table.rows
    if not len(rows):
        return
    last = last_offsets(rows)
    expected = np.array([lengths.get(name, 0.0) for name in rows.files])
    known = np.array([whole.get(name, np.inf) for name in rows.files])
    offset, code = rows.offset, rows.file
    at_end = np.flatnonzero(offset == last[code])
    last_row = np.zeros(len(last), dtype=np.intp)
    last_row[code[at_end[::-1]]] = at_end[::-1]  # the first of those that end last
    unit = RowStatistics.of(rows, expected, known, last).unit()
    if unit is not None:
        _add_rows(log, "time-unit", table, [int(np.argmax(offset))], unit=unit[:1])
        return
    long = last_row[(last > DAY) & ~np.isfinite(known)]
    _add_rows(log, "long-recording", table, long, days=offset[long] / DAY)
    late = rows_after_end(rows, last, known)
    _add_rows(log, "after-end", table, late, length=known[code[late]])
    early = files_ended_early(rows, last, expected)
    _add_rows(log, "early-end", table, last_row[early], length=expected[early])
