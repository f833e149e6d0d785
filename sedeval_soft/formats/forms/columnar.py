"""Parquet and Arrow IPC: columns called as those of tables of text are, long or wide."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sedeval_soft.core.errors import InputError, Problem
from sedeval_soft.core.intake import Limits
from sedeval_soft.core.rows import Origin, Rows, WideRows
from sedeval_soft.formats.columns import LayoutError, layout_of_header
from sedeval_soft.formats.forms.delimited import PLAIN, check_header, columns_of, header_of, silent_files
from sedeval_soft.formats.forms.form import Form, Holds, Reading
from sedeval_soft.formats.forms.names import check_text
from sedeval_soft.formats.source import Source

_PARQUET = b"PAR1"
_FILE = b"ARROW1\0\0"
_STREAM = b"\xff\xff\xff\xff"

FREE = 1 << 28
"""Bytes in memory to which the ratio does not matter: long columns of zeros are a few bytes in a file."""

_FAILURES = (pa.ArrowException, OSError, ValueError, TypeError, KeyError, IndexError, OverflowError)


def is_parquet(source: Source) -> bool:
    """Return whether a file begins and ends as Parquet does."""
    return source.data[:4] == _PARQUET and source.data[-4:] == _PARQUET


def is_arrow_file(source: Source) -> bool:
    """Return whether a file begins as an Arrow file (Feather version 2) does."""
    return source.data[:8] == _FILE


def is_arrow_stream(source: Source) -> bool:
    """Return whether a file begins as a stream of Arrow messages does."""
    head = source.data[:8]
    return head[:4] == _STREAM and len(head) == 8 and 0 < struct.unpack("<i", head[4:])[0] < len(source.data)


def _read_parquet(source: Source, limits: Limits) -> Any:  # noqa: ANN401 - pyarrow is untyped
    import pyarrow.parquet as pq

    file = pq.ParquetFile(pa.BufferReader(pa.py_buffer(source.data)))
    limits.check(source.name, "rows", file.metadata.num_rows, "rows")
    names = [str(name) for name in file.schema_arrow.names]
    limits.check(source.name, "classes", len(names) - PLAIN, "columns of classes")
    kept = _kept(names)
    batches = file.iter_batches(columns=None if len(kept) == len(names) else kept)
    schema = file.schema_arrow
    return _table(source, limits, batches, pa.schema([field for field in schema if field.name in set(kept)]))


def _read_arrow(source: Source, limits: Limits, *, stream: bool) -> Any:  # noqa: ANN401
    buffer = pa.BufferReader(pa.py_buffer(source.data))
    if stream:
        batches = pa.ipc.open_stream(buffer)
        return _table(source, limits, batches, batches.schema)
    file = pa.ipc.open_file(buffer)
    return _table(source, limits, (file.get_batch(i) for i in range(file.num_record_batches)), file.schema)


def _kept(names: Sequence[str]) -> list[str]:
    """Return the columns that play a role: others may be of any kind and size."""
    try:
        layout = layout_of_header(names)
    except LayoutError:
        return list(names)  # `rows_from_data` says what is wrong
    return [name for name, role in zip(names, layout.roles, strict=True) if role is not None]


def _table(source: Source, limits: Limits, batches: Iterable[Any], schema: Any) -> Any:  # noqa: ANN401
    """Take in batches while they stay within the limits; each is checked before anything looks into it."""
    found = []
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
        found.append(batch)
    return pa.Table.from_batches(found, schema if not found else found[0].schema)


def _read(source: Source, reading: Reading, *, form: str, title: str) -> Rows | None:
    from sedeval_soft.formats.frames import rows_from_data

    if not len(source.data):
        return None
    try:
        if form == "parquet":
            table = _read_parquet(source, reading.limits)
        else:
            table = _read_arrow(source, reading.limits, stream=form == "arrow-stream")
        names = [str(name) for name in table.column_names]
    except _FAILURES as error:
        said = " ".join(str(error).split())[:200]
        raise InputError(Problem(source.name, f"cannot be read as {title}: {said}")) from error
    reading.limits.check(source.name, "classes", len(names) - PLAIN, "columns of classes")
    rows = rows_from_data(table, source.name, reading.limits)
    shape = "wide" if isinstance(rows, WideRows) else "long"
    origin = Origin(source.name, source.sha256, f"{title}, {shape}", rows.origin.ignored, rows.origin.notes)
    return replace(rows, origin=origin)


def _write(rows: Rows, *, form: str) -> bytes:
    """Return rows as a table of columns; recordings without rows are rows of nothing but their name."""
    check_text(rows.origin.name, (*rows.files, *rows.classes), form, "")
    check_header(rows, form)
    names = header_of(rows)
    silent = silent_files(rows)
    columns: list[Any] = [_numbers(column, len(silent)) for column in columns_of(rows)]
    if not isinstance(rows, WideRows):
        columns.insert(2, _texts(rows.classes, rows.label, [None] * len(silent)))
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


def _form(name: str, title: str, extensions: tuple[str, ...], recognises: Any, short: str) -> Form:  # noqa: ANN401
    return Form(
        name,
        title,
        extensions,
        Holds(wide=True),
        partial(_read, form=name, title=short),
        recognises,
        partial(_write, form=name),
        text=False,
        own=extensions,
    )


PARQUET = _form("parquet", "Parquet", (".parquet", ".pq"), is_parquet, "Parquet")
ARROW = _form(
    "arrow", "Arrow IPC file (Feather version 2)", (".arrow", ".feather", ".ipc"), is_arrow_file, "Arrow file"
)
ARROW_STREAM = _form("arrow-stream", "Arrow IPC stream", (".arrows",), is_arrow_stream, "Arrow stream")
