"""Explanations of scores in words: the meaning of settings, and a line for each word on a screen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from sedeval_soft.errors import counted, visible
from sedeval_soft.evaluation.scores import Scores, has_soft_reference
from sedeval_soft.measures.registry import MEASURES
from sedeval_soft.plan import Plan
from sedeval_soft.report.shown import Family, families, has_thresholds
from sedeval_soft.settings import PSDS, PSDS_NUMBERS, Constraint, Settings, settings_in, short_fraction

_INTERVALS = {
    "bootstrap": "bootstrap percentiles",
    "bca": "BCa",
    "expanded": "expanded BCa",
    "jackknife": "delete-one jackknife",
}
"""Names of the methods for intervals."""

_SHORT = {name: measure.short for (_, _, name), (_, measure) in MEASURES.items() if measure.short}

_READINGS = {
    "tuned": "the system is binarised at thresholds that were found on other files",
    "soft": "no threshold: values are compared as they are, as fuzzy sets",
}
_FOOTNOTES = {
    "optimal": "* hard at the best thresholds on these files: an upper bound, not a result",
    "soft": "† the reference has no values: soft scores also depend on how sure the system is",
}

_AVERAGES = {
    "macro": "the mean of the classes' P, R and F",
    "micro": "all classes pooled: frequent ones weigh more",
    "weighted": "the mean of the classes' scores, weighted by the size of the reference",
    "harmonic": "the harmonic mean of the classes' P, R and F: low ones weigh more",
    "geometric": "the geometric mean of the classes' P, R and F: low ones weigh more",
}


def short(value: float) -> str:
    """Return a setting as it would be typed: exact, and without the decimals of a whole number."""
    return repr(value).removesuffix(".0")


def marked(reading: str, scores: Scores) -> str:
    """Return the name of a reading on a screen: `hard > 0.5`, `optimal*`; a mark refers to a footnote."""
    if reading == "hard":
        point, settings = _point(scores), scores.settings
        sign = ">=" if settings.inclusive else ">"
        return (
            f"hard, table {short(point)}" if point is not None else f"hard {sign} {short(settings.threshold)}"
        )
    note = _FOOTNOTES.get(reading, "") if reading != "soft" or not has_soft_reference(scores) else ""
    return reading + note[:1]


def footnotes(scores: Scores, order: Sequence[Family]) -> list[str]:
    """Return the footnotes of readings that have a mark on a screen."""
    readings = dict.fromkeys(reading for _, reading in order)
    notes = [_FOOTNOTES[each] for each in readings if marked(each, scores)[-1] in "*†"]
    point = _point(scores) if "hard" in readings else None
    return [f"table {short(point)}: the system's events for this threshold", *notes] if point else notes


def legend(scores: Scores, order: Sequence[Family], averages: Sequence[str]) -> dict[str, str]:
    """Return the meaning of each word on a screen, the most important words first.

    order: the bases and readings that are shown. averages: the averages that are shown.
    """
    lines: dict[str, str] = {}
    for reading in dict.fromkeys(reading for _, reading in order):
        lines[reading] = _hard(scores) if reading == "hard" else _READINGS.get(reading, "")
    lines |= _spreads(scores)
    if len(averages) > 1:
        lines |= {average: _AVERAGES[average] for average in averages}
    if averages:
        lines["ER"] = "error rate (may exceed 1): low is good"
    lines |= {name: text for name, text in scoring(scores) if name not in {"files", *lines}}
    return {name: text for name, text in lines.items() if text}


def silent(scores: Scores, family: Family, role: str) -> dict[str, str]:
    """Return the classes that a side lacks in a basis and reading, and the reason.

    role: `reference` or `system`. Values without a threshold distinguish absent classes from classes below
    the threshold.
    """
    settings, measure = scores.settings, {"reference": "n_ref", "system": "n_sys"}[role]
    bases = [basis for basis, reading in families(scores) if reading == "soft"]
    soft = [(basis, "soft") for basis in sorted(bases, key=lambda basis: basis != family[0])][:1]
    is_cut = has_thresholds(scores, role)
    cut, value, absent = settings.reference_cut, "reference value", "not in the reference"
    if role == "system":
        processed = "processed " * settings.postprocesses
        cut, value = settings.threshold, f"{processed}value"
        absent = f"not in the {processed}output"
    mean = "mean " * (family[0] == "segment" and settings.pool == "mean")
    below = f"no {mean}{value} {'of at least' if settings.inclusive else 'above'} {short(cut)}"
    why = {}
    for label in scores.classes:
        names = (f"{basis}.{reading}.{measure}[{label}]" for basis, reading in (family, *soft))
        sizes = [scores.scores[name].value for name in names if name in scores.scores]
        if sizes and sizes[0] == 0:
            there = any(sizes) if soft else is_cut
            why[label] = below if there else absent
    return why


def missed_classes(scores: Scores, order: Sequence[Family]) -> dict[str, str]:
    """Return the classes of the reference that the system never detects, and why; order: as it is shown."""
    cut = next((family for family in order if family[1] == "hard"), None)
    if cut is None:
        return {}
    absent = silent(scores, cut, "reference")
    return {label: why for label, why in silent(scores, cut, "system").items() if label not in absent}


def _spreads(scores: Scores) -> dict[str, str]:
    """Return the numbers beside and below scores: intervals, chance levels, deviations over folds."""
    lines, settings = {}, scores.settings
    confidence = percent(settings.confidence)
    if scores.runs:
        lines[confidence] = "interval of the mean over runs, by Student's t"
    elif settings.ci is not None and len(scores.files) > 1:
        drawn = f", {settings.replicates} replicates of the files, seed {settings.seed}"
        lines[confidence] = f"interval: {intervals_by(settings, '' if settings.ci == 'jackknife' else drawn)}"
    if scores.chance is not None:
        lines["chance"] = "what the same output scores if it is moved in time"
    if scores.folds is not None:
        lines["± folds"] = f"standard deviation over {counted(len(scores.folds.names), 'fold')}"
    return lines


# How scores are found, on pages.


def settings_of(settings: Settings, group: str | None) -> Settings:
    """Return the settings of scores of a group, which may have settings of its own in its name."""
    text = (group or "").rpartition("@")[2]
    return replace(settings, **settings_in(text)) if "=" in text else settings


def measure_label(settings: Settings, measure: str) -> str:
    """Return the name of a measure in a table."""
    label = f"F{short(settings.beta)}" if measure == "fbeta" else _SHORT.get(measure, measure)
    if measure == "recall_at_iou":
        return f"R@{short(settings.iou)}"
    if label != "PSDS" or settings.psds is None:
        return label
    chosen = {name: getattr(settings, name) for name in PSDS[settings.psds]}
    changed = [name for name, value in chosen.items() if value not in (None, PSDS[settings.psds][name])]
    # With other criteria it is not the PSDS that papers report.
    return (
        f"PSDS ({settings.psds}, but {', '.join(changed)})"
        if changed
        else f"{PSDS_NUMBERS[settings.psds]} ({settings.psds})"
    )


def scoring(scores: Scores) -> list[tuple[str, str]]:
    """Return how scores are found, as (name, text)."""
    settings, bases = scores.settings, {score.basis for score in scores.scores.values()}
    changes, texts = _changes(settings), dict[str, str]()
    length = f", {short(round(scores.length, 6))} s" if has_length(scores) else ""
    texts["files"] = f"{len(scores.files)}{length}; {_active(settings)}"
    texts["process"] = changes["process"]
    if "segment" in bases:
        pooled = "" if settings.pool == "max" else ", time-weighted means"
        t_norm = "" if settings.t_norm == "minimum" else f"; {settings.t_norm} T-norm"
        texts["segments"] = f"{scores.n_segments} of {_length(settings)} s{pooled}{t_norm}"
    if "event" in bases:
        texts["events"] = f"{_matched(settings)}; {settings.matching} matching"
    if "intersection" in bases:
        texts["overlaps"] = _overlaps(settings)
    if settings.tunes:
        texts["tuned"] = _tuned(settings)
    texts["satisfice"] = changes["satisfice"]
    if settings.measures:
        texts["measures"] = _measures(settings)
    if Plan.of(settings).psds:
        keys = ("alpha_ct", "alpha_st", "max_efpr")
        weights = "".join(f"{key} {short(settings.criterion(key))}, " for key in keys)
        named = f"{settings.psds}: " if settings.psds else ""
        texts["PSDS"] = f"{named}{weights}cross triggers covered by {_share(settings.criterion('cttc'))}"
    texts["compat"] = changes["compat"]
    return [(name, text) for name, text in texts.items() if text]


def has_length(scores: Scores) -> bool:
    """Return whether recordings have a length that is known: without times on either side they have none."""
    return scores.length > 1e-6 * len(scores.files) or any(s.basis != "clip" for s in scores.scores.values())


def _active(settings: Settings) -> str:
    sign = "at or above" if settings.inclusive else "above"
    cut = f"active {sign} {short(settings.threshold)}"
    if settings.reference_cut != settings.threshold:
        cut += f" (reference {sign} {short(settings.reference_cut)})"
    return cut


def _point(scores: Scores) -> float | None:
    """Return which of several operating points the hard reading compares, if there are any."""
    points = next((item.points for item in scores.inputs if item.points), ())
    threshold = scores.settings.threshold
    # The last table is that of all thresholds below 1, or of 1 itself.
    if not points or threshold > max(points[-1], math.nextafter(1, 0)):
        return None
    return max((each for each in points if each <= threshold), default=points[0])


def _hard(scores: Scores) -> str:
    """Return the inputs of the hard reading: for operating points, the table at the threshold."""
    settings, point = scores.settings, _point(scores)
    if point is None:
        return f"both tables are binarised: {_active(settings)}"
    cut = any(item.has_values for item in scores.inputs)
    return f"the system's table for {short(point)}" + f", the reference {_active(settings)}" * cut


def _length(settings: Settings) -> str:
    return short_fraction(settings.segment_length).removesuffix(".0")


def _share(share: float) -> str:
    return f"{short(round(100 * share, 9))} %"


def _matched(settings: Settings) -> str:
    if settings.match_by == "iou":
        return f"intersection over union of at least {short(settings.iou)}"
    parts = []
    if settings.onset:
        parts.append(f"onset within {short(settings.onset_collar)} s")
    if settings.offset:
        share = _share(settings.offset_collar_rate)
        parts.append(f"offset within {short(settings.offset_collar)} s or {share} of its length")
    return ", ".join(parts)


def _overlaps(settings: Settings) -> str:
    dtc, gtc = (_share(settings.criterion(name)) for name in ("dtc", "gtc"))
    return f"detections covered by {dtc} or more, reference events by {gtc} or more"


def _measures(settings: Settings) -> str:
    rates = f"FPR {short(settings.max_fpr)}, FNR {short(settings.max_fnr)}, IoU {short(settings.iou)}"
    details = {
        "curves": f" ({rates})",
        "divergence": f" ({settings.entropy_unit}, eps {settings.epsilon:g})",
        "calibration": f" ({settings.bins} bins)",
    }
    return ", ".join(name + details.get(name, "") for name in settings.measures)


def _changes(settings: Settings) -> dict[str, str]:
    """Return the settings that change the output, the thresholds and the hard reading; empty for none."""
    return {
        "process": _processing(settings) if settings.postprocesses else "",
        "satisfice": f"best thresholds where {_satisfice(settings.satisfice)}" if settings.satisfice else "",
        "compat": f"the hard reading follows {settings.compat}" if settings.compat else "",
    }


def _processing(settings: Settings) -> str:
    parts = []
    names = {"median_filter": "median filter", "min_gap": "no gap below", "min_duration": "no event below"}
    for name, text in names.items():
        value = getattr(settings, name)
        if isinstance(value, dict):
            lengths = ", ".join(f"{visible(label)} {short(seconds)} s" for label, seconds in value.items())
            parts += [f"{text} by class ({lengths})"] if any(value.values()) else []
        elif value:
            parts.append(f"{text} {short(value)} s")
    return f"system: {', '.join(parts)}"


def _tuned(settings: Settings) -> str:
    if isinstance(settings.thresholds, str):
        return f"the system cut at the {settings.thresholds} of each class"
    if settings.thresholds is not None:
        return f"the system cut at given thresholds of {counted(len(settings.thresholds), 'class')}"
    count = settings.cross_tune
    each = "each fold" if count == "folds" else f"each of {count} parts of the files (seed {settings.seed})"
    best = settings.objective or "F of each basis"
    return f"{each} cut at the thresholds with the best {best} on the others"


def _satisfice(text: str) -> str:
    constraint = Constraint.parse(text)
    measure = constraint.measure.replace("_", " ").replace("fpr per", "false positives per")
    best = {"f": "highest F", "error_rate": "lowest error rate"}.get(constraint.best)
    return f"{measure} {constraint.sign} {short(constraint.number)}: {best or f'highest {constraint.best}'}"


def percent(share: float | Decimal) -> str:
    """Return a share, such as a confidence, as a percentage with all its digits: `95 %`."""
    text = f"{100 * Decimal(str(share)):f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} %"


def intervals_by(settings: Settings, drawn: str = "") -> str:
    """Return the method of intervals, the data they use, and the parts that they keep fixed."""
    return f"{_INTERVALS[settings.ci or '']}{drawn}{', thresholds fixed' * settings.fixed_thresholds}"
