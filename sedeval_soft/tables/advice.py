"""Proposals in messages for the roles of columns, tried on the first rows before they are written.

A proposal comes of the names in the header. It adds to the user's roles of columns and never takes a column
that the user has named. The message has the proposal if the table can be read with it and its rows make
sense. If no proposal works, the message names the missing column.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sedeval_soft.errors import SettingsError, quoted
from sedeval_soft.tables.columns import (
    COLUMNS,
    LISTED,
    ONE_CLASS,
    UNLABELLED,
    ColumnNames,
    Layout,
    LayoutError,
    column_names,
    is_number,
    layout_of_header,
    layout_of_row,
    looks_like_header,
    mask_of,
    misnamed,
    normal,
    option,
    roles_of,
    spelt,
    to_number,
    without_time,
)
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.lines import DELIMITERS, split

ROWS = 50
"""Rows on which they are tried."""

Cells = Sequence[Sequence[str]]
"""The fields of the first rows of a table."""


def explained(
    error: LayoutError, fields: Sequence[str], rows: Cells, columns: ColumnNames, label: str
) -> LayoutError:
    """Return an error of a first line with the choices that help.

    fields: of the first line. rows: the rows after a header, or all, the first line included. columns, label:
    the user's settings.
    """
    kept = [k for k, (said, _) in enumerate(error.choices) if helps(fields, rows, columns, said, label)]
    mends = [f"{option(*error.choices[k][0])}{error.choices[k][1]}" for k in kept]
    asking = error.asking if 0 in kept else "expected "
    beside = [error.expected] if error.expected and asking == "expected " else []
    text = asking + ", or ".join([*mends, *beside])
    return LayoutError(f"{error.wrong}; {text}", error.code, error.column)


def helps(fields: Sequence[str], rows: Cells, columns: ColumnNames, said: ColumnNames, label: str) -> bool:
    """Return whether a table can be read, its first rows sensibly, with these roles of columns added."""
    taken = {normal(name) for _, name in columns}
    try:
        if any(normal(name) in taken for _, name in said) or column_names([spelt(said)]) != (*said,):
            return False
        columns = (*columns, *said)
        layout = layout_of_header(fields, columns, (*rows, ())[0], label)
    except SettingsError:
        return False
    except LayoutError as error:
        return error.code == "repeated-column"  # of another role, which is asked about next
    return _make_sense(layout, rows)


def _make_sense(layout: Layout, rows: Cells) -> bool:
    """Return whether most rows have times in order, and the columns of values have values in [0, 1]."""
    rows = [row for row in rows[:ROWS] if len(row) == len(layout.names)]
    if not layout.timed:
        return "event_label" in layout.roles
    at = {role: i for i, role in enumerate(layout.roles) if role is not None and role != "class"}
    begins, ends = at["onset"], at.get("offset", at.get("duration", -1))
    if ends < 0:
        return False
    rows = [row for row in rows if row[begins].strip() or row[ends].strip()]
    valued = [i for i, role in enumerate(layout.roles) if role in {"soft_value", "class"}]
    sound = 0
    for row in rows:
        onset, end = to_number(row[begins]), to_number(row[ends])
        least = onset if "offset" in at and "file_offset" not in at else 0.0
        values = [to_number(row[i]) for i in valued]
        sound += onset >= 0 and end >= least and not any(value < 0 or value > 1 for value in values)
    return 2 * sound > len(rows) or not rows or bool(layout.dates())


def first_line(fields: Sequence[str], rows: Cells, columns: ColumnNames, label: str) -> LayoutError:
    """Return why a first line is neither a header nor a row of a table without one.

    rows: the rows after it. columns, label: the user's settings.
    """
    texts = [field.strip() for field in fields[:LISTED]]
    line = ", ".join(repr(text if len(text) <= LISTED else f"{text[:LISTED]}...") for text in texts[:8])
    if [is_number(field) for field in fields] == [False, True, True, True]:
        wrong = (
            f"{line} could be file, onset, offset and a class called by a number, or label, times and value"
        )
        return LayoutError(
            wrong, "ambiguous-table", expected=f"a header, or the numbers of its columns with {COLUMNS}"
        )
    header = not any(map(is_number, texts))
    if header and "onset" in roles_of(texts, columns, None)[0]:
        return explained(without_time("offset", texts, columns), fields, rows, columns, label)
    if error_of_name := misnamed(texts, columns):
        return explained(error_of_name, fields, rows, columns, label)
    one_class = "" if label or mask_of(texts) not in UNLABELLED else ONE_CLASS
    expected = (
        "a header with the columns onset, offset (or duration) and event_label (and filename, soft_value), "
        "rows of [filename,] onset, offset, label[, value], or the numbers of columns with "
        f"{COLUMNS}{one_class}"
    )
    lacking = ": no column is known to have onsets" * (header and len(texts) > 1)
    return LayoutError(f"{line} is neither a header nor a row{lacking}", "not-a-table", expected=expected)


def table_within(lines: Sequence[str], columns: ColumnNames) -> LayoutError | None:
    """Return why a text is no table if it is a page of the web, or one but for its first lines or delimiter.

    lines: the first ones. columns: the user's roles.
    """
    first, wrong = lines[0].strip(), f"{quoted(lines[0].strip())} is neither a header nor a row"
    if first.lower().startswith(("<!doctype html", "<html")):
        expected = "the file itself, which such a page often has a link to"
        return LayoutError(f"{quoted(first)} begins a page of the web", "not-a-table", expected=expected)
    for title, fields in (("'|'", first.strip("|").split("|")), ("blanks", first.split())):
        if looks_like_header(fields, columns) or layout_of_row(fields):
            expected = f"tabs, commas or semicolons between its fields, not {title}"
            return LayoutError(wrong, "not-a-table", expected=expected)
    for line in lines[1:ROWS]:
        if any(looks_like_header(split(line, delimiter), columns) for delimiter in DELIMITERS):
            expected = f"the header {quoted(line)} as the first line: leave out the lines before it"
            return LayoutError(wrong, "not-a-table", expected=expected)
    return None


def no_class(layout: Layout, rows: Cells, limits: Limits, at: int) -> str:
    """Return a role for a column of a wide table without values, by some rows; empty if none is known.

    at: its position.
    """
    name, columns, label = layout.names[at], limits.columns, limits.label
    cells = [to_number(row[i]) for row in rows for i, role in enumerate(layout.roles) if role == "class"]
    of_texts = not label and all(map(math.isnan, cells))
    for role in ["event_label", ""] if of_texts else [""]:
        if helps(layout.names, rows, columns, ((role, name),), label):
            return f"{option((role, name))} where that is no class"
    return f"event_label{ONE_CLASS}" if of_texts else ""
