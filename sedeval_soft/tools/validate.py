"""One table, or a folder of them, looked at from all sides without scoring it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from sedeval_soft.api.sources import Columns, Durations, limits_from, read_lengths
from sedeval_soft.errors import InputError, Problem, SettingsError, Severity, counted
from sedeval_soft.report import write_atomic
from sedeval_soft.settings_files import checked_preset, classes_of_preset
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.event_table import UNNAMED, EventTable
from sedeval_soft.tables.filenames import match_names
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.problem_codes import RULES, problem
from sedeval_soft.tables.source import spelled
from sedeval_soft.timeline.plausibility import last_offsets
from sedeval_soft.timeline.recordings import name_single_file
from sedeval_soft.tools.validate_checks import (
    check_classes,
    check_files,
    check_swapped,
    check_table,
    check_times,
)
from sedeval_soft.tools.validate_tables import Log, Places, Table, read_tables

MAX_PROBLEMS = 100


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
    characters: Places = field(default_factory=dict)

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


def validate(
    system: str | os.PathLike[str],
    reference: str | os.PathLike[str] | None = None,
    *,
    durations: Durations | None = None,
    classes: Sequence[str] | None = None,
    preset: str | None = None,
    max_problems: int = MAX_PROBLEMS,
    fix: str | os.PathLike[str] | None = None,
    stdin: BinaryIO | None = None,
    limits: Limits | None = None,
    columns: Columns | None = None,
) -> Validation:
    """Return all that is wrong with a table or a folder of them, and what looks wrong; nothing is scored.

    reference: a table that it is held against: names of files and classes, lengths of recordings. durations:
        seconds by file name, or the path of a table of them. classes: those that there can be; preset: the
        name of a challenge, whose classes they are. max_problems: how many are told; all are counted.
    fix: where a corrected copy is written, of mends that are safe only; what is told then is what is left
        to do in the copy, and `mends` lists what was done. limits: the most that the table may have. columns:
        which play which role, as for `evaluate`.

    Raises InputError where the table cannot be opened or the reference be read, SettingsError for arguments.
    """
    limits = limits_from(limits, columns)
    if isinstance(max_problems, bool) or not isinstance(max_problems, int) or max_problems < 1:
        raise SettingsError(f"max_problems must be a whole number, 1 or more, not {max_problems!r}")
    whose = "in the settings"
    if preset is not None:
        checked_preset(preset)
        if classes is not None:
            raise SettingsError("classes and a preset are given; expected one of them")
        whose, classes = f"in {preset}", classes_of_preset(preset)
    expected = Expected(
        None if reference is None else read_rows(reference, limits=limits),
        None if classes is None else tuple(classes),
        whose,
        read_lengths(durations, limits) or {},
    )
    if fix is None:
        return validate_table(system, expected, most=max_problems, stdin=stdin, limits=limits)
    return _validate_copy(system, expected, fix, max_problems, stdin, limits)


def validate_table(
    path: str | os.PathLike[str],
    expected: Expected | None = None,
    *,
    most: int = MAX_PROBLEMS,
    stdin: BinaryIO | None = None,
    limits: Limits = LIMITS,
) -> Validation:
    """Return all that is wrong with a table or a folder of them, and what looks wrong; up to `most` problems.

    Raises InputError where nothing can be opened.
    """
    log, name = Log(most), spelled(os.fspath(path))
    tables = read_tables(path, log, stdin, limits)
    for table in tables:
        check_table(table, log)
    rows = sum(len(table.rows) for table in tables)
    form = ""
    if tables:
        # How the first table with rows was read.
        first = next((table for table in tables if len(table.rows)), tables[0])
        form = first.form or first.sniffed.describe()
        if tables[0].name != name:
            form = f"folder of {counted(len(tables), 'table')}, {form}"
        if not rows and not log.counts:
            log.add(problem("no-rows", name, "there is no row in it", tables[0].header))
        tables = _compare(name, tables, expected or Expected(), log)
    problems = log.worst()
    return Validation(
        source=name,
        problems=problems,
        counts=dict(log.counts),
        form=form,
        rows=rows,
        files=len({file for table in tables for file in table.rows.files}),
        classes=len({label for table in tables for label in table.rows.classes}),
        characters=log.characters(problems),
    )


def _compare(name: str, tables: list[Table], expected: Expected, log: Log) -> list[Table]:
    """Hold tables against what is expected; return them with the names that files have there."""
    reference, durations = expected.reference, expected.durations
    if reference is not None:
        try:
            for i, table in enumerate(tables):
                reference, rows = name_single_file(reference, table.rows, durations)
                tables[i] = replace(table, rows=rows)
        except InputError as error:
            log.add_error(error)
            reference = None
    elif durations:
        tables = [_named(table, durations, log) for table in tables]
    swapped = reference is not None and check_swapped(tables, reference.files, reference.classes, log)
    if not swapped and expected.classes is not None:
        check_classes(tables, expected.classes, expected.whose, name, log)
    elif not swapped and reference is not None:
        check_classes(tables, reference.classes, "in the reference", name, log)
    # How long recordings are at least, and how long exactly where that is known.
    lengths: dict[str, float] = {}
    whole: dict[str, float] = {}
    if reference is not None:
        ends = zip(reference.files, last_offsets(reference).tolist(), strict=True)
        lengths = {file: end for file, end in ends if end}
        # Time steps are of all of a recording; events may end long before it does.
        whole = dict(lengths) if reference.has_steps else {}
        canonical = match_names(reference.files, durations).canonical
        durations = {canonical[file]: seconds for file, seconds in durations.items()}
    whole |= durations
    lengths |= whole
    renamed: Mapping[str, str] = {}
    files = [*(reference.files if reference is not None else ()), *whole]
    if not swapped and files and files != [UNNAMED] and "missing-filename-column" not in log.counts:
        where = "in the reference" if reference is not None else "in the durations"
        renamed = check_files(tables, tuple(dict.fromkeys(files)), where, name, log)
    for table in tables:
        known = {file: renamed.get(file, file) for file in table.rows.files}
        check_times(
            table,
            {file: lengths[there] for file, there in known.items() if there in lengths},
            {file: whole[there] for file, there in known.items() if there in whole},
            log,
        )
    return tables


def _named(table: Table, durations: Mapping[str, float], log: Log) -> Table:
    """Give the rows of a table without file names the name of the only recording that there is."""
    if table.rows.files != (UNNAMED,):
        return table
    if len(durations) == 1:
        return replace(table, rows=replace(table.rows, files=tuple(durations)))
    message = f"there is no column of file names, but {len(durations)} files have a duration"
    log.add(problem("missing-filename-column", table.name, message))
    return table


def _validate_copy(
    system: str | os.PathLike[str],
    expected: Expected,
    fix: str | os.PathLike[str],
    most: int,
    stdin: BinaryIO | None,
    limits: Limits,
) -> Validation:
    """Write a corrected copy, and return what is left to do in it."""
    from sedeval_soft.tools.mend_table import mended

    name, copy = os.fspath(system), os.fspath(fix)
    if name not in {"", "-"} and os.path.isdir(system):
        raise SettingsError(f"--fix is of one table; {name} is a folder")
    try:
        same = Path(copy).samefile(name)
    except (OSError, ValueError):
        same = copy == name
    if same:
        raise SettingsError(f"--fix {copy}: this is the system output; expected another file")
    if name == "-":
        # It is looked at once more where no copy can be made.
        stdin = BytesIO((stdin or sys.stdin.buffer).read())
    classes = expected.classes or (expected.reference.classes if expected.reference is not None else ())
    try:
        text, mends = mended(system, classes, stdin, limits)
    except InputError as error:
        if any(each.code == "unreadable-file" for each in error.problems):
            raise
        text, mends = None, (f"no copy was written: {error.problems[0].message}",)
    if text is not None:
        write_atomic(fix, text)
        system, stdin = fix, None
    elif stdin is not None:
        stdin.seek(0)
    return replace(validate_table(system, expected, most=most, stdin=stdin, limits=limits), mends=mends)
