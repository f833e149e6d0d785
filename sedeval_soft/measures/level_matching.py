"""Maximum matchings at every level, where each edge exists for an interval of levels.

Most edges never compete: at no level does another one with an end in common exist. Those count
for all their levels. The others fall into components that compete with one another somewhere;
a component is solved at each of its elementary levels, all of them in one block-diagonal graph.
Where that graph would be large, the component's levels are halved first: over fewer levels it falls
into smaller components.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sedeval_soft.errors import EvaluationError
from sedeval_soft.measures.base import Floats, Index
from sedeval_soft.measures.matching import maximum_matching
from sedeval_soft.sorting import distinct, heads
from sedeval_soft.timeline.ranges import expand

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

    A vertex matched for all its life counts exactly its life: a perfect system is perfect to the last digit,
    and sums do not depend on the way to the matching.
    """
    # Levels are replaced by their ranks: everything below sorts whole numbers.
    level = distinct(np.concatenate((edges.low, edges.high)))
    low, high = np.searchsorted(level, edges.low), np.searchsorted(level, edges.high)
    scale = len(level) + 1
    left, low, high = _matched_ranks(np.array((edges.left, edges.right, low, high)), scale, most)
    order = np.argsort(left * scale + low)
    left, low, high = left[order], low[order], high[order]
    # Levels of a vertex that touch are joined to one stretch.
    begins = np.ones(len(left), dtype=bool)
    begins[1:] = (left[1:] != left[:-1]) | (low[1:] != high[:-1])
    head = np.flatnonzero(begins)
    tail = np.append(head[1:], len(left))[: len(head)] - 1
    return MatchedLevels(left[head], level[low[head]], level[high[tail]])


def _matched_ranks(edges: Index, scale: int, most: float) -> Index:
    """Return matched vertices with their levels in any order, (3, n_matched): vertex, low and high.

    edges: (4, n) left and right vertices, low and high levels as ranks below `scale`.
    """
    matched = [np.zeros((3, 0), dtype=np.int64)]
    while edges.shape[1]:
        clusters = [_clusters(vertex, edges[2], edges[3], scale) for vertex in edges[:2]]
        alone = np.logical_and.reduce([np.bincount(cluster)[cluster] == 1 for cluster in clusters])
        matched.append(edges[:, alone][[0, 2, 3]])
        edges = edges[:, ~alone]
        if not edges.shape[1]:
            break
        component = _components(*(cluster[~alone] for cluster in clusters))
        # The distinct levels of each component, one component after another, and where edges lie in them.
        ends = component * scale + edges[2:]
        steps = distinct(ends)
        first, last = np.searchsorted(steps, ends)
        copies = np.bincount(component, last - first)
        few = copies <= _COPIES_PER_EDGE * np.bincount(component)
        # Each by itself: what is too much must not depend on which other files are at hand.
        if np.any(~few & (copies > most)):
            raise TooManyPairsError
        small = few[component]
        matched.append(_matched_steps(edges[:2, small], first[small], last[small], steps % scale))
        start = np.searchsorted(steps, np.arange(len(few) + 1) * scale)
        middle = (steps % scale)[(start[:-1] + start[1:]) // 2]
        edges = _halved(edges[:, ~small], middle[component[~small]])
    return np.concatenate(matched, axis=1)


def _clusters(vertex: Index, low: Index, high: Index, scale: int) -> Index:
    """Number the runs of each vertex's edges whose levels overlap, (n_edges,) from 0."""
    order = np.argsort(vertex * scale + low)
    base = vertex[order] * scale
    # The running maximum within a vertex: a later vertex outranks all before.
    reach = np.maximum.accumulate(base + high[order])
    new = np.ones(len(order), dtype=bool)
    new[1:] = base[1:] + low[order][1:] >= reach[:-1]
    cluster = np.empty(len(order), dtype=np.int64)
    cluster[order] = np.cumsum(new) - 1
    return cluster


def _components(left: Index, right: Index) -> Index:
    """Number the connected components of a graph given by its edges, (n_edges,) from 0."""
    label = np.arange(len(left))
    while True:
        lower = label
        for vertex in (left, right):
            lowest = np.full(int(vertex.max()) + 1, len(vertex))
            np.minimum.at(lowest, vertex, lower)
            lower = lowest[vertex]
        # An edge's label is the number of an edge of its component: take that one's label, too.
        lower = lower[lower]
        if np.array_equal(lower, label):
            return (np.cumsum(label == np.arange(len(label))) - 1)[label]
        label = lower


def _matched_steps(vertices: Index, first: Index, last: Index, level: Index) -> Index:
    """Match at every elementary level of every component, in one graph of copies; as `_matched_ranks`.

    vertices: (2, n_edges) left and right. first, last: (n_edges,) their levels, as positions in `level`.
    """
    edge, step = expand(first, last)
    ends, copies = [], []
    for vertex in vertices:
        keys = vertex[edge] * len(level) + step
        order = np.argsort(keys)
        ordered = keys[order]
        start = heads(ordered)
        number = np.empty(len(keys), dtype=np.int64)
        number[order] = np.repeat(np.arange(len(start)), np.diff(start, append=len(keys)))
        ends.append(number)
        copies.append(ordered[start])
    match = maximum_matching(ends[0], ends[1], len(copies[0]), len(copies[1]))
    vertex, at = np.divmod(copies[0][match >= 0], len(level))
    return np.array((vertex, level[at], level[at + 1]))


def _halved(edges: Index, middle: Index) -> Index:
    """Cut each edge at a level: return what lies below it, then what lies above."""
    halves = []
    for row, limit in ((3, np.minimum), (2, np.maximum)):
        half = edges.copy()
        half[row] = limit(half[row], middle)
        halves.append(half[:, half[2] < half[3]])
    return np.concatenate(halves, axis=1)
