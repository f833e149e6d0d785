"""BioDCASE task 2, calls of Antarctic blue and fin whales: what its ranking script counts.

Classes are joined to three. A recording's detections find calls by their date and time: those that begin from
two minutes before its first detection to two minutes after its last one, in any data set. Each detection
takes the call of its class with which its intersection over union is largest, and is correct above the
threshold. Calls that an earlier recording found are left out, calls found in the same one are not. F is
computed from the means of precision and of recall over classes, each over the classes for which it is
defined.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sedeval_soft.apps.published.base import Inputs, Number, Published, check_lists
from sedeval_soft.arrays import Array
from sedeval_soft.errors import SettingsError
from sedeval_soft.tables import EventTable, beginnings, to_ticks

JOINED = {
    **dict.fromkeys(("bma", "bmb", "bmz"), "bmabz"),
    **dict.fromkeys(("bmd", "bpd", "d"), "fm"),
    **dict.fromkeys(("bp20", "bp20plus"), "bp"),
}
"""The class that each call counts for."""

MARGIN = 120 * 10**6
"""Microseconds around the detections of a recording in which calls are looked for."""

Columns = dict[str, Array]


def compute(inputs: Inputs) -> dict[str, Number]:
    """Return mean recall, mean precision and F of each data set, then of all together (`joined`)."""
    check_lists(inputs.reference, inputs.system)
    calls, system = _rows(inputs.reference), _rows(inputs.system)
    found, correct = (np.zeros(len(side["label"]), dtype=bool) for side in (calls, system))
    for recording in sorted({*zip(system["data_set"], system["file"], strict=True)}):
        own = (system["data_set"] == recording[0]) & (system["file"] == recording[1])
        first, last = system["onset"][own].min() - MARGIN, system["offset"][own].max() + MARGIN
        open_ = (calls["onset"] >= first) & (calls["onset"] <= last) & ~found
        for label in {*system["label"][own].tolist()}:
            there = np.flatnonzero(open_ & (calls["label"] == label))
            for at in np.flatnonzero(own & (system["label"] == label)).tolist() if len(there) else ():
                iou = _overlaps(system, at, calls, there)
                if np.nanmax(iou, initial=-1.0) > float(inputs.options["iou_threshold"]):
                    correct[at] = found[there[np.nanargmax(iou)]] = True
    classes, numbers = [*dict.fromkeys(calls["label"].tolist())], dict[str, Number]()
    for name in (*sorted({*calls["data_set"].tolist()}), "joined"):
        inside = [np.full(len(s["label"]), True) if name == "joined" else s["data_set"] == name
                  for s in (calls, system)]  # fmt: skip
        shares: list[list[float]] = [[], []]
        # The classes of the data set come first.
        for label in dict.fromkeys([*calls["label"][inside[0]].tolist(), *classes]):
            ours, theirs = (s["label"] == label for s in (calls, system))
            tp, fn = (int(np.sum(inside[0] & ours & each)) for each in (found, ~found))
            fp = int(np.sum(inside[1] & theirs & ~correct))
            for share, others in zip(shares, (fn, fp), strict=True):
                share.extend([tp / (tp + others)] if tp + others else [])
        r, p = (float(np.mean(of)) if of else None for of in shares)
        f1 = 2 * (p * r) / (p + r) if p is not None and r is not None and p + r > 0 else None
        numbers |= {f"{name} recall": r, f"{name} precision": p, f"{name} f1": f1}
    return numbers


def _rows(table: EventTable) -> Columns:
    """Return the rows of a table by date and time, from the names of recordings; raises SettingsError."""
    began = beginnings(table.files)
    if np.isnan(began).any():
        name = table.files[int(np.argmax(np.isnan(began)))]
        raise SettingsError(
            f"{name!r} does not say when the recording began, by which this script finds calls"
        )
    places = [name.replace("\\", "/").rpartition("/") for name in table.files]
    named: list[tuple[str, list[str], Any]] = [
        ("data_set", [place[0] for place in places], table.file),
        ("file", [place[2] for place in places], table.file),
        ("label", [JOINED.get(name, name) for name in table.classes], table.row_label),
    ]
    rows: Columns = {key: np.array([*of, ""], dtype=object)[codes] for key, of, codes in named}
    start = np.append(began, 0.0).astype(np.int64)[table.file]
    return rows | {"onset": start + to_ticks(table.onset), "offset": start + to_ticks(table.offset)}


def _overlaps(system: Columns, at: int, calls: Columns, there: Array) -> Array:
    """Return the intersection over union of a detection and some calls, NaN where neither has an extent."""
    onset, offset = (calls[name][there] for name in ("onset", "offset"))
    begin, end = system["onset"][at], system["offset"][at]
    common = np.clip((np.minimum(end, offset) - np.maximum(begin, onset)) / 1e6, 0, None)
    union = (end - begin) / 1e6 + (offset - onset) / 1e6 - common
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(common / union)


EVALUATOR = Published(
    name="biodcase2025-task2-ranking",
    title="BioDCASE task 2, calls of Antarctic blue and fin whales: ranking",
    project="marinebioCASE/task2_2025_2026",
    version="fda86efceccaa0cc9a461fae44e9dc0fc16353c4",
    script="evaluation/evaluation_submissions.py",
    ranking="joined f1",
    compute=compute,
    preset="biodcase2025-task2",
    same={
        "joined recall": "event.hard.recall.macro",
        "joined precision": "event.hard.precision.macro",
        "joined f1": "event.hard.f1_of_means",
    },
    options={"iou_threshold": 0.3},
)
