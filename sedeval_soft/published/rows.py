"""Rows of event lists as scripts walk through them: in their order, times as floats, none joined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sedeval_soft.arrays import Bools, Floats, Index
from sedeval_soft.errors import SettingsError
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.timeline.ranges import expand

_SPARE = 1e-3
"""Seconds; pairs are looked for this much further than asked, and then compared as they are."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of a list of events, (n,) each, in the order of the table; file and label are codes."""

    file: Index
    onset: Floats
    offset: Floats
    label: Index
    value: Floats | None = None

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.file)

    def take(self, rows: Index | Bools) -> Rows:
        """Return some rows: their positions, or a mask of them."""
        value = None if self.value is None else self.value[rows]
        return Rows(self.file[rows], self.onset[rows], self.offset[rows], self.label[rows], value)


def check_lists(reference: EventTable, system: EventTable) -> None:
    """Raise SettingsError where the rows of a table are no events, but time steps of every class."""
    for role, table in (("reference", reference), ("system", system)):
        if table.has_steps:
            raise SettingsError(
                f"the {role} has a column for each class; expected a list of events, as this script reads"
            )


def used_classes(*tables: EventTable) -> list[str]:
    """Return the classes that rows of these lists of events have, sorted."""
    return sorted({table.classes[k] for table in tables for k in np.unique(table.row_label).tolist()})


def rows_of(table: EventTable, files: Sequence[str], classes: Sequence[str]) -> Rows:
    """Return the rows of some files and classes, numbered as they stand there; others are left out."""
    file, label = (
        np.array([code.get(name, -1) for name in names], dtype=np.int64)[codes]
        for names, codes, code in (
            (table.files, table.file, {name: k for k, name in enumerate(files)}),
            (table.classes, table.row_label, {name: k for k, name in enumerate(classes)}),
        )
    )
    rows = Rows(file, table.onset, table.offset, label, table.value)
    return rows.take((file >= 0) & (label >= 0))


def near_pairs(reference: Rows, system: Rows, collar: float) -> tuple[Index, Index]:
    """Return all pairs of rows of one file whose onsets are at most a collar apart, as floats.

    Returns (n_pairs,) positions in the reference, and in the system.
    """
    # Files behind one another on one line of time, further apart than the collar.
    n_files = max(reference.file.max(initial=-1), system.file.max(initial=-1)) + 1
    reach = np.zeros(n_files)
    for rows in (reference, system):
        np.maximum.at(reach, rows.file, rows.onset)
    begin = np.cumsum(reach + collar + 1) - reach
    order = np.lexsort((system.onset, system.file))
    place, wanted = (begin[rows.file] + rows.onset for rows in (system.take(order), reference))
    first = np.searchsorted(place, wanted - collar - _SPARE)
    last = np.searchsorted(place, wanted + collar + _SPARE, side="right")
    left, member = expand(first, last)
    right = order[member]
    near = np.abs(reference.onset[left] - system.onset[right]) <= collar
    kept = near & (reference.file[left] == system.file[right])
    return left[kept], right[kept]
