"""The text of a table as numbered lines and their fields: what is read when every line must be looked at.

Lines end where an editor ends them (LF, CRLF or CR) and are counted from 1.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from sedeval_soft.core.errors import InputError, Problem
from sedeval_soft.formats.lines import MOST_COLUMNS
from sedeval_soft.formats.quotes import misquoted
from sedeval_soft.formats.sniff import not_utf8
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
    nul = data.find(b"\0")
    if nul >= 0:
        line = data.count(b"\n", 0, nul) + 1
        message = "holds a NUL byte: this is not text; expected a table"
        raise InputError(Problem(source.name, message, line=line))
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        piece = data.split(b"\n")[line - 1]
        start = error.start - (data.rfind(b"\n", 0, error.start) + 1)
        inner = UnicodeDecodeError("utf-8", piece, start, start + 1, error.reason)
        raise InputError(not_utf8(source.name, line, piece, inner)) from error


def records(
    name: str, text: str, delimiter: str, skip: int = 0, most: int = MOST_COLUMNS
) -> Iterator[tuple[int, list[str] | Problem]]:
    """Yield the number of each line that holds anything, and its fields, or what is wrong with their quotes.

    skip: how many lines are read past first. most: fields of a line from which on it is not even taken apart.
    A line of delimiters holds nothing.
    """
    for number, line in enumerate(io.StringIO(text, newline=""), 1):
        if number <= skip or not line.strip():
            continue
        content = line.rstrip("\r\n")
        if len(content) > most and content.count(delimiter) > most:
            yield number, Problem(name, f"has more than {most} fields; expected fewer", number)
            continue
        wrong = misquoted(content, delimiter) if '"' in content else None
        if wrong is not None:
            message, column = wrong
            yield number, Problem(name, message, number, column)
            continue
        fields = next(csv.reader([content], delimiter=delimiter))
        if any(field.strip() for field in fields):
            yield number, fields
