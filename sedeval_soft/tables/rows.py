"""Rows made of columns, whoever read them; the checks that all columns must pass, and why a row is wrong.

`Columns.wrong` is the one check of any table; `find_wrong` looks at the cells of wrong rows for the cause.
Tables of text are read exactly, each cell as its text with its line, if they are small, before pyarrow is
imported, and large ones if pyarrow gives up or a check fails.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, compress, count, islice
from operator import not_
from types import MappingProxyType

import numpy as np

from sedeval_soft.arrays import Bools, Codes, Floats, distinct, for_each
from sedeval_soft.errors import MAX_PROBLEMS, SHOWN, InputError, Problem, counted, quoted
from sedeval_soft.memory import check_room
from sedeval_soft.tables.columns import (
    BESIDE,
    BLANKS,
    TEXTS,
    TIMES,
    WORDS,
    Layout,
    as_duration,
    is_number,
    option,
    to_number,
    without_effect,
)
from sedeval_soft.tables.event_table import COMMAS, INSTANT, UNNAMED, EventTable, Index, Origin
from sedeval_soft.tables.filenames import without_folders
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.lines import BESIDE_CLASSES, DELIMITERS, Record, numbered, record, split
from sedeval_soft.tables.source import Source
from sedeval_soft.tables.ticks import TICKS_PER_SECOND, clock_seconds

ROUNDING = 1e-6
"""Distance beyond [0, 1] up to which a value is taken for 0 or 1: single precision, and sums of weights that
should be 1, miss it by as much. MAESTRO's reference has 1.000000031316843."""

_BEYOND = f"beyond [0, 1] by less than {ROUNDING:g}"

_NO_NUMBER = re.compile(r"^.*[^0-9.eE+\-\n].*$", re.MULTILINE)
"""Lines that Python might read as a number otherwise than `to_number`: some have blanks or underscores."""

_CLOCK = re.compile(r"\d{1,12}:[0-5]?\d:[0-5]?\d(\.\d*)?", re.ASCII)

TOGETHER = -1
"""A position for the times of a row together, beside positions of columns for single cells."""

_LABEL = 64  # bytes that a label of a recording takes


def _per_second(unit: str) -> float:
    """Return the number of a unit in a second; units other than s and ms are sample rates."""
    return {"s": 1, "ms": 1000}.get(unit) or float(unit)


def range_of(role: str | None, limits: Limits, unit: str = "s") -> tuple[float, float]:
    """Return the least and the largest number that a column of a role may have: times, or values.

    Times are in the unit; dates and times of day are ticks, and may be any.
    """
    if role not in {*TIMES, "file_offset"}:
        return (-ROUNDING, 1 + ROUNDING)
    return (-np.inf, np.inf) if unit == "date" else (0.0, limits.duration * _per_second(unit))


