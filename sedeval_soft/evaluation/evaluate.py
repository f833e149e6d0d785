"""The whole way: tables in parts, counted, merged, and counted again at what only all parts together tell.

    parts = partition_files(reference, system)              # whole recordings; one part if all fits
    shard = Shard.merge(execute.map(count_part, parts))
    tables = optimal_tables(shard, parts, execute)          # where not all segments and events can be kept:
                                                            # `count_part_at` the best thresholds, once more
    scores = score_shard(shard with the tables)

Tables that fit into memory are one part, which is counted without more ado.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sedeval_soft.arrays import Floats
from sedeval_soft.evaluation.count import (
    bytes_per_cell,
    bytes_per_file,
    check_counts,
    columns_of,
    with_columns,
)
from sedeval_soft.evaluation.optimal import best_of_class, best_table, counts_at, threshold_counts
from sedeval_soft.evaluation.shard import Key, Shard, describe, scenes_of, second_round, shard_of_rows
from sedeval_soft.measures.base import Tables
from sedeval_soft.measures.detection import DetectionCounts
from sedeval_soft.measures.tally import Tally
from sedeval_soft.measures.thresholds import ThresholdCounts
from sedeval_soft.memory import check_room, given_limit, has_room, reuse_freed, room
from sedeval_soft.plan import Plan
from sedeval_soft.settings import CRITERIA, Settings
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.source import bytes_as_text, is_pattern, is_url
from sedeval_soft.timeline.alignment_report import OF_REGIONS, AlignmentReport, joined_as_whole
from sedeval_soft.timeline.recordings import align, with_unknown

if TYPE_CHECKING:
    from sedeval_soft.evaluation.execute import Execute
    from sedeval_soft.evaluation.partition import Part, Partition
    from sedeval_soft.timeline.postprocess import TimeGrid


_IN_MEMORY = 5
"""How much of memory a byte of text takes in a table that is read at once."""

_LARGE = 1 << 25
"""Bytes of both tables from which several processes are worth their start."""

_MANY = 1 << 17
"""Values of rows from which arrays are so large that new memory for each takes long."""

_CELL, _EVENT = 16, 40
"""Bytes of a segment of a class, both sides of it, and of an event with the thresholds at which it is one."""

_SORTED_CELLS, _SORTED_EVENTS = 2.5, 1.5
"""How many times as much they take while those of all parts are merged and put in order."""


def count_rows(
    reference: EventTable,
    system: EventTable,
    settings: Settings,
    durations: Mapping[str, float] | None = None,
    name: str | None = None,
    *,
    keep_all: bool = False,
) -> Shard:
    """Return the statistics of tables in memory; recordings are counted in parts if all are too many.

    name: the system's. keep_all: whether all that was counted is needed, to be saved or divided, not only the
    scores.
    """
    # Were all recordings as long as the longest; where that is too much, it takes a look at each of them.
    n_files = len(reference.files) + len(system.files) + len(durations or ())
    n_classes = len(settings.classes or {*reference.classes, *system.classes})
    longest = max(*(float(rows.offset.max(initial=0.0)) for rows in (reference, system)),
                  *(durations or {}).values())  # fmt: skip
    cells = n_files * n_classes * np.ceil(longest / settings.segment_length)
    # Which classes are left where files are left out is known of all rows together only.
    if settings.files is None and not has_room(
        2 * (n_files * bytes_per_file(n_classes, settings) + bytes_per_cell(settings) * cells)
    ):
        from sedeval_soft.evaluation.execute import Execute
        from sedeval_soft.evaluation.partition import partition_rows

        partition = partition_rows(reference, system, settings, durations)
        if partition is not None:
            shard = count_parts(partition, settings, Execute(), keep_all=keep_all)
            return shard if name is None else shard._replace(system=name)
    if (len(reference) + len(system)) * n_classes > _MANY:
        reuse_freed()
    return shard_of_rows(reference, system, settings, durations, name, together=not keep_all)


def count_tables(
    reference: str,
    system: str,
    settings: Settings,
    read_durations: Callable[[], Mapping[str, float] | None],
    limits: Limits,
    execute: Execute,
    *,
    keep_all: bool = False,
    n_parts: int | None = None,
    block: int | None = None,
    in_rounds: bool | None = None,
) -> Shard:
    """Return the statistics of tables in files, whose rows are written to parts.

    read_durations: called when tables were read. keep_all: as for `count_rows`. n_parts, block (bytes that
    are read at a time), in_rounds: as memory asks for where they are None. Raises what `count_rows` does;
    RoomError where a recording is too large.
    """
    from sedeval_soft.evaluation.partition import partition_files
    from sedeval_soft.tables.stored_rows import temporary_folder

    with ExitStack() as stack:
        folder = stack.enter_context(temporary_folder()) if execute.on_disk else None
        how = (limits, execute, folder, n_parts, block)
        partition = partition_files(reference, system, settings, read_durations, *how)
        return count_parts(partition, settings, execute, keep_all=keep_all, in_rounds=in_rounds)


def is_large(reference: str, system: str, jobs: int) -> bool:
    """Return whether tables in files are so large that so many processes count them in parts."""
    size = 0
    for name in (reference, system):
        if is_url(name) or is_pattern(name):
            from sedeval_soft.tables.joined_tables import shards_of

            size += sum(bytes_as_text(file.name, file.size) for file in shards_of(name))
        else:
            # What is no file counts nothing.
            with suppress(OSError, ValueError):
                size += bytes_as_text(name, Path(name).stat().st_size)
    if size < _LARGE and given_limit() is None:
        return False
    return _IN_MEMORY * size > room() or (jobs > 1 and size >= _LARGE)


def count_parts(
    partition: Partition,
    settings: Settings,
    execute: Execute,
    *,
    keep_all: bool = False,
    in_rounds: bool | None = None,
) -> Shard:
    """Return the statistics of all parts as if they had been counted at once.

    keep_all: as for `count_rows`. in_rounds: whether segments and events are not kept, where that can be;
    None as memory asks for.
    """
    settings = with_unknown(settings, partition.reference.origin)
    plan = Plan.of(settings)
    # Which files have regions is for their rows to tell.
    whole = replace(settings, regions=None, region_edges="cut", after_shots=None)
    names = align(partition.reference, partition.system, whole, partition.durations)
    # Files are counted some at a time.
    check_counts(1, len(names.classes), settings)
    if not settings.strict:
        # Where it is, more is told when all rows were seen.
        scenes_of(names.files, names.classes, settings)
    if in_rounds is None:
        cells = _CELL * partition.n_cells * plan.scores("segment", "optimal")
        events = _EVENT * partition.n_values * (1 + len(plan.filters))
        fits = has_room(_SORTED_CELLS * cells + _SORTED_EVENTS * events)
        in_rounds = len(partition.parts) > 1 and not keep_all and not fits
    in_rounds = in_rounds and plan.adds_up and bool(plan.thresholded) and not plan.psds

    parts = _on_time_grid(partition, names.classes, settings, execute)
    count = partial(count_part, settings, kept=not in_rounds)
    shards = execute.map(count, parts)
    joined = joined_as_whole([shard.findings for shard in shards])
    if joined:
        # Rows of all parts together say what an event is.
        parts = [replace(part, joined=joined) for part in parts]
        shards = execute.map(count, parts)
    if not in_rounds:
        _check_merge(shards)
    shard = Shard.merge(shards)
    if in_rounds:
        tables, at_best = optimal_tables(shard, parts, execute)
        tally = with_columns(shard.tally, {**at_best.per_class, **at_best.per_file})
        shard = shard._replace(tally=tally, levels={}, tables=tables)
    shard = _as_one(shard, partition, names.findings)
    if settings.strict:
        shard.findings.warnings(settings)
    return shard


def count_part(settings: Settings, part: Part, *, kept: bool) -> Shard:
    """Return the statistics of a part; kept: with its segments and events, where scores need them."""
    shard = shard_of_rows(*part.sides(), settings, part.durations, batch=True, together=not kept)
    if kept:
        return shard.slim()
    if isinstance(settings.thresholds, dict):
        from sedeval_soft.evaluation.system_scores import tuned_shard

        # Counts at given thresholds need no other files, but the values that go now.
        shard = tuned_shard(shard)
    plan = Plan.of(settings)
    levels = {}
    for scope, tally in shard.scopes():
        for basis, _ in plan.thresholded:
            levels[scope, basis] = _at_thresholds(tally, basis, settings)
    groups = {name: replace(tally, samples={}, events={}) for name, tally in shard.groups.items()}
    tally = replace(shard.tally, samples={}, events={})
    return shard._replace(tally=tally, groups=groups, levels=levels).slim()


def count_part_at(
    settings: Settings, thresholds: Mapping[Key, Floats], part: Part
) -> tuple[Mapping[Key, DetectionCounts], Tally]:
    """Return the counts of a part at thresholds of classes, summed over its files, and those of each file."""
    only = tuple(f"{basis}.optimal" for basis in dict.fromkeys(basis for _, basis in thresholds))
    # PSDS is not looked for here; what counts as an intersection stays what it asks for.
    criteria = {name: settings.criterion(name) for name in CRITERIA}
    none = dict.fromkeys(("psds", "alpha_ct", "alpha_st", "max_efpr"))
    again: dict[str, Any] = {**criteria, **none, "psds_median_filters": ()}
    settings = replace(second_round(settings, only), **again)
    shard = shard_of_rows(*part.sides(), settings, part.durations, batch=True, together=True)
    sums: dict[Key, DetectionCounts] = {}
    of_files = replace(shard.tally, per_class={}, per_file={}, samples={}, events={})
    for scope, tally in shard.scopes():
        for basis, _ in Plan.of(settings).thresholded:
            counts = counts_at(tally, basis, thresholds[scope, basis], settings)
            sums[scope, basis] = counts.total()
            if scope is None:
                of_files = with_columns(of_files, columns_of(f"{basis}.optimal", counts))
    return sums, of_files.slim()


def optimal_tables(
    shard: Shard, parts: Sequence[Part], execute: Execute
) -> tuple[dict[str | None, Tables], Tally]:
    """Return the tables of optimal readings by scope, and what is counted there in each file.

    Parts are counted at the best thresholds of all.
    """
    settings = shard.settings
    best = {
        (scope, basis): [best_of_class(basis, settings, counts) for counts in ways[-1]]
        for (scope, basis), ways in shard.levels.items()
    }
    thresholds = {key: np.array([of_class[0] for of_class in classes]) for key, classes in best.items()}
    counted = execute.map(partial(count_part_at, settings, thresholds), parts) if best else []
    tables: dict[str | None, Tables] = {}
    for (scope, basis), classes in best.items():
        of_parts = [sums[scope, basis] for sums, _ in counted if (scope, basis) in sums]
        table = best_table(classes, DetectionCounts.merge(of_parts), basis, settings)
        tables.setdefault(scope, {})[basis, "optimal"] = table
    return tables, Tally.merge(of_files for _, of_files in counted)


def _at_thresholds(tally: Tally, basis: str, settings: Settings) -> Sequence[Sequence[ThresholdCounts]]:
    """Return the counts of a basis at every threshold, in one way or two, see `Shard.levels`."""
    ways = [threshold_counts(tally, basis, settings, apart=False)]
    if basis == "intersection":
        from sedeval_soft.measures.intersections import Criteria, Judged

        sides = tally.events["reference"].events(), tally.system("intersection")
        if Judged.of(*sides, len(tally.classes), Criteria.of(settings)).is_apart():
            ways.append(threshold_counts(tally, basis, settings, apart=True))
    return ways


def _on_time_grid(
    partition: Partition, classes: tuple[str, ...], settings: Settings, execute: Execute
) -> list[Part]:
    """Return the parts, which know the time step of the whole system where a median filter needs it."""
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
    return [replace(part, steps=steps) for part in partition.parts]


def time_grids(settings: Settings, part: Part) -> dict[tuple[str, ...], TimeGrid]:
    """Return what the rows of a part tell of their time step: those of all classes, and of each group."""
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
        "--only segment.hard --only segment.soft --only event.hard --only event.soft needs none of them",
    )


def _as_one(shard: Shard, partition: Partition, findings: AlignmentReport) -> Shard:
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
    # What rows tell adds up; of names there is more to say where all are known.
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
