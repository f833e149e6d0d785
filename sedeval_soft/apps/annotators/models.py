"""Whom to believe, from labels alone: competence (MACE), and sensitivity and specificity (Dawid & Skene).

An item is a class in a segment, or in a segment's time, and its label whether an annotator's value is above
the threshold. Given the truth, labels are independent; missing labels are ignored. Expectation maximisation
estimates the parameters of the highest likelihood that it finds.

MACE (Hovy, Berg-Kirkpatrick, Vaswani & Hovy 2013), as MAESTRO used it (Martin-Morato & Mesaros 2023): the
class is there with its own probability, the prevalence (MACE has 1/2 for all). An annotator knows the truth
with a probability, the competence; otherwise the annotator answers yes with a probability of their own,
regardless of the truth. Estimation begins with competence 0.8 and with observed shares for all other
parameters. Each count has 0.01 added, so that no probability is 0 or 1. MACE cannot distinguish two
annotators.

Dawid & Skene 1979 (Maximum likelihood estimation of observer error-rates using the EM algorithm), for each
class separately:
If the class is present, an annotator answers yes with a probability for this class, the sensitivity; if not,
the annotator answers no with another, the specificity. The beginning is the shares of yes. The model has no
prior: counts below 1e-10 are raised to it. Items that no three annotators labelled together do not determine
sensitivity and specificity.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sedeval_soft.apps.annotators.units import Units, distinct_columns
from sedeval_soft.arrays import Array, Bools, Floats, Index
from sedeval_soft.evaluation import finite
from sedeval_soft.tables import listing

FIRST_COMPETENCE = 0.8
"""The initial competence, and the final one of an annotator who labelled nothing."""

ENOUGH = 3
"""Annotators of the same items below whom Dawid & Skene's model is not determined."""

_ADDED, _LEAST, _CLOSE, _STEPS = 0.01, 1e-10, 1e-9, 2000

_SOME = 1e-6
"""The least number of items that counts as any: a remainder of a class that nobody believes in is less."""


class Patterns(NamedTuple):
    """Distinct sets of answers to an item of a class: a few represent all items.

    yes, given: (n_annotators, n_patterns), who answered yes, and who labelled it. label: (n_patterns,) codes
    of classes. items: (n_patterns,) how many items have these answers. pattern: (n_items,) the pattern of
    each item.
    """

    yes: Bools
    given: Bools
    label: Index
    items: Floats
    pattern: Index

    @classmethod
    def of(cls, units: Units, threshold: float) -> Patterns:
        """Return the distinct answers; a value above the threshold is yes."""
        return cls.of_answers(units.values > threshold, units.given, units.label, units.weight)

    @classmethod
    def of_answers(cls, yes: Bools, given: Bools, label: Array, weight: Floats) -> Patterns:
        """Return the distinct ones of answers to items.

        yes, given: (n_annotators, n_items). label: (n_items,) codes. weight: (n_items,) the number of items
        that each represents.
        """
        first, pattern = distinct_columns(label, *np.where(given, yes, 2))
        count = np.bincount(pattern, weight, minlength=len(first)).astype(np.float64)
        return cls((yes & given)[:, first], given[:, first], label[first].astype(np.int64), count, pattern)


class Competence(NamedTuple):
    """The estimated parameters of annotators and classes, by MACE.

    competence, says_yes: (n_annotators,), how often an annotator knows the truth, and answers yes if not.
    prevalence: (n_classes,). likelihood: its logarithm before each step.
    """

    competence: Floats
    says_yes: Floats
    prevalence: Floats
    likelihood: Floats


