"""Bring the README's table of speed up to date: its rows are those of docs/performance.md of the same cases.

    python docs/make/speed.py [RESULTS]

RESULTS: what `python benchmarks/run.py --output RESULTS` wrote; its rows go into docs/performance.md first.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGE = ROOT / "docs" / "performance.md"

_ROW = re.compile(r"^\| (?P<case>[^|]+) \| [^|]* \| [^|]* \| (?P<ratio>[^|]*\dx[^|]*) \|.*$", re.MULTILINE)


def rows(text: str) -> dict[str, str]:
    """Return the rows of measured cases in a text, by case."""
    return {match["case"]: match[0] for match in _ROW.finditer(text)}


def replaced(text: str, known: dict[str, str]) -> str:
    """Return a text with the rows of known cases as they are there."""
    return _ROW.sub(lambda match: known.get(match["case"], match[0]), text)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measured = rows(Path(sys.argv[1]).read_text(encoding="utf-8"))
        PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8"), measured), encoding="utf-8")
    page = rows(PAGE.read_text(encoding="utf-8"))
    README.write_text(replaced(README.read_text(encoding="utf-8"), page), encoding="utf-8")
