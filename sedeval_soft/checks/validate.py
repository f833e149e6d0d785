"""Validate tables without scoring them: findings of the checks, and their places in the text."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from sedeval_soft.arrays import Bools
from sedeval_soft.checks.alignment import AlignmentReport, match_files, name_single_file
from sedeval_soft.checks.names import NAMES, are_swapped, known_spellings, similar_names
from sedeval_soft.checks.placed_tables import Log, Places, Table, read_tables
from sedeval_soft.checks.row_statistics import PlacedRow, RowStatistics
from sedeval_soft.checks.rows import CHECKS, Placed, Side, last_offsets, last_row
from sedeval_soft.errors import InputError, Problem, Severity, be, counted, quoted
from sedeval_soft.names import apart, did_you_mean
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import UNNAMED, EventTable, Origin
from sedeval_soft.tables.filenames import listing
from sedeval_soft.tables.joined_tables import thresholds_in
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.problem_codes import RULES, problem
from sedeval_soft.tables.source import spelled

_COMPARED = 200_000
"""Number of pairs of names that are compared, letter by letter, to suggest a name."""

_BY_LENGTH = ("long-recording", "after-end", "early-end")
"""Checks of rows that are meaningless if times are in another unit."""


@dataclass(frozen=True, slots=True)
class Validation:
    """The outcome of a validation.

    source: The validated path, as the user named it. problems: Reported problems, by place. counts: Number of
    problems per code, reported or not. form: The format. rows, files, classes: Their numbers. mends: The
    fixes in a copy. characters: Places in their lines of the fields with problems.
    """

    source: str
    problems: tuple[Problem, ...]
    counts: Mapping[str, int]
    form: str = ""
    rows: int = 0
    files: int = 0
    classes: int = 0
    mends: tuple[str, ...] = ()
    characters: Places = field(default_factory=dict)

    @property
    def more(self) -> int:
        """Return the number of problems that are not reported."""
        return sum(self.counts.values()) - len(self.problems)

    def count(self, severity: Severity) -> int:
        """Return the number of problems of a severity, reported or not."""
        return sum(number for code, number in self.counts.items() if RULES[code].severity == severity)

    def span(self, problem: Problem) -> tuple[int, int] | None:
        """Return the first character of a problem's field and the one after its last, if it has one."""
        return self.characters.get((problem.source, problem.line or 0, problem.column or 0))

    @property
    def ok(self) -> bool:
        """Whether the table can be scored: there may be warnings and notes."""
        return not self.count("error")


class Expected(NamedTuple):
    """Expected content of tables.

    classes, whose: Possible classes, and their owner in words. durations: Seconds by file name. listed: Files
    that will be scored; other files are not checked. settings: With the map from labels to classes, which the
    reference has applied already.
    """

    reference: EventTable | None
    classes: Sequence[str] | None
    whose: str
    durations: Mapping[str, float]
    listed: Sequence[str]
    settings: Settings = Settings()

    @property
    def named_by(self) -> str:
        """Return in words the source of the expected file names."""
        return "reference" if self.reference is not None else "durations" if self.durations else "list"

    @property
    def table(self) -> EventTable:
        """Return the reference, or a table of the names alone that are expected."""
        if self.reference is not None:
            return self.reference
        return replace(
            EventTable.empty(Origin(f"the {self.named_by}")),
            files=tuple(self.durations) or tuple(self.listed),
        )

    def sides(
        self, tables: Sequence[Table], own: Mapping[str, str], durations: Mapping[str, float]
    ) -> list[Side]:
        """Return the rows of tables with the lengths that their recordings should have.

        own: the name of each file; durations: seconds by these names.
        """
        reference, least = self.reference, dict[str, float]()
        if reference is not None and reference.origin.timed:
            ends = zip(reference.files, last_offsets(reference).tolist(), strict=True)
            least = {file: end for file, end in ends if end}
        # Time steps are of all of a recording; events may end long before it does.
        whole = {**(least if reference is not None and reference.has_steps else {}), **durations}
        least, sides = {**least, **whole}, []
        for rows in (table.rows for table in tables):
            names = [own.get(file, file) for file in rows.files]
            times = [(least.get(file, 0.0), whole.get(file, np.inf)) for file in names]
            expected, exact = np.array(times).reshape(-1, 2).T
            sides.append(Side(rows, expected, exact, last_offsets(rows)))
        return sides


