"""Curves over all thresholds of cells: their points, and the measures of these curves.

A cell with reference value y counts as a positive of weight y and a negative of weight 1 - y; a cell of a
binarised reference is one or the other.

Measures compare rates: is a recall of 0.3 reached, is a false alarm rate at most 0.1? Sums of soft labels are
floats and would answer by chance, for 0.1 + 0.2 is more than 0.3. So a rate that is off by no more than
rounding counts as equal.

All measures are undefined (NaN) without a positive; measures of false alarm rates are also undefined without
a negative.

Average precision of events as in object detection: ranked by value, matched by overlap in time.

If touching rows of a table are one event, the detections are the events at the threshold, each with its
highest value; otherwise every row with a value above 0 is a detection, whatever the threshold. A detection
takes the free reference event of its file and class that overlaps it most, detections with higher values
first. Sources: Everingham et al. 2010; Lin et al. 2014 (COCO).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from sedeval_soft.arrays import Array, Bools, Floats, Index, for_each, heads, in_order
from sedeval_soft.measures.base import Table, averaged, ratio
from sedeval_soft.measures.detection import f_beta
from sedeval_soft.measures.event import file_class
from sedeval_soft.measures.intersections import overlapping
from sedeval_soft.measures.matching import first_free_matching, intersection_over_union
from sedeval_soft.measures.tally import FileSums, counted_together, first_where, in_blocks, of_each, picked
from sedeval_soft.measures.thresholds import ThresholdCounts
from sedeval_soft.timeline.events import EventLifetimes, Events

_SLACK = 1e-7
"""Share of a total by which rounding may move a rate of soft labels, including labels in single precision."""


PRECISIONS = ("average_precision", *(f"average_precision_{form}" for form in ("voc11", "voc", "coco101")))
RATES = (
    *("roc_auc", "partial_auc", "partial_auc_mcclish", "d_prime", "equal_error_rate"),
    *("fnr_at_fpr", "fpr_at_fnr"),
)


# Scores of a class at every threshold, for plots and tables.


@dataclass(frozen=True, slots=True)
class Curve:
    """Counts of a class at every threshold, and the rates computed from them; NaN if undefined.

    - threshold: (n,) ascending; each applies up to the next one. The first may be NaN, see `of_cells`.
    - tp, n_sys: (n,) counts, or weights for a soft reference. n_ref: size of the reference.
    - fp: (n,) false positives of cells; None for events, which have no true negatives.
    """

    threshold: Floats
    tp: Array
    n_sys: Array
    n_ref: float
    fp: Array | None = None

    @classmethod
    def of_cells(cls, score: Floats, reference: Array) -> Curve:
        """Return the curve of cells, from the point with all cells positive to the point with none.

        score, reference: (n,) in [0, 1], or booleans. Equal scores are detected together. No threshold
        detects cells of value 0: if there are such cells, the first point has no threshold.
        """
        score, order = in_order(score)
        reference = reference[order][::-1]
        first = heads(score)
        # Sums run from the top, and each sum separately: small values are not differences of two large sums.
        floats = reference.dtype == np.float64
        tp = np.cumsum(reference, dtype=np.float64 if floats else np.int64)
        n_sys = np.arange(1, len(reference) + 1)
        fp = np.cumsum(1.0 - reference) if floats else n_sys - tp
        last = len(score) - 1 - first
        tp, n_sys, fp = (np.append(column[last], column.dtype.type(0)) for column in (tp, n_sys, fp))
        threshold = np.append(math.nan if np.any(score == 0) else 0.0, score[first])
        return cls(threshold, tp, n_sys, tp[0].item(), fp)

    @classmethod
    def of_events(cls, counted: ThresholdCounts) -> Curve:
        """Return the curve of a class of events."""
        threshold, counts = counted.steps()
        return cls(threshold, counts[0], counts[1], int(counted.n_ref.sum()))

    @property
    def precision(self) -> Floats:
        """Return TP / N_sys, (n,)."""
        return ratio(self.tp, self.n_sys)

    @property
    def recall(self) -> Floats:
        """Return TP / N_ref, (n,): the true positive rate."""
        return ratio(self.tp, np.asarray(self.n_ref))

    @property
    def f1(self) -> Floats:
        """Return 2 TP / (N_ref + N_sys), (n,)."""
        return f_beta(self.tp, np.asarray(self.n_ref), self.n_sys)

    @property
    def error_rate(self) -> Floats:
        """Return (FN + FP) / N_ref, (n,)."""
        return ratio(self.n_ref + self.n_sys - 2 * self.tp, np.asarray(self.n_ref))

    @property
    def false_positive_rate(self) -> Floats:
        """Return FP / (FP + TN), (n,): the ROC is `recall` over it."""
        return np.full(len(self.threshold), np.nan) if self.fp is None else ratio(self.fp, self.fp[0])

    @property
    def false_negative_rate(self) -> Floats:
        """Return FN / N_ref, (n,): the miss rate."""
        return ratio(self.n_ref - self.tp, np.asarray(self.n_ref))

    @property
    def det(self) -> tuple[Floats, Floats]:
        """Return the axes of the DET curve: inverse normal of false positive and false negative rate.

        (n,) each, NaN for a rate of 0 or 1, which has no inverse. Source: Martin et al. 1997.
        """
        from scipy.special import ndtri

        axes = []
        for rate in (self.false_positive_rate, self.false_negative_rate):
            inside = (rate > 0) & (rate < 1)
            axes.append(np.where(inside, ndtri(np.where(inside, rate, 0.5)), np.nan))
        return axes[0], axes[1]


# Hard counts for every pair of a reference threshold and a system threshold, on an even grid. A cell is
# active on a side at all thresholds below its value (or at them): so one histogram of places on the grid, of
# both sides together, and sums from the high end are all that is needed. Nothing is sorted.

STEPS = 100
"""The grid has the thresholds 1/100 to 99/100."""

_AT_ONCE = 1 << 16
"""Cells that are placed at a time, which stay in the processor's cache."""


