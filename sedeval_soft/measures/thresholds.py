"""Counts of a class at every threshold of the system: what is best over thresholds is read off these.

A level is a value of the system at which counts change: what counts right below it need not count at it
or above. Thresholds between which no count changes are alike, and `threshold_between` is the number that is
written for them; of equally good ones the highest is best. No threshold is below 0: a value of 0 is never a
detection.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from sedeval_soft.arrays import Array, Bools, Codes, Floats, Index
from sedeval_soft.sorting import heads, in_order
from sedeval_soft.threads import for_each

Merit = Callable[[Any, Any, Any], Any]
"""What is best where it is highest: of TP, N_sys and N_ref. It never falls with TP, nor rises with N_sys."""

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
    """By how much counts of a class grow from thresholds at or above a level to those right below it.

    level: (n,) ascending, above 0; one may be there several times. file: (n,) whose change it is. changes:
    (n_counts, n) whole numbers, in rows TP, N_SYS and others. n_ref: (n_files,) sizes of the reference. Where
    files are counted as one, that is file 0.
    """

    level: Floats
    file: Codes
    changes: Array
    n_ref: Index

    @classmethod
    def of(cls, level: Floats, file: Codes, changes: Array, n_ref: Index) -> Self:
        """Put changes in the order of levels."""
        level, order = in_order(level)
        return cls(level, file.take(order), changes.take(order, axis=1), n_ref)

    @classmethod
    def of_cells(
        cls, system: Floats, positive: Bools, file: Codes, n_files: int, paired: Bools | None = None
    ) -> Self:
        """Count cells, (n_cells,) each: each is detected at every threshold below its value.

        file: whose each is, of so many. paired: as `positive`, the cells that are detected first of as many
        as are positive in their place.
        """
        heard = system > 0
        marks = [positive[heard], np.ones(np.count_nonzero(heard), dtype=bool)]
        marks += [] if paired is None else [paired[heard]]
        n_ref = np.bincount(file[positive], minlength=n_files)
        return cls.of(system[heard], file[heard], np.array(marks), n_ref)

    @classmethod
    def of_lives(cls, lives: Lives, n_ref: Index, n_counts: int = 2) -> list[ThresholdCounts]:
        """Count what lives at thresholds, for each class; n_ref: (n_files, n_classes).

        Births at level 0 are of no threshold: there is none below.
        """
        n_classes = n_ref.shape[1]
        # Where lives end, and where they begin.
        ends = [
            (
                rows,
                level[some],
                of.label[some],
                of.file[some],
                np.broadcast_to(sign * of.weight, some.shape)[some],
            )
            for of, rows in lives
            for level, sign, some in ((of.dies, 1, of.dies > 0), (of.born, -1, of.born > 0))
        ]
        rows_of, levels, *others = zip(*ends, strict=True)
        level, label, file, weight = map(np.concatenate, (levels, *others))
        changes, edges = np.zeros((n_counts, len(level)), dtype=np.int64), np.cumsum([0, *map(len, levels)])
        for rows, some in zip(rows_of, map(slice, edges[:-1], edges[1:]), strict=True):
            changes[list(rows), some] = weight[some]
        # Small integers are sorted by their digits.
        order = np.argsort(label.astype(np.min_scalar_type(n_classes)), kind="stable")
        bounds = np.searchsorted(label, np.arange(n_classes + 1), sorter=order)

        def of_class(c: int) -> ThresholdCounts:
            own = order[bounds[c] : bounds[c + 1]]
            return cls.of(level[own], file[own], changes.take(own, axis=1), n_ref[:, c])

        return for_each(of_class, range(n_classes), len(level))

    def steps(self) -> tuple[Floats, Index]:
        """Return the summed counts at all thresholds: (n,) ascending, and (n_counts, n).

        Each holds up to the next threshold, the last from there on.
        """
        first = heads(self.level)
        counts = np.zeros((len(self.changes), len(first) + 1), dtype=np.int64)
        changes = np.add.reduceat(self.changes, first, axis=1, dtype=np.int64)
        np.cumsum(changes[:, ::-1], axis=1, out=counts[:, -2::-1])
        return np.append(0.0, self.level[first]), counts


def f_merit(beta: float) -> Merit:
    """Return F as a merit; 0 where there is nothing at all."""
    square = beta * beta
    return lambda tp, n_sys, n_ref: tp * (1.0 + square) / (n_sys + (square * n_ref + (n_ref == 0)))


def error_merit(tp: Any, n_sys: Any, n_ref: Any) -> Any:  # noqa: ANN401, ARG001 - a Merit
    """Return what is highest where errors, N_ref + N_sys - 2 TP, are fewest."""
    return 2 * tp - n_sys


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
