"""Audio moment retrieval (DCASE 2026 task 6; QVHighlights before it), as the script of lighthouse prints it.

The script reads JSON lines: `relevant_windows` of each query, [onset, offset] each, and of a system
`pred_relevant_windows`, [onset, offset, score]. Only windows of the reference that last up to 1,500 s are
looked at; queries without any are left out. Average precision takes the first ten windows of a query, by
score, and its mean over queries; R1 takes the first window as it is written. All is in per cent, with two
decimals. No code of theirs is here; `argsort` is called as there, for ties are in its order.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from sedeval_soft.apps.published.base import Inputs, Number, Published
from sedeval_soft.arrays import Array, Floats
from sedeval_soft.errors import InputError, Problem

IOUS = tuple(float(f"{iou:.2f}") for iou in np.linspace(0.5, 0.95, 10))
MOST, LONGEST = 10, 1500


def _windows(text: str, field: str, width: int, source: str) -> dict[Any, list[list[float]]]:
    """Return the windows of each query in JSON lines; raises InputError for a line that is none."""
    windows: dict[Any, list[list[float]]] = {}
    expected = f"expected an object with qid and {field}, a list of {width} numbers or more each"
    for line, each in enumerate(text.removesuffix("\n").split("\n"), 1):
        try:
            item = json.loads(each)
            own = [[float(x) for x in window[:width]] for window in item[field]]
            if item["qid"] in windows or any(len(window) < width for window in own):
                raise ValueError("a query that is there twice, or a window that is too short")
            windows[item["qid"]] = own
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise InputError(Problem(source, f"is no such row ({error}); {expected}", line)) from None
    return windows


def _overlaps(windows: Array, onset: float, offset: float) -> Floats:
    """Return the intersection over union of some windows, (n, 2), and one."""
    common = np.clip(np.minimum(windows[:, 1], offset) - np.maximum(windows[:, 0], onset), 0, None)
    iou: Floats = common / ((offset - onset) + (windows[:, 1] - windows[:, 0]) - common)
    return iou


def _average_precisions(reference: Array, system: list[list[float]]) -> list[float]:
    """Return the interpolated average precision of a query at each of `IOUS`."""
    hits = np.zeros((len(IOUS), len(system)))
    taken = np.zeros((len(IOUS), len(reference)), dtype=bool)
    for at, (onset, offset, _) in enumerate(sorted(system, key=lambda window: -window[2])):
        iou = _overlaps(reference, onset, offset)
        best = iou.argsort()[::-1]
        for k, least in enumerate(IOUS):
            # Behind one that overlaps too little, or not a number, none is looked at.
            few = np.flatnonzero(iou[best] < least)
            free = [each for each in best[: few[0] if len(few) else None] if not taken[k, each]]
            if free:
                taken[k, free[0]] = hits[k, at] = True
    tp = np.cumsum(hits, axis=1)
    recall, precision = tp / len(reference), tp / np.arange(1, len(system) + 1)
    areas = []
    for reached, right in zip(recall, precision, strict=True):
        p = np.maximum.accumulate([*right, 0.0][::-1])[::-1]
        r = np.array([0.0, *reached, 1.0])
        steps = np.flatnonzero(r[1:] != r[:-1])
        areas.append(float(np.sum((r[steps + 1] - r[steps]) * p[steps])))
    return areas


def _compute(inputs: Inputs) -> dict[str, Number]:
    """Return the five numbers that the script prints in brief; raises InputError if it stops."""
    names = inputs.reference.origin.name, inputs.system.origin.name
    ours = _windows(inputs.texts[0], "relevant_windows", 2, names[0])
    theirs = _windows(inputs.texts[1], "pred_relevant_windows", 3, names[1])
    if ours.keys() != theirs.keys():
        raise InputError(Problem(names[1], "has other queries than the reference, where the script stops"))
    reference: dict[Any, Array] = {}
    for qid in theirs:
        inside = [window for window in ours[qid] if 0 < window[1] - window[0] <= LONGEST]
        if inside:
            reference[qid] = np.array(inside)
        if inside and not theirs[qid]:
            wrong = f"query {qid!r} has no window, where the script stops; expected one or more"
            raise InputError(Problem(names[1], wrong))
    if not reference:
        raise InputError(Problem(names[0], "has no window of up to 1500 s, where the script stops"))
    with np.errstate(divide="ignore", invalid="ignore"):
        areas = [_average_precisions(own, theirs[qid][:MOST]) for qid, own in reference.items()]
        best = np.array([_best_overlap(own, *theirs[qid][0][:2]) for qid, own in reference.items()])
    means = np.array(areas).mean(0)
    shown: Mapping[str, float] = {
        "R1@0.5": float(np.mean(best >= 0.5)), "R1@0.7": float(np.mean(best >= 0.7)), "mAP": np.mean(means),
        "mAP@0.5": means[0], "mAP@0.75": means[IOUS.index(0.75)],
    }  # fmt: skip
    return {f"MR-full-{name}": float(f"{100 * value:.2f}") for name, value in shown.items()}


def _best_overlap(windows: Array, onset: float, offset: float) -> float:
    """Return the overlap of a window with the one of the reference that it overlaps most."""
    begin, end = windows[np.argmax(_overlaps(windows, onset, offset))]
    common, extent = max(0.0, min(offset, end) - max(onset, begin)), max(offset, end) - min(onset, begin)
    return float(common / extent) if extent else 0.0


EVALUATOR = Published(
    name="dcase2026-task6",
    title="DCASE 2026 task 6, audio moment retrieval",
    project="line/lighthouse",
    version="03ea7b499922ad4811a0071d5f5a83ba082a4261",
    script="training/standalone_eval/eval.py",
    ranking="",
    compute=_compute,
    percent=dict.fromkeys(
        (f"MR-full-{name}" for name in ("R1@0.5", "R1@0.7", "mAP", "mAP@0.5", "mAP@0.75")), 2
    ),
    preset="dcase2026-task6",
    same={
        "MR-full-R1@0.5": "event.hard.recall_at_1.macro",
        "MR-full-mAP": "event.hard.average_precision_voc_mean.macro",
        "MR-full-mAP@0.5": "event.hard.average_precision_voc.macro",
    },
    reads_text=True,
)
