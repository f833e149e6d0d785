"""Values as functions of time, the events at one threshold, and the events at all thresholds.

An `Activity` is a piecewise-constant function of time with values in [0, 1] per file and class. If rows of
one class overlap, the largest value counts. Between its pieces the value is 0.

`Events` are active at one threshold: each active row is one event, or rows of a class that touch or overlap
are one event, as a table of fixed time steps needs.

For one class in one file the events of all thresholds form a tree: each maximal run of pieces with values
above some threshold. A run whose smallest value is m, with larger neighbour n, is an event for every level a
with n < a <= m. So there is at most one event per piece, found from the nearest smaller value on either side:
its lifetime, one of the `EventLifetimes`. A run with tied minima is represented by its leftmost one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from sedeval_soft.arrays import (
    Bools,
    Codes,
    Floats,
    Index,
    Pyramid,
    for_each,
    numbered,
    order_of,
    range_maximum,
    running_maximum,
)
from sedeval_soft.tables.event_table import EventTable, Spans, Track
from sedeval_soft.tables.ticks import Ticks, to_seconds, to_ticks

_JUMPS = 24  # rounds of pointer jumping before the few places that need many more are searched in a pyramid


@dataclass(frozen=True, slots=True)
class Timed:
    """Stretches of time, each of a file and a class.

    file, label: (n,) codes. onset, offset: (n,) ticks.
    """

    file: Codes
    label: Codes
    onset: Ticks
    offset: Ticks

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.onset)

    def take(self, index: npt.NDArray[np.intp] | Bools | slice) -> Self:
        """Return the pieces at some positions, or in a mask."""
        if not isinstance(index, slice) and index.dtype == bool:
            # numpy takes rows at positions several times as fast.
            index = np.flatnonzero(index)
        columns = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "nested"}
        return replace(self, **{name: column[index] for name, column in columns.items()})

    def lasting(self) -> Self:
        """Return the pieces that have an extent."""
        long = self.offset > self.onset
        return self if long.all() else self.take(long)

    def goes_on(self) -> Bools:
        """Return which but the first have the file and class of the one before, (n - 1,)."""
        same: Bools = (self.file[1:] == self.file[:-1]) & (self.label[1:] == self.label[:-1])
        return same

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Return the pieces of all parts, at least one, one part after another."""
        names = [each.name for each in fields(cls) if each.name != "nested"]
        columns = for_each(
            lambda name: np.concatenate([getattr(part, name) for part in parts]), names, sum(map(len, parts))
        )
        return replace(parts[0], **dict[str, Any](zip(names, columns, strict=True)))


@dataclass(frozen=True, slots=True)
class Activity(Timed):
    """Pieces of constant value, sorted by file, class and onset, without overlap.

    onset < offset. value: (n,) in [0, 1].
    """

    value: Floats

    @classmethod
    def of_track(cls, spans: Spans, track: Track) -> Activity:
        """Settle the overlaps of the rows of a track; rows of value 0 or without extent vanish."""
        (classes, value), n = track, len(spans.file)
        label = np.broadcast_to(np.int32(classes.start), n) if spans.label is None else spans.label
        value = np.broadcast_to(1.0, n) if value is None else value
        return cls.of_rows(cls(spans.file, label, spans.onset, spans.offset, value).sounding())

    @classmethod
    def of_table(cls, table: EventTable) -> Activity:
        """Settle the overlaps of a table, all classes together."""
        spans = table.spans()
        joint = cls.joined([SILENCE, *(cls.of_track(spans, track) for track in table.tracks())])
        return joint.take(order_of(joint.onset, joint.label, joint.file))

    @classmethod
    def of_rows(cls, rows: Activity) -> Activity:
        """Settle the overlaps of rows in any order; rows without extent vanish.

        Overlapping rows are cut at every onset and offset of their class; the largest value counts.
        """
        rows = rows.lasting()
        file, label = rows.file, rows.label
        later = (file[1:] > file[:-1]) | ((file[1:] == file[:-1]) & (label[1:] > label[:-1]))
        if np.where(rows.goes_on(), rows.onset[1:] >= rows.offset[:-1], later).all():
            # As tables of time steps are: nothing to sort.
            return rows
        rows = rows.take(order_of(rows.onset, label, file))
        if not np.any(rows.goes_on() & (rows.onset[1:] < rows.offset[:-1])):
            return rows
        group = np.concatenate(([0], np.cumsum(~rows.goes_on())))
        edge, groups, times = numbered(np.tile(group, 2), np.concatenate((rows.onset, rows.offset)))
        first, last = np.split(edge, 2)
        value = range_maximum(len(times), first, last, rows.value, empty=-1.0)
        at = np.flatnonzero(value >= 0)
        like = np.searchsorted(group, groups[at])
        return cls(rows.file[like], rows.label[like], times[at], times[at + 1], value[at])

    def sounding(self) -> Activity:
        """Return the pieces whose value is above 0."""
        return self if not len(self) or self.value.min() > 0 else self.take(np.flatnonzero(self.value > 0))

    def merged(self) -> Activity:
        """Return the pieces whose value is above 0, joined if they touch and their values are equal.

        All tables of one function of time give the same pieces, however they cut it into rows.
        """
        pieces = self.sounding()
        touching = pieces.onset[1:] == pieces.offset[:-1]
        same = pieces.goes_on() & touching & (pieces.value[1:] == pieces.value[:-1])
        if not same.any():
            return pieces
        head = np.flatnonzero(np.append(True, ~same))
        last = np.append(head[1:], len(pieces)) - 1
        return replace(pieces.take(head), offset=pieces.offset[last])


