"""Several annotators' tables: a reference of them, how far they agree, and what they reach themselves."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

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
from sedeval_soft.errors import SettingsError, counted
from sedeval_soft.evaluation.scores import Scores
from sedeval_soft.measures.detection import f_beta
from sedeval_soft.measures.names import ScoreName
from sedeval_soft.measures.registry import group_of, measure_of
from sedeval_soft.memory import check_room
from sedeval_soft.settings import GROUPS, Settings
from sedeval_soft.tables.event_table import EventTable, Origin
from sedeval_soft.tables.filenames import listing
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.ticks import to_ticks
from sedeval_soft.timeline.grid import Grid, pool_rows, rows_of
from sedeval_soft.timeline.recordings import Recordings, align, with_files

# The labels of several annotators on one grid of segments.


Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Index = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Opinions:
    """What annotators say.

    values: (n_annotators, n_classes, n_segments) in [0, 1]. labelled: (n_annotators, n_segments), whether an
    annotator labelled a segment: what is not labelled is missing, whatever its value.
    """

    values: Floats
    labelled: Bools

    def __len__(self) -> int:
        """Return the number of annotators."""
        return len(self.values)

    def without(self, annotator: int) -> Opinions:
        """Return what the others say."""
        others = np.arange(len(self)) != annotator
        return Opinions(self.values[others], self.labelled[others])


def mean(opinions: Opinions, weight: Floats | None = None) -> Floats:
    """Return the mean of the values of those who labelled, (n_classes, n_segments), 0 where nobody did.

    weight: (n_annotators,) not negative; where all who labelled have a weight of 0 they count alike.
    """
    given = opinions.labelled * (np.ones(len(opinions)) if weight is None else weight)[:, None]
    given = np.where(given.sum(axis=0) > 0, given, opinions.labelled)
    total = given.sum(axis=0)
    share = np.divide(given, total, out=np.zeros_like(given, dtype=np.float64), where=total > 0)
    found: Floats = np.clip(np.einsum("jcn,jn->cn", opinions.values, share), 0.0, 1.0)
    return found


def majority(opinions: Opinions, threshold: float) -> Floats:
    """Return 1 where more than half of those who labelled are above the threshold, else 0; a tie is 0."""
    votes = ((opinions.values > threshold) & opinions.labelled[:, None]).sum(axis=0)
    found: Floats = (2 * votes > opinions.labelled.sum(axis=0)).astype(np.float64)
    return found


# How far annotators agree.


def alpha(values: Floats, given: Bools) -> float:
    """Return Krippendorff's alpha with the squared difference, NaN where it is undefined.

    values: (n_annotators, n_units). given: the same shape, whether there is a value; units with fewer than
    two are left out. With values 0 and 1 this is the nominal alpha, with others that of intervals. It is
    undefined where all values are equal, or where no unit has two. Source: Krippendorff 2011.
    """
    kept = given.sum(axis=0) >= 2
    given = given[:, kept]
    m = given.sum(axis=0).astype(np.float64)
    n = m.sum()
    if not n:
        return float("nan")
    known = values[:, kept]
    # Alpha does not change with what is added to all values; sums of small ones are exact.
    centre = known[given].mean()
    known = np.where(given, known - centre, 0.0)
    if known[given].max() == known[given].min():
        return float("nan")
    total, squares = known.sum(axis=0), (known * known).sum(axis=0)
    observed = ((m * squares - total * total) / (m - 1.0)).sum() / n
    expected = (n * squares.sum() - total.sum() ** 2) / (n * (n - 1.0))
    return float(1.0 - observed / expected)


def alphas(opinions: Opinions, threshold: float) -> tuple[Floats, Floats]:
    """Return alpha of labels above the threshold, and of values: of each class, then of all together.

    Each of shape (n_classes + 1,).
    """
    n_annotators, n_classes, n_segments = opinions.values.shape
    found = np.empty((2, n_classes + 1))
    for i, values in enumerate(((opinions.values > threshold).astype(np.float64), opinions.values)):
        found[i, :-1] = [alpha(values[:, k], opinions.labelled) for k in range(n_classes)]
        given = np.repeat(opinions.labelled[:, None], n_classes, axis=1)
        flat = n_annotators, n_classes * n_segments
        found[i, -1] = alpha(values.reshape(flat), given.reshape(flat))
    return found[0], found[1]


def soft_f(opinions: Opinions, a: int, b: int) -> tuple[float, float, int]:
    """Return micro and macro soft F of two annotators, and how many segments both labelled.

    F = 2 sum min / (sum + sum), which does not depend on who is the reference; NaN where neither says
    anything. The macro average is over the classes that either of them uses.
    """
    both = opinions.labelled[a] & opinions.labelled[b]
    y, p = opinions.values[a][:, both], opinions.values[b][:, both]
    tp, n_a, n_b = np.minimum(y, p).sum(axis=1), y.sum(axis=1), p.sum(axis=1)
    used = n_a + n_b > 0
    micro = float(f_beta(tp.sum(), n_a.sum(), n_b.sum()))
    of_classes = f_beta(tp[used], n_a[used], n_b[used])
    return micro, float(of_classes.mean()) if used.any() else float("nan"), int(both.sum())


# How far each annotator can be believed, from what they say alone.
#
# The model is that of MACE (Hovy, Berg-Kirkpatrick, Vaswani & Hovy 2013), as MAESTRO used it (Martin-Morato &
# Mesaros 2023). An item is a class in a segment, and its label whether an annotator's value is above the
# threshold. The class is there with its own probability, the prevalence (MACE has 1/2 for all). An annotator
# knows with a probability, the competence, and says what is so; else says yes with a probability of his own,
# whatever is so. Labels are independent given what is so; those that are missing say nothing.
#
# Competence, readiness to say yes, and prevalence of classes are those of the highest likelihood that
# expectation maximisation finds from one beginning: competence 0.8, all else as often as it was said. Each
# count has 0.01 added, so that no probability is 0 or 1. Two annotators cannot be told apart in this way.


_FIRST, _ADDED = 0.8, 0.01
_STEPS, _CLOSE = 2000, 1e-9
_MISSING = 2

_MOST_CODES = 2**60


@dataclass(frozen=True, slots=True)
class Competence:
    """What annotators and classes are like.

    competence, says_yes: (n_annotators,), how often one knows, and says yes where not. prevalence:
    (n_classes,). likelihood: the logarithm of it, after each step.
    """

    competence: Floats
    says_yes: Floats
    prevalence: Floats
    likelihood: Floats


@dataclass(frozen=True, slots=True)
class _Patterns:
    """The different things that are said of a class.

    label: (n,) its class. said: (n_annotators, n) 0, 1, or 2 where missing. count: (n,) how often.
    """

    label: Index
    said: npt.NDArray[np.int8]
    count: Floats


def competence_of(opinions: Opinions, threshold: float) -> Competence:
    """Estimate what annotators are like; those who labelled nothing have the competence they began with."""
    patterns = _patterns(opinions, threshold)
    n_annotators, n_classes = opinions.values.shape[:2]
    yes, given = patterns.said == 1, patterns.said != _MISSING
    of_class = _sums(patterns.label, patterns.count * given, n_classes)
    prevalence = _share(_sums(patterns.label, patterns.count * yes, n_classes), of_class)
    says_yes = _share((patterns.count * yes).sum(axis=1), (patterns.count * given).sum(axis=1))
    found = Competence(np.full(n_annotators, _FIRST), says_yes, prevalence, np.zeros(0))
    history = []
    for _ in range(_STEPS):
        after, likelihood = _step(patterns, found)
        history.append(likelihood)
        moved = max(
            float(np.abs(getattr(after, name) - getattr(found, name)).max(initial=0.0))
            for name in ("competence", "says_yes", "prevalence")
        )
        found = after
        if moved < _CLOSE:
            break
    return Competence(found.competence, found.says_yes, found.prevalence, np.array(history))


def _step(patterns: _Patterns, now: Competence) -> tuple[Competence, float]:
    """Return what annotators are like after one step, and the log-likelihood before it."""
    yes, given = patterns.said == 1, patterns.said != _MISSING
    knows, guess = now.competence[:, None], now.says_yes[:, None]
    guessed = (1.0 - knows) * np.where(yes, guess, 1.0 - guess)
    # What is said, where the class is there and where it is not.
    there, absent = (np.where(given, np.log(guessed + knows * same), 0.0) for same in (yes, ~yes))
    prior = now.prevalence[patterns.label]
    odds = np.stack([np.log(prior) + there.sum(axis=0), np.log1p(-prior) + absent.sum(axis=0)])
    whole = np.logaddexp(odds[0], odds[1])
    is_there = np.exp(odds[0] - whole)
    right = np.where(yes, is_there, 1.0 - is_there)
    knew = np.where(given, right * knows / (guessed + knows), 0.0) * patterns.count
    guesses = np.where(given, patterns.count, 0.0) - knew
    n_given = (patterns.count * given).sum(axis=1)
    any_given = given.any(axis=0)
    n_classes = len(now.prevalence)
    prevalence = _share(
        _sums(patterns.label, patterns.count * is_there * any_given, n_classes),
        _sums(patterns.label, patterns.count * any_given, n_classes),
    )
    competence = np.where(n_given > 0, _share(knew.sum(axis=1), n_given), _FIRST)
    says_yes = _share((guesses * yes).sum(axis=1), guesses.sum(axis=1))
    likelihood = float((whole * patterns.count).sum())
    return Competence(competence, says_yes, prevalence, np.zeros(0)), likelihood


def _share(part: Floats, whole: Floats) -> Floats:
    return np.asarray((part + _ADDED) / (whole + 2 * _ADDED))


def _sums(label: Index, counts: Floats, n_classes: int) -> Floats:
    """Return the counts of each class, those of all annotators together: counts (..., n)."""
    counts = counts if counts.ndim == 1 else counts.sum(axis=0)
    return np.bincount(label, counts, minlength=n_classes).astype(np.float64)


def _patterns(opinions: Opinions, threshold: float) -> _Patterns:
    """Return what is said: few patterns stand for all segments, so that each step is over few."""
    n_annotators, n_classes, n_segments = opinions.values.shape
    code = np.repeat(np.arange(n_classes, dtype=np.int64), n_segments)
    most = n_classes
    for values, labelled in zip(opinions.values, opinions.labelled, strict=True):
        if most > _MOST_CODES // 3:
            _, code = np.unique(code, return_inverse=True)
            most = int(code.max(initial=0)) + 1
        code = code * 3 + np.where(labelled, values > threshold, _MISSING).astype(np.int64).ravel()
        most *= 3
    _, first, count = np.unique(code, return_index=True, return_counts=True)
    label, segment = np.divmod(first, max(n_segments, 1))
    said = np.where(
        opinions.labelled[:, segment], opinions.values[:, label, segment] > threshold, _MISSING
    ).astype(np.int8)
    return _Patterns(label, said.reshape(n_annotators, len(label)), count.astype(np.float64))


# What is found of several annotators: values, without formatting.


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
        names = {"files": len(self.reference.files), "classes": len(self.reference.classes)}
        return {
            "schema": "soft-sed-eval-annotation/1",
            "method": self.method,
            "settings": dict(self.settings),
            "warnings": list(self.warnings),
            **names,
            "segments": self.segments,
            "annotators": [
                {"name": a.name, "files": a.files, "competence": a.competence, "says_yes": a.says_yes}
                for a in self.annotators
            ],
            "agreement": [
                {"class": a.class_name, "nominal": a.nominal, "interval": a.interval} for a in self.agreement
            ],
            "pairs": [
                {
                    "annotators": [p.first, p.second],
                    "f1_micro": p.f1_micro,
                    "f1_macro": p.f1_macro,
                    "segments": p.segments,
                }
                for p in self.pairs
            ],
            "system": self.system,
            "ceiling": [
                {
                    "score": c.score,
                    "annotators": list(c.annotators),
                    "mean": c.mean,
                    "system": c.system,
                    "share": c.share,
                }
                for c in self.ceiling
            ],
        }


# Annotators' tables brought together: one list of files, one of classes, one grid.


_BYTES_PER_VALUE = 48


@dataclass(frozen=True, slots=True)
class Crowd:
    """Annotators on one grid.

    rows: what each has in its table, its codes those of `files` and `classes`. length: (n_files,) seconds.
    labelled: (n_annotators, n_files). unlabelled: files that nobody labelled, which are not among `files`.
    notes: what a reader should know of how names were matched.
    """

    rows: tuple[EventTable, ...]
    files: tuple[str, ...]
    classes: tuple[str, ...]
    length: Floats
    grid: Grid
    opinions: Opinions
    labelled: Bools
    unlabelled: tuple[str, ...]
    notes: tuple[str, ...]

    def lengths(self, files: Bools) -> dict[str, float]:
        """Return the seconds of some files, by name."""
        kept = np.flatnonzero(files).tolist()
        return {self.files[f]: float(self.length[f]) for f in kept}

    def reference(self, values: Floats, files: Bools, name: str) -> EventTable:
        """Return values of all segments, (n_classes, n_segments), as rows of some files."""
        inside = np.repeat(files, self.grid.n_segments)
        grid = Grid.over(to_ticks(self.length[files]), self.grid.segment)
        return rows_of(values[:, inside], grid, tuple(self.lengths(files)), self.classes, Origin(name))


def brought_together(
    tables: Sequence[EventTable],
    settings: Settings,
    durations: Mapping[str, float] | None,
    *,
    all_files: bool,
) -> Crowd:
    """Bring the tables of annotators together.

    settings: of segments and classes. durations: seconds by file name, and the list of files. all_files:
    everyone labelled all files, also those that a table does not name.
    """
    plain = Settings.of(classes=settings.classes)
    base, lengths = _union(tables, plain)
    if durations is not None:
        named = align(base, base, plain, durations)
        given = dict(zip(named.files, named.length.tolist(), strict=True))
        lengths = {name: seconds or lengths.get(name, 0.0) for name, seconds in given.items()}
    pairs = [align(base, rows, plain, lengths) for rows in tables]
    everything = pairs[0].files
    labelled = np.array(
        [[all_files or name not in pair.findings.missing for name in everything] for pair in pairs],
        dtype=bool,
    ).reshape(len(tables), len(everything))
    kept = labelled.any(axis=0)
    notes = {note for pair in pairs for note in (*pair.findings.doubtful, *pair.findings.notes)}
    dropped = {name for pair in pairs for name in pair.findings.dropped}
    files = tuple(np.array(everything, dtype=object)[kept])
    pairs = [with_files(pair, files) for pair in pairs]
    grid = Grid.over(pairs[0].reach_ticks, settings.segment_ticks)
    return Crowd(
        rows=tuple(pair.system for pair in pairs),
        files=files,
        classes=pairs[0].classes,
        length=pairs[0].reach,
        grid=grid,
        opinions=_opinions(pairs, grid, labelled[:, kept], settings),
        labelled=labelled[:, kept],
        unlabelled=tuple(sorted({*everything} - {*files} | dropped)),
        notes=tuple(sorted(notes)),
    )


def _union(tables: Sequence[EventTable], settings: Settings) -> tuple[EventTable, dict[str, float]]:
    """Return rows that hold nothing but all names, and how long files are by their last labels."""
    base, lengths = tables[0], dict[str, float]()
    for rows in (*tables[1:], tables[0]):
        pair = align(base, rows, settings)
        for name, seconds in zip(pair.files, pair.reach.tolist(), strict=True):
            lengths[name] = max(seconds, lengths.get(name, 0.0))
        code, number = np.zeros(0, dtype=np.int32), np.zeros(0)
        base = EventTable.long(pair.files, pair.classes, code, code, number, number, None, tables[0].origin)
    return base, lengths


def _opinions(pairs: Sequence[Recordings], grid: Grid, labelled: Bools, settings: Settings) -> Opinions:
    n_classes = len(pairs[0].classes)
    check_room(
        _BYTES_PER_VALUE * len(pairs) * max(grid.size, 1) * max(n_classes, 1),
        f"for {len(pairs)} annotators x {counted(grid.size, 'segment')} x {counted(n_classes, 'class')}",
        "A larger --segment-length gives fewer",
    )
    values = np.array([pool_rows(pair.system, grid, settings.pool) for pair in pairs])
    shape = len(pairs), n_classes, grid.size
    return Opinions(values.reshape(shape), np.repeat(labelled, grid.n_segments, axis=1))


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
