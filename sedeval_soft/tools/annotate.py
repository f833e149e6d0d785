"""Several annotators' tables: a reference of them, how far they agree, and what they reach themselves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from sedeval_soft.api.comparison import named_sources
from sedeval_soft.api.evaluation import evaluate_rows
from sedeval_soft.api.sources import (
    Durations,
    limits_from,
    read_lengths,
    settings_from,
    shown,
    to_rows,
)
from sedeval_soft.errors import SettingsError, counted, visible
from sedeval_soft.evaluation.scores import Scores
from sedeval_soft.measures.names import ScoreName
from sedeval_soft.measures.registry import group_of, measure_of
from sedeval_soft.memory import check_room
from sedeval_soft.report.table import Page, Table, number
from sedeval_soft.report.text import text
from sedeval_soft.settings import GROUPS, Settings, short_fraction
from sedeval_soft.tables.event_table import EventTable, Origin
from sedeval_soft.tables.filenames import listing
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.ticks import to_ticks
from sedeval_soft.timeline.grid import Grid, pool_rows, rows_of
from sedeval_soft.timeline.recordings import align
from sedeval_soft.tools.agreement import (
    Bools,
    Floats,
    Opinions,
    alphas,
    competence_of,
    reference_of,
    soft_f,
)

METHODS = {
    "mean": "mean of those who labelled",
    "competence": "mean of those who labelled, weighted by competence",
    "majority": "majority of those who labelled",
}
"""How a reference is made of labels, in words."""

SCORES = (
    *("segment.soft.f1.micro", "segment.soft.f1.macro"),
    *("segment.hard.f1.micro", "segment.hard.f1.macro"),
)
"""What the ceiling is of where nothing else is said."""

_FEW = 3
"""Annotators below whom competences mean little."""

_MOST_COLUMNS = 8
"""Annotators up to which the ceiling has a column for each in a text."""

_BYTES_PER_VALUE = 48


@dataclass(frozen=True, slots=True)
class Annotator:
    """One annotator: the name of the table, how many files it labels, and what `competence` finds.

    says_yes: how often yes is said where the annotator does not know.
    """

    name: str
    files: int
    competence: float
    says_yes: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """Krippendorff's alpha of a class, None for all: of labels (nominal) and of values (interval)."""

    class_name: str | None
    nominal: float | None
    interval: float | None


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Soft F of two annotators over the segments that both labelled."""

    first: str
    second: str
    f1_micro: float | None
    f1_macro: float | None
    segments: int


@dataclass(frozen=True, slots=True)
class Ceiling:
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
    it. system: the name of the system whose share of the ceiling was asked for.
    """

    reference: EventTable
    method: str
    settings: Mapping[str, Any]
    annotators: tuple[Annotator, ...]
    agreement: tuple[Agreement, ...]
    pairs: tuple[PairAgreement, ...]
    ceiling: tuple[Ceiling, ...]
    segments: int
    warnings: tuple[str, ...] = ()
    system: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return all but the reference as plain values, as `soft-sed-eval annotate --format json` has it."""
        return {
            "schema": "soft-sed-eval-annotation/1",
            "method": self.method,
            "settings": dict(self.settings),
            "warnings": list(self.warnings),
            "files": len(self.reference.files),
            "classes": len(self.reference.classes),
            "segments": self.segments,
            "annotators": [asdict(annotator) for annotator in self.annotators],
            "agreement": [
                {"class": a.class_name, "nominal": a.nominal, "interval": a.interval} for a in self.agreement
            ],
            "pairs": [
                {"annotators": [pair.pop("first"), pair.pop("second")], **pair}
                for pair in map(asdict, self.pairs)
            ],
            "system": self.system,
            "ceiling": [asdict(c) | {"annotators": list(c.annotators)} for c in self.ceiling],
        }


def annotate(
    annotators: Sequence[Any] | Mapping[str, Any],
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
        can be believed (see `tools.agreement`); or `majority`, 1 where more than half are above
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
    chosen = _settings_for(scores, settings, values)
    limits = limits_from(limits)
    named = named_sources(annotators, "annotator", "tables, or a mapping of names to tables", numbered=True)
    tables = [to_rows(source, name, chosen, limits) for name, source in named.items()]
    system = None if ceiling_of is None else to_rows(ceiling_of, "system", chosen, limits)
    crowd = Crowd.of_tables(tables, chosen, read_lengths(durations, limits), all_files=all_files)
    if crowd.classes:
        chosen = replace(chosen, classes=crowd.classes)
    every = np.ones(len(crowd.files), dtype=bool)
    opinions, threshold, names = crowd.opinions, _threshold(chosen), tuple(named)
    if system is not None:
        # File names are matched once, with all of the annotators'.
        anything = crowd.reference(opinions.values.max(axis=0), every, "annotators")
        system = align(anything, system, Settings.of(classes=chosen.classes), crowd.lengths(every)).system
    estimate = competence_of(opinions, threshold)
    people = zip(
        names,
        crowd.labelled.sum(axis=1).tolist(),
        estimate.competence.tolist(),
        estimate.says_yes.tolist(),
        strict=True,
    )
    labels = (opinions.values > threshold).astype(np.float64)
    alpha = zip(
        (None, *crowd.classes),
        *(map(_or_none, alphas(values, opinions.labelled)) for values in (labels, opinions.values)),
        strict=True,
    )
    pairs = []
    for a, b in combinations(range(len(names)), 2):
        micro, macro, segments = soft_f(opinions, a, b)
        pairs.append(PairAgreement(names[a], names[b], _or_none(micro), _or_none(macro), segments))
    warnings = [*crowd.warnings]
    if method == "competence" and len(tables) < _FEW:
        warnings.append("competences of two annotators cannot be told apart; expected three or more")
    made = reference_of(opinions, method, threshold)
    shaped = {name: getattr(chosen, name) for name in ("segment_length", "pool", "threshold", "inclusive")}
    return Annotation(
        reference=crowd.reference(made, every, f"{method} of {len(names)} annotators"),
        method=method,
        settings={**shaped, "all_files": all_files},
        annotators=tuple(Annotator(*each) for each in people),
        agreement=tuple(Agreement(*each) for each in alpha),
        pairs=tuple(pairs),
        ceiling=_ceilings(crowd, method, chosen, scores, system),
        segments=crowd.grid.size,
        warnings=tuple(warnings),
        system=None if system is None else system.origin.name,
    )


@dataclass(frozen=True, slots=True)
class Crowd:
    """Annotators' tables on one list of files, one list of classes, and one grid of segments.

    tables: their rows, with codes of `files` and `classes`. length: (n_files,) seconds. labelled:
    (n_annotators, n_files). warnings: of how names were matched, and of files that few labelled.
    """

    tables: tuple[EventTable, ...]
    files: tuple[str, ...]
    classes: tuple[str, ...]
    length: Floats
    grid: Grid
    opinions: Opinions
    labelled: Bools
    warnings: tuple[str, ...]

    @classmethod
    def of_tables(
        cls,
        tables: Sequence[EventTable],
        settings: Settings,
        durations: Mapping[str, float] | None,
        *,
        all_files: bool,
    ) -> Crowd:
        """Bring tables together; files that nobody labelled are left out.

        durations: seconds by file name, and the list of files. all_files: everyone labelled all files, also
        those that a table does not name.
        """
        plain = Settings.of(classes=settings.classes)
        # A table without rows, in which all names gather, and how long files are by their last labels.
        names, lengths = tables[0], dict[str, float]()
        for table in (*tables[1:], tables[0]):
            pair = align(names, table, plain)
            for name, seconds in zip(pair.files, pair.reach.tolist(), strict=True):
                lengths[name] = max(seconds, lengths.get(name, 0.0))
            names = replace(EventTable.empty(tables[0].origin), files=pair.files, classes=pair.classes)
        if durations is not None:
            pair = align(names, names, plain, durations)
            lengths = {
                name: seconds or lengths.get(name, 0.0)
                for name, seconds in zip(pair.files, pair.length.tolist(), strict=True)
            }
        pairs = [align(names, table, plain, lengths) for table in tables]
        all_names = pairs[0].files
        labelled = np.array(
            [[all_files or name not in pair.findings.missing for name in all_names] for pair in pairs],
            dtype=bool,
        ).reshape(len(tables), len(all_names))
        anyone = np.logical_or.reduce(labelled)
        files = tuple(
            name for name, is_labelled in zip(all_names, anyone.tolist(), strict=True) if is_labelled
        )
        warnings = sorted({note for p in pairs for note in (*p.findings.doubtful, *p.findings.notes)})
        unlabelled = {*all_names} - {*files} | {name for pair in pairs for name in pair.findings.dropped}
        if unlabelled:
            warnings.append(f"nobody labelled {listing(sorted(unlabelled), 'file')}; left out")
        labelled = labelled[:, anyone]
        alone = [
            name for name, n in zip(files, np.count_nonzero(labelled, axis=0).tolist(), strict=True) if n == 1
        ]
        if alone:
            warnings.append(f"one annotator labelled {listing(alone, 'file')}; no agreement comes from there")
        pairs = [pair.with_files(files) for pair in pairs]
        grid, classes = Grid.over(pairs[0].reach_ticks, settings.segment_ticks), pairs[0].classes
        check_room(
            _BYTES_PER_VALUE * len(pairs) * max(grid.size, 1) * max(len(classes), 1),
            f"for {len(pairs)} annotators x {counted(grid.size, 'segment')} "
            f"x {counted(len(classes), 'class')}",
            "A larger --segment-length gives fewer",
        )
        values = np.array([pool_rows(pair.system, grid, settings.pool) for pair in pairs])
        values = values.reshape(len(pairs), len(classes), grid.size)
        return cls(
            tables=tuple(pair.system for pair in pairs),
            files=files,
            classes=classes,
            length=pairs[0].reach,
            grid=grid,
            opinions=Opinions(values, np.repeat(labelled, grid.n_segments, axis=1)),
            labelled=labelled,
            warnings=tuple(warnings),
        )

    def lengths(self, files: Bools) -> dict[str, float]:
        """Return the seconds of some files, by name."""
        return {self.files[f]: float(self.length[f]) for f in np.flatnonzero(files)}

    def reference(self, values: Floats, files: Bools, name: str) -> EventTable:
        """Return values of all segments, (n_classes, n_segments), as rows of some files."""
        inside = np.repeat(files, self.grid.n_segments)
        grid = Grid.over(to_ticks(self.length[files]), self.grid.edges.step)
        return rows_of(values[:, inside], grid, tuple(self.lengths(files)), self.classes, Origin(name))


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
    return replace(
        chosen,
        only=only,
        measures=tuple(group for group in GROUPS if group in groups),
        # Other readings follow no package.
        compat=chosen.compat if {"segment.hard", "event.hard"}.intersection(only) else None,
        ci=None,
        worst=0,
        groups={},
        scenes={},
        reference_sweep=False,
        strict=False,
    )


def _threshold(settings: Settings) -> float:
    """Return the number above which a value is a label."""
    return math.nextafter(settings.threshold, -1.0) if settings.inclusive else settings.threshold


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value


def _ceilings(
    crowd: Crowd, method: str, settings: Settings, names: Sequence[str], system: EventTable | None
) -> tuple[Ceiling, ...]:
    """Score each annotator, and the system, against what the others say of the files that are both's."""
    people: list[Scores | None] = []
    machine: list[Scores | None] = []
    for j, table in enumerate(crowd.tables):
        files = crowd.labelled[j] & np.delete(crowd.labelled, j, axis=0).any(axis=0)
        if not files.any():
            people.append(None)
            continue
        values = reference_of(crowd.opinions.without(j), method, _threshold(settings))
        reference, lengths = crowd.reference(values, files, "the others"), crowd.lengths(files)
        people.append(evaluate_rows(reference, table, settings, lengths))
        if system is not None:
            machine.append(evaluate_rows(reference, system, settings, lengths))

    def values_and_mean(
        name: str, scored: Sequence[Scores | None]
    ) -> tuple[list[float | None], float | None]:
        values = [None if scores is None else scores[name] for scores in scored]
        defined = [value for value in values if value is not None]
        return values, sum(defined) / len(defined) if defined else None

    ceilings = []
    for name in names:
        (each, ours), (_, theirs) = values_and_mean(name, people), values_and_mean(name, machine)
        share = theirs / ours if ours and theirs is not None else None
        ceilings.append(Ceiling(name, tuple(each), ours, theirs, share))
    return tuple(ceilings)


