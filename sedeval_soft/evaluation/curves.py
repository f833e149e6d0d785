"""Counts over all thresholds: curves for plots, and what the sliders of a page move over."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from sedeval_soft.errors import EvaluationError
from sedeval_soft.evaluation.optimal import paired_events, threshold_counts
from sedeval_soft.evaluation.reference_sweep import surfaces_of
from sedeval_soft.evaluation.sorted_cells import cut_of
from sedeval_soft.measures.calibration import Reliability, equal_mass, equal_width
from sedeval_soft.measures.curve_scores import Curve, Ordered, Points
from sedeval_soft.measures.event import Collars, candidate_pairs
from sedeval_soft.measures.psds import PsdRoc, psds_curve
from sedeval_soft.measures.surface import Surface
from sedeval_soft.measures.tally import Tally
from sedeval_soft.measures.threshold_counts import ThresholdCounts
from sedeval_soft.plan import Plan
from sedeval_soft.settings import Settings
from sedeval_soft.timeline.lifetimes import EventLifetimes

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]
ByClass = Mapping[str, Curve]

FAMILIES: dict[tuple[str, str], str] = {
    ("segment", "hard"): "segment",
    ("segment", "soft"): "soft_segment",
    ("clip", "hard"): "clip",
    ("clip", "soft"): "soft_clip",
    ("event", "optimal"): "event",
    ("intersection", "optimal"): "intersection",
}
"""Which basis and reading has the curves of which field of `Curves`."""


def has_curves(settings: Settings) -> bool:
    """Return whether anything that the settings ask for has curves."""
    plan = Plan.of(settings)
    return "hard" in plan.psds or any(family in plan.families for family in FAMILIES)


@dataclass(frozen=True, slots=True)
class Curves:
    """Curves of one system over all its thresholds.

    segment, clip, event, intersection: by class, against the reference at its threshold; those that the
    settings ask for. soft_segment, soft_clip: by class, a cell being positive by y and negative by 1 - y.
    pooled: the cells of all classes together, by basis and reading: `segment.hard`. reliability: by basis and
    reading, then by class, the bins of equal width and of equal mass, if calibration is asked for.
    psd_roc: eTPR over eFPR per hour, None if not asked for; pi_psd_roc: that of the best of several median
    filters. surfaces: hard counts over thresholds of both sides by basis, if a sweep is asked for.
    classes: in their order, that of surfaces.
    """

    segment: ByClass
    clip: ByClass
    event: ByClass
    intersection: ByClass
    soft_segment: ByClass
    soft_clip: ByClass
    pooled: Mapping[str, Curve]
    reliability: Mapping[str, Mapping[str, tuple[Reliability, Reliability]]]
    psd_roc: PsdRoc | None = None
    pi_psd_roc: PsdRoc | None = None
    surfaces: Mapping[str, Surface] = field(default_factory=dict)
    classes: tuple[str, ...] = ()

    def families(self) -> dict[tuple[str, str], ByClass]:
        """Return the curves of classes by basis and reading."""
        return {family: getattr(self, name) for family, name in FAMILIES.items()}


def curves_of(tally: Tally, settings: Settings) -> Curves:
    """Return the curves that a tally has, for the bases and PSDS that the settings ask for."""
    plan = Plan.of(settings)
    cells: dict[tuple[str, str], ByClass] = {}
    pooled: dict[str, Curve] = {}
    reliability = {}
    for basis in ("segment", "clip"):
        readings = [reading for reading in ("hard", "soft") if plan.scores(basis, reading)]
        ordered = _ordered(tally, basis) if readings and f"{basis}.system" in tally.samples else []
        for reading in readings if ordered else ():
            cut, name = cut_of(reading, settings), f"{basis}.{reading}"
            *classes, whole = (Ordered(row.score, cut(row.reference)) for row in ordered)
            found = (Curve.of_points(Points.of(row)) for row in classes)
            cells[basis, reading] = dict(zip(tally.classes, found, strict=True))
            pooled[name] = Curve.of_points(Points.of(whole))
            if "calibration" in settings.measures:
                bins = (_reliability(row, settings.bins) for row in classes)
                reliability[name] = dict(zip(tally.classes, bins, strict=True))
    events: dict[str, ByClass] = {"event": {}, "intersection": {}}
    for basis in events:
        if plan.scores(basis, "optimal"):
            table = threshold_counts(tally, basis, settings)
            events[basis] = {name: Curve.of_events(table, c) for c, name in enumerate(tally.classes)}
    filters = [f"median {length}" for length in settings.psds_median_filters]
    wants = "hard" in plan.psds
    return Curves(
        segment=cells.get(("segment", "hard"), {}),
        clip=cells.get(("clip", "hard"), {}),
        event=events["event"],
        intersection=events["intersection"],
        soft_segment=cells.get(("segment", "soft"), {}),
        soft_clip=cells.get(("clip", "soft"), {}),
        pooled=pooled,
        reliability=reliability,
        psd_roc=psds_curve(tally, settings, ["system"]) if wants else None,
        pi_psd_roc=psds_curve(tally, settings, filters) if wants and filters else None,
        surfaces=surfaces_of(tally, settings),
        classes=tally.classes,
    )


def _ordered(tally: Tally, basis: str) -> list[Ordered]:
    """Return the cells of each class of a basis by their scores, and at the end those of all classes."""
    reference, system = tally.samples[f"{basis}.reference"], tally.samples[f"{basis}.system"]
    rows = [*zip(system, reference, strict=True), (system.reshape(-1), reference.reshape(-1))]
    return [Ordered.of(p, y) for p, y in rows]


def _reliability(cells: Ordered, n_bins: int) -> tuple[Reliability, Reliability]:
    """Return the bins of equal width and of equal mass."""
    return Reliability.of(equal_width(cells, n_bins)), Reliability.of(equal_mass(cells, n_bins))


_MOST_PAIRS = 100_000
"""Pairs up to which it is found what is paired whatever its class: of more, that would take long."""

STEPS = 20
"""The reference's thresholds are multiples of 1/20, and the one that the settings have."""