def competence_of(units: Units, threshold: float) -> Competence:
    """Estimate what annotators are like; those who labelled nothing have the competence they began with."""
    yes, given, class_, count, _ = Patterns.of(units, threshold)
    n_annotators, n_classes = len(yes), int(units.label.max(initial=-1)) + 1
    weight = count * given
    n_given, any_given = weight.sum(axis=1), given.any(axis=0)

    def by_class(counts: Floats) -> Floats:
        return np.bincount(class_, counts, minlength=n_classes).astype(np.float64)

    def share(part: Floats, whole: Floats) -> Floats:
        return np.asarray((part + _ADDED) / (whole + 2 * _ADDED))

    n_items = by_class(count * any_given)
    competence = np.full(n_annotators, FIRST_COMPETENCE)
    says_yes = share((count * yes).sum(axis=1), n_given)
    prevalence = share(by_class((count * yes).sum(axis=0)), by_class(weight.sum(axis=0)))
    likelihood: list[float] = []
    for _ in range(_STEPS):
        before = np.concatenate((competence, says_yes, prevalence))
        knows, guess = competence[:, None], says_yes[:, None]
        guessed = (1.0 - knows) * np.where(yes, guess, 1.0 - guess)
        # How probable an answer is, where the class is there and where it is not.
        there, absent = (np.where(given, np.log(guessed + knows * right), 0.0) for right in (yes, ~yes))
        prior = prevalence[class_]
        log_there = np.log(prior) + there.sum(axis=0)
        log_any = np.logaddexp(log_there, np.log1p(-prior) + absent.sum(axis=0))
        is_there = np.exp(log_there - log_any)
        right = np.where(yes, is_there, 1.0 - is_there)
        knew = np.where(given, right * knows / (guessed + knows), 0.0) * count
        guesses = weight - knew
        likelihood.append(float((log_any * count).sum()))
        competence = np.where(n_given > 0, share(knew.sum(axis=1), n_given), FIRST_COMPETENCE)
        says_yes = share((guesses * yes).sum(axis=1), guesses.sum(axis=1))
        prevalence = share(by_class(count * is_there * any_given), n_items)
        after = np.concatenate((competence, says_yes, prevalence))
        if np.abs(after - before).max(initial=0.0) < _CLOSE:
            break
    return Competence(competence, says_yes, prevalence, np.array(likelihood))


class DawidSkene(NamedTuple):
    """The estimated parameters of annotators and classes, by Dawid & Skene.

    - posterior: (n_patterns,), the probability of the class given the answers. prevalence: (n_classes,).
    - sensitivity, specificity: (n_annotators, n_classes), NaN if they are not determined.
    - positives, negatives: the same shape, how many of the annotator's items have the class, and do not have
      it.
    - likelihood: (n_steps,), its logarithm before each step.
    """

    posterior: Floats
    prevalence: Floats
    sensitivity: Floats
    specificity: Floats
    positives: Floats
    negatives: Floats
    likelihood: Floats

    def of(self, annotators: Sequence[int]) -> DawidSkene:
        """Return the same of annotators in another order."""
        names = ("sensitivity", "specificity", "positives", "negatives")
        return self._replace(**{name: getattr(self, name)[[*annotators]] for name in names})

    def micro(self) -> tuple[Floats, Floats]:
        """Return sensitivity and specificity over the items of all classes, (n_annotators,)."""
        return _pooled(self.sensitivity, self.positives), _pooled(self.specificity, self.negatives)


class Confusion(NamedTuple):
    """The prevalence of a class, and each annotator's sensitivity and specificity; None where undefined."""

    class_name: str
    prevalence: float
    sensitivity: tuple[float | None, ...]
    specificity: tuple[float | None, ...]


def confusions(estimate: DawidSkene, classes: Sequence[str]) -> tuple[Confusion, ...]:
    """Return the estimates for each class."""
    columns = (
        [tuple(map(finite, of_class)) for of_class in shares.T.tolist()]
        for shares in (estimate.sensitivity, estimate.specificity)
    )
    return tuple(map(Confusion, classes, estimate.prevalence.tolist(), *columns))


