"""What the intersection-based scores are called and what they mean."""

from __future__ import annotations

from dataclasses import replace

from sedeval_soft.measures import detection
from sedeval_soft.measures.event.spec import BEST_ERROR_RATE
from sedeval_soft.measures.measure import Family, Measure
from sedeval_soft.measures.names import OVERALL
from sedeval_soft.measures.segment.spec import THRESHOLD, TUNED_SUMMARY, TUNED_THRESHOLD

_BILEN = "Bilen et al. 2020"
_OTHERWISE = {
    "n_sys": Measure(
        "n_sys", "detections that count: found reference events and false positives", "TP + FP", 0.0, None,
        "none", "never", _BILEN, ("micro",),
    ),
    "error_rate": Measure(
        "error_rate", "misses and false positives per reference event", "(FN + FP) / N_ref", 0.0, None,
        "lower", "N_ref = 0", _BILEN,
    ),
}  # fmt: skip
_NONE = {"substitution_rate", "substitutions"}

DETECTION: tuple[Measure, ...] = tuple(
    _OTHERWISE.get(measure.name, replace(measure, source=_BILEN))
    for measure in detection.MEASURES
    if measure.name not in _NONE
)
"""Those of events, without substitutions: nothing is matched one to one."""

_AREA = "area under the PSD-ROC to max_efpr / max_efpr"
_UNDEFINED = "no class has a reference, or the files have no length"

PSDS = Measure(
    "psds", "polyphonic sound detection score (when asked for)", _AREA, 0.0, 1.0, "higher", _UNDEFINED,
    _BILEN, (OVERALL,),
)  # fmt: skip
PIPSDS = Measure(
    "pipsds", "PSDS with the best of several median filters at every false positive rate (when asked for)",
    _AREA, 0.0, 1.0, "higher", _UNDEFINED, "Ebbers, Haeb-Umbach & Serizel 2023", (OVERALL,),
)  # fmt: skip
SOFT_PSDS = Measure(
    "psds", "mean over the reference's levels of PSDS against the reference cut there (when asked for)",
    "integral of PSDS(a) over levels a where the cut has events / how many levels have", 0.0, 1.0, "higher",
    _UNDEFINED, "this project, after Bilen et al. 2020", (OVERALL,),
)  # fmt: skip

FAMILIES: tuple[Family, ...] = (
    Family(
        "intersection", "hard", "events of both sides at one threshold each, by how much they cover",
        (*DETECTION, PSDS, PIPSDS),
    ),
    Family("intersection", "tuned", TUNED_SUMMARY, (*DETECTION, TUNED_THRESHOLD)),
    Family(
        "intersection", "optimal", "the system cut at each class's best threshold",
        (*DETECTION, THRESHOLD, *BEST_ERROR_RATE),
    ),
    Family(
        "intersection", "soft", "hard counts integrated over all levels of both sides",
        (*DETECTION, SOFT_PSDS),
    ),
)  # fmt: skip
