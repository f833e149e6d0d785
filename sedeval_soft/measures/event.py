"""Events: pairs within collars, what is counted of them, and their measures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from sedeval_soft.fields import Matching
from sedeval_soft.measures import detection
from sedeval_soft.measures.averages import ratio
from sedeval_soft.measures.base import Family, Measure, Table, scores_of
from sedeval_soft.measures.detection import DetectionCounts
from sedeval_soft.measures.laws import ROUNDING, Columns, Law
from sedeval_soft.measures.level_matching import LevelEdges, TooManyPairsError, match_levels
from sedeval_soft.measures.matching import first_free_matching, maximum_flow, maximum_matching
from sedeval_soft.measures.segment import sum_classes
from sedeval_soft.settings import Settings
from sedeval_soft.sorting import distinct
from sedeval_soft.tables.event_table import LONGEST
from sedeval_soft.tables.ticks import Ticks, tick, to_seconds
from sedeval_soft.timeline.events import Events
from sedeval_soft.timeline.lifetimes import EventLifetimes
from sedeval_soft.timeline.ranges import expand

# Candidate pairs: which reference and system events are within each other's collars.
#
# A pair is a candidate if |onset - onset'| <= onset collar and |offset - offset'| <= the larger of
# the offset collar and the rate times the reference event's length (Mesaros, Heittola & Virtanen
# 2016). Times are whole microseconds, so an onset at 0.9 s is within 0.2 s of one at 1.1 s.
#
# Events are laid out on one line, group after group, so that one sort and two searches find the
# candidates of all groups. Of onsets and offsets the one that leaves fewer pairs is searched.


Index = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

Test = tuple[Ticks, Ticks, Ticks]
"""Reference times, system times, and the tolerance of each reference event."""

_AT_ONCE = 4_000_000
"""Pairs looked at at a time."""

_MOST_LOOKED_AT = 2_000_000_000
"""Pairs within a tolerance of onsets or offsets beyond which nothing is begun: it would take minutes."""

MOST_PAIRS = 50_000_000
"""Candidate pairs held at the most: some gigabytes."""


class Timed(Protocol):
    """Anything with onsets and offsets in ticks: events, or lifetimes of events."""

    @property
    def onset(self) -> Ticks:
        """Return the onsets, (n,) ticks."""

    @property
    def offset(self) -> Ticks:
        """Return the offsets, (n,) ticks."""

    def __len__(self) -> int:
        """Return how many there are."""


@dataclass(frozen=True, slots=True)
class Collars:
    """Tolerances in ticks; None where onsets or offsets are not looked at.

    onset: of onsets. offset, rate: of offsets, in ticks and as a share of the reference's length.
    slack: ticks added to every tolerance, for candidates that are judged again in floats.
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

    def onset_tolerance(self, reference: Timed) -> Ticks:
        """Return how far each reference event's onset may be missed, (n,) ticks."""
        return np.full(len(reference), (self.onset or 0) + self.slack, dtype=np.int64)

    def offset_tolerance(self, reference: Timed) -> Ticks:
        """Return how far each reference event's offset may be missed, (n,) ticks."""
        share = np.rint(self.rate * (reference.offset - reference.onset)).astype(np.int64)
        tolerance: Ticks = np.maximum(share, self.offset or 0) + self.slack
        return tolerance

    def tests(self, reference: Timed, system: Timed) -> list[Test]:
        """Return what is compared: reference times, system times and the tolerance of each reference."""
        found = []
        if self.onset is not None:
            found.append((reference.onset, system.onset, self.onset_tolerance(reference)))
        if self.offset is not None:
            found.append((reference.offset, system.offset, self.offset_tolerance(reference)))
        return found


@dataclass(frozen=True, slots=True)
class Windows:
    """For each reference event the range of system events, in sorted order, within a tolerance."""

    order: Index
    first: Index
    last: Index

    @property
    def total(self) -> int:
        """Return the number of pairs within the windows."""
        return int((self.last - self.first).sum())


