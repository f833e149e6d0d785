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
from sedeval_soft.tables.annotations import Events, number, seconds
from sedeval_soft.tables.columns import ALIASES, is_of_raven, normal, of_raven
from sedeval_soft.tables.event_table import UNNAMED, EventTable
from sedeval_soft.tables.fit import as_long, check_text
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.source import Source
from sedeval_soft.tables.text import DELIMITERS, split
from sedeval_soft.tables.text_lines import decode
from sedeval_soft.tables.ticks import to_ticks

_TIME = re.compile(r"(begin|start|end|stop|duration)(?:_time)?(?:_\(?(.+?)\)?)?")
_UNITS = {
    "": "",
    "ss.msec": "s", "ss.ms": "s", "ss.mmm": "s", "sec": "s", "s": "s", "seconds": "s",
    "hh:mm:ss.ms": "h", "hh:mm:ss.msec": "h", "hh:mm:ss.mmm": "h", "hh:mm:ss": "h",
    "msec": "ms", "ms": "ms", "milliseconds": "ms",
}  # fmt: skip
_CLOCK = re.compile(r"(\d+):([0-5]\d):([0-5]\d(?:\.\d+)?)", re.ASCII)
_VALUES = ("annotation", "annotation_value", "value", "annotations", "text", "label")
_TIERS = ("tier", "tier_name", "tiername", "tier_id")
_FILES = (*ALIASES["filename"], "media_file")
_PAST = ("participant", "annotator", "annotation_id", "cve_id", "parent_tier", "linguistic_type", "language")
_FRAMES = ("hh", "pal", "ntsc", "smpte")
_MEDIA = ("#", '"#')
_HEAD = 1 << 16
_TEXT = "tab-delimited text as ELAN exports it"


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where times and names stand.

    header: whether a header says so. begin, end: with what times are: `s`, `h`, `ms`, or nothing known.
    """

    header: bool
    width: int
    begin: tuple[int, str]
    end: tuple[int, str]
    value: int | None
    tier: int | None
    file: int | None
    tiers: tuple[tuple[int, str], ...] = ()
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
    """Read an export of ELAN's."""
    found = Events(source, limits)
    layout: _Layout | None = None
    delimiter = "\t"
    for line, content in enumerate(decode(source).split("\n"), 1):
        text = content.rstrip("\r")
        if not text.strip() or (layout is None and text.startswith(_MEDIA)):
            continue
        if layout is None:
            if any(is_of_raven(split(text, each)) for each in DELIMITERS):
                error = of_raven()
                raise InputError(Problem(source.name, str(error), line, code=error.code))
            delimiter, layout = _layout(text)
            if layout is None:
                message = f"{quoted(text)} is neither a header with times nor an annotation; expected {_TEXT}"
                raise InputError(Problem(source.name, message, line))
            if layout.header:
                continue
        _enter(found, line, _fields(text, delimiter), layout)
    return None if layout is None else found.rows("ELAN export", ignored=layout.ignored)


def write(rows: EventTable) -> bytes:
    """Return an annotation for each row, all of one tier, times in seconds with milliseconds."""
    rows = as_long(rows)
    check_text(rows.origin.name, rows.classes, "elan", "\r\n\t")
    lines = ["Tier\tBegin Time - ss.msec\tEnd Time - ss.msec\tDuration - ss.msec\tAnnotation\n"]
    onset, offset = to_ticks(rows.onset).tolist(), to_ticks(rows.offset).tolist()
    for label, begin, end in zip(rows.row_label.tolist(), onset, offset, strict=True):
        times = "\t".join(seconds(ticks)[:-3] for ticks in (begin, end, end - begin))
        lines.append(f"events\t{times}\t{rows.classes[label]}\n")
    return "".join(lines).encode()


def _layout(first: str) -> tuple[str, _Layout | None]:
    """Return the delimiter and the layout of the first line, None where it is of no export."""
    for delimiter in DELIMITERS:
        fields = _fields(first, delimiter)
        layout = _header(fields) or _headerless(fields)
        if layout is not None:
            return delimiter, layout
    return "\t", None


