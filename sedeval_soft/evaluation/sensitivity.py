"""What recall and precision depend on: how long an event lasts, how many others sound, and more.

Events of the reference are in bins of what they have in common: of each factor each event is in one, but for
scenes, of which a file may be in several. The loss of a bin is the price of its misses, and of the false
alarms that belong to them; false alarms that belong to no reference event are a bin of their own. So the bins
of a factor add up to 1 - F. Detections are in bins likewise: each pays for itself and for the misses that
belong to it, and misses without any detection are a bin of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sedeval_soft.arrays import Array, Bools, Floats, Index
from sedeval_soft.evaluation.intervals import percentile
from sedeval_soft.evaluation.resample import bootstrap
from sedeval_soft.measures.base import ratio
from sedeval_soft.measures.event import file_class
from sedeval_soft.measures.event_errors import HIT, EventErrors
from sedeval_soft.settings import Settings
from sedeval_soft.tables.ticks import to_seconds
from sedeval_soft.timeline.events import Activity, Events, Timed
from sedeval_soft.timeline.ranges import running_maximum

_FEWEST = 20
"""Events of a bin; of fewer, bins are taken together."""

FILE = "file"
"""The factor whose bins are single files."""

SCENE = "scene"
"""The factor whose bins are scenes."""

_UNRELATED = {"recall": "no reference", "precision": "no detection"}
"""The bins of errors that belong to no event of the side that is looked at."""

_POLYPHONY = (1.0, 1.5, 2.5)
"""Classes at one time: upper ends of bins."""

_MILLIONTHS = 1_000_000
"""Means of values are those of whole millionths, whose sums are exact: equal values have equal means."""


@dataclass(frozen=True, slots=True)
class Bin:
    """Events that are alike in one respect: of the reference, or of the system.

    measure: `recall`, of events of the reference, or `precision`, of detections. factor, name: what they have
    in common. place: of the bin among those of its factor. n: how many. value, low, high: of the measure,
    with its interval over resampled files, or over events where all are of one file; None where there is
    none. share: of 1 - F what is lost in it; shares of the bins of a factor add up to 1 - F, but for scenes
    that have files in common. rest: the measure of all others. differs: how much it differs from that at the
    least, the lower end of the interval of the distance.

    The last bin of each factor, without events and value, has the share of errors that belong to none.
    """

    measure: str
    factor: str
    name: str
    place: int
    n: int
    value: float | None
    low: float | None
    high: float | None
    share: float | None
    rest: float | None
    differs: float


class Side(NamedTuple):
    """The events of a side. activity: of its rows, None where they have no values. hit: (n,) which are hits.

    cost: (n,) of 1 - F what is lost by each, and by the errors of the other side that belong to it.
    unrelated: what is lost by those of the other side that belong to none of these.
    """

    events: Events
    activity: Activity | None
    hit: Bools
    cost: Floats
    unrelated: float


def sides_of(
    reference: tuple[Events, Activity | None],
    system: tuple[Events, Activity | None],
    errors: EventErrors,
    prices: tuple[float, float],
) -> tuple[Side, Side]:
    """Return both sides with what is wrong with them. prices: of a false positive and a false negative."""
    sides, links = (errors.missed, errors.false), (errors.links.left, errors.links.right)
    made = []
    for k, (side, of_one, of_other) in enumerate(
        ((reference, prices[1], prices[0]), (system, prices[0], prices[1]))
    ):
        wrong, others_wrong = sides[k] != HIT, sides[1 - k] != HIT
        # An error that belongs to several of the other side is paid for by all of them.
        n_links = np.bincount(links[1 - k], minlength=len(others_wrong))
        part = 1 / n_links[links[1 - k]]
        cost = of_one * wrong + of_other * np.bincount(links[k], part, minlength=len(wrong))
        unrelated = of_other * np.count_nonzero(others_wrong & (n_links == 0))
        made.append(Side(*side, ~wrong, cost, float(unrelated)))
    return made[0], made[1]


class Factor(NamedTuple):
    """What events are told apart by.

    side: whose events they are. bins: their names. event, member: which events are in which bin, (n,).
    """

    measure: str
    name: str
    side: Side
    bins: tuple[str, ...]
    event: Index
    member: Index

    @classmethod
    def of(cls, measure: str, name: str, side: Side, bins: tuple[tuple[str, ...], Index]) -> Factor:
        """Return a factor of which each event is in one bin; bins: their names, and that of each event."""
        return cls(measure, name, side, bins[0], np.arange(len(bins[1])), bins[1])

    def in_several_files(self) -> Index:
        """Return the bins whose events are not all of one file."""
        file = self.side.events.file[self.event]
        order = np.lexsort((file, self.member))
        goes_on = self.member[order][1:] == self.member[order][:-1]
        return np.unique(self.member[order][1:][goes_on & (file[order][1:] != file[order][:-1])])


def sensitivity(
    reference: Side,
    system: Side,
    files: tuple[str, ...],
    scenes: Mapping[str, Index],
    n_classes: int,
    settings: Settings,
) -> list[Bin]:
    """Return recall and precision by bins of each factor, those that differ most from the rest first.

    files: their names. scenes: the files of each, as positions; a file may be in several, or in none.
    """
    factors = [
        factor
        for factor in (
            *_factors_of_reference(reference, files, scenes, n_classes),
            *_factors_of_detections(system, n_classes),
        )
        if len({*factor.member.tolist()}) > 1
    ]
    again = _resampled(factors, len(files), settings)
    bins = [
        each
        for factor, replicates in zip(factors, again, strict=True)
        for each in _bins(factor, replicates, settings.confidence)
    ]
    return sorted(bins, key=lambda each: (-each.differs, each.measure, each.factor, each.name))


Resampled = tuple[Index, Floats, Floats]
"""Bins of a factor, and of each its rate in resampled files, and that of the rest, (n_replicates, n_bins)."""


def _resampled(factors: list[Factor], n_files: int, settings: Settings) -> Iterator[Resampled | None]:
    """Yield of each factor the rates of bins in resampled files; None where there is one file alone.

    Of bins whose events are of one file there are none: this file's events are all that they have.
    """
    if n_files < 2 or not factors:
        yield from [None] * len(factors)
        return
    from scipy.sparse import csr_array, vstack

    # Of each bin, and of all events, in each file: how many there are, and how many of them are hits.
    counts, bins = [], []
    for factor in factors:
        several = factor.in_several_files()
        bins.append(several)
        used = np.isin(factor.member, several)
        file, hit = factor.side.events.file, factor.side.hit
        event = np.append(factor.event[used], np.arange(len(file)))
        row = np.append(np.searchsorted(several, factor.member[used]), np.full(len(file), len(several)))
        shape = len(several) + 1, n_files
        counts += [
            csr_array((values, (row, file[event])), shape=shape)
            for values in (np.ones(len(event)), hit[event].astype(np.float64))
        ]
    table = vstack(counts).tocsr()
    blocks = bootstrap(n_files, settings.replicates, settings.seed)
    sums = np.concatenate([(table @ block.T).T for block in blocks])
    columns = np.split(sums, np.cumsum([each.shape[0] for each in counts])[:-1], axis=1)
    for several, n, n_hits in zip(bins, columns[::2], columns[1::2], strict=True):
        yield several, *_rates(n[:, :-1], n_hits[:, :-1], n[:, -1:], n_hits[:, -1:])


def _rates(n: Array, n_hits: Array, n_all: Array, hits_of_all: Array) -> tuple[Floats, Floats]:
    """Return the part of hits in each bin, (..., n_bins), and in all events that are not in it."""
    return ratio(n_hits, n), ratio(hits_of_all - n_hits, n_all - n)


def _bins(factor: Factor, replicates: Resampled | None, confidence: float) -> Iterator[Bin]:
    """Yield the bins of a factor; replicates: their rates in resampled files, None for no intervals."""
    event, member, n_bins = factor.event, factor.member, len(factor.bins)
    hit, cost = factor.side.hit, factor.side.cost
    n, n_hits = np.bincount(member, minlength=n_bins), np.bincount(member[hit[event]], minlength=n_bins)
    lost = np.bincount(member, cost[event], minlength=n_bins)
    value, rest = _rates(n, n_hits, np.asarray(len(hit)), np.asarray(np.count_nonzero(hit)))
    low, high, distance = np.full(n_bins, np.nan), np.full(n_bins, np.nan), np.zeros(n_bins)
    if replicates is not None:
        # Resampling files says nothing of one: its events are the sample.
        low, high = wilson(n_hits, n, confidence)
        distance = np.maximum(np.maximum(low - rest, rest - high), 0.0)
        several, here, others = replicates
        low[several], high[several] = percentile(here, confidence)
        ends = percentile(here - others, confidence)
        # The nearest that the interval of the difference comes to none.
        distance[several] = np.where(ends[0] > 0, ends[0], np.where(ends[1] < 0, -ends[1], 0.0))
    if factor.name == FILE:
        # That files have few events is nothing that their events have in common.
        distance[-1] = 0.0
    for k, name in enumerate(factor.bins):
        if n[k]:
            yield Bin(
                factor.measure, factor.name, name, k, int(n[k]), float(value[k]), _finite(low[k]),
                _finite(high[k]), _finite(lost[k]), _finite(rest[k]), float(np.nan_to_num(distance[k])),
            )  # fmt: skip
    yield Bin(
        factor.measure, factor.name, _UNRELATED[factor.measure], n_bins, 0, None, None, None,
        _finite(factor.side.unrelated), None, 0.0,
    )  # fmt: skip


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


def _factors_of_reference(
    side: Side, files: tuple[str, ...], scenes: Mapping[str, Index], n_classes: int
) -> Iterator[Factor]:
    """Yield the factors that events of the reference have."""
    events, everything = side.events, np.ones(len(side.events), dtype=bool)
    length = to_seconds(events.offset - events.onset)
    yield Factor.of("recall", "duration", side, _quartiles(length, everything, "s"))
    polyphony = _in_bins(classes_at_once(events), np.array(_POLYPHONY), everything, "")
    yield Factor.of("recall", "classes at once", side, polyphony)
    if side.activity is not None:
        agreement = _quartiles(_mean_value(side.events, side.activity, n_classes), everything, "")
        yield Factor.of("recall", "agreement", side, agreement)
    gap, first = _gaps(events, n_classes)
    names, member = _quartiles(gap, ~first, "s")
    if first.any():
        names, member = (*names, "first of its class"), np.where(first, len(names), member)
    yield Factor.of("recall", "gap before it", side, (names, member))
    yield Factor.of("recall", FILE, side, _of_files(events, files))
    if scenes:
        yield _of_scenes(side, scenes, len(files))


def _factors_of_detections(side: Side, n_classes: int) -> Iterator[Factor]:
    """Yield the factors that detections have."""
    system, everything = side.events, np.ones(len(side.events), dtype=bool)
    length = to_seconds(system.offset - system.onset)
    yield Factor.of("precision", "duration", side, _quartiles(length, everything, "s"))
    if side.activity is not None:
        values = _mean_value(side.events, side.activity, n_classes)
        yield Factor.of("precision", "value", side, _quartiles(values, everything, ""))


def _of_files(events: Events, files: tuple[str, ...]) -> tuple[tuple[str, ...], Index]:
    """Return the names of files, and the file of each event; those of few events are one bin."""
    n = np.bincount(events.file, minlength=len(files))
    enough = np.flatnonzero(n >= _FEWEST)
    place = np.full(len(files), len(enough))
    place[enough] = np.arange(len(enough))
    names = (*(files[k] for k in enough), f"files with fewer than {_FEWEST} events")
    return names, place[events.file]


def _of_scenes(side: Side, scenes: Mapping[str, Index], n_files: int) -> Factor:
    """Return scenes as a factor: an event is in all scenes of its file, and in another bin without any."""
    order = np.argsort(side.events.file, kind="stable")
    start = np.searchsorted(side.events.file[order], np.arange(n_files + 1))
    in_none = np.ones(n_files, dtype=bool)
    for files in scenes.values():
        in_none[files] = False
    parts = [*scenes.values(), np.flatnonzero(in_none)]
    inside = [
        np.concatenate([order[start[k] : start[k + 1]] for k in files] or [order[:0]]) for files in parts
    ]
    member = np.repeat(np.arange(len(parts)), [len(each) for each in inside])
    return Factor("recall", SCENE, side, (*scenes, "others"), np.concatenate(inside), member)


def classes_at_once(events: Events) -> Floats:
    """Return for each event how many classes are active while it lasts, itself among them: the mean."""
    # Events of one class that overlap are one class.
    pieces = Activity(events.file, events.label, events.onset, events.offset, np.ones(len(events)))
    of_classes = Activity.of_rows(pieces)
    files = events.file.astype(np.int64), of_classes.file.astype(np.int64)
    return mean_over(events, of_classes, np.ones(len(of_classes), dtype=np.int64), files)


def _mean_value(events: Events, activity: Activity, n_classes: int) -> Floats:
    """Return the time-weighted mean value of each event, in whole millionths of each piece."""
    groups = file_class(events, n_classes), file_class(activity, n_classes)
    value = np.rint(activity.value * _MILLIONTHS).astype(np.int64)
    return mean_over(events, activity, value, groups) / _MILLIONTHS


def mean_over(events: Timed, pieces: Timed, value: Index, groups: tuple[Index, Index]) -> Floats:
    """Return for each event the time-weighted mean of the sum of the values of its group while it lasts.

    value: (n_pieces,) whole numbers. Pieces may overlap; events without extent have 0. The sum over pieces is
    integrated over time once, and read at the ends of events. Whole numbers wrap around where the integral
    over all groups is too large for them, and differences are right nevertheless.
    """
    # Each group gets as much of one line as it needs.
    n_groups = max(int(each.max(initial=-1)) for each in groups) + 1
    longest = np.zeros(n_groups, dtype=np.int64)
    for group, side in zip(groups, (events, pieces), strict=True):
        np.maximum.at(longest, group, side.offset + 1)
    base = np.append(0, np.cumsum(longest))
    time = np.concatenate((pieces.onset + base[groups[1]], pieces.offset + base[groups[1]], [0]))
    order = np.argsort(time, kind="stable")
    time, level = time[order], np.cumsum(np.concatenate((value, -value, [0]))[order])
    area = np.append(0, np.cumsum(level[:-1] * np.diff(time)))

    def until(ticks: Array) -> Array:
        """Return the integral up to a time of each event."""
        at = ticks + base[groups[0]]
        last = np.searchsorted(time, at, side="right") - 1
        integral: Array = area[last] + level[last] * (at - time[last])
        return integral

    total = until(events.offset) - until(events.onset)
    return np.nan_to_num(ratio(total, events.offset - events.onset))


def _gaps(events: Events, n_classes: int) -> tuple[Floats, Bools]:
    """Return how long before each event the one before it in its file and class ended, and which has none."""
    group = file_class(events, n_classes)
    order = np.lexsort((events.offset, events.onset, group))
    group = group[order]
    first = np.append(True, group[1:] != group[:-1])[: len(group)]
    reach = running_maximum(events.offset[order], np.cumsum(first) - 1)
    gap = np.zeros(len(group))
    gap[1:] = to_seconds(np.maximum(events.onset[order][1:] - reach[:-1], 0))
    gaps, is_first = np.zeros(len(group)), np.zeros(len(group), dtype=bool)
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
    used: list[float] = []
    size = 0
    for edge, count in zip(edges.tolist(), counts.tolist(), strict=False):
        size += count
        if size >= _FEWEST:
            used.append(edge)
            size = 0
    if used and size + counts[-1] < _FEWEST:
        used.pop()
    upper = plain_numbers(used)
    ends = f" {unit}" if unit else ""
    names = [
        f"up to {text}{ends}" if not k else f"{upper[k - 1]} to {text}{ends}" for k, text in enumerate(upper)
    ]
    names.append(f"over {upper[-1]}{ends}" if upper else "all")
    return tuple(names), np.searchsorted(np.array(used), value)


def plain_numbers(edges: list[float]) -> list[str]:
    """Return numbers with three significant digits, or as many more as tell them apart; 1000 is no 1e+03."""
    texts: list[str] = []
    for digits in range(3, 17):
        texts = [
            f"{edge:.0f}"
            if edge >= 10**digits
            else np.format_float_positional(float(f"{edge:.{digits}g}"), trim="-")
            for edge in edges
        ]
        if len({*texts}) == len(texts):
            break
    return texts
