"""Several annotators' tables: a reference of them, their agreement, and their own scores."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from sedeval_soft.api import (
    Durations,
    limits_from,
    named_sources,
    read_lengths,
    settings_from,
    to_rows,
)
from sedeval_soft.apps.annotators.agreement import (
    Agreement,
    PairAgreement,
    agreement_of,
    outliers,
    pairs_of,
    segments_in,
)
from sedeval_soft.apps.annotators.consensus import SAME_IOU, Boundaries, Consensus, answers_of, boundaries_of
from sedeval_soft.apps.annotators.crowd import MISSING, Crowd
from sedeval_soft.apps.annotators.models import (
    ENOUGH,
    Confusion,
    Patterns,
    competence_of,
    confusions,
    dawid_skene,
    doubts,
)
from sedeval_soft.apps.annotators.references import METHODS, References, Scoring
from sedeval_soft.apps.annotators.systems import Ranking, System, check_resampled, mean_of, systems_of
from sedeval_soft.arrays import for_each
from sedeval_soft.errors import SettingsError
from sedeval_soft.evaluation import count_rows, finite, key_of
from sedeval_soft.measures import ScoreName, group_of, measure_of
from sedeval_soft.memory import reuse_freed
from sedeval_soft.plan import Plan
from sedeval_soft.settings import GROUPS, Settings, in_form
from sedeval_soft.tables import EventTable, Limits, Origin, listing
from sedeval_soft.timeline import align

SCORES = (
    *("segment.soft.f1.micro", "segment.soft.f1.macro"),
    *("segment.hard.f1.micro", "segment.hard.f1.macro"),
)
"""The score that annotators are compared by, by default."""


class Annotator(NamedTuple):
    """One annotator: the name of the table, how many files it labels, and how far it can be believed.

    - competence, says_yes: of the model of MACE, how often the annotator knows the answer, and answers yes if
    not.
    - sensitivity, specificity: of Dawid & Skene's model, over all classes: how often the annotator answers
      yes if the class is present, and no if it is absent. None if fewer than three labelled the same.
    """

    name: str
    files: int
    competence: float
    says_yes: float
    sensitivity: float | None
    specificity: float | None


class Ceiling(NamedTuple):
    """The scores of annotators against one another.

    score: its name. annotators: the score of each against the reference of the others, None if undefined.
    mean: of these.
    system, share: the mean of a system against the same references, and its share of the annotators' mean;
    None without a system.
    """

    score: str
    annotators: tuple[float | None, ...]
    mean: float | None
    system: float | None = None
    share: float | None = None


@dataclass(frozen=True, slots=True)
class Annotation:
    """A reference made from several annotators, and their agreement.

    - reference: rows to evaluate against or convert.
    - method: how it was made. settings: its other settings.
    - confusions: of each class.
    - segments: the time in files, in segments.
    - system: the name of the system that was compared with the annotators.
    - systems: the uncertainty of the scores of other systems over annotators, and their scores against each
      annotator.
    - rankings: how many annotators are needed to rank these systems.
    - events: the consensus events, if the reference has them.
    - boundaries: each annotator's, in consensus events.
    """

    reference: EventTable
    method: str
    settings: Mapping[str, Any]
    annotators: tuple[Annotator, ...]
    confusions: tuple[Confusion, ...]
    agreement: tuple[Agreement, ...]
    pairs: tuple[PairAgreement, ...]
    ceiling: tuple[Ceiling, ...]
    segments: float
    warnings: tuple[str, ...] = ()
    system: str | None = None
    systems: tuple[System, ...] = ()
    rankings: tuple[Ranking, ...] = ()
    events: Consensus | None = None
    boundaries: tuple[Boundaries, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return all but the reference as plain values, as `soft-sed-eval annotate --format json` has it."""
        document = {
            "schema": "soft-sed-eval-annotation/1",
            "method": self.method,
            "settings": dict(self.settings),
            "warnings": list(self.warnings),
            "files": len(self.reference.files),
            "classes": len(self.reference.classes),
            "segments": self.segments,
            "annotators": [each._asdict() for each in self.annotators],
            "confusions": [
                dict(zip(("class", *each._fields[1:]), each, strict=True)) for each in self.confusions
            ],
            "agreement": [
                dict(zip(("class", "nominal", "interval", "unitizing"), each, strict=True))
                for each in self.agreement
            ],
            "pairs": [each._asdict() for each in self.pairs],
            "system": self.system,
            "ceiling": [each._asdict() for each in self.ceiling],
            "systems": [each.to_dict() for each in self.systems],
            "rankings": [each.to_dict() for each in self.rankings],
        }
        if self.events is not None:
            columns = self.events.to_dict()
            document["boundaries"] = [each._asdict() for each in self.boundaries]
            document["events"] = [
                dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
            ]
        return document


