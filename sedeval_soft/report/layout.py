"""Which measure stands in which table, and what it is called there.

What is not here is shown all the same: any basis and reading has its rows in the same tables, and a measure
or an average stands in the tables of other measures and other averages.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from sedeval_soft.measures.names import AVERAGES, OVERALL
from sedeval_soft.report.table import short
from sedeval_soft.settings import Settings

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
    "joint_f": "joint F",
    "joint_threshold": "joint at",
    "single_f": "single F",
    "single_threshold": "at",
    "satisficed_threshold": "at",
    "satisficed_constraint": "constrained",
    "satisficed_f": "F",
    "satisficed_precision": "P",
    "satisficed_recall": "R",
    "average_precision": "AP",
    "average_precision_voc11": "AP voc11",
    "average_precision_voc": "AP voc",
    "average_precision_coco101": "AP coco101",
    "average_precision_coco": "AP coco",
    "roc_auc": "AUC",
    "partial_auc": "pAUC",
    "partial_auc_mcclish": "pAUC McClish",
    "d_prime": "d'",
    "equal_error_rate": "EER",
    "fnr_at_fpr": "FNR@FPR",
    "fpr_at_fnr": "FPR@FNR",
    "kl_divergence_reverse": "KLD rev.",
    "cross_entropy": "CE",
    "jensen_shannon": "JSD",
    "brier": "Brier",
    "mean_absolute_error": "MAE",
    "soft_f1_loss": "soft F1 loss",
    "wasserstein": "W1",
    "pearson": "Pearson",
    "spearman": "Spearman",
    "expected_calibration_error": "ECE",
    "maximum_calibration_error": "MCE",
    "adaptive_calibration_error": "ACE",
    "brier_reliability": "reliab.",
    "brier_resolution": "resol.",
    "brier_uncertainty": "uncert.",
    "brier_within_bins": "within",
    "one_error": "1-err",
    "ranking_loss": "loss",
    "ranking_loss_all_pairs": "loss (all)",
    "label_ranking_average_precision": "LRAP",
    "hamming_loss": "Hamming",
    "exact_match_prefix": "prefix",
    "subset_accuracy": "subset",
    "label_wise_precision": "label P",
    "label_wise_precision_minimum": "min label P",
}
"""What a measure is called in a table's head; one that is not here keeps its name, and fbeta has its beta."""

COUNTS = ("n_ref", "n_sys", "tp", "fp", "fn", "tn", "substitutions", "deletions", "insertions")
EXACT = (
    *("threshold", "best_error_rate_threshold", "joint_threshold", "single_threshold"),
    "satisficed_threshold",
)
"""Measures of which every digit is shown: what is typed in again must select the same rows."""

_MAIN = ("precision", "recall", "f1", "fbeta", "error_rate", "kl_divergence")
_RATES = ("substitution_rate", "deletion_rate", "insertion_rate")
_NEGATIVES = ("sensitivity", "specificity", "accuracy", "balanced_accuracy", "npv")
_PSDS = ("psds", "pipsds")
_JOINT = ("joint_f", "single_f", "single_threshold")
_SATISFICED = tuple(f"satisficed_{of}" for of in ("threshold", "constraint", "f", "precision", "recall"))
_PRECISIONS = tuple(f"average_precision{form}" for form in ("", "_voc11", "_voc", "_coco101", "_coco"))
_ROC = (
    *("roc_auc", "partial_auc", "partial_auc_mcclish", "d_prime", "equal_error_rate"),
    *("fnr_at_fpr", "fpr_at_fnr"),
)
_DIVERGENCES = (
    *("kl_divergence_reverse", "cross_entropy", "jensen_shannon", "brier", "mean_absolute_error"),
    *("soft_f1_loss", "wasserstein", "pearson", "spearman"),
)
_CALIBRATION = (
    *("expected_calibration_error", "maximum_calibration_error", "adaptive_calibration_error"),
    *("brier_reliability", "brier_resolution", "brier_uncertainty", "brier_within_bins"),
)
_RANKING = (
    *("one_error", "coverage", "ranking_loss", "ranking_loss_all_pairs", "label_ranking_average_precision"),
    *("cross_entropy", "hamming_loss", "exact_match_prefix", "subset_accuracy"),
    "label_wise_precision_minimum",
)
_LABEL_WISE = ("label_wise_precision",)
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
    Averages("Best micro F over class-wise thresholds, and over one for all classes", _JOINT, (OVERALL,)),
    Averages("Best threshold for all classes under the constraint", _SATISFICED, (OVERALL,)),
    Averages("Averages of measures with true negatives", _NEGATIVES, AVERAGES, stacked=True),
    Averages("Averages of deviations in seconds", _DEVIATIONS, AVERAGES, stacked=True),
    Averages("Average precision", _PRECISIONS, AVERAGES, stacked=True),
    Averages("Receiver operating characteristic", _ROC, AVERAGES, stacked=True),
    Averages("Divergences, losses and correlations", _DIVERGENCES, AVERAGES, stacked=True),
    Averages("Calibration", _CALIBRATION, AVERAGES, stacked=True),
    Averages("Ranking of the classes within segments", _RANKING, (OVERALL,)),
    Averages("Precision of classes among the highest of a segment", _LABEL_WISE, ("macro", "weighted")),
)
"""The tables of averages in order."""

_OF_PARTS = Averages("Summary", (*_MAIN, *_PSDS), (*AVERAGES, OVERALL))
"""The one table of averages that a group of classes or a scene has; its name follows the title."""

OF_CLASSES = (
    (
        "",
        (
            *("n_ref", "n_sys", "tp", "fp", "fn", "precision", "recall", "f1", "fbeta", "error_rate"),
            *("deletion_rate", "insertion_rate", "kl_divergence", "psds", "pipsds"),
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


def of_parts(kinds: Iterable[str | None]) -> Averages:
    """Return the table of the main averages of a part; kinds: the averages that it has.

    As in the summary of the whole, weighted averages stand aside; here they have no table of their own.
    """
    aside = {"micro", "macro"} <= {*kinds}
    return replace(_OF_PARTS, averages=tuple(a for a in _OF_PARTS.averages if a != "weighted" or not aside))


def measure_label(settings: Settings, measure: str) -> str:
    """Return what a measure is called in a table."""
    return f"F{short(settings.beta)}" if measure == "fbeta" else SHORT.get(measure, measure)
