"""BioDCASE 2025 task 2, calls of Antarctic blue and fin whales: what its script counts.

Classes are joined to three. Each detection takes the event of its class and file with which its intersection
over union is largest, and is correct if that is above 0.3. Events that were found before are left out, but
found events are recorded only after each data set: in a file any number of detections of one event are
correct, and none of them is false. Events are looked up by the name of the file alone, also in other data
sets that have a file of this name. Detections of a class that the reference has nowhere count nowhere.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from sedeval_soft.apps.published.base import Inputs, Number, Published, check_lists
from sedeval_soft.arrays import Array, Bools, heads
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
    onset: Array
    offset: Array

    @classmethod
    def of(cls, table: EventTable, joined: Mapping[str, str]) -> Calls:
        """Return the rows of a table; the name of a file has its data set for a folder."""
        places = [name.replace("\\", "/").rpartition("/") for name in table.files]
        names = (
            ([place[0] for place in places], table.file),
            ([place[2] for place in places], table.file),
            ([joined.get(name, name) for name in table.classes], table.row_label),
        )
        data_set, file, label = (np.array([*of, ""], dtype=object)[codes] for of, codes in names)
        return cls(data_set, file, label, to_ticks(table.onset), to_ticks(table.offset))


def compute(inputs: Inputs) -> dict[str, Number]:
    """Return the printed numbers: counts, recall and precision by class of each data set, then of all."""
    check_lists(inputs.reference, inputs.system)
    reference, system = (Calls.of(side, JOINED) for side in (inputs.reference, inputs.system))
    keys = [[*zip(side.file, side.label, strict=True)] for side in (reference, system)]
    found, correct = found_calls(
        reference, system, keys, system.data_set, float(inputs.options["iou_threshold"])
    )
    numbers: dict[str, Number] = {}
    for title, ours, theirs in parts_of(reference, system, "Final results", "Results dataset "):
        for label, tp, fp, fn in counts_of(reference, system, ours, theirs, found, correct):
            name = f"{title} {label}"
            numbers |= {f"{name} tp": tp, f"{name} fp": fp, f"{name} fn": fn}
            numbers[f"{name} recall"] = tp / (tp + fn) if tp + fn else None
            numbers[f"{name} precision"] = tp / (tp + fp) if tp + fp else None
    return numbers


def found_calls(
    reference: Calls,
    system: Calls,
    keys: Sequence[Iterable[Hashable]],
    groups: Iterable[Any],
    threshold: float,
    margin: float = np.inf,
) -> tuple[Bools, Bools]:
    """Return which calls are found, and which detections are correct.

    keys: of each row of both sides; rows with the same key may pair. groups: of each detection; a call that
    an earlier group found is left out. margin: how long before the detections of a group calls may begin.
    """
    code: dict[Hashable, int] = {}
    ours, theirs = (
        np.array([code.setdefault(each, len(code)) for each in side], dtype=np.int64) for side in keys
    )
    events, detections = (
        Timed(of.astype(np.int32), of.astype(np.int32), side.onset, side.offset)
        for of, side in ((ours, reference), (theirs, system))
    )
    names = [*groups]
    number = {name: k for k, name in enumerate(sorted({*names}))}
    group = np.array([number[name] for name in names], dtype=np.int64)
    begin = np.full(len(number), np.inf)
    np.minimum.at(begin, group, system.onset - margin)
    event, detection = overlapping(events, detections, ours, theirs)
    some = reference.onset[event] >= begin[group[detection]]
    event, detection = event[some], detection[some]
    one, other = events.take(event), detections.take(detection)
    # As the scripts compute it.
    common = to_seconds(np.minimum(one.offset, other.offset) - np.maximum(one.onset, other.onset))
    iou = common / (to_seconds(other.offset - other.onset) + to_seconds(one.offset - one.onset) - common)
    order = np.lexsort((event, -iou, detection))
    event, detection, iou = event[order], detection[order], iou[order]
    found, correct = np.zeros(len(reference.file), dtype=bool), np.zeros(len(system.file), dtype=bool)
    for each in range(len(number)):
        pairs = np.flatnonzero((group[detection] == each) & ~found[event])
        nearest = pairs[heads(detection[pairs])]
        hit = nearest[iou[nearest] > threshold]
        correct[detection[hit]] = found[event[hit]] = True
    return found, correct


def parts_of(
    reference: Calls, system: Calls, title: str, begin: str = ""
) -> Iterator[tuple[str, Bools, Bools]]:
    """Yield the names of data sets, and which rows of both sides are theirs; then a title, and all rows."""
    for name in sorted({*reference.data_set.tolist()}):
        yield begin + name, reference.data_set == name, system.data_set == name
    yield title, np.full(len(reference.file), True), np.full(len(system.file), True)


def counts_of(
    reference: Calls, system: Calls, ours: Bools, theirs: Bools, found: Bools, correct: Bools
) -> Iterator[tuple[str, int, int, int]]:
    """Yield each class with its TP, FP and FN among some rows; the classes of these come first."""
    for label in dict.fromkeys([*reference.label[ours].tolist(), *reference.label.tolist()]):
        own, others = ours & (reference.label == label), theirs & (system.label == label)
        tp, fp, fn = (int(np.sum(each)) for each in (own & found, others & ~correct, own & ~found))
        yield label, tp, fp, fn


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
