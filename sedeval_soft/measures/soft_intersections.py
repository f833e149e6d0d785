"""The soft reading of intersections: counts of both alpha-cuts, integrated over all levels, exactly.

At each level a the events of the reference where y >= a are held against those of the system where p >= a.
For activities, whose events are nested, one class of all files is laid out as cells of constant y and p:

- A detection passes the DTC up to a level: the cover of its time by the reference shrinks as a grows. That
  level is a weighted quantile of y over its cells.
- A reference event lies within one detection up to the lowest p in it. There it is found where that
  detection passes; how many levels of detections around a cell pass is a sum over nested intervals.
- Above, detections cover parts of it. How much those cover that pass changes only at levels where one of
  them with an end strictly inside is born or ceases to pass, and is a sum over rectangles at the first one.

So all takes n log n steps for n cells, however the events are nested. Events that are not nested (rows that
are events) are held against one another pair by pair; what several of one side cover counts once. No other
tool has this reading; on labels of 0 and 1 it is the hard one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sedeval_soft.arrays import Array, Bools, Floats, Index
from sedeval_soft.measures.detection import DetectionCounts
from sedeval_soft.measures.event import file_class, sum_groups
from sedeval_soft.measures.intersections import (
    Criteria,
    detected,
    enough,
    in_union,
    overlapping,
    required,
    spans,
)
from sedeval_soft.sorting import distinct, order_of
from sedeval_soft.tables.ticks import Ticks
from sedeval_soft.timeline.events import Activity, EventLifetimes, level_runs
from sedeval_soft.timeline.ranges import Pyramid, expand, numbered

# Sums over nested levels are taken in whole numbers of 1 / _UNIT, in which differences are exact.
_UNIT = float(2**62)


def count_soft_activities(
    reference: Iterator[Activity], system: Iterator[Activity], n_files: int, criteria: Criteria
) -> DetectionCounts:
    """Integrate found events and false positives over all levels, per file and class.

    reference, system: the activity of each class, one after another.
    """
    columns = [_count_class(y, p, n_files, criteria) for y, p in zip(reference, system, strict=True)]
    shape = (n_files, len(columns))
    tp, n_ref, fp = (np.array([c[i] for c in columns]).T.reshape(shape) for i in range(3))
    return detected(tp, n_ref, fp)


def count_soft_pairs(
    reference: EventLifetimes, system: EventLifetimes, n_files: int, n_classes: int, criteria: Criteria
) -> DetectionCounts:
    """Count as `count_soft_activities` does where events may overlap or touch, pair by pair."""
    reference, system = reference.lasting(), system.lasting()
    ours, theirs = file_class(reference, n_classes), file_class(system, n_classes)
    by_dtc = required(criteria.dtc, system.offset - system.onset)
    by_gtc = required(criteria.gtc, reference.offset - reference.onset)
    covers, groups = in_union(reference, ours)
    passing, begins, ends = enough(*_shared(covers, groups, system, theirs)[1:], by_dtc)
    helpful = replace(system.take(passing), born=begins, dies=ends)
    pieces, pieces_of = in_union(helpful, theirs[passing])
    left, _, low, high, share = _shared(reference, ours, pieces, pieces_of)
    found, low, high = enough(left, low, high, share, by_gtc)
    shape = (n_files, n_classes)
    n_ref = sum_groups(ours, reference.dies - reference.born, shape)
    tp = sum_groups(ours[found], high - low, shape)
    passed = np.bincount(passing, ends - begins, minlength=len(system))
    fp = sum_groups(theirs, np.maximum(system.dies - system.born - passed, 0.0), shape)
    return detected(np.minimum(tp, n_ref), n_ref, fp)


def _shared(
    reference: EventLifetimes, ours: Index, system: EventLifetimes, theirs: Index
) -> tuple[Index, Index, Floats, Floats, Index]:
    """Return who overlap, at which levels born < a <= dies they do, and how many ticks they share."""
    left, right = overlapping(reference, system, ours, theirs)
    low = np.maximum(reference.born[left], system.born[right])
    high = np.minimum(reference.dies[left], system.dies[right])
    some = low < high
    left, right = left[some], right[some]
    begin = np.maximum(reference.onset[left], system.onset[right])
    share = np.minimum(reference.offset[left], system.offset[right]) - begin
    return left, right, low[some], high[some], share


@dataclass(frozen=True, slots=True)
class Cells:
    """Stretches of time in which both activities are constant, file after file.

    file: (n,) codes. width: (n,) ticks. place: (n,) the sum of the widths before each. y, p: (n,) the values
    of the first and of the second activity. A wall of no width and value 0 stands before each file and at
    the end.
    """

    file: Index
    width: Index
    place: Index
    y: Floats
    p: Floats

    @classmethod
    def of(cls, y: Activity, p: Activity) -> Cells:
        """Cut two activities of one class at each other's boundaries."""
        file = np.concatenate((y.file, y.file, p.file, p.file)).astype(np.int64)
        # Boundary k opens cell k + 1. The last boundary of a file becomes the wall before the next one; one
        # more wall opens the first.
        boundary, file, time = numbered(file, np.concatenate((y.onset, y.offset, p.onset, p.offset)))
        ends = np.split(boundary, np.cumsum((len(y), len(y), len(p))))
        width = np.zeros(len(file) + 1, dtype=np.int64)
        width[1:-1] = np.where(np.diff(file) != 0, 0, np.diff(time))
        values = np.zeros((2, len(width)))
        for activity, first, last, value in ((y, *ends[:2], values[0]), (p, *ends[2:], values[1])):
            piece, at = expand(first, last)
            value[at + 1] = activity.value[piece]
        return cls(np.append(0, file), width, np.cumsum(width) - width, *values)


