"""The data of the threshold explorer of a page.

The page computes its hard scores from counts at thresholds of the system, for each threshold of the
reference. These are the hundredths from 0 to 1 and the thresholds of the settings. The numbers are the
evaluator's at these, and the page goes nowhere between.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sedeval_soft.apps.page.page_data import Packer, ReportInput
from sedeval_soft.arrays import Floats, Index
from sedeval_soft.errors import EvaluationError
from sedeval_soft.evaluation import as_one, cut_at, pooled_counts, threshold_counts
from sedeval_soft.measures import Tally, ThresholdCounts
from sedeval_soft.plan import Plan
from sedeval_soft.report import has_thresholds
from sedeval_soft.settings import Settings
from sedeval_soft.timeline import positive

STEPS = 20
"""The reference's thresholds are multiples of 1/20, and the one that the settings have."""


def explorer(inputs: ReportInput, pack: Packer) -> dict[str, Any] | None:
    """Return the data for the explorer of a system: counts at hundredths and the thresholds of the settings.

    None where its hard scores are found in another way, or no threshold of either side matters.
    """
    settings, tally = inputs.settings, inputs.tally
    plan = Plan.of(settings)
    thresholds = {settings.reference_cut}
    # Events that an ignored class leaves out depend on both sides: they are found once.
    if ("levels" in tally.events or "segment.reference" in tally.samples) and settings.ignore_class is None:
        thresholds |= {k / STEPS for k in range(1, STEPS)}
    moves = {side: has_thresholds(inputs.scores, side) for side in ("reference", "system")}
    moves["reference"] &= len(thresholds) > 1
    if settings.compat is not None or not any(moves.values()):
        return None
    grid = np.unique([*(k / 100 for k in range(101)), settings.threshold, settings.reference_cut])
    levels = len(thresholds) == 1 or "levels" in tally.events
    of_events = settings.matching == "optimal" and "reference" in tally.events and levels
    known = {"segment": "segment.system" in tally.samples, "event": of_events, "intersection": of_events}
    bases = {
        basis: [*_counts(tally, basis, sorted(thresholds), grid, settings, pack)]
        for basis, is_known in known.items()
        if is_known and plan.scores(basis)
    }
    if not bases:
        return None
    return {
        "moves": moves,
        "thresholds": sorted(thresholds),
        "threshold": settings.threshold,
        "reference_threshold": settings.reference_cut,
        "inclusive": settings.inclusive,
        "beta": settings.beta,
        "classes": list(tally.classes),
        "grid": pack(grid),
        "bases": bases,
    }


def _counts(
    tally: Tally, basis: str, thresholds: Sequence[float], grid: Floats, settings: Settings, pack: Packer
) -> Iterator[dict[str, Any]]:
    """Yield counts for each threshold of the reference, at each threshold of the system in a grid.

    n_ref: of the reference, by class. tp, n_sys: by class and threshold. paired: the number of segments or
    events that are paired, whatever their class; None if that is not known.
    """
    # Between two values of the reference nothing changes.
    done: dict[bytes, dict[str, Any]] = {}
    side: Any = "left" if settings.inclusive else "right"

    def at_grid(counts: ThresholdCounts) -> Index:
        threshold, count = counts.steps()
        # Counts hold from a threshold on.
        return count[:, np.maximum(np.searchsorted(threshold, grid, side=side) - 1, 0)]

    for threshold in thresholds:
        how, cut, key = replace(settings, reference_threshold=threshold), tally, b""
        if basis == "segment":
            key = positive(tally.samples["segment.reference"], how).tobytes()
        elif threshold != settings.reference_cut:
            alive = tally.events["levels"].alive(threshold, settings.inclusive)
            cut, key = cut_at(tally, alive), alive.tobytes()
        if key not in done:
            classes, paired = threshold_counts(cut, basis, how, as_one(cut)), None
            tp, n_sys = np.stack([*map(at_grid, classes)], axis=1)
            # The pairs of some are not matched by class, or too many for memory.
            with contextlib.suppress(EvaluationError):
                if basis != "intersection":
                    pooled = pooled_counts(cut, basis, how, as_one(cut), regardless=True)
                    paired = pack.steps(at_grid(pooled)[-1])
            done[key] = {
                "n_ref": pack(np.array([int(each.n_ref.sum()) for each in classes])),
                "tp": pack.steps(tp.ravel()),
                "n_sys": pack.steps(n_sys.ravel()),
                "paired": paired,
            }
        yield done[key]
