"""What recall and precision depend on: how long an event lasts, how many others sound, and more.

Each reference event is in one bin of each factor. The loss of a bin is the price of its misses and of the
false alarms that belong to them; other false alarms have no reference event. Detections are in bins of their
own, of which the loss is the price of all false alarms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sedeval_soft.arrays import Array, Bools, Floats, Index
from sedeval_soft.evaluation.intervals import percentile
from sedeval_soft.evaluation.resample import bootstrap
from sedeval_soft.measures.base import ratio
from sedeval_soft.measures.event import file_class
from sedeval_soft.measures.event_errors import HIT, EventErrors, overlapping_pairs
from sedeval_soft.settings import Settings
from sedeval_soft.tables.ticks import to_seconds
from sedeval_soft.timeline.events import Activity, Events, Timed
from sedeval_soft.timeline.ranges import running_maximum

_FEWEST = 20
"""Events of a bin; of fewer, bins are taken together."""

_MOST_PIECES = 50_000_000
"""Pieces of constant value of which events have the mean, altogether."""

FILE = "file"
"""The factor whose bins are single files."""

_POLYPHONY = (1.0, 1.5, 2.5)
"""Classes at one time: upper ends of bins."""


@dataclass(frozen=True, slots=True)
class Bin:
    """Events that are alike in one respect: of the reference, or of the system.

    measure: `recall`, of events of the reference, or `precision`, of detections. factor, name: what they have
    in common. place: of the bin among those of its factor. n: how many. value, low, high: of the measure,
    with its interval over resampled files, None where there is none. share: of 1 - F what is lost in it.
    rest: the measure of all others. differs: how much it differs from that at the least, the lower end of the
    interval of the distance.
    """

    measure: str
    factor: str
    name: str
    place: int
    n: int
    value: float
    low: float | None
    high: float | None
    share: float | None
    rest: float | None
    differs: float


class Side(NamedTuple):
    """The events of a side. activity: of its rows, None where they have no values. hit: (n,) which are hits.

    cost: (n,) of 1 - F what is lost by each.
    """

    events: Events
    activity: Activity | None
    hit: Bools
    cost: Floats


def sides_of(
    reference: tuple[Events, Activity | None],
    system: tuple[Events, Activity | None],
    errors: EventErrors,
    prices: tuple[float, float],
) -> tuple[Side, Side]:
    """Return both sides with what is wrong with them. prices: of a false positive and a false negative."""
    hits = errors.missed == HIT, errors.false == HIT
    # Misses that merge share the price of their detection.
    missed, false = errors.links
    part = 1 / np.bincount(false, minlength=1)[false]
    cost = prices[1] * ~hits[0] + prices[0] * np.bincount(missed, part, minlength=len(hits[0]))
    return Side(*reference, hits[0], cost), Side(*system, hits[1], prices[0] * ~hits[1])


def sensitivity(
    reference: Side,
    system: Side,
    parts: Mapping[str, tuple[tuple[str, ...], Index]],
    sizes: tuple[int, int],
    settings: Settings,
) -> list[Bin]:
    """Return recall and precision by bins of each factor, those that differ most from the rest first.

    parts: names of parts of the files, such as scenes, and the part of each file, -1 for none. sizes: how
    many files and classes there are.
    """
    n_files, n_classes = sizes
    weights = None
    if n_files > 1:
        weights = np.concatenate([*bootstrap(n_files, settings.replicates, settings.seed)])
    bins: list[Bin] = []
    for measure, side, factors in (
        ("recall", reference, _factors(reference, parts, n_classes)),
        ("precision", system, _factors_of_detections(system, n_classes)),
    ):
        for factor, (names, member) in factors.items():
            # What a bin has in each file: events, and those that are hit.
            shape = (1 if factor == FILE else n_files), len(names)
            group = (side.events.file.astype(np.int64) % shape[0]) * len(names) + member
            size, found = (
                np.bincount(group, chosen, minlength=shape[0] * shape[1]).reshape(shape)
                for chosen in (np.ones(len(member)), side.hit.astype(np.float64))
            )
            lost = np.bincount(member, side.cost, minlength=len(names)).astype(np.float64)
            if len(names) > 1:
                bins += _bins(measure, factor, names, (size, found), lost, weights, settings.confidence)
    return sorted(bins, key=lambda each: (-each.differs, each.measure, each.factor, each.name))


def _bins(
    measure: str,
    factor: str,
    names: tuple[str, ...],
    counts: tuple[Array, Array],
    lost: Floats,
    weights: Floats | None,
    confidence: float,
) -> list[Bin]:
    """Return the bins of a factor; counts: (n_files, n_bins) events, and those that are hit."""

    def rates(size: Array, found: Array) -> tuple[Floats, Floats]:
        """Return the share of hits in each bin, and in all others."""
        others = found.sum(axis=-1, keepdims=True) - found, size.sum(axis=-1, keepdims=True) - size
        return ratio(found, size), ratio(*others)

    total, hits = (count.sum(axis=0) for count in counts)
    own, rest = rates(total, hits)
    low = high = np.full(len(names), np.nan)
    # Of one file nothing is known for sure.
    distance = np.zeros(len(names))
    if factor == FILE:
        # Resampling files says nothing of one: its events are the sample.
        low, high = wilson(hits, total, confidence)
        distance = np.maximum(np.maximum(low - rest, rest - high), 0.0)
    elif weights is not None:
        again, others = rates(*(weights @ count for count in counts))
        low, high = percentile(again, confidence)
        ends = percentile(again - others, confidence)
        # The nearest that the interval of the difference comes to none.
        distance = np.where(ends[0] > 0, ends[0], np.where(ends[1] < 0, -ends[1], 0.0))
    return [
        Bin(measure, factor, name, k, int(n), float(own[k]), _finite(low[k]), _finite(high[k]),
            _finite(lost[k]), _finite(rest[k]), float(np.nan_to_num(distance[k])))
        for k, (name, n) in enumerate(zip(names, total, strict=True))
        if n >= (_FEWEST if factor == FILE else 1)
    ]  # fmt: skip


def wilson(hits: Array, n: Array, confidence: float) -> tuple[Floats, Floats]:
    """Return the ends of the interval of a share of so many; of none NaN. Source: Wilson 1927."""
    from scipy.special import ndtri

    z = float(ndtri((1 + confidence) / 2))
    share, n = ratio(hits, n), np.where(n > 0, n, np.nan)
    centre, scale = share + z * z / (2 * n), 1 + z * z / n
    margin = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return (centre - margin) / scale, (centre + margin) / scale


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


Factors = dict[str, tuple[tuple[str, ...], Index]]
"""The names of the bins of each factor, and the bin of each event."""


def _factors(side: Side, parts: Mapping[str, tuple[tuple[str, ...], Index]], n_classes: int) -> Factors:
    """Return the factors that events of the reference have."""
    reference = side.events
    everything = np.ones(len(reference), dtype=bool)
    factors = {"duration": _quartiles(to_seconds(reference.offset - reference.onset), everything, "s")}
    files = reference.file.astype(np.int64)
    sounding = _mean_over(reference, reference, np.ones(len(reference)), (files, files))
    factors["classes at once"] = _in_bins(sounding, np.array(_POLYPHONY), everything, "")
    if side.activity is not None:
        factors["agreement"] = _quartiles(_mean_value(side, side.activity, n_classes), everything, "")
    gap, first = _gaps(reference, n_classes)
    names, member = _quartiles(gap, ~first, "s")
    if first.any():
        names, member = (*names, "first of its class"), np.where(first, len(names), member)
    factors["gap before it"] = names, member
    for factor, (of_parts, part) in parts.items():
        known = part[reference.file] >= 0
        if known.any():
            names = of_parts if known.all() else (*of_parts, "others")
            factors[factor] = names, np.where(known, part[reference.file], len(of_parts))
    return factors


def _factors_of_detections(side: Side, n_classes: int) -> Factors:
    """Return the factors that detections have."""
    system, everything = side.events, np.ones(len(side.events), dtype=bool)
    factors = {"duration": _quartiles(to_seconds(system.offset - system.onset), everything, "s")}
    if side.activity is not None:
        factors["value"] = _quartiles(_mean_value(side, side.activity, n_classes), everything, "")
    return factors


def _mean_value(side: Side, activity: Activity, n_classes: int) -> Floats:
    """Return the time-weighted mean value of each event."""
    groups = file_class(side.events, n_classes), file_class(activity, n_classes)
    return _mean_over(side.events, activity, activity.value, groups)


def _mean_over(events: Timed, pieces: Timed, value: Floats, groups: tuple[Index, Index]) -> Floats:
    """Return for each event the time-weighted mean of what pieces of its group have while it lasts."""
    left, right = overlapping_pairs(events, pieces, groups, _MOST_PIECES)
    common = np.minimum(events.offset[left], pieces.offset[right]) - np.maximum(
        events.onset[left], pieces.onset[right]
    )
    total = np.bincount(left, common * value[right], minlength=len(events))
    return np.nan_to_num(ratio(total, events.offset - events.onset))


def _gaps(events: Events, n_classes: int) -> tuple[Floats, Bools]:
    """Return how long before each event the one before it in its file and class ended, and which has none."""
    group = file_class(events, n_classes)
    order = np.lexsort((events.offset, events.onset, group))
    own = group[order]
    first = np.append(True, own[1:] != own[:-1])[: len(own)]
    reach = running_maximum(events.offset[order], np.cumsum(first) - 1)
    gap = np.zeros(len(own))
    gap[1:] = to_seconds(np.maximum(events.onset[order][1:] - reach[:-1], 0))
    gaps, is_first = np.zeros(len(own)), np.zeros(len(own), dtype=bool)
    gaps[order], is_first[order] = gap, first
    return gaps, is_first


def _quartiles(value: Floats, chosen: Bools, unit: str) -> tuple[tuple[str, ...], Index]:
    """Return bins of a quarter of the chosen events each, as values allow."""
    if not chosen.any():
        return ("-",), np.zeros(len(value), dtype=np.int64)
    edges = np.unique(np.quantile(value[chosen], (0.25, 0.5, 0.75), method="inverted_cdf"))
    return _in_bins(value, edges[edges < value[chosen].max()], chosen, unit)


def _in_bins(value: Floats, edges: Floats, chosen: Bools, unit: str) -> tuple[tuple[str, ...], Index]:
    """Return the names of bins up to each edge and beyond, and the bin of each event; few are joined."""
    counts = np.bincount(np.searchsorted(edges, value[chosen]), minlength=len(edges) + 1)
    kept: list[float] = []
    held = 0
    for edge, count in zip(edges.tolist(), counts.tolist(), strict=False):
        held += count
        if held >= _FEWEST:
            kept.append(edge)
            held = 0
    if kept and held + counts[-1] < _FEWEST:
        kept.pop()
    upper = [f"{edge:.3g}" for edge in kept]
    ends = f" {unit}" if unit else ""
    names = [
        f"up to {text}{ends}" if not k else f"{upper[k - 1]} to {text}{ends}" for k, text in enumerate(upper)
    ]
    names.append(f"over {upper[-1]}{ends}" if upper else "all")
    return tuple(names), np.searchsorted(np.array(kept), value)
