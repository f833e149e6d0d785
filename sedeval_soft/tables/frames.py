"""Rows from data in memory: data frames of any library that speaks Arrow, and mappings of columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from sedeval_soft.arrays import Floats
from sedeval_soft.errors import MAX_PROBLEMS, InputError, Problem, counted
from sedeval_soft.tables import arrow_columns
from sedeval_soft.tables.advice import ROWS, explained
from sedeval_soft.tables.arrays import array_of
from sedeval_soft.tables.arrow_columns import FAILURES, cells_of
from sedeval_soft.tables.columns import (
    BESIDE,
    LISTED,
    TEXTS,
    Layout,
    LayoutError,
    layout_of_header,
)
from sedeval_soft.tables.date_times import SUCH_AS, as_text
from sedeval_soft.tables.event_table import WEAK, EventTable, Origin
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.row_checks import Findings, find_wrong
from sedeval_soft.tables.rows import Columns, Texts
from sedeval_soft.tables.unclear_columns import settled

_EXPECTED = (
    "expected a path, a data frame, a mapping of columns such as {'onset': [...], 'offset': [...], "
    "'event_label': [...]}, an array of shape (n_segments, n_classes), or a mapping of file names to these"
)
_SHOWN = 60
_EXPLAINED = 1000  # rows that are wrong, at the most, whose cells are inspected


def rows_from_data(
    data: object, name: str, limits: Limits = LIMITS, *, layout: Layout | None = None, before: int = 0
) -> EventTable:
    """Return the rows of a data frame or a mapping of columns, long or wide, by the names of its columns.

    A row with a filename and nothing else declares a file without events; an empty row is left out. name: of
    the table in messages. layout: of the columns, if it is known.

    before: the number of rows of the same table before these. Raises InputError, which counts rows from 0, as
    data frames do.
    """
    if isinstance(data, EventTable):
        return data
    table = replace(_table_of(data, name), before=before)
    return _rows_of(table, Origin(name, None, "{} data frame"), limits, layout)


def rows_from_objects(
    objects: Sequence[Mapping[str, Any]], lines: Sequence[int], origin: Origin, limits: Limits
) -> EventTable:
    """Return the rows of objects that name their cells, as above; lines: the line of each, for messages.

    origin: its format has `{}` in the place of `long` or `wide`.
    """
    return _rows_of(replace(_table_of(objects, origin.name), lines=lines), origin, limits)


def _rows_of(table: _Table, origin: Origin, limits: Limits, layout: Layout | None = None) -> EventTable:
    layout = layout or _layout_of(table, limits)
    columns = Columns(layout, {i: table.cells(i, layout) for i, role in enumerate(layout.roles) if role})
    kind = f", {layout.dialect.title}" if layout.dialect else ""
    form = origin.form.format("wide" if layout.wide else "long") + kind + layout.choices
    form = form if layout.timed else f"{WEAK}, {form}"
    origin = replace(
        origin, form=form, ignored=layout.ignored, assumed=layout.assumed, lacking=layout.lacking
    )
    rows = columns.rows(origin, limits)
    if rows is not None:
        return rows
    wrong = columns.labelled(limits.label).wrong(limits)
    numbers = np.flatnonzero(np.logical_or.reduce([*wrong.values()]))[:_EXPLAINED].tolist()
    cells = {
        i: Texts.of([table.text(i, row, column, layout.units.get(i, "s")) for row in numbers])
        for i, column in columns.cells.items()
    }
    found = Findings()
    find_wrong(Columns(layout, cells, lines=numbers), table.name, limits, found)
    found.problems = [table.problem(each.line or 0, each.message) for each in found.problems]
    raise InputError(found.problems[:MAX_PROBLEMS], more=found.counts.total() > MAX_PROBLEMS)


def _layout_of(table: _Table, limits: Limits) -> Layout:
    """Return how a table is laid out, by the names of its columns; raises InputError."""
    try:
        layout = layout_of_header(table.names, limits.columns, (), limits.label, limits.sample_rate)
    except LayoutError as error:
        error = explained(error, table.names, table.begin(), limits.columns, limits.label)
        raise InputError(Problem(table.name, str(error), table.head)) from error
    columns = table.columns
    return settled(table.name, layout, limits, lambda at: [cells_of(columns[i]) for i in at], table.head)


@dataclass(frozen=True, slots=True)
class _Table:
    """A table in memory, of any library.

    Its columns are taken to Arrow one by one: columns without role may be of any type.

    name: of the table in messages. names: of the columns. columns: the containers of their cells. lines: of
    its rows, if it is a file. before: the number of rows before these.
    """

    name: str
    names: tuple[str, ...]
    columns: Sequence[Any]
    lines: Sequence[int] | None = None
    before: int = 0

    def problem(self, row: int, message: str) -> Problem:
        """Return the problem of a row."""
        if self.lines is not None:
            return Problem(self.name, message, self.lines[row])
        return Problem(self.name, f"row {self.before + row}: {message}")

    def text(self, position: int, row: int, column: Texts | Floats, unit: str) -> str:
        """Return the text of a cell; column: the converted cells of its position."""
        text, cells = _text_of(column, row, unit), self.columns[position]
        if text or isinstance(column, Texts) or not isinstance(cells, pa.Array | pa.ChunkedArray):
            return text
        return "nan" if cells[row].is_valid else ""  # Arrow knows NaN from a missing number

    @property
    def head(self) -> int | None:
        """Return the line that has the names of columns, None if it is not a file."""
        return None if self.lines is None else 1

    def begin(self) -> list[list[str]]:
        """Return the cells of the first rows as texts; none of a table of very many columns."""
        columns = self.columns if len(self.columns) <= LISTED else ()
        rows = range(min(ROWS, *map(len, columns))) if columns else ()
        return [[_text_of(cells_of(column[row : row + 1]), 0, "s") for column in columns] for row in rows]

    def cells(self, position: int, layout: Layout) -> Texts | Floats:
        """Return a column as numbers, (n,), missing ones as NaN, or as texts if these have other cells.

        Raises InputError naming the first cell that is of a kind that the column cannot have.
        """
        role, column = layout.roles[position], self.columns[position]
        if role in BESIDE:
            return arrow_columns.names(column, beside=True)
        if role in TEXTS:
            return self._converted(position, "name", "text, such as 'car'", "", arrow_columns.names)
        if layout.units.get(position) == "date":
            expected = f"a date and time such as {SUCH_AS}"
            return self._converted(position, "date", expected, None, arrow_columns.dates)
        convert = partial(arrow_columns.numbers, role=role)
        return self._converted(position, "number", "a number", None, convert)

    def _converted(
        self,
        position: int,
        noun: str,
        expected: str,
        beside: str | None,
        convert: Callable[[Any], Texts | Floats],
    ) -> Texts | Floats:
        """Return a column converted as a whole, or cell by cell."""
        column, title = self.columns[position], self.names[position]
        try:
            return convert(column)
        except MemoryError:
            raise  # as pyarrow's own error is one
        except FAILURES as error:
            failure = error
        cells = cells_of(column)
        if isinstance(cells, Texts):
            return cells  # none of which is repeated
        texts: list[str] = []
        for row, cell in enumerate(column):
            value = cell.as_py() if isinstance(cell, pa.Scalar) else cell
            if isinstance(value, str) or (noun == "number" and type(value) is int):
                texts.append(str(value))
                continue
            try:
                one = convert([beside, value])
            except FAILURES:
                wrong = f"{title} is {_shown(value)}: the column does not hold {noun}s; expected {expected}"
                raise InputError(self.problem(row, wrong)) from failure
            texts.append(_text_of(one, 1, noun))
        return Texts.of(texts)


def _text_of(column: Texts | Floats, row: int, unit: str) -> str:
    """Return how a converted cell is written, empty for a missing number; unit: of numbers."""
    if isinstance(column, Texts):
        return str(column.names[column.codes[row]])
    number = float(column[row])
    return "" if np.isnan(number) else as_text(number) if unit == "date" else repr(number)


def _table_of(data: Any, name: str) -> _Table:  # noqa: ANN401 - any data frame
    """Return a table of a data frame or a mapping of columns; raises InputError for other objects."""
    if isinstance(data, Mapping):
        return _of_columns({str(key): column for key, column in data.items()}, name)
    if isinstance(data, list | tuple) and data and all(isinstance(row, Mapping) for row in data):
        # Rows that name their cells, as in an event list of dcase_util.
        rows = [{str(key): cell for key, cell in row.items()} for row in data]
        keys = dict.fromkeys(key for row in rows for key in row)
        return _of_columns({key: [row.get(key) for row in rows] for key in keys}, name)
    if type(data).__module__.partition(".")[0] == "pandas" and hasattr(data, "columns"):
        return _of_pandas(data, name)
    try:
        table = data if isinstance(data, pa.Table) else pa.table(data)
    except Exception as error:  # a user's object may raise anything when it is asked for columns
        what, more = _shown(data), ""
        if isinstance(data, list | tuple):
            what = f"a {type(data).__name__}"
            more = ": pandas.DataFrame(rows, columns=[...]) or numpy.array(segments) makes one of a list"
        raise InputError(Problem(name, f"{what} is not a table; {_EXPECTED}{more}")) from error
    return _Table(name, tuple(map(str, table.column_names)), table.columns)


def _of_columns(columns: Mapping[str, Any], name: str) -> _Table:
    arrays: list[Any] = []
    for key, column in columns.items():
        # numpy would make numbers texts in a list that mixes them.
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
    names, levels = data.index.names, getattr(data.index, "levels", [data.index])
    texts = any(level.dtype.kind == "O" for level in levels)
    try:
        if texts or any(level is not None for level in names):
            # A nameless column is called as in Parquet. Numbers without one only count rows.
            named = [f"__index_level_{i}__" if level is None else level for i, level in enumerate(names)]
            frame = data.rename_axis(index=named).reset_index()
        else:
            frame = data
    except ValueError as error:
        message = f"its index cannot be a column ({error}); expected frame.reset_index(drop=True)"
        raise InputError(Problem(name, message)) from error
    names = tuple(map(str, frame.columns))
    return _Table(name, names, [frame.iloc[:, i] for i in range(len(names))])


_KINDS = {
    "datetime": "a date and time, {}",
    "date": "a date, {}",
    "timedelta": "a length of time, {}",
    "bytes": "bytes",
    "dict": "a structure",
    "list": "a list",
}
"""Words for values of columns other than texts and numbers, by the type that Python has for them."""


def _shown(value: object) -> str:
    """Return a value with its type, only its type if it is long."""
    text, kind = repr(value), type(value).__name__
    if kind in _KINDS:
        return _KINDS[kind].format(value)
    return f"{text} ({kind})" if len(text) <= _SHOWN and text.isprintable() else f"a value of type {kind}"
