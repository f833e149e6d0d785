"""Scores that need all cells together, in the order of their scores: curves, calibration, correlation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sedeval_soft.arrays import Bools, Codes, Floats, Index
from sedeval_soft.evaluation.count import evaluated_cells
from sedeval_soft.measures import calibration
from sedeval_soft.measures.base import Averaged, Table, averaged
from sedeval_soft.measures.calibration import Bins
from sedeval_soft.measures.curve_scores import RATES, Cut, Ordered, Units, curve_scores, d_prime
from sedeval_soft.measures.divergence import (
    entropy_correlation,
    pearson,
    rank_correlation,
    ranks_of,
    wasserstein,
)
from sedeval_soft.measures.event_precision import Detections, detection_precisions
from sedeval_soft.measures.tally import Tally, cells_of, evaluated_of
from sedeval_soft.plan import ORDERED, Plan
from sedeval_soft.settings import Settings
from sedeval_soft.sorting import in_order
from sedeval_soft.threads import for_each
from sedeval_soft.timeline.ranges import expand
from sedeval_soft.timeline.recordings import positive

_InOrder = list[tuple[Floats, Codes]]
"""The values of each class in ascending order, and the place of each among the cells."""

_NOTHING = Ordered(np.zeros(0), np.zeros(0))


def _in_order(values: Floats) -> _InOrder:
    """Put the cells of each class in order; values: (n_classes, n_cells)."""

    def of_class(row: Floats) -> tuple[Floats, Codes]:
        part, order = in_order(row)
        # Indices of 32 bits take half the memory.
        return part, order.astype(np.int32)

    return for_each(of_class, values, values.size)


def _repeated(ordered: _InOrder, counts: Index) -> _InOrder:
    """Return the order of cells of which each occurs so often, its copies side by side; (n_cells,)."""
    start = np.cumsum(counts) - counts
    unfolded = (expand(start[order], start[order] + counts[order]) for _, order in ordered)
    pairs = zip(ordered, unfolded, strict=True)
    return [(part[owner], copy.astype(np.int32)) for (part, _), (owner, copy) in pairs]


@dataclass(frozen=True, slots=True)
class SortedCells:
    """The cells of a basis, `segment` or `clip`, and both sides' values of each class in order.

    reference, system: (n_classes, n_cells). by_reference: None where it is not known yet. units: of the
    reference of each class. inside: (n_cells,) which cells are evaluated, None where all are: others are
    false alarms where there are only these, in average precisions, and in nothing else. is_expected:
    (n_classes,) the classes that means over all cells are of.
    """

    reference: Floats
    system: Floats
    by_system: _InOrder
    by_reference: _InOrder | None
    units: Sequence[Units]
    inside: Bools | None
    is_expected: Bools

    @classmethod
    def of(cls, tally: Tally, basis: str, settings: Settings, *, again: bool = False) -> SortedCells:
        """Put the cells of a tally in order.

        again: whether both orders are used more than once; else that of the reference is found where it is
        needed, when that of the system is not any more.
        """
        reference, system = tally.samples[f"{basis}.reference"], tally.samples[f"{basis}.system"]
        plan, lengths = Plan.of(settings), (cells_of(basis), evaluated_of(basis))
        both = again and plan.scores(basis, "soft") and plan.asks_for("divergence")
        counts = plan.scores(basis, "soft") and plan.asks_for("curves")
        return cls(
            reference,
            system,
            _in_order(system),
            _in_order(reference) if both else None,
            for_each(Units.of, reference, reference.size) if counts else [Units()] * len(reference),
            evaluated_cells(*(tally.per_file[name] for name in lengths)),
            tally.is_expected,
        )

    def repeated(self, counts: Index) -> SortedCells:
        """Return the cells of which each occurs so often, (n_cells,): nothing is sorted again."""
        return replace(
            self,
            reference=np.repeat(self.reference, counts, axis=1),
            system=np.repeat(self.system, counts, axis=1),
            by_system=_repeated(self.by_system, counts),
            by_reference=None if self.by_reference is None else _repeated(self.by_reference, counts),
            inside=None if self.inside is None else np.repeat(self.inside[: len(counts)], counts),
        )

    def evaluated(self) -> SortedCells:
        """Return the evaluated cells alone."""
        if self.inside is None:
            return self
        # The layout in memory, and so the order of sums, is that of cells picked by a mask.
        sides = {name: getattr(self, name)[:, self.inside] for name in ("reference", "system")}
        return replace(self.repeated(self.inside * 1), inside=None, **sides)

    def ordered(self) -> list[Ordered]:
        """Return the cells of each class in the order of the system's values."""
        pairs = list(zip(self.by_system, self.reference, strict=True))
        return for_each(lambda own: Ordered(own[0][0], own[1][own[0][1]]), pairs, self.system.size)


