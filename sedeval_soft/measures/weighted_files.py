"""Sums over weighted files, of many weights at once: a product of weights and what each file counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from sedeval_soft.arrays import Array, Bools, Floats, Index

_AT_ONCE = 1 << 16
"""Numbers in an array that is made for some weights: they stay in the processor's cache."""


@dataclass(frozen=True, slots=True)
class FileSums:
    """What each file counts of some things, such as of the points of a curve; most of it is nothing.

    matrix: of scipy, (n_things, n_files).
    """

    matrix: Any

    @classmethod
    def of(cls, thing: Array, file: Array, amount: Array | float, shape: tuple[int, int]) -> Self:
        """Add up amounts, (n,) or one for all, of things of files, (n,) each; shape: of the matrix."""
        from scipy.sparse import csr_array

        amounts = np.broadcast_to(np.asarray(amount, dtype=np.float64), len(thing))
        return cls(csr_array((amounts, (thing, file)), shape=shape))

    def weighted(self, weights: Floats) -> Floats:
        """Return the sums over weighted files, (n_weights, n_things); weights: (n_weights, n_files).

        Files are added in their order, whatever else is weighted beside.
        """
        return np.ascontiguousarray((self.matrix @ weights.T).T)


def in_blocks(
    of_block: Callable[[Floats], Mapping[str, Floats]], weights: Floats, size: int
) -> dict[str, Floats]:
    """Return the measures, (n_weights,) each by name, that a function makes of weights, of some at a time.

    size: how many numbers it makes for each.
    """
    rows = max(1, _AT_ONCE // max(size, 1))
    parts = [of_block(weights[i : i + rows]) for i in range(0, max(len(weights), 1), rows)]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def picked(columns: Array, at: Index) -> Array:
    """Return what each row has at positions of its own; columns: (n_weights, n), at: (n_weights, ...)."""
    row = np.arange(len(columns)).reshape(-1, *(1,) * (at.ndim - 1))
    chosen: Array = columns.reshape(-1)[row * columns.shape[1] + at]
    return chosen


def first_where(holds: Callable[[Index], Bools], shape: tuple[int, ...], size: int) -> Index:
    """Return the first of `size` positions from which on something holds, `size` where it never does.

    holds: whether it does at positions of the shape.
    """
    low, high = np.zeros(shape, dtype=np.int64), np.full(shape, size)
    for _ in range(size.bit_length()):
        middle = (low + high) // 2
        # Where the search has ended, both stay as they are.
        found = holds(np.minimum(middle, size - 1)) | (middle >= size)
        low, high = np.where(found, low, middle + 1), np.where(found, middle, high)
    return high
