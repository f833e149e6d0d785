"""Arrays in a page: all of them one after another, compressed, as one text that the page unpacks."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

_KINDS = {"f8": "<f8", "f4": "<f4", "u1": "<u1", "u2": "<u2", "u4": "<u4", "i4": "<i4"}
_ALIGNED = 8
"""Bytes at whose multiples arrays begin: browsers read numbers only from there."""

_LEVEL = 6


class Packer:
    """Takes arrays, and gives each a note of where it is, which stands in the page's data in its place."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def __call__(self, array: npt.NDArray[Any], kind: str | None = None) -> dict[str, Any]:
        """Keep an array, (n,); kind: of numbers, None for the smallest that holds all of it exactly."""
        kind = kind or _kind_of(array)
        data = np.ascontiguousarray(array, dtype=_KINDS[kind]).tobytes()
        note = {"$": kind, "at": self._size, "n": int(array.size)}
        data += bytes(-len(data) % _ALIGNED)
        self._parts.append(data)
        self._size += len(data)
        return note

    def text(self) -> str:
        """Return all arrays as base64 of zlib's format."""
        return base64.b64encode(zlib.compress(b"".join(self._parts), _LEVEL)).decode("ascii")


def _kind_of(array: npt.NDArray[Any]) -> str:
    if array.dtype.kind == "f":
        return "f8"
    highest = int(array.max()) if array.size else 0
    if array.size and int(array.min()) < 0:
        return "i4"
    return "u1" if highest < 1 << 8 else "u2" if highest < 1 << 16 else "u4"


def script_json(value: Any) -> str:  # noqa: ANN401 - whatever JSON has
    """Return a value as JSON that can stand in a script element whatever texts it holds; NaN is null."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # The only ways out of a script element, and two characters that older scripts take for the end of a line.
    for character in ("<", ">", "&", "\u2028", "\u2029"):
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