def candidate_pairs(
    reference: Timed, system: Timed, reference_group: Index, system_group: Index, collars: Collars
) -> tuple[Index, Index]:
    """Return all candidate pairs of events of one group, as positions in either list.

    reference_group, system_group: (n,) numbers of groups, not negative; only events of one group
    pair. The pairs come sorted by reference event, then by system event.
    """
    if not len(reference) or not len(system):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    windows, tests = narrowest(reference, system, reference_group, system_group, collars)
    left, right = pairs_within(windows, tests)
    order = np.argsort(left * len(system) + right)
    return left[order], right[order]


def narrowest(
    reference: Timed, system: Timed, reference_group: Index, system_group: Index, collars: Collars
) -> tuple[Windows, list[Test]]:
    """Search by onsets or by offsets, whichever leaves fewer pairs; also return what is left to test."""
    tests = collars.tests(reference, system)
    windows = [search(ours, theirs, reference_group, system_group, most) for ours, theirs, most in tests]
    chosen = min(range(len(windows)), key=lambda i: windows[i].total)
    return windows[chosen], [test for i, test in enumerate(tests) if i != chosen]


def pairs_within(
    windows: Windows, tests: Sequence[Test], also: Callable[[Index, Index], Bools] | None = None
) -> tuple[Index, Index]:
    """Return the pairs within windows that pass all tests, and `also` if it is given.

    Raises TooManyPairsError.
    """
    found = [(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))]
    if windows.total > _MOST_LOOKED_AT:
        raise TooManyPairsError
    held = 0
    for begin, end in _batches(windows.last - windows.first):
        left, inside = expand(windows.first[begin:end], windows.last[begin:end])
        left += begin
        right = windows.order[inside]
        if also is not None:
            kept = also(left, right)
            left, right = left[kept], right[kept]
        for ours, theirs, tolerance in tests:
            kept = np.abs(ours[left] - theirs[right]) <= tolerance[left]
            left, right = left[kept], right[kept]
        found.append((left, right))
        held += len(left)
        if held > MOST_PAIRS:
            raise TooManyPairsError
    return np.concatenate([pair[0] for pair in found]), np.concatenate([pair[1] for pair in found])


def _batches(count: Index) -> list[tuple[int, int]]:
    """Split events into runs of not many more than `_AT_ONCE` pairs."""
    total = np.cumsum(count)
    cuts = np.searchsorted(total, np.arange(_AT_ONCE, int(total[-1]), _AT_ONCE), side="left") + 1
    return list(pairwise(dict.fromkeys([0, *cuts.tolist(), len(count)])))


def search(
    reference: Ticks, system: Ticks, reference_group: Index, system_group: Index, tolerance: Ticks
) -> Windows:
    """Find for each reference time the system times of its group within a tolerance."""
    span = int(max(reference.max(), system.max())) + 1
    tolerance = np.minimum(tolerance, span)
    n_groups = int(max(reference_group.max(), system_group.max())) + 1
    last_used = np.zeros(n_groups, dtype=np.int64)
    np.maximum.at(last_used, reference_group, reference + tolerance)
    np.maximum.at(last_used, system_group, system)
    # Each group gets as much of the line as it needs, and a gap before it as wide as any tolerance.
    gap = int(tolerance.max()) + 1
    base = np.concatenate(([0], np.cumsum(last_used[:-1] + gap)))
    line = base[system_group] + system
    order = np.argsort(line, kind="stable")
    line = line[order]
    centre = base[reference_group] + reference
    first = np.searchsorted(line, centre - tolerance, side="left")
    last = np.searchsorted(line, centre + tolerance, side="right")
    return Windows(order, first, last)


# Event-based statistics: events of all files in, counts of each file out.


Floats = npt.NDArray[np.float64]

_FEW_PAIRS = 300_000
"""Pairs of events that are matched one by one."""


def match_events(
    reference: Events, system: Events, n_classes: int, collars: Collars, matching: Matching = "optimal"
) -> Index:
    """Match events of one file and class; return for each reference event its partner, -1 for none."""
    groups = (file_class(reference, n_classes), file_class(system, n_classes))
    left, right = candidate_pairs(reference, system, *groups, collars)
    match = first_free_matching if matching == "greedy" else maximum_matching
    return match(left, right, len(reference), len(system))


