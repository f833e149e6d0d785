"""Kullback-Leibler divergence of Bernoulli variables, summed per file and class.

Source and convention: Harju & Mesaros 2023, whose Table 1 it reproduces. Reference first, in
nats, 0 ln 0 = 0, the system's values clipped to [EPS, 1 - EPS].
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.threads import for_each
from sedeval_soft.measures.segment.count import sum_files

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

EPS = 1e-7

_TINY = float(np.finfo(np.float64).tiny)

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
    # The logarithm at 0 is multiplied by 0: any finite one will do.
    divergence: Floats = np.log(np.maximum(y, _TINY))
    divergence -= np.log(p)
    divergence *= y
    silent = np.log(np.maximum(rest, _TINY))
    silent -= np.log(1.0 - p)
    silent *= rest
    divergence += silent
    return divergence


def count_divergence(reference: Floats, system: Floats, start: Index) -> DivergenceCounts:
    """Sum the divergence per file and class; arguments as in `segment.count`."""
    total = np.zeros((len(start) - 1, len(reference)))
    sounding = np.zeros(total.shape, dtype=np.int64)

    def count(label: int) -> None:
        y, p = reference[label], system[label]
        either = (y > 0) | (p > 0)
        total[:, label] = sum_files(np.where(either, kl_divergence(y, p), 0.0), start)
        sounding[:, label] = sum_files(either, start, np.int64)

    for_each(count, range(len(reference)), reference.size)
    return DivergenceCounts(total, sounding)
