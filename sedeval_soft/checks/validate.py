"""Validate tables without scoring them: findings of the checks, and their places in the text."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from sedeval_soft.arrays import Floats
from sedeval_soft.checks.alignment import AlignmentReport
from sedeval_soft.checks.names import NAMES, are_swapped, known_spellings, recording_named, similar_names
from sedeval_soft.checks.placed_tables import Log, Table, ignored
from sedeval_soft.checks.rows import BY_LENGTH, CHECKS, LATE, RowStatistics, Side, last_offsets
from sedeval_soft.errors import Problem, Severity, counted, quoted
from sedeval_soft.names import apart, did_you_mean
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import UNNAMED, EventTable, Origin
from sedeval_soft.tables.problem_codes import RULES, problem

_COMPARED = 200_000
"""Number of pairs of names that are compared, letter by letter, to suggest a name."""


@dataclass(frozen=True, slots=True)
class Validation:
    """The outcome of a validation.

    source: The validated path, as the user named it. problems: Reported problems, by place. counts: Number of
    problems per code, reported or not. form: The format. rows, files, classes: Their numbers. mends: The
    fixes in a copy.
    """

    source: str
    problems: tuple[Problem, ...]
    counts: Mapping[str, int]
    form: str = ""
    rows: int = 0
    files: int = 0
    classes: int = 0
    mends: tuple[str, ...] = ()

    @property
    def more(self) -> int:
        """Return the number of problems that are not reported."""
        return sum(self.counts.values()) - len(self.problems)

    def count(self, severity: Severity) -> int:
        """Return the number of problems of a severity, reported or not."""
        return sum(number for code, number in self.counts.items() if RULES[code].severity == severity)

    @property
    def ok(self) -> bool:
        """Whether the table can be scored: there may be warnings and notes."""
        return not self.count("error")


class Expected(NamedTuple):
    """Expected content of tables, and how their files are called.

    classes, whose: Possible classes, and their owner in words. durations: Seconds by file name. listed: Files
    that will be scored; other files are not checked. settings: With the map from labels to classes, which
    both sides have applied already. own: How the reference writes the names of files. report: Findings of the
    names of files.
    """

    reference: EventTable | None
    classes: Sequence[str] | None
    whose: str
    durations: Mapping[str, float]
    listed: Sequence[str]
    settings: Settings = Settings()
    own: Mapping[str, str] = MappingProxyType({})
    report: AlignmentReport = AlignmentReport()

    @property
    def table(self) -> EventTable:
        """Return the reference, or a table of the names alone that are expected."""
        if self.reference is not None:
            return self.reference
        origin = Origin("the durations" if self.durations else "the list")
        return replace(EventTable.empty(origin), files=tuple(self.durations) or tuple(self.listed))

    def sides(self, tables: Sequence[Table]) -> list[Side]:
        """Return the rows of tables with the lengths that their recordings should have."""
        reference = self.table
        ends = zip(reference.files, last_offsets(reference).tolist(), strict=True)
        last = {file: end for file, end in ends if end and reference.origin.timed}
        assumed = {file: end for file, end in last.items() if file not in self.durations}

        def lengths(rows: EventTable, known: Mapping[str, float], otherwise: float) -> Floats:
            names = (self.own.get(file, file) for file in rows.files)
            return np.array([known.get(name, otherwise) for name in names], dtype=float)

        return [
            Side(
                rows,
                lengths(rows, last | {**self.durations}, 0.0),
                lengths(rows, self.durations, np.inf),
                lengths(rows, assumed, np.inf),
                last_offsets(rows),
            )
            for rows in (table.rows for table in tables)
        ]


def check_tables(name: str, tables: Sequence[Table], expected: Expected, log: Log) -> None:
    """Check tables alone, and against the expected content; name: of all, as the user gave it."""
    for table in tables:
        _check_table(table, log)
    if not log.counts and not any(len(table.rows) for table in tables):
        log.add(problem("no-rows", name, "it has no rows", tables[0].layout.skip or None))
    _check_names(name, tables, expected, log)
    sides = expected.sides(tables)
    # Statistics of all tables together, as in scoring.
    timed = [RowStatistics.of(side) for side in sides if side.rows.origin.timed]
    unit = RowStatistics.merge(timed or [RowStatistics()]).unit()
    for table, side in zip(tables, sides, strict=True):
        if len(table.rows):
            _check_rows(table, side, unit, log)


# Names.


def _check_names(name: str, tables: Sequence[Table], expected: Expected, log: Log) -> None:
    """Check the names of files and classes."""
    add, reference, report = partial(_add_names, log, name, tables), expected.reference, expected.report
    files = dict.fromkeys(file for table in tables for file in table.rows.files)
    labels = dict.fromkeys(label for table in tables for label in table.rows.classes)
    for role, names in (("filename", files), ("event_label", labels)):
        add("control-character", [each for each in names if not each.isprintable()], role=role)
    alike = similar_names(labels)
    add("similar-classes", alike, others=alike)
    if reference is not None:
        alike = similar_names(reference.classes)
        _add_names(log, reference.origin.name, (), "similar-classes", alike, others=alike)
    theirs = expected.table
    if not theirs.files:  # names that could be of one file of a reference are reported below
        alike = similar_names(files, recording_named)
        add("similar-files", alike, others=alike)
    swapped = [
        rows.files[:1]
        for rows in (table.rows for table in tables)
        if not rows.has_steps and are_swapped(rows.files, rows.classes, theirs.files, theirs.classes)
    ]
    if swapped:
        add("swapped-columns", swapped[0])
        return
    # Names may be in a table that cannot be read: none is reported as missing then.
    read = {table.name for table in tables}
    errors = (each for code in log.stored if RULES[code].severity == "error" for each in log.stored[code])
    whole = all(each.source in read for each in errors)
    if expected.classes is not None:
        known, where = expected.classes, expected.whose
        named = [label for label in labels if all(label not in table.rows.origin.unknown for table in tables)]
        classes_of = expected.settings.names_of("system")
        unread = {classes_of.get(n, n) for table in tables for n in table.unread.get("event_label", ())}
        spelt = known_spellings(named, [*known, *classes_of])
        add("unknown-class", [n for n in named if n not in {*known, *spelt}], where, known)
        add("class-spelling", [n for n in named if n in spelt], where, others=spelt)
        present = {*named, *spelt.values(), *unread}
        add("missing-class", [n for n in known if whole and n not in present], where)
    if expected.table.files:
        where, missing = f"in {expected.table.origin.name}", sorted(report.missing - {UNNAMED})
        strange = report.extra | report.dropped
        unknown = [file for file in files if expected.own.get(file, file) in strange]
        add("unknown-file", [file for file in unknown if file not in report.ambiguous], where, missing)
        add("ambiguous-file", [file for file in files if file in report.ambiguous], where)
        # In a recording without events nothing can be missed.
        silent = report.silent if reference is not None else ()
        add("missing-file", [file for file in missing if whole and file not in silent])


def _add_names(
    log: Log,
    source: str,
    tables: Sequence[Table],
    code: str,
    names: Collection[str],
    where: str = "",
    known: Sequence[str] = (),
    others: Mapping[str, str] = MappingProxyType({}),
    role: str = "",
) -> None:
    """Enter a problem of each name at its first place, or of the source for a name without a place.

    where: the list that lacks them, in words. known: names of which they may be misspellings. others: the
    intended name for each name. role: of the column, if the code covers several.
    """
    places: dict[str, tuple[str, int | None, int | None]] = {}
    for table in reversed(tables if names else ()):
        places |= table.places(role or NAMES[code].column)
    few, problems = len(names) * len(known) <= _COMPARED, []
    for name in islice(names, log.most):
        hint = did_you_mean(name, known, n=1) if few else ""
        shown, other = apart(name, others.get(name, ""), quoted)
        message = NAMES[code].placed.format(name=shown, where=where, other=other, hint=hint)
        mend = f"write {other}" if code == "class-spelling" else ""
        place = places.get(name, (source, None, None))
        problems.append(problem(code, place[0], message, *place[1:], mend))
    log.add(*problems, counts={code: len(names)} if names else {})


# One table.


def _check_table(table: Table, log: Log) -> None:
    """Check the names and the values of one table alone."""
    rows, layout = table.rows, table.layout
    for i, (name, role_) in enumerate(zip(layout.names, layout.roles, strict=True)):
        if layout.has_header and role_ is None and i not in layout.settled:
            log.add(ignored(table.name, name, table.layout.skip or None, i + 1))
    log.add(*(problem("assumed", table.name, text) for text in rows.origin.assumed))
    # Notes on other forms than text are not about values.
    notes = rows.origin.notes if layout.names else ()
    log.add(*(problem("value-rounded", table.name, note) for note in notes))
    if len(rows) and rows.values and all(((values == 0) | (values == 1)).all() for values in rows.values):
        text = "all values are 0 or 1; soft scores are between them"
        place = layout.skip or None, table.column("soft_value")
        log.add(problem("values-all-hard", table.name, text, *place))


def _check_rows(table: Table, side: Side, unit: Mapping[str, Any], log: Log) -> None:
    """Enter the findings of the checks in the rows of a table. unit: facts on wrong times of all tables."""
    rows = side.rows
    for code, check in CHECKS.items():
        no_unit = code == "time-unit" and not (unit and side.last.max() >= unit["offset"])
        if no_unit or (code in BY_LENGTH and (unit or not rows.origin.timed)):
            continue
        found, about, facts = check.find(side)
        # Thousands of rows may touch or end after the last event of a reference, and frames of a window go on
        # after the end of what they were made of in all recordings alike: the first is told, and how many
        # others there are.
        once = code in ("touching-rows", "after-reference") or (code in LATE and rows.has_steps)
        more = f", and {counted(len(found) - 1, 'other row')} likewise" if once and len(found) > 1 else ""
        problems = []
        for i in np.argsort(found, kind="stable")[: 1 if once else log.most]:
            at = (found if about is None else about)[i]
            of_row = {fact: np.broadcast_to(value, len(found))[i] for fact, value in facts.items()}
            of_row |= {"onset": rows.onset[at], "offset": rows.offset[at], "line": table.lines[at]}
            text = check.placed.format(**{**unit, **of_row, "likewise": more})
            line = table.lines[found[i]] if table.layout.names else None  # else rows are not lines
            problems.append(problem(code, table.name, text, line, table.column(check.column)))
        log.add(*problems, counts={code: len(problems) if once else len(found)} if problems else {})
