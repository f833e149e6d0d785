"""Pairs of lifetimes that may pair and share a level: all are listed, and not many more are looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from sedeval_soft.arrays import Bools, Codes, Floats, Index
from sedeval_soft.measures.matching import TooManyPairsError
from sedeval_soft.measures.pairs import Condition, PairCandidates, Windows, in_blocks
from sedeval_soft.memory import check_room
from sedeval_soft.sorting import distinct, heads
from sedeval_soft.timeline.events import EventLifetimes, Timed
from sedeval_soft.timeline.ranges import Pyramid

_FEW = 64
"""Pairs in windows for each lifetime up to which all of them are looked at."""

_PAIR = 72
"""Bytes for each pair while pairs are listed and matched, measured."""

_MEND = "A smaller --onset-collar or --offset-collar (a larger --iou) leaves fewer pairs of events"

# Of the events of one group: pairs listed at the most, chains looked at; and those for each event.
_MOST_PAIRS, _PAIRS_OF_ONE = 20_000_000, 1_000
_MOST_CHAINS, _CHAINS_OF_ONE = 50_000_000, 4_000


def shared_levels(
    reference: EventLifetimes, system: EventLifetimes, left: Codes | Index, right: Codes | Index
) -> tuple[Floats, Floats]:
    """Return the levels low < a <= high at which both events of a pair are alive; none if low >= high."""
    low = np.maximum(reference.born[left], system.born[right])
    return low, np.minimum(reference.dies[left], system.dies[right])


def level_pairs(
    reference: EventLifetimes, system: EventLifetimes, groups: tuple[Index, Index], candidates: PairCandidates
) -> tuple[Codes, Codes]:
    """Return all pairs of lifetimes of one group that may pair and share a level, as positions, (n,) each.

    groups, candidates: numbers of their groups, and where the candidate pairs of these are. Raises
    TooManyPairsError where those of a group are too many, whatever other groups there are, and RoomError
    where all of them do not fit into memory.
    """
    checks: list[Callable[[Index, Index], Bools]] = [
        lambda left, right: reference.born.take(left) < system.dies.take(right),
        lambda left, right: system.born.take(right) < reference.dies.take(left),
        *(condition.holds for condition in candidates.others),
    ]
    if candidates.in_windows <= _FEW * (len(reference) + len(system)):
        looked_at = _in_windows(groups[0], candidates.windows)
    else:
        looked_at = _in_chains(reference, system, groups, candidates)
        checks.append(candidates.first.holds)
    size = np.bincount(groups[0])
    n_pairs, most = np.zeros(len(size), dtype=np.int64), np.maximum(_MOST_PAIRS, _PAIRS_OF_ONE * size)
    none = np.zeros(0, dtype=np.int32)
    pairs, n_checked = [(none, none)], 0.0
    for some in looked_at:
        left, right = some
        for check in checks:
            passed = np.flatnonzero(check(left, right))
            left, right = left.take(passed), right.take(passed)
        n_pairs += np.bincount(groups[0][left], minlength=len(size))
        if np.any(n_pairs > most):
            raise TooManyPairsError
        if n_pairs.sum() > n_checked:
            # To look at what is free takes as long as some thousand pairs do: for a tenth more at once.
            n_checked = 1.1 * n_pairs.sum()
            check_room(_PAIR * n_checked, "events: to match them at all levels", _MEND)
        pairs.append((left.astype(np.int32), right.astype(np.int32)))
    return np.concatenate([left for left, _ in pairs]), np.concatenate([right for _, right in pairs])


def _in_chains(
    reference: EventLifetimes,
    system: EventLifetimes,
    groups: tuple[Index, Index],
    candidates: PairCandidates,
) -> Iterator[tuple[Index, Index]]:
    """Yield all pairs that may pair and share a level, and few more, where windows hold many more.

    Lifetimes of one class that begin at the same time are nested in one another, and alive at levels of
    their own: a chain. A slowly fading sound is a chain of many. Comparing all of one chain with all of
    another would take quadratic time, so chains are searched by level: the pairs tried are few more than
    those that share one. By overlap, long lifetimes pair with many that begin elsewhere: there those of one
    class that have their highest level at one place are a chain.
    """
    columns = reference.born, reference.dies, system.born, system.dies
    levels = distinct(np.concatenate(columns))
    our_birth, our_death, birth, death = (np.searchsorted(levels, column) for column in columns)
    peaks = system.nested and candidates.by_overlap
    times = _peaks(system, groups[1]) if peaks else candidates.first.system
    order = np.lexsort((birth, death, system.label, times, groups[1]))
    # Where a lifetime is left out at some levels, births need not ascend with deaths: another chain begins.
    falls = np.cumsum(np.diff(birth[order], prepend=0) < 0, dtype=np.int64)
    first = heads(groups[1][order], times[order], system.label[order], falls)
    chain = np.searchsorted(first, np.arange(len(order)), side="right") - 1
    # Keys of chain and level, ascending.
    scale = len(levels) + 1
    birth, death = chain * scale + birth[order], chain * scale + death[order]
    head = order[first]
    heads_of = groups[0], groups[1][head]
    if peaks:
        looked_at = _overlapping_chains(reference, system.take(head), heads_of)
    else:
        windows = candidates.first._replace(system=times[head]).windows(*heads_of)
        looked_at = _in_windows(groups[0], windows)
    for left, at in looked_at:
        base = at * scale
        # They share a level: one dies above where the other is born, and is born below where that dies.
        begin = np.searchsorted(death, base + our_birth[left], side="right")
        end = np.maximum(np.searchsorted(birth, base + our_death[left], side="left"), begin)
        for owner, inside in in_blocks(begin, end):
            yield left[owner], order[inside]


def _in_windows(group: Index, windows: Windows) -> Iterator[tuple[Index, Index]]:
    """Yield what is in the windows of each event, some at a time; group: of the events.

    Raises TooManyPairsError where that is too much to be looked at for the events of one group.
    """
    order, first, last = windows
    if np.any(np.bincount(group, last - first) > _MOST_CHAINS + _CHAINS_OF_ONE * np.bincount(group)):
        raise TooManyPairsError
    for event, inside in in_blocks(first, last):
        yield event, order.take(inside)


def _peaks(system: EventLifetimes, group: Index) -> Index:
    """Return a number for each of nested lifetimes that it shares with those that hold the same peak, (n,).

    Its peak is the lifetime in it, or itself, that dies last; of several the first.
    """
    order = np.lexsort((system.dies, -system.offset, system.onset, system.label, group))
    family = np.zeros(len(order), dtype=np.int64)
    family[heads(group[order], system.label[order])] = 1
    times = distinct(np.concatenate((system.onset, system.offset)))
    begin, end = (np.searchsorted(times, each[order]) for each in (system.onset, system.offset))
    base = np.cumsum(family) * (len(times) + 1)
    # What a lifetime holds follows it: all that begin before it ends.
    last = np.searchsorted(base + begin, base + end)
    last_to_die = np.argsort(-system.dies[order], kind="stable")
    rank = np.empty(len(order))
    rank[last_to_die] = np.arange(len(order))
    highest = Pyramid(rank).minimum(np.arange(len(order)), last)
    peak = np.empty(len(order), dtype=np.int64)
    peak[order] = last_to_die[highest.astype(np.int64)]
    return peak


def _overlapping_chains(
    reference: Timed, widest: Timed, groups: tuple[Index, Index]
) -> Iterator[tuple[Index, Index]]:
    """Yield all pairs of a reference event and a chain of its group that overlap, some at a time.

    widest: the longest lifetime of each chain, which holds the others.
    """
    lengths = [side.offset - side.onset for side in (reference, widest)]
    # A chain begins in the event, or the event begins in the chain.
    before = [np.zeros_like(length) for length in lengths]
    within = Condition(reference.onset, widest.onset, before[0], lengths[0] - 1).windows(*groups)
    around = Condition(widest.onset, reference.onset, before[1], lengths[1] - 1).windows(*groups[::-1])
    yield from _in_windows(groups[0], within)
    for chain, event in _in_windows(groups[1], around):
        later = reference.onset[event] != widest.onset[chain]
        yield event[later], chain[later]
