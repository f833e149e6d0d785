"""Any score as a scorer of scikit-learn: a callable of an estimator, its input and the reference."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.adapters.wanted import settings_for
from sedeval_soft.api import evaluate
from sedeval_soft.measures.registry import measure_of

Floats = npt.NDArray[np.float64]


def scorer(score: str = "segment.soft.f1.macro", **settings: Any) -> Callable[[Any, Any, Any], float]:  # noqa: ANN401
    """Return a scorer for `cross_val_score`, `GridSearchCV` and the like.

    score: the name of a score; one of which lower is better comes with its sign changed, as scikit-learn
        has it.
    settings: as of `sedeval_soft.evaluate`.

    Each row of X and y is a segment of one recording: y has the shape (n_segments, n_classes). The
    estimator's `predict_proba` is scored, or what `predict` returns, both clipped to [0, 1]. What is
    undefined is NaN.
    """
    chosen = settings_for([score], settings)
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
    found = estimator.predict_proba(x)
    if not isinstance(found, list):
        return np.asarray(found, dtype=np.float64)
    # Of several outputs there is one array each, a column for each label that was seen in training.
    seen = zip(found, estimator.classes_, strict=True)
    return np.stack([_active(column, labels) for column, labels in seen], axis=-1)


def _active(probabilities: Floats, labels: Any) -> Floats:  # noqa: ANN401 - an array of labels
    """Return the probability of the label 1, 0 where it was never seen."""
    known = list(labels)
    return probabilities[:, known.index(1)] if 1 in known else np.zeros(len(probabilities))
