"""Rows of a table on the disk: read block by block, written once by recording, and read back part by part.

A block of text ends with a line, and lines are counted on: rows and their problems are the same as for the
table read as a whole, and each block is freed before the next is read. A part has all rows of some
recordings, in the order in which they were read. Names that could be of one recording, with or without
folders and extension, are in the same part, on either side of an evaluation.
"""

from __future__ import annotations

import contextlib
import os
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import chain, count
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from sedeval_soft.arrays import Array
from sedeval_soft.errors import InputError
from sedeval_soft.memory import RoomError
from sedeval_soft.tables.columns import Layout
from sedeval_soft.tables.event_table import UNNAMED, EventTable, Origin
from sedeval_soft.tables.filenames import stem_of
from sedeval_soft.tables.forms import form_at_once
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.lines import line_ends
from sedeval_soft.tables.rows import joined_notes
from sedeval_soft.tables.source import Source, is_url, let_go, on_disk, open_source
from sedeval_soft.tables.text import check_text_room, read_text, sniff


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield a private folder for temporary files, removed in the end; raises FullError."""
    with contextlib.ExitStack() as stack:
        with on_disk():
            folder = stack.enter_context(
                TemporaryDirectory(prefix="soft-sed-eval-", ignore_cleanup_errors=True)
            )
        yield Path(folder)


def part_of(name: str, n_parts: int) -> int:
    """Return the part of a recording."""
    return zlib.crc32(stem_of(name).encode("utf-8", "surrogatepass")) % n_parts


class Piece(NamedTuple):
    """The rows that a table has in one part.

    names: an empty table of the recordings of the part and the classes of the table. path, batches: the Arrow
    file that has the rows, and which of its batches. n_rows: how many.
    """

    names: EventTable
    path: str
    batches: tuple[int, ...]
    n_rows: int

    def read(self) -> EventTable:
        """Return the rows."""
        with pa.memory_map(self.path) as file, pa.ipc.open_file(file) as stream:
            table = pa.Table.from_batches([stream.get_batch(number) for number in self.batches])
        columns: dict[str, Any] = {name: table.column(name).to_numpy() for name in table.column_names}
        values = tuple(columns.pop(f"value {k}") for k in range(len(self.names.values)))
        return replace(self.names, **columns, values=values)


def store(
    blocks: Iterator[EventTable], n_parts: int, folder: Path, limits: Limits, sha256: Callable[[], str]
) -> tuple[EventTable, dict[int, Piece]]:
    """Write the blocks of a table, as they come, to a file; return the table without rows, and its parts.

    There is at least one block. n_parts: how many parts there are, those without rows left out. sha256: of
    the bytes of the table, known when all were read. Raises InputError over a limit, and FullError.
    """
    files: dict[str, tuple[int, int]] = {}
    classes: dict[str, int] = {}
    members: list[list[str]] = [[] for _ in range(n_parts)]
    batches: dict[int, list[int]] = {}
    n_rows, numbers, origins = Counter[int](), count(), list[Origin]()
    begin = next(blocks)
    first = begin.take(np.zeros(0, dtype=np.intp))  # a slice would keep all rows in memory
    with on_disk(folder), contextlib.ExitStack() as stack:
        for rows in chain([begin], blocks):
            origins.append(rows.origin)
            for name in rows.files:
                if name not in files:
                    part = part_of(name, n_parts)
                    files[name] = part, len(members[part])
                    members[part].append(name)
            label = [classes.setdefault(name, len(classes)) for name in rows.classes]
            n_read = n_rows.total() + len(rows)
            for what, n in (("rows", n_read), ("files", len(files)), ("classes", len(classes))):
                limits.check(first.origin.name, what, n, what)
            codes = np.array([files[name] for name in rows.files], dtype=np.int32).reshape(-1, 2)
            parts = codes[:, 0].astype(np.uint16)[rows.file]
            columns: dict[str, Array] = {"file": codes[:, 1][rows.file]}
            columns |= {"onset": rows.onset, "offset": rows.offset}
            if rows.label is not None:
                columns["label"] = np.array(label, dtype=np.int32)[rows.label]
            columns |= {f"value {k}": column for k, column in enumerate(rows.values)}
            order = np.argsort(parts, kind="stable")
            batch = pa.RecordBatch.from_pydict({name: column[order] for name, column in columns.items()})
            if len(origins) == 1:
                file = stack.enter_context(NamedTemporaryFile(dir=folder, delete=False))
                writer = stack.enter_context(pa.ipc.new_file(file, batch.schema))
            groups = np.unique(parts[order], return_index=True, return_counts=True)
            for part, at, n in zip(*(each.tolist() for each in groups), strict=True):
                writer.write_batch(batch.slice(at, n))
                batches.setdefault(part, []).append(next(numbers))
                n_rows[part] += n
    origin = replace(
        origins[0],
        sha256=sha256(),
        notes=joined_notes([note for each in origins for note in each.notes]),
        assumed=tuple(dict.fromkeys(text for each in origins for text in each.assumed)),
        lacking=tuple(text for text in origins[0].lacking if all(text in each.lacking for each in origins)),
    )
    names = replace(first, files=tuple(files), classes=tuple(classes), origin=origin)
    pieces = {
        part: Piece(replace(names, files=tuple(members[part])), file.name, tuple(inside), n_rows[part])
        for part, inside in batches.items()
    }
    return names, pieces


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
        from sedeval_soft.tables.columnar import read_batches

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
