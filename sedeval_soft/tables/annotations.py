"""Annotations of events that are read one by one: Audacity, RTTM, ELAN, JAMS; and JSON lines.

- Audacity label tracks: lines of start, end and label, tabs between. A line that begins with a backslash has
  the frequencies of the label before it. Quotes are characters like others.
- RTTM: lines of `SPEAKER file channel onset duration <NA> <NA> name confidence <NA>`, blanks between.
- ELAN's tab-delimited export has a row per annotation, with its tier and its value, or a column per tier,
  whose cells hold values. Times are `ss.msec`, `hh:mm:ss.ms` or `msec`; without a header they must be
  hh:mm:ss.ms (others may stand beside), behind the names of tier and participant. Lines that name media may
  stand before. An annotation's value is the label; where it is empty, its tier is.
- JAMS: annotations of one recording as JSON, of which those of sound events are read: observations with a
  time and a duration in some namespaces. A background of scaper's is no event, and its confidence, always 1,
  no value.
- JSON lines: an object for each row, its fields called as the columns of tables are.

Readers take files apart into fields; `text.scan` says what is wrong with these, as of tables of text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import msgspec

from sedeval_soft.errors import MAX_PROBLEMS, InputError, Problem, counted, quoted
from sedeval_soft.tables.columns import (
    ALIASES,
    RAVEN,
    RAVEN_TABLE,
    Layout,
    is_number,
    is_of_raven,
    looks_like_header,
    normal,
    to_number,
)
from sedeval_soft.tables.event_table import UNNAMED, EventTable, Origin
from sedeval_soft.tables.fit import PLAIN, check_text, silent_files, unfold, written_columns
from sedeval_soft.tables.frames import rows_from_objects
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.source import Source
from sedeval_soft.tables.text import Record, decode, scan
from sedeval_soft.tables.ticks import TICKS_PER_SECOND, tick, to_ticks

_HEAD = 1 << 16
_NO_JSON = (msgspec.MsgspecError, ValueError, RecursionError)


def _rows(
    source: Source,
    limits: Limits,
    layout: Layout,
    records: list[Record],
    origin: Origin,
    declared: Sequence[str] = (),
) -> EventTable | None:
    """Return the rows that records hold; raises InputError with what is wrong with any.

    layout: of their fields; recordings and values may be missing where it has no header. declared:
    recordings, whether they have events or not.
    """
    for role in ("filename", "soft_value"):
        at = layout.position(role)
        if at is None:
            continue
        rows = [fields for _, fields in records if not isinstance(fields, Problem) and len(fields) > at]
        missing = [fields for fields in rows if not fields[at]]
        if len(missing) == len(rows) and not layout.has_header:
            layout = replace(layout, roles=(*layout.roles[:at], None, *layout.roles[at + 1 :]))
        elif missing and role == "soft_value":
            note = f"{counted(len(missing), 'event')} without a value count{'s' * (len(missing) == 1)} 1.0"
            origin = replace(origin, notes=(*origin.notes, note))
            for fields in missing:
                fields[at] = "1"
    if not source.data[:].strip():
        return None
    scanned = scan(source, layout, MAX_PROBLEMS, limits, records)
    scanned.problems = [replace(each, code="invalid") for each in scanned.problems]
    scanned.check()
    scanned.declared += declared
    return scanned.rows(layout, origin, limits)


def _origin(source: Source, form: str, notes: Sequence[str] = (), ignored: Sequence[str] = ()) -> Origin:
    return Origin(source.name, source.sha256, form, tuple(ignored), tuple(notes))


def _lines(source: Source) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text that are not blank, with their numbers."""
    for line, text in enumerate(decode(source).split("\n"), 1):
        if text.strip():
            yield line, text.rstrip("\r")


def _end(onset: str, duration: str) -> str:
    """Return the offset of an event, to the nearest tick; its duration where that is no number, 0 or more."""
    begin, length = to_number(onset), to_number(duration)
    if not (begin >= 0 and length >= 0):
        return duration
    end = begin + length
    return repr((tick(begin) + tick(length)) / TICKS_PER_SECOND if end < 1e9 else end)


def _past(n: int, what: str) -> list[str]:
    """Return the note of what was read past, `{s}` its plural; none where nothing was."""
    words = what.format(s="s" * (n != 1), are="is" if n == 1 else "are")
    return [f"{n} {words} {'was' if n == 1 else 'were'} read past"] * (n > 0)


