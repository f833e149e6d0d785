"""Scores of annotators and of systems against the joint reference of some annotators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sedeval_soft.api import evaluate_rows
from sedeval_soft.apps.annotators.references import References
from sedeval_soft.arrays import Bools, Floats
from sedeval_soft.evaluation import Key, Replicates, count_rows
from sedeval_soft.measures import ScoreName
from sedeval_soft.settings import Settings
from sedeval_soft.tables import EventTable


@dataclass(frozen=True, slots=True)
class Scoring:
    """The tables that are scored against references of some annotators.

    keys: of the scores. tables: with the files and classes of the annotators, whose tables come first, then
    systems.
    """

    references: References
    settings: Settings
    keys: tuple[Key, ...]
    tables: tuple[EventTable, ...]

    def against(self, who: Bools, numbers: Sequence[int], weights: Floats) -> Iterator[Floats]:
        """Yield the scores of some tables against the reference of some annotators, (n_keys, n_weights).

        who: (n_annotators,). numbers: of tables. weights: (n_weights, n_files) how often each file counts;
        those that none of these annotators labelled do not. NaN where undefined. For one row of 0 and 1 they
        equal the scores of `evaluate`.
        """
        crowd = self.references.crowd
        weights = weights * crowd.has_file[who].any(axis=0)
        files, some = np.asarray(weights.any(axis=0), dtype=bool), weights.any(axis=1)
        reference, lengths = crowd.within(self.references.of_some(who, "annotators"), files)
        for number in numbers:
            table = self.tables[number]
            settings = self.references.settings_for(self.settings, table)
            values = np.full((len(self.keys), len(weights)), np.nan)
            if len(weights) == 1 and files.any():
                scores = evaluate_rows(reference, table, settings, lengths)
                values[:, 0] = [scores[str(ScoreName(*key))] for key in self.keys]
            elif files.any():
                tally = count_rows(reference, table, settings, lengths).tally
                values[:, some] = Replicates.of(tally, settings).values(weights[some][:, files], self.keys)
            yield values
