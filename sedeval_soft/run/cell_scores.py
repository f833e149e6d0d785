"""The scores of segments and clips from a tally, and of the order of classes in segments."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.tally import Totals, evaluated_of
from sedeval_soft.measures.base import Table, Tables
from sedeval_soft.measures.detection import detection_scores, totals
from sedeval_soft.measures.divergence import KL, PROPER, SOFT, divergence_scores
from sedeval_soft.measures.segment.measures import confusion_scores
from sedeval_soft.settings import Settings

Floats = npt.NDArray[np.float64]

CELLS = ("segment", "clip")
"""The bases that have a value for every cell; others have events."""


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


def _soft(tally: Totals, basis: str, settings: Settings) -> Table:
    table = detection_scores(totals(tally, f"{basis}.soft"), settings.beta)
    names = SOFT if "divergence" in settings.measures else KL
    return table | _divergences(tally, basis, "soft", names, settings)


def _divergences(
    tally: Totals, basis: str, reading: str, names: tuple[str, ...], settings: Settings
) -> Table:
    prefix = f"{basis}.{reading}"
    sums = {name: tally.total(f"{prefix}.{name}") for name in names}
    n_ref, n_sys, sounding = (tally.total(f"{prefix}.{name}") for name in ("n_ref", "n_sys", "sounding"))
    cells, how = tally.total(evaluated_of(basis)), (settings.epsilon, settings.entropy_unit)
    return divergence_scores(sums, sounding, cells, n_ref, n_sys, *how, tally.is_expected)


def ranking_tables(tally: Totals, settings: Settings) -> Tables:
    """Return the tables of the order of classes in segments."""
    tables: Tables = {}
    for reading in ("hard", "soft"):
        if not settings.wants("ranking", reading):
            continue
        from sedeval_soft.measures.ranking import CLASS_SUMS, CUT_SUMS, SUMS, ranking_scores

        hard = reading == "hard"
        names, of_classes = (SUMS + CUT_SUMS, CLASS_SUMS) if hard else (SUMS, ())
        sums, per_class = (
            {name: tally.total(f"ranking.{reading}.{name}") for name in some} for some in (names, of_classes)
        )
        n_classes = int(tally.is_expected.sum())
        tables["ranking", reading] = ranking_scores(sums, per_class, n_classes, settings.entropy_unit)
    return tables
