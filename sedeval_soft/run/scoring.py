"""From a tally to named scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

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
from sedeval_soft.measures.event.boundaries import COLUMNS, Deviations, deviation_scores
from sedeval_soft.measures.names import spell
from sedeval_soft.measures.registry import FAMILIES
from sedeval_soft.measures.segment.count import count_hard
from sedeval_soft.measures.segment.optimal import best_thresholds
from sedeval_soft.measures.segment.score import confusion_scores
from sedeval_soft.run.psds import psds_tables
from sedeval_soft.run.thresholds import optimal_events, optimal_intersections, optimal_table

Table = dict[str, Averaged]
Floats = npt.NDArray[np.float64]


def score_tally(tally: Tally, settings: Settings) -> dict[str, Score]:
    """Return all scores of a tally by name, in the order of the registry."""
    made: dict[tuple[str, str], Callable[[Tally, Settings], Table]] = {
        ("segment", "hard"): _hard_segments,
        ("segment", "optimal"): _optimal_segments,
        ("segment", "soft"): _soft_segments,
        ("event", "hard"): _hard_events,
        ("event", "optimal"): optimal_events,
        ("event", "soft"): lambda tally, settings: _detection(tally, "event.soft", settings),
        ("intersection", "hard"): lambda tally, settings: _detection(tally, "intersection.hard", settings),
        ("intersection", "optimal"): optimal_intersections,
        ("intersection", "soft"): lambda tally, settings: _detection(tally, "intersection.soft", settings),
    }
    tables = {family: make(tally, settings) for family, make in made.items() if settings.wants(*family)}
    if settings.wants_psds:
        for family, table in psds_tables(tally, settings).items():
            tables[family] = tables.get(family, {}) | table
    return {score.name: score for score in _named(tables, tally.classes)}


def _totals(tally: Tally, prefix: str) -> DetectionCounts:
    return DetectionCounts(*(tally.total(f"{prefix}.{name}") for name in (*PER_CLASS, *PER_FILE)))


def _detection(tally: Tally, prefix: str, settings: Settings) -> Table:
    return detection_scores(_totals(tally, prefix), settings.beta)


def _hard_segments(tally: Tally, settings: Settings) -> Table:
    counts, n_segments = _totals(tally, "segment.hard"), tally.total("segment.hard.n_segments")
    table = detection_scores(counts, settings.beta) | confusion_scores(counts, n_segments)
    return table | sed_eval.hard_scores(counts, n_segments) if settings.compat == "sed_eval" else table


def _hard_events(tally: Tally, settings: Settings) -> Table:
    counts = _totals(tally, "event.hard")
    table = detection_scores(counts, settings.beta)
    if settings.compat == "sed_eval":
        table |= sed_eval.hard_scores(counts, None)
    deviations = Deviations(*(tally.total(f"event.hard.{name}") for name in COLUMNS))
    return table | deviation_scores(deviations, tally.total("event.hard.matched"))


def _optimal_segments(tally: Tally, settings: Settings) -> Table:
    scores, positive = tally.samples["score"], tally.samples["positive"]
    thresholds = best_thresholds(scores, positive, settings.beta, settings.inclusive)
    detected = active(scores, thresholds[:, None], settings.inclusive)
    counts = count_hard(positive, detected, np.array([0, scores.shape[1]]))
    return optimal_table(counts, thresholds, settings)


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
            if values.classes is not None and measure.has_classes:
                for label, value in zip(classes, values.classes.tolist(), strict=True):
                    yield Score(spell(*stem, None, label), *stem, None, label, plain(value))


def plain(value: float | int) -> float | int | None:
    """Return a value as it leaves the package: None for NaN, which stands for undefined."""
    return value if math.isfinite(value) else None
