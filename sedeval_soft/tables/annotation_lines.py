"""Annotations as lines of text, read one by one: Audacity, RTTM, ELAN's export.

- Audacity label tracks: lines of start, end and label, tabs between. A line that begins with a backslash has
  the frequencies of the label before it. Quotes are characters like others.
- RTTM: lines of `SPEAKER file channel onset duration <NA> <NA> name confidence <NA>`, blanks between.
- ELAN's tab-delimited export has a row per annotation, with its tier and its value, or a column per tier,
  whose cells are values. Times are `ss.msec`, `hh:mm:ss.ms` or `msec`; without a header they must be
  hh:mm:ss.ms (others may be beside), behind the names of tier and participant. Lines that name media may come
  before. An annotation's value is the label; an annotation without value has its tier as label.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import chain

from sedeval_soft.errors import InputError, Problem, quoted
from sedeval_soft.tables.annotation_document import HEAD, Document, end_of, events_of, seconds
from sedeval_soft.tables.columns import ALIASES, WORD_LISTS, Layout, dialect_of, normal, to_number
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.filenames import listing
from sedeval_soft.tables.fit import check_labels
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.source import Source
from sedeval_soft.tables.ticks import clock_seconds

# Audacity

_TRACK = Layout(("start", "end", "label"), ("onset", "offset", "event_label"), has_header=False)


def read_audacity(source: Source, limits: Limits) -> EventTable | None:
    """Read labels; lines of frequencies are counted and ignored."""
    document = Document(source, limits, "Audacity label track", _TRACK)
    for line, text in document.lines():
        fields = text.split("\t", 2)
        if fields[0] != "\\":
            document.add(line, fields)
        elif len(fields) == 3 and document.records:
            document.n_ignored["line{s} of frequencies"] += 1
        else:
            document.wrong(line, "is not a line of frequencies after a label; expected \\, low, high")
    return document.rows()


def write_audacity(rows: EventTable) -> bytes:
    """Return a label for each row."""
    events = events_of(rows, "audacity", "\r\n\t", files=False)
    check_labels(rows, "audacity")
    for name in rows.classes:
        if name.startswith('"'):
            why = f"the name {quoted(name)} begins with a quote, which readers of tables take away"
            raise InputError(Problem(rows.origin.name, why, code="cannot-hold"))
    lines = (f"{seconds(onset)}\t{seconds(offset)}\t{label}\n" for _, label, onset, offset, _ in events)
    return "".join(lines).encode()


# RTTM

_TYPES = frozenset({
    "SPEAKER", "SPKR-INFO", "NOSCORE", "NO_RT_METADATA", "SEGMENT", "LEXEME", "NON-LEX", "NON-SPEECH",
    "SU", "IP", "EDIT", "FILLER", "CB", "A/P", "SPKR_INFO",
})  # fmt: skip
_MISSING = "<NA>"
_ONE_CHANNEL = {"0", "1", _MISSING}  # of recordings that have no other
_SPEAKER = Layout(
    ("SPEAKER", "file", "channel", "onset", "duration", _MISSING, _MISSING, "name", "confidence", _MISSING),
    (None, "filename", None, "onset", "offset", None, None, "event_label", "soft_value", None),
    has_header=False,
)


def read_rttm(source: Source, limits: Limits) -> EventTable | None:
    """Read the SPEAKER lines; others are counted and ignored."""
    document, channels = Document(source, limits, "RTTM", _SPEAKER), dict[str, None]()
    for line, text in document.lines():
        fields = text.split()
        if fields[0] == "SPEAKER":
            fields += [""] * (len(fields) == 9)
            if len(fields) == 10:
                fields[1], fields[8] = ("" if fields[at] == _MISSING else fields[at] for at in (1, 8))
                fields[4] = end_of(fields[3], fields[4])
                channels[fields[2]] = None
            document.add(line, fields)
        elif fields[0] in _TYPES:
            document.n_ignored["line{s} of RTTM that {are} not SPEAKER"] += 1
        elif not fields[0].startswith(";;"):
            document.wrong(line, f"begins with {quoted(fields[0])}; expected SPEAKER", 1)
    if len(channels) > 1 or not {*channels} <= _ONE_CHANNEL:
        document.assumed.append(
            f"{listing([*channels], 'channel')} of recordings: channels are not kept apart; write one "
            "recording for each, as m1-1 and m1-2, if they are to be"
        )
    return document.rows()


def write_rttm(rows: EventTable) -> bytes:
    """Return a SPEAKER line for each row; its confidence is the value."""
    if _MISSING in rows.files:
        why = f"a recording called {_MISSING} would be read as one without a name"
        raise InputError(Problem(rows.origin.name, why, code="cannot-hold"))
    return "".join(
        f"SPEAKER {file or _MISSING} 1 {seconds(onset)} {seconds(offset - onset)} <NA> <NA> "
        f"{label} {_MISSING if value is None else repr(value)} <NA>\n"
        for file, label, onset, offset, value in events_of(rows, "rttm")
    ).encode()


# ELAN

_TIME = re.compile(r"(begin|start|end|stop|duration)(?:_time)?(?:_\(?(.+?)\)?)?")
_UNITS = {"": ""} | {name: unit for unit in ("s", "h", "ms") for name in WORD_LISTS[f"elan-{unit}"]}
_EXPECTED = {
    "s": "seconds, such as 1.250",
    "h": "hours, minutes and seconds, such as 00:00:01.250",
    "ms": "milliseconds, such as 1250",
    "": "seconds, or hours, minutes and seconds",
}
"""Units of times, the best first, and the words for an expected time; the last is unknown."""

_CLOCK = re.compile(r"\d{1,12}:[0-5]\d:[0-5]\d(?:\.\d+)?", re.ASCII)
_VALUES, _TIERS, _PAST = (WORD_LISTS[f"elan-{name}"] for name in ("values", "tiers", "others"))
_FILES = (*ALIASES["filename"], "media_file")
_FRAMES = ("hh", "pal", "ntsc", "smpte")
_MEDIA = ("#", '"#')


@dataclass(frozen=True, slots=True)
class _Export:
    """An export of ELAN's as its first line describes it.

    unit: of its times. labels: for each annotation that a line may have, the positions of its possible
    labels, the best first.

    ignored: the columns that are ignored. texts: the column whose place the names of tiers take as labels, if
    there is one.
    """

    layout: Layout
    unit: str
    labels: tuple[tuple[int, ...], ...]
    ignored: tuple[str, ...] = ()
    texts: str = ""


def reads_elan(source: Source, limits: Limits) -> bool:  # noqa: ARG001 - columns have names of their own
    """Return whether the first line that names no media is a header of ELAN's, or one of its annotations."""
    lines = source.data[:HEAD].decode("utf-8", "replace").splitlines()
    first = next((line for line in lines if line.strip() and not line.startswith(_MEDIA)), "")
    export = _export(first)
    if export is None or not export.layout.has_header:
        return export is not None
    names = {normal(field) for field in export.layout.names}
    return " - " in first or not names.isdisjoint({*_VALUES[:2], *_TIERS})


