"""Calibration from bins of cells with similar scores.

Bins are counted by their cells and the sums of both sides' values, which add over classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.measures.averages import ratio
from sedeval_soft.measures.curves.points import Ordered

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]
Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Bins:
    """Cells in bins by score. size: (..., n_bins) cells. score, reference: (..., n_bins) sums of values.

    squares: (...,) sum of squared scores. products: of score times reference. spread: of squared references.
    """

    size: Index
    score: Floats
    reference: Floats
    squares: Array
    products: Array
    spread: Array

    @classmethod
    def stack(cls, parts: list[Bins]) -> Bins:
        """Return the bins of several classes as one, classes first."""
        names = cls.__slots__
        return cls(*(np.stack([getattr(part, name) for part in parts]) for name in names))

    def pooled(self) -> Bins:
        """Return the bins of all classes together."""
        return Bins(*(getattr(self, name).sum(axis=0) for name in self.__slots__))


def equal_width(cells: Ordered, n_bins: int) -> Bins:
    """Count cells in bins [k / n, (k + 1) / n), the last with its upper end."""
    inner = np.arange(1, n_bins) / n_bins
    edges = np.concatenate(([0], np.searchsorted(cells.score, inner, side="left"), [len(cells.score)]))
    return _bins(cells, edges)


def equal_mass(cells: Ordered, n_bins: int) -> Bins:
    """Count cells in bins of as many cells each as can be without parting equal scores."""
    n = len(cells.score)
    edges = np.arange(n_bins + 1) * n // n_bins
    inside = edges[(edges > 0) & (edges < n)]
    edges[(edges > 0) & (edges < n)] = np.searchsorted(cells.score, cells.score[inside - 1], side="right")
    return _bins(cells, edges)


def _bins(cells: Ordered, edges: Index) -> Bins:
    size = np.diff(edges)
    full = np.flatnonzero(size)
    score, reference = np.zeros((2, len(size)))
    if len(full):
        score[full] = np.add.reduceat(cells.score, edges[full])
        reference[full] = np.add.reduceat(cells.reference, edges[full], dtype=np.float64)
    p, y = cells.score, cells.reference
    moments = ((p * p).sum(), (p * y).sum(), (y * y).sum(dtype=np.float64))
    return Bins(size, score, reference, *map(np.asarray, moments))


def distances(bins: Bins) -> tuple[Array, Array]:
    """Return the mean and the largest distance of values from frequencies, each (...,).

    Source: Naeini, Cooper & Hauskrecht 2015.
    """
    off = np.abs(ratio(bins.reference, bins.size) - ratio(bins.score, bins.size))
    off = np.where(bins.size, off, 0.0)
    size = bins.size.sum(axis=-1)
    return ratio((off * bins.size).sum(axis=-1), size), np.where(size, off.max(axis=-1), np.nan)


def brier_parts(bins: Bins) -> dict[str, Array]:
    """Return the parts of the Brier score by name, each (...,).

    Source: Murphy 1973; for what lies within bins Stephenson, Coelho & Jolliffe 2008.
    """
    size = bins.size.sum(axis=-1)
    share = ratio(bins.size, size[..., None])
    y, p = (np.where(bins.size, ratio(sums, bins.size), 0.0) for sums in (bins.reference, bins.score))
    mean = ratio(bins.reference.sum(axis=-1), size)
    within = ratio(bins.squares, size) - (share * p * p).sum(axis=-1)
    common = ratio(bins.products, size) - (share * p * y).sum(axis=-1)
    return {
        "brier_reliability": (share * (y - p) ** 2).sum(axis=-1),
        "brier_resolution": (share * (y - mean[..., None]) ** 2).sum(axis=-1),
        "brier_uncertainty": np.maximum(ratio(bins.spread, size) - mean * mean, 0.0),
        "brier_within_bins": within - 2 * common,
    }
