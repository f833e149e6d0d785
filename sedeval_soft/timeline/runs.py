"""Two activities of one class on their common cells, and the events of each as runs of these cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sedeval_soft.tables.ticks import Ticks
from sedeval_soft.timeline.events import Activity
from sedeval_soft.timeline.lifetimes import level_runs
from sedeval_soft.timeline.ranges import Pyramid, expand

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]


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
        new = np.ones(len(order), dtype=bool)
        new[1:] = (np.diff(file[order]) != 0) | (np.diff(time[order]) != 0)
        # Boundary k opens cell k + 1. The last boundary of a file becomes the wall before the next one; one
        # more wall opens the first.
        boundary = np.empty(len(order), dtype=np.int64)
        boundary[order] = np.cumsum(new) - 1
        file, time = file[order][new], time[order][new]
        width = np.zeros(len(file) + 1, dtype=np.int64)
        width[1:-1] = np.where(np.diff(file) != 0, 0, np.diff(time))
        values, begin = [], 0
        for activity in (y, p):
            n = len(activity.file)
            piece, at = expand(boundary[begin : begin + n], boundary[begin + n : begin + 2 * n])
            value = np.zeros(len(width))
            value[at + 1] = activity.value[piece]
            values.append(value)
            begin += 2 * n
        return cls(np.append(0, file), width, np.cumsum(width) - width, *values)


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
        levels = np.maximum(values[left], values[right]), values[slot]
        length = cells.place[right] - cells.place[left + 1]
        searches = Pyramid(values), Pyramid(values[::-1])
        return cls(left + 1, right, *levels, length, *searches, key[order], order)

    def at(self, cell: Index, level: Floats, *, above: bool) -> Index:
        """Return the event around each cell that exists at a level, or just above it if `above`, (n,).

        The value of the cell must be at least the level, or above it.
        """
        n = len(self.around.levels[0])
        left = self.around.before(cell, level, or_equal=above)
        right = n - 1 - self.mirrored.before(n - 1 - cell, level, or_equal=above)
        return self.order[np.searchsorted(self.key, left * n + right)]
