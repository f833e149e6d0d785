"""Annotations on tiers: Praat's TextGrid, and the documents of ELAN.

- TextGrid: a text file of Praat, long or short, of which both have the same numbers and texts in the same
  order; words between them are comments. Intervals and points with a text are events.
- ELAN's documents (.eaf) are XML. An annotation has two time slots, in milliseconds, or refers to another
  one, whose time it has. Its value is the label; an annotation without value has its tier as label, as in
  ELAN's export. The media file names the recording. XML is read without document type: no entity can be
  declared.

All tiers are of one table, which a note reports; `--columns event_label=TIER` takes one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple
from urllib.parse import unquote
from xml.etree import ElementTree as ET
from xml.parsers import expat

from sedeval_soft.errors import counted, quoted
from sedeval_soft.tables.annotation_document import Document, check_document, one_line_of
from sedeval_soft.tables.columns import to_number
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.filenames import AUDIO_EXTENSIONS, listing, stem_of, without_folders
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.lines import decode
from sedeval_soft.tables.source import Source, extension_of

# TextGrid

_TOKEN = re.compile(
    r'"(?P<text>[^"]*(?:""[^"]*){0,100000})"(?!")|(?P<open>")|<(?P<flag>[^<>\s"]*)>|!.*|'
    r"(?<![^\s=])(?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)(?!\S)|[^\s\"=]+"
)
"""Texts in quotes, free-standing numbers and flags, as Praat reads a text file; all else is comment."""

_BINARY = b"ooBinaryFile"


class _Token(NamedTuple):
    """Something that Praat reads. kind: `text`, `number` or `flag`."""

    kind: str
    text: str
    line: int


class _Tokens:
    """The tokens that Praat reads in a document, one by one; raises InputError for an unexpected one."""

    def __init__(self, document: Document) -> None:
        """Begin with the first."""
        self._document, self._tokens = document, self._all(document)

    def _all(self, document: Document) -> Iterator[_Token]:
        text, line, begin = decode(document.source), 1, 0
        for match in _TOKEN.finditer(text):
            kind = match.lastgroup
            if kind is None:
                continue
            line += text.count("\n", begin, match.start())
            begin = match.start()
            if kind == "open":
                raise document.error("a quote is opened and not closed; expected its end", line)
            yield _Token(kind, match[kind].replace('""', '"') if kind == "text" else match[kind], line)

    def take(self, kind: str, what: str, *choices: str) -> _Token:
        """Return the next token, which must be of a kind, and one of some texts, if there are any."""
        token = next(self._tokens, None)
        if token is None:
            raise self._document.error(f"ends where {what} was expected; expected the whole TextGrid")
        if token.kind != kind or (choices and token.text not in choices):
            expected = f"; expected {' or '.join(choices)}" if choices else ""
            message = f"{quoted(token.text)} stands where {what} was expected{expected}"
            raise self._document.error(message, token.line)
        return token

    def count(self) -> range:
        """Return as many numbers as tiers, intervals or points follow."""
        what = "the number of tiers, intervals or points"
        token = self.take("number", what)
        if not token.text.isdecimal() or len(token.text) > 12:
            raise self._document.error(f"{quoted(token.text)} stands where {what} was expected", token.line)
        return range(int(token.text))

    def end(self) -> None:
        """Refuse anything that follows."""
        more = next(self._tokens, None)
        if more is not None:
            message = (
                f"{quoted(more.text)} stands after the last tier; expected as many tiers as the file says"
            )
            raise self._document.error(message, more.line)


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
    some, n_tiers = tokens.take("flag", "<exists>").text == "exists", Counter[str]()
    for _ in tokens.count() if some else ():
        is_point = tokens.take("text", "the class of a tier", "IntervalTier", "TextTier").text == "TextTier"
        tier = one_line_of(tokens.take("text", "the name of a tier").text)
        n_before = len(document.records)
        tokens.take("number", "the start of a tier")
        tokens.take("number", "the end of a tier")
        for _ in tokens.count():
            begin = end = tokens.take("number", "the time of an interval or a point")
            if not is_point:
                end = tokens.take("number", "the end of an interval")
            label = one_line_of(tokens.take("text", "the text of an interval or a point").text)
            if label:
                document.add(end.line, ["", begin.text, end.text, label, ""], tier)
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
    """An annotation of ELAN's. times: in seconds, none if it refers to a parent, whose times it has."""

    tier: str
    text: str
    times: tuple[str, ...]
    parent: str


def read_eaf(source: Source, limits: Limits) -> EventTable | None:
    """Read the annotations of all tiers."""
    check_document(source, _BYTES)
    document = Document(source, limits, "ELAN document")
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
            times = tuple(_seconds(document, slot, slots.get(slot)) for slot in ends)
            annotations[name] = _Annotation(title, text, times, get(each, "ANNOTATION_REF") if refers else "")
    return annotations


def _times(document: Document, annotations: dict[str, _Annotation]) -> dict[str, tuple[str, ...]]:
    """Return onset and offset of all annotations in seconds; raises InputError for one that leads to none."""
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


def _seconds(document: Document, slot: str, time: str | None) -> str:
    """Return the time of a slot in seconds."""
    if time is None:
        raise document.error(
            f"the time slot {quoted(slot)} of an annotation has no time; expected a TIME_VALUE for each "
            "(ELAN's tab-delimited export, which is read as well, has the times of all annotations)"
        )
    number = to_number(time)
    if not number >= 0:
        message = f"the time slot {quoted(slot)} is at {quoted(time)}; expected milliseconds, 0 or more"
        raise document.error(message)
    return repr(number / 1000)
