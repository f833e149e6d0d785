"""What stands above the tables: what was read, and how it is scored."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sedeval_soft.core.value import Input, Scores
from sedeval_soft.errors import counted, visible
from sedeval_soft.report.chance import said_of_chance
from sedeval_soft.report.intervals import described, described_runs
from sedeval_soft.report.spread import said_of_folds
from sedeval_soft.report.table import short
from sedeval_soft.report.tables import families
from sedeval_soft.settings import Constraint, Settings, short_fraction


def header(scores: Scores) -> list[tuple[str, str]]:
    """Return what was read and how it is scored, as (name, text)."""
    lines = [*read(scores.inputs), *scoring(scores)]
    if scores.folds is not None:
        lines.append(("folds", said_of_folds(scores.folds)))
    if scores.runs:
        lines.append(("runs", described_runs(scores.settings, len(scores.runs))))
    elif scores.settings.ci is not None and len(scores.files) > 1:
        lines.append(("intervals", described(scores.settings, len(scores.files))))
    if scores.chance is not None:
        lines.append(("chance", said_of_chance(scores.chance)))
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
    if settings.wants_psds:
        lines.append(("PSDS", _psds(scores)))
    if settings.compat:
        lines.append(("compat", f"the hard reading follows {settings.compat}"))
    return lines


def _sizes(item: Input) -> str:
    sizes = ((item.rows, "row"), (item.files, "file"), (item.classes, "class"))
    return ", ".join(counted(number, noun) for number, noun in sizes)


def _input(item: Input) -> str:
    events = "touching rows are one event" if item.events == "merge" else "each row is an event"
    parts = [
        f"{visible(item.name)}: {_sizes(item)}",
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
