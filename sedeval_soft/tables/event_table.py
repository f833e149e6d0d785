"""EventTable: filename, onset, offset, event_label and value, as read.

A long table has a row for each event, or for each class and time step; a wide table has a row for each time
step and a column of values for each class. Both are an `EventTable`, and modules outside of this package do
not distinguish them. A wide table is never unfolded into a long one as a whole: at 17 classes that would take
17 times its memory.

File names and class names are codes into the tuples `files` and `classes`, which may have names that no row
uses (a declared file without events, a class column of zeros).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sedeval_soft.arrays import Bools, Codes, Floats
from sedeval_soft.tables.ticks import Ticks, to_ticks

Index = npt.NDArray[np.intp]

LONGEST = 1e9
"""Seconds (31 years) that no limit of durations can be above: sums of ticks over many files stay whole."""

AXES = "(n_segments, n_classes), or (n_files, n_segments, n_classes)"
"""Axes of an array of values."""

UNNAMED = ""
"""The file name of a table that has no column of file names."""

UNKNOWN = "UNK"
"""The class of rows of few-shot tables for unknown times."""

WEAK = "weak labels"
"""The format, in words, of labels of whole recordings."""

COMMAS = "labels with a comma were taken for one class each; in a column called event_labels they are several"
"""The assumption about labels with a comma if, by the name of its column, a cell has one label."""

INSTANT = 1e-6
"""The offset of labels of whole recordings in seconds: they have no times, but active rows need an extent."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The source of a table, for headers, signatures and messages.

    name: as the user gave it. sha256: of the bytes on disk, None for data in memory.

    form: the format of the table, for example `long table with header, tab`. ignored: columns that were
    ignored. notes: cells that were read as something else. assumed: assumptions of the reader, with their
    fix: warnings, errors if settings are strict.

    timed: whether rows have times; labels of whole recordings have none, though their columns are filled.

    steps: ticks of the time step of the whole table by some of its classes, if rows are a part of it. shape:
    of an array, whose rows have no times of their own; None for a table.

    options: the user's settings for the reader, such as `label=speech`. unknown: classes of the format whose
    rows are not events, but unknown time. lacking: the user's settings that have no effect, such as `--label
    car`.

    points: the thresholds of operating points in order; none of any other table. joined: whether touching
    rows are one event, if the format or the rows of the whole table decide it; None if they were not asked.
    """

    name: str
    sha256: str | None = None
    form: str = "in memory"
    ignored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    timed: bool = True
    steps: Mapping[tuple[str, ...], float] = field(default_factory=dict)
    shape: tuple[int, ...] | None = None
    options: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
    points: tuple[float, ...] = ()
    joined: bool | None = None


class Spans(NamedTuple):
    """The times of the rows of a table, in whole ticks.

    file, onset, offset: (n,). label: (n,) the class of each, None if they are of every class.
    """

    file: Codes
    onset: Ticks
    offset: Ticks
    label: Codes | None


Track = tuple[range, Floats | None]
"""Some classes, and the values of all rows for each of them, (n,): None if each row counts 1.0."""


@dataclass(frozen=True, slots=True)
class EventTable:
    """Rows of a table, long or wide.

    files, classes: names, in order of first appearance, or of the columns. file: (n,) codes. onset, offset:
    (n,) seconds as read, finite, 0 <= onset <= offset.

    values: of a long table none (each row counts 1.0) or one array, of a wide one an array for each class;
    (n,) each, in [0, 1].

    label: (n,) codes of the classes of a long table; None if each row has a value of every class.

    born: (n,) of operating points: the row is valid for thresholds from it up to its value; else None.
    """

    files: tuple[str, ...]
    classes: tuple[str, ...]
    file: Codes
    onset: Floats
    offset: Floats
    values: tuple[Floats, ...] = ()
    origin: Origin = Origin("rows")
    label: Codes | None = None
    born: Floats | None = None

    @classmethod
    def empty(cls, origin: Origin) -> EventTable:
        """Return a table without rows and without names: of a system that detects nothing, for one."""
        codes, times = np.zeros(0, dtype=np.int32), np.zeros(0)
        return cls((), (), codes, times, times, (), origin, codes)

    @classmethod
    def join(
        cls, parts: Sequence[EventTable], files: tuple[str, ...] | None = None, origin: Origin | None = None
    ) -> EventTable:
        """Return the rows of some tables as rows of one, with the files and classes of all.

        files: all names, if there are more than the names in the tables. origin: the table's source, by
        default the source of the first. If a table is wide, long ones among them have no rows.
        """
        if files is None:
            files = tuple(dict.fromkeys(name for part in parts for name in part.files))
        origin = origin or parts[0].origin
        parts = [part for part in parts if part.has_steps] or parts
        if not parts:
            return replace(cls.empty(origin), files=files)
        classes = tuple(dict.fromkeys(name for part in parts for name in part.classes))
        code = {name: k for k, name in enumerate(files)}
        parts = [
            part.with_files(files, [code[name] for name in part.files]).with_classes(classes)
            for part in parts
        ]
        file, onset, offset = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("file", "onset", "offset")
        )
        columns = [part.values for part in parts]
        label = None
        if parts[0].label is not None:
            label = np.concatenate([part.row_label for part in parts])
            columns = [part.values or (np.ones(len(part)),) for part in parts] if any(columns) else columns
        values = tuple(np.concatenate(column) for column in zip(*columns, strict=True))
        born = [part.born for part in parts if part.born is not None]
        joined = np.concatenate(born) if len(born) == len(parts) else None
        return cls(files, classes, file, onset, offset, values, origin, label, joined)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.onset)

    @property
    def has_steps(self) -> bool:
        """Whether rows are time steps with a value of every class, which should leave no time out."""
        return self.label is None

    @property
    def value(self) -> Floats | None:
        """The values of the rows of a long table, (n,); None for a table without values."""
        return None if self.label is None or not self.values else self.values[0]

    @property
    def block(self) -> Floats | None:
        """The values of a wide table, (n_classes, n), if memory has them in this order; else None."""
        block = self.values[0].base if self.label is None and self.values else None
        if not isinstance(block, np.ndarray) or block.shape != (len(self.values), len(self)):
            return None
        places = [column.ctypes.data for column in self.values]
        return block if places == [row.ctypes.data for row in block] else None

    @property
    def row_label(self) -> Codes:
        """The class of each row of a long table, (n,)."""
        if self.label is None:
            raise TypeError("the rows of a wide table have no class of their own")
        return self.label

    @property
    def has_values(self) -> bool:
        """Whether rows have values, so that they may be time steps of which touching ones are one event."""
        return self.label is None or (bool(self.values) and self.born is None)

    def known_as_joined(self, joined: bool) -> EventTable:
        """Return the table as one of which it is known whether touching rows are one event, if it was not."""
        if self.origin.joined is not None:
            return self
        return replace(self, origin=replace(self.origin, joined=joined))

    def spans(self) -> Spans:
        """Return when all rows are, in ticks."""
        return Spans(self.file, to_ticks(self.onset), to_ticks(self.offset), self.label)

    def tracks(self) -> Iterator[Track]:
        """Yield the values of all rows: class by class, or once for all classes if each row has its own."""
        if self.label is None:
            yield from ((range(k, k + 1), values) for k, values in enumerate(self.values))
        else:
            yield range(len(self.classes)), self.values[0] if self.values else None

    def active(self, threshold: float, *, inclusive: bool) -> tuple[Index, Codes]:
        """Return row and class of every active value: above the threshold, or also at it if `inclusive`.

        They are by class, then by row, in a wide table, and by row in a long one.
        """
        if self.born is not None:
            # An operating point is valid for its threshold and all up to the next one.
            row = np.flatnonzero((self.born <= threshold) & (threshold < self.values[0]))
            return row, self.row_label[row]
        ones = () if self.label is None else (np.ones(len(self)),)
        rows = [np.flatnonzero(v >= threshold if inclusive else v > threshold) for v in self.values or ones]
        if self.label is not None:
            return rows[0], self.label[rows[0]]
        label = np.repeat(np.arange(len(rows), dtype=np.int32), [len(row) for row in rows])
        return np.concatenate([np.zeros(0, dtype=np.intp), *rows]), label

    def levels(self) -> tuple[Index, Codes, Floats, Floats]:
        """Return row, class, born, dies of all values above 0: each is active at levels born < a <= dies."""
        if self.born is not None:
            row = np.flatnonzero(self.values[0] > self.born)
            return row, self.row_label[row], self.born[row], self.values[0][row]
        row, label = self.active(0.0, inclusive=False)
        dies = np.ones(len(row))
        if self.values:
            dies = np.concatenate([values[values > 0] for values in self.values])
        return row, label, np.zeros(len(row)), dies

    def groups(self) -> npt.NDArray[np.int64]:
        """Return a number for each row, (n,): rows with the same one are values of the same function of time.

        They are the rows of one file and class, or of one file if each row has a value of every class.
        """
        group = self.file.astype(np.int64)
        return group if self.label is None else group * len(self.classes) + self.label

    def take(self, rows: Index | Bools | slice) -> EventTable:
        """Return some rows: their positions, or a mask of them."""
        file, onset, offset = self.file[rows], self.onset[rows], self.offset[rows]
        label = None if self.label is None else self.label[rows]
        born = None if self.born is None else self.born[rows]
        values = tuple(column[rows] for column in self.values)
        return EventTable(self.files, self.classes, file, onset, offset, values, self.origin, label, born)

    def only_files(self, chosen: Bools) -> EventTable:
        """Return the rows of some files, (n_files,), and their names."""
        files, codes = tuple(compress(self.files, chosen)), np.where(chosen, np.cumsum(chosen) - 1, -1)
        return self.with_files(files, codes.tolist())

    def with_files(self, files: tuple[str, ...], codes: Sequence[int]) -> EventTable:
        """Return the table with other file names; codes: the new code of each file, -1 if its rows go.

        Columns are views of this table's columns if the rows are adjacent.
        """
        if [*codes] == [*range(len(codes))]:
            return replace(self, files=files)
        file = np.asarray(codes, dtype=np.int32)[self.file]
        if file.min(initial=0) >= 0:
            return replace(self, files=files, file=file)
        at = np.flatnonzero(file >= 0)
        together = len(at) and at[-1] - at[0] + 1 == len(at)
        rows = slice(at[0], at[-1] + 1) if together else at
        return replace(self.take(rows), files=files, file=file[rows])

    def of_used_classes(self) -> EventTable:
        """Return the table without the classes that none of its rows is of; a wide one as it is."""
        if self.label is None:
            return self
        used = np.flatnonzero(np.bincount(self.label, minlength=len(self.classes)))
        return self.with_classes(tuple(self.classes[code] for code in used.tolist()))

    def renamed(self, names: Mapping[str, str]) -> EventTable:
        """Return the table with other names of classes; classes that get one name are one class.

        names: by name; a class without one keeps its own. In a wide table the largest value of them counts.
        """
        new = [names.get(name, name) for name in self.classes]
        classes = tuple(dict.fromkeys(new))
        if self.label is None:
            columns: dict[str, list[Floats]] = {name: [] for name in classes}
            for name, column in zip(new, self.values, strict=True):
                columns[name].append(column)
            largest = (np.maximum.reduce(of) if len(of) > 1 else of[0] for of in columns.values())
            return replace(self, classes=classes, values=tuple(largest))
        code = {name: k for k, name in enumerate(classes)}
        label = np.array([code[name] for name in new], dtype=np.int32)[self.label]
        return replace(self, classes=classes, label=label)

    def with_classes(self, classes: tuple[str, ...]) -> EventTable:
        """Return the table of some classes, in this order; those that it lacks are silent."""
        if self.label is None:
            columns = dict(zip(self.classes, self.values, strict=True))
            silent = np.broadcast_to(0.0, len(self))
            return replace(self, classes=classes, values=tuple(columns.get(name, silent) for name in classes))
        if classes[: len(self.classes)] == self.classes:
            return replace(self, classes=classes)
        code = {name: k for k, name in enumerate(classes)}
        label = np.array([code.get(name, -1) for name in self.classes], dtype=np.int32)[self.label]
        recoded = replace(self, classes=classes, label=label)
        return recoded if label.min(initial=0) >= 0 else recoded.take(label >= 0)
