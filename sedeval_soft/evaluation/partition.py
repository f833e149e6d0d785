"""Whole recordings in parts: as many together as memory holds while they are counted.

A table in files may have its rows in any order, and may be in several files (shards). Each file is read
block by block, once, and its rows are written to the part of their recording, which a hash of its name tells.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sedeval_soft.errors import EvaluationError, InputError
from sedeval_soft.evaluation.count import bytes_per_cell, bytes_per_file
from sedeval_soft.evaluation.execute import Execute
from sedeval_soft.memory import check_room, reuse_freed, room
from sedeval_soft.settings import Settings
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.event_table import UNNAMED, EventTable
from sedeval_soft.tables.filenames import listing, stem_of
from sedeval_soft.tables.forms import UnfitError, blocks_of
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

Pieces = tuple[Sequence[Any], Sequence[Any]]
"""The rows of a part on either side, in the order of shards: where they are."""


@dataclass(frozen=True, slots=True)
class Part:
    """Whole recordings of both sides, which are counted by themselves.

    reference, system: their rows; without any row where these are in `pieces`. durations: seconds by file
    name, None where there are none for any. n_rows: of both sides, and n_bytes: what counting these takes; 0
    where they are in memory already. size: bytes that counting takes, with the segments. steps: ticks of the
    time step of the whole system by some of its classes, where that is needed.
    """

    reference: EventTable
    system: EventTable
    durations: Mapping[str, float] | None
    pieces: Pieces | None = None
    n_rows: int = 0
    n_bytes: float = 0.0
    size: float = 0.0
    steps: Mapping[tuple[str, ...], float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Return what the part is, for messages."""
        return listing(tuple(dict.fromkeys([*self.reference.files, *self.system.files])), "recording")

    def with_pieces(self, pieces: Pieces | None) -> Part:
        """Return the part with its rows elsewhere."""
        return replace(self, pieces=pieces)

    def sides(self) -> tuple[EventTable, EventTable]:
        """Return the rows of both sides; raises RoomError where they do not fit into memory."""
        check_room(
            self.n_bytes / 2,
            f"{self.system.origin.name}: to count the {self.n_rows} rows of {self.name} on both sides",
            "Expected shorter recordings, or more memory: each is counted as a whole",
        )
        ours, theirs = self.reference, self.system
        if self.pieces is not None:
            ours, theirs = (
                read_pieces(rows, [*own]) for rows, own in zip((ours, theirs), self.pieces, strict=True)
            )
        return ours, replace(theirs, origin=replace(theirs.origin, steps=self.steps))


@dataclass(frozen=True, slots=True)
class Partition:
    """Both tables in parts.

    reference, system: without any row. n_rows: how many each side has; n_values: the same, of a wide table
    times its classes. n_cells: segments of all recordings and classes.
    """

    parts: list[Part]
    reference: EventTable
    system: EventTable
    n_rows: tuple[int, int]
    n_values: int
    n_cells: int


class Group(NamedTuple):
    """Recordings that are counted together, by stem: in which parts their rows are, and how much there is."""

    numbers: tuple[int, ...]
    stems: frozenset[str]
    n_rows: int
    n_bytes: float
    size: float


class Groups(NamedTuple):
    """All recordings in groups; least: the bytes that are needed however they are divided."""

    groups: list[Group]
    n_values: int
    n_cells: int
    least: float


