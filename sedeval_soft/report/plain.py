"""Tables as aligned text without colour or lines, for pipes and files."""

from __future__ import annotations

from sedeval_soft.report.table import Table, column_widths, padded

_GAP = "  "


def plain_table(table: Table) -> str:
    """Return a table as lines of text; no line is cut, however long."""
    widths = column_widths(table, len(_GAP))
    lines = [table.title]
    if table.groups:
        lines.append(_group_line(table, widths))
    for row in (table.head, *table.rows):
        line = _GAP.join(
            padded(cell, width, right=i >= table.names)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        lines.append(line)
    return "".join(line.rstrip() + "\n" for line in lines)


def _group_line(table: Table, widths: list[int]) -> str:
    parts, at = [], 0
    for heading, count in table.groups:
        width = sum(widths[at : at + count]) + len(_GAP) * (count - 1)
        parts.append(padded(heading, width))
        at += count
    return _GAP.join(parts)
