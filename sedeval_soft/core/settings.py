"""Every setting that shapes the numbers, with its default.

The command line's options, the keyword arguments of `evaluate` and the keys of a settings file
are these fields: one list, so that the three cannot drift apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, Literal, Self, get_args

from sedeval_soft.core.errors import SettingsError
from sedeval_soft.core.hints import did_you_mean
from sedeval_soft.core.ticks import TICKS_PER_SECOND, tick

Pool = Literal["max", "mean"]
Matching = Literal["optimal", "greedy"]
EventForm = Literal["auto", "merge", "rows"]
Compat = Literal["sed_eval"]

READINGS: dict[str, tuple[str, ...]] = {
    "segment": ("hard", "optimal", "soft"),
    "event": ("hard", "optimal", "soft"),
}
"""The readings of each basis: what `only` can name."""

_CHOICES: dict[str, tuple[str, ...]] = {
    "pool": get_args(Pool),
    "matching": get_args(Matching),
    "events": get_args(EventForm),
}

_NUMBERS = (
    "segment_length",
    "threshold",
    "reference_threshold",
    "onset_collar",
    "offset_collar",
    "offset_collar_rate",
    "beta",
)
_SHORTEST = 1 / TICKS_PER_SECOND
_LONGEST = 1e6
"""Seconds; a limit of segments and collars that keeps ticks far from overflow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of one evaluation.

    segment_length: seconds per segment, a whole number of microseconds as all times (others are rounded).
    pool: how values that share a segment are combined, `max` or the time-weighted `mean`.
    threshold: a system value is active above it; reference_threshold: the same for the reference,
        None for the same number.
    inclusive: active at the threshold too (>=), not only above it.
    onset_collar: tolerance of onsets in seconds. offset_collar, offset_collar_rate: offsets may
        deviate by the larger of the collar in seconds and the rate times the reference's length.
    onset, offset: whether event-based scores look at onsets, at offsets.
    matching: `optimal` pairs as many events as can be, `greedy` takes the first free one.
    events: `rows` (each active row is an event), `merge` (touching active rows of a class are one
        event) or `auto` (merge where a table has values, rows where it has none).
    beta: weight of recall in F.
    classes: the classes to evaluate; None for all that occur on either side.
    only: what to evaluate: bases (`segment`) or single readings of one (`segment.soft`).
    compat: None, or a tool whose arithmetic the hard reading follows to the bit.
    strict: make every warning about missing or unknown files and classes an error.

    Raises SettingsError for a value out of range.
    """

    segment_length: float = 1.0
    pool: Pool = "max"
    threshold: float = 0.5
    reference_threshold: float | None = None
    inclusive: bool = False
    onset_collar: float = 0.2
    offset_collar: float = 0.2
    offset_collar_rate: float = 0.5
    onset: bool = True
    offset: bool = True
    matching: Matching = "optimal"
    events: EventForm = "auto"
    beta: float = 1.0
    classes: tuple[str, ...] | None = None
    only: tuple[str, ...] = tuple(READINGS)
    compat: Compat | None = None
    strict: bool = False

    @classmethod
    def of(cls, **values: Any) -> Self:  # noqa: ANN401 - the values are checked below
        """Build settings from keywords, answering an unknown one with close matches."""
        known = [field.name for field in fields(cls)]
        for name in values:
            if name not in known:
                hint = did_you_mean(name, known) or f"; known: {', '.join(known)}"
                raise SettingsError(f"unknown setting {name!r}{hint}")
        for name in ("classes", "only"):
            value = values.get(name)
            if isinstance(value, str):
                values[name] = (value,)
            elif isinstance(value, Iterable):
                values[name] = tuple(value)
            elif value is not None:
                raise SettingsError(f"{name} must be a list of names, not {value!r}")
        if values.get("only", ()) is None:
            del values["only"]
        return cls(**values)

    def __post_init__(self) -> None:
        """Check every value, so that nothing downstream has to."""
        self._check_numbers()
        for name in ("inclusive", "onset", "offset", "strict"):
            if not isinstance(getattr(self, name), bool):
                raise SettingsError(f"{name} must be true or false, not {getattr(self, name)!r}")
        for name, choices in _CHOICES.items():
            self._check_choice(name, getattr(self, name), choices)
        if self.compat is not None:
            self._check_choice("compat", self.compat, get_args(Compat))
        if not (self.onset or self.offset):
            raise SettingsError("onset and offset cannot both be left out of event-based scores")
        self._check_lists()

    def _check_numbers(self) -> None:
        for name in _NUMBERS:
            value = getattr(self, name)
            if value is None and name == "reference_threshold":
                continue
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                raise SettingsError(f"{name} must be a finite number, not {value!r}")
            object.__setattr__(self, name, float(value))
        if not _SHORTEST <= self.segment_length <= _LONGEST:
            raise SettingsError(
                f"segment_length must be {_SHORTEST:g} to {_LONGEST:g} s, not {self.segment_length}"
            )
        if self.beta <= 0:
            raise SettingsError(f"beta must be above 0, not {self.beta}")
        for name in ("onset_collar", "offset_collar", "offset_collar_rate"):
            if not 0 <= getattr(self, name) <= _LONGEST:
                raise SettingsError(f"{name} must be 0 to {_LONGEST:g}, not {getattr(self, name)}")
        # Times are whole ticks: what is kept here, and shown, is what is used.
        for name in ("segment_length", "onset_collar", "offset_collar"):
            object.__setattr__(self, name, tick(getattr(self, name)) / TICKS_PER_SECOND)

    def _check_lists(self) -> None:
        families = tuple(f"{basis}.{reading}" for basis in READINGS for reading in READINGS[basis])
        if not self.only or len(set(self.only)) < len(self.only):
            raise SettingsError(f"only must name one or more of {', '.join(READINGS)}, each once")
        for part in self.only:
            self._check_choice("only", part, (*READINGS, *families))
        if self.classes is None:
            return
        if not self.classes or not all(isinstance(name, str) and name for name in self.classes):
            raise SettingsError("classes must name at least one class, and no empty name")
        if len(set(self.classes)) < len(self.classes):
            raise SettingsError("classes names a class twice")

    @staticmethod
    def _check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
        if value not in choices:
            raise SettingsError(f"{name} must be one of {', '.join(choices)}, not {value!r}")

    @property
    def reference_cut(self) -> float:
        """The threshold of the reference: its own, else the system's."""
        return self.threshold if self.reference_threshold is None else self.reference_threshold

    def wants(self, basis: str, reading: str | None = None) -> bool:
        """Return whether a basis is evaluated, in a reading or (None) in any."""
        if reading is None:
            return any(part.partition(".")[0] == basis for part in self.only)
        return basis in self.only or f"{basis}.{reading}" in self.only

    def to_dict(self) -> dict[str, Any]:
        """Return all settings as plain values, the reference threshold resolved."""
        values = {name: getattr(self, name) for name in self.__slots__}
        values["reference_threshold"] = self.reference_cut
        values["classes"] = None if self.classes is None else list(self.classes)
        values["only"] = list(self.only)
        return values
