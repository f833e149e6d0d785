"""Annotations of events that are read one by one, each checked where it stands: Audacity, RTTM, JAMS.

- Audacity label tracks: lines of start, end and label, tabs between. A line that begins with a backslash has
  the frequencies of the label before it. Quotes are characters like others.
- RTTM: lines of `SPEAKER file channel onset duration <NA> <NA> name confidence <NA>`, blanks between.
- JAMS: annotations of one recording as JSON, of which those of sound events are read: observations with a
  time and a duration in some namespaces. A background of scaper's is no event, and its confidence, always 1,
  no value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sedeval_soft.errors import MAX_PROBLEMS, InputError, Problem, counted, quoted
from sedeval_soft.tables.assemble import ROUNDING, Columns, Named
from sedeval_soft.tables.columns import BLANKS, NUMBER, is_number
from sedeval_soft.tables.event_table import UNNAMED, EventTable, Origin
from sedeval_soft.tables.fit import check_text, shown, unfold
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.source import Source
from sedeval_soft.tables.text import decode
from sedeval_soft.tables.ticks import TICKS_PER_SECOND, tick, to_ticks

NAMESPACES = ("segment_open", "tag_open", "sound_event", "scaper")
"""Of JAMS: those of sound events."""

_RTTM_TYPES = frozenset({
    "SPEAKER", "SPKR-INFO", "NOSCORE", "NO_RT_METADATA", "SEGMENT", "LEXEME", "NON-LEX", "NON-SPEECH",
    "SU", "IP", "EDIT", "FILLER", "CB", "A/P", "SPKR_INFO",
})  # fmt: skip
_MISSING = "<NA>"
_HEAD = 1 << 16


@dataclass(slots=True)
class Events:
    """Events of a file of annotations, and what is wrong with it, as it is read.

    limits: the most that is taken in. values: None for an event without one. declared: recordings, whether
    they have events or not.
    """

    source: Source
    limits: Limits
    problems: list[Problem] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    times: list[tuple[float, float]] = field(default_factory=list)
    values: list[float | None] = field(default_factory=list)
    declared: list[str] = field(default_factory=list)

    def wrong(self, line: int | None, message: str, column: int | None = None) -> None:
        """Note a problem; raises InputError where there are too many to go on."""
        self.problems.append(Problem(self.source.name, message, line, column))
        if len(self.problems) > MAX_PROBLEMS:
            raise InputError(self.problems[:MAX_PROBLEMS], more=True)

    def add(
        self, line: int | None, file: str, label: str, times: tuple[float, float], value: float | None = None
    ) -> None:
        """Enter an event, or what is wrong with it; times: its onset and offset in seconds."""
        why = _wrong(label, times, value, self.limits)
        if why:
            self.wrong(line, why)
            return
        self.files.append(file)
        self.labels.append(label)
        self.times.append(times)
        self.values.append(value)
        self.limits.check(self.source.name, "rows", len(self.times), "rows")

    def rows(self, form: str, notes: Sequence[str] = (), ignored: Sequence[str] = ()) -> EventTable:
        """Return all events as rows; raises InputError with what is wrong with any."""
        if self.problems:
            raise InputError(self.problems)
        onset, offset = np.array(self.times, dtype=np.float64).reshape(-1, 2).T.copy()
        valueless = self.values.count(None)
        value = None
        if valueless < len(self.values):
            value = np.array([1.0 if value is None else value for value in self.values])
            if valueless:
                count = f"count{'s' * (valueless == 1)}"
                notes = (*notes, f"{counted(valueless, 'event')} without a value {count} 1.0")
        origin = Origin(self.source.name, self.source.sha256, form, tuple(ignored), tuple(notes))
        file = Named.of_texts(self.files) if any(self.files) or self.declared else None
        label = Named.of_texts(self.labels)
        declared = [name for name in self.declared if name != UNNAMED]
        rows = Columns(file, label, onset, offset, value, (), declared).rows(origin, self.limits)
        if rows is None:
            raise InputError(Problem(origin.name, "holds an empty name, or a NUL in one; expected names"))
        return rows


def _wrong(label: str, times: tuple[float, float], value: float | None, limits: Limits) -> str:
    """Return what is wrong with an event, nothing where nothing is."""
    for what, seconds in zip(("onset", "offset"), times, strict=True):
        if not 0 <= seconds <= limits.duration:
            long = f", which {limits.too_long()}" if seconds > limits.duration else ""
            return f"{what} is {seconds:.15g}{long}; expected a number of seconds, 0 or more"
    onset, offset = times
    if offset < onset:
        return f"offset {offset:.15g} is before onset {onset:.15g}; expected onset <= offset"
    if not label.strip() or "\0" in label:
        return f"the label {'holds a NUL' if label.strip() else 'is empty'}; expected a name"
    if value is not None and not -ROUNDING <= value <= 1 + ROUNDING:
        hint = " (percent? divide by 100)" if 1 < value <= 100 else ""
        return f"the value {value:.15g} is outside [0, 1]{hint}; expected a number in [0, 1]"
    return ""


def lines_of(source: Source) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text that are not blank, with their numbers."""
    for number, line in enumerate(decode(source).split("\n"), 1):
        if line.strip():
            yield number, line.rstrip("\r")


