"""Annotators' labels on one list of pieces: spans of time, or segments, in which nobody changes.

A piece belongs to one class in one file. In continuous time a piece ends at each boundary or change of any
annotator, so that no boundary is lost; on a grid it is a segment. Pieces of one class in which all annotators
have the same values share one answer: agreement and references depend only on answers, and on the time of
each. Silence, where nobody names the class, has no pieces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sedeval_soft.arrays import Array, Bools, Codes, Floats, Index, for_each, order_of
from sedeval_soft.fields import Pool
from sedeval_soft.memory import check_room
from sedeval_soft.settings import Settings
from sedeval_soft.tables import EventTable, Origin, Ticks, to_seconds
from sedeval_soft.timeline import Activity, Grid, Timed, expand, numbered, pool_rows

_BYTES_PER_VALUE = 48


@dataclass(frozen=True, slots=True)
class Units:
    """The answers of annotators, and the pieces of time with these answers.

    - values: (n_annotators, n_answers) in [0, 1].
    - given: the same shape, who labelled the file; other values mean nothing.
    - label: (n_answers,) codes of classes. weight: (n_answers,) the time of each, in segments.
    - pieces: by file, class and onset, apart from one another. answer: (n_pieces,) the answer of each.
    """

    values: Floats
    given: Bools
    label: Codes
    weight: Floats
    pieces: Timed
    answer: Index

    def some(self, annotators: Index) -> Units:
        """Return the answers of some annotators; positions, (n,)."""
        return replace(self, values=self.values[annotators], given=self.given[annotators])

    def rows(self, value: Floats, files: tuple[str, ...], classes: tuple[str, ...], name: str) -> EventTable:
        """Return the pieces as rows of a table, by file, onset and class; pieces of value 0 have none.

        value: (n_answers,).
        """
        some = np.flatnonzero(value[self.answer])
        pieces, values = self.pieces.take(some), value[self.answer[some]]
        order = order_of(pieces.label, pieces.onset, pieces.file)
        pieces, values = pieces.take(order), values[order]
        times = to_seconds(pieces.onset), to_seconds(pieces.offset)
        # Pieces of one function of time: those that touch are one event, however long they are.
        return EventTable(
            files, classes, pieces.file, *times, (values,), Origin(name, joined=True), pieces.label
        )

    @classmethod
    def of(
        cls,
        tables: Sequence[EventTable],
        length: Ticks,
        has_file: Bools,
        settings: Settings,
        *,
        continuous: bool,
    ) -> Units:
        """Return the answers of tables with common files and classes.

        length: (n_files,) of files; time beyond it weighs nothing. has_file: (n_tables, n_files), which table
        labels which file. continuous: whether time is continuous, or cut into segments.
        """
        n_classes = len(tables[0].classes)
        if continuous:
            (pieces, said), one, of_file = _in_time(tables), float(settings.segment_ticks), length
            onset, offset = (np.minimum(end, length[pieces.file]) for end in (pieces.onset, pieces.offset))
            amount = offset - onset
        else:
            grid = Grid.over(length, settings.segment_ticks)
            (pieces, said), one, of_file = _on_grid(tables, grid, settings.pool), 1.0, grid.n_segments
            amount = np.ones(len(pieces), dtype=np.int64)
        # Who labelled is the same for many files. In these a class is silent while nobody says anything.
        who, group = np.unique(has_file, axis=1, return_inverse=True)
        group, n_groups = group.reshape(-1), who.shape[1]
        silent = np.zeros((n_groups, n_classes), dtype=np.int64)
        np.add.at(silent, group, of_file[:, None])
        np.subtract.at(silent, (group[pieces.file], pieces.label), amount)
        by, of_class = np.repeat(np.arange(n_groups), n_classes), np.tile(np.arange(n_classes), n_groups)
        given = who[:, np.append(group[pieces.file], by)]
        values = np.append(said, np.zeros((len(tables), silent.size)), axis=1)
        label = np.append(pieces.label, of_class.astype(np.int32))
        first, answer = distinct_columns(label, *np.where(given, values, -1.0))
        total = np.zeros(len(first), dtype=np.int64)
        np.add.at(total, answer, np.append(amount, silent))
        of_pieces = answer[: len(pieces)]
        return cls(values[:, first], given[:, first], label[first], total / one, pieces, of_pieces)


def distinct_columns(*rows: Array) -> tuple[Index, Index]:
    """Return where each distinct column is first, (n_distinct,), and which one each is, (n,); rows: (n,)."""
    code = np.zeros(rows[0].shape, dtype=np.int64)
    for row in rows:
        values, number = np.unique(row, return_inverse=True)
        code = np.unique(code * len(values) + number, return_inverse=True)[1]
    _, first = np.unique(code, return_index=True)
    return first, code


def _on_grid(tables: Sequence[EventTable], grid: Grid, pool: Pool) -> tuple[Timed, Floats]:
    """Return the segments with a value of any annotator, and the value of each table, (n_tables, n)."""
    n_classes = len(tables[0].classes)
    check_room(
        _BYTES_PER_VALUE * len(tables) * max(grid.size, 1) * max(n_classes, 1),
        f"for {len(tables)} annotators x {grid.size} segments x {n_classes} classes",
        "A larger --segment-length gives fewer",
    )
    values = np.array([pool_rows(table, grid, pool) for table in tables])
    label, segment = np.nonzero(values.any(axis=0))
    file, onset, offset = grid.spans(segment)
    order = np.lexsort((segment, label, file))
    file, label, segment = file[order], label[order], segment[order]
    # A row that ends later than its file would make that longer.
    offset = np.minimum(offset[order], grid.length[file])
    pieces = Timed(file.astype(np.int32), label.astype(np.int32), onset[order], offset)
    return pieces, values[:, label, segment]


def _in_time(tables: Sequence[EventTable]) -> tuple[Timed, Floats]:
    """Return the spans of time with a value of any annotator in which no annotator changes.

    Return also the value of each table, (n_tables, n).
    """
    n_classes, n_rows = len(tables[0].classes), sum(map(len, tables))
    check_room(
        2 * n_rows * (_BYTES_PER_VALUE + 9 * len(tables)),
        f"for {len(tables)} annotators x {n_rows} rows",
        "Are rows repeated?",
    )
    activities = for_each(Activity.of_table, tables, n_rows)
    joint = Activity.joined(activities)
    group = joint.file * np.int64(max(n_classes, 1)) + joint.label
    edge, groups, times = numbered(np.tile(group, 2), np.concatenate((joint.onset, joint.offset)))
    first, last = np.split(edge, 2)
    said, begin = np.zeros((len(tables), len(times))), 0
    for row, activity in zip(said, activities, strict=True):
        own = slice(begin, begin + len(activity))
        owner, member = expand(first[own], last[own])
        row[member] = activity.value[owner]
        begin = own.stop
    some = np.flatnonzero(said.any(axis=0))
    file, label = np.divmod(groups[some], max(n_classes, 1))
    pieces = Timed(file.astype(np.int32), label.astype(np.int32), times[some], times[some + 1])
    return pieces, said[:, some]
