"""Whole recordings in parts: as many together as memory holds while they are counted.

A table in files may have its rows in any order, and may be in several files (shards). Each file is read
block by block, once, and its rows are written to the part of their recording, which a hash of its name tells.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sedeval_soft.errors import EvaluationError, InputError
from sedeval_soft.evaluation.count import LESS_MEMORY, bytes_per_cell, bytes_per_file
from sedeval_soft.evaluation.execute import Execute
from sedeval_soft.memory import check_room, reuse_freed
from sedeval_soft.settings import Settings
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.blocks import UnfitError, blocks_of
from sedeval_soft.tables.event_table import UNNAMED, EventTable
from sedeval_soft.tables.filenames import listing, stem_of
from sedeval_soft.tables.joined_tables import Shard, joined, shards_of
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.source import bytes_as_text, spelled
from sedeval_soft.tables.stored_rows import Extent, PartWriter, Piece, part_of, read_pieces
from sedeval_soft.threads import ahead

_ROW, _VALUE = 400, 40
"""Bytes that counting takes at the most for each row, and for each further value of a row of a wide table."""

_BLOCK = (1 << 20, 1 << 24)
"""Bytes that are read at a time, at the least and at the most: more leave the processor's cache."""

_MOST_PARTS, _MOST_PIECES = 256, 200_000
"""Parts of a table, and parts of all its shards together: each is a file, or a task of a cluster."""

Pieces = tuple[list[Any], list[Any]]
"""The rows of a part on either side, in the order of shards: where they are."""


