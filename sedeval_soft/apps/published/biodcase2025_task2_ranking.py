"""BioDCASE task 2, calls of Antarctic blue and fin whales: what its ranking script counts.

Classes are joined to three. A recording's detections find calls by their date and time: those that begin from
two minutes before its first detection to two minutes after its last one, in any data set. Each detection
takes the call of its class with which its intersection over union is largest, and is correct above the
threshold. Calls that an earlier recording found are left out, calls found in the same one are not. F is
computed from the means of precision and of recall over classes, each over the classes for which it is
defined.
"""

from __future__ import annotations

import numpy as np

from sedeval_soft.apps.published.base import Inputs, Number, Published, check_lists
from sedeval_soft.apps.published.biodcase2025_task2 import JOINED, Calls, counts_of, found_calls, parts_of
from sedeval_soft.errors import SettingsError
from sedeval_soft.tables import EventTable, beginnings

MARGIN = 120 * 10**6
"""Microseconds around the detections of a recording in which calls are looked for."""


def compute(inputs: Inputs) -> dict[str, Number]:
    """Return mean recall, mean precision and F of each data set, then of all together (`joined`)."""
    check_lists(inputs.reference, inputs.system)
    reference, system = _by_date(inputs.reference), _by_date(inputs.system)
    keys, recordings = (reference.label, system.label), zip(system.data_set, system.file, strict=True)
    # No call that overlaps a detection begins after the last one ends.
    found, correct = found_calls(
        reference, system, keys, recordings, float(inputs.options["iou_threshold"]), MARGIN
    )
    numbers: dict[str, Number] = {}
    for name, ours, theirs in parts_of(reference, system, "joined"):
        counts = [each[1:] for each in counts_of(reference, system, ours, theirs, found, correct)]
        shares = (
            [tp / (tp + fn) for tp, _, fn in counts if tp + fn],
            [tp / (tp + fp) for tp, fp, _ in counts if tp + fp],
        )
        r, p = (float(np.mean(of)) if of else None for of in shares)
        f1 = 2 * (p * r) / (p + r) if p is not None and r is not None and p + r > 0 else None
        numbers |= {f"{name} recall": r, f"{name} precision": p, f"{name} f1": f1}
    return numbers


def _by_date(table: EventTable) -> Calls:
    """Return the rows of a table by date and time, from the names of recordings; raises SettingsError."""
    began = beginnings(table.files)
    if np.isnan(began).any():
        name = table.files[int(np.argmax(np.isnan(began)))]
        raise SettingsError(
            f"{name!r} does not say when the recording began, by which this script finds calls"
        )
    calls = Calls.of(table, JOINED | {"bmd": "fm", "bpd": "fm", "d": "fm"})
    start = np.append(began, 0.0).astype(np.int64)[table.file]
    return calls._replace(onset=start + calls.onset, offset=start + calls.offset)


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
