"""The text of a table as numbered lines and their fields: what is read when every line must be looked at.

Lines end where an editor ends them (LF, CRLF or CR) and are counted from 1.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from sedeval_soft.errors import InputError, Problem
from sedeval_soft.formats.lines import MOST_COLUMNS
from sedeval_soft.formats.quotes import misquoted
from sedeval_soft.formats.source import Source

csv.field_size_limit(1 << 30)

_LARGE = 1 << 23
_PER_BYTE = 20
"""Bytes of memory that a byte of text takes at the most, as lines, fields, and numbers one by one."""


def decode(source: Source) -> str:
    """Return the whole text of a table; raises InputError where it is not text, or not UTF-8."""
    if len(source.data) > _LARGE:
        from sedeval_soft.core.room import check_room

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
