"""Maximum matchings at every level, where each edge exists for an interval of levels.

Most edges never compete: at no level does another one with an end in common exist. Those count
for all their levels. The others fall into components that compete with one another somewhere;
a component is solved at each of its elementary levels, all of them in one block-diagonal graph.
Where that graph would be large, the component's levels are halved first: over fewer levels it falls
into smaller components.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sedeval_soft.measures.matching import maximum_matching

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_COPIES_PER_EDGE = 64
"""Copies of an edge, on average, beyond which a component's levels are halved."""


@dataclass(frozen=True, slots=True)
class LevelEdges:
    """Edges between left and right vertices, each for the levels a with low < a <= high.

    left, right: (n,) vertices. low, high: (n,) levels, low < high.
    """

    left: Index
    right: Index
    low: Floats
    high: Floats

    def __len__(self) -> int:
        """Return the number of edges."""
        return len(self.left)

    def take(self, index: Index | Bools) -> LevelEdges:
        """Return the edges at some positions, or those of a mask."""
        return LevelEdges(self.left[index], self.right[index], self.low[index], self.high[index])


@dataclass(frozen=True, slots=True)
class MatchedLevels:
    """Left vertices that some maximum matching pairs, each for the levels a with low < a <= high."""

    left: Index
    low: Floats
    high: Floats


def match_levels(edges: LevelEdges) -> MatchedLevels:
    """Return a maximum matching at every level at once.

    At each level the number of entries that hold there is the size of a maximum matching of the
    edges that exist there. Which of several maximum matchings is taken may change with the level.
    """
    parts = list(_solve(edges))
    return MatchedLevels(
        np.concatenate([part.left for part in parts]),
        np.concatenate([part.low for part in parts]),
        np.concatenate([part.high for part in parts]),
    )


def _solve(edges: LevelEdges) -> Iterator[MatchedLevels]:
    yield MatchedLevels(edges.left[:0], edges.low[:0], edges.high[:0])
    while len(edges):
        left_cluster, left_alone = _clusters(edges.left, edges)
        right_cluster, right_alone = _clusters(edges.right, edges)
        alone = left_alone & right_alone
        free = edges.take(alone)
        yield MatchedLevels(free.left, free.low, free.high)
        edges = edges.take(~alone)
        if not len(edges):
            return
        component = _components(left_cluster[~alone], right_cluster[~alone])
        levels = _Levels.of(edges, component)
        n_edges = np.bincount(component)
        copies = np.bincount(component, levels.last - levels.first)
        small = (copies <= _COPIES_PER_EDGE * n_edges)[component]
        yield _solve_small(edges.take(small), levels.take(small), levels)
        edges = _halved(edges.take(~small), component[~small], levels)


def _clusters(vertex: Index, edges: LevelEdges) -> tuple[Index, Bools]:
    """Group each vertex's edges into runs whose levels overlap; also say which are runs of one."""
    order = np.lexsort((edges.low, vertex))
    vertex, low, high = vertex[order], edges.low[order], edges.high[order]
    # The running maximum within a vertex: levels are ranked, a later vertex outranks all before.
    rank = np.empty(len(order), dtype=np.int64)
    ascending = np.argsort(high, kind="stable")
    rank[ascending] = np.arange(len(order))
    new = np.concatenate(([True], np.diff(vertex) != 0))
    block = np.cumsum(new) * len(order)
    reach = high[ascending[np.maximum.accumulate(rank + block) - block]]
    new[1:] |= low[1:] >= reach[:-1]
    cluster = np.empty(len(order), dtype=np.int64)
    cluster[order] = np.cumsum(new) - 1
    return cluster, (np.bincount(cluster) == 1)[cluster]


def _components(left: Index, right: Index) -> Index:
    """Number the connected components of a graph given by its edges, (n_edges,) from 0."""
    n_left, n_right = int(left.max()) + 1, int(right.max()) + 1
    label = np.arange(len(left))
    while True:
        lowest_left = np.full(n_left, len(left))
        np.minimum.at(lowest_left, left, label)
        lower = lowest_left[left]
        lowest_right = np.full(n_right, len(left))
        np.minimum.at(lowest_right, right, lower)
        lower = lowest_right[right]
        # An edge's label is the number of an edge of its component: take that one's label, too.
        lower = lower[lower]
        if np.array_equal(lower, label):
            return np.unique(label, return_inverse=True)[1]
        label = lower


@dataclass(frozen=True, slots=True)
class _Levels:
    """The distinct levels of each component, and where each edge begins and ends among them.

    level: all levels, component after component in ascending order. first, last: (n_edges,).
    start: (n_components + 1,) where the levels of each component begin.
    """

    level: Floats
    first: Index
    last: Index
    start: Index

    @classmethod
    def of(cls, edges: LevelEdges, component: Index) -> _Levels:
        n = len(edges)
        both = np.concatenate((component, component))
        value = np.concatenate((edges.low, edges.high))
        order = np.lexsort((value, both))
        new = np.ones(2 * n, dtype=bool)
        new[1:] = (np.diff(both[order]) != 0) | (np.diff(value[order]) != 0)
        position = np.empty(2 * n, dtype=np.int64)
        position[order] = np.cumsum(new) - 1
        chosen = order[new]
        start = np.searchsorted(both[chosen], np.arange(int(component.max()) + 2))
        return cls(value[chosen], position[:n], position[n:], start)

    def take(self, index: Bools) -> _Levels:
        return _Levels(self.level, self.first[index], self.last[index], self.start)


def _solve_small(edges: LevelEdges, place: _Levels, levels: _Levels) -> MatchedLevels:
    """Match at every elementary level of every component, in one graph of copies."""
    count = place.last - place.first
    edge = np.repeat(np.arange(len(edges)), count)
    step = np.arange(len(edge)) - np.repeat(np.cumsum(count) - count, count) + place.first[edge]
    vertices = []
    for ends in (edges.left, edges.right):
        known, dense = np.unique(ends, return_inverse=True)
        copy, number = np.unique(step * len(known) + dense[edge], return_inverse=True)
        vertices.append(
            (number, len(copy), known[copy % len(known)] if len(known) else copy, copy, len(known))
        )
    (left, n_left, names, copies, n_known), (right, n_right, *_) = vertices
    match = maximum_matching(left, right, n_left, n_right)
    paired = np.flatnonzero(match >= 0)
    at = copies[paired] // max(n_known, 1)
    return MatchedLevels(names[paired], levels.level[at], levels.level[at + 1])


def _halved(edges: LevelEdges, component: Index, levels: _Levels) -> LevelEdges:
    """Cut the edges of each component at the median of its levels."""
    middle = levels.level[(levels.start[:-1] + levels.start[1:]) // 2][component]
    below = LevelEdges(edges.left, edges.right, edges.low, np.minimum(edges.high, middle))
    above = LevelEdges(edges.left, edges.right, np.maximum(edges.low, middle), edges.high)
    lower, upper = below.take(below.low < below.high), above.take(above.low < above.high)
    return LevelEdges(
        *(
            np.concatenate((getattr(lower, name), getattr(upper, name)))
            for name in ("left", "right", "low", "high")
        )
    )
