"""Checks of rows: one list, from which `evaluate` counts the findings, and `validate` names each place.

Rows are sorted once by group (file and class; file in a wide table) and onset, and compared with their
neighbours. Times are in seconds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sedeval_soft.arrays import Bools, Codes, Floats, distinct
from sedeval_soft.tables.columns import INSTANTS
from sedeval_soft.tables.event_table import EventTable

Index = npt.NDArray[np.intp]
Groups = npt.NDArray[np.int64]

TICK = 1e-6  # seconds: times are scored as whole numbers of them, so that closer ones are the same
_MOST = 2**53  # numbers by which rows are put in order are below it
_ROUNDING = 1e-3 + TICK / 2  # seconds by which time steps of one length may differ: they may be rounded to ms

EVENTS, VALUED, STEPS = "events", "valued", "steps"
"""Kinds of tables: each row an event; rows with values, which windows may share; a wide table."""


class Found(NamedTuple):
    """Rows that a check finds.

    rows: (n,) places in the table. about: (n,) the row whose times and line a message names, if it is another
    row. facts: (n,) or one value for all rows: further values for the message.
    """

    rows: Index
    about: Index | None = None
    facts: Mapping[str, Any] = {}


@dataclass(frozen=True)
class Side:
    """The rows of one table, and the known lengths of its recordings; arrays (n_files,).

    expected: least length of each recording, 0 if unknown. whole: exact length, infinite if unknown. last:
    last offsets.
    """

    rows: EventTable
    expected: Floats
    whole: Floats
    last: Floats

    @property
    def kind(self) -> str:
        """Return the kind of the table; empty for operating points, which repeat their rows."""
        if self.rows.has_steps:
            return STEPS
        return "" if self.rows.born is not None else VALUED if self.rows.has_values else EVENTS

    @cached_property
    def ordered(self) -> Ordered:
        """The rows in order of group, onset and offset."""
        rows, ordered = self.rows, Ordered.of(self.rows, _by_time(self.rows))
        if (ordered.same & (ordered.onset[1:] == ordered.onset[:-1])).any():
            return Ordered.of(rows, np.lexsort((rows.offset, rows.onset, rows.groups())))
        return ordered

    @cached_property
    def longest(self) -> Index:
        """The row of the group before each but the first that ends last, (n - 1,); any for a first row."""
        ordered = self.ordered
        if not ordered.overlaps.any():
            return np.arange(len(ordered.same))
        # The rank of a row's end within its group, so that one running maximum serves all groups.
        group = np.append(0, np.cumsum(~ordered.same))
        key = np.argsort(np.lexsort((np.rint(ordered.offset * (1 / TICK)), group)))
        return np.maximum.accumulate(np.where(key >= np.maximum.accumulate(key), np.arange(len(key)), 0))[:-1]

    @cached_property
    def late(self) -> Bools:
        """Mask of the rows that end after their recording, (n,).

        The last row of a table of time steps may extend beyond the end.
        """
        rows, whole = self.rows, self.whole
        if not (self.last > whole + TICK / 2).any():
            return np.zeros(len(rows), dtype=bool)
        late = rows.offset > whole[rows.file] + TICK / 2
        if rows.has_values:
            length, step = rows.offset - rows.onset, np.zeros(len(whole))
            np.maximum.at(step, rows.file[~late], length[~late])
            begins_inside = rows.onset < whole[rows.file] - TICK / 2
            late &= ~begins_inside | (length > step[rows.file] + TICK)
        return late

    def has_repeated_onsets(self) -> bool:
        """Return whether two rows of a class begin at once: found much faster than the order of all."""
        key = _joint_key(self.rows, self.rows.file, self.rows.row_label)
        return key is None or not ((key[1:] > key[:-1]).all() or len(distinct(key)) == len(key))


def last_offsets(rows: EventTable) -> Floats:
    """Return the last offset of each file of a table, 0 for a file without rows."""
    last = np.zeros(len(rows.files))
    np.maximum.at(last, rows.file, rows.offset)
    return last


class Ordered(NamedTuple):
    """Rows by group (file and class; the file in a wide table) and onset.

    row: (n,) place of each row in the table. same, overlaps, repeats: (n - 1,) for each row but the first,
    whether it is in the previous row's group, begins before that row's end, and has its times.
    """

    row: Index
    onset: Floats
    offset: Floats
    same: Bools
    overlaps: Bools
    repeats: Bools

    @classmethod
    def of(cls, rows: EventTable, order: Index | slice) -> Ordered:
        """Take rows in an order."""
        row = np.arange(len(rows)) if isinstance(order, slice) else order
        onset, offset, group = rows.onset[order], rows.offset[order], rows.groups()[order]
        same = group[1:] == group[:-1]
        repeats = same & (onset[1:] == onset[:-1]) & (offset[1:] == offset[:-1])
        return cls(row, onset, offset, same, same & (onset[1:] < offset[:-1] - TICK / 2), repeats)

    @property
    def touching(self) -> Bools:
        """Mask of rows but the first that begin at the end of the row before, both with extent, (n - 1,)."""
        has_length = self.offset > self.onset
        touching = self.same & (np.abs(self.onset[1:] - self.offset[:-1]) <= TICK / 2)
        return touching & has_length[1:] & has_length[:-1]


def _by_time(rows: EventTable) -> Index | slice:
    """Return the order of rows by group and onset, rows with the same tick as in the table."""
    onset, group = rows.onset, rows.groups()
    if np.where(group[1:] == group[:-1], onset[1:] >= onset[:-1], group[1:] > group[:-1]).all():
        return slice(None)
    key = _joint_key(rows, group)
    # One number is sorted in a tenth of the time of two, where rows are nearly in order.
    return np.lexsort((onset, group)) if key is None else np.argsort(key, kind="stable")


def _joint_key(rows: EventTable, group: npt.NDArray[np.integer[Any]], *last: Codes) -> Groups | None:
    """Return a number for each row, by group, onset and the last key; None if it might overflow."""
    columns = group, np.rint(rows.onset * (1 / TICK)).astype(np.int64), *last
    sizes = [int(column.max()) + 1 for column in columns]
    return np.ravel_multi_index(columns, sizes) if math.prod(sizes) < _MOST else None


def zero_length(side: Side) -> Found:
    """Find rows whose offset equals their onset."""
    instants = side.rows.offset == side.rows.onset
    return Found(np.flatnonzero(instants & (INSTANTS not in side.rows.origin.assumed)))


def duplicates(side: Side) -> Found:
    """Find rows that have file, class and times of another one, whatever their values."""
    if side.kind == VALUED and not side.has_repeated_onsets():
        return Found(np.zeros(0, dtype=np.intp))
    row, repeats = side.ordered.row, np.append(False, side.ordered.repeats)
    # The order is stable: the first of equal rows is also the first in the table.
    first = np.maximum.accumulate(np.where(repeats, 0, np.arange(len(row))))
    return Found(row[repeats], row[first[repeats]])


def overlapping(side: Side) -> Found:
    """Find rows that begin before one of their group has ended; the later one in the table."""
    ordered, before = side.ordered, side.longest
    overlaps = ordered.same & ~ordered.repeats & (ordered.onset[1:] < ordered.offset[before] - TICK / 2)
    pairs = np.stack((ordered.row[1:][overlaps], ordered.row[before[overlaps]]))
    group = "file" if side.rows.has_steps else "file and class"
    return Found(pairs.max(axis=0), pairs.min(axis=0), {"group": group})


def touching(side: Side) -> Found:
    """Find rows that begin at the end of the row before in their group, in a table without values."""
    row, touches = side.ordered.row, side.ordered.touching & (side.kind == EVENTS)
    return Found(row[1:][touches], row[:-1][touches])


def gaps(side: Side) -> Found:
    """Find rows of a wide table that begin after all before them have ended."""
    ordered, ends = side.ordered, side.ordered.offset[side.longest]
    late = ordered.same & (ordered.onset[1:] > ends + TICK / 2) & side.rows.has_steps
    return Found(ordered.row[1:][late], None, {"end": ends[late]})


def early_ends(side: Side) -> Found:
    """Find the last rows of recordings of a wide table that end before these do by more than a time step."""
    rows, step = side.rows, np.full(len(side.last), TICK)
    np.maximum.at(step, rows.file, rows.offset - rows.onset)
    early = (side.last > 0) & (side.last < side.expected - step) & rows.has_steps
    # The first of several rows that end last.
    at_end = np.flatnonzero((rows.offset == side.last[rows.file]) & early[rows.file])
    files, first = np.unique(rows.file[at_end], return_index=True)
    return Found(at_end[first], None, {"length": side.expected[files]})


def after_end(side: Side) -> Found:
    """Find rows that end after their recording does."""
    return Found(np.flatnonzero(side.late), None, {"length": side.whole[side.rows.file[side.late]]})


def last_row(side: Side) -> Found:
    """Find the row that ends last, the first of several."""
    return Found(np.argmax(side.rows.offset, keepdims=True))


class Check(NamedTuple):
    """One check of the rows of a table.

    find: Function that finds the rows. column: Role of the wrong column. placed: Message of `validate` about
    a row, with its times and the facts of the check. counted: Message of `evaluate` about `n` of `total` rows
    or recordings (`noun`), or about all rows. mend: The advice. kinds: Kinds of tables for which `evaluate`
    reports the finding; in other kinds it is natural.
    """

    find: Callable[[Side], Found]
    column: str
    placed: str
    counted: str
    mend: str = ""
    kinds: tuple[str, ...] = (EVENTS, VALUED, STEPS, "")
    noun: str = "row"

    def message(self, n: int, total: int, facts: Mapping[str, Any]) -> str:
        """Return the message of `evaluate` about n rows or recordings, with the advice."""
        facts = {"n": n, "total": f"of {total:,} {self.noun}{'s' * (total != 1)}", **facts}
        return "; ".join(filter(None, (self.counted.format(**facts), self.mend.format(**facts))))


CHECKS = {
    "time-unit": Check(
        last_row, "offset", "ends at {offset:.6g} s; {unit}",
        "{unit}; the last row ends at {offset:.6g}, which was read as seconds",
        "write seconds; if they are seconds, give durations",
    ),
    "after-end": Check(
        after_end, "offset",
        "ends at {offset:.6g} s, after the recording, which is {length:.6g} s long{likewise}",
        "rows that end after their recording: {n:,}, by {seconds:.6g} s at most",
        "segments after the end are not evaluated",
    ),
    "zero-length": Check(
        zero_length, "offset", "begins and ends at {onset:.6g} s",
        "onset and offset are equal in {n:,} {total}", "write when each event ends",
    ),
    "duplicate-row": Check(
        duplicates, "onset", "has file, class and times of line {line}",
        "file, class and times repeat those of another row in {n:,} {total}",
        "are several outputs, views or annotators in one table? Keep one of each", (EVENTS, VALUED, STEPS),
    ),
    "overlapping-rows": Check(
        overlapping, "onset",
        "overlaps line {line} of the same {group}: {onset:.6g} to {offset:.6g} s",
        "another event of the same file and class is still going on at the onset of {n:,} {total}",
        "are several recordings or outputs in one? Name the file of each row; --set events=rows if each is a "
        "detection", (EVENTS,),
    ),
    "touching-rows": Check(
        touching, "onset", "begins where line {line} ends{likewise}", kinds=(EVENTS,),
        counted="{n:,} {total} begin where another of their class ends: each row counts as an event",
    ),
    "gap": Check(
        gaps, "onset", "there are no rows from {end:.6g} to {onset:.6g} s",
        "there is a gap in the wide table before {n:,} {total}", "write a row for all times", (STEPS,),
    ),
    "early-end": Check(
        early_ends, "offset",
        "its last row ends at {offset:.6g} s, the recording at {length:.6g} s",
        "a wide table ends before {n:,} {total} do",
        "are the time steps as long as the table says? Write rows up to the end", (STEPS,), "recording",
    ),
}  # fmt: skip
"""Checks by code, in the order of the messages: first checks of times, then checks of counts."""


def step_counts(rows: EventTable) -> tuple[int, int, int]:
    """Return counts that show whether the rows of a table with values are time steps, see `are_steps`.

    The first two count rows of functions of time (a class in a file) that have touching or overlapping rows;
    other functions do not matter. They are the number of rows, and of rows that begin at the end of the row
    before and have its length, to the rounding of milliseconds. The third counts rows that begin at the end
    of the row before, whatever their lengths. Repeated rows count once. The counts of parts of a table add
    up.
    """
    if rows.has_steps or rows.origin.joined:
        return (len(rows),) * 3
    ordered = Ordered.of(rows, _by_time(rows))
    touching, length = ordered.touching, ordered.offset - ordered.onset
    meets = touching | ordered.overlaps | ordered.repeats
    group = np.append(0, np.cumsum(~ordered.same)) if len(rows) else np.zeros(0, dtype=np.intp)
    in_question = np.bincount(group[1:][meets], minlength=len(group))[group] > 0
    n_rows = np.count_nonzero(in_question) - np.count_nonzero(ordered.repeats)
    goes_on = touching & (np.abs(np.diff(length)) <= _ROUNDING)
    return int(n_rows), int(np.count_nonzero(goes_on)), int(np.count_nonzero(touching))


def are_steps(counts: tuple[int, ...]) -> bool:
    """Return whether rows are time steps by their `step_counts`: most begin at the end of the row before.

    Touching rows of one length are also on one grid.
    """
    return 2 * counts[1] > counts[0]
