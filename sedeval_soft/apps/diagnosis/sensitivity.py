"""Recall and precision of events by two factors: their duration, and the number of active classes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from sedeval_soft.apps.diagnosis.prices import intervals
from sedeval_soft.arrays import Bools, Floats, Index
from sedeval_soft.evaluation import finite
from sedeval_soft.measures import overlapping, ratio
from sedeval_soft.settings import Settings
from sedeval_soft.tables import to_seconds
from sedeval_soft.timeline import Activity, Events

_FEWEST = 20
"""Events of a bin; of fewer, bins are taken together."""

_POLYPHONY = np.array((1.0, 1.5, 2.5))
"""Classes at one time: upper ends of bins."""


@dataclass(frozen=True, slots=True)
class Bin:
    """Events that are alike in one respect: of the reference, or of the system.

    measure: `recall`, of events of the reference, or `precision`, of detections. factor, name: the common
    property of the events.
    - place: of the bin among the bins of its factor. n: the number of events.
    - value, low, high: of the measure, with its interval over resampled files; None without an interval, as
      for events of one file.
    - rest: the measure of all others. differs: the least difference from it, the lower end of the interval of
      the distance.
    """

    measure: str
    factor: str
    name: str
    place: int
    n: int
    value: float | None
    low: float | None
    high: float | None
    rest: float | None
    differs: float


Side = tuple[Events, Bools]
"""The events of a side, and which of them are hits, (n,)."""

Binned = tuple[list[str], Index]
"""The names of bins, and the bin of each event, (n,)."""


def sensitivity(reference: Side, system: Side, n_files: int, settings: Settings) -> list[Bin]:
    """Return recall and precision by bins of each factor, those that differ most from the rest first."""
    bins = [
        each
        for measure, factor, side, binned in (
            ("recall", "duration", reference, _by_duration(reference[0])),
            ("recall", "classes at once", reference, _in_bins(classes_at_once(reference[0]), _POLYPHONY)),
            ("precision", "duration", system, _by_duration(system[0])),
        )
        if len({*binned[1].tolist()}) > 1
        for each in _bins(measure, factor, side, binned, n_files, settings)
    ]
    return sorted(bins, key=lambda each: (-each.differs, each.measure, each.factor, each.name))


def _bins(
    measure: str, factor: str, side: Side, binned: Binned, n_files: int, settings: Settings
) -> Iterator[Bin]:
    """Yield the bins of a factor."""
    (names, member), (events, hit) = binned, side
    # How many events, and how many hits, each bin has in each file: (2, n_bins, n_files).
    cell, shape = member * n_files + events.file, (len(names), n_files)
    counts = np.stack(
        [np.bincount(cell[some], minlength=shape[0] * shape[1]).reshape(shape) for some in (hit | True, hit)]
    )

    def rates(weights: Floats) -> Floats:
        """Return the part of hits in each bin, in all other events, and the difference, (3, n_bins, n)."""
        n, n_hits = counts @ weights.T
        here, rest = ratio(n_hits, n), ratio(n_hits.sum(axis=0) - n_hits, n.sum(axis=0) - n)
        return np.stack((here, rest, here - rest))

    found = rates(np.ones((1, n_files)))[..., 0]
    low, high = intervals(rates, found, n_files, replace(settings, ci=settings.ci and "bootstrap"))
    # Resampling files says nothing of the events of one.
    alone = np.count_nonzero(counts[0], axis=1) < 2
    low[:, alone] = high[:, alone] = np.nan
    # The nearest that the interval of the difference comes to none.
    differs = np.nan_to_num(np.maximum(np.maximum(low[2], -high[2]), 0.0))
    n = counts[0].sum(axis=1)
    for k in np.flatnonzero(n).tolist():
        of, least, most, rest = (finite(each[k].item()) for each in (found[0], low[0], high[0], found[1]))
        yield Bin(measure, factor, names[k], k, n[k].item(), of, least, most, rest, differs[k].item())


def classes_at_once(events: Events) -> Floats:
    """Return for each event how many classes are active while it lasts, itself among them: the mean.

    Events without extent have 0.
    """
    # Events of one class that overlap are one class.
    rows = Activity(events.file, events.label, events.onset, events.offset, np.ones(len(events)))
    active = Activity.of_rows(rows)
    left, right = overlapping(events, active, events.file.astype(np.int64), active.file.astype(np.int64))
    common = np.minimum(events.offset[left], active.offset[right]) - np.maximum(
        events.onset[left], active.onset[right]
    )
    sounding = np.bincount(left, common, minlength=len(events))
    return np.nan_to_num(ratio(sounding, events.offset - events.onset))


def _by_duration(events: Events) -> Binned:
    """Return bins of a quarter of the events each, as their lengths allow."""
    length = to_seconds(events.offset - events.onset)
    edges = (
        np.unique(np.quantile(length, (0.25, 0.5, 0.75), method="inverted_cdf")) if len(length) else length
    )
    return _in_bins(length, edges[edges < length.max(initial=0.0)], " s")


def _in_bins(value: Floats, edges: Floats, unit: str = "") -> Binned:
    """Return bins up to each edge and beyond; bins of few events are joined."""
    counts = np.bincount(np.searchsorted(edges, value), minlength=len(edges) + 1)
    used: list[float] = []
    size = 0
    for edge, count in zip(edges.tolist(), counts.tolist(), strict=False):
        size += count
        if size >= _FEWEST:
            used.append(edge)
            size = 0
    if used and size + counts[-1] < _FEWEST:
        used.pop()
    digits = [np.format_float_positional(edge, 3, fractional=False, trim="-") for edge in used]
    names = [f"{a} to {b}{unit}" for a, b in itertools.pairwise(digits)]
    if digits:
        names = [f"up to {digits[0]}{unit}", *names, f"over {digits[-1]}{unit}"]
    return names or ["all"], np.searchsorted(np.array(used), value)
