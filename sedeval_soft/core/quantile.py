"""Weighted quantiles of ranges, many at once: a wavelet tree (Grossi, Gupta & Vitter 2003) of arrays."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]


def highest_level(values: Floats, weight: Index, first: Index, last: Index, needed: Index) -> Floats:
    """Return for each range the highest level that enough of it reaches, (m,).

    values, weight: (n,) cells, values at least 0. first, last: (m,) ranges, `last` excluded. needed: (m,) at
    least 1. The level is the largest value v of the range such that its cells with values of at least v weigh
    at least `needed`; 0 where all together weigh less.
    """
    known, rank = np.unique(values, return_inverse=True)
    rank = rank.astype(np.int64)
    low, high, missing = first.copy(), last.copy(), needed.copy()
    level = np.zeros(len(first), dtype=np.int64)
    for bit in range(max(0, len(known) - 1).bit_length() - 1, -1, -1):
        one = (rank >> bit) & 1 == 1
        ones = np.concatenate(([0], np.cumsum(one)))
        weights = np.concatenate(([0], np.cumsum(np.where(one, weight, 0))))
        n_zero = len(rank) - int(ones[-1])
        heavy = weights[high] - weights[low]
        up = heavy >= missing
        missing -= np.where(up, 0, heavy)
        level += np.where(up, 1 << bit, 0)
        low = np.where(up, n_zero + ones[low], low - ones[low])
        high = np.where(up, n_zero + ones[high], high - ones[high])
        order = np.concatenate((np.flatnonzero(~one), np.flatnonzero(one)))
        rank, weight = rank[order], weight[order]
    weights = np.concatenate(([0], np.cumsum(weight)))
    enough = weights[high] - weights[low] >= missing
    reached: Floats = np.where(enough, known[np.minimum(level, len(known) - 1)], 0.0)
    return reached