def file_class(events: Events | EventLifetimes, n_classes: int) -> Index:
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


def count_events(
    reference: Events,
    system: Events,
    n_files: int,
    n_classes: int,
    collars: Collars,
    matching: Matching = "optimal",
) -> DetectionCounts:
    """Count matched events per file and class, and errors per file.

    With M the size of a maximum matching of a file's events regardless of class: S = M - TP,
    D = N_ref - M, I = N_sys - M. It does not depend on the order of events, as sed_eval's pass over
    what its matching left does.
    """
    matched = match_events(reference, system, n_classes, collars, matching)
    return count_matched(reference, system, matched, n_files, n_classes, collars)


def count_matched(
    reference: Events, system: Events, matched: Index, n_files: int, n_classes: int, collars: Collars
) -> DetectionCounts:
    """Count as `count_events` does where events of one class are matched already: (n_ref,) partners."""
    hits = reference.take(matched >= 0)
    m = count_regardless(reference, system, matched, n_files, collars)
    tp = count_per_class(hits, n_files, n_classes)
    n_ref = count_per_class(reference, n_files, n_classes)
    n_sys = count_per_class(system, n_files, n_classes)
    return DetectionCounts(tp, n_ref, n_sys, m - tp.sum(axis=1), n_ref.sum(axis=1) - m, n_sys.sum(axis=1) - m)


def count_regardless(
    reference: Events, system: Events, matched: Index, n_files: int, collars: Collars
) -> Index:
    """Return the size of a maximum matching regardless of class of each file, (n_files,).

    matched: a matching to begin with, (n_ref,) partners. Events of one file, onset and offset are alike:
    where many are, as in frames of many classes, how many of each kind pair is a flow in a small network.
    """
    ours, theirs = Kinds.of(reference), Kinds.of(system)
    files = ours.events.file.astype(np.int64), theirs.events.file.astype(np.int64)
    left, right = candidate_pairs(ours.events, theirs.events, files[0], files[1], collars)
    if int((ours.count[left] * theirs.count[right]).sum()) <= _FEW_PAIRS:
        left, right = _pairs_of_kinds(left, right, ours, theirs)
        pairs = maximum_matching(left, right, len(reference), len(system), start=matched)
        return np.bincount(reference.file[pairs >= 0], minlength=n_files).astype(np.int64)
    flow = maximum_flow(left, right, ours.count, theirs.count)
    return np.bincount(ours.events.file, flow, minlength=n_files).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Kinds:
    """Events of one file, onset and offset as one kind, whatever their class.

    events: one of each kind. count: (n_kinds,) how many there are. order, first: the events of each kind lie
    in `order` from `first` on.
    """

    events: Events
    count: Index
    order: Index
    first: Index

    @classmethod
    def of(cls, events: Events) -> Kinds:
        """Find the kinds of events."""
        order = np.lexsort((events.offset, events.onset, events.file))
        columns = [column[order] for column in (events.file, events.onset, events.offset)]
        new = np.ones(len(order), dtype=bool)
        new[1:] = np.logical_or.reduce([np.diff(column) != 0 for column in columns])
        first = np.flatnonzero(new)
        return cls(events.take(order[first]), np.diff(np.append(first, len(order))), order, first)


def _pairs_of_kinds(left: Index, right: Index, ours: Kinds, theirs: Kinds) -> tuple[Index, Index]:
    """Return the pairs of events that pairs of their kinds stand for."""
    pair, a = expand(ours.first[left], ours.first[left] + ours.count[left])
    again, b = expand(theirs.first[right][pair], (theirs.first[right] + theirs.count[right])[pair])
    return ours.order[a[again]], theirs.order[b]


