"""Columns of text that fit a width, from which screens are made.

Names are shortened in the middle, numbers never. If the columns do not all fit, the columns of the highest
rank are left out.
"""

from __future__ import annotations

import math
import os
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from sedeval_soft.evaluation.signature import POINT

ELLIPSIS = "…"
UNDEFINED = "-"

_NAMED = 6
"""Number of columns without room that are named one by one."""

_GAPS = (3, 2, 1)
"""Blanks between columns: as many as there is room for."""


class Column(NamedTuple):
    """A column: its heading, which neighbours may share, its name, and the texts in it.

    styles: of each text, as `styled` takes them. left: Whether the column is aligned left (names) or right
    (numbers). rank: 0 stays. If columns do not fit, columns of other ranks are left out, the highest first,
    equal ones together.
    """

    heading: str
    name: str
    texts: Sequence[str]
    styles: Sequence[str] = ()
    left: bool = False
    rank: int = 0

    @property
    def width(self) -> int:
        """The cells of a terminal that it takes."""
        return max(map(cells, (self.name, *self.texts)), default=0)


def fitting(columns: Sequence[Column], width: int, shortest: int = 8) -> list[Column]:
    """Return the columns that have texts and fit; columns of the highest rank are left out first.

    The first column has names. shortest: cells of a terminal below which these are not shortened as long as a
    column can be left out.
    """
    columns = [columns[0], *(column for column in columns[1:] if any(column.texts))]
    first = min(columns[0].width, shortest)
    while (least := max(column.rank for column in columns)) and needed(columns, _GAPS[-1], first) > width:
        columns = [column for column in columns if column.rank < least]
    return columns


def lines_of(
    columns: Sequence[Column], width: int | None = None, *, shortest: int = 8, color: bool = False
) -> list[str]:
    """Return columns as lines: headings, if there are any, names, then rows.

    width: the cells of a terminal that lines may have; None for as many as all columns take.
    """
    gap = _GAPS[1]
    if width is not None:
        columns = fitting(columns, width, shortest)
        # A long name is shortened before the gaps of numbers are.
        least = columns[0].width, min(columns[0].width, shortest)
        fits = [gap for first in least for gap in _GAPS if needed(columns, gap, first) <= width]
        gap = (*fits, 1)[0]
        room = max(width - needed(columns, gap, 0), 1)
        name, texts = shortened(columns[0].name, room), [shortened(text, room) for text in columns[0].texts]
        columns = [columns[0]._replace(name=name, texts=texts, left=True), *columns[1:]]
    widths, blanks = [column.width for column in columns], _blanks(columns, gap)
    each = range(len(columns[0].texts))
    rows = [[(c.texts[at], c.styles[at] if c.styles else "") for c in columns] for at in each]
    lines = []
    if any(column.heading for column in columns[1:]):
        lines.append(styled(_headings(columns, widths, blanks), "dim", color=color))
    for row in [[(column.name, "dim") for column in columns], *rows]:
        line = ""
        for (text, style), column, size, before in zip(row, columns, widths, blanks, strict=True):
            shown, rest = styled(text, style, color=color), " " * (size - cells(text))
            line += " " * before + (f"{shown}{rest}" if column.left else f"{rest}{shown}")
        lines.append(line.rstrip())
    return lines


def lines_and_rest(
    first: Column,
    columns: Mapping[str, Column],
    width: int,
    *,
    shortest: int = 8,
    see: str = "-v",
    color: bool = False,
) -> list[str]:
    """Return columns as lines, with a last line that names the columns that do not fit.

    columns: by their name in that line; many are counted. see: the option that shows all.
    """
    lines = lines_of([first, *columns.values()], width, shortest=shortest, color=color)
    return lines + rest(left_out(first, columns, width, shortest), width, see=see)


def left_out(first: Column, columns: Mapping[str, Column], width: int, shortest: int = 8) -> list[str]:
    """Return the names of the columns that do not fit; columns: by these names."""
    kept = fitting([first, *columns.values()], width, shortest)
    return [name for name, column in columns.items() if column not in kept and any(column.texts)]


def rest(names: Sequence[str], width: int, *, see: str = "-v") -> list[str]:
    """Return lines that name columns that do not fit; none if all columns fit."""
    told = ", ".join(names) if len(names) <= _NAMED else f"{len(names)} more columns"
    return folded(f"no room here for {told}: see {see}", width) if names else []


def needed(columns: Sequence[Column], gap: int = _GAPS[1], first: int | None = None) -> int:
    """Return how many cells columns take side by side; first: the cells of the first, None for all of it."""
    size = columns[0].width if first is None else first
    return size + sum(_blanks(columns, gap)) + sum([column.width for column in columns[1:]])


