"""Tables and pages of text, the format of their numbers, and their drawing.

Drawn as aligned lines, and in Markdown. No name is ever cut. On a terminal the columns of a table that is too
wide are spread over several tables.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from sedeval_soft.errors import visible
from sedeval_soft.report.fitted import UNDEFINED, Column, lines_of, needed, styled

_LARGE = 1e9
"""Numbers from which on a table shows powers of ten."""

_MARKUP = str.maketrans({c: f"\\{c}" for c in "\\`*_[]<>|#&~"})


AnyColumn = Column | tuple[str | None, str, Iterable[str]]
"""A column, or just its heading, its name and its texts."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table that any presentation can draw.

    title: Title. head: Names of the columns. rows: Cells as text, as many in each row as in `head`. names:
    Number of columns at the left that are names; the others are numbers. headings: Heading above each column
    of numbers, shared by equal neighbours; empty for none. details: Positions of the rows that detail the row
    above them.
    """

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    names: int = 1
    headings: tuple[str, ...] = ()
    details: frozenset[int] = frozenset()

    @classmethod
    def of(cls, title: str, columns: Iterable[AnyColumn], names: int = 1) -> Table:
        """Return the table of some columns, each its heading, its name and its cells."""
        parts = [(heading or "", name, [*texts]) for heading, name, texts, *_ in columns]
        above, head, cells = zip(*parts, strict=True)
        headings = above[names:] if any(above[names:]) else ()
        return cls(title, head, tuple(zip(*cells, strict=True)), names, headings)

    @property
    def columns(self) -> list[Column]:
        """Return the columns, columns of names at the left; details are dim."""
        above = ("",) * self.names + (self.headings or ("",) * (len(self.head) - self.names))
        styles = ["dim" * (at in self.details) for at in range(len(self.rows))]
        texts = [*zip(*self.rows, strict=True)] or [()] * len(self.head)
        return [
            Column(heading, name, column, styles, left=at < self.names)
            for at, (heading, name, column) in enumerate(zip(above, self.head, texts, strict=True))
        ]

    @property
    def groups(self) -> tuple[tuple[str, int], ...]:
        """Return the headings and the number of columns under each; the first, empty one is for the names."""
        if not self.headings:
            return ()
        return (("", self.names), *((heading, len([*same])) for heading, same in groupby(self.headings)))

    def with_cells(self, before: str, after: str) -> Table:
        """Return the table with other texts in all cells that have one, including cells of its head."""
        head, *rows = (tuple(after if c == before else c for c in row) for row in (self.head, *self.rows))
        return replace(self, head=head, rows=tuple(rows))

    def numbers_have(self, cell: str) -> bool:
        """Return whether any column of numbers has a cell."""
        return any(cell in row[self.names :] for row in self.rows)


@dataclass(frozen=True, slots=True)
class Page:
    """One page of results.

    title: Title. lines: Inputs and settings, as (name, text). notes: Notes for the reader on the tables.
    signatures: Signatures, which make the result repeatable.
    """

    title: str
    lines: tuple[tuple[str, str], ...]
    tables: tuple[Table, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    signatures: tuple[str, ...] = ()


def number(value: float | int | None, digits: int = 3) -> str:
    """Return a count as it is, a number with so many digits, `-` if undefined."""
    if value is None or not math.isfinite(value):
        return UNDEFINED
    if isinstance(value, int):
        return str(value)
    if abs(value) >= _LARGE:
        return f"{value:.{digits}e}"
    text = f"{value:.{digits}f}"
    # A number that rounds to zero has no sign.
    return text if text.strip("-0.") else text.removeprefix("-")


def number_if_any(value: float | int | None, digits: int = 3) -> str:
    """Return a number with so many digits, empty for None."""
    return "" if value is None else number(float(value), digits)


def signed(value: float | int | None) -> str:
    """Return a number with its sign, also above 0; `-` if undefined."""
    text = number(value)
    return text if text[0] == "-" or float(text) == 0 else f"+{text}"


def exact(value: float | int | None) -> str:
    """Return a number so that reading it back gives the same number; `-` if undefined."""
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
        margin = max((len(name) for name, _ in page.lines), default=0)
        blocks.append("".join(f"{name:<{margin}}  {content}\n" for name, content in page.lines))
        for table in page.tables:
            parts = [table] if width is None else _split(table, width)
            blocks += [plain_table(part, color=color) for part in parts]
        blocks.append("".join(f"{note}\n" for note in page.notes))
        blocks.append("".join(f"{visible(signature)}\n" for signature in page.signatures))
    return "\n".join(filter(None, blocks))


def plain_table(table: Table, *, color: bool = False) -> str:
    """Return a table as aligned lines of text; no line is cut, however long."""
    lines = [styled(table.title, "bold", color=color), *lines_of(table.columns, color=color)]
    return "".join(f"{line}\n" for line in lines)


def _split(table: Table, width: int) -> list[Table]:
    """Return tables at most so many cells wide that together show all columns of one; each has the names.

    If the names leave no room for even one column of numbers, a table is wider.
    """
    names, parts = table.columns[: table.names], list[list[Column]]()
    for column in table.columns[table.names :]:
        if not parts or needed([*names, *parts[-1], column]) > width:
            parts.append([])
        parts[-1].append(column)
    tables = [Table.of(table.title, [*names, *part], table.names) for part in parts]
    return [replace(part, details=table.details) for part in tables] or [table]


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


def html(page: Page) -> str:
    """Return the tables, notes and signatures of a page as HTML without styles."""
    from html import escape

    blocks = []
    for table in page.tables:
        rows = [[f"<th>{escape(visible(name))}</th>" for name in table.head]]
        if table.groups:
            rows.insert(0, [f'<th colspan="{size}">{escape(text)}</th>' for text, size in table.groups])
        for row in table.rows:
            cells = [f"<td>{escape(visible(cell))}</td>" for cell in row[table.names :]]
            rows.append([f"<th>{escape(visible(name))}</th>" for name in row[: table.names]] + cells)
        lines = "".join(f"<tr>{''.join(row)}</tr>\n" for row in rows)
        blocks.append(f"<table>\n<caption>{escape(visible(table.title))}</caption>\n{lines}</table>\n")
    blocks += [f"<p>{escape(visible(text))}</p>\n" for text in (*page.notes, *page.signatures)]
    return "".join(blocks)


def escaped(text: str) -> str:
    """Return a text on one line, without markup for Markdown and HTML."""
    return visible(text).translate(_MARKUP)
