"""Tables that are read exactly: each cell as its text, with its line, and the problems of other lines.

Small tables are read so before pyarrow is imported, and large ones if pyarrow gives up or a check fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from types import MappingProxyType

import numpy as np

from sedeval_soft.errors import MAX_PROBLEMS, SHOWN, Problem, counted, quoted
from sedeval_soft.tables.columns import BESIDE, BLANKS, TIMES, Layout, is_number
from sedeval_soft.tables.event_table import EventTable, Origin
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.lines import BESIDE_CLASSES, DELIMITERS, Record, numbered, record, split
from sedeval_soft.tables.row_checks import Findings, find_wrong
from sedeval_soft.tables.rows import Columns, Texts, below
from sedeval_soft.tables.source import Source


def exact_columns(source: Source, layout: Layout, found: Findings, most: int = MAX_PROBLEMS) -> Columns:
    """Return the rows of a table of text; problems of other lines are added to the findings.

    most: problems of each code that are stored.
    """
    edge, n_columns, past = layout.delimiter, len(layout.names), layout.past
    most_fields = max(LIMITS.classes + BESIDE_CLASSES, n_columns)
    # A line that begins so may be blank; one with the longest name of a column may be the header again.
    begins, title = {"", edge, *BLANKS}, max(layout.names, key=len) if layout.has_header else "\0"
    plain: dict[int, str] = {}
    others: list[Record] = []
    for number, line in islice(numbered(source), layout.skip, None):
        if (
            isinstance(line, str)
            and line.count(edge) == n_columns - 1
            and '"' not in line
            and line[:1] not in begins
            and title not in line
        ):
            plain[number] = line  # as nearly all are
        elif fields := record(source.name, number, line, edge, most_fields, past):
            others.append((number, fields))
    return columns_of(source.name, layout, others, found, most, plain)


def columns_of(
    name: str,
    layout: Layout,
    records: Iterable[Record],
    found: Findings,
    most: int = MAX_PROBLEMS,
    plain: Mapping[int, str] = MappingProxyType({}),
) -> Columns:
    """Return the rows of records; problems of other lines are added to the findings.

    name: of the table. plain: other lines, all of which are rows that delimiters divide, by number.
    """
    edge, n_columns, lines = layout.delimiter, len(layout.names), [*plain]
    declared, rows = list[str](), list[list[str]]()
    for line, fields in records:
        if isinstance(fields, Problem):
            found.add(fields, most)
        elif len(fields) != n_columns:
            silent = declares(layout, fields)
            declared += [silent] * bool(silent)
            if not silent:
                found.add(_other_length(name, layout, line, fields), most)
        elif layout.has_header and layout.names == tuple(map(str.strip, fields)):
            message = "is the header again; expected a row: leave out this line"
            found.add(Problem(name, message, line, code="repeated-header"), most)
        else:
            rows.append(fields)
            lines.append(line)
    cells = edge.join(plain.values()).split(edge) if plain else []
    order = np.argsort(lines, kind="stable").tolist() if plain and rows else ()
    columns = {}
    for at in (at for at, role in enumerate(layout.roles) if role is not None):
        column = [*cells[at::n_columns], *(fields[at] for fields in rows)]
        columns[at] = Texts.of([column[k] for k in order] if order else column)
    return Columns(layout, columns, declared, sorted(lines))


def rows_of_columns(
    name: str, columns: Columns, found: Findings, origin: Origin, limits: Limits
) -> EventTable | None:
    """Return the rows of columns of another format; raises InputError with the problems of any.

    name: of the table. found: its problems that are known already.
    """
    rows = None if found.problems else columns.rows(origin, limits)
    if rows is None:
        find_wrong(columns, name, limits, found)
        found.problems = [replace(each, code="invalid") for each in found.problems]
        found.check()
    return rows


def declares(layout: Layout, fields: Sequence[str]) -> str:
    """Return the file that a line declares with its name and nothing else; empty for other lines."""
    at = layout.position("filename")
    if at is None or at >= len(fields) or not fields[at].strip():
        return ""
    alone = len(fields) == 1 and at == 0 and not misdivided(fields[0], layout)
    past = {None, *BESIDE} if layout.timed else {None, "soft_value"}
    others = (text for i, text in enumerate(fields) if i != at and layout.roles[i] not in past)
    whole = (len(fields) == len(layout.names) or alone) and not any(text.strip() for text in others)
    at_label = layout.position("event_label")
    if at_label is not None and len(fields) == len(layout.names):
        whole = whole or layout.says_nothing(fields[at_label])
    folder = layout.position("folder")
    place = fields[folder] if folder is not None and folder < len(fields) else ""
    return below(place.strip(), fields[at].strip()) if whole else ""


def _other_length(name: str, layout: Layout, line: int, fields: Sequence[str]) -> Problem:
    delimiter = layout.delimiter
    expected = f"expected {counted(len(layout.names), 'field')} ({', '.join(layout.names[:8])})"
    text = delimiter.join(fields)
    other = misdivided(text, layout)
    if other:
        wrong = f"is divided by {DELIMITERS[other]}, not by {DELIMITERS[delimiter]}: {quoted(text)}"
        mend = _line_as(delimiter.join(split(text, other)))
        return Problem(name, f"{wrong}; {expected}{mend}", line, code="mixed-delimiters")
    rest = fields[len(layout.names) :]
    mend = "" if not rest or any(text.strip() for text in rest) else _line_as(text[: -len(rest)])
    message = f"has {counted(len(fields), 'field')}: {quoted(' | '.join(fields))}; {expected}{mend}"
    return Problem(name, message, line, code="field-count")


def _line_as(text: str) -> str:
    """Return the words for a line in a message, to follow the expected ones; empty for a long one."""
    return f": write the line as {quoted(text)}" if len(text) <= SHOWN else ""


def misdivided(text: str, layout: Layout) -> str:
    """Return another table's delimiter by which a text would be a row; empty if there is none.

    With the table's own delimiter the text could be the name of a file.
    """
    times = [i for i in layout.number_positions() if layout.roles[i] in TIMES]
    for other in DELIMITERS:
        fields = [] if other == layout.delimiter else split(text, other)
        if len(fields) == len(layout.names) and all(is_number(fields[i]) for i in times):
            return other
    return ""
