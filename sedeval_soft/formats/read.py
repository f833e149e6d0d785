"""Read a table from a file, a folder or standard input."""

from __future__ import annotations

import os
from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import BinaryIO

from sedeval_soft.core.errors import InputError, Problem
from sedeval_soft.core.intake import Limits
from sedeval_soft.core.rows import Rows
from sedeval_soft.formats.magic import may_be_no_table
from sedeval_soft.formats.sniff import sniff
from sedeval_soft.formats.source import Source, open_source
from sedeval_soft.formats.table import read_fast

_LIMITS = Limits()


def read_rows(
    source: str | os.PathLike[str],
    *,
    stdin: BinaryIO | None = None,
    form: str = "",
    limits: Limits = _LIMITS,
) -> Rows:
    """Read a table, a folder of tables (one per recording, named after it), or standard input for `-`.

    form: what it must be, by its name in the registry of forms; found out where there is none.
    Raises InputError that says where and what is wrong.
    """
    name = os.fspath(source)
    if name not in {"", "-"} and Path(name).is_dir():
        from sedeval_soft.formats.folder import read_folder

        return read_folder(name, partial(read_table, form=form, limits=limits))
    rows = read_table(open_source(name, stdin), form, limits)
    if rows is None:
        raise InputError(
            Problem(
                name, "is empty; expected a table (an output without events is written as a header alone)"
            )
        )
    return rows


def read_table(source: Source, form: str = "", limits: Limits = _LIMITS) -> Rows | None:
    """Read one table, None where it has no line at all."""
    if form or may_be_no_table(source.data, source.name):
        from sedeval_soft.formats.forms.registry import form_of, recognised

        found = form_of(form, "--from") if form else recognised(source)
        if found is not None:
            return _read_as(found.name, source, limits)
    try:
        sniffed = sniff(source)
    except InputError as error:
        return _read_otherwise(source, limits, error)
    if sniffed is None:
        return None
    rows = read_fast(source, sniffed)
    if rows is not None:
        return rows
    from sedeval_soft.formats.careful import read_carefully

    try:
        return read_carefully(source, sniffed)
    except InputError as error:
        # What is wrong with a table must not be read past in another form: only of these it looks like one.
        alike = {"elan"} if sniffed.layout.wide else set() if sniffed.layout.has_header else {"audacity"}
        return _read_otherwise(source, limits, error, alike)


def _read_otherwise(
    source: Source, limits: Limits, error: InputError, alike: Collection[str] | None = None
) -> Rows | None:
    """Read what is no table of text in a form that recognises it; raises the error where none does.

    alike: names of the only forms that it may be; None for any.
    """
    from sedeval_soft.formats.forms.registry import recognised

    found = recognised(source)
    if found is None or (alike is not None and found.name not in alike):
        raise error
    return _read_as(found.name, source, limits)


def _read_as(form: str, source: Source, limits: Limits) -> Rows | None:
    """Read a table of a known form."""
    from sedeval_soft.formats.forms.form import Reading
    from sedeval_soft.formats.forms.registry import form_of

    rows = form_of(form).read(source, Reading(partial(read_table, limits=limits), limits))
    if rows is not None:
        limits.check(source.name, "files", len(rows.files), "recordings")
        limits.check(source.name, "classes", len(rows.classes), "classes")
        longest = max(map(len, (*rows.files, *rows.classes)), default=0)
        limits.check(source.name, "name_length", longest, "characters in a name")
        if len(rows):
            limits.check(source.name, "duration", float(rows.offset.max()), "seconds in a recording")
    return rows
