"""Files of annotations as their events are read: lines of text, tiers, lists whose rows are not events.

Readers take files apart into the fields of events; `Columns.wrong` finds the problems of these, as in all
tables. Writers take events from `events_of`.

- Audacity label tracks: lines of start, end and label, tabs between. A line that begins with a backslash has
  the frequencies of the label before it. Quotes are characters like others.
- RTTM: lines of `SPEAKER file channel onset duration <NA> <NA> name confidence <NA>`, blanks between.
- TextGrid: a text file of Praat, long or short, of which both have the same numbers and texts in the same
  order; words between them are comments. Intervals and points with a text are events.
- ELAN's documents (.eaf) are XML. An annotation has two time slots, in milliseconds, or refers to another
  one, whose time it has. Its value is the label; an annotation without value has its tier as label, as in
  ELAN's export. The media file names the recording. XML is read without document type: no entity can be
  declared. All tiers are of one table, which a note reports; `--columns event_label=TIER` takes one.
- Few-shot: file, start, end and a column for each class, whose cells are POS, NEG or UNK. A POS is an event;
  an UNK marks unknown time: it is a row of the class UNK, which is declared to be such time.
- SELD: lines of frame, class, and the sound's place (source or track, azimuth, elevation, distance), no
  header. Frames are of 0.1 s, classes are called by their numbers, and only these two columns are read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import NamedTuple
from urllib.parse import unquote
from xml.etree import ElementTree as ET
from xml.parsers import expat

import numpy as np

from sedeval_soft.errors import InputError, Problem, be, counted, quoted
from sedeval_soft.memory import check_room
from sedeval_soft.tables.columns import (
    TIMES,
    WORD_LISTS,
    Layout,
    in_vain,
    looks_like_header,
    normal,
    option,
    role_of,
    to_number,
    without_effect,
)
from sedeval_soft.tables.event_table import UNKNOWN, EventTable, Origin
from sedeval_soft.tables.filenames import AUDIO_EXTENSIONS, listing, stem_of, without_folders
from sedeval_soft.tables.fit import check_labels, check_text, unfold
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.lines import DELIMITERS, SOLID, Record, check_lines, decode, records, split
from sedeval_soft.tables.rows import Findings, Texts, columns_of, exact_columns, rows_of_columns
from sedeval_soft.tables.source import Source, extension_of
from sedeval_soft.tables.text import sniff
from sedeval_soft.tables.ticks import TICKS_PER_SECOND, to_ticks

HEAD = 1 << 16
"""Bytes from which a reader recognises the format of a file."""

EVENT = Layout(
    ("recording", "onset", "offset", "label", "value"),
    ("filename", "onset", "offset", "event_label", "soft_value"),
    has_header=False,
)
"""The fields of an event of a document whose own fields have other names, or none."""


_LISTED = 50  # ignored elements in a note
_ESTIMATED, _FACTOR = 1 << 25, 8  # bytes from which on memory is estimated, as so many for each
_CHECKED, _SIZE = 1 << 14, 1000  # events after which limits and memory are checked, and bytes of one
_MEND = "Expected less data, or batches of files"


def check_document(source: Source, factor: int = _FACTOR) -> None:
    """Refuse a document that exceeds memory, at so many bytes for each of its bytes; raises RoomError."""
    size = len(source.data)
    if size > _ESTIMATED:
        check_room(factor * size, f"{source.name}: to read a document of {size} bytes", _MEND)


@dataclass(slots=True)
class Document:
    """The events of a file of annotations as they are read.

    source: the file. limits: the most that it may have. form: its format, in words. layout: of the fields of
    events; without a header, all events may lack a recording, or a value.

    records: the fields of each event, or its problem, with its line or its place in words, and the name of
    the tier that its label is from, if there are any.

    n_ignored: how often something was ignored, by its noun, `{s}` of the plural. notes, ignored, assumed: as
    in `Origin`. recordings: the recordings of the file, with or without events.
    """

    source: Source
    limits: Limits
    form: str
    layout: Layout = EVENT
    records: list[tuple[int | str, list[str] | Problem, str]] = field(default_factory=list)
    n_ignored: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    ignored: dict[str, None] = field(default_factory=dict)
    assumed: list[str] = field(default_factory=list)
    recordings: dict[str, None] = field(default_factory=dict)
    known: set[tuple[str, str]] = field(default_factory=set)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield the lines of a text that are not blank, with their numbers."""
        for line, text in enumerate(decode(self.source).split("\n"), 1):
            if text.strip():
                yield line, text.rstrip("\r")

    def add(self, place: int | str, fields: list[str], tier: str = "") -> None:
        """Add an event, times in seconds; raises InputError, or RoomError, before there are far too many."""
        self.records.append((place, fields, tier))
        number = len(self.records)
        if not number % _CHECKED:
            if number > self.limits.rows:
                raise self.limits.refusal(self.source.name, "rows", f"has more than {self.limits.rows} rows")
            check_room(_SIZE * number, f"{self.source.name}: to hold {number} events or more", _MEND)

    def wrong(self, line: int, message: str, column: int | None = None) -> None:
        """Enter the problem of a line; reading may go on."""
        self.records.append((line, Problem(self.source.name, message, line, column), ""))

    def error(self, message: str, line: int | None = None) -> InputError:
        """Return the error of something that reading ends at."""
        return InputError(Problem(self.source.name, message, line))

    def label_of_all(self) -> list[str]:
        """Return the class that the user gives events without one; an empty list if the user gives none."""
        self.known.add(("label", self.limits.label))
        return [*filter(None, [self.limits.label])]

    def note_points(self, n: int) -> None:
        """Note that some events are points in time."""
        what = "is a point" if n == 1 else "are points"
        self.notes += [f"{counted(n, 'event')} {what} in time, without length"] * (n > 0)

    def choose(self, noun: str) -> None:
        """Leave the events of the tiers that the user names, or of all tiers; all are of one table.

        `event_label=tier` makes the names of tiers labels. noun: the word for a tier.
        """
        names = [*dict.fromkeys(tier for _, _, tier in self.records)]
        given = {(role, normal(name)) for role, name in self.limits.columns}
        self.known |= {(role, normal(name)) for name in names for role in ("event_label", "")}
        self.known.add(("event_label", noun))
        named = [name for name in names if ("event_label", normal(name)) in given]
        wanted = named or [name for name in names if ("", normal(name)) not in given]
        self.ignored |= {f"{noun} {quoted(name)}": None for name in names if name not in wanted}
        self.records = [record for record in self.records if record[2] in wanted]
        at = self.layout.roles.index("event_label")
        labelled = [(fields, tier) for _, fields, tier in self.records if isinstance(fields, list)]
        if not named and ("event_label", noun) in given:
            for fields, tier in labelled:
                fields[at] = tier
        elif not named and len(wanted) > 1 and any(fields[at] != tier for fields, tier in labelled):
            one, all_names = (option(("event_label", name)) for name in (wanted[0], noun))
            self.assumed.append(
                f"labels are the texts of {listing(wanted, noun)}; {one} takes those of one, "
                f"{all_names} the names of {noun}s"
            )

    def rows(self) -> EventTable | None:
        """Return the rows of all events, None if the file is blank; raises InputError for problems."""
        source, limits = self.source, self.limits
        if not source.data[:].strip():
            return None
        limits.check(source.name, "rows", len(self.records), "rows")
        self.notes += [
            f"{n} {noun.format(s='s' * (n != 1), are=be(n))} {'was' if n == 1 else 'were'} ignored"
            for noun, n in self.n_ignored.items()
            if n
        ]
        layout = self._as_said(self._without_missing())
        places = {n: place for n, (place, _, _) in enumerate(self.records) if isinstance(place, str)}
        records: list[Record] = [
            (n if isinstance(place, str) else place, fields)
            for n, (place, fields, _) in enumerate(self.records)
        ]
        more = [f"{len(self.ignored) - _LISTED} more"] * (len(self.ignored) > _LISTED)
        texts = ([*self.ignored][:_LISTED] + more, self.notes, self.assumed)
        origin = Origin(source.name, source.sha256, self.form, *map(tuple, texts))  # type: ignore[arg-type]
        origin = replace(origin, lacking=without_effect(limits.columns, limits.label, self.known))
        try:
            found = Findings()
            columns = columns_of(source.name, layout, records, found)
            columns = replace(columns, declared=[*columns.declared, *self.recordings])
            return rows_of_columns(source.name, columns, found, origin, limits)
        except InputError as error:
            problems = [
                replace(p, message=f"{places[p.line]}{p.message}", line=None, column=None)
                if p.line in places
                else replace(p, column=None if self.layout is EVENT else p.column)
                for p in error.problems
            ]
            raise InputError(problems, error.more) from error

    def _as_said(self, layout: Layout) -> Layout:
        """Return the layout with the roles that the user gives fields, by their names or by names of roles.

        Times and fields without names stay as they are. Raises InputError if no field has labels then.
        """
        roles, given = [*layout.roles], set[str]()
        for role, name in self.limits.columns if self.layout is not EVENT else ():
            keys = [*map(normal, layout.names)]
            # Without a header, a field may have the name of its role.
            same = role_of(name) if not layout.has_header and normal(name) not in keys else None
            at = next((i for i, key in enumerate(keys) if normal(name) == key), None)
            at = layout.position(same) if same else at
            if at is None or {role, layout.roles[at]} & {*TIMES}:
                continue
            self.known.add((role, normal(name)))
            if role not in given:
                roles = [None if role and other == role else other for other in roles]
                roles[at] = role or None
                given |= {role} - {""}
        if "event_label" in roles:
            return replace(layout, roles=tuple(roles))
        if not self.limits.label:
            raise self.error("has no labels but those that --columns ignores; expected --label NAME, too")
        self.known.add(("label", self.limits.label))
        return replace(layout, roles=tuple(roles), label=self.limits.label)

    def _without_missing(self) -> Layout:
        """Return the layout without roles that no event has; values that only some events have are 1."""
        layout = self.layout
        cells = [fields for _, fields, _ in self.records if isinstance(fields, list)]
        for role in ("filename", "soft_value"):
            at = layout.position(role)
            if at is None:
                continue
            missing = [fields for fields in cells if len(fields) > at and not fields[at]]
            if len(missing) == len(cells) and not layout.has_header:
                layout = replace(layout, roles=(*layout.roles[:at], None, *layout.roles[at + 1 :]))
            elif missing and role == "soft_value":
                counts = "counts" if len(missing) == 1 else "count"
                self.notes.append(f"{counted(len(missing), 'event')} without a value {counts} as 1.0")
                for fields in missing:
                    fields[at] = "1"
        return layout


