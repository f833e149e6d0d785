"""Tables of text: their layout from their first lines, and their rows.

pyarrow reads large tables at once; small ones, and tables for which it gives up or a check fails, are read
exactly. Lines end at the ends that an editor uses (LF, CRLF or CR) and are counted from 1. A field in quotes
may have the delimiter, but no line break: a quote that is left open would swallow rows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from sedeval_soft.arrays import Floats
from sedeval_soft.errors import MAX_PROBLEMS, InputError, Problem, quoted
from sedeval_soft.memory import check_room
from sedeval_soft.tables.columns import (
    FILES_ALONE,
    ColumnNames,
    Layout,
    LayoutError,
    are_decimal,
    in_samples,
    in_vain,
    is_number,
    layout_by_number,
    layout_of_header,
    layout_of_labels,
    layout_of_row,
    looks_like_header,
    option,
)
from sedeval_soft.tables.event_table import WEAK, EventTable, Origin
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.lines import (
    BLANK,
    DELIMITERS,
    SOLID,
    behind,
    check_lines,
    misquoted,
    not_text,
    numbered,
    split,
)
from sedeval_soft.tables.rows import Columns, Findings, Texts, exact_columns, find_wrong
from sedeval_soft.tables.source import Source, copy_command

_QUOTED = rb'(?<![^%b\r\n])"[^"\r\n]*(?:""[^"\r\n]*){0,1000}"(?![^%b\r\n])'
"""A whole field in quotes."""

_HEAD, _HEAD_ROWS = 1 << 16, 200  # bytes, and lines, from which a table's layout is recognised
_SMALL = 1 << 20  # bytes of a table up to which it is read exactly, before pyarrow is imported
_ESTIMATED, _PIECE = 1 << 25, 1 << 20  # bytes from which on memory is estimated, and of the sample for that
_CELL = 16  # bytes of a cell at the most


def check_text_room(source: Source, layout: Layout) -> None:
    """Refuse a table whose rows exceed memory; raises RoomError."""
    data, n_columns = source.data, len(layout.names)
    if len(data) > _ESTIMATED:
        sample = data[len(data) // 2 : len(data) // 2 + _PIECE]
        rows = len(data) / _PIECE * max(1, sample.count(b"\n") or sample.count(b"\r"))
        what = f"{source.name}: to read about {rows:.2g} rows of {n_columns} columns"
        batches = "batches of files one after another (an Evaluator, or soft-sed-eval merge)"
        check_room(rows * max(n_columns, 3) * _CELL, what, f"Expected less data, or {batches}")


def sniff(source: Source, limits: Limits = LIMITS) -> Layout | None:
    """Return the layout of a table, None if it has only blank lines.

    Raises InputError if the first line is neither a header nor a row, or if a line is too long; also if a
    column that plays no role may be the one that names recordings or has the values.
    """
    check_lines(source, limits)
    data, solid = source.data, SOLID.search(source.data)
    if solid is None:
        return None
    begin = solid.start()
    end = max(begin + _HEAD, data.find(b"\n", begin, begin + limits.line_length + 1) + 1)
    head = numbered(Source(source.name, data[:end], str))
    lines = [(k, line) for k, line in head if isinstance(line, bytes) or line.strip(BLANK)]
    if end < len(data) and len(lines) > 1:
        lines.pop()  # cut off in the middle
    number, first = lines[0]
    if isinstance(first, bytes):
        delimiter = max(DELIMITERS, key=first.decode("utf-8", "replace").count)
        raise InputError(not_text(source.name, number, first, delimiter))
    texts = [text for _, text in lines if isinstance(text, str)]
    try:
        layout = _layout_of(texts, number, limits)
    except LayoutError as error:
        raise InputError(Problem(source.name, str(error), number, error.column, error.code)) from error
    if layout.has_header and (layout.ignored or limits.columns):
        from sedeval_soft.tables.unclear_columns import settled

        return settled(source.name, layout, limits, partial(_texts_at, source, layout, limits), layout.skip)
    _check_numbers(source, layout, texts, limits)
    return replace(layout, lacking=in_vain(layout, limits.columns, limits.label))


def _layout_of(lines: Sequence[str], number: int, limits: Limits) -> Layout:
    """Return how a table is laid out; raises LayoutError. number: of the first of its lines."""
    columns, label, first = limits.columns, limits.label, lines[0]
    divided = {each: [split(line, each) for line in lines[:_HEAD_ROWS]] for each in DELIMITERS}
    for delimiter, (fields, *rows) in divided.items():
        if looks_like_header(fields, columns):
            if '"' in first:
                _check_quotes(first, delimiter)
            try:
                header = layout_of_header(fields, columns, (*rows, ())[0], label, limits.sample_rate)
            except LayoutError as error:
                from sedeval_soft.tables.advice import explained

                raise explained(error, fields, rows, columns, label) from error
            return replace(header, delimiter=delimiter, skip=number)
    if (layout := _layout_of_rows(divided, lines, columns, label)) is not None:
        return in_samples(layout, limits.sample_rate)
    for delimiter, (fields, *rows) in divided.items():
        if (weak := layout_of_labels(fields, columns, rows)) is not None:
            return replace(weak, delimiter=delimiter, skip=number)
    delimiter = max(DELIMITERS, key=first.count)
    _check_quotes(first, delimiter)
    fields, *rows = divided[delimiter]
    from sedeval_soft.tables.advice import first_line, table_within

    raise table_within(lines, columns) or first_line(fields, rows, columns, label)


def _layout_of_rows(
    divided: Mapping[str, Sequence[Sequence[str]]], lines: Sequence[str], columns: ColumnNames, label: str
) -> Layout | None:
    """Return the layout of a table without header, None if it is unknown; divided: lines by delimiter."""
    for delimiter, rows in divided.items() if columns else ():
        if (layout := layout_by_number(rows[0], columns, label)) is not None:
            return replace(layout, delimiter=delimiter)
    for delimiter, rows in divided.items():
        # Others declare a file without events, or are divided by another delimiter.
        row = next((fields for fields in rows if any(field.strip() for field in fields[1:])), ())
        layout = layout_of_row(row, label)
        files = [fields[0].strip() for fields in rows if len(fields) == len(row)]
        if layout is not None and "filename" in layout.roles and are_decimal(files):
            # Sonic Visualiser writes such rows: onset, value, duration and label.
            wrong = "the first column would have the names of files, but all are decimal numbers"
            raise LayoutError(
                wrong, "ambiguous-table", 1, expected="a header, or the numbers of its columns with --columns"
            )
        if layout is not None:
            return replace(layout, delimiter=delimiter)
    if all(line.endswith("\t\t\t") and line.count("\t") == 3 and line.strip() for line in lines):
        return FILES_ALONE
    for delimiter, rows in divided.items():
        layout = layout_of_row([field.replace(",", ".") for field in rows[0]], label)
        if layout is not None:  # its rows are refused for their decimal commas
            return replace(layout, delimiter=delimiter)
    return None


def _check_quotes(line: str, delimiter: str) -> None:
    wrong = misquoted(line, delimiter)
    if wrong is not None:
        raise LayoutError(wrong[0], "misquoted", wrong[1])


def _texts_at(
    source: Source, layout: Layout, limits: Limits, positions: Sequence[int]
) -> list[Texts | Floats]:
    """Return some columns as texts, whatever role they play. Lines that are not rows are passed over."""
    roles = tuple("view" if at in positions else None for at, _ in enumerate(layout.names))
    layout = replace(layout, roles=roles)
    columns = _columns_at_once(source, layout, limits) or exact_columns(source, layout, Findings())
    return [columns.cells[at] for at in positions]


def _columns_at_once(source: Source, layout: Layout, limits: Limits) -> Columns | None:
    """Return the columns of a large table; None for other tables, and if it must be read exactly."""
    if len(source.data) <= _SMALL or _is_odd(source, layout):
        return None
    from sedeval_soft.tables.columnar import parsed_columns

    return parsed_columns(source, layout, limits)


def _check_numbers(source: Source, layout: Layout, lines: Sequence[str], limits: Limits) -> None:
    """Refuse a table without header whose labels are numbers that may be values; raises InputError.

    Whole numbers name classes, unless the user names the class of all rows. lines: the first ones.
    """
    at = layout.position("event_label")
    rows = (split(line, layout.delimiter) for line in lines[:_HEAD_ROWS])
    numbered = at is not None and any(is_number(field) for fields in rows for field in fields[at : at + 1])
    if at is None or not numbered or layout.has_header or layout.settled:
        return
    is_odd = is_number if limits.label else may_be_value
    (labels,) = _texts_at(source, layout, limits, [at])
    if not (isinstance(labels, Texts) and any(map(is_odd, labels.names))):
        return
    columns = exact_columns(source, layout, Findings())
    column = columns.texts["event_label"]
    row = int(np.argmax(column.where(is_odd)))
    mend = option(*((role or "", str(i)) for i, role in enumerate(layout.roles, 1)))
    label = quoted(column.names[column.codes[row]])
    wrong = f"label {label} could be a class called by a number, or a value"
    message = f"{wrong}; expected {mend} if it is a class, or a header"
    raise InputError(Problem(source.name, message, columns.lines[row], at + 1, "ambiguous-table"))


def may_be_value(label: str) -> bool:
    """Return whether a label could be a value in a table without header: a number other than a whole one."""
    return is_number(label) and not label.strip().lstrip("+-").isdigit()


def origin_of(source: Source, layout: Layout) -> Origin:
    """Return the origin of a table's rows; its format in words: `long table with header, tab`."""
    shape = f"{'wide' if layout.wide else 'long'} table {'with' if layout.has_header else 'without'} header"
    kind = layout.dialect.title if layout.dialect else shape
    form = f"{kind}, {DELIMITERS[layout.delimiter]}" if layout.timed else WEAK
    form = f"{form}{layout.choices}"
    origin = Origin(source.name, source.sha256, form, layout.ignored, assumed=layout.assumed)
    return replace(origin, lacking=layout.lacking)


