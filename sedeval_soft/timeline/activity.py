"""Activity: per file and class a piecewise-constant function of time with values in [0, 1].

Rows of one class may overlap; where they do, the largest value counts. An `Activity` has that
settled: its pieces are sorted and never overlap. Between pieces the value is 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sedeval_soft.tables.event_table import EventTable, Spans, Track
from sedeval_soft.tables.ticks import Ticks
from sedeval_soft.timeline.ranges import range_maximum

Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]


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
        parts = [cls.of_track(spans, track) for track in table.tracks()]
        if len(parts) == 1:
            return parts[0]
        joint = _concatenated(parts)
        return joint._take(np.lexsort((joint.onset, joint.label, joint.file)))

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
        if len(pieces.value) < 2:
            return pieces
        touching = pieces.onset[1:] == pieces.offset[:-1]
        new = np.append(True, ~(pieces.goes_on() & touching & (pieces.value[1:] == pieces.value[:-1])))
        if new.all():
            return pieces
        head = np.flatnonzero(new)
        last = np.append(head[1:], len(new)) - 1
        return replace(pieces._take(head), offset=pieces.offset[last])

    @classmethod
    def of_ticks(cls, file: Codes, label: Codes, onset: Ticks, offset: Ticks, value: Floats) -> Activity:
        """Settle the overlaps of rows, each (n,); those without extent vanish."""
        pieces = cls(file, label, onset, offset, value)
        lasting = offset > onset
        if not lasting.all():
            pieces = pieces._take(np.flatnonzero(lasting))
        same = pieces.goes_on()
        apart = np.where(same, pieces.onset[1:] >= pieces.offset[:-1], pieces._new_group_follows())
        if apart.all():
            # As tables of time steps are: nothing to sort.
            return pieces
        pieces = pieces._take(np.lexsort((pieces.onset, pieces.label, pieces.file)))
        if np.any(pieces.goes_on() & (pieces.onset[1:] < pieces.offset[:-1])):
            return pieces._settled()
        return pieces

    def _take(self, index: npt.NDArray[np.intp]) -> Activity:
        return Activity(
            self.file[index], self.label[index], self.onset[index], self.offset[index], self.value[index]
        )

    def goes_on(self) -> npt.NDArray[np.bool_]:
        """Return which pieces but the first are of the file and class of the one before."""
        same: npt.NDArray[np.bool_] = (self.file[1:] == self.file[:-1]) & (self.label[1:] == self.label[:-1])
        return same

    def _new_group_follows(self) -> npt.NDArray[np.bool_]:
        """Return which pieces but the first are of a later file, or of a later class of its file."""
        file, label = self.file, self.label
        later: npt.NDArray[np.bool_] = (file[1:] > file[:-1]) | (
            (file[1:] == file[:-1]) & (label[1:] > label[:-1])
        )
        return later

    def _settled(self) -> Activity:
        """Cut overlapping pieces at every onset and offset of their class; keep the largest value."""
        change = (np.diff(self.file) != 0) | (np.diff(self.label) != 0)
        group = np.concatenate(([0], np.cumsum(change)))
        both, time = np.concatenate((group, group)), np.concatenate((self.onset, self.offset))
        order = np.lexsort((time, both))
        new = np.ones(len(order), dtype=bool)
        new[1:] = (np.diff(both[order]) != 0) | (np.diff(time[order]) != 0)
        edge = np.empty(len(order), dtype=np.int64)
        edge[order] = np.cumsum(new) - 1
        times, groups = time[order][new], both[order][new]
        n = len(self.onset)
        value = range_maximum(len(times), edge[:n], edge[n:], self.value, empty=-1.0)
        covered = np.flatnonzero(value >= 0)
        first = np.searchsorted(group, groups[covered])
        return Activity(
            self.file[first], self.label[first], times[covered], times[covered + 1], value[covered]
        )


_COLUMNS = {"file": np.int32, "label": np.int32, "onset": np.int64, "offset": np.int64, "value": np.float64}


def _concatenated(parts: Sequence[Activity]) -> Activity:
    return Activity(
        *(
            np.concatenate([np.zeros(0, dtype=kind), *(getattr(part, name) for part in parts)])
            for name, kind in _COLUMNS.items()
        )
    )


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
