"""Several annotators' tables: a reference of them, how far they agree, and what they reach themselves."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from sedeval_soft.annotators.agreement import Agreement, PairAgreement, alphas, segments_in, soft_f
from sedeval_soft.annotators.competence import competence_of
from sedeval_soft.annotators.consensus import SAME_IOU, Consensus, agreed, annotated_events
from sedeval_soft.annotators.crowd import Crowd
from sedeval_soft.annotators.pooled import METHODS, reference_of
from sedeval_soft.api.comparison import named_sources
from sedeval_soft.api.evaluation import evaluate_rows
from sedeval_soft.api.sources import Durations, limits_from, read_lengths, settings_from, shown, to_rows
from sedeval_soft.arrays import Bools
from sedeval_soft.errors import SettingsError
from sedeval_soft.measures.registry import ScoreName, group_of, measure_of
from sedeval_soft.settings import GROUPS, Settings
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.limits import Limits
from sedeval_soft.timeline.events import Events
from sedeval_soft.timeline.recordings import align

SCORES = (
    *("segment.soft.f1.micro", "segment.soft.f1.macro"),
    *("segment.hard.f1.micro", "segment.hard.f1.macro"),
)
"""What the ceiling is of where nothing else is said."""

_FEW = 3
"""Annotators below whom competences mean little."""


class Annotator(NamedTuple):
    """One annotator: the name of the table, how many files it labels, and what `competence` finds.

    says_yes: how often yes is said where the annotator does not know.
    """

    name: str
    files: int
    competence: float
    says_yes: float


class Ceiling(NamedTuple):
    """What annotators reach against one another.

    score: the name of a score. annotators: of each, the score against the reference of the others, None where
    undefined. mean: of those. system, share: the mean of a system against the same references, and what share
    of the annotators' mean that is; None where no system is given.
    """

    score: str
    annotators: tuple[float | None, ...]
    mean: float | None
    system: float | None = None
    share: float | None = None


@dataclass(frozen=True, slots=True)
class Annotation:
    """A reference made of what several annotators say, and how far they agree.

    reference: rows to be evaluated against or converted. method: how it was made. settings: what else shaped
    it. segments: how much time there is in files, in segments. system: the name of the system whose share of
    the ceiling was asked for. events: where the reference has the consensus events, these.
    """

    reference: EventTable
    method: str
    settings: Mapping[str, Any]
    annotators: tuple[Annotator, ...]
    agreement: tuple[Agreement, ...]
    pairs: tuple[PairAgreement, ...]
    ceiling: tuple[Ceiling, ...]
    segments: float
    warnings: tuple[str, ...] = ()
    system: str | None = None
    events: Consensus | None = None

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
            "agreement": [
                dict(zip(("class", "nominal", "interval"), each, strict=True)) for each in self.agreement
            ],
            "pairs": [each._asdict() for each in self.pairs],
            "system": self.system,
            "ceiling": [each._asdict() for each in self.ceiling],
        }
        if self.events is not None:
            columns = self.events.to_dict()
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
    all_files: bool = False,
    ceiling_of: Any = None,  # noqa: ANN401 - whatever `evaluate` takes
    scores: Sequence[str] = SCORES,
    durations: Durations | None = None,
    limits: Limits | None = None,
    settings: Settings | None = None,
    **values: Any,  # noqa: ANN401 - the fields of Settings
) -> Annotation:
    """Make a reference of the labels of several annotators, and say how far they agree.

    annotators: two or more tables as `evaluate` takes them, or a mapping of names to such.
    method: `mean` of the values of those who labelled a file; `competence`, the mean weighted by how far each
        can be believed (see `competence_of`); or `majority`, 1 where more than half are above
        `threshold`, else 0.
    continuous: whether the reference has its steps where annotators begin and end, or is cut into segments of
        `segment_length`; if None, it is cut where a table has values in time steps, or where
        `segment_length` or `pool` is given.
    consensus: the reference has consensus events in place of means over time: clusters of annotators' events
        at `threshold` that mean the same, with median onsets and offsets, valued by the share of those who
        labelled the file and have them; by `competence` that share is weighted, by the `majority` there are
        those of more than half. `Annotation.events` says more of them. same_iou: the mean intersection over
        union from which on events mean the same, in (0, 1], 0.3 if None.
    all_files: every annotator labelled every file: one that a table lacks has no events. Else it is missing,
        and counts for nothing; a row with only its name says that it was labelled, and nothing heard.
    ceiling_of: a system, whose scores are given as a share of what annotators reach. scores: which ones.
    settings: an object of `Settings`, or its fields as keywords, or a `preset`: `segment_length`, `pool` and
        `classes` shape the reference, `threshold` says what a label is, and all shape the ceiling's scores.

    Raises InputError for tables that cannot be read, SettingsError for arguments.
    """
    if method not in METHODS:
        raise SettingsError(f"method must be one of {', '.join(METHODS)}, not {shown(method)}")
    for name, given in (("all_files", all_files), ("continuous", continuous), ("consensus", consensus)):
        if not isinstance(given, bool) and (given is not None or name != "continuous"):
            raise SettingsError(f"{name} must be true or false, not {shown(given)}")
    iou = _checked_iou(same_iou, consensus=consensus)
    if continuous is None and {"segment_length", "pool"} & values.keys():
        continuous = False
    chosen = _settings_for(scores, settings, values)
    limits = limits_from(limits)
    named = named_sources(annotators, "annotator", "tables, or a mapping of names to tables", numbered=True)
    tables = {name: to_rows(source, name, chosen, limits) for name, source in named.items()}
    system = None if ceiling_of is None else to_rows(ceiling_of, "system", chosen, limits)
    lengths = read_lengths(durations, limits)
    crowd = Crowd.of_tables(tables, chosen, lengths, all_files=all_files, continuous=continuous)
    if crowd.classes:
        chosen = replace(chosen, classes=crowd.classes)
    if system is not None:
        # File names are matched once, with all of the annotators'.
        anything, ends = crowd.reference(crowd.units.values.max(axis=0), "annotators")
        system = align(anything, system, Settings.of(classes=chosen.classes), ends).system
    threshold, names = _threshold(chosen), crowd.names
    units = crowd.units.together()
    estimate = competence_of(units, threshold)
    numbers = (crowd.has_file.sum(axis=1), estimate.competence, estimate.says_yes)
    n_classes = len(crowd.classes)
    nominal, interval = (
        alphas(units, each, n_classes) for each in ((units.values > threshold).astype(float), units.values)
    )
    pairs = [
        PairAgreement((names[a], names[b]), *soft_f(units, (a, b), n_classes))
        for a, b in combinations(range(len(names)), 2)
    ]
    warnings = [*crowd.warnings]
    if method == "competence" and len(tables) < _FEW:
        warnings.append("which of two annotators is more competent cannot be known; expected three or more")
    title, threshold = f"{method} of {len(names)} annotators", _threshold(chosen)
    agreed_events, events = None, None
    if consensus:
        events = [annotated_events(table, chosen) for table in crowd.tables]
        agreed_events = Consensus(
            agreed(events, crowd.has_file, crowd.units, method, threshold, iou),
            crowd.files, crowd.classes, names,
        )  # fmt: skip
        reference = agreed_events.rows(f"consensus, {title}")
        sides = (*crowd.tables, *(() if system is None else (system,)))
        if chosen.events == "auto" and not any(table.has_values for table in sides):
            # No side has time steps, which would have to be joined; events that only touch stay two.
            chosen = replace(chosen, events="rows")
    else:
        reference = crowd.reference(reference_of(crowd.units, method, threshold), title)[0]
    others = partial(_of_others, crowd, method, threshold, events, iou)
    shaped = {name: getattr(chosen, name) for name in ("segment_length", "pool", "threshold", "inclusive")}
    how = {"continuous": crowd.continuous, "consensus": consensus, "same_iou": iou if consensus else None}
    return Annotation(
        reference=reference,
        method=method,
        settings={**how, **shaped, "all_files": all_files},
        annotators=tuple(map(Annotator, names, *(each.tolist() for each in numbers))),
        agreement=tuple(map(Agreement, (None, *crowd.classes), nominal, interval)),
        pairs=tuple(pairs),
        ceiling=_ceilings(crowd, others, chosen, scores, system),
        segments=segments_in(crowd.units.weight, n_classes),
        warnings=tuple(warnings),
        system=None if system is None else system.origin.name,
        events=agreed_events,
    )


def _checked_iou(same_iou: Any, *, consensus: bool) -> float:  # noqa: ANN401 - checked here
    """Return the IoU from which on events mean the same; raises SettingsError."""
    if same_iou is None:
        return SAME_IOU
    if not consensus:
        raise SettingsError(
            "same_iou says which events are one in the consensus; expected consensus beside it"
        )
    number = isinstance(same_iou, int | float | np.number) and not isinstance(same_iou, bool)
    if not number or not 0 < same_iou <= 1:
        raise SettingsError(f"same_iou must be a number above 0, 1 at the most, not {shown(same_iou)}")
    return float(same_iou)


def _settings_for(scores: Sequence[str], settings: Settings | None, values: Mapping[str, Any]) -> Settings:
    """Return the settings for some scores; raises SettingsError for scores that have no ceiling."""
    if isinstance(scores, str) or not scores:
        raise SettingsError(f"scores must be a list of names, not {shown(scores)}")
    for name in scores:
        parsed, measure = ScoreName.parse(name), measure_of(name)
        elsewhere = parsed.reading == "tuned" or "psds" in measure.name or "satisficed" in measure.name
        if measure.direction != "higher" or elsewhere or parsed.group is not None:
            raise SettingsError(
                f"{name} has no ceiling; expected a score of which more is better, such as {SCORES[0]}"
            )
    chosen = settings_from(settings, values)
    groups = {group_of(name) for name in scores}
    only = tuple(dict.fromkeys(".".join(name.split(".")[:2]) for name in scores))
    # Other readings follow no package.
    compat = chosen.compat if {"segment.hard", "event.hard"}.intersection(only) else None
    measures = tuple(group for group in GROUPS if group in groups)
    chosen = replace(chosen, ci=None, worst=0, reference_sweep=False, groups={}, scenes={}, strict=False)
    return replace(chosen, only=only, measures=measures, compat=compat)


def _threshold(settings: Settings) -> float:
    """Return the number above which a value is a label."""
    return math.nextafter(settings.threshold, -1.0) if settings.inclusive else settings.threshold


def _of_others(
    crowd: Crowd,
    method: str,
    threshold: float,
    events: Sequence[Events] | None,
    iou: float,
    annotator: int,
    files: Bools,
) -> tuple[EventTable, dict[str, float]]:
    """Return the reference that all but one annotator make of some files, and the lengths of these.

    events: of each annotator where it has consensus events, else None.
    """
    units, name = crowd.units.without(annotator), "the others"
    if events is None:
        return crowd.reference(reference_of(units, method, threshold), name, files, units)
    has_file = np.delete(crowd.has_file, annotator, axis=0)
    theirs = [each for place, each in enumerate(events) if place != annotator]
    made = agreed(theirs, has_file, units, method, threshold, iou)
    return crowd.within(made.rows(crowd.files, crowd.classes, name), files)


def _ceilings(
    crowd: Crowd,
    of_others: Callable[[int, Bools], tuple[EventTable, dict[str, float]]],
    settings: Settings,
    names: Sequence[str],
    system: EventTable | None,
) -> tuple[Ceiling, ...]:
    """Score each annotator, and the system, against what the others say of the files that are both's."""
    people: list[Mapping[str, Any]] = []
    machine: list[Mapping[str, Any]] = []
    undefined = dict.fromkeys(names)
    for annotator, table in enumerate(crowd.tables):
        files = crowd.has_file[annotator] & np.delete(crowd.has_file, annotator, axis=0).any(axis=0)
        if not files.any():
            people.append(undefined)
            continue
        reference, lengths = of_others(annotator, files)
        people.append(evaluate_rows(reference, table, settings, lengths))
        if system is not None:
            machine.append(evaluate_rows(reference, system, settings, lengths))
    ceilings = []
    for name in names:
        each, theirs = ([scores[name] for scores in scored] for scored in (people, machine))
        ours, system_mean = (_mean_of(values) for values in (each, theirs))
        share = system_mean / ours if ours and system_mean is not None else None
        ceilings.append(Ceiling(name, tuple(each), ours, system_mean, share))
    return tuple(ceilings)


def _mean_of(values: Sequence[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return sum(defined) / len(defined) if defined else None
