"""Tables in files in parts: rows are written once, by recording, and each part is read when it is counted.

A table may have its rows in any order, and may be in several files (shards). Each file is read block by
block, and its rows are written to the part of their recording, which a hash of its name tells.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from sedeval_soft.errors import EvaluationError, InputError
from sedeval_soft.evaluation.execute import Execute, Serial
from sedeval_soft.evaluation.partition import Part, Partition, by_stem, grouped, names_in
from sedeval_soft.settings import Settings
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.blocks import UnfitError, blocks_of
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.files import ShardFile, shards_of
from sedeval_soft.tables.files import stem_of as recording_of
from sedeval_soft.tables.forms import read_table
from sedeval_soft.tables.joined_tables import Held, joined, recordings, with_recording
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.paths import is_stream
from sedeval_soft.tables.source import bytes_as_text, open_source, spelled
from sedeval_soft.tables.stored_rows import Extent, PartWriter, Piece

_BLOCK = (1 << 20, 1 << 24)
"""Bytes that are read at a time, at the least and at the most: more leave the processor's cache."""

_MOST_PARTS, _MOST_PIECES = 256, 200_000
"""Parts of a table, and parts of all its shards together: each is a file, or a task of a cluster."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A file to be written to parts. path: where it is for who reads it; folder: None for memory."""

    file: ShardFile
    path: str
    stem: str
    n_parts: int
    block: int
    limits: Limits
    folder: Path | None

    @property
    def name(self) -> str:
        """Return what the file is called, for messages."""
        return spelled(self.file.name)


@dataclass(frozen=True, slots=True)
class Summary:
    """All but the rows of a file that was written to parts. numbers: the parts that it has rows in."""

    held: Held
    extent: Extent | None
    numbers: frozenset[int]


@dataclass(frozen=True, slots=True)
class Written:
    """A file that was written to parts."""

    summary: Summary
    pieces: Mapping[int, Piece]


