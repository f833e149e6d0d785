"""Events of all thresholds together.

For one class in one file the events of all thresholds form a tree: each maximal run of pieces
whose values exceed something. A run whose smallest value is m, with larger neighbour n, is an
event for every level a with n < a <= m. So there is at most one event per piece, found from the
nearest smaller value on either side: the lifetime of an event.

A run with tied minima is represented by its leftmost one. Time without any piece has value 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.ticks import Ticks, to_seconds
from sedeval_soft.threads import for_each
from sedeval_soft.timeline.events import Activity, Events
from sedeval_soft.timeline.ranges import Pyramid

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
        return replace(self, **{name: getattr(self, name)[index] for name in _COLUMNS})

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
        n = len(activity.onset)
        apart = np.ones(n + 1, dtype=bool)
        apart[1:n] = ~activity.goes_on() | (activity.onset[1:] != activity.offset[:-1])
        # A wall of value 0 stands wherever pieces do not touch, and at both ends.
        place = np.arange(n) + np.cumsum(apart)[:n]
        values = np.zeros(n + int(apart.sum()))
        values[place] = activity.value
        slot, left, right = level_runs(values)
        piece = np.full(len(values), -1, dtype=np.int64)
        piece[place] = np.arange(n)
        first, last = piece[left + 1], piece[right - 1]
        file, label, onset = activity.file[first], activity.label[first], activity.onset[first]
        levels = np.maximum(values[left], values[right]), values[slot]
        return cls(file, label, onset, activity.offset[last], *levels, nested=True), first, last


_COLUMNS = ("file", "label", "onset", "offset", "born", "dies")


def lifetimes_of(rows: EventTable, merge: bool) -> EventLifetimes:
    """Return the lifetimes of the events of a table.

    merge: touching rows are one event, whose extent depends on the level; else each row is an event
    at every level up to its value.
    """
    spans, tracks = rows.spans(), [*rows.tracks()]
    if merge and tracks:
        activities = [Activity.of_track(spans, track) for track in tracks]
        parts = for_each(EventLifetimes.of, activities, len(rows) * len(activities))
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts]) for name in _COLUMNS
        }
        return replace(parts[0], **columns)
    row, label, born, dies = rows.levels()
    whole = EventLifetimes(spans.file[row], label, spans.onset[row], spans.offset[row], born, dies)
    # By all that tells them apart, so that sums do not depend on the order of the table.
    keys = (whole.dies, whole.born, whole.offset, whole.onset, whole.label, whole.file)
    return whole.take(np.lexsort(keys))


def separate(lifetimes: EventLifetimes) -> bool:
    """Return whether events of one file and class neither touch nor overlap, whatever their levels."""
    order = np.lexsort((lifetimes.offset, lifetimes.onset, lifetimes.label, lifetimes.file))
    file, label, onset, offset = (getattr(lifetimes, name)[order] for name in _COLUMNS[:4])
    apart = (np.diff(file) != 0) | (np.diff(label) != 0) | (onset[1:] > offset[:-1])
    # In the order of onsets it is enough to look at neighbours.
    return bool(np.all(apart))


def level_runs(values: Floats) -> tuple[Index, Index, Index]:
    """Find the maximal runs of values above something: one for each distinct minimum of a run.

    values: (n,) walls of the smallest value at both ends. Returns the places of minima, of tied ones the
    leftmost, and the nearest smaller value on the left and on the right of each run.
    """
    left = previous_smaller(values, or_equal=True)
    slot = np.flatnonzero(values[left] < values)
    right = len(values) - 1 - previous_smaller(values[::-1], or_equal=False)[len(values) - 1 - slot]
    return slot, left[slot], right


def previous_smaller(values: Floats, *, or_equal: bool) -> Index:
    """Return for each place the nearest one before it whose value is smaller (or equal), (n,).

    The first value must be the smallest of all. Its own result is 0; results of other values equal to it are
    undefined.
    """
    n = len(values)
    before = np.arange(-1, n - 1, dtype=np.int64)
    before[:1] = 0
    smaller = np.less_equal if or_equal else np.less
    searching = np.flatnonzero(~smaller(values[before], values))
    searching = searching[values[searching] > values[0]]
    for _ in range(_JUMPS):
        if not len(searching):
            return before
        before[searching] = before[before[searching]]
        searching = searching[~smaller(values[before[searching]], values[searching])]
    before[searching] = Pyramid(values).before(searching, values[searching], or_equal=or_equal)
    return before
