"""Write the table of all measures into scores.md, from the registry."""

from __future__ import annotations

from pathlib import Path

from sedeval_soft.report.explanation import scores_table

MARK = "<!-- scores: made by `python docs/make/scores.py` -->\n"
PAGE = Path(__file__).parents[1] / "reference" / "scores.md"


def page(text: str) -> str:
    """Return the page with the table of measures below the mark."""
    return text[: text.index(MARK) + len(MARK)] + "\n" + scores_table()


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
