"""From a pair of tables to a tally: all processing of rows is here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from sedeval_soft.arrays import Array, Bools, Floats, Index, TooManyOverlapsError
from sedeval_soft.errors import counted
from sedeval_soft.fields import UNCOUNTED
from sedeval_soft.measures.detection import PER_CLASS, PER_FILE, DetectionCounts
from sedeval_soft.measures.divergence import KL, PROPER, SOFT, count_divergence
from sedeval_soft.measures.event import (
    count_deviations,
    count_events,
    count_per_class,
    count_soft_events,
    match_events,
    mean_over_levels,
)
from sedeval_soft.measures.matching import PairRule, naming, pair_rule
from sedeval_soft.measures.segment import count_files, count_hard, count_items, count_soft
from sedeval_soft.measures.tally import Tally
from sedeval_soft.memory import check_room
from sedeval_soft.plan import Plan
from sedeval_soft.settings import Settings
from sedeval_soft.timeline.events import EventLifetimes, Events, Timed
from sedeval_soft.timeline.grid import Grid, pool_rows
from sedeval_soft.timeline.recordings import (
    Recordings,
    all_lifetimes,
    detected,
    grid_of,
    hard_events,
    ignored_events,
    ignored_levels,
    ignored_ticks,
    joined,
    positive,
    rowwise_events,
)

AnyTimed = TypeVar("AnyTimed", bound=Timed)


_Count = Callable[..., DetectionCounts]

Columns = dict[str, Array]
"""Columns of a tally by name: (n_files, n_classes) or (n_files,)."""

_BYTES_PER_COUNT = 64
"""Memory that the counts of a basis and reading take for each file and class: eight numbers or so."""

_FILES_OF_SCORES = 94
"""Files whose counts of a class take as much memory as its scores, with their names, as shown."""

LESS_MEMORY = (
    "Segments and events of all recordings are kept where thresholds are chosen: --only segment.hard --only "
    "segment.soft --only event.hard --only event.soft needs none of them"
)
"""The fix for too little memory: readings that keep only counts of files."""


def tally_pair(pair: Recordings, *, cells: bool = False) -> Tally:
    """Count the statistics of all requested scores.

    cells: whether the values of all segments are kept although no score needs them.
    """
    plan, settings = pair.plan, pair.settings
    grid = grid_of(pair)
    # The evaluated length of each file, by which rates divide.
    evaluated_ticks = pair.length_ticks
    if pair.regions is not None:
        evaluated_ticks = pair.regions.until(evaluated_ticks).lengths(len(pair.files))
    if pair.ignored is not None:
        evaluated_ticks = evaluated_ticks - ignored_ticks(pair)
    columns: Columns = {
        "length": evaluated_ticks,
        "n_segments": grid.n_segments,
        "n_evaluated_segments": grid.n_evaluated,
    }
    samples: Columns = {}
    events: dict[str, EventLifetimes] = {}
    if plan.counts_segments:
        _count_segments(pair, grid, columns, samples, events, kept=cells and plan.scores("segment"))
        if plan.asks_for("grounding") and plan.scores("segment", "hard"):
            tp, n_ref, n_sys = (columns[f"segment.hard.{name}"] for name in PER_CLASS)
            items = count_items(tp, n_ref, n_sys, pair.in_reference, settings.iou)
            columns |= {f"segment.hard.{name}": column for name, column in items.items()}
    if plan.counts_clips:
        from sedeval_soft.timeline.recordings import clip_sides

        # A file that is ignored as a whole has no evaluated segments.
        unknown = (evaluated_ticks == 0) & (pair.length_ticks > 0)
        n_files, evaluated = len(pair.files), (pair.in_reference & ~unknown).astype(np.int64)
        columns |= {"n_clips": np.ones(n_files, dtype=np.int64), "n_evaluated_clips": evaluated}
        clips = Cells("clip", *clip_sides(pair), np.arange(n_files + 1), evaluated)
        columns |= count_cells(clips, clips, plan)
        if "clip" in plan.kept:
            samples |= {"clip.reference": clips.reference, "clip.system": clips.system}
    if plan.counts_events:
        with naming(pair.files, pair.classes):
            _count_events(pair, columns, events)
    recipe = " ".join(
        f"{name}={value}" for name, value in settings.to_dict().items() if name not in UNCOUNTED
    )
    tally = Tally(pair.files, pair.classes, events=events, recipe=recipe, expected=pair.expected)
    return with_columns(tally, columns, samples)


def columns_of(prefix: str, counts: DetectionCounts) -> Columns:
    """Return counts of detection as columns whose names begin with a prefix."""
    return {f"{prefix}.{name}": getattr(counts, name) for name in (*PER_CLASS, *PER_FILE)}


def with_columns(
    tally: Tally, columns: Mapping[str, Array], samples: Mapping[str, Array] | None = None
) -> Tally:
    """Return a tally with more columns; samples: in place of its own, None to keep these."""
    per_class = {name: column for name, column in columns.items() if len(column.shape) == 2}
    per_file = {name: np.asarray(column) for name, column in columns.items() if len(column.shape) == 1}
    return replace(
        tally,
        per_class={**tally.per_class, **per_class},
        per_file={**tally.per_file, **per_file},
        samples=tally.samples if samples is None else samples,
    )


def check_counts(n_files: int, n_classes: int, settings: Settings) -> None:
    """Raise RoomError for counts of more files and classes than fit into memory.

    Every basis and reading has some counts for each file and class.
    """
    check_room(
        (n_files + _FILES_OF_SCORES) * bytes_per_file(n_classes, settings),
        f"to count {counted(n_classes, 'class')} in {counted(n_files, 'file')}",
        "Names of classes may be in the wrong column; --classes and --only leave some out",
    )


def bytes_per_file(n_classes: int, settings: Settings) -> int:
    """Return the memory that the counts of a file take."""
    return (len(Plan.of(settings).families) + settings.tunes) * _BYTES_PER_COUNT * n_classes


class Cells(NamedTuple):
    """The values of all cells of a basis, `segment` or `clip`.

    reference, system: (n_classes, n_cells). start: (n_files + 1,) the first cell of each file. n_evaluated:
    (n_files,) the number of evaluated cells of each file, its first ones. Later cells are beyond the known
    length of a file: system activity there may be false alarms, and nothing else in them counts.
    """

    basis: str
    reference: Floats
    system: Floats
    start: Index
    n_evaluated: Index

    def evaluated(self) -> Cells:
        """Return the evaluated cells alone."""
        inside = evaluated_cells(np.diff(self.start), self.n_evaluated)
        if inside.all():
            return self
        start = np.append(0, np.cumsum(self.n_evaluated))
        return self._replace(reference=self.reference[:, inside], system=self.system[:, inside], start=start)


def evaluated_cells(n_cells: Index, n_evaluated: Index) -> Bools:
    """Return which cells are evaluated, the first ones of each file; n_cells, n_evaluated: (n_files,)."""
    start = np.repeat(np.cumsum(n_cells) - n_cells, n_cells)
    inside: Bools = np.arange(len(start)) - start < np.repeat(n_evaluated, n_cells)
    return inside


def count_cells(cells: Cells, of_soft: Cells, plan: Plan, *, hard: bool = True) -> Columns:
    """Return the statistics of cells that the scores of a basis need.

    of_soft: the cells for TP, N_ref and N_sys of the soft reading. hard: whether the hard counts are computed
    here, beside the other statistics of the hard reading.
    """
    basis, reference, system, start = cells.basis, cells.reference, cells.system, cells.start
    settings = plan.settings
    columns: Columns = {}
    if hard and plan.scores(basis, "hard"):
        active = detected(system, settings)
        counts = count_hard(positive(reference, settings), active, start)
        inside = evaluated_cells(np.diff(start), cells.n_evaluated)
        beyond = np.zeros_like(counts.n_sys) if inside.all() else count_files(active & ~inside, start)
        columns = columns_of(f"{basis}.hard", counts)
        columns |= {f"{basis}.hard.n_cells": cells.n_evaluated, f"{basis}.hard.beyond": beyond}
    if plan.scores(basis, "soft"):
        sides = of_soft.reference, of_soft.system
        columns |= columns_of(f"{basis}.soft", count_soft(*sides, of_soft.start, settings.t_norm))
    diverges = plan.asks_for("divergence")
    readings = [
        each for each in ("hard", "soft") if plan.scores(basis, each) and (diverges or each == "soft")
    ]
    if readings:
        own = cells.evaluated()
        for reading in readings:
            is_soft = reading == "soft"
            names = (SOFT if diverges else KL) if is_soft else PROPER
            ours = own.reference if is_soft else positive(own.reference, settings)
            sums = count_divergence(ours, own.system, own.start, names, settings.epsilon)
            columns |= {f"{basis}.{reading}.{name}": total for name, total in sums.items()}
    return columns


def count_rankings(cells: Cells, expected: Bools, plan: Plan) -> Columns:
    """Return the order of the classes in each segment, summed.

    expected: (n_classes,) the classes that are ordered. Classes that only the system names would improve the
    ranks of others, for the system can be silent in them anywhere.
    """
    from sedeval_soft.measures.ranking import count_ranking

    settings = plan.settings
    cells = cells.evaluated()
    ours, theirs = (side if expected.all() else side[expected] for side in (cells.reference, cells.system))
    sides: dict[str, tuple[Array, Array]] = {}
    if plan.scores("ranking", "hard"):
        sides["hard"] = positive(ours, settings), detected(theirs, settings)
    if plan.scores("ranking", "soft"):
        sides["soft"] = ours, theirs
    columns: Columns = {}
    for reading, (per_file, per_class) in count_ranking(sides, theirs, cells.start, settings.epsilon).items():
        columns |= {f"ranking.{reading}.{name}": sums for name, sums in per_file.items()}
        for name, sums in per_class.items():
            columns[f"ranking.{reading}.{name}"] = of_all = np.zeros((len(sums), len(expected)))
            of_all[:, expected] = sums
    return columns


def _count_segments(
    pair: Recordings,
    grid: Grid,
    columns: Columns,
    samples: Columns,
    events: dict[str, EventLifetimes],
    *,
    kept: bool,
) -> None:
    """Count segments on the grid of their values, or the hard reading from runs of active segments."""
    plan, settings = pair.plan, pair.settings
    by_runs = settings.compat == "sed_eval" or settings.pool == "max"
    in_cells = kept or plan.needs_grid or not by_runs
    if in_cells:
        grid.check_size(len(pair.classes), in_order=bool(settings.measures), means=settings.pool == "mean")
        reference, system = (pool_rows(rows, grid, settings.pool) for rows in (pair.reference, pair.system))
        cells = Cells("segment", reference, system, grid.start, grid.n_evaluated)
        by_runs = settings.compat == "sed_eval"
        of_soft = soft_cells(pair, cells) if plan.scores("segment", "soft") else cells
        columns |= count_cells(cells, of_soft, plan, hard=not by_runs)
        if kept or "segment" in plan.kept:
            samples |= {"segment.reference": reference, "segment.system": system}
        if settings.worst and settings.drops_segments:
            # Times of consecutive segments, as events of the first class, if there is one.
            file, begin, end = grid.runs()
            label, n = np.zeros(len(file), dtype=np.int32), len(file)
            runs = EventLifetimes(file.astype(np.int32), label, begin, end, np.zeros(n), np.ones(n))
            events["segments"] = runs.take(slice(None if pair.classes else 0))
        if plan.scores("ranking"):
            expected = np.array([name in pair.expected for name in pair.classes], dtype=bool)
            columns |= count_rankings(cells, expected, plan)
    if by_runs and plan.scores("segment", "hard"):
        _count_runs(pair, grid, columns)


def soft_cells(pair: Recordings, cells: Cells) -> Cells:
    """Return the segments of the soft reading; cells: the hard ones, the same if nothing is ignored.

    At each level a segment counts if no ignored value reaches the level. So the ignored value is subtracted
    from the values of both sides, which are 0 if it is larger.
    """
    if pair.ignored is None:
        return cells
    settings, grid = pair.settings, grid_of(pair, ignored=True)
    grid.check_size(len(pair.classes), means=settings.pool == "mean")
    sides = pair.reference, pair.system, joined(pair.ignored)
    reference, system, unknown = (pool_rows(rows, grid, settings.pool) for rows in sides)
    ours, theirs = (np.maximum(side - unknown, 0.0) for side in (reference, system))
    return Cells("segment", ours, theirs, grid.start, grid.n_evaluated)


def _count_runs(pair: Recordings, grid: Grid, columns: Columns) -> None:
    """Count the hard reading from runs of active segments: no cells are needed for it."""
    from sedeval_soft.measures.segment import count_beyond, count_hard_runs, runs_on_grid

    settings, n_classes = pair.settings, len(pair.classes)
    events, start, n_evaluated = rowwise_events(pair), grid.start, grid.n_evaluated
    if settings.compat == "sed_eval":
        from sedeval_soft.measures import sed_eval_rules

        length = settings.segment_length
        # There the system may make a file longer.
        start = sed_eval_rules.grid_start(pair.reach, length)
        n_evaluated = np.diff(start)
        reference, system = (sed_eval_rules.runs_on_roll(side, start, length) for side in events)
    else:
        reference, system = (runs_on_grid(side, grid) for side in events)
    columns |= columns_of("segment.hard", count_hard_runs(reference, system, start, n_classes))
    columns["segment.hard.n_cells"] = n_evaluated
    columns["segment.hard.beyond"] = count_beyond(system, start, n_evaluated, n_classes)


def not_ignored(pair: Recordings, reference: Timed, system: AnyTimed, rule: PairRule | None) -> AnyTimed:
    """Return the events of a system, hard ones or lifetimes, that are not left out as ignored.

    reference: its hard events. rule: the rule of candidate pairs; None for intersections.
    """
    if pair.ignored is None:
        return system
    from sedeval_soft.measures.ignored import without_ignored

    return without_ignored(ignored_events(pair), reference, system, len(pair.classes), rule)


def _count_events(pair: Recordings, columns: Columns, events: dict[str, EventLifetimes]) -> None:
    """Count events: matchings, intersections, and the lifetimes that thresholds need."""
    plan, n_classes, rule = pair.plan, len(pair.classes), pair_rule(pair.settings)
    reference, system = hard_events(pair)
    columns |= _count_hard_events(pair, reference, system)
    if not (plan.keeps_events or plan.cuts_reference_at_all_levels):
        return
    if plan.confuses_events:
        # Lives at the threshold are not enough: at 0, inclusive, rows of value 0 are also events.
        detections = not_ignored(pair, reference, system, rule)
        events["detected"] = EventLifetimes.from_events(detections)
    ours, theirs = pair.event_rows
    lifetimes = all_lifetimes(pair, theirs)
    if plan.keeps_events:
        # A soft reading is counted here and now; data that grow with the rows are not kept for it.
        own = not_ignored(pair, reference, lifetimes, rule)
        events |= {"reference": EventLifetimes.from_events(reference), "system": own}
    if plan.keeps_events and pair.ignored is not None:
        events["system of intersection"] = not_ignored(pair, reference, lifetimes, None)
    for length in plan.filters:
        from sedeval_soft.timeline.postprocess import postprocessed

        how = replace(pair.settings, median_filter=length, psds_median_filters=())
        of_filter = all_lifetimes(pair, pair.inside(postprocessed(pair.raw, how)))
        events[f"median {length}"] = not_ignored(pair, reference, of_filter, None)
    if plan.cuts_reference_at_all_levels:
        levels = all_lifetimes(pair, ours)
        columns |= _count_soft_events((levels, lifetimes), pair)
        if "soft" in plan.psds or plan.sweeps_events:
            events["levels"] = levels
        if "soft" in plan.psds and pair.ignored is not None:
            of_ignored = ignored_levels(pair).take(slice(None if n_classes else 0))
            # Its classes are not the evaluated classes.
            label = np.zeros_like(of_ignored.label)
            events |= {"ignored": replace(of_ignored, label=label, nested=False), "everything": lifetimes}


def left_out(pair: Recordings) -> tuple[int, int]:
    """Return the number of hard detections left out for ignored classes, and of ticks: for a remark.

    Detections are detections of events, else of intersections; 0 if neither is evaluated.
    """
    plan, detections = pair.plan, 0
    if plan.counts_events:
        reference, system = hard_events(pair)
        rule = pair_rule(pair.settings) if plan.scores("event") else None
        detections = len(system) - len(not_ignored(pair, reference, system, rule))
    return detections, int(ignored_ticks(pair).sum())


def _count_hard_events(pair: Recordings, reference: Events, everything: Events) -> Columns:
    """Return the hard readings; everything: all events of the system."""
    plan, settings, sizes = pair.plan, pair.settings, (len(pair.files), len(pair.classes))
    columns: Columns = {}
    if plan.scores("event", "hard"):
        rule = pair_rule(settings)
        system = not_ignored(pair, reference, everything, rule)
        matched = match_events(reference, system, sizes[1], rule, settings.matching)
        if settings.compat == "sed_eval":
            from sedeval_soft.measures import sed_eval_rules

            counts = sed_eval_rules.count_events(reference, system, *sizes, settings)
        else:
            counts = count_events(reference, system, *sizes, rule, matched=matched)
        columns = columns_of("event.hard", counts)
        columns["event.hard.matched"] = count_per_class(reference.take(matched >= 0), *sizes)
        deviations = count_deviations(reference, system, matched, *sizes)
        columns |= {f"event.hard.{name}": sums for name, sums in deviations.items()}
    if plan.scores("intersection", "hard"):
        from sedeval_soft.measures.intersections import Criteria, count_intersections

        system = not_ignored(pair, reference, everything, None)
        counts = count_intersections(reference, system, *sizes, Criteria.of(settings))
        columns |= columns_of("intersection.hard", counts)
    return columns


def _count_soft_events(sides: tuple[EventLifetimes, EventLifetimes], pair: Recordings) -> Columns:
    """Return the soft readings of events; sides: lifetimes at all levels."""
    settings, sizes = pair.settings, (len(pair.files), len(pair.classes))
    columns, ignored = Columns(), [] if pair.ignored is None else [ignored_levels(pair)]
    # The function for lifetimes at all levels, the function for events of one level, their last argument, and
    # the rule of candidate pairs, None for intersections.
    kinds: dict[str, tuple[_Count, _Count, Any, PairRule | None]] = {}
    if pair.plan.scores("event", "soft"):
        matched_by = pair_rule(settings)
        kinds["event"] = count_soft_events, count_events, matched_by, matched_by
    if pair.plan.scores("intersection", "soft"):
        from sedeval_soft.measures import intersections

        exact, hard = intersections.count_soft_intersections, intersections.count_intersections
        kinds["intersection"] = exact, hard, intersections.Criteria.of(settings), None
    for basis, (exact, hard, how, rule) in kinds.items():
        at_level = partial(_count_at_level, hard, how, rule, sizes)
        counts, sampled = None, None
        with suppress(TooManyOverlapsError):
            counts = None if ignored else exact(*sides, *sizes, how)
        if counts is None:
            counts, sampled = mean_over_levels(at_level, *sides, *ignored)
        # Number of levels if counts are a mean over fewer of them, else 0.
        n_levels = 0 if sampled is None else sampled[1]
        columns |= columns_of(f"{basis}.soft", counts)
        columns[f"{basis}.soft.levels"] = np.full(sizes[0], n_levels)
    return columns


def _count_at_level(
    hard: _Count,
    how: Any,  # noqa: ANN401 - a rule, or criteria
    rule: PairRule | None,
    sizes: tuple[int, int],
    ours: Events,
    theirs: Events,
    *ignored: Events,
) -> DetectionCounts:
    """Return the counts of the events of one level; hard, how, rule: see `_count_soft_events`."""
    for unknown in ignored:
        from sedeval_soft.measures.ignored import without_ignored

        theirs = without_ignored(unknown, ours, theirs, sizes[1], rule)
    return hard(ours, theirs, *sizes, how)
