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
from sedeval_soft.core.ticks import Ticks

Index = npt.NDArray[np.int64]

_LINE = 2**62


@dataclass(frozen=True, slots=True)
class Line:
    """Where on the line the times of each group lie.

    groups: (n_used,) the groups with events, ascending. start: (n_used,) their beginnings. end: (n_used,)
    their last offsets, on the line.
    """

    groups: Index
    start: Index
    end: Index

    @classmethod
    def of(cls, group: Index, offset: Ticks) -> Line:
        """Lay out groups with as much room as their events need; raises EvaluationError if there is none."""
        groups, member = np.unique(group, return_inverse=True)
        last = np.zeros(len(groups), dtype=np.int64)
        np.maximum.at(last, member, offset)
        if float(last.sum(dtype=np.float64)) + len(groups) > _LINE:
            raise EvaluationError("the files are too long together; are the times in seconds?")
        end = np.cumsum(last + 1) - 1
        return cls(groups, end - last, end)

    def locate(self, group: Index, time: Ticks) -> tuple[Index, npt.NDArray[np.bool_]]:
        """Return where times lie, at most at the end of their group, and whether it has events."""
        at = np.minimum(np.searchsorted(self.groups, group), max(0, len(self.groups) - 1))
        known = self.groups[at] == group if len(self.groups) else np.zeros(len(group), dtype=bool)
        if not len(self.groups):
            return np.zeros(len(group), dtype=np.int64), known
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
        before = [self._before(group, time) for time in (onset, offset)]
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
