"""Tables whose recordings stand together: both are read in step, and counted as recordings are complete.

A recording is complete on a side where rows of another one follow. Nothing is written to the disk. Where one
comes up again that was counted already, or where too much waits for the other side, the rows are in some
other order: then they must be parted (see `parted`).

A table may be read in several spans, each by a process of its own. What stands at the ends of a span may go
on in the next one; it is left over, and counted when all else is.
"""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sedeval_soft.api.counting import shard_of_rows
from sedeval_soft.api.parted import within
from sedeval_soft.api.pieces import ROLES, Extent, bytes_per_row, pieces
from sedeval_soft.core.intake import Limits
from sedeval_soft.core.room import room
from sedeval_soft.formats.blocks import blocks_of
from sedeval_soft.formats.known import Known
from sedeval_soft.formats.span import Span
from sedeval_soft.run.batches import Keeper, Kept
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.filenames import stem_of

T = TypeVar("T")

_BATCH = 1 << 27
"""Bytes, as counting may take, of what is counted at a time: many more are out of the processor's cache."""


class UnsortedError(Exception):
    """The rows of a recording do not stand together, or not at about the same place on both sides."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """What is read in step: a span of each table.

    names, spans: of the reference and the system. block: bytes that are read at a time. scratch: a folder for
    what must be decompressed. lengths: durations by the least of a recording's names, None where there are
    none. keeper: of what is counted. memory: the most that the process may take; None where this one reads.
    ahead: whether tables are read ahead in threads, where processors are idle else.
    """

    names: tuple[str, str]
    spans: tuple[Span, Span]
    settings: Settings
    limits: Limits
    block: int
    scratch: Path
    lengths: Mapping[str, Mapping[str, float]] | None
    keeper: Keeper
    memory: int | None = None
    ahead: bool = True


@dataclass(frozen=True, slots=True)
class Counted:
    """What was counted of a stretch.

    counted: the recordings that `kept` is of, by the least of their names. rest: rows of each side that
    were not counted. known: names and numbers of rows of each side.
    """

    kept: list[Kept]
    counted: set[str]
    rest: tuple[EventTable, EventTable]
    known: tuple[Known, Known]


@dataclass(slots=True)
class _Side:
    """One table on its way.

    waiting: rows that are not counted yet, and the recording of each of their files. closed: of each
    recording, whether its rows are complete. open: the recording that rows may go on with.
    """

    known: Known
    span: Span
    waiting: list[tuple[EventTable, npt.NDArray[np.intp]]] = field(default_factory=list)
    n_waiting: int = 0
    closed: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    open: int | None = None
    edge: int | None = None

    def add(self, rows: EventTable, stems: dict[str, int]) -> None:
        """Take in a block; raises UnsortedError where a recording goes on that was complete."""
        self.known.enter(rows)
        own = np.asarray([stems.setdefault(stem_of(name), len(stems)) for name in rows.files], dtype=np.intp)
        self.closed = _grown(self.closed, len(stems))
        met = own[_in_order(rows.file)]
        met = _in_order(met)
        declared = np.setdiff1d(own, met)
        if self.edge is None and not self.span.first and len(met):
            self.edge = int(met[0])
        if len(met) and met[0] == self.open:
            met = met[1:]
        if self.closed[met].any() or len(np.unique(met)) < len(met) or self.closed[declared].any():
            raise UnsortedError
        if len(met):
            if self.open is not None:
                self.closed[self.open] = True
            self.closed[met[:-1]] = True
            self.open = int(met[-1])
        if self.open is not None and np.any(declared == self.open):
            declared = declared[declared != self.open]
        self.closed[declared] = True
        self.waiting.append((rows, own))
        self.n_waiting += len(rows)

    def progress(self) -> tuple[int, int]:
        """Return how far the table is read: how many recordings are complete, and how many rows wait."""
        return int(np.count_nonzero(self.closed)), self.n_waiting

    def complete(self) -> npt.NDArray[np.bool_]:
        """Return for each recording whether its rows are complete, and known to begin here."""
        found = self.closed.copy()
        if self.edge is not None:
            found[self.edge] = False
        return found

    def taken(self, ready: npt.NDArray[np.bool_]) -> list[EventTable]:
        """Take out the rows of some recordings."""
        found, left = [], []
        for rows, own in self.waiting:
            kept = ready[own]
            if kept.all():
                found.append(rows)
                continue
            if kept.any():
                found.append(rows.only_files(kept))
                rows, own = _copied(rows.only_files(~kept)), own[~kept]  # noqa: PLW2901 - the rest of the block
            left.append((rows, own))
        self.waiting = left
        self.n_waiting = sum(len(rows) for rows, _ in left)
        return found


def read_in_step(stretch: Stretch) -> Counted:
    """Return what was counted of a stretch.

    Raises UnsortedError, UnfitError where a table cannot be read in blocks, and what is wrong with the
    tables.
    """
    if not stretch.ahead:
        # Other processes are busy beside this one.
        pa.set_cpu_count(1)
    with within(stretch.memory):
        return _read(stretch)


def _read(stretch: Stretch) -> Counted:
    opened = [
        blocks_of(name, stretch.scratch, stretch.block, stretch.limits, span, hashed=False)
        for name, span in zip(stretch.names, stretch.spans, strict=True)
    ]
    with contextlib.ExitStack() as stack:
        return _counted(
            [stack.enter_context(_ahead(of.rows)) if stretch.ahead else of.rows for of in opened], stretch
        )


def _counted(blocks: Sequence[Iterator[EventTable]], stretch: Stretch) -> Counted:
    """Return what was counted of a stretch; blocks: of each side."""
    stems: dict[str, int] = {}
    sides = [
        _Side(Known(role, stretch.limits), span) for role, span in zip(ROLES, stretch.spans, strict=True)
    ]
    kept: list[Kept] = []
    counted: set[str] = set()
    left = [True, True]
    while any(left):
        # Who is behind is read on with: recordings wait for the other side for as short as can be.
        behind = int(sides[1].progress() < sides[0].progress())
        at = behind if left[behind] else 1 - behind
        rows = next(blocks[at], None)
        if rows is None:
            left[at] = False
            continue
        sides[at].add(rows, stems)
        ready = _ready(sides, len(stems))
        if ready is None:
            continue
        names = list(stems)
        found = {names[k] for k in np.flatnonzero(ready).tolist()} - counted
        kept += count(_joined(sides, ready), found, stretch)
        counted |= found
    every = np.ones(len(stems), dtype=bool)
    for side in sides:
        if side.known.first is None:
            raise UnsortedError
    rest = _joined(sides, every)
    return Counted(
        kept,
        counted,
        (_copied(rest[0]), _copied(rest[1])),
        (sides[0].known, sides[1].known),
    )


def _ready(sides: Sequence[_Side], n_stems: int) -> npt.NDArray[np.bool_] | None:
    """Return for each recording whether it can be counted; None where there is not enough of them yet.

    Raises UnsortedError where too much waits.
    """
    if any(side.known.first is None for side in sides):
        return None
    each, most = _bytes_per_row([side.known for side in sides]), room() / 2
    if each * sum(side.n_waiting for side in sides) < min(_BATCH, most / 4):
        return None
    for side in sides:
        side.closed = _grown(side.closed, n_stems)
    ready = sides[0].complete() & sides[1].complete()
    n_ready = sum(
        int(np.count_nonzero(ready[own][rows.file])) for side in sides for rows, own in side.waiting
    )
    if each * (sum(side.n_waiting for side in sides) - n_ready) > most:
        # Of many recordings the other side has nothing, or not here.
        raise UnsortedError
    return ready if each * n_ready >= min(_BATCH, most / 4) / 2 else None


def _bytes_per_row(known: Sequence[Known]) -> int:
    """Return the memory that a row of two tables takes while it is counted."""
    return bytes_per_row(max(1 if of.first is None else of.first.n_columns for of in known))


def _joined(sides: Sequence[_Side], ready: npt.NDArray[np.bool_]) -> tuple[EventTable, EventTable]:
    """Take some recordings out of both sides."""
    found = []
    for side in sides:
        side.closed = _grown(side.closed, len(ready))
        first = side.known.first
        assert first is not None  # noqa: S101 - both sides have been read from
        found.append(EventTable.join([_nameless(first), *side.taken(ready)]))
    return found[0], found[1]


def _nameless(first: EventTable) -> EventTable:
    return first.only_files(np.zeros(len(first.files), dtype=bool))


def count(sides: tuple[EventTable, EventTable], stems: set[str], stretch: Stretch) -> list[Kept]:
    """Return the statistics of all rows of some recordings, counted piece by piece where memory is short.

    stems: the recordings, by the least of their names.
    """
    settings, lengths, given = stretch.settings, stretch.lengths, None
    if lengths is not None:
        given = {name: seconds for stem in stems for name, seconds in lengths.get(stem, {}).items()}
    found = pieces([Extent(rows, rows.file, rows.offset) for rows in sides], settings, given)
    kept = []
    for names in found:
        reference, system = sides
        if len(found) > 1:
            reference, system = (
                rows.only_files(np.array([stem_of(name) in names for name in rows.files], dtype=bool))
                for rows in sides
            )
        own = None if given is None else {name: s for name, s in given.items() if stem_of(name) in names}
        kept.append(stretch.keeper.keep(shard_of_rows(reference, system, settings, own, batch=True)))
    return kept


def joined_counts(parts: Sequence[Counted], stretch: Stretch) -> tuple[list[Kept], tuple[Known, Known]]:
    """Return the statistics of all spans of two tables, and what is known of the tables.

    Raises UnsortedError where a recording was counted in one span and goes on in another one, and where more
    rows are left over than memory holds.
    """
    known = Known(ROLES[0], stretch.limits), Known(ROLES[1], stretch.limits)
    for part in parts:
        for whole, own in zip(known, part.known, strict=True):
            whole.extend(own)
    n_rest = sum(len(rows) for part in parts for rows in part.rest)
    if n_rest * _bytes_per_row(known) > room():
        raise UnsortedError
    rest = tuple(EventTable.join([part.rest[side] for part in parts]) for side in (0, 1))
    left = {stem_of(name) for rows in rest for name in rows.files}
    counted = {stem for part in parts for stem in part.counted}
    if len(counted) < sum(len(part.counted) for part in parts) or counted & left:
        raise UnsortedError
    if stretch.lengths is not None:
        left |= stretch.lengths.keys() - counted
    kept = [each for part in parts for each in part.kept]
    if left:
        kept += count((rest[0], rest[1]), left, stretch)
    return kept, known


def _in_order(codes: npt.NDArray[np.signedinteger[Any]]) -> npt.NDArray[np.signedinteger[Any]]:
    """Return codes without those that follow the same one."""
    if not len(codes):
        return codes
    heads = np.flatnonzero(codes[1:] != codes[:-1]) + 1
    return np.append(codes[:1], codes[heads])


def _grown(closed: npt.NDArray[np.bool_], n: int) -> npt.NDArray[np.bool_]:
    return closed if len(closed) == n else np.append(closed, np.zeros(n - len(closed), dtype=bool))


def _copied(rows: EventTable) -> EventTable:
    """Return rows that keep nothing else in memory."""
    return EventTable.join([rows, rows.emptied()])


@contextlib.contextmanager
def _ahead(rows: Iterator[T]) -> Iterator[Iterator[T]]:
    """Yield an iterator over blocks; the next one is read while one is worked on."""
    # What limits memory here does so there.
    context = contextvars.copy_context()

    def following() -> T | None:
        return context.run(lambda: next(rows, None))

    def blocks(pool: ThreadPoolExecutor) -> Iterator[T]:
        coming = pool.submit(following)
        while (block := coming.result()) is not None:
            coming = pool.submit(following)
            yield block

    # Not in the generator: one that nobody reads to the end waits for its thread wherever it is collected.
    with ThreadPoolExecutor(1, thread_name_prefix="read") as pool:
        yield blocks(pool)
