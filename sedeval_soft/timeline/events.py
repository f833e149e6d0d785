"""What is active when: values as functions of time, and the events of one threshold.

An `Activity` is a piecewise-constant function of time with values in [0, 1] per file and class. Rows of one
class may overlap; where they do, the largest value counts. Between its pieces the value is 0.

`Events` are what is active at one threshold: each active row is one event, or rows of a class that touch or
overlap are one event, as a table of fixed time steps needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sedeval_soft.tables.event_table import EventTable, Spans, Track
from sedeval_soft.tables.ticks import Ticks, to_ticks
from sedeval_soft.timeline.ranges import range_maximum, running_maximum

Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Activity:
    """Pieces of constant value, sorted by file, class and onset, without overlap.

    file, label: (n,) codes. onset, offset: (n,) ticks, onset < offset. value: (n,) in [0, 1].
    """

    file: Codes
    label: Codes
    onset: Ticks
    offset: Ticks
    value: Floats

    @classmethod
    def of_track(cls, spans: Spans, track: Track) -> Activity:
        """Settle the overlaps of the rows of a track; rows of value 0 or without extent vanish."""
        n = len(spans)
        label = np.broadcast_to(np.int32(track.classes.start), n) if spans.label is None else spans.label
        value = np.broadcast_to(1.0, n) if track.value is None else track.value
        columns = spans.file, label, spans.onset, spans.offset, value
        sounding = np.flatnonzero(value)
        return cls.of_ticks(*(columns if len(sounding) == n else (column[sounding] for column in columns)))

    @classmethod
    def of_table(cls, table: EventTable) -> Activity:
        """Settle the overlaps of a table, all classes together."""
        spans = table.spans()
        joint = cls.concatenated([cls.of_track(spans, track) for track in table.tracks()])
        return joint._take(np.lexsort((joint.onset, joint.label, joint.file)))

    @classmethod
    def of_ticks(cls, file: Codes, label: Codes, onset: Ticks, offset: Ticks, value: Floats) -> Activity:
        """Settle the overlaps of rows, each (n,); those without extent vanish."""
        pieces = cls(file, label, onset, offset, value)
        lasting = offset > onset
        if not lasting.all():
            pieces = pieces._take(np.flatnonzero(lasting))
        file, label, same = pieces.file, pieces.label, pieces.goes_on()
        later = (file[1:] > file[:-1]) | ((file[1:] == file[:-1]) & (label[1:] > label[:-1]))
        if np.where(same, pieces.onset[1:] >= pieces.offset[:-1], later).all():
            # As tables of time steps are: nothing to sort.
            return pieces
        pieces = pieces._take(np.lexsort((pieces.onset, label, file)))
        if np.any(pieces.goes_on() & (pieces.onset[1:] < pieces.offset[:-1])):
            return pieces._settled()
        return pieces

    @classmethod
    def concatenated(cls, parts: Sequence[Activity]) -> Activity:
        """Return the pieces of all parts, one part after another."""
        codes, ticks = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64)
        parts = [cls(codes, codes, ticks, ticks, np.zeros(0)), *parts]
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__slots__))

    def _take(self, index: npt.NDArray[np.intp]) -> Activity:
        return Activity(*(getattr(self, name)[index] for name in self.__slots__))

    def goes_on(self) -> Bools:
        """Return which pieces but the first are of the file and class of the one before."""
        same: Bools = (self.file[1:] == self.file[:-1]) & (self.label[1:] == self.label[:-1])
        return same

    def sounding(self) -> Activity:
        """Return the pieces whose value is above 0."""
        if not len(self.value) or self.value.min() > 0:
            return self
        return self._take(np.flatnonzero(self.value > 0))

    def joined(self) -> Activity:
        """Return the pieces whose value is above 0, joined where they touch and their values are equal.

        That is the same for all tables of one function of time, however they cut it into rows.
        """
        pieces = self.sounding()
        touching = pieces.onset[1:] == pieces.offset[:-1]
        same = pieces.goes_on() & touching & (pieces.value[1:] == pieces.value[:-1])
        if not same.any():
            return pieces
        head = np.flatnonzero(np.append(True, ~same))
        last = np.append(head[1:], len(pieces.value)) - 1
        return replace(pieces._take(head), offset=pieces.offset[last])

    def _settled(self) -> Activity:
        """Cut overlapping pieces at every onset and offset of their class; keep the largest value."""
        n = len(self.onset)
        group = np.concatenate(([0], np.cumsum(~self.goes_on())))
        both, time = np.concatenate((group, group)), np.concatenate((self.onset, self.offset))
        order = np.lexsort((time, both))
        new = np.ones(len(order), dtype=bool)
        new[1:] = (np.diff(both[order]) != 0) | (np.diff(time[order]) != 0)
        edge = np.empty(len(order), dtype=np.int64)
        edge[order] = np.cumsum(new) - 1
        times, groups = time[order][new], both[order][new]
        value = range_maximum(len(times), edge[:n], edge[n:], self.value, empty=-1.0)
        at = np.flatnonzero(value >= 0)
        first = np.searchsorted(group, groups[at])
        return Activity(self.file[first], self.label[first], times[at], times[at + 1], value[at])


def activities(table: EventTable) -> Iterator[Activity]:
    """Yield the activity of each class of a table."""
    spans = table.spans()
    for track in table.tracks():
        whole = Activity.of_track(spans, track)
        if len(track.classes) == 1:
            yield whole
            continue
        order = np.argsort(whole.label, kind="stable")
        bounds = np.searchsorted(whole.label[order], np.arange(len(table.classes) + 1))
        for label in track.classes:
            yield whole._take(order[bounds[label] : bounds[label + 1]])


@dataclass(frozen=True, slots=True)
class Events:
    """Events in the order of the table (a row each) or by file, class and onset (merged).

    file, label: (n,) codes. onset, offset: (n,) ticks. onset_seconds, offset_seconds: (n,) the
    floats as read, for arithmetic that must follow another tool's to the bit.
    """

    file: Codes
    label: Codes
    onset: Ticks
    offset: Ticks
    onset_seconds: Floats
    offset_seconds: Floats

    def __len__(self) -> int:
        """Return the number of events."""
        return len(self.onset)

    def take(self, index: npt.NDArray[np.intp] | Bools) -> Events:
        """Return the events at some positions, or those of a mask."""
        return Events(*(getattr(self, name)[index] for name in self.__slots__))

    def by_time(self) -> Events:
        """Return the events by file, onset, offset and class."""
        return self.take(np.lexsort((self.label, self.offset, self.onset, self.file)))

    def in_order(self) -> Events:
        """Return the events by file, class, onset and offset, whatever the order of the table."""
        return self.take(np.lexsort((self.offset, self.onset, self.label, self.file)))


def active(values: Floats, threshold: float | Floats, inclusive: bool) -> Bools:
    """Return which values are active: above the threshold, or at it too where `inclusive`."""
    above: Bools = values >= threshold if inclusive else values > threshold
    return above


def active_rows(rows: EventTable, threshold: float, inclusive: bool) -> Events:
    """Return one event per active row, in the order of the table."""
    row, label = rows.active(threshold, inclusive=inclusive)
    onset, offset = rows.onset[row], rows.offset[row]
    return Events(rows.file[row], label, to_ticks(onset), to_ticks(offset), onset, offset)


def events_of(rows: EventTable, threshold: float, inclusive: bool, merge: bool) -> Events:
    """Return the events of a table at one threshold, row by row or merged where they touch or overlap.

    Merged ones are sorted by file, class and onset. Rows without extent are none of them: a time step of no
    length holds nothing.
    """
    if not merge:
        return active_rows(rows, threshold, inclusive)
    spans = rows.spans()
    if spans.are_steps and rows.values:
        return _merged_steps(rows, spans, threshold, inclusive)
    events = active_rows(rows, threshold, inclusive)
    events = events.take(events.offset > events.onset)
    return _merged(events.in_order()) if len(events) else events


def _merged(events: Events) -> Events:
    """Merge events that are in order, at least one."""
    change = (np.diff(events.file) != 0) | (np.diff(events.label) != 0)
    group = np.concatenate(([0], np.cumsum(change)))
    reach = running_maximum(events.offset, group)
    first = np.flatnonzero(np.concatenate(([True], change | (events.onset[1:] > reach[:-1]))))
    last = np.append(first[1:], len(events)) - 1
    until = np.maximum.reduceat(events.offset_seconds, first)
    return replace(events.take(first), offset=reach[last], offset_seconds=until)


def _merged_steps(rows: EventTable, spans: Spans, threshold: float, inclusive: bool) -> Events:
    """Merge time steps that are in order: steps of a class are one event where they touch."""
    firsts, lasts = [], []
    for column in rows.values:
        detected = active(column, threshold, inclusive)
        begins, ends = detected.copy(), detected.copy()
        joined = detected[1:] & detected[:-1] & spans.touching
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
