"""Several annotators' tables: a reference of them, how far they agree, and what they reach themselves.

Values of segments are (n_annotators, n_classes, n_segments) in [0, 1]; `labelled` is whether an annotator
labelled a segment, (n_annotators, n_segments): what is not labelled is missing, whatever its value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from sedeval_soft.api.comparison import named_sources
from sedeval_soft.api.evaluation import evaluate_rows
from sedeval_soft.api.sources import Durations, limits_from, read_lengths, settings_from, shown, to_rows
from sedeval_soft.arrays import Bools, Floats
from sedeval_soft.errors import SettingsError, counted, visible
from sedeval_soft.measures.detection import f_beta
from sedeval_soft.measures.registry import ScoreName, group_of, measure_of
from sedeval_soft.memory import check_room
from sedeval_soft.report.table import Page, Table, number, text
from sedeval_soft.settings import GROUPS, Settings, short_fraction
from sedeval_soft.tables.event_table import EventTable, Origin
from sedeval_soft.tables.filenames import listing
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.ticks import to_ticks
from sedeval_soft.timeline.grid import Grid, pool_rows, rows_of
from sedeval_soft.timeline.recordings import align

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

FIRST_COMPETENCE = 0.8
"""Where the estimate of a competence begins, and stays for an annotator who labelled nothing."""

_ADDED, _CLOSE, _STEPS = 0.01, 1e-9, 2000

_FEW = 3
"""Annotators below whom competences mean little."""

_MOST_COLUMNS = 8
"""Annotators up to which the ceiling has a column for each in a text."""

_BYTES_PER_VALUE = 48


class Annotator(NamedTuple):
    """One annotator: the name of the table, how many files it labels, and what `competence` finds.

    says_yes: how often yes is said where the annotator does not know.
    """

    name: str
    files: int
    competence: float
    says_yes: float


class Agreement(NamedTuple):
    """Krippendorff's alpha of a class, None for all: of labels (nominal) and of values (interval)."""

    class_name: str | None
    nominal: float | None
    interval: float | None


class PairAgreement(NamedTuple):
    """Soft F of two annotators over the segments that both labelled."""

    annotators: tuple[str, str]
    f1_micro: float | None
    f1_macro: float | None
    segments: int


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
            "annotators": [each._asdict() for each in self.annotators],
            "agreement": [
                dict(zip(("class", "nominal", "interval"), each, strict=True)) for each in self.agreement
            ],
            "pairs": [each._asdict() for each in self.pairs],
            "system": self.system,
            "ceiling": [each._asdict() for each in self.ceiling],
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
        can be believed (see `competence_of`); or `majority`, 1 where more than half are above
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
    crowd = _Crowd.of_tables(tables, chosen, read_lengths(durations, limits), all_files=all_files)
    if crowd.classes:
        chosen = replace(chosen, classes=crowd.classes)
    if system is not None:
        # File names are matched once, with all of the annotators'.
        anything, lengths = crowd.reference(crowd.values.max(axis=0), "annotators")
        system = align(anything, system, Settings.of(classes=chosen.classes), lengths).system
    threshold, labelled, names = _threshold(chosen), crowd.labelled, tuple(named)
    estimate = competence_of(crowd.values, labelled, threshold)
    numbers = (crowd.has_file.sum(axis=1), estimate.competence, estimate.says_yes)
    nominal, interval = (
        alphas(values_, labelled) for values_ in ((crowd.values > threshold).astype(float), crowd.values)
    )
    pairs = [
        PairAgreement((names[a], names[b]), *soft_f(crowd.values[[a, b]], labelled[a] & labelled[b]))
        for a, b in combinations(range(len(names)), 2)
    ]
    warnings = [*crowd.warnings]
    if method == "competence" and len(tables) < _FEW:
        warnings.append("which of two annotators is more competent cannot be known; expected three or more")
    made = reference_of(crowd.values, labelled, method, threshold)
    shaped = {name: getattr(chosen, name) for name in ("segment_length", "pool", "threshold", "inclusive")}
    return Annotation(
        reference=crowd.reference(made, f"{method} of {len(names)} annotators")[0],
        method=method,
        settings={**shaped, "all_files": all_files},
        annotators=tuple(map(Annotator, names, *(each.tolist() for each in numbers))),
        agreement=tuple(map(Agreement, (None, *crowd.classes), nominal, interval)),
        pairs=tuple(pairs),
        ceiling=_ceilings(crowd, method, chosen, scores, system),
        segments=crowd.grid.size,
        warnings=tuple(warnings),
        system=None if system is None else system.origin.name,
    )


