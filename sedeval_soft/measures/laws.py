"""Laws that statistics keep: each kind of statistic has its own, beside what counts it.

A law is checked for all files, or for all files and classes, at once. A tally that is read is held against
every one: numbers may contradict one another where each by itself is possible.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Bools = npt.NDArray[np.bool_]

Columns = Mapping[str, Array]
"""Columns of a tally by the last part of their names: (n_files, n_classes) or (n_files,)."""

ROUNDING = 1e-9
"""How far two float sums of the same n numbers may differ, relative to what was summed.

An order of adding them is off by n rounding errors of 1.1e-16 at most: this is enough for nine million.
"""


@dataclass(frozen=True, slots=True)
class Law:
    """What is true of a statistic.

    column: its name. says: what it must be, to be read behind `expected`. holds: (n_files, n_classes) or
    (n_files,), where it is so. values: what is there; limit: what it is held against, None for nothing;
    both of the shape of `holds`, or of one that numpy makes of it.
    """

    column: str
    says: str
    holds: Bools
    values: Array
    limit: Array | float | None = None

    def below(self, prefix: str) -> Law:
        """Return the same law of a column below a prefix, such as `segment.hard`."""
        return replace(self, column=f"{prefix}.{self.column}")


def at_most(
    columns: Columns, name: str, most: Array | float, says: str = "", scale: Array | float = 0.0
) -> Law:
    """Return the law that a column is at most something.

    says: what that is. scale: the size of what was summed in floats; 0 where the law is exact.
    """
    values = columns[name]
    holds = np.isfinite(values) & (values <= np.asarray(most) + ROUNDING * np.asarray(scale))
    return Law(name, f"at most {says}".rstrip(), holds, values, most)


def at_least(
    columns: Columns, name: str, least: Array | float, says: str = "", scale: Array | float = 0.0
) -> Law:
    """Return the law that a column is at least something; says, scale: as for `at_most`."""
    values = columns[name]
    holds = np.isfinite(values) & (values >= np.asarray(least) - ROUNDING * np.asarray(scale))
    return Law(name, f"at least {says}".rstrip(), holds, values, least)


def equal(columns: Columns, name: str, other: Array | float, says: str, scale: Array | float = 0.0) -> Law:
    """Return the law that a column is the same as another number; says, scale: as for `at_most`."""
    values = columns[name]
    holds = np.isfinite(values) & (np.abs(values - other) <= ROUNDING * np.asarray(scale))
    return Law(name, says, holds, values, other)


def not_negative(columns: Columns, names: Iterable[str]) -> Iterator[Law]:
    """Yield the laws that columns are finite numbers, 0 or more."""
    for name in names:
        values = columns[name]
        yield Law(name, "a number that is 0 or more", np.isfinite(values) & (values >= 0), values)


def size_of(*columns: Array) -> Array | float:
    """Return the sum of some columns as the scale of float sums of them; 0 where all are whole numbers."""
    if all(column.dtype.kind in "iub" for column in columns):
        return 0.0
    total: Array = np.sum([np.abs(column) for column in columns], axis=0)
    return total