def one_line_of(text: str) -> str:
    """Return a label without blanks around it; its lines become one text, with a blank between."""
    return " ".join(filter(None, map(str.strip, re.split(r"[\r\n]+", text))))


def seconds(ticks: int) -> str:
    """Return ticks as seconds with six decimals, exactly."""
    return f"{ticks // TICKS_PER_SECOND}.{ticks % TICKS_PER_SECOND:06d}"


def events_of(
    rows: EventTable, form: str, forbidden: str = "\r\n", *, files: bool = True
) -> Iterator[tuple[str, str, int, int, float | None]]:
    """Return file, label, onset and offset in ticks, and value of the events of rows, as a format has them.

    forbidden: characters that names must not have. files: whether the names of recordings are written. Raises
    InputError for names that the format cannot express.
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
    (None, "filename", None, "onset", "duration", None, None, "event_label", "soft_value", None),
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


# TextGrid

_TOKEN = re.compile(
    r'"(?P<text>[^"]*(?:""[^"]*){0,100000})"(?!")|(?P<open>")|<(?P<flag>[^<>\s"]*)>|!.*|'
    r"(?<![^\s=])(?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)(?!\S)|[^\s\"=]+"
)
"""Texts in quotes, free-standing numbers and flags, as Praat reads a text file; all else is comment."""

_BINARY = b"ooBinaryFile"


class _Tokens:
    """The tokens that Praat reads in a document, one by one; raises InputError for an unexpected one.

    A token is its kind (`text`, `number` or `flag`), its text and its line.
    """

    def __init__(self, document: Document) -> None:
        """Begin with the first."""
        self._document, self._tokens = document, self._all(document)

    def _all(self, document: Document) -> Iterator[tuple[str, str, int]]:
        text, line, begin = decode(document.source), 1, 0
        for match in _TOKEN.finditer(text):
            kind = match.lastgroup
            if kind is None:
                continue
            line += text.count("\n", begin, match.start())
            begin = match.start()
            if kind == "open":
                raise document.error("a quote is opened and not closed; expected its end", line)
            yield kind, match[kind].replace('""', '"') if kind == "text" else match[kind], line

    def take(self, kind: str, what: str, *choices: str) -> tuple[str, int]:
        """Return text and line of the next token, of a kind, and one of some texts, if there are any."""
        token = next(self._tokens, None)
        if token is None:
            raise self._document.error(f"ends where {what} was expected; expected the whole TextGrid")
        found, text, line = token
        if found != kind or (choices and text not in choices):
            expected = f"; expected {' or '.join(choices)}" if choices else ""
            raise self._document.error(f"{quoted(text)} stands where {what} was expected{expected}", line)
        return text, line

    def count(self) -> range:
        """Return as many numbers as tiers, intervals or points follow."""
        what = "the number of tiers, intervals or points"
        text, line = self.take("number", what)
        if not text.isdecimal() or len(text) > 12:
            raise self._document.error(f"{quoted(text)} stands where {what} was expected", line)
        return range(int(text))

    def end(self) -> None:
        """Refuse anything that follows."""
        for _, text, line in self._tokens:
            expected = "expected as many tiers as the file says"
            raise self._document.error(f"{quoted(text)} stands after the last tier; {expected}", line)


def read_textgrid(source: Source, limits: Limits) -> EventTable | None:
    """Read the intervals and points that have a text."""
    document, points = Document(source, limits, "TextGrid"), 0
    if source.data[: len(_BINARY)] == _BINARY:
        raise document.error("is a binary file of Praat; expected a TextGrid, saved as a text file", 1)
    check_document(source)
    tokens = _Tokens(document)
    tokens.take("text", "the type of the file")
    tokens.take("text", "the class of an object", "TextGrid")
    tokens.take("number", "the start of all tiers")
    tokens.take("number", "the end of all tiers")
    some, n_tiers = tokens.take("flag", "<exists>")[0] == "exists", Counter[str]()
    for _ in tokens.count() if some else ():
        is_point = tokens.take("text", "the class of a tier", "IntervalTier", "TextTier")[0] == "TextTier"
        tier = one_line_of(tokens.take("text", "the name of a tier")[0])
        n_before = len(document.records)
        tokens.take("number", "the start of a tier")
        tokens.take("number", "the end of a tier")
        for _ in tokens.count():
            begin, line = tokens.take("number", "the time of an interval or a point")
            end, line = (begin, line) if is_point else tokens.take("number", "the end of an interval")
            label = one_line_of(tokens.take("text", "the text of an interval or a point")[0])
            if label:
                document.add(line, ["", begin, end, label, ""], tier)
                points += is_point
        n_tiers[tier] += len(document.records) > n_before
    tokens.end()
    document.note_points(points)
    document.choose("tier")
    document.assumed += [
        f"{n} tiers are named {quoted(name)}, and labels are the texts of all of them; give tiers names of "
        "their own, so that one can be taken"
        for name, n in n_tiers.items()
        if n > 1 and any(tier == name for _, _, tier in document.records)
    ]
    return document.rows()


# ELAN's documents

_ROOT = "ANNOTATION_DOCUMENT"
_UNITS = "milliseconds"
_BYTES = 40  # that a tree takes for each of the document, at the most


class _Builder(ET.TreeBuilder):
    """Builds a tree, and refuses a document type: ELAN writes none, and its declarations may be a bomb."""

    def doctype(self, *_: object) -> None:
        """Refuse it."""
        raise ValueError("declares a document type, as ELAN does not; expected its document without DOCTYPE")


class _Annotation(NamedTuple):
    """An annotation of ELAN's. times: in milliseconds, none if it refers to a parent, whose times it has."""

    tier: str
    text: str
    times: tuple[str, ...]
    parent: str


