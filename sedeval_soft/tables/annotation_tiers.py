"""Annotations on tiers: Praat's TextGrid, and the documents of ELAN.

- TextGrid: a text file of Praat, long or short, of which both have the same numbers and texts in the same
  order; words between them are comments. Intervals and points are events, where they have a text.
- ELAN's documents (.eaf) are XML. An annotation has two time slots, in milliseconds, or refers to another
  one, whose time it has. Its value is the label; where that is empty, its tier is, as in ELAN's export. The
  media file names the recording. XML is read by expat without document type: no entity can be declared.

All tiers are of one table, which is said; `--columns event_label=TIER` takes one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple
from urllib.parse import unquote
from xml.parsers import expat

from sedeval_soft.errors import InputError, Problem, counted, quoted
from sedeval_soft.tables.annotation_rows import (
    HEAD,
    Events,
    check_document,
    one_line_of,
    origin_of,
    points_noted,
)
from sedeval_soft.tables.columns import to_number
from sedeval_soft.tables.event_table import UNNAMED, EventTable
from sedeval_soft.tables.filenames import AUDIO_EXTENSIONS, listing, stem_of, without_folders
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.source import Source, extension_of
from sedeval_soft.tables.text import decode

# TextGrid

_TOKEN = re.compile(
    r'"(?P<text>(?:[^"]|"")*+)"|(?P<open>")|<(?P<flag>[^<>\s"]*)>|!.*|'
    r"(?<![^\s=])(?P<number>[+-]?(?:\d++(?:\.\d*+)?+|\.\d++)(?:[eE][+-]?\d++)?+)(?!\S)|[^\s\"=]++"
)
"""What Praat reads in a text file: texts in quotes, free-standing numbers and flags; all else is comment."""

_BINARY = b"ooBinaryFile"


class _Token(NamedTuple):
    """Something that Praat reads. kind: `text`, `number` or `flag`."""

    kind: str
    text: str
    line: int


def reads_textgrid(source: Source) -> bool:
    """Return whether a file says that it is an object of Praat."""
    head = source.data[:200]
    return head.startswith(_BINARY) or re.match(rb'\s*(File type\s*=\s*)?"ooTextFile', head) is not None


def read_textgrid(source: Source, limits: Limits) -> EventTable | None:
    """Read the intervals and points that have a text."""
    if source.data[: len(_BINARY)] == _BINARY:
        message = "is a binary file of Praat; expected a TextGrid, saved as a text file"
        raise InputError(Problem(source.name, message, 1))
    check_document(source)
    tokens, events, points = _tokens(source), Events(source, limits), 0
    _take(source, tokens, "text", "the type of the file")
    name = _take(source, tokens, "text", "the class of an object")
    if name.text != "TextGrid":
        message = f"is an object of Praat of the class {quoted(name.text)}; expected a TextGrid"
        raise InputError(Problem(source.name, message, name.line))
    _take(source, tokens, "number", "the start of all tiers")
    _take(source, tokens, "number", "the end of all tiers")
    some = _take(source, tokens, "flag", "<exists>").text == "exists"
    for _ in range(_count(source, tokens) if some else 0):
        kind = _take(source, tokens, "text", "the class of a tier")
        tier = one_line_of(_take(source, tokens, "text", "the name of a tier").text)
        if kind.text not in {"IntervalTier", "TextTier"}:
            message = f"{quoted(kind.text)} is not the class of a tier; expected IntervalTier or TextTier"
            raise InputError(Problem(source.name, message, kind.line))
        _take(source, tokens, "number", "the start of a tier")
        _take(source, tokens, "number", "the end of a tier")
        is_point = kind.text == "TextTier"
        for _ in range(_count(source, tokens)):
            begin = end = _take(source, tokens, "number", "the time of an interval or a point")
            if not is_point:
                end = _take(source, tokens, "number", "the end of an interval")
            label = one_line_of(_take(source, tokens, "text", "the text of an interval or a point").text)
            if label:
                events.add(end.line, ["", begin.text, end.text, label, ""], tier)
                points += is_point
    more = next(tokens, None)
    if more is not None:
        message = f"{quoted(more.text)} stands after the last tier; expected as many tiers as the file says"
        raise InputError(Problem(source.name, message, more.line))
    past, assumed = events.choose("tier")
    return events.rows(origin_of(source, "TextGrid", points_noted(points), past, assumed))


def _take(source: Source, tokens: Iterator[_Token], kind: str, what: str) -> _Token:
    """Return the next token; raises InputError where it is of another kind, or there is none."""
    token = next(tokens, None)
    if token is None:
        raise InputError(Problem(source.name, f"ends where {what} was expected; expected the whole TextGrid"))
    if token.kind != kind:
        message = f"{quoted(token.text)} stands where {what} was expected"
        raise InputError(Problem(source.name, message, token.line))
    return token


def _tokens(source: Source) -> Iterator[_Token]:
    """Yield what Praat reads; raises InputError for a quote that is left open."""
    text, line, begin = decode(source), 1, 0
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if kind is None:
            continue
        line += text.count("\n", begin, match.start())
        begin = match.start()
        if kind == "open":
            raise InputError(Problem(source.name, "a quote is opened and not closed; expected its end", line))
        yield _Token(kind, match[kind].replace('""', '"') if kind == "text" else match[kind], line)


def _count(source: Source, tokens: Iterator[_Token]) -> int:
    """Return how many tiers, intervals or points follow."""
    what = "the number of tiers, intervals or points"
    token = _take(source, tokens, "number", what)
    if not token.text.isdecimal() or len(token.text) > 12:
        message = f"{quoted(token.text)} stands where {what} was expected"
        raise InputError(Problem(source.name, message, token.line))
    return int(token.text)


# ELAN's documents

_ROOT = "ANNOTATION_DOCUMENT"
_UNITS = "milliseconds"
_NEEDED = {
    "MEDIA_DESCRIPTOR": ("MEDIA_URL",),
    "TIME_SLOT": ("TIME_SLOT_ID",),
    "TIER": ("TIER_ID",),
    "ALIGNABLE_ANNOTATION": ("ANNOTATION_ID", "TIME_SLOT_REF1", "TIME_SLOT_REF2"),
    "REF_ANNOTATION": ("ANNOTATION_ID", "ANNOTATION_REF"),
}
"""Attributes of elements that are read, which must be there."""

_DEEPEST = 32
"""How deep elements may be nested; those of ELAN are four deep."""

_PIECE = 1 << 20


@dataclass(slots=True)
class _Annotation:
    """An annotation of ELAN's: of two time slots, or of the parent that it refers to."""

    tier: str
    line: int
    slots: tuple[str, ...] = ()
    parent: str = ""
    text: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Document:
    """What is read of a document of ELAN's, element by element; raises InputError for what it does not have.

    slots: in milliseconds, as they are written; None where a slot has no time. media: when each file begins.
    """

    source: Source
    parser: expat.XMLParserType = field(default_factory=partial(expat.ParserCreate, "UTF-8"))
    slots: dict[str, str | None] = field(default_factory=dict)
    media: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, _Annotation] = field(default_factory=dict)
    tier: str = ""
    depth: int = 0

    def parse(self) -> None:
        """Read the whole document; raises InputError also for what is no sound XML, or may do harm."""
        parser, data = self.parser, self.source.data
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = self.start, self.end
        parser.StartDoctypeDeclHandler = self.doctype
        try:
            for begin in range(0, len(data) or 1, _PIECE):
                parser.Parse(data[begin : begin + _PIECE], begin + _PIECE >= len(data))
        except expat.ExpatError as error:
            decode(self.source)  # says where it is not UTF-8
            message = f"is not well-formed XML: {expat.ErrorString(error.code)}; expected a document of ELAN"
            raise InputError(Problem(self.source.name, message, error.lineno)) from error

    def start(self, element: str, attributes: dict[str, str]) -> None:
        """Take in the attributes of an element."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.wrong(f"elements are nested more than {_DEEPEST} deep; expected a document of ELAN")
        if self.depth == 1 and element != _ROOT:
            raise self.wrong(f"begins with {quoted(element)}; expected {_ROOT}")
        if element == "ANNOTATION_VALUE" and self.annotations:
            self.parser.CharacterDataHandler = next(reversed(self.annotations.values())).text.append
        needed = _NEEDED.get(element, ())
        missing = [name for name in needed if name not in attributes]
        if missing:
            raise self.wrong(f"{element} has no {missing[0]}; expected a document as ELAN writes it")
        values = [attributes[name] for name in needed]
        if element == "HEADER" and attributes.get("TIME_UNITS", _UNITS) != _UNITS:
            raise self.wrong(f"TIME_UNITS are {quoted(attributes['TIME_UNITS'])}; expected {_UNITS}")
        if element == "MEDIA_DESCRIPTOR":
            self.media[without_folders(unquote(values[0]))] = attributes.get("TIME_ORIGIN", "0")
        elif element == "TIME_SLOT":
            self.slots[values[0]] = attributes.get("TIME_VALUE")
        elif element == "TIER":
            self.tier = one_line_of(values[0])
        elif needed:
            self.annotate(*values)

    def annotate(self, name: str, *times: str) -> None:
        """Take in an annotation; times: its two slots, or its parent."""
        if name in self.annotations:
            raise self.wrong(f"two annotations are called {quoted(name)}; expected a name of each")
        slots, parent = (times, "") if len(times) == 2 else ((), times[0])
        self.annotations[name] = _Annotation(self.tier, self.parser.CurrentLineNumber, slots, parent)

    def end(self, element: str) -> None:
        """Leave an element."""
        self.depth -= 1
        if element == "ANNOTATION_VALUE":
            self.parser.CharacterDataHandler = None

    def doctype(self, *_: object) -> None:
        """Refuse a document type: ELAN writes none, and entities that are declared in it may be bombs."""
        raise self.wrong("declares a document type, as ELAN does not; expected its document without DOCTYPE")

    def wrong(self, message: str) -> InputError:
        """Return the error of what stands here."""
        return InputError(Problem(self.source.name, message, self.parser.CurrentLineNumber))


def reads_eaf(source: Source) -> bool:
    """Return whether the root of an XML document is ELAN's."""
    head = source.data[:HEAD]
    return head.lstrip()[:1] == b"<" and re.search(rb"<%b[\s/>]" % _ROOT.encode(), head) is not None


