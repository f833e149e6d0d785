"""Events: which are matched, what is counted of them, and how far matched events are off."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from sedeval_soft.arrays import Array, Floats, Index
from sedeval_soft.fields import Matching
from sedeval_soft.measures.base import Measure, Table, ratio, scores_of
from sedeval_soft.measures.crowds import Crowd, beside, crowds_of
from sedeval_soft.measures.detection import DetectionCounts
from sedeval_soft.measures.matching import (
    LevelEdges,
    MatchedLevels,
    TooManyPairsError,
    first_free_matching,
    match_levels,
    maximum_flow,
    maximum_matching,
)
from sedeval_soft.measures.pairs import MOST_PAIRS, Candidates, Condition, PairRule
from sedeval_soft.measures.segment import sum_classes
from sedeval_soft.sorting import distinct, heads
from sedeval_soft.tables.ticks import to_seconds
from sedeval_soft.timeline.events import EventLifetimes, Events, Timed
from sedeval_soft.timeline.ranges import Pyramid, expand

_FEW_PAIRS = 300_000  # pairs of events that are matched one by one
_FEW = 64  # pairs per lifetime up to which all within a window are tried
# Chains looked at for the events of one group, and for each of them: noise in steps of 10 ms has 41 in 0.2 s.
_MOST_CHAINS, _CHAINS_PER_LIFETIME = 500_000, 256
_LIFETIMES_AT_ONCE = 200_000  # lifetimes matched at a time
# Pairs times levels at which they compete, of one file, that are matched whatever their class.
_MOST_COPIES = 1_000_000


# The hard reading: events of all files in, counts of each file out.


def file_class(events: Timed, n_classes: int) -> Index:
    """Return one number for the file and class of each event, (n,)."""
    return events.file.astype(np.int64) * n_classes + events.label


def sum_groups(group: Index, weight: Floats, shape: tuple[int, int]) -> Floats:
    """Return the sum of weights of each file and class: (n_files, n_classes), as `shape` says."""
    sums: Floats = np.bincount(group, weight, minlength=shape[0] * shape[1]).astype(np.float64)
    return sums.reshape(shape)


def count_per_class(events: Events, n_files: int, n_classes: int) -> Index:
    """Return the number of events of each file and class, (n_files, n_classes)."""
    counts = np.bincount(file_class(events, n_classes), minlength=n_files * n_classes)
    return counts.astype(np.int64).reshape(n_files, n_classes)


def match_events(
    reference: Events, system: Events, n_classes: int, rule: PairRule, matching: Matching = "optimal"
) -> Index:
    """Match events of one file and class; return for each reference event its partner, -1 for none."""
    groups = file_class(reference, n_classes), file_class(system, n_classes)
    return match_groups(reference, system, *groups, rule, matching)


def match_groups(
    reference: Timed,
    system: Timed,
    reference_group: Index,
    system_group: Index,
    rule: PairRule,
    matching: Matching = "optimal",
) -> Index:
    """Match events of one group, numbered as for `Candidates`; return the partners, -1 for none."""
    groups = reference_group, system_group
    candidates = Candidates.of(reference, system, groups, rule)
    crowds = crowds_of(candidates)
    if not crowds:
        left, right = candidates.pairs()
        match = first_free_matching if matching == "greedy" else maximum_matching
        return match(left, right, len(reference), len(system))
    ours, theirs = beside(crowds, reference, system)
    others = match_groups(
        reference.take(ours), system.take(theirs), groups[0][ours], groups[1][theirs], rule, matching
    )
    partner = np.full(len(reference), -1, dtype=np.int64)
    partner[ours] = np.append(theirs, -1)[others]
    for crowd in crowds:
        partner[crowd.ours] = crowd.first_free() if matching == "greedy" else crowd.maximum()
    return partner


def count_events(
    reference: Events,
    system: Events,
    n_files: int,
    n_classes: int,
    rule: PairRule,
    matched: Index | None = None,
) -> DetectionCounts:
    """Count matched events per file and class, and errors per file.

    With M the size of a maximum matching of a file's events regardless of class: S = M - TP,
    D = N_ref - M, I = N_sys - M. It does not depend on the order of events, as sed_eval's pass over
    what its matching left does. matched: what `match_events` returns; None for an optimal matching.
    """
    if matched is None:
        matched = match_events(reference, system, n_classes, rule)
    m = count_regardless(reference, system, matched, n_files, rule)
    tp, n_ref, n_sys = (
        count_per_class(events, n_files, n_classes)
        for events in (reference.take(matched >= 0), reference, system)
    )
    return DetectionCounts(tp, n_ref, n_sys, m - tp.sum(axis=1), n_ref.sum(axis=1) - m, n_sys.sum(axis=1) - m)


def count_regardless(
    reference: Events, system: Events, matched: Index, n_files: int, rule: PairRule
) -> Index:
    """Return the size of a maximum matching regardless of class of each file, (n_files,).

    matched: a matching to begin with, (n_ref,) partners. Events of one file, onset and offset are alike:
    where many are, as in frames of many classes, how many of each kind pair is a flow in a small network.
    """
    kinds, counts, members = [], [], []
    for events in (reference, system):
        order = np.lexsort((events.offset, events.onset, events.file))
        first = heads(events.file[order], events.onset[order], events.offset[order])
        last = np.append(first[1:], len(order))[: len(first)]
        kinds.append(events.take(order[first]))
        counts.append(last - first)
        members.append((order, first, last))
    files = kinds[0].file.astype(np.int64), kinds[1].file.astype(np.int64)
    candidates = Candidates.of(kinds[0], kinds[1], files, rule)
    crowds = crowds_of(candidates)
    if crowds:
        (condition, *others), more = rule.conditions(reference, system)

        def those_of(side: int, kind: Index) -> Index:
            order, first, last = members[side]
            return order[expand(first[kind], last[kind])[1]]

        return _count_with_crowds(
            [Crowd.of(those_of(0, each.ours), those_of(1, each.theirs), condition, [*others, *more])
             for each in crowds],
            reference, system, matched, n_files, rule,
        )  # fmt: skip
    left, right = candidates.pairs()
    if int((counts[0][left] * counts[1][right]).sum()) > _FEW_PAIRS:
        flow = maximum_flow(left, right, *counts)
        return np.bincount(kinds[0].file, flow, minlength=n_files).astype(np.int64)
    (ours, first, last), (theirs, begin, end) = members
    pair, a = expand(first[left], last[left])
    again, b = expand(begin[right][pair], end[right][pair])
    pairs = maximum_matching(ours[a[again]], theirs[b], len(reference), len(system), start=matched)
    return np.bincount(reference.file[pairs >= 0], minlength=n_files).astype(np.int64)


def _count_with_crowds(
    crowds: Sequence[Crowd],
    reference: Events,
    system: Events,
    matched: Index,
    n_files: int,
    rule: PairRule,
) -> Index:
    """Return what `count_regardless` does, of crowds and of all others."""
    ours, theirs = beside(crowds, reference, system)
    place = np.full(len(system) + 1, -1, dtype=np.int64)
    place[theirs] = np.arange(len(theirs))
    others = reference.take(ours), system.take(theirs)
    total = count_regardless(*others, place[matched[ours]], n_files, rule)
    for crowd in crowds:
        paired = crowd.maximum(matched[crowd.ours]) >= 0
        total += np.bincount(reference.file[crowd.ours[paired]], minlength=n_files)
    return total


# The soft reading: counts of matched events of both alpha-cuts, integrated over all levels.
#
# At each level a the events of the reference where y >= a are matched with those of the system where
# p >= a, as many as can be. TP is the integral of how many, N_ref and N_sys that of how many there are,
# M that of a matching regardless of class. No other tool has it; with labels of 0 and 1 it is the hard
# reading. All is exact: lifetimes make each count a sum of lengths of level intervals.


def count_soft_events(
    reference: EventLifetimes, system: EventLifetimes, n_files: int, n_classes: int, rule: PairRule
) -> DetectionCounts:
    """Integrate the matched events and errors of all levels, per file (and class).

    The errors of a file are NaN where too many of its events overlap, whatever their class, to be matched at
    every level. Raises TooManyPairsError where that is so for events of one class.
    """
    shape = n_files, n_classes
    reference, system = (side.take(np.argsort(side.file, kind="stable")) for side in (reference, system))
    n_ref, n_sys = (
        sum_groups(file_class(side, n_classes), side.dies - side.born, shape) for side in (reference, system)
    )
    tp, m = np.zeros(shape), np.zeros(shape)
    # Whole files, so many at a time that they do not fill the memory.
    starts = [np.searchsorted(side.file, np.arange(n_files + 1)) for side in (reference, system)]
    size, begin = starts[0] + starts[1], 0
    while begin < n_files:
        end = max(begin + 1, int(np.searchsorted(size, size[begin] + _LIFETIMES_AT_ONCE, side="right")) - 1)
        ours, theirs = (
            side.take(slice(int(start[begin]), int(start[end])))
            for side, start in zip((reference, system), starts, strict=True)
        )
        group = file_class(ours, n_classes)
        matched = match_lifetimes(ours, theirs, (group, file_class(theirs, n_classes)), rule)
        tp += sum_groups(group[matched.left], matched.high - matched.low, shape)
        m += _matched_regardless(ours, theirs, shape, rule)
        begin = end
    # Sums over the same levels in another order: the law holds but for rounding.
    np.minimum(tp, np.minimum(n_ref, n_sys), out=tp)
    hit, all_ref, all_sys, both = (sum_classes(counts.T) for counts in (tp, n_ref, n_sys, m))
    both = np.clip(both, hit, np.minimum(all_ref, all_sys))
    return DetectionCounts(tp, n_ref, n_sys, both - hit, all_ref - both, all_sys - both)


def _matched_regardless(
    reference: EventLifetimes, system: EventLifetimes, shape: tuple[int, int], rule: PairRule
) -> Floats:
    """Return how much of each file and class is paired by a maximum matching regardless of class.

    Of a file with too many pairs NaN.
    """
    files = reference.file.astype(np.int64), system.file.astype(np.int64)
    try:
        matched = match_lifetimes(reference, system, files, rule, _MOST_COPIES)
    except TooManyPairsError:
        total, present = np.zeros(shape), distinct(files[0])
        if len(present) == 1:
            total[present] = np.nan
            return total
        # Whether a file is too much must not depend on which others are at hand.
        for file in present:
            sides = reference.take(files[0] == file), system.take(files[1] == file)
            total += _matched_regardless(*sides, shape, rule)
        return total
    return sum_groups(file_class(reference, shape[1])[matched.left], matched.high - matched.low, shape)


def _all_alike(levels: Floats) -> bool:
    return bool(np.all(levels == levels[0]))


def match_lifetimes(
    reference: EventLifetimes,
    system: EventLifetimes,
    groups: tuple[Index, Index],
    rule: PairRule,
    most: float = math.inf,
) -> MatchedLevels:
    """Return a maximum matching of the events of one group at every level; groups: of either side, (n,).

    most: as for `match_levels`, which raises TooManyPairsError beyond it.
    """
    candidates = Candidates.of(reference, system, groups, rule)
    # Of nested lifetimes that overlap few share a level.
    crowds = [
        crowd
        for crowd in ([] if system.nested and candidates.by_overlap else crowds_of(candidates))
        if _all_alike(reference.born[crowd.ours]) and _all_alike(system.born[crowd.theirs])
    ]
    if not crowds:
        return match_levels(level_edges(reference, system, groups, candidates), most)
    ours, theirs = beside(crowds, reference, system)
    rest = match_lifetimes(
        reference.take(ours), system.take(theirs), (groups[0][ours], groups[1][theirs]), rule, most
    )
    parts = [(ours[rest.left], rest.low, rest.high)]
    for crowd in crowds:
        born = max(reference.born[crowd.ours[0]], system.born[crowd.theirs[0]])
        left, high = crowd.at_levels(reference.dies[crowd.ours], system.dies[crowd.theirs])
        lasting = high > born
        parts.append((left[lasting], np.full(int(lasting.sum()), born), high[lasting]))
    left, low, high = (np.concatenate(column) for column in zip(*parts, strict=True))
    # In the order of events: what is matched for all its life is summed as all lives are.
    order = np.lexsort((low, left))
    return MatchedLevels(left[order], low[order], high[order])


def level_edges(
    reference: EventLifetimes, system: EventLifetimes, groups: tuple[Index, Index], candidates: Candidates
) -> LevelEdges:
    """Return all pairs of lifetimes of one group that are candidates at some level.

    groups, candidates: numbers of their groups, and where the candidate pairs of these are. The levels of an
    edge are those at which both are alive. Raises TooManyPairsError.
    """

    def lifetimes(left: Index, right: Index) -> tuple[Floats, Floats]:
        low = np.maximum(reference.born[left], system.born[right])
        return low, np.minimum(reference.dies[left], system.dies[right])

    if candidates.in_windows <= _FEW * (len(reference) + len(system)):
        left, right = candidates.where(lambda *pair: np.less(*lifetimes(*pair)))
    else:
        left, right = _chained_pairs(reference, system, groups, candidates)
    if candidates.by_overlap:
        # In one order however they were found: which of several maximum matchings is taken depends on it.
        order = np.lexsort((right, left))
        left, right = left[order], right[order]
    return LevelEdges(left, right, *lifetimes(left, right))


def _chained_pairs(
    reference: EventLifetimes,
    system: EventLifetimes,
    groups: tuple[Index, Index],
    candidates: Candidates,
) -> tuple[Index, Index]:
    """Return the candidate pairs that share a level, where windows hold many that share none.

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
    most = _MOST_CHAINS + _CHAINS_PER_LIFETIME * np.bincount(groups[0])
    heads_of = groups[0], groups[1][head]
    if peaks:
        left, at = _overlapping_chains(reference, system.take(head), heads_of, most)
    else:
        line, begin, end = candidates.first._replace(system=times[head]).windows(*heads_of)
        # Of each group by itself: what is too much must not depend on which others are at hand.
        if np.any(np.bincount(groups[0], end - begin) > most):
            raise TooManyPairsError
        left, inside = expand(begin, end)
        at = line[inside]
    base = at * scale
    # Alive at a level in common: it dies above where the other is born, and is born below where that dies.
    begin = np.searchsorted(death, base + our_birth[left], side="right")
    end = np.maximum(np.searchsorted(birth, base + our_death[left], side="left"), begin)
    if int((end - begin).sum()) > MOST_PAIRS:
        raise TooManyPairsError
    owner, inside = expand(begin, end)
    left, right = left[owner], order[inside]
    passed = np.maximum(columns[0][left], columns[2][right]) < np.minimum(columns[1][left], columns[3][right])
    for condition in (candidates.first, *candidates.others):
        passed &= condition.holds(left, right)
    return left[passed], right[passed]


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
    reference: Timed, widest: Timed, groups: tuple[Index, Index], most: Index
) -> tuple[Index, Index]:
    """Return all pairs of a reference event and a chain of its group that overlap, as positions.

    widest: the longest lifetime of each chain, which holds the others. most: of each group, beyond which
    TooManyPairsError is raised.
    """
    lengths = [side.offset - side.onset for side in (reference, widest)]
    # A chain begins in the event, or the event begins in the chain.
    before = [np.zeros_like(length) for length in lengths]
    within = Condition(reference.onset, widest.onset, before[0], lengths[0] - 1).windows(*groups)
    around = Condition(widest.onset, reference.onset, before[1], lengths[1] - 1).windows(*groups[::-1])
    looked_at = np.zeros(len(most))
    for group, (_, first, last) in zip(groups, (within, around), strict=True):
        some = group < len(most)
        looked_at += np.bincount(group[some], (last - first)[some], minlength=len(most))
    if np.any(looked_at > most):
        raise TooManyPairsError
    (line, first, last), (ours, begin, end) = within, around
    event, inside = expand(first, last)
    chain, place = expand(begin, end)
    held = ours[place]
    twice = reference.onset[held] == widest.onset[chain]
    return np.concatenate((event, held[~twice])), np.concatenate((line[inside], chain[~twice]))


