"""Matchings of crowds: events so many of which may pair with one another that no pairs are listed.

Of n events on either side all of which pair there are n * n pairs. How many there are is counted without a
look at each of them; where they are many, the events that one pairs with are looked up whenever they are
needed: among those near it in time, in one comparison of arrays.

Events enter one after another: one that enters is paired by an augmenting path, if there is one, found
breadth first (Berge 1957). What was searched in vain, when all events of the other side were there, will
never lead anywhere. Where they enter in the order of their levels, from the highest on, the matching is
maximum at every level.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sedeval_soft.arrays import Floats, Index
from sedeval_soft.measures import pairs
from sedeval_soft.measures.matching import TooManyPairsError
from sedeval_soft.measures.pairs import MOST_PAIRS, Condition, Overlapping, PairCandidates
from sedeval_soft.tables.ticks import Ticks
from sedeval_soft.timeline.events import Timed

_MOST_COMPARED = 1_500_000_000
"""Comparisons of events of one crowd after which it is refused; to look at an event takes `_LOOK` more."""
_LOOK = 8_000
_OVERLAP = 10  # comparisons that take as long as finding how much two events overlap


class Crowd(NamedTuple):
    """The events of one group, on each side in the order of their times in the first condition.

    ours, theirs: their positions among all events. first, others: the conditions, all of which must hold.
    """

    ours: Index
    theirs: Index
    first: Condition
    others: Sequence[Condition | Overlapping]

    @classmethod
    def of(
        cls, ours: Index, theirs: Index, first: Condition, others: Sequence[Condition | Overlapping]
    ) -> Crowd:
        """Take some events of all that the conditions are of."""
        ours = ours[np.argsort(first.reference[ours], kind="stable")]
        theirs = theirs[np.argsort(first.system[theirs], kind="stable")]
        return cls(ours, theirs, first.among(ours, theirs), [each.among(ours, theirs) for each in others])

    def windows(self) -> tuple[tuple[Index, Index], tuple[Index, Index]]:
        """Return for either side which events of the other, as a range, each of its events may pair with."""
        reference, system, before, after = self.first
        return (
            (
                np.searchsorted(system, reference - before),
                np.searchsorted(system, reference + after, "right"),
            ),
            (
                np.searchsorted(reference, system - after.max()),
                np.searchsorted(reference, system + before.max(), "right"),
            ),
        )

    def first_free(self) -> Index:
        """Return the partners of the greedy matching, (n_ref,) positions or -1: see `first_free_matching`."""
        partner, free = np.full(len(self.ours), -1, dtype=np.int64), np.ones(len(self.theirs), dtype=bool)
        first, last = self.windows()[0]
        for event in np.argsort(self.ours).tolist():
            inside = slice(first[event], last[event])
            fits = free[inside].copy()
            for condition in self.others:
                fits &= condition.holds(event, inside)
            near = np.flatnonzero(fits) + inside.start
            if len(near):
                chosen = near[np.argmin(self.theirs[near])]
                free[chosen] = False
                partner[event] = self.theirs[chosen]
        return partner

    def maximum(self, start: Index | None = None) -> Index:
        """Return the partners of a maximum matching, (n_ref,) positions or -1.

        start: (n_ref,) partners to begin with.
        """
        search = _Search(self)
        if start is not None:
            place = dict(zip(self.theirs.tolist(), range(len(self.theirs)), strict=True))
            search.join([(event, place[other]) for event, other in enumerate(start.tolist()) if other >= 0])
        search.enter(0, np.arange(len(self.ours)))
        search.enter(1, np.arange(len(self.theirs)))
        search.pair(1, range(len(self.theirs)))
        return np.where(search.mate[0] < 0, -1, self.theirs[search.mate[0]])

    def levels(self, ours: Floats, theirs: Floats) -> Floats:
        """Return up to which level the largest matching has one pair more, for each of its pairs, descending.

        ours, theirs: up to which level the events of either side are there, (n_ref,) and (n_sys,).
        """
        search, level = _Search(self), np.concatenate((ours, theirs))
        side = np.repeat((0, 1), (len(ours), len(theirs)))
        event = np.concatenate((np.arange(len(ours)), np.arange(len(theirs))))
        # Of equal levels those of the reference are there first: nothing is searched for them.
        order = np.lexsort((event, side, -level))
        grown = np.zeros(len(order), dtype=bool)
        for at, k in enumerate(order.tolist()):
            search.enter(int(side[k]), event[k : k + 1])
            grown[at] = search.pair(int(side[k]), [int(event[k])])
        return level[order[grown]]


class _Search:
    """A matching of a crowd that grows. Sides are 0, the reference, and 1, the system.

    mate: of each side the partners, -1 for none. loose: which are there and have none. open: which are there
    and may be on an augmenting path.
    """

    def __init__(self, crowd: Crowd) -> None:
        sizes = len(crowd.ours), len(crowd.theirs)
        self.mate = [np.full(size, -1, dtype=np.int64) for size in sizes]
        self.parent = [np.zeros(size, dtype=np.int64) for size in sizes]
        self.loose, self.open = ([np.zeros(size, dtype=bool) for size in sizes] for _ in range(2))
        self.missing, self.n_loose = [*sizes], [0, 0]
        self.windows = crowd.windows()
        # Where all tolerances are one, whatever is within the windows meets the first condition.
        same = all(each.min() == each.max() for each in (crowd.first.before, crowd.first.after))
        others = [each for each in crowd.others if isinstance(each, Condition)]
        self.conditions = others, others if same else [crowd.first, *others]
        # It takes longer, and is looked at where all else holds.
        self.overlapping = next((each for each in crowd.others if isinstance(each, Overlapping)), None)
        self.compared = 0

    def join(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Pair events, one of either side, before any have entered."""
        for event, other in pairs:
            self.mate[0][event], self.mate[1][other] = other, event

    def enter(self, side: int, events: Index) -> None:
        """Let events of a side be there."""
        self.missing[side] -= len(events)
        self.open[side][events] = True
        loose = self.mate[side][events] < 0
        self.loose[side][events] = loose
        self.n_loose[side] += int(loose.sum())

    def pair(self, side: int, events: Sequence[int]) -> int:
        """Pair as many more as can be of events that are there; return how many."""
        grown = 0
        for event in events:
            if self.loose[side][event] and self.n_loose[1 - side] and self._augment(event, side):
                self.loose[side][event] = False
                self.n_loose[0] -= 1
                self.n_loose[1] -= 1
                grown += 1
        return grown

    def _augment(self, root: int, side: int) -> bool:
        """Pair one event more by an augmenting path that begins with it, if there is one."""
        other = 1 - side
        (first, last), mate, parent = self.windows[side], self.mate[other], self.parent[other]
        unseen, queue = self.open[other].copy(), [root]
        left = int(unseen.sum())
        for event in queue:
            inside = slice(first[event], last[event])
            self.compared += inside.stop - inside.start + _LOOK
            if self.compared > _MOST_COMPARED:
                raise TooManyPairsError
            near = unseen[inside].copy()
            for condition in self.conditions[side]:
                near &= condition.holds(*((event, inside) if side == 0 else (inside, event)))
            if self.overlapping is not None:
                some = np.flatnonzero(near)
                at = some + inside.start
                near[some] = self.overlapping.holds(*((event, at) if side == 0 else (at, event)))
                self.compared += _OVERLAP * len(some)
            ends = near & self.loose[other][inside]
            end = int(ends.argmax()) if len(ends) else 0
            if len(ends) and ends[end]:
                self._flip(event, inside.start + end, root, side)
                return True
            found = np.flatnonzero(near) + inside.start
            unseen[found] = False
            parent[found] = event
            queue += mate[found].tolist()
            left -= len(found)
            if not left:
                break
        if not self.missing[other]:
            self.open[other] = unseen
        return False

    def _flip(self, event: int, end: int, root: int, side: int) -> None:
        mate, mates, parent = self.mate[side], self.mate[1 - side], self.parent[1 - side]
        self.loose[1 - side][end] = False
        while True:
            before = mate[event]
            mate[event], mates[end] = end, event
            if event == root:
                return
            end, event = before, parent[before]


