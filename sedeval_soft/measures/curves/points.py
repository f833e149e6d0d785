"""Cells in the order of their scores, and what is detected at every threshold.

A cell with reference value y counts as a positive of weight y and a negative of weight 1 - y: for a
reference cut at a threshold, as one or the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.order import ascending, heads

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
        order = ascending(score)
        return cls(score[order], reference[order])


@dataclass(frozen=True, slots=True)
class Points:
    """What is detected at every distinct score, (n_points,): thresholds from the highest down.

    score: the lowest score that is detected. tp: weight of the positives among them. n_sys: how many they
    are. n_ref: weight of all positives. size: how many cells there are.
    """

    score: Floats
    tp: Array
    n_sys: Index
    n_ref: float
    size: int

    @classmethod
    def of(cls, cells: Ordered) -> Points:
        """Count what is detected; equal scores are detected together."""
        n = len(cells.score)
        # Summed from the top: few positives are not the difference of two large sums.
        dtype = np.int64 if cells.reference.dtype == np.bool_ else np.float64
        tp = np.cumsum(cells.reference[::-1], dtype=dtype)
        first = heads(cells.score)
        total = tp[-1].item() if n else 0
        if len(first) == n:
            return cls(cells.score[::-1], tp, np.arange(1, n + 1), total, n)
        n_sys = n - first[::-1]
        return cls(cells.score[first[::-1]], tp[n_sys - 1], n_sys, total, n)
