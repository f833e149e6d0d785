"""Ranks of systems and tests of their differences: places, ties, agreement, p-values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from string import ascii_lowercase

import numpy as np
import numpy.typing as npt

from sedeval_soft.arrays import Bools, Floats, Index

ALIKE = 1e-12
"""Scores that differ by no more than this, relatively or at all, differ by rounding: they are equal."""


def alike(one: npt.ArrayLike, other: npt.ArrayLike) -> Bools:
    """Return which scores are equal but for rounding; NaN equals nothing."""
    return np.isclose(one, other, rtol=ALIKE, atol=ALIKE)


def places(values: npt.ArrayLike, lower_is_better: npt.ArrayLike) -> Index:
    """Return the places of systems, from 1: systems with `alike` scores share the best one, NaN comes last.

    values: (..., n_systems). lower_is_better: (), or of the shape of values without its last axis.
    """
    score = np.asarray(values, dtype=np.float64)
    key = np.where(np.asarray(lower_is_better, dtype=bool)[..., None], score, -score)
    order = np.argsort(key, axis=-1, kind="stable")
    ordered = np.take_along_axis(key, order, axis=-1)
    first = np.ones(ordered.shape, dtype=bool)
    # After NaN there is only NaN, which shares its place though it does not equal itself.
    first[..., 1:] = ~alike(ordered[..., 1:], ordered[..., :-1]) & ~np.isnan(ordered[..., :-1])
    place = np.maximum.accumulate(np.where(first, np.arange(1, score.shape[-1] + 1), 1), axis=-1)
    places = np.empty(score.shape, dtype=np.int64)
    np.put_along_axis(places, order, place, axis=-1)
    return places


def stability(replicate_places: npt.ArrayLike, places: npt.ArrayLike) -> Floats:
    """Return the share of replicates in which each system has its place, (n_systems,).

    replicate_places: (n_replicates, n_systems), at least one replicate. places: (n_systems,).
    """
    return np.asarray(np.mean(np.asarray(replicate_places) == np.asarray(places), axis=0))


def place_interval(replicate_places: npt.ArrayLike, confidence: float) -> tuple[Index, Index]:
    """Return the best and the worst place of the percentile interval, (n_systems,) each.

    replicate_places: (n_replicates, n_systems), at least one replicate. The ends are places that occurred:
    between two replicates the outer one is taken, so the interval contains at least its share of them.
    """
    ordered = np.sort(np.asarray(replicate_places, dtype=np.int64), axis=0)
    last = len(ordered) - 1
    # What rounding leaves of a whole number of replicates is not to cost one.
    outside = int((1 - confidence) / 2 * last + 1e-9)
    return ordered[outside], ordered[last - outside]


def kendall(values: npt.ArrayLike, lower_is_better: npt.ArrayLike) -> Floats:
    """Return how alike scores rank systems, Kendall's tau-b of every two scores, (n_scores, n_scores).

    values: (n_systems, n_scores). lower_is_better: (n_scores,), such scores are turned round. For two scores
    only systems with both count; `alike` ones are ties. NaN if one is constant, or for fewer than two
    systems. Source: Kendall 1945, as scipy.stats.kendalltau.
    """
    score = np.asarray(values, dtype=np.float64)
    one, other = np.triu_indices(len(score), k=1)
    # Compared, not subtracted: infinite scores have an order, too.
    sign = (score[one] > score[other]).astype(np.float64) - (score[one] < score[other])
    sign = np.where(alike(score[one], score[other]), 0.0, sign)
    sign = np.where(np.asarray(lower_is_better, dtype=bool), -sign, sign)
    defined = ~(np.isnan(score[one]) | np.isnan(score[other]))
    agreement = sign.T @ sign
    # Pairs of systems that have both scores, and differ in the first.
    unlike = np.abs(sign).T @ defined.astype(np.float64)
    most = np.sqrt(unlike * unlike.T)
    tau: Floats = np.divide(agreement, most, out=np.full(agreement.shape, np.nan), where=most > 0)
    return tau


def alike_groups(
    order: Sequence[int], p_values: Callable[[int, Sequence[int]], Floats], alpha: float
) -> list[range]:
    """Return runs of places, from 0, in each of which no system surely differs from the first one.

    order: Systems by place, the best first. p_values: P-values of no difference of a system from each of
    others. alpha: A system differs below this p-value, after Holm over all systems after the first of a run.
    A run ends before the first system that differs or has no p-value; runs within another are left out.
    """
    groups: list[range] = []
    for first, system in enumerate(order):
        end = groups[-1].stop if groups else 0
        if end == len(order):
            break
        adjusted = holm(p_values(system, order[first + 1 :]))
        n_alike = next((k for k, p in enumerate(adjusted.tolist()) if not p >= alpha), len(adjusted))
        if first + 1 + n_alike > end:
            groups.append(range(first, first + 1 + n_alike))
    return groups


def letters(groups: Sequence[range]) -> list[str]:
    """Return the compact letter display of runs of places: a letter for each run that a place is in.

    Runs after the 26th have numbers. Source: Piepho 2004.
    """
    names = [*ascii_lowercase, *(f"({k})" for k in range(27, len(groups) + 1))]
    last = groups[-1].stop if groups else 0
    return ["".join(name for name, of in zip(names, groups, strict=False) if at in of) for at in range(last)]


# Tests of differences between systems: p-values from replicates, of McNemar, and Holm's adjustment.


def level_of(confidence: float) -> float:
    """Return the p-value below which systems differ significantly, without the rounding error of 1 - 0.95."""
    return round(1 - confidence, 12)


RELATIVE, ABSOLUTE = 1e-9, 1e-12
"""Effect of rounding on a difference: relative to itself, and relative to its scores."""


def p_bootstrap(differences: npt.ArrayLike, observed: npt.ArrayLike) -> Floats:
    """Return the two-sided p-values of no difference by the paired bootstrap, (n_scores,).

    differences: (n_replicates, n_scores) of two systems on the same resampled files; NaN ones are left out.
    observed: (n_scores,) the differences on all files. Centred on the observed difference d, the replicates
    d* show possible differences under no difference. Then p = (1 + #{|d* - d| >= |d|}) / (1 + #{d*}), in
    which 1 is the observed one: p is never 0. Rounding does not decide: |d* - d| may fall short of |d| by
    1e-9 |d| + 1e-12, so that systems that differ only by rounding have p = 1. NaN if the observed difference
    is not finite. Source: Efron & Tibshirani 1993, 16.4; Davison & Hinkley 1997, 4.4.
    """
    difference = np.asarray(observed, dtype=np.float64)
    centre = np.where(np.isfinite(difference), difference, 0.0)
    return p_exchange(np.asarray(differences, dtype=np.float64) - centre, difference)


def p_exchange(differences: npt.ArrayLike, observed: npt.ArrayLike) -> Floats:
    """Return the two-sided p-values of no difference by exchanges of files, (n_scores,).

    differences: (n_replicates, n_scores) of two systems after their outputs were exchanged in some files; NaN
    ones are left out. observed: as in `p_bootstrap`, and rounding as there. For random exchanges p = (1 +
    #{|d*| >= |d|}) / (1 + #{d*}) is approximate randomisation. For all exchanges but the empty one, it is the
    share of all exchanges, the exact p-value. NaN if the observed difference is not finite. Source: Noreen
    1989; Phipson & Smyth 2010 for the 1, which keeps the test exact.
    """
    difference, chance = (np.asarray(values, dtype=np.float64) for values in (observed, differences))
    finite = np.isfinite(difference)
    least = np.abs(np.where(finite, difference, 0.0)) * (1 - RELATIVE) - ABSOLUTE
    extreme = np.count_nonzero(np.abs(chance) >= least, axis=0)
    defined = np.count_nonzero(~np.isnan(chance), axis=0)
    return np.asarray(np.where(finite, (1 + extreme) / (1 + defined), np.nan))


def holm(p: npt.ArrayLike) -> Floats:
    """Return p-values adjusted so that the chance of any false claim among all of them is bounded.

    p: of any shape, all one family; NaN stays NaN and does not count. The k-th smallest of m is multiplied by
    m - k + 1, made at least as large as those before it, and capped at 1. Source: Holm 1979.
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

    only_first, only_second: counts of decisions in which only one of the two is right. If n is their sum, the
    number of the first's is binomial with 1/2: p = min(1, 2 P(X <= min)); 1 if both are 0. Source: McNemar
    1947.
    """
    from scipy.special import betainc

    first, second = np.asarray(only_first, dtype=np.float64), np.asarray(only_second, dtype=np.float64)
    fewer, more = np.minimum(first, second), np.maximum(first, second)
    # P(X <= k) of n as the incomplete beta function of n - k, k + 1. Of 0 and 1, not all versions have one.
    return np.asarray(np.minimum(2 * betainc(np.maximum(more, 1.0), fewer + 1, 0.5), 1.0))


def least_p(n_files: int) -> float:
    """Return the smallest p-value that exchanging files can give.

    Among all 2^n exchanges, none and all of them leave a difference as large as it is.
    """
    return 2.0 ** (1 - n_files)
