"""One table, or a folder of them, looked at from all sides."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import BinaryIO

from sedeval_soft.core.codes import problem
from sedeval_soft.core.counted import counted
from sedeval_soft.core.errors import InputError
from sedeval_soft.core.filenames import match_names
from sedeval_soft.core.intake import LIMITS, Limits
from sedeval_soft.core.misread import last_offsets
from sedeval_soft.core.pair import name_single_file
from sedeval_soft.formats.source import spelled
from sedeval_soft.tables.event_table import UNNAMED, EventTable
from sedeval_soft.validation.characters import characters
from sedeval_soft.validation.found import Log, Validation
from sedeval_soft.validation.names import check_classes, check_files, check_names, check_swapped
from sedeval_soft.validation.spans import check_spans
from sedeval_soft.validation.tables import Table, known, read_tables
from sedeval_soft.validation.times import check_times
from sedeval_soft.validation.values import check_values


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
