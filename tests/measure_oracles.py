"""A slow and obvious second computation of curves, divergences, calibration and rankings.

A cell is a class in a segment: y of the reference, p of the system. Weights are fractions, so that sums do
not round; None is undefined. The code shares only the settings with the package.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from statistics import NormalDist

import numpy as np

from sedeval_soft.settings import Settings

Cells = Sequence[float]
Values = dict[str, "float | None"]
Oracle = Callable[[Cells, Cells, Settings], Values]
Point = tuple[Fraction, Fraction]
Bin = list[tuple[Fraction, Fraction]]


def mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def exact_mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


# Curves.

PRECISIONS = (
    "average_precision", "average_precision_voc", "average_precision_voc11", "average_precision_coco101",
)  # fmt: skip
RATES = (
    *("roc_auc", "partial_auc", "partial_auc_mcclish", "d_prime"),
    *("equal_error_rate", "fnr_at_fpr", "fpr_at_fnr"),
)


def points(y: Cells, p: Cells) -> list[Point]:
    """Return true and false positives at each threshold, from the highest on; the first point is (0, 0)."""
    found = [(Fraction(0), Fraction(0))]
    for threshold in sorted(set(p), reverse=True):
        above = [Fraction(a) for a, b in zip(y, p, strict=True) if b >= threshold]
        found.append((sum(above, Fraction(0)), len(above) - sum(above, Fraction(0))))
    return found


def precisions(found: Sequence[Point], n_ref: Fraction) -> dict[str, float]:
    """Return mean precisions over recall. Interpolated precision is the highest at this recall or above."""

    def best(least: Fraction) -> Fraction:
        return max((tp / (tp + fp) for tp, fp in found[1:] if tp >= least), default=Fraction(0))

    def at(steps: int) -> float:
        return float(sum(best(k * n_ref / steps) for k in range(steps + 1)) / (steps + 1))

    steps = [((tp - before) / n_ref, tp, fp) for (before, _), (tp, fp) in pairwise(found)]
    plain = sum(step * (tp / (tp + fp)) for step, tp, fp in steps)
    voc = sum(step * best(tp) for step, tp, _ in steps)
    return dict(zip(PRECISIONS, (float(plain), float(voc), at(10), at(100)), strict=True))


def area_to(curve: Sequence[Point], end: Fraction) -> Fraction:
    """Return the area under straight lines between the points, from an FPR of 0 to `end`."""
    area = Fraction(0)
    for (x0, y0), (x1, y1) in pairwise(curve):
        if x0 < end and x1 > x0:
            right = min(x1, end)
            top = y0 + (y1 - y0) * (right - x0) / (x1 - x0)
            area += (right - x0) * (y0 + top) / 2
    return area


def d_prime_of(auc: float | None) -> float | None:
    return None if auc is None or auc in {0.0, 1.0} else math.sqrt(2) * NormalDist().inv_cdf(auc)


def equal_error_rate(curve: Sequence[Point]) -> float | None:
    """Walk along the lines to the point at which the misses, 1 - TPR, fall below the false alarms."""
    for (x0, y0), (x1, y1) in pairwise(curve):
        before, after = 1 - y0 - x0, 1 - y1 - x1
        if before >= 0 >= after and before > after:
            return float(x0 + before / (before - after) * (x1 - x0))
    return None


def rates(curve: Sequence[Point], settings: Settings) -> Values:
    """Return all rates of a curve of points (FPR, TPR)."""
    end, auc = Fraction(settings.max_fpr), float(area_to(curve, Fraction(1)))
    part, chance = area_to(curve, end), end * end / 2
    return {
        "roc_auc": auc,
        "partial_auc": float(part / end),
        "partial_auc_mcclish": float((1 + (part - chance) / (end - chance)) / 2),
        "d_prime": d_prime_of(auc),
        "equal_error_rate": equal_error_rate(curve),
        "fnr_at_fpr": min(float(1 - tpr) for fpr, tpr in curve if float(fpr) <= settings.max_fpr),
        "fpr_at_fnr": min(float(fpr) for fpr, tpr in curve if float(1 - tpr) <= settings.max_fnr),
    }


def curves(y: Cells, p: Cells, settings: Settings) -> Values:
    found = points(y, p)
    n_ref, n_silent = found[-1]
    made: Values = dict.fromkeys((*PRECISIONS, *RATES))
    if n_ref:
        made |= precisions(found, n_ref)
    if n_ref and n_silent:
        made |= rates([(fp / n_silent, tp / n_ref) for tp, fp in found], settings)
    return made


# Divergences.


def cell_entropy(a: float, b: float, settings: Settings) -> float:
    """Return the cross entropy; the logarithms of b and of 1 - b are clipped separately."""
    least, most = math.log(settings.epsilon), math.log1p(-settings.epsilon)
    active, silent = (min(max(math.log(v), least), most) if v else least for v in (b, 1 - b))
    return (-a * active - (1 - a) * silent) / _unit(settings)


def cell_divergence(a: float, b: float, settings: Settings) -> float:
    """Return the divergence of b from a."""
    own = math.fsum(share * math.log(share) for share in (a, 1 - a) if share)
    return cell_entropy(a, b, settings) + own / _unit(settings)


def cell_shannon(a: float, b: float, settings: Settings) -> float:
    active, silent = (a + b) / 2, ((1 - a) + (1 - b)) / 2
    parts = [v * math.log(v / m) for c in (a, b) for v, m in ((c, active), (1 - c, silent)) if v]
    return sum(parts) / 2 / _unit(settings)


def _unit(settings: Settings) -> float:
    return math.log(2) if settings.entropy_unit == "bits" else 1.0


CELL: dict[str, Callable[[float, float, Settings], float]] = {
    "kl_divergence": cell_divergence,
    "kl_divergence_reverse": lambda a, b, s: cell_divergence(b, a, s),
    "cross_entropy": cell_entropy,
    "jensen_shannon": cell_shannon,
    "brier": lambda a, b, _: (a - b) ** 2,
    "mean_absolute_error": lambda a, b, _: abs(a - b),
}


def pearson(y: Cells, p: Cells) -> float | None:
    if len(set(y)) < 2 or len(set(p)) < 2:
        return None
    ys, ps = ([Fraction(v) - sum(map(Fraction, side)) / len(side) for v in side] for side in (y, p))
    covariance = sum(a * b for a, b in zip(ys, ps, strict=True))
    square = covariance * covariance / (sum(a * a for a in ys) * sum(b * b for b in ps))
    return math.copysign(math.sqrt(square), covariance)


def ranks(values: Cells) -> list[float]:
    """Return ranks from 1 for the lowest; equal values share the mean of their ranks."""
    return [sum(v < w for v in values) + (sum(v == w for v in values) + 1) / 2 for w in values]


def entropy_correlation(y: Cells, p: Cells) -> float | None:
    """Correlate entropies in bits. 0.2 and 0.8 have the same entropy apart from rounding."""
    sides = [[-sum(q * math.log2(q) for q in (v, 1 - v) if q) for v in side] for side in (y, p)]
    constant = not y or any(max(side) - min(side) < 1e-14 for side in sides)
    return None if constant else pearson(*sides)


def divergences(y: Cells, p: Cells, settings: Settings) -> Values:
    pairs = list(zip(y, p, strict=True))
    tp = math.fsum(a * b for a, b in pairs)
    fp, fn = math.fsum((1 - a) * b for a, b in pairs), math.fsum(a * (1 - b) for a, b in pairs)
    return {name: mean([cell(a, b, settings) for a, b in pairs]) for name, cell in CELL.items()} | {
        "soft_f1_loss": 1 - 2 * tp / (2 * tp + fp + fn + settings.epsilon),
        "wasserstein": mean([abs(a - b) for a, b in zip(sorted(y), sorted(p), strict=True)]),
        "pearson": pearson(y, p),
        "spearman": pearson(ranks(y), ranks(p)),
        "entropy_correlation": entropy_correlation(y, p),
    }


def proper(y: Cells, p: Cells, settings: Settings) -> Values:
    """Return the divergences that also exist for a binary reference."""
    return {name: mean([CELL[name](a, b, settings) for a, b in zip(y, p, strict=True)])
            for name in ("cross_entropy", "brier")}  # fmt: skip


# Calibration.


def equal_width(cells: Bin, n_bins: int) -> list[Bin]:
    """Return the cells of each bin that is not empty; a value of 1 is in the last bin."""
    bins: list[Bin] = [[] for _ in range(n_bins)]
    for a, b in cells:
        bins[max(k for k in range(n_bins) if k / n_bins <= b)].append((a, b))
    return [part for part in bins if part]


def equal_mass(cells: Bin, n_bins: int) -> list[Bin]:
    """Return bins of nearly the same number of cells; cells of equal values stay in one bin."""
    ordered = sorted(cells, key=lambda cell: (cell[1], cell[0]))
    edges = []
    for k in range(n_bins + 1):
        edge = k * len(ordered) // n_bins
        while 0 < edge < len(ordered) and ordered[edge - 1][1] == ordered[edge][1]:
            edge += 1
        edges.append(edge)
    return [ordered[begin:end] for begin, end in pairwise(edges) if begin < end]


def calibration(y: Cells, p: Cells, settings: Settings) -> Values:
    cells = [(Fraction(a), Fraction(b)) for a, b in zip(y, p, strict=True)]

    def weighted(bins: list[Bin], of: Callable[[Fraction, Fraction], Fraction]) -> float:
        """Return the mean over cells of a function of the means of their bins."""
        means = [(exact_mean([a for a, _ in part]), exact_mean([b for _, b in part])) for part in bins]
        return float(sum(len(part) * of(*m) for part, m in zip(bins, means, strict=True)) / len(cells))

    width, mass = equal_width(cells, settings.bins), equal_mass(cells, settings.bins)
    base = exact_mean([a for a, _ in cells]) if cells else Fraction(0)
    within = Fraction(0)
    for part in width:
        a_mean, b_mean = exact_mean([a for a, _ in part]), exact_mean([b for _, b in part])
        within += sum((b - b_mean) ** 2 - 2 * (a - a_mean) * (b - b_mean) for a, b in part)
    made = {
        "expected_calibration_error": lambda: weighted(width, lambda a, b: abs(a - b)),
        "maximum_calibration_error": lambda: float(
            max(abs(sum(a - b for a, b in part) / len(part)) for part in width)
        ),
        "adaptive_calibration_error": lambda: weighted(mass, lambda a, b: abs(a - b)),
        "brier_reliability": lambda: weighted(width, lambda a, b: (a - b) ** 2),
        "brier_resolution": lambda: weighted(width, lambda a, _: (a - base) ** 2),
        "brier_uncertainty": lambda: float(exact_mean([(a - base) ** 2 for a, _ in cells])),
        "brier_within_bins": lambda: float(within / len(cells)),
    }
    return {name: value() if cells else None for name, value in made.items()}


# From vectors of cells to tables of classes.


def cut(values: np.ndarray, threshold: float, inclusive: bool = False) -> np.ndarray:
    return (values >= threshold if inclusive else values > threshold).astype(np.float64)


def labels_of(table: np.ndarray) -> tuple[str, ...]:
    return tuple(f"class{k}" for k in range(table.shape[1]))


WORST = dict.fromkeys(("pearson", "spearman", "entropy_correlation"), -1.0)
"""The value for averages if all values of the system are equal, and the reference varies."""


def expected(
    oracle: Oracle, reference: np.ndarray, system: np.ndarray, reading: str, settings: Settings
) -> Values:
    """Return every average and class value of some measures, by the part of a score's name after the reading.

    reference, system: (n_segments, n_classes). micro pools all cells. macro and weighted are over classes
    with reference events for which a perfect system has a value; a missing value counts as `WORST`.
    """
    if reading == "hard":
        reference = cut(reference, settings.reference_cut, settings.inclusive)
    sizes = [sum(map(Fraction, column), Fraction(0)) for column in reference.T.tolist()]
    each = [oracle(*pair, settings) for pair in zip(reference.T.tolist(), system.T.tolist(), strict=True)]
    copies = [oracle(column, column, settings) for column in reference.T.tolist()]
    made: Values = {}
    for name, pooled in oracle(reference.ravel().tolist(), system.ravel().tolist(), settings).items():
        made |= {f"{name}[{label}]": of[name] for label, of in zip(labels_of(reference), each, strict=True)}
        # The average of d' is computed from the average AUC.
        source = "roc_auc" if name == "d_prime" else name
        kept = [(of[source], size) for of, size, copy in zip(each, sizes, copies, strict=True)
                if size and copy[source] is not None]  # fmt: skip
        kept = [(WORST.get(name) if value is None else value, size) for value, size in kept]
        kept = [(value, size) for value, size in kept if value is not None]
        macro = mean([v for v, _ in kept])
        heavy = float(sum(Fraction(v) * s for v, s in kept) / sum(s for _, s in kept)) if kept else None
        if name == "d_prime":
            macro, heavy = d_prime_of(macro), d_prime_of(heavy)
        made |= {f"{name}.micro": pooled, f"{name}.macro": macro, f"{name}.weighted": heavy}
    return made


def agree(scores: Mapping[str, float | None], stem: str, wanted: Values, tolerance: float = 1e-12) -> None:
    """Require each score to have the wanted value, or to be undefined if the wanted value is None."""
    assert wanted
    for name, value in wanted.items():
        got = scores[f"{stem}.{name}"]
        if value is None or got is None:
            assert got is None and value is None, (f"{stem}.{name}", got, value)
        else:
            assert abs(got - value) <= tolerance * max(1.0, abs(value)), (f"{stem}.{name}", got, value)


# Rankings: one segment after another, class by class.


def coverage(y: Cells, p: Cells) -> float:
    """Return the number of classes down to the lowest active one, as a mean over levels up to the highest."""
    area, below = Fraction(0), Fraction(0)
    for level in sorted(set(y) - {0.0}):
        depth = max(sum(other >= b for other in p) for a, b in zip(y, p, strict=True) if a >= level)
        area += (Fraction(level) - below) * depth
        below = Fraction(level)
    return float(area / Fraction(max(y)))


def misordered(y: Cells, p: Cells) -> tuple[Fraction, Fraction]:
    """Return the numbers of wrongly ordered and of all pairs of an active and a silent class."""
    wrong = total = Fraction(0)
    for i, a in enumerate(y):
        for j, other in enumerate(y):
            if i != j:
                weight = Fraction(a) * (1 - Fraction(other))
                total += weight
                wrong += weight if p[i] <= p[j] else 0
    return wrong, total


def label_ranking_average_precision(y: Cells, p: Cells) -> float:
    total = Fraction(0)
    for a, b in zip(y, p, strict=True):
        above = [Fraction(other) for other, value in zip(y, p, strict=True) if value >= b]
        total += Fraction(a) * sum(above) / len(above)
    return float(total / sum(map(Fraction, y)))


def ranking_of(y: Cells, p: Cells, decided: Cells, settings: Settings) -> Values:
    """Return the values of one segment; decided: the system's values, binarised in the hard reading."""
    pairs = list(zip(y, p, strict=True))
    wrong, total = misordered(y, p)
    top = [a for a, b in pairs if b == max(p)]
    return {
        "one_error": 1 - math.fsum(top) / len(top),
        "coverage": coverage(y, p),
        "ranking_loss": float(wrong / total) if total else 0.0,
        "ranking_loss_all_pairs": float(wrong / math.comb(len(y), 2)) if len(y) > 1 else None,
        "label_ranking_average_precision": label_ranking_average_precision(y, p),
        "cross_entropy": math.fsum(cell_entropy(a, b, settings) for a, b in pairs),
        "hamming_loss": math.fsum(abs(a - b) for a, b in zip(y, decided, strict=True)) / len(y),
        "exact_match_prefix": float(all(b > other for a, b in pairs for c, other in pairs if a and not c)),
        "subset_accuracy": float(y == decided),
    }


