"""Scores that need all cells together, in the order of their scores: curves, calibration, correlation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sedeval_soft.arrays import Array, Bools, Codes, Floats
from sedeval_soft.evaluation.count import evaluated_cells
from sedeval_soft.measures import calibration
from sedeval_soft.measures.base import Averaged, Table, averaged
from sedeval_soft.measures.calibration import Bins
from sedeval_soft.measures.curve_scores import RATES, Ordered, Units, curve_scores, d_prime
from sedeval_soft.measures.divergence import MISSING, ROUNDING, Moments, rank_correlation, wasserstein
from sedeval_soft.measures.event_precision import Detections, detection_precisions
from sedeval_soft.measures.tally import Tally, cells_of, evaluated_of
from sedeval_soft.plan import ORDERED, Plan
from sedeval_soft.settings import Settings
from sedeval_soft.sorting import Blocks, in_order
from sedeval_soft.threads import for_each
from sedeval_soft.timeline.events import Events
from sedeval_soft.timeline.recordings import positive

Cut = Callable[[Array], Array]
"""What is done to reference values first: nothing, or cutting them at the threshold."""

_NOTHING = Ordered(np.zeros(0), np.zeros(0))


@dataclass(frozen=True, slots=True)
class SortedClass:
    """The cells of a class in the order of the system's values.

    cells: both sides' values. place: which cells they are of. units: of the reference.
    """

    cells: Ordered
    place: Codes
    units: Units

    def inside(self, inside: Bools) -> SortedClass:
        """Return some of the cells, (n_cells,), alone."""
        some = inside[self.place]
        number = (np.cumsum(inside) - 1).astype(np.int32)
        cells = Ordered(self.cells.score[some], self.cells.reference[some])
        return SortedClass(cells, number[self.place[some]], self.units)


@dataclass(frozen=True, slots=True)
class SortedCells:
    """The cells of a basis, `segment` or `clip`: from these all is read that needs them in order.

    reference, system: (n_classes, n_cells). classes: the same in order. inside: (n_cells,) which cells are
    evaluated, None where all are: others are false alarms where there are only these, in average precisions,
    and in nothing else. is_expected: (n_classes,) the classes that means over all cells are of.
    """

    reference: Floats
    system: Floats
    classes: list[SortedClass]
    inside: Bools | None
    is_expected: Bools

    @classmethod
    def of(cls, tally: Tally, basis: str, settings: Settings) -> SortedCells:
        """Put the cells of a tally in order."""
        reference, system = tally.samples[f"{basis}.reference"], tally.samples[f"{basis}.system"]
        plan, lengths = Plan.of(settings), (cells_of(basis), evaluated_of(basis))
        curves = plan.scores(basis, "soft") and plan.asks_for("curves")

        def of_class(sides: tuple[Floats, Floats]) -> SortedClass:
            y, (score, place) = sides[0], in_order(sides[1])
            cells = Ordered(score, y.take(place, mode="clip"))
            # Indices of 32 bits take half the memory.
            return SortedClass(cells, place.astype(np.int32), Units.of(y) if curves else Units())

        classes = for_each(of_class, zip(reference, system, strict=True), system.size)
        inside = evaluated_cells(*(tally.per_file[name] for name in lengths))
        return cls(reference, system, classes, inside, tally.is_expected)

    def expected(self) -> list[SortedClass]:
        """Return the expected classes."""
        return [own for own, expected in zip(self.classes, self.is_expected, strict=True) if expected]

    def evaluated(self) -> SortedCells:
        """Return the evaluated cells alone."""
        inside = self.inside
        if inside is None:
            return self
        # The layout in memory, and so the order of sums, is that of cells picked by a mask.
        sides = {name: getattr(self, name)[:, inside] for name in ("reference", "system")}
        return replace(self, classes=[own.inside(inside) for own in self.classes], inside=None, **sides)


def ordered_tables(every: SortedCells, basis: str, settings: Settings) -> dict[str, Table]:
    """Return the tables of a basis, `segment` or `clip`, by reading. The classes of `every` are used up."""
    plan, evaluated = Plan.of(settings), every.evaluated()
    readings = [reading for reading in ("hard", "soft") if plan.scores(basis, reading)]
    tables: dict[str, Table] = {reading: {} for reading in readings}
    diverges = "soft" in readings and plan.asks_for("divergence")
    if not (diverges or plan.asks_for(*ORDERED)):
        return tables
    together = Blocks.of([own.cells.score for own in evaluated.expected()] or [_NOTHING.score])
    if plan.asks_for(*ORDERED):
        cuts = [cut_of(reading, settings) for reading in readings]
        bins = _calibration(evaluated, together, cuts, settings.bins) if plan.asks_for("calibration") else {}
        for way, (reading, cut) in enumerate(zip(readings, cuts, strict=True)):
            n_ref = np.array([cut(y).sum(dtype=np.float64) for y in evaluated.reference])
            if plan.asks_for("curves"):
                tables[reading] |= _curves(every, evaluated, together, reading, n_ref, settings)
            for name, values in bins.items():
                tables[reading][name] = averaged(values[:-1, way], values[-1, way], n_ref)
    if every is not evaluated:
        every.classes.clear()
    if diverges:
        tables["soft"] |= _correlation(evaluated, together)
    return tables


def cut_of(reading: str, settings: Settings) -> Cut:
    """Return what a reading does to reference values."""
    return (lambda values: values) if reading == "soft" else (lambda values: positive(values, settings))


def _curves(
    every: SortedCells,
    evaluated: SortedCells,
    together: Blocks,
    reading: str,
    n_ref: Floats,
    settings: Settings,
) -> Table:
    """Return the measures of curves of a reading.

    Precision is of every cell, rates of false alarms are of evaluated ones, and of all of these together of
    the expected classes, whose scores `together` has. n_ref: (n_classes,) sizes of the reference.
    """
    cut, rates = cut_of(reading, settings), (settings.max_fpr, settings.max_fnr)

    def of(classes: Sequence[SortedClass], blocks: Blocks | None = None) -> dict[str, float]:
        cells = [own.cells for own in classes] or [_NOTHING]
        blocks = Blocks.of([part.score for part in cells]) if blocks is None else blocks
        units = Units.common((own.units for own in classes if reading == "soft"), int(blocks.before[-1]))
        return curve_scores(blocks, [cut(part.reference) for part in cells], units, rates)

    def of_class(c: int) -> dict[str, float]:
        scores = of(evaluated.classes[c : c + 1])
        if every is not evaluated:
            scores = of(every.classes[c : c + 1]) | {name: scores[name] for name in RATES}
        return scores

    classes = for_each(of_class, range(len(every.classes)), every.system.size)
    pooled = of(evaluated.expected(), together)
    if every is not evaluated or not evaluated.is_expected.all():
        pooled = of(every.classes) | {name: pooled[name] for name in RATES}
    table = _table(classes, pooled, n_ref)
    area = table["roc_auc"]
    # An area of 1 has no d' to average: averages are those of the average areas.
    areas = (area.micro, area.macro, area.weighted)
    micro, macro, weighted = (None if mean is None else np.array(d_prime(float(mean))) for mean in areas)
    return table | {"d_prime": Averaged(table["d_prime"].classes, micro, macro, weighted)}


def _table(classes: Sequence[dict[str, float]], pooled: dict[str, float], n_ref: Floats) -> Table:
    """Return the numbers of classes and of all cells together with their averages."""
    return {
        name: averaged(
            np.array([numbers[name] for numbers in classes]), np.array(micro), n_ref, MISSING.get(name)
        )
        for name, micro in pooled.items()
    }


def _calibration(
    evaluated: SortedCells, together: Blocks, cuts: Sequence[Cut], n_bins: int
) -> dict[str, Array]:
    """Return the measures of calibration by name, (n_classes + 1, n_cuts): of each class, then of all cells.

    together: the scores of the expected classes, of which all cells are.
    """
    shared = calibration.pooled_mass(together, n_bins)

    def of_class(own: Ordered) -> tuple[Bins, Array, Bins, Floats]:
        sides = own.score, [cut(own.reference) for cut in cuts]
        width, mass = (of(*sides, n_bins) for of in (calibration.equal_width, calibration.equal_mass))
        in_all = calibration.between(*sides, np.searchsorted(own.score, shared, side="right"))
        return width, calibration.distances(mass)[0], in_all, calibration.moments(*sides)

    # After the classes comes one without cells, so that there is one. Its row becomes that of all together.
    cells = [*(own.cells for own in evaluated.classes), _NOTHING]
    columns = zip(*for_each(of_class, cells, evaluated.system.size), strict=True)
    width, adaptive, in_all, moments = map(np.stack, columns)
    some = np.append(evaluated.is_expected, True)
    for sums in (width, moments):
        sums[-1] = sums[some].sum(axis=0)
    adaptive[-1] = calibration.distances(in_all[some].sum(axis=0))[0]
    return calibration.bin_scores(width, moments, adaptive)


def _correlation(evaluated: SortedCells, together: Blocks) -> Table:
    """Return the table of correlations; together: the scores of the expected classes.

    The classes are used up: the references in both orders would take more memory than all else.
    """
    n_ref, left = evaluated.reference.sum(axis=1), dict(enumerate(evaluated.classes))
    evaluated.classes.clear()

    def scores(
        ours: Blocks, theirs: Blocks, places: Sequence[Codes], linear: Moments, unsure: Moments
    ) -> dict[str, float]:
        return {
            "wasserstein": wasserstein(ours, theirs),
            "pearson": linear.correlation(),
            "spearman": rank_correlation(ours, theirs, places),
            "entropy_correlation": unsure.correlation(ROUNDING),
        }

    def of_class(c: int) -> tuple[Floats, Codes, Moments, Moments, dict[str, float]]:
        own = left.pop(c)
        score, (values, order) = own.cells.score, in_order(own.cells.reference)
        place = order.astype(np.int32)
        del own, order
        moments = Moments.of(evaluated.reference[c], evaluated.system[c])
        table = scores(Blocks.of([values]), Blocks.of([score]), [place], *moments)
        return values, place, *moments, table

    classes = for_each(of_class, list(left), evaluated.reference.size)
    expected = [classes[c][:4] for c in np.flatnonzero(evaluated.is_expected)]
    nothing = np.zeros(0), np.zeros(0, dtype=np.int32), *Moments.of(np.zeros(0), np.zeros(0))
    values, places, *moments = zip(*(expected or [nothing]), strict=True)
    ours = Blocks.of(values)
    pooled = scores(ours, together, places, *map(Moments.together, moments))
    return _table([table for *_, table in classes], pooled, n_ref)


def event_precisions(tally: Tally, settings: Settings) -> Table:
    """Return the average precisions of events, ranked by value."""
    return detection_precisions(*ranked_events(tally, settings), len(tally.classes), settings.iou)


def ranked_events(tally: Tally, settings: Settings) -> tuple[Events, Detections]:
    """Return the events of the reference, and those of the system ranked by value."""
    detections = Detections.of(tally.events["system"], settings.threshold, settings.inclusive)
    # Of equal overlaps the earlier event is taken, which must not be that of the earlier row.
    return tally.events["reference"].events().in_order(), detections
