"""From a tally to named scores."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sedeval_soft.evaluation.optimal import optimal_scores
from sedeval_soft.evaluation.scores import Confusion, Score
from sedeval_soft.measures.base import Averaged, Family, Measure, Table, Tables
from sedeval_soft.measures.detection import detection_scores, totals
from sedeval_soft.measures.divergence import KL, PROPER, SOFT, divergence_scores
from sedeval_soft.measures.event import DEVIATIONS, Collars, deviation_scores
from sedeval_soft.measures.names import spell
from sedeval_soft.measures.ranking import CLASS_SUMS, CUT_SUMS, SUMS, ranking_scores
from sedeval_soft.measures.registry import FAMILIES
from sedeval_soft.measures.segment import confusion_scores
from sedeval_soft.measures.tally import Tally, Totals, evaluated_of
from sedeval_soft.plan import CELLS, THRESHOLDED, Plan
from sedeval_soft.settings import Settings
from sedeval_soft.timeline.recordings import detected, positive

if TYPE_CHECKING:
    from sedeval_soft.evaluation.sorted_cells import SortedCells


def score_tally(tally: Tally, settings: Settings, counted: Tables | None = None) -> dict[str, Score]:
    """Return all scores of a tally by name, in the order of the registry.

    counted: the tables of bases and readings that the tally has no segments and events for.
    """
    plan = Plan.of(settings)
    best = dict(counted or {})
    for family in THRESHOLDED:
        if plan.scores(*family) and family not in best:
            best[family] = optimal_scores(tally, family[0], settings)
    ranked = ranked_tables(tally, sorted_cells(tally, settings), settings)
    tables = joined(counted_tables(tally, settings), best, ranked)
    return {score.name: score for score in _scores(tables, tally.classes)}


def counted_tables(tally: Totals, settings: Settings) -> Tables:
    """Return the tables of what is counted, by basis and reading: of a tally, or of many mixtures of it."""
    plan = Plan.of(settings)
    tables = {family: _counted(tally, *family, plan) for family in plan.families if family not in THRESHOLDED}
    if settings.compat == "sed_eval":
        _follow_sed_eval(tables, tally)
    return tables


def _counted(tally: Totals, basis: str, reading: str, plan: Plan) -> Table:
    """Return the scores of the totals of a basis and reading."""
    settings = plan.settings
    if basis == "ranking":
        return _rankings(tally, reading, settings)
    counts = totals(tally, f"{basis}.{reading}")
    table = detection_scores(counts, settings.beta)
    if reading == "tuned" and isinstance(settings.thresholds, dict):
        own = [settings.thresholds.get(label, settings.threshold) for label in tally.classes]
        table["threshold"] = Averaged(np.array(own, dtype=np.float64))
    if basis in CELLS and reading == "hard":
        n_cells, beyond = (tally.total(f"{basis}.hard.{name}") for name in ("n_cells", "beyond"))
        table |= confusion_scores(counts, n_cells, beyond, tally.is_expected)
        table |= _divergences(tally, basis, reading, PROPER, settings) if plan.asks_for("divergence") else {}
    if basis in CELLS and reading == "soft":
        table |= _divergences(tally, basis, reading, SOFT if plan.asks_for("divergence") else KL, settings)
    if (basis, reading) == ("event", "hard"):
        deviations = {name: tally.total(f"event.hard.{name}") for name in DEVIATIONS}
        table |= deviation_scores(deviations, tally.total("event.hard.matched"))
    return table


def _divergences(
    tally: Totals, basis: str, reading: str, names: tuple[str, ...], settings: Settings
) -> Table:
    prefix = f"{basis}.{reading}"
    sums = {name: tally.total(f"{prefix}.{name}") for name in names}
    n_ref, n_sys, sounding = (tally.total(f"{prefix}.{name}") for name in ("n_ref", "n_sys", "sounding"))
    cells, how = tally.total(evaluated_of(basis)), (settings.epsilon, settings.entropy_unit)
    return divergence_scores(sums, sounding, cells, n_ref, n_sys, *how, tally.is_expected)


def _rankings(tally: Totals, reading: str, settings: Settings) -> Table:
    names, of_classes = ((*SUMS, *CUT_SUMS), CLASS_SUMS) if reading == "hard" else (SUMS, ())
    sums, per_class = (
        {name: tally.total(f"ranking.{reading}.{name}") for name in some} for some in (names, of_classes)
    )
    return ranking_scores(sums, per_class, int(tally.is_expected.sum()), settings.entropy_unit)


def _follow_sed_eval(tables: Tables, tally: Totals) -> None:
    """Put sed_eval's numbers in place of ours in the hard reading of segments and events."""
    from sedeval_soft.measures import sed_eval_rules

    if ("segment", "hard") in tables:
        n_segments = tally.total("segment.hard.n_cells")
        tables["segment", "hard"] |= sed_eval_rules.hard_scores(totals(tally, "segment.hard"), n_segments)
    if ("event", "hard") in tables:
        tables["event", "hard"] |= sed_eval_rules.hard_scores(totals(tally, "event.hard"), None)


def sorted_cells(tally: Tally, settings: Settings, *, again: bool = False) -> dict[str, SortedCells]:
    """Return the cells in order of the bases with scores that need them so; again: as for `SortedCells`."""
    plan = Plan.of(settings)
    bases = [basis for basis in CELLS if plan.compares_cells(basis)]
    if not bases:
        return {}
    from sedeval_soft.evaluation.sorted_cells import SortedCells

    return {basis: SortedCells.of(tally, basis, settings, again=again) for basis in bases}


def ranked_tables(tally: Tally, cells: Mapping[str, SortedCells], settings: Settings) -> Tables:
    """Return the tables of what needs all values in order: curves, calibration, correlation, PSDS.

    cells: by basis, `sorted_cells` of the tally; their orders are used up.
    """
    tables: Tables = {}
    for basis, of in cells.items():
        from sedeval_soft.evaluation.sorted_cells import ordered_tables

        found = ordered_tables(of, basis, settings)
        tables |= {(basis, reading): table for reading, table in found.items()}
    plan = Plan.of(settings)
    if plan.ranks_events:
        from sedeval_soft.evaluation.sorted_cells import event_precisions

        tables["event", "hard"] = event_precisions(tally, settings)
    if plan.psds:
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


def _measured(tables: Tables) -> Iterator[tuple[Family, Measure, Averaged]]:
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


def confusion_tables(tally: Tally, settings: Settings) -> tuple[Confusion, ...]:
    """Return the confusions that the settings ask for: of segments, clips and events, both sides cut."""
    plan, n_classes = Plan.of(settings), len(tally.classes)
    if not plan.asks_for("confusion"):
        return ()
    from sedeval_soft.measures.confusion import confuse_events, confuse_segments

    found = {}
    for basis in CELLS:
        if plan.scores(basis, "hard"):
            reference, system = (tally.samples[f"{basis}.{side}"] for side in ("reference", "system"))
            found[basis] = confuse_segments(positive(reference, settings), detected(system, settings))
    if plan.confuses_events:
        # Which of the largest matchings is found must not depend on the order of the table.
        ours, theirs = (tally.events[side].events().in_order() for side in ("reference", "detected"))
        found["event"] = confuse_events(ours, theirs, n_classes, Collars.of(settings))
    return tuple(
        Confusion(
            basis, "hard", tally.classes, tuple(map(tuple, counts.pairs.tolist())),
            tuple(counts.missed.tolist()), tuple(counts.inserted.tolist()),
        )
        for basis, counts in found.items()
    )  # fmt: skip
