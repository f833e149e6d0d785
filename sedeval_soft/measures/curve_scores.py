"""Curves over all thresholds of cells: their points, areas and rates, block by block of scores.

A cell with reference value y counts as a positive of weight y and a negative of weight 1 - y: for a
reference cut at a threshold, as one or the other.

Rates are compared: is a recall of 0.3 reached, is a false alarm rate at most 0.1? Sums of floats answer by
chance, for 0.1 + 0.2 is more than 0.3. So labels that are whole multiples of 1/D, such as decimals and shares
of annotators, are counted in multiples of it: in int64, exactly. See `Units`.

Undefined, as NaN: all measures without a positive; what needs false alarm rates also without a negative.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from sedeval_soft.arrays import Array, Floats, Index
from sedeval_soft.measures.base import averaged, ratio
from sedeval_soft.measures.detection import f_beta
from sedeval_soft.measures.thresholds import ThresholdCounts
from sedeval_soft.sorting import Blocks, heads, in_order
from sedeval_soft.threads import for_each

_PARTS = (*range(2, 101), *(10**digits for digits in range(3, 10)))
"""Into how many parts of 1 labels may be divided, from few to many: shares of annotators, then decimals."""

_STRETCH = 128
"""Points of which none is above all later ones where the highest is not."""

_EXACT = 2**53
"""Whole numbers below it are floats, so that their quotient is rounded once."""

_SLACK = 1e-9
"""By how much a rate may miss what it is compared with where labels have no common unit."""

_SLACK_OF_SINGLES = 2.0**-22
"""The same where all labels are of single precision, which are up to 2^-25 away from what was meant."""


@dataclass(frozen=True, slots=True)
class Units:
    """In what the labels of cells are counted.

    whole: how many units are 1, so that every label is the float nearest to a whole number of units divided
    by it; 0 where there is no such number, and labels are summed as floats. slack: by which share of a total
    the sums of two rates that are equal may differ; 0 where they are exact.
    """

    whole: int = 1
    slack: float = 0.0

    @classmethod
    def of(cls, labels: Floats) -> Self:
        """Find the units of labels, (n,) in [0, 1]."""
        whole, exact, single = 1, True, True
        for begin in range(0, len(labels), _AT_ONCE):
            rest = labels[begin : begin + _AT_ONCE]
            while single and len(rest := rest[np.rint(rest * whole) / whole != rest]) and exact:
                first = float(rest[0])
                parts = next((n for n in _PARTS if round(first * n) / n == first), 0)
                more = math.lcm(whole, parts)
                exact = 0 < more * len(labels) < _EXACT
                whole = more if exact else whole
            single = single and (exact or np.array_equal(rest.astype(np.float32), rest))
        return cls(whole) if exact else cls(0, _SLACK_OF_SINGLES if single else _SLACK)

    @classmethod
    def common(cls, parts: Iterable[Self], size: int) -> Self:
        """Return the units of all of some labels, `size` in all."""
        units = list(parts)
        whole = math.lcm(*(of.whole for of in units))
        if 0 < whole * max(size, 1) < _EXACT:
            return cls(whole)
        return cls(0, max((of.slack for of in units), default=0.0) or _SLACK)

    def counted(self, reference: Array) -> Array:
        """Return labels in units, int64; those without units, and a reference that is cut, as they are."""
        if reference.dtype == np.bool_ or not self.whole:
            return reference
        counted: Index = np.rint(reference * self.whole).astype(np.int64)
        return counted


@dataclass(frozen=True, slots=True)
class Ordered:
    """Cells by their scores.

    score: (n,) ascending. reference: (n,) their values, or whether they are active, or their values in units,
    int64, of which `whole` are 1.
    """

    score: Floats
    reference: Array
    whole: int = 1

    @classmethod
    def of(cls, score: Floats, reference: Array) -> Ordered:
        """Put cells in order; both arrays (n,), scores in [0, 1]."""
        score, order = in_order(score)
        return cls(score, reference[order])


@dataclass(frozen=True, slots=True)
class Points:
    """What is detected at every distinct score, (n_points,): thresholds from the highest down.

    score: the lowest score that is detected. tp, fp: weights of the positives and negatives among them, in
    the units of the cells. n_sys: how many they are.
    """

    score: Floats
    tp: Array
    fp: Array
    n_sys: Index

    @classmethod
    def of(cls, cells: Ordered) -> Points:
        """Count what is detected; equal scores are detected together."""
        every = cls.of_distinct(cells)
        first = heads(cells.score)[::-1]
        last = len(cells.score) - 1 - first
        return cls(cells.score[first], every.tp[last], every.fp[last], every.n_sys[last])

    @classmethod
    def of_distinct(cls, cells: Ordered) -> Points:
        """Count what is detected of cells of which no two scores are equal."""
        reference = cells.reference[::-1]
        # Summed from the top, and each by itself: what is small is not the difference of two large sums.
        floats = reference.dtype == np.float64
        tp = np.cumsum(reference, dtype=np.float64 if floats else np.int64)
        n_sys = np.arange(1, len(reference) + 1)
        fp = np.cumsum(1.0 - reference) if floats else n_sys * cells.whole - tp
        return cls(cells.score[::-1], tp, fp, n_sys)


class Gains(NamedTuple):
    """The points of a curve at which positives are gained: all that areas are made of.

    gain: weight of positives gained at each. tp: of all positives detected from the first on. n_sys: how many
    cells are detected. All (n,), thresholds from the highest down. pairs: area below the ROC from where the
    first is gained. end: weight of all negatives. whole: how many units of these weights are 1.
    """

    gain: Floats | float
    tp: Array
    n_sys: Array
    pairs: float
    end: float
    whole: int = 1

    @classmethod
    def of(cls, cells: Ordered) -> Gains:
        """Count what is gained; equal scores are detected together."""
        if np.all(cells.score[1:] > cells.score[:-1]):
            return cls.of_distinct(cells.reference, cells.whole)
        return cls.of_points(Points.of(cells), cells.whole)

    @classmethod
    def of_distinct(cls, reference: Array, whole: int) -> Gains:
        """Count what cells gain of which no two scores are equal; reference: as of `Ordered`."""
        # Cells without anything positive need no look.
        n, positive = len(reference), reference.astype(bool, copy=False)
        at = None if positive.all() else np.flatnonzero(positive)[::-1]
        n_sys = np.arange(1.0, n + 1) if at is None else (n - at).astype(np.float64)
        size = len(n_sys)
        if reference.dtype == np.bool_:
            # Those that each is above are all that are silent, but for those above it.
            pairs = size * (n - size) - n_sys.sum().item() + size * (size + 1) // 2
            return cls(1.0, np.arange(1.0, size + 1), n_sys, pairs, n - size)
        gain = np.ascontiguousarray(reference[::-1]) if at is None else reference[at]
        tp, silent = np.cumsum(gain), 1.0 * whole - gain
        # The ROC slopes where something is gained, and is level to the next such point.
        level = 0.0 if at is None else _product(np.diff(n_sys, append=n + 1) - 1.0, tp) * whole
        pairs = level + _product(silent, tp - gain / 2)
        end = n - size + silent.sum() if gain.dtype == np.float64 else n * whole - gain.sum()
        return cls(gain, tp, n_sys, pairs, end.item(), whole)

    @classmethod
    def of_points(cls, points: Points, whole: int) -> Gains:
        """Return which of some points gain anything."""
        gain = np.diff(points.tp, prepend=points.tp.dtype.type(0))
        at = np.flatnonzero(gain)
        gain, tp, fp, end = gain[at], points.tp[at], points.fp[at], points.fp[-1:].sum().item()
        before = np.append(points.fp.dtype.type(0), points.fp)[at]
        pairs = _product(np.append(before, end)[1:] - fp, tp) + _product(fp - before, tp - gain / 2)
        return cls(gain, tp, points.n_sys[at], pairs, end, whole)


def _product(one: Array, other: Array) -> float:
    """Return the sum of products of two arrays, (n,): exact where it is a whole number below 2^53."""
    one, other = (side.astype(np.float64, copy=False) for side in (one, other))
    return float(np.einsum("i,i->", one, other))


PRECISIONS = ("average_precision", *(f"average_precision_{form}" for form in ("voc11", "voc", "coco101")))
RATES = (
    *("roc_auc", "partial_auc", "partial_auc_mcclish", "d_prime", "equal_error_rate"),
    *("fnr_at_fpr", "fpr_at_fnr"),
)


class Sums(NamedTuple):
    """What some points of a curve add to its areas.

    steps: sum of gains in TP times precision. pairs: area below the ROC in pairs of cells. tp, precision: of
    the points whose precision no later one reaches, with growing TP: interpolated precision is theirs.
    """

    steps: float
    pairs: float
    tp: Array
    precision: Floats


def sums_of(gains: Gains, tp: float = 0, n_sys: int = 0) -> Sums:
    """Return the sums of points in order; tp, n_sys: what is detected before them."""
    detected = gains.n_sys + n_sys
    precision = (gains.tp + tp) / (detected if gains.whole == 1 else detected * gains.whole)
    at = _records(precision)
    steps = float((gains.gain * precision).sum())
    return Sums(steps, gains.pairs + tp * gains.end, gains.tp[at] + tp, precision[at])


def _records(precision: Floats) -> Index:
    """Return the points whose precision is above that of all that come after them."""
    # Most stretches have none, and are passed over.
    highest = np.maximum.reduceat(precision, np.arange(0, len(precision), _STRETCH))
    some = np.flatnonzero(highest > _highest_after(highest)) * _STRETCH
    at: Index = (some[:, None] + np.arange(_STRETCH)).reshape(-1)
    at = at[: np.searchsorted(at, len(precision))]
    values = precision[at]
    return at[values > _highest_after(values)]


def _highest_after(values: Floats) -> Floats:
    """Return the highest value after each, (n,)."""
    return np.append(np.maximum.accumulate(values[:0:-1])[::-1], -np.inf)[: len(values)]


def precision_scores(blocks: Sequence[Sums], n_ref: float, slack: float = 0.0) -> dict[str, float]:
    """Return the average precisions by name: step-wise, and interpolated in three ways.

    blocks: sums of consecutive points. n_ref: weight of all positives, detected or not. slack: as of `Units`.
    Sources: Buckley & Voorhees 2000; Everingham et al. 2010 and 2015; Lin et al. 2014.
    """
    if not n_ref > 0:
        return dict.fromkeys(PRECISIONS, math.nan)
    tp, precision = (np.concatenate(column) for column in list(zip(*blocks, strict=True))[2:])
    at = _records(precision)
    tp, precision = tp[at], precision[at]

    def at_recalls(count: int) -> float:
        """Return the mean of interpolated precision at recalls 0, 1/count .. 1."""
        # Multiplied out: whole numbers stay whole.
        recalls = np.arange(count + 1) * n_ref - (count * n_ref * slack if slack else 0)
        # No threshold may reach the highest recalls: events are found or not.
        return float(np.append(precision, 0.0)[np.searchsorted(tp * count, recalls, side="left")].mean())

    every = float((np.diff(tp, prepend=tp.dtype.type(0)) * precision).sum()) / n_ref
    values = (math.fsum(block.steps for block in blocks) / n_ref, at_recalls(10), every, at_recalls(100))
    # Sums of shares may round beyond their whole.
    return {name: min(value, 1.0) for name, value in zip(PRECISIONS, values, strict=True)}


@dataclass(frozen=True, slots=True)
class Roc:
    """A ROC in blocks: what is detected at the end of each, from nothing on; and a way to look into one.

    tp, fp: (n_blocks + 1,) counts, or weights in units. pairs: (n_blocks,) areas below it in pairs of these.
    within: returns tp and fp at the points of a block, its beginning first. slack: as of `Units`.

    A rate is the quotient of two whole numbers, rounded once, as the number that it is compared with is.
    Rounding keeps the order, so that a rate which reaches a limit is never found to miss it.
    """

    tp: Array
    fp: Array
    pairs: Floats
    within: Callable[[int], Sequence[Array]]
    slack: float = 0.0

    def scores(self, max_fpr: float, max_fnr: float) -> dict[str, float]:
        """Return what is read off the ROC, by name; see the specification of each.

        Sources: Hanley & McNeil 1982; McClish 1989; Martin et al. 1997.
        """
        n_ref, n_silent = float(self.tp[-1]), float(self.fp[-1])
        if not (n_ref > 0 and n_silent > 0):
            return dict.fromkeys(RATES, math.nan)
        area = min(float(self.pairs.sum()) / (n_ref * n_silent), 1.0)
        partial, fnr = self._until(max_fpr)
        chance = max_fpr * max_fpr / 2
        scaled = 0.5 * (1 + (partial - chance) / (max_fpr - chance))
        misses, most = (self.tp[-1] - self.tp) / self.tp[-1], max_fnr + self.slack
        _, fnr_within, fpr = self._block(int(np.argmax(misses <= most)) - 1)
        lowest = float(fpr[np.argmax(fnr_within <= most)])
        # The rate at which the straight lines between the points have FNR = FPR.
        ends = self.fp / n_silent - (n_ref - self.tp) / n_ref
        _, misses, alarms = self._block(int(np.argmax(ends >= 0)) - 1)
        excess = alarms - misses
        after = max(int(np.argmax(excess >= 0)), 1)
        share = -float(excess[after - 1]) / (float(excess[after]) - float(excess[after - 1]))
        equal = float(alarms[after - 1] + share * (alarms[after] - alarms[after - 1]))
        values = (area, partial / max_fpr, scaled, d_prime(area), equal, fnr, lowest)
        return dict(zip(RATES, values, strict=True))

    def _block(self, block: int) -> tuple[Floats, Floats, Floats]:
        """Return TPR, FNR and FPR at the points of a block, its beginning first."""
        tp, fp = self.within(max(block, 0))
        n_ref = self.tp[-1]
        return tp / n_ref, (n_ref - tp) / n_ref, fp / self.fp[-1]

    def _until(self, max_fpr: float) -> tuple[float, float]:
        """Return the area below straight lines to a false alarm rate, and the miss rate reached by then."""
        n_ref, n_silent = float(self.tp[-1]), float(self.fp[-1])
        # Of floats, what is wrong in TP is wrong in FP, too, however small that is.
        most = max_fpr + self.slack * (n_ref + n_silent) / n_silent
        whole = int(np.searchsorted(self.fp / self.fp[-1], most, side="right")) - 1
        area = float(self.pairs[:whole].sum()) / (n_ref * n_silent)
        if whole == len(self.pairs):
            return min(area, max_fpr), 0.0
        tpr, fnr, fpr = self._block(whole)
        inside = int(np.searchsorted(fpr, most, side="right"))
        area += float((np.diff(fpr[:inside]) * (tpr[1:inside] + tpr[: inside - 1])).sum()) / 2
        if inside < len(fpr):
            run = max_fpr - fpr[inside - 1]
            rise = (tpr[inside] - tpr[inside - 1]) * (run / (fpr[inside] - fpr[inside - 1]))
            area += float(run * (tpr[inside - 1] + rise / 2))
        return min(area, max_fpr), float(fnr[inside - 1])


def d_prime(area: float) -> float:
    """Return sqrt(2) times the inverse normal of an area under the ROC, NaN where that is infinite.

    Source: Simpson & Fitter 1973.
    """
    from statistics import NormalDist

    return math.sqrt(2) * NormalDist().inv_cdf(area) if 0 < area < 1 else math.nan


def curve_scores(
    blocks: Blocks, references: Sequence[Array], units: Units, rates: tuple[float, float]
) -> dict[str, float]:
    """Return the measures of curves of some cells by name, block by block: nothing as long as these is made.

    blocks: the scores, in as many parts as there are. references: of the cells of each part, in units, or
    whether they are active. rates: `max_fpr` and `max_fnr`.
    """
    size, whole = int(blocks.before[-1]), units.whole or 1
    # From the highest scores down.
    downwards, n_sys = range(len(blocks))[::-1], size - blocks.before[::-1]
    parts = for_each(
        lambda part: blocks.sums(part, units.counted(references[part])), range(len(references)), size
    )
    positives = np.sum(parts, axis=0)[::-1]
    above = np.cumsum(positives) - positives

    def reference(block: int) -> Array:
        return units.counted(blocks.joined(block, references))

    def points(place: int) -> Points:
        block = downwards[place]
        if blocks.levels[block] is None:
            cells = Ordered(blocks.joined(block), reference(block), whole)
            return Points.of_distinct(cells) if blocks.distinct[block] else Points.of(cells)
        # However many cells of one score are one point.
        tp, n = positives[place : place + 1], np.diff(n_sys[place : place + 2])
        fp = n * whole - tp
        if not units.whole:
            slices = zip(references, blocks.slices(block), strict=True)
            fp = np.sum([(1.0 - row[part]).sum() for row, part in slices], keepdims=True)
        return Points(np.zeros(0), tp, fp, n)

    def swept(place: int) -> tuple[Sums, float, float]:
        """Return the sums of a block, TP at its end, 0 if it adds nothing, and its negatives."""
        block, tp = downwards[place], above[place].item()
        distinct = blocks.distinct[block]
        gains = (
            Gains.of_distinct(reference(block), whole) if distinct else Gains.of_points(points(place), whole)
        )
        end = tp + gains.tp[-1].item() if len(gains.tp) else 0
        return sums_of(gains, tp, int(n_sys[place])), end, gains.end

    sums, ends, silent = zip(*for_each(swept, range(len(blocks)), size), strict=True)
    # Sums of blocks and of points of floats may differ in their last digits: the ends are of points.
    tp, fp = np.maximum.accumulate([0, *ends]), np.cumsum([0, *silent])

    def within(place: int) -> list[Array]:
        of_block = points(place)
        return [
            np.minimum(np.append(0, column) + total[place], total[place + 1])
            for column, total in ((of_block.tp, tp), (of_block.fp, fp))
        ]

    roc = Roc(tp, fp, np.array([of_block.pairs for of_block in sums]), within, units.slack)
    return precision_scores(sums, tp[-1].item(), units.slack) | roc.scores(*rates)


# What a class scores at every threshold, for plots and tables.


@dataclass(frozen=True, slots=True)
class Curve:
    """Counts of a class at every threshold, and what follows from them; NaN where that is undefined.

    threshold: (n,) ascending; each value holds up to the next one. The first may be NaN, see `of_points`.
    tp, n_sys: (n,) counts, or weights where the reference is soft. n_ref: size of the reference. fp: (n,)
    false positives of cells; None for events, which have no true negatives to set them against.
    """

    threshold: Floats
    tp: Array
    n_sys: Array
    n_ref: float
    fp: Array | None = None

    @classmethod
    def of_points(cls, points: Points) -> Curve:
        """Return the curve of cells, from the point at which all are positive to the one at which none is.

        No threshold detects cells of value 0: where there are any, that first point has none.
        """
        counts = [
            np.append(column[::-1], column.dtype.type(0)) for column in (points.tp, points.n_sys, points.fp)
        ]
        threshold = np.append(math.nan if np.any(points.score == 0) else 0.0, points.score[::-1])
        return cls(threshold, counts[0], counts[1], counts[0][0].item(), counts[2])

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

        (n,) each, NaN where a rate is 0 or 1 and has none. Source: Martin et al. 1997.
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

    thresholds: (n,) ascending, those of either side. tp: (n_classes, n, n). n_ref: (n_classes, n) at
    thresholds of the reference; n_sys: (n_classes, n) at those of the system. beta: of F.
    """

    thresholds: Floats
    tp: Index
    n_ref: Index
    n_sys: Index
    beta: float = 1.0

    @classmethod
    def of(cls, reference: Floats, system: Floats, beta: float = 1.0, *, inclusive: bool = False) -> Self:
        """Count cells, (n_classes, n_cells), values in [0, 1]; inclusive: active at a threshold, too."""
        edges = np.arange(1, STEPS) / STEPS

        def of_class(c: int) -> Index:
            both = np.zeros(STEPS * STEPS, dtype=np.int64)
            for begin in range(0, reference.shape[1], _AT_ONCE):
                part = slice(begin, begin + _AT_ONCE)
                ours, theirs = (_place(side[c, part], edges, inclusive) for side in (reference, system))
                both += np.bincount(ours.astype(np.int64) * STEPS + theirs, minlength=STEPS * STEPS)
            # What lies above k thresholds lies above all lower ones: sums from the high end, both ways.
            above = both.reshape(STEPS, STEPS)[::-1, ::-1].cumsum(axis=0).cumsum(axis=1)
            return above[::-1, ::-1]

        classes = for_each(of_class, range(len(reference)), reference.size)
        above = np.array(classes, dtype=np.int64).reshape(-1, STEPS, STEPS)
        return cls(edges, above[:, 1:, 1:], above[:, 1:, 0], above[:, 0, 1:], beta)

    @property
    def f(self) -> Floats:
        """F of each class, (n_classes, n, n); NaN where neither side has anything."""
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
    """Return how many thresholds lie below each value (or at it), (n,).

    As np.searchsorted does, without a search: a product is off by one at the most, for rounding.
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
