"""Segments of tables that are scored against many references: laid out once, counted for each reference.

What evaluations count of segments, class by class, without what they count regardless of class: enough for
precision, recall and F. The segments of a class in a file stand together, one class after another, one file
after another. Of a table those are kept that it names. Where sums depend on the order in which they are added
up, they are laid out in full a few files at a time, so that sums are those of evaluations, to the last bit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sedeval_soft.arrays import Codes, Floats, Index
from sedeval_soft.evaluation.scores import Key, named
from sedeval_soft.measures.base import Tables
from sedeval_soft.measures.detection import DetectionCounts, detection_scores
from sedeval_soft.settings import Settings
from sedeval_soft.sorting import heads
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.ticks import Ticks
from sedeval_soft.threads import for_each
from sedeval_soft.timeline.events import Activity, Timed, active
from sedeval_soft.timeline.grid import Grid
from sedeval_soft.timeline.ranges import expand, portions

_MEASURES = {"f1", "fbeta", "precision", "recall"}
"""Those that have no errors regardless of class."""

_SETTINGS = (
    *("segment_length", "threshold", "reference_threshold", "inclusive", "beta", "classes", "means"),
    *("confidence", "seed", "only", "measures", "events", "match_by", "iou", "matching"),
    *("onset", "offset", "onset_collar", "offset_collar", "offset_collar_rate"),
)
"""Settings that are heeded here, or have no say in segments; others must be what they are by default."""

_AT_ONCE = 1 << 18
"""Segments that are laid out at a time, about: few enough for the processor's cache."""

_MOST_LAYERS = 64
"""Pieces of a cell up to which cells are looked at together."""

_PARTS = 1 << 30
"""Sums of whole multiples of one part by so many are exact: segments of a file are fewer than 2**20."""

_MOST_OF_FILE = 1 << 20
"""The most segments of a file that are looked at here."""


def are_simple(settings: Settings) -> bool:
    """Return whether settings ask for nothing but what is heeded here."""
    return Settings.of(**{name: getattr(settings, name) for name in _SETTINGS}) == settings


class Cells(NamedTuple):
    """Which segments of which class pieces of time overlap, in some files.

    cell: (n_cells,) numbers, in order. row: (n_cells,) which file and class they are of, the first one of
    these files 0. piece: (n,) what overlaps them: a piece of each cell, another one of each that has two or
    more, and so on, those with most before the others. layers: how many of each are there. place: (n_cells,)
    which one of these cells each is. Where a cell has very many pieces there are no layers: piece is what
    overlaps the first cell, the second and so on, and place where each cell begins in that.
    """

    cell: Index
    row: Index
    piece: Index
    place: Index
    layers: list[int]

    def highest(self, value: Floats) -> Floats:
        """Return the highest value of what overlaps each cell, (n_cells,); value: by numbers of pieces."""
        each = value[self.piece]
        if not self.layers:
            return np.maximum.reduceat(each, self.place) if len(each) else each
        # Several times as fast as numpy finds the maxima of many groups of few.
        end = self.layers[0]
        highest = each[:end]
        for n in self.layers[1:]:
            np.maximum(highest[:n], each[end : end + n], out=highest[:n])
            end += n
        return highest[self.place]


class Values(NamedTuple):
    """The values of the cells of some files that a table names; others are 0.

    cell, row: as of `Cells`. value: (n_cells,). total: (n_rows,) their sum in each file and class.
    """

    cell: Index
    row: Index
    value: Floats
    total: Floats