_CODES, _TICKS = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64)
SILENCE = Activity(_CODES, _CODES, _TICKS, _TICKS, np.zeros(0))


def activities(table: EventTable) -> Iterator[Activity]:
    """Yield the activity of each class of a table."""
    spans = table.spans()
    for classes, value in table.tracks():
        whole = Activity.of_track(spans, (classes, value))
        if len(classes) == 1:
            yield whole
            continue
        order = np.argsort(whole.label, kind="stable")
        bounds = np.searchsorted(whole.label[order], np.arange(len(table.classes) + 1))
        for label in classes:
            yield whole.take(order[bounds[label] : bounds[label + 1]])


# Events of one threshold.


@dataclass(frozen=True, slots=True)
class Events(Timed):
    """Events in the order of the table (a row each) or by file, class and onset (merged).

    onset_seconds, offset_seconds: (n,) the floats as read, for arithmetic that must follow another tool's to
    the bit.
    """

    onset_seconds: Floats
    offset_seconds: Floats

    def in_order(self, *, by_class: bool = True) -> Events:
        """Return the events by file, class, onset and offset, or by class last, whatever their order."""
        first, last = ((), (self.label,)) if by_class else ((self.label,), ())
        return self.take(order_of(*first, self.offset, self.onset, *last, self.file))

    def joined_up(self, *, touching: bool) -> Events:
        """Return events by file, class and onset, with overlapping events joined; none without extent.

        touching: whether events that only touch are also one. Only events of one class are joined.
        """
        events = self.lasting().in_order()
        if not len(events):
            return events
        change = ~events.goes_on()
        reach = running_maximum(events.offset, np.concatenate(([0], np.cumsum(change))))
        apart = events.onset[1:] > reach[:-1] if touching else events.onset[1:] >= reach[:-1]
        first = np.flatnonzero(np.concatenate(([True], change | apart)))
        last = np.append(first[1:], len(events)) - 1
        until = np.maximum.reduceat(events.offset_seconds, first)
        return replace(events.take(first), offset=reach[last], offset_seconds=until)


def active(values: Floats, threshold: float | Floats, inclusive: bool) -> Bools:
    """Return which values are active: above the threshold, or also at it if `inclusive`."""
    compare, above = np.greater_equal if inclusive else np.greater, np.empty(values.shape, dtype=bool)
    thresholds = np.broadcast_to(threshold, values.shape)
    rows: Iterable[Any] = range(len(values)) if values.ndim > 1 else [...]
    for_each(lambda row: compare(values[row], thresholds[row], out=above[row]), rows, values.size)
    return above


