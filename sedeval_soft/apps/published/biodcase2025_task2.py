"""BioDCASE 2025 task 2, calls of Antarctic blue and fin whales: what its script counts.

Classes are joined to three. Each detection takes the event of its class and file with which its intersection
over union is largest, and is correct if that is above 0.3. Events that were found before are left out, but
found events are recorded only after each data set: in a file any number of detections of one event are
correct, and none of them is false. Events are looked up by the name of the file alone, also in other data
sets that have a file of this name. Detections of a class that the reference has nowhere count nowhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sedeval_soft.apps.published.base import Inputs, Number, Published, check_lists
from sedeval_soft.arrays import Array, Floats, Index, heads
from sedeval_soft.measures import overlapping
from sedeval_soft.tables import EventTable, to_seconds, to_ticks
from sedeval_soft.timeline import Timed

JOINED = {
    **dict.fromkeys(("bma", "bmb", "bmz"), "bmabz"),
    **dict.fromkeys(("bmd", "bpd"), "d"),
    **dict.fromkeys(("bp20", "bp20plus"), "bp"),
}
"""The class that each call counts for."""


class Calls(NamedTuple):
    """Rows of a table, (n,) each. data_set, file, label: names, of files without their data set."""

    data_set: Array
    file: Array
    label: Array
    times: Timed


def compute(inputs: Inputs) -> dict[str, Number]:
    """Return the printed numbers: counts, recall and precision by class of each data set, then of all."""
    check_lists(inputs.reference, inputs.system)
    reference, system = _calls(inputs.reference), _calls(inputs.system)
    event, detection, iou = _pairs(reference, system)
    found, correct = (np.zeros(len(side.file), dtype=bool) for side in (reference, system))
    for data_set in sorted({*system.data_set.tolist()}):
        pairs = np.flatnonzero((system.data_set[detection] == data_set) & ~found[event])
        nearest = pairs[heads(detection[pairs])]
        hit = nearest[iou[nearest] > float(inputs.options["iou_threshold"])]
        correct[detection[hit]] = found[event[hit]] = True
    parts = {
        f"Results dataset {name}": (reference.data_set == name, system.data_set == name)
        for name in sorted({*reference.data_set.tolist()})
    }
    everything = np.ones(len(found), dtype=bool), np.ones(len(correct), dtype=bool)
    numbers: dict[str, Number] = {}
    for title, (ours, theirs) in {**parts, "Final results": everything}.items():
        # The classes of the data set stand first.
        for label in dict.fromkeys([*reference.label[ours].tolist(), *reference.label.tolist()]):
            own, others = ours & (reference.label == label), theirs & (system.label == label)
            tp, fp, fn = (int(np.sum(each)) for each in (own & found, others & ~correct, own & ~found))
            name = f"{title} {label}"
            numbers |= {f"{name} tp": tp, f"{name} fp": fp, f"{name} fn": fn}
            numbers[f"{name} recall"] = tp / (tp + fn) if tp + fn else None
            numbers[f"{name} precision"] = tp / (tp + fp) if tp + fp else None
    return numbers


def _calls(table: EventTable) -> Calls:
    """Return the rows of a table; the name of a file has its data set for a folder."""
    places = [name.replace("\\", "/").rpartition("/") for name in table.files]
    names = (
        ([place[0] for place in places], table.file),
        ([place[2] for place in places], table.file),
        ([JOINED.get(name, name) for name in table.classes], table.row_label),
    )
    data_set, file, label = (np.array([*of, ""], dtype=object)[codes] for of, codes in names)
    onset, offset = to_ticks(table.onset), to_ticks(table.offset)
    return Calls(data_set, file, label, Timed(table.file, table.row_label, onset, offset))


def _pairs(reference: Calls, system: Calls) -> tuple[Index, Index, Floats]:
    """Return events and detections of one class and file that overlap, and their intersection over union.

    For each detection, the largest intersection over union comes first, for equal ones the first event; (n,)
    each.
    """
    code: dict[tuple[str, str], int] = {}
    ours, theirs = (
        np.array(
            [code.setdefault(each, len(code)) for each in zip(of.file, of.label, strict=True)], dtype=np.int64
        )
        for of in (reference, system)
    )
    left, right = overlapping(reference.times, system.times, ours, theirs)
    one, other = reference.times.take(left), system.times.take(right)
    # As the script computes it.
    common = to_seconds(np.minimum(one.offset, other.offset) - np.maximum(one.onset, other.onset))
    iou = common / (to_seconds(other.offset - other.onset) + to_seconds(one.offset - one.onset) - common)
    order = np.lexsort((left, -iou, right))
    return left[order], right[order], iou[order]


EVALUATOR = Published(
    name="biodcase2025-task2",
    title="BioDCASE 2025 task 2, calls of Antarctic blue and fin whales",
    project="marinebioCASE/task2_2025",
    version="ca44f3f9fbc136958bf85662b3315a40f2a9d47f",
    script="evaluation/evaluation.py",
    ranking="",
    compute=compute,
    preset="biodcase2025-task2",
    same={
        f"Final results {label} {word}": f"event.hard.{word}[{label}]"
        for label in ("bmabz", "d", "bp")
        for word in ("recall", "precision")
    },
    options={"iou_threshold": 0.3},
)
