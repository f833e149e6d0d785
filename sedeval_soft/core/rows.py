"""Rows as read: filename, onset, offset, event_label, value.

Two shapes hold the same facts. `LongRows` has one row per event or per class and time step;
`WideRows` has one row per time step and one column per class. A wide table is never unfolded
into a long one as a whole: at 17 classes that would take 17 times its memory.

File names and class names are codes into the tuples `files` and `classes`, which may hold names
that no row uses (a declared file without events, a class column of zeros).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]

LONGEST = 1e9
"""Seconds (31 years) that no limit of durations can be above: sums of ticks over many files stay whole."""

UNNAMED = ""
"""The file name of a table that has no column of file names."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a table came from, for headers, signatures and messages.

    name: as the user gave it. sha256: of the bytes as they lie on disk, None for data in memory.
    form: what the table looked like, for example `long table with header, tab`.
    ignored: columns that were read past. notes: what was taken for something else in reading.
    assumed: what had to be assumed in reading, with its mend: warnings, errors where settings are strict.
    steps: ticks of the time step of the whole table by some of its classes, where rows are a part of it.
    """

    name: str
    sha256: str | None = None
    form: str = "in memory"
    ignored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    steps: Mapping[tuple[str, ...], float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LongRows:
    """One row per event, or per class and time step.

    files, classes: names, in order of first appearance.
    file, label: (n,) codes into them.
    onset, offset: (n,) seconds as read, finite, 0 <= onset <= offset.
    value: (n,) in [0, 1], or None where the table has no values (each row counts 1.0).
    born: (n,) of operating points: the row stands for thresholds from it up to `value`; else None.
    """

    files: tuple[str, ...]
    classes: tuple[str, ...]
    file: Codes
    label: Codes
    onset: Floats
    offset: Floats
    value: Floats | None = None
    origin: Origin = field(default_factory=lambda: Origin("rows"))
    born: Floats | None = None

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.onset)

    @property
    def has_values(self) -> bool:
        """Whether the table has a column of values."""
        return self.value is not None and self.born is None


@dataclass(frozen=True, slots=True)
class WideRows:
    """One row per time step, one column of values per class.

    files: names, in order of first appearance; classes: names of the columns.
    file: (n,) codes; onset, offset: (n,) seconds as read, finite, 0 <= onset <= offset.
    values: for each class its (n,) values in [0, 1].
    """

    files: tuple[str, ...]
    classes: tuple[str, ...]
    file: Codes
    onset: Floats
    offset: Floats
    values: tuple[Floats, ...]
    origin: Origin = field(default_factory=lambda: Origin("rows"))

    def __len__(self) -> int:
        """Return the number of rows (time steps)."""
        return len(self.onset)

    @property
    def has_values(self) -> bool:
        """Whether the table has values: a wide one always does."""
        return True


Rows = LongRows | WideRows


def no_events(origin: Origin) -> LongRows:
    """Return a table without rows and without names: of a system that detects nothing, for one."""
    codes, times = np.zeros(0, dtype=np.int32), np.zeros(0)
    return LongRows((), (), codes, codes, times, times, origin=origin)
