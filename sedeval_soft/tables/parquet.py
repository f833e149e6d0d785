"""Parquet and Arrow IPC: columns called as those of tables of text are, long or wide."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import pyarrow as pa

from sedeval_soft.errors import InputError, Problem, one_line
from sedeval_soft.tables.columns import Layout, LayoutError, layout_of_header
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.fit import PLAIN, silent_files, written_columns
from sedeval_soft.tables.frames import cells_of, rows_from_data
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.source import Source
from sedeval_soft.tables.unclear_columns import Batches, settled

FREE = 1 << 28
"""Bytes in memory to which the ratio does not matter: long columns of zeros are a few bytes in a file."""

_ROWS = 1 << 16
"""Rows of Parquet in a batch where nothing else is said."""

_FEWEST, _CELL = 1 << 10, 16
"""Rows of Parquet in a batch at the least, and bytes that a cell takes: as it is read, and as a number."""

_TITLES = {"parquet": "Parquet", "arrow": "Arrow file", "arrow-stream": "Arrow stream"}
"""What forms are called in messages."""

_FAILURES = (pa.ArrowException, OSError, ValueError, TypeError, KeyError, IndexError, OverflowError)


def reads(source: Source, form: str) -> bool:
    """Return whether a file is Parquet, an Arrow file (Feather version 2) or a stream of Arrow messages."""
    if form == "parquet":
        return source.data[:4] == source.data[-4:] == b"PAR1"
    head = source.data[:8]
    if form == "arrow":
        return head == b"ARROW1\0\0"
    length = int.from_bytes(head[4:], "little", signed=True)
    return head[:4] == b"\xff" * 4 and len(head) == 8 and 0 < length < len(source.data)


def read(source: Source, limits: Limits, form: str) -> EventTable | None:
    """Read a table of columns, called as those of tables of text are."""
    return next(read_batches(source, limits, form, 0)) if len(source.data) else None


def read_batches(source: Source, limits: Limits, form: str, size: int) -> Iterator[EventTable]:
    """Yield the rows of a table of one of the forms here, about so many bytes at a time if it lets us choose.

    size: 0 for all rows at once. What is wrong with rows is told as for the whole table, but for the first
    batch that has any.
    """
    before = 0
    for table, layout in _tables(source, limits, form, size):
        rows = rows_from_data(table, source.name, limits, layout=layout, before=before)
        title, choices = _TITLES[form], ""
        if layout is not None:
            title += f" of a {layout.dialect.title}" if layout.dialect else ""
            choices = layout.choices
        shape = f"{title}, {'wide' if rows.has_steps else 'long'}{choices}"
        origin = replace(rows.origin, name=source.name, sha256=source.sha256, form=shape)
        yield replace(rows, origin=origin)
        before += len(table)


def _tables(source: Source, limits: Limits, form: str, size: int) -> Iterator[tuple[Any, Layout | None]]:
    """Yield tables of Arrow, one at least, as above, and the layout of their columns, None where it is wrong.

    Raises InputError where pyarrow cannot read.
    """
    try:
        layout = _settled(source, limits, form)
        schema, batches = _open(source, limits, form, size, layout=layout)
        first = next(batches, None)
        if first is None:
            yield schema.empty_table(), layout
            return
        if layout is not None and len(first.schema) < len(schema):
            layout = layout.of([schema.names.index(name) for name in first.schema.names])
        if size and not (layout and layout.once):
            yield from ((pa.Table.from_batches([batch]), layout) for batch in chain([first], batches))
        else:
            yield pa.Table.from_batches([first, *batches]), layout
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

    size: bytes of a batch of Parquet, about; 0 for some. columns: of Parquet, those that are read; None for
    those that play a role in the layout: others may be of any kind and size.
    """
    buffer = pa.BufferReader(pa.py_buffer(source.data))
    batches: Iterable[Any]
    if form == "arrow-stream":
        file = batches = pa.ipc.open_stream(buffer)
        schema = file.schema
    elif form == "arrow":
        file = pa.ipc.open_file(buffer)
        schema, batches = file.schema, (file.get_batch(i) for i in range(file.num_record_batches))
    else:
        import pyarrow.parquet as pq

        file = pq.ParquetFile(buffer)
        schema = file.schema_arrow
        limits.check(source.name, "rows", file.metadata.num_rows, "rows")
        if columns is None and layout is not None:
            columns = [
                name for name, role in zip(schema.names, layout.roles, strict=True) if role is not None
            ]
        n_rows = max(_FEWEST, size // (_CELL * len(schema))) if size else _ROWS
        batches = file.iter_batches(n_rows, columns=columns)
    limits.check(source.name, "classes", len(schema) - PLAIN, "columns of classes")
    return schema, _checked(source, limits, batches)


def _checked(source: Source, limits: Limits, batches: Iterable[Any]) -> Iterator[Any]:
    """Take in batches while they stay within the limits; each is checked before anything looks into it."""
    size = rows = 0
    for batch in batches:
        batch.validate(full=True)
        size, rows = size + batch.nbytes, rows + len(batch)
        limits.check(source.name, "rows", rows, "rows")
        limits.check(source.name, "size", size, "decompressed bytes")
        if size > FREE:
            ratio = size // max(1, len(source.data))
            limits.check(source.name, "ratio", ratio, "decompressed bytes per byte")
        yield batch


def _settled(source: Source, limits: Limits, form: str) -> Layout | None:
    """Return the layout of columns, what is unclear in it settled; raises InputError where only the user can.

    None where there is none: `rows_from_data` says what is wrong.
    """
    schema, _ = _open(source, limits, form)
    try:
        layout = layout_of_header([*map(str, schema.names)], limits.columns, label=limits.label)
    except LayoutError:
        return None

    def cells(positions: Sequence[int]) -> Batches:
        columns = [schema.names[at] for at in positions]
        once = {name for name in columns if schema.names.count(name) == 1}
        _, batches = _open(source, limits, form, columns=sorted(once))
        for batch in batches:
            nothing = pa.nulls(len(batch), pa.float64())
            yield [cells_of(batch.column(name)) if name in once else nothing for name in columns]

    return settled(source.name, layout, limits, cells)


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
        new = pa.ipc.new_stream if form == "arrow-stream" else pa.ipc.new_file
        with new(sink, table.schema) as writer:
            writer.write_table(table)
    return bytes(sink.getvalue())
