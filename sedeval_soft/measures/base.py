"""What a measure and a family are: a measure is one object in one place.

Columns of tables, `--list-scores`, `explain`, the docs' tables and hints at misspelt names are made from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal, Protocol

import numpy.typing as npt

from sedeval_soft.measures.averages import Averaged, averaged

Array = npt.NDArray[Any]
Direction = Literal["higher", "lower", "none"]

Table = dict[str, Averaged]
"""The values of measures by name."""

Tables = dict[tuple[str, str], Table]
"""The tables of each basis and reading."""


class Statistics(Protocol):
    """What measures are values of: of each class, (..., n_classes), or of all classes pooled, (...)."""

    @property
    def n_ref(self) -> Array:
        """The size of the reference of each class, which averages are weighted by."""

    def pooled(self) -> Any:  # noqa: ANN401 - the same kind of statistics
        """Return the statistics of all classes together: a micro average is the same formula of these."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One number: its name, its formula as text and as code, and all that is told of it.

    name: as in score names. summary: one line. formula: in the letters of `explanation`.
    value: the formula, of `Statistics`, NaN where it is undefined; None where all measures of a family are
    computed together, as those of a curve. low, high: the range, None where unbounded. direction: which way
    is better, `none` for counts. undefined: when there is no value. missing: what an undefined value of a
    class counts in averages, None to leave it out. source: who defined it. averages: beside the value of
    each class. has_classes: whether single classes have a value. short: its name in the head of a column;
    aliases: what others call it. table: where it is shown, see `report.layout`. needs: an option without
    which it is not computed, besides those of its family. exact: whether every digit is shown.
    letters: of its formula, that mean something else than in other formulas.
    """

    name: str
    summary: str
    formula: str
    value: Callable[[Any], Array] | None = None
    _: KW_ONLY
    low: float | None = 0.0
    high: float | None = 1.0
    direction: Direction = "higher"
    undefined: str = "never"
    missing: float | None = None
    source: str = "this project"
    averages: tuple[str, ...] = ("micro", "macro", "weighted")
    has_classes: bool = True
    short: str = ""
    aliases: tuple[str, ...] = ()
    table: str = ""
    needs: str = ""
    exact: bool = False
    letters: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def best(self) -> float | None:
        """Return the value of a perfect system, None for counts and thresholds."""
        return {"higher": self.high, "lower": self.low, "none": None}[self.direction]

    def averaged(self, statistics: Statistics, pooled: Any) -> Averaged:  # noqa: ANN401 - as `Statistics.pooled`
        """Return the value of each class, and the averages."""
        if self.value is None:
            raise TypeError(f"{self.name} is computed together with others")
        classes = self.value(statistics) if self.has_classes else None
        if "overall" in self.averages:
            return Averaged(classes, overall=self.value(pooled))
        micro = self.value(pooled) if "micro" in self.averages else None
        if classes is None or "macro" not in self.averages:
            return Averaged(classes, micro)
        return averaged(classes, micro, statistics.n_ref, self.missing)


def scores_of(measures: Iterable[Measure], statistics: Statistics) -> Table:
    """Return the values of measures by name."""
    pooled = statistics.pooled()
    return {measure.name: measure.averaged(statistics, pooled) for measure in measures}


@dataclass(frozen=True, slots=True)
class Family:
    """Measures of one basis in one reading.

    summary: what the system and the reference are read as. group: what must be asked for
    (the setting `measures`) to have them; empty for those that come with their basis and reading.
    """

    basis: str
    reading: str
    summary: str
    measures: tuple[Measure, ...]
    group: str = ""
