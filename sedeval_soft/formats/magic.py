"""Whether an input may be something else than a table of text: a glance that costs nothing."""

from __future__ import annotations

from sedeval_soft.formats.taken import Bytes

BOM = b"\xef\xbb\xbf"
"""The byte order mark of UTF-8, which readers take away."""

_BEGINNINGS = (
    *(b"PAR1", b"ARROW1", b"\xff\xff\xff\xff", b"PK", b"BZh", b"\xfd7zXZ", b"{"),
    *(b"SPEAKER", b"SPKR", b";;"),
)

EXTENSIONS = frozenset(
    {
        *(".parquet", ".pq", ".arrow", ".feather", ".ipc", ".arrows", ".jsonl", ".ndjson", ".jams", ".rttm"),
        *(".zip", ".tar", ".tgz", ".tbz", ".tbz2", ".txz"),
    }
)
"""Of forms that are no tables of text with delimiters."""


_UNPACKED = 6
"""How many bytes of text a packed byte stands for."""


def bytes_as_text(name: str, size: int) -> int:
    """Return the bytes that a file of so many bytes would have as text, estimated."""
    packed = name.lower().endswith(".gz") or extension_of(name) in EXTENSIONS
    return size * _UNPACKED if packed else size


def may_be_no_table(data: Bytes, name: str) -> bool:
    """Return whether the forms must be asked before a table of text is looked for."""
    return data[:8].startswith(_BEGINNINGS) or extension_of(name) in EXTENSIONS or data[257:262] == b"ustar"


def extension_of(name: str) -> str:
    """Return the extension of a file's name, below `.gz`, `.bz2` or `.xz`, in lower case."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1].lower()
    for compressed in (".gz", ".bz2", ".xz"):
        last = last.removesuffix(compressed)
    dot = last.rfind(".")
    return last[dot:] if dot > 0 else ""


def without_mark(data: Bytes) -> Bytes:
    """Return bytes without the mark of UTF-8 that some programs begin a text with."""
    return data[len(BOM) :] if data[: len(BOM)] == BOM else data
