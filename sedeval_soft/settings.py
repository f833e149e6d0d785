"""Every setting that shapes the numbers, as one object that is checked once and that nothing doubts later.

What each setting means is in `fields`, with the range of each number.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Set
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

BASES = ("segment", "event", "intersection", "clip")
"""The bases of which the system is cut at thresholds."""

READINGS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(BASES, ("hard", "tuned", "optimal", "soft")),
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

OBJECTIVES = tuple(f"{basis}.{measure}" for basis in BASES for measure in ("f1", "error_rate"))
"""What thresholds can be best for: F (with the weight of recall that the settings have), or error rate."""


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
        if settings.reference_sweep and not any(settings.wants(each, "hard", "optimal") for each in READINGS):
            raise SettingsError("reference_sweep is of hard and optimal readings; only leaves them out")
        return settings

    def __post_init__(self) -> None:
        """Check every value, so that nothing downstream has to; numpy's scalars become Python's."""
        for name, definition in FIELDS.items():
            value = getattr(self, name)
            # A default needs no check. It is known by its text: True is 1, and -0.0 is 0.0, in other texts.
            if repr(value) != repr(definition.default):
                check = _CHECKS.get(name) or (_choice if definition.choices else _simple)
                object.__setattr__(self, name, check(name, plain(value)))
        cut, filters, median = self.reference_cut, self.psds_median_filters, self.median_filter
        both = [name for name in self.groups if name in self.scenes]
        # What no row covers has the value 0, as rows of 0 do.
        silence = "silence, of value 0, would be active"
        above = "expected a threshold above 0, or one that is not inclusive"
        for wrong, message in (
            (cut < 0, f"the reference threshold must not be below 0, not {cut:g}: {silence}"),
            *((self.inclusive and threshold <= 0,
               f"{name} {threshold:g} cannot go with inclusive: {silence}; {above}")
              for name, threshold in (("threshold", self.threshold), ("reference_threshold", cut))),
            (self.thresholds is not None and self.cross_tune is not None,
             "thresholds are given; cross_tune finds them: expected one of the two"),
            (any(part.endswith(".tuned") for part in self.only) and not self.tunes,
             "thresholds or cross_tune must be given for a tuned reading"),
            (self.reference_sweep and (self.compat or self.matching == "greedy"),
             "reference_sweep cannot go with compat and greedy matching, which go by rows"),
            (filters and (any(median.values()) if isinstance(median, dict) else median),
             "median_filter and psds_median_filters exclude one another"),
            (self.events == "rows" and (filters or self.postprocesses),
             "events=rows cannot go with post-processing, which joins and cuts rows"),
            (both, f"groups and scenes both have {''.join(map(repr, both[:1]))}; expected each name once"),
            (not (self.onset or self.offset),
             "onset and offset cannot both be left out of event-based scores"),
            (self.compat and not (self.wants("segment", "hard") or self.wants("event", "hard")),
             f"compat={self.compat} is of hard segment- and event-based scores; only leaves them out"),
        ):  # fmt: skip
            if wrong:
                raise SettingsError(message)

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

    def wants(self, basis: str, *readings: str) -> bool:
        """Return whether a basis is evaluated in one of some readings."""
        return any(
            (self.tunes or reading != "tuned") and (basis in self.only or f"{basis}.{reading}" in self.only)
            for reading in readings
        )

    @property
    def postprocesses(self) -> bool:
        """Whether the system's output is changed before it is scored."""
        lengths = (getattr(self, name) for name in POSTPROCESSING)
        return any(any(each.values()) if isinstance(each, dict) else each for each in lengths)

    def of_classes(self, name: str, classes: tuple[str, ...]) -> tuple[float, ...]:
        """Return the length in seconds that a post-processing setting has for each class."""
        value = getattr(self, name)
        return tuple(value.get(label, 0.0) if isinstance(value, dict) else value for label in classes)

    @property
    def wants_psds(self) -> bool:
        """Whether PSDS is asked for: it is slower than what is printed by default."""
        weights = (getattr(self, name) for name in WEIGHTS)
        return bool(self.psds or self.psds_median_filters) or any(weight is not None for weight in weights)

    def criterion(self, name: str) -> float:
        """Return a setting of intersections or PSDS: as it was given, as `psds` has it, or its default."""
        value = getattr(self, name)
        return float((PSDS[self.psds] if self.psds else IMPLIED)[name] if value is None else value)

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


