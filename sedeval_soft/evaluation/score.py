"""From a tally to named scores."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sedeval_soft.evaluation.optimal import optimal_scores
from sedeval_soft.evaluation.scores import Score
from sedeval_soft.measures.base import Averaged, Family, Measure, Table, Tables
from sedeval_soft.measures.detection import detection_scores, totals
from sedeval_soft.measures.divergence import KL, PROPER, SOFT, divergence_scores
from sedeval_soft.measures.event import DEVIATIONS, deviation_scores
from sedeval_soft.measures.names import spell
from sedeval_soft.measures.ranking import CLASS_SUMS, CUT_SUMS, SUMS, ranking_scores
from sedeval_soft.measures.registry import FAMILIES
from sedeval_soft.measures.segment import confusion_scores
from sedeval_soft.measures.tally import Tally, Totals, evaluated_of
from sedeval_soft.plan import CELLS, THRESHOLDED, Plan
from sedeval_soft.settings import Settings

if TYPE_CHECKING:
    from sedeval_soft.evaluation.sorted_cells import SortedCells


def score_tally(tally: Tally, settings: Settings, counted: Tables | None = None) -> dict[str, Score]:
    """Return all scores of a tally by name, in the order of the registry.

    counted: the tables of what the tally has no segments and events for; None where it has them.
    """
    best = dict(counted or {})
    for family in Plan.of(settings).thresholded:
        if family not in best:
            best[family] = optimal_scores(tally, family[0], settings)
    ranked = ranked_tables(tally, sorted_cells(tally, settings), settings, psds=counted is None)
    scores = {}
    tables = joined(counted_tables(tally, settings), best, ranked)
    for of_family, of, values in _measured(tables):
        stem = (of_family.basis, of_family.reading, of.name)
        for average in of.averages:
            value, name = getattr(values, average), spell(*stem, average)
            number = None if value is None else plain(value.item())
            scores[name] = Score(name, *stem, average, None, number)
        if values.classes is not None and of.has_classes:
            for label, number in zip(tally.classes, values.classes.tolist(), strict=True):
                name = spell(*stem, None, label)
                scores[name] = Score(name, *stem, None, label, plain(number))
    return scores


def plain(value: float | int) -> float | int | None:
    """Return a value as it leaves the package: None for NaN, which stands for undefined."""
    return value if math.isfinite(value) else None


# Tables of scores: of counts, and of what needs all values in order.


def counted_tables(tally: Totals, settings: Settings) -> Tables:
    """Return the tables of what is counted, by basis and reading: of a tally, or of many mixtures of it."""
    plan = Plan.of(settings)
    tables = {family: _counted(tally, *family, plan) for family in plan.families if family not in THRESHOLDED}
    if settings.compat == "sed_eval":
        # Its numbers in place of ours.
        from sedeval_soft.measures import sed_eval_rules

        for basis in ("segment", "event"):
            if (basis, "hard") in tables:
                n_cells = tally.total("segment.hard.n_cells") if basis == "segment" else None
                theirs = sed_eval_rules.hard_scores(totals(tally, f"{basis}.hard"), n_cells)
                tables[basis, "hard"] |= theirs
    return tables


def _counted(tally: Totals, basis: str, reading: str, plan: Plan) -> Table:
    """Return the scores of the totals of a basis and reading."""
    settings = plan.settings
    if basis == "ranking":
        names, of_classes = ((*SUMS, *CUT_SUMS), CLASS_SUMS) if reading == "hard" else (SUMS, ())
        sums, per_class = (
            {name: tally.total(f"ranking.{reading}.{name}") for name in some} for some in (names, of_classes)
        )
        return ranking_scores(sums, per_class, int(tally.is_expected.sum()), settings.entropy_unit)
    counts = totals(tally, f"{basis}.{reading}")
    table = detection_scores(counts, settings.beta)
    if reading == "tuned" and isinstance(settings.thresholds, dict):
        own = [settings.thresholds.get(label, settings.threshold) for label in tally.classes]
        table["threshold"] = Averaged(np.array(own, dtype=np.float64))
    if basis in CELLS and reading == "hard":
        n_cells, beyond = (tally.total(f"{basis}.hard.{name}") for name in ("n_cells", "beyond"))
        table |= confusion_scores(counts, n_cells, beyond, tally.is_expected)
    if basis in CELLS and reading in ("hard", "soft"):
        table |= _divergences(tally, basis, reading, plan)
    if (basis, reading) == ("event", "hard"):
        deviations = {name: tally.total(f"event.hard.{name}") for name in DEVIATIONS}
        table |= deviation_scores(deviations, tally.total("event.hard.matched"))
    return table


def _divergences(tally: Totals, basis: str, reading: str, plan: Plan) -> Table:
    settings, prefix = plan.settings, f"{basis}.{reading}"
    names: tuple[str, ...]
    if plan.asks_for("divergence"):
        names = PROPER if reading == "hard" else SOFT
    elif reading == "soft":
        names = KL
    else:
        return {}
    sums = {name: tally.total(f"{prefix}.{name}") for name in names}
    n_ref, n_sys, sounding = (tally.total(f"{prefix}.{name}") for name in ("n_ref", "n_sys", "sounding"))
    cells, how = tally.total(evaluated_of(basis)), (settings.epsilon, settings.entropy_unit)
    return divergence_scores(sums, sounding, cells, n_ref, n_sys, *how, tally.is_expected)


def sorted_cells(tally: Tally, settings: Settings, *, again: bool = False) -> dict[str, SortedCells]:
    """Return the cells in order of the bases with scores that need them so; again: as for `SortedCells`."""
    bases = Plan.of(settings).compared
    if not bases:
        return {}
    from sedeval_soft.evaluation.sorted_cells import SortedCells

    return {basis: SortedCells.of(tally, basis, settings, again=again) for basis in bases}


def ranked_tables(
    tally: Tally, cells: Mapping[str, SortedCells], settings: Settings, *, psds: bool = True
) -> Tables:
    """Return the tables of what needs all values in order: curves, calibration, correlation, PSDS.

    cells: by basis, `sorted_cells` of the tally; their orders are used up. psds: whether PSDS is among them.
    """
    plan = Plan.of(settings)
    tables: Tables = {}
    if cells or plan.ranks_events:
        from sedeval_soft.evaluation.sorted_cells import event_precisions, ordered_tables

        for basis, of in cells.items():
            ordered = ordered_tables(of, basis, settings)
            tables |= {(basis, reading): table for reading, table in ordered.items()}
        if plan.ranks_events:
            tables["event", "hard"] = event_precisions(tally, settings)
    if plan.psds and psds:
        from sedeval_soft.measures.psds import psds_tables

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


def _measured(tables: Tables) -> Iterator[tuple[Family, Measure, Averaged]]:
    """Yield the measures that there are, in the order of the registry."""
    for family in FAMILIES:
        table = tables.get((family.basis, family.reading), {})
        for of in family.measures:
            values = table.get(of.name)
            if values is not None:
                yield family, of, values
