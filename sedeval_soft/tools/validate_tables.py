"""Tables that are looked at: their rows, where these stand in the text, and the problems that are found."""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import BinaryIO, TypeAlias

import numpy as np
import numpy.typing as npt

from sedeval_soft.errors import InputError, Problem, Severity, counted
from sedeval_soft.tables.columns import Layout, layout_of_row
from sedeval_soft.tables.compressed import Bytes
from sedeval_soft.tables.event_table import EventTable, Origin
from sedeval_soft.tables.files import seem_thresholds, stem_of, tables_in
from sedeval_soft.tables.forms import form_at_once, form_instead, read_as
from sedeval_soft.tables.joined_tables import are_lists_of_one, check_alike, check_apart, with_recording
from sedeval_soft.tables.limits import LIMITS, Limits, for_members, over_limit
from sedeval_soft.tables.paths import is_folder
from sedeval_soft.tables.problem_codes import RULES, problem
from sedeval_soft.tables.sniff import Sniffed, sniff
from sedeval_soft.tables.source import Source, open_source
from sedeval_soft.tables.text import read_fast
from sedeval_soft.tables.text_errors import Found, declares, rows_found, scan
from sedeval_soft.tables.text_lines import DELIMITERS, is_blank, numbered, records
from sedeval_soft.tables.unclear_columns import only_the_user_knows

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
"""From the worst."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What a table is held against.

    reference: rows of it. classes: those that there can be, and whose they are, in words. durations: seconds
    by file name.
    """

    reference: EventTable | None = None
    classes: Sequence[str] | None = None
    whose: str = "in the settings"
    durations: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Validation:
    """The outcome of a validation.

    source: what was looked at, as the user named it. problems: those that are told, by place. counts: how
    many there are of each code, told or not. form: how the table was read; rows, files, classes: how many it
    has. mends: what was corrected in a copy. characters: where the fields of problems stand in their lines.
    """

    source: str
    problems: tuple[Problem, ...]
    counts: Mapping[str, int]
    form: str = ""
    rows: int = 0
    files: int = 0
    classes: int = 0
    mends: tuple[str, ...] = ()
    characters: Mapping[tuple[str, int, int], tuple[int, int]] = field(default_factory=dict)

    @property
    def more(self) -> int:
        """Return how many problems are not told."""
        return sum(self.counts.values()) - len(self.problems)

    def count(self, severity: Severity) -> int:
        """Return how many problems have a severity, told or not."""
        return sum(number for code, number in self.counts.items() if RULES[code].severity == severity)

    @property
    def ok(self) -> bool:
        """Whether the table can be scored: there may be warnings and notes."""
        return not self.count("error")


@dataclass(slots=True)
class Log:
    """Problems as they are found: all are counted, the first `most` of each code are kept.

    sources: the texts that were looked at, with their delimiters where these are known. unplaced: names of
    sources that are no text, whose problems have no line.
    """

    most: int
    counts: Counter[str] = field(default_factory=Counter)
    kept: dict[str, list[Problem]] = field(default_factory=dict)
    sources: dict[str, tuple[Source, str | None]] = field(default_factory=dict)
    unplaced: set[str] = field(default_factory=set)

    def add(self, *problems: Problem) -> None:
        """Enter some problems."""
        for each in problems:
            self.add_many(each.code, 1, [each])

    def add_many(self, code: str, number: int, problems: Iterable[Problem]) -> None:
        """Enter `number` problems of one code, of which those given are known by their place."""
        if not number:
            return
        self.counts[code] += number
        kept = self.kept.setdefault(code, [])
        for each in problems:
            if len(kept) >= self.most:
                break
            kept.append(each)

    def told(self) -> tuple[Problem, ...]:
        """Return up to `most` problems by place: the worst first, and of these the kinds that are rare.

        What is wrong in each of a million lines does not hide what is wrong once.
        """
        chosen: list[Problem] = []
        rank = {severity: i for i, severity in enumerate(SEVERITIES)}
        for code in sorted(self.kept, key=lambda code: (rank[RULES[code].severity], self.counts[code])):
            chosen += self.kept[code][: self.most - len(chosen)]
        chosen = [replace(p, line=None, column=None) if p.source in self.unplaced else p for p in chosen]
        sources = {source: i for i, source in enumerate(dict.fromkeys(problem.source for problem in chosen))}
        return tuple(
            sorted(
                chosen,
                # What has no line is of the whole file, and comes last.
                key=lambda p: (sources[p.source], p.line or math.inf, p.column or 0, rank[p.severity]),
            )
        )


