"""`check --with sed_eval`: the hard scores once more, computed by the sed_eval package, and why they differ.

The causes of a difference are its rules, put in the place of ours one after another; each step changes one
rule and leaves the others. What a score changes by in a step is that rule's part of the difference; the parts
and what is left add up to all of it. How much belongs to which rule depends on the order where two of them
act on the same events; the order is that in which scores are made: times, matches, rates, averages.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from sedeval_soft.arrays import Index
from sedeval_soft.errors import SettingsError
from sedeval_soft.evaluation.scores import finite
from sedeval_soft.interop.second_opinion import Comparison, Value, comparison_text, value_at
from sedeval_soft.measures import sed_eval_rules as rules
from sedeval_soft.measures.base import Averaged, averaged
from sedeval_soft.measures.detection import DetectionCounts, confusion_scores, detection_scores
from sedeval_soft.measures.event import count_per_class
from sedeval_soft.measures.matching import maximum_matching
from sedeval_soft.measures.registry import ScoreName
from sedeval_soft.measures.segment import Runs, count_beyond, count_hard_runs, runs_on_grid
from sedeval_soft.measures.tally import Tally
from sedeval_soft.plan import Plan
from sedeval_soft.settings import Settings
from sedeval_soft.timeline.events import Events
from sedeval_soft.timeline.recordings import Recordings, grid_of, hard_events, rowwise_events

Table = dict[str, Averaged]

POOLED = "segments hold the mean"
ENDS = "ends and classes that only the system has"
EDGES = "float segment edges"
COLLARS = "float collars"
LEFTOVERS = "substitutions of leftovers"
UNDEFINED = "undefined rates and 2.2e-16"
ABSENT = "which classes macro averages"

CAUSES = {
    POOLED: "with --set pool=mean a segment is cut by its mean; sed_eval's is active where anything in it is",
    EDGES: "sed_eval takes floor and ceil of float quotients: onsets on the grid may begin a segment early",
    COLLARS: "sed_eval compares floats, so that 0.9 s and 1.1 s are more than 0.2 s apart",
    LEFTOVERS: "sed_eval pairs what one matching leaves over in row order, whatever the class",
    UNDEFINED: "sed_eval's F is undefined where precision or recall is, and 2.2e-16 is added to denominators",
    ABSENT: "sed_eval averages all classes with a defined value, absent ones too, and leaves out undetected",
}
"""Each rule of sed_eval's that differs from ours, and what it is."""

_SAME = (
    *("precision", "recall", "error_rate", "substitution_rate", "deletion_rate", "insertion_rate"),
    *("sensitivity", "specificity", "accuracy", "balanced_accuracy"),
)
_MEASURES = {"f_measure": "f1", "Nref": "n_ref", "Nsys": "n_sys"} | dict(zip(_SAME, _SAME, strict=True))
"""Our names of what sed_eval's results have."""


def refuse_settings(settings: Settings) -> None:
    """Raise SettingsError where sed_eval has no such setting, or nothing of its is evaluated."""
    if settings.has_regions:
        raise SettingsError("sed_eval knows no regions; expected no --regions and no after_shots")
    plan = Plan.of(settings)
    if settings.ignore_class is not None:
        raise SettingsError("sed_eval evaluates all time; expected no ignored classes")
    if not (plan.scores("segment", "hard") or plan.scores("event", "hard")):
        raise SettingsError("check needs hard segment- or event-based scores; --only leaves them out")
    if not plan.scores("event", "hard"):
        return
    if settings.match_by == "iou":
        raise SettingsError("sed_eval matches events by collars; expected --set match_by=collar")
    if settings.onset and settings.offset and settings.onset_collar != settings.offset_collar:
        raise SettingsError("sed_eval has one collar: expected equal --onset-collar and --offset-collar")
    collar = settings.onset_collar if settings.onset else settings.offset_collar
    if collar <= 0 or settings.offset_collar_rate > 1:
        raise SettingsError("sed_eval needs a collar above 0 and an offset collar rate of at most 1")


