"""The cost of each kind of error: shares of 1 - F that add up to it, and the gain of F without the kind.

A kind has false positives (FP), which count in the class of the detection, and false negatives (FN), which
count in the class of the reference. Fixing a kind removes its FP and makes TP of its FN; N_ref stays.

- The gain of a kind is F with the kind fixed, minus F. Gains of kinds do not add up to 1 - F.
- The share of a kind is its part of 1 - F: the mean of its gains over all orders in which single errors are
  fixed, in the limit of infinitely small errors (Aumann & Shapley 1974). Every FP has one price and every FN
  one, so that shares add up over kinds, and do not change where a kind is cut in two.

With b = beta^2, n = TP + FN, and fixing at the same pace from D0 = (1 + b) TP + b FN + FP to D1 = (1 + b) n:

    price of an FP = (1 + b) (TP I0 + FN I1)        price of an FN = (1 + b) ((b n + FP) I0 - FP I1)
    I0 = 1 / (D0 D1)    I1 = (ln(1 + x) - x / (1 + x)) / (x D0)^2    x = (D1 - D0) / D0 = (FN - FP) / D0
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from sedeval_soft.arrays import Array, Floats
from sedeval_soft.evaluation import bootstrap, interval, leave_one_out
from sedeval_soft.measures import f_beta, mean_of
from sedeval_soft.settings import Settings

AVERAGES = ("micro", "macro")


def prices(tp: Array, fp: Array, fn: Array, beta: float = 1.0) -> tuple[Floats, Floats]:
    """Return the costs of a false positive and of a false negative in F; NaN without a reference.

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
"""The limit below which a difference of logarithms loses digits, and the terms of a series instead."""


def share(fp: Array, fn: Array, n_ref: Array, beta: float) -> Floats:
    """Return the share of each kind in 1 - F, (n_kinds, ...), NaN without a reference.

    fp, fn: (n_kinds, ...) of all kinds. n_ref: (...).
    """
    of_fp, of_fn = prices(n_ref - fn.sum(axis=0), fp.sum(axis=0), fn.sum(axis=0), beta)
    # What rounds to more than all is all.
    costs: Floats = np.minimum(fp * of_fp + fn * of_fn, 1.0)
    return costs


def gain(fp: Array, fn: Array, n_ref: Array, beta: float) -> Floats:
    """Return the gain of F if each kind is fixed, (n_kinds, ...); arguments as for `share`."""
    tp = n_ref - fn.sum(axis=0)
    n_sys = tp + fp.sum(axis=0)
    # Nothing that is mended lowers F, but by rounding.
    risen = f_beta(tp + fn, n_ref, n_sys - fp + fn, beta) - f_beta(tp, n_ref, n_sys, beta)
    return np.where(n_ref > 0, np.maximum(risen, 0.0), np.nan)


def averages(
    value: Callable[[Array, Array, Array, float], Floats], fp: Array, fn: Array, n_ref: Array, beta: float
) -> Floats:
    """Return the micro and the macro average of shares or gains, (2, n_kinds, ...).

    fp, fn: (n_kinds, ..., n_classes). n_ref: (..., n_classes). The macro average is that over classes with a
    reference.
    """
    micro = value(fp.sum(axis=-1), fn.sum(axis=-1), n_ref.sum(axis=-1), beta)
    return np.stack((micro, mean_of("mean", value(fp, fn, n_ref, beta), n_ref > 0)))


class Counts(NamedTuple):
    """The number of errors of each kind, and the size of the reference.

    errors: a sparse array, (2 n_kinds n_classes, n_files), false positives first. n_ref: (n_files,
    n_classes).
    """

    kinds: tuple[str, ...]
    errors: Any
    n_ref: Array

    def sums(self, weights: Floats | None = None) -> tuple[Array, Array, Array]:
        """Return false positives and negatives, (n_kinds, ..., n_classes), and `n_ref`, (..., n_classes).

        weights: (n, n_files) how often each file counts; None for once.
        """
        shape = 2, len(self.kinds), self.n_ref.shape[1]
        if weights is None:
            return *self.errors.sum(axis=1).reshape(shape), self.n_ref.sum(axis=0)
        fp, fn = np.moveaxis((self.errors @ weights.T).reshape(*shape, len(weights)), 3, 2)
        return fp, fn, weights @ self.n_ref


def intervals(
    value: Callable[[Floats], Floats], estimate: Floats, n_files: int, settings: Settings
) -> tuple[Floats, Floats]:
    """Return the ends of intervals over resampled files, of the shape of the estimate; NaN if there are none.

    value: takes how often each file counts, (n, n_files), and returns the numbers, (..., n).
    """
    method = settings.ci
    if method is None or n_files < 2:
        return np.full(estimate.shape, np.nan), np.full(estimate.shape, np.nan)

    def again(rows: Iterator[Floats]) -> Floats:
        parts = [np.zeros((*estimate.shape, 0)), *map(value, rows)]
        return np.concatenate(parts, axis=-1).reshape(estimate.size, -1).T

    n_left, n_drawn = n_files * (method != "bootstrap"), settings.replicates * (method != "jackknife")
    drawn, left_out = again(bootstrap(n_files, n_drawn, settings.seed)), again(leave_one_out(n_left))
    low, high = interval(method, estimate.ravel(), drawn, left_out, settings.confidence)
    return low.reshape(estimate.shape), high.reshape(estimate.shape)
