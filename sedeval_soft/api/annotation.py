"""Several annotators' tables: a reference made of them, their agreement, and what they reach themselves."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.annotators.agreement import alphas, soft_f
from sedeval_soft.annotators.competence import competence_of
from sedeval_soft.annotators.found import Agreement, Annotation, Annotator, Ceiling, PairAgreement
from sedeval_soft.annotators.opinions import Opinions, majority, mean
from sedeval_soft.api.crowd import Crowd, brought_together
from sedeval_soft.api.evaluation import evaluate_rows
from sedeval_soft.api.sources import (
    Durations,
    check_names,
    limits_from,
    read_lengths,
    settings_from,
    shown,
    to_rows,
)
from sedeval_soft.core.intake import Limits
from sedeval_soft.core.scores import Scores
from sedeval_soft.errors import SettingsError
from sedeval_soft.measures.names import ScoreName
from sedeval_soft.measures.registry import group_of, measure_of
from sedeval_soft.settings import GROUPS, Settings
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.timeline.alignment_report import listing
from sedeval_soft.timeline.recordings import align

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Annotators = Sequence[Any] | Mapping[str, Any]

METHODS = ("mean", "competence", "majority")
"""How a reference is made of labels."""

SCORES = (
    *("segment.soft.f1.micro", "segment.soft.f1.macro"),
    *("segment.hard.f1.micro", "segment.hard.f1.macro"),
)
"""What the ceiling is of where nothing else is said."""

_FEW = 3
"""Annotators below whom competences mean little."""


def annotate(
    annotators: Annotators,
    *,
    method: str = "mean",
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
        can be believed (see `annotators.competence`); or `majority`, 1 where more than half are above
        `threshold`, else 0.
    all_files: every annotator labelled every file: one that a table lacks has no events. Else it is missing,
        and counts for nothing; a row with only its name says that it was labelled, and nothing heard.
    ceiling_of: a system, whose scores are given as a share of what annotators reach. scores: which ones.
    settings: an object of `Settings`, or its fields as keywords, or a `preset`: `segment_length`, `pool` and
        `classes` shape the reference, `threshold` says what a label is, and all shape the ceiling's scores.

    Raises InputError for tables that cannot be read, SettingsError for arguments.
    """
    if method not in METHODS:
        raise SettingsError(f"method must be one of {', '.join(METHODS)}, not {shown(method)}")
    if not isinstance(all_files, bool):
        raise SettingsError(f"all_files must be true or false, not {shown(all_files)}")
    chosen = _chosen(scores, settings, values)
    limits, named = limits_from(limits), _named(annotators)
    tables = [to_rows(source, name, chosen, limits) for name, source in named.items()]
    system = None if ceiling_of is None else to_rows(ceiling_of, "system", chosen, limits)
    crowd = brought_together(tables, chosen, read_lengths(durations, limits), all_files=all_files)
    if crowd.classes:
        chosen = replace(chosen, classes=crowd.classes)
    every = np.ones(len(crowd.files), dtype=bool)
    if system is not None:
        # File names are matched once, with all of the annotators'.
        all_ = crowd.reference(crowd.opinions.values.max(axis=0), every, "annotators")
        system = align(all_, system, Settings.of(classes=chosen.classes), crowd.lengths(every)).system
    names = tuple(named)
    like, made = competence_of(crowd.opinions, _cut(chosen)), _reference(crowd.opinions, method, _cut(chosen))
    each = zip(names, crowd.labelled.sum(axis=1).tolist(), like.competence, like.says_yes, strict=True)
    return Annotation(
        reference=crowd.reference(made, every, f"{method} of {len(names)} annotators"),
        method=method,
        settings={
            **{name: getattr(chosen, name) for name in ("segment_length", "pool", "threshold", "inclusive")},
            "all_files": all_files,
        },
        annotators=tuple(Annotator(name, n, float(c), float(yes)) for name, n, c, yes in each),
        agreement=_agreement(crowd, _cut(chosen)),
        pairs=tuple(_pair(crowd.opinions, names, a, b) for a, b in combinations(range(len(names)), 2)),
        ceiling=_ceilings(crowd, method, chosen, tuple(scores), system),
        segments=crowd.grid.size,
        warnings=tuple(_warnings(crowd, method)),
        system=None if system is None else system.origin.name,
    )


