"""Calibration: whether values are frequencies of activity, in bins of cells with similar scores.

Among segments with value p, a share p should be active. Each bin counts its cells and sums both sides'
values; these sums add over classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from sedeval_soft.arrays import Array, Floats, Index, heads, in_order
from sedeval_soft.measures.base import ratio
from sedeval_soft.measures.tally import FileSums, first_where, in_blocks, picked

Bins = Floats
"""Cells in bins by score, (..., 3, n_bins): their number, and the sums of the scores and of the
references."""


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

    squares: (..., 3) sums of p p, p y and y y over the cells. Sources: Murphy 1973; Stephenson, Coelho &
    Jolliffe 2008 for the parts within bins.
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


_BLOCK, _LARGEST = 1 << 6, 1 << 21
"""Cells searched for an end of a bin, and numbers in a table of the counts of files before them."""


@dataclass(frozen=True, slots=True)
class BinCounts:
    """Statistics of each file in bins by score.

    The ends of bins of equal mass depend on the weights. The amounts before each block of cells give the
    block of an end, and only the cells of this block are searched.

    - amounts: (3, n_blocks, n) of each cell in ascending order of scores: one, its score and its reference,
      times its count; nothing behind the last cell.
    - file: (n_blocks, n).
    - last: (n_cells,) the number of cells up to the last one with the same score.
    - before: (3, n_files, n_blocks + 1) amounts before each block, and in all.
    - width: the three amounts in bins of equal width, (n_bins,) each, then sums of p p, p y and y y.
    """

    amounts: Floats
    file: Index
    last: Index
    before: Floats
    width: FileSums
    n_bins: int

    @classmethod
    def of(
        cls, score: Floats, reference: Array, file: Array, n_files: int, often: Index, n_bins: int
    ) -> Self:
        """Count cells, (n,) each: scores in [0, 1], values, or whether they are active, and files.

        often: how often each counts.
        """
        p, order = in_order(score)
        y, file, often = reference[order].astype(np.float64), file[order], often[order]
        # Cells of a bin are at its lower end or above.
        inner, of_all = (
            np.searchsorted(np.arange(1, n_bins) / n_bins, p, side="right"),
            np.full(len(p), 3 * n_bins),
        )
        things = np.concatenate([*(inner + k * n_bins for k in range(3)), *(of_all + k for k in range(3))])
        columns = [often * of for of in (np.ones(len(p)), p, y, p * p, p * y, y * y)]
        width = FileSums.of(things, np.tile(file, 6), np.concatenate(columns), (3 * n_bins + 3, n_files))
        size, first = max(_BLOCK, len(p) * n_files // _LARGEST), heads(p)
        last = np.repeat(np.append(first[1:], len(p))[: len(first)], np.diff(first, append=len(p)))
        # At least one place is left behind the last cell.
        shape = len(p) // size + 1, size
        padding = (0, shape[0] * size - len(p))
        blocks, file = (np.pad(of, padding).reshape(shape) for of in (np.arange(len(p)) // size, file))
        amounts = np.stack([np.pad(of, padding).reshape(shape) for of in columns[:3]])
        before = np.zeros((3, n_files, shape[0] + 1))
        for sums, amount in zip(before, amounts, strict=True):
            counts = np.bincount(
                (file * shape[0] + blocks).reshape(-1), amount.reshape(-1), n_files * shape[0]
            )
            np.cumsum(counts.reshape(n_files, -1), axis=1, out=sums[:, 1:])
        return cls(amounts, file, last, before, width, n_bins)

    def scores(self, weights: Floats) -> dict[str, Floats]:
        """Return the measures of calibration by name, (n_weights,) each."""

        def of_block(block: Floats) -> dict[str, Floats]:
            width, mass, squares = self.bins(block)
            mean, largest = distances(width)
            return {
                "expected_calibration_error": mean,
                "maximum_calibration_error": largest,
                "adaptive_calibration_error": distances(mass)[0],
                **brier_parts(width, squares),
            }

        return in_blocks(of_block, weights, self.n_bins * self.file.shape[1])

    def bins(self, weights: Floats) -> tuple[Bins, Bins, Floats]:
        """Return the bins of equal width and of equal mass, and sums of p p, p y and y y.

        Bins of equal width are [k / n, (k + 1) / n), the last with its upper end.
        """
        width, squares = np.split(self.width.weighted(weights), [3 * self.n_bins], axis=1)
        return width.reshape(len(weights), 3, self.n_bins), self._equal_mass(weights), squares

    def _equal_mass(self, weights: Floats) -> Bins:
        """Count cells in bins of as many cells each as can be without parting equal scores."""
        sums, (n_blocks, size), row = (
            weights @ self.before,
            self.file.shape,
            np.arange(len(weights))[:, None, None],
        )
        ranks = np.arange(1, self.n_bins) * sums[0, :, -1:].astype(np.int64) // self.n_bins
        block = first_where(lambda at: picked(sums[0], at + 1) >= ranks, ranks.shape, n_blocks - 1)
        cells = np.cumsum(self.amounts[0, block] * weights[row, self.file[block]], axis=2)
        place = (cells >= (ranks - picked(sums[0], block))[..., None]).argmax(axis=2)
        ends = np.where(
            ranks > 0, np.append(self.last, 0)[np.minimum(block * size + place, len(self.last))], 0
        )
        block, inside = ends // size, np.arange(size) < (ends % size)[..., None]
        some = inside * weights[row, self.file[block]]
        edges = np.zeros((3, len(weights), self.n_bins + 1))
        edges[:, :, -1] = sums[:, :, -1]
        for edge, before, amount in zip(edges, sums, self.amounts, strict=True):
            edge[:, 1:-1] = picked(before, block) + np.einsum("ijk,ijk->ij", some, amount[block])
        return np.diff(edges, axis=2).swapaxes(0, 1)


def reliability_of(score: Floats, reference: Array, n_bins: int) -> tuple[Reliability, Reliability]:
    """Return the bins of equal width and of equal mass of cells, (n,) each, that count once."""
    file, often = np.repeat([[0], [1]], len(score), axis=1)
    width, mass, _ = BinCounts.of(score, reference, file, 1, often, n_bins).bins(np.ones((1, 1)))
    return Reliability.of(width[0]), Reliability.of(mass[0])
