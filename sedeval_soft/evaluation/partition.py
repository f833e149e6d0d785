"""Parts of tables in files: recordings are grouped so that memory suffices for counting each part.

A table may have its rows in any order, and may be in several files (shards). The program reads each file
block by block, once, and writes its rows to the part of their recording, given by a hash of its name.

    parts = partition_files(reference, system)              # whole recordings
    shard = Shard.merge(execute.map(count_part, parts))
    scores = score_shard(shard)
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from sedeval_soft.arrays import ahead, become_worker
from sedeval_soft.checks.alignment import OF_REGIONS, AlignmentReport
from sedeval_soft.checks.rows import are_steps
from sedeval_soft.errors import EvaluationError, InputError, SettingsError
from sedeval_soft.evaluation.count import LESS_MEMORY, check_counts
from sedeval_soft.evaluation.shard import Shard, bytes_of_rows, count_rows, describe, scenes_of
from sedeval_soft.memory import check_room, memory_limited, reuse_freed, room
from sedeval_soft.plan import Plan
from sedeval_soft.settings import Settings
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.event_table import UNNAMED, EventTable
from sedeval_soft.tables.filenames import listing
from sedeval_soft.tables.joined_tables import TableFile, joined, shards_of
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.source import bytes_as_text, is_url, spelled
from sedeval_soft.tables.stored_rows import Piece, UnfitError, blocks_of, part_of, store, temporary_folder
from sedeval_soft.tables.ticks import to_ticks
from sedeval_soft.timeline.postprocess import TimeGrid
from sedeval_soft.timeline.recordings import align, with_unknown

_BLOCK = (1 << 20, 1 << 24)
"""Bytes that are read at a time, at the least and at the most: more leave the processor's cache."""

_EVENT = 40
"""Bytes of an event with its thresholds."""

_TEXT = 64
"""Ratio of available memory to the text of both tables of a part of that size while it is counted."""

_MOST_PARTS, _MOST_PIECES = 1024, 200_000
"""Parts of a table, and parts of all its shards together."""


@dataclass(frozen=True, slots=True)
class Part:
    """Whole recordings of both sides, which are counted separately.

    reference, system: without any row: rows are in `pieces`, for either side in the order of shards.
    durations: seconds by file name, None if no file has any.
    """

    reference: EventTable
    system: EventTable
    durations: Mapping[str, float] | None
    pieces: tuple[list[Piece], list[Piece]]

    @property
    def name(self) -> str:
        """Return the name of the part, for messages."""
        return listing(tuple(dict.fromkeys([*self.reference.files, *self.system.files])), "recording")

    def sides(self) -> tuple[EventTable, EventTable]:
        """Return the rows of both sides; raises RoomError if they do not fit into memory."""
        pieces = [*self.pieces[0], *self.pieces[1]]
        check_room(
            sum(bytes_of_rows(piece.names) * piece.n_rows for piece in pieces) / 2,
            f"{self.system.origin.name}: to count the {sum(piece.n_rows for piece in pieces)} rows of "
            f"{self.name} on both sides",
            f"Expected shorter recordings, or more memory: each is counted as a whole. {LESS_MEMORY}",
        )
        reference = EventTable.join([self.reference, *(piece.read() for piece in self.pieces[0])])
        return reference, EventTable.join([self.system, *(piece.read() for piece in self.pieces[1])])


class Parts(NamedTuple):
    """Both tables in parts.

    reference, system: without any row. durations: seconds by file name. n_rows: the number of rows of each
    side.
    """

    parts: list[Part]
    reference: EventTable
    system: EventTable
    durations: Mapping[str, float] | None
    n_rows: tuple[int, int]


