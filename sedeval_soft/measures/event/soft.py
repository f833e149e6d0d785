"""The soft reading of events: collar-based counts of both alpha-cuts, integrated over all levels.

At each level a the events of the reference where y >= a are matched with those of the system where
p >= a, as many as can be. TP is the integral of how many, N_ref and N_sys that of how many there are,
M that of a matching regardless of class. No other tool has it; with labels of 0 and 1 it is the hard
reading. All is exact: lifetimes make each count a sum of lengths of level intervals.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.order import distinct
from sedeval_soft.measures.detection import DetectionCounts
from sedeval_soft.measures.event.chains import level_edges
from sedeval_soft.measures.event.count import file_class, sum_groups
from sedeval_soft.measures.event.pairs import Collars
from sedeval_soft.measures.level_matching import TooManyPairsError, match_levels
from sedeval_soft.measures.segment.count import sum_classes
from sedeval_soft.timeline.lifetimes import EventLifetimes

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

_AT_ONCE = 200_000
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
    for ours, theirs in _batches(reference, system, n_files):
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


def _batches(
    reference: EventLifetimes, system: EventLifetimes, n_files: int
) -> Iterator[tuple[EventLifetimes, EventLifetimes]]:
    """Yield whole files, so many at a time that they do not fill the memory."""
    sides = reference, system
    starts = [np.searchsorted(side.file, np.arange(n_files + 1)) for side in sides]
    size = starts[0] + starts[1]
    begin = 0
    while begin < n_files:
        end = max(begin + 1, int(np.searchsorted(size, size[begin] + _AT_ONCE, side="right")) - 1)
        yield (
            reference.take(slice(int(starts[0][begin]), int(starts[0][end]))),
            system.take(slice(int(starts[1][begin]), int(starts[1][end]))),
        )
        begin = end
