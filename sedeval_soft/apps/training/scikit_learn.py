"""Every score as a scorer of scikit-learn: for `cross_val_score`, `GridSearchCV` and the like.

It calls `sedeval_soft.evaluate`, and does not import scikit-learn.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from sedeval_soft.api import evaluate, settings_from
from sedeval_soft.arrays import Floats
from sedeval_soft.measures import family_of, measure_of
from sedeval_soft.settings import means_in, split_name

__all__ = ["scorer"]


def scorer(score: str = "segment.soft.f1.macro", **settings: Any) -> Callable[[Any, Any, Any], float]:  # noqa: ANN401
    """Return a scorer for `cross_val_score`, `GridSearchCV` and the like.

    score: the name of a score; one of which lower is better comes with its sign changed, as scikit-learn
        has it.
    settings: as of `sedeval_soft.evaluate`.

    Each row of X and y is a segment of one recording: y has the shape (n_segments, n_classes). The
    estimator's `predict_proba` is scored, or what `predict` returns, both clipped to [0, 1]. Undefined scores
    are NaN. Raises SettingsError for settings, UnknownScoreError for a name that no score has.
    """
    family = family_of(score)[0]
    # Nothing but its family is evaluated.
    asked = {"only": (f"{family.basis}.{family.reading}",), "measures": (family.group,) * bool(family.group)}
    head, own = split_name(score)
    more = {"variants": score} if own else {"means": means_in(head)}
    chosen = settings_from(None, {**asked, **more, **settings})
    sign = -1.0 if measure_of(score).direction == "lower" else 1.0

    def scored(estimator: Any, x: Any, y: Any) -> float:  # noqa: ANN401 - whatever the estimator takes
        reference = np.asarray(y, dtype=np.float64)
        system = np.clip(_probabilities(estimator, x), 0.0, 1.0)
        value = evaluate(reference, system, settings=chosen)[score]
        return math.nan if value is None else sign * value

    return scored


def _probabilities(estimator: Any, x: Any) -> Floats:  # noqa: ANN401 - as above
    """Return an estimator's values of each class, (n_segments, n_classes)."""
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
