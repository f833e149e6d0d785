"""Slow, obvious second answers for the measures of cells: curves, divergences, calibration.

A cell is a class in a segment: y of the reference, p of the system. Weights are fractions, so that no sum
here rounds; what is undefined is None. Nothing is shared with the package but its settings.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from statistics import NormalDist

import numpy as np

from sedeval_soft.settings import Settings

Cells = Sequence[float]
Oracle = Callable[[Cells, Cells, Settings], "float | None"]
Point = tuple[Fraction, Fraction]


def points(y: Cells, p: Cells) -> list[Point]:
    """What is found, truly and falsely, at each threshold from the highest on; first nothing."""
    found = [(Fraction(0), Fraction(0))]
    for threshold in sorted(set(p), reverse=True):
        above = [Fraction(a) for a, b in zip(y, p, strict=True) if b >= threshold]
        found.append((sum(above, Fraction(0)), len(above) - sum(above, Fraction(0))))
    return found


def average_precision(found: Sequence[Point], n_ref: Fraction) -> float:
    """Sum of recall steps times the precision where each ends."""
    area = Fraction(0)
    for (before, _), (tp, fp) in pairwise(found):
        area += (tp - before) / n_ref * (tp / (tp + fp))
    return float(area)


def interpolated(found: Sequence[Point], least: Fraction) -> Fraction:
    """The highest precision of any threshold that finds at least so much, 0 if none does."""
    return max((tp / (tp + fp) for tp, fp in found[1:] if tp >= least), default=Fraction(0))


def average_precision_at(found: Sequence[Point], n_ref: Fraction, steps: int) -> float:
    return float(sum(interpolated(found, k * n_ref / steps) for k in range(steps + 1)) / (steps + 1))


def average_precision_voc(found: Sequence[Point], n_ref: Fraction) -> float:
    area = Fraction(0)
    for (before, _), (tp, _) in pairwise(found):
        area += (tp - before) / n_ref * interpolated(found, tp)
    return float(area)


PRECISIONS: dict[str, Callable[[Sequence[Point], Fraction], float]] = {
    "average_precision": average_precision,
    "average_precision_voc11": lambda found, n_ref: average_precision_at(found, n_ref, 10),
    "average_precision_voc": average_precision_voc,
    "average_precision_coco101": lambda found, n_ref: average_precision_at(found, n_ref, 100),
}


def rates(y: Cells, p: Cells) -> list[Point] | None:
    """The points (FPR, TPR); None without anything positive or anything negative."""
    found = points(y, p)
    positive, negative = found[-1]
    if not positive or not negative:
        return None
    return [(fp / negative, tp / positive) for tp, fp in found]


def area_to(curve: Sequence[Point], end: Fraction) -> Fraction:
    """Area under the straight lines between points, from an FPR of 0 to `end`."""
    area = Fraction(0)
    for (x0, y0), (x1, y1) in pairwise(curve):
        if x0 < end and x1 > x0:
            right = min(x1, end)
            top = y0 + (y1 - y0) * (right - x0) / (x1 - x0)
            area += (right - x0) * (y0 + top) / 2
    return area


def roc_auc(curve: Sequence[Point], _: Settings) -> float:
    return float(area_to(curve, Fraction(1)))


def partial_auc(curve: Sequence[Point], settings: Settings) -> float:
    end = Fraction(settings.max_fpr)
    return float(area_to(curve, end) / end)


def partial_auc_mcclish(curve: Sequence[Point], settings: Settings) -> float:
    end = Fraction(settings.max_fpr)
    chance = end * end / 2
    return float((1 + (area_to(curve, end) - chance) / (end - chance)) / 2)


def d_prime_of(auc: float | None) -> float | None:
    return None if auc is None or auc in {0.0, 1.0} else math.sqrt(2) * NormalDist().inv_cdf(auc)


def equal_error_rate(curve: Sequence[Point], _: Settings) -> float | None:
    """Walk along the lines to where the misses, 1 - TPR, become fewer than the false alarms."""
    for (x0, y0), (x1, y1) in pairwise(curve):
        before, after = 1 - y0 - x0, 1 - y1 - x1
        if before >= 0 >= after and before > after:
            share = before / (before - after)
            return float(x0 + share * (x1 - x0))
    return None


def fnr_at_fpr(curve: Sequence[Point], settings: Settings) -> float:
    return min(float(1 - tpr) for fpr, tpr in curve if float(fpr) <= settings.max_fpr)


def fpr_at_fnr(curve: Sequence[Point], settings: Settings) -> float:
    return min(float(fpr) for fpr, tpr in curve if float(1 - tpr) <= settings.max_fnr)


RATES: dict[str, Callable[[Sequence[Point], Settings], float | None]] = {
    "roc_auc": roc_auc,
    "partial_auc": partial_auc,
    "partial_auc_mcclish": partial_auc_mcclish,
    "d_prime": lambda curve, settings: d_prime_of(roc_auc(curve, settings)),
    "equal_error_rate": equal_error_rate,
    "fnr_at_fpr": fnr_at_fpr,
    "fpr_at_fnr": fpr_at_fnr,
}


def _precision(name: str) -> Oracle:
    def oracle(y: Cells, p: Cells, _: Settings) -> float | None:
        found = points(y, p)
        return PRECISIONS[name](found, found[-1][0]) if found[-1][0] else None

    return oracle


def _rate(name: str) -> Oracle:
    def oracle(y: Cells, p: Cells, settings: Settings) -> float | None:
        curve = rates(y, p)
        return None if curve is None else RATES[name](curve, settings)

    return oracle


CURVES: dict[str, Oracle] = {name: _precision(name) for name in PRECISIONS} | {
    name: _rate(name) for name in RATES
}


# Divergences.


def mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def logs(value: float, settings: Settings) -> tuple[float, float]:
    """The logarithms of a value and of what it lacks to 1, each clipped by itself."""
    least, most = math.log(settings.epsilon), math.log1p(-settings.epsilon)

    def log(share: float) -> float:
        return min(max(math.log(share), least), most) if share else least

    return log(value), log(1 - value)


def unit(settings: Settings) -> float:
    return math.log(2) if settings.entropy_unit == "bits" else 1.0


def _term(a: float, b: float) -> float:
    return a * math.log(a / b) if a else 0.0


def cell_entropy(a: float, b: float, settings: Settings) -> float:
    active, silent = logs(b, settings)
    return (-a * active - (1 - a) * silent) / unit(settings)


def cell_divergence(a: float, b: float, settings: Settings) -> float:
    """The divergence of b from a."""
    own = math.fsum(share * math.log(share) for share in (a, 1 - a) if share)
    return cell_entropy(a, b, settings) + own / unit(settings)


def cell_shannon(a: float, b: float, settings: Settings) -> float:
    active, silent = (a + b) / 2, ((1 - a) + (1 - b)) / 2
    parts = [_term(v, active) + _term(1 - v, silent) for v in (a, b)]
    return sum(parts) / 2 / unit(settings)


CELL: dict[str, Callable[[float, float, Settings], float]] = {
    "kl_divergence": cell_divergence,
    "kl_divergence_reverse": lambda a, b, s: cell_divergence(b, a, s),
    "cross_entropy": cell_entropy,
    "jensen_shannon": cell_shannon,
    "brier": lambda a, b, _: (a - b) ** 2,
    "mean_absolute_error": lambda a, b, _: abs(a - b),
}


def _mean_of_cells(name: str) -> Oracle:
    return lambda y, p, settings: mean([CELL[name](a, b, settings) for a, b in zip(y, p, strict=True)])


def soft_f1_loss(y: Cells, p: Cells, settings: Settings) -> float:
    pairs = list(zip(y, p, strict=True))
    tp = math.fsum(a * b for a, b in pairs)
    fp, fn = math.fsum((1 - a) * b for a, b in pairs), math.fsum(a * (1 - b) for a, b in pairs)
    return 1 - 2 * tp / (2 * tp + fp + fn + settings.epsilon)


def wasserstein(y: Cells, p: Cells, _: Settings) -> float | None:
    return mean([abs(a - b) for a, b in zip(sorted(y), sorted(p), strict=True)])


def pearson(y: Cells, p: Cells, _: Settings) -> float | None:
    if len(set(y)) < 2 or len(set(p)) < 2:
        return None
    ys, ps = ([Fraction(v) - sum(map(Fraction, side)) / len(side) for v in side] for side in (y, p))
    covariance = sum(a * b for a, b in zip(ys, ps, strict=True))
    square = covariance * covariance / (sum(a * a for a in ys) * sum(b * b for b in ps))
    return math.copysign(math.sqrt(square), covariance)


def ranks(values: Cells) -> list[float]:
    """1 for the lowest; equal values share the mean of their places."""
    return [sum(v < w for v in values) + (sum(v == w for v in values) + 1) / 2 for w in values]


def spearman(y: Cells, p: Cells, settings: Settings) -> float | None:
    return pearson(ranks(y), ranks(p), settings)


PROPER: dict[str, Oracle] = {name: _mean_of_cells(name) for name in ("cross_entropy", "brier")}


def entropy_correlation(y: Cells, p: Cells, settings: Settings) -> float | None:
    """In bits, of which the correlation is that of nats; those of 0.2 and 0.8 are one but for rounding."""
    sides = [[-sum(q * math.log2(q) for q in (v, 1 - v) if q) for v in side] for side in (y, p)]
    constant = not y or any(max(side) - min(side) < 1e-14 for side in sides)
    return None if constant else pearson(*sides, settings)


DIVERGENCES: dict[str, Oracle] = {
    **{name: _mean_of_cells(name) for name in CELL},
    "soft_f1_loss": soft_f1_loss,
    "wasserstein": wasserstein,
    "pearson": pearson,
    "spearman": spearman,
    "entropy_correlation": entropy_correlation,
}


# Calibration.

Bin = list[tuple[Fraction, Fraction]]


def equal_width(y: Cells, p: Cells, n_bins: int) -> list[Bin]:
    """The cells of each bin that has any; the last bin holds 1 too."""
    bins: list[Bin] = [[] for _ in range(n_bins)]
    for a, b in zip(y, p, strict=True):
        index = max(k for k in range(n_bins) if k / n_bins <= b)
        bins[index].append((Fraction(a), Fraction(b)))
    return [cells for cells in bins if cells]


def equal_mass(y: Cells, p: Cells, n_bins: int) -> list[Bin]:
    """Bins of as many cells each as can be; cells of equal values stay in one."""
    cells = sorted((Fraction(b), Fraction(a)) for a, b in zip(y, p, strict=True))
    edges = []
    for k in range(n_bins + 1):
        edge = k * len(cells) // n_bins
        while 0 < edge < len(cells) and cells[edge - 1][0] == cells[edge][0]:
            edge += 1
        edges.append(edge)
    bins = [[(a, b) for b, a in cells[begin:end]] for begin, end in pairwise(edges)]
    return [found for found in bins if found]


def gap(cells: Bin) -> Fraction:
    return sum(a - b for a, b in cells) / len(cells)


def weighted_gaps(bins: Sequence[Bin], power: int) -> float:
    return float(sum(len(cells) * abs(gap(cells)) ** power for cells in bins) / sum(map(len, bins)))


def maximum_gap(bins: Sequence[Bin]) -> float:
    return float(max(abs(gap(cells)) for cells in bins))


def resolution(bins: Sequence[Bin]) -> float:
    base = _mean([a for cells in bins for a, _ in cells])
    squares = sum(len(cells) * (_mean([a for a, _ in cells]) - base) ** 2 for cells in bins)
    return float(squares / sum(map(len, bins)))


def uncertainty(bins: Sequence[Bin]) -> float:
    y = [a for cells in bins for a, _ in cells]
    return float(_mean([(a - _mean(y)) ** 2 for a in y]))


def within_bins(bins: Sequence[Bin]) -> float:
    total = Fraction(0)
    for cells in bins:
        y_mean, p_mean = _mean([a for a, _ in cells]), _mean([b for _, b in cells])
        total += sum((b - p_mean) ** 2 - 2 * (a - y_mean) * (b - p_mean) for a, b in cells)
    return float(total / sum(map(len, bins)))


def _mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def _binned(parted: Callable[[Cells, Cells, int], list[Bin]], score: Callable[[list[Bin]], float]) -> Oracle:
    return lambda y, p, settings: score(parted(y, p, settings.bins)) if len(y) else None


CALIBRATION: dict[str, Oracle] = {
    "expected_calibration_error": _binned(equal_width, lambda bins: weighted_gaps(bins, 1)),
    "maximum_calibration_error": _binned(equal_width, maximum_gap),
    "adaptive_calibration_error": _binned(equal_mass, lambda bins: weighted_gaps(bins, 1)),
    "brier_reliability": _binned(equal_width, lambda bins: weighted_gaps(bins, 2)),
    "brier_resolution": _binned(equal_width, resolution),
    "brier_uncertainty": _binned(equal_width, uncertainty),
    "brier_within_bins": _binned(equal_width, within_bins),
}


# From vectors of cells to tables of classes.


def cut(values: np.ndarray, threshold: float, inclusive: bool = False) -> np.ndarray:
    return (values >= threshold if inclusive else values > threshold).astype(np.float64)


def expected(
    oracles: dict[str, Oracle], reference: np.ndarray, system: np.ndarray, reading: str, settings: Settings
) -> dict[str, float | None]:
    """The value of every average and class of some measures, named as scores are after their reading.

    reference, system: (n_segments, n_classes). micro pools all cells, macro and weighted are over classes
    with a reference and a value.
    """
    if reading == "hard":
        reference = cut(reference, settings.reference_cut, settings.inclusive)
    sizes = [sum(map(Fraction, column), Fraction(0)) for column in reference.T.tolist()]
    pairs = list(zip(reference.T.tolist(), system.T.tolist(), strict=True))
    labels = settings.classes or [str(k) for k in range(len(pairs))]
    made: dict[str, float | None] = {}
    for name, oracle in oracles.items():
        values = [oracle(y, p, settings) for y, p in pairs]
        made |= {f"{name}[{label}]": value for label, value in zip(labels, values, strict=True)}
        made[f"{name}.micro"] = oracle(reference.ravel().tolist(), system.ravel().tolist(), settings)
        if name == "d_prime":  # the average of AUCs is what is turned into a distance
            values = [CURVES["roc_auc"](y, p, settings) for y, p in pairs]
        kept = [(v, size) for v, size in zip(values, sizes, strict=True) if size and v is not None]
        macro = mean([v for v, _ in kept])
        heavy = float(sum(Fraction(v) * s for v, s in kept) / sum(s for _, s in kept)) if kept else None
        if name == "d_prime":
            macro, heavy = d_prime_of(macro), d_prime_of(heavy)
        made[f"{name}.macro"], made[f"{name}.weighted"] = macro, heavy
    return made
