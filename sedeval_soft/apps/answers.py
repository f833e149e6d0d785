"""Answers of audio-language models to "when is this heard?", and the expected answers: JSON lines.

An object a line is an item: a query about a recording. The answer is text as a model wrote it, or JSON. The
grammar is closed: other answers are unreadable, and nothing is guessed. An unreadable answer of a system
counts as one without any time, and is counted; in a reference it is an error.

    time      12.5, 12.5 s, 01:12.5 (minutes, seconds below 60), 1:02:12.5
    span      time - time (or a longer dash, ~, ->, to, until), from time to time, between time and time,
              [time, time], (time, time), start: time, end: time
    text      spans, and words without any digit; in words a span has a colon, a unit, brackets or such a word
              as `from`

              Only the text after the last </think> counts, and in it the text within <answer>; a text of more
              than 1,048,576 characters is not read

    value     text; [time, time]; a list of values; an object with start and end (onset and offset, begin and
              end), or with a field of `_INNER`; text that holds one such list or object

A span that ends before it begins is none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from sedeval_soft.errors import Problem, counted, quoted
from sedeval_soft.tables.annotation_document import HEAD, Document, check_document
from sedeval_soft.tables.annotation_json import NO_JSON, objects
from sedeval_soft.tables.columns import Layout, looks_like_header, normal
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.lines import SOLID
from sedeval_soft.tables.source import Source
from sedeval_soft.tables.ticks import clock_seconds

OF_SYSTEM = ("response", "final_prediction", "prediction", "pred", "output", "answer")
OF_REFERENCE = ("labels", "ground_truth", "reference", "gt", "target", "answer")
_OF_BOTH = ("spans", "span", "windows", "relevant_windows", "timestamps")
"""The fields of answers by side, and the fields of either side."""

_FIELDS = frozenset((*OF_SYSTEM, *OF_REFERENCE, *_OF_BOTH))

_IDS = ("id", "qid", "question_id", "item_id", "sample_index")
_AUDIO = ("audio", "audio_path", "audio_id", "audios", "filename", "file", "vid", "wav")
_QUERY = ("query", "question", "caption", "prompt", "messages")
"""Fields that name an item: one alone, or the recording and the query together."""

LABEL = "query"
"""The class of items that name none in `event_label`."""

_COLUMNS = ("filename", "onset", "offset", "event_label")
_LAYOUT = Layout(_COLUMNS, _COLUMNS, has_header=False)
_DEEPEST, _LONGEST = 6, 1 << 20
"""Levels of a value, and characters of a text, beyond which an answer is unreadable."""

_LONGEST_LINE = 1 << 24
"""Bytes of the first line from which the content of a file is detected."""

_SHOWN, _CHARACTERS = 3, 60
"""Unreadable answers that a warning shows, and characters of each."""


# An answer in text. Every repetition is bounded, so that no text takes more than its length.

_CLOCK = r"(?:\d{1,4}:)?\d{1,4}:[0-5]\d(?:\.\d{1,9})?"
_SECONDS = r"\d{1,9}(?:\.\d{1,9})?(?:\s?(?:seconds?|secs?|s|秒)(?![A-Za-z]))?"
_OTHER_UNITS = r"(?:ms|msec|milli|mins?\b|minute|m\b|h\b|hours?|hrs?\b|frame|sample|%|\uff05|分|帧|毫秒|小时)"
_TIME = rf"(?<![A-Za-z0-9_.:])(?:{_CLOCK}|{_SECONDS})(?![A-Za-z0-9_:]|\.\d|\s?{_OTHER_UNITS})"
_BEGIN = r"(?:start|onset|begin)(?:s|ning)?(?:[\s_]?(?:time|timestamp|sec))?"
_END = r"(?:end|offset|stop)(?:s|ing)?(?:[\s_]?(?:time|timestamp|sec))?"
_SAID = r"[\"'*]{0,3}\s{0,4}(?:[:=]|is|at)?[\s\"'*]{0,4}"
_SPAN = re.compile(
    rf"(?P<pair>[\[(]\s{{0,4}}(?P<a>{_TIME})\s{{0,4}},\s{{0,4}}(?P<b>{_TIME})\s{{0,4}}[\])])"
    rf"|(?P<named>{_BEGIN}{_SAID}(?P<c>{_TIME})[\s,;.\"'*]{{0,6}}(?:and\s{{1,4}})?{_END}{_SAID}(?P<d>{_TIME}))"
    rf"|(?:(?P<word>from|between|从|在)[\s\"'*]{{0,4}})?(?<!-)(?P<e>{_TIME})[\s\"'*]{{0,6}}"
    rf"(?P<to>-|[\u2013\u2014\u2192~]|->|to\b|until\b|till\b|and\b|到|至)[\s\"'*]{{0,4}}(?P<f>{_TIME})",
    re.ASCII | re.IGNORECASE,
)
_ONE = re.compile(rf"\s{{0,4}}(?:{_TIME})\s{{0,4}}", re.ASCII | re.IGNORECASE)
_PLAIN = re.compile(r"[\d.]+", re.ASCII)  # a time that is a number alone
_DIGIT, _LETTER = re.compile(r"\d"), re.compile(r"[^\W\d_]")

_STARTS = ("start", "onset", "begin", "start_time", "onset_time", "start_sec")
_ENDS = ("end", "offset", "end_time", "offset_time", "end_sec")
_INNER = (
    "response", "final_prediction", "prediction", "pred", "output", "answer", "spans", "span", "windows",
    "relevant_windows", "timestamps", "segments", "intervals", "events", "result", "timestamp",
)  # fmt: skip

Spans = list[tuple[float, float]]


def _seconds(text: str) -> float:
    """Return the seconds of a time of the grammar."""
    return clock_seconds(re.sub(r"[^\d.:]", "", text))


def _in_text(text: str) -> Spans | None:
    """Return the spans of a text; None if it does not fit the grammar."""
    spans, rest, at, marked = [], [], 0, True
    for match in _SPAN.finditer(text):
        first, last = (match["a"] or match["c"] or match["e"]), (match["b"] or match["d"] or match["f"])
        if (match["to"] or "").lower() == "and" and (match["word"] or "").lower() != "between":
            return None
        plain = not (match["pair"] or match["named"] or match["word"])
        marked = marked and not (plain and _PLAIN.fullmatch(first) and _PLAIN.fullmatch(last))
        spans.append((_seconds(first), _seconds(last)))
        rest.append(text[at : match.start()])
        at = match.end()
    words = " ".join([*rest, text[at:]])
    if not spans or _DIGIT.search(words) or (not marked and _LETTER.search(words)):
        return None
    return spans


def _of_text(text: str, depth: int) -> Spans | None:
    """Return the spans in a model's output: in its one JSON list or object, if it has one."""
    if len(text) > _LONGEST:
        return None
    before, _, text = text.rpartition("</think>")
    if not before and "<think>" in text:
        return None
    if "<answer>" in text:
        text = text.rpartition("<answer>")[2].partition("</answer>")[0]
    text = text.replace("```json", "").replace("```", "")
    begin = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=-1)
    end = max(text.rfind("}"), text.rfind("]"))
    try:
        value = msgspec.json.decode(text[begin : end + 1] if 0 <= begin < end else "")
    except NO_JSON:
        return _in_text(text)
    return None if _DIGIT.search(text[:begin] + text[end + 1 :]) else _of_value(value, depth + 1)


