"""What a table of text looks like, from its first lines: delimiter, header, roles of columns."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, replace

from sedeval_soft.core.intake import LIMITS, ColumnNames, Limits, intake_of
from sedeval_soft.errors import InputError, Problem
from sedeval_soft.tables.columns import (
    Layout,
    LayoutError,
    check_first_row,
    explain_first_line,
    is_number,
    is_of_raven,
    layout_of_header,
    layout_of_row,
    looks_like_header,
    of_raven,
)
from sedeval_soft.tables.event_table import Origin
from sedeval_soft.tables.source import Source
from sedeval_soft.tables.text_lines import (
    BLANK,
    DELIMITERS,
    check_lines,
    decoded,
    is_blank,
    misquoted,
    not_text,
)
from sedeval_soft.tables.unclear_columns import check_text_columns

_HEAD = 1 << 16
_ROWS = 200


@dataclass(frozen=True, slots=True)
class Sniffed:
    """The delimiter and layout of a table, and how many lines stand before its rows.

    sound: whether the lines that were looked at are text; where not, the careful pass must look.
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


def sniff(source: Source, limits: Limits = LIMITS) -> Sniffed | None:
    """Return what a table looks like, None where it has no line at all.

    Raises InputError where the first line is neither a header nor a row, where a line is too long, and where
    a column that plays no role may be the one that names recordings or has the values.
    """
    check_lines(source, limits)
    data = source.data
    head = data[: max(_HEAD, data.find(b"\n", 0, limits.line_length + 1) + 1)]
    found = list(_lines(source, head)) if head.strip() else []
    if not found:
        return None if is_blank(data) else _far(source)
    lines = [(number, line) for number, line in found if isinstance(line, str)]
    number, first = found[0]
    if isinstance(first, bytes) or not lines:
        _check_first(source, number, first, alone=not lines)
        number, first = lines[0]
    columns = intake_of(limits).columns
    sniffed = _header(source, lines, columns) or _row(lines) or _only_names(source, lines)
    sniffed = sniffed if len(lines) == len(found) else replace(sniffed, sound=False)
    if sniffed.layout.has_header:
        check_text_columns(source, sniffed.delimiter, sniffed.layout, sniffed.skip, limits)
    return sniffed


def _header(source: Source, lines: list[tuple[int, str]], columns: ColumnNames) -> Sniffed | None:
    """Return the form of a table with a header, None where there is none."""
    number, first = lines[0]
    for delimiter in DELIMITERS:
        fields = split(first, delimiter)
        if is_of_raven(fields):
            raise InputError(_refused(source, number, of_raven()))
        if looks_like_header(fields, columns):
            _check_quotes(source, number, first, delimiter)
            try:
                layout = layout_of_header(fields, columns)
                if len(lines) > 1:
                    check_first_row(layout, split(lines[1][1], delimiter))
                return Sniffed(delimiter, layout, number)
            except LayoutError as error:
                raise InputError(_refused(source, number, error)) from error
    return None


def _row(lines: list[tuple[int, str]]) -> Sniffed | None:
    """Return the form of a table without header, None where no line of any delimiter is a row."""
    for delimiter in DELIMITERS:
        for _, line in lines[:_ROWS]:
            fields = split(line, delimiter)
            if not any(field.strip() for field in fields[1:]):
                continue  # a file declared without events, or another delimiter's line
            found = layout_of_row(fields)
            if found is not None:
                return Sniffed(delimiter, found, 0)
            break
    return None


def _far(source: Source) -> Sniffed | None:
    message = f"begins with {_HEAD} blank characters or delimiters; expected a table"
    raise InputError(Problem(source.name, message, line=1, code="not-a-table"))


def _check_first(source: Source, number: int, first: str | bytes, *, alone: bool) -> None:
    """Refuse a first line that is no text where it is a header, or where no other line is text either."""
    raw = first if isinstance(first, bytes) else first.encode()
    text = raw.decode("utf-8", "backslashreplace")
    delimiter = max(DELIMITERS, key=text.count)
    if alone or looks_like_header(split(text, delimiter)):
        raise InputError(not_text(source.name, number, raw, delimiter))


def _only_names(source: Source, lines: list[tuple[int, str]]) -> Sniffed:
    """Settle the case where no line has the form of a row."""
    number, first = lines[0]
    declared = [split(line, "\t") for _, line in lines]
    if all(len(fields) == 4 and fields[0].strip() and not any(fields[1:]) for fields in declared):
        layout = layout_of_row(["name", "0", "1", "label"])
        if layout is not None:
            return Sniffed("\t", layout, 0)
    for delimiter in DELIMITERS:
        fields = split(first, delimiter)
        points = [field.replace(",", ".") for field in fields]
        if points != fields and layout_of_row(points) is not None:
            at = next(i for i, text in enumerate(points) if is_number(text) and text != fields[i])
            message = f"{fields[at].strip()!r} has a decimal comma, not a decimal point; expected a number"
            raise InputError(Problem(source.name, message, number, at + 1, "decimal-comma"))
    best = max(DELIMITERS, key=first.count)
    _check_quotes(source, number, first, best)
    raise InputError(_refused(source, number, explain_first_line(split(first, best))))


def _refused(source: Source, number: int, error: LayoutError) -> Problem:
    return Problem(source.name, str(error), number, error.column, error.code)


def _check_quotes(source: Source, number: int, line: str, delimiter: str) -> None:
    wrong = misquoted(line, delimiter)
    if wrong is not None:
        raise InputError(Problem(source.name, wrong[0], number, wrong[1], "misquoted"))


def _lines(source: Source, head: bytes) -> Iterator[tuple[int, str | bytes]]:
    """Yield the numbers and texts of the first lines that are not blank; bytes where they are no text."""
    whole = len(source.data) <= len(head)
    pieces = head.splitlines()
    if not whole and len(pieces) > 1:
        pieces.pop()  # cut off in the middle
    for number, piece in enumerate(pieces, 1):
        text = decoded(piece)
        if isinstance(text, bytes) or text.strip().strip(BLANK):
            yield number, text


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


def split(line: str, delimiter: str) -> list[str]:
    """Split one line into fields, quotes minded."""
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return line.split(delimiter)