# Candidate pairs of lifetimes: within each other's collars, and alive at a level in common.
#
# Lifetimes of one class that begin at the same time are nested in one another, and alive at levels
# of their own: a chain. A slowly fading sound is a chain of many. Comparing all of one chain with
# all of another would take quadratic time, so where windows hold many pairs, chains are searched by
# level: the pairs tried are few more than those that share one.


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


# The soft reading of events: collar-based counts of both alpha-cuts, integrated over all levels.
#
# At each level a the events of the reference where y >= a are matched with those of the system where
# p >= a, as many as can be. TP is the integral of how many, N_ref and N_sys that of how many there are,
# M that of a matching regardless of class. No other tool has it; with labels of 0 and 1 it is the hard
# reading. All is exact: lifetimes make each count a sum of lengths of level intervals.


_LIFETIMES_AT_ONCE = 200_000
"""Lifetimes matched at a time."""

_MOST_COPIES = 1_000_000
"""Pairs times levels at which they compete, of one file, that are matched whatever their class."""


def count_soft_events(
    reference: EventLifetimes, system: EventLifetimes, n_files: int, n_classes: int, collars: Collars
) -> DetectionCounts:
    """Integrate the matched events and errors of all levels, per file (and class).

    The errors of a file are NaN where too many of its events
    overlap, whatever their class, to be matched at every level. Raises TooManyPairsError where that is so
    for events of one class.
    """
    reference, system = (side.take(np.argsort(side.file, kind="stable")) for side in (reference, system))
    n_ref, n_sys = (_lived(side, n_files, n_classes) for side in (reference, system))
    tp, m = np.zeros((n_files, n_classes)), np.zeros((n_files, n_classes))
    for ours, theirs in _whole_files(reference, system, n_files):
        groups = file_class(ours, n_classes), file_class(theirs, n_classes)
        matched = match_levels(level_edges(ours, theirs, *groups, collars))
        tp += sum_groups(groups[0][matched.left], matched.high - matched.low, (n_files, n_classes))
        m += _matched_regardless(ours, theirs, groups[0], (n_files, n_classes), collars)
    # Sums over the same levels in another order: the law holds but for rounding.
    np.minimum(tp, np.minimum(n_ref, n_sys), out=tp)
    hit, all_ref, all_sys, both = (sum_classes(counts) for counts in (tp, n_ref, n_sys, m))
    both = np.clip(both, hit, np.minimum(all_ref, all_sys))
    return DetectionCounts(tp, n_ref, n_sys, both - hit, all_ref - both, all_sys - both)


def _matched_regardless(
    reference: EventLifetimes,
    system: EventLifetimes,
    group: Index,
    shape: tuple[int, int],
    collars: Collars,
) -> Floats:
    """Return how much of each file and class is paired by a maximum matching regardless of class.

    Of a file with too many pairs NaN.
    """
    files = reference.file.astype(np.int64), system.file.astype(np.int64)
    try:
        matched = match_levels(level_edges(reference, system, *files, collars), _MOST_COPIES)
    except TooManyPairsError:
        present = distinct(files[0])
        if len(present) <= 1:
            lost = np.zeros(shape)
            lost[present] = np.nan
            return lost
        # Whether a file is too much must not depend on which others are at hand.
        parts = [
            (reference.take(files[0] == file), system.take(files[1] == file), group[files[0] == file])
            for file in present
        ]
        found: Floats = np.sum([_matched_regardless(*part, shape, collars) for part in parts], axis=0)
        return found
    return sum_groups(group[matched.left], matched.high - matched.low, shape)


def _lived(lifetimes: EventLifetimes, n_files: int, n_classes: int) -> Floats:
    """Return the number of events of each file and class, integrated over all levels."""
    return sum_groups(file_class(lifetimes, n_classes), lifetimes.dies - lifetimes.born, (n_files, n_classes))


