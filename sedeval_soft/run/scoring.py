"""From a tally to named scores."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from sedeval_soft.compat import sed_eval
from sedeval_soft.core.events import active
from sedeval_soft.core.settings import Settings
from sedeval_soft.core.tally import Tally
from sedeval_soft.core.value import Score
from sedeval_soft.measures.averages import Averaged
from sedeval_soft.measures.detection import PER_CLASS, PER_FILE, DetectionCounts, detection_scores
from sedeval_soft.measures.divergence.score import divergence_scores
from sedeval_soft.measures.event.count import count_events
from sedeval_soft.measures.event.optimal import best_event_thresholds, event_steps
from sedeval_soft.measures.event.pairs import Collars
from sedeval_soft.measures.names import spell
from sedeval_soft.measures.registry import FAMILIES
from sedeval_soft.measures.segment.count import count_hard
from sedeval_soft.measures.segment.optimal import best_thresholds
from sedeval_soft.measures.segment.score import confusion_scores

Table = dict[str, Averaged]
Floats = npt.NDArray[np.float64]


def score_tally(tally: Tally, settings: Settings) -> dict[str, Score]:
    """Return all scores of a tally by name, in the order of the registry."""
    tables: dict[tuple[str, str], Table] = {}
    if settings.wants("segment", "hard"):
        tables["segment", "hard"] = _hard_table(tally, "segment", settings)
    if settings.wants("segment", "optimal"):
        tables["segment", "optimal"] = _optimal_segments(tally, settings)
    if settings.wants("segment", "soft"):
        tables["segment", "soft"] = _soft_segments(tally, settings)
    if settings.wants("event", "hard"):
        tables["event", "hard"] = _hard_table(tally, "event", settings)
    if settings.wants("event", "optimal"):
        tables["event", "optimal"] = _optimal_events(tally, settings)
    if settings.wants("event", "soft"):
        tables["event", "soft"] = detection_scores(_totals(tally, "event.soft"), settings.beta)
    return {score.name: score for score in _named(tables, tally.classes)}


def _totals(tally: Tally, prefix: str) -> DetectionCounts:
    return DetectionCounts(*(tally.total(f"{prefix}.{name}") for name in (*PER_CLASS, *PER_FILE)))


def _hard_table(tally: Tally, basis: str, settings: Settings) -> Table:
    counts = _totals(tally, f"{basis}.hard")
    n_segments = tally.total("segment.hard.n_segments") if basis == "segment" else None
    table = detection_scores(counts, settings.beta)
    if n_segments is not None:
        table |= confusion_scores(counts, n_segments)
    if settings.compat == "sed_eval":
        table |= sed_eval.hard_scores(counts, n_segments)
    return table


def _optimal_segments(tally: Tally, settings: Settings) -> Table:
    scores, positive = tally.samples["score"], tally.samples["positive"]
    thresholds = best_thresholds(scores, positive, settings.beta, settings.inclusive)
    detected = active(scores, thresholds[:, None], settings.inclusive)
    counts = count_hard(positive, detected, np.array([0, scores.shape[1]]))
    return _optimal_table(counts, thresholds, settings)


def _optimal_events(tally: Tally, settings: Settings) -> Table:
    reference, system = tally.events["reference"].events(), tally.events["system"]
    sizes, collars = (len(tally.files), len(tally.classes)), Collars.of(settings)
    steps = event_steps(reference, system, sizes[1], collars)
    thresholds = best_event_thresholds(steps, settings.beta, settings.inclusive)
    detected = system.take(system.alive(thresholds[system.label], settings.inclusive)).events()
    return _optimal_table(count_events(reference, detected, *sizes, collars), thresholds, settings)


def _optimal_table(counts: DetectionCounts, thresholds: Floats, settings: Settings) -> Table:
    table = detection_scores(counts.total(), settings.beta)
    # A class without reference has no best threshold; nothing of it is detected.
    table["threshold"] = Averaged(np.where(np.isinf(thresholds), np.nan, thresholds))
    return table


def _soft_segments(tally: Tally, settings: Settings) -> Table:
    soft = _totals(tally, "segment.soft")
    divergence = divergence_scores(
        tally.total("segment.soft.kl_divergence"),
        tally.total("segment.soft.sounding"),
        tally.total("n_segments"),
        soft.n_ref,
    )
    return detection_scores(soft, settings.beta) | divergence


def _named(tables: Mapping[tuple[str, str], Table], classes: tuple[str, ...]) -> Iterator[Score]:
    for family in FAMILIES:
        table = tables.get((family.basis, family.reading), {})
        for measure in family.measures:
            values = table.get(measure.name)
            if values is None:
                continue
            stem = (family.basis, family.reading, measure.name)
            for average in measure.averages:
                mean = getattr(values, average)
                yield Score(
                    spell(*stem, average), *stem, average, None, None if mean is None else plain(mean.item())
                )
            if values.classes is not None:
                for label, value in zip(classes, values.classes.tolist(), strict=True):
                    yield Score(spell(*stem, None, label), *stem, None, label, plain(value))


def plain(value: float | int) -> float | int | None:
    """Return a value as it leaves the package: None for NaN, which stands for undefined."""
    return value if math.isfinite(value) else None