def _time_of(value: Any) -> float | None:  # noqa: ANN401 - any value of JSON
    """Return a time in seconds: a number, or a text that is a time; None for anything else."""
    if isinstance(value, str):
        return _seconds(value) if _ONE.fullmatch(value) else None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < 1e12 else None


def _of_pair(ends: Sequence[Any]) -> Spans | None:
    onset, offset = map(_time_of, ends)
    return None if onset is None or offset is None else [(onset, offset)]


def _of_value(value: Any, depth: int = 0) -> Spans | None:  # noqa: ANN401 - any value of JSON
    """Return the spans of a value of the grammar, none for an empty list; None for anything else."""
    if depth > _DEEPEST:
        return None
    if isinstance(value, str):
        return _of_text(value, depth)
    if isinstance(value, Mapping):
        ends = [next((value[key] for key in keys if key in value), None) for keys in (_STARTS, _ENDS)]
        inner = next((value[key] for key in _INNER if key in value), None)
        return _of_value(inner, depth + 1) if ends == [None, None] else _of_pair(ends)
    if not isinstance(value, list):
        return None
    pair = _of_pair(value) if len(value) == 2 else None
    several = [_of_value(each, depth + 1) for each in value] if pair is None else [pair]
    return None if None in several else [span for spans in several for span in spans or ()]


def spans_of(value: Any, longest: float = math.inf) -> Spans | None:  # noqa: ANN401 - any value of JSON
    """Return the spans of an answer in seconds, none if the answer is that there are none.

    longest: seconds that no span may end after. None where the answer does not fit the grammar.
    """
    spans = _of_value(value)
    if spans is None or not all(0 <= onset <= offset <= longest for onset, offset in spans):
        return None
    return spans


# The file.


