"""Rows from data in memory: data frames of any library that speaks Arrow, and mappings of columns."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from sedeval_soft.arrays import Bools, Floats
from sedeval_soft.errors import InputError, Problem, counted, one_line
from sedeval_soft.sorting import distinct
from sedeval_soft.tables.assemble import ROUNDING, Columns, Named
from sedeval_soft.tables.columns import RAVEN, Layout, LayoutError, is_number, layout_of_header
from sedeval_soft.tables.event_table import EventTable, Origin
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.text import check_row
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
    # A row of nothing but a file name declares that file; what stands in a column that is read past may be
    # all that a nameless row holds.
    blank = np.logical_and.reduce([np.isnan(column) for column in numbers.values()])
    blank &= True if label is None else _nameless(label)
    blank &= not layout.ignored if file is None else ~_nameless(file) | (not layout.ignored)
    declared = [] if file is None else [file.names[code] for code in distinct(file.codes[blank]).tolist()]
    if blank.any():
        numbers = {i: column[~blank] for i, column in numbers.items()}
        file, label = (None if named is None else named.take(~blank) for named in (file, label))
    form = origin.form.format("wide" if layout.wide else "long") + layout.choices
    origin = replace(origin, form=form, ignored=layout.ignored)
    events = Columns.of(layout, file, label, numbers, list(filter(None, declared))).rows(origin, limits)
    if events is not None:
        return events
    fields, row = _first_unsound(layout, numbers, file, label, limits)
    if not fields:
        raise InputError(Problem(table.name, "a filename holds a NUL character; expected a name"))
    problems, _ = check_row(table.name, layout, 0, fields, limits)
    raise InputError(table.problem(int(np.flatnonzero(~blank)[row]), problems[0].message))


def _nameless(column: Named) -> Bools:
    return np.array([not name for name in column.names], dtype=bool)[column.codes]


def _first_unsound(
    layout: Layout, numbers: Mapping[int, Floats], file: Named | None, label: Named | None, limits: Limits
) -> tuple[list[str], int]:
    """Return the fields and the number of the first row that cannot be scored, no fields where all can."""
    onset, offset = (numbers[layout.roles.index(role)] for role in ("onset", "offset"))
    sound = onset <= offset
    for i, column in numbers.items():
        time = layout.roles[i] in {"onset", "offset"}
        low, high = (0, limits.duration) if time else (-ROUNDING, 1 + ROUNDING)
        sound &= (column >= low) & (column <= high)
    for named in (file, label):
        if named is not None:
            sound &= np.array([bool(name) and "\0" not in name for name in named.names])[named.codes]
    if sound.all():
        return [], 0
    row = int(np.argmin(sound))
    texts = {i: "" if np.isnan(column[row]) else repr(float(column[row])) for i, column in numbers.items()}
    for role, named in zip(_NAMES, (file, label), strict=True):
        if named is not None:
            texts[layout.roles.index(role)] = named.names[named.codes[row]]
    return [texts.get(i, "") for i in range(len(layout.names))], row


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
        line = None if self.lines is None else self.lines[row]
        return Problem(self.name, f"row {row}: {message}" if line is None else message, line)

    def array(self, position: int) -> Any:  # noqa: ANN401 - pyarrow is untyped
        """Return a column as Arrow has it, NaN as missing."""
        column = self.column(position)
        array = column if isinstance(column, pa.ChunkedArray) else pa.array(column, from_pandas=True)
        return _plain(array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array)

    def cells(self, position: int) -> Any:  # noqa: ANN401
        """Return a column as it is if it holds numbers or texts; else one of nothing, as long as that."""
        try:
            return cells_of(self.array(position))
        except _FAILURES:
            return pa.nulls(self.length, pa.float64())

    def numbers(self, position: int, role: str) -> Floats:
        """Return a column of numbers, missing ones as NaN; raises InputError naming what is none.

        role: as soft values some words are read that stand for 1 or 0; times are not true or false.
        """
        try:
            array = self.array(position)
            if role == "soft_value" and _is_text(array.type):
                array = words_as_numbers(array)
            sound = _is_number(array.type) or _is_text(array.type) or pa.types.is_null(array.type)
            if not sound or (role in {"onset", "offset"} and pa.types.is_boolean(array.type)):
                raise pa.ArrowTypeError(f"it is of type {array.type}")
            if array.type not in {pa.float16(), pa.float32()}:
                array = array.cast(pa.float64())
        except _FAILURES as error:
            raise self._wrong_cell(position, "number", error) from error
        column = array.to_numpy(zero_copy_only=False)
        return column if column.dtype == np.float64 else as_written(column)

    def texts(self, position: int | None) -> Named | None:
        """Return a column of names, empty where one is missing or blank; None where there is no column.

        Raises InputError naming the first cell that holds no name.
        """
        if position is None:
            return None
        try:
            array = self.array(position)
            if array.null_count == len(array):
                array = pa.nulls(len(array), pa.string())
            if not (_is_text(array.type) or pa.types.is_integer(array.type)):
                raise pa.ArrowTypeError(f"it is of type {array.type}")
            encoded = array.cast(pa.string()).fill_null("").dictionary_encode()
        except _FAILURES as error:
            raise self._wrong_cell(position, "name", error) from error
        return Named.of(encoded.dictionary.to_pylist(), encoded.indices.to_numpy())

    def _wrong_cell(self, position: int, what: str, error: Exception) -> InputError:
        """Return the error of a column that does not hold numbers, or names."""
        column, title = self.column(position), self.names[position]
        expected = "a number" if what == "number" else "text, such as 'car'"
        cells = column.to_pylist() if isinstance(column, pa.ChunkedArray) else list(column)
        for row, cell in enumerate(cells):
            if not _fits(cell, what):
                wrong = f"{title} is {_shown(cell)}: the column does not hold {what}s"
                return InputError(self.problem(row, f"{wrong}; expected {expected}"))
        wrong = f"column {title!r} does not hold {what}s ({one_line(error)})"
        return InputError(Problem(self.name, f"{wrong}; expected {expected}"))


_FAILURES = (pa.ArrowException, TypeError, ValueError, OverflowError)


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
    return any(
        is_of(kind) for is_of in (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
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
    return _Table(name, names, len(table), table.column)


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
    return _Table(name, tuple(columns), length, arrays.__getitem__)


def _of_pandas(data: Any, name: str) -> _Table:  # noqa: ANN401
    if not hasattr(data, "columns") or not hasattr(data, "iloc"):
        raise InputError(Problem(name, f"a pandas {type(data).__name__} is not a table; {_EXPECTED}"))
    try:
        frame = data.reset_index() if any(level is not None for level in data.index.names) else data
    except ValueError as error:
        message = f"its index cannot be a column ({error}); expected frame.reset_index(drop=True)"
        raise InputError(Problem(name, message)) from error
    names = tuple(str(column) for column in frame.columns)
    return _Table(name, names, len(frame), lambda position: frame.iloc[:, position])


def _shown(value: object) -> str:
    """Return a value with its type, only its type where it is long."""
    text, kind = repr(value), type(value).__name__
    return f"{text} ({kind})" if len(text) <= _SHOWN and text.isprintable() else f"a value of type {kind}"
