"""A table of text, and how numbers and names are written in it."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

UNDEFINED = "-"


@dataclass(frozen=True, slots=True)
class Table:
    """A table that any presentation can draw.

    title: what it shows. head: names of the columns. rows: cells as text, as many in each row as in
    `head`. names: how many columns at the left are names; the others are numbers. groups: headings over
    neighbouring columns, as (heading, number of columns), empty for none.
    """

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    names: int = 1
    groups: tuple[tuple[str, int], ...] = ()


def number(value: float | int | None, digits: int = 4) -> str:
    """Return a count as it is, a number with so many digits, `-` where undefined."""
    if value is None:
        return UNDEFINED
    return str(value) if isinstance(value, int) else f"{value:.{digits}f}"


def exact(value: float | int | None) -> str:
    """Return a number so that reading it back gives the same number; `-` where undefined."""
    return UNDEFINED if value is None else repr(value)


def visible(text: str) -> str:
    """Return a name with everything that a terminal might obey written out as an escape."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def cells(text: str) -> int:
    """Return how many cells of a terminal a text takes: wide characters take two, marks none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
    )


def padded(text: str, width: int, *, right: bool = False) -> str:
    """Return a text filled up with blanks to a width in cells."""
    blanks = " " * (width - cells(text))
    return blanks + text if right else text + blanks


def column_widths(table: Table) -> list[int]:
    """Return the width in cells that each column needs."""
    columns: list[Sequence[str]] = list(zip(table.head, *table.rows, strict=True))
    return [max(map(cells, column)) for column in columns]