def expected_ranking(reference: np.ndarray, system: np.ndarray, reading: str, settings: Settings) -> Values:
    """Return the value of every ranking measure: means over segments, weighted by their highest value."""
    decided, hard = system, reading == "hard"
    if hard:
        reference = cut(reference, settings.reference_cut, settings.inclusive)
        decided = cut(system, settings.threshold, settings.inclusive)
    rows = [side[reference.any(axis=1)].tolist() for side in (reference, system, decided)]
    each = [(max(y), ranking_of(y, p, said, settings)) for y, p, said in zip(*rows, strict=True)]
    made: Values = {}
    for name in ranking_of([1.0], [1.0], [1.0], settings):
        if hard or name not in {"exact_match_prefix", "subset_accuracy"}:
            weighted = [(weight, of[name]) for weight, of in each if of[name] is not None]
            whole = math.fsum(weight for weight, _ in weighted)
            made[name] = math.fsum(weight * v for weight, v in weighted) / whole if weighted else None
    return made | (label_wise(*rows[:2], labels_of(reference)) if hard else {})


def in_prefix(active: Cells, p: Cells) -> list[Fraction]:
    """Return the share of each class in the top n, for n active classes; ties share the last places."""
    places = int(sum(active))
    shares = []
    for value in p:
        higher, equal = sum(other > value for other in p), sum(other == value for other in p)
        shares.append(min(Fraction(1), max(Fraction(0), Fraction(places - higher, equal))))
    return shares


def label_wise(reference: list[Cells], system: list[Cells], labels: Sequence[str]) -> Values:
    rows = [(y, in_prefix(y, p)) for y, p in zip(reference, system, strict=True)]
    made: Values = {}
    values: list[tuple[float, float]] = []
    for k, label in enumerate(labels):
        n_ref, named = sum(y[k] for y, _ in rows), sum(share[k] for _, share in rows)
        right = sum(share[k] for y, share in rows if y[k])
        made[f"label_wise_precision[{label}]"] = (float(right / named) if named else 0.0) if n_ref else None
        values += [(made[f"label_wise_precision[{label}]"], n_ref)] if n_ref else []
    heavy = math.fsum(v * n for v, n in values) / sum(n for _, n in values) if values else None
    return made | {
        "label_wise_precision.macro": mean([v for v, _ in values]),
        "label_wise_precision.weighted": heavy,
        "label_wise_precision_minimum": min((v for v, _ in values), default=None),
    }
