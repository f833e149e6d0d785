"""Counts of each class at every threshold of the system: what is best over thresholds is read off these.

A level is a value of the system at which counts change: what counts right below it need not count at it
or above. So thresholds between two neighbouring levels are alike, and as in sed_scores_eval their middle
stands for them; of equally good ones the highest is best.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sedeval_soft.measures.base import Array, Bools, Codes, Floats, Index
from sedeval_soft.sorting import heads, in_order
from sedeval_soft.threads import for_each

Merit = Callable[[Any, Any, Any], Any]
"""What is best where it is highest: of TP, N_sys and N_ref."""

NOTHING = math.inf
"""The threshold of a class without reference: nothing is detected. It is undefined when shown."""

EVERYTHING = -1.0
"""The threshold below every score: everything is detected, segments without any score too."""

_AT_ONCE = 1 << 18
"""Cells whose levels are held at a time, or those of one class."""

TP, N_SYS, PAIRED = 0, 1, 2
"""Rows of counts; PAIRED is what is matched regardless of class, where that is counted."""


class Alive(NamedTuple):
    """What counts for thresholds born <= t < dies, (n,) each; weight: how much, (n,) or one for all."""

    label: npt.NDArray[np.integer[Any]]
    file: npt.NDArray[np.integer[Any]]
    born: Floats
    dies: Floats
    weight: Index | int = 1


Lives = Sequence[tuple[Alive, Sequence[int]]]
"""What lives when, and the rows of counts that it adds to."""


@dataclass(frozen=True, slots=True)
class ThresholdCounts:
    """By how much counts grow from thresholds at or above a level to those right below it.

    bounds: (n_classes + 1,) where the levels of each class begin. level: (n,) ascending within a class, and
    distinct if files are summed. changes: (n_counts, n) whole numbers, in rows TP, N_SYS and others. A level
    stays where changes cancel: thresholds lie between levels, and must not depend on which files were
    counted together. n_ref: (n_classes,), or (n_files, n_classes). file: (n,) whose change it is; None where
    files are summed. lowest: the lowest threshold there is.
    """

    bounds: Index
    level: Floats
    changes: Index
    n_ref: Index
    file: Codes | None = None
    lowest: float = 0.0

    @classmethod
    def of_cells(
        cls,
        system: Floats,
        positive: Bools,
        file: Codes | None = None,
        n_files: int = 0,
        paired: Bools | None = None,
    ) -> ThresholdCounts:
        """Count cells: each is detected at every threshold below its value.

        system, positive: (n_classes, n_cells). file: (n_cells,) whose each is, of so many; None to sum files.
        paired: as `positive`, the cells that are detected first of as many as are positive in their place.
        """
        marks = [positive] if paired is None else [positive, paired]

        def summed(c: int) -> tuple[Floats, Index]:
            ordered = np.sort(system[c])
            first = heads(ordered)
            level = ordered[first]
            rows = np.zeros((1 + len(marks), len(level)), dtype=np.int64)
            rows[N_SYS] = np.diff(first, append=len(ordered))
            for row, mark in zip((TP, PAIRED), marks, strict=False):
                chosen = np.sort(system[c][mark[c]])
                begin = heads(chosen)
                rows[row, np.searchsorted(level, chosen[begin])] = np.diff(begin, append=len(chosen))
            return level, rows

        def apart(c: int, file: Codes) -> tuple[Floats, Index, Codes]:
            level, order = in_order(system[c])
            rows = np.ones((1 + len(marks), len(level)), dtype=np.int64)
            for row, mark in zip((TP, PAIRED), marks, strict=False):
                rows[row] = mark[c][order]
            return level, rows, file[order]

        of_class: Callable[[int], tuple[Array, ...]] = summed
        n_ref = positive.sum(axis=1)
        if file is not None:
            of_class = partial(apart, file=file)
            n_ref = np.array([np.bincount(file[row], minlength=n_files) for row in positive]).T
            n_ref = n_ref.reshape(n_files, len(positive))
        classes = for_each(of_class, range(len(system)), system.size)
        return _table(classes, 1 + len(marks), n_ref, EVERYTHING)

    @classmethod
    def of_lives(
        cls, lives: Lives, n_ref: Index, n_counts: int = 2, *, apart: bool = False
    ) -> ThresholdCounts:
        """Count what lives at thresholds; n_ref: (n_files, n_classes). apart: keep the counts of each file.

        Births at level 0 are of no threshold: there is none below.
        """
        n_classes = n_ref.shape[1]
        parts = [(_by_class(alive, n_classes), list(rows)) for alive, rows in lives]

        def summed(c: int) -> tuple[Floats, Index]:
            ends = [end for of, _ in parts for end in (of[c].born, of[c].dies)]
            level = np.sort(np.concatenate([np.zeros(1), *ends]))
            level = level[heads(level)]
            changes = np.zeros((n_counts, len(level) - 1), dtype=np.int64)
            for of, rows in parts:
                _, _, born, dies, weight = of[c]
                changes[rows] += np.diff(_up_to(level, dies, weight) - _up_to(level, born, weight))
            return level[1:], changes

        def by_file(c: int) -> tuple[Floats, Index, Codes]:
            level, files = [np.zeros(0)], [np.zeros(0, dtype=np.int32)]
            changes = [np.zeros((n_counts, 0), dtype=np.int64)]
            for of, rows in parts:
                _, file, born, dies, weight = of[c]
                later = born > 0
                amount = np.zeros((n_counts, len(born)), dtype=np.int64)
                amount[rows] = weight
                level += [dies, born[later]]
                files += [file.astype(np.int32), file[later].astype(np.int32)]
                changes += [amount, -amount[:, later]]
            levels = np.concatenate(level)
            order = np.argsort(levels, kind="stable")
            return levels[order], np.concatenate(changes, axis=1)[:, order], np.concatenate(files)[order]

        size = sum(len(alive.label) for alive, _ in lives)
        classes = for_each(by_file if apart else summed, range(n_classes), size)
        return _table(classes, n_counts, n_ref if apart else n_ref.sum(axis=0))

    @classmethod
    def merge(
        cls, parts: Sequence[ThresholdCounts], classes: Sequence[Index], n_classes: int
    ) -> ThresholdCounts:
        """Add the summed counts of all parts; classes: the number of each class of each part among all."""
        if len(parts) == 1 and np.array_equal(classes[0], np.arange(n_classes)):
            return parts[0]
        slices: list[list[tuple[ThresholdCounts, slice]]] = [[] for _ in range(n_classes)]
        n_ref = np.zeros(n_classes, dtype=np.int64)
        for part, numbers in zip(parts, classes, strict=True):
            np.add.at(n_ref, numbers, part.n_ref)
            for c, number in enumerate(numbers.tolist()):
                slices[number].append((part, part.own(c)))
        n_counts = len(parts[0].changes) if parts else 2
        none = np.zeros((n_counts, 0), dtype=np.int64)

        def of_class(c: int) -> tuple[Floats, Index]:
            level = np.concatenate([np.zeros(0), *(part.level[own] for part, own in slices[c])])
            changes = np.concatenate([none, *(part.changes[:, own] for part, own in slices[c])], axis=1)
            order = np.argsort(level, kind="stable")
            first = heads(level[order])
            summed = np.add.reduceat(changes[:, order], first, axis=1) if len(first) else none
            return level[order][first], summed

        columns = for_each(of_class, range(n_classes), sum(len(part.level) for part in parts))
        return _table(columns, n_counts, n_ref, parts[0].lowest if parts else 0.0)

    def own(self, label: int) -> slice:
        """Return where the levels of a class are."""
        return slice(int(self.bounds[label]), int(self.bounds[label + 1]))

    def counts(self) -> Index:
        """Return the summed counts right below each level, (n_counts, n)."""
        sums = np.zeros((len(self.changes), len(self.level) + 1), dtype=np.int64)
        np.cumsum(self.changes[:, ::-1], axis=1, out=sums[:, -2::-1])
        sums[:, :-1] -= np.repeat(sums[:, self.bounds[1:]], np.diff(self.bounds), axis=1)
        return sums[:, :-1]

    def steps(self, label: int) -> tuple[Floats, Index]:
        """Return the summed counts of a class at all thresholds: (n,) ascending, and (n_counts, n).

        Each holds up to the next threshold, the last from there on.
        """
        own = self.own(label)
        counts = np.zeros((len(self.changes), own.stop - own.start + 1), dtype=np.int64)
        np.cumsum(self.changes[:, own][:, ::-1], axis=1, out=counts[:, -2::-1])
        return np.append(self.lowest, self.level[own]), counts

    def best(self, merit: Merit, *, inclusive: bool) -> tuple[Floats, Index, Index]:
        """Return the threshold of each class at which a merit is highest, and TP and N_sys there.

        (n_classes,) each; files are summed. A class without reference has no such threshold: NOTHING.
        """
        n_classes, n_ref, size = len(self.n_ref), self.n_ref, np.diff(self.bounds)
        counts = self.counts()[:2]
        values = merit(counts[TP], counts[N_SYS], np.repeat(n_ref, size))
        highest, nothing = np.full(n_classes, -np.inf), np.zeros(n_classes, dtype=np.int64)
        if len(values):
            highest[size > 0] = np.maximum.reduceat(values, self.bounds[:-1][size > 0])
        detects = (n_ref > 0) & (highest > merit(nothing, nothing, n_ref))
        # The last of those that are highest in a class.
        at = np.flatnonzero(values == np.repeat(highest, size))
        at = at[np.searchsorted(at, self.bounds[1:][detects]) - 1]
        below = np.where(at > self.bounds[:-1][detects], self.level[at - 1], math.nan)
        threshold = np.where(n_ref > 0, 2.0 if inclusive else 1.0, NOTHING)
        threshold[detects] = thresholds_between(below, self.level[at], inclusive=inclusive)
        tp, n_sys = np.zeros((2, n_classes), dtype=np.int64)
        tp[detects], n_sys[detects] = counts[:, at]
        return threshold, tp, n_sys


def best_thresholds(scores: Floats, positive: Bools, beta: float = 1.0, inclusive: bool = False) -> Floats:
    """Return for each class of cells the threshold with the best F, (n_classes,), a few classes at a time.

    scores, positive: (n_classes, n_cells). The levels of all classes together would take several times the
    memory of the cells.
    """
    step = max(1, _AT_ONCE // max(scores.shape[1], 1))

    def best(begin: int) -> Floats:
        some = slice(begin, begin + step)
        table = ThresholdCounts.of_cells(scores[some], positive[some])
        return table.best(f_merit(beta), inclusive=inclusive)[0]

    return np.concatenate([np.zeros(0), *for_each(best, range(0, len(scores), step), scores.size)])


def f_merit(beta: float) -> Merit:
    """Return F as a merit; 0 where there is nothing at all."""
    square = beta * beta

    def merit(tp: Floats, n_sys: Floats, n_ref: Floats) -> Floats:
        top, bottom = tp * (1.0 + square), n_sys + square * n_ref
        bottom += n_ref == 0
        return np.divide(top, bottom, out=top)

    return merit


def error_merit(tp: Any, n_sys: Any, n_ref: Any) -> Any:  # noqa: ANN401, ARG001 - a Merit
    """Return what is highest where errors, N_ref + N_sys - 2 TP, are fewest."""
    return 2 * tp - n_sys


def threshold_between(below: float | None, lowest: float, inclusive: bool = False) -> float:
    """Return one threshold of `thresholds_between`; below: None where all scores are detected."""
    low = math.nan if below is None else below
    return float(thresholds_between(np.array([low]), np.array([lowest]), inclusive=inclusive)[0])


def thresholds_between(below: Floats, lowest: Floats, *, inclusive: bool) -> Floats:
    """Return the middles between the highest scores that are not detected and the lowest that are, (n,).

    below, lowest: (n,) in [0, 1], below < lowest; below is NaN where all scores are detected. Such a middle
    is that to 0, which is the value of what has no score; a `lowest` of 0 has EVERYTHING.

    Half the sum of two floats is the exact middle, rounded once: rounding keeps the order, so that it is at
    least the lower and at most the higher. Where it is the one that must not be, as between two floats next
    to each other, the other one is taken: below <= threshold < lowest, or below < threshold <= lowest for
    `inclusive`. Scores that are all multiplied by a power of two have thresholds multiplied by it.
    """
    everything = np.isnan(below) & (lowest <= 0.0)
    low = np.where(np.isnan(below), 0.0, below)
    middle = (low + lowest) / 2
    between = np.where(middle > low, middle, lowest) if inclusive else np.where(middle < lowest, middle, low)
    return np.where(everything, 0.0 if inclusive else EVERYTHING, between)


def _table(
    classes: Iterable[tuple[Array, ...]], n_counts: int, n_ref: Index, lowest: float = 0.0
) -> ThresholdCounts:
    """Return the table of the levels, changes and, if apart, files of all classes."""
    columns = list(zip(*classes, strict=True))
    if not columns:
        none = np.zeros((n_counts, 0), dtype=np.int64)
        return ThresholdCounts(np.zeros(1, dtype=np.int64), np.zeros(0), none, n_ref, None, lowest)
    level, changes, *file = columns
    bounds, files = np.cumsum([0, *map(len, level)]), np.concatenate(file[0]) if file else None
    levels, rows = np.concatenate(level), np.concatenate(changes, axis=1)
    return ThresholdCounts(bounds, levels, rows, n_ref, files, lowest)


def _by_class(alive: Alive, n_classes: int) -> list[Alive]:
    """Return what is of each class."""
    label, file, born, dies, weight = alive
    if np.any(label[1:] < label[:-1]):
        # Small integers are sorted by their digits.
        order = np.argsort(label.astype(np.uint16) if n_classes <= 2**16 else label, kind="stable")
        label, file, born, dies = label[order], file[order], born[order], dies[order]
        weight = weight[order] if isinstance(weight, np.ndarray) else weight
    bounds = np.searchsorted(label, np.arange(n_classes + 1)).tolist()
    classes = []
    for some in (slice(begin, end) for begin, end in pairwise(bounds)):
        amount = weight[some] if isinstance(weight, np.ndarray) else weight
        classes.append(Alive(label[some], file[some], born[some], dies[some], amount))
    return classes


def _up_to(level: Floats, ends: Floats, weight: Index | int) -> Index:
    """Return the weight of all that ends at or below each of some ascending levels."""
    if not isinstance(weight, np.ndarray):
        return weight * np.searchsorted(np.sort(ends), level, side="right")
    order = np.argsort(ends)
    sums = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(weight[order])))
    up_to: Index = sums[np.searchsorted(ends[order], level, side="right")]
    return up_to
