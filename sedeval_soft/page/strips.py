"""Values over time as they are drawn: strips without gaps, thinned where there are too many of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sedeval_soft.tables.ticks import Ticks
from sedeval_soft.timeline.activity import Activity
from sedeval_soft.timeline.ranges import range_maximum

Index = npt.NDArray[np.int64]

STEPS = 60_000
"""Levels that values are rounded to: decimals of four digits, quarters and thirds are kept as they are."""

_LEAST = 200
"""Steps that a strip is never thinned below."""


@dataclass(frozen=True, slots=True)
class Strips:
    """Values of each file and class from 0 to its end, sorted by file, class and time.

    file, label: (n,) codes. width: (n,) ticks. value: (n,) in steps of 1 / `STEPS`; pieces that follow one
    another differ. What has no pieces is silent.
    """

    file: Index
    label: Index
    width: Ticks
    value: Index

    def __len__(self) -> int:
        """Return the number of pieces."""
        return len(self.width)


def strips_of(pieces: Activity, end: Ticks) -> Strips:
    """Fill the time between pieces with 0; end: (n_files,) ticks, no piece goes beyond."""
    n = len(pieces.onset)
    first = np.ones(n, dtype=bool)
    first[1:] = ~pieces.goes_on()
    last = np.append(first[1:], True)[:n]
    before = np.zeros(n, dtype=np.int64)
    before[1:] = pieces.offset[:-1]
    before[first] = 0
    gap = pieces.onset - before
    rest = np.where(last, end[pieces.file] - pieces.offset, 0)
    # Each piece stands between what is silent before it and, the last of its class, after it.
    source = np.repeat(np.arange(n), 3)
    width = np.stack((gap, pieces.offset - pieces.onset, rest), axis=1).reshape(-1)
    value = np.zeros((n, 3), dtype=np.int64)
    value[:, 1] = np.rint(pieces.value * STEPS)
    kept = width > 0
    source, width, value = source[kept], width[kept], value.reshape(-1)[kept]
    file, label = (codes.astype(np.int64)[source] for codes in (pieces.file, pieces.label))
    return _joined(Strips(file, label, width, value))


def thinned(strips: Strips, end: Ticks, most: int) -> tuple[Strips, npt.NDArray[np.int64]]:
    """Return strips in which no file has many more than so many pieces, and the steps they are drawn in.

    Where a file has more its pieces become steps of equal length, each with the highest value in it. The
    steps are in ticks, (n_files,), 0 where nothing was changed.
    """
    n_files = len(end)
    many = np.bincount(strips.file, minlength=n_files) > most
    step = np.zeros(n_files, dtype=np.int64)
    parts = [_take(strips, ~many[strips.file])]
    for file in np.flatnonzero(many).tolist():
        own = _take(strips, strips.file == file)
        labels = np.unique(own.label)
        step[file] = _step(int(end[file]), max(most // len(labels), _LEAST))
        parts.append(_highest(own, labels, int(end[file]), int(step[file])))
    joint = Strips(*(np.concatenate([getattr(part, name) for part in parts]) for name in _STRIPS))
    return _take(joint, np.argsort(joint.file, kind="stable")), step


_STRIPS = ("file", "label", "width", "value")

_ROUND = tuple(digit * 10**power for power in range(13) for digit in (1, 2, 5))
"""Steps in ticks that read well."""


def _step(end: int, most: int) -> int:
    """Return the shortest step that reads well of which no more than so many are needed."""
    return next((step for step in _ROUND if -(-end // step) <= most), end)


def _highest(strips: Strips, labels: Index, end: int, step: int) -> Strips:
    """Return the strips of one file in steps, each with the highest value in it."""
    n_steps = -(-end // step)
    row = np.searchsorted(labels, strips.label)
    until = np.cumsum(strips.width)
    # Widths are summed over all classes: each begins where the one before it ended.
    head = np.searchsorted(row, np.arange(len(labels)))
    offset = until - (until[head] - strips.width[head])[row]
    first, last = (offset - strips.width) // step, -(-offset // step)
    size = len(labels) * n_steps
    value = range_maximum(size, row * n_steps + first, row * n_steps + last, strips.value / STEPS)
    width = np.full(n_steps, step, dtype=np.int64)
    width[-1] = end - step * (n_steps - 1)
    label = np.repeat(labels, n_steps)
    same = np.full(size, strips.file[0])
    return _joined(Strips(same, label, np.tile(width, len(labels)), np.rint(value * STEPS).astype(np.int64)))


def _take(strips: Strips, index: npt.NDArray[np.bool_] | Index) -> Strips:
    return Strips(*(getattr(strips, name)[index] for name in _STRIPS))


def _joined(strips: Strips) -> Strips:
    """Join pieces of equal value that follow one another."""
    if not len(strips):
        return strips
    new = np.ones(len(strips), dtype=bool)
    new[1:] = np.logical_or.reduce(
        [np.diff(getattr(strips, name)) != 0 for name in ("file", "label", "value")]
    )
    head = np.flatnonzero(new)
    return replace(_take(strips, head), width=np.add.reduceat(strips.width, head))
