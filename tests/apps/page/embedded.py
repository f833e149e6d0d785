"""What a page embeds, read as its scripts read it."""

from __future__ import annotations

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np

_KINDS = {"f8": "<f8", "f4": "<f4", "u1": "<u1", "u2": "<u2", "u4": "<u4", "i4": "<i4"}


def embedded(path: Path) -> dict[str, Any]:
    """Return the data of a page, with its arrays."""
    text = path.read_text(encoding="utf-8")
    data = json.loads(zlib.decompress(base64.b64decode(_element(text, "data"))))
    return revived(data, _element(text, "packed"))


def revived(data: Any, packed: str) -> Any:
    """Return data with arrays in the place of notes of where they are."""
    return _revive(data, zlib.decompress(base64.b64decode(packed)))


def _element(text: str, name: str) -> str:
    return re.search(rf'<script[^>]* id="{name}">(.*?)</script>', text, re.DOTALL)[1]


def _revive(value: Any, buffer: bytes) -> Any:
    if isinstance(value, list):
        return [_revive(item, buffer) for item in value]
    if not isinstance(value, dict):
        return value
    if "$" in value:
        stored = np.frombuffer(buffer, _KINDS[value["$"]], value["n"], value["at"])
        if not value.get("steps"):
            return stored
        return np.cumsum(np.where(stored % 2, -(stored.astype(np.int64) + 1) // 2, stored // 2))
    return {key: _revive(item, buffer) for key, item in value.items()}
