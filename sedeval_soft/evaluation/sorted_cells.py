"""Scores that need all cells together, in the order of their scores: curves, calibration, correlation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sedeval_soft.evaluation.count import evaluated_cells
from sedeval_soft.measures import calibration
from sedeval_soft.measures.base import Averaged, Table, averaged
from sedeval_soft.measures.calibration import Bins
from sedeval_soft.measures.curve_scores import RATES, Cut, Ordered, Units, curve_scores, d_prime
from sedeval_soft.measures.divergence import (
    correlation_scores,
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

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _InOrder:
    """The values of each class in ascending order, and the place of each among the cells."""

    parts: list[Floats]
    orders: list[npt.NDArray[np.int32]]

    @classmethod
    def of(cls, values: Floats) -> _InOrder:
        """Put the cells of each class in order; values: (n_classes, n_cells)."""

        def of_class(row: Floats) -> tuple[Floats, npt.NDArray[np.int32]]:
            found, order = in_order(row)
            # Indices of 32 bits take half the memory.
            return found, order.astype(np.int32)

        found = for_each(of_class, values, values.size)
        return cls([part for part, _ in found], [order for _, order in found])

    def drawn(self, counts: Index) -> _InOrder:
        """Return the order of cells of which each occurs so often, its copies side by side; (n_cells,)."""
        start = np.cumsum(counts) - counts
        parts, orders = [], []
        for part, order in zip(self.parts, self.orders, strict=True):
            owner, copy = expand(start[order], start[order] + counts[order])
            parts.append(part[owner])
            orders.append(copy.astype(np.int32))
        return _InOrder(parts, orders)

    def within(self, inside: npt.NDArray[np.bool_]) -> _InOrder:
        """Return the order of some of the cells; inside: (n_cells,)."""
        place = np.cumsum(inside, dtype=np.int32) - np.int32(1)
        kept = [inside[order] for order in self.orders]
        return _InOrder(
            [part[of] for part, of in zip(self.parts, kept, strict=True)],
            [place[order[of]] for order, of in zip(self.orders, kept, strict=True)],
        )

    def of_classes(self, some: npt.NDArray[np.bool_]) -> _InOrder:
        """Return the order of some classes; some: (n_classes,)."""
        at = np.flatnonzero(some).tolist()
        return _InOrder([self.parts[c] for c in at], [self.orders[c] for c in at])


@dataclass(frozen=True, slots=True)
class SortedCells:
    """The cells of a basis, `segment` or `clip`, and both sides' values of each class in order.

    reference, system: (n_classes, n_cells), at least one class. by_reference: None where it is not known yet.
    file: (n_cells,) whose each cell is. n_classes: how many classes there are. units: of the reference of
    each class; empty where nothing asks for them. inside: (n_cells,) which cells are evaluated, None where
    all are: others are false alarms where there are only these, in average precisions, and in nothing else.
    is_expected: (n_classes,) the classes that means over all cells are of.
    """

    reference: Floats
    system: Floats
    by_system: _InOrder
    by_reference: _InOrder | None
    file: Index
    n_classes: int
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
        if not len(reference):
            # A class without cells stands in for none, so that there are averages, all undefined.
            reference, system = np.zeros((2, 1, 0))
        both = _InOrder.of(system), _InOrder.of(reference) if again and _correlates(basis, settings) else None
        lengths = tally.per_file[cells_of(basis)]
        counts = Plan.of(settings).scores(basis, "soft") and "curves" in settings.measures
        return cls(
            reference,
            system,
            *both,
            np.repeat(np.arange(len(lengths)), lengths),
            len(tally.classes),
            for_each(Units.of, reference, reference.size) if counts else (),
            evaluated_cells(lengths, tally.per_file[evaluated_of(basis)]),
            tally.is_expected if len(tally.classes) else np.ones(1, dtype=bool),
        )

    def evaluated(self) -> SortedCells:
        """Return the evaluated cells alone."""
        if self.inside is None:
            return self
        return replace(
            self,
            reference=self.reference[:, self.inside],
            system=self.system[:, self.inside],
            by_system=self.by_system.within(self.inside),
            by_reference=None if self.by_reference is None else self.by_reference.within(self.inside),
            file=self.file[self.inside],
            inside=None,
        )

    def drawn(self, counts: Index) -> SortedCells:
        """Return the cells of files of which each occurs so often, (n_files,): nothing is sorted again."""
        cells = counts[self.file] if self.system.shape[1] else np.zeros(0, dtype=np.int64)
        return SortedCells(
            np.repeat(self.reference, cells, axis=1),
            np.repeat(self.system, cells, axis=1),
            self.by_system.drawn(cells),
            None if self.by_reference is None else self.by_reference.drawn(cells),
            np.repeat(self.file, cells) if len(cells) else self.file,
            self.n_classes,
            self.units,
            None if self.inside is None else np.repeat(self.inside, cells),
            self.is_expected,
        )


def ordered_tables(of: SortedCells, basis: str, settings: Settings) -> dict[str, Table]:
    """Return the tables of a basis, `segment` or `clip`, by reading. The orders of `of` are used up."""
    every, of = of, of.evaluated()
    reference, system, ordered = of.reference, of.system, of.by_system
    plan = Plan.of(settings)
    readings = [reading for reading in ("hard", "soft") if plan.scores(basis, reading)]
    tables: dict[str, Table] = {reading: {} for reading in readings}
    if any(group in settings.measures for group in ORDERED):
        cells = _cells(of)
        cuts = [cut_of(reading, settings) for reading in readings]
        sizes = [np.array([cut(y).sum(dtype=np.float64) for y in reference]) for cut in cuts]
        if "curves" in settings.measures:
            alarms = cells if every is of else _cells(every)
            hard = [Units()] * len(cells)
            units = [of.units if reading == "soft" else hard for reading in readings]
            curves = _curves(cells, alarms, of.is_expected, cuts, units, sizes, settings)
            for reading, table in zip(readings, curves, strict=True):
                tables[reading] |= table
            del alarms
        if "calibration" in settings.measures:
            for reading, cut, n_ref in zip(readings, cuts, sizes, strict=True):
                tables[reading] |= _calibration(cells, of.is_expected, cut, n_ref, settings.bins)
        del cells
    if _correlates(basis, settings):
        by_reference = of.by_reference or _InOrder.of(reference)
        tables["soft"] |= _correlation(reference, system, of.is_expected, ordered, by_reference)
    return {
        reading: {name: _first(values, of.n_classes) for name, values in table.items()}
        for reading, table in tables.items()
    }


def _cells(of: SortedCells) -> list[Ordered]:
    """Return the cells of each class in the order of the system's values."""
    ordered = of.by_system
    return for_each(
        lambda c: Ordered(ordered.parts[c], of.reference[c][ordered.orders[c]]),
        range(len(of.system)),
        of.system.size,
    )


