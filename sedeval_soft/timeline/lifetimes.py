"""Events of all thresholds together.

For one class in one file the events of all thresholds form a tree: each maximal run of pieces
whose values exceed something. A run whose smallest value is m, with larger neighbour n, is an
event for every level a with n < a <= m. So there is at most one event per piece, found from the
nearest smaller value on either side: the lifetime of an event.

A run with tied minima is represented by its leftmost one. Time without any piece has value 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.ticks import Ticks, to_seconds
from sedeval_soft.threads import for_each
from sedeval_soft.timeline.activity import Activity
from sedeval_soft.timeline.events import Events
from sedeval_soft.timeline.ranges import Pyramid, expand

Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_JUMPS = 24
"""Rounds of pointer jumping before the few places that need many more are searched in a pyramid."""


@dataclass(frozen=True, slots=True)
class EventLifetimes:
    """For which levels which events exist.

    file, label: (n,) codes. onset, offset: (n,) ticks. born, dies: (n,) the event exists at every
    level a with born < a <= dies, that is above every threshold t with born <= t < dies.
    nested: whether they are those of an activity: what exists at one level is apart.
    """

    file: Codes
    label: Codes
    onset: Ticks
    offset: Ticks
    born: Floats
    dies: Floats
    nested: bool = False

    def __len__(self) -> int:
        """Return the number of events over all levels."""
        return len(self.onset)

    def take(self, index: Index | Bools | slice) -> EventLifetimes:
        """Return the lifetimes at some positions, or those of a mask."""
        return EventLifetimes(
            self.file[index],
            self.label[index],
            self.onset[index],
            self.offset[index],
            self.born[index],
            self.dies[index],
            self.nested,
        )

    def alive(self, threshold: float | Floats, inclusive: bool = False) -> Bools:
        """Return which events exist above a threshold, or at it where `inclusive`.

        threshold: one for all, or (n,) one for each.
        """
        if inclusive:
            return (self.born < threshold) & (threshold <= self.dies)
        return (self.born <= threshold) & (threshold < self.dies)

    def events(self) -> Events:
        """Return all of them as events, whatever their levels."""
        seconds = to_seconds(self.onset), to_seconds(self.offset)
        return Events(self.file, self.label, self.onset, self.offset, *seconds)

    @classmethod
    def from_events(cls, events: Events) -> EventLifetimes:
        """Return hard events as lifetimes from 0 to 1, sorted by file."""
        n = len(events)
        whole = cls(events.file, events.label, events.onset, events.offset, np.zeros(n), np.ones(n))
        return whole.take(np.argsort(whole.file, kind="stable"))

    @classmethod
    def of(cls, activity: Activity) -> EventLifetimes:
        """Find the lifetimes of all events of an activity, sorted by file, class and onset."""
        return cls.with_pieces(activity.sounding())[0]

    @classmethod
    def with_pieces(cls, activity: Activity) -> tuple[EventLifetimes, Index, Index]:
        """Find the lifetimes as `of` does, and the first and last piece of each.

        activity: without pieces of value 0.
        """
        file, label, onset, offset = activity.file, activity.label, activity.onset, activity.offset
        n = len(onset)
        apart = np.ones(n + 1, dtype=bool)
        apart[1:n] = ~activity.goes_on() | (onset[1:] != offset[:-1])
        # A wall of value 0 stands wherever pieces do not touch, and at both ends.
        place = np.arange(n) + np.cumsum(apart)[:n]
        values = np.zeros(n + int(apart.sum()))
        values[place] = activity.value
        slot, left, right = level_runs(values)
        piece = np.full(len(values), -1, dtype=np.int64)
        piece[place] = np.arange(n)
        first, last = piece[left + 1], piece[right - 1]
        born = np.maximum(values[left], values[right])
        times = onset[first], offset[last]
        return cls(file[first], label[first], *times, born, values[slot], nested=True), first, last


def level_runs(values: Floats) -> tuple[Index, Index, Index]:
    """Find the maximal runs of values above something: one for each distinct minimum of a run.

    values: (n,) walls of the smallest value at both ends. Returns the places of minima, of tied ones the
    leftmost, and the nearest smaller value on the left and on the right of each run.
    """
    left = previous_smaller(values, or_equal=True)
    slot = np.flatnonzero(values[left] < values)
    right = len(values) - 1 - previous_smaller(values[::-1], or_equal=False)[len(values) - 1 - slot]
    return slot, left[slot], right


def lifetimes_of(rows: EventTable, merge: bool) -> EventLifetimes:
    """Return the lifetimes of the events of a table.

    merge: touching rows are one event, whose extent depends on the level; else each row is an event
    at every level up to its value.
    """
    spans = rows.spans()
    tracks = [*rows.tracks()]
    if not (merge and tracks):
        return _rowwise(rows)
    found = [Activity.of_track(spans, track) for track in tracks]
    return _joined(for_each(EventLifetimes.of, found, len(rows) * len(found)))


def separate(lifetimes: EventLifetimes) -> bool:
    """Return whether events of one file and class neither touch nor overlap, whatever their levels."""
    order = np.lexsort((lifetimes.offset, lifetimes.onset, lifetimes.label, lifetimes.file))
    file, label, onset, offset = (getattr(lifetimes, n)[order] for n in ("file", "label", "onset", "offset"))
    apart = (np.diff(file) != 0) | (np.diff(label) != 0) | (onset[1:] > offset[:-1])
    # In the order of onsets it is enough to look at neighbours.
    return bool(np.all(apart))


def _rowwise(rows: EventTable) -> EventLifetimes:
    spans, cells = rows.spans(), rows.levels()
    times = spans.onset[cells.row], spans.offset[cells.row]
    whole = EventLifetimes(spans.file[cells.row], cells.label, *times, cells.born, cells.dies)
    # By all that tells them apart, so that sums do not depend on the order of the table.
    keys = (whole.dies, whole.born, whole.offset, whole.onset, whole.label, whole.file)
    return whole.take(np.lexsort(keys))


def _joined(parts: Sequence[EventLifetimes]) -> EventLifetimes:
    """Return the lifetimes of all parts, which are all of activities, one part after another."""
    if len(parts) == 1:
        return parts[0]

    def all_of(name: str) -> Any:  # noqa: ANN401 - codes, ticks or levels
        return np.concatenate([getattr(part, name) for part in parts])

    codes, times = (all_of("file"), all_of("label")), (all_of("onset"), all_of("offset"))
    return EventLifetimes(*codes, *times, all_of("born"), all_of("dies"), nested=True)


def previous_smaller(values: Floats, *, or_equal: bool) -> Index:
    """Return for each place the nearest one before it whose value is smaller (or equal), (n,).

    The first value must be the smallest of all; its own result is 0, as that of every other smallest one
    may be anything.
    """
    n = len(values)
    before = np.arange(-1, n - 1, dtype=np.int64)
    if n:
        before[0] = 0
    smaller = np.less_equal if or_equal else np.less
    open_ = np.flatnonzero(~smaller(values[before], values))
    open_ = open_[values[open_] > values[0]]
    for _ in range(_JUMPS):
        if not len(open_):
            return before
        before[open_] = before[before[open_]]
        open_ = open_[~smaller(values[before[open_]], values[open_])]
    before[open_] = Pyramid(values).before(open_, values[open_], or_equal=or_equal)
    return before


# Two activities of one class on their common cells, and the events of each as runs of cells.


@dataclass(frozen=True, slots=True)
class Cells:
    """Stretches of time in which both activities are constant, file after file.

    file: (n,) codes. width: (n,) ticks. place: (n,) the sum of the widths before each. y, p: (n,) the values
    of the first and of the second activity. A wall of no width and value 0 stands before each file and at
    the end.
    """

    file: Index
    width: Index
    place: Index
    y: Floats
    p: Floats

    @classmethod
    def of(cls, y: Activity, p: Activity) -> Cells:
        """Cut two activities of one class at each other's boundaries."""
        file = np.concatenate((y.file, y.file, p.file, p.file)).astype(np.int64)
        time = np.concatenate((y.onset, y.offset, p.onset, p.offset))
        order = np.lexsort((time, file))
        file, time = file[order], time[order]
        new = np.ones(len(file), dtype=bool)
        new[1:] = (np.diff(file) != 0) | (np.diff(time) != 0)
        file, time = file[new], time[new]
        # The last boundary of a file becomes the wall before the next one; one more wall opens the first.
        opens = np.ones(len(file) + 1, dtype=bool)
        opens[1:-1] = np.diff(file) != 0
        width = np.zeros(len(file) + 1, dtype=np.int64)
        width[1:-1] = np.where(opens[1:-1], 0, np.diff(time))
        files = np.concatenate(([0], file)) if len(file) else np.zeros(1, dtype=np.int64)
        begin = _Boundaries(file, time)
        values = [begin.values(activity) for activity in (y, p)]
        return cls(files, width, np.cumsum(width) - width, values[0], values[1])


