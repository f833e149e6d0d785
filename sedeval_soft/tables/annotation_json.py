"""Annotations as JSON: JAMS, exports of Label Studio, soundevent and whombat; JSON lines.

- JAMS: the reader takes the sound events of one recording: observations with a time and a duration in some
  namespaces. A background of scaper's is not an event, and its confidence, always 1, is not a value.
- Label Studio's JSON is a list of tasks, each an audio file with `annotations` and their `result`: the reader
  takes results of type `labels`. JSON-MIN has an object for each annotation, with lists of labelled regions;
  CSV has these objects as rows. The reader takes annotations by people, and predictions by models if there
  are none. A recording must have one annotation.
- soundevent's documents (AOEF) list recordings, sound events, and annotations or predictions of these with
  tags: the key of one tag has the class. The score of a predicted tag is the value.
- Moments of audio for queries (DCASE 2026 task 6, QVHighlights) are JSON lines, an object for each query.
  `relevant_windows` of a reference are lists of onset and offset, `pred_relevant_windows` of a system also
  have a score. The recording (`vid`) is the file, and the number of the query (`qid`) the class. So a query
  without any window is a class without rows.
- JSON lines of rows have an object for each, its fields called as the columns of tables are.

NaN, which Python writes and JSON does not know, is read as null: a missing value.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

import msgspec

from sedeval_soft.errors import InputError, Problem, be, counted, quoted
from sedeval_soft.tables.annotation_document import (
    HEAD,
    Document,
    check_document,
    one_line_of,
)
from sedeval_soft.tables.columnar import rows_from_objects
from sedeval_soft.tables.columns import PLAIN, Layout, looks_like_header, normal, option
from sedeval_soft.tables.event_table import EventTable, Origin
from sedeval_soft.tables.filenames import AUDIO_EXTENSIONS
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.rows import Findings
from sedeval_soft.tables.source import SPARED, Source

NO_JSON = (msgspec.MsgspecError, ValueError, RecursionError)
"""The errors that msgspec raises for a text that is not the expected JSON."""

_ESCAPED_QUOTE_OR_NAN = re.compile(rb'\\.|"|NaN', re.DOTALL)
_LISTED = 10  # keys that a message lists


def objects(source: Source) -> Iterator[tuple[int, dict[str, Any] | Problem]]:
    """Yield the number of each line that is not blank, and the JSON object on it, or its problem."""
    decoded = msgspec.json.Decoder(dict[str, Any]).decode
    for line, text in enumerate(source.data[:].split(b"\n"), 1):
        try:
            if text.strip():
                row = decoded(text)
                # If only keys have colons, counting them is faster than reading them again.
                wrong = repeated_key(text) if text.count(b":") > len(row) else ""
                yield line, Problem(source.name, wrong, line) if wrong else row
        except NO_JSON as error:
            wrong = f"is not a JSON object: {error}; expected one in each line"
            yield line, Problem(source.name, wrong, line)


def _first_object(source: Source) -> dict[str, Any] | None:
    """Return the JSON object on the first line, None if there is none."""
    line = source.data[:HEAD].lstrip().split(b"\n", 1)[0]
    with suppress(*NO_JSON):
        return msgspec.json.decode(line, type=dict[str, Any])
    return None


def repeated_key(text: bytes) -> str:
    """Return the problem of a JSON text of which an object has a key twice; empty if no object has.

    msgspec takes the last one.
    """
    found: list[str] = []

    def look(pairs: list[tuple[str, None]]) -> None:
        if len(dict(pairs)) < len(pairs):
            keys = Counter(key for key, _ in pairs)
            found.append(next(key for key, count in keys.items() if count > 1))

    with suppress(*NO_JSON):  # the reader of the text reports it
        json.loads(text, object_pairs_hook=look)
    return f"an object has the key {quoted(found[0])} twice; expected each key once" if found else ""


def _text(source: Source) -> bytes:
    """Return a JSON text in which NaN is null; raises RoomError for a text that exceeds memory.

    Raises InputError if an object has a key twice.
    """
    check_document(source)
    data = source.data[:]
    if wrong := repeated_key(data):
        raise InputError(Problem(source.name, wrong))
    if b"NaN" not in data:
        return data
    inside = False

    def outside_strings(match: re.Match[bytes]) -> bytes:
        nonlocal inside
        inside ^= match[0] == b'"'
        return b"null" if match[0] == b"NaN" and not inside else match[0]

    return _ESCAPED_QUOTE_OR_NAN.sub(outside_strings, data)


def _decoded(
    document: Document,
    data: bytes | msgspec.Raw,
    kind: Any,  # noqa: ANN401
    title: str,
    place: str = "",
) -> Any:  # noqa: ANN401
    """Return a JSON text decoded as the expected type; raises InputError if it is not of that type."""
    try:
        return msgspec.json.decode(data, type=kind)
    except NO_JSON as error:
        wrong = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise document.error(f"cannot be read as {title}: {place}{wrong}") from error


def _number(number: float | None) -> str:
    return "" if number is None else repr(number)


# JAMS

NAMESPACES = ("segment_open", "tag_open", "sound_event", "scaper")
"""JAMS namespaces of sound events."""


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
    annotation_metadata: Any = None


class _Metadata(msgspec.Struct):
    identifiers: dict[str, Any] | None = None


class _Document(msgspec.Struct):
    annotations: list[_Annotation]
    file_metadata: _Metadata | None = None


_OBSERVED = Layout(
    ("file", "time", "duration", "value", "confidence"),
    ("filename", "onset", "duration", "event_label", "soft_value"),
    has_header=False,
)


def read_jams(source: Source, limits: Limits) -> EventTable | None:
    """Read the sound events of a JAMS document."""
    document = Document(source, limits, "JAMS", _OBSERVED)
    if source.data.find(b'"namespace"') < 0 <= source.data.find(b'"result"'):
        message = "is a task of Label Studio by itself; expected a list of tasks: [ before it and ] after it"
        raise document.error(f"{message}, and commas between several")
    jams: _Document = _decoded(document, _text(source), _Document, "JAMS")
    if not any(each.namespace in NAMESPACES for each in jams.annotations):
        expected = f"expected one of {', '.join(NAMESPACES)}"
        raise document.error(f"has no annotation of sound events; {expected}")
    name = ((jams.file_metadata and jams.file_metadata.identifiers) or {}).get("filename")
    file = name.strip() if isinstance(name, str) else ""
    document.recordings |= {file: None} if file else {}
    annotators: set[str] = set()
    for i, annotation in enumerate(jams.annotations):
        if annotation.namespace not in NAMESPACES:
            document.ignored[f"namespace {quoted(annotation.namespace)}"] = None
            continue
        metadata, place = annotation.annotation_metadata, f"annotations[{i}].data"
        person = metadata.get("annotator") if isinstance(metadata, dict) else None
        annotators.add(str([*filter(None, person.values())] if isinstance(person, dict) else []))
        observations = _decoded(document, annotation.data, list[_Observation], "JAMS", f"{place}: ")
        for k, each in enumerate(observations):
            label, confidence = each.value, each.confidence
            if isinstance(label, _Event):
                if label.role == "background":
                    document.n_ignored["background{s}"] += 1
                    continue
                label, confidence = label.label, None
            times = repr(each.time), repr(each.duration)
            document.add(f"{place}[{k}].", [file, *times, label, _number(confidence)])
    if len(annotators) > 1:
        document.assumed.append(
            f"has annotations of {len(annotators)} annotators, whose events are those of one table; "
            "soft-sed-eval annotate makes a soft reference of a file of each"
        )
    return document.rows()


# Label Studio

_STUDIO = "Label Studio's JSON"


class _Region(msgspec.Struct):
    """A labelled region of audio."""

    start: float
    end: float
    labels: list[str] = []


class _Result(msgspec.Struct):
    """An annotator's, or a model's, result for a region or a task."""

    value: msgspec.Raw = msgspec.Raw(b"{}")
    type: str = ""
    from_name: str = ""
    score: float | None = None


class _Annotated(msgspec.Struct):
    """An annotator's, or a model's, results for a task."""

    result: list[_Result] = []
    was_cancelled: bool | None = None
    ground_truth: bool | None = None


_Task = dict[str, msgspec.Raw]
_Made = dict[str, _Annotated]
"""Annotations, or predictions, by their place in the document."""

_UPLOADED = re.compile(r".*?/upload/(?:\d+/)?[0-9a-f]{8}-(.+)", re.DOTALL)
"""The prefix that Label Studio puts before the name of an uploaded file."""


def read_label_studio(source: Source, limits: Limits) -> EventTable | None:
    """Read the labelled regions of all tasks that are annotated."""
    document = Document(source, limits, "Label Studio JSON")
    return _rows_of_tasks(document, _decoded(document, _text(source), list[_Task], _STUDIO))


def read_label_studio_csv(source: Source, limits: Limits) -> EventTable | None:
    """Read the labelled regions of an export as CSV: JSON-MIN whose objects are rows."""
    document = Document(source, limits, "Label Studio CSV")
    check_document(source)
    lines = io.StringIO(source.data[:].decode("utf-8-sig", "replace"), newline="")
    try:
        rows = [*csv.DictReader(lines, restval="")]
    except csv.Error as error:
        raise document.error(f"cannot be read as CSV: {error}") from error
    longer = next((i for i, row in enumerate(rows) if None in row), None)
    if longer is not None:
        raise document.error(f"[{longer}] has more cells than the header has columns")
    return _rows_of_tasks(document, [{key: _raw(cell) for key, cell in row.items()} for row in rows])


def _raw(cell: str) -> msgspec.Raw:
    """Return a cell as JSON: it has lists as JSON, and plain texts."""
    return msgspec.Raw(cell.encode() if cell.startswith("[") else msgspec.json.encode(cell))


def _rows_of_tasks(document: Document, tasks: Sequence[_Task]) -> EventTable | None:
    """Return the labelled regions of all tasks that are annotated."""
    annotated = [_annotations(document, i, task) for i, task in enumerate(tasks)]
    by_people = any(people for people, _ in annotated)
    places, no_labels = dict[str, str](), Counter[str]()
    for i, (people, models) in enumerate(annotated):
        made = _one_of(document, people if by_people else models)
        document.n_ignored["prediction{s}"] += len(models) if by_people else 0
        document.n_ignored["task{s} without annotation"] += not made
        file = _audio(document, f"[{i}]", tasks[i]) if made else ""
        for place, annotation in made.items():
            if file in places:
                raise document.error(
                    f"{places[file]} and {place} both annotate {quoted(file)}; expected one annotation of a "
                    "recording: mark one as ground truth in Label Studio, or leave out the others "
                    "(soft-sed-eval annotate makes a soft reference of several annotators' tables)"
                )
            places[file] = place
            for k, result in enumerate(annotation.result):
                where = f"{place}.result[{k}]" if "." in place else place
                if result.type == "labels":
                    _add_region(document, where, file, result)
                else:
                    no_labels[result.type] += result.type.endswith("labels")
                    document.ignored[f"results of type {quoted(result.type)}"] = None
    if not places:
        raise document.error(
            "is a list of JSON in which no task of Label Studio is annotated; expected tasks with "
            "`annotations`, or with regions of start, end and labels (rows of a table are read as JSON "
            "lines: an object on each line)"
        )
    document.recordings = dict.fromkeys(places)
    document.choose("control")
    document.assumed += [
        f"{counted(n, 'region')} of type {quoted(kind)} {be(n)} left out: only those of type 'labels' have "
        "times of audio, in seconds"
        for kind, n in no_labels.items()
        if n
    ]
    document.notes += ["events are those that models predicted: no task has annotations"] * (not by_people)
    return document.rows()


def _add_region(document: Document, place: str, file: str, result: _Result) -> None:
    """Add an event for each label of a region."""
    region: _Region = _decoded(document, result.value, _Region, _STUDIO, f"{place}: ")
    labels = region.labels or document.label_of_all()
    document.n_ignored["region{s} without label"] += not labels
    for label in dict.fromkeys(labels):
        fields = [file, repr(region.start), repr(region.end), label, _number(result.score)]
        document.add(f"{place}.", fields, result.from_name)


def _annotations(document: Document, i: int, task: _Task) -> tuple[_Made, _Made]:
    """Return the annotations by people and the predictions by models of a task."""
    if task.keys() & {"annotations", "predictions"}:
        both: list[_Made] = []
        for key in ("annotations", "predictions"):
            place, text = f"[{i}].{key}", task.get(key, b"[]")
            made = _decoded(document, text, list[_Annotated] | None, _STUDIO, f"{place}: ") or []
            both.append({f"{place}[{k}]": each for k, each in enumerate(made)})
        return both[0], both[1]
    # JSON-MIN: each list of regions is of one control.
    lists = {key: raw for key, raw in task.items() if re.match(rb'\[.*"start"', bytes(raw), re.DOTALL)}
    results = [
        _Result(region, "labels", key)
        for key, raw in lists.items()
        for region in _decoded(document, raw, list[msgspec.Raw], _STUDIO, f"[{i}].{key}: ")
    ]
    return ({f"[{i}]": _Annotated(results)} if results or "annotation_id" in task else {}), {}


def _one_of(document: Document, made: _Made) -> _Made:
    """Return the annotations that were not skipped, or the one that is the ground truth."""
    whole = {place: each for place, each in made.items() if not each.was_cancelled}
    truths = {place: each for place, each in whole.items() if each.ground_truth}
    chosen = truths if len(truths) == 1 else whole
    document.n_ignored["skipped annotation{s}"] += len(made) - len(whole)
    document.n_ignored["annotation{s} beside the ground truth"] += len(whole) - len(chosen)
    return chosen


def _audio(document: Document, place: str, task: _Task) -> str:
    """Return the recording that a task is of: the one of its data that is, or may be, an audio file."""
    if "data" in task:
        data = _decoded(document, task["data"], dict[str, Any], _STUDIO, f"{place}.data: ")
    else:
        data = {key: _decoded(document, raw, Any, _STUDIO, f"{place}.{key}: ") for key, raw in task.items()}
    files = {key: _path(text) for key, text in data.items() if isinstance(text, str) and text.strip()}
    given = {normal(name) for role, name in document.limits.columns if role == "filename"}
    document.known |= {("filename", normal(key)) for key in files}
    audio = [key for key, file in files.items() if PurePosixPath(file).suffix.lower() in AUDIO_EXTENSIONS]
    keys = [key for key in files if normal(key) in given] or audio
    keys = [key for key in keys if key == "audio"] or keys
    if len(keys) == 1:
        return files[keys[0]]
    listed = ", ".join(map(quoted, [*files][:_LISTED])) or "nothing"
    example = option(("filename", (keys or [*files] or ["audio"])[0]))
    message = f"{place} does not say which of its data is the recording: {listed}"
    raise document.error(f"{message}; expected one audio file, or {example}")


def _path(url: str) -> str:
    """Return the file of a URL: `/data/local-files/?d=a.wav` is `a.wav`, so is `/upload/1/0123abcd-a.wav`."""
    path = url.strip()
    if "?d=" in path:
        path = unquote(path.partition("?d=")[2].partition("&")[0])
    elif "://" in path:
        # The host, or the bucket, is not a folder.
        path = unquote(re.split(r"[?#]", path.partition("://")[2].partition("/")[2])[0])
    uploaded = _UPLOADED.fullmatch(path)
    return uploaded[1] if uploaded else path


# soundevent

_AOEF = "a document of soundevent"
_ANNOTATED = ("annotation_set", "annotation_project", "evaluation_set")
_PREDICTED = ("prediction_set", "model_run")
_NESTED = {
    "Point": 0,
    "LineString": 1,
    "MultiPoint": 1,
    "Polygon": 2,
    "MultiLineString": 2,
    "MultiPolygon": 3,
}
"""The depth of the points, of time and frequency, in the coordinates of a geometry."""


class _Tag(msgspec.Struct):
    id: int
    key: str
    value: str


class _Recording(msgspec.Struct):
    uuid: str
    path: str


class _Geometry(msgspec.Struct):
    type: str
    coordinates: Any


class _Clip(msgspec.Struct):
    uuid: str
    recording: str


class _Sound(_Clip):
    geometry: _Geometry


class _Tagged(msgspec.Struct):
    """An annotation of a sound event, or a prediction: of that each tag has a score."""

    sound_event: str
    tags: list[int | tuple[int, float]] | None = None
    score: float | None = None

    def scores(self) -> dict[int, float | None]:
        """Return the score of each tag, by number; None for a tag without one."""
        return dict((tag, None) if isinstance(tag, int) else tag for tag in self.tags or ())


class _OfClip(msgspec.Struct):
    clip: str


class _Collection(msgspec.Struct):
    collection_type: str
    tags: list[_Tag] | None = None
    recordings: list[_Recording] | None = None
    sound_events: list[_Sound] | None = None
    sound_event_annotations: list[_Tagged] | None = None
    sound_event_predictions: list[_Tagged] | None = None
    clips: list[_Clip] | None = None
    clip_annotations: list[_OfClip] | None = None
    clip_predictions: list[_OfClip] | None = None


class _Exchanged(msgspec.Struct):
    data: _Collection


def read_soundevent(source: Source, limits: Limits) -> EventTable | None:
    """Read the annotated, or the predicted, sound events of all recordings."""
    document = Document(source, limits, "")
    data: _Collection = _decoded(document, _text(source), _Exchanged, _AOEF).data
    document.form = f"soundevent {data.collection_type}"
    if data.collection_type not in (*_ANNOTATED, *_PREDICTED):
        expected = ", ".join((*_ANNOTATED, *_PREDICTED))
        message = f"is a collection of type {quoted(data.collection_type)}; expected one of {expected}"
        raise document.error(message)
    annotated, kind, of_clips = (
        (data.sound_event_predictions or [], "predictions", data.clip_predictions or [])
        if data.collection_type in _PREDICTED
        else (data.sound_event_annotations or [], "annotations", data.clip_annotations or [])
    )
    recordings, sounds, clips = (
        {each.uuid: each for each in listed or ()}
        for listed in (data.recordings, data.sound_events, data.clips)
    )
    tags = {tag.id: tag for tag in data.tags or ()}

    def at(among: Mapping[Any, Any], key: object, place: str) -> Any:  # noqa: ANN401
        if key not in among:
            raise document.error(f"{place} refers to {quoted(str(key))}, which is not there")
        return among[key]

    keys = [*dict.fromkeys(at(tags, tag, "a sound event").key for each in annotated for tag in each.scores())]
    key = _key_of_class(document, keys) if annotated else ""
    points = 0
    for i, each in enumerate(annotated):
        place = f"data.sound_event_{kind}[{i}]"
        sound: _Sound = at(sounds, each.sound_event, place)
        file = at(recordings, sound.recording, place).path
        times = _span(document, place, sound.geometry)
        labels = {tags[tag].value: score for tag, score in each.scores().items() if tags[tag].key == key}
        labels = labels or dict.fromkeys(document.label_of_all(), each.score)
        for label, score in labels.items():
            document.add(f"{place}.", [file, *times, label, _number(score)])
        document.n_ignored[f"sound event{{s}} without a tag {quoted(key)}"] += not labels
        points += bool(labels) and sound.geometry.type in {"TimeStamp", "Point"}
    document.recordings = {
        at(recordings, at(clips, each.clip, "a clip").recording, "a clip").path: None for each in of_clips
    }
    document.notes += [f"labels are the tags called {quoted(key)}"] * (len(keys) > 1)
    document.note_points(points)
    document.ignored = {f"tags {quoted(other)}": None for other in keys if other != key}
    return document.rows()


def _key_of_class(document: Document, keys: Sequence[str]) -> str:
    """Return which tags are the classes: there is but one key, or the user names it."""
    named = {normal(name) for role, name in document.limits.columns if role == "event_label"}
    document.known |= {("event_label", normal(key)) for key in keys}
    chosen = [key for key in keys if normal(key) in named] or keys
    if len(chosen) == 1:
        return chosen[0]
    if chosen:
        listed, mend = ", ".join(map(quoted, chosen[:_LISTED])), option(("event_label", chosen[0]))
        message = f"has tags that are called {listed}; expected one that is the class, as {mend} says"
        raise document.error(message)
    if not document.limits.label:
        raise document.error(
            "has sound events without tags; expected a tag that is the class, or --label NAME for all"
        )
    return ""


def _span(document: Document, place: str, geometry: _Geometry) -> tuple[str, str]:
    """Return onset and offset of a geometry, the first and the last time that it has, in seconds."""
    kind, points = geometry.type, geometry.coordinates
    try:
        if kind in _NESTED:
            points = [points]
            for _ in range(_NESTED[kind]):
                points = [point for line in points for point in line]
            times = [point[0] for point in points]
            first, last = min(times), max(times)
        elif kind == "BoundingBox":
            first, _, last, _ = points
        else:
            first, last = points if kind == "TimeInterval" else {"TimeStamp": (points, points)}[kind]
        return repr(float(first)), repr(float(last))
    except (TypeError, ValueError, KeyError, IndexError, OverflowError) as error:
        message = f"{place} has no times in its geometry of type {quoted(kind)}"
        raise document.error(f"{message}; expected coordinates in seconds") from error


_WIDTHS = {"pred_relevant_windows": 3, "relevant_windows": 2}
"""The fields of windows, and the numbers of a window."""


def read_moments(source: Source, limits: Limits) -> EventTable | None:
    """Read a query a line; raises InputError with the lines that are none."""
    check_document(source)
    document, lines = Document(source, limits, "JSON lines of moments"), dict[str, int]()
    for line, item in objects(source):
        if isinstance(item, Problem):
            document.records.append((line, item, ""))
            continue
        vid, qid = (
            one_line_of(str(item[name])) if isinstance(item.get(name), str | int) else ""
            for name in ("vid", "qid")
        )
        field = next((name for name in _WIDTHS if name in item), "relevant_windows")
        windows, width = item.get(field), _WIDTHS[field]
        if not vid or not qid:
            document.wrong(line, "names no recording or no query; expected vid and qid")
        elif lines.setdefault(qid, line) != line:
            document.wrong(line, f"query {qid} is in line {lines[qid]}, too; expected each once")
        elif not isinstance(windows, list) or not all(
            isinstance(each, list) and len(each) >= width and {*map(type, each)} <= {int, float}
            for each in windows
        ):
            document.wrong(line, f"expected {field}, a list of lists of {width} numbers")
        else:
            document.recordings[vid] = None
            for onset, offset, *score in windows:
                value = repr(score[0]) if width > 2 else ""
                document.add(line, [vid, repr(onset), repr(offset), qid, value])
    return document.rows()


# Rows

_LEAST_CELL = 8
"""Bytes of a cell at the least, whether an object has it or not."""

_DOCUMENTS = (("annotations", list), ("data", dict))
"""The keys and types of documents of annotations, which may be on one line as well."""


def reads_jsonl(source: Source, limits: Limits) -> bool:  # noqa: ARG001
    """Return whether the first line is a JSON object with an onset and an offset, or the name of a file."""
    first = _first_object(source)
    is_document = first is not None and any(isinstance(first.get(key), kind) for key, kind in _DOCUMENTS)
    return first is not None and (not is_document or looks_like_header([*first]))


def read_jsonl(source: Source, limits: Limits) -> EventTable | None:
    """Read an object per line, as rows of a data frame; raises InputError with the first that are wrong."""
    lines, rows, found = [], [], Findings()
    for line, row in objects(source):
        if isinstance(row, Problem):
            found.add(row)
        else:
            lines.append(line)
            rows.append(row)
    found.check()
    if not rows:
        return None
    limits.check(source.name, "rows", len(rows), "rows")
    names = {key for row in rows for key in row}
    limits.check(source.name, "classes", len(names) - PLAIN, "fields of classes")
    # A field that one object has is a column of all.
    size = _LEAST_CELL * len(rows) * len(names)
    if size > SPARED:
        limits.check(source.name, "ratio", size // len(source.data), "bytes of cells per byte")
    origin = Origin(source.name, source.sha256, "JSON lines, {}")
    return rows_from_objects(rows, lines, origin, limits)
