"""PSDS against a soft reference: its mean over all levels of the reference, exactly.

Between two levels at which an event of a class is born or dies the cut of the class does not change. There
may be as many such levels as values, and at each all thresholds of the system count. So blocks of levels are
looked at as a whole. What a threshold finds at any level of a block has bounds:

- A detection passes the DTC up to a level: the cover of its time by the reference shrinks as that grows. One
  whose level lies within the block may be a false positive in it; one whose level lies below it is one for
  good.
- Events of a block that lie within one another are looked at as one. It is found for sure where detections
  that pass at all levels cover enough of what is left of it at the last one, were it as long as the longest
  of them. It may be found where detections that pass at some level cover enough of the longest one for the
  shortest. An event that is there at all levels, and all whose detections pass at all levels or at none, is
  found or not found for good: it is not looked at again.

A threshold that may not find more than what is found for sure with as few false positives is left out. Where
none is left, the PSD-ROC is the same at all levels of the block. Else its halves are looked at, and so on: a
block of one level leaves nothing in doubt. All blocks of one size are looked at together. Where cross
triggers count, their weights change with the reference of each class: there all blocks are halved down to
single levels, with the few thresholds that are left.

So time is spent where PSD-ROCs change. Where that would still take too long, blocks are not halved any more:
one level in the middle stands for each, and what is found for sure, and what may be found at most, bound what
that leaves out (docs/explanations/lifetimes.md, statement 7, has the proof).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np

from sedeval_soft.arrays import Array, Bools, Floats, Index
from sedeval_soft.measures.base import ratio
from sedeval_soft.measures.event import file_class
from sedeval_soft.measures.ignored import level_covered, level_mostly
from sedeval_soft.measures.intersections import Criteria, Judged, enough, found_when, in_turn, required
from sedeval_soft.measures.psd_roc import HOUR, Rates, areas, combined, rising
from sedeval_soft.sorting import distinct, heads, order_of
from sedeval_soft.tables.ticks import TICKS_PER_SECOND, Ticks
from sedeval_soft.threads import for_each
from sedeval_soft.timeline.events import EventLifetimes
from sedeval_soft.timeline.ranges import expand, numbered

_AT_ONCE = 1 << 18
"""Rows that are looked at at a time, about."""

_MOST = 1 << 31
"""Rows that are looked at altogether, about: several minutes."""

_BINS = 1024
"""Bins of the eFPR where cross triggers count."""


@dataclass(frozen=True, slots=True)
class Against:
    """A class against all levels of its reference; levels and thresholds are numbered from 0.

    events, system: those of the class that last. place, their_place: (2, n) where onsets and offsets stand in
    the order of all `n_times` of all files. alive, lives: (2, n) from which level on each event is there, and
    from which threshold on each detection, and up to which, excluded. helps: (2, n_sys) the levels at which
    each detection passes the DTC, likewise. apart: whether events of one level never overlap, nor detections
    of one threshold, and each event lies in one of the level before.
    wrong, row, between: detections, (n,), to which row of counts each adds, false positives, 0, or cross
    triggers, (n,), and at which levels, (2, n).
    """

    events: EventLifetimes
    system: EventLifetimes
    n_times: int
    place: Index
    their_place: Index
    alive: Index
    lives: Index
    helps: Index
    apart: bool
    wrong: Index
    row: Index
    between: Index


class Held(NamedTuple):
    """What may still change in blocks of levels: events, detections, or what these add to counts.

    block, thing: (n,), by block. begin, end: (n,) from which of the thresholds that are left on it lives, and
    up to which, excluded.
    """

    block: Index
    thing: Index
    begin: Index
    end: Index

    def take(self, at: Index) -> Held:
        """Return those at some positions."""
        return Held(*(column.take(at) for column in self))

    def moved(self, n_blocks: int, n_left: int) -> Held:
        """Return the same behind so many blocks and thresholds."""
        return Held(self.block + n_blocks, self.thing, self.begin + n_left, self.end + n_left)


class Blocks(NamedTuple):
    """Blocks of levels, and what is known of them.

    first, end: (n,) levels. since: (n,) from which level on what is found there holds. room: (n,) rows that
    may be looked at in each. slack: (n,) by how many events, on the average over the eFPR, what is found
    there may be off. floor: (n, n_bins) how many events are found for sure with an eFPR of a bin, or less.
    block: (n_left,) of the thresholds that are left, ascending. counts: (n_rows, n_left) false positives and
    cross triggers for good. found: (n_left,) events found for good. wrong, lives, events: what may change.
    """

    first: Index
    end: Index
    since: Index
    room: Floats
    slack: Floats
    floor: Index
    block: Index
    counts: Index
    found: Index
    wrong: Held
    lives: Held
    events: Held

    @classmethod
    def whole(cls, of: Against, weights: Weights, room: float) -> Self:
        """Return all levels as one block."""
        n_left, n_rows = int(of.lives.max(initial=0)), len(weights.weight)
        one, left = np.zeros(1, dtype=np.int64), np.zeros(n_left, dtype=np.int64)
        wrong, lives, events = (
            Held(np.zeros(spans.shape[1], dtype=np.int64), np.arange(spans.shape[1]), *spans)
            for spans in (of.lives[:, of.wrong], of.lives, np.tile([[0], [n_left]], len(of.events)))
        )
        floor, counts = (np.zeros(shape, dtype=np.int64) for shape in ((1, weights.n_bins), (n_rows, n_left)))
        return cls(
            one, one + weights.weight.shape[1], one, np.full(1, room), np.zeros(1), floor, left, counts, left,
            wrong, lives.take(np.flatnonzero(of.helps[1])), events,
        )  # fmt: skip

    @classmethod
    def joined(cls, parts: Sequence[Blocks]) -> Blocks:
        """Return the blocks of all parts, at least one."""
        n_blocks, n_left = np.cumsum(
            [(len(part.first), len(part.block)) for part in parts], axis=0
        ).T.tolist()
        moved = [parts[0]]
        moved += [part.moved(*sizes) for part, *sizes in zip(parts[1:], n_blocks, n_left, strict=False)]
        columns: list[Any] = []
        for name, column in zip(cls._fields, zip(*moved, strict=True), strict=True):
            if name in ("wrong", "lives", "events"):
                columns.append(Held(*map(np.concatenate, zip(*column, strict=True))))
            else:
                columns.append(np.concatenate(column, axis=1 if name == "counts" else 0))
        return cls(*columns)

    def moved(self, n_blocks: int, n_left: int) -> Blocks:
        """Return the same behind so many blocks and thresholds."""
        wrong, lives, events = (of.moved(n_blocks, n_left) for of in (self.wrong, self.lives, self.events))
        return self._replace(block=self.block + n_blocks, wrong=wrong, lives=lives, events=events)

    def sizes(self) -> Index:
        """Return how many rows there are of each block, (n,)."""
        columns = (self.block, self.wrong.block, self.lives.block, self.events.block)
        of_floor = np.full_like(self.first, self.floor.shape[1])
        return sum((np.bincount(of, minlength=len(self.first)) for of in columns), of_floor)

    def parted(self) -> Iterator[Blocks]:
        """Yield some blocks at a time."""
        upto = np.cumsum(self.sizes())
        edges = [*np.flatnonzero(np.diff(upto // _AT_ONCE, prepend=-1)).tolist(), len(upto)]
        for begin, end in pairwise(edges):
            first, last = np.searchsorted(self.block, (begin, end)).tolist()
            held = []
            for of in (self.wrong, self.lives, self.events):
                some = slice(*np.searchsorted(of.block, (begin, end)).tolist())
                held.append(Held(*(column[some] for column in of)))
            columns: list[Any] = [*(column[begin:end] for column in self[:6]), self.block[first:last]]
            columns += [self.counts[:, first:last], self.found[first:last], *held]
            yield Blocks(*columns).moved(-begin, -first)

    def within(self, of: Against, left: Bools, first: Index, end: Index) -> Blocks:
        """Return the levels from `first` to `end`, (n,), of blocks that have thresholds left."""
        at, place = np.flatnonzero(left), np.append(0, np.cumsum(left))
        block = self.block.take(at)
        kept = block.take(heads(block))
        number, of_blocks = np.zeros(len(self.first), dtype=np.int64), (first, end, *self[2:6])
        number[kept] = np.arange(len(kept))

        def held(those: Held, levels: Index) -> Held:
            begin, last = place.take(those.begin), place.take(those.end)
            since, until = levels.take(those.thing, axis=1)
            inside = (since < end.take(those.block)) & (until > first.take(those.block))
            some = np.flatnonzero((begin < last) & inside)
            return Held(number.take(those.block), those.thing, begin, last).take(some)

        columns: list[Any] = [column.take(kept, axis=0) for column in of_blocks]
        columns += [number.take(block), self.counts.take(at, axis=1), self.found.take(at)]
        columns += [held(self.wrong, of.between), held(self.lives, of.helps), held(self.events, of.alive)]
        return Blocks(*columns)

    def over(self, begin: Index, end: Index, amount: Index | None = None) -> Index:
        """Return how many live at each threshold, (n_left,); begin, end, amount: (n,), how many each is."""
        n = len(self.block) + 1
        change = np.bincount(begin, amount, n) - np.bincount(end, amount, n)
        return np.cumsum(change)[:-1].astype(np.int64)

    def in_rows(self, held: Held, row: Index) -> Index:
        """Return how many of each row of counts live at each threshold, (n_rows, n_left)."""
        n_rows, n = len(self.counts), len(self.block) + 1
        change = np.zeros(n_rows * n, dtype=np.int64)
        for place, sign in ((held.begin, 1), (held.end, -1)):
            change += sign * np.bincount(row * n + place, minlength=len(change))
        sums: Index = np.cumsum(change.reshape(n_rows, n), axis=1)[:, :-1]
        return sums

    def undominated(self, left: Bools) -> Bools:
        """Return the thresholds that are left, without those that find no more than one beside them.

        Between two neighbours what may change must be the same, and the other may not have fewer counts.
        """
        changes = np.zeros(len(self.block) + 1, dtype=np.int64)
        for held in (self.wrong, self.lives, self.events):
            changes[held.begin] = changes[held.end] = 1
        at = np.flatnonzero(left)
        alike = (np.diff(np.cumsum(changes).take(at)) == 0) & (np.diff(self.block.take(at)) == 0)
        found, counts = self.found.take(at), self.counts.take(at, axis=1)
        later = alike & (found[1:] <= found[:-1]) & np.all(counts[:, 1:] >= counts[:, :-1], axis=0)
        earlier = alike & (found[:-1] <= found[1:]) & np.all(counts[:, :-1] >= counts[:, 1:], axis=0)
        left = left.copy()
        left[at[1:][later]] = False
        left[at[:-1][earlier & ~later]] = False
        return left


class _Outer(NamedTuple):
    """Events that lie in no other one of their block.

    number: (n_events,) which of them each event of the blocks lies in. thing, core: (n,) the event, and the
    longest within it that is left at the last level, -1 where it is not there at all levels. onset, offset:
    (n,) and (n + 1,) places, -1 after the last. longest, shortest: (n,) ticks of it, and of those within it.
    most: (n,) at most how many of these are there at one level. stays: (n,) whether it does not change.
    """

    number: Index
    thing: Index
    core: Index
    onset: Index
    offset: Index
    longest: Ticks
    shortest: Ticks
    most: Index
    stays: Bools

    @classmethod
    def of(cls, of: Against, blocks: Blocks) -> Self:
        """Find them; there must be an event."""
        block, thing, *_ = blocks.events
        first, end = (level.take(block) for level in (blocks.first, blocks.end))
        since, until = of.alive.take(thing, axis=1)
        length = (of.events.offset - of.events.onset).take(thing)
        onset, offset = block * of.n_times + of.place.take(thing, axis=1)
        # Those that hold others come before these.
        outer = np.append(True, onset[1:] >= np.maximum.accumulate(offset)[:-1])
        head, number = np.flatnonzero(outer), np.cumsum(outer) - 1
        remains = np.where(until >= end, length, -1)
        left = np.flatnonzero((remains == np.maximum.reduceat(remains, head).take(number)) & (remains >= 0))
        core = np.full(len(head), -1)
        core[number.take(left)] = thing.take(left)
        core[since.take(head) > first.take(head)] = -1
        return cls(
            number, thing.take(head), core, onset.take(head), np.append(offset.take(head), -1),
            length.take(head), np.minimum.reduceat(length, head),
            _at_once(number, np.maximum(since, first), np.minimum(until, end), len(head)),
            core == thing.take(head),
        )  # fmt: skip


def _at_once(group: Index, since: Index, until: Index, n: int) -> Index:
    """Return at most how many of each group are there at one level, (n,); since, until: (n_things,)."""
    most = np.ones(n, dtype=np.int64)
    some = np.flatnonzero(np.bincount(group, minlength=n).take(group) > 1)
    if len(some):
        level = np.concatenate((since.take(some), until.take(some)))
        size = int(level.max()) + 1
        key = np.tile(group.take(some), 2) * size + level
        order = order_of(key)
        key, living = key.take(order), np.cumsum(np.where(order < len(some), 1, -1))
        last = np.append(heads(key)[1:], len(key)) - 1
        np.maximum.at(most, key.take(last) // size, living.take(last))
    return most


def _found(of: Against, blocks: Blocks, criteria: Criteria) -> tuple[Index, Index, Index, Held, Held]:
    """Return how many events are found for good at each threshold, and beside these at least and at most.

    With them, (n_left,) each, come the detections and the events for which that may still change.
    """
    events, lives = blocks.events, blocks.lives
    if not len(events.thing):
        none = np.zeros_like(blocks.found)
        return none, none, none, lives.take(np.zeros(0, dtype=np.int64)), events
    outer = _Outer.of(of, blocks)
    n = len(outer.thing)
    # The last one that begins before each end of a detection, and whether the end is within it.
    begins, ends = lives.block * of.n_times + of.their_place.take(lives.thing, axis=1)
    first, last = (np.searchsorted(outer.onset, at) - 1 for at in (begins, ends))
    starts, stops = begins < outer.offset.take(first), ends < outer.offset.take(last)
    sure = of.helps[1].take(lives.thing) >= blocks.end.take(lives.block)
    touched = np.zeros(n + 1, dtype=np.int64)
    np.add.at(touched, (first + 1 - starts)[~sure], 1)
    np.add.at(touched, (last + 1)[~sure], -1)
    settled = outer.stays & (np.cumsum(touched)[:-1] == 0)
    weights = settled, ~settled & (outer.core >= 0), np.where(settled, 0, outer.most)
    # Whole events within a detection.
    sums: list[Index] = []
    for weight, counts in zip(weights, (sure, sure, True), strict=True):
        total = np.append(0, np.cumsum(weight))
        inside = np.maximum(total.take(last + 1 - stops) - total.take(first + 1), 0)
        sums.append(blocks.over(lives.begin, lives.end, inside * counts))
    # Pairs of an event and a detection that has an end strictly within it; then of what is left of the event.
    stops &= ~(starts & (first == last))
    left = np.concatenate((first[starts], last[stops]))
    right = np.concatenate((np.flatnonzero(starts), np.flatnonzero(stops)))
    again = np.flatnonzero(weights[1].take(left) & sure.take(right))
    thing = np.concatenate((outer.thing.take(left), outer.core.take(left.take(again))))
    number = np.concatenate((left, n + left.take(again)))
    pair = lives.take(np.concatenate((right, right.take(again))))
    common = np.minimum(of.events.offset.take(thing), of.system.offset.take(pair.thing)) - np.maximum(
        of.events.onset.take(thing), of.system.onset.take(pair.thing)
    )
    needed = required(criteria.gtc, np.concatenate((outer.shortest, outer.longest)))
    number, begin, end = enough(number, pair.begin, pair.end, np.maximum(common, 0), needed)
    amount = np.concatenate((np.where(settled, 1, outer.most), weights[1])).take(number)
    kind = np.concatenate((np.where(settled, 0, 2), np.ones(n, dtype=np.int64))).take(number)
    for k in range(3):
        some = np.flatnonzero(kind == k)
        sums[k] = sums[k] + blocks.over(begin.take(some), end.take(some), amount.take(some))
    unsettled = np.append(0, np.cumsum(~settled))
    touching = np.flatnonzero(unsettled.take(last + 1) > unsettled.take(first + 1 - starts))
    changing = np.flatnonzero(~settled.take(outer.number))
    return sums[0], sums[1], sums[2], lives.take(touching), events.take(changing)


def _look(of: Against, blocks: Blocks, criteria: Criteria) -> tuple[Blocks, Index, Index, Index]:
    """Return blocks with what is for good in them, and what else there may be at each threshold.

    That is by how much counts may grow, (n_rows, n_left), and how many more events are found at least and at
    most, (n_left,) each.
    """
    since, until = of.between.take(blocks.wrong.thing, axis=1)
    first, end = (level.take(blocks.wrong.block) for level in (blocks.first, blocks.end))
    for_good = (since <= first) & (until >= end)
    settled, wrong = (blocks.wrong.take(np.flatnonzero(some)) for some in (for_good, ~for_good))
    counts, may = (blocks.in_rows(some, of.row.take(some.thing)) for some in (settled, wrong))
    look = _found if of.apart else _found_by_pairs
    found, least, most, lives, events = look(of, blocks, criteria)
    counts, found = blocks.counts + counts, blocks.found + found
    blocks = blocks._replace(counts=counts, found=found, wrong=wrong, lives=lives, events=events)
    return blocks, may, least, most


_STEP = 2.0**-40
"""Thresholds as numbers in [0, 1]."""


def _found_by_pairs(
    of: Against, blocks: Blocks, criteria: Criteria
) -> tuple[Index, Index, Index, Held, Held]:
    """Return what `_found` does where events may overlap: nothing is for good before a block is one level."""
    events, lives, n = blocks.events, blocks.lives, len(blocks.first)
    theirs = replace(
        of.system.take(lives.thing),
        label=lives.block.astype(np.int32),
        born=lives.begin.astype(np.float64) * _STEP, dies=lives.end.astype(np.float64) * _STEP,
    )  # fmt: skip
    since, until = of.alive.take(events.thing, axis=1)
    stays = (since <= blocks.first.take(events.block)) & (until >= blocks.end.take(events.block))
    sure, sums = of.helps[1].take(lives.thing) >= blocks.end.take(lives.block), []
    for kept, passed in ((stays, sure), (np.ones_like(stays), np.ones_like(sure))):
        some = events.take(np.flatnonzero(kept))
        ours = replace(of.events.take(some.thing).events(), label=some.block.astype(np.int32))
        judged = Judged(ours, theirs, file_class(ours, n), file_class(theirs, n), passed, in_turn=False)
        found = np.zeros_like(blocks.found)
        for alive in found_when(judged, criteria):
            begin, end = (np.rint(level / _STEP).astype(np.int64) for level in (alive.born, alive.dies))
            found = found + blocks.over(begin, end, np.broadcast_to(alive.weight, begin.shape))
        sums.append(found)
    return np.zeros_like(blocks.found), sums[0], sums[1], lives, events


@dataclass(frozen=True, slots=True)
class Weights:
    """What counts add to the eFPR of a class, and bins of it.

    weight: (n_rows, n_levels) of each count at each level; it never falls while it is above 0. most: as much
    is too much. n_bins, width: of equal width; the last one reaches up to there. A bin is a number of false
    positives where only these count.
    """

    weight: Floats
    most: float
    n_bins: int
    width: float

    def efpr(self, counts: Index, level: Index) -> Floats:
        """Return the eFPR of counts, (n_rows, n), at levels, (n,)."""
        efpr = np.zeros(len(level))
        for of_row, count in zip(self.weight, counts, strict=True):
            efpr += of_row.take(level) * count
        return efpr

    def bins(self, counts: Index, may: Index, first: Index, end: Index) -> tuple[Index, Index]:
        """Return the lowest and the highest bin that counts may have in blocks of levels, (n,) each.

        counts, may: (n_rows, n) for good, and how many more there may be. The highest is above the lowest of
        all that has as much.
        """
        if len(counts) == 1:
            return counts[0], counts[0] + may[0]
        lowest = self.efpr(counts, first)
        highest = replace(self, weight=np.maximum.accumulate(self.weight, axis=1)).efpr(counts + may, end - 1)
        low, high = (
            np.minimum(efpr * (factor / self.width), self.n_bins).astype(np.int64)
            for efpr, factor in ((lowest, 1 - 1e-9), (highest, 1 + 1e-9))
        )
        return low, high + 1

    def area(self, floor: Index) -> Floats:
        """Return the mean over the eFPR of what bins have, (n,); floor: (n, n_bins)."""
        share = np.full(self.n_bins, self.width / self.most)
        share[-1] = 1.0 - share[:-1].sum()
        area: Floats = floor @ share
        return area


class Staircase(NamedTuple):
    """The PSD-ROC of a class at all levels: one from each of some levels on.

    since: (n,) these levels, ascending. slack: (n,) by how many events each may be off on the average over
    the eFPR. start: (n + 1,) where the points of each begin. efpr, tp: (n_points,) ascending.
    """

    since: Index
    slack: Floats
    start: Index
    efpr: Floats
    tp: Index

    def at_once(self) -> int:
        """Return at how many levels there are not too many points to look at together."""
        return 1 + _AT_ONCE * len(self.since) // (1 + len(self.tp))

    def of(self, levels: Index) -> Index:
        """Return which one holds at each level, (n,)."""
        return np.searchsorted(self.since, levels, side="right") - 1

    def points(self, levels: Index) -> tuple[Index, Index]:
        """Return the points at some levels: positions of levels, and of points."""
        at = self.of(levels)
        return expand(self.start.take(at), self.start.take(at + 1))


def _staircases(of: Against, weights: Weights, criteria: Criteria, room: float) -> Staircase:
    """Return the PSD-ROC of a class at all levels; room: rows that may be looked at."""
    todo, ends = [Blocks.whole(of, weights, room)], list[tuple[Array, ...]]()
    while todo:
        blocks = todo.pop()
        cost = blocks.sizes()
        blocks, may, least, most = _look(of, blocks, criteria)
        block, n = blocks.block, len(blocks.first)
        sure, possible = blocks.found + least, blocks.found + most
        low, high = weights.bins(blocks.counts, may, blocks.first.take(block), blocks.end.take(block))
        floor = _raised(blocks.floor, block, high, sure)
        left = (low < weights.n_bins) & (possible > floor[block, np.minimum(low, weights.n_bins - 1)])
        single = blocks.end - blocks.first == 1
        if len(weights.weight) == 1:
            # What is found for sure is all there is.
            done = np.flatnonzero(np.bincount(block[left], minlength=n) == 0)
            owner, bins = np.nonzero(np.diff(floor[done], axis=1, prepend=0) > 0)
            efpr, tp = bins * weights.width, floor[done[owner], bins]
        else:
            done = np.flatnonzero(single | (np.bincount(block[left], minlength=n) == 0))
            of_single = np.flatnonzero(left & single.take(block))
            owner, tp = np.searchsorted(done, block.take(of_single)), sure.take(of_single)
            efpr = weights.efpr(
                blocks.counts.take(of_single, axis=1), blocks.first.take(block.take(of_single))
            )
            left[of_single] = False
        ends.append(
            (
                blocks.since.take(done),
                blocks.slack.take(done),
                np.bincount(owner, minlength=len(done)),
                efpr,
                tp,
            )
        )
        if not left.any():
            continue
        left = blocks.undominated(left)
        middle = (blocks.first + blocks.end) // 2
        more = 2 * (blocks.sizes() - np.bincount(block[~left], minlength=n))
        more[np.bincount(block[left], minlength=n) == 0] = 0
        # Blocks that are looked at together share what room they have left.
        rest, wanted = (blocks.room - cost).sum(), more.sum()
        if wanted <= rest:
            blocks = blocks._replace(floor=floor, room=more * (rest / wanted / 2))
            upper = blocks._replace(since=middle).within(of, left, middle, blocks.end)
            blocks = Blocks.joined((blocks.within(of, left, blocks.first, middle), upper))
        else:
            highest = _raised(floor, block, np.where(left, low, weights.n_bins), possible)
            slack = weights.area(highest - floor)
            blocks = blocks._replace(floor=floor, room=np.full(n, np.inf), slack=slack)
            blocks = blocks.within(of, left, middle, middle + 1)
        todo.extend(blocks.parted())
    since, slack, n_points, efpr, tp = map(np.concatenate, zip(*ends, strict=True))
    order = np.argsort(since)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    owner, efpr, tp = rising(np.repeat(rank, n_points), np.asarray(efpr, dtype=np.float64), tp)
    start = np.searchsorted(owner, np.arange(len(order) + 1))
    return Staircase(since.take(order), slack.take(order), start, efpr, tp)


def _raised(floor: Index, block: Index, bins: Index, found: Index) -> Index:
    """Return how many events are found with an eFPR of each bin, or less, (n, n_bins).

    floor: (n, n_bins) of what is known before. block, bins, found: (n_left,), those beyond all bins left out.
    """
    n_bins, some = floor.shape[1], np.flatnonzero(bins < floor.shape[1])
    raised = floor.copy()
    np.maximum.at(raised.reshape(-1), block.take(some) * n_bins + bins.take(some), found.take(some))
    return np.maximum.accumulate(raised, axis=1)


def _against(
    events: EventLifetimes,
    system: EventLifetimes,
    edges: Floats,
    criteria: Criteria,
    others: Sequence[EventLifetimes] = (),
    ignored: EventLifetimes | None = None,
) -> Against:
    """Hold a class against all levels of its reference.

    edges: between levels. others: the events of classes that false positives may trigger, of each row of
    counts but the first.
    """
    # Those that hold others come before these.
    events = events.take(np.lexsort((-events.offset, events.onset, events.file)))
    sides = [(of.file, time) for of in (events, system) for time in (of.onset, of.offset)]
    file, time = (np.concatenate(column) for column in zip(*sides, strict=True))
    number, every, _ = numbered(file.astype(np.int64), time)
    place, their_place = (of.reshape(2, -1) for of in np.split(number, [2 * len(events)]))
    thresholds = distinct(np.concatenate((np.zeros(1), system.born, system.dies)))
    alive, lives = (
        np.searchsorted(levels, [of.born, of.dies]) for of, levels in ((events, edges), (system, thresholds))
    )

    def upto(those: EventLifetimes, needed: Ticks) -> Index:
        """Return below which level events cover so much of each detection."""
        files = those.file.astype(np.int64), system.file.astype(np.int64)
        return np.searchsorted(edges, level_covered(those, files[0], system, files[1], needed))

    length, none = system.offset - system.onset, np.zeros(len(system), dtype=np.int64)
    passes, last = upto(events, required(criteria.dtc, length)), none + len(edges) - 1
    between = [(passes, last)]
    if ignored is not None:
        # What ignored events cover for the most part is left out where no event of the class is near.
        near, out = upto(events, none + 1), np.searchsorted(edges, level_mostly(ignored, system))
        between = [(passes, np.where(out > near, near, last)), (np.where(out > near, out, last), last)]
    wrong = [(none, *spans) for spans in between]
    for k, those in enumerate(others, 1):
        covered = upto(those, required(criteria.cttc, length))
        wrong += [(none + k, since, np.minimum(until, covered)) for since, until in between]
    row, since, until = (np.concatenate(column) for column in zip(*wrong, strict=True))
    thing, some = np.tile(np.arange(len(system)), len(wrong)), np.flatnonzero(since < until)
    return Against(
        events, system, len(every), place, their_place, alive, lives, np.array([none, passes]),
        _is_apart(events, place, alive, system),
        thing.take(some), row.take(some), np.array([since, until])[:, some],
    )  # fmt: skip


def _is_apart(events: EventLifetimes, place: Index, alive: Index, system: EventLifetimes) -> bool:
    """Return whether events, and detections, are `apart`, see `Against`."""
    theirs = system.nested or in_turn(system.file.astype(np.int64), system.born, system)
    ours = events.nested or in_turn(events.file.astype(np.int64), np.zeros(len(events)), events)
    born = np.flatnonzero(alive[0])
    if not (ours and theirs) or not len(born):
        return ours and theirs
    # Of those that end at a level the last that begins no later than one that is born there.
    key = alive * (int(place.max()) + 1) + place[0]
    order = np.argsort(key[1])
    parent = order.take(np.searchsorted(key[1].take(order), key[0].take(born), side="right") - 1)
    return bool(np.all((alive[1][parent] == alive[0][born]) & (place[1][parent] >= place[1][born])))


def _trigger_weights(classes: Sequence[EventLifetimes], edges: Floats, criteria: Criteria) -> list[Floats]:
    """Return what a cross trigger of each other class adds to the eFPR of each class.

    classes: the events of each. Returns (n_classes - 1, n_levels) each: 0 where the other class has no event.
    """
    n_events, ticks = np.zeros((2, len(classes), len(edges)), dtype=np.int64)
    for c, of in enumerate(classes):
        for levels, sign in ((of.born, 1), (of.dies, -1)):
            at = np.searchsorted(edges, levels)
            np.add.at(n_events[c], at, sign)
            np.add.at(ticks[c], at, sign * (of.offset - of.onset))
    present, seconds = (
        np.cumsum(n_events, axis=1)[:, :-1] > 0,
        np.cumsum(ticks, axis=1)[:, :-1] / TICKS_PER_SECOND,
    )
    weights = []
    for c in range(len(classes)):
        others = np.arange(len(classes)) != c
        number = np.maximum(present[others].sum(axis=0), 1) * np.where(present, seconds, 1.0)[others]
        weights.append(np.where(present[others], criteria.alpha_ct * HOUR / number, 0.0))
    return weights


class _Class(NamedTuple):
    """A class at its own levels.

    edges: between levels, (n_levels + 1,). n_ref: (n_levels + 1,) events of each, and of none. area, slack:
    likewise, below the PSD-ROC, and by how much it may be off; NaN without events.
    """

    edges: Floats
    stairs: Staircase
    n_ref: Index
    area: Floats
    slack: Floats

    @classmethod
    def of(cls, against: Against, edges: Floats, weights: Weights, criteria: Criteria, room: float) -> _Class:
        """Find the PSD-ROCs."""
        begins, ends = (np.bincount(at, minlength=len(edges)) for at in against.alive)
        n_ref, stairs = np.cumsum(begins - ends), _staircases(against, weights, criteria, room)
        area, slack = np.full((2, len(edges)), np.nan)
        levels = np.flatnonzero(n_ref)
        slack[levels] = np.minimum(stairs.slack.take(stairs.of(levels)) / n_ref.take(levels), 1.0)
        for begin in range(0, len(levels), step := stairs.at_once()):
            some = levels[begin : begin + step]
            owner, point = stairs.points(some)
            inside = np.flatnonzero(stairs.efpr.take(point) < criteria.max_efpr)
            owner, point = owner.take(inside), point.take(inside)
            tpr = stairs.tp.take(point) / n_ref.take(some.take(owner))
            starts = np.searchsorted(owner, np.arange(len(some)))
            area[some] = areas(stairs.efpr.take(point), np.minimum(tpr, 1.0), starts, criteria.max_efpr)
        return cls(edges, stairs, n_ref, area, slack)

    def levels(self, cuts: Floats) -> Index:
        """Return at which of its levels each cut is, (n,): at the last one, of none, beyond all."""
        return np.searchsorted(self.edges[1:], cuts)


class _Sums:
    """Values summed over levels, and over how many they are defined; what values may be off beside them."""

    def __init__(self, n: int) -> None:
        """Begin with none of n values."""
        self.values, self.slack, self.widths = np.zeros((3, n))

    def add(self, values: Floats, slack: Floats, widths: Floats) -> None:
        """Add levels, (n_levels,) of such widths; values, slack: (n, n_levels), NaN where undefined.

        They are added one after another: sums do not depend on how many levels are added at a time.
        """
        for k, (of_levels, off) in enumerate(zip(values, slack, strict=True)):
            some = np.flatnonzero(~np.isnan(of_levels))
            width = widths.take(some)
            for total, added in (
                (self.values, width * of_levels.take(some)),
                (self.slack, width * off.take(some)),
                (self.widths, width),
            ):
                total[k] = np.cumsum(np.append(total[k], added))[-1]


def changes(sides: Sequence[EventLifetimes]) -> Floats:
    """Return the levels at which events are born or die, ascending."""
    return distinct(
        np.concatenate([np.zeros(0), *(ends for side in sides for ends in (side.born, side.dies))])
    )


def soft_psds(
    levels: EventLifetimes,
    system: EventLifetimes,
    ignored: EventLifetimes | None,
    n_classes: int,
    seconds: float,
    criteria: Criteria,
) -> tuple[Floats, Floats]:
    """Return the mean over all levels of PSDS against the reference cut there, then that of each class.

    levels, system: all lifetimes of reference and system. ignored: those of ignored classes. seconds: the
    length of all files, above 0. A class counts at the levels at which it has an event, PSDS at those at
    which some class has one. Beside the values, (1 + n_classes,), stands by how much each may be off: 0 where
    it is exact.
    """
    ours, theirs = (
        [side.take(side.label == c) for c in range(n_classes)]
        for side in (levels.lasting(), system.lasting())
    )
    known = [c for c in range(n_classes) if len(ours[c])]
    if not known:
        undefined = np.full(1 + n_classes, np.nan)
        return undefined, undefined
    beside = [] if ignored is None else [ignored]
    edges, rates = changes([levels, *beside]), Rates.of(seconds, criteria.alpha_ct)
    triggers: Sequence[Floats] = [np.zeros((0, len(edges) - 1))] * len(known)
    if criteria.alpha_ct > 0:
        triggers = _trigger_weights([ours[c] for c in known], edges, criteria)

    def of_class(number: int) -> _Class:
        c, own, of_triggers = known[number], edges, triggers[number]
        others = [ours[k] for k in known if k != c][: len(of_triggers)]
        if not others:
            # Nothing else changes its PSD-ROC.
            own = changes([ours[c], *beside])
        against, most = _against(ours[c], theirs[c], own, criteria, others, ignored), criteria.max_efpr
        n_bins, width = _BINS, most / _BINS
        if not others:
            n_bins, width = min(rates.too_many(most), len(against.wrong) + 1), rates.of_false
        weight = np.concatenate((np.full((1, len(own) - 1), rates.of_false), of_triggers[:, : len(own) - 1]))
        return _Class.of(against, own, Weights(weight, most, n_bins, width), criteria, _MOST / len(known))

    classes = for_each(of_class, range(len(known)), len(levels) + len(system))
    sums, cuts, widths = _Sums(1 + n_classes), edges[1:], np.diff(edges)
    step = 1 + min(of.stairs.at_once() for of in classes) // len(classes)
    for begin in range(0, len(cuts), step):
        some = slice(begin, begin + step)
        sums.add(*_at_cuts(cuts[some], known, classes, n_classes, criteria), widths[some])
    return ratio(sums.values, sums.widths), ratio(sums.slack, sums.widths)


def _at_cuts(
    cuts: Floats, known: Sequence[int], classes: Sequence[_Class], n_classes: int, criteria: Criteria
) -> tuple[Floats, Floats]:
    """Return PSDS at some levels, and by how much it may be off, (1 + n_classes, n_cuts), NaN for undefined.

    known: which classes have a reference.
    """
    n_ref = np.zeros((len(cuts), n_classes), dtype=np.int64)
    values, slack = np.full((2, 1 + n_classes, len(cuts)), np.nan)
    points = [(np.zeros(0, dtype=np.int64),) * 2 + (np.zeros(0), np.zeros(0, dtype=np.int64))]
    for c, of in zip(known, classes, strict=True):
        level = of.levels(cuts)
        n_ref[:, c], values[1 + c], slack[1 + c] = (column.take(level) for column in of[2:])
        some = np.flatnonzero(n_ref[:, c])
        owner, point = of.stairs.points(level.take(some))
        points.append(
            (some.take(owner), np.full(len(owner), c), of.stairs.efpr.take(point), of.stairs.tp.take(point))
        )
    cut, label, efpr, tp = (np.concatenate(column) for column in zip(*points, strict=True))
    cut, efpr, etpr = combined(cut, label, efpr, np.minimum(tp, n_ref[cut, label]), n_ref, criteria)
    values[0] = areas(efpr, etpr, np.searchsorted(cut, np.arange(len(cuts))), criteria.max_efpr)
    present = (n_ref > 0).sum(axis=1)
    off = (1.0 + criteria.alpha_st * np.sqrt(present)) * ratio(np.nansum(slack[1:], axis=0), present)
    slack[0] = np.minimum(off, 1.0)
    return values, slack
