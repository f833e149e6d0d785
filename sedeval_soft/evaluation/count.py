"""From a pair of tables to a tally: everything that happens to rows happens here."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sedeval_soft.errors import counted
from sedeval_soft.fields import STEERING
from sedeval_soft.measures.detection import PER_CLASS, PER_FILE, DetectionCounts
from sedeval_soft.measures.divergence import KL, PROPER, SOFT, count_divergence
from sedeval_soft.measures.event import (
    Collars,
    count_deviations,
    count_matched,
    count_per_class,
    count_soft_events,
    match_events,
)
from sedeval_soft.measures.ranking import count_ranking
from sedeval_soft.measures.segment import count_files, count_hard, count_soft
from sedeval_soft.measures.tally import ClassColumn, Column, Tally
from sedeval_soft.memory import check_room
from sedeval_soft.plan import Plan
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.timeline.events import Events, activities
from sedeval_soft.timeline.grid import Grid, pool_rows
from sedeval_soft.timeline.lifetimes import EventLifetimes, lifetimes_of, separate
from sedeval_soft.timeline.recordings import (
    Recordings,
    align,
    detected,
    hard_events,
    merges,
    positive,
    rowwise_events,
)

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Index = npt.NDArray[np.int64]

_BYTES_PER_COUNT = 64
"""Memory that the counts of a basis and reading take for each file and class: eight numbers or so."""

_BYTES_PER_SCORE = 6000
"""The same for each class: its scores, with their names, as they are shown."""


def tally_pair(pair: Recordings, settings: Settings, *, cells: bool = False) -> Tally:
    """Count everything that the scores of the settings' bases need.

    cells: whether the values of all segments are kept where no score needs them.
    """
    plan = Plan.of(settings)
    check_counts(len(pair.files), len(pair.classes), settings)
    grid = Grid.over(pair.reach_ticks, settings.segment_ticks, pair.length_ticks)
    sizes = {
        "length": pair.length_ticks,
        "n_segments": grid.n_segments,
        "n_evaluated_segments": grid.n_evaluated,
    }
    columns = Columns({}, sizes, {}, {})
    if plan.counts_segments:
        _count_segments(pair, plan, grid, columns, kept=cells and plan.scores("segment"))
    if plan.counts_clips:
        _count_clips(pair, plan, columns)
    if plan.counts_events:
        _count_events(pair, plan, columns)
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
    n_families = len(Plan.of(settings).families) + settings.tunes
    check_room(
        n_files * bytes_per_file(n_classes, settings) + n_families * _BYTES_PER_SCORE * n_classes,
        f"to count {counted(n_classes, 'class')} in {counted(n_files, 'file')}",
        "Names of classes may be in the wrong column; --classes and --only leave some out",
    )


def bytes_per_file(n_classes: int, settings: Settings) -> int:
    """Return the memory that the counts of a file take."""
    return (len(Plan.of(settings).families) + settings.tunes) * _BYTES_PER_COUNT * n_classes


def empty_tally(settings: Settings) -> Tally:
    """Return the tally of no files: all columns that one of these settings has, and nothing in them."""
    code, number = np.zeros(0, dtype=np.int32), np.zeros(0)
    nothing = EventTable.long((), (), code, code, number, number, number)
    return tally_pair(align(nothing, nothing, settings), settings)


def recipe_of(settings: Settings) -> str:
    """Return the settings as one line, every one that shapes a statistic."""
    values = settings.to_dict()
    return " ".join(f"{name}={value}" for name, value in values.items() if name not in STEERING)


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a tally in the making; see `Tally`."""

    per_class: dict[str, ClassColumn]
    per_file: dict[str, Column]
    samples: dict[str, Column]
    events: dict[str, EventLifetimes]

    def enter(self, prefix: str, counts: DetectionCounts) -> None:
        """Enter counts of detection below a prefix."""
        self.per_class.update({f"{prefix}.{name}": getattr(counts, name) for name in PER_CLASS})
        self.per_file.update({f"{prefix}.{name}": getattr(counts, name) for name in PER_FILE})

    def enter_population(self, prefix: str, n_evaluated: Index, beyond: Index) -> None:
        """Enter how many cells each file has, and what the system has beyond them, (n_files, n_classes)."""
        self.per_file[f"{prefix}.n_cells"] = n_evaluated
        self.per_class[f"{prefix}.beyond"] = beyond


@dataclass(frozen=True, slots=True)
class Cells:
    """The values of all cells of a basis, `segment` or `clip`.

    reference, system: (n_classes, n_cells). start: (n_files + 1,) the first cell of each file. n_evaluated:
    (n_files,) how many cells of each file are evaluated, its first ones. Others lie beyond what is known of a
    file without the system: what it says there may be false alarms, and nothing else is counted of them.
    """

    basis: str
    reference: Floats
    system: Floats
    start: Index
    n_evaluated: Index

    def evaluated(self) -> Cells:
        """Return the evaluated cells alone."""
        inside = evaluated_cells(np.diff(self.start), self.n_evaluated)
        if inside is None:
            return self
        start = np.append(0, np.cumsum(self.n_evaluated))
        return Cells(self.basis, self.reference[:, inside], self.system[:, inside], start, self.n_evaluated)

    def of_classes(self, some: Bools) -> Cells:
        """Return the cells of some classes; some: (n_classes,)."""
        return self if some.all() else replace(self, reference=self.reference[some], system=self.system[some])


