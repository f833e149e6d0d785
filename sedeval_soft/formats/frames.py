"""Rows from data in memory: data frames of any library that speaks Arrow, and mappings of columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sedeval_soft.core.errors import InputError, Problem
from sedeval_soft.core.rows import LongRows, Origin, Rows, WideRows
from sedeval_soft.formats.assemble import ROUNDING, Columns, Named
from sedeval_soft.formats.columns import LayoutError, layout_of_header

Floats = npt.NDArray[np.float64]


def rows_from_data(data: object, name: str) -> Rows:
    """Return the rows of a data frame or a mapping of columns, long or wide, by the names of its columns.

    name: what messages call it. Raises InputError, which counts rows from 0, as data frames do.
    """
    if isinstance(data, LongRows | WideRows):
        return data
    table = _table(data, name)
    try:
        layout = layout_of_header([str(column) for column in table.column_names])
    except LayoutError as error:
        raise InputError(Problem(name, str(error))) from error
    file_at, label_at = layout.position("filename"), layout.position("event_label")
    numbers = {
        i: _floats(table, i, layout.names[i], name)
        for i, role in enumerate(layout.roles)
        if role is not None and i not in {file_at, label_at}
    }
    value = layout.position("soft_value")
    columns = Columns(
        file=None if file_at is None else _named(table, file_at, layout.names[file_at], name),
        label=None if label_at is None else _named(table, label_at, layout.names[label_at], name),
        onset=numbers[layout.roles.index("onset")],
        offset=numbers[layout.roles.index("offset")],
        value=None if value is None or layout.wide else numbers[value],
        classes=tuple((layout.names[i], numbers[i]) for i in layout.class_positions()),
    )
    shape = "wide" if layout.wide else "long"
    rows = columns.rows(Origin(name, None, f"{shape} data frame", layout.ignored))
    if rows is None:
        raise InputError(_first_problem(columns, name))
    return rows


def _table(data: Any, name: str) -> Any:  # noqa: ANN401 - any data frame
    try:
        if isinstance(data, pa.Table):
            return data
        if isinstance(data, Mapping):
            return pa.table({str(key): pa.array(np.asarray(column)) for key, column in data.items()})
        if type(data).__module__.partition(".")[0] == "pandas":
            named = any(name is not None for name in data.index.names)
            return pa.Table.from_pandas(data.reset_index() if named else data, preserve_index=False)
        return pa.table(data)
    except (TypeError, ValueError, pa.ArrowException) as error:
        kind = type(data).__name__
        raise InputError(
            Problem(
                name,
                f"{kind} is not a table ({error}); expected a path, a data frame, a mapping of columns "
                "or an array",
            )
        ) from error


def _floats(table: Any, position: int, column: str, name: str) -> Floats:  # noqa: ANN401
    try:
        array = table.column(position)
        array = array if array.type == pa.float64() else array.cast(pa.float64())
    except pa.ArrowException as error:
        raise InputError(Problem(name, f"column {column!r} does not hold numbers: {error}")) from error
    values: Floats = np.asarray(array.to_numpy(), dtype=np.float64)
    return values


def _named(table: Any, position: int, column: str, name: str) -> Named:  # noqa: ANN401
    found = table.column(position)
    if found.null_count:
        row = next(i for i, value in enumerate(found.to_pylist()) if value is None)
        raise InputError(Problem(name, f"row {row}: {column} is missing; expected a name"))
    if pa.types.is_dictionary(found.type):
        found = found.cast(found.type.value_type)
    try:
        found = found if found.type == pa.string() else found.cast(pa.string())
        encoded = found.dictionary_encode().combine_chunks()
    except pa.ArrowException as error:
        raise InputError(Problem(name, f"column {column!r} does not hold names: {error}")) from error
    if isinstance(encoded, pa.ChunkedArray):
        if not encoded.num_chunks:
            return Named((), np.zeros(0, dtype=np.int32))
        encoded = encoded.chunk(0)
    return Named.of(encoded.dictionary.to_pylist(), encoded.indices.to_numpy())


def _first_problem(columns: Columns, name: str) -> Problem:
    """Return the first thing that is wrong with columns that are not sound."""
    with np.errstate(invalid="ignore"):
        checks: list[tuple[str, npt.NDArray[np.bool_], Floats, str]] = [
            ("onset", columns.onset >= 0, columns.onset, "a number of seconds, 0 or more"),
            ("offset", np.isfinite(columns.offset), columns.offset, "a finite number of seconds"),
            ("offset", columns.offset >= columns.onset, columns.offset, "one not before its onset"),
        ]
        values = [("soft_value", columns.value)] if columns.value is not None else list(columns.classes)
        checks += [
            (label, (v >= -ROUNDING) & (v <= 1 + ROUNDING), v, "a number in [0, 1]")
            for label, v in values
            if v is not None
        ]
    for label, good, found, expected in checks:
        bad = np.flatnonzero(~good)
        if len(bad):
            return Problem(name, f"row {bad[0]}: {label} is {float(found[bad[0]])!r}; expected {expected}")
    return Problem(name, "a filename or event_label is empty; expected a name")
