"""Rows from data in memory: data frames of any library that speaks Arrow, and mappings of columns."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sedeval_soft.errors import InputError, Problem, counted, one_line
from sedeval_soft.sorting import distinct
from sedeval_soft.tables.assemble import ROUNDING, Columns, Named
from sedeval_soft.tables.columns import RAVEN, Layout, LayoutError, is_number, layout_of_header
from sedeval_soft.tables.event_table import EventTable, Origin
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.ticks import as_written
from sedeval_soft.tables.unclear_columns import check_unclear, words_as_numbers

_NAMES = ("filename", "event_label")
_EXPECTED = (
    "expected a path, a data frame, a mapping of columns such as {'onset': [...], 'offset': [...], "
    "'event_label': [...]}, or a numpy array of shape (n_segments, n_classes)"
)
_SHOWN = 60


def rows_from_data(data: object, name: str, limits: Limits = LIMITS, *, settled: bool = False) -> EventTable:
    """Return the rows of a data frame or a mapping of columns, long or wide, by the names of its columns.

    A row with a filename and nothing else declares a file without events; one with nothing is left out.
    name: what messages call it. settled: columns that play no role were looked at before. Raises
    InputError, which counts rows from 0, as data frames do.
    """
    if isinstance(data, EventTable):
        return data
    return _rows_of(_table_of(data, name), Origin(name, None, "{} data frame"), limits, settled=settled)


def rows_from_objects(
    objects: Sequence[Mapping[str, Any]], lines: Sequence[int], origin: Origin, limits: Limits
) -> EventTable:
    """Return the rows of objects that name their cells, as above; lines: where each stands, for messages.

    origin: its form has `{}` where `long` or `wide` stands.
    """
    table = replace(_of_objects(objects, origin.name), lines=lines)
    return _rows_of(table, origin, limits, settled=False)


def _rows_of(table: _Table, origin: Origin, limits: Limits, *, settled: bool) -> EventTable:
    head = None if table.lines is None else 1
    try:
        layout = layout_of_header(table.names, limits.columns)
    except LayoutError as error:
        code = error.code if error.code == RAVEN else "invalid"
        raise InputError(Problem(table.name, str(error), head, code=code)) from error
    if not settled:
        check_unclear(table.name, layout, limits, lambda at: [list(map(table.cells, at))], head)
    numbers = {i: table.numbers(i, layout.roles[i] or "") for i in layout.number_positions()}
    file, label = (table.texts(layout.position(role)) for role in _NAMES)
    blank, declared = _declarations(layout, list(numbers.values()), file, label)
    rows = np.flatnonzero(~blank)
    if len(rows) < table.length:
        numbers = {i: column[rows] for i, column in numbers.items()}
        file, label = (None if named is None else named.take(~blank) for named in (file, label))
    for role, named in zip(_NAMES, (file, label), strict=True):
        if named is not None and named.codes.min(initial=0) < 0:
            row, column_name = int(rows[np.argmin(named.codes)]), layout.names[layout.roles.index(role)]
            raise InputError(table.problem(row, f"{column_name} is missing or is empty; expected a name"))
    columns = Columns.of(layout, file, label, numbers, declared)
    form = origin.form.format("wide" if layout.wide else "long") + layout.choices
    events = columns.rows(replace(origin, form=form, ignored=layout.ignored), limits)
    if events is None:
        raise InputError(_first_problem(columns, rows, table, limits))
    return events


def _declarations(
    layout: Layout, columns: Sequence[npt.NDArray[np.float64]], file: Named | None, label: Named | None
) -> tuple[npt.NDArray[np.bool_], list[str]]:
    """Return which rows have neither times, nor values, nor a label, and the files that they declare."""
    blank = np.isnan(columns[0])
    if not blank.any():
        return blank, []
    for column in columns[1:]:
        blank &= np.isnan(column)
    if label is not None:
        blank &= label.codes < 0
    if layout.ignored:
        # What stands in a column that is read past may be all that a nameless row holds.
        blank &= False if file is None else file.codes >= 0
    codes = [] if file is None else distinct(file.codes[blank]).tolist()
    return blank, [file.names[code] for code in codes if file is not None and code >= 0]


def _first_problem(columns: Columns, rows: npt.NDArray[np.intp], table: _Table, limits: Limits) -> Problem:
    """Return the first thing that is wrong with columns that are not sound."""
    onset, offset, longest = columns.onset, columns.offset, limits.duration
    values = list(columns.classes) if columns.value is None else [("soft_value", columns.value)]
    with np.errstate(invalid="ignore"):
        checks = [
            ("onset", onset >= 0, onset, "a number of seconds, 0 or more"),
            ("offset", offset <= longest, offset, "seconds"),
            ("offset", offset >= onset, offset, "one not before its onset"),
            *(
                (label, (value >= -ROUNDING) & (value <= 1 + ROUNDING), value, "a number in [0, 1]")
                for label, value in values
            ),
        ]
    for label, good, column, expected in checks:
        if not good.all():
            row = int(np.argmin(good))
            long = f", which {limits.too_long()}" if expected == "seconds" and column[row] > longest else ""
            long = long or (f", before onset {float(onset[row])!r}" if "not before" in expected else "")
            missing = table.lines is not None and np.isnan(column[row])
            found = "missing" if missing else f"{float(column[row])!r}{long}"
            return table.problem(int(rows[row]), f"{label} is {found}; expected {expected}")
    for named in (columns.file, columns.label):
        nul = np.array(["\0" in each for each in ([] if named is None else named.names)], dtype=bool)
        if named is not None and nul.any():
            row = int(rows[np.argmax(nul[named.codes])])
            return table.problem(row, "a filename or event_label holds a NUL character; expected a name")
    return Problem(table.name, "a filename holds a NUL character; expected a name")


@dataclass(frozen=True, slots=True)
class _Table:
    """A table in memory, whichever library holds it.

    Its columns are taken to Arrow one by one: those that play no role may hold anything.

    name: what messages call it. names: of the columns. length: rows. column: returns the n-th column. lines:
    of its rows, where it is a file.
    """

    name: str
    names: tuple[str, ...]
    length: int
    column: Callable[[int], Any]
    lines: Sequence[int] | None = None

    def problem(self, row: int, message: str) -> Problem:
        """Return what is wrong with a row."""
        if self.lines is None:
            return Problem(self.name, f"row {row}: {message}")
        return Problem(self.name, message, self.lines[row])

    def cells(self, position: int) -> Any:  # noqa: ANN401 - pyarrow is untyped
        """Return a column as it is if it holds numbers or texts; else one of nothing, as long as that."""
        try:
            return cells_of(self.column(position))
        except _FAILURES:
            return pa.nulls(self.length, pa.float64())

    def numbers(self, position: int, role: str) -> npt.NDArray[np.float64]:
        """Return a column of numbers, missing ones as NaN; raises InputError naming what is none.

        role: as soft values some words are read that stand for 1 or 0; times are not true or false.
        """
        try:
            array = _plain(self.column(position))
            if role == "soft_value" and _is_text(array.type):
                array = words_as_numbers(array)
            if role in {"onset", "offset"} and pa.types.is_boolean(array.type):
                raise pa.ArrowTypeError(f"it is of type {array.type}")
            if not (_is_number(array.type) or _is_text(array.type) or pa.types.is_null(array.type)):
                raise pa.ArrowTypeError(f"it is of type {array.type}")
            short = pa.types.is_float32(array.type) or pa.types.is_float16(array.type)
            array = array if short or array.type == pa.float64() else array.cast(pa.float64())
        except _FAILURES as error:
            raise self._wrong_cell(position, "number", error) from error
        column = array.to_numpy(zero_copy_only=False)
        return as_written(column) if short else np.asarray(column, dtype=np.float64)

    def texts(self, position: int | None) -> Named | None:
        """Return a column of names, codes -1 where one is missing or blank; None where there is no column.

        Raises InputError naming the first cell that holds no name.
        """
        if position is None:
            return None
        try:
            array = _plain(self.column(position))
            if array.null_count == len(array):
                array = pa.nulls(len(array), pa.string())
            if not (_is_text(array.type) or pa.types.is_integer(array.type)):
                raise pa.ArrowTypeError(f"it is of type {array.type}")
            encoded = array.cast(pa.string()).dictionary_encode()
        except _FAILURES as error:
            raise self._wrong_cell(position, "name", error) from error
        codes = np.asarray(encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int32)
        named = Named.of((name or "" for name in encoded.dictionary.to_pylist()), codes)
        blank = codes < 0
        if "" in named.names:
            blank |= named.codes == named.names.index("")
        return Named(named.names, np.where(blank, np.int32(-1), named.codes))

    def _wrong_cell(self, position: int, what: str, error: Exception) -> InputError:
        """Return the error of a column that does not hold numbers, or names."""
        column = self.names[position]
        expected = "a number" if what == "number" else "text, such as 'car'"
        try:
            cells = self.column(position).to_pylist()
        except _FAILURES as failure:
            cells = list(getattr(failure, "cells", ()))
        for row, cell in enumerate(cells):
            if not _fits(cell, what):
                wrong = f"{column} is {_shown(cell)}: the column does not hold {what}s"
                return InputError(self.problem(row, f"{wrong}; expected {expected}"))
        wrong = f"column {column!r} does not hold {what}s ({one_line(error)})"
        return InputError(Problem(self.name, f"{wrong}; expected {expected}"))


class _MixedError(Exception):
    """A column that Arrow cannot hold, with its cells."""

    def __init__(self, cells: list[Any], reason: Exception) -> None:
        super().__init__(str(reason))
        self.cells = cells


_FAILURES = (pa.ArrowException, TypeError, ValueError, OverflowError, _MixedError)


def _plain(array: Any) -> Any:  # noqa: ANN401
    """Return an array without a dictionary."""
    return array.cast(array.type.value_type) if pa.types.is_dictionary(array.type) else array


def cells_of(array: Any) -> Any:  # noqa: ANN401
    """Return an array as it is if it holds numbers or texts; else one of nothing, as long as that."""
    array = _plain(array)
    if pa.types.is_decimal(array.type):
        return array.cast(pa.float64())
    return array if _is_number(array.type) or _is_text(array.type) else pa.nulls(len(array), pa.float64())


def _is_number(kind: Any) -> bool:  # noqa: ANN401
    types = pa.types
    return bool(
        types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_boolean(kind)
    )


def _is_text(kind: Any) -> bool:  # noqa: ANN401
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or str(kind) == "string_view")


def _fits(cell: object, what: str) -> bool:
    """Return whether a cell is missing, or of the kind that its column should hold."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return True
    if isinstance(cell, str):
        return what == "name" or is_number(cell)
    if isinstance(cell, int):
        return what == "number" and not isinstance(cell, bool) and abs(cell) < 1 << 63
    return what == "number" and isinstance(cell, numbers.Real | np.bool_)


