"""Sums over weighted files, for many weights at once: a product of weights and statistics of files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from sedeval_soft.arrays import Array, Bools, Floats, Index
from sedeval_soft.sorting import heads

_AT_ONCE = 1 << 18
"""Numbers in an array for some weights: arrays of this size stay in the processor's cache."""

_FEW = 1 << 10
"""Entries up to which scipy is not imported: its import takes as long as many products of so few entries.

A single file needs no sum.
"""


@dataclass(frozen=True, slots=True)
class FileSums:
    """Statistics of each file for a list of things, such as the points of a curve; most entries are 0.

    - start: (n_things + 1,) the first entry of each thing.
    - file, amount: (n_entries,) the file of each entry, and its amount.
    - few: whether the entries are too few for an import of scipy.
    """

    start: Index
    file: Index
    amount: Floats
    n_files: int
    few: bool

    @classmethod
    def of(cls, thing: Array, file: Array, amount: Array, shape: tuple[int, int]) -> Self:
        """Add up amounts of things of files, (n,) each; shape: the numbers of things and files."""
        files, sums = file.astype(np.int64, copy=False), amount.astype(np.float64, copy=False)
        if np.any(thing[1:] < thing[:-1]):
            key = thing * np.int64(shape[1]) + file
            order = np.argsort(key, kind="stable")
            first = heads(key[order])
            sums = np.add.reduceat(sums[order], first)
            thing, files = np.divmod(key[order[first]], shape[1])
        start = np.append(0, np.cumsum(np.bincount(thing, minlength=shape[0])))
        return cls(start, files, sums, shape[1], shape[1] == 1 or len(files) <= _FEW)

    def __len__(self) -> int:
        """Return the number of things."""
        return len(self.start) - 1

    def weighted(self, weights: Floats) -> Floats:
        """Return the sums over weighted files, (n_weights, n_things); weights: (n_weights, n_files)."""
        return np.ascontiguousarray(self.of_columns(weights.T).T)

    def of_columns(self, weights: Floats) -> Floats:
        """Return the sums over weighted files, (n_things, n_weights); weights: (n_files, n_weights).

        Entries are added in their order, whatever other weights there are; weights of float32 in float32.
        """
        matrix = None if self.few else _matrix(self, weights.dtype)
        if matrix is not None:
            product: Floats = matrix @ weights
            return product
        sums, some = np.zeros((len(self), weights.shape[1])), np.flatnonzero(np.diff(self.start))
        if len(some):
            amounts = weights.take(self.file, axis=0) * self.amount[:, None]
            sums[some] = np.add.reduceat(amounts, self.start[some], axis=0)
        return sums


def _matrix(sums: FileSums, kind: np.dtype[Any]) -> Any:  # noqa: ANN401 - of scipy
    """Return sums as a sparse matrix; None in a slim install, which has no scipy: it takes longer there."""
    try:
        from scipy.sparse import csr_array
    except ModuleNotFoundError:
        return None
    return csr_array(
        (sums.amount.astype(kind, copy=False), sums.file, sums.start), shape=(len(sums), sums.n_files)
    )


def blocks(n: int, size: int) -> Iterator[slice]:
    """Yield slices of n weights, at least one; size: the count of numbers computed for each weight."""
    rows = max(1, _AT_ONCE // max(size, 1))
    return (slice(begin, begin + rows) for begin in range(0, max(n, 1), rows))


def in_blocks(
    of_block: Callable[[Floats], Mapping[str, Array]], weights: Floats, size: int
) -> dict[str, Array]:
    """Return the measures that a function computes from weights, (n_weights,) each by name, in blocks.

    size: the count of numbers that the function computes for each weight.
    """
    parts = [of_block(weights[some]) for some in blocks(len(weights), size)]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def counted_together(values: Index, n_cells: int, n_owners: int) -> list[slice]:
    """Return groups of adjacent classes that are counted at once, each class as an owner.

    Hundreds of calls for each class take longer than more numbers in each call. If files have weights of
    their own, each group has one class.

    values: (n_classes,) the most distinct values of a class; each class gets numbers for all values of its
    group. n_cells: the most cells of a class.
    """
    groups, begin, total, most = list[slice](), 0, 0, _AT_ONCE // max(n_cells, 1) if n_owners == 1 else 1
    for c, some in enumerate(values.tolist()):
        size = c - begin
        if size and (size >= most or (size + 1) * (total + some) > _AT_ONCE):
            groups.append(slice(begin, c))
            begin, total = c, 0
        total += some
    return [*groups, slice(begin, len(values))][: len(values)]


def of_each(
    measures: Callable[[Floats], Mapping[str, Floats]], n_classes: int
) -> Callable[[Floats], dict[str, Floats]]:
    """Return a function for the measures of classes counted together, (n_classes, n_weights) each.

    measures: gives the measures for weights of the owners of each class in turn.
    """

    def of_classes(weights: Floats) -> dict[str, Floats]:
        own = weights if n_classes == 1 else np.asarray(np.kron(np.eye(n_classes), weights), dtype=np.float64)
        return {name: values.reshape(n_classes, -1) for name, values in measures(own).items()}

    return of_classes


def picked(columns: Array, at: Index) -> Array:
    """Return the values of each row at its own positions; columns: (n_weights, n), at: (n_weights, ...)."""
    row = np.arange(len(columns)).reshape(-1, *(1,) * (at.ndim - 1))
    chosen: Array = columns.reshape(-1)[row * columns.shape[1] + at]
    return chosen


def first_where(holds: Callable[[Index], Bools], shape: tuple[int, ...], size: int) -> Index:
    """Return the first of `size` positions from which on a condition is true, `size` if it never is.

    The function `holds` returns whether the condition is true at positions of the shape.
    """
    low, high = np.zeros(shape, dtype=np.int64), np.full(shape, size)
    for _ in range(size.bit_length()):
        middle = (low + high) // 2
        # After the end of the search both bounds stay unchanged.
        found = holds(np.minimum(middle, size - 1)) | (middle >= size)
        low, high = np.where(found, low, middle + 1), np.where(found, middle, high)
    return high
