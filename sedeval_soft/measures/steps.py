"""Counts of every class as step functions of the system's threshold.

Events exist for intervals of levels, so counts of events change only where one is born or dies. A step is
a stretch of thresholds low <= t < high without change. Whatever is best over all thresholds is best on a
step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.measures.averages import ratio
from sedeval_soft.measures.detection import f_beta
from sedeval_soft.measures.segment.optimal import NOTHING, threshold_between

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

Changes = tuple[npt.NDArray[np.integer[Any]], Floats, Floats]
"""Classes, and the levels at which something of them begins and ends to count, each (n,)."""

Weights = Index | int
"""How much each of them counts, (n,) or one for all."""


@dataclass(frozen=True, slots=True)
class Steps:
    """TP and N_sys of all classes as step functions of the system's threshold.

    label: (n,) classes in ascending order. low: (n,) within a class ascending: the step holds for
    thresholds from it to the next one's, the last of a class from it up. tp, n_sys: (n,) counts.
    n_ref: (n_classes,).
    """

    label: Index
    low: Floats
    tp: Index
    n_sys: Index
    n_ref: Index

    @property
    def bounds(self) -> Index:
        """Return where the steps of each class begin, and the end of the last, (n_classes + 1,)."""
        return np.searchsorted(self.label, np.arange(len(self.n_ref) + 1))

    def f(self, beta: float = 1.0) -> Floats:
        """Return F at every step, (n,)."""
        values: Floats = f_beta(self.tp, self.n_ref[self.label], self.n_sys, beta)
        return values

    def error_rate(self) -> Floats:
        """Return the error rate of the class, (FN + FP) / N_ref, at every step, (n,)."""
        n_ref = self.n_ref[self.label]
        return ratio(n_ref + self.n_sys - 2 * self.tp, n_ref)


def stacked(
    n_classes: int, columns: Sequence[Sequence[tuple[Changes, Weights]]]
) -> tuple[Index, Floats, Index]:
    """Return counts as step functions: classes, lowest thresholds and the counts of each step.

    columns: for each count what adds to it: who counts when, and how much. Every class has a step at
    threshold 0. Returns label (m,), low (m,) and counts (n_columns, m), int64.
    """
    parts = [(row, *part) for row, column in enumerate(columns) for part in column]
    sizes = [n_classes, *(len(changes[0]) for _, changes, _ in parts for _ in (0, 1))]
    ends = np.cumsum([0, *sizes])
    label, level = np.zeros(ends[-1], dtype=np.int64), np.zeros(ends[-1])
    change = np.zeros((len(columns), ends[-1]), dtype=np.int64)
    label[:n_classes] = np.arange(n_classes)
    for number, (row, (labels, born, dies), weight) in enumerate(parts):
        for end, (levels, sign) in enumerate(((born, 1), (dies, -1))):
            place = slice(int(ends[1 + 2 * number + end]), int(ends[2 + 2 * number + end]))
            label[place], level[place], change[row, place] = labels, levels, sign * weight
    order = np.lexsort((level, label))
    label, level = label[order], level[order]
    counts = np.cumsum(change[:, order], axis=1)
    last = np.ones(len(label), dtype=bool)
    last[:-1] = (np.diff(label) != 0) | (np.diff(level) != 0)
    return label[last], level[last], counts[:, last]


def best_f_thresholds(steps: Steps, beta: float = 1.0, inclusive: bool = False) -> Floats:
    """Return for each class the threshold with the best F, (n_classes,); ties go to the highest.

    A class without reference has no best threshold: NOTHING, at which nothing is detected.
    """
    return _best(steps, steps.f(beta), inclusive)[0]


def best_error_rate_thresholds(steps: Steps, inclusive: bool = False) -> tuple[Floats, Index]:
    """Return for each class the threshold with the lowest error rate, and its step, each (n_classes,)."""
    return _best(steps, -steps.error_rate(), inclusive)


def _best(steps: Steps, merit: Floats, inclusive: bool) -> tuple[Floats, Index]:
    bounds = steps.bounds
    thresholds, at = np.full(len(steps.n_ref), NOTHING), np.zeros(len(steps.n_ref), dtype=np.int64)
    for label in np.flatnonzero(steps.n_ref):
        begin, end = int(bounds[label]), int(bounds[label + 1])
        best = end - 1 - int(np.argmax(merit[begin:end][::-1]))
        at[label] = best
        if best + 1 < end:
            thresholds[label] = threshold_between(
                float(steps.low[best]), float(steps.low[best + 1]), inclusive
            )
        else:
            # Nothing detected is best: the highest threshold is one that no value passes.
            thresholds[label] = 2.0 if inclusive else 1.0
    return thresholds, at
