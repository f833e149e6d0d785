"""What stands above the tables: what was read, and how it is scored."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import TYPE_CHECKING

from sedeval_soft.errors import counted, visible
from sedeval_soft.evaluation.scores import Input, Scores
from sedeval_soft.measures.registry import FAMILIES
from sedeval_soft.plan import Plan
from sedeval_soft.report.table import short
from sedeval_soft.settings import Constraint, Settings, short_fraction

if TYPE_CHECKING:
    from sedeval_soft.evaluation.details import Folds

METHODS = {
    "bootstrap": "bootstrap percentiles",
    "bca": "BCa",
    "expanded": "expanded BCa",
    "jackknife": "delete-one jackknife",
}
"""What the ways to find an interval are called."""

MOST_FOLDS = 10
"""Folds up to which each is shown by itself."""


def families(scores: Scores) -> list[tuple[str, str]]:
    """Return each basis and reading that has scores: those of the registry in its order, then others."""
    present = dict.fromkeys((score.basis, score.reading) for score in scores.scores.values())
    registered = dict.fromkeys((family.basis, family.reading) for family in FAMILIES)
    return [
        *(each for each in registered if each in present),
        *(each for each in present if each not in registered),
    ]


def header(scores: Scores) -> list[tuple[str, str]]:
    """Return what was read and how it is scored, as (name, text)."""
    settings, chance = scores.settings, scores.chance
    lines = [*read(scores.inputs), *scoring(scores)]
    if scores.folds is not None:
        lines.append(("folds", _folds(scores.folds)))
    sure = of_confidence(settings.confidence)
    if scores.runs:
        interval = f"{sure} intervals by the jackknife over runs"
        lines.append(("runs", f"{len(scores.runs)}, means over trainings; {interval}"))
    elif settings.ci is not None and len(scores.files) > 1:
        files = len(scores.files)
        drawn = f", {resampled(settings.replicates, files, settings.seed)}"
        if settings.ci == "jackknife":
            drawn = f" over {counted(files, 'file')}"
        lines.append(("intervals", f"{sure} {METHODS[settings.ci]}{drawn}{fixed_thresholds(settings)}"))
    if chance is not None:
        moves = counted(chance.draws, "move")
        drawn = f"all {chance.draws} moves there are" if chance.everything else moves
        moved = "the same output moved in time by whole segments"
        lines.append(("chance", f"{moved}: {drawn}, seed {chance.seed}"))
    return lines


def read(inputs: Iterable[Input]) -> list[tuple[str, str]]:
    """Return what was read, as (role, text)."""
    return [(item.role, _input(item)) for item in inputs]


def scoring(scores: Scores) -> list[tuple[str, str]]:
    """Return how scores are found, as (name, text)."""
    settings = scores.settings
    lines = []
    sign = "at or above" if settings.inclusive else "above"
    cut = f"active {sign} {short(settings.threshold)}"
    if settings.reference_cut != settings.threshold:
        cut += f" (reference {sign} {short(settings.reference_cut)})"
    lines.append(("files", f"{len(scores.files)}, {short(round(scores.length, 6))} s; {cut}"))
    bases = {basis for basis, _ in families(scores)}
    if settings.postprocesses:
        lines.append(("process", _processing(scores)))
    lines += [(name, said(scores)) for basis, (name, said) in _OF_BASES.items() if basis in bases]
    if settings.tunes:
        lines.append(("tuned", _tuned(settings)))
    if settings.satisfice is not None:
        lines.append(("satisfice", f"best thresholds where {_satisfice(settings)}"))
    if settings.measures:
        lines.append(("measures", _measures(scores)))
    if Plan.of(settings).psds:
        lines.append(("PSDS", _psds(scores)))
    if settings.compat:
        lines.append(("compat", f"the hard reading follows {settings.compat}"))
    return lines


def of_confidence(confidence: float) -> str:
    """Return a confidence as a percentage: `95 %`."""
    return _percent(Decimal(repr(confidence)))


def ends(confidence: float) -> tuple[str, str]:
    """Return what the ends of an interval are called: `2.5 %` and `97.5 %` for a confidence of 0.95."""
    whole = Decimal(repr(confidence))
    return _percent((1 - whole) / 2), _percent((1 + whole) / 2)


def _percent(share: Decimal) -> str:
    text = f"{100 * share:f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} %"


def resampled(replicates: int, files: int, seed: int) -> str:
    """Return how often files are drawn anew: `1000 replicates of 49 files, seed 0`."""
    return f"{counted(replicates, 'replicate')} of {counted(files, 'file')}, seed {seed}"


def fixed_thresholds(settings: Settings) -> str:
    """Return what intervals leave as it is."""
    return ", thresholds fixed" if settings.fixed_thresholds else ""


def _folds(folds: Folds) -> str:
    """Return how many files each fold has."""
    if len(folds.names) > MOST_FOLDS:
        return f"{len(folds.names)}, of {min(folds.files)} to {counted(max(folds.files), 'file')}"
    sizes = zip(folds.names, folds.files, strict=True)
    return f"{len(folds.names)}: " + ", ".join(f"{visible(name)} ({counted(n, 'file')})" for name, n in sizes)


def _input(item: Input) -> str:
    sizes = ((item.rows, "row"), (item.files, "file"), (item.classes, "class"))
    events = "touching rows are one event" if item.events == "merge" else "each row is an event"
    parts = [
        f"{visible(item.name)}: {', '.join(counted(size, noun) for size, noun in sizes)}",
        visible(item.form),
        "with values" if item.has_values else "without values",
        events,
    ]
    if item.ignored:
        parts.append(f"ignored columns: {', '.join(map(visible, item.ignored))}")
    return "; ".join(parts)


def _segments(scores: Scores) -> str:
    settings = scores.settings
    pooled = "" if settings.pool == "max" else ", time-weighted means"
    t_norm = "" if settings.t_norm == "minimum" else f"; {settings.t_norm} T-norm"
    length = short_fraction(settings.segment_length).removesuffix(".0")
    return f"{scores.n_segments} of {length} s{pooled}{t_norm}"


def _collars(scores: Scores) -> str:
    settings = scores.settings
    parts = []
    if settings.onset:
        parts.append(f"onsets within {short(settings.onset_collar)} s")
    if settings.offset:
        share = short(round(100 * settings.offset_collar_rate, 9))
        parts.append(f"offsets within {short(settings.offset_collar)} s or {share}% of the length")
    return f"{', '.join(parts)}; {settings.matching} matching"


def _intersections(scores: Scores) -> str:
    dtc, gtc = (short(round(100 * scores.settings.criterion(name), 9)) for name in ("dtc", "gtc"))
    return f"detections covered by {dtc}% or more, reference events by {gtc}% or more"


def _psds(scores: Scores) -> str:
    settings = scores.settings
    name = f"{settings.psds}: " if settings.psds else ""
    weights = ", ".join(
        f"{key} {short(settings.criterion(key))}" for key in ("alpha_ct", "alpha_st", "max_efpr")
    )
    return f"{name}{weights}, cross triggers covered by {short(round(100 * settings.criterion('cttc'), 9))}%"


def _measures(scores: Scores) -> str:
    settings = scores.settings
    rates = f"FPR {short(settings.max_fpr)}, FNR {short(settings.max_fnr)}, IoU {short(settings.iou)}"
    said = {
        "curves": rates,
        "divergence": f"{settings.entropy_unit}, eps {settings.epsilon:g}",
        "calibration": f"{settings.bins} bins",
    }
    return ", ".join(f"{name} ({said[name]})" if name in said else name for name in settings.measures)


def _tuned(settings: Settings) -> str:
    if isinstance(settings.thresholds, str):
        return f"the system cut at the {settings.thresholds} of each class"
    if settings.thresholds is not None:
        return f"the system cut at given thresholds of {counted(len(settings.thresholds), 'class')}"
    count = settings.cross_tune
    each = "each fold" if count == "folds" else f"each of {count} parts of the files (seed {settings.seed})"
    best = settings.objective or "F of each basis"
    return f"{each} cut at the thresholds with the best {best} on the others"


def _satisfice(settings: Settings) -> str:
    constraint = Constraint.parse(settings.satisfice)
    best = "F" if constraint.best == "f" else constraint.best.replace("_", " ")
    measure = constraint.measure.replace("_", " ").replace("fpr per", "false positives per")
    return f"{measure} {constraint.sign} {short(constraint.number)}: highest {best}".replace(
        "highest error", "lowest error"
    )


def _processing(scores: Scores) -> str:
    settings = scores.settings
    said = {"median_filter": "median filter", "min_gap": "no gap below", "min_duration": "no event below"}
    parts = []
    for name, text in said.items():
        value = getattr(settings, name)
        if isinstance(value, dict):
            lengths = ", ".join(f"{visible(label)} {short(seconds)} s" for label, seconds in value.items())
            parts += [f"{text} by class ({lengths})"] if any(value.values()) else []
        elif value:
            parts.append(f"{text} {short(value)} s")
    return f"system: {', '.join(parts)}"


_OF_BASES: dict[str, tuple[str, Callable[[Scores], str]]] = {
    "segment": ("segments", _segments),
    "event": ("events", _collars),
    "intersection": ("overlaps", _intersections),
}
"""What is said of the scores of a basis: the name of the line and how it is made."""
