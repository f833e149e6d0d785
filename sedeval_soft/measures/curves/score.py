"""Areas and rates from the points of a curve.

Undefined, as NaN: all of them without a positive; what needs false alarm rates also without a negative.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.measures.curves.points import Points

Floats = npt.NDArray[np.float64]
Array = npt.NDArray[Any]


def precision_scores(points: Points) -> dict[str, float]:
    """Return the average precisions by name: step-wise, and interpolated in three ways.

    Sources: Buckley & Voorhees 2000; Everingham et al. 2010 and 2015; Lin et al. 2014.
    """
    names = ("average_precision", *(f"average_precision_{form}" for form in ("voc11", "voc", "coco101")))
    if not points.n_ref > 0:
        return dict.fromkeys(names, math.nan)
    precision = points.tp / points.n_sys
    gained = np.diff(points.tp, prepend=points.tp.dtype.type(0))
    steps = float((gained * precision).sum()) / points.n_ref
    # The best precision at this recall or a higher one.
    envelope = np.maximum.accumulate(precision[::-1])[::-1]
    every = float((gained * envelope).sum()) / points.n_ref
    eleven, hundred = (_at_recalls(points, envelope, count) for count in (10, 100))
    # Sums of shares may round beyond their whole.
    return dict(zip(names, (min(value, 1.0) for value in (steps, eleven, every, hundred)), strict=True))


def _at_recalls(points: Points, envelope: Floats, count: int) -> float:
    """Return the mean of interpolated precision at recalls 0, 1/count .. 1."""
    wanted = np.arange(count + 1) * points.n_ref / count
    # No threshold may reach the highest recalls: events are found or not.
    reached = np.append(envelope, 0.0)
    return float(reached[np.searchsorted(points.tp, wanted, side="left")].mean())


def rate_scores(points: Points, max_fpr: float, max_fnr: float) -> dict[str, float]:
    """Return what is read off the ROC, by name; see the specification of each.

    Sources: Hanley & McNeil 1982; McClish 1989; Martin et al. 1997.
    """
    names = ("roc_auc", "partial_auc", "partial_auc_mcclish", "d_prime")
    rates = ("equal_error_rate", "fnr_at_fpr", "fpr_at_fnr")
    if not (points.n_ref > 0 and points.n_silent > 0):
        return dict.fromkeys((*names, *rates), math.nan)
    # The ROC begins where nothing is detected.
    tp, fp = (np.append(count.dtype.type(0), count) for count in (points.tp, points.n_sys - points.tp))
    tpr, fpr = tp / points.n_ref, fp / points.n_silent
    whole = points.n_ref * points.n_silent
    area = min(_area(tp, fp, len(fp)) / whole, 1.0)
    inside = int(np.searchsorted(fpr, max_fpr, side="right"))
    partial = _area(tp, fp, inside) / whole
    if inside < len(fpr):
        rest = (max_fpr - fpr[inside - 1]) / (fpr[inside] - fpr[inside - 1])
        height = tpr[inside - 1] + (tpr[inside] - tpr[inside - 1]) * rest / 2
        partial += float((max_fpr - fpr[inside - 1]) * height)
    partial = min(partial, max_fpr)
    chance = max_fpr * max_fpr / 2
    scaled = 0.5 * (1 + (partial - chance) / (max_fpr - chance))
    lowest = int(np.argmax(1 - tpr <= max_fnr))
    values = (area, partial / max_fpr, scaled, d_prime(area))
    found = (_equal_error_rate(tpr, fpr), float(1 - tpr[inside - 1]), float(fpr[lowest]))
    return dict(zip((*names, *rates), (*values, *found), strict=True))


def _area(tp: Array, fp: Array, until: int) -> float:
    """Return the area below straight lines between the first points of a ROC, in pairs of cells."""
    # Whole counts are summed exactly: a perfect order has an area of exactly 1.
    return float((np.diff(fp[:until]) * (tp[1:until] + tp[: until - 1])).sum()) / 2


def _equal_error_rate(tpr: Floats, fpr: Floats) -> float:
    """Return the rate at which the straight lines between the points have FNR = FPR."""
    excess = fpr + tpr - 1
    after = int(np.argmax(excess >= 0))
    low, high = float(excess[after - 1]), float(excess[after])
    share = -low / (high - low)
    return float(fpr[after - 1] + share * (fpr[after] - fpr[after - 1]))


def d_prime(area: float) -> float:
    """Return sqrt(2) times the inverse normal of an area under the ROC, NaN where that is infinite.

    Source: Simpson & Fitter 1973.
    """
    return math.sqrt(2) * NormalDist().inv_cdf(area) if 0 < area < 1 else math.nan
