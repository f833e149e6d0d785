"""Pages of results as text: header, tables, notes, signatures."""

from __future__ import annotations

from collections.abc import Sequence

from sedeval_soft.errors import visible
from sedeval_soft.report.page import Page
from sedeval_soft.report.plain import plain_table


def text(pages: Sequence[Page], *, color: bool, width: int | None) -> str:
    """Return pages, one after another, each under the name of its system if there are several."""
    return "\n".join(_page(page, color, width, named=len(pages) > 1) for page in pages)


def _page(page: Page, color: bool, width: int | None, *, named: bool) -> str:
    margin = max(len(name) for name, _ in page.lines)
    blocks = [f"System: {visible(page.title)}\n"] if named else []
    blocks.append("".join(f"{name:<{margin}}  {content}\n" for name, content in page.lines))
    for table in page.tables:
        if color:
            from sedeval_soft.report.terminal import terminal_table

            blocks.append(terminal_table(table, width))
        else:
            blocks.append(plain_table(table))
    if page.notes:
        blocks.append("".join(f"{note}\n" for note in page.notes))
    blocks.append("".join(f"{visible(signature)}\n" for signature in page.signatures))
    return "\n".join(blocks)