@dataclass(frozen=True, slots=True)
class Texts:
    """A column of texts: (n,) codes into distinct ones, as they are in the table."""

    names: tuple[str, ...]
    codes: Codes

    @classmethod
    def of(cls, cells: Sequence[str]) -> Texts:
        """Take a text for each row."""
        code: defaultdict[str, int] = defaultdict()
        code.default_factory = code.__len__  # texts are numbered as they come
        codes = np.fromiter(map(code.__getitem__, cells), np.int32, len(cells))
        return cls(tuple(code), codes)

    def where(self, holds: Callable[[str], object]) -> Bools:
        """Return for which rows the text meets a condition, (n,)."""
        return np.fromiter(map(bool, map(holds, self.names)), bool, len(self.names))[self.codes]

    def as_numbers(self, role: str | None, unit: str = "s") -> Floats:
        """Return the numbers of the texts, (n,), NaN if one is not a number: dates as ticks since 1970.

        role: soft values may be words for 1 or 0, and times in seconds may be hh:mm:ss.
        """
        if unit == "date":
            from sedeval_soft.tables.date_times import ticks_of

            return ticks_of(self.names)[self.codes]
        words = WORDS if role == "soft_value" else {}

        def number(text: str) -> float:
            text = text.strip(BLANKS)
            if role in TIMES and unit == "s" and _CLOCK.fullmatch(text):
                return clock_seconds(text)
            return to_number(words.get(text.upper(), text))

        joined = "\n".join(self.names)
        if joined.count("\n") < len(self.names):
            odd = {*_NO_NUMBER.findall(joined)}
            with suppress(ValueError):
                found = (number(text) if text in odd else float(text or "nan") for text in self.names)
                return np.fromiter(found, np.float64, len(self.names))[self.codes]
        return np.array([*map(number, self.names)], dtype=np.float64)[self.codes]

    def stripped(self) -> Texts:
        """Return the texts without blanks around them; those that are the same then are one."""
        stripped = tuple(name.strip() for name in self.names)
        return Texts(stripped, self.codes)._recoded(stripped)

    def used(self) -> list[str]:
        """Return the texts that rows have, in the order of codes."""
        present = np.zeros(len(self.names), dtype=bool)
        present[self.codes] = True
        return [*compress(self.names, present)]

    def of_rows(self, rows: Bools, also: Iterable[str] = ()) -> Texts:
        """Return the column of some rows; of its texts those that they use, and some others."""
        texts = self if rows.all() else Texts(self.names, self.codes[rows])
        return texts._recoded([*texts.used(), *also])

    def _recoded(self, names: Sequence[str]) -> Texts:
        """Return the column with codes into other texts, which may repeat; the rows' texts are among them."""
        codes = dict(zip(dict.fromkeys(names), count(), strict=False))
        if tuple(codes) == self.names:
            return self
        lookup = np.array([codes.get(name, -1) for name in self.names], dtype=np.int32)
        return Texts(tuple(codes), lookup[self.codes])


