"""What scores mean, for people and for programs; the list of all scores, and their table for the docs."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from sedeval_soft.errors import visible
from sedeval_soft.measures.base import Measure
from sedeval_soft.measures.explanation import TOOLS, Explanation
from sedeval_soft.measures.registry import FAMILIES, measure_of, score_names
from sedeval_soft.report.render import json_document

_WIDTH, _HEAD = 100, 11
_NONE = f"no difference is known to {', '.join(TOOLS[:-1])} or {TOOLS[-1]}, where they have it"


def list_scores() -> str:
    """Return one line per score name: the name, what it is, its range and which way is better."""
    names = list(score_names())
    width = max(map(len, names))
    lines = []
    for name in names:
        measure = measure_of(name)
        lines.append(
            f"{name:<{width}}  {'; '.join(filter(None, (measure.summary, *_range_and_better(measure))))}\n"
        )
    return "".join(lines)


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
                _range_and_better(measure)[0],
                "" if measure.direction == "none" else measure.direction,
                measure.undefined,
                ", ".join(forms),
                measure.source,
            )
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def explanation_text(explanations: Sequence[Explanation]) -> str:
    """Return explanations as lines of text, at most 100 wide, with a blank line between two scores."""
    return "\n".join(map(_one, explanations))


def explanation_json(explanations: Sequence[Explanation]) -> str:
    """Return explanations as a list in JSON."""
    return json_document([_plain(each) for each in explanations])


def _range_and_better(measure: Measure) -> tuple[str, str]:
    """Return the range of a measure and which way is better as texts, empty where there is none."""
    low = "" if measure.low is None else f"{measure.low:g}"
    high = "" if measure.high is None else f"{measure.high:g}"
    better = "" if measure.direction == "none" else f"{measure.direction} is better"
    return f"{low} to {high}" if low and high else f"from {low}" if low else "", better


def _one(explanation: Explanation) -> str:
    measure = explanation.measure
    parts = [
        ("what", measure.summary),
        ("basis", explanation.basis),
        ("reading", explanation.reading),
        ("average", explanation.average),
        ("formula", measure.formula),
        *(("", f"{letter} = {meaning}") for letter, meaning in explanation.letters.items()),
        ("range", "; ".join(filter(None, _range_and_better(measure)))),
        ("undefined", measure.undefined),
        ("source", measure.source),
        ("needs", explanation.asked_by),
    ]
    elsewhere = [
        f"{each.tool}, {f'{each.what}: {each.theirs}; here: {each.ours}'.replace('`', '')}"
        for each in explanation.differences
    ]
    parts += zip(("elsewhere", *[""] * len(elsewhere)), elsewhere or [_NONE], strict=False)
    lines = [visible(explanation.name)]
    for head, text in parts:
        if text:
            first, rest = f"  {head:<{_HEAD}}", " " * (_HEAD + 4)
            lines += textwrap.wrap(
                visible(text), _WIDTH, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
            )
    return "".join(f"{line}\n" for line in lines)


def _plain(explanation: Explanation) -> dict[str, Any]:
    measure = explanation.measure
    return {
        "name": explanation.name,
        "summary": measure.summary,
        "basis": explanation.basis,
        "reading": explanation.reading,
        "average": explanation.average,
        "formula": measure.formula,
        "letters": explanation.letters,
        "low": measure.low,
        "high": measure.high,
        "better": None if measure.direction == "none" else measure.direction,
        "undefined": measure.undefined,
        "source": measure.source,
        "needs": explanation.asked_by or None,
        "elsewhere": [
            {"tool": d.tool, "what": d.what, "theirs": d.theirs, "here": d.ours}
            for d in explanation.differences
        ],
    }
