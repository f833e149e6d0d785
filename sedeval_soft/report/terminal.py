"""Tables for a terminal, drawn by rich.

Names are never cut: the columns of a table that is too wide are spread over a few, and where that does not
help, because the names alone fill the terminal, it is drawn as wide as it is.
"""

from __future__ import annotations

import io

from sedeval_soft.report.table import UNDEFINED, Table, split, text_widths

_GAP = 2
_MARGIN = 1
_MOST_PARTS = 4
"""Into more parts than these a table is harder to read than in lines that the terminal wraps."""


def terminal_table(table: Table, width: int | None) -> str:
    """Return a table with lines and colours (none if NO_COLOR is set) for a terminal so many cells wide.

    width: None for any.
    """
    parts = [table] if width is None else split(table, width - _MARGIN, _GAP, _widths(table))
    return "\n".join(_draw(part) for part in (parts if len(parts) <= _MOST_PARTS else [table]))


def _widths(table: Table) -> list[int]:
    """Return the width of each column: a group's heading stands over its first column, and has no other."""
    from rich.cells import cell_len

    widths = text_widths(table, cell_len)
    at = 0
    for heading, count in table.groups:
        widths[at] = max(widths[at], cell_len(heading))
        at += count
    return widths


def _draw(table: Table) -> str:
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    widths = _widths(table)
    drawn = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 0, 0, 1))
    before = None
    for i, (name, heading) in enumerate(zip(table.head, table.headings, strict=True)):
        above = f"{heading if heading != before else ''}\n" if table.groups else ""
        before = heading
        drawn.add_column(
            Text(above + name),
            justify="right" if i >= table.names else "left",
            no_wrap=True,
            min_width=widths[i],
        )
    for at, row in enumerate(table.rows):
        faint = at in table.details
        drawn.add_row(
            *(
                Text(cell, style="dim" if faint or (cell == UNDEFINED and i >= table.names) else "")
                for i, cell in enumerate(row)
            )
        )
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=10**6, highlight=False, legacy_windows=False)
    console.print(Text(table.title, style="bold"))
    console.print(drawn)
    lines = out.getvalue().splitlines()
    return "".join(" " * _MARGIN + line.rstrip() + "\n" for line in lines)
