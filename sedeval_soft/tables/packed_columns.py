"""What a file of columns will take when it is decoded, by the headers of its pages and buffers alone.

A few bytes may stand for gigabytes: what a file says of itself elsewhere, as in the footer of Parquet, is not
what pyarrow reads by. It takes memory for a page of Parquet as the header before that page says, and for a
buffer of Arrow as its first eight bytes say.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sedeval_soft.tables.source import Bytes

DICTIONARY, DELTA = 2, 7
"""The kind of a page that has the dictionary of others; the encoding of texts as ends of those before."""

CODED = frozenset({0, 2, 8})
"""Encodings that pyarrow can read as they lie, texts as codes: plain, and codes into a dictionary."""

_DEEPEST = 16


@dataclass(frozen=True, slots=True)
class Page:
    """A page of Parquet by its header: the number of its column, its kind, bytes, and encoding of values."""

    column: int
    kind: int
    size: int
    encoding: int


def pages(data: Bytes, metadata: Any, columns: Collection[str]) -> Iterator[Page]:  # noqa: ANN401 - pyarrow
    """Yield the pages of some columns of a Parquet file; raises ValueError where a header is none."""
    wanted = [
        i for i in range(metadata.num_columns)
        if {(path := metadata.schema.column(i).path), path.partition(".")[0]} & {*columns}
    ]  # fmt: skip
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for i in wanted:
            chunk = group.column(i)
            at = chunk.data_page_offset
            if chunk.has_dictionary_page and 0 < chunk.dictionary_page_offset < at:
                at = chunk.dictionary_page_offset
            end, n_values = at + chunk.total_compressed_size, 0
            while at < end and n_values < chunk.num_values:  # as pyarrow does
                header = _Thrift(data, at)
                fields = header.struct()
                size, packed = fields.get(2), fields.get(3)
                if not (isinstance(size, int) and isinstance(packed, int) and size >= 0 and packed >= 0):
                    raise ValueError("the header of a page has no size")
                kind = fields.get(1, 0)
                more = fields.get({0: 5, DICTIONARY: 7, 3: 8}.get(kind, 5))
                more = more if isinstance(more, dict) else {}
                encoding = more.get(4 if kind == 3 else 2, 0)
                yield Page(i, kind, size, encoding)
                n_values += more.get(1, 0) if kind in {0, 3} else 0
                at = header.at + packed


class _Thrift:
    """Thrift's compact protocol, of which the headers of pages are: fields by their numbers."""

    def __init__(self, data: Bytes, at: int) -> None:
        """Begin somewhere in bytes."""
        self.at, self._data = at, data

    def _byte(self) -> int:
        if not 0 <= self.at < len(self._data):
            raise ValueError("the header of a page is beyond the file")
        self.at += 1
        return self._data[self.at - 1]

    def _varint(self) -> int:
        number = shift = 0
        while True:
            byte = self._byte()
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return number
            if shift > 70:
                raise ValueError("the header of a page has a number without end")

    def _whole(self) -> int:
        number = self._varint()
        return (number >> 1) ^ -(number & 1)

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """Return the fields of a structure, texts and lists left out."""
        if depth > _DEEPEST:
            raise ValueError("the header of a page is nested too deeply")
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._whole()
            fields[number] = self._value(head & 15, depth)
        return fields

    def _value(self, kind: int, depth: int, *, item: bool = False) -> Any:  # noqa: ANN401 - of any type
        if kind in {1, 2}:  # truth values: in lists they have a byte
            return self._byte() == 1 if item else kind == 1
        if kind in {3, 4, 5, 6}:
            return self._byte() if kind == 3 else self._whole()
        if kind in {7, 8}:
            length = 8 if kind == 7 else self._varint()
            self.at += length
            return None
        if kind in {9, 10}:
            head = self._byte()
            for _ in range(head >> 4 if head >> 4 < 15 else self._varint()):
                self._value(head & 15, depth, item=True)
            return None
        if kind == 12:
            return self.struct(depth + 1)
        raise ValueError("the header of a page has a field of no known type")


def message_sizes(buffer: Any) -> Iterator[int]:  # noqa: ANN401
    """Yield the bytes that each message of an Arrow stream takes, decoded, before it is.

    Raises ValueError where a message cannot be followed.
    """
    for message in pa.ipc.MessageReader.open_stream(pa.BufferReader(buffer)):
        header = _Table.root(memoryview(message.metadata or b""), 0).table(2)
        if header is not None and message.type == "dictionary":
            header = header.table(1)
        if header is None or message.type not in {"record batch", "dictionary"}:
            continue
        offsets, lengths = np.frombuffer(header.vector(2, 16), dtype="<i8").reshape(-1, 2).T
        if header.table(3) is None:  # as they lie in the file
            yield int(lengths.clip(0).sum())
            continue
        body = memoryview(message.body or b"")
        sizes = [_unpacked("q", body, start) for start in offsets[lengths >= 8].tolist()]
        # -1 says that a buffer is not compressed after all.
        yield sum(max(0, size) for size in sizes) + int(lengths.clip(0).sum())


@dataclass(frozen=True, slots=True)
class _Table:
    """A table of FlatBuffers, in which Arrow describes its messages."""

    data: memoryview
    at: int

    @classmethod
    def root(cls, data: memoryview, at: int) -> _Table:
        return cls(data, at + _unpacked("I", data, at))

    def _place(self, field: int) -> int:
        """Return where a field stands, 0 where there is none of that number."""
        directory = self.at - _unpacked("i", self.data, self.at)
        length = _unpacked("H", self.data, directory)
        offset = _unpacked("H", self.data, directory + 4 + 2 * field) if 6 + 2 * field <= length else 0
        return self.at + offset if offset else 0

    def table(self, field: int) -> _Table | None:
        place = self._place(field)
        return _Table.root(self.data, place) if place else None

    def vector(self, field: int, size: int) -> bytes:
        """Return the items of a vector, of so many bytes each."""
        place = self._place(field)
        if not place:
            return b""
        place += _unpacked("I", self.data, place)
        return bytes(self.data[place + 4 : place + 4 + size * _unpacked("I", self.data, place)])


def _unpacked(kind: str, data: memoryview, at: int) -> int:
    if not 0 <= at <= len(data) - struct.calcsize(kind):
        raise ValueError("a description of a message is beyond the file")
    number: int = struct.unpack_from(f"<{kind}", data, at)[0]
    return number


def text_bytes(column: Any) -> tuple[int, int]:  # noqa: ANN401 - pyarrow is untyped
    """Return the bytes of all texts of a column of Arrow together, and of the longest; of others 0.

    Of a dictionary those of its texts, once each.
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
