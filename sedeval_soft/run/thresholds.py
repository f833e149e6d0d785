"""The optimal reading of events: counts over all thresholds, and the scores at the best ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.errors import EvaluationError
from sedeval_soft.core.settings import Settings
from sedeval_soft.core.tally import Tally
from sedeval_soft.measures.averages import Averaged, averaged, ratio
from sedeval_soft.measures.detection import DetectionCounts, detection_scores
from sedeval_soft.measures.event.count import count_events
from sedeval_soft.measures.event.optimal import events_when
from sedeval_soft.measures.event.pairs import Collars, TooManyPairsError
from sedeval_soft.measures.steps import Changes, Counted, Steps, Weights
from sedeval_soft.measures.threshold_counts import (
    N_SYS,
    TP,
    Alive,
    ThresholdCounts,
    error_merit,
    f_merit,
)

Table = dict[str, Averaged]
Floats = npt.NDArray[np.float64]
Array = npt.NDArray[Any]


_MOST_COPIES = 20_000_000
"""Pairs of events times thresholds at which they compete, that are matched whatever their class."""


def optimal_events(tally: Tally, basis: str, settings: Settings) -> Table:
    """Return the scores at each class's best threshold; basis: `event` or `intersection`."""
    table = threshold_counts(tally, basis, settings)
    thresholds, _, _ = table.best(f_merit(settings.beta), inclusive=settings.inclusive)
    counts = events_at(tally, basis, thresholds, settings)
    errors_at, tp, n_sys = table.best(error_merit, inclusive=settings.inclusive)
    fewest = error_rate_table(tp, n_sys, table.n_ref, errors_at)
    return optimal_table(counts.total(), thresholds, settings) | fewest


def events_at(tally: Tally, basis: str, thresholds: Floats, settings: Settings) -> DetectionCounts:
    """Return the counts of each file where each class has a threshold of its own, (n_classes,)."""
    reference, system = tally.events["reference"].events(), tally.events["system"]
    alive = system.take(system.alive(thresholds[system.label], settings.inclusive)).events()
    sizes = len(tally.files), len(tally.classes)
    if basis == "event":
        return count_events(reference, alive, *sizes, Collars.of(settings))
    from sedeval_soft.measures.intersection.count import count_intersections
    from sedeval_soft.measures.intersection.criteria import Criteria

    return count_intersections(reference, alive, *sizes, Criteria.of(settings))


def threshold_counts(tally: Tally, basis: str, settings: Settings) -> ThresholdCounts:
    """Return the counts of a basis, `event` or `intersection`, at every threshold."""
    when = counted(tally, basis, settings)
    columns = ((when.tp, (TP,)), (when.n_sys, (N_SYS,)))
    lives = [(Alive(*changes, weight), rows) for column, rows in columns for changes, weight in column]
    return ThresholdCounts.of_lives(lives, when.n_ref)


def steps_of(tally: Tally, basis: str, settings: Settings) -> Steps:
    """Return the counts of a basis, `event` or `intersection`, at every threshold."""
    return Steps.of(counted(tally, basis, settings))


def counted(tally: Tally, basis: str, settings: Settings, apart: bool | None = None) -> Counted:
    """Return which file has which counts of a basis at which thresholds; apart: as for `found_when`."""
    sides, sizes = (
        (tally.events["reference"].events(), tally.events["system"]),
        (len(tally.files), len(tally.classes)),
    )
    if basis == "event":
        return events_when(*sides, *sizes, Collars.of(settings))
    from sedeval_soft.measures.intersection.criteria import Criteria
    from sedeval_soft.measures.intersection.optimal import intersections_when

    return intersections_when(*sides, *sizes, Criteria.of(settings), apart)


def paired_events(tally: Tally, settings: Settings) -> Sequence[tuple[Changes, Weights]]:
    """Return which file has how many pairs of events, whatever their class, at which thresholds.

    Raises EvaluationError where too many events overlap to be matched at every threshold.
    """
    sides = (tally.events[name] for name in ("reference", "system"))
    reference, system = (replace(side, label=np.zeros_like(side.label), nested=False) for side in sides)
    try:
        return events_when(
            reference.events(), system, len(tally.files), 1, Collars.of(settings), _MOST_COPIES
        ).tp
    except TooManyPairsError as error:
        raise EvaluationError(
            f"satisfice={settings.satisfice}: too many events overlap to be matched at every threshold "
            "whatever their class; expected a constraint on precision, recall or fpr_per_hour"
        ) from error


def event_precisions(tally: Tally, settings: Settings) -> Table:
    """Return the average precisions of events, ranked by value."""
    from sedeval_soft.measures.curves.events import Detections, detection_precisions

    detections = Detections.of(tally.events["system"], settings.threshold, settings.inclusive)
    # Of equal overlaps the earlier event is taken, which must not be that of the earlier row.
    reference = tally.events["reference"].events().in_order()
    return detection_precisions(reference, detections, len(tally.classes), settings.iou)


def optimal_table(counts: DetectionCounts, thresholds: Floats, settings: Settings) -> Table:
    """Return the scores of counts at class-wise thresholds, totals over files, and those thresholds.

    thresholds: (..., n_classes), infinite where a class has none.
    """
    table = detection_scores(counts, settings.beta)
    # A class without reference has no best threshold; nothing of it is detected.
    table["threshold"] = Averaged(np.where(np.isinf(thresholds), np.nan, thresholds))
    return table


def error_rate_table(tp: Array, n_sys: Array, n_ref: Array, thresholds: Floats) -> Table:
    """Return the lowest error rates of counts at class-wise thresholds, and those; (..., n_classes) each."""
    present = n_ref > 0
    errors = np.where(present, n_ref + n_sys - 2 * tp, 0)
    return {
        "best_error_rate": averaged(
            ratio(errors, n_ref), ratio(errors.sum(axis=-1), n_ref.sum(axis=-1)), n_ref
        ),
        "best_error_rate_threshold": Averaged(np.where(present, thresholds, np.nan)),
    }
