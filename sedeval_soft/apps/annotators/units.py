"""What annotators say, on one list of pieces: stretches of time, or segments, in which nobody changes.

A piece belongs to one class in one file. In continuous time it is cut where some annotator begins, ends or
changes, so that nothing is lost of their boundaries; on a grid it is a segment. Pieces of one class in which
everyone says the same have one answer: how far annotators agree, and what is made of what they say, is a
matter of answers and of how much time has each. Silence, where nobody names the class, has no pieces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from sedeval_soft.arrays import Bools, Codes, Floats, Index
from sedeval_soft.fields import Pool
from sedeval_soft.memory import check_room
from sedeval_soft.settings import Settings
from sedeval_soft.sorting import distinct, heads, order_of
from sedeval_soft.tables.event_table import EventTable, Origin
from sedeval_soft.tables.ticks import Ticks, to_seconds
from sedeval_soft.threads import for_each
from sedeval_soft.timeline.events import Activity, Timed
from sedeval_soft.timeline.grid import Grid, pool_rows
from sedeval_soft.timeline.ranges import portions

_BYTES_PER_VALUE = 48

_AT_ONCE = 1 << 16
"""Rows that are worked on at a time, about, and pieces."""

_MOST_CODES = 1 << 24
"""Sets of answers up to which a number for each is kept."""


@dataclass(frozen=True, slots=True)
class Units:
    """What annotators say: their answers, and pieces of time that have these.

    values: (n_annotators, n_answers) in [0, 1]. given: the same shape, who labelled the file; a value of
    others means nothing. label: (n_answers,) codes of classes. weight: (n_answers,) how many segments' time
    there is. pieces: by file, class and onset, apart from one another. answer: (n_pieces,) which one each
    has.
    """

    values: Floats
    given: Bools
    label: Codes
    weight: Floats
    pieces: Timed
    answer: Codes

    def some(self, annotators: Index) -> Units:
        """Return what some annotators say; positions, (n,)."""
        return replace(self, values=self.values[annotators], given=self.given[annotators])

    def rows(self, value: Floats, files: tuple[str, ...], classes: tuple[str, ...], name: str) -> EventTable:
        """Return the pieces as rows of a table, by file, onset and class; those of value 0 have none.

        value: (n_answers,).
        """
        pieces, answer, some = self.pieces, self.answer, value != 0.0
        start = np.searchsorted(pieces.file, np.arange(len(files) + 1))
        parts = [slice(*start[[own.start, own.stop]]) for own in portions(start, _AT_ONCE)]
        sizes = for_each(lambda at: np.count_nonzero(some[answer[at]]), parts, len(pieces))
        ends = np.append(0, np.cumsum(sizes))
        # What is large is made once: to get memory takes as long as to fill it.
        (file, label), (onset, offset, values) = (
            [np.empty(ends[-1], kind) for _ in range(n)] for kind, n in ((np.int32, 2), (np.float64, 3))
        )

        def fill(part: int) -> None:
            own, values_here = pieces.take(parts[part]), value[answer[parts[part]]]
            # Pieces are in the order of classes in each file: a stable sort leaves these in order.
            order = order_of(own.onset, own.file)
            order = order[values_here[order] != 0.0]
            at = slice(ends[part], ends[part + 1])
            file[at], label[at], values[at] = own.file[order], own.label[order], values_here[order]
            onset[at], offset[at] = to_seconds(own.onset[order]), to_seconds(own.offset[order])

        for_each(fill, range(len(parts)), len(pieces))
        # Pieces of one function of time: those that touch are one event, however long they are.
        return EventTable(files, classes, file, onset, offset, (values,), Origin(name, joined=True), label)

    @classmethod
    def of(
        cls,
        tables: Sequence[EventTable],
        length: Ticks,
        has_file: Bools,
        settings: Settings,
        *,
        continuous: bool,
        apart: bool = False,
    ) -> Units:
        """Return what tables say, of one list of files and one of classes.

        length: (n_files,) of files; what lies beyond weighs nothing. has_file: (n_tables, n_files), who
        labelled which. continuous: whether time stays as it is, or is cut into segments. apart: whether each
        piece has an answer of its own.
        """
        n, n_classes = len(tables), len(tables[0].classes)
        grid = None if continuous else Grid.over(length, settings.segment_ticks)
        of_file, one = (grid.n_segments, Fraction(1)) if grid else (length, settings.segment_ticks)
        parts = [_on_grid(tables, grid, settings.pool)] if grid else _in_time(tables, len(length))
        size = sum(len(pieces) for pieces, _ in parts)

        def amount_of(pieces: Timed) -> Ticks:
            if grid:
                return np.ones(len(pieces), dtype=np.int64)
            onset, offset = (np.minimum(end, length[pieces.file]) for end in (pieces.onset, pieces.offset))
            return offset - onset

        # Who labelled is the same for many files.
        who, group = np.unique(has_file, axis=1, return_inverse=True)
        group, n_groups = group.reshape(-1), who.shape[1]
        silent = np.zeros((n_groups, n_classes), dtype=np.int64)
        np.add.at(silent, group, of_file[:, None])
        by, label = np.repeat(np.arange(n_groups), n_classes), np.tile(np.arange(n_classes), n_groups)
        n_codes = n_classes * 3**n
        if apart or n_codes > _MOST_CODES or any(each.dtype != bool for _, said in parts for each in said):
            pieces = Timed.joined([own for own, _ in parts])
            amount = amount_of(pieces)
            np.subtract.at(silent, (group[pieces.file], pieces.label), amount)
            said = (np.concatenate(own) for own in zip(*(said for _, said in parts), strict=True))
            values = np.array([np.append(each, np.zeros(silent.size)) for each in said])
            weight = np.append(amount, silent) / float(one)
            given = who[:, np.append(group[pieces.file], by)]
            label, answer = np.append(pieces.label, label), np.arange(size, dtype=np.int32)
            return cls(values, given, label.astype(np.int32), weight, pieces, answer)
        # Digits of 0 for no, 1 for yes, and 2 for those who did not label the file.
        place = 3 ** np.arange(n)[::-1]
        missing = 2 * place @ ~who

        def coded(part: tuple[Timed, Said]) -> tuple[Codes, Ticks]:
            pieces, said = part
            code = pieces.label.copy()
            for each in said:
                code *= 3
                code += each.astype(bool)
            code += missing.astype(np.int32)[group[pieces.file]]
            return code, amount_of(pieces)

        codes = for_each(coded, parts, size)
        total, present = np.zeros(n_codes, dtype=np.int64), np.zeros(n_codes, dtype=bool)
        for code, amount in codes:
            np.add.at(total, code, amount)
            present[code] = True
        # Of a class it is silent for as long as nobody says anything.
        named = np.flatnonzero(present)
        number_of = dict(zip(missing.tolist(), range(n_groups), strict=True))
        whose = [number_of[each] for each in (2 * place @ (named // place[:, None] % 3 == 2)).tolist()]
        np.subtract.at(silent, (whose, named // 3**n), total[named])
        np.add.at(total, label * 3**n + missing[by], silent.reshape(-1))
        named = np.flatnonzero((total > 0) | present)
        number = np.zeros(n_codes, dtype=np.int32)
        number[named] = np.arange(len(named))
        answer = np.concatenate(for_each(lambda each: number[each[0]], codes, size))
        digits, pieces = named // place[:, None] % 3, Timed.joined([own for own, _ in parts])
        values, label = (digits == 1).astype(np.float64), (named // 3**n).astype(np.int32)
        return cls(values, digits != 2, label, total[named] / float(one), pieces, answer)


Said = list[Floats | Bools]
"""What each annotator says of pieces, (n_pieces,): booleans if all say yes or no."""


def _on_grid(tables: Sequence[EventTable], grid: Grid, pool: Pool) -> tuple[Timed, Said]:
    """Return the segments of which somebody says something."""
    n_classes = len(tables[0].classes)
    check_room(
        _BYTES_PER_VALUE * len(tables) * max(grid.size, 1) * max(n_classes, 1),
        f"for {len(tables)} annotators x {grid.size} segments x {n_classes} classes",
        "A larger --segment-length gives fewer",
    )
    values = np.array([pool_rows(table, grid, pool) for table in tables])
    label, segment = np.nonzero(values.any(axis=0))
    file, onset, offset = grid.spans(segment)
    order = np.lexsort((label, file))
    file, label, segment = file[order], label[order], segment[order]
    # A row that ends later than its file would make that longer.
    offset = np.minimum(offset[order], grid.length[file])
    pieces = Timed(file.astype(np.int32), label.astype(np.int32), onset[order], offset)
    said = values[:, label, segment]
    return pieces, [*(said > 0 if says_yes_or_no(said) else said)]


def _in_time(tables: Sequence[EventTable], n_files: int) -> list[tuple[Timed, Said]]:
    """Return the stretches of time in which no annotator changes, and somebody says something.

    They are those of some files each, one after another.
    """
    n_classes, n_rows = len(tables[0].classes), sum(map(len, tables))
    check_room(
        2 * n_rows * (_BYTES_PER_VALUE + 9 * len(tables)),
        f"for {len(tables)} annotators x {n_rows} rows",
        "Are rows repeated?",
    )
    rows = for_each(_sounding, tables, n_rows)
    start = np.array([np.searchsorted(each.file, np.arange(n_files + 1)) for each in rows])

    def of_files(files: slice) -> tuple[Timed, Said]:
        ends = start[:, files.start].tolist(), start[:, files.stop].tolist()
        return _changes([each.take(slice(*own)) for each, *own in zip(rows, *ends, strict=True)], n_classes)

    return for_each(of_files, portions(start.sum(axis=0), _AT_ONCE), n_rows)


def _changes(rows: Sequence[Timed], n_classes: int) -> tuple[Timed, Said]:
    """Return the stretches of some files; rows: of each annotator, by file."""
    # All classes of all files on one line, each with as much of it as the longest needs; behind each time
    # stands whose it is, and whether it begins or ends something.
    times = [time for each in rows for time in (each.onset, each.offset)]
    longest, ranks = max(int(time.max(initial=0)) for time in times) + 1, np.zeros(0, dtype=np.int64)
    first, until = (end(each.file[k] for each in rows if len(each)) if any(map(len, rows)) else 0
                    for end, k in ((min, 0), (max, -1)))  # fmt: skip
    bits = (len(times) - 1).bit_length()
    if ((int(until) - int(first) + 1) * n_classes * longest) >> (62 - bits):
        ranks = distinct(np.concatenate(times))
        times, longest = [np.searchsorted(ranks, time) for time in times], len(ranks)
    line = [((each.file - np.int64(first)) * n_classes + each.label) * longest for each in rows]
    ends = np.concatenate([(line[k // 2] + time) << bits | k for k, time in enumerate(times)])
    ends.sort()
    whose = (ends & ((1 << bits) - 1)).astype(np.min_scalar_type(1 << bits))
    ends >>= bits
    last = np.append(heads(ends)[1:], len(ends)) - 1 if len(ends) else ends
    said: Said = []
    for k, own in enumerate(rows):
        change = np.zeros(1 << bits, dtype=np.int8)
        change[2 * k], change[2 * k + 1] = 1, -1
        sounds: Bools = np.cumsum(change[whose], dtype=np.int32)[last] > 0
        if isinstance(own, Activity):
            # Its pieces are in order, and apart.
            begun = np.cumsum(whose == 2 * k, dtype=np.int32)[last]
            said.append(np.where(sounds, np.append(0.0, own.value)[begun], 0.0))
        else:
            said.append(sounds)
    edge, sounding = ends[last], np.flatnonzero(np.logical_or.reduce(said))
    group, begin = np.divmod(edge[sounding], longest)
    end = edge[sounding + 1] - group * longest
    if len(ranks):
        begin, end = ranks[begin], ranks[end]
    file, label = np.divmod(group, max(n_classes, 1))
    pieces = Timed((file + first).astype(np.int32), label.astype(np.int32), begin, end)
    return pieces, [each[sounding] for each in said]


def says_yes_or_no(*values: Floats) -> bool:
    """Return whether all values are 0 or 1."""
    return all(bool(np.all((each == 0.0) | (each == 1.0))) for each in values)


def _sounding(table: EventTable) -> Timed:
    """Return the rows of a table that say something, by file; an activity where that is not yes or no."""
    if table.has_steps or not says_yes_or_no(*table.values):
        return Activity.of_table(table)
    spans = table.spans()
    rows = Timed(spans.file, table.row_label, spans.onset, spans.offset)
    rows = (rows if table.value is None else rows.take(table.value > 0)).lasting()
    in_order = bool(np.all(rows.file[1:] >= rows.file[:-1]))
    return rows if in_order else rows.take(np.argsort(rows.file, kind="stable"))
