"""Scores that need all cells together, in the order of their scores: curves, calibration, correlation."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.events import active
from sedeval_soft.core.settings import Settings
from sedeval_soft.core.tally import Tally
from sedeval_soft.core.threads import for_each
from sedeval_soft.measures.averages import Averaged, averaged
from sedeval_soft.measures.calibration.score import brier_parts, distances, equal_mass, equal_width
from sedeval_soft.measures.curves.points import Ordered, Points
from sedeval_soft.measures.curves.score import d_prime, precision_scores, rate_scores
from sedeval_soft.measures.divergence.correlation import pearson, ranks, wasserstein

Table = dict[str, Averaged]
Floats = npt.NDArray[np.float64]
Numbers = dict[str, float]


def ordered_tables(tally: Tally, basis: str, settings: Settings) -> dict[str, Table]:
    """Return the tables of a basis, `segment` or `clip`, by reading."""
    reference, system = tally.samples[f"{basis}.reference"], tally.samples[f"{basis}.system"]
    readings = tuple(reading for reading in ("hard", "soft") if settings.wants(basis, reading))

    def of_class(label: int) -> dict[str, Numbers]:
        return _numbers(reference[label], system[label], readings, settings)

    classes = for_each(of_class, range(len(tally.classes)), reference.size)
    pooled = _numbers(reference.reshape(-1), system.reshape(-1), readings, settings)
    tables = {}
    for reading in readings:
        n_ref = np.array([numbers[reading].pop("n_ref") for numbers in classes])
        pooled[reading].pop("n_ref")
        tables[reading] = {
            name: averaged(np.array([numbers[reading][name] for numbers in classes]), np.array(micro), n_ref)
            for name, micro in pooled[reading].items()
        }
        if "roc_auc" in tables[reading]:
            tables[reading]["d_prime"] = _separation(tables[reading]["d_prime"], tables[reading]["roc_auc"])
    return tables


def _separation(own: Averaged, area: Averaged) -> Averaged:
    """Return d' with averages that are those of the average areas: an area of 1 has no d' to average."""
    means = (
        np.asarray(d_prime(float(np.asarray(getattr(area, name))))) for name in ("micro", "macro", "weighted")
    )
    return Averaged(own.classes, *means)


def _numbers(
    reference: Floats, system: Floats, readings: Iterable[str], settings: Settings
) -> dict[str, Numbers]:
    """Return named numbers of some cells, (n,), for each reading."""
    numbers: dict[str, Numbers] = {}
    cells = Ordered.of(system, reference)
    for reading in readings:
        own = cells
        if reading == "hard":
            own = cells.cut(active(cells.reference, settings.reference_cut, settings.inclusive))
        found = {"n_ref": float(own.reference.sum(dtype=np.float64))}
        if "curves" in settings.measures:
            points = Points.of(own)
            found |= precision_scores(points) | rate_scores(points, settings.max_fpr, settings.max_fnr)
        if "calibration" in settings.measures:
            found |= _calibration(own, settings.bins)
        if reading == "soft" and "divergence" in settings.measures:
            found |= _correlation(reference, system)
        numbers[reading] = found
    return numbers


def _calibration(cells: Ordered, n_bins: int) -> Numbers:
    bins = equal_width(cells, n_bins)
    mean, largest = distances(bins)
    found = {
        "expected_calibration_error": mean,
        "maximum_calibration_error": largest,
        "adaptive_calibration_error": distances(equal_mass(cells, n_bins))[0],
        **brier_parts(bins),
    }
    return {name: float(value) for name, value in found.items()}


def _correlation(reference: Floats, system: Floats) -> Numbers:
    (y, y_rank), (p, p_rank) = ranks(reference), ranks(system)
    return {
        "wasserstein": wasserstein(y, p),
        "pearson": pearson(reference, system),
        "spearman": pearson(y_rank, p_rank),
    }
