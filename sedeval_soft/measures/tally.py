"""A tally: what scores need and nothing else, keyed by file.

A tally adds lawfully: merging is a disjoint union by file, columns are kept in the order of the file names,
and totals are taken in that order. So any split of the files into batches, shards or machines gives the same
numbers to the last bit, which running sums would not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from sedeval_soft.errors import EvaluationError
from sedeval_soft.measures.base import Array, Bools, Codes, Index
from sedeval_soft.timeline.events import EventLifetimes
from sedeval_soft.timeline.ranges import expand

_ENTRY = 16
"""Bytes of an entry: its number, its file and its class."""

_CLASSES = 16
"""Classes from which entries may pay. Of one class alone numpy would add the numbers in another order."""


@dataclass(frozen=True, slots=True)
class SparseColumn:
    """Numbers by file and class, (n_files, n_classes), of which only those other than 0 are kept.

    file, label, value: (n_entries,) in the order of files.
    """

    shape: tuple[int, int]
    file: Codes
    label: Codes
    value: Array

    @classmethod
    def of(cls, column: Array) -> SparseColumn:
        """Return the entries of a column, (n_files, n_classes)."""
        file, label = np.nonzero(column)
        n_files, n_classes = column.shape
        codes = file.astype(np.int32), label.astype(np.int32)
        return cls((n_files, n_classes), *codes, column[file, label])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers."""
        return self.value.dtype

    @property
    def nbytes(self) -> int:
        """The bytes that the entries take."""
        return self.file.nbytes + self.label.nbytes + self.value.nbytes

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:  # noqa: ANN401
        """Return all numbers, (n_files, n_classes)."""
        full = np.zeros(self.shape, dtype=self.dtype)
        full[self.file, self.label] = self.value
        return full if dtype is None else full.astype(dtype)

    def total(self) -> Array:
        """Return the sum over files, (n_classes,): numbers are added in the order of files, as numpy does."""
        total = np.zeros(self.shape[1], dtype=self.dtype)
        np.add.at(total, self.label, self.value)
        return total

    def take(self, index: Index) -> SparseColumn:
        """Return the numbers of some files, (n,) positions, which may occur more than once."""
        start = np.searchsorted(self.file, np.arange(self.shape[0] + 1))
        owner, at = expand(start[index], start[index + 1])
        return SparseColumn(
            (len(index), self.shape[1]), owner.astype(np.int32), self.label[at], self.value[at]
        )

    def with_classes(self, code: Index, n_classes: int) -> SparseColumn:
        """Return the column among other classes; code: (n_classes,) the new number of each class."""
        label = code[self.label].astype(np.int32)
        return SparseColumn((self.shape[0], n_classes), self.file, label, self.value)

    @staticmethod
    def stack(columns: Sequence[SparseColumn]) -> SparseColumn:
        """Return the numbers of the files of all columns, one after another."""
        n_files = [column.shape[0] for column in columns]
        begin = np.cumsum(n_files) - n_files
        return SparseColumn(
            (sum(n_files), columns[0].shape[1]),
            np.concatenate([column.file + np.int32(at) for column, at in zip(columns, begin, strict=True)]),
            np.concatenate([column.label for column in columns]),
            np.concatenate([column.value for column in columns]),
        )


def slim(column: Array | SparseColumn) -> Array | SparseColumn:
    """Return a column as its entries, where these take less than half the memory."""
    if isinstance(column, SparseColumn) or column.shape[1] < _CLASSES:
        return column
    if 2 * _ENTRY * np.count_nonzero(column) >= column.nbytes:
        return column
    return SparseColumn.of(column)


Column = Array
ClassColumn = Column | SparseColumn


