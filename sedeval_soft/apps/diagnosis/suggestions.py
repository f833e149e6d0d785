"""Settings that raise F: thresholds and post-processing, tried on the files that are scored."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sedeval_soft.api import Evaluation, evaluate_rows, is_points
from sedeval_soft.apps.diagnosis.results import Suggestion, measure_of_f
from sedeval_soft.errors import EvaluationError
from sedeval_soft.evaluation import Scores
from sedeval_soft.fields import FIELDS

_LENGTHS: dict[str, tuple[float, ...]] = {
    "min_gap": (0.1, 0.2, 0.5, 1.0),
    "min_duration": (0.1, 0.2, 0.5, 1.0),
    "median_filter": (0.3, 0.5, 1.0, 2.0),
}
"""Post-processing that is tried, in seconds."""


def suggestions_of(evaluation: Evaluation) -> Iterator[Suggestion]:
    """Yield settings with which the micro F of hard events, or else segments, rises: all were tried."""
    settings, sides = evaluation.scores.settings, evaluation.sides
    basis = "event" if settings.wants("event", "hard") else "segment"
    if sides is None or not settings.wants(basis, "hard"):
        return
    f, score = measure_of_f(settings), f"{basis}.hard.{measure_of_f(settings)}.micro"
    tried = replace(settings, only=(f"{basis}.hard",), ci=None, measures=(), groups={}, scenes={})

    def scores(**changed: Any) -> Scores:  # noqa: ANN401 - settings
        return evaluate_rows(*sides, replace(tried, **changed), evaluation.shard.durations)

    points, found = is_points(sides[1]), list[tuple[str, float | None]]()
    if points or sides[1].has_values:
        best = scores(only=(f"{basis}.optimal",), measures=("joint",))
        found.append(("the best threshold of each class (`tune`)", best[f"{basis}.optimal.{f}.micro"]))
        single = None if points else best[f"{basis}.optimal.single_threshold"]
        if single is not None:
            # The threshold of the reference stays as it is.
            beside = f" --reference-threshold {settings.reference_cut:g}" if sides[0].has_values else ""
            after = scores(threshold=single, reference_threshold=settings.reference_cut)[score]
            found.append((f"--threshold {single}{beside}", after))
    if not (points or settings.postprocesses or settings.events == "rows"):
        for name, lengths in _LENGTHS.items():
            # A median filter needs a fixed time step, and may need more memory than there is.
            with contextlib.suppress(EvaluationError):
                values = {length: scores(**{name: length})[score] or 0.0 for length in lengths}
                most = max(values, key=lambda length: (values[length], -length))
                found.append((FIELDS[name].typed(f"{most:g}"), values[most]))
    before = float(evaluation.scores[score] or 0.0)
    for changed, after in found:
        if after is not None and after > before:
            yield Suggestion(changed, score, before, float(after))