@dataclass(frozen=True, slots=True)
class Segments:
    """The segments of all classes of all files.

    start: (n_files * n_classes + 1,) the first cell of each file and class. files: those that are looked at
    together.
    """

    grid: Grid
    classes: tuple[str, ...]
    settings: Settings
    start: Index
    files: list[slice]

    @classmethod
    def of(cls, length: Ticks, classes: tuple[str, ...], settings: Settings) -> Segments | None:
        """Return the segments of files, (n_files,) ticks; None where settings ask for more than this."""
        if not are_simple(settings) or not classes:
            return None
        grid = Grid.over(length, settings.segment_ticks)
        if grid.n_segments.max(initial=0) > _MOST_OF_FILE:
            return None
        start = np.append(0, np.cumsum(np.repeat(grid.n_segments, len(classes))))
        return cls(grid, classes, settings, start, portions(start[:: len(classes)], _AT_ONCE))

    def have(self, key: Key) -> bool:
        """Return whether a score is among those of `scores`."""
        known = key.basis == "segment" and key.reading in {"hard", "soft"} and key.measure in _MEASURES
        return known and (key.average in {"micro", "macro", "weighted"} or key.class_name in self.classes)

    def cells(self, pieces: Timed, number: Codes) -> list[Cells]:
        """Return what pieces overlap, that are by file, class and onset, and do not overlap one another.

        number: (n_pieces,) by which they are known.
        """
        start = np.searchsorted(pieces.file, np.arange(len(self.grid.length) + 1))

        def of_files(files: slice) -> Cells:
            at = slice(*start[[files.start, files.stop]])
            return self._cells(files, pieces.take(at), number[at])

        return for_each(of_files, self.files, len(pieces))

    def _cells(self, files: slice, pieces: Timed, number: Index | Codes) -> Cells:
        first, last = self.grid.cells(pieces.file, pieces.onset, pieces.offset)
        row = pieces.file * np.int64(len(self.classes)) + pieces.label
        # From the numbers of the grid, which has no classes, to those of cells.
        moved = self.start[row] - self.grid.start[pieces.file]
        piece, cell = expand(first + moved, last + moved)
        begin = heads(cell) if len(cell) else cell
        cell, row = cell[begin], row[piece[begin]] - files.start * len(self.classes)
        number = number[piece].astype(np.intp)
        size = np.diff(begin, append=len(piece))
        if size.max(initial=_MOST_LAYERS) > _MOST_LAYERS or not len(cell):
            return Cells(cell, row, number, begin, [])
        order = np.argsort((_MOST_LAYERS - size).astype(np.uint8), kind="stable")
        place = np.empty(len(order), dtype=np.intp)
        place[order] = np.arange(len(order))
        layers = np.cumsum(np.bincount(size)[::-1])[::-1][1:].tolist()
        begin = begin[order]
        at = np.concatenate([begin[:n] + k for k, n in enumerate(layers)])
        return Cells(cell, row, number[at], place, layers)

    def values(self, cells: Sequence[Cells], value: Floats) -> list[Values]:
        """Return the highest value of what overlaps each cell; value: by the numbers of pieces."""

        def of_files(some: tuple[slice, Cells]) -> Values:
            return self._values(*some, value)

        return for_each(of_files, zip(self.files, cells, strict=True), int(self.start[-1]))

    def _values(self, files: slice, cells: Cells, value: Floats) -> Values:
        highest = cells.highest(value)
        sums = self._sums(files, cells.cell, cells.row, highest)
        return Values(cells.cell, cells.row, highest, sums)

    def of_table(self, table: EventTable) -> list[Values]:
        """Return the values of a table."""
        by_file = np.argsort(table.file, kind="stable")
        start = np.searchsorted(table.file[by_file], np.arange(len(table.files) + 1))

        def of_files(files: slice) -> Values:
            activity = Activity.of_table(table.take(by_file[slice(*start[[files.start, files.stop]])]))
            cells = self._cells(files, activity, np.arange(len(activity)))
            return self._values(files, cells, activity.value)

        return for_each(of_files, self.files, len(table))

    def counts(self, reference: Sequence[Values], system: Sequence[Values]) -> dict[str, Floats]:
        """Return TP, N_ref and N_sys of the soft and of the hard reading, (3, n_files, n_classes) each."""
        settings = self.settings

        def of_files(files: slice, ours: Values, theirs: Values) -> tuple[Floats, Floats]:
            n_rows = (files.stop - files.start) * len(self.classes)
            # What the system says of the cells that the reference names is all that they can have in common.
            both = theirs.value
            if theirs.cell is not ours.cell:
                at = np.searchsorted(theirs.cell, ours.cell)
                same = np.append(theirs.cell, -1)[at] == ours.cell
                both = np.where(same, np.append(theirs.value, 0.0)[at], 0.0)
            cut = active(ours.value, settings.reference_cut, settings.inclusive)
            detected = active(theirs.value, settings.threshold, settings.inclusive)
            hit = cut & active(both, settings.threshold, settings.inclusive)
            rows = (ours.row, hit), (ours.row, cut), (theirs.row, detected)
            hard = [np.bincount(*each, minlength=n_rows) for each in rows]
            tp = self._sums(files, ours.cell, ours.row, np.minimum(ours.value, both))
            return np.array((tp, ours.total, theirs.total)), np.array(hard, dtype=np.float64)

        parts = zip(self.files, reference, system, strict=True)
        counts = for_each(lambda each: of_files(*each), parts, int(self.start[-1]))
        shape = 3, len(self.grid.length), len(self.classes)
        soft, hard = (np.concatenate(each, axis=1).reshape(shape) for each in zip(*counts, strict=True))
        return {"soft": soft, "hard": hard}

    def _sums(self, files: slice, cell: Index, row: Index, value: Floats) -> Floats:
        """Return the sums of the values of some cells of some files, of each file and class, (n_rows,).

        They are those of all their cells, in the order in which numpy adds these.
        """
        parts = value * _PARTS
        if np.array_equal(parts, np.rint(parts)):
            n_rows = (files.stop - files.start) * len(self.classes)
            return np.bincount(row, value, minlength=n_rows).astype(np.float64)
        start = self.start[files.start * len(self.classes) : files.stop * len(self.classes) + 1]
        values, sums, full = np.zeros(start[-1] - start[0]), np.zeros(len(start) - 1), np.diff(start) > 0
        values[cell - start[0]] = value
        if len(values):
            sums[full] = np.add.reduceat(values, start[:-1][full] - start[0])
        return sums

    def scores(self, counts: Mapping[str, Floats], weights: Floats, keys: Sequence[Key]) -> Floats:
        """Return scores of counts, (n_keys, n_weights), NaN where undefined.

        weights: (n_weights, n_files) how often each file counts.
        """
        tables: Tables = {}
        for reading, columns in counts.items():
            if len(weights) == 1 and np.isin(weights, (0.0, 1.0)).all():
                tp, n_ref, n_sys = columns[:, weights[0] > 0].sum(axis=1)[:, None]
            else:
                tp, n_ref, n_sys = weights @ columns
            regardless = [np.full(len(weights), np.nan)] * 3
            of_all = DetectionCounts(tp, n_ref, n_sys, *regardless)
            tables["segment", reading] = detection_scores(of_all, self.settings.beta)
        values, place = np.full((len(keys), len(weights)), np.nan), {key: row for row, key in enumerate(keys)}
        for key, value in named(tables, self.classes, self.settings.means):
            if key in place and value is not None:
                values[place[key]] = value
        return values
