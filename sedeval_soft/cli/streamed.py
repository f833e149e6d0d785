"""Tables that are counted in parts: where memory is limited, and in several processes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sedeval_soft.api import read_lengths, shard_of_rows, sides_of
from sedeval_soft.api.streaming import pays, streamed_shard
from sedeval_soft.core.room import RoomError
from sedeval_soft.core.rows import Rows
from sedeval_soft.core.settings import Settings
from sedeval_soft.core.shard import Shard
from sedeval_soft.core.threads import processors

Counted = tuple[tuple[Rows, Rows] | None, Mapping[str, float] | None, Shard]


def counted(reference: str, system: str, settings: Settings, io: Mapping[str, Any]) -> Counted:
    """Return the rows of two tables, None where these are not in memory, the durations, and the statistics.

    io: what was asked for beside settings. Raises what `evaluate` does; RoomError where parts are too large.
    """
    jobs = io["jobs"] or processors()
    if pays(reference, system, jobs):
        durations = read_lengths(io["durations"], io["limits"])
        shard = streamed_shard(reference, system, settings, durations, io["limits"], jobs=jobs)
        if shard is not None:
            return None, durations, shard
    try:
        return _at_once(reference, system, settings, io)
    except RoomError as error:
        # What was read until then must not be kept by where the error is from.
        refused = error.with_traceback(None)
    durations = read_lengths(io["durations"], io["limits"])
    shard = streamed_shard(reference, system, settings, durations, io["limits"], jobs=jobs)
    if shard is None:
        raise refused
    return None, durations, shard


def _at_once(reference: str, system: str, settings: Settings, io: Mapping[str, Any]) -> Counted:
    sides = sides_of(reference, system, settings, io["limits"])
    durations = read_lengths(io["durations"], io["limits"])
    return sides, durations, shard_of_rows(*sides, settings, durations)
