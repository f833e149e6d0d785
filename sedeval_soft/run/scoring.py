"""From a tally to named scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

from sedeval_soft.compat import sed_eval
from sedeval_soft.core.settings import Settings
from sedeval_soft.core.tally import Tally
from sedeval_soft.core.value import Score
from sedeval_soft.measures.detection import detection_scores, totals
from sedeval_soft.measures.event.boundaries import COLUMNS, Deviations, deviation_scores
from sedeval_soft.measures.names import spell
from sedeval_soft.measures.registry import FAMILIES
from sedeval_soft.run.cell_scores import Table, Tables, cell_tables, ranking_tables
from sedeval_soft.run.psds import psds_tables
from sedeval_soft.run.thresholds import event_precisions, optimal_events, optimal_intersections


def score_tally(tally: Tally, settings: Settings) -> dict[str, Score]:
    """Return all scores of a tally by name, in the order of the registry."""
    tables: Tables = {}
    for basis in ("segment", "clip"):
        tables |= cell_tables(tally, basis, settings)
    tables |= ranking_tables(tally, settings)
    made: dict[tuple[str, str], Callable[[Tally, Settings], Table]] = {
        ("event", "hard"): _hard_events,
        ("event", "optimal"): optimal_events,
        ("event", "soft"): lambda tally, settings: _detection(tally, "event.soft", settings),
        ("intersection", "hard"): lambda tally, settings: _detection(tally, "intersection.hard", settings),
        ("intersection", "optimal"): optimal_intersections,
        ("intersection", "soft"): lambda tally, settings: _detection(tally, "intersection.soft", settings),
    }
    tables |= {family: make(tally, settings) for family, make in made.items() if settings.wants(*family)}
    if settings.compat == "sed_eval":
        _follow_sed_eval(tables, tally)
    if settings.wants_psds:
        for family, table in psds_tables(tally, settings).items():
            tables[family] = tables.get(family, {}) | table
    return {score.name: score for score in _named(tables, tally.classes)}


def _detection(tally: Tally, prefix: str, settings: Settings) -> Table:
    return detection_scores(totals(tally, prefix), settings.beta)


def _hard_events(tally: Tally, settings: Settings) -> Table:
    deviations = Deviations(*(tally.total(f"event.hard.{name}") for name in COLUMNS))
    table = _detection(tally, "event.hard", settings)
    if "curves" in settings.measures:
        table |= event_precisions(tally, settings)
    return table | deviation_scores(deviations, tally.total("event.hard.matched"))


def _follow_sed_eval(tables: Tables, tally: Tally) -> None:
    """Put sed_eval's numbers in place of ours in the hard reading of segments and events."""
    if ("segment", "hard") in tables:
        n_segments = tally.total("segment.hard.n_cells")
        tables["segment", "hard"] |= sed_eval.hard_scores(totals(tally, "segment.hard"), n_segments)
    if ("event", "hard") in tables:
        tables["event", "hard"] |= sed_eval.hard_scores(totals(tally, "event.hard"), None)


def _named(tables: Mapping[tuple[str, str], Table], classes: tuple[str, ...]) -> Iterator[Score]:
    for family in FAMILIES:
        table = tables.get((family.basis, family.reading), {})
        for measure in family.measures:
            values = table.get(measure.name)
            if values is None:
                continue
            stem = (family.basis, family.reading, measure.name)
            for average in measure.averages:
                mean = getattr(values, average)
                yield Score(
                    spell(*stem, average), *stem, average, None, None if mean is None else plain(mean.item())
                )
            if values.classes is not None and measure.has_classes:
                for label, value in zip(classes, values.classes.tolist(), strict=True):
                    yield Score(spell(*stem, None, label), *stem, None, label, plain(value))


def plain(value: float | int) -> float | int | None:
    """Return a value as it leaves the package: None for NaN, which stands for undefined."""
    return value if math.isfinite(value) else None