def partition_files(
    reference: str,
    system: str,
    read_durations: Callable[[], Mapping[str, float] | None],
    limits: Limits,
    execute: Execute,
    folder: Path,
    n_parts: int | None = None,
    block: int | None = None,
) -> Parts:
    """Write tables in files to parts; raises the error of the first file with an error.

    read_durations: called after tables are read. folder: for the rows, visible to all workers. n_parts, block
    (bytes that are read at a time): chosen by memory if None.
    """
    reuse_freed()
    files = [shards_of(name, limits) for name in (reference, system)]
    if n_parts is None:
        size = sum(bytes_as_text(file.name, file.size) for side in files for file in side)
        wanted = max(4 * execute.jobs, -(-_TEXT * size // max(1, execute.memory)))
        n_parts = max(1, min(_MOST_PARTS, _MOST_PIECES // sum(map(len, files)), wanted))
    block = block or min(max(execute.memory // 96, _BLOCK[0]), _BLOCK[1])
    readings = [
        Unread(file, execute.path(file.name), replace(limits, side=role))
        for role, side in zip(("reference", "system"), files, strict=True)
        for file in side
    ]
    # Pipes are this process's own.
    streams = any(r.path == "-" or (os.path.exists(r.path) and not os.path.isfile(r.path)) for r in readings)
    where = Execute() if streams else execute
    try:
        written = where.map(partial(write_parts, n_parts, block, folder), readings)
        sides = written[: len(files[0])], written[len(files[0]) :]
        whole = [
            joined(name, [file for file, _ in side], limits)
            for name, side in zip((reference, system), sides, strict=True)
        ]
    except InputError as error:
        problem = error.problems[0]
        if where.elsewhere and problem.code == "unreadable-file" and os.access(problem.source, os.R_OK):
            expected = "expected shards where all workers see them by the same path, or URLs"
            raise EvaluationError(f"{error}; {expected}") from error
        raise
    # Tables without any row.
    ours, theirs = (replace(rows, origin=limits.as_read(rows.origin, "")) for rows in whole)
    durations = read_durations()
    # A table without a name gets the name of the other side: only together they are one recording.
    unnamed = UNNAMED in (*ours.files, *theirs.files)

    def by_part(names: Iterable[str]) -> dict[int, tuple[str, ...]]:
        inside: dict[int, list[str]] = {}
        for name in names:
            inside.setdefault(0 if unnamed else part_of(name, n_parts), []).append(name)
        return {number: tuple(some) for number, some in inside.items()}

    names = by_part(ours.files), by_part(theirs.files), by_part(durations or ())
    pieces: dict[int, tuple[list[Piece], list[Piece]]] = {
        number: ([], []) for number in sorted({*names[0], *names[1], *names[2]}) or [0]
    }
    for role, side in enumerate(sides):
        for _, of_shard in side:
            for number, piece in of_shard.items():
                pieces[0 if unnamed else number][role].append(piece)
    parts = [
        Part(
            replace(ours, files=names[0].get(number, ())),
            replace(theirs, files=names[1].get(number, ())),
            None if durations is None else {name: durations[name] for name in names[2].get(number, ())},
            of_part,
        )
        for number, of_part in pieces.items()
    ]
    n_ours, n_theirs = (sum(shard.n_rows for shard, _ in side) for side in sides)
    return Parts(parts, ours, theirs, durations, (n_ours, n_theirs))


class Unread(NamedTuple):
    """A file to be written to parts. path: its location for the reader."""

    file: TableFile
    path: str
    limits: Limits

    @property
    def name(self) -> str:
        """Return the name of the file, for messages."""
        return spelled(self.file.name)


def write_parts(
    n_parts: int, block: int, folder: Path, reading: Unread
) -> tuple[TableFile, dict[int, Piece]]:
    """Write the rows of a file to the parts of their recordings; return the file without rows, and its parts.

    block: bytes that are read at a time.
    """
    file, path, limits = reading
    try:
        blocks, sha256 = blocks_of(path, folder, block, file.limits(limits))
        names, pieces = store(ahead(blocks), n_parts, folder, limits, sha256)
        file = file.holding(names)
    except UnfitError:
        # Tables that do not name their recordings, for one, are read as a whole.
        file = file.holding(read_rows(path, limits=limits)) if file.alone else file.read(path, limits)
        digest = file.rows.origin.sha256 or ""
        names, pieces = store(iter([file.rows]), n_parts, folder, limits, lambda: digest)
    # Its name is the given one, wherever the file was read.
    name = names.origin.name.replace(spelled(path), reading.name)
    names = replace(names, origin=replace(names.origin, name=name))
    return replace(file, rows=names, n_rows=sum(piece.n_rows for piece in pieces.values())), pieces


# Counting of parts.


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
    with temporary_folder() as folder:
        parts = partition_files(reference, system, read_durations, limits, execute, folder, n_parts, block)
        return count_parts(parts, settings, execute)


def count_parts(partition: Parts, settings: Settings, execute: Execute) -> Shard:
    """Return the statistics of all parts as if they had been counted at once."""
    settings = with_unknown(settings, partition.reference.origin)
    # The rows of files decide which files have regions.
    plain = replace(settings, regions=None, region_edges="cut", after_shots=None)
    names = align(partition.reference, partition.system, plain, partition.durations)
    # Files are counted some at a time.
    check_counts(1, len(names.classes), settings)
    if not settings.strict:
        # Strict evaluations report more after all rows were seen.
        scenes_of(names.files, names.classes, settings)

    parts = _on_time_grid(partition, names.classes, settings, execute)
    count = partial(count_part, settings)
    shards = execute.map(count, parts)
    # Rows of all parts together decide the form of an event.
    whole = AlignmentReport.merge(shard.findings for shard in shards).steps
    joined = {role: are_steps(counts) for role, counts in whole.items()}
    steps = (item for shard in shards for item in shard.findings.steps.items())
    if any(counts[0] and are_steps(counts) != joined[role] for role, counts in steps):
        for role, are_joined in joined.items():
            parts = [_knowing(part, role, joined=are_joined) for part in parts]
        shards = execute.map(count, parts)
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
    shard = _as_one(Shard.merge(shards), partition, names.findings)
    if settings.strict:
        shard.findings.warnings(settings)
    return shard


def count_part(settings: Settings, part: Part) -> Shard:
    """Return the statistics of a part."""
    return count_rows(*part.sides(), settings, part.durations, batch=True)


def _on_time_grid(
    partition: Parts, classes: tuple[str, ...], settings: Settings, execute: Execute
) -> list[Part]:
    """Return the parts with the time step of the whole system if a median filter needs it."""
    filters = Plan.of(settings).filters
    if not filters and not any(settings.of_classes("median_filter", classes)):
        return partition.parts
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
    plain = replace(settings, median_filter=0.0, psds_median_filters=(), min_gap=0.0, min_duration=0.0)
    pair = align(*part.sides(), plain, part.durations)
    groups = [tuple(c for c in labels if c in pair.classes) for labels in settings.groups.values()]
    sides = {classes: pair.with_classes(classes).raw for classes in (pair.classes, *groups)}
    return {
        classes: TimeGrid.of(to_ticks(rows.onset), to_ticks(rows.offset)) for classes, rows in sides.items()
    }


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


# Execution of parts: one after another, or by processes of this machine. `sedeval_soft.apps.cluster` yields
# the workers of a cluster; nothing else differs between them.

_PROCESS = 160 << 20
"""Bytes of a process before any work, and of its memory beside the counts."""


@dataclass(frozen=True)
class Execute:
    """Workers: this process, on one item after another, unless `processes` or an app replace it.

    map: returns a function's result for each item, in order; raises the error of the first that fails. jobs:
    the number of simultaneous workers. memory: bytes for each. elsewhere: whether they work on other
    machines.
    """

    map: Callable[[Callable[[Any], Any], Iterable[Any]], list[Any]] = lambda of, items: [*map(of, items)]
    jobs: int = 1
    memory: int = field(default_factory=room)
    elsewhere: bool = False

    def path(self, name: str) -> str:
        """Return the path of a file for workers: absolute for workers that are started elsewhere."""
        if not self.elsewhere or is_url(name):
            return name
        if name == "-":
            raise SettingsError("workers elsewhere cannot read standard input; expected files or URLs")
        return os.path.abspath(name)  # noqa: PTH100 - as it is typed else


@contextlib.contextmanager
def processes(jobs: int) -> Iterator[Execute]:
    """Yield up to `jobs` processes, as memory allows; they share the available memory."""
    jobs = max(1, min(jobs, room() // _PROCESS))
    if jobs == 1:
        yield Execute()
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    memory = room() // jobs
    spawn = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, spawn, _begin_process, (memory,))
    try:
        yield Execute(partial(_by_pool, pool), jobs, memory)
    except BaseException:
        # Its own, and nobody else's: evaluations may run in several threads.
        for process in [*(pool._processes or {}).values()]:
            process.kill()
        pool.shutdown(cancel_futures=True)
        raise
    pool.shutdown()


def _by_pool(pool: Any, function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:  # noqa: ANN401
    from concurrent.futures.process import BrokenProcessPool

    try:
        return [*pool.map(function, items)]
    except BrokenProcessPool as error:
        raise EvaluationError(
            "a worker process ended early: it was killed, or memory ran out; "
            "expected fewer --jobs, or a smaller --memory-limit; in a script, what asks for jobs must be "
            'below `if __name__ == "__main__":`'
        ) from error


def _begin_process(memory: int) -> None:
    """Make a process end with its parent, work in one thread and use at most so much memory."""
    # Ctrl-C is heard by the process that waits, which ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    become_worker()
    reuse_freed()
    memory_limited(memory).__enter__()
    end_with_parent()


def end_with_parent() -> None:
    """Let this process end with the process that began it, however that ends."""
    import multiprocessing
    import threading

    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
