"""Hard counts for every pair of a reference threshold and a system threshold, on an even grid.

A cell is active on a side at all thresholds below its value (or at them): so two histograms of places on the
grid, one of both sides together, and sums from the high end are all that is needed. Nothing is sorted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from sedeval_soft.measures.base import Array, Floats, Index, averaged
from sedeval_soft.measures.detection import f_beta
from sedeval_soft.threads import for_each

STEPS = 100
"""The grid has the thresholds 1/100 to 99/100."""

_AT_ONCE = 1 << 16
"""Cells that are placed at a time, which stay in the processor's cache."""


@dataclass(frozen=True, slots=True)
class Surface:
    """Counts over thresholds of the reference (axis 1) and of the system (axis 2).

    thresholds: (n,) ascending, those of either side. tp: (n_classes, n, n). n_ref: (n_classes, n) at
    thresholds of the reference; n_sys: (n_classes, n) at those of the system. beta: of F.
    """

    thresholds: Floats
    tp: Index
    n_ref: Index
    n_sys: Index
    beta: float = 1.0

    @classmethod
    def of(cls, reference: Floats, system: Floats, beta: float = 1.0, *, inclusive: bool = False) -> Self:
        """Count cells, (n_classes, n_cells), values in [0, 1]; inclusive: active at a threshold, too."""
        edges = np.arange(1, STEPS) / STEPS

        def of_class(c: int) -> tuple[Index, Index, Index]:
            both = np.zeros(STEPS * STEPS, dtype=np.int64)
            for begin in range(0, reference.shape[1], _AT_ONCE):
                part = slice(begin, begin + _AT_ONCE)
                ours, theirs = (_place(of[c, part], edges, inclusive) for of in (reference, system))
                both += np.bincount(ours.astype(np.int64) * STEPS + theirs, minlength=STEPS * STEPS)
            table = both.reshape(STEPS, STEPS)
            # What lies above k thresholds lies above all lower ones: sums from the high end, both ways.
            above = table[::-1, ::-1].cumsum(axis=0).cumsum(axis=1)[::-1, ::-1]
            return above[1:, 1:], above[1:, 0], above[0, 1:]

        found = for_each(of_class, range(len(reference)), reference.size)
        n = len(edges)
        if not found:
            tp, n_ref, n_sys = (np.zeros((0, *shape), dtype=np.int64) for shape in ((n, n), (n,), (n,)))
        else:
            tp, n_ref, n_sys = (np.stack(column) for column in zip(*found, strict=True))
        return cls(edges, tp, n_ref, n_sys, beta)

    @property
    def f(self) -> Floats:
        """F of each class, (n_classes, n, n); NaN where neither side has anything."""
        return f_beta(self.tp, self.n_ref[:, :, None], self.n_sys[:, None, :], self.beta)

    @property
    def micro_f(self) -> Floats:
        """F of the counts of all classes, (n, n)."""
        tp, n_ref, n_sys = (of.sum(axis=0) for of in (self.tp, self.n_ref, self.n_sys))
        return f_beta(tp, n_ref[:, None], n_sys[None, :], self.beta)

    @property
    def macro_f(self) -> Floats:
        """Mean F of the classes that have a reference at the threshold, (n, n)."""
        shape = (*self.tp.shape[1:], len(self.tp))
        n_ref = np.broadcast_to(self.n_ref.T[:, None, :], shape)
        of = averaged(np.moveaxis(self.f, 0, -1), None, n_ref)
        return np.asarray(of.macro, dtype=np.float64)


def _place(values: Floats, edges: Floats, inclusive: bool) -> Array:
    """Return how many thresholds lie below each value (or at it), (n,).

    As np.searchsorted does, without a search: a product is off by one at the most, for rounding.
    """
    low, high = np.append(-np.inf, edges), np.append(edges, np.inf)
    place = np.minimum(values * STEPS, STEPS - 1).astype(np.int16)
    if inclusive:
        place -= low[place] > values
        place += high[place] <= values
    else:
        place -= low[place] >= values
        place += high[place] < values
    return place
