"""The first and the last lines of a screen: the inputs that were compared, and the short signature."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from sedeval_soft.errors import counted, visible
from sedeval_soft.evaluation.scores import Scores, has_soft_reference, main_score
from sedeval_soft.evaluation.signature import POINT
from sedeval_soft.report.fitted import cells, clipped, folded, interval, number, shortened, styled, wrapped
from sedeval_soft.report.legend import has_length, legend, short
from sedeval_soft.report.shown import Family

_MOST_LINES = 3
"""Lines of a signature on a screen that `-vv` shows in full."""


def title_lines(scored: str, scores: Scores, width: int, *, color: bool = False) -> list[str]:
    """Return the scored input, such as the name of a system, its reference, and the amount of data."""
    settings = scores.settings
    reference = next((name_of(i.name) for i in scores.inputs if i.role == "reference"), "the reference")
    cut = (
        "" if settings.reference_cut == settings.threshold else f"reference > {short(settings.reference_cut)}"
    )
    sizes = (
        counted(len(scores.files), "file"),
        _duration(scores.length) if has_length(scores) else "",
        counted(len(scores.classes), "class"),
    )
    told = ", ".join(filter(None, (*sizes, cut)))
    room = (width - cells(" against ")) // 2
    title = f"{shortened(scored, room)} against {shortened(reference, room)}"
    lines = [styled(title, "bold", color=color)]
    if cells(title) + 4 + cells(told) <= width:
        return [f"{lines[0]}    {told}"]
    return [*lines, clipped(told, width)]


def main_lines(scores: Scores, width: int, *, color: bool = False) -> list[str]:
    """Return the line that names one score, and the reason for this choice; none without F1."""
    name = main_score(scores)
    if name is None:
        return []
    score = scores.scores[name]
    value = f"{visible(name)}   {number(score.value)} {interval(score.low, score.high)}".rstrip()
    line = styled(clipped(value, width), "bold", color=color)
    kind = "soft" if has_soft_reference(scores) else "hard"
    ranks = name == scores.settings.rank_by
    why = "report this: it ranks systems" if ranks else f"report this: the reference is {kind}"
    return [f"{line}        {why}"] if cells(value) + 8 + cells(why) <= width else [line, f"  {why}"]


def word_lines(scores: Scores, order: Sequence[Family], averages: Sequence[str], width: int) -> list[str]:
    """Return a line for each word on a screen, with its meaning in this call."""
    words = legend(scores, order, averages)
    margin = max(map(cells, words), default=0) + 2
    return [
        f"{word if not k else '':<{margin}}{line}"
        for word, text in words.items()
        for k, line in enumerate(folded(text, width - margin, ""))
    ]


def signature_lines(signature: str, width: int, most: int | None = _MOST_LINES) -> list[str]:
    """Return a signature in short on lines: on so many at most, as many as it takes for None."""
    parts = list(map(visible, signature.split(POINT)))
    lines, left_out = wrapped(parts, width), 0
    while most is not None and len(lines) > most and len(parts) > 2:
        del parts[1]
        left_out += 1
        lines = wrapped([parts[0], f"{left_out} more (-vv)", *parts[1:]], width)
    return lines


def name_of(path: str) -> str:
    """Return the last part of a path in a safe form; the role for an input without a file."""
    if path in {"reference", "system"}:
        return f"the {path}"
    return visible(PurePath(path).name or path)


def _duration(seconds: float) -> str:
    """Return a length of time with three digits or so: `213 s`, `174 min`, `29.1 h`."""
    if seconds < 600:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:.0f} min" if seconds < 36_000 else f"{seconds / 3600:.0f} h"
