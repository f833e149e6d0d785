"""Event-based statistics: events of all files in, counts of each file out."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.events import Events
from sedeval_soft.core.lifetimes import EventLifetimes
from sedeval_soft.core.settings import Matching
from sedeval_soft.measures.detection import DetectionCounts
from sedeval_soft.measures.event.pairs import Collars, candidate_pairs
from sedeval_soft.measures.matching import first_free_matching, maximum_matching

Index = npt.NDArray[np.int64]


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
    left, right = candidate_pairs(
        reference, system, reference.file.astype(np.int64), system.file.astype(np.int64), collars
    )
    regardless = maximum_matching(left, right, len(reference), len(system), start=matched)
    m = np.bincount(reference.file[regardless >= 0], minlength=n_files).astype(np.int64)
    tp = count_per_class(hits, n_files, n_classes)
    n_ref = count_per_class(reference, n_files, n_classes)
    n_sys = count_per_class(system, n_files, n_classes)
    return DetectionCounts(tp, n_ref, n_sys, m - tp.sum(axis=1), n_ref.sum(axis=1) - m, n_sys.sum(axis=1) - m)
