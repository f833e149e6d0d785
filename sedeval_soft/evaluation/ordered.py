"""Scores that need all values in order: curves, calibration and correlation of cells, precisions of events.

Files have weights: how often each counts. Every file has an owner, a number. The program first adds up the
counts of all files of an owner, and weights are of owners: the scores of all files have one owner, which
counts once; for replicates each file is an owner. If all files have one owner, the program counts many
classes with few values together, as if each class were an owner.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple, Self

import numpy as np

from sedeval_soft.arrays import Array, Bools, Floats, Index, for_each, in_order
from sedeval_soft.evaluation.count import evaluated_cells
from sedeval_soft.evaluation.optimal import as_one, threshold_counts
from sedeval_soft.measures.base import Averaged, Table, Tables, WeightedTables, averaged
from sedeval_soft.measures.calibration import BinCounts, Reliability, reliability_of
from sedeval_soft.measures.correlations import Moments, RankCounts
from sedeval_soft.measures.curve_scores import (
    Curve,
    CurveCounts,
    Detections,
    Surface,
    d_primes,
    weighted_precisions,
)
from sedeval_soft.measures.divergence import MISSING, ROUNDING, Logarithms
from sedeval_soft.measures.psds import PsdRoc, Psds, psds_curve, systems_of
from sedeval_soft.measures.tally import Tally, cells_of, counted_together, of_each
from sedeval_soft.measures.thresholds import Candidates
from sedeval_soft.plan import CELLS, Plan
from sedeval_soft.settings import Settings
from sedeval_soft.timeline.events import EventLifetimes
from sedeval_soft.timeline.recordings import positive

_TINY = 1e-100
"""Highest value of a class below which its squares vanish beside the squares of other classes."""

_ALONE = 1 << 40
"""A number of values so large that a class is counted alone."""

_Measures = Callable[[Floats], Mapping[str, Floats]]
"""Returns measures of weighted files by name, (n_weights,) each."""


def ordered_tables(
    tally: Tally, settings: Settings, owner: Index, candidates: Sequence[Candidates] | None = None
) -> list[WeightedTables]:
    """Return functions for the tables of weighted files that need all values in order.

    owner: (n_files,) numbers from 0; weights are (n_weights, n_owners). candidates: of the best
    intersection-based F if known, for PSDS.
    """
    plan = Plan.of(settings)
    families = [cell_tables(tally, basis, settings, owner) for basis in plan.ordered]
    if plan.ranks_events:
        detections = Detections.of(tally.events["system"], settings.threshold, settings.inclusive)
        # Of equal overlaps the earlier event is taken, whatever the order of rows.
        reference = tally.events["reference"].events().in_order()
        precisions = weighted_precisions(reference, detections, owner, len(tally.classes), settings.iou)
        families.append(lambda weights: {("event", "hard"): precisions(weights)})
    return families + ([Psds.of(tally, settings, owner, candidates).tables] if plan.psds else [])


def cut_of(reading: str, settings: Settings) -> Callable[[Array], Array]:
    """Return the change that a reading makes to reference values before counting: none, or binarising."""
    return (lambda values: values) if reading == "soft" else (lambda values: positive(values, settings))


def cell_tables(tally: Tally, basis: str, settings: Settings, owner: Index) -> WeightedTables:
    """Return a function for the tables of a basis, `segment` or `clip`, that need all cells in order.

    owner: (n_files,) numbers from 0. Weights are (n_weights, n_owners).
    """
    plan, n_owners, n_classes = Plan.of(settings), int(owner.max(initial=0)) + 1, len(tally.classes)
    reference, system = (tally.samples[f"{basis}.{side}"] for side in ("reference", "system"))
    lengths = tally.per_file[cells_of(basis)]
    inside = evaluated_cells(lengths, tally.per_file[cells_of(f"evaluated_{basis}")])
    file = np.repeat(owner.astype(np.int32), lengths)
    values = np.count_nonzero((reference > 0) | (system > 0), axis=1)
    highest = system.max(axis=1, initial=0.0)
    # A class whose squares would vanish beside larger ones is counted alone.
    values[(highest > 0) & (highest < _TINY)] = _ALONE
    # The last part has all cells as one class. Cells of classes that nobody expects are not evaluated.
    parts = [
        (some, _Cells.of(reference[some], system[some], file, inside, some.stop - some.start))
        for some in counted_together(values, reference.shape[1], n_owners)
    ]
    pooled = _Cells.of(reference, system, file, inside & tally.is_expected[:, None], 1)
    parts.append((slice(0, n_classes), pooled))
    measured, sizes = {}, {}
    for reading in ("hard", "soft"):
        if plan.scores(basis, reading):
            cut, measured[reading] = cut_of(reading, settings), list[list[_Measures]]()
            for _, cells in parts:
                of_reading = cells._replace(reference=cut(cells.reference))
                measures = _measures(of_reading, n_owners, reading, plan)
                measured[reading].append([of_each(measure, cells.n_classes) for measure in measures])
            sums = [np.bincount(file, y, n_owners) for y in cut(reference) * inside]
            sizes[reading] = np.reshape(sums, (n_classes, n_owners)).T

    def tables(weights: Floats) -> Tables:
        return {
            (basis, reading): _table(of_parts, weights, weights @ sizes[reading], reference.size)
            for reading, of_parts in measured.items()
        }

    return tables


class _Cells(NamedTuple):
    """Cells, (n,) each; the silent cells of an owner are one cell that counts often.

    - reference, system: the values of both sides; the reference may be binarised at its threshold.
    - owner: if classes are counted together, each class is an owner.
    - inside: whether a cell is evaluated; cells that are not evaluated are false alarms in average
      precisions, and nothing in other measures.
    - often: how often a cell counts.
    - n_classes: the number of classes that are counted together; 1 if all cells count as one class.
    """

    reference: Array
    system: Floats
    owner: Index
    inside: Bools
    often: Index
    n_classes: int

    @classmethod
    def of(cls, reference: Floats, system: Floats, file: Array, inside: Bools, n_classes: int) -> Self:
        """Return the cells of classes, (n_rows, n_cells) on each side.

        file: (n_cells,) owners. inside: (n_cells,), or of each class.
        """
        own = 2 * (file + np.arange(len(reference))[:, None] % n_classes) + inside
        active = (reference > 0) | (system > 0)
        often = np.bincount(own[~active])
        silent = np.flatnonzero(often)
        nothing, own = np.zeros(len(silent)), np.append(own[active], silent)
        ours, theirs = (np.append(side[active], nothing) for side in (reference, system))
        times = np.append(np.ones(len(own) - len(silent), dtype=np.int64), often[silent])
        return cls(ours, theirs, own // 2, own % 2 == 1, times, n_classes)

    def take(self, some: Array) -> _Cells:
        """Return some of them."""
        return _Cells(
            self.reference[some],
            self.system[some],
            self.owner[some],
            self.inside[some],
            self.often[some],
            self.n_classes,
        )


def _measures(cells: _Cells, n_owners: int, reading: str, plan: Plan) -> list[_Measures]:
    """Return a function for the measures of cells; n_owners: owners of one class."""
    settings, measures, n = plan.settings, list[_Measures](), max(n_owners, cells.n_classes)
    if plan.asks_for("curves"):
        y, p, file, inside, often, _ = cells.take(in_order(cells.system)[1][::-1])
        curve = CurveCounts.of(p, y, file, n, often, inside)
        measures.append(partial(curve.scores, rates=(settings.max_fpr, settings.max_fnr)))
    y, p, file, _, often, _ = cells.take(cells.inside)
    if plan.asks_for("calibration"):
        measures.append(BinCounts.of(p, y, file, n, often, settings.bins).scores)
    if reading == "soft" and plan.asks_for("divergence"):
        measures.append(RankCounts.of(y, p, file, n, often).scores)
        measures.append(Moments.of("pearson", (y, p), file, n, often).scores)
        entropies = Logarithms.of(y).entropy(), Logarithms.of(p).entropy()
        measures.append(Moments.of("entropy_correlation", entropies, file, n, often, ROUNDING).scores)
    return measures


def _table(parts: Sequence[Sequence[_Measures]], weights: Floats, n_ref: Floats, size: int) -> Table:
    """Return the measures of each class and of all cells, which come last, with their averages."""
    pairs = [(k, each) for k, own in enumerate(parts) for each in own]
    values: list[dict[str, Floats]] = [{} for _ in parts]
    columns = for_each(lambda pair: pair[1](weights), pairs, size * len(weights))
    for (k, _), own in zip(pairs, columns, strict=True):
        values[k] |= own
    *classes, pooled = values
    table = {}
    for name, micro in pooled.items():
        rows = np.reshape([row for own in classes for row in own[name]], (-1, len(weights)))
        table[name] = averaged(rows.T, micro[0], n_ref, MISSING.get(name))
    if "d_prime" in table:
        # An area of 1 has no d' to average: averages are those of the average areas.
        area = table["roc_auc"]
        micro, macro, weighted = (
            d_primes(np.asarray(mean)) for mean in (area.micro, area.macro, area.weighted)
        )
        table["d_prime"] = Averaged(table["d_prime"].classes, micro, macro, weighted)
    return table


# Curves: counts over all thresholds, of the system and of the reference, for plots, tables and pages.

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
        for reading in readings:
            name, ours = f"{basis}.{reading}", cut_of(reading, settings)(reference)
            sides = [*zip(system, ours, strict=True), (system.reshape(-1), ours.reshape(-1))]
            *curves, pooled[name] = (Curve.of_cells(*side) for side in sides)
            fields[FAMILIES[basis, reading]] = dict(zip(tally.classes, curves, strict=True))
            if "calibration" in settings.measures:
                reliability[name] = {
                    label: reliability_of(*side, bins)
                    for label, side in zip(tally.classes, sides, strict=False)
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


def cut_at(tally: Tally, alive: Bools) -> Tally:
    """Return a tally whose reference has the events that are alive at a level."""
    reference = EventLifetimes.from_events(tally.events["levels"].take(alive).events())
    return replace(tally, events={**tally.events, "reference": reference})
