"""Areas and rates from the points of a curve, which may come in blocks of descending scores.

Undefined, as NaN: all of them without a positive; what needs false alarm rates also without a negative.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.measures.curves.points import Gains

Floats = npt.NDArray[np.float64]
Array = npt.NDArray[Any]

PRECISIONS = ("average_precision", *(f"average_precision_{form}" for form in ("voc11", "voc", "coco101")))
RATES = (
    *("roc_auc", "partial_auc", "partial_auc_mcclish", "d_prime", "equal_error_rate"),
    *("fnr_at_fpr", "fpr_at_fnr"),
)


@dataclass(frozen=True, slots=True)
class Sums:
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
    if not len(gains.tp):
        return Sums(0.0, float(gains.end * tp), gains.tp, np.zeros(0))
    found, before = gains.tp + tp, gains.before + tp
    precision = found / ((gains.n_sys + n_sys) * gains.whole)
    gained = gains.tp - gains.before
    # The ROC is level to where something is gained, slopes there, and is level to the end. Whole counts are
    # summed exactly; products of units may be too large for whole numbers.
    kind = found.dtype if gains.whole == 1 else np.dtype(np.float64)
    fp, passed, high, low = (column.astype(kind) for column in (gains.fp, gains.passed, found, before))
    level = ((passed - np.append(kind.type(0), fp[:-1])) * low).sum() + (gains.end - fp[-1]) * high[-1]
    sloping = ((fp - passed) * (high + low)).sum()
    kept = _records(precision)
    steps = float((gained * precision).sum())
    return Sums(steps, float(level) + float(sloping) / 2, found[kept], precision[kept])


def _records(precision: Floats) -> Array:
    """Return which values are above all that come after them."""
    kept = np.ones(len(precision), dtype=bool)
    if len(precision):
        kept[:-1] = precision[:-1] > np.maximum.accumulate(precision[:0:-1])[::-1]
    return kept


def precision_scores(blocks: Sequence[Sums], n_ref: float, slack: float = 0.0) -> dict[str, float]:
    """Return the average precisions by name: step-wise, and interpolated in three ways.

    blocks: sums of consecutive points. n_ref: weight of all positives, found or not. slack: as of `Units`.
    Sources: Buckley & Voorhees 2000; Everingham et al. 2010 and 2015; Lin et al. 2014.
    """
    if not n_ref > 0:
        return dict.fromkeys(PRECISIONS, math.nan)
    tp = np.concatenate([block.tp for block in blocks])
    precision = np.concatenate([block.precision for block in blocks])
    kept = _records(precision)
    tp, precision = tp[kept], precision[kept]
    every = float((np.diff(tp, prepend=tp.dtype.type(0)) * precision).sum()) / n_ref
    eleven, hundred = (_at_recalls(tp, precision, n_ref, count, slack) for count in (10, 100))
    values = (math.fsum(block.steps for block in blocks) / n_ref, eleven, every, hundred)
    # Sums of shares may round beyond their whole.
    return {name: min(value, 1.0) for name, value in zip(PRECISIONS, values, strict=True)}


def _at_recalls(tp: Array, precision: Floats, n_ref: float, count: int, slack: float) -> float:
    """Return the mean of interpolated precision at recalls 0, 1/count .. 1."""
    # Multiplied out: whole numbers stay whole.
    wanted = np.arange(count + 1) * n_ref
    if slack:
        wanted = wanted - count * n_ref * slack
    # No threshold may reach the highest recalls: events are found or not.
    reached = np.append(precision, 0.0)
    return float(reached[np.searchsorted(tp * count, wanted, side="left")].mean())


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
    within: Callable[[int], tuple[Array, Array]]
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
        values = (area, partial / max_fpr, scaled, d_prime(area), self._equal_error_rate(), fnr, lowest)
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

    def _equal_error_rate(self) -> float:
        """Return the rate at which the straight lines between the points have FNR = FPR."""
        n_ref, n_silent = float(self.tp[-1]), float(self.fp[-1])
        ends = self.fp / n_silent - (n_ref - self.tp) / n_ref
        _, fnr, fpr = self._block(int(np.argmax(ends >= 0)) - 1)
        excess = fpr - fnr
        after = max(int(np.argmax(excess >= 0)), 1)
        low, high = float(excess[after - 1]), float(excess[after])
        share = -low / (high - low)
        return float(fpr[after - 1] + share * (fpr[after] - fpr[after - 1]))


def d_prime(area: float) -> float:
    """Return sqrt(2) times the inverse normal of an area under the ROC, NaN where that is infinite.

    Source: Simpson & Fitter 1973.
    """
    from statistics import NormalDist

    return math.sqrt(2) * NormalDist().inv_cdf(area) if 0 < area < 1 else math.nan
