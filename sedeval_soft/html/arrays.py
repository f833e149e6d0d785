"""Arrays in a page: all of them one after another, compressed, as one text that the page unpacks."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

_KINDS = {"f8": "<f8", "f4": "<f4", "u1": "<u1", "u2": "<u2", "u4": "<u4", "i4": "<i4"}
_ALIGNED = 8
"""Bytes at whose multiples arrays begin: browsers read numbers only from there."""

_LEVEL = 4


class Packer:
    """Takes arrays, and gives each a note of where it is, which stands in the page's data in its place."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self._at: dict[tuple[str, bytes], int] = {}

    def __call__(self, array: npt.NDArray[Any], kind: str | None = None) -> dict[str, Any]:
        """Keep an array, (n,); kind: of numbers, None for the smallest that holds all of it exactly."""
        kind = kind or _kind_of(array)
        data = np.ascontiguousarray(array, dtype=_KINDS[kind]).tobytes()
        # Several systems share a reference: what is there already is not kept again.
        key = kind, hashlib.sha256(data).digest()
        at = self._at.setdefault(key, self._size)
        if at == self._size:
            data += bytes(-len(data) % _ALIGNED)
            self._parts.append(data)
            self._size += len(data)
        return {"$": kind, "at": at, "n": int(array.size)}

    def steps(self, array: npt.NDArray[np.integer[Any]]) -> dict[str, Any]:
        """Keep integers that change little from one to the next, (n,), by their differences.

        Of these 0, -1, 1, -2, ... are written as 0, 1, 2, 3, ...
        """
        change = np.diff(array.astype(np.int64), prepend=0)
        return self(np.where(change < 0, -2 * change - 1, 2 * change)) | {"steps": True}

    def text(self) -> str:
        """Return all arrays as base64 of zlib's format."""
        return packed_bytes(b"".join(self._parts))


def _kind_of(array: npt.NDArray[Any]) -> str:
    if array.dtype.kind == "f":
        return "f8"
    highest = int(array.max()) if array.size else 0
    if array.size and int(array.min()) < 0:
        return "i4"
    return "u1" if highest < 1 << 8 else "u2" if highest < 1 << 16 else "u4"


def packed_json(value: Any) -> str:  # noqa: ANN401 - whatever JSON has
    """Return a value as JSON, packed as arrays are: no text in it can end the element that it stands in."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return packed_bytes(text.encode("utf-8", "backslashreplace"))


def packed_bytes(data: bytes) -> str:
    """Return bytes as base64 of zlib's format."""
    return base64.b64encode(zlib.compress(data, _LEVEL)).decode("ascii")
