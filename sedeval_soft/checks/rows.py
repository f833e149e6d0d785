"""Checks of rows: each is one function that finds rows of a table, for `evaluate` and for `validate`.

Rows are put in order of their group (file and class; the file in a wide table) and onset once, and compared
with their neighbours. Times are in seconds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sedeval_soft.arrays import Bools, Codes, Floats
from sedeval_soft.sorting import distinct
from sedeval_soft.tables.event_table import EventTable

Index = npt.NDArray[np.intp]
Groups = npt.NDArray[np.int64]

TICK = 1e-6  # seconds: times are scored as whole numbers of them, so that closer ones are the same
DAY = 86_400.0
_MOST = 2**53  # numbers by which rows are put in order are below it
_ROUNDING = 1e-3 + TICK / 2  # seconds by which time steps of one length may differ: they may be rounded to ms


class Found(NamedTuple):
    """Rows that a check finds, (n,) places in the table.

    others: (n,) the row that each is about, if that is another one. facts: (n,) or of all rows: what the
    messages need beside the times of that row.
    """

    rows: Index
    others: Index | None = None
    facts: Mapping[str, Any] = {}


@dataclass(frozen=True)
class Side:
    """The rows of one table, and what is known of its recordings; arrays (n_files,).

    expected: how long recordings are at least, 0 where nothing is known. whole: how long exactly, infinite
    where that is not known. last: the last offsets.
    """

    rows: EventTable
    expected: Floats
    whole: Floats
    last: Floats

    @cached_property
    def spans(self) -> Spans:
        """The rows in order, beside their neighbours."""
        return Spans.of(self.rows)

    @cached_property
    def after_end(self) -> Index:
        """The rows that end after their recording does."""
        return rows_after_end(self.rows, self.last, self.whole)

    def has_repeated_onsets(self) -> bool:
        """Return whether two rows of a class begin at once: found much faster than all of `spans`."""
        key = _joint_key(self.rows, self.rows.file, self.rows.row_label)
        return key is None or not ((key[1:] > key[:-1]).all() or len(distinct(key)) == len(key))


def last_offsets(rows: EventTable) -> Floats:
    """Return the last offset of each file of a table, 0 where it has no row."""
    last = np.zeros(len(rows.files))
    np.maximum.at(last, rows.file, rows.offset)
    return last


def rows_after_end(rows: EventTable, last: Floats, whole: Floats) -> Index:
    """Return the rows that end after their recording does, in order.

    last, whole: (n_files,) the last offsets, and how long recordings are, infinite where that is not known.
    The last time step of a table of them may reach over the end.
    """
    if not (last > whole + TICK / 2).any():
        return np.zeros(0, dtype=np.intp)
    length = rows.offset - rows.onset
    late = rows.offset > whole[rows.file] + TICK / 2
    at = np.flatnonzero(late)
    if not rows.has_values:
        return at
    step = np.zeros(len(last))
    np.maximum.at(step, rows.file[~late], length[~late])
    file = rows.file[at]
    begins_inside = rows.onset[at] < whole[file] - TICK / 2
    return at[~begins_inside | (length[at] > step[file] + TICK)]


def files_ended_early(rows: EventTable, last: Floats, expected: Floats) -> Index:
    """Return the files of a wide table that it ends before the end of, by more than a time step.

    last, expected: (n_files,) the last offsets, and how long recordings are at least, 0 where unknown.
    """
    if not rows.has_steps or not (last < expected).any():
        return np.zeros(0, dtype=np.intp)
    step = np.zeros(len(last))
    np.maximum.at(step, rows.file, rows.offset - rows.onset)
    return np.flatnonzero((last > 0) & (last < expected - np.maximum(step, TICK)))


class Ordered(NamedTuple):
    """Rows by group (file and class; the file in a wide table) and onset.

    row: (n,) where each stands in the table. same, overlaps, repeats: (n - 1,) whether each but the first is
    of the group of the one before it, begins before that one has ended, and has its times.
    """

    row: Index
    onset: Floats
    offset: Floats
    same: Bools
    overlaps: Bools
    repeats: Bools

    @classmethod
    def of(cls, rows: EventTable, group: Groups, order: Index | None = None) -> Ordered:
        """Take rows in an order; None: by group and onset, those with the same tick as in the table."""
        at = _by_time(rows, group) if order is None else order
        group, onset, offset = group[at], rows.onset[at], rows.offset[at]
        same = group[1:] == group[:-1]
        repeats = same & (onset[1:] == onset[:-1]) & (offset[1:] == offset[:-1])
        row = np.arange(len(rows))[at]
        return cls(row, onset, offset, same, same & (onset[1:] < offset[:-1] - TICK / 2), repeats)


def _by_time(rows: EventTable, group: Groups) -> Index | slice:
    """Return the order of rows by group and onset, those with the same tick as in the table."""
    onset = rows.onset
    if np.where(group[1:] == group[:-1], onset[1:] >= onset[:-1], group[1:] > group[:-1]).all():
        return slice(None)
    key = _joint_key(rows, group)
    # One number is sorted in a tenth of the time of two, where rows are nearly in order.
    return np.lexsort((onset, group)) if key is None else np.argsort(key, kind="stable")


def _joint_key(rows: EventTable, group: npt.NDArray[np.integer[Any]], *last: Codes) -> Groups | None:
    """Return a number for each row, by group, onset and the last; None where it might be too large."""
    columns = group, np.rint(rows.onset * (1 / TICK)).astype(np.int64), *last
    sizes = [int(column.max()) + 1 for column in columns]
    return np.ravel_multi_index(columns, sizes) if math.prod(sizes) < _MOST else None


class Spans(NamedTuple):
    """Rows by group and onset, each once, beside those before them.

    ordered: rows but those that repeat file, class, times and values of another one. ends: (n - 1,) the
    latest offset of the rows of its group before each but the first. longest: (n - 1,) which row of `ordered`
    that is, anything for the first of a group. duplicates, firsts: rows that repeat another one, and
    that one. same_times: how many rows have file, class and times of another one, whatever their values.
    """

    ordered: Ordered
    ends: Floats
    longest: Index
    duplicates: Index
    firsts: Index
    same_times: int

    @classmethod
    def of(cls, rows: EventTable) -> Spans:
        """Put the rows of a table in order."""
        group, nothing = rows.groups(), np.zeros(0, dtype=np.intp)
        ordered = Ordered.of(rows, group)
        if not (ordered.overlaps | ordered.repeats).any():
            before = np.arange(len(ordered.row[1:]))
            return cls(ordered, ordered.offset[:-1], before, nothing, nothing, 0)
        begins_with_next = ordered.same & (ordered.onset[1:] == ordered.onset[:-1])
        if begins_with_next.any():
            ordered = Ordered.of(rows, group, _by_end_and_values(rows, ordered, begins_with_next))
        same_times = int(np.count_nonzero(ordered.repeats))
        duplicates = firsts = nothing
        if same_times:
            order, twice = ordered.row, np.append(False, ordered.repeats)
            for column in rows.values:
                twice[1:] &= np.diff(column[order]) == 0
            # The order is stable: the first of equal rows stands first in the table, too.
            first = np.maximum.accumulate(np.where(twice, 0, np.arange(len(order))))
            duplicates, firsts = order[twice], order[first[twice]]
            ordered = Ordered.of(rows, group, order[~twice]) if len(duplicates) else ordered
        longest = _latest_before(ordered)
        return cls(ordered, ordered.offset[longest], longest, duplicates, firsts, same_times)


def _by_end_and_values(rows: EventTable, ordered: Ordered, with_next: Bools) -> Index:
    """Return the order of rows by group and onset, then offset and values, those alike as in the table.

    with_next: (n - 1,) which rows but the last begin with the next one of their group.
    """
    order = ordered.row.copy()
    run = np.append(0, np.cumsum(~with_next))
    at = np.flatnonzero(np.append(with_next, False) | np.append(False, with_next))
    tied = order[at]
    order[at] = tied[
        np.lexsort((tied, *(column[tied] for column in rows.values), rows.offset[tied], run[at]))
    ]
    return order


def _latest_before(ordered: Ordered) -> Index:
    """Return for each row but the first which one before it, of its group, ends last, (n - 1,)."""
    # The rank of a row's end within its group, so that one running maximum serves all groups.
    group = np.append(0, np.cumsum(~ordered.same))
    key = np.rint(ordered.offset * (1 / TICK)).astype(np.int64)
    size = int(key.max(initial=0)) + 1
    if (int(group[-1]) + 1) * size < _MOST:
        key += group * size
    else:
        key = np.argsort(np.lexsort((key, group)))
    return np.maximum.accumulate(np.where(key >= np.maximum.accumulate(key), np.arange(len(key)), 0))[:-1]


def zero_length(side: Side) -> Found:
    """Find rows that end where they begin."""
    return Found(np.flatnonzero(side.rows.offset == side.rows.onset))


def duplicates(side: Side) -> Found:
    """Find rows that are there already."""
    return Found(side.spans.duplicates, side.spans.firsts)


def overlapping(side: Side) -> Found:
    """Find rows of events that begin before one of their group has ended; the later one in the table."""
    spans = side.spans
    at = np.flatnonzero(spans.ordered.same & (spans.ordered.onset[1:] < spans.ends - TICK / 2))
    pairs = np.stack((spans.ordered.row[1:][at], spans.ordered.row[spans.longest[at]]))
    group = "file" if side.rows.has_steps else "file and class"
    return Found(pairs.max(axis=0), pairs.min(axis=0), {"group": group})


def shifted(side: Side) -> Found:
    """Find those overlapping rows that share half or more of what they and the row before cover.

    Copies that were shifted do.
    """
    ordered = side.spans.ordered
    ends = ordered.offset[1:], ordered.offset[:-1]
    shared, covered = np.minimum(*ends) - ordered.onset[1:], np.maximum(*ends) - ordered.onset[:-1]
    is_shifted = ordered.overlaps & ~ordered.repeats & (2 * shared >= covered)
    return Found(ordered.row[1:][is_shifted], ordered.row[:-1][is_shifted])


def gaps(side: Side) -> Found:
    """Find rows of a wide table that begin after all before them have ended."""
    spans = side.spans
    at = spans.ordered.same & (spans.ordered.onset[1:] > spans.ends + TICK / 2)
    at &= side.rows.has_steps
    return Found(spans.ordered.row[1:][at], None, {"end": spans.ends[at]})


def late_starts(side: Side) -> Found:
    """Find first rows of recordings of a wide table that do not begin at 0."""
    ordered = side.spans.ordered
    starts = np.append(True, ~ordered.same) & (ordered.onset > TICK / 2)
    return Found(ordered.row[starts & side.rows.has_steps])


def touching(side: Side) -> Found:
    """Find rows that begin where the one before of their group ends."""
    ordered = side.spans.ordered
    at = touching_rows(ordered)
    return Found(ordered.row[1:][at], ordered.row[:-1][at])


def early_ends(side: Side) -> Found:
    """Find the last rows of recordings of a wide table that end before their recording does."""
    files = files_ended_early(side.rows, side.last, side.expected)
    return Found(last_rows(side, files), None, {"length": side.expected[files]})


def long_recordings(side: Side) -> Found:
    """Find the last rows of recordings that are longer than a day, and were not said to be."""
    at = last_rows(side, np.flatnonzero((side.last > DAY) & ~np.isfinite(side.whole)))
    return Found(at, None, {"days": side.rows.offset[at] / DAY})


def last_rows(side: Side, files: Index) -> Index:
    """Return the row of each of some files that ends last, the first of several."""
    rows = side.rows
    if not len(files):
        return np.zeros(0, dtype=np.intp)
    at_end = np.flatnonzero(rows.offset == side.last[rows.file])[::-1]
    last_row = np.zeros(len(side.last), dtype=np.intp)
    last_row[rows.file[at_end]] = at_end
    return last_row[files]


CHECKS: Mapping[str, Callable[[Side], Found]] = {
    "zero-length": zero_length,
    "duplicate-row": duplicates,
    "overlapping-rows": overlapping,
    "gap": gaps,
    "late-start": late_starts,
    "touching-rows": touching,
    "early-end": early_ends,
    "long-recording": long_recordings,
}
"""By code: what finds its rows."""


def touching_rows(ordered: Ordered) -> Bools:
    """Return which rows but the first begin where the one before ends, both with a length, (n - 1,)."""
    has_length = ordered.offset > ordered.onset
    touching = ordered.same & (np.abs(ordered.onset[1:] - ordered.offset[:-1]) <= TICK / 2)
    return touching & has_length[1:] & has_length[:-1]


def step_counts(rows: EventTable) -> tuple[int, int, int]:
    """Return what tells whether the rows of a table with values are time steps, see `are_steps`.

    The first two are of functions of time (a class in a file) some rows of which touch or overlap, as only
    there it matters: how many rows, and how many begin where the row before ends and are as long as it is, to
    the rounding of milliseconds. The third: how many begin where the row before ends, whatever their lengths.
    Rows that are there twice count once. The counts of parts of a table add up.
    """
    if rows.has_steps or rows.origin.joined:
        return (len(rows),) * 3
    ordered = Ordered.of(rows, rows.groups())
    touching, length = touching_rows(ordered), ordered.offset - ordered.onset
    meets = touching | ordered.overlaps | ordered.repeats
    group = np.append(0, np.cumsum(~ordered.same)) if len(rows) else np.zeros(0, dtype=np.intp)
    in_question = np.bincount(group[1:][meets], minlength=len(group))[group] > 0
    n_rows = np.count_nonzero(in_question) - np.count_nonzero(ordered.repeats)
    goes_on = touching & (np.abs(np.diff(length)) <= _ROUNDING)
    return int(n_rows), int(np.count_nonzero(goes_on)), int(np.count_nonzero(touching))


def are_steps(counts: tuple[int, ...]) -> bool:
    """Return whether rows are time steps by their `step_counts`: most go on where the one before ends.

    Rows that touch and are of one length are on one grid, too.
    """
    return 2 * counts[1] > counts[0]