@dataclass(frozen=True, slots=True)
class Surface:
    """Counts over thresholds of the reference (axis 1) and of the system (axis 2).

    thresholds: (n,) ascending, for either side. tp: (n_classes, n, n). n_ref: (n_classes, n) at thresholds of
    the reference; n_sys: (n_classes, n) at thresholds of the system. beta: of F.
    """

    thresholds: Floats
    tp: Index
    n_ref: Index
    n_sys: Index
    beta: float = 1.0

    @classmethod
    def of(cls, reference: Floats, system: Floats, beta: float = 1.0, *, inclusive: bool = False) -> Self:
        """Count cells, (n_classes, n_cells), values in [0, 1]; inclusive: cells at a threshold are active."""
        edges = np.arange(1, STEPS) / STEPS

        def of_class(c: int) -> Index:
            both = np.zeros(STEPS * STEPS, dtype=np.int64)
            for begin in range(0, reference.shape[1], _AT_ONCE):
                part = slice(begin, begin + _AT_ONCE)
                ours, theirs = (_place(side[c, part], edges, inclusive) for side in (reference, system))
                both += np.bincount(ours.astype(np.int64) * STEPS + theirs, minlength=STEPS * STEPS)
            # Values above k thresholds are above all lower ones: sums from the high end, both ways.
            above = both.reshape(STEPS, STEPS)[::-1, ::-1].cumsum(axis=0).cumsum(axis=1)
            return above[::-1, ::-1]

        classes = for_each(of_class, range(len(reference)), reference.size)
        above = np.array(classes, dtype=np.int64).reshape(-1, STEPS, STEPS)
        return cls(edges, above[:, 1:, 1:], above[:, 1:, 0], above[:, 0, 1:], beta)

    @property
    def f(self) -> Floats:
        """F of each class, (n_classes, n, n); NaN if neither side has anything."""
        return f_beta(self.tp, self.n_ref[:, :, None], self.n_sys[:, None, :], self.beta)

    @property
    def micro_f(self) -> Floats:
        """F of the counts of all classes, (n, n)."""
        tp, n_ref, n_sys = (counts.sum(axis=0) for counts in (self.tp, self.n_ref, self.n_sys))
        return f_beta(tp, n_ref[:, None], n_sys[None, :], self.beta)

    @property
    def macro_f(self) -> Floats:
        """Mean F of the classes that have a reference at the threshold, (n, n)."""
        n_ref = np.broadcast_to(self.n_ref.T[:, None, :], (*self.tp.shape[1:], len(self.tp)))
        return np.asarray(averaged(np.moveaxis(self.f, 0, -1), None, n_ref).macro, dtype=np.float64)


def _place(values: Floats, edges: Floats, inclusive: bool) -> Array:
    """Return how many thresholds are below each value (or at it), (n,).

    The result equals np.searchsorted, without a search: rounding moves a product by one at most.
    """
    low, high = np.append(-np.inf, edges), np.append(edges, np.inf)
    place = np.minimum(values * STEPS, STEPS - 1).astype(np.int16)
    if inclusive:
        place -= low[place] > values
        place += high[place] <= values
    else:
        place -= low[place] >= values
        place += high[place] < values
    return place


