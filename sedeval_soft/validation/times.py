"""Times that can be scored but are probably not seconds, or not of this recording."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.codes import problem
from sedeval_soft.core.misread import DAY, RowStatistics, files_ended_early, last_offsets, rows_after_end
from sedeval_soft.validation.found import Log
from sedeval_soft.validation.tables import Table

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]


def check_times(table: Table, lengths: Mapping[str, float], whole: Mapping[str, float], log: Log) -> None:
    """Find times in another unit, and rows beyond the end of their recording.

    lengths: at least how long recordings are, by the table's file names. whole: how long exactly, if known.
    """
    if not len(table.rows):
        return
    rows = table.rows
    last = last_offsets(rows)
    expected = np.array([lengths.get(name, 0.0) for name in rows.files])
    known = np.array([whole.get(name, np.inf) for name in rows.files])
    unit = RowStatistics.of(rows, expected, known).unit()
    if unit is not None:
        row = int(np.argmax(rows.offset == last.max()))
        place = (table.lines_of([row])[0], table.column("offset"))
        log.add(problem("time-unit", table.name, f"ends at {last.max():.6g} s; {unit}", *place))
        return
    offset, code = rows.offset, rows.file
    long = np.flatnonzero((last > DAY) & ~np.isfinite(known))
    _tell(
        table,
        "long-recording",
        (len(long), _last_rows(table, last, long[: log.most])),
        lambda row: f"ends at {offset[row]:.6g} s: the recording would be {offset[row] / DAY:.3g} days long",
        log,
    )
    late = rows_after_end(rows, last, known)
    _tell(
        table,
        "after-end",
        (len(late), late[: log.most].tolist()),
        lambda row: f"ends at {offset[row]:.6g} s, after the recording, which has {known[code[row]]:.6g} s",
        log,
    )
    early = files_ended_early(rows, last, expected)
    _tell(
        table,
        "early-end",
        (len(early), _last_rows(table, last, early[: log.most])),
        lambda row: f"its last row ends at {offset[row]:.6g} s, the recording at {expected[code[row]]:.6g} s",
        log,
    )


def _last_rows(table: Table, last: Floats, files: Index) -> list[int]:
    """Return the row of each of some files that ends last."""
    rows = table.rows
    return [int(np.argmax((rows.file == file) & (rows.offset == last[file]))) for file in files]


def _tell(
    table: Table, code: str, found: tuple[int, list[int]], said: Callable[[int], str], log: Log
) -> None:
    """Enter problems of offsets; found: how many there are, and the rows of those that are told."""
    number, rows = found
    column, lines = table.column("offset"), table.lines_of(rows) if rows else []
    told = zip(rows, lines, strict=True)
    log.add_many(code, number, (problem(code, table.name, said(row), line, column) for row, line in told))
