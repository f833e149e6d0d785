"""Matchings between reference and system events, given as edges of a bipartite graph.

`maximum_matching` pairs as many as can be paired. Most of a real graph decides itself: an edge
whose ends have no other is taken, a vertex with one edge left takes it (Karp and Sipser 1981).
What remains is augmented along alternating paths found from all free vertices at once (Azad,
Buluc and Pothen 2017), each step a few array operations. Graphs that would need many such steps
go to scipy, which is slow to import and quick on them.

`first_free_matching` is the greedy rule of sed_eval: references in order, each takes its first
free system event. That is a stable matching where both sides prefer earlier events, so deferred
acceptance (Gale and Shapley 1962) finds it with all references proposing at once.

Vertices are numbered from 0; a matching is an array over left vertices of right partners, -1 for none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sedeval_soft.sorting import distinct
from sedeval_soft.timeline.ranges import expand

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_MAX_STEPS = 400
"""Array steps after which scipy takes over."""


@dataclass(slots=True)
class _Mates:
    """The partners found so far on either side, -1 for none."""

    left: Index
    right: Index

    def pair(self, left: Index, right: Index) -> None:
        self.left[left] = right
        self.right[right] = left

    def open(self, left: Index, right: Index) -> Bools:
        """Return which edges join two free vertices."""
        free: Bools = (self.left[left] < 0) & (self.right[right] < 0)
        return free


def maximum_matching(
    left: Index, right: Index, n_left: int, n_right: int, start: Index | None = None
) -> Index:
    """Return a maximum matching of the graph with edges (left[k], right[k]), each edge once.

    left, right: (n_edges,). start: (n_left,) a matching to begin with, which saves steps; the result need
    not pair whom it pairs. Returns (n_left,) right partners, -1 for none.
    """
    mates = _Mates(np.full(n_left, -1, dtype=np.int64), np.full(n_right, -1, dtype=np.int64))
    if start is not None:
        paired = np.flatnonzero(start >= 0)
        mates.pair(paired, start[paired])
    if not len(left):
        return mates.left
    steps = _settle_forced(left, right, mates)
    left, right = _contested(left, right, mates)
    order = np.argsort(left, kind="stable")
    left, right = left[order], right[order]
    while steps < _MAX_STEPS:
        taken, found = _augment(left, right, mates)
        if not found:
            return mates.left
        steps += taken
    return _by_scipy(left, right, mates)


def _contested(left: Index, right: Index, mates: _Mates) -> tuple[Index, Index]:
    """Return the edges without those that are taken and whose ends have no other edge."""
    alone_left = np.bincount(left, minlength=len(mates.left)) == 1
    alone_right = np.bincount(right, minlength=len(mates.right)) == 1
    kept = ~(alone_left[left] & alone_right[right] & (mates.left[left] == right))
    return left[kept], right[kept]


def _settle_forced(left: Index, right: Index, mates: _Mates) -> int:
    """Take edges that some maximum matching must have, then any; return the steps used."""
    steps = 0
    edges = mates.open(left, right)
    while edges.any() and steps < _MAX_STEPS:
        left, right = left[edges], right[edges]
        degree_left = np.bincount(left, minlength=len(mates.left))
        degree_right = np.bincount(right, minlength=len(mates.right))
        forced = (degree_left[left] == 1) | (degree_right[right] == 1)
        chosen = np.flatnonzero(forced) if forced.any() else np.arange(len(left))
        chosen = chosen[_disjoint(left[chosen], right[chosen], mates)]
        mates.pair(left[chosen], right[chosen])
        edges = mates.open(left, right)
        steps += 1
    return steps


def _disjoint(left: Index, right: Index, mates: _Mates) -> Bools:
    """Choose among edges some that share no vertex: each end must prefer the edge over its others."""
    number = np.arange(len(left))
    by_left = np.full(len(mates.left), len(left))
    np.minimum.at(by_left, left, number)
    by_right = np.full(len(mates.right), len(left))
    np.minimum.at(by_right, right, number)
    chosen: Bools = (by_left[left] == number) & (by_right[right] == number)
    return chosen


def _augment(left: Index, right: Index, mates: _Mates) -> tuple[int, bool]:
    """Search from all free left vertices at once and flip the disjoint augmenting paths found.

    left: sorted. Returns the steps used and whether any path was found: if none, the matching is maximum.
    """
    n_left, n_right = len(mates.left), len(mates.right)
    count = np.bincount(left, minlength=n_left)
    first = np.cumsum(count) - count
    root = np.full(n_left, -1, dtype=np.int64)
    parent = np.full(n_right, -1, dtype=np.int64)
    end = np.full(n_left, -1, dtype=np.int64)
    frontier = np.flatnonzero((mates.left < 0) & (count > 0))
    root[frontier] = frontier
    steps = 0
    while len(frontier) and steps < _MAX_STEPS:
        steps += 1
        owner, position = expand(first[frontier], first[frontier] + count[frontier])
        source = frontier[owner]
        target = right[position]
        new = parent[target] < 0
        source, target = source[new], target[new]
        parent[target] = source
        claimed = parent[target] == source
        source, target = source[claimed], target[claimed]
        free = mates.right[target] < 0
        end[root[source[free]]] = target[free]
        source, target = source[~free], target[~free]
        growing = end[root[source]] < 0
        frontier = mates.right[target[growing]]
        root[frontier] = root[source[growing]]
    tip = end[end >= 0]
    found = len(tip) > 0
    while len(tip):
        steps += 1
        above = parent[tip]
        before = mates.left[above]
        mates.pair(above, tip)
        tip = before[before >= 0]
    return steps, found or steps >= _MAX_STEPS


def _by_scipy(left: Index, right: Index, mates: _Mates) -> Index:
    """Match the vertices of the given edges anew; vertices without any keep their partners."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    n_left, n_right = len(mates.left), len(mates.right)
    graph = csr_array((np.ones(len(left), dtype=np.int8), (left, right)), shape=(n_left, n_right))
    match = maximum_bipartite_matching(graph, perm_type="column").astype(np.int64)
    touched = distinct(left)
    mates.left[touched] = match[touched]
    return mates.left