def _whole_files(
    reference: EventLifetimes, system: EventLifetimes, n_files: int
) -> Iterator[tuple[EventLifetimes, EventLifetimes]]:
    """Yield whole files, so many at a time that they do not fill the memory."""
    sides = reference, system
    starts = [np.searchsorted(side.file, np.arange(n_files + 1)) for side in sides]
    size = starts[0] + starts[1]
    begin = 0
    while begin < n_files:
        end = max(begin + 1, int(np.searchsorted(size, size[begin] + _LIFETIMES_AT_ONCE, side="right")) - 1)
        yield (
            reference.take(slice(int(starts[0][begin]), int(starts[0][end]))),
            system.take(slice(int(starts[1][begin]), int(starts[1][end]))),
        )
        begin = end


# The measures of events: those of detection, and how far matched events are off.
#
# A deviation is the time of the system minus that of the reference, in seconds: above 0 the system is late.
# Sums and sums of squares are kept per file and class, so that files can be added.


Array = npt.NDArray[Any]

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


def deviation_laws(columns: Columns, collar: float | None) -> Iterator[Law]:
    """Yield the laws of sums of deviations.

    columns: `DEVIATIONS` and `matched`, (n_files, n_classes). collar: the most in seconds that the onsets of
    a pair may be apart, None where they are not looked at.
    """
    n = columns["matched"]
    for end in ENDS:
        total, squares = columns[end], columns[f"{end}_squares"]
        most = LONGEST if end == "offset" or collar is None else collar
        holds = np.abs(total) <= (1 + ROUNDING) * most * n
        yield Law(
            end, "at most, late or early, what so many matched events can be off,", holds, total, most * n
        )
        yield Law(f"{end}_squares", "a number that is 0 or more", squares >= 0, squares)
        holds = squares <= (1 + ROUNDING) * most**2 * n
        says = "at most what so many matched events can be off, squared,"
        yield Law(f"{end}_squares", says, holds, squares, most**2 * n)
        # The mean of squares is at least the square of the mean; nothing is off where nothing is matched.
        holds = squares * n >= (1 - ROUNDING) * total * total
        says = f"at least the square of the sum, {end}, over the matched events"
        yield Law(f"{end}_squares", says, holds, squares)


@dataclass(frozen=True, slots=True)
class Deviations:
    """Sums by `DEVIATIONS`, and how many events are matched: of each class, (..., n_classes), or pooled."""

    sums: Mapping[str, Array]
    n_ref: Array

    def pooled(self) -> Deviations:
        """Return the sums over all classes."""
        sums = {name: column.sum(axis=-1) for name, column in self.sums.items()}
        return Deviations(sums, self.n_ref.sum(axis=-1))

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
    return scores_of(BOUNDARIES, Deviations(sums, matched))


def _boundary(end: str) -> tuple[Measure, Measure]:
    told: dict[str, Any] = {
        "direction": "none", "undefined": "no event is matched", "averages": ("micro",),
        "source": "Mesaros, Heittola & Virtanen 2016", "table": "deviations",
    }  # fmt: skip
    return (
        Measure(
            f"{end}_bias", f"mean deviation of matched {end}s in seconds; above 0 the system is late",
            f"mean of {end} - reference {end} over TP", lambda d: d.bias(end), low=None, high=None, **told,
        ),
        Measure(
            f"{end}_spread", f"standard deviation of the deviation of matched {end}s in seconds",
            f"root mean square of the deviation from {end}_bias over TP", lambda d: d.spread(end), high=None,
            **told,
        ),
    )  # fmt: skip


BOUNDARIES = (*_boundary("onset"), *_boundary("offset"))

_CUT = "events of both sides at one threshold each, in collars"


def families(basis: str = "event") -> tuple[Family, ...]:
    """Return the families of events."""
    best = (detection.THRESHOLD, *detection.BEST_ERROR_RATE)
    levels = "hard counts integrated over all levels of both sides"
    return (
        Family(basis, "hard", _CUT, (*detection.MEASURES, *BOUNDARIES)),
        Family(basis, "tuned", detection.TUNED_SUMMARY, (*detection.MEASURES, detection.TUNED_THRESHOLD)),
        Family(basis, "optimal", detection.OPTIMAL_SUMMARY, (*detection.MEASURES, *best)),
        Family(basis, "soft", levels, detection.MEASURES),
    )