def read_eaf(source: Source, limits: Limits) -> EventTable | None:
    """Read the annotations of all tiers."""
    check_document(source)
    document = _Document(source)
    document.parse()
    spans = _spans(source, document)
    media = {name: at for name, at in document.media.items() if extension_of(name) in AUDIO_EXTENSIONS}
    file = next(iter(media)) if len({*map(stem_of, media)}) == 1 else UNNAMED
    events, untitled = Events(source, limits), 0
    for name, each in document.annotations.items():
        text = one_line_of("".join(each.text))
        untitled += not text
        events.add(each.line, [file, *spans[name], text or each.tier, ""], each.tier)
    past, assumed = events.choose("tier")
    notes = [f"{counted(untitled, 'annotation')} without text took the name of the tier"] * (untitled > 0)
    notes += [f"names no recording, since it has {listing([*media], 'media file')}"] * (
        bool(media) and not file
    )
    if file and to_number(media[file]) != 0:
        assumed.append(
            f"times are those of ELAN, though {quoted(file)} begins at {quoted(media[file])} ms of it"
        )
    siblings = Counter((each.tier, each.parent) for each in document.annotations.values() if each.parent)
    shared = sum(n for n in siblings.values() if n > 1)
    if shared:
        assumed.append(
            f"{counted(shared, 'annotation')} that divide the time of another one each took all of it; "
            "ELAN's tab-delimited export, which is read as well, divides it"
        )
    origin = origin_of(source, "ELAN document", notes, past, assumed)
    return events.rows(origin, [file] * (file != UNNAMED))


