"""Intersections: how much of a stretch of time events cover, and what is counted of it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sedeval_soft.errors import EvaluationError
from sedeval_soft.measures.base import Array, Bools, Floats, Index
from sedeval_soft.measures.detection import DetectionCounts
from sedeval_soft.measures.event import Timed, file_class
from sedeval_soft.settings import Settings
from sedeval_soft.tables.ticks import Ticks
from sedeval_soft.threads import for_each
from sedeval_soft.timeline.events import Activity, EventLifetimes, Events
from sedeval_soft.timeline.ranges import check_pairs, expand

# The criteria of intersection-based detection (Bilen et al. 2020).
#
# - Detection tolerance (DTC): a detection counts if reference events of its class cover at least the share
#   `dtc` of it; else it is a false positive.
# - Ground truth intersection (GTC): a reference event is found if detections that pass the DTC cover at
#   least the share `gtc` of it.
# - Cross-trigger tolerance (CTTC): a false positive is a cross trigger of another class if that class's
#   reference events cover at least the share `cttc` of it.
#
# A detection that passes the DTC without helping any reference event over the GTC counts neither way, so
# that N_sys = TP + FP is not the number of detections.


_FINEST = 10**6
"""Shares are taken as fractions with at most this denominator."""


@dataclass(frozen=True, slots=True)
class Criteria:
    """The shares of overlap, in (0, 1], that detections and reference events must reach."""

    dtc: float
    gtc: float
    cttc: float

    @classmethod
    def of(cls, settings: Settings) -> Criteria:
        """Take the criteria from the settings."""
        return cls(settings.criterion("dtc"), settings.criterion("gtc"), settings.criterion("cttc"))


def required(share: float, length: Ticks) -> Ticks:
    """Return how many ticks of overlap make a share of each length, (n,), at least 1.

    The comparison is exact but for half a tick, which the rounding of times to ticks may have taken: so a
    tie in the times as they were written is a tie here.
    """
    exact = Fraction(share).limit_denominator(_FINEST)
    numerator, denominator = 2 * exact.numerator, 2 * exact.denominator
    # numerator * length / denominator - 1/2, rounded up, without overflow for long events.
    whole, rest = np.divmod(length, denominator)
    needed: Ticks = numerator * whole - (-(numerator * rest - exact.denominator) // denominator)
    return np.maximum(needed, 1)


# How much of a stretch of time events cover.
#
# Events of all groups (a file and class) are laid out on one line. How long some event of a group has lasted
# before a time is a piecewise linear function of it, found from two sorted lists: so the overlap of any
# number of stretches with all events takes a few searches. What several events cover counts once, so that
# nothing is gained by saying the same twice.


_LINE = 2**62


_DENSE = 2**24
"""Groups up to which places are looked up by their numbers."""


@dataclass(frozen=True, slots=True)
class Line:
    """Where on the line the times of each group lie.

    groups: (n,) ascending numbers of groups, None where all from 0 on are there. start: (n,) their
    beginnings. end: (n,) their last offsets, on the line.
    """

    groups: Index | None
    start: Index
    end: Index

    @classmethod
    def of(cls, group: Index, offset: Ticks) -> Line:
        """Lay out groups with as much room as their events need; raises EvaluationError if there is none."""
        groups, member = None, group
        if len(group) and int(group.max()) >= _DENSE:
            groups, member = np.unique(group, return_inverse=True)
        last = np.zeros(int(member.max(initial=-1)) + 1, dtype=np.int64)
        np.maximum.at(last, member, offset)
        if float(last.sum(dtype=np.float64)) + len(last) > _LINE:
            raise EvaluationError("the files are too long together; are the times in seconds?")
        end = np.cumsum(last + 1) - 1
        return cls(groups, end - last, end)

    def locate(self, group: Index, time: Ticks) -> tuple[Index, Bools]:
        """Return where times lie, at most at the end of their group, and whether that is on the line."""
        n = len(self.start)
        if not n:
            return np.zeros(len(group), dtype=np.int64), np.zeros(len(group), dtype=bool)
        at = group if self.groups is None else np.searchsorted(self.groups, group)
        at = np.minimum(at, n - 1)
        known = group < n if self.groups is None else self.groups[at] == group
        return np.minimum(self.start[at] + time, self.end[at]), known


@dataclass(frozen=True, slots=True)
class Cover:
    """The time that events of each group cover, ready for questions about overlap.

    onset, offset: (n,) ascending places on the line of stretches that do not overlap: the events, or what
    those that overlap cover together. total_onset, total_offset: (n + 1,) their running sums.
    """

    line: Line
    onset: Index
    offset: Index
    total_onset: Index
    total_offset: Index

    @classmethod
    def of(cls, group: Index, onset: Ticks, offset: Ticks) -> Cover:
        """Build from events: groups, onsets and offsets, each (n,)."""
        line = Line.of(group, offset)
        begins, ends = (np.sort(line.locate(group, times)[0]) for times in (onset, offset))
        new = begins[1:] >= ends[:-1]
        if not new.all():
            # Where as many have ended as have begun nothing goes on: there, and only there, stretches end.
            begins, ends = begins[np.append(True, new)], ends[np.append(new, True)]
        totals = [np.concatenate(([0], np.cumsum(places))) for places in (begins, ends)]
        return cls(line, begins, ends, totals[0], totals[1])

    def overlap(self, group: Index, onset: Ticks, offset: Ticks) -> Ticks:
        """Return how many ticks of each stretch are within some event of its group, (n,)."""
        before = for_each(lambda time: self._before(group, time), (onset, offset), len(group))
        overlap: Ticks = before[1] - before[0]
        return overlap

    def _before(self, group: Index, time: Ticks) -> Ticks:
        place, known = self.line.locate(group, time)
        begun = np.searchsorted(self.onset, place)
        ended = begun
        if len(self.offset):
            # Of those begun only the last may not have ended.
            ended = begun - (self.offset[np.maximum(begun - 1, 0)] > place)
            ended[begun == 0] = 0
        # Sums may wrap around; their difference is right all the same.
        lasted: Ticks = begun * place - self.total_onset[begun] - (ended * place - self.total_offset[ended])
        return np.where(known, lasted, 0)


def in_union(events: EventLifetimes, group: Index) -> tuple[EventLifetimes, Index]:
    """Return lifetimes that cover at each level what some cover, and never overlap, and their groups.

    events: (n,) with an extent. group: (n,). Those that do not overlap in time are returned as they are, as
    are those of an activity. Else time is cut at each onset and offset, and levels at each birth of a group:
    above one, what is covered lasts up to the highest level of those that cover it. Lists of operating
    points, and rows, which are all born at 0, are cut no further than they are.
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
    # In the order of onsets it is enough to look at neighbours.
    return bool(np.all(new | (events.onset[order][1:] >= events.offset[order][:-1])))


