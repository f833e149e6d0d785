"""Scores of annotators and of systems against what some annotators say together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sedeval_soft.api.evaluation import evaluate_rows
from sedeval_soft.apps.annotators.references import References
from sedeval_soft.apps.annotators.segments import Cells, Segments, Values
from sedeval_soft.arrays import Bools, Floats
from sedeval_soft.evaluation.resample import Replicates
from sedeval_soft.evaluation.scores import Key
from sedeval_soft.evaluation.shard import shard_of_rows
from sedeval_soft.measures.registry import ScoreName
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.ticks import to_ticks


@dataclass(frozen=True, slots=True)
class Scoring:
    """What is scored: tables, against references of some annotators.

    tables: with the files and classes of the crowd, its own first. others: the keys that `evaluate` gives the
    scores of, with settings; where there are segments, these give all others, with cells: what the pieces of
    annotators overlap, and sides: the values of each table.
    """

    references: References
    settings: Settings
    keys: tuple[Key, ...]
    tables: tuple[EventTable, ...]
    others: tuple[Key, ...]
    segments: Segments | None
    cells: Sequence[Cells]
    sides: Sequence[Sequence[Values]]

    @classmethod
    def of(
        cls,
        references: References,
        settings: Settings,
        keys: Sequence[Key],
        systems: Sequence[EventTable] = (),
    ) -> Scoring:
        """Prepare the scores of annotators, and of systems, which stand behind them."""
        crowd = references.crowd
        tables, units = (*crowd.tables, *systems), crowd.units
        segments = Segments.of(to_ticks(crowd.length), crowd.classes, settings)
        others = [key for key in keys if segments is None or not segments.have(key)]
        if segments is None or len(others) == len(keys):
            return cls(references, settings, tuple(keys), tables, tuple(others), None, (), ())
        cells = segments.cells(units.pieces, units.answer)
        sides = [*(segments.values(cells, each) for each in units.values), *map(segments.of_table, systems)]
        # Nothing is evaluated that segments give.
        only = tuple(dict.fromkeys(f"{key.basis}.{key.reading}" for key in others)) or settings.only
        settings = replace(settings, only=only)
        return cls(references, settings, tuple(keys), tables, tuple(others), segments, cells, sides)

    def against(self, who: Bools, numbers: Sequence[int], weights: Floats) -> Iterator[Floats]:
        """Yield the scores of some tables against the reference of some annotators, (n_keys, n_weights).

        who: (n_annotators,). numbers: of tables. weights: (n_weights, n_files) how often each file counts;
        those that none of these annotators labelled do not. NaN where undefined. Where there is one row of 0
        and 1 they are the very scores of `evaluate`.
        """
        references, other = self.references, [key in self.others for key in self.keys]
        weights = weights * references.crowd.has_file[who].any(axis=0)
        table = (
            references.of_some(who, "annotators") if self.others or references.events is not None else None
        )
        evaluated = iter(()) if table is None else self._evaluated(table, numbers, weights)
        reference: Sequence[Values] = ()
        if self.segments is not None:
            reference = (
                self.segments.values(self.cells, references.values(who))
                if table is None or references.events is None
                else self.segments.of_table(table)
            )
        for number in numbers:
            scores = np.full((len(self.keys), len(weights)), np.nan)
            if self.segments is not None:
                counts = self.segments.counts(reference, self.sides[number])
                scores = self.segments.scores(counts, weights, self.keys)
            if self.others:
                scores[other] = next(evaluated)
            yield scores

    def _evaluated(self, reference: EventTable, numbers: Sequence[int], weights: Floats) -> Iterator[Floats]:
        """Yield the scores of the other keys, (n_others, n_weights)."""
        files = np.asarray(weights.any(axis=0), dtype=bool)
        rows, lengths = self.references.crowd.within(reference, files)
        for number in numbers:
            table = self.tables[number]
            settings = self.references.settings_for(self.settings, table)
            values = np.full((len(self.others), len(weights)), np.nan)
            if len(weights) == 1 and files.any():
                scores = evaluate_rows(rows, table, settings, lengths)
                values[:, 0] = [scores[str(ScoreName(*key))] for key in self.others]
            elif files.any():
                tally = shard_of_rows(rows, table, settings, lengths).tally
                some = weights.any(axis=1)
                values[:, some] = Replicates.of(tally, settings).values(weights[some][:, files], self.others)
            yield values
