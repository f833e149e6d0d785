"""The whole way: tables in parts, counted, merged, and counted again at the best thresholds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sedeval_soft.evaluation.count import check_counts
from sedeval_soft.evaluation.count_parts import (
    Rounds,
    best_thresholds,
    count,
    count_again,
    optimal_tables,
    shard_of_rows,
    time_grids,
)
from sedeval_soft.evaluation.groups import scenes_of
from sedeval_soft.evaluation.partition import Part, Partition, fits_at_once, partition_rows
from sedeval_soft.evaluation.shard import Shard
from sedeval_soft.evaluation.system_scores import describe
from sedeval_soft.memory import check_room, given_limit, has_room, room
from sedeval_soft.plan import Plan
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.source import bytes_as_text, in_shards
from sedeval_soft.timeline.alignment_report import AlignmentReport
from sedeval_soft.timeline.recordings import align

if TYPE_CHECKING:
    from sedeval_soft.evaluation.execute import Execute

_IN_MEMORY = 5
"""How much of memory a byte of text takes in a table that is read at once."""

_LARGE = 1 << 25
"""Bytes of both tables from which several processes are worth their start."""

_EVENT = 40
"""Bytes of an event with the thresholds at which it is one."""


def count_rows(
    reference: EventTable,
    system: EventTable,
    settings: Settings,
    durations: Mapping[str, float] | None = None,
    name: str | None = None,
    *,
    whole: bool = False,
) -> Shard:
    """Return the statistics of tables in memory; recordings are counted in parts if all are too many.

    name: the system's. whole: whether all that was counted is needed, to be saved or divided, not only the
    scores.
    """
    if fits_at_once(reference, system, settings, durations):
        return shard_of_rows(reference, system, settings, durations, name)
    partition = partition_rows(reference, system, settings, durations)
    if len(partition.parts) == 1:
        return shard_of_rows(reference, system, settings, durations, name)
    from sedeval_soft.evaluation.execute import Serial

    two_rounds = not whole and _is_short(partition, settings)
    shard = _count(partition, settings, durations, Serial(), two_rounds=two_rounds)
    return shard if name is None else replace(shard, system=name)


def count_files(
    reference: str,
    system: str,
    settings: Settings,
    read_durations: Callable[[], Mapping[str, float] | None],
    limits: Limits,
    execute: Execute,
    *,
    whole: bool = False,
    n_parts: int | None = None,
    block: int | None = None,
    two_rounds: bool | None = None,
) -> tuple[Mapping[str, float] | None, Shard]:
    """Return the durations and the statistics of tables in files, whose rows are written to parts.

    read_durations: called when tables were read. whole: as for `count_rows`. n_parts, block (bytes that are
    read at a time), two_rounds: as memory asks for where they are None. Raises what
    `count_rows` does; RoomError where a recording is too large.
    """
    from sedeval_soft.evaluation.stored_parts import partition_files
    from sedeval_soft.tables.stored_rows import temporary_folder

    with ExitStack() as stack:
        folder = stack.enter_context(temporary_folder()) if execute.on_disk else None
        how = (limits, execute, folder, n_parts, block)
        partition, durations = partition_files(reference, system, settings, read_durations, *how)
        if two_rounds is None:
            two_rounds = not whole and _is_short(partition, settings)
        return durations, _count(partition, settings, durations, execute, two_rounds=two_rounds)


def is_large(reference: str, system: str, jobs: int) -> bool:
    """Return whether tables in files are so large that so many processes count them in parts."""
    size = sum(map(_size, (reference, system)))
    if size < _LARGE and given_limit() is None:
        return False
    return _IN_MEMORY * size > room() or (jobs > 1 and size >= _LARGE)


def _size(name: str) -> int:
    """Return the bytes that a table has as text, estimated; 0 for what is no file."""
    if in_shards(name):
        from sedeval_soft.tables.files import shards_of

        return sum(bytes_as_text(file.name, file.size) for file in shards_of(name))
    with suppress(OSError, ValueError):
        return bytes_as_text(name, Path(name).stat().st_size)
    return 0


def _count(
    partition: Partition,
    settings: Settings,
    durations: Mapping[str, float] | None,
    execute: Execute,
    *,
    two_rounds: bool,
) -> Shard:
    """Return the statistics of all parts as if they had been counted at once.

    two_rounds: whether segments and events are not kept, where that can be.
    """
    names = align(partition.reference, partition.system, settings, durations)
    # Files are counted some at a time.
    check_counts(1, len(names.classes), settings)
    if not settings.strict:
        # Where it is, more is told when all rows were seen.
        scenes_of(names.files, names.classes, settings)
    parts = _on_time_grid(partition, names.classes, settings, execute)
    bases = Plan.of(settings).in_two_rounds if two_rounds else ()
    rounds = Rounds(settings, bases)
    counted = execute.map(partial(count, rounds), parts)
    if not bases:
        _check_merge([of.shard for of in counted])
    shard = Shard.merge([of.shard for of in counted])
    if bases:
        best = best_thresholds(counted, settings)
        thresholds = {key: of[0] for key, of in best.items()}
        again = execute.map(partial(count_again, rounds, thresholds), parts)
        shard = replace(shard, tables=optimal_tables(best, again, settings))
    shard = _as_one(shard, partition, names.findings, durations)
    if settings.strict:
        shard.findings.warnings(settings)
    return shard


def _as_one(
    shard: Shard, partition: Partition, findings: AlignmentReport, durations: Mapping[str, float] | None
) -> Shard:
    """Return merged statistics as if all rows had been counted at once; findings: of all names."""
    sides = {"reference": partition.reference, "system": partition.system}
    inputs = [
        replace(describe(rows, role, shard.settings), rows=n)
        for (role, rows), n in zip(sides.items(), partition.n_rows, strict=True)
    ]
    own = shard.findings
    tables = {role: replace(of, names=(sides[role].origin.name,)) for role, of in own.tables.items()}
    return replace(
        shard,
        system=partition.system.origin.name,
        inputs=tuple(inputs),
        # What rows tell adds up; of names there is more to say where all are known.
        findings=replace(
            findings, beyond=own.beyond, after_end=own.after_end, off_grid=own.off_grid, tables=tables
        ),
        durations=durations,
    )


def _on_time_grid(
    partition: Partition, classes: tuple[str, ...], settings: Settings, execute: Execute
) -> list[Part]:
    """Return the parts, which know the time step of the whole system where a median filter needs it."""
    filters = Plan.of(settings).filters
    if not filters and not any(settings.of_classes("median_filter", classes)):
        return partition.parts
    from sedeval_soft.timeline.postprocess import TimeGrid

    found = execute.map(partial(time_grids, settings), partition.parts)
    name = partition.system.origin.name
    steps = {
        of: TimeGrid.merge([grids[of] for grids in found]).step(name)
        for of in found[0]
        if of == classes or filters
    }
    return [replace(part, steps=steps) for part in partition.parts]


def _is_short(partition: Partition, settings: Settings) -> bool:
    """Return whether the segments and events of all recordings would not fit into memory together."""
    cells = 16 * partition.n_cells * Plan.of(settings).scores("segment", "optimal")
    return len(partition.parts) > 1 and not has_room(2.5 * cells + 1.5 * _EVENT * partition.n_values)


def _check_merge(shards: Sequence[Shard]) -> None:
    """Refuse segments and events of all recordings that do not fit into memory; raises RoomError."""
    sizes: dict[str, int] = {}
    for shard in shards:
        for name, values in shard.tally.samples.items():
            sizes[name] = sizes.get(name, 0) + values.nbytes
        for name, events in shard.tally.events.items():
            sizes[name] = sizes.get(name, 0) + _EVENT * len(events)
    # They are merged one after another, and put in order.
    check_room(
        sum(sizes.values()) + 3.0 * max(sizes.values(), default=0),
        "to look for best thresholds among all segments and events",
        "--only segment.hard --only segment.soft --only event.hard --only event.soft needs none of them",
    )