@dataclass(frozen=True, slots=True)
class Runs:
    """The events of one activity over cells: runs of values above something, each for born < a <= dies.

    first, last: (n,) the first cell and one past the last. length: (n,) ticks. around: for searches.
    """

    first: Index
    last: Index
    born: Floats
    dies: Floats
    length: Ticks
    around: Pyramid
    mirrored: Pyramid
    key: Index
    order: Index

    def __len__(self) -> int:
        """Return the number of events."""
        return len(self.first)

    @classmethod
    def of(cls, cells: Cells, values: Floats) -> Runs:
        """Find the runs of values of cells, (n,)."""
        slot, left, right = level_runs(values)
        sounding = values[slot] > 0
        slot, left, right = slot[sounding], left[sounding], right[sounding]
        key = left * len(values) + right
        order = order_of(key)
        levels = np.maximum(values[left], values[right]), values[slot]
        length = cells.place[right] - cells.place[left + 1]
        searches = Pyramid(values), Pyramid(values[::-1])
        return cls(left + 1, right, *levels, length, *searches, key[order], order)

    def at(self, cell: Index, level: Floats, *, above: bool) -> Index:
        """Return the event around each cell that exists at a level, or just above it if `above`, (n,).

        The value of the cell must be at least the level, or above it.
        """
        n = len(self.around.levels[0])
        left = self.around.before(cell, level, or_equal=above)
        right = n - 1 - self.mirrored.before(n - 1 - cell, level, or_equal=above)
        return self.order[np.searchsorted(self.key, left * n + right)]


def _count_class(y: Activity, p: Activity, n_files: int, criteria: Criteria) -> tuple[Floats, Floats, Floats]:
    """Return TP, N_ref and FP of one class, (n_files,)."""
    cells = Cells.of(y, p)
    events, detections = Runs.of(cells, cells.y), Runs.of(cells, cells.p)
    needed = required(criteria.dtc, detections.length)
    level = highest_level(cells.y, cells.width, detections.first, detections.last, needed)
    top = np.maximum(np.minimum(detections.dies, level), detections.born)
    found = np.zeros(len(events))
    if len(events) and len(detections):
        lowest = detections.around.minimum(events.first, events.last)
        found += _within(events, detections, top, lowest)
        found += _in_parts(cells, events, detections, top, lowest, criteria.gtc)
    life = events.dies - events.born
    sums = (
        (events.first, np.minimum(found, life)),
        (events.first, life),
        (detections.first, detections.dies - top),
    )
    tp, n_ref, fp = (np.bincount(cells.file[cell], values, minlength=n_files) for cell, values in sums)
    return tp.astype(np.float64), n_ref.astype(np.float64), fp.astype(np.float64)


