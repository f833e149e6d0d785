"""Read a table from a file, a folder or standard input."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

from sedeval_soft.core.errors import InputError, Problem
from sedeval_soft.core.rows import Rows
from sedeval_soft.formats.sniff import sniff
from sedeval_soft.formats.source import Source, open_source
from sedeval_soft.formats.table import read_fast


def read_rows(source: str | os.PathLike[str], *, stdin: BinaryIO | None = None) -> Rows:
    """Read a table, a folder of tables (one per recording, named after it), or standard input for `-`.

    Raises InputError that says where and what is wrong.
    """
    name = os.fspath(source)
    if name not in {"", "-"} and Path(name).is_dir():
        from sedeval_soft.formats.folder import read_folder

        return read_folder(name, read_table)
    rows = read_table(open_source(name, stdin))
    if rows is None:
        raise InputError(
            Problem(
                name,
                "is empty; expected a table (an output without events is written as a header alone)",
                code="empty-file",
            )
        )
    return rows


def read_table(source: Source) -> Rows | None:
    """Read one table, None where it has no line at all."""
    sniffed = sniff(source)
    if sniffed is None:
        return None
    rows = read_fast(source, sniffed)
    if rows is not None:
        return rows
    from sedeval_soft.formats.careful import read_carefully

    return read_carefully(source, sniffed)
