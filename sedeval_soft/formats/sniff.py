"""What a table looks like, from its first lines: delimiter, header, roles of columns."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass

from sedeval_soft.core.errors import InputError, Problem
from sedeval_soft.core.intake import LIMITS, Limits
from sedeval_soft.formats.columns import (
    Layout,
    LayoutError,
    check_first_row,
    explain_first_line,
    layout_of_header,
    layout_of_row,
    looks_like_header,
)
from sedeval_soft.formats.lines import BLANK, DELIMITERS, check_lines, is_blank
from sedeval_soft.formats.quotes import misquoted
from sedeval_soft.formats.source import Source

_HEAD = 1 << 16
_ROWS = 200


@dataclass(frozen=True, slots=True)
class Sniffed:
    """The delimiter and layout of a table, and how many lines stand before its rows."""

    delimiter: str
    layout: Layout
    skip: int

    def describe(self) -> str:
        """Return the form in words: `long table with header, tab`."""
        shape = "wide" if self.layout.wide else "long"
        header = "with" if self.layout.has_header else "without"
        return f"{shape} table {header} header, {DELIMITERS[self.delimiter]}"


def sniff(source: Source, limits: Limits = LIMITS) -> Sniffed | None:
    """Return what a table looks like, None where it has no line at all.

    Raises InputError where the first line is neither a header nor a row, and where a line is too long.
    """
    check_lines(source, limits)
    data = source.data
    head = data[: max(_HEAD, data.find(b"\n", 0, limits.line_length + 1) + 1)]
    lines = list(_lines(source, head)) if head.strip() else []
    if not lines:
        return None if is_blank(data) else _far(source)
    number, first = lines[0]
    for delimiter in DELIMITERS:
        fields = split(first, delimiter)
        if looks_like_header(fields):
            _check_quotes(source, number, first, delimiter)
            try:
                layout = layout_of_header(fields)
                if len(lines) > 1:
                    check_first_row(layout, split(lines[1][1], delimiter))
                return Sniffed(delimiter, layout, number)
            except LayoutError as error:
                raise InputError(Problem(source.name, str(error), line=number)) from error
    for delimiter in DELIMITERS:
        for _, line in lines[:_ROWS]:
            fields = split(line, delimiter)
            if not any(field.strip() for field in fields[1:]):
                continue  # a file declared without events, or another delimiter's line
            found = layout_of_row(fields)
            if found is not None:
                return Sniffed(delimiter, found, 0)
            break
    return _only_names(source, lines)


def _far(source: Source) -> Sniffed | None:
    raise InputError(
        Problem(source.name, f"begins with {_HEAD} blank characters or delimiters; expected a table", line=1)
    )


def _only_names(source: Source, lines: list[tuple[int, str]]) -> Sniffed:
    """Settle the case where no line has the form of a row."""
    number, first = lines[0]
    declared = [split(line, "\t") for _, line in lines]
    if all(len(fields) == 4 and fields[0].strip() and not any(fields[1:]) for fields in declared):
        layout = layout_of_row(["name", "0", "1", "label"])
        if layout is not None:
            return Sniffed("\t", layout, 0)
    best = max(DELIMITERS, key=first.count)
    _check_quotes(source, number, first, best)
    raise InputError(Problem(source.name, explain_first_line(split(first, best)), line=number))


def _check_quotes(source: Source, number: int, line: str, delimiter: str) -> None:
    wrong = misquoted(line, delimiter)
    if wrong is not None:
        raise InputError(Problem(source.name, wrong[0], number, wrong[1]))


def _lines(source: Source, head: bytes) -> Iterator[tuple[int, str]]:
    """Yield the numbers and texts of the first lines that are not blank."""
    whole = len(source.data) <= len(head)
    pieces = head.splitlines()
    if not whole and len(pieces) > 1:
        pieces.pop()  # cut off in the middle
    for number, piece in enumerate(pieces, 1):
        try:
            text = piece.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(not_utf8(source.name, number, piece, error)) from error
        if text.strip().strip(BLANK):
            yield number, text


def not_utf8(name: str, line: int, piece: bytes, error: UnicodeDecodeError) -> Problem:
    """Return the problem of a line that is not UTF-8."""
    found = piece[error.start : error.start + 1].hex()
    return Problem(name, f"byte 0x{found} at position {error.start + 1} of the line is not UTF-8; "
                   "expected the table as UTF-8", line=line)  # fmt: skip


def split(line: str, delimiter: str) -> list[str]:
    """Split one line into fields, quotes minded."""
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return line.split(delimiter)
