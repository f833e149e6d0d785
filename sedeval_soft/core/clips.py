"""Values of whole files (clips), for one table: a file takes the largest value of what lies in it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.pair import Pair
from sedeval_soft.core.ranges import enter_maxima
from sedeval_soft.core.ticks import Ticks
from sedeval_soft.tables.event_table import EventTable

Floats = npt.NDArray[np.float64]


def clip_sides(pair: Pair) -> tuple[Floats, Floats]:
    """Return the values of all files of all classes of reference and system, (n_classes, n_files) each.

    What the system has after the evaluated length of a file is a false alarm where the reference does not
    have the class, and is nothing where it has: else a system could have every class somewhere later.
    """
    reference, inside = (clip_values(rows, pair.length_ticks) for rows in (pair.reference, pair.system))
    if np.array_equal(pair.length, pair.reach):
        return reference, inside
    return reference, np.where(reference > 0, inside, clip_values(pair.system, pair.reach_ticks))


def clip_values(rows: EventTable, length: Ticks) -> Floats:
    """Return the values of all files of all classes, shape (n_classes, n_files).

    length: (n_files,) ticks. Rows without extent, and those that begin at the end of their file or later,
    count nothing, as on the grid of segments.
    """
    spans, n_files = rows.spans(), len(length)
    inside = np.flatnonzero((spans.offset > spans.onset) & (spans.onset < length[spans.file]))
    place = spans.file[inside].astype(np.int64)
    if spans.label is not None:
        place += spans.label[inside] * np.int64(n_files)
    values = np.zeros((len(rows.classes), n_files))
    for track in rows.tracks():
        value = np.ones(len(inside)) if track.value is None else track.value[inside]
        enter_maxima(values[track.classes.start : track.classes.stop].reshape(-1), place, value)
    return values