@dataclass(frozen=True)
class Columns:
    """The columns of a table that play a role: the one check of all tables is here.

    cells: by position, (n,) each: texts as they are in the table, or numbers, NaN if one is missing. Times
    are in their units, dates and times of day are ticks since 1970. declared: files without rows. lines: of
    rows.
    """

    layout: Layout
    cells: Mapping[int, Texts | Floats]
    declared: Sequence[str] = ()
    lines: Sequence[int] = ()

    def __len__(self) -> int:
        """Return the number of rows."""
        column = next(iter(self.cells.values()))
        return len(column.codes if isinstance(column, Texts) else column)

    @cached_property
    def texts(self) -> dict[str, Texts]:
        """Columns of names by role, without blanks around them."""
        of_role = {role: self.cells[i] for i, role in enumerate(self.layout.roles) if role in TEXTS}
        return {role: column.stripped() for role, column in of_role.items() if isinstance(column, Texts)}

    @cached_property
    def numbers(self) -> dict[int, Floats]:
        """Columns of times and values by position, (n,) each, NaN for a missing number."""
        roles, units = self.layout.roles, self.layout.units
        return {
            i: column.as_numbers(roles[i], units.get(i, "s")) if isinstance(column, Texts) else column
            for i, column in ((i, self.cells[i]) for i in self.layout.positions())
        }

    @property
    def label(self) -> Texts | None:
        """The classes of rows, None if the table has no such column."""
        return self.texts.get("event_label")

    @cached_property
    def file(self) -> Texts | None:
        """The files of rows, below their folders if the table has these apart; None if it has none."""
        folder, file = self.texts.get("folder"), self.texts.get("filename")
        if folder is None or file is None:
            return file
        pairs, codes = np.unique(
            folder.codes.astype(np.int64) * len(file.names) + file.codes, return_inverse=True
        )
        split = (divmod(pair, len(file.names)) for pair in pairs.tolist())
        names = tuple(below(folder.names[k], file.names[i]) for k, i in split)
        return Texts(names, codes.reshape(-1).astype(np.int32)).stripped()

    @cached_property
    def times(self) -> tuple[Floats, Floats]:
        """Onsets and offsets in seconds, (n,) each.

        If they are computed from other numbers, as from a duration, they are whole ticks.
        """
        layout = self.layout
        if not layout.timed:
            return np.zeros(len(self)), np.full(len(self), INSTANT)
        of_role = {role: i for i, role in enumerate(layout.roles) if role in {*TIMES, "file_offset"}}
        times = {role: self._seconds(i) for role, i in of_role.items()}
        onset = times["onset"]
        if "offset" not in times:
            return onset, _sum(onset, times["duration"]) if "duration" in times else onset
        if "file_offset" in times:
            return times["file_offset"], _sum(times["file_offset"], times["offset"], onset)
        return onset, times["offset"]

    def _seconds(self, position: int) -> Floats:
        """Return a column of times in seconds."""
        unit, column = self.layout.units.get(position, "s"), self.numbers[position]
        if unit != "date":
            return column if unit == "s" else column / _per_second(unit)
        from sedeval_soft.tables.date_times import beginnings

        names = self.file or Texts((UNNAMED,), np.zeros(len(column), dtype=np.int32))
        return (column - beginnings(names.names)[names.codes]) / TICKS_PER_SECOND

    @cached_property
    def ranges(self) -> dict[int, tuple[float, float]]:
        """The least and the largest number of each column, by position; NaN if one is missing."""
        size = sum(map(len, self.numbers.values()))
        ends = for_each(
            lambda column: (float(column.min(initial=np.inf)), float(column.max(initial=-np.inf))),
            self.numbers.values(),
            size,
        )
        return dict(zip(self.numbers, ends, strict=True))

    @cached_property
    def blank(self) -> Bools:
        """A mask of rows that are empty, but perhaps for the name of a file that they declare, (n,).

        Rows with a label that declares no event are empty, and rows without label if rows have no times.
        """
        label, layout = self.label, self.layout
        if label is not None and not layout.timed:
            return label.where(not_)
        first, *others = self.numbers
        blank = self._missing(first)
        for at in others if blank.any() else ():
            blank = blank & self._missing(at)
        if blank.any() and label is not None:
            blank = blank & label.where(not_)
        if blank.any() and layout.ignored:
            # A cell of a column that is ignored may be the only content of a nameless row.
            blank = blank & (False if self.file is None else ~self.file.where(not_))
        if label is not None and layout.dialect is not None and layout.dialect.nothing:
            blank = blank | label.where(layout.says_nothing)
        return blank

    def _missing(self, position: int) -> Bools:
        """Return in which rows a column of numbers has nothing at all, (n,)."""
        column = self.cells[position]
        if not isinstance(column, Texts):
            return np.isnan(column)
        return column.where(lambda text: not text.strip(BLANKS))

    def wrong(self, limits: Limits) -> dict[int, Bools]:
        """Return which cells cannot be scored, (n,) for each position that has such.

        Under `TOGETHER` are the rows whose cells are sound, but not their times together.
        """
        layout, wrong = self.layout, dict[int, Bools]()
        for at, role in enumerate(layout.roles):
            if role in {"filename", "event_label"}:
                column = self.texts[role]
                if any(map(_is_wrong, column.names)):
                    wrong[at] = column.where(_is_wrong) & ~(self.blank & column.where(not_))
            elif at in self.numbers:
                (least, largest), numbers = self.ranges[at], self.numbers[at]
                low, high = range_of(role, limits, layout.units.get(at, "s"))
                # NaN compares false; most columns need no comparison of each of their numbers.
                if not (least >= low and largest <= high):
                    wrong[at] = ~((numbers >= low) & (numbers <= high)) & ~self.blank
        onset, offset = self.times
        sound = onset <= offset
        if layout.units or "offset" not in layout.roles or "file_offset" in layout.roles:
            sound &= (onset >= 0) & (offset <= limits.duration)
        if not sound.all():
            wrong[TOGETHER] = ~np.logical_or.reduce([sound, self.blank, *wrong.values()])
        return {at: rows for at, rows in wrong.items() if rows.any()}

    def rows(self, origin: Origin, limits: Limits = LIMITS) -> EventTable | None:
        """Return the rows, None if any number or name is one that cannot be scored.

        A row with a filename and nothing else declares a file without events; an empty row is left out.
        Raises InputError if there are more rows, files or classes than limits allow.
        """
        columns = self.labelled(limits.label)
        if columns is not self:  # rows without a class have the label
            needless = without_effect((), limits.label, set())
            origin = replace(origin, lacking=tuple(text for text in origin.lacking if text not in needless))
        if columns.wrong(limits):
            return None
        columns = columns._of_each_label(origin.name, limits) if self.layout.lists else columns
        return columns._sound_rows(origin, limits)

    def labelled(self, label: str) -> Columns:
        """Return the columns with a class for rows of times that have none; empty for no class."""
        names = self.label if label and self.layout.timed else None
        if names is None or "" not in names.names:
            return self
        at, unlabelled = self.layout.roles.index("event_label"), names.where(not_) & ~self.blank
        if not unlabelled.any():
            return self
        codes = np.where(unlabelled, len(names.names), names.codes).astype(np.int32)
        return replace(self, cells={**self.cells, at: Texts((*names.names, label), codes)})

    def of_rows(self, rows: Bools | Index) -> Columns:
        """Return the columns of some rows, in whatever order, texts numbered as these have them."""
        cells = {
            at: Texts.of([column.names[code] for code in column.codes[rows].tolist()])
            if isinstance(column, Texts)
            else column[rows]
            for at, column in self.cells.items()
        }
        lines = [self.lines[row] for row in np.arange(len(self))[rows].tolist()] if self.lines else []
        return replace(self, cells=cells, lines=lines)

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
        names = Texts(tuple(chain.from_iterable(lists)), codes.astype(np.int32))
        silent = dict.fromkeys(file.names[code] for code in file.codes[n_of_row == 0].tolist())
        texts = {"filename": Texts(file.names, file.codes[row]), "event_label": names}
        cells: dict[int, Texts | Floats] = {at: column[row] for at, column in self.numbers.items()}
        cells |= {at: texts[role] for at, role in enumerate(self.layout.roles) if role in texts}
        return Columns(self.layout, cells, [*self.declared, *filter(None, silent)])

    def _sound_rows(self, origin: Origin, limits: Limits) -> EventTable:
        """Return the rows, nothing of which is wrong."""
        layout, blank, numbers, files = self.layout, self.blank, self.numbers, [*self.declared]
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
        file = self.file or Texts((UNNAMED,), np.zeros(len(rows), dtype=np.int32))
        label = self.label and self.label.of_rows(rows)
        if layout.label:
            label = Texts((layout.label,), np.zeros(len(onset), dtype=np.int32))
        if not layout.timed:
            commas = label is not None and any("," in name for name in label.names)
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
        if selection is None or view is None or len(view.names) < 2:
            return np.ones(len(self), dtype=bool)
        names = (selection, self.file, self.label)
        keys = np.column_stack([*self.times, *(each.codes for each in names if each is not None)])
        _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        return np.equal(view.codes, view.codes[first[group.reshape(-1)]])

    def _assumed(self, rows: Bools) -> Iterator[str]:
        """Yield the assumptions about rows of a dialect."""
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


