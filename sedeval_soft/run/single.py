"""One process: a pair of tables in, a tally out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sedeval_soft.compat import sed_eval
from sedeval_soft.core.events import active
from sedeval_soft.core.grid import Grid
from sedeval_soft.core.hard import hard_events, merges, rowwise_events
from sedeval_soft.core.lifetimes import EventLifetimes, lifetimes_of
from sedeval_soft.core.pair import Pair
from sedeval_soft.core.segments import pool_rows
from sedeval_soft.core.settings import READINGS, Settings
from sedeval_soft.core.tally import Column, Tally
from sedeval_soft.core.ticks import tick
from sedeval_soft.measures.detection import PER_CLASS, PER_FILE, DetectionCounts
from sedeval_soft.measures.divergence.count import count_divergence
from sedeval_soft.measures.event.count import count_events
from sedeval_soft.measures.event.pairs import Collars
from sedeval_soft.measures.event.soft import count_soft_events
from sedeval_soft.measures.segment.count import count_hard, count_soft
from sedeval_soft.measures.segment.runs import count_hard_runs, runs_on_grid


def tally_pair(pair: Pair, settings: Settings) -> Tally:
    """Count everything that the scores of the settings' bases need."""
    grid = Grid.over(pair.length_ticks, tick(settings.segment_length))
    columns = _Columns({}, {"length": grid.length, "n_segments": grid.n_segments}, {}, {})
    if settings.wants("segment"):
        _tally_segments(pair, settings, grid, columns)
    if settings.wants("event"):
        _tally_events(pair, settings, columns)
    return Tally(
        pair.files,
        pair.classes,
        columns.per_class,
        columns.per_file,
        columns.samples,
        columns.events,
        recipe_of(settings),
    )


@dataclass(frozen=True, slots=True)
class _Columns:
    """The columns of a tally in the making."""

    per_class: dict[str, Column]
    per_file: dict[str, Column]
    samples: dict[str, Column]
    events: dict[str, EventLifetimes]

    def enter(self, prefix: str, counts: DetectionCounts) -> None:
        self.per_class.update({f"{prefix}.{name}": getattr(counts, name) for name in PER_CLASS})
        self.per_file.update({f"{prefix}.{name}": getattr(counts, name) for name in PER_FILE})


def recipe_of(settings: Settings) -> str:
    """Return the settings as one line, every one that shapes a statistic."""
    return " ".join(f"{name}={value}" for name, value in settings.to_dict().items())


def _tally_segments(pair: Pair, settings: Settings, grid: Grid, columns: _Columns) -> None:
    wants = {reading: settings.wants("segment", reading) for reading in READINGS["segment"]}
    sparse = settings.compat == "sed_eval" or settings.pool == "max"
    if wants["optimal"] or wants["soft"] or not sparse:
        grid.check_size(len(pair.classes))
        reference = pool_rows(pair.reference, grid, settings.pool)
        system = pool_rows(pair.system, grid, settings.pool)
        positive = active(reference, settings.reference_cut, settings.inclusive)
        sparse = settings.compat == "sed_eval"
        if wants["hard"] and not sparse:
            detected = active(system, settings.threshold, settings.inclusive)
            columns.enter("segment.hard", count_hard(positive, detected, grid.start))
        if wants["optimal"]:
            columns.samples.update(positive=positive, score=system)
        if wants["soft"]:
            columns.enter("segment.soft", count_soft(reference, system, grid.start))
            divergence = count_divergence(reference, system, grid.start)
            columns.per_class["segment.soft.kl_divergence"] = divergence.total
            columns.per_class["segment.soft.sounding"] = divergence.sounding
    if wants["hard"]:
        columns.per_file["segment.hard.n_segments"] = grid.n_segments
        if sparse:
            _count_runs(pair, settings, grid, columns)


def _count_runs(pair: Pair, settings: Settings, grid: Grid, columns: _Columns) -> None:
    """Count the hard reading from runs of active segments: no cells are needed for it."""
    events = rowwise_events(pair, settings)
    start = grid.start
    if settings.compat == "sed_eval":
        length = settings.segment_length
        start = sed_eval.grid_start(pair.length, length)
        columns.per_file["segment.hard.n_segments"] = np.diff(start)
        reference, system = (sed_eval.runs_on_roll(side, start, length) for side in events)
    else:
        reference, system = (runs_on_grid(side, grid) for side in events)
    columns.enter("segment.hard", count_hard_runs(reference, system, start, len(pair.classes)))


def _tally_events(pair: Pair, settings: Settings, columns: _Columns) -> None:
    wants = {reading: settings.wants("event", reading) for reading in READINGS["event"]}
    if wants["hard"]:
        columns.enter("event.hard", _count_events(pair, settings))
    if not (wants["optimal"] or wants["soft"]):
        return
    system = lifetimes_of(pair.system, merges(pair.system, settings))
    if wants["optimal"]:
        reference, _ = hard_events(pair, settings)
        columns.events.update(reference=EventLifetimes.from_events(reference), system=system)
    if wants["soft"]:
        soft = lifetimes_of(pair.reference, merges(pair.reference, settings))
        sizes = (len(pair.files), len(pair.classes))
        columns.enter("event.soft", count_soft_events(soft, system, *sizes, Collars.of(settings)))


def _count_events(pair: Pair, settings: Settings) -> DetectionCounts:
    reference, system = hard_events(pair, settings)
    sizes = (len(pair.files), len(pair.classes))
    if settings.compat == "sed_eval":
        collars = (
            settings.onset_collar if settings.onset else None,
            settings.offset_collar if settings.offset else None,
            settings.offset_collar_rate,
        )
        return sed_eval.count_events(reference, system, *sizes, collars, settings.matching)
    return count_events(reference, system, *sizes, Collars.of(settings), settings.matching)
