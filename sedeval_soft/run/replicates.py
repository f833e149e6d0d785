"""All scores of many mixtures of the files of a tally, from statistics that are counted and sorted once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.tally import Tally
from sedeval_soft.core.weighted import Statistics, Weighted
from sedeval_soft.evaluation.count import Columns
from sedeval_soft.evaluation.plan import THRESHOLDED, Family
from sedeval_soft.evaluation.score import Key, counted_tables, joined, named, ranked_tables, sorted_cells
from sedeval_soft.measures.averages import Averaged
from sedeval_soft.measures.base import Table, Tables
from sedeval_soft.measures.detection import f_beta, totals
from sedeval_soft.run.optimal import Weighted as WeightedScores
from sedeval_soft.run.optimal import counts_at, error_rate_table, optimal_table, satisficed
from sedeval_soft.run.optimal_bootstrap import optimal_of_weights
from sedeval_soft.run.ordered import SortedCells
from sedeval_soft.settings import Settings

Floats = npt.NDArray[np.float64]

_POOLED = {"joint_threshold": "joint_f", "single_threshold": "single_f"}
"""The F of all classes together that thresholds are best for."""


@dataclass(frozen=True, slots=True)
class Replicates:
    """What gives the scores of weighted files.

    tally: of the files. statistics: its counts. cells: by basis, those in order that scores need. optimal:
    what looks for best thresholds anew.
    fixed: the thresholds, (n_classes,), of those that keep them, by what they are best for.
    """

    tally: Tally
    statistics: Statistics
    settings: Settings
    cells: Mapping[str, SortedCells]
    optimal: Sequence[tuple[Family, WeightedScores]]
    fixed: Mapping[Family, Mapping[str, Floats]]

    @classmethod
    def of(cls, tally: Tally, settings: Settings, best: Tables | None = None) -> Replicates:
        """Prepare the scores that the settings ask for.

        best: the tables of the optimal readings of all files, whose thresholds are kept; None to look for
        them anew with each weights.
        """
        families = [family for family in THRESHOLDED if settings.wants(*family)]
        cells = sorted_cells(tally, settings, again=True)
        if best is None:
            finders = (optimal_of_weights, *((satisficed,) if settings.satisfice else ()))
            optimal = [(family, find(tally, family[0], settings)) for find in finders for family in families]
            return cls(tally, Statistics.of(tally), settings, cells, optimal, {})
        fixed = {family: _thresholds(best[family]) for family in families}
        columns = Columns(dict(tally.per_class), dict(tally.per_file), {}, {})
        for family, by_use in fixed.items():
            for use, thresholds in by_use.items():
                columns.enter(f"{family[0]}.{use}", counts_at(tally, family[0], thresholds, settings))
        counted = replace(tally, per_class=columns.per_class, per_file=columns.per_file)
        return cls(tally, Statistics.of(counted), settings, cells, (), fixed)

    def values(self, weights: Floats, keys: Sequence[Key]) -> Floats:
        """Return scores of each weights, (n_keys, n_weights), NaN where undefined.

        weights: (n_weights, n_files) how often each file counts, whole numbers.
        """
        sums = self.statistics.weighted(weights)
        tables = joined(
            counted_tables(sums, self.settings),
            *({family: scores(weights)} for family, scores in self.optimal),
            {family: self._fixed_table(family, sums) for family in self.fixed},
        )
        place = {key: row for row, key in enumerate(keys)}
        found = np.full((len(keys), len(weights)), np.nan)
        _enter(found, place, tables, self.tally.classes)
        if self.one_by_one:
            for row, weight in enumerate(weights):
                counts = weight.astype(np.int64)
                files = np.repeat(np.arange(len(counts)), counts)
                drawn = replace(self.tally, samples={}).take(
                    files, tuple(f"{k:012}" for k in range(len(files)))
                )
                cells = {basis: of.drawn(counts) for basis, of in self.cells.items()}
                _enter(found[:, row], place, ranked_tables(drawn, cells, self.settings), self.tally.classes)
        return found

    @property
    def one_by_one(self) -> bool:
        """Whether there are scores that are made for one replicate after another, which takes long."""
        settings = self.settings
        return settings.wants_psds or any(group not in ("confusion", "joint") for group in settings.measures)

    def _fixed_table(self, family: Family, sums: Weighted) -> Table:
        basis, uses = family[0], self.fixed[family]
        table = optimal_table(totals(sums, f"{basis}.threshold"), uses["threshold"], self.settings)
        if "best_error_rate_threshold" in uses:
            counts = totals(sums, f"{basis}.best_error_rate_threshold")
            thresholds = uses["best_error_rate_threshold"]
            table |= error_rate_table(counts.tp, counts.n_sys, counts.n_ref, thresholds)
        for use, measure in _POOLED.items():
            if use in uses:
                counts = totals(sums, f"{basis}.{use}")
                tp, n_ref, n_sys = (of.sum(axis=-1) for of in (counts.tp, counts.n_ref, counts.n_sys))
                f = np.where(n_ref > 0, f_beta(tp, n_ref, n_sys, self.settings.beta), np.nan)
                table[measure] = Averaged(None, overall=f)
                shown = np.where(np.isinf(uses[use]), np.nan, uses[use])
                one = np.array(shown[0] if len(shown) else np.nan)
                table[use] = Averaged(shown) if use == "joint_threshold" else Averaged(None, overall=one)
        return table


def _thresholds(table: Mapping[str, Averaged]) -> dict[str, Floats]:
    """Return the thresholds of a table by what they are best for; infinite where there is none."""
    found = {}
    for name in ("threshold", "best_error_rate_threshold", *_POOLED):
        values = table.get(name)
        if values is not None and values.classes is not None:
            found[name] = np.where(np.isnan(values.classes), np.inf, values.classes)
        elif values is not None and values.overall is not None:
            # One for all classes.
            one = float(values.overall)
            found[name] = np.full_like(found["threshold"], np.inf if np.isnan(one) else one)
    return found


def _enter(found: Floats, place: Mapping[Key, int], tables: Tables, classes: tuple[str, ...]) -> None:
    """Enter the values of tables in the rows of their keys."""
    for key, value in named(tables, classes):
        row = place.get(key)
        if row is not None and value is not None:
            found[row] = value
