"""Segments of fixed length: their begins and ends, the times in them, and their values.

Edge k is at k times the exact length of a segment: a grid of 1/3 s is as exact after an hour as in its first
second. Times are whole ticks of a table's numbers, and a table writes 1/3 as 0.333, 0.333333 or in single
precision: `Edges.slack` is the distance at which a time is still on an edge.

Segments of all files follow one another: segment `k` of file `f` is `start[f] + k` on the `Grid`. A file of
length T has ceil(T / segment length) segments; its last one may be cut short. `Grid.without` drops segments:
the remaining segments are numbered anew, and keep their times.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sedeval_soft.arrays import (
    Bools,
    Floats,
    Index,
    covered,
    distinct,
    expand,
    for_each,
    range_maximum,
    stretches,
)
from sedeval_soft.errors import EvaluationError, counted
from sedeval_soft.fields import Pool
from sedeval_soft.memory import check_room
from sedeval_soft.tables.event_table import EventTable, Origin, Track
from sedeval_soft.tables.ticks import TICKS_PER_SECOND, Ticks, rounded, to_seconds, to_ticks
from sedeval_soft.timeline.events import Activity

if TYPE_CHECKING:
    from sedeval_soft.timeline.regions import Regions

Codes = npt.NDArray[np.integer[Any]]

# No time is on an edge that is further away than a segment's length divided by the one. Rows are nearly as
# long as some segments if they are not off by more than a segment divided by the other.
LEAST_SHARE, STEP_SHARE = 20, 100

_UNITS = (10, 100, 1000)  # ticks of the last decimal of times with 5, 4 and 3 decimals

# Memory that a segment of a class takes at the most: two values, what is active, and room to work; where
# values are put in order, for curves and correlations, places and ranks, too; where means are taken, where
# each row begins and ends in each segment.
_BYTES_PER_CELL, _BYTES_IN_ORDER, _BYTES_OF_MEANS = 24, 48, 120

# Seconds of a file, and segments of it, up to which each of its segments is looked at.
_LONGEST, _LONG = 30 * 86_400, 1 << 20

_MOST_SEGMENTS = 2.0**62  # that can be counted


class Edges(NamedTuple):
    """The edges of segments.

    step: ticks per segment; settings allow a denominator of 10^6 at the most: products stay in 64 bits.
    """

    step: Fraction

    def at(self, index: Index) -> Ticks:
        """Return the ticks nearest to some edges, the even one of two, any shape."""
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

    def before(self, ticks: Ticks) -> Index:
        """Return the last edge that is not after each time, (n,)."""
        nearest, beyond = self._nearest(ticks)
        return nearest - (beyond < 0)

    def after(self, ticks: Ticks) -> Index:
        """Return the first edge that is not before each time, (n,)."""
        nearest, beyond = self._nearest(ticks)
        return nearest + (beyond > 0)

    def on(self, ticks: Ticks) -> Ticks:
        """Return times, moved onto their edge (as `at` has it) if they are on one, (n,)."""
        nearest, beyond = self._nearest(ticks)
        return np.where(beyond == 0, self.at(nearest), ticks)

    def overlapped(self, onset: Ticks, offset: Ticks) -> tuple[Index, Index]:
        """Return the first segment that each row overlaps, and one past the last, (n,) each.

        A row with an extent overlaps at least one segment: if both ends are on the same edge, within their
        rounding, it overlaps the segment that contains most of it. A row without extent overlaps none.
        """
        first, last = self.before(onset), self.after(offset)
        short = np.flatnonzero((last <= first) | (offset <= onset))
        if len(short):
            first[short] -= onset[short] + offset[short] < 2 * self.at(first[short])
            last[short] = first[short] + (offset[short] > onset[short])
        return first, last

    def until(self, end: Ticks) -> Index:
        """Return the number of segments until each time, (n,): at least one until any but 0."""
        return self.overlapped(np.zeros_like(end), end)[1]

    def near_misses(
        self, file: npt.NDArray[np.int32], onset: Floats, offset: Floats
    ) -> tuple[int, int, float]:
        """Return the number of rows that could show a grid, of rows nearly on this grid, and their distance.

        file, onset, offset: of rows, (n,) each, in seconds; rows that begin with their file show nothing. A
        row is nearly on the grid if both of its ends are within `LEAST_SHARE` of an edge, and not both on
        one. A row is also nearly on the grid, as on a grid that drifts away, if its length is within
        `STEP_SHARE` of some whole segments but not equal, and it touches rows with that property. The
        distance is the maximum, in seconds.
        """
        n_rows, off = 0, []
        within, shortest = self.step.numerator // LEAST_SHARE, float(self.step) / 2
        for part in stretches(len(file)):
            begin, end = to_ticks(onset[part]), to_ticks(offset[part])
            shows = (begin > 0) & (end > begin)
            n_rows += int(np.count_nonzero(shows))
            distance = np.maximum(*(np.abs(self._nearest(times)[1]) for times in (begin, end)))
            shows &= (distance > 0) & ((distance <= within) | (end - begin > shortest))
            at = np.flatnonzero(shows)
            off.append((file[part][at], begin[at], end[at], distance[at]))
        if not any(len(part[0]) for part in off):
            return n_rows, 0, 0.0
        files, begin, end, distance = (np.concatenate(column) for column in zip(*off, strict=True))
        near = distance <= within
        length = end - begin
        steps = np.flatnonzero(length > shortest)
        left = np.abs(self._nearest(length[steps], rounding=False)[1])
        nearly = np.flatnonzero((left != 0) & (left <= self.step.numerator // STEP_SHARE))
        steps, left = steps[nearly], left[nearly]
        key = files[steps].astype(np.int64) * (int(end.max()) + 1)
        begin, end = key + begin[steps], key + end[steps]
        drifting = left[(_among(begin, end) | _among(end, begin)) & ~near[steps]]
        apart = max(int(distance[near].max(initial=0)), int(drifting.max(initial=0)))
        n_near = int(np.count_nonzero(near)) + len(drifting)
        return n_rows, n_near, float(apart) / self.step.denominator / TICKS_PER_SECOND

    def _nearest(self, ticks: Ticks, *, rounding: bool = True) -> tuple[Index, Index]:
        """Return the edge nearest to each time, and the distance beyond it, 0 for times on it, (n,).

        rounding: whether times within their rounding of an edge are on it, else only times exactly at it.
        Distances are in parts of a tick, as many as the step's denominator.
        """
        step, parts = self.step.numerator, self.step.denominator
        nearest = np.rint(ticks / float(self.step)).astype(np.int64)
        # Both products may be too large for 64 bits; modulo 2^64 their difference is right all the same.
        beyond = nearest * -step
        beyond += ticks if parts == 1 else ticks * parts
        if rounding and beyond.any():
            limit = max(step // LEAST_SHARE, parts // 2)
            off = np.abs(beyond)
            near = np.flatnonzero((off <= limit) & (off > 0))
            on = off[near] <= self.slack(ticks[near]) * parts
            beyond[near[on]] = 0
        return nearest, beyond

    def slack(self, ticks: Ticks) -> Floats:
        """Return the distance in ticks at which a time is on an edge, (n,): the rounding of times.

        The largest rounding applies: Half a tick. One unit of a time's last decimal (of three to six), if the
        length of a segment has more decimals than the time. For a time in single precision, half the distance
        of neighbouring numbers plus half a tick (a tick if edges are not whole ticks, to which the time may
        have been rounded before). `LEAST_SHARE` limits the rounding.
        """
        whole = self.step.denominator == 1
        slack = np.full(len(ticks), 0.5)
        for unit in _UNITS if whole else (1, *_UNITS):
            if not whole or self.step.numerator % unit:
                np.maximum(slack, unit, out=slack, where=ticks % unit == 0)
        single = (ticks / TICKS_PER_SECOND).astype(np.float32)
        is_single = np.rint(single.astype(np.float64) * TICKS_PER_SECOND) == ticks
        rounding = np.spacing(single).astype(np.float64) * (TICKS_PER_SECOND / 2) + (0.5 if whole else 1.0)
        np.maximum(slack, rounding, out=slack, where=is_single)
        return slack


def _among(values: Index, others: Index) -> Bools:
    """Return which values are among others, (n,) each: `numpy.isin` imports `numpy.ma`."""
    others = np.sort(others)
    found: Bools = np.searchsorted(others, values, "left") < np.searchsorted(others, values, "right")
    return found


class _Left(NamedTuple):
    """Runs of segments that remain after others were dropped.

    start: (n_files + 1,) the first segment of each file before the drop: `first` counts these segments.
    first: (n_runs,) the first segment of each run. at: (n_runs + 1,) the number of that segment among the
    remaining segments, and their count. A run may go on over the end of a file.
    """

    start: Index
    first: Index
    at: Index

    def number(self, segment: Index) -> Index:
        """Return the number of remaining segments before each of some segments, any shape."""
        run = np.maximum(np.searchsorted(self.first, segment, side="right") - 1, 0)
        if not len(self.first):
            return np.zeros_like(segment)
        number: Index = self.at[run] + np.clip(segment - self.first[run], 0, np.diff(self.at)[run])
        return number

    def segment(self, number: Index) -> Index:
        """Return the original numbers of some remaining segments, any shape."""
        run = np.searchsorted(self.at, number, side="right") - 1
        segment: Index = self.first[run] + (number - self.at[run])
        return segment


class Grid(NamedTuple):
    """Fixed-length segments over files.

    edges: Edges of the segments of any file. length: (n_files,) ticks. start: (n_files + 1,) the first
    segment of each file and the end of the last. evaluated: (n_files,) Evaluated length in ticks, at most
    `length`: scores do not average over segments that begin at its end or later. left: Remaining segments
    after some were dropped. regions: Evaluated regions, None for all.
    """

    edges: Edges
    length: Ticks
    start: Index
    evaluated: Ticks
    left: _Left | None = None
    regions: Regions | None = None

    @classmethod
    def over(cls, length: Ticks, segment: Fraction | int, evaluated: Ticks | None = None) -> Grid:
        """Cover files of the given lengths in ticks, shape (n_files,), with segments.

        evaluated: how much of that is evaluated, (n_files,); None for all of it.
        """
        edges = Edges(Fraction(segment))
        n_segments = edges.until(length)
        if n_segments.sum(dtype=np.float64) > _MOST_SEGMENTS:
            have = "has" if len(length) == 1 else "have"
            raise EvaluationError(
                f"{counted(len(length), 'file')} {have} more segments of "
                f"{float(segment) / TICKS_PER_SECOND:g} s than can be counted; are the times in seconds? "
                "A larger --segment-length gives fewer"
            )
        start = np.append(0, np.cumsum(n_segments))
        return cls(edges, length, start, length if evaluated is None else np.minimum(evaluated, length))

    @property
    def n_segments(self) -> Index:
        """Return the number of segments of each file, shape (n_files,)."""
        return np.diff(self.start)

    @property
    def n_evaluated(self) -> Index:
        """Return the number of evaluated segments of each file, its first ones, shape (n_files,)."""
        n_evaluated = self.edges.until(self.evaluated)
        if self.left is None:
            return n_evaluated
        return self.left.number(self.left.start[:-1] + n_evaluated) - self.start[:-1]

    def without(self, first: Index, last: Index) -> Grid:
        """Return the grid without some ranges of segments, which may overlap and need no order.

        first, last: (n,) the first segment of each range and one past its last, as `cells` has them. Time in
        dropped segments is nowhere on the grid then, and is neither counted nor kept.
        """
        some = last > first
        if not some.any():
            return self
        left = self.left or _Left(self.start, np.zeros(1, dtype=np.int64), np.array([0, self.size]))
        # Between two cuts all segments are dropped or none, and none was before.
        cuts = distinct(np.concatenate((left.at, first[some], last[some])))
        change = np.zeros(len(cuts), dtype=np.int64)
        np.add.at(change, np.searchsorted(cuts, first[some]), 1)
        np.subtract.at(change, np.searchsorted(cuts, last[some]), 1)
        stays = np.flatnonzero(np.cumsum(change)[:-1] == 0)
        at = np.append(0, np.cumsum(np.diff(cuts)[stays]))
        left = _Left(left.start, left.segment(cuts[stays]), at)
        return self._replace(start=left.number(left.start), left=left)

    def within(self, regions: Regions) -> Grid:
        """Return the grid without segments that no region overlaps; its rows are the rows in the regions."""
        on = regions.moved(self.edges.on)
        first, last = self.cells(on.file.astype(np.int32), on.begin, on.end)
        grid = self.without(np.append(0, last), np.append(first, self.size))
        return grid._replace(regions=on)

    def extent(self, cell: Index) -> Ticks:
        """Return how much of some segments is evaluated, in ticks, (n,)."""
        file, begin, end = self.spans(cell)
        if self.regions is None:
            return end - begin
        return self.regions.within(file, begin, end)

    def place(self, segment: Index, file: Codes | None = None) -> Index:
        """Return the position of each segment in its file, from 0, dropped segments included, (n,)."""
        if file is None:
            file = np.searchsorted(self.start, segment, side="right") - 1
        if self.left is None:
            return segment - self.start[file]
        return self.left.segment(segment) - self.left.start[file]

    @property
    def apart(self) -> Bools | None:
        """Return which segments do not follow the segment before, (n,); None if none was dropped."""
        if self.left is None:
            return None
        apart: Bools = np.diff(self.place(np.arange(self.size)), prepend=-1) != 1
        return apart

    def runs(self) -> tuple[Codes, Ticks, Ticks]:
        """Return runs of segments that follow one another: file, begin and end in ticks, (n_runs,) each."""
        first = self.start[:-1] if self.left is None else np.append(self.start[:-1], self.left.at[:-1])
        first = distinct(first[first < self.size])
        file, begin, _ = self.spans(first)
        return file, begin, self.spans(np.append(first, self.size)[1:] - 1, file)[2]

    @property
    def size(self) -> int:
        """Return the number of segments of all files together."""
        return int(self.start[-1])

    def check_size(self, n_classes: int, *, in_order: bool = False, means: bool = False) -> None:
        """Refuse a grid beyond memory, or a file of more than a month; raises EvaluationError.

        in_order: whether the values of all segments will be put in order. means: whether means are taken.
        """
        per_cell = _BYTES_OF_MEANS if means else _BYTES_IN_ORDER if in_order else _BYTES_PER_CELL
        longest = int(self.length.max(initial=0)) / TICKS_PER_SECOND
        segments = counted(self.size, "segment")
        fix = (
            "Are the times in seconds? A larger --segment-length gives fewer, --only segment.hard needs none"
        )
        check_room(
            float(self.size) * max(n_classes, 1) * per_cell,
            f"{segments} x {counted(n_classes, 'class')} (the longest file has {longest:g} s)",
            fix,
        )
        if longest > _LONGEST and self.n_segments.max() > _LONG:
            raise EvaluationError(
                f"looking at each of {segments} would take minutes (the longest file has "
                f"{longest // 86_400:g} days, {longest:g} s). {fix}"
            )

    def spans(self, cell: Index, file: Codes | None = None) -> tuple[Codes, Ticks, Ticks]:
        """Return the file of some segments, and their begin and end in it, in ticks; (n,) each.

        The last segment of a file ends with the file, and the last evaluated segment ends with the evaluated
        length, even if the file goes on. file: the files of the segments, if known.
        """
        if file is None:
            file = np.searchsorted(self.start, cell, side="right") - 1
        place = self.place(cell, file)
        begin, end = self.edges.at(place), self.edges.at(place + 1)
        evaluated, length = self.edges.on(self.evaluated)[file], self.edges.on(self.length)[file]
        return file, begin, np.minimum(end, np.where(begin < evaluated, evaluated, length))

    def cells(self, file: npt.NDArray[np.int32], onset: Ticks, offset: Ticks) -> tuple[Index, Index]:
        """Return the segments that rows overlap, as first and one past the last, each (n,).

        A row that only touches a segment's edge does not overlap it, and a row without extent overlaps none.
        A row with an extent within its file overlaps at least one. The parts of rows after a file's last
        segment, or in a dropped segment, are cut off.
        """
        start = self.start if self.left is None else self.left.start
        n_segments = np.diff(start)
        first, last = np.empty(len(onset), dtype=np.int64), np.empty(len(onset), dtype=np.int64)

        def locate(part: slice) -> None:
            # What there is of the only file need not be repeated for each row.
            of_rows = file[part] if len(n_segments) > 1 else slice(None)
            most, base = n_segments[of_rows], start[:-1][of_rows]
            begin, end = self.edges.overlapped(onset[part], offset[part])
            # The end of a file may be on the edge that a row before it begins at.
            inside = (begin < end) & (offset[part] <= self.length[of_rows])
            begin, end = np.minimum(begin, most - inside), np.minimum(end, most)
            np.add(begin, base, out=first[part])
            np.add(end, base, out=last[part])

        for_each(locate, stretches(len(onset)), len(onset) + len(offset))
        return (first, last) if self.left is None else (self.left.number(first), self.left.number(last))


def pool_rows(rows: EventTable, grid: Grid, pool: Pool) -> Floats:
    """Return the values of all segments of all classes, shape (n_classes, n_segments).

    With `pool="max"` a segment takes the largest value of the rows that overlap it, as in sed_scores_eval
    and, for binary labels, in sed_eval. With `pool="mean"` it takes the time-weighted mean, time without any
    row counting 0; the last segment of a file is weighted over the part inside the grid's length. Classes
    come first so that each class is contiguous: everything downstream works class by class.
    """
    spans = rows.spans()
    if pool == "max":
        return maxima(rows, *grid.cells(spans.file, spans.onset, spans.offset), grid.size)
    values = np.zeros((len(rows.classes), grid.size))
    onset, offset = grid.edges.on(spans.onset), grid.edges.on(spans.offset)
    # A row both of whose ends are on one edge keeps them.
    lasts = offset > onset
    times = np.where(lasts, onset, spans.onset), np.where(lasts, offset, spans.offset)
    spans = spans._replace(onset=times[0], offset=times[1])
    out = values.reshape(-1)
    for track in rows.tracks():
        # Means are the same however time is cut into rows, and in whatever order: rounding breaks no ties.
        pieces = Activity.of_track(spans, track).merged()
        piece, cell = expand(*grid.cells(pieces.file, pieces.onset, pieces.offset))
        begin, end = grid.spans(cell, pieces.file[piece])[1:]
        extent = end - begin if grid.regions is None else grid.extent(cell)
        overlap = np.minimum(pieces.offset[piece], end) - np.maximum(pieces.onset[piece], begin)
        flat = pieces.label[piece] * np.int64(grid.size) + cell
        value = pieces.value[piece]
        # Whole ticks are summed before the division, so that binary pieces give exact means; a piece
        # that fills its segment hands its value on untouched.
        filled = overlap == extent
        out[flat[filled]] = value[filled]
        # A piece may lie beyond the end of its file, in a segment that the file still reaches.
        part = ~filled & (overlap > 0)
        np.add.at(out, flat[part], value[part] * overlap[part])
        touched = distinct(flat[part])
        out[touched] = rounded(out[touched]) / grid.extent(touched % grid.size)
    return values


def maxima(rows: EventTable, first: Index, last: Index, size: int) -> Floats:
    """Return for each class the largest value of the rows that cover each of `size` cells, (n_classes, size).

    first, last: (n,) the first cell of each row, and one past its last.
    """
    if rows.label is not None:
        base = rows.label * np.int64(size)
        first, last = first + base, last + base
    # Which cells rows cover is the same for all classes.
    in_one = bool(np.all(last - first == 1))
    one_each = in_one and bool(np.all(first[1:] > first[:-1]))
    if one_each and rows.has_steps and len(first) == size and rows.block is not None:
        return rows.block
    values = np.zeros((len(rows.classes), size))
    # Copying contiguous values takes a third of the time.
    together = one_each and len(first) and last[-1] - first[0] == len(first)
    places = slice(first[0], last[-1]) if together else first

    def fill(track: Track) -> None:
        classes, value = track
        out = values[classes.start : classes.stop].reshape(-1)
        if value is None:
            out[:] = covered(len(out), first, last)
        elif one_each:
            out[places] = value
        elif in_one:
            np.maximum.at(out, first, value)
        else:
            out[:] = range_maximum(len(out), first, last, value)

    for_each(fill, rows.tracks(), values.size)
    return values


def rows_of(
    values: Floats, grid: Grid, files: tuple[str, ...], classes: tuple[str, ...], origin: Origin
) -> EventTable:
    """Return values of segments as rows of a segment each, by file, segment and class; 0 has no row.

    values: (n_classes, n_segments). `pool_rows` restores the values from these rows.
    """
    segment, label = np.nonzero(values.T)
    file, onset, offset = grid.spans(segment)
    # A row that ends later than its file would make that longer.
    offset = np.minimum(offset, grid.length[file])
    codes = file.astype(np.int32), label.astype(np.int32)
    times, values = (to_seconds(onset), to_seconds(offset)), values[label, segment]
    return EventTable(files, classes, codes[0], *times, (values,), origin, codes[1])
