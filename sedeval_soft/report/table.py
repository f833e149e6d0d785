"""Tables and pages of text, how numbers are written in them, and how they are drawn.

Drawn as aligned lines for pipes and files, by rich for a terminal, and in Markdown. No name is ever cut. On a
terminal the columns of a table that is too wide are spread over several tables.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from sedeval_soft.errors import visible
from sedeval_soft.report.fitted import UNDEFINED, cells

_LARGE = 1e9
"""Numbers from which on a table shows powers of ten."""

_GAP = "  "
_MARGIN = 1
_MARKUP = str.maketrans({c: f"\\{c}" for c in "\\`*_[]<>|#&~"})


Column = tuple[str | None, str, Iterable[str]]


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

    @classmethod
    def of(cls, title: str, columns: Sequence[Column], names: int = 1) -> Table:
        """Return the table of some columns, each its heading (None in a table without), name and cells."""
        above, head, cells = zip(*columns, strict=True)
        headings = (
            tuple(heading or "" for heading in above[names:]) if any(h is not None for h in above) else ()
        )
        return cls(title, head, tuple(zip(*cells, strict=True)), names, headings)

    @property
    def groups(self) -> tuple[tuple[str, int], ...]:
        """Return the headings and how many columns each is over; the first, empty one is over the names."""
        if not self.headings:
            return ()
        return (("", self.names), *((heading, len([*same])) for heading, same in groupby(self.headings)))

    def with_cells(self, before: str, after: str) -> Table:
        """Return the table with another text in all cells that have one, also those of its head."""
        head, *rows = (tuple(after if c == before else c for c in row) for row in (self.head, *self.rows))
        return replace(self, head=head, rows=tuple(rows))

    def numbers_have(self, cell: str) -> bool:
        """Return whether a cell stands in any column of numbers."""
        return any(cell in row[self.names :] for row in self.rows)


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


def number(value: float | int | None, digits: int = 3) -> str:
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


def number_if_any(value: float | int | None, digits: int = 3) -> str:
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
        for table in page.tables:
            if color:
                blocks += map(_draw, [table] if width is None else _split(table, width - _MARGIN))
            else:
                blocks.append(plain_table(table))
        blocks.append("".join(f"{note}\n" for note in page.notes))
        blocks.append("".join(f"{visible(signature)}\n" for signature in page.signatures))
    return "\n".join(filter(None, blocks))


def plain_table(table: Table) -> str:
    """Return a table as aligned lines of text without colour; no line is cut, however long."""
    widths = [max(map(cells, column)) for column in zip(table.head, *table.rows, strict=True)]
    headings, at = "", 0
    for heading, count in table.groups:
        blanks = sum(widths[at : at + count]) + len(_GAP) * (count - 1) - cells(heading)
        # The last column of a group gives its heading room.
        at += count
        widths[at - 1] -= min(0, blanks)
        headings += heading + " " * blanks + _GAP
    lines = [table.title, headings] if headings else [table.title]
    for row in (table.head, *table.rows):
        blank = [" " * (width - cells(cell)) for cell, width in zip(row, widths, strict=True)]
        names = map("".join, zip(row[: table.names], blank, strict=False))
        numbers = map("".join, zip(blank[table.names :], row[table.names :], strict=True))
        lines.append(_GAP.join((*names, *numbers)))
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _split(table: Table, width: int) -> list[Table]:
    """Return tables at most so many cells wide that together show all columns of one; each has the names.

    Groups of columns stay together where they can. Where the names leave no room for even one column of
    numbers, a table is wider.
    """
    widths = [max(map(cells, column)) + len(_GAP) for column in zip(table.head, *table.rows, strict=True)]
    at, groups = table.names, table.groups[1:] or (("", 1),) * (len(table.head) - table.names)
    room = width - sum(widths[:at]) + len(_GAP)
    runs: list[list[int]] = [[]]
    used = 0
    for heading, count in groups:
        # A group's heading stands over its first column, and has no other.
        widths[at] = max(widths[at], cells(heading) + len(_GAP))
        for i in range(at, at + count):
            if used and used + sum(widths[i : at + count] if i == at else widths[i : i + 1]) > room:
                runs.append([])
                used = 0
            runs[-1].append(i)
            used += widths[i]
        at += count

    above = ("",) * table.names + table.headings if table.headings else (None,) * len(widths)
    columns = [*zip(above, table.head, zip(*table.rows, strict=True), strict=True)]
    parts = [[columns[i] for i in (*range(table.names), *run)] for run in runs]
    return [replace(Table.of(table.title, part, table.names), details=table.details) for part in parts]


def _draw(table: Table) -> str:
    """Return a table with lines and colours (none if NO_COLOR is set) for a terminal."""
    import io

    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 0, 0, 1))
    above = [text for heading, count in table.groups for text in (f"{heading}\n", *["\n"] * (count - 1))]
    for i, name in enumerate(table.head):
        heading = Text((above[i] if above else "") + name)
        drawn.add_column(heading, justify="right" if i >= table.names else "left", no_wrap=True)
    for at, row in enumerate(table.rows):
        dim = [at in table.details or (i >= table.names and cell == UNDEFINED) for i, cell in enumerate(row)]
        drawn.add_row(*(Text(cell, style="dim" * each) for cell, each in zip(row, dim, strict=True)))
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=10**6, highlight=False, legacy_windows=False)
    console.print(Text(table.title, style="bold"))
    console.print(drawn)
    return "".join(" " * _MARGIN + line.rstrip() + "\n" for line in out.getvalue().splitlines())


def markdown(pages: Sequence[Page]) -> str:
    """Return pages in Markdown, one after another, with tables as GitHub draws them."""
    blocks = []
    for page in pages:
        blocks.append(f"## {escaped(page.title)}\n")
        blocks.append("".join(f"- {name}: {escaped(content)}\n" for name, content in page.lines))
        if page.warnings:
            blocks.append("".join(f"- **warning**: {escaped(warning)}\n" for warning in page.warnings))
        for table in page.tables:
            above = [f"{heading} " for heading, count in table.groups for _ in range(count)]
            head = map("".join, zip(above or [""] * len(table.head), table.head, strict=True))
            lines = [[escaped(name.strip()) for name in head]]
            lines.append(["---" if i < table.names else "---:" for i in range(len(table.head))])
            for at, row in enumerate(table.rows):
                # Blanks that set off a name mean nothing in Markdown.
                lines.append([escaped(cell.lstrip() if at in table.details else cell) for cell in row])
            drawn = "".join(f"| {' | '.join(line)} |\n" for line in lines)
            blocks.append(f"### {escaped(table.title)}\n\n{drawn}")
        # A note must not begin a list.
        blocks += [re.sub(r"^(?=[-+])", r"\\", f"{escaped(note)}\n") for note in page.notes]
        blocks += [f"{escaped(signature)}\n" for signature in page.signatures]
    return "\n".join(blocks)


def escaped(text: str) -> str:
    """Return a text in which Markdown and HTML see no markup, on one line."""
    return visible(text).translate(_MARKUP)