def _blanks(columns: Sequence[Column], gap: int) -> list[int]:
    """Return the blanks before each column: more before one that begins a group with its heading."""
    blanks, last = [0], ""
    for column in columns[1:]:
        blanks.append(gap + 2 * (column.heading not in {"", last}))
        last = column.heading
    return blanks


def _headings(columns: Sequence[Column], widths: Sequence[int], blanks: Sequence[int]) -> str:
    line, at, last = " " * widths[0], widths[0], ""
    end = sum(widths) + sum(blanks)
    for column, size, before in zip(columns[1:], widths[1:], blanks[1:], strict=True):
        at += before
        if column.heading not in {"", last}:
            # Over the first numbers of its group, no farther than the last column, or where the heading
            # before leaves room.
            start = min(at, max(end - cells(column.heading), 0))
            line = line[:start] if not line[start:].strip() else line
            line = f"{line:<{start}}" if len(line) <= start else f"{line} "
            line += column.heading
        at, last = at + size, column.heading
    return line


def cells(text: str) -> int:
    """Return how many cells of a terminal a text takes: wide characters take two, marks none."""
    if text.isascii():
        return len(text)
    kinds = ((unicodedata.category(c) in {"Mn", "Me"}, unicodedata.east_asian_width(c)) for c in text)
    return sum(0 if is_mark else 2 if width in {"W", "F"} else 1 for is_mark, width in kinds)


def shortened(text: str, room: int) -> str:
    """Return a name in so many cells of a terminal, without the middle of a longer one."""
    if cells(text) <= room:
        return text
    head, tail, room = text, "", max(room, 1)
    while cells(head) > (room - 1) - (room - 1) // 2:
        head = head[:-1]
    while len(tail) < len(text) and cells(text[-len(tail) - 1 :]) <= room - 1 - cells(head):
        tail = text[-len(tail) - 1 :]
    return head + ELLIPSIS + tail


def clipped(text: str, room: int) -> str:
    """Return a sentence in so many cells of a terminal, without the end of a longer one."""
    if cells(text) <= room:
        return text
    while text and cells(text) >= room:
        text = text[:-1]
    return text + ELLIPSIS


def number(value: float | int | None) -> str:
    """Return a score in five letters: `.733`, `1.000`, `3.473`, `12.35`; `-` if undefined."""
    if value is None or not math.isfinite(value):
        return UNDEFINED
    size = abs(value)
    digits = 3 if size < 9.9995 else 2 if size < 99.995 else 1 if size < 999.95 else 0
    text = f"{value:z.{digits}f}" if size < 1e5 else f"{value:.1e}"
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def signed(value: float | int | None) -> str:
    """Return a difference formatted like a score, with a sign also above 0."""
    text = number(value)
    return text if value is None or value < 0 or not text.strip("0.") else f"+{text}"


def interval(low: float | None, high: float | None) -> str:
    """Return the ends of an interval, `[.69,.77]`; empty without an interval."""
    if low is None or high is None:
        return ""
    ends = (f"{end:z.2f}" if math.isfinite(end) else UNDEFINED for end in (low, high))
    return f"[{','.join(end.replace('0.', '.', 1) if end.lstrip('-')[:2] == '0.' else end for end in ends)}]"


def styled(text: str, style: str, *, color: bool) -> str:
    """Return a text in a style: bad (red), dim or bold.

    As it is without colours, which the environment variable NO_COLOR turns off whoever asks for them.
    """
    if not color or not style or not text.strip() or os.environ.get("NO_COLOR"):
        return text
    import click

    return click.style(
        text, fg="red" if style == "bad" else None, dim=style == "dim" or None, bold=style == "bold" or None
    )


def wrapped(parts: Iterable[str], width: int, before: str = "") -> list[str]:
    """Return parts with points between them on as few lines as possible, later lines indented alike."""
    lines: list[str] = []
    line = before
    for part in parts:
        empty = line.strip() == before.strip()
        longer = line + ("" if empty else POINT) + part
        if cells(longer) > width and not empty:
            lines.append(line)
            longer = " " * len(before) + part
        line = longer
    return [*lines, line]


def folded(text: str, width: int, indent: str = "  ") -> list[str]:
    """Return a sentence on lines of so many cells, broken between words; longer words are shortened."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines[-1].strip() else lines[-1] + word
        if cells(longer) > width and lines[-1].strip():
            lines.append(indent)
            longer = indent + word
        lines[-1] = longer if cells(longer) <= width else indent + shortened(word, width - len(indent))
    return lines
