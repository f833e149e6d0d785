"""Scores of weighted files from what is counted of each file: all totals are products of matrices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sedeval_soft.arrays import Bools, Floats
from sedeval_soft.evaluation.scores import counted_tables
from sedeval_soft.measures.base import WeightedTables
from sedeval_soft.measures.tally import Tally
from sedeval_soft.settings import Settings


@dataclass(frozen=True, slots=True)
class Weighted:
    """Totals of weighted files: `Totals` whose first axis are the weights."""

    classes: tuple[str, ...]
    is_expected: Bools
    sums: Mapping[str, Floats]

    def total(self, name: str) -> Floats:
        """Return a column summed over weighted files: (n_weights, n_classes), or (n_weights,)."""
        return self.sums[name]


def weighted(tally: Tally, weights: Floats) -> Weighted:
    """Return the totals of weighted files."""
    columns = {**tally.per_class, **tally.per_file}
    sums = {name: np.asarray(weights @ column) for name, column in columns.items()}
    return Weighted(tally.classes, tally.is_expected, sums)


def counted_of_weights(tally: Tally, settings: Settings) -> WeightedTables:
    """Return what gives the tables of what is counted."""
    return lambda weights: counted_tables(weighted(tally, weights), settings)