@dataclass(frozen=True, slots=True)
class CurveCounts:
    """Statistics of each file between the points of a curve, thresholds from the highest down.

    - counts, in turn: the positives gained at each point, and the false alarms at each point, (n_points,)
      each; the false alarms right before each point, and after the last one, (n_points + 1,); all cells
      detected from the point before to each point, (n_points,). Only rated cells are false alarms.
    - slack: the share of a total by which two equal sums may differ; 0 for whole numbers.
    - n_ref: (n_files,) the positives, None if all of them are detected at some threshold.
    """

    counts: FileSums
    n_points: int
    slack: float
    n_ref: Index | None

    @classmethod
    def of(
        cls,
        score: Floats,
        reference: Array,
        file: Array,
        n_files: int,
        often: Index | None = None,
        rated: Bools | None = None,
        n_ref: Index | None = None,
    ) -> Self:
        """Count cells, (n,) each: descending scores, values, or whether they are active, and files.

        often: how often each counts; None for once. rated: the cells that rates count, None for all; other
        cells are false alarms in precision alone.
        """
        first = heads(score)
        times = np.ones(len(score)) if often is None else often.astype(np.float64)
        value = reference * times
        gaining = np.logical_or.reduceat(value > 0, first) if len(first) else np.zeros(0, dtype=bool)
        # If nothing is gained, the counts have one empty point.
        n = max(int(gaining.sum()), 1)
        sizes = np.diff(first, append=len(score))
        gained = np.repeat(gaining, sizes)
        point = np.repeat(np.cumsum(gaining) - gaining, sizes)
        alarms = np.ones(len(score), dtype=bool) if rated is None else rated
        rows = [
            (gained & (value > 0), 0, value),
            (gained & alarms, n, times - value),
            (~gained & alarms, 2 * n, times),
            (point < n, 3 * n + 1, times),
        ]
        thing, owner, amounts = (
            np.concatenate(column)
            for column in zip(*((point[m] + start, file[m], of[m]) for m, start, of in rows), strict=True)
        )
        slack = 0.0 if reference.dtype == np.bool_ else _SLACK
        return cls(FileSums.of(thing, owner, amounts, (4 * n + 1, n_files)), n, slack, n_ref)

    def scores(self, weights: Floats, rates: tuple[float, float] | None = None) -> dict[str, Floats]:
        """Return the measures of curves by name, (n_weights,) each; see the specification of each.

        weights: (n_weights, n_files), whole numbers. rates: `max_fpr` and `max_fnr`; None for precisions.
        """
        n, slack = self.n_points, self.slack

        def of_block(block: Floats) -> dict[str, Floats]:
            counts = self.counts.weighted(block)
            gained, alarms, silent, detected = np.split(counts, (n, 2 * n, 3 * n + 1), axis=1)
            tp = np.cumsum(gained, axis=1)
            n_ref = tp[:, -1] if self.n_ref is None else block @ self.n_ref
            precisions = _precisions(gained, tp, np.cumsum(detected, axis=1), n_ref, slack)
            return precisions if rates is None else precisions | _rates(tp, alarms, silent, slack, *rates)

        return in_blocks(of_block, weights, 4 * n + 1)


def _precisions(gained: Floats, tp: Floats, n_sys: Floats, n_ref: Floats, slack: float) -> dict[str, Floats]:
    """Return the average precisions by name, (n_weights,) each.

    gained, tp, n_sys: (n_weights, n_points). n_ref: (n_weights,).
    """
    precision = np.divide(tp, n_sys, out=np.zeros_like(tp), where=n_sys > 0)
    # The highest at this point or any later one.
    reached = np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]
    n_points = tp.shape[1]

    def at_recalls(count: int) -> Floats:
        """Return the mean of interpolated precision at recalls 0, 1/count .. 1."""
        recalls = np.arange(count + 1) * n_ref[:, None] - (count * n_ref * slack)[:, None]
        at = first_where(lambda at: picked(tp, at) * count >= recalls, recalls.shape, n_points)
        # No threshold may reach the highest recalls: events are found or not.
        values = np.where(at < n_points, picked(reached, np.minimum(at, n_points - 1)), 0.0)
        mean: Floats = values.mean(axis=1)
        return mean

    steps, every = (ratio(np.einsum("ij,ij->i", gained, of), n_ref) for of in (precision, reached))
    values = (steps, at_recalls(10), every, at_recalls(100))
    named = zip(PRECISIONS, values, strict=True)
    return {name: np.where(n_ref > 0, np.minimum(value, 1.0), np.nan) for name, value in named}


