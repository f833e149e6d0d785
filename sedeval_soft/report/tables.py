"""Which scores stand in which table."""

from __future__ import annotations

from collections.abc import Iterable

from sedeval_soft.core.value import Input, Score, Scores
from sedeval_soft.report.table import Table, exact, number, visible

SHORT = {
    "precision": "P",
    "recall": "R",
    "f1": "F1",
    "fbeta": "Fbeta",
    "error_rate": "ER",
    "substitution_rate": "S",
    "deletion_rate": "D",
    "insertion_rate": "I",
    "n_ref": "N_ref",
    "n_sys": "N_sys",
    "tp": "TP",
    "fp": "FP",
    "fn": "FN",
    "tn": "TN",
    "substitutions": "subst",
    "deletions": "del",
    "insertions": "ins",
    "sensitivity": "sens",
    "specificity": "spec",
    "accuracy": "acc",
    "balanced_accuracy": "bacc",
    "npv": "NPV",
    "kl_divergence": "KLD",
    "threshold": "threshold",
}
"""What a measure is called in a table's head; one that is not here keeps its name."""

_SUMMARY = ("precision", "recall", "f1", "fbeta", "error_rate", "kl_divergence")
_TOTALS = ("n_ref", "n_sys", "tp", "fp", "fn", "tn", "substitutions", "deletions", "insertions")
_RATES = ("substitution_rate", "deletion_rate", "insertion_rate")
_CLASSES = (
    *("n_ref", "n_sys", "tp", "fp", "fn", "precision", "recall", "f1", "fbeta", "error_rate"),
    *("deletion_rate", "insertion_rate", "kl_divergence", "threshold"),
)
_NEGATIVES = ("tn", "sensitivity", "specificity", "accuracy", "balanced_accuracy", "npv")


def families(scores: Scores) -> list[tuple[str, str]]:
    """Return each basis and reading that has scores, in their order."""
    return list(dict.fromkeys((score.basis, score.reading) for score in scores.scores.values()))


def tables(scores: Scores) -> list[Table]:
    """Return all tables of one system, the summary first."""
    found = [
        _averages(scores, "Summary", ("micro", "macro")),
        _averages(scores, "Averages weighted by the size of the reference", ("weighted",)),
        _totals(scores),
    ]
    for basis, reading in families(scores):
        found.append(_classes(scores, basis, reading, _CLASSES, ""))
        found.append(_classes(scores, basis, reading, _NEGATIVES, ", with true negatives"))
    return [table for table in found if table.rows]


def _get(scores: Scores, basis: str, reading: str, measure: str, form: str) -> Score | None:
    return scores.scores.get(f"{basis}.{reading}.{measure}{form}")


def _averages(scores: Scores, title: str, averages: tuple[str, ...]) -> Table:
    """One row per basis and reading, the main measures in each of some averages."""
    rows = families(scores)
    columns = [
        (average, measure)
        for average in averages
        for measure in _SUMMARY
        if any(_get(scores, *row, measure, f".{average}") for row in rows)
    ]
    groups = [(average, sum(1 for a, _ in columns if a == average)) for average in averages]
    return Table(
        title,
        ("basis", "reading", *(SHORT.get(measure, measure) for _, measure in columns)),
        tuple(
            (*row, *(_cell(_get(scores, *row, measure, f".{average}")) for average, measure in columns))
            for row in rows
        ),
        names=2,
        groups=(("", 2), *((name, count) for name, count in groups if count)),
    )


def _totals(scores: Scores) -> Table:
    """One row per basis and reading: counts over all classes, and the parts of the error rate."""
    rows = families(scores)
    columns = [m for m in (*_TOTALS, *_RATES) if any(_get(scores, *row, m, ".micro") for row in rows)]
    return Table(
        "Counts and parts of the error rate, all classes together",
        ("basis", "reading", *(SHORT.get(measure, measure) for measure in columns)),
        tuple((*row, *(_cell(_get(scores, *row, m, ".micro")) for m in columns)) for row in rows if columns),
        names=2,
    )


def _classes(scores: Scores, basis: str, reading: str, wanted: Iterable[str], suffix: str) -> Table:
    """One row per class."""
    known = {
        score.measure for score in scores.scores.values() if (score.basis, score.reading) == (basis, reading)
    }
    columns = [m for m in wanted if m in known]
    columns = [m for m in columns if any(_get(scores, basis, reading, m, f"[{c}]") for c in scores.classes)]
    return Table(
        f"Classes, {basis}-based, {reading} reading{suffix}",
        ("class", *(SHORT.get(measure, measure) for measure in columns)),
        tuple(
            (visible(label), *(_cell(_get(scores, basis, reading, m, f"[{label}]")) for m in columns))
            for label in scores.classes
            if columns
        ),
    )


def _cell(score: Score | None) -> str:
    """Return a value for a cell: empty where there is no such score, thresholds exact."""
    if score is None:
        return ""
    if score.measure == "threshold":
        return exact(score.value)
    return number(score.value, digits=2 if score.measure in _TOTALS else 4)


def header(scores: Scores) -> list[tuple[str, str]]:
    """Return what was read and how it is scored, as (name, text)."""
    settings = scores.settings
    lines = [(item.role, _input(item)) for item in scores.inputs]
    sign = "at or above" if settings.inclusive else "above"
    cut = f"active {sign} {settings.threshold:g}"
    if settings.reference_cut != settings.threshold:
        cut += f" (reference {sign} {settings.reference_cut:g})"
    lines.append(("files", f"{len(scores.files)}, {scores.length:g} s; {cut}"))
    if settings.wants("segment"):
        pooled = "" if settings.pool == "max" else ", time-weighted means"
        lines.append(("segments", f"{scores.n_segments} of {settings.segment_length:g} s{pooled}"))
    if settings.wants("event"):
        lines.append(("events", _collars(scores)))
    if settings.compat:
        lines.append(("compat", f"the hard reading follows {settings.compat}"))
    return lines


def _input(item: Input) -> str:
    events = "touching rows are one event" if item.events == "merge" else "each row is an event"
    parts = [
        f"{visible(item.name)}: {item.rows} rows, {item.files} files, {item.classes} classes",
        visible(item.form),
        "with values" if item.has_values else "without values",
        events,
    ]
    if item.ignored:
        parts.append(f"ignored columns: {', '.join(map(visible, item.ignored))}")
    return "; ".join(parts)


def _collars(scores: Scores) -> str:
    settings = scores.settings
    parts = []
    if settings.onset:
        parts.append(f"onsets within {settings.onset_collar:g} s")
    if settings.offset:
        parts.append(
            f"offsets within {settings.offset_collar:g} s or {settings.offset_collar_rate:.0%} of the length"
        )
    return f"{', '.join(parts)}; {settings.matching} matching"


def notes(scores: Scores) -> list[str]:
    """Return what a reader must know of the tables."""
    found = []
    if any(score.value is None for score in scores.scores.values()):
        found.append("- is undefined: there is nothing to divide by.")
    silent: dict[tuple[str, ...], list[str]] = {}
    for basis, reading in families(scores):
        absent = tuple(c for c in scores.classes if not scores.scores[f"{basis}.{reading}.n_ref[{c}]"].value)
        silent.setdefault(absent, []).append(f"{basis} {reading}")
    for absent, where in silent.items():
        if absent:
            of = f" ({', '.join(where)})" if len(silent) > 1 else ""
            names = ", ".join(map(visible, absent))
            found.append(f"Without reference, so left out of macro averages{of}: {names}.")
    return found
