"""Tables of text as pyarrow parses them: columns of names and numbers at once, or some columns in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pv

from sedeval_soft.arrays import Floats
from sedeval_soft.tables.arrow_columns import TEXT, buffer_of, numbers
from sedeval_soft.tables.columns import PRESENT, TEXTS, Layout, normal
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.lines import behind
from sedeval_soft.tables.rows import Columns, Texts
from sedeval_soft.tables.source import Source
from sedeval_soft.threads import processors

_BLOCK = 1 << 22  # bytes of lines that pyarrow takes at once
_NAMES = pa.dictionary(pa.int32(), pa.string())


def parsed_columns(source: Source, layout: Layout, limits: Limits) -> Columns | None:
    """Return the columns of a table that play a role; None where it must be read exactly.

    Raises InputError for a table of more files or classes than limits allow.
    """
    roles = {i: role for i, role in enumerate(layout.roles) if role is not None}
    words = {i for i, role in roles.items() if role == "soft_value" and normal(layout.names[i]) == PRESENT}
    as_text = [i for i, role in roles.items() if role in TEXTS or i in words or i in layout.dates()]
    types = {str(i): _NAMES if i in as_text else pa.float64() for i in roles}
    lines = pa.py_buffer(source.data).slice(behind(source.data, layout.skip))
    try:
        table = pv.read_csv(*_parsing(lines, layout, types))
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
    # Columns of classes are rows of one array: so segments are counted, where each row is one.
    numeric = sorted(parsed, key=lambda i: roles[i] == "class")
    n_others = sum(roles[i] != "class" for i in numeric)
    blocks = [np.empty((n_others, n_rows)), np.empty((len(numeric) - n_others, n_rows))]
    for i, numbers_of in zip(numeric, chain(*blocks), strict=True):
        column = parsed.pop(i)
        np.concatenate([numbers(chunk, roles[i]) for chunk in column.chunks], out=numbers_of)
        if np.isnan(numbers_of.min()) and np.isnan(numbers_of).sum() > column.null_count:
            return None  # one is the text NaN
    for block in blocks:
        block.setflags(write=False)
    cells |= zip(numeric, chain(*blocks), strict=True)
    return Columns(layout, cells)


def _parsing(lines: Any, layout: Layout, types: dict[str, Any], *, skip: bool = False) -> tuple[Any, ...]:  # noqa: ANN401
    """Return the arguments of pyarrow's parsers.

    lines: a buffer of rows. types: of the columns that are read, by position. skip: whether rows of another
    length are ignored.
    """
    odd_row = (lambda _: "skip") if skip else None
    names = [str(i) for i in range(len(layout.names))]
    return (
        pa.BufferReader(lines),
        pv.ReadOptions(column_names=names, block_size=_BLOCK, use_threads=processors() > 1),
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
