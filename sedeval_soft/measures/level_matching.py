"""The largest matching at every level at once, of events that are born and die with the level.

As the level rises from 0 to 1, events are born and die. The sweep keeps a largest matching of the living
events, and updates it at each birth and death instead of computing it anew. An event that is born, or whose
partner died, gets a partner along an augmenting path, if such a path exists (Berge 1957). Marks on pairs keep
the search short: they are the parts of a graph that Dulmage and Mendelsohn (1958) found, except that a pair
may keep an outdated mark. docs/explanations/readings.md has the algorithm step by step, and the proof.

The sweep is plain Python. For large inputs numba compiles the same functions, if it is installed, as it is
beside sed_eval. The number of pairs does not depend on the choice of the largest matching, so that both give
the same counts.

The module also has whole numbers that change with the level, and their exact integrals over all levels.

The integral of a count that grows by c(k) at the level a(k), and is 0 beyond all of these, is minus the sum
of c(k) a(k). Levels are cut into whole numbers of 27 bits, whose sums are exact. So integrals may be added
and subtracted before they are rounded. Zero and equal integrals are exact to the last digit, a larger
integral never becomes smaller, and the order of changes does not matter.
"""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence
from typing import NamedTuple, Self

import numpy as np

from sedeval_soft.arrays import STRETCH, Bools, Codes, Floats, Index, heads, in_order, order_of, stretches
from sedeval_soft.measures.matching import compiled_loop, shared_levels
from sedeval_soft.timeline.events import EventLifetimes

_MUCH = 1_000_000
"""Pairs that compete, in all that this process swept, from which on numba is loaded: that takes seconds."""

_BLOCK = 1 << 10
"""Number of events in a block of the sweep, about, if they may pair with no others."""

_CROWDED = 24
"""Number of possible partners beyond which a search takes longer than taking over a partner."""

_ABSENT, _DESERTED, _FREE, _UNMARKED, _REFERENCE, _SYSTEM = -3, -2, -1, 0, 1, 2
"""States of an event: absent; its partner died at this level; without partner; in a pair without mark; in a
pair to which alternating paths may lead from a free event of the reference, or of the system."""


def matching_changes(
    reference: EventLifetimes,
    system: EventLifetimes,
    groups: tuple[Index, Index],
    left: Codes,
    right: Codes,
    *,
    compiled: bool | None = None,
) -> LevelChanges:
    """Return the levels at which the size of the largest matching of each group changes.

    groups: of the events of either side. left, right: (n,) the pairs, as positions of events of one group
    that may pair and share a level. compiled: whether numba compiles the sweep; None to compile large inputs.
    """
    alone = _without_rival(reference, system, left, right)
    pair = left[alone], right[alone]
    changes = LevelChanges.of_lives(groups[0][pair[0]], *shared_levels(reference, system, *pair))
    left, right = left[~alone], right[~alone]
    if not len(left):
        return changes
    # Competing events are numbered, events of the reference first.
    (ours, left), (theirs, right) = _renumbered(left, groups[0]), _renumbered(right, groups[1])
    n_ref, n = len(ours), len(ours) + len(theirs)
    right += np.int32(n_ref)
    first, near = _neighbours(left, right, n)
    group = np.concatenate((groups[0][ours], groups[1][theirs]))
    born = np.concatenate((reference.born[ours], system.born[theirs]))
    dies = np.concatenate((reference.dies[ours], system.dies[theirs]))
    # Deaths come before births at the same level: the order of equal entries is kept.
    matters = _looked_at(left, right, born, dies)
    levels, number = np.concatenate((dies, born)), np.arange(n, dtype=np.int32)
    some = np.flatnonzero(matters)
    level, order = in_order(levels[some])
    update = np.concatenate((~number, number))[some[order]]
    event = np.maximum(update, ~update)
    by_block = np.argsort(_blocks((n_ref, first, near), group)[event], kind="stable")
    level, update, group = level[by_block], update[by_block], group[event[by_block]]
    begin = heads(group, level)
    moment = np.repeat(np.arange(len(begin), dtype=np.int32), np.diff(begin, append=len(update)))
    mark = np.where(matters[1], _ABSENT, _FREE)
    change = _swept((n_ref, first, near), update, moment, mark, compiled)
    grown = np.flatnonzero(change)
    at = begin[grown]
    return LevelChanges.joined((changes, LevelChanges(group[at], level[at], change[grown])))