def _named(annotators: Annotators) -> dict[str, Any]:
    """Return tables by name, at least two."""
    if isinstance(annotators, Mapping):
        named = dict(annotators)
    elif isinstance(annotators, Sequence) and not isinstance(annotators, str):
        names = [
            os.fspath(source) if isinstance(source, str | os.PathLike) else f"annotator {i}"
            for i, source in enumerate(annotators, 1)
        ]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise SettingsError(f"annotator {twice!r} is given twice; expected each once")
        named = dict(zip(names, annotators, strict=True))
    else:
        expected = "tables, or a mapping of names to tables"
        raise SettingsError(f"annotators must be {expected}, not {shown(annotators)}")
    check_names(named, "an annotator")
    if len(named) < 2:
        raise SettingsError(f"annotators must be two or more, not {len(named)}")
    return named


def _chosen(scores: Sequence[str], settings: Settings | None, values: Mapping[str, Any]) -> Settings:
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
    needed = {*map(group_of, scores)}
    only = tuple(dict.fromkeys(".".join(name.split(".")[:2]) for name in scores))
    quiet: dict[str, Any] = {
        "ci": None,
        "worst": 0,
        "groups": {},
        "scenes": {},
        "reference_sweep": False,
        "strict": False,
        # Other readings follow no package.
        "compat": chosen.compat if {"segment.hard", "event.hard"}.intersection(only) else None,
    }
    return replace(chosen, only=only, measures=tuple(g for g in GROUPS if g in needed), **quiet)


def _cut(settings: Settings) -> float:
    """Return the number above which a value is a label."""
    return math.nextafter(settings.threshold, -1.0) if settings.inclusive else settings.threshold


def _reference(opinions: Opinions, method: str, threshold: float) -> Floats:
    if method == "majority":
        return majority(opinions, threshold)
    if method == "mean":
        return mean(opinions)
    return mean(opinions, competence_of(opinions, threshold).competence)


def _agreement(crowd: Crowd, threshold: float) -> tuple[Agreement, ...]:
    nominal, interval = (column.tolist() for column in alphas(crowd.opinions, threshold))
    names = (*crowd.classes, None)
    found = [Agreement(k, _known(a), _known(b)) for k, a, b in zip(names, nominal, interval, strict=True)]
    return (found[-1], *found[:-1])


def _pair(opinions: Opinions, names: Sequence[str], a: int, b: int) -> PairAgreement:
    micro, macro, segments = soft_f(opinions, a, b)
    return PairAgreement(names[a], names[b], _known(micro), _known(macro), segments)


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _ceilings(
    crowd: Crowd, method: str, settings: Settings, names: Sequence[str], system: EventTable | None
) -> tuple[Ceiling, ...]:
    """Score each annotator, and the system, against what the others say of the files that are both's."""
    people: list[Scores | None] = []
    machine: list[Scores | None] = []
    for j, rows in enumerate(crowd.rows):
        others = np.arange(len(crowd.rows)) != j
        files = crowd.labelled[j] & crowd.labelled[others].any(axis=0)
        if not files.any():
            people.append(None)
            continue
        made = _reference(crowd.opinions.without(j), method, _cut(settings))
        reference, lengths = crowd.reference(made, files, "the others"), crowd.lengths(files)
        people.append(evaluate_rows(reference, rows, settings, lengths))
        if system is not None:
            machine.append(evaluate_rows(reference, system, settings, lengths))
    return tuple(_ceiling(name, people, machine) for name in names)


def _ceiling(name: str, people: Sequence[Scores | None], machine: Sequence[Scores | None]) -> Ceiling:
    of_each, of_system = (
        [None if scores is None else scores[name] for scores in found] for found in (people, machine)
    )
    ours, theirs = _mean(of_each), _mean(of_system)
    share = theirs / ours if ours and theirs is not None else None
    return Ceiling(name, tuple(of_each), ours, theirs, share)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _warnings(crowd: Crowd, method: str) -> list[str]:
    found = list(crowd.notes)
    if crowd.unlabelled:
        found.append(f"nobody labelled {listing(crowd.unlabelled, 'file')}; left out")
    alone = [crowd.files[f] for f in np.flatnonzero(crowd.labelled.sum(axis=0) == 1)]
    if alone:
        found.append(f"one annotator labelled {listing(alone, 'file')}; no agreement comes from there")
    if method == "competence" and len(crowd.rows) < _FEW:
        found.append("competences of two annotators cannot be told apart; expected three or more")
    return found
