"""Every score as other libraries call their metrics: scikit-learn's scorers, Hugging Face's metrics.

They call `sedeval_soft.evaluate` and `Evaluator`, and import none of these libraries.

- `scorer(score, **settings)`: for `cross_val_score`, `GridSearchCV` and the like.
- `SoundEventMetric(scores, **settings)`: `add`, `add_batch` and `compute`, as a metric of `evaluate`.
- `trainer_metrics(scores, **settings)`: for `Trainer(compute_metrics=...)` of `transformers`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from sedeval_soft.api.evaluation import evaluate
from sedeval_soft.api.evaluator import Evaluator
from sedeval_soft.api.sources import settings_from
from sedeval_soft.arrays import Floats
from sedeval_soft.errors import SettingsError
from sedeval_soft.measures.registry import family_of, measure_of
from sedeval_soft.settings import Settings, means_in

__all__ = ["SoundEventMetric", "scorer", "trainer_metrics"]

DEFAULT = ("segment.soft.f1.micro", "segment.soft.f1.macro", "segment.soft.error_rate.micro")

PADDING = -100
"""What stands for no label in padded batches of `Trainer`."""

Numbers = dict[str, float | int | None]


def scorer(score: str = "segment.soft.f1.macro", **settings: Any) -> Callable[[Any, Any, Any], float]:  # noqa: ANN401
    """Return a scorer for `cross_val_score`, `GridSearchCV` and the like.

    score: the name of a score; one of which lower is better comes with its sign changed, as scikit-learn
        has it.
    settings: as of `sedeval_soft.evaluate`.

    Each row of X and y is a segment of one recording: y has the shape (n_segments, n_classes). The
    estimator's `predict_proba` is scored, or what `predict` returns, both clipped to [0, 1]. What is
    undefined is NaN.
    """
    chosen = _settings_for([score], settings)
    sign = -1.0 if measure_of(score).direction == "lower" else 1.0

    def scored(estimator: Any, x: Any, y: Any) -> float:  # noqa: ANN401 - whatever the estimator takes
        reference = np.asarray(y, dtype=np.float64)
        system = np.clip(_probabilities(estimator, x), 0.0, 1.0)
        value = evaluate(reference, system, settings=chosen)[score]
        return math.nan if value is None else sign * value

    return scored


def _probabilities(estimator: Any, x: Any) -> Floats:  # noqa: ANN401 - as above
    """Return what an estimator says of each class, (n_segments, n_classes)."""
    if not hasattr(estimator, "predict_proba"):
        return np.asarray(estimator.predict(x), dtype=np.float64)
    outputs = estimator.predict_proba(x)
    if not isinstance(outputs, list):
        return np.asarray(outputs, dtype=np.float64)
    # Of several outputs there is one array each, a column for each label that was seen in training.
    columns = [
        output[:, [*labels].index(1)] if 1 in [*labels] else np.zeros(len(output))
        for output, labels in zip(outputs, estimator.classes_, strict=True)
    ]
    return np.stack(columns, axis=-1)


class SoundEventMetric:
    """A metric with the methods of `evaluate.EvaluationModule`: predictions and references in, a dict out.

    Each item is a recording, an array of shape (n_segments, n_classes). Recordings may differ in length.

    scores: names of scores, the keys of what `compute` returns. settings: as of `sedeval_soft.evaluate`.
    """

    def __init__(self, scores: Sequence[str] = DEFAULT, **settings: Any) -> None:  # noqa: ANN401 - see Settings
        self._evaluator = Evaluator(_settings_for(scores, settings))
        self.scores = tuple(scores)
        self._count = 0

    def add(self, *, prediction: Any, reference: Any) -> None:  # noqa: ANN401 - what numpy makes an array of
        """Count one recording."""
        self._count += 1
        sides = (np.asarray(side, dtype=np.float64) for side in (reference, prediction))
        self._evaluator.update(*sides, files=f"item-{self._count:09}")

    def add_batch(self, *, predictions: Iterable[Any], references: Iterable[Any]) -> None:
        """Count several recordings."""
        ours, theirs = list(references), list(predictions)
        if len(ours) != len(theirs):
            raise SettingsError(
                f"{len(theirs)} predictions and {len(ours)} references; expected the same number"
            )
        for reference, prediction in zip(ours, theirs, strict=True):
            self.add(prediction=prediction, reference=reference)

    def compute(
        self, *, predictions: Iterable[Any] | None = None, references: Iterable[Any] | None = None
    ) -> Numbers:
        """Return the scores of all recordings by name, None where undefined, and begin anew."""
        if (predictions is None) != (references is None):
            raise SettingsError("expected both predictions and references, or neither")
        try:
            if predictions is not None and references is not None:
                self.add_batch(predictions=predictions, references=references)
            scores = self._evaluator.compute()
            return {name: scores[name] for name in self.scores}
        finally:
            self._evaluator.reset()
            self._count = 0


def trainer_metrics(
    scores: Sequence[str] = DEFAULT,
    *,
    from_logits: bool = True,
    **settings: Any,  # noqa: ANN401 - fields of Settings
) -> Callable[[Any], Numbers]:
    """Return what `Trainer(compute_metrics=...)` of `transformers` takes.

    It scores `predictions` (the first of them if there are several) and `label_ids`, (n_recordings,
    n_segments, n_classes) each. Segments whose labels are -100, as `Trainer` pads them, are left out.
    from_logits: whether predictions go through a sigmoid first. scores, settings: as of `SoundEventMetric`.
    """
    metric = SoundEventMetric(scores, **settings)

    def compute_metrics(evaluated: Any) -> Numbers:  # noqa: ANN401 - an EvalPrediction
        outputs, labels = evaluated.predictions, np.asarray(evaluated.label_ids, dtype=np.float64)
        raw = np.asarray(outputs[0] if isinstance(outputs, tuple) else outputs, dtype=np.float64)
        if raw.shape != labels.shape or raw.ndim != 3:
            raise SettingsError(
                f"predictions of shape {raw.shape}, labels of shape {labels.shape}; expected one shape, "
                "(recordings, segments, classes)"
            )
        # A sigmoid: by the hyperbolic tangent nothing overflows.
        probabilities = 0.5 * (1.0 + np.tanh(0.5 * raw)) if from_logits else raw
        labelled = [np.any(item != PADDING, axis=-1) for item in labels]
        return metric.compute(
            predictions=[item[rows] for item, rows in zip(probabilities, labelled, strict=True)],
            references=[item[rows] for item, rows in zip(labels, labelled, strict=True)],
        )

    return compute_metrics


def _settings_for(scores: Sequence[str], settings: Mapping[str, Any]) -> Settings:
    """Return settings with which nothing but the families of some scores is evaluated.

    Raises SettingsError for no score at all and for settings, ScoreNameError for a name that no score has.
    """
    if isinstance(scores, str) or not scores:
        raise SettingsError(f"scores {scores!r}: expected a list of names such as segment.soft.f1.macro")
    families = [family_of(name)[0] for name in scores]
    only = dict.fromkeys(f"{family.basis}.{family.reading}" for family in families)
    groups = {family.group for family in families if family.group}
    asked = {"only": tuple(only), "measures": tuple(sorted(groups))}
    asked["means"] = tuple(dict.fromkeys(mean for name in scores for mean in means_in(name)))
    return settings_from(None, {**asked, **settings})
