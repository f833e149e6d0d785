"""BirdNET-Analyzer's evaluation: windows of some seconds, marked by events that reach far enough into them.

A window has the highest score of the detections that mark it, or 0. The scores are those that scikit-learn
makes of windows and classes. Files are recordings: folders and extensions of their names do not count.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from sedeval_soft.apps.published.base import Inputs, Number, Published, check_lists
from sedeval_soft.arrays import Array, Bools, Floats
from sedeval_soft.errors import SettingsError
from sedeval_soft.measures import Curve
from sedeval_soft.memory import check_room
from sedeval_soft.tables import EventTable
from sedeval_soft.timeline import expand

_TABLES = (".BirdNET.selection.table", ".BirdNET.results", ".BirdNET")
_SOUNDS = (".wav", ".flac", ".mp3", ".ogg", ".m4a", ".aac", ".wave")
_NAMES = {
    "auroc": "AUROC",
    "precision": "Precision",
    "recall": "Recall",
    "f1": "F1",
    "ap": "AP",
    "accuracy": "Accuracy",
}


def compute(inputs: Inputs) -> dict[str, Number]:
    """Return the scores of all classes together, then the scores of each class and its number of windows."""
    check_lists(inputs.reference, inputs.system)
    options = {name: value for name, value in inputs.options.items() if isinstance(value, float | int)}
    metrics, average = str(inputs.options["metrics"]).split(), str(inputs.options["averaging"])
    _check(options, metrics, average)
    classes, truth, scores = _windows(inputs, options)
    # The script compares 32 bits, those of the threshold too.
    active = scores >= np.float32(options["threshold"])
    annotated = np.flatnonzero(truth.any(axis=0))
    # One class in all is a binary task; of several, one may be left.
    single = "binary" if len(classes) == 1 else average
    overall = dict.fromkeys(metrics, np.nan)
    if len(annotated):
        chosen = truth[:, annotated], scores[:, annotated], active[:, annotated]
        overall = {
            name: overall_score(name, *chosen, single if len(annotated) == 1 else average) for name in metrics
        }
    numbers: dict[str, Number] = {f"Overall {_NAMES[name]}": float(overall[name]) for name in metrics}
    by_class = {name: class_scores(name, truth, scores, active) for name in metrics}
    for k, label in enumerate(classes):
        numbers |= {f"{label}: {_NAMES[name]}": float(by_class[name][k]) for name in metrics}
        numbers[f"{label}: Support"] = int(truth[:, k].sum())
    return numbers


def _check(options: Mapping[str, float], metrics: list[str], average: str) -> None:
    """Refuse input that the script refuses."""
    unknown = [name for name in metrics if name not in _NAMES]
    length, longest = options["sample_duration"], options["recording_duration"]
    for wrong, expected in (
        (unknown or not metrics, f"metrics must be some of {', '.join(_NAMES)}, with spaces between"),
        (average not in ("macro", "micro", "weighted"), "averaging must be macro, micro or weighted"),
        (not 0 < options["threshold"] < 1, "threshold must be between 0 and 1, and neither"),
        (not 0 < options["min_overlap"] <= length, "min_overlap must be from above 0 to sample_duration"),
        (0 < longest < length, "recording_duration must be 0 (unknown), or no less than sample_duration"),
    ):
        if wrong:
            raise SettingsError(expected)


def _windows(inputs: Inputs, options: Mapping[str, float]) -> tuple[list[str], Bools, Array]:
    """Return the classes, and by window and class whether one is annotated, and its score."""
    tables = [
        replace(table, files=tuple(map(_recording, table.files)))
        for table in (inputs.reference, inputs.system)
    ]
    recordings = [{table.files[k] for k in np.unique(table.file).tolist()} for table in tables]
    # What has detections and no annotations is left out, with its classes, unless it counts as empty.
    everything = bool(options["score_unannotated_as_empty"])
    names = sorted(recordings[0] | recordings[1] if everything else recordings[0])
    code = {name: k for k, name in enumerate(names)}
    named = [table.with_files(tuple(names), [code.get(each, -1) for each in table.files]) for table in tables]
    classes = sorted({table.classes[k] for table in named for k in np.unique(table.row_label).tolist()})
    sides = [table.with_classes(tuple(classes)) for table in named]
    step, overlap = options["sample_duration"], options["min_overlap"]
    length = _lengths(names, sides, inputs.durations or {}, options["recording_duration"])
    count = np.ceil(length / step).astype(np.int64)
    begin = np.cumsum(count) - count
    if not count.sum():
        raise SettingsError("no recording has a length: the script finds no windows and stops")
    check_room(
        13.0 * count.sum() * len(classes), "for windows of all classes", "Is sample_duration too short?"
    )
    start = np.arange(count.max()) * step
    scores = np.zeros((count.sum(), len(classes)))
    marked = np.zeros(scores.shape, dtype=bool)
    for rows, ours in zip(sides, (True, False), strict=True):
        last = np.minimum(np.searchsorted(start, rows.offset - overlap, side="right"), count[rows.file])
        first = np.searchsorted(start + step, rows.onset + overlap)
        # The last window ends with the recording.
        first = np.where(length[rows.file] < rows.onset + overlap, last, np.minimum(first, last))
        row, window = expand(first, last)
        cell = begin[rows.file[row]] + window, rows.row_label[row]
        if ours:
            marked[cell] = True
        elif rows.value is not None:
            np.maximum.at(scores, cell, rows.value[row])
    return classes, marked, scores.astype(np.float32)


def _recording(name: str) -> str:
    """Return a file's name without its folder, its extension, and the suffix that BirdNET adds."""
    key = posixpath.splitext(posixpath.basename(name))[0]
    key = next((key.removesuffix(ending) for ending in _TABLES if key.endswith(ending)), key)
    stem, extension = posixpath.splitext(key)
    return stem if extension.lower() in _SOUNDS else key


