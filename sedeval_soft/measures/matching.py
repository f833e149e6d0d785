"""Candidate pairs of reference and system events, and matchings among them.

By collars a pair is a candidate if |onset - onset'| <= onset collar and |offset - offset'| <= the larger of
the offset collar and the rate times the reference event's length (Mesaros, Heittola & Virtanen 2016). By
overlap a pair is a candidate if its intersection over union is at least a share, as in object detection
(Everingham et al. 2010). Times are whole microseconds, so an onset at 0.9 s is within 0.2 s of one at 1.1 s,
and events from 0 to 1 s and from 0.7 to 1 s overlap by 0.3.

Events are laid out on one line, group after group, so that one sort and two searches find the candidates of
all groups. The search uses onsets or offsets, whichever leaves fewer pairs.

Pairs are the edges of a bipartite graph. `first_free_matching` is the greedy rule of sed_eval: references in
order, each takes its first free system event. `maximum_matching` pairs as many as can be paired: it begins
greedily, and continues along augmenting paths, searched depth first (Kuhn 1955). It is for counts.
`nearest_matching` is for pairs: of the largest matchings it is one of the least total distance, found by the
cheapest augmenting paths (Jonker & Volgenant 1987).

The searches are loops. They run in Python, or compiled by numba for large inputs: the same lines, and the
same result.

Vertices are numbered from 0; a matching is an array over left vertices of right partners, -1 for none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableSequence, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from heapq import heappop, heappush
from itertools import pairwise
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from sedeval_soft.arrays import (
    Bools,
    Codes,
    Floats,
    Index,
    TooManyOverlapsError,
    distinct,
    expand,
    heads,
    order_of,
)
from sedeval_soft.memory import check_room
from sedeval_soft.settings import Settings
from sedeval_soft.tables.ticks import Ticks, tick
from sedeval_soft.timeline.events import EventLifetimes, Timed

# System events in an order, and the range of system events near each reference event.
Windows = tuple[Index, Index, Index]
# Positions of events: of several, of one, or of a run of them.
Places = Index | Codes | int | slice

_AT_ONCE = 1 << 15  # pairs looked at at a time: few enough for the processor's cache
_LONGEST_LINE = 1 << 42  # ticks beyond which groups have as much of a line as they need, and no more
_ENOUGH = 12  # pairs in windows for each event: to look at half of these takes as long as to make others
# Pairs that may be listed of the events of a group, and of each of the reference where that is more.
MOST_PAIRS, PAIRS_OF_ONE = 4_000_000, 500
_LOOKED_AT = 25  # pairs in windows that may be looked at for each pair that may be listed
_PAIR = 72  # bytes for each pair while pairs are listed and matched at all levels, measured
_MEND = "A smaller --onset-collar or --offset-collar (a larger --set iou) leaves fewer pairs of events"


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


# Candidate pairs.


class Condition(NamedTuple):
    """Onsets of a candidate pair, or its offsets, are near each other: in a window around the reference's.

    reference: (n_ref,). system: (n_sys,). before, after: (n_ref,) how much earlier, or later, the system's
    time may be.
    """

    reference: Ticks
    system: Ticks
    before: Ticks
    after: Ticks

    def holds(self, left: Places, right: Places) -> Bools:
        """Return which pairs of events, given by their positions, meet it."""
        off = self.system[right] - self.reference[left]
        near: Bools = (off >= -self.before[left]) & (off <= self.after[left])
        return near

    def among(self, left: Index, right: Index) -> Condition:
        """Return the condition of some of the events, given by their positions."""
        return Condition(self.reference[left], self.system[right], self.before[left], self.after[left])

    def windows(self, reference_group: Index, system_group: Index) -> Windows:
        """Return the system events of its group with which each reference event meets it."""
        reference, system = self.reference, self.system
        most = max(reference.max(initial=0), system.max(initial=0)) + 1
        before, after = np.minimum(self.before, most), np.minimum(self.after, most)
        n_groups = max(reference_group.max(initial=0), system_group.max(initial=0)) + 1
        gap = int(before.max(initial=0)) + 1
        # Each group gets a piece of the line, and a gap before it as wide as any tolerance.
        last_used = np.full(n_groups, most + after.max(initial=0))
        if n_groups * (last_used[0] + float(gap)) > _LONGEST_LINE:
            last_used[:] = 0
            np.maximum.at(last_used, reference_group, reference + after)
            np.maximum.at(last_used, system_group, system)
        base = np.concatenate(([0], np.cumsum(last_used[:-1] + gap)))
        line = base[system_group] + system
        order = order_of(line)
        line = line[order]
        centre = base[reference_group] + reference
        first = np.searchsorted(line, centre - before, side="left")
        return order, first, np.searchsorted(line, centre + after, side="right")


class Overlapping(NamedTuple):
    """The intersection over union of a candidate pair is at least a share.

    onset, offset: of the reference's events, (n_ref,). their_onset, their_offset: of the system's, (n_sys,).
    """

    onset: Ticks
    offset: Ticks
    their_onset: Ticks
    their_offset: Ticks
    least: float

    def holds(self, left: Places, right: Places) -> Bools:
        """Return which pairs of events, given by their positions, meet it."""
        *times, least = self.among(left, right)
        enough: Bools = intersection_over_union(*times) >= least
        return enough

    def among(self, left: Places, right: Places) -> Overlapping:
        """Return the condition of some of the events, given by their positions."""
        onset, offset, their_onset, their_offset, least = self
        return Overlapping(onset[left], offset[left], their_onset[right], their_offset[right], least)


def intersection_over_union(onset: Ticks, offset: Ticks, their_onset: Ticks, their_offset: Ticks) -> Floats:
    """Return the intersection of two stretches of time as a share of their union, (n,).

    Two equal stretches have 1, including two without extent at one time. Two disjoint stretches have a value
    below 0. The result is a correctly rounded quotient of whole numbers: a quotient equal to a share as
    written (0.3 is 3/10) is the float of that share. No other quotient is, if the union in microseconds times
    the denominator of the share is below 2**52: an hour, and a share of six decimals.
    """
    common = np.minimum(offset, their_offset) - np.maximum(onset, their_onset)
    # The union of two stretches that overlap or touch: from the first onset to the last offset.
    extent = np.maximum(offset, their_offset) - np.minimum(onset, their_onset)
    share: Floats = (common + (extent == 0)) / np.maximum(extent, 1)
    return share


@dataclass(frozen=True, slots=True)
class Collars:
    """Tolerances in ticks; None if onsets or offsets are not compared.

    onset: of onsets. offset, rate: of offsets, in ticks and as a share of the reference's length. slack:
    ticks added to every tolerance, for candidates that are compared again in floats.
    """

    onset: int | None
    offset: int | None
    rate: float
    slack: int = 0

    @classmethod
    def of(cls, settings: Settings) -> Collars:
        """Take the collars from the settings."""
        return cls(
            tick(settings.onset_collar) if settings.onset else None,
            tick(settings.offset_collar) if settings.offset else None,
            settings.offset_collar_rate,
        )

    def conditions(self, reference: Timed, system: Timed) -> tuple[list[Condition], list[Overlapping]]:
        """Return the conditions of candidate pairs of these events: windows, and other conditions."""
        conditions = []
        if self.onset is not None:
            tolerance = np.full(len(reference), self.onset + self.slack, dtype=np.int64)
            conditions.append(Condition(reference.onset, system.onset, tolerance, tolerance))
        if self.offset is not None:
            share = np.rint(self.rate * (reference.offset - reference.onset)).astype(np.int64)
            tolerance = np.maximum(share, self.offset) + self.slack
            conditions.append(Condition(reference.offset, system.offset, tolerance, tolerance))
        return conditions, []

    def right_ends(self, reference: Timed, system: Timed) -> tuple[Bools, Bools]:
        """Return which pairs have the right onset, and which the right offset; reference, system: (n,) pairs.

        An end that is not compared is right.
        """
        at, right = np.arange(len(reference)), np.ones(len(reference), dtype=bool)
        of_onsets, _ = replace(self, offset=None).conditions(reference, system)
        of_offsets, _ = replace(self, onset=None).conditions(reference, system)
        onset, offset = (each[0].holds(at, at) if each else right for each in (of_onsets, of_offsets))
        return onset, offset


@dataclass(frozen=True, slots=True)
class Overlap:
    """The least intersection over union of two events, in (0, 1].

    The intersection of a reference event of length L with another is at most L, and at least a share t of
    their union. So the union is at most L / t, and at most L (1 - t) of the first is not in the intersection.
    The system's onset is at most L / t - L earlier and L (1 - t) later, its offset the other way round. The
    search for candidates uses these windows.
    """

    least: float

    def conditions(self, reference: Timed, system: Timed) -> tuple[list[Condition], list[Overlapping]]:
        """Return the conditions of candidate pairs of these events: windows, and other conditions."""
        length = (reference.offset - reference.onset).astype(np.float64)
        # A little more than needed, for rounding. Windows beyond all times are clipped.
        outside, inside = (
            np.minimum(rate * length * (1 + 1e-12) + 2, 2.0**60).astype(np.int64)
            for rate in (min(1 / self.least, 2.0**60) - 1, 1 - self.least)
        )
        # No event overlaps one that begins later than it by more than the longest of a file lasts.
        longest = np.zeros(max(reference.file.max(initial=0), system.file.max(initial=0)) + 1, dtype=np.int64)
        np.maximum.at(longest, system.file, system.offset - system.onset)
        outside = np.minimum(outside, longest[reference.file])
        return (
            [
                Condition(reference.onset, system.onset, outside, inside),
                Condition(reference.offset, system.offset, inside, outside),
            ],
            [Overlapping(reference.onset, reference.offset, system.onset, system.offset, self.least)],
        )

    def right_ends(self, reference: Timed, system: Timed) -> tuple[Bools, Bools]:
        """Return which pairs have the right onset, and which the right offset; reference, system: (n,) pairs.

        An end is wrong if correcting it alone is enough. If correcting either is enough, the end that is
        further off is wrong; if neither is enough, both are wrong.
        """
        times = reference.onset, reference.offset
        by_onset = intersection_over_union(*times, reference.onset, system.offset) >= self.least
        by_offset = intersection_over_union(*times, system.onset, reference.offset) >= self.least
        off = np.abs(system.onset - reference.onset), np.abs(system.offset - reference.offset)
        return by_offset & ~(by_onset & (off[0] >= off[1])), by_onset & ~(by_offset & (off[1] > off[0]))


PairRule = Collars | Overlap
"""Rule of candidate pairs."""


def pair_rule(settings: Settings) -> PairRule:
    """Return the rule of candidate pairs: within collars, or by enough overlap."""
    return Overlap(settings.iou) if settings.match_by == "iou" else Collars.of(settings)


class PairCandidates(NamedTuple):
    """Search ranges of the candidate pairs of events of one group, not yet a list of pairs.

    reference, group: the events of the reference, and the numbers of their groups. windows: windows of the
    condition that leaves the fewest pairs. others: the other conditions.
    """

    reference: Timed
    group: Index
    windows: Windows
    others: Sequence[Condition | Overlapping]

    @classmethod
    def of(
        cls, reference: Timed, system: Timed, groups: tuple[Index, Index], rule: PairRule
    ) -> PairCandidates:
        """Lay events out; groups: of the reference and the system, (n,) numbers that are not negative."""
        conditions, others = rule.conditions(reference, system)
        windows, sizes = [], []
        for condition in conditions:
            _, first, last = window = condition.windows(*groups)
            windows.append(window)
            sizes.append(int((last - first).sum()))
            if sizes[-1] <= _ENOUGH * (len(reference) + len(system)):
                # It would take longer to find fewer.
                break
        at = sizes.index(min(sizes))
        return cls(reference, groups[0], windows[at], [*conditions[:at], *conditions[at + 1 :], *others])

    def pairs(self) -> tuple[Index, Index]:
        """Return all candidate pairs, as positions in either list, by reference event, then by system event.

        Raises TooManyPairsError.
        """
        left, right = self.where()
        order = np.argsort(left.astype(np.int64) * len(self.windows[0]) + right)
        return left[order].astype(np.int64), right[order].astype(np.int64)

    def where(self, *checks: Callable[[Codes, Codes], Bools]) -> tuple[Codes, Codes]:
        """Return the candidate pairs in any order; checks: conditions that are tested first.

        Raises TooManyPairsError if a group has too many pairs, whatever other groups there are, and RoomError
        if all pairs do not fit into memory.
        """
        places, first, last = self.windows
        order = places.astype(np.int32)
        every: list[Callable[[Codes, Codes], Bools]] = [*checks, *(each.holds for each in self.others)]
        self._check_groups(self.group, last - first, _LOOKED_AT)
        pairs: list[tuple[Codes, Codes]] = [(order[:0], order[:0])]
        n_pairs, n_checked = 0, 0.0
        # Windows are unfolded some at a time, with not many more than `_AT_ONCE` pairs.
        total = np.cumsum(last - first)
        ends = np.arange(_AT_ONCE, int(total.max(initial=0)), _AT_ONCE)
        cuts = np.searchsorted(total, ends, side="left") + 1
        for begin, end in pairwise(dict.fromkeys([0, *cuts.tolist(), len(first)])):
            owner, inside = expand(first[begin:end], last[begin:end])
            left, right = (owner + begin).astype(np.int32), order.take(inside)
            for check in every:
                passed = np.flatnonzero(check(left, right))
                left, right = left.take(passed), right.take(passed)
            pairs.append((left, right))
            n_pairs += len(left)
            if n_pairs > n_checked:
                # To look at groups and at what is free takes as long as many pairs: for a tenth more at once.
                n_checked = 1.1 * n_pairs
                check_room(_PAIR * n_checked, "events: to match them", _MEND)
                self._check_groups(self.group[np.concatenate([left for left, _ in pairs])])
        left, right = (np.concatenate(side) for side in zip(*pairs, strict=True))
        self._check_groups(self.group[left])
        return left, right

    def _check_groups(self, group: Index, weight: Index | None = None, times: int = 1) -> None:
        """Raise TooManyPairsError if a group has more pairs than allowed, or than `times` as many.

        group, weight: (n,) groups of pairs, and the number of pairs that each represents.
        """
        if (len(group) if weight is None else weight.sum()) <= times * MOST_PAIRS:
            return
        most = times * np.maximum(MOST_PAIRS, PAIRS_OF_ONE * np.bincount(self.group))
        excess = np.bincount(group, weight, minlength=len(most)) - most
        worst = int(np.argmax(excess))
        if excess[worst] > 0:
            raise TooManyPairsError(self.reference.take(self.group == worst), int(most[worst]))


def level_pairs(
    reference: EventLifetimes, system: EventLifetimes, candidates: PairCandidates
) -> tuple[Codes, Codes]:
    """Return all candidate pairs of lifetimes that share a level, as positions; raises as `where`."""
    return candidates.where(
        lambda left, right: reference.born.take(left) < system.dies.take(right),
        lambda left, right: system.born.take(right) < reference.dies.take(left),
    )


def shared_levels(
    reference: EventLifetimes, system: EventLifetimes, left: Codes | Index, right: Codes | Index
) -> tuple[Floats, Floats]:
    """Return the levels low < a <= high at which both events of a pair are alive; none if low >= high."""
    low = np.maximum(reference.born[left], system.born[right])
    return low, np.minimum(reference.dies[left], system.dies[right])


# Matchings.

_MUCH = 3_000_000
"""Number of steps of loops in this process from which numba is loaded: the import takes seconds."""

_MOST_STEPS = 60_000_000
"""Steps after which a matching is refused: in Python they take a minute."""

_STEPS = [0]
"""Number of steps that this process has run in Python."""

_FARTHEST = 1 << 58
"""Ticks that all distances of a matching may have together, so that no sum of them overflows: 9,000 years."""


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
