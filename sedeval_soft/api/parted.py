"""Tables whose rows are in any order: parted by recording on the disk, counted part by part.

The tables are read block by block. Their rows are written to temporary files, all rows of a recording to the
same one. These are counted one after another, or in several processes at a time.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sedeval_soft.api.counting import shard_of_rows
from sedeval_soft.api.pieces import Extent, check_recordings, pieces
from sedeval_soft.core.room import give_back, memory_limited
from sedeval_soft.errors import EvaluationError
from sedeval_soft.formats.blocks import UnfitError, blocks_of
from sedeval_soft.formats.buckets import Bucket, Buckets, bucket_of
from sedeval_soft.run.batches import Keeper, Kept
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.filenames import stem_of


@dataclass(frozen=True, slots=True)
class Side:
    """A table to be parted. block: bytes that are read at a time. memory: as of a part."""

    name: str
    buckets: Buckets
    block: int
    memory: int | None


def read_side(side: Side) -> tuple[Buckets, EventTable] | Exception:
    """Return the parted rows of a table, and all but its rows; or what is wrong with it."""
    buckets = side.buckets
    try:
        with within(side.memory):
            blocks = blocks_of(side.name, buckets.folder, side.block, buckets.known.limits)
            for rows in blocks.rows:
                buckets.add(rows)
            return buckets, buckets.known.empty(blocks.sha256)
    except (EvaluationError, UnfitError) as error:
        # Of two tables, what is wrong with the first is told, whichever was found first.
        return error


def within(memory: int | None) -> contextlib.AbstractContextManager[None]:
    """Return what limits memory, if it is to be limited here."""
    return contextlib.nullcontext() if memory is None else memory_limited(memory)


@dataclass(frozen=True, slots=True)
class Part:
    """What is counted by itself: all rows of some recordings.

    durations: of these, None where there are none for any. memory: the most that the process may take that
    counts it; None where that is this one. keeper: of what is counted.
    """

    reference: Bucket
    system: Bucket
    durations: Mapping[str, float] | None
    settings: Settings
    memory: int | None = None
    keeper: Keeper = field(default_factory=Keeper)


def counted(part: Part) -> list[Kept]:
    """Return the statistics of a part, counted piece by piece where memory is short."""
    give_back()
    with within(part.memory):
        buckets = part.reference, part.system
        check_recordings(
            2.0 * sum(len(bucket) * bucket.dtype.itemsize for bucket in buckets),
            sum(map(len, buckets)),
            dict.fromkeys(file for bucket in buckets for file in bucket.empty.files),
            part.system.empty.origin.name,
        )
        records = [bucket.records() for bucket in buckets]
        extents = [
            Extent(bucket.empty, own["file"], own["offset"])
            for bucket, own in zip(buckets, records, strict=True)
        ]
        kept = []
        for names in pieces(extents, part.settings, part.durations):
            rows = []
            for bucket, own in zip(buckets, records, strict=True):
                places = [k for k, file in enumerate(bucket.empty.files) if stem_of(file) in names]
                rows.append(bucket.rows(own, np.asarray(places, dtype=np.intp)))
            given = part.durations
            if given is not None:
                given = {name: seconds for name, seconds in given.items() if stem_of(name) in names}
            give_back()
            shard = shard_of_rows(rows[0], rows[1], part.settings, given, batch=True)
            kept.append(part.keeper.keep(shard))
        return kept


def parts_of(
    sides: Mapping[str, Buckets],
    empty: Mapping[str, EventTable],
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


def or_raised(found: Sequence[tuple[Buckets, EventTable] | Exception]) -> list[tuple[Buckets, EventTable]]:
    """Return what was read of all tables; raises what is wrong with the first of them."""
    read = []
    for of_table in found:
        if isinstance(of_table, Exception):
            raise of_table
        read.append(of_table)
    return read