def partition_rows(
    reference: EventTable, system: EventTable, settings: Settings, durations: Mapping[str, float] | None
) -> Partition:
    """Return tables in memory in parts: in one, unless the segments of all recordings are too many."""
    extents = [[Extent.of(reference)], [Extent.of(system)]]
    groups, n_values, n_cells, least = _grouped(extents, settings, durations, 1, room(), in_memory=True)
    parts = [Part(reference, system, durations)]
    # Where no division helps, counting all at once says so best.
    if len(groups) > 1 and least <= room():
        number = {stem: k for k, group in enumerate(groups) for stem in group.stems}
        codes = [np.array([number[stem_of(name)] for name in rows.files]) for rows in (reference, system)]
        lengths: list[dict[str, float]] = [{} for _ in groups]
        for name, seconds in (durations or {}).items():
            lengths[number[stem_of(name)]][name] = seconds
        parts = [
            Part(
                reference.only_files(codes[0] == k),
                system.only_files(codes[1] == k),
                None if durations is None else lengths[k],
                size=group.size,
            )
            for k, group in enumerate(groups)
        ]
    n_rows = len(reference), len(system)
    return Partition(parts, extents[0][0].names, extents[1][0].names, n_rows, n_values, n_cells)


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
    reuse_freed()
    names = (reference, system)
    files = [shards_of(name, limits) for name in names]
    if n_parts is None:
        size = sum(bytes_as_text(file.name, file.size) for side in files for file in side)
        wanted = max(4 * execute.jobs, -(-32 * size // max(1, execute.memory)))
        n_parts = max(1, min(_MOST_PARTS, _MOST_PIECES // sum(map(len, files)), wanted))
    block = block or min(max(execute.memory // 96, _BLOCK[0]), _BLOCK[1])
    readings = [
        Reading(file, execute.path(file.name), f"{role}.{number}", n_parts, block, limits, folder)
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
    durations = read_durations()
    extents = [[summary.extent for summary in side] for side in sides]
    groups = _grouped(extents, settings, durations, n_parts, execute.memory)
    pieces_of: dict[tuple[int, ...], Pieces] = {}
    for numbers in dict.fromkeys(group.numbers for group in groups.groups):
        pieces: tuple[list[Any], list[Any]] = ([], [])
        for at, (file, summary) in enumerate(zip(written, summaries, strict=True)):
            for number in numbers:
                if number in summary.pieces:
                    own = where.derive(partial(_piece, number=number), [file])
                    pieces[at >= len(files[0])].extend(own)
        pieces_of[numbers] = pieces
    by_stem = [_by_stem(names) for names in (ours.files, theirs.files, durations or ())]
    parts = []
    for numbers, stems, n_rows, n_bytes, taken in groups.groups:
        inside = [tuple(name for stem in sorted(stems) for name in names.get(stem, ())) for names in by_stem]
        tables = replace(ours, files=inside[0]), replace(theirs, files=inside[1])
        lengths = None if durations is None else {name: durations[name] for name in inside[2]}
        parts.append(Part(*tables, lengths, pieces_of[numbers], n_rows, n_bytes, taken))
    parts = parts or [Part(ours, theirs, durations)]
    n_ours, n_theirs = (sum(summary.shard.n_rows for summary in side) for side in sides)
    whole = Partition(parts, ours, theirs, (n_ours, n_theirs), groups.n_values, groups.n_cells)
    return whole, durations


def _grouped(
    sides: Sequence[Sequence[Extent]],
    settings: Settings,
    durations: Mapping[str, float] | None,
    n_parts: int,
    most: int,
    *,
    in_memory: bool = False,
) -> Groups:
    """Return the recordings that are counted together: as many of a part as take less than so many bytes.

    in_memory: whether rows take no more memory than they have already.
    """
    extents = [extent for side in sides for extent in side]
    given = durations or {}
    every = [*(name for extent in extents for name in extent.names.files), *given]
    number = {stem: k for k, stem in enumerate(dict.fromkeys(map(stem_of, every)))}
    n_classes = len(settings.classes or {name for extent in extents for name in extent.names.classes})
    n_rows, n_bytes, length = np.zeros((3, len(number)))
    n_values = 0
    for extent in extents:
        at = np.array([number[stem_of(name)] for name in extent.names.files], dtype=np.int64)
        width = max(1, len(extent.names.values))
        np.add.at(n_rows, at, extent.n_rows)
        np.add.at(n_bytes, at, extent.n_rows * (_ROW + _VALUE * (width - 1)))
        np.maximum.at(length, at, extent.last)
        n_values += int(extent.n_rows.sum()) * width
    for name, seconds in given.items():
        k = number[stem_of(name)]
        length[k] = max(length[k], seconds)
    cells = np.ceil(length / settings.segment_length) * n_classes
    size = bytes_per_file(n_classes, settings) + bytes_per_cell(settings) * cells
    size += 0.0 if in_memory else n_bytes
    counts = len(number) * bytes_per_file(n_classes, settings)
    parts = np.array([part_of(stem, n_parts) for stem in number], dtype=np.int64)
    inside: dict[tuple[int, int], list[int]] = {}
    for part in range(n_parts):
        own = np.flatnonzero(parts == part)
        # What was counted already stays.
        full = np.cumsum(size[own]) // max(1.0, most / 2)
        for recording, group in zip(own.tolist(), full.tolist(), strict=True):
            inside.setdefault((part, int(group)), []).append(recording)
    in_parts: list[tuple[tuple[int, ...], list[int]]]
    in_parts = [((part,), some) for (part, _), some in inside.items()]
    if UNNAMED in every:
        # It goes by the name that the other side has: only together they are one recording.
        in_parts = [(tuple(range(n_parts)), list(range(len(number))))]
    stems = list(number)
    groups = [
        Group(
            numbers,
            frozenset(stems[k] for k in some),
            int(n_rows[some].sum()),
            float(n_bytes[some].sum()),
            float(size[some].sum()),
        )
        for numbers, some in in_parts
    ]
    return Groups(groups, n_values, int(cells.sum()), float(max(counts, size.max(initial=0.0))))


def _by_stem(names: Iterable[str]) -> dict[str, list[str]]:
    """Return names by the least of them."""
    by_stem: dict[str, list[str]] = {}
    for name in names:
        by_stem.setdefault(stem_of(name), []).append(name)
    return by_stem


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
    path, name = spelled(reading.path), reading.name
    try:
        written = _write_parts(reading)
    except EvaluationError as error:
        # It is told by the name that it goes by, wherever it was read.
        if path == name:
            return error.with_traceback(None)
        if not isinstance(error, InputError):
            return type(error)(str(error).replace(path, name))
        problems = [
            replace(each, source=each.source.replace(path, name), message=each.message.replace(path, name))
            for each in error.problems
        ]
        return InputError(problems, error.more)
    rows = written.extent.names
    rows = replace(rows, origin=replace(rows.origin, name=rows.origin.name.replace(path, name)))
    return replace(written, shard=replace(written.shard, rows=rows))


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
    return Written(replace(file, rows=extent.names, n_rows=int(extent.n_rows.sum())), extent, pieces)


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
        if not elsewhere or not isinstance(file, InputError):
            raise file
        expected = "expected shards where all workers see them by the same path, or URLs"
        problems = [
            replace(each, message=f"{each.message}; {expected}")
            if each.code == "unreadable-file" and os.access(each.source, os.R_OK)
            else each
            for each in file.problems
        ]
        raise InputError(problems, file.more)
    return joined(name, shards, limits)
