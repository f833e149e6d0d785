"""Score tables in shards: each is read and parted by recording, each part is counted, and all are merged.

Where this is done does not matter: in this process, in several, or by the workers of a cluster
(`api.distributed`). The scores are those of all shards read at once, to the last bit.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Protocol

from sedeval_soft.api.counting import as_one, shard_of_rows
from sedeval_soft.api.parted import Part, counted
from sedeval_soft.api.pieces import BLOCK, PROCESS, ROLES, buckets_for, bytes_of_text
from sedeval_soft.api.streaming import jobs_for_size
from sedeval_soft.core.intake import LIMITS, Limits
from sedeval_soft.core.paths import is_stream
from sedeval_soft.core.room import memory_limited, room
from sedeval_soft.core.shard import Shard
from sedeval_soft.errors import EvaluationError, InputError
from sedeval_soft.evaluation.count import check_counts
from sedeval_soft.formats.blocks import UnfitError, blocks_of
from sedeval_soft.formats.buckets import Bucket, Buckets, bucket_of, own_folder
from sedeval_soft.formats.known import Known
from sedeval_soft.formats.pieces import HeldBuckets, JoinedBucket
from sedeval_soft.formats.shards import Held, ShardFile, joined, recordings, shards_of
from sedeval_soft.run.batches import Keeper
from sedeval_soft.run.groups import scenes_of
from sedeval_soft.run.workers import Workers
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import UNNAMED, EventTable
from sedeval_soft.tables.folder import stem_of, with_recording
from sedeval_soft.tables.forms import read_table
from sedeval_soft.tables.read import read_rows
from sedeval_soft.tables.source import open_source, spelled
from sedeval_soft.timeline.recordings import align


@dataclass(frozen=True, slots=True)
class Reading:
    """A shard to be read.

    path: where it is for who reads it. number: which one of its role.
    n_buckets: into how many parts. block: bytes that are read at a time. folder: where its rows go; None for
    memory. memory: the most that the process may take; None where that is this one, or not known.
    """

    file: ShardFile
    path: str
    role: str
    number: int
    n_buckets: int
    block: int
    limits: Limits
    folder: Path | None
    memory: int | None


@dataclass(frozen=True, slots=True)
class Read:
    """A shard that was read. held: all but its rows. buckets: those, by number, where there are any."""

    held: Held
    buckets: Mapping[int, Bucket]


@dataclass(frozen=True, slots=True)
class Counting:
    """A part to be counted, without its rows. buckets: their numbers; None for all."""

    part: Part
    buckets: tuple[int, ...] | None

    def takes(self, number: int) -> bool:
        """Return whether the rows of a bucket are of this part."""
        return self.buckets is None or number in self.buckets


class Place(Protocol):
    """Where shards are read and counted."""

    def plan(self, files: Mapping[str, Sequence[ShardFile]], limits: Limits) -> list[Reading]:
        """Return how the shards of both sides are read, those of the reference first."""

    def read(self, readings: Sequence[Reading]) -> list[Held]:
        """Read shards, and keep their rows; raises what is wrong with the first that something is wrong with.

        Returns all but the rows, in order.
        """

    def count(self, countings: Sequence[Counting]) -> Shard:
        """Return the statistics of all parts."""


def sharded_shard(
    reference: str,
    system: str,
    settings: Settings,
    durations: Mapping[str, float] | None,
    limits: Limits,
    place: Place,
) -> Shard:
    """Return the statistics of two tables, each in shards or not; arguments and errors as for `evaluate`."""
    names = {"reference": reference, "system": system}
    files = {role: shards_of(names[role], limits) for role in ROLES}
    readings = place.plan(files, limits)
    held = place.read(readings)
    empty: dict[str, EventTable] = {}
    n_rows: dict[str, int] = {}
    for role in ROLES:
        own = [each for each, reading in zip(held, readings, strict=True) if reading.role == role]
        empty[role] = joined(names[role], recordings(names[role], own), limits)
        n_rows[role] = sum(each.n_rows for each in own)
    pair = align(empty["reference"], empty["system"], settings, durations)
    # Files are counted some at a time.
    check_counts(1, len(pair.classes), settings)
    # What is wrong with names is said before anything is counted.
    pair.findings.warnings(settings)
    scenes_of(pair.files, pair.classes, settings)
    parts = _parts(empty, settings, durations, readings[0].n_buckets)
    if not parts:
        return shard_of_rows(empty["reference"], empty["system"], settings, durations)
    return as_one(place.count(parts), empty, n_rows, pair.findings, durations)


def _parts(
    empty: Mapping[str, EventTable], settings: Settings, durations: Mapping[str, float] | None, n_buckets: int
) -> list[Counting]:
    """Return what is counted by itself, nothing where there are no recordings."""
    if any(UNNAMED in rows.files for rows in empty.values()):
        # Whose rows name no recording go by the name that the other side has.
        ours, theirs = (JoinedBucket.of(empty[role]) for role in ROLES)
        return [Counting(Part(ours, theirs, durations, settings), None)]
    files: dict[int, tuple[list[str], list[str]]] = {}
    for side, role in enumerate(ROLES):
        for name in empty[role].files:
            files.setdefault(bucket_of(name, n_buckets), ([], []))[side].append(name)
    lengths: dict[int, dict[str, float]] = {}
    for name, seconds in (durations or {}).items():
        lengths.setdefault(bucket_of(name, n_buckets), {})[name] = seconds
    found = []
    for number in sorted({*files, *lengths}):
        own = files.get(number, ([], []))
        ours, theirs = (
            JoinedBucket.of(replace(empty[role], files=tuple(named)))
            for role, named in zip(ROLES, own, strict=True)
        )
        given = None if durations is None else lengths.get(number, {})
        found.append(Counting(Part(ours, theirs, given, settings), (number,)))
    return found


def read_shard(reading: Reading, inside: Path | None = None) -> Read | EvaluationError:
    """Return what a shard holds, its rows parted; or what is wrong with it.

    inside: a folder for temporary files of who reads shards into memory.
    """
    name, path = spelled(reading.file.name), spelled(reading.path)
    try:
        with contextlib.ExitStack() as stack:
            if reading.memory is not None:
                stack.enter_context(memory_limited(reading.memory))
            read = _read_shard(reading, reading.folder or stack.enter_context(own_folder(inside)))
    except EvaluationError as error:
        # It is told by the name that it goes by, wherever it was read.
        return _renamed(error, path, name) if path != name else error
    rows = read.held.rows
    if path == name or rows is None:
        return read
    own = rows.origin.name.replace(path, name)
    held = replace(read.held, rows=replace(rows, origin=replace(rows.origin, name=own)))
    return replace(read, held=held)


def _read_shard(reading: Reading, scratch: Path) -> Read:
    buckets = _buckets(reading, scratch, "")
    try:
        blocks = blocks_of(reading.path, scratch, reading.block, reading.file.limits(reading.limits))
        for rows in blocks.rows:
            buckets.add(rows)
        empty = buckets.known.empty(blocks.sha256)
        # Tables that do not name their recordings cannot be read so.
        named = True if empty.files else None
    except UnfitError:
        whole = _at_once(reading)
        held = Held.of(reading.file, whole)
        if whole is None:
            return Read(held, {})
        if not held.named and not reading.file.alone:
            whole = with_recording(whole, stem_of(reading.file.name)) if len(whole) else whole
        named = held.named
        buckets = _buckets(reading, scratch, ".whole")
        buckets.add(whole)
        sha256 = whole.origin.sha256 or ""
        empty = buckets.known.empty(lambda: sha256)
    parted = buckets.buckets(empty)
    kept = {number: bucket for number, bucket in enumerate(parted) if len(bucket)}
    return Read(Held(reading.file, empty, buckets.known.n_rows, named), kept)


def _at_once(reading: Reading) -> EventTable | None:
    if reading.file.alone:
        return read_rows(reading.path, limits=reading.limits)
    return read_table(
        open_source(reading.path, limits=reading.limits), limits=reading.file.limits(reading.limits)
    )


def _buckets(reading: Reading, scratch: Path, more: str) -> Buckets:
    called = f"{reading.role}.{reading.number}{more}"
    kind = HeldBuckets if reading.folder is None else Buckets
    return kind(scratch, Known(called, reading.limits), reading.n_buckets)


def _renamed(error: EvaluationError, path: str, name: str) -> EvaluationError:
    if isinstance(error, InputError):
        problems = [
            replace(each, source=each.source.replace(path, name), message=each.message.replace(path, name))
            for each in error.problems
        ]
        return InputError(problems, error.more)
    return type(error)(str(error).replace(path, name))


def bytes_of(file: ShardFile) -> int:
    """Return the bytes of a shard as text, estimated."""
    return bytes_of_text(file.name, file.size)


class Here:
    """This machine: rows are parted into temporary files, which some processes read and write."""

    def __init__(
        self,
        workers: Workers,
        jobs: int,
        scratch: Path,
        n_buckets: int | None = None,
        *,
        whole: bool = False,
    ) -> None:
        """Choose processes and a folder; n_buckets: parts, as memory and jobs ask for where it is None.

        whole: whether all that was counted is needed, not only the scores.
        """
        self._workers, self._jobs, self._scratch, self._n_buckets = workers, jobs, scratch, n_buckets
        self._whole = whole
        self._read: list[tuple[str, Read]] = []
        self._memory: int | None = None

    def plan(self, files: Mapping[str, Sequence[ShardFile]], limits: Limits) -> list[Reading]:
        """Return how shards are read: as of a `Place`."""
        left, jobs = room(), self._jobs
        share = left if jobs == 1 else left // jobs
        block = min(max(share // 32, BLOCK[0]), BLOCK[1])
        self._memory = share if jobs > 1 else None
        size = sum(bytes_of(file) for own in files.values() for file in own)
        n_buckets = self._n_buckets or buckets_for(size, share, jobs)
        make = partial(
            Reading,
            n_buckets=n_buckets,
            block=block,
            limits=limits,
            folder=self._scratch,
            memory=self._memory,
        )
        return readings_of(files, make)

    def read(self, readings: Sequence[Reading]) -> list[Held]:
        """Read shards: as of a `Place`."""
        # Pipes are this process's own.
        found = {k: read_shard(own) for k, own in enumerate(readings) if is_stream(own.path)}
        others = [k for k in range(len(readings)) if k not in found]
        found |= zip(others, self._workers.each(read_shard, [readings[k] for k in others]), strict=True)
        for k, reading in enumerate(readings):
            each = found[k]
            if isinstance(each, EvaluationError):
                raise each
            self._read.append((reading.role, each))
        return [each.held for _, each in self._read]

    def count(self, countings: Sequence[Counting]) -> Shard:
        """Return the statistics of all parts: as of a `Place`."""
        from sedeval_soft.run.waited import merged

        folder = None if self._whole else self._scratch
        keeper = Keeper(folder, room() // 4).share(max(1, len(countings)))
        parts = [replace(self._with_rows(counting), keeper=keeper) for counting in countings]
        kept = [each for found in self._workers.each(counted, parts) for each in found]
        return merged(kept, folder, self._workers, self._memory)

    def _with_rows(self, counting: Counting) -> Part:
        both = (counting.part.reference, counting.part.system)
        sides = [
            JoinedBucket.of(
                bucket.empty,
                [
                    piece
                    for of, read in self._read
                    if of == role
                    for number, piece in sorted(read.buckets.items())
                    if counting.takes(number)
                ],
            )
            for role, bucket in zip(ROLES, both, strict=True)
        ]
        return replace(counting.part, reference=sides[0], system=sides[1], memory=self._memory)


def readings_of(files: Mapping[str, Sequence[ShardFile]], make: partial[Reading]) -> list[Reading]:
    """Return the readings of the shards of both sides; make: with all that they have in common."""
    return [
        make(file=file, path=file.name, role=role, number=number)
        for role, own in files.items()
        for number, file in enumerate(own)
    ]


@contextlib.contextmanager
def here(jobs: int = 1, n_buckets: int | None = None, *, whole: bool = False) -> Iterator[Here]:
    """Yield this machine with so many processes, as far as memory lets it have them."""
    jobs = max(1, min(jobs, room() // PROCESS))
    with own_folder() as scratch, Workers(jobs) as workers:
        yield Here(workers, jobs, scratch, n_buckets, whole=whole)


def shard_here(
    reference: str,
    system: str,
    settings: Settings,
    durations: Mapping[str, float] | None = None,
    limits: Limits = LIMITS,
    *,
    jobs: int = 1,
    n_buckets: int | None = None,
    whole: bool = False,
) -> Shard:
    """Return the statistics of two tables in shards, counted by some processes of this machine.

    whole: whether all that was counted is needed, to be saved or parted, not only the scores.
    """
    with here(jobs, n_buckets, whole=whole) as place:
        return sharded_shard(reference, system, settings, durations, limits, place)


def jobs_in_shards(reference: str, system: str, jobs: int | None, limits: Limits = LIMITS) -> int:
    """Return in how many processes tables in shards are read in parts, 0 where they are better read at once.

    jobs: how many were asked for; None where that is for us to say.
    """
    files = [file for name in (reference, system) for file in shards_of(name, limits)]
    return jobs_for_size(sum(map(bytes_of, files)), jobs)
