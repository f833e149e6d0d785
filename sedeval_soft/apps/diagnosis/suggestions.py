"""Settings that raise F: thresholds and post-processing, tried on the files that are scored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from sedeval_soft.api import Evaluation, evaluate_rows, is_points
from sedeval_soft.apps.diagnosis.results import Suggestion, measure_of_f
from sedeval_soft.errors import EvaluationError
from sedeval_soft.evaluation import Scores
from sedeval_soft.fields import FIELDS
from sedeval_soft.settings import Settings
from sedeval_soft.tables import TICKS_PER_SECOND, EventTable
from sedeval_soft.timeline import Recordings, time_step

_LENGTHS: dict[str, tuple[float, ...]] = {
    "min_gap": (0.1, 0.2, 0.5, 1.0),
    "min_duration": (0.1, 0.2, 0.5, 1.0),
    "median_filter": (0.3, 0.5, 1.0, 2.0),
}
"""Post-processing that is tried, in seconds."""

_MOST_CELLS = 10_000_000
"""Time steps of all classes up to which median filters are tried: 0.1 s or so for each."""

_AS_GOOD = 0.1
"""The part of the gain of the best threshold that a threshold of few digits may give up."""


def plain(settings: Settings) -> Settings:
    """Return the settings of an evaluation that is tried: no more than F itself."""
    return replace(settings, ci=None, measures=(), groups={}, scenes={})


def suggestions_of(evaluation: Evaluation, pair: Recordings, best: Scores | None) -> Iterator[Suggestion]:
    """Yield settings with which the micro F of hard events, or else segments, rises: all were tried.

    best: the scores at the best thresholds, None of systems without values.
    """
    settings, sides = evaluation.scores.settings, evaluation.sides
    basis = "event" if settings.wants("event", "hard") else "segment"
    if sides is None or not settings.wants(basis, "hard"):
        return
    tried = replace(plain(settings), only=(f"{basis}.hard",))
    score = f"{basis}.hard.{measure_of_f(settings)}.micro"
    before = float(evaluation.scores[score] or 0.0)

    def value(**changed: Any) -> float:  # noqa: ANN401 - settings
        return evaluate_rows(*sides, replace(tried, **changed), evaluation.shard.durations)[score] or 0.0

    points = is_points(sides[1])
    if best is not None:
        after = best[f"{basis}.optimal.{measure_of_f(settings)}.micro"]
        if after is not None and after > before:
            yield Suggestion("the best threshold of each class (`tune`)", score, before, float(after))
    if best is not None and not points:
        yield from _single_threshold(best, basis, score, before, value, reference=sides[0])
    if points or settings.postprocesses or settings.events == "rows":
        return
    for name, lengths in _LENGTHS.items():
        if name == "median_filter" and not _filtered_soon(sides[1], pair):
            continue
        values = {length: value(**{name: length}) for length in lengths}
        most = max(values, key=lambda length: (values[length], -length))
        if values[most] > before:
            yield Suggestion(FIELDS[name].typed(f"{most:g}"), score, before, values[most])


def _filtered_soon(rows: EventTable, pair: Recordings) -> bool:
    """Return whether the median filter knows the time step of a system, and takes no minutes."""
    try:
        steps = pair.reach.sum() * TICKS_PER_SECOND / time_step(rows)
    except EvaluationError:
        return False
    return bool(steps * len(rows.classes) <= _MOST_CELLS)


def _single_threshold(
    best: Scores,
    basis: str,
    score: str,
    before: float,
    value: Callable[..., float],
    *,
    reference: EventTable,
) -> Iterator[Suggestion]:
    """Yield the best threshold for all classes, in few digits, if F rises with it.

    The threshold of the reference stays unchanged, which a note must explain if the reference has values.
    """
    threshold, f = (best[f"{basis}.optimal.single_{name}"] for name in ("threshold", "f"))
    if threshold is None or f is None or f <= before:
        return
    cut = best.settings.reference_cut
    beside = f" --reference-threshold {cut:g}" if reference.has_values else ""
    for digits in (2, 3, 4, 6, 17):
        short = float(f"{threshold:.{digits}g}")
        after = value(threshold=short, reference_threshold=cut) if 0 <= short <= 1 else 0.0
        if after > before and after >= f - _AS_GOOD * (f - before):
            yield Suggestion(f"--threshold {short}{beside}", score, before, after)
            return
