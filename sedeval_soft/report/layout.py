"""Which measure stands in which table, and what it is called there.

What is not here is shown all the same: any basis and reading has its rows in the same tables, and a measure
or an average stands in the tables of other measures and other averages.
"""

from __future__ import annotations

from dataclasses import dataclass

from sedeval_soft.measures.names import AVERAGES, OVERALL

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
    "psds": "PSDS",
    "pipsds": "piPSDS",
    "best_error_rate": "best ER",
    "best_error_rate_threshold": "at",
}
"""What a measure is called in a table's head; one that is not here keeps its name, and fbeta has its beta."""

COUNTS = ("n_ref", "n_sys", "tp", "fp", "fn", "tn", "substitutions", "deletions", "insertions")
EXACT = ("threshold", "best_error_rate_threshold")
"""Measures of which every digit is shown: what is typed in again must select the same rows."""

_MAIN = ("precision", "recall", "f1", "fbeta", "error_rate", "kl_divergence")
_RATES = ("substitution_rate", "deletion_rate", "insertion_rate")
_NEGATIVES = ("sensitivity", "specificity", "accuracy", "balanced_accuracy", "npv")
_PSDS = ("psds", "pipsds")
_DEVIATIONS = ("onset_bias", "onset_spread", "offset_bias", "offset_spread")


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

    def shows(self, measure: str, average: str | None) -> bool:
        """Return whether an average of a measure stands in this table."""
        return measure in self.measures and average in self.averages


AVERAGED = (
    Averages("Summary", _MAIN, ("micro", "macro")),
    Averages("Polyphonic sound detection score", _PSDS, (OVERALL,)),
    Averages("Averages weighted by the size of the reference", _MAIN, ("weighted",)),
    Averages("Counts and parts of the error rate, all classes together", (*COUNTS, *_RATES), ("micro",)),
    Averages("Averages of the parts of the error rate", _RATES, ("macro", "weighted")),
    Averages("Lowest error rate over all thresholds", ("best_error_rate",), AVERAGES),
    Averages("Averages of measures with true negatives", _NEGATIVES, AVERAGES, stacked=True),
    Averages("Averages of deviations in seconds", _DEVIATIONS, AVERAGES, stacked=True),
)
"""The tables of averages in order."""

OF_CLASSES = (
    (
        "",
        (
            *("n_ref", "n_sys", "tp", "fp", "fn", "precision", "recall", "f1", "fbeta", "error_rate"),
            *("deletion_rate", "insertion_rate", "kl_divergence", "psds", "pipsds"),
            *("threshold", "best_error_rate", "best_error_rate_threshold"),
        ),
    ),
    (", with true negatives", ("tn", *_NEGATIVES)),
    (", deviations in seconds", _DEVIATIONS),
)
"""The tables of classes of each basis and reading: what follows their title, and their measures."""
