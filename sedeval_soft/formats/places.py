"""Where a table is by its name: a file here, one elsewhere (a URL), or all files that a pattern fits."""

from __future__ import annotations

import os
import re

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.:-]+://", re.ASCII)
_MAGIC = "*?["


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


def any_in_shards(reference: str, system: str) -> bool:
    """Return whether one of two tables is in shards, and neither is standard input."""
    return "-" not in (reference, system) and (in_shards(reference) or in_shards(system))


def in_shards(name: str) -> bool:
    """Return whether a name is a pattern, or that of a file elsewhere, which is read as one shard."""
    return is_url(name) or is_pattern(name)