# How far matched events are off: the time of the system minus that of the reference, in seconds. Sums and
# sums of squares are kept per file and class, so that files can be added.

ENDS = ("onset", "offset")

DEVIATIONS = ("onset", "onset_squares", "offset", "offset_squares")
"""Sums over matched events: of deviations in seconds, and of their squares."""


def count_deviations(
    reference: Events, system: Events, matched: Index, n_files: int, n_classes: int
) -> dict[str, Floats]:
    """Sum the deviations of matched events per file and class, (n_files, n_classes), by `DEVIATIONS`.

    matched: (n_ref,) the partner of each reference event, -1 for none.
    """
    hit = np.flatnonzero(matched >= 0)
    group = file_class(reference, n_classes)[hit]
    sums = []
    for end in ENDS:
        off = to_seconds(getattr(system, end)[matched[hit]] - getattr(reference, end)[hit])
        sums += [sum_groups(group, values, (n_files, n_classes)) for values in (off, off * off)]
    return dict(zip(DEVIATIONS, sums, strict=True))


@dataclass(frozen=True, slots=True)
class Deviations:
    """Sums by `DEVIATIONS`, and how many events are matched: of each class, (..., n_classes), or pooled."""

    sums: Mapping[str, Array]
    n_ref: Array

    def bias(self, end: str) -> Array:
        """Return the mean deviation of onsets or offsets."""
        return ratio(self.sums[end], self.n_ref)

    def spread(self, end: str) -> Array:
        """Return the standard deviation of the deviation, divided by TP, not TP - 1."""
        bias = self.bias(end)
        # Rounding may take what is 0 below it.
        spread: Array = np.sqrt(np.maximum(ratio(self.sums[f"{end}_squares"], self.n_ref) - bias * bias, 0.0))
        return spread


def deviation_scores(sums: Mapping[str, Array], matched: Array) -> Table:
    """Return bias and spread of onsets and offsets; sums, matched: totals, (..., n_classes)."""
    pooled = {name: column.sum(axis=-1) for name, column in sums.items()}
    return scores_of(BOUNDARIES, Deviations(sums, matched), Deviations(pooled, matched.sum(axis=-1)))


_deviation = partial(
    Measure, high=None, direction="none", undefined="no event is matched", averages=("micro",),
    source="Mesaros, Heittola & Virtanen 2016", table="deviations",
)  # fmt: skip

BOUNDARIES = tuple(
    measure
    for end in ENDS
    for measure in (
        _deviation(
            f"{end}_bias", f"mean deviation of matched {end}s in seconds; above 0 the system is late",
            f"mean of {end} - reference {end} over TP", partial(Deviations.bias, end=end), low=None,
        ),
        _deviation(
            f"{end}_spread", f"standard deviation of the deviation of matched {end}s in seconds",
            f"root mean square of the deviation from {end}_bias over TP", partial(Deviations.spread, end=end),
        ),
    )
)  # fmt: skip
