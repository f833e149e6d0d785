"""References made from annotators, all or some of them: values over time, or consensus events."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sedeval_soft.apps.annotators.consensus import SAME_IOU, Consensus, ConsensusEvents, agreed
from sedeval_soft.apps.annotators.crowd import Crowd
from sedeval_soft.apps.annotators.models import Patterns, competence_of, dawid_skene
from sedeval_soft.apps.annotators.units import Units
from sedeval_soft.arrays import Bools, Floats
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