def ordered_tables(every: SortedCells, basis: str, settings: Settings) -> dict[str, Table]:
    """Return the tables of a basis, `segment` or `clip`, by reading. The orders of `every` are used up."""
    plan, evaluated = Plan.of(settings), every.evaluated()
    tables: dict[str, Table] = {reading: {} for reading in ("hard", "soft") if plan.scores(basis, reading)}
    if plan.asks_for(*ORDERED):
        tables = _curves_and_bins(every, evaluated, [*tables], settings)
    if "soft" in tables and plan.asks_for("divergence"):
        tables["soft"] |= _correlation(evaluated)
    return tables


def cut_of(reading: str, settings: Settings) -> Cut:
    """Return what a reading does to reference values."""
    return (lambda values: values) if reading == "soft" else (lambda values: positive(values, settings))


def _curves_and_bins(
    every: SortedCells, evaluated: SortedCells, readings: Sequence[str], settings: Settings
) -> dict[str, Table]:
    """Return the tables of curves and calibration by reading; of: the evaluated ones of all cells."""
    cells = evaluated.ordered()
    cuts = {reading: cut_of(reading, settings) for reading in readings}
    tables: dict[str, Table] = {reading: {} for reading in readings}
    if "curves" in settings.measures:
        alarms = cells if every is evaluated else every.ordered()
        units = [evaluated.units if reading == "soft" else [Units()] * len(cells) for reading in readings]
        rates = settings.max_fpr, settings.max_fnr
        columns = _curves(cells, alarms, evaluated.is_expected, [*cuts.values()], units, rates)
    for way, (reading, cut) in enumerate(cuts.items()):
        n_ref, table = np.array([cut(y).sum(dtype=np.float64) for y in evaluated.reference]), tables[reading]
        if "curves" in settings.measures:
            *classes, pooled = (numbers[way] for numbers in columns)
            table |= _table(classes, pooled, n_ref)
            area = table["roc_auc"]
            # An area of 1 has no d' to average: averages are those of the average areas.
            areas = (area.micro, area.macro, area.weighted)
            micro, macro, weighted = (
                None if mean is None else np.array(d_prime(float(mean))) for mean in areas
            )
            table["d_prime"] = Averaged(table["d_prime"].classes, micro, macro, weighted)
        if "calibration" in settings.measures:
            table |= _calibration(cells, evaluated.is_expected, cut, n_ref, settings.bins)
    return tables


def _curves(
    cells: Sequence[Ordered],
    alarms: Sequence[Ordered],
    is_expected: Bools,
    cuts: Sequence[Cut],
    units: Sequence[Sequence[Units]],
    limits: tuple[float, float],
) -> list[list[dict[str, float]]]:
    """Return the measures of curves of each class, and of all cells, for each way to cut the reference.

    cells: of each class. alarms: the same, and those that are no true negatives, but false alarms where they
    are detected: precision is of these, rates of false alarms are of the others. is_expected: (n_classes,)
    the classes that rates of all cells together are of. units: of each way and class.
    """

    def of(parts: Sequence[Ordered], some: Sequence[int]) -> list[dict[str, float]]:
        picked = [parts[c] for c in some] or [_NOTHING]
        n = sum(len(part.score) for part in picked)
        return curve_scores(picked, cuts, [Units.common([own[c] for c in some], n) for own in units], limits)

    def scores(some: Sequence[int], rated: Sequence[int]) -> list[dict[str, float]]:
        precise = of(alarms, some)
        if alarms is cells and some == rated:
            return precise
        pairs = zip(precise, of(cells, rated), strict=True)
        return [one | {name: other[name] for name in RATES} for one, other in pairs]

    everything, size = [*range(len(cells))], sum(len(part.score) for part in alarms)
    classes = for_each(lambda c: scores([c], [c]), everything, size)
    return [*classes, scores(everything, np.flatnonzero(is_expected).tolist())]


