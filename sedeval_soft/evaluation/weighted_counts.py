"""Scores of weighted files from what is counted of each file: all totals are one product of matrices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from sedeval_soft.arrays import Bools, Floats
from sedeval_soft.evaluation.scores import counted_tables
from sedeval_soft.measures.base import Tables
from sedeval_soft.measures.tally import Tally
from sedeval_soft.settings import Settings

WeightedTables = Callable[[Floats], Tables]
"""Returns the tables of weighted files, (n_weights, ...); weights: (n_weights, n_files), whole numbers."""


@dataclass(frozen=True, slots=True)
class Weighted:
    """Totals of weighted files: `Totals` whose first axis are the weights."""

    classes: tuple[str, ...]
    is_expected: Bools
    sums: Mapping[str, Floats]

    def total(self, name: str) -> Floats:
        """Return a column summed over weighted files: (n_weights, n_classes), or (n_weights,)."""
        return self.sums[name]


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a tally side by side.

    table: (n_files, n_columns), those of each class first.
    """

    tally: Tally
    table: Floats

    @classmethod
    def of(cls, tally: Tally) -> Self:
        """Put them side by side."""
        columns = (*tally.per_class.values(), *tally.per_file.values())
        return cls(tally, np.column_stack([np.zeros((len(tally.files), 0)), *map(np.asarray, columns)]))

    def weighted(self, weights: Floats) -> Weighted:
        """Return the totals of weighted files."""
        tally, sums = self.tally, weights @ self.table
        shape = len(weights), len(tally.per_class), len(tally.classes)
        n = shape[1] * shape[2]
        of_classes = zip(tally.per_class, sums[:, :n].reshape(shape).swapaxes(0, 1), strict=True)
        of_files = zip(tally.per_file, sums[:, n:].T, strict=True)
        return Weighted(tally.classes, tally.is_expected, dict(of_classes) | dict(of_files))


def counted_of_weights(tally: Tally, settings: Settings) -> WeightedTables:
    """Return what gives the tables of what is counted."""
    columns = Columns.of(tally)
    return lambda weights: counted_tables(columns.weighted(weights), settings)
