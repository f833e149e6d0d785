"""From tables to scores: tables in parts, counted and merged.

    parts = partition_files(reference, system)              # whole recordings; one part if all fits
    shard = Shard.merge(execute.map(count_part, parts))
    scores = score_shard(shard)

Tables that fit into memory are counted directly as one part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sedeval_soft.checks.alignment import OF_REGIONS, AlignmentReport, joined_as_whole
from sedeval_soft.evaluation.count import (
    LESS_MEMORY,
    check_counts,
)
from sedeval_soft.evaluation.shard import Shard, describe, scenes_of, shard_of_rows
from sedeval_soft.memory import check_room, given_limit, reuse_freed, room
from sedeval_soft.plan import Plan
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.source import bytes_as_text, is_pattern, is_url
from sedeval_soft.timeline.recordings import align, with_unknown

if TYPE_CHECKING:
    from sedeval_soft.evaluation.execute import Execute
    from sedeval_soft.evaluation.partition import Part, Parts
    from sedeval_soft.timeline.postprocess import TimeGrid


_IN_MEMORY = 5
"""Bytes of memory for each byte of text in a table that is read at once."""

_LARGE = 1 << 25
"""Bytes of both tables from which the start of several processes pays."""

_MANY = 1 << 17
"""Values of rows from which arrays are so large that new memory for each takes long."""

_EVENT = 40
"""Bytes of an event with its thresholds."""


def count_rows(
    reference: EventTable,
    system: EventTable,
    settings: Settings,
    durations: Mapping[str, float] | None = None,
    name: str | None = None,
) -> Shard:
    """Return the statistics of tables in memory; name: the system's."""
    n_classes = len(settings.classes or {*reference.classes, *system.classes})
    if (len(reference) + len(system)) * n_classes > _MANY:
        reuse_freed()
    return shard_of_rows(reference, system, settings, durations, name)


def count_tables(
    reference: str,
    system: str,
    settings: Settings,
    read_durations: Callable[[], Mapping[str, float] | None],
    limits: Limits,
    execute: Execute,
    *,
    n_parts: int | None = None,
    block: int | None = None,
) -> Shard:
    """Return the statistics of tables in files, whose rows are written to parts.

    read_durations: called after tables were read. n_parts, block (bytes that are read at a time): chosen by
    memory if None. Raises the errors of `count_rows`. Raises RoomError if a recording is too large, or if
    segments and events for choosing thresholds do not fit into memory.
    """
    from sedeval_soft.evaluation.partition import partition_files
    from sedeval_soft.tables.stored_rows import temporary_folder

    with temporary_folder() as folder:
        how = (limits, execute, folder, n_parts, block)
        return count_parts(partition_files(reference, system, read_durations, *how), settings, execute)


def is_large(reference: str, system: str, jobs: int) -> bool:
    """Return whether tables in files are large enough to be counted in parts; jobs: processes."""
    size = 0
    for name in (reference, system):
        if is_url(name) or is_pattern(name):
            from sedeval_soft.tables.joined_tables import shards_of

            size += sum(bytes_as_text(file.name, file.size) for file in shards_of(name))
        else:
            # Inputs that are not files count nothing.
            with suppress(OSError, ValueError):
                size += bytes_as_text(name, Path(name).stat().st_size)
    if size < _LARGE and given_limit() is None:
        return False
    return _IN_MEMORY * size > room() or (jobs > 1 and size >= _LARGE)


def count_parts(partition: Parts, settings: Settings, execute: Execute) -> Shard:
    """Return the statistics of all parts as if they had been counted at once."""
    settings = with_unknown(settings, partition.reference.origin)
    # The rows of files decide which files have regions.
    whole = replace(settings, regions=None, region_edges="cut", after_shots=None)
    names = align(partition.reference, partition.system, whole, partition.durations)
    # Files are counted some at a time.
    check_counts(1, len(names.classes), settings)
    if not settings.strict:
        # Strict evaluations report more after all rows were seen.
        scenes_of(names.files, names.classes, settings)

    parts = _on_time_grid(partition, names.classes, settings, execute)
    count = partial(count_part, settings)
    shards = execute.map(count, parts)
    joined = joined_as_whole([shard.findings for shard in shards])
    if joined:
        # Rows of all parts together decide the form of an event.
        for role, are_joined in joined.items():
            parts = [_knowing(part, role, joined=are_joined) for part in parts]
        shards = execute.map(count, parts)
    _check_merge(shards)
    shard = _as_one(Shard.merge(shards), partition, names.findings)
    if settings.strict:
        shard.findings.warnings(settings)
    return shard


