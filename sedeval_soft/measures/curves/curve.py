"""What a class scores at every threshold, for plots and tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.measures.averages import ratio
from sedeval_soft.measures.curves.points import Points
from sedeval_soft.measures.detection import f_beta
from sedeval_soft.measures.threshold_counts import EVERYTHING, ThresholdCounts

Floats = npt.NDArray[np.float64]
Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Curve:
    """Counts of a class at every threshold, and what follows from them; NaN where that is undefined.

    threshold: (n,) ascending; each value holds up to the next one. tp, n_sys: (n,) counts, or weights where
    the reference is soft. n_ref: size of the reference. fp: (n,) false positives of cells; None for events,
    which have no true negatives to set them against.
    """

    threshold: Floats
    tp: Array
    n_sys: Array
    n_ref: float
    fp: Array | None = None

    @classmethod
    def of_points(cls, points: Points) -> Curve:
        """Return the curve of cells, from the threshold that detects all to the one that detects nothing."""
        counts = [
            np.append(column[::-1], column.dtype.type(0)) for column in (points.tp, points.n_sys, points.fp)
        ]
        threshold = np.append(EVERYTHING, points.score[::-1])
        return cls(threshold, counts[0], counts[1], counts[0][0].item(), counts[2])

    @classmethod
    def of_events(cls, table: ThresholdCounts, label: int) -> Curve:
        """Return the curve of a class of events."""
        threshold, counts = table.steps(label)
        return cls(threshold, counts[0], counts[1], int(table.n_ref[label]))

    @property
    def precision(self) -> Floats:
        """Return TP / N_sys, (n,)."""
        return ratio(self.tp, self.n_sys)

    @property
    def recall(self) -> Floats:
        """Return TP / N_ref, (n,): the true positive rate."""
        return ratio(self.tp, self._all(self.n_ref))

    @property
    def f1(self) -> Floats:
        """Return 2 TP / (N_ref + N_sys), (n,)."""
        values: Floats = f_beta(self.tp, self._all(self.n_ref), self.n_sys)
        return values

    @property
    def error_rate(self) -> Floats:
        """Return (FN + FP) / N_ref, (n,)."""
        n_ref = self._all(self.n_ref)
        return ratio(n_ref + self.n_sys - 2 * self.tp, n_ref)

    @property
    def false_positive_rate(self) -> Floats:
        """Return FP / (FP + TN), (n,): the ROC is `recall` over it."""
        if self.fp is None:
            return np.full(len(self.threshold), np.nan)
        return ratio(self.fp, self._all(self.fp[0]))

    @property
    def false_negative_rate(self) -> Floats:
        """Return FN / N_ref, (n,): the miss rate."""
        return ratio(self.n_ref - self.tp, self._all(self.n_ref))

    @property
    def det(self) -> tuple[Floats, Floats]:
        """Return the axes of the DET curve: inverse normal of false positive and false negative rate.

        (n,) each, NaN where a rate is 0 or 1 and has none. Source: Martin et al. 1997.
        """
        from scipy.special import ndtri

        axes = []
        for rate in (self.false_positive_rate, self.false_negative_rate):
            inside = (rate > 0) & (rate < 1)
            axes.append(np.where(inside, ndtri(np.where(inside, rate, 0.5)), np.nan))
        return axes[0], axes[1]

    def _all(self, value: float) -> Array:
        return np.full(len(self.threshold), value)
