"""The optimal reading of events: counts over all thresholds, and the scores at the best ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.events import Events
from sedeval_soft.core.lifetimes import EventLifetimes
from sedeval_soft.core.settings import Settings
from sedeval_soft.core.tally import Tally
from sedeval_soft.measures.averages import Averaged, averaged, ratio
from sedeval_soft.measures.curves.events import Detections, detection_precisions
from sedeval_soft.measures.detection import DetectionCounts, detection_scores
from sedeval_soft.measures.event.count import count_events
from sedeval_soft.measures.event.optimal import events_when
from sedeval_soft.measures.event.pairs import Collars
from sedeval_soft.measures.intersection.count import count_intersections
from sedeval_soft.measures.intersection.criteria import Criteria
from sedeval_soft.measures.intersection.optimal import intersections_when
from sedeval_soft.measures.steps import Counted, Steps, best_error_rate_thresholds, best_f_thresholds

Table = dict[str, Averaged]
Floats = npt.NDArray[np.float64]
Count = Callable[[Events, Events], DetectionCounts]


def optimal_events(tally: Tally, settings: Settings) -> Table:
    """Return the scores at each class's best threshold, collar-based."""
    sizes, collars = (len(tally.files), len(tally.classes)), Collars.of(settings)

    def count(reference: Events, system: Events) -> DetectionCounts:
        return count_events(reference, system, *sizes, collars)

    return _at_best(tally, steps_of(tally, "event", settings), count, settings)


def optimal_intersections(tally: Tally, settings: Settings) -> Table:
    """Return the scores at each class's best threshold, intersection-based."""
    sizes, criteria = (len(tally.files), len(tally.classes)), Criteria.of(settings)

    def count(reference: Events, system: Events) -> DetectionCounts:
        return count_intersections(reference, system, *sizes, criteria)

    return _at_best(tally, steps_of(tally, "intersection", settings), count, settings)


def steps_of(tally: Tally, basis: str, settings: Settings) -> Steps:
    """Return the counts of a basis, `event` or `intersection`, at every threshold."""
    return Steps.of(counted(tally, basis, settings))


def counted(tally: Tally, basis: str, settings: Settings) -> Counted:
    """Return which file has which counts of a basis at which thresholds."""
    sides, sizes = (
        (tally.events["reference"].events(), tally.events["system"]),
        (len(tally.files), len(tally.classes)),
    )
    if basis == "event":
        return events_when(*sides, *sizes, Collars.of(settings))
    return intersections_when(*sides, *sizes, Criteria.of(settings))


def event_precisions(tally: Tally, settings: Settings) -> Table:
    """Return the average precisions of events, ranked by value."""
    detections = Detections.of(tally.events["system"], settings.threshold, settings.inclusive)
    # Of equal overlaps the earlier event is taken, which must not be that of the earlier row.
    reference = tally.events["reference"].events().in_order()
    return detection_precisions(reference, detections, len(tally.classes), settings.iou)


def optimal_table(counts: DetectionCounts, thresholds: Floats, settings: Settings) -> Table:
    """Return the scores of counts at class-wise thresholds, (n_classes,), and those."""
    table = detection_scores(counts.total(), settings.beta)
    # A class without reference has no best threshold; nothing of it is detected.
    table["threshold"] = Averaged(np.where(np.isinf(thresholds), np.nan, thresholds))
    return table


def _at_best(tally: Tally, steps: Steps, count: Count, settings: Settings) -> Table:
    reference, system = tally.events["reference"].events(), tally.events["system"]
    thresholds = best_f_thresholds(steps, settings.beta, settings.inclusive)
    table = optimal_table(count(reference, _cut(system, thresholds, settings)), thresholds, settings)
    return table | _best_error_rate(steps, settings)


def _cut(system: EventLifetimes, thresholds: Floats, settings: Settings) -> Events:
    return system.take(system.alive(thresholds[system.label], settings.inclusive)).events()


def _best_error_rate(steps: Steps, settings: Settings) -> Table:
    """Return the lowest error rate of each class; micro pools the counts at the thresholds that give them."""
    thresholds, at = best_error_rate_thresholds(steps, settings.inclusive)
    n_ref, present = steps.n_ref, steps.n_ref > 0
    errors = np.where(present, n_ref + steps.n_sys[at] - 2 * steps.tp[at], 0)
    return {
        "best_error_rate": averaged(ratio(errors, n_ref), ratio(errors.sum(), n_ref.sum()), n_ref),
        "best_error_rate_threshold": Averaged(np.where(present, thresholds, np.nan)),
    }
