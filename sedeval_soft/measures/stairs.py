"""The PSD-ROC of a class whose counts are known level by level, from the highest downwards.

Of the points of a stretch of levels only those on a staircase matter, as many as reference events are found
at the most; stairs of stretches joined are those of all levels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sedeval_soft.measures.psds import Rates, Staircases

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]


@dataclass(slots=True)
class Climb:
    """Collects the staircase of a class: it looks at all levels."""

    rates: Rates
    found: Staircases

    @classmethod
    def of(cls, n_ref: int, rates: Rates) -> Climb:
        """Begin where nothing is detected."""
        none = np.zeros(0, dtype=np.int64)
        return cls(rates, Staircases(none, np.zeros(0), none, np.array([n_ref], dtype=np.int64)))

    def reached(self, counts: Index) -> None:
        """Take no notice."""

    def may(self, counts: Index, high: Index, low: Index) -> npt.NDArray[np.bool_]:
        """Return that any bin is looked at."""
        del counts, low
        return np.ones(len(high), dtype=bool)

    def see(self, level: Floats, counts: Index) -> None:
        """Join the points of some levels."""
        label = np.zeros(len(level), dtype=np.int64)
        own = Staircases.under(label, self.rates.efpr(counts), counts[0], self.found.n_ref)
        self.found = Staircases.joined([self.found, own])
