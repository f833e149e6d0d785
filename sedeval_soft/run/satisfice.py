"""The best thresholds that satisfy a constraint, of a tally or of many mixtures of its files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.satisfice import Constraint
from sedeval_soft.core.settings import Settings
from sedeval_soft.core.tally import Tally
from sedeval_soft.core.value import Score
from sedeval_soft.measures.base import Table
from sedeval_soft.measures.candidates import Candidates
from sedeval_soft.measures.satisfice import satisficed_scores
from sedeval_soft.run.candidates import candidates_of, pooled_candidates
from sedeval_soft.run.retuned import only_row

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Satisficed:
    """What finds the best thresholds of weighted files that satisfy a constraint.

    classes: the candidates of each class. pooled: those of all classes as one. length: (n_files,) in ticks.
    """

    classes: Sequence[Candidates]
    pooled: Candidates
    length: Index
    constraint: Constraint
    settings: Settings

    @classmethod
    def of(cls, tally: Tally, basis: str, settings: Settings, *, together: bool = False) -> Satisficed:
        """Prepare a basis; together: count all files as one, where they have no weights of their own."""
        constraint = Constraint.parse(settings.satisfice)
        # A precision of 0 is one; that of nothing is none.
        every = constraint.best == "precision"
        classes = candidates_of(tally, basis, settings, with_nothing=True, every=every, together=together)
        pooled = pooled_candidates(
            tally,
            basis,
            settings,
            with_nothing=True,
            every=every,
            together=together,
            regardless=constraint.counts_regardless,
        )
        length = tally.per_file["length"]
        if together:
            length = length.sum(keepdims=True)
        return cls(classes, pooled, length, constraint, settings)

    def table(self, weights: Floats) -> Table:
        """Return what is told of the best thresholds of each weights; weights: (n_weights, n_files)."""
        of = self.classes, self.pooled, weights, self.length, self.constraint
        return satisficed_scores(*of, self.settings.beta, inclusive=self.settings.inclusive)


def satisficed_table(tally: Tally, basis: str, settings: Settings) -> Table:
    """Return what is told of the best thresholds of all files."""
    table = Satisficed.of(tally, basis, settings, together=True).table(np.ones((1, 1)))
    return {name: only_row(values) for name, values in table.items()}


def unreachable(scores: Sequence[Score], settings: Settings) -> list[str]:
    """Return a warning for each basis with classes for which no threshold satisfies the constraint.

    scores: of one evaluation; what a constrained measure comes nearest to stands beside a missing F.
    """
    if settings.satisfice is None:
        return []
    constraint = Constraint.parse(settings.satisfice)
    values = {(s.basis, s.class_name, s.measure): s.value for s in scores if s.reading == "optimal"}
    near: dict[str, list[str]] = {}
    for (basis, label, measure), threshold in values.items():
        if measure != "satisficed_threshold" or threshold is None:
            continue  # a class without reference has none
        if values[basis, label, "satisficed_recall"] is None:
            value = values[basis, label, "satisficed_constraint"]
            reached = "undefined" if value is None else f"{value:.4g}"
            name = "all classes at one threshold" if label is None else label
            near.setdefault(basis, []).append(f"{name} {reached}")
    wanted = f"{constraint.measure}{constraint.sign}{constraint.number:g}"
    return [
        f"{basis}: no threshold reaches {wanted}; the nearest: {', '.join(own)}"
        for basis, own in near.items()
    ]
