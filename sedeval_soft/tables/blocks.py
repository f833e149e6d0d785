"""A table block by block: each block is freed before the next is read.

Rows and their problems are the same as for the table read as a whole: a block of text ends with a line, and
lines are counted on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from sedeval_soft.errors import InputError
from sedeval_soft.memory import RoomError
from sedeval_soft.tables.columns import Layout
from sedeval_soft.tables.event_table import UNNAMED, EventTable
from sedeval_soft.tables.forms import form_at_once
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.lines import line_ends
from sedeval_soft.tables.source import Source, is_url, let_go, open_source
from sedeval_soft.tables.text import check_text_room, read_text, sniff


class UnfitError(Exception):
    """A table that cannot be read block by block; the plain reader reads it, or reports its problems."""


def blocks_of(
    name: str, scratch: Path, size: int, limits: Limits = LIMITS
) -> tuple[Iterator[EventTable], Callable[[], str]]:
    """Return the rows of a table in blocks of about so many bytes, some at least, and the hash of its bytes.

    scratch: a folder for decompressed data. Raises InputError with the problems of the table, and UnfitError,
    for standard input and a table without names of recordings; so does reading the blocks.
    """
    if not is_url(name) and not os.path.isfile(name):
        raise UnfitError
    source = open_source(name, limits=limits, scratch=scratch)
    form = form_at_once(source, limits)
    if not source.data or form not in {"", "parquet", "arrow", "arrow-stream"}:
        raise UnfitError
    if form:
        from sedeval_soft.tables.parquet import read_batches

        return _checked(source, read_batches(source, limits, form, size), limits), lambda: source.sha256
    try:
        layout = sniff(source, limits)
    except InputError as error:
        raise UnfitError from error
    if layout is None or layout.position("filename") is None:
        raise UnfitError
    return _checked(source, _blocks_of_text(source, layout, size, limits), limits), lambda: source.sha256


def _checked(source: Source, blocks: Iterator[EventTable], limits: Limits) -> Iterator[EventTable]:
    """Yield blocks; raises InputError if all so far have far more rows than the source has bytes."""
    n_rows = 0
    for rows in blocks:
        if UNNAMED in rows.files:
            raise UnfitError
        n_rows += len(rows)
        limits.check_dense(source.name, n_rows, source.packed)
        yield rows
    # What was read with is not needed again.
    pa.default_memory_pool().release_unused()


def _blocks_of_text(source: Source, layout: Layout, size: int, limits: Limits) -> Iterator[EventTable]:
    """Yield the rows of blocks of lines; raises UnfitError for a block with a problem.

    Raises InputError with the problems of the block if the whole table exceeds memory.
    """
    data, begin = source.data, 0
    size = len(data) if layout.once else size
    while begin < len(data):
        # Behind the last end of a line in the block, or the first one after it.
        end = data.rfind(b"\n", begin, begin + size) + 1 or data.find(b"\n", begin) + 1
        if begin + size >= len(data) or not end:
            end = len(data)
        block = Source(source.name, data[begin:end], str)
        rows, found = read_text(block, replace(layout, skip=0) if begin else layout, limits)
        if found is not None:
            with suppress(RoomError):
                check_text_room(source, layout)
                raise UnfitError
            before = line_ends(data, begin)
            found.problems = [replace(each, line=each.line and each.line + before) for each in found.problems]
            found.check()
        if rows is not None:
            yield rows
        let_go(data, begin, end)
        begin = end