def second_opinion(pair: Recordings, tally: Tally, settings: Settings, ours: Mapping[str, Value]) -> str:  # noqa: ARG001
    """Return a table of sed_eval's scores beside ours, and why they differ."""
    rows, events = rowwise_events(pair), hard_events(pair)
    sizes = {side: (len(rows[i]), len(events[i])) for i, side in enumerate(("reference", "system"))}
    notes = [
        f"{side}: {given} active rows, of which those that touch are one event, were given as {joined}."
        for side, (given, joined) in sizes.items()
        if given != joined
    ]
    return comparison_text("sed_eval", check_sed_eval(pair, settings, ours), CAUSES, notes)


def check_sed_eval(pair: Recordings, settings: Settings, ours: Mapping[str, Value]) -> list[Comparison]:
    """Score a pair with sed_eval and set its hard scores beside ours.

    sed_eval gets the events that our hard reading sees, and our evaluated length of each file.
    Raises SettingsError where sed_eval has no such setting.
    """
    refuse_settings(settings)
    if "None" in pair.classes:
        raise SettingsError("sed_eval reads a class called 'None' as no class, so it cannot be asked")
    plan = Plan.of(settings)
    compared = []
    for basis, steps_of in (("segment", _segment_steps), ("event", _event_steps)):
        if not plan.scores(basis, "hard"):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = dict(_scores(pair, settings, basis))
        # With `compat` all rules are followed already.
        tables = [] if settings.compat == "sed_eval" else steps_of(pair, settings)
        for name in [name for name in theirs if name in ours]:
            parsed, steps, value = ScoreName.parse(name), [], ours[name]
            for cause, table in tables:
                value = value_at(table.get(parsed.measure), parsed, pair.classes, value)
                steps.append((cause, value))
            compared.append(Comparison(name, ours[name], theirs[name], tuple(steps)))
    return compared


def _scores(pair: Recordings, settings: Settings, basis: str) -> Iterator[tuple[str, Value]]:
    """Yield sed_eval's results under our names."""
    from sed_eval.sound_event import EventBasedMetrics, SegmentBasedMetrics

    lengths: list[dict[str, float]] = [{} for _ in pair.files]
    if basis == "segment":
        metrics = SegmentBasedMetrics(list(pair.classes), time_resolution=float(settings.segment_length))
        events = rowwise_events(pair)
        lengths = [{"evaluated_length_seconds": length} for length in pair.reach.tolist()]
    else:
        metrics = EventBasedMetrics(
            list(pair.classes),
            evaluate_onset=settings.onset,
            evaluate_offset=settings.offset,
            t_collar=float(settings.onset_collar if settings.onset else settings.offset_collar),
            percentage_of_length=float(settings.offset_collar_rate),
            event_matching_type=settings.matching,
            empty_system_output_handling="zero_score",
        )
        events = hard_events(pair)
    for *sides, length in zip(*_lists(events, pair), lengths, strict=True):
        metrics.evaluate(*sides, **length)
    by_class = metrics.results_class_wise_metrics()
    results = {
        ".micro": metrics.results_overall_metrics(),
        ".macro": metrics.results_class_wise_average_metrics(),
        **{f"[{label}]": by_class[label] for label in by_class if label in pair.classes},
    }
    for end, groups in results.items():
        values = {name: value for group in groups.values() for name, value in group.items()}
        for theirs, ours in _MEASURES.items():
            if theirs in values:
                yield f"{basis}.hard.{ours}{end}", finite(float(values[theirs]))


