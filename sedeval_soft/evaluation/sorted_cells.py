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
    ROUNDING,
    Moments,
    rank_correlation,
    ranks_of,
    wasserstein,
)
from sedeval_soft.measures.event_precision import Detections, detection_precisions
from sedeval_soft.measures.tally import Tally, cells_of, evaluated_of
from sedeval_soft.plan import ORDERED, Plan
from sedeval_soft.settings import Settings
from sedeval_soft.sorting import Blocks, in_order
from sedeval_soft.threads import for_each
from sedeval_soft.timeline.ranges import expand
from sedeval_soft.timeline.recordings import positive

_InOrder = list[tuple[Floats, Codes]]
"""Values of each class in ascending order, and the place that each had."""

_NOTHING = Ordered(np.zeros(0), np.zeros(0))


def _in_order(values: Floats) -> tuple[Floats, Codes]:
    """Put values in order, (n,)."""
    values, order = in_order(values)
    # Indices of 32 bits take half the memory.
    return values, order.astype(np.int32)


def _repeated(ordered: tuple[Floats, Codes], counts: Index) -> tuple[Floats, Codes]:
    """Return the order of values of which each occurs so often, (n,), its copies side by side."""
    values, order = ordered
    start = np.cumsum(counts) - counts
    owner, copy = expand(start[order], start[order] + counts[order])
    return values[owner], copy.astype(np.int32)


