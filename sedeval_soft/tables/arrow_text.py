"""Tables of text as pyarrow parses them: columns of names and numbers at once, or some columns in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import accumulate, chain, pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pv

from sedeval_soft.arrays import Floats
from sedeval_soft.tables.arrow_columns import TEXT, buffer_of, numbers, words_as_numbers
from sedeval_soft.tables.columns import PRESENT, TEXTS, Layout, normal
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.lines import behind, count_solid
from sedeval_soft.tables.rows import Columns, Named, OtherTextError
from sedeval_soft.tables.source import Source
from sedeval_soft.threads import for_each

_BLOCK = 1 << 22  # bytes of lines that pyarrow takes at once
_PIECE = 1 << 21  # bytes of lines that are parsed in one go: what is copied then is in the processor's cache
_NAMES = pa.dictionary(pa.int32(), pa.string())


def parsed_columns(source: Source, layout: Layout, limits: Limits) -> Columns | None:
    """Return the columns of a table that play a role; None where it must be read line by line.

    Raises InputError for a table of more files or classes than limits allow.
    """
    roles = {i: role for i, role in enumerate(layout.roles) if role is not None}
    words = {i for i, role in roles.items() if role == "soft_value" and normal(layout.names[i]) == PRESENT}
    as_text = [i for i, role in roles.items() if role in TEXTS or i in words or i in layout.dates()]
    types = {str(i): _NAMES if i in as_text else pa.float64() for i in roles}
    lines, first_row = _pieces(source, layout)
    n_rows = first_row[-1]
    # Of rows that are too short for all fields some would be refused: no memory is taken for them.
    if not n_rows or n_rows * len(layout.names) > len(source.data) + 1:
        return None
    # Columns of classes are rows of one array: so segments are counted, where each row is one.
    numeric = sorted(roles.keys() - {*as_text}, key=lambda i: roles[i] == "class")
    n_others = sum(roles[i] != "class" for i in numeric)
    blocks = np.empty((n_others, n_rows)), np.empty((len(numeric) - n_others, n_rows))
    columns = [*chain(*blocks)]

    def parse(piece: int) -> list[Any]:
        """Put the numbers of a piece where they belong, and return its texts, column by column."""
        begin, end = first_row[piece : piece + 2]
        table = pv.read_csv(*_parsing(lines[piece], layout, types))
        if len(table) != end - begin:
            raise OtherTextError
        for i, column in zip(numeric, columns, strict=True):
            chunks = [_numbers(chunk, roles[i]) for chunk in table.column(str(i)).chunks]
            np.concatenate(chunks, out=column[begin:end])
        return [table.column(str(i)) for i in as_text]

    texts: dict[str, Named] = {}
    values: dict[int, Any] = {}
    try:
        parts = for_each(parse, range(len(lines)), n_rows * len(roles))
        for i, of_pieces in zip(as_text, zip(*parts, strict=True), strict=True):
            column = pa.chunked_array(chain.from_iterable(part.chunks for part in of_pieces)).combine_chunks()
            role = roles[i]
            if i in words:
                values[i] = _numbers(words_as_numbers(column), role)
                continue
            limit = "files" if role == "filename" else "classes"
            if role in {"filename", "event_label"} and not layout.lists:
                # Refused before they become texts of ours; one may be the nothing of blank lines.
                limits.check(source.name, limit, len(column.dictionary) - 1, f"{limit} or more")
            names = Named.of(column.dictionary.to_pylist(), buffer_of(column.indices, np.int32))
            texts |= {role: names} if role in TEXTS else {}
            values |= {} if role in TEXTS else {i: names.as_dates()}
    except (pa.ArrowInvalid, OtherTextError):
        return None
    for block in blocks:
        block.setflags(write=False)
    return Columns(layout, texts, values | dict(zip(numeric, chain(*blocks), strict=True)))


def _pieces(source: Source, layout: Layout) -> tuple[list[Any], list[int]]:
    """Return the lines of a table in pieces, and which row is the first of each, and how many rows there are.

    Pieces end where lines do in LF; that of a table without any is all of it. None is without rows.
    """
    data, buffer = source.data, pa.py_buffer(source.data)
    edges = [behind(data, layout.skip)]
    while edges[-1] < len(data):
        edges.append(data.find(b"\n", edges[-1] + _PIECE) + 1 or len(data))
    places = [*pairwise(edges)]
    n_rows = for_each(lambda place: count_solid(data, *place), places, len(data))
    some = [(begin, end - begin, n) for (begin, end), n in zip(places, n_rows, strict=True) if n]
    lines = [buffer.slice(begin, length) for begin, length, _ in some]
    return lines, [*accumulate((n for _, _, n in some), initial=0)]


def _numbers(column: Any, role: str) -> Floats:  # noqa: ANN401
    """Return a column of numbers, missing ones as NaN; raises OtherTextError for the text NaN."""
    values = numbers(column, role)
    if len(column) and np.isnan(values.min()) and np.isnan(values).sum() > column.null_count:
        raise OtherTextError
    return values


def _parsing(lines: Any, layout: Layout, types: dict[str, Any], *, skip: bool = False) -> tuple[Any, ...]:  # noqa: ANN401
    """Return the arguments of pyarrow's parsers.

    lines: a buffer of rows. types: of the columns that are read, by position. skip: whether rows of another
    length are ignored.
    """
    names = [str(i) for i in range(len(layout.names))]
    odd_row = (lambda _: "skip") if skip else None
    return (
        pa.BufferReader(lines),
        pv.ReadOptions(column_names=names, block_size=_BLOCK, use_threads=False),
        pv.ParseOptions(delimiter=layout.delimiter, invalid_row_handler=odd_row),
        pv.ConvertOptions(
            column_types=types, include_columns=list(types), null_values=[""], strings_can_be_null=False
        ),
    )


def batches_of(source: Source, layout: Layout, positions: Sequence[int]) -> Iterator[Sequence[Any]]:
    """Yield batches of some columns as texts. Rows of another length are passed over."""
    types = dict.fromkeys(map(str, positions), pa.large_binary())
    whole = pa.py_buffer(np.array([0, len(source.data)])), pa.py_buffer(source.data)
    lines, is_text = whole[1].slice(behind(source.data, layout.skip)), False
    with suppress(pa.ArrowInvalid):
        pa.LargeStringArray.from_buffers(1, *whole).validate(full=True)
        is_text = True
    # pyarrow shows those that it skips as text. What it stops at is refused when rows are read.
    with (
        suppress(pa.ArrowException, OSError),
        pv.open_csv(*_parsing(lines, layout, types, skip=is_text)) as reader,
    ):
        for batch in reader:
            yield [_as_text(column) for column in batch.columns]


def _as_text(column: Any) -> Any:  # noqa: ANN401
    """Return cells as texts; bytes that are no UTF-8 are written as escapes, so that others stay others."""
    try:
        return column.cast(TEXT)
    except pa.ArrowInvalid:
        return pa.array([cell.decode("utf-8", "backslashreplace") for cell in column.to_pylist()], TEXT)
