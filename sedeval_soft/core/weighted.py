"""Totals of a tally whose files are weighted: many at once, by one matrix product.

Weights are how often each file counts: whole numbers in bootstrap replicates, 0 and 1 where files are left
out or exchanged. Counts stay exact, being whole numbers far below 2^53.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.tally import Column, Tally

Floats = npt.NDArray[np.float64]


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