def annotate(
    annotators: Sequence[Any] | Mapping[str, Any],
    *,
    method: str = "mean",
    continuous: bool | None = None,
    consensus: bool = False,
    same_iou: float | None = None,
    missing: str | None = None,
    ceiling_of: Any = None,  # noqa: ANN401 - whatever `evaluate` takes
    systems: Sequence[Any] | Mapping[str, Any] = (),
    scores: Sequence[str] = SCORES,
    durations: Durations | None = None,
    limits: Limits | None = None,
    settings: Settings | None = None,
    **values: Any,  # noqa: ANN401 - the fields of Settings
) -> Annotation:
    """Make a reference from the labels of several annotators, and measure their agreement.

    - annotators: two or more tables as `evaluate` takes them, or a mapping of names to such.
    - method: `mean` of the values of the annotators of a file; `competence`, the mean weighted by competence
      (see `competence_of`).
    - With `dawid-skene`, the value is the probability of the class, given each annotator's rates of hits and
      of false alarms (see `dawid_skene`); with `majority`, 1 if more than half are above `threshold`, else 0.
    - continuous: whether the reference has its steps at the boundaries of annotators, or is cut into segments
      of `segment_length`. If None, it is cut if a table has values in time steps, or if `segment_length` or
      `pool` is given.
    - consensus: whether the reference has consensus events in place of means over time: clusters of
      annotators' events at `threshold` that mean the same, with median onsets and offsets.
    - The value of a consensus event is the share of the file's annotators who have it. By `competence` the
      share is weighted; by `dawid-skene` it is the probability given who has the event. By `majority` the
      reference has events of more than half.
    - `Annotation.events` has details of these events, `Annotation.boundaries` of annotators.
    - same_iou: the least mean intersection over union of events that mean the same, in (0, 1], 0.3 if None.
    - missing: the reading of a file without rows in a table: `silent`, labelled and nothing heard, or
      `unlabelled`, which counts for nothing. It is required if such a file exists; a row with only its name
      marks a file as labelled.
    - ceiling_of: a system, whose scores are given as a share of the annotators' scores.
    - systems: systems as `evaluate` takes them, or a mapping of names to such. The result has the uncertainty
      of their scores over annotators, their scores against each, and the number of annotators needed to rank
      them.
    - scores: their names; for `systems`, also scores of which less is better, which annotators are not given.
    - settings: an object of `Settings`, or its fields as keywords, or a `preset`: `segment_length`, `pool`
      and `classes` shape the reference, `threshold` defines a label, and all shape the annotators' scores.

    Raises InputError for tables that cannot be read, SettingsError for arguments.
    """
    iou = _checked(method, same_iou, missing, continuous=continuous, consensus=consensus)
    if continuous is None and {"segment_length", "pool"} & values.keys():
        continuous = False
    judged = named_sources(
        systems, "system", "tables, or a mapping of names to tables", numbered=True, least=0
    )
    chosen = settings_for(scores, settings, values, any_direction=bool(judged))
    if judged:
        check_resampled(scores, chosen)
    limits = limits_from(limits)
    named = named_sources(annotators, "annotator", "tables, or a mapping of names to tables", numbered=True)
    reuse_freed()
    tables = _read(named, chosen, limits)
    system = None if ceiling_of is None else to_rows(ceiling_of, "system", chosen, limits)
    others = _read(judged, chosen, limits)
    lengths = read_lengths(durations, limits)
    crowd = Crowd.of_tables(tables, chosen, lengths, missing=missing, continuous=continuous)
    if crowd.classes:
        chosen = replace(chosen, classes=crowd.classes)
    # File names are matched once, with all of the annotators'.
    warnings = [*crowd.warnings]
    system = None if system is None else _aligned(crowd, system, chosen, warnings)
    others = {name: _aligned(crowd, table, chosen, warnings) for name, table in others.items()}
    names, n_classes = tuple(tables), len(crowd.classes)
    # A value above this is a label.
    threshold = math.nextafter(chosen.threshold, 0.0) if chosen.inclusive else chosen.threshold
    order = [crowd.names.index(name) for name in names]
    estimate = competence_of(crowd.units, threshold)
    events = crowd.events(chosen)
    # Those of one annotator that overlap are one; none is without extent.
    apart = for_each(lambda each: each.joined_up(touching=False), events, sum(map(len, events)))
    references = References(crowd, method, threshold)
    if iou is not None:
        references = replace(references, events=tuple(apart), iou=iou)
    reference, agreed = references.of_all()
    judged_rows = [*others.values(), *([] if system is None else [system])]
    warnings += _doubts_of_evaluation(references, reference, judged_rows, chosen, scores)
    # Where the model is of consensus events, it says what annotators are like there.
    of_events = agreed is not None and method == "dawid-skene"
    errors = dawid_skene(
        answers_of(agreed.events, crowd.has_file)
        if agreed is not None and of_events
        else Patterns.of(crowd.units, threshold),
        n_classes,
    ).of(order)
    shares = [map(finite, each.tolist()) for each in errors.micro()]
    numbers = (crowd.has_file.sum(axis=1)[order], estimate.competence[order], estimate.says_yes[order])
    pairs = pairs_of(crowd, chosen, order)
    warnings += outliers(names, pairs)
    if method in {"competence", "dawid-skene"} and len(tables) < ENOUGH:
        warnings.append("which of two annotators is more competent cannot be known; expected three or more")
    if method == "dawid-skene":
        warnings += doubts(errors, names, crowd.classes)
    with_ceiling = [name for name in scores if measure_of(name).direction == "higher"]
    results, rankings = systems_of(references, chosen, scores, others, order)
    shaped = {name: getattr(chosen, name) for name in ("segment_length", "pool", "threshold", "inclusive")}
    how = {"continuous": crowd.continuous, "consensus": consensus, "same_iou": iou}
    drawn = {name: getattr(chosen, name) for name in ("confidence", "seed") if others}
    boundaries = () if agreed is None else boundaries_of(crowd.names, apart, agreed.events)
    return Annotation(
        reference=reference,
        method=method,
        settings={**how, **shaped, "missing": missing} | drawn,
        annotators=tuple(map(Annotator, names, *(each.tolist() for each in numbers), *shares)),
        confusions=confusions(errors, crowd.classes),
        agreement=agreement_of(crowd, threshold, apart, float(chosen.segment_ticks)),
        pairs=pairs,
        ceiling=_ceilings(references, chosen, with_ceiling, system, order),
        segments=segments_in(crowd.units.weight, n_classes),
        warnings=tuple(dict.fromkeys(warnings)),
        system=None if system is None else system.origin.name,
        systems=results,
        rankings=rankings,
        events=None if agreed is None else agreed.of(order),
        boundaries=tuple(boundaries[k] for k in order if boundaries),
    )


