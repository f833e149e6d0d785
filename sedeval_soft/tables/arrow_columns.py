"""Columns of Arrow, of any type, as the numbers, names and dates that columns of tables have.

Other cells raise one of `FAILURES`. Numbers are taken from the buffers of arrays: pyarrow's own conversion to
numpy imports pandas first.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa

from sedeval_soft.arrays import Array, Floats
from sedeval_soft.tables.columns import TIMES, WORDS
from sedeval_soft.tables.rows import Texts
from sedeval_soft.tables.ticks import as_written

FAILURES = (pa.ArrowException, TypeError, ValueError, OverflowError)

TEXT = pa.large_string()


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
        return names(array) if is_text(kind) else numbers(array, None)
    return np.full(len(column), np.nan)


def words_as_numbers(texts: Any) -> Any:  # noqa: ANN401
    """Return texts as numbers, words for 1 or 0 as these, blank ones as null."""
    import pyarrow.compute as pc

    trimmed = pc.utf8_trim_whitespace(texts.cast(TEXT))
    upper = pc.utf8_upper(trimmed)
    for word, number in WORDS.items():
        trimmed = pc.if_else(pc.equal(upper, word), number, trimmed)
    return pc.if_else(pc.equal(trimmed, ""), pa.scalar(None, TEXT), trimmed).cast(pa.float64())


def numbers(column: Any, role: str | None) -> Floats:  # noqa: ANN401
    """Return a column of numbers, missing ones as NaN.

    role: of soft values, which may be words for 1 or 0; times are not true or false.
    """
    array = _array(column)
    if pa.types.is_dictionary(array.type):
        values, codes = _distinct(array)
        return numbers(values, role)[codes]
    if role == "soft_value" and is_text(array.type):
        array = words_as_numbers(array)
    sound = is_number(array.type) or is_text(array.type) or pa.types.is_null(array.type)
    if not sound or (role in TIMES and pa.types.is_boolean(array.type)):
        raise pa.ArrowTypeError(f"it is of type {array.type}")
    if array.type not in {pa.float16(), pa.float32(), pa.float64()}:
        # Imports pyarrow.compute. Integers that are rounded here are too large for times and values.
        array = array.cast(pa.float64(), safe=False)
    kind = array.type.to_pandas_dtype()
    found = buffer_of(array, kind)
    if array.null_count:
        bits = np.frombuffer(array.buffers()[0], dtype=np.uint8)
        present = np.unpackbits(bits, bitorder="little")[array.offset :][: len(array)]
        found = np.where(present, found, np.array(np.nan, dtype=kind))
    return found if found.dtype == np.float64 else as_written(found)


def names(column: Any, *, beside: bool = False) -> Texts:  # noqa: ANN401
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


def dates(column: Any) -> Texts | Floats:  # noqa: ANN401
    """Return dates and times of day as ticks since 1970, missing ones as NaN; or as texts."""
    array = _array(column)
    if not pa.types.is_timestamp(array.type):
        return names(array)
    ticks = array.cast(pa.timestamp("us", array.type.tz), safe=False).cast(pa.int64())
    return numbers(ticks.cast(pa.float64()), None)


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
