"""Rows from data in memory: data frames of any library that speaks Arrow, and mappings of columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from sedeval_soft.arrays import Floats
from sedeval_soft.errors import InputError, Problem, counted, one_line
from sedeval_soft.memory import check_room
from sedeval_soft.tables.arrays import array_of
from sedeval_soft.tables.assemble import Columns, Named
from sedeval_soft.tables.columns import (
    BESIDE,
    COLUMNS,
    TEXTS,
    TIMES,
    Layout,
    LayoutError,
    by_cells,
    layout_of_header,
    layout_of_labels,
)
from sedeval_soft.tables.event_table import COMMAS, INSTANT, WEAK, EventTable, Origin
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.text import check_row, of_each_value
from sedeval_soft.tables.ticks import as_written
from sedeval_soft.tables.unclear_columns import settled, words_as_numbers

_EXPECTED = (
    "expected a path, a data frame, a mapping of columns such as {'onset': [...], 'offset': [...], "
    "'event_label': [...]}, an array of shape (n_segments, n_classes), or a mapping of file names to these"
)
_SHOWN = 60
_ENDS = ((min, np.nanmin), (max, np.nanmax))
_LABEL = 64  # bytes that a label of a recording takes
T = TypeVar("T")


def rows_from_data(
    data: object, name: str, limits: Limits = LIMITS, *, layout: Layout | None = None, before: int = 0
) -> EventTable:
    """Return the rows of a data frame or a mapping of columns, long or wide, by the names of its columns.

    A row with a filename and nothing else declares a file without events; one with nothing is left out.
    name: what messages call it. layout: of the columns, where it is known. before: rows of the same table
    that stand before these. Raises InputError, which counts rows from 0, as data frames do.
    """
    if isinstance(data, EventTable):
        return data
    table = replace(_table_of(data, name), before=before)
    return _rows_of(table, Origin(name, None, "{} data frame"), limits, layout)


def rows_from_objects(
    objects: Sequence[Mapping[str, Any]], lines: Sequence[int], origin: Origin, limits: Limits
) -> EventTable:
    """Return the rows of objects that name their cells, as above; lines: where each stands, for messages.

    origin: its form has `{}` where `long` or `wide` stands.
    """
    table = replace(_of_objects(objects, origin.name), lines=lines)
    return _rows_of(table, origin, limits)


def _rows_of(table: _Table, origin: Origin, limits: Limits, layout: Layout | None = None) -> EventTable:
    if layout is None:
        try:
            layout = layout_of_header(table.names, limits.columns, label=limits.label)
            layout = table.settled(layout, limits)
        except LayoutError as error:
            labels = layout_of_labels(table.names, limits.columns)
            if labels is not None:
                return _weak_rows(table, origin, limits, table.settled(labels[0], limits), several=labels[1])
            named = by_cells(table.names, table.first_row()) if error.code == "missing-column" else ""
            mend = f", or {named}" if named and COLUMNS not in str(error) else ""
            raise InputError(Problem(table.name, f"{error}{mend}", table.head)) from error
    numbers = {i: table.numbers(i, layout) for i in layout.positions()}
    texts = {role: table.texts(i, role) for i, role in enumerate(layout.roles) if role in TEXTS}
    kind = f", {layout.dialect.title}" if layout.dialect else ""
    form = origin.form.format("wide" if layout.wide else "long") + kind + layout.choices
    columns = Columns(layout, texts, numbers)
    origin = replace(origin, form=form, ignored=layout.ignored, assumed=layout.assumed)
    rows = columns.rows(origin, limits)
    if rows is not None:
        return rows
    row = columns.first_unsound(limits) or 0
    cells = {
        i: "" if np.isnan(column[row]) else _written(float(column[row]), layout.units.get(i, ""))
        for i, column in numbers.items()
    }
    for role, names in texts.items():
        cells[layout.roles.index(role)] = names.names[names.codes[row]]
    fields = [cells.get(i, "") for i in range(len(layout.names))]
    problems, _ = check_row(table.name, layout, 0, fields, limits)
    message = problems[0].message
    if problems[0].code == "value-out-of-range":
        values = [numbers[i] for i, role in enumerate(layout.roles) if role in {"soft_value", "class"}]
        mend = of_each_value(*(float(end(each(v) for v in values)) for end, each in _ENDS))
        message += f", or {mend}" if mend else ""
    raise InputError(table.problem(row, message))


def _weak_rows(table: _Table, origin: Origin, limits: Limits, layout: Layout, *, several: bool) -> EventTable:
    """Return a row for each label of a recording, without times; several: a cell may be a list of them."""
    texts = {role: table.texts(i, role) for i, role in enumerate(layout.roles) if role in TEXTS}
    file, label = texts["filename"], texts["event_label"]
    lists = [name.split(",") if several else [name] for name in label.names]
    lists = [[name for name in names if name.strip()] for names in lists]
    n_labels = np.array([len(names) for names in lists], dtype=np.int64)
    n_of_row = n_labels[label.codes]
    n_rows = int(n_of_row.sum())
    limits.check(table.name, "rows", n_rows, "labels")
    check_room(_LABEL * n_rows, f"{table.name}: to hold {n_rows} labels", "Expected batches of files")
    row = np.repeat(np.arange(len(n_of_row)), n_of_row)
    within = np.arange(n_rows) - np.repeat(np.cumsum(n_of_row) - n_of_row, n_of_row)
    codes = (np.cumsum(n_labels) - n_labels)[label.codes][row] + within
    names = Named.of(chain.from_iterable(lists), codes.astype(np.int32))
    silent = dict.fromkeys(file.names[code] for code in file.codes[n_of_row == 0].tolist())
    timed = replace(
        layout, names=(*layout.names, "onset", "offset"), roles=(*layout.roles, "onset", "offset")
    )
    numbers = {i: table.numbers(i, layout)[row] for i in layout.positions()}
    numbers |= {len(layout.names): np.zeros(n_rows), len(layout.names) + 1: np.full(n_rows, INSTANT)}
    texts = {"filename": Named(file.names, file.codes[row]), "event_label": names}
    form = f"{WEAK}, {origin.form.format('long')}{layout.choices}"
    commas = not several and any("," in name for name in label.names)
    assumed = (*layout.assumed, *[COMMAS] * commas)
    origin = replace(origin, form=form, ignored=layout.ignored, assumed=assumed, timed=False)
    rows = Columns(timed, texts, numbers, [name for name in silent if name]).rows(origin, limits)
    if rows is None:
        expected = "expected a filename in each row, and values in [0, 1] if there are any"
        raise InputError(Problem(table.name, f"labels of whole recordings cannot be read; {expected}"))
    return rows


@dataclass(frozen=True, slots=True)
class _Table:
    """A table in memory, whichever library holds it.

    Its columns are taken to Arrow one by one: those that play no role may hold anything.

    name: what messages call it. names: of the columns. columns: whatever holds their cells. lines: of its
    rows, where it is a file. before: rows that stand before these.
    """

    name: str
    names: tuple[str, ...]
    columns: Sequence[Any]
    lines: Sequence[int] | None = None
    before: int = 0

    def problem(self, row: int, message: str) -> Problem:
        """Return what is wrong with a row."""
        if self.lines is not None:
            return Problem(self.name, message, self.lines[row])
        return Problem(self.name, f"row {self.before + row}: {message}")

    @property
    def head(self) -> int | None:
        """Return the line that has the names of columns, None where it is not a file."""
        return None if self.lines is None else 1

    def first_row(self) -> list[str]:
        """Return the cells of the first row as texts, those that are no numbers or texts empty."""
        cells = [cells_of(column[:1]) for column in self.columns]
        return [str(cell[0].as_py() if len(cell) and cell[0].is_valid else "") for cell in cells]

    def settled(self, layout: Layout, limits: Limits) -> Layout:
        """Return the layout with what is unclear in it settled; raises InputError where only the user can."""
        return settled(
            self.name, layout, limits, lambda at: [[cells_of(self.columns[i]) for i in at]], self.head
        )

    def numbers(self, position: int, layout: Layout) -> Floats:
        """Return a column of numbers, missing ones as NaN; raises InputError naming what is none."""
        if layout.units.get(position) == "date":
            from sedeval_soft.tables.date_times import SUCH_AS

            return self._converted(position, "date", f"a date and time such as {SUCH_AS}", None, _dates)
        role = layout.roles[position] or ""
        return self._converted(position, "number", "a number", None, lambda column: _numbers(column, role))

    def texts(self, position: int, role: str) -> Named:
        """Return a column of names; raises InputError naming what is none."""
        if role in BESIDE:
            return _names(self.columns[position], beside=True)
        return self._converted(position, "name", "text, such as 'car'", "", _names)

    def _converted(
        self, position: int, noun: str, expected: str, beside: str | None, convert: Callable[[Any], T]
    ) -> T:
        """Return a column converted; raises InputError naming the first cell that cannot be."""
        column, title = self.columns[position], self.names[position]
        try:
            return convert(column)
        except MemoryError:
            raise  # which pyarrow's own is, too
        except _FAILURES as failure:
            error = failure
        for row, cell in self._suspects(column, convert):
            try:
                convert([beside, cell])
            except _FAILURES:
                wrong = f"{title} is {_shown(cell)}: the column does not hold {noun}s"
                raise InputError(self.problem(row, f"{wrong}; expected {expected}")) from error
        wrong = f"column {title!r} does not hold {noun}s ({one_line(error)})"
        raise InputError(Problem(self.name, f"{wrong}; expected {expected}")) from error

    def _suspects(self, column: Any, convert: Callable[[Any], T]) -> Iterator[tuple[int, Any]]:  # noqa: ANN401
        """Yield rows with their cells: first the last of the shortest begin that cannot be converted."""
        cells = (lambda at: column[at].as_py()) if isinstance(column, pa.ChunkedArray) else None
        low, high = 0, len(column)
        while cells and high - low > 1:
            middle = (low + high) // 2
            try:
                convert(column[low:middle])
                low = middle
            except _FAILURES:
                high = middle
        if cells:
            yield low, cells(low)
            yield from ((row, cells(row)) for row in range(len(column)))
        else:
            yield from enumerate(column)


_FAILURES = (pa.ArrowException, TypeError, ValueError, OverflowError)


def _array(column: Any) -> Any:  # noqa: ANN401
    """Return a column as Arrow has it, NaN as missing."""
    array = column if isinstance(column, pa.ChunkedArray) else pa.array(column, from_pandas=True)
    if not isinstance(array, pa.ChunkedArray):
        return array
    return (array.unify_dictionaries() if pa.types.is_dictionary(array.type) else array).combine_chunks()


def _distinct(array: Any) -> tuple[Any, Any]:  # noqa: ANN401
    """Return what a dictionary's cells are, in the order in which they appear, and which each is.

    A cell that is missing is null: it is one of what they are, too. At its full length no cell is repeated.
    """
    codes = array.indices.cast(pa.int64()).dictionary_encode(null_encoding="encode")
    return array.dictionary.take(codes.dictionary), codes.indices


def cells_of(column: Any) -> Any:  # noqa: ANN401
    """Return a column as Arrow has it if it holds numbers or texts; else one of nothing, as long as that.

    Of a column with a dictionary each different cell once.
    """
    with suppress(*_FAILURES):
        array = _array(column)
        if pa.types.is_dictionary(array.type):
            array, _ = _distinct(array)
        if pa.types.is_decimal(array.type):
            return array.cast(pa.float64())
        if _is_number(array.type) or _is_text(array.type):
            return array
    return pa.nulls(len(column), pa.float64())


def _numbers(column: Any, role: str) -> Floats:  # noqa: ANN401
    """Return a column of numbers, missing ones as NaN; raises one of `_FAILURES` where it holds others.

    role: as soft values some words are read that stand for 1 or 0; times are not true or false.
    """
    array = _array(column)
    if pa.types.is_dictionary(array.type):
        values, codes = _distinct(array)
        numbers: Floats = _numbers(values, role)[codes.to_numpy()]
        return numbers
    if role == "soft_value" and _is_text(array.type):
        array = words_as_numbers(array)
    sound = _is_number(array.type) or _is_text(array.type) or pa.types.is_null(array.type)
    if not sound or (role in TIMES and pa.types.is_boolean(array.type)):
        raise pa.ArrowTypeError(f"it is of type {array.type}")
    if array.type not in {pa.float16(), pa.float32()}:
        array = array.cast(pa.float64())
    numbers = array.to_numpy(zero_copy_only=False)
    return numbers if numbers.dtype == np.float64 else as_written(numbers)


def _names(column: Any, *, beside: bool = False) -> Named:  # noqa: ANN401
    """Return a column of names, empty where one is missing or blank; raises one of `_FAILURES`.

    beside: of names that may be any numbers, too, and are none where the column holds something else.
    """
    array = _array(column)
    if beside and _is_number(array.type):
        array = array.cast(pa.string())
    if array.null_count == len(array) or (beside and not _is_text(_type_of(array))):
        array = pa.nulls(len(array), pa.string())
    coded = pa.types.is_dictionary(array.type)
    values, codes = _distinct(array) if coded else (array, None)
    if not (_is_text(values.type) or pa.types.is_integer(values.type)):
        raise pa.ArrowTypeError(f"it is of type {values.type}")
    texts = values.cast(pa.string()).fill_null("")
    if codes is None:
        encoded = texts.dictionary_encode()
        texts, codes = encoded.dictionary, encoded.indices
    return Named.of(texts.to_pylist(), codes.to_numpy())


def _type_of(array: Any) -> Any:  # noqa: ANN401
    """Return the type of the cells of an array, which may be coded by a dictionary."""
    return array.type.value_type if pa.types.is_dictionary(array.type) else array.type


def _dates(column: Any) -> Floats:  # noqa: ANN401
    """Return dates and times of day as ticks since 1970, missing ones as NaN; raises one of `_FAILURES`."""
    array = _array(column)
    if pa.types.is_timestamp(array.type):
        ticks = array.cast(pa.timestamp("us", array.type.tz), safe=False).cast(pa.int64())
        return np.asarray(ticks.cast(pa.float64()).to_numpy(zero_copy_only=False))
    return _names(array).as_dates()


def _written(number: float, unit: str) -> str:
    """Return a number as text, ticks since 1970 as a date and time of day."""
    if unit != "date":
        return repr(number)
    from sedeval_soft.tables.date_times import as_text

    return as_text(number)


def _is_number(kind: Any) -> bool:  # noqa: ANN401
    kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean)
    return any(is_of(kind) for is_of in kinds)


def _is_text(kind: Any) -> bool:  # noqa: ANN401
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or str(kind) == "string_view")


def _table_of(data: Any, name: str) -> _Table:  # noqa: ANN401 - any data frame
    """Return a table of a data frame or a mapping of columns; raises InputError for what is none."""
    if isinstance(data, Mapping):
        return _of_columns({str(key): column for key, column in data.items()}, name)
    if isinstance(data, list | tuple) and data and all(isinstance(row, Mapping) for row in data):
        return _of_objects(data, name)
    if type(data).__module__.partition(".")[0] == "pandas" and hasattr(data, "columns"):
        return _of_pandas(data, name)
    try:
        table = data if isinstance(data, pa.Table) else pa.table(data)
    except Exception as error:  # whatever a stranger's object raises when it is asked for columns
        what, more = _shown(data), ""
        if isinstance(data, list | tuple):
            what = f"a {type(data).__name__}"
            more = ": pandas.DataFrame(rows, columns=[...]) or numpy.array(segments) makes one of a list"
        raise InputError(Problem(name, f"{what} is not a table; {_EXPECTED}{more}")) from error
    names = tuple(str(column) for column in table.column_names)
    return _Table(name, names, table.columns)


def _of_objects(objects: Sequence[Mapping[Any, Any]], name: str) -> _Table:
    """Return a table of rows that name their cells, as those of an event list of dcase_util."""
    rows = [{str(key): cell for key, cell in row.items()} for row in objects]
    columns = dict.fromkeys(key for row in rows for key in row)
    return _of_columns({key: [row.get(key) for row in rows] for key in columns}, name)


def _of_columns(columns: Mapping[str, Any], name: str) -> _Table:
    arrays: list[Any] = []
    for key, column in columns.items():
        # Of a list that mixes them, numpy would make numbers texts.
        array = list(column) if isinstance(column, list | tuple) else array_of(column, f"{name}: {key!r}")
        array = np.asarray(column) if array is None else array
        wrong = ""
        if isinstance(column, np.ma.MaskedArray):
            wrong = "is a masked array, whose mask would be lost; expected numpy.ma.filled, or None for what "
            wrong += "is missing"
        elif isinstance(array, np.ndarray) and array.ndim != 1:
            wrong = f"is {_shown(column)}, of {array.ndim} dimensions; expected one value per row"
        elif arrays and len(array) != len(arrays[0]):
            first = f"{next(iter(columns))!r} has {len(arrays[0])}"
            wrong = f"has {counted(len(array), 'row')}, {first}; expected the same number"
        if wrong:
            raise InputError(Problem(name, f"column {key!r} {wrong}"))
        arrays.append(array)
    return _Table(name, tuple(columns), arrays)


def _of_pandas(data: Any, name: str) -> _Table:  # noqa: ANN401
    try:
        frame = data.reset_index() if any(level is not None for level in data.index.names) else data
    except ValueError as error:
        message = f"its index cannot be a column ({error}); expected frame.reset_index(drop=True)"
        raise InputError(Problem(name, message)) from error
    names = tuple(str(column) for column in frame.columns)
    return _Table(name, names, [frame.iloc[:, i] for i in range(len(names))])


def _shown(value: object) -> str:
    """Return a value with its type, only its type where it is long."""
    text, kind = repr(value), type(value).__name__
    return f"{text} ({kind})" if len(text) <= _SHOWN and text.isprintable() else f"a value of type {kind}"