def _checked(
    method: Any,  # noqa: ANN401 - all of these are checked here
    same_iou: Any,  # noqa: ANN401
    missing: Any,  # noqa: ANN401
    *,
    continuous: Any,  # noqa: ANN401
    consensus: Any,  # noqa: ANN401
) -> float | None:
    """Check arguments; return the IoU from which on events mean the same, None without consensus.

    Raises SettingsError.
    """
    in_form("method", method, [{"enum": METHODS}])
    for name, given, form in (
        ("missing", missing, {"enum": tuple(MISSING)}),
        ("continuous", continuous, {"type": "boolean"}),
        ("same_iou", same_iou, {"type": "number", "exclusiveMinimum": 0, "maximum": 1}),
    ):
        if given is not None:
            in_form(name, given, [form])
    if in_form("consensus", consensus, [{"type": "boolean"}]):
        return SAME_IOU if same_iou is None else float(same_iou)
    if same_iou is not None:
        raise SettingsError("same_iou says which events mean the same; expected consensus beside it")
    return None


def _read(sources: Mapping[str, Any], settings: Settings, limits: Limits) -> dict[str, EventTable]:
    """Return the rows of sources, several at a time if they are large files."""
    paths = [
        each for each in sources.values() if isinstance(each, str | os.PathLike) and os.path.isfile(each)
    ]
    size = sum(map(os.path.getsize, paths))
    rows = for_each(lambda name: to_rows(sources[name], name, settings, limits), sources, size)
    return dict(zip(sources, rows, strict=True))


