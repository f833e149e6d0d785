"""The first and the last lines of a screen: what was scored against what, and the signature in short."""

from __future__ import annotations

from pathlib import PurePath

from sedeval_soft.errors import counted, visible
from sedeval_soft.evaluation.scores import Scores
from sedeval_soft.evaluation.signature import POINT
from sedeval_soft.report.fitted import cells, clipped, shortened, styled, wrapped
from sedeval_soft.report.legend import short

_MOST_LINES = 3
"""Lines of a signature on a screen that `-vv` shows in full."""


def title_lines(scored: str, scores: Scores, width: int, *, color: bool = False) -> list[str]:
    """Return what was scored, such as the name of a system, against what, and how much of it there was."""
    settings = scores.settings
    reference = next((name_of(i.name) for i in scores.inputs if i.role == "reference"), "the reference")
    cut = f"threshold {short(settings.threshold)}"
    if settings.reference_cut != settings.threshold:
        cut += f" (reference {short(settings.reference_cut)})"
    sizes = (
        counted(len(scores.files), "file"),
        _duration(scores.length),
        counted(len(scores.classes), "class"),
    )
    told = ", ".join(filter(None, (*sizes, cut)))
    room = (width - cells(" against ")) // 2
    title = f"{shortened(scored, room)} against {shortened(reference, room)}"
    lines = [styled(title, "bold", color=color)]
    if cells(title) + 4 + cells(told) <= width:
        return [f"{lines[0]}    {told}"]
    return [*lines, clipped(told, width)]


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
    """Return the last part of a path, as it can be shown; of what has no file its role."""
    if path in {"reference", "system"}:
        return f"the {path}"
    return visible(PurePath(path).name or path)


def _duration(seconds: float) -> str:
    """Return a length of time with three digits or so: `213 s`, `174 min`, `29.1 h`."""
    if seconds < 600:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:.0f} min" if seconds < 36_000 else f"{seconds / 3600:.0f} h"
