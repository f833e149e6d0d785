"""Parquet and Arrow IPC: columns called as in tables of text, long or wide.

A few bytes may expand to gigabytes. The footer of Parquet has the sizes of its columns: the reader checks
these against the limits before it decodes them, and each batch of either format as it comes. If a footer is
false, or a batch of Arrow is packed, the memory of the process bounds them: a board gives each submission a
process of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from sedeval_soft.arrays import Floats
from sedeval_soft.errors import InputError, Problem, one_line
from sedeval_soft.memory import check_room
from sedeval_soft.tables.arrow_columns import cells_of, text_bytes
from sedeval_soft.tables.columns import Layout, LayoutError, layout_of_header
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.fit import PLAIN, silent_files, written_columns
from sedeval_soft.tables.frames import rows_from_data
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.rows import Texts
from sedeval_soft.tables.source import SPARED, Source
from sedeval_soft.tables.unclear_columns import settled

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

_FAILURES = (
    *(pa.ArrowException, OSError, ValueError, TypeError, KeyError, IndexError, OverflowError),
    NotImplementedError,
)


def read(source: Source, limits: Limits, form: str) -> EventTable | None:
    """Read a table of columns with the names of columns in tables of text."""
    return next(read_batches(source, limits, form, 0)) if len(source.data) else None


def read_batches(source: Source, limits: Limits, form: str, size: int) -> Iterator[EventTable]:
    """Yield the rows of a table of one of these formats, about so many bytes at a time if possible.

    size: 0 for all rows at once. Problems of rows are reported as for the whole table, but for the first
    batch that has any.
    """
    before = 0
    for table, layout, ignored in _tables(source, limits, form, size):
        rows = rows_from_data(table, source.name, limits, layout=layout, before=before)
        title, choices = _TITLES[form], ""
        if layout is not None:
            title += f" of a {layout.dialect.title}" if layout.dialect else ""
            choices = layout.choices
        shape = f"{title}, {'wide' if rows.has_steps else 'long'}{choices}"
        origin = replace(rows.origin, name=source.name, sha256=source.sha256, form=shape, ignored=ignored)
        yield replace(rows, origin=origin)
        before += len(table)


def _tables(
    source: Source, limits: Limits, form: str, size: int
) -> Iterator[tuple[Any, Layout | None, tuple[str, ...]]]:
    """Yield tables of Arrow, one at least, as above, the layout of their columns, and the columns ignored.

    The layout is None if it is wrong. Raises InputError if pyarrow cannot read.
    """
    try:
        layout = _settled(source, limits, form)
        ignored = layout.ignored if layout else ()
        size = 0 if layout and layout.once else size
        schema, batches = _open(source, limits, form, size, layout=layout)
        first = next(batches, None)
        if first is None:
            yield schema.empty_table(), layout, ignored
            return
        if layout is not None and len(first.schema) < len(schema):
            layout = layout.of([schema.names.index(name) for name in first.schema.names])
        if size:
            yield from ((pa.Table.from_batches([each]), layout, ignored) for each in chain([first], batches))
        else:
            yield pa.Table.from_batches([first, *batches]), layout, ignored
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


class _Weight:
    """Bytes of a file as they are decoded, counted before they are."""

    def __init__(self, source: Source, limits: Limits, at_once: int) -> None:
        """Begin with none; at_once: bytes of a batch, 0 if all batches will be in memory together."""
        self._source, self._limits, self._at_once = source, limits, at_once
        self._size = self._cost = self._checked = 0

    def add(self, size: int, spared: int = FREE) -> None:
        """Count some more; raises InputError over a limit, RoomError if memory is short.

        spared: bytes in all for which no ratio is checked.
        """
        source, limits = self._source, self._limits
        self._size, self._cost = self._size + size, self._cost + max(size, _CHUNK)
        limits.check(source.name, "size", self._size, "decompressed bytes")
        if self._cost > spared:
            ratio = self._cost // max(1, len(source.data))
            limits.check(source.name, "ratio", ratio, "decompressed bytes per byte")
        together = size if self._at_once else self._size
        if together > self._checked:
            # As they are decoded, and as columns of all batches.
            check_room(2 * together, f"{source.name}: to hold it", _MEND)
            self._checked = together + _AT_ONCE


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
    weight, texts = _Weight(source, limits, size), _Weight(source, limits, size)
    wanted, coded, longest = {*columns}, dict[str, bool](), dict[str, int]()
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for chunk in map(group.column, range(group.num_columns)):
            name = chunk.path_in_schema
            if wanted.isdisjoint((name, name.partition(".")[0])):
                continue
            weight.add(chunk.total_uncompressed_size)
            if chunk.physical_type == "BYTE_ARRAY":
                texts.add(chunk.total_uncompressed_size, SPARED)
                coded[name] = coded.get(name, True) and _CODED.issuperset(chunk.encodings)
                # A text, or its begin, may be in the file once, and in many rows.
                repeats = chunk.has_dictionary_page or "DELTA_BYTE_ARRAY" in chunk.encodings
                longest[name] = max(longest.get(name, 1), chunk.total_uncompressed_size * repeats)
    of_others = (longest[name] for name, is_coded in coded.items() if not is_coded)
    return [name for name, is_coded in coded.items() if is_coded], max(of_others, default=1)


def _checked(
    source: Source, limits: Limits, batches: Iterable[Any], roles: Collection[str], at_once: int
) -> Iterator[Any]:
    """Take in batches while they stay within the limits; each is checked before anything looks into it.

    roles: the columns that play one, whose texts are names or numbers. at_once: as for `_Weight`.
    """
    weight, texts = _Weight(source, limits, at_once), _Weight(source, limits, 1)
    rows = 0
    for batch in batches:
        batch.validate(full=True)
        rows += len(batch)
        limits.check(source.name, "rows", rows, "rows")
        limits.check_dense(source.name, rows, len(source.data))
        weight.add(batch.nbytes)
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            # Texts may have come of fewer bytes; views of one long text may be many.
            together, longest = text_bytes(column)
            texts.add(together, SPARED)
            # A character has four bytes or fewer.
            if name in roles and longest > 4 * limits.name_length:
                why = f"has a text of {longest} bytes in column {name!r}"
                raise limits.refusal(source.name, "name_length", why, longest)
        yield batch


def _settled(source: Source, limits: Limits, form: str) -> Layout | None:
    """Return the layout of columns, after resolving unclear ones; raises InputError if only the user can.

    None without any layout: `rows_from_data` reports the problem.
    """
    schema, _ = _open(source, limits, form, columns=())
    try:
        layout = layout_of_header(
            [*map(str, schema.names)], limits.columns, (), limits.label, limits.sample_rate
        )
    except LayoutError:
        return None

    def cells(positions: Sequence[int]) -> list[Texts | Floats]:
        columns = [schema.names[at] for at in positions]
        once = {name for name in columns if schema.names.count(name) == 1}
        batches = [*_open(source, limits, form, columns=sorted(once))[1]]
        chunks = [[each.column(name) for each in batches] if name in once else [] for name in columns]
        nothing = np.full(sum(map(len, batches)), np.nan)
        return [cells_of(pa.chunked_array(each)) if each else nothing for each in chunks]

    # Columns are read by their names as they are written, with blanks around them.
    return replace(settled(source.name, layout, limits, cells), names=tuple(map(str, schema.names)))


def write(rows: EventTable, form: str) -> bytes:
    """Return rows as a table of columns; recordings without rows are rows of nothing but their name."""
    columns, silent = written_columns(rows, form, ""), silent_files(rows)
    arrays: list[Any] = []
    for name, names, cells in columns:
        array = pa.array(cells) if names is None else pa.array(names, pa.string()).take(pa.array(cells))
        more = pa.array(silent if name == "filename" else [None] * len(silent), array.type)
        arrays.append(pa.concat_arrays([array, more]) if silent else array)
    table = pa.table(arrays, names=[name for name, _, _ in columns])
    sink = pa.BufferOutputStream()
    if form == "parquet":
        import pyarrow.parquet as pq

        pq.write_table(table, sink)
    else:
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    return bytes(sink.getvalue())
