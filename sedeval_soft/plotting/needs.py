"""What must be evaluated for a kind of figure."""

from __future__ import annotations

from dataclasses import replace

from sedeval_soft.errors import SettingsError
from sedeval_soft.measures.names import AVERAGES, ScoreName, ScoreNameError
from sedeval_soft.measures.registry import group_of, measure_of
from sedeval_soft.plotting.kinds import KINDS, OPTIONS
from sedeval_soft.plotting.subject import Wish
from sedeval_soft.run.curves import FAMILIES
from sedeval_soft.run.worst import family_of
from sedeval_soft.settings import GROUPS, Settings

Family = tuple[str, str]

MATRIX_BASES = ("segment", "event", "intersection")
CELLS: tuple[Family, ...] = (("segment", "hard"), ("segment", "soft"), ("clip", "hard"), ("clip", "soft"))
HARD_CURVES: tuple[Family, ...] = tuple(family for family in FAMILIES if family[1] != "soft")
_CONFUSED: tuple[Family, ...] = (("segment", "hard"), ("event", "hard"), ("clip", "hard"))
_SURFACES: tuple[Family, ...] = (("segment", "hard"), ("clip", "hard"))

ALLOWED: dict[str, tuple[Family, ...]] = {
    "pr": tuple(FAMILIES),
    "roc": CELLS,
    "det": CELLS,
    "f-thresholds": HARD_CURVES,
    # Agreement of annotators is what a calibrated value means; of a hard reference the readings are one.
    "reliability": (("segment", "soft"), ("segment", "hard"), ("clip", "soft"), ("clip", "hard")),
    "confusion": _CONFUSED,
    "surface": _SURFACES,
}
"""The bases and readings of which a kind of figure shows one, the one that it prefers first."""

OFFENDERS = 10
"""How many of the worst are shown where nothing else is said."""

_PSDS_RANGE = 100.0

_CLASS_SCORES = ("segment.hard.f1", "segment.optimal.f1", "segment.soft.f1")
_OF_SEVERAL = ("segment.soft.f1",)


def check_kind(kind: str, wish: Wish, systems: int) -> None:
    """Refuse wishes that are not of a kind of figure, and more systems than it can show."""
    from sedeval_soft.names import did_you_mean
    from sedeval_soft.plotting.kinds import ALONE

    if not isinstance(kind, str) or kind not in KINDS:
        hint = did_you_mean(str(kind), KINDS) or f"; expected one of {', '.join(KINDS)}"
        raise SettingsError(f"there is no kind of figure {kind!r}{hint}")
    for name, kinds in OPTIONS.items():
        if getattr(wish, name) not in (None, ()) and kind not in kinds:
            raise SettingsError(f"{OPTION_NAMES[name]} is of {', '.join(kinds)}; {kind} has no use for it")
    if systems > 1 and kind in ALONE:
        raise SettingsError(f"{kind} is a figure of one system; found {systems}")


OPTION_NAMES = {
    "class_names": "--class", "max_classes": "--max-classes", "scores": "--score", "sort": "--sort",
    "file": "--file", "start": "--start", "end": "--end", "of": "--of", "binning": "--binning",
}  # fmt: skip
"""What a wish is called where it is asked for."""


def family_for(kind: str, settings: Settings, *, default: bool = False) -> Family:
    """Return the basis and the reading that a figure of one of them shows; raises SettingsError if none.

    default: whether nothing is said of what to evaluate.
    """
    allowed = ALLOWED[kind]
    if default:
        return allowed[0]
    found = next((family for family in allowed if settings.wants(*family)), None)
    if found is None:
        names = ", ".join(dict.fromkeys(".".join(family) for family in allowed))
        raise SettingsError(f"{kind} shows one of {names}; --only names none of them")
    return found


def settings_for(
    kind: str, settings: Settings, wish: Wish, *, several: bool, default: bool = False
) -> Settings:
    """Return the settings that evaluate what a kind of figure shows, and no more.

    several: whether there is more than one system. default: whether nothing is said of what to evaluate.
    Raises SettingsError for what cannot be shown.
    """
    base = replace(settings, measures=(), worst=0, reference_sweep=False, satisfice=None)
    if kind == "matrix":
        found = _of_matrix(base, default=default, several=several)
    elif kind == "classes":
        found = _of_classes(base, wish, several=several, default=default)
    elif kind == "psd-roc":
        base = replace(base, only=("intersection.hard",), measures=("curves",), ci=None)
        found = base if base.wants_psds else replace(base, max_efpr=_PSDS_RANGE)
    elif kind == "timeline":
        found = replace(base, only=("segment.hard",), thresholds=None, cross_tune=None, ci=None)
    elif kind == "worst":
        only = ("segment.soft",) if default else settings.only
        found = replace(base, only=only, worst=settings.worst or OFFENDERS, ci=None)
        if family_of(found) is None:
            raise SettingsError("worst is of hard and soft readings; --only names none of them")
    elif kind == "sweep":
        only = ("segment", "event") if default else tuple(settings.only)
        found = replace(base, only=_of_scores(wish, only), reference_sweep=True, ci=None)
        if not any(found.wants(basis, r) for basis in (*MATRIX_BASES, "clip") for r in ("hard", "optimal")):
            raise SettingsError("sweep is of hard and optimal readings; --only names none of them")
    else:
        found = _of_family(kind, replace(base, ci=None), family_for(kind, settings, default=default))
    return found