def _lengths(
    names: Sequence[str], sides: Sequence[EventTable], durations: Mapping[str, float], same: float
) -> Floats:
    """Return the seconds of each recording, (n,): from the option for all, its duration, or its last row."""
    if same:
        return np.full(len(names), same)
    known = dict.fromkeys(names, 0.0)
    for name, seconds in durations.items():
        key = _recording(name)
        known[key] = max(known.get(key, 0.0), seconds)
    given, ends = np.array([known[name] for name in names]), np.zeros(len(names))
    for rows in sides:
        np.maximum.at(ends, rows.file, rows.offset)
    # The script takes the later of two ends; that of no detections is NaN, and then there is no length.
    detected = np.bincount(sides[1].file, minlength=len(names)) > 0
    return np.where(given > 0, given, np.where(detected, ends, 0.0))


# Scores of windows and classes, to the last bit as scikit-learn 1.9 makes them, with 0 where something is
# divided by 0, and NaN for an area without a window of each kind.


def _counts(truth: Bools, active: Bools) -> Floats:
    """Return by class the windows that are both, active and annotated, (3, n_classes)."""
    return np.array([(truth & active).sum(axis=0), active.sum(axis=0), truth.sum(axis=0)], dtype=np.float64)


def _detection(name: str, counts: Floats) -> Floats:
    """Return precision, recall or F by class; 0 / 0 is 0."""
    both, active, annotated = counts
    if name == "f1":
        both, size = 2 * both, active + annotated
    else:
        size = active if name == "precision" else annotated
    quotient: Floats = np.divide(both, size, out=np.zeros(len(both)), where=size > 0)
    return quotient


