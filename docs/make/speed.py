"""Bring docs/performance.md up to date with what the benchmarks measured.

    python docs/make/speed.py RESULTS

RESULTS: what `python benchmarks/run.py --output RESULTS` wrote.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "performance.md"

_ROW = re.compile(r"^\| (?P<case>[^|]+) \| [^|]* \| [^|]* \| (?P<ratio>[^|]*\dx[^|]*) \|.*$", re.MULTILINE)


def rows(text: str) -> dict[str, str]:
    """Return the rows of measured cases in a text, by case."""
    return {match["case"]: match[0] for match in _ROW.finditer(text)}


def replaced(text: str, measured: dict[str, str]) -> str:
    """Return a text with the rows of measured cases in place of its own."""
    return _ROW.sub(lambda match: measured.get(match["case"], match[0]), text)


if __name__ == "__main__":
    results = rows(Path(sys.argv[1]).read_text(encoding="utf-8"))
    PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8"), results), encoding="utf-8")