def look_at(
    system: str | os.PathLike[str], expected: Expected, log: Log, stdin: BinaryIO | None, limits: Limits
) -> Validation:
    """Return all problems of a table or a folder of tables, compared with the expected content."""
    name, form = spelled(os.fspath(system)), ""
    tables = read_tables(system, log, stdin, limits)
    both = [table.rows for table in tables]
    both += [] if expected.reference is None else [expected.reference]
    vain = [{*limits.as_read(each.origin, "").lacking} for each in both]
    log.add(*(problem("no-effect", name, text) for text in sorted(set.intersection(*vain) if tables else ())))
    if expected.settings.map:
        tables = [table.mapped(expected.settings) for table in tables]
    if tables:
        tables = check_tables(name, tables, expected, log)
        # How the first table with rows was read.
        first = next((table for table in tables if len(table.rows)), tables[0])
        form = first.rows.origin.form
        if tables[0].name != name:
            points = thresholds_in([table.name for table in tables]) if limits.points else None
            several = f"folder of {counted(len(tables), 'table')}"
            if points:
                several = f"{counted(len(points), 'operating point')} at {min(points)!r} to {max(points)!r}"
            form = f"{several}, {form}"
    problems = log.worst()
    return Validation(
        source=name,
        problems=problems,
        counts=dict(log.counts),
        form=form,
        rows=sum(len(table.rows) for table in tables),
        files=len({file for table in tables for file in table.rows.files}),
        classes=len({label for table in tables for label in table.rows.classes}),
        characters=log.characters(problems),
    )


def check_tables(name: str, tables: list[Table], expected: Expected, log: Log) -> list[Table]:
    """Check tables against the expected content; return the validated tables, with files named alike.

    name: of all the tables, as the user gave it.
    """
    own: Mapping[str, str] = {file: file for table in tables for file in table.names("filename")}
    report, lengths = AlignmentReport(), dict[str, float]()
    try:
        tables, expected = _name_files(tables, expected)
        files = tuple(dict.fromkeys(file for table in tables for file in table.names("filename")))
        system = replace(EventTable.empty(Origin(name)), files=files)
        of = expected.durations or None, expected.listed or None
        _, own, lengths, report = match_files(expected.table, system, *of)
    except InputError as error:
        log.add_error(error)
        expected = expected._replace(reference=None)
    if expected.listed:
        tables, expected = _only_listed(name, tables, expected, report, own, log)
    for table in tables:
        _check_table(table, log)
    if not log.counts and not any(len(table.rows) for table in tables):
        log.add(problem("no-rows", name, "it has no rows", tables[0].header))
    for wrong in (*_classes(tables, expected), *_files(tables, expected, report, own)):
        if "missing-filename-column" not in log.counts or NAMES[wrong.code].column != "filename":
            _add_names(log, name, tables, wrong)
    if expected.reference is not None:
        alike = similar_names(expected.reference.classes)
        _add_names(log, expected.reference.origin.name, (), Wrong("similar-classes", alike, others=alike))
    sides = expected.sides(tables, own, lengths)
    # Statistics of all tables together, as in scoring.
    timed = [RowStatistics.of(side) for side in sides if side.rows.origin.timed]
    statistics = RowStatistics.merge(timed or [RowStatistics()])
    for table, side in zip(tables, sides, strict=True):
        if len(table.rows):
            _check_rows(table, side, statistics, log)
    return tables


def _name_files(tables: Sequence[Table], expected: Expected) -> tuple[list[Table], Expected]:
    """Return tables with files named as expected, and the expected content; raises InputError."""
    named = []
    for table in tables:
        reference, rows = name_single_file(expected.table, table.rows, expected.durations)
        named.append(replace(table, rows=rows))
        if expected.reference is not None:
            expected = expected._replace(reference=reference)
    return named, expected


def _only_listed(
    name: str,
    tables: list[Table],
    expected: Expected,
    report: AlignmentReport,
    own: Mapping[str, str],
    log: Log,
) -> tuple[list[Table], Expected]:
    """Return tables and reference of listed files only. own: how the reference writes the names of files."""
    unknown, hint = report.not_listed(expected.listed)
    if unknown:
        text = NAMES["listed-file"].placed.format(files=listing(unknown, "listed file"), are=be(len(unknown)))
        log.add(problem("listed-file", name, text + hint))
    left_out = [file for file in own if own[file] in report.system_outside]
    chosen = []
    if left_out:
        text = f"{listing(left_out, 'file')} {be(len(left_out))} not listed, and not looked at"
        log.add(problem("files-left-out", name, text))
    for table in tables:
        rows, lines = table.rows, table.lines
        stays = np.array([own[file] not in report.system_outside for file in rows.files], dtype=bool)
        if not stays.all():
            lines = table.lines_of(np.flatnonzero(stays[rows.file]))
            rows = rows.only_files(stays).of_used_classes()
        inner = table.named.get("filename", {}).items()
        named = {file: at for file, at in inner if own[file] not in report.system_outside}
        chosen.append(replace(table, rows=rows, lines=lines, named={**table.named, "filename": named}))
    reference = expected.reference
    if reference is not None and report.reference_outside:
        stays = np.array([file not in report.reference_outside for file in reference.files], dtype=bool)
        expected = expected._replace(reference=reference.only_files(stays).of_used_classes())
    return chosen, expected


