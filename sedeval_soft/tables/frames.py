"""Rows from data in memory: data frames of any library that speaks Arrow, and mappings of columns."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sedeval_soft.errors import InputError, Problem, counted, one_line
from sedeval_soft.sorting import distinct
from sedeval_soft.tables.assemble import ROUNDING, Columns, Named
from sedeval_soft.tables.columns import RAVEN, Layout, LayoutError, is_number, layout_of_header
from sedeval_soft.tables.event_table import EventTable, Origin
from sedeval_soft.tables.limits import LIMITS, Limits, intake_of
from sedeval_soft.tables.ticks import as_written
from sedeval_soft.tables.unclear_columns import check_unclear, words_as_numbers

Bools = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]

_NAMES = ("filename", "event_label")


def rows_from_data(data: object, name: str, limits: Limits = LIMITS, *, settled: bool = False) -> EventTable:
    """Return the rows of a data frame or a mapping of columns, long or wide, by the names of its columns.

    A row with a filename and nothing else declares a file without events; one with nothing is left out.
    name: what messages call it. settled: columns that play no role were looked at before. Raises
    InputError, which counts rows from 0, as data frames do.
    """
    if isinstance(data, EventTable):
        return data
    table = table_of(data, name)
    try:
        layout = layout_of_header(table.names, intake_of(limits).columns)
    except LayoutError as error:
        code = error.code if error.code == RAVEN else "invalid"
        raise InputError(Problem(name, str(error), code=code)) from error
    if not settled:
        check_unclear(name, layout, limits, lambda positions: [list(map(table.cells, positions))])
    numbers = {i: table.numbers(i, words=layout.roles[i] == "soft_value") for i in layout.number_positions()}
    names = {role: _texts(table, layout.position(role)) for role in _NAMES}
    kept, declared = _declared(layout, numbers, names["filename"], names["event_label"])
    if kept is not None:
        numbers = {i: column[kept] for i, column in numbers.items()}
    rows = np.arange(table.length) if kept is None else np.flatnonzero(kept)
    file, label = (
        None if column is None else _named(column, kept, rows, layout.names[layout.roles.index(role)], name)
        for role, column in names.items()
    )
    columns = Columns.of(layout, file, label, numbers, declared)
    shape = "wide" if layout.wide else "long"
    found = columns.rows(Origin(name, None, f"{shape} data frame{layout.said()}", layout.ignored), limits)
    if found is None:
        raise InputError(_first_problem(columns, rows, name, limits))
    return found


@dataclass(frozen=True, slots=True)
class _Texts:
    """A column of names before it is checked: codes into the names, -1 where one is missing or blank."""

    names: tuple[str, ...]
    codes: Codes


def _texts(table: Table, position: int | None) -> _Texts | None:
    if position is None:
        return None
    encoded = table.texts(position)
    codes = np.asarray(encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int32)
    found = Named.of((name or "" for name in encoded.dictionary.to_pylist()), codes)
    if "" in found.names:
        codes = np.where(found.codes == found.names.index(""), np.int32(-1), found.codes)
        return _Texts(found.names, codes)
    return _Texts(found.names, np.where(codes < 0, codes, found.codes))


def _declared(
    layout: Layout, numbers: Mapping[int, Floats], file: _Texts | None, label: _Texts | None
) -> tuple[Bools | None, list[str]]:
    """Return which rows are no declarations of files (None for all), and the files that are declared."""
    columns = list(numbers.values())
    blank = np.isnan(columns[0])
    if not blank.any():
        return None, []
    for column in columns[1:]:
        blank &= np.isnan(column)
    if label is not None:
        blank &= label.codes < 0
    if layout.ignored:
        # What stands in a column that is read past may be all that a nameless row holds.
        blank &= False if file is None else file.codes >= 0
    if file is None:
        return ~blank, []
    codes = distinct(file.codes[blank])
    return ~blank, [file.names[code] for code in codes.tolist() if code >= 0]


def _named(texts: _Texts, kept: Bools | None, rows: npt.NDArray[np.intp], column: str, name: str) -> Named:
    codes = texts.codes if kept is None else texts.codes[kept]
    missing = np.flatnonzero(codes < 0)
    if len(missing):
        message = f"row {rows[missing[0]]}: {column} is missing or is empty; expected a name"
        raise InputError(Problem(name, message))
    return Named(texts.names, codes)


def _first_problem(columns: Columns, rows: npt.NDArray[np.intp], name: str, limits: Limits) -> Problem:
    """Return the first thing that is wrong with columns that are not sound."""
    with np.errstate(invalid="ignore"):
        checks: list[tuple[str, npt.NDArray[np.bool_], Floats, str]] = [
            ("onset", columns.onset >= 0, columns.onset, "a number of seconds, 0 or more"),
            ("offset", columns.offset <= limits.duration, columns.offset, "seconds"),
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
            said = f"row {rows[bad[0]]}: {label} is {float(found[bad[0]])!r}"
            much = expected == "seconds" and found[bad[0]] > limits.duration
            said += f", which {limits.too_long()}" if much else ""
            return Problem(name, f"{said}; expected {expected}")
    return Problem(name, "a filename or event_label holds a NUL character; expected a name")


# Columns of tables in memory, whichever library holds them, and what each cell may be.


_EXPECTED = (
    "expected a path, a data frame, a mapping of columns such as {'onset': [...], 'offset': [...], "
    "'event_label': [...]}, or a numpy array of shape (n_segments, n_classes)"
)
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose columns are taken to Arrow one by one: those that play no role may hold anything.

    name: what messages call it. names: of the columns. length: rows. _column: the n-th column.
    """

    name: str
    names: tuple[str, ...]
    length: int
    _column: Callable[[int], Any]

    def cells(self, position: int) -> Any:  # noqa: ANN401
        """Return a column as it is if it holds numbers or texts; else one of nothing, as long as that."""
        try:
            return cells_of(self._column(position))
        except _FAILURES:
            return pa.nulls(self.length, pa.float64())

    def numbers(self, position: int, *, words: bool = False) -> npt.NDArray[np.float64]:
        """Return a column of numbers, missing ones as NaN; raises InputError naming what is none.

        words: some that stand for 1 or 0 are read as these.
        """
        try:
            array = self._column(position)
            if pa.types.is_dictionary(array.type):
                array = array.cast(array.type.value_type)
            if words and _is_text(array.type):
                array = words_as_numbers(array)
            if not (_is_number(array.type) or _is_text(array.type) or pa.types.is_null(array.type)):
                raise pa.ArrowTypeError(f"it is of type {array.type}")
            short = pa.types.is_float32(array.type) or pa.types.is_float16(array.type)
            array = array if short or array.type == pa.float64() else array.cast(pa.float64())
        except _FAILURES as error:
            raise self._wrong_cell(position, "number", error) from error
        column = array.to_numpy(zero_copy_only=False)
        return as_written(column) if short else np.asarray(column, dtype=np.float64)

    def texts(self, position: int) -> Any:  # noqa: ANN401 - pyarrow is untyped
        """Return a column of names as a dictionary array; raises InputError naming the first that is none."""
        try:
            array = self._column(position)
            if pa.types.is_dictionary(array.type):
                array = array.cast(array.type.value_type)
            if array.null_count == len(array):
                array = pa.nulls(len(array), pa.string())
            if not (_is_text(array.type) or pa.types.is_integer(array.type)):
                raise pa.ArrowTypeError(f"it is of type {array.type}")
            array = array if array.type == pa.string() else array.cast(pa.string())
            return array.dictionary_encode()
        except _FAILURES as error:
            raise self._wrong_cell(position, "name", error) from error

    def _wrong_cell(self, position: int, what: str, error: Exception) -> InputError:
        """Return the error of a column that does not hold numbers, or names."""
        column = self.names[position]
        expected = "a number" if what == "number" else "text, such as 'car'"
        cells = self._cells(position)
        for row, cell in enumerate(cells):
            if not _fits(cell, what):
                found = f"row {row}: {column} is {_shown(cell)}"
                return InputError(
                    Problem(self.name, f"{found}: the column does not hold {what}s; expected {expected}")
                )
        said = one_line(error)
        return InputError(
            Problem(self.name, f"column {column!r} does not hold {what}s ({said}); expected {expected}")
        )

    def _cells(self, position: int) -> list[Any]:
        try:
            cells: list[Any] = self._column(position).to_pylist()
        except _FAILURES as error:
            cells = list(getattr(error, "cells", ()))
        return cells