def _table(classes: Sequence[dict[str, float]], pooled: dict[str, float], n_ref: Floats) -> Table:
    """Return the numbers of classes and of all cells together with their averages."""
    return {
        name: averaged(np.array([numbers[name] for numbers in classes]), np.array(micro), n_ref)
        for name, micro in pooled.items()
    }


def _calibration(cells: Sequence[Ordered], is_expected: Bools, cut: Cut, n_ref: Floats, n_bins: int) -> Table:
    """Return the table of calibration; is_expected: (n_classes,) those that all cells together are of."""
    # After the classes comes one without cells, so that there is one. Its row becomes that of all together.
    parts, some = [*cells, _NOTHING], np.append(is_expected, True)
    pooled, size = np.flatnonzero(some).tolist(), sum(len(part.score) for part in cells)
    edges = calibration.pooled_mass([parts[c] for c in pooled], n_bins)
    cut_parts = [Ordered(part.score, cut(part.reference)) for part in parts]

    def of_class(own: Ordered) -> tuple[Bins, Bins, Floats]:
        mass = calibration.equal_mass(own, n_bins)
        return calibration.equal_width(own, n_bins), mass, calibration.moments(own)

    widths, masses, squares = zip(*for_each(of_class, cut_parts, size), strict=True)
    pairs = [(cut_parts[c], inner) for c, inner in zip(pooled, edges, strict=True)]
    shared = np.sum(for_each(lambda pair: calibration.between(*pair), pairs, size), axis=0)
    width = np.stack([*widths[:-1], np.stack(widths)[some].sum(axis=0)])
    moments = np.stack([*squares[:-1], np.stack(squares)[some].sum(axis=0)])
    mean, largest = calibration.distances(width)
    adaptive = [calibration.distances(own)[0] for own in (*masses[:-1], shared)]
    table = {
        "expected_calibration_error": mean,
        "maximum_calibration_error": largest,
        "adaptive_calibration_error": np.array(adaptive),
        **calibration.brier_parts(width, moments),
    }
    return {name: averaged(values[:-1], values[-1], n_ref) for name, values in table.items()}


def _correlation(cells: SortedCells) -> Table:
    """Return the table of correlations; the orders of both sides' values are used up."""
    by_reference, n_ref = cells.by_reference or _in_order(cells.reference), cells.reference.sum(axis=1)

    def linear(y: Floats, p: Floats) -> dict[str, float]:
        return {"pearson": pearson(y, p), "entropy_correlation": entropy_correlation(y, p)}

    def of_class(c: int) -> dict[str, float]:
        (p, p_at), (y, y_at) = (([own], [at]) for own, at in (cells.by_system[c], by_reference[c]))
        ranked = {"wasserstein": wasserstein(y, p), "spearman": rank_correlation(p, p_at, ranks_of(y, y_at))}
        return ranked | linear(cells.reference[c : c + 1], cells.system[c : c + 1])

    some = slice(None) if cells.is_expected.all() else cells.is_expected
    pooled = {"wasserstein": np.nan, "spearman": np.nan, **linear(cells.reference[some], cells.system[some])}
    classes = for_each(of_class, range(len(cells.reference)), cells.reference.size)
    if cells.is_expected.any():
        expected = np.flatnonzero(cells.is_expected).tolist()
        p, p_at = map(list, zip(*(cells.by_system[c] for c in expected), strict=True))
        y, y_at = map(list, zip(*(by_reference[c] for c in expected), strict=True))
        pooled["wasserstein"] = wasserstein(y, p)
        # One side at a time: both in order would take more memory than all else.
        for used in (cells.by_system, by_reference, p):
            used.clear()
        ranks = ranks_of(y, y_at)
        y.clear()
        sides = list(zip(expected, p_at, strict=True))
        parts = for_each(lambda own: cells.system[own[0]][own[1]], sides, cells.system.size)
        pooled["spearman"] = rank_correlation(parts, p_at, ranks)
    return _table(classes, pooled, n_ref)


def event_precisions(tally: Tally, settings: Settings) -> Table:
    """Return the average precisions of events, ranked by value."""
    detections = Detections.of(tally.events["system"], settings.threshold, settings.inclusive)
    # Of equal overlaps the earlier event is taken, which must not be that of the earlier row.
    reference = tally.events["reference"].events().in_order()
    return detection_precisions(reference, detections, len(tally.classes), settings.iou)