def _written(
    rows: EventTable, form: str, forbidden: str = "\r\n", *, files: bool = True
) -> Iterator[tuple[str, str, int, int, float | None]]:
    """Return file, label, onset and offset in ticks, and value of the events of rows, as a form writes them.

    forbidden: characters that names must not have. files: whether the names of recordings are written.
    Raises InputError for names that the form cannot hold.
    """
    rows = unfold(rows)
    check_text(rows.origin.name, (*(rows.files if files else ()), *rows.classes), form, forbidden)
    values = [None] * len(rows) if rows.value is None else rows.value.tolist()
    times = to_ticks(rows.onset).tolist(), to_ticks(rows.offset).tolist()
    columns = (rows.file.tolist(), rows.row_label.tolist(), *times, values)
    return (
        (rows.files[file], rows.classes[label], onset, offset, value)
        for file, label, onset, offset, value in zip(*columns, strict=True)
    )


def _seconds(ticks: int) -> str:
    """Return ticks as seconds with six decimals, exactly."""
    return f"{ticks // TICKS_PER_SECOND}.{ticks % TICKS_PER_SECOND:06d}"


# Audacity

_TRACK = Layout(("start", "end", "label"), ("onset", "offset", "event_label"), has_header=False)


def reads_audacity(source: Source) -> bool:
    """Return whether there are frequencies behind a label: what else a track holds is a table like others."""
    first = source.data[:_HEAD].split(b"\n", 1)[0].decode("utf-8", "replace").split("\t")
    return len(first) >= 2 and all(map(is_number, first[:2])) and source.data.find(b"\n\\\t") >= 0


def read_audacity(source: Source, limits: Limits) -> EventTable | None:
    """Read labels; lines of frequencies are counted and read past."""
    records: list[Record] = []
    spectral = 0
    for line, text in _lines(source):
        fields = text.split("\t", 2)
        if fields[0] != "\\":
            records.append((line, fields))
            continue
        spectral += 1
        if len(fields) != 3 or not records:
            wrong = "is no line of frequencies behind a label; expected \\, low, high"
            records.append((line, Problem(source.name, wrong, line)))
    notes = _past(spectral, "line{s} of frequencies")
    return _rows(source, limits, _TRACK, records, _origin(source, "Audacity label track", notes))


def write_audacity(rows: EventTable) -> bytes:
    """Return a label for each row."""
    events = _written(rows, "audacity", "\r\n\t", files=False)
    for name in rows.classes:
        if name.startswith('"'):
            why = f"the name {quoted(name)} begins with a quote, which readers of tables take away"
            raise InputError(Problem(rows.origin.name, why, code="cannot-hold"))
    lines = (f"{_seconds(onset)}\t{_seconds(offset)}\t{label}\n" for _, label, onset, offset, _ in events)
    return "".join(lines).encode()


# RTTM

_TYPES = frozenset({
    "SPEAKER", "SPKR-INFO", "NOSCORE", "NO_RT_METADATA", "SEGMENT", "LEXEME", "NON-LEX", "NON-SPEECH",
    "SU", "IP", "EDIT", "FILLER", "CB", "A/P", "SPKR_INFO",
})  # fmt: skip
_MISSING = "<NA>"
_SPEAKER = Layout(
    ("SPEAKER", "file", "channel", "onset", "duration", _MISSING, _MISSING, "name", "confidence", _MISSING),
    (None, "filename", None, "onset", "offset", None, None, "event_label", "soft_value", None),
    has_header=False,
)


def reads_rttm(source: Source) -> bool:
    """Return whether the first line that is no comment is one of RTTM."""
    lines = source.data[:_HEAD].splitlines()
    first = next((line.split() for line in lines if line.strip() and line[:2] != b";;"), [b""])
    return first[0].decode("ascii", "replace") in _TYPES and 9 <= len(first) <= 10


def read_rttm(source: Source, limits: Limits) -> EventTable | None:
    """Read the SPEAKER lines; others are counted and read past."""
    records: list[Record] = []
    others = 0
    for line, text in _lines(source):
        fields = text.split()
        if fields[0] == "SPEAKER":
            fields += [""] * (len(fields) == 9)
            if len(fields) == 10:
                fields[1], fields[8] = ("" if fields[at] == _MISSING else fields[at] for at in (1, 8))
                fields[4] = _end(fields[3], fields[4])
            records.append((line, fields))
        elif fields[0] in _TYPES:
            others += 1
        elif not fields[0].startswith(";;"):
            wrong = f"begins with {quoted(fields[0])}; expected SPEAKER"
            records.append((line, Problem(source.name, wrong, line, 1)))
    notes = _past(others, "line{s} of RTTM that {are} not SPEAKER")
    return _rows(source, limits, _SPEAKER, records, _origin(source, "RTTM", notes))