def read_eaf(source: Source, limits: Limits) -> EventTable | None:
    """Read the annotations of all tiers."""
    check_document(source, _BYTES)
    document = Document(source, limits, "ELAN document", replace(EVENT, units={1: "ms", 2: "ms"}))
    root = _parsed(document)
    for header in root.iter("HEADER"):
        if header.get("TIME_UNITS", _UNITS) != _UNITS:
            raise document.error(f"TIME_UNITS are {quoted(header.get('TIME_UNITS', ''))}; expected {_UNITS}")
    media = {
        without_folders(unquote(_attribute(document, each, "MEDIA_URL"))): each.get("TIME_ORIGIN", "0")
        for each in root.iter("MEDIA_DESCRIPTOR")
    }
    audio = [name for name in media if extension_of(name) in AUDIO_EXTENSIONS]
    file = audio[0] if len({*map(stem_of, audio)}) == 1 else ""
    document.recordings = {file: None} if file else {}
    annotations = _annotations(document, root)
    times = _times(document, annotations)
    for name, each in annotations.items():
        fields = [file, *times[name], each.text or each.tier, ""]
        document.add(f"annotation {quoted(name)}: ", fields, each.tier)
    untitled = sum(not each.text for each in annotations.values())
    if untitled:
        document.notes.append(f"{counted(untitled, 'annotation')} without text took the name of the tier")
    if audio and not file:
        document.notes.append(f"names no recording, since it has {listing(audio, 'media file')}")
    document.choose("tier")
    if file and to_number(media[file]) != 0:
        document.assumed.append(
            f"times are those of ELAN, though {quoted(file)} begins at {quoted(media[file])} ms of it"
        )
    siblings = Counter((each.tier, each.parent) for each in annotations.values() if each.parent)
    shared = sum(n for n in siblings.values() if n > 1)
    if shared:
        document.assumed.append(
            f"{counted(shared, 'annotation')} that divide the time of another one each took all of it; "
            "ELAN's tab-delimited export, which is read as well, divides it"
        )
    return document.rows()