def annotation_text(annotation: Annotation) -> str:
    """Return all but the reference as tables."""
    rows, settings = annotation.reference, annotation.settings
    length = short_fraction(settings["segment_length"]).removesuffix(".0")
    segments = f"{counted(annotation.segments, 'segment')} of {length} s"
    size = f"{counted(len(rows.files), 'file')}, {segments}, {counted(len(rows.classes), 'class')}"
    lacking = "one without events" if settings["all_files"] else "missing"
    lines = (
        ("reference", f"{METHODS[annotation.method]}: {size}"),
        ("labels", f"values above {settings['threshold']:g}; a file that a table lacks is {lacking}"),
    )
    annotators = annotation.annotators if len(annotation.annotators) <= _MOST_COLUMNS else ()
    system = ("system", "share") if annotation.system is not None else ()

    def cells(*values: str | float | None) -> tuple[str, ...]:
        return tuple(visible(value) if isinstance(value, str) else number(value) for value in values)

    people = [cells(a.name, a.files, a.competence, a.says_yes) for a in annotation.annotators]
    agreement = [
        cells("(all)" if a.class_name is None else a.class_name, a.nominal, a.interval)
        for a in annotation.agreement
    ]
    pairs = [cells(p.first, p.second, p.f1_micro, p.f1_macro, p.segments) for p in annotation.pairs]
    ceiling = [
        cells(c.score, *(c.annotators if annotators else ()), c.mean, *(getattr(c, name) for name in system))
        for c in annotation.ceiling
    ]
    of_each = ("score", *(visible(a.name) for a in annotators), "mean", *system)
    tables = (
        Table("Annotators", ("annotator", "files", "competence", "says yes"), tuple(people)),
        Table("Agreement: alpha", ("class", "labels (nominal)", "values (interval)"), tuple(agreement)),
        Table(
            "Soft F of two annotators",
            ("annotator", "and", "micro", "macro", "segments"),
            tuple(pairs),
            names=2,
        ),
        Table("Ceiling: what annotators reach", of_each, tuple(ceiling)),
    )
    share = "; the share is the system's mean against these references by theirs" if system else ""
    notes = (
        "Alpha is Krippendorff's. Soft F of two annotators is over the segments that both labelled, its",
        "macro average over the classes that either uses. The ceiling is each annotator against the",
        f"reference of the others, in the files that both labelled{share}.",
        "- is undefined: there is nothing to divide by.",
    )
    return text([Page("", lines, tables, notes)])