def doubts(estimate: DawidSkene, annotators: Sequence[str], classes: Sequence[str]) -> list[str]:
    """Return warnings of annotators who cannot be judged, and of classes that are believed to be nowhere."""
    unknown = np.isnan(np.concatenate((estimate.sensitivity, estimate.specificity), axis=1)).all(axis=1)
    alone = [annotators[each] for each in np.flatnonzero(unknown).tolist()]
    lost = np.flatnonzero(estimate.positives.max(axis=0, initial=0.0) <= _SOME)
    nowhere = [classes[each] for each in lost.tolist()]
    warnings = []
    if alone and len(annotators) >= ENOUGH:
        warnings.append(
            f"no two others labelled the same files as {listing(alone, 'annotator')}; "
            "sensitivity and specificity are unknown"
        )
    if nowhere:
        warnings.append(f"dawid-skene believes in no event of {listing(nowhere, 'class')}")
    return warnings


def dawid_skene(patterns: Patterns, n_classes: int) -> DawidSkene:
    """Estimate prevalences, sensitivities and specificities, and from them how probable each class is."""
    yes, given, class_ = patterns.yes, patterns.given, patterns.label
    items = np.where(given.any(axis=0), patterns.items, 0.0)
    n_items = np.maximum(np.bincount(class_, items, minlength=n_classes), _LEAST)
    cell = (class_ + n_classes * np.arange(len(yes))[:, None]).reshape(-1)

    def by_class(counts: Floats) -> Floats:
        """Return the sums of each annotator and class, none of them 0."""
        sums = np.bincount(cell, (counts * given).reshape(-1), minlength=len(yes) * n_classes)
        return np.maximum(sums.reshape(len(yes), n_classes), _LEAST)

    def prevalence_of(posterior: Floats) -> Floats:
        return np.asarray(np.bincount(class_, items * posterior, minlength=n_classes) / n_items)

    def shares(probability: Floats) -> tuple[Floats, Floats, Floats]:
        """Return how often an annotator answers yes, and no, and the number of items."""
        says_yes, says_no = (by_class(items * probability * answer) for answer in (yes, ~yes))
        both = says_yes + says_no
        return says_yes / both, says_no / both, both

    def log_probability(says_yes: Floats, says_no: Floats, prior: Floats) -> Floats:
        answer = np.where(yes, says_yes[:, class_], says_no[:, class_])
        log_prior = np.log(np.maximum(prior, _LEAST))[class_]
        return np.asarray(log_prior + np.where(given, np.log(answer), 0.0).sum(axis=0))

    posterior = np.asarray((yes & given).sum(axis=0) / np.maximum(given.sum(axis=0), 1))
    likelihood: list[float] = []
    change = 1.0
    while len(likelihood) < _STEPS and change >= _CLOSE:
        prevalence = prevalence_of(posterior)
        log_there = log_probability(*shares(posterior)[:2], prevalence)
        log_absent = log_probability(*shares(1.0 - posterior)[:2], 1.0 - prevalence)
        log_any = np.logaddexp(log_there, log_absent)
        before, posterior = posterior, np.exp(log_there - log_any)
        change = float(np.abs(posterior - before).max(initial=0.0))
        likelihood.append(float((log_any * items).sum()))
    sensitivity, _, positives = shares(posterior)
    _, specificity, negatives = shares(1.0 - posterior)
    compared = by_class(np.where(given.sum(axis=0) >= ENOUGH, items, 0.0) * np.ones_like(given)) > _SOME
    sensitivity, specificity = (
        np.where(compared & (n > _SOME), share, np.nan)
        for share, n in ((sensitivity, positives), (specificity, negatives))
    )
    prevalence = prevalence_of(posterior)
    return DawidSkene(
        posterior, prevalence, sensitivity, specificity, positives, negatives, np.array(likelihood)
    )


def _pooled(share: Floats, items: Floats) -> Floats:
    """Return the mean of the defined shares, weighted by items; NaN if none is defined."""
    items = np.where(np.isnan(share), 0.0, items)
    total = items.sum(axis=1)
    some = np.where(total > 0, total, np.nan)
    return np.asarray(np.nansum(share * items, axis=1) / some, dtype=np.float64)