@dataclass(frozen=True, slots=True)
class _Boundaries:
    """The distinct boundaries of all files; boundary k opens cell k + 1."""

    file: Index
    time: Ticks

    def values(self, activity: Activity) -> Floats:
        """Return the value of an activity in every cell, walls first and last among them."""
        n = len(self.file)
        ends = [self._find(activity.file, times) for times in (activity.onset, activity.offset)]
        piece, boundary = expand(ends[0], ends[1])
        values = np.zeros(n + 1)
        values[boundary + 1] = activity.value[piece]
        return values

    def _find(self, file: npt.NDArray[np.int32], time: Ticks) -> Index:
        """Return which boundaries some times are: all of them are one."""
        n = len(self.file)
        files = np.concatenate((self.file, file.astype(np.int64)))
        times = np.concatenate((self.time, time))
        # Sorted together, each time follows the boundary that it is.
        order = np.lexsort((np.arange(len(files)) >= n, times, files))
        place = np.empty(len(files), dtype=np.int64)
        place[order] = np.cumsum(order < n) - 1
        return place[n:]


@dataclass(frozen=True, slots=True)
class Runs:
    """The events of one activity over cells: runs of values above something, each for born < a <= dies.

    first, last: (n,) the first cell and one past the last. length: (n,) ticks. around: for searches.
    """

    first: Index
    last: Index
    born: Floats
    dies: Floats
    length: Ticks
    around: Pyramid
    mirrored: Pyramid
    key: Index
    order: Index

    def __len__(self) -> int:
        """Return the number of events."""
        return len(self.first)

    @classmethod
    def of(cls, cells: Cells, values: Floats) -> Runs:
        """Find the runs of values of cells, (n,)."""
        slot, left, right = level_runs(values)
        sounding = values[slot] > 0
        slot, left, right = slot[sounding], left[sounding], right[sounding]
        key = left * len(values) + right
        order = np.argsort(key)
        return cls(
            left + 1,
            right,
            np.maximum(values[left], values[right]),
            values[slot],
            cells.place[right] - cells.place[left + 1],
            Pyramid(values),
            Pyramid(values[::-1]),
            key[order],
            order,
        )

    def at(self, cell: Index, level: Floats, *, above: bool) -> Index:
        """Return the event around each cell that exists at a level, or just above it if `above`, (n,).

        The value of the cell must be at least the level, or above it.
        """
        n = len(self.around.levels[0])
        left = self.around.before(cell, level, or_equal=above)
        right = n - 1 - self.mirrored.before(n - 1 - cell, level, or_equal=above)
        return self.order[np.searchsorted(self.key, left * n + right)]
