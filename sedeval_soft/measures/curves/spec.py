"""What the measures of curves are called and what they mean."""

from __future__ import annotations

from sedeval_soft.measures.measure import Family, Measure

_NO_REFERENCE = "N_ref = 0"
_NO_CONTRAST = "N_ref = 0, or the reference is active throughout"
_FAWCETT = "Fawcett 2006"

AVERAGE_PRECISION: tuple[Measure, ...] = (
    Measure(
        "average_precision", "area under the precision-recall steps; its macro average is mAP",
        "sum over thresholds of (R_k - R_(k-1)) P_k", 0.0, 1.0, "higher", _NO_REFERENCE,
        "Buckley & Voorhees 2000; as scikit-learn",
    ),
    Measure(
        "average_precision_voc11", "precision interpolated at 11 recalls",
        "mean over r = 0, 0.1 .. 1 of max precision at recall >= r", 0.0, 1.0, "higher", _NO_REFERENCE,
        "Everingham et al. 2010 (PASCAL VOC 2007)",
    ),
    Measure(
        "average_precision_voc", "area under precision interpolated at every recall",
        "sum over thresholds of (R_k - R_(k-1)) max precision at recall >= R_k", 0.0, 1.0, "higher",
        _NO_REFERENCE, "Everingham et al. 2015 (PASCAL VOC 2010)",
    ),
    Measure(
        "average_precision_coco101", "precision interpolated at 101 recalls",
        "mean over r = 0, 0.01 .. 1 of max precision at recall >= r", 0.0, 1.0, "higher", _NO_REFERENCE,
        "Lin et al. 2014 (COCO)",
    ),
)  # fmt: skip

RATES: tuple[Measure, ...] = (
    Measure(
        "roc_auc", "area under the ROC: how often an active segment is above a silent one",
        "area under TPR over FPR, ties half", 0.0, 1.0, "higher", _NO_CONTRAST, "Hanley & McNeil 1982",
    ),
    Measure(
        "partial_auc", "area under the ROC to --max-fpr, 1 at best; its macro average is mpAUC (DCASE 2024)",
        "area under TPR over FPR to max_fpr / max_fpr", 0.0, 1.0, "higher", _NO_CONTRAST,
        "McClish 1989; scaling of DCASE 2024 task 4",
    ),
    Measure(
        "partial_auc_mcclish", "area under the ROC to --max-fpr, scaled so that chance is 0.5",
        "(1 + (area - max_fpr^2 / 2) / (max_fpr - max_fpr^2 / 2)) / 2", 0.0, 1.0, "higher", _NO_CONTRAST,
        "McClish 1989; as scikit-learn",
    ),
    Measure(
        "d_prime", "separation of active from silent segments in deviations; averages of average AUC",
        "sqrt(2) * inverse normal of roc_auc", None, None, "higher", "roc_auc is, or is 0 or 1",
        "Simpson & Fitter 1973",
    ),
    Measure(
        "equal_error_rate", "miss rate where it equals the false alarm rate",
        "FNR where the ROC, drawn with straight lines, has FNR = FPR", 0.0, 1.0, "lower", _NO_CONTRAST,
        "Martin et al. 1997",
    ),
    Measure(
        "fnr_at_fpr", "lowest miss rate of any threshold whose false alarm rate is at most --max-fpr",
        "min FNR where FPR <= max_fpr", 0.0, 1.0, "lower", _NO_CONTRAST, _FAWCETT,
    ),
    Measure(
        "fpr_at_fnr", "lowest false alarm rate of any threshold whose miss rate is at most --max-fnr",
        "min FPR where FNR <= max_fnr", 0.0, 1.0, "lower", _NO_CONTRAST, _FAWCETT,
    ),
)  # fmt: skip

_MEANS = ("macro", "weighted")

EVENTS: tuple[Measure, ...] = (
    Measure(
        "average_precision", "detection AP: events ranked by value, matched at an IoU of --iou; macro is mAP",
        "sum over events in order of (R_k - R_(k-1)) P_k", 0.0, 1.0, "higher", _NO_REFERENCE,
        "Everingham et al. 2010", _MEANS,
    ),
    Measure(
        "average_precision_voc", "detection AP at an IoU of --iou, precision interpolated at every recall",
        "sum of (R_k - R_(k-1)) max precision at recall >= R_k", 0.0, 1.0, "higher", _NO_REFERENCE,
        "Everingham et al. 2015", _MEANS,
    ),
    Measure(
        "average_precision_coco101", "detection AP at an IoU of --iou, precision interpolated at 101 recalls",
        "mean over r = 0, 0.01 .. 1 of max precision at recall >= r", 0.0, 1.0, "higher", _NO_REFERENCE,
        "Lin et al. 2014", _MEANS,
    ),
    Measure(
        "average_precision_coco", "mean of the 101-point AP over IoUs of 0.5, 0.55 .. 0.95",
        "mean over IoU of average_precision_coco101", 0.0, 1.0, "higher", _NO_REFERENCE,
        "Lin et al. 2014 (COCO)", _MEANS,
    ),
)  # fmt: skip

MEASURES = (*AVERAGE_PRECISION, *RATES)

GROUP = "curves"


def families(basis: str) -> tuple[Family, ...]:
    """Return the families of a basis that has a value for every cell: segments or clips."""
    return (
        Family(basis, "hard", "all thresholds of the system, the reference cut at one", MEASURES, GROUP),
        Family(basis, "soft", "all thresholds, a cell positive by y and negative by 1 - y", MEASURES, GROUP),
    )


OF_EVENTS = Family("event", "hard", "events ranked by their values", EVENTS, GROUP)
