"""The data of a figure: systems with their scores, what of them is wished for, and what must be evaluated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from sedeval_soft.apps.plots.registry import KINDS, MATRIX_BASES, OPTIONS, kinds_with
from sedeval_soft.errors import SettingsError, counted, visible
from sedeval_soft.measures import AVERAGES, ScoreName, group_of, measure_of
from sedeval_soft.names import did_you_mean
from sedeval_soft.plan import Plan
from sedeval_soft.report import measure_label
from sedeval_soft.settings import GROUPS, Schema, Settings, in_form, split_name

if TYPE_CHECKING:
    from sedeval_soft import Board, Diagnosis, Scores
    from sedeval_soft.timeline import Recordings

CHOICES = {"sort": ("given", "name", "score", "size"), "binning": ("width", "mass")}
READINGS = ("hard", "tuned", "optimal", "soft")

_LONG = 32  # letters of a name in a list
_PSDS_RANGE = 100.0  # false positives per hour up to which a PSD-ROC goes where nothing else is said


@dataclass(frozen=True, slots=True)
class Wish:
    """The part of the systems that is drawn; None chooses a default for the kind of figure.

    - class_names: only these classes are drawn, in this order; averages over classes stay unchanged.
    - max_classes: so many at most. scores: names of scores or parts of them, as the kind of figure has it.
    - sort: the order of classes: as they are `given`, by `name`, by `score` or by `size` of their reference.
    - file: the recording. start, end: seconds of it. binning: of calibration.
    """

    class_names: tuple[str, ...] = ()
    max_classes: int | None = None
    scores: tuple[str, ...] = ()
    sort: str | None = None
    file: str | None = None
    start: float | None = None
    end: float | None = None
    binning: str | None = None

    def __post_init__(self) -> None:
        """Check what can be checked without systems; raises SettingsError."""
        fields: dict[str, Schema] = {
            **{name: {"enum": choices} for name, choices in CHOICES.items()},
            **{name: {"type": "number"} for name in ("start", "end")},
            "max_classes": {"type": "integer", "minimum": 1, "maximum": 999_999_999},
            "class_names": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
        }
        for name, form in fields.items():
            if getattr(self, name) is not None:
                in_form(name, getattr(self, name), [form])


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
        return (
            Dot() if score is None or score.value is None else Dot(float(score.value), score.low, score.high)
        )


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
        """Return the classes that are wished for, in the order that is; raises SettingsError."""
        lists = {system.scores.classes for system in self.all}
        joint = {name for names in lists for name in names}
        classes = sorted(joint) if len(lists) > 1 else [*self.all[0].scores.classes]
        for name in self.wish.class_names:
            if name not in joint:
                hint = did_you_mean(name, classes) or f"; there are {joined(classes, 10)}"
                raise SettingsError(f"class {name!r} is not among those that are evaluated{hint}")
        names = list(self.wish.class_names) or classes
        if self.wish.sort == "score" and self.kind != "classes":
            expected = "expected given, name or size"
            raise SettingsError(f"--sort score: a {self.kind} has no score; {expected}")
        if self.wish.sort == "name":
            return sorted(names)
        return sorted(names, key=lambda name: -self.size(name)) if self.wish.sort == "size" else names

    def size(self, name: str) -> float:
        """Return the size of the reference of a class, in whatever basis comes first."""
        for score in self.all[0].scores.scores.values():
            if score.measure == "n_ref" and score.class_name == name and score.group is None:
                return float(score.value or 0)
        return 0.0

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


# What must be evaluated for a figure.


def check_kind(kind: str, wish: Wish, systems: int) -> None:
    """Refuse wishes that are not of a kind of figure, and more systems than it can show."""
    if not isinstance(kind, str) or kind not in KINDS:
        hint = did_you_mean(str(kind), KINDS) or f"; expected one of {', '.join(KINDS)}"
        raise SettingsError(f"there is no kind of figure {kind!r}{hint}")
    for name, option in OPTIONS.items():
        if getattr(wish, name) not in (None, ()) and name not in KINDS[kind].options:
            raise SettingsError(f"{option} works with {', '.join(kinds_with(name))}; not with {kind}")
    if not systems:
        raise SettingsError("expected one or more systems, found none")
    if systems > 1 and KINDS[kind].single:
        raise SettingsError(f"{kind} shows one system; found {systems}")


def family_for(kind: str, settings: Settings) -> tuple[str, str]:
    """Return the basis and the reading that a figure of one of them shows; raises SettingsError if none."""
    plan = Plan.of(settings)
    for name in KINDS[kind].families:
        basis, _, reading = name.partition(".")
        if plan.scores(basis, reading):
            return basis, reading
    raise SettingsError(f"{kind} shows one of {', '.join(KINDS[kind].families)}; --only names none of them")


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
        plain = [stem for stem in stems if "@" not in stem]
        groups = {group_of(f"{stem}[class]") for stem in plain}
        only = tuple(dict.fromkeys(".".join(stem.split(".")[:2]) for stem in stems))
        base = replace(base, variants=tuple(of_stem(stem, ".macro") for stem in stems if stem not in plain))
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


def of_stem(stem: str, part: str) -> str:
    """Return the name of a score from its beginning, which may have settings; part: class or average."""
    head, text = split_name(stem)
    return f"{head}{part}@{text}" if text else f"{stem}{part}"


def class_scores(settings: Settings, wish: Wish, *, several: bool) -> tuple[str, ...]:
    """Return the scores that dots of classes show, as `basis.reading.measure`; raises SettingsError."""
    for stem in wish.scores:
        head = split_name(stem)[0]
        if head.count(".") != 2 or {*"[@"} & {*head}:
            raise SettingsError(
                f"--score {stem}: classes needs BASIS.READING.MEASURE, such as segment.soft.f1"
            )
        measure_of(of_stem(stem, "[class]"))
    if several and len(wish.scores) > 1:
        raise SettingsError(f"with several systems, classes draws one score, not {len(wish.scores)}")
    stems = wish.scores
    if not stems:
        plan = Plan.of(settings)
        families = [(b, r) for b in (*MATRIX_BASES, "clip") for r in READINGS if plan.scores(b, r)]
        if not families:
            raise SettingsError(
                "what --only names has no F; --score BASIS.READING.MEASURE says what classes is to draw"
            )
        if several:
            families = [family for family in families if family[0] == families[0][0]][-1:]
        stems = tuple(f"{basis}.{reading}.f1" for basis, reading in families)
    if any(stem.split(".")[1] == "tuned" for stem in stems) and not settings.tunes:
        raise SettingsError("tuned readings need --thresholds, --cross-tune or --folds")
    return stems


def matrix_score(wish: Wish) -> tuple[str, str]:
    """Return the measure and the average that a matrix shows; raises SettingsError."""
    if len(wish.scores) > 1:
        raise SettingsError(f"matrix draws one score, not {len(wish.scores)}")
    text = wish.scores[0] if wish.scores else "f1.macro"
    name, _, average = text.partition(".")
    known = (
        average in AVERAGES and measure_of(ScoreName("segment", "hard", name, average=average)).high == 1.0
    )
    if not known or group_of(f"segment.hard.{text}"):
        raise SettingsError(
            f"--score {text}: a matrix needs a measure between 0 and 1 that all bases have, and its average, "
            "such as f1.macro, fbeta.micro, precision.macro or recall.weighted"
        )
    return name, average


def rank_by(settings: Settings, wish: Wish) -> str:
    """Return the score that sorts a leaderboard: among evaluated scores, the soft reading if it is one."""
    measure, average = matrix_score(wish)
    readings, plan = ("soft", "optimal", "hard", "tuned"), Plan.of(settings)
    families = (f"{b}.{r}" for r in readings for b in MATRIX_BASES if plan.scores(b, r))
    return f"{next(families)}.{measure}.{average}"
