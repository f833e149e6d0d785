"""Tables of text: at once by pyarrow, line by line where that fails.

The fast path answers with rows, or with None where anything is out of the ordinary: then `text_errors` reads
the table again and says what is wrong, or reads what pyarrow would not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv as pc

from sedeval_soft.sorting import distinct
from sedeval_soft.tables.assemble import Columns, Named
from sedeval_soft.tables.columns import (
    PRESENT,
    Layout,
    normal,
)
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.sniff import Sniffed, misdivided
from sedeval_soft.tables.source import Source
from sedeval_soft.tables.text_lines import (
    check_rows,
    quotes_are_plain,
)
from sedeval_soft.tables.unclear_columns import words_as_numbers

Floats = npt.NDArray[np.float64]

_BLOCK = 1 << 22
"""Bytes parsed at a time; a table of one block is parsed in this thread."""

_FEW = 10_000
"""Names that cost nothing as texts of ours."""

_TEXT = pa.dictionary(pa.int32(), pa.string())


def read_sniffed(source: Source, sniffed: Sniffed, limits: Limits = LIMITS) -> EventTable:
    """Read a table of which is known what it looks like."""
    rows = read_fast(source, sniffed, limits)
    if rows is not None:
        return rows
    from sedeval_soft.tables.text_errors import read_carefully

    return read_carefully(source, sniffed, limits)


def read_fast(source: Source, sniffed: Sniffed, limits: Limits = LIMITS) -> EventTable | None:
    """Read a table at once; None where the careful pass must look.

    Raises InputError for a table that is over a limit, RoomError for one that memory cannot hold.
    """
    check_rows(source, len(sniffed.layout.names), limits)
    if not sniffed.sound or not quotes_are_plain(source.data, sniffed.delimiter):
        return None
    declared: list[str] = []
    table = _parse(source, sniffed, declared, limits.files)
    if len(declared) > limits.files:
        raise limits.refusal(source.name, "files", f"has more than {limits.files} lines that declare files")
    if table is None:
        return None
    _check_names(table, source.name, sniffed.layout, limits)
    columns = _columns(table, sniffed, declared)
    return None if columns is None else columns.rows(sniffed.origin(source), limits)


def _parse(source: Source, sniffed: Sniffed, declared: list[str], most: int) -> Any:  # noqa: ANN401 - pyarrow is untyped
    """Return the table with columns named by their positions, None if pyarrow refuses it.

    A line of nothing but a file name goes to `declared`, if file names come first; after `most` of them it is
    refused.
    """
    layout = sniffed.layout
    worded = _worded(layout)
    types = {
        str(i): _TEXT if role in {"filename", "event_label"} or i == worded else pa.float64()
        for i, role in enumerate(layout.roles)
        if role is not None
    }
    names_first = layout.position("filename") == 0

    def lone_name(row: Any) -> str:  # noqa: ANN401
        lone = names_first and row.actual_columns == 1 and row.text.strip() and '"' not in row.text
        if lone and not misdivided(row.text, sniffed.delimiter, layout):
            declared.append(row.text.strip())
            return "skip" if len(declared) <= most else "error"
        return "error"

    try:
        table = pc.read_csv(
            pa.BufferReader(pa.py_buffer(source.data)),
            read_options=pc.ReadOptions(
                column_names=[str(i) for i in range(len(layout.names))],
                skip_rows=sniffed.skip,
                block_size=_BLOCK,
                use_threads=len(source.data) > _BLOCK,
            ),
            parse_options=pc.ParseOptions(delimiter=sniffed.delimiter, invalid_row_handler=lone_name),
            convert_options=pc.ConvertOptions(
                column_types=types, include_columns=list(types), null_values=[""], strings_can_be_null=False
            ),
        )
        if worded is None:
            return table
        at = table.column_names.index(str(worded))
        return table.set_column(at, str(worded), words_as_numbers(table.column(at)))
    except pa.ArrowInvalid:
        return None


def _worded(layout: Layout) -> int | None:
    """Return the position of the values where they may be words, by the name of the column."""
    at = layout.position("soft_value")
    return at if at is not None and normal(layout.names[at]) == PRESENT else None


def _check_names(table: Any, name: str, layout: Layout, limits: Limits) -> None:  # noqa: ANN401
    """Refuse more different names than there may be, before they become texts of ours."""
    for role, limit in (("filename", "files"), ("event_label", "classes")):
        position = layout.position(role)
        if position is not None:
            chunks = table.column(str(position)).chunks
            found = max((len(chunk.dictionary) for chunk in chunks), default=0)
            # Those of a chunk differ; one may be the nothing of lines that declare files. A few too many
            # are counted exactly later.
            if found - 1 > max(getattr(limits, limit), _FEW):
                raise limits.refusal(name, limit, f"has {found - 1} {limit} or more", found)


def _columns(table: Any, sniffed: Sniffed, declared: list[str]) -> Columns | None:  # noqa: ANN401
    """Take the columns out of a table; None where something is empty that must not be."""
    layout = sniffed.layout
    names = {role: _named(table, layout.position(role)) for role in ("filename", "event_label")}
    numbers = {i: _floats(table, i) for i in layout.number_positions()}
    file, label = names["filename"], names["event_label"]
    empty = {i: column for i, column in numbers.items() if table.column(str(i)).null_count}
    if empty:
        # A row with a filename and nothing else declares a file, one of delimiters is a blank line; any other
        # empty field is an error.
        if len(empty) < len(numbers):
            return None
        blank = np.isnan(numbers[layout.roles.index("onset")])
        if not all(np.array_equal(np.isnan(column), blank) for column in numbers.values()):
            return None
        if label is not None and any(label.names[code] for code in distinct(label.codes[blank])):
            return None
        names_of_blank = (
            [""] if file is None else [file.names[c] for c in distinct(file.codes[blank]).tolist()]
        )
        if "" in names_of_blank and layout.ignored:
            return None  # these may hold something
        declared.extend(filter(None, names_of_blank))
        kept = ~blank
        numbers = {i: column[kept] for i, column in numbers.items()}
        file, label = (None if column is None else column.take(kept) for column in (file, label))
    return Columns.of(layout, file, label, numbers, declared)


def _floats(table: Any, position: int) -> Floats:  # noqa: ANN401
    """Return a column of numbers, empty fields as NaN."""
    column = table.column(str(position))
    return _joined(column, np.dtype(np.float64))


def _named(table: Any, position: int | None) -> Named | None:  # noqa: ANN401
    """Return a column of names, None where there is no such column."""
    if position is None:
        return None
    column = table.column(str(position)).unify_dictionaries()
    if not column.num_chunks:
        return Named((), np.zeros(0, dtype=np.int32))
    codes = _joined(pa.chunked_array([chunk.indices for chunk in column.chunks]), np.dtype(np.int32))
    return Named.of(column.chunk(0).dictionary.to_pylist(), codes)


def _joined(column: Any, dtype: np.dtype[Any]) -> npt.NDArray[Any]:  # noqa: ANN401
    """Return the numbers of a column as one array, missing ones as NaN.

    The buffers are read directly: pyarrow's own conversion imports pandas first.
    """
    out = np.empty(len(column), dtype=dtype)
    begin = 0
    for chunk in column.chunks:
        part = out[begin : begin + len(chunk)]
        begin += len(chunk)
        valid, data = chunk.buffers()
        part[:] = np.frombuffer(data, dtype=dtype)[chunk.offset :][: len(chunk)] if len(chunk) else 0
        if chunk.null_count:
            bits = np.unpackbits(np.frombuffer(valid, dtype=np.uint8), bitorder="little")
            part[bits[chunk.offset :][: len(chunk)] == 0] = np.nan
    return out
