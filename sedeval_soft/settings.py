"""Every setting that shapes the numbers, as one object that is checked once and that nothing doubts later.

What each setting means and can be by itself is in `fields`; here is what settings can be together, and what
follows from them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, Literal, Self, cast

import numpy as np

from sedeval_soft.errors import SettingsError
from sedeval_soft.fields import (
    DEFAULT_ONLY,
    FIELDS,
    IMPLIED,
    RULES,
    Compat,
    EntropyUnit,
    EventForm,
    Field,
    Interval,
    Matching,
    Pool,
    Rule,
    TNorm,
)
from sedeval_soft.names import hint, meant

Seconds = float | dict[str, float]
"""Of all classes, or by class."""

Thresholds = dict[str, float]
"""By class."""

Parts = dict[str, tuple[str, ...]]
"""What belongs to each part by its name: classes of a group, patterns of file names of a scene."""

_TICKS = 10**6
"""Ticks a second: times are whole microseconds. Also the greatest denominator of the length of a segment."""

READINGS: dict[str, tuple[str, ...]] = {
    "segment": ("hard", "tuned", "optimal", "soft"),
    "event": ("hard", "tuned", "optimal", "soft"),
    "intersection": ("hard", "tuned", "optimal", "soft"),
    "clip": ("hard", "tuned", "optimal", "soft"),
    "ranking": ("hard", "soft"),
}
"""The readings of each basis: what `only` can name."""

GROUPS = ("curves", "divergence", "calibration", "confusion", "joint")
"""Measures that are computed only when asked for: what `measures` can name."""

ONLY = (*READINGS, "all", *(f"{basis}.{reading}" for basis in READINGS for reading in READINGS[basis]))

POSTPROCESSING = ("median_filter", "min_gap", "min_duration")
"""What is done to a system's output before it is scored, in this order."""

PSDS: dict[str, dict[str, float]] = {
    "dcase-psds1": {"dtc": 0.7, "gtc": 0.7, "cttc": 0.3, "alpha_ct": 0.0, "alpha_st": 1.0, "max_efpr": 100.0},
    "dcase-psds2": {"dtc": 0.1, "gtc": 0.1, "cttc": 0.3, "alpha_ct": 0.5, "alpha_st": 1.0, "max_efpr": 100.0},
}
"""The PSDS of DCASE task 4 (2020 and later) by name."""

CRITERIA, WEIGHTS = ("dtc", "gtc", "cttc"), ("alpha_ct", "alpha_st", "max_efpr")
"""Settings of intersections, and of PSDS alone."""

BASES = ("segment", "event", "intersection", "clip")
"""The bases of which the system is cut at thresholds."""

OBJECTIVES = tuple(f"{basis}.{measure}" for basis in BASES for measure in ("f1", "error_rate"))
"""What thresholds can be best for: F (with the weight of recall that the settings have), or error rate."""

