"""Read a table from a file, a folder or standard input."""

from __future__ import annotations

import os
from collections.abc import Collection
from functools import partial
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from sedeval_soft.core.errors import InputError, Problem
from sedeval_soft.core.intake import LIMITS, Limits
from sedeval_soft.core.rows import Rows
from sedeval_soft.formats.magic import may_be_no_table
from sedeval_soft.formats.sniff import sniff
from sedeval_soft.formats.source import Source, open_source
from sedeval_soft.formats.text import read_sniffed


def read_rows(
    source: str | os.PathLike[str],
    *,
    stdin: BinaryIO | None = None,
    form: str = "",
    limits: Limits = LIMITS,
) -> Rows:
    """Read a table, a folder of tables (one per recording, named after it), or standard input for `-`.

    form: what it must be, by its name in the registry of forms; found out where there is none. limits: the
    most that it may have. Raises InputError that says where and what is wrong.
    """
    name = os.fspath(source)
    if name not in {"", "-"} and Path(name).is_dir():
        from sedeval_soft.formats.folder import read_folder

        return read_folder(name, partial(read_table, form=form, limits=limits), limits)
    rows = read_table(open_source(name, stdin, limits), form, limits)
    if rows is None:
        raise InputError(
            Problem(
                name,
                "is empty; expected a table (an output without events is written as a header alone)",
                code="empty-file",
            )
        )
    return rows


def read_table(source: Source, form: str = "", limits: Limits = LIMITS) -> Rows | None:
    """Read one table, None where it has no line at all."""
    if form or may_be_no_table(source.data, source.name):
        from sedeval_soft.formats.forms.registry import form_of, recognised

        found = form_of(form, "--from") if form else recognised(source)
        if found is not None:
            return _read_as(found.name, source, limits)
    try:
        sniffed = sniff(source, limits)
    except InputError as error:
        return _read_otherwise(source, limits, error)
    if sniffed is None:
        return None
    try:
        return read_sniffed(source, sniffed, limits)
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

    try:
        return form_of(form).read(source, Reading(partial(read_table, limits=limits), limits))
    except InputError as error:
        coded = [replace(p, code="malformed-file") if p.code == "invalid" else p for p in error.problems]
        raise InputError(coded, error.more) from error
