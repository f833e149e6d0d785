"""Where a score went: `diagnose`, which scores a system and explains what it lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Unpack

from sedeval_soft.api.evaluation import evaluate_rows, evaluation_of, settings_of_points
from sedeval_soft.api.sources import Durations, Parted, is_points, limits_from, settings_from, with_points
from sedeval_soft.errors import SettingsError
from sedeval_soft.evaluation.diagnosis import AVERAGES, Diagnosis, Suggestion, diagnosed, measure_of_f
from sedeval_soft.fields import Keywords
from sedeval_soft.measures.errors import KINDS_OF_ERRORS
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.limits import Limits

_TRIED: dict[str, tuple[float, ...]] = {
    "min_gap": (0.1, 0.2, 0.5, 1.0),
    "min_duration": (0.1, 0.2, 0.5, 1.0),
    "median_filter": (0.3, 0.5, 1.0, 2.0),
}
"""Post-processing that is tried, in seconds."""


def diagnose(
    reference: Any,  # noqa: ANN401 - as for evaluate
    system: Any,  # noqa: ANN401
    *,
    durations: Durations | None = None,
    by: Parted | None = None,
    name: str | None = None,
    limits: Limits | None = None,
    settings: Settings | None = None,
    **values: Unpack[Keywords],
) -> Diagnosis:
    """Return what each kind of error costs a system, which classes pay it, and what recall depends on.

    Events are matched as well as can be (optimal matching, no `compat`). Hard events, hard segments and soft
    segments are looked at, or those of them that `only` names; intervals are those of `ci`, the bootstrap if
    nothing is said. What a suggestion promises was tried.

    Arguments and errors as for `evaluate`. Sources: Bolya et al. 2020 (TIDE), Aumann & Shapley 1974.
    """
    limits = limits_from(limits, values)
    asked = settings_from(settings, values, {"ci": "bootstrap"})
    system = with_points(system, limits)
    chosen = settings_of_points(settings_of_diagnosis(asked), [system])
    evaluation = evaluation_of(
        reference, system, chosen, durations=durations, name=name, by=by, limits=limits, rows_in_memory=True
    )
    pair, sides = evaluation.pair, evaluation.sides
    assert sides is not None, "they are asked for"  # noqa: S101
    from sedeval_soft.evaluation.shard import scenes_of

    scenes = dict(scenes_of(pair.files, pair.classes, chosen))
    if evaluation.scenes is not None:
        from sedeval_soft.tables.file_groups import assign

        scenes |= assign(evaluation.scenes, pair.files)[0]
    lengths = evaluation.shard.durations
    optimal = _optimal(sides, chosen, lengths)
    tried = [*_suggestions(sides, chosen, lengths, optimal)]
    changed = [
        f"{name}={getattr(asked, name)}"
        for name in ("compat", "matching", "t_norm")
        if getattr(asked, name) != getattr(chosen, name)
    ]
    scores = evaluation.scores
    if changed:
        text = f"errors are told of the largest matching, by our rules, without {' and '.join(changed)}"
        scores = replace(scores, warnings=(*scores.warnings, text))
    return diagnosed(scores, pair, scenes, tried, optimal)


def settings_of_diagnosis(settings: Settings) -> Settings:
    """Return the settings by which errors are told; raises SettingsError where `only` leaves out all."""
    families = [family for family in KINDS_OF_ERRORS if settings.wants(*family)]
    if not families:
        known = ", ".join(map(".".join, KINDS_OF_ERRORS))
        raise SettingsError(
            f"only names {', '.join(settings.only)}, but errors are told of {known}; expected one of these"
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


def _optimal(
    sides: tuple[EventTable, EventTable],
    settings: Settings,
    durations: Any,  # noqa: ANN401 - seconds by file
) -> dict[tuple[str, str], float | None]:
    """Return F at the best threshold of each class, by basis and average, of systems with values."""
    bases = [basis for basis in ("event", "segment") if settings.wants(basis, "hard")]
    if not bases or not (sides[1].has_values or is_points(sides[1])):
        return {}
    only = tuple(f"{basis}.optimal" for basis in bases)
    scores = evaluate_rows(*sides, replace(_plain(settings), only=only), durations)
    measure = measure_of_f(settings)
    return {
        (basis, average): scores[f"{basis}.optimal.{measure}.{average}"]
        for basis in bases
        for average in AVERAGES
    }


def _suggestions(
    sides: tuple[EventTable, EventTable],
    settings: Settings,
    durations: Any,  # noqa: ANN401 - seconds by file
    optimal: Mapping[tuple[str, str], float | None],
) -> Iterator[Suggestion]:
    """Yield settings with which the micro F of hard events, or else segments, rises: all were tried.

    optimal: F at the best thresholds, by basis and average.
    """
    basis = "event" if settings.wants("event", "hard") else "segment"
    if not settings.wants(basis, "hard"):
        return
    plain = replace(_plain(settings), only=(f"{basis}.hard",))
    score = f"{basis}.hard.{measure_of_f(settings)}.micro"

    def value(changed: Settings) -> float:
        return evaluate_rows(*sides, changed, durations)[score] or 0.0

    before = value(plain)
    after = optimal.get((basis, "micro"))
    if after is not None and after > before:
        yield Suggestion("the best threshold of each class (`tune`)", score, before, after)
    if is_points(sides[1]) or settings.postprocesses or settings.events == "rows":
        return
    for name, lengths in _TRIED.items():
        if name == "median_filter" and not sides[1].has_values:
            continue
        changed: list[dict[str, Any]] = [{name: length} for length in lengths]
        tried = {each[name]: value(replace(plain, **each)) for each in changed}
        best = max(tried, key=lambda length: (tried[length], -length))
        if tried[best] > before:
            yield Suggestion(f"--{name.replace('_', '-')} {best:g}", score, before, tried[best])
