"""Intersection-based statistics: events of all files in, counts of each file out."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sedeval_soft.measures.detection import DetectionCounts
from sedeval_soft.measures.event.count import file_class
from sedeval_soft.measures.event.pairs import Timed
from sedeval_soft.measures.intersection.cover import Cover
from sedeval_soft.measures.intersection.criteria import Criteria, required
from sedeval_soft.timeline.events import Events

Index = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


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


def detected(
    tp: npt.NDArray[np.number], n_ref: npt.NDArray[np.number], fp: npt.NDArray[np.number]
) -> DetectionCounts:
    """Return the statistics of detection made of TP, N_ref and FP, each (n_files, n_classes)."""
    none = np.zeros(len(tp), dtype=tp.dtype)
    return DetectionCounts(tp, n_ref, tp + fp, none, (n_ref - tp).sum(axis=1), fp.sum(axis=1))
