"""Numbers of settings, as they are kept: finite, and times in whole ticks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from sedeval_soft.core.errors import SettingsError
from sedeval_soft.core.ticks import TICKS_PER_SECOND, tick

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
    return value.item() if isinstance(value, np.generic) else value
