"""Intervals of scores from replicates, from files left out, and from repeated trainings.

All functions take one column per score and work on all of them at once. NaN is a score that is undefined.
The axis that is reduced is the first; any axes may follow it where `n_scores` is written.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

NOISE = 1e-12
"""Scores of the same system that differ relatively by less than this differ by rounding."""


def percentile(values: npt.ArrayLike, confidence: float) -> tuple[Floats, Floats]:
    """Return the ends of the percentile interval, (n_scores,) each.

    values: (n_replicates, n_scores), NaN where the score is undefined in a replicate: those are left out, and
    an interval of fewer than two defined replicates is NaN. Quantiles are interpolated linearly, as
    numpy.quantile and scipy.stats.bootstrap do. Source: Efron & Tibshirani 1993, 13.3.
    """
    ordered, defined = _ordered(values)
    tail = (1 - confidence) / 2
    return _quantile(ordered, defined, tail), _quantile(ordered, defined, 1 - tail)


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
    Source: Efron 1987; the conventions are those of
    scipy.stats.bootstrap: a replicate that equals the estimate (here: but for rounding) counts as half below
    it, and quantiles are interpolated linearly. NaN where the estimate is NaN or `percentile` is, and
    nowhere else:

    - Undefined replicates, and files without which the score is undefined, are left out.
    - Where the left-out scores do not differ (by more than rounding), are infinite, or fewer than two are
      defined, there is no skewness to correct for: the acceleration is 0.
    - Where all replicates are on one side of the estimate, nothing tells how large the bias is (it comes out
      infinite; scipy returns NaN): the interval is that of `percentile`.
    - Where the acceleration carries an end beyond its pole, a (z0 + z) >= 1, the end is what it tends to on
      the way there: the largest replicate, or the smallest one. (As |a| <= 1/6, only where z0 is far out.)
    """
    from scipy.special import ndtr, ndtri

    upper = expanded_z(confidence, len(np.asarray(left_out))) if expanded else _z(confidence)
    point = np.asarray(estimate, dtype=np.float64)
    replicates = np.asarray(values, dtype=np.float64)
    ordered, defined = _ordered(replicates)
    noise = NOISE * np.abs(np.where(np.isfinite(point), point, 0.0))
    below = np.count_nonzero(replicates < point - noise, axis=0)
    up_to = np.count_nonzero(replicates <= point + noise, axis=0)
    bias = ndtri((below + up_to) / np.maximum(2 * defined, 1))
    corrected = np.isfinite(bias)
    bias = np.where(corrected, bias, 0.0)
    acceleration = _acceleration(np.asarray(left_out, dtype=np.float64))
    ends = []
    for z in (-upper, upper):
        moved = bias + z
        room = 1 - acceleration * moved
        before_pole = room > 0
        reached = np.where(
            before_pole, bias + moved / np.where(before_pole, room, 1.0), np.copysign(np.inf, moved)
        )
        end = _quantile(ordered, defined, np.where(corrected, ndtr(reached), ndtr(z)))
        ends.append(np.where(np.isnan(point), np.nan, end))
    return ends[0], ends[1]


def expanded_z(confidence: float, n_files: int) -> float:
    """Return how many standard errors away the ends are for so few files, two or more.

    Replicates of n files scatter as a variance that is divided by n, not n - 1, and the normal distribution
    takes that variance for known: sqrt(n / (n - 1)) t stands in place of its z, with t of n - 1 degrees of
    freedom. Of many files it is z. Source: Hesterberg 2015 (the expanded percentile interval), here in BCa.
    """
    from scipy.special import stdtrit

    free = max(n_files - 1, 1)
    return float(np.sqrt(n_files / free) * stdtrit(free, (1 + confidence) / 2))


