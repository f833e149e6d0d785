"""How far each annotator can be believed, from what they say alone.

The model is that of MACE (Hovy, Berg-Kirkpatrick, Vaswani & Hovy 2013), as MAESTRO used it (Martin-Morato &
Mesaros 2023). An item is a class in a segment, or in a segment's time, and its label whether an annotator's
value is above the threshold. The class is there with its own probability, the prevalence (MACE has 1/2 for
all). An annotator knows with a probability, the competence, and says what is so; else says yes with a
probability of his own, whatever is so. Labels are independent given what is so; those that are missing say
nothing.

Competence, readiness to say yes, and prevalence of classes are those of the highest likelihood that
expectation maximisation finds from one beginning: competence 0.8, all else as often as it was said. Each
count has 0.01 added, so that no probability is 0 or 1. Two annotators cannot be told apart in this way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sedeval_soft.apps.annotators.units import Units, distinct_columns
from sedeval_soft.arrays import Array, Bools, Floats, Index

FIRST_COMPETENCE = 0.8
"""Where the estimate of a competence begins, and stays for an annotator who labelled nothing."""

_ADDED, _CLOSE, _STEPS = 0.01, 1e-9, 2000


class Patterns(NamedTuple):
    """Distinct sets of answers to an item of a class: few stand for all items.

    yes, given: (n_annotators, n_patterns), who says yes, and who labelled it. label: (n_patterns,) codes of
    classes. items: (n_patterns,) how many items have these answers. pattern: (n_items,) which each has.
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

        yes, given: (n_annotators, n_items). label: (n_items,) codes. weight: (n_items,) how many
        items each stands for.
        """
        first, pattern = distinct_columns(label, *np.where(given, yes, 2))
        count = np.bincount(pattern, weight, minlength=len(first)).astype(np.float64)
        return cls((yes & given)[:, first], given[:, first], label[first].astype(np.int64), count, pattern)


class Competence(NamedTuple):
    """What annotators and classes are like.

    competence, says_yes: (n_annotators,), how often one knows, and says yes where not. prevalence:
    (n_classes,). likelihood: the logarithm of it, before each step.
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
