"""Two activities of one class on their common cells, and the events of each as runs of cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.activity import Activity
from sedeval_soft.core.lifetimes import level_runs
from sedeval_soft.core.pyramid import Pyramid
from sedeval_soft.core.ranges import expand
from sedeval_soft.core.ticks import Ticks

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


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
        file, time = file[order], time[order]
        new = np.ones(len(file), dtype=bool)
        new[1:] = (np.diff(file) != 0) | (np.diff(time) != 0)
        file, time = file[new], time[new]
        # The last boundary of a file becomes the wall before the next one; one more wall opens the first.
        opens = np.ones(len(file) + 1, dtype=bool)
        opens[1:-1] = np.diff(file) != 0
        width = np.zeros(len(file) + 1, dtype=np.int64)
        width[1:-1] = np.where(opens[1:-1], 0, np.diff(time))
        files = np.concatenate(([0], file)) if len(file) else np.zeros(1, dtype=np.int64)
        begin = _Boundaries(file, time)
        values = [begin.values(activity) for activity in (y, p)]
        return cls(files, width, np.cumsum(width) - width, values[0], values[1])


@dataclass(frozen=True, slots=True)
class _Boundaries:
    """The distinct boundaries of all files; boundary k opens cell k + 1."""

    file: Index
    time: Ticks

    def values(self, activity: Activity) -> Floats:
        """Return the value of an activity in every cell, walls first and last among them."""
        n = len(self.file)
        ends = [self._find(activity.file, times) for times in (activity.onset, activity.offset)]
        piece, boundary = expand(ends[0], ends[1])
        values = np.zeros(n + 1)
        values[boundary + 1] = activity.value[piece]
        return values

    def _find(self, file: npt.NDArray[np.int32], time: Ticks) -> Index:
        """Return which boundaries some times are: all of them are one."""
        n = len(self.file)
        files = np.concatenate((self.file, file.astype(np.int64)))
        times = np.concatenate((self.time, time))
        # Sorted together, each time follows the boundary that it is.
        order = np.lexsort((np.arange(len(files)) >= n, times, files))
        place = np.empty(len(files), dtype=np.int64)
        place[order] = np.cumsum(order < n) - 1
        return place[n:]


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
        return cls(
            left + 1,
            right,
            np.maximum(values[left], values[right]),
            values[slot],
            cells.place[right] - cells.place[left + 1],
            Pyramid(values),
            Pyramid(values[::-1]),
            key[order],
            order,
        )

    def at(self, cell: Index, level: Floats, *, above: bool) -> Index:
        """Return the event around each cell that exists at a level, or just above it if `above`, (n,).

        The value of the cell must be at least the level, or above it.
        """
        n = len(self.around.levels[0])
        left = self.around.before(cell, level, or_equal=above)
        right = n - 1 - self.mirrored.before(n - 1 - cell, level, or_equal=above)
        return self.order[np.searchsorted(self.key, left * n + right)]
