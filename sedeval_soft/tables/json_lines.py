"""JSON lines: an object for each row, its fields called as the columns of tables are."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from sedeval_soft.errors import MAX_PROBLEMS, InputError, Problem, quoted
from sedeval_soft.tables.annotations import as_float
from sedeval_soft.tables.assemble import ROUNDING, Columns
from sedeval_soft.tables.columns import RAVEN, WORDS, Layout, LayoutError, layout_of_header, looks_like_header
from sedeval_soft.tables.event_table import EventTable, Origin
from sedeval_soft.tables.fit import PLAIN, silent_files, written_columns
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.source import Source
from sedeval_soft.tables.unclear_columns import Batches, check_unclear

_NAMES = ("filename", "event_label")
_NUMBERS = {"1": 1.0, "0": 0.0}
_HEAD = 1 << 16

Object = Mapping[str, Any]


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
    """Read an object per line; raises InputError with the first that are wrong."""
    objects = _objects(source, limits)
    if not objects:
        return None
    names = tuple(dict.fromkeys(key for _, row in objects for key in row))
    limits.check(source.name, "classes", len(names) - PLAIN, "fields of classes")
    layout = _layout(source, names, objects, limits)
    problems: list[Problem] = []
    files: list[str] = []
    labels: list[str] = []
    numbers: list[list[float]] = []
    declared: list[str] = []
    for line, row in objects:
        texts, cells, wrong = _row(layout, row, limits)
        if wrong and _declares(layout, row):
            declared.append(texts["filename"])
        elif wrong:
            problems += [Problem(source.name, message, line) for message in wrong]
            _check_problems(problems)
        else:
            files.append(texts["filename"])
            labels.append(texts["event_label"])
            numbers.append(cells)
    if problems:
        raise InputError(problems)
    form = f"JSON lines, {'wide' if layout.wide else 'long'}{layout.choices}"
    columns = Columns.of_rows(layout, files, labels, numbers, declared)
    rows = columns.rows(Origin(source.name, source.sha256, form, layout.ignored), limits)
    if rows is None:
        raise InputError(Problem(source.name, "holds something that cannot be scored"))
    return rows


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


def _objects(source: Source, limits: Limits) -> list[tuple[int, Object]]:
    """Return the objects with their lines."""
    import msgspec

    decode = msgspec.json.Decoder().decode
    objects: list[tuple[int, Object]] = []
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
            _check_problems(problems)
        else:
            objects.append((line, row))
    if problems:
        raise InputError(problems)
    limits.check(source.name, "rows", len(objects), "rows")
    return objects


def _check_problems(problems: Sequence[Problem]) -> None:
    """Raise InputError where there are too many problems to go on."""
    if len(problems) > MAX_PROBLEMS:
        raise InputError(problems[:MAX_PROBLEMS], more=True)


def _layout(
    source: Source, names: tuple[str, ...], objects: Sequence[tuple[int, Object]], limits: Limits
) -> Layout:
    try:
        # Under their own names: those of a layout have no blanks around them.
        layout = replace(layout_of_header(names, limits.columns), names=names)
    except LayoutError as error:
        code = error.code if error.code == RAVEN else "invalid"
        raise InputError(Problem(source.name, str(error), 1, code=code)) from error

    def cells(positions: Sequence[int]) -> Batches:
        return [[_cells(row.get(names[at]) for _, row in objects) for at in positions]]

    check_unclear(source.name, layout, limits, cells, 1)
    return layout


def _cells(cells: Iterable[object]) -> Any:  # noqa: ANN401 - pyarrow is untyped
    """Return the fields of objects as texts, those that are neither texts nor numbers as missing."""
    texts = [str(cell) if isinstance(cell, str | int | float) else None for cell in cells]
    return pa.array(texts, pa.large_string())


def _row(layout: Layout, row: Object, limits: Limits) -> tuple[dict[str, str], list[float], list[str]]:
    """Return file and label of an object, its numbers, and what is wrong."""
    texts = dict.fromkeys(_NAMES, "")
    times: dict[str, float] = {}
    cells: list[float] = []
    wrong: list[str] = []
    for name, role in zip(layout.names, layout.roles, strict=True):
        if role is None:
            continue
        cell = row.get(name)
        if role in _NAMES:
            texts[role] = str(cell).strip() if isinstance(cell, str | int) else ""
            if not texts[role] or isinstance(cell, bool) or "\0" in texts[role]:
                wrong.append(f"{_found(name, row)}; expected a name")
            continue
        number = as_float(cell)
        if role == "soft_value" and isinstance(cell, str | bool):
            word = str(cell).strip()
            number = math.nan if word in _NUMBERS else _NUMBERS.get(WORDS.get(word.upper(), word), math.nan)
        cells.append(number)
        if role in {"onset", "offset"}:
            times[role] = number
            if not 0 <= number <= limits.duration:
                long = f", which {limits.too_long()}" if number > limits.duration else ""
                wrong.append(f"{_found(name, row)}{long}; expected seconds, 0 or more")
        elif not -ROUNDING <= number <= 1 + ROUNDING:
            wrong.append(f"{_found(name, row)}; expected a number in [0, 1]")
    if not wrong and times["offset"] < times["onset"]:
        onset, offset = times["onset"], times["offset"]
        wrong.append(f"offset {offset:.15g} is before onset {onset:.15g}; expected onset <= offset")
    return texts, cells, wrong


def _declares(layout: Layout, row: Object) -> bool:
    """Return whether an object has the name of a file and nothing else."""
    at = layout.position("filename")
    if at is None or not isinstance(row.get(layout.names[at]), str) or not row[layout.names[at]].strip():
        return False
    others = (name for i, name in enumerate(layout.names) if i != at and layout.roles[i] is not None)
    return all(row.get(name) is None for name in others)


def _found(name: str, row: Object) -> str:
    """Return what an object has in a field."""
    cell = row.get(name)
    if name not in row:
        text = "missing"
    elif isinstance(cell, float) and not math.isfinite(cell):
        text = "not finite"
    elif isinstance(cell, str):
        text = quoted(cell[:100])
    else:
        text = "null" if cell is None else str(cell)[:40]
    return f"{quoted(name)} is {text}"
