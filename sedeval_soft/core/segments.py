"""Values of fixed-length segments, for one table on a grid.

With `pool="max"` a segment takes the largest value of what overlaps it, as sed_scores_eval and,
for binary labels, sed_eval do. With `pool="mean"` it takes the time-weighted mean, time without
any row counting 0; the last segment of a file is weighted over the part inside the file.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.activity import Activity
from sedeval_soft.core.decimals import rounded
from sedeval_soft.core.grid import Grid
from sedeval_soft.core.order import distinct
from sedeval_soft.core.ranges import covered, range_maximum
from sedeval_soft.core.rows import LongRows, Origin, Rows, WideRows
from sedeval_soft.core.threads import for_each
from sedeval_soft.core.ticks import to_seconds, to_ticks
from sedeval_soft.fields import Pool

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

_STRIDES = 64
"""Steps per segment up to which maxima are taken stride by stride, many segments at once."""


def pool_rows(rows: Rows, grid: Grid, pool: Pool) -> Floats:
    """Return the values of all segments of all classes, shape (n_classes, n_segments).

    Classes come first so that each class is contiguous: everything downstream works class by class.
    """
    if pool == "mean":
        return _mean(rows, grid)
    first, last = grid.cells(rows.file, to_ticks(rows.onset), to_ticks(rows.offset))
    if isinstance(rows, WideRows):
        return _widest(rows, grid, first, last)
    n_classes = len(rows.classes)
    base = rows.label * np.int64(grid.size)
    first += base
    last += base
    size = n_classes * grid.size
    cells = covered(size, first, last) if rows.value is None else range_maximum(size, first, last, rows.value)
    return cells.reshape(n_classes, grid.size)


def rows_of(
    values: Floats, grid: Grid, files: tuple[str, ...], classes: tuple[str, ...], origin: Origin
) -> LongRows:
    """Return values of segments as rows of a segment each, by file, segment and class; 0 has no row.

    values: (n_classes, n_segments). What `pool_rows` makes of these rows are the values.
    """
    segment, label = np.nonzero(values.T)
    file, onset, offset = grid.spans(segment)
    # A row that ends later than its file would make that longer.
    offset = np.minimum(offset, grid.length[file])
    codes = file.astype(np.int32), label.astype(np.int32)
    return LongRows(
        files, classes, *codes, to_seconds(onset), to_seconds(offset), values[label, segment], origin
    )


def _widest(rows: WideRows, grid: Grid, first: Index, last: Index) -> Floats:
    """Return the maxima of a wide table, whose columns share their time steps.

    A step within one segment, as in tables of frames, is entered directly; others cover ranges.
    """
    values = np.zeros((len(rows.classes), grid.size))
    single = bool(np.all(last - first == 1))
    sorted_ = bool(np.all(first[1:] >= first[:-1]))
    distinct = single and int(np.bincount(first, minlength=1).max()) <= 1
    order = np.argsort(first, kind="stable") if single and not sorted_ else None
    ordered = first if order is None else first[order]
    heads = np.flatnonzero(np.diff(ordered, prepend=-1))
    stride = _stride(heads, len(first))

    def fill(label: int) -> None:
        column, out = rows.values[label], values[label]
        if not single:
            out[:] = range_maximum(grid.size, first, last, column)
        elif distinct:
            out[first] = column
        else:
            column = column if order is None else column[order]
            if stride:
                out[ordered[heads]] = np.maximum.reduce([column[i::stride] for i in range(stride)])
            else:
                out[ordered[heads]] = np.maximum.reduceat(column, heads)

    for_each(fill, range(len(values)), values.size)
    return values


def _stride(heads: Index, n: int) -> int:
    """Return how many steps each segment has, 0 where they differ or are many."""
    steps = np.diff(heads, append=n)
    return int(steps[0]) if len(steps) and steps[0] <= _STRIDES and np.all(steps == steps[0]) else 0


def _mean(rows: Rows, grid: Grid) -> Floats:
    values = np.zeros((len(rows.classes), grid.size))
    times = grid.edges.on(to_ticks(rows.onset)), grid.edges.on(to_ticks(rows.offset))
    if isinstance(rows, LongRows):
        _add_means(Activity.of_long(rows, times), grid, values)
    else:
        for label in range(len(rows.classes)):
            _add_means(Activity.of_column(rows, label, times), grid, values)
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