LOWEST, HIGHEST = -1.0, 2.0
"""Thresholds that let everything and nothing pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of one evaluation.

    Raises SettingsError for a value out of range, and for settings that contradict one another.
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
    median_filter: Seconds = 0.0
    min_gap: Seconds = 0.0
    min_duration: Seconds = 0.0
    dtc: float | None = None
    gtc: float | None = None
    cttc: float | None = None
    psds: str | None = None
    alpha_ct: float | None = None
    alpha_st: float | None = None
    max_efpr: float | None = None
    psds_median_filters: tuple[float, ...] = ()
    beta: float = 1.0
    t_norm: TNorm = "minimum"
    measures: tuple[str, ...] = ()
    max_fpr: float = 0.1
    max_fnr: float = 0.1
    iou: float = 0.5
    bins: int = 15
    entropy_unit: EntropyUnit = "nats"
    epsilon: float = 1e-7
    thresholds: Thresholds | Rule | None = field(default=None, hash=False)
    cross_tune: int | Literal["folds"] | None = None
    objective: str | None = None
    satisfice: str | None = None
    reference_sweep: bool = False
    ci: Interval | None = None
    replicates: int = 1000
    confidence: float = 0.95
    seed: int = 0
    fixed_thresholds: bool = False
    worst: int = 0
    classes: tuple[str, ...] | None = None
    groups: Parts = field(default_factory=dict, hash=False)
    scenes: Parts = field(default_factory=dict, hash=False)
    only: tuple[str, ...] = DEFAULT_ONLY
    compat: Compat | None = None
    strict: bool = False

    @classmethod
    def of(cls, /, **values: Any) -> Self:  # noqa: ANN401 - SettingsKeywords, perhaps misspelled: checked below
        """Build settings from keywords, answering an unknown one with close matches.

        A text stands for a list of it alone; None is the default where a setting cannot be None.
        """
        for name in values:
            if name not in FIELDS:
                raise SettingsError(f"unknown setting {name!r}{hint(name, list(FIELDS))}")
        for name in ("classes", "only", "measures", "psds_median_filters"):
            value = values.get(name)
            if isinstance(value, str):
                values[name] = (value,)
            elif isinstance(value, Iterable) and not isinstance(value, Mapping):
                values[name] = tuple(value)
            elif value is not None:
                raise SettingsError(f"{name} must be a list, not {value!r}")
        given = {
            name: value for name, value in values.items() if value is not None or not FIELDS[name].optional
        }
        settings = cls(**given)
        # Parts of what a caller asks for do without what readings that are left out would have.
        if settings.satisfice is not None and not any(settings.wants(basis, "optimal") for basis in READINGS):
            raise SettingsError("satisfice is of optimal readings; only leaves them out")
        if settings.reference_sweep and not any(map(settings.sweeps, READINGS)):
            raise SettingsError("reference_sweep is of hard and optimal readings; only leaves them out")
        return settings

    def __post_init__(self) -> None:
        """Check every value, so that nothing downstream has to; numpy's scalars become Python's."""
        for name, definition in FIELDS.items():
            value = getattr(self, name)
            # A default needs no check. It is known by its text: True is 1, and -0.0 is 0.0, in other texts.
            if repr(value) != repr(definition.default):
                check = _CHECKS.get(name) or _CHECK_KIND[definition.kind]
                object.__setattr__(self, name, check(name, plain(value)))
        for wrong, message in self._contradictions():
            if wrong:
                raise SettingsError(message)

    def _contradictions(self) -> Iterator[tuple[object, str]]:
        """Yield what settings cannot be together, each with what is said of it."""
        cut = self.reference_cut
        # What no row covers has the value 0, as rows of 0 do.
        silence = "silence, of value 0, would be active"
        above = "expected a threshold above 0, or one that is not inclusive"
        yield cut < 0, f"the reference threshold must not be below 0, not {cut:g}: {silence}"
        for name, threshold in (("threshold", self.threshold), ("reference_threshold", cut)):
            yield (
                self.inclusive and threshold <= 0,
                f"{name} {threshold:g} cannot go with inclusive: {silence}; {above}",
            )
        yield (
            self.thresholds is not None and self.cross_tune is not None,
            "thresholds are given; cross_tune finds them: expected one of the two",
        )
        yield (
            any(part.endswith(".tuned") for part in self.only) and not self.tunes,
            "thresholds or cross_tune must be given for a tuned reading",
        )
        yield (
            self.reference_sweep and (self.compat or self.matching == "greedy"),
            "reference_sweep cannot go with compat and greedy matching, which go by rows",
        )
        filters = self.psds_median_filters
        yield (
            filters and any(self.lengths_of("median_filter")),
            "median_filter and psds_median_filters exclude one another",
        )
        yield (
            self.events == "rows" and (filters or self.postprocesses),
            "events=rows cannot go with post-processing, which joins and cuts rows",
        )
        for name in self.groups:
            yield name in self.scenes, f"groups and scenes both have {name!r}; expected each name once"
        yield (
            not (self.onset or self.offset),
            "onset and offset cannot both be left out of event-based scores",
        )
        yield (
            self.compat and not (self.wants("segment", "hard") or self.wants("event", "hard")),
            f"compat={self.compat} is of hard segment- and event-based scores; only leaves them out",
        )

    @property
    def segment_ticks(self) -> Fraction:
        """The exact length of a segment in ticks."""
        return exactly(self.segment_length) * _TICKS

    @property
    def reference_cut(self) -> float:
        """The threshold of the reference: its own, else the system's."""
        return self.threshold if self.reference_threshold is None else self.reference_threshold

    @property
    def tunes(self) -> bool:
        """Whether there is a tuned reading: at thresholds that are given, or found on other files."""
        return self.thresholds is not None or self.cross_tune is not None

    def wants(self, basis: str, reading: str) -> bool:
        """Return whether a basis is evaluated in a reading."""
        if reading == "tuned" and not self.tunes:
            return False
        return basis in self.only or f"{basis}.{reading}" in self.only

    def sweeps(self, basis: str) -> bool:
        """Return whether a basis is scored over thresholds of the reference."""
        return self.reference_sweep and (self.wants(basis, "hard") or self.wants(basis, "optimal"))

    @property
    def postprocesses(self) -> bool:
        """Whether the system's output is changed before it is scored."""
        return any(any(self.lengths_of(name)) for name in POSTPROCESSING)

    def lengths_of(self, name: str) -> tuple[float, ...]:
        """Return the lengths in seconds that a post-processing setting holds, whatever their classes."""
        value = getattr(self, name)
        return tuple(value.values()) if isinstance(value, dict) else (value,)

    def of_classes(self, name: str, classes: tuple[str, ...]) -> tuple[float, ...]:
        """Return the length in seconds that a post-processing setting has for each class."""
        value = getattr(self, name)
        return tuple(value.get(label, 0.0) if isinstance(value, dict) else value for label in classes)

    @property
    def wants_psds(self) -> bool:
        """Whether PSDS is asked for: it is slower than what is printed by default."""
        weighted = any(getattr(self, name) is not None for name in WEIGHTS)
        return self.psds is not None or bool(self.psds_median_filters) or weighted

    def criterion(self, name: str) -> float:
        """Return a setting of intersections or PSDS: as it was given, as `psds` has it, or its default."""
        value = getattr(self, name)
        if value is None:
            return (PSDS[self.psds] if self.psds else IMPLIED)[name]
        return float(value)

    def to_dict(self) -> dict[str, Any]:
        """Return all settings as plain values, those that others imply resolved."""
        values = {name: getattr(self, name) for name in FIELDS}
        values["reference_threshold"] = self.reference_cut
        values |= {name: self.criterion(name) for name in (*CRITERIA, *(WEIGHTS if self.wants_psds else ()))}
        if self.ci is None:
            values |= dict.fromkeys(("replicates", "confidence", "seed", "fixed_thresholds"))
        for name in ("groups", "scenes"):
            values[name] = {part: list(members) for part, members in values[name].items()}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