def class_scores(name: str, truth: Bools, scores: Array, active: Bools) -> Floats:
    """Return a score of each class, (n_classes,).

    name: auroc, ap, precision, recall, f1 or accuracy. truth, scores, active: (n_windows, n_classes).
    """
    if name == "accuracy":
        return np.asarray(np.mean(truth == active, axis=0))
    if name in _CURVES:
        return np.array([_CURVES[name](*column) for column in zip(truth.T, scores.T, strict=True)])
    return _detection(name, _counts(truth, active))


def overall_score(name: str, truth: Bools, scores: Array, active: Bools, average: str) -> float:
    """Return a score of classes together, each of which is annotated somewhere.

    average: macro, micro, weighted, or binary if the table has only one class. Given a single column,
    scikit-learn takes windows without the class for another class, unless the average is `binary`. Precision,
    recall and F are averages of both then; curves are computed for the class.
    """
    single = truth.shape[1] == 1
    weight = truth.sum(axis=0)
    if name in _CURVES and average == "micro":
        return _CURVES[name](truth.ravel(), scores.ravel())
    values = class_scores(name, truth, scores, active)
    if (name in _CURVES and single) or average == "binary":
        return float(values[0])
    if name not in (*_CURVES, "accuracy"):
        counts = _counts(truth, active)
        if single:
            other = _counts(~truth, ~active)
            counts = np.hstack([other, counts] if other[1:].any() else [counts])
        if average == "micro":
            counts = counts.sum(axis=1, keepdims=True)
        values, weight = _detection(name, counts), counts[2]
    if average == "weighted":
        return float(np.average(values, weights=weight))
    return float(np.mean(truth == active) if name == "accuracy" and average == "micro" else np.mean(values))


def _auroc(truth: Bools, scores: Array) -> float:
    curve = Curve.of_cells(scores, truth)
    # Thresholds from the highest down.
    tp, n_sys = curve.tp[-2::-1], curve.n_sys[-2::-1]
    fp = n_sys - tp
    if not tp[-1] or not fp[-1]:
        return float("nan")
    if len(tp) > 2:
        # Points on a line between others are left out: the area is the same, its last digit may not be.
        corner = np.concatenate(([True], (np.diff(fp, 2) != 0) | (np.diff(tp, 2) != 0), [True]))
        tp, fp = tp[corner], fp[corner]
    tpr, fpr = (np.append(0.0, rate) / rate[-1] for rate in (tp, fp))
    return float((np.diff(fpr) * (tpr[1:] + tpr[:-1]) / 2).sum())


def _average_precision(truth: Bools, scores: Array) -> float:
    curve = Curve.of_cells(scores, truth)
    tp = curve.tp[:-1]
    recall = tp / tp[0] if tp[0] else np.ones(len(tp))
    gain = np.diff(np.append(recall, 0.0))
    return float(max(0.0, -np.sum(gain * (tp / curve.n_sys[:-1]))))


_CURVES: dict[str, Callable[[Bools, Array], float]] = {"auroc": _auroc, "ap": _average_precision}


EVALUATOR = Published(
    name="birdnet-analyzer",
    title="BirdNET-Analyzer, evaluation",
    project="birdnet-team/BirdNET-Analyzer",
    version="37912401d881c6228e149dd7d3524d1df14b984e",
    script="birdnet_analyzer.evaluation",
    ranking="Overall AUROC",
    compute=compute,
    takes=("durations",),
    preset="birdnet-analyzer",
    same={
        "Overall AUROC": "segment.hard.roc_auc.macro",
        "Overall Precision": "segment.hard.precision.macro",
        "Overall Recall": "segment.hard.recall.macro",
        "Overall F1": "segment.hard.f1.macro",
        "Overall AP": "segment.hard.average_precision.macro",
    },
    options={
        "sample_duration": 3.0,
        "min_overlap": 0.5,
        "recording_duration": 0.0,
        "metrics": "auroc precision recall f1 ap",
        "threshold": 0.1,
        "averaging": "macro",
        "score_unannotated_as_empty": 0.0,
    },
)
