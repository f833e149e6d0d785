"""Numbers of settings, as they are kept: finite, and times in whole ticks."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from sedeval_soft.core.edges import MOST_PARTS
from sedeval_soft.core.errors import SettingsError
from sedeval_soft.core.ticks import TICKS_PER_SECOND, tick

_QUOTIENT = r"\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*/\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*"

_MOST = MOST_PARTS
"""The greatest denominator of the length of a segment, in seconds and in ticks."""

LONGEST_SETTING = 1e6
"""Seconds; a limit of segments and collars that keeps ticks far from overflow."""


def finite(name: str, value: object) -> float:
    """Return a setting as a float; raises SettingsError for anything but a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise SettingsError(f"{name} must be a finite number, not {value!r}")
    try:
        number = float(value)
    except OverflowError:
        raise SettingsError(f"{name} must be a finite number, not one of so many digits") from None
    if not math.isfinite(number):
        raise SettingsError(f"{name} must be a finite number, not {value!r}")
    return number


def segment(name: str, value: object) -> float:
    """Return the length of a segment in seconds, which may be a text such as `1024/44100`, or a fraction.

    Raises SettingsError for anything else.
    """
    if isinstance(value, str):
        parts = re.fullmatch(_QUOTIENT, value, re.ASCII)
        try:
            value = Fraction(Decimal(parts[1])) / Fraction(Decimal(parts[2])) if parts else value
        except (ZeroDivisionError, ArithmeticError):
            parts = None
        if not parts:
            raise SettingsError(f"{name} must be a finite number, not {value!r}; 1/3 is one, too")
    return finite(name, float(value) if isinstance(value, Fraction) else value)


@lru_cache(maxsize=256)
def exactly(seconds: float) -> Fraction:
    """Return what a length in seconds stands for: 0.02 for 2/100, and the float nearest to 1/3 for 1/3.

    Up to six decimals are taken as they are written; else the fraction of whole numbers up to a million that
    has this float, if there is one; else the decimals as they are written, to a millionth of a microsecond.
    """
    written = Fraction(repr(seconds))
    if (written * TICKS_PER_SECOND).denominator > 1:
        simple = written.limit_denominator(_MOST)
        written = simple if float(simple) == seconds else written
    return (written * TICKS_PER_SECOND).limit_denominator(_MOST) / TICKS_PER_SECOND


def short_fraction(seconds: float) -> str:
    """Return a length in seconds as text that `segment` reads back: a decimal, or one such as `1/3`."""
    exact = exactly(seconds)
    return str(exact) if (exact * 10**12).denominator > 1 and exact.denominator <= _MOST else str(seconds)


def whole(name: str, value: object, least: int, most: int) -> int:
    """Return a setting as a whole number in a range; raises SettingsError for anything else."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise SettingsError(f"{name} must be a whole number, {least} to {most}, not {value!r}")
    return value


def seconds(name: str, value: object) -> float:
    """Return a length in seconds, in whole ticks; raises SettingsError where it is none."""
    length = finite(name, value)
    if not 0 <= length <= LONGEST_SETTING:
        raise SettingsError(f"{name} must be 0 to {LONGEST_SETTING:g} s, not {length}")
    return tick(length) / TICKS_PER_SECOND


def seconds_by_class(name: str, value: object) -> float | dict[str, float]:
    """Return a length, or lengths by class; raises SettingsError where it is neither."""
    if not isinstance(value, Mapping):
        return seconds(name, value)
    lengths = {label: seconds(f"{name} of {label}", plain(value[label])) for label in value}
    if not all(isinstance(label, str) for label in value):
        raise SettingsError(f"{name} must map class names to seconds, not {value!r}")
    return lengths


def plain(value: Any) -> Any:  # noqa: ANN401 - whatever was given, checked later
    """Return a scalar of numpy, or a tuple of them, as Python has it; anything else as it is."""
    if isinstance(value, tuple):
        return tuple(plain(item) for item in value)
    if isinstance(value, np.float32 | np.float16):
        return float(str(value))  # the decimal that it was written as, as values of these types are read
    return value.item() if isinstance(value, np.generic) else value
