"""Score tables that memory cannot hold: parted by recording on the disk, counted part by part, merged.

The tables are read block by block. Their rows are written to temporary files, all rows of a recording to the
same one. These are counted one after another, or in several processes at a time, and what is counted is
merged as that of any batches is: the scores are those of all rows at once, to the last bit.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sedeval_soft.api.evaluation import shard_of_rows
from sedeval_soft.core.errors import EvaluationError
from sedeval_soft.core.filenames import stem_of
from sedeval_soft.core.findings import Findings, listing
from sedeval_soft.core.intake import LIMITS, Limits
from sedeval_soft.core.pair import align
from sedeval_soft.core.room import check_room, give_back, memory_limited, room
from sedeval_soft.core.rows import Rows, WideRows
from sedeval_soft.core.settings import Settings
from sedeval_soft.core.shard import Shard
from sedeval_soft.formats.blocks import UnfitError, blocks_of
from sedeval_soft.formats.buckets import Bucket, Buckets, bucket_of, on_disk
from sedeval_soft.formats.magic import EXTENSIONS, extension_of
from sedeval_soft.run.evaluation import describe
from sedeval_soft.run.single import check_counts
from sedeval_soft.run.workers import Workers

BYTES_PER_ROW = 400
"""Memory that a row of either side takes at the most while it is counted; half as much is tried."""

BYTES_PER_CELL = 64
"""The same for each segment of each class; where means are taken, three times as much."""

BYTES_PER_VALUE = 40
"""The same for each value of a row of a wide table after its first."""

_EVENT = 40
"""Bytes of an event with the thresholds at which it is one."""

LARGE = 1 << 25
"""Bytes of both tables from which several jobs are worth their start."""

_IN_MEMORY, _UNPACKED = 5, 6
"""How much of memory a byte of text takes in a table that is read at once, and how many bytes of text a
packed byte stands for."""

_PROCESS = 160 << 20
"""Bytes of a process that has done nothing yet, and of what it needs beside what it counts."""

_BLOCK = (1 << 20, 1 << 26)
"""Bytes that are read at a time, at the least and at the most."""

_BUCKETS = 256
"""The most parts that a table is parted into."""


def streamed_shard(
    reference: str,
    system: str,
    settings: Settings,
    durations: Mapping[str, float] | None = None,
    limits: Limits = LIMITS,
    *,
    jobs: int = 1,
    n_buckets: int | None = None,
) -> Shard | None:
    """Return the statistics of two tables in files, None where they can only be read at once.

    jobs: processes that count. n_buckets: parts; as many as memory and jobs ask for where it is None.
    Arguments and errors else as for `evaluate`; those of the disk are of EvaluationError, too.
    """
    size = sum(_size(name) for name in (reference, system))
    left = room()
    block = min(max(left // 32, _BLOCK[0]), _BLOCK[1])
    jobs = max(1, min(jobs, (left - 8 * block) // _PROCESS))
    share = left if jobs == 1 else (left - 4 * block) // jobs
    if n_buckets is None:
        n_buckets = min(_BUCKETS, max(4 * jobs, -(-8 * size // max(1, share))))
    with contextlib.ExitStack() as stack:
        with on_disk(Path(os.environ.get("TMPDIR", "temporary files"))):
            scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="soft-sed-eval-")))
        workers = stack.enter_context(Workers(jobs))
        memory = share if jobs > 1 else None
        tables = [
            Side(name, Buckets(scratch, role, n_buckets, limits), block, memory)
            for role, name in (("reference", reference), ("system", system))
        ]
        try:
            read = [_or_raised(found) for found in workers.each(read_side, tables)]
        except UnfitError:
            return None
        sides = {buckets.role: buckets for buckets, _ in read}
        empty = {buckets.role: rows for buckets, rows in read}
        names = align(empty["reference"], empty["system"], settings, durations)
        check_counts(len(names.files), len(names.classes), settings)
        parts = [replace(part, memory=memory) for part in _parts(sides, empty, settings, durations)]
        if not parts:
            return None
        shards = [shard for found in workers.each(counted, parts) for shard in found]
        return _whole(shards, sides, empty, names.findings, durations)


@dataclass(frozen=True, slots=True)
class Side:
    """A table to be parted. block: bytes that are read at a time. memory: as of a part."""

    name: str
    buckets: Buckets
    block: int
    memory: int | None


def read_side(side: Side) -> tuple[Buckets, Rows] | Exception:
    """Return the parted rows of a table, and all but its rows; or what is wrong with it."""
    buckets = side.buckets
    try:
        with _within(side.memory):
            blocks = blocks_of(side.name, buckets.folder, side.block, buckets.limits)
            for rows in blocks.rows:
                buckets.add(rows)
            return buckets, buckets.empty(blocks.sha256)
    except (EvaluationError, UnfitError) as error:
        # Of two tables, what is wrong with the first is told, whichever was found first.
        return error


def _or_raised(found: tuple[Buckets, Rows] | Exception) -> tuple[Buckets, Rows]:
    if isinstance(found, Exception):
        raise found
    return found


def _within(memory: int | None) -> contextlib.AbstractContextManager[None]:
    """Return what limits memory, if it is to be limited here."""
    return contextlib.nullcontext() if memory is None else memory_limited(memory)


@dataclass(frozen=True, slots=True)
class Part:
    """What is counted by itself: all rows of some recordings.

    durations: of these, None where there are none for any. memory: the most that the process may take that
    counts it; None where that is this one.
    """

    reference: Bucket
    system: Bucket
    durations: Mapping[str, float] | None
    settings: Settings
    memory: int | None = None


def counted(part: Part) -> list[Shard]:
    """Return the statistics of a part, counted piece by piece where memory is short."""
    give_back()
    with _within(part.memory):
        buckets = part.reference, part.system
        _check(
            2.0 * sum(len(bucket) * bucket.dtype.itemsize for bucket in buckets),
            sum(map(len, buckets)),
            dict.fromkeys(file for bucket in buckets for file in bucket.empty.files),
            part,
        )
        records = [bucket.records() for bucket in buckets]
        shards = []
        for names in _pieces(part, records):
            rows = []
            for bucket, own in zip(buckets, records, strict=True):
                places = [k for k, file in enumerate(bucket.empty.files) if stem_of(file) in names]
                rows.append(bucket.rows(own, np.asarray(places, dtype=np.intp)))
            given = part.durations
            if given is not None:
                given = {name: seconds for name, seconds in given.items() if stem_of(name) in names}
            give_back()
            shards.append(shard_of_rows(rows[0], rows[1], part.settings, given, batch=True))
        return shards


def _pieces(part: Part, records: Sequence[npt.NDArray[np.void]]) -> list[set[str]]:
    """Return the recordings of each piece, by the least of their names: as many as may be in memory."""
    buckets = part.reference, part.system
    given = part.durations or {}
    every = [file for bucket in buckets for file in bucket.empty.files]
    number = {stem: k for k, stem in enumerate(dict.fromkeys(map(stem_of, [*every, *given])))}
    n_rows, length = np.zeros(len(number)), np.zeros(len(number))
    for bucket, own in zip(buckets, records, strict=True):
        if len(own):
            of = np.asarray([number[stem_of(file)] for file in bucket.empty.files])[own["file"]]
            n_rows += np.bincount(of, minlength=len(number))
            np.maximum.at(length, of, own["offset"])
    for name, seconds in given.items():
        length[number[stem_of(name)]] = max(length[number[stem_of(name)]], seconds)
    settings, empty = part.settings, buckets[0].empty
    n_classes = len(settings.classes or {*empty.classes, *buckets[1].empty.classes})
    width = n_classes if isinstance(empty, WideRows) or isinstance(buckets[1].empty, WideRows) else 1
    size = n_rows * (BYTES_PER_ROW + BYTES_PER_VALUE * (width - 1))
    largest = int(np.argmax(size))
    _check(size[largest] / 2, n_rows[largest], [list(number)[largest]], part)
    if any(settings.wants(basis) or settings.tunes_by(basis) for basis in ("segment", "ranking")):
        each = BYTES_PER_CELL * (3 if settings.pool == "mean" else 1)
        size += np.ceil(length / settings.segment_length) * n_classes * each
    # What was counted already stays.
    end = np.cumsum(size) // max(1.0, room() / 2)
    pieces: dict[float, set[str]] = {}
    for stem, k in number.items():
        pieces.setdefault(float(end[k]), set()).add(stem)
    return list(pieces.values())


def _check(needed: float, n_rows: float, files: Iterable[str], part: Part) -> None:
    """Refuse recordings that memory cannot hold: each is counted as a whole."""
    check_room(
        needed,
        f"{part.system.empty.origin.name}: to count the {n_rows:.15g} rows of "
        f"{listing([*files], 'recording')} on both sides",
        "Expected shorter recordings, or more memory: each is counted as a whole",
    )


def _parts(
    sides: Mapping[str, Buckets],
    empty: Mapping[str, Rows],
    settings: Settings,
    durations: Mapping[str, float] | None,
) -> list[Part]:
    """Return what is counted by itself, nothing where there are no recordings."""
    buckets = [sides[role].buckets(empty[role]) for role in ("reference", "system")]
    lengths: list[dict[str, float]] = [{} for _ in buckets[0]]
    for name, seconds in (durations or {}).items():
        lengths[bucket_of(name, len(lengths))][name] = seconds
    return [
        Part(ours, theirs, None if durations is None else given, settings)
        for ours, theirs, given in zip(*buckets, lengths, strict=True)
        if ours.empty.files or theirs.empty.files or given
    ]


def _whole(
    shards: Sequence[Shard],
    sides: Mapping[str, Buckets],
    empty: Mapping[str, Rows],
    findings: Findings,
    durations: Mapping[str, float] | None,
) -> Shard:
    """Return the statistics of all parts as if they had been counted at once."""
    held: dict[str, int] = {}
    for tally in (shard.tally for shard in shards):
        for name, values in tally.samples.items():
            held[name] = held.get(name, 0) + values.nbytes
        for name, events in tally.events.items():
            held[name] = held.get(name, 0) + _EVENT * len(events)
    check_room(
        sum(held.values()) + 3.0 * max(held.values(), default=0),
        "to look for best thresholds among all segments and events",
        "--only segment.hard --only segment.soft --only event.hard --only event.soft needs none of them",
    )
    shard = Shard.merge(shards)
    return replace(
        shard,
        inputs=tuple(
            replace(describe(empty[role], role, shard.settings), rows=sides[role].n_rows) for role in empty
        ),
        # Of names there is more to say where all are known.
        findings=replace(findings, beyond=shard.findings.beyond),
        durations=durations,
    )


def _size(name: str) -> int:
    """Return the bytes of a table as it is written to the disk, estimated; 0 where there is no file."""
    try:
        size = Path(name).stat().st_size
    except (OSError, ValueError):
        return 0
    packed = extension_of(name) in EXTENSIONS or name.lower().endswith(".gz")
    return size * _UNPACKED if packed else size


def pays(reference: str, system: str, jobs: int) -> bool:
    """Return whether two tables are better read in blocks: for want of memory, or for several jobs."""
    size = sum(_size(name) for name in (reference, system))
    return (jobs > 1 and size >= LARGE) or _IN_MEMORY * size > room()