def _table_of(data: Any, name: str) -> _Table:  # noqa: ANN401 - any data frame
    """Return a table of a data frame or a mapping of columns; raises InputError for what is none."""
    if isinstance(data, Mapping):
        return _of_columns({str(key): column for key, column in data.items()}, name)
    if type(data).__module__.partition(".")[0] == "pandas" and not isinstance(data, type):
        return _of_pandas(data, name)
    if isinstance(data, list | tuple) and data and all(isinstance(row, Mapping) for row in data):
        return _of_objects(data, name)
    if isinstance(data, list | tuple):
        message = (
            f"a {type(data).__name__} is not a table; {_EXPECTED}: pandas.DataFrame(rows, columns=[...]) "
            "makes a data frame of rows, numpy.array(segments) an array of segments"
        )
        raise InputError(Problem(name, message))
    try:
        table = data if isinstance(data, pa.Table) else pa.table(data)
    except Exception as error:  # whatever a stranger's object raises when it is asked for columns
        raise InputError(Problem(name, f"{_shown(data)} is not a table; {_EXPECTED}")) from error
    names = tuple(str(column) for column in table.column_names)
    return _Table(name, names, len(table), lambda position: table.column(position).combine_chunks())


def _of_objects(objects: Sequence[Mapping[Any, Any]], name: str) -> _Table:
    """Return a table of rows that name their cells, as those of an event list of dcase_util."""
    rows = [{str(key): cell for key, cell in row.items()} for row in objects]
    columns = dict.fromkeys(key for row in rows for key in row)
    return _of_columns({key: [row.get(key) for row in rows] for key in columns}, name)