def _picked(cells: Sequence[Ordered], some: Bools) -> list[Ordered]:
    """Return the cells of some classes; of none, no cells at all."""
    picked = [part for part, own in zip(cells, some.tolist(), strict=True) if own]
    return picked or [Ordered(np.zeros(0), np.zeros(0))]


def _correlates(basis: str, settings: Settings) -> bool:
    return Plan.of(settings).scores(basis, "soft") and "divergence" in settings.measures


def _first(of: Averaged, n_classes: int) -> Averaged:
    return of if of.classes is None else replace(of, classes=of.classes[:n_classes])


def cut_of(reading: str, settings: Settings) -> Cut:
    """Return what a reading does to reference values."""
    if reading == "soft":
        return lambda values: values
    return lambda values: positive(values, settings)


def _curves(
    cells: Sequence[Ordered],
    alarms: Sequence[Ordered],
    is_expected: Bools,
    cuts: Sequence[Cut],
    units: Sequence[Sequence[Units]],
    sizes: Sequence[Floats],
    settings: Settings,
) -> list[Table]:
    """Return the tables of curves, one for each way to cut the reference.

    cells: of each class. alarms: the same, and those that are no true negatives, but false alarms where they
    are detected: precision is of these, rates of false alarms are of the others. is_expected: (n_classes,)
    the classes that rates of all cells together are of. units: of each way and class.
    """
    rates = settings.max_fpr, settings.max_fnr

    def each(parts: Sequence[Ordered]) -> list[list[dict[str, float]]]:
        def of_class(c: int) -> list[dict[str, float]]:
            return curve_scores([parts[c]], cuts, [of[c] for of in units], rates)

        return for_each(of_class, range(len(parts)), sum(len(part.score) for part in parts))

    def together(parts: Sequence[Ordered], some: Bools) -> list[dict[str, float]]:
        picked, size = _picked(parts, some), sum(len(part.score) for part in parts)
        common = [
            Units.common([own for own, is_in in zip(of, some, strict=True) if is_in], size) for of in units
        ]
        return curve_scores(picked, cuts, common, rates)

    classes = each(cells)
    pooled = together(alarms, np.ones_like(is_expected))
    if alarms is not cells:
        classes = [_with_rates(of, own) for of, own in zip(each(alarms), classes, strict=True)]
    if alarms is not cells or not is_expected.all():
        pooled = _with_rates(pooled, together(cells, is_expected))
    tables = []
    for i, n_ref in enumerate(sizes):
        table = _table([numbers[i] for numbers in classes], pooled[i], n_ref)
        area = table["roc_auc"]
        # An area of 1 has no d' to average: averages are those of the average areas.
        areas = (area.micro, area.macro, area.weighted)
        means = (None if mean is None else np.array(d_prime(float(mean))) for mean in areas)
        table["d_prime"] = Averaged(table["d_prime"].classes, *means)
        tables.append(table)
    return tables


