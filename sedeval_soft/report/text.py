"""Pages of results as text, aligned for pipes and files or drawn (by rich) for a terminal; and as Markdown.

No name is ever cut. On a terminal the columns of a table that is too wide are spread over a few tables; where
that does not help, because the names alone fill the terminal, it is drawn as wide as it is.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sedeval_soft.errors import visible
from sedeval_soft.report.table import UNDEFINED, Page, Table

if TYPE_CHECKING:
    from rich.console import JustifyMethod

_GAP = "  "
_MARGIN = 1
_MOST_TABLES = 4
"""Into more tables than these one is harder to read than in lines that the terminal wraps."""

_MARKUP = str.maketrans({c: f"\\{c}" for c in "\\`*_[]<>|#&~"})


def text(pages: Sequence[Page], *, color: bool = False, width: int | None = None) -> str:
    """Return pages, one after another, each under the name of its system if there are several.

    color, width: draw the tables for a terminal so many cells wide (None: as wide as they are).
    """
    blocks = []
    for page in pages:
        if len(pages) > 1:
            blocks.append(f"System: {visible(page.title)}\n")
        margin = max(len(name) for name, _ in page.lines)
        blocks.append("".join(f"{name:<{margin}}  {content}\n" for name, content in page.lines))
        blocks += [_terminal_table(table, width) if color else plain_table(table) for table in page.tables]
        for lines in (page.notes, tuple(map(visible, page.signatures))):
            if lines:
                blocks.append("".join(f"{line}\n" for line in lines))
    return "\n".join(blocks)


def plain_table(table: Table) -> str:
    """Return a table as aligned lines of text without colour; no line is cut, however long."""
    widths = [max(map(cells, column)) for column in zip(table.head, *table.rows, strict=True)]
    headings, at = [], 0
    for heading, count in table.groups:
        width = sum(widths[at : at + count]) + len(_GAP) * (count - 1)
        # The last column of a group gives its heading room.
        widths[at + count - 1] += max(0, cells(heading) - width)
        headings.append(heading + " " * (width - cells(heading)))
        at += count
    lines = [table.title, _GAP.join(headings)] if headings else [table.title]
    for row in (table.head, *table.rows):
        texts = []
        for i, (cell, width) in enumerate(zip(row, widths, strict=True)):
            blanks = " " * (width - cells(cell))
            texts.append(blanks + cell if i >= table.names else cell + blanks)
        lines.append(_GAP.join(texts))
    return "".join(f"{line.rstrip()}\n" for line in lines)


def cells(text: str) -> int:
    """Return how many cells of a terminal a text takes: wide characters take two, marks none."""
    if text.isascii():
        return len(text)
    kinds = ((unicodedata.category(c) in {"Mn", "Me"}, unicodedata.east_asian_width(c)) for c in text)
    return sum(0 if is_mark else 2 if width in {"W", "F"} else 1 for is_mark, width in kinds)


# For a terminal.


def _terminal_table(table: Table, width: int | None) -> str:
    """Return a table with lines and colours (none if NO_COLOR is set) for a terminal so many cells wide."""
    tables = [table] if width is None else split(table, _terminal_widths(table), width - _MARGIN)
    return "\n".join(map(_draw, tables if len(tables) <= _MOST_TABLES else [table]))


def _terminal_widths(table: Table) -> list[int]:
    """Return the width of each column: a group's heading stands over its first column, and has no other."""
    from rich.cells import cell_len

    widths = [max(map(cell_len, column)) for column in zip(table.head, *table.rows, strict=True)]
    at = 0
    for heading, count in table.groups:
        widths[at] = max(widths[at], cell_len(heading))
        at += count
    return widths


def split(table: Table, widths: Sequence[int], width: int) -> list[Table]:
    """Return tables at most so many cells wide that together show all columns of one; each has the names.

    widths: of the columns. Groups of columns stay together where they can. Where the names leave no room for
    even one column of numbers, a table is wider.
    """
    gap, at = len(_GAP), table.names
    room = width - sum(widths[:at]) - gap * (at - 1)
    runs: list[list[int]] = [[]]
    used = 0
    for count in [count for _, count in table.groups[1:]] or [1] * (len(table.head) - at):
        for i in range(at, at + count):
            together = range(at, at + count) if i == at else (i,)
            if used and used + sum(widths[column] + gap for column in together) > room:
                runs.append([])
                used = 0
            runs[-1].append(i)
            used += widths[i] + gap
        at += count
    return [table] if len(runs) == 1 else [_columns(table, run) for run in runs]


def _columns(table: Table, numbers: Sequence[int]) -> Table:
    """Return the table of the names and some columns of numbers."""
    columns = [*range(table.names), *numbers]
    return replace(
        table,
        head=tuple(table.head[i] for i in columns),
        rows=tuple(tuple(row[i] for i in columns) for row in table.rows),
        headings=tuple(table.headings[i - table.names] for i in numbers) if table.headings else (),
    )


def _draw(table: Table) -> str:
    import io

    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 0, 0, 1))
    above = [text for heading, count in table.groups for text in (f"{heading}\n", *["\n"] * (count - 1))]
    for i, (name, width) in enumerate(zip(table.head, _terminal_widths(table), strict=True)):
        heading = Text((above[i] if above else "") + name)
        justify: JustifyMethod = "right" if i >= table.names else "left"
        drawn.add_column(heading, justify=justify, no_wrap=True, min_width=width)
    for at, row in enumerate(table.rows):
        texts = [Text(cell, style="dim" if at in table.details else "") for cell in row]
        for text in texts[table.names :]:
            text.style = "dim" if text.plain == UNDEFINED else text.style
        drawn.add_row(*texts)
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=10**6, highlight=False, legacy_windows=False)
    console.print(Text(table.title, style="bold"))
    console.print(drawn)
    return "".join(" " * _MARGIN + line.rstrip() + "\n" for line in out.getvalue().splitlines())


# As Markdown, with tables as GitHub draws them.


def markdown(pages: Sequence[Page]) -> str:
    """Return pages in Markdown, one after another."""
    blocks = []
    for page in pages:
        blocks.append(f"## {escaped(page.title)}\n")
        blocks.append("".join(f"- {name}: {escaped(content)}\n" for name, content in page.lines))
        if page.warnings:
            blocks.append("".join(f"- **warning**: {escaped(warning)}\n" for warning in page.warnings))
        blocks += map(_markdown_table, page.tables)
        # A note must not begin a list.
        blocks += [re.sub(r"^(?=[-+])", r"\\", f"{escaped(note)}\n") for note in page.notes]
        blocks += [f"{escaped(signature)}\n" for signature in page.signatures]
    return "\n".join(blocks)


def escaped(text: str) -> str:
    """Return a text in which Markdown and HTML see no markup, on one line."""
    return visible(text).translate(_MARKUP)


def _markdown_table(table: Table) -> str:
    headings = [heading for heading, count in table.groups for _ in range(count)] or [""] * len(table.head)
    head = [f"{heading} {name}".strip() for heading, name in zip(headings, table.head, strict=True)]
    rule = ["---" if i < table.names else "---:" for i in range(len(head))]
    lines = [[escaped(name) for name in head], rule]
    for at, row in enumerate(table.rows):
        # Blanks that set off a name mean nothing in Markdown.
        lines.append([escaped(cell.lstrip() if at in table.details else cell) for cell in row])
    return f"### {escaped(table.title)}\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)
