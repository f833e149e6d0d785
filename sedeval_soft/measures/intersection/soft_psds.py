"""PSDS against a soft reference: the mean over its levels of PSDS against the reference cut there.

Between two levels at which a reference event is born or dies the cut does not change. Each cut of each class
stands as a class of its own, so that many cuts are judged in one pass. Where there are very many different
cuts, evenly spaced ones stand for all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.events import Events
from sedeval_soft.core.lifetimes import EventLifetimes
from sedeval_soft.core.ranges import expand
from sedeval_soft.core.ticks import to_seconds
from sedeval_soft.measures.intersection.criteria import Criteria
from sedeval_soft.measures.intersection.psds import PsdWeights, psd_roc, staircases

Floats = npt.NDArray[np.float64]

_AT_ONCE = 1_000_000
"""Lifetimes of the system, over all cuts, that are judged at a time."""

_MOST = 20_000_000
"""Lifetimes of the system, over all cuts, beyond which evenly spaced cuts stand for all: some seconds."""

_FEWEST = 64
"""Evenly spaced cuts at the least."""


@dataclass(frozen=True, slots=True)
class Cuts:
    """Levels at which the reference is cut, (n,) ascending, and how many levels each stands for, (n,).

    exact: whether the reference is the same at all levels that a cut stands for.
    """

    level: Floats
    width: Floats
    exact: bool


def cuts_of(reference: EventLifetimes, system: EventLifetimes) -> Cuts:
    """Return all different cuts of a reference, or evenly spaced ones where those would be too many."""
    edges = np.unique(np.concatenate((reference.born, reference.dies)))
    if (len(edges) - 1) * len(system) <= _MOST or len(edges) - 1 <= _FEWEST:
        return Cuts(edges[1:], np.diff(edges), exact=True)
    n = max(_FEWEST, _MOST // len(system))
    level = edges[-1] * (np.arange(n) + 0.5) / n
    return Cuts(level, np.full(n, edges[-1] / n), exact=False)


def soft_psds(
    reference: EventLifetimes,
    system: EventLifetimes,
    n_classes: int,
    seconds: float,
    criteria: Criteria,
    weights: PsdWeights,
) -> tuple[float, Floats]:
    """Return PSDS integrated over the levels where the reference has events, divided by how many have.

    Returns the score and that of each class alone, (n_classes,); NaN where there is no reference. A class
    counts in the mean over classes at those levels where it has events.
    """
    cuts = cuts_of(reference, system)
    # The cuts at which each event is alive: born < level <= dies.
    first = np.searchsorted(cuts.level, reference.born, side="right")
    last = np.searchsorted(cuts.level, reference.dies, side="right")
    total, width = 0.0, 0.0
    of_class, width_of_class = np.zeros((2, n_classes))
    step = max(1, _AT_ONCE // max(1, len(system)))
    for begin in range(0, len(cuts.level), step):
        end = min(begin + step, len(cuts.level))
        events = _cut(reference, first, last, begin, end, n_classes)
        copies = _copies(system, end - begin, n_classes)
        kind = np.repeat(np.arange(end - begin), n_classes)
        stairs = staircases(events, copies, len(kind), seconds, criteria, weights.alpha_ct, kind)
        for cut in range(end - begin):
            own = stairs.take(np.arange(cut * n_classes, (cut + 1) * n_classes))
            roc = psd_roc(own, weights.alpha_st, weights.max_efpr)
            if np.isnan(roc.value):
                continue
            levels = float(cuts.width[begin + cut])
            total, width = total + levels * roc.value, width + levels
            there = ~np.isnan(roc.classes)
            of_class[there] += levels * roc.classes[there]
            width_of_class[there] += levels
    with np.errstate(invalid="ignore"):
        return (total / width if width else float("nan")), of_class / width_of_class


def _cut(
    reference: EventLifetimes,
    first: npt.NDArray[np.intp],
    last: npt.NDArray[np.intp],
    begin: int,
    end: int,
    n_classes: int,
) -> Events:
    """Return the events of some cuts, each cut's classes numbered after those of the one before."""
    low, high = np.maximum(first, begin), np.minimum(last, end)
    index, cut = expand(low, np.maximum(low, high))
    label = ((cut - begin) * n_classes + reference.label[index]).astype(np.int32)
    onset, offset = reference.onset[index], reference.offset[index]
    return Events(reference.file[index], label, onset, offset, to_seconds(onset), to_seconds(offset))


def _copies(system: EventLifetimes, n: int, n_classes: int) -> EventLifetimes:
    """Return the lifetimes n times, with the classes of `_cuts`."""
    index = np.tile(np.arange(len(system)), n)
    copies = system.take(index)
    cut = np.repeat(np.arange(n, dtype=np.int32), len(system))
    label = (cut * n_classes + copies.label).astype(np.int32)
    return EventLifetimes(
        copies.file, label, copies.onset, copies.offset, copies.born, copies.dies, copies.nested
    )
