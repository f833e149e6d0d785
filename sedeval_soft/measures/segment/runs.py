"""Hard segment counts from runs of active segments, without a grid of cells.

A run is a maximal stretch of active segments of one file and class. A table of events has few runs
however short the segments are, so that the hard reading of an hour at 10 ms costs no more than at 1 s.
The counts are those of `count.count_hard`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.order import distinct
from sedeval_soft.measures.detection import DetectionCounts
from sedeval_soft.timeline.events import Events
from sedeval_soft.timeline.grid import Grid
from sedeval_soft.timeline.ranges import running_maximum

Index = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Runs:
    """Runs sorted by class and first segment; segments are numbered over all files.

    label: (n,) codes. first, last: (n,) first segment and one past the last.
    """

    label: Index
    first: Index
    last: Index

    @classmethod
    def of(cls, label: Index, first: Index, last: Index) -> Runs:
        """Join ranges of segments that overlap or touch; ranges without segments vanish."""
        kept = last > first
        label, first, last = label[kept], first[kept], last[kept]
        order = np.lexsort((first, label))
        label, first, last = label[order], first[order], last[order]
        if not len(label):
            return cls(label, first, last)
        reach = running_maximum(last, label)
        begins = np.ones(len(label), dtype=bool)
        begins[1:] = (np.diff(label) != 0) | (first[1:] > reach[:-1])
        head = np.flatnonzero(begins)
        tail = np.append(head[1:], len(label)) - 1
        return cls(label[head], first[head], reach[tail])


def runs_on_grid(events: Events, grid: Grid) -> Runs:
    """Return the runs of segments that hard events make active."""
    first, last = grid.cells(events.file, events.onset, events.offset)
    return Runs.of(events.label.astype(np.int64), first, last)


def count_hard_runs(reference: Runs, system: Runs, start: Index, n_classes: int) -> DetectionCounts:
    """Count active segments and errors per file; start: (n_files + 1,) first segment of each file."""
    hits = _intersections(reference, system, int(start[-1]))
    sums = [_per_file_and_class(runs, start, n_classes) for runs in (hits, reference, system)]
    step, (n_hit, n_ref, n_sys) = _sweep((hits, reference, system), start)
    length = np.diff(step)
    file = np.searchsorted(start, step[:-1], side="right") - 1
    substituted = (np.minimum(n_ref, n_sys) - n_hit) * length
    deleted = np.maximum(n_ref - n_sys, 0) * length
    inserted = np.maximum(n_sys - n_ref, 0) * length
    errors = [_sum_by(file, column, len(start) - 1) for column in (substituted, deleted, inserted)]
    return DetectionCounts(sums[0], sums[1], sums[2], errors[0], errors[1], errors[2])


def count_beyond(runs: Runs, start: Index, n_evaluated: Index, n_classes: int) -> Index:
    """Count active segments after the evaluated ones of each file, (n_files, n_classes).

    start: (n_files + 1,) first segment of each file. n_evaluated: (n_files,) how many are evaluated.
    """
    edges = np.empty(2 * len(n_evaluated) + 1, dtype=np.int64)
    edges[0::2], edges[1::2] = start, start[:-1] + n_evaluated
    return _per_file_and_class(runs, edges, n_classes)[1::2]


def _sum_by(group: Index, values: Index, n_groups: int) -> Index:
    sums = np.zeros(n_groups, dtype=np.int64)
    np.add.at(sums, group, values)
    return sums


def _intersections(a: Runs, b: Runs, size: int) -> Runs:
    """Return the runs common to both; the runs of each are disjoint, so those of each pair are too."""
    a_first, a_last = a.label * size + a.first, a.label * size + a.last
    b_first, b_last = b.label * size + b.first, b.label * size + b.last
    begin = np.searchsorted(b_last, a_first, side="right")
    end = np.maximum(np.searchsorted(b_first, a_last, side="left"), begin)
    count = end - begin
    owner = np.repeat(np.arange(len(count)), count)
    other = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count - begin, count)
    first = np.maximum(a.first[owner], b.first[other])
    last = np.minimum(a.last[owner], b.last[other])
    return Runs(a.label[owner], first, last)


def _per_file_and_class(runs: Runs, start: Index, n_classes: int) -> Index:
    """Sum the lengths of runs, (n_files, n_classes); a run may go on over the end of a file."""
    n_files = len(start) - 1
    file = np.searchsorted(start, runs.first, side="right") - 1
    until = np.searchsorted(start, runs.last, side="left")
    count = np.maximum(until - file, 0)
    owner = np.repeat(np.arange(len(count)), count)
    files = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count - file, count)
    length = np.minimum(runs.last[owner], start[files + 1]) - np.maximum(runs.first[owner], start[files])
    return _sum_by(files * n_classes + runs.label[owner], length, n_files * n_classes).reshape(
        n_files, n_classes
    )


def _sweep(sides: tuple[Runs, ...], start: Index) -> tuple[Index, list[Index]]:
    """Cut all files where any run begins or ends; count for each piece how many runs of each side hold.

    Returns the (n + 1,) cuts, file ends among them, and for each side its (n,) counts.
    """
    cuts = distinct(np.concatenate([start, *(edge for runs in sides for edge in (runs.first, runs.last))]))
    counts = []
    for runs in sides:
        change = np.zeros(len(cuts), dtype=np.int64)
        np.add.at(change, np.searchsorted(cuts, runs.first), 1)
        np.subtract.at(change, np.searchsorted(cuts, runs.last), 1)
        counts.append(np.cumsum(change)[:-1])
    return cuts, counts
