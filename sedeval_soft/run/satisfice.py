"""The best thresholds that satisfy a constraint, of a tally or of many mixtures of its files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.hard import positive
from sedeval_soft.core.satisfice import Constraint
from sedeval_soft.core.settings import Settings
from sedeval_soft.core.tally import Tally
from sedeval_soft.core.ticks import TICKS_PER_SECOND
from sedeval_soft.core.value import Score
from sedeval_soft.measures.candidates import Candidates
from sedeval_soft.measures.satisfice import satisficed_scores
from sedeval_soft.run.cell_scores import CELLS, Table
from sedeval_soft.run.retuned import candidates_of, changes_of, only_row, own_cells

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]

_SECONDS_PER_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Satisficed:
    """What finds the best thresholds of weighted files that satisfy a constraint.

    classes: the candidates of each class. pooled: those of all classes as one. hours: (n_files,).
    """

    classes: Sequence[Candidates]
    pooled: Candidates
    hours: Floats
    constraint: Constraint
    settings: Settings

    @classmethod
    def of(cls, tally: Tally, basis: str, settings: Settings, *, together: bool = False) -> Satisficed:
        """Prepare a basis; together: count all files as one, where they have no weights of their own."""
        constraint = Constraint.parse(settings.satisfice)
        classes = candidates_of(tally, basis, settings, with_nothing=True, together=together)
        pooled = _pooled(tally, basis, settings, constraint, together=together)
        hours = tally.per_file["length"] / (TICKS_PER_SECOND * _SECONDS_PER_HOUR)
        if together:
            hours = hours.sum(keepdims=True)
        return cls(classes, pooled, hours, constraint, settings)

    def table(self, weights: Floats) -> Table:
        """Return what is told of the best thresholds of each weights; weights: (n_weights, n_files)."""
        of = self.classes, self.pooled, weights, self.hours, self.constraint
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


def _pooled(
    tally: Tally, basis: str, settings: Settings, constraint: Constraint, *, together: bool
) -> Candidates:
    regardless = constraint.counts_regardless
    if basis not in CELLS:
        columns, n_ref = changes_of(tally, basis, settings, together=together, regardless=regardless)
        return Candidates.of_changes(columns, None, n_ref.sum(axis=1))
    scores, hits, file, n_files = own_cells(tally, basis, settings, together=together)
    pairs = _pairs(scores, positive(tally.samples[f"{basis}.reference"], settings), file)
    return Candidates.of_cells(
        scores.reshape(-1),
        hits.reshape(-1),
        np.tile(file, len(scores)),
        n_files,
        with_nothing=True,
        pairs=pairs if regardless else None,
    )


def _pairs(scores: Floats, hits: npt.NDArray[np.bool_], file: Codes) -> tuple[Floats, Codes]:
    """Return below which thresholds one more of a cell's classes is paired, whatever it is, and its file.

    Of as many classes as are active in the reference, the highest scores: (n_pairs,) each.
    """
    n_ref = hits.sum(axis=0)
    sounding = np.flatnonzero(n_ref)
    ordered = -np.sort(-scores[:, sounding], axis=0)
    paired = np.arange(len(scores))[:, None] < n_ref[sounding]
    return ordered[paired], np.broadcast_to(file[sounding], paired.shape)[paired]
