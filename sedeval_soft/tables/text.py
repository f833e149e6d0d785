"""Tables of text: what one looks like from its first lines, and its rows, parsed by pyarrow at once.

Where anything is out of the ordinary, `scan` goes through the table line by line: it says what is wrong
where, or reads what pyarrow would not. Lines end where an editor ends them (LF, CRLF or CR) and are counted
from 1. A field in quotes may hold the delimiter, but no line break: a quote that is left open would swallow
rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pv

from sedeval_soft.arrays import Floats
from sedeval_soft.errors import InputError, Problem, quoted
from sedeval_soft.memory import check_room
from sedeval_soft.tables.arrow_columns import TEXT, buffer_of, numbers, words_as_numbers
from sedeval_soft.tables.columns import (
    FILES_ALONE,
    PRESENT,
    TEXTS,
    ColumnNames,
    Layout,
    LayoutError,
    explain_first_line,
    layout_by_number,
    layout_of_header,
    layout_of_labels,
    layout_of_row,
    looks_like_header,
    normal,
    places_in,
)
from sedeval_soft.tables.event_table import WEAK, EventTable, Origin
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.lines import (
    BLANK,
    DELIMITERS,
    SOLID,
    check_lines,
    decoded,
    misquoted,
    not_text,
    split,
)
from sedeval_soft.tables.rows import Columns, Named, OtherTextError
from sedeval_soft.tables.source import Source, copy_command
from sedeval_soft.threads import for_each

OTHER_DELIMITERS = {r"\|": "'|'", " +": "blanks"}
"""What divides the fields of tables that are not read as they are: patterns, and what they are called."""

_QUOTES = rb'[^"]*+(?:(?<![^%b\r\n])"[^"\r\n]*+(?:""[^"\r\n]*+)*+"(?![^%b\r\n])[^"]*+)*+'
"""A text in which every quote opens or closes a whole field, and none is open at the end of a line."""

_PREAMBLE = 50  # lines before a table that messages count
_HEAD, _HEAD_ROWS = 1 << 16, 200  # bytes, and lines, from which it is told what a table looks like
_BLOCK = 1 << 22  # bytes parsed at a time; a table of one block is parsed in this thread
_ESTIMATED, _PIECE = 1 << 25, 1 << 20  # bytes from which on memory is estimated, and of the sample for that
_CELL = 16  # bytes of a cell at the most


def _check_room(source: Source, n_columns: int) -> None:
    """Refuse a table of more rows than memory can hold; raises RoomError."""
    data = source.data
    if len(data) > _ESTIMATED:
        sample = data[len(data) // 2 : len(data) // 2 + _PIECE]
        rows = len(data) / _PIECE * max(1, sample.count(b"\n") or sample.count(b"\r"))
        what = f"{source.name}: to read about {rows:.2g} rows of {n_columns} columns"
        batches = "batches of files one after another (an Evaluator, or soft-sed-eval merge)"
        check_room(rows * max(n_columns, 3) * _CELL, what, f"Expected less data, or {batches}")


def sniff(source: Source, limits: Limits = LIMITS) -> Layout | None:
    """Return how a table is laid out, None where it has no line that holds anything.

    Raises InputError where the first line is neither a header nor a row, where a line is too long, and where
    a column that plays no role may be the one that names recordings or has the values.
    """
    check_lines(source, limits)
    data, solid = source.data, SOLID.search(source.data)
    if solid is None:
        return None
    begin = solid.start()
    end = max(begin + _HEAD, data.find(b"\n", begin, begin + limits.line_length + 1) + 1)
    head = decoded(data[:end])
    if isinstance(head, str):
        pieces = enumerate(head.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1)
        lines: list[tuple[int, str | bytes]] = [each for each in pieces if each[1].strip(BLANK)]
    else:
        lines = [(k, decoded(line)) for k, line in enumerate(head.splitlines(), 1) if SOLID.search(line)]
    if end < len(data) and len(lines) > 1:
        lines.pop()  # cut off in the middle
    number, first = lines[0]
    if isinstance(first, bytes):
        delimiter = max(DELIMITERS, key=first.decode("utf-8", "replace").count)
        raise InputError(not_text(source.name, number, first, delimiter))
    texts = [text for _, text in lines if isinstance(text, str)]
    try:
        layout = _layout_of(texts, number, limits, source.name)
    except LayoutError as error:
        raise InputError(Problem(source.name, str(error), number, error.column, error.code)) from error
    if layout.has_header and (layout.ignored or limits.columns):
        return _settled(source, layout, limits)
    return layout


def _layout_of(lines: Sequence[str], number: int, limits: Limits, name: str) -> Layout:
    """Return how a table of a name is laid out; raises LayoutError. number: of the first of its lines."""
    columns, first = limits.columns, lines[0]
    for delimiter in DELIMITERS:
        fields = split(first, delimiter)
        if looks_like_header(fields, columns):
            if '"' in first:
                _check_quotes(first, delimiter)
            row = split(lines[1], delimiter) if len(lines) > 1 else ()
            header = layout_of_header(fields, columns, row, limits.label)
            return replace(header, delimiter=delimiter, skip=number)
    layout = _layout_of_rows(lines, columns, limits.label)
    if layout is not None:
        return layout
    for delimiter in DELIMITERS:
        weak = layout_of_labels(split(first, delimiter), columns)
        if weak is not None:
            return replace(weak, delimiter=delimiter, skip=number)
    delimiter = max(DELIMITERS, key=first.count)
    _check_quotes(first, delimiter)
    raise _begins_otherwise(lines, copy_command(name)) or explain_first_line(
        split(first, delimiter), split(lines[1], delimiter) if len(lines) > 1 else ()
    )


def _begins_otherwise(lines: Sequence[str], copy: str) -> LayoutError | None:
    """Return what stands before a table, or divides its fields as none should be; None where nothing does.

    copy: the command that writes a mended copy.
    """
    first = quoted(lines[0])
    if re.match(r"\s*<(!doctype )?html", lines[0], re.IGNORECASE):
        wrong = f"{first} is a page of HTML, not a table"
        return LayoutError(f"{wrong}; expected the file that the page is about", "not-a-table")
    if other := divided_by(lines[0]):
        wrong = f"fields of {first} are divided by {OTHER_DELIMITERS[other]}, not by tab, comma or semicolon"
        written = f": {copy} writes them" if copy else ""
        mend = written if _begins(redivided(lines[0], other)) else ", as names may have blanks"
        return LayoutError(f"{wrong}; expected tabs{mend}", "not-a-table")
    for more, line in enumerate(lines[1:_PREAMBLE]):
        rows = ((split(lines[0], delimiter), split(line, delimiter)) for delimiter in DELIMITERS)
        if any(len(above) != len(row) and _begins(row) for above, row in rows):
            wrong = f"{first} is neither a header nor a row, but {quoted(line)} is one"
            mend = f"leave out this line{f' and the {more} after it' if more else ''}"
            return LayoutError(f"{wrong}; expected it first: {mend}", "not-a-table")
    return None


def _begins(fields: Sequence[str]) -> bool:
    return looks_like_header(fields) or layout_of_row(fields) is not None


def divided_by(line: str) -> str:
    """Return the pattern by which a line could be divided into a header or a row, if no table is so."""
    divided = ((other, redivided(line, other)) for other in OTHER_DELIMITERS if "\t" not in line.strip())
    return next((other for other, fields in divided if _begins(fields) or places_in(fields)), "")


def redivided(line: str, pattern: str) -> list[str]:
    """Return the fields of a line that are divided by a pattern, which may stand around the line as well."""
    fields = re.split(pattern, line.strip(" \t\r\n|"))
    return [field.strip() for field in fields]


def _layout_of_rows(lines: Sequence[str], columns: ColumnNames, label: str) -> Layout | None:
    """Return how a table without header is laid out, None where nobody knows."""
    first = lines[0]
    for delimiter in DELIMITERS if columns else ():
        layout = layout_by_number(split(first, delimiter), columns, label)
        if layout is not None:
            return replace(layout, delimiter=delimiter)
    for delimiter in DELIMITERS:
        rows = (split(line, delimiter) for line in lines[:_HEAD_ROWS])
        # Others declare a file without events, or are divided by another delimiter.
        row = next((fields for fields in rows if any(field.strip() for field in fields[1:])), ())
        layout = layout_of_row(row, label)
        if layout is not None:
            return replace(layout, delimiter=delimiter)
    if all(re.fullmatch(r"[^\t]*[^\t\s][^\t]*\t\t\t", line) for line in lines):
        return FILES_ALONE
    for delimiter in DELIMITERS:
        layout = layout_of_row([field.replace(",", ".") for field in split(first, delimiter)], label)
        if layout is not None:  # its rows are refused for their decimal commas
            return replace(layout, delimiter=delimiter)
    return None


def _check_quotes(line: str, delimiter: str) -> None:
    wrong = misquoted(line, delimiter)
    if wrong is not None:
        raise LayoutError(wrong[0], "misquoted", wrong[1])


def _settled(source: Source, layout: Layout, limits: Limits) -> Layout:
    """Return the layout, what is unclear in it settled; raises InputError where only the user can do that."""
    from sedeval_soft.tables.unclear_columns import settled

    def batches(positions: Sequence[int]) -> Iterator[Sequence[Any]]:
        types = dict.fromkeys(map(str, positions), pa.large_binary())
        whole = pa.py_buffer(np.array([0, len(source.data)])), pa.py_buffer(source.data)
        is_text = False
        with suppress(pa.ArrowInvalid):
            pa.LargeStringArray.from_buffers(1, *whole).validate(full=True)
            is_text = True
        # pyarrow shows those that it skips as text. What it stops at is refused when rows are read.
        with (
            suppress(pa.ArrowException, OSError),
            pv.open_csv(*_parsing(source, layout, types, skip=is_text)) as reader,
        ):
            for batch in reader:
                yield [_as_text(column) for column in batch.columns]

    return settled(source.name, layout, limits, batches, layout.skip)


def _as_text(column: Any) -> Any:  # noqa: ANN401
    """Return cells as texts; bytes that are no UTF-8 are written as escapes, so that others stay others."""
    try:
        return column.cast(TEXT)
    except pa.ArrowInvalid:
        return pa.array([cell.decode("utf-8", "backslashreplace") for cell in column.to_pylist()], TEXT)


def origin_of(source: Source, layout: Layout) -> Origin:
    """Return where the rows of a table come from; its form in words: `long table with header, tab`."""
    shape = f"{'wide' if layout.wide else 'long'} table {'with' if layout.has_header else 'without'} header"
    kind = layout.dialect.title if layout.dialect else shape
    form = f"{kind}, {DELIMITERS[layout.delimiter]}" if layout.timed else WEAK
    return Origin(
        source.name, source.sha256, f"{form}{layout.choices}", layout.ignored, assumed=layout.assumed
    )


def read_fast(source: Source, layout: Layout, limits: Limits = LIMITS) -> EventTable | None:
    """Read a table at once; None where it must be read line by line.

    Raises InputError for a table that is over a limit, RoomError for one that memory cannot hold.
    """
    data, edge = source.data, layout.delimiter.encode()
    _check_room(source, len(layout.names))
    if data.find(b'"') >= 0 and not re.fullmatch(_QUOTES % (edge, edge), data):
        return None
    roles = {i: role for i, role in enumerate(layout.roles) if role is not None}
    words = {i for i, role in roles.items() if role == "soft_value" and normal(layout.names[i]) == PRESENT}
    named = {i for i, role in roles.items() if role in TEXTS} | {*layout.dates()}
    text = pa.dictionary(pa.int32(), pa.string())
    types = {str(i): text if i in named | words else pa.float64() for i in roles}
    texts: dict[str, Named] = {}
    values: dict[int, Any] = {}
    try:
        table = pv.read_csv(*_parsing(source, layout, types, threads=len(data) > _BLOCK))
        if layout.wide:
            values = _values_of_classes(table, [i for i, role in roles.items() if role == "class"])
        for i, role in roles.items():
            if i in values:
                continue
            column = table.column(str(i)).combine_chunks()
            if i in named:
                limit = "files" if role == "filename" else "classes"
                if role in {"filename", "event_label"} and not layout.lists:
                    # Refused before they become texts of ours; one may be the nothing of blank lines.
                    limits.check(source.name, limit, len(column.dictionary) - 1, f"{limit} or more")
                names = Named.of(column.dictionary.to_pylist(), buffer_of(column.indices, np.int32))
                texts |= {role: names} if role in TEXTS else {}
                values |= {} if role in TEXTS else {i: names.as_dates()}
                continue
            values[i] = _numbers(words_as_numbers(column) if i in words else column, role)
    except (pa.ArrowInvalid, OtherTextError):
        return None
    return Columns(layout, texts, values).rows(origin_of(source, layout), limits)


def _numbers(column: Any, role: str) -> Floats:  # noqa: ANN401
    """Return a column of numbers, missing ones as NaN; raises OtherTextError for the text NaN."""
    values = numbers(column, role)
    if len(column) and np.isnan(values.min()) and np.isnan(values).sum() > column.null_count:
        raise OtherTextError
    return values


def _values_of_classes(table: Any, positions: Sequence[int]) -> dict[int, Floats]:  # noqa: ANN401
    """Return columns of numbers as rows of one array: so segments are counted, where each row is one."""
    block = np.empty((len(positions), table.num_rows))

    def fill(row: int) -> None:
        begin = 0
        for chunk in table.column(str(positions[row])).chunks:
            block[row, begin : begin + len(chunk)] = _numbers(chunk, "class")
            begin += len(chunk)

    for_each(fill, range(len(positions)), block.size)
    block.setflags(write=False)
    return dict(zip(positions, block, strict=True))


def _parsing(
    source: Source, layout: Layout, types: dict[str, Any], *, threads: bool = False, skip: bool = False
) -> tuple[Any, ...]:
    """Return the arguments of pyarrow's parsers.

    types: of the columns that are read, by position. skip: whether rows of another length are ignored.
    """
    names = [str(i) for i in range(len(layout.names))]
    odd_row = (lambda _: "skip") if skip else None
    return (
        pa.BufferReader(pa.py_buffer(source.data)),
        pv.ReadOptions(column_names=names, skip_rows=layout.skip, block_size=_BLOCK, use_threads=threads),
        pv.ParseOptions(delimiter=layout.delimiter, invalid_row_handler=odd_row),
        pv.ConvertOptions(
            column_types=types, include_columns=list(types), null_values=[""], strings_can_be_null=False
        ),
    )
