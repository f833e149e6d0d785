"""What must be evaluated for a kind of figure."""

from __future__ import annotations

from dataclasses import replace

from sedeval_soft.errors import SettingsError
from sedeval_soft.evaluation.details import family_of
from sedeval_soft.measures.names import AVERAGES, ScoreName, ScoreNameError
from sedeval_soft.measures.registry import group_of, measure_of
from sedeval_soft.names import did_you_mean
from sedeval_soft.plan import Plan
from sedeval_soft.plots.data import Wish
from sedeval_soft.plots.registry import KINDS, OPTIONS, RESAMPLED, kinds_with
from sedeval_soft.settings import GROUPS, Settings

MATRIX_BASES = ("segment", "event", "intersection")
READINGS = ("hard", "tuned", "optimal", "soft")

_WORST = 10
"""How many of the worst are shown where nothing else is said."""

_PSDS_RANGE = 100.0
"""False positives per hour up to which a PSD-ROC goes where nothing else is said."""

_CLASS_SCORES = ("segment.hard.f1", "segment.optimal.f1", "segment.soft.f1")


def check_kind(kind: str, wish: Wish, systems: int) -> None:
    """Refuse wishes that are not of a kind of figure, and more systems than it can show."""
    if not isinstance(kind, str) or kind not in KINDS:
        hint = did_you_mean(str(kind), KINDS) or f"; expected one of {', '.join(KINDS)}"
        raise SettingsError(f"there is no kind of figure {kind!r}{hint}")
    for name, option in OPTIONS.items():
        if getattr(wish, name) not in (None, ()) and name not in KINDS[kind].options:
            raise SettingsError(f"{option} is of {', '.join(kinds_with(name))}; {kind} has no use for it")
    if systems > 1 and not KINDS[kind].several:
        raise SettingsError(f"{kind} is a figure of one system; found {systems}")


def family_for(kind: str, settings: Settings, *, default: bool = False) -> tuple[str, str]:
    """Return the basis and the reading that a figure of one of them shows; raises SettingsError if none.

    default: whether nothing is said of what to evaluate.
    """
    plan = Plan.of(settings)
    for name in KINDS[kind].families:
        basis, _, reading = name.partition(".")
        if default or plan.scores(basis, reading):
            return basis, reading
    raise SettingsError(f"{kind} shows one of {', '.join(KINDS[kind].families)}; --only names none of them")


def settings_for(  # noqa: C901, PLR0911 - one for each kind
    kind: str, settings: Settings, wish: Wish, *, several: bool, default: bool = False
) -> Settings:
    """Return the settings that evaluate what a kind of figure shows, and no more.

    several: whether there is more than one system. default: whether nothing is said of what to evaluate.
    Raises SettingsError for what cannot be shown.
    """
    base = replace(settings, measures=(), worst=0, reference_sweep=False, satisfice=None)
    if kind not in RESAMPLED:
        base = replace(base, ci=None)
    if KINDS[kind].families:
        return _for_family(kind, base, default=default)
    only = tuple(settings.only)
    if kind == "matrix":
        chosen = replace(base, only=MATRIX_BASES if default else only)
        if not any(map(Plan.of(chosen).scores, MATRIX_BASES)):
            raise SettingsError(f"matrix shows {', '.join(MATRIX_BASES)}; --only names none of them")
        # Of several systems it is said which can be told apart, and that takes intervals.
        return replace(chosen, ci="bootstrap") if several and chosen.ci is None else chosen
    if kind == "classes":
        stems = class_scores(base, wish, several=several, default=default)
        groups = {group_of(f"{stem}[class]") for stem in stems}
        only = tuple(dict.fromkeys(stem.rpartition(".")[0] for stem in stems))
        return replace(base, only=only, measures=tuple(group for group in GROUPS if group in groups))
    if kind == "psd-roc":
        base = replace(base, only=("intersection.hard",), measures=("curves",))
        return base if Plan.of(base).psds else replace(base, max_efpr=_PSDS_RANGE)
    if kind == "worst":
        only = ("segment.soft",) if default else only
        chosen = replace(base, only=only, worst=settings.worst or _WORST)
        if family_of(chosen) is None:
            raise SettingsError("worst is of hard and soft readings; --only names none of them")
        return chosen
    if kind == "sweep":
        only = _swept(wish) or (("segment", "event") if default else only)
        chosen = replace(base, only=only, reference_sweep=True)
        plan = Plan.of(chosen)
        if not any(plan.scores(basis, "hard", "optimal") for basis in (*MATRIX_BASES, "clip")):
            raise SettingsError("sweep is of hard and optimal readings; --only names none of them")
        return chosen
    return replace(base, only=("segment.hard",), thresholds=None, cross_tune=None)