def read_text(
    source: Source,
    layout: Layout,
    limits: Limits = LIMITS,
    most: int = MAX_PROBLEMS,
    *,
    whole: bool = False,
) -> tuple[EventTable | None, Findings | None]:
    """Read a table: the rows that can be scored, and the problems of others, None if there are none.

    most, whole: the problems to look for, as for `find_wrong`; whole: there are findings, with the lines of
    rows, also without a problem. Raises InputError for a table that is over a limit, RoomError for one that
    exceeds memory.
    """
    check_text_room(source, layout)
    origin = origin_of(source, layout)
    at_once = None if whole else _columns_at_once(source, layout, limits)
    if at_once is not None and (rows := at_once.rows(origin, limits)) is not None:
        return rows, None
    found = Findings()
    columns = exact_columns(source, layout, found, most)
    if not (whole or found.problems) and (rows := columns.rows(origin, limits)) is not None:
        return rows, None
    copy = copy_command(source.name)
    sound = find_wrong(columns, source.name, limits, found, most, whole=whole, copy=copy)
    return columns.of_rows(sound).rows(origin, limits) if whole else None, found


def _is_odd(source: Source, layout: Layout) -> bool:
    """Return whether pyarrow would read quotes otherwise than `exact_columns`, or a repeated header as a row.

    If rows have numbers, pyarrow finds no number in such a header.
    """
    data, edge = source.data, layout.delimiter.encode()
    begin, title = behind(data, layout.skip), max(layout.names, key=len).encode()
    if not layout.timed and layout.has_header and data.find(title, begin) >= 0:
        return True
    field = _QUOTED % (edge, edge)
    # As many fields at once as are near to one another.
    fields = re.compile(b'%b(?:[^"]{0,200}%b){0,500}' % (field, field))
    at = data.find(b'"')
    while at >= 0:
        match = fields.match(data, at)
        if match is None:
            return True
        at = data.find(b'"', match.end())
    return False