def jackknife(estimate: npt.ArrayLike, left_out: npt.ArrayLike, confidence: float) -> tuple[Floats, Floats]:
    """Return the ends of the normal interval with the jackknife's standard error, (n_scores,) each.

    estimate: (n_scores,). left_out: (n_files, n_scores) the scores without one file each. The ends are
    estimate -+ z sqrt((n - 1) / n sum (theta_i - mean)^2). Source: Efron & Tibshirani 1993, 11.5; as
    astropy.stats.jackknife_stats, which dcase_util follows, but not moved by the estimate of the bias: the
    interval belongs to the number beside it. NaN where the estimate or any left-out score is not finite, or
    of fewer than two files.
    """
    point = np.asarray(estimate, dtype=np.float64)
    without = np.asarray(left_out, dtype=np.float64)
    n = len(without)
    margin = _z(confidence) * np.sqrt((n - 1) / max(n, 1) * _squares(without))
    margin = np.where(np.isfinite(point), margin, np.nan)
    return point - margin, point + margin


def mean_of_runs(values: npt.ArrayLike, confidence: float) -> tuple[Floats, Floats, Floats]:
    """Return mean, low and high of the scores of repeated trainings, (n_scores,) each.

    values: (n_runs, n_scores). The interval is the jackknife's of a mean: mean -+ z sd / sqrt(n), with the
    standard deviation that divides by n - 1. Source: Harju & Mesaros 2023, table 2. All are NaN where a run
    is not finite; low and high also of one run.
    """
    runs = np.asarray(values, dtype=np.float64)
    n = len(runs)
    mean = _mean(runs)
    margin = _z(confidence) * np.sqrt(_squares(runs) / max(n * (n - 1), 1))
    return mean, mean - margin, mean + margin


