"""Soft scores of arrays of any library that speaks the Python array API: for training and on devices.

NumPy, PyTorch, JAX (and CuPy) arrays go in, and what comes out is of the same kind, dtype and device; in
PyTorch and JAX it can be differentiated, and compiled. The numbers equal the scores of
`sedeval_soft.evaluate` on the same arrays; undefined scores (None there) are NaN here, with a gradient of 0.
The docstrings of `sedeval_soft.measures.detection` explain the scores.

- `soft_precision`, `soft_recall`, `soft_f1`, `soft_fbeta`, `soft_error_rate`: fuzzy sets, as `segment.soft`.
- `product_soft_f1`: F of the product T-norm with eps below, 1 - `segment.soft.soft_f1_loss`.
- `kl_divergence`: as `segment.soft.kl_divergence`.
- `soft_counts`, `divergence_sums`: what these are made of; they add up over batches, rates do not.
- `score_of`: a score from such counts.

Nothing looks at values, so that all of it can be compiled: values outside of [0, 1] give numbers without
meaning. Needs array-api-compat: the extra `functional`.

Scores that `sedeval_soft.evaluate` leaves undefined are NaN here. A class without reference (N_ref = 0) is
left out of macro and weighted averages, even if it has false alarms, which count in micro averages. The
precision of a class that has a reference and was never detected counts 0 in averages.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Unpack

from sedeval_soft.apps.training.arrays import (
    Array,
    Fuzzy,
    Layout,
    Namespace,
    in_type_of,
    lay_out,
    namespace_of,
    ratio,
)
from sedeval_soft.errors import SettingsError

__all__ = [
    "DivergenceSums",
    "SoftCounts",
    "divergence_sums",
    "kl_divergence",
    "product_soft_f1",
    "score_of",
    "soft_counts",
    "soft_error_rate",
    "soft_f1",
    "soft_fbeta",
    "soft_precision",
    "soft_recall",
]

AVERAGES = ("micro", "macro", "weighted", None)
MEASURES = ("precision", "recall", "fbeta", "error_rate")

T_NORMS = ("minimum", "product", "lukasiewicz")

_TINY = 2.0**-126
"""The least normal number of single precision."""


class SoftCounts(NamedTuple):
    """The statistics of soft detection, as `segment.soft` has them; statistics of batches add up.

    tp, n_ref, n_sys: (..., n_classes). substitutions, deletions, insertions: (...), None where not counted.
    """

    tp: Array
    n_ref: Array
    n_sys: Array
    substitutions: Array | None = None
    deletions: Array | None = None
    insertions: Array | None = None


class DivergenceSums(NamedTuple):
    """Divergences summed over cells, and how many cells these were: (..., n_classes) each; batches add up."""

    divergence: Array
    cells: Array
    n_ref: Array


def soft_counts(
    reference: Array, system: Array, *, t_norm: str = "minimum", errors: bool = True, **how: Unpack[Layout]
) -> SoftCounts:
    """Return fuzzy counts: TP = sum T(y, p), N_ref = sum y, N_sys = sum p, and the errors of segments.

    The values of a segment are sorted in descending order, y(1) >= y(2) ...; then S = sum_k min(y(k), p(k)) -
    sum_c T(y_c, p_c), D = sum_k max(0, y(k) - p(k)), I = sum_k max(0, p(k) - y(k)). Sources: Harju & Mesaros
    2023 (TP); hard errors integrated over all levels of both sides.

    reference, system: (..., n_segments, n_classes), values in [0, 1] of one shape; integers and booleans take
        the other side's type.
    t_norm: `minimum`, `product` or `lukasiewicz`: what both sides have in common.
    errors: whether S, D and I are counted; they need values sorted.
    mask: booleans, True where cells count, of that shape or without the axis of classes. Masked
        cells may have any value, NaN included.
    weights: the weight of each segment, the shape without the axis of classes.
    axis: the summed axes, None for all but the axis of classes: a batch of recordings is scored as one.
        Other axes are kept: of (n_files, n_segments, n_classes), axis=1 gives the counts of each file.
    class_axis: where the classes are, if not last.
    Returns counts in the arrays' dtype, in single precision for half precision.
    """
    if t_norm not in T_NORMS:
        raise SettingsError(f"t_norm {t_norm!r}: expected one of {', '.join(T_NORMS)}")
    sides = lay_out(reference, system, **how)
    xp, y, p = sides.xp, sides.reference, sides.system
    both = _common(xp, y, p, t_norm)
    tp, n_ref, n_sys = map(sides.total, (both, y, p))
    if not errors:
        return SoftCounts(tp, n_ref, n_sys)
    levels, others, shared = (xp.sort(values, axis=-1, descending=True) for values in (y, p, both))
    more = levels - others
    zero = xp.zeros_like(more)
    kinds = xp.minimum(levels, others) - shared, xp.maximum(more, zero), xp.maximum(-more, zero)
    return SoftCounts(tp, n_ref, n_sys, *(xp.sum(sides.total(values), axis=-1) for values in kinds))


def _common(xp: Namespace, y: Array, p: Array, t_norm: str) -> Array:
    """Return what two fuzzy memberships have in common. Source: Klement, Mesiar & Pap 2000."""
    if t_norm == "product":
        return y * p
    if t_norm == "lukasiewicz":
        # What the larger lacks to 1 is exact from 0.5 on: the result is never above the smaller.
        rest = xp.minimum(y, p) - (1.0 - xp.maximum(y, p))
        return xp.maximum(rest, xp.zeros_like(rest))
    # Where both are the same, more of the system is not more in common: its slope is 0, in all libraries.
    # Half of one, as theirs have it, would be divided by eps where both sides are silent.
    return xp.where(y <= p, y, xp.minimum(y, p))


def divergence_sums(
    reference: Array, system: Array, *, eps: float = 1e-7, **layout: Unpack[Layout]
) -> DivergenceSums:
    """Return the sum of y ln(y/p) + (1-y) ln((1-y)/(1-p)) over cells, in nats, and the number of cells.

    p is clipped to [eps, 1 - eps], 0 ln 0 = 0. Beyond that its gradient is 0. Other arguments as of
    `soft_counts`.
    Source: Kullback & Leibler 1951; convention of Harju & Mesaros 2023.
    """
    if not (isinstance(eps, int | float) and 0 < eps < 0.5):
        raise SettingsError(f"eps {eps!r}: expected a number between 0 and 0.5")
    sides = lay_out(reference, system, **layout)
    xp, y, p = sides.xp, sides.reference, sides.system

    def log(values: Array) -> Array:
        # That at 0 is multiplied by 0, so any finite one will do.
        return xp.log(xp.clip(values, _TINY, math.inf))

    def log_clipped(values: Array) -> Array:
        # The upper end is that of the logarithm: 1 - eps may be 1 in the precision of the values.
        return xp.clip(xp.log(xp.clip(values, eps, 1.0)), -math.inf, math.log1p(-eps))

    # 1 - p is clipped by itself: of 1 - 1e-7 single precision keeps one digit.
    missed = y * log_clipped(p) + (1.0 - y) * log_clipped(1.0 - p)
    cells = y * log(y) + (1.0 - y) * log(1.0 - y) - missed
    ones = xp.ones_like(y)
    if sides.mask is not None:
        nothing = xp.zeros_like(cells)
        cells, ones = xp.where(sides.mask, cells, nothing), xp.where(sides.mask, ones, nothing)
    return DivergenceSums(*map(sides.total, (cells, ones, y)))


def _score(
    reference: Array,
    system: Array,
    measure: str,
    average: str | None,
    beta: float = 1.0,
    eps: float = 0.0,
    /,
    t_norm: str = "minimum",
    **layout: Unpack[Layout],
) -> Array:
    """Return a score of fuzzy sets in the type of the arrays; arguments as of `score_of`."""
    errors = measure == "error_rate" and average == "micro"
    counts = soft_counts(reference, system, t_norm=t_norm, errors=errors, **layout)
    score = score_of(counts, measure, average=average, beta=beta, eps=eps)
    return in_type_of((reference, system), score)


def soft_precision(
    reference: Array, system: Array, *, average: str | None = "macro", **how: Unpack[Fuzzy]
) -> Array:
    """Return sum T(y, p) / sum p, as `segment.soft.precision`.

    reference, system: (..., n_segments, n_classes), values in [0, 1].
    average: `macro` (of classes with a reference), `micro` (of sums over classes), `weighted` (by N_ref),
        or None for the values of classes, (..., n_classes).
    t_norm, mask, weights, axis, class_axis: as of `soft_counts`.
    Returns a scalar array, or as many values as there are along axes that are kept; NaN where undefined.
    Source: Harju & Mesaros 2023.
    """
    return _score(reference, system, "precision", average, **how)


def soft_recall(
    reference: Array, system: Array, *, average: str | None = "macro", **how: Unpack[Fuzzy]
) -> Array:
    """Return sum T(y, p) / sum y, as `segment.soft.recall`; arguments as of `soft_precision`."""
    return _score(reference, system, "recall", average, **how)


def soft_fbeta(
    reference: Array,
    system: Array,
    *,
    beta: float = 1.0,
    eps: float = 0.0,
    average: str | None = "macro",
    **how: Unpack[Fuzzy],
) -> Array:
    """Return (1 + b^2) TP / (b^2 N_ref + N_sys + eps), as `segment.soft.fbeta`.

    beta: how many times recall counts more than precision. eps: with a number above 0, a class that is in
        neither side has F 0 and is not undefined. Other arguments as of `soft_precision`. Source: van
        Rijsbergen 1979.
    """
    return _score(reference, system, "fbeta", average, beta, eps, **how)


def soft_f1(reference: Array, system: Array, *, average: str | None = "macro", **how: Unpack[Fuzzy]) -> Array:
    """Return 2 TP / (N_ref + N_sys), as `segment.soft.f1`; arguments as of `soft_precision`."""
    return _score(reference, system, "fbeta", average, **how)


def product_soft_f1(
    reference: Array,
    system: Array,
    *,
    eps: float = 1e-7,
    average: str | None = "macro",
    **how: Unpack[Layout],
) -> Array:
    """Return 2 TP / (2 TP + FP + FN + eps) with TP = sum y p, FP = sum (1-y) p and FN = sum y (1-p).

    1 - `segment.soft.soft_f1_loss`. The score is smooth, but not 1 for a copied soft reference: it rewards
    predictions at 0 and 1 where annotators are uncertain. Arguments as of `soft_fbeta`. Source:
    Pastor-Pellicer et al. 2013.
    """
    return _score(reference, system, "fbeta", average, 1.0, eps, t_norm="product", **how)


def soft_error_rate(
    reference: Array, system: Array, *, average: str | None = "micro", **how: Unpack[Fuzzy]
) -> Array:
    """Return (S + D + I) / N_ref, of a class (FN + FP) / N_ref, as `segment.soft.error_rate`.

    Arguments as of `soft_precision`; only the micro average knows substitutions.
    """
    return _score(reference, system, "error_rate", average, **how)


def kl_divergence(
    reference: Array,
    system: Array,
    *,
    eps: float = 1e-7,
    average: str | None = "micro",
    **how: Unpack[Layout],
) -> Array:
    """Return the mean of y ln(y/p) + (1-y) ln((1-y)/(1-p)) in nats, as `segment.soft.kl_divergence`.

    p is clipped to [eps, 1 - eps]. Other arguments as of `soft_precision`.
    Source: Kullback & Leibler 1951; convention of Harju & Mesaros 2023.
    """
    score = score_of(divergence_sums(reference, system, eps=eps, **how), "kl_divergence", average=average)
    return in_type_of((reference, system), score)


def score_of(
    counts: SoftCounts | DivergenceSums,
    measure: str,
    *,
    average: str | None = "macro",
    beta: float = 1.0,
    eps: float = 0.0,
) -> Array:
    """Return a score from counts, such as the sum of several batches; NaN if undefined.

    counts: of `soft_counts`, with errors for the micro error rate; of `divergence_sums` for `kl_divergence`.
    measure: `precision`, `recall`, `fbeta` (F1 with beta 1), `error_rate` or `kl_divergence`.
    average, beta, eps: as of `soft_fbeta`. Returns (...) of counts (..., n_classes), those with average None.
    """
    if average not in AVERAGES:
        raise SettingsError(f"average {average!r}: expected micro, macro, weighted or None")
    if isinstance(counts, DivergenceSums) != (measure == "kl_divergence"):
        raise SettingsError(f"measure {measure!r} is not made of {type(counts).__name__}")
    xp, n_ref = namespace_of(counts.n_ref), counts.n_ref
    if isinstance(counts, DivergenceSums):
        numerator, denominator = xp.clip(counts.divergence, 0.0, math.inf), counts.cells
    else:
        numerator, denominator = _fraction(xp, counts, measure, average, beta, eps)
    if average == "micro":
        numerator, denominator = xp.sum(numerator, axis=-1), xp.sum(denominator, axis=-1)
    values, defined = ratio(xp, numerator, denominator)
    if average in {"macro", "weighted"}:
        weight = n_ref if average == "weighted" else xp.astype(n_ref != 0, n_ref.dtype)
        if measure != "precision":
            # An undefined precision of a class with a reference counts 0; others are left out.
            weight = xp.where(defined, weight, xp.zeros_like(weight))
        values, defined = ratio(xp, xp.sum(values * weight, axis=-1), xp.sum(weight, axis=-1))
    return xp.where(defined, values, xp.full_like(values, math.nan))


def _fraction(
    xp: Namespace, counts: SoftCounts, measure: str, average: str | None, beta: float, eps: float
) -> tuple[Array, Array]:
    """Return numerators and denominators: of classes, (..., n_classes), or for `micro` of all, (..., 1)."""
    if not (isinstance(beta, int | float) and 0 < beta < math.inf):
        raise SettingsError(f"beta {beta!r}: expected a number above 0")
    if not (isinstance(eps, int | float) and 0 <= eps < math.inf):
        raise SettingsError(f"eps {eps!r}: expected a number of at least 0")
    tp, n_ref, n_sys = counts.tp, counts.n_ref, counts.n_sys
    if average == "micro":
        tp, n_ref, n_sys = (xp.sum(column, axis=-1, keepdims=True) for column in (tp, n_ref, n_sys))
    if measure == "precision":
        return tp, n_sys
    if measure == "recall":
        return tp, n_ref
    if measure == "fbeta":
        square = float(beta) ** 2
        return (1.0 + square) * tp, square * n_ref + n_sys + eps
    if measure != "error_rate":
        raise SettingsError(f"measure {measure!r}: expected one of {', '.join(MEASURES)}, kl_divergence")
    if average != "micro":
        return (n_ref - tp) + (n_sys - tp), n_ref
    if counts.substitutions is None or counts.deletions is None or counts.insertions is None:
        raise SettingsError("the micro error rate needs counts with errors=True")
    errors = counts.substitutions + counts.deletions + counts.insertions
    return xp.expand_dims(errors, axis=-1), n_ref
