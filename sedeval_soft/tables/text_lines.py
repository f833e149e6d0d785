"""Lines of a table of text: how many and how long they may be, their quotes, and their fields one by one.

Lines end where an editor ends them (LF, CRLF or CR) and are counted from 1. A field in quotes may hold the
delimiter, but no line break: a quote that is left open would swallow rows.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from sedeval_soft.errors import InputError, Problem
from sedeval_soft.tables.compressed import Bytes
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.source import Source

DELIMITERS = {"\t": "tab", ",": "comma", ";": "semicolon"}
BLANK = " \r\n" + "".join(DELIMITERS)
"""Of what a line consists that holds nothing."""

_PIECE = 1 << 20
_COUNTED = 1 << 25
"""Bytes of a table from which on it is estimated how much memory its rows will take."""

_CELL = 16
"""Bytes that a cell takes at the most: as it is parsed, and as a number of ours."""

_BESIDE_ROWS = 100
"""Lines that a table may have beside those of rows before they are counted one by one."""

_BESIDE_CLASSES = 100
"""Columns that a table may have beside those of classes."""

MOST_COLUMNS = LIMITS.classes + _BESIDE_CLASSES


def check_lines(source: Source, limits: Limits = LIMITS) -> None:
    """Refuse a table with a line that is too long, or a first one of too many fields; raises InputError.

    Only where lines may end is looked for, from behind, once in as many bytes as a line may have.
    """
    data, most = source.data, limits.line_length
    _check_columns(source, limits)
    begin = 0
    while len(data) - begin > most:
        # To look for what few tables have is to look at all of it.
        end = data.rfind(b"\n", begin, begin + most + 1)
        end = data.rfind(b"\r", begin, begin + most + 1) if end < 0 else end
        if end < 0:
            line = 1 + sum(data[at : min(at + _PIECE, begin)].count(b"\n") for at in range(0, begin, _PIECE))
            raise limits.refusal(
                source.name, "line_length", f"has a line of more than {most} bytes", line=line
            )
        begin = end + 1


def check_rows(source: Source, n_columns: int, limits: Limits = LIMITS) -> None:
    """Refuse a table of more rows than there may be, or than memory can hold; raises InputError, RoomError.

    Lines are counted only where the size of the table allows for so many, of two bytes at the least.
    """
    if len(source.data) > _COUNTED:
        _check_memory(source, n_columns)
    check_row_count(source, limits)


def check_row_count(source: Source, limits: Limits = LIMITS) -> None:
    """Refuse a table of more rows than there may be; raises InputError."""
    data = source.data
    if len(data) // 2 > limits.rows:
        lines = sum(data[at : at + _PIECE].count(b"\n") for at in range(0, len(data), _PIECE))
        # A header is no row, and there may be a few blank lines.
        limits.check(source.name, "rows", lines - _BESIDE_ROWS, "lines or more")


def _check_memory(source: Source, n_columns: int) -> None:
    from sedeval_soft.memory import check_room

    data = source.data
    # Of the lines at the begin, in the middle and at the end.
    samples = [data[at : at + _PIECE] for at in (0, len(data) // 2, len(data) - _PIECE)]
    lines = sum(sample.count(b"\n") or sample.count(b"\r") for sample in samples)
    rows = len(data) * max(lines, 1) / (len(samples) * _PIECE)
    check_room(
        rows * max(n_columns, 3) * _CELL,
        f"{source.name}: to read about {rows:.2g} rows of {n_columns} columns",
        "Expected less data, or batches of files one after another (an Evaluator, or soft-sed-eval merge)",
    )


def is_blank(data: Bytes) -> bool:
    """Return whether there is nothing in a table but blanks, delimiters and ends of lines."""
    blank = BLANK.encode()
    return not any(data[at : at + _PIECE].strip(blank) for at in range(0, len(data), _PIECE))


def _check_columns(source: Source, limits: Limits) -> None:
    data = source.data
    end = data.find(b"\n", 0, limits.line_length + 1)
    first = data[: end if end >= 0 else limits.line_length]
    if len(first) <= limits.classes:
        return
    columns = 1 + max(first.count(delimiter.encode()) for delimiter in DELIMITERS)
    if columns > limits.classes + _BESIDE_CLASSES and first.find(b"\r", 0, len(first) - 1) < 0:
        # The rest of a line that is cut off here may have more.
        known = columns if end >= 0 else None
        found = f"has {'' if known else 'more than '}{columns} columns"
        raise limits.refusal(source.name, "classes", found, known, line=1)


_QUOTE, _LF, _CR = b'"\n\r'
_LONG = 1 << 26
"""Bytes around quotes that are not looked at at once."""


def quotes_are_plain(data: Bytes, delimiter: str) -> bool:
    """Return whether every quote opens or closes a whole field, and none is open at the end of a line.

    False also where a quote is a character of a name (`5" nail`): then a closer look is needed.
    """
    text = np.frombuffer(data, dtype=np.uint8)
    begin = 0
    while begin < len(text):
        end = begin + _PIECE
        piece = text[begin:end]
        if not (piece == _QUOTE).any():
            begin = end
            continue
        # From the start of a line to the end of one: no quote is open at either.
        start = max(data.rfind(b"\n", 0, begin), 0) if begin else 0
        stop = data.find(b"\n", end) if end < len(text) else len(text)
        stop = len(text) if stop < 0 else stop
        if stop - start > _LONG:
            # Few tables have such lines; the careful pass takes them one by one.
            return False
        if not _are_plain(text[start:stop], delimiter):
            return False
        begin = stop
    return True


def _are_plain(text: npt.NDArray[np.uint8], delimiter: str) -> bool:
    """Answer for whole lines: their quotes, from the first on, open and close in turn."""
    quotes = np.flatnonzero(text == _QUOTE)
    if len(quotes) % 2:
        return False
    opening, closing = quotes[::2], quotes[1::2]
    breaks = np.flatnonzero((text == _LF) | (text == _CR))
    if not np.array_equal(np.searchsorted(breaks, opening), np.searchsorted(breaks, closing)):
        return False
    # A quote beside a quote is one of the two that stand for one within quotes.
    edge = np.zeros(256, dtype=bool)
    edge[[ord(delimiter), _LF, _CR, _QUOTE]] = True
    before, after = opening[opening > 0] - 1, closing[closing < len(text) - 1] + 1
    return bool(edge[text[before]].all() and edge[text[after]].all())


def misquoted(line: str, delimiter: str) -> tuple[str, int] | None:
    """Return what is wrong with the quotes of a line, and in which field (from 1); None where nothing is.

    line: without its end. Quotes within a field that does not begin with one are characters like others.
    """
    at, column = 0, 1
    while line.find('"', at) >= 0:
        if line[at] == '"':
            end = _closing(line, at + 1)
            if end < 0:
                found = repr(line[at : at + 40])
                return f"a quote is opened and not closed on this line: {found}; expected its end", column
            # Not `partition`: to copy the rest of a long line at each of its fields would take forever.
            field_end = line.find(delimiter, end + 1)
            after = line[end + 1 : field_end if field_end >= 0 else len(line)]
            if after.strip():
                return f"{after[:40]!r} follows a closing quote; expected the end of the field", column
            at = end + 1
        at = line.find(delimiter, at) + 1
        if not at:
            return None
        column += 1
    return None


def _closing(line: str, at: int) -> int:
    """Return where the quote that was opened before a position is closed, -1 where it is not."""
    while True:
        end = line.find('"', at)
        if end < 0 or not line.startswith('""', end):
            return end
        at = end + 2


csv.field_size_limit(1 << 30)

_LARGE = 1 << 23
_PER_BYTE = 20
"""Bytes of memory that a byte of text takes at the most, as lines, fields, and numbers one by one."""


def decode(source: Source) -> str:
    """Return the whole text of a table; raises InputError where it is not text, or not UTF-8."""
    if len(source.data) > _LARGE:
        from sedeval_soft.memory import check_room

        check_room(
            _PER_BYTE * len(source.data),
            f"{source.name}: to look at it line by line",
            "Expected a smaller table, or one without what a plain reading stops at",
        )
    data = source.data[:]
    text = decoded(data)
    if isinstance(text, str):
        return text
    for number, piece in enumerate(data.splitlines(), 1):
        if isinstance(decoded(piece), bytes):
            raise InputError(not_text(source.name, number, piece))
    raise InputError(Problem(source.name, "is not UTF-8; expected the table as UTF-8", code="not-utf-8"))


def decoded(data: bytes) -> str | bytes:
    """Return bytes as text, as they are where they are not UTF-8 or hold a NUL."""
    if b"\0" in data:
        return data
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data


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
    found = f"byte 0x{piece[at : at + 1].hex()} at position {at + 1} of the line is not UTF-8"
    return Problem(name, f"{found}; expected the table as UTF-8", line, column, "not-utf-8")


def numbered(source: Source) -> Iterator[tuple[int, str | bytes]]:
    """Yield the number of each line and its text without its end; its bytes where it is no text."""
    data = source.data[:]
    text = decoded(data)
    if isinstance(text, str):
        for number, line in enumerate(io.StringIO(text, newline=""), 1):
            yield number, line.rstrip("\r\n")
        return
    for number, piece in enumerate(data.splitlines(), 1):
        yield number, decoded(piece)


def records(
    source: Source, delimiter: str, skip: int = 0, most: int = MOST_COLUMNS
) -> Iterator[tuple[int, list[str] | Problem]]:
    """Yield the number of each line that holds anything, and its fields, or what is wrong with it.

    skip: how many lines are read past first. most: fields of a line from which on it is not even taken apart.
    A line of delimiters holds nothing.
    """
    for number, content in numbered(source):
        if number <= skip:
            continue
        if isinstance(content, bytes):
            yield number, not_text(source.name, number, content, delimiter)
            continue
        if not content.strip():
            continue
        if len(content) > most and content.count(delimiter) > most:
            message = f"has more than {most} fields; expected fewer"
            yield number, Problem(source.name, message, number, code="field-count")
            continue
        wrong = misquoted(content, delimiter) if '"' in content else None
        if wrong is not None:
            message, column = wrong
            yield number, Problem(source.name, message, number, column, "misquoted")
            continue
        fields = next(csv.reader([content], delimiter=delimiter))
        if any(field.strip() for field in fields):
            yield number, fields
