"""Rows made of columns, whoever read them; and the checks that all columns must pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.intake import LIMITS, Limits
from sedeval_soft.core.rows import UNNAMED, LongRows, Origin, Rows, WideRows
from sedeval_soft.errors import counted

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]

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
        stripped = [name.strip() for name in names]
        distinct = tuple(dict.fromkeys(stripped))
        if len(distinct) == len(stripped):
            return cls(distinct, codes)
        position = {name: code for code, name in enumerate(distinct)}
        lookup = np.array([position[name] for name in stripped], dtype=np.int32)
        return cls(distinct, lookup[codes])

    @classmethod
    def of_texts(cls, texts: Sequence[str]) -> Named:
        """Return the column that has these names in its rows, (n,)."""
        names = {name: code for code, name in enumerate(dict.fromkeys(texts))}
        return cls.of(names, np.array([names[text] for text in texts], dtype=np.int32))

    def take(self, kept: Bools) -> Named:
        """Return the column of some rows; names that they do not use stay known."""
        return Named(self.names, self.codes[kept])

    def used(self, also: Iterable[str] = ()) -> Named:
        """Keep the names that rows use, and some others; in order of their first appearance."""
        present = np.zeros(len(self.names), dtype=bool)
        present[self.codes] = True
        if present.all() and not also:
            return self
        names = tuple(
            dict.fromkeys([*(n for n, kept in zip(self.names, present.tolist(), strict=True) if kept), *also])
        )
        position = {name: code for code, name in enumerate(names)}
        lookup = np.array([position.get(name, -1) for name in self.names], dtype=np.int32)
        return Named(names, lookup[self.codes] if len(self.codes) else self.codes)

    def names_a_row(self, name: str) -> bool:
        """Return whether any row has this name."""
        return name in self.names and bool(np.any(self.codes == self.names.index(name)))


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

    def rows(self, origin: Origin, limits: Limits = LIMITS) -> Rows | None:
        """Return the rows, None if any number or name is one that cannot be scored.

        Raises InputError where there are more of them, or of files or classes, than limits allow.
        """
        if not self._names_and_times_are_sound(limits):
            return None
        limits.check(origin.name, "rows", len(self.onset), "rows")
        values = [column for _, column in self.classes] if self.value is None else [self.value]
        if len(self.onset) and values:
            # Comparisons with NaN are false, so that NaN is refused here, too.
            lows, highs = [column.min() for column in values], [column.max() for column in values]
            if not all(low >= -ROUNDING for low in lows) or not all(high <= 1 + ROUNDING for high in highs):
                return None
            if min(lows) < 0 or max(highs) > 1:
                values, origin = _rounded(values, origin)
        file = self.file or Named((UNNAMED,), np.zeros(len(self.onset), dtype=np.int32))
        file = file.used(self.declared)
        _check_names(origin.name, "files", file.names, limits)
        if self.label is None:
            names = tuple(name for name, _ in self.classes)
            _check_names(origin.name, "classes", names, limits)
            return WideRows(file.names, names, file.codes, self.onset, self.offset, tuple(values), origin)
        label = self.label.used()
        _check_names(origin.name, "classes", label.names, limits)
        value = None if self.value is None else values[0]
        return LongRows(
            file.names, label.names, file.codes, label.codes, self.onset, self.offset, value, origin
        )

    def _names_and_times_are_sound(self, limits: Limits) -> bool:
        if not len(self.onset):
            return True
        for names in (self.file, self.label):
            if names is not None and (names.names_a_row("") or any("\0" in name for name in names.names)):
                return False
        # Here, too, NaN fails.
        within = self.onset.min() >= 0 and self.offset.max() <= limits.duration
        return bool(within) and bool(np.all(self.offset >= self.onset))


def _check_names(source: str, what: str, names: Sequence[str], limits: Limits) -> None:
    limits.check(source, what, len(names), what)
    longest = max(names, key=len, default="")
    if len(longest) > limits.name_length:
        noun = "file" if what == "files" else "class"
        found = f"has a {noun} with a name of {len(longest)} characters, {longest[:40]!r}..."
        raise limits.refusal(source, "name_length", found, len(longest))


def _rounded(values: list[Floats], origin: Origin) -> tuple[list[Floats], Origin]:
    """Take values just beyond the interval for its ends, and note how many there were."""
    beyond = sum(int(np.count_nonzero((column < 0) | (column > 1))) for column in values)
    rounded = [np.clip(column, 0.0, 1.0) for column in values]
    return rounded, replace(origin, notes=(*origin.notes, _of_rounded(beyond)))


def joined_notes(notes: Iterable[str]) -> tuple[str, ...]:
    """Return what is noted of the parts of one table as it is noted of the whole: roundings are counted."""
    found: dict[str, int | None] = {}
    for note in notes:
        number = note.partition(" ")[0]
        if number.isdecimal() and note == _of_rounded(int(number)):
            found[_BEYOND] = int(number) + (found.get(_BEYOND) or 0)
        else:
            found[note] = None
    return tuple(text if count is None else _of_rounded(count) for text, count in found.items())


def _of_rounded(number: int) -> str:
    return f"{counted(number, 'value')} {_BEYOND} {'was' if number == 1 else 'were'} taken for 0 or 1"


# Several tables as one.


def _codes(parts: Sequence[Rows], files: tuple[str, ...]) -> npt.NDArray[np.int32]:
    position = {name: code for code, name in enumerate(files)}
    return _concatenated(_recoded(rows.file, rows.files, position) for rows in parts).astype(
        np.int32, copy=False
    )


def _recoded(
    codes: npt.NDArray[np.int32], names: Sequence[str], position: Mapping[str, int]
) -> npt.NDArray[np.int32]:
    """Return the codes of names by their position."""
    lookup = np.array([position[name] for name in names], dtype=np.int32)
    return codes if np.array_equal(lookup, np.arange(len(lookup))) else lookup[codes]


def _concatenated(arrays: Iterator[npt.NDArray[np.generic]]) -> npt.NDArray[np.generic]:
    found = list(arrays)
    return np.concatenate(found) if found else np.zeros(0)


def join_wide(parts: Sequence[WideRows], files: tuple[str, ...], origin: Origin) -> WideRows:
    """Return the rows of some wide tables as one, with the classes of all."""
    classes = tuple(dict.fromkeys(name for rows in parts for name in rows.classes))
    columns = [dict(zip(rows.classes, rows.values, strict=True)) for rows in parts]
    return WideRows(
        files,
        classes,
        _codes(parts, files),
        np.concatenate([rows.onset for rows in parts]),
        np.concatenate([rows.offset for rows in parts]),
        tuple(
            np.concatenate(
                [own.get(name, np.zeros(len(rows))) for own, rows in zip(columns, parts, strict=True)]
            )
            for name in classes
        ),
        origin,
    )


def join_long(parts: Sequence[LongRows], files: tuple[str, ...], origin: Origin) -> LongRows:
    """Return the rows of some long tables as one, with the classes of all."""
    classes = tuple(dict.fromkeys(name for rows in parts for name in rows.classes))
    position = {name: code for code, name in enumerate(classes)}
    labels = [_recoded(rows.label, rows.classes, position) for rows in parts]
    valued = any(rows.value is not None for rows in parts)
    values = [np.ones(len(rows)) if rows.value is None else rows.value for rows in parts]
    return LongRows(
        files,
        classes,
        _codes(parts, files),
        np.concatenate(labels) if labels else np.zeros(0, dtype=np.int32),
        np.concatenate([rows.onset for rows in parts]) if parts else np.zeros(0),
        np.concatenate([rows.offset for rows in parts]) if parts else np.zeros(0),
        np.concatenate(values) if valued else None,
        origin,
    )


def join_rows(parts: Sequence[Rows]) -> Rows:
    """Return the rows of some parts of one table, at least one, as one; it is from where the first is."""
    files = tuple(dict.fromkeys(name for rows in parts for name in rows.files))
    wide = [rows for rows in parts if isinstance(rows, WideRows)]
    if wide:
        return join_wide(wide, files, parts[0].origin)
    return join_long([rows for rows in parts if isinstance(rows, LongRows)], files, parts[0].origin)


def of_files(rows: Rows, kept: npt.NDArray[np.bool_]) -> Rows:
    """Return the rows of some files, (n_files,), in order; views of columns where the rows stand together."""
    files = tuple(name for name, keep in zip(rows.files, kept.tolist(), strict=True) if keep)
    code = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)[rows.file]
    at = np.flatnonzero(code >= 0)
    own: Any = slice(0, 0)
    if len(at):
        together = at[-1] - at[0] + 1 == len(at)
        own = slice(int(at[0]), int(at[-1]) + 1) if together else at
    columns: dict[str, Any] = {"files": files, "file": code[own]}
    columns |= {name: getattr(rows, name)[own] for name in ("onset", "offset")}
    if isinstance(rows, WideRows):
        return replace(rows, **columns, values=tuple(column[own] for column in rows.values))
    value = None if rows.value is None else rows.value[own]
    return replace(rows, **columns, label=rows.label[own], value=value)