class _Crowd(NamedTuple):
    """Annotators' tables on one list of files, one list of classes, and one grid of segments.

    tables: their rows, with codes of `files` and `classes`. length: (n_files,) seconds. has_file:
    (n_annotators, n_files), who labelled which. warnings: of how names were matched, and of files that few
    labelled.
    """

    tables: tuple[EventTable, ...]
    files: tuple[str, ...]
    classes: tuple[str, ...]
    length: Floats
    grid: Grid
    values: Floats
    labelled: Bools
    has_file: Bools
    warnings: tuple[str, ...]

    @classmethod
    def of_tables(
        cls,
        tables: Sequence[EventTable],
        settings: Settings,
        durations: Mapping[str, float] | None,
        *,
        all_files: bool,
    ) -> _Crowd:
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
            given = zip(pair.files, pair.length.tolist(), strict=True)
            lengths = {name: seconds or lengths.get(name, 0.0) for name, seconds in given}
        pairs = [align(names, table, plain, lengths) for table in tables]
        named = np.array(pairs[0].files, dtype=object)
        missing = [{*pair.findings.missing} if not all_files else set() for pair in pairs]
        has_file = np.array([[name not in lacking for name in named] for lacking in missing], dtype=bool)
        has_file = has_file.reshape(len(tables), len(named))
        number_of = has_file.sum(axis=0)
        warnings = sorted({note for p in pairs for note in (*p.findings.doubtful, *p.findings.notes)})
        unlabelled = {*named[number_of == 0]} | {name for pair in pairs for name in pair.findings.dropped}
        if unlabelled:
            warnings.append(f"nobody labelled {listing(sorted(unlabelled), 'file')}; left out")
        alone = named[number_of == 1].tolist()
        if alone:
            warnings.append(
                f"one annotator labelled {listing(alone, 'file')}; it says nothing about agreement"
            )
        files, has_file = tuple(named[number_of > 0].tolist()), has_file[:, number_of > 0]
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
        labelled = np.repeat(has_file, grid.n_segments, axis=1)
        rows = tuple(pair.system for pair in pairs)
        return cls(rows, files, classes, pairs[0].reach, grid, values, labelled, has_file, tuple(warnings))

    def reference(
        self, values: Floats, name: str, files: Bools | None = None
    ) -> tuple[EventTable, dict[str, float]]:
        """Return values, (n_classes, n_segments), as rows of some files (None: of all), and their lengths."""
        files = np.ones(len(self.files), dtype=bool) if files is None else files
        lengths = {self.files[f]: float(self.length[f]) for f in np.flatnonzero(files)}
        grid = Grid.over(to_ticks(self.length[files]), self.grid.edges.step)
        inside = np.repeat(files, self.grid.n_segments)
        return rows_of(values[:, inside], grid, tuple(lengths), self.classes, Origin(name)), lengths


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