def crowds_of(candidates: PairCandidates, most: int | None = None) -> list[Crowd]:
    """Return the crowds among events, whose pairs are too many to be listed.

    candidates: those that `are_many`. most: pairs of crowds that are not too many; None for `MOST_PAIRS`.
    Whether events are a crowd depends on those of their group alone. Raises TooManyPairsError where crowds
    have more pairs. Of events that must overlap all pairs are counted whose
    onsets and offsets are in the windows: no fewer than there are.
    """
    (order, first, last), nearest, others = candidates
    n_near = last - first
    for other in others:
        if isinstance(other, Condition):
            low, high = other.reference - other.before, other.reference + other.after
            n_near = count_within(first, last, other.system[order], low, high)
    # Runs of reference events each of which may pair with one that another of them may pair with.
    at = np.flatnonzero(last > first)
    at = at[np.argsort(first[at], kind="stable")]
    reach = np.maximum.accumulate(last[at])
    run = np.flatnonzero(np.concatenate(([True], first[at][1:] >= reach[:-1])))
    of_run, of_one = np.add.reduceat(n_near[at], run), np.maximum.reduceat(n_near[at], run)
    crowded = (of_run > pairs.MANY_PAIRS) & (of_one > pairs.MANY_OF_ONE)
    n_pairs = int(of_run[crowded].sum())
    most = MOST_PAIRS if most is None else most
    if n_pairs > most:
        raise TooManyPairsError(n_pairs, most)
    ends = np.append(run[1:], len(at))
    return [
        Crowd.of(at[begin:end], order[first[at[begin]] : reach[end - 1]], nearest, others)
        for begin, end in zip(run[crowded].tolist(), ends[crowded].tolist(), strict=True)
    ]


