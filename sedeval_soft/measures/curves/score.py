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
    tpr = np.concatenate((np.zeros(1), points.tp / points.n_ref))
    fpr = np.concatenate((np.zeros(1), (points.n_sys - points.tp) / points.n_silent))
    area = _area(tpr, fpr, 1.0)
    partial = _area(tpr, fpr, max_fpr)
    chance = max_fpr * max_fpr / 2
    scaled = 0.5 * (1 + (partial - chance) / (max_fpr - chance))
    values = (area, min(partial / max_fpr, 1.0), scaled, d_prime(area))
    highest = int(np.searchsorted(fpr, max_fpr, side="right")) - 1
    lowest = int(np.argmax(1 - tpr <= max_fnr))
    found = (_equal_error_rate(tpr, fpr), float(1 - tpr[highest]), float(fpr[lowest]))
    return dict(zip((*names, *rates), (*values, *found), strict=True))


def _area(tpr: Floats, fpr: Floats, until: float) -> float:
    """Return the area under straight lines between the points of a ROC, from fpr 0 to `until`."""
    inside = int(np.searchsorted(fpr, until, side="right"))
    width = np.diff(fpr[:inside])
    area = float((width * (tpr[1:inside] + tpr[: inside - 1])).sum()) / 2
    if inside < len(fpr):
        run, rise = fpr[inside] - fpr[inside - 1], tpr[inside] - tpr[inside - 1]
        rest = until - fpr[inside - 1]
        area += float(rest * (tpr[inside - 1] + rise * (rest / run) / 2))
    return min(area, 1.0)


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