def _parsed(document: Document) -> ET.Element:
    """Return the root of a document; raises InputError for damaged XML, or XML that may do harm."""
    try:
        root = ET.fromstring(document.source.data[:], ET.XMLParser(target=_Builder(), encoding="utf-8"))  # noqa: S314
    except ET.ParseError as error:
        decode(document.source)  # raises InputError with the place that is not UTF-8
        message = f"is not well-formed XML: {expat.ErrorString(error.code)}; expected a document of ELAN"
        raise document.error(message, error.position[0]) from error
    except ValueError as error:
        raise document.error(str(error)) from error
    if root.tag != _ROOT:
        raise document.error(f"begins with {quoted(root.tag)}; expected {_ROOT}")
    return root


def _attribute(document: Document, element: ET.Element, name: str) -> str:
    """Return a required attribute of an element."""
    value = element.get(name)
    if value is None:
        raise document.error(f"{element.tag} has no {name}; expected a document as ELAN writes it")
    return value


def _annotations(document: Document, root: ET.Element) -> dict[str, _Annotation]:
    """Return the annotations of all tiers, by name."""
    get = partial(_attribute, document)
    slots = {get(each, "TIME_SLOT_ID"): each.get("TIME_VALUE") for each in root.iter("TIME_SLOT")}
    annotations: dict[str, _Annotation] = {}
    for tier in root.iter("TIER"):
        title = one_line_of(get(tier, "TIER_ID"))
        for each in (each for each in tier.iter() if each.tag in {"ALIGNABLE_ANNOTATION", "REF_ANNOTATION"}):
            name, text = get(each, "ANNOTATION_ID"), one_line_of(each.findtext("ANNOTATION_VALUE", ""))
            if name in annotations:
                raise document.error(f"two annotations are called {quoted(name)}; expected a name of each")
            refers = each.tag == "REF_ANNOTATION"
            ends = [] if refers else [get(each, f"TIME_SLOT_REF{k}") for k in (1, 2)]
            times = tuple(slots.get(slot) or "" for slot in ends)
            if "" in times:
                raise document.error(
                    f"the time slot {quoted(ends[times.index('')])} of an annotation has no time; expected a "
                    "TIME_VALUE for each (ELAN's tab-delimited export, which is read as well, has all times)"
                )
            annotations[name] = _Annotation(title, text, times, get(each, "ANNOTATION_REF") if refers else "")
    return annotations


