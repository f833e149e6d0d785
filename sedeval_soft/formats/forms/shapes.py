"""Long rows as wide ones, and the other way round."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.counted import be, counted
from sedeval_soft.core.ticks import to_seconds, to_ticks
from sedeval_soft.tables.event_table import EventTable

Ticks = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]

_CELLS = 1 << 22
"""Cells of steps and classes that are looked at in one go."""


def unfold(rows: EventTable) -> EventTable:
    """Return a row for each class of each time step, values of 0 included: nothing is lost."""
    n, n_classes = len(rows), len(rows.classes)
    values = np.empty((n, n_classes))
    for i, column in enumerate(rows.values):
        values[:, i] = column
    return EventTable.long(
        rows.files,
        rows.classes,
        np.repeat(rows.file, n_classes),
        np.tile(np.arange(n_classes, dtype=np.int32), n),
        np.repeat(rows.onset, n_classes),
        np.repeat(rows.offset, n_classes),
        values.ravel(),
        rows.origin,
    )


def as_long(rows: EventTable) -> EventTable:
    """Return rows as long ones, whatever they are."""
    return unfold(rows) if rows.is_wide else rows


@dataclass(slots=True)
class _Folded:
    """Time steps so far, and what did not fit them."""

    file: list[Codes] = field(default_factory=list)
    edges: list[tuple[Ticks, Ticks]] = field(default_factory=list)
    values: list[Floats] = field(default_factory=list)
    cut: int = 0
    overlapping: int = 0
    filled: int = 0
    empty: int = 0


def fold(rows: EventTable, *, gaps: bool = True) -> tuple[EventTable, list[str]]:
    """Return time steps between all boundaries of a recording, and what is lost by it.

    A class has the largest value of its rows in a step, 0 where it has none. gaps: times without any row
    have no step; else steps begin at 0 and leave none out.
    """
    onset, offset = to_ticks(rows.onset), to_ticks(rows.offset)
    found = _Folded()
    order = np.argsort(rows.file, kind="stable")
    bounds = np.searchsorted(rows.file[order], np.arange(len(rows.files) + 1))
    for code in range(len(rows.files)):
        own = order[bounds[code] : bounds[code + 1]]
        if len(own):
            _fold_file(found, rows, own, onset[own], offset[own], gaps=gaps)
            found.file.append(np.full(len(found.edges[-1][0]), code, dtype=np.int32))
    values = np.concatenate(found.values) if found.values else np.zeros((0, len(rows.classes)))
    begins, ends = (
        np.concatenate([pair[i] for pair in found.edges]) if found.edges else np.zeros(0, dtype=np.int64)
        for i in range(2)
    )
    wide = EventTable.wide(
        rows.files,
        rows.classes,
        np.concatenate(found.file) if found.file else np.zeros(0, dtype=np.int32),
        to_seconds(begins),
        to_seconds(ends),
        tuple(np.ascontiguousarray(values[:, i]) for i in range(len(rows.classes))),
        rows.origin,
    )
    return wide, _told(found, rows, onset, offset)


def contiguous(rows: EventTable) -> bool:
    """Return whether the steps of each recording begin at 0, in order, and leave no time out.

    The end of one must be the beginning of the next to the last digit: sed_scores_eval refuses others.
    """
    if not len(rows):
        return True
    begins, ends = rows.onset, rows.offset
    first = np.concatenate([[True], rows.file[1:] != rows.file[:-1]])
    if len(np.unique(rows.file[first])) != np.count_nonzero(first) or np.any(begins[first] != 0):
        return False
    return bool(np.all((begins[1:] == ends[:-1]) | first[1:]) and np.all(begins < ends))


def _fold_file(
    found: _Folded, rows: EventTable, own: npt.NDArray[np.intp], onset: Ticks, offset: Ticks, *, gaps: bool
) -> None:
    edges = np.unique(np.concatenate([onset, offset, *([] if gaps else [np.zeros(1, dtype=np.int64)])]))
    n_steps, n_classes = len(edges) - 1, len(rows.classes)
    first, last = np.searchsorted(edges, onset), np.searchsorted(edges, offset)
    label = rows.row_label[own]
    value = np.ones(len(own)) if rows.value is None else rows.value[own]
    values = np.zeros(n_steps * n_classes)
    counts = np.zeros(n_steps * n_classes, dtype=np.int64)
    for part, cells in _cells(first, last, label, n_classes):
        np.maximum.at(values, cells, value[part])
        np.add.at(counts, cells, 1)
    seen = counts.reshape(n_steps, n_classes)
    kept = (seen > 0).any(axis=1) if gaps else np.ones(n_steps, dtype=bool)
    found.cut += int(np.count_nonzero(last - first > 1))
    found.empty += int(np.count_nonzero(last == first))
    found.overlapping += int(np.count_nonzero(seen > 1))
    found.filled += int(np.count_nonzero(seen[kept] == 0))
    found.edges.append((edges[:-1][kept], edges[1:][kept]))
    found.values.append(values.reshape(n_steps, n_classes)[kept])


def _cells(
    first: npt.NDArray[np.intp], last: npt.NDArray[np.intp], label: Codes, n_classes: int
) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    """Yield, for some rows at a time, which row and which cell of (step, class) go together."""
    begin = 0
    reach = np.cumsum(last - first)
    while begin < len(first):
        before = int(reach[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(reach, before + _CELLS, side="right")))
        counts = last[begin:end] - first[begin:end]
        part = np.repeat(np.arange(begin, end), counts)
        step = np.arange(len(part)) - np.repeat(np.cumsum(counts) - counts, counts) + first[part]
        yield part, step * n_classes + label[part]
        begin = end


def _told(found: _Folded, rows: EventTable, onset: Ticks, offset: Ticks) -> list[str]:
    finer = np.count_nonzero((to_seconds(onset) != rows.onset) | (to_seconds(offset) != rows.offset))
    told = (
        (finer, "row", "with times finer than a microsecond, which are rounded"),
        (len(rows) if rows.value is None else 0, "row", "without a value, which become{s} {values} of 1"),
        (found.empty, "row", "without length"),
        (found.overlapping, "overlap", "of rows of one class, which take{s} the largest value"),
        (found.cut, "row", "that {are} cut where others begin or end"),
        (found.filled, "cell", "of classes without row, which become{s} {values} of 0"),
    )
    return [
        f"{counted(int(number), noun)} {_said_of(int(number), what)}" for number, noun, what in told if number
    ]


def _said_of(number: int, what: str) -> str:
    one = number == 1
    return what.format(s="s" * one, are=be(number), values="a value" if one else "values")
