"""Values of fixed-length segments, for one table on a grid.

With `pool="max"` a segment takes the largest value of what overlaps it, as sed_scores_eval and,
for binary labels, sed_eval do. With `pool="mean"` it takes the time-weighted mean, time without
any row counting 0; the last segment of a file is weighted over the part inside the file.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sedeval_soft.fields import Pool
from sedeval_soft.sorting import distinct
from sedeval_soft.tables.event_table import EventTable, Origin, Track
from sedeval_soft.tables.ticks import rounded, to_seconds
from sedeval_soft.threads import for_each
from sedeval_soft.timeline.activity import Activity
from sedeval_soft.timeline.grid import Grid
from sedeval_soft.timeline.ranges import covered, range_maximum

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

_STRIDES = 64
"""Steps per segment up to which maxima are taken stride by stride, many segments at once."""


def pool_rows(rows: EventTable, grid: Grid, pool: Pool) -> Floats:
    """Return the values of all segments of all classes, shape (n_classes, n_segments).

    Classes come first so that each class is contiguous: everything downstream works class by class.
    """
    if pool == "mean":
        return _mean(rows, grid)
    spans = rows.spans()
    return maxima(rows, *grid.cells(spans.file, spans.onset, spans.offset), grid.size)


def maxima(rows: EventTable, first: Index, last: Index, size: int) -> Floats:
    """Return for each class the largest value of the rows that cover each of `size` cells, (n_classes, size).

    first, last: (n,) the first cell of each row, and one past its last.
    """
    values = np.zeros((len(rows.classes), size))
    tracks = [*rows.tracks()]
    if rows.label is not None:
        base = rows.label * np.int64(size)
        first, last = first + base, last + base
    covers = _Cover.of(first, last)

    def fill(track: Track) -> None:
        covers.enter(track.value, values[track.classes.start : track.classes.stop].reshape(-1))

    for_each(fill, tracks, values.size)
    return values


@dataclass(frozen=True, slots=True)
class _Cover:
    """Which cells rows cover: found once for all classes of a table.

    first, last: (n,) ranges of cells. heads: where rows are in one cell each, the first row of each cell, in
    order; else None. order: (n,) the rows by cell, None where they are. stride: how many rows each cell has,
    0 where they differ or are many.
    """

    first: Index
    last: Index
    heads: Index | None = None
    order: Index | None = None
    stride: int = 0

    @classmethod
    def of(cls, first: Index, last: Index) -> _Cover:
        """Look at where rows are."""
        if not np.all(last - first == 1):
            return cls(first, last)
        order = None if np.all(first[1:] >= first[:-1]) else np.argsort(first, kind="stable")
        ordered = first if order is None else first[order]
        heads = np.flatnonzero(np.diff(ordered, prepend=-1))
        steps = np.diff(heads, append=len(first))
        even = len(steps) and steps[0] <= _STRIDES and np.all(steps == steps[0])
        return cls(ordered, ordered + 1, heads, order, int(steps[0]) if even else 0)

    def enter(self, value: Floats | None, out: Floats) -> None:
        """Write the largest value of each cell; value: (n,) of the rows, None where each is 1.0."""
        if value is None:
            out[:] = covered(len(out), self.first, self.last)
        elif self.heads is None:
            out[:] = range_maximum(len(out), self.first, self.last, value)
        elif len(self.heads):
            value = value if self.order is None else value[self.order]
            if self.stride:
                most = np.maximum.reduce([value[i :: self.stride] for i in range(self.stride)])
            else:
                most = np.maximum.reduceat(value, self.heads)
            out[self.first[self.heads]] = most


def rows_of(
    values: Floats, grid: Grid, files: tuple[str, ...], classes: tuple[str, ...], origin: Origin
) -> EventTable:
    """Return values of segments as rows of a segment each, by file, segment and class; 0 has no row.

    values: (n_classes, n_segments). What `pool_rows` makes of these rows are the values.
    """
    segment, label = np.nonzero(values.T)
    file, onset, offset = grid.spans(segment)
    # A row that ends later than its file would make that longer.
    offset = np.minimum(offset, grid.length[file])
    codes = file.astype(np.int32), label.astype(np.int32)
    return EventTable.long(
        files, classes, *codes, to_seconds(onset), to_seconds(offset), values[label, segment], origin
    )


def _mean(rows: EventTable, grid: Grid) -> Floats:
    values = np.zeros((len(rows.classes), grid.size))
    spans = rows.spans()
    spans = replace(spans, onset=grid.edges.on(spans.onset), offset=grid.edges.on(spans.offset))
    for track in rows.tracks():
        _add_means(Activity.of_track(spans, track), grid, values)
    return values


def _add_means(pieces: Activity, grid: Grid, values: Floats) -> None:
    """Add the time-weighted means of some pieces to `values`, shape (n_classes, n_segments).

    Means are the same however time is cut into rows, and in whatever order: rounding breaks no ties.
    """
    pieces = pieces.joined()
    first, last = grid.cells(pieces.file, pieces.onset, pieces.offset)
    covered = last - first
    piece = np.repeat(np.arange(len(first)), covered)
    cell = np.arange(len(piece)) - np.repeat(np.cumsum(covered) - covered, covered) + first[piece]
    begin, end = grid.spans(cell, pieces.file[piece])[1:]
    overlap = np.minimum(pieces.offset[piece], end) - np.maximum(pieces.onset[piece], begin)
    flat = pieces.label[piece] * np.int64(grid.size) + cell
    value = pieces.value[piece]
    # Whole ticks are summed before the division, so that binary pieces give exact means; a piece
    # that fills its segment hands its value on untouched.
    filled = overlap == end - begin
    out = values.reshape(-1)
    out[flat[filled]] = value[filled]
    # A piece may lie beyond the end of its file, in a segment that the file still reaches.
    part = ~filled & (overlap > 0)
    np.add.at(out, flat[part], value[part] * overlap[part])
    touched = distinct(flat[part])
    begin, end = grid.spans(touched % grid.size)[1:]
    out[touched] = rounded(out[touched]) / (end - begin)
