"""Scores as text: header, tables, notes, signature."""

from __future__ import annotations

from collections.abc import Sequence

from sedeval_soft.core.value import Scores
from sedeval_soft.report.header import header
from sedeval_soft.report.plain import plain_table
from sedeval_soft.report.table import visible
from sedeval_soft.report.tables import notes, tables


def text(systems: Sequence[Scores], *, color: bool, width: int | None) -> str:
    """Return the scores of some systems, one after another, each under its name if there are several."""
    return "\n".join(_system(scores, color, width, named=len(systems) > 1) for scores in systems)


def _system(scores: Scores, color: bool, width: int | None, *, named: bool) -> str:
    lines = header(scores)
    margin = max(len(name) for name, _ in lines)
    blocks = [f"System: {visible(scores.system)}\n"] if named else []
    blocks.append("".join(f"{name:<{margin}}  {content}\n" for name, content in lines))
    shown = tables(scores)
    for table in shown:
        if color:
            from sedeval_soft.report.terminal import terminal_table

            blocks.append(terminal_table(table, width))
        else:
            blocks.append(plain_table(table))
    said = notes(scores, shown)
    if said:
        blocks.append("".join(f"{note}\n" for note in said))
    blocks.append(f"{visible(scores.signature)}\n")
    return "\n".join(blocks)
