"""Scores of windows and classes, to the last bit as scikit-learn 1.9 makes them.

Only what the evaluators here call: precision, recall, F, accuracy, average precision and the area under the
ROC, with 0 where something is divided by 0, and NaN for an area without a window of each kind.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sedeval_soft.arrays import Array, Bools, Floats
from sedeval_soft.sorting import heads


def _counts(truth: Bools, active: Bools) -> Floats:
    """Return by class the windows that are both, active and annotated, (3, n_classes)."""
    return np.array([(truth & active).sum(axis=0), active.sum(axis=0), truth.sum(axis=0)], dtype=np.float64)


def _detection(name: str, counts: Floats) -> Floats:
    """Return precision, recall or F by class; 0 / 0 is 0."""
    both, active, annotated = counts
    if name == "f1":
        both, size = 2 * both, active + annotated
    else:
        size = active if name == "precision" else annotated
    quotient: Floats = np.divide(both, size, out=np.zeros(len(both)), where=size > 0)
    return quotient


def class_scores(name: str, truth: Bools, scores: Array, active: Bools) -> Floats:
    """Return a score of each class, (n_classes,).

    name: auroc, ap, precision, recall, f1 or accuracy. truth, scores, active: (n_windows, n_classes).
    """
    if name == "accuracy":
        return np.asarray(np.mean(truth == active, axis=0))
    if name in _CURVES:
        return np.array([_CURVES[name](*column) for column in zip(truth.T, scores.T, strict=True)])
    return _detection(name, _counts(truth, active))


def overall_score(name: str, truth: Bools, scores: Array, active: Bools, average: str) -> float:
    """Return a score of classes together, each of which is annotated somewhere.

    average: macro, micro, weighted, or binary where there is but one class in all.
    Of a single column scikit-learn takes windows without the class for another class, unless the average is
    `binary`: precision, recall and F are averages of both then, curves are those of the class.
    """
    single = truth.shape[1] == 1
    weight = truth.sum(axis=0)
    if name in _CURVES and average == "micro":
        return _CURVES[name](truth.ravel(), scores.ravel())
    values = class_scores(name, truth, scores, active)
    if (name in _CURVES and single) or average == "binary":
        return float(values[0])
    if name not in (*_CURVES, "accuracy"):
        counts = _counts(truth, active)
        if single:
            other = _counts(~truth, ~active)
            counts = np.hstack([other, counts] if other[1:].any() else [counts])
        if average == "micro":
            counts = counts.sum(axis=1, keepdims=True)
        values, weight = _detection(name, counts), counts[2]
    if average == "weighted":
        return float(np.average(values, weights=weight))
    return float(np.mean(truth == active) if name == "accuracy" and average == "micro" else np.mean(values))


def _steps(truth: Bools, scores: Array) -> tuple[Floats, Floats]:
    """Return true and false positives at each distinct score, from the highest on, (n_scores,)."""
    order = np.argsort(scores, kind="stable")[::-1]
    last = np.append(heads(scores[order])[1:], len(order)) - 1
    tp = np.cumsum(truth[order], dtype=np.float64)[last]
    return tp, 1.0 + last - tp


def _auroc(truth: Bools, scores: Array) -> float:
    tp, fp = _steps(truth, scores)
    if not tp[-1] or not fp[-1]:
        return float("nan")
    if len(tp) > 2:
        # Points on a line between others are left out: the area is the same, its last digit may not be.
        corner = np.concatenate(([True], (np.diff(fp, 2) != 0) | (np.diff(tp, 2) != 0), [True]))
        tp, fp = tp[corner], fp[corner]
    tpr, fpr = (np.append(0.0, rate) / rate[-1] for rate in (tp, fp))
    return float((np.diff(fpr) * (tpr[1:] + tpr[:-1]) / 2).sum())


def _average_precision(truth: Bools, scores: Array) -> float:
    tp, fp = _steps(truth, scores)
    recall = tp / tp[-1] if tp[-1] else np.ones(len(tp))
    gain = np.diff(np.append(recall[::-1], 0.0))
    return float(max(0.0, -np.sum(gain * (tp / (tp + fp))[::-1])))


_CURVES: dict[str, Callable[[Bools, Array], float]] = {"auroc": _auroc, "ap": _average_precision}
