"""The measures of events: those of detection, and how far matched events are off.

A deviation is the system's time minus the reference's, in seconds: above 0 the system is late. Sums and sums
of squares are kept per file and class, so that files can be added.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.laws import ROUNDING, Columns, Law
from sedeval_soft.measures import detection
from sedeval_soft.measures.averages import ratio
from sedeval_soft.measures.base import Family, Measure, Table, scores_of
from sedeval_soft.measures.event.count import file_class, sum_groups
from sedeval_soft.tables.event_table import LONGEST
from sedeval_soft.tables.ticks import to_seconds
from sedeval_soft.timeline.events import Events

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

ENDS = ("onset", "offset")

DEVIATIONS = ("onset", "onset_squares", "offset", "offset_squares")
"""Sums over matched events: of deviations in seconds, and of their squares."""


def count_deviations(
    reference: Events, system: Events, matched: Index, n_files: int, n_classes: int
) -> dict[str, Floats]:
    """Sum the deviations of matched events per file and class, (n_files, n_classes), by `DEVIATIONS`.

    matched: (n_ref,) the partner of each reference event, -1 for none.
    """
    hit = np.flatnonzero(matched >= 0)
    group = file_class(reference, n_classes)[hit]
    sums = []
    for end in ENDS:
        off = to_seconds(getattr(system, end)[matched[hit]] - getattr(reference, end)[hit])
        sums += [sum_groups(group, values, (n_files, n_classes)) for values in (off, off * off)]
    return dict(zip(DEVIATIONS, sums, strict=True))


def deviation_laws(columns: Columns, collar: float | None) -> Iterator[Law]:
    """Yield the laws of sums of deviations.

    columns: `DEVIATIONS` and `matched`, (n_files, n_classes). collar: the most in seconds that the onsets of
    a pair may be apart, None where they are not looked at.
    """
    n = columns["matched"]
    for end in ENDS:
        total, squares = columns[end], columns[f"{end}_squares"]
        most = LONGEST if end == "offset" or collar is None else collar
        holds = np.abs(total) <= (1 + ROUNDING) * most * n
        yield Law(
            end, "at most, late or early, what so many matched events can be off,", holds, total, most * n
        )
        yield Law(f"{end}_squares", "a number that is 0 or more", squares >= 0, squares)
        holds = squares <= (1 + ROUNDING) * most**2 * n
        says = "at most what so many matched events can be off, squared,"
        yield Law(f"{end}_squares", says, holds, squares, most**2 * n)
        # The mean of squares is at least the square of the mean; nothing is off where nothing is matched.
        holds = squares * n >= (1 - ROUNDING) * total * total
        says = f"at least the square of the sum, {end}, over the matched events"
        yield Law(f"{end}_squares", says, holds, squares)


@dataclass(frozen=True, slots=True)
class Deviations:
    """Sums by `DEVIATIONS`, and how many events are matched: of each class, (..., n_classes), or pooled."""

    sums: Mapping[str, Array]
    n_ref: Array

    def pooled(self) -> Deviations:
        """Return the sums over all classes."""
        sums = {name: column.sum(axis=-1) for name, column in self.sums.items()}
        return Deviations(sums, self.n_ref.sum(axis=-1))

    def bias(self, end: str) -> Array:
        """Return the mean deviation of onsets or offsets."""
        return ratio(self.sums[end], self.n_ref)

    def spread(self, end: str) -> Array:
        """Return the standard deviation of the deviation, divided by TP, not TP - 1."""
        bias = self.bias(end)
        # Rounding may take what is 0 below it.
        spread: Array = np.sqrt(np.maximum(ratio(self.sums[f"{end}_squares"], self.n_ref) - bias * bias, 0.0))
        return spread


def deviation_scores(sums: Mapping[str, Array], matched: Array) -> Table:
    """Return bias and spread of onsets and offsets; sums, matched: totals, (..., n_classes)."""
    return scores_of(BOUNDARIES, Deviations(sums, matched))


def _boundary(end: str) -> tuple[Measure, Measure]:
    told: dict[str, Any] = {
        "direction": "none", "undefined": "no event is matched", "averages": ("micro",),
        "source": "Mesaros, Heittola & Virtanen 2016", "table": "deviations",
    }  # fmt: skip
    return (
        Measure(
            f"{end}_bias", f"mean deviation of matched {end}s in seconds; above 0 the system is late",
            f"mean of {end} - reference {end} over TP", lambda d: d.bias(end), low=None, high=None, **told,
        ),
        Measure(
            f"{end}_spread", f"standard deviation of the deviation of matched {end}s in seconds",
            f"root mean square of the deviation from {end}_bias over TP", lambda d: d.spread(end), high=None,
            **told,
        ),
    )  # fmt: skip


BOUNDARIES = (*_boundary("onset"), *_boundary("offset"))

_CUT = "events of both sides at one threshold each, in collars"


def families(basis: str = "event") -> tuple[Family, ...]:
    """Return the families of events."""
    best = (detection.THRESHOLD, *detection.BEST_ERROR_RATE)
    levels = "hard counts integrated over all levels of both sides"
    return (
        Family(basis, "hard", _CUT, (*detection.MEASURES, *BOUNDARIES)),
        Family(basis, "tuned", detection.TUNED_SUMMARY, (*detection.MEASURES, detection.TUNED_THRESHOLD)),
        Family(basis, "optimal", detection.OPTIMAL_SUMMARY, (*detection.MEASURES, *best)),
        Family(basis, "soft", levels, detection.MEASURES),
    )