def number(text: str) -> float:
    """Return what a field says; NaN where it is no number."""
    stripped = text.strip(BLANKS)
    return float(stripped) if NUMBER.fullmatch(stripped) else math.nan


def as_float(cell: object) -> float:
    """Return a number of JSON as a float; NaN where it is none, or too large for one."""
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        return math.nan
    try:
        return float(cell)
    except OverflowError:
        return math.nan


def _times_of(onset: float, duration: float) -> tuple[float, float]:
    """Return onset and offset of an event, the offset to the nearest tick."""
    offset = onset + duration
    return onset, (tick(onset) + tick(duration)) / TICKS_PER_SECOND if offset < 1e9 else offset


def written_events(
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


def seconds(ticks: int) -> str:
    """Return ticks as seconds with six decimals, exactly."""
    return f"{ticks // TICKS_PER_SECOND}.{ticks % TICKS_PER_SECOND:06d}"


def _reads_audacity(source: Source) -> bool:
    """Return whether there are frequencies behind a label: what else a track holds is a table like others."""
    if source.data.find(b"\n\\\t") < 0:
        return False
    first = source.data[:_HEAD].split(b"\n", 1)[0].decode("utf-8", "replace").split("\t")
    return len(first) >= 2 and is_number(first[0]) and is_number(first[1])


def _read_audacity(source: Source, limits: Limits) -> EventTable:
    events = Events(source, limits)
    spectral = 0
    for line, text in lines_of(source):
        fields = text.split("\t", 2)
        if fields[0] == "\\":
            spectral += 1
            if len(fields) != 3 or not (events.times or events.problems):
                events.wrong(line, "is no line of frequencies behind a label; expected \\, low, high")
            continue
        if len(fields) < 3:
            events.wrong(line, f"has {len(fields)} fields; expected start, end and label, tabs between")
            continue
        bad = next((i for i in (0, 1) if not is_number(fields[i])), None)
        if bad is not None:
            events.wrong(line, f"{quoted(fields[bad])} is not a number of seconds", bad + 1)
            continue
        events.add(line, UNNAMED, fields[2].strip(), (number(fields[0]), number(fields[1])))
    past = f"{counted(spectral, 'line')} of frequencies {'was' if spectral == 1 else 'were'} read past"
    return events.rows("Audacity label track", [past] * (spectral > 0))


def _write_audacity(rows: EventTable) -> bytes:
    events = written_events(rows, "audacity", "\r\n\t", files=False)
    for name in rows.classes:
        if name.startswith('"'):
            why = f"the name {shown(name)} begins with a quote, which readers of tables take away"
            raise InputError(Problem(rows.origin.name, why, code="cannot-hold"))
    lines = (f"{seconds(onset)}\t{seconds(offset)}\t{label}\n" for _, label, onset, offset, _ in events)
    return "".join(lines).encode()


def _reads_rttm(source: Source) -> bool:
    """Return whether the first line that is no comment is one of RTTM."""
    head = source.data[: _HEAD >> 2]
    if not head.startswith((b"S", b"N", b";;", b"L", b"I", b"E", b"F", b"C", b"A")):
        return False
    first = next((line.split() for line in head.splitlines() if line.strip() and line[:2] != b";;"), [b""])
    return first[0].decode("ascii", "replace") in _RTTM_TYPES and 9 <= len(first) <= 10


def _read_rttm(source: Source, limits: Limits) -> EventTable:
    """Read the SPEAKER lines; others are counted and read past."""
    events = Events(source, limits)
    others = 0
    for line, text in lines_of(source):
        fields = text.split()
        if fields[0].startswith(";;"):
            continue
        if fields[0] in _RTTM_TYPES - {"SPEAKER"}:
            others += 1
        elif fields[0] != "SPEAKER":
            events.wrong(line, f"begins with {quoted(fields[0])}; expected SPEAKER", 1)
        elif len(fields) not in {9, 10}:
            expected = "SPEAKER file channel onset duration <NA> <NA> name confidence <NA>"
            events.wrong(line, f"has {len(fields)} fields; expected 10: {expected}")
        else:
            _enter_speaker(events, line, fields)
    are, were = ("is", "was") if others == 1 else ("are", "were")
    past = f"{counted(others, 'line')} of RTTM that {are} not SPEAKER {were} read past"
    return events.rows("RTTM", [past] * (others > 0))


def _enter_speaker(events: Events, line: int, fields: list[str]) -> None:
    onset, duration = number(fields[3]), number(fields[4])
    for what, at, value in (("onset", 3, onset), ("duration", 4, duration)):
        if not 0 <= value < math.inf:
            message = f"{what} {quoted(fields[at])}; expected a number of seconds, 0 or more"
            events.wrong(line, message, at + 1)
            return
    confidence = None if fields[8] == _MISSING else number(fields[8])
    if confidence is not None and math.isnan(confidence):
        events.wrong(line, f"confidence {quoted(fields[8])}; expected a number in [0, 1], or <NA>", 9)
        return
    file = UNNAMED if fields[1] == _MISSING else fields[1]
    events.add(line, file, fields[7], _times_of(onset, duration), confidence)


def _write_rttm(rows: EventTable) -> bytes:
    """Return a SPEAKER line for each row; its confidence is the value."""
    if _MISSING in rows.files:
        why = f"a recording called {_MISSING} would be read as one without a name"
        raise InputError(Problem(rows.origin.name, why, code="cannot-hold"))
    return "".join(
        f"SPEAKER {file or _MISSING} 1 {seconds(onset)} {seconds(offset - onset)} <NA> <NA> "
        f"{label} {_MISSING if value is None else repr(value)} <NA>\n"
        for file, label, onset, offset, value in written_events(rows, "rttm")
    ).encode()


def _reads_jams(source: Source) -> bool:
    """Return whether a JSON object has annotations."""
    return source.data[:_HEAD].lstrip().startswith(b"{") and source.data.find(b'"annotations"') >= 0


def _read_jams(source: Source, limits: Limits) -> EventTable:
    """Read the sound events of a JAMS document."""
    import msgspec

    try:
        document = msgspec.json.decode(source.data[:])
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise InputError(Problem(source.name, f"is not JSON: {error}; expected a JAMS document")) from error
    if not isinstance(document, dict) or not isinstance(document.get("annotations"), list):
        raise InputError(Problem(source.name, "has no list of annotations; expected a JAMS document"))
    metadata = document.get("file_metadata")
    identifiers = metadata.get("identifiers") if isinstance(metadata, dict) else None
    name = identifiers.get("filename") if isinstance(identifiers, dict) else None
    file = name.strip() if isinstance(name, str) else UNNAMED
    events = Events(source, limits, declared=[] if file == UNNAMED else [file])
    ignored: dict[str, None] = {}
    backgrounds = n_read = 0
    for i, annotation in enumerate(document["annotations"]):
        namespace = annotation.get("namespace") if isinstance(annotation, dict) else None
        if namespace not in NAMESPACES:
            ignored[f"namespace {quoted(str(namespace))}"] = None
            continue
        n_read += 1
        for k, observation in enumerate(_observations(events, annotation, f"annotations[{i}].data")):
            value = observation.get("value")
            if namespace == "scaper" and isinstance(value, dict) and value.get("role") == "background":
                backgrounds += 1
            else:
                wrong = _enter_observation(events, observation, file, scaper=namespace == "scaper")
                if wrong:
                    events.wrong(None, f"annotations[{i}].data[{k}].{wrong}")
    if not n_read:
        expected = f"expected one of {', '.join(NAMESPACES)}"
        raise InputError(Problem(source.name, f"has no annotation of sound events; {expected}"))
    were = "was" if backgrounds == 1 else "were"
    notes = [f"{counted(backgrounds, 'background')} {were} read past"] if backgrounds else []
    return events.rows("JAMS", notes, list(ignored))


def _observations(events: Events, annotation: Mapping[str, Any], place: str) -> Iterable[Mapping[str, Any]]:
    """Yield the observations of an annotation, given as a list or as columns."""
    data = annotation.get("data")
    if isinstance(data, dict):
        keys = ("time", "duration", "value", "confidence")
        columns = [data[key] for key in keys if isinstance(data.get(key), list)]
        if len(columns) < 4 or len({len(column) for column in columns}) > 1:
            events.wrong(None, f"{place} has not as many of time, duration, value and confidence")
            return
        yield from (dict(zip(keys, cells, strict=True)) for cells in zip(*columns, strict=True))
    elif not isinstance(data, list):
        events.wrong(None, f"{place} is no list of observations")
    else:
        for k, observation in enumerate(data):
            if isinstance(observation, dict):
                yield observation
            else:
                events.wrong(None, f"{place}[{k}] is no observation; expected time, duration and value")


def _enter_observation(events: Events, observation: Mapping[str, Any], file: str, *, scaper: bool) -> str:
    """Enter an observation; return what is wrong with it, nothing where nothing is."""
    value, confidence = observation.get("value"), observation.get("confidence")
    if scaper:
        if not isinstance(value, dict):
            return f"value is {quoted(str(value))}; expected an object with a label"
        value, confidence = value.get("label"), None
    if not isinstance(value, str):
        return f"value is {quoted(str(value))}; expected the text of a label"
    onset, duration = as_float(observation.get("time")), as_float(observation.get("duration"))
    for key, time in (("time", onset), ("duration", duration)):
        if not time >= 0:
            text = quoted(str(observation.get(key)))
            return f"{key} is {text}; expected a number of seconds, 0 or more"
    sure = None if confidence is None else as_float(confidence)
    if sure is not None and math.isnan(sure):
        return f"confidence is {quoted(str(confidence))}; expected a number or null"
    events.add(None, file, value.strip(), _times_of(onset, duration), sure)
    return ""


def _write_jams(rows: EventTable) -> bytes:
    """Return the events of one recording as an annotation of segment_open."""
    import msgspec

    data = [
        {
            "time": onset / TICKS_PER_SECOND,
            "duration": (offset - onset) / TICKS_PER_SECOND,
            "value": label,
            "confidence": value,
        }
        for _, label, onset, offset, value in written_events(rows, "jams", "")
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


def reads(source: Source, form: str) -> bool:
    """Return whether a file holds annotations of a form."""
    return {"audacity": _reads_audacity, "rttm": _reads_rttm, "jams": _reads_jams}[form](source)


def read(source: Source, limits: Limits, form: str) -> EventTable | None:
    """Read the events of a file; raises InputError with all that is wrong, up to `MAX_PROBLEMS`."""
    if not source.data[:].strip():
        return None
    return {"audacity": _read_audacity, "rttm": _read_rttm, "jams": _read_jams}[form](source, limits)


def write(rows: EventTable, form: str) -> bytes:
    """Return the events of rows as a file of annotations; raises InputError for names it cannot hold."""
    return {"audacity": _write_audacity, "rttm": _write_rttm, "jams": _write_jams}[form](rows)
