"""Decompression that counts what comes out: what a file says of its own size is not believed."""

from __future__ import annotations

import io
import math
import mmap
import re
import zlib
from typing import IO

from sedeval_soft.errors import InputError, Problem
from sedeval_soft.tables.limits import LIMITS, Limits

Bytes = bytes | mmap.mmap

SPARED = 1 << 24  # decompressed bytes for which no ratio is looked at: a short table of zeros is no harm
_CHECKED = 1 << 26  # bytes after which it is asked whether there is memory for as many more
_IN, _OUT = 1 << 16, 1 << 20  # bytes that are handed over at a time, and that come back at the most
_GZIP = 31  # what zlib calls a stream with the head and the checksum of gzip


class Taken:
    """Bytes that are gathered from where nobody says how many there are."""

    def __init__(self, name: str, limits: Limits, file: IO[bytes] | None = None) -> None:
        """Begin with none; name: of the input. file: where they go, in memory where there is none."""
        self.size = 0
        self._name, self._limits = name, limits
        self._memory = io.BytesIO()
        self._stream = self._memory if file is None else file
        self._checked = _CHECKED if file is None else math.inf

    def add(self, piece: bytes) -> None:
        """Take in some more; raises InputError over the limit of size, RoomError where memory is short."""
        self.size += len(piece)
        if self.size > self._limits.size:
            raise self._limits.refusal(self._name, "size", f"has more than {self._limits.size} bytes")
        if self.size > self._checked:
            from sedeval_soft.memory import check_room

            # The buffer doubles, more or less, when it is full.
            check_room(self.size, f"{self._name}: to hold it", "Expected less data, or in several parts")
            self._checked = self.size + _CHECKED
        self._stream.write(piece)

    def whole(self) -> bytes:
        """Return all that are in memory, without another copy."""
        return self._memory.getvalue()


def decompress(name: str, raw: Bytes, limits: Limits = LIMITS, taken: Taken | None = None) -> bytes:
    """Return what gzipped bytes stand for, of one member after another; nothing where they go to a file.

    name: of the input. taken: where they go, memory where there is none. Raises InputError where they are
    damaged, and where they become more than limits allow: they are counted as they come, whatever they
    declare.
    """
    taken = taken or Taken(name, limits)
    at = 0
    with memoryview(raw) as view:
        try:
            while at < len(view):
                member = zlib.decompressobj(_GZIP)
                piece = b""
                while not member.eof:
                    given = bytes(view[at : at + _IN])
                    if not given and len(piece) < _OUT:
                        raise EOFError("it ends before its end was marked")
                    piece = member.decompress(given, _OUT)
                    at += len(given) - len(member.unconsumed_tail) - len(member.unused_data)
                    taken.add(piece)
                    if taken.size > max(SPARED, limits.ratio * at):
                        why = f"has more than {limits.ratio} bytes for each compressed one"
                        raise limits.refusal(name, "ratio", why)
                # Zeros may fill up the last block of a tape.
                while at < len(view) and not view[at]:
                    at += re.match(rb"\0*", view[at : at + _OUT]).end()  # type: ignore[union-attr]  # it matches
        except (EOFError, zlib.error) as error:
            message = f"begins like gzip, but cannot be decompressed: {error}"
            raise InputError(Problem(name, message, code="broken-gzip")) from error
    return taken.whole()


def compressed(path: str, data: bytes) -> bytes:
    """Return bytes as a file of that name holds them: compressed where its extension says so."""
    import bz2
    import gzip
    import lzma

    end = path.lower()[-4:]
    if end.endswith(".gz"):
        return gzip.compress(data, mtime=0)  # the same input gives the same bytes
    return bz2.compress(data) if end == ".bz2" else lzma.compress(data) if end.endswith(".xz") else data
