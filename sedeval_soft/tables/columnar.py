"""Tables of columns: Arrow and Parquet, data frames of any library, mappings of columns.

- Columns of Arrow, of any type, become the numbers, names and dates that columns of tables have; other cells
  raise one of `FAILURES`. Numbers are taken from the buffers of arrays: pyarrow's own conversion to numpy
  imports pandas first.
- `parsed_columns` reads large tables of text, which pyarrow parses at once.
- A few bytes of Parquet and Arrow may expand to gigabytes. The footer of Parquet has the sizes of its
  columns: the reader checks these against the limits before it decodes them, and each batch of either format
  as it comes. If a footer is false, or a batch of Arrow is packed, the memory of the process bounds them: a
  board gives each submission a process of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from typing import Any

import numpy as np
import pyarrow as pa

from sedeval_soft.arrays import Array, Floats, processors
from sedeval_soft.errors import InputError, Problem, counted, one_line
from sedeval_soft.memory import check_room
from sedeval_soft.tables.arrays import array_of
from sedeval_soft.tables.columns import (
    BESIDE,
    LISTED,
    PLAIN,
    PRESENT,
    TEXTS,
    TIMES,
    Layout,
    LayoutError,
    layout_of_header,
    normal,
)
from sedeval_soft.tables.date_times import SUCH_AS
from sedeval_soft.tables.event_table import WEAK, EventTable, Origin
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.lines import behind
from sedeval_soft.tables.rows import Columns, Findings, Texts, rows_of_columns, text_of
from sedeval_soft.tables.source import SPARED, Source
from sedeval_soft.tables.ticks import as_written
from sedeval_soft.tables.unclear_columns import settled

FAILURES = (pa.ArrowException, TypeError, ValueError, OverflowError)


def is_number(kind: Any) -> bool:  # noqa: ANN401 - pyarrow is untyped
    """Return whether a type is of numbers, truth values included."""
    kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean)
    return any(is_of(kind) for is_of in kinds)


def is_text(kind: Any) -> bool:  # noqa: ANN401
    """Return whether a type is of texts."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or str(kind) == "string_view")


def buffer_of(array: Any, kind: type[np.generic] | str) -> Array:  # noqa: ANN401
    """Return the numbers of an array of Arrow as they are in memory; missing ones are arbitrary."""
    return np.frombuffer(array.buffers()[1] or b"", dtype=kind)[array.offset :][: len(array)]


def _array(column: Any) -> Any:  # noqa: ANN401
    """Return a column as Arrow has it, NaN as missing."""
    is_arrow = isinstance(column, pa.ChunkedArray | pa.Array)
    array = column if is_arrow else pa.array(column, from_pandas=True)
    if not isinstance(array, pa.ChunkedArray):
        return array
    if array.num_chunks == 1:
        return array.chunk(0)
    return (array.unify_dictionaries() if pa.types.is_dictionary(array.type) else array).combine_chunks()


def _distinct(array: Any) -> tuple[Any, Array]:  # noqa: ANN401
    """Return the values of a dictionary's cells, in order of first appearance, and the index of each cell.

    A missing cell is null: null is one of the values. At its full length no cell is repeated.
    """
    codes = array.indices.cast(pa.int64()).dictionary_encode(null_encoding="encode")
    return array.dictionary.take(codes.dictionary), buffer_of(codes.indices, np.int32)


def cells_of(column: Any) -> Texts | Floats:  # noqa: ANN401
    """Return the cells of a column as numbers, or as texts; NaN for a column of other types."""
    with suppress(*FAILURES):
        array = _array(column)
        kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
        return as_names(array) if is_text(kind) else as_numbers(array, None)
    return np.full(len(column), np.nan)


def as_numbers(column: Any, role: str | None) -> Floats:  # noqa: ANN401
    """Return a column of numbers, missing ones as NaN.

    role: times are not true or false. Texts, which may be words for 1 or 0, are read as they are in tables.
    """
    array = _array(column)
    if pa.types.is_dictionary(array.type):
        values, codes = _distinct(array)
        return as_numbers(values, role)[codes]
    sound = is_number(array.type) or pa.types.is_null(array.type)
    if not sound or (role in TIMES and pa.types.is_boolean(array.type)):
        raise pa.ArrowTypeError(f"it is of type {array.type}")
    if array.type not in {pa.float16(), pa.float32(), pa.float64()}:
        # Imports pyarrow.compute. Integers that are rounded here are too large for times and values.
        array = array.cast(pa.float64(), safe=False)
    kind = array.type.to_pandas_dtype()
    found = buffer_of(array, kind)
    if array.null_count:  # `fill_null` imports pyarrow.compute, which takes longer than reading small tables
        bits = np.frombuffer(array.buffers()[0], dtype=np.uint8)
        present = np.unpackbits(bits, bitorder="little")[array.offset :][: len(array)]
        found = np.where(present, found, np.array(np.nan, dtype=kind))
    return found if found.dtype == np.float64 else as_written(found)


