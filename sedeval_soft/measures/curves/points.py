"""Cells in the order of their scores, and what is detected at every threshold.

A cell with reference value y counts as a positive of weight y and a negative of weight 1 - y: for a
reference cut at a threshold, as one or the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.order import heads, in_order

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]
Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Ordered:
    """Cells by their scores.

    score: (n,) ascending. reference: (n,) their values, or whether they are active.
    """

    score: Floats
    reference: Array

    @classmethod
    def of(cls, score: Floats, reference: Array) -> Ordered:
        """Put cells in order; both arrays (n,), scores in [0, 1]."""
        found, order = in_order(score)
        return cls(found, reference[order])


@dataclass(frozen=True, slots=True)
class Points:
    """What is detected at every distinct score, (n_points,): thresholds from the highest down.

    score: the lowest score that is detected. tp, fp: weights of the positives and negatives among them.
    n_sys: how many they are.
    """

    score: Floats
    tp: Array
    fp: Array
    n_sys: Index

    @classmethod
    def of(cls, cells: Ordered) -> Points:
        """Count what is detected; equal scores are detected together."""
        n = len(cells.score)
        reference = cells.reference[::-1]
        # Summed from the top, and each by itself: what is small is not the difference of two large sums.
        hard = reference.dtype == np.bool_
        tp = np.cumsum(reference, dtype=np.int64 if hard else np.float64)
        first = heads(cells.score)
        n_sys = np.arange(1, n + 1)
        fp = n_sys - tp if hard else np.cumsum(1.0 - reference)
        if len(first) == n:
            return cls(cells.score[::-1], tp, fp, n_sys)
        last = n - 1 - first[::-1]
        return cls(cells.score[first[::-1]], tp[last], fp[last], n_sys[last])
