"""From a tally to named scores."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.tally import Tally, Totals
from sedeval_soft.core.value import Score
from sedeval_soft.measures import base
from sedeval_soft.measures.averages import Averaged
from sedeval_soft.measures.base import Tables
from sedeval_soft.measures.detection import detection_scores, totals
from sedeval_soft.measures.event.measures import DEVIATIONS, deviation_scores
from sedeval_soft.measures.names import spell
from sedeval_soft.measures.registry import FAMILIES
from sedeval_soft.run.cell_scores import CELLS, cell_tables, ranking_tables
from sedeval_soft.run.cells import needs_samples
from sedeval_soft.run.optimal import optimal_scores
from sedeval_soft.settings import BASES, Settings

if TYPE_CHECKING:
    from sedeval_soft.run.ordered import SortedCells

Family = tuple[str, str]

THRESHOLDED: tuple[Family, ...] = (
    ("segment", "optimal"),
    ("clip", "optimal"),
    ("event", "optimal"),
    ("intersection", "optimal"),
)
"""The bases and readings that look for each class's best threshold."""


def score_tally(
    tally: Tally, settings: Settings, counted: Mapping[Family, dict[str, Averaged]] | None = None
) -> dict[str, Score]:
    """Return all scores of a tally by name, in the order of the registry.

    counted: the tables of bases and readings that the tally has no segments and events for.
    """
    best = dict(counted or {})
    for family in THRESHOLDED:
        if settings.wants(*family) and family not in best:
            best[family] = optimal_scores(tally, family[0], settings)
    ranked = ranked_tables(tally, sorted_cells(tally, settings), settings)
    tables = joined(counted_tables(tally, settings), best, ranked)
    return {score.name: score for score in _scores(tables, tally.classes)}


def counted_tables(tally: Totals, settings: Settings) -> Tables:
    """Return the tables of what is counted, by basis and reading: of a tally, or of many mixtures of it."""
    tables: Tables = {}
    for basis in CELLS:
        tables |= cell_tables(tally, basis, settings)
    tables |= ranking_tables(tally, settings)
    for family in (("event", "hard"), ("event", "soft"), ("intersection", "hard"), ("intersection", "soft")):
        if settings.wants(*family):
            tables[family] = detection_scores(totals(tally, ".".join(family)), settings.beta)
    for basis in BASES:
        if settings.wants(basis, "tuned"):
            tables[basis, "tuned"] = detection_scores(totals(tally, f"{basis}.tuned"), settings.beta)
            if isinstance(settings.thresholds, dict):
                own = [settings.thresholds.get(label, settings.threshold) for label in tally.classes]
                tables[basis, "tuned"]["threshold"] = Averaged(np.array(own, dtype=np.float64))
    if settings.wants("event", "hard"):
        deviations = {name: tally.total(f"event.hard.{name}") for name in DEVIATIONS}
        tables["event", "hard"] |= deviation_scores(deviations, tally.total("event.hard.matched"))
    if settings.compat == "sed_eval":
        _follow_sed_eval(tables, tally)
    return tables


def _follow_sed_eval(tables: Tables, tally: Totals) -> None:
    """Put sed_eval's numbers in place of ours in the hard reading of segments and events."""
    from sedeval_soft.compat import sed_eval

    if ("segment", "hard") in tables:
        n_segments = tally.total("segment.hard.n_cells")
        tables["segment", "hard"] |= sed_eval.hard_scores(totals(tally, "segment.hard"), n_segments)
    if ("event", "hard") in tables:
        tables["event", "hard"] |= sed_eval.hard_scores(totals(tally, "event.hard"), None)


def sorted_cells(tally: Tally, settings: Settings, *, again: bool = False) -> dict[str, SortedCells]:
    """Return the cells in order of the bases with scores that need them so; again: as for `SortedCells`."""
    bases = [basis for basis in CELLS if needs_samples(settings, basis)]
    if not bases:
        return {}
    from sedeval_soft.run.ordered import SortedCells

    return {basis: SortedCells.of(tally, basis, settings, again=again) for basis in bases}


def ranked_tables(tally: Tally, cells: Mapping[str, SortedCells], settings: Settings) -> Tables:
    """Return the tables of what needs all values in order: curves, calibration, correlation, PSDS.

    cells: by basis, `sorted_cells` of the tally; their orders are used up.
    """
    tables: Tables = {}
    for basis, of in cells.items():
        from sedeval_soft.run.ordered import ordered_tables

        found = ordered_tables(of, basis, settings)
        tables |= {(basis, reading): table for reading, table in found.items()}
    if settings.wants("event", "hard") and "curves" in settings.measures:
        from sedeval_soft.run.ordered import event_precisions

        tables["event", "hard"] = event_precisions(tally, settings)
    if settings.wants_psds:
        from sedeval_soft.run.psds import psds_tables

        tables |= psds_tables(tally, settings)
    return tables


def joined(*parts: Tables) -> Tables:
    """Return the tables of all parts together."""
    tables: Tables = {}
    for part in parts:
        for family, table in part.items():
            tables[family] = tables.get(family, {}) | table
    return tables


class Key(NamedTuple):
    """What a score is of: an average (class None), or a class (average None)."""

    basis: str
    reading: str
    measure: str
    average: str | None
    class_name: str | None


def named(tables: Tables, classes: tuple[str, ...]) -> Iterator[tuple[Key, npt.NDArray[Any] | None]]:
    """Yield the values of all scores, (...) each, in the order of the registry; None where there is none."""
    for family, of, values in _measured(tables):
        stem = (family.basis, family.reading, of.name)
        for average in of.averages:
            yield Key(*stem, average, None), getattr(values, average)
        if values.classes is not None and of.has_classes:
            for k, label in enumerate(classes):
                yield Key(*stem, None, label), values.classes[..., k]


def _scores(tables: Tables, classes: tuple[str, ...]) -> Iterator[Score]:
    """Yield what `named` does where every value is one number, as scores."""
    for family, of, values in _measured(tables):
        stem = (family.basis, family.reading, of.name)
        for average in of.averages:
            value = getattr(values, average)
            yield Score(
                spell(*stem, average), *stem, average, None, None if value is None else plain(value.item())
            )
        if values.classes is not None and of.has_classes:
            for label, number in zip(classes, values.classes.tolist(), strict=True):
                yield Score(spell(*stem, None, label), *stem, None, label, plain(number))


def _measured(tables: Tables) -> Iterator[tuple[base.Family, base.Measure, Averaged]]:
    """Yield the measures that there are, in the order of the registry."""
    for family in FAMILIES:
        table = tables.get((family.basis, family.reading), {})
        for of in family.measures:
            values = table.get(of.name)
            if values is not None:
                yield family, of, values


def plain(value: float | int) -> float | int | None:
    """Return a value as it leaves the package: None for NaN, which stands for undefined."""
    return value if math.isfinite(value) else None