def _rates(
    tp: Floats, alarms: Floats, silent: Floats, slack: float, max_fpr: float, max_fnr: float
) -> dict[str, Floats]:
    """Return the measures of the ROC by name, (n_weights,) each.

    tp, alarms: (n_weights, n_points) TP at each point, and the false alarms there. silent: (n_weights,
    n_points + 1) the false alarms between points.
    """
    nothing, shape, n = np.zeros((len(tp), 1)), (len(tp),), tp.shape[1]
    # The ROC is level to each point, slopes there, and is level to the end. The values after so many points
    # are: TP, the area below the ROC, and FP; and FP at the end of the level line that follows.
    low = np.append(nothing, tp, axis=1)
    fp = np.cumsum(silent + np.append(nothing, alarms, axis=1), axis=1)
    after = np.append(nothing, fp[:, :-1] + alarms, axis=1)
    level = silent * low
    area = np.append(nothing, np.cumsum(level[:, :-1] + alarms * (low[:, :-1] + tp) / 2, axis=1), axis=1)
    n_ref, n_silent = tp[:, -1], fp[:, -1]
    defined = (n_ref > 0) & (n_silent > 0)
    n_ref, n_silent = (np.where(defined, total, 1.0) for total in (n_ref, n_silent))

    def alarm_rate(of: Floats, at: Index) -> Floats:
        rate: Floats = picked(of, at) / n_silent
        return rate

    def miss_rate(at: Index) -> Floats:
        rate: Floats = (n_ref - picked(low, at)) / n_ref
        return rate

    whole = (area[:, -1] + level[:, -1]) / (n_ref * n_silent)
    # Errors of floats in TP are errors in FP, however small FP is.
    most = max_fpr + slack * (n_ref + n_silent) / n_silent
    inside = first_where(lambda at: alarm_rate(after, at + 1) > most, shape, n)
    corner, following = alarm_rate(fp, inside), np.minimum(inside + 1, n)
    passed = corner <= most
    begin = np.where(passed, corner, alarm_rate(after, inside))
    partial = (picked(area, inside) + passed * picked(level, inside)) / (n_ref * n_silent)
    run = max_fpr - begin
    slope = passed * ratio(miss_rate(inside) - miss_rate(following), alarm_rate(after, following) - begin)
    partial += run * (1.0 - miss_rate(inside) + np.nan_to_num(slope) * run / 2)
    partial = np.minimum(np.where(passed & (inside == n), whole, partial), max_fpr)
    chance = max_fpr * max_fpr / 2
    few = np.minimum(first_where(lambda at: miss_rate(at) <= max_fnr + slack, shape, n + 1), n)
    # The rate at which the straight lines have FNR = FPR.
    at = first_where(lambda at: alarm_rate(after, at + 1) >= miss_rate(at + 1), shape, n)
    following, corner, misses = np.minimum(at + 1, n), alarm_rate(fp, at), miss_rate(at)
    crossed = corner >= misses
    begin = np.where(crossed, alarm_rate(after, at), corner)
    rise = np.where(crossed, corner, alarm_rate(after, following)) - begin
    fall = np.where(crossed, 0.0, misses - miss_rate(following))
    equal = begin + ratio(misses - begin, rise + fall) * rise
    roc_auc, scaled = np.minimum(whole, 1.0), 0.5 * (1 + (partial - chance) / (max_fpr - chance))
    values = (
        *(roc_auc, partial / max_fpr, scaled, d_primes(roc_auc), equal),
        *(miss_rate(inside), alarm_rate(after, few)),
    )
    return {name: np.where(defined, value, np.nan) for name, value in zip(RATES, values, strict=True)}


def d_primes(area: Floats) -> Floats:
    """Return sqrt(2) times the inverse normal of each area under a ROC, NaN where that is infinite.

    area: of any shape. Source: Simpson & Fitter 1973.
    """
    from statistics import NormalDist

    inverse = NormalDist().inv_cdf
    values = [inverse(each) if 0 < each < 1 else math.nan for each in area.reshape(-1).tolist()]
    return math.sqrt(2) * np.reshape(values, area.shape)


COCO = tuple((50 + 5 * k) / 100 for k in range(10))
"""The overlaps over which COCO takes the mean."""

NAMES = ("average_precision", "average_precision_voc", "average_precision_coco101")
"""Measures at the overlap that a match must reach; COCO averages the last one over overlaps."""

_MOST_PAIRS, _MANY = 4_000_000, 64
"""Overlapping pairs of events, in all and for each detection: numbers beyond both limits are refused."""