def evaluated_cells(n_cells: Index, n_evaluated: Index) -> Bools | None:
    """Return which cells are evaluated, the first ones of each file; None where all are.

    n_cells, n_evaluated: (n_files,).
    """
    if np.array_equal(n_cells, n_evaluated):
        return None
    start = np.repeat(np.cumsum(n_cells) - n_cells, n_cells)
    inside: Bools = np.arange(len(start)) - start < np.repeat(n_evaluated, n_cells)
    return inside


def _count_segments(pair: Recordings, plan: Plan, grid: Grid, columns: Columns, *, kept: bool) -> None:
    """Count segments on the grid of their values, or the hard reading from runs of active segments."""
    settings = plan.settings
    by_runs = settings.compat == "sed_eval" or settings.pool == "max"
    if kept or plan.needs_grid or not by_runs:
        grid.check_size(len(pair.classes), in_order=bool(settings.measures), means=settings.pool == "mean")
        reference, system = (pool_rows(rows, grid, settings.pool) for rows in (pair.reference, pair.system))
        cells = Cells("segment", reference, system, grid.start, grid.n_evaluated)
        by_runs = settings.compat == "sed_eval"
        count_cells(cells, plan, columns, hard=not by_runs)
        if kept:
            columns.samples.update({"segment.reference": reference, "segment.system": system})
        count_rankings(cells, expected_of(pair), plan, columns)
    if by_runs and plan.scores("segment", "hard"):
        _count_runs(pair, plan, grid, columns)


def _count_clips(pair: Recordings, plan: Plan, columns: Columns) -> None:
    from sedeval_soft.timeline.recordings import clip_sides

    reference, system = clip_sides(pair)
    n_files = len(pair.files)
    evaluated = pair.in_reference.astype(np.int64)
    columns.per_file.update({"n_clips": np.ones(n_files, dtype=np.int64), "n_evaluated_clips": evaluated})
    count_cells(Cells("clip", reference, system, np.arange(n_files + 1), evaluated), plan, columns)


def expected_of(pair: Recordings) -> Bools:
    """Return which classes the reference or the settings name, (n_classes,)."""
    return np.array([name in pair.expected for name in pair.classes], dtype=bool)


def count_cells(cells: Cells, plan: Plan, columns: Columns, *, hard: bool = True) -> None:
    """Count what the scores of a basis need; hard: whether the hard reading is counted here."""
    basis, reference, system, start = cells.basis, cells.reference, cells.system, cells.start
    settings = plan.settings
    if plan.scores(basis, "hard") and hard:
        found = detected(system, settings)
        counts = count_hard(positive(reference, settings), found, start)
        columns.enter(f"{basis}.hard", counts)
        inside = evaluated_cells(np.diff(start), cells.n_evaluated)
        beyond = np.zeros_like(counts.n_sys) if inside is None else count_files(found & ~inside, start)
        columns.enter_population(f"{basis}.hard", cells.n_evaluated, beyond)
    if plan.scores(basis, "soft"):
        columns.enter(f"{basis}.soft", count_soft(reference, system, start, settings.t_norm))
        own = cells.evaluated()
        names = SOFT if plan.asks_for("divergence") else KL
        _count_divergence(own, own.reference, f"{basis}.soft", names, settings, columns)
    if plan.scores(basis, "hard") and plan.asks_for("divergence"):
        own = cells.evaluated()
        cut = positive(own.reference, settings)
        _count_divergence(own, cut, f"{basis}.hard", PROPER, settings, columns)
    if plan.keeps_cells(basis):
        columns.samples.update({f"{basis}.reference": reference, f"{basis}.system": system})


def _count_divergence(
    cells: Cells,
    reference: Floats | Bools,
    prefix: str,
    names: tuple[str, ...],
    settings: Settings,
    columns: Columns,
) -> None:
    counts = count_divergence(reference, cells.system, cells.start, names, settings.epsilon)
    columns.per_class.update({f"{prefix}.{name}": total for name, total in counts.items()})


def count_rankings(cells: Cells, expected: Bools, plan: Plan, columns: Columns) -> None:
    """Count the order of the classes in each segment.

    expected: (n_classes,) those that are put in order: classes that only the system names would have others
    look better, being silent wherever it likes.
    """
    if not plan.scores("ranking"):
        return
    settings = plan.settings
    cells = cells.evaluated().of_classes(expected)
    for reading in ("hard", "soft"):
        if not plan.scores("ranking", reading):
            continue
        sides: tuple[Floats | Bools, Bools | None] = cells.reference, None
        if reading == "hard":
            sides = positive(cells.reference, settings), detected(cells.system, settings)
        counts = count_ranking(sides[0], cells.system, cells.start, sides[1], settings.epsilon)
        prefix = f"ranking.{reading}"
        columns.per_file.update({f"{prefix}.{name}": sums for name, sums in counts.per_file.items()})
        for name, sums in counts.per_class.items():
            columns.per_class[f"{prefix}.{name}"] = of_all = np.zeros((len(sums), len(expected)))
            of_all[:, expected] = sums