def _is_wrong(name: str) -> bool:
    """Return whether a name cannot be scored."""
    return not name or "\0" in name


def below(folder: str, file: str) -> str:
    """Return the name of a file in a folder; either may be empty."""
    folder = folder.rstrip("/\\")
    return f"{folder}/{file}" if folder and file else file


def _sum(begin: Floats, more: Floats, less: Floats | None = None) -> Floats:
    """Return begin + more - less, (n,), in whole ticks."""
    ticks = np.rint(begin * TICKS_PER_SECOND) + np.rint(more * TICKS_PER_SECOND)
    return (ticks if less is None else ticks - np.rint(less * TICKS_PER_SECOND)) / TICKS_PER_SECOND


def joined_notes(notes: Iterable[str]) -> tuple[str, ...]:
    """Return the notes on parts of one table as notes on the whole table: roundings are counted."""
    notes = [*notes]
    rounded = [int(note.partition(" ")[0]) for note in notes if _BEYOND in note]
    others = dict.fromkeys(note for note in notes if _BEYOND not in note)
    return (*others, *[_of_rounded(sum(rounded))][: len(rounded)])


def _of_rounded(number: int) -> str:
    return f"{counted(number, 'value')} {_BEYOND} {'was' if number == 1 else 'were'} taken for 0 or 1"


