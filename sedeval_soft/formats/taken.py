"""Bytes of an input as they are gathered, up to the limit of their size and to what memory has."""

from __future__ import annotations

import io
import math
import mmap
from typing import IO

from sedeval_soft.core.intake import Limits

_CHECKED = 1 << 26
"""Bytes after which it is asked whether there is memory for as many more."""

SPARED = 1 << 24
"""Decompressed bytes for which no ratio is looked at: a short table of zeros is no harm."""

Bytes = bytes | mmap.mmap


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
            from sedeval_soft.core.room import check_room

            # The buffer doubles, more or less, when it is full.
            check_room(self.size, f"{self._name}: to hold it", "Expected less data, or in several parts")
            self._checked = self.size + _CHECKED
        self._stream.write(piece)

    def whole(self) -> bytes:
        """Return all that are in memory, without another copy."""
        return self._memory.getvalue()
