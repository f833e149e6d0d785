"""Slow, obvious second answers for the ranking measures: one segment after another, class by class."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from measure_oracles import cell_entropy, cut

from sedeval_soft.settings import Settings

Cells = list[float]
Segment = Callable[[Cells, Cells, Settings], float]
"""One segment: y and p of every class to its value."""


def one_error(y: Cells, p: Cells, _: Settings) -> float:
    top = [a for a, b in zip(y, p, strict=True) if b == max(p)]
    return 1 - math.fsum(top) / len(top)


def depth(active: list[bool], p: Cells) -> int:
    """How many classes have values no lower than the lowest of the active."""
    return max(sum(other >= b for other in p) for hit, b in zip(active, p, strict=True) if hit)


def coverage(y: Cells, p: Cells, _: Settings) -> float:
    """The depth of what is active at each level up to the highest, which counts by its width."""
    area, below = Fraction(0), Fraction(0)
    for level in sorted(set(y) - {0.0}):
        area += (Fraction(level) - below) * depth([a >= level for a in y], p)
        below = Fraction(level)
    return float(area / Fraction(max(y)))


def _pairs(y: Cells, p: Cells) -> tuple[Fraction, Fraction]:
    """Pairs of an active and a silent class: those out of order, and all."""
    wrong = total = Fraction(0)
    for i, a in enumerate(y):
        for j, other in enumerate(y):
            if i != j:
                weight = Fraction(a) * (1 - Fraction(other))
                total += weight
                wrong += weight if p[i] <= p[j] else 0
    return wrong, total


def ranking_loss(y: Cells, p: Cells, _: Settings) -> float:
    wrong, total = _pairs(y, p)
    return float(wrong / total) if total else 0.0


def ranking_loss_all_pairs(y: Cells, p: Cells, _: Settings) -> float:
    return float(_pairs(y, p)[0] / math.comb(len(y), 2))


def label_ranking_average_precision(y: Cells, p: Cells, _: Settings) -> float:
    total = Fraction(0)
    for a, b in zip(y, p, strict=True):
        above = [Fraction(other) for other, value in zip(y, p, strict=True) if value >= b]
        total += Fraction(a) * sum(above) / len(above)
    return float(total / sum(map(Fraction, y)))


def cross_entropy(y: Cells, p: Cells, settings: Settings) -> float:
    return math.fsum(cell_entropy(a, b, settings) for a, b in zip(y, p, strict=True))


def hamming_loss(y: Cells, p: Cells, _: Settings) -> float:
    return math.fsum(abs(a - b) for a, b in zip(y, p, strict=True)) / len(y)


def exact_match_prefix(y: Cells, p: Cells, _: Settings) -> float:
    active = [b for a, b in zip(y, p, strict=True) if a]
    silent = [b for a, b in zip(y, p, strict=True) if not a]
    return float(all(high > low for high in active for low in silent))


def subset_accuracy(y: Cells, p: Cells, _: Settings) -> float:
    return float(y == p)


SHARED: dict[str, Segment] = {
    "one_error": one_error,
    "coverage": coverage,
    "ranking_loss": ranking_loss,
    "ranking_loss_all_pairs": ranking_loss_all_pairs,
    "label_ranking_average_precision": label_ranking_average_precision,
    "cross_entropy": cross_entropy,
    "hamming_loss": hamming_loss,
}

HARD: dict[str, Segment] = {"exact_match_prefix": exact_match_prefix, "subset_accuracy": subset_accuracy}

CUT = ("hamming_loss", "subset_accuracy")
"""In the hard reading these look at the system's values cut too."""


def expected_ranking(
    reference: np.ndarray, system: np.ndarray, reading: str, settings: Settings
) -> dict[str, float | None]:
    """The value of every ranking measure, named as scores are after their reading.

    reference, system: (n_segments, n_classes).
    """
    measures, decided = SHARED, system
    if reading == "hard":
        reference = cut(reference, settings.reference_cut, settings.inclusive)
        decided = cut(system, settings.threshold, settings.inclusive)
        measures = SHARED | HARD
    kept = [k for k, row in enumerate(reference) if row.any()]
    made: dict[str, float | None] = {}
    for name, measure in measures.items():
        if not kept or (name == "ranking_loss_all_pairs" and reference.shape[1] < 2):
            made[name] = None
            continue
        side = decided if name in CUT else system
        values = [measure(reference[k].tolist(), side[k].tolist(), settings) for k in kept]
        weights = [float(reference[k].max()) for k in kept]
        made[name] = math.fsum(v * w for v, w in zip(values, weights, strict=True)) / math.fsum(weights)
    return made | (_label_wise(reference[kept], system[kept], settings) if reading == "hard" else {})


def in_prefix(active: Cells, p: Cells) -> list[Fraction]:
    """Which classes are the highest, as many as are active; equal values share the last places."""
    places = int(sum(active))
    shares = []
    for value in p:
        higher, equal = sum(other > value for other in p), sum(other == value for other in p)
        shares.append(min(Fraction(1), max(Fraction(0), Fraction(places - higher, equal))))
    return shares


def _label_wise(reference: np.ndarray, system: np.ndarray, settings: Settings) -> dict[str, float | None]:
    rows = [(y, in_prefix(y, p)) for y, p in zip(reference.tolist(), system.tolist(), strict=True)]
    labels = settings.classes or [str(k) for k in range(reference.shape[1])]
    values: list[tuple[float, float]] = []
    made: dict[str, float | None] = {}
    for k, label in enumerate(labels):
        n_ref = sum(y[k] for y, _ in rows)
        named = sum(share[k] for _, share in rows)
        right = sum(share[k] for y, share in rows if y[k])
        value = (float(right / named) if named else 0.0) if n_ref else None
        made[f"label_wise_precision[{label}]"] = value
        if value is not None:
            values.append((value, n_ref))
    if not values:
        return made | dict.fromkeys(
            (
                "label_wise_precision.macro",
                "label_wise_precision.weighted",
                "label_wise_precision_minimum",
            )
        )
    return made | {
        "label_wise_precision.macro": math.fsum(v for v, _ in values) / len(values),
        "label_wise_precision.weighted": math.fsum(v * n for v, n in values) / sum(n for _, n in values),
        "label_wise_precision_minimum": min(v for v, _ in values),
    }
