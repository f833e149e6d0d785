"""`diagnose`: score a system, count its errors by kind, and try what might help."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Unpack

from sedeval_soft.api import (
    Durations,
    evaluation_of,
    limits_from,
    settings_from,
    settings_of_points,
    with_points,
)
from sedeval_soft.apps.diagnosis.events import HIT, KINDS, errors_of
from sedeval_soft.apps.diagnosis.prices import Counts
from sedeval_soft.apps.diagnosis.results import (
    Diagnosis,
    Example,
    Family,
    KindOfError,
    classes_of,
    kinds_of,
)
from sedeval_soft.apps.diagnosis.segments import SEGMENT_KINDS, SOFT_KINDS, count_segments
from sedeval_soft.apps.diagnosis.sensitivity import Bin, sensitivity
from sedeval_soft.apps.diagnosis.suggestions import suggestions_of
from sedeval_soft.errors import SettingsError
from sedeval_soft.evaluation import Progress
from sedeval_soft.fields import Keywords
from sedeval_soft.measures import Tally
from sedeval_soft.settings import Settings
from sedeval_soft.tables import Limits
from sedeval_soft.timeline import Recordings

EVENTS: Family = ("event", "hard")

KINDS_OF_ERRORS: Mapping[Family, tuple[str, ...]] = {
    EVENTS: KINDS,
    ("segment", "hard"): SEGMENT_KINDS,
    ("segment", "soft"): SOFT_KINDS,
}
"""The kinds of errors of each basis and reading."""


def diagnose(
    reference: Any,  # noqa: ANN401 - as for evaluate
    system: Any,  # noqa: ANN401
    *,
    durations: Durations | None = None,
    name: str | None = None,
    suggestions: bool = True,
    progress: Progress | None = None,
    limits: Limits | None = None,
    settings: Settings | None = None,
    **values: Unpack[Keywords],
) -> Diagnosis:
    """Return the cost of each kind of error of a system, by class as well, and the factors of recall.

    Events are matched as well as can be (optimal matching, no `compat`). The bases are hard events, hard
    segments and soft segments, or a selection of them by `only`; `ci` chooses intervals, by default the
    bootstrap. suggestions: whether to try thresholds and post-processing, a dozen evaluations on these very
    files. progress: called with the numbers of replicates done and of all.

    Other arguments and errors as for `evaluate`. Sources: Bolya et al. 2020 (TIDE), Aumann & Shapley 1974.
    """
    limits = limits_from(limits, values)
    given = settings_from(settings, values, {"ci": "bootstrap"}, limits)
    system = with_points(system, limits)
    chosen = settings_of_points(_settings_of_diagnosis(given), [system])
    evaluation = evaluation_of(
        reference, system, chosen, durations=durations, name=name, limits=limits, rows_in_memory=True,
        progress=progress,
    )  # fmt: skip
    scores, pair, tally = evaluation.scores, evaluation.pair, evaluation.shard.tally
    helpful = suggestions_of(evaluation) if suggestions else ()
    found: list[tuple[Family, Counts, list[tuple[str, Example]]]] = []
    bins: list[Bin] = []
    if chosen.wants(*EVENTS):
        events = errors_of(pair)
        counts = events.counts(pair, tally.per_class["event.hard.n_ref"])
        found.append((EVENTS, counts, events.examples(pair, chosen.beta)))
        sides = (events.reference, events.missed == HIT), (events.system, events.false == HIT)
        bins = sensitivity(*sides, len(pair.files), chosen)
    found += [(family, counts, []) for family, counts in count_segments(pair, tally)]
    classes = [each for part in found for each in classes_of(*part, scores.classes, chosen.beta)]
    others = " and ".join(
        f"{name}={getattr(given, name)}"
        for name in ("compat", "matching", "t_norm")
        if getattr(given, name) != getattr(chosen, name)
    )
    if others:
        text = f"kinds of errors are those of the largest matching, by our rules, without {others}"
        scores = replace(scores, warnings=(*scores.warnings, text))
    return Diagnosis(
        scores,
        tuple(each for part in found for each in kinds_of(*part, chosen)),
        tuple(sorted(classes, key=lambda each: -(each.share or 0.0))),
        tuple(bins),
        tuple(helpful),
    )


def event_errors(pair: Recordings, tally: Tally) -> list[KindOfError]:
    """Return the kinds of errors that hard events have in the micro average, the costliest first.

    tally: of the same files, counted already. Raises TooManyOverlapsError where too many events overlap.
    """
    settings, events = replace(pair.settings, ci=None), errors_of(pair)
    counts = events.counts(pair, tally.per_class["event.hard.n_ref"])
    kinds = kinds_of(EVENTS, counts, events.examples(pair, settings.beta), settings)
    found = [each for each in kinds if each.average == "micro" and each.count]
    return sorted(found, key=lambda each: -(each.share or 0.0))


def _settings_of_diagnosis(settings: Settings) -> Settings:
    """Return the settings by which errors have kinds; raises SettingsError where `only` leaves out all."""
    families = [family for family in KINDS_OF_ERRORS if settings.wants(*family)]
    if not families:
        known = ", ".join(map(".".join, KINDS_OF_ERRORS))
        raise SettingsError(
            f"only names {', '.join(settings.only)}, but there are kinds of errors of {known}; "
            "expected one of these"
        )
    return replace(
        settings, only=tuple(map(".".join, families)), measures=(), matching="optimal", compat=None,
        thresholds=None, cross_tune=None, satisfice=None, reference_sweep=False, psds=None, alpha_ct=None,
        alpha_st=None, max_efpr=None, psds_median_filters=(), means=(), worst=0, rank_by=None,
        t_norm="minimum",
    )  # fmt: skip
