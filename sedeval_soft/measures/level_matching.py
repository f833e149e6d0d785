"""Maximum matchings at every level, where each edge exists for an interval of levels.

Most edges never compete: at no level does another one with an end in common exist. Those count
for all their levels. The others fall into components that compete with one another somewhere;
a component is solved at each of its elementary levels, all of them in one block-diagonal graph.
Where that graph would be large, the component's levels are halved first: over fewer levels it falls
into smaller components.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sedeval_soft.errors import EvaluationError
from sedeval_soft.measures.matching import maximum_matching
from sedeval_soft.timeline.ranges import expand

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


_COPIES_PER_EDGE = 64
"""Copies of an edge, on average, beyond which a component's levels are halved."""


class TooManyPairsError(EvaluationError):
    """More events are within each other's collars than can be matched."""

    def __init__(self) -> None:
        """Say what may be wrong with the tables."""
        super().__init__(
            "too many events lie within each other's collars to match them; are rows repeated, or are there "
            "very many events at one time? Smaller collars leave fewer"
        )


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


def match_levels(edges: LevelEdges, most: float = math.inf) -> MatchedLevels:
    """Return a maximum matching at every level at once.

    At each level the number of entries that hold there is the size of a maximum matching of the
    edges that exist there. Which of several maximum matchings is taken may change with the level.
    most: edges times levels at which they compete, of those that compete with one another, beyond which
    nothing is begun, unless few come to an edge; TooManyPairsError is raised.
    """
    # Levels are replaced by their ranks: everything below sorts whole numbers.
    level = np.sort(np.concatenate((edges.low, edges.high)))
    level = level[np.concatenate(([True], level[1:] > level[:-1]))] if len(level) else level
    ranked = _Ranked(
        edges.left, edges.right, np.searchsorted(level, edges.low), np.searchsorted(level, edges.high)
    )
    left, low, high = _joined(list(_solve(ranked, len(level) + 1, most)), len(level) + 1)
    return MatchedLevels(left, level[low], level[high])


def _joined(parts: Sequence[_Ranked], n_levels: int) -> tuple[Index, Index, Index]:
    """Return vertices and their levels in order, levels of a vertex that touch joined to one stretch.

    A vertex matched for all its life then counts exactly its life: a perfect system is perfect to the
    last digit, and sums do not depend on the way to the matching.
    """
    left, low, high = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("left", "low", "high")
    )
    order = np.argsort(left * n_levels + low)
    left, low, high = left[order], low[order], high[order]
    begins = np.ones(len(left), dtype=bool)
    begins[1:] = (left[1:] != left[:-1]) | (low[1:] != high[:-1])
    head = np.flatnonzero(begins)
    tail = np.append(head[1:], len(left))[: len(head)] - 1
    return left[head], low[head], high[tail]


@dataclass(frozen=True, slots=True)
class _Ranked:
    """Edges as in `LevelEdges`, or what is matched of them, with ranks for levels."""

    left: Index
    right: Index
    low: Index
    high: Index

    def take(self, index: Index | Bools) -> _Ranked:
        return _Ranked(self.left[index], self.right[index], self.low[index], self.high[index])


def _solve(edges: _Ranked, n_levels: int, most: float) -> Iterator[_Ranked]:
    """Yield what is matched, part by part."""
    yield edges.take(np.zeros(0, dtype=np.int64))
    while len(edges.left):
        left_cluster, left_alone = _clusters(edges.left, edges, n_levels)
        right_cluster, right_alone = _clusters(edges.right, edges, n_levels)
        alone = left_alone & right_alone
        yield edges.take(alone)
        edges = edges.take(~alone)
        if not len(edges.left):
            return
        component = _components(left_cluster[~alone], right_cluster[~alone])
        steps = _Steps.of(edges, component, n_levels)
        copies = np.bincount(component, steps.last - steps.first)
        few = copies <= _COPIES_PER_EDGE * np.bincount(component)
        # Each by itself: what is too much must not depend on which other files are at hand.
        if np.any(~few & (copies > most)):
            raise TooManyPairsError
        small = few[component]
        yield _solve_small(edges.take(small), steps.take(small))
        edges = _halved(edges.take(~small), component[~small], steps)


def _clusters(vertex: Index, edges: _Ranked, n_levels: int) -> tuple[Index, Bools]:
    """Group each vertex's edges into runs whose levels overlap; also say which are runs of one."""
    order = np.argsort(vertex * n_levels + edges.low)
    base, low = vertex[order] * n_levels, edges.low[order]
    # The running maximum within a vertex: a later vertex outranks all before.
    reach = np.maximum.accumulate(base + edges.high[order])
    new = np.ones(len(order), dtype=bool)
    new[1:] = base[1:] + low[1:] >= reach[:-1]
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
            heads = label == np.arange(len(label))
            return (np.cumsum(heads) - 1)[label]
        label = lower


@dataclass(frozen=True, slots=True)
class _Steps:
    """The distinct levels of each component, and where each edge begins and ends among them.

    level: all of them, component after component in ascending order. first, last: (n_edges,).
    start: (n_components + 1,) where the levels of each component begin.
    """

    level: Index
    first: Index
    last: Index
    start: Index

    @classmethod
    def of(cls, edges: _Ranked, component: Index, n_levels: int) -> _Steps:
        base = component * n_levels
        low, high = base + edges.low, base + edges.high
        keys = np.sort(np.concatenate((low, high)))
        keys = keys[np.concatenate(([True], keys[1:] > keys[:-1]))]
        start = np.searchsorted(keys, np.arange(int(component.max()) + 2) * n_levels)
        return cls(keys % n_levels, np.searchsorted(keys, low), np.searchsorted(keys, high), start)

    def take(self, index: Bools) -> _Steps:
        return _Steps(self.level, self.first[index], self.last[index], self.start)


def _solve_small(edges: _Ranked, steps: _Steps) -> _Ranked:
    """Match at every elementary level of every component, in one graph of copies."""
    edge, step = expand(steps.first, steps.last)
    left, copies = _copies(edges.left[edge], step, len(steps.level))
    right, others = _copies(edges.right[edge], step, len(steps.level))
    match = maximum_matching(left, right, len(copies), len(others))
    paired = copies[match >= 0]
    vertex, at = paired // len(steps.level), paired % len(steps.level)
    return _Ranked(vertex, vertex, steps.level[at], steps.level[at + 1])


def _copies(vertex: Index, step: Index, n_steps: int) -> tuple[Index, Index]:
    """Number the copies of vertices from 0; also return which vertex and step each number means."""
    key = vertex * n_steps + step
    order = np.argsort(key)
    ordered = key[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = ordered[1:] != ordered[:-1]
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.cumsum(new) - 1
    return number, ordered[new]


def _halved(edges: _Ranked, component: Index, steps: _Steps) -> _Ranked:
    """Cut the edges of each component at the median of its levels."""
    middle = steps.level[(steps.start[:-1] + steps.start[1:]) // 2][component]
    below = _Ranked(edges.left, edges.right, edges.low, np.minimum(edges.high, middle))
    above = _Ranked(edges.left, edges.right, np.maximum(edges.low, middle), edges.high)
    lower, upper = below.take(below.low < below.high), above.take(above.low < above.high)
    left, right, low, high = (
        np.concatenate((getattr(lower, name), getattr(upper, name)))
        for name in ("left", "right", "low", "high")
    )
    return _Ranked(left, right, low, high)
