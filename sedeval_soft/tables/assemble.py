"""Rows made of columns, whoever read them; and the checks that all columns must pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np

from sedeval_soft.arrays import Bools, Codes, Floats
from sedeval_soft.errors import counted
from sedeval_soft.tables.columns import Layout
from sedeval_soft.tables.event_table import UNNAMED, EventTable, Origin
from sedeval_soft.tables.limits import LIMITS, Limits

ROUNDING = 1e-6
"""How far a value may be beyond [0, 1] to be taken for 0 or 1: single precision, and sums of weights
that should be 1, miss it by as much. MAESTRO's reference has 1.000000031316843."""

_BEYOND = f"beyond [0, 1] by less than {ROUNDING:g}"


@dataclass(frozen=True, slots=True)
class Named:
    """A column of names: (n,) codes into distinct names without blanks around them."""

    names: tuple[str, ...]
    codes: Codes

    @classmethod
    def of(cls, names: Iterable[str], codes: Codes) -> Named:
        """Strip the names and join those that are the same then."""
        stripped = tuple(name.strip() for name in names)
        return cls(stripped, codes).recoded(stripped)

    @classmethod
    def of_texts(cls, texts: Sequence[str]) -> Named:
        """Return the column that has these names in its rows, (n,)."""
        codes = {name: code for code, name in enumerate(dict.fromkeys(texts))}
        return cls.of(codes, np.array([codes[text] for text in texts], dtype=np.int32))

    def take(self, kept: Bools) -> Named:
        """Return the column of some rows; names that they do not use stay known."""
        return Named(self.names, self.codes[kept])

    def used(self, also: Iterable[str] = ()) -> Named:
        """Keep the names that rows use, and some others; in order of their first appearance."""
        present = np.zeros(len(self.names), dtype=bool)
        present[self.codes] = True
        return self.recoded([*compress(self.names, present), *also])

    def recoded(self, names: Sequence[str]) -> Named:
        """Return the column with codes into other names, which may repeat; those of rows are among them."""
        distinct = {name: code for code, name in enumerate(dict.fromkeys(names))}
        if tuple(distinct) == self.names:
            return self
        lookup = np.array([distinct.get(name, -1) for name in self.names], dtype=np.int32)
        return Named(tuple(distinct), lookup[self.codes])


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table that play a role.

    file, label: names, None where the table has no such column. onset, offset: (n,) seconds. value:
    (n,) or None. classes: names and (n,) values of a wide table's columns. declared: files without rows.
    """

    file: Named | None
    label: Named | None
    onset: Floats
    offset: Floats
    value: Floats | None
    classes: tuple[tuple[str, Floats], ...]
    declared: Sequence[str] = ()

    @classmethod
    def of(
        cls,
        layout: Layout,
        file: Named | None,
        label: Named | None,
        numbers: Mapping[int, Floats],
        declared: Sequence[str] = (),
    ) -> Columns:
        """Return the columns that have a role in a layout; numbers: those of times and values by position."""
        value = layout.position("soft_value")
        return cls(
            file,
            label,
            numbers[layout.roles.index("onset")],
            numbers[layout.roles.index("offset")],
            None if value is None or layout.wide else numbers[value],
            tuple((layout.names[i].strip(), numbers[i]) for i in layout.class_positions()),
            declared,
        )

    @classmethod
    def of_rows(
        cls,
        layout: Layout,
        files: Sequence[str],
        labels: Sequence[str],
        numbers: Sequence[Sequence[float]],
        declared: Sequence[str] = (),
    ) -> Columns:
        """Return the columns of rows that were read one by one; numbers: those of each row, in order."""
        positions = layout.number_positions()
        table = np.array(numbers, dtype=np.float64).reshape(-1, len(positions)).T
        columns = dict(zip(positions, np.ascontiguousarray(table), strict=True))
        file, label = (
            Named.of_texts(texts) if layout.position(role) is not None else None
            for role, texts in (("filename", files), ("event_label", labels))
        )
        return cls.of(layout, file, label, columns, declared)

    def rows(self, origin: Origin, limits: Limits = LIMITS) -> EventTable | None:
        """Return the rows, None if any number or name is one that cannot be scored.

        Raises InputError where there are more of them, or of files or classes, than limits allow.
        """
        if not self._names_and_times_are_sound(limits):
            return None
        n = len(self.onset)
        values = [column for _, column in self.classes] if self.value is None else [self.value]
        limits.check(origin.name, "rows", n, "rows")
        if n and values:
            lows, highs = [column.min() for column in values], [column.max() for column in values]
            if not all(low >= -ROUNDING for low in lows) or not all(high <= 1 + ROUNDING for high in highs):
                return None
            if min(lows) < 0 or max(highs) > 1:
                beyond = sum(int(np.count_nonzero((column < 0) | (column > 1))) for column in values)
                values = [np.clip(column, 0.0, 1.0) for column in values]
                origin = replace(origin, notes=(*origin.notes, _of_rounded(beyond)))
        file = (self.file or Named((UNNAMED,), np.zeros(n, dtype=np.int32))).used(self.declared)
        label = None if self.label is None else self.label.used()
        classes = tuple(name for name, _ in self.classes) if label is None else label.names
        for what, noun, names in (("files", "file", file.names), ("classes", "class", classes)):
            limits.check(origin.name, what, len(names), what)
            longest = max(names, key=len, default="")
            if len(longest) > limits.name_length:
                why = f"has a {noun} with a name of {len(longest)} characters, {longest[:40]!r}..."
                raise limits.refusal(origin.name, "name_length", why, len(longest))
        times, codes = (self.onset, self.offset), None if label is None else label.codes
        return EventTable(file.names, classes, file.codes, *times, tuple(values), origin, codes)

    def _names_and_times_are_sound(self, limits: Limits) -> bool:
        if not len(self.onset):
            return True
        for column in (self.file, self.label):
            if column is not None and any("\0" in name for name in column.names):
                return False
            if column is not None and "" in column.names and np.any(column.codes == column.names.index("")):
                return False
        # NaN compares false, so it is refused, too.
        within = self.onset.min() >= 0 and self.offset.max() <= limits.duration
        return bool(within) and bool(np.all(self.offset >= self.onset))


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
