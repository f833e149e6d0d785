"""Tab-delimited text as ELAN exports it: annotations with the times of their beginning and end.

Two layouts have a header: a row per annotation, with its tier and its value; and a column per tier, whose
cells hold values. Times are `ss.msec`, `hh:mm:ss.ms` or `msec`; without a header they must be hh:mm:ss.ms
(others may stand beside), behind the names of tier and participant. Lines that name media may stand before.
An annotation's value is the label; where it is empty, its tier is. Commas or semicolons do for tabs: many an
export has been through a spreadsheet.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from sedeval_soft.errors import InputError, Problem, quoted
from sedeval_soft.tables.annotations import Events, lines_of, number, seconds, written_events
from sedeval_soft.tables.columns import ALIASES, RAVEN, RAVEN_TABLE, is_of_raven, normal
from sedeval_soft.tables.event_table import UNNAMED, EventTable
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.source import Source
from sedeval_soft.tables.text import DELIMITERS, split

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
_HEAD = 1 << 16


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where times and names stand: positions, None for what there is not.

    header: whether a header says so. begin, end: each with its unit. tiers: that have a column each.
    """

    header: bool
    width: int
    begin: tuple[int, str]
    end: tuple[int, str]
    value: int | None
    tier: int | None
    file: int | None
    tiers: tuple[int, ...] = ()
    ignored: tuple[str, ...] = ()


def reads(source: Source) -> bool:
    """Return whether the first line is a header of ELAN's, or an annotation with times as hh:mm:ss.ms."""
    lines = source.data[:_HEAD].decode("utf-8", "replace").splitlines()
    first = next((line for line in lines if line.strip() and not line.startswith(_MEDIA)), "")
    delimiter, layout = _layout(first)
    if layout is None or not layout.header:
        return layout is not None
    named = layout.tier is not None or any(normal(f) in _VALUES[:2] for f in split(first, delimiter))
    return named or " - " in first


def read(source: Source, limits: Limits) -> EventTable | None:
    """Read an export of ELAN's; raises InputError with all that is wrong, up to `MAX_PROBLEMS`."""
    events = Events(source, limits)
    layout: _Layout | None = None
    delimiter = "\t"
    for line, text in lines_of(source):
        if layout is not None:
            _enter(events, line, _fields(text, delimiter), layout)
        elif not text.startswith(_MEDIA):
            if any(is_of_raven(split(text, each)) for each in DELIMITERS):
                raise InputError(Problem(source.name, RAVEN_TABLE, line, code=RAVEN))
            delimiter, layout = _layout(text)
            if layout is None:
                expected = "expected tab-delimited text as ELAN exports it"
                message = f"{quoted(text)} is neither a header with times nor an annotation; {expected}"
                raise InputError(Problem(source.name, message, line))
            if not layout.header:
                _enter(events, line, _fields(text, delimiter), layout)
    return None if layout is None else events.rows("ELAN export", ignored=layout.ignored)


def write(rows: EventTable) -> bytes:
    """Return an annotation for each row, all of one tier, times in seconds with milliseconds."""
    lines = ["Tier\tBegin Time - ss.msec\tEnd Time - ss.msec\tDuration - ss.msec\tAnnotation\n"]
    for _, label, onset, offset, _ in written_events(rows, "elan", "\r\n\t", files=False):
        times = "\t".join(seconds(ticks)[:-3] for ticks in (onset, offset, offset - onset))
        lines.append(f"events\t{times}\t{label}\n")
    return "".join(lines).encode()


def _fields(line: str, delimiter: str) -> list[str]:
    """Return the fields of a line: in ELAN's own text, with tabs, quotes are characters like others."""
    return line.split("\t") if delimiter == "\t" else split(line, delimiter)


def _layout(first: str) -> tuple[str, _Layout | None]:
    """Return the delimiter and the layout of the first line, None where it is of no export."""
    for delimiter in DELIMITERS:
        fields = _fields(first, delimiter)
        layout = _header(fields) or _headerless(fields)
        if layout is not None:
            return delimiter, layout
    return "\t", None