def _times(document: Document, annotations: dict[str, _Annotation]) -> dict[str, tuple[str, ...]]:
    """Return onset and offset of all annotations; raises InputError for one that leads to none."""
    times = {name: each.times for name, each in annotations.items() if each.times}
    for name, each in annotations.items():
        names = [name]
        while names[-1] not in times:
            parent = annotations[names[-1]].parent
            if parent not in annotations or len(names) > len(annotations):
                message = f"annotation {quoted(name)} refers to {quoted(each.parent)}, which leads to no time"
                raise document.error(f"{message}; expected an annotation with one")
            names.append(parent)
        times |= dict.fromkeys(names, times[names[-1]])
    return times


# Few-shot

_MARKS = WORD_LISTS["marks"]

_NO_EVENT = (
    "there is a class called UNK, so that cells of UNK are taken for no event: a detection there counts as a "
    "false alarm; call the class otherwise, and such times are left out"
)


def reads_few_shot(source: Source, limits: Limits) -> bool:
    """Return whether the first row of a table with onset and offset has a cell of POS, NEG or UNK."""
    pieces = (piece for piece in source.data[:HEAD].splitlines() if SOLID.search(piece))
    head = [piece.decode("utf-8", "replace") for piece in islice(pieces, 2)]
    return len(head) > 1 and any(
        looks_like_header(split(head[0], delimiter), limits.columns)
        and {field.strip() for field in split(head[1], delimiter)} & {*_MARKS}
        for delimiter in DELIMITERS
    )


