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


@dataclass(frozen=True, slots=True)
class Gains:
    """The points of a curve at which positives are gained: all that areas are made of.

    tp, fp: weights of positives and negatives detected at them. before: TP until then. passed: FP just
    before. n_sys: cells detected. All (n,), thresholds from the highest down. end: FP where all is detected.
    """

    tp: Array
    before: Array
    fp: Array
    passed: Array
    n_sys: Index
    end: float

    @classmethod
    def of(cls, cells: Ordered) -> Gains:
        """Count what is gained; equal scores are detected together."""
        if len(cells.score) and np.all(cells.score[1:] > cells.score[:-1]):
            return cls._one_by_one(cells.reference)
        points = Points.of(cells)
        before = np.append(points.tp.dtype.type(0), points.tp[:-1])
        at = np.flatnonzero(points.tp > before)
        passed = np.append(points.fp.dtype.type(0), points.fp[:-1])[at]
        end = points.fp[-1].item() if len(points.fp) else 0
        return cls(points.tp[at], before[at], points.fp[at], passed, points.n_sys[at], end)

    @classmethod
    def at_once(cls, tp: float, fp: float, n_sys: int) -> Gains:
        """Return what cells gain that all have one score."""
        if not tp:
            none = np.zeros(0)
            return cls(none, none, none, none, none.astype(np.int64), fp)
        tps, before, fps, passed = (np.array([value]) for value in (tp, 0.0, fp, 0.0))
        return cls(tps, before, fps, passed, np.array([n_sys]), fp)

    @classmethod
    def _one_by_one(cls, reference: Array) -> Gains:
        """Count where no two scores are equal: cells without anything positive need no look."""
        n = len(reference)
        at = np.flatnonzero(reference)[::-1]
        weight = reference[at]
        n_sys = n - at
        silent = n_sys - np.arange(1, len(at) + 1)
        if reference.dtype == np.bool_:
            tp = np.arange(1, len(at) + 1)
            return cls(tp, tp - 1, silent, silent, n_sys, n - len(at))
        tp, doubt = np.cumsum(weight), np.cumsum(1.0 - weight)
        before, known = (np.append(0.0, total[:-1]) if len(at) else total for total in (tp, doubt))
        end = n - len(at) + (doubt[-1].item() if len(at) else 0.0)
        return cls(tp, before, silent + doubt, silent + known, n_sys, end)
