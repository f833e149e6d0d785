"""Pages of results as Markdown, with tables as GitHub draws them."""

from __future__ import annotations

from collections.abc import Sequence

from sedeval_soft.errors import visible
from sedeval_soft.report.table import Page, Table

_SPECIAL = str.maketrans({c: f"\\{c}" for c in "\\`*_[]<>|#&~"})


def markdown(pages: Sequence[Page]) -> str:
    """Return pages, one after another."""
    return "\n".join(map(_page, pages))


def _page(page: Page) -> str:
    blocks = [f"## {escaped(page.title)}\n"]
    blocks.append("".join(f"- {name}: {escaped(content)}\n" for name, content in page.lines))
    if page.warnings:
        blocks.append("".join(f"- **warning**: {escaped(warning)}\n" for warning in page.warnings))
    blocks += [_table(table) for table in page.tables]
    blocks += [f"{_paragraph(note)}\n" for note in page.notes]
    blocks += [f"{escaped(signature)}\n" for signature in page.signatures]
    return "\n".join(blocks)


def escaped(text: str) -> str:
    """Return a text in which Markdown and HTML see no markup, on one line."""
    return visible(text).translate(_SPECIAL)


def _paragraph(text: str) -> str:
    """Return a text escaped so that it begins no list."""
    return f"\\{escaped(text)}" if text[:1] in {"-", "+"} else escaped(text)


def _table(table: Table) -> str:
    headings = [heading for heading, count in table.groups for _ in range(count)] or [""] * len(table.head)
    head = [f"{heading} {name}".strip() for heading, name in zip(headings, table.head, strict=True)]
    rule = ["---" if i < table.names else "---:" for i in range(len(head))]
    lines = [[escaped(name) for name in head], rule]
    for at, row in enumerate(table.rows):
        # Blanks that set off a name mean nothing in Markdown.
        lines.append([escaped(cell.lstrip() if at in table.details else cell) for cell in row])
    return f"### {escaped(table.title)}\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)
