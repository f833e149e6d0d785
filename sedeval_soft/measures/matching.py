"""Matchings between reference and system events, given as edges of a bipartite graph.

`first_free_matching` is the greedy rule of sed_eval: references in order, each takes its first free system
event. `maximum_matching` pairs as many as can be paired: it begins greedily, and continues along augmenting
paths, searched depth first (Kuhn 1955). It is for counts. `nearest_matching` is for pairs: of the largest
matchings it is one of the least total distance, found by the cheapest augmenting paths (Jonker & Volgenant
1987).

The searches are loops. They run in Python, or compiled by numba for large inputs: the same lines, and the
same result.

Vertices are numbered from 0; a matching is an array over left vertices of right partners, -1 for none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableSequence, Sequence
from contextlib import contextmanager
from functools import cache
from heapq import heappop, heappush
from types import FunctionType
from typing import Any

import numpy as np

from sedeval_soft.arrays import Floats, Index, TooManyOverlapsError, distinct, heads
from sedeval_soft.timeline.events import Timed

_MUCH = 3_000_000
"""Number of steps of loops in this process from which numba is loaded: the import takes seconds."""

_MOST_STEPS = 60_000_000
"""Steps after which a matching is refused: in Python they take a minute."""

_STEPS = [0]
"""Number of steps that this process has run in Python."""

_FARTHEST = 1 << 58
"""Ticks that all distances of a matching may have together, so that no sum of them overflows: 9,000 years."""


class TooManyPairsError(TooManyOverlapsError):
    """More events may pair with one another than can be matched."""

    def __init__(
        self, events: Timed, most: int, files: Sequence[str] = (), classes: Sequence[str] = ()
    ) -> None:
        """Name the place, and a way to fewer pairs.

        events: the reference events of one file that have the pairs. most: the largest number of pairs, 0 if
        the time and not the number of pairs is too large. files, classes: names, if they are known.
        """
        self.events, self.most = events, most
        place = [files[events.file[0]]] if files else []
        if classes and np.all(events.label == events.label[0]):
            place.append(f"class {classes[events.label[0]]}")
        pairs = f": more than {most:,} pairs of an event of the reference and one of the system"
        super().__init__(
            f"{', '.join(place)}{': ' * bool(place)}too many events lie within each other's collars, or "
            f"overlap enough, to match them{pairs * bool(most)}; are rows repeated, or are there very many "
            "events at one time? A smaller --onset-collar or --offset-collar (a larger --set iou) leaves "
            "fewer pairs, --only segment needs none"
        )


@contextmanager
def naming(files: Sequence[str], classes: Sequence[str]) -> Iterator[None]:
    """Let a TooManyPairsError name its file and class."""
    try:
        yield
    except TooManyPairsError as error:
        raise TooManyPairsError(error.events, error.most, files, classes) from None


def first_free_matching(
    left: Index, right: Index, n_left: int, n_right: int, merit: Floats | None = None
) -> Index:
    """Return the greedy matching: left vertices in order, each takes its first free right vertex.

    left, right: (n_edges,). merit: (n_edges,); if given, each takes the free one of most merit, the first of
    equals. Returns (n_left,) right partners, -1 for none. Sources: sed_eval; Lin et al. 2014 (COCO).
    """
    order = np.lexsort((right, left) if merit is None else (right, -merit, left))
    partner, owner = np.full(n_left, -1, dtype=np.int64), np.full(n_right, -1, dtype=np.int64)
    _take_free(left[order], right[order], partner, owner)
    return partner


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
    order = np.argsort(left, kind="stable")
    left, right = left[order].astype(np.int64), right[order].astype(np.int64)
    _take_free(left, right, partner, owner)
    first = np.searchsorted(left, np.arange(n_left + 1))
    path, at = np.zeros((2, n_left + 1), dtype=np.int64)
    seen, reached = np.zeros((2, n_right), dtype=np.int64)
    _run(_augment, 1 << 62, first, right, partner, owner, path, at, seen, reached)
    return partner


def nearest_matching(left: Index, right: Index, reference: Timed, system: Timed) -> Index:
    """Return a matching with most pairs, and of these one with the least sum of distances.

    left, right: (n_edges,) pairs, as positions of events, each pair once. The distance of a pair is |onset -
    onset'| + |offset - offset'|. The choice between several such matchings does not depend on the order of
    events that differ in their times. Returns (n_ref,) partners, -1 for none. Raises TooManyPairsError.
    """
    partner = np.full(len(reference), -1, dtype=np.int64)
    alone = (np.bincount(left)[left] == 1) & (np.bincount(right)[right] == 1)
    partner[left[alone]] = right[alone]
    if alone.all():
        return partner
    # Events that compete are numbered in the order of time.
    ours, left = _in_time(left[~alone], reference)
    theirs, right = _in_time(right[~alone], system)
    one, other = reference.take(ours[left]), system.take(theirs[right])
    distance = np.abs(one.onset - other.onset) + np.abs(one.offset - other.offset)
    distance = np.minimum(distance, _FARTHEST // min(len(ours), len(theirs)))
    order = np.lexsort((right, distance, left))
    left, right, distance = left[order], right[order], distance[order]
    # To be without a partner costs more than all distances: no pair is given up for one.
    alone_costs = np.array([4 * min(len(ours), len(theirs)) * int(distance.max()) + 1])
    # Left vertices whose nearest partner no earlier vertex takes.
    nearest = heads(left)
    nearest = nearest[np.unique(right[nearest], return_index=True)[1]]
    pair, owner = np.full(len(ours), -1, dtype=np.int64), np.full(len(theirs), -1, dtype=np.int64)
    pair[left[nearest]] = owner[right[nearest]] = nearest
    first = np.searchsorted(left, np.arange(len(ours) + 1))
    price, way, reach = np.zeros((3, len(theirs)), dtype=np.int64)
    reach -= 1
    arrays = first, left, right, distance, alone_costs, pair, owner, price, way, reach
    begun = _run(_go_cheapest, _MOST_STEPS, *arrays)
    if begun < len(ours):
        raise TooManyPairsError(reference.take(ours[begun : begun + 1]), 0)
    hit = pair >= 0
    partner[ours[hit]] = theirs[right[pair[hit]]]
    return partner


def _in_time(events: Index, side: Timed) -> tuple[Index, Index]:
    """Return the distinct ones of some events in the order of time, and the position of each event in it."""
    those = distinct(events)
    those = those[np.lexsort((side.offset[those], side.onset[those]))]
    place = np.empty(len(side), dtype=np.int64)
    place[those] = np.arange(len(those))
    return those, place[events]


# The loops. Their arrays are int64, memoryviews to Python. A loop goes on from one left vertex to the next
# until it has taken `most` steps; it returns the vertex that comes next, and its steps.


def _run(loop: Callable[..., tuple[int, int]], most: int, *arrays: Index) -> int:
    """Run a loop over all left vertices; return the vertex it reaches in `most` steps.

    arrays: of the loop, the first of them (n_left + 1,).
    """
    views = [each.data for each in arrays]
    root, steps = loop(0, min(most, max(0, _MUCH - _STEPS[0])), *views)
    _STEPS[0] += steps
    if root == len(arrays[0]) - 1 or steps >= most:
        return root
    fast = compiled_loop(loop)
    return (fast(root, most - steps, *arrays) if fast else loop(root, most - steps, *views))[0]


def _take_free(left: Index, right: Index, partner: Index, owner: Index) -> None:
    """Pair the ends of edges, one after another, that have no partner."""
    partner_of, owner_of = partner.data, owner.data
    for u, v in zip(left.data, right.data, strict=True):
        if partner_of[u] < 0 and owner_of[v] < 0:
            partner_of[u] = v
            owner_of[v] = u


Numbers = MutableSequence[int]


def _augment(
    root: int, most: int, first: Numbers, right: Numbers, partner: Numbers, owner: Numbers, path: Numbers,
    at: Numbers, seen: Numbers, reached: Numbers,
) -> tuple[int, int]:  # fmt: skip
    """Pair left vertices, from root on, by augmenting paths.

    - right: (n_edges,) the ends of edges; edges of left vertex u begin at first[u].
    - path: the left vertices of the path, at: the next edge of each.
    - seen: the right vertices reached. After a vain search they stay seen: no path will ever lead from there
      to a free vertex (Berge 1957).
    """
    steps = 0
    while root < len(first) - 1 and steps < most:
        top = 0 if partner[root] < 0 else -1
        n_reached = 0
        path[0] = root
        at[0] = first[root]
        while top >= 0:
            k = at[top]
            if k == first[path[top] + 1]:
                top -= 1
                continue
            at[top] = k + 1
            steps += 1
            v = right[k]
            if seen[v]:
                continue
            seen[v] = 1
            reached[n_reached] = v
            n_reached += 1
            if owner[v] >= 0:
                top += 1
                path[top] = owner[v]
                at[top] = first[owner[v]]
                continue
            while top >= 0:
                u = path[top]
                before = partner[u]
                partner[u] = v
                owner[v] = u
                v = before
                top -= 1
            for k in range(n_reached):
                seen[reached[k]] = 0
        root += 1
    return root, steps


def _go_cheapest(  # noqa: C901, PLR0912 - numba calls one function faster than several
    root: int, most: int, first: Numbers, left: Numbers, right: Numbers, distance: Numbers,
    alone_costs: Numbers, pair: Numbers, owner: Numbers, price: Numbers, way: Numbers, reach: Numbers,
) -> tuple[int, int]:  # fmt: skip
    """Add left vertices without a partner, from root on, at the least cost of all that are present.

    - left, right, distance: (n_edges,) edges by left vertex and their costs; edges of u begin at first[u].
    - alone_costs: (1,) the cost of a left vertex without a partner.
    - pair, owner: the edge of each left and right vertex, -1 for none.
    - price: (n_right,) the price that makes the edge of each left vertex its cheapest, 0 or below, 0 for a
      free vertex.
    - way: the edge by which a right vertex was reached, -1 before. reach: the cost of reaching it.

    The path ends at a right vertex that is free, or at a left one that loses its partner, whichever costs
    less. Costs are reduced by prices, so that none is negative (Dijkstra 1959).
    """
    steps, lone = 0, alone_costs[0]
    while root < len(first) - 1 and steps < most:
        if pair[root] >= 0:
            root += 1
            continue
        u, base, best, last, end = root, 0, lone, root, -1
        heap, touched, settled = [(0, 0)], [0], [0]
        heap.pop(), touched.pop(), settled.pop()
        while u >= 0:
            steps += first[u + 1] - first[u]
            for k in range(first[u], first[u + 1]):
                v = right[k]
                cost = base + distance[k] - price[v]
                if cost < best and (reach[v] < 0 or cost < reach[v]):
                    touched.append(v)
                    reach[v] = cost
                    way[v] = k
                    if owner[v] < 0:
                        best = cost
                        end = v
                    else:
                        heappush(heap, (cost, v))
            u = -1
            while u < 0 and len(heap) > 0 and heap[0][0] < best:
                cost, v = heappop(heap)
                if cost == reach[v]:
                    settled.append(v)
                    k = owner[v]
                    u = left[k]
                    base = cost - distance[k] + price[v]
                    if base + lone < best:
                        best = base + lone
                        last = u
                        end = -1
        if end < 0 and last != root:
            end = right[pair[last]]
            pair[last] = -1
        for v in settled:
            price[v] += reach[v] - best
        for v in touched:
            reach[v] = -1
        while end >= 0:
            k = way[end]
            before = pair[left[k]]
            pair[left[k]] = owner[end] = k
            end = right[before] if left[k] != root else -1
        root += 1
    return root, steps


@cache
def compiled_loop(*functions: Callable[..., Any], **options: object) -> Callable[..., Any] | None:
    """Return the last of some functions compiled by numba, None if numba cannot compile them.

    functions: plain functions of numbers and arrays; each may call those before it. options: of numba, which
    keeps the compiled functions for later processes, in a folder of its choice.
    """
    try:
        from numba import njit

        made: dict[str, Any] = {}
        for function in functions:
            # A copy that calls the compiled ones.
            copy = FunctionType(function.__code__, {**function.__globals__, **made}, function.__name__)
            made[function.__name__] = njit(cache=True, **options)(copy)
    except (ImportError, RuntimeError):
        # There is no numba, or no folder that it may write to: each process would compile anew.
        return None
    last: Callable[..., Any] = made[functions[-1].__name__]
    return last
