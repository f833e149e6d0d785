"""Events of all thresholds together.

For one class in one file the events of all thresholds form a tree: each maximal run of pieces
whose values exceed something. A run whose smallest value is m, with larger neighbour n, is an
event for every level a with n < a <= m. So there is at most one event per piece, found from the
nearest smaller value on either side: the lifetime of an event.

A run with tied minima is represented by its leftmost one. Time without any piece has value 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.activity import Activity
from sedeval_soft.core.ticks import Ticks

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

    def take(self, index: Index | Bools) -> EventLifetimes:
        """Return the lifetimes at some positions, or those of a mask."""
        return EventLifetimes(
            self.file[index],
            self.label[index],
            self.onset[index],
            self.offset[index],
            self.born[index],
            self.dies[index],
        )

    def alive(self, threshold: float, inclusive: bool = False) -> Bools:
        """Return which events exist above a threshold, or at it where `inclusive`."""
        if inclusive:
            return (self.born < threshold) & (threshold <= self.dies)
        return (self.born <= threshold) & (threshold < self.dies)

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