def _ceilings(
    crowd: _Crowd, method: str, settings: Settings, names: Sequence[str], system: EventTable | None
) -> tuple[Ceiling, ...]:
    """Score each annotator, and the system, against what the others say of the files that are both's."""
    people: list[Mapping[str, Any]] = []
    machine: list[Mapping[str, Any]] = []
    undefined = dict.fromkeys(names)
    for j, table in enumerate(crowd.tables):
        others, labelled = np.delete(crowd.values, j, axis=0), np.delete(crowd.labelled, j, axis=0)
        files = crowd.has_file[j] & np.delete(crowd.has_file, j, axis=0).any(axis=0)
        if not files.any():
            people.append(undefined)
            continue
        values = reference_of(others, labelled, method, _threshold(settings))
        reference, lengths = crowd.reference(values, "the others", files)
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
    system = () if annotation.system is None else ("system", "share")

    def table(title: str, head: Sequence[str], rows: Sequence[Sequence[Any]], names: int = 1) -> Table:
        cells = [tuple(visible(x) if isinstance(x, str) else number(x) for x in row) for row in rows]
        return Table(title, tuple(head), tuple(cells), names=names)

    tables = (
        table("Annotators", ("annotator", "files", "competence", "says yes"), annotation.annotators),
        table(
            "Agreement: alpha",
            ("class", "labels (nominal)", "values (interval)"),
            [("(all)" if each[0] is None else each[0], *each[1:]) for each in annotation.agreement],
        ),
        table(
            "Soft F of two annotators",
            ("annotator", "and", "micro", "macro", "segments"),
            [(*pair.annotators, *pair[1:]) for pair in annotation.pairs],
            names=2,
        ),
        table(
            "Ceiling: what annotators reach",
            ("score", *(visible(a.name) for a in annotators), "mean", *system),
            [
                (c.score, *(c.annotators if annotators else ()), c.mean, *c[3:][: len(system)])
                for c in annotation.ceiling
            ],
        ),
    )
    share = "; the share is the system's mean against these references by theirs" if system else ""
    notes = (
        "Alpha is Krippendorff's. Soft F of two annotators is over the segments that both labelled, its",
        "macro average over the classes that either uses. The ceiling is each annotator against the",
        f"reference of the others, in the files that both labelled{share}.",
        "- is undefined: there is nothing to divide by.",
    )
    return text([Page("", lines, tables, notes)])


# References of what several say, and how far they agree.


def reference_of(values: Floats, labelled: Bools, method: str, threshold: float) -> Floats:
    """Return the reference by one of the methods mean, competence and majority, (n_classes, n_segments).

    By the majority it is 1 where more than half of those who labelled are above the threshold, else 0; a tie
    is 0.
    """
    if method == "majority":
        votes = ((values > threshold) & labelled[:, None]).sum(axis=0)
        return np.asarray(2 * votes > labelled.sum(axis=0), dtype=np.float64)
    weight = competence_of(values, labelled, threshold).competence if method == "competence" else None
    return mean(values, labelled, weight)


def mean(values: Floats, labelled: Bools, weight: Floats | None = None) -> Floats:
    """Return the mean of the values of those who labelled, (n_classes, n_segments), 0 where nobody did.

    weight: (n_annotators,) not negative; where all who labelled have a weight of 0 they count alike.
    """
    given = labelled * (np.ones(len(values)) if weight is None else weight)[:, None]
    given = np.where(given.sum(axis=0) > 0, given, labelled)
    total = given.sum(axis=0)
    share = np.divide(given, total, out=np.zeros_like(given, dtype=np.float64), where=total > 0)
    return np.asarray(np.clip(np.einsum("jcn,jn->cn", values, share), 0.0, 1.0))


def alpha(values: Floats, given: Bools) -> float | None:
    """Return Krippendorff's alpha with the squared difference, None where it is undefined.

    values: (n_annotators, n_units). given: the same shape, whether there is a value; units with fewer than
    two are left out. With values 0 and 1 this is the nominal alpha, with others that of intervals. It is
    undefined where all values are equal, or where no unit has two. Source: Krippendorff 2011.
    """
    paired = given.sum(axis=0) >= 2
    given, values = given[:, paired], values[:, paired]
    m = given.sum(axis=0).astype(np.float64)
    n = m.sum()
    if not n:
        return None
    # Alpha does not change with what is added to all values; sums of small ones are exact.
    values = np.where(given, values - values[given].mean(), 0.0)
    if values[given].max() == values[given].min():
        return None
    total, squares = values.sum(axis=0), (values * values).sum(axis=0)
    observed = ((m * squares - total * total) / (m - 1.0)).sum() / n
    expected = (n * squares.sum() - total.sum() ** 2) / (n * (n - 1.0))
    return float(1.0 - observed / expected)


def alphas(values: Floats, labelled: Bools) -> list[float | None]:
    """Return alpha of all classes together, then of each class."""
    given = np.broadcast_to(labelled[:, None], values.shape)
    shape = len(values), math.prod(values.shape[1:])
    return [
        alpha(values.reshape(shape), given.reshape(shape)),
        *(alpha(v, labelled) for v in values.swapaxes(0, 1)),
    ]