def exact_columns(source: Source, layout: Layout, found: Findings, most: int = MAX_PROBLEMS) -> Columns:
    """Return the rows of a table of text; problems of other lines are added to the findings.

    most: problems of each code that are stored.
    """
    edge, n_columns, past = layout.delimiter, len(layout.names), layout.past
    most_fields = max(LIMITS.classes + BESIDE_CLASSES, n_columns)
    # A line that begins so may be blank; one with the longest name of a column may be the header again.
    begins, title = {"", edge, *BLANKS}, max(layout.names, key=len) if layout.has_header else "\0"
    plain: dict[int, str] = {}
    others: list[Record] = []
    for number, line in islice(numbered(source), layout.skip, None):
        if (
            isinstance(line, str)
            and line.count(edge) == n_columns - 1
            and '"' not in line
            and line[:1] not in begins
            and title not in line
        ):
            plain[number] = line  # as nearly all are
        elif fields := record(source.name, number, line, edge, most_fields, past):
            others.append((number, fields))
    return columns_of(source.name, layout, others, found, most, plain)


def columns_of(
    name: str,
    layout: Layout,
    records: Iterable[Record],
    found: Findings,
    most: int = MAX_PROBLEMS,
    plain: Mapping[int, str] = MappingProxyType({}),
) -> Columns:
    """Return the rows of records; problems of other lines are added to the findings.

    name: of the table. plain: other lines, all of which are rows that delimiters divide, by number.
    """
    edge, n_columns, lines = layout.delimiter, len(layout.names), [*plain]
    declared, rows = list[str](), list[list[str]]()
    for line, fields in records:
        if isinstance(fields, Problem):
            found.add(fields, most)
        elif len(fields) != n_columns:
            silent = declares(layout, fields)
            declared += [silent] * bool(silent)
            if not silent:
                found.add(_other_length(name, layout, line, fields), most)
        elif layout.has_header and layout.names == tuple(map(str.strip, fields)):
            message = "is the header again; expected a row: leave out this line"
            found.add(Problem(name, message, line, code="repeated-header"), most)
        else:
            rows.append(fields)
            lines.append(line)
    cells = edge.join(plain.values()).split(edge) if plain else []
    order = np.argsort(lines, kind="stable").tolist() if plain and rows else ()
    columns = {}
    for at in (at for at, role in enumerate(layout.roles) if role is not None):
        column = [*cells[at::n_columns], *(fields[at] for fields in rows)]
        columns[at] = Texts.of([column[k] for k in order] if order else column)
    return Columns(layout, columns, declared, sorted(lines))


def rows_of_columns(
    name: str, columns: Columns, found: Findings, origin: Origin, limits: Limits
) -> EventTable:
    """Return the rows of columns of another format; raises InputError with the problems of any.

    name: of the table. found: its problems that are known already.
    """
    if not found.problems and (rows := columns.rows(origin, limits)) is not None:
        return rows
    find_wrong(columns, name, limits, found)
    found.problems = [replace(each, code="invalid") for each in found.problems]
    raise found.error()


