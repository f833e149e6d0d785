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

import math

import numpy as np

from sedeval_soft.arrays import Floats, Index
from sedeval_soft.errors import EvaluationError
from sedeval_soft.sorting import distinct
from sedeval_soft.timeline.ranges import expand

_MAX_STEPS = 4_000  # array steps after which scipy takes over


class TooManyPairsError(EvaluationError):
    """More events may pair with one another than can be matched."""

    def __init__(self, pairs: int = 0, most: int = 0) -> None:
        """Say what may be wrong with the tables; pairs: how many there are, most: of how many at the most."""
        many = (
            f": {pairs:.3g} pairs of an event of the reference and one of the system, of at most {most:.3g}"
        )
        super().__init__(
            "too many events lie within each other's collars, or overlap enough, to match them"
            f"{many if pairs else ''}; are rows repeated, or are there very many events at one time? A "
            "smaller --onset-collar or --offset-collar (a larger --iou) leaves fewer, --only segment needs "
            "none"
        )


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
        more = _augment(left, right, partner, owner, _MAX_STEPS)
        if not more:
            return partner
        steps += more
    try:
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import maximum_bipartite_matching
    except ModuleNotFoundError:
        # A slim install has no scipy: it takes longer, and gets as far.
        while _augment(left, right, partner, owner, math.inf):
            pass
        return partner

    graph = csr_array((np.ones(len(left), dtype=np.int8), (left, right)), shape=(n_left, n_right))
    match = maximum_bipartite_matching(graph, perm_type="column").astype(np.int64)
    # What has no edges left keeps its partner.
    touched = distinct(left)
    partner[touched] = match[touched]
    return partner


def _settle_forced(left: Index, right: Index, partner: Index, owner: Index) -> int:
    """Take edges that some maximum matching must have, then any; return the steps used.

    A step takes time for what it changes, not for all that is there: each edge is looked at a few times.
    """
    free = (partner[left] < 0) & (owner[right] < 0)
    ends, mates = (left[free], right[free]), (partner, owner)
    # The edges of each vertex, in their order, where those of it begin, and which is the first still free.
    order = [np.argsort(end, kind="stable") for end in ends]
    degree = [np.bincount(end, minlength=len(mate)) for end, mate in zip(ends, mates, strict=True)]
    last = [np.cumsum(each) for each in degree]
    begin = [end - each for end, each in zip(last, degree, strict=True)]
    first = [each.copy() for each in begin]
    waiting, ready = [np.flatnonzero(each) for each in degree], [np.flatnonzero(each == 1) for each in degree]
    steps = 0
    while steps < _MAX_STEPS:
        ready = [each[mate[each] < 0] for each, mate in zip(ready, mates, strict=True)]
        for side, other in ((0, 1), (1, 0)):
            looking = ready[side] if any(map(len, ready)) else waiting[side]
            while len(looking):
                taken = mates[other][ends[other][order[side][first[side][looking]]]] >= 0
                looking = looking[taken]
                first[side][looking] += 1
                looking = looking[first[side][looking] < last[side][looking]]
        if any(map(len, ready)):
            forced = [of[at[each]] for of, at, each in zip(order, first, ready, strict=True)]
            some = distinct(np.concatenate(forced))
            # Of these, edges that share no vertex: each end prefers its first one.
            chosen = some
            for end in ends:
                chosen = np.sort(chosen[np.unique(end[chosen], return_index=True)[1]])
        else:
            waiting = [
                each[(mate[each] < 0) & (at[each] < end[each])]
                for each, mate, at, end in zip(waiting, mates, first, last, strict=True)
            ]
            if not len(waiting[0]):
                break
            preferred = [of[at[each]] for of, at, each in zip(order, first, waiting, strict=True)]
            chosen = np.intersect1d(preferred[0], preferred[1], assume_unique=True)
        for side in (0, 1):
            mates[side][ends[side][chosen]] = ends[1 - side][chosen]
        for side, other in ((0, 1), (1, 0)):
            vertices = ends[other][chosen]
            edges = order[other][expand(begin[other][vertices], last[other][vertices])[1]]
            lost = ends[side][edges]
            np.subtract.at(degree[side], lost, 1)
            ready[side] = distinct(lost[degree[side][lost] == 1])
        steps += 1
    return steps


def _augment(left: Index, right: Index, partner: Index, owner: Index, most: float) -> int:
    """Search from all free left vertices at once and flip the disjoint augmenting paths found.

    left: sorted. most: steps after which the search stops. Returns the steps used; 0 if there is no such
    path, so that the matching is maximum.
    """
    count = np.bincount(left, minlength=len(partner))
    first = np.cumsum(count) - count
    root, end = np.full((2, len(partner)), -1, dtype=np.int64)
    parent = np.full(len(owner), -1, dtype=np.int64)
    frontier = np.flatnonzero((partner < 0) & (count > 0))
    root[frontier] = frontier
    steps = 0
    while len(frontier) and steps < most:
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
    if not len(tip) and steps < most:
        return 0
    while len(tip):
        steps += 1
        above = parent[tip]
        before = partner[above]
        partner[above] = tip
        owner[tip] = above
        tip = before[before >= 0]
    return steps


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
