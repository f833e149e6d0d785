"""Tables to validate: their rows, the lines of rows in the text, and a log of all problems."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import BinaryIO

import numpy as np

from sedeval_soft.errors import InputError, Problem, Severity, quoted
from sedeval_soft.names import did_you_mean
from sedeval_soft.tables import EMPTY
from sedeval_soft.tables.columns import Layout, normal
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.forms import read
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
from sedeval_soft.tables.lines import records
from sedeval_soft.tables.problem_codes import RULES, problem
from sedeval_soft.tables.rows import ROUNDING, Findings, declares, exchanged
from sedeval_soft.tables.source import Source, open_source
from sedeval_soft.tables.text import origin_of

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
"""From the worst."""

_NO_COLUMNS = Layout((), (), has_header=False)
"""The layout of a table whose rows are not lines."""

_OF_COLUMNS = ("parquet", "arrow", "arrow-stream", "jsonl")
"""Formats, beside text, whose rows have columns with names."""

_MANY = 2
"""One line alone explains nothing."""


@dataclass(slots=True)
class Log:
    """Problems of an input: all are counted, and the first `most` of each code stored."""

    most: int
    counts: Counter[str] = field(default_factory=Counter)
    stored: dict[str, list[Problem]] = field(default_factory=dict)

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

    def worst(self) -> tuple[Problem, ...]:
        """Return up to `most` problems by place: the worst, and of these the kinds that are rare.

        A problem of each of a million lines does not hide a problem of one line.
        """
        rank = {severity: i for i, severity in enumerate(SEVERITIES)}
        codes = sorted(self.stored, key=lambda code: (rank[RULES[code].severity], self.counts[code]))
        chosen = [p for code in codes for p in self.stored[code]][: self.most]
        sources = list(dict.fromkeys(each.source for each in chosen))
        # A problem without a line concerns the whole file, and comes last.
        chosen.sort(
            key=lambda p: (sources.index(p.source), p.line or math.inf, p.column or 0, rank[p.severity])
        )
        return tuple(chosen)


@dataclass(frozen=True)
class Table:
    """The rows of one text that can be scored, and the line of each.

    unread: by role, the names of files and classes on lines that cannot be scored: they are not missing.
    """

    source: Source
    layout: Layout
    rows: EventTable
    lines: Sequence[int] = ()
    unread: Mapping[str, Collection[str]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Return the name of the file as the user gave it."""
        return self.source.name

    def column(self, role: str) -> int | None:
        """Return the column of a role, or of a class of a wide table, from 1."""
        layout = self.layout
        columns = layout.names if layout.wide and role not in layout.roles else layout.roles
        return columns.index(role) + 1 if role in columns else None

    def places(self, role: str) -> dict[str, tuple[str, int | None, int | None]]:
        """Return table, line and column of the first place of each name of a file or a class."""
        rows, column = self.rows, self.column(role)
        names, codes = (rows.files, rows.file) if role == "filename" else (rows.classes, rows.label)
        if codes is None:
            return {name: (self.name, self.layout.skip or None, self.column(name)) for name in names}
        lines = dict[str, int]()
        if column is not None:
            used, first = np.unique(codes, return_index=True)
            if role == "filename" and len(used) < len(names):
                layout = self.layout
                texts = records(self.source, layout.delimiter, layout.skip, past=layout.past)
                named = ((declares(layout, cells), line) for line, cells in texts if isinstance(cells, list))
                lines |= reversed([*named])  # the first of several lines
            lines |= {names[code]: self.lines[row] for code, row in zip(used, first, strict=True)}
        return {name: (self.name, lines.get(name), column) for name in names}


