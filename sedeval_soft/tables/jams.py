"""JAMS: annotations of one recording as JSON, of which those of sound events are read.

Those are observations with a time and a duration in the namespaces segment_open, tag_open, sound_event and
scaper. A background of scaper's is no event, and its confidence, always 1, no value.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from sedeval_soft.core.intake import Limits
from sedeval_soft.errors import InputError, Problem, counted, quoted
from sedeval_soft.tables.annotations import Events
from sedeval_soft.tables.event_table import UNNAMED, EventTable
from sedeval_soft.tables.fit import as_long, check_text
from sedeval_soft.tables.rttm import end_of
from sedeval_soft.tables.source import Source
from sedeval_soft.tables.ticks import to_seconds, to_ticks

NAMESPACES = ("segment_open", "tag_open", "sound_event", "scaper")

_HEAD = 1 << 16


def reads(source: Source) -> bool:
    """Return whether a JSON object has annotations."""
    head = source.data[:_HEAD].lstrip()
    return head.startswith(b"{") and source.data.find(b'"annotations"') >= 0


def read(source: Source, limits: Limits) -> EventTable | None:
    """Read the sound events of a JAMS document."""
    import msgspec

    if not source.data[:].strip():
        return None
    try:
        document = msgspec.json.decode(source.data[:])
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise InputError(Problem(source.name, f"is not JSON: {error}; expected a JAMS document")) from error
    if not isinstance(document, dict) or not isinstance(document.get("annotations"), list):
        raise InputError(Problem(source.name, "has no list of annotations; expected a JAMS document"))
    found = Events(source, limits)
    file = _file_of(document)
    ignored: dict[str, None] = {}
    backgrounds = known = 0
    for i, annotation in enumerate(document["annotations"]):
        namespace = annotation.get("namespace") if isinstance(annotation, dict) else None
        if namespace not in NAMESPACES:
            ignored[f"namespace {quoted(str(namespace))}"] = None
            continue
        known += 1
        for k, observation in enumerate(_observations(found, annotation, i)):
            backgrounds += _enter(found, observation, f"annotations[{i}].data[{k}]", file, str(namespace))
    if not known:
        raise InputError(
            Problem(
                source.name, f"has no annotation of sound events; expected one of {', '.join(NAMESPACES)}"
            )
        )
    if file != UNNAMED:
        found.declared.append(file)
    were = "was" if backgrounds == 1 else "were"
    notes = [f"{counted(backgrounds, 'background')} {were} read past"] if backgrounds else []
    return found.rows("JAMS", notes, list(ignored))


def write(rows: EventTable) -> bytes:
    """Return the events of one recording as an annotation of segment_open."""
    import msgspec

    rows = as_long(rows)
    check_text(rows.origin.name, (*rows.files, *rows.classes), "jams", "")
    onset, offset = to_ticks(rows.onset), to_ticks(rows.offset)
    end = float(rows.offset.max()) if len(rows) else 0.0
    values: list[float | None] = [None] * len(rows) if rows.value is None else rows.value.tolist()
    data = [
        {"time": begin, "duration": length, "value": rows.classes[label], "confidence": value}
        for begin, length, label, value in zip(
            to_seconds(onset).tolist(),
            to_seconds(offset - onset).tolist(),
            rows.row_label.tolist(),
            values,
            strict=True,
        )
    ]
    file = rows.files[0] if rows.files else UNNAMED
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
        "identifiers": {"filename": file} if file else {},
        "jams_version": "0.3.4",
    }
    document = {"annotations": [annotation], "file_metadata": metadata, "sandbox": {}}
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def _file_of(document: Mapping[str, Any]) -> str:
    """Return what the recording is called, if its identifiers say so."""
    metadata = document.get("file_metadata")
    identifiers = metadata.get("identifiers") if isinstance(metadata, dict) else None
    name = identifiers.get("filename") if isinstance(identifiers, dict) else None
    return name.strip() if isinstance(name, str) else UNNAMED


def _observations(found: Events, annotation: Mapping[str, Any], position: int) -> Iterator[Mapping[str, Any]]:
    """Yield observations, given as a list or as columns."""
    data = annotation.get("data")
    place = f"annotations[{position}].data"
    if isinstance(data, dict):
        columns = {key: data.get(key) for key in ("time", "duration", "value", "confidence")}
        lists = [column for column in columns.values() if isinstance(column, list)]
        if len(lists) < 4 or len({len(column) for column in lists}) > 1:
            found.wrong(None, f"{place} has not as many of time, duration, value and confidence")
            return
        for cells in zip(*lists, strict=True):
            yield dict(zip(columns, cells, strict=True))
        return
    if not isinstance(data, list):
        found.wrong(None, f"{place} is no list of observations")
        return
    for k, observation in enumerate(data):
        if isinstance(observation, dict):
            yield observation
        else:
            found.wrong(None, f"{place}[{k}] is no observation; expected time, duration and value")


def _enter(found: Events, observation: Mapping[str, Any], place: str, file: str, namespace: str) -> int:
    """Enter an observation; return 1 where it is a background."""
    value, confidence = observation.get("value"), observation.get("confidence")
    if namespace == "scaper":
        if not isinstance(value, dict):
            found.wrong(None, f"{place}.value is {quoted(str(value))}; expected an object with a label")
            return 0
        if value.get("role") == "background":
            return 1
        value, confidence = value.get("label"), None
    if not isinstance(value, str):
        found.wrong(None, f"{place}.value is {quoted(str(value))}; expected the text of a label")
        return 0
    numbers: list[float] = []
    for key, cell in (("time", observation.get("time")), ("duration", observation.get("duration"))):
        numbers.append(as_float(cell))
        if not numbers[-1] >= 0:
            found.wrong(
                None, f"{place}.{key} is {quoted(str(cell))}; expected a number of seconds, 0 or more"
            )
            return 0
    sure = None if confidence is None else as_float(confidence)
    if sure is not None and math.isnan(sure):
        found.wrong(None, f"{place}.confidence is {quoted(str(confidence))}; expected a number or null")
        return 0
    onset, length = numbers
    found.add(None, file, value.strip(), (onset, end_of(onset, length)), sure)
    return 0


def as_float(cell: object) -> float:
    """Return a number of JSON as a float; NaN where it is none, or too large for one."""
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        return math.nan
    try:
        return float(cell)
    except OverflowError:
        return math.nan
