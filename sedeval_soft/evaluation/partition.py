"""Whole recordings in parts: as many together as memory holds while they are counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.evaluation.count import bytes_per_file
from sedeval_soft.memory import check_room, has_room, room
from sedeval_soft.plan import Plan
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import UNNAMED, EventTable
from sedeval_soft.tables.filenames import listing, stem_of
from sedeval_soft.tables.stored_rows import Extent, part_of, read_pieces

_ROW, _VALUE, _CELL = 400, 40, 64
"""Bytes that counting takes at the most for each row, each further value of a row of a wide table, and each
segment of each class; where means are taken, a segment takes three times as much."""


@dataclass(frozen=True, slots=True)
class Part:
    """Whole recordings of both sides, which are counted by themselves.

    reference, system: their rows; without any row where these are in `pieces`, of either side in the order
    of shards. durations: seconds by file name, None where there are none for any. n_rows: of both sides, and
    n_bytes: what counting these takes; 0 where they are in memory already. steps: ticks of the time step of
    the whole system by some of its classes, where that is needed.
    """

    reference: EventTable
    system: EventTable
    durations: Mapping[str, float] | None
    pieces: tuple[Sequence[Any], Sequence[Any]] | None = None
    n_rows: int = 0
    n_bytes: float = 0.0
    steps: Mapping[tuple[str, ...], float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Return what the part is, for messages."""
        return listing(tuple(dict.fromkeys([*self.reference.files, *self.system.files])), "recording")

    def with_pieces(self, pieces: tuple[Sequence[Any], Sequence[Any]] | None) -> Part:
        """Return the part with its rows elsewhere."""
        return replace(self, pieces=pieces)

    def sides(self) -> tuple[EventTable, EventTable]:
        """Return the rows of both sides; raises RoomError where they do not fit into memory."""
        check_room(
            self.n_bytes / 2,
            f"{self.system.origin.name}: to count the {self.n_rows} rows of {self.name} on both sides",
            "Expected shorter recordings, or more memory: each is counted as a whole",
        )
        ours, theirs = self.reference, self.system
        if self.pieces is not None:
            ours, theirs = (
                read_pieces(rows, [*own]) for rows, own in zip((ours, theirs), self.pieces, strict=True)
            )
        return ours, replace(theirs, origin=replace(theirs.origin, steps=self.steps))


@dataclass(frozen=True, slots=True)
class Partition:
    """Both tables in parts.

    reference, system: without any row. n_rows: how many each side has; n_values: the same, of a wide table
    times its classes. n_cells: segments of all recordings and classes.
    """

    parts: list[Part]
    reference: EventTable
    system: EventTable
    n_rows: tuple[int, int]
    n_values: int
    n_cells: int


def fits_at_once(
    reference: EventTable, system: EventTable, settings: Settings, durations: Mapping[str, float] | None
) -> bool:
    """Return whether tables in memory can be counted at once, were all recordings as long as the longest.

    Where they cannot, it takes a look at each of them to say.
    """
    n_files = len(reference.files) + len(system.files) + len(durations or ())
    n_classes = len(settings.classes or {*reference.classes, *system.classes})
    ends = [float(rows.offset.max(initial=0.0)) for rows in (reference, system)]
    longest = max(*ends, *(durations or {}).values())
    cells = n_files * n_classes * np.ceil(longest / settings.segment_length)
    return has_room(2 * (n_files * bytes_per_file(n_classes, settings) + _bytes_per_cell(settings) * cells))


def _bytes_per_cell(settings: Settings) -> int:
    """Return what counting takes for each segment of each class, nothing where no segments are counted."""
    if not Plan.of(settings).counts_segments:
        return 0
    return _CELL * (3 if settings.pool == "mean" else 1)


def partition_rows(
    reference: EventTable, system: EventTable, settings: Settings, durations: Mapping[str, float] | None
) -> Partition:
    """Return tables in memory in parts: in one, unless the segments of all recordings are too many."""
    extents = [[Extent.of(reference)], [Extent.of(system)]]
    groups = grouped(extents, settings, durations, 1, room(), in_memory=True)
    parts = [Part(reference, system, durations)]
    # Where no division helps, counting all at once says so best.
    if len(groups.of) > 1 and groups.least <= room():
        group = {stem: k for k, (_, stems) in enumerate(groups.of) for stem in stems}
        codes = [np.array([group[stem_of(name)] for name in rows.files]) for rows in (reference, system)]
        lengths: list[dict[str, float]] = [{} for _ in groups.of]
        for name, seconds in (durations or {}).items():
            lengths[group[stem_of(name)]][name] = seconds
        parts = [
            Part(
                reference.only_files(codes[0] == k),
                system.only_files(codes[1] == k),
                None if durations is None else lengths[k],
            )
            for k in range(len(groups.of))
        ]
    n_rows = len(reference), len(system)
    return Partition(parts, extents[0][0].names, extents[1][0].names, n_rows, groups.n_values, groups.n_cells)


