"""What several annotators say, on one list of units: stretches of time, or segments, in which nobody changes.

A unit belongs to one class in one file. In continuous time it is cut where some annotator begins, ends or
changes, so that nothing is lost of their boundaries; on a grid it is a segment. Silence, where nobody names
the class, is one unit for all files that the same annotators labelled: only how much there is matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from sedeval_soft.arrays import Bools, Codes, Floats, Index
from sedeval_soft.fields import Pool
from sedeval_soft.measures.event import file_class
from sedeval_soft.memory import check_room
from sedeval_soft.tables.event_table import EventTable, Origin
from sedeval_soft.tables.ticks import Ticks, to_seconds
from sedeval_soft.timeline.events import Activity
from sedeval_soft.timeline.grid import Grid, pool_rows
from sedeval_soft.timeline.ranges import expand, numbered

_BYTES_PER_VALUE = 48

_MOST_CODES = 1 << 24
"""Sets of answers up to which a number for each is kept."""


@dataclass(frozen=True, slots=True)
class Units:
    """Units of time, and what each annotator says of them.

    values: (n_annotators, n_units) in [0, 1]. given: the same shape, who labelled the file; a value of others
    means nothing. file, label: (n_units,) codes. onset, offset: (n_units,) ticks. weight: (n_units,) how many
    segments' time it is.
    """

    values: Floats
    given: Bools
    file: Codes
    label: Codes
    onset: Ticks
    offset: Ticks
    weight: Floats

    def without(self, annotator: int) -> Units:
        """Return what all but one annotator say."""
        return self.of(np.delete(np.arange(len(self.values)), annotator))

    def of(self, annotators: Index) -> Units:
        """Return what some annotators say; positions, (n,)."""
        return replace(self, values=self.values[annotators], given=self.given[annotators])

    def together(self) -> Units:
        """Return units of one class in which all say the same as one, without a place in time.

        That is enough where only how much time there is matters. It is done where everyone says yes or no:
        few units are left then.
        """
        n_annotators, n_classes = len(self.values), int(self.label.max(initial=-1)) + 1
        yes = self.values == 1.0
        if n_classes * 3**n_annotators > _MOST_CODES or not np.all(yes | (self.values == 0.0) | ~self.given):
            return self
        code = self.label.astype(np.int64)
        for each, given in zip(yes, self.given, strict=True):
            code = code * 3 + np.where(given, each, 2)
        total = np.bincount(code, self.weight)
        code = np.flatnonzero(total)
        weight, answers = total[code].astype(np.float64), np.empty((n_annotators, len(code)), dtype=np.int64)
        for row in answers[::-1]:
            code, row[:] = np.divmod(code, 3)
        none = np.zeros(len(code), dtype=np.int64)
        file, label = none.astype(np.int32), code.astype(np.int32)
        return Units((answers == 1).astype(np.float64), answers != 2, file, label, none, none, weight)

    def rows(self, value: Floats, files: tuple[str, ...], classes: tuple[str, ...], name: str) -> EventTable:
        """Return a value for each unit as rows of a table, by file, onset and class; 0 has no row."""
        some = np.flatnonzero(value)
        # Units are in the order of classes in each file, or in all: a stable sort leaves these in order.
        scale = np.int64(self.onset.max(initial=0)) + 1
        some = some[np.argsort(self.file[some] * scale + self.onset[some], kind="stable")]
        times = to_seconds(self.onset[some]), to_seconds(self.offset[some])
        codes = self.file[some].astype(np.int32), self.label[some].astype(np.int32)
        return EventTable(files, classes, codes[0], *times, (value[some],), Origin(name), codes[1])

    @classmethod
    def of_segments(cls, tables: Sequence[EventTable], grid: Grid, has_file: Bools, pool: Pool) -> Units:
        """Return the segments of all files; tables have one list of files and of classes.

        has_file: (n_annotators, n_files), who labelled which.
        """
        n_classes = len(tables[0].classes)
        check_room(
            _BYTES_PER_VALUE * len(tables) * max(grid.size, 1) * max(n_classes, 1),
            f"for {len(tables)} annotators x {grid.size} segments x {n_classes} classes",
            "A larger --segment-length gives fewer",
        )
        values = np.array([pool_rows(table, grid, pool) for table in tables])
        file, onset, offset = grid.spans(np.tile(np.arange(grid.size), n_classes))
        return cls(
            values.reshape(len(tables), n_classes * grid.size), has_file[:, file], file.astype(np.int32),
            np.repeat(np.arange(n_classes, dtype=np.int32), grid.size), onset,
            # A row that ends later than its file would make that longer.
            np.minimum(offset, grid.length[file]), np.ones(len(file)),
        )  # fmt: skip

    @classmethod
    def of_time(
        cls, tables: Sequence[EventTable], length: Ticks, has_file: Bools, segment_ticks: Fraction
    ) -> Units:
        """Return the stretches of time in which no annotator changes.

        tables: with one list of files and of classes. length: (n_files,) of files. has_file: (n_annotators,
        n_files), who labelled which. segment_ticks: the time that has a weight of 1.
        """
        n_classes = len(tables[0].classes)
        said = [Activity.of_table(table) for table in tables]
        group = np.concatenate([file_class(each, n_classes) for each in said])
        check_room(
            2 * len(group) * (_BYTES_PER_VALUE + 9 * len(tables)),
            f"for {len(tables)} annotators x {len(group)} pieces",
            "Are rows repeated?",
        )
        times = np.concatenate([each.onset for each in said] + [each.offset for each in said])
        edge, groups, time = numbered(np.tile(group, 2), times)
        first, last = np.split(edge, 2)
        # How many pieces begin and end at each edge: what lies between the events of a class is silence.
        begins, ends = (np.bincount(each, minlength=len(time)) for each in (first, last))
        sounding = np.cumsum(begins - ends) > 0
        unit = np.flatnonzero(sounding)
        file, label = np.divmod(groups[unit], max(n_classes, 1))
        onset, offset = time[unit], time[unit + 1]
        silence = _silence(length, has_file, file, label, offset - onset, n_classes)
        n_silent = len(silence.ticks)
        zero = np.zeros(n_silent, dtype=np.int64)
        values, place = np.zeros((len(said), len(unit) + n_silent)), np.cumsum(sounding) - 1
        begin = 0
        for row, each in zip(values, said, strict=True):
            rows = slice(begin, begin := begin + len(each))
            piece, covered = expand(place[first[rows]], place[first[rows]] + last[rows] - first[rows])
            row[covered] = each.value[piece]
        if has_file.all():
            given: Bools = np.broadcast_to(np.True_, values.shape)
        else:
            given = np.concatenate((has_file[:, file], silence.given), axis=1)
        extent = np.concatenate((offset - onset, silence.ticks))
        return cls(
            values, given, np.concatenate((file, zero)).astype(np.int32),
            np.concatenate((label, silence.label)).astype(np.int32), np.concatenate((onset, zero)),
            np.concatenate((offset, zero)), extent / float(segment_ticks),
        )  # fmt: skip


class _Silence(NamedTuple):
    """Time in which nobody names a class: given (n_annotators, n), label and ticks (n,)."""

    given: Bools
    label: Index
    ticks: Ticks


def _silence(
    length: Ticks, has_file: Bools, file: Index, label: Index, extent: Ticks, n_classes: int
) -> _Silence:
    """Return how long each class is silent in the files that the same annotators labelled."""
    who, pattern = np.unique(has_file, axis=1, return_inverse=True)
    pattern, n = pattern.reshape(-1), who.shape[1]
    total = np.zeros(n, dtype=np.int64)
    np.add.at(total, pattern, length)
    ticks = np.repeat(total, n_classes)
    np.subtract.at(ticks, pattern[file] * n_classes + label, extent)
    return _Silence(np.repeat(who, n_classes, axis=1), np.tile(np.arange(n_classes), n), ticks)
