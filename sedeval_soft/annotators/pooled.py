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
    weights = np.ones(len(units.values)) if weight is None else weight
    # Annotator by annotator, so that the sum of a unit has one order, however many units there are.
    total, weighed, plain, number = (np.zeros(units.values.shape[1]) for _ in range(4))
    least, most = np.ones(len(total)), np.zeros(len(total))
    for each, given, values in zip(weights, units.given, units.values, strict=True):
        total += np.where(given, each * values, 0.0)
        plain += np.where(given, values, 0.0)
        weighed += each * given
        number += given
        least, most = np.where(given, (np.minimum(least, values), np.maximum(most, values)), (least, most))
    total, weighed = np.where(weighed > 0, (total, weighed), (plain, number))
    pooled = np.divide(total, weighed, out=np.zeros_like(total), where=weighed > 0)
    # The mean of equal values is that value, to the last bit.
    return np.asarray(np.where(number > 0, np.clip(pooled, least, most), 0.0))
