"""Correlations and distances that need all cells of a class at once."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.order import ascending, middle_ranks

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]


def pearson(reference: Floats, system: Floats) -> float:
    """Return the linear correlation of two arrays, (n,) each; NaN where either is constant."""
    if not len(reference) or reference.min() == reference.max() or system.min() == system.max():
        return math.nan
    y, p = reference - reference.mean(), system - system.mean()
    scale = math.sqrt(float((y * y).sum()) * float((p * p).sum()))
    # Values that differ by less than their squares can hold have no correlation to speak of.
    return max(-1.0, min(1.0, float((y * p).sum()) / scale)) if scale > 0 else math.nan


def ranks(values: Floats) -> tuple[Floats, Floats]:
    """Return the sorted values and the rank of each, ties at their mean rank; values: (n,) in [0, 1]."""
    order = ascending(values)
    ordered = values[order]
    found = np.empty(len(values))
    found[order] = middle_ranks(ordered)
    return ordered, found


def wasserstein(reference: Floats, system: Floats) -> float:
    """Return the distance between two distributions of as many values, (n,) each, in ascending order.

    Source: Vallender 1974.
    """
    return float(np.abs(reference - system).mean()) if len(reference) else math.nan
