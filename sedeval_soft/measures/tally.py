"""A tally: the statistics that scores need and nothing else, keyed by file.

Tallies can be added in any order: merging is a disjoint union by file, columns are kept in the order of the
file names, and totals are taken in that order. So any split of the files into batches, shards or machines
gives the same numbers to the last bit, unlike running sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np

from sedeval_soft.arrays import Array, Bools, Floats, Index, expand, heads
from sedeval_soft.errors import EvaluationError
from sedeval_soft.timeline.events import EventLifetimes


@dataclass(frozen=True, slots=True)
class Mixtures:
    """Totals whose first axis are mixtures of the files of a tally: weighted files, or single ones.

    sums: by name, (n_mixtures, n_classes) or (n_mixtures,).
    """

    classes: tuple[str, ...]
    is_expected: Bools
    sums: Mapping[str, Array]

    def total(self, name: str) -> Array:
        """Return a column summed over the files of each mixture."""
        return self.sums[name]


@dataclass(frozen=True, slots=True)
class Tally:
    """Statistics of some files.

    - files: sorted and distinct, (n_files,). classes: sorted or in the order of the settings.
    - per_class: named columns (n_files, n_classes), int64 counts or float64 sums.
    - per_file: named columns (n_files,).
    - samples: named arrays (n_classes, n_cells), the cells of all files in the order of `files`. The first
      part of a name is their basis, such as `segment` in `segment.system`. The columns `n_segments` or
      `n_clips` of `per_file` give the number of cells of each file. The columns `n_evaluated_segments` or
      `n_evaluated_clips` give the number of evaluated cells, the first of each file. Later cells have no
      reference.
    - events: named lifetimes, coded into `files` and `classes`.
    - recipe: the settings that shaped the statistics; only tallies of one recipe can be added.
    - expected: the classes that the reference or the settings name, None for all. Cells of other classes have
      no true negatives, and are in no mean over cells.

    A class that one tally lacks counts 0 in it: every statistic is 0 without activity.
    """

    files: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    per_class: Mapping[str, Array] = field(default_factory=dict)
    per_file: Mapping[str, Array] = field(default_factory=dict)
    samples: Mapping[str, Array] = field(default_factory=dict)
    events: Mapping[str, EventLifetimes] = field(default_factory=dict)
    recipe: str | None = None
    expected: frozenset[str] | None = None

    def __post_init__(self) -> None:
        """Check that files are sorted and distinct, and that all columns have their shapes.

        Columns get one memory order: numpy adds other orders differently, and the last digit of a total would
        depend on whether tallies were merged.
        """
        per_class = {name: np.ascontiguousarray(column) for name, column in self.per_class.items()}
        object.__setattr__(self, "per_class", per_class)
        if any(a >= b for a, b in pairwise(self.files)):
            raise ValueError("the files of a tally must be sorted and distinct")
        shape = len(self.files), len(self.classes)
        for group, expected in ((per_class, shape), (self.per_file, shape[:1])):
            for name, column in group.items():
                if column.shape != expected:
                    raise ValueError(f"column {name} has shape {column.shape}, expected {expected}")
        for name, array in self.samples.items():
            if array.shape != (shape[1], int(self.per_file[cells_of(name)].sum())):
                raise ValueError(f"samples {name} have shape {array.shape}, not (classes, cells)")

    def __add__(self, other: Tally) -> Tally:
        """Return the tally of the files of both; raises EvaluationError if they share one."""
        return Tally.merge((self, other))

    def total(self, name: str) -> Array:
        """Return a column summed over files: shape (n_classes,), or () for a column per file."""
        total: Array = (self.per_class if name in self.per_class else self.per_file)[name].sum(axis=0)
        return total

    def mixtures(self, mix: Callable[[Array], Array]) -> Mixtures:
        """Return the totals of mixtures of files; mix: makes them of columns, whose first axis are files."""
        columns = {**self.per_class, **self.per_file}
        sums = {name: np.asarray(mix(column)) for name, column in columns.items()}
        return Mixtures(self.classes, self.is_expected, sums)

    def system(self, basis: str) -> EventLifetimes:
        """Return the system's events of all thresholds, as `event` or `intersection` evaluates them.

        They differ if detections are left out, see `measures.ignored`.
        """
        return self.events.get(f"system of {basis}", self.events["system"])

    @property
    def is_expected(self) -> Bools:
        """Return whether the reference or the settings name a class, (n_classes,)."""
        return np.array([self.expected is None or name in self.expected for name in self.classes], dtype=bool)

    def take(self, index: Index, files: tuple[str, ...] | None = None) -> Tally:
        """Return the tally of some files, (n,) positions; files that occur twice need new names.

        files: the names, sorted; None to keep the names of the files.
        """
        index = np.asarray(index, dtype=np.int64)
        cells = {}
        for name in self.samples:
            length = self.per_file[cells_of(name)]
            end = np.cumsum(length)
            cells[name] = expand((end - length)[index], end[index])[1]
        return replace(
            self,
            files=tuple(self.files[i] for i in index) if files is None else files,
            per_class={name: column.take(index, axis=0) for name, column in self.per_class.items()},
            per_file={name: column[index] for name, column in self.per_file.items()},
            samples={name: np.ascontiguousarray(s[:, cells[name]]) for name, s in self.samples.items()},
            events={name: _take_events(of, index, len(self.files)) for name, of in self.events.items()},
        )

    def with_classes(self, classes: tuple[str, ...]) -> Tally:
        """Return the same tally with its classes, all of them, in another order."""
        if classes == self.classes:
            return self
        order = np.asarray([self.classes.index(name) for name in classes], dtype=np.int64)
        code = np.argsort(order).astype(np.int32)
        return replace(
            self,
            classes=classes,
            per_class={name: column.take(order, axis=1) for name, column in self.per_class.items()},
            samples={name: np.ascontiguousarray(array[order]) for name, array in self.samples.items()},
            events={name: replace(of, label=code[of.label]) for name, of in self.events.items()},
        )

    @staticmethod
    def merge(tallies: Iterable[Tally]) -> Tally:
        """Return the tally of all files of some tallies.

        Raises EvaluationError if a file occurs twice or settings differ.
        """
        parts = [tally for tally in tallies if tally.recipe is not None]
        if len(parts) <= 1:
            return parts[0] if parts else Tally()
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
        expected = None
        if any(part.expected is not None for part in parts):
            # A class is expected in all files or in none.
            named = (part.classes if part.expected is None else part.expected for part in parts)
            expected = frozenset[str]().union(*named)
        number = {name: code for code, name in enumerate(classes)}
        codes = [np.array([number[name] for name in part.classes], dtype=np.int64) for part in parts]
        places = np.split(np.argsort(order), np.cumsum([len(part.files) for part in parts])[:-1])
        joined = list(zip(parts, places, codes, strict=True))
        shape = len(files), len(classes)
        per_file = {
            name: np.concatenate([part.per_file[name] for part in parts])[order] for name in first.per_file
        }
        return Tally(
            files,
            classes,
            {name: _join_columns(joined, name, shape) for name in first.per_class},
            per_file,
            {name: _join_samples(joined, name, per_file[cells_of(name)], shape[1]) for name in first.samples},
            {name: _join_events(joined, name) for name in first.events},
            first.recipe,
            expected,
        )


Totals = Tally | Mixtures
"""Statistics summed over files: of a tally, or of many mixtures of its files on the first axis."""

_Part = tuple[Tally, Index, Index]
"""A tally that is merged with others, and the positions of its files and classes among theirs."""


def cells_of(name: str) -> str:
    """Return the column with the number of cells of some samples in each file.

    With `evaluated_` before the name, it is the column with the number of evaluated cells.
    """
    return f"n_{name.partition('.')[0]}s"


def _take_events(events: EventLifetimes, index: Index, n_files: int) -> EventLifetimes:
    """Return the events of some files, in the order of `index`."""
    order = np.argsort(events.file, kind="stable")
    start = np.searchsorted(events.file[order], np.arange(n_files + 1))
    owner, inside = expand(start[index], start[index + 1])
    return replace(events.take(order[inside]), file=owner.astype(np.int32))


def _check_same_classes(parts: Sequence[Tally]) -> None:
    """Raise EvaluationError if classes differ, or the classes that the reference names.

    The classes present decide how classes rank in a segment.
    """
    first = parts[0]
    for part in parts:
        if part.classes != first.classes:
            where, sides = "", [side.classes for side in (first, part)]
        elif part.expected != first.expected:
            pair = [np.array(side.classes)[side.is_expected].tolist() for side in (first, part)]
            where, sides = " in their references", [tuple(names) or ("none",) for names in pair]
        else:
            continue
        listed = " and ".join(", ".join(names) for names in sides)
        raise EvaluationError(
            f"tallies with ranking scores have different classes{where}, {listed}; name them by `classes`"
        )


def _join_columns(parts: Sequence[_Part], name: str, shape: tuple[int, int]) -> Array:
    """Join a column per class of all parts; absent classes 0."""
    joint = np.zeros(shape, dtype=parts[0][0].per_class[name].dtype)
    for tally, files, classes in parts:
        joint[files[:, None], classes] = tally.per_class[name]
    return joint


def _join_samples(parts: Sequence[_Part], name: str, lengths: Index, n_classes: int) -> Array:
    """Join the cells of all parts in the order of files, (n_classes, n_cells), absent classes 0.

    lengths: (n_files,) cells of each file. Adjacent files of a part are copied together: usually all of them.
    """
    start = np.cumsum(lengths) - lengths
    joint: Array = np.zeros((n_classes, int(lengths.sum())), dtype=parts[0][0].samples[name].dtype)
    for tally, files, classes in parts:
        begin = np.append(0, np.cumsum(lengths[files]))
        heads = np.flatnonzero(np.diff(files, prepend=-2) != 1)
        for first, last in pairwise([*heads.tolist(), len(files)]):
            cells = tally.samples[name][:, begin[first] : begin[last]]
            joint[classes, start[files[first]] : start[files[first]] + cells.shape[1]] = cells
    return joint


def _join_events(parts: Sequence[_Part], kind: str) -> EventLifetimes:
    """Join the events of all parts, coded into the joint lists, sorted by file."""
    every = [(tally.events[kind], files, classes) for tally, files, classes in parts]
    joined = EventLifetimes.joined(
        [
            replace(of, file=files[of.file].astype(np.int32), label=classes[of.label].astype(np.int32))
            for of, files, classes in every
        ]
    )
    # A table without rows has no values, and no information about how events of the others were made.
    joined = replace(joined, nested=all(of.nested for of, _, _ in every if len(of)))
    return joined.take(np.argsort(joined.file, kind="stable"))


# Sums over weighted files, for many weights at once: a product of weights and statistics of files.

_AT_ONCE = 1 << 18
"""Numbers in an array for some weights: arrays of this size stay in the processor's cache."""

