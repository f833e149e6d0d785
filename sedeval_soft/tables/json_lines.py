"""JSON lines: an object for each row, its fields called as the columns of tables are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from sedeval_soft.errors import MAX_PROBLEMS, InputError, Problem
from sedeval_soft.tables.annotation_document import HEAD, NO_JSON, objects
from sedeval_soft.tables.columns import looks_like_header
from sedeval_soft.tables.event_table import EventTable, Origin
from sedeval_soft.tables.fit import PLAIN, silent_files, written_columns
from sedeval_soft.tables.frames import rows_from_objects
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.source import SPARED, Source

_CELL = 8
"""Bytes of a cell at the least, whether an object has it or not."""

_DOCUMENTS = (("annotations", list), ("data", dict))
"""The keys and types of documents of annotations, which may be on one line as well."""


def reads_jsonl(source: Source, limits: Limits) -> bool:  # noqa: ARG001
    """Return whether the first line is a JSON object with an onset and an offset, or the name of a file."""
    try:
        first = msgspec.json.decode(source.data[:HEAD].lstrip().split(b"\n", 1)[0], type=dict[str, Any])
    except NO_JSON:
        return False
    is_document = any(isinstance(first.get(key), kind) for key, kind in _DOCUMENTS)
    return not is_document or looks_like_header([*first])


def read_jsonl(source: Source, limits: Limits) -> EventTable | None:
    """Read an object per line, as rows of a data frame; raises InputError with the first that are wrong."""
    lines, rows, problems = [], [], []
    for line, row in objects(source):
        if isinstance(row, Problem):
            problems.append(row)
            if len(problems) > MAX_PROBLEMS:
                break
        else:
            lines.append(line)
            rows.append(row)
    if problems:
        raise InputError(problems[:MAX_PROBLEMS], more=len(problems) > MAX_PROBLEMS)
    if not rows:
        return None
    limits.check(source.name, "rows", len(rows), "rows")
    names = {key for row in rows for key in row}
    limits.check(source.name, "classes", len(names) - PLAIN, "fields of classes")
    # A field that one object has is a column of all.
    size = _CELL * len(rows) * len(names)
    if size > SPARED:
        limits.check(source.name, "ratio", size // len(source.data), "bytes of cells per byte")
    origin = Origin(source.name, source.sha256, "JSON lines, {}")
    return rows_from_objects(rows, lines, origin, limits)


def write_jsonl(rows: EventTable) -> bytes:
    """Return an object for each row."""
    columns = written_columns(rows, "jsonl", "")
    names = [name for name, _, _ in columns]
    cells: list[Sequence[object]] = [
        column.tolist() if among is None else [among[code] for code in column.tolist()]
        for _, among, column in columns
    ]
    encode = msgspec.json.Encoder().encode
    lines = [encode(dict(zip(names, row, strict=True))) for row in zip(*cells, strict=True)]
    lines += [encode(dict.fromkeys(names, None) | {"filename": name}) for name in silent_files(rows)]
    return b"".join(line + b"\n" for line in lines)
