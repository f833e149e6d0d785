"""References made from annotators, all or some of them, and the scores of tables against them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sedeval_soft.api import evaluate_rows
from sedeval_soft.apps.annotators.consensus import SAME_IOU, Consensus, ConsensusEvents, agreed
from sedeval_soft.apps.annotators.crowd import Crowd
from sedeval_soft.apps.annotators.models import Patterns, competence_of, dawid_skene
from sedeval_soft.apps.annotators.units import Units
from sedeval_soft.arrays import Bools, Floats
from sedeval_soft.evaluation import Replicates, count_rows
from sedeval_soft.measures import ScoreName
from sedeval_soft.settings import Settings
from sedeval_soft.tables import EventTable
from sedeval_soft.timeline import Events

METHODS = {
    "mean": "mean of those who labelled",
    "competence": "mean of those who labelled, weighted by competence",
    "dawid-skene": "probability by Dawid & Skene's model of what those who labelled say",
    "majority": "majority of those who labelled",
}
"""The making of a reference from labels, in words."""


@dataclass(frozen=True, slots=True)
class References:
    """The settings by which references are made from annotators.

    method: one of METHODS, or of the methods of `consensus`. threshold: the value above which there is a
    label. events: of each annotator if the reference has consensus events, else None. iou: the least of
    events that mean the same.
    """

    crowd: Crowd
    method: str
    threshold: float
    events: tuple[Events, ...] | None = None
    iou: float = SAME_IOU

    def of_all(self) -> tuple[EventTable, Consensus | None]:
        """Return the reference that all annotators make, and its consensus events."""
        crowd, everyone = self.crowd, np.ones(len(self.crowd.names), dtype=bool)
        name = f"{self.method} of {len(crowd.names)} annotators"
        if self.events is None:
            return self.of_some(everyone, name), None
        made = self._consensus(everyone)
        events = Consensus(made, crowd.files, crowd.classes, crowd.names)
        return made.rows(crowd.files, crowd.classes, f"consensus, {name}"), events

    def of_some(self, who: Bools, name: str) -> EventTable:
        """Return the reference that some annotators make; who: (n_annotators,)."""
        names = self.crowd.files, self.crowd.classes, name
        if self.events is None:
            return self.crowd.units.rows(self.values(who), *names)
        return self._consensus(who).rows(*names)

    def _consensus(self, who: Bools) -> ConsensusEvents:
        crowd, chosen = self.crowd, np.flatnonzero(who)
        events = [self.events[each] for each in chosen.tolist()] if self.events else []
        return agreed(
            events, crowd.has_file[who], crowd.units.some(chosen), self.method, self.threshold, self.iou
        )

    def values(self, who: Bools) -> Floats:
        """Return the values over time that some annotators make, of each answer, (n_answers,)."""
        return value_of(self.crowd.units.some(np.flatnonzero(who)), self.method, self.threshold)

    def settings_for(self, settings: Settings, system: EventTable | None) -> Settings:
        """Return settings to score with: consensus events that only touch stay two if nobody has steps."""
        sides = (*self.crowd.tables, *(() if system is None else (system,)))
        steps = any(table.has_values for table in sides)
        apart = self.events is not None and settings.events == "auto" and not steps
        return replace(settings, events="rows") if apart else settings


def value_of(units: Units, method: str, threshold: float) -> Floats:
    """Return the value of each answer by one of the METHODS, (n_answers,).

    By the majority it is 1 where more than half of those who labelled are above the threshold, else 0; a tie
    is 0. By Dawid & Skene's model it is the probability that the class is present, and 0 if no annotator is
    above the threshold: a class that nobody hears is not an event, even if all probably miss it.
    """
    if method == "majority":
        votes = ((units.values > threshold) & units.given).sum(axis=0)
        return np.asarray(2 * votes > units.given.sum(axis=0), dtype=np.float64)
    if method == "dawid-skene":
        patterns = Patterns.of(units, threshold)
        posterior = dawid_skene(patterns, int(units.label.max(initial=-1)) + 1).posterior
        return np.where(patterns.yes.any(axis=0), posterior, 0.0)[patterns.pattern]
    return mean(units, competence_of(units, threshold).competence if method == "competence" else None)


def mean(units: Units, weight: Floats | None = None) -> Floats:
    """Return the mean of the values of those who labelled, (n_answers,), 0 where nobody did.

    weight: (n_annotators,) not negative; where all who labelled have a weight of 0 they count alike.
    """
    weights = np.ones(len(units.values))
    if weight is not None and weight.max(initial=0.0) > 0:
        weights = weight / weight.max()  # sums of tiny ones are not exact
    number = units.given.sum(axis=0)
    # Annotator by annotator, so that a sum has one order, however many answers there are.
    total, weighed, alike = np.zeros((3, units.values.shape[1]))
    for each, given, values in zip(weights, units.given, units.values, strict=True):
        np.add(total, each * values, out=total, where=given)
        np.add(alike, values, out=alike, where=given)
        weighed += each * given
    unbelieved = (weighed == 0) & (number > 0)
    total, weighed = np.where(unbelieved, alike, total), np.where(unbelieved, number, weighed)
    pooled = np.divide(total, weighed, out=total, where=weighed > 0)
    # The mean of equal values is that value, to the last bit.
    least, most = (
        end(units.values, axis=0, where=units.given, initial=empty)
        for end, empty in ((np.min, 1.0), (np.max, 0.0))
    )
    return np.asarray(np.where(number > 0, np.clip(pooled, least, most), 0.0))


@dataclass(frozen=True, slots=True)
class Scoring:
    """The tables that are scored against references of some annotators.

    keys: of the scores. tables: with the files and classes of the annotators, whose tables come first, then
    systems.
    """

    references: References
    settings: Settings
    keys: tuple[ScoreName, ...]
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
                values[:, 0] = [scores[str(key)] for key in self.keys]
            elif files.any():
                tally = count_rows(reference, table, settings, lengths).tally
                values[:, some] = Replicates.of(tally, settings).values(weights[some][:, files], self.keys)
            yield values