def _ordered(values: npt.ArrayLike) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Return the replicates of each score in order, (n_scores, n_replicates), and how many are defined.

    They are laid out so that the sort runs along memory. NaN goes last.
    """
    ordered = np.moveaxis(np.asarray(values, dtype=np.float64), 0, -1).copy(order="C")
    ordered.sort(axis=-1)
    n = ordered.shape[-1]
    defined = np.full(ordered.shape[:-1], n, dtype=np.int64)
    if n and np.isnan(ordered[..., -1]).any():
        defined -= np.count_nonzero(np.isnan(ordered), axis=-1)
    return ordered, defined


def _quantile(ordered: Floats, defined: npt.NDArray[np.int64], level: npt.ArrayLike) -> Floats:
    """Return the quantile of the defined ones of ordered replicates; NaN of fewer than two."""
    if ordered.shape[-1] < 2:
        return np.full(ordered.shape[:-1], np.nan)
    last = np.maximum(defined - 1, 1)
    position = np.asarray(level) * last
    first = np.minimum(position.astype(np.int64), last - 1)
    share = position - first
    low = np.take_along_axis(ordered, first[..., None], axis=-1)[..., 0]
    high = np.take_along_axis(ordered, first[..., None] + 1, axis=-1)[..., 0]
    # Of equal ones nothing is subtracted: infinite ones would give NaN. Between -inf and inf, the nearer.
    both = np.isfinite(low) & np.isfinite(high)
    step = np.subtract(high, low, where=both, out=np.zeros_like(low))
    between = np.where(share < 0.5, low + step * share, high - step * (1 - share))
    between = np.where(np.isinf(high) & np.isfinite(low) & (share > 0), high, between)
    between = np.where(np.isinf(low) & np.isfinite(high) & (share < 1), low, between)
    found: Floats = np.where(defined < 2, np.nan, between)
    return found


def _acceleration(left_out: Floats) -> Floats:
    """Return the acceleration, a sixth of the skewness of the mean of the influences, (n_scores,)."""
    kept = np.isfinite(left_out) & ~np.isinf(left_out).any(axis=0)
    n = np.maximum(np.count_nonzero(kept, axis=0), 1)
    mean = np.where(kept, left_out, 0.0).sum(axis=0) / n
    influence = np.where(kept, mean - left_out, 0.0)
    size = np.abs(influence).max(axis=0, initial=0.0)
    flat = size <= NOISE * np.abs(mean)
    # Scaled first: the third power of a small number is nothing.
    influence = influence / np.where(flat, 1.0, size)
    skew, spread = (influence**3).sum(axis=0), (influence**2).sum(axis=0)
    found: Floats = np.where(flat, 0.0, skew / (6 * np.where(flat, 1.0, spread) ** 1.5))
    return found


def _mean(values: Floats) -> Floats:
    """Return the mean over the first axis, exactly that value where all are equal.

    NaN of none, and where any is not finite.
    """
    if not len(values):
        return np.full(values.shape[1:], np.nan)
    with np.errstate(invalid="ignore"):
        mean = values[0] + (values - values[0]).mean(axis=0)
    found: Floats = np.where(np.isfinite(mean), mean, np.nan)
    return found


def _squares(values: Floats) -> Floats:
    """Return the sum of squares about the mean, exactly 0 of equal values; NaN of fewer than two."""
    if len(values) < 2:
        return np.full(values.shape[1:], np.nan)
    with np.errstate(invalid="ignore"):
        from_first = values - values[0]
        found: Floats = ((from_first - from_first.mean(axis=0)) ** 2).sum(axis=0)
    return found


def _z(confidence: float) -> float:
    from scipy.special import ndtri

    return float(ndtri((1 + confidence) / 2))


MEASURED: dict[str, dict[str, dict[int, float]]] = {
    "bootstrap": {
        "hard": {5: 0.838, 10: 0.894, 20: 0.932, 30: 0.93, 50: 0.951, 100: 0.95},
        "soft": {5: 0.871, 10: 0.868, 20: 0.935, 30: 0.929, 50: 0.945, 100: 0.939},
        "optimal": {5: 0.661, 10: 0.795, 20: 0.815, 30: 0.863, 50: 0.89, 100: 0.914},
        "difference": {5: 0.815, 10: 0.884, 20: 0.931, 30: 0.941, 50: 0.924, 100: 0.93},
    },
    "bca": {
        "hard": {5: 0.821, 10: 0.904, 20: 0.934, 30: 0.932, 50: 0.954, 100: 0.951},
        "soft": {5: 0.871, 10: 0.907, 20: 0.945, 30: 0.938, 50: 0.951, 100: 0.95},
        "optimal": {5: 0.7, 10: 0.85, 20: 0.911, 30: 0.909, 50: 0.939, 100: 0.943},
        "difference": {5: 0.818, 10: 0.87, 20: 0.932, 30: 0.936, 50: 0.917, 100: 0.925},
    },
    "expanded": {
        "hard": {5: 0.925, 10: 0.935, 20: 0.959, 30: 0.948, 50: 0.955, 100: 0.956},
        "soft": {5: 0.938, 10: 0.935, 20: 0.965, 30: 0.953, 50: 0.959, 100: 0.951},
        "optimal": {5: 0.772, 10: 0.891, 20: 0.929, 30: 0.926, 50: 0.939, 100: 0.944},
        "difference": {5: 0.921, 10: 0.931, 20: 0.944, 30: 0.95, 50: 0.929, 100: 0.938},
    },
    "jackknife": {
        "hard": {5: 0.836, 10: 0.907, 20: 0.931, 30: 0.929, 50: 0.953, 100: 0.943},
        "soft": {5: 0.886, 10: 0.917, 20: 0.953, 30: 0.946, 50: 0.955, 100: 0.948},
        "difference": {5: 0.874, 10: 0.916, 20: 0.948, 30: 0.943, 50: 0.929, 100: 0.936},
    },
}
"""By `--ci`, by reading of macro F1 (or `difference`, of two systems alike), and by number of files: what
share of intervals held the true score. Of the optimal reading that is the score of all files there are, each
class at the threshold that is best for all of them."""

NOMINAL, ENOUGH = 0.95, 0.92
"""What the intervals were to hold, and from which share on they are not called rough."""


def held(method: str, kind: str, n_files: int) -> float | None:
    """Return what share of intervals held the truth with so many files, or the next fewer that were measured.

    None of what has no intervals, and of more files than were measured.
    """
    measured = MEASURED.get(method, {}).get(kind)
    if not measured or n_files > max(measured):
        return None
    fewer = [n for n in measured if n <= n_files]
    return measured[max(fewer) if fewer else min(measured)]


def files_of(n_files: int) -> int:
    """Return with how many files it was measured what is said of so many."""
    measured = next(iter(MEASURED["bootstrap"].values()))
    return max((n for n in measured if n <= n_files), default=min(measured))
