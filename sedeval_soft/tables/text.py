"""Tables of text: what one looks like, from its first lines, and its rows, parsed by pyarrow at once.

Where anything is out of the ordinary, `text_lines` goes through the table line by line: it says what is wrong
where, or reads what pyarrow would not. Lines end where an editor ends them (LF, CRLF or CR). A field in
quotes may hold the delimiter, but no line break: a quote that is left open would swallow rows.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv as pv

from sedeval_soft.errors import InputError, Problem
from sedeval_soft.sorting import distinct
from sedeval_soft.tables.assemble import Columns, Named
from sedeval_soft.tables.columns import (
    PRESENT,
    Layout,
    LayoutError,
    explain_first_line,
    is_number,
    layout_of_header,
    layout_of_row,
    looks_like_header,
    normal,
)
from sedeval_soft.tables.event_table import EventTable, Origin
from sedeval_soft.tables.limits import LIMITS, Limits, intake_of
from sedeval_soft.tables.source import Bytes, Source

DELIMITERS = {"\t": "tab", ",": "comma", ";": "semicolon"}

BLANK = " \r\n" + "".join(DELIMITERS)
"""Of what a line consists that holds nothing."""

BESIDE_CLASSES = 100
"""Columns that a table may have beside those of classes."""

_BESIDE_ROWS = 100
"""Lines that a table may have beside those of rows before they are counted one by one."""

_HEAD, _HEAD_ROWS = 1 << 16, 200
"""Bytes, and lines, from which it is told what a table looks like."""

_PIECE = 1 << 20
_BLOCK = 1 << 22
"""Bytes parsed at a time; a table of one block is parsed in this thread."""

_ESTIMATED, _CELL = 1 << 25, 16
"""Bytes of a table from which on it is estimated how much memory its rows take, and of a cell at the most:
as it is parsed, and as a number of ours."""

_LONG = 1 << 26
"""Bytes around quotes that are not looked at at once."""

_FEW = 10_000
"""Names that cost nothing as texts of ours."""

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


def sniff(source: Source, limits: Limits = LIMITS) -> Sniffed | None:
    """Return what a table looks like, None where it has no line at all.

    Raises InputError where the first line is neither a header nor a row, where a line is too long, and where
    a column that plays no role may be the one that names recordings or has the values.
    """
    check_lines(source, limits)
    data = source.data
    head = data[: max(_HEAD, data.find(b"\n", 0, limits.line_length + 1) + 1)]
    pieces = head.splitlines()
    if len(head) < len(data) and len(pieces) > 1:
        pieces.pop()  # cut off in the middle
    texts = [(number, decoded(piece)) for number, piece in enumerate(pieces, 1)]
    lines = [(number, text) for number, text in texts if isinstance(text, str)]
    sound = len(lines) == len(texts)
    lines = [(number, text) for number, text in lines if text.strip().strip(BLANK)]
    if sound and not lines:
        if is_blank(data):
            return None
        message = f"begins with {_HEAD} blank characters or delimiters; expected a table"
        raise InputError(Problem(source.name, message, line=1, code="not-a-table"))
    if not sound:
        _check_first_line(source, lines, *next((n, text) for n, text in texts if isinstance(text, bytes)))
    columns = intake_of(limits).columns
    for delimiter in DELIMITERS:
        number, fields = lines[0][0], split(lines[0][1], delimiter)
        if looks_like_header(fields, columns):
            _check_quotes(source, *lines[0], delimiter)
            try:
                row = split(lines[1][1], delimiter) if len(lines) > 1 else ()
                sniffed = Sniffed(delimiter, layout_of_header(fields, columns, row), number, sound)
            except LayoutError as error:
                raise error.at(source.name, number) from error
            if sniffed.layout.ignored or columns.roles:
                from sedeval_soft.tables.unclear_columns import check_unclear_text

                check_unclear_text(source, delimiter, sniffed.layout, number, limits)
            return sniffed
    return replace(_without_header(source, lines), sound=sound)


def _check_first_line(source: Source, lines: list[tuple[int, str]], number: int, piece: bytes) -> None:
    """Refuse a first line that is no text where it is a header, or where no other line is text either."""
    from sedeval_soft.tables.text_lines import not_text

    text = piece.decode("utf-8", "backslashreplace")
    delimiter = max(DELIMITERS, key=text.count)
    if not lines or (number < lines[0][0] and looks_like_header(split(text, delimiter))):
        raise InputError(not_text(source.name, number, piece, delimiter))


def _without_header(source: Source, lines: list[tuple[int, str]]) -> Sniffed:
    """Return what a table without header looks like; raises InputError where no line is a row."""
    for delimiter in DELIMITERS:
        for _, line in lines[:_HEAD_ROWS]:
            fields = split(line, delimiter)
            if any(field.strip() for field in fields[1:]):
                layout = layout_of_row(fields)
                if layout is not None:
                    return Sniffed(delimiter, layout, 0)
                break
            # else a file declared without events, or another delimiter's line
    declared = [split(line, "\t") for _, line in lines]
    layout = layout_of_row(["name", "0", "1", "label"])
    if layout and all(len(fields) == 4 and fields[0].strip() and not any(fields[1:]) for fields in declared):
        return Sniffed("\t", layout, 0)
    number, first = lines[0]
    for delimiter in DELIMITERS:
        fields = split(first, delimiter)
        points = [field.replace(",", ".") for field in fields]
        if points != fields and layout_of_row(points) is not None:
            at = next(i for i, text in enumerate(points) if is_number(text) and text != fields[i])
            message = f"{fields[at].strip()!r} has a decimal comma, not a decimal point; expected a number"
            raise InputError(Problem(source.name, message, number, at + 1, "decimal-comma"))
    delimiter = max(DELIMITERS, key=first.count)
    _check_quotes(source, number, first, delimiter)
    raise explain_first_line(split(first, delimiter)).at(source.name, number)


def _check_quotes(source: Source, number: int, line: str, delimiter: str) -> None:
    if '"' in line:
        from sedeval_soft.tables.text_lines import misquoted

        wrong = misquoted(line, delimiter)
        if wrong is not None:
            raise InputError(Problem(source.name, wrong[0], number, wrong[1], "misquoted"))


def read_sniffed(source: Source, sniffed: Sniffed, limits: Limits = LIMITS) -> EventTable:
    """Read a table of which is known what it looks like; raises InputError with the first problems."""
    rows = read_fast(source, sniffed, limits)
    if rows is not None:
        return rows
    from sedeval_soft.tables.text_lines import read_carefully

    return read_carefully(source, sniffed, limits)


def read_fast(source: Source, sniffed: Sniffed, limits: Limits = LIMITS) -> EventTable | None:
    """Read a table at once; None where it must be read line by line.

    Raises InputError for a table that is over a limit, RoomError for one that memory cannot hold.
    """
    layout = sniffed.layout
    check_rows(source, len(layout.names), limits)
    if not sniffed.sound or not quotes_are_plain(source.data, sniffed.delimiter):
        return None
    declared: list[str] = []
    table = _parsed(source, sniffed, declared, limits)
    if table is None:
        return None
    names: dict[str, Named | None] = {"filename": None, "event_label": None}
    for role, limit in (("filename", "files"), ("event_label", "classes")):
        at = layout.position(role)
        if at is not None:
            column = table.column(str(at))
            # Names of a block differ; one may be the nothing of lines that declare files. A few too many are
            # counted exactly later, too many are refused before they become texts of ours.
            number = max((len(chunk.dictionary) for chunk in column.chunks), default=0) - 1
            if number > max(getattr(limits, limit), _FEW):
                raise limits.refusal(source.name, limit, f"has {number} {limit} or more", number)
            array = column.combine_chunks()
            names[role] = Named.of(array.dictionary.to_pylist(), _buffer(array.indices, np.int32))
    file, label = names.values()
    arrays = {i: table.column(str(i)).combine_chunks() for i in layout.number_positions()}
    numbers = {i: _buffer(array, np.float64) for i, array in arrays.items()}
    if any(array.null_count for array in arrays.values()):
        # A row with a filename and nothing else declares a file, one of delimiters is a blank line; any other
        # empty field is an error.
        blanks = [_is_null(array) for array in arrays.values()]
        blank = blanks[0]
        files = [""] if file is None else [file.names[c] for c in distinct(file.codes[blank]).tolist()]
        if (
            not all(np.array_equal(other, blank) for other in blanks)
            or (label is not None and any(label.names[code] for code in distinct(label.codes[blank])))
            or ("" in files and layout.ignored)  # these columns may hold something
        ):
            return None
        declared.extend(filter(None, files))
        numbers = {i: column[~blank] for i, column in numbers.items()}
        file, label = (None if column is None else column.take(~blank) for column in (file, label))
    return Columns.of(layout, file, label, numbers, declared).rows(sniffed.origin(source), limits)


def _parsed(source: Source, sniffed: Sniffed, declared: list[str], limits: Limits) -> Any:  # noqa: ANN401 - pyarrow is untyped
    """Return the table with columns named by their positions, None if pyarrow refuses it.

    A line of nothing but a file name goes to `declared`, if file names come first; raises InputError for too
    many of them.
    """
    layout, most = sniffed.layout, limits.files
    value = layout.position("soft_value")
    in_words = value is not None and normal(layout.names[value]) == PRESENT
    text = pa.dictionary(pa.int32(), pa.string())
    types = {
        str(i): text if role in {"filename", "event_label"} or (in_words and i == value) else pa.float64()
        for i, role in enumerate(layout.roles)
        if role is not None
    }

    def lone_name(row: Any) -> str:  # noqa: ANN401
        lone = row.actual_columns == 1 and row.text.strip() and '"' not in row.text
        if lone and layout.position("filename") == 0 and not misdivided(row.text, sniffed.delimiter, layout):
            declared.append(row.text.strip())
            return "skip" if len(declared) <= most else "error"
        return "error"

    try:
        table = pv.read_csv(
            pa.BufferReader(pa.py_buffer(source.data)),
            read_options=pv.ReadOptions(
                column_names=[str(i) for i in range(len(layout.names))],
                skip_rows=sniffed.skip,
                block_size=_BLOCK,
                use_threads=len(source.data) > _BLOCK,
            ),
            parse_options=pv.ParseOptions(delimiter=sniffed.delimiter, invalid_row_handler=lone_name),
            convert_options=pv.ConvertOptions(
                column_types=types, include_columns=list(types), null_values=[""], strings_can_be_null=False
            ),
        )
        if in_words:
            from sedeval_soft.tables.unclear_columns import words_as_numbers

            at = table.column_names.index(str(value))
            table = table.set_column(at, str(value), words_as_numbers(table.column(at)))
    except pa.ArrowInvalid:
        table = None
    if len(declared) > most:
        raise limits.refusal(source.name, "files", f"has more than {most} lines that declare files")
    return table


def _buffer(array: Any, kind: type[np.generic]) -> npt.NDArray[Any]:  # noqa: ANN401
    """Return the numbers of an array as they lie in memory: pyarrow's own conversion imports pandas first."""
    if not len(array):
        return np.zeros(0, dtype=kind)
    return np.frombuffer(array.buffers()[1], dtype=kind)[array.offset :][: len(array)]


def _is_null(array: Any) -> npt.NDArray[np.bool_]:  # noqa: ANN401
    """Return for each number of an array whether it is missing."""
    if not array.null_count:
        return np.zeros(len(array), dtype=bool)
    bits = np.unpackbits(np.frombuffer(array.buffers()[0], dtype=np.uint8), bitorder="little")
    return bits[array.offset :][: len(array)] == 0


# Lines: how long they are and how many, whether quotes are plain, and what divides their fields.


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
    if columns > limits.classes + BESIDE_CLASSES and first.find(b"\r", 0, len(first) - 1) < 0:
        # The rest of a line that is cut off here may have more.
        known = columns if end >= 0 else None
        found = f"has {'' if known else 'more than '}{columns} columns"
        raise limits.refusal(source.name, "classes", found, known, line=1)
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
