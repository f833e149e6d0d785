"""Rows of one file and class: whether they are there twice, overlap, touch, or leave gaps between them.

Rows are put in order of their group (file and class) and onset, and compared with their neighbours. Where
neighbours overlap, a second, slower look finds which rows do.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.codes import problem
from sedeval_soft.core.misread import TICK, Ordered, in_order
from sedeval_soft.validation.found import Log
from sedeval_soft.validation.tables import Table

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