Settings.__doc__ = f"{Settings.__doc__}\n" + "".join(
    f"    {name}: {definition.meaning.replace('null', 'None')}\n" for name, definition in FIELDS.items()
)


# Values of single settings, as they are kept: each function takes the name of a setting for its messages.


def plain(value: Any) -> Any:  # noqa: ANN401 - whatever was given, checked later
    """Return a scalar of numpy, or a tuple of them, as Python has it; anything else as it is."""
    if isinstance(value, tuple):
        return tuple(plain(item) for item in value)
    if isinstance(value, np.float32 | np.float16):
        return float(str(value))  # the decimal that it was written as, as values of these types are read
    return value.item() if isinstance(value, np.generic) else value


def finite(name: str, value: object) -> float:
    """Return a setting as a float; raises SettingsError for anything but a finite number."""
    try:
        number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    except OverflowError:
        raise SettingsError(f"{name} must be a finite number, not one of so many digits") from None
    if not math.isfinite(number):
        raise SettingsError(f"{name} must be a finite number, not {value!r}")
    return number


def _in_range(number: float, definition: Field) -> bool:
    """Return whether a number is in the range of a setting, if that has one."""
    low, high = definition.least, definition.most
    if low is None or high is None:
        return True
    return number <= high and (number > low if definition.above else number >= low)


