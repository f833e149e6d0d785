"""Calibration: whether the system's values mean what they say, of bins of cells with similar scores.

Among segments with value p, a share p should be active. Bins are counted by their cells and the sums of
both sides' values, which add over classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sedeval_soft.arrays import Array, Floats, Index
from sedeval_soft.measures.base import ratio
from sedeval_soft.sorting import counts_between

Bins = Floats
"""Cells in bins by score, (..., 3, n_bins): how many, and the sums of the scores and of the references."""

# score: (n,) ascending. references: what belongs to it in each reading, (n,) each.


def equal_width(score: Floats, references: Sequence[Array], n_bins: int) -> Bins:
    """Count cells in bins [k / n, (k + 1) / n), the last with its upper end."""
    inner = np.arange(1, n_bins) / n_bins
    return between(score, references, np.searchsorted(score, inner, side="left"))


def equal_mass(score: Floats, references: Sequence[Array], n_bins: int) -> Bins:
    """Count cells in bins of as many cells each as can be without parting equal scores."""
    ranks = _inner_ranks(len(score), n_bins)
    return between(score, references, np.searchsorted(score, score[ranks - 1], side="right"))


def _inner_ranks(size: int, n_bins: int) -> Index:
    """Return how many cells bins of equal mass should have below their inner edges."""
    ranks = np.arange(1, n_bins) * size // n_bins
    return ranks[ranks > 0]


def between(score: Floats, references: Sequence[Array], inner: Index) -> Bins:
    """Count cells in bins with inner edges at some positions, (n_readings, 3, n_bins)."""
    edges = np.concatenate(([0], inner, [len(score)]))
    bins = np.zeros((len(references), 3, len(edges) - 1))
    bins[:, 0] = np.diff(edges)
    full = np.flatnonzero(np.diff(edges))
    if len(full):
        bins[:, 1, full] = np.add.reduceat(score, edges[full])
        for row, reference in zip(bins, references, strict=True):
            if reference.dtype == np.bool_:
                row[2] = counts_between(reference, edges)
            else:
                row[2, full] = np.add.reduceat(reference, edges[full], dtype=np.float64)
    return bins


@dataclass(frozen=True, slots=True)
class Reliability:
    """The bins that have cells, for a reliability diagram; (n,) each, scores ascending.

    size: cells. score, reference: means of both sides' values; a calibrated system has them equal.
    """

    size: Index
    score: Floats
    reference: Floats

    @classmethod
    def of(cls, bins: Bins) -> Reliability:
        """Return the means of bins, (3, n_bins)."""
        size, score, reference = bins[:, bins[0] > 0]
        return cls(size.astype(np.int64), score / size, reference / size)


def distances(bins: Bins) -> tuple[Array, Array]:
    """Return the mean and the largest distance of values from frequencies, each (...,).

    Source: Naeini, Cooper & Hauskrecht 2015.
    """
    size, score, reference = np.moveaxis(bins, -2, 0)
    off = np.where(size, np.abs(ratio(reference, size) - ratio(score, size)), 0.0)
    whole = size.sum(axis=-1)
    return ratio((off * size).sum(axis=-1), whole), np.where(whole, off.max(axis=-1), np.nan)


def brier_parts(bins: Bins, squares: Array) -> dict[str, Array]:
    """Return the parts of the Brier score by name, each (...,).

    squares: (..., 3) the `moments` of the cells in the bins. Source: Murphy 1973; for what lies within bins
    Stephenson, Coelho & Jolliffe 2008.
    """
    size, score, reference = np.moveaxis(bins, -2, 0)
    whole = size.sum(axis=-1)
    share = ratio(size, whole[..., None])
    y, p = (np.where(size, ratio(sums, size), 0.0) for sums in (reference, score))
    mean = ratio(reference.sum(axis=-1), whole)
    own, common, spread = (ratio(squares[..., k], whole) for k in range(3))
    within = own - (share * p * p).sum(axis=-1)
    return {
        "brier_reliability": (share * (y - p) ** 2).sum(axis=-1),
        "brier_resolution": (share * (y - mean[..., None]) ** 2).sum(axis=-1),
        "brier_uncertainty": np.maximum(spread - mean * mean, 0.0),
        "brier_within_bins": within - 2 * (common - (share * p * y).sum(axis=-1)),
    }


def bin_scores(width: Bins, squares: Array, adaptive: Array) -> dict[str, Array]:
    """Return the measures of calibration by name, each (...,).

    width: of equal width, (..., 3, n_bins). squares: (..., 3) their `moments`. adaptive: the mean distance in
    bins of equal mass.
    """
    mean, largest = distances(width)
    return {
        "expected_calibration_error": mean,
        "maximum_calibration_error": largest,
        "adaptive_calibration_error": adaptive,
        **brier_parts(width, squares),
    }
