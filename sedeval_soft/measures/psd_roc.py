"""PSD-ROCs, and the areas below them.

For each class the PSD-ROC gives the highest share of reference events found (TPR) at an effective rate of
false positives per hour (eFPR) of at most x: a staircase that starts at (0, 0).

    eFPR = FP / T + alpha_ct * mean over the other classes c' of CT[c'] / T_ref[c']
    eTPR(x) = max(0, mean over classes of TPR(x) - alpha_st * standard deviation over classes of TPR(x))
    PSDS = 1 / max_efpr * integral of eTPR(x) for x from 0 to max_efpr

T is the length of all files, T_ref that of all reference events of a class, CT[c'] the cross triggers of
class c', which are false positives too. Classes without reference take no part. Sources: Bilen et al. 2020
(PSDS), Ebbers et al. 2022 (all thresholds), Ebbers et al. 2023 (piPSDS: points of several post-processings
in one staircase).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sedeval_soft.arrays import Floats, Index
from sedeval_soft.measures.base import ratio
from sedeval_soft.measures.intersections import Criteria
from sedeval_soft.measures.thresholds import TP
from sedeval_soft.sorting import heads

HOUR = 3600.0

FOUND, FALSE = TP, 1
"""Rows of counts: reference events found, false positives; cross triggers of each class follow."""


@dataclass(frozen=True, slots=True)
class Staircases:
    """The PSD-ROC of every class.

    label: (n,) ascending. efpr: (n,) per hour, ascending within a class. tp: (n,) reference events found
    from there on, ascending within a class; before the first 0. n_ref: (n_classes,).
    """

    label: Index
    efpr: Floats
    tp: Index
    n_ref: Index

    @classmethod
    def under(cls, label: Index, efpr: Floats, tp: Index, n_ref: Index) -> Staircases:
        """Return the staircases that operating points, each (n,), make."""
        scale = int(n_ref.max(initial=0)) + 1
        # Of points that find as many only the one with the fewest false positives can be on the staircase.
        key = label * scale + tp
        fewest = np.full(len(n_ref) * scale, np.inf)
        np.minimum.at(fewest, key, efpr)
        key = np.flatnonzero(np.isfinite(fewest))
        efpr = fewest[key]
        label, tp = np.divmod(key, scale)
        return cls(*rising(label, efpr, tp), n_ref)

    @classmethod
    def none(cls, n_classes: int) -> Staircases:
        """Return those of classes that have no reference."""
        nothing = np.zeros(0, dtype=np.int64)
        return cls(nothing, np.zeros(0), nothing, np.zeros(n_classes, dtype=np.int64))


def rising(label: Index, efpr: Floats, tp: Index) -> tuple[Index, Floats, Index]:
    """Return the points of staircases, by label and eFPR: those above all before; points: (n,) each."""
    scale = int(tp.max(initial=0)) + 1
    order = np.lexsort((tp, efpr, label))
    label, efpr, tp = label[order], efpr[order], tp[order]
    highest = np.maximum.accumulate(label * scale + tp)
    # A staircase begins at 0.
    rises = highest > np.maximum(np.concatenate(([-1], highest[:-1])), label * scale)
    return label[rises], efpr[rises], tp[rises]


@dataclass(frozen=True, slots=True)
class PsdRoc:
    """The PSD-ROC over all classes: eTPR holds from each eFPR to the next, and the score it gives.

    efpr, etpr: (n,). value: PSDS. classes: (n_classes,) that of each class alone, NaN without reference.
    """

    efpr: Floats
    etpr: Floats
    value: float
    classes: Floats


def psd_roc(stairs: Staircases, criteria: Criteria) -> PsdRoc:
    """Combine the staircases of all classes; the score is NaN where no class has a reference."""
    max_efpr, present = criteria.max_efpr, np.flatnonzero(stairs.n_ref)
    label, within = stairs.label, stairs.efpr < max_efpr
    _, at, etpr = combined(0 * label, label, stairs.efpr, stairs.tp, stairs.n_ref[None], criteria)
    value = float(areas(at, etpr, np.zeros(1, dtype=np.int64), max_efpr)[0])
    label, efpr = label[within], stairs.efpr[within]
    classes = np.full(len(stairs.n_ref), np.nan)
    tpr = stairs.tp[within] / stairs.n_ref[label]
    classes[present] = areas(efpr, tpr, np.searchsorted(label, present), max_efpr)
    return PsdRoc(at, etpr, value, classes)


def combined(
    cut: Index, label: Index, efpr: Floats, tp: Index, n_ref: Index, criteria: Criteria
) -> tuple[Index, Floats, Floats]:
    """Return the PSD-ROC over all classes of each cut: cuts, eFPR, eTPR that holds from there on, (n,) each.

    cut, label, efpr, tp: (n_points,) of the staircases of classes. n_ref: (n_cuts, n_classes). eTPR is NaN
    where no class has a reference. The first eFPR of each cut is 0.
    """
    n_cuts, n_classes = n_ref.shape
    within = np.flatnonzero(efpr < criteria.max_efpr)
    cut = np.concatenate((np.arange(n_cuts), cut.take(within)))
    label = np.concatenate((np.full(n_cuts, -1), label.take(within)))
    efpr = np.concatenate((np.zeros(n_cuts), efpr.take(within)))
    tp = np.concatenate((np.zeros(n_cuts, dtype=np.int64), tp.take(within)))
    order = np.lexsort((efpr, cut))
    cut, label, tp, efpr = *(of.take(order) for of in (cut, label, tp)), efpr.take(order)
    last = np.append(heads(cut, efpr)[1:], len(cut)) - 1
    start, at = cut * (int(tp.max(initial=0)) + 1), cut.take(last)
    present = n_ref > 0
    number = present.sum(axis=1).take(at)

    def height(c: int) -> Floats:
        """Return the TPR of a class where it has a reference, elsewhere 0."""
        found = np.maximum.accumulate(start + np.where(label == c, tp, 0)) - start
        return found.take(last) / np.maximum(n_ref[:, c], 1).take(at)

    total, squares = np.zeros((2, len(at)))
    for c in range(n_classes):
        total += height(c)
    mean = ratio(total, number)
    for c in range(n_classes) if criteria.alpha_st > 0 else ():
        squares += np.where(present[:, c].take(at), (height(c) - mean) ** 2, 0.0)
    etpr = np.maximum(mean - criteria.alpha_st * np.sqrt(ratio(squares, number)), 0.0)
    return at, efpr.take(last), etpr


def areas(x: Floats, y: Floats, begins: Index, end: float) -> Floats:
    """Return the areas under steps from x on to `end`, as a share of it: summed by rises, 1 is exactly 1.

    begins: where the steps of each begin, ascending; up to there y is 0.
    """
    before = np.append(0.0, y[:-1])[: len(y)]
    before[begins[begins < len(y)]] = 0.0
    terms = ((y - before) * (1.0 - x / end)).tolist()
    return np.array([math.fsum(terms[i:j]) for i, j in pairwise([*begins.tolist(), len(terms)])])
