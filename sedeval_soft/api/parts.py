"""Tables that are counted in parts: where memory is limited, in several processes, and by a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from sedeval_soft.api.counting import shard_of_rows
from sedeval_soft.api.sharded import jobs_in_shards, shard_here
from sedeval_soft.api.sources import Durations, read_lengths, sides_of
from sedeval_soft.api.streaming import jobs_for, streamed_shard
from sedeval_soft.core.intake import Limits
from sedeval_soft.core.room import RoomError, given_limit
from sedeval_soft.core.shard import Shard
from sedeval_soft.core.threads import processors
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.source import any_in_shards

Counted = tuple[tuple[EventTable, EventTable] | None, Mapping[str, float] | None, Shard]


def counted_in_parts(
    reference: str,
    system: str,
    settings: Settings,
    durations: Durations | None,
    limits: Limits,
    *,
    jobs: int | None = None,
    scheduler: str | None = None,
    whole: bool = False,
) -> Counted:
    """Return the rows of two tables, None where these are not in memory, the durations, and the statistics.

    jobs: processes that count, 0 for one for each processor. scheduler: as for `run.cluster.connected`.
    whole: whether all that was counted is needed, to be saved or parted, not only the scores. Raises what
    `evaluate` does; RoomError where parts are too large.
    """
    if scheduler is not None:
        from sedeval_soft.api.distributed import distributed_shard

        lengths = read_lengths(durations, limits)
        shard = distributed_shard(
            reference,
            system,
            settings,
            lengths,
            limits,
            scheduler=scheduler,
            jobs=jobs or 0,
            memory=given_limit(),
        )
        return None, lengths, shard
    sharded = any_in_shards(reference, system)
    # What nobody asked for takes no room on the disk.
    asked = jobs is not None or given_limit() is not None
    jobs = processors() if jobs == 0 else jobs
    if sharded:
        n_jobs = jobs_in_shards(reference, system, jobs, limits) if asked else 0
    else:
        n_jobs = jobs_for(reference, system, jobs)
    count = partial(_in_parts, reference, system, settings, limits=limits, sharded=sharded, whole=whole)
    if n_jobs:
        lengths = read_lengths(durations, limits)
        found = count(lengths, jobs=n_jobs, on_disk_too=asked)
        if found is not None:
            return None, lengths, found
    try:
        sides = sides_of(reference, system, settings, limits)
        lengths = read_lengths(durations, limits)
        return sides, lengths, shard_of_rows(*sides, settings, lengths)
    except RoomError as error:
        # What was read until then must not be kept by where the error is from.
        refused = error.with_traceback(None)
    lengths = read_lengths(durations, limits)
    found = count(lengths, jobs=max(1, n_jobs), on_disk_too=True)
    if found is None:
        raise refused
    return None, lengths, found


def _in_parts(
    reference: str,
    system: str,
    settings: Settings,
    durations: Mapping[str, float] | None,
    *,
    limits: Limits,
    sharded: bool,
    jobs: int,
    on_disk_too: bool,
    whole: bool,
) -> Shard | None:
    """Return the statistics of tables in parts; None if they can only be read at once."""
    if sharded:
        return shard_here(reference, system, settings, durations, limits, jobs=jobs, whole=whole)
    return streamed_shard(
        reference, system, settings, durations, limits, jobs=jobs, on_disk_too=on_disk_too, whole=whole
    )
