"""Values of whole files (clips), for one table: a file takes the largest value of what lies in it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.pair import Pair
from sedeval_soft.core.rows import Rows, WideRows
from sedeval_soft.core.ticks import Ticks, to_ticks

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


def clip_values(rows: Rows, length: Ticks) -> Floats:
    """Return the values of all files of all classes, shape (n_classes, n_files).

    length: (n_files,) ticks. Rows without extent, and those that begin at the end of their file or later,
    count nothing, as on the grid of segments.
    """
    onset = to_ticks(rows.onset)
    inside = np.flatnonzero((to_ticks(rows.offset) > onset) & (onset < length[rows.file]))
    file = rows.file[inside].astype(np.int64)
    values = np.zeros((len(rows.classes), len(length)))
    if isinstance(rows, WideRows):
        order = np.argsort(file, kind="stable")
        inside, file = inside[order], file[order]
        begin = np.flatnonzero(np.diff(file, prepend=-1))
        for label, column in enumerate(rows.values if len(begin) else ()):
            values[label, file[begin]] = np.maximum.reduceat(column[inside], begin)
        return values
    value = 1.0 if rows.value is None else rows.value[inside]
    np.maximum.at(values, (rows.label[inside], file), value)
    return values
