"""What is done to a system's output before it is scored: median filter, then gaps, then durations."""

from __future__ import annotations

import numpy as np

from sedeval_soft.core.activity import activities
from sedeval_soft.core.median import median_filtered
from sedeval_soft.core.morphology import closed, opened
from sedeval_soft.core.ticks import tick, to_seconds
from sedeval_soft.names import did_you_mean
from sedeval_soft.settings import POSTPROCESSING, Settings
from sedeval_soft.tables.event_table import EventTable


def postprocessed(rows: EventTable, settings: Settings) -> EventTable:
    """Return the rows after the post-processing that the settings ask for, as they are if none.

    Raises EvaluationError where a median filter finds no fixed time step.
    """
    median, gap, duration = (settings.of_classes(name, rows.classes) for name in POSTPROCESSING)
    if any(median):
        rows = median_filtered(rows, median)
    if not (any(gap) or any(duration)):
        return rows
    parts = []
    for label, activity in enumerate(activities(rows)):
        joined = closed(activity, tick(gap[label])) if gap[label] else activity
        parts.append(opened(joined, tick(duration[label])) if duration[label] else joined)
    columns = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("file", "label", "onset", "offset", "value")
    }
    onset, offset = to_seconds(columns["onset"]), to_seconds(columns["offset"])
    names = rows.files, rows.classes
    return EventTable.long(
        *names, columns["file"], columns["label"], onset, offset, columns["value"], rows.origin
    )


def strangers(settings: Settings, classes: tuple[str, ...]) -> list[str]:
    """Return a warning for each class that only class-wise lengths or thresholds name."""
    found = []
    for name in (*POSTPROCESSING, "thresholds"):
        value = getattr(settings, name)
        for label in value if isinstance(value, dict) else ():
            if label not in classes:
                hint = did_you_mean(label, classes)
                found.append(f"{name} is set for {label!r}, which is no evaluated class{hint}")
    return found
