"""How far annotators agree: Krippendorff's alpha, and the soft F of each two."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from sedeval_soft.annotators.units import Units
from sedeval_soft.arrays import Bools, Floats
from sedeval_soft.measures.detection import f_beta

_FAR, _FAR_AT_LEAST = 3.5, 0.1
"""Deviations, and soft F, below the median annotator's from which on agreement is much less."""

_NORMAL = 0.6745
"""The median absolute deviation of a normal variable whose standard deviation is 1."""

_FEWEST_JUDGED = 4
"""Annotators of fewer than whom nobody can say which is out of line."""


class Agreement(NamedTuple):
    """Krippendorff's alpha of a class, None for all: of labels (nominal) and of values (interval)."""

    class_name: str | None
    nominal: float | None
    interval: float | None


class PairAgreement(NamedTuple):
    """Soft F of two annotators over the time that both labelled, counted in segments, and that of events.

    event_f1_micro: soft event-based F, the mean of either being the reference of the other.
    """

    annotators: tuple[str, str]
    f1_micro: float | None
    f1_macro: float | None
    segments: float
    event_f1_micro: float | None = None


def alpha(values: Floats, given: Bools, weight: Floats | None = None) -> float | None:
    """Return Krippendorff's alpha with the squared difference, None where it is undefined.

    values: (n_annotators, n_units). given: the same shape, whether there is a value; units with fewer than
    two are left out. weight: (n_units,) how many times each unit stands, once if None. With values 0 and 1
    this is the nominal alpha, with others that of intervals. It is undefined where all values are equal, or
    where no unit has two. Source: Krippendorff 2011.
    """
    times = np.ones(values.shape[1]) if weight is None else weight
    paired = (given.sum(axis=0) >= 2) & (times > 0)
    given, values, times = given[:, paired], values[:, paired], times[paired]
    m = given.sum(axis=0).astype(np.float64)
    n = (times * m).sum()
    if n <= 1.0:
        return None
    # Alpha does not change with what is added to all values; sums of small ones are exact.
    values = np.where(given, values - (times * np.where(given, values, 0.0)).sum() / n, 0.0)
    if values[given].max() == values[given].min():
        return None
    total, squares = values.sum(axis=0), (values * values).sum(axis=0)
    observed = (times * (m * squares - total * total) / (m - 1.0)).sum() / n
    expected = (n * (times * squares).sum() - (times * total).sum() ** 2) / (n * (n - 1.0))
    return float(1.0 - observed / expected)


def alphas(units: Units, values: Floats, n_classes: int) -> list[float | None]:
    """Return alpha of all classes together, then of each class; values: (n_annotators, n_units)."""
    # Numbers of few bits are sorted much sooner.
    order = np.argsort(units.label.astype(np.min_scalar_type(-n_classes - 1)), kind="stable")
    bounds = np.searchsorted(units.label[order], np.arange(n_classes + 1)).tolist()
    classes = [order[begin:end] for begin, end in pairwise(bounds)]
    return [
        alpha(values, units.given, units.weight),
        *(alpha(values[:, own], units.given[:, own], units.weight[own]) for own in classes),
    ]


def soft_f(units: Units, pair: tuple[int, int], n_classes: int) -> tuple[float | None, float | None, float]:
    """Return micro and macro soft F of two annotators, and how many segments' time both labelled.

    F = 2 sum min / (sum + sum), which does not depend on who is the reference; None where neither says
    anything. The macro average is over the classes that either of them uses.
    """
    both = np.flatnonzero(units.given[pair[0]] & units.given[pair[1]])
    label, weight = units.label[both], units.weight[both]
    y, p = (units.values[each, both] * weight for each in pair)
    tp, n_a, n_b = (
        np.bincount(label, each, minlength=n_classes).astype(np.float64) for each in (np.minimum(y, p), y, p)
    )
    used, time = n_a + n_b > 0, segments_in(weight, n_classes)
    if not used.any():
        return None, None, time
    macro = float(f_beta(tp[used], n_a[used], n_b[used]).mean())
    return float(f_beta(tp.sum(), n_a.sum(), n_b.sum())), macro, time


def outliers(annotators: Sequence[str], pairs: Sequence[PairAgreement]) -> list[str]:
    """Return a sentence for each of four annotators or more who agrees much less than the others.

    That is whose mean soft F with the others lies below the median annotator's by more than 3.5 standard
    deviations, estimated by the median absolute deviation (Iglewicz & Hoaglin 1993), and by 0.1 at least.
    """
    own = {name: [each.f1_micro for each in pairs if name in each.annotators] for name in annotators}
    means = {
        name: float(np.mean([f for f in each if f is not None] or [np.nan])) for name, each in own.items()
    }
    means = {name: mean for name, mean in means.items() if not np.isnan(mean)}
    if len(means) < _FEWEST_JUDGED:
        return []
    values = np.array([*means.values()])
    median = float(np.median(values))
    deviation = float(np.median(np.abs(values - median))) / _NORMAL
    least = max(_FAR * deviation, _FAR_AT_LEAST)
    return [
        f"{name} agrees much less with the others than they do: its mean soft F with them is {mean:.2f}, "
        f"that of the median annotator {median:.2f}; expected labels of the same sounds"
        for name, mean in means.items()
        if median - mean > least
    ]


def segments_in(weight: Floats, n_classes: int) -> float:
    """Return how many segments' time units of all classes are; a whole number of a grid."""
    segments = float(weight.sum()) / max(n_classes, 1)
    return int(segments) if segments.is_integer() else segments
