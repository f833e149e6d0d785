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
from sedeval_soft.measures.intersection.psds import PsdWeights, Staircases, psd_roc, staircases

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

    def stretches(self, n_sys: int) -> list[tuple[int, int]]:
        """Return which cuts are judged at a time, first and one past the last, of so many lifetimes."""
        step = max(1, _AT_ONCE // max(1, n_sys))
        return [(begin, min(begin + step, len(self.level))) for begin in range(0, len(self.level), step)]

    def sides(
        self, reference: EventLifetimes, system: EventLifetimes, begin: int, end: int, n_classes: int
    ) -> tuple[Events, EventLifetimes]:
        """Return the events of some cuts, and the lifetimes for each; the classes of each cut are its own."""
        # The cuts at which each event is alive: born < level <= dies.
        first = np.searchsorted(self.level, reference.born, side="right")
        last = np.searchsorted(self.level, reference.dies, side="right")
        events = _cut(reference, first, last, begin, end, n_classes)
        return events, _copies(system, end - begin, n_classes)


def cuts_of(reference: EventLifetimes, system: EventLifetimes) -> Cuts:
    """Return all different cuts of a reference, or evenly spaced ones where those would be too many."""
    return cuts_between(np.unique(np.concatenate((reference.born, reference.dies))), len(system))


def cuts_between(edges: Floats, n_sys: int) -> Cuts:
    """Return what `cuts_of` does where the reference changes at some levels, ascending.

    n_sys: how many lifetimes the system has.
    """
    if too_many(len(edges), n_sys):
        return sampled_cuts(edges[-1], n_sys)
    return Cuts(edges[1:], np.diff(edges), exact=True)


def sampled_cuts(highest: float, n_sys: int) -> Cuts:
    """Return evenly spaced cuts up to the highest level."""
    n = max(_FEWEST, _MOST // n_sys)
    return Cuts(highest * (np.arange(n) + 0.5) / n, np.full(n, highest / n), exact=False)


def too_many(n_edges: int, n_sys: int) -> bool:
    """Return whether there are too many levels to cut at each of them."""
    return (n_edges - 1) * n_sys > _MOST and n_edges - 1 > _FEWEST


def kinds_of(n_cuts: int, n_classes: int) -> npt.NDArray[np.int64]:
    """Return the cut that each class of some cuts is of."""
    return np.repeat(np.arange(n_cuts), n_classes)


@dataclass(slots=True)
class Integral:
    """PSDS summed over levels, and over how many it is defined: of all classes together, and of each."""

    total: float
    width: float
    of_class: Floats
    width_of_class: Floats

    @classmethod
    def empty(cls, n_classes: int) -> Integral:
        """Return that over no levels."""
        return cls(0.0, 0.0, np.zeros(n_classes), np.zeros(n_classes))

    def add(self, stairs: Staircases, widths: Floats, weights: PsdWeights) -> None:
        """Add some cuts, which stand for so many levels each."""
        n_classes = len(self.of_class)
        for cut, levels in enumerate(widths.tolist()):
            own = stairs.take(np.arange(cut * n_classes, (cut + 1) * n_classes))
            roc = psd_roc(own, weights.alpha_st, weights.max_efpr)
            if np.isnan(roc.value):
                continue
            self.total, self.width = self.total + levels * roc.value, self.width + levels
            there = ~np.isnan(roc.classes)
            self.of_class[there] += levels * roc.classes[there]
            self.width_of_class[there] += levels

    def means(self) -> tuple[float, Floats]:
        """Return the means over levels."""
        with np.errstate(invalid="ignore"):
            classes = self.of_class / self.width_of_class
        return (self.total / self.width if self.width else float("nan")), classes


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
    found = Integral.empty(n_classes)
    for begin, end in cuts.stretches(len(system)):
        sides = cuts.sides(reference, system, begin, end, n_classes)
        kind = kinds_of(end - begin, n_classes)
        stairs = staircases(*sides, len(kind), seconds, criteria, weights.alpha_ct, kind)
        found.add(stairs, cuts.width[begin:end], weights)
    return found.means()


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
