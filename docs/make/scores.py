"""Write the table of all measures into scores.md, from the registry."""

from __future__ import annotations

from pathlib import Path

from sedeval_soft.measures.registry import FAMILIES
from sedeval_soft.report.explanation import range_and_better

MARK = "<!-- scores: made by `python docs/make/scores.py` -->\n"
PAGE = Path(__file__).parents[1] / "reference" / "scores.md"


def page(text: str) -> str:
    """Return the page with the table of measures below the mark."""
    return text[: text.index(MARK) + len(MARK)] + "\n" + scores_table()


def scores_table() -> str:
    """Return the Markdown table of all measures, one row per measure and reading."""
    head = ("score", "what it is", "formula", "range", "better", "undefined when", "averages", "source")
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for family in FAMILIES:
        for m in family.measures:
            forms = ", ".join((*m.averages, *["[class]"] * m.has_classes))
            better = "" if m.direction == "none" else m.direction
            name, span = f"`{family.basis}.{family.reading}.{m.name}`", range_and_better(m)[0]
            cells = (name, m.summary, m.formula, span, better, m.undefined, forms, m.source)
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
