"""Score tables that memory cannot hold: read block by block, counted recording by recording, merged.

Where the recordings of both tables stand in the same order, they are counted as they are read; else rows are
parted by recording on the disk first. What is counted is merged as that of any batches is: the scores are
those of all rows at once, to the last bit.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from pathlib import Path

from sedeval_soft.api.counting import as_one
from sedeval_soft.api.in_step import Stretch, UnsortedError, joined_counts, read_in_step
from sedeval_soft.api.parted import Side, counted, or_raised, parts_of, read_side
from sedeval_soft.api.pieces import BLOCK, PROCESS, ROLES, buckets_for, bytes_of_text, is_gzipped
from sedeval_soft.core.intake import LIMITS, Limits
from sedeval_soft.core.room import room
from sedeval_soft.core.shard import Shard
from sedeval_soft.core.threads import processors
from sedeval_soft.errors import InputError
from sedeval_soft.evaluation.count import check_counts
from sedeval_soft.formats.blocks import UnfitError, sha256_of
from sedeval_soft.formats.buckets import Buckets, own_folder
from sedeval_soft.formats.known import Known
from sedeval_soft.formats.span import WHOLE
from sedeval_soft.formats.spans import spans_of
from sedeval_soft.run.batches import Keeper, Kept
from sedeval_soft.run.workers import Workers
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.filenames import stem_of
from sedeval_soft.timeline.alignment_report import Findings
from sedeval_soft.timeline.recordings import align

LARGE = 1 << 25
"""Bytes of both tables from which several jobs are worth their start."""

_THREADS = 2
"""Processors that one process keeps busy where it reads ahead in threads."""

VERY_LARGE = 1 << 28
"""Bytes of both tables from which all processors work on them where nothing is said."""

_IN_MEMORY = 5
"""How much of memory a byte of text takes in a table that is read at once."""

_BLOCKS = 96
"""How many blocks memory is for: with larger ones too much would wait for the other side to be read on."""

_SPAN = 1 << 24
"""Bytes of both tables that a process reads by itself, at the least."""

_SPANS = 4
"""How many spans there are for each process: the last ones are shorter to wait for."""


def streamed_shard(
    reference: str,
    system: str,
    settings: Settings,
    durations: Mapping[str, float] | None = None,
    limits: Limits = LIMITS,
    *,
    jobs: int = 1,
    n_spans: int | None = None,
    n_buckets: int | None = None,
    on_disk_too: bool = True,
    whole: bool = False,
) -> Shard | None:
    """Return the statistics of two tables in files, None where they can only be read at once.

    on_disk_too: whether rows may be parted on the disk, where they are in some other order. jobs: processes
    that count. n_spans: into how many spans tables are cut where their recordings stand in the same order,
    none for 0. n_buckets: parts, where they do not. Both are as many as memory and jobs ask for where they
    are None. whole: whether all that was counted is needed, to be saved or parted, not only the scores.
    Arguments and errors else as for `evaluate`; those of the disk are of EvaluationError.
    """
    size = sum(_size(name) for name in (reference, system))
    left = room()
    # Rows take ten times the memory of their text while they are counted, and a block of each side may wait.
    block = min(max(left // _BLOCKS, BLOCK[0]), BLOCK[1])
    jobs = max(1, min(jobs, (left - 8 * block) // PROCESS))
    share = left if jobs == 1 else (left - 4 * block) // jobs
    if n_buckets is None:
        n_buckets = buckets_for(size, share, jobs)
    if n_spans is None:
        n_spans = 1 if jobs == 1 else max(1, min(_SPANS * jobs, size // _SPAN))
    with own_folder() as scratch, Workers(jobs) as workers:
        memory = share if jobs > 1 else None
        names = reference, system
        keeper = Keeper(None if whole else scratch, left // 4)
        stretch = Stretch(
            names, (WHOLE, WHOLE), settings, limits, block, scratch, _by_stem(durations), keeper, memory,
            ahead=jobs == 1 or jobs * _THREADS <= processors(),
        )  # fmt: skip
        try:
            found = _in_step(stretch, n_spans, workers, durations) if n_spans else None
            if found is not None or not on_disk_too:
                return found
            stretch = replace(stretch, keeper=stretch.keeper.anew(left // 4))
            return _parted(stretch, n_buckets, workers, durations)
        except UnfitError:
            return None


def _parted(
    stretch: Stretch, n_buckets: int, workers: Workers, durations: Mapping[str, float] | None
) -> Shard | None:
    """Return the statistics of tables whose rows are in any order, None where there are none."""
    settings, memory = stretch.settings, stretch.memory
    tables = [
        Side(name, Buckets(stretch.scratch, Known(role, stretch.limits), n_buckets), stretch.block, memory)
        for role, name in zip(ROLES, stretch.names, strict=True)
    ]
    read = dict(zip(ROLES, or_raised(workers.each(read_side, tables)), strict=True))
    sides = {role: buckets for role, (buckets, _) in read.items()}
    empty = {role: rows for role, (_, rows) in read.items()}
    findings = _findings(empty, settings, durations)
    parts = parts_of(sides, empty, settings, durations)
    if not parts:
        return None
    keeper = stretch.keeper.share(len(parts))
    parts = [replace(part, memory=memory, keeper=keeper) for part in parts]
    kept = [each for found in workers.each(counted, parts) for each in found]
    n_rows = {role: sides[role].known.n_rows for role in ROLES}
    return as_one(_merged(kept, stretch, workers), empty, n_rows, findings, durations)


def _findings(
    empty: Mapping[str, EventTable], settings: Settings, durations: Mapping[str, float] | None
) -> Findings:
    """Return what the names of two tables tell; raises InputError, and RoomError for too many classes."""
    names = align(empty["reference"], empty["system"], settings, durations)
    # Files are counted some at a time.
    check_counts(1, len(names.classes), settings)
    return names.findings


def _in_step(
    stretch: Stretch, n_spans: int, workers: Workers, durations: Mapping[str, float] | None
) -> Shard | None:
    """Return the statistics of tables whose recordings stand in the same order, None where they do not.

    None, too, where anything is wrong with them: it is told by who reads them from begin to end.
    """
    settings = stretch.settings
    if settings.wants("ranking") and not settings.classes:
        # Ranks are among all classes, which are known when all is read.
        return None
    stretches = [stretch]
    if n_spans > 1:
        spans = spans_of(*stretch.names, n_spans, stretch.scratch, stretch.limits)
        if spans is None:
            return None
        keeper = stretch.keeper.share(len(spans))
        stretches = [replace(stretch, spans=pair, keeper=keeper) for pair in spans]
    try:
        with _hashed(stretch.names, stretch.limits) as sha256:
            kept, known = joined_counts(workers.each(read_in_step, stretches), stretch)
            empty = {role: own.empty(digest) for role, own, digest in zip(ROLES, known, sha256, strict=True)}
    except (UnsortedError, InputError):
        # What is counted beside may still write to the disk.
        workers.settle()
        return None
    findings = _findings(empty, settings, durations)
    if not kept:
        return None
    n_rows = {role: own.n_rows for role, own in zip(ROLES, known, strict=True)}
    return as_one(_merged(kept, stretch, workers), empty, n_rows, findings, durations)


def _merged(kept: Sequence[Kept], stretch: Stretch, workers: Workers) -> Shard:
    from sedeval_soft.run.waited import merged

    return merged(kept, stretch.keeper.folder, workers, stretch.memory)


@contextlib.contextmanager
def _hashed(names: Sequence[str], limits: Limits) -> Iterator[list[Callable[[], str]]]:
    """Hash files beside what is done here; yield what waits for the hashes."""
    pool = ThreadPoolExecutor(1, thread_name_prefix="sha256")
    try:
        # What limits memory here does so there.
        yield [pool.submit(copy_context().run, sha256_of, name, limits).result for name in names]
    except BaseException:
        # Nobody wants them any more: not the second one, and nobody waits for the first.
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown(wait=False)


def _by_stem(durations: Mapping[str, float] | None) -> dict[str, dict[str, float]] | None:
    """Return durations by the least of each recording's names."""
    if durations is None:
        return None
    found: dict[str, dict[str, float]] = {}
    for name, seconds in durations.items():
        found.setdefault(stem_of(name), {})[name] = seconds
    return found


def _size(name: str) -> int:
    """Return the bytes of a table as it is written to the disk, estimated; 0 where there is no file."""
    try:
        size = Path(name).stat().st_size
    except (OSError, ValueError):
        return 0
    return bytes_of_text(name, size)


def jobs_for(reference: str, system: str, jobs: int | None) -> int:
    """Return in how many processes two tables are read in blocks, 0 where they are better read at once.

    jobs: how many were asked for; where that is None, all processors work on large tables.
    """
    names = reference, system
    return jobs_for_size(sum(map(_size, names)), jobs, packed=any(map(is_gzipped, names)))


def jobs_for_size(size: int, jobs: int | None, *, packed: bool = False) -> int:
    """Return what `jobs_for` does, of so many bytes; packed: whether one process must unpack them."""
    short = _IN_MEMORY * size > room()
    if jobs is None:
        return max(1, processors() // _THREADS) if size >= VERY_LARGE and not packed else int(short)
    return jobs if short or (jobs > 1 and size >= LARGE) else 0