def read_tables(
    path: str | os.PathLike[str],
    log: Log,
    stdin: BinaryIO | None = None,
    limits: Limits = LIMITS,
    *,
    may_be_empty: bool = False,
) -> list[Table]:
    """Return the tables of a file or folder as far as they can be scored; problems go to the log.

    may_be_empty: whether a file without any line is a table without rows. Raises InputError if no file can be
    opened.
    """
    name, tables = os.fspath(path), list[Table]()
    try:
        if name in {"", "-"} or not os.path.isdir(name):
            return _read(name, log, limits, stdin, may_be_empty=may_be_empty)
        if limits.points:
            for point in points_in(name, limits).values():
                tables += read_tables(point, log, limits=replace(limits, points=False), may_be_empty=True)
            check_points([table.rows for table in tables])
            return tables
        paths = tables_in(name, limits)
        labels = paths_below(name, paths)
        members = Members.of(name, labels)
        for note in (*folders_left_out(name, labels), *members.notes):
            log.add(problem("folders-in-folder", name, note))
        limits = replace(limits, by_table=True, only=len(paths) == 1)
        # A table is of the recording that it is named after, unless it names others.
        named = [
            (label, replace(table, rows=with_recording(table.rows, recording)))
            for place, label, recording in zip(
                members.places, members.labels, members.recordings, strict=True
            )
            for table in read_tables(paths[place], log, limits=limits, may_be_empty=True)
        ]
        tables = [table for _, table in named]
        check_alike(name, [(label, table.rows) for label, table in named if len(table.rows)])
        check_apart(name, [(label, table.rows) for label, table in named])
    except InputError as error:
        log.add_error(error)
    return tables


def _read(
    path: str, log: Log, limits: Limits, stdin: BinaryIO | None = None, *, may_be_empty: bool = False
) -> list[Table]:
    """Return the table of a file if it can be scored; raises InputError."""
    source = open_source(path, stdin, limits)
    form, rows, layout, found = read(source, limits.form("system"), limits, log.most)
    if layout is not None:
        lines = range(layout.skip + 1, len(source.data[:].splitlines()) + 1)
        plain = found is None and layout.dialect is None and layout.timed
        if rows is not None and plain and len(lines) == len(rows):
            # Each line after the header is a row.
            return [Table(source, layout, rows, lines)]
        form, rows, layout, found = read(source, limits.form("system"), limits, log.most, whole=True)
    if found is not None:
        log.add(*found.problems, counts=found.counts)
        log.add(*_explanations(source.name, found))
    if layout is None and rows is None:
        if may_be_empty:
            # A recording without events, whose file has no line.
            return [Table(source, _NO_COLUMNS, EventTable.empty(origin_of(source, _NO_COLUMNS)))]
        log.add(problem("empty-file", source.name, EMPTY))
    if rows is None:
        return []
    if layout is not None and found is not None and layout.dialect is None and layout.timed:
        texts = found.misread.texts if found.misread is not None else {}
        unread = {role: {each.names[code] for code in {*each.codes.tolist()}} for role, each in texts.items()}
        return [Table(source, layout, rows, found.lines, unread)]
    # Rows of other forms are not lines: their rows are not checked beside errors that have lines.
    if found is not None and found.problems:
        return []
    without_role = {normal(name) for role, name in limits.columns if not role}
    for column in rows.origin.ignored if form in _OF_COLUMNS else ():
        log.add(*[ignored(source.name, column)] * (normal(column) not in without_role))
    return [Table(source, _NO_COLUMNS, rows, range(2, len(rows) + 2))]


def ignored(source: str, column: str, line: int | None = None, at: int | None = None) -> Problem:
    """Return the note on a column that plays no role."""
    meant = ("soft_value", "value", "score", "filename")
    hint = did_you_mean(column.lower(), meant, n=1, cutoff=0.8)
    return problem("ignored-column", source, f"column {quoted(column)} is ignored{hint}", line, at)


def _explanations(name: str, found: Findings) -> Iterator[Problem]:
    """Yield explanations of the problems of a table, if any, by its wrong rows."""
    misread, n_sound = found.misread, len(found.lines)
    if misread is None or not len(misread):
        return
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
            yield problem(code, name, message, layout.skip or None, column)
