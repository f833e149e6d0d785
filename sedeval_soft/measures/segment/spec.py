"""What the scores of segments, and of clips, are called and what they mean."""

from __future__ import annotations

from sedeval_soft.measures import detection
from sedeval_soft.measures.measure import Direction, Family, Measure

_PAPER = "Mesaros, Heittola & Virtanen 2016"

CONFUSION: tuple[Measure, ...] = (
    Measure(
        "sensitivity", "share of active reference segments found: recall", "TP / (TP + FN)", 0.0, 1.0,
        "higher", "N_ref = 0", _PAPER,
    ),
    Measure(
        "specificity", "share of silent reference segments left silent", "TN / (TN + FP)", 0.0, 1.0,
        "higher", "the reference is active in every segment", _PAPER,
    ),
    Measure(
        "accuracy", "share of segments judged rightly", "(TP + TN) / (TP + TN + FP + FN)", 0.0, 1.0,
        "higher", "there are no segments", _PAPER,
    ),
    Measure(
        "balanced_accuracy", "mean of sensitivity and specificity", "(sensitivity + specificity) / 2",
        0.0, 1.0, "higher", "sensitivity or specificity is", _PAPER,
    ),
    Measure(
        "npv", "negative predictive value: share of silent system segments that are right",
        "TN / (TN + FN)", 0.0, 1.0, "higher", "the system is active in every segment", "Altman & Bland 1994",
    ),
    Measure(
        "tn", "true negatives: segments silent on both sides", "TN", 0.0, None, "none",
        "never", _PAPER, ("micro",),
    ),
)  # fmt: skip

THRESHOLD = Measure(
    "threshold",
    "the threshold of the class that gives its best F; -1 detects all, 1 (2 if inclusive) nothing",
    "argmax over all distinct scores of F", -1.0, 2.0, "none", "N_ref = 0",
    "Ebbers, Haeb-Umbach & Serizel 2022", (),
)  # fmt: skip


TUNED_THRESHOLD = Measure(
    "threshold", "the threshold of the class that was given; where each fold has its own there is none",
    "--thresholds", -1.0, 2.0, "none", "thresholds differ between folds", "this project", (),
)  # fmt: skip

JOINT: tuple[Measure, ...] = (
    Measure(
        "joint_f", "largest micro F (with --beta) over all combinations of class-wise thresholds",
        "max over thresholds of (1 + b^2) sum TP / (b^2 sum N_ref + sum N_sys)", 0.0, 1.0, "higher",
        "N_ref = 0", "Dinkelbach 1967", ("overall",), has_classes=False,
    ),
    Measure(
        "joint_threshold", "the threshold of the class where micro F is largest", "argmax of joint_f",
        -1.0, 2.0, "none", "nothing of the class is detected", "Dinkelbach 1967", (),
    ),
    Measure(
        "single_f", "largest micro F (with --beta) at one threshold for all classes",
        "max over thresholds of F of the counts of all classes", 0.0, 1.0, "higher", "N_ref = 0",
        "van Rijsbergen 1979", ("overall",), has_classes=False,
    ),
    Measure(
        "single_threshold", "the one threshold where micro F is largest", "argmax of single_f", -1.0, 2.0,
        "none", "N_ref = 0", "van Rijsbergen 1979", ("overall",), has_classes=False,
    ),
)  # fmt: skip

JOINT_GROUP = "joint"

_PEER = "Ebbers, Haeb-Umbach & Serizel 2022"
_NO_REFERENCE = "N_ref = 0; no threshold satisfies the constraint"


def _satisficed(name: str, summary: str, formula: str, high: float | None, undefined: str) -> Measure:
    low = -1.0 if name == "threshold" else 0.0
    direction: Direction = "none" if name in {"threshold", "constraint"} else "higher"
    name = f"satisficed_{name}"
    return Measure(name, summary, formula, low, high, direction, undefined, _PEER, ("overall",))


SATISFICED: tuple[Measure, ...] = (
    _satisficed(
        "threshold", "the threshold that is best under --satisfice, of a class, or one for all classes",
        "argmax of F (or what --satisfice names) where the constraint holds", 2.0, "N_ref = 0",
    ),
    _satisficed(
        "constraint", "the constrained measure at that threshold; the nearest to it where none satisfies it",
        "what --satisfice names", None, "N_ref = 0",
    ),
    _satisficed("f", "F (with --beta) at that threshold", "F", 1.0, _NO_REFERENCE),
    _satisficed(
        "precision", "precision at that threshold", "TP / N_sys", 1.0, f"{_NO_REFERENCE}; N_sys = 0",
    ),
    _satisficed("recall", "recall at that threshold", "TP / N_ref", 1.0, _NO_REFERENCE),
)  # fmt: skip


def satisficed_family(basis: str) -> Family:
    """Return the family of the best thresholds that satisfy a constraint."""
    return Family(
        basis, "optimal", "the system cut where it is best among what --satisfice allows", SATISFICED
    )


def joint_family(basis: str) -> Family:
    """Return the family of the best thresholds of all classes together."""
    return Family(basis, "optimal", "the system cut where all classes together are best", JOINT, JOINT_GROUP)


TUNED_SUMMARY = "the system cut at thresholds that were found on other data, or on other files"


def families(basis: str) -> tuple[Family, ...]:
    """Return the families of a basis that has a value for every cell: segments or clips."""
    return (
        Family(
            basis, "hard", "reference and system cut at one threshold each", detection.MEASURES + CONFUSION
        ),
        Family(basis, "tuned", TUNED_SUMMARY, (*detection.MEASURES, TUNED_THRESHOLD)),
        Family(
            basis,
            "optimal",
            "the system cut at each class's best threshold",
            (*detection.MEASURES, THRESHOLD),
        ),
        Family(
            basis,
            "soft",
            "fuzzy sets: hard counts integrated over all levels of both sides",
            detection.MEASURES,
        ),
    )
