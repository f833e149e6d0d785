"""JSON lines: an object for each row, its fields called as the columns of tables are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sedeval_soft.errors import MAX_PROBLEMS, InputError, Problem, quoted
from sedeval_soft.tables.columns import looks_like_header
from sedeval_soft.tables.event_table import EventTable, Origin
from sedeval_soft.tables.fit import PLAIN, silent_files, written_columns
from sedeval_soft.tables.frames import rows_from_objects
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.source import Source

_HEAD = 1 << 16


def reads(source: Source) -> bool:
    """Return whether the first line is a JSON object with an onset and an offset, or the name of a file."""
    import msgspec

    head = source.data[:_HEAD].lstrip()
    if not head.startswith(b"{"):
        return False
    try:
        first = msgspec.json.decode(head.split(b"\n", 1)[0])
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return False
    keys = [str(key) for key in first]
    return looks_like_header(keys) or looks_like_header([*keys, "onset", "offset"])


def read(source: Source, limits: Limits) -> EventTable | None:
    """Read an object per line, as rows of a data frame; raises InputError with the first that are wrong."""
    import msgspec

    decode = msgspec.json.Decoder().decode
    objects: list[dict[str, Any]] = []
    lines: list[int] = []
    problems: list[Problem] = []
    for line, text in enumerate(source.data[:].split(b"\n"), 1):
        if not text.strip():
            continue
        try:
            row = decode(text)
            wrong = "" if isinstance(row, dict) else f"is {quoted(str(row))}; expected an object"
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            wrong = f"is not JSON: {error}; expected an object in each line"
        if wrong:
            problems.append(Problem(source.name, wrong, line))
        else:
            objects.append(row)
            lines.append(line)
        if len(problems) > MAX_PROBLEMS:
            raise InputError(problems[:MAX_PROBLEMS], more=True)
    if problems:
        raise InputError(problems)
    if not objects:
        return None
    limits.check(source.name, "rows", len(objects), "rows")
    names = {key for row in objects for key in row}
    limits.check(source.name, "classes", len(names) - PLAIN, "fields of classes")
    origin = Origin(source.name, source.sha256, "JSON lines, {}")
    return rows_from_objects(objects, lines, origin, limits)


def write(rows: EventTable) -> bytes:
    """Return an object for each row."""
    import msgspec

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
