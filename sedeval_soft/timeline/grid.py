"""Where the segments of a grid begin and end, and which times lie there.

Edge k lies at k times the exact length of a segment, so that a grid of 1/3 s is as good after an hour as in
its first second. Times are whole ticks of what a table says, and a table says 1/3 as 0.333, 0.333333 or in
single precision: `Edges.slack` is how far a time may lie from an edge to be on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.errors import EvaluationError, counted
from sedeval_soft.memory import check_room
from sedeval_soft.tables.ticks import TICKS_PER_SECOND, Ticks, to_ticks
from sedeval_soft.timeline.ranges import stretches

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

LEAST_SHARE = 20
"""No time is on an edge that is further away than a segment's length divided by this."""

STEP_SHARE = 100
"""Rows are nearly as long as some segments if they are not off by more than a segment divided by this."""

_UNITS = (10, 100, 1000)
"""Ticks of the last decimal of times with 5, 4 and 3 decimals."""


@dataclass(frozen=True, slots=True)
class Edges:
    """The edges of segments.

    step: ticks per segment; settings allow a denominator of 10^6 at the most: products stay in 64 bits.
    """

    step: Fraction

    def at(self, index: Counts) -> Ticks:
        """Return the ticks nearest to some edges, of two the even one, any shape."""
        whole, rest = divmod(self.step.numerator, self.step.denominator)
        if not rest:
            return index * whole
        # Turns of so many segments are whole ticks: no product below is too large.
        turn, within = np.divmod(index, self.step.denominator)
        more, left = np.divmod(within * rest, self.step.denominator)
        ticks: Ticks = turn * self.step.numerator + within * whole + more
        half = 2 * left - self.step.denominator
        ticks += (half > 0) | ((half == 0) & (ticks % 2 == 1))
        return ticks

    def around(self, ticks: Ticks) -> tuple[Counts, Counts]:
        """Return the last edge that is not after each time, and the first one that is not before it, (n,)."""
        return self.before(ticks), self.after(ticks)

    def before(self, ticks: Ticks) -> Counts:
        """Return the last edge that is not after each time, (n,)."""
        edge = np.empty(len(ticks), dtype=np.int64)
        for part in stretches(len(ticks)):
            nearest, beyond = self._nearest(ticks[part])
            np.subtract(nearest, beyond < 0, out=edge[part])
        return edge

    def after(self, ticks: Ticks) -> Counts:
        """Return the first edge that is not before each time, (n,)."""
        edge = np.empty(len(ticks), dtype=np.int64)
        for part in stretches(len(ticks)):
            nearest, beyond = self._nearest(ticks[part])
            np.add(nearest, beyond > 0, out=edge[part])
        return edge

    def on(self, ticks: Ticks) -> Ticks:
        """Return times, those on an edge as `at` has it, (n,)."""
        nearest, beyond = self._nearest(ticks)
        return np.where(beyond == 0, self.at(nearest), ticks)

    def near_misses(
        self, file: npt.NDArray[np.int32], onset: Floats, offset: Floats
    ) -> tuple[int, int, float]:
        """Return how many rows could show a grid, how many show one that is nearly this one, and how nearly.

        file, onset, offset: of rows, (n,) each, in seconds; those that begin with their file show
        nothing. A row nearly lies on the grid if both of its ends are within `LEAST_SHARE` of an edge, and
        not both on one. It has nearly the length of segments if that is within `STEP_SHARE` of some of them
        but not theirs, and it touches others of which that is true: the rows of a grid that drifts away. The
        last number is by how many seconds at the most.
        """
        n_rows, n_near, apart = 0, 0, 0
        stepping: list[tuple[npt.NDArray[Any], ...]] = []
        for part in stretches(len(file)):
            begin, end = to_ticks(onset[part]), to_ticks(offset[part])
            shows = (begin > 0) & (end > begin)
            n_rows += int(np.count_nonzero(shows))
            beyond = [self._nearest(times)[1] for times in (begin, end)]
            if not (beyond[0].any() or beyond[1].any()):
                # As tables on this very grid are: nothing is off.
                continue
            off = np.flatnonzero(shows & ((beyond[0] != 0) | (beyond[1] != 0)))
            begin, end = begin[off], end[off]
            distance = np.maximum(np.abs(beyond[0][off]), np.abs(beyond[1][off]))
            near = distance <= self.step.numerator // LEAST_SHARE
            n_near += int(np.count_nonzero(near))
            apart = max(apart, int(distance[near].max(initial=0)))
            count, left = self._nearest(end - begin, rounding=False)
            np.abs(left, out=left)
            at = np.flatnonzero((left != 0) & (left <= self.step.numerator // STEP_SHARE) & (count > 0))
            if len(at):
                stepping.append((file[part][off[at]], begin[at], end[at], left[at], near[at]))
        if stepping:
            files, begin, end, left, near = (np.concatenate(column) for column in zip(*stepping, strict=True))
            key = files.astype(np.int64) * (int(end.max()) + 1)
            meets = np.isin(key + begin, key + end)
            meets |= np.isin(key + end, key + begin)
            drifting = left[meets & ~near]
            n_near += len(drifting)
            apart = max(apart, int(drifting.max(initial=0)))
        return n_rows, n_near, float(apart) / self.step.denominator / TICKS_PER_SECOND

    def _nearest(self, ticks: Ticks, *, rounding: bool = True) -> tuple[Counts, Counts]:
        """Return the edge nearest to each time, and how far beyond it that is, 0 for those on it, (n,).

        rounding: whether times within their rounding of an edge are on it, else just those at it. Distances
        are in parts of a tick, as many as the step's denominator.
        """
        nearest = np.rint(ticks / float(self.step)).astype(np.int64)
        # Both products may be too large for 64 bits; modulo 2^64 their difference is right all the same.
        beyond = nearest * -self.step.numerator
        beyond += ticks if self.step.denominator == 1 else ticks * self.step.denominator
        if rounding:
            self._settle(ticks, beyond)
        return nearest, beyond

    def _settle(self, ticks: Ticks, beyond: Counts) -> None:
        """Set the distance of times that are on an edge to 0."""
        if not beyond.any():
            return
        parts, step = self.step.denominator, self.step
        longest = float(ticks.max(initial=0)) / TICKS_PER_SECOND
        single = float(np.spacing(np.float32(longest))) * TICKS_PER_SECOND / 2 + self._whole
        most = max(single, *self._units(), 0.5)
        limit = int(min(most * parts, max(step.numerator // LEAST_SHARE, parts // 2)))
        if not limit:
            return
        near = np.flatnonzero((beyond != 0) & (beyond <= limit) & (beyond >= -limit))
        if len(near):
            time = ticks[near]
            close = np.abs(beyond[near]) <= np.minimum(self.slack(time) * parts, limit)
            beyond[near[close]] = 0

    def slack(self, ticks: Ticks) -> Floats:
        """Return how many ticks times may lie from an edge to be on it, (n,): what they are rounded by.

        Half a tick; one unit of a time's last decimal, of three to six, where the length of a segment has
        more decimals than the time; and half the distance of neighbours in single precision, and half a tick,
        where the time is a number of single precision (a tick where edges are not whole ticks, which the time
        may have been rounded to before). `LEAST_SHARE` limits what counts of it.
        """
        slack = np.full(len(ticks), 0.5)
        for unit in self._units():
            np.maximum(slack, unit, out=slack, where=ticks % unit == 0)
        single = (ticks / TICKS_PER_SECOND).astype(np.float32)
        written = np.rint(single.astype(np.float64) * TICKS_PER_SECOND) == ticks
        rounded = np.spacing(single).astype(np.float64) * (TICKS_PER_SECOND / 2) + self._whole
        np.maximum(slack, rounded, out=slack, where=written)
        return slack

    @property
    def _whole(self) -> float:
        """How many ticks rounding to ticks can move times in single precision."""
        return 0.5 if self.step.denominator == 1 else 1.0

    def _units(self) -> tuple[int, ...]:
        """Return the units of last decimals, in ticks, in which the length of a segment is not whole."""
        if self.step.denominator > 1:
            return (1, *_UNITS)
        return tuple(unit for unit in _UNITS if self.step.numerator % unit)


# The grid of segments that reference and system share.
#
# Segments of all files lie one after another: segment `k` of file `f` is `start[f] + k` on the
# grid. A file of length T has ceil(T / segment length) segments; its last one may be cut short.


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
