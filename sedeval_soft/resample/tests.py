"""Tests of differences between systems: p-values from replicates, of McNemar, and Holm's adjustment."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

RELATIVE, ABSOLUTE = 1e-9, 1e-12
"""What rounding may do to a difference: relative to itself, and relative to the scores it is one of."""


def p_bootstrap(differences: npt.ArrayLike, observed: npt.ArrayLike, size: npt.ArrayLike = 1.0) -> Floats:
    """Return the two-sided p-values of no difference by the paired bootstrap, (n_scores,).

    differences: (n_replicates, n_scores) of two systems on the same resampled files; NaN ones are left out.
    observed: (n_scores,) the differences on all files. size: () or (n_scores,), how large the scores are that
    were subtracted. Centred on the observed difference d, the replicates d* show what differences would be
    seen if there were none: p = (1 + #{|d* - d| >= |d|}) / (1 + #{d*}), of which 1 is the observed one: p is
    never 0. Rounding does not decide: |d* - d| may fall short of |d| by 1e-9 |d| + 1e-12 size, so that
    systems that differ only by rounding have p = 1. NaN where the observed difference is not finite.
    Source: Efron & Tibshirani 1993, 16.4; Davison & Hinkley 1997, 4.4.
    """
    difference = np.asarray(observed, dtype=np.float64)
    finite = np.isfinite(difference)
    centre = np.where(finite, difference, 0.0)
    return _share(np.asarray(differences, dtype=np.float64) - centre, centre, finite, size)


def p_exchange(differences: npt.ArrayLike, observed: npt.ArrayLike, size: npt.ArrayLike = 1.0) -> Floats:
    """Return the two-sided p-values of no difference by approximate randomisation, (n_scores,).

    differences: (n_replicates, n_scores) of two systems after their outputs were exchanged in random files;
    NaN ones are left out. observed, size: as in `p_bootstrap`, and rounding as there.
    p = (1 + #{|d*| >= |d|}) / (1 + #{d*}). NaN where the observed difference is not finite.
    Source: Noreen 1989; Phipson & Smyth 2010 for the 1, which keeps the test exact.
    """
    difference = np.asarray(observed, dtype=np.float64)
    finite = np.isfinite(difference)
    return _share(np.asarray(differences, dtype=np.float64), np.where(finite, difference, 0.0), finite, size)


def _share(chance: Floats, observed: Floats, finite: npt.NDArray[np.bool_], size: npt.ArrayLike) -> Floats:
    least = np.abs(observed) * (1 - RELATIVE) - ABSOLUTE * np.asarray(size, dtype=np.float64)
    extreme = np.count_nonzero(np.abs(chance) >= least, axis=0)
    defined = np.count_nonzero(~np.isnan(chance), axis=0)
    found: Floats = np.where(finite, (1 + extreme) / (1 + defined), np.nan)
    return found


def holm(p: npt.ArrayLike) -> Floats:
    """Return p-values adjusted so that the chance of any false claim among all of them is bounded.

    p: of any shape, all one family; NaN stays NaN and does not count. Of m, the k-th smallest is multiplied
    by m - k + 1, made at least as large as those before it, and capped at 1. Source: Holm 1979.
    """
    given = np.asarray(p, dtype=np.float64)
    adjusted = given.ravel().copy()
    counted = np.flatnonzero(~np.isnan(adjusted))
    order = counted[np.argsort(adjusted[counted], kind="stable")]
    stepped = adjusted[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return adjusted.reshape(given.shape)


def mcnemar(only_first: npt.ArrayLike, only_second: npt.ArrayLike) -> Floats:
    """Return the exact two-sided p-values that two systems are right equally often, of the arrays' shape.

    only_first, only_second: counts of what only one of the two has right. Of n such, the number that is the
    first's is binomial with 1/2: p = min(1, 2 P(X <= min)); 1 where both are 0. Source: McNemar 1947.
    """
    from scipy.special import betainc

    first, second = np.asarray(only_first, dtype=np.float64), np.asarray(only_second, dtype=np.float64)
    fewer, more = np.minimum(first, second), np.maximum(first, second)
    # P(X <= k) of n as the incomplete beta function of n - k, k + 1. Of 0 and 1, not all versions have one.
    found: Floats = np.minimum(2 * betainc(np.maximum(more, 1.0), fewer + 1, 0.5), 1.0)
    return found
