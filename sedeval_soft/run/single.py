"""One process: a pair of tables in, a tally out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.activity import activities
from sedeval_soft.core.events import Events
from sedeval_soft.core.grid import Grid
from sedeval_soft.core.hard import hard_events, merges, rowwise_events
from sedeval_soft.core.lifetimes import EventLifetimes, lifetimes_of, separate
from sedeval_soft.core.pair import Pair, align
from sedeval_soft.core.room import check_room
from sedeval_soft.core.segments import pool_rows
from sedeval_soft.core.tally import Tally
from sedeval_soft.errors import counted
from sedeval_soft.fields import STEERING
from sedeval_soft.measures.detection import DetectionCounts
from sedeval_soft.measures.event.count import count_matched, match_events
from sedeval_soft.measures.event.measures import count_deviations
from sedeval_soft.measures.event.pairs import Collars
from sedeval_soft.measures.event.soft import count_soft_events
from sedeval_soft.run.cells import Cells, Columns, tally_cells, tally_ranking
from sedeval_soft.settings import READINGS, Settings
from sedeval_soft.tables.event_table import EventTable

_BYTES_PER_COUNT = 64
"""Memory that the counts of a basis and reading take for each file and class: eight numbers or so."""

_BYTES_PER_SCORE = 6000
"""The same for each class: its scores, with their names, as they are shown."""


def tally_pair(pair: Pair, settings: Settings, *, cells: bool = False) -> Tally:
    """Count everything that the scores of the settings' bases need.

    cells: whether the values of all segments are kept where no score needs them.
    """
    check_counts(len(pair.files), len(pair.classes), settings)
    grid = Grid.over(pair.reach_ticks, settings.segment_ticks, pair.length_ticks)
    sizes = {
        "length": pair.length_ticks,
        "n_segments": grid.n_segments,
        "n_evaluated_segments": grid.n_evaluated,
    }
    columns = Columns({}, sizes, {}, {})
    if settings.wants("segment") or settings.wants("ranking") or settings.tunes_by("segment"):
        _tally_segments(pair, settings, grid, columns, kept=cells and settings.wants("segment"))
    if settings.wants("clip") or settings.tunes_by("clip"):
        _tally_clips(pair, settings, columns)
    events = any(settings.wants(basis) or settings.tunes_by(basis) for basis in ("event", "intersection"))
    if events or settings.wants_psds:
        _tally_events(pair, settings, columns)
    return Tally(
        pair.files,
        pair.classes,
        columns.per_class,
        columns.per_file,
        columns.samples,
        columns.events,
        recipe_of(settings),
        pair.expected,
    )


def check_counts(n_files: int, n_classes: int, settings: Settings) -> None:
    """Refuse counts of more files and classes than memory can hold; raises RoomError.

    Every basis and reading counts some things in each file for each class.
    """
    check_room(
        n_files * bytes_per_file(n_classes, settings) + _families(settings) * _BYTES_PER_SCORE * n_classes,
        f"to count {counted(n_classes, 'class')} in {counted(n_files, 'file')}",
        "Names of classes may be in the wrong column; --classes and --only leave some out",
    )


def bytes_per_file(n_classes: int, settings: Settings) -> int:
    """Return the memory that the counts of a file take."""
    return _families(settings) * _BYTES_PER_COUNT * n_classes


def _families(settings: Settings) -> int:
    """Return how many bases and readings are counted."""
    wanted = sum(settings.wants(basis, reading) for basis, of in READINGS.items() for reading in of)
    return wanted + settings.tunes


def empty_tally(settings: Settings) -> Tally:
    """Return the tally of no files: all columns that one of these settings has, and nothing in them."""
    code, number = np.zeros(0, dtype=np.int32), np.zeros(0)
    nothing = EventTable.long((), (), code, code, number, number, number)
    return tally_pair(align(nothing, nothing, settings), settings)


def recipe_of(settings: Settings) -> str:
    """Return the settings as one line, every one that shapes a statistic."""
    values = settings.to_dict()
    return " ".join(f"{name}={value}" for name, value in values.items() if name not in STEERING)


def _tally_segments(pair: Pair, settings: Settings, grid: Grid, columns: Columns, *, kept: bool) -> None:
    sparse = settings.compat == "sed_eval" or settings.pool == "max"
    if kept or _needs_grid(settings) or not sparse:
        grid.check_size(len(pair.classes), in_order=bool(settings.measures), means=settings.pool == "mean")
        reference, system = (pool_rows(rows, grid, settings.pool) for rows in (pair.reference, pair.system))
        cells = Cells("segment", reference, system, grid.start, grid.n_evaluated)
        sparse = settings.compat == "sed_eval"
        tally_cells(cells, settings, columns, hard=not sparse)
        if kept:
            columns.samples.update({"segment.reference": reference, "segment.system": system})
        tally_ranking(cells, expected_of(pair), settings, columns)
    if sparse and settings.wants("segment", "hard"):
        _count_runs(pair, settings, grid, columns)


def _needs_grid(settings: Settings) -> bool:
    """Return whether the values of all segments are needed: hard counts alone are had without."""
    others = any(settings.wants("segment", reading) for reading in ("optimal", "soft"))
    others = others or settings.tunes_by("segment") or settings.sweeps("segment")
    listed = bool((settings.measures or settings.worst) and settings.wants("segment"))
    lowest = min(settings.threshold, settings.reference_cut)
    # What no row covers has the value 0, which such thresholds let pass.
    silence = lowest < 0 or (settings.inclusive and lowest <= 0)
    return others or settings.wants("ranking") or listed or silence


def _tally_clips(pair: Pair, settings: Settings, columns: Columns) -> None:
    from sedeval_soft.core.clips import clip_sides

    reference, system = clip_sides(pair)
    n_files = len(pair.files)
    evaluated = pair.in_reference.astype(np.int64)
    columns.per_file.update({"n_clips": np.ones(n_files, dtype=np.int64), "n_evaluated_clips": evaluated})
    tally_cells(Cells("clip", reference, system, np.arange(n_files + 1), evaluated), settings, columns)


def expected_of(pair: Pair) -> npt.NDArray[np.bool_]:
    """Return which classes the reference or the settings name, (n_classes,)."""
    return np.array([name in pair.expected for name in pair.classes], dtype=bool)


def _count_runs(pair: Pair, settings: Settings, grid: Grid, columns: Columns) -> None:
    """Count the hard reading from runs of active segments: no cells are needed for it."""
    from sedeval_soft.measures.segment.runs import count_beyond, count_hard_runs, runs_on_grid

    events = rowwise_events(pair, settings)
    start = grid.start
    n_evaluated = grid.n_evaluated
    if settings.compat == "sed_eval":
        from sedeval_soft.compat import sed_eval

        length = settings.segment_length
        # There the system may make a file longer.
        start = sed_eval.grid_start(pair.reach, length)
        n_evaluated = np.diff(start)
        reference, system = (sed_eval.runs_on_roll(side, start, length) for side in events)
    else:
        reference, system = (runs_on_grid(side, grid) for side in events)
    counts = count_hard_runs(reference, system, start, len(pair.classes))
    columns.enter("segment.hard", counts)
    beyond = count_beyond(system, start, n_evaluated, len(pair.classes))
    columns.enter_population("segment.hard", n_evaluated, beyond)


def _tally_events(pair: Pair, settings: Settings, columns: Columns) -> None:
    """Count what is made of events: collars, intersections, and the lifetimes that thresholds need."""
    wants = {basis: _wants(settings, basis) for basis in ("event", "intersection")}
    sizes = (len(pair.files), len(pair.classes))
    reference, system = hard_events(pair, settings)
    if wants["event"]["hard"]:
        _count_events(reference, system, sizes, settings, columns)
    if wants["intersection"]["hard"]:
        from sedeval_soft.measures.intersection.count import count_intersections
        from sedeval_soft.measures.intersection.criteria import Criteria

        counts = count_intersections(reference, system, *sizes, Criteria.of(settings))
        columns.enter("intersection.hard", counts)
    soft = settings.wants_psds_of("soft") or any(of["soft"] for of in wants.values())
    thresholds = settings.wants_psds or any(of["optimal"] for of in wants.values())
    thresholds = thresholds or any(map(settings.tunes_by, wants))
    ranked = wants["event"]["hard"] and "curves" in settings.measures
    confused = wants["event"]["hard"] and "confusion" in settings.measures
    swept = any(map(settings.sweeps, wants))
    kept = thresholds or ranked or confused or swept
    if not (soft or kept):
        return
    cut = EventLifetimes.from_events(reference)
    if confused:
        # Not what is alive at the threshold: at 0, inclusive, rows of value 0 are events, too.
        columns.events["detected"] = EventLifetimes.from_events(system)
    lifetimes = lifetimes_of(pair.system, merges(pair.system, settings))
    # A soft reading is counted here and now; what grows with the rows is not kept for it.
    columns.events.update({"reference": cut, "system": lifetimes} if kept else {})
    for length in settings.psds_median_filters if settings.wants_psds_of("hard") else ():
        from sedeval_soft.core.postprocess import postprocessed

        filtered = postprocessed(pair.raw, replace(settings, median_filter=length, psds_median_filters=()))
        columns.events[f"median {length}"] = lifetimes_of(filtered, merges(filtered, settings))
    if not (soft or swept):
        return
    levels = lifetimes_of(pair.reference, merges(pair.reference, settings))
    if wants["event"]["soft"]:
        columns.enter("event.soft", count_soft_events(levels, lifetimes, *sizes, Collars.of(settings)))
    if wants["intersection"]["soft"]:
        columns.enter("intersection.soft", _soft_intersections(pair, levels, lifetimes, settings))
    if settings.wants_psds_of("soft") or swept:
        columns.events["levels"] = levels


def _soft_intersections(
    pair: Pair, levels: EventLifetimes, lifetimes: EventLifetimes, settings: Settings
) -> DetectionCounts:
    from sedeval_soft.measures.intersection.criteria import Criteria
    from sedeval_soft.measures.soft_intersections import count_soft_activities, count_soft_pairs

    criteria, n_files = Criteria.of(settings), len(pair.files)
    nested = [merges(pair.system, settings), merges(pair.reference, settings) or separate(levels)]
    if all(nested):
        sides = activities(pair.reference), activities(pair.system)
        return count_soft_activities(*sides, n_files, criteria)
    return count_soft_pairs(levels, lifetimes, n_files, len(pair.classes), criteria)


def _wants(settings: Settings, basis: str) -> Mapping[str, bool]:
    return {reading: settings.wants(basis, reading) for reading in READINGS[basis]}


def _count_events(
    reference: Events, system: Events, sizes: tuple[int, int], settings: Settings, columns: Columns
) -> None:
    collars = Collars.of(settings)
    matched = match_events(reference, system, sizes[1], collars, settings.matching)
    if settings.compat == "sed_eval":
        from sedeval_soft.compat import sed_eval

        counts = sed_eval.count_events(
            reference, system, *sizes, sed_eval.collars_of(settings), settings.matching
        )
    else:
        counts = count_matched(reference, system, matched, *sizes, collars)
    columns.enter("event.hard", counts)
    deviations = count_deviations(reference, system, matched, *sizes)
    hits = np.bincount(
        reference.file[matched >= 0].astype(np.int64) * sizes[1] + reference.label[matched >= 0],
        minlength=sizes[0] * sizes[1],
    )
    columns.per_class["event.hard.matched"] = hits.astype(np.int64).reshape(sizes)
    columns.per_class.update({f"event.hard.{name}": sums for name, sums in deviations.items()})