def _with_rates(
    precise: Sequence[dict[str, float]], others: Sequence[dict[str, float]]
) -> list[dict[str, float]]:
    """Return the measures of curves, precisions of the one and rates of the other."""
    return [of | {name: own[name] for name in RATES} for of, own in zip(precise, others, strict=True)]


def _table(classes: Sequence[Mapping[str, float]], pooled: Mapping[str, float], n_ref: Floats) -> Table:
    """Return the numbers of classes and of all cells together with their averages."""
    return {
        name: averaged(np.array([numbers[name] for numbers in classes]), np.array(micro), n_ref)
        for name, micro in pooled.items()
    }


def _calibration(cells: Sequence[Ordered], is_expected: Bools, cut: Cut, n_ref: Floats, n_bins: int) -> Table:
    """Return the table of calibration; is_expected: (n_classes,) those that all cells together are of."""
    pooled = np.flatnonzero(is_expected).tolist()
    edges = calibration.pooled_mass([cells[c] for c in pooled], n_bins) if len(pooled) else []

    def own_cells(c: int) -> Ordered:
        return Ordered(cells[c].score, cut(cells[c].reference))

    def of_class(c: int) -> tuple[Bins, Bins, Floats]:
        own = own_cells(c)
        mass = calibration.equal_mass(own, n_bins)
        return calibration.equal_width(own, n_bins), mass, calibration.moments(own)

    def in_common(place: int) -> Bins:
        return calibration.between(own_cells(pooled[place]), edges[place])

    size = sum(len(part.score) for part in cells)
    found = for_each(of_class, range(len(cells)), size)
    width, mass = (Bins.stack(column) for column in list(zip(*found, strict=True))[:2])
    squares = np.stack([parts[2] for parts in found])
    common = width.of_classes(is_expected).pooled()
    shared = Bins.stack(for_each(in_common, range(len(pooled)), size)).pooled() if len(pooled) else common
    tables = []
    for bins, other, moments in (
        (width, mass, squares),
        (common, shared, squares[is_expected].sum(axis=0)),
    ):
        mean, largest = calibration.distances(bins)
        tables.append(
            {
                "expected_calibration_error": mean,
                "maximum_calibration_error": largest,
                "adaptive_calibration_error": calibration.distances(other)[0],
                **calibration.brier_parts(bins, moments),
            }
        )
    return {name: averaged(values, tables[1][name], n_ref) for name, values in tables[0].items()}


def _correlation(
    reference: Floats, system: Floats, is_expected: Bools, p_order: _InOrder, y_order: _InOrder
) -> Table:
    """Return the table of correlations; p_order, y_order: of both sides' values, which are used up.

    is_expected: (n_classes,) those that all cells together are of.
    """
    n_ref = reference.sum(axis=1)
    unordered = correlation_scores(reference, system, n_ref, is_expected)

    def of_class(c: int) -> dict[str, float]:
        own = slice(c, c + 1)
        ranks = ranks_of(y_order.parts[own], y_order.orders[own])
        return {
            "wasserstein": wasserstein(y_order.parts[own], p_order.parts[own]),
            "spearman": rank_correlation(p_order.parts[own], p_order.orders[own], ranks),
        }

    classes = for_each(of_class, range(len(reference)), reference.size)
    if not is_expected.any():
        return _table(classes, dict.fromkeys(("wasserstein", "spearman"), np.nan), n_ref) | unordered
    if not is_expected.all():
        reference, system = reference[is_expected], system[is_expected]
        p_order, y_order = p_order.of_classes(is_expected), y_order.of_classes(is_expected)
    pooled = {"wasserstein": wasserstein(y_order.parts, p_order.parts)}
    # One side at a time: both in order would take more memory than all else.
    p_order.parts.clear()
    ranks = ranks_of(y_order.parts, y_order.orders)
    y_order.parts.clear()
    parts = for_each(lambda c: system[c][p_order.orders[c]], range(len(system)), system.size)
    pooled["spearman"] = rank_correlation(parts, p_order.orders, ranks)
    return _table(classes, pooled, n_ref) | unordered


def event_precisions(tally: Tally, settings: Settings) -> Table:
    """Return the average precisions of events, ranked by value."""
    detections = Detections.of(tally.events["system"], settings.threshold, settings.inclusive)
    # Of equal overlaps the earlier event is taken, which must not be that of the earlier row.
    reference = tally.events["reference"].events().in_order()
    return detection_precisions(reference, detections, len(tally.classes), settings.iou)
