"""A table read block by block: what has been read is let go of before more is read.

Rows, and what is wrong with them, are those of the table read as a whole: a block of text ends with a line,
and lines are counted on. What cannot be read so (standard input, a table without names of recordings, one
with a byte order mark) is left to the plain reader.
"""

from __future__ import annotations

import hashlib
import mmap
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from sedeval_soft.errors import MAX_PROBLEMS, InputError, Problem
from sedeval_soft.tables.event_table import UNNAMED, EventTable
from sedeval_soft.tables.forms import form_at_once, form_instead
from sedeval_soft.tables.limits import LIMITS, Limits, over_limit
from sedeval_soft.tables.source import BOM, GZIP, Bytes, Source, hashed, is_url, read_bytes, spelled
from sedeval_soft.tables.stored_rows import on_disk
from sedeval_soft.tables.text import read_sniffed, sniff
from sedeval_soft.tables.text_lines import Sniffed, check_rows

_MARKS = (b"\xff\xfe", b"\xfe\xff", BOM)
_AT_ONCE = 1 << 24
"""Bytes that are hashed, or counted in, before their pages are let go of."""

_COLUMNAR = frozenset({"parquet", "arrow", "arrow-stream"})


class UnfitError(Exception):
    """A table cannot be read block by block; the plain reader reads it, or says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Blocks:
    """A table in blocks: its rows, of which there are some at least once, and the hash of its bytes."""

    rows: Iterator[EventTable]
    sha256: Callable[[], str]


def blocks_of(name: str, scratch: Path, size: int, limits: Limits = LIMITS) -> Blocks:
    """Return a table in blocks of about so many bytes.

    scratch: a folder for what must be decompressed. Raises InputError with what is wrong with the table, and
    UnfitError; so does reading the blocks.
    """
    source = _opened(name, scratch, limits)
    form = form_at_once(source)
    if form in _COLUMNAR:
        from sedeval_soft.tables.parquet import read_batches

        return Blocks(_with_names(read_batches(source, limits, form, size)), lambda: source.sha256)
    try:
        sniffed = None if form else sniff(source, limits)
    except InputError as error:
        raise UnfitError from error
    if sniffed is None or not sniffed.sound or sniffed.layout.position("filename") is None:
        raise UnfitError
    check_rows(source, 0, limits)
    return Blocks(_with_names(_blocks_of_text(source, sniffed, size, limits)), lambda: source.sha256)


def _with_names(blocks: Iterator[EventTable]) -> Iterator[EventTable]:
    for rows in blocks:
        if UNNAMED in rows.files:
            raise UnfitError
        yield rows
    # What was read with is not needed again.
    pa.default_memory_pool().release_unused()


def _opened(name: str, scratch: Path, limits: Limits) -> Source:
    """Return the bytes of a file, mapped, and their hash, which is made meanwhile; decompressed on the disk.

    Raises UnfitError for what is no file, or not to be read in blocks.
    """
    if not is_url(name) and not os.path.isfile(name):
        raise UnfitError
    data = raw = read_bytes(name, limits=limits)
    if raw[:2] == GZIP:
        from tempfile import TemporaryFile

        from sedeval_soft.tables.compressed import Taken, unfold

        with on_disk(scratch), TemporaryFile(dir=scratch) as file:
            unfold(spelled(name), raw, Taken(spelled(name), limits, file), limits)
            file.flush()
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if file.tell() else b""
    if data[:2] in _MARKS or data[:3] in _MARKS:
        raise UnfitError
    return Source(spelled(name), data, hashed(raw, _sha256))


def _sha256(raw: Bytes) -> str:
    digest = hashlib.sha256()
    for piece in _pieces(raw, 0, len(raw)):
        digest.update(piece)
    return digest.hexdigest()


def _pieces(data: Bytes, begin: int, end: int) -> Iterator[bytes]:
    """Yield a text, no piece ending within the end of a line; memory of those before is given back."""
    while begin < end:
        stop = min(end, begin + _AT_ONCE)
        stop += data[stop - 1 : stop + 1] == b"\r\n" and stop < end
        yield data[begin:stop]
        _let_go(data, begin, stop)
        begin = stop


def _let_go(data: Bytes, begin: int, end: int) -> None:
    """Give back the memory of pages of a mapped file; who needs them again has them from the disk."""
    if isinstance(data, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        begin -= begin % mmap.PAGESIZE
        with suppress(OSError, ValueError):
            data.madvise(mmap.MADV_DONTNEED, begin, min(end, len(data)) - begin)


def _blocks_of_text(source: Source, sniffed: Sniffed, size: int, limits: Limits) -> Iterator[EventTable]:
    """Yield the rows of blocks of lines; raises InputError with what is wrong in all of them, as for one."""
    data = source.data
    problems: list[Problem] = []
    n_problems = lines = begin = counted = 0
    while begin < len(data) and n_problems <= MAX_PROBLEMS:
        # Behind the last end of a line in the block, or the first one after it.
        end = data.rfind(b"\n", begin, begin + size) + 1 or data.find(b"\n", begin) + 1
        if begin + size >= len(data) or not end:
            end = len(data)
        block = Source(source.name, data[begin:end], lambda: "")
        try:
            rows = read_sniffed(block, replace(sniffed, skip=0) if begin else sniffed, limits)
        except InputError as error:
            if not over_limit(error) and form_instead(source, sniffed):
                raise UnfitError from error
            # Lines are counted where somebody wants to know.
            for text in _pieces(data, counted, begin):
                lines += text.count(b"\n") + text.count(b"\r") - text.count(b"\r\n")
            counted = begin
            moved = [p if p.line is None else replace(p, line=p.line + lines) for p in error.problems]
            if over_limit(error):
                raise InputError(moved, error.more) from error
            problems += moved
            n_problems += len(moved) + bool(error.more)
        else:
            if not problems:
                yield rows
        _let_go(data, begin, end)
        begin = end
    if problems:
        raise InputError(problems[:MAX_PROBLEMS], more=n_problems > MAX_PROBLEMS)