def declares(layout: Layout, fields: Sequence[str]) -> str:
    """Return the file that a line declares with its name and nothing else; empty for other lines."""
    at = layout.position("filename")
    if at is None or at >= len(fields) or not fields[at].strip():
        return ""
    alone = len(fields) == 1 and at == 0 and not misdivided(fields[0], layout)
    past = {None, *BESIDE} if layout.timed else {None, "soft_value"}
    others = (text for i, text in enumerate(fields) if i != at and layout.roles[i] not in past)
    whole = (len(fields) == len(layout.names) or alone) and not any(text.strip() for text in others)
    at_label = layout.position("event_label")
    if at_label is not None and len(fields) == len(layout.names):
        whole = whole or layout.says_nothing(fields[at_label])
    folder = layout.position("folder")
    place = fields[folder] if folder is not None and folder < len(fields) else ""
    return below(place.strip(), fields[at].strip()) if whole else ""


def _other_length(name: str, layout: Layout, line: int, fields: Sequence[str]) -> Problem:
    delimiter = layout.delimiter
    expected = f"expected {counted(len(layout.names), 'field')} ({', '.join(layout.names[:8])})"
    text = delimiter.join(fields)
    other = misdivided(text, layout)
    if other:
        wrong = f"is divided by {DELIMITERS[other]}, not by {DELIMITERS[delimiter]}: {quoted(text)}"
        return Problem(name, f"{wrong}; {expected}", line, code="mixed-delimiters")
    message = f"has {counted(len(fields), 'field')}: {quoted(' | '.join(fields))}; {expected}"
    return Problem(name, message, line, code="field-count")


def misdivided(text: str, layout: Layout) -> str:
    """Return another table's delimiter by which a text would be a row; empty if there is none.

    With the table's own delimiter the text could be the name of a file.
    """
    times = [i for i in layout.number_positions() if layout.roles[i] in TIMES]
    for other in DELIMITERS:
        fields = [] if other == layout.delimiter else split(text, other)
        if len(fields) == len(layout.names) and all(is_number(fields[i]) for i in times):
            return other
    return ""


_NO_LABEL = "the line left out if it is no event, or the class of all rows without one, as --label car"
_UNITS = {"s": "a number of seconds", "ms": "a number of milliseconds"}
_PERHAPS_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}", re.ASCII)


@dataclass(slots=True)
class Findings:
    """The problems of a table that is read exactly.

    problems: the first ones of each code, by line; counts: the number of problems of each code.

    lines: of the rows that can be scored. misread: the rows with a problem, which may explain one another.
    """

    problems: list[Problem] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    lines: Sequence[int] = ()
    misread: Columns | None = None

    def add(self, problem: Problem, most: int = MAX_PROBLEMS) -> None:
        """Count a problem, and store it if it is one of the first of its code."""
        self.counts[problem.code] += 1
        if self.counts[problem.code] <= most:
            self.problems.append(problem)

    def error(self) -> InputError:
        """Return the error that has the first problems."""
        return InputError(self.problems[:MAX_PROBLEMS], more=self.counts.total() > MAX_PROBLEMS)

    def check(self) -> None:
        """Raise InputError with the first problems, if there are any."""
        if self.problems:
            raise self.error()


def find_wrong(
    columns: Columns,
    name: str,
    limits: Limits,
    found: Findings,
    most: int = MAX_PROBLEMS,
    *,
    whole: bool = False,
    copy: str | None = None,
) -> Bools:
    """Return which rows can be scored, (n,), and add the problems of the others to the findings.

    columns: exact, with the line of each row. name: of the table. most: problems of each code that are
    stored. whole: count the problems of all rows, not only of so many.

    copy: the command that writes a fixed copy; None if it is not a table of text, whose columns can be called
    otherwise.
    """
    columns = columns.labelled(limits.label)
    wrong = columns.wrong(limits)
    rows: Bools = np.logical_or.reduce([np.zeros(len(columns), dtype=bool), *wrong.values()])
    misread = columns.of_rows(rows)
    for row in np.flatnonzero(rows)[: None if whole else most + 1].tolist():
        for at in (at for at, cells in wrong.items() if cells[row]):
            position, code, message = (
                _wrong_times(columns, row, limits)
                if at == TOGETHER
                else (at, *_wrong_cell(columns, at, row, limits))
            )
            found.add(Problem(name, message, columns.lines[row], position + 1, code), most)
    found.problems.sort(key=lambda each: (each.line or 0, each.column or 0))
    found.misread, found.lines = misread, [*compress(columns.lines, ~(rows | columns.blank))]
    _mend(found, misread, limits, copy)
    return ~rows


