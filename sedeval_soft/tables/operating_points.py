"""A system known at some thresholds only: a list of events for each, as psds_eval takes them.

The list of a threshold stands for all from it up to the next one; that of the lowest for those below it,
too. So whatever is computed over all thresholds is an approximation, as coarse as the thresholds are.

The lists may be the tables of a folder whose names hold the thresholds (`baseline_0.1.csv`, `0.010.tsv`,
`predictions_th_0.01.tsv`), as psds_eval, DESED and others publish them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sedeval_soft.errors import InputError, Problem, counted
from sedeval_soft.memory import check_room
from sedeval_soft.tables.event_table import EventTable, Origin
from sedeval_soft.tables.folder import tables_in
from sedeval_soft.tables.forms import read_table
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.named_thresholds import are_lists_of_one, last_of, seem_thresholds, thresholds_in
from sedeval_soft.tables.source import is_pattern, open_source, spelled

_COLUMNS = 6
"""Of rows that are joined: file, class, onset, offset, and the thresholds between which each stands."""

_NAMED = "names that differ in one number in [0, 1] alone, such as 'baseline_0.1.csv' and 'baseline_0.5.csv'"


def read_points(
    points: Mapping[Any, Any],
    role: str,
    read: Callable[[Any], EventTable],
    *,
    name: str = "",
    assumed: Sequence[str] = (),
) -> EventTable:
    """Return the rows of all lists, each with the thresholds between which it stands.

    points: what `read` takes, by threshold in [0, 1]. name: of all of them, where they have one. assumed: of
    how they were found, beside what was assumed of each. Raises InputError for a threshold that is none, and
    for a table with values; a list without rows is one of nothing.
    """
    thresholds = sorted(_threshold(key, role) for key in points)
    tables = {_threshold(key, role): read(source) for key, source in points.items()}
    if len(tables) < len(points):
        raise InputError(Problem(role, "has two operating points of one threshold"))
    parts: list[EventTable] = []
    # That of the last threshold stands up to 1, or a breath above it.
    ends = [*thresholds[1:], max(1.0, float(np.nextafter(thresholds[-1], 2.0)))]
    for low, high in zip(thresholds, ends, strict=True):
        rows = tables[low]
        # A list without rows has no value that could be lost, whatever columns its header names.
        if rows.is_wide or (rows.value is not None and len(rows)):
            raise InputError(
                Problem(rows.origin.name, "has values; expected a list of events, as of one threshold")
            )
        n, born = len(rows), 0.0 if low == thresholds[0] else low
        parts.append(replace(rows, values=(np.full(n, high),), born=np.full(n, born)))
    digest = hashlib.sha256()
    for low, part in zip(thresholds, parts, strict=True):
        digest.update(f"{low!r}\0{part.origin.sha256}\n".encode())
    known = all(part.origin.sha256 for part in parts)
    form = f"operating points at {', '.join(f'{low!r}' for low in thresholds)}"
    ignored = tuple(dict.fromkeys(column for part in parts for column in part.origin.ignored))
    notes = tuple(f"{part.origin.name}: {note}" for part in parts for note in part.origin.notes)
    of_each = tuple(f"{part.origin.name}: {text}" for part in parts for text in part.origin.assumed)
    name = name or f"{len(parts)} operating points"
    files = tuple(dict.fromkeys(file for part in parts for file in part.files))
    origin = Origin(name, digest.hexdigest() if known else None, form, ignored, notes, (*assumed, *of_each))
    return EventTable.join(parts, files, origin)


def points_in(path: str, limits: Limits = LIMITS) -> dict[float, str]:
    """Return the tables of a folder, or those that a pattern fits, by the thresholds in their names.

    Raises InputError where there are none, and where a name does not hold one threshold.
    """
    if is_pattern(path):
        from sedeval_soft.tables.shards import shards_of

        names = [file.name for file in shards_of(path, limits)]
    else:
        names = [str(table) for table in tables_in(path, limits)]
    thresholds = thresholds_in(names)
    if thresholds is None:
        shown = ", ".join(spelled(last_of(name)) for name in names[:3])
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        found = f"does not say by its names at which thresholds its tables are ({shown}{more})"
        expected = f"expected {_NAMED}; --operating-point THRESHOLD=TABLE takes any"
        raise InputError(Problem(spelled(path), f"{found}; {expected}"))
    return dict(zip(thresholds, names, strict=True))


def points_of_folder(path: str, limits: Limits = LIMITS) -> EventTable | None:
    """Return the rows of a folder of operating points; None where its names and tables do not say it is one.

    What was assumed says so: thresholds were found in names that nobody declared to hold any. Raises
    InputError for a table that cannot be read, and for more than the limits allow.
    """
    try:
        names = [str(table) for table in tables_in(path, limits)]
    except InputError:
        return None  # told by who reads it as a folder of recordings
    if not seem_thresholds(names):
        return None
    tables = _read_all(path, names, limits)
    if not are_lists_of_one(tables):
        return None
    n_rows = sum(map(len, tables))
    check_room(
        n_rows * 8 * _COLUMNS,
        f"{spelled(path)}: to join {counted(n_rows, 'row')} of {counted(len(names), 'operating point')}",
        "Expected fewer operating points",
    )
    thresholds = thresholds_in(names) or []
    low, high = min(thresholds), max(thresholds)
    assumed = (
        f"taken as {len(names)} operating points of one system, at thresholds {low!r} to {high!r} by the "
        "names of its tables; --operating-points FOLDER in place of SYSTEM says that they are (in Python, "
        "evaluate(reference, operating_points(folder)))"
    )
    by_threshold = dict(zip(thresholds, tables, strict=True))
    return read_points(by_threshold, "system", lambda rows: rows, name=spelled(path), assumed=(assumed,))


def _read_all(path: str, names: Sequence[str], limits: Limits) -> list[EventTable]:
    """Return the rows of tables, one without any line as one without rows."""
    tables: list[EventTable] = []
    size = n_rows = 0
    for name in names:
        source = open_source(name, limits=limits)
        size += len(source.data)
        limits.check(spelled(path), "size", size, "bytes or more in its tables")
        rows = read_table(source, limits=limits)
        tables.append(EventTable.empty(Origin(source.name, source.sha256, "empty")) if rows is None else rows)
        n_rows += len(tables[-1])
        limits.check(spelled(path), "rows", n_rows, "rows or more in its tables")
    return tables


def _threshold(key: Any, role: str) -> float:  # noqa: ANN401 - whatever was given
    number = isinstance(key, int | float | np.number) and not isinstance(key, bool)
    if not number or not 0 <= key <= 1:
        raise InputError(Problem(role, f"has an operating point at {key!r}; expected a threshold in [0, 1]"))
    return float(key)