def _spans(source: Source, document: _Document) -> dict[str, tuple[str, str]]:
    """Return onset and offset of each annotation in seconds, by name; raises InputError for one without."""
    spans: dict[str, tuple[str, str]] = {}
    for name, each in document.annotations.items():
        names = [name]
        while names[-1] not in spans:
            last = document.annotations.get(names[-1])
            if last is None or len(names) > len(document.annotations):
                message = f"annotation {quoted(name)} refers to {quoted(each.parent)}, which leads to no time"
                raise InputError(
                    Problem(source.name, f"{message}; expected an annotation with one", each.line)
                )
            if last.slots:
                begin, end = (_seconds(source, document, last, slot) for slot in last.slots)
                spans[names[-1]] = begin, end
            else:
                names.append(last.parent)
        spans |= dict.fromkeys(names, spans[names[-1]])
    return spans


def _seconds(source: Source, document: _Document, annotation: _Annotation, slot: str) -> str:
    """Return the time of a slot in seconds."""
    time = document.slots.get(slot)
    if time is None:
        message = (
            f"the time slot {quoted(slot)} of an annotation has no time; expected a TIME_VALUE for each "
            "(ELAN's tab-delimited export, which is read as well, has the times of all annotations)"
        )
        raise InputError(Problem(source.name, message, annotation.line))
    number = to_number(time)
    if not number >= 0:
        message = f"the time slot {quoted(slot)} is at {quoted(time)}; expected milliseconds, 0 or more"
        raise InputError(Problem(source.name, message, annotation.line))
    return repr(number / 1000)
