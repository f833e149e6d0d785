"""Write the tables of what differs elsewhere into differences.md, from what `explain` prints."""

from __future__ import annotations

import re
from pathlib import Path

from sedeval_soft.measures.explanation import DIFFERENCES, TOOLS

PAGE = Path(__file__).parents[1] / "explanations" / "differences.md"


def table(tool: str) -> str:
    """Return the Markdown table of a tool's differences."""
    lines = [f"| what | {tool} | here |", "|---|---|---|"]
    lines += [f"| {d.what} | {d.theirs} | {d.ours} |" for d in DIFFERENCES if d.tool == tool]
    return "".join(f"{line}\n" for line in lines)


def page(text: str) -> str:
    """Return the page with every table as it should be."""
    for tool in TOOLS:
        old = re.compile(rf"^\| what \| {re.escape(tool)} \| here \|\n(?:\|.*\n)+", re.MULTILINE)
        text, count = old.subn(table(tool).replace("\\", r"\\"), text)
        if count != 1:
            raise ValueError(f"{count} tables of {tool}; expected one")
    return text


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
