"""Tables of parts: filename and the fold or scene that a file belongs to, with or without a header."""

from __future__ import annotations

import os
from collections.abc import Sequence

from sedeval_soft.core.intake import LIMITS, Limits
from sedeval_soft.core.partition import Partition
from sedeval_soft.formats.by_file import Places, Saying, file_columns, read_by_file
from sedeval_soft.formats.columns import is_number, normal
from sedeval_soft.formats.source import open_source
from sedeval_soft.settings import PART_NAMES, is_part_name

_PART = frozenset(
    f"{name}{ending}"
    for name in ("fold", "split", "scene", "group", "part", "partition", "subset", "location", "city")
    for ending in ("", "_id", "_label", "_name", "_number")
)


def read_partition(
    path: str | os.PathLike[str], prefer: Sequence[str] = (), limits: Limits = LIMITS
) -> Partition:
    """Return the part of each file that a table names.

    prefer: names of columns, as `fold`, that are parts even where there are others that could be. A file may
    stand there many times if it has one part. Raises InputError with all that is wrong, up to `MAX_PROBLEMS`.
    """
    source = open_source(path, limits=limits)
    names = frozenset(prefer)
    parts = read_by_file(source, Saying("part", lambda fields: _places(fields, names), _part, repr), limits)
    return Partition(parts, source.name, source.sha256)


def _places(fields: Sequence[str], prefer: frozenset[str]) -> Places | None:
    files = file_columns(fields)
    names = [normal(field) for field in fields]
    for known in (prefer, _PART):
        parts = [i for i, name in enumerate(names) if name in known]
        if len(parts) > 1:
            several = " and ".join(repr(fields[i].strip()) for i in parts)
            raise ValueError(f"columns {several} could each be the part; expected one of them")
        if parts and not files:
            found = fields[parts[0]].strip()
            raise ValueError(f"{found!r} names a column of parts, but no column is filename; expected one")
        if parts:
            return Places(files[0], parts[0], header=True)
    if len(fields) != 2:
        return None
    if files and not any(is_number(field) for field in fields):
        return Places(files[0], 1 - files[0], header=True)
    return Places(0, 1, header=False, width=2)


def _part(text: str) -> str:
    if not is_part_name(text):
        raise ValueError(f"part {text!r} cannot stand in names of scores; expected {PART_NAMES}")
    return text
