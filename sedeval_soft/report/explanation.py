"""What scores mean, for people and for programs."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from sedeval_soft.errors import visible
from sedeval_soft.measures.differences import TOOLS
from sedeval_soft.measures.explanation import Explanation
from sedeval_soft.report.json import json_document
from sedeval_soft.report.listing import range_of

_WIDTH, _HEAD = 100, 11
_NONE = f"no difference is known to {', '.join(TOOLS[:-1])} or {TOOLS[-1]}, where they have it"


def explanation_text(explanations: Sequence[Explanation]) -> str:
    """Return explanations as lines of text, at most 100 wide, with a blank line between two scores."""
    return "\n".join(map(_one, explanations))


def explanation_json(explanations: Sequence[Explanation]) -> str:
    """Return explanations as a list in JSON."""
    return json_document([_plain(each) for each in explanations])


def _one(explanation: Explanation) -> str:
    measure = explanation.measure
    parts = [
        ("what", measure.summary),
        ("basis", explanation.basis),
        ("reading", explanation.reading),
        ("average", explanation.average),
        ("formula", measure.formula),
        *(("", f"{letter} = {meaning}") for letter, meaning in explanation.letters.items()),
        ("range", "; ".join(filter(None, (range_of(measure), _better(measure.direction))))),
        ("undefined", measure.undefined),
        ("source", measure.source),
        ("needs", explanation.asked_by),
    ]
    lines = [visible(explanation.name)]
    lines += [line for head, text in parts if text for line in _wrapped(head, text)]
    if not explanation.differences:
        return "".join(f"{line}\n" for line in [*lines, *_wrapped("elsewhere", _NONE)])
    head = "elsewhere"
    for difference in explanation.differences:
        told = f"{difference.what}: {difference.theirs}; here: {difference.ours}".replace("`", "")
        lines += _wrapped(head, f"{difference.tool}, {told}")
        head = ""
    return "".join(f"{line}\n" for line in lines)


def _wrapped(head: str, text: str) -> list[str]:
    first, rest = f"  {head:<{_HEAD}}", " " * (_HEAD + 2)
    return textwrap.wrap(
        visible(text), _WIDTH, initial_indent=first, subsequent_indent=f"{rest}  ", break_on_hyphens=False
    )


def _better(direction: str) -> str:
    return "" if direction == "none" else f"{direction} is better"


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