def write_rttm(rows: EventTable) -> bytes:
    """Return a SPEAKER line for each row; its confidence is the value."""
    if _MISSING in rows.files:
        why = f"a recording called {_MISSING} would be read as one without a name"
        raise InputError(Problem(rows.origin.name, why, code="cannot-hold"))
    return "".join(
        f"SPEAKER {file or _MISSING} 1 {_seconds(onset)} {_seconds(offset - onset)} <NA> <NA> "
        f"{label} {_MISSING if value is None else repr(value)} <NA>\n"
        for file, label, onset, offset, value in _written(rows, "rttm")
    ).encode()


# ELAN

_TIME = re.compile(r"(begin|start|end|stop|duration)(?:_time)?(?:_\(?(.+?)\)?)?")
_UNITS = {
    "": "",
    "ss.msec": "s", "ss.ms": "s", "ss.mmm": "s", "sec": "s", "s": "s", "seconds": "s",
    "hh:mm:ss.ms": "h", "hh:mm:ss.msec": "h", "hh:mm:ss.mmm": "h", "hh:mm:ss": "h",
    "msec": "ms", "ms": "ms", "milliseconds": "ms",
}  # fmt: skip
_EXPECTED = {
    "s": "seconds, such as 1.250",
    "h": "hours, minutes and seconds, such as 00:00:01.250",
    "ms": "milliseconds, such as 1250",
    "": "seconds, or hours, minutes and seconds",
}
"""Units of times, the best first, and what is expected of one; the last is unknown."""

_CLOCK = re.compile(r"(\d+):([0-5]\d):([0-5]\d(?:\.\d+)?)", re.ASCII)
_VALUES = ("annotation", "annotation_value", "value", "annotations", "text", "label")
_TIERS = ("tier", "tier_name", "tiername", "tier_id")
_FILES = (*ALIASES["filename"], "media_file")
_PAST = ("participant", "annotator", "annotation_id", "cve_id", "parent_tier", "linguistic_type", "language")
_FRAMES = ("hh", "pal", "ntsc", "smpte")
_MEDIA = ("#", '"#')


@dataclass(frozen=True, slots=True)
class _Export:
    """What an export of ELAN's looks like by its first line.

    unit: of its times. labels: for each annotation that a line may have, the positions of what may be its
    label, the best first. ignored: the columns that are read past.
    """

    layout: Layout
    unit: str
    labels: tuple[tuple[int, ...], ...]
    ignored: tuple[str, ...] = ()


def reads_elan(source: Source) -> bool:
    """Return whether the first line that names no media is a header of ELAN's, or one of its annotations."""
    lines = source.data[:_HEAD].decode("utf-8", "replace").splitlines()
    first = next((line for line in lines if line.strip() and not line.startswith(_MEDIA)), "")
    export = _export(first)
    if export is None or not export.layout.has_header:
        return export is not None
    names = {normal(field) for field in export.layout.names}
    return " - " in first or not names.isdisjoint({*_VALUES[:2], *_TIERS})


def read_elan(source: Source, limits: Limits) -> EventTable | None:
    """Read annotations; raises InputError also where the first line is no header and none of them."""
    lines = _lines(source)
    line, first = next(((line, text) for line, text in lines if not text.startswith(_MEDIA)), (0, ""))
    if not first:
        return None
    if is_of_raven(first.split("\t")):
        raise InputError(Problem(source.name, RAVEN_TABLE, line, code=RAVEN))
    export = _export(first)
    if export is None:
        message = "is neither a header with times nor an annotation; expected tab-delimited text of ELAN"
        raise InputError(Problem(source.name, f"{quoted(first)} {message}", line))
    records: list[Record] = []
    if not export.layout.has_header:
        records += _annotations(source.name, line, first.split("\t"), export)
    for line, text in lines:
        records += _annotations(source.name, line, text.split("\t"), export)
    return _rows(source, limits, export.layout, records, _origin(source, "ELAN export", (), export.ignored))


def _export(first: str) -> _Export | None:
    """Return what an export is like by its first line, None where that is none of ELAN's."""
    fields = [field.strip() for field in first.split("\t")]
    return _header(fields) or _without_header(fields)


