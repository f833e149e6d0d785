"""How far each annotator can be believed, from what they say alone.

The model is that of MACE (Hovy, Berg-Kirkpatrick, Vaswani & Hovy 2013), as MAESTRO used it (Martin-Morato &
Mesaros 2023). An item is a class in a segment, and its label whether an annotator's value is above the
threshold. The class is there with its own probability, the prevalence (MACE has 1/2 for all). An annotator
knows with a probability, the competence, and says what is so; else says yes with a probability of his own,
whatever is so. Labels are independent given what is so; those that are missing say nothing.

Competence, readiness to say yes, and prevalence of classes are those of the highest likelihood that
expectation maximisation finds from one beginning: competence 0.8, all else as often as it was said. Each
count has 0.01 added, so that no probability is 0 or 1. Two annotators cannot be told apart in this way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sedeval_soft.annotators.opinions import Opinions

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

_FIRST, _ADDED = 0.8, 0.01
_STEPS, _CLOSE = 2000, 1e-9
_MISSING = 2

_MOST_CODES = 2**60


@dataclass(frozen=True, slots=True)
class Competence:
    """What annotators and classes are like.

    competence, says_yes: (n_annotators,), how often one knows, and says yes where not. prevalence:
    (n_classes,). likelihood: the logarithm of it, after each step.
    """

    competence: Floats
    says_yes: Floats
    prevalence: Floats
    likelihood: Floats


@dataclass(frozen=True, slots=True)
class _Patterns:
    """The different things that are said of a class.

    label: (n,) its class. said: (n_annotators, n) 0, 1, or 2 where missing. count: (n,) how often.
    """

    label: Index
    said: npt.NDArray[np.int8]
    count: Floats


def competence_of(opinions: Opinions, threshold: float) -> Competence:
    """Estimate what annotators are like; those who labelled nothing have the competence they began with."""
    patterns = _patterns(opinions, threshold)
    n_annotators, n_classes = opinions.values.shape[:2]
    yes, given = patterns.said == 1, patterns.said != _MISSING
    of_class = _sums(patterns.label, patterns.count * given, n_classes)
    prevalence = _share(_sums(patterns.label, patterns.count * yes, n_classes), of_class)
    says_yes = _share((patterns.count * yes).sum(axis=1), (patterns.count * given).sum(axis=1))
    found = Competence(np.full(n_annotators, _FIRST), says_yes, prevalence, np.zeros(0))
    history = []
    for _ in range(_STEPS):
        after, likelihood = _step(patterns, found)
        history.append(likelihood)
        moved = max(
            float(np.abs(getattr(after, name) - getattr(found, name)).max(initial=0.0))
            for name in ("competence", "says_yes", "prevalence")
        )
        found = after
        if moved < _CLOSE:
            break
    return Competence(found.competence, found.says_yes, found.prevalence, np.array(history))


def _step(patterns: _Patterns, now: Competence) -> tuple[Competence, float]:
    """Return what annotators are like after one step, and the log-likelihood before it."""
    yes, given = patterns.said == 1, patterns.said != _MISSING
    knows, guess = now.competence[:, None], now.says_yes[:, None]
    guessed = (1.0 - knows) * np.where(yes, guess, 1.0 - guess)
    # What is said, where the class is there and where it is not.
    there, absent = (np.where(given, np.log(guessed + knows * same), 0.0) for same in (yes, ~yes))
    prior = now.prevalence[patterns.label]
    odds = np.stack([np.log(prior) + there.sum(axis=0), np.log1p(-prior) + absent.sum(axis=0)])
    whole = np.logaddexp(odds[0], odds[1])
    is_there = np.exp(odds[0] - whole)
    right = np.where(yes, is_there, 1.0 - is_there)
    knew = np.where(given, right * knows / (guessed + knows), 0.0) * patterns.count
    guesses = np.where(given, patterns.count, 0.0) - knew
    n_given = (patterns.count * given).sum(axis=1)
    any_given = given.any(axis=0)
    n_classes = len(now.prevalence)
    prevalence = _share(
        _sums(patterns.label, patterns.count * is_there * any_given, n_classes),
        _sums(patterns.label, patterns.count * any_given, n_classes),
    )
    competence = np.where(n_given > 0, _share(knew.sum(axis=1), n_given), _FIRST)
    says_yes = _share((guesses * yes).sum(axis=1), guesses.sum(axis=1))
    likelihood = float((whole * patterns.count).sum())
    return Competence(competence, says_yes, prevalence, np.zeros(0)), likelihood


def _share(part: Floats, whole: Floats) -> Floats:
    return np.asarray((part + _ADDED) / (whole + 2 * _ADDED))


def _sums(label: Index, counts: Floats, n_classes: int) -> Floats:
    """Return the counts of each class, those of all annotators together: counts (..., n)."""
    counts = counts if counts.ndim == 1 else counts.sum(axis=0)
    return np.bincount(label, counts, minlength=n_classes).astype(np.float64)


def _patterns(opinions: Opinions, threshold: float) -> _Patterns:
    """Return what is said: few patterns stand for all segments, so that each step is over few."""
    n_annotators, n_classes, n_segments = opinions.values.shape
    code = np.repeat(np.arange(n_classes, dtype=np.int64), n_segments)
    most = n_classes
    for values, labelled in zip(opinions.values, opinions.labelled, strict=True):
        if most > _MOST_CODES // 3:
            _, code = np.unique(code, return_inverse=True)
            most = int(code.max(initial=0)) + 1
        code = code * 3 + np.where(labelled, values > threshold, _MISSING).astype(np.int64).ravel()
        most *= 3
    _, first, count = np.unique(code, return_index=True, return_counts=True)
    label, segment = np.divmod(first, max(n_segments, 1))
    said = np.where(
        opinions.labelled[:, segment], opinions.values[:, label, segment] > threshold, _MISSING
    ).astype(np.int8)
    return _Patterns(label, said.reshape(n_annotators, len(label)), count.astype(np.float64))