# Intersection-based statistics: events of all files in, counts of each file out.


def passes(cover: Cover, group: Index, events: Timed, share: float) -> Bools:
    """Return which events are covered to a share of their length, (n,)."""
    overlap = cover.overlap(group, events.onset, events.offset)
    enough: Bools = overlap >= required(share, events.offset - events.onset)
    return enough


def lasting(events: Events) -> Events:
    """Return the events that have an extent: one without cannot be covered."""
    long = events.offset > events.onset
    return events if long.all() else events.take(long)


def count_intersections(
    reference: Events, system: Events, n_files: int, n_classes: int, criteria: Criteria
) -> DetectionCounts:
    """Count found reference events and false positives per file and class, and errors per file.

    N_sys = TP + FP; D = N_ref - TP, I = FP, and no S: nothing is matched one to one.
    """
    reference, system = lasting(reference), lasting(system)
    ours, theirs = file_class(reference, n_classes), file_class(system, n_classes)
    passed = passes(Cover.of(ours, reference.onset, reference.offset), theirs, system, criteria.dtc)
    helpful = system.take(passed)
    found = passes(Cover.of(theirs[passed], helpful.onset, helpful.offset), ours, reference, criteria.gtc)
    shape = (n_files, n_classes)
    n_ref, tp, fp = (
        np.bincount(group, minlength=n_files * n_classes).astype(np.int64).reshape(shape)
        for group in (ours, ours[found], theirs[~passed])
    )
    return detected(tp, n_ref, fp)


def detected(tp: Array, n_ref: Array, fp: Array) -> DetectionCounts:
    """Return the statistics of detection made of TP, N_ref and FP, each (n_files, n_classes)."""
    none = np.zeros(len(tp), dtype=tp.dtype)
    return DetectionCounts(tp, n_ref, tp + fp, none, (n_ref - tp).sum(axis=1), fp.sum(axis=1))
