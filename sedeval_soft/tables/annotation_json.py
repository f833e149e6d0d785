"""Annotations as JSON: JAMS, and JSON lines.

- JAMS: annotations of one recording as a document, of which those of sound events are read: observations with
  a time and a duration in some namespaces. A background of scaper's is no event, and its confidence, always
  1, no value.
- JSON lines: an object for each row, its fields called as the columns of tables are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec

from sedeval_soft.errors import MAX_PROBLEMS, InputError, Problem, quoted
from sedeval_soft.tables.annotation_rows import HEAD, end_of, events_of, origin_of, read_past, rows_of
from sedeval_soft.tables.columns import Layout, looks_like_header
from sedeval_soft.tables.event_table import UNNAMED, EventTable, Origin
from sedeval_soft.tables.fit import PLAIN, silent_files, written_columns
from sedeval_soft.tables.frames import rows_from_objects
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.source import Source
from sedeval_soft.tables.text import Record
from sedeval_soft.tables.ticks import TICKS_PER_SECOND

_NO_JSON = (msgspec.MsgspecError, ValueError, RecursionError)

# JAMS

NAMESPACES = ("segment_open", "tag_open", "sound_event", "scaper")
"""Of JAMS: those of sound events."""


class _Event(msgspec.Struct):
    """The value of an observation of scaper's."""

    label: str
    role: Any = None


class _Observation(msgspec.Struct):
    time: float
    duration: float
    value: str | _Event
    confidence: float | None = None


class _Annotation(msgspec.Struct):
    namespace: str
    data: msgspec.Raw


class _Metadata(msgspec.Struct):
    identifiers: dict[str, Any] | None = None


class _Document(msgspec.Struct):
    annotations: list[_Annotation]
    file_metadata: _Metadata | None = None


_OBSERVED = Layout(
    ("file", "time", "duration", "value", "confidence"),
    ("filename", "onset", "offset", "event_label", "soft_value"),
    has_header=False,
)


def reads_jams(source: Source) -> bool:
    """Return whether a JSON object has annotations."""
    return source.data[:HEAD].lstrip().startswith(b"{") and source.data.find(b'"annotations"') >= 0


def _decoded(source: Source, data: bytes | msgspec.Raw, kind: Any, place: str = "") -> Any:  # noqa: ANN401
    """Return a JSON text as what it should be; raises InputError where it is not."""
    try:
        return msgspec.json.decode(data, type=kind)
    except _NO_JSON as error:
        raise InputError(Problem(source.name, f"cannot be read as JAMS: {place}{error}")) from error


def read_jams(source: Source, limits: Limits) -> EventTable | None:
    """Read the sound events of a JAMS document."""
    document = _decoded(source, source.data[:], _Document)
    if not any(each.namespace in NAMESPACES for each in document.annotations):
        expected = f"expected one of {', '.join(NAMESPACES)}"
        raise InputError(Problem(source.name, f"has no annotation of sound events; {expected}"))
    metadata = document.file_metadata
    name = ((metadata and metadata.identifiers) or {}).get("filename")
    file = name.strip() if isinstance(name, str) else UNNAMED
    records: list[Record] = []
    places: list[str] = []
    ignored: dict[str, None] = {}
    backgrounds = 0
    for i, annotation in enumerate(document.annotations):
        place = f"annotations[{i}].data"
        if annotation.namespace not in NAMESPACES:
            ignored[f"namespace {quoted(annotation.namespace)}"] = None
            continue
        for k, each in enumerate(_decoded(source, annotation.data, list[_Observation], f"{place}: ")):
            label, confidence = each.value, each.confidence
            if isinstance(label, _Event):
                if label.role == "background":
                    backgrounds += 1
                    continue
                label, confidence = label.label, None
            time, value = repr(each.time), "" if confidence is None else repr(confidence)
            records.append((len(places), [file, time, end_of(time, repr(each.duration)), label, value]))
            places.append(f"{place}[{k}].")
    origin = origin_of(source, "JAMS", read_past(backgrounds, "background{s}"), [*ignored])
    try:
        return rows_of(source, limits, _OBSERVED, records, origin, [file] * (file != UNNAMED))
    except InputError as error:
        problems = [
            p if p.line is None else replace(p, message=places[p.line] + p.message, line=None, column=None)
            for p in error.problems
        ]
        raise InputError(problems, error.more) from error


def write_jams(rows: EventTable) -> bytes:
    """Return the events of one recording as an annotation of segment_open."""
    data = [
        {
            "time": onset / TICKS_PER_SECOND,
            "duration": (offset - onset) / TICKS_PER_SECOND,
            "value": label,
            "confidence": value,
        }
        for _, label, onset, offset, value in events_of(rows, "jams", "")
    ]
    end = float(rows.offset.max()) if len(rows) else 0.0
    annotation = {
        "namespace": NAMESPACES[0],
        "data": data,
        "time": 0.0,
        "duration": end,
        "annotation_metadata": {"data_source": "soft-sed-eval"},
        "sandbox": {},
    }
    metadata = {
        "title": "",
        "artist": "",
        "release": "",
        "duration": end,
        "identifiers": {"filename": rows.files[0]} if any(rows.files[:1]) else {},
        "jams_version": "0.3.4",
    }
    document = {"annotations": [annotation], "file_metadata": metadata, "sandbox": {}}
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


# JSON lines


def reads_jsonl(source: Source) -> bool:
    """Return whether the first line is a JSON object with an onset and an offset, or the name of a file."""
    try:
        first = msgspec.json.decode(source.data[:HEAD].lstrip().split(b"\n", 1)[0], type=dict[str, Any])
    except _NO_JSON:
        return False
    keys = [*first]
    return looks_like_header(keys) or looks_like_header([*keys, "onset", "offset"])


def read_jsonl(source: Source, limits: Limits) -> EventTable | None:
    """Read an object per line, as rows of a data frame; raises InputError with the first that are wrong."""
    decode = msgspec.json.Decoder(dict[str, Any]).decode
    objects: list[dict[str, Any]] = []
    lines: list[int] = []
    problems: list[Problem] = []
    for line, text in enumerate(source.data[:].split(b"\n"), 1):
        if not text.strip():
            continue
        try:
            objects.append(decode(text))
            lines.append(line)
        except _NO_JSON as error:
            problems.append(
                Problem(source.name, f"is no JSON object: {error}; expected one in each line", line)
            )
        if len(problems) > MAX_PROBLEMS:
            break
    if problems:
        raise InputError(problems[:MAX_PROBLEMS], more=len(problems) > MAX_PROBLEMS)
    if not objects:
        return None
    limits.check(source.name, "rows", len(objects), "rows")
    names = {key for row in objects for key in row}
    limits.check(source.name, "classes", len(names) - PLAIN, "fields of classes")
    origin = Origin(source.name, source.sha256, "JSON lines, {}")
    return rows_from_objects(objects, lines, origin, limits)


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
