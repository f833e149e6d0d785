"""The kinds of errors of segments that are not hits, hard and soft.

Hard: a *boundary* is the one segment beside an edge of a reference event that the system has too early or too
late, if it has any of the rest of the event. Among the other misses and false alarms of a segment, as many as
there are of both are *confusion*, shared out evenly among them; the rest are *missed* and *background*.

Soft: with a segment's values sorted in descending order, y(1) >= y(2) ..., the missing amount is sum_k max(0,
y(k) - p(k)), and the excess is sum_k max(0, p(k) - y(k)). Confusion is the lack or excess of classes beyond
these amounts, shared out in proportion among the classes. On labels of 0 and 1 it is the hard reading without
boundaries.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sedeval_soft.apps.diagnosis.prices import Counts
from sedeval_soft.apps.diagnosis.results import Family
from sedeval_soft.arrays import Array, Bools, Floats, Index
from sedeval_soft.evaluation import Cells, soft_cells
from sedeval_soft.measures import Tally, ratio, sum_files
from sedeval_soft.timeline import Recordings, detected, grid_of, pool_rows, positive

SEGMENT_KINDS = ("boundary", "confusion", "background", "missed")
SOFT_KINDS = ("confusion", "too_low", "too_high")

Errors = dict[str, Array]
"""The amount of each kind and side, such as `missed.fn`, in each cell, (n_classes, n_segments)."""


def count_segments(pair: Recordings, tally: Tally) -> Iterator[tuple[Family, Counts]]:
    """Yield the errors of hard and of soft segments, as far as these are evaluated.

    tally: of the same files. Raises EvaluationError for more segments than fit in memory.
    """
    settings = pair.settings
    if not settings.wants("segment", "hard", "soft"):
        return
    grid = grid_of(pair)
    grid.check_size(len(pair.classes), means=settings.pool == "mean")
    reference, system = (pool_rows(rows, grid, settings.pool) for rows in (pair.reference, pair.system))
    if settings.wants("segment", "hard"):
        sides = positive(reference, settings), detected(system, settings)
        errors = segment_errors(*sides, grid.start, grid.apart)
        n_ref = tally.per_class["segment.hard.n_ref"]
        yield ("segment", "hard"), _gathered(SEGMENT_KINDS, errors, grid.start, n_ref)
    if settings.wants("segment", "soft"):
        cells = soft_cells(pair, Cells("segment", reference, system, grid.start, grid.n_evaluated))
        errors, n_ref = soft_errors(cells.reference, cells.system), tally.per_class["segment.soft.n_ref"]
        yield ("segment", "soft"), _gathered(SOFT_KINDS, errors, cells.start, n_ref)


def _gathered(kinds: tuple[str, ...], errors: Errors, start: Index, n_ref: Array) -> Counts:
    """Return errors added up by file; impossible counts of a kind are 0."""
    from scipy.sparse import csr_array

    none = np.zeros(n_ref.T.shape)
    sums = {name: sum_files(cells, start, np.float64) for name, cells in errors.items()}
    rows = [sums.get(f"{kind}.{what}", none) for what in ("fp", "fn") for kind in kinds]
    return Counts(kinds, csr_array(np.concatenate(rows)), n_ref)


def segment_errors(reference: Bools, system: Bools, start: Index, apart: Bools | None = None) -> Errors:
    """Return errors by kind; reference, system: (n_classes, n_segments) active. start: as for `count_hard`.

    apart: (n_segments,) which segments do not follow the one before, beside the first of files; None for no.
    """
    missed, false = reference & ~system, system & ~reference
    hit = reference & system
    begins = np.zeros(reference.shape[1] + 1, dtype=bool)
    begins[start] = True
    if apart is not None:
        begins[:-1] |= apart

    def shifted(values: Bools, by: int) -> Bools:
        """Return the values of the segment before, or after, in the same file."""
        moved = np.roll(values, by, axis=1)
        moved[:, begins[:-1] if by > 0 else begins[1:]] = False
        return moved

    early = false & (shifted(hit, 1) | shifted(hit, -1))
    onset, offset = reference & ~shifted(reference, 1), reference & ~shifted(reference, -1)
    # Events are numbered from 1; 0 is the time before the first.
    event = np.cumsum(onset).reshape(onset.shape)
    found = np.bincount(event[hit], minlength=event.max(initial=0) + 1) > 0
    late = missed & (onset | offset) & found[event]
    boundary = missed & late, false & early
    missed, false = missed & ~late, false & ~early
    n_missed, n_false = (side.sum(axis=0) for side in (missed, false))
    n_confused = np.minimum(n_missed, n_false)
    of_missed, of_false = (np.nan_to_num(ratio(n_confused, n)) for n in (n_missed, n_false))

    return {
        "boundary.fp": boundary[1], "boundary.fn": boundary[0],
        "confusion.fp": false * of_false, "confusion.fn": missed * of_missed,
        "background.fp": false * (1 - of_false), "missed.fn": missed * (1 - of_missed),
    }  # fmt: skip


def soft_errors(reference: Floats, system: Floats) -> Errors:
    """Return errors by kind, integrated over all levels.

    reference, system: (n_classes, n_segments) in [0, 1].
    """
    lacking, beyond = np.maximum(reference - system, 0.0), np.maximum(system - reference, 0.0)
    y, p = (np.sort(side, axis=0) for side in (reference, system))
    too_low, too_high = np.maximum(y - p, 0.0).sum(axis=0), np.maximum(p - y, 0.0).sum(axis=0)
    # Sums over the same values in another order: no share is above 1.
    low, high = (
        np.minimum(np.nan_to_num(ratio(part, values.sum(axis=0))), 1.0)
        for part, values in ((too_low, lacking), (too_high, beyond))
    )

    return {
        "confusion.fp": beyond * (1 - high), "confusion.fn": lacking * (1 - low),
        "too_low.fn": lacking * low, "too_high.fp": beyond * high,
    }  # fmt: skip