def count_part(settings: Settings, part: Part) -> Shard:
    """Return the statistics of a part."""
    return shard_of_rows(*part.sides(), settings, part.durations, batch=True)


def _on_time_grid(
    partition: Parts, classes: tuple[str, ...], settings: Settings, execute: Execute
) -> list[Part]:
    """Return the parts with the time step of the whole system if a median filter needs it."""
    filters = Plan.of(settings).filters
    if not filters and not any(settings.of_classes("median_filter", classes)):
        return partition.parts
    from sedeval_soft.timeline.postprocess import TimeGrid

    grids = execute.map(partial(time_grids, settings), partition.parts)
    name = partition.system.origin.name
    steps = {
        labels: TimeGrid.merge([part[labels] for part in grids]).step(name)
        for labels in grids[0]
        if labels == classes or filters
    }
    return [_knowing(part, "system", steps=steps) for part in partition.parts]


def _knowing(part: Part, role: str, **known: Any) -> Part:  # noqa: ANN401 - fields of Origin
    """Return a part with more information about a side of the whole table."""
    table = getattr(part, role)
    return replace(part, **{role: replace(table, origin=replace(table.origin, **known))})


def time_grids(settings: Settings, part: Part) -> dict[tuple[str, ...], TimeGrid]:
    """Return the information of a part's rows about their time step: of all classes, and of each group."""
    from sedeval_soft.tables.ticks import to_ticks
    from sedeval_soft.timeline.postprocess import TimeGrid

    plain = replace(settings, median_filter=0.0, psds_median_filters=(), min_gap=0.0, min_duration=0.0)
    pair = align(*part.sides(), plain, part.durations)
    groups = [tuple(c for c in labels if c in pair.classes) for labels in settings.groups.values()]
    sides = {classes: pair.with_classes(classes).raw for classes in (pair.classes, *groups)}
    return {
        classes: TimeGrid.of(to_ticks(rows.onset), to_ticks(rows.offset)) for classes, rows in sides.items()
    }


def _check_merge(shards: Sequence[Shard]) -> None:
    """Refuse segments and events of all recordings that do not fit into memory; raises RoomError."""
    sizes: Counter[str] = Counter()
    for tally in (shard.tally for shard in shards):
        sizes.update({name: values.nbytes for name, values in tally.samples.items()})
        sizes.update({name: _EVENT * len(events) for name, events in tally.events.items()})
    # They are merged one after another, and put in order.
    check_room(
        sum(sizes.values()) + 3.0 * max(sizes.values(), default=0),
        "to look for best thresholds among all segments and events",
        LESS_MEMORY,
    )


def _as_one(shard: Shard, partition: Parts, findings: AlignmentReport) -> Shard:
    """Return merged statistics as if all rows had been counted at once; findings: of all names."""
    sides = {"reference": partition.reference, "system": partition.system}
    forms = {item.role: item.events for item in shard.inputs}
    inputs = tuple(
        replace(describe(rows, role, shard.settings), rows=n, events=forms[role])
        for (role, rows), n in zip(sides.items(), partition.n_rows, strict=True)
    )
    of_rows = shard.findings
    tables = {
        role: replace(table, names=(sides[role].origin.name,)) for role, table in of_rows.tables.items()
    }
    # Findings of rows add up; findings of names change after all names are known.
    findings = replace(
        findings,
        beyond=of_rows.beyond,
        after_end=of_rows.after_end,
        lengthless=of_rows.lengthless,
        steps=of_rows.steps,
        off_grid=of_rows.off_grid,
        ignored=of_rows.ignored,
        silent=of_rows.silent,
        tables=tables,
        **{name: getattr(of_rows, name) for name in OF_REGIONS},
    )
    if shard.settings.has_regions:
        left_out = of_rows.without_region | of_rows.too_few_shots
        kinds = ("missing", "extra", "unlisted")
        findings = replace(findings, **{name: getattr(findings, name) - left_out for name in kinds})
    system = partition.system.origin.name
    return shard._replace(system=system, inputs=inputs, findings=findings, durations=partition.durations)
