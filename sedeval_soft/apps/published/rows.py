"""Rows of lists of events as scripts walk through them: in their order, times as floats, none joined."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sedeval_soft.arrays import Index
from sedeval_soft.errors import SettingsError
from sedeval_soft.tables.event_table import EventTable


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


def with_names(table: EventTable, files: Sequence[str], classes: Sequence[str]) -> EventTable:
    """Return the rows of some files and classes, with codes of their places there; others are left out."""
    code = {name: k for k, name in enumerate(files)}
    named = table.with_files(tuple(files), [code.get(name, -1) for name in table.files])
    return named.with_classes(tuple(classes))


def rows_by_file(table: EventTable) -> dict[str, Index]:
    """Return where the rows of each file stand, in the order of the table."""
    order = np.argsort(table.file, kind="stable")
    first = np.searchsorted(table.file[order], np.arange(1, len(table.files)))
    return dict(zip(table.files, np.split(order, first), strict=False))
