"""The data of the threshold explorer of a page.

The page computes its hard scores from counts at thresholds of the system, for each threshold of the
reference. These are the hundredths from 0 to 1 and the thresholds of the settings. The numbers are the
evaluator's at these, and the page goes nowhere between.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from sedeval_soft.apps.page.page_data import Packer, ReportInput
from sedeval_soft.arrays import Floats, Index
from sedeval_soft.errors import EvaluationError
from sedeval_soft.evaluation import as_one, cut_at, paired_events, threshold_counts
from sedeval_soft.measures import Tally, ThresholdCounts
from sedeval_soft.plan import Plan
from sedeval_soft.report import has_thresholds
from sedeval_soft.settings import Settings

STEPS = 20
"""The reference's thresholds are multiples of 1/20, and the one that the settings have."""


def explorer(inputs: ReportInput, pack: Packer) -> dict[str, Any] | None:
    """Return the data for the explorer of a system: counts at hundredths and the thresholds of the settings.

    None where its hard scores are found in another way, or no threshold of either side matters.
    """
    settings, tally = inputs.settings, inputs.tally
    plan = Plan.of(settings)
    thresholds = _reference_thresholds(tally, settings)
    moves = {side: has_thresholds(inputs.scores, side) for side in ("reference", "system")}
    moves["reference"] &= len(thresholds) > 1
    if settings.compat is not None or not any(moves.values()):
        return None
    grid = np.unique([*(k / 100 for k in range(101)), settings.threshold, settings.reference_cut])
    bases: dict[str, list[dict[str, Any]]] = {}
    if plan.scores("segment") and "segment.system" in tally.samples:
        sides = tally.samples["segment.reference"], tally.samples["segment.system"]
        bases["segment"] = [*_segments(*sides, thresholds, grid, settings, pack)]
    if settings.matching == "optimal" and "reference" in tally.events:
        for basis in ("event", "intersection"):
            if plan.scores(basis) and (len(thresholds) == 1 or "levels" in tally.events):
                bases[basis] = [*_events(tally, basis, thresholds, grid, settings, pack)]
    if not bases:
        return None
    return {
        "moves": moves,
        "thresholds": list(thresholds),
        "threshold": settings.threshold,
        "reference_threshold": settings.reference_cut,
        "inclusive": settings.inclusive,
        "beta": settings.beta,
        "classes": list(tally.classes),
        "grid": pack(grid),
        "bases": bases,
    }


def _reference_thresholds(tally: Tally, settings: Settings) -> tuple[float, ...]:
    """Return the thresholds of the reference in ascending order, including the threshold of the settings."""
    chosen = settings.reference_cut
    has_levels = "levels" in tally.events or "segment.reference" in tally.samples
    # What an ignored class leaves out depends on both sides' events: it is found once.
    if not has_levels or settings.ignore_class is not None:
        return (chosen,)
    return tuple(sorted({chosen, *(k / STEPS for k in range(1, STEPS))}))


def _counts(pack: Packer, n_ref: Index, tp: Index, n_sys: Index, paired: Index | None) -> dict[str, Any]:
    """Keep counts: of the reference, (n_classes,), and others at each threshold, (n_classes, n).

    paired: how many segments or events are paired whatever their class, (n,), if that is known.
    """
    return {
        "n_ref": pack(n_ref),
        "tp": pack.steps(tp.ravel()),
        "n_sys": pack.steps(n_sys.ravel()),
        "paired": None if paired is None else pack.steps(paired),
    }


def _segments(
    reference: Floats,
    system: Floats,
    thresholds: Sequence[float],
    grid: Floats,
    settings: Settings,
    pack: Packer,
) -> Iterator[dict[str, Any]]:
    """Yield the counts of segments for each threshold of the reference.

    reference, system: values, (n_classes, n_segments) each.
    """
    # How many thresholds a value passes; the m-th row of `highest` has the m-th highest of each segment.
    passed = np.searchsorted(grid, system, side="right" if settings.inclusive else "left")
    highest = -np.sort(-passed, axis=0)

    def above(places: Index) -> Index:
        return np.bincount(places, minlength=len(grid) + 1)[::-1].cumsum()[-2::-1]

    n_sys = np.stack([above(each) for each in passed])
    for threshold in thresholds:
        active = reference >= threshold if settings.inclusive else reference > threshold
        tp = np.stack([above(places[some]) for places, some in zip(passed, active, strict=True)])
        n_active = active.sum(axis=0)
        # A segment has min(N_ref, N_sys) pairs: an m-th one where either side has m classes or more.
        paired = sum(above(places[n_active > m]) for m, places in enumerate(highest))
        yield _counts(pack, active.sum(axis=1), tp, n_sys, np.asarray(paired))


def _events(
    tally: Tally, basis: str, thresholds: Sequence[float], grid: Floats, settings: Settings, pack: Packer
) -> Iterator[dict[str, Any]]:
    """Yield the counts of events, or of intersections, for each threshold of the reference."""
    # Between two values of the reference nothing changes.
    counted: dict[bytes, dict[str, Any]] = {}
    side: Any = "left" if settings.inclusive else "right"

    def at_grid(counts: ThresholdCounts) -> Index:
        threshold, count = counts.steps()
        # Counts hold from a threshold on.
        return count[:, np.maximum(np.searchsorted(threshold, grid, side=side) - 1, 0)]

    for threshold in thresholds:
        key, cut = b"", tally
        if threshold != settings.reference_cut:
            alive = tally.events["levels"].alive(threshold, settings.inclusive)
            key, cut = alive.tobytes(), cut_at(tally, alive)
        if key not in counted:
            classes = threshold_counts(cut, basis, settings, as_one(cut))
            tp, n_sys = np.stack([*map(at_grid, classes)], axis=1)
            n_ref, paired = np.array([int(each.n_ref.sum()) for each in classes]), None
            # The pairs of some are not matched by class, or too many for memory.
            with contextlib.suppress(EvaluationError):
                if basis == "event":
                    alone = [(paired_events(cut, settings), (0,))]
                    (every,) = ThresholdCounts.of_lives(alone, np.zeros((1, 1), dtype=np.int64), 1)
                    (paired,) = at_grid(every)
            counted[key] = _counts(pack, n_ref, tp, n_sys, paired)
        yield counted[key]
