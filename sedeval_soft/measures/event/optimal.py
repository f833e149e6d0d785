"""Collar-based counts at every threshold of the system, exactly.

The reference is cut once. The system's lifetimes give TP and N_sys as step functions of the threshold.
"""

from __future__ import annotations

import numpy as np

from sedeval_soft.core.events import Events
from sedeval_soft.core.lifetimes import EventLifetimes
from sedeval_soft.measures.event.count import file_class
from sedeval_soft.measures.event.levels import LevelEdges, match_levels
from sedeval_soft.measures.event.pairs import Collars, candidate_pairs
from sedeval_soft.measures.steps import Steps, stacked


def event_steps(reference: Events, system: EventLifetimes, n_classes: int, collars: Collars) -> Steps:
    """Count matched and existing system events for every threshold at once."""
    groups = (file_class(reference, n_classes), file_class(system, n_classes))
    left, right = candidate_pairs(reference, system, *groups, collars)
    matched = match_levels(LevelEdges(left, right, system.born[right], system.dies[right]))
    hits = reference.label[matched.left], matched.low, matched.high
    label, low, (tp, n_sys) = stacked(
        n_classes,
        [[(hits, 1)], [((system.label, system.born, system.dies), 1)]],
    )
    n_ref = np.bincount(reference.label, minlength=n_classes).astype(np.int64)
    return Steps(label, low, tp, n_sys, n_ref)
