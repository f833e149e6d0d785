"""One table, or a folder of them, looked at from all sides without scoring it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Unpack

import numpy as np

from sedeval_soft.api.sources import (
    Durations,
    Listed,
    listed_files,
    path_of,
    read_lengths,
    reading_from,
    to_rows,
    with_listed,
)
from sedeval_soft.checks.alignment import said
from sedeval_soft.checks.names import NAMES
from sedeval_soft.checks.placed_tables import Log, Table, read_tables
from sedeval_soft.checks.validate import Expected, Validation, check_tables
from sedeval_soft.errors import InputError, SettingsError, counted
from sedeval_soft.fields import ReadingKeywords
from sedeval_soft.report.write import write_atomic
from sedeval_soft.settings import Settings, checked, in_form
from sedeval_soft.settings_files import checked_preset, classes_of_preset, load_preset
from sedeval_soft.tables.event_table import EventTable, Origin
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.problem_codes import problem
from sedeval_soft.tables.source import spelled
from sedeval_soft.timeline.recordings import mapped, match_files, name_single_file

MAX_PROBLEMS = 100


def validate(
    system: str | os.PathLike[str],
    reference: Any = None,  # noqa: ANN401 - as for evaluate
    *,
    durations: Durations | None = None,
    classes: Sequence[str] | None = None,
    preset: str | None = None,
    map: Mapping[str, str] | str | os.PathLike[str] | None = None,  # noqa: A002 - as for evaluate
    map_to: str | None = None,
    max_problems: int = MAX_PROBLEMS,
    fix: str | os.PathLike[str] | None = None,
    stdin: BinaryIO | None = None,
    files: Listed | None = None,
    limits: Limits | None = None,
    **values: Unpack[ReadingKeywords],
) -> Validation:
    """Return all errors in a table or a folder of tables, and doubtful values; nothing is scored.

    - reference: a table for comparison, as for `evaluate`: names of files and classes, lengths of recordings.
    - durations: seconds by file name, or the path of a table of them.
    - classes: the allowed ones; preset: the name of a challenge, whose classes are allowed.
    - map, map_to: the classes of labels, as for `evaluate`; by default the preset's.
    - max_problems: the most problems in the result; all are counted.
    - fix: the path for a corrected copy, with safe fixes only; the result then has the problems left in the
      copy, and `mends` lists the fixes.
    - files: the recordings to be scored, as for `evaluate`: names of others are not checked.
    - limits: the most that the table may have.

    Other keywords control how tables are read, as for `evaluate`.

    Raises InputError if the table or the reference cannot be read, SettingsError for arguments.
    """
    limits = reading_from(limits, values)
    path_of(system, "system", "the path of a table, or of a folder of tables")
    in_form("max_problems", max_problems, [{"type": "integer", "minimum": 1, "maximum": 10**9}])
    whose = "in the settings"
    if preset is not None:
        checked_preset(preset)
        if classes is not None:
            raise SettingsError("classes and a preset are given; expected one of them")
        whose, classes = f"in {preset}", classes_of_preset(preset)
        map = load_preset(preset).get("map") if map is None else map  # noqa: A001
    settings = Settings.of(**with_listed({"map": map, "map_to": map_to}, limits))
    rows = None if reference is None else to_rows(reference, "reference", settings, limits)
    rows = mapped("reference", rows, settings) if rows is not None and settings.map else rows
    chosen = None if classes is None else checked("classes", classes)
    lengths = read_lengths(durations, limits) or {}
    mends: tuple[str, ...] = ()
    if fix is not None:
        known = (*(chosen or (rows.classes if rows is not None else ())), *settings.names_of("system"))
        system, stdin, mends = _write_copy(system, fix, known, stdin, limits)
    if chosen is None and rows is not None:
        chosen, whose = (
            tuple(label for label in rows.classes if label not in rows.origin.unknown),
            "in the reference",
        )
    listed = () if files is None else listed_files(files, limits)
    name, form, log = spelled(os.fspath(system)), "", Log(max_problems)
    tables = read_tables(system, log, stdin, limits)
    both = [table.rows for table in tables] + ([] if rows is None else [rows])
    vain = [{*limits.as_read(each.origin, "").lacking} for each in both]
    log.add(*(problem("no-effect", name, text) for text in sorted(set.intersection(*vain) if tables else ())))
    if tables:
        expected = Expected(rows, chosen, whose, lengths, listed, settings)
        tables, expected = _aligned(name, tables, expected, log)
        check_tables(name, tables, expected, log)
        # How the first table with rows was read.
        first = next((table for table in tables if len(table.rows)), tables[0])
        form = first.rows.origin.form
        if tables[0].name != name:
            form = f"folder of {counted(len(tables), 'table')}, {form}"
    return Validation(
        source=name,
        problems=log.worst(),
        counts=dict(log.counts),
        form=form,
        rows=sum(len(table.rows) for table in tables),
        files=len({file for table in tables for file in table.rows.files}),
        classes=len({label for table in tables for label in table.rows.classes}),
        mends=mends,
    )


def _aligned(name: str, tables: list[Table], expected: Expected, log: Log) -> tuple[list[Table], Expected]:
    """Return tables with files and classes named as in the reference, and the expected content of these.

    Both have listed files only. name: of all tables, as the user gave it.
    """
    settings, durations = expected.settings, expected.durations
    if settings.map:
        tables = [replace(table, rows=mapped("system", table.rows, settings)) for table in tables]
    try:
        for k, table in enumerate(tables):
            reference, rows = name_single_file(expected.table, table.rows, durations)
            tables[k] = replace(table, rows=rows)
            expected = expected._replace(reference=None if expected.reference is None else reference)
        both = ((*table.rows.files, *table.unread.get("filename", ())) for table in tables)
        system = replace(EventTable.empty(Origin(name)), files=tuple(dict.fromkeys(chain(*both))))
        matched = match_files(expected.table, system, durations or None, expected.listed or None)
        expected = expected._replace(own=matched[1], durations=matched[2], report=matched[3])
    except InputError as error:
        log.add_error(error)
        expected = expected._replace(reference=None, durations={})
    if not expected.listed:
        return tables, expected
    own, report = expected.own, expected.report
    unknown, hint = report.not_listed(expected.listed)
    texts = said(NAMES["listed-file"].placed, unknown, "listed file", hint=hint)
    log.add(*(problem("listed-file", name, text) for text in texts))
    chosen = []
    for table in tables:
        outside = [own.get(file, file) in report.system_outside for file in table.rows.files]
        stays = ~np.array(outside, dtype=bool)
        lines = [table.lines[row] for row in np.flatnonzero(stays[table.rows.file]).tolist()]
        chosen.append(replace(table, rows=table.rows.only_files(stays).of_used_classes(), lines=lines))
    if (ours := expected.reference) is not None:
        stays = ~np.array([file in report.reference_outside for file in ours.files], dtype=bool)
        expected = expected._replace(reference=ours.only_files(stays).of_used_classes())
    return chosen, expected


def _write_copy(
    system: str | os.PathLike[str],
    fix: str | os.PathLike[str],
    classes: Sequence[str],
    stdin: BinaryIO | None,
    limits: Limits,
) -> tuple[str | os.PathLike[str], BinaryIO | None, tuple[str, ...]]:
    """Write a corrected copy if possible; return the problems of the copy, and the fixes."""
    from sedeval_soft.checks.fix import mended

    name, copy = os.fspath(system), path_of(fix, "fix")
    if name not in {"", "-"} and os.path.isdir(system):
        raise SettingsError(f"--fix mends one table; {name} is a folder")
    try:
        same = Path(copy).samefile(name)
    except (OSError, ValueError):
        same = copy == name
    if same:
        raise SettingsError(f"--fix {copy}: this is the system output; expected another file")
    if name == "-":
        stdin = BytesIO((stdin or sys.stdin.buffer).read())
    try:
        text, mends = mended(system, classes, stdin, limits)
    except InputError as error:
        if any(each.code == "unreadable-file" for each in error.problems):
            raise
        text, mends = None, (f"no copy was written: {error.problems[0].message}",)
    if text is not None:
        write_atomic(fix, text)
        return fix, None, mends
    if stdin is not None:
        stdin.seek(0)
    return system, stdin, mends