def _first(source: Source) -> dict[str, Any]:
    """Return the first object; empty where the first line is none."""
    line = source.data[:HEAD].lstrip().split(b"\n", 1)[0]
    if len(line) >= HEAD // 2 and any(b'"%s"' % name.encode() in line for name in _FIELDS):
        # A long answer, not a long document.
        line = source.data[:_LONGEST_LINE].lstrip().split(b"\n", 1)[0]
    try:
        first: dict[str, Any] = msgspec.json.decode(line, type=dict[str, Any])
    except NO_JSON:
        return {}
    return first


def reads_answers(source: Source, limits: Limits) -> bool:  # noqa: ARG001 - both sides have the same fields
    """Return whether the first line is an item: an object that has an answer, and no onset and offset."""
    first = _first(source)
    return not _FIELDS.isdisjoint(first) and not looks_like_header([*first])


def _name_of(item: Mapping[str, Any], line: int, named: Sequence[str]) -> str:
    """Return the name of an item: by the user's field, its id, its recording and query, or its line."""

    def told(keys: Sequence[str]) -> str:
        for key in keys:
            value = item.get(key)
            if key == "messages" and isinstance(value, list):
                asked = [each for each in value if isinstance(each, dict) and each.get("role") == "user"]
                value = asked[-1].get("content") if asked else None
            elif key == "audios" and isinstance(value, list):
                value = value[0] if value else None
            if isinstance(value, str | int | float) and not isinstance(value, bool) and str(value).strip():
                return " ".join(str(value).split())
        return ""

    if named:
        return told(named)
    recording, query = told(_AUDIO), told(_QUERY)
    return told(_IDS) or (f"{recording}: {query}" if recording and query else f"line {line}")


def read_answers(source: Source, limits: Limits) -> EventTable | None:
    """Read an item a line as a recording, and its spans as events; raises InputError.

    The field of the side (`limits.side`) is read: of a file with both, as scripts of inference write them,
    each side has its own. Unreadable answers are recordings without events, with a warning; in a reference,
    unreadable lines are errors.
    """
    check_document(source)
    if SOLID.search(source.data) is None:
        return None
    of_reference = limits.side == "reference"
    what = "what answers should be" if of_reference else "answers"
    keys, first = (*(OF_REFERENCE if of_reference else OF_SYSTEM), *_OF_BOTH), _first(source)
    key = next((each for each in keys if each in first), "")
    document = Document(source, limits, f"JSON lines of {what}, {key}", _LAYOUT)
    if not key:
        wrong = f"has none of the fields {', '.join(keys)}"
        raise document.error(f"{wrong}; expected one of them, with {what}", 1)
    lines: dict[str, int] = {}
    unreadable = []
    for line, item in objects(source):
        if isinstance(item, Problem):
            document.records.append((line, item, ""))
            continue
        name = _name_of(item, line, [name for role, name in limits.columns if role == "filename"])
        document.known |= {("filename", normal(field)) for field in item}
        if not name or lines.setdefault(name, line) != line:
            wrong = f"item {quoted(name)} stands in line {lines[name]}, too" if name else "names no item"
            mend = "expected each once; --columns filename=FIELD says which field tells items apart"
            document.wrong(line, f"{wrong}; {mend}")
        label, answer = item.get("event_label"), item.get(key)
        label = label.strip() if isinstance(label, str) and label.strip() else ""
        label = label or next(iter(document.label_of_all()), LABEL)
        spans = spans_of(answer, limits.duration)
        if spans is None and of_reference:
            wrong = f"{key} {quoted(_shown(answer))} says no time from and to"
            document.wrong(line, f"{wrong}; expected such as [00:12-00:22], 12.5 - 22 or [[12.5, 22]]")
        elif spans is None:
            unreadable.append((line, answer))
        for onset, offset in spans or ():
            document.add(line, [name, repr(onset), repr(offset), label])
    limits.check(source.name, "files", len(lines), "items")
    document.recordings = dict.fromkeys(lines)
    document.form += "" if of_reference else f", {counted(len(unreadable), 'unreadable answer')}"
    if unreadable:
        few = ", ".join(f"line {line} {quoted(_shown(answer))}" for line, answer in unreadable[:_SHOWN])
        few += f", and {len(unreadable) - _SHOWN} more" if len(unreadable) > _SHOWN else ""
        misses = "is unreadable and counts as a miss"
        misses = misses if len(unreadable) == 1 else "are unreadable and count as misses"
        document.assumed.append(f"{len(unreadable)} of {counted(len(lines), 'answer')} {misses}: {few}")
    return document.rows()


def _shown(value: Any) -> str:  # noqa: ANN401 - any value of JSON
    text = value if isinstance(value, str) else str(value)
    return text if len(text) <= _CHARACTERS else f"{text[:_CHARACTERS]}..."
