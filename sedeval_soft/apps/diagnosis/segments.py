"""The kinds of errors of segments that are not hits, hard and soft.

Hard: a *boundary* is the one segment beside an edge of a reference event that the system has too early or too
late, if it has the rest of the event. Among the other misses and false alarms of a segment, as many as there
are of both are *confusion*, shared out evenly among them; the rest are *missed* and *background*.

Soft: with a segment's values sorted in descending order, y(1) >= y(2) ..., the missing amount is sum_k max(0,
y(k) - p(k)), and the excess is sum_k max(0, p(k) - y(k)). Confusion is the lack or excess of classes beyond
these amounts, shared out in proportion among the classes. On labels of 0 and 1 it is the hard reading without
boundaries.
"""

from __future__ import annotations

import numpy as np

from sedeval_soft.arrays import Array, Bools, Floats, Index
from sedeval_soft.measures import ratio, sum_files

SEGMENT_KINDS = ("boundary", "confusion", "background", "missed")
SOFT_KINDS = ("confusion", "too_low", "too_high")

Sums = dict[str, Floats]
"""The counts, as `missed.fn`, by file and class, (n_files, n_classes)."""


def count_segment_errors(reference: Bools, system: Bools, start: Index, apart: Bools | None = None) -> Sums:
    """Count errors by kind; reference, system: (n_classes, n_segments) active. start: as for `count_hard`.

    apart: (n_segments,) which segments do not follow the one before, beside the first of files; None for no.
    """
    missed, false = reference & ~system, system & ~reference
    hit = reference & system
    begins = np.zeros(reference.shape[1] + 1, dtype=bool)
    begins[start] = True
    if apart is not None:
        begins[:-1] |= apart
    late, early = _boundaries(reference, hit, missed, false, begins)
    boundary = missed & late, false & early
    missed, false = missed & ~late, false & ~early
    n_missed, n_false = (side.sum(axis=0) for side in (missed, false))
    n_confused = np.minimum(n_missed, n_false)
    of_missed, of_false = (np.nan_to_num(ratio(n_confused, n)) for n in (n_missed, n_false))

    def summed(values: Array) -> Floats:
        return sum_files(values, start, np.float64).T

    return {
        "boundary.fp": summed(boundary[1]), "boundary.fn": summed(boundary[0]),
        "confusion.fp": summed(false * of_false), "confusion.fn": summed(missed * of_missed),
        "background.fp": summed(false * (1 - of_false)), "missed.fn": summed(missed * (1 - of_missed)),
    }  # fmt: skip


def _boundaries(
    reference: Bools, hit: Bools, missed: Bools, false: Bools, begins: Bools
) -> tuple[Bools, Bools]:
    """Return which misses and which false alarms are a boundary, (n_classes, n_segments) each.

    begins: (n_segments + 1,) whether a file begins with a segment.
    """

    def shifted(values: Bools, by: int) -> Bools:
        """Return the values of the segment before, or after, in the same file."""
        moved = np.zeros_like(values)
        if by > 0:
            moved[:, 1:] = values[:, :-1] & ~begins[1:-1]
        else:
            moved[:, :-1] = values[:, 1:] & ~begins[1:-1]
        return moved

    early = false & (shifted(hit, 1) | shifted(hit, -1))
    onset, offset = reference & ~shifted(reference, 1), reference & ~shifted(reference, -1)
    # A run of misses from the onset of the reference to a hit, or from a hit to its offset.
    last = missed & ~shifted(missed, -1)
    first = missed & ~shifted(missed, 1)
    to_hit, from_hit = last & shifted(hit, -1), first & shifted(hit, 1)
    late = (onset & missed & _of_run(first, last, to_hit)) | (
        offset & missed & _of_run(first, last, from_hit)
    )
    return late, early


def _of_run(first: Bools, last: Bools, marked: Bools) -> Bools:
    """Return of each cell whether its run, from a first cell to a last one, has a mark at one of its ends."""
    begin, end = np.flatnonzero(first), np.flatnonzero(last)
    marks = marked.ravel()[begin] | marked.ravel()[end]
    runs = np.zeros(first.size + 1, dtype=np.int8)
    np.add.at(runs, begin[marks], 1)
    np.subtract.at(runs, end[marks] + 1, 1)
    inside: Bools = np.cumsum(runs[:-1], dtype=np.int8).reshape(first.shape) > 0
    return inside


def count_soft_errors(reference: Floats, system: Floats, start: Index) -> Sums:
    """Integrate errors by kind over all levels; reference, system: (n_classes, n_segments) in [0, 1]."""
    lacking, beyond = np.maximum(reference - system, 0.0), np.maximum(system - reference, 0.0)
    y, p = (np.sort(side, axis=0) for side in (reference, system))
    too_low, too_high = np.maximum(y - p, 0.0).sum(axis=0), np.maximum(p - y, 0.0).sum(axis=0)
    # Sums over the same values in another order: no share is above 1.
    low, high = (
        np.minimum(np.nan_to_num(ratio(part, values.sum(axis=0))), 1.0)
        for part, values in ((too_low, lacking), (too_high, beyond))
    )

    def summed(values: Floats) -> Floats:
        return sum_files(values, start, np.float64).T

    return {
        "confusion.fp": summed(beyond * (1 - high)), "confusion.fn": summed(lacking * (1 - low)),
        "too_low.fn": summed(lacking * low), "too_high.fp": summed(beyond * high),
    }  # fmt: skip
