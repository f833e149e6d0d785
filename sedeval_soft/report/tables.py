"""Which scores stand in which table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sedeval_soft.core.value import Input, Score, Scores
from sedeval_soft.report.table import UNDEFINED, Table, exact, number, short, visible

SHORT = {
    "precision": "P",
    "recall": "R",
    "f1": "F1",
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
"""What a measure is called in a table's head; one that is not here keeps its name, and fbeta has its beta."""

_AVERAGES = ("micro", "macro", "weighted")
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
    """Return all tables of one system, the summary first. Every score stands in one of them."""
    found = [
        _averages(scores, "Summary", _AVERAGES[:2]),
        _averages(scores, "Averages weighted by the size of the reference", _AVERAGES[2:]),
        _totals(scores),
        _other_averages(scores),
    ]
    for basis, reading in families(scores):
        measures = dict.fromkeys(
            score.measure
            for score in scores.scores.values()
            if score.average is None and (score.basis, score.reading) == (basis, reading)
        )
        others = [measure for measure in measures if measure not in {*_CLASSES, *_NEGATIVES}]
        main = [measure for measure in (*_CLASSES, *others) if measure in measures]
        negatives = [measure for measure in _NEGATIVES if measure in measures]
        found.append(_classes(scores, basis, reading, main, ""))
        found.append(_classes(scores, basis, reading, negatives, ", with true negatives"))
    return [table for table in found if table.rows]


def _get(scores: Scores, basis: str, reading: str, measure: str, form: str) -> Score | None:
    return scores.scores.get(f"{basis}.{reading}.{measure}{form}")


def _heading(scores: Scores, measure: str) -> str:
    if measure == "fbeta":
        return f"F{short(scores.settings.beta)}"
    return SHORT.get(measure, measure)


def _grid(
    scores: Scores, rows: Iterable[tuple[str, str]], columns: Sequence[tuple[str, str]]
) -> tuple[tuple[str, ...], ...]:
    """Return the rows of bases and readings that have any of some columns, (measure, form) each."""
    lines = []
    for row in rows:
        found = [_get(scores, *row, measure, form) for measure, form in columns]
        if any(found):
            lines.append((*row, *map(_cell, found)))
    return tuple(lines)


def _averages(scores: Scores, title: str, averages: tuple[str, ...]) -> Table:
    """One row per basis and reading, the main measures in each of some averages."""
    rows = families(scores)
    columns = [
        (measure, f".{average}")
        for average in averages
        for measure in _SUMMARY
        if any(_get(scores, *row, measure, f".{average}") for row in rows)
    ]
    groups = [(average, sum(form == f".{average}" for _, form in columns)) for average in averages]
    return Table(
        title,
        ("basis", "reading", *(_heading(scores, measure) for measure, _ in columns)),
        _grid(scores, rows, columns),
        names=2,
        groups=(("", 2), *((name, count) for name, count in groups if count)),
    )


def _totals(scores: Scores) -> Table:
    """One row per basis and reading: counts over all classes, and the parts of the error rate."""
    rows = families(scores)
    measures = (*_TOTALS, *_RATES)
    columns = [(m, ".micro") for m in measures if any(_get(scores, *row, m, ".micro") for row in rows)]
    return Table(
        "Counts and parts of the error rate, all classes together",
        ("basis", "reading", *(_heading(scores, measure) for measure, _ in columns)),
        _grid(scores, rows, columns),
        names=2,
    )


def _other_averages(scores: Scores) -> Table:
    """One row per basis, reading and average: the averages that no table before this one shows."""
    order = {family: i for i, family in enumerate(families(scores))}
    kept = [
        score
        for score in scores.scores.values()
        if score.average is not None
        and not (score.average in _AVERAGES and score.measure in _SUMMARY)
        and not (score.average == "micro" and score.measure in {*_TOTALS, *_RATES})
    ]
    kept.sort(key=lambda score: (order[score.basis, score.reading], score.average != "micro"))  # stable
    columns = list(dict.fromkeys(score.measure for score in kept))
    rows: dict[tuple[str, str, str], dict[str, Score]] = {}
    for score in kept:
        rows.setdefault((score.basis, score.reading, score.average or ""), {})[score.measure] = score
    return Table(
        "Other averages",
        ("basis", "reading", "average", *(_heading(scores, measure) for measure in columns)),
        tuple((*row, *(_cell(found.get(m)) for m in columns)) for row, found in rows.items()),
        names=3,
    )


def _classes(scores: Scores, basis: str, reading: str, columns: Sequence[str], suffix: str) -> Table:
    """One row per class."""
    return Table(
        f"Classes, {basis}-based, {reading} reading{suffix}",
        ("class", *(_heading(scores, measure) for measure in columns)),
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
    cut = f"active {sign} {short(settings.threshold)}"
    if settings.reference_cut != settings.threshold:
        cut += f" (reference {sign} {short(settings.reference_cut)})"
    lines.append(("files", f"{len(scores.files)}, {short(round(scores.length, 6))} s; {cut}"))
    if settings.wants("segment"):
        pooled = "" if settings.pool == "max" else ", time-weighted means"
        lines.append(("segments", f"{scores.n_segments} of {short(settings.segment_length)} s{pooled}"))
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
        parts.append(f"onsets within {short(settings.onset_collar)} s")
    if settings.offset:
        share = short(round(100 * settings.offset_collar_rate, 9))
        parts.append(f"offsets within {short(settings.offset_collar)} s or {share}% of the length")
    return f"{', '.join(parts)}; {settings.matching} matching"


def notes(scores: Scores, shown: Iterable[Table]) -> list[str]:
    """Return what a reader must know of the tables that are shown."""
    found = []
    if any(UNDEFINED in row[table.names :] for table in shown for row in table.rows):
        found.append("- is undefined: there is nothing to divide by, or nothing to cut.")
    silent: dict[tuple[str, ...], list[str]] = {}
    for basis, reading in families(scores):
        sizes = {label: _get(scores, basis, reading, "n_ref", f"[{label}]") for label in scores.classes}
        absent = tuple(label for label, size in sizes.items() if size is not None and size.value == 0)
        if any(sizes.values()):
            silent.setdefault(absent, []).append(f"{basis} {reading}")
    for absent, where in silent.items():
        if absent:
            of = f" ({', '.join(where)})" if len(silent) > 1 else ""
            names = ", ".join(map(visible, absent))
            found.append(f"Without reference, so left out of macro averages{of}: {names}.")
    return found
