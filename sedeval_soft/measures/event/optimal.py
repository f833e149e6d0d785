"""The threshold of each class that gives its best event-based F, exact over all thresholds.

The reference is cut once. The system's lifetimes give TP and N_sys as step functions of the threshold:
both change only where an event is born or dies. A step is a stretch low <= t < high without change.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.events import Events
from sedeval_soft.core.lifetimes import EventLifetimes
from sedeval_soft.measures.detection import f_beta
from sedeval_soft.measures.event.count import file_class
from sedeval_soft.measures.event.levels import LevelEdges, match_levels
from sedeval_soft.measures.event.pairs import Collars, candidate_pairs
from sedeval_soft.measures.segment.optimal import NOTHING, threshold_between

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class EventSteps:
    """TP and N_sys of all classes as step functions of the system's threshold.

    label: (n,) classes in ascending order. low: (n,) within a class ascending: the step holds for
    thresholds from it to the next one's, the last of a class from it up. tp, n_sys: (n,) counts.
    n_ref: (n_classes,).
    """

    label: Index
    low: Floats
    tp: Index
    n_sys: Index
    n_ref: Index


def event_steps(reference: Events, system: EventLifetimes, n_classes: int, collars: Collars) -> EventSteps:
    """Count matched and existing system events for every threshold at once."""
    groups = (file_class(reference, n_classes), file_class(system, n_classes))
    left, right = candidate_pairs(reference, system, *groups, collars)
    matched = match_levels(LevelEdges(left, right, system.born[right], system.dies[right]))
    label = np.concatenate(
        [np.arange(n_classes)]
        + [system.label.astype(np.int64)] * 2
        + [reference.label[matched.left].astype(np.int64)] * 2
    )
    level = np.concatenate((np.zeros(n_classes), system.born, system.dies, matched.low, matched.high))
    change = np.zeros((2, len(level)), dtype=np.int64)
    ends = n_classes + np.cumsum([0, len(system), len(system), len(matched.left), len(matched.left)])
    for row, (born, dies) in ((1, (0, 1)), (0, (2, 3))):
        change[row, ends[born] : ends[born + 1]] = 1
        change[row, ends[dies] : ends[dies + 1]] = -1
    order = np.lexsort((level, label))
    label, level = label[order], level[order]
    tp, n_sys = np.cumsum(change[:, order], axis=1)
    last = np.ones(len(label), dtype=bool)
    last[:-1] = (np.diff(label) != 0) | (np.diff(level) != 0)
    n_ref = np.bincount(reference.label, minlength=n_classes).astype(np.int64)
    return EventSteps(label[last], level[last], tp[last], n_sys[last], n_ref)


def best_event_thresholds(steps: EventSteps, beta: float = 1.0, inclusive: bool = False) -> Floats:
    """Return for each class the threshold with the best F, (n_classes,); ties go to the highest.

    A class without reference has no best threshold: NOTHING, at which nothing is detected.
    """
    f = f_beta(steps.tp, steps.n_ref[steps.label], steps.n_sys, beta)
    bounds = np.searchsorted(steps.label, np.arange(len(steps.n_ref) + 1))
    thresholds = np.full(len(steps.n_ref), NOTHING)
    for label in np.flatnonzero(steps.n_ref):
        begin, end = int(bounds[label]), int(bounds[label + 1])
        best = end - 1 - int(np.argmax(f[begin:end][::-1]))
        if best + 1 < end:
            thresholds[label] = threshold_between(
                float(steps.low[best]), float(steps.low[best + 1]), inclusive
            )
        else:
            # No event is ever matched: the highest threshold is one that no value passes.
            thresholds[label] = 2.0 if inclusive else 1.0
    return thresholds
