"""The threshold of each class that gives its best F, exact over all distinct scores.

As in sed_scores_eval a segment is detected where score > threshold, ties go to the highest
threshold, and the threshold is the middle between the lowest detected score and the next lower one.
F can only be best right below the score of a positive: taking in a negative alone lowers it. So
two sorts per class are enough.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.order import heads
from sedeval_soft.core.threads import for_each

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

NOTHING = math.inf
"""The threshold of a class without reference: nothing is detected. It is undefined when shown."""

EVERYTHING = -1.0
"""The threshold below every score: everything is detected, segments without any score too."""


def best_thresholds(scores: Floats, positive: Bools, beta: float = 1.0, inclusive: bool = False) -> Floats:
    """Return for each class the threshold with the best F, shape (n_classes,).

    scores: (n_classes, n_segments) in [0, 1]. positive: the same shape.
    """

    def best(label: int) -> float:
        return _best(scores[label], scores[label][positive[label]], beta, inclusive)

    return np.array(for_each(best, range(len(scores)), scores.size), dtype=np.float64)


def _best(scores: Floats, hits: Floats, beta: float, inclusive: bool) -> float:
    if not len(hits):
        return NOTHING
    ordered, hits = np.sort(scores), np.sort(hits)
    first = heads(hits)
    below = np.searchsorted(ordered, hits[first], side="left")
    n_ref, square = len(hits), beta * beta
    # F as in detection.f_beta; there is a reference, so that nothing is undefined.
    f = (1.0 + square) * (n_ref - first) / (square * n_ref + (len(ordered) - below))
    best = len(f) - 1 - int(np.argmax(f[::-1]))
    lowest = float(hits[first[best]])
    rank = int(below[best])
    return threshold_between(float(ordered[rank - 1]) if rank else None, lowest, inclusive)


def threshold_between(below: float | None, lowest: float, inclusive: bool = False) -> float:
    """Return the middle between `below` and the lowest detected score, one threshold of `thresholds_between`.

    below: None where all scores are detected.
    """
    low = math.nan if below is None else below
    return float(thresholds_between(np.array([low]), np.array([lowest]), inclusive=inclusive)[0])


def thresholds_between(below: Floats, lowest: Floats, *, inclusive: bool) -> Floats:
    """Return the middles between the highest scores that are not detected and the lowest that are, (n,).

    below, lowest: (n,) in [0, 1], below < lowest; below is NaN where all scores are detected. Such a middle
    is that to 0, which is the value of what has no score; a `lowest` of 0 has EVERYTHING.

    Half the sum of two floats is the exact middle, rounded once: rounding keeps the order, so that it is at
    least the lower and at most the higher. Where it is the one that must not be, as between two floats next
    to each other, the other one is taken: below <= threshold < lowest, or below < threshold <= lowest for
    `inclusive`. Scores that are all multiplied by a power of two have thresholds multiplied by it.
    """
    everything = np.isnan(below) & (lowest <= 0.0)
    low = np.where(np.isnan(below), 0.0, below)
    middle = (low + lowest) / 2
    found = np.where(middle > low, middle, lowest) if inclusive else np.where(middle < lowest, middle, low)
    return np.where(everything, 0.0 if inclusive else EVERYTHING, found)
