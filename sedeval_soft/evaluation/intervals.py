"""Intervals of scores from replicates, from files left out, and from repeated trainings.

All functions take one column per score and work on all of them at once. NaN is a score that is undefined.
The axis that is reduced is the first; any axes may follow it where `n_scores` is written.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from sedeval_soft.arrays import Floats, Index

NOISE, LEAST_NOISE = 1e-12, 1e-15
"""Scores of the same system that differ relatively, or at all, by less than this differ by rounding."""


def interval(
    method: str, estimate: Floats, values: Floats, left_out: Floats, confidence: float
) -> tuple[Floats, Floats]:
    """Return the ends of the interval that a method of `--ci` gives, (n_scores,) each; see these."""
    if method == "bootstrap":
        return percentile(values, confidence)
    if method == "jackknife":
        return jackknife(estimate, left_out, confidence)
    return bca(values, estimate, left_out, confidence, expanded=method == "expanded")


def percentile(values: npt.ArrayLike, confidence: float) -> tuple[Floats, Floats]:
    """Return the ends of the percentile interval, (n_scores,) each.

    values: (n_replicates, n_scores), NaN for undefined scores: those are left out, and an interval of fewer
    than two defined replicates is NaN. Quantiles are interpolated linearly, as in numpy.quantile and
    scipy.stats.bootstrap. Source: Efron & Tibshirani 1993, 13.3.
    """
    ordered = _ordered(values)
    tail = (1 - confidence) / 2
    return _quantile(*ordered, tail), _quantile(*ordered, 1 - tail)


def bca(
    values: npt.ArrayLike,
    estimate: npt.ArrayLike,
    left_out: npt.ArrayLike,
    confidence: float,
    *,
    expanded: bool = False,
) -> tuple[Floats, Floats]:
    """Return the ends of the bias-corrected and accelerated interval, (n_scores,) each.

    values: (n_replicates, n_scores). estimate: (n_scores,) the scores themselves. left_out: (n_files,
    n_scores) the scores without one file each. expanded: whether ends are `expanded_z` away.

    Source: Efron 1987, with the conventions of scipy.stats.bootstrap: a replicate that equals the estimate
    (here: but for rounding) counts as half below it, and quantiles are interpolated linearly. The ends are
    NaN if the estimate is NaN or `percentile` is, and only then:

    - Undefined replicates, and files without which the score is undefined, are left out.
    - The acceleration is 0 without a skewness to correct for: if the left-out scores do not differ (by more
      than rounding), are infinite, or fewer than two are defined.
    - If all replicates are on one side of the estimate, the size of the bias is unknown (it comes out
      infinite; scipy returns NaN): the interval is the interval of `percentile`.
    - The acceleration may carry an end beyond its pole, a (z0 + z) >= 1. The end is then its limit on the way
      there: the largest replicate, or the smallest one. (As |a| <= 1/6, only if z0 is far out.)
    """
    from scipy.special import ndtr, ndtri

    point, replicates, without = (np.asarray(each, dtype=np.float64) for each in (estimate, values, left_out))
    upper = expanded_z(confidence, len(without)) if expanded else _z(confidence)
    ordered, defined = _ordered(replicates)
    noise = NOISE * np.abs(np.where(np.isfinite(point), point, 0.0)) + LEAST_NOISE
    below = np.count_nonzero(replicates < point - noise, axis=0)
    up_to = np.count_nonzero(replicates <= point + noise, axis=0)
    bias = ndtri((below + up_to) / np.maximum(2 * defined, 1))
    corrected = np.isfinite(bias)
    bias = np.where(corrected, bias, 0.0)
    acceleration, ends = _acceleration(without), []
    for z in (-upper, upper):
        moved = bias + z
        room = 1 - acceleration * moved
        beyond = np.copysign(np.inf, moved)
        reached = np.where(room > 0, bias + moved / np.where(room > 0, room, 1.0), beyond)
        end = _quantile(ordered, defined, np.where(corrected, ndtr(reached), ndtr(z)))
        ends.append(np.where(np.isnan(point), np.nan, end))
    return ends[0], ends[1]


def expanded_z(confidence: float, n_files: int) -> float:
    """Return how many standard errors away the ends are for so few files, two or more.

    Replicates of n files scatter with a variance that is divided by n, not n - 1, and the normal distribution
    takes that variance for known. So sqrt(n / (n - 1)) t replaces its z, with t of n - 1 degrees of freedom.
    For many files it is z. Source: Hesterberg 2015 (the expanded percentile interval), here in BCa.
    """
    free = max(n_files - 1, 1)
    return float(np.sqrt(n_files / free) * _t(confidence, free))


def jackknife(estimate: npt.ArrayLike, left_out: npt.ArrayLike, confidence: float) -> tuple[Floats, Floats]:
    """Return the ends of the normal interval with the jackknife's standard error, (n_scores,) each.

    estimate: (n_scores,). left_out: (n_files, n_scores) the scores without one file each. The ends are
    estimate -+ z sqrt((n - 1) / n sum (theta_i - mean)^2). Source: Efron & Tibshirani 1993, 11.5; as
    astropy.stats.jackknife_stats, which dcase_util follows, but not moved by the estimate of the bias: the
    interval belongs to the number beside it. NaN where the estimate or any left-out score is not finite, or
    of fewer than two files.
    """
    point, without = (np.asarray(each, dtype=np.float64) for each in (estimate, left_out))
    n = len(without)
    margin = _z(confidence) * np.sqrt((n - 1) / max(n, 1) * _moments(without)[1])
    margin = np.where(np.isfinite(point), margin, np.nan)
    return point - margin, point + margin


def mean_of_runs(values: npt.ArrayLike, confidence: float) -> tuple[Floats, Floats, Floats]:
    """Return mean, low and high of the scores of repeated trainings, (n_scores,) each.

    values: (n_runs, n_scores). The interval is mean -+ t sd / sqrt(n), with the standard deviation that
    divides by n - 1 and the quantile t of Student's distribution with n - 1 degrees of freedom. Source:
    Student 1908; Harju & Mesaros 2023, table 2, take z for t. All are NaN where a run is not finite; low and
    high also of one run.
    """
    runs = np.asarray(values, dtype=np.float64)
    mean, squares = _moments(runs)
    free = max(len(runs) - 1, 1)
    margin = _t(confidence, free) * np.sqrt(squares / (max(len(runs), 1) * free))
    return mean, mean - margin, mean + margin


def _moments(values: Floats) -> tuple[Floats, Floats]:
    """Return the mean over the first axis, and the sum of squares about it; exact for equal values.

    NaN if any value is not finite; the mean is NaN without values, the squares for fewer than two.
    """
    with np.errstate(invalid="ignore"):
        first = values[0] if len(values) else np.full(values.shape[1:], np.nan)
        away = values - first
        mean = first + (away.mean(axis=0) if len(values) else 0.0)
        squares = ((away - away.mean(axis=0)) ** 2).sum(axis=0) if len(values) > 1 else np.nan * first
    return np.where(np.isfinite(mean), mean, np.nan), squares


def _ordered(values: npt.ArrayLike) -> tuple[Floats, Index]:
    """Return the replicates of each score in order, (n_scores, n_replicates), and the number of defined ones.

    They are laid out so that the sort runs along memory. NaN goes last.
    """
    ordered = np.moveaxis(np.asarray(values, dtype=np.float64), 0, -1).copy(order="C")
    ordered.sort(axis=-1)
    return ordered, ordered.shape[-1] - np.count_nonzero(np.isnan(ordered), axis=-1)


def _quantile(ordered: Floats, defined: Index, level: npt.ArrayLike) -> Floats:
    """Return the quantile of the defined ones of ordered replicates; NaN of fewer than two."""
    if ordered.shape[-1] < 2:
        return np.full(ordered.shape[:-1], np.nan)
    last = np.maximum(defined - 1, 1)
    position = np.asarray(level) * last
    first = np.minimum(position.astype(np.int64), last - 1)
    share = position - first
    low, high = (np.take_along_axis(ordered, at[..., None], axis=-1)[..., 0] for at in (first, first + 1))
    # Of equal ones nothing is subtracted: infinite ones would give NaN. Between -inf and inf, the nearer.
    both = np.isfinite(low) & np.isfinite(high)
    step = np.subtract(high, low, where=both, out=np.zeros_like(low))
    between = np.where(share < 0.5, low + step * share, high - step * (1 - share))
    between = np.where(np.isinf(high) & np.isfinite(low) & (share > 0), high, between)
    between = np.where(np.isinf(low) & np.isfinite(high) & (share < 1), low, between)
    quantile: Floats = np.where(defined < 2, np.nan, between)
    return quantile


def _acceleration(left_out: Floats) -> Floats:
    """Return the acceleration, a sixth of the skewness of the mean of the influences, (n_scores,)."""
    finite = np.isfinite(left_out) & ~np.isinf(left_out).any(axis=0)
    n = np.maximum(np.count_nonzero(finite, axis=0), 1)
    mean = np.where(finite, left_out, 0.0).sum(axis=0) / n
    influence = np.where(finite, mean - left_out, 0.0)
    size = np.abs(influence).max(axis=0, initial=0.0)
    flat = size <= NOISE * np.abs(mean) + LEAST_NOISE
    # Scaled first: the third power of a small number is nothing.
    influence = influence / np.where(flat, 1.0, size)
    skew, spread = (influence**3).sum(axis=0), (influence**2).sum(axis=0)
    acceleration: Floats = np.where(flat, 0.0, skew / (6 * np.where(flat, 1.0, spread) ** 1.5))
    return acceleration


def _t(confidence: float, free: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(free, (1 + confidence) / 2))


def _z(confidence: float) -> float:
    from scipy.special import ndtri

    return float(ndtri((1 + confidence) / 2))


_HEAD, *_ROWS = (
    line.split("\t") for line in Path(__file__).with_name("coverage.tsv").read_text("utf-8").splitlines()
)
MEASURED_WITH = tuple(map(int, _HEAD[2:]))
MEASURED = {(method, kind): tuple(map(float, shares)) for method, kind, *shares in _ROWS}
"""Measured coverage of intervals by `--ci` and by reading of macro F1 (or `difference`, of two systems
alike): the share of intervals with the true score inside, for the numbers of files in `MEASURED_WITH`. For
the optimal reading the true score is the score of all available files, each class at the threshold that is
best for all of them."""

NOMINAL, ENOUGH = 0.95, 0.92
"""The nominal coverage of intervals, and the share from which they are not called rough."""


def held(method: str, kind: str, n_files: int) -> float | None:
    """Return the share of intervals with the truth inside, for so many files or the next fewer measured.

    Returns None for scores without intervals, and for more files than were measured.
    """
    shares = MEASURED.get((method, kind))
    if shares is None or n_files > MEASURED_WITH[-1]:
        return None
    return shares[MEASURED_WITH.index(files_of(n_files))]


def files_of(n_files: int) -> int:
    """Return the measured number of files whose coverage applies to so many."""
    return max((n for n in MEASURED_WITH if n <= n_files), default=MEASURED_WITH[0])
