"""Figures of one or more systems: what of them is wished for, is evaluated, and is drawn."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import chain
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

from sedeval_soft.api import (
    Durations,
    Parted,
    compare,
    evaluation_of,
    limits_from,
    path_of,
    settings_from,
    settings_of_points,
    with_folds,
    with_points,
)
from sedeval_soft.apps.plots.registry import KINDS, MATRIX_BASES, OPTIONS, RESAMPLED, kinds_with
from sedeval_soft.apps.plots.style import COLUMNS, form_of, in_style
from sedeval_soft.errors import SettingsError, counted, visible
from sedeval_soft.evaluation import Progress
from sedeval_soft.fields import DEFAULT_ONLY, Keywords
from sedeval_soft.measures import AVERAGES, ScoreName, group_of, measure_of
from sedeval_soft.names import did_you_mean
from sedeval_soft.plan import Plan
from sedeval_soft.report import measure_label, write_atomic
from sedeval_soft.settings import GROUPS, Schema, Settings, in_form
from sedeval_soft.tables import Limits

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sedeval_soft import Board, Diagnosis, Scores
    from sedeval_soft.timeline import Recordings

ORDERS = ("given", "name", "score", "size")
READINGS = ("hard", "tuned", "optimal", "soft")

_INCHES: Schema = {"type": "number", "minimum": 1.0, "maximum": 100.0}  # of a side of a figure
_FORMS: dict[str, tuple[Schema, ...]] = {
    "sort": ({"enum": ORDERS},),
    "start": ({"type": "number"},),
    "end": ({"type": "number"},),
    "max_classes": ({"type": "integer", "minimum": 1, "maximum": 999_999_999},),
    "class_names": ({"type": "array", "items": {"type": "string"}, "uniqueItems": True},),
    "width": (_INCHES, {"enum": tuple(COLUMNS)}),
    "height": (_INCHES,),
    "dpi": ({"type": "integer", "minimum": 30, "maximum": 2400},),
}
_TEXTS: Schema = {"type": "array", "items": {"type": "string"}}
_LONG = 32  # letters of a name in a list

_RANKING = ("soft", "optimal", "hard", "tuned")
"""Readings, the one first by which a leaderboard is sorted if it is evaluated."""

_MOST_PIXELS = 2e8  # pixels of a figure, which take four bytes each, and as many again to be packed
_PSDS_RANGE = 100.0  # false positives per hour up to which a PSD-ROC goes by default


@dataclass(frozen=True, slots=True)
class Wish:
    """The part of the systems that is drawn, and how large; None chooses a default for the kind of figure.

    - class_names: only these classes are drawn, in this order; averages over classes stay unchanged.
    - max_classes: so many at most. scores: names of scores or parts of them, as the kind of figure has it.
    - sort: the order of classes: as they are `given`, by `name`, by `score` or by `size` of their reference.
    - file: the recording. start, end: seconds of it.
    - width: inches, or `single` or `double` for one or both columns. height: inches, None to fit the content.
    - dpi: of a PNG, and of pixel images in other formats.
    """

    class_names: tuple[str, ...] = ()
    max_classes: int | None = None
    scores: tuple[str, ...] = ()
    sort: str | None = None
    file: str | None = None
    start: float | None = None
    end: float | None = None
    width: str | float | None = None
    height: float | None = None
    dpi: int = 300

    def __post_init__(self) -> None:
        """Check what can be checked without systems; raises SettingsError."""
        for name, forms in _FORMS.items():
            if getattr(self, name) is not None:
                in_form(name, getattr(self, name), forms)

    def inches(self, preferred: str = "single") -> float:
        """Return the width; preferred: the columns that suit the kind of figure."""
        width = preferred if self.width is None else self.width
        return COLUMNS[width] if isinstance(width, str) else float(width)


class Dot(NamedTuple):
    """A value with its interval; None for an undefined value and for ends of no interval."""

    value: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class System:
    """A system in a figure by its name.

    pair: both tables, if the figure draws them. diagnosis: the errors by kind, if the figure draws them.
    """

    name: str
    scores: Scores
    pair: Recordings | None = None
    diagnosis: Diagnosis | None = None

    def value(self, name: str) -> float | None:
        """Return the value of a score; None if it is undefined, or was not computed."""
        return self.dot(name).value

    def dot(self, name: str) -> Dot:
        """Return the value of a score and the ends of its interval."""
        score = self.scores.scores.get(name)
        return Dot() if score is None else Dot(score.value, score.low, score.high)


@dataclass(frozen=True, slots=True)
class Systems:
    """All systems of a kind of figure, at least one, and what of them is wished for; board: they, ranked."""

    kind: str
    wish: Wish
    all: tuple[System, ...]
    board: Board | None = None

    @property
    def several(self) -> bool:
        """Return whether there is more than one system."""
        return len(self.all) > 1

    @property
    def settings(self) -> Settings:
        """Return the settings that all were scored with."""
        return self.all[0].scores.settings

    @property
    def family(self) -> tuple[str, str]:
        """Return the basis and the reading that are shown, where the figure shows one of them."""
        return family_for(self.kind, self.settings)

    def classes(self) -> list[str]:
        """Return the classes that are wished for; raises SettingsError."""
        classes = list(dict.fromkeys(chain.from_iterable(system.scores.classes for system in self.all)))
        for name in self.wish.class_names:
            if name not in classes:
                hint = did_you_mean(name, classes) or f"; there are {joined(classes, 10)}"
                raise SettingsError(f"class {name!r} is not among those that are evaluated{hint}")
        return list(self.wish.class_names) or classes

    def size(self, name: str) -> float:
        """Return the size of the reference of a class, in whatever basis comes first."""
        sizes = (
            score.value
            for score in self.all[0].scores.scores.values()
            if score.measure == "n_ref" and score.class_name == name and score.group is None
        )
        return next(sizes, None) or 0.0

    def largest(self, names: Sequence[str], most: int) -> tuple[list[str], list[str]]:
        """Return the classes that are drawn, of too many those with most reference, and a note on the others.

        most: how many if nothing is wished for.
        """
        limit = self.wish.max_classes or len(self.wish.class_names) or most
        if len(names) <= limit:
            return list(names), []
        largest = {*sorted(names, key=lambda name: -self.size(name))[:limit]}
        omitted = counted(len(names) - limit, "class")
        return [name for name in names if name in largest], [f"Not drawn: {omitted} with less reference."]

    def undefined(self, names: Sequence[str], reason: str = "Undefined") -> list[str]:
        """Return the notes on classes of which nothing can be drawn; reason: why, of those with reference."""
        silent = [name for name in names if self.size(name) == 0]
        notes = {"No reference": silent, reason: [name for name in names if name not in silent]}
        return [f"{text}: {joined(listed)}." for text, listed in notes.items() if listed]

    def label(self, measure: str, basis: str = "", reading: str = "", average: str = "") -> str:
        """Return the name of a score in figures, such as `Segment-based macro F1 (soft)`."""
        short = measure_label(self.settings, measure)
        words = short if len(short) > 1 and short != measure else measure.replace("_", " ")
        text = " ".join(filter(None, [basis and f"{basis}-based", average, words]))
        return f"{text[:1].upper()}{text[1:]}" + (f" ({reading})" if reading else "")

    def caption(self, notes: str) -> str:
        """Return the draft of a caption: the content, the systems and files, and notes."""
        names, role = joined([system.name for system in self.all]), "Systems" if self.several else "System"
        summary = KINDS[self.kind].summary.partition(";")[0]
        files = counted(len(self.all[0].scores.files), "file")
        return visible(f"{summary[:1].upper()}{summary[1:]}. {role}: {names}; {files}. {notes}".strip())


def joined(names: Sequence[str], most: int = 6) -> str:
    """Return names in a row, those beyond the first few counted only; not ready to be drawn."""
    texts = [name if len(name) <= _LONG else f"{name[:_LONG]}\u2026" for name in names[:most]]
    return ", ".join(texts) + (f" and {len(names) - most} more" if len(names) > most else "")


def plot(
    kind: str,
    reference: Any,  # noqa: ANN401 - as for evaluate
    *systems: Any,  # noqa: ANN401
    names: Sequence[str] | None = None,
    output: str | os.PathLike[str] | None = None,
    durations: Durations | None = None,
    folds: Parted | None = None,
    progress: Progress | None = None,
    limits: Limits | None = None,
    settings: Settings | None = None,
    class_names: str | Sequence[str] = (),
    max_classes: int | None = None,
    scores: str | Sequence[str] = (),
    sort: str | None = None,
    file: str | None = None,
    start: float | None = None,
    end: float | None = None,
    width: str | float | None = None,
    height: float | None = None,
    dpi: int = 300,
    **values: Unpack[Keywords],
) -> Figure:
    """Draw a figure of one or more systems, and return it as a matplotlib Figure.

    - kind: one of `sedeval_soft.apps.plots.registry.KINDS`.
    - reference, systems: as for `evaluate`. names: of the systems in the figure.
    - output: a path that ends with .pdf, .png or .svg, to which the figure is written as well, as the command
      does.
    - progress: called with the numbers of replicates done and of all, for figures with intervals.
    Other keywords choose the content and the size (`class_names`, `max_classes`, `scores`, `sort`, `file`,
    `start`, `end`, `width`, `height`, `dpi`; see `Wish`), and settings as for `evaluate`.

    The label of the figure, `figure.get_label()`, is a draft of its caption.

    Raises InputError for input that cannot be scored, SettingsError for anything that cannot be drawn.
    """
    if output is not None:
        form_of(path_of(output, "output"))
    of_classes, of_scores = texts_of("class_names", class_names), texts_of("scores", scores)
    wish = Wish(of_classes, max_classes, of_scores, sort, file, start, end, width, height, dpi)
    if values.get("ci") and kind not in RESAMPLED:
        raise SettingsError(f"ci: {kind} shows no intervals; expected {' or '.join(RESAMPLED)}")
    chosen = with_folds(settings_from(settings, values, limits=limits), folds)
    scored = scored_systems(
        kind, reference, systems, names, chosen, wish,
        default=chosen.only == DEFAULT_ONLY and "only" not in values,
        durations=durations, folds=folds, limits=limits_from(limits, values), progress=progress,
    )  # fmt: skip
    return figure_of(scored, output)


def figure_of(systems: Systems, output: str | os.PathLike[str] | None = None) -> Figure:
    """Draw a figure, labelled with its caption, and write it.

    Raises SettingsError if the space is too small or the pixels are too many.
    """
    with in_style(), warnings.catch_warnings():
        # Matplotlib, which this imports, reports what it cannot find unless it is told not to.
        module, _, name = KINDS[systems.kind].draw.partition(".")
        figure: Figure = getattr(import_module(f"sedeval_soft.apps.plots.{module}"), name)(systems)
        warnings.filterwarnings("error", message=".*constrained_layout not applied")
        try:
            # What matplotlib makes when it first draws, ticks above all, is made in this style as well.
            figure.draw_without_rendering()
        except UserWarning as error:
            size = "{:g} x {:g} inches".format(*figure.get_size_inches())
            raise SettingsError(
                f"{systems.kind} has no room in {size}; expected more --width or --height"
            ) from error
    figure.set_label(systems.caption(str(figure.get_label())))
    if output is not None:
        _write(figure, output, systems)
    return figure


def _write(figure: Figure, output: str | os.PathLike[str], systems: Systems) -> None:
    """Write a figure, with a description of its content; raises SettingsError for too many pixels."""
    (width, height), dpi = figure.get_size_inches(), systems.wish.dpi
    if width * height * dpi**2 > _MOST_PIXELS:
        raise SettingsError(
            f"{width:g} x {height:g} inches at {dpi} dots each have more than {_MOST_PIXELS:g} pixels; "
            "expected fewer --dpi"
        )
    title = visible(f"{systems.kind}: {', '.join(system.name for system in systems.all)}")
    signature = visible("\n".join(dict.fromkeys(system.scores.signature for system in systems.all)))
    form, written = form_of(output), io.BytesIO()
    # No date: the same call gives the same bytes.
    metadata: dict[str, dict[str, Any]] = {
        "pdf": {"Title": title, "Subject": signature, "CreationDate": None},
        "png": {"Title": title, "Description": signature},
        "svg": {"Title": title, "Description": signature, "Date": None},
    }
    with in_style():
        figure.savefig(written, format=form, dpi=dpi, metadata=metadata[form])
    write_atomic(output, written.getvalue())


def scored_systems(
    kind: str,
    reference: Any,  # noqa: ANN401 - as for evaluate
    systems: Sequence[Any],
    names: Sequence[str] | None,
    settings: Settings,
    wish: Wish,
    *,
    default: bool,
    limits: Limits | None = None,
    **how: Any,  # noqa: ANN401
) -> Systems:
    """Evaluate systems as far as a kind of figure needs.

    names: in the figure; None for the names of their files, cut short. default: whether the call does not
    choose the evaluation. how: durations, folds and progress. These, other arguments and errors as for
    `plot`.
    """
    check_kind(kind, wish, len(systems))
    if names is None:
        paths = [os.fspath(each) if isinstance(each, str | os.PathLike) else "" for each in systems]
        stems = [PurePath(path).stem or path or f"system {k}" for k, path in enumerate(paths, 1)]
        # Files of one name are told apart by their folders.
        whole = [path or stem for path, stem in zip(paths, stems, strict=True)]
        names = stems if len({*stems}) == len(stems) else whole
    called = texts_of("names", names)
    if len(called) != len(systems) or len(set(called)) < len(called):
        raise SettingsError(
            f"expected {counted(len(systems), 'different name')}, one a system; found {[*called]}"
        )
    chosen = settings_for(kind, settings, wish, several=len(systems) > 1, default=default)
    tables = {name: with_points(system, limits) for name, system in zip(called, systems, strict=True)}
    chosen, limits = settings_of_points(chosen, tables.values()), limits_from(limits)
    if kind == "matrix" and len(tables) > 1:
        measure, plan = ".".join(matrix_score(wish)), Plan.of(chosen)
        families = (f"{b}.{r}" for r in _RANKING for b in MATRIX_BASES if plan.scores(b, r))
        by = f"{next(families)}.{measure}"
        board = compare(reference, tables, rank_by=by, limits=limits, settings=chosen, **how)
        return Systems(kind, wish, tuple(System(each.system, each) for each in board.systems), board)
    if kind == "errors":
        from sedeval_soft import diagnose

        del how["folds"]
        diagnoses = [
            diagnose(
                reference, table, name=name, suggestions=False, limits=limits, settings=chosen, **how
            )
            for name, table in tables.items()
        ]  # fmt: skip
        return Systems(
            kind, wish, tuple(System(each.scores.system, each.scores, None, each) for each in diagnoses)
        )
    scored, ours = [], reference
    for name, system in tables.items():
        evaluation = evaluation_of(ours, system, chosen, name=name, limits=limits, rows_in_memory=True, **how)
        # The reference is read once.
        ours, how["durations"] = evaluation.sides[0] if evaluation.sides else ours, evaluation.shard.durations
        pair = evaluation.pair if kind == "timeline" else None
        scored.append(System(name, evaluation.scores, pair))
    return Systems(kind, wish, tuple(scored))


def check_kind(kind: str, wish: Wish, count: int) -> None:
    """Refuse wishes that are not of a kind of figure, and more systems than it can show."""
    if str(kind) not in KINDS:
        hint = did_you_mean(str(kind), KINDS) or f"; expected one of {', '.join(KINDS)}"
        raise SettingsError(f"there is no kind of figure {kind!r}{hint}")
    for field, option in OPTIONS.items():
        if getattr(wish, field) not in (None, ()) and field not in KINDS[kind].options:
            raise SettingsError(f"{option} works with {', '.join(kinds_with(field))}; not with {kind}")
    if not count or (count > 1 and KINDS[kind].single):
        expected = "one system" if KINDS[kind].single else "one or more systems"
        raise SettingsError(f"{kind} shows {expected}; found {count}")


def texts_of(name: str, given: object) -> tuple[str, ...]:
    """Return one text or some as a tuple; raises SettingsError for other things."""
    texts: tuple[str, ...] = in_form(name, [given] if isinstance(given, str) else given, [_TEXTS])
    return texts


def settings_for(
    kind: str, settings: Settings, wish: Wish, *, several: bool, default: bool = False
) -> Settings:
    """Return the settings that evaluate only the scores of a kind of figure.

    several: whether the figure has more than one system. default: whether the call does not choose the
    evaluation. Raises SettingsError for what cannot be shown.
    """
    needs, groups = KINDS[kind], {KINDS[kind].group}
    base = replace(
        settings, measures=(), means=(), variants=(), rank_by=None, worst=0, reference_sweep=False,
        satisfice=None,
        ci=settings.ci if needs.intervals else None,
    )  # fmt: skip
    only = needs.only if default or needs.fixed else tuple(settings.only)
    if needs.families:
        basis, reading = family_for(kind, base)
        only = tuple(dict.fromkeys(f"{basis}.{each}" for each in (reading, *needs.beside)))
    elif kind == "classes":
        stems = class_scores(replace(base, only=only), wish, several=several)
        groups = {group_of(f"{stem}[class]") for stem in stems}
        only = tuple(dict.fromkeys(stem.rpartition(".")[0] for stem in stems))
    elif kind == "timeline":
        base = replace(base, thresholds=None, cross_tune=None)
    elif kind == "matrix" and several and base.ci is None:
        # A leaderboard says which systems differ significantly, and that takes intervals.
        base = replace(base, ci="bootstrap")
    chosen = replace(base, only=only, measures=tuple(group for group in GROUPS if group in groups))
    plan = Plan.of(chosen)
    if kind == "psd-roc" and not plan.psds:
        return replace(chosen, max_efpr=_PSDS_RANGE)
    if kind == "matrix" and not any(map(plan.scores, MATRIX_BASES)):
        raise SettingsError(f"matrix shows {', '.join(MATRIX_BASES)}; --only names none of them")
    return chosen


def family_for(kind: str, settings: Settings) -> tuple[str, str]:
    """Return the basis and the reading that a figure of one of them shows; raises SettingsError if none."""
    plan = Plan.of(settings)
    for name in KINDS[kind].families:
        basis, _, reading = name.partition(".")
        if plan.scores(basis, reading):
            return basis, reading
    raise SettingsError(f"{kind} shows one of {', '.join(KINDS[kind].families)}; --only names none of them")


def class_scores(settings: Settings, wish: Wish, *, several: bool) -> tuple[str, ...]:
    """Return the scores that dots of classes show, as `basis.reading.measure`; raises SettingsError."""
    for stem in wish.scores:
        if stem.count(".") != 2 or {*"[@"} & {*stem}:
            raise SettingsError(
                f"--score {stem}: classes needs BASIS.READING.MEASURE, such as segment.soft.f1"
            )
        measure_of(f"{stem}[class]")
    if several and len(wish.scores) > 1:
        raise SettingsError(f"with several systems, classes draws one score, not {len(wish.scores)}")
    plan = Plan.of(settings)
    families = [(b, r) for b in (*MATRIX_BASES, "clip") for r in READINGS if plan.scores(b, r)]
    if several:
        families = [family for family in families if family[0] == families[0][0]][-1:]
    stems = wish.scores or tuple(f"{basis}.{reading}.f1" for basis, reading in families)
    if not stems:
        raise SettingsError("--only names no F1; expected --score BASIS.READING.MEASURE beside it")
    return stems


def matrix_score(wish: Wish) -> tuple[str, str]:
    """Return the measure and the average that a matrix shows; raises SettingsError."""
    if len(wish.scores) > 1:
        raise SettingsError(f"matrix draws one score, not {len(wish.scores)}")
    text = wish.scores[0] if wish.scores else "f1.macro"
    name, _, average = text.partition(".")
    score = ScoreName("segment", "hard", name, average=average)
    if average not in AVERAGES or measure_of(score).high != 1.0 or group_of(str(score)):
        raise SettingsError(
            f"--score {text}: a matrix needs a measure between 0 and 1 that all bases have, and its average, "
            "such as f1.macro, fbeta.micro, precision.macro or recall.weighted"
        )
    return name, average
