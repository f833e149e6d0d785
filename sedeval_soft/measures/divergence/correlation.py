"""Correlations and distances that need all cells of a class, or of all classes, at once.

Values lie in (n_parts, n) arrays: those of one class, or of all classes together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.blocks import Blocks
from sedeval_soft.core.threads import for_each

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int32]

_BLOCK = 1 << 15


def pearson(reference: Floats, system: Floats) -> float:
    """Return the linear correlation of two arrays, (n_parts, n) each; NaN where either is constant."""
    if not reference.size:
        return math.nan
    sides = [(float(side.mean()), float(side.min()), float(side.max())) for side in (reference, system)]
    if any(low == high for _, low, high in sides):
        return math.nan
    # Of the size of 1, deviations have squares that are numbers, however small they are.
    centres = [(mean, max(high - mean, mean - low)) for mean, low, high in sides]
    blocks = [
        (y[begin : begin + _BLOCK], p[begin : begin + _BLOCK])
        for y, p in zip(reference, system, strict=True)
        for begin in range(0, len(y), _BLOCK)
    ]
    return _correlation(for_each(lambda pair: _products(*pair, *centres), blocks, reference.size))


def rank_correlation(parts: Sequence[Floats], orders: Sequence[Index], ranks: Floats) -> float:
    """Return the correlation of the ranks of some values with other ranks; NaN where either is constant.

    parts: ascending values, (n,) each. orders: the place that each of them has in its part. ranks: those of
    the other side at these places, ties at their mean, (n_parts, n).
    """
    middle = (ranks.size + 1) / 2
    blocks = Blocks.of(parts)

    def products(block: int) -> Floats:
        own = np.concatenate(blocks.rank(block))
        slices = zip(ranks, orders, blocks.slices(block), strict=True)
        others = np.concatenate([row[order[part]] for row, order, part in slices])
        return _products(others, own, (middle, middle), (middle, middle))

    return _correlation(for_each(products, range(len(blocks)), ranks.size))


def _products(y: Floats, p: Floats, of_y: tuple[float, float], of_p: tuple[float, float]) -> Floats:
    """Return the sums of squares of both sides and of their product, (3,); of: a mean and a unit of each."""
    y, p = (y - of_y[0]) / of_y[1], (p - of_p[0]) / of_p[1]
    return np.array([np.einsum("i,i->", a, b) for a, b in ((y, y), (p, p), (y, p))])


def _correlation(products: Sequence[Floats]) -> float:
    spread, other, common = (math.fsum(column) for column in zip(*products, strict=True))
    scale = math.sqrt(spread * other)
    return max(-1.0, min(1.0, common / scale)) if scale > 0 else math.nan


def ranks_of(parts: Sequence[Floats], orders: Sequence[Index]) -> Floats:
    """Return the rank of each value among all of them, ties at their mean, (n_parts, n).

    parts: ascending values, (n,) each. orders: the place that each of them has in its part.
    """
    blocks = Blocks.of(parts)
    found = np.empty((len(parts), len(parts[0])))

    def rank(block: int) -> None:
        own = zip(blocks.slices(block), blocks.rank(block), strict=True)
        for row, order, (part, numbers) in zip(found, orders, own, strict=True):
            row[order[part]] = numbers

    for_each(rank, range(len(blocks)), found.size)
    return found


def wasserstein(reference: Sequence[Floats], system: Sequence[Floats]) -> float:
    """Return the distance between two distributions of as many values; parts in ascending order.

    The area between the two distribution functions, divided by the number of values: n |F - G| is how many
    more values one side has up to a level than the other. Source: Vallender 1974.
    """
    size = sum(map(len, reference))
    if not size:
        return math.nan
    blocks = Blocks.of([*reference, *system])
    sign = np.repeat([1, -1], [len(reference), len(system)])
    ahead = sign @ blocks.edges

    def area(block: int) -> tuple[float, float, float]:
        level = blocks.level(block)
        if level is not None:
            return 0.0, level, level
        values, order = blocks.ordered(block)
        signs = np.repeat(sign, [own.stop - own.start for own in blocks.slices(block)])
        if order is not None:
            signs = signs[order]
        steps = np.abs(ahead[block] + np.cumsum(signs)[:-1]) * np.diff(values)
        return float(steps.sum()), float(values[0]), float(values[-1])

    full = np.flatnonzero(blocks.size)
    found = for_each(area, full.tolist(), 2 * size)
    between = (
        abs(int(ahead[block])) * (after[1] - before[2])
        for block, before, after in zip(full[1:], found[:-1], found[1:], strict=True)
    )
    return math.fsum([*(own for own, _, _ in found), *between]) / size