def _header(fields: list[str]) -> _Export | None:
    """Return what a header says, None where it is none."""
    times: dict[tuple[str, str], int] = {}
    names: dict[int, str] = {}
    for i, key in enumerate(map(normal, fields)):
        match = _TIME.fullmatch(key)
        unit = (match[2] or "") if match else ""
        if match and unit in _UNITS:
            kind = {"start": "begin", "stop": "end"}.get(match[1], match[1])
            times.setdefault((kind, _UNITS[unit]), i)
        elif not (match and unit.startswith(_FRAMES)):
            names[i] = key
    unit = next((u for u in _EXPECTED if ("begin", u) in times and ("end", u) in times), None)
    value, tier, file = (
        next((i for i, key in names.items() if key in known), None) for known in (_VALUES, _TIERS, _FILES)
    )
    rest = [i for i, key in names.items() if i not in {value, tier, file} and key not in _PAST and key]
    labels = [tuple(i for i in (value, tier) if i is not None)]
    if labels == [()]:
        labels = [(i,) for i in rest]
    if unit is None or not labels:
        return None
    places = {times["begin", unit]: "onset", times["end", unit]: "offset", labels[0][0]: "event_label"}
    places |= {} if file is None else {file: "filename"}
    layout = Layout(tuple(fields), tuple(map(places.get, range(len(fields)))), has_header=True)
    used = {*times.values(), *chain.from_iterable(labels), file}
    ignored = tuple(field for i, field in enumerate(fields) if i not in used and field)
    return _Export(layout, unit, tuple(labels), ignored)


def _without_header(fields: list[str]) -> _Export | None:
    """Return what an annotation is like: tier, participant, begin, end, duration, value; None for others."""
    clocks = [i for i, field in enumerate(fields) if _CLOCK.fullmatch(field)]
    if len(clocks) < 2 or len(fields) < 4 or clocks[0] not in {1, 2} or not fields[0]:
        return None
    # Each time is given in as many spellings; the duration, if any, is the third.
    value = clocks[0] + (clocks[1] - clocks[0]) * min(len(clocks), 3)
    if value >= len(fields):
        return None
    places = {clocks[0]: "onset", clocks[1]: "offset", value: "event_label"}
    roles = tuple(map(places.get, range(len(fields))))
    names = tuple(role or f"field {i + 1}" for i, role in enumerate(roles))
    return _Export(Layout(names, roles, has_header=False), "h", ((value, 0),))


def _annotations(name: str, line: int, fields: list[str], export: _Export) -> list[Record]:
    """Return the annotations of a line, with times in seconds."""
    layout = export.layout
    # Fields that are empty at the end of a line may be left out.
    fields = fields + [""] * (len(layout.names) - len(fields))
    for role in ("onset", "offset") if len(fields) == len(layout.names) else ():
        at = layout.roles.index(role)
        time = _time(fields[at].strip(), export.unit)
        if not time >= 0:
            message = f"{quoted(fields[at])} is not a time; expected {_EXPECTED[export.unit]}"
            return [(line, Problem(name, message, line, at + 1))]
        fields[at] = repr(time)
    at = layout.roles.index("event_label")
    texts = ([fields[i].strip() for i in places] for places in export.labels)
    labels = [label for label in (next(filter(None, each), "") for each in texts) if label]
    return [(line, [*fields[:at], label, *fields[at + 1 :]]) for label in labels or [""]]


def _time(text: str, unit: str) -> float:
    """Return a time in seconds; NaN where the text is none of that unit."""
    clock = _CLOCK.fullmatch(text)
    if unit in {"h", ""} and clock is not None:
        minutes = int(clock[1][:12]) * 60 + int(clock[2])
        return round(minutes * 60 + float(clock[3]), 6)
    if unit == "h":
        return math.nan
    return to_number(text) / 1000 if unit == "ms" else to_number(text)


def write_elan(rows: EventTable) -> bytes:
    """Return an annotation for each row, all of one tier, times in seconds with milliseconds."""
    lines = ["Tier\tBegin Time - ss.msec\tEnd Time - ss.msec\tDuration - ss.msec\tAnnotation\n"]
    for _, label, onset, offset, _ in _written(rows, "elan", "\r\n\t", files=False):
        times = "\t".join(_seconds(ticks)[:-3] for ticks in (onset, offset, offset - onset))
        lines.append(f"events\t{times}\t{label}\n")
    return "".join(lines).encode()


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
    return source.data[:_HEAD].lstrip().startswith(b"{") and source.data.find(b'"annotations"') >= 0


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
            records.append((len(places), [file, time, _end(time, repr(each.duration)), label, value]))
            places.append(f"{place}[{k}].")
    origin = _origin(source, "JAMS", _past(backgrounds, "background{s}"), [*ignored])
    try:
        return _rows(source, limits, _OBSERVED, records, origin, [file] * (file != UNNAMED))
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
        for _, label, onset, offset, value in _written(rows, "jams", "")
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
        first = msgspec.json.decode(source.data[:_HEAD].lstrip().split(b"\n", 1)[0], type=dict[str, Any])
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
