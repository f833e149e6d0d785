"""Read a table from a file, a folder or standard input."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from typing import BinaryIO

from sedeval_soft.core.intake import LIMITS, Limits, for_members, over_limit
from sedeval_soft.core.paths import is_folder
from sedeval_soft.core.rows import Origin, Rows, no_events
from sedeval_soft.errors import InputError, Problem
from sedeval_soft.tables.source import Source, is_pattern, may_be_no_table, open_source
from sedeval_soft.tables.text import Sniffed, read_sniffed, sniff
from sedeval_soft.tables.unclear_columns import only_the_user_knows


def read_rows(
    source: str | os.PathLike[str],
    *,
    stdin: BinaryIO | None = None,
    form: str = "",
    limits: Limits = LIMITS,
    may_be_empty: bool = False,
) -> Rows:
    """Read a table, a folder of tables (one per recording, named after it), or standard input for `-`.

    A pattern such as `ref/*.parquet` is a table in shards; URLs are read by way of fsspec.

    form: what it must be, by its name in the registry of forms; found out where there is none. limits: the
    most that it may have. may_be_empty: whether a file without any line is a table without rows. Raises
    InputError that says where and what is wrong.
    """
    name = os.fspath(source)
    if name not in {"", "-"} and is_folder(name):
        from sedeval_soft.tables.folder import read_folder

        member = partial(read_table, form=form, limits=for_members(limits))
        return read_folder(name, member, partial(member, limits=for_members(limits, only=True)), limits)
    if is_pattern(name):
        from sedeval_soft.formats.shards import ShardFile, read_shards

        def read(shard: ShardFile) -> Rows | None:
            return read_table(open_source(shard.name, limits=limits), form, shard.limits(limits))

        return read_shards(name, read, limits)
    opened = open_source(name, stdin, limits)
    rows = read_table(opened, form, limits)
    if rows is None and may_be_empty:
        return no_events(Origin(opened.name, opened.sha256, "empty"))
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
    if form:
        from sedeval_soft.tables.forms import form_of

        return read_as(form_of(form, "--from").name, source, limits)
    form = form_at_once(source)
    if form:
        return read_as(form, source, limits)
    sniffed = None
    try:
        sniffed = sniff(source, limits)
        return None if sniffed is None else read_sniffed(source, sniffed, limits)
    except InputError as error:
        final = over_limit(error) or only_the_user_knows(error)
        form = "" if final else form_instead(source, sniffed)
        if not form:
            raise
    return read_as(form, source, limits)


def form_at_once(source: Source) -> str:
    """Return the name of the form that a source is of by its first bytes or its name; empty for text."""
    return form_instead(source) if may_be_no_table(source.data, source.name) else ""


def form_instead(source: Source, sniffed: Sniffed | None = None) -> str:
    """Return the name of the form that recognises what cannot be read as a table of text, empty for none.

    sniffed: what it looks like as text. What is wrong with a table must not be read past in another form:
    only of these it looks like one.
    """
    from sedeval_soft.tables.forms import recognised

    found = recognised(source)
    if found is None:
        return ""
    if sniffed is not None:
        layout = sniffed.layout
        alike = "elan" if layout.wide else "" if layout.has_header else "audacity"
        return found.name if found.name == alike else ""
    return found.name


def read_as(form: str, source: Source, limits: Limits) -> Rows | None:
    """Read a table of a known form; raises InputError with what is wrong."""
    from sedeval_soft.tables.form import Reading
    from sedeval_soft.tables.forms import form_of

    try:
        table = partial(read_table, limits=limits)
        member = partial(read_table, limits=for_members(limits))
        only = partial(read_table, limits=for_members(limits, only=True))
        return form_of(form).read(source, Reading(table, member, only, limits))
    except InputError as error:
        coded = [replace(p, code="malformed-file") if p.code == "invalid" else p for p in error.problems]
        raise InputError(coded, error.more) from error
