"""Which measure stands in which table, and what it is called there.

Each measure says its table. What is in none is shown all the same: any basis and reading has its rows in the
same tables, and a measure or an average stands in the tables of other measures and other averages.
"""

from __future__ import annotations

from dataclasses import dataclass

from sedeval_soft.measures.names import AVERAGES, OVERALL
from sedeval_soft.measures.registry import FAMILIES
from sedeval_soft.report.table import short
from sedeval_soft.settings import Settings

_MEASURES = tuple(measure for family in FAMILIES for measure in family.measures)


def _in_table(table: str, *first: str) -> tuple[str, ...]:
    """Return the measures of a table: those that come first, and others in the order of the registry."""
    return tuple(dict.fromkeys((*first, *(m.name for m in _MEASURES if m.table == table))))


COUNTS = _in_table("counts", "n_ref", "n_sys", "tp", "fp", "fn", "tn")

EXACT = frozenset(measure.name for measure in _MEASURES if measure.exact)
"""Measures of which every digit is shown: what is typed in again must select the same rows."""

_SHORT = {measure.name: measure.short for measure in _MEASURES if measure.short}

_MAIN, _RATES, _PSDS = _in_table("main"), _in_table("rates"), _in_table("psds")
_NEGATIVES, _DEVIATIONS = _in_table("negatives"), _in_table("deviations")
_PRECISIONS, _ROC = _in_table("precision"), _in_table("roc")
_DIVERGENCES = _in_table("divergence", "kl_divergence_reverse", "cross_entropy", "jensen_shannon")
_LABEL_WISE = _in_table("label-wise")
_CALIBRATION, _SATISFICED = _in_table("calibration"), _in_table("satisficed")


@dataclass(frozen=True, slots=True)
class Averages:
    """A table of averages of some measures, with a row for each basis and reading.

    Several averages stand side by side, each with its measures below its name; if stacked, below one
    another, in rows of their own.
    """

    title: str
    measures: tuple[str, ...]
    averages: tuple[str, ...]
    stacked: bool = False


AVERAGED = (
    Averages("Summary", _MAIN, ("micro", "macro")),
    Averages("Polyphonic sound detection score", _PSDS, (OVERALL,)),
    Averages("Averages weighted by the size of the reference", _MAIN, ("weighted",)),
    Averages("Counts and parts of the error rate, all classes together", (*COUNTS, *_RATES), ("micro",)),
    Averages("Averages of the parts of the error rate", _RATES, ("macro", "weighted")),
    Averages("Lowest error rate over all thresholds", _in_table("best error rate"), AVERAGES),
    Averages(
        "Best micro F over class-wise thresholds, and over one for all classes",
        _in_table("joint"),
        (OVERALL,),
    ),
    Averages("Best threshold for all classes under the constraint", _SATISFICED, (OVERALL,)),
    Averages("Averages of measures with true negatives", _NEGATIVES, AVERAGES, stacked=True),
    Averages("Averages of deviations in seconds", _DEVIATIONS, AVERAGES, stacked=True),
    Averages("Average precision", _PRECISIONS, AVERAGES, stacked=True),
    Averages("Receiver operating characteristic", _ROC, AVERAGES, stacked=True),
    Averages("Divergences, losses and correlations", _DIVERGENCES, AVERAGES, stacked=True),
    Averages("Calibration", _CALIBRATION, AVERAGES, stacked=True),
    Averages("Ranking of the classes within segments", _in_table("ranking"), (OVERALL,)),
    Averages("Precision of classes among the highest of a segment", _LABEL_WISE, ("macro", "weighted")),
)
"""The tables of averages in order."""

TABLE_OF = {
    (measure, average): table
    for table in reversed(AVERAGED)
    for measure in table.measures
    for average in table.averages
}
"""The table in which an average of a measure stands; the first of those that would have it."""

OF_PARTS = Averages("Summary", (*_MAIN, *_PSDS), (*AVERAGES, OVERALL))
"""The one table of averages that a group of classes or a scene has; its name follows the title."""

OF_CLASSES = (
    (
        "",
        (
            *("n_ref", "n_sys", "tp", "fp", "fn", "precision", "recall", "f1", "fbeta", "error_rate"),
            *("deletion_rate", "insertion_rate", "kl_divergence", *_PSDS),
            *("threshold", "joint_threshold", "best_error_rate", "best_error_rate_threshold"),
        ),
    ),
    (", best under the constraint", _SATISFICED),
    (", with true negatives", ("tn", *_NEGATIVES)),
    (", deviations in seconds", _DEVIATIONS),
    (", average precision", _PRECISIONS),
    (", receiver operating characteristic", _ROC),
    (", divergences, losses and correlations", _DIVERGENCES),
    (", calibration", _CALIBRATION),
    (", among the highest of a segment", _LABEL_WISE),
)
"""The tables of classes of each basis and reading: what follows their title, and their measures."""


def measure_label(settings: Settings, measure: str) -> str:
    """Return what a measure is called in a table."""
    return f"F{short(settings.beta)}" if measure == "fbeta" else _SHORT.get(measure, measure)