def _of_matrix(base: Settings, *, default: bool, several: bool) -> Settings:
    found = replace(base, only=MATRIX_BASES) if default else base
    if not any(map(found.wants, MATRIX_BASES)):
        raise SettingsError(f"matrix shows {', '.join(MATRIX_BASES)}; --only names none of them")
    # Of several systems it is said which can be told apart, and that takes intervals.
    return replace(found, ci="bootstrap") if several and found.ci is None else found


def _of_classes(base: Settings, wish: Wish, *, several: bool, default: bool) -> Settings:
    stems = class_scores(base, wish, several=several, default=default)
    groups = {group_of(f"{stem}[class]") for stem in stems}
    only = tuple(dict.fromkeys(stem.rpartition(".")[0] for stem in stems))
    return replace(base, only=only, measures=tuple(group for group in GROUPS if group in groups))


def class_scores(settings: Settings, wish: Wish, *, several: bool, default: bool = False) -> tuple[str, ...]:
    """Return the scores that bars of classes show, as `basis.reading.measure`; raises SettingsError."""
    for stem in wish.scores:
        if stem.count(".") != 2 or "[" in stem or "@" in stem:
            raise SettingsError(
                f"--score {stem}: bars are of classes; expected BASIS.READING.MEASURE: segment.soft.f1"
            )
        measure_of(f"{stem}[class]")
    if wish.scores and several and len(wish.scores) > 1:
        raise SettingsError(f"classes shows one score of several systems; found {len(wish.scores)} --score")
    if wish.scores:
        found = wish.scores
    elif default:
        found = _OF_SEVERAL if several else _CLASS_SCORES
    else:
        families = [f"{b}.{r}.f1" for b in (*MATRIX_BASES, "clip") for r in _READINGS if settings.wants(b, r)]
        if not families:
            raise SettingsError(
                "classes shows no F of what --only names; expected --score BASIS.READING.MEASURE"
            )
        first = [stem for stem in families if stem.split(".")[0] == families[0].split(".")[0]]
        found = tuple(first[-1:] if several else families)
    if any(stem.split(".")[1] == "tuned" for stem in found) and not settings.tunes:
        raise SettingsError("tuned readings need --thresholds, --cross-tune or --folds")
    return found


_READINGS = ("hard", "tuned", "optimal", "soft")


def matrix_score(wish: Wish) -> tuple[str, str]:
    """Return the measure and the average that a matrix shows; raises SettingsError."""
    if len(wish.scores) > 1:
        raise SettingsError(f"matrix shows one score; found {len(wish.scores)} --score")
    text = wish.scores[0] if wish.scores else "f1.macro"
    measure, _, average = text.partition(".")
    try:
        known = measure_of(ScoreName("segment", "hard", measure, average=average or "macro"))
    except ScoreNameError:
        known = None
    if known is None or average not in AVERAGES or known.high != 1.0 or group_of(f"segment.hard.{text}"):
        raise SettingsError(
            f"--score {text}: a matrix has a measure of all bases, between 0 and 1, and an average; "
            "expected f1.macro, fbeta.micro, precision.macro, recall.weighted or another of these"
        )
    return measure, average


def _of_scores(wish: Wish, only: tuple[str, ...]) -> tuple[str, ...]:
    """Return what `only` must name for the scores that are wished for by their full names."""
    if not wish.scores:
        return only
    for name in wish.scores:
        parsed = ScoreName.parse(name)
        if parsed.average is None or parsed.group or parsed.reading not in ("hard", "optimal"):
            raise SettingsError(
                f"--score {name}: sweep has averages of hard and optimal readings: segment.hard.f1.macro"
            )
        measure_of(parsed)
    return tuple(
        dict.fromkeys(f"{ScoreName.parse(n).basis}.{ScoreName.parse(n).reading}" for n in wish.scores)
    )


def _of_family(kind: str, base: Settings, family: Family) -> Settings:
    """Return the settings for a figure of one basis and reading."""
    name = ".".join(family)
    if kind == "surface":
        return replace(base, only=(name,), reference_sweep=True)
    groups = {"confusion": ("confusion",), "reliability": ("calibration",)}
    only = (name, f"{family[0]}.optimal", f"{family[0]}.hard") if kind == "f-thresholds" else (name,)
    return replace(base, only=tuple(dict.fromkeys(only)), measures=groups.get(kind, ("curves",)))
