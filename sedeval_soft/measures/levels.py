"""Levels for a soft reading without closed form: the mean of the hard reading over them.

Nothing changes between two levels at which an event begins or ceases to exist. If there are at most `MOST`
such levels, the mean over all of them, each with its width, is exactly the soft reading. Otherwise `MOST`
evenly spaced levels represent all of them, and the output reports it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from sedeval_soft.arrays import Floats
from sedeval_soft.measures.detection import DetectionCounts
from sedeval_soft.sorting import distinct
from sedeval_soft.timeline.events import EventLifetimes

MOST = 200
"""Number of levels beyond which evenly spaced ones are used."""


@dataclass(frozen=True, slots=True)
class Levels:
    """Levels in (0, 1] at which labels are binarised.

    level: (n,) ascending. width: (n,) the part of (0, 1] that each represents; together they end at the
    highest level of all events. n_distinct: the number of distinct levels.
    """

    level: Floats
    width: Floats
    n_distinct: int

    @classmethod
    def of(cls, sides: Sequence[EventLifetimes]) -> Self:
        """Return the levels at which the events of all sides may differ."""
        ends = [levels for side in sides for levels in (side.born, side.dies)]
        edges = distinct(np.concatenate([np.zeros(1), *ends]))
        n, top = len(edges) - 1, float(edges[-1])
        if n <= MOST:
            return cls(edges[1:], np.diff(edges), n)
        return cls(top * (np.arange(MOST) + 0.5) / MOST, np.full(MOST, top / MOST), n)

    @property
    def sampled(self) -> tuple[int, int] | None:
        """The number of levels, and the number of distinct levels; None if these are the same."""
        return None if self.n_distinct == len(self.level) else (len(self.level), self.n_distinct)


def mean_over_levels(
    count: Callable[..., DetectionCounts], *sides: EventLifetimes
) -> tuple[DetectionCounts, tuple[int, int] | None]:
    """Return the mean of counts over `Levels` of all sides, and their `Levels.sampled`.

    count: counts the events of all sides at one level.
    """
    levels, counts = Levels.of(sides), list[DetectionCounts]()
    # Without events, every count is 0 at any level.
    pairs = [*zip(levels.level.tolist(), levels.width.tolist(), strict=True)] or [(1.0, 0.0)]
    for level, width in pairs:
        cut = (side.take(side.alive(level, inclusive=True)).events() for side in sides)
        counts.append(DetectionCounts(*(width * column for column in count(*cut))))
    return DetectionCounts(*(np.sum(column, axis=0) for column in zip(*counts, strict=True))), levels.sampled