# Values of single settings, as they are kept.


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


def _simple(name: str, value: Any, called: str = "") -> Any:  # noqa: ANN401
    """Return a truth value, or a number in the range of a setting. called: its name in messages."""
    field, called, number = FIELDS[name], called or name, value
    low, high = field.least, math.inf if field.most is None else field.most
    low = -math.inf if low is None or field.most is None else low
    if field.kind == "switch":
        valid, expected = isinstance(value, bool), "true or false"
    elif field.kind == "whole" or name == "cross_tune":
        valid = isinstance(value, int) and not isinstance(value, bool)
        expected = f"a whole number, {low} to {high}{', or folds' if name == 'cross_tune' else ''}"
    else:
        number, valid = finite(called, value), True
        expected = f"above {low:g}, at most {high:g}" if field.above else f"{low:g} to {high:g}"
    if not valid or not low <= number <= high or (field.above and number == low):
        raise SettingsError(f"{called} must be {expected}, not {number!r}")
    return number


def _seconds(name: str, value: object, called: str = "") -> float:
    """Return a length in seconds, in whole ticks: what is kept, and shown, is what is used."""
    return float(round(_simple(name, value, called) * _TICKS) / _TICKS)


def _seconds_by_class(name: str, value: object) -> Seconds:
    return _by_class(name, value, _seconds) if isinstance(value, Mapping) else _seconds(name, value)


def _by_class(name: str, values: Mapping[Any, Any], check: Callable[..., float]) -> dict[str, float]:
    """Return checked numbers by class."""
    for label in values:
        if not isinstance(label, str) or not label:
            raise SettingsError(f"{name} must have class names, in quotes if need be, not {label!r}")
    return {label: check(name, plain(each), f"{name} of {label!r}") for label, each in values.items()}


def _choice(name: str, value: object, choices: tuple[str, ...] = ()) -> str:
    choices = choices or FIELDS[name].choices
    if value not in choices:
        wrong = f"{name} must be one of {', '.join(choices)}, not {value!r}"
        raise SettingsError(wrong + meant(str(value), choices))
    return str(value)


def _choices(name: str, value: Iterable[object], choices: tuple[str, ...]) -> tuple[str, ...]:
    """Return what `only` or `measures` names, each once; `all` stands for everything."""
    parts = tuple(_choice(name, part, choices) for part in value)
    if "all" in parts:
        return tuple(READINGS) if name == "only" else GROUPS
    if not parts and name == "only":
        raise SettingsError(f"only must name one or more of {', '.join(READINGS)}, each once")
    if len({*parts}) < len(parts):
        raise SettingsError(f"{name} must name each part once, of {', '.join(choices)}")
    return parts


def segment_length(name: str, value: object) -> float:
    """Return the length of a segment in seconds, which may be a text such as `1024/44100`, or a fraction.

    Raises SettingsError for anything else.
    """
    if isinstance(value, str):
        number = r"\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*"
        parts = re.fullmatch(f"{number}/{number}", value, re.ASCII)
        if not parts or not Decimal(parts[2]):
            raise SettingsError(f"{name} must be a finite number, not {value!r}; 1/3 is one, too")
        value = Fraction(parts[1]) / Fraction(parts[2])
    return finite(name, float(value) if isinstance(value, Fraction) else value)


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


def checked_thresholds(value: object) -> Thresholds | Rule:
    """Return thresholds by class, or the rule that they follow; raises SettingsError for anything else."""
    if isinstance(value, str) and value in RULES:
        return cast("Rule", value)
    if not isinstance(value, Mapping):
        expected = f"map class names to numbers, or be one of {', '.join(RULES)}"
        raise SettingsError(f"thresholds must {expected}, not {value!r}")
    return _by_class("thresholds", value, _simple)


def _names(whose: str, names: tuple[Any, ...], noun: str = "class name") -> tuple[str, ...]:
    """Return names of a kind; raises SettingsError for none, for an empty one, and for one that is twice."""
    for name in names:
        if not isinstance(name, str):
            raise SettingsError(f"{whose} must list {noun}s, in quotes if need be, not {name!r}")
    if not names or not all(names):
        raise SettingsError(f"{whose} must list at least one {noun}, and no empty one")
    if len({*names}) < len(names):
        raise SettingsError(f"{whose} names a {noun} twice")
    return names