@dataclass(frozen=True, slots=True)
class Explored:
    """Counts of events over all thresholds of the system, the reference cut at one.

    steps: of each class thresholds, (n,) ascending, and TP and N_sys from each on, (2, n). n_ref: of each
    class. paired: (low, count), each (n,), how many events are paired whatever their class from each
    threshold on; None where these are not matched by class, or are too many.
    """

    steps: Sequence[tuple[Floats, Index]]
    n_ref: Sequence[int]
    paired: tuple[Floats, Index] | None


def reference_thresholds(tally: Tally, settings: Settings) -> tuple[float, ...]:
    """Return the thresholds of the reference in ascending order, that of the settings among them."""
    own = settings.reference_cut
    if "levels" not in tally.events and "segment.reference" not in tally.samples:
        return (own,)
    return tuple(sorted({own, *(k / STEPS for k in range(1, STEPS))}))


def explored_events(
    tally: Tally, basis: str, settings: Settings, thresholds: Sequence[float]
) -> list[Explored]:
    """Return the counts of a basis, `event` or `intersection`, with the reference cut at each threshold."""
    own = settings.reference_cut
    paired = basis == "event" and _competing(tally, settings) <= _MOST_PAIRS
    found: list[Explored] = []
    before: npt.NDArray[np.bool_] | None = None
    for threshold in thresholds:
        if threshold == own:
            found.append(_explored(tally, basis, settings, paired=paired))
            before = None
            continue
        levels = tally.events["levels"]
        alive = levels.alive(threshold, settings.inclusive)
        if before is None or np.any(alive != before):
            reference = EventLifetimes.from_events(levels.take(alive).events())
            cut = replace(tally, events={**tally.events, "reference": reference})
            found.append(_explored(cut, basis, settings, paired=paired))
        else:
            # Between two values of the reference nothing changes.
            found.append(found[-1])
        before = alive
    return found


def _competing(tally: Tally, settings: Settings) -> int:
    """Return how many pairs of events could match if classes did not matter."""
    reference, system = tally.events["reference"].events(), tally.events["system"]
    files = reference.file.astype(np.int64), system.file.astype(np.int64)
    return len(candidate_pairs(reference, system, *files, Collars.of(settings))[0])


def _explored(tally: Tally, basis: str, settings: Settings, *, paired: bool) -> Explored:
    table = threshold_counts(tally, basis, settings)
    steps = [table.steps(c) for c in range(len(tally.classes))]
    pairs = None
    if paired:
        with contextlib.suppress(EvaluationError):
            files = np.zeros((1, 1), dtype=np.int64)
            every = ThresholdCounts.of_lives([(paired_events(tally, settings), (0,))], files, 1)
            low, (count,) = every.steps(0)
            pairs = low, count
    return Explored(steps, table.n_ref.tolist(), pairs)