def _aligned(crowd: Crowd, system: EventTable, settings: Settings, warnings: list[str]) -> EventTable:
    """Return a system's rows with the annotators' files and classes; record the rows left out."""
    names = replace(EventTable.empty(Origin("annotators")), files=crowd.files, classes=crowd.classes)
    ends = dict(zip(crowd.files, crowd.length.tolist(), strict=True))
    pair = align(names, system, Settings.of(classes=settings.classes), ends, look=False)
    if pair.findings.dropped:
        left_out = listing(sorted(pair.findings.dropped), "file")
        warnings.append(f"{system.origin.name}: no annotator labelled {left_out}; left out")
    return pair.system


def _doubts_of_evaluation(
    references: References,
    reference: EventTable,
    systems: Sequence[EventTable],
    settings: Settings,
    scores: Sequence[str],
) -> list[str]:
    """Return the warnings of evaluations of systems against a reference; scores: those that are shown."""
    warnings: list[str] = []
    _, known = references.crowd.within(reference, np.ones(len(reference.files), dtype=bool))
    for table in systems:
        rules = references.settings_for(settings, table)
        report = count_rows(reference, table, rules, known).findings
        lacking = {*Plan.of(rules).needs_lengths("segment", "ranking")}
        if lacking.isdisjoint(name.rpartition(".")[0] for name in scores):
            report = replace(report, lengthless=frozenset())
        warnings += report.warnings(rules)
    return warnings


def settings_for(
    scores: Sequence[str],
    settings: Settings | None,
    values: Mapping[str, Any],
    *,
    any_direction: bool = False,
) -> Settings:
    """Return the settings for some scores; raises SettingsError for scores that annotators cannot be given.

    any_direction: whether scores of which less is better are allowed.
    """
    for name in in_form("scores", scores, [{"type": "array", "minItems": 1, "items": {"type": "string"}}]):
        parsed, measure = ScoreName.parse(name), measure_of(name)
        elsewhere = parsed.reading == "tuned" or "psds" in measure.name or "satisficed" in measure.name
        directions = ("higher", "lower") if any_direction else ("higher",)
        if measure.direction not in directions or elsewhere or parsed.group is not None:
            what = "cannot be had against annotators" if any_direction else "has no ceiling"
            better = "more or less" if any_direction else "more"
            raise SettingsError(
                f"{name} {what}; expected a score of which {better} is better, such as {SCORES[0]}"
            )
    chosen = settings_from(settings, values)
    groups = {group_of(name) for name in scores}
    only = tuple(dict.fromkeys(".".join(name.split(".")[:2]) for name in scores))
    # Other readings follow no package.
    compat = chosen.compat if {"segment.hard", "event.hard"}.intersection(only) else None
    measures = tuple(group for group in GROUPS if group in groups)
    chosen = replace(chosen, ci=None, worst=0, reference_sweep=False, groups={}, scenes={}, strict=False)
    return replace(chosen, only=only, measures=measures, compat=compat)


def _ceilings(
    references: References,
    settings: Settings,
    names: Sequence[str],
    system: EventTable | None,
    order: Sequence[int],
) -> tuple[Ceiling, ...]:
    """Score each annotator, and the system, against the other annotators, in the files of both.

    order: of the annotators.
    """
    n, files = len(references.crowd.tables), references.crowd.has_file.astype(np.float64)
    keys, systems = [key_of(ScoreName.parse(name)) for name in names], () if system is None else (system,)
    scoring = Scoring(references, settings, tuple(keys), (*references.crowd.tables, *systems))
    scores = np.full((1 + len(systems), len(names), n), np.nan)
    for k in range(n):
        numbers = (k, *range(n, n + len(systems)))
        scores[:, :, k] = [
            each[:, 0] for each in scoring.against(np.arange(n) != k, numbers, files[k : k + 1])
        ]
    ceilings = []
    means = mean_of(scores)
    for k, name in enumerate(names):
        people, ours = scores[0, k], finite(float(means[0, k]))
        theirs = finite(float(means[1, k])) if systems else None
        share = theirs / ours if ours and theirs is not None else None
        ceilings.append(Ceiling(name, tuple(finite(float(people[k])) for k in order), ours, theirs, share))
    return tuple(ceilings)
