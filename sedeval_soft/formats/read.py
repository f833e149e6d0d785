"""Read a table from a file, a folder or standard input."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

from sedeval_soft.core.errors import InputError, Problem
from sedeval_soft.core.intake import LIMITS, Limits
from sedeval_soft.core.rows import Rows
from sedeval_soft.formats.sniff import sniff
from sedeval_soft.formats.source import Source, open_source
from sedeval_soft.formats.table import read_fast


def read_rows(
    source: str | os.PathLike[str], *, stdin: BinaryIO | None = None, limits: Limits = LIMITS
) -> Rows:
    """Read a table, a folder of tables (one per recording, named after it), or standard input for `-`.

    limits: the most that it may have. Raises InputError that says where and what is wrong.
    """
    name = os.fspath(source)
    if name not in {"", "-"} and Path(name).is_dir():
        from sedeval_soft.formats.folder import read_folder

        return read_folder(name, read_table, limits)
    rows = read_table(open_source(name, stdin, limits), limits)
    if rows is None:
        raise InputError(
            Problem(
                name, "is empty; expected a table (an output without events is written as a header alone)"
            )
        )
    return rows


def read_table(source: Source, limits: Limits = LIMITS) -> Rows | None:
    """Read one table, None where it has no line at all."""
    sniffed = sniff(source, limits)
    if sniffed is None:
        return None
    rows = read_fast(source, sniffed, limits)
    if rows is not None:
        return rows
    from sedeval_soft.formats.careful import read_carefully

    return read_carefully(source, sniffed, limits)
