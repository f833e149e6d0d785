"""Kullback-Leibler divergence of Bernoulli variables, summed per file and class.

Source and convention: Harju & Mesaros 2023, whose Table 1 it reproduces. Reference first, in
nats, 0 ln 0 = 0, the system's values clipped to [EPS, 1 - EPS].
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sedeval_soft.measures.segment.count import sum_files

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

EPS = 1e-7

SILENT = -math.log1p(-EPS)
"""The divergence where both sides are 0. It is not 0, for the clipping."""


@dataclass(frozen=True, slots=True)
class DivergenceCounts:
    """Divergence of each file and class: (n_files, n_classes).

    total: sum over the segments where either side is above 0. sounding: how many those are. The
    others add SILENT each: kept apart, a class that is absent from a file needs no entry.
    """

    total: Floats
    sounding: Index


def kl_divergence(reference: Floats, system: Floats) -> Floats:
    """Return y ln(y/p) + (1-y) ln((1-y)/(1-p)) elementwise, in nats.

    reference, system: values in [0, 1] of one shape.
    """
    y, rest = reference, 1.0 - reference
    p = np.clip(system, EPS, 1.0 - EPS)
    divergence = y * (_log(y) - np.log(p))
    divergence += rest * (_log(rest) - np.log1p(-p))
    return divergence


def _log(values: Floats) -> Floats:
    """Return the logarithm, 0 at 0: there it is multiplied by 0."""
    return np.log(values, out=np.zeros_like(values), where=values > 0)


def count_divergence(reference: Floats, system: Floats, start: Index) -> DivergenceCounts:
    """Sum the divergence per file and class; arguments as in `segment.count`."""
    n_files = len(start) - 1
    total = np.zeros((n_files, len(reference)))
    sounding = np.zeros((n_files, len(reference)), dtype=np.int64)
    for label, (y, p) in enumerate(zip(reference, system, strict=True)):
        either = (y > 0) | (p > 0)
        total[:, label] = sum_files(np.where(either, kl_divergence(y, p), 0.0), start)
        sounding[:, label] = sum_files(either, start, np.int64)
    return DivergenceCounts(total, sounding)
