"""What soft scores are made of: sums over segments, which add up over batches."""

from __future__ import annotations

import math
from typing import NamedTuple

from sedeval_soft.errors import SettingsError
from sedeval_soft.functional.arrays import Array, Namespace, Sides, lay_out, total

T_NORMS = ("minimum", "product", "lukasiewicz")

_TINY = 2.0**-126
"""The least normal number of single precision."""


class SoftCounts(NamedTuple):
    """The statistics of soft detection, as `segment.soft` has them; those of batches add up.

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
    reference: Array,
    system: Array,
    *,
    mask: Array | None = None,
    weights: Array | None = None,
    t_norm: str = "minimum",
    errors: bool = True,
    axis: int | tuple[int, ...] | None = None,
    class_axis: int = -1,
) -> SoftCounts:
    """Return fuzzy counts: TP = sum T(y, p), N_ref = sum y, N_sys = sum p, and the errors of segments.

    With the values of a segment sorted in descending order, y(1) >= y(2) ..., S = sum_k min(y(k), p(k)) -
    sum_c T(y_c, p_c), D = sum_k max(0, y(k) - p(k)), I = sum_k max(0, p(k) - y(k)).
    Sources: Harju & Mesaros 2023 (TP); hard errors integrated over all levels of both sides.

    reference, system: (..., n_segments, n_classes), values in [0, 1] of one shape; integers and booleans take
        the other side's type.
    mask: booleans, True where cells count, of that shape or without the axis of classes. What is left out may
        hold anything, NaN too.
    weights: what each segment counts, the shape without the axis of classes.
    t_norm: `minimum`, `product` or `lukasiewicz`: what both sides have in common.
    errors: whether S, D and I are counted; they need values sorted.
    axis: what is summed, None for all axes but that of the classes: a batch of recordings is scored as one.
        Other axes are kept: of (n_files, n_segments, n_classes), axis=1 gives the counts of each file.
    class_axis: where the classes are, if not last.
    Returns counts in the arrays' dtype, in single precision for half precision.
    """
    sides = lay_out(reference, system, mask, weights, axis, class_axis)
    return counts_of(sides, t_norm, errors=errors)


def counts_of(sides: Sides, t_norm: str, *, errors: bool) -> SoftCounts:
    """Return the counts of arrays that are laid out; arguments as of `soft_counts`."""
    if t_norm not in T_NORMS:
        raise SettingsError(f"t_norm {t_norm!r}: expected one of {', '.join(T_NORMS)}")
    xp, y, p = sides.xp, sides.reference, sides.system
    both = _common(xp, y, p, t_norm)
    tp, n_ref, n_sys = (total(xp, _weighted(values, sides.weight)) for values in (both, y, p))
    if not errors:
        return SoftCounts(tp, n_ref, n_sys)
    levels, others, shared = (xp.sort(values, axis=-1, descending=True) for values in (y, p, both))
    more = levels - others
    zero = xp.zeros_like(more)
    substituted = xp.minimum(levels, others) - shared
    kinds = (substituted, xp.maximum(more, zero), xp.maximum(-more, zero))
    return SoftCounts(
        tp,
        n_ref,
        n_sys,
        *(xp.sum(total(xp, _weighted(values, sides.weight)), axis=-1) for values in kinds),
    )


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


def _weighted(values: Array, weight: Array | None) -> Array:
    return values if weight is None else values * weight


def divergence_sums(
    reference: Array,
    system: Array,
    *,
    mask: Array | None = None,
    weights: Array | None = None,
    eps: float = 1e-7,
    axis: int | tuple[int, ...] | None = None,
    class_axis: int = -1,
) -> DivergenceSums:
    """Return the sum of y ln(y/p) + (1-y) ln((1-y)/(1-p)) over cells, in nats, and the number of cells.

    p is clipped to [eps, 1 - eps], 0 ln 0 = 0. Beyond that its gradient is 0. Other arguments as of
    `soft_counts`.
    Source: Kullback & Leibler 1951; convention of Harju & Mesaros 2023.
    """
    sides = lay_out(reference, system, mask, weights, axis, class_axis)
    return divergences_of(sides, eps)


def divergences_of(sides: Sides, eps: float) -> DivergenceSums:
    """Return the sums of arrays that are laid out; arguments as of `divergence_sums`."""
    if not (isinstance(eps, int | float) and 0 < eps < 0.5):
        raise SettingsError(f"eps {eps!r}: expected a number between 0 and 0.5")
    xp, y, p = sides.xp, sides.reference, sides.system
    # 1 - p is clipped by itself: of 1 - 1e-7 single precision keeps one digit.
    missed = y * _log_clipped(xp, p, eps) + (1.0 - y) * _log_clipped(xp, 1.0 - p, eps)
    own = y * _log(xp, y) + (1.0 - y) * _log(xp, 1.0 - y)
    cells = own - missed
    ones = xp.ones_like(y)
    if sides.mask is not None:
        nothing = xp.zeros_like(cells)
        cells, ones = xp.where(sides.mask, cells, nothing), xp.where(sides.mask, ones, nothing)
    weighted = (_weighted(values, sides.weight) for values in (cells, ones, y))
    return DivergenceSums(*(total(xp, values) for values in weighted))


def _log_clipped(xp: Namespace, values: Array, eps: float) -> Array:
    """Return the logarithms of values that are clipped to [eps, 1 - eps], beyond which they do not change."""
    # The upper end is that of the logarithm: 1 - eps may be 1 in the precision of the values.
    return xp.clip(xp.log(xp.clip(values, eps, 1.0)), -math.inf, math.log1p(-eps))


def _log(xp: Namespace, values: Array) -> Array:
    """Return logarithms; that at 0 is multiplied by 0, so any finite one will do."""
    return xp.log(xp.clip(values, _TINY, math.inf))
