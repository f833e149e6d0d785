"""What stands beside scores: how they spread over folds, and what costs most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class Spread:
    """How a score differs between folds.

    name: of the score of all folds pooled. values: of each fold, None where undefined. mean, deviation: of
    the defined ones, and their standard deviation (divided by their number less 1); None of fewer than two.
    """

    name: str
    values: tuple[float | int | None, ...]
    mean: float | None
    deviation: float | None

    @classmethod
    def of(cls, name: str, values: Sequence[float | int | None]) -> Self:
        """Return the spread of a score that has these values in the folds."""
        from statistics import fmean, stdev

        known = [float(value) for value in values if value is not None]
        several = len(known) > 1
        return cls(name, tuple(values), fmean(known) if several else None, stdev(known) if several else None)


@dataclass(frozen=True, slots=True)
class Folds:
    """The folds by name, how many files each has, and the spread of scores over them."""

    names: tuple[str, ...]
    files: tuple[int, ...]
    spreads: tuple[Spread, ...]


@dataclass(frozen=True, slots=True)
class Offender:
    """A file, a class, or a segment that costs much.

    file: None for a class. class_name: of a segment the class that costs most in it; None for a file.
    onset, offset: of a segment, in seconds. cost: missed + inserted. share: of the cost of all, in [0, 1].
    missed, inserted: what of the reference the system lacks, and what it has beyond it, in segments (or
    events): sums of values for the soft reading. reference, system: the values of a segment's class.
    """

    file: str | None
    class_name: str | None
    cost: float | int
    share: float
    missed: float | int
    inserted: float | int
    onset: float | None = None
    offset: float | None = None
    reference: float | None = None
    system: float | None = None


@dataclass(frozen=True, slots=True)
class Worst:
    """What costs most, the worst first.

    basis, reading: of which counts; `segment.soft` if it is evaluated. Segments are listed for segments only.
    """

    basis: str
    reading: str
    files: tuple[Offender, ...]
    classes: tuple[Offender, ...]
    segments: tuple[Offender, ...]
