"""DCASE 2016 task 3: the scores of its baseline, whose code is older than sed_eval's.

A segment is active that an event touches. Each event of the reference takes the first of the system that is
free, both in the order of their rows, and times are compared as floats. The classes of a scene are those of
its reference: the script knows them from the data set.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import PurePosixPath

import numpy as np

from sedeval_soft.apps.published.base import Inputs, Number, Published
from sedeval_soft.apps.published.rows import check_lists, used_classes, with_names
from sedeval_soft.arrays import Bools, Floats, Index
from sedeval_soft.errors import SettingsError
from sedeval_soft.measures.matching import first_free_matching
from sedeval_soft.measures.pairs import Condition
from sedeval_soft.memory import check_room
from sedeval_soft.sorting import distinct
from sedeval_soft.tables.event_table import LONGEST, EventTable
from sedeval_soft.tables.ticks import tick, to_ticks
from sedeval_soft.timeline.ranges import expand

_EPS = float(np.spacing(1))
_SEGMENTS = 1 << 31
"""More than any file has."""

Scores = tuple[dict[str, float], dict[str, float], dict[str, Floats]]
"""Of all classes together, averages over classes, and by class, (n_classes,)."""


def compute(inputs: Inputs) -> dict[str, Number]:
    """Return what the script prints: a line for each scene and their average, then the classes of each."""
    check_lists(inputs.reference, inputs.system)
    files, names = inputs.reference.files, used_classes(inputs.reference, inputs.system)
    reference, system = (with_names(side, files, names) for side in (inputs.reference, inputs.system))
    options = {name: float(value) for name, value in inputs.options.items() if name != "scenes"}
    longest = max(float(rows.offset.max(initial=0)) for rows in (reference, system))
    if not options["time_resolution"] > longest / _SEGMENTS:
        raise SettingsError(f"time_resolution is too short for {longest:g} s: {options['time_resolution']:g}")
    lines: list[dict[str, float]] = []
    overall: dict[str, float] = {}
    by_class: dict[str, float] = {}
    for scene, member in _scenes(files, inputs.options["scenes"], inputs.scenes).items():
        ours, theirs = (rows.take(member[rows.file]) for rows in (reference, system))
        classes = distinct(ours.row_label.astype(np.int64))
        _check(scene, names, classes, theirs)
        segment = _segments(ours, theirs, classes, options["time_resolution"])
        event = _events(ours, theirs, classes, options["t_collar"], bool(options["use_offset_condition"]))
        lines.append({
            "Main ER": segment[0]["ER"],
        } | {
            f"{basis}/{part} {name}": value
            for basis, scores in (("Seg", segment), ("Event", event))
            for part, values in (("Overall", scores[0]), ("Class", scores[1]))
            for name, value in values.items()
        })  # fmt: skip
        prefix = f"{scene} " * bool(scene)
        overall |= {f"{prefix}{name}": value for name, value in lines[-1].items()}
        for k, code in enumerate(classes.tolist()):
            by_class |= {
                f"{prefix}{names[code]} {basis} {name}": values[k].item()
                for basis, scores in (("Segment-based", segment), ("Event-based", event))
                for name, values in scores[2].items()
            }
    averages = {
        f"Average {name}": float(np.mean([line[name] for line in lines]))
        for name in lines[0]
        if "ER/" not in name
    }
    numbers = overall | averages | by_class
    return {name: None if math.isnan(value) else value for name, value in numbers.items()}


def _scenes(files: tuple[str, ...], rule: float | str, given: Mapping[str, str] | None) -> dict[str, Bools]:
    """Return which files belong to each scene, (n_files,); given: the scene of each file."""
    if given is not None:
        scene_of = np.array([given.get(name, "") for name in files])
        return {str(scene): scene_of == scene for scene in np.unique(scene_of)}
    if rule == "none" or not files:
        return {"": np.ones(len(files), dtype=bool)}
    if rule != "folder":
        raise SettingsError(f"scenes must be none, or folder, the last one of a file's path; not {rule!r}")
    folder = np.array([PurePosixPath(name.replace("\\", "/")).parent.name for name in files])
    return {str(scene): folder == scene for scene in np.unique(folder)}


def _check(scene: str, names: list[str], classes: Index, system: EventTable) -> None:
    """Raise SettingsError where the script ends in an error."""
    where = f" in the scene {scene!r}" if scene else ""
    if not len(classes):
        raise SettingsError(f"the reference has no event{where}: the script divides by 0 and stops")
    unknown = np.setdiff1d(system.row_label, classes)
    if len(unknown):
        name = names[unknown[0]]
        raise SettingsError(
            f"the system has the class {name!r}, the reference has not{where}: the script stops"
        )


def _segments(reference: EventTable, system: EventTable, classes: Index, resolution: float) -> Scores:
    """Score segments: those of a file reach to the last offset of either side."""
    cells = _cells(reference, classes, resolution), _cells(system, classes, resolution)
    both = np.intersect1d(cells[0], cells[1], assume_unique=True)
    n_ref, n_sys, tp = (np.bincount(cell % len(classes), minlength=len(classes)) for cell in (*cells, both))
    # Of each segment of each file: how many classes are active.
    segments, place = np.unique(np.concatenate((*cells, both)) // len(classes), return_inverse=True)
    parts = np.split(place, np.cumsum([len(cell) for cell in cells]))
    ours, theirs, common = (np.bincount(part, minlength=len(segments)) for part in parts)
    substituted = int(np.sum(np.minimum(ours, theirs) - common))
    deleted, inserted = (int(np.maximum(0, more).sum()) for more in (ours - theirs, theirs - ours))
    return _scores(n_ref, n_sys, tp, (substituted, deleted, inserted))


def _cells(rows: EventTable, classes: Index, resolution: float) -> Index:
    """Return what is active, sorted: a number for each file, segment and class."""
    first = np.floor(rows.onset / resolution).astype(np.int64)
    last = np.ceil(rows.offset / resolution).astype(np.int64)
    check_room(40.0 * float((last - first).sum()), "for segments of events", "Is time_resolution too short?")
    row, segment = expand(first, last)
    label = np.searchsorted(classes, rows.row_label)
    return distinct((rows.file.astype(np.int64)[row] * _SEGMENTS + segment) * len(classes) + label[row])


def _events(reference: EventTable, system: EventTable, classes: Index, collar: float, offset: bool) -> Scores:
    """Score events: first pairs of one class, then substitutions among those left over."""
    # Ticks are looked up, and a little more than is asked for; then times are compared as they are.
    tolerance = np.full(len(reference), tick(min(collar, LONGEST)) + 2)
    near_onset = Condition(to_ticks(reference.onset), to_ticks(system.onset), tolerance, tolerance)
    files = (side.file.astype(np.int64) for side in (reference, system))
    order, first, last = near_onset.windows(*files)
    left, member = expand(first, last)
    right = order[member]
    near = np.abs(reference.onset[left] - system.onset[right]) <= collar
    left, right = left[near], right[near]
    if offset:
        length = reference.offset[left] - reference.onset[left]
        near = np.abs(reference.offset[left] - system.offset[right]) <= np.maximum(collar, 0.5 * length)
        left, right = left[near], right[near]
    alike = reference.row_label[left] == system.row_label[right]
    sizes = len(reference), len(system)
    partner = first_free_matching(left[alike], right[alike], *sizes)
    matched = np.flatnonzero(partner >= 0)
    free = np.ones(len(system), dtype=bool)
    free[partner[matched]] = False
    over = (partner[left] < 0) & free[right]
    substituted = int(np.sum(first_free_matching(left[over], right[over], *sizes) >= 0))
    n_ref, n_sys, tp = (
        np.bincount(np.searchsorted(classes, label), minlength=len(classes))
        for label in (reference.row_label, system.row_label, reference.row_label[matched])
    )
    deleted, inserted = (size - len(matched) - substituted for size in sizes)
    return _scores(n_ref, n_sys, tp, (substituted, deleted, inserted))


def _scores(n_ref: Index, n_sys: Index, tp: Index, errors: tuple[int, int, int]) -> Scores:
    """Return scores in the order of the printed columns; errors: substitutions, deletions, insertions."""
    # No segment of the reference is active where its events have no length: 0 / 0 is NaN there, as in numpy.
    with np.errstate(divide="ignore", invalid="ignore"):
        recall, *rates = np.array([tp.sum(), sum(errors), *errors]) / n_ref.sum()
    overall = {"F1": float(_f(tp.sum() / (n_sys.sum() + _EPS), recall))}
    overall |= dict(zip(("ER", "ER/S", "ER/D", "ER/I"), map(float, rates), strict=True))
    f = _f(tp / (n_sys + _EPS), tp / (n_ref + _EPS))
    error_rate = (n_ref + n_sys - 2 * tp) / (n_ref + _EPS)
    average = {"F1": float(np.mean(f)), "ER": float(np.mean(error_rate))}
    return overall, average, {"Nref": n_ref, "Nsys": n_sys, "F1": f, "ER": error_rate}


def _f(precision: Floats, recall: Floats) -> Floats:
    return 2 * (precision * recall / (precision + recall + _EPS))


EVALUATOR = Published(
    name="dcase2016-task3",
    title="DCASE 2016 task 3, sound event detection in real life audio",
    project="TUT-ARG/DCASE2016-baseline-system-python",
    version="8e311066e3b670c52f4fcfe2a7060c18c9969cf8",
    script="task3_sound_event_detection_in_real_life_audio.py",
    ranking="Average Main ER",
    compute=compute,
    takes=("scenes",),
    preset="dcase2016-task3",
    same={
        "Main ER": "segment.hard.error_rate.micro",
        "Seg/Overall F1": "segment.hard.f1.micro",
    },
    options={"time_resolution": 1.0, "t_collar": 0.2, "use_offset_condition": 0.0, "scenes": "none"},
)
