"""Scores of annotators and of systems against what some annotators say together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sedeval_soft.annotators.references import References
from sedeval_soft.annotators.segments import Cells, Segments, Values
from sedeval_soft.api.evaluation import evaluate_rows
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

    tables: with the files and classes of the crowd, its own first. segments: where scores are of these alone,
    with cells: what annotators' pieces overlap, and sides: the values of each table.
    """

    references: References
    settings: Settings
    keys: tuple[Key, ...]
    tables: tuple[EventTable, ...]
    segments: Segments | None
    cells: Sequence[Cells] | None
    sides: tuple[Sequence[Values], ...]

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
        segments = Segments.of(to_ticks(crowd.length), crowd.classes, settings, keys)
        if segments is None:
            return cls(references, settings, tuple(keys), tables, None, None, ())
        cells = segments.cells(units.pieces, units.answer)
        sides = [*(segments.values(cells, each) for each in units.values), *map(segments.of_table, systems)]
        return cls(references, settings, tuple(keys), tables, segments, cells, tuple(sides))

    def against(self, who: Bools, numbers: Sequence[int], weights: Floats) -> Iterator[Floats]:
        """Yield the scores of some tables against the reference of some annotators, (n_keys, n_weights).

        who: (n_annotators,). numbers: of tables. weights: (n_weights, n_files) how often each file counts;
        those that none of these annotators labelled do not. NaN where undefined. Where there is one row of 0
        and 1 they are the very scores of `evaluate`.
        """
        crowd = self.references.crowd
        labelled = np.asarray(crowd.has_file[who].any(axis=0), dtype=bool)
        weights = weights * labelled
        if self.segments is not None and self.cells is not None:
            if self.references.events is None:
                reference = self.segments.values(self.cells, self.references.values(who))
            else:
                reference = self.segments.of_table(self.references.of_some(who, "annotators"))
            for number in numbers:
                counts = self.segments.counts(reference, self.sides[number])
                yield self.segments.scores(counts, weights, self.keys)
            return
        files = labelled if len(weights) > 1 else weights[0] > 0
        rows, lengths = crowd.within(self.references.of_some(who, "annotators"), files)
        for number in numbers:
            table = self.tables[number]
            settings = self.references.settings_for(self.settings, table)
            values = np.full((len(self.keys), len(weights)), np.nan)
            if len(weights) == 1 and files.any():
                scores = evaluate_rows(rows, table, settings, lengths)
                values[:, 0] = [scores[str(ScoreName(*key))] for key in self.keys]
            elif files.any():
                tally = shard_of_rows(rows, table, settings, lengths).tally
                some = weights.any(axis=1)
                own = weights[some][:, files]
                values[:, some] = Replicates.of(tally, settings).values(own, self.keys)
            yield values
