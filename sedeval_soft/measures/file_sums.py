"""Sums over weighted files, of many weights at once: a product of weights and what each file counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from sedeval_soft.arrays import Array, Bools, Floats, Index
from sedeval_soft.sorting import heads

_AT_ONCE = 1 << 18
"""Numbers in an array that is made for some weights: so many stay near the processor."""

_FEW = 1 << 10
"""Entries up to which scipy is not imported, which takes as long as many products of so few.

Of one file there is nothing to sum."""


@dataclass(frozen=True, slots=True)
class FileSums:
    """What each file counts of some things, such as of the points of a curve; most of it is nothing.

    start: (n_things + 1,) where the entries of each thing begin. file, amount: (n_entries,) what a file
    counts of it. few: whether they are so few that scipy is not worth its import.
    """

    start: Index
    file: Index
    amount: Floats
    n_files: int
    few: bool

    @classmethod
    def of(cls, thing: Array, file: Array, amount: Array, shape: tuple[int, int]) -> Self:
        """Add up amounts of things of files, (n,) each; shape: how many of both there are."""
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
        """Return of how many things."""
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
    """Yield places of n weights, some at a time, at least once; size: how many numbers are made for each."""
    rows = max(1, _AT_ONCE // max(size, 1))
    return (slice(begin, begin + rows) for begin in range(0, max(n, 1), rows))


def in_blocks(
    of_block: Callable[[Floats], Mapping[str, Array]], weights: Floats, size: int
) -> dict[str, Array]:
    """Return the measures, (n_weights,) each by name, that a function makes of weights, of some at a time.

    size: how many numbers it makes for each.
    """
    parts = [of_block(weights[some]) for some in blocks(len(weights), size)]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def counted_together(values: Index, n_cells: int, n_owners: int) -> list[slice]:
    """Return groups of classes next to one another that are counted at once, as if a class were an owner.

    Hundreds of calls for each class take longer than more numbers in each. values: (n_classes,) how many
    distinct ones a class may have: each class has numbers for all those of its group. n_cells: of a class, at
    most. Where files have weights of their own, there is one class in a group.
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
    """Return what gives the measures of some classes that are counted together, (n_classes, n_weights) each.

    measures: gives those of weights of the owners of each class in turn.
    """

    def of_classes(weights: Floats) -> dict[str, Floats]:
        own = weights if n_classes == 1 else np.asarray(np.kron(np.eye(n_classes), weights), dtype=np.float64)
        return {name: values.reshape(n_classes, -1) for name, values in measures(own).items()}

    return of_classes


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
