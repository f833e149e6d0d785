"""Tables of text as pyarrow parses them: columns of texts and numbers at once."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.csv as pv

from sedeval_soft.arrays import Floats, processors
from sedeval_soft.tables.arrow_columns import buffer_of, numbers
from sedeval_soft.tables.columns import PRESENT, TEXTS, Layout, normal
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.lines import behind
from sedeval_soft.tables.rows import Columns, Texts
from sedeval_soft.tables.source import Source

_BLOCK = 1 << 22  # bytes of lines that pyarrow takes at once
_NAMES = pa.dictionary(pa.int32(), pa.string())


def parsed_columns(source: Source, layout: Layout, limits: Limits) -> Columns | None:
    """Return the columns of a table that play a role; None if the table must be read exactly.

    Raises InputError for a table of more files or classes than limits allow.
    """
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
        np.concatenate([numbers(chunk, roles[i]) for chunk in column.chunks], out=numbers_of)
        if np.isnan(numbers_of.min()) and np.isnan(numbers_of).sum() > column.null_count:
            return None  # one is the text NaN
    for block in blocks:
        block.setflags(write=False)
    cells |= zip(numeric, chain(*blocks), strict=True)
    return Columns(layout, cells)
