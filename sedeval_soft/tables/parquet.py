"""Parquet and Arrow IPC: columns called as those of tables of text are, long or wide."""

from __future__ import annotations

import contextlib
import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sedeval_soft.errors import InputError, Problem, one_line
from sedeval_soft.tables.columns import LayoutError, layout_of_header
from sedeval_soft.tables.delimited import PLAIN, check_header, columns_of, header_of, silent_files
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.fit import check_text
from sedeval_soft.tables.frames import cells_of
from sedeval_soft.tables.limits import Limits, intake_of
from sedeval_soft.tables.source import Source
from sedeval_soft.tables.unclear_columns import Batches, check_unclear

_PARQUET = b"PAR1"
_FILE = b"ARROW1\0\0"
_STREAM = b"\xff\xff\xff\xff"

FREE = 1 << 28
"""Bytes in memory to which the ratio does not matter: long columns of zeros are a few bytes in a file."""

_ROWS = 1 << 16
"""Rows of Parquet in a batch where nothing else is said."""

_FEWEST, _CELL = 1 << 10, 16
"""Rows of Parquet in a batch at the least, and bytes that a cell takes: as it is read, and as a number."""

_ROW = re.compile(r"^row (\d+):")

_TITLES = {"parquet": "Parquet", "arrow": "Arrow file", "arrow-stream": "Arrow stream"}
"""What forms are called in messages."""

_FAILURES = (pa.ArrowException, OSError, ValueError, TypeError, KeyError, IndexError, OverflowError)


def reads(source: Source, form: str) -> bool:
    """Return whether a file is Parquet, an Arrow file (Feather version 2) or a stream of Arrow messages."""
    if form == "parquet":
        return source.data[:4] == _PARQUET and source.data[-4:] == _PARQUET
    head = source.data[:8]
    if form == "arrow":
        return head == _FILE
    return head[:4] == _STREAM and len(head) == 8 and 0 < struct.unpack("<i", head[4:])[0] < len(source.data)


