"""Pages and tables of text before anything draws them, and how numbers are written in them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import groupby

UNDEFINED = "-"

_LARGE = 1e9
"""Numbers from which on a table shows powers of ten."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table that any presentation can draw.

    title: what it shows. head: names of the columns. rows: cells as text, as many in each row as in `head`.
    names: how many columns at the left are names; the others are numbers. headings: what stands above each
    column of numbers, once over neighbours with the same; empty for none. details: places of the rows that
    say more of the row above them.
    """

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    names: int = 1
    headings: tuple[str, ...] = ()
    details: frozenset[int] = frozenset()

    @property
    def groups(self) -> tuple[tuple[str, int], ...]:
        """Return the headings and how many columns each is over; the first, empty one is over the names."""
        if not self.headings:
            return ()
        return (("", self.names), *((heading, len([*same])) for heading, same in groupby(self.headings)))


@dataclass(frozen=True, slots=True)
class Page:
    """One page of results.

    title: what it is of. lines: what was read and how it is scored, as (name, text). notes: what a reader
    must know of the tables. signatures: what makes the result repeatable.
    """

    title: str
    lines: tuple[tuple[str, str], ...]
    tables: tuple[Table, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    signatures: tuple[str, ...] = ()


def number(value: float | int | None, digits: int = 4) -> str:
    """Return a count as it is, a number with so many digits, `-` where undefined."""
    if value is None or not math.isfinite(value):
        return UNDEFINED
    if isinstance(value, int):
        return str(value)
    if abs(value) >= _LARGE:
        return f"{value:.{digits}e}"
    text = f"{value:.{digits}f}"
    # What rounds to zero has no sign.
    return text if text.strip("-0.") else text.removeprefix("-")


def number_if_any(value: float | int | None, digits: int = 4) -> str:
    """Return a number with so many digits, nothing where there is none."""
    return "" if value is None else number(float(value), digits)


def signed(value: float | int | None) -> str:
    """Return a number with its sign, also above 0; `-` where undefined."""
    text = number(value)
    return text if text[0] == "-" or float(text) == 0 else f"+{text}"


def exact(value: float | int | None) -> str:
    """Return a number so that reading it back gives the same number; `-` where undefined."""
    if value is None or not math.isfinite(value):
        return UNDEFINED
    return str(value) if isinstance(value, int) else repr(float(value))


def short(value: float) -> str:
    """Return a setting as it would be typed: exact, and without the decimals of a whole number."""
    return repr(value).removesuffix(".0")
