"""What is known of a table that is read block by block, beside its rows: names, and how many there were."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.intake import Limits
from sedeval_soft.core.rows import LongRows, Rows, WideRows
from sedeval_soft.errors import InputError, Problem
from sedeval_soft.tables.assemble import joined_notes

Codes = npt.NDArray[np.int32]


@dataclass(slots=True)
class Known:
    """The names of a table, in order of first appearance, as its blocks come.

    role: `reference` or `system`. n_rows: of all blocks. first: the first block's, without any row.
    """

    role: str
    limits: Limits
    n_rows: int = 0
    first: Rows | None = None
    files: dict[str, int] = field(default_factory=dict)
    classes: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)

    def enter(self, rows: Rows) -> tuple[Codes, Codes]:
        """Enter the names of a block; return the code of each file and of each class of it.

        Raises InputError where there are more rows or names now than limits allow.
        """
        if self.first is None:
            self.first = emptied(rows)
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

    def empty(self, sha256: Callable[[], str]) -> Rows:
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
        return replace(first, classes=tuple(self.classes)) if isinstance(first, LongRows) else first


def emptied(rows: Rows) -> Rows:
    """Return rows without any row."""
    none = slice(0, 0)
    one: dict[str, Any] = {"file": rows.file[none].copy(), "onset": np.zeros(0), "offset": np.zeros(0)}
    if isinstance(rows, WideRows):
        return replace(rows, **one, values=tuple(np.zeros(0) for _ in rows.values))
    value = None if rows.value is None else np.zeros(0)
    return replace(rows, **one, label=rows.label[none].copy(), value=value)


def _coded(names: Sequence[str], known: dict[str, int]) -> Codes:
    """Return the codes of names, (n_names,), new ones entered."""
    return np.asarray([known.setdefault(name, len(known)) for name in names], dtype=np.int32)