Places: TypeAlias = dict[tuple[str, int, int], tuple[int, int]]
"""By source, line and field, all from 1: the first character, and the one after the last, from 1."""


def characters(problems: Iterable[Problem], sources: Mapping[str, tuple[Source, str | None]]) -> Places:
    """Return where the fields of some problems stand; sources: texts by name, with their delimiters."""
    wanted: dict[str, dict[int, set[int]]] = {}
    for each in problems:
        if each.line is not None and each.column is not None and each.source in sources:
            wanted.setdefault(each.source, {}).setdefault(each.line, set()).add(each.column)
    places: Places = {}
    for name, lines in wanted.items():
        source, delimiter = sources[name]
        last = max(lines)
        for number, content in numbered(source):
            if number in lines:
                text = content if isinstance(content, str) else content.decode("utf-8", "replace")
                spans = spans_of(text, delimiter or max(DELIMITERS, key=text.count))
                for column in lines[number]:
                    if column <= len(spans):
                        places[name, number, column] = spans[column - 1]
            if number >= last:
                break
    return places


def spans_of(text: str, delimiter: str) -> list[tuple[int, int]]:
    """Return for each field of a line its first character and the one after its last, from 1."""
    spans: list[tuple[int, int]] = []
    begin = at = 0
    while at <= len(text):
        if at == begin and text.startswith('"', at):
            at = _behind_quotes(text, at + 1)
            continue
        if at == len(text) or text[at] == delimiter:
            spans.append((begin + 1, at + 1))
            begin = at + 1
        at += 1
    return spans


def _behind_quotes(text: str, at: int) -> int:
    """Return where a field in quotes that begins before a position is closed."""
    while at < len(text):
        if text[at] == '"':
            if not text.startswith('""', at):
                return at + 1
            at += 1
        at += 1
    return len(text)


_MANY = 2
"""One line alone explains nothing."""


def explained(source: Source, sniffed: Sniffed, found: Found) -> Iterator[Problem]:
    """Yield what explains the problems of a table, if anything does."""
    facts, layout = found.facts, sniffed.layout
    header = sniffed.skip or None
    place = layout.position("offset")
    if facts["backwards"] >= _MANY and not found.numbers and facts["backwards"] == facts["lines"]:
        message = f"all {facts['backwards']} rows have their offset before their onset"
        yield problem("swapped-times", source.name, message, header, None if place is None else place + 1)
    value, label = layout.position("soft_value"), layout.position("event_label")
    if facts["swapped"] >= _MANY and value is not None and label is not None and not found.numbers:
        message = f"{layout.names[label]} holds numbers, {layout.names[value]} does not"
        yield problem("swapped-columns", source.name, message, header, label + 1)
    # Rows without a problem have their values in [0, 1].
    beyond, values = facts["below"] + facts["above"], facts["values"] + len(found.numbers)
    column = None if layout.wide or value is None else value + 1
    if facts["below"] and facts["above"] and 4 * beyond > values:
        message = f"{beyond} of {values} values are outside [0, 1], on both sides: these could be logits"
        yield problem("values-are-logits", source.name, message, header, column)
    elif facts["above"] and not facts["below"] and not facts["beyond percent"] and 2 * beyond > values:
        message = f"{beyond} of {values} values are above 1, none above 100: these could be percentages"
        yield problem("values-in-percent", source.name, message, header, column)


