"""One table, or a folder of them, looked at from all sides."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from sedeval_soft.api.sources import Columns, Durations, limits_from, read_lengths
from sedeval_soft.core.codes import problem
from sedeval_soft.core.intake import LIMITS, Limits
from sedeval_soft.errors import InputError, SettingsError, counted
from sedeval_soft.report import write_atomic
from sedeval_soft.settings_files import checked_preset, classes_of_preset
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.event_table import UNNAMED, EventTable
from sedeval_soft.tables.filenames import match_names
from sedeval_soft.tables.source import spelled
from sedeval_soft.timeline.plausibility import last_offsets
from sedeval_soft.timeline.recordings import name_single_file
from sedeval_soft.tools.validate_checks import (
    check_classes,
    check_files,
    check_names,
    check_spans,
    check_swapped,
    check_times,
    check_values,
)
from sedeval_soft.tools.validate_tables import (
    Expected,
    Log,
    Table,
    Validation,
    characters,
    known,
    read_tables,
)


def validate_table(
    path: str | os.PathLike[str],
    expected: Expected | None = None,
    *,
    most: int = 100,
    stdin: BinaryIO | None = None,
    limits: Limits = LIMITS,
) -> Validation:
    """Return all that is wrong with a table or a folder of them, and what looks wrong; up to `most` problems.

    Raises InputError where nothing can be opened.
    """
    log = Log(most)
    expected = expected or Expected()
    tables = read_tables(path, log, stdin, limits)
    name = spelled(os.fspath(path))
    for table in tables:
        check_names(table, log)
        check_values(table, log)
        check_spans(table, log)
    total = sum(len(table.rows) for table in tables)
    if tables and not total and not log.counts:
        log.add(problem("no-rows", name, "there is no row in it", tables[0].sniffed.skip or None))
    tables = _compared(name, tables, expected, log) if tables else []
    problems = log.told()
    return Validation(
        source=name,
        problems=problems,
        counts=dict(log.counts),
        form=_form(path, tables),
        rows=total,
        files=len({file for table in tables for file in table.rows.files}),
        classes=len({label for table in tables for label in table.rows.classes}),
        characters=characters(problems, log.sources),
    )


def _form(path: str | os.PathLike[str], tables: Sequence[Table]) -> str:
    """Return how an input was read, in words: nothing where it could not be."""
    described = [(table.form or table.sniffed.describe(), len(table.rows)) for table in tables]
    form = next((form for form, size in described if size), described[0][0] if tables else "")
    if not tables or tables[0].name == spelled(os.fspath(path)):
        return form
    return f"folder of {counted(len(tables), 'table')}, {form}"


def _compared(name: str, tables: list[Table], expected: Expected, log: Log) -> list[Table]:
    """Hold tables against what is expected; return them with the names that files have there."""
    reference = expected.reference
    if reference is not None:
        try:
            for i, table in enumerate(tables):
                reference, rows = name_single_file(reference, table.rows, expected.durations)
                tables[i] = replace(table, rows=rows)
        except InputError as error:
            log.add(*map(known, error.problems))
            reference = None
    elif expected.durations:
        tables = [_named(table, expected.durations, log) for table in tables]
    swapped = reference is not None and check_swapped(tables, reference.files, reference.classes, log)
    if not swapped and expected.classes is not None:
        check_classes(tables, expected.classes, expected.whose, name, log)
    elif not swapped and reference is not None:
        check_classes(tables, reference.classes, "in the reference", name, log)
    lengths, whole = _lengths(reference, expected.durations)
    renamed: Mapping[str, str] = {}
    files = [*(reference.files if reference is not None else ()), *whole]
    if not swapped and files and files != [UNNAMED] and "missing-filename-column" not in log.counts:
        where = "in the reference" if reference is not None else "in the durations"
        renamed = check_files(tables, tuple(dict.fromkeys(files)), where, name, log)
    for table in tables:
        own = {file: renamed.get(file, file) for file in table.rows.files}
        check_times(
            table,
            {file: lengths[there] for file, there in own.items() if there in lengths},
            {file: whole[there] for file, there in own.items() if there in whole},
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


def _lengths(
    reference: EventTable | None, durations: Mapping[str, float]
) -> tuple[dict[str, float], dict[str, float]]:
    """Return how long recordings are at least, and how long exactly where that is known, by name."""
    whole: dict[str, float] = {}
    lengths: dict[str, float] = {}
    if reference is not None:
        last = last_offsets(reference)
        lengths = {name: float(end) for name, end in zip(reference.files, last, strict=True) if end}
        # A wide reference has rows for all of a recording; events may end long before it does.
        whole = dict(lengths) if reference.is_wide else {}
        canonical = match_names(reference.files, durations).canonical
        durations = {canonical[name]: seconds for name, seconds in durations.items()}
    whole |= durations
    return lengths | whole, whole


# Look at a table without scoring it.


MAX_PROBLEMS = 100


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
    if preset is not None:
        checked_preset(preset)
    if preset is not None and classes is not None:
        raise SettingsError("classes and a preset are given; expected one of them")
    whose = f"in {preset}" if preset is not None else "in the settings"
    known = classes_of_preset(preset) if preset is not None else classes
    expected = Expected(
        None if reference is None else read_rows(reference, limits=limits),
        None if known is None else tuple(known),
        whose,
        read_lengths(durations, limits) or {},
    )
    if fix is None:
        return validate_table(system, expected, most=max_problems, stdin=stdin, limits=limits)
    return _fixed(system, expected, fix, max_problems, stdin, limits)


def _fixed(
    system: str | os.PathLike[str],
    expected: Expected,
    fix: str | os.PathLike[str],
    most: int,
    stdin: BinaryIO | None,
    limits: Limits,
) -> Validation:
    """Write a corrected copy, and return what is left to do in it."""
    from sedeval_soft.tools.mend_table import mended, opened, refuse_folder

    refuse_folder(system)
    refuse_input(fix, system)
    if os.fspath(system) == "-":
        # It is looked at once more where no copy can be made.
        stdin = BytesIO((stdin or sys.stdin.buffer).read())
    try:
        source, read = opened(system, stdin, limits)
        text, mends = mended(source, expected, limits)
    except InputError as error:
        if any(problem.code == "unreadable-file" for problem in error.problems):
            raise
        text, mends = None, (f"no copy was written: {error.problems[0].message}",)
    if text is None:
        if stdin is not None:
            stdin.seek(0)
        return replace(validate_table(system, expected, most=most, stdin=stdin, limits=limits), mends=mends)
    write_atomic(fix, text)
    return replace(validate_table(fix, expected, most=most, limits=limits), mends=(*read, *mends))


def refuse_input(output: str | os.PathLike[str], system: str | os.PathLike[str]) -> None:
    """Raise SettingsError where a copy would replace what it is of."""
    try:
        same = Path(output).samefile(system)
    except (OSError, ValueError):
        same = os.fspath(output) == os.fspath(system)
    if same:
        raise SettingsError(f"--fix {os.fspath(output)}: this is the system output; expected another file")
