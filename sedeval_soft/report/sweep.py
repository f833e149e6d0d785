"""Scores over thresholds of the reference: a table for each basis and reading."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sedeval_soft.core.value import Scores
from sedeval_soft.measures.names import AVERAGES, ScoreName
from sedeval_soft.report.layout import measure_label
from sedeval_soft.report.table import Table, number, short

if TYPE_CHECKING:
    from sedeval_soft.core.sweep import Sweep


def sweep_tables(scores: Scores) -> list[Table]:
    """Return the tables of what hard and optimal readings score at each threshold; none without a sweep."""
    sweep = scores.sweep
    if sweep is None:
        return []
    names = [ScoreName.parse(name) for name in sweep.scores]
    found = []
    for basis, reading in dict.fromkeys((name.basis, name.reading) for name in names):
        own = [name for name in names if (name.basis, name.reading) == (basis, reading)]
        size = [name for name in own if name.measure == "n_ref"]
        averages = [a for a in AVERAGES if a != "weighted" and any(n.average == a for n in own)]
        columns = [*size, *(n for a in averages for n in own if n.average == a and n.measure != "n_ref")]
        values = [sweep.scores[str(name)] for name in columns]
        rows = [
            (
                _threshold(scores, threshold),
                number(sweep.at[basis][k], digits=0),
                *(number(of[k], digits=0 if n in size else 4) for n, of in zip(columns, values, strict=True)),
            )
            for k, threshold in enumerate(sweep.thresholds)
        ]
        counts = [
            (a, sum(n.average == a for n in columns) - (len(size) if a == "micro" else 0)) for a in averages
        ]
        found.append(
            Table(
                f"Thresholds of the reference, {basis}-based, {reading} reading",
                ("reference", "exactly", *(measure_label(scores.settings, n.measure) for n in columns)),
                tuple(rows),
                groups=(("", 1), ("", 1 + len(size)), *counts),
            )
        )
    return found


def sweep_notes(sweep: Sweep | None) -> list[str]:
    """Return what a reader must know of these tables."""
    if sweep is None:
        return []
    said = (
        "Exactly counts segments (clips, events) whose value in the reference is the threshold: whether they "
        "are active is decided by above or at; * marks the threshold of all other tables."
    )
    return [said]


def _threshold(scores: Scores, threshold: float) -> str:
    return short(threshold) + (" *" if threshold == scores.settings.reference_cut else "")
