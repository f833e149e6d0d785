"""Lines of a table of text: how many and how long they may be, their quotes, and their fields one by one.

Lines end where an editor ends them (LF, CRLF or CR) and are counted from 1. A field in quotes may hold the
delimiter, but no line break: a quote that is left open would swallow rows.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sedeval_soft.errors import InputError, Problem
from sedeval_soft.tables.columns import Layout, is_number
from sedeval_soft.tables.event_table import Origin
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.source import Bytes, Source

DELIMITERS = {"\t": "tab", ",": "comma", ";": "semicolon"}

BLANK = " \r\n" + "".join(DELIMITERS)
"""Of what a line consists that holds nothing."""

_BESIDE_CLASSES = 100
"""Columns that a table may have beside those of classes."""

_BESIDE_ROWS = 100
"""Lines that a table may have beside those of rows before they are counted one by one."""

MOST_COLUMNS = LIMITS.classes + _BESIDE_CLASSES

_PIECE = 1 << 20

_ESTIMATED, _CELL = 1 << 25, 16
"""Bytes of a table from which on it is estimated how much memory its rows take, and of a cell at the most:
as it is parsed, and as a number of ours."""

_LONG = 1 << 26
"""Bytes around quotes that are not looked at at once."""

_LARGE = 1 << 23
_PER_BYTE = 20
"""Bytes of memory that a byte of text takes at the most, as lines, fields, and numbers one by one."""

_QUOTED = re.compile(r'"[^"]*(?:""[^"]*)*"(?!")')
"""A field in quotes, two of which stand for one within."""

csv.field_size_limit(1 << 30)


@dataclass(frozen=True, slots=True)
class Sniffed:
    """The delimiter and layout of a table, and how many lines stand before its rows.

    sound: whether the lines that were looked at are text; where not, it must be read line by line.
    """

    delimiter: str
    layout: Layout
    skip: int
    sound: bool = True

    def describe(self) -> str:
        """Return the form in words: `long table with header, tab`."""
        shape = "wide" if self.layout.wide else "long"
        header = "with" if self.layout.has_header else "without"
        return f"{shape} table {header} header, {DELIMITERS[self.delimiter]}{self.layout.said()}"

    def origin(self, source: Source) -> Origin:
        """Return where the rows of a table come from."""
        return Origin(source.name, source.sha256, self.describe(), self.layout.ignored)


def pieces(data: Bytes, end: int | None = None) -> Iterator[bytes]:
    """Yield a text up to a place, some bytes at a time: it may be mapped."""
    end = len(data) if end is None else end
    for at in range(0, end, _PIECE):
        yield data[at : min(at + _PIECE, end)]


def is_blank(data: Bytes) -> bool:
    """Return whether there is nothing in a table but blanks, delimiters and ends of lines."""
    blank = BLANK.encode()
    return not any(piece.strip(blank) for piece in pieces(data))


def check_lines(source: Source, limits: Limits = LIMITS) -> None:
    """Refuse a table with a line that is too long, or a first one of too many fields; raises InputError.

    Only where lines may end is looked for, from behind, once in as many bytes as a line may have.
    """
    data, most = source.data, limits.line_length
    end = data.find(b"\n", 0, most + 1)
    first = data[: end if end >= 0 else most]
    columns = 1 + max(first.count(delimiter.encode()) for delimiter in DELIMITERS)
    if columns > limits.classes + _BESIDE_CLASSES and first.find(b"\r", 0, len(first) - 1) < 0:
        # The rest of a line that is cut off here may have more.
        needed = columns if end >= 0 else None
        why = f"has {columns} columns" if needed else f"has more than {columns} columns"
        raise limits.refusal(source.name, "classes", why, needed, line=1)
    begin = 0
    while len(data) - begin > most:
        # To look for what few tables have is to look at all of it.
        end = data.rfind(b"\n", begin, begin + most + 1)
        end = data.rfind(b"\r", begin, begin + most + 1) if end < 0 else end
        if end < 0:
            line = 1 + sum(piece.count(b"\n") for piece in pieces(data, begin))
            raise limits.refusal(
                source.name, "line_length", f"has a line of more than {most} bytes", line=line
            )
        begin = end + 1


def check_rows(source: Source, n_columns: int, limits: Limits = LIMITS) -> None:
    """Refuse a table of more rows than there may be, or than memory can hold; raises InputError, RoomError.

    n_columns: 0 where rows are not kept in memory. Lines are counted only where the size of the table allows
    for so many, of two bytes at the least.
    """
    data = source.data
    if len(data) > _ESTIMATED and n_columns:
        from sedeval_soft.memory import check_room

        # Of the lines at the begin, in the middle and at the end.
        samples = [data[at : at + _PIECE] for at in (0, len(data) // 2, len(data) - _PIECE)]
        lines = sum(sample.count(b"\n") or sample.count(b"\r") for sample in samples)
        rows = len(data) * max(lines, 1) / (len(samples) * _PIECE)
        check_room(
            rows * max(n_columns, 3) * _CELL,
            f"{source.name}: to read about {rows:.2g} rows of {n_columns} columns",
            "Expected less data, or batches of files one after another (an Evaluator, or soft-sed-eval "
            "merge)",
        )
    if len(data) // 2 > limits.rows:
        # A header is no row, and there may be a few blank lines.
        lines = sum(piece.count(b"\n") for piece in pieces(data))
        limits.check(source.name, "rows", lines - _BESIDE_ROWS, "lines or more")


def quotes_are_plain(data: Bytes, delimiter: str) -> bool:
    """Return whether every quote opens or closes a whole field, and none is open at the end of a line.

    False also where a quote is a character of a name (`5" nail`): then a closer look is needed.
    """
    edge = np.zeros(256, dtype=bool)
    edge[[*b'"\n\r', ord(delimiter)]] = True
    end = 0
    while (quote := data.find(b'"', end)) >= 0:
        # From the start of a line to the end of one: no quote is open at either.
        begin = max(data.rfind(b"\n", end, quote), end)
        end = data.find(b"\n", quote + _PIECE)
        end = len(data) if end < 0 else end
        if end - begin > _LONG:
            return False  # Few tables have such lines.
        text = np.frombuffer(data[begin:end], dtype=np.uint8)
        quotes = np.flatnonzero(text == ord('"'))
        if len(quotes) % 2:
            return False
        opening, closing = quotes[::2], quotes[1::2]
        breaks = np.flatnonzero((text == ord("\n")) | (text == ord("\r")))
        if not np.array_equal(np.searchsorted(breaks, opening), np.searchsorted(breaks, closing)):
            return False
        # A quote beside a quote is one of the two that stand for one within quotes.
        before, after = opening[opening > 0] - 1, closing[closing < len(text) - 1] + 1
        if not (edge[text[before]].all() and edge[text[after]].all()):
            return False
    return True


def decoded(data: bytes) -> str | bytes:
    """Return bytes as text, as they are where they are not UTF-8 or hold a NUL."""
    if b"\0" in data:
        return data
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data


def split(line: str, delimiter: str) -> list[str]:
    """Split one line into fields, quotes minded."""
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return line.split(delimiter)


def misdivided(text: str, delimiter: str, layout: Layout) -> str:
    """Return the delimiter by which a text would be a row of a table of another one; empty where none does.

    Read by the table's own delimiter it could be the name of a file.
    """
    for other in DELIMITERS:
        fields = split(text, other)
        if other != delimiter and len(fields) == len(layout.names):
            times = (fields[layout.roles.index(role)] for role in ("onset", "offset"))
            if all(map(is_number, times)):
                return other
    return ""


def misquoted(line: str, delimiter: str) -> tuple[str, int] | None:
    """Return what is wrong with the quotes of a line, and in which field (from 1); None where nothing is.

    line: without its end. Quotes within a field that does not begin with one are characters like others.
    """
    at, column = 0, 1
    while line.find('"', at) >= 0:
        if line[at] == '"':
            match = _QUOTED.match(line, at)
            if match is None:
                quote = repr(line[at : at + 40])
                return f"a quote is opened and not closed on this line: {quote}; expected its end", column
            # Not `partition`: to copy the rest of a long line at each of its fields would take forever.
            end = line.find(delimiter, match.end())
            after = line[match.end() : end if end >= 0 else len(line)]
            if after.strip():
                return f"{after[:40]!r} follows a closing quote; expected the end of the field", column
            at = match.end()
        at = line.find(delimiter, at) + 1
        if not at:
            return None
        column += 1
    return None


def decode(source: Source) -> str:
    """Return the whole text of a table; raises InputError where it is not text, or not UTF-8."""
    if len(source.data) > _LARGE:
        from sedeval_soft.memory import check_room

        check_room(
            _PER_BYTE * len(source.data),
            f"{source.name}: to look at it line by line",
            "Expected a smaller table, or one without what a plain reading stops at",
        )
    text = decoded(source.data[:])
    if isinstance(text, bytes):
        raise InputError(
            next(not_text(source.name, n, line) for n, line in numbered(source) if isinstance(line, bytes))
        )
    return text


def not_text(name: str, line: int, piece: bytes, delimiter: str = "") -> Problem:
    """Return the problem of a line that is not text; its column where the delimiter is known."""
    nul = piece.find(b"\0")
    try:
        start = len(piece)
        piece.decode("utf-8")
    except UnicodeDecodeError as error:
        start = error.start
    at = min(start, nul) if nul >= 0 else start
    column = piece.count(delimiter.encode(), 0, at) + 1 if delimiter else None
    if len(piece) > 3 and any(piece[::2]) != any(piece[1::2]):
        message = "looks like UTF-16 without a byte order mark; expected the table as UTF-8"
        return Problem(name, message, line, code="utf-16")
    if at == nul:
        message = "holds a NUL byte: this is not text; expected a table"
        return Problem(name, message, line, column, "nul-byte")
    byte = f"byte 0x{piece[at : at + 1].hex()} at position {at + 1} of the line"
    return Problem(name, f"{byte} is not UTF-8; expected the table as UTF-8", line, column, "not-utf-8")


def numbered(source: Source) -> Iterator[tuple[int, str | bytes]]:
    """Yield the number of each line and its text without its end; its bytes where it is no text."""
    for number, piece in enumerate(source.data[:].splitlines(), 1):
        yield number, decoded(piece)


def records(
    source: Source, delimiter: str, skip: int = 0, most: int = MOST_COLUMNS
) -> Iterator[tuple[int, list[str] | Problem]]:
    """Yield the number of each line that holds anything, and its fields, or what is wrong with it.

    skip: how many lines are read past first. most: fields of a line from which on it is not even taken apart.
    A line of delimiters holds nothing.
    """
    name = source.name
    for number, content in numbered(source):
        if number <= skip:
            continue
        if isinstance(content, bytes):
            yield number, not_text(name, number, content, delimiter)
        elif not content.strip():
            continue
        elif len(content) > most and content.count(delimiter) > most:
            message = f"has more than {most} fields; expected fewer"
            yield number, Problem(name, message, number, code="field-count")
        elif '"' in content and (wrong := misquoted(content, delimiter)):
            yield number, Problem(name, wrong[0], number, wrong[1], "misquoted")
        else:
            fields = next(csv.reader([content], delimiter=delimiter))
            if any(field.strip() for field in fields):
                yield number, fields
