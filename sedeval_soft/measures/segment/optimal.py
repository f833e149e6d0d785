"""The threshold of each class that gives its best F, exact over all distinct scores.

As in sed_scores_eval a segment is detected where score > threshold, ties go to the highest
threshold, and the threshold lies between the lowest detected score and the next lower one.
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
    """Return the shortest decimal near the middle that parts `below` from the lowest detected score.

    below: the highest score that is not detected, None where all are. Printed and read back, the
    number selects the same scores: below <= threshold < lowest, or below < threshold <= lowest
    for `inclusive`.
    """
    if below is None:
        if lowest <= 0.0:
            return 0.0 if inclusive else EVERYTHING
        below = 0.0
    middle = below + (lowest - below) / 2
    for digits in range(1, 18):
        threshold = round(middle, digits)
        if below < threshold < lowest:
            return threshold
    return lowest if inclusive else below