def _within(events: Runs, detections: Runs, top: Floats, lowest: Floats) -> Floats:
    """Return for how many levels each event lies within one detection that passes, (n,).

    top: up to which level each detection passes, its birth if never. lowest: the lowest p within each event.
    """
    upper = np.minimum(events.dies, lowest)
    inside = np.flatnonzero(upper > events.born)
    cell, low, high = events.first[inside], events.born[inside], upper[inside]
    below, above = detections.at(cell, low, above=True), detections.at(cell, high, above=False)
    whole = np.minimum(high, top[below]) - np.maximum(low, detections.born[below])
    # Where it is not one detection for all levels: what passes of the lowest, of the highest, and between.
    passing = np.rint(top * _UNIT).astype(np.int64) - np.rint(detections.born * _UNIT).astype(np.int64)
    under = _sums_around(detections, passing)
    between = (under[above] - under[below] - passing[below]) / _UNIT
    ends = np.maximum(top[below] - np.maximum(low, detections.born[below]), 0.0) + np.maximum(
        np.minimum(high, top[above]) - detections.born[above], 0.0
    )
    found = np.zeros(len(events))
    found[inside] = np.where(below == above, np.maximum(whole, 0.0), between + ends)
    return found


def _sums_around(runs: Runs, weight: Index) -> Index:
    """Return for each run the sum of the weights of all larger runs around it, (n,)."""
    order = order_of(runs.last.max(initial=0) - runs.last, runs.first)
    begun = np.empty(len(runs), dtype=np.int64)
    begun[order] = np.cumsum(weight[order]) - weight[order]
    by_end = order_of(runs.last)
    ended = np.concatenate(([0], np.cumsum(weight[by_end])))
    sums: Index = begun - ended[np.searchsorted(runs.last[by_end], runs.first, side="right")]
    return sums


def _in_parts(
    cells: Cells, events: Runs, detections: Runs, top: Floats, lowest: Floats, gtc: float
) -> Floats:
    """Return for how many levels passing detections that do not hold an event cover enough of it, (n,)."""
    start = np.maximum(events.born, lowest)
    split = np.flatnonzero(start < events.dies)
    helpful = np.flatnonzero(top > detections.born)
    found = np.zeros(len(events))
    if not len(split) or not len(helpful):
        return found
    # What detections cover just above `start`. The length of one before x is (x - onset) - (x - offset), each
    # where it is above 0.
    first, last = (cells.place[bound[helpful]] for bound in (detections.first, detections.last))
    levels = np.repeat([detections.born[helpful], top[helpful]], 2, axis=0).ravel()
    places = np.concatenate((first, last, first, last))
    sign = np.repeat([1, -1, -1, 1], len(helpful))
    ends = np.concatenate([cells.place[bound[split]] for bound in (events.first, events.last)])
    asked = np.tile(start[split], 2), ends
    count, moment = sums_below((levels, places), [sign, sign * places], asked)
    before = count * ends - moment
    begins = before[len(split) :] - before[: len(split)]
    event, level, change = _changes(cells, events, detections, top, helpful, start)
    total = np.bincount(event, change, minlength=len(events))[split].astype(np.int64) + begins
    event = np.concatenate((split, event, split))
    level = np.concatenate((start[split], level, events.dies[split]))
    change = np.concatenate((begins, change, -total))
    index, low, high = spans(event, level, change, required(gtc, events.length))
    np.add.at(found, index, high - low)
    return found


def _changes(
    cells: Cells, events: Runs, detections: Runs, top: Floats, helpful: Index, start: Floats
) -> tuple[Index, Floats, Index]:
    """Return at which levels above `start` the cover of which events by detections changes by how much.

    Only detections with an end strictly inside an event that lives there are looked at.
    """
    first, last = (np.tile(bound[helpful], 2) for bound in (detections.first, detections.last))
    level = np.concatenate((detections.born[helpful], top[helpful]))
    sign = np.repeat([1, -1], len(helpful))
    held = []
    for cell in (first, last):
        # An end is strictly inside an event if the cells on both sides of it are.
        within = (cells.y[cell - 1] > level) & (cells.y[cell] > level)
        event = np.full(len(cell), -1, dtype=np.int64)
        event[within] = events.at(cell[within], level[within], above=True)
        event[within] = np.where(level[within] > start[event[within]], event[within], -1)
        held.append(event)
    held[1] = np.where(held[1] == held[0], -1, held[1])
    changes = []
    for event in held:
        inside = np.flatnonzero(event >= 0)
        whole = event[inside]
        end = cells.place[np.minimum(last[inside], events.last[whole])]
        shared = end - cells.place[np.maximum(first[inside], events.first[whole])]
        changes.append((whole, level[inside], sign[inside] * shared))
    event, levels, change = (np.concatenate(column) for column in zip(*changes, strict=True))
    return event, levels, change


