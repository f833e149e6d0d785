"""Activity: per file and class a piecewise-constant function of time with values in [0, 1].

Rows of one class may overlap; where they do, the largest value counts. An `Activity` has that
settled: its pieces are sorted and never overlap. Between pieces the value is 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.ranges import range_maximum
from sedeval_soft.core.rows import LongRows, Rows, WideRows
from sedeval_soft.core.ticks import Ticks, to_ticks

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
    def of_long(cls, rows: LongRows, times: tuple[Ticks, Ticks] | None = None) -> Activity:
        """Settle the overlaps of a long table; rows without extent vanish.

        times: the rows' onsets and offsets in ticks, where they are at hand.
        """
        onset, offset = times or (to_ticks(rows.onset), to_ticks(rows.offset))
        value = np.ones(len(rows)) if rows.value is None else rows.value
        return cls.of_ticks(rows.file, rows.label, onset, offset, value)

    @classmethod
    def of_column(cls, rows: WideRows, label: int, times: tuple[Ticks, Ticks] | None = None) -> Activity:
        """Settle the overlaps of one class of a wide table; cells with value 0 vanish.

        times: the rows' onsets and offsets in ticks, where they are at hand.
        """
        onset, offset = times or (to_ticks(rows.onset), to_ticks(rows.offset))
        kept = np.flatnonzero(rows.values[label])
        codes = np.full(len(kept), label, dtype=np.int32)
        return cls.of_ticks(rows.file[kept], codes, onset[kept], offset[kept], rows.values[label][kept])

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


def activities(rows: Rows) -> Iterator[Activity]:
    """Yield the activity of each class of a table."""
    if isinstance(rows, WideRows):
        times = to_ticks(rows.onset), to_ticks(rows.offset)
        yield from (Activity.of_column(rows, label, times) for label in range(len(rows.classes)))
        return
    whole = Activity.of_long(rows)
    order = np.argsort(whole.label, kind="stable")
    bounds = np.searchsorted(whole.label[order], np.arange(len(rows.classes) + 1))
    for label in range(len(rows.classes)):
        yield whole._take(order[bounds[label] : bounds[label + 1]])
