"""Where the thresholds of the tuned reading come from, as settings say it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast, get_args

from sedeval_soft.core.errors import SettingsError
from sedeval_soft.core.numbers import finite, plain

Thresholds = dict[str, float]
"""A threshold by class."""

Rule = Literal["midpoint", "prior"]
"""Thresholds that follow from the values of segments: the middle of a class's range, and that above which as
many segments are as are active in the reference."""

RULES = get_args(Rule)

CrossTune = int | Literal["folds"] | None

BASES = ("segment", "event", "intersection", "clip")
"""The bases of which the system is cut at thresholds."""

OBJECTIVES = tuple(f"{basis}.{measure}" for basis in BASES for measure in ("f1", "error_rate"))
"""What thresholds can be best for: F (with the weight of recall that the settings have), or error rate."""

MOST_PARTS = 1000
"""Into which files are dealt."""

LOWEST, HIGHEST = -1.0, 2.0
"""Thresholds that let everything and nothing pass."""


@dataclass(frozen=True, slots=True)
class TunedClass:
    """The best threshold of a class; None where it has no reference.

    score: what it reaches. low, high: all thresholds between them are as good. n_ref: size of the reference.
    """

    threshold: float | None
    score: float | None
    low: float | None
    high: float | None
    n_ref: int


@dataclass(frozen=True, slots=True)
class Tuning:
    """Thresholds that are best on some data.

    objective: what for, one of `OBJECTIVES`. beta, inclusive: as in the settings. classes: by name.
    """

    objective: str
    beta: float
    inclusive: bool
    classes: Mapping[str, TunedClass]

    @property
    def thresholds(self) -> Thresholds:
        """The thresholds of classes that have one."""
        return {label: of.threshold for label, of in self.classes.items() if of.threshold is not None}


def checked_tuning(
    thresholds: object, cross_tune: object, objective: object
) -> tuple[Thresholds | Rule | None, CrossTune, str | None]:
    """Return the settings of the tuned reading, checked; raises SettingsError for what they cannot be."""
    if thresholds is not None and cross_tune is not None:
        raise SettingsError("thresholds are given; cross_tune finds them: expected one of the two")
    if objective is not None and objective not in OBJECTIVES:
        raise SettingsError(f"objective must be one of {', '.join(OBJECTIVES)}, not {objective!r}")
    return (
        None if thresholds is None else checked_thresholds(thresholds),
        _checked_parts(cross_tune),
        None if objective is None else str(objective),
    )


def checked_thresholds(value: object) -> Thresholds | Rule:
    """Return thresholds by class, or the rule that they follow; raises SettingsError for anything else."""
    for rule in RULES:
        if value == rule:
            return cast("Rule", rule)
    if not isinstance(value, Mapping):
        raise SettingsError(
            f"thresholds must map class names to numbers, or be one of {', '.join(RULES)}, not {value!r}"
        )
    found = {}
    for label, number in value.items():
        if not isinstance(label, str) or not label:
            raise SettingsError(f"thresholds must have class names, in quotes if need be, not {label!r}")
        threshold = finite(f"thresholds of {label!r}", plain(number))
        if not LOWEST <= threshold <= HIGHEST:
            raise SettingsError(f"thresholds of {label!r} must be {LOWEST:g} to {HIGHEST:g}, not {number!r}")
        found[label] = threshold
    return found


def _checked_parts(value: object) -> CrossTune:
    if value is None:
        return None
    if value == "folds":
        return "folds"
    if isinstance(value, bool) or not isinstance(value, int) or not 2 <= value <= MOST_PARTS:
        raise SettingsError(f"cross_tune must be a whole number, 2 to {MOST_PARTS}, or folds, not {value!r}")
    return value
