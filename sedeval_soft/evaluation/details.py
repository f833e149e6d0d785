"""What may stand beside scores: confusions, chance levels, folds, what costs most, a sweep of thresholds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self


@dataclass(frozen=True, slots=True)
class Confusion:
    """Which class was taken for which.

    basis, reading: of what. classes: names. pairs: counts by reference class, then by system class.
    missed: by reference class, where no system class is. inserted: by system class, where there is no
    reference class.
    """

    basis: str
    reading: str
    classes: tuple[str, ...]
    pairs: tuple[tuple[int, ...], ...]
    missed: tuple[int, ...]
    inserted: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Level:
    """The chance level of a score.

    chance: the mean score of the same output where it knows nothing of the recordings; None where undefined.
    error: the standard error of that mean; None of a mean that is exact. normalised: (score - chance) / (best
    - chance): 0 at chance, 1 for the best; None where there is no best, or it is at chance.
    """

    chance: float | None
    error: float | None
    normalised: float | None


@dataclass(frozen=True, slots=True)
class Chance:
    """The chance levels of scores, by name.

    draws: how many arrangements in time were looked at; everything: whether these are all that there are.
    seed: of the random numbers.
    """

    draws: int
    seed: int
    everything: bool
    levels: Mapping[str, Level]


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
    onset: float | None = field(default=None, kw_only=True)
    offset: float | None = field(default=None, kw_only=True)
    cost: float | int
    share: float
    missed: float | int
    inserted: float | int
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


THRESHOLDS = tuple(k / 10 for k in range(1, 10))
"""Thresholds of the reference at which scores are told."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """Averages of scores at each of some thresholds of the reference.

    thresholds: (n,) ascending. at: by basis, (n,) how many segments or clips of a class have exactly that
    value in the reference, or how many of its events are there up to it and not above: whether these count is
    decided by > or >=. scores: by name, (n,) values, None where undefined.
    """

    thresholds: tuple[float, ...]
    at: Mapping[str, tuple[int, ...]]
    scores: Mapping[str, tuple[float | int | None, ...]]
