"""Agreement of annotators: Krippendorff's alpha of labels, of values and of events, and F of each two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

from sedeval_soft.api import evaluate_rows
from sedeval_soft.apps.annotators.crowd import Crowd
from sedeval_soft.apps.annotators.units import Units
from sedeval_soft.arrays import Bools, Floats
from sedeval_soft.measures import f_beta
from sedeval_soft.settings import Settings
from sedeval_soft.tables import Ticks, to_ticks
from sedeval_soft.timeline import Events


class Agreement(NamedTuple):
    """Krippendorff's alpha of a class, None for all: of labels (nominal) and of values (interval).

    unitizing: alpha of events, boundaries included; None on a grid.
    """

    class_name: str | None
    nominal: float | None
    interval: float | None
    unitizing: float | None = None


def agreement_of(
    crowd: Crowd, threshold: float, events: Sequence[Events], one: float
) -> tuple[Agreement, ...]:
    """Return alpha of all classes together, then of each.

    events: of each annotator, without overlap. one: the ticks of a segment.
    """
    units, n_classes = crowd.units, len(crowd.classes)
    nominal, interval = (
        alphas(units, each, n_classes) for each in ((units.values > threshold).astype(float), units.values)
    )
    unitizing: Sequence[float | None] = [None] * len(nominal)
    if crowd.continuous:
        several = crowd.has_file.sum(axis=0) >= 2
        length = np.where(several, to_ticks(crowd.length), 0)
        unitizing = alphas_of_events(units, threshold, events, length, n_classes, one)
    return tuple(map(Agreement, (None, *crowd.classes), nominal, interval, unitizing))


def alpha(values: Floats, given: Bools, weight: Floats | None = None) -> float | None:
    """Return Krippendorff's alpha with the squared difference, None if it is undefined.

    values: (n_annotators, n_units). given: the same shape, whether the value exists; units with fewer than
    two values are left out. weight: (n_units,) the number of copies of each unit, one if None. Values of 0
    and 1 give nominal alpha, other values interval alpha. It is undefined if all values are equal, or if no
    unit has two. Source: Krippendorff 2011.
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


def alphas_of_events(
    units: Units, threshold: float, events: Sequence[Events], length: Ticks, n_classes: int, one: float
) -> list[float | None]:
    """Return alpha for unitizing, of all classes together, then of each class; units: in continuous time.

    Events and the gaps between them are compared for as long as they last, in files that several labelled:

        alpha = 1 - o (n^2 - c) / (n n_1 n_0)

    n_1 is the time of events, n_0 the time of gaps, n their sum, over all annotators. For each file, the time
    in which one annotator of a pair has an event and the other a gap is summed over all pairs and divided by
    its annotators less one; o is the sum over files.
    c is the comparison of each unit with itself: the sum of the squared lengths of events, and of the ticks
    of which gaps consist. Alpha is None if there are only events or only gaps.

    events: of each annotator, without overlap. length: (n_files,) ticks of files that several labelled, 0 of
    others; time beyond the length does not count. one: the ticks of a weight of 1. Source: Krippendorff,
    Mathet, Bouvry & Widlocher 2016, the coefficient of units and gaps, each class of a file a continuum of
    its own.
    """
    m, yes = units.given.sum(axis=0), ((units.values > threshold) & units.given).sum(axis=0)
    weight = np.where(m >= 2, units.weight, 0.0)
    columns = weight * m, weight * yes, weight * yes * (m - yes) / np.maximum(m - 1, 1)
    total, inside, apart = (np.bincount(units.label, each, minlength=n_classes) for each in columns)
    squares = np.zeros(n_classes)
    for each in events:
        onset, offset = (np.minimum(end, length[each.file]) for end in (each.onset, each.offset))
        squares += np.bincount(each.label, ((offset - onset) / one) ** 2, minlength=n_classes)

    def alpha_of(total: float, inside: float, apart: float, squares: float) -> float | None:
        outside = total - inside
        if not inside or outside <= 0:
            return None
        return 1.0 - apart * (total * total - squares - outside / one) / (total * inside * outside)

    rows = np.array((total, inside, apart, squares))
    return [alpha_of(*rows.sum(axis=1).tolist()), *(alpha_of(*row) for row in rows.T.tolist())]


_FAR, _FAR_AT_LEAST = 3.5, 0.1
"""Deviations, and soft F, below the median annotator's from which on agreement is much less."""

_NORMAL = 0.6745
"""The median absolute deviation of a normal variable whose standard deviation is 1."""

_FEWEST_JUDGED = 4
"""The fewest annotators among whom an outlier can be found."""

_EVENT_F = "event.soft.f1.micro"


class PairAgreement(NamedTuple):
    """Soft F of two annotators over the time that both labelled, by segments and by events.

    event_f1_micro: soft event-based F, the mean of either being the reference of the other.
    """

    annotators: tuple[str, str]
    f1_micro: float | None
    f1_macro: float | None
    segments: float
    event_f1_micro: float | None = None


def pairs_of(crowd: Crowd, settings: Settings, order: Sequence[int]) -> tuple[PairAgreement, ...]:
    """Return how far each two annotators agree; order: of the annotators."""
    settings = replace(settings, only=("event.soft",), measures=(), compat=None)

    def agreement(pair: tuple[int, int]) -> PairAgreement:
        names = crowd.names[pair[0]], crowd.names[pair[1]]
        return PairAgreement(
            names, *soft_f(crowd.units, pair, len(crowd.classes)), _event_f(crowd, pair, settings)
        )

    return tuple(map(agreement, combinations(order, 2)))


def soft_f(units: Units, pair: tuple[int, int], n_classes: int) -> tuple[float | None, float | None, float]:
    """Return micro and macro soft F of two annotators, and how many segments' time both labelled.

    F = 2 sum min / (sum + sum) has the same value with either as the reference; None if both sums are 0. The
    macro average is over the classes that either of them uses.
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


def _event_f(crowd: Crowd, pair: tuple[int, int], settings: Settings) -> float | None:
    """Return the soft event-based F of two annotators, the mean of that against either."""
    files = np.logical_and(*crowd.has_file[[*pair]])
    if not files.any():
        return None
    (one, lengths), (other, _) = (crowd.within(crowd.tables[each], files) for each in pair)
    scores = [evaluate_rows(*both, settings, lengths)[_EVENT_F] for both in ((one, other), (other, one))]
    defined = [score for score in scores if score is not None]
    return sum(defined) / 2 if defined else None


def outliers(annotators: Sequence[str], pairs: Sequence[PairAgreement]) -> list[str]:
    """Return a sentence for each of four annotators or more who agrees much less than the others.

    An annotator is named if the median annotator's mean soft F with the others is higher by more than 3.5
    standard deviations, and by 0.1 at least. The median absolute deviation estimates the standard deviation
    (Iglewicz & Hoaglin 1993).
    """
    own = {name: [each.f1_micro for each in pairs if name in each.annotators] for name in annotators}
    means = {
        name: float(np.mean(sorted(f for f in each if f is not None) or [np.nan]))
        for name, each in own.items()
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
