"""Times that can be scored but are probably not seconds, or not of this recording."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.codes import problem
from sedeval_soft.core.rows import Rows, WideRows
from sedeval_soft.validation.found import Log
from sedeval_soft.validation.spans import TICK
from sedeval_soft.validation.tables import Table

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

_DAY = 86_400.0
_FACTOR = 20.0
"""How far the ends of recordings may differ before their units must."""

_TYPICAL = 50.0
"""Seconds: where all times are whole numbers and half of the rows are as long as this, they are frames."""

_SAMPLE = 1000


def check_times(table: Table, lengths: Mapping[str, float], whole: Mapping[str, float], log: Log) -> None:
    """Find times in another unit, and rows beyond the end of their recording.

    lengths: at least how long recordings are, by the table's file names. whole: how long exactly, if known.
    """
    if not len(table.rows):
        return
    last = last_offsets(table.rows)
    if not (_check_unit(table, last, lengths, log) or _check_whole_numbers(table, last, log)):
        _check_long(table, last, log)
        _check_ends(table, last, lengths, whole, log)


def last_offsets(rows: Rows) -> Floats:
    """Return the last offset of each file of a table, 0 where it has no row."""
    last = np.zeros(len(rows.files))
    np.maximum.at(last, rows.file, rows.offset)
    return last


def _check_unit(table: Table, last: Floats, lengths: Mapping[str, float], log: Log) -> bool:
    """Compare the ends of recordings with what is known of them; return whether the unit is another."""
    files = table.rows.files
    ratios = [last[i] / lengths[name] for i, name in enumerate(files) if lengths.get(name) and last[i] > 0]
    if not ratios:
        return False
    ratio = float(np.median(ratios))
    if ratio >= _FACTOR:
        unit = "milliseconds" if 500 <= ratio <= 2000 else "frames or samples, or milliseconds"
        said = f"recordings end {ratio:.3g} times as late as expected: times could be {unit}"
    elif max(ratios) <= 1 / _FACTOR and len(ratios) > 1:
        said = f"recordings end at {max(ratios):.2g} of their length at the latest: times could be minutes"
    else:
        return False
    row = int(np.argmax(table.rows.offset == last.max()))
    place = (table.lines_of([row])[0], table.column("offset"))
    log.add(problem("time-unit", table.name, f"ends at {last.max():.6g} s; {said}", *place))
    return True


def _check_whole_numbers(table: Table, last: Floats, log: Log) -> bool:
    """Look for times that count something smaller than seconds; return whether they seem to."""
    rows = table.rows
    for part in (slice(_SAMPLE), slice(None)):
        for times in (rows.onset[part], rows.offset[part]):
            if bool((times != np.floor(times)).any()):
                return False
    typical = float(np.median(rows.offset - rows.onset))
    if typical < _TYPICAL or last.max() < _FACTOR * _TYPICAL:
        return False
    row = int(np.argmax(rows.offset == last.max()))
    place = (table.lines_of([row])[0], table.column("offset"))
    said = f"all times are whole numbers, and a typical row has {typical:.6g} of them"
    log.add(problem("time-unit", table.name, f"{said}: these could be milliseconds or frames", *place))
    return True


def _check_long(table: Table, last: Floats, log: Log) -> None:
    found = np.flatnonzero(last > _DAY)
    offset = table.rows.offset
    _tell(
        table,
        "long-recording",
        (len(found), _last_rows(table, last, found[: log.most])),
        lambda row: f"ends at {offset[row]:.6g} s: the recording would be {offset[row] / _DAY:.3g} days long",
        log,
    )


def _check_ends(
    table: Table, last: Floats, lengths: Mapping[str, float], whole: Mapping[str, float], log: Log
) -> None:
    """Find rows after the end of their recording, and wide tables that end before it."""
    rows, wide = table.rows, isinstance(table.rows, WideRows)
    known = np.array([whole.get(name, np.inf) for name in rows.files])
    # The last time step of a wide table may reach over the end.
    beyond = (rows.onset if wide else rows.offset) > known[rows.file] + (-TICK / 2 if wide else TICK / 2)
    found = np.flatnonzero(beyond & (rows.offset > known[rows.file]))
    _tell(
        table,
        "after-end",
        (len(found), found[: log.most].tolist()),
        lambda row: (
            f"ends at {rows.offset[row]:.6g} s, after the recording, which has {known[rows.file[row]]:.6g} s"
        ),
        log,
    )
    if not wide:
        return
    step = float(np.median(rows.offset - rows.onset))
    ends = np.array([lengths.get(name, 0.0) for name in rows.files])
    early = np.flatnonzero((last > 0) & (last < ends - max(step, TICK)))
    _tell(
        table,
        "early-end",
        (len(early), _last_rows(table, last, early[: log.most])),
        lambda row: (
            f"its last row ends at {rows.offset[row]:.6g} s, the recording at {ends[rows.file[row]]:.6g} s"
        ),
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
