"""The bytes of an input: from a file or standard input, gzipped or not, with their hash."""

from __future__ import annotations

import hashlib
import mmap
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from sedeval_soft.core.errors import InputError, Problem

_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"
_LARGE = 1 << 20
"""Bytes from which a file is mapped, and hashed in a thread of its own while the table is read."""


Bytes = bytes | mmap.mmap


@dataclass(frozen=True, slots=True)
class Source:
    """An input's text.

    name: as the user gave it. data: UTF-8 bytes, decompressed, without byte order
        mark; a large file is mapped, not copied.
    """

    name: str
    data: Bytes
    _digest: Callable[[], str]

    @property
    def sha256(self) -> str:
        """Return the SHA-256 of the bytes as they came, before decompression."""
        return self._digest()


def open_source(path: str | os.PathLike[str], stdin: BinaryIO | None = None) -> Source:
    """Take in a file, or standard input for `-`; raises InputError where that fails."""
    name = os.fspath(path)
    if not name:
        raise InputError(Problem("''", "is not the name of a file; expected a path, or - for standard input"))
    if name == "-" and stdin is None and sys.stdin is None:
        raise InputError(Problem(name, "standard input is closed; expected a table there"))
    try:
        raw = (stdin or sys.stdin.buffer).read() if name == "-" else _take_in(Path(name))
    except OSError as error:
        raise InputError(Problem(name, f"cannot be read: {error.strerror or error}")) from error
    except ValueError as error:
        raise InputError(Problem(repr(name), f"is not the name of a file: {error}")) from error
    digest = _hash(raw)
    data = _decompress(name, raw) if raw[:2] == _GZIP else raw
    if data[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        raise InputError(Problem(name, "is UTF-16; expected UTF-8 text", line=1))
    return Source(spelled(name), data[len(_BOM) :] if data[: len(_BOM)] == _BOM else data, digest)


def spelled(name: str) -> str:
    """Return the name of a file as text: bytes in it that are not UTF-8 are written as escapes."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


def _take_in(path: Path) -> Bytes:
    """Return the bytes of a file: a copy of a small one, the mapped pages of a large one."""
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size < _LARGE:
            return file.read()
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _hash(raw: Bytes) -> Callable[[], str]:
    if len(raw) < _LARGE:
        digest = hashlib.sha256(raw).hexdigest()
        return lambda: digest
    from concurrent.futures import ThreadPoolExecutor

    with_thread = ThreadPoolExecutor(1, thread_name_prefix="sha256")
    future = with_thread.submit(lambda: hashlib.sha256(raw).hexdigest())
    with_thread.shutdown(wait=False)
    return future.result


def _decompress(name: str, raw: Bytes) -> bytes:
    import gzip
    import zlib

    try:
        return gzip.decompress(raw)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(Problem(name, f"begins like gzip, but cannot be decompressed: {error}")) from error
