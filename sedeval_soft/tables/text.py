"""Tables of text: what one looks like from its first lines, and its rows, parsed by pyarrow at once.

Where anything is out of the ordinary, `scan` goes through the table line by line: it says what is wrong
where, or reads what pyarrow would not. Lines end where an editor ends them (LF, CRLF or CR) and are counted
from 1. A field in quotes may hold the delimiter, but no line break: a quote that is left open would swallow
rows.
"""

from __future__ import annotations

import codecs
import csv
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pv

from sedeval_soft.arrays import Array, Bools, Floats
from sedeval_soft.errors import MAX_PROBLEMS, SHOWN, InputError, Problem, counted, quoted
from sedeval_soft.tables.assemble import Columns, Named, OtherTextError, below, range_of
from sedeval_soft.tables.columns import (
    BESIDE,
    BLANKS,
    FILES_ALONE,
    PRESENT,
    TEXTS,
    TIMES,
    WORDS,
    ColumnNames,
    Layout,
    LayoutError,
    as_duration,
    by_cells,
    explain_first_line,
    is_number,
    layout_by_number,
    layout_of_header,
    layout_of_row,
    looks_like_header,
    normal,
    option,
    places_in,
    to_number,
)
from sedeval_soft.tables.event_table import EventTable, Origin
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.source import Bytes, Source, copy_command
from sedeval_soft.threads import for_each

Record = tuple[int, list[str] | Problem]
"""The number of a line, and its fields, or what is wrong with it."""

DELIMITERS = {"\t": "tab", ",": "comma", ";": "semicolon"}
OTHER_DELIMITERS = {r"\|": "'|'", " +": "blanks"}
"""What divides the fields of tables that are not read as they are: patterns, and what they are called."""

BLANK = " \r\n" + "".join(DELIMITERS)  # of what a line consists that holds nothing
SOLID = re.compile(rb"[^ \r\n\t,;]")
_LINE_END = re.compile(rb"\r\n?|\n")

_QUOTES = rb'[^"]*+(?:(?<![^%b\r\n])"[^"\r\n]*+(?:""[^"\r\n]*+)*+"(?![^%b\r\n])[^"]*+)*+'
"""A text in which every quote opens or closes a whole field, and none is open at the end of a line."""

_NAMES = ("filename", "event_label")
_UNITS = {"s": "a number of seconds", "ms": "a number of milliseconds"}
_PREAMBLE = 50  # lines before a table that messages count
_CLOCK = re.compile(r"(?:(\d+):)?(\d+):(\d+(?:[.,]\d*)?)", re.ASCII)
_THOUSANDS = re.compile(r"\d{1,3}(?:([,' \u00a0\u2009\u202f])\d{3})(?:\1\d{3})*(?:\.\d*)?", re.ASCII)
_WITH_UNIT = re.compile(r"([+-]?[\d.]+) *(s|sec|seconds|ms|%)", re.ASCII)
_OF_UNIT = {"ms": 1000, "%": 100}
_HEAD, _HEAD_ROWS = 1 << 16, 200  # bytes, and lines, from which it is told what a table looks like
_BLOCK = 1 << 22  # bytes parsed at a time; a table of one block is parsed in this thread
_BESIDE = 100  # columns that a table may have beside those of classes
_ESTIMATED, _PIECE = 1 << 25, 1 << 20  # bytes from which on memory is estimated, and of the sample for that
_CELL = 16  # bytes of a cell at the most

csv.field_size_limit(1 << 30)


def line_ends(data: Bytes, end: int) -> int:
    """Return how many lines end, in LF, CR or both, in the first bytes of a text, which may be mapped."""
    return sum(1 for _ in _LINE_END.finditer(data, 0, end))


