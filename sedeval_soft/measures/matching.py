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

import numpy as np

from sedeval_soft.measures.base import Floats, Index
from sedeval_soft.sorting import distinct
from sedeval_soft.timeline.ranges import expand

_MAX_STEPS = 400
"""Array steps after which scipy takes over."""


def maximum_matching(
    left: Index, right: Index, n_left: int, n_right: int, start: Index | None = None
) -> Index:
    """Return a maximum matching of the graph with edges (left[k], right[k]), each edge once.

    left, right: (n_edges,). start: (n_left,) a matching to begin with, which saves steps; the result need
    not pair whom it pairs. Returns (n_left,) right partners, -1 for none.
    """
    partner, owner = np.full(n_left, -1, dtype=np.int64), np.full(n_right, -1, dtype=np.int64)
    if start is not None:
        paired = np.flatnonzero(start >= 0)
        partner[paired] = start[paired]
        owner[start[paired]] = paired
    if not len(left):
        return partner
    steps = _settle_forced(left, right, partner, owner)
    decided = (np.bincount(left)[left] == 1) & (np.bincount(right)[right] == 1) & (partner[left] == right)
    left, right = left[~decided], right[~decided]
    order = np.argsort(left, kind="stable")
    left, right = left[order], right[order]
    while steps < _MAX_STEPS:
        more = _augment(left, right, partner, owner)
        if not more:
            return partner
        steps += more
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    graph = csr_array((np.ones(len(left), dtype=np.int8), (left, right)), shape=(n_left, n_right))
    match = maximum_bipartite_matching(graph, perm_type="column").astype(np.int64)
    # What has no edges left keeps its partner.
    touched = distinct(left)
    partner[touched] = match[touched]
    return partner


def _settle_forced(left: Index, right: Index, partner: Index, owner: Index) -> int:
    """Take edges that some maximum matching must have, then any; return the steps used."""
    steps = 0
    while steps < _MAX_STEPS:
        free = (partner[left] < 0) & (owner[right] < 0)
        if not free.any():
            break
        left, right = left[free], right[free]
        forced = (np.bincount(left)[left] == 1) | (np.bincount(right)[right] == 1)
        some = np.flatnonzero(forced) if forced.any() else np.arange(len(left))
        # Of these, edges that share no vertex: each end prefers its first one.
        some_left, some_right, number = left[some], right[some], np.arange(len(some))
        first_left, first_right = np.full(len(partner), len(some)), np.full(len(owner), len(some))
        np.minimum.at(first_left, some_left, number)
        np.minimum.at(first_right, some_right, number)
        chosen = (first_left[some_left] == number) & (first_right[some_right] == number)
        partner[some_left[chosen]] = some_right[chosen]
        owner[some_right[chosen]] = some_left[chosen]
        steps += 1
    return steps


def _augment(left: Index, right: Index, partner: Index, owner: Index) -> int:
    """Search from all free left vertices at once and flip the disjoint augmenting paths found.

    left: sorted. Returns the steps used; 0 if there is no such path, so that the matching is maximum.
    """
    count = np.bincount(left, minlength=len(partner))
    first = np.cumsum(count) - count
    root, end = np.full((2, len(partner)), -1, dtype=np.int64)
    parent = np.full(len(owner), -1, dtype=np.int64)
    frontier = np.flatnonzero((partner < 0) & (count > 0))
    root[frontier] = frontier
    steps = 0
    while len(frontier) and steps < _MAX_STEPS:
        steps += 1
        whose, position = expand(first[frontier], first[frontier] + count[frontier])
        source, target = frontier[whose], right[position]
        new = parent[target] < 0
        source, target = source[new], target[new]
        parent[target] = source
        claimed = parent[target] == source
        source, target = source[claimed], target[claimed]
        free = owner[target] < 0
        end[root[source[free]]] = target[free]
        source, target = source[~free], target[~free]
        growing = end[root[source]] < 0
        frontier = owner[target[growing]]
        root[frontier] = root[source[growing]]
    tip = end[end >= 0]
    if not len(tip) and steps < _MAX_STEPS:
        return 0
    while len(tip):
        steps += 1
        above = parent[tip]
        before = partner[above]
        partner[above] = tip
        owner[tip] = above
        tip = before[before >= 0]
    return steps


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
