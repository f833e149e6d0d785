"""Audio temporal grounding, as the script of LAT-Bench prints it.

The script reads one file of JSON lines with two fields, `labels` and `response`. In both it searches for the
first `MM:SS-MM:SS`, brackets taken away. An answer or a label without one is left out of every mean, and so
is a line that is not JSON. The text after the seconds is ignored: 01:02:03-01:02:05 is 02:03 to 01:02.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from sedeval_soft.apps.published.base import Inputs, Number, Published
from sedeval_soft.errors import InputError, Problem, SettingsError

# The first match begins where a run of digits does: looked for only there, a text takes no longer than it is.
_SPAN = re.compile(r"(?<!\d)(\d+):(\d+)\s*-\s*(\d+):(\d+)")
_LINE_END = re.compile("\r\n?|\n")
Span = tuple[int, int]


def span_of(text: Any) -> Span | None:  # noqa: ANN401 - any value of JSON
    """Return onset and offset in seconds, None without a match; raises ValueError as the script."""
    if not isinstance(text, str):
        return None
    match = _SPAN.search(text.replace("[", "").replace("]", ""))
    if match is None:
        return None
    minute, second, last_minute, last_second = map(int, match.groups())
    return minute * 60 + second, last_minute * 60 + last_second


def overlap(ours: Span, theirs: Span) -> float:
    """Return the intersection over union of two spans; 0 where one has no extent."""
    if ours[0] >= ours[1] or theirs[0] >= theirs[1]:
        return 0.0
    common = max(0, min(ours[1], theirs[1]) - max(ours[0], theirs[0]))
    return common / (ours[1] - ours[0] + theirs[1] - theirs[0] - common)


def _items(text: str) -> Iterator[Any]:
    """Yield the object of each line, None for a line that is not JSON."""
    lines = _LINE_END.split(text)
    for line in lines[: -1 if lines[-1] == "" else None]:
        try:
            yield json.loads(line)
        except (ValueError, RecursionError):
            yield None


def _in_field(item: Any, name: str, source: str, line: int) -> Span | None:  # noqa: ANN401 - any value of JSON
    try:
        return span_of(item.get(name, ""))
    except (AttributeError, ValueError):
        wrong = f"{name} has a number of too many digits" if isinstance(item, dict) else "holds no object"
        raise InputError(Problem(source, f"{wrong}, where the script stops; expected others", line)) from None


def _compute(inputs: Inputs) -> dict[str, Number]:
    names = inputs.reference.origin.name, inputs.system.origin.name
    reference, system = ([*_items(text)] for text in inputs.texts)
    if len(reference) != len(system):
        wrong = f"the reference has {len(reference)} lines and the system {len(system)}"
        raise InputError(Problem(names[1], f"{wrong}; expected labels and responses in the same lines"))
    try:
        thresholds = [float(each) for each in str(inputs.options["thresholds"]).split(",") if each]
    except ValueError:
        given = inputs.options["thresholds"]
        raise SettingsError(f"thresholds must be numbers with commas between them, not {given!r}") from None
    overlaps = []
    for line, (ours, theirs) in enumerate(zip(reference, system, strict=True), 1):
        if ours is None or theirs is None:
            continue
        response = _in_field(theirs, str(inputs.options["pred-field"]), names[1], line)
        label = _in_field(ours, str(inputs.options["ref-field"]), names[0], line)
        if response is not None and label is not None:
            overlaps.append(overlap(response, label))
    numbers: dict[str, Number] = {"Total samples": len(reference), "Valid samples": len(overlaps)}
    if not overlaps:
        return numbers | {"mIoU": 0.0}
    values = np.array(overlaps)
    numbers["mIoU"] = float(values.mean())
    return numbers | {f"R@{least}": float(np.mean(values >= least)) for least in thresholds}


EVALUATOR = Published(
    name="lat-bench",
    title="Audio temporal grounding of LAT-Bench (2026)",
    project="alanshaoTT/LAT-Audio-Repo",
    version="2fca544cdc5f905d1322ca86276b000bb6171cec",
    script="examples/train/multimodal/eval/eval-TAG.py",
    ranking="mIoU",
    compute=_compute,
    preset="audio-grounding",
    same={
        "mIoU": "segment.hard.mean_iou.micro",
        "R@0.5": "segment.hard.recall_at_iou.micro",
        **{f"R@{least}": f"segment.hard.recall_at_iou.micro@iou={least}" for least in (0.3, 0.7)},
    },
    options={"pred-field": "response", "ref-field": "labels", "thresholds": "0.3,0.5,0.7"},
    reads_text=True,
)
