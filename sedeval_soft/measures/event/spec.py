"""What the event-based scores are called and what they mean."""

from __future__ import annotations

from sedeval_soft.measures import detection
from sedeval_soft.measures.measure import Family, Measure
from sedeval_soft.measures.segment.spec import THRESHOLD, TUNED_SUMMARY, TUNED_THRESHOLD

_PAPER = "Mesaros, Heittola & Virtanen 2016"
_FEW = "no event is matched"

BEST_ERROR_RATE: tuple[Measure, ...] = (
    Measure(
        "best_error_rate", "lowest error rate of a class over all thresholds",
        "min over thresholds of (FN + FP) / N_ref; micro pools the counts at them", 0.0, None, "lower",
        "N_ref = 0", "this project",
    ),
    Measure(
        "best_error_rate_threshold", "threshold with the lowest error rate; -1 detects all, 1 nothing",
        "argmin over thresholds of the error rate, the highest of ties", -1.0, 2.0, "none",
        "the class has no reference", "this project", (),
    ),
)  # fmt: skip

BOUNDARIES: tuple[Measure, ...] = tuple(
    measure
    for end in ("onset", "offset")
    for measure in (
        Measure(
            f"{end}_bias", f"mean deviation of matched {end}s in seconds; above 0 the system is late",
            f"mean of {end} - reference {end} over TP", None, None, "none", _FEW, _PAPER, ("micro",),
        ),
        Measure(
            f"{end}_spread", f"standard deviation of the deviation of matched {end}s in seconds",
            f"root mean square of the deviation from {end}_bias over TP", 0.0, None, "none", _FEW, _PAPER,
            ("micro",),
        ),
    )
)  # fmt: skip

FAMILIES: tuple[Family, ...] = (
    Family(
        "event",
        "hard",
        "events of both sides at one threshold each, in collars",
        (*detection.MEASURES, *BOUNDARIES),
    ),
    Family("event", "tuned", TUNED_SUMMARY, (*detection.MEASURES, TUNED_THRESHOLD)),
    Family(
        "event",
        "optimal",
        "the system cut at each class's best threshold",
        (*detection.MEASURES, THRESHOLD, *BEST_ERROR_RATE),
    ),
    Family("event", "soft", "hard counts integrated over all levels of both sides", detection.MEASURES),
)  # fmt: skip
