"""A table of text, and how numbers and names are written in it."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

UNDEFINED = "-"

_LARGE = 1e9
"""Numbers from which on a table shows powers of ten."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table that any presentation can draw.

    title: what it shows. head: names of the columns. rows: cells as text, as many in each row as in
    `head`. names: how many columns at the left are names; the others are numbers. groups: headings over
    neighbouring columns, as (heading, number of columns), empty for none; the first is over the names.
    details: places of the rows that say more of the row above them.
    """

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    names: int = 1
    groups: tuple[tuple[str, int], ...] = ()
    details: frozenset[int] = frozenset()

    @property
    def headings(self) -> tuple[str, ...]:
        """Return for each column the heading of its group, empty where there is none."""
        if not self.groups:
            return ("",) * len(self.head)
        return tuple(heading for heading, count in self.groups for _ in range(count))


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


def exact(value: float | int | None) -> str:
    """Return a number so that reading it back gives the same number; `-` where undefined."""
    if value is None or not math.isfinite(value):
        return UNDEFINED
    return str(value) if isinstance(value, int) else repr(float(value))


def short(value: float) -> str:
    """Return a setting as it would be typed: exact, and without the decimals of a whole number."""
    return repr(value).removesuffix(".0")


def cells(text: str) -> int:
    """Return how many cells of a terminal a text takes: wide characters take two, marks none."""
    if text.isascii():
        return len(text)
    return sum(
        0
        if unicodedata.category(c) in {"Mn", "Me"}
        else 2
        if unicodedata.east_asian_width(c) in {"W", "F"}
        else 1
        for c in text
    )


def padded(text: str, width: int, *, right: bool = False) -> str:
    """Return a text filled up with blanks to a width in cells."""
    blanks = " " * (width - cells(text))
    return blanks + text if right else text + blanks


def text_widths(table: Table, measure: Callable[[str], int] = cells) -> list[int]:
    """Return the width of the widest text in each column; measure: how many cells a text takes."""
    columns: list[Sequence[str]] = list(zip(table.head, *table.rows, strict=True))
    return [max(map(measure, column)) for column in columns]


def column_widths(table: Table, gap: int) -> list[int]:
    """Return the width in cells that each column needs, with `gap` cells between two of them.

    The last column of a group gives its heading room.
    """
    widths = text_widths(table)
    at = 0
    for heading, count in table.groups:
        have = sum(widths[at : at + count]) + gap * (count - 1)
        widths[at + count - 1] += max(0, cells(heading) - have)
        at += count
    return widths


def split(table: Table, width: int, gap: int, widths: Sequence[int] | None = None) -> list[Table]:
    """Return tables at most so many cells wide that together show all columns of one.

    widths: what each column needs; None for `column_widths`. Each part repeats the names. Groups of columns
    stay together where they can. Where the names leave no room for even one column of numbers, a part is
    wider.
    """
    widths = column_widths(table, gap) if widths is None else widths
    room = width - sum(widths[: table.names]) - gap * (table.names - 1)
    runs: list[list[int]] = [[]]
    left = room
    for block in _blocks(table):
        if left < room and sum(widths[i] + gap for i in block) > left:
            runs.append([])
            left = room
        for i in block:
            if left < room and widths[i] + gap > left:
                runs.append([])
                left = room
            runs[-1].append(i)
            left -= widths[i] + gap
    return [table] if len(runs) == 1 else [_part(table, run) for run in runs]


def _blocks(table: Table) -> list[list[int]]:
    """Return the columns of numbers, those of one group together; without groups each by itself."""
    columns = range(table.names, len(table.head))
    if not table.groups:
        return [[i] for i in columns]
    blocks, at = [], 0
    for _, count in table.groups:
        blocks.append([i for i in range(at, at + count) if i in columns])
        at += count
    return [block for block in blocks if block]


def _part(table: Table, run: list[int]) -> Table:
    """Return the table of the names and some columns of numbers."""
    columns = [*range(table.names), *run]
    groups: list[tuple[str, int]] = []
    if table.groups:
        headings = table.headings
        groups.append(("", table.names))
        for i in run:
            same = len(groups) > 1 and groups[-1][0] == headings[i]
            groups[-1:] = [(headings[i], groups[-1][1] + 1)] if same else [groups[-1], (headings[i], 1)]
    return Table(
        table.title,
        tuple(table.head[i] for i in columns),
        tuple(tuple(row[i] for i in columns) for row in table.rows),
        table.names,
        tuple(groups),
        table.details,
    )