def as_names(column: Any, *, beside: bool = False) -> Texts:  # noqa: ANN401
    """Return a column of names, empty for a name that is missing or blank.

    beside: the names may be any numbers as well, and a column of another type has no names.
    """
    array = _array(column)
    if beside and is_number(array.type):
        array = array.cast(pa.string())
    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    if array.null_count == len(array) or (beside and not is_text(kind)):
        array, kind = pa.nulls(len(array), pa.string()), pa.string()
    if not (is_text(kind) or pa.types.is_integer(kind)):
        raise pa.ArrowTypeError(f"it is of type {kind}")
    if pa.types.is_dictionary(array.type):
        texts, codes = _distinct(array)
    else:
        encoded = array.cast(pa.string()).dictionary_encode(null_encoding="encode")
        texts, codes = encoded.dictionary, buffer_of(encoded.indices, np.int32)
    return Texts(tuple(text or "" for text in texts.cast(pa.string()).to_pylist()), codes)


def as_dates(column: Any) -> Texts | Floats:  # noqa: ANN401
    """Return dates and times of day as ticks since 1970, missing ones as NaN; or as texts."""
    array = _array(column)
    if not pa.types.is_timestamp(array.type):
        return as_names(array)
    ticks = array.cast(pa.timestamp("us", array.type.tz), safe=False).cast(pa.int64())
    return as_numbers(ticks.cast(pa.float64()), None)


def text_bytes(column: Any) -> tuple[int, int]:  # noqa: ANN401 - pyarrow is untyped
    """Return the bytes of all texts of a column of Arrow together, and of the longest; 0 for other columns.

    The texts of a dictionary count once each.
    """
    column = column.dictionary if pa.types.is_dictionary(column.type) else column
    kind = column.type
    if str(kind) in {"string_view", "binary_view"}:
        views = np.frombuffer(column.buffers()[1] or b"", dtype="<i4").reshape(-1, 4)
        lengths = views[column.offset :][: len(column), 0]
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
        width = "<i8" if pa.types.is_large_string(kind) else "<i4"
        offsets = np.frombuffer(column.buffers()[1] or b"", dtype=width)
        lengths = np.diff(offsets[column.offset :][: len(column) + 1])
    else:
        return 0, 0
    return int(lengths.sum(dtype=np.int64)), int(lengths.max(initial=0))


_BLOCK = 1 << 22  # bytes of lines that pyarrow takes at once
_NAMES = pa.dictionary(pa.int32(), pa.string())


def parsed_columns(source: Source, layout: Layout, limits: Limits) -> Columns | None:
    """Return the columns of a table that play a role; None if the table must be read exactly.

    Raises InputError for a table of more files or classes than limits allow.
    """
    import pyarrow.csv as pv

    roles = {i: role for i, role in enumerate(layout.roles) if role is not None}
    words = {i for i, role in roles.items() if role == "soft_value" and normal(layout.names[i]) == PRESENT}
    as_text = [i for i, role in roles.items() if role in TEXTS or i in words or i in layout.dates()]
    types = {str(i): _NAMES if i in as_text else pa.float64() for i in roles}
    lines = pa.py_buffer(source.data).slice(behind(source.data, layout.skip))
    all_names = [str(i) for i in range(len(layout.names))]
    options = (
        pv.ReadOptions(column_names=all_names, block_size=_BLOCK, use_threads=processors() > 1),
        pv.ParseOptions(delimiter=layout.delimiter),
        pv.ConvertOptions(
            column_types=types, include_columns=[*types], null_values=[""], strings_can_be_null=False
        ),
    )
    try:
        table = pv.read_csv(pa.BufferReader(lines), *options)
    except pa.ArrowInvalid:
        return None
    n_rows, parsed = len(table), dict(zip(roles, table.columns, strict=True))
    del table  # columns are let go of one by one
    cells: dict[int, Texts | Floats] = {}
    for i in as_text:
        column = parsed.pop(i).unify_dictionaries().combine_chunks()
        limit = "files" if roles[i] == "filename" else "classes"
        if roles[i] in {"filename", "event_label"} and not layout.lists:
            # Refused before they become texts of ours; one may be the nothing of blank lines.
            limits.check(source.name, limit, len(column.dictionary) - 1, f"{limit} or more")
        cells[i] = Texts(tuple(column.dictionary.to_pylist()), buffer_of(column.indices, np.int32))
    # Columns of classes are rows of one array: so segments are counted if each row is one.
    numeric = sorted(parsed, key=lambda i: roles[i] == "class")
    n_others = sum(roles[i] != "class" for i in numeric)
    blocks = [np.empty((n_others, n_rows)), np.empty((len(numeric) - n_others, n_rows))]
    for i, numbers_of in zip(numeric, chain(*blocks), strict=True):
        column = parsed.pop(i)
        np.concatenate([as_numbers(chunk, roles[i]) for chunk in column.chunks], out=numbers_of)
        if np.isnan(numbers_of.min()) and np.isnan(numbers_of).sum() > column.null_count:
            return None  # one is the text NaN
    for block in blocks:
        block.setflags(write=False)
    cells |= zip(numeric, chain(*blocks), strict=True)
    return Columns(layout, cells)


