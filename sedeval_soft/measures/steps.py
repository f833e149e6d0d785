"""Counts of every class as step functions of the system's threshold.

Events exist for intervals of levels, so counts of events change only where one is born or dies. A step is
a stretch of thresholds low <= t < high without change. Whatever is best over all thresholds is best on a
step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.order import heads
from sedeval_soft.core.threads import for_each
from sedeval_soft.measures.averages import ratio
from sedeval_soft.measures.detection import f_beta
from sedeval_soft.measures.segment.optimal import NOTHING, threshold_between

if TYPE_CHECKING:
    from sedeval_soft.measures.curves.curve import Curve

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]


class Changes(NamedTuple):
    """When something counts, each (n,): of which class and file, and for thresholds born <= t < dies."""

    label: npt.NDArray[np.integer[Any]]
    file: npt.NDArray[np.integer[Any]]
    born: Floats
    dies: Floats


Weights = Index | int
"""How much each of them counts, (n,) or one for all."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What counts at which thresholds: true positives and system events, and the reference's events.

    n_ref: (n_files, n_classes) events of the reference, which no threshold changes. beside: whether `rest`
    comes to TP to make N_sys, or is N_sys itself.
    """

    tp: Sequence[tuple[Changes, Weights]]
    rest: Sequence[tuple[Changes, Weights]]
    n_ref: Index
    beside: bool = False

    @property
    def n_sys(self) -> Sequence[tuple[Changes, Weights]]:
        """What adds to N_sys."""
        return [*self.tp, *self.rest] if self.beside else self.rest


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

    @classmethod
    def of(cls, counted: Counted) -> Steps:
        """Return the counts of all files together."""
        n_ref = counted.n_ref.sum(axis=0)
        label, low, (tp, rest) = stacked(len(n_ref), [counted.tp, counted.rest])
        return cls(label, low, tp, tp + rest if counted.beside else rest, n_ref)

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


def curves(steps: Steps) -> list[Curve]:
    """Return the curve of each class."""
    from sedeval_soft.measures.curves.curve import Curve

    bounds = steps.bounds
    found = []
    for label, n_ref in enumerate(steps.n_ref.tolist()):
        own = slice(int(bounds[label]), int(bounds[label + 1]))
        found.append(Curve(steps.low[own], steps.tp[own], steps.n_sys[own], n_ref))
    return found


def stacked(
    n_classes: int, columns: Sequence[Sequence[tuple[Changes, Weights]]]
) -> tuple[Index, Floats, Index]:
    """Return counts as step functions: classes, lowest thresholds and the counts of each step.

    columns: for each count what adds to it: who counts when, and how much. Every class has a step at
    threshold 0. Returns label (m,), low (m,) and counts (n_columns, m), int64.
    """
    parts = [
        (row, _by_class(changes, weight, n_classes))
        for row, column in enumerate(columns)
        for changes, weight in column
    ]

    def of_class(c: int) -> tuple[Floats, Index]:
        own = [(row, part(c)) for row, part in parts]
        low = np.sort(np.concatenate([np.zeros(1), *(ends for _, part in own for ends in part[:2])]))
        low = low[heads(low)]
        count = np.zeros((len(columns), len(low)), dtype=np.int64)
        for row, (born, dies, weight) in own:
            count[row] += _so_far(born, weight, low) - _so_far(dies, weight, low)
        return low, count

    size = sum(len(changes.label) for column in columns for changes, _ in column)
    found = for_each(of_class, range(n_classes), size)
    label = np.repeat(np.arange(n_classes), [len(low) for low, _ in found])
    if not n_classes:
        return label, np.zeros(0), np.zeros((len(columns), 0), dtype=np.int64)
    return label, np.concatenate([low for low, _ in found]), np.concatenate([c for _, c in found], axis=1)


def _by_class(
    changes: Changes, weight: Weights, n_classes: int
) -> Callable[[int], tuple[Floats, Floats, Weights]]:
    """Return a function that gives the births, deaths and weights of a class."""
    label, _, born, dies = changes
    if np.any(label[1:] < label[:-1]):
        # Small integers are sorted by their digits.
        order = np.argsort(label.astype(np.uint16) if n_classes <= 2**16 else label, kind="stable")
        label, born, dies = label[order], born[order], dies[order]
        weight = weight[order] if isinstance(weight, np.ndarray) else weight
    bounds = np.searchsorted(label, np.arange(n_classes + 1))

    def of_class(c: int) -> tuple[Floats, Floats, Weights]:
        own = slice(int(bounds[c]), int(bounds[c + 1]))
        return born[own], dies[own], weight[own] if isinstance(weight, np.ndarray) else weight

    return of_class


def _so_far(level: Floats, weight: Weights, low: Floats) -> Index:
    """Return the weight of all that lies at or below each of some ascending levels."""
    if not isinstance(weight, np.ndarray):
        return weight * np.searchsorted(np.sort(level), low, side="right")
    order = np.argsort(level)
    sums = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(weight[order])))
    found: Index = sums[np.searchsorted(level[order], low, side="right")]
    return found


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
