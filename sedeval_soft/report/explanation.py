"""Meanings of scores, for people and for programs; the list of all scores."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from sedeval_soft.errors import visible
from sedeval_soft.measures.base import Measure
from sedeval_soft.measures.explanation import TOOLS, WORDS, Explanation, explained
from sedeval_soft.measures.registry import measure_of, score_names
from sedeval_soft.report.forms import json_document
from sedeval_soft.report.requirements import all_of
from sedeval_soft.settings import CLASS_MEANS

_NONE = f"no difference is known to {', '.join(TOOLS[:-1])} or {TOOLS[-1]}, where they have it"


def list_scores() -> str:
    """Return one line per score name: the name, its meaning, its range and which way is better."""
    names = list(score_names(means=CLASS_MEANS))
    width = max(map(len, names))
    measures = map(measure_of, names)
    described = (filter(None, (measure.summary, *range_and_better(measure))) for measure in measures)
    return "".join(
        f"{name:<{width}}  {'; '.join(texts)}\n" for name, texts in zip(names, described, strict=True)
    )


def range_and_better(measure: Measure) -> tuple[str, str]:
    """Return the range of a measure and which way is better as texts, empty without any."""
    low, high = ("" if end is None else f"{end:g}" for end in (measure.low, measure.high))
    better = "" if measure.direction == "none" else f"{measure.direction} is better"
    return f"{low} to {high}" if low and high else f"from {low}" if low else "", better


def explanations(names: Sequence[str], form: str = "text") -> str:
    """Return the meaning of scores, and of words of screens and options, as text or json.

    Raises SettingsError for all names that are not known.
    """
    found = all_of(lambda name: name if name in WORDS else explained(name), names)
    if form == "json":
        return json_document([*map(explanation_document, found)])
    return "\n".join(map(explanation_text, found))


def explanation_document(explanation: Explanation | str) -> dict[str, Any]:
    """Return an explanation, or the meaning of a word, as JSON has it."""
    if isinstance(explanation, str):
        return dict(zip(("name", "summary", "example"), (explanation, *WORDS[explanation]), strict=True))
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


def explanation_text(explanation: Explanation | str) -> str:
    """Return an explanation, or the meaning of a word, as lines of text, at most 100 wide."""
    plain = explanation_document(explanation)
    if isinstance(explanation, str):
        example = f"soft-sed-eval explain {plain['example']}"
        return _lines(explanation, [("what", plain["summary"]), ("example", example)])
    elsewhere = [
        f"{each['tool']}, {'{what}: {theirs}; here: {here}'.format_map(each).replace('`', '')}"
        for each in plain["elsewhere"]
    ]
    parts = [
        ("what", plain["summary"]),
        ("alike", ", ".join(explanation.alike)),
        *((name, plain[name]) for name in ("basis", "reading", "average", "formula")),
        *(("", f"{letter} = {meaning}") for letter, meaning in explanation.letters.items()),
        ("range", "; ".join(filter(None, range_and_better(explanation.measure)))),
        *((name, plain[name] or "") for name in ("undefined", "source", "needs")),
        *zip(("elsewhere", *[""] * len(elsewhere)), elsewhere or [_NONE], strict=False),
    ]
    return _lines(explanation.name, parts)


def _lines(name: str, parts: Sequence[tuple[str, str]]) -> str:
    """Return a name, and below it texts with their heads."""
    lines = [visible(name)]
    for head, text in parts:
        first, rest = f"  {head:<11}", " " * 15
        wrapper = textwrap.TextWrapper(100, first, rest, break_on_hyphens=False)
        lines += wrapper.wrap(visible(text)) if text else []
    return "".join(f"{line}\n" for line in lines)
