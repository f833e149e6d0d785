"""Annotations as documents of JSON: JAMS, Label Studio's exports, and those of soundevent and whombat.

- JAMS: annotations of one recording, of which those of sound events are read: observations with a time and a
  duration in some namespaces. A background of scaper's is no event, and its confidence, always 1, no value.
- Label Studio's JSON is a list of tasks, each an audio file with `annotations` and their `result`: of that,
  what is of type `labels` is read. JSON-MIN has an object for each annotation, with lists of labelled
  regions. What people annotated is read; where nobody did, what models predicted. A recording must have one
  annotation.
- soundevent's documents (AOEF) list recordings, sound events, and annotations or predictions of these with
  tags: the key of one tag has the class. The score of a predicted tag is the value.

NaN, which Python writes and JSON does not know, is read as null: no value.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

import msgspec

from sedeval_soft.errors import InputError, Problem, counted, quoted
from sedeval_soft.tables.annotation_rows import (
    HEAD,
    Events,
    check_document,
    end_of,
    events_of,
    origin_of,
    points_noted,
    read_past,
)
from sedeval_soft.tables.columns import Layout, normal, option
from sedeval_soft.tables.event_table import UNNAMED, EventTable
from sedeval_soft.tables.filenames import AUDIO_EXTENSIONS
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.source import Source
from sedeval_soft.tables.ticks import TICKS_PER_SECOND

_NO_JSON = (msgspec.MsgspecError, ValueError, RecursionError)
_STRING_OR_NAN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|NaN', re.DOTALL)
_LISTED = 10  # keys that a message lists


def _text(source: Source) -> bytes:
    """Return a JSON text in which NaN is null; raises RoomError for more than memory can hold."""
    check_document(source)
    data = source.data[:]
    if b"NaN" not in data:
        return data
    return _STRING_OR_NAN.sub(lambda match: b"null" if match[0] == b"NaN" else match[0], data)


def _decoded(source: Source, data: bytes | msgspec.Raw, kind: Any, title: str, place: str = "") -> Any:  # noqa: ANN401
    """Return a JSON text as what it should be; raises InputError where it is not."""
    try:
        return msgspec.json.decode(data, type=kind)
    except RecursionError as error:
        message = f"cannot be read as {title}: {place}it is nested too deeply"
        raise InputError(Problem(source.name, message)) from error
    except _NO_JSON as error:
        raise InputError(Problem(source.name, f"cannot be read as {title}: {place}{error}")) from error


def _number(number: float | None) -> str:
    return "" if number is None else repr(number)


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


class _Annotator(msgspec.Struct):
    name: Any = None
    email: Any = None


class _AnnotationMetadata(msgspec.Struct):
    annotator: _Annotator | None = None


class _Annotation(msgspec.Struct):
    namespace: str
    data: msgspec.Raw
    annotation_metadata: msgspec.Raw = msgspec.Raw(b"{}")


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


def read_jams(source: Source, limits: Limits) -> EventTable | None:
    """Read the sound events of a JAMS document."""
    if source.data.find(b'"namespace"') < 0 <= source.data.find(b'"result"'):
        message = "is a task of Label Studio by itself; expected a list of tasks: [ before it and ] after it"
        raise InputError(Problem(source.name, f"{message}, and commas between several"))
    document = _decoded(source, _text(source), _Document, "JAMS")
    if not any(each.namespace in NAMESPACES for each in document.annotations):
        expected = f"expected one of {', '.join(NAMESPACES)}"
        raise InputError(Problem(source.name, f"has no annotation of sound events; {expected}"))
    metadata = document.file_metadata
    name = ((metadata and metadata.identifiers) or {}).get("filename")
    file = name.strip() if isinstance(name, str) else UNNAMED
    events = Events(source, limits)
    ignored: dict[str, None] = {}
    annotators: set[tuple[str, str]] = set()
    backgrounds = 0
    for i, annotation in enumerate(document.annotations):
        place = f"annotations[{i}].data"
        if annotation.namespace not in NAMESPACES:
            ignored[f"namespace {quoted(annotation.namespace)}"] = None
            continue
        annotators.add(_annotator(annotation))
        for k, each in enumerate(_decoded(source, annotation.data, list[_Observation], "JAMS", f"{place}: ")):
            label, confidence = each.value, each.confidence
            if isinstance(label, _Event):
                if label.role == "background":
                    backgrounds += 1
                    continue
                label, confidence = label.label, None
            time = repr(each.time)
            fields = [file, time, end_of(time, repr(each.duration)), label, _number(confidence)]
            events.add(f"{place}[{k}].", fields)
    assumed = (
        f"has annotations of {len(annotators)} annotators, whose events are those of one table; "
        "soft-sed-eval annotate makes a soft reference of a file of each"
    )
    notes = read_past(backgrounds, "background{s}")
    origin = origin_of(source, "JAMS", notes, [*ignored], [assumed] * (len(annotators) > 1))
    return events.rows(origin, [file] * (file != UNNAMED), _OBSERVED)


def _annotator(annotation: _Annotation) -> tuple[str, str]:
    """Return who made an annotation, empty where nothing says so."""
    try:
        metadata = msgspec.json.decode(annotation.annotation_metadata, type=_AnnotationMetadata)
    except _NO_JSON:
        return "", ""
    person = metadata.annotator or _Annotator()
    return str(person.name or ""), str(person.email or "")


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


# Label Studio

_STUDIO = "Label Studio's JSON"


class _Region(msgspec.Struct):
    """A labelled region of audio."""

    start: float
    end: float
    labels: list[str] = []


class _Result(msgspec.Struct):
    """What an annotator, or a model, said of a region, or of a task."""

    value: msgspec.Raw = msgspec.Raw(b"{}")
    type: str = ""
    from_name: str = ""
    score: float | None = None


class _Annotated(msgspec.Struct):
    """What an annotator, or a model, said of a task."""

    result: list[_Result] = []
    was_cancelled: bool | None = None
    ground_truth: bool | None = None


_Task = dict[str, msgspec.Raw]
_Annotations = dict[str, _Annotated]
"""By their place in the document."""

_UPLOADED = re.compile(r".*?/upload/(?:\d+/)?[0-9a-f]{8}-(.+)", re.DOTALL)
"""What Label Studio puts before the name of a file that was uploaded."""


def reads_label_studio(source: Source) -> bool:
    """Return whether there is a list of JSON objects."""
    return re.match(rb"\s*\[\s*(?:\{\s*[\"}]|\]\s*$)", source.data[:HEAD]) is not None


def read_label_studio(source: Source, limits: Limits) -> EventTable | None:
    """Read the labelled regions of all tasks that are annotated."""
    tasks: list[_Task] = _decoded(source, _text(source), list[_Task], _STUDIO)
    annotated = [_annotations(source, i, task) for i, task in enumerate(tasks)]
    by_people = any(people for people, _ in annotated)
    events, ignored, counts = Events(source, limits), dict[str, None](), Counter[str]()
    places, others = dict[str, str](), Counter[str]()
    for i, (people, models) in enumerate(annotated):
        made = _one_of(people if by_people else models, counts)
        counts["prediction{s}"] += len(models) if by_people else 0
        counts["task{s} without annotation"] += not made
        file = _audio(source, f"[{i}]", tasks[i], limits) if made else ""
        for place, annotation in made.items():
            if file in places:
                raise InputError(Problem(source.name, _twice(places[file], place, file)))
            places[file] = place
            for k, result in enumerate(annotation.result):
                where = f"{place}.result[{k}]" if "annotations" in place or "predictions" in place else place
                if result.type != "labels":
                    others[result.type] += result.type.endswith("labels")
                    ignored[f"results of type {quoted(result.type)}"] = None
                    continue
                region = _decoded(source, result.value, _Region, _STUDIO, f"{where}: ")
                labels = region.labels or [*filter(None, [limits.label])]
                counts["region{s} without label"] += not labels
                for label in dict.fromkeys(labels):
                    fields = [file, repr(region.start), repr(region.end), label, _number(result.score)]
                    events.add(f"{where}.", fields, result.from_name)
    if not places:
        message = (
            "is a list of JSON in which no task of Label Studio is annotated; expected tasks with "
            "`annotations`, or with regions of start, end and labels (rows of a table are read as JSON "
            "lines: an object on each line)"
        )
        raise InputError(Problem(source.name, message))
    past, assumed = events.choose("control")
    of_audio = "left out: only those of type 'labels' have times of audio, in seconds"
    for kind, n in others.items():
        assumed += [
            f"{counted(n, 'region')} of type {quoted(kind)} {'is' if n == 1 else 'are'} {of_audio}"
        ] * (n > 0)
    notes = [note for what, n in counts.items() for note in read_past(n, what)]
    notes += ["events are those that models predicted: no task has annotations"] * (not by_people)
    origin = origin_of(source, "Label Studio JSON", notes, [*ignored, *past], assumed)
    return events.rows(origin, [*places])


def _annotations(source: Source, i: int, task: _Task) -> tuple[_Annotations, _Annotations]:
    """Return what people and what models said of a task."""
    if task.keys() & {"annotations", "predictions"}:
        both = []
        for key in ("annotations", "predictions"):
            place, text = f"[{i}].{key}", task.get(key, b"[]")
            made = _decoded(source, text, list[_Annotated] | None, _STUDIO, f"{place}: ") or []
            both.append({f"{place}[{k}]": each for k, each in enumerate(made)})
        return both[0], both[1]
    results: list[_Result] = []
    for key, text in task.items():
        # JSON-MIN: each list of regions is what one control has.
        if bytes(text).startswith(b"[") and b'"start"' in bytes(text):
            regions = _decoded(source, text, list[msgspec.Raw], _STUDIO, f"[{i}].{key}: ")
            results += [_Result(region, "labels", key) for region in regions]
    made = [_Annotated(results)] if results or "annotation_id" in task else []
    return {f"[{i}]": each for each in made}, {}


def _one_of(made: _Annotations, counts: Counter[str]) -> _Annotations:
    """Return the annotations that were not skipped, or the one that is the ground truth; count the others."""
    whole = {place: each for place, each in made.items() if not each.was_cancelled}
    truths = {place: each for place, each in whole.items() if each.ground_truth}
    chosen = truths if len(truths) == 1 else whole
    counts["skipped annotation{s}"] += len(made) - len(whole)
    counts["annotation{s} beside the ground truth"] += len(whole) - len(chosen)
    return chosen


def _twice(first: str, second: str, file: str) -> str:
    return (
        f"{first} and {second} both annotate {quoted(file)}; expected one annotation of a recording: mark "
        "one as ground truth in Label Studio, or leave out the others (soft-sed-eval annotate makes a soft "
        "reference of several annotators' tables)"
    )


def _audio(source: Source, place: str, task: _Task, limits: Limits) -> str:
    """Return the recording that a task is of: the one of its data that is, or may be, an audio file."""
    data = _decoded(source, task.get("data", b"{}"), dict[str, Any], _STUDIO, f"{place}.data: ")
    if "data" not in task:
        texts = {key: raw for key, raw in task.items() if bytes(raw).startswith(b'"')}
        data = {key: _decoded(source, raw, str, _STUDIO, f"{place}.{key}: ") for key, raw in texts.items()}
    files = {key: _path(text) for key, text in data.items() if isinstance(text, str) and text.strip()}
    given = {normal(name) for role, name in limits.columns if role == "filename"}
    audio = [key for key, file in files.items() if PurePosixPath(file).suffix.lower() in AUDIO_EXTENSIONS]
    keys = [key for key in files if normal(key) in given] or audio
    keys = [key for key in keys if key == "audio"] or keys
    if len(keys) == 1:
        return files[keys[0]]
    listed = ", ".join(map(quoted, [*files][:_LISTED])) or "nothing"
    example = option(("filename", (keys or [*files] or ["audio"])[0]))
    message = f"{place} does not say which of its data is the recording: {listed}"
    raise InputError(Problem(source.name, f"{message}; expected one audio file, or {example}"))


def _path(url: str) -> str:
    """Return the file of a URL: `/data/local-files/?d=a.wav` is `a.wav`, so is `/upload/1/0123abcd-a.wav`."""
    path = url.strip()
    if "?d=" in path:
        path = unquote(path.partition("?d=")[2].partition("&")[0])
    elif "://" in path:
        # The host, or the bucket, is no folder.
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
"""How deep the points, of time and frequency, lie in the coordinates of a geometry."""


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


class _Sound(msgspec.Struct):
    uuid: str
    recording: str
    geometry: _Geometry


class _Tagged(msgspec.Struct):
    """An annotation of a sound event, or a prediction: of that each tag has a score."""

    sound_event: str
    tags: list[int | tuple[int, float]] | None = None
    score: float | None = None

    def scores(self) -> dict[int, float | None]:
        """Return the score of each tag, by number; None where it has none."""
        return dict((tag, None) if isinstance(tag, int) else tag for tag in self.tags or ())


class _Clip(msgspec.Struct):
    uuid: str
    recording: str


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


def reads_soundevent(source: Source) -> bool:
    """Return whether a JSON object has a type of collection."""
    return source.data[:HEAD].lstrip().startswith(b"{") and source.data.find(b'"collection_type"') >= 0


def read_soundevent(source: Source, limits: Limits) -> EventTable | None:
    """Read the annotated, or the predicted, sound events of all recordings."""
    data: _Collection = _decoded(source, _text(source), _Exchanged, _AOEF).data
    if data.collection_type not in (*_ANNOTATED, *_PREDICTED):
        expected = ", ".join((*_ANNOTATED, *_PREDICTED))
        message = f"is a collection of type {quoted(data.collection_type)}; expected one of {expected}"
        raise InputError(Problem(source.name, message))
    annotated, kind, of_clips = (
        (data.sound_event_predictions, "predictions", data.clip_predictions)
        if data.collection_type in _PREDICTED
        else (data.sound_event_annotations, "annotations", data.clip_annotations)
    )
    recordings, sounds, clips = (
        {each.uuid: each for each in listed or ()}
        for listed in (data.recordings, data.sound_events, data.clips)
    )
    tags = {tag.id: tag for tag in data.tags or ()}

    def at(among: Mapping[Any, Any], key: object, place: str) -> Any:  # noqa: ANN401
        if key not in among:
            raise InputError(
                Problem(source.name, f"{place} refers to {quoted(str(key))}, which is not there")
            )
        return among[key]

    used = {at(tags, tag, "a sound event").key: None for each in annotated or () for tag in each.scores()}
    key = _key_of_class(source, [*used], limits) if annotated else ""
    events, untagged, points = Events(source, limits), 0, 0
    for i, each in enumerate(annotated or ()):
        place = f"data.sound_event_{kind}[{i}]"
        sound: _Sound = at(sounds, each.sound_event, place)
        file = at(recordings, sound.recording, place).path
        onset, offset = _span(source, place, sound.geometry)
        labels = {tags[tag].value: score for tag, score in each.scores().items() if tags[tag].key == key}
        labels = labels or dict.fromkeys(filter(None, [limits.label]), each.score)
        for label, score in labels.items():
            events.add(f"{place}.", [file, onset, offset, label, _number(score)])
        untagged += not labels
        points += bool(labels) and sound.geometry.type in {"TimeStamp", "Point"}
    declared = [
        at(recordings, at(clips, each.clip, "a clip").recording, "a clip").path for each in of_clips or ()
    ]
    notes = [f"labels are the tags called {quoted(key)}"] * (len(used) > 1)
    notes += read_past(untagged, f"sound event{{s}} without a tag {quoted(key)}")
    notes += points_noted(points)
    ignored = [f"tags {quoted(other)}" for other in used if other != key]
    origin = origin_of(source, f"soundevent {data.collection_type}", notes, ignored)
    return events.rows(origin, [*dict.fromkeys(declared)])


def _key_of_class(source: Source, keys: Sequence[str], limits: Limits) -> str:
    """Return which tags are the classes: there is but one key, or the user names it."""
    named = {normal(name) for role, name in limits.columns if role == "event_label"}
    chosen = [key for key in keys if normal(key) in named] or keys
    if len(chosen) == 1:
        return chosen[0]
    if not keys and limits.label:
        return ""
    if not keys:
        message = "has sound events without tags; expected a tag that is the class, or --label NAME for all"
        raise InputError(Problem(source.name, message))
    listed = ", ".join(map(quoted, chosen[:_LISTED]))
    mend = option(("event_label", chosen[0]))
    message = f"has tags that are called {listed}; expected one that is the class, as {mend} says"
    raise InputError(Problem(source.name, message))


def _span(source: Source, place: str, geometry: _Geometry) -> tuple[str, str]:
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
        message = (
            f"{place} has no times in its geometry of type {quoted(kind)}; expected coordinates in seconds"
        )
        raise InputError(Problem(source.name, message)) from error
