"""Where a score went: `diagnose`, which scores a system and explains what it lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from sedeval_soft.api.evaluation import Evaluation, evaluate_rows, evaluation_of, settings_of_points
from sedeval_soft.api.sources import Durations, Parted, is_points, limits_from, settings_from, with_points
from sedeval_soft.errors import EvaluationError, SettingsError
from sedeval_soft.evaluation.diagnosis import AVERAGES, Diagnosis, Suggestion, diagnosed, measure_of_f
from sedeval_soft.evaluation.scores import Scores
from sedeval_soft.fields import Keywords
from sedeval_soft.measures.errors import KINDS_OF_ERRORS
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.ticks import TICKS_PER_SECOND, tick
from sedeval_soft.timeline.events import events_of
from sedeval_soft.timeline.postprocess import time_step, window_of
from sedeval_soft.timeline.recordings import Recordings, hard_events

_LENGTHS: dict[str, tuple[float, ...]] = {
    "min_gap": (0.1, 0.2, 0.5, 1.0),
    "min_duration": (0.1, 0.2, 0.5, 1.0),
    "median_filter": (0.3, 0.5, 1.0, 2.0),
}
"""Post-processing that is tried, in seconds."""

_MOST_CELLS = 10_000_000
"""Time steps of all classes up to which median filters are tried: 0.1 s or so for each."""

_AS_GOOD = 0.1
"""The part of what the best threshold gains that may be given up for a threshold of few digits."""


def diagnose(
    reference: Any,  # noqa: ANN401 - as for evaluate
    system: Any,  # noqa: ANN401
    *,
    durations: Durations | None = None,
    by: Parted | None = None,
    name: str | None = None,
    suggestions: bool = True,
    limits: Limits | None = None,
    settings: Settings | None = None,
    **values: Unpack[Keywords],
) -> Diagnosis:
    """Return what each kind of error costs a system, which classes pay it, and what recall depends on.

    Events are matched as well as can be (optimal matching, no `compat`). Hard events, hard segments and soft
    segments are looked at, or those of them that `only` names; intervals are those of `ci`, the bootstrap if
    nothing is said. suggestions: whether to try thresholds and post-processing, a dozen evaluations; what is
    suggested was tried.

    Other arguments and errors as for `evaluate`. Sources: Bolya et al. 2020 (TIDE), Aumann & Shapley 1974.
    """
    limits = limits_from(limits, values)
    given = settings_from(settings, values, {"ci": "bootstrap"}, limits)
    system = with_points(system, limits)
    chosen = settings_of_points(settings_of_diagnosis(given), [system])
    evaluation = evaluation_of(
        reference, system, chosen, durations=durations, name=name, by=by, limits=limits, rows_in_memory=True
    )
    pair, sides = evaluation.pair, evaluation.sides
    assert sides is not None, "they were asked for"  # noqa: S101
    scenes = evaluation.files_of_scenes()
    lengths = evaluation.shard.durations
    best = _at_best_thresholds(sides, chosen, lengths, single=suggestions)
    helpful = [*_suggestions(evaluation, pair, best)] if suggestions else []
    changed = [
        f"{name}={getattr(given, name)}"
        for name in ("compat", "matching", "t_norm")
        if getattr(given, name) != getattr(chosen, name)
    ]
    scores = evaluation.scores
    if changed:
        others = " and ".join(changed)
        text = f"kinds of errors are those of the largest matching, by our rules, without {others}"
        scores = replace(scores, warnings=(*scores.warnings, text))
    return diagnosed(scores, pair, scenes, helpful, _optimal(best))


def settings_of_diagnosis(settings: Settings) -> Settings:
    """Return the settings by which errors have kinds; raises SettingsError where `only` leaves out all."""
    families = [family for family in KINDS_OF_ERRORS if settings.wants(*family)]
    if not families:
        known = ", ".join(map(".".join, KINDS_OF_ERRORS))
        raise SettingsError(
            f"only names {', '.join(settings.only)}, but there are kinds of errors of {known}; "
            "expected one of these"
        )
    return replace(
        settings, only=tuple(map(".".join, families)), measures=("errors",), matching="optimal", compat=None,
        thresholds=None, cross_tune=None, satisfice=None, reference_sweep=False, psds=None, alpha_ct=None,
        alpha_st=None, max_efpr=None, psds_median_filters=(), means=(), worst=0, rank_by=None,
        t_norm="minimum",
    )  # fmt: skip


def _plain(settings: Settings) -> Settings:
    """Return the settings of an evaluation that is tried: no more than F itself."""
    return replace(settings, ci=None, measures=(), groups={}, scenes={})


def _at_best_thresholds(
    sides: tuple[EventTable, EventTable],
    settings: Settings,
    durations: Mapping[str, float] | None,
    *,
    single: bool,
) -> Scores | None:
    """Return the scores at the best threshold of each class; None of systems without values.

    single: whether the best threshold for all classes together is among them.
    """
    bases = [basis for basis in ("event", "segment") if settings.wants(basis, "hard")]
    if not bases or not (sides[1].has_values or is_points(sides[1])):
        return None
    only, measures = tuple(f"{basis}.optimal" for basis in bases), ("joint",) if single else ()
    return evaluate_rows(*sides, replace(_plain(settings), only=only, measures=measures), durations)


def _optimal(best: Scores | None) -> dict[tuple[str, str], float | None]:
    """Return F at the best threshold of each class, by basis and average."""
    if best is None:
        return {}
    bases, measure = [name.partition(".")[0] for name in best.settings.only], measure_of_f(best.settings)
    return {
        (basis, average): best[f"{basis}.optimal.{measure}.{average}"]
        for basis in bases
        for average in AVERAGES
    }


def _suggestions(evaluation: Evaluation, pair: Recordings, best: Scores | None) -> Iterator[Suggestion]:
    """Yield settings with which the micro F of hard events, or else segments, rises: all were tried.

    best: the scores at the best thresholds, None of systems without values.
    """
    settings, sides = evaluation.scores.settings, evaluation.sides
    basis = "event" if settings.wants("event", "hard") else "segment"
    if sides is None or not settings.wants(basis, "hard"):
        return
    plain = replace(_plain(settings), only=(f"{basis}.hard",))
    score = f"{basis}.hard.{measure_of_f(settings)}.micro"
    before = float(evaluation.scores[score] or 0.0)

    def value(**changed: Any) -> float:  # noqa: ANN401 - settings
        return evaluate_rows(*sides, replace(plain, **changed), evaluation.shard.durations)[score] or 0.0

    points = is_points(sides[1])
    if best is not None:
        after = best[f"{basis}.optimal.{measure_of_f(settings)}.micro"]
        if after is not None and after > before:
            yield Suggestion("the best threshold of each class (`tune`)", score, before, float(after))
    if best is not None and not points:
        yield from _single_threshold(best, basis, score, before, value, reference=sides[0])
    if points or settings.postprocesses or settings.events == "rows":
        return
    for name, lengths in _LENGTHS.items():
        try:
            values = {
                length: value(**{name: length})
                for length in _that_differ(name, lengths, sides[1], pair, settings)
            }
        except EvaluationError:
            # There is no fixed time step for a median filter.
            continue
        most = max(values, key=lambda length: (values[length], -length), default=None)
        if most is not None and values[most] > before:
            yield Suggestion(f"--{name.replace('_', '-')} {most:g}", score, before, values[most])


def _single_threshold(
    best: Scores,
    basis: str,
    score: str,
    before: float,
    value: Callable[..., float],
    *,
    reference: EventTable,
) -> Iterator[Suggestion]:
    """Yield the best threshold for all classes, in few digits, if F rises with it.

    That of the reference stays as it is, which must be said where the reference has values.
    """
    threshold, f = (best[f"{basis}.optimal.single_{name}"] for name in ("threshold", "f"))
    if threshold is None or f is None or f <= before:
        return
    cut = best.settings.reference_cut
    beside = f" --reference-threshold {cut:g}" if reference.has_values else ""
    for digits in (2, 3, 4, 6, 17):
        short = float(f"{threshold:.{digits}g}")
        after = value(threshold=short, reference_threshold=cut) if 0 <= short <= 1 else 0.0
        if after > before and after >= f - _AS_GOOD * (f - before):
            yield Suggestion(f"--threshold {short}{beside}", score, before, after)
            return


def _that_differ(
    name: str, lengths: Sequence[float], rows: EventTable, pair: Recordings, settings: Settings
) -> Iterator[float]:
    """Return the lengths of post-processing that do something else than those before them; none of too much.

    Raises EvaluationError for a median filter where times keep no fixed step.
    """
    effects: list[Any]
    nothing: Any
    if name == "median_filter":
        step = time_step(rows)
        if pair.reach.sum() * TICKS_PER_SECOND / step * len(rows.classes) > _MOST_CELLS:
            return iter(())
        effects, nothing = [window_of(length, step) for length in lengths], 1
    else:
        # What is post-processed is merged first.
        merged = events_of(pair.event_rows[1], settings.threshold, settings.inclusive, merge=True)
        events = pair.held(merged).in_order()
        same = len(events) == len(hard_events(pair)[1])
        ticks = events.offset - events.onset
        if name == "min_gap":
            ticks = (events.onset[1:] - events.offset[:-1])[events.goes_on()]
        # How many are shorter, and how many are as long: so it does not matter which of these are changed.
        effects = [
            (np.count_nonzero(ticks < end), np.count_nonzero(ticks <= end)) for end in map(tick, lengths)
        ]
        nothing = (0, 0) if same else object()
    before = [nothing, *effects]
    return (length for k, length in enumerate(lengths) if effects[k] != before[k])
