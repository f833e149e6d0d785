"""Rows made of columns, whoever read them; and the checks that all columns must pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, compress

import numpy as np

from sedeval_soft.arrays import Array, Bools, Codes, Floats
from sedeval_soft.errors import counted
from sedeval_soft.memory import check_room
from sedeval_soft.sorting import distinct
from sedeval_soft.tables.columns import TIMES, Layout, without_effect
from sedeval_soft.tables.event_table import COMMAS, INSTANT, UNNAMED, EventTable, Origin
from sedeval_soft.tables.filenames import without_folders
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.ticks import TICKS_PER_SECOND
from sedeval_soft.threads import for_each

ROUNDING = 1e-6
"""How far a value may be beyond [0, 1] to be taken for 0 or 1: single precision, and sums of weights
that should be 1, miss it by as much. MAESTRO's reference has 1.000000031316843."""

_BEYOND = f"beyond [0, 1] by less than {ROUNDING:g}"


_LABEL = 64  # bytes that a label of a recording takes
_PER_SECOND = {"s": 1, "ms": 1000}


def range_of(role: str | None, limits: Limits, unit: str = "s") -> tuple[float, float]:
    """Return the least and the largest number that a column of a role may have: times, or values.

    Times are in the unit; dates and times of day are ticks, and may be any.
    """
    if role not in {*TIMES, "file_offset"}:
        return (-ROUNDING, 1 + ROUNDING)
    return (-np.inf, np.inf) if unit == "date" else (0.0, limits.duration * _PER_SECOND[unit])


class OtherTextError(ValueError):
    """A cell has a text that is not what its column should have."""


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

    def as_dates(self) -> Floats:
        """Return dates and times of day as ticks since 1970, (n,), NaN for empty texts.

        Raises OtherTextError for other texts.
        """
        from sedeval_soft.tables.date_times import ticks_of

        ticks = ticks_of(self.names)
        if (np.isnan(ticks) & np.array([bool(name) for name in self.names], dtype=bool)).any():
            raise OtherTextError
        return ticks[self.codes]

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