def _fields(line: str, delimiter: str) -> list[str]:
    """Return the fields of a line: in ELAN's own text, with tabs, quotes are characters like others."""
    return line.split("\t") if delimiter == "\t" else split(line, delimiter)


def _header(fields: Sequence[str]) -> _Layout | None:
    """Return the layout that a header says, None where it is none."""
    times: dict[str, dict[str, int]] = {"begin": {}, "end": {}, "duration": {}}
    names: list[tuple[int, str]] = []
    ignored: list[str] = []
    for i, field in enumerate(fields):
        match = _TIME.fullmatch(normal(field))
        if match is None:
            names.append((i, field.strip()))
            continue
        said = match[2] or ""
        if said not in _UNITS and not said.startswith(_FRAMES):
            names.append((i, field.strip()))
            continue
        unit = _UNITS.get(said)
        kind = {"start": "begin", "stop": "end"}.get(match[1], match[1])
        if unit is None:
            ignored.append(field.strip())  # frames of video
        else:
            times[kind].setdefault(unit, i)
    units = [unit for unit in ("s", "h", "ms", "") if unit in times["begin"] and unit in times["end"]]
    if not units:
        return None
    roles = [(normal(name), i, name) for i, name in names]
    value, tier, file = (
        next((i for name, i, _ in roles if name in known), None) for known in (_VALUES, _TIERS, _FILES)
    )
    tiers: tuple[tuple[int, str], ...] = ()
    rest = [(i, name) for key, i, name in roles if i not in {value, tier, file} and key not in _PAST and name]
    if value is None and tier is None:
        tiers = tuple(rest)
        if not tiers:
            return None
    else:
        ignored += [name for _, name in rest]
    begin, end = ((times[kind][units[0]], units[0]) for kind in ("begin", "end"))
    ignored += [name for key, _, name in roles if key in _PAST]
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


def _enter(found: Events, line: int, fields: list[str], layout: _Layout) -> None:
    # Fields that are empty at the end of a line may be left out.
    fields = fields + [""] * (layout.width - len(fields))
    if len(fields) != layout.width:
        found.wrong(line, f"has {len(fields)} fields; expected {layout.width}")
        return
    times: list[float] = []
    for at, unit in (layout.begin, layout.end):
        times.append(_seconds(fields[at].strip(), unit))
        if not times[-1] >= 0:
            found.wrong(line, f"{quoted(fields[at])} is not a time; expected {_EXPECTED[unit]}", at + 1)
            return
    file = UNNAMED if layout.file is None else fields[layout.file].strip()
    if layout.file is not None and not file:
        found.wrong(line, "the name of the file is empty; expected a name", layout.file + 1)
        return
    begin, end = times
    if layout.tiers:
        labels = [fields[i].strip() for i, _ in layout.tiers if fields[i].strip()]
        if not labels:
            found.wrong(line, "no tier has an annotation here; expected one")
    else:
        value = "" if layout.value is None else fields[layout.value].strip()
        labels = [value or ("" if layout.tier is None else fields[layout.tier].strip())]
    for label in labels:
        found.add(line, file, label, (begin, end))


_EXPECTED = {
    "s": "seconds, such as 1.250",
    "h": "hours, minutes and seconds, such as 00:00:01.250",
    "ms": "milliseconds, such as 1250",
    "": "seconds, or hours, minutes and seconds",
}


def _seconds(text: str, unit: str) -> float:
    """Return a time in seconds; NaN where the text is none of that unit."""
    clock = _CLOCK.fullmatch(text)
    if unit in {"h", ""} and clock is not None:
        minutes = int(clock[1][:12]) * 60 + int(clock[2])
        return round(minutes * 60 + float(clock[3]), 6)
    if unit == "h":
        return math.nan
    found = number(text)
    return found / 1000 if unit == "ms" else found
