"""What scores are worth: their chance levels, and where they stand between chance and the best."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


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
