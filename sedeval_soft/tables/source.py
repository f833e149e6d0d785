"""The bytes of an input: from a file, standard input or a URL, gzipped or not, with their hash."""

from __future__ import annotations

import hashlib
import mmap
import os
import re
import stat
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from sedeval_soft.errors import InputError, Problem
from sedeval_soft.tables.limits import LIMITS, Limits

Bytes = bytes | mmap.mmap

BOM = b"\xef\xbb\xbf"
"""The byte order mark of UTF-8, which readers take away."""

GZIP = b"\x1f\x8b"
"""How what gzip has compressed begins."""

_LARGE = 1 << 20
"""Bytes from which a file is mapped, and hashed in a thread of its own while the table is read."""

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.:-]+://", re.ASCII)
_MAGIC = "*?["
_PACKED = (".gz", ".bz2", ".xz", ".zip", ".tgz", ".tbz", ".tbz2", ".txz", ".parquet", ".pq", ".arrow")
_UNPACKED = 6
"""How many bytes of text a packed byte stands for."""


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


def open_source(
    path: str | os.PathLike[str], stdin: BinaryIO | None = None, limits: Limits = LIMITS
) -> Source:
    """Take in a file, or standard input for `-`; raises InputError where that fails, or over a limit."""
    name = os.fspath(path)
    data = raw = read_bytes(name, stdin, limits)
    digest = hashed(raw, lambda raw: hashlib.sha256(raw).hexdigest())
    if raw[:2] == GZIP:
        from sedeval_soft.tables.compressed import decompress

        data = decompress(spelled(name), raw, limits)
    if data[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        raise InputError(Problem(name, "is UTF-16; expected UTF-8 text", line=1, code="utf-16"))
    return Source(spelled(name), data[len(BOM) :] if data[: len(BOM)] == BOM else data, digest)


def hashed(raw: Bytes, sha256: Callable[[Bytes], str]) -> Callable[[], str]:
    """Return what gives the hash of bytes, which is made meanwhile where there are many."""
    if len(raw) < _LARGE:
        digest = sha256(raw)
        return lambda: digest
    from concurrent.futures import ThreadPoolExecutor

    thread = ThreadPoolExecutor(1, thread_name_prefix="sha256")
    future = thread.submit(sha256, raw)
    thread.shutdown(wait=False)
    return future.result


def read_bytes(name: str, stdin: BinaryIO | None = None, limits: Limits = LIMITS) -> Bytes:
    """Return the bytes of a file, or of standard input for `-`; raises InputError as `open_source` does.

    Those of a small file are a copy, those of a large one its mapped pages.
    """
    if not name:
        message = "is not the name of a file; expected a path, or - for standard input"
        raise _unreadable("''", message)
    if name == "-" and stdin is None and sys.stdin is None:
        raise _unreadable(name, "standard input is closed; expected a table there")
    if is_url(name):
        from sedeval_soft.tables.remote import fetch

        return fetch(name, limits)
    try:
        if name == "-":
            return _drained(name, stdin or sys.stdin.buffer, limits)
        with Path(name).open("rb") as file:
            state = os.fstat(file.fileno())
            if not stat.S_ISREG(state.st_mode) or state.st_size < _LARGE:
                # A device or a pipe has no size, and may have no end.
                return _drained(name, file, limits)
            if state.st_size > limits.size:
                raise limits.refusal(spelled(name), "size", f"has {state.st_size} bytes", state.st_size)
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise _unreadable(name, f"cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise _unreadable(repr(name), f"is not the name of a file: {error}") from error


def _unreadable(name: str, message: str) -> InputError:
    return InputError(Problem(name, message, code="unreadable-file"))


def _drained(name: str, file: BinaryIO, limits: Limits) -> bytes:
    """Return all that a stream has, unless that is more than it may be."""
    most = min(_LARGE, limits.size + 1)
    first = file.read(most)
    if len(first) < most:
        return first
    from sedeval_soft.tables.compressed import Taken

    taken = Taken(spelled(name), limits)
    taken.add(first)
    while piece := file.read(_LARGE):
        taken.add(piece)
    return taken.whole()


def spelled(name: str) -> str:
    """Return the name of a file as text: bytes in it that are not UTF-8 are written as escapes."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


def is_url(name: str) -> bool:
    """Return whether a name is that of a file elsewhere, such as `s3://bucket/ref.parquet`."""
    return _URL.match(name) is not None


def is_pattern(name: str) -> bool:
    """Return whether a name is a pattern of names, such as `ref/*.parquet`, and no file's own."""
    if is_url(name):
        # Of the web, a question mark begins a query.
        magic = "*[" if name.lower().startswith("http") else _MAGIC
        return any(sign in name for sign in magic)
    return any(sign in name for sign in _MAGIC) and not os.path.lexists(name)


def in_shards(name: str) -> bool:
    """Return whether a name is a pattern, or that of a file elsewhere, which is read as one shard."""
    return is_url(name) or is_pattern(name)


def extension_of(name: str) -> str:
    """Return the extension of a file's name, below `.gz`, `.bz2` or `.xz`, in lower case."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1].lower()
    for compressed in (".gz", ".bz2", ".xz"):
        last = last.removesuffix(compressed)
    dot = last.rfind(".")
    return last[dot:] if dot > 0 else ""


def bytes_as_text(name: str, size: int) -> int:
    """Return the bytes that a file of so many bytes would have as text, estimated."""
    packed = name.lower().endswith(_PACKED) or extension_of(name) in _PACKED
    return size * _UNPACKED if packed else size
