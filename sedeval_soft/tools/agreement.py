"""What several annotators say of the same segments: references made of it, agreement, and competence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sedeval_soft.measures.detection import f_beta

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

FIRST_COMPETENCE = 0.8
"""Where the estimate of a competence begins, and stays for an annotator who labelled nothing."""

_ADDED, _CLOSE, _STEPS = 0.01, 1e-9, 2000
_MISSING = 2


@dataclass(frozen=True, slots=True)
class Opinions:
    """What annotators say.

    values: (n_annotators, n_classes, n_segments) in [0, 1]. labelled: (n_annotators, n_segments), whether an
    annotator labelled a segment: what is not labelled is missing, whatever its value.
    """

    values: Floats
    labelled: Bools

    def without(self, annotator: int) -> Opinions:
        """Return what the others say."""
        others = np.arange(len(self.values)) != annotator
        return Opinions(self.values[others], self.labelled[others])


def reference_of(opinions: Opinions, method: str, threshold: float) -> Floats:
    """Return the reference by one of the methods mean, competence and majority, (n_classes, n_segments)."""
    if method == "majority":
        return majority(opinions, threshold)
    return mean(opinions, competence_of(opinions, threshold).competence if method == "competence" else None)


def mean(opinions: Opinions, weight: Floats | None = None) -> Floats:
    """Return the mean of the values of those who labelled, (n_classes, n_segments), 0 where nobody did.

    weight: (n_annotators,) not negative; where all who labelled have a weight of 0 they count alike.
    """
    given = opinions.labelled * (np.ones(len(opinions.values)) if weight is None else weight)[:, None]
    given = np.where(given.sum(axis=0) > 0, given, opinions.labelled)
    total = given.sum(axis=0)
    share = np.divide(given, total, out=np.zeros_like(given, dtype=np.float64), where=total > 0)
    return np.asarray(np.clip(np.einsum("jcn,jn->cn", opinions.values, share), 0.0, 1.0))


def majority(opinions: Opinions, threshold: float) -> Floats:
    """Return 1 where more than half of those who labelled are above the threshold, else 0; a tie is 0."""
    votes = ((opinions.values > threshold) & opinions.labelled[:, None]).sum(axis=0)
    return np.asarray(2 * votes > opinions.labelled.sum(axis=0), dtype=np.float64)


def alpha(values: Floats, given: Bools) -> float:
    """Return Krippendorff's alpha with the squared difference, NaN where it is undefined.

    values: (n_annotators, n_units). given: the same shape, whether there is a value; units with fewer than
    two are left out. With values 0 and 1 this is the nominal alpha, with others that of intervals. It is
    undefined where all values are equal, or where no unit has two. Source: Krippendorff 2011.
    """
    paired = given.sum(axis=0) >= 2
    given, values = given[:, paired], values[:, paired]
    m = given.sum(axis=0).astype(np.float64)
    n = m.sum()
    if not n:
        return float("nan")
    # Alpha does not change with what is added to all values; sums of small ones are exact.
    values = np.where(given, values - values[given].mean(), 0.0)
    if values[given].max() == values[given].min():
        return float("nan")
    total, squares = values.sum(axis=0), (values * values).sum(axis=0)
    observed = ((m * squares - total * total) / (m - 1.0)).sum() / n
    expected = (n * squares.sum() - total.sum() ** 2) / (n * (n - 1.0))
    return float(1.0 - observed / expected)


def alphas(values: Floats, labelled: Bools) -> list[float]:
    """Return alpha of all classes together, then of each class; arguments as those of `Opinions`."""
    n_annotators, n_classes, n_segments = values.shape
    shape = n_annotators, n_classes * n_segments
    together = alpha(values.reshape(shape), np.repeat(labelled[:, None], n_classes, axis=1).reshape(shape))
    return [together, *(alpha(values[:, k], labelled) for k in range(n_classes))]


def soft_f(opinions: Opinions, a: int, b: int) -> tuple[float, float, int]:
    """Return micro and macro soft F of two annotators, and how many segments both labelled.

    F = 2 sum min / (sum + sum), which does not depend on who is the reference; NaN where neither says
    anything. The macro average is over the classes that either of them uses.
    """
    both = opinions.labelled[a] & opinions.labelled[b]
    y, p = opinions.values[a][:, both], opinions.values[b][:, both]
    tp, n_a, n_b = np.minimum(y, p).sum(axis=1), y.sum(axis=1), p.sum(axis=1)
    used = n_a + n_b > 0
    macro = float(f_beta(tp[used], n_a[used], n_b[used]).mean()) if used.any() else float("nan")
    return float(f_beta(tp.sum(), n_a.sum(), n_b.sum())), macro, int(both.sum())


# How far each annotator can be believed, from what they say alone.
#
# The model is that of MACE (Hovy, Berg-Kirkpatrick, Vaswani & Hovy 2013), as MAESTRO used it (Martin-Morato &
# Mesaros 2023). An item is a class in a segment, and its label whether an annotator's value is above the
# threshold. The class is there with its own probability, the prevalence (MACE has 1/2 for all). An annotator
# knows with a probability, the competence, and says what is so; else says yes with a probability of his own,
# whatever is so. Labels are independent given what is so; those that are missing say nothing.
#
# Competence, readiness to say yes, and prevalence of classes are those of the highest likelihood that
# expectation maximisation finds from one beginning: competence 0.8, all else as often as it was said. Each
# count has 0.01 added, so that no probability is 0 or 1. Two annotators cannot be told apart in this way.


@dataclass(frozen=True, slots=True)
class Competence:
    """What annotators and classes are like.

    competence, says_yes: (n_annotators,), how often one knows, and says yes where not. prevalence:
    (n_classes,). likelihood: the logarithm of it, before each step.
    """

    competence: Floats
    says_yes: Floats
    prevalence: Floats
    likelihood: Floats


def competence_of(opinions: Opinions, threshold: float) -> Competence:
    """Estimate what annotators are like; those who labelled nothing have the competence they began with."""
    n_annotators, n_classes = opinions.values.shape[:2]
    class_, answers, count = _patterns(opinions, threshold)
    yes, given = answers == 1, answers != _MISSING
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
        before = competence, says_yes, prevalence
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
        after = competence, says_yes, prevalence
        if all(np.abs(new - old).max(initial=0.0) < _CLOSE for new, old in zip(after, before, strict=True)):
            break
    return Competence(competence, says_yes, prevalence, np.array(likelihood))


def _patterns(
    opinions: Opinions, threshold: float
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int8], Floats]:
    """Return the answers to all items: few patterns stand for all segments, so that each step is over few.

    Returns their classes, (n,); what annotators say, (n_annotators, n): 0, 1, or 2 where missing; and how
    many items are alike, (n,).
    """
    n_classes, n_segments = opinions.values.shape[1:]
    answers = np.where(opinions.labelled[:, None], opinions.values > threshold, _MISSING).astype(np.int8)
    answers = answers.reshape(len(answers), n_classes * n_segments)
    class_ = np.repeat(np.arange(n_classes, dtype=np.int64), n_segments)
    code, largest = class_, n_classes
    for each in answers:
        if largest > 2**60 // 3:
            code = np.unique(code, return_inverse=True)[1]
            largest = int(code.max(initial=0)) + 1
        code, largest = code * 3 + each, largest * 3
    _, first, count = np.unique(code, return_index=True, return_counts=True)
    return class_[first], answers[:, first], count.astype(np.float64)
