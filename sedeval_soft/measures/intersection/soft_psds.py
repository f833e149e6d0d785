"""PSDS against a soft reference: the mean over its levels of PSDS against the reference cut there.

Between two levels at which a reference event is born or dies the cut does not change. Each cut of each class
stands as a class of its own, so that many cuts are judged in one pass.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.events import Events
from sedeval_soft.core.lifetimes import EventLifetimes
from sedeval_soft.core.ticks import to_seconds
from sedeval_soft.measures.event.pairs import expand
from sedeval_soft.measures.intersection.criteria import Criteria
from sedeval_soft.measures.intersection.psds import PsdWeights, psd_roc, staircases

Floats = npt.NDArray[np.float64]

_AT_ONCE = 1_000_000
"""Lifetimes of the system, over all cuts, that are judged at a time."""


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
    edges = np.unique(np.concatenate((reference.born, reference.dies)))
    born, dies = np.searchsorted(edges, reference.born), np.searchsorted(edges, reference.dies)
    total, width = 0.0, 0.0
    of_class, width_of_class = np.zeros((2, n_classes))
    step = max(1, _AT_ONCE // max(1, len(system)))
    for begin in range(0, len(edges) - 1, step):
        end = min(begin + step, len(edges) - 1)
        events = _cuts(reference, born, dies, begin, end, n_classes)
        copies = _copies(system, end - begin, n_classes)
        kind = np.repeat(np.arange(end - begin), n_classes)
        stairs = staircases(events, copies, len(kind), seconds, criteria, weights.alpha_ct, kind)
        for cut in range(end - begin):
            own = stairs.take(np.arange(cut * n_classes, (cut + 1) * n_classes))
            roc = psd_roc(own, weights.alpha_st, weights.max_efpr)
            if np.isnan(roc.value):
                continue
            levels = float(edges[begin + cut + 1] - edges[begin + cut])
            total, width = total + levels * roc.value, width + levels
            there = ~np.isnan(roc.classes)
            of_class[there] += levels * roc.classes[there]
            width_of_class[there] += levels
    with np.errstate(invalid="ignore"):
        return (total / width if width else float("nan")), of_class / width_of_class


def _cuts(
    reference: EventLifetimes,
    born: npt.NDArray[np.intp],
    dies: npt.NDArray[np.intp],
    begin: int,
    end: int,
    n_classes: int,
) -> Events:
    """Return the events of some cuts, each cut's classes numbered after those of the one before."""
    low, high = np.maximum(born, begin), np.minimum(dies, end)
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
    return EventLifetimes(copies.file, label, copies.onset, copies.offset, copies.born, copies.dies)