def _of_columns(columns: Mapping[str, Any], name: str) -> _Table:
    arrays: list[Any] = []
    for key, column in columns.items():
        # Of a list that mixes them, numpy would make numbers texts.
        array = list(column) if isinstance(column, list | tuple) else np.asarray(column)
        wrong = ""
        if isinstance(column, np.ma.MaskedArray):
            wrong = "is a masked array, whose mask would be lost; expected numpy.ma.filled, or None for what "
            wrong += "is missing"
        elif isinstance(array, np.ndarray) and array.ndim != 1:
            wrong = f"is {_shown(column)}, of {array.ndim} dimensions; expected one value per row"
        elif arrays and len(array) != len(arrays[0]):
            first = f"{next(iter(columns))!r} has {len(arrays[0])}"
            wrong = f"has {counted(len(array), 'row')}, {first}; expected as many"
        if wrong:
            raise InputError(Problem(name, f"column {key!r} {wrong}"))
        arrays.append(array)
    length = len(arrays[0]) if arrays else 0
    return _Table(name, tuple(columns), length, lambda position: _arrow(arrays[position]))


def _of_pandas(data: Any, name: str) -> _Table:  # noqa: ANN401
    if not hasattr(data, "columns") or not hasattr(data, "iloc"):
        raise InputError(Problem(name, f"a pandas {type(data).__name__} is not a table; {_EXPECTED}"))
    try:
        frame = data.reset_index() if any(level is not None for level in data.index.names) else data
    except ValueError as error:
        message = f"its index cannot be a column ({error}); expected frame.reset_index(drop=True)"
        raise InputError(Problem(name, message)) from error
    names = tuple(str(column) for column in frame.columns)
    return _Table(name, names, len(frame), lambda position: _arrow(frame.iloc[:, position]))


def _arrow(column: Any) -> Any:  # noqa: ANN401
    """Return a column as Arrow has it, NaN as missing; raises _MixedError."""
    try:
        array = pa.array(column, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise _MixedError(list(column), error) from error
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _shown(value: object) -> str:
    """Return a value with its type, only its type where it is long."""
    text, kind = repr(value), type(value).__name__
    return f"{text} ({kind})" if len(text) <= _SHOWN and text.isprintable() else f"a value of type {kind}"