_FEW = 1 << 10
"""Entries up to which scipy is not imported: its import takes as long as many products of so few entries.

A single file needs no sum.
"""


@dataclass(frozen=True, slots=True)
class FileSums:
    """Statistics of each file for a list of things, such as the points of a curve; most entries are 0.

    - start: (n_things + 1,) the first entry of each thing.
    - file, amount: (n_entries,) the file of each entry, and its amount.
    - few: whether the entries are too few for an import of scipy.
    """

    start: Index
    file: Index
    amount: Floats
    n_files: int
    few: bool

    @classmethod
    def of(cls, thing: Array, file: Array, amount: Array, shape: tuple[int, int]) -> Self:
        """Add up amounts of things of files, (n,) each; shape: the numbers of things and files."""
        files, sums = file.astype(np.int64, copy=False), amount.astype(np.float64, copy=False)
        if np.any(thing[1:] < thing[:-1]):
            key = thing * np.int64(shape[1]) + file
            order = np.argsort(key, kind="stable")
            first = heads(key[order])
            sums = np.add.reduceat(sums[order], first)
            thing, files = np.divmod(key[order[first]], shape[1])
        start = np.append(0, np.cumsum(np.bincount(thing, minlength=shape[0])))
        return cls(start, files, sums, shape[1], shape[1] == 1 or len(files) <= _FEW)

    def __len__(self) -> int:
        """Return the number of things."""
        return len(self.start) - 1

    def weighted(self, weights: Floats) -> Floats:
        """Return the sums over weighted files, (n_weights, n_things); weights: (n_weights, n_files)."""
        return np.ascontiguousarray(self.of_columns(weights.T).T)

    def of_columns(self, weights: Floats) -> Floats:
        """Return the sums over weighted files, (n_things, n_weights); weights: (n_files, n_weights).

        Entries are added in their order, whatever other weights there are; weights of float32 in float32.
        """
        matrix = None if self.few else _matrix(self, weights.dtype)
        if matrix is not None:
            product: Floats = matrix @ weights
            return product
        counts = np.diff(self.start)
        sums, some = np.zeros((len(counts), weights.shape[1])), np.flatnonzero(counts)
        if len(some):
            amounts = weights.take(self.file, axis=0) * self.amount[:, None]
            sums[some] = np.add.reduceat(amounts, self.start[some], axis=0)
        return sums


