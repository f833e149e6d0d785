"""The measures of curves and of calibration: over all thresholds of the system, and over bins of its values.

Those of one curve, or of one row of bins, are computed together: see `curve_scores`, `calibration` and
`event_precision`.
"""

from __future__ import annotations

from functools import partial

from sedeval_soft.measures.base import Measure

_COCO = "Lin et al. 2014 (COCO)"
_FAWCETT = "Fawcett 2006"
_MURPHY = "Murphy 1973"
_NAEINI = "Naeini, Cooper & Hauskrecht 2015"

_precision = partial(Measure, undefined="N_ref = 0", table="precision")
_event_precision = partial(_precision, averages=("macro", "weighted"))
_rate = partial(Measure, undefined="N_ref = 0, or the reference is active throughout", table="roc")
_calibration = partial(Measure, direction="lower", undefined="there are no segments", table="calibration")

CURVES = (
    _precision(
        "average_precision", "area under the precision-recall steps; its macro average is mAP",
        "sum over thresholds of (R_k - R_(k-1)) P_k", short="AP",
        source="Buckley & Voorhees 2000; as scikit-learn",
        aliases=("ap", "map", "auprc", "pr_auc", "mean_average_precision"),
    ),
    _precision(
        "average_precision_voc11", "precision interpolated at 11 recalls",
        "mean over r = 0, 0.1 .. 1 of max precision at recall >= r", short="AP voc11",
        source="Everingham et al. 2010 (PASCAL VOC 2007)",
    ),
    _precision(
        "average_precision_voc", "area under precision interpolated at every recall",
        "sum over thresholds of (R_k - R_(k-1)) max precision at recall >= R_k", short="AP voc",
        source="Everingham et al. 2015 (PASCAL VOC 2010)",
    ),
    _precision(
        "average_precision_coco101", "precision interpolated at 101 recalls",
        "mean over r = 0, 0.01 .. 1 of max precision at recall >= r", short="AP coco101", source=_COCO,
    ),
    _rate(
        "roc_auc", "area under the ROC: how often an active segment is above a silent one",
        "area under TPR over FPR, ties half", short="AUC", source="Hanley & McNeil 1982",
        aliases=("auc", "auroc", "rocauc", "roc-auc"),
    ),
    _rate(
        "partial_auc", "area under the ROC to --max-fpr, 1 at best; its macro average is mpAUC (DCASE 2024)",
        "area under TPR over FPR to max_fpr / max_fpr", short="pAUC",
        source="McClish 1989; scaling of DCASE 2024 task 4", aliases=("pauc", "mpauc"),
    ),
    _rate(
        "partial_auc_mcclish", "area under the ROC to --max-fpr, scaled so that chance is 0.5",
        "(1 + (area - max_fpr^2 / 2) / (max_fpr - max_fpr^2 / 2)) / 2", short="pAUC McClish",
        source="McClish 1989; as scikit-learn",
    ),
    _rate(
        "d_prime", "separation of active from silent segments in deviations; averages of average AUC",
        "sqrt(2) * inverse normal of roc_auc", short="d'", source="Simpson & Fitter 1973", low=None,
        high=None, undefined="roc_auc is, or is 0 or 1",
    ),
    _rate(
        "equal_error_rate", "miss rate where it equals the false alarm rate",
        "FNR where the ROC, drawn with straight lines, has FNR = FPR", short="EER",
        source="Martin et al. 1997", direction="lower", aliases=("eer",),
    ),
    _rate(
        "fnr_at_fpr", "lowest miss rate of any threshold whose false alarm rate is at most --max-fpr",
        "min FNR where FPR <= max_fpr", short="FNR@FPR", source=_FAWCETT, direction="lower",
    ),
    _rate(
        "fpr_at_fnr", "lowest false alarm rate of any threshold whose miss rate is at most --max-fnr",
        "min FPR where FNR <= max_fnr", short="FPR@FNR", source=_FAWCETT, direction="lower",
    ),
)  # fmt: skip

EVENTS = (
    _event_precision(
        "average_precision", "detection AP: events ranked by value, matched at an IoU of --iou; macro is mAP",
        "sum over events in order of (R_k - R_(k-1)) P_k", short="AP", source="Everingham et al. 2010",
        aliases=CURVES[0].aliases,
    ),
    _event_precision(
        "average_precision_voc", "detection AP at an IoU of --iou, precision interpolated at every recall",
        "sum of (R_k - R_(k-1)) max precision at recall >= R_k", short="AP voc",
        source="Everingham et al. 2015",
    ),
    _event_precision(
        "average_precision_coco101", "detection AP at an IoU of --iou, precision interpolated at 101 recalls",
        "mean over r = 0, 0.01 .. 1 of max precision at recall >= r", short="AP coco101",
        source="Lin et al. 2014",
    ),
    _event_precision(
        "average_precision_coco", "mean of the 101-point AP over IoUs of 0.5, 0.55 .. 0.95",
        "mean over IoU of average_precision_coco101", short="AP coco", source=_COCO,
    ),
)  # fmt: skip

CALIBRATION = (
    _calibration(
        "expected_calibration_error", "mean distance of values from frequencies, in --bins equal bins",
        "sum over bins of n_k / n |mean y - mean p|", short="ECE", source=_NAEINI, aliases=("ece",),
    ),
    _calibration(
        "maximum_calibration_error", "largest distance of values from frequencies, in bins of equal width",
        "max over bins of |mean y - mean p|", short="MCE", source=_NAEINI,
    ),
    _calibration(
        "adaptive_calibration_error", "expected calibration error in --bins bins of equal mass",
        "sum over bins of n_k / n |mean y - mean p|", short="ACE", source="Nixon et al. 2019",
    ),
    _calibration(
        "brier_reliability", "part of the Brier score that calibration would mend, in bins of equal width",
        "sum over bins of n_k / n (mean y - mean p)^2", short="reliab.", source=_MURPHY,
    ),
    _calibration(
        "brier_resolution", "part that the system's bins explain of the reference's variance",
        "sum over bins of n_k / n (mean y - mean y of all)^2", short="resol.", source=_MURPHY, high=0.25,
        direction="none",
    ),
    _calibration(
        "brier_uncertainty", "variance of the reference", "mean of (y - mean y)^2", short="uncert.",
        source=_MURPHY, high=0.25, direction="none",
    ),
    _calibration(
        "brier_within_bins", "what the bins hide: brier = reliability - resolution + uncertainty + this",
        "sum over bins of n_k / n (variance of p - 2 covariance of y and p)", short="within",
        source="Stephenson, Coelho & Jolliffe 2008", low=None, high=None, direction="none",
    ),
)  # fmt: skip
