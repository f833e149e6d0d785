"""What the words on a screen mean in this call, in a line each: readings, bases, averages, intervals."""

from __future__ import annotations

from collections.abc import Sequence

from sedeval_soft.errors import counted
from sedeval_soft.evaluation.scores import Scores
from sedeval_soft.report.page import intervals_by, percent, scoring
from sedeval_soft.report.shown import Family
from sedeval_soft.report.table import short
from sedeval_soft.settings import Settings, short_fraction

_READINGS = {
    "tuned": "the system cut at thresholds that were found on other files",
    "optimal": "each class cut where its F is best on these very files: too optimistic",
    "soft": "nothing cut: values compared as they are, as fuzzy sets",
}
_MARKED = {"optimal": "optimal*"}

_AVERAGES = {
    "macro": "the mean of the classes' P, R and F",
    "micro": "all classes pooled: frequent ones weigh more",
    "weighted": "the mean of the classes' scores, weighted by the size of the reference",
    "harmonic": "the harmonic mean of the classes' P, R and F: low ones weigh more",
    "geometric": "the geometric mean of the classes' P, R and F: low ones weigh more",
}
_OTHERS = "error rate (may exceed 1){kld}: low is good"
_KLD = ", Kullback-Leibler divergence"


def marked(reading: str) -> str:
    """Return what a reading is called on a screen: `optimal*`, since its thresholds flatter."""
    return _MARKED.get(reading, reading)


def legend(scores: Scores, order: Sequence[Family], averages: Sequence[str]) -> dict[str, str]:
    """Return what each word means, those that matter most first.

    order: the bases and readings that are shown. averages: those that are shown.
    """
    told, settings = dict(scoring(scores)), scores.settings
    readings, bases = dict.fromkeys(reading for _, reading in order), {basis for basis, _ in order}
    active = told["files"].partition("; ")[2]
    means = _READINGS | {"hard": f"reference and system both cut: {active}"}
    lines = {marked(reading): means.get(reading, "") for reading in readings}
    lines |= _spreads(scores)
    events = _found(settings)
    of_bases = {"segment": _segments(scores), "event": events, "intersection": told.get("overlaps", "")}
    lines |= {basis: text for basis, text in of_bases.items() if basis in bases}
    if len(averages) > 1:
        lines |= {average: _AVERAGES[average] for average in averages}
    if order:
        has_kld = any(score.measure == "kl_divergence" for score in scores.scores.values())
        lines["ER, KLD" if has_kld else "ER"] = _OTHERS.format(kld=_KLD if has_kld else "")
    if "event" in bases:
        lines["rows"] = _merged(scores)
    lines |= {name: told[name] for name in ("process", "satisfice", "compat") if name in told}
    return {name: text for name, text in lines.items() if text}


def _spreads(scores: Scores) -> dict[str, str]:
    """Return what stands beside and below scores: intervals, chance levels, deviations over folds."""
    lines, settings = {}, scores.settings
    confidence = percent(settings.confidence)
    if scores.runs:
        lines[confidence] = "interval of the mean over runs, by the jackknife"
    elif settings.ci is not None and len(scores.files) > 1:
        drawn = f", {settings.replicates} replicates of the files, seed {settings.seed}"
        lines[confidence] = f"interval: {intervals_by(settings, '' if settings.ci == 'jackknife' else drawn)}"
    if scores.chance is not None:
        lines["chance"] = "what the same output scores if it is moved in time"
    if scores.folds is not None:
        lines["± folds"] = f"standard deviation over {counted(len(scores.folds.names), 'fold')}"
    return lines


def _segments(scores: Scores) -> str:
    length = short_fraction(scores.settings.segment_length).removesuffix(".0")
    pooled = "" if scores.settings.pool == "max" else ", each with the mean of its values"
    return f"{counted(scores.n_segments, 'segment')} of {length} s{pooled}"


def _found(settings: Settings) -> str:
    if settings.match_by == "iou":
        return f"found: intersection over union of at least {short(settings.iou)}"
    parts = []
    if settings.onset:
        parts.append(f"onset within {short(settings.onset_collar)} s")
    if settings.offset:
        share = f"{short(round(100 * settings.offset_collar_rate, 9))} %"
        parts.append(f"offset within {short(settings.offset_collar)} s or {share} of its length")
    return f"found: {', '.join(parts)}"


def _merged(scores: Scores) -> str:
    roles = [item.role for item in scores.inputs if item.events == "merge"]
    whose = {f"the {role}'s" for role in roles}
    if not roles:
        return ""
    both = len(whose) == len({item.role for item in scores.inputs})
    return f"{'' if both else f'{whose.pop()} '}rows of one class that touch count as one event"
