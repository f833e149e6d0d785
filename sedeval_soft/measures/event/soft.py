"""The soft reading of events: collar-based counts of both alpha-cuts, integrated over all levels.

At each level a the events of the reference where y >= a are matched with those of the system where
p >= a, as many as can be. TP is the integral of how many, N_ref and N_sys that of how many there are,
M that of a matching regardless of class. No other tool has it; with labels of 0 and 1 it is the hard
reading. All is exact: lifetimes make each count a sum of lengths of level intervals.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.lifetimes import EventLifetimes
from sedeval_soft.measures.detection import DetectionCounts
from sedeval_soft.measures.event.chains import level_edges
from sedeval_soft.measures.event.count import file_class
from sedeval_soft.measures.event.levels import match_levels
from sedeval_soft.measures.event.pairs import Collars

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]


def count_soft_events(
    reference: EventLifetimes, system: EventLifetimes, n_files: int, n_classes: int, collars: Collars
) -> DetectionCounts:
    """Integrate the matched events and errors of all levels, per file (and class)."""
    classes = (file_class(reference, n_classes), file_class(system, n_classes))
    files = (reference.file.astype(np.int64), system.file.astype(np.int64))
    matched = match_levels(level_edges(reference, system, *classes, collars))
    regardless = match_levels(level_edges(reference, system, *files, collars))
    shape = (n_files, n_classes)
    tp = _sums(classes[0][matched.left], matched.high - matched.low, shape)
    n_ref = _sums(classes[0], reference.dies - reference.born, shape)
    n_sys = _sums(classes[1], system.dies - system.born, shape)
    m = _sums(files[0][regardless.left], regardless.high - regardless.low, (n_files,))
    return DetectionCounts(
        tp,
        n_ref,
        n_sys,
        np.maximum(m - tp.sum(axis=1), 0.0),
        np.maximum(n_ref.sum(axis=1) - m, 0.0),
        np.maximum(n_sys.sum(axis=1) - m, 0.0),
    )


def _sums(group: Index, weight: Floats, shape: tuple[int, ...]) -> Floats:
    sums: Floats = np.bincount(group, weight, minlength=math.prod(shape)).astype(np.float64)
    return sums.reshape(shape)
