"""Segments and clips: what is counted of a grid of values, and of the order of classes in each segment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.hard import detected, positive
from sedeval_soft.core.lifetimes import EventLifetimes
from sedeval_soft.core.settings import Settings
from sedeval_soft.core.tally import ClassColumn, Column
from sedeval_soft.measures.detection import PER_CLASS, PER_FILE, DetectionCounts
from sedeval_soft.measures.divergence.count import KL, PROPER, SOFT, count_divergence
from sedeval_soft.measures.segment.count import count_hard, count_soft

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


@dataclass(frozen=True, slots=True)
class Cells:
    """The values of all cells of a basis, `segment` or `clip`.

    reference, system: (n_classes, n_cells). start: (n_files + 1,) the first cell of each file.
    """

    basis: str
    reference: Floats
    system: Floats
    start: Index


def tally_cells(cells: Cells, settings: Settings, columns: Columns, *, hard: bool = True) -> None:
    """Count what the scores of a basis need; hard: whether the hard reading is counted here."""
    basis, reference, system, start = cells.basis, cells.reference, cells.system, cells.start
    wants = {reading: settings.wants(basis, reading) for reading in ("hard", "optimal", "soft")}
    if wants["hard"] and hard:
        counts = count_hard(positive(reference, settings), detected(system, settings), start)
        columns.enter(f"{basis}.hard", counts)
        columns.per_file[f"{basis}.hard.n_cells"] = np.diff(start)
    if wants["soft"]:
        columns.enter(f"{basis}.soft", count_soft(reference, system, start, settings.t_norm))
        names = SOFT if "divergence" in settings.measures else KL
        _divergence(cells, reference, f"{basis}.soft", names, settings, columns)
    if wants["hard"] and "divergence" in settings.measures:
        _divergence(cells, positive(reference, settings), f"{basis}.hard", PROPER, settings, columns)
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


def tally_ranking(cells: Cells, settings: Settings, columns: Columns) -> None:
    """Count the order of the classes in each segment."""
    for reading in ("hard", "soft"):
        if not settings.wants("ranking", reading):
            continue
        from sedeval_soft.measures.ranking.count import count_ranking

        sides: tuple[Floats | Bools, Bools | None] = cells.reference, None
        if reading == "hard":
            sides = positive(cells.reference, settings), detected(cells.system, settings)
        counts = count_ranking(sides[0], cells.system, cells.start, sides[1], settings.epsilon)
        prefix = f"ranking.{reading}"
        columns.per_file.update({f"{prefix}.{name}": sums for name, sums in counts.per_file.items()})
        columns.per_class.update({f"{prefix}.{name}": sums for name, sums in counts.per_class.items()})
