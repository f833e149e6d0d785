"""Events: matchings, counts of matched events, and deviations of matched events."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np

from sedeval_soft.arrays import Array, Floats, Index, distinct, order_of
from sedeval_soft.fields import Matching
from sedeval_soft.measures.base import Measure, Table, ratio, scores_of
from sedeval_soft.measures.detection import DetectionCounts
from sedeval_soft.measures.level_matching import LevelChanges, integrals, matching_changes, rounded
from sedeval_soft.measures.matching import (
    PairCandidates,
    PairRule,
    first_free_matching,
    level_pairs,
    maximum_matching,
    nearest_matching,
)
from sedeval_soft.tables.ticks import to_seconds
from sedeval_soft.timeline.events import EventLifetimes, Events, Timed

_AT_ONCE = 200_000
"""Lifetimes matched at a time."""


# The hard reading: events of all files in, counts of each file out.


def file_class(events: Timed, n_classes: int) -> Index:
    """Return one number for the file and class of each event, (n,)."""
    return events.file.astype(np.int64) * n_classes + events.label


def sum_groups(group: Index, weight: Floats, shape: tuple[int, int]) -> Floats:
    """Return the sum of weights of each file and class: (n_files, n_classes), given as `shape`."""
    sums: Floats = np.bincount(group, weight, minlength=shape[0] * shape[1]).astype(np.float64)
    return sums.reshape(shape)


def count_per_class(events: Events, n_files: int, n_classes: int) -> Index:
    """Return the number of events of each file and class, (n_files, n_classes)."""
    counts = np.bincount(file_class(events, n_classes), minlength=n_files * n_classes)
    return counts.astype(np.int64).reshape(n_files, n_classes)


def match_events(
    reference: Events, system: Events, n_classes: int, rule: PairRule, matching: Matching = "optimal"
) -> Index:
    """Match events of one file and class; return for each reference event its partner, -1 for none.

    An optimal matching is the largest one, and of several the one of least total distance. Raises
    TooManyPairsError.
    """
    groups = file_class(reference, n_classes), file_class(system, n_classes)
    left, right = PairCandidates.of(reference, system, groups, rule).pairs()
    if matching == "greedy":
        return first_free_matching(left, right, len(reference), len(system))
    return nearest_matching(left, right, reference, system)


def count_events(
    reference: Events,
    system: Events,
    n_files: int,
    n_classes: int,
    rule: PairRule,
    matched: Index | None = None,
) -> DetectionCounts:
    """Count matched events per file and class, and errors per file.

    With M the size of a maximum matching of a file's events regardless of class: S = M - TP, D = N_ref - M, I
    = N_sys - M. Unlike sed_eval's pass over the unmatched events, M does not depend on the order of events.
    matched: the result of `match_events`; None for an optimal matching.
    """
    if matched is None:
        matched = match_events(reference, system, n_classes, rule)
    m = count_regardless(reference, system, n_files, rule, matched)
    tp, n_ref, n_sys = (
        count_per_class(events, n_files, n_classes)
        for events in (reference.take(matched >= 0), reference, system)
    )
    return DetectionCounts(tp, n_ref, n_sys, m - tp.sum(axis=1), n_ref.sum(axis=1) - m, n_sys.sum(axis=1) - m)


def count_regardless(
    reference: Events, system: Events, n_files: int, rule: PairRule, start: Index | None = None
) -> Index:
    """Return the size of a maximum matching regardless of class of each file, (n_files,).

    start: (n_ref,) partners to begin with.
    """
    files = reference.file.astype(np.int64), system.file.astype(np.int64)
    left, right = PairCandidates.of(reference, system, files, rule).pairs()
    partner = maximum_matching(left, right, len(reference), len(system), start)
    return np.bincount(reference.file[partner >= 0], minlength=n_files).astype(np.int64)


# The soft reading: counts of matched events of both alpha-cuts, integrated over all levels.
#
# At each level a the events of the reference where y >= a are matched with the events of the system where
# p >= a, as many as can be. TP is the integral of the number of matches, N_ref and N_sys the integrals of the
# numbers of events, M the integral of a matching regardless of class. No other tool has this reading; with
# labels of 0 and 1 it is the hard reading.


def count_soft_events(
    reference: EventLifetimes, system: EventLifetimes, n_files: int, n_classes: int, rule: PairRule
) -> DetectionCounts:
    """Integrate the matched events and errors of all levels, per file (and class).

    Raises TooManyPairsError if too many events of a file overlap, whatever their class.
    """
    by_class = file_class(reference, n_classes), file_class(system, n_classes)
    by_file = reference.file.astype(np.int64), system.file.astype(np.int64)
    groupings = (by_file, by_class) if n_classes > 1 else (by_file,)
    # A reading of fewer levels would begin here, in place of the TooManyPairsError.
    matched = match_lifetimes(reference, system, groupings, rule)
    # The matching regardless of class as that of the first class of each file.
    paired, tp = matched[0]._replace(group=matched[0].group * n_classes), matched[-1]
    sides = ((group, each.born, each.dies) for group, each in zip(by_class, (reference, system), strict=True))
    counts = integrals((tp.lives(), *sides, paired.lives()), n_files * n_classes)
    hit, ref, own, m = counts.reshape(len(counts), 4, n_files, n_classes).transpose(1, 0, 2, 3)
    hits, all_ref, all_sys, m = (each.sum(axis=-1) for each in (hit, ref, own, m))
    return DetectionCounts(*map(rounded, (hit, ref, own, m - hits, all_ref - m, all_sys - m)))


Groups = tuple[Index, Index]
"""Numbers of the groups of the reference's and the system's events, (n,) each."""


def match_lifetimes(
    reference: EventLifetimes, system: EventLifetimes, groupings: Sequence[Groups], rule: PairRule
) -> list[LevelChanges]:
    """Return, for each grouping, the levels at which the size of the largest matching of each group changes.

    groupings: the others divide the groups of the first one. Raises TooManyPairsError if a group has too many
    pairs.
    """
    orders = [
        order_of(side.onset, group) for side, group in zip((reference, system), groupings[0], strict=True)
    ]
    # Candidate pairs are then close together.
    reference, system = reference.take(orders[0]), system.take(orders[1])
    groupings = [(ours[orders[0]], theirs[orders[1]]) for ours, theirs in groupings]
    ours, theirs = groupings[0]
    # Whole groups, few enough at a time for the memory.
    total = np.cumsum(np.bincount(np.concatenate((ours, theirs))))
    cuts = distinct(np.searchsorted(total, np.arange(0, len(ours) + len(theirs), _AT_ONCE), side="right"))
    ends = zip(np.searchsorted(ours, cuts).tolist(), np.searchsorted(theirs, cuts).tolist(), strict=True)
    parts = [[LevelChanges.of_lives(ours[:0], reference.born[:0], reference.dies[:0])] for _ in groupings]
    for (begin, first), (end, last) in pairwise((*ends, (len(ours), len(theirs)))):
        a, b = slice(begin, end), slice(first, last)
        some = reference.take(a), system.take(b)
        # Groups are counted from the first of them, so that no part takes memory for the groups of all parts.
        base = min(int(group[0]) for group in (ours[a], theirs[b]) if len(group))
        candidates = PairCandidates.of(*some, (ours[a] - base, theirs[b] - base), rule)
        left, right = level_pairs(*some, candidates)
        for part, (mine, others) in zip(parts, groupings, strict=True):
            same = np.flatnonzero(mine[a][left] == others[b][right])
            part.append(matching_changes(*some, (mine[a], others[b]), left[same], right[same]))
    return [LevelChanges.joined(part) for part in parts]


# Deviations of matched events: the time of the system minus the time of the reference, in seconds. Sums and
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


class Deviations(NamedTuple):
    """Sums by `DEVIATIONS`, and how many events are matched: of each class, (..., n_classes), or pooled."""

    sums: Mapping[str, Array]
    n_ref: Array

    def bias(self, end: str) -> Array:
        """Return the mean deviation of onsets or offsets."""
        return ratio(self.sums[end], self.n_ref)

    def spread(self, end: str) -> Array:
        """Return the standard deviation of the deviation, divided by TP, not TP - 1."""
        bias = self.bias(end)
        # Rounding may take a 0 below 0.
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
            f"mean of {end} - reference {end} over the TP pairs: of the largest matchings the one of least "
            "|onset - reference onset| + |offset - reference offset| in all",
            partial(Deviations.bias, end=end), low=None,
        ),
        _deviation(
            f"{end}_spread", f"standard deviation of the deviation of matched {end}s in seconds",
            f"root mean square of the deviation from {end}_bias over TP", partial(Deviations.spread, end=end),
        ),
    )
)  # fmt: skip


# Levels for a soft reading without closed form: the mean of the hard reading over them.
#
# Nothing changes between two levels at which an event begins or ceases to exist. If there are at most `MOST`
# such levels, the mean over all of them, each with its width, is exactly the soft reading. Otherwise `MOST`
# evenly spaced levels represent all of them, and the output reports it.

MOST = 200
"""Number of levels beyond which evenly spaced ones are used."""


@dataclass(frozen=True, slots=True)
class Levels:
    """Levels in (0, 1] at which labels are binarised.

    level: (n,) ascending. width: (n,) the part of (0, 1] that each represents; together they end at the
    highest level of all events. n_distinct: the number of distinct levels.
    """

    level: Floats
    width: Floats
    n_distinct: int

    @classmethod
    def of(cls, sides: Sequence[EventLifetimes]) -> Self:
        """Return the levels at which the events of all sides may differ."""
        ends = [levels for side in sides for levels in (side.born, side.dies)]
        edges = distinct(np.concatenate([np.zeros(1), *ends]))
        n, top = len(edges) - 1, float(edges[-1])
        if n <= MOST:
            return cls(edges[1:], np.diff(edges), n)
        return cls(top * (np.arange(MOST) + 0.5) / MOST, np.full(MOST, top / MOST), n)

    @property
    def sampled(self) -> tuple[int, int] | None:
        """The number of levels, and the number of distinct levels; None if these are the same."""
        return None if self.n_distinct == len(self.level) else (len(self.level), self.n_distinct)


def mean_over_levels(
    count: Callable[..., DetectionCounts], *sides: EventLifetimes
) -> tuple[DetectionCounts, tuple[int, int] | None]:
    """Return the mean of counts over `Levels` of all sides, and their `Levels.sampled`.

    count: counts the events of all sides at one level.
    """
    levels, counts = Levels.of(sides), list[DetectionCounts]()
    # Without events, every count is 0 at any level.
    pairs = [*zip(levels.level.tolist(), levels.width.tolist(), strict=True)] or [(1.0, 0.0)]
    for level, width in pairs:
        cut = (side.take(side.alive(level, inclusive=True)).events() for side in sides)
        counts.append(DetectionCounts(*(width * column for column in count(*cut))))
    return DetectionCounts(*(np.sum(column, axis=0) for column in zip(*counts, strict=True))), levels.sampled
