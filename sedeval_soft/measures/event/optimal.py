"""Collar-based counts at every threshold of the system, exactly.

The reference is cut once. The system's lifetimes give TP and N_sys as functions of the threshold.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.events import Events
from sedeval_soft.core.lifetimes import EventLifetimes
from sedeval_soft.measures.event.count import count_per_class, file_class
from sedeval_soft.measures.event.levels import LevelEdges, match_levels
from sedeval_soft.measures.event.pairs import Collars, candidate_pairs
from sedeval_soft.measures.threshold_counts import N_SYS, TP, Alive, Lives

Index = npt.NDArray[np.int64]


def events_when(
    reference: Events,
    system: EventLifetimes,
    n_files: int,
    n_classes: int,
    collars: Collars,
    most: float = math.inf,
) -> tuple[Lives, Index]:
    """Return which file has which matched and existing events when, and its events, (n_files, n_classes).

    most: as for `match_levels`, which raises TooManyPairsError beyond it.
    """
    groups = (file_class(reference, n_classes), file_class(system, n_classes))
    left, right = candidate_pairs(reference, system, *groups, collars)
    matched = match_levels(LevelEdges(left, right, system.born[right], system.dies[right]), most)
    hits = Alive(reference.label[matched.left], reference.file[matched.left], matched.low, matched.high)
    alive = Alive(system.label, system.file, system.born, system.dies)
    return [(hits, (TP,)), (alive, (N_SYS,))], count_per_class(reference, n_files, n_classes)
