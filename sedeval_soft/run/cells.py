"""Segments and clips: what is counted of a grid of values, and of the order of classes in each segment."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.hard import detected, positive
from sedeval_soft.core.lifetimes import EventLifetimes
from sedeval_soft.core.tally import ClassColumn, Column
from sedeval_soft.measures.detection import PER_CLASS, PER_FILE, DetectionCounts
from sedeval_soft.measures.divergence import KL, PROPER, SOFT, count_divergence
from sedeval_soft.measures.segment.count import count_files, count_hard, count_soft
from sedeval_soft.settings import Settings

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Index = npt.NDArray[np.int64]

ORDERED = ("curves", "calibration")
"""Groups of measures that need the values of all cells together."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a tally in the making; see `Tally`."""

    per_class: dict[str, ClassColumn]
    per_file: dict[str, Column]
    samples: dict[str, Column]
    events: dict[str, EventLifetimes]

    def enter(self, prefix: str, counts: DetectionCounts) -> None:
        """Enter counts of detection below a prefix."""
        self.per_class.update({f"{prefix}.{name}": getattr(counts, name) for name in PER_CLASS})
        self.per_file.update({f"{prefix}.{name}": getattr(counts, name) for name in PER_FILE})

    def enter_population(self, prefix: str, n_evaluated: Index, beyond: Index) -> None:
        """Enter how many cells each file has, and what the system has beyond them, (n_files, n_classes)."""
        self.per_file[f"{prefix}.n_cells"] = n_evaluated
        self.per_class[f"{prefix}.beyond"] = beyond


@dataclass(frozen=True, slots=True)
class Cells:
    """The values of all cells of a basis, `segment` or `clip`.

    reference, system: (n_classes, n_cells). start: (n_files + 1,) the first cell of each file. n_evaluated:
    (n_files,) how many cells of each file are evaluated, its first ones. Others lie beyond what is known of a
    file without the system: what it says there may be false alarms, and nothing else is counted of them.
    """

    basis: str
    reference: Floats
    system: Floats
    start: Index
    n_evaluated: Index

    def evaluated(self) -> Cells:
        """Return the evaluated cells alone."""
        inside = evaluated_cells(np.diff(self.start), self.n_evaluated)
        if inside is None:
            return self
        start = np.append(0, np.cumsum(self.n_evaluated))
        return Cells(self.basis, self.reference[:, inside], self.system[:, inside], start, self.n_evaluated)

    def of_classes(self, some: Bools) -> Cells:
        """Return the cells of some classes; some: (n_classes,)."""
        return self if some.all() else replace(self, reference=self.reference[some], system=self.system[some])


def evaluated_cells(n_cells: Index, n_evaluated: Index) -> Bools | None:
    """Return which cells are evaluated, the first ones of each file; None where all are.

    n_cells, n_evaluated: (n_files,).
    """
    if np.array_equal(n_cells, n_evaluated):
        return None
    start = np.repeat(np.cumsum(n_cells) - n_cells, n_cells)
    inside: Bools = np.arange(len(start)) - start < np.repeat(n_evaluated, n_cells)
    return inside


def tally_cells(cells: Cells, settings: Settings, columns: Columns, *, hard: bool = True) -> None:
    """Count what the scores of a basis need; hard: whether the hard reading is counted here."""
    basis, reference, system, start = cells.basis, cells.reference, cells.system, cells.start
    wants = {reading: settings.wants(basis, reading) for reading in ("hard", "optimal", "soft")}
    if wants["hard"] and hard:
        found = detected(system, settings)
        counts = count_hard(positive(reference, settings), found, start)
        columns.enter(f"{basis}.hard", counts)
        inside = evaluated_cells(np.diff(start), cells.n_evaluated)
        beyond = np.zeros_like(counts.n_sys) if inside is None else count_files(found & ~inside, start)
        columns.enter_population(f"{basis}.hard", cells.n_evaluated, beyond)
    if wants["soft"]:
        columns.enter(f"{basis}.soft", count_soft(reference, system, start, settings.t_norm))
        names = SOFT if "divergence" in settings.measures else KL
        own = cells.evaluated()
        _divergence(own, own.reference, f"{basis}.soft", names, settings, columns)
    if wants["hard"] and "divergence" in settings.measures:
        own = cells.evaluated()
        _divergence(own, positive(own.reference, settings), f"{basis}.hard", PROPER, settings, columns)
    listed = basis == "segment" and settings.worst and (wants["hard"] or wants["soft"])
    kept = listed or settings.sweeps(basis)
    if wants["optimal"] or kept or settings.tunes_by(basis) or needs_samples(settings, basis):
        columns.samples.update({f"{basis}.reference": reference, f"{basis}.system": system})


def needs_samples(settings: Settings, basis: str) -> bool:
    """Return whether measures of a basis need the values of all cells together."""
    hard, soft = settings.wants(basis, "hard"), settings.wants(basis, "soft")
    if (soft and "divergence" in settings.measures) or (hard and "confusion" in settings.measures):
        return True
    return (hard or soft) and any(group in settings.measures for group in ORDERED)


def _divergence(
    cells: Cells,
    reference: Floats | Bools,
    prefix: str,
    names: tuple[str, ...],
    settings: Settings,
    columns: Columns,
) -> None:
    counts = count_divergence(reference, cells.system, cells.start, names, settings.epsilon)
    columns.per_class.update({f"{prefix}.{name}": total for name, total in counts.totals.items()})
    columns.per_class[f"{prefix}.sounding"] = counts.sounding


def tally_ranking(cells: Cells, expected: Bools, settings: Settings, columns: Columns) -> None:
    """Count the order of the classes in each segment.

    expected: (n_classes,) those that are put in order: classes that only the system names would have others
    look better, being silent wherever it likes.
    """
    if not settings.wants("ranking"):
        return
    cells = cells.evaluated().of_classes(expected)
    for reading in ("hard", "soft"):
        if not settings.wants("ranking", reading):
            continue
        from sedeval_soft.measures.ranking import count_ranking

        sides: tuple[Floats | Bools, Bools | None] = cells.reference, None
        if reading == "hard":
            sides = positive(cells.reference, settings), detected(cells.system, settings)
        counts = count_ranking(sides[0], cells.system, cells.start, sides[1], settings.epsilon)
        prefix = f"ranking.{reading}"
        columns.per_file.update({f"{prefix}.{name}": sums for name, sums in counts.per_file.items()})
        for name, sums in counts.per_class.items():
            columns.per_class[f"{prefix}.{name}"] = of_all = np.zeros((len(sums), len(expected)))
            of_all[:, expected] = sums
