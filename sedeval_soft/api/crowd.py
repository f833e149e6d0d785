"""Annotators' tables brought together: one list of files, one of classes, one grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sedeval_soft.annotators.opinions import Opinions
from sedeval_soft.core.room import check_room
from sedeval_soft.errors import counted
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import EventTable, Origin
from sedeval_soft.tables.ticks import to_ticks
from sedeval_soft.timeline.grid import Grid
from sedeval_soft.timeline.recordings import Pair, align, with_files
from sedeval_soft.timeline.segments import pool_rows, rows_of

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

_BYTES_PER_VALUE = 48


@dataclass(frozen=True, slots=True)
class Crowd:
    """Annotators on one grid.

    rows: what each has in its table, its codes those of `files` and `classes`. length: (n_files,) seconds.
    labelled: (n_annotators, n_files). unlabelled: files that nobody labelled, which are not among `files`.
    notes: what a reader should know of how names were matched.
    """

    rows: tuple[EventTable, ...]
    files: tuple[str, ...]
    classes: tuple[str, ...]
    length: Floats
    grid: Grid
    opinions: Opinions
    labelled: Bools
    unlabelled: tuple[str, ...]
    notes: tuple[str, ...]

    def lengths(self, files: Bools) -> dict[str, float]:
        """Return the seconds of some files, by name."""
        kept = np.flatnonzero(files).tolist()
        return {self.files[f]: float(self.length[f]) for f in kept}

    def reference(self, values: Floats, files: Bools, name: str) -> EventTable:
        """Return values of all segments, (n_classes, n_segments), as rows of some files."""
        inside = np.repeat(files, self.grid.n_segments)
        grid = Grid.over(to_ticks(self.length[files]), self.grid.segment)
        return rows_of(values[:, inside], grid, tuple(self.lengths(files)), self.classes, Origin(name))


def brought_together(
    tables: Sequence[EventTable],
    settings: Settings,
    durations: Mapping[str, float] | None,
    *,
    all_files: bool,
) -> Crowd:
    """Bring the tables of annotators together.

    settings: of segments and classes. durations: seconds by file name, and the list of files. all_files:
    everyone labelled all files, also those that a table does not name.
    """
    plain = Settings.of(classes=settings.classes)
    base, lengths = _union(tables, plain)
    if durations is not None:
        named = align(base, base, plain, durations)
        given = dict(zip(named.files, named.length.tolist(), strict=True))
        lengths = {name: seconds or lengths.get(name, 0.0) for name, seconds in given.items()}
    pairs = [align(base, rows, plain, lengths) for rows in tables]
    everything = pairs[0].files
    labelled = np.array(
        [[all_files or name not in pair.findings.missing for name in everything] for pair in pairs],
        dtype=bool,
    ).reshape(len(tables), len(everything))
    kept = labelled.any(axis=0)
    notes = {note for pair in pairs for note in (*pair.findings.doubtful, *pair.findings.notes)}
    dropped = {name for pair in pairs for name in pair.findings.dropped}
    files = tuple(np.array(everything, dtype=object)[kept])
    pairs = [with_files(pair, files) for pair in pairs]
    grid = Grid.over(pairs[0].reach_ticks, settings.segment_ticks)
    return Crowd(
        rows=tuple(pair.system for pair in pairs),
        files=files,
        classes=pairs[0].classes,
        length=pairs[0].reach,
        grid=grid,
        opinions=_opinions(pairs, grid, labelled[:, kept], settings),
        labelled=labelled[:, kept],
        unlabelled=tuple(sorted({*everything} - {*files} | dropped)),
        notes=tuple(sorted(notes)),
    )


def _union(tables: Sequence[EventTable], settings: Settings) -> tuple[EventTable, dict[str, float]]:
    """Return rows that hold nothing but all names, and how long files are by their last labels."""
    base, lengths = tables[0], dict[str, float]()
    for rows in (*tables[1:], tables[0]):
        pair = align(base, rows, settings)
        for name, seconds in zip(pair.files, pair.reach.tolist(), strict=True):
            lengths[name] = max(seconds, lengths.get(name, 0.0))
        code, number = np.zeros(0, dtype=np.int32), np.zeros(0)
        base = EventTable.long(pair.files, pair.classes, code, code, number, number, None, tables[0].origin)
    return base, lengths


def _opinions(pairs: Sequence[Pair], grid: Grid, labelled: Bools, settings: Settings) -> Opinions:
    n_classes = len(pairs[0].classes)
    check_room(
        _BYTES_PER_VALUE * len(pairs) * max(grid.size, 1) * max(n_classes, 1),
        f"for {len(pairs)} annotators x {counted(grid.size, 'segment')} x {counted(n_classes, 'class')}",
        "A larger --segment-length gives fewer",
    )
    values = np.array([pool_rows(pair.system, grid, settings.pool) for pair in pairs])
    shape = len(pairs), n_classes, grid.size
    return Opinions(values.reshape(shape), np.repeat(labelled, grid.n_segments, axis=1))