def cells_of(array: Any) -> Any:  # noqa: ANN401
    """Return an array as it is if it holds numbers or texts; else one of nothing, as long as that."""
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if pa.types.is_decimal(array.type):
        return array.cast(pa.float64())
    return array if _is_number(array.type) or _is_text(array.type) else pa.nulls(len(array), pa.float64())


class _MixedError(Exception):
    """A column that Arrow cannot hold, with its cells."""

    def __init__(self, cells: list[Any], reason: Exception) -> None:
        super().__init__(str(reason))
        self.cells = cells


_FAILURES = (pa.ArrowException, TypeError, ValueError, OverflowError, _MixedError)


def table_of(data: Any, name: str) -> Table:  # noqa: ANN401 - any data frame
    """Return a table of a data frame or a mapping of columns; raises InputError for what is none."""
    if isinstance(data, Mapping):
        return _of_columns({str(key): column for key, column in data.items()}, name)
    if type(data).__module__.partition(".")[0] == "pandas" and not isinstance(data, type):
        return _of_pandas(data, name)
    if isinstance(data, list | tuple) and data and all(isinstance(row, Mapping) for row in data):
        return _of_columns(_by_column(data), name)
    if isinstance(data, list | tuple):
        kind = type(data).__name__
        raise InputError(
            Problem(name, f"a {kind} is not a table; {_EXPECTED}: pandas.DataFrame(rows, columns=[...]) "
                    "makes a data frame of rows, numpy.array(segments) an array of segments")
        )  # fmt: skip
    try:
        table = data if isinstance(data, pa.Table) else pa.table(data)
    except Exception as error:  # whatever a stranger's object raises when it is asked for columns
        raise InputError(Problem(name, f"{_shown(data)} is not a table; {_EXPECTED}")) from error
    names = tuple(str(column) for column in table.column_names)
    return Table(name, names, len(table), lambda position: table.column(position).combine_chunks())


