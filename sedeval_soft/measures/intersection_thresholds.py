"""Intersection-based counts at every threshold of the system, exactly.

The reference is cut once. Whether a detection passes the DTC does not depend on the threshold: FP is a sum
over lifetimes. A reference event inside one detection is found if that passes. Else detections cover
parts of it, at most two of them beyond its ends; each lifetime is such a part of at most two reference
events, those that hold its onset and its offset. So all takes a few sorts of as many entries as there are
lifetimes, however they are nested. Where detections overlap at one level (rows that are events), what
several cover counts once: `in_union` makes pieces of them first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sedeval_soft.measures.base import Bools, Floats, Index
from sedeval_soft.measures.event import Timed, count_per_class, file_class
from sedeval_soft.measures.intersection_counts import (
    Cover,
    Criteria,
    Line,
    in_turn,
    in_union,
    lasting,
    passes,
    required,
)
from sedeval_soft.measures.thresholds import N_SYS, TP, Alive, Lives
from sedeval_soft.timeline.events import EventLifetimes, Events
from sedeval_soft.timeline.ranges import check_pairs, expand


@dataclass(frozen=True, slots=True)
class Judged:
    """The reference's events and the system's lifetimes, those without extent left out.

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
        reference, long = lasting(reference), system.offset > system.onset
        system = system if long.all() else system.take(long)
        ours, theirs = file_class(reference, n_classes), file_class(system, n_classes)
        cover = Cover.of(ours, reference.onset, reference.offset)
        return cls(reference, system, ours, theirs, passes(cover, theirs, system, criteria.dtc))

    def is_apart(self) -> bool:
        """Return whether on neither side events overlap that exist at one level, of those that pass.

        True of all groups exactly if it is true of each.
        """
        helpful, theirs = self.system.take(self.passed), self.theirs[self.passed]
        apart = helpful.nested or in_turn(theirs, helpful.born, helpful)
        return apart and in_turn(self.ours, np.zeros(len(self.reference)), self.reference)

    def false(self) -> Alive:
        """Return who is a false positive, and when."""
        wrong, system = ~self.passed, self.system
        return Alive(system.label[wrong], system.file[wrong], system.born[wrong], system.dies[wrong])


def intersections_when(
    reference: Events,
    system: EventLifetimes,
    n_files: int,
    n_classes: int,
    criteria: Criteria,
    apart: bool | None = None,
) -> tuple[Lives, Index]:
    """Return which file has which found reference events and detections (N_sys = TP + FP) when.

    Beside it, the reference events of each file, (n_files, n_classes).

    apart: as for `found_when`.
    """
    judged = Judged.of(reference, system, n_classes, criteria)
    n_ref = count_per_class(judged.reference, n_files, n_classes)
    found = found_when(judged, criteria, apart)
    return [*((alive, (TP, N_SYS)) for alive in found), (judged.false(), (N_SYS,))], n_ref


def found_when(judged: Judged, criteria: Criteria, apart: bool | None = None) -> list[Alive]:
    """Return when how many reference events of which class are found.

    apart: whether `is_apart` holds of these and of all other files that they are counted with: which levels
    are told of, at which nothing may change on the whole, follows from it. None where there are no others.
    """
    reference, passed = judged.reference, judged.passed
    helpful, theirs = judged.system.take(passed), judged.theirs[passed]
    if not len(reference) or not len(helpful):
        return []
    whole = []
    if judged.is_apart() if apart is None else apart:
        onset, offset, theirs_on, theirs_off = _laid_out(reference, helpful, judged.ours, theirs)
        order = np.argsort(onset)
        begins, ends = onset[order], offset[order]
        inside = np.searchsorted(ends, theirs_off, side="right") - np.searchsorted(begins, theirs_on)
        holds = np.flatnonzero(inside > 0)
        own = helpful.take(holds)
        whole.append(Alive(own.label, own.file, own.born, own.dies, inside[holds]))
        left, right = _parts(begins, ends, theirs_on, theirs_off)
        left = order[left]
    else:
        helpful, theirs = in_union(helpful, theirs)
        left, right = overlapping(reference, helpful, judged.ours, theirs)
    overlap = np.minimum(reference.offset[left], helpful.offset[right]) - np.maximum(
        reference.onset[left], helpful.onset[right]
    )
    needed = required(criteria.gtc, reference.offset - reference.onset)
    event, low, high = enough(left, helpful.born[right], helpful.dies[right], overlap, needed)
    return [*whole, Alive(reference.label[event], reference.file[event], low, high)]


