"""Cells in the order of their scores, and what is detected at every threshold.

A cell with reference value y counts as a positive of weight y and a negative of weight 1 - y: for a
reference cut at a threshold, as one or the other.

Rates are compared: is a recall of 0.3 reached, is a false alarm rate at most 0.1? Sums of floats answer by
chance, for 0.1 + 0.2 is more than 0.3. So labels that are whole multiples of 1/D, such as decimals and shares
of annotators, are counted in multiples of it: in int64, exactly. See `Units`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.order import heads, in_order

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]
Array = npt.NDArray[Any]


_PARTS = (*range(2, 101), *(10**digits for digits in range(3, 10)))
"""Into how many parts of 1 labels may be divided, from few to many: shares of annotators, then decimals."""

_EXACT = 2**53
"""Whole numbers below it are floats, so that their quotient is rounded once."""

_SLACK = 1e-9
"""By how much a rate may miss what it is compared with where labels have no common unit."""

_SLACK_OF_SINGLES = 2.0**-22
"""The same where all labels are of single precision, which are up to 2^-25 away from what was meant."""


@dataclass(frozen=True, slots=True)
class Units:
    """In what the labels of cells are counted.

    whole: how many units are 1, so that every label is the float nearest to a whole number of units divided
    by it; 0 where there is no such number, and labels are summed as floats. slack: by which share of a total
    the sums of two rates that are equal may differ; 0 where they are exact.
    """

    whole: int = 1
    slack: float = 0.0

    @classmethod
    def of(cls, labels: Floats) -> Self:
        """Find the units of labels, (n,) in [0, 1]."""
        rest = labels[(labels > 0) & (labels < 1)]
        whole = 1
        while len(rest):
            first = float(rest[0])
            parts = next((n for n in _PARTS if round(first * n) / n == first), None)
            whole = 0 if parts is None else math.lcm(whole, parts)
            if not whole or whole * len(labels) >= _EXACT:
                single = np.array_equal(rest.astype(np.float32), rest)
                return cls(0, _SLACK_OF_SINGLES if single else _SLACK)
            rest = rest[np.rint(rest * whole) / whole != rest]
        return cls(whole)

    @classmethod
    def common(cls, parts: Iterable[Self], size: int) -> Self:
        """Return the units of all of some labels, `size` in all."""
        units = list(parts)
        whole = math.lcm(*(of.whole for of in units))
        if 0 < whole * max(size, 1) < _EXACT:
            return cls(whole)
        return cls(0, max((of.slack for of in units), default=0.0) or _SLACK)

    def counted(self, reference: Array) -> Array:
        """Return labels in units, int64; those without units, and a reference that is cut, as they are."""
        if reference.dtype == np.bool_ or not self.whole:
            return reference
        counted: Index = np.rint(reference * self.whole).astype(np.int64)
        return counted


@dataclass(frozen=True, slots=True)
class Ordered:
    """Cells by their scores.

    score: (n,) ascending. reference: (n,) their values, or whether they are active, or their values in units,
    int64, of which `whole` are 1.
    """

    score: Floats
    reference: Array
    whole: int = 1

    @classmethod
    def of(cls, score: Floats, reference: Array) -> Ordered:
        """Put cells in order; both arrays (n,), scores in [0, 1]."""
        found, order = in_order(score)
        return cls(found, reference[order])


@dataclass(frozen=True, slots=True)
class Points:
    """What is detected at every distinct score, (n_points,): thresholds from the highest down.

    score: the lowest score that is detected. tp, fp: weights of the positives and negatives among them, in
    the units of the cells. n_sys: how many they are.
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
        floats = reference.dtype == np.float64
        tp = np.cumsum(reference, dtype=np.float64 if floats else np.int64)
        first = heads(cells.score)
        n_sys = np.arange(1, n + 1)
        fp = np.cumsum(1.0 - reference) if floats else n_sys * cells.whole - tp
        if len(first) == n:
            return cls(cells.score[::-1], tp, fp, n_sys)
        last = n - 1 - first[::-1]
        return cls(cells.score[first[::-1]], tp[last], fp[last], n_sys[last])


@dataclass(frozen=True, slots=True)
class Gains:
    """The points of a curve at which positives are gained: all that areas are made of.

    tp, fp: weights of positives and negatives detected at them. before: TP until then. passed: FP just
    before. n_sys: cells detected. All (n,), thresholds from the highest down. end: FP where all is detected.
    whole: how many units of these weights are 1.
    """

    tp: Array
    before: Array
    fp: Array
    passed: Array
    n_sys: Index
    end: float
    whole: int = 1

    @classmethod
    def of(cls, cells: Ordered) -> Gains:
        """Count what is gained; equal scores are detected together."""
        if len(cells.score) and np.all(cells.score[1:] > cells.score[:-1]):
            return cls._one_by_one(cells.reference, cells.whole)
        points = Points.of(cells)
        before = np.append(points.tp.dtype.type(0), points.tp[:-1])
        at = np.flatnonzero(points.tp > before)
        passed = np.append(points.fp.dtype.type(0), points.fp[:-1])[at]
        end = points.fp[-1].item() if len(points.fp) else 0
        return cls(points.tp[at], before[at], points.fp[at], passed, points.n_sys[at], end, cells.whole)

    @classmethod
    def at_once(cls, tp: float, fp: float, n_sys: int, whole: int = 1) -> Gains:
        """Return what cells gain that all have one score."""
        kind = np.int64 if isinstance(tp, int) else np.float64
        if not tp:
            none = np.zeros(0, dtype=kind)
            return cls(none, none, none, none, none.astype(np.int64), fp, whole)
        tps, before, fps, passed = (np.array([value], dtype=kind) for value in (tp, 0, fp, 0))
        return cls(tps, before, fps, passed, np.array([n_sys]), fp, whole)

    @classmethod
    def _one_by_one(cls, reference: Array, whole: int) -> Gains:
        """Count where no two scores are equal: cells without anything positive need no look."""
        n = len(reference)
        at = np.flatnonzero(reference)[::-1]
        weight = reference[at]
        n_sys = n - at
        if reference.dtype != np.float64:
            counted = np.cumsum(weight, dtype=np.int64)
            until = counted - weight
            fp, passed = n_sys * whole - counted, (n_sys - 1) * whole - until
            return cls(counted, until, fp, passed, n_sys, n * whole - int(weight.sum()), whole)
        silent = n_sys - np.arange(1, len(at) + 1)
        tp, doubt = np.cumsum(weight), np.cumsum(1.0 - weight)
        before, known = (np.append(0.0, total[:-1]) if len(at) else total for total in (tp, doubt))
        end = n - len(at) + (doubt[-1].item() if len(at) else 0.0)
        return cls(tp, before, silent + doubt, silent + known, n_sys, end)
