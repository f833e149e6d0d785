"""What is kept from one run to the next: a document in JSON below the hash of its bytes.

What is damaged or cut off is nothing, and made anew; nothing in it is ever run.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any, TypeVar

import msgspec

_MAGIC = b"soft-sed-eval kept 1 "

_T = TypeVar("_T")


def seal(document: Any) -> bytes:  # noqa: ANN401 - whatever JSON has, and structs
    """Return a document as bytes that `unsealed` reads back; the same document gives the same bytes."""
    # Names may hold what no UTF-8 has: ASCII keeps them as they are.
    text = json.dumps(msgspec.to_builtins(document), sort_keys=True, separators=(",", ":")).encode("ascii")
    return _MAGIC + sha256(text).hexdigest().encode("ascii") + b"\n" + text


def unsealed(data: bytes, kind: type[_T]) -> _T | None:
    """Return the document of a type that bytes hold, None where they are not as they were written."""
    head, _, text = data.partition(b"\n")
    if head != _MAGIC + sha256(text).hexdigest().encode("ascii"):
        return None
    try:
        return msgspec.convert(json.loads(text), kind)
    except (ValueError, RecursionError, msgspec.ValidationError):
        return None
