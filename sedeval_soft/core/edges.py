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

from sedeval_soft.core.ranges import stretches
from sedeval_soft.core.ticks import TICKS_PER_SECOND, Ticks, to_ticks

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

LEAST_SHARE = 20
"""No time is on an edge that is further away than a segment's length divided by this."""

STEP_SHARE = 100
"""Rows are nearly as long as some segments if they are not off by more than a segment divided by this."""

_UNITS = (10, 100, 1000)
"""Ticks of the last decimal of times with 5, 4 and 3 decimals."""

MOST_PARTS = 10**6
"""The most parts of a tick in which the length of a segment is whole: products of them stay in 64 bits."""


@dataclass(frozen=True, slots=True)
class Edges:
    """The edges of segments. step: ticks per segment, a denominator of `MOST_PARTS` at the most."""

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
