"""The measures of curves: over all thresholds of the system. Those of one curve are computed together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sedeval_soft.measures.base import Family, Measure

_NO_REFERENCE = "N_ref = 0"
_FAWCETT = "Fawcett 2006"


def _precision(form: str, summary: str, formula: str, short: str, source: str, **told: Any) -> Measure:  # noqa: ANN401
    name = f"average_precision{form}"
    told = {"undefined": _NO_REFERENCE, "table": "precision", **told}
    return Measure(name, summary, formula, short=short, source=source, **told)


def _rate(name: str, summary: str, formula: str, short: str, source: str, **told: Any) -> Measure:  # noqa: ANN401
    undefined = "N_ref = 0, or the reference is active throughout"
    told = {"undefined": undefined, "table": "roc", **told}
    return Measure(name, summary, formula, short=short, source=source, **told)


AVERAGE_PRECISION = (
    _precision(
        "", "area under the precision-recall steps; its macro average is mAP",
        "sum over thresholds of (R_k - R_(k-1)) P_k", "AP", "Buckley & Voorhees 2000; as scikit-learn",
        aliases=("ap", "map", "auprc", "pr_auc", "mean_average_precision"),
    ),
    _precision(
        "_voc11", "precision interpolated at 11 recalls",
        "mean over r = 0, 0.1 .. 1 of max precision at recall >= r", "AP voc11",
        "Everingham et al. 2010 (PASCAL VOC 2007)",
    ),
    _precision(
        "_voc", "area under precision interpolated at every recall",
        "sum over thresholds of (R_k - R_(k-1)) max precision at recall >= R_k", "AP voc",
        "Everingham et al. 2015 (PASCAL VOC 2010)",
    ),
    _precision(
        "_coco101", "precision interpolated at 101 recalls",
        "mean over r = 0, 0.01 .. 1 of max precision at recall >= r", "AP coco101", "Lin et al. 2014 (COCO)",
    ),
)  # fmt: skip

RATES = (
    _rate(
        "roc_auc", "area under the ROC: how often an active segment is above a silent one",
        "area under TPR over FPR, ties half", "AUC", "Hanley & McNeil 1982",
        aliases=("auc", "auroc", "rocauc", "roc-auc"),
    ),
    _rate(
        "partial_auc", "area under the ROC to --max-fpr, 1 at best; its macro average is mpAUC (DCASE 2024)",
        "area under TPR over FPR to max_fpr / max_fpr", "pAUC", "McClish 1989; scaling of DCASE 2024 task 4",
        aliases=("pauc", "mpauc"),
    ),
    _rate(
        "partial_auc_mcclish", "area under the ROC to --max-fpr, scaled so that chance is 0.5",
        "(1 + (area - max_fpr^2 / 2) / (max_fpr - max_fpr^2 / 2)) / 2", "pAUC McClish",
        "McClish 1989; as scikit-learn",
    ),
    _rate(
        "d_prime", "separation of active from silent segments in deviations; averages of average AUC",
        "sqrt(2) * inverse normal of roc_auc", "d'", "Simpson & Fitter 1973", low=None, high=None,
        undefined="roc_auc is, or is 0 or 1",
    ),
    _rate(
        "equal_error_rate", "miss rate where it equals the false alarm rate",
        "FNR where the ROC, drawn with straight lines, has FNR = FPR", "EER", "Martin et al. 1997",
        direction="lower", aliases=("eer",),
    ),
    _rate(
        "fnr_at_fpr", "lowest miss rate of any threshold whose false alarm rate is at most --max-fpr",
        "min FNR where FPR <= max_fpr", "FNR@FPR", _FAWCETT, direction="lower",
    ),
    _rate(
        "fpr_at_fnr", "lowest false alarm rate of any threshold whose miss rate is at most --max-fnr",
        "min FPR where FNR <= max_fnr", "FPR@FNR", _FAWCETT, direction="lower",
    ),
)  # fmt: skip

EVENTS = tuple(
    replace(measure, averages=("macro", "weighted"))
    for measure in (
        _precision(
            "", "detection AP: events ranked by value, matched at an IoU of --iou; macro is mAP",
            "sum over events in order of (R_k - R_(k-1)) P_k", "AP", "Everingham et al. 2010",
            aliases=AVERAGE_PRECISION[0].aliases,
        ),
        _precision(
            "_voc", "detection AP at an IoU of --iou, precision interpolated at every recall",
            "sum of (R_k - R_(k-1)) max precision at recall >= R_k", "AP voc", "Everingham et al. 2015",
        ),
        _precision(
            "_coco101", "detection AP at an IoU of --iou, precision interpolated at 101 recalls",
            "mean over r = 0, 0.01 .. 1 of max precision at recall >= r", "AP coco101", "Lin et al. 2014",
        ),
        _precision(
            "_coco", "mean of the 101-point AP over IoUs of 0.5, 0.55 .. 0.95",
            "mean over IoU of average_precision_coco101", "AP coco", "Lin et al. 2014 (COCO)",
        ),
    )
)  # fmt: skip

GROUP = "curves"


def families(basis: str) -> tuple[Family, ...]:
    """Return the families of a basis; segments and clips have a value for every cell, events do not."""
    if basis == "event":
        return (Family(basis, "hard", "events ranked by their values", EVENTS, GROUP),)
    every = (*AVERAGE_PRECISION, *RATES)
    return (
        Family(basis, "hard", "all thresholds of the system, the reference cut at one", every, GROUP),
        Family(basis, "soft", "all thresholds, a cell positive by y and negative by 1 - y", every, GROUP),
    )
