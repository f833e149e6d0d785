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

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.activity import Activity
from sedeval_soft.core.events import Events, active_rows
from sedeval_soft.core.rows import LongRows, Rows
from sedeval_soft.core.ticks import Ticks, to_seconds

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
    """

    file: Codes
    label: Codes
    onset: Ticks
    offset: Ticks
    born: Floats
    dies: Floats

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
        kept = np.flatnonzero(activity.value > 0)
        n = len(kept)
        file, label = activity.file[kept], activity.label[kept]
        onset, offset, value = activity.onset[kept], activity.offset[kept], activity.value[kept]
        apart = np.ones(n + 1, dtype=bool)
        apart[1:n] = (file[1:] != file[:-1]) | (label[1:] != label[:-1]) | (onset[1:] != offset[:-1])
        # A wall of value 0 stands wherever pieces do not touch, and at both ends.
        place = np.arange(n) + np.cumsum(apart)[:n]
        values = np.zeros(n + int(apart.sum()))
        values[place] = value
        left = previous_smaller(values, or_equal=True)[place]
        leftmost = values[left] < value
        place, left, value = place[leftmost], left[leftmost], value[leftmost]
        mirrored = previous_smaller(values[::-1], or_equal=False)
        right = len(values) - 1 - mirrored[len(values) - 1 - place]
        piece = np.full(len(values), -1, dtype=np.int64)
        piece[np.arange(n) + np.cumsum(apart)[:n]] = np.arange(n)
        first, last = piece[left + 1], piece[right - 1]
        born = np.maximum(values[left], values[right])
        return cls(file[first], label[first], onset[first], offset[last], born, value)


def lifetimes_of(rows: Rows, merge: bool) -> EventLifetimes:
    """Return the lifetimes of the events of a table, sorted by file.

    merge: touching rows are one event, whose extent depends on the level; else each row is an event
    at every level up to its value.
    """
    if not merge:
        return _rowwise(rows)
    if isinstance(rows, LongRows):
        return EventLifetimes.of(Activity.of_long(rows))
    parts = [EventLifetimes.of(Activity.of_column(rows, label)) for label in range(len(rows.classes))]
    return _joined(parts) if parts else _rowwise(rows)


def _rowwise(rows: Rows) -> EventLifetimes:
    events = active_rows(rows, 0.0, inclusive=False)
    if isinstance(rows, LongRows):
        value = np.ones(len(rows)) if rows.value is None else rows.value
        dies = value[value > 0]
    else:
        dies = np.concatenate([np.zeros(0), *(column[column > 0] for column in rows.values)])
    born = np.zeros(len(events))
    whole = EventLifetimes(events.file, events.label, events.onset, events.offset, born, dies)
    # By all that tells them apart, so that sums do not depend on the order of the table.
    return whole.take(np.lexsort((dies, whole.offset, whole.onset, whole.label, whole.file)))


def _joined(parts: Sequence[EventLifetimes]) -> EventLifetimes:
    names = ("file", "label", "onset", "offset", "born", "dies")
    whole = EventLifetimes(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
    return whole.take(np.argsort(whole.file, kind="stable"))


def previous_smaller(values: Floats, *, or_equal: bool) -> Index:
    """Return for each place the nearest one before it whose value is smaller (or equal), (n,).

    The first value must be 0, the smallest of all; its own result is 0.
    """
    n = len(values)
    before = np.arange(-1, n - 1, dtype=np.int64)
    if n:
        before[0] = 0
    smaller = np.less_equal if or_equal else np.less
    open_ = np.flatnonzero(~smaller(values[before], values))
    open_ = open_[values[open_] > 0]
    for _ in range(_JUMPS):
        if not len(open_):
            return before
        before[open_] = before[before[open_]]
        open_ = open_[~smaller(values[before[open_]], values[open_])]
    before[open_] = _climb(values, open_, smaller)
    return before


def _climb(values: Floats, places: Index, smaller: np.ufunc) -> Index:
    """Search the nearest smaller value before some places in a pyramid of minima.

    Two passes over log2(n) levels, whatever the values: up until a left neighbour holds something
    small enough, then down to the rightmost such value in it.
    """
    levels = [values]
    while len(levels[-1]) > 1:
        level = levels[-1]
        even = level[: len(level) // 2 * 2].reshape(-1, 2).min(axis=1)
        levels.append(np.append(even, level[-1]) if len(level) % 2 else even)
    wanted = values[places]
    node = places.copy()
    found = np.full(len(places), -1, dtype=np.int64)
    climbing = np.arange(len(places))
    for height, level in enumerate(levels):
        here = node[climbing]
        neighbour = np.maximum(here - 1, 0)
        hit = (here % 2 == 1) & smaller(level[neighbour], wanted[climbing])
        found[climbing[hit]] = height
        node[climbing[hit]] = neighbour[hit]
        climbing = climbing[~hit]
        node[climbing] //= 2
    for height in range(len(levels) - 1, 0, -1):
        going = np.flatnonzero(found >= height)
        child = 2 * node[going] + 1
        below = levels[height - 1]
        inside = np.minimum(child, len(below) - 1)
        right = (child < len(below)) & smaller(below[inside], wanted[going])
        node[going] = np.where(right, child, child - 1)
    return node