def _number(name: str, value: object, called: str = "") -> float:
    """Return a finite number in the range of a setting. called: what messages call it."""
    called, definition = called or name, FIELDS[name]
    number = finite(called, value)
    if not _in_range(number, definition):
        low, high = definition.least, definition.most
        expected = f"above {low:g}, at most {high:g}" if definition.above else f"{low:g} to {high:g}"
        raise SettingsError(f"{called} must be {expected}, not {number}")
    return number


def _whole(name: str, value: object, others: str = "") -> int:
    """Return a whole number in the range of a setting. others: what it could be instead, for messages."""
    definition = FIELDS[name]
    if isinstance(value, bool) or not isinstance(value, int) or not _in_range(value, definition):
        expected = f"a whole number, {definition.least} to {definition.most}{others}"
        raise SettingsError(f"{name} must be {expected}, not {value!r}")
    return value


def _switch(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise SettingsError(f"{name} must be true or false, not {value!r}")
    return value


def _choice(name: str, value: object, choices: tuple[str, ...] = ()) -> str:
    choices = choices or FIELDS[name].choices
    if value not in choices:
        wrong = f"{name} must be one of {', '.join(choices)}, not {value!r}"
        raise SettingsError(wrong + meant(str(value), choices))
    return str(value)


def segment_length(name: str, value: object) -> float:
    """Return the length of a segment in seconds, which may be a text such as `1024/44100`, or a fraction.

    Raises SettingsError for anything else.
    """
    if isinstance(value, str):
        parts = re.fullmatch(rf"{_QUOTIENT}/{_QUOTIENT}", value, re.ASCII)
        if not parts or not Decimal(parts[2]):
            raise SettingsError(f"{name} must be a finite number, not {value!r}; 1/3 is one, too")
        value = Fraction(parts[1]) / Fraction(parts[2])
    return finite(name, float(value) if isinstance(value, Fraction) else value)


_QUOTIENT = r"\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*"


@lru_cache(maxsize=256)
def exactly(seconds: float) -> Fraction:
    """Return what a length in seconds stands for: 0.02 for 2/100, and the float nearest to 1/3 for 1/3.

    Up to six decimals are taken as they are written; else the fraction of whole numbers up to a million that
    has this float, if there is one; else the decimals as they are written, to a millionth of a microsecond.
    """
    written = Fraction(repr(seconds))
    if (written * _TICKS).denominator > 1:
        simple = written.limit_denominator(_TICKS)
        written = simple if float(simple) == seconds else written
    return (written * _TICKS).limit_denominator(_TICKS) / _TICKS


def short_fraction(seconds: float) -> str:
    """Return a length in seconds as text that can be given again: a decimal, or one such as `1/3`."""
    exact = exactly(seconds)
    return str(exact) if (exact * 10**12).denominator > 1 and exact.denominator <= _TICKS else str(seconds)


def _seconds(name: str, value: object, called: str = "") -> float:
    """Return a length in seconds, in whole ticks: what is kept, and shown, is what is used."""
    return round(_number(name, value, called) * _TICKS) / _TICKS


def _seconds_by_class(name: str, value: object) -> Seconds:
    if not isinstance(value, Mapping):
        return _seconds(name, value)
    lengths = {label: _seconds(name, plain(value[label]), f"{name} of {label}") for label in value}
    if not all(isinstance(label, str) for label in value):
        raise SettingsError(f"{name} must map class names to seconds, not {value!r}")
    return lengths


def checked_thresholds(value: object) -> Thresholds | Rule:
    """Return thresholds by class, or the rule that they follow; raises SettingsError for anything else."""
    if isinstance(value, str) and value in RULES:
        return cast("Rule", value)
    if not isinstance(value, Mapping):
        raise SettingsError(
            f"thresholds must map class names to numbers, or be one of {', '.join(RULES)}, not {value!r}"
        )
    thresholds = {}
    for label, number in value.items():
        if not isinstance(label, str) or not label:
            raise SettingsError(f"thresholds must have class names, in quotes if need be, not {label!r}")
        threshold = finite(f"thresholds of {label!r}", plain(number))
        if not LOWEST <= threshold <= HIGHEST:
            raise SettingsError(f"thresholds of {label!r} must be {LOWEST:g} to {HIGHEST:g}, not {number!r}")
        thresholds[label] = threshold
    return thresholds


def _parts_of_evaluation(name: str, value: Iterable[object], known: tuple[str, ...]) -> tuple[str, ...]:
    """Return what `only` or `measures` names, each once; `all` stands for everything."""
    parts = tuple(_choice(name, part, known) for part in value)
    if "all" in parts:
        return tuple(READINGS) if name == "only" else GROUPS
    if not parts and name == "only":
        raise SettingsError(f"only must name one or more of {', '.join(READINGS)}, each once")
    if len(set(parts)) < len(parts):
        raise SettingsError(f"{name} must name each part once, of {', '.join(known)}")
    return parts


def _classes(name: str, value: tuple[object, ...]) -> tuple[object, ...]:
    for label in value:
        if not isinstance(label, str):
            raise SettingsError(f"{name} must be names, in quotes if need be, not {label!r}")
    if not value or not all(value):
        raise SettingsError(f"{name} must name at least one class, and no empty name")
    if len(set(value)) < len(value):
        raise SettingsError(f"{name} names a class twice")
    return value


PART_NAMES = "printable text without [, ] and @, and without blanks and <, >, = at its ends"
"""What a name of a part must be, for messages: scores of it carry the name behind an `@`."""


def is_part_name(name: str) -> bool:
    """Return whether a group or a scene can have this name: that scores of it can be told apart by it.

    Blanks at the ends of a name get lost on command lines; signs at its end are those of `--require`.
    """
    return bool(name) and name.isprintable() and not {*"[]@"} & set(name) and name.strip(" <>=") == name


def _named_parts(noun: str, setting: str, value: object) -> Parts:
    """Return parts by name, a single text being a list of one. noun: what the texts are."""
    if not isinstance(value, Mapping):
        raise SettingsError(f"{setting} must map names to lists of {noun}s, not {value!r}")
    for name in value:
        if not isinstance(name, str):
            raise SettingsError(f"{setting} must have names, in quotes if need be, not {name!r}")
        if not is_part_name(name):
            raise SettingsError(f"{setting} cannot have the name {name!r}; expected {PART_NAMES}")
    return {name: _members(setting, name, value[name], noun) for name in value}


def _members(setting: str, name: str, value: object, noun: str) -> tuple[str, ...]:
    if isinstance(value, Mapping | Set) or not isinstance(value, Iterable):
        raise SettingsError(f"{setting}: {name!r} must be a list of {noun}s, not {value!r}")
    members = (value,) if isinstance(value, str) else tuple(value)
    for member in members:
        if not isinstance(member, str):
            raise SettingsError(
                f"{setting}: {name!r} must list {noun}s, in quotes if need be, not {member!r}"
            )
    if not members or not all(members):
        raise SettingsError(f"{setting}: {name!r} must list at least one {noun}, and no empty one")
    if len(set(members)) < len(members):
        raise SettingsError(f"{setting}: {name!r} names a {noun} twice")
    return members


# What a threshold must satisfy: `precision>=0.9`, `recall at fpr_per_hour<=5`.

AT_LEAST = ("precision", "recall")
"""Measures that can be demanded to reach a number."""

AT_MOST = (
    *("fpr_per_hour", "error_rate"),
    *("substitution_rate", "deletion_rate", "insertion_rate"),
)
"""Measures that can be demanded not to exceed a number."""

BEST_OF = ("f", "precision", "recall", "error_rate")
"""What can be best where a constraint holds; F with the weight of recall that the settings have."""

REGARDLESS = frozenset(AT_MOST) - {"fpr_per_hour"}
"""Measures that, of all classes together, know pairs whatever their class."""

_FORM = re.compile(
    r"(?:(?P<best>[a-z_]+)\s+at\s+)?(?P<measure>[a-z_]+)\s*(?P<sign>>=|<=)\s*"
    r"(?P<number>\d+(\.\d*)?([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?)"
)


@dataclass(frozen=True, slots=True)
class Constraint:
    """What is to be best where a measure is at least, or at most, a number.

    best: one of `BEST_OF`. measure: one of `AT_LEAST` and `AT_MOST`, which says how it compares.
    """

    best: str
    measure: str
    number: float

    @classmethod
    def parse(cls, text: object) -> Self:
        """Read `[MEASURE at ]MEASURE>=NUMBER`; raises SettingsError that says what was expected."""
        match = _FORM.fullmatch(text.strip()) if isinstance(text, str) else None
        if match is None:
            raise SettingsError(
                f"satisfice must be a constraint such as 'precision>=0.9' or 'recall at fpr_per_hour<=5', "
                f"not {text!r}"
            )
        best, measure = match["best"] or "f", match["measure"]
        if best not in BEST_OF:
            raise SettingsError(f"satisfice: what is best must be one of {', '.join(BEST_OF)}, not {best!r}")
        for names, sign in ((AT_LEAST, ">="), (AT_MOST, "<=")):
            if measure in names and match["sign"] != sign:
                raise SettingsError(f"satisfice: expected {measure}{sign}NUMBER, not {text!r}")
        if measure not in AT_LEAST + AT_MOST:
            known = ", ".join(AT_LEAST + AT_MOST)
            raise SettingsError(f"satisfice: the constraint must be on one of {known}, not {measure!r}")
        number = float(match["number"])
        if not math.isfinite(number) or (measure in AT_LEAST and number > 1):
            most = "a number in [0, 1]" if measure in AT_LEAST else "a finite number"
            raise SettingsError(f"satisfice: {measure} must be {most}, not {match['number']}")
        return cls(best, measure, number)

    @property
    def sign(self) -> str:
        """How the measure must compare with the number."""
        return ">=" if self.measure in AT_LEAST else "<="

    @property
    def counts_regardless(self) -> bool:
        """Whether it needs, for all classes together, pairs whatever their class."""
        return bool({self.best, self.measure} & REGARDLESS)

    def __str__(self) -> str:
        """Return the constraint as it could be given again."""
        first = "" if self.best == "f" else f"{self.best} at "
        return f"{first}{self.measure}{self.sign}{self.number!r}"


_CHECK_KIND: dict[str, Callable[[str, Any], object]] = {
    "number": _number,
    "whole": _whole,
    "switch": _switch,
    "choice": _choice,
}
"""How values are checked by the kinds of settings."""

_CHECKS: dict[str, Callable[[str, Any], object]] = {
    "segment_length": lambda name, value: float(exactly(_number(name, segment_length(name, value)))),
    "onset_collar": _seconds,
    "offset_collar": _seconds,
    **dict.fromkeys(POSTPROCESSING, _seconds_by_class),
    "psds_median_filters": lambda name, value: tuple(_seconds(name, each) for each in value),
    "thresholds": lambda _, value: checked_thresholds(value),
    "cross_tune": lambda name, value: value if value == "folds" else _whole(name, value, ", or folds"),
    "objective": partial(_choice, choices=OBJECTIVES),
    "satisfice": lambda _, value: str(Constraint.parse(value)),
    "measures": partial(_parts_of_evaluation, known=(*GROUPS, "all")),
    "only": partial(_parts_of_evaluation, known=ONLY),
    "classes": _classes,
    "groups": partial(_named_parts, "class name"),
    "scenes": partial(_named_parts, "file name pattern"),
}
"""How values are checked of settings that are of no such kind."""