def text_of(column: Texts | Floats, row: int, unit: str = "s") -> str:
    """Return a cell as a text, empty for a missing number; unit: of numbers, `date` if they are ticks."""
    if isinstance(column, Texts):
        return str(column.names[column.codes[row]])
    number = float(column[row])
    if unit == "date" and not math.isnan(number):
        from sedeval_soft.tables.date_times import as_text

        return as_text(number)
    return "" if math.isnan(number) else repr(number)


def _text(columns: Columns, at: int, row: int) -> str:
    """Return a cell as it is in the table, empty in a column that plays no role."""
    cells = columns.cells.get(at)
    return "" if cells is None else text_of(cells, row, columns.layout.units.get(at, "s"))


def _wrong_cell(columns: Columns, at: int, row: int, limits: Limits) -> tuple[str, str]:
    """Return the problem of a cell of a position: a code and a message."""
    layout, text = columns.layout, _text(columns, at, row)
    role, title, unit = layout.roles[at] or "", layout.names[at], layout.units.get(at, "s")
    if role in TEXTS and "\0" in text:
        return "nul-byte", f"{title} holds a NUL character; expected a name"
    if role in TEXTS:
        others = [option(("event_label", layout.names[i])) for i in layout.labels]
        other = f", or {(others or [_NO_LABEL])[0]}" * (role == "event_label")
        return "empty-name", f"{title} is empty; expected a name{other}"
    if unit == "date":
        from sedeval_soft.tables.date_times import SUCH_AS

        wrong = f"{title} {quoted(text)} is not a date and time of day"
        return "not-a-number", f"{wrong}; expected one such as {SUCH_AS}"
    return wrong_number(title, role, text.strip(BLANKS), limits, unit)


def _wrong_times(columns: Columns, row: int, limits: Limits) -> tuple[int, str, str]:
    """Return the problem of the times of a row that is sound else: position, code and message."""
    layout = columns.layout
    begin, end = layout.roles.index("onset"), layout.position("offset")
    end = layout.roles.index("duration") if end is None else end
    onset, offset = (float(times[row]) for times in columns.times)
    begin_text, end_text = (_text(columns, at, row).strip()[:SHOWN] for at in (begin, end))
    if math.isnan(onset) or math.isnan(offset):
        from sedeval_soft.tables.date_times import NAMED

        file = columns.file.names[columns.file.codes[row]] if columns.file else ""
        message = (
            f"{layout.names[begin]} counts from when the recording began, which its name, "
            f"{quoted(file)}, does not say; expected a date and time in it such as {NAMED}, or seconds"
        )
        return begin, "not-a-number", message
    if onset < 0:
        message = f"{layout.names[begin]} {begin_text} is {-onset:.15g} s before the recording began"
        return begin, "negative-time", f"{message}; expected it within the recording"
    if offset < onset:
        message = f"offset {end_text} is before onset {begin_text}; expected onset <= offset"
        return end, "offset-before-onset", message
    wrong = f"{layout.names[end]} {end_text} {limits.too_long(offset)}"
    return end, "time-too-long", f"{wrong}; expected a time in the recording"


