"""The grid of segments that reference and system share.

Segments of all files lie one after another: segment `k` of file `f` is `start[f] + k` on the
grid. A file of length T has ceil(T / segment length) segments; its last one may be cut short.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.edges import Edges
from sedeval_soft.core.ranges import stretches
from sedeval_soft.core.room import check_room
from sedeval_soft.core.ticks import TICKS_PER_SECOND, Ticks
from sedeval_soft.errors import EvaluationError, counted

Counts = npt.NDArray[np.int64]

_BYTES_PER_CELL = 24
"""Memory that a segment of a class takes at the most: two values, what is active, and room to work."""

_BYTES_IN_ORDER = 48
"""The same where the values are put in order, for curves and correlations: places and ranks, too."""

_BYTES_OF_MEANS = 120
"""The same where means are taken: where each row begins and ends in each segment."""

_MOST_SEGMENTS = 2.0**62
"""Segments that can be counted."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Fixed-length segments over files.

    segment: ticks per segment, exactly. length: (n_files,) ticks. start: (n_files + 1,) the first segment
    of each file and the end of the last. evaluated: (n_files,) the evaluated length in ticks, at most
    `length`: segments that begin there or later are not among those that scores average over.
    """

    segment: Fraction
    length: Ticks
    start: Counts
    evaluated: Ticks

    @classmethod
    def over(cls, length: Ticks, segment: Fraction | int, evaluated: Ticks | None = None) -> Grid:
        """Cover files of the given lengths in ticks, shape (n_files,), with segments.

        evaluated: how much of that is evaluated, (n_files,); None for all of it.
        """
        segment = Fraction(segment)
        n_segments = Edges(segment).after(length)
        if n_segments.sum(dtype=np.float64) > _MOST_SEGMENTS:
            have = "has" if len(length) == 1 else "have"
            raise EvaluationError(
                f"{counted(len(length), 'file')} {have} more segments of "
                f"{float(segment) / TICKS_PER_SECOND:g} s than can be counted; are the times in seconds? "
                "A larger --segment-length gives fewer"
            )
        start = np.zeros(len(length) + 1, dtype=np.int64)
        np.cumsum(n_segments, out=start[1:])
        return cls(segment, length, start, length if evaluated is None else np.minimum(evaluated, length))

    @property
    def edges(self) -> Edges:
        """Return where the segments of a file begin and end."""
        return Edges(self.segment)

    def spans(
        self, cell: Counts, file: npt.NDArray[np.integer[Any]] | None = None
    ) -> tuple[npt.NDArray[np.integer[Any]], Ticks, Ticks]:
        """Return the file of some segments, and where each begins and ends in it, in ticks; (n,) each.

        The last segment of a file ends with the file, and the last evaluated one with what is evaluated,
        whatever the file has after it. file: where it is at hand.
        """
        if file is None:
            file = np.searchsorted(self.start, cell, side="right") - 1
        place = cell - self.start[file]
        edges = self.edges
        begin, end = edges.at(place), edges.at(place + 1)
        evaluated, length = edges.on(self.evaluated)[file], edges.on(self.length)[file]
        return file, begin, np.minimum(end, np.where(begin < evaluated, evaluated, length))

    @property
    def n_segments(self) -> Counts:
        """Return the number of segments of each file, shape (n_files,)."""
        return np.diff(self.start)

    @property
    def n_evaluated(self) -> Counts:
        """Return how many segments of each file are evaluated, its first ones, shape (n_files,)."""
        return self.edges.after(self.evaluated)

    @property
    def size(self) -> int:
        """Return the number of segments of all files together."""
        return int(self.start[-1])

    def check_size(self, n_classes: int, *, in_order: bool = False, means: bool = False) -> None:
        """Refuse a grid that memory cannot hold; raises EvaluationError.

        in_order: whether the values of all segments will be put in order. means: whether means are taken.
        """
        per_cell = _BYTES_OF_MEANS if means else _BYTES_IN_ORDER if in_order else _BYTES_PER_CELL
        longest = int(self.length.max(initial=0)) / TICKS_PER_SECOND
        cells = f"{counted(self.size, 'segment')} x {counted(n_classes, 'class')}"
        check_room(
            float(self.size) * max(n_classes, 1) * per_cell,
            f"{cells} (the longest file has {longest:g} s)",
            "Are the times in seconds? A larger --segment-length gives fewer, --only segment.hard needs none",
        )

    def cells(self, file: npt.NDArray[np.int32], onset: Ticks, offset: Ticks) -> tuple[Counts, Counts]:
        """Return the segments that rows overlap, as first and one past the last, each (n,).

        A row that only touches a segment's edge does not overlap it, a row without extent
        overlaps none, and what lies beyond a file's last segment is cut off.
        """
        edges, n_segments = self.edges, self.n_segments
        first, last = np.empty(len(onset), dtype=np.int64), np.empty(len(onset), dtype=np.int64)
        for part in stretches(len(onset)):
            begin, end = edges.before(onset[part]), edges.after(offset[part])
            n_own = n_segments[file[part]]
            np.minimum(begin, n_own, out=begin)
            np.minimum(end, n_own, out=end)
            end[offset[part] <= onset[part]] = 0
            np.maximum(end, begin, out=end)
            base = self.start[file[part]]
            np.add(begin, base, out=first[part])
            np.add(end, base, out=last[part])
        return first, last