def _lists(sides: Sequence[Events], pair: Recordings) -> list[list[Any]]:
    """Return sed_eval's event list of each file of each side, events in their order."""
    from dcase_util.containers import MetaDataContainer

    lists = []
    for events in sides:
        order = np.argsort(events.file, kind="stable")
        bounds = np.searchsorted(events.file[order], np.arange(len(pair.files) + 1))
        columns = (events.label[order], events.onset_seconds[order], events.offset_seconds[order])
        rows = [
            {"event_label": pair.classes[label], "onset": onset, "offset": offset}
            for label, onset, offset in zip(*(column.tolist() for column in columns), strict=True)
        ]
        lists.append([MetaDataContainer(rows[begin:end]) for begin, end in pairwise(bounds.tolist())])
    return lists


_Step = tuple[str, Table]
"""A rule, and the values of all measures with it and those before it."""


def _segment_steps(pair: Recordings, settings: Settings) -> list[_Step]:
    events, n_classes = rowwise_events(pair), len(pair.classes)
    grid = grid_of(pair)

    def counted(sides: Sequence[Runs], start: Index) -> DetectionCounts:
        return count_hard_runs(sides[0], sides[1], start, n_classes).total()

    runs = [runs_on_grid(side, grid) for side in events]
    on_grid = counted(runs, grid.start)
    beyond = count_beyond(runs[1], grid.start, grid.n_evaluated, n_classes).sum(axis=0)
    expected = np.array([name in pair.expected for name in pair.classes], dtype=bool)
    length = settings.segment_length
    start = rules.grid_start(pair.reach, length)
    on_roll = counted([rules.runs_on_roll(side, start, length) for side in events], start)
    n_segments = np.asarray(start[-1])

    def by_our_rules(counts: DetectionCounts, cells: int) -> Table:
        return detection_scores(counts) | confusion_scores(counts, np.asarray(cells))

    theirs = rules.hard_scores(on_roll, n_segments)
    steps = [(EDGES, by_our_rules(on_roll, int(n_segments))), *_averaged(theirs, on_roll)]
    if not np.array_equal(pair.length, pair.reach) or not expected.all():
        steps.insert(0, (ENDS, by_our_rules(on_grid, int(grid.start[-1]))))
    if settings.pool == "mean":
        cells = np.asarray(grid.n_evaluated.sum())
        ours = detection_scores(on_grid) | confusion_scores(on_grid, cells, beyond, expected)
        steps.insert(0, (POOLED, ours))
    return steps


def _event_steps(pair: Recordings, settings: Settings) -> list[_Step]:
    reference, system = hard_events(pair)
    sizes = len(pair.files), len(pair.classes)
    theirs = rules.count_events(reference, system, *sizes, settings)
    # Their matches, but our substitutions: as many pairs as there can be, whatever the class.
    groups = reference.file.astype(np.int64), system.file.astype(np.int64)
    pairs = maximum_matching(
        *rules.candidates(reference, system, *groups, settings), len(reference), len(system)
    )
    most = np.bincount(reference.file[pairs >= 0], minlength=sizes[0])
    n_ref, n_sys = (count_per_class(side, *sizes).sum(axis=1) for side in (reference, system))
    ours = theirs._replace(
        substitutions=most - theirs.tp.sum(axis=1),
        deletions=n_ref - most,
        insertions=n_sys - most,
    )
    return [
        (COLLARS, detection_scores(ours.total())),
        (LEFTOVERS, detection_scores(theirs.total())),
        *_averaged(rules.hard_scores(theirs.total()), theirs.total()),
    ]


def _averaged(theirs: Table, counts: DetectionCounts) -> list[_Step]:
    """Return their values of classes averaged by our rule, then by theirs."""
    ours = dict(theirs)
    for name, measure in theirs.items():
        if measure.classes is not None:
            # Of a class that is never detected precision is undefined, and counts 0 in our averages.
            undefined = 0.0 if name == "precision" else None
            by_our_rule = averaged(measure.classes, None, counts.n_ref, undefined=undefined)
            ours[name] = Averaged(measure.classes, measure.micro, by_our_rule.macro)
    return [(UNDEFINED, ours), (ABSENT, theirs)]