def read_few_shot(source: Source, limits: Limits) -> EventTable | None:
    """Read an event for each POS cell, none for NEG, and a row of the class UNK for UNK.

    If a class of the table is called UNK itself, cells of UNK are ignored.
    """
    layout = sniff(source, limits)
    if layout is None:
        return None
    classes = [i for i, role in enumerate(layout.roles) if role == "class"]
    if not classes:
        wrong = "has no column of a class; expected columns whose cells are POS, NEG or UNK"
        raise InputError(Problem(source.name, wrong, layout.skip or None))
    check_document(source)
    found = Findings()
    table = exact_columns(source, layout, found)
    cells = {i: column.stripped() for i, column in table.cells.items() if isinstance(column, Texts)}
    file, unknown = layout.position("filename"), np.zeros(len(table), dtype=bool)
    full = [column.where(bool) for i, column in cells.items() if i != file]
    # A line of the name of a file alone declares it.
    looked_at = np.logical_or.reduce([*full, unknown if file is None else ~cells[file].where(bool)])
    for i in classes:
        for row in np.flatnonzero(looked_at & ~cells[i].where(lambda text: text in _MARKS)).tolist():
            name, cell = layout.names[i], table.cells[i]
            given = quoted(cell.names[cell.codes[row]] if isinstance(cell, Texts) else "")
            mend = f"expected one of these, or {option(('', name))} where that is no class"
            wrong = f"{name} {given} is not POS, NEG or UNK; {mend}"
            found.add(Problem(source.name, wrong, table.lines[row], i + 1))
        unknown |= cells[i].where(UNKNOWN.__eq__)
    n_unknown, declares_unknown = int(unknown.sum()), UNKNOWN not in layout.names
    marked = (cells[i].where("POS".__eq__) for i in classes)
    rows, kinds = np.nonzero(np.column_stack([unknown & declares_unknown, *marked]))
    events = table.of_rows(rows)
    names = (UNKNOWN, *(layout.names[i] for i in classes))
    label = Texts.of([names[kind] for kind in kinds.tolist()])
    roles = (*(None if role == "class" else role for role in layout.roles), "event_label")
    events = replace(
        events,
        layout=replace(layout, names=(*layout.names, "class"), roles=roles),
        cells={i: column for i, column in events.cells.items() if i not in classes} | {len(roles) - 1: label},
        declared=[*(() if file is None else filter(None, cells[file].names)), *table.declared],
    )
    told = f"{counted(n_unknown, 'row')} with UNK" if n_unknown else ""
    note = f"{told} {'was' if n_unknown == 1 else 'were'} ignored"
    if declares_unknown:
        note = f"{told}: there nothing is known, of any class" if len(classes) > 1 else ""
    named = replace(layout, label=limits.label if limits.label in layout.names else "")
    origin = Origin(
        source.name,
        source.sha256,
        f"few-shot table, {counted(len(classes), 'class')}{layout.choices}",
        layout.ignored,
        (note,) * bool(told and note),
        (*layout.assumed, *[_NO_EVENT] * (not declares_unknown and n_unknown > 0)),
        unknown=(UNKNOWN,) * declares_unknown,
        lacking=in_vain(named, limits.columns, limits.label),
    )
    return rows_of_columns(source.name, events, found, origin, limits)