@dataclass(frozen=True, slots=True)
class Detections:
    """Events with values, in descending order of value within each class; value: (n,)."""

    events: Events
    value: Floats

    @classmethod
    def of(cls, system: EventLifetimes, threshold: float, inclusive: bool) -> Detections:
        """Rank the detections of a system; equal values by file, onset and offset."""
        found, value = system.take(system.dies > 0), system.dies[system.dies > 0]
        if system.nested:
            above = system.take(system.dies >= threshold if inclusive else system.dies > threshold)
            whole = above.alive(threshold, inclusive)
            # Every lifetime that reaches a level above the threshold is part of one event at the threshold,
            # and begins there or later: the value is the highest in it.
            order = np.lexsort((~whole, above.onset, above.label, above.file))
            found, value = above.take(order[whole[order]]), np.zeros(int(whole.sum()))
            inner, head = above.take(order), np.cumsum(whole[order]) - 1
            # Events that begin outside of the evaluated regions at the threshold are left out.
            own = (head >= 0) & (inner.offset <= found.offset[head]) if len(found) else head >= 0
            for codes, theirs in ((inner.file, found.file), (inner.label, found.label)):
                own &= codes == theirs[head] if len(found) else False
            np.maximum.at(value, head[own], inner.dies[own])
        order = np.lexsort((found.offset, found.onset, found.file, -value, found.label))
        return cls(found.take(order).events(), value[order])


def weighted_precisions(
    reference: Events, detections: Detections, owner: Index, n_classes: int, iou: float
) -> Callable[[Floats], Table]:
    """Return the function that gives the average precisions of events of weighted files.

    owner: (n_files,) numbers from 0; weights are of owners. iou: the overlap that a match must reach. Matches
    of a detection depend on its own file alone.
    """
    found, n_owners = detections.events, int(owner.max(initial=0)) + 1
    n_ref = np.zeros((n_owners, n_classes), dtype=np.int64)
    np.add.at(n_ref, (owner[reference.file], reference.label), 1)
    bounds = np.searchsorted(found.label, np.arange(n_classes + 1))
    groups = counted_together(np.diff(bounds), int(np.diff(bounds).max(initial=0)), n_owners)
    hits_at, (items, first) = (
        _hits(reference, detections, n_classes, (iou, *COCO)),
        np.zeros((2, *n_ref.shape)),
    )
    file, label = np.divmod(np.unique(file_class(reference, n_classes)), n_classes)
    np.add.at(items, (owner[file], label), 1)
    # Within a class values descend, so that the first row of a file is its best detection.
    best = np.unique(file_class(found, n_classes), return_index=True)[1]
    best = best[hits_at[0][best]]
    np.add.at(first, (owner[found.file[best]], found.label[best]), 1)
    curves = []
    for hits in hits_at:
        for some in groups:
            own = slice(bounds[some.start], bounds[some.stop])
            own = own.start + in_order(detections.value[own])[1][::-1]
            of = (found.label[own] - some.start) * n_owners + owner[found.file[own]]
            total = n_ref[:, some].T.reshape(-1)
            curve = CurveCounts.of(detections.value[own], hits[own], of, len(total), n_ref=total)
            curves.append(of_each(curve.scores, some.stop - some.start))

    def table(weights: Floats) -> Table:
        size = len(found) * (1 + len(COCO)) * len(weights)
        columns = for_each(lambda curve: curve(weights), curves, size)
        shape, total = (1 + len(COCO), n_classes, len(weights)), weights @ n_ref
        values = {name: np.reshape([row for own in columns for row in own[name]], shape) for name in NAMES}
        scores = {name: values[name][0] for name in NAMES}
        scores["average_precision_coco"] = values[NAMES[-1]][1:].mean(axis=0)
        scores["average_precision_voc_mean"] = values[NAMES[1]][1:].mean(axis=0)
        scores["recall_at_1"] = ratio(weights @ first, weights @ items).T
        return {name: averaged(of_classes.T, None, total) for name, of_classes in scores.items()}

    return table


def _hits(
    reference: Events, detections: Detections, n_classes: int, overlaps: Sequence[float]
) -> list[Bools]:
    """Return for each overlap which detections find a reference event."""
    found = detections.events
    groups = file_class(reference, n_classes), file_class(found, n_classes)
    right, left = overlapping(reference, found, *groups, max(_MOST_PAIRS, _MANY * len(found)))
    overlap = intersection_over_union(
        reference.onset[right], reference.offset[right], found.onset[left], found.offset[left]
    )
    hits = []
    for wanted in overlaps:
        enough = overlap >= wanted
        pairs = left[enough], right[enough], len(found), len(reference)
        hits.append(first_free_matching(*pairs, merit=overlap[enough]) >= 0)
    return hits
