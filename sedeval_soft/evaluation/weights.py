"""How often each file counts in replicates, as rows of weights: (n_replicates, n_files).

Rows come in blocks, so that memory does not grow with the number of replicates. What a row holds depends on
the seed and its number alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sedeval_soft.measures.tally import Column, Tally

Floats = npt.NDArray[np.float64]

_CELLS = 1 << 21
"""Weights in a block."""

_MOST_ROWS = 1 << 10


def bootstrap(n_files: int, replicates: int, seed: int) -> Iterator[Floats]:
    """Yield rows in which as many files as there are were drawn with replacement. Source: Efron 1979."""
    rng = np.random.default_rng(seed)
    for rows in blocks(n_files, replicates):
        drawn = rng.integers(n_files, size=(rows, n_files)) + n_files * np.arange(rows)[:, None]
        counts = np.bincount(drawn.reshape(-1), minlength=rows * n_files)
        yield counts.reshape(rows, n_files).astype(np.float64)


def leave_one_out(n_files: int) -> Iterator[Floats]:
    """Yield rows in each of which one file is left out, in the order of files. Source: Quenouille 1956."""
    first = 0
    for rows in blocks(n_files, n_files):
        weights = np.ones((rows, n_files))
        weights[np.arange(rows), first + np.arange(rows)] = 0.0
        first += rows
        yield weights


def exchanges(n_files: int, replicates: int, seed: int) -> Iterator[Floats]:
    """Yield rows of 0 and 1: which files' outputs two systems exchange. Source: Noreen 1989."""
    rng = np.random.default_rng(seed)
    for rows in blocks(n_files, replicates):
        yield rng.integers(2, size=(rows, n_files)).astype(np.float64)


def blocks(n_files: int, rows: int) -> Iterator[int]:
    """Yield how many rows each block has."""
    most = max(1, min(_MOST_ROWS, _CELLS // max(n_files, 1)))
    for begin in range(0, rows, most):
        yield min(most, rows - begin)


# Totals of a tally whose files are weighted: many at once, by one matrix product.
#
# Weights are how often each file counts: whole numbers in bootstrap replicates, 0 and 1 where files are left
# out or exchanged. Counts stay exact, being whole numbers far below 2^53.


@dataclass(frozen=True, slots=True)
class Statistics:
    """All columns of a tally side by side.

    table: (n_files, n_columns). where: the columns of each name. undefined: names with NaN in some file,
    which stand as 0 in the table, and where they are, (n_files, n) each.
    """

    tally: Tally
    table: Floats
    where: dict[str, slice]
    undefined: dict[str, Floats]

    @classmethod
    def of(cls, tally: Tally) -> Statistics:
        """Put the columns of a tally side by side."""
        columns = {name: column.reshape(len(tally.files), -1) for name, column in _columns(tally).items()}
        ends = np.cumsum([0, *(column.shape[1] for column in columns.values())]).tolist()
        where = {name: slice(*ends[i : i + 2]) for i, name in enumerate(columns)}
        missing = {name: np.isnan(column) for name, column in columns.items() if column.dtype.kind == "f"}
        undefined = {name: of.astype(np.float64) for name, of in missing.items() if of.any()}
        parts = [np.where(missing[n], 0.0, c) if n in undefined else c for n, c in columns.items()]
        table = np.concatenate(parts, axis=1, dtype=np.float64) if parts else np.zeros((len(tally.files), 0))
        return cls(tally, table, where, undefined)

    def weighted(self, weights: Floats) -> Weighted:
        """Return the totals for each weights; weights: (n_weights, n_files)."""
        missing = {name: weights @ of for name, of in self.undefined.items()}
        return Weighted(self, weights @ self.table, missing)


@dataclass(frozen=True, slots=True)
class Weighted:
    """Totals of weighted files: `Totals` whose first axis are the weights."""

    statistics: Statistics
    sums: Floats
    missing: dict[str, Floats]

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes, last in columns per class."""
        return self.statistics.tally.classes

    @property
    def is_expected(self) -> npt.NDArray[np.bool_]:
        """Whether the reference or the settings name a class, (n_classes,)."""
        return self.statistics.tally.is_expected

    def total(self, name: str) -> Column:
        """Return a column summed over weighted files: (n_weights, n_classes), or (n_weights,)."""
        sums = self.sums[:, self.statistics.where[name]]
        if name in self.missing:
            # A file that does not count has no say in what is undefined.
            sums = np.where(self.missing[name] > 0, np.nan, sums)
        return sums if name in self.statistics.tally.per_class else sums[:, 0]


def _columns(tally: Tally) -> dict[str, Column]:
    return {name: np.asarray(column) for name, column in (*tally.per_class.items(), *tally.per_file.items())}
