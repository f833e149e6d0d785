"""Rows in, statistics out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sedeval_soft.core.shard import Shard, in_memory
from sedeval_soft.run.evaluation import describe, shard_of
from sedeval_soft.run.groups import scenes_of
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.timeline.alignment_report import Findings
from sedeval_soft.timeline.recordings import align


def shard_of_rows(
    reference: EventTable,
    system: EventTable,
    settings: Settings,
    durations: Mapping[str, float] | None = None,
    name: str | None = None,
    *,
    batch: bool = False,
    cells: bool = False,
) -> Shard:
    """Return the statistics of rows; arguments as for `evaluate`.

    batch: whether more files will follow, so that what is missing here may not be missing in all.
    cells: whether the values of all segments are kept, as comparing systems segment by segment needs.
    """
    pair = align(reference, system, settings, durations)
    inputs = describe(reference, "reference", settings), describe(system, "system", settings)
    if batch:
        inputs = in_memory(inputs[0]), in_memory(inputs[1])
    else:
        # What is refused is refused before much is computed.
        if settings.strict:
            pair.findings.warnings(settings)
        scenes_of(pair.files, pair.classes, settings)
    return shard_of(pair, inputs, settings, name or system.origin.name, durations, cells=cells)


def as_one(
    shard: Shard,
    empty: Mapping[str, EventTable],
    n_rows: Mapping[str, int],
    findings: Findings,
    durations: Mapping[str, float] | None,
) -> Shard:
    """Return the merged statistics of all parts of two tables as if they had been counted at once.

    empty: all names of each table by its role, without rows; n_rows: how many there were. findings: of the
    whole, by names.
    """
    inputs = [describe(rows, role, shard.settings) for role, rows in empty.items()]
    return replace(
        shard,
        system=empty["system"].origin.name,
        inputs=tuple(replace(each, rows=n_rows[each.role]) for each in inputs),
        # Of names there is more to say where all are known.
        findings=replace(
            findings,
            beyond=shard.findings.beyond,
            after_end=shard.findings.after_end,
            off_grid=shard.findings.off_grid,
            tables={
                role: replace(own, names=(empty[role].origin.name,))
                for role, own in shard.findings.tables.items()
            },
        ),
        durations=durations,
    )
