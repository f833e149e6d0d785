"""How far each two annotators agree: soft F of what they say over time, and of their events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from sedeval_soft.api.evaluation import evaluate_rows
from sedeval_soft.apps.annotators.crowd import Crowd
from sedeval_soft.apps.annotators.units import Units
from sedeval_soft.arrays import Floats
from sedeval_soft.measures.detection import f_beta
from sedeval_soft.settings import Settings

_FAR, _FAR_AT_LEAST = 3.5, 0.1
"""Deviations, and soft F, below the median annotator's from which on agreement is much less."""

_NORMAL = 0.6745
"""The median absolute deviation of a normal variable whose standard deviation is 1."""

_FEWEST_JUDGED = 4
"""Annotators of fewer than whom nobody can say which is out of line."""

_EVENT_F = "event.soft.f1.micro"


class PairAgreement(NamedTuple):
    """Soft F of two annotators over the time that both labelled, counted in segments, and that of events.

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

    That is whose mean soft F with the others lies below the median annotator's by more than 3.5 standard
    deviations, estimated by the median absolute deviation (Iglewicz & Hoaglin 1993), and by 0.1 at least.
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