# Names.


class Wrong(NamedTuple):
    """Names of files or classes that a check reports.

    where: the list that lacks them, in words. known: names of which they may be misspellings. others: the
    intended name for each name. role: of the column, if the code covers several.
    """

    code: str
    names: Collection[str]
    where: str = ""
    known: Sequence[str] = ()
    others: Mapping[str, str] = {}
    role: str = ""


def _add_names(log: Log, source: str, tables: Sequence[Table], wrong: Wrong) -> None:
    """Enter a problem of each name at its first place, or of the source for a name without a place."""
    check, problems = NAMES[wrong.code], []
    places: dict[str, tuple[str, int | None, int | None]] = {}
    for table in reversed(tables if wrong.names else ()):
        places |= table.places(wrong.role or check.column)
    few = len(wrong.names) * len(wrong.known) <= _COMPARED
    for name in islice(wrong.names, log.most):
        hint = did_you_mean(name, wrong.known, n=1) if few else ""
        shown, other = apart(name, wrong.others.get(name, ""), quoted)
        message = check.placed.format(name=shown, where=wrong.where, other=other, hint=hint)
        mend = f"write {other}" if wrong.code == "class-spelling" else ""
        place = places.get(name, (source, None, None))
        problems.append(problem(wrong.code, place[0], message, *place[1:], mend))
    log.add(*problems, counts={wrong.code: len(wrong.names)} if wrong.names else {})


def _swapped(tables: Sequence[Table], reference: EventTable) -> tuple[str, ...]:
    """Return the first file name in the column of classes if both columns are swapped."""
    for rows in (table.rows for table in tables if not table.rows.has_steps):
        if are_swapped(rows.files, rows.classes, reference.files, reference.classes):
            return rows.files[:1]
    return ()


def _classes(tables: Sequence[Table], expected: Expected) -> Iterator[Wrong]:
    """Yield problems of the classes of some tables, compared with the known classes."""
    reference, known, where = expected.reference, expected.classes, expected.whose
    if known is None and reference is not None:
        known = [label for label in reference.classes if label not in reference.origin.unknown]
        where = "in the reference"
    if known is not None and not _swapped(tables, expected.table):
        named = list(dict.fromkeys(label for table in tables for label in table.names("event_label")
                                   if label not in table.rows.origin.unknown))  # fmt: skip
        spelt = known_spellings(named, [*known, *expected.settings.names_of("system")])
        yield Wrong("unknown-class", [n for n in named if n not in {*known, *spelt}], where, known)
        yield Wrong("class-spelling", [n for n in named if n in spelt], where, others=spelt)
        yield Wrong("missing-class", [n for n in known if n not in {*named, *spelt.values()}], where)


def _files(
    tables: Sequence[Table], expected: Expected, report: AlignmentReport, own: Mapping[str, str]
) -> Iterator[Wrong]:
    """Yield problems of the files that some tables name, compared with the known files."""
    swapped, where = _swapped(tables, expected.table), f"in the {expected.named_by}"
    yield Wrong("swapped-columns", swapped)
    if expected.table.files and not swapped:
        named = dict.fromkeys(file for table in tables for file in table.names("filename"))
        known, strange = sorted(report.missing - {UNNAMED}), report.extra | report.dropped
        extra = [file for file in named if own[file] in strange and file not in report.ambiguous]
        yield Wrong("unknown-file", extra, where, known)
        yield Wrong("ambiguous-file", [file for file in named if file in report.ambiguous], where)
        # In a recording without events nothing can be missed.
        silent = report.silent if expected.reference is not None else ()
        yield Wrong("missing-file", [file for file in known if file not in silent])


# One table.


