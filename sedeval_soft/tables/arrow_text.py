"""Tables of text as pyarrow parses them: columns of names and numbers at once, or some columns in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pv

from sedeval_soft.arrays import Floats
from sedeval_soft.tables.arrow_columns import TEXT, buffer_of, numbers, words_as_numbers
from sedeval_soft.tables.columns import PRESENT, TEXTS, Layout, normal
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.rows import Columns, Named, OtherTextError
from sedeval_soft.tables.source import Source
from sedeval_soft.threads import for_each

_BLOCK = 1 << 22  # bytes parsed at a time; a table of one block is parsed in this thread


def parsed_columns(source: Source, layout: Layout, limits: Limits) -> Columns | None:
    """Return the columns of a table that play a role; None where it must be read line by line.

    Raises InputError for a table of more files or classes than limits allow.
    """
    roles = {i: role for i, role in enumerate(layout.roles) if role is not None}
    words = {i for i, role in roles.items() if role == "soft_value" and normal(layout.names[i]) == PRESENT}
    named = {i for i, role in roles.items() if role in TEXTS} | {*layout.dates()}
    text = pa.dictionary(pa.int32(), pa.string())
    types = {str(i): text if i in named | words else pa.float64() for i in roles}
    texts: dict[str, Named] = {}
    values: dict[int, Any] = {}
    try:
        table = pv.read_csv(*_parsing(source, layout, types, threads=len(source.data) > _BLOCK))
        if layout.wide:
            values = _values_of_classes(table, [i for i, role in roles.items() if role == "class"])
        for i, role in roles.items():
            if i in values:
                continue
            column = table.column(str(i)).combine_chunks()
            if i in named:
                limit = "files" if role == "filename" else "classes"
                if role in {"filename", "event_label"} and not layout.lists:
                    # Refused before they become texts of ours; one may be the nothing of blank lines.
                    limits.check(source.name, limit, len(column.dictionary) - 1, f"{limit} or more")
                names = Named.of(column.dictionary.to_pylist(), buffer_of(column.indices, np.int32))
                texts |= {role: names} if role in TEXTS else {}
                values |= {} if role in TEXTS else {i: names.as_dates()}
                continue
            values[i] = _numbers(words_as_numbers(column) if i in words else column, role)
    except (pa.ArrowInvalid, OtherTextError):
        return None
    return Columns(layout, texts, values)


def _numbers(column: Any, role: str) -> Floats:  # noqa: ANN401
    """Return a column of numbers, missing ones as NaN; raises OtherTextError for the text NaN."""
    values = numbers(column, role)
    if len(column) and np.isnan(values.min()) and np.isnan(values).sum() > column.null_count:
        raise OtherTextError
    return values


def _values_of_classes(table: Any, positions: Sequence[int]) -> dict[int, Floats]:  # noqa: ANN401
    """Return columns of numbers as rows of one array: so segments are counted, where each row is one."""
    block = np.empty((len(positions), table.num_rows))

    def fill(row: int) -> None:
        begin = 0
        for chunk in table.column(str(positions[row])).chunks:
            block[row, begin : begin + len(chunk)] = _numbers(chunk, "class")
            begin += len(chunk)

    for_each(fill, range(len(positions)), block.size)
    block.setflags(write=False)
    return dict(zip(positions, block, strict=True))


def _parsing(
    source: Source, layout: Layout, types: dict[str, Any], *, threads: bool = False, skip: bool = False
) -> tuple[Any, ...]:
    """Return the arguments of pyarrow's parsers.

    types: of the columns that are read, by position. skip: whether rows of another length are ignored.
    """
    names = [str(i) for i in range(len(layout.names))]
    odd_row = (lambda _: "skip") if skip else None
    return (
        pa.BufferReader(pa.py_buffer(source.data)),
        pv.ReadOptions(column_names=names, skip_rows=layout.skip, block_size=_BLOCK, use_threads=threads),
        pv.ParseOptions(delimiter=layout.delimiter, invalid_row_handler=odd_row),
        pv.ConvertOptions(
            column_types=types, include_columns=list(types), null_values=[""], strings_can_be_null=False
        ),
    )


def batches_of(source: Source, layout: Layout, positions: Sequence[int]) -> Iterator[Sequence[Any]]:
    """Yield batches of some columns as texts. Rows of another length are passed over."""
    types = dict.fromkeys(map(str, positions), pa.large_binary())
    whole = pa.py_buffer(np.array([0, len(source.data)])), pa.py_buffer(source.data)
    is_text = False
    with suppress(pa.ArrowInvalid):
        pa.LargeStringArray.from_buffers(1, *whole).validate(full=True)
        is_text = True
    # pyarrow shows those that it skips as text. What it stops at is refused when rows are read.
    with (
        suppress(pa.ArrowException, OSError),
        pv.open_csv(*_parsing(source, layout, types, skip=is_text)) as reader,
    ):
        for batch in reader:
            yield [_as_text(column) for column in batch.columns]


def _as_text(column: Any) -> Any:  # noqa: ANN401
    """Return cells as texts; bytes that are no UTF-8 are written as escapes, so that others stay others."""
    try:
        return column.cast(TEXT)
    except pa.ArrowInvalid:
        return pa.array([cell.decode("utf-8", "backslashreplace") for cell in column.to_pylist()], TEXT)
