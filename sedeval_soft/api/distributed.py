"""Score tables in shards by the workers of a dask cluster: shards in, statistics out.

Each shard is read by one worker, which parts its rows by recording and keeps them. The rows of some
recordings, of all shards of both sides, go to one worker, which counts them; and what was counted is merged
in a tree. What workers give one another are bytes: of the disk they share only shards that are files.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sedeval_soft import __version__
from sedeval_soft.api.parted import Part, counted
from sedeval_soft.api.pieces import BLOCK, ROLES
from sedeval_soft.api.sharded import (
    Counting,
    Read,
    Reading,
    bytes_of,
    read_shard,
    readings_of,
    sharded_shard,
)
from sedeval_soft.core.room import memory_limited
from sedeval_soft.core.shard import Shard
from sedeval_soft.core.threads import become_worker
from sedeval_soft.errors import EvaluationError, InputError, SettingsError
from sedeval_soft.formats.buckets import Bucket
from sedeval_soft.formats.pieces import JoinedBucket
from sedeval_soft.formats.shards import Held, ShardFile
from sedeval_soft.run.cluster import OPTION, Cluster, Job, connected, folder_here, memory_here
from sedeval_soft.run.waited import together
from sedeval_soft.settings import Settings
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.source import is_url

_FAN = 8
"""How many statistics are merged at a time."""

_PIECES = 200_000
"""The most pieces that all shards are parted into: a scheduler keeps a record of each."""

_NAMED = 3
"""How many shards a message names."""


@dataclass(frozen=True, slots=True)
class Told:
    """What is said of a shard that was read, or what is wrong with it; buckets: those with rows."""

    held: Held | None
    error: EvaluationError | None
    buckets: tuple[int, ...] = ()


def distributed_shard(
    reference: str,
    system: str,
    settings: Settings,
    durations: Mapping[str, float] | None = None,
    limits: Limits = LIMITS,
    *,
    scheduler: str,
    jobs: int = 0,
    memory: int | None = None,
    n_buckets: int | None = None,
) -> Shard:
    """Return the statistics of two tables in shards, counted by the workers of a scheduler.

    scheduler, jobs, memory: as for `run.cluster.connected`. n_buckets: parts, as there are workers and memory
    where it is None. Arguments and errors else as for `evaluate`.
    """
    for name in (reference, system):
        if name == "-":
            raise SettingsError(f"{OPTION}: workers cannot read standard input; expected files or URLs")
    with connected(scheduler, jobs, memory) as cluster:
        place = There(cluster, n_buckets)
        return sharded_shard(reference, system, settings, durations, limits, place)


class There:
    """A cluster: rows are parted in its workers' memory, which dask spills to their disks."""

    def __init__(self, cluster: Cluster, n_buckets: int | None = None) -> None:
        """Choose a cluster; n_buckets: parts, as there are workers and memory where it is None."""
        self._cluster, self._n_buckets = cluster, n_buckets
        self._readings: Sequence[Reading] = ()
        self._told: list[Told] = []
        self._kept: list[object] = []

    def plan(self, files: Mapping[str, Sequence[ShardFile]], limits: Limits) -> list[Reading]:
        """Return how shards are read: as of a `Place`."""
        threads, memory = self._cluster.size()
        size = sum(bytes_of(file) for own in files.values() for file in own)
        most = max(1, _PIECES // sum(map(len, files.values())))
        n_buckets = self._n_buckets or min(most, max(2 * threads, -(-8 * size // memory)))
        block = min(max(memory // 32, BLOCK[0]), BLOCK[1])
        make = partial(Reading, n_buckets=n_buckets, block=block, limits=limits, folder=None, memory=None)
        return [replace(reading, path=_absolute(reading.path)) for reading in readings_of(files, make)]

    def read(self, readings: Sequence[Reading]) -> list[Held]:
        """Read shards: as of a `Place`."""
        cluster = self._cluster

        def begin(number: int, workers: object) -> Job:
            read = cluster.submit("read", read_there, __version__, readings[number], workers=workers)
            return Job(cluster.submit("told", told_of, read), (read,))

        names = [reading.file.name for reading in readings]
        jobs = cluster.done(begin, names)
        self._readings, self._kept = readings, [job.kept[0] for job in jobs]
        self._told = cluster.results([job.told for job in jobs], names)
        for told, name in zip(self._told, names, strict=True):
            if told.error is not None:
                raise _unseen(told.error, name) or told.error
        return [told.held for told in self._told if told.held is not None]

    def count(self, countings: Sequence[Counting]) -> Shard:
        """Return the statistics of all parts: as of a `Place`."""
        cluster = self._cluster

        def begin(number: int, workers: object) -> Job:
            counting = countings[number]
            sides = [self._pieces(counting, role) for role in ROLES]
            told = cluster.submit("count", count_there, __version__, counting.part, *sides, workers=workers)
            return Job(told, tuple(piece for side in sides for piece in side))

        jobs = cluster.done(begin, [self._named(counting) for counting in countings])
        self._kept = []
        return self._merged([job.told for job in jobs])

    def _merged(self, futures: list[object]) -> Shard:
        """Return all statistics, merged in a tree."""
        cluster = self._cluster
        while len(futures) > 1:
            groups = [futures[at : at + _FAN] for at in range(0, len(futures), _FAN)]

            def begin(number: int, workers: object, groups: list[list[object]] = groups) -> Job:
                return Job(cluster.submit("merge", merge_there, __version__, groups[number], workers=workers))

            jobs = cluster.done(begin, ["what was counted"] * len(groups))
            futures = [job.told for job in jobs]
        whole: Shard = cluster.results(futures, ["what was counted"])[0]
        return whole

    def _pieces(self, counting: Counting, role: str) -> list[object]:
        """Return the futures of the rows of a part, of all shards of a side in their order."""
        return [
            self._cluster.submit("piece", piece_of, kept, number)
            for kept, told, reading in zip(self._kept, self._told, self._readings, strict=True)
            if reading.role == role
            for number in told.buckets
            if counting.takes(number)
        ]

    def _named(self, counting: Counting) -> str:
        """Return the shards whose rows are counted, for messages."""
        names = [
            reading.file.name
            for told, reading in zip(self._told, self._readings, strict=True)
            if any(map(counting.takes, told.buckets))
        ]
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        return f"some recordings of {', '.join(names[:_NAMED])}{more}"


def _unseen(error: EvaluationError, name: str) -> EvaluationError | None:
    """Return what to say of a file that is here, and that a worker cannot read; None of anything else."""
    if not isinstance(error, InputError) or is_url(name) or not os.access(name, os.R_OK):
        return None
    if any(problem.code != "unreadable-file" for problem in error.problems):
        return None
    expected = "expected shards where all workers see them by the same path, or URLs"
    return InputError([replace(each, message=f"{each.message}; {expected}") for each in error.problems])


def _absolute(path: str) -> str:
    return path if is_url(path) else os.path.abspath(path)  # noqa: PTH100 - as it is typed else


@contextlib.contextmanager
def _as_worker(version: str) -> Iterator[None]:
    """Work within what the worker may take, as the version that asked for it."""
    if version != __version__:
        raise EvaluationError(f"a worker has soft-sed-eval {__version__}, here it is {version}")
    become_worker()
    memory = memory_here()
    with contextlib.nullcontext() if memory is None else memory_limited(memory):
        yield


def read_there(version: str, reading: Reading) -> Read | EvaluationError:
    """Return a shard as a worker reads it, or what is wrong with it."""
    with _as_worker(version):
        return read_shard(reading, folder_here())


def told_of(read: Read | EvaluationError) -> Told:
    """Return what the one who asked must know of a shard."""
    if isinstance(read, EvaluationError):
        return Told(None, read)
    return Told(read.held, None, tuple(sorted(read.buckets)))


def piece_of(read: Read, number: int) -> Bucket:
    """Return the rows of one bucket of a shard."""
    return read.buckets[number]


def count_there(version: str, part: Part, reference: Sequence[Bucket], system: Sequence[Bucket]) -> Shard:
    """Return the statistics of a part, whose rows are in pieces."""
    with _as_worker(version):
        sides = [JoinedBucket.of(side.empty, pieces) for side, pieces in
                 ((part.reference, reference), (part.system, system))]  # fmt: skip
        kept = counted(replace(part, reference=sides[0], system=sides[1]))
        return together([each.shard for each in kept])


def merge_there(version: str, shards: Sequence[Shard]) -> Shard:
    """Return some statistics as one."""
    with _as_worker(version):
        return together(shards)
