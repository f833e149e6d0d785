"""Event-based statistics: events of all files in, counts of each file out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sedeval_soft.fields import Matching
from sedeval_soft.measures.detection import DetectionCounts
from sedeval_soft.measures.event.pairs import Collars, candidate_pairs
from sedeval_soft.measures.matching import first_free_matching, maximum_flow, maximum_matching
from sedeval_soft.timeline.events import Events
from sedeval_soft.timeline.lifetimes import EventLifetimes
from sedeval_soft.timeline.ranges import expand

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

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
