"""Counts of a class from its highest level downwards, in stretches, where memory cannot hold all levels.

At each level some whole numbers change: TP, FP and what else is counted. What holds at a threshold is the
sum of the changes at all levels above it. The levels lie in sorted runs, on the disk for instance. Some of
them, evenly spaced in each run, part the levels into bins. A first look sums the changes of each bin, so
that all counts are known at its two ends, and how far they can move within it: TP by no more than the
positive changes of TP, FP down by no more than its negative ones. Where that bounds what is best in a bin
below what is reached elsewhere, the bin is not looked at again; the others are, from the highest down, and
are parted anew while they are too large. Sums of whole numbers are exact: so is the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.order import heads

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

EDGES = 4096
"""Levels at which bins meet, all runs together; each run has one of them at the least."""

_POSITIONS = 1 << 21
"""Places in runs where bins begin that are held at the most."""


class Run(Protocol):
    """The levels of a class, each once, and the changes at each."""

    def __len__(self) -> int:
        """Return how many levels there are."""

    def levels(self, begin: int, end: int) -> Floats:
        """Return the ascending levels of a stretch, (n,)."""

    def changes(self, begin: int, end: int) -> Index:
        """Return how much each count grows from above a level to below it, (n_counts, n)."""


class Seeker(Protocol):
    """What is looked for in the descent."""

    def reached(self, counts: Index) -> None:
        """Take notice of counts that hold at some level, (n_counts, n)."""

    def may(self, counts: Index, high: Index, low: Index) -> Bools:
        """Return in which bins something may be that is looked for, (n_bins,).

        counts: (n_counts, n_bins) before the highest level of each. high, low: the most that the first count
        may grow within a bin, and the second may shrink, (n_bins,).
        """

    def see(self, level: Floats, counts: Index) -> None:
        """Look at levels, descending and below all seen before, and the counts from each on."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of each run, and the counts above it."""

    runs: Sequence[Run]
    begin: Index
    end: Index
    above: Index

    @classmethod
    def whole(cls, runs: Sequence[Run], n_counts: int) -> Stretch:
        """Return all of some runs."""
        begin = np.zeros(len(runs), dtype=np.int64)
        return cls(
            runs,
            begin,
            np.array([len(run) for run in runs], dtype=np.int64),
            np.zeros(n_counts, dtype=np.int64),
        )

    def __len__(self) -> int:
        """Return how many entries there are."""
        return int((self.end - self.begin).sum())

    def parts(self) -> Iterator[tuple[Run, int, int]]:
        """Yield the runs that have entries, from where to where."""
        for run, begin, end in zip(self.runs, self.begin.tolist(), self.end.tolist(), strict=True):
            if end > begin:
                yield run, begin, end


