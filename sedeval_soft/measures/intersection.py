"""The measures of intersections: those of detection where nothing is matched one to one, and PSDS."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sedeval_soft.measures import detection
from sedeval_soft.measures.base import Family, Measure

_BILEN = "Bilen et al. 2020"

_OTHERWISE: dict[str, dict[str, Any]] = {
    "n_sys": {
        "summary": "detections that count: found reference events and false positives",
        "formula": "TP + FP",
    },
    "error_rate": {
        "summary": "misses and false positives per reference event",
        "formula": "(FN + FP) / N_ref",
    },
}
"""What is told otherwise than of events."""

DETECTION = tuple(
    replace(measure, source=_BILEN, **_OTHERWISE.get(measure.name, {}))
    for measure in detection.MEASURES
    if measure.name not in {"substitution_rate", "substitutions"}
)
"""Those of events, without substitutions: nothing is matched one to one."""

PSDS = Measure(
    "psds", "polyphonic sound detection score (when asked for)",
    "area under the PSD-ROC to max_efpr / max_efpr",
    undefined="no class has a reference, or the files have no length", source=_BILEN,
    averages=("overall",), short="PSDS", table="psds", needs="--psds NAME",
    aliases=("psds1", "psds2", "psd", "psd_score"),
)  # fmt: skip

PIPSDS = replace(
    PSDS, name="pipsds", source="Ebbers, Haeb-Umbach & Serizel 2023", short="piPSDS", aliases=(),
    summary="PSDS with the best of several median filters at every false positive rate (when asked for)",
    needs="--psds-median-filters",
)  # fmt: skip

SOFT_PSDS = replace(
    PSDS, source="this project, after Bilen et al. 2020",
    summary="mean over the reference's levels of PSDS against the reference cut there (when asked for)",
    formula="integral of PSDS(a) over levels a where the cut has events / how many levels have",
)  # fmt: skip

_CUT = "events of both sides at one threshold each, by how much they cover"


def families(basis: str = "intersection") -> tuple[Family, ...]:
    """Return the families of intersections."""
    best = (detection.THRESHOLD, *detection.BEST_ERROR_RATE)
    levels = "hard counts integrated over all levels of both sides"
    return (
        Family(basis, "hard", _CUT, (*DETECTION, PSDS, PIPSDS)),
        Family(basis, "tuned", detection.TUNED_SUMMARY, (*DETECTION, detection.TUNED_THRESHOLD)),
        Family(basis, "optimal", detection.OPTIMAL_SUMMARY, (*DETECTION, *best)),
        Family(basis, "soft", levels, (*DETECTION, SOFT_PSDS)),
    )