# SELD

_SELD = ("frame", "class", "source", "azimuth", "elevation", "distance", "more")
_FEWEST = 4
_FRAMES_PER_SECOND = 10
_FRAME = Layout(
    ("frame", "end", "class", "value"), ("onset", "offset", "event_label", "soft_value"), has_header=False
)
_WHOLE = re.compile(r"\s*[0-9]{1,9}(\.0*)?\s*", re.ASCII)


def _names_frames(fields: Sequence[str]) -> bool:
    """Return whether a line is the header that some tables of frames have."""
    return [field.strip().lower() for field in fields[:2]] == [*_SELD[:2]] and len(fields) >= _FEWEST


def read_seld(source: Source, limits: Limits) -> EventTable | None:
    """Read the class of each frame, 1.0 while it is active; raises InputError for other lines."""
    document = Document(source, limits, "SELD frames of 0.1 s", _FRAME)
    check_lines(source, limits)
    names: tuple[str, ...] = _SELD
    most = 0
    for line, fields in records(source, ","):
        if isinstance(fields, Problem):
            document.wrong(line, fields.message, fields.column)
        elif not document.records and _names_frames(fields):
            names = tuple(field.strip() for field in fields)
        elif _FEWEST <= len(fields) <= len(_SELD) and all(map(_WHOLE.fullmatch, fields[:2])):
            most = max(most, len(fields))
            frame, label = (int(float(field)) for field in fields[:2])
            times = [repr(k / _FRAMES_PER_SECOND) for k in (frame, frame + 1)]
            document.add(line, [*times, str(label), "1"])
        else:
            expected = "expected frame, class, source, azimuth and elevation, the former two in whole numbers"
            document.wrong(line, f"{quoted(','.join(fields))} is not a frame; {expected}")
    # Tables of four columns do not number the sources.
    ignored = names[3:5] if most == _FEWEST and names == _SELD else names[2:most]
    document.ignored = dict.fromkeys(ignored)
    rows = document.rows()
    return rows and rows.known_as_joined(joined=True)