def _without_rival(reference: EventLifetimes, system: EventLifetimes, left: Codes, right: Codes) -> Bools:
    """Return which pairs compete with no other one at any of their levels, (n,).

    If pairs outnumber their events most pairs compete: a search for the others would take longer than it
    saves.
    """
    n_events = sum(
        np.count_nonzero(_is_there(events, len(side)))
        for events, side in ((left, reference), (right, system))
    )
    if len(left) >= n_events:
        return np.zeros(len(left), dtype=bool)
    alone = np.ones(len(left), dtype=bool)
    low, high = shared_levels(reference, system, left, right)
    level, order = in_order(np.concatenate((low, high)))
    number = np.zeros(len(level), dtype=np.int64)
    number[order[1:]] = np.cumsum(level[1:] > level[:-1])
    births, deaths = np.split(number, 2)
    for events in (left, right):
        base = events.astype(np.int64) * len(level)
        order = order_of(base + births)
        reached = np.maximum.accumulate((base + deaths)[order])
        rivals = np.flatnonzero((base + births)[order][1:] < reached[:-1])
        alone[order[rivals]] = alone[order[rivals + 1]] = False
    return alone


def _is_there(events: Codes, n: int) -> Bools:
    """Return which of n events are among some, (n,)."""
    is_there = np.zeros(n, dtype=bool)
    is_there[events] = True
    return is_there


def _renumbered(events: Codes, group: Index) -> tuple[Index, Codes]:
    """Return which events there are among some, by group, and the place of each of the some in these, (n,).

    group: (n_events,) of all.
    """
    those = np.flatnonzero(_is_there(events, len(group)))
    those = those[order_of(group[those])]
    place = np.empty(len(group), dtype=np.int32)
    place[those] = np.arange(len(those))
    return those, place[events]


def _neighbours(left: Codes, right: Codes, n: int) -> tuple[Codes, Codes]:
    """Return the possible partners of n events, (2 n_pairs,), and the first index of each, (n + 1,)."""
    near = []
    for ends in ((left, right), (right, left)):
        key = ends[0].astype(np.int64) << 32
        key |= ends[1]
        # Most pairs are listed in the order of the reference's events.
        if np.any(key[1:] < key[:-1]):
            key.sort()
        key &= (1 << 32) - 1
        near.append(key.astype(np.int32))
    degree = np.bincount(left, minlength=n) + np.bincount(right, minlength=n)
    return np.append(0, np.cumsum(degree)).astype(np.int32), np.concatenate(near)


def _looked_at(left: Codes, right: Codes, born: Floats, dies: Floats) -> Bools:
    """Return whether the death and the birth of each event matter, (2, n_events).

    left, right: (n_pairs,) the pairs. Only possible partners use an event. An event born before all of them
    may exist from the beginning, and an event that dies after them to the end.
    """
    matters = np.zeros((2, len(born)), dtype=bool)
    for some in stretches(len(left)):
        # numpy takes those at places of 64 bits several times as fast.
        ours, theirs = left[some].astype(np.intp), right[some].astype(np.intp)
        # As they are swept: of equal ones the reference's come first.
        matters[0, np.where(dies.take(ours) > dies.take(theirs), theirs, ours)] = True
        matters[1, np.where(born.take(ours) <= born.take(theirs), theirs, ours)] = True
    return matters


