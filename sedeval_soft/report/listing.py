"""The list of all scores: for `--list-scores`, and as the table of the docs."""

from __future__ import annotations

from sedeval_soft.measures.base import Measure
from sedeval_soft.measures.registry import FAMILIES, measure_of, score_names

_BETTER = {"higher": "higher is better", "lower": "lower is better", "none": ""}


def list_scores() -> str:
    """Return one line per score name: the name, what it is, its range and which way is better."""
    names = list(score_names())
    width = max(map(len, names))
    return "".join(f"{name:<{width}}  {_describe(measure_of(name))}\n" for name in names)


def _describe(measure: Measure) -> str:
    parts = [measure.summary, range_of(measure), _BETTER[measure.direction]]
    return "; ".join(part for part in parts if part)


def range_of(measure: Measure) -> str:
    """Return the range of a measure as text, empty where it has none."""
    low = "" if measure.low is None else f"{measure.low:g}"
    high = "" if measure.high is None else f"{measure.high:g}"
    return f"{low} to {high}" if low and high else f"from {low}" if low else ""


def scores_table() -> str:
    """Return the Markdown table of all measures, one row per measure and reading, for the docs."""
    lines = [
        "| score | what it is | formula | range | better | undefined when | averages | source |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for family in FAMILIES:
        for measure in family.measures:
            forms = [*measure.averages, *(["[class]"] if measure.has_classes else [])]
            cells = (
                f"`{family.basis}.{family.reading}.{measure.name}`",
                measure.summary,
                measure.formula,
                range_of(measure),
                {"none": ""}.get(measure.direction, measure.direction),
                measure.undefined,
                ", ".join(forms),
                measure.source,
            )
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"