def active_rows(rows: EventTable, threshold: float, inclusive: bool) -> Events:
    """Return one event per active row, in the order of the table."""
    row, label = rows.active(threshold, inclusive=inclusive)
    onset, offset = rows.onset[row], rows.offset[row]
    return Events(rows.file[row], label, to_ticks(onset), to_ticks(offset), onset, offset)


def events_of(rows: EventTable, threshold: float, inclusive: bool, merge: bool) -> Events:
    """Return the events of a table at one threshold, row by row, or merged if they touch or overlap.

    Merged ones are sorted by file, class and onset. Rows without extent make no event: a time step of no
    length is empty.
    """
    if not merge:
        return active_rows(rows, threshold, inclusive)
    if rows.has_steps and rows.values:
        spans = rows.spans()
        later = spans.onset[1:] >= spans.offset[:-1], spans.file[1:] > spans.file[:-1]
        follows = np.where(spans.file[1:] == spans.file[:-1], *later)
        if follows.all() and np.all(spans.offset > spans.onset):
            return _merged_steps(rows, spans, threshold, inclusive)
    return active_rows(rows, threshold, inclusive).joined_up(touching=True)


def _merged_steps(rows: EventTable, spans: Spans, threshold: float, inclusive: bool) -> Events:
    """Merge time steps that are in order: touching steps of a class are one event."""
    firsts, lasts = [], []
    touching = (spans.file[1:] == spans.file[:-1]) & (spans.onset[1:] == spans.offset[:-1])
    for column in rows.values:
        detected = active(column, threshold, inclusive)
        begins, ends = detected.copy(), detected.copy()
        joined = detected[1:] & detected[:-1] & touching
        begins[1:] &= ~joined
        ends[:-1] &= ~joined
        firsts.append(np.flatnonzero(begins))
        lasts.append(np.flatnonzero(ends))
    first, last = np.concatenate(firsts), np.concatenate(lasts)
    label = np.repeat(np.arange(len(firsts), dtype=np.int32), [len(each) for each in firsts])
    order = np.argsort(rows.file[first], kind="stable")
    first, last, label = first[order], last[order], label[order]
    times = spans.onset[first], spans.offset[last], rows.onset[first], rows.offset[last]
    return Events(rows.file[first], label, *times)


# Events of all thresholds together.


@dataclass(frozen=True, slots=True)
class EventLifetimes(Timed):
    """For which levels which events exist.

    born, dies: (n,) The event exists at every level a with born < a <= dies, i.e. above every threshold t
    with born <= t < dies. nested: Whether the events are from an activity: the events of one level are apart.
    """

    born: Floats
    dies: Floats
    nested: bool = False

    def alive(self, threshold: float | Floats, inclusive: bool = False) -> Bools:
        """Return which events exist above a threshold, or at it if `inclusive`.

        threshold: one for all, or (n,) one for each.
        """
        if inclusive:
            return (self.born < threshold) & (threshold <= self.dies)
        return (self.born <= threshold) & (threshold < self.dies)

    def events(self) -> Events:
        """Return all lifetimes as events, whatever their levels."""
        seconds = to_seconds(self.onset), to_seconds(self.offset)
        return Events(self.file, self.label, self.onset, self.offset, *seconds)

    @classmethod
    def from_events(cls, events: Events) -> EventLifetimes:
        """Return hard events as lifetimes from 0 to 1, sorted by file."""
        n = len(events)
        whole = cls(events.file, events.label, events.onset, events.offset, np.zeros(n), np.ones(n))
        return whole.take(np.argsort(whole.file, kind="stable"))

    @classmethod
    def of(cls, activity: Activity, slots: tuple[Index, Index] | None = None) -> EventLifetimes:
        """Find the lifetimes of all events of an activity, sorted by file, class and onset.

        slots: the result of `slots_of`, if it is at hand.
        """
        place, pieces = slots or slots_of(activity)
        values = np.zeros(len(pieces))
        values[place] = activity.value
        slot, left, right = level_runs(values)
        first, last = pieces.take(left), pieces.take(right - 1) - 1
        return cls(
            activity.file.take(first),
            activity.label.take(first),
            activity.onset.take(first),
            activity.offset.take(last),
            np.maximum(values.take(left), values.take(right)),
            values.take(slot),
            nested=True,
        )