@dataclass(frozen=True, slots=True)
class Groups:
    """Recordings by the least of their names, in groups that memory can hold.

    of: for each group the numbers of the parts that its rows are in, and its recordings. number: of each
    recording; n_rows, n_bytes: of its rows while they are counted, of both sides. least: what is
    needed however they are divided, for the largest and for the counts of all.
    """

    of: list[tuple[tuple[int, ...], frozenset[str]]]
    number: Mapping[str, int]
    n_rows: npt.NDArray[np.float64]
    n_bytes: npt.NDArray[np.float64]
    n_values: int
    n_cells: int
    least: float

    def sizes(self, stems: Iterable[str]) -> tuple[int, float]:
        """Return the rows of some recordings, and the bytes that these take."""
        at = [self.number[stem] for stem in stems]
        return int(self.n_rows[at].sum()), float(self.n_bytes[at].sum())


def grouped(
    sides: Sequence[Sequence[Extent]],
    settings: Settings,
    durations: Mapping[str, float] | None,
    n_parts: int,
    most: int,
    *,
    in_memory: bool = False,
) -> Groups:
    """Return the recordings that are counted together: as many of a part as take less than so many bytes.

    in_memory: whether rows take no more memory than they have already.
    """
    extents = [extent for side in sides for extent in side]
    given = durations or {}
    every = [*(name for extent in extents for name in extent.names.files), *given]
    number = {stem: k for k, stem in enumerate(dict.fromkeys(map(stem_of, every)))}
    n_classes = len(settings.classes or {name for extent in extents for name in extent.names.classes})
    n_rows, n_bytes, length = np.zeros((3, len(number)))
    n_values = 0
    for extent in extents:
        at = np.array([number[stem_of(name)] for name in extent.names.files], dtype=np.int64)
        width = extent.names.n_columns
        np.add.at(n_rows, at, extent.n_rows)
        np.add.at(n_bytes, at, extent.n_rows * (_ROW + _VALUE * (width - 1)))
        np.maximum.at(length, at, extent.last)
        n_values += int(extent.n_rows.sum()) * width
    for name, seconds in given.items():
        k = number[stem_of(name)]
        length[k] = max(length[k], seconds)
    cells = np.ceil(length / settings.segment_length) * n_classes
    size = bytes_per_file(n_classes, settings) + _bytes_per_cell(settings) * cells
    size += 0.0 if in_memory else n_bytes
    counts = len(number) * bytes_per_file(n_classes, settings)
    totals = int(n_values), int(cells.sum()), float(max(counts, size.max(initial=0.0)))
    if UNNAMED in every:
        # It goes by the name that the other side has: only together they are one recording.
        one = [(tuple(range(n_parts)), frozenset(number))]
        return Groups(one, number, n_rows, n_bytes, *totals)
    parts = np.array([part_of(stem, n_parts) for stem in number], dtype=np.int64)
    groups: dict[tuple[int, int], list[str]] = {}
    stems = list(number)
    for part in range(n_parts):
        own = np.flatnonzero(parts == part)
        # What was counted already stays.
        full = np.cumsum(size[own]) // max(1.0, most / 2)
        for recording, group in zip(own.tolist(), full.tolist(), strict=True):
            groups.setdefault((part, int(group)), []).append(stems[recording])
    of: list[tuple[tuple[int, ...], frozenset[str]]]
    of = [((k,), frozenset(inside)) for (k, _), inside in groups.items()]
    return Groups(of, number, n_rows, n_bytes, *totals)


def by_stem(names: Iterable[str]) -> dict[str, list[str]]:
    """Return names by the least of them."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(stem_of(name), []).append(name)
    return found


def names_in(by_stem: Mapping[str, Sequence[str]], stems: Iterable[str]) -> tuple[str, ...]:
    """Return the names of some recordings."""
    return tuple(name for stem in sorted(stems) for name in by_stem.get(stem, ()))
