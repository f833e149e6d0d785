"""The largest matching at every level at once, of events that come and go with the level.

As the level rises from 0 to 1, events are born and die. A largest matching of those that there are is kept: it is
mended at each birth and death instead of being found anew at each level. An event that is born, or whose partner has
died, gets a partner along an augmenting path, if there is one (Berge 1957). Marks on pairs keep these searches short:
they are the parts of a graph that Dulmage and Mendelsohn (1958) found, only that a pair may keep a mark that it no
longer deserves. docs/explanations/matching.md has the algorithm step by step, and the proof.

The sweep is plain Python. Where there is much to do, numba compiles the same functions, if it is installed, as it is
beside sed_eval. How many can be paired does not depend on which largest matching is held: the counts are the same.
"""

from __future__ import annotations

from collections.abc import Callable, MutableSequence, Sequence
from dataclasses import dataclass
from functools import cache
from types import FunctionType
from typing import Any, NamedTuple, Self

import numpy as np

from sedeval_soft.arrays import Bools, Codes, Floats, Index
from sedeval_soft.measures.level_pairs import shared_levels
from sedeval_soft.sorting import distinct, heads, in_order
from sedeval_soft.timeline.events import EventLifetimes

_MUCH = 1_000_000
"""Pairs that compete, in all that this process swept, from which on numba is loaded: that takes a second or two."""

_ABSENT, _DESERTED, _FREE = -3, -2, -1
"""In the place of a partner: the event is not there; its partner died at this level; it is there without one."""

_REFERENCE, _SYSTEM = 1, 2
"""Marks of pairs that an alternating path may lead to from a free event of the reference, or of the system."""