@dataclass(frozen=True)
class Columns:
    """The columns of a table that play a role.

    texts: columns of names by role. numbers: (n,) each, those of times and values by position, as they are
    written, NaN where one is missing: times in their units, dates and times of day as ticks since 1970.
    declared: files without rows.
    """

    layout: Layout
    texts: Mapping[str, Named]
    numbers: Mapping[int, Floats]
    declared: Sequence[str] = ()

    @property
    def label(self) -> Named | None:
        """The classes of rows, None where the table has no such column."""
        return self.texts.get("event_label")

    @cached_property
    def file(self) -> Named | None:
        """The files of rows, below their folders where the table has these apart; None where it has none."""
        folder, file = self.texts.get("folder"), self.texts.get("filename")
        if folder is None or file is None:
            return file
        pairs, codes = np.unique(
            folder.codes.astype(np.int64) * len(file.names) + file.codes, return_inverse=True
        )
        split = (divmod(pair, len(file.names)) for pair in pairs.tolist())
        return Named.of(
            (below(folder.names[k], file.names[i]) for k, i in split), codes.reshape(-1).astype(np.int32)
        )

    @cached_property
    def times(self) -> tuple[Floats, Floats]:
        """Onsets and offsets in seconds, (n,) each.

        Where they are made of other numbers, as of a duration, they are whole ticks.
        """
        layout = self.layout
        if not layout.timed:
            n = len(self.texts["filename"].codes)
            return np.zeros(n), np.full(n, INSTANT)
        of_role = {role: i for i, role in enumerate(layout.roles) if role in {*TIMES, "file_offset"}}
        times = {role: self._seconds(i) for role, i in of_role.items()}
        onset = times["onset"]
        if "offset" not in times:
            return onset, _sum(onset, times["duration"])
        if "file_offset" in times:
            return times["file_offset"], _sum(times["file_offset"], times["offset"], onset)
        return onset, times["offset"]

    def _seconds(self, position: int) -> Floats:
        """Return a column of times in seconds."""
        unit, column = self.layout.units.get(position, "s"), self.numbers[position]
        if unit != "date":
            return column if unit == "s" else column / _PER_SECOND[unit]
        from sedeval_soft.tables.date_times import beginnings

        names = self.file or Named((UNNAMED,), np.zeros(len(column), dtype=np.int32))
        return (column - beginnings(names.names)[names.codes]) / TICKS_PER_SECOND

    @cached_property
    def ranges(self) -> dict[int, tuple[float, float]]:
        """The least and the largest number of each column, by position; NaN where one is missing."""
        size = sum(map(len, self.numbers.values()))
        ends = for_each(
            lambda column: (float(column.min(initial=np.inf)), float(column.max(initial=-np.inf))),
            self.numbers.values(),
            size,
        )
        return dict(zip(self.numbers, ends, strict=True))

    def blank(self) -> Bools:
        """Return which rows hold nothing, but perhaps the name of a file that they declare, (n,).

        So do those of a label that says so, and those without one where rows have no times.
        """
        if self.label is not None and not self.layout.timed:
            return self.label.are_empty()
        first, *others = self.numbers.values()
        blank = np.isnan(first)
        for column in others if blank.any() else ():
            blank &= np.isnan(column)
        if blank.any() and self.label is not None:
            blank &= self.label.are_empty()
        if blank.any() and self.layout.ignored:
            # What stands in a column that is ignored may be all that a nameless row holds.
            blank &= False if self.file is None else ~self.file.are_empty()
        if self.label is not None and self.layout.dialect is not None and self.layout.dialect.nothing:
            says = np.array([self.layout.says_nothing(name) for name in self.label.names], dtype=bool)
            blank = blank | says[self.label.codes]
        return blank

    def first_unsound(self, limits: Limits) -> int | None:
        """Return the first row with a number or a name that cannot be scored; None where there is none."""
        layout = self.layout
        onset, offset = self.times
        sound = onset <= offset
        if layout.units or "offset" not in layout.roles or "file_offset" in layout.roles:
            sound &= (onset >= 0) & (offset <= limits.duration)
        for at, (least, largest) in self.ranges.items():
            low, high = range_of(layout.roles[at], limits, layout.units.get(at, "s"))
            # NaN compares false; most columns need no comparison of each of their numbers.
            if not (least >= low and largest <= high):
                column = self.numbers[at]
                sound &= (column >= low) & (column <= high)
        named = [names for names in (self.file, self.label) if names is not None]
        for names in named:
            if "" in names.names:
                sound &= ~names.are_empty()
        if not sound.all():
            sound |= self.blank()
        for names in named:
            unsound = ["\0" in name for name in names.names]
            if any(unsound):
                sound &= ~np.array(unsound)[names.codes]
        return None if sound.all() else int(np.argmin(sound))

    def rows(self, origin: Origin, limits: Limits = LIMITS) -> EventTable | None:
        """Return the rows, None if any number or name is one that cannot be scored.

        A row with a filename and nothing else declares a file without events; one with nothing is left out.
        Raises InputError where there are more rows, files or classes than limits allow.
        """
        columns = self.labelled(limits.label)
        if columns is not self:  # rows without a class have the label
            needless = without_effect((), limits.label, set())
            origin = replace(origin, lacking=tuple(text for text in origin.lacking if text not in needless))
        if columns.first_unsound(limits) is not None:
            return None
        columns = columns._of_each_label(origin.name, limits) if self.layout.lists else columns
        return columns._sound_rows(origin, limits)

    def labelled(self, label: str) -> Columns:
        """Return the columns with a class for rows of times that have none; empty for no class."""
        names = self.label
        if not label or not self.layout.timed or names is None or "" not in names.names:
            return self
        unlabelled = names.are_empty() & ~self.blank()
        if not unlabelled.any():
            return self
        codes = np.where(unlabelled, len(names.names), names.codes).astype(np.int32)
        of_rows = Named.of((*names.names, label), codes)
        return replace(self, texts={**self.texts, "event_label": of_rows})

    def _of_each_label(self, source: str, limits: Limits) -> Columns:
        """Return the columns with a row for each label of cells that list several."""
        file, label = self.texts["filename"], self.texts["event_label"]
        lists = [[name for name in cell.split(",") if name.strip()] for cell in label.names]
        n_labels = np.array([len(names) for names in lists], dtype=np.int64)
        n_of_row = n_labels[label.codes]
        n_rows = int(n_of_row.sum())
        limits.check(source, "rows", n_rows, "labels")
        check_room(_LABEL * n_rows, f"{source}: to hold {n_rows} labels", "Expected batches of files")
        row = np.repeat(np.arange(len(n_of_row)), n_of_row)
        within = np.arange(n_rows) - np.repeat(np.cumsum(n_of_row) - n_of_row, n_of_row)
        codes = (np.cumsum(n_labels) - n_labels)[label.codes][row] + within
        names = Named.of(chain.from_iterable(lists), codes.astype(np.int32))
        silent = dict.fromkeys(file.names[code] for code in file.codes[n_of_row == 0].tolist())
        texts = {"filename": Named(file.names, file.codes[row]), "event_label": names}
        numbers = {at: column[row] for at, column in self.numbers.items()}
        return Columns(self.layout, texts, numbers, [*self.declared, *filter(None, silent)])

    def _sound_rows(self, origin: Origin, limits: Limits) -> EventTable:
        """Return the rows, nothing of which is wrong."""
        layout, blank, numbers, files = self.layout, self.blank(), self.numbers, [*self.declared]
        rows = ~blank
        if blank.any() and self.file is not None:
            declared = distinct(self.file.codes[blank]).tolist()
            files += [self.file.names[code] for code in declared if self.file.names[code]]
        onset, offset = self.times
        if layout.dialect is not None:
            rows &= self._first_views()
            origin = replace(origin, assumed=(*origin.assumed, *self._assumed(rows)))
        if not rows.all():
            numbers = {at: column[rows] for at, column in numbers.items()}
            onset, offset = onset[rows], offset[rows]
        limits.check(origin.name, "rows", len(onset), "rows")
        valued = [at for at, role in enumerate(layout.roles) if role in {"class", "soft_value"}]
        values, beyond = [numbers[at] for at in valued], 0
        if not all(low >= 0 and high <= 1 for low, high in map(self.ranges.__getitem__, valued)):
            beyond = sum(int(np.count_nonzero((column < 0) | (column > 1))) for column in values)
        if beyond:
            values = [np.clip(column, 0.0, 1.0) for column in values]
            origin = replace(origin, notes=(*origin.notes, _of_rounded(beyond)))
        file = self.file or Named((UNNAMED,), np.zeros(len(rows), dtype=np.int32))
        label = self.label and self.label.of_rows(rows)
        if layout.label:
            label = Named((layout.label,), np.zeros(len(onset), dtype=np.int32))
        if label is not None and not layout.timed:
            commas = any("," in name for name in label.names)
            origin = replace(origin, timed=False, assumed=(*origin.assumed, *[COMMAS] * commas))
        file = file.of_rows(rows, files)
        columns = zip(layout.names, layout.roles, strict=True)
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

    def _first_views(self) -> Bools:
        """Return which rows are in the first view that their selection is in, (n,)."""
        selection, view = self.texts.get("selection"), self.texts.get("view")
        onset, offset = self.times
        if selection is None or view is None or len(view.names) < 2:
            return np.ones(len(onset), dtype=bool)
        names = (selection, self.file, self.label)
        keys: list[Array] = [onset, offset, *(each.codes for each in names if each is not None)]
        order = np.lexsort([np.arange(len(onset)), *keys])
        keys = [key[order] for key in keys]
        new = np.ones(len(order), dtype=bool)
        new[1:] = np.any([key[1:] != key[:-1] for key in keys], axis=0) if len(order) > 1 else []
        first = np.empty_like(order)
        first[order] = order[new][np.cumsum(new) - 1]
        return np.equal(view.codes, view.codes[first])

    def _assumed(self, rows: Bools) -> Iterator[str]:
        """Yield what had to be assumed of rows of a dialect."""
        file, end = self.file, self.texts.get("end_file")
        wanted = self.layout.dialect.roles.get("file_offset", ()) if self.layout.dialect else ()
        if file is None or not wanted:
            return
        files = {without_folders(file.names[code]) for code in distinct(file.codes[rows]).tolist()}
        if len(files) > 1 and "file_offset" not in self.layout.roles:
            yield (
                f"times were taken to count from the start of each of {len(files)} files; those of files "
                "that Raven has opened at once count from the first: export them with 'File Offset (s)'"
            )
        if end is not None:
            begins, ends = (np.array([*map(without_folders, each.names)])[each.codes] for each in (file, end))
            n = int(np.count_nonzero(((begins != ends) & (ends != ""))[rows]))
            if n:
                yield (
                    f"{counted(n, 'selection')} that {'ends' if n == 1 else 'end'} in another file than "
                    "that of the begin: assumed to be in the first"
                )


def below(folder: str, file: str) -> str:
    """Return the name of a file in a folder; either may be empty."""
    folder = folder.rstrip("/\\")
    return f"{folder}/{file}" if folder and file else file


def _sum(begin: Floats, more: Floats, less: Floats | None = None) -> Floats:
    """Return begin + more - less, (n,), in whole ticks."""
    ticks = np.rint(begin * TICKS_PER_SECOND) + np.rint(more * TICKS_PER_SECOND)
    return (ticks if less is None else ticks - np.rint(less * TICKS_PER_SECOND)) / TICKS_PER_SECOND


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