def check_lines(source: Source, limits: Limits = LIMITS) -> None:
    """Refuse a table with a line that is too long, or a first one of too many fields; raises InputError."""
    data, most = source.data, limits.line_length
    end = data.find(b"\n", 0, most + 1)
    first = data[: end if end >= 0 else most]
    columns = 1 + max(first.count(delimiter.encode()) for delimiter in DELIMITERS)
    if columns > limits.classes + _BESIDE and b"\r" not in first[:-1]:
        # The rest of a line that is cut off here may have more.
        why, needed = ("has", columns) if end >= 0 else ("has more than", None)
        raise limits.refusal(source.name, "classes", f"{why} {columns} columns", needed, line=1)
    begin = 0
    while len(data) - begin > most:
        # Only where lines may end is looked for, from behind, once in as many bytes as a line may have.
        end = data.rfind(b"\n", begin, begin + most + 1)
        end = data.rfind(b"\r", begin, begin + most + 1) if end < 0 else end
        if end < 0:
            why, line = f"has a line of more than {most} bytes", 1 + line_ends(data, begin)
            raise limits.refusal(source.name, "line_length", why, line=line)
        begin = end + 1


def _check_room(source: Source, n_columns: int) -> None:
    """Refuse a table of more rows than memory can hold; raises RoomError."""
    data = source.data
    if len(data) > _ESTIMATED:
        from sedeval_soft.memory import check_room

        sample = data[len(data) // 2 : len(data) // 2 + _PIECE]
        rows = len(data) / _PIECE * max(1, sample.count(b"\n") or sample.count(b"\r"))
        what = f"{source.name}: to read about {rows:.2g} rows of {n_columns} columns"
        batches = "batches of files one after another (an Evaluator, or soft-sed-eval merge)"
        check_room(rows * max(n_columns, 3) * _CELL, what, f"Expected less data, or {batches}")


def decoded(data: bytes) -> str | bytes:
    """Return bytes as text, as they are where they are not UTF-8 or hold a NUL."""
    with suppress(UnicodeDecodeError):
        return data if b"\0" in data else data.decode("utf-8")
    return data


def decode(source: Source) -> str:
    """Return the whole text of a table; raises InputError where it is not text, or not UTF-8."""
    for number, line in numbered(source):
        if isinstance(line, bytes):
            raise InputError(not_text(source.name, number, line))
    return source.data[:].decode("utf-8")


def not_text(name: str, line: int, piece: bytes, delimiter: str = "") -> Problem:
    """Return the problem of a line that is not text; its column where the delimiter is known."""
    at, nul = len(piece), piece.find(b"\0")
    try:
        piece.decode("utf-8")
    except UnicodeDecodeError as error:
        at = error.start
    at = min(at, nul) if nul >= 0 else at
    column = piece.count(delimiter.encode(), 0, at) + 1 if delimiter else None
    if len(piece) > 3 and any(piece[::2]) != any(piece[1::2]):
        message = "looks like UTF-16 without a byte order mark; expected the table as UTF-8"
        return Problem(name, message, line, code="utf-16")
    if at == nul:
        message = "holds a NUL byte: this is not text; expected a table"
        return Problem(name, message, line, column, "nul-byte")
    message = f"byte 0x{piece[at : at + 1].hex()} at position {at + 1} of the line is not UTF-8"
    expected = "expected the table as UTF-8"
    if column:
        with suppress(UnicodeDecodeError):
            text = piece.split(delimiter.encode())[column - 1].decode("cp1252")
            if text.isprintable():
                expected += f": write {quoted(text)} so, if it is that in Windows-1252"
    return Problem(name, f"{message}; {expected}", line, column, "not-utf-8")


def numbered(source: Source) -> Iterator[tuple[int, str | bytes]]:
    """Yield the number of each line and its text without its end; its bytes where it is no text."""
    for number, piece in enumerate(source.data[:].splitlines(), 1):
        yield number, decoded(piece)


def records(
    source: Source,
    delimiter: str,
    skip: int = 0,
    most: int = LIMITS.classes + _BESIDE,
    past: Collection[int] = (),
) -> Iterator[Record]:
    """Yield the number of each line that holds anything, and its fields, or what is wrong with it.

    skip: how many lines are read past first. most: fields of a line from which on it is not even taken apart.
    past: the positions of columns that are read past: what is no text there is written as escapes. A line of
    delimiters holds nothing.
    """
    name = source.name
    for number, line in islice(numbered(source), skip, None):
        content = _as_text_but(past, line, delimiter) if past and isinstance(line, bytes) else line
        if isinstance(content, bytes):
            yield number, not_text(name, number, content, delimiter)
        elif len(content) > most and content.count(delimiter) > most:
            message = f"has more than {most} fields; expected fewer"
            yield number, Problem(name, message, number, code="field-count")
        elif wrong := misquoted(content, delimiter):
            yield number, Problem(name, wrong[0], number, wrong[1], "misquoted")
        else:
            fields = split(content, delimiter)
            if any(text.strip() for text in fields):
                yield number, fields


def _as_text_but(past: Collection[int], line: bytes, delimiter: str) -> str | bytes:
    """Return a line as text, as it is where anything but columns that are read past is no text."""
    fields = split(line.decode("utf-8", "surrogateescape"), delimiter)
    wrong = {i for i, field in enumerate(fields) if re.search("[\0\udc80-\udcff]", field)}
    return line.decode("utf-8", "backslashreplace") if wrong <= {*past} else line


def split(line: str, delimiter: str) -> list[str]:
    """Split one line into fields, quotes minded."""
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:  # a line of a form in which line ends and quotes are characters like others
        return line.split(delimiter)


def misquoted(line: str, delimiter: str) -> tuple[str, int] | None:
    """Return what is wrong with the quotes of a line, and in which field (from 1); None where nothing is.

    Quotes within a field that does not begin with one are characters like others.
    """
    if '"' not in line:
        return None
    fields = rf'(?:^|{delimiter})(?:("(?:[^"]|"")*+)("?))?([^{delimiter}]*)'
    for column, match in enumerate(re.finditer(fields, line), 1):
        opening, closing, rest = match.groups()
        if opening and not closing:
            text = line[match.start(1) :]
            wrong = f"a quote is opened and not closed on this line: {text[:40]!r}; expected its end"
            closed = quoted(text + '"')
            return (wrong if delimiter in text else f"{wrong}: write {closed}"), column
        if opening and rest.strip():
            return f"{rest[:40]!r} follows a closing quote; expected the end of the field", column
    return None


def misdivided(text: str, layout: Layout) -> str:
    """Return the delimiter by which a text would be a row of a table of another one; empty where none does.

    Read by the table's own delimiter it could be the name of a file.
    """
    times = [i for i in layout.number_positions() if layout.roles[i] in TIMES]
    for other in DELIMITERS:
        fields = [] if other == layout.delimiter else split(text, other)
        if len(fields) == len(layout.names) and all(is_number(fields[i]) for i in times):
            return other
    return ""


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
        return settled_columns(source, layout, limits)
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


def settled_columns(source: Source, layout: Layout, limits: Limits) -> Layout:
    """Return the layout, what is unclear in it settled; raises InputError where only the user can do that."""
    from sedeval_soft.tables.unclear_columns import settled

    def batches(positions: Sequence[int]) -> Iterator[Sequence[Any]]:
        types = dict.fromkeys(map(str, positions), pa.large_binary())
        # pyarrow shows those that it skips as text. What it stops at is refused when rows are read.
        with (
            suppress(pa.ArrowException, OSError),
            pv.open_csv(*_parsing(source, layout, types, skip=_is_text(source.data))) as reader,
        ):
            for batch in reader:
                yield [_as_text(column) for column in batch.columns]

    return settled(source.name, layout, limits, batches, layout.skip)


def _is_text(data: Bytes) -> bool:
    """Return whether all is UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for begin in range(0, len(data), _BLOCK):
            decoder.decode(data[begin : begin + _BLOCK])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _as_text(column: Any) -> Any:  # noqa: ANN401
    """Return cells as texts; bytes that are no UTF-8 are written as escapes, so that others stay others."""
    try:
        return column.cast(pa.large_string())
    except pa.ArrowInvalid:
        cells = [cell.decode("utf-8", "backslashreplace") for cell in column.to_pylist()]
        return pa.array(cells, pa.large_string())


def read_laid_out(source: Source, layout: Layout, limits: Limits = LIMITS) -> EventTable | None:
    """Read a table of a layout; raises InputError with the first problems."""
    rows = read_fast(source, layout, limits)
    if rows is not None:
        return rows
    lines = scan(source, layout, MAX_PROBLEMS, limits)
    lines.mend(layout, copy_command(source.name))
    lines.check()
    return lines.rows(layout, origin_of(source, layout), limits)


def origin_of(source: Source, layout: Layout) -> Origin:
    """Return where the rows of a table come from; its form in words: `long table with header, tab`."""
    shape = f"{'wide' if layout.wide else 'long'} table {'with' if layout.has_header else 'without'} header"
    kind = layout.dialect.title if layout.dialect else shape
    form = f"{kind}, {DELIMITERS[layout.delimiter]}{layout.choices}"
    return Origin(source.name, source.sha256, form, layout.ignored, assumed=layout.assumed)


def read_fast(source: Source, layout: Layout, limits: Limits = LIMITS) -> EventTable | None:
    """Read a table at once; None where it must be read line by line.

    Raises InputError for a table that is over a limit, RoomError for one that memory cannot hold.
    """
    data, edge = source.data, layout.delimiter.encode()
    _check_room(source, len(layout.names))
    if data.find(b'"') >= 0 and not re.fullmatch(_QUOTES % (edge, edge), data):
        return None
    value = layout.position("soft_value")
    in_words = value is not None and normal(layout.names[value]) == PRESENT
    roles = {i: role for i, role in enumerate(layout.roles) if role is not None}
    texts = {i for i, role in roles.items() if role in TEXTS} | {*layout.dates()}
    words = {value} if in_words else set()
    text = pa.dictionary(pa.int32(), pa.string())
    types = {str(i): text if i in texts | words else pa.float64() for i in roles}
    names: dict[str, Named] = {}
    numbers: dict[int, Floats] = {}
    try:
        table = pv.read_csv(*_parsing(source, layout, types, threads=len(data) > _BLOCK))
        if layout.wide:
            numbers = _values_of_classes(table, [i for i, role in roles.items() if role == "class"])
        for i, role in roles.items():
            if i in numbers:
                continue
            column = table.column(str(i))
            if i in texts:
                array, limit = column.combine_chunks(), "files" if role == "filename" else "classes"
                if role in _NAMES:
                    # Refused before they become texts of ours; one may be the nothing of blank lines.
                    limits.check(source.name, limit, len(array.dictionary) - 1, f"{limit} or more")
                names[role if role in TEXTS else str(i)] = Named.of(
                    array.dictionary.to_pylist(), _buffer(array.indices, np.int32)
                )
                continue
            if i in words:
                from sedeval_soft.tables.unclear_columns import words_as_numbers

                column = words_as_numbers(column)
            numbers[i] = _numbers(column.combine_chunks())
        numbers |= {i: names.pop(str(i)).as_dates() for i in layout.dates()}
    except (pa.ArrowInvalid, OtherTextError):
        return None
    return Columns(layout, names, numbers).rows(origin_of(source, layout), limits)


def _values_of_classes(table: Any, positions: Sequence[int]) -> dict[int, Floats]:  # noqa: ANN401
    """Return columns of numbers as rows of one array: so segments are counted, where each row is one."""
    block = np.empty((len(positions), table.num_rows))

    def fill(row: int) -> None:
        begin = 0
        for chunk in table.column(str(positions[row])).chunks:
            block[row, begin : begin + len(chunk)] = _numbers(chunk)
            begin += len(chunk)

    for_each(fill, range(len(positions)), block.size)
    block.setflags(write=False)
    return dict(zip(positions, block, strict=True))


def _parsing(
    source: Source, layout: Layout, types: dict[str, Any], *, threads: bool = False, skip: bool = False
) -> tuple[Any, ...]:
    """Return the arguments of pyarrow's parsers.

    types: of the columns that are read, by position. skip: whether rows of another length are read past.
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


def _buffer(array: Any, kind: type[np.generic]) -> Array:  # noqa: ANN401
    """Return the numbers of an array as they lie in memory: pyarrow's own conversion imports pandas first."""
    return np.frombuffer(array.buffers()[1] or b"", dtype=kind)[array.offset :][: len(array)]


def _numbers(array: Any) -> Floats:  # noqa: ANN401
    """Return the numbers of an array, missing ones as NaN; raises OtherTextError for the text NaN."""
    numbers: Floats = _buffer(array, np.float64)
    if len(array) and np.isnan(numbers.min()):
        raise OtherTextError
    return np.where(_is_null(array), np.nan, numbers) if array.null_count else numbers


def _is_null(array: Any) -> Bools:  # noqa: ANN401
    """Return which numbers of an array, some of them at least, are missing."""
    bits = np.unpackbits(np.frombuffer(array.buffers()[0], dtype=np.uint8), bitorder="little")
    return np.equal(bits[array.offset :][: len(array)], 0)


@dataclass(slots=True)
class Scan:
    """What a pass over the lines found.

    problems: the first ones of each code; counts: how many there are of each. lines: where the rows are that
    can be scored; cells, numbers: their fields, and those that are numbers; declared: files without rows.
    misread: the lines with a problem and a field for each column, which may explain one another. low, high:
    the least and the largest value of rows with a problem; sound: how many have none.
    """

    problems: list[Problem] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    lines: list[int] = field(default_factory=list)
    declared: list[str] = field(default_factory=list)
    cells: list[list[str]] = field(default_factory=list)
    numbers: list[list[float]] = field(default_factory=list)
    misread: list[tuple[int, list[str]]] = field(default_factory=list)
    low: float = 0
    high: float = 1
    sound: int = 0

    def add(self, later: Scan, lines: int) -> None:
        """Add what a pass over later lines found; lines: how many stand before these."""
        moved = (p if p.line is None else replace(p, line=p.line + lines) for p in later.problems)
        self.problems += moved
        self.counts += later.counts
        self.sound += later.sound
        self.low, self.high = min(self.low, later.low), max(self.high, later.high)

    def mend(self, layout: Layout, copy: str | None) -> None:
        """Say in the first problem of each kind what mends all of its kind.

        copy: the command that writes a mended copy; None where it is no table of text, whose columns can be
        called otherwise.
        """
        backwards = self.counts["offset-before-onset"]
        mends = {"value-out-of-range": of_each_value(self.low, self.high)}
        if copy is not None:
            if layout.has_header and "soft_value" in layout.roles:
                other = f"{option(('ignore', layout.names[layout.roles.index('soft_value')]))} to ignore them"
                mends["value-out-of-range"] = ", or ".join(filter(None, (*mends.values(), other)))
            if not layout.has_header or 2 * backwards >= self.sound:
                swapped = copy and not self.sound and backwards > 1
                mends["offset-before-onset"] = f"{copy} swaps the two" if swapped else as_duration(layout)
            mends["decimal-comma"] = copy and f"{copy} writes points"
        for i, problem in enumerate(self.problems):
            if mend := mends.pop(problem.code, ""):
                self.problems[i] = replace(problem, message=f"{problem.message}, or {mend}")

    def check(self) -> None:
        """Raise InputError with the first problems, if there are any."""
        if self.problems:
            raise InputError(self.problems[:MAX_PROBLEMS], more=self.counts.total() > MAX_PROBLEMS)

    def rows(self, layout: Layout, origin: Origin, limits: Limits = LIMITS) -> EventTable | None:
        """Return the rows that can be scored."""
        each_row = np.arange(len(self.cells), dtype=np.int32)
        names = {
            role: Named.of([fields[at] for fields in self.cells], each_row)
            for at, role in enumerate(layout.roles)
            if role in TEXTS
        }
        positions = layout.positions()
        table = np.array(self.numbers, dtype=np.float64).reshape(-1, len(positions)).T
        numbers = dict(zip(positions, np.ascontiguousarray(table), strict=True))
        return Columns(layout, names, numbers, self.declared).rows(origin, limits)


def scan(
    source: Source,
    layout: Layout,
    most: int,
    limits: Limits = LIMITS,
    lines: Iterable[Record] | None = None,
    *,
    whole: bool = False,
) -> Scan:
    """Look at every line: keep the first `most` problems of each code, and all rows without one.

    lines: their fields, where it is no table of text. whole: do not stop at more than `most` problems, to
    count them all.
    """
    scanned = Scan()
    columns = max(LIMITS.classes + _BESIDE, len(layout.names))
    of_text = records(source, layout.delimiter, layout.skip, columns, layout.past)
    each_line = of_text if lines is None else lines
    for line, fields in each_line:
        if isinstance(fields, Problem):
            problems = [fields]
        elif (name := declares(layout, fields)) or _says_nothing(layout, fields):
            scanned.declared += filter(None, [name])
            continue
        elif len(fields) != len(layout.names):
            problems = [_other_length(source.name, layout, line, fields)]
        else:
            problems, numbers = check_row(source.name, layout, line, fields, limits)
            if not problems:
                scanned.sound += 1
                scanned.lines.append(line)
                scanned.numbers.append(numbers)
                scanned.cells.append(fields)
            elif whole:
                scanned.misread.append((line, fields))
            values = values_of(layout, numbers) if problems else ()
            scanned.low, scanned.high = min([scanned.low, *values]), max([scanned.high, *values])
        for problem in problems:
            scanned.counts[problem.code] += 1
            if scanned.counts[problem.code] <= most:
                scanned.problems.append(problem)
        if scanned.counts.total() > most and not whole:
            break
    return scanned


def values_of(layout: Layout, numbers: Sequence[float]) -> list[float]:
    """Return the values of a row, of the numbers of its times and values."""
    roles = (layout.roles[i] for i in layout.positions())
    return [number for role, number in zip(roles, numbers, strict=True) if role in {"soft_value", "class"}]


def of_each_value(low: float, high: float) -> str:
    """Return what makes numbers from low to high values in [0, 1], as far as it can be told."""
    if low < 0:
        return "1/(1+exp(-x)) for each x if they are logits"
    return "x/100 for each x if they are percent" if 1 < high <= 100 else ""


def declares(layout: Layout, fields: Sequence[str]) -> str:
    """Return the file that a line of its name and nothing else declares; empty where it does not."""
    at = layout.position("filename")
    if at is None or at >= len(fields) or not fields[at].strip():
        return ""
    alone = len(fields) == 1 and at == 0 and not misdivided(fields[0], layout)
    others = (text for i, text in enumerate(fields) if i != at and layout.roles[i] not in {None, *BESIDE})
    whole = (len(fields) == len(layout.names) or alone) and not any(text.strip() for text in others)
    whole = whole or _says_nothing(layout, fields)
    return _file_of(layout, fields) if whole else ""


def _says_nothing(layout: Layout, fields: Sequence[str]) -> bool:
    """Return whether the label of a line says that its recording has no event."""
    at = layout.position("event_label")
    return at is not None and len(fields) == len(layout.names) and layout.says_nothing(fields[at])


def _file_of(layout: Layout, fields: Sequence[str]) -> str:
    """Return the file of a line, below its folder where it has one; empty where it names none."""
    folder, file = (
        "" if at is None or at >= len(fields) else fields[at].strip()
        for at in (layout.position("folder"), layout.position("filename"))
    )
    return below(folder, file)


def check_row(
    name: str, layout: Layout, line: int, fields: Sequence[str], limits: Limits
) -> tuple[list[Problem], list[float]]:
    """Return what is wrong with a row, and its numbers: times in their units, dates as ticks, and values."""
    problems: list[Problem] = []
    numbers: list[float] = []
    for column, (role, title, text) in enumerate(zip(layout.roles, layout.names, fields, strict=True), 1):
        wrong = None
        if role in _NAMES and not text.strip():
            wrong = "empty-name", f"{title} is empty; expected a name{_or_other(layout, role)}"
        elif role in _NAMES and "\0" in text:
            wrong = "nul-byte", f"{title} holds a NUL character; expected a name"
        elif layout.units.get(column - 1) == "date":
            from sedeval_soft.tables.date_times import SUCH_AS, ticks_of

            numbers.append(float(ticks_of([text])[0]))
            if math.isnan(numbers[-1]):
                message = (
                    f"{title} {quoted(text)} is not a date and time of day; expected one such as {SUCH_AS}"
                )
                wrong = "not-a-number", message
        elif role is not None and role not in TEXTS:
            stripped = text.strip(BLANKS)
            if role == "soft_value":
                stripped = WORDS.get(stripped.upper(), stripped)
            numbers.append(to_number(stripped))
            unit = layout.units.get(column - 1, "s")
            wrong = _wrong_number(title, role, stripped, numbers[-1], limits, unit)
            wrong = _of_no_class(layout, fields, title, wrong) if role == "class" and wrong else wrong
        if wrong is not None:
            problems.append(Problem(name, wrong[1], line, column, wrong[0]))
    if not problems:
        wrong_times = _wrong_times(layout, fields, numbers, limits)
        problems += [Problem(name, text, line, at + 1, code) for at, code, text in wrong_times]
    return problems, numbers


def _or_other(layout: Layout, role: str) -> str:
    """Return what else could have the names that a column lacks, as it follows what was expected."""
    if role != "event_label":
        return ""
    others = [option(("event_label", layout.names[i])) for i in layout.labels]
    return f", or {(others or ['the line left out if it is no event'])[0]}"


def _of_no_class(
    layout: Layout, fields: Sequence[str], title: str, wrong: tuple[str, str]
) -> tuple[str, str]:
    """Return what is wrong with a cell of a class, and what else than a class its column could be."""
    if wrong[0] != "not-a-number":
        return wrong
    cells = [fields[i] for i, role in enumerate(layout.roles) if role == "class"]
    named = "" if any(map(is_number, cells)) else by_cells(layout.names, fields, layout.roles)
    return wrong[0], f"{wrong[1]}, or {named or option(('', title))} where that is no class"


def _wrong_times(
    layout: Layout, fields: Sequence[str], numbers: Sequence[float], limits: Limits
) -> Iterator[tuple[int, str, str]]:
    """Yield what is wrong with the times of a row that is sound else: position, code and message."""
    at = {layout.roles[i] or "": i for i in layout.positions()}
    names = {
        role: Named.of([fields[i]], np.zeros(1, dtype=np.int32))
        for i, role in enumerate(layout.roles)
        if role in {"filename", "folder"}
    }
    columns = Columns(
        layout, names, {i: np.array([number]) for i, number in zip(layout.positions(), numbers, strict=True)}
    )
    onset, offset = (float(times[0]) for times in columns.times)
    end = at.get("offset", at.get("duration", 0))
    begin_text, end_text = (fields[i].strip()[:SHOWN] for i in (at["onset"], end))
    if math.isnan(onset) or math.isnan(offset):
        from sedeval_soft.tables.date_times import NAMED

        file = columns.file.names[0] if columns.file else ""
        message = (
            f"{layout.names[at['onset']]} counts from when the recording began, which its name, "
            f"{quoted(file)}, does not say; expected a date and time in it such as {NAMED}, or seconds"
        )
        yield at["onset"], "not-a-number", message
    elif onset < 0:
        message = f"{layout.names[at['onset']]} {begin_text} is {-onset:.15g} s before the recording began"
        yield at["onset"], "negative-time", f"{message}; expected it within the recording"
    elif offset < onset:
        message = f"offset {end_text} is before onset {begin_text}; expected onset <= offset"
        yield end, "offset-before-onset", message
    elif offset > limits.duration:
        wrong = f"{layout.names[end]} {end_text} {limits.too_long(offset)}"
        message = f"{wrong}; expected a time in the recording"
        yield end, "time-too-long", message


def _wrong_number(
    title: str, role: str, text: str, number: float, limits: Limits, unit: str = "s"
) -> tuple[str, str] | None:
    time = role in {*TIMES, "file_offset"}
    low, high = range_of(role, limits, unit)
    if low <= number <= high:
        return None
    no_number, comma = math.isnan(number), "has a decimal comma, not a decimal point"
    too_long = "" if no_number else limits.too_long(number / 1000 if unit == "ms" else number)
    reasons = (
        (not text, "empty-number", "is empty"),
        (no_number and is_number(text.replace(",", ".")), "decimal-comma", comma),
        (text.lower().lstrip("+-") in {"nan", "inf", "infinity"}, "not-finite", "is not finite"),
        (no_number, "not-a-number", "is not a number"),
        (math.isinf(number), "time-too-long" if time else "value-out-of-range", "is too large"),
        (time and number < 0, "negative-time", "is negative"),
        (time, "time-too-long", too_long),
        (True, "value-out-of-range", "is outside [0, 1]"),
    )
    code, wrong = next((code, wrong) for applies, code, wrong in reasons if applies)
    expected = f"{_UNITS[unit]}, 0 or more" if time else "a number in [0, 1]"
    if (mend := _in_plain_digits(code, text, time=time)) and unit == "s":
        expected += f": write {mend}"
    given = quoted(text) if text and no_number else text[:SHOWN]
    return code, f"{' '.join(filter(None, (title, given, wrong)))}; expected {expected}"


def _in_plain_digits(code: str, text: str, *, time: bool) -> str:
    """Return the number that a text seems to say, empty where it is none."""
    if code == "decimal-comma":
        return text.replace(",", ".")
    if code == "negative-time":
        return "0 if it begins with the recording"
    clock, with_unit = _CLOCK.fullmatch(text), _WITH_UNIT.fullmatch(text)
    if code != "not-a-number":
        return ""
    if with_unit and is_number(with_unit[1]) and time != (with_unit[2] == "%"):
        return f"{float(with_unit[1]) / _OF_UNIT.get(with_unit[2], 1):.15g}"
    if clock and time:
        hours, minutes, seconds = (float((part or "0").replace(",", ".")) for part in clock.groups())
        return f"{hours * 3600 + minutes * 60 + seconds:.15g}"
    return re.sub(r"[^\d.]", "", text) if _THOUSANDS.fullmatch(text) else ""


def _other_length(name: str, layout: Layout, line: int, fields: Sequence[str]) -> Problem:
    delimiter = layout.delimiter
    expected = f"expected {counted(len(layout.names), 'field')} ({', '.join(layout.names[:8])})"
    text = delimiter.join(fields)
    other = misdivided(text, layout)
    if other:
        wrong = f"is divided by {DELIMITERS[other]}, not by {DELIMITERS[delimiter]}: {quoted(text)}"
        mend = _line_as(delimiter.join(split(text, other)))
        return Problem(name, f"{wrong}; {expected}{mend}", line, code="mixed-delimiters")
    numbers = layout.number_positions()
    if delimiter == "," and len(fields) == len(layout.roles) + len(numbers):
        # Each number would be two fields.
        pairs = [fields[at : at + 2] for at in (i + sum(at < i for at in numbers) for i in numbers)]
        if all(is_number(whole) and part.strip(BLANKS).isdigit() for whole, part in pairs):
            column = numbers[0] + 1
            given = quoted(",".join(fields[column - 1 : column + 1]))
            points = [*fields]
            for i in numbers:
                points[i : i + 2] = [".".join(points[i : i + 2])]
            wrong = f"{given} has a decimal comma, not a decimal point"
            message = f"{wrong}; {expected}{_line_as(delimiter.join(points))}"
            mend = "write decimal points, or divide fields by tabs or semicolons"
            return Problem(name, message, line, column, "decimal-comma", mend=mend)
    rest = fields[len(layout.names) :]
    mend = "" if not rest or any(text.strip() for text in rest) else _line_as(text[: -len(rest)])
    message = f"has {counted(len(fields), 'field')}: {quoted(' | '.join(fields))}; {expected}{mend}"
    return Problem(name, message, line, code="field-count")


def _line_as(text: str) -> str:
    """Return how a line is to be written, as it follows what was expected; empty for a long one."""
    return f": write the line as {quoted(text)}" if len(text) <= SHOWN else ""