def _parquet(
    source: Source,
    limits: Limits,
    size: int,
    groups: Sequence[int] | None,
    columns: Sequence[str] | None = None,
) -> tuple[Any, Iterable[Any]]:
    """Return the schema of what is read, and batches of about so many bytes; 0: of some.

    groups: of rows. columns: those that are read; None for those that play a role.
    """
    import pyarrow.parquet as pq

    file = pq.ParquetFile(pa.BufferReader(pa.py_buffer(source.data)))
    limits.check(source.name, "rows", file.metadata.num_rows, "rows")
    names = [str(name) for name in file.schema_arrow.names]
    limits.check(source.name, "classes", len(names) - PLAIN, "columns of classes")
    kept = _kept(names, limits) if columns is None else list(columns)
    n_rows = max(_FEWEST, size // (_CELL * len(names))) if size else _ROWS
    batches = file.iter_batches(n_rows, groups, columns=None if len(kept) == len(names) else kept)
    return pa.schema([field for field in file.schema_arrow if field.name in set(kept)]), batches


def _arrow(source: Source, *, stream: bool) -> tuple[Any, Iterable[Any]]:
    buffer = pa.BufferReader(pa.py_buffer(source.data))
    if stream:
        batches = pa.ipc.open_stream(buffer)
        return batches.schema, batches
    file = pa.ipc.open_file(buffer)
    return file.schema, (file.get_batch(i) for i in range(file.num_record_batches))


def _kept(names: Sequence[str], limits: Limits) -> list[str]:
    """Return the columns that play a role: others may be of any kind and size."""
    try:
        layout = layout_of_header(names, intake_of(limits).columns)
    except LayoutError:
        return list(names)  # `rows_from_data` says what is wrong
    return [name for name, role in zip(names, layout.roles, strict=True) if role is not None]


def _checked(source: Source, limits: Limits, batches: Iterable[Any]) -> Iterator[Any]:
    """Take in batches while they stay within the limits; each is checked before anything looks into it."""
    size = rows = 0
    for batch in batches:
        batch.validate(full=True)
        size, rows = size + batch.nbytes, rows + len(batch)
        limits.check(source.name, "rows", rows, "rows")
        limits.check(source.name, "size", size, "decompressed bytes")
        if size > FREE:
            limits.check(
                source.name, "ratio", size // max(1, len(source.data)), "decompressed bytes per byte"
            )
        yield batch


def _opened(
    source: Source,
    limits: Limits,
    form: str,
    size: int = 0,
    groups: Sequence[int] | None = None,
    columns: Sequence[str] | None = None,
) -> tuple[Any, Iterator[Any]]:
    if form == "parquet":
        schema, batches = _parquet(source, limits, size, groups, columns)
    else:
        schema, batches = _arrow(source, stream=form == "arrow-stream")
    return schema, _checked(source, limits, batches)


def _check_unclear(source: Source, limits: Limits, form: str) -> None:
    """Look at columns that play no role before rows are read; raises InputError as `unclear.check` does."""
    schema, _ = _opened(source, limits, form)
    import pyarrow.parquet as pq

    whole = pq.read_schema(pa.BufferReader(pa.py_buffer(source.data))) if form == "parquet" else schema
    names = [str(name) for name in whole.names]
    try:
        layout = layout_of_header(names, intake_of(limits).columns)
    except LayoutError:
        return  # `rows_from_data` says what is wrong

    def cells(positions: Sequence[int]) -> Batches:
        columns = [whole.names[at] for at in positions]
        once = {name for name in columns if names.count(name) == 1}
        _, batches = _opened(source, limits, form, columns=sorted(once))
        for batch in batches:
            nothing = pa.nulls(len(batch), pa.float64())
            yield [cells_of(batch.column(name)) if name in once else nothing for name in columns]

    check_unclear(source.name, layout, limits, cells)


@contextlib.contextmanager
def _told(source: Source, title: str) -> Iterator[None]:
    """Say of what pyarrow cannot read what it is."""
    try:
        yield
    except _FAILURES as error:
        said = one_line(error)
        raise InputError(Problem(source.name, f"cannot be read as {title}: {said}")) from error


def read(source: Source, limits: Limits, form: str) -> EventTable | None:
    """Read a table of columns, called as those of tables of text are."""
    title = _TITLES[form]
    if not len(source.data):
        return None
    with _told(source, title):
        _check_unclear(source, limits, form)
        schema, batches = _opened(source, limits, form)
        found = list(batches)
        table = pa.Table.from_batches(found, schema if not found else found[0].schema)
    return _rows(source, limits, table, title)


def read_batches(
    source: Source, limits: Limits, form: str, size: int, groups: Sequence[int] | None = None
) -> Iterator[EventTable]:
    """Yield the rows of a table of one of the forms here, about so many bytes at a time if it lets us choose.

    groups: the row groups of Parquet that are read, all of them for None. What is wrong with rows is told as
    for the whole table, but for the first batch that has any.
    """
    title, before = _TITLES[form], 0
    with _told(source, title):
        if groups is None or 0 in groups:
            _check_unclear(source, limits, form)
        schema, batches = _opened(source, limits, form, size, groups)
    while True:
        with _told(source, title):
            batch = next(batches, None)
            table = None if batch is None else pa.Table.from_batches([batch])
        if table is None:
            if not before:
                yield _rows(source, limits, pa.Table.from_batches([], schema), title)
            return
        try:
            yield _rows(source, limits, table, title)
        except InputError as error:
            raise InputError([_moved(problem, before) for problem in error.problems], error.more) from error
        before += len(table)


def _moved(problem: Problem, rows: int) -> Problem:
    """Return the problem of a row that so many others stand before."""
    return replace(problem, message=_ROW.sub(lambda m: f"row {int(m[1]) + rows}:", problem.message))


def _rows(source: Source, limits: Limits, table: Any, title: str) -> EventTable:  # noqa: ANN401
    from sedeval_soft.tables.frames import rows_from_data

    with _told(source, title):
        names = [str(name) for name in table.column_names]
    limits.check(source.name, "classes", len(names) - PLAIN, "columns of classes")
    rows = rows_from_data(table, source.name, limits, settled=True)
    shape = "wide" if rows.is_wide else "long"
    origin = replace(rows.origin, name=source.name, sha256=source.sha256, form=f"{title}, {shape}")
    return replace(rows, origin=origin)


def write(rows: EventTable, form: str) -> bytes:
    """Return rows as a table of columns; recordings without rows are rows of nothing but their name."""
    check_text(rows.origin.name, (*rows.files, *rows.classes), form, "")
    check_header(rows, form)
    names = header_of(rows)
    silent = silent_files(rows)
    columns: list[Any] = [_numbers(column, len(silent)) for column in columns_of(rows)]
    if not rows.is_wide:
        columns.insert(2, _texts(rows.classes, rows.row_label, [None] * len(silent)))
    if names[0] == "filename":
        columns.insert(0, _texts(rows.files, rows.file, silent))
    table = pa.table(columns, names=list(names))
    sink = pa.BufferOutputStream()
    if form == "parquet":
        import pyarrow.parquet as pq

        pq.write_table(table, sink)
    else:
        new = pa.ipc.new_stream if form == "arrow-stream" else pa.ipc.new_file
        with new(sink, table.schema) as writer:
            writer.write_table(table)
    return bytes(sink.getvalue())


def _numbers(column: npt.NDArray[np.float64], more: int) -> Any:  # noqa: ANN401
    made = pa.array(column, pa.float64())
    return pa.concat_arrays([made, pa.nulls(more, pa.float64())]) if more else made


def _texts(names: Sequence[str], codes: npt.NDArray[np.int32], more: Sequence[str | None]) -> Any:  # noqa: ANN401
    texts = pa.array(names, pa.string()).take(pa.array(codes, pa.int32()))
    return pa.concat_arrays([texts, pa.array(more, pa.string())]) if more else texts
