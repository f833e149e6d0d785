"""Checks of rows: one list, from which `evaluate` counts the findings, and `validate` names each place.

Rows are sorted once by group (file and class; file in a wide table) and onset, and compared with their
neighbours. Times are in seconds. Statistics of batches of whole recordings merge into those of all files, and
show that a table is misread.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sedeval_soft.arrays import Bools, Codes, Floats, distinct
from sedeval_soft.tables.columns import INSTANTS
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.problem_codes import RULES

Index = npt.NDArray[np.intp]
Groups = npt.NDArray[np.int64]

TICK = 1e-6  # seconds: times are scored as whole numbers of them, so that closer ones are the same
_MOST = 2**53  # above all counts and times, and numbers by which rows are put in order
STEP_ROUNDING = 1e-3 + TICK / 2  # seconds by which time steps of one length may differ, rounded to ms
_MINUTE, _DAY = 60, 86_400.0  # seconds

# Powers of ten: a factor by which the ends of recordings must differ for units that differ (20 times); how
# far they are followed, and how many parts a power is counted in.
_FACTOR, _FARTHEST, _DIGITS = 1.3, 20, 1000
# Seconds: where all times are whole, some are as late, and half of the rows as long, they are frames.
_LONG, _TYPICAL = 1000.0, 50.0
# Share of a recording by which a row that begins in it may end after it, in a table that was read right: a
# frame of a system, a slip of an annotator, lengths that were rounded.
_OVERHANG = 0.05
FEW_ROWS = 10  # fewer rows may all be at the beginning of their only recording
_NAMED = 3  # tables that a message names

EVENTS, VALUED, STEPS = "events", "valued", "steps"
"""Kinds of tables: each row an event; rows with values, which windows may share; a wide table."""


class Found(NamedTuple):
    """Rows that a check finds.

    rows: (n,) places in the table. about: (n,) the row whose times and line a message names, if it is another
    row. facts: (n,) or one value for all rows: further values for the message.
    """

    rows: Index
    about: Index | None = None
    facts: Mapping[str, Any] = {}


@dataclass(frozen=True)
class Side:
    """The rows of one table, and the known lengths of its recordings; arrays (n_files,).

    expected: least length of each recording, 0 if unknown. whole: exact length, infinite if unknown. assumed:
    the reference's last offset if that is taken for the length, else infinite. last: last offsets.
    """

    rows: EventTable
    expected: Floats
    whole: Floats
    assumed: Floats
    last: Floats

    @property
    def kind(self) -> str:
        """Return the kind of the table; empty for operating points, which repeat their rows."""
        if self.rows.has_steps:
            return STEPS
        return "" if self.rows.born is not None else VALUED if self.rows.has_values else EVENTS

    @cached_property
    def ordered(self) -> Ordered:
        """The rows in order of group, onset and offset."""
        rows, order = self.rows, by_time(self.rows)
        ordered = Ordered.of(rows, order)
        tied = ordered.same & (ordered.onset[1:] == ordered.onset[:-1])
        if not tied.any():
            return ordered
        # Only rows that begin together are sorted again.
        at = np.flatnonzero(np.append(tied, False) | np.append(False, tied))
        row, run = ordered.row.copy(), np.append(0, np.cumsum(~tied))
        row[at] = row[at][np.lexsort((row[at], ordered.offset[at], run[at]))]
        return Ordered.of(rows, row)

    @cached_property
    def longest(self) -> Index:
        """The row of the group before each but the first that ends last, (n - 1,); any for a first row."""
        ordered = self.ordered
        if not ordered.overlaps.any():
            return np.arange(len(ordered.same))
        # The rank of a row's end within its group, so that one running maximum serves all groups.
        group = np.append(0, np.cumsum(~ordered.same))
        key = np.argsort(np.lexsort((np.rint(ordered.offset * (1 / TICK)), group)))
        return np.maximum.accumulate(np.where(key >= np.maximum.accumulate(key), np.arange(len(key)), 0))[:-1]

    def after(self, ends: Floats) -> Index:
        """Return the rows that end after the end of their recording, by ends in seconds, (n_files,)."""
        if not (self.last > ends + TICK / 2).any():
            return np.zeros(0, dtype=np.intp)
        return np.flatnonzero(self.rows.offset > ends[self.rows.file] + TICK / 2)


def last_offsets(rows: EventTable) -> Floats:
    """Return the last offset of each file of a table, 0 for a file without rows."""
    last = np.zeros(len(rows.files))
    np.maximum.at(last, rows.file, rows.offset)
    return last


class Ordered(NamedTuple):
    """Rows by group (file and class; the file in a wide table) and onset.

    row: (n,) place of each row in the table. same, overlaps, repeats: (n - 1,) for each row but the first,
    whether it is in the previous row's group, begins before that row's end, and has its times.
    """

    row: Index
    onset: Floats
    offset: Floats
    same: Bools
    overlaps: Bools
    repeats: Bools

    @classmethod
    def of(cls, rows: EventTable, order: Index | slice) -> Ordered:
        """Take rows in an order."""
        row = np.arange(len(rows)) if isinstance(order, slice) else order
        onset, offset, group = rows.onset[order], rows.offset[order], rows.groups()[order]
        same = group[1:] == group[:-1]
        repeats = same & (onset[1:] == onset[:-1]) & (offset[1:] == offset[:-1])
        return cls(row, onset, offset, same, same & (onset[1:] < offset[:-1] - TICK / 2), repeats)

    @property
    def touching(self) -> Bools:
        """Mask of rows but the first that begin at the end of the row before, both with extent, (n - 1,)."""
        has_length = self.offset > self.onset
        touching = self.same & (np.abs(self.onset[1:] - self.offset[:-1]) <= TICK / 2)
        return touching & has_length[1:] & has_length[:-1]


def by_time(rows: EventTable) -> Index | slice:
    """Return the order of rows by group and onset, rows with the same tick as in the table."""
    onset, group = rows.onset, rows.groups()
    if np.where(group[1:] == group[:-1], onset[1:] >= onset[:-1], group[1:] > group[:-1]).all():
        return slice(None)
    key = _joint_key(rows, group)
    # One number is sorted in a tenth of the time of two, where rows are nearly in order.
    return np.lexsort((onset, group)) if key is None else np.argsort(key, kind="stable")


def _joint_key(rows: EventTable, group: npt.NDArray[np.integer[Any]], *last: Codes) -> Groups | None:
    """Return a number for each row, by group, onset and the last key; None if it might overflow."""
    columns = group, np.rint(rows.onset * (1 / TICK)).astype(np.int64), *last
    sizes = [int(column.max()) + 1 for column in columns]
    return np.ravel_multi_index(columns, sizes) if math.prod(sizes) < _MOST else None


def zero_length(side: Side) -> Found:
    """Find rows whose offset equals their onset."""
    instants = side.rows.offset == side.rows.onset
    return Found(np.flatnonzero(instants & (INSTANTS not in side.rows.origin.assumed)))


def duplicates(side: Side) -> Found:
    """Find rows that have file, class and times of another one, whatever their values."""
    rows = side.rows
    key = _joint_key(rows, rows.file, rows.row_label) if side.kind == VALUED else None
    # No two rows of a class begin at once: found much faster than the order of all.
    if key is not None and ((key[1:] > key[:-1]).all() or len(distinct(key)) == len(key)):
        return Found(np.zeros(0, dtype=np.intp))
    row, repeats = side.ordered.row, np.append(False, side.ordered.repeats)
    # The order is stable: the first of equal rows is also the first in the table.
    first = np.maximum.accumulate(np.where(repeats, 0, np.arange(len(row))))
    return Found(row[repeats], row[first[repeats]])


def overlapping(side: Side) -> Found:
    """Find rows that begin before one of their group has ended; the later one in the table."""
    ordered, before = side.ordered, side.longest
    overlaps = ordered.same & ~ordered.repeats & (ordered.onset[1:] < ordered.offset[before] - TICK / 2)
    pairs = np.stack((ordered.row[1:][overlaps], ordered.row[before[overlaps]]))
    group = "file" if side.rows.has_steps else "file and class"
    return Found(pairs.max(axis=0), pairs.min(axis=0), {"group": group})


def touching(side: Side) -> Found:
    """Find rows that begin at the end of the row before in their group, in a table without values."""
    row, touches = side.ordered.row, side.ordered.touching & (side.kind == EVENTS)
    return Found(row[1:][touches], row[:-1][touches])


def gaps(side: Side) -> Found:
    """Find rows of a wide table that begin after all before them have ended."""
    ordered, ends = side.ordered, side.ordered.offset[side.longest]
    late = ordered.same & (ordered.onset[1:] > ends + TICK / 2) & side.rows.has_steps
    return Found(ordered.row[1:][late], None, {"end": ends[late]})


def early_ends(side: Side) -> Found:
    """Find the last rows of recordings of a wide table that end before these do by more than a time step."""
    rows, step = side.rows, np.full(len(side.last), TICK)
    np.maximum.at(step, rows.file, rows.offset - rows.onset)
    early = (side.last > 0) & (side.last < side.expected - step) & rows.has_steps
    # The first of several rows that end last.
    at_end = np.flatnonzero((rows.offset == side.last[rows.file]) & early[rows.file])
    files, first = np.unique(rows.file[at_end], return_index=True)
    return Found(at_end[first], None, {"length": side.expected[files]})


def after_end(side: Side) -> Found:
    """Find rows that end after their recording does.

    The last row of a table of time steps may extend beyond the end.
    """
    rows, late = side.rows, side.after(side.whole)
    end = side.whole[rows.file[late]]
    if len(late) and rows.has_values:
        length, step = rows.offset - rows.onset, np.zeros(len(side.whole))
        inside = np.delete(np.arange(len(rows)), late)
        np.maximum.at(step, rows.file[inside], length[inside])
        goes_on = (rows.onset[late] < end - TICK / 2) & (length[late] <= step[rows.file[late]] + TICK)
        late, end = late[~goes_on], end[~goes_on]
    return Found(late, None, {"length": end})


def after_reference(side: Side) -> Found:
    """Find rows that end after the last offset of the reference, if no duration is known."""
    late = side.after(side.assumed)
    return Found(late, None, {"length": side.assumed[side.rows.file[late]]})


def last_row(side: Side) -> Found:
    """Find the row that ends last, the first of several."""
    return Found(np.argmax(side.rows.offset, keepdims=True))


class Check(NamedTuple):
    """One check of the rows of a table.

    find: Function that finds the rows. column: Role of the wrong column. placed: Message of `validate` about
    a row, with its times and the facts of the check. counted: Message of `evaluate` about `n` of `total` rows
    or recordings (`noun`), or about all rows. mend: The advice. kinds: Kinds of tables for which `evaluate`
    reports the finding; in other kinds it is natural.
    """

    find: Callable[[Side], Found]
    column: str
    placed: str
    counted: str
    mend: str = ""
    kinds: tuple[str, ...] = (EVENTS, VALUED, STEPS, "")
    noun: str = "row"

    def message(self, n: int, total: int, facts: Mapping[str, Any]) -> str:
        """Return the message of `evaluate` about n rows or recordings, with the advice."""
        facts = {"n": n, "total": f"of {total:,} {self.noun}{'s' * (total != 1)}", **facts}
        return "; ".join(filter(None, (self.counted.format(**facts), self.mend.format(**facts))))


CHECKS = {
    "time-unit": Check(
        last_row, "offset", "ends at {offset:.6g} s; {unit}",
        "{unit}; the last row ends at {offset:.6g}, which was read as seconds",
        "write seconds; if they are seconds, give durations",
    ),
    "after-end": Check(
        after_end, "offset",
        "ends at {offset:.6g} s, after the recording, which is {length:.6g} s long{likewise}",
        "rows that end after their recording: {n:,}, by {seconds:.6g} s at most",
        "segments after the end are not evaluated",
    ),
    "after-reference": Check(
        after_reference, "offset",
        "ends at {offset:.6g} s, after the reference's last offset, {length:.6g} s{likewise}",
        "rows that end after the reference's last offset in their file, assumed to be its end: {n:,}, by "
        "{seconds:.6g} s at most",
        "later segments can only be false alarms; --durations gives lengths of files",
    ),
    "zero-length": Check(
        zero_length, "offset", "begins and ends at {onset:.6g} s",
        "onset and offset are equal in {n:,} {total}", "write when each event ends",
    ),
    "duplicate-row": Check(
        duplicates, "onset", "has file, class and times of line {line}",
        "file, class and times repeat those of another row in {n:,} {total}",
        "are several outputs, views or annotators in one table? Keep one of each", (EVENTS, VALUED, STEPS),
    ),
    "overlapping-rows": Check(
        overlapping, "onset",
        "overlaps line {line} of the same {group}: {onset:.6g} to {offset:.6g} s",
        "another event of the same file and class is still going on at the onset of {n:,} {total}",
        "are several recordings or outputs in one? Name the file of each row; --set events=rows if each is a "
        "detection", (EVENTS,),
    ),
    "touching-rows": Check(
        touching, "onset", "begins where line {line} ends{likewise}", kinds=(EVENTS,),
        counted="{n:,} {total} begin where another of their class ends: each row counts as an event",
    ),
    "gap": Check(
        gaps, "onset", "there are no rows from {end:.6g} to {onset:.6g} s",
        "there is a gap in the wide table before {n:,} {total}", "write a row for all times", (STEPS,),
    ),
    "early-end": Check(
        early_ends, "offset",
        "its last row ends at {offset:.6g} s, the recording at {length:.6g} s",
        "a wide table ends before {n:,} {total} do",
        "are the time steps as long as the table says? Write rows up to the end", (STEPS,), "recording",
    ),
}  # fmt: skip
"""Checks by code, in the order of the messages: first checks of times, then checks of counts."""


def are_steps(counts: tuple[int, ...]) -> bool:
    """Return whether rows are time steps by their `step_counts`: most begin at the end of the row before.

    Touching rows of one length are also on one grid.
    """
    return 2 * counts[1] > counts[0]


# Statistics.

LATE = ("after-end", "after-reference")
BY_LENGTH = (*LATE, "early-end")
"""Checks of rows that are meaningless if times are in another unit."""

_NOT_BY_SHARE = ("time-unit", *LATE, "touching-rows")
"""Checks that more is known of than how many rows they find."""


@dataclass(frozen=True, slots=True)
class RowStatistics:
    """Statistics of the rows of one side, or of some of its recordings, that show how the rows were read.

    names: Names of the tables. rows, files: Number of rows, and of files with a row. multiple: 60 if all
    times are whole minutes, 1 if they are whole numbers, else 0. lasting: Rows as long as counts of frames or
    milliseconds, if times are whole. compared: Number of recordings whose end is compared with their expected
    length. powers, highest: Sum and maximum of 1000 log10 of the ratios, each rounded. exact: Number of those
    with a duration. last: The latest offset. late: Number of rows that end well after their recording of
    known length. counts: Number of rows, or recordings, that each check finds. excess: Seconds by which rows
    end late at the most, by check.
    """

    names: tuple[str, ...] = ()
    rows: int = 0
    files: int = 0
    multiple: int = _MINUTE
    lasting: int = 0
    compared: int = 0
    powers: int = 0
    highest: int = -_MOST
    exact: int = 0
    last: float = 0.0
    late: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    excess: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, side: Side) -> RowStatistics:
        """Return the statistics of all rows of some recordings.

        The times of arrays are our own: of these only late rows are counted.
        """
        rows, lengths, last = side.rows, side.expected, side.last
        names = (rows.origin.name,)
        if not len(rows):
            return cls(names)
        is_array = rows.origin.shape is not None
        found = {
            code: check.find(side)
            for code, check in sorted(CHECKS.items())
            if code in LATE or (code != "time-unit" and side.kind in check.kinds and not is_array)
        }
        # In order, and without zeros, like the sums of parts.
        counts = {code: len(each.rows) for code, each in found.items() if len(each.rows)}
        excess = {
            code: float(np.max(rows.offset[found[code].rows] - found[code].facts["length"]))
            for code in LATE
            if code in counts
        }
        if is_array:
            return cls(names, counts=counts, excess=excess)
        compared = (lengths > 0) & (last > 0)
        ratios = np.log10(last[compared]) - np.log10(lengths[compared])
        powers = np.rint(_DIGITS * np.clip(ratios, -_FARTHEST, _FARTHEST)).astype(np.int64)
        times = rows.onset, rows.offset
        multiple = 1 if any(np.any(column % _MINUTE) for column in times) else _MINUTE
        multiple *= all(np.array_equal(column, np.floor(column)) for column in times)
        return cls(
            names,
            len(rows),
            int(np.count_nonzero(last > 0)),
            multiple,
            int(np.count_nonzero(rows.offset - rows.onset >= _TYPICAL)) if multiple else 0,
            len(powers),
            int(powers.sum()),
            int(powers.max(initial=-_MOST)),
            int(np.count_nonzero(np.isfinite(side.whole[compared]))),
            float(last.max()),
            _well_after(side, found["after-end"]) if "after-end" in counts and side.kind != STEPS else 0,
            counts,
            excess,
        )

    @staticmethod
    def merge(parts: Sequence[RowStatistics]) -> RowStatistics:
        """Return the statistics of all recordings of some parts, at least one, whatever their order."""
        columns = {name: [getattr(part, name) for part in parts] for name in RowStatistics.__slots__}
        return RowStatistics(**{name: _MERGED.get(name, sum)(column) for name, column in columns.items()})

    @property
    def possible(self) -> bool:
        """Whether statistics read from a file could be those of a table."""
        numbers = self.rows, self.files, self.lasting, self.compared, self.exact, self.last, self.late
        by_check = *self.counts.values(), *self.excess.values()
        sound = all(0 <= number <= _MOST for number in (*numbers, *by_check))
        return sound and abs(self.powers) <= _FARTHEST * _DIGITS * self.compared

    def called(self, role: str) -> str:
        """Return the names of the tables, the first few if there are many; the role without names."""
        names = self.names or (f"the {role}",)
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        return ", ".join(names[:_NAMED]) + more

    def unit(self) -> dict[str, Any]:
        """Return the facts of the message that times are not in seconds; nothing if they seem to be."""
        known, unit = 0 < self.compared == self.exact, ""
        # Ratios of all recordings alike are the ratio of two units: their geometric mean.
        mean = self.powers / self.compared / _DIGITS if self.compared else 0.0
        if mean >= _FACTOR:
            unit = (
                f"recordings end {float(f'{10**mean:.3g}'):,g} times as late as in the reference "
                "or the durations: these times could be milliseconds, frames or samples, or those minutes"
            )
        elif (
            self.compared
            and self.highest <= -_FACTOR * _DIGITS
            and (self.compared > 1 or self.rows >= FEW_ROWS)
        ):
            unit = (
                f"recordings end at {10**mean:.2g} of the times in the reference or the durations: these "
                "times could be minutes, or those milliseconds or frames"
            )
        is_of_minutes = self.multiple == _MINUTE and self.last <= _DAY
        is_long = 2 * self.lasting > self.rows and self.last >= _LONG
        if not unit and self.multiple and is_long and not (known or is_of_minutes):
            unit = (
                f"all times are whole numbers, and most rows have {_TYPICAL:g} of them or more: these could "
                "be milliseconds or frames"
            )
        return {"unit": unit, "offset": self.last} if unit else {}

    def doubts(self, role: str) -> Iterator[str]:
        """Yield a line for each reason to think that a table is misread; role: the side of the table."""
        unit = self.unit()
        for code, check in CHECKS.items():
            n, total = self.counts.get(code, 0), self.files if check.noun == "recording" else self.rows
            by_share = code not in _NOT_BY_SHARE and n and n >= (RULES[code].misread or 0) * total
            is_late = code == "after-reference" or (code == "after-end" and self.late)
            if by_share or (unit if code == "time-unit" else n and is_late and not unit):
                yield self.line(role, code, n, total)

    def notes(self, role: str) -> Iterator[str]:
        """Yield how many rows end hardly after their recording, unless the unit of times explains it."""
        if "after-end" in self.counts and not self.late and not self.unit():
            yield self.line(role, "after-end", self.counts["after-end"], self.rows)

    def line(self, role: str, code: str, n: int, total: int) -> str:
        """Return the message of a check that finds n of `total` rows or recordings."""
        facts = {"seconds": self.excess.get(code), **self.unit()}
        return f"{self.called(role)}: {CHECKS[code].message(n, total, facts)} ({code})"


def _well_after(side: Side, late: Found) -> int:
    """Return how many late rows begin after the end of their recording, or end by a share of it later.

    Frames of a window go on after the end of what they were made of.
    """
    onset, offset = side.rows.onset[late.rows], side.rows.offset[late.rows]
    end = late.facts["length"]
    return int(np.count_nonzero((onset >= end - TICK / 2) | (offset > (1 + _OVERHANG) * end)))


_MERGED: Mapping[str, Callable[[list[Any]], Any]] = {
    "names": lambda parts: tuple(sorted({name for names in parts for name in names})),
    "multiple": min,
    "highest": max,
    "last": max,
    "counts": lambda parts: dict(sorted(sum(map(Counter, parts), Counter()).items())),
    "excess": lambda parts: {
        code: max(seconds) for code in LATE if (seconds := [part[code] for part in parts if code in part])
    },
}
"""Functions that merge statistics of parts; fields not listed are added up."""
