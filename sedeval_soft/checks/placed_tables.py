"""Tables to validate: their rows, the places of rows in the text, and a log of all problems."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from sedeval_soft.checks.names import mapped
from sedeval_soft.errors import InputError, Problem, Severity, quoted
from sedeval_soft.settings import Settings
from sedeval_soft.tables import EMPTY
from sedeval_soft.tables.columns import Layout, normal
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.forms import Reading, read
from sedeval_soft.tables.joined_tables import (
    Members,
    check_alike,
    check_apart,
    check_points,
    folders_left_out,
    paths_below,
    points_in,
    tables_in,
    with_recording,
)
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.lines import DELIMITERS, SOLID, numbered, places_of_fields, records
from sedeval_soft.tables.problem_codes import RULES, problem
from sedeval_soft.tables.rows import ROUNDING, Columns, declares, exchanged
from sedeval_soft.tables.source import Source, open_source
from sedeval_soft.tables.text import origin_of

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
"""From the worst."""

Places = dict[tuple[str, int, int], tuple[int, int]]
"""By source, line and field, all from 1: the first character, and the one after the last, from 1."""

_LABELS = ("event_label", "soft_value")

_OF_COLUMNS = ("parquet", "arrow", "arrow-stream", "jsonl")
"""Formats, beside text, whose rows have columns with names."""

_MANY = 2
"""One line alone explains nothing."""


@dataclass(slots=True)
class Log:
    """Problems of an input: all are counted, and the first `most` of each code stored.

    texts: the sources that were read as text, by name, with their delimiters if known. no_texts: the names of
    other sources, whose problems have no line.
    """

    most: int
    counts: Counter[str] = field(default_factory=Counter)
    stored: dict[str, list[Problem]] = field(default_factory=dict)
    texts: dict[str, tuple[Source, str | None]] = field(default_factory=dict)
    no_texts: set[str] = field(default_factory=set)

    def add(self, *problems: Problem, counts: Mapping[str, int] | None = None) -> None:
        """Enter problems, with the meaning of their codes; counts: number per code, if there are more."""
        self.counts.update(Counter(p.code for p in problems) if counts is None else counts)
        for p in problems:
            stored = self.stored.setdefault(p.code, [])
            if len(stored) < self.most:
                stored.append(problem(p.code, p.source, p.message, p.line, p.column, p.mend))

    def add_error(self, error: InputError) -> None:
        """Enter the error of a reader; raises it again if a file cannot be opened."""
        if any(each.code == "unreadable-file" for each in error.problems):
            raise error
        self.add(*error.problems)

    def count(self, severity: Severity) -> int:
        """Return how many problems have a severity."""
        return sum(number for code, number in self.counts.items() if RULES[code].severity == severity)

    def worst(self) -> tuple[Problem, ...]:
        """Return up to `most` problems by place: the worst, and of these the kinds that are rare.

        A problem of each of a million lines does not hide a problem of one line.
        """
        rank = {severity: i for i, severity in enumerate(SEVERITIES)}
        chosen: list[Problem] = []
        for code in sorted(self.stored, key=lambda code: (rank[RULES[code].severity], self.counts[code])):
            chosen += self.stored[code][: self.most - len(chosen)]
        chosen = [replace(p, line=None, column=None) if p.source in self.no_texts else p for p in chosen]
        sources = {name: i for i, name in enumerate(dict.fromkeys(each.source for each in chosen))}
        # A problem without a line concerns the whole file, and comes last.
        chosen.sort(key=lambda p: (sources[p.source], p.line or math.inf, p.column or 0, rank[p.severity]))
        return tuple(chosen)

    def characters(self, problems: Sequence[Problem]) -> Places:
        """Return the places in their lines of the fields with problems."""
        places: Places = {}
        for name, (source, delimiter) in self.texts.items():
            fields = {(p.line, p.column) for p in problems if p.source == name and p.line and p.column}
            lines = {line for line, _ in fields if line}
            for line, content in islice(numbered(source), max(lines, default=0)):
                if line in lines:
                    text = content if isinstance(content, str) else content.decode("utf-8", "replace")
                    spans = enumerate(_spans(text, delimiter or max(DELIMITERS, key=text.count)), 1)
                    places |= {(name, line, i): span for i, span in spans if (line, i) in fields}
        return places


def _spans(text: str, delimiter: str) -> list[tuple[int, int]]:
    """Return for each field of a line its first character and the one after its last, from 1."""
    return [(begin + 1, end + 1) for begin, _, end in places_of_fields(text, delimiter)]


@dataclass(frozen=True)
class Table:
    """The rows of one text that can be scored.

    lines: Line of each row if the careful reader read them, else looked up later. named: By role, the names
    on lines that cannot be scored, with the first line of each. form: The format, if not text.
    """

    source: Source
    layout: Layout
    rows: EventTable
    lines: Sequence[int] | None = None
    named: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    form: str = ""

    @property
    def name(self) -> str:
        """Return the name of the file as the user gave it."""
        return self.source.name

    @property
    def header(self) -> int | None:
        """Return the line of the header, None without a header."""
        return self.layout.skip or None

    def mapped(self, settings: Settings) -> Table:
        """Return the table with the classes to which its labels are mapped."""
        names = settings.names_of("system")
        labels = self.named.get("event_label", {}).items()
        named = {**self.named, "event_label": {names.get(label, label): line for label, line in labels}}
        return replace(self, rows=mapped("system", self.rows, settings), named=named)

    def names(self, role: str) -> list[str]:
        """Return all names of files or classes (`filename`, `event_label`), also of unscored lines."""
        names = self.rows.files if role == "filename" else self.rows.classes
        return list(dict.fromkeys([*names, *self.named.get(role, ())]))

    def column(self, role: str) -> int | None:
        """Return the column of a role, or of a class of a wide table, from 1."""
        layout = self.layout
        columns = layout.names if layout.wide and role not in layout.roles else layout.roles
        return columns.index(role) + 1 if role in columns else None

    def lines_of(self, rows: npt.NDArray[np.intp] | Sequence[int]) -> list[int]:
        """Return the line of each of some rows."""
        if not len(rows):
            return []
        lines = self._scanned[0] if self.lines is None else self.lines
        return [lines[int(row)] for row in rows]

    def places(self, role: str) -> dict[str, tuple[str, int | None, int | None]]:
        """Return table, line and column of the first place of each name of a file or a class."""
        rows, column = self.rows, self.column(role)
        names, codes = (rows.files, rows.file) if role == "filename" else (rows.classes, rows.label)
        if codes is None:
            return {name: (self.name, self.header, self.column(name)) for name in names}
        if column is None or self.form:
            return dict.fromkeys(names, (self.name, None, None))
        used, first = np.unique(codes, return_index=True)
        lines = dict(self.named.get(role, {}))
        if len(used) < len(names) and role == "filename":
            lines |= self._scanned[1]
        lines |= {names[code]: line for code, line in zip(used, self.lines_of(first), strict=True)}
        return {name: (self.name, line, column) for name, line in lines.items()}

    @cached_property
    def _scanned(self) -> tuple[Sequence[int], dict[str, int]]:
        """The lines of all rows, and the lines that declare files: both in one pass through the text."""
        skip, n_lines = self.layout.skip, len(self.source.data[:].splitlines())
        if n_lines == skip + len(self.rows):
            # No line is blank, and none declares a file.
            return range(skip + 1, n_lines + 1), {}
        lines: list[int] = []
        declared: dict[str, int] = {}
        for line, fields in records(
            self.source, self.layout.delimiter, self.layout.skip, past=self.layout.past
        ):
            if isinstance(fields, list):
                name = declares(self.layout, fields)
                if name:
                    declared.setdefault(name, line)
                else:
                    lines.append(line)
        return lines, declared


def read_tables(
    path: str | os.PathLike[str], log: Log, stdin: BinaryIO | None = None, limits: Limits = LIMITS
) -> list[Table]:
    """Return the tables of a file or folder as far as they can be scored; problems go to the log.

    Raises InputError if no file can be opened.
    """
    name = os.fspath(path)
    if name in {"", "-"} or not os.path.isdir(name):
        return _read(name, log, limits, stdin)
    tables: list[Table] = []
    try:
        if limits.points:
            inner = replace(limits, points=False)
            for table in points_in(name, limits).values():
                if os.path.isdir(table):
                    tables += read_tables(table, log, limits=inner)
                else:
                    tables += _read(table, log, inner, may_be_empty=True)
            check_points([table.rows for table in tables])
            return tables
        paths = tables_in(name, limits)
        labels = paths_below(name, paths)
        members = Members.of(name, labels)
        for note in (*folders_left_out(name, labels), *members.notes):
            log.add(problem("folders-in-folder", name, note))
        limits = replace(limits, by_table=True, only=len(paths) == 1)
        names: list[tuple[str, str]] = []
        for place, *own in zip(members.places, members.labels, members.recordings, strict=True):
            read = _read(paths[place], log, limits, may_be_empty=True)
            tables += read
            names += [(own[0], own[1])] * len(read)
        # A table is of the recording that it is named after, unless it names others.
        tables = [
            replace(t, rows=with_recording(t.rows, recording))
            for t, (_, recording) in zip(tables, names, strict=True)
        ]
        labelled = [(label, t.rows) for t, (label, _) in zip(tables, names, strict=True)]
        check_alike(name, [(label, rows) for label, rows in labelled if len(rows)])
        check_apart(name, labelled)
    except InputError as error:
        log.add_error(error)
    return tables


def _read(
    path: str | os.PathLike[str],
    log: Log,
    limits: Limits,
    stdin: BinaryIO | None = None,
    *,
    may_be_empty: bool = False,
) -> list[Table]:
    """Return the table of a file if it can be scored; problems go to the log."""
    try:
        source = open_source(path, stdin, limits)
    except InputError as error:
        log.add_error(error)
        return []
    return read_source(source, log, limits, may_be_empty=may_be_empty)


def read_source(source: Source, log: Log, limits: Limits, *, may_be_empty: bool = False) -> list[Table]:
    """Return the table of an open file if it can be scored; problems go to the log."""
    log.texts[source.name] = source, None
    try:
        reading = read(source, limits.form("system"), limits, log.most, whole=True)
    except InputError as error:
        if all(each.code == "malformed-file" for each in error.problems):
            log.texts.pop(source.name)  # its lines have no fields as those of text
        log.add_error(error)
        return []
    table = _table(source, reading, log, limits)
    if table is None and (reading.form or SOLID.search(source.data) is None):
        if may_be_empty:
            # A recording without events, whose file has no line.
            nothing = Layout((), (), has_header=False)
            return [Table(source, nothing, EventTable.empty(origin_of(source, nothing)))]
        log.add(problem("empty-file", source.name, EMPTY))
    return [] if table is None else [table]


def _without_lines(source: Source, rows: EventTable, ignored: Sequence[str] = ()) -> Table:
    """Return a table like a text with a header, but without places in lines; ignored: further columns."""
    roles = ("filename", "onset", "offset", *(["class"] * len(rows.classes) if rows.has_steps else _LABELS))
    names = (*roles[:3], *(rows.classes if rows.has_steps else _LABELS))
    others = (None,) * len(ignored)
    layout = Layout((*names, *ignored), (*roles, *others), has_header=True, skip=1)
    plain = replace(rows, origin=replace(rows.origin, notes=()))
    return Table(source, layout, plain, range(2, len(rows) + 2), form=rows.origin.form)


def _table(source: Source, reading: Reading, log: Log, limits: Limits) -> Table | None:
    """Return the rows of a table that can be scored, None if no row can; problems go to the log."""
    layout, rows, found = reading.layout, reading.rows, reading.found
    if layout is None:
        log.no_texts.update([source.name] * bool(reading.form))
        if rows is None:
            return None
        said = {normal(name) for role, name in limits.columns if not role}
        ignored = [name for name in rows.origin.ignored if normal(name) not in said]
        return _without_lines(source, rows, ignored if reading.form in _OF_COLUMNS else ())
    log.texts[source.name] = source, layout.delimiter
    named: dict[str, dict[str, int]] = {"filename": {}, "event_label": {}}
    if found is not None:
        log.add(*found.problems, counts=found.counts)
    if found is not None and found.misread is not None:
        log.add(*_explanations(source, found.misread, len(found.lines)))
        for role in named:
            if (texts := found.misread.texts.get(role)) is not None:
                codes, first = np.unique(texts.codes, return_index=True)
                lines = zip(codes.tolist(), first.tolist(), strict=True)
                named[role] = {
                    texts.names[k]: int(found.misread.lines[row]) for k, row in lines if texts.names[k]
                }
    if rows is not None and (layout.dialect is not None or not layout.timed):
        # Rows are not lines: nothing else than what is wrong with a line is told by it.
        log.no_texts.update([source.name] * (found is None))
        return _without_lines(source, rows) if source.name in log.no_texts else None
    row_lines = None if found is None else found.lines
    return None if rows is None else Table(source, layout, rows, row_lines, named)


def _explanations(source: Source, misread: Columns, n_sound: int) -> Iterator[Problem]:
    """Yield explanations of the problems of a table, if any: its wrong rows, and the number of sound rows."""
    layout, n_misread = misread.layout, len(misread)
    onset, offset = misread.times
    cells = [misread.numbers[at] for at, r in enumerate(layout.roles) if r in {"class", "soft_value"}]
    values = np.concatenate([np.zeros(0), *cells])
    below, above = (int(np.count_nonzero(beyond)) for beyond in (values < -ROUNDING, values > 1 + ROUNDING))
    # Rows without a problem have their values in [0, 1].
    beyond, n_values = below + above, int(np.count_nonzero(~np.isnan(values))) + n_sound
    outside, swapped = f"{beyond} of {n_values} values are", exchanged(misread)
    explanations = (
        ("swapped-times", "offset", n_misread >= _MANY and not n_sound and bool((offset < onset).all()),
         f"all {n_misread} rows have their offset before their onset"),
        ("swapped-columns", "event_label", not n_sound and swapped,
         " and ".join(quoted(layout.names[at]) for at in swapped)
         + " seem to be exchanged in the header: all labels are numbers"),
        ("values-are-logits", "soft_value", below and above and 4 * beyond > n_values,
         f"{outside} outside [0, 1], on both sides: these could be logits"),
        ("values-in-percent", "soft_value",
         above and not below and not (values > 100).any() and 2 * beyond > n_values,
         f"{outside} above 1, none above 100: these could be percentages"),
    )  # fmt: skip
    for code, role, holds, message in explanations:
        if holds:
            column = None if role not in layout.roles else layout.roles.index(role) + 1
            yield problem(code, source.name, message, layout.skip or None, column)
