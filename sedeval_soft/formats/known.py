"""What is known of a table that is read block by block, beside its rows: names, and how many there were."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.intake import Limits
from sedeval_soft.errors import InputError, Problem
from sedeval_soft.tables.assemble import joined_notes
from sedeval_soft.tables.event_table import EventTable

Codes = npt.NDArray[np.int32]


@dataclass(slots=True)
class Known:
    """The names of a table, in order of first appearance, as its blocks come.

    role: `reference` or `system`. n_rows: of all blocks. first: the first block's, without any row.
    """

    role: str
    limits: Limits
    n_rows: int = 0
    first: EventTable | None = None
    files: dict[str, int] = field(default_factory=dict)
    classes: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)

    def enter(self, rows: EventTable) -> tuple[Codes, Codes]:
        """Enter the names of a block; return the code of each file and of each class of it.

        Raises InputError where there are more rows or names now than limits allow.
        """
        if self.first is None:
            self.first = rows.emptied()
        self.n_rows += len(rows)
        self.notes += rows.origin.notes
        self.assumed += rows.origin.assumed
        file, label = _coded(rows.files, self.files), _coded(rows.classes, self.classes)
        self._check()
        return file, label

    def extend(self, other: Known) -> None:
        """Enter what is known of the blocks that come next; raises InputError as `enter` does."""
        self.first = self.first or other.first
        self.n_rows += other.n_rows
        self.notes += other.notes
        self.assumed += other.assumed
        _coded(tuple(other.files), self.files)
        _coded(tuple(other.classes), self.classes)
        self._check()

    def _check(self) -> None:
        if self.first is None:
            return
        source = self.first.origin.name
        counted = {"rows": self.n_rows, "files": len(self.files), "classes": len(self.classes)}
        for what, found in counted.items():
            self.limits.check(source, what, found, what)

    def empty(self, sha256: Callable[[], str]) -> EventTable:
        """Return all names, and where the table is from, without any row; sha256: of its bytes."""
        if self.first is None:
            raise InputError(Problem(self.role, "is empty; expected a table", code="empty-file"))
        origin = replace(
            self.first.origin,
            sha256=sha256(),
            notes=joined_notes(self.notes),
            assumed=tuple(dict.fromkeys(self.assumed)),
        )
        first = replace(self.first, files=tuple(self.files), origin=origin)
        return replace(first, classes=tuple(self.classes)) if not first.is_wide else first


def _coded(names: Sequence[str], known: dict[str, int]) -> Codes:
    """Return the codes of names, (n_names,), new ones entered."""
    return np.asarray([known.setdefault(name, len(known)) for name in names], dtype=np.int32)
