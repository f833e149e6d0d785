"""Counts over all thresholds, of the system and of the reference: for plots, tables and pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from sedeval_soft.arrays import Bools
from sedeval_soft.evaluation.details import THRESHOLDS, Sweep
from sedeval_soft.evaluation.optimal import as_one, counts_at, optimal_scores, threshold_counts
from sedeval_soft.evaluation.ordered import cut_of
from sedeval_soft.evaluation.scores import finite, named
from sedeval_soft.measures.base import Tables
from sedeval_soft.measures.calibration import Reliability, equal_mass, equal_width
from sedeval_soft.measures.curve_scores import Curve, Ordered, Points, Surface
from sedeval_soft.measures.detection import detection_scores
from sedeval_soft.measures.psds import PsdRoc, psds_curve, systems_of
from sedeval_soft.measures.registry import score_name
from sedeval_soft.measures.tally import Tally
from sedeval_soft.plan import CELLS, Plan
from sedeval_soft.settings import BASES, Settings
from sedeval_soft.timeline.events import EventLifetimes

ByClass = Mapping[str, Curve]

FAMILIES: dict[tuple[str, str], str] = {
    ("segment", "hard"): "segment",
    ("segment", "soft"): "soft_segment",
    ("clip", "hard"): "clip",
    ("clip", "soft"): "soft_clip",
    ("event", "optimal"): "event",
    ("intersection", "optimal"): "intersection",
}
"""Fields of `Curves` by basis and reading."""


@dataclass(frozen=True, slots=True)
class Curves:
    """Curves of one system over all its thresholds.

    - segment, clip, event, intersection: by class, against the reference at its threshold, if requested.
    - soft_segment, soft_clip: by class; a cell is positive by y and negative by 1 - y.
    - pooled: the cells of all classes together, by basis and reading: `segment.hard`.
    - reliability: by basis and reading, then by class, the bins of equal width and of equal mass, if
      calibration is requested.
    - psd_roc: eTPR over eFPR per hour, None if not requested. pi_psd_roc: the PSD-ROC of the best of several
      median filters.
    - surfaces: hard counts over thresholds of both sides by basis, if a sweep is requested.
    - classes: in their order, which is the order of surfaces.
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
    plan, bins = Plan.of(settings), settings.bins
    fields: dict[str, ByClass] = {name: {} for name in FAMILIES.values()}
    pooled, reliability, surfaces = {}, {}, {}
    for basis in (basis for basis in CELLS if f"{basis}.system" in tally.samples):
        reference, system = (tally.samples[f"{basis}.{side}"] for side in ("reference", "system"))
        readings = [reading for reading in ("hard", "soft") if plan.scores(basis, reading)]
        # Cells of each class, and of all together.
        sides = [*zip(system, reference, strict=True), (system.reshape(-1), reference.reshape(-1))]
        ordered = [Ordered.of(*side) for side in sides] if readings else []
        for reading in readings:
            name, cut = f"{basis}.{reading}", cut_of(reading, settings)
            rows = [Ordered(row.score, cut(row.reference)) for row in ordered]
            *curves, pooled[name] = (Curve.of_points(Points.of(row)) for row in rows)
            fields[FAMILIES[basis, reading]] = dict(zip(tally.classes, curves, strict=True))
            if "calibration" in settings.measures:
                reliability[name] = {
                    label: _reliability(row, bins) for label, row in zip(tally.classes, rows, strict=False)
                }
        if basis in plan.swept:
            surfaces[basis] = Surface.of(reference, system, settings.beta, inclusive=settings.inclusive)
    for basis in ("event", "intersection"):
        if plan.scores(basis, "optimal"):
            counts = threshold_counts(tally, basis, settings, as_one(tally))
            fields[basis] = dict(zip(tally.classes, map(Curve.of_events, counts), strict=True))
    wants = "hard" in plan.psds
    filters = systems_of(settings)[1:] if wants else []
    return Curves(
        **fields,
        pooled=pooled,
        reliability=reliability,
        psd_roc=psds_curve(tally, settings, ["system"]) if wants else None,
        pi_psd_roc=psds_curve(tally, settings, filters) if filters else None,
        surfaces=surfaces,
        classes=tally.classes,
    )


def _reliability(cells: Ordered, n_bins: int) -> tuple[Reliability, Reliability]:
    """Return the bins of equal width and of equal mass."""
    width, mass = (of(cells.score, [cells.reference], n_bins) for of in (equal_width, equal_mass))
    return Reliability.of(width[0]), Reliability.of(mass[0])


# The hard and optimal readings over thresholds of the reference.

_SWEPT = frozenset({"n_ref", "precision", "recall", "f1", "fbeta", "error_rate"})


def sweep_of(tally: Tally, settings: Settings) -> Sweep:
    """Return the averages of hard and optimal readings at thresholds of the reference."""
    at: dict[str, list[int]] = {basis: [] for basis in Plan.of(settings).swept}
    scores: dict[str, list[float | int | None]] = {}
    for threshold in THRESHOLDS:
        for basis, counts in at.items():
            # Number of events and cells whose values equal the threshold.
            values = tally.samples[f"{basis}.reference"] if basis in CELLS else tally.events["levels"].dies
            counts.append(int(np.count_nonzero(values == threshold)))
        for key, value in named(_tables_at(tally, threshold, settings), tally.classes, settings.means):
            if key.average is not None and key.measure in _SWEPT:
                number = None if value is None else finite(value.item())
                scores.setdefault(score_name(*key), []).append(number)
    return Sweep(
        THRESHOLDS,
        {basis: tuple(counts) for basis, counts in at.items()},
        {name: tuple(values) for name, values in scores.items()},
    )


def _tables_at(tally: Tally, threshold: float, settings: Settings) -> Tables:
    """Return the tables of hard and optimal readings with the reference binarised at a threshold."""
    settings = replace(settings, reference_threshold=threshold, measures=(), satisfice=None)
    plan = Plan.of(settings)
    if plan.sweeps_events:
        tally = cut_at(tally, tally.events["levels"].alive(threshold, settings.inclusive))
    tables: Tables = {}
    for basis in BASES:
        if plan.scores(basis, "hard"):
            one = np.full(len(tally.classes), settings.threshold)
            counts = counts_at(tally, basis, one, settings).total()
            tables[basis, "hard"] = detection_scores(counts, settings.beta)
        if plan.scores(basis, "optimal"):
            tables[basis, "optimal"] = optimal_scores(tally, basis, settings)
    return tables


def cut_at(tally: Tally, alive: Bools) -> Tally:
    """Return a tally whose reference has the events that are alive at a level."""
    reference = EventLifetimes.from_events(tally.events["levels"].take(alive).events())
    return replace(tally, events={**tally.events, "reference": reference})