class Totals(Protocol):
    """Statistics summed over files: of a tally, or of many mixtures of its files, which stand first."""

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes, last in columns per class."""

    def total(self, name: str) -> Column:
        """Return a column summed over files: shape (..., n_classes), or (...) for a column per file."""

    @property
    def is_expected(self) -> Bools:
        """Whether the reference or the settings name a class, (n_classes,)."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Statistics of some files.

    files: sorted and distinct, (n_files,). classes: sorted or as the settings name them.
    per_class: named columns (n_files, n_classes), int64 counts or float64 sums; or their entries.
    per_file: named columns (n_files,).
    samples: named arrays (n_classes, n_cells), the cells of all files in the order of `files`. The first part
        of a name, such as `segment` in `segment.system`, is their basis; how many cells each file has is the
        column `n_segments` of `per_file`, or `n_clips`; the first of them are evaluated, as many as
        `n_evaluated_segments` or `n_evaluated_clips` says. Others have no reference, which never saw them.
    events: named lifetimes, coded into `files` and `classes`.
    recipe: the settings that shaped the statistics; only tallies of one recipe can be added.
    expected: the classes that the reference or the settings name, None for all: the cells of others hold no
        true negatives, and are in no mean over cells.

    A class that one tally lacks counts 0 in it: every statistic is 0 where nothing is active.
    """

    files: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    per_class: Mapping[str, ClassColumn] = field(default_factory=dict)
    per_file: Mapping[str, Column] = field(default_factory=dict)
    samples: Mapping[str, Column] = field(default_factory=dict)
    events: Mapping[str, EventLifetimes] = field(default_factory=dict)
    recipe: str | None = None
    expected: frozenset[str] | None = None

    @classmethod
    def empty(cls) -> Tally:
        """Return the tally of no files, which added to another changes nothing."""
        return cls()

    def __post_init__(self) -> None:
        """Check that files are sorted and distinct, and that all columns have their shapes.

        Columns are put in one order in memory: in another, numpy adds in another order, and the last digit of
        a total would depend on whether tallies were merged.
        """
        ordered = {
            name: column if isinstance(column, SparseColumn) else np.ascontiguousarray(column)
            for name, column in self.per_class.items()
        }
        object.__setattr__(self, "per_class", ordered)
        if any(a >= b for a, b in pairwise(self.files)):
            raise ValueError("the files of a tally must be sorted and distinct")
        shape = (len(self.files), len(self.classes))
        for name, column in self.per_class.items():
            if column.shape != shape:
                raise ValueError(f"column {name} has shape {column.shape}, expected {shape}")
        for name, column in self.per_file.items():
            if column.shape != shape[:1]:
                raise ValueError(f"column {name} has shape {column.shape}, expected {shape[:1]}")
        for name, array in self.samples.items():
            if array.shape != (shape[1], int(self.per_file[cells_of(name)].sum())):
                raise ValueError(f"samples {name} have shape {array.shape}, not (classes, cells)")

    def __add__(self, other: Tally) -> Tally:
        """Return the tally of the files of both; raises EvaluationError if they share one."""
        return Tally.merge((self, other))

    def total(self, name: str) -> Column:
        """Return a column summed over files: shape (n_classes,), or () for a column per file."""
        column = self.per_class.get(name)
        if column is None:
            column = self.per_file[name]
        if isinstance(column, SparseColumn):
            return column.total()
        total: Column = np.add.reduce(column, axis=0)
        return total

    @property
    def is_expected(self) -> Bools:
        """Return whether the reference or the settings name a class, (n_classes,)."""
        return np.array([self.expected is None or name in self.expected for name in self.classes], dtype=bool)

    def take(self, index: Column, files: tuple[str, ...] | None = None) -> Tally:
        """Return the tally of some files, (n,) positions; those that occur twice need new names.

        files: the names, sorted; None for those that the files have.
        """
        index = np.asarray(index, dtype=np.int64)
        lengths = {cells_of(name): self.per_file[cells_of(name)] for name in self.samples}
        cells = {}
        for name, length in lengths.items():
            end = np.cumsum(length)
            cells[name] = expand((end - length)[index], end[index])[1]
        return Tally(
            tuple(self.files[i] for i in index) if files is None else files,
            self.classes,
            {
                name: column.take(index) if isinstance(column, SparseColumn) else column[index]
                for name, column in self.per_class.items()
            },
            {name: column[index] for name, column in self.per_file.items()},
            {name: np.ascontiguousarray(s[:, cells[cells_of(name)]]) for name, s in self.samples.items()},
            {name: _take_events(events, index, len(self.files)) for name, events in self.events.items()},
            self.recipe,
            self.expected,
        )

    def with_classes(self, classes: tuple[str, ...]) -> Tally:
        """Return the same tally with its classes, all of them, in another order."""
        if classes == self.classes:
            return self
        order = np.asarray([self.classes.index(name) for name in classes], dtype=np.int64)
        code = np.argsort(order)
        return replace(
            self,
            classes=classes,
            per_class={
                name: column.with_classes(code, len(code))
                if isinstance(column, SparseColumn)
                else column[:, order]
                for name, column in self.per_class.items()
            },
            samples={name: np.ascontiguousarray(array[order]) for name, array in self.samples.items()},
            events={
                name: replace(events, label=code[events.label].astype(np.int32))
                for name, events in self.events.items()
            },
        )

    def slim(self) -> Tally:
        """Return the same tally, its columns per class as entries where that takes less memory."""
        return replace(self, per_class={name: slim(column) for name, column in self.per_class.items()})

    @staticmethod
    def merge(tallies: Iterable[Tally]) -> Tally:
        """Return the tally of all files of some tallies.

        Raises EvaluationError where a file occurs twice or settings differ.
        """
        parts = [tally for tally in tallies if tally.recipe is not None]
        if len(parts) <= 1:
            return parts[0] if parts else Tally.empty()
        first = parts[0]
        for part in parts:
            if part.recipe != first.recipe:
                raise EvaluationError(f"tallies of different settings: {first.recipe} and {part.recipe}")
        names = [name for part in parts for name in part.files]
        order = np.asarray(sorted(range(len(names)), key=names.__getitem__), dtype=np.int64)
        files = tuple(names[i] for i in order)
        for before, after in pairwise(files):
            if before == after:
                raise EvaluationError(f"file {before!r} was tallied twice")
        classes = first.classes
        if any(part.classes != classes for part in parts):
            classes = tuple(sorted({name for part in parts for name in part.classes}))
        if any(name.startswith("ranking.") for name in first.per_file):
            _check_same_classes(parts)
        # The number of each class of each part among all.
        codes = [np.array([classes.index(name) for name in part.classes], dtype=np.int64) for part in parts]
        expected = None
        if any(part.expected is not None for part in parts):
            # A class is expected in all files or in none.
            named = (part.classes if part.expected is None else part.expected for part in parts)
            expected = frozenset[str]().union(*named)
        return Tally(
            files,
            classes,
            {name: _stack(parts, codes, name, len(classes), order) for name in first.per_class},
            {name: np.concatenate([part.per_file[name] for part in parts])[order] for name in first.per_file},
            {name: _join_samples(parts, codes, name, order, len(classes)) for name in first.samples},
            {name: _join_events(parts, codes, name, order) for name in first.events},
            first.recipe,
            expected,
        )


def evaluated_of(name: str) -> str:
    """Return the column that says how many cells of some samples are evaluated in each file."""
    return f"n_evaluated_{name.partition('.')[0]}s"


def cells_of(name: str) -> str:
    """Return the column that says how many cells of some samples each file has."""
    return f"n_{name.partition('.')[0]}s"


def _take_events(events: EventLifetimes, index: Column, n_files: int) -> EventLifetimes:
    """Return the events of some files, in the order of `index`."""
    order = np.argsort(events.file, kind="stable")
    start = np.searchsorted(events.file[order], np.arange(n_files + 1))
    owner, inside = expand(start[index], start[index + 1])
    return replace(events.take(order[inside]), file=owner.astype(np.int32))


def _check_same_classes(parts: Sequence[Tally]) -> None:
    """Raise EvaluationError where classes differ, or which of them the reference names.

    Which there are decides how classes rank in a segment.
    """
    first = parts[0]
    for part in parts:
        if part.classes != first.classes:
            raise EvaluationError(
                "tallies with ranking scores have different classes, "
                f"{', '.join(first.classes)} and {', '.join(part.classes)}; name them by `classes`"
            )
        if part.expected != first.expected:
            named = [
                ", ".join(np.array(side.classes)[side.is_expected].tolist()) or "none"
                for side in (first, part)
            ]
            raise EvaluationError(
                "tallies with ranking scores have different classes in their references, "
                f"{named[0]} and {named[1]}; name them by `classes`"
            )


def _stack(
    parts: Sequence[Tally], codes: Sequence[Index], name: str, n_classes: int, order: Index
) -> ClassColumn:
    """Stack a column per class of all parts along files, absent classes 0, and put the files in order."""
    columns = [part.per_class[name] for part in parts]
    if any(isinstance(column, SparseColumn) for column in columns):
        entries = [
            column if isinstance(column, SparseColumn) else SparseColumn.of(column) for column in columns
        ]
        entries = [own.with_classes(code, n_classes) for own, code in zip(entries, codes, strict=True)]
        return SparseColumn.stack(entries).take(order)
    stacked = [np.zeros((column.shape[0], n_classes), dtype=column.dtype) for column in columns]
    for full, column, code in zip(stacked, columns, codes, strict=True):
        full[:, code] = column
    return np.concatenate(stacked)[order]


def _join_samples(
    parts: Sequence[Tally], codes: Sequence[Index], name: str, order: Index, n_classes: int
) -> Column:
    """Join the cells of all parts in the order of files, (n_classes, n_cells), absent classes 0.

    Files of a part that stay together are copied together: mostly that is all of them.
    """
    lengths = np.concatenate([part.per_file[cells_of(name)] for part in parts]).astype(np.int64)
    end = np.cumsum(lengths[order])
    start, rank = np.empty((2, len(order)), dtype=np.int64)
    start[order], rank[order] = end - lengths[order], np.arange(len(order))
    joint: Column = np.zeros((n_classes, int(lengths.sum())), dtype=parts[0].samples[name].dtype)
    done = 0
    for part, code in zip(parts, codes, strict=True):
        n = len(part.files)
        own, places = np.append(0, np.cumsum(lengths[done : done + n])), start[done : done + n]
        heads = np.flatnonzero(np.diff(rank[done : done + n], prepend=-2) != 1)
        for first, last in pairwise([*heads.tolist(), n]):
            begin, stop = int(own[first]), int(own[last])
            to = slice(int(places[first]), int(places[first]) + stop - begin)
            joint[code, to] = part.samples[name][:, begin:stop]
        done += n
    return joint


def _join_events(parts: Sequence[Tally], codes: Sequence[Index], kind: str, order: Index) -> EventLifetimes:
    """Join the events of all parts, coded into the joint lists, sorted by file."""
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    begin, joined = 0, []
    for part, code in zip(parts, codes, strict=True):
        events = part.events[kind]
        file, label = rank[begin + events.file], code[events.label] if len(code) else events.label
        joined.append(replace(events, file=file.astype(np.int32), label=label.astype(np.int32)))
        begin += len(part.files)
    names = ("file", "label", "onset", "offset", "born", "dies")
    columns: list[Any] = [np.concatenate([getattr(events, name) for events in joined]) for name in names]
    # A table without rows has no values, and does not tell how events of the others were made.
    nested = all(events.nested for events in joined if len(events))
    joint = replace(EventLifetimes(*columns), nested=nested)
    return joint.take(np.argsort(joint.file, kind="stable"))
