"""References of what several annotators say: means, weighted means, probabilities, majorities."""

from __future__ import annotations

import numpy as np

from sedeval_soft.annotators.competence import Patterns, competence_of
from sedeval_soft.annotators.dawid_skene import dawid_skene
from sedeval_soft.annotators.units import Units
from sedeval_soft.arrays import Floats

METHODS = {
    "mean": "mean of those who labelled",
    "competence": "mean of those who labelled, weighted by competence",
    "dawid-skene": "probability by Dawid & Skene's model of what those who labelled say",
    "majority": "majority of those who labelled",
}
"""How a reference is made of labels, in words."""


def reference_of(units: Units, method: str, threshold: float) -> Floats:
    """Return the value of each unit by one of the METHODS, (n_units,).

    By the majority it is 1 where more than half of those who labelled are above the threshold, else 0; a tie
    is 0. By Dawid & Skene's model it is the probability that the class is there, and 0 where nobody is above
    the threshold: what nobody hears is no event, however probable it is that all miss it.
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
    """Return the mean of the values of those who labelled, (n_units,), 0 where nobody did.

    weight: (n_annotators,) not negative; where all who labelled have a weight of 0 they count alike.
    """
    weights = np.ones(len(units.values))
    if weight is not None and weight.max(initial=0.0) > 0:
        weights = weight / weight.max()  # sums of tiny ones are not exact
    # Annotator by annotator, so that the sum of a unit has one order, however many units there are.
    total, weighed, number = (np.zeros(units.values.shape[1]) for _ in range(3))
    least, most = np.ones(len(total)), np.zeros(len(total))
    labelled = units.given if not units.given.all() else [True] * len(weights)
    for each, given, values in zip(weights, labelled, units.values, strict=True):
        np.add(total, each * values, out=total, where=given)
        weighed += each * given
        number += given
        np.minimum(least, values, out=least, where=given)
        np.maximum(most, values, out=most, where=given)
    unbelieved = np.flatnonzero((weighed == 0) & (number > 0))
    if len(unbelieved):
        total[unbelieved] = np.where(units.given, units.values, 0.0)[:, unbelieved].sum(axis=0)
        weighed[unbelieved] = number[unbelieved]
    pooled = np.divide(total, weighed, out=total, where=weighed > 0)
    # The mean of equal values is that value, to the last bit.
    return np.asarray(np.where(number > 0, np.clip(pooled, least, most), 0.0))