def _blocks(graph: tuple[int, Codes, Codes], group: Index) -> Codes:
    """Return the number of the block of each event: events of two blocks are in no pair, (n,).

    graph: as `Graph`. A sweep of one block after another stays in the processor's cache. If events are in the
    order of their groups and times, a block ends before the first event that no earlier event may pair with.
    """
    n_ref, first, near = graph
    lowest, highest = near[first[:n_ref]], near[first[1 : n_ref + 1] - 1]
    # From each event of the reference on, the first event of the system.
    begin = np.minimum.accumulate(lowest[::-1])[::-1]
    breaks = np.flatnonzero(np.append(True, np.maximum.accumulate(highest)[:-1] < begin[1:]))
    head = breaks[heads(group[breaks], (breaks + begin[breaks]) // _BLOCK)]
    sizes = np.diff(head, append=n_ref), np.diff(begin[head], append=len(group))
    number = np.arange(len(head), dtype=np.min_scalar_type(len(head)))
    return np.concatenate([np.repeat(number, size) for size in sizes])


# The sweep. Events have numbers, those of the reference are below `n_ref`. Event v may pair with the events
# `near[first[v]:first[v + 1]]`. A moment is a level of one group.
#
# Two things are true after each step, which make the matching a largest one: each event of the reference that
# may pair with a free event of the system, or with that of a pair with the mark of the system, is in a pair
# with this mark; and the same with the sides exchanged.

Graph = tuple[int, Sequence[int], Sequence[int]]
"""`n_ref`, `first` and `near`."""

State = tuple[MutableSequence[int], ...]
"""Mark (state) of each event, its partner if it is in a pair, and its predecessor in a search.

Further arrays have room for the events that a search reached, for those that it has not yet continued from,
and for the deserted events.
"""


def _sweep(
    graph: Graph, updates: Sequence[int], moments: Sequence[int], state: State, change: MutableSequence[int]
) -> None:
    """Process births and deaths of events, and count the growth of the matching at each moment.

    updates: v for the birth of an event, ~v for its death, in the order of their moments, deaths first.
    """
    mark, partner, _, _, _, deserted = state
    _, first, _ = graph
    now = -1
    n_deserted = 0
    for update, moment in zip(updates, moments):  # noqa: B905 - numba knows no `strict`
        if moment != now:
            while n_deserted > 0:
                n_deserted -= 1
                if mark[deserted[n_deserted]] == _DESERTED:
                    change[now] += _enter(deserted[n_deserted], graph, state)
            now = moment
        if update < 0:
            if mark[~update] >= _UNMARKED:
                change[now] -= 1
                mark[partner[~update]] = _DESERTED
                deserted[n_deserted] = partner[~update]
                n_deserted += 1
            mark[~update] = _ABSENT
        elif (
            n_deserted > 0
            and first[update + 1] - first[update] > _CROWDED
            and _take_over(update, graph, state)
        ):
            change[now] += 1
        else:
            change[now] += _enter(update, graph, state)


def _enter(event: int, graph: Graph, state: State) -> int:
    """Add an event, and pair it if that makes the matching larger; return the growth.

    An augmenting path leads through pairs with the mark of the other side. The search is depth first. Reached
    pairs get the mark of the event's own side, and keep it if the search finds no path.
    """
    n_ref, first, near = graph
    mark, partner, way, reached, waiting, _ = state
    own = _REFERENCE if event < n_ref else _SYSTEM
    other = _REFERENCE + _SYSTEM - own
    reached[0] = waiting[0] = event
    n_reached = n_waiting = 1
    spreads = False
    while n_waiting > 0:
        n_waiting -= 1
        u = waiting[n_waiting]
        for w in near[first[u] : first[u + 1]]:
            is_now = mark[w]
            if is_now == other:
                mate = partner[w]
                mark[w] = mark[mate] = own
                way[w] = u
                reached[n_reached] = waiting[n_waiting] = mate
                n_reached += 1
                n_waiting += 1
            elif is_now == _UNMARKED:
                spreads = True
            elif is_now == _FREE:
                _swap(event, u, w, state)
                for u in reached[:n_reached]:
                    mark[u] = mark[partner[u]] = other
                return 1
    mark[event] = _FREE
    if spreads:
        _spread(n_reached, own, graph, state)
    return 0


def _swap(root: int, event: int, other: int, state: State) -> None:
    """Pair two events. Back to where the search began, each takes the partner of the one before it."""
    _, partner, way, _, _, _ = state
    while True:
        before = partner[event]
        partner[event] = other
        partner[other] = event
        if event == root:
            return
        other = before
        event = way[other]


def _spread(n_reached: int, own: int, graph: Graph, state: State) -> None:
    """Mark all pairs that alternating paths reach from the reached events: free, or of marked pairs."""
    _, first, near = graph
    mark, partner, _, reached, _, _ = state
    at = 0
    while at < n_reached:
        u = reached[at]
        at += 1
        for w in near[first[u] : first[u + 1]]:
            if mark[w] >= _UNMARKED and mark[w] != own:
                mate = partner[w]
                mark[w] = mark[mate] = own
                reached[n_reached] = mate
                n_reached += 1


def _take_over(event: int, graph: Graph, state: State) -> bool:
    """Pair a new event with one whose partner died at this level; return whether it was paired.

    They are not paired if each might be paired without the other: then there might be two pairs. An event
    cannot be paired otherwise if it may pair with no free event, and with no event of a pair that has the
    mark of the other side.
    """
    n_ref, first, near = graph
    mark, partner, _, reached, _, _ = state
    own = _REFERENCE if event < n_ref else _SYSTEM
    other = _REFERENCE + _SYSTEM - own
    deserted = -1
    might = might_other = False
    for w in near[first[event] : first[event + 1]]:
        is_now = mark[w]
        if is_now == _DESERTED:
            deserted = w
        elif is_now in (_FREE, other):
            might = True
    if deserted < 0:
        return False
    for w in near[first[deserted] : first[deserted + 1]]:
        if mark[w] in (_FREE, own):
            might_other = True
            break
    if might and might_other:
        return False
    partner[event] = deserted
    partner[deserted] = event
    mark[event] = mark[deserted] = other if might else own if might_other else _UNMARKED
    if might or might_other:
        reached[0] = deserted if might else event
        _spread(1, other if might else own, graph, state)
    return True


# The sweep in Python, or compiled.

_PAIRS = [0]
"""Number of pairs that this process has swept."""


def _swept(
    graph: tuple[int, Codes, Codes], updates: Codes, moments: Codes, mark: Index, compiled: bool | None
) -> Index:
    """Return by how much the largest matching grows at each moment, (n_moments,).

    mark: of each event before the first moment. compiled: as for `matching_changes`.
    """
    n_ref, first, near = graph
    _PAIRS[0] += len(near) // 2
    # Python's reference counts of arrays take longer than the sweep: its caller keeps all arrays.
    loops = _swap, _spread, _enter, _take_over, _sweep
    much = _PAIRS[0] >= _MUCH if compiled is None else compiled
    sweep = compiled_loop(*loops, _nrt=False) if much else None
    n, change = len(first) - 1, np.zeros(int(moments[-1]) + 1, dtype=np.int64)
    if sweep is not None:
        # Marks are read most: the smaller they are, the more of them stay in the processor's cache. Of a
        # number without sign numba need not ask whether it counts from the end.
        state = mark.astype(np.int8), *np.zeros((5, n), dtype=np.uint32)
        sweep((n_ref, first, near.view(np.uint32)), updates, moments, state, change)
        return change
    # Python is quicker with lists of its own numbers. Arrays that are read in order need not become lists.
    changes = change.tolist()
    lists = n_ref, first.tolist(), near.data
    state = mark.tolist(), *([0] * n for _ in range(5))
    _sweep(lists, updates.data, moments.data, state, changes)
    return np.array(changes)


_BITS = 27
"""Bits of a level in a whole number: sums of 2**26 of these are exact in floats."""


Lives = tuple[Index, Floats, Floats]
"""Lives in each group over levels: groups, born and dies; (n,) each.

A life that is born above its death subtracts one at the levels between these.
"""


class LevelChanges(NamedTuple):
    """Growth of a count of each group as the level rises beyond some level; (n,) each."""

    group: Index
    level: Floats
    change: Index

    @classmethod
    def of_lives(cls, group: Index, born: Floats, dies: Floats) -> Self:
        """Return the changes of the number of lives, which exist at the levels born < a <= dies."""
        one = np.ones(len(group), dtype=np.int64)
        return cls(np.concatenate((group, group)), np.concatenate((born, dies)), np.concatenate((one, -one)))

    @classmethod
    def joined(cls, parts: Sequence[LevelChanges]) -> Self:
        """Return the changes of all parts, at least one."""
        return cls(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def lives(self) -> Lives:
        """Return lives of which there are as many at each level above 0; beyond all levels there are none."""
        each = np.repeat(np.arange(len(self.change)), np.abs(self.change))
        level, grows = self.level[each], self.change[each] > 0
        return self.group[each], np.where(grows, level, 0.0), np.where(grows, 0.0, level)


def integrals(counts: Sequence[Lives], n_groups: int) -> Index:
    """Return the total length of all lives of each group, (n_digits, n_counts, n_groups).

    Levels are in [0, 1]. Digit k is a whole number of 2**(-27 (k + 1)), of any sign and size.
    """
    digits: list[Index] = []
    # Few at a time stay in the processor's cache.
    step = max(STRETCH, n_groups)
    for count, (group, born, dies) in enumerate(counts):
        for begin in range(0, len(group), step):
            some = slice(begin, begin + step)
            of, ends, digit = group[some], (born[some], dies[some]), 0
            while len(of):
                # Two digits at a time. What is left has more of them, of levels that are low.
                scaled = [end * 4.0**_BITS for end in ends]
                whole = [end.astype(np.int64) for end in scaled]
                length = whole[1] - whole[0]
                for values in (length >> _BITS, length & ((1 << _BITS) - 1)):
                    if digit == len(digits):
                        digits.append(np.zeros((len(counts), n_groups), dtype=np.int64))
                    digits[digit][count] += np.bincount(of, values, minlength=n_groups).astype(np.int64)
                    digit += 1
                rest = [end - floor for end, floor in zip(scaled, whole, strict=True)]
                more = np.flatnonzero((rest[0] > 0) | (rest[1] > 0))
                of, ends = of[more], (rest[0][more], rest[1][more])
    return np.array(digits, dtype=np.int64).reshape(len(digits), len(counts), n_groups)


def rounded(digits: Index) -> Floats:
    """Return integrals, which are not negative, as floats; digits: (n_digits, ...), as of `integrals`."""
    value, carry = np.zeros(digits.shape[1:]), np.zeros(digits.shape[1:], dtype=np.int64)
    for digit in digits[::-1]:
        carry = digit + carry
        value = (value + (carry & ((1 << _BITS) - 1))) / 2.0**_BITS
        carry >>= _BITS
    return value + carry