class LevelChanges(NamedTuple):
    """By how much the largest matching of a group grows at a level, as the level rises; (n,) each."""

    group: Index
    level: Floats
    change: Index

    @classmethod
    def of_lives(cls, group: Index, born: Floats, dies: Floats) -> Self:
        """Return the changes of how many there are of what lives at the levels born < a <= dies."""
        one = np.ones(len(group), dtype=np.int64)
        return cls(np.tile(group, 2), np.concatenate((born, dies)), np.concatenate((one, -one)))

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Return the changes of all parts, at least one."""
        return cls(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def matching_changes(
    reference: EventLifetimes,
    system: EventLifetimes,
    groups: tuple[Index, Index],
    left: Codes,
    right: Codes,
    *,
    compiled: bool | None = None,
) -> LevelChanges:
    """Return where the size of the largest matching changes.

    groups: of the events of either side. left, right: (n,) the pairs, as positions of events of one group that
    may pair and share a level. compiled: whether numba compiles the sweep; None for where it pays.
    """
    alone = _without_rival(reference, system, left, right)
    pair = left[alone], right[alone]
    changes = LevelChanges.of_lives(groups[0][pair[0]], *shared_levels(reference, system, *pair))
    left, right = left[~alone], right[~alone]
    if not len(left):
        return changes
    # Events that compete are numbered, those of the reference first.
    (ours, left), (theirs, right) = _renumbered(left), _renumbered(right)
    n_ref, n = len(ours), len(ours) + len(theirs)
    first, near = _neighbours(left, right + np.int32(n_ref), n)
    group = np.concatenate((groups[0][ours], groups[1][theirs]))
    born = np.concatenate((reference.born[ours], system.born[theirs]))
    dies = np.concatenate((reference.dies[ours], system.dies[theirs]))
    # Deaths come before births at the same level: what is equal stays as it is.
    level, order = in_order(np.concatenate((dies, born)))
    is_death = order < n
    event = np.where(is_death, order, order - n)
    by_group = np.argsort(group[event].astype(np.min_scalar_type(int(group.max()))), kind="stable")
    level, event, is_death = level[by_group], event[by_group], is_death[by_group]
    begin = heads(group[event], level)
    moment = np.repeat(np.arange(len(begin), dtype=np.int32), np.diff(begin, append=len(event)))
    last = np.zeros(n, dtype=np.int32)
    last[event[is_death]] = moment[is_death]
    update = np.where(is_death, ~event, event).astype(np.int32)
    change = _swept(n_ref, first, near, update, moment, last, len(begin), compiled)
    at = begin[change != 0]
    return LevelChanges.joined((changes, LevelChanges(group[event[at]], level[at], change[change != 0])))


def _without_rival(
    reference: EventLifetimes, system: EventLifetimes, left: Codes, right: Codes
) -> Bools:
    """Return which pairs compete with no other one at any level of theirs, (n,).

    Where pairs are more than their events most compete. To look for the others would take longer than it saves.
    """
    alone = np.zeros(len(left), dtype=bool)
    if len(left) >= sum(np.count_nonzero(np.bincount(ends)) for ends in (left, right)):
        return alone
    alone[:] = True
    low, high = shared_levels(reference, system, left, right)
    levels = distinct(np.concatenate((low, high)))
    low, high = np.searchsorted(levels, low), np.searchsorted(levels, high)
    for event in (left, right):
        base = event.astype(np.int64) * len(levels)
        order = np.argsort(base + low)
        reached = np.maximum.accumulate((base + high)[order])
        rivals = np.flatnonzero((base + low)[order][1:] < reached[:-1])
        alone[order[rivals]] = alone[order[rivals + 1]] = False
    return alone


def _renumbered(events: Codes) -> tuple[Index, Codes]:
    """Number the events that there are in ascending order: return which these are, and their numbers, (n,)."""
    is_there = np.bincount(events) > 0
    return np.flatnonzero(is_there), (np.cumsum(is_there, dtype=np.int32) - np.int32(1))[events]


def _neighbours(left: Codes, right: Codes, n: int) -> tuple[Codes, Codes]:
    """Return with whom each of n events may pair, one event after another, and where those of each begin, (n + 1,)."""
    near = []
    for ends in ((left, right), (right, left)):
        key = ends[0].astype(np.int64) << 32
        key |= ends[1]
        key.sort()
        key &= (1 << 32) - 1
        near.append(key.astype(np.int32))
    degree = np.bincount(left, minlength=n) + np.bincount(right, minlength=n)
    return np.append(0, np.cumsum(degree)).astype(np.int32), np.concatenate(near)


# The sweep. Events are numbered 0 to n - 1, the `n_ref` of the reference first. An event `v` may pair with
# `near[first[v]:first[v + 1]]`.


def _swept(
    n_ref: int,
    first: Index,
    near: Index,
    updates: Index,
    moments: Index,
    last: Index,
    n_moments: int,
    compiled: bool | None,
) -> Index:
    """Return by how much the largest matching grows at each moment, (n_moments,).

    updates: (2 n,) v where an event is born, ~v where it dies. moments: (2 n,) when, ascending. last: (n,) the moment
    at which each event dies. compiled: as for `matching_changes`.
    """
    n, change = len(last), np.zeros(n_moments, dtype=np.int64)
    partner, way = np.full(n, _ABSENT, dtype=np.int32), np.zeros(n, dtype=np.int32)
    mark = np.zeros(n, dtype=np.int8)
    if compiled is None:
        _EFFORT.pairs += len(near) // 2
        compiled = _EFFORT.pairs >= _MUCH
    sweep = _compiled() if compiled else None
    if sweep is not None:
        sweep(n_ref, first, near, updates, moments, last, partner, mark, way, change)
        return change
    # Python is quicker with lists of its own numbers. Of `near` only slices are read: it need not become one.
    columns = [each.tolist() for each in (first, updates, moments, last, partner, mark, way, change)]
    columns.insert(1, memoryview(near))
    _sweep(n_ref, *columns)
    return np.array(columns[-1])


@dataclass
class _Effort:
    pairs: int = 0


_EFFORT = _Effort()
"""What this process has swept so far."""


@cache
def _compiled() -> Callable[..., None] | None:
    """Return the sweep compiled by numba, None where that is not possible.

    numba keeps what it compiled for later processes, in a folder of its choice.
    """
    try:
        from numba import njit
    except ImportError:
        return None
    functions: dict[str, Any] = {}
    for function in (_spread, _augment, _enter, _take_over, _sweep):
        # A copy that calls the compiled ones.
        copy = FunctionType(function.__code__, {**globals(), **functions}, function.__name__)
        try:
            functions[function.__name__] = njit(cache=True)(copy)
        except RuntimeError:
            # There is no folder that numba may write to: each process would compile anew.
            return None
    return functions["_sweep"]


Numbers = Sequence[int]
Mutable = MutableSequence[int]


def _sweep(
    n_ref: int,
    first: Numbers,
    near: Numbers,
    updates: Numbers,
    moments: Numbers,
    last: Numbers,
    partner: Mutable,
    mark: Mutable,
    way: Mutable,
    change: Mutable,
) -> None:
    """Let events be born and die, and note by how much the largest matching grows at each moment."""
    now = -1
    deserted = list(updates[:0])
    for update, moment in zip(updates, moments):
        if moment != now:
            for v in deserted:
                if partner[v] == _DESERTED:
                    change[now] += _enter(v, n_ref, first, near, partner, mark, way)
            deserted.clear()
            now = moment
        if update < 0:
            v = partner[~update]
            partner[~update] = _ABSENT
            if v >= 0:
                change[now] -= 1
                partner[v] = _ABSENT
                if last[v] > now:
                    partner[v] = _DESERTED
                    deserted.append(v)
        elif deserted and _take_over(update, n_ref, first, near, partner, mark):
            change[now] += 1
        else:
            change[now] += _enter(update, n_ref, first, near, partner, mark, way)


def _enter(
    event: int, n_ref: int, first: Numbers, near: Numbers, partner: Mutable, mark: Mutable, way: Mutable
) -> int:
    """Let an event be there, and pair it if that makes the matching larger; return by how much."""
    partner[event] = _FREE
    own = _REFERENCE if event < n_ref else _SYSTEM
    other = _REFERENCE + _SYSTEM - own
    searches = spreads = False
    for w in near[first[event] : first[event + 1]]:
        mate = partner[w]
        if mate >= 0:
            if mark[w] == other:
                searches = True
            elif mark[w] != own:
                spreads = True
        elif mate == _FREE:
            partner[event] = w
            partner[w] = event
            mark[event] = mark[w] = other
            return 1
    mark[event] = own
    if searches or spreads:
        reached = [event]
        if searches and _augment(reached, own, first, near, partner, mark, way):
            return 1
        _spread(reached, own, first, near, partner, mark)
    return 0


def _augment(
    reached: list[int], own: int, first: Numbers, near: Numbers, partner: Mutable, mark: Mutable, way: Mutable
) -> bool:
    """Look for an augmenting path from the one event that is reached, and swap partners along it.

    Such a path leads through pairs with the mark of the other side. It is searched depth first. Pairs that were
    reached have the mark of the event's own side meanwhile, and keep it if there is no path.
    """
    other = _REFERENCE + _SYSTEM - own
    waiting = [reached[0]]
    while waiting:
        u = waiting.pop()
        for w in near[first[u] : first[u + 1]]:
            mate = partner[w]
            if mate >= 0:
                if mark[w] == other:
                    mark[w] = mark[mate] = own
                    way[w] = u
                    reached.append(mate)
                    waiting.append(mate)
            elif mate == _FREE:
                # Each event of the path takes the next one's partner.
                while True:
                    before = partner[u]
                    partner[u] = w
                    partner[w] = u
                    if before < 0:
                        break
                    w = before
                    u = way[w]
                for u in reached:
                    mark[u] = mark[partner[u]] = other
                return True
    return False


def _spread(reached: list[int], own: int, first: Numbers, near: Numbers, partner: Mutable, mark: Mutable) -> None:
    """Mark all pairs that alternating paths lead to from events of one side: free ones, or those of marked pairs."""
    for u in reached:
        for w in near[first[u] : first[u + 1]]:
            mate = partner[w]
            if mate >= 0 and mark[w] != own:
                mark[w] = mark[mate] = own
                reached.append(mate)


def _take_over(event: int, n_ref: int, first: Numbers, near: Numbers, partner: Mutable, mark: Mutable) -> bool:
    """Pair an event that is born with one that lost its partner at this level; return whether that is done.

    Each of the two could be paired with others at most if it may pair with a free event, or with one of a pair that
    has the mark of the other side. If both could, that might make two pairs.
    """
    own = _REFERENCE if event < n_ref else _SYSTEM
    other = _REFERENCE + _SYSTEM - own
    deserted = -1
    has_other = False
    for w in near[first[event] : first[event + 1]]:
        mate = partner[w]
        if mate == _DESERTED:
            deserted = w
        elif mate == _FREE or (mate >= 0 and mark[w] == other):
            has_other = True
    if deserted < 0:
        return False
    wanted = False
    for w in near[first[deserted] : first[deserted + 1]]:
        mate = partner[w]
        if mate == _FREE or (mate >= 0 and mark[w] == own):
            wanted = True
            break
    if has_other and wanted:
        return False
    partner[event], partner[deserted] = deserted, event
    mark[event] = mark[deserted] = other if has_other else own if wanted else 0
    if has_other:
        _spread([deserted], other, first, near, partner, mark)
    elif wanted:
        _spread([event], own, first, near, partner, mark)
    return True
