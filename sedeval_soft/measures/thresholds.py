"""Counts of a class at every threshold of the system: what is best over thresholds is read off these.

A level is a value of the system at which counts change: what counts right below it need not count at it
or above. Thresholds between which no count changes are alike, and `threshold_between` is the number that is
written for them; of equally good ones the highest is best. No threshold is below 0: a value of 0 is never a
detection.

`ThresholdCounts` add up over parts of a table.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from sedeval_soft.arrays import Bools, Codes, Floats, Index
from sedeval_soft.sorting import distinct, heads, in_order
from sedeval_soft.threads import for_each
from sedeval_soft.timeline.ranges import expand

Merit = Callable[[Any, Any, Any], Any]
"""What is best where it is highest: of TP, N_sys and N_ref. It never falls with TP, nor rises with N_sys."""

TP, N_SYS, PAIRED = 0, 1, 2
"""Rows of counts; PAIRED is what is matched regardless of class, where that is counted."""

_LEVELS = 128
"""Levels at which lives begin, or end, in a stretch of levels."""


class Alive(NamedTuple):
    """What counts for thresholds born <= t < dies, (n,) each; weight: how much, (n,) or one for all."""

    label: npt.NDArray[np.integer[Any]]
    file: npt.NDArray[np.integer[Any]]
    born: Floats
    dies: Floats
    weight: Index | int = 1


Lives = Sequence[tuple[Alive, Sequence[int]]]
"""What lives when, and the rows of counts that it adds to."""

Worth = Callable[[Index, Index, Index, int], Bools]
"""Which stretches of levels must be told: of counts right above each, how much they rise and fall within it,
(n_counts, n) each, and N_ref."""


@dataclass(frozen=True, slots=True)
class ThresholdCounts:
    """By how much counts of a class grow from thresholds at or above a level to those right below it.

    level: (n,) ascending, above 0, and distinct if files are summed. changes: (n_counts, n) whole numbers, in
    rows TP, N_SYS and others. n_ref: (n_files,) sizes of the reference, (1,) if files are summed. file: (n,)
    whose change it is; None if files are summed. below: (n,) the next lower level of each, 0 for none, where
    those without hits are left out.
    """

    level: Floats
    changes: Index
    n_ref: Index
    file: Codes | None = None
    below: Floats | None = None

    @classmethod
    def of_cells(
        cls,
        system: Floats,
        positive: Bools,
        file: Codes | None = None,
        n_files: int = 1,
        paired: Bools | None = None,
        *,
        only_hits: bool = False,
    ) -> Self:
        """Count cells: each is detected at every threshold below its value.

        system, positive: (n_cells,). file: (n_cells,) whose each is, of so many; None to sum files.
        paired: as `positive`, the cells that are detected first of as many as are positive in their place.
        only_hits: whether only levels at which TP changes are needed, as no merit is highest right below
        others; where files are summed.
        """
        if file is not None:
            n_ref = np.bincount(file[positive], minlength=n_files)
        else:
            n_ref = positive.sum(keepdims=True)
        heard = system > 0
        system, positive = system[heard], positive[heard]
        marks = [positive] if paired is None else [positive, paired[heard]]
        if file is not None:
            level, order = in_order(system)
            changes = np.ones((1 + len(marks), len(level)), dtype=np.int64)
            for row, mark in zip((TP, PAIRED), marks, strict=False):
                changes[row] = mark[order]
            return cls(level, changes, n_ref, file[heard][order])
        if only_hits and paired is None:
            return cls._of_hits(system, positive, n_ref)
        # Values alone are sorted much faster than their places.
        ordered = np.sort(system)
        first = heads(ordered)
        level, changes = ordered[first], np.zeros((1 + len(marks), len(first)), dtype=np.int64)
        changes[N_SYS] = np.diff(first, append=len(ordered))
        for row, mark in zip((TP, PAIRED), marks, strict=False):
            chosen = np.sort(system[mark])
            begin = heads(chosen)
            changes[row, np.searchsorted(level, chosen[begin])] = np.diff(begin, append=len(chosen))
        return cls(level, changes, n_ref)

    @classmethod
    def _of_hits(cls, system: Floats, positive: Bools, n_ref: Index) -> Self:
        """Count cells at the levels of positive ones; (n_cells,) each, values above 0."""
        # Floats from 0 to 1 are in the order of their bits. In place of the sign there is one that says which
        # cells are positive, so that of equal values these come first.
        keys = system.view(np.int64) << 1
        keys |= ~positive
        keys.sort()
        hits = np.flatnonzero((keys & 1) == 0)
        first = heads(keys[hits])
        at = hits[first]
        level, below = ((keys[places] >> 1).view(np.float64) for places in (at, at - 1))
        below[:1][at[:1] == 0] = 0.0
        changes = np.array((np.append(first, len(hits)), np.append(at, len(keys))))
        return cls(level, changes[:, 1:] - changes[:, :-1], n_ref, None, below)

    @classmethod
    def of_lives(
        cls, lives: Lives, n_ref: Index, n_counts: int = 2, *, apart: bool = False, worth: Worth | None = None
    ) -> list[ThresholdCounts]:
        """Count what lives at thresholds, for each class; n_ref: (n_files, n_classes).

        apart: keep the counts of each file. worth: which levels must be told where files are summed; some of
        the others are left out, and what changes there changes at the next higher one. Births at level 0 are
        of no threshold: there is none below.
        """
        ends = Ends.by_class(lives, n_ref.shape[1])
        return cls.of_ends(ends, n_ref, n_counts, apart=apart, worth=worth)

    @classmethod
    def of_ends(
        cls,
        by_class: Sequence[Sequence[Ends]],
        n_ref: Index,
        n_counts: int = 2,
        *,
        apart: bool = False,
        worth: Worth | None = None,
    ) -> list[ThresholdCounts]:
        """Count what begins and ends at levels, for each class; see `of_lives`."""

        def of_class(c: int) -> ThresholdCounts:
            ends, own = by_class[c], n_ref[:, c]
            if worth is not None and any(len(each.level) for each in ends):
                stretched = Stretched.of(ends, n_counts)
                ends = stretched.told(worth(*stretched[3:], int(own.sum())))
            level = np.concatenate([np.zeros(0), *(each.level for each in ends)])
            changes, begin = np.zeros((n_counts, len(level)), dtype=np.int64), 0
            for each in ends:
                some = slice(begin, begin := begin + len(each.level))
                for row in each.rows:
                    changes[row, some] = each.weight
            file = None
            if apart:
                file = np.concatenate([np.zeros(0, dtype=np.int32), *(each.file for each in ends)])
            return cls._sorted(level, changes, own, file)

        size = sum(len(each.level) for ends in by_class for each in ends)
        return for_each(of_class, range(len(by_class)), size)

    @classmethod
    def _sorted(cls, level: Floats, changes: Index, n_ref: Index, file: Codes | None = None) -> Self:
        """Put levels in order; without `file`, those that are equal become one."""
        level, order = in_order(level)
        changes = changes[:, order]
        if file is not None:
            return cls(level, changes, n_ref, file[order])
        first = heads(level)
        changes = np.add.reduceat(changes, first, axis=1) if len(first) else changes
        return cls(level[first], changes, n_ref.sum(keepdims=True))

    def steps(self) -> tuple[Floats, Index]:
        """Return the summed counts at all thresholds: (n,) ascending, and (n_counts, n).

        Each holds up to the next threshold, the last from there on.
        """
        return np.append(0.0, self.level), self._counts()

    def _counts(self) -> Index:
        counts = np.zeros((len(self.changes), len(self.level) + 1), dtype=np.int64)
        np.cumsum(self.changes[:, ::-1], axis=1, out=counts[:, -2::-1])
        return counts

    def best(self, merit: Merit) -> tuple[float, float, int, int]:
        """Return between which levels a merit is highest, and TP and N_sys there; files are summed.

        All thresholds from the lower level, 0 for none, up to the higher one have the same counts. The higher
        one is infinite where nothing is detected, as of a class without reference.
        """
        counts = self._counts()
        merits = merit(counts[TP], counts[N_SYS], int(self.n_ref.sum()))
        at = len(self.level) - int(np.argmax(merits[::-1]))
        tp, n_sys = counts[:2, at].tolist()
        high = float(np.append(self.level, math.inf)[at])
        if self.below is not None and at < len(self.level):
            return float(self.below[at]), high, tp, n_sys
        moves = np.flatnonzero(self.changes[:, :at].any(axis=0))
        return float(self.level[moves[-1]]) if len(moves) else 0.0, high, tp, n_sys


class Ends(NamedTuple):
    """Levels of one class at which some live begins or ends.

    level: (n,). rows: the counts that change. weight: by how much right below the level, (n,) or one for all.
    file: (n,), None where files are summed. ordered: whether levels ascend.
    """

    level: Floats
    rows: Sequence[int]
    weight: Index | int
    file: Codes | None = None
    ordered: bool = False

    @classmethod
    def by_class(cls, lives: Lives, n_classes: int) -> list[list[Ends]]:
        """Return where lives end, and where they begin, for each class; births at level 0 are left out."""
        classes: list[list[Ends]] = [[] for _ in range(n_classes)]
        for alive, rows in lives:
            columns: Sequence[Any] = alive
            if np.any(alive.label[1:] < alive.label[:-1]):
                # Small integers are sorted by their digits.
                order = np.argsort(alive.label.astype(np.min_scalar_type(n_classes)), kind="stable")
                columns = [column if isinstance(column, int) else column[order] for column in alive]
            label, file, born, dies, weight = columns
            bounds = np.searchsorted(label, np.arange(n_classes + 1)).tolist()
            for ends, own in zip(classes, map(slice, bounds, bounds[1:]), strict=False):
                later = np.flatnonzero(born[own] > 0)
                both = (weight, -weight)
                if not isinstance(weight, int):
                    both = weight[own], -weight[own].take(later)
                ends.append(cls(dies[own], rows, both[0], file[own]))
                ends.append(cls(born[own].take(later), rows, both[1], file[own].take(later)))
        return classes

    def in_order(self) -> Ends:
        """Return them in the order of levels, of all files together."""
        if self.ordered:
            return self
        if isinstance(self.weight, int):
            return Ends(np.sort(self.level), self.rows, self.weight, ordered=True)
        level, order = in_order(self.level)
        return Ends(level, self.rows, self.weight[order], ordered=True)

    def take(self, some: Index) -> Ends:
        """Return some of them, of all files together."""
        weight = self.weight if isinstance(self.weight, int) else self.weight[some]
        return Ends(self.level[some], self.rows, weight)

    def rises_and_falls(self, upto: Index) -> tuple[Index, Index]:
        """Return how much counts rise and fall between positions; upto: (n + 1,) ascending."""
        if isinstance(self.weight, int):
            size = np.diff(upto)
            return size * max(self.weight, 0), size * max(-self.weight, 0)
        # Where some weights are above 0 and others below, a count may be higher than at both ends. Sums may
        # wrap around; their differences are right all the same.
        rises, falls = (
            np.diff(np.append(0, np.cumsum(np.maximum(weight, 0)))[upto])
            for weight in (self.weight, -self.weight)
        )
        return rises, falls


class Stretched(NamedTuple):
    """Ends of one class in stretches of levels: each has those above the highest of the stretch before it.

    ends: in the order of levels. highest: (n,) the highest level of each stretch. upto: for each of the ends,
    (n + 1,) where stretches begin and end. above: (n_counts, n) counts right above each. rises, falls: by how
    much counts rise and fall within it.
    """

    ends: Sequence[Ends]
    highest: Floats
    upto: Sequence[Index]
    above: Index
    rises: Index
    falls: Index

    @classmethod
    def of(cls, ends: Sequence[Ends], n_counts: int) -> Stretched:
        """Cut where each of the ends has had as many levels."""
        ends = [each.in_order() for each in ends]
        edges = [level for each in ends for level in (each.level[::_LEVELS], each.level[-1:])]
        highest = distinct(np.concatenate([np.zeros(0), *edges]))
        upto = [np.append(0, np.searchsorted(each.level, highest, side="right")) for each in ends]
        rises, falls = np.zeros((2, n_counts, len(highest)), dtype=np.int64)
        for each, place in zip(ends, upto, strict=True):
            up, down = each.rises_and_falls(place)
            rises[list(each.rows)] += up
            falls[list(each.rows)] += down
        growth = rises - falls
        return cls(ends, highest, upto, np.cumsum(growth[:, ::-1], axis=1)[:, ::-1] - growth, rises, falls)

    def told(self, worth: Bools) -> list[Ends]:
        """Return the ends of some stretches, and what those of others sum to, at their highest level.

        So the levels next to those that are told are right, too.
        """
        told = [
            each.take(expand(place[:-1][worth], place[1:][worth])[1])
            for each, place in zip(self.ends, self.upto, strict=True)
        ]
        growth = (self.rises - self.falls)[:, ~worth]
        return told + [Ends(self.highest[~worth], (row,), of_row) for row, of_row in enumerate(growth)]


def uncrowded(ends: Sequence[Ends], most: int) -> tuple[float, float, list[Ends]]:
    """Return between which two thresholds so many of a class live everywhere, and the ends of others.

    ends: of one count, the last of their rows. Both thresholds are 1 where there are none; there may be
    others. What changes between them changes at some levels there: so many live there all the same.
    """
    stretched = Stretched.of(ends, 1 + ends[0].rows[0])
    above, _, falls = stretched[3:]
    many = np.concatenate(([False], (above - falls)[-1] >= most, [False]))
    first, last = np.flatnonzero(np.diff(many)).reshape(-1, 2).T
    if not len(first):
        return 1.0, 1.0, [*stretched.ends]
    longest = np.argmax(last - first)
    outside = np.ones(len(stretched.highest), dtype=bool)
    outside[first[longest] : last[longest]] = False
    low, high = np.append(0.0, stretched.highest)[[first[longest], last[longest]]].tolist()
    return low, high, stretched.told(outside)


def f_merit(beta: float) -> Merit:
    """Return F as a merit; 0 where there is nothing at all."""
    square = beta * beta
    return lambda tp, n_sys, n_ref: tp * (1.0 + square) / (n_sys + (square * n_ref + (n_ref == 0)))


def error_merit(tp: Any, n_sys: Any, n_ref: Any) -> Any:  # noqa: ANN401, ARG001 - a Merit
    """Return what is highest where errors, N_ref + N_sys - 2 TP, are fewest."""
    return 2 * tp - n_sys


def worth_of(merits: Sequence[Merit]) -> Worth:
    """Return which stretches of levels may have one right below which some merit is highest."""

    def worth(above: Index, rises: Index, falls: Index, n_ref: int) -> Bools:
        most, least = above[TP] + rises[TP], np.maximum(above[N_SYS] - falls[N_SYS], 0)
        bounds = [
            merit(most, least, n_ref) >= merit(above[TP], above[N_SYS], n_ref).max() for merit in merits
        ]
        may: Bools = np.any(bounds, axis=0)
        # The best range may end in the next lower stretch, at any level.
        may[:-1] |= may[1:].copy()
        return may

    return worth


def threshold_between(low: float, high: float, inclusive: bool = False) -> float:
    """Return the number that is written for all thresholds between two levels, 0 <= low < high.

    It is the middle, half their sum in 64-bit floats, rounded to as few decimals as leave it strictly between
    them: to the nearest, and a half to the even digit, as `round` does. Between two floats that are next to
    each other there is none: then it is `low`, or `high` if inclusive, which detect the same. NaN where
    `high` is infinite: nothing is detected at any number.
    """
    middle = (low + high) / 2
    if math.isinf(high):
        return math.nan
    if not low < middle < high:
        return high if inclusive else low
    return next(number for k in itertools.count(1) if low < (number := round(middle, k)) < high)
