"""Read a table from a file, a folder or standard input."""

from __future__ import annotations

import os
from typing import BinaryIO

from sedeval_soft.errors import InputError, Problem
from sedeval_soft.tables.event_table import EventTable, Origin
from sedeval_soft.tables.forms import read_table
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.paths import is_folder
from sedeval_soft.tables.source import is_pattern, open_source


def read_rows(
    source: str | os.PathLike[str],
    *,
    stdin: BinaryIO | None = None,
    form: str = "",
    limits: Limits = LIMITS,
    may_be_empty: bool = False,
) -> EventTable:
    """Read a table, a folder of tables (one per recording, named after it), or standard input for `-`.

    A pattern such as `ref/*.parquet` is a table in shards; URLs are read by way of fsspec.

    form: what it must be, by its name in the registry of forms; found out where there is none. limits: the
    most that it may have. may_be_empty: whether a file without any line is a table without rows. Raises
    InputError that says where and what is wrong.
    """
    name = os.fspath(source)
    if name not in {"", "-"} and is_folder(name):
        from sedeval_soft.tables.folder import read_folder

        return read_folder(name, form, limits)
    if is_pattern(name):
        from sedeval_soft.tables.shards import ShardFile, read_shards

        def read(shard: ShardFile) -> EventTable | None:
            return read_table(open_source(shard.name, limits=limits), form, shard.limits(limits))

        return read_shards(name, read, limits)
    opened = open_source(name, stdin, limits)
    rows = read_table(opened, form, limits)
    if rows is None and may_be_empty:
        return EventTable.empty(Origin(opened.name, opened.sha256, "empty"))
    if rows is None:
        raise InputError(
            Problem(
                name,
                "is empty; expected a table (an output without events is written as a header alone)",
                code="empty-file",
            )
        )
    return rows