def descend(stretch: Stretch, seeker: Seeker, most: int) -> None:
    """Show a seeker all levels of a stretch that it may be looking for; most: entries held at a time."""
    if len(stretch) <= most:
        levels = [run.levels(begin, end) for run, begin, end in stretch.parts()]
        changes = [run.changes(begin, end) for run, begin, end in stretch.parts()]
        seeker.see(*summed(levels, changes, stretch.above))
        return
    bins = _Bins.of(stretch)
    seeker.reached(bins.counts[:, :-1])
    sizes = bins.place[:, 1:].sum(axis=0) - bins.place[:, :-1].sum(axis=0)
    may = (sizes > 0) & seeker.may(bins.counts[:, 1:], bins.high, bins.low)
    for first, last in _grouped(np.flatnonzero(may), sizes, most):
        own = slice(first, last + 1)
        if not seeker.may(bins.counts[:, 1:][:, own], bins.high[own], bins.low[own]).any():
            continue
        if first == last and first % 2:
            seeker.see(bins.edges[first // 2 : first // 2 + 1], bins.counts[:, first : first + 1])
            continue
        part = Stretch(stretch.runs, bins.place[:, first], bins.place[:, last + 1], bins.counts[:, last + 1])
        descend(part, seeker, most)


def summed(levels: Sequence[Floats], changes: Sequence[Index], above: Index) -> tuple[Floats, Index]:
    """Return the distinct levels of some runs, descending, and the counts from each on; above: before all."""
    level = np.concatenate([np.zeros(0), *levels])
    order = np.argsort(level, kind="stable")[::-1]
    level = level[order]
    change = np.concatenate([np.zeros((len(above), 0), dtype=np.int64), *changes], axis=1)[:, order]
    first = heads(level)
    last = np.append(first[1:], len(level))[: len(first)] - 1
    return level[first], np.cumsum(change, axis=1)[:, last] + above[:, None]


def _grouped(chosen: Index, sizes: Index, most: int) -> Iterator[tuple[int, int]]:
    """Yield first and last of neighbours among chosen bins that may be held together, the highest first."""
    # Bins without levels part nothing.
    rank = np.cumsum(sizes > 0).tolist()
    first, last, held = -1, -1, 0
    for number in chosen[::-1].tolist():
        size = int(sizes[number])
        if last >= 0 and rank[number] == rank[first] - 1 and held + size <= most:
            first, held = number, held + size
            continue
        if last >= 0:
            yield first, last
        first, last, held = number, number, size
    if last >= 0:
        yield first, last


@dataclass(frozen=True, slots=True)
class _Bins:
    """The levels of a stretch in bins: below the first edge, at it, between it and the next one, and so on.

    edges: (n,) ascending; there are 2 n + 1 bins. place: (n_runs, n_bins + 1) where bins begin in each run,
    and the last ends. counts: (n_counts, n_bins + 1) below the lowest level of each bin, and above all; so
    counts above the bin k are at k + 1. high, low: (n_bins,) how far the first count may grow and the second
    may shrink within.
    """

    edges: Floats
    place: Index
    counts: Index
    high: Index
    low: Index

    @classmethod
    def of(cls, stretch: Stretch) -> _Bins:
        n_runs = len(stretch.runs)
        each = max(1, min(EDGES, _POSITIONS // n_runs) // n_runs)
        found = []
        for run, begin, end in stretch.parts():
            at = ((np.arange(each) + 0.5) * ((end - begin) / each)).astype(np.int64)
            found.append(run.levels(begin, end)[at])
        edge = np.unique(np.concatenate(found))
        n_bins = 2 * len(edge) + 1
        place = np.repeat(stretch.begin[:, None], n_bins + 1, axis=1)
        sums = np.zeros((len(stretch.above), n_bins), dtype=np.int64)
        high, low = np.zeros((2, n_bins), dtype=np.int64)
        for number, (run, begin, end) in enumerate(
            zip(stretch.runs, stretch.begin.tolist(), stretch.end.tolist(), strict=True)
        ):
            if begin == end:
                continue
            level, change = run.levels(begin, end), run.changes(begin, end)
            starts = np.empty(n_bins + 1, dtype=np.int64)
            starts[0], starts[-1] = 0, end - begin
            starts[1:-1:2] = np.searchsorted(level, edge, side="left")
            starts[2:-1:2] = np.searchsorted(level, edge, side="right")
            place[number] = begin + starts
            sums += _between(change, starts)
            high += _between(np.maximum(change[:1], 0), starts)[0]
            low -= _between(np.minimum(change[1:2], 0), starts)[0]
        counts = np.empty((len(sums), n_bins + 1), dtype=np.int64)
        counts[:, -1] = stretch.above
        counts[:, :-1] = stretch.above[:, None] + np.cumsum(sums[:, ::-1], axis=1)[:, ::-1]
        return cls(edge, place, counts, high, low)


def _between(values: Index, starts: Index) -> Index:
    """Return the sums of rows of values from each start to the next, (n_rows, n_starts - 1)."""
    total = np.zeros((len(values), values.shape[1] + 1), dtype=np.int64)
    np.cumsum(values, axis=1, out=total[:, 1:])
    found: Index = np.diff(total[:, starts], axis=1)
    return found