def beside(crowds: Sequence[Crowd], reference: Timed, system: Timed) -> tuple[Index, Index]:
    """Return the positions of the events that are in no crowd, those of the reference and of the system."""
    sides = []
    for events, members in (
        (reference, [crowd.ours for crowd in crowds]),
        (system, [crowd.theirs for crowd in crowds]),
    ):
        outside = np.ones(len(events), dtype=bool)
        outside[np.concatenate(members)] = False
        sides.append(np.flatnonzero(outside))
    return sides[0], sides[1]


def count_within(first: Index, last: Index, times: Ticks, low: Ticks, high: Ticks) -> Index:
    """Return how many of the times in each range of places are in an interval, (n,).

    first, last: (n,) places in `times`. low, high: (n,), both inclusive. Bit by bit of their ranks times are
    parted into lower and higher ones (Claude, Navarro & Ordonez 2015), so that none is looked at twice.
    """
    order = np.argsort(times, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    ordered = times[order]
    below = np.concatenate((np.searchsorted(ordered, low), np.searchsorted(ordered, high, "right")))
    begin, end = np.tile(first, 2), np.tile(last, 2)
    count = np.zeros(len(below), dtype=np.int64)
    for bit in range(len(times).bit_length() - 1, -1, -1):
        is_low = (rank >> bit) & 1 == 0
        lows = np.concatenate(([0], np.cumsum(is_low)))
        higher = (below >> bit) & 1 == 1
        before, until = lows[begin], lows[end]
        count += np.where(higher, until - before, 0)
        begin = np.where(higher, lows[-1] + begin - before, before)
        end = np.where(higher, lows[-1] + end - until, until)
        rank = np.concatenate((rank[is_low], rank[~is_low]))
    lower, upper = np.split(count, 2)
    return upper - lower
