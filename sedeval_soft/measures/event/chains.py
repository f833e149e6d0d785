"""Candidate pairs of lifetimes: within each other's collars, and alive at a level in common.

Lifetimes of one class that begin at the same time are nested in one another, and alive at levels
of their own: a chain. A slowly fading sound is a chain of many. Comparing all of one chain with
all of another would take quadratic time, so where windows hold many pairs, chains are searched by
level: the pairs tried are few more than those that share one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.order import distinct
from sedeval_soft.measures.event.pairs import MOST_PAIRS, Collars, narrowest, pairs_within, search
from sedeval_soft.measures.level_matching import LevelEdges, TooManyPairsError
from sedeval_soft.timeline.lifetimes import EventLifetimes
from sedeval_soft.timeline.ranges import expand

Index = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_FEW = 64
"""Pairs per lifetime up to which all within a window are tried."""


@dataclass(frozen=True, slots=True)
class _Chains:
    """Lifetimes sorted into chains, by level within each.

    order: (n,) positions of lifetimes. first: (n_chains,) where each chain begins in `order`.
    born, dies: (n,) keys of chain and level, ascending. n_levels: how many ranks a chain spans.
    """

    order: Index
    first: Index
    born: Index
    dies: Index
    n_levels: int


def level_edges(
    reference: EventLifetimes,
    system: EventLifetimes,
    reference_group: Index,
    system_group: Index,
    collars: Collars,
) -> LevelEdges:
    """Return all pairs of lifetimes of one group that are candidates at some level.

    reference_group, system_group: (n,) numbers of groups. The levels of an edge are those at which
    both are alive.
    """
    if not len(reference) or not len(system):
        none, level = np.zeros(0, dtype=np.int64), np.zeros(0)
        return LevelEdges(none, none, level, level)
    windows, tests = narrowest(reference, system, reference_group, system_group, collars)
    if windows.total <= _FEW * (len(reference) + len(system)):

        def share(left: Index, right: Index) -> Bools:
            low = np.maximum(reference.born[left], system.born[right])
            shared: Bools = low < np.minimum(reference.dies[left], system.dies[right])
            return shared

        return _edges(reference, system, *pairs_within(windows, tests, share))
    return _by_chains(reference, system, (reference_group, system_group), collars)


def _edges(reference: EventLifetimes, system: EventLifetimes, left: Index, right: Index) -> LevelEdges:
    """Return pairs as edges that exist at the levels at which both are alive."""
    low = np.maximum(reference.born[left], system.born[right])
    high = np.minimum(reference.dies[left], system.dies[right])
    return LevelEdges(left, right, low, high)


def _by_chains(
    reference: EventLifetimes, system: EventLifetimes, groups: tuple[Index, Index], collars: Collars
) -> LevelEdges:
    ends = "onset" if collars.onset is not None else "offset"
    tolerance = collars.onset_tolerance(reference) if ends == "onset" else collars.offset_tolerance(reference)
    rank = _Ranks.of(reference, system)
    chains = _chains(system, groups[1], getattr(system, ends), rank)
    heads = chains.order[chains.first]
    times = getattr(reference, ends), getattr(system, ends)[heads]
    windows = search(*times, groups[0], groups[1][heads], tolerance)
    left, inside = expand(windows.first, windows.last)
    chain = windows.order[inside]
    low, high = rank.reference_born[left], rank.reference_dies[left]
    # Alive at a level in common: it dies above where the other is born, and is born below where that dies.
    begin = np.searchsorted(chains.dies, chain * chains.n_levels + low, side="right")
    end = np.searchsorted(chains.born, chain * chains.n_levels + high, side="left")
    if int(np.maximum(end - begin, 0).sum()) > MOST_PAIRS:
        raise TooManyPairsError
    owner, inside = expand(begin, np.maximum(end, begin))
    left, right = left[owner], chains.order[inside]
    edges = _edges(reference, system, left, right)
    kept = edges.low < edges.high
    for ours, theirs, most in collars.tests(reference, system):
        kept &= np.abs(ours[left] - theirs[right]) <= most[left]
    return edges.take(kept)


@dataclass(frozen=True, slots=True)
class _Ranks:
    """Levels of both sides replaced by their ranks among all."""

    reference_born: Index
    reference_dies: Index
    system_born: Index
    system_dies: Index
    n_levels: int

    @classmethod
    def of(cls, reference: EventLifetimes, system: EventLifetimes) -> _Ranks:
        parts = (reference.born, reference.dies, system.born, system.dies)
        values = distinct(np.concatenate(parts))
        ranks = [np.searchsorted(values, part).astype(np.int64) for part in parts]
        return cls(ranks[0], ranks[1], ranks[2], ranks[3], len(values) + 1)


def _chains(lifetimes: EventLifetimes, group: Index, time: Index, rank: _Ranks) -> _Chains:
    order = np.lexsort((rank.system_born, rank.system_dies, lifetimes.label, time, group))
    sorted_ = [column[order] for column in (group, time, lifetimes.label)]
    new = np.ones(len(order), dtype=bool)
    new[1:] = np.logical_or.reduce([np.diff(column) != 0 for column in sorted_])
    base = (np.cumsum(new) - 1) * rank.n_levels
    return _Chains(
        order,
        np.flatnonzero(new),
        base + rank.system_born[order],
        base + rank.system_dies[order],
        rank.n_levels,
    )
