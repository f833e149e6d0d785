"""The best threshold of a class whose counts are known level by level, from the highest downwards.

What is best is found as by `measures.threshold_counts`: the same numbers compared,
ties to the highest threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.measures.descent import Run
from sedeval_soft.measures.detection import f_beta
from sedeval_soft.measures.threshold_counts import NOTHING, threshold_between

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Values = npt.NDArray[Any]

Merit = Callable[[Index, Index], Values]
"""What is to be highest, of TP and FP: it never falls as TP grows, nor as FP shrinks."""

_SLACK = 1e-12
"""How much a computed F may miss the exact one, as a share: bounds are taken so much higher."""


def f_of(n_ref: int, beta: float) -> Merit:
    """Return what computes F of a class with so many reference events."""
    size = np.array(n_ref, dtype=np.int64)
    return lambda tp, fp: f_beta(tp, size, tp + fp, beta)


def errors_of(tp: Index, fp: Index) -> Values:
    """Return what is to be highest for the fewest errors, FN + FP: N_ref is the same for all thresholds."""
    return tp - fp


@dataclass(slots=True)
class Peak:
    """Looks for the level below which the merit is highest, the highest one of several.

    level: None where nothing detected is best. counts: (n_counts,) from that level on. floor: what is
    reached somewhere.
    """

    n_ref: int
    merit: Merit
    slack: float
    value: Any
    floor: Any
    level: float | None
    counts: Index

    @classmethod
    def of_f(cls, n_ref: int, beta: float) -> Peak:
        """Look for the highest F."""
        return cls._from(n_ref, f_of(n_ref, beta), _SLACK)

    @classmethod
    def of_errors(cls, n_ref: int) -> Peak:
        """Look for the fewest errors."""
        return cls._from(n_ref, errors_of, 0.0)

    @classmethod
    def _from(cls, n_ref: int, merit: Merit, slack: float) -> Peak:
        none = np.zeros(2, dtype=np.int64)
        value = merit(none[:1], none[1:])[0]
        return cls(n_ref, merit, slack, value, value, None, none)

    def reached(self, counts: Index) -> None:
        """Take notice of counts that hold at some threshold."""
        self.floor = max(self.floor, self.merit(counts[0], counts[1]).max(initial=self.floor))

    def may(self, counts: Index, high: Index, low: Index) -> Bools:
        """Return in which bins there may be more than anywhere, or as much and above all others."""
        bound = self.merit(np.minimum(counts[0] + high, self.n_ref), np.maximum(counts[1] - low, 0))
        if self.slack:
            bound = bound * (1.0 + self.slack)
        found: Bools = (bound >= self.floor) & (bound > self.value)
        return found

    def see(self, level: Floats, counts: Index) -> None:
        """Look at levels, descending, and the counts from each on."""
        if not len(level):
            return
        values = self.merit(counts[0], counts[1])
        best = int(np.argmax(values))
        if values[best] > self.value:
            self.value, self.level, self.counts = values[best], float(level[best]), counts[:, best].copy()
            self.floor = max(self.floor, self.value)

    def threshold(self, runs: Sequence[Run], *, inclusive: bool) -> float:
        """Return the threshold, between the level and the next lower one of all runs."""
        if not self.n_ref:
            return NOTHING
        if self.level is None:
            # Nothing detected is best: the highest threshold is one that no value passes.
            return 2.0 if inclusive else 1.0
        below = None if self.level <= 0.0 else _next_below(runs, self.level)
        return threshold_between(below, self.level, inclusive)


def _next_below(runs: Sequence[Run], level: float) -> float:
    below = 0.0
    for run in runs:
        levels = run.levels(0, len(run))
        place = int(np.searchsorted(levels, level, side="left"))
        if place:
            below = max(below, float(levels[place - 1]))
    return below
