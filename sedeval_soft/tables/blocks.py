"""A table read block by block: what has been read is let go of before more is read.

Rows, and what is wrong with them, are those of the table read as a whole: a block of text ends with a line,
and lines are counted on. What cannot be read so (standard input, a table without names of recordings, one
with a byte order mark) is left to the plain reader.
"""

from __future__ import annotations

import hashlib
import mmap
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from sedeval_soft.errors import MAX_PROBLEMS, InputError, Problem
from sedeval_soft.tables.compressed import Bytes, Taken, unfold
from sedeval_soft.tables.event_table import UNNAMED, EventTable
from sedeval_soft.tables.forms import form_at_once, form_instead
from sedeval_soft.tables.limits import LIMITS, Limits, over_limit
from sedeval_soft.tables.paths import is_file
from sedeval_soft.tables.sniff import Sniffed, sniff
from sedeval_soft.tables.source import BOM, Source, is_url, read_bytes, spelled
from sedeval_soft.tables.stored_rows import on_disk
from sedeval_soft.tables.text import read_sniffed
from sedeval_soft.tables.text_lines import check_row_count

_GZIP = b"\x1f\x8b"
_MARKS = (b"\xff\xfe", b"\xfe\xff", BOM)
_HASHED = 1 << 24
"""Bytes that are hashed before their pages are let go of."""

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

        rows = read_batches(source, limits, form, size)
    elif form:
        raise UnfitError
    else:
        try:
            sniffed = sniff(source, limits)
        except InputError as error:
            raise UnfitError from error
        if sniffed is None or not sniffed.sound or sniffed.layout.position("filename") is None:
            raise UnfitError
        check_row_count(source, limits)
        rows = _blocks_of_text(source, sniffed, size, limits)
    return Blocks(_named(rows), lambda: source.sha256)


def _named(blocks: Iterator[EventTable]) -> Iterator[EventTable]:
    for rows in blocks:
        if UNNAMED in rows.files:
            raise UnfitError
        yield rows
    # What was read with is not needed again.
    pa.default_memory_pool().release_unused()


def _opened(name: str, scratch: Path, limits: Limits) -> Source:
    """Return the bytes of a file, mapped, and their hash, which is made beside; decompressed on the disk.

    Raises UnfitError for what is no file, or not to be read in blocks.
    """
    if not is_url(name) and not is_file(name):
        raise UnfitError
    raw = read_bytes(name, limits=limits)
    data = raw
    if raw[:2] == _GZIP:
        from tempfile import TemporaryFile

        with on_disk(scratch), TemporaryFile(dir=scratch) as file:
            unfold(spelled(name), raw, Taken(spelled(name), limits, file), limits)
            file.flush()
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if file.tell() else b""
    if data[:2] in _MARKS or data[:3] in _MARKS:
        raise UnfitError
    with_thread = ThreadPoolExecutor(1, thread_name_prefix="sha256")
    future = with_thread.submit(_hash, raw)
    with_thread.shutdown(wait=False)
    return Source(spelled(name), data, future.result)


def _hash(raw: Bytes) -> str:
    digest = hashlib.sha256()
    for at in range(0, len(raw), _HASHED):
        with memoryview(raw) as view:
            digest.update(view[at : at + _HASHED])
        _let_go(raw, at, at + _HASHED)
    return digest.hexdigest()


def _let_go(data: Bytes, begin: int, end: int) -> None:
    """Give back the memory of pages of a mapped file; who needs them again has them from the disk."""
    if isinstance(data, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        begin -= begin % mmap.PAGESIZE
        with suppress(OSError, ValueError):
            data.madvise(mmap.MADV_DONTNEED, begin, min(end, len(data)) - begin)


def _blocks_of_text(source: Source, sniffed: Sniffed, size: int, limits: Limits) -> Iterator[EventTable]:
    """Yield the rows of blocks of lines; raises InputError with what is wrong in all of them, as for one."""
    problems: list[Problem] = []
    n_problems = lines = begin = counted = 0
    while begin < len(source.data) and n_problems <= MAX_PROBLEMS:
        end = _end_of_block(source.data, begin, size)
        block = Source(source.name, source.data[begin:end], lambda: "")
        try:
            rows = read_sniffed(block, replace(sniffed, skip=0) if begin else sniffed, limits)
        except InputError as error:
            if not over_limit(error) and form_instead(source, sniffed):
                raise UnfitError from error
            # Lines are counted where somebody wants to know.
            lines += sum(map(_lines, _pieces(source.data, counted, begin)))
            counted = begin
            moved = [_moved(problem, lines) for problem in error.problems]
            if over_limit(error):
                raise InputError(moved, error.more) from error
            problems += moved
            n_problems += len(moved) + bool(error.more)
        else:
            if not problems:
                yield rows
        _let_go(source.data, begin, end)
        begin = end
    if problems:
        raise InputError(problems[:MAX_PROBLEMS], more=n_problems > MAX_PROBLEMS)


def _end_of_block(data: Bytes, begin: int, size: int) -> int:
    """Return where a block ends: behind the last end of a line in it, or the first one after it."""
    if begin + size >= len(data):
        return len(data)
    return data.rfind(b"\n", begin, begin + size) + 1 or data.find(b"\n", begin) + 1 or len(data)


def _pieces(data: Bytes, begin: int, end: int) -> Iterator[bytes]:
    """Yield some of a text, none of the pieces ending within the end of a line."""
    while begin < end:
        stop = min(end, begin + _HASHED)
        stop += data[stop - 1 : stop + 1] == b"\r\n" and stop < end
        yield data[begin:stop]
        _let_go(data, begin, stop)
        begin = stop


def _lines(text: bytes) -> int:
    return text.count(b"\n") + text.count(b"\r") - text.count(b"\r\n")


def _moved(problem: Problem, lines: int) -> Problem:
    """Return the problem of a line that so many others stand before."""
    return problem if problem.line is None else replace(problem, line=problem.line + lines)