def soft_f(values: Floats, both: Bools) -> tuple[float | None, float | None, int]:
    """Return micro and macro soft F of two annotators, and how many segments both labelled.

    values: (2, n_classes, n_segments). both: (n_segments,), which both labelled. F = 2 sum min / (sum + sum),
    which does not depend on who is the reference; None where neither says anything. The macro average is over
    the classes that either of them uses.
    """
    y, p = values[:, :, both]
    tp, n_a, n_b = np.minimum(y, p).sum(axis=1), y.sum(axis=1), p.sum(axis=1)
    used = n_a + n_b > 0
    if not used.any():
        return None, None, int(both.sum())
    macro = float(f_beta(tp[used], n_a[used], n_b[used]).mean())
    return float(f_beta(tp.sum(), n_a.sum(), n_b.sum())), macro, int(both.sum())


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


class Competence(NamedTuple):
    """What annotators and classes are like.

    competence, says_yes: (n_annotators,), how often one knows, and says yes where not. prevalence:
    (n_classes,). likelihood: the logarithm of it, before each step.
    """

    competence: Floats
    says_yes: Floats
    prevalence: Floats
    likelihood: Floats


def competence_of(values: Floats, labelled: Bools, threshold: float) -> Competence:
    """Estimate what annotators are like; those who labelled nothing have the competence they began with."""
    n_annotators, n_classes, n_segments = values.shape
    # Few patterns of answers (0, 1, or 2 where missing) stand for all items: each step is over few.
    answers = np.where(labelled[:, None], values > threshold, 2).astype(np.int8)
    answers = answers.reshape(n_annotators, n_classes * n_segments)
    code = class_ = np.repeat(np.arange(n_classes), n_segments)
    for each in answers:
        if code.max(initial=0) > 2**60:
            code = np.unique(code, return_inverse=True)[1]
        code = code * 3 + each
    _, first, count = np.unique(code, return_index=True, return_counts=True)
    class_, answers = class_[first], answers[:, first]
    yes, given = answers == 1, answers != 2
    weight = count * given
    n_given, any_given = weight.sum(axis=1), given.any(axis=0)

    def by_class(counts: Floats) -> Floats:
        return np.bincount(class_, counts, minlength=n_classes).astype(np.float64)

    def share(part: Floats, whole: Floats) -> Floats:
        return np.asarray((part + _ADDED) / (whole + 2 * _ADDED))

    n_items = by_class(count * any_given)
    competence = np.full(n_annotators, FIRST_COMPETENCE)
    says_yes = share((count * yes).sum(axis=1), n_given)
    prevalence = share(by_class((count * yes).sum(axis=0)), by_class(weight.sum(axis=0)))
    likelihood: list[float] = []
    for _ in range(_STEPS):
        before = np.concatenate((competence, says_yes, prevalence))
        knows, guess = competence[:, None], says_yes[:, None]
        guessed = (1.0 - knows) * np.where(yes, guess, 1.0 - guess)
        # How probable an answer is, where the class is there and where it is not.
        there, absent = (np.where(given, np.log(guessed + knows * right), 0.0) for right in (yes, ~yes))
        prior = prevalence[class_]
        log_there = np.log(prior) + there.sum(axis=0)
        log_any = np.logaddexp(log_there, np.log1p(-prior) + absent.sum(axis=0))
        is_there = np.exp(log_there - log_any)
        right = np.where(yes, is_there, 1.0 - is_there)
        knew = np.where(given, right * knows / (guessed + knows), 0.0) * count
        guesses = weight - knew
        likelihood.append(float((log_any * count).sum()))
        competence = np.where(n_given > 0, share(knew.sum(axis=1), n_given), FIRST_COMPETENCE)
        says_yes = share((guesses * yes).sum(axis=1), guesses.sum(axis=1))
        prevalence = share(by_class(count * is_there * any_given), n_items)
        after = np.concatenate((competence, says_yes, prevalence))
        if np.abs(after - before).max(initial=0.0) < _CLOSE:
            break
    return Competence(competence, says_yes, prevalence, np.array(likelihood))
