"""sed_eval: the hard scores once more, computed by the sed_eval package, and by its rules here."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from sedeval_soft.apps.second_opinion.comparison import Value, refuse
from sedeval_soft.evaluation import finite, score_tally, tally_pair
from sedeval_soft.measures import Tally
from sedeval_soft.plan import Plan
from sedeval_soft.settings import Settings
from sedeval_soft.timeline import Events, Recordings, hard_events, rowwise_events

CAUSES = {
    "segments": "sed_eval's are active where anything in them is (pool=max); it takes floor and ceil of "
    "float quotients, so that onsets on the grid may begin a segment early",
    "events": "sed_eval compares floats, so that 0.9 s and 1.1 s are more than 0.2 s apart, and pairs what "
    "one matching leaves over in row order, whatever the class",
    "undefined rates": "sed_eval's F is undefined where precision or recall is, and 2.2e-16 is added to "
    "denominators",
    "macro averages": "sed_eval averages all classes with a defined value, absent ones too, and leaves out "
    "undetected",
}
"""The rules of sed_eval that differ from ours."""

_SAME = (
    *("precision", "recall", "error_rate", "substitution_rate", "deletion_rate", "insertion_rate"),
    *("sensitivity", "specificity", "accuracy", "balanced_accuracy"),
)
_MEASURES = {"f_measure": "f1", "Nref": "n_ref", "Nsys": "n_sys"} | dict(zip(_SAME, _SAME, strict=True))
"""Our names of what sed_eval's results have."""


def refuse_settings(settings: Settings) -> None:
    """Raise SettingsError where sed_eval has no such setting, or nothing of its is evaluated."""
    segments, events = (Plan.of(settings).scores(basis, "hard") for basis in ("segment", "event"))
    both = settings.onset and settings.offset
    collar = settings.onset_collar if settings.onset else settings.offset_collar
    refuse(
        (settings.has_regions, "sed_eval knows no regions; expected no --regions and no after_shots"),
        (settings.ignore_class is not None,
         "sed_eval evaluates all time; expected no ignored classes"),
        (not (segments or events),
         "sed_eval needs hard segment- or event-based scores; --only leaves them out"),
        (events and settings.match_by == "iou",
         "sed_eval matches events by collars; expected match_by=collar"),
        (events and both and settings.onset_collar != settings.offset_collar,
         "sed_eval has one collar; expected equal --onset-collar and --offset-collar"),
        (events and (collar <= 0 or settings.offset_collar_rate > 1),
         "sed_eval needs a collar above 0 and an offset collar rate of at most 1"),
    )  # fmt: skip


def opinion(
    pair: Recordings,
    tally: Tally,  # noqa: ARG001 - the other package needs it
    settings: Settings,
) -> tuple[dict[str, Value], list[str]]:
    """Return the hard scores of sed_eval by our names, and notes for the reader.

    sed_eval gets the events that our hard reading sees, and our evaluated length of each file.
    """
    refuse(
        ("None" in pair.classes, "sed_eval reads a class called 'None' as no class, so it cannot be asked")
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bases = (basis for basis in ("segment", "event") if Plan.of(settings).scores(basis, "hard"))
        theirs = {name: value for basis in bases for name, value in _scores(pair, settings, basis)}
    sides = zip(("reference", "system"), rowwise_events(pair), hard_events(pair), strict=True)
    sizes = [(side, len(rows), len(joined)) for side, rows, joined in sides]
    notes = [
        f"{side}: {given} active rows, of which those that touch are one event, were given as {joined}."
        for side, given, joined in sizes
        if given != joined
    ]
    return theirs, notes


def by_its_rules(pair: Recordings, settings: Settings) -> Mapping[str, Value]:
    """Return our hard scores with the rules of sed_eval; none if they follow these anyway."""
    if settings.compat:
        return {}
    chosen = _with_its_rules(settings)
    scores = score_tally(tally_pair(pair._replace(plan=Plan.of(chosen))), chosen)
    return {name: score.value for name, score in scores.items()}


def _with_its_rules(settings: Settings) -> Settings:
    """Return the settings of the hard reading alone, with the rules of sed_eval."""
    plan = Plan.of(settings)
    only = tuple(f"{basis}.hard" for basis in ("segment", "event") if plan.scores(basis, "hard"))
    return replace(
        settings, compat="sed_eval", only=only, pool="max", measures=(), means=(), reference_sweep=False,
        psds=None, alpha_ct=None, alpha_st=None, max_efpr=None, psds_median_filters=(), ci=None, worst=0,
        thresholds=None, cross_tune=None, objective=None, variants=(), rank_by=None,
    )  # fmt: skip


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
        # In the order of rows, which decides what one matching leaves over.
        events = hard_events(pair._replace(plan=Plan.of(_with_its_rules(settings))))
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