def _laid_out(reference: Timed, system: Timed, ours: Index, theirs: Index) -> tuple[Index, ...]:
    """Return the places on one line of onsets and offsets of the reference, then of the system."""
    line = Line.of(np.concatenate((ours, theirs)), np.concatenate((reference.offset, system.offset)))
    sides = ((ours, reference), (theirs, system))
    return tuple(line.locate(g, times)[0] for g, side in sides for times in (side.onset, side.offset))


def _parts(begins: Index, ends: Index, onset: Index, offset: Index) -> tuple[Index, Index]:
    """Return the pairs of a reference event and a detection that has an end strictly within it.

    begins, ends: of reference events, sorted and apart. onset, offset: of detections, on the same line.
    """
    pairs = []
    for place in (onset, offset):
        at = np.maximum(np.searchsorted(begins, place, side="left") - 1, 0)
        pairs.append(((begins[at] < place) & (place < ends[at]), at))
    (starts, first), (stops, last) = pairs
    stops &= ~(starts & (first == last))
    left = np.concatenate((first[starts], last[stops]))
    return left, np.concatenate((np.flatnonzero(starts), np.flatnonzero(stops)))


def overlapping(reference: Timed, system: Timed, ours: Index, theirs: Index) -> tuple[Index, Index]:
    """Return all pairs of a reference event and a detection of its group that overlap."""
    order = np.lexsort((reference.onset, ours))
    begins, ends, onset, offset = _laid_out(reference, system, ours, theirs)
    begins, ends = begins[order], ends[order]
    reach = np.maximum.accumulate(ends)
    first = np.searchsorted(reach, onset, side="right")
    last = np.searchsorted(begins, offset, side="left")
    check_pairs(first, last)
    right, at = expand(first, np.maximum(first, last))
    kept = ends[at] > onset[right]
    return order[at[kept]], right[kept]


def enough(
    event: Index, born: Floats, dies: Floats, overlap: Index, needed: Index
) -> tuple[Index, Floats, Floats]:
    """Return for which levels the parts of an event that exist make what it needs.

    event: (n,) whose parts, each existing for born < a <= dies and worth `overlap`. needed: of each event.
    Returns events and levels low < a <= high, as often as an event comes to have enough.
    """
    level, change = np.concatenate((born, dies)), np.concatenate((overlap, -overlap))
    return spans(np.concatenate((event, event)), level, change, needed)


def spans(event: Index, level: Floats, change: Index, needed: Index) -> tuple[Index, Floats, Floats]:
    """Return for which levels the sum of an event's changes up to there is at least what it needs.

    event, level, change: (n,), the changes of each event being 0 together. needed: of each event, above 0.
    """
    order = np.lexsort((level, event))
    event, level = event[order], level[order]
    sums = np.cumsum(change[order])
    last = np.ones(len(event), dtype=bool)
    last[:-1] = (np.diff(event) != 0) | (np.diff(level) != 0)
    event, level, sums = event[last], level[last], sums[last]
    # All that an event got it has lost at its end: sums begin anew with each event by themselves.
    good = sums >= needed[event]
    before = np.concatenate(([False], good[:-1]))
    begins, ends = np.flatnonzero(good & ~before), np.flatnonzero(before & ~good)
    return event[begins], level[begins], level[ends]
