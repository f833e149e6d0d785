"""The best F of all classes together, at thresholds of their own, or at one for all.

Micro F pools the counts of classes, so the threshold that is best for a class alone need not be best for all.
F is a ratio of sums over classes: for a given value f, the classes part, each maximising
(1 + b^2) TP - f N_sys by itself; the F that these reach is the next f, until it is not higher. A few rounds
do. Source: Dinkelbach 1967.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sedeval_soft.measures.averages import Averaged
from sedeval_soft.measures.candidates import Candidates, f_merit
from sedeval_soft.measures.detection import f_beta

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

_AT_ONCE = 1 << 18
"""Numbers in the arrays of all classes that are made for some weights."""


def joint_scores(
    classes: Sequence[Candidates], pooled: Candidates, weights: Floats, beta: float, *, inclusive: bool
) -> dict[str, Averaged]:
    """Return the best micro F of weighted files, and the thresholds that reach it, by name.

    classes: the candidates of each class. pooled: those of all classes as one. weights: (n_weights, n_files).
    """
    at, best = joint_best(classes, weights, beta)
    thresholds = [own.thresholds(weights, at[:, c], inclusive=inclusive) for c, own in enumerate(classes)]
    single = pooled.best(weights, [f_merit(beta)])[0]
    f = f_beta(single.tp, single.n_ref, single.n_sys, beta)
    none = np.zeros((len(weights), 0))
    return {
        "joint_f": Averaged(None, overall=best),
        "joint_threshold": Averaged(np.stack(thresholds, axis=1) if thresholds else none),
        "single_f": Averaged(None, overall=np.where(single.n_ref > 0, f, np.nan)),
        "single_threshold": Averaged(
            None, overall=pooled.thresholds(weights, single.at, inclusive=inclusive)
        ),
    }


def joint_best(classes: Sequence[Candidates], weights: Floats, beta: float) -> tuple[Index, Floats]:
    """Return the positions of the thresholds with the best micro F of each weights, and that F.

    Positions are (n_weights, n_classes), -1 where nothing of a class is detected; F is (n_weights,), NaN
    where there is no reference.
    """
    rows = max(1, _AT_ONCE // max(sum(len(own.value) for own in classes), 1))
    parts = [_best(classes, weights[i : i + rows], beta) for i in range(0, len(weights), rows)]
    at, best = (np.concatenate(column) for column in zip(*parts, strict=True))
    return at, best


def _best(classes: Sequence[Candidates], weights: Floats, beta: float) -> tuple[Index, Floats]:
    square, row = beta * beta, np.arange(len(weights))
    counts = [(own.tp.weighted(weights), own.n_sys.weighted(weights)) for own in classes]
    n_ref = sum((weights @ own.n_ref for own in classes), np.zeros(len(weights)))
    at, best = np.full((len(weights), len(classes)), -1), np.zeros(len(weights))
    while True:
        found, tp, n_sys = np.full_like(at, -1), np.zeros(len(weights)), np.zeros(len(weights))
        for c, (hits, detections) in enumerate(counts):
            if not hits.shape[1]:
                continue
            gain = (1.0 + square) * hits - best[:, None] * detections
            place = np.argmax(gain, axis=1)
            # Where nothing is gained, nothing of the class is detected.
            worth = gain[row, place] > 0
            found[:, c] = np.where(worth, place, -1)
            tp += np.where(worth, hits[row, place], 0.0)
            n_sys += np.where(worth, detections[row, place], 0.0)
        f = f_beta(tp, n_ref, n_sys, beta)
        better = f > best
        if not better.any():
            return at, np.where(n_ref > 0, best, np.nan)
        best = np.where(better, f, best)
        at = np.where(better[:, None], found, at)