def read_elan(source: Source, limits: Limits) -> EventTable | None:
    """Read annotations; raises InputError also if the first line is neither a header nor an annotation."""
    document = Document(source, limits, "ELAN export")
    lines = document.lines()
    line, first = next(((line, text) for line, text in lines if not text.startswith(_MEDIA)), (0, ""))
    if not first:
        return None
    export = _export(first)
    if export is None:
        message = "is neither a header with times nor an annotation; expected tab-delimited text of ELAN"
        raise document.error(f"{quoted(first)} {message}", line)
    document.layout, document.ignored = export.layout, dict.fromkeys(export.ignored)
    if export.texts:
        document.assumed.append(
            f"the names of tiers are the labels, and column {quoted(export.texts)} is ignored; 'Annotation' "
            "in its place in the header makes its texts the labels"
        )
    for number, text in lines if export.layout.has_header else chain([(line, first)], lines):
        _add_annotations(document, number, text.split("\t"), export)
    return document.rows()


def _export(first: str) -> _Export | None:
    """Return the export that a first line describes, None if the line is not ELAN's."""
    fields = [field.strip() for field in first.split("\t")]
    return _header(fields) or _without_header(fields)


def _header(fields: list[str]) -> _Export | None:
    """Return the export that a header describes; None for other lines and other tools' headers."""
    if dialect_of(fields) is not None:
        return None
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
    texts = fields[rest[0]] if rest and value is None and tier is not None else ""
    return _Export(layout, unit, tuple(labels), ignored, texts)


def _without_header(fields: list[str]) -> _Export | None:
    """Return the export of an annotation: tier, participant, begin, end, duration, value; None for others."""
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


def _add_annotations(document: Document, line: int, fields: list[str], export: _Export) -> None:
    """Add the annotations of a line, with times in seconds."""
    layout = export.layout
    # Fields that are empty at the end of a line may be left out.
    fields = fields + [""] * (len(layout.names) - len(fields))
    for role in ("onset", "offset") if len(fields) == len(layout.names) else ():
        at = layout.roles.index(role)
        time = _time(fields[at].strip(), export.unit)
        if not time >= 0:
            expected = _EXPECTED[export.unit]
            document.wrong(line, f"{quoted(fields[at])} is not a time; expected {expected}", at + 1)
            return
        fields[at] = repr(time)
    at = layout.roles.index("event_label")
    texts = ([fields[i].strip() for i in places] for places in export.labels)
    labels = [label for label in (next(filter(None, each), "") for each in texts) if label]
    for label in labels or [""]:
        document.add(line, [*fields[:at], label, *fields[at + 1 :]])


def _time(text: str, unit: str) -> float:
    """Return a time in seconds; NaN if the text is not in that unit."""
    if unit in {"h", ""} and _CLOCK.fullmatch(text):
        return clock_seconds(text)
    if unit == "h":
        return math.nan
    return to_number(text) / 1000 if unit == "ms" else to_number(text)
