"""Rows made of columns, whoever read them; and the checks that all columns must pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np

from sedeval_soft.arrays import Bools, Codes, Floats
from sedeval_soft.errors import counted
from sedeval_soft.sorting import distinct
from sedeval_soft.tables.columns import Layout
from sedeval_soft.tables.event_table import UNNAMED, EventTable, Origin
from sedeval_soft.tables.limits import LIMITS, Limits

ROUNDING = 1e-6
"""How far a value may be beyond [0, 1] to be taken for 0 or 1: single precision, and sums of weights
that should be 1, miss it by as much. MAESTRO's reference has 1.000000031316843."""

_BEYOND = f"beyond [0, 1] by less than {ROUNDING:g}"


def range_of(role: str | None, limits: Limits) -> tuple[float, float]:
    """Return the least and the largest number that a column of a role may have: seconds, or values."""
    return (0.0, limits.duration) if role in {"onset", "offset"} else (-ROUNDING, 1 + ROUNDING)


@dataclass(frozen=True, slots=True)
class Named:
    """A column of names: (n,) codes into distinct names without blanks around them."""

    names: tuple[str, ...]
    codes: Codes

    @classmethod
    def of(cls, names: Iterable[str], codes: Codes) -> Named:
        """Strip the names and join those that are the same then."""
        stripped = tuple(name.strip() for name in names)
        return cls(stripped, codes)._recoded(stripped)

    def are_empty(self) -> Bools:
        """Return which rows have no name, (n,)."""
        return np.array([not name for name in self.names], dtype=bool)[self.codes]

    def of_rows(self, rows: Bools, also: Iterable[str] = ()) -> Named:
        """Return the column of some rows; of its names those that they use, and some others."""
        codes = self.codes if rows.all() else self.codes[rows]
        present = np.zeros(len(self.names), dtype=bool)
        present[codes] = True
        return Named(self.names, codes)._recoded([*compress(self.names, present), *also])

    def _recoded(self, names: Sequence[str]) -> Named:
        """Return the column with codes into other names, which may repeat; those of rows are among them."""
        codes = {name: code for code, name in enumerate(dict.fromkeys(names))}
        if tuple(codes) == self.names:
            return self
        lookup = np.array([codes.get(name, -1) for name in self.names], dtype=np.int32)
        return Named(tuple(codes), lookup[self.codes])


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table that play a role.

    file, label: names, None where the table has no such column. numbers: (n,) each, those of times and values
    by position, NaN where one is missing. declared: files without rows.
    """

    layout: Layout
    file: Named | None
    label: Named | None
    numbers: Mapping[int, Floats]
    declared: Sequence[str] = ()

    def blank(self) -> Bools:
        """Return which rows hold nothing, but perhaps the name of a file that they declare, (n,)."""
        first, *others = self.numbers.values()
        blank = np.isnan(first)
        if not blank.any():
            return blank
        for column in others:
            blank &= np.isnan(column)
        if self.label is not None:
            blank &= self.label.are_empty()
        if self.layout.ignored:
            # What stands in a column that is read past may be all that a nameless row holds.
            blank &= False if self.file is None else ~self.file.are_empty()
        return blank

    def first_unsound(self, limits: Limits) -> int | None:
        """Return the first row with a number or a name that cannot be scored; None where there is none."""
        roles = self.layout.roles
        onset, offset = (self.numbers[roles.index(role)] for role in ("onset", "offset"))
        sound = onset <= offset
        for at, column in self.numbers.items():
            low, high = range_of(roles[at], limits)
            # NaN compares false; most columns need no comparison of each of their numbers.
            if len(column) and not (column.min() >= low and column.max() <= high):
                sound &= (column >= low) & (column <= high)
        for names in filter(None, (self.file, self.label)):
            if "" in names.names:
                sound &= ~names.are_empty()
        if not sound.all():
            sound |= self.blank()
        for names in filter(None, (self.file, self.label)):
            unsound = ["\0" in name for name in names.names]
            if any(unsound):
                sound &= ~np.array(unsound)[names.codes]
        return None if sound.all() else int(np.argmin(sound))

    def rows(self, origin: Origin, limits: Limits = LIMITS) -> EventTable | None:
        """Return the rows, None if any number or name is one that cannot be scored.

        A row with a filename and nothing else declares a file without events; one with nothing is left out.
        Raises InputError where there are more rows, files or classes than limits allow.
        """
        if self.first_unsound(limits) is not None:
            return None
        blank = self.blank()
        rows, numbers, files = ~blank, self.numbers, [*self.declared]
        if blank.any():
            numbers = {at: column[rows] for at, column in numbers.items()}
            if self.file is not None:
                declared = distinct(self.file.codes[blank]).tolist()
                files += [self.file.names[code] for code in declared if self.file.names[code]]
        onset, offset = (numbers[self.layout.roles.index(role)] for role in ("onset", "offset"))
        limits.check(origin.name, "rows", len(onset), "rows")
        values = [numbers[at] for at, role in enumerate(self.layout.roles) if role in {"class", "soft_value"}]
        if any(len(column) and (column.min() < 0 or column.max() > 1) for column in values):
            beyond = sum(int(np.count_nonzero((column < 0) | (column > 1))) for column in values)
            values = [np.clip(column, 0.0, 1.0) for column in values]
            origin = replace(origin, notes=(*origin.notes, _of_rounded(beyond)))
        file = self.file or Named((UNNAMED,), np.zeros(len(rows), dtype=np.int32))
        file, label = file.of_rows(rows, files), self.label and self.label.of_rows(rows)
        columns = zip(self.layout.names, self.layout.roles, strict=True)
        wide = tuple(name.strip() for name, role in columns if role == "class")
        classes = wide if label is None else label.names
        for what, noun, names in (("files", "file", file.names), ("classes", "class", classes)):
            limits.check(origin.name, what, len(names), what)
            longest = max(names, key=len, default="")
            if len(longest) > limits.name_length:
                why = f"has a {noun} with a name of {len(longest)} characters, {longest[:40]!r}..."
                raise limits.refusal(origin.name, "name_length", why, len(longest))
        codes = None if label is None else label.codes
        return EventTable(file.names, classes, file.codes, onset, offset, tuple(values), origin, codes)


def joined_notes(notes: Iterable[str]) -> tuple[str, ...]:
    """Return what is noted of the parts of one table as it is noted of the whole: roundings are counted."""
    counts: dict[str, int | None] = {}
    for note in notes:
        number = note.partition(" ")[0]
        if number.isdecimal() and note == _of_rounded(int(number)):
            counts[_BEYOND] = int(number) + (counts.get(_BEYOND) or 0)
        else:
            counts[note] = None
    return tuple(text if count is None else _of_rounded(count) for text, count in counts.items())


def _of_rounded(number: int) -> str:
    return f"{counted(number, 'value')} {_BEYOND} {'was' if number == 1 else 'were'} taken for 0 or 1"