def _matrix(sums: FileSums, kind: np.dtype[Any]) -> Any:  # noqa: ANN401 - of scipy
    """Return sums as a sparse matrix; None in a slim install, which has no scipy: it takes longer there."""
    try:
        from scipy.sparse import csr_array
    except ModuleNotFoundError:
        return None
    return csr_array(
        (sums.amount.astype(kind, copy=False), sums.file, sums.start), shape=(len(sums), sums.n_files)
    )


def blocks(n: int, size: int) -> Iterator[slice]:
    """Yield slices of n weights, at least one; size: the count of numbers computed for each weight."""
    rows = max(1, _AT_ONCE // max(size, 1))
    return (slice(begin, begin + rows) for begin in range(0, max(n, 1), rows))


def in_blocks(
    of_block: Callable[[Floats], Mapping[str, Array]], weights: Floats, size: int
) -> dict[str, Array]:
    """Return the measures that a function computes from weights, (n_weights,) each by name, in blocks.

    size: the count of numbers that the function computes for each weight.
    """
    parts = [*map(of_block, (weights[some] for some in blocks(len(weights), size)))]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def counted_together(values: Index, n_cells: int, n_owners: int) -> list[slice]:
    """Return groups of adjacent classes that are counted at once, each class as an owner.

    Hundreds of calls for each class take longer than more numbers in each call. If files have weights of
    their own, each group has one class.

    values: (n_classes,) the most distinct values of a class; each class gets numbers for all values of its
    group. n_cells: the most cells of a class.
    """
    groups, begin, total, most = list[slice](), 0, 0, _AT_ONCE // max(n_cells, 1) if n_owners == 1 else 1
    for c, some in enumerate(values.tolist()):
        size = c - begin
        if size and (size >= most or (size + 1) * (total + some) > _AT_ONCE):
            groups.append(slice(begin, c))
            begin, total = c, 0
        total += some
    return [*groups, slice(begin, len(values))][: len(values)]


def of_each(
    measures: Callable[[Floats], Mapping[str, Floats]], n_classes: int
) -> Callable[[Floats], dict[str, Floats]]:
    """Return a function for the measures of classes counted together, (n_classes, n_weights) each.

    measures: gives the measures for weights of the owners of each class in turn.
    """

    def of_classes(weights: Floats) -> dict[str, Floats]:
        own = weights if n_classes == 1 else np.asarray(np.kron(np.eye(n_classes), weights), dtype=np.float64)
        return {name: values.reshape(n_classes, -1) for name, values in measures(own).items()}

    return of_classes


def picked(columns: Array, at: Index) -> Array:
    """Return the values of each row at its own positions; columns: (n_weights, n), at: (n_weights, ...)."""
    row = np.arange(len(columns)).reshape(-1, *(1,) * (at.ndim - 1))
    chosen: Array = columns.reshape(-1)[row * columns.shape[1] + at]
    return chosen


def first_where(holds: Callable[[Index], Bools], shape: tuple[int, ...], size: int) -> Index:
    """Return the first of `size` positions from which on a condition is true, `size` if it never is.

    The function `holds` returns whether the condition is true at positions of the shape.
    """
    low, high = np.zeros(shape, dtype=np.int64), np.full(shape, size)
    for _ in range(size.bit_length()):
        middle = (low + high) // 2
        # After the end of the search both bounds stay unchanged.
        found = holds(np.minimum(middle, size - 1)) | (middle >= size)
        low, high = np.where(found, low, middle + 1), np.where(found, middle, high)
    return high
