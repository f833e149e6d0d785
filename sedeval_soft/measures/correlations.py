"""Correlation of both sides' values, and the distance of their distributions, of weighted files.

Many weights are processed at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from sedeval_soft.arrays import Array, Floats, Index, heads, in_order
from sedeval_soft.measures.base import ratio
from sedeval_soft.measures.tally import FileSums, in_blocks


def _numbered(values: Floats) -> tuple[Floats, Array]:
    """Return the distinct values in ascending order, and which of them each one is, (n,)."""
    ordered, order = in_order(values)
    first, number = heads(ordered), np.empty(len(values), dtype=np.int64)
    number[order] = np.repeat(np.arange(len(first)), np.diff(first, append=len(order)))
    return ordered[first], number


@dataclass(frozen=True, slots=True)
class RankCounts:
    """Statistics of each file about the order of both sides' values.

    - reference, system: for each distinct value, ascending, the number of cells with it.
    - pairs: for each pair of values that some cells have, the number of cells. pair: (2, n_pairs) its values,
      numbered.
    - rest: a value of the reference, numbered: `pairs` leaves out pairs with it.
    - ahead: for each distinct value of either side, how many more cells the reference has at it than the
      system.
    - steps: from each distinct value to the next.
    """

    reference: FileSums
    system: FileSums
    pairs: FileSums
    pair: Index
    rest: int
    ahead: FileSums
    steps: Floats

    @classmethod
    def of(cls, reference: Floats, system: Floats, file: Array, n_files: int, often: Index) -> Self:
        """Count cells: both sides' values in [0, 1], the file of each, and how often it counts, (n,)."""
        (_, ours), (_, theirs) = _numbered(reference), _numbered(system)
        sizes = [int(side.max(initial=0)) + 1 for side in (ours, theirs)]
        # Ranks are about their mean: the sum of the cells of one value follows from the sum of all others.
        rest = int(np.bincount(ours, often, 1).argmax())
        some = ours != rest
        key, number = np.unique(ours[some] * sizes[1] + theirs[some], return_inverse=True)
        value, either = _numbered(np.concatenate((reference, system)))
        return cls(
            FileSums.of(ours, file, often, (sizes[0], n_files)),
            FileSums.of(theirs, file, often, (sizes[1], n_files)),
            FileSums.of(number, file[some], often[some], (len(key), n_files)),
            np.array(np.divmod(key, sizes[1])),
            rest,
            FileSums.of(either, np.tile(file, 2), np.append(often, -often), (len(value), n_files)),
            np.diff(value),
        )

    def scores(self, weights: Floats) -> dict[str, Floats]:
        """Return the distance of the distributions and the correlation of the ranks, (n_weights,) each."""

        def of_block(block: Floats) -> dict[str, Floats]:
            counts = [side.weighted(block) for side in (self.reference, self.system)]
            size = counts[0].sum(axis=1)
            area = np.abs(np.cumsum(self.ahead.weighted(block), axis=1)[:, :-1]) @ self.steps
            ours, theirs = (_ranks(count, size) for count in counts)
            spreads = [np.einsum("ij,ij,ij->i", n, r, r) for n, r in zip(counts, (ours, theirs), strict=True)]
            paired = (ours - ours[:, [self.rest]]).take(self.pair[0], axis=1)
            common = np.einsum(
                "ij,ij,ij->i", self.pairs.weighted(block), paired, theirs.take(self.pair[1], axis=1)
            )
            return {"wasserstein": ratio(area, size), "spearman": _correlation(common, *spreads)}

        return in_blocks(of_block, weights, len(self.steps) + self.pair.shape[1])


def _ranks(counts: Floats, size: Floats) -> Floats:
    """Return the mean ranks of cells of equal values, about the mean rank of all cells, (n_weights, n)."""
    return np.cumsum(counts, axis=1) - (counts + size[:, None]) / 2


def _correlation(common: Floats, ours: Floats, theirs: Floats) -> Floats:
    """Return correlations from sums of products and of squares about the means.

    Undefined correlations are -inf if the squares of the reference are 0, and NaN if the squares of the
    system are 0.
    """
    correlation = np.clip(ratio(common, np.sqrt(ours * theirs)), -1.0, 1.0)
    return np.where(ours > 0, correlation, -np.inf)


@dataclass(frozen=True, slots=True)
class Moments:
    """Moments of two sides' values in each file: numbers, means, and scatter about the means.

    - size: (n_files,). means, low, high: (2, n_files) of each side.
    - products: (3, n_files) sums of squares of each side, and of products of both.
    - rounding: values that differ by at most this are equal. name: name of the correlation.
    """

    name: str
    size: Floats
    means: Floats
    low: Floats
    high: Floats
    products: Floats
    rounding: float

    @classmethod
    def of(
        cls,
        name: str,
        sides: Sequence[Floats],
        file: Array,
        n_files: int,
        often: Index,
        rounding: float = 0.0,
    ) -> Self:
        """Count cells: both sides' values, the file of each, and how often it counts, (n,)."""
        size = np.bincount(file, often, n_files).astype(np.float64)
        low, high = np.full((2, n_files), np.inf), np.full((2, n_files), -np.inf)
        means, away = np.zeros((2, n_files)), np.zeros((2, len(file)))
        for k, side in enumerate(sides):
            np.minimum.at(low[k], file, side)
            np.maximum.at(high[k], file, side)
            # Of the size of 1, deviations have squares that are numbers, however small they are.
            scaled = side / (side.max(initial=0.0) or 1.0)
            means[k] = np.bincount(file, often * scaled, n_files) / np.maximum(size, 1)
            away[k] = scaled - means[k, file]
        products = [np.bincount(file, often * away[a] * away[b], n_files) for a, b in _PAIRS]
        return cls(name, size, means, low, high, np.array(products), rounding)

    def scores(self, weights: Floats) -> dict[str, Floats]:
        """Return the linear correlation by its name, (n_weights,), undefined as the rank correlation."""

        def of_block(block: Floats) -> dict[str, Floats]:
            cells, is_drawn = block * self.size, block > 0
            away, varies = [], []
            for means, low, high in zip(self.means, self.low, self.high, strict=True):
                away.append(means - ratio(cells @ means, cells.sum(axis=1))[:, None])
                least, most = np.where(is_drawn, low, np.inf), np.where(is_drawn, high, -np.inf)
                varies.append(most.max(axis=1) - least.min(axis=1) > self.rounding)
            # Within files, and between them.
            ours, theirs, common = (
                block @ within + np.einsum("ij,ij,ij->i", cells, away[a], away[b])
                for within, (a, b) in zip(self.products, _PAIRS, strict=True)
            )
            correlation = np.where(varies[1], _correlation(common, ours, theirs), np.nan)
            return {self.name: np.where(varies[0], correlation, -np.inf)}

        return in_blocks(of_block, weights, len(self.size))


_PAIRS = ((0, 0), (1, 1), (0, 1))
"""Sides of which products are summed."""
