"""Why sed_eval's numbers differ from ours: its rules put in the place of ours, one after another.

Each step changes one rule and leaves the others. What a score changes by in a step is that rule's part of the
difference; the parts and what is left add up to all of it. How much belongs to which rule depends on the
order where two of them act on the same events; the order is that in which scores are made: times, matches,
rates, averages.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sedeval_soft.compat import sed_eval
from sedeval_soft.measures.averages import Averaged, averaged
from sedeval_soft.measures.detection import DetectionCounts, detection_scores
from sedeval_soft.measures.event.count import count_per_class
from sedeval_soft.measures.matching import maximum_matching
from sedeval_soft.measures.names import ScoreName
from sedeval_soft.measures.segment.measures import confusion_scores
from sedeval_soft.measures.segment.runs import Runs, count_beyond, count_hard_runs, runs_on_grid
from sedeval_soft.settings import Settings
from sedeval_soft.timeline.grid import Grid
from sedeval_soft.timeline.recordings import Pair, hard_events, rowwise_events

Value = float | int | None
Index = npt.NDArray[np.int64]
Table = dict[str, Averaged]

POOLED = "segments hold the mean"
ENDS = "ends and classes that only the system has"
EDGES = "float segment edges"
COLLARS = "float collars"
LEFTOVERS = "substitutions of leftovers"
UNDEFINED = "undefined rates and 2.2e-16"
ABSENT = "which classes macro averages"

CAUSES = {
    POOLED: "with --pool mean a segment is cut by its mean; sed_eval's is active where anything in it is",
    EDGES: "sed_eval takes floor and ceil of float quotients: onsets on the grid may begin a segment early",
    COLLARS: "sed_eval compares floats, so that 0.9 s and 1.1 s are more than 0.2 s apart",
    LEFTOVERS: "sed_eval pairs what one matching leaves over in row order, whatever the class",
    UNDEFINED: "sed_eval's F is undefined where precision or recall is, and 2.2e-16 is added to denominators",
    ABSENT: "sed_eval averages all classes with a defined value, absent ones too, and leaves out undetected",
}
"""Each rule of sed_eval's that differs from ours, and what it is."""

_COUNTED_AS_ZERO = frozenset({"precision"})
"""Measures that are undefined for a class that is never detected, and then count 0 in our averages."""


@dataclass(frozen=True, slots=True)
class Part:
    """What one rule does to a score; before and after are values, None where undefined."""

    cause: str
    before: Value
    after: Value

    @property
    def changes(self) -> bool:
        """Whether the rule matters to the score."""
        return not same(self.before, self.after)


def same(one: Value, other: Value) -> bool:
    """Return whether two values are equal to rounding, or both undefined."""
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)


Model = tuple[str, Table]
"""The rule that a model changes, and the values of all measures with it and those before."""


def models(pair: Pair, settings: Settings) -> dict[str, list[Model]]:
    """Return for `segment` and `event` the values after each of sed_eval's rules, the last with all of them.

    Nothing where `compat` says that all rules are followed already.
    """
    if settings.compat == "sed_eval":
        return {}
    found = {}
    if settings.wants("segment", "hard"):
        found["segment"] = _segment(pair, settings)
    if settings.wants("event", "hard"):
        found["event"] = _event(pair, settings)
    return found


def parts_of(
    name: ScoreName, ours: Value, steps: Sequence[Model], classes: Sequence[str]
) -> tuple[Part, ...]:
    """Return what each rule does to a score, all of them in order."""
    parts, before = [], ours
    for cause, table in steps:
        after = _value(table, name, classes, before)
        parts.append(Part(cause, before, after))
        before = after
    return tuple(parts)


def _value(table: Table, name: ScoreName, classes: Sequence[str], otherwise: Value) -> Value:
    measure = table.get(name.measure)
    if measure is None:
        return otherwise
    values = measure.classes if name.average is None else getattr(measure, name.average)
    if values is None:
        return otherwise
    value = float(values if name.class_name is None else values[classes.index(name.class_name)])
    return value if np.isfinite(value) else None


