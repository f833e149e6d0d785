"""Tables for a terminal, drawn by rich. Names are never cut: a table too wide is drawn as it is."""

from __future__ import annotations

import io

from sedeval_soft.report.table import UNDEFINED, Table, column_widths


def terminal_table(table: Table, width: int | None) -> str:
    """Return a table with lines and colours (none if NO_COLOR is set) for a terminal so many cells wide."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    widths = column_widths(table)
    needed = sum(widths) + 3 * len(widths) + 1
    headings = [heading for heading, count in table.groups for _ in range(count)]
    drawn = RichTable(
        title=Text(table.title, style="bold"), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False
    )
    for i, name in enumerate(table.head):
        above = f"{headings[i]}\n" if headings else ""
        drawn.add_column(
            Text(above + name),
            justify="right" if i >= table.names else "left",
            no_wrap=True,
            min_width=widths[i],
        )
    for row in table.rows:
        drawn.add_row(*(Text(cell, style="dim" if cell == UNDEFINED else "") for cell in row))
    console = Console(
        file=io.StringIO(),
        force_terminal=True,
        width=max(width or 0, needed),
        highlight=False,
        legacy_windows=False,
    )
    console.print(drawn)
    return "".join(line.rstrip() + "\n" for line in console.file.getvalue().splitlines())  # type: ignore[attr-defined]