def _for_family(kind: str, base: Settings, *, default: bool) -> Settings:
    """Return the settings for a figure of one basis and reading."""
    basis, reading = family_for(kind, base, default=default)
    only: tuple[str, ...] = (f"{basis}.{reading}",)
    if kind == "surface":
        return replace(base, only=only, reference_sweep=True)
    if kind == "f-thresholds":
        only = tuple(dict.fromkeys((*only, f"{basis}.optimal", f"{basis}.hard")))
    group = {"confusion": "confusion", "reliability": "calibration"}.get(kind, "curves")
    return replace(base, only=only, measures=(group,))


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
    stems = wish.scores
    if not stems and default:
        stems = _CLASS_SCORES[-1:] if several else _CLASS_SCORES
    if not stems:
        bases, plan = (*MATRIX_BASES, "clip"), Plan.of(settings)
        stems = tuple(f"{b}.{r}.f1" for b in bases for r in READINGS if plan.scores(b, r))
        if not stems:
            raise SettingsError(
                "classes shows no F of what --only names; expected --score BASIS.READING.MEASURE"
            )
        if several:
            basis = stems[0].split(".")[0]
            stems = tuple(stem for stem in stems if stem.split(".")[0] == basis)[-1:]
    if any(stem.split(".")[1] == "tuned" for stem in stems) and not settings.tunes:
        raise SettingsError("tuned readings need --thresholds, --cross-tune or --folds")
    return stems


def matrix_score(wish: Wish) -> tuple[str, str]:
    """Return the measure and the average that a matrix shows; raises SettingsError."""
    if len(wish.scores) > 1:
        raise SettingsError(f"matrix shows one score; found {len(wish.scores)} --score")
    text = wish.scores[0] if wish.scores else "f1.macro"
    name, _, average = text.partition(".")
    try:
        measure = measure_of(ScoreName("segment", "hard", name, average=average or "macro"))
    except ScoreNameError:
        measure = None
    if not measure or average not in AVERAGES or measure.high != 1.0 or group_of(f"segment.hard.{text}"):
        raise SettingsError(
            f"--score {text}: a matrix has a measure of all bases, between 0 and 1, and an average; "
            "expected f1.macro, fbeta.micro, precision.macro, recall.weighted or another of these"
        )
    return name, average


def rank_by(settings: Settings, wish: Wish) -> str:
    """Return the score that a leaderboard is sorted by: of what is evaluated, the soft reading if it is."""
    measure, average = matrix_score(wish)
    readings, plan = ("soft", "optimal", "hard", "tuned"), Plan.of(settings)
    families = (f"{b}.{r}" for r in readings for b in MATRIX_BASES if plan.scores(b, r))
    return f"{next(families)}.{measure}.{average}"


def _swept(wish: Wish) -> tuple[str, ...]:
    """Return what `only` must name for the scores that are wished for by their full names."""
    names = [ScoreName.parse(name) for name in wish.scores]
    for text, name in zip(wish.scores, names, strict=True):
        if name.average is None or name.group or name.reading not in ("hard", "optimal"):
            raise SettingsError(
                f"--score {text}: sweep has averages of hard and optimal readings: segment.hard.f1.macro"
            )
        measure_of(name)
    return tuple(dict.fromkeys(f"{name.basis}.{name.reading}" for name in names))