@dataclass(frozen=True, slots=True)
class Part:
    """Whole recordings of both sides, which are counted by themselves.

    reference, system: without any row: these are in `pieces`. durations: seconds by file name, None where
    there are none for any. n_rows: of both sides, and n_bytes: what counting these takes, 0 where they are in
    memory already. size: bytes that counting takes, with the segments. steps: ticks of the time step of the
    whole system by some of its classes, where that is needed. joined: by role whether touching rows are one
    event, where parts by themselves would not say the same.
    """

    reference: EventTable
    system: EventTable
    durations: Mapping[str, float] | None
    pieces: Pieces
    n_rows: int
    n_bytes: float
    size: float
    steps: Mapping[tuple[str, ...], float] = field(default_factory=dict)
    joined: Mapping[str, bool] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Return what the part is, for messages."""
        return listing(tuple(dict.fromkeys([*self.reference.files, *self.system.files])), "recording")

    def sides(self) -> tuple[EventTable, EventTable]:
        """Return the rows of both sides; raises RoomError where they do not fit into memory."""
        check_room(
            self.n_bytes / 2,
            f"{self.system.origin.name}: to count the {self.n_rows} rows of {self.name} on both sides",
            f"Expected shorter recordings, or more memory: each is counted as a whole. {LESS_MEMORY}",
        )
        reference = read_pieces(self.reference, [*self.pieces[0]])
        system = read_pieces(self.system, [*self.pieces[1]])
        ours = replace(reference.origin, joined=self.joined.get("reference", reference.origin.joined))
        joined = self.joined.get("system", system.origin.joined)
        theirs = replace(system.origin, joined=joined, steps=self.steps)
        return replace(reference, origin=ours), replace(system, origin=theirs)


@dataclass(frozen=True, slots=True)
class Partition:
    """Both tables in parts.

    reference, system: without any row. durations: seconds by file name. n_rows: how many each side has.
    least: the bytes that are needed however recordings are divided.
    """

    parts: list[Part]
    reference: EventTable
    system: EventTable
    durations: Mapping[str, float] | None
    n_rows: tuple[int, int]
    least: float


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
) -> Partition:
    """Write tables in files to parts; raises what is wrong with the first that something is wrong with.

    read_durations: called when tables are read. folder: where rows are written; None keeps them in memory,
    where they were read. n_parts, block (bytes that are read at a time): as memory asks for where they are
    None.
    """
    reuse_freed()
    names = (reference, system)
    files = [shards_of(name, limits) for name in names]
    if n_parts is None:
        size = sum(bytes_as_text(file.name, file.size) for side in files for file in side)
        wanted = max(4 * execute.jobs, -(-32 * size // max(1, execute.memory)))
        n_parts = max(1, min(_MOST_PARTS, _MOST_PIECES // sum(map(len, files)), wanted))
    block = block or min(max(execute.memory // 96, _BLOCK[0]), _BLOCK[1])
    limits_of = [replace(limits, side=name) for name in ("reference", "system")]
    readings = [
        Reading(file, execute.path(file.name), f"{role}.{number}", n_parts, block, limits_of[role], folder)
        for role, side in enumerate(files)
        for number, file in enumerate(side)
    ]
    # Pipes are this process's own.
    streams = any(r.path == "-" or (os.path.exists(r.path) and not os.path.isfile(r.path)) for r in readings)
    where: Execute = Execute() if streams else execute
    written = where.keep(write_parts, readings)
    summaries = where.fetch(where.derive(_summary, written))
    sides = summaries[: len(files[0])], summaries[len(files[0]) :]
    # What is wrong with the reference is told first, whichever was found first.
    ours, theirs = (
        _whole(name, side, limits, elsewhere=not execute.on_disk)
        for name, side in zip(names, sides, strict=True)
    )

    @cache
    def pieces_of(number: int | None) -> Pieces:
        """Return the pieces of a part, or of all."""
        pieces: Pieces = ([], [])
        for at, (file, summary) in enumerate(zip(written, summaries, strict=True)):
            for k in summary.pieces:
                if number in (None, k):
                    pieces[at >= len(files[0])].extend(where.derive(partial(_piece, number=k), [file]))
        return pieces

    extents = [[summary.extent for summary in side] for side in sides]
    return _divided((ours, theirs), extents, pieces_of, settings, read_durations(), n_parts, execute.memory)


def _divided(
    sides: tuple[EventTable, EventTable],
    extents: Sequence[Sequence[Extent]],
    pieces_of: Callable[[int | None], Pieces],
    settings: Settings,
    durations: Mapping[str, float] | None,
    n_parts: int,
    most: int,
) -> Partition:
    """Return recordings in parts: as many of a written part together as take less than half of some memory.

    sides: both tables without any row. extents: of each file of either side. pieces_of: returns the pieces of
    a written part, of all for None.
    """
    every = [extent for side in extents for extent in side]
    lengths = durations or {}
    named = [*(extent.names for extent in every), *sides]
    names = [*(name for rows in named for name in rows.files), *lengths]
    number = {stem: k for k, stem in enumerate(dict.fromkeys(map(stem_of, names)))}
    n_classes = len(settings.classes or {name for extent in every for name in extent.names.classes})
    n_rows, n_bytes, length = np.zeros((3, len(number)))
    for extent in every:
        at = np.array([number[stem_of(name)] for name in extent.names.files], dtype=np.int64)
        width = max(1, len(extent.names.values))
        np.add.at(n_rows, at, extent.n_rows)
        np.add.at(n_bytes, at, extent.n_rows * (_ROW + _VALUE * (width - 1)))
        np.maximum.at(length, at, extent.last)
    for name, seconds in lengths.items():
        k = number[stem_of(name)]
        length[k] = max(length[k], seconds)
    for name, _, end in settings.regions or ():
        k = number.get(stem_of(name), -1)
        if k >= 0:
            length[k] = max(length[k], end)
    cells = np.ceil(length / settings.segment_length) * n_classes
    size = bytes_per_file(n_classes, settings) + bytes_per_cell(settings) * cells
    size += n_bytes

    # Of the recordings of a part, as many as take less than half: what was counted already stays.
    full = [0.0] * n_parts
    keys: list[tuple[int, float]] = []
    for stem, more in zip(number, size.tolist(), strict=True):
        part = part_of(stem, n_parts)
        full[part] += more
        keys.append((part, full[part] // max(1.0, most / 2)))
    if UNNAMED in names or not names:
        # It goes by the name that the other side has: only together they are one recording.
        keys, n_parts = [(0, 0.0)] * len(keys), 0
    groups = {key: k for k, key in enumerate(sorted({*keys}) or [(0, 0.0)])}
    group = np.array([groups[key] for key in keys], dtype=np.int64)
    inside: list[tuple[list[str], ...]] = [([], [], []) for _ in groups]
    for k, of_side in enumerate((sides[0].files, sides[1].files, lengths)):
        for name in of_side:
            inside[group[number[stem_of(name)]]][k].append(name)
    sums = (np.bincount(group, each, len(groups)).tolist() for each in (n_rows, n_bytes, size))
    parts = [
        Part(
            replace(sides[0], files=tuple(ours)),
            replace(sides[1], files=tuple(theirs)),
            None if durations is None else {name: durations[name] for name in given},
            pieces_of(part if n_parts else None),
            int(n),
            rows_take,
            all_take,
        )
        for (part, _), (ours, theirs, given), n, rows_take, all_take in zip(
            groups, inside, *sums, strict=True
        )
    ]
    n_ours, n_theirs = (sum(int(extent.n_rows.sum()) for extent in side) for side in extents)
    least = max(len(number) * bytes_per_file(n_classes, settings), float(size.max(initial=0.0)))
    return Partition(parts, *sides, durations, (n_ours, n_theirs), least)


# Files, each written to parts by whoever reads it.


class Reading(NamedTuple):
    """A file to be written to parts. path: where it is for who reads it; folder: None for memory."""

    file: Shard
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
class Written:
    """A file that was written to parts: its rows by part, None where only their numbers are told."""

    shard: Shard
    extent: Extent
    pieces: Mapping[int, Piece | None]


def write_parts(reading: Reading) -> Written | EvaluationError:
    """Write the rows of a file to the parts of their recordings; return what is wrong where something is."""
    try:
        return _write_parts(reading)
    except EvaluationError as error:
        return error.with_traceback(None)


def _write_parts(reading: Reading) -> Written:
    from tempfile import gettempdir

    file, limits = reading.file, reading.limits
    scratch = reading.folder or Path(gettempdir())
    try:
        blocks, sha256 = blocks_of(reading.path, scratch, reading.block, file.limits(limits))
        with PartWriter(reading.n_parts, limits, reading.folder, reading.stem) as writer:
            for rows in ahead(blocks):
                writer.add(rows)
            extent, pieces = writer.close(sha256)
        # Tables that do not name their recordings cannot be read so.
        file = file.holding(extent.names)
    except UnfitError:
        if file.alone:
            file = file.holding(read_rows(reading.path, limits=limits))
        else:
            file = file.read(reading.path, limits)
        digest = file.rows.origin.sha256 or ""
        with PartWriter(reading.n_parts, limits, reading.folder, f"{reading.stem}.whole") as writer:
            writer.add(file.rows)
            extent, pieces = writer.close(lambda: digest)
    # It goes by the name that it was given, wherever it was read.
    name = extent.names.origin.name.replace(spelled(reading.path), reading.name)
    rows = replace(extent.names, origin=replace(extent.names.origin, name=name))
    return Written(replace(file, rows=rows, n_rows=int(extent.n_rows.sum())), extent, pieces)


def _summary(written: Written | EvaluationError) -> Written | EvaluationError:
    """Return all but the rows of a file."""
    if isinstance(written, EvaluationError):
        return written
    return replace(written, pieces=dict.fromkeys(written.pieces))


def _piece(written: Written, number: int) -> Piece | None:
    return written.pieces[number]


def _whole(
    name: str, files: Sequence[Written | EvaluationError], limits: Limits, *, elsewhere: bool
) -> EventTable:
    """Return the table that some files are together, without any row; raises what is wrong with the first.

    elsewhere: whether files were read on other machines, which may not see what is here.
    """
    shards = []
    for file in files:
        if not isinstance(file, EvaluationError):
            shards.append(file.shard)
            continue
        problem = file.problems[0] if isinstance(file, InputError) else None
        if elsewhere and problem and problem.code == "unreadable-file" and os.access(problem.source, os.R_OK):
            expected = "expected shards where all workers see them by the same path, or URLs"
            raise EvaluationError(f"{file}; {expected}") from file
        raise file
    rows = joined(name, shards, limits)
    return replace(rows, origin=limits.as_read(rows.origin, ""))