def slots_of(activity: Activity) -> tuple[Index, Index]:
    """Return a row of the pieces of an activity, with a wall of value 0 at every gap and at both ends.

    Pieces of value 0 are also walls. Beside the slot of each piece, (n,), it has the number of pieces up to
    each slot, (n_slots,). The activity may stand for all activities with pieces at the same times.
    """
    n = len(activity)
    apart = np.ones(n + 1, dtype=bool)
    apart[1:n] = ~activity.goes_on() | (activity.onset[1:] != activity.offset[:-1])
    place = np.arange(n) + np.cumsum(apart)[:n]
    is_piece = np.zeros(n + int(apart.sum()), dtype=bool)
    is_piece[place] = True
    return place, np.cumsum(is_piece)


def lifetimes_of(rows: EventTable, merge: bool) -> EventLifetimes:
    """Return the lifetimes of the events of a table.

    merge: touching rows are one event, whose extent depends on the level; else each row is an event
    at every level up to its value.
    """
    spans, tracks = rows.spans(), [*rows.tracks()]
    if merge and tracks:
        labels, ones = np.zeros_like(spans.file), np.ones(len(rows))
        steps, slots = Activity(spans.file, labels, spans.onset, spans.offset, ones), None
        # Where most rows of a class are silent, those that are not are looked at by themselves.
        dense = {k for k, value in enumerate(rows.values) if 2 * np.count_nonzero(value) > len(value)}
        if rows.has_steps and dense and Activity.of_rows(steps) is steps:
            # Steps in order are pieces of every class.
            slots = slots_of(steps)

        def of_track(track: Track) -> EventLifetimes:
            classes, value = track
            if slots is None or value is None or classes.start not in dense:
                return EventLifetimes.of(Activity.of_track(spans, track))
            label = np.broadcast_to(np.int32(classes.start), len(value))
            return EventLifetimes.of(replace(steps, label=label, value=value), slots)

        return EventLifetimes.joined(for_each(of_track, tracks, len(rows) * len(tracks)))
    row, label, born, dies = rows.levels()
    whole = EventLifetimes(spans.file[row], label, spans.onset[row], spans.offset[row], born, dies)
    # Sorted by all distinguishing keys, so that sums do not depend on the order of the table.
    keys = (whole.dies, whole.born, whole.offset, whole.onset, whole.label, whole.file)
    return whole.take(np.lexsort(keys))


def level_runs(values: Floats) -> tuple[Index, Index, Index]:
    """Find the maximal runs of values above a level: one for each distinct minimum of a run.

    values: (n,) walls of the smallest value at both ends. Returns the places of minima, the leftmost of tied
    ones, and the nearest smaller value on the left and on the right of each run.
    """
    left = previous_smaller(values)
    # Of what lies on the right of a value, all has it as its nearest smaller one, or what does, up to where
    # its run ends: at the end of that of the last one that has it.
    last, inner = np.arange(len(values)), np.flatnonzero(values > values[0])
    last[left.take(inner)] = inner
    while not np.array_equal(further := last.take(last), last):
        last = further
    slot = np.flatnonzero(values.take(left) < values)
    return slot, left.take(slot), last.take(slot) + 1


def previous_smaller(values: Floats) -> Index:
    """Return for each place the nearest one before it whose value is smaller or equal, (n,).

    The first value must be the smallest of all. Its own result is 0; results of other values equal to it are
    undefined.
    """
    before = np.arange(-1, len(values) - 1)
    before[:1] = 0
    before_larger = np.flatnonzero((values[:-1] > values[1:]) & (values[1:] > values[0]))
    searching, at = before_larger + 1, before_larger
    wanted = values.take(searching)
    for _ in range(_JUMPS):
        if not len(searching):
            return before
        at = before.take(at)
        before[searching] = at
        more = np.flatnonzero(values.take(at) > wanted)
        searching, at, wanted = searching.take(more), at.take(more), wanted.take(more)
    before[searching] = Pyramid(values).before(searching, wanted, or_equal=True)
    return before
