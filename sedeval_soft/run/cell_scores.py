"""The scores of segments and clips from a tally, and of the order of classes in segments."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.events import active
from sedeval_soft.core.hard import positive
from sedeval_soft.core.settings import Settings
from sedeval_soft.core.tally import Tally, Totals, cells_of, evaluated_of
from sedeval_soft.measures.averages import Averaged
from sedeval_soft.measures.detection import DetectionCounts, detection_scores, totals
from sedeval_soft.measures.divergence.count import KL, PROPER, SOFT
from sedeval_soft.measures.divergence.score import divergence_scores, soft_f1_loss
from sedeval_soft.measures.segment.count import count_hard
from sedeval_soft.measures.segment.score import confusion_scores
from sedeval_soft.measures.threshold_counts import ThresholdCounts, f_merit
from sedeval_soft.run.thresholds import events_at, optimal_table

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

CELLS = ("segment", "clip")
"""The bases that have a value for every cell; others have events."""

Table = dict[str, Averaged]
"""The values of measures by name."""

Tables = dict[tuple[str, str], Table]
"""The tables of each basis and reading."""


def cell_tables(tally: Totals, basis: str, settings: Settings) -> Tables:
    """Return what counts say of a basis that has a value for every cell, `segment` or `clip`."""
    tables: Tables = {}
    if settings.wants(basis, "hard"):
        counts = totals(tally, f"{basis}.hard")
        n_cells, beyond = (tally.total(f"{basis}.hard.{name}") for name in ("n_cells", "beyond"))
        tables[basis, "hard"] = detection_scores(counts, settings.beta)
        tables[basis, "hard"] |= confusion_scores(counts, n_cells, beyond, tally.is_expected)
        if "divergence" in settings.measures:
            tables[basis, "hard"] |= _divergences(tally, basis, "hard", PROPER, settings)
    if settings.wants(basis, "soft"):
        tables[basis, "soft"] = _soft(tally, basis, settings)
    return tables


def optimal_cells(tally: Tally, basis: str, settings: Settings) -> Table:
    """Return the scores at each class's best threshold."""
    scores = tally.samples[f"{basis}.system"]
    hits = positive(tally.samples[f"{basis}.reference"], settings)
    counted = ThresholdCounts.of_cells(scores, hits)
    thresholds, _, _ = counted.best(f_merit(settings.beta), inclusive=settings.inclusive)
    del counted
    counts = _cells_at(tally, basis, hits, thresholds, settings)
    return optimal_table(counts.total(), thresholds, settings)


def counts_at(tally: Tally, basis: str, thresholds: Floats, settings: Settings) -> DetectionCounts:
    """Return the counts of each file where each class has a threshold of its own, (n_classes,)."""
    if basis not in CELLS:
        return events_at(tally, basis, thresholds, settings)
    hits = positive(tally.samples[f"{basis}.reference"], settings)
    return _cells_at(tally, basis, hits, thresholds, settings)


def _cells_at(
    tally: Tally, basis: str, hits: Bools, thresholds: Floats, settings: Settings
) -> DetectionCounts:
    """Count as `counts_at` does where it is known which cells are active in the reference."""
    found = active(tally.samples[f"{basis}.system"], thresholds[:, None], settings.inclusive)
    start = np.append(0, np.cumsum(tally.per_file[cells_of(basis)]))
    return count_hard(hits, found, start)


def _soft(tally: Totals, basis: str, settings: Settings) -> Table:
    counts = totals(tally, f"{basis}.soft")
    table = detection_scores(counts, settings.beta)
    if "divergence" not in settings.measures:
        return table | _divergences(tally, basis, "soft", KL, settings)
    product = tally.total(f"{basis}.soft.product")
    names = tuple(name for name in SOFT if name != "product")
    table["soft_f1_loss"] = soft_f1_loss(product, counts.n_ref, counts.n_sys, settings.epsilon)
    return table | _divergences(tally, basis, "soft", names, settings)


def _divergences(
    tally: Totals, basis: str, reading: str, names: tuple[str, ...], settings: Settings
) -> Table:
    prefix = f"{basis}.{reading}"
    sums = {name: tally.total(f"{prefix}.{name}") for name in names}
    n_ref = tally.total(f"{prefix}.n_ref")
    cells = tally.total(evaluated_of(basis))
    sounding = tally.total(f"{prefix}.sounding")
    how = settings.epsilon, settings.entropy_unit
    return divergence_scores(sums, sounding, cells, n_ref, *how, tally.is_expected)


def ranking_tables(tally: Totals, settings: Settings) -> Tables:
    """Return the tables of the order of classes in segments."""
    tables: Tables = {}
    for reading in ("hard", "soft"):
        if not settings.wants("ranking", reading):
            continue
        from sedeval_soft.measures.ranking.count import HARD, OF_CLASSES, SHARED
        from sedeval_soft.measures.ranking.score import prefix_scores, ranking_scores

        names = SHARED + HARD if reading == "hard" else SHARED
        sums = {name: tally.total(f"ranking.{reading}.{name}") for name in names}
        table = ranking_scores(sums, int(tally.is_expected.sum()), settings.entropy_unit)
        if reading == "hard":
            table |= prefix_scores(*(tally.total(f"ranking.hard.{name}") for name in OF_CLASSES))
        tables["ranking", reading] = table
    return tables