_EXPECTED = (
    "expected a path, a data frame, a mapping of columns such as {'onset': [...], 'offset': [...], "
    "'event_label': [...]}, an array of shape (n_segments, n_classes), or a mapping of file names to these"
)
_SHOWN = 60


def rows_from_data(data: object, name: str, limits: Limits = LIMITS) -> EventTable:
    """Return the rows of a data frame or a mapping of columns, long or wide, by the names of its columns.

    A row with a filename and nothing else declares a file without events; an empty row is left out. name: of
    the table in messages. Raises InputError, which counts rows from 0, as data frames do.
    """
    if isinstance(data, EventTable):
        return data
    return _rows_of(_table_of(data, name), Origin(name, None, "{} data frame"), limits)


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
    columns = replace(columns, lines=range(len(columns)))
    try:
        return rows_of_columns(table.name, columns, Findings(), origin, limits)
    except InputError as error:
        problems = [p if p.line is None else table.problem(p.line, p.message) for p in error.problems]
        raise InputError(problems, error.more) from error


def _layout_of(table: _Table, limits: Limits) -> Layout:
    """Return how a table is laid out, by the names of its columns; raises InputError."""
    head = None if table.lines is None else 1
    try:
        layout = layout_of_header(table.names, limits.columns, (), limits.label, limits.sample_rate)
    except LayoutError as error:
        from sedeval_soft.tables.advice import ROWS, explained

        error = explained(error, table.names, table.begin(ROWS), limits.columns, limits.label)
        raise InputError(Problem(table.name, str(error), head)) from error
    return settled(table.name, layout, limits, lambda at: [cells_of(table.columns[i]) for i in at], head)


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

    def begin(self, most: int) -> list[list[str]]:
        """Return the cells of the first rows as texts; none of a table of very many columns."""
        columns = self.columns if len(self.columns) <= LISTED else ()
        rows = range(min(most, *map(len, columns))) if columns else ()
        return [[text_of(cells_of(column[row : row + 1]), 0) for column in columns] for row in rows]

    def cells(self, position: int, layout: Layout) -> Texts | Floats:
        """Return a column as numbers, (n,), missing ones as NaN, or as texts if these have other cells.

        Raises InputError naming the first cell that is of a kind that the column cannot have.
        """
        role, column = layout.roles[position], self.columns[position]
        if role in BESIDE:
            return as_names(column, beside=True)
        if role in TEXTS:
            return self._converted(position, "name", "text, such as 'car'", as_names)
        if layout.units.get(position) == "date":
            return self._converted(position, "date", f"a date and time such as {SUCH_AS}", as_dates)
        return self._converted(position, "number", "a number", partial(as_numbers, role=role))

    def _converted(
        self, position: int, noun: str, expected: str, convert: Callable[[Any], Texts | Floats]
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
                one = convert(["" if noun == "name" else None, value])
            except FAILURES:
                wrong = f"{title} is {_shown(value)}: the column does not hold {noun}s; expected {expected}"
                raise InputError(self.problem(row, wrong)) from failure
            texts.append(text_of(one, 1, noun))
        return Texts.of(texts)


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


FREE = 1 << 27
"""Bytes in memory to which the ratio does not matter: long columns of zeros are a few bytes in a file."""

_ROWS, _AT_ONCE, _CELL = 1 << 18, 1 << 26, 16
"""Rows and bytes of Parquet in a batch at most; bytes that a cell takes: as it is read, and as a number."""

_CHUNK = 1 << 12
"""Bytes as which a chunk of a column counts at least: to look at very many takes time."""

_CODED = frozenset({"PLAIN", "PLAIN_DICTIONARY", "RLE_DICTIONARY", "RLE", "BIT_PACKED"})
"""Encodings of texts, and of the levels beside them, that pyarrow can read as codes into a dictionary."""

_MEND = "Expected less data, or data in several parts"

_TITLES = {"parquet": "Parquet", "arrow": "Arrow file", "arrow-stream": "Arrow stream"}
"""Titles of formats in messages."""

_FAILURES = (*FAILURES, OSError, KeyError, IndexError, NotImplementedError)


def read_columnar(source: Source, limits: Limits, form: str) -> EventTable | None:
    """Read a table of columns with the names of columns in tables of text."""
    return next(read_batches(source, limits, form, 0)) if len(source.data) else None


def read_batches(source: Source, limits: Limits, form: str, size: int) -> Iterator[EventTable]:
    """Yield the rows of a table of one of these formats, about so many bytes at a time if possible.

    size: 0 for all rows at once. Problems of rows are reported as for the whole table, but for the first
    batch that has any.
    """
    before = 0
    try:
        layout = _settled(source, limits, form)
        ignored, size = layout.ignored, 0 if layout.once else size
        schema, batches = _open(source, limits, form, size, layout=layout)
        first = next(batches, None)
        tables: Iterable[Any] = [schema.empty_table()]
        if first is not None:
            groups = ([each] for each in chain([first], batches)) if size else [[first, *batches]]
            tables = map(pa.Table.from_batches, groups)
            if len(first.schema) < len(schema):
                layout = layout.of([schema.names.index(name) for name in first.schema.names])
        for table in tables:
            origin = Origin(source.name, source.sha256, f"{_TITLES[form]}, {{}}")
            rows = _rows_of(replace(_table_of(table, source.name), before=before), origin, limits, layout)
            yield replace(rows, origin=replace(rows.origin, ignored=ignored))
            before += len(table)
    except MemoryError:
        raise  # as pyarrow's own error is one
    except _FAILURES as error:
        message = f"cannot be read as {_TITLES[form]}: {one_line(error)}"
        raise InputError(Problem(source.name, message)) from error


def _open(
    source: Source,
    limits: Limits,
    form: str,
    size: int = 0,
    columns: Sequence[str] | None = None,
    layout: Layout | None = None,
) -> tuple[Any, Iterator[Any]]:
    """Return the schema of a file, and its batches.

    size: bytes of a batch of Parquet, about; 0 for some.

    columns: of Parquet, the columns that are read; None for the ones that play a role in the layout: others
    may be of any kind and size.
    """
    buffer = pa.py_buffer(source.data)
    named = zip(layout.names, layout.roles, strict=True) if layout else ()
    roles = [name for name, role in named if role is not None]
    if form == "parquet":
        read = roles if columns is None and layout is not None else columns
        schema, batches = _open_parquet(source, limits, size, buffer, read)
    else:
        if form == "arrow":  # a stream between a mark and the places of its messages
            if source.data[-6:] != b"ARROW1":
                raise ValueError("its end is missing")
            buffer = buffer.slice(8)
        batches = pa.ipc.open_stream(buffer)
        schema = batches.schema
    limits.check(source.name, "classes", len(schema) - PLAIN, "columns of classes")
    # The footer of Parquet was checked against the limits as a whole.
    at_once = 1 if form == "parquet" else size
    return schema, _checked(source, limits, batches, {*roles}, at_once)


def _open_parquet(
    source: Source,
    limits: Limits,
    size: int,
    buffer: Any,  # noqa: ANN401
    columns: Sequence[str] | None,
) -> tuple[Any, Iterable[Any]]:
    import pyarrow.parquet as pq

    file = pq.ParquetFile(pa.BufferReader(buffer))
    schema = file.schema_arrow
    limits.check(source.name, "rows", file.metadata.num_rows, "rows")
    columns = schema.names if columns is None else columns
    by_code, longest = _weigh(source, limits, file.metadata, columns, size)
    n_rows = min(_ROWS, (size or _AT_ONCE) // (_CELL * max(1, len(columns))), _AT_ONCE // longest)
    file = pq.ParquetFile(pa.BufferReader(buffer), metadata=file.metadata, read_dictionary=by_code)
    return schema, file.iter_batches(max(1, n_rows), columns=[*columns])


def _check_weight(source: Source, limits: Limits, size: int, spared: int = FREE) -> None:
    """Refuse bytes of a file as they are decoded, before they are; raises InputError over a limit.

    spared: bytes in all for which no ratio is checked.
    """
    limits.check(source.name, "size", size, "decompressed bytes")
    if size > spared:
        ratio = size // max(1, len(source.data))
        limits.check(source.name, "ratio", ratio, "decompressed bytes per byte")


def _check_memory(source: Source, size: int) -> None:
    """Refuse bytes that exceed memory as they are decoded, and as columns; raises RoomError."""
    check_room(2 * size, f"{source.name}: to hold it", _MEND)


def _weigh(
    source: Source,
    limits: Limits,
    metadata: Any,  # noqa: ANN401
    columns: Collection[str],
    size: int,
) -> tuple[list[str], int]:
    """Return the columns of text that can be read as codes, and the bytes of the longest text of the others.

    Raises InputError for more than the limits allow by the footer, before anything is decoded.
    """
    wanted, coded, longest = {*columns}, dict[str, bool](), dict[str, int]()
    weight = of_texts = largest = 0
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for chunk in map(group.column, range(group.num_columns)):
            name = chunk.path_in_schema
            if wanted.isdisjoint((name, name.partition(".")[0])):
                continue
            weight += max(chunk.total_uncompressed_size, _CHUNK)
            largest = max(largest, chunk.total_uncompressed_size)
            _check_weight(source, limits, weight)
            if chunk.physical_type == "BYTE_ARRAY":
                of_texts += max(chunk.total_uncompressed_size, _CHUNK)
                _check_weight(source, limits, of_texts, SPARED)
                coded[name] = coded.get(name, True) and _CODED.issuperset(chunk.encodings)
                # A text, or its begin, may be in the file once, and in many rows.
                repeats = chunk.has_dictionary_page or "DELTA_BYTE_ARRAY" in chunk.encodings
                longest[name] = max(longest.get(name, 1), chunk.total_uncompressed_size * repeats)
    _check_memory(source, largest if size else weight)
    of_others = (longest[name] for name, is_coded in coded.items() if not is_coded)
    return [name for name, is_coded in coded.items() if is_coded], max(of_others, default=1)


def _checked(
    source: Source, limits: Limits, batches: Iterable[Any], roles: Collection[str], at_once: int
) -> Iterator[Any]:
    """Take in batches while they stay within the limits; each is checked before anything looks into it.

    roles: the columns that play one, whose texts are names or numbers. at_once: 0 if all batches will be in
    memory together.
    """
    rows = weight = of_texts = 0
    for batch in batches:
        batch.validate(full=True)
        rows += len(batch)
        limits.check(source.name, "rows", rows, "rows")
        limits.check_dense(source.name, rows, len(source.data))
        weight += max(batch.nbytes, _CHUNK)
        _check_weight(source, limits, weight)
        _check_memory(source, batch.nbytes if at_once else weight)
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            # Texts may have come of fewer bytes; views of one long text may be many.
            together, longest = text_bytes(column)
            of_texts += max(together, _CHUNK)
            _check_weight(source, limits, of_texts, SPARED)
            # A character has four bytes or fewer.
            if name in roles and longest > 4 * limits.name_length:
                why = f"has a text of {longest} bytes in column {name!r}"
                raise limits.refusal(source.name, "name_length", why, longest)
        yield batch


def _settled(source: Source, limits: Limits, form: str) -> Layout:
    """Return the layout of columns, after resolving unclear ones; raises InputError if only the user can."""
    schema, _ = _open(source, limits, form, columns=())
    try:
        layout = layout_of_header(
            [*map(str, schema.names)], limits.columns, (), limits.label, limits.sample_rate
        )
    except LayoutError:
        first = [*islice(_open(source, limits, form)[1], 1)]
        table = pa.Table.from_batches(first) if first else schema.empty_table()
        rows_from_data(table, source.name, limits)  # raises InputError, with an explanation
        raise

    def cells(positions: Sequence[int]) -> list[Texts | Floats]:
        columns = [schema.names[at] for at in positions]
        once = {name for name in columns if schema.names.count(name) == 1}
        batches = [*_open(source, limits, form, columns=sorted(once))[1]]
        chunks = [[each.column(name) for each in batches] if name in once else [] for name in columns]
        nothing = np.full(sum(map(len, batches)), np.nan)
        return [cells_of(pa.chunked_array(each)) if each else nothing for each in chunks]

    # Columns are read by their names as they are written, with blanks around them.
    return replace(settled(source.name, layout, limits, cells), names=tuple(map(str, schema.names)))