def _check_table(table: Table, log: Log) -> None:
    """Check the names and the values of one table alone."""
    rows, layout = table.rows, table.layout
    for role in ("filename", "event_label"):
        hidden = [name for name in table.names(role) if not name.isprintable()]
        _add_names(log, table.name, [table], Wrong("control-character", hidden, role=role))
    alike = similar_names(table.names("event_label"))
    _add_names(log, table.name, [table], Wrong("similar-classes", alike, others=alike))
    for i, (name, role_) in enumerate(zip(layout.names, layout.roles, strict=True)):
        if layout.has_header and role_ is None and i not in layout.settled:
            meant = ("soft_value", "value", "score", "filename")
            message = f"column {quoted(name)} is ignored{did_you_mean(name.lower(), meant, n=1, cutoff=0.8)}"
            log.add(problem("ignored-column", table.name, message, table.header, i + 1))
    log.add(*(problem("assumed", table.name, text) for text in rows.origin.assumed))
    log.add(*(problem("value-rounded", table.name, note) for note in rows.origin.notes))
    number, place = sum(map(len, rows.values)), (table.header, table.column("soft_value"))
    if number and all(((values == 0) | (values == 1)).all() for values in rows.values):
        which = "the only value is" if number == 1 else f"all {number} values are"
        text = f"{which} 0 or 1; soft scores lie between them"
        log.add(problem("values-all-hard", table.name, text, *place))


def _check_rows(table: Table, side: Side, statistics: RowStatistics, log: Log) -> None:
    """Enter the findings of the checks in the rows of a table. statistics: of all tables."""
    rows, told = side.rows, statistics.of_times()
    for name, check in CHECKS.items():
        if check.find is last_row:
            named = statistics.rows_named
            row = named.get(name, named["outlasting-row"]) if name in told else None
            at = Placed(np.flatnonzero(_is_row(rows, row))[:1])
        elif name in _BY_LENGTH and ("time-unit" in told or not rows.origin.timed):
            continue
        else:
            at = check.find(side).placed()
        if name == "touching-rows":
            at = _touching(side, at)
        elif name == "after-end" and rows.has_steps:
            # Frames of a window go on after the end of what they were made of, in all recordings alike.
            at = _first(at)
        if check.placed:
            _add_rows(log, name, table, at, told.get(name, {}))


def _is_row(rows: EventTable, row: PlacedRow | None) -> Bools:
    """Return which rows of a table the statistics name, (n,)."""
    if row is None or row.file not in rows.files:
        return np.zeros(len(rows), dtype=bool)
    found: Bools = (rows.onset == row.onset) & (rows.offset == row.offset)
    found &= rows.file == rows.files.index(row.file)
    return found


def _touching(side: Side, at: Placed) -> Placed:
    """Return the first of touching rows that could be one event."""
    rows, about = side.rows, at.about
    n_different = len(rows) - len(CHECKS["duplicate-row"].find(side))
    # Where most rows touch, they are time steps, which do so by nature. Without values each is an event.
    if about is None or rows.has_steps or (rows.has_values and 2 * len(at.rows) > max(n_different, 4)):
        return Placed(np.zeros(0, dtype=np.intp))
    alike = np.all([values[at.rows] == values[about] for values in rows.values], axis=0)
    alike = np.broadcast_to(alike, at.rows.shape)
    # In some tables thousands do: the first is told, and how many others there are.
    return _first(Placed(at.rows[alike], about[alike], at.facts))


def _first(at: Placed) -> Placed:
    """Return the first of some rows, and as a fact that there are others."""
    if not len(at.rows):
        return at
    first, more = int(np.argmin(at.rows)), len(at.rows) - 1
    facts = {name: np.broadcast_to(value, len(at.rows))[[first]] for name, value in at.facts.items()}
    facts["likewise"] = np.array([f", and {counted(more, 'other row')} likewise" if more else ""])
    return Placed(at.rows[[first]], None if at.about is None else at.about[[first]], facts)


def _add_rows(log: Log, name: str, table: Table, placed: Placed, facts: Mapping[str, Any]) -> None:
    """Enter a problem of each row that a check found; facts: of all rows, besides the check's facts."""
    check, (rows, about, of_each) = CHECKS[name], placed
    if not len(rows):
        return
    order = np.argsort(rows, kind="stable")[: log.most]
    first, other = rows[order], (rows if about is None else about)[order]
    column, problems, lines = table.column(check.column), [], table.lines_of(other)
    columns = {fact: np.broadcast_to(value, len(rows))[order] for fact, value in of_each.items()}
    columns |= {"onset": table.rows.onset[other], "offset": table.rows.offset[other], "line": np.array(lines)}
    for i, line in enumerate(table.lines_of(first)):
        text = check.placed.format(**{**facts, **{fact: values[i] for fact, values in columns.items()}})
        problems.append(problem(check.code, table.name, text, line, column))
    log.add(*problems, counts={check.code: len(rows)})