_PIECE = 1 << 22
_END = re.compile(rb"\r\n|\r|\n")
_CALLED = {b"\r\n": "CRLF", b"\r": "CR", b"\n": "LF"}


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of one text that can be scored.

    lines: of each row, where the careful pass read them; else they are looked up. named: by role, names on
    lines that cannot be scored, and the first such line of each. form: how it was read, if not as text.
    """

    source: Source
    sniffed: Sniffed
    rows: EventTable
    lines: Sequence[int] | None = None
    named: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    form: str = ""
    _lines: list[int] = field(default_factory=list)
    _declared: dict[str, int] = field(default_factory=dict)

    @property
    def files(self) -> list[str]:
        """Return all names of files, those on lines that cannot be scored, too."""
        return list(dict.fromkeys([*self.rows.files, *self.named.get("filename", ())]))

    @property
    def classes(self) -> list[str]:
        """Return all names of classes, those on lines that cannot be scored, too."""
        return list(dict.fromkeys([*self.rows.classes, *self.named.get("event_label", ())]))

    @property
    def name(self) -> str:
        """Return the name of the file as the user gave it."""
        return self.source.name

    def column(self, role: str) -> int | None:
        """Return the column of a role, or of a class of a wide table, from 1."""
        layout = self.sniffed.layout
        at = layout.position(role)
        if at is None and layout.wide and role in layout.names:
            at = layout.names.index(role)
        return None if at is None else at + 1

    def lines_of(self, rows: npt.NDArray[np.intp] | Sequence[int]) -> list[int]:
        """Return the line of each of some rows."""
        wanted = [int(row) for row in rows]
        if self.lines is not None:
            return [self.lines[row] for row in wanted]
        first = self.sniffed.skip + 1
        if _one_line_each(self.source.data, self.sniffed.skip + len(self.rows)):
            return [first + row for row in wanted]
        self._look_up()
        return [self._lines[row] for row in wanted]

    def lines_of_declared(self) -> dict[str, int]:
        """Return the lines that declare files, by these."""
        self._look_up()
        return self._declared

    def _look_up(self) -> None:
        """Go through the text once, and keep the lines of all rows and declared files."""
        if self._lines or self._declared:
            return
        for line, fields in records(self.source, self.sniffed.delimiter, self.sniffed.skip):
            if isinstance(fields, list):
                declared = declares(self.sniffed.layout, fields, self.sniffed.delimiter)
                if declared:
                    self._declared.setdefault(declared, line)
                else:
                    self._lines.append(line)


def _line_ends(data: Bytes) -> tuple[int, int, int]:
    """Return how many lines of a text end in LF alone, in CR alone and in both."""
    feeds = returns = both = 0
    for at in range(0, len(data), _PIECE):
        piece = data[at : at + _PIECE]
        feeds += piece.count(b"\n")
        if b"\r" in piece:
            returns += piece.count(b"\r")
            # One byte more, so that a pair on the border of two pieces counts, once.
            both += data[at : at + _PIECE + 1].count(b"\r\n")
    return feeds - both, returns - both, both


def _one_line_each(data: Bytes, lines: int) -> bool:
    """Return whether a text has just so many lines: none is blank, then, and none declares a file."""
    return sum(_line_ends(data)) + (data[-1:] not in {b"\n", b"\r", b""}) == lines


def read_tables(
    path: str | os.PathLike[str], log: Log, stdin: BinaryIO | None = None, limits: Limits = LIMITS
) -> list[Table]:
    """Return the tables of a file or folder as far as they can be scored; what cannot goes to the log.

    Raises InputError where nothing can be opened.
    """
    name = os.fspath(path)
    if name in {"", "-"} or not is_folder(name):
        source = _opened(name, log, limits, stdin)
        return [] if source is None else list(_read(source, log, limits))
    tables: list[Table] = []
    try:
        paths = tables_in(name, limits)
        of_each = for_members(limits, only=len(paths) == 1)
        for inner in paths:
            source = _opened(inner, log, limits)
            if source is not None:
                tables += _read(source, log, of_each, may_be_empty=True)
        if seem_thresholds([t.name for t in tables]) and are_lists_of_one([t.rows for t in tables]):
            message = f"the names of {counted(len(tables), 'table')} hold thresholds"
            log.add(problem("operating-points", name, message))
            return tables
        # Who is not at a threshold is of the recording that it is named after, unless it names others.
        tables = [
            replace(table, rows=with_recording(table.rows, stem_of(PurePath(table.name).name)))
            for table in tables
        ]
        parts = [(table.name, table.rows) for table in tables]
        check_alike(name, parts)
        check_apart(name, parts)
    except InputError as error:
        if any(problem.code == "unreadable-file" for problem in error.problems):
            raise
        log.add(*map(known, error.problems))
    return tables


def _opened(
    path: str | os.PathLike[str], log: Log, limits: Limits, stdin: BinaryIO | None = None
) -> Source | None:
    """Return the text of a file, None where it is no text; raises InputError where it cannot be opened."""
    try:
        return open_source(path, stdin, limits)
    except InputError as error:
        if any(problem.code == "unreadable-file" for problem in error.problems):
            raise
        log.add(*map(known, error.problems))
        return None


def known(found: Problem) -> Problem:
    """Return a problem of a reader with the severity and the mend of its code."""
    return problem(found.code, found.source, found.message, found.line, found.column, found.mend)


def _read(source: Source, log: Log, limits: Limits, *, may_be_empty: bool = False) -> Iterator[Table]:
    """Yield the table of a source, if it can be scored; what is wrong with it goes to the log."""
    try:
        form = form_at_once(source)
        table = _of_other(source, form, log, limits) if form else _of_text(source, log, limits)
    except InputError as error:
        log.add(*map(known, error.problems))
        return
    if table is not None:
        yield table
    elif form or is_blank(source.data):
        if may_be_empty:
            yield _silent(source)
            return
        message = "is empty; expected a table (an output without events is written as a header alone)"
        log.add(problem("empty-file", source.name, message))


def _of_other(source: Source, form: str, log: Log, limits: Limits) -> Table | None:
    """Look at a table of another form as the text that it would be, whose lines mean nothing."""
    from sedeval_soft.tables.delimited import write_table

    rows = read_as(form, source, limits)
    if rows is None:
        return None
    try:
        data = write_table(rows, "\t", header=True, form="wide" if rows.is_wide else "long")
    except InputError as error:
        # A name that no table of text can hold.
        coded = [
            replace(p, code="control-character") if p.code == "cannot-hold" else p for p in error.problems
        ]
        raise InputError(coded, error.more) from error
    log.unplaced.add(source.name)
    table = _of_text(Source(source.name, data, lambda: source.sha256), log, limits)
    return None if table is None else replace(table, form=rows.origin.form)


def _of_text(source: Source, log: Log, limits: Limits) -> Table | None:
    """Look at a table of text; None where it is empty, or has no rows that can be scored."""
    log.sources[source.name] = source, None
    try:
        sniffed = sniff(source, limits)
    except InputError as error:
        form = "" if over_limit(error) or only_the_user_knows(error) else form_instead(source)
        if not form:
            raise
        return _of_other(source, form, log, limits)
    if sniffed is None:
        return None
    log.sources[source.name] = source, sniffed.delimiter
    rows, lines, named = read_fast(source, sniffed, limits), None, dict[str, dict[str, int]]()
    if rows is None:
        found = scan(source, sniffed, log.most, limits, whole=True)
        form = form_instead(source, sniffed) if found.counts else ""
        if form:
            return _of_other(source, form, log, limits)
        _check_line_ends(source, log)
        for code, number in found.counts.items():
            log.add_many(code, number, (known(each) for each in found.problems if each.code == code))
        log.add(*explained(source, sniffed, found))
        rows, lines, named = rows_found(source, sniffed, found, limits), found.lines, found.named
    else:
        _check_line_ends(source, log)
    return None if rows is None else Table(source, sniffed, rows, lines, named)


def _silent(source: Source) -> Table:
    """Return the table of a recording without events, whose file has no line."""
    layout = layout_of_row(["0", "1", "label"]) or Layout((), (), has_header=False)
    return Table(source, Sniffed("\t", layout, 0), EventTable.empty(Origin(source.name)))


def _check_line_ends(source: Source, log: Log) -> None:
    """Note the first line that ends otherwise than the one before it."""
    if source.data.find(b"\r") < 0 or _line_ends(source.data).count(0) >= 2:
        return
    first = b""
    for line, end in enumerate(_END.finditer(source.data), 1):
        first = first or end[0]
        if end[0] != first:
            message = f"ends in {_CALLED[end[0]]}, the lines before it in {_CALLED[first]}"
            log.add(problem("mixed-line-ends", source.name, message, line))
            return
