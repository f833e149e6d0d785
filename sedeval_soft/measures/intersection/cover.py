"""How much of a stretch of time events cover.

Events of all groups (a file and class) are laid out on one line. How long events of a group have lasted
before a time is a piecewise linear function of it, found from two sorted lists: so the overlap of any
number of stretches with all events takes a few searches. Where events overlap, each counts on its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.errors import EvaluationError
from sedeval_soft.core.threads import for_each
from sedeval_soft.core.ticks import Ticks

Index = npt.NDArray[np.int64]

_LINE = 2**62


_DENSE = 2**24
"""Groups up to which places are looked up by their numbers."""


@dataclass(frozen=True, slots=True)
class Line:
    """Where on the line the times of each group lie.

    groups: (n,) ascending numbers of groups, None where all from 0 on are there. start: (n,) their
    beginnings. end: (n,) their last offsets, on the line.
    """

    groups: Index | None
    start: Index
    end: Index

    @classmethod
    def of(cls, group: Index, offset: Ticks) -> Line:
        """Lay out groups with as much room as their events need; raises EvaluationError if there is none."""
        groups, member = None, group
        if len(group) and int(group.max()) >= _DENSE:
            groups, member = np.unique(group, return_inverse=True)
        last = np.zeros(int(member.max(initial=-1)) + 1, dtype=np.int64)
        np.maximum.at(last, member, offset)
        if float(last.sum(dtype=np.float64)) + len(last) > _LINE:
            raise EvaluationError("the files are too long together; are the times in seconds?")
        end = np.cumsum(last + 1) - 1
        return cls(groups, end - last, end)

    def locate(self, group: Index, time: Ticks) -> tuple[Index, npt.NDArray[np.bool_]]:
        """Return where times lie, at most at the end of their group, and whether that is on the line."""
        n = len(self.start)
        if not n:
            return np.zeros(len(group), dtype=np.int64), np.zeros(len(group), dtype=bool)
        at = group if self.groups is None else np.searchsorted(self.groups, group)
        at = np.minimum(at, n - 1)
        known = group < n if self.groups is None else self.groups[at] == group
        return np.minimum(self.start[at] + time, self.end[at]), known


@dataclass(frozen=True, slots=True)
class Cover:
    """The events of all groups, ready for questions about overlap.

    onset, offset: (n,) sorted places on the line. total_onset, total_offset: (n + 1,) their running sums.
    apart: whether no event overlaps another of its group.
    """

    line: Line
    onset: Index
    offset: Index
    total_onset: Index
    total_offset: Index
    apart: bool

    @classmethod
    def of(cls, group: Index, onset: Ticks, offset: Ticks) -> Cover:
        """Build from events: groups, onsets and offsets, each (n,)."""
        line = Line.of(group, offset)
        begins, ends = (np.sort(line.locate(group, times)[0]) for times in (onset, offset))
        totals = [np.concatenate(([0], np.cumsum(places))) for places in (begins, ends)]
        return cls(line, begins, ends, totals[0], totals[1], bool(np.all(begins[1:] >= ends[:-1])))

    def overlap(self, group: Index, onset: Ticks, offset: Ticks) -> Ticks:
        """Return how many ticks of each stretch the events of its group cover, (n,)."""
        before = for_each(lambda time: self._before(group, time), (onset, offset), len(group))
        overlap: Ticks = before[1] - before[0]
        return overlap

    def _before(self, group: Index, time: Ticks) -> Ticks:
        place, known = self.line.locate(group, time)
        begun = np.searchsorted(self.onset, place)
        if self.apart and len(self.offset):
            # Of those begun only the last may not have ended.
            ended = begun - (self.offset[np.maximum(begun - 1, 0)] > place)
            ended[begun == 0] = 0
        else:
            ended = np.searchsorted(self.offset, place)
        # Sums may wrap around; their difference is right all the same.
        lasted: Ticks = begun * place - self.total_onset[begun] - (ended * place - self.total_offset[ended])
        return np.where(known, lasted, 0)
