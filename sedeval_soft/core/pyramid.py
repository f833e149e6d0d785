"""Searches for the nearest small value, whatever the values: a pyramid of minima.

Two passes over log2(n) levels: up until a left neighbour holds something small enough, then down to the
rightmost such value in it. Near answers are found low, so that most queries take few steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]


class Pyramid:
    """Minima of blocks of 1, 2, 4, ... values."""

    __slots__ = ("levels",)

    def __init__(self, values: npt.NDArray[Any]) -> None:
        """Build over values, (n,)."""
        self.levels = [values]
        while len(self.levels[-1]) > 1:
            level = self.levels[-1]
            even = np.minimum(level[: len(level) // 2 * 2 : 2], level[1::2])
            self.levels.append(np.append(even, level[-1]) if len(level) % 2 else even)

    def before(self, places: Index, wanted: Floats, *, or_equal: bool) -> Index:
        """Return the nearest place before each whose value is smaller than (or equal to) a wanted one, (n,).

        places, wanted: (n,). There must be such a place.
        """
        smaller = np.less_equal if or_equal else np.less
        node = places.copy()
        found = np.full(len(places), -1, dtype=np.int64)
        climbing = np.arange(len(places))
        for height, level in enumerate(self.levels):
            if not len(climbing):
                break
            here = node[climbing]
            neighbour = np.maximum(here - 1, 0)
            hit = (here % 2 == 1) & smaller(level[neighbour], wanted[climbing])
            found[climbing[hit]] = height
            node[climbing[hit]] = neighbour[hit]
            climbing = climbing[~hit]
            node[climbing] //= 2
        for height in range(int(found.max(initial=0)), 0, -1):
            going = np.flatnonzero(found >= height)
            child = 2 * node[going] + 1
            below = self.levels[height - 1]
            inside = np.minimum(child, len(below) - 1)
            right = (child < len(below)) & smaller(below[inside], wanted[going])
            node[going] = np.where(right, child, child - 1)
        return node

    def minimum(self, first: Index, last: Index) -> npt.NDArray[Any]:
        """Return the smallest value of each range, (n,): from `first` on, up to but without `last`."""
        smallest = np.full(len(first), np.inf)
        low, high = first.copy(), last.copy()
        for level in self.levels:
            going = np.flatnonzero(low < high)
            if not len(going):
                break
            for end, odd, at in ((low, low[going] % 2 == 1, 0), (high, high[going] % 2 == 1, -1)):
                edge = going[odd]
                smallest[edge] = np.minimum(smallest[edge], level[end[edge] + at])
            low[going] = (low[going] + 1) // 2
            high[going] //= 2
        return smallest
