"""A measure is a value with a name: its formula, range, direction and source live beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Direction = Literal["higher", "lower", "none"]


@dataclass(frozen=True, slots=True)
class Measure:
    """What a number means.

    name: as in score names. summary: one line. formula: in the statistics of DESIGN's tables.
    low, high: the range, None where unbounded. direction: which way is better, `none` for counts.
    undefined: when there is no value. source: who defined it. averages: beside the value of each
    class. has_classes: whether single classes have a value.
    """

    name: str
    summary: str
    formula: str
    low: float | None
    high: float | None
    direction: Direction
    undefined: str
    source: str
    averages: tuple[str, ...] = ("micro", "macro", "weighted")
    has_classes: bool = True

    @property
    def best(self) -> float | None:
        """Return the value of a perfect system, None for counts and thresholds."""
        return {"higher": self.high, "lower": self.low, "none": None}[self.direction]


@dataclass(frozen=True, slots=True)
class Family:
    """Measures of one basis in one reading.

    group: what must be asked for (the setting `measures`) to have them; empty for those that come with
    their basis and reading.
    """

    basis: str
    reading: str
    summary: str
    measures: tuple[Measure, ...]
    group: str = ""
