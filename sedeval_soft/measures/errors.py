"""What each kind of error costs: shares of 1 - F that add up to it, and what F would gain without the kind.

A kind has false positives (FP), which count in the class that the system said, and false negatives (FN),
which count in the class of the reference. To mend it removes its FP and makes TP of its FN; N_ref stays.

- The gain of a kind is F with it mended, minus F. Gains of kinds do not add up to 1 - F.
- The share of a kind is what of 1 - F it makes, mended in no order: the mean of its gains over all orders in
  which single errors are mended, in the limit of errors that are as small as can be (Aumann & Shapley 1974).
  Every FP has one price and every FN one, so that shares add up over kinds, and do not change where a kind is
  cut in two.

With b = beta^2, n = TP + FN, and mending at the same pace from D0 = (1 + b) TP + b FN + FP to D1 = (1 + b) n:

    price of an FP = (1 + b) (TP I0 + FN I1)        price of an FN = (1 + b) ((b n + FP) I0 - FP I1)
    I0 = 1 / (D0 D1)    I1 = (ln(1 + x) - x / (1 + x)) / (x D0)^2    x = (D1 - D0) / D0 = (FN - FP) / D0
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from sedeval_soft.arrays import Array, Floats
from sedeval_soft.measures.base import Measure, Table, ratio, scores_of
from sedeval_soft.measures.detection import f_beta

EVENT_KINDS = {
    "missed": "a reference event without a detection that could be meant for it",
    "background": "a detection without a reference event that it could be meant for",
    "onset": "a detection of the right class whose onset is wrong",
    "offset": "a detection of the right class whose offset is wrong",
    "both_boundaries": "a detection of the right class whose onset and offset are wrong",
    "split": "one reference event in two or more detections",
    "merge": "two or more reference events in one detection",
    "duplicate": "one more detection of an event that is detected already",
    "confusion": "a detection at the right time, of the wrong class",
    "confusion_and_boundary": "a detection of the wrong class that shares half of the time with the event",
}
"""Kinds of errors of events, and what each is."""

SEGMENT_KINDS = {
    "boundary": "the one segment by which an event begins or ends too early or too late",
    "confusion": "a miss of one class and a false alarm of another in one segment",
    "background": "a false alarm that is none of these",
    "missed": "a miss that is none of these",
}
"""The same of segments."""

SOFT_KINDS = {
    "confusion": "what one class has too much of and another too little at one time",
    "too_low": "values below those of the reference, not made up for by another class",
    "too_high": "values above those of the reference, where no other class has too little",
}
"""The same of segments in the soft reading."""

ONE_SIDED = {"missed": "fn", "background": "fp", "duplicate": "fp", "too_low": "fn", "too_high": "fp"}
"""Kinds that have false negatives only, or false positives only, of any basis."""

LEVELS = ("lower", "higher")
"""Where a miss is right: at a lower threshold of its class, or at a higher one."""


class Errors(NamedTuple):
    """What the measures are values of: of each class, (..., n_classes), or of all classes pooled, (...).

    fp, fn: by kind. levels: of its FN those that are right at another threshold, by `LEVELS` and kind. tp,
    n_ref, n_sys: as of `DetectionCounts`. price_fp, price_fn: what one error costs.
    """

    fp: Mapping[str, Array]
    fn: Mapping[str, Array]
    levels: Mapping[str, Mapping[str, Array]]
    tp: Array
    n_ref: Array
    n_sys: Array
    beta: float
    price_fp: Floats
    price_fn: Floats

    @classmethod
    def of(cls, columns: Mapping[str, Array], n_ref: Array, beta: float) -> Errors:
        """Return the errors of totals by kind and what is counted of it, as `missed.fn`.

        What is not counted of a kind is 0.
        """
        kinds = dict.fromkeys(name.partition(".")[0] for name in columns)
        none = np.zeros_like(n_ref)
        counted = {
            what: {kind: columns.get(f"{kind}.{what}", none) for kind in kinds}
            for what in ("fp", "fn", *LEVELS)
        }
        fp, fn = (np.sum([*counted[what].values()], axis=0) for what in ("fp", "fn"))
        tp = n_ref - fn
        levels = {level: counted[level] for level in LEVELS}
        return cls(counted["fp"], counted["fn"], levels, tp, n_ref, tp + fp, beta, *prices(tp, fp, fn, beta))

    def share(self, kind: str) -> Floats:
        """Return the share of a kind in 1 - F, NaN where F is of nothing."""
        # What rounds to more than all is all.
        costs: Floats = np.minimum(self.fp[kind] * self.price_fp + self.fn[kind] * self.price_fn, 1.0)
        return costs

    def gain(self, kind: str) -> Floats:
        """Return how much F rises where the kind is mended."""
        b = self.beta
        mended = f_beta(self.tp + self.fn[kind], self.n_ref, self.n_sys - self.fp[kind] + self.fn[kind], b)
        # Nothing that is mended lowers F, but by rounding.
        gain = np.maximum(mended - f_beta(self.tp, self.n_ref, self.n_sys, b), 0.0)
        return np.where(self.n_ref > 0, gain, np.nan)

    def right_elsewhere(self, kind: str, level: str) -> Floats:
        """Return the share of the misses of a kind that are right at a lower, or at a higher, threshold."""
        return ratio(self.levels[level][kind], self.fn[kind])


def prices(tp: Array, fp: Array, fn: Array, beta: float = 1.0) -> tuple[Floats, Floats]:
    """Return what a false positive, and a false negative, costs of F; NaN where there is no reference.

    tp, fp, fn: of one shape. The cost of all of them is 1 - F. Source: Aumann & Shapley 1974.
    """
    tp, fp, fn = (np.asarray(each, dtype=np.float64) for each in (tp, fp, fn))
    # Counts of values that are nearly 0 have no squares: a power of 2 is taken from them, and from prices.
    _, power = np.frexp(tp + fp + fn)
    tp, fp, fn = (np.ldexp(each, -power) for each in (tp, fp, fn))
    b = beta * beta
    n = np.where(tp + fn > 0, tp + fn, np.nan)
    d0, d1 = (1 + b) * tp + b * fn + fp, (1 + b) * n
    by = np.where(n > 0, fn - fp, np.nan)
    x = by / d0
    near = np.abs(x) < _SERIES
    series = np.zeros_like(x)
    for k in reversed(range(_TERMS)):
        series = series * -x + (k + 1) / (k + 2)
    i0 = 1 / (d0 * d1)
    # In these forms there is no 1 + x, and no I0 - I1, which lose their digits where false alarms abound.
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithm = np.log(d1 / d0)
        i1 = np.where(near, series / d0**2, (logarithm - by / d1) / by**2)
        i2 = np.where(near, i0 - i1, (by / d0 - logarithm) / by**2)
    of_both = (1 + b) * (tp * i0 + fn * i1), (1 + b) * (b * n * i0 + fp * i2)
    price_fp, price_fn = (np.ldexp(price, -power) for price in of_both)
    return price_fp, price_fn


_SERIES, _TERMS = 0.05, 16
"""Where the difference of two logarithms would lose digits, and terms of the series in its place."""


def error_scores(
    columns: Mapping[str, Array], n_ref: Array, measures: Sequence[Measure], beta: float = 1.0
) -> Table:
    """Return the measures of errors by name; columns, n_ref: totals, classes last.

    columns: by kind and what is counted of it, as `missed.fn`. What has no error of the reference is a hit.
    """
    pooled = {name: column.sum(axis=-1) for name, column in columns.items()}
    return scores_of(measures, Errors.of(columns, n_ref, beta), Errors.of(pooled, n_ref.sum(axis=-1), beta))


def columns_of_kinds(kinds: Iterable[str], *, with_levels: bool = False) -> tuple[str, ...]:
    """Return the names of what is counted of some kinds of errors: what they cannot have is left out."""
    names = []
    for kind in kinds:
        sides = (ONE_SIDED[kind],) if kind in ONE_SIDED else ("fp", "fn")
        levels = LEVELS if with_levels and "fn" in sides else ()
        names += [f"{kind}.{what}" for what in (*sides, *levels)]
    return tuple(names)


def _measures(kinds: Mapping[str, str], *, with_levels: bool = False) -> tuple[Measure, ...]:
    """Return the measures of some kinds of errors: what each costs, what F gains without it, and how many."""
    made = []
    for kind, text in kinds.items():
        name = kind.replace("_", " ")
        letters = {
            "FP_k": f"false positives of kind {name}", "FN_k": f"false negatives of kind {name}",
            "u": "the price of a false positive, so that all shares add up to 1 - F",
            "v": "the price of a false negative, likewise",
        }  # fmt: skip
        share = partial(Measure, source="Aumann & Shapley 1974", undefined="N_ref = 0", table="error shares",
            letters=letters, short=name)  # fmt: skip
        count = partial(share, high=None, direction="none", averages=("micro",), undefined="never",
            source="Bolya et al. 2020")  # fmt: skip
        made += [
            share(f"{kind}_share", f"part of 1 - F that is lost by errors of kind {name}: {text}",
                "FP_k u + FN_k v", partial(Errors.share, kind=kind), direction="none",
                averages=("micro", "macro")),
            share(f"{kind}_gain", f"how much F would rise without errors of kind {name}: {text}",
                "F of TP + FN_k, FP - FP_k and FN - FN_k, minus F", partial(Errors.gain, kind=kind),
                direction="none", averages=("micro", "macro"), source="Bolya et al. 2020",
                table="error gains"),
            count(f"{kind}_fp", f"false positives of kind {name}: {text}", "FP_k",
                lambda e, k=kind: e.fp[k], table="false positives by kind"),
            count(f"{kind}_fn", f"false negatives of kind {name}: {text}", "FN_k",
                lambda e, k=kind: e.fn[k], table="false negatives by kind"),
        ]  # fmt: skip
        if with_levels:
            made += [
                share(f"{kind}_right_{level}",
                    f"part of the misses of kind {name} that are right at a {level} threshold",
                    f"those that are right at a {level} threshold / FN_k", direction="none",
                    value=partial(Errors.right_elsewhere, kind=kind, level=level), averages=("micro",),
                    undefined="no miss is of this kind", source="this project",
                    table=f"misses right at a {level} threshold")
                for level in LEVELS
            ]  # fmt: skip
    return tuple(made)


OF_EVENTS = _measures(EVENT_KINDS, with_levels=True)
OF_SEGMENTS = _measures(SEGMENT_KINDS)
OF_SOFT_SEGMENTS = _measures(SOFT_KINDS)

KINDS_OF_ERRORS: dict[tuple[str, str], tuple[tuple[str, ...], tuple[Measure, ...]]] = {
    ("event", "hard"): (tuple(EVENT_KINDS), OF_EVENTS),
    ("segment", "hard"): (tuple(SEGMENT_KINDS), OF_SEGMENTS),
    ("segment", "soft"): (tuple(SOFT_KINDS), OF_SOFT_SEGMENTS),
}
"""The kinds of errors of each basis and reading, and their measures."""
