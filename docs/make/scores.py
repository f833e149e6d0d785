"""Write the table of all measures into scores.md, from the registry."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sedeval_soft.measures.registry import FAMILIES
from sedeval_soft.report.explanation import range_and_better

MARK = "<!-- scores: made by `python docs/make/scores.py` -->\n"
PAGE = Path(__file__).parents[1] / "reference" / "scores.md"
HEAD = ("measure", "meaning", "formula", "bases: readings", "range", "undefined if", "source")
BETTER = {"higher": " \u2191", "lower": " \u2193", "none": ""}
READINGS = "hard, tuned, optimal, soft"


def page(text: str) -> str:
    """Return the page with the table of measures below the mark."""
    return text[: text.index(MARK) + len(MARK)] + "\n" + scores_table()


def scores_table() -> str:
    """Return the Markdown table of all measures, one row per measure."""
    found: dict[str, list[tuple[str, str]]] = {}
    cells: dict[str, list[tuple[str, ...]]] = {}
    for family in FAMILIES:
        for m in family.measures:
            found.setdefault(m.name, []).append((family.basis, family.reading))
            span = range_and_better(m)[0] + BETTER[m.direction]
            source = m.source.replace("Mesaros, Heittola & Virtanen", "Mesaros et al.")
            cells.setdefault(m.name, []).append((m.summary, m.formula, span, m.undefined, source))
    lines = [f"| {' | '.join(HEAD)} |", "|" + "---|" * len(HEAD)]
    for name, of in cells.items():
        summary, formula, span, undefined, source = (joined(column) for column in zip(*of, strict=True))
        row = (f"`{name}`", summary, formula, where(found[name]), span, undefined, source)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |")
    return "\n".join(lines) + "\n"


def joined(column: Iterable[str]) -> str:
    """Return the different texts of a column; bases differ in few of them."""
    return "; ".join(text for text in dict.fromkeys(column) if text)


def where(found: list[tuple[str, str]]) -> str:
    """Return the bases that have a measure, and the readings of each, grouped where they are alike."""
    readings: dict[str, list[str]] = {}
    for basis, reading in found:
        readings.setdefault(basis, []).append(reading)
    alike: dict[str, list[str]] = {}
    for basis, names in readings.items():
        alike.setdefault(", ".join(names), []).append(basis)
    return "; ".join(
        f"{', '.join(bases)}: {'all' if names == READINGS else names}" for names, bases in alike.items()
    )


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
