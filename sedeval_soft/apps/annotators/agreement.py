"""How far annotators agree: Krippendorff's alpha of labels, of values, and of events whose ends are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from sedeval_soft.apps.annotators.crowd import Crowd
from sedeval_soft.apps.annotators.units import Units
from sedeval_soft.arrays import Bools, Floats
from sedeval_soft.tables.ticks import Ticks, to_ticks
from sedeval_soft.timeline.events import Events


class Agreement(NamedTuple):
    """Krippendorff's alpha of a class, None for all: of labels (nominal) and of values (interval).

    unitizing: alpha of events whose ends are drawn, too; None on a grid.
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


def alphas_of_events(
    units: Units, threshold: float, events: Sequence[Events], length: Ticks, n_classes: int, one: float
) -> list[float | None]:
    """Return alpha for unitizing, of all classes together, then of each class; units: in continuous time.

    Events and the gaps between them are compared for as long as they last, in files that several labelled:

        alpha = 1 - o (n^2 - c) / (n n_1 n_0)

    n_1 is the time of events, n_0 that of gaps, n that of both, over all annotators. o is the time that is an
    event to one and a gap to another, over all pairs, that of each file divided by its annotators less one.
    c is what would be compared with itself: the sum of the squared lengths of events; and gaps are made of
    ticks, the squared lengths of these. None where there are only events or only gaps.

    events: of each annotator, without overlap. length: (n_files,) ticks of files that several labelled, 0 of
    others; what lies beyond does not count. one: the ticks of a weight of 1.
    Source: Krippendorff, Mathet, Bouvry & Widlocher 2016, the coefficient of units and gaps, each class of a
    file a continuum of its own.
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