def _by_column(rows: Sequence[Mapping[Any, Any]]) -> dict[str, list[Any]]:
    """Return rows that name their cells, as those of an event list of dcase_util, by column."""
    names = dict.fromkeys(str(key) for row in rows for key in row)
    cells: dict[str, list[Any]] = {name: [None] * len(rows) for name in names}
    for at, row in enumerate(rows):
        for key, value in row.items():
            cells[str(key)][at] = value
    return cells


def _of_columns(columns: Mapping[str, Any], name: str) -> Table:
    arrays: list[Any] = []
    for key, column in columns.items():
        if isinstance(column, np.ma.MaskedArray):
            raise InputError(
                Problem(name, f"column {key!r} is a masked array, whose mask would be lost; expected "
                        "numpy.ma.filled, or None for what is missing")
            )  # fmt: skip
        array = _sequence(column)
        if isinstance(array, np.ndarray) and array.ndim != 1:
            raise InputError(
                Problem(name, f"column {key!r} is {_shown(column)}, of {array.ndim} dimensions; expected one "
                        "value per row")
            )  # fmt: skip
        if arrays and len(array) != len(arrays[0]):
            first = next(iter(columns))
            raise InputError(
                Problem(name, f"column {key!r} has {counted(len(array), 'row')}, {first!r} has "
                        f"{len(arrays[0])}; expected as many")
            )  # fmt: skip
        arrays.append(array)
    return Table(
        name, tuple(columns), len(arrays[0]) if arrays else 0, lambda position: _arrow(arrays[position])
    )


def _of_pandas(data: Any, name: str) -> Table:  # noqa: ANN401
    if not hasattr(data, "columns") or not hasattr(data, "iloc"):
        raise InputError(Problem(name, f"a pandas {type(data).__name__} is not a table; {_EXPECTED}"))
    try:
        frame = data.reset_index() if any(level is not None for level in data.index.names) else data
    except ValueError as error:
        raise InputError(
            Problem(name, f"its index cannot be a column ({error}); expected frame.reset_index(drop=True)")
        ) from error
    names = tuple(str(column) for column in frame.columns)
    return Table(name, names, len(frame), lambda position: _arrow(frame.iloc[:, position]))


def _sequence(column: Any) -> Any:  # noqa: ANN401
    """Return a column as a list or an array: of a list that mixes them, numpy would make numbers texts."""
    if isinstance(column, list | tuple):
        return list(column)
    return np.asarray(column)


def _arrow(column: Any) -> Any:  # noqa: ANN401
    """Return a column as Arrow has it, NaN as missing; raises _MixedError."""
    try:
        array = pa.array(column, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise _MixedError(list(column), error) from error
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _is_number(kind: Any) -> bool:  # noqa: ANN401
    types = pa.types
    return bool(
        types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_boolean(kind)
    )


def _is_text(kind: Any) -> bool:  # noqa: ANN401
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or str(kind) == "string_view")


def _fits(cell: object, what: str) -> bool:
    """Return whether a cell is missing, or of the kind that its column should hold."""
    if cell is None or (isinstance(cell, float) and cell != cell):  # noqa: PLR0124 - NaN
        return True
    if isinstance(cell, str):
        return what == "name" or is_number(cell)
    return what == "number" and isinstance(cell, numbers.Real | np.bool_)


def _shown(value: object) -> str:
    """Return a value with its type, only its type where it is long."""
    text, kind = repr(value), type(value).__name__
    return f"{text} ({kind})" if len(text) <= _SHOWN and text.isprintable() else f"a value of type {kind}"