def partition_files(
    reference: str,
    system: str,
    settings: Settings,
    read_durations: Callable[[], Mapping[str, float] | None],
    limits: Limits,
    execute: Execute,
    folder: Path | None,
    n_parts: int | None = None,
    block: int | None = None,
) -> tuple[Partition, Mapping[str, float] | None]:
    """Write tables in files to parts; raises what is wrong with the first that something is wrong with.

    read_durations: called when tables are read. folder: where rows are written; None keeps them in memory,
    where they were read. n_parts, block (bytes that are read at a time): as memory asks for where they are
    None.
    """
    names = (reference, system)
    files = [shards_of(name, limits) for name in names]
    n_files = sum(map(len, files))
    if n_parts is None:
        size = sum(bytes_as_text(file.name, file.size) for side in files for file in side)
        wanted = max(4 * execute.jobs, -(-8 * size // max(1, execute.memory)))
        n_parts = max(1, min(_MOST_PARTS, _MOST_PIECES // n_files, wanted))
    block = block or min(max(execute.memory // 96, _BLOCK[0]), _BLOCK[1])
    readings = [
        Reading(file, execute.path(file.name), f"{role}.{number}", n_parts, block, limits, folder)
        for role, side in enumerate(files)
        for number, file in enumerate(side)
    ]
    # Pipes are this process's own.
    streams = any(reading.path == "-" or is_stream(reading.path) for reading in readings)
    where: Execute = Serial() if streams else execute
    written = where.keep(write_parts, readings)
    summaries = where.fetch(where.derive(_summary, written))
    sides = summaries[: len(files[0])], summaries[len(files[0]) :]
    # What is wrong with the reference is told first, whichever was found first.
    empty = [
        _whole(name, side, limits, elsewhere=not execute.on_disk)
        for name, side in zip(names, sides, strict=True)
    ]
    durations = read_durations()
    extents = [[summary.extent for summary in side if summary.extent is not None] for side in sides]
    groups = grouped(extents, settings, durations, n_parts, execute.memory)

    def pieces(numbers: Sequence[int]) -> tuple[list[Any], list[Any]]:
        found: tuple[list[Any], list[Any]] = ([], [])
        for at, (file, summary) in enumerate(zip(written, summaries, strict=True)):
            for number in numbers:
                if number in summary.numbers:
                    found[at >= len(files[0])].extend(where.derive(partial(_piece, number=number), [file]))
        return found

    pieces_of: dict[tuple[int, ...], tuple[list[Any], list[Any]]] = {}
    parts = []
    names_of = [by_stem(rows.files) for rows in empty]
    lengths_of = by_stem(durations or ())
    for numbers, stems in groups.of:
        if numbers not in pieces_of:
            pieces_of[numbers] = pieces(numbers)
        ours, theirs = (
            replace(rows, files=names_in(named, stems)) for rows, named in zip(empty, names_of, strict=True)
        )
        lengths = (
            None if durations is None else {name: durations[name] for name in names_in(lengths_of, stems)}
        )
        n_rows, n_bytes = groups.sizes(stems)
        parts.append(Part(ours, theirs, lengths, pieces_of[numbers], n_rows, n_bytes))
    n_ours, n_theirs = (sum(summary.held.n_rows for summary in side) for side in sides)
    parts = parts or [Part(empty[0], empty[1], durations)]
    whole = Partition(parts, empty[0], empty[1], (n_ours, n_theirs), groups.n_values, groups.n_cells)
    return whole, durations


def _whole(
    name: str, files: Sequence[Summary | EvaluationError], limits: Limits, *, elsewhere: bool
) -> EventTable:
    """Return the table that some files are together, without any row; raises what is wrong with the first.

    elsewhere: whether files were read on other machines.
    """
    held = []
    for file in files:
        if isinstance(file, EvaluationError):
            raise _unseen(file) if elsewhere else file
        held.append(file.held)
    return joined(name, recordings(name, held), limits)


def _unseen(error: EvaluationError) -> EvaluationError:
    """Return an error with what to do about a file that is here, and that a worker cannot read."""
    if not isinstance(error, InputError):
        return error
    expected = "expected shards where all workers see them by the same path, or URLs"
    problems = [
        replace(each, message=f"{each.message}; {expected}")
        if each.code == "unreadable-file" and os.access(each.source, os.R_OK)
        else each
        for each in error.problems
    ]
    return InputError(problems, error.more)


def write_parts(reading: Reading) -> Written | EvaluationError:
    """Write the rows of a file to the parts of their recordings; return what is wrong where something is."""
    path, name = spelled(reading.path), reading.name
    try:
        written = _write_parts(reading)
    except EvaluationError as error:
        # It is told by the name that it goes by, wherever it was read.
        return _renamed(error, path, name) if path != name else error.with_traceback(None)
    summary = written.summary
    rows = summary.held.rows
    if path == name or rows is None:
        return written
    own = replace(rows, origin=replace(rows.origin, name=rows.origin.name.replace(path, name)))
    return replace(written, summary=replace(summary, held=replace(summary.held, rows=own)))


def _write_parts(reading: Reading) -> Written:
    file, limits = reading.file, reading.limits
    from tempfile import gettempdir

    scratch = reading.folder or Path(gettempdir())
    try:
        blocks = blocks_of(reading.path, scratch, reading.block, file.limits(limits))
        with PartWriter(reading.n_parts, limits, reading.folder, reading.stem) as writer:
            for rows in blocks.rows:
                writer.add(rows)
            extent, pieces = writer.close(blocks.sha256)
        # Tables that do not name their recordings cannot be read so.
        named = True if extent.names.files else None
    except UnfitError:
        whole = (
            read_rows(reading.path, limits=limits)
            if file.alone
            else read_table(open_source(reading.path, limits=limits), limits=file.limits(limits))
        )
        held = Held.of(file, whole)
        if whole is None:
            return Written(Summary(held, None, frozenset()), {})
        named = held.named
        if not named and not file.alone and len(whole):
            whole = with_recording(whole, recording_of(file.name))
        sha256 = whole.origin.sha256 or ""
        with PartWriter(reading.n_parts, limits, reading.folder, f"{reading.stem}.whole") as writer:
            writer.add(whole)
            extent, pieces = writer.close(lambda: sha256)
    held = Held(file, extent.names, int(extent.n_rows.sum()), named)
    return Written(Summary(held, extent, frozenset(pieces)), pieces)


def _renamed(error: EvaluationError, path: str, name: str) -> EvaluationError:
    """Return an error of a file by another name."""
    if isinstance(error, InputError):
        problems = [
            replace(each, source=each.source.replace(path, name), message=each.message.replace(path, name))
            for each in error.problems
        ]
        return InputError(problems, error.more)
    return type(error)(str(error).replace(path, name))


def _summary(written: Written | EvaluationError) -> Summary | EvaluationError:
    return written if isinstance(written, EvaluationError) else written.summary


def _piece(written: Written, number: int) -> Piece:
    return written.pieces[number]
