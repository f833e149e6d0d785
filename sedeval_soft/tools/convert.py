"""Conversion of tables between formats: every loss is reported."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Unpack

from sedeval_soft.api.sources import (
    Listed,
    check_text,
    limits_from,
    listed_files,
    path_of,
    reading_from,
    to_rows,
)
from sedeval_soft.errors import EvaluationError, InputError, Problem, SettingsError
from sedeval_soft.fields import ReadingKeywords
from sedeval_soft.report.write import write_atomic, write_folder
from sedeval_soft.settings import Settings
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.fit import Fitted, fit, recordings
from sedeval_soft.tables.forms import WRITTEN, Form, form_by_extension, form_of
from sedeval_soft.tables.joined_tables import recording_of
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.source import compressed


@dataclass(frozen=True, slots=True)
class Conversion:
    """The outcome of a conversion, or of its preview.

    read: Description of the source. form: Name of the target format. losses: Content that the target format
    lacks, in words, empty for none. rows, files, classes: Numbers written. apart: Whether the target is a
    folder. notes: Files left out of the listing, and assumptions and skipped content.
    """

    read: str
    form: str
    losses: tuple[str, ...]
    rows: int
    files: int
    classes: int
    apart: bool
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Prepared:
    """Rows that are ready to be written in a format, and the report of the conversion."""

    form: Form
    fitted: Fitted
    conversion: Conversion

    def content(self) -> bytes:
        """Return the bytes of a single file."""
        return self.form.write(self.fitted.rows)

    def write(self, target: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write a file, or a folder of one per recording, completely or not at all."""
        rows, stems = self.fitted.rows, self.fitted.stems
        if stems is None:
            write_atomic(target, compressed(os.fspath(target), self.form.write(rows)))
            return
        extensions, named = self.form.extensions, not self.form.apart
        members = (
            (stem + extensions[0], self.form.write(one))
            for stem, one in zip(stems, recordings(rows, named=named), strict=True)
        )
        write_folder(target, members, replaceable=extensions, force=force)


def convert(
    source: Any,  # noqa: ANN401 - whatever `evaluate` takes
    target: str | os.PathLike[str],
    *,
    to: str | None = None,
    strict: bool = False,
    force: bool = False,
    files: Listed | None = None,
    limits: Limits | None = None,
    **values: Unpack[ReadingKeywords],
) -> Conversion:
    """Write a table in another format; some formats are a folder of one file per recording.

    source: Any source that `evaluate` takes. to: The name of a format; by default from the extension of the
    target. strict: Raise EvaluationError, and write nothing, if content would be lost or had to be assumed.
    force: Replace a folder that is not empty. files: The recordings to write, as names or the path of a list;
    all by default. limits: The most that is taken in. Other keywords configure reading of the source, as for
    `evaluate`.
    """
    if path_of(target, "target") == "-":
        raise SettingsError("-: is not the name of a file; expected a path")
    if to is not None:
        check_text("to", to)
    limits = reading_from(limits, values)
    prepared = prepare(source, target, to=to, strict=strict, files=files, limits=limits)
    prepared.write(target, force=force)
    return prepared.conversion


def _rows_of(source: Any, limits: Limits) -> EventTable:  # noqa: ANN401
    """Return the rows of a table; raises InputError also for options of reading that have no effect on it."""
    if isinstance(source, str | os.PathLike):
        rows = read_rows(source, form=limits.form("system"), limits=limits)
    else:
        rows = to_rows(source, "source", Settings(), limits)
    if vain := limits.as_read(rows.origin, "").lacking:
        raise InputError([Problem(rows.origin.name, text, code="no-effect") for text in vain])
    return rows


def prepare(
    source: Any,  # noqa: ANN401
    target: str | os.PathLike[str],
    *,
    to: str | None = None,
    strict: bool = False,
    files: Listed | None = None,
    limits: Limits | None = None,
) -> Prepared:
    """Read a table and make it fit the form of a target, which is not written yet; as `convert` otherwise."""
    name, limits = os.fspath(target), limits_from(limits)
    with suppress(OSError, ValueError):
        if isinstance(source, str | os.PathLike) and os.fspath(source) != "-" and Path(source).samefile(name):
            raise InputError(Problem(name, "is the source itself; expected another target"))
    form = None if to is None else form_of(to)
    if form is not None and not form.written:  # before anything is read
        raise SettingsError(f"--to {form.name}: is only read; expected one of {', '.join(WRITTEN)}")
    rows = _rows_of(source, limits)
    notes: list[str] = []
    if files is not None:
        from sedeval_soft.tables.file_groups import only_listed

        rows, notes = only_listed(rows, listed_files(files, limits))
    form = form or form_by_extension("-.tsv" if name == "-" else name, wide=rows.has_steps)
    if form is None:
        written = ", ".join(WRITTEN)
        raise SettingsError(f"{name}: its name does not say what to write; expected --to {written}")
    into_folder = name.endswith(("/", os.sep)) or (name not in {"", "-"} and os.path.isdir(name))
    if into_folder and not form.apart:
        raise SettingsError(f"{name}: is a folder; {form.name} is a file, which holds all recordings")
    # A recording without a name is called as the file that it was read from.
    read_from = rows.origin.name
    called = "" if read_from in {"-", "source"} else recording_of(PurePath(read_from).name)
    fitted = fit(rows, form, apart=into_folder, called=called, limits=limits)
    if fitted.stems is not None and name == "-":
        raise SettingsError(f"--to {form.name} writes a folder; expected the name of one, not -")
    assumed = [f"{read_from}: {text}" for text in rows.origin.assumed]
    if strict and assumed:
        raise EvaluationError(assumed[0])
    if strict and fitted.losses:
        raise EvaluationError(f"{read_from}: {form.name} would lose {'; '.join(fitted.losses)}")
    notes += [*assumed, *(f"{read_from}: {text}" for text in rows.origin.notes)]
    sizes = (len(fitted.rows), len(fitted.rows.files), len(fitted.rows.classes))
    done = Conversion(
        rows.origin.form, form.name, fitted.losses, *sizes, fitted.stems is not None, tuple(notes)
    )
    return Prepared(form, fitted, done)
