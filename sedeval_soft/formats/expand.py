"""Decompression that counts what comes out: what a file says of its own size is not believed."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import IO, cast

import pyarrow as pa

from sedeval_soft.core.errors import InputError, Problem
from sedeval_soft.core.intake import Limits
from sedeval_soft.formats.taken import Bytes

FREE = 1 << 26
"""Decompressed bytes to which the ratio does not matter: tables of zeros are small."""

_PIECE = 1 << 20
_BZIP2 = (b"1AY&SY", b"\x17rE8P\x90")
"""What follows `BZh9`: a block, or the end where there is none."""


def compression_of(data: Bytes) -> str:
    """Return how bytes are compressed, nothing where they are not."""
    head = data[:10]
    if head[:2] == b"\x1f\x8b":
        return "gzip"
    if head[:3] == b"BZh" and head[4:] in _BZIP2:
        return "bzip2"
    return "xz" if head[:6] == b"\xfd7zXZ\x00" else ""


def check_size(name: str, found: int, compressed: int, limits: Limits) -> None:
    """Raise InputError where more came out of a compressed input than is taken in."""
    limits.check(name, "size", found, "decompressed bytes")
    if found > FREE:
        limits.check(name, "ratio", found // max(1, compressed), "decompressed bytes per byte")


def expand(name: str, data: Bytes, kind: str, check: Callable[[int], None]) -> bytes:
    """Return what compressed bytes hold; raises InputError where they are broken.

    check: is told how many bytes came out so far, and raises where they are too many.
    """
    import lzma
    import zlib

    found: list[bytes] = []
    size = 0
    try:
        with _opened(data, kind) as file:
            while piece := file.read(_PIECE):
                size += len(piece)
                check(size)
                found.append(piece)
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
        message = f"begins like {kind}, but cannot be decompressed: {error}"
        raise InputError(Problem(name, message, code="broken-archive")) from error
    return b"".join(found)


def as_file(data: Bytes) -> IO[bytes]:
    """Return bytes as a file that is read, without a copy of them."""
    return cast("IO[bytes]", io.BufferedReader(pa.BufferReader(pa.py_buffer(data))))


def _opened(data: Bytes, kind: str) -> IO[bytes]:
    import bz2
    import gzip
    import lzma

    file = as_file(data)
    if kind == "gzip":
        return cast("IO[bytes]", gzip.GzipFile(fileobj=file))
    return cast("IO[bytes]", bz2.BZ2File(file) if kind == "bzip2" else lzma.LZMAFile(file))


def compressed(path: str, data: bytes) -> bytes:
    """Return bytes as a file of that name holds them: compressed where its extension says so."""
    import bz2
    import gzip
    import lzma

    last = path.lower()
    if last.endswith(".gz"):
        return gzip.compress(data, mtime=0)  # the same input gives the same bytes
    if last.endswith(".bz2"):
        return bz2.compress(data)
    return lzma.compress(data) if last.endswith(".xz") else data
