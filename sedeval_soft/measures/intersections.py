"""Intersections: the share of time that events cover, and counts of it at all thresholds.

The criteria of intersection-based detection (Bilen et al. 2020):

- Detection tolerance (DTC): a detection counts if reference events of its class cover at least the share
  `dtc` of it; else it is a false positive.
- Ground truth intersection (GTC): a reference event is found if detections that pass the DTC cover at least
  the share `gtc` of it.
- Cross-trigger tolerance (CTTC): a false positive is a cross trigger of another class if that class's
  reference events cover at least the share `cttc` of it.

A detection that passes the DTC without helping any reference event over the GTC counts neither way, so that
N_sys = TP + FP is not the number of detections.

The reference has one threshold for all thresholds of the system. The DTC of a detection does not depend on
the threshold: FP is a sum over lifetimes. A reference event inside one detection is found if that detection
passes. Otherwise detections cover parts of the event, at most two of them beyond its ends. Each lifetime is
such a part of at most two reference events: the events around its onset and its offset. So the counts take a
few sorts of as many entries as there are lifetimes, however they are nested.

If detections overlap at one level (rows that are events), shared time counts once: `in_union` cuts them into
pieces first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from sedeval_soft.arrays import (
    Array,
    Bools,
    Floats,
    Index,
    check_pairs,
    expand,
    heads,
    in_order,
    order_of,
)
from sedeval_soft.errors import EvaluationError
from sedeval_soft.measures.detection import DetectionCounts
from sedeval_soft.measures.event import count_per_class, file_class, sum_groups
from sedeval_soft.measures.thresholds import N_SYS, TP, Alive, Lives
from sedeval_soft.settings import Settings
from sedeval_soft.tables.ticks import Ticks
from sedeval_soft.timeline.events import Activity, EventLifetimes, Events, Timed
from sedeval_soft.timeline.regions import Regions

_FINEST = 10**6  # shares are taken as fractions with at most this denominator
_LINE = 2**62  # places on a line
_DENSE = 2**24  # groups up to which each has a place, if no event is in it
_PAIRS = 2**24  # pairs of events at all levels that are compared


@dataclass(frozen=True, slots=True)
class Criteria:
    """The shares of overlap, in (0, 1], that detections and reference events must reach; weights of PSDS.

    alpha_ct, alpha_st: of cross triggers, of the spread over classes. max_efpr: the largest eFPR per hour.
    """

    dtc: float
    gtc: float
    cttc: float
    alpha_ct: float = 0.0
    alpha_st: float = 0.0
    max_efpr: float = 100.0

    @classmethod
    def of(cls, settings: Settings) -> Criteria:
        """Take the criteria from the settings."""
        return cls(*map(settings.criterion, cls.__slots__))


def required(share: float, length: Ticks) -> Ticks:
    """Return how many ticks of overlap make a share of each length, (n,), at least 1.

    The comparison is exact but for half a tick, which the rounding of times to ticks may have taken: so a
    tie in the times as they were written is a tie here.
    """
    exact = Fraction(share).limit_denominator(_FINEST)
    numerator, denominator = 2 * exact.numerator, 2 * exact.denominator
    # numerator * length / denominator - 1/2, rounded up, without overflow for long events.
    whole = length // denominator
    rest = length - whole * denominator
    needed: Ticks = numerator * whole - (exact.denominator - numerator * rest) // denominator
    return np.maximum(needed, 1)


def _reaching(events: Events, groups: Index, system: Timed, system_groups: Index, share: float) -> Bools:
    """Return which detections the events of their group cover to a share of their length, (n_sys,).

    Time that several events cover counts once, so that repeated events gain nothing.
    """
    union = Regions.of(groups, events.onset, events.offset)
    covered = union.within(system_groups, system.onset, system.offset)
    enough: Bools = covered >= required(share, system.offset - system.onset)
    return enough


def in_union(events: EventLifetimes, group: Index) -> tuple[EventLifetimes, Index]:
    """Return disjoint lifetimes that cover the same time at each level, and their groups.

    events: (n,) with an extent. group: (n,). Events that do not overlap in time are returned unchanged, and
    so are the events of an activity.

    Otherwise time is cut at each onset and offset, and levels at each birth of a group: above a birth,
    covered time lasts up to the highest level of the covering events. Lists of operating points, and rows,
    which are all born at 0, are not cut further.
    """
    if events.nested or in_turn(group, np.zeros(len(events)), events):
        return events, group
    levels, rank = np.unique(np.concatenate((events.born, events.dies)), return_inverse=True)
    member = np.unique(group, return_inverse=True)[1]
    born, dies = (member * len(levels) + of for of in rank.reshape(2, -1))
    slabs, first = np.unique(born, return_inverse=True)
    last = np.searchsorted(slabs, dies)
    check_pairs(first, last)
    owner, slab = expand(first, last)
    of_group, low = np.divmod(slabs, len(levels))
    ceiling = np.full(len(slabs), np.inf)
    goes_on = np.flatnonzero(of_group[1:] == of_group[:-1])
    ceiling[goes_on] = levels[low[goes_on + 1]]
    highest = np.minimum(events.dies[owner], ceiling[slab])
    code = slab.astype(np.int32)
    times = events.onset[owner], events.offset[owner]
    pieces = Activity.of_rows(Activity(code, np.zeros_like(code), *times, highest)).merged()
    someone = np.empty(len(slabs), dtype=np.int64)
    someone[slab] = owner
    like = someone[pieces.file]
    codes = events.file[like], events.label[like]
    levels_of = levels[low[pieces.file]], pieces.value
    return EventLifetimes(*codes, pieces.onset, pieces.offset, *levels_of), group[like]


def in_turn(group: Index, born: Floats, events: Timed) -> bool:
    """Return whether no two events of one group and birth, all (n,), overlap.

    Lists of operating points and of rows that are apart are like that: two alive at one level are apart.
    """
    order = np.lexsort((events.onset, born, group))
    new = (np.diff(group[order]) != 0) | (np.diff(born[order]) != 0)
    # In the order of onsets a comparison of neighbours is enough.
    return bool(np.all(new | (events.onset[order][1:] >= events.offset[order][:-1])))


# Events of all files in, counts of each file out.


def count_intersections(
    reference: Events, system: Events, n_files: int, n_classes: int, criteria: Criteria
) -> DetectionCounts:
    """Count found reference events and false positives per file and class, and errors per file.

    N_sys = TP + FP; D = N_ref - TP, I = FP, and no S: nothing is matched one to one.
    """
    # Events without extent cannot be covered.
    reference, system = reference.lasting(), system.lasting()
    ours, theirs = file_class(reference, n_classes), file_class(system, n_classes)
    passed = _reaching(reference, ours, system, theirs, criteria.dtc)
    found = reference.take(_reaching(system.take(passed), theirs[passed], reference, ours, criteria.gtc))
    tp, n_ref, fp = (
        count_per_class(events, n_files, n_classes) for events in (found, reference, system.take(~passed))
    )
    return detected(tp, n_ref, fp)


def detected(tp: Array, n_ref: Array, fp: Array) -> DetectionCounts:
    """Return the statistics of detection made of TP, N_ref and FP, each (n_files, n_classes)."""
    none = np.zeros(len(tp), dtype=tp.dtype)
    return DetectionCounts(tp, n_ref, tp + fp, none, (n_ref - tp).sum(axis=1), fp.sum(axis=1))


# The soft reading: lifetimes of all files in, counts of each file out.


def count_soft_intersections(
    reference: EventLifetimes, system: EventLifetimes, n_files: int, n_classes: int, criteria: Criteria
) -> DetectionCounts:
    """Integrate found events and false positives over all levels, per file and class.

    At each level the events of both sides that exist there are compared as in `count_intersections`. A pair
    of events of both sides shares a range of levels, so that counts are sums over pairs. Raises
    TooManyOverlapsError. No other tool has this reading; for labels of 0 and 1 it is the hard one.
    """
    reference, system = reference.lasting(), system.lasting()
    ours, theirs = file_class(reference, n_classes), file_class(system, n_classes)
    by_dtc = required(criteria.dtc, system.offset - system.onset)
    by_gtc = required(criteria.gtc, reference.offset - reference.onset)
    covers, groups = in_union(reference, ours)
    passing, begins, ends = enough(*_shared(covers, groups, system, theirs)[1:], by_dtc)
    helpful = replace(system.take(passing), born=begins, dies=ends)
    pieces, pieces_of = in_union(helpful, theirs[passing])
    left, _, low, high, share = _shared(reference, ours, pieces, pieces_of)
    found, low, high = enough(left, low, high, share, by_gtc)
    shape = (n_files, n_classes)
    n_ref = sum_groups(ours, reference.dies - reference.born, shape)
    tp = sum_groups(ours[found], high - low, shape)
    passed = np.bincount(passing, ends - begins, minlength=len(system))
    fp = sum_groups(theirs, np.maximum(system.dies - system.born - passed, 0.0), shape)
    return detected(np.minimum(tp, n_ref), n_ref, fp)


def _shared(
    reference: EventLifetimes, ours: Index, system: EventLifetimes, theirs: Index
) -> tuple[Index, Index, Floats, Floats, Index]:
    """Return overlapping pairs, the levels born < a <= dies of their overlap, and their shared ticks."""
    left, right = overlapping(reference, system, ours, theirs, _PAIRS)
    low = np.maximum(reference.born[left], system.born[right])
    high = np.minimum(reference.dies[left], system.dies[right])
    some = low < high
    left, right = left[some], right[some]
    begin = np.maximum(reference.onset[left], system.onset[right])
    share = np.minimum(reference.offset[left], system.offset[right]) - begin
    return left, right, low[some], high[some], share


# Counts at every threshold of the system.


@dataclass(frozen=True, slots=True)
class Judged:
    """The reference's events and the system's lifetimes, all with an extent.

    ours, theirs: their groups (file and class). passed: (n_sys,) which lifetimes pass the DTC.
    """

    reference: Events
    system: EventLifetimes
    ours: Index
    theirs: Index
    passed: Bools

    @classmethod
    def of(cls, reference: Events, system: EventLifetimes, n_classes: int, criteria: Criteria) -> Judged:
        """Apply the DTC."""
        reference, system = reference.lasting(), system.lasting()
        ours, theirs = file_class(reference, n_classes), file_class(system, n_classes)
        passed = _reaching(reference, ours, system, theirs, criteria.dtc)
        return cls(reference, system, ours, theirs, passed)

    def false(self) -> Alive:
        """Return the false positives, and their thresholds."""
        of, wrong = self.system, np.flatnonzero(~self.passed)
        return Alive(of.label[wrong], of.file[wrong], of.born[wrong], of.dies[wrong])


def intersections_when(
    reference: Events,
    system: EventLifetimes,
    n_files: int,
    n_classes: int,
    criteria: Criteria,
) -> tuple[Lives, Index]:
    """Return the files, found reference events and detections (N_sys = TP + FP) at all thresholds.

    Beside them, it returns the reference events of each file, (n_files, n_classes).
    """
    judged = Judged.of(reference, system, n_classes, criteria)
    n_ref = count_per_class(judged.reference, n_files, n_classes)
    found = found_when(judged, criteria)
    return [*((alive, (TP, N_SYS)) for alive in found), (judged.false(), (N_SYS,))], n_ref


def found_when(judged: Judged, criteria: Criteria) -> list[Alive]:
    """Return the number of found reference events of each class at all thresholds."""
    reference, passed = judged.reference, np.flatnonzero(judged.passed)
    helpful, theirs = judged.system.take(passed), judged.theirs[passed]
    if not len(reference) or not len(helpful):
        return []
    helpful, theirs = in_union(helpful, theirs)
    left, right = overlapping(reference, helpful, judged.ours, theirs)
    overlap = np.minimum(reference.offset[left], helpful.offset[right]) - np.maximum(
        reference.onset[left], helpful.onset[right]
    )
    needed = required(criteria.gtc, reference.offset - reference.onset)
    event, low, high = enough(left, helpful.born[right], helpful.dies[right], overlap, needed)
    return [Alive(reference.label[event], reference.file[event], low, high)]


def on_line(group: Index, offset: Ticks) -> Index:
    """Lay groups out on one line: return where the group of each event begins, (n,).

    group, offset: of the events. Raises EvaluationError if there is not enough room.
    """
    member = group if int(group.max(initial=0)) < _DENSE else np.unique(group, return_inverse=True)[1]
    last = np.zeros(int(member.max(initial=-1)) + 1, dtype=np.int64)
    np.maximum.at(last, member, offset)
    if float(last.sum(dtype=np.float64)) + len(last) > _LINE:
        raise EvaluationError("the files are too long together; are the times in seconds?")
    start: Index = np.cumsum(last + 1) - last - 1
    return start[member]


def overlapping(
    reference: Timed, system: Timed, ours: Index, theirs: Index, most: float = math.inf
) -> tuple[Index, Index]:
    """Return all pairs of a reference event and a detection of its group that overlap, by their positions.

    Two overlap if one of them begins while the other lasts; events without extent overlap nothing. ours,
    theirs: groups. most: the number of pairs beyond which they are refused. Raises TooManyOverlapsError.
    """
    offsets = np.concatenate((reference.offset, system.offset))
    base, their_base = np.split(on_line(np.concatenate((ours, theirs)), offsets), [len(ours)])
    begin, end = base + reference.onset, base + reference.offset
    their_begin, their_end = their_base + system.onset, their_base + system.offset

    def begun_in(first: Index, last: Index, begins: Index) -> tuple[Index, Index]:
        """Return pairs of a range and a begin inside it, by their positions."""
        order = np.argsort(begins, kind="stable")
        low, high = (np.searchsorted(begins, ends, sorter=order) for ends in (first, last))
        high = np.maximum(low, high)
        check_pairs(low, high, most)
        owner, at = expand(low, high)
        return owner, order[at]

    left, right = begun_in(begin, end, their_begin)
    # Events with equal onsets were found above.
    later, earlier = begun_in(their_begin + 1, their_end, begin)
    left, right = np.concatenate((left, earlier)), np.concatenate((right, later))
    lasting = (begin < end)[left] & (their_begin < their_end)[right]
    left, right = left[lasting], right[lasting]
    order = order_of(right, left)
    return left[order], right[order]


def enough(
    event: Index, born: Array, dies: Array, overlap: Index, needed: Index
) -> tuple[Index, Array, Array]:
    """Return the levels at which the existing parts of an event reach the needed sum.

    event: (n,) the event of each part; a part exists for born < a <= dies and adds `overlap`. needed: of each
    event. Returns events and levels low < a <= high, once for each time an event reaches the sum.
    """
    level, change = np.concatenate((born, dies)), np.concatenate((overlap, -overlap))
    return spans(np.concatenate((event, event)), level, change, needed)


def spans(event: Index, level: Array, change: Index, needed: Index) -> tuple[Index, Array, Array]:
    """Return the levels at which the sum of an event's changes up to there is at least the needed sum.

    Levels may be numbered, which is faster. event, level, change: (n,); the changes of each event sum to 0.
    needed: of each event, above 0.
    """
    if level.dtype.kind == "i":
        order = order_of(event * (int(level.max(initial=0)) + 1) + level)
    else:
        _, order = in_order(level)
        order = order[order_of(event[order])]
    event, level = event[order], level[order]
    sums = np.cumsum(change[order])
    last = np.append(heads(event, level)[1:], len(event))[: len(event)] - 1
    event, level, sums = event[last], level[last], sums[last]
    # Each event's changes sum to 0 at its end, so sums begin anew with each event.
    good = sums >= needed[event]
    before = np.concatenate(([False], good[:-1]))
    begins, ends = np.flatnonzero(good & ~before), np.flatnonzero(before & ~good)
    return event[begins], level[begins], level[ends]