@dataclass(frozen=True, slots=True)
class SortedCells:
    """The cells of a basis, `segment` or `clip`, and each class's in the order of the system's values.

    reference, system: (n_classes, n_cells). by_system: of each class the system's values in order, and which
    cells they are of. by_reference: of each class the reference's values in order, and the places that these
    cells have in the order of the system's values; None where they are not known yet. units: of the reference
    of each class. inside: (n_cells,) which cells are evaluated, None where all are: others are false alarms
    where there are only these, in average precisions, and in nothing else. is_expected: (n_classes,) the
    classes that means over all cells are of.
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
        counts = plan.scores(basis, "soft") and plan.asks_for("curves")
        cells = cls(
            reference,
            system,
            for_each(_in_order, system, system.size),
            None,
            for_each(Units.of, reference, reference.size) if counts else [Units()] * len(reference),
            evaluated_cells(*(tally.per_file[name] for name in lengths)),
            tally.is_expected,
        )
        if not (again and plan.scores(basis, "soft") and plan.asks_for("divergence")):
            return cells
        rows = [own.reference for own in cells.ordered()]
        return replace(cells, by_reference=for_each(_in_order, rows, system.size))

    def repeated(self, counts: Index) -> SortedCells:
        """Return the cells of which each occurs so often, (n_cells,): nothing is sorted again."""
        by_reference = None
        if self.by_reference is not None:
            pairs = zip(self.by_reference, self.by_system, strict=True)
            by_reference = [_repeated(own, counts[cell]) for own, (_, cell) in pairs]
        return replace(
            self,
            reference=np.repeat(self.reference, counts, axis=1),
            system=np.repeat(self.system, counts, axis=1),
            by_system=[_repeated(own, counts) for own in self.by_system],
            by_reference=by_reference,
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
        return for_each(
            lambda own: Ordered(own[0][0], own[1].take(own[0][1], mode="clip")), pairs, self.system.size
        )


def ordered_tables(every: SortedCells, basis: str, settings: Settings) -> dict[str, Table]:
    """Return the tables of a basis, `segment` or `clip`, by reading."""
    plan, evaluated = Plan.of(settings), every.evaluated()
    tables: dict[str, Table] = {reading: {} for reading in ("hard", "soft") if plan.scores(basis, reading)}
    cells = evaluated.ordered()
    expected = [cells[c] for c in np.flatnonzero(evaluated.is_expected)] or [_NOTHING]
    together = Blocks.of([own.score for own in expected])
    if plan.asks_for(*ORDERED):
        alarms = cells if every is evaluated else every.ordered()
        tables = _curves_and_bins(evaluated, cells, alarms, together, [*tables], settings)
    if "soft" in tables and plan.asks_for("divergence"):
        del expected
        tables["soft"] |= _correlation(evaluated, cells, together)
    return tables


def cut_of(reading: str, settings: Settings) -> Cut:
    """Return what a reading does to reference values."""
    return (lambda values: values) if reading == "soft" else (lambda values: positive(values, settings))


def _curves_and_bins(
    evaluated: SortedCells,
    cells: Sequence[Ordered],
    alarms: Sequence[Ordered],
    together: Blocks,
    readings: Sequence[str],
    settings: Settings,
) -> dict[str, Table]:
    """Return the tables of curves and calibration by reading.

    cells: the evaluated ones of each class. alarms: the same, and those that are no true negatives, but false
    alarms where they are detected. together: the scores of the expected classes.
    """
    cuts = {reading: cut_of(reading, settings) for reading in readings}
    tables: dict[str, Table] = {reading: {} for reading in readings}
    if "curves" in settings.measures:
        units = [evaluated.units if reading == "soft" else [Units()] * len(cells) for reading in readings]
        rates = settings.max_fpr, settings.max_fnr
        columns = _curves(cells, alarms, evaluated.is_expected, together, [*cuts.values()], units, rates)
    for way, (reading, cut) in enumerate(cuts.items()):
        n_ref, table = np.array([cut(y).sum(dtype=np.float64) for y in evaluated.reference]), tables[reading]
        if "curves" in settings.measures:
            *classes, pooled = (numbers[way] for numbers in columns)
            table |= _table(classes, pooled, n_ref)
            area = table["roc_auc"]
            # An area of 1 has no d' to average: averages are those of the average areas.
            areas = (area.micro, area.macro, area.weighted)
            means = (None if mean is None else np.array(d_prime(float(mean))) for mean in areas)
            table["d_prime"] = Averaged(table["d_prime"].classes, *means)
        if "calibration" in settings.measures:
            table |= _calibration(cells, evaluated.is_expected, together, cut, n_ref, settings.bins)
    return tables


def _curves(
    cells: Sequence[Ordered],
    alarms: Sequence[Ordered],
    is_expected: Bools,
    together: Blocks,
    cuts: Sequence[Cut],
    units: Sequence[Sequence[Units]],
    limits: tuple[float, float],
) -> list[list[dict[str, float]]]:
    """Return the measures of curves of each class, and of all cells, for each way to cut the reference.

    cells, alarms: of each class. Precision is of alarms, rates of false alarms are of cells. is_expected:
    (n_classes,) the classes that rates of all cells together are of; together: their scores. units: of each
    way and class.
    """

    def of(
        parts: Sequence[Ordered], some: Sequence[int], blocks: Blocks | None = None
    ) -> list[dict[str, float]]:
        picked = [parts[c] for c in some] or [_NOTHING]
        blocks = Blocks.of([part.score for part in picked]) if blocks is None else blocks
        common = [Units.common([own[c] for c in some], int(blocks.before[-1])) for own in units]
        return curve_scores(blocks, [part.reference for part in picked], cuts, common, limits)

    def both(some: Sequence[int], rates: list[dict[str, float]]) -> list[dict[str, float]]:
        pairs = zip(of(alarms, some), rates, strict=True)
        return [one | {name: other[name] for name in RATES} for one, other in pairs]

    def of_class(c: int) -> list[dict[str, float]]:
        rates = of(cells, [c])
        return rates if alarms is cells else both([c], rates)

    classes = for_each(of_class, range(len(cells)), sum(len(part.score) for part in alarms))
    rates = of(cells, np.flatnonzero(is_expected).tolist(), together)
    same = alarms is cells and is_expected.all()
    return [*classes, rates if same else both(range(len(cells)), rates)]


def _table(classes: Sequence[dict[str, float]], pooled: dict[str, float], n_ref: Floats) -> Table:
    """Return the numbers of classes and of all cells together with their averages."""
    return {
        name: averaged(np.array([numbers[name] for numbers in classes]), np.array(micro), n_ref)
        for name, micro in pooled.items()
    }


def _calibration(
    cells: Sequence[Ordered],
    is_expected: Bools,
    together: Blocks,
    cut: Cut,
    n_ref: Floats,
    n_bins: int,
) -> Table:
    """Return the table of calibration.

    is_expected: (n_classes,) those that all cells together are of; together: their scores.
    """
    # After the classes comes one without cells, so that there is one. Its row becomes that of all together.
    parts, some = [*cells, _NOTHING], np.append(is_expected, True)
    pooled, size = np.flatnonzero(some[:-1]).tolist() or [len(cells)], sum(len(part.score) for part in cells)
    edges = calibration.pooled_mass(together, n_bins)
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


def _correlation(evaluated: SortedCells, cells: list[Ordered], together: Blocks) -> Table:
    """Return the table of correlations.

    cells: of each class, which are used up. together: the scores of the expected classes.
    """
    known, n_ref = evaluated.by_reference, evaluated.reference.sum(axis=1)

    def scores(
        ours: Blocks, theirs: Blocks, places: Sequence[Codes], linear: Moments, unsure: Moments
    ) -> dict[str, float]:
        return {
            "wasserstein": wasserstein(ours, theirs),
            "pearson": linear.correlation(),
            "spearman": rank_correlation(theirs, ranks_of(ours, places)),
            "entropy_correlation": unsure.correlation(ROUNDING),
        }

    def of_class(c: int) -> tuple[Floats, Codes, Moments, Moments, dict[str, float]]:
        score, sides = cells[c].score, (evaluated.reference[c], evaluated.system[c])
        values, place = _in_order(cells[c].reference) if known is None else known[c]
        # The references in both orders would take more memory than all else.
        cells[c] = _NOTHING
        moments = Moments.of(*sides)
        own = scores(Blocks.of([values]), Blocks.of([score]), [place], *moments)
        return values, place, *moments, own

    classes = for_each(of_class, range(len(cells)), evaluated.reference.size)
    empty = Moments.together([])
    nothing = np.zeros(0), np.zeros(0, dtype=np.int32), empty, empty, {}
    expected = [classes[c] for c in np.flatnonzero(evaluated.is_expected)] or [nothing]
    values, places, linear, unsure, _ = zip(*expected, strict=True)
    pooled = scores(Blocks.of(values), together, places, Moments.together(linear), Moments.together(unsure))
    return _table([own for *_, own in classes], pooled, n_ref)


def event_precisions(tally: Tally, settings: Settings) -> Table:
    """Return the average precisions of events, ranked by value."""
    detections = Detections.of(tally.events["system"], settings.threshold, settings.inclusive)
    # Of equal overlaps the earlier event is taken, which must not be that of the earlier row.
    reference = tally.events["reference"].events().in_order()
    return detection_precisions(reference, detections, len(tally.classes), settings.iou)