def maximum_flow(left: Index, right: Index, left_count: Index, right_count: Index) -> Index:
    """Return how many of each kind on the left pair, as many as can be in all, (n_left_kinds,).

    left, right: (n_edges,) which kinds go together. left_count, right_count: how many there are of each kind.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow as flow_of

    n_left, n_right = len(left_count), len(right_count)
    source, sink = n_left + n_right, n_left + n_right + 1
    row = np.concatenate((np.full(n_left, source), left, n_left + np.arange(n_right)))
    column = np.concatenate((np.arange(n_left), n_left + right, np.full(n_right, sink)))
    between = np.minimum(left_count[left], right_count[right])
    capacity = np.concatenate((left_count, between, right_count)).astype(np.int32)
    network = csr_array((capacity, (row, column)), shape=(sink + 1, sink + 1))
    flow = flow_of(network, source, sink).flow
    paired: Index = flow[[source], :n_left].toarray().ravel().astype(np.int64)
    return paired


def first_free_matching(
    left: Index, right: Index, n_left: int, n_right: int, merit: Floats | None = None
) -> Index:
    """Return the greedy matching: left vertices in order, each takes its first free right vertex.

    left, right: (n_edges,). merit: (n_edges,); where it is given each takes the free one of most merit, the
    first of equals. Returns (n_left,) right partners, -1 for none. Sources: sed_eval; Lin et al. 2014 (COCO).
    """
    order = np.lexsort((right, left) if merit is None else (right, -merit, left))
    left, right = left[order], right[order]
    count = np.bincount(left, minlength=n_left)
    end = np.cumsum(count)
    choice = end - count
    holder = np.full(n_right, n_left, dtype=np.int64)
    asking = np.flatnonzero(count)
    while len(asking):
        wanted = right[choice[asking]]
        before = holder[wanted]
        np.minimum.at(holder, wanted, asking)
        displaced = before[(before < n_left) & (holder[wanted] != before)]
        refused = distinct(np.concatenate((asking[holder[wanted] != asking], displaced)))
        choice[refused] += 1
        asking = refused[choice[refused] < end[refused]]
    match = np.full(n_left, -1, dtype=np.int64)
    held = np.flatnonzero(holder < n_left)
    match[holder[held]] = held
    return match
