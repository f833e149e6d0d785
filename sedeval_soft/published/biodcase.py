"""BioDCASE 2025 task 2, calls of Antarctic blue and fin whales: what its script counts.

Classes are joined to three. Each detection takes the event of its class and file with which its intersection
over union is largest, and is correct if that is above 0.3. Events that were found before are left out, but
what was found is brought up to date only after each data set: in a file any number of detections of one event
are correct, and none of them is false. Events are looked up by the name of the file alone, also in other data
sets that have a file of this name. Detections of a class that the reference has nowhere count nowhere.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from sedeval_soft.arrays import Array, Bools, Floats, Index
from sedeval_soft.published.base import Inputs, Number, Published
from sedeval_soft.published.rows import check_lists, rows_of
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.ticks import Ticks, to_seconds, to_ticks
from sedeval_soft.timeline.ranges import expand

JOINED = {
    **dict.fromkeys(("bma", "bmb", "bmz"), "bmabz"),
    **dict.fromkeys(("bmd", "bpd"), "d"),
    **dict.fromkeys(("bp20", "bp20plus"), "bp"),
}
"""The class that each call counts for."""

_AT_ONCE = 4_000_000  # pairs compared at a time


class Calls(NamedTuple):
    """Rows of a table, (n,) each. data_set, file, label: names, of files without their data set."""

    data_set: Array
    file: Array
    label: Array
    onset: Ticks
    offset: Ticks

    def take(self, rows: Index | Bools) -> Calls:
        """Return some rows: their positions, or a mask of them."""
        return Calls(*(column[rows] for column in self))


def compute(inputs: Inputs) -> dict[str, Number]:
    """Return what is printed: counts, recall and precision by class of each data set, then of all."""
    check_lists(inputs.reference, inputs.system)
    reference, system = _calls(inputs.reference), _calls(inputs.system)
    found, correct = np.zeros(len(reference.file), dtype=bool), np.zeros(len(system.file), dtype=bool)
    for data_set in sorted({*system.data_set.tolist()}):
        looking, rows = np.flatnonzero(~found), np.flatnonzero(system.data_set == data_set)
        nearest, iou = _nearest(reference.take(looking), system.take(rows))
        hit = iou > float(inputs.options["iou_threshold"])
        correct[rows[hit]] = True
        found[looking[nearest[hit]]] = True
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
    rows = rows_of(table, table.files, table.classes)
    places = [name.replace("\\", "/").rpartition("/") for name in table.files]
    data_set, file, label = (
        np.array([*names, ""], dtype=object)[codes]
        for names, codes in (
            ((place[0] for place in places), rows.file),
            ((place[2] for place in places), rows.file),
            ((JOINED.get(name, name) for name in table.classes), rows.label),
        )
    )
    return Calls(data_set, file, label, to_ticks(rows.onset), to_ticks(rows.offset))


def _nearest(reference: Calls, system: Calls) -> tuple[Index, Floats]:
    """Return the event with the largest intersection over union of each detection, and how large that is.

    It is one of the class and the file, the first of several; -1 and 0 where there is none. (n_sys,) each.
    """
    nearest, largest = np.full(len(system.file), -1, dtype=np.int64), np.zeros(len(system.file))
    code: dict[tuple[str, str], int] = {}
    ours, theirs = (
        np.array(
            [code.setdefault(each, len(code)) for each in zip(of.file, of.label, strict=True)], dtype=np.int64
        )
        for of in (reference, system)
    )
    order = np.argsort(ours, kind="stable")
    first, last = (np.searchsorted(ours[order], theirs, side=side) for side in ("left", "right"))
    rows = np.flatnonzero(last > first)
    total = np.cumsum((last - first)[rows])
    cuts = np.searchsorted(total, np.arange(_AT_ONCE, total.max(initial=0), _AT_ONCE)) + 1
    for begin, end in pairwise(dict.fromkeys([0, *cuts.tolist(), len(rows)])):
        some = rows[begin:end]
        at, inside = expand(first[some], last[some])
        left, right = order[inside], some[at]
        iou = _iou(reference.take(left), system.take(right))
        starts = np.flatnonzero(np.diff(at, prepend=-1))
        best = np.maximum.reduceat(iou, starts)
        places = np.flatnonzero(iou == best[at])
        places = places[np.diff(at[places], prepend=-1) > 0]
        nearest[some], largest[some] = left[places], best
    return nearest, largest


def _iou(reference: Calls, system: Calls) -> Floats:
    """Return the intersection over union of pairs, computed as the script does; 0 for two without extent."""
    common = to_seconds(
        np.minimum(reference.offset, system.offset) - np.maximum(reference.onset, system.onset)
    )
    common = np.maximum(common, 0.0)
    ours, theirs = (to_seconds(side.offset - side.onset) for side in (reference, system))
    union = theirs + ours - common
    return np.divide(common, union, out=np.zeros(len(union)), where=union != 0)


PUBLISHED = {
    "biodcase2025-task2": Published(
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
}