def _segment(pair: Pair, settings: Settings) -> list[Model]:
    events, n_classes = rowwise_events(pair, settings), len(pair.classes)
    grid = Grid.over(pair.reach_ticks, settings.segment_ticks, pair.length_ticks)

    def counted(sides: Sequence[Runs], start: Index) -> DetectionCounts:
        return count_hard_runs(sides[0], sides[1], start, n_classes).total()

    runs = [runs_on_grid(side, grid) for side in events]
    on_grid = counted(runs, grid.start)
    beyond = count_beyond(runs[1], grid.start, grid.n_evaluated, n_classes).sum(axis=0)
    expected = np.array([name in pair.expected for name in pair.classes], dtype=bool)
    length = settings.segment_length
    start = sed_eval.grid_start(pair.reach, length)
    on_roll = counted([sed_eval.runs_on_roll(side, start, length) for side in events], start)
    n_segments = np.asarray(start[-1])

    def by_our_rules(counts: DetectionCounts, cells: int) -> Table:
        return detection_scores(counts) | confusion_scores(counts, np.asarray(cells))

    theirs = sed_eval.hard_scores(on_roll, n_segments)
    steps = [(EDGES, by_our_rules(on_roll, int(n_segments))), *_averaged(theirs, on_roll)]
    if not np.array_equal(pair.length, pair.reach) or not expected.all():
        steps.insert(0, (ENDS, by_our_rules(on_grid, int(grid.start[-1]))))
    if settings.pool == "mean":
        cells = np.asarray(grid.n_evaluated.sum())
        ours = detection_scores(on_grid) | confusion_scores(on_grid, cells, beyond, expected)
        steps.insert(0, (POOLED, ours))
    return steps


def _event(pair: Pair, settings: Settings) -> list[Model]:
    reference, system = hard_events(pair, settings)
    sizes, collars = (len(pair.files), len(pair.classes)), sed_eval.collars_of(settings)
    theirs = sed_eval.count_events(reference, system, *sizes, collars, settings.matching)
    # Their matches, but our substitutions: as many pairs as there can be, whatever the class.
    groups = reference.file.astype(np.int64), system.file.astype(np.int64)
    pairs = maximum_matching(
        *sed_eval.candidates(reference, system, *groups, collars), len(reference), len(system)
    )
    most = np.bincount(reference.file[pairs >= 0], minlength=sizes[0])
    n_ref, n_sys = (count_per_class(side, *sizes).sum(axis=1) for side in (reference, system))
    ours = replace(
        theirs,
        substitutions=most - theirs.tp.sum(axis=1),
        deletions=n_ref - most,
        insertions=n_sys - most,
    )
    return [
        (COLLARS, detection_scores(ours.total())),
        (LEFTOVERS, detection_scores(theirs.total())),
        *_averaged(sed_eval.hard_scores(theirs.total()), theirs.total()),
    ]


def _averaged(theirs: Table, counts: DetectionCounts) -> list[Model]:
    """Return their values of classes averaged by our rule, then by theirs."""
    ours = {
        name: Averaged(
            of.classes,
            of.micro,
            averaged(
                of.classes, None, counts.n_ref, undefined=0.0 if name in _COUNTED_AS_ZERO else None
            ).macro,
        )
        for name, of in theirs.items()
        if of.classes is not None
    }
    return [(UNDEFINED, dict(theirs) | ours), (ABSENT, dict(theirs))]


def touching(pair: Pair, settings: Settings) -> Mapping[str, tuple[int, int]]:
    """Return by side how many active rows there are, and as how many events they were given to sed_eval.

    Only sides where these differ: rows that touch are one event there, as in our event-based scores.
    """
    rows, events = rowwise_events(pair, settings), hard_events(pair, settings)
    sides = zip(("reference", "system"), rows, events, strict=True)
    return {side: (len(of), len(joined)) for side, of, joined in sides if len(of) != len(joined)}