def wrong_number(title: str, role: str, text: str, limits: Limits, unit: str) -> tuple[str, str]:
    """Return the problem of the text of a number: a code and a message; title: of its column."""
    time, number = role in {*TIMES, "file_offset"}, to_number(text)
    no_number, comma = math.isnan(number), "has a decimal comma, not a decimal point"
    too_long = "" if no_number else limits.too_long(number / 1000 if unit == "ms" else number)
    reasons = (
        (not text, "empty-number", "is empty"),
        (has_decimal_comma(text), "decimal-comma", comma),
        (text.lower().lstrip("+-") in {"nan", "inf", "infinity"}, "not-finite", "is not finite"),
        (no_number, "not-a-number", "is not a number"),
        (math.isinf(number), "time-too-long" if time else "value-out-of-range", "is too large"),
        (time and number < 0, "negative-time", "is negative"),
        (time, "time-too-long", too_long),
        (True, "value-out-of-range", "is outside [0, 1]"),
    )
    code, wrong = next((code, wrong) for applies, code, wrong in reasons if applies)
    expected = f"{_UNITS.get(unit, 'a number of samples')}, 0 or more" if time else "a number in [0, 1]"
    point = text.replace(",", ".")
    if code == "decimal-comma" and unit == "s" and (time or 0 <= to_number(point) <= 1):
        expected += f": write {point}"
    given = quoted(text) if text and no_number else text[:SHOWN]
    return code, f"{' '.join(filter(None, (title, given, wrong)))}; expected {expected}"


def _mend(found: Findings, misread: Columns, limits: Limits, copy: str | None) -> None:
    """Add to the first problem of a code the fix of all of its kind; arguments as for `find_wrong`."""
    layout, mends = misread.layout, dict[str, str]()
    if copy is not None:
        onset, offset = misread.times
        if not layout.has_header or 2 * np.count_nonzero(offset < onset) >= len(found.lines):
            mends["offset-before-onset"] = as_duration(layout)
        columns = [misread.cells[at] for at in layout.number_positions()]
        texts = [text.strip(BLANKS) for each in columns if isinstance(each, Texts) for text in each.used()]
        mends["decimal-comma"] = thousands_in(texts) or (copy and f"{copy} writes points")
    of_classes = {"not-a-number", "value-out-of-range"}
    for i, problem in enumerate(found.problems):
        at, mend = (problem.column or 0) - 1, mends.pop(problem.code, "")
        if problem.code in of_classes and at >= 0 and layout.roles[at] == "class":
            from sedeval_soft.tables.advice import ROWS, no_class

            of_classes.remove(problem.code)
            first = range(min(ROWS, len(misread)))
            rows = [[_text(misread, k, row) for k in range(len(layout.names))] for row in first]
            mend = no_class(layout, rows, limits, at)
        if mend:
            found.problems[i] = replace(problem, message=f"{problem.message}, or {mend}")


def exchanged(columns: Columns) -> tuple[int, ...]:
    """Return the positions of labels and of a column of numbers whose names are exchanged; none if not.

    All labels of several rows are numbers then, and all cells of that column are texts.
    """
    layout, label = columns.layout, columns.label
    if label is None or not layout.has_header or len(columns) < 2 or not all(map(is_number, label.used())):
        return ()
    cells = {at: columns.cells[at] for at in layout.number_positions()}
    texts = {at: column.used() for at, column in cells.items() if isinstance(column, Texts)}
    odd = [at for at, cell in texts.items() if all(cell) and not any(map(is_number, cell))]
    return (layout.roles.index("event_label"), *odd) if len(odd) == 1 else ()


def has_decimal_comma(text: str) -> bool:
    """Return whether a text is a number but for a comma in place of its point."""
    return "," in text and is_number(text.replace(",", "."))


def thousands_in(texts: Iterable[str]) -> str:
    """Return replacements for commas of numbers, or points beside commas, that may divide thousands.

    Empty if they do not: one number that could not be read so decides for all.
    """
    numbers = [text for text in texts if is_number(text.replace(",", "."))]
    commas, points = ([text for text in numbers if sign in text] for sign in ",.")
    for alike, sign in ((commas, "comma"), (points if commas else [], "point")):
        if alike and all(map(_PERHAPS_THOUSANDS.fullmatch, alike)):
            plain = re.sub("[.,]", "", alike[0])
            return f"{plain} in place of {alike[0]} if its {sign} divides thousands"
    return ""
