"""Lines of text and their fields: ends of lines, errors of encoding, quotes.

Lines end at the ends that an editor uses (LF, CRLF or CR) and are counted from 1. A field in quotes may have
the delimiter, but no line break: a quote that is left open would swallow rows.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterator
from itertools import islice

from sedeval_soft.errors import InputError, Problem
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.source import Bytes, Source

Record = tuple[int, list[str] | Problem]
"""The number of a line, and its fields, or its problem."""

DELIMITERS = {"\t": "tab", ",": "comma", ";": "semicolon"}

OTHER_FILES = {
    b"\x89HDF": "an HDF5 file",
    b"\x93NUMPY": "a file of NumPy",
    b"\x89PNG": "an image",
    b"%PDF": "a PDF document",
    **dict.fromkeys((b"RIFF", b"fLaC", b"OggS", b"ID3"), "a recording"),
}
"""Kinds of files that users give by mistake, by their first bytes."""

BLANK = " \r\n" + "".join(DELIMITERS)  # characters of a blank line
SOLID = re.compile(rb"[^ \r\n\t,;]")
BESIDE_CLASSES = 100  # columns that a table may have beside columns of classes
_LINE_END = re.compile(rb"\r\n?|\n")

csv.field_size_limit(1 << 30)


def line_ends(data: Bytes, end: int) -> int:
    """Return how many lines end, in LF, CR or both, in the first bytes of a text, which may be mapped."""
    return sum(1 for _ in _LINE_END.finditer(data, 0, end))


def behind(data: Bytes, n_lines: int) -> int:
    """Return the end of the first lines of a text, which may be mapped; 0 for none of them."""
    ends = islice(_LINE_END.finditer(data), max(0, n_lines - 1), None) if n_lines else ()
    return next((end.end() for end in ends), len(data) if n_lines else 0)


def check_lines(source: Source, limits: Limits = LIMITS) -> None:
    """Refuse a table with a line that is too long, or a first one of too many fields; raises InputError."""
    data, most = source.data, limits.line_length
    end = data.find(b"\n", 0, most + 1)
    first = data[: end if end >= 0 else most]
    columns = 1 + max(first.count(delimiter.encode()) for delimiter in DELIMITERS)
    if columns > limits.classes + BESIDE_CLASSES and b"\r" not in first[:-1]:
        # The rest of a line that is cut off here may have more.
        why, needed = ("has", columns) if end >= 0 else ("has more than", None)
        raise limits.refusal(source.name, "classes", f"{why} {columns} columns", needed, line=1)
    begin = 0
    while len(data) - begin > most:
        # Only possible ends of lines are looked for, from behind, once in as many bytes as a line may have.
        end = data.rfind(b"\n", begin, begin + most + 1)
        end = data.rfind(b"\r", begin, begin + most + 1) if end < 0 else end
        if end < 0:
            why, line = f"has a line of more than {most} bytes", 1 + line_ends(data, begin)
            raise limits.refusal(source.name, "line_length", why, line=line)
        begin = end + 1


def decoded(data: bytes) -> str | bytes:
    """Return bytes as text, unchanged if they are not UTF-8 or contain a NUL."""
    try:
        return data if b"\0" in data else data.decode("utf-8")
    except UnicodeDecodeError:
        return data


def decode(source: Source) -> str:
    """Return the whole text of a table; raises InputError if it is not text, or not UTF-8."""
    text = decoded(source.data[:])
    if isinstance(text, str):
        return text
    lines = ((number, line) for number, line in numbered(source) if isinstance(line, bytes))
    raise InputError(not_text(source.name, *next(lines)))


def not_text(name: str, line: int, piece: bytes, delimiter: str = "") -> Problem:
    """Return the problem of a line that is not text; with its column if the delimiter is known."""
    for begin, kind in OTHER_FILES.items():
        if line == 1 and piece.startswith(begin):
            return Problem(name, f"is {kind}; expected a table of text", code="not-a-table")
    at, nul = len(piece), piece.find(b"\0")
    try:
        piece.decode("utf-8")
    except UnicodeDecodeError as error:
        at = error.start
    at = min(at, nul) if nul >= 0 else at
    column = piece.count(delimiter.encode(), 0, at) + 1 if delimiter else None
    if len(piece) > 3 and any(piece[::2]) != any(piece[1::2]):
        message = "looks like UTF-16 without a byte order mark; expected the table as UTF-8"
        return Problem(name, message, line, code="utf-16")
    if at == nul:
        message = "holds a NUL byte: this is not text; expected a table"
        return Problem(name, message, line, column, "nul-byte")
    byte = piece[at : at + 1]
    message = f"byte 0x{byte.hex()} at position {at + 1} of the line is not UTF-8"
    # Only what Windows has as a letter was probably written there.
    letter = byte.decode("cp1252", "ignore")
    expected = "expected the table as UTF-8"
    if letter.isalpha():
        expected += f": `iconv -f WINDOWS-1252 -t UTF-8` converts it if that byte is {letter!r}"
    return Problem(name, f"{message}; {expected}", line, column, "not-utf-8")


def numbered(source: Source) -> Iterator[tuple[int, str | bytes]]:
    """Yield the number of each line and its text without its end; its bytes if it is not text."""
    text = decoded(source.data[:])
    if isinstance(text, bytes):
        yield from enumerate(map(decoded, text.splitlines()), 1)
    elif text:
        yield from enumerate(text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n"), 1)


def records(
    source: Source,
    delimiter: str,
    skip: int = 0,
    most: int = LIMITS.classes + BESIDE_CLASSES,
    past: Collection[int] = (),
) -> Iterator[Record]:
    """Yield the number of each line that is not blank, and its fields, or its problem.

    skip: the number of first lines to ignore. most: fields of a line from which on it is not even taken
    apart.

    past: the positions of columns that are ignored: bytes there that are not text become escapes. A line of
    delimiters is blank.
    """
    for number, line in islice(numbered(source), skip, None):
        fields = record(source.name, number, line, delimiter, most, past)
        if fields:
            yield number, fields


def record(
    name: str, number: int, line: str | bytes, delimiter: str, most: int, past: Collection[int]
) -> list[str] | Problem:
    """Return the fields of a line, or its problem; no fields for a blank line."""
    content = _as_text_but(past, line, delimiter) if past and isinstance(line, bytes) else line
    if isinstance(content, bytes):
        return not_text(name, number, content, delimiter)
    if len(content) > most and content.count(delimiter) > most:
        return Problem(name, f"has more than {most} fields; expected fewer", number, code="field-count")
    if wrong := misquoted(content, delimiter):
        return Problem(name, wrong[0], number, wrong[1], "misquoted")
    fields = split(content, delimiter)
    return fields if "".join(fields).strip() else []


def _as_text_but(past: Collection[int], line: bytes, delimiter: str) -> str | bytes:
    """Return a line as text, unchanged if a field other than ignored columns is not text."""
    fields = split(line.decode("utf-8", "surrogateescape"), delimiter)
    wrong = {i for i, field in enumerate(fields) if re.search("[\0\udc80-\udcff]", field)}
    return line.decode("utf-8", "backslashreplace") if wrong <= {*past} else line


def split(line: str, delimiter: str) -> list[str]:
    """Split one line into fields, quotes minded."""
    if '"' not in line:
        return line.split(delimiter) if line else []
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:  # a line of a format in which line ends and quotes are characters like others
        return line.split(delimiter)


_FIELD = r'(?:(?P<quoted>"[^"]*(?:""[^"]*){{0,100000}}(?P<closed>"?))|)(?P<rest>[^{0}]*)(?:{0}|$)'
"""A field, perhaps in quotes, and what follows these, up to a delimiter or the end; two quotes are one."""


def misquoted(line: str, delimiter: str) -> tuple[str, int] | None:
    """Return the problem of a line's quotes, and its field (from 1); None for sound quotes.

    Quotes within a field that does not begin with one are characters like others.
    """
    for column, field in enumerate(re.finditer(_FIELD.format(delimiter), line) if '"' in line else (), 1):
        if field["quoted"] and not field["closed"]:
            text = field["quoted"][:40]
            return f"a quote is opened and not closed on this line: {text!r}; expected its end", column
        if field["quoted"] and field["rest"].strip():
            rest = field["rest"][:40]
            return f"{rest!r} follows a closing quote; expected the end of the field", column
    return None
