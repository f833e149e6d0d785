"""How far matched events are off: bias and spread of onsets and offsets.

A deviation is the system's time minus the reference's, in seconds: above 0 the system is late. Sums and sums
of squares are kept per file and class, so that files can be added.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.events import Events
from sedeval_soft.core.laws import ROUNDING, Columns, Law
from sedeval_soft.core.ticks import to_seconds
from sedeval_soft.measures.averages import Averaged, ratio
from sedeval_soft.measures.event.count import file_class, sum_groups
from sedeval_soft.tables.event_table import LONGEST

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

ENDS = ("onset", "offset")


@dataclass(frozen=True, slots=True)
class Deviations:
    """Sums over matched events, each (..., n_classes): of deviations in seconds, and of their squares."""

    onset: Floats
    onset_squares: Floats
    offset: Floats
    offset_squares: Floats


COLUMNS = ("onset", "onset_squares", "offset", "offset_squares")


def count_deviations(
    reference: Events, system: Events, matched: Index, n_files: int, n_classes: int
) -> Deviations:
    """Sum the deviations of matched events per file and class, (n_files, n_classes).

    matched: (n_ref,) the partner of each reference event, -1 for none.
    """
    hit = np.flatnonzero(matched >= 0)
    group = file_class(reference, n_classes)[hit]
    sums = []
    for end in ENDS:
        off = to_seconds(getattr(system, end)[matched[hit]] - getattr(reference, end)[hit])
        sums += [sum_groups(group, values, (n_files, n_classes)) for values in (off, off * off)]
    return Deviations(*sums)


def deviation_laws(columns: Columns, collar: float | None) -> Iterator[Law]:
    """Yield the laws of sums of deviations.

    columns: `COLUMNS` and `matched`, (n_files, n_classes). collar: the most in seconds that the onsets of a
    pair may be apart, None where they are not looked at.
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


def deviation_scores(deviations: Deviations, tp: Index) -> dict[str, Averaged]:
    """Return bias and spread of onsets and offsets, of each class and over all matched events.

    tp: (..., n_classes) matched events. Spread is the standard deviation (divided by TP, not TP - 1).
    """
    scores = {}
    for end in ENDS:
        total, squares = getattr(deviations, end), getattr(deviations, f"{end}_squares")
        classes = _bias_and_spread(total, squares, tp)
        micro = _bias_and_spread(total.sum(axis=-1), squares.sum(axis=-1), tp.sum(axis=-1))
        for name, of_classes, over_all in zip(("bias", "spread"), classes, micro, strict=True):
            scores[f"{end}_{name}"] = Averaged(of_classes, over_all)
    return scores


def _bias_and_spread(total: Floats, squares: Floats, n: Index) -> tuple[Floats, Floats]:
    bias = ratio(total, n)
    # Rounding may take what is 0 below it.
    return bias, np.sqrt(np.maximum(ratio(squares, n) - bias * bias, 0.0))
