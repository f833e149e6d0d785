"""Matchings between reference and system events, given as edges of a bipartite graph.

`maximum_matching` pairs as many as can be paired. Most of a real graph decides itself: an edge
whose ends have no other is taken, a vertex with one edge left takes it (Karp and Sipser 1981).
What remains is augmented along alternating paths found from all free vertices at once (Azad,
Buluc and Pothen 2017), each step a few array operations. Graphs that would need many such steps
go to scipy, which is slow to import and quick on them.

`first_free_matching` is the greedy rule of sed_eval: references in order, each takes its first
free system event. That is a stable matching where both sides prefer earlier events, so deferred
acceptance (Gale and Shapley 1962) finds it with all references proposing at once.

`match_levels` finds maximum matchings at every level, where each edge exists for an interval of levels. Most
edges never compete: at no level does another one with an end in common exist. Those count for all their
levels. The others fall into components that compete with one another somewhere; a component is solved at each
of its elementary levels, all of them in one block-diagonal graph. Where that graph would be large, the
component's levels are halved first: over fewer levels it falls into smaller components.

Vertices are numbered from 0; a matching is an array over left vertices of right partners, -1 for none.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sedeval_soft.arrays import Floats, Index
from sedeval_soft.errors import EvaluationError
from sedeval_soft.sorting import distinct
from sedeval_soft.timeline.ranges import expand, numbered

_MAX_STEPS = 4_000  # array steps after which scipy takes over
_COPIES_PER_EDGE = 64  # copies of an edge, on average, beyond which a component's levels are halved
_AT_ONCE = 8_000_000  # copies of edges of several components that memory should hold
# Copies of one component that are matched, where nothing else is said: some seconds. Where it is dense (noise
# of one class in steps of 10 ms has 6 edges for each vertex), so many for each vertex.
_MOST_COPIES, _DENSE, _COPIES_PER_VERTEX = 3_000_000, 12, 64


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


# At every level.


class LevelEdges(NamedTuple):
    """Edges between left and right vertices, each for the levels a with low < a <= high.

    left, right: (n,) vertices. low, high: (n,) levels, low < high.
    """

    left: Index
    right: Index
    low: Floats
    high: Floats


class MatchedLevels(NamedTuple):
    """Left vertices that some maximum matching pairs, each for the levels a with low < a <= high."""

    left: Index
    low: Floats
    high: Floats


def match_levels(edges: LevelEdges, most: float = math.inf) -> MatchedLevels:
    """Return a maximum matching at every level at once.

    At each level the number of entries that hold there is the size of a maximum matching of the
    edges that exist there. Which of several maximum matchings is taken may change with the level.
    most: edges times levels at which they compete, of those that compete with one another, beyond which
    nothing is begun, unless few come to an edge; TooManyPairsError is raised. Where it is infinite that is
    raised where those that compete come to some seconds of work, sooner where they are dense, as of noise
    whose steps are tiny beside the collars.

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
    # To which component of the first round each edge belongs; how many copies those have had, and may have.
    origin, spent, allowed = np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0)
    while edges.shape[1]:
        clusters = [_clusters(vertex, edges[2], edges[3], scale) for vertex in edges[:2]]
        alone = np.logical_and.reduce([np.bincount(cluster)[cluster] == 1 for cluster in clusters])
        matched.append(edges[:, alone][[0, 2, 3]])
        edges = edges[:, ~alone]
        if not edges.shape[1]:
            break
        clusters = [cluster[~alone] for cluster in clusters]
        component = _components(*clusters)
        if len(allowed):
            origin = origin[~alone]
        else:
            origin = component
            vertices = np.concatenate([component[np.unique(each, return_index=True)[1]] for each in clusters])
            n_vertices = np.bincount(vertices)
            dense = np.bincount(component) > _DENSE * n_vertices
            allowed = np.where(dense, _COPIES_PER_VERTEX * n_vertices, _MOST_COPIES)
            allowed = np.where(most < math.inf, math.inf, allowed)
            spent = np.zeros(len(allowed))
        # Hardly an edge that still competes will get by without a copy: what comes to too many is not begun.
        if np.any(spent + np.bincount(origin, minlength=len(spent)) > 2 * allowed):
            raise TooManyPairsError
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
        spent += np.bincount(origin[small], (last - first)[small], minlength=len(spent))
        if np.any(spent > allowed):
            raise TooManyPairsError
        matched += [
            _matched_steps(edges[:2, some], first[some], last[some], steps % scale)
            for some in _portions(component, np.where(small, last - first, 0))
        ]
        start = np.searchsorted(steps, np.arange(len(few) + 1) * scale)
        middle = (steps % scale)[(start[:-1] + start[1:]) // 2]
        *rows, origin = _halved(np.vstack((edges, origin))[:, ~small], middle[component[~small]])
        edges = np.array(rows)
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


def _portions(component: Index, copies: Index) -> list[Index]:
    """Divide the edges with copies, (n,) of each, by whole components: memory holds all copies of some."""
    part = (np.cumsum(np.bincount(component, copies)) // _AT_ONCE)[component]
    edges = np.flatnonzero(copies)
    edges = edges[np.argsort(part[edges], kind="stable")]
    return np.split(edges, np.flatnonzero(np.diff(part[edges])) + 1)


def _matched_steps(vertices: Index, first: Index, last: Index, level: Index) -> Index:
    """Match at every elementary level of every component, in one graph of copies; as `_matched_ranks`.

    vertices: (2, n_edges) left and right. first, last: (n_edges,) their levels, as positions in `level`.
    """
    edge, step = expand(first, last)
    (left, vertex, at), (right, others, _) = (numbered(ends[edge], step) for ends in vertices)
    hit = maximum_matching(left, right, len(vertex), len(others)) >= 0
    return np.array((vertex[hit], level[at[hit]], level[at[hit] + 1]))


def _halved(edges: Index, middle: Index) -> Index:
    """Cut each edge at a level: return what lies below it, then what lies above."""
    halves = []
    for row, limit in ((3, np.minimum), (2, np.maximum)):
        half = edges.copy()
        half[row] = limit(half[row], middle)
        halves.append(half[:, half[2] < half[3]])
    return np.concatenate(halves, axis=1)
