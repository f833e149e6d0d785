"""Tables of text: what one looks like, from its first lines, and its rows, parsed by pyarrow at once.

Where anything is out of the ordinary, `text_errors` goes through the table line by line: it says what is
wrong where, or reads what pyarrow would not.
"""

from __future__ import annotations

from dataclasses import replace
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
    LayoutError,
    explain_first_line,
    is_number,
    layout_of_header,
    layout_of_row,
    looks_like_header,
    normal,
)
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.limits import LIMITS, Limits, intake_of
from sedeval_soft.tables.source import Source
from sedeval_soft.tables.text_lines import (
    BLANK,
    DELIMITERS,
    Sniffed,
    check_lines,
    check_rows,
    decoded,
    is_blank,
    misdivided,
    misquoted,
    not_text,
    quotes_are_plain,
    split,
)

_HEAD, _HEAD_ROWS = 1 << 16, 200
"""Bytes, and lines, from which it is told what a table looks like."""

_BLOCK = 1 << 22
"""Bytes parsed at a time; a table of one block is parsed in this thread."""

_FEW = 10_000
"""Names that cost nothing as texts of ours."""


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
            if '"' in lines[0][1]:
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
        wrong = misquoted(line, delimiter)
        if wrong is not None:
            raise InputError(Problem(source.name, wrong[0], number, wrong[1], "misquoted"))


def read_sniffed(source: Source, sniffed: Sniffed, limits: Limits = LIMITS) -> EventTable:
    """Read a table of which is known what it looks like; raises InputError with the first problems."""
    rows = read_fast(source, sniffed, limits)
    if rows is not None:
        return rows
    from sedeval_soft.tables.text_errors import read_carefully

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
    missing: npt.NDArray[np.bool_] = bits[array.offset :][: len(array)] == 0
    return missing