# Weighted quantiles of ranges, and sums over points below and to the left of others, many at once: a wavelet
# tree (Grossi, Gupta & Vitter 2003) of arrays, from its root down.


def _halved(rank: Index, columns: Sequence[Index]) -> Iterator[tuple[int, Index, list[Index]]]:
    """Yield each level of a tree: its bit, and by place the ranks before it that have it, and their sums.

    rank, columns: (n,). In the next level what has the bit stands after what has not. Ranks are taken twice
    and one more, so that in the last level all that is left has the bit.
    """
    rank, columns = 2 * rank + 1, list(columns)
    for bit in range(int(rank.max(initial=0)).bit_length() - 1, -1, -1):
        one = (rank >> bit) & 1 == 1
        sums = [np.append(0, np.cumsum(np.where(one, column, 0))) for column in columns]
        yield bit, np.append(0, np.cumsum(one)), sums
        order = np.concatenate((np.flatnonzero(~one), np.flatnonzero(one)))
        rank, columns = rank[order], [column[order] for column in columns]


def _next(place: Index, ones: Index, up: Bools) -> Index:
    """Return where places stand in the next level, of what has the bit where `up`."""
    return np.where(up, len(ones) - 1 - ones[-1] + ones[place], place - ones[place])


def highest_level(values: Floats, weight: Index, first: Index, last: Index, needed: Index) -> Floats:
    """Return for each range the highest level that enough of it reaches, (m,).

    values, weight: (n,) cells, values at least 0. first, last: (m,) ranges, `last` excluded. needed: (m,) at
    least 1. The level is the largest value v of the range such that its cells with values of at least v weigh
    at least `needed`; 0 where all together weigh less.
    """
    distinct, rank = np.unique(values, return_inverse=True)
    low, high, missing, level = first, last, needed, np.zeros(len(first), dtype=np.int64)
    for bit, ones, (weights,) in _halved(rank.astype(np.int64), [weight]):
        heavy = weights[high] - weights[low]
        up = heavy >= missing
        missing = missing - np.where(up, 0, heavy)
        level += np.where(up, 1 << bit, 0)
        low, high = _next(low, ones, up), _next(high, ones, up)
    reached: Floats = np.where(level % 2 == 1, distinct[np.minimum(level // 2, len(distinct) - 1)], 0.0)
    return reached


def sums_below(
    points: tuple[Array, Array], weights: Sequence[Index], questions: tuple[Array, Array]
) -> list[Index]:
    """Return for each question the sum of each weight over points with y <= its y and x <= its x.

    points, questions: pairs (y, x) of arrays, (n,) and (m,). weights: arrays (n,). Sums may wrap around.
    Returns as many arrays (m,).
    """
    # The lowest points have the highest ranks; questions are of those from some rank on. Points between the
    # same questions have one rank, and those above all of them none.
    depth = distinct(-questions[0])
    some = np.flatnonzero(points[0] <= -depth[0])
    order = some[np.argsort(points[1][some], kind="stable")]
    rank = np.searchsorted(depth, -points[0][order], side="right") - 1
    least = np.searchsorted(depth, -questions[0])
    low = np.zeros(len(least), dtype=np.int64)
    high = np.searchsorted(points[1][order], questions[1], side="right") * (least <= rank.max(initial=-1))
    sums = [low.copy() for _ in weights]
    for bit, ones, running in _halved(rank, [weight[order] for weight in weights]):
        up = (2 * least >> bit) & 1 == 1
        sums = [
            total + np.where(up, 0, of_ones[high] - of_ones[low])
            for total, of_ones in zip(sums, running, strict=True)
        ]
        low, high = _next(low, ones, up), _next(high, ones, up)
    return sums
