"""What a table looks like, from its first lines: delimiter, header, roles of columns."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv as pc

from sedeval_soft.core.intake import LIMITS, ColumnNames, Limits, intake_of
from sedeval_soft.core.order import distinct
from sedeval_soft.core.rows import Origin, Rows
from sedeval_soft.errors import InputError, Problem
from sedeval_soft.tables.assemble import Columns, Named
from sedeval_soft.tables.columns import (
    PRESENT,
    Layout,
    LayoutError,
    check_first_row,
    explain_first_line,
    is_number,
    is_of_raven,
    layout_of_header,
    layout_of_row,
    looks_like_header,
    normal,
    of_raven,
)
from sedeval_soft.tables.source import Source
from sedeval_soft.tables.text_lines import (
    BLANK,
    DELIMITERS,
    check_lines,
    check_rows,
    decoded,
    is_blank,
    misquoted,
    not_text,
    quotes_are_plain,
)
from sedeval_soft.tables.unclear_columns import check_text_columns, words_as_numbers

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


# The fast path: a whole table at once, by pyarrow.
#
# It answers with rows, or with None where anything is out of the ordinary: then the careful pass
# reads the table again and says what is wrong, or reads what pyarrow would not.


Floats = npt.NDArray[np.float64]

_BLOCK = 1 << 22
"""Bytes parsed at a time; a table of one block is parsed in this thread."""

_FEW = 10_000
"""Names that cost nothing as texts of ours."""

_TEXT = pa.dictionary(pa.int32(), pa.string())


def read_fast(source: Source, sniffed: Sniffed, limits: Limits = LIMITS) -> Rows | None:
    """Read a table at once; None where the careful pass must look.

    Raises InputError for a table that is over a limit, RoomError for one that memory cannot hold.
    """
    check_rows(source, len(sniffed.layout.names), limits)
    if not sniffed.sound or not quotes_are_plain(source.data, sniffed.delimiter):
        return None
    declared: list[str] = []
    table = _parse(source, sniffed, declared, limits.files)
    if len(declared) > limits.files:
        raise limits.refusal(source.name, "files", f"has more than {limits.files} lines that declare files")
    if table is None:
        return None
    _check_names(table, source.name, sniffed.layout, limits)
    columns = _columns(table, sniffed, declared)
    return None if columns is None else columns.rows(origin_of(source, sniffed), limits)


def origin_of(source: Source, sniffed: Sniffed) -> Origin:
    """Return where a table came from."""
    return Origin(source.name, source.sha256, sniffed.describe(), sniffed.layout.ignored)


def _parse(source: Source, sniffed: Sniffed, declared: list[str], most: int) -> Any:  # noqa: ANN401 - pyarrow is untyped
    """Return the table with columns named by their positions, None if pyarrow refuses it.

    A line of nothing but a file name goes to `declared`, if file names come first; after `most` of them it is
    refused.
    """
    layout = sniffed.layout
    worded = _worded(layout)
    types = {
        str(i): _TEXT if role in {"filename", "event_label"} or i == worded else pa.float64()
        for i, role in enumerate(layout.roles)
        if role is not None
    }
    names_first = layout.position("filename") == 0

    def lone_name(row: Any) -> str:  # noqa: ANN401
        lone = names_first and row.actual_columns == 1 and row.text.strip() and '"' not in row.text
        if lone and not misdivided(row.text, sniffed.delimiter, layout):
            declared.append(row.text.strip())
            return "skip" if len(declared) <= most else "error"
        return "error"

    try:
        table = pc.read_csv(
            pa.BufferReader(pa.py_buffer(source.data)),
            read_options=pc.ReadOptions(
                column_names=[str(i) for i in range(len(layout.names))],
                skip_rows=sniffed.skip,
                block_size=_BLOCK,
                use_threads=len(source.data) > _BLOCK,
            ),
            parse_options=pc.ParseOptions(delimiter=sniffed.delimiter, invalid_row_handler=lone_name),
            convert_options=pc.ConvertOptions(
                column_types=types, include_columns=list(types), null_values=[""], strings_can_be_null=False
            ),
        )
        if worded is None:
            return table
        at = table.column_names.index(str(worded))
        return table.set_column(at, str(worded), words_as_numbers(table.column(at)))
    except pa.ArrowInvalid:
        return None


def _worded(layout: Layout) -> int | None:
    """Return the position of the values where they may be words, by the name of the column."""
    at = layout.position("soft_value")
    return at if at is not None and normal(layout.names[at]) == PRESENT else None


def _check_names(table: Any, name: str, layout: Layout, limits: Limits) -> None:  # noqa: ANN401
    """Refuse more different names than there may be, before they become texts of ours."""
    for role, limit in (("filename", "files"), ("event_label", "classes")):
        position = layout.position(role)
        if position is not None:
            chunks = table.column(str(position)).chunks
            found = max((len(chunk.dictionary) for chunk in chunks), default=0)
            # Those of a chunk differ; one may be the nothing of lines that declare files. A few too many
            # are counted exactly later.
            if found - 1 > max(getattr(limits, limit), _FEW):
                raise limits.refusal(name, limit, f"has {found - 1} {limit} or more", found)


def _columns(table: Any, sniffed: Sniffed, declared: list[str]) -> Columns | None:  # noqa: ANN401
    """Take the columns out of a table; None where something is empty that must not be."""
    layout = sniffed.layout
    names = {role: _named(table, layout.position(role)) for role in ("filename", "event_label")}
    numbers = {i: _floats(table, i) for i, role in enumerate(layout.roles) if role not in {None, *names}}
    file, label = names["filename"], names["event_label"]
    empty = {i: column for i, column in numbers.items() if table.column(str(i)).null_count}
    if empty:
        # A row with a filename and nothing else declares a file, one of delimiters is a blank line; any other
        # empty field is an error.
        if len(empty) < len(numbers):
            return None
        blank = np.isnan(numbers[layout.roles.index("onset")])
        if not all(np.array_equal(np.isnan(column), blank) for column in numbers.values()):
            return None
        if label is not None and any(label.names[code] for code in distinct(label.codes[blank])):
            return None
        names_of_blank = (
            [""] if file is None else [file.names[c] for c in distinct(file.codes[blank]).tolist()]
        )
        if "" in names_of_blank and layout.ignored:
            return None  # these may hold something
        declared.extend(filter(None, names_of_blank))
        kept = ~blank
        numbers = {i: column[kept] for i, column in numbers.items()}
        file, label = (None if column is None else column.take(kept) for column in (file, label))
    value = layout.position("soft_value")
    return Columns(
        file,
        label,
        numbers[layout.roles.index("onset")],
        numbers[layout.roles.index("offset")],
        None if value is None or layout.wide else numbers[value],
        tuple((layout.names[i], numbers[i]) for i in layout.class_positions()),
        declared,
    )


def _floats(table: Any, position: int) -> Floats:  # noqa: ANN401
    """Return a column of numbers, empty fields as NaN."""
    column = table.column(str(position))
    return _joined(column, np.dtype(np.float64))


def _named(table: Any, position: int | None) -> Named | None:  # noqa: ANN401
    """Return a column of names, None where there is no such column."""
    if position is None:
        return None
    column = table.column(str(position)).unify_dictionaries()
    if not column.num_chunks:
        return Named((), np.zeros(0, dtype=np.int32))
    codes = _joined(pa.chunked_array([chunk.indices for chunk in column.chunks]), np.dtype(np.int32))
    return Named.of(column.chunk(0).dictionary.to_pylist(), codes)


def _joined(column: Any, dtype: np.dtype[Any]) -> npt.NDArray[Any]:  # noqa: ANN401
    """Return the numbers of a column as one array, missing ones as NaN.

    The buffers are read directly: pyarrow's own conversion imports pandas first.
    """
    out = np.empty(len(column), dtype=dtype)
    begin = 0
    for chunk in column.chunks:
        part = out[begin : begin + len(chunk)]
        begin += len(chunk)
        valid, data = chunk.buffers()
        part[:] = np.frombuffer(data, dtype=dtype)[chunk.offset :][: len(chunk)] if len(chunk) else 0
        if chunk.null_count:
            bits = np.unpackbits(np.frombuffer(valid, dtype=np.uint8), bitorder="little")
            part[bits[chunk.offset :][: len(chunk)] == 0] = np.nan
    return out


# Tables of text: at once by pyarrow, line by line where that fails.


def read_sniffed(source: Source, sniffed: Sniffed, limits: Limits = LIMITS) -> Rows:
    """Read a table of which is known what it looks like."""
    rows = read_fast(source, sniffed, limits)
    if rows is not None:
        return rows
    from sedeval_soft.tables.text_errors import read_carefully

    return read_carefully(source, sniffed, limits)