def _header(fields: Sequence[str]) -> _Layout | None:
    """Return the layout that a header says, None where it is none."""
    times: dict[tuple[str, str], int] = {}
    names: list[tuple[int, str, str]] = []
    ignored: list[str] = []
    for i, field in enumerate(fields):
        match = _TIME.fullmatch(normal(field))
        unit = (match[2] or "") if match else ""
        if match and unit in _UNITS:
            kind = {"start": "begin", "stop": "end"}.get(match[1], match[1])
            times.setdefault((kind, _UNITS[unit]), i)
        elif match and unit.startswith(_FRAMES):
            ignored.append(field.strip())  # frames of video
        else:
            names.append((i, normal(field), field.strip()))
    unit = next((u for u in _EXPECTED if ("begin", u) in times and ("end", u) in times), None)
    if unit is None:
        return None
    value, tier, file = (
        next((i for i, key, _ in names if key in known), None) for known in (_VALUES, _TIERS, _FILES)
    )
    rest = [(i, name) for i, key, name in names if i not in {value, tier, file} and key not in _PAST and name]
    tiers: tuple[int, ...] = ()
    if value is not None or tier is not None:
        ignored += [name for _, name in rest]
    elif rest:
        tiers = tuple(i for i, _ in rest)
    else:
        return None
    ignored += [name for _, key, name in names if key in _PAST]
    begin, end = ((times[kind, unit], unit) for kind in ("begin", "end"))
    return _Layout(True, len(fields), begin, end, value, tier, file, tiers, tuple(ignored))


def _headerless(fields: Sequence[str]) -> _Layout | None:
    """Return the layout of annotations without header: tier, participant, times, value."""
    clocks = [i for i, field in enumerate(fields) if _CLOCK.fullmatch(field.strip())]
    if len(clocks) < 2 or len(fields) < 4 or clocks[0] not in {1, 2} or not fields[0].strip():
        return None
    # Each time is given in as many spellings; the duration, if any, is the third.
    value = clocks[0] + (clocks[1] - clocks[0]) * min(len(clocks), 3)
    if value >= len(fields):
        return None
    return _Layout(False, len(fields), (clocks[0], "h"), (clocks[1], "h"), value, 0, None)


def _enter(events: Events, line: int, fields: list[str], layout: _Layout) -> None:
    # Fields that are empty at the end of a line may be left out.
    fields = fields + [""] * (layout.width - len(fields))
    if len(fields) != layout.width:
        events.wrong(line, f"has {len(fields)} fields; expected {layout.width}")
        return
    begin, end = (_seconds(fields[at].strip(), unit) for at, unit in (layout.begin, layout.end))
    for (at, unit), time in ((layout.begin, begin), (layout.end, end)):
        if not time >= 0:
            events.wrong(line, f"{quoted(fields[at])} is not a time; expected {_EXPECTED[unit]}", at + 1)
            return
    file = UNNAMED if layout.file is None else fields[layout.file].strip()
    if layout.file is not None and not file:
        events.wrong(line, "the name of the file is empty; expected a name", layout.file + 1)
        return
    if layout.tiers:
        labels = [fields[i].strip() for i in layout.tiers if fields[i].strip()]
        if not labels:
            events.wrong(line, "no tier has an annotation here; expected one")
    else:
        named = (fields[i].strip() for i in (layout.value, layout.tier) if i is not None)
        labels = [next(filter(None, named), "")]
    for label in labels:
        events.add(line, file, label, (begin, end))


def _seconds(text: str, unit: str) -> float:
    """Return a time in seconds; NaN where the text is none of that unit."""
    clock = _CLOCK.fullmatch(text)
    if unit in {"h", ""} and clock is not None:
        minutes = int(clock[1][:12]) * 60 + int(clock[2])
        return round(minutes * 60 + float(clock[3]), 6)
    if unit == "h":
        return math.nan
    return number(text) / 1000 if unit == "ms" else number(text)
