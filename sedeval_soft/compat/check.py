"""`--check sed_eval`: the hard scores once more, computed by the sed_eval package itself."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from sedeval_soft.compat.causes import Part, models, parts_of, same
from sedeval_soft.errors import SettingsError
from sedeval_soft.measures.names import ScoreName
from sedeval_soft.settings import Settings
from sedeval_soft.timeline.events import Events
from sedeval_soft.timeline.recordings import Pair, hard_events, rowwise_events

Value = float | int | None

_GROUPS = {
    "f_measure": {"f_measure": "f1", "precision": "precision", "recall": "recall"},
    "error_rate": {
        name: name for name in ("error_rate", "substitution_rate", "deletion_rate", "insertion_rate")
    },
    "accuracy": {name: name for name in ("sensitivity", "specificity", "accuracy", "balanced_accuracy")},
    "count": {"Nref": "n_ref", "Nsys": "n_sys"},
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """One score as we and as another tool compute it; None where it is undefined.

    parts: what each known cause of a difference does to it.
    """

    name: str
    ours: Value
    theirs: Value
    parts: tuple[Part, ...] = ()

    @property
    def difference(self) -> float | None:
        """Return ours minus theirs, None where either is undefined."""
        if self.ours is None or self.theirs is None:
            return None
        return self.ours - self.theirs

    @property
    def agrees(self) -> bool:
        """Whether both say the same: equal to rounding, or both undefined."""
        return same(self.ours, self.theirs)

    @property
    def explained(self) -> bool:
        """Whether the known causes make up all of the difference."""
        return same(self.parts[-1].after if self.parts else self.ours, self.theirs)


def check_sed_eval(pair: Pair, settings: Settings, ours: Mapping[str, Value]) -> list[Comparison]:
    """Score a pair with sed_eval and set its hard scores beside ours.

    sed_eval gets the events that our hard reading sees, and our evaluated length of each file.
    Raises SettingsError where sed_eval has no such setting.
    """
    refuse_settings(settings)
    if "None" in pair.classes:
        raise SettingsError("sed_eval takes a class called 'None' for no class; --check cannot ask it")
    theirs: dict[str, Value] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if settings.wants("segment", "hard"):
            theirs.update(_segment(pair, settings))
        if settings.wants("event", "hard"):
            theirs.update(_event(pair, settings))
    steps = models(pair, settings)
    return [
        Comparison(
            str(name),
            ours[str(name)],
            value,
            parts_of(name, ours[str(name)], steps.get(name.basis, []), pair.classes),
        )
        for name, value in ((ScoreName.parse(name), value) for name, value in theirs.items())
        if str(name) in ours
    ]


def refuse_settings(settings: Settings) -> None:
    """Raise SettingsError where sed_eval has no such setting, or nothing of its is evaluated."""
    if not (settings.wants("segment", "hard") or settings.wants("event", "hard")):
        raise SettingsError("--check is of hard segment- and event-based scores; --only leaves them out")
    if not settings.wants("event", "hard"):
        return
    if settings.onset and settings.offset and settings.onset_collar != settings.offset_collar:
        raise SettingsError("sed_eval has one collar: --check needs equal --onset-collar and --offset-collar")
    collar = settings.onset_collar if settings.onset else settings.offset_collar
    if collar <= 0 or settings.offset_collar_rate > 1:
        raise SettingsError("sed_eval needs a collar above 0 and an offset collar rate of at most 1")


def _segment(pair: Pair, settings: Settings) -> dict[str, Value]:
    from sed_eval.sound_event import SegmentBasedMetrics

    metrics = SegmentBasedMetrics(list(pair.classes), time_resolution=float(settings.segment_length))
    sides = zip(*(_lists(events, pair) for events in rowwise_events(pair, settings)), strict=True)
    for (reference, system), length in zip(sides, pair.reach.tolist(), strict=True):
        metrics.evaluate(reference, system, evaluated_length_seconds=length)
    return dict(_results(metrics, "segment", pair.classes))


def _event(pair: Pair, settings: Settings) -> dict[str, Value]:
    from sed_eval.sound_event import EventBasedMetrics

    metrics = EventBasedMetrics(
        list(pair.classes),
        evaluate_onset=settings.onset,
        evaluate_offset=settings.offset,
        t_collar=float(settings.onset_collar if settings.onset else settings.offset_collar),
        percentage_of_length=float(settings.offset_collar_rate),
        event_matching_type=settings.matching,
        empty_system_output_handling="zero_score",
    )
    for reference, system in zip(
        *(_lists(events, pair) for events in hard_events(pair, settings)), strict=True
    ):
        metrics.evaluate(reference, system)
    return dict(_results(metrics, "event", pair.classes))


def _lists(events: Events, pair: Pair) -> list[Any]:
    """Return sed_eval's event list of each file, events in their order."""
    from dcase_util.containers import MetaDataContainer

    order = np.argsort(events.file, kind="stable")
    bounds = np.searchsorted(events.file[order], np.arange(len(pair.files) + 1))
    columns = (events.label[order], events.onset_seconds[order], events.offset_seconds[order])
    rows = [
        {"event_label": pair.classes[label], "onset": onset, "offset": offset}
        for label, onset, offset in zip(*(column.tolist() for column in columns), strict=True)
    ]
    return [MetaDataContainer(rows[a:b]) for a, b in pairwise(bounds.tolist())]


def _results(metrics: Any, basis: str, classes: tuple[str, ...]) -> Iterator[tuple[str, Value]]:  # noqa: ANN401 - untyped
    """Yield sed_eval's results under our names."""
    averages = {
        "micro": metrics.results_overall_metrics(),
        "macro": metrics.results_class_wise_average_metrics(),
    }
    for average, results in averages.items():
        for measure, value in _flat(results):
            yield str(ScoreName(basis, "hard", measure, average=average)), value
    for label, results in metrics.results_class_wise_metrics().items():
        if label in classes:
            for measure, value in _flat(results):
                yield str(ScoreName(basis, "hard", measure, class_name=label)), value


def _flat(results: Mapping[str, Mapping[str, float]]) -> Iterator[tuple[str, Value]]:
    for group, names in _GROUPS.items():
        for theirs, ours in names.items():
            if theirs in results.get(group, {}):
                value = float(results[group][theirs])
                yield ours, value if math.isfinite(value) else None
