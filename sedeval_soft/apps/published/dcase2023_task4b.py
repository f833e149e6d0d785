"""DCASE 2023 task 4B: the scores of its baseline, in segments of 1 s of frames of 0.2 s.

The frames of all files are put behind one another, and active runs of them made events, both ends of which
are rounded down to a whole second. Those are scored by sed_eval. The score that ranks is ours by the preset;
sed_scores_eval, which the baseline calls for it, gives the same to rounding.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sedeval_soft.apps.published.base import Inputs, Number, Published
from sedeval_soft.arrays import Array, Bools, Floats, Index
from sedeval_soft.errors import SettingsError
from sedeval_soft.evaluation.evaluate import count_rows
from sedeval_soft.evaluation.system_scores import score_shard
from sedeval_soft.measures.detection import DetectionCounts
from sedeval_soft.measures.sed_eval_rules import hard_scores
from sedeval_soft.memory import check_room
from sedeval_soft.settings import Settings
from sedeval_soft.settings_files import load_preset
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.timeline.ranges import expand

_RATE, _HOP = 44_100, 8_820
"""Samples a second, and of a frame."""
_SECONDS = _HOP / _RATE
_THRESHOLD = 0.5

Rounding = Callable[[Floats], Floats]


def compute(inputs: Inputs) -> dict[str, Number]:
    """Return what the script prints of all folds: micro and macro scores at 0.5, and the best macro F."""
    preset = load_preset("dcase2023-task4b")
    classes, files = tuple(preset["classes"]), inputs.reference.files
    unknown = sorted(set(inputs.system.files) - set(files))
    if unknown:
        raise SettingsError(
            f"the system has the file {unknown[0]!r}, which the reference has not: the script stops"
        )
    lengths = [
        _n_frames(table, files, rounding)
        for table, rounding in ((inputs.system, np.rint), (inputs.reference, np.ceil))
    ]
    n_frames = np.where(lengths[0] > 0, *lengths)
    activity = [
        _seconds(_active(inputs.reference, files, classes, n_frames, (np.floor, np.ceil))),
        _seconds(_active(inputs.system, files, classes, n_frames, (np.rint, np.rint))),
    ]
    size = max(map(len, activity))
    ours, theirs = (np.pad(each, ((0, size - len(each)), (0, 0))) for each in activity)
    both = ours & theirs
    n_ref, n_sys, tp = (each.sum(axis=1) for each in (ours, theirs, both))
    errors = np.minimum(n_ref, n_sys) - tp, np.maximum(0, n_ref - n_sys), np.maximum(0, n_sys - n_ref)
    counts = DetectionCounts(
        *(each.sum(axis=0) for each in (both, ours, theirs)), *(np.asarray(each.sum()) for each in errors)
    )
    scores = hard_scores(counts, np.asarray(size))
    # A class that one of the sides lacks has NaN in sed_eval, and 0 here.
    f = np.nan_to_num(np.asarray(scores["f1"].classes)).tolist()
    chosen = Settings.of(**{**preset, "only": ("segment.optimal",)})
    best = score_shard(count_rows(inputs.reference, inputs.system, chosen, inputs.durations), "")
    return {
        "Micro ER": _number(scores["error_rate"].micro),
        "Micro F1": _number(scores["f1"].micro),
        "Macro F1": sum(f) / len(classes),
        "macro_average f": best["segment.optimal.f1.macro"],
    }


def _number(value: Array | None) -> Number:
    return None if value is None or np.isnan(value) else float(value)


def _n_frames(table: EventTable, files: tuple[str, ...], rounding: Rounding) -> Index:
    """Return the frames of each file up to the last row of a table, (n_files,)."""
    n_frames = np.zeros(len(files), dtype=np.int64)
    place = np.array([files.index(name) for name in table.files], dtype=np.int64)
    np.maximum.at(n_frames, place[table.file], rounding(table.offset * _RATE / _HOP).astype(np.int64))
    return n_frames


def _active(
    table: EventTable,
    files: tuple[str, ...],
    classes: tuple[str, ...],
    n_frames: Index,
    rounding: tuple[Rounding, Rounding],
) -> Bools:
    """Return which classes are active in the frames of all files, (n_frames, n_classes).

    Where rows overlap the last one counts, as where labels are read by the script. rounding: of the ends of
    rows to frames.
    """
    place = np.array([files.index(name) for name in table.files], dtype=np.int64)[table.file]
    begin = (np.cumsum(n_frames) - n_frames)[place]
    first, last = (
        np.minimum(each(time * _RATE / _HOP).astype(np.int64), n_frames[place]) + begin
        for each, time in zip(rounding, (table.onset, table.offset), strict=True)
    )
    check_room(20.0 * n_frames.sum() * len(classes), f"for frames of {_SECONDS} s", "Are times in seconds?")
    row, frame = expand(first, last)
    active = np.zeros((int(n_frames.sum()), len(classes)), dtype=bool)
    number = {name: k for k, name in enumerate(classes)}
    if table.label is None:
        for name, values in zip(table.classes, table.values, strict=True):
            if name in number:
                active[frame, number[name]] = values[row] > _THRESHOLD
        return active
    column = np.array([number.get(name, -1) for name in table.classes], dtype=np.int64)[table.label]
    sounding = np.ones(len(table), dtype=bool) if table.value is None else table.value > _THRESHOLD
    is_class = column[row] >= 0
    active[frame[is_class], column[row[is_class]]] = sounding[row[is_class]]
    return active


def _seconds(active: Bools) -> Bools:
    """Return which classes are active in each second, (n_seconds, n_classes): of runs, ends rounded down."""
    padded = np.pad(active, ((1, 1), (0, 0))).astype(np.int8).T
    change = np.diff(padded, axis=1)
    label, first = np.nonzero(change > 0)
    last = np.nonzero(change < 0)[1]
    begin, end = (np.floor(each * _SECONDS).astype(np.int64) for each in (first, last))
    run, second = expand(begin, end)
    seconds = np.zeros((int(end.max(initial=0)), active.shape[1]), dtype=bool)
    seconds[second, label[run]] = True
    return seconds


EVALUATOR = Published(
    name="dcase2023-task4b",
    title="DCASE 2023 task 4B, sound event detection with soft labels",
    project="marmoi/dcase2023_task4b_baseline",
    version="1f9e1a04d03ee17d4124b3e860867e6b0ae27662",
    script="task4b.py",
    ranking="macro_average f",
    compute=compute,
    takes=("durations",),
    preset="dcase2023-task4b",
    same={
        "Micro ER": "segment.hard.error_rate.micro",
        "Micro F1": "segment.hard.f1.micro",
        "Macro F1": "segment.hard.f1.macro",
        "macro_average f": "segment.optimal.f1.macro",
    },
)
