"""Tables of what needs the segments and events of all files, found batch by batch.

The levels of each batch give the best thresholds; then each batch is counted at these, and counts add up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.room import check_room, has_room
from sedeval_soft.core.shard import Shard, Solved
from sedeval_soft.evaluation.optimal import counts_at, error_rate_table, optimal_table
from sedeval_soft.evaluation.plan import CELLS, THRESHOLDED
from sedeval_soft.measures.base import Tables
from sedeval_soft.measures.detection import PER_CLASS, PER_FILE, DetectionCounts
from sedeval_soft.measures.intersection.criteria import Criteria
from sedeval_soft.measures.intersection_thresholds import Judged
from sedeval_soft.run.batches import Batch, Job, Kept, Part, can_wait, size_of
from sedeval_soft.run.levels import Best, Levels, best_of, entries, entries_of, shares
from sedeval_soft.run.waited_psds import waited_psds
from sedeval_soft.run.workers import Workers

Floats = npt.NDArray[np.float64]


def merged(kept: Sequence[Kept], folder: Path | None, workers: Workers, memory: int | None) -> Shard:
    """Return the statistics of all files: with all segments and events where these fit, else with tables.

    folder: of temporary files; None where nothing may wait. Raises RoomError where something must not wait
    that does not fit, else as `joined`.
    """
    shards = [each.shard for each in kept]
    waits = folder is not None and can_wait(kept[0].shard.settings)
    if folder is not None and waits and (any(each.batch for each in kept) or not has_room(_needed(shards))):
        return joined(kept, folder, workers, memory)
    return together(shards)


def together(shards: Sequence[Shard]) -> Shard:
    """Return the statistics of all files, with segments and events; raises RoomError if these do not fit."""
    check_room(
        _needed(shards),
        "to look for best thresholds among all segments and events",
        "--only segment.hard --only segment.soft --only event.hard --only event.soft needs none of them",
    )
    return Shard.merge(shards)


def _needed(shards: Sequence[Shard]) -> float:
    """Return the memory that it takes to merge statistics, and to put their segments and events in order."""
    held: dict[str, int] = {}
    for shard in shards:
        for name, size in size_of(shard.tally).items():
            held[name] = held.get(name, 0) + size
    return sum(held.values()) + 3.0 * max(held.values(), default=0)


def joined(kept: Sequence[Kept], folder: Path, workers: Workers, memory: int | None) -> Shard:
    """Return the statistics of all files, with the tables of what waits; raises what `Shard.merge` does.

    folder: of temporary files. memory: the most that each of the workers may take, as for `Job`.
    """
    waiting = [each.spilled(folder) for each in kept]
    shard = Shard.merge([each.shard for each in waiting])
    batches = [each.batch for each in waiting if each.batch is not None]
    nested = {
        name: all(batch.events[name][1] for batch in batches if batch.events[name][0])
        for name in batches[0].events
    }
    solved: dict[str | None, Solved] = {}
    for part in _parts(shard):
        own = [batch for batch in batches if part.files(batch.files)]
        job = Job(part, shard.settings, folder, nested, memory)
        if own:
            tables, notes = waited_psds(own, job, workers)
            solved[part.name] = Solved(_tables(own, job, workers) | tables, tuple(notes))
    return replace(shard, solved=solved)


def _parts(shard: Shard) -> list[Part]:
    """Return the whole, the groups and the scenes; those of which something is missing are refused later."""
    classes, settings = shard.tally.classes, shard.settings
    groups = [
        Part(name, labels) for name, labels in settings.groups.items() if all(c in classes for c in labels)
    ]
    scenes = [Part(name, classes, patterns) for name, patterns in settings.scenes.items()]
    return [Part(None, classes), *groups, *scenes]


def _tables(batches: Sequence[Batch], job: Job, workers: Workers) -> Tables:
    """Return the tables of a part."""
    settings = job.settings
    tables: Tables = {}
    found: dict[str, Best] = {}
    for basis in (basis for basis, reading in THRESHOLDED if settings.wants(basis, reading)):
        own = replace(job, apart=_are_apart(batches, job, workers)) if basis == "intersection" else job
        levels = workers.each(_levels, [(bundle, basis, own) for bundle in job.bundles(batches)])
        found[basis] = _best(levels, basis, job, workers)
    thresholds = {basis: best.threshold for basis, best in found.items()}
    counts = workers.each(_counts, [(batch, thresholds, job) for batch in batches])
    for basis, best in found.items():
        own_counts = _total([of[basis] for of in counts], len(job.part.classes))
        table = optimal_table(own_counts, best.threshold, settings)
        if basis not in CELLS:
            table |= error_rate_table(best.tp, best.n_sys, own_counts.n_ref, best.errors_at)
        tables[basis, "optimal"] = table
    return tables


def _are_apart(batches: Sequence[Batch], job: Job, workers: Workers, system: str = "system") -> bool:
    return all(workers.each(_is_apart, [(batch, system, job) for batch in batches]))


def _is_apart(work: tuple[Batch, str, Job]) -> bool:
    batch, system, job = work
    with job.within():
        tally = batch.tally(job.part, job.nested, ("reference", system))
        sides = tally.events["reference"].events(), tally.events[system]
        return Judged.of(*sides, len(tally.classes), Criteria.of(job.settings)).is_apart()


def _levels(work: tuple[Sequence[Batch], str, Job]) -> Levels:
    bundle, basis, job = work
    names = (basis,) if basis in CELLS else ("reference", "system")
    with job.within():
        tallies = (batch.tally(job.part, job.nested, names) for batch in bundle)
        parts = [entries_of(tally, basis, job.settings, apart=job.apart) for tally in tallies]
        return Levels.write(job.folder, parts)


def _best(levels: Sequence[Levels], basis: str, job: Job, workers: Workers) -> Best:
    with job.within():
        ranges = shares(levels, entries())
    found = workers.each(_best_of, [(levels, *own, basis not in CELLS, job) for own in ranges])
    for of in levels:
        of.spilled.remove()
    return Best.joined(found)


def _best_of(work: tuple[Sequence[Levels], int, int, bool, Job]) -> Best:
    levels, first, last, errors, job = work
    with job.within():
        return best_of(levels, first, last, job.settings, errors=errors)


def _counts(work: tuple[Batch, Mapping[str, Floats], Job]) -> dict[str, DetectionCounts]:
    batch, thresholds, job = work
    found = {}
    with job.within():
        for basis, own in thresholds.items():
            names = (basis,) if basis in CELLS else ("reference", "system")
            tally = batch.tally(job.part, job.nested, names)
            found[basis] = counts_at(tally, basis, own, job.settings).total()
    return found


def _total(counts: Sequence[DetectionCounts], n_classes: int) -> DetectionCounts:
    """Return the sum of counts, whole numbers all."""
    none = np.zeros((1, n_classes), dtype=np.int64)
    columns = {name: [getattr(of, name)[None] for of in counts] for name in (*PER_CLASS, *PER_FILE)}
    first = {name: none if name in PER_CLASS else none.sum(axis=1) for name in columns}
    return DetectionCounts(
        *(np.concatenate([first[name], *column]) for name, column in columns.items())
    ).total()