PART_NAMES = "printable text without [, ] and @, and without blanks and <, >, = at its ends"
"""What a name of a part must be, for messages: scores of it carry the name behind an `@`."""


def is_part_name(name: object) -> bool:
    """Return whether a group or a scene can have this name: that scores of it can be told apart by it.

    Blanks at the ends of a name get lost on command lines; signs at its end are those of `--require`.
    """
    if not isinstance(name, str) or not name.isprintable():
        return False
    return name != "" and not {*"[]@"} & {*name} and name.strip(" <>=") == name


def _parts(setting: str, value: object, noun: str) -> Parts:
    """Return parts by name, a single text being a list of one. noun: what the texts are."""
    if not isinstance(value, Mapping):
        raise SettingsError(f"{setting} must map names to lists of {noun}s, not {value!r}")
    parts = {}
    for name, texts in value.items():
        if not is_part_name(name):
            expected = f"expected {PART_NAMES}, in quotes if need be"
            raise SettingsError(f"{setting} cannot have the name {name!r}; {expected}")
        if isinstance(texts, Mapping | Set) or not isinstance(texts, Iterable):
            raise SettingsError(f"{setting}: {name!r} must be a list of {noun}s, not {texts!r}")
        members = (texts,) if isinstance(texts, str) else tuple(texts)
        parts[name] = _names(f"{setting}: {name!r}", members, noun)
    return parts


# What a threshold must satisfy: `precision>=0.9`, `recall at fpr_per_hour<=5`.

AT_LEAST = ("precision", "recall")
"""Measures that can be demanded to reach a number."""

AT_MOST = ("fpr_per_hour", "error_rate", "substitution_rate", "deletion_rate", "insertion_rate")
"""Measures that can be demanded not to exceed a number; all but the first know pairs whatever their class."""

BEST_OF = ("f", "precision", "recall", "error_rate")
"""What can be best where a constraint holds; F with the weight of recall that the settings have."""

_FORM = re.compile(
    rf"(?:({'|'.join(BEST_OF)})\s+at\s+)?(?:({'|'.join(AT_LEAST)})\s*>=|({'|'.join(AT_MOST)})\s*<=)\s*"
    r"((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
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
        if match is None or float(match[4]) > (1 if match[2] else sys.float_info.max):
            raise SettingsError(
                "satisfice must be a constraint such as 'precision>=0.9' or 'recall at fpr_per_hour<=5', of "
                f"{' or '.join(AT_LEAST)} at least a number in [0, 1] or {', '.join(AT_MOST)} at most a "
                f"finite one, with the best {', '.join(BEST_OF)}, not {text!r}"
            )
        return cls(match[1] or "f", match[2] or match[3], float(match[4]))

    @property
    def sign(self) -> str:
        """How the measure must compare with the number."""
        return ">=" if self.measure in AT_LEAST else "<="

    @property
    def counts_regardless(self) -> bool:
        """Whether it needs, for all classes together, pairs whatever their class."""
        return bool({self.best, self.measure} & {*AT_MOST[1:]})

    def __str__(self) -> str:
        """Return the constraint as it could be given again."""
        first = "" if self.best == "f" else f"{self.best} at "
        return f"{first}{self.measure}{self.sign}{self.number!r}"


_CHECKS: dict[str, Callable[[str, Any], object]] = {
    "segment_length": lambda name, value: float(exactly(_simple(name, segment_length(name, value)))),
    **dict.fromkeys(("onset_collar", "offset_collar"), _seconds),
    **dict.fromkeys(POSTPROCESSING, _seconds_by_class),
    "psds_median_filters": lambda name, value: tuple(_seconds(name, each) for each in value),
    "thresholds": lambda _, value: checked_thresholds(value),
    "cross_tune": lambda name, value: value if value == "folds" else _simple(name, value),
    "objective": partial(_choice, choices=OBJECTIVES),
    "satisfice": lambda _, value: str(Constraint.parse(value)),
    "measures": partial(_choices, choices=(*GROUPS, "all")),
    "only": partial(_choices, choices=ONLY),
    "classes": _names,
    "groups": partial(_parts, noun="class name"),
    "scenes": partial(_parts, noun="file name pattern"),
}
"""How values are checked that are no single number, truth value or one of some words."""