def _count_runs(pair: Recordings, plan: Plan, grid: Grid, columns: Columns) -> None:
    """Count the hard reading from runs of active segments: no cells are needed for it."""
    from sedeval_soft.measures.segment import count_beyond, count_hard_runs, runs_on_grid

    settings = plan.settings
    events = rowwise_events(pair, settings)
    start = grid.start
    n_evaluated = grid.n_evaluated
    if settings.compat == "sed_eval":
        from sedeval_soft.measures import sed_eval_rules

        length = settings.segment_length
        # There the system may make a file longer.
        start = sed_eval_rules.grid_start(pair.reach, length)
        n_evaluated = np.diff(start)
        reference, system = (sed_eval_rules.runs_on_roll(side, start, length) for side in events)
    else:
        reference, system = (runs_on_grid(side, grid) for side in events)
    counts = count_hard_runs(reference, system, start, len(pair.classes))
    columns.enter("segment.hard", counts)
    beyond = count_beyond(system, start, n_evaluated, len(pair.classes))
    columns.enter_population("segment.hard", n_evaluated, beyond)


def _count_events(pair: Recordings, plan: Plan, columns: Columns) -> None:
    """Count what is made of events: collars, intersections, and the lifetimes that thresholds need."""
    settings, sizes = plan.settings, (len(pair.files), len(pair.classes))
    reference, system = hard_events(pair, settings)
    _count_hard_events(reference, system, sizes, plan, columns)
    if not (plan.keeps_events or plan.cuts_reference_at_all_levels):
        return
    if plan.confuses_events:
        # Not what is alive at the threshold: at 0, inclusive, rows of value 0 are events, too.
        columns.events["detected"] = EventLifetimes.from_events(system)
    lifetimes = lifetimes_of(pair.system, merges(pair.system, settings))
    if plan.keeps_events:
        # A soft reading is counted here and now; what grows with the rows is not kept for it.
        columns.events.update({"reference": EventLifetimes.from_events(reference), "system": lifetimes})
    for length in plan.filters:
        from sedeval_soft.timeline.postprocess import postprocessed

        filtered = postprocessed(pair.raw, replace(settings, median_filter=length, psds_median_filters=()))
        columns.events[f"median {length}"] = lifetimes_of(filtered, merges(filtered, settings))
    if not plan.cuts_reference_at_all_levels:
        return
    levels = lifetimes_of(pair.reference, merges(pair.reference, settings))
    if plan.scores("event", "soft"):
        columns.enter("event.soft", count_soft_events(levels, lifetimes, *sizes, Collars.of(settings)))
    if plan.scores("intersection", "soft"):
        columns.enter("intersection.soft", _soft_intersections(pair, levels, lifetimes, settings))
    if "soft" in plan.psds or plan.sweeps_events:
        columns.events["levels"] = levels


def _count_hard_events(
    reference: Events, system: Events, sizes: tuple[int, int], plan: Plan, columns: Columns
) -> None:
    settings = plan.settings
    if plan.scores("event", "hard"):
        collars = Collars.of(settings)
        matched = match_events(reference, system, sizes[1], collars, settings.matching)
        if settings.compat == "sed_eval":
            from sedeval_soft.measures import sed_eval_rules

            theirs = sed_eval_rules.collars_of(settings)
            counts = sed_eval_rules.count_events(reference, system, *sizes, theirs, settings.matching)
        else:
            counts = count_matched(reference, system, matched, *sizes, collars)
        columns.enter("event.hard", counts)
        deviations = count_deviations(reference, system, matched, *sizes)
        columns.per_class["event.hard.matched"] = count_per_class(reference.take(matched >= 0), *sizes)
        columns.per_class.update({f"event.hard.{name}": sums for name, sums in deviations.items()})
    if plan.scores("intersection", "hard"):
        from sedeval_soft.measures.intersection_counts import Criteria, count_intersections

        counts = count_intersections(reference, system, *sizes, Criteria.of(settings))
        columns.enter("intersection.hard", counts)


def _soft_intersections(
    pair: Recordings, levels: EventLifetimes, lifetimes: EventLifetimes, settings: Settings
) -> DetectionCounts:
    from sedeval_soft.measures.intersection_counts import Criteria
    from sedeval_soft.measures.soft_intersections import count_soft_activities, count_soft_pairs

    criteria, n_files = Criteria.of(settings), len(pair.files)
    nested = [merges(pair.system, settings), merges(pair.reference, settings) or separate(levels)]
    if all(nested):
        sides = activities(pair.reference), activities(pair.system)
        return count_soft_activities(*sides, n_files, criteria)
    return count_soft_pairs(levels, lifetimes, n_files, len(pair.classes), criteria)
