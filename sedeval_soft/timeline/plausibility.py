"""What of the rows of a table tells that they are probably read as something else than was meant.

Times in milliseconds, rows beyond their recording, a table whose rows stand in it twice: all of these can be
scored, and the score says nothing. `RowStatistics` are what such doubts need: those of batches of whole
recordings add up to those of all recordings at once. Which kinds of problems are doubts, and from how many
rows on, is said in `codes`. `validate` looks for the same with the functions below, and tells single rows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.errors import counted
from sedeval_soft.names import folded
from sedeval_soft.tables.event_table import UNNAMED, EventTable, enter_maxima
from sedeval_soft.tables.problem_codes import RULES
from sedeval_soft.timeline.ranges import STRETCH, stretches

Index = npt.NDArray[np.intp]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

TICK = 1e-6
"""Seconds: times are scored as whole numbers of them, so that those closer than half of one are the same."""

DAY = 86_400.0

_FACTOR = 20.0
"""How far the ends of recordings may differ before their units must."""

_TYPICAL = 50.0
"""Seconds: where all times are whole numbers and half of the rows are as long as this, they are frames."""

_MINUTE = 60.0
"""Seconds: whole numbers that are all multiples of this are seconds of a grid of minutes."""

_BINS = 1000
"""Ratios are counted in bins of so many for a factor of ten: their median is known to about 0.1 %."""

_OVERHANG = 0.05
"""Share of a recording by which a row that begins in it may end after it, in a table that was read right: a
frame of a system, a slip of an annotator, lengths that were rounded."""

_FEW_ROWS = 10
"""Fewer rows than this may all stand at the beginning of their only recording."""

_UNKNOWN = 0.1
"""How much the end of a recording weighs of which nothing is known, where one that is too late is named."""

_MOST, _FARTHEST = 2**53, 20
"""No count or time is above the one, no ratio of lengths is told above ten to the other."""

_NAMED = 3
"""Tables, or pairs of names, that a message names."""

_ARRAY = "array of "
"""How the form of data begins that has no times of its own."""

_DECIMAL = re.compile(r"\s*[+-]?(\d+\.\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class PlacedRow:
    """A row that a message names.

    event_label: its class, nothing for the row of a wide table. length: of its recording as far as that is
    known, else 0. All times in seconds.
    """

    file: str
    event_label: str
    onset: float
    offset: float
    length: float

    @property
    def weight(self) -> float:
        """Return how much its end tells."""
        return self.offset if self.length > 0 else self.offset * _UNKNOWN

    def __str__(self) -> str:
        """Return the row in words."""
        what = f"the row of {self.event_label!r}" if self.event_label else "the row"
        where = f" in {self.file!r}" if self.file != UNNAMED else ""
        return f"{what} from {self.onset:.6g} to {self.offset:.6g} s{where}"


@dataclass(frozen=True, slots=True)
class RowStatistics:
    """What the rows of one side, or of some of its recordings, tell of how they were read.

    names: of the tables. rows; files: with a row. whole: whether all times are whole numbers; minutes: of
    minutes, even. lasting: rows as long as those that count frames or milliseconds, where times are whole.
    last: the latest offset. ratios: how often recordings end at so many times the length that they should
    have, as pairs of 1000 log10 of the ratio, rounded, and a count. exact: how many of the ratios are of
    given durations. longest: the greatest length that a recording should have.
    zero_length: rows that end where they begin. repeated: rows with file, class and times of the row before,
    in order of time. overlapping: other rows of events that begin before the one before has ended. gaps: rows
    of a wide table that begin after it has.
    early: recordings that a wide table ends before the end of. after_end: rows that end well after the end of
    their recording, where that is known, see `rows_well_after_end`; beyond: the one that does so by most.
    over_day: recordings that are longer than a day, and were not said to be. latest: the row that ends
    last in one of these, or in one that ends many times later than it should.
    """

    names: tuple[str, ...] = ()
    rows: int = 0
    files: int = 0
    whole: bool = True
    minutes: bool = True
    lasting: int = 0
    last: float = 0.0
    ratios: tuple[tuple[int, int], ...] = ()
    exact: int = 0
    longest: float = 0.0
    zero_length: int = 0
    repeated: int = 0
    overlapping: int = 0
    gaps: int = 0
    early: int = 0
    after_end: int = 0
    over_day: int = 0
    beyond: PlacedRow | None = None
    latest: PlacedRow | None = None

    @classmethod
    def of(
        cls,
        rows: EventTable,
        expected: Floats | None = None,
        whole: Floats | None = None,
        last: Floats | None = None,
    ) -> RowStatistics:
        """Return the statistics of some recordings, all rows of each.

        expected: (n_files,) how long the recordings of the table are at least, in seconds, 0 where nothing is
        known. whole: (n_files,) how long exactly, infinite where that is not known. last: (n_files,) the last
        offsets, where they are at hand.
        """
        name = (rows.origin.name,)
        if not len(rows):
            return cls(name, longest=float(expected.max(initial=0.0)) if expected is not None else 0.0)
        n_files = len(rows.files)
        compared = np.full(n_files, expected is not None)
        expected = np.zeros(n_files) if expected is None else expected
        whole = np.full(n_files, np.inf) if whole is None else whole
        last = last_offsets(rows) if last is None else last
        integers, minutes, lasting, zero_length = _of_times_alone(rows)
        both = (expected > 0) & (last > 0)
        powers = np.clip(np.log10(last[both]) - np.log10(expected[both]), -_FARTHEST, _FARTHEST)
        bins = np.rint(_BINS * powers).astype(np.int64)
        over_day = (last > DAY) & ~np.isfinite(whole)
        late = over_day | (compared & (last > 0) & (last >= _FACTOR * expected))
        beyond = rows_well_after_end(rows, last, whole)
        found = cls(
            name,
            rows=len(rows),
            files=int(np.count_nonzero(last > 0)),
            whole=integers,
            minutes=minutes,
            lasting=lasting,
            last=float(last.max()),
            ratios=_counts(bins),
            exact=int(np.count_nonzero(np.isfinite(whole[both]))),
            longest=float(expected.max()),
            zero_length=zero_length,
            early=len(files_ended_early(rows, last, expected)),
            after_end=len(beyond),
            over_day=int(np.count_nonzero(over_day)),
            beyond=_furthest(rows, beyond, expected) if len(beyond) else None,
            latest=_latest(rows, last, late, expected) if late.any() else None,
        )
        # At each threshold of an operating point events are there again.
        if rows.born is not None:
            return found
        repeated, overlapping, gaps = _of_neighbours(rows)
        return replace(found, repeated=repeated, overlapping=overlapping, gaps=gaps)

    @staticmethod
    def merge(parts: Iterable[RowStatistics]) -> RowStatistics:
        """Return the statistics of all recordings of some parts, whatever their order."""
        parts = list(parts)
        sums = (
            *("rows", "files", "lasting", "exact", "zero_length", "repeated", "overlapping", "gaps"),
            *("early", "after_end", "over_day"),
        )
        ratios: Counter[int] = Counter()
        for part in parts:
            ratios.update(dict(part.ratios))
        values: dict[str, Any] = {name: sum(getattr(part, name) for part in parts) for name in sums}
        values |= {name: all(getattr(part, name) for part in parts) for name in ("whole", "minutes")}
        values |= {
            name: max((getattr(part, name) for part in parts), default=0.0) for name in ("last", "longest")
        }
        if not values["whole"]:
            values["lasting"] = 0
        beyond = [part.beyond for part in parts if part.beyond is not None]
        latest = [part.latest for part in parts if part.latest is not None]
        return RowStatistics(
            names=tuple(sorted({name for part in parts for name in part.names})),
            ratios=tuple(sorted(ratios.items())),
            beyond=min(beyond, key=lambda row: (row.length - row.offset, row.file), default=None),
            latest=min(latest, key=lambda row: (-row.weight, row.file), default=None),
            **values,
        )

    def fault(self) -> str | None:
        """Return what is impossible in statistics that were read from a file, None where nothing is."""
        for name in self.__slots__:
            value = getattr(self, name)
            if isinstance(value, int | float) and not 0 <= value <= _MOST:
                return f"{name} {value}"
        for place, number in self.ratios:
            if abs(place) > _FARTHEST * _BINS or not 0 < number <= _MOST:
                return f"ratios {place} {number}"
        for row in (self.beyond, self.latest):
            if row is not None and not all(0 <= s <= _MOST for s in (row.onset, row.offset, row.length)):
                return f"a row {row}"
        return None

    def called(self, role: str) -> str:
        """Return the names of the tables, of many the first few; the role where there is none."""
        names = self.names or (f"the {role}",)
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        return ", ".join(names[:_NAMED]) + more

    def ratio(self) -> tuple[float, float] | None:
        """Return the median of ratios, the lower one of two, and the greatest; None where none is known."""
        if not self.ratios:
            return None
        bins, counts = np.array(self.ratios).T
        ends = np.cumsum(counts)
        median = float(bins[np.searchsorted(ends, (ends[-1] - 1) // 2, side="right")])
        return 10 ** (median / _BINS), 10 ** (float(bins[-1]) / _BINS)

    def is_late(self) -> bool:
        """Return whether `latest` ends too late for its recording, which it is not known to be longer than.

        It ends many times later than its own one already, if anything is known of that.
        """
        if self.latest is None or self.after_end or not self.longest:
            return False
        return self.latest.offset >= (2 if self.latest.length else _FACTOR) * self.longest

    def unit(self, than: str = "expected", other: str = "") -> str | None:
        """Return why times seem to be in another unit than seconds, None where they do not.

        than: what recordings are compared with, in words; other: the table, if it could be wrong as well.
        """
        found = self.ratio()
        if found is not None:
            ratio, most = found
            low = 10 ** (-round(_BINS * np.log10(_FACTOR)) / _BINS)
            if ratio >= 1 / low:
                theirs = f", or those of {other} in minutes" if other else ""
                said = f"recordings end {_times(ratio)} times as late as {than}: times could be "
                return f"{said}{_unit(ratio)}{theirs}"
            if most <= low and (sum(count for _, count in self.ratios) > 1 or self.rows >= _FEW_ROWS):
                theirs = f", or those of {other} in milliseconds or frames" if other else ""
                said = f"recordings end at {most:.2g} of their length at the latest: times could be minutes"
                return said + theirs
            if self.exact and self.exact == sum(count for _, count in self.ratios):
                # Seconds, as they fit the durations.
                return None
        if (
            not self.whole
            or (self.minutes and self.last <= DAY)
            or 2 * self.lasting <= self.rows
            or self.last < _FACTOR * _TYPICAL
        ):
            return None
        return (
            f"all times are whole numbers, and most rows have {_TYPICAL:g} of them or more: these could be "
            "milliseconds or frames"
        )


@dataclass(frozen=True, slots=True)
class Ordered:
    """Rows by group (file and class; the file in a wide table) and onset.

    row: (n,) where each stands in the table. same: (n - 1,) whether it is of the group of the one before it.
    """

    row: Index
    onset: Floats
    offset: Floats
    same: Bools

    @classmethod
    def of(cls, rows: EventTable, order: Index, group: npt.NDArray[np.int64]) -> Ordered:
        """Take rows in an order."""
        ordered = group[order]
        return cls(order, rows.onset[order], rows.offset[order], ordered[1:] == ordered[:-1])

    @property
    def overlaps(self) -> Bools:
        """Return whether each row but the first begins before the one before it has ended, (n - 1,)."""
        return self.same & (self.onset[1:] < self.offset[:-1] - TICK / 2)

    @property
    def gaps(self) -> Bools:
        """Return whether each row but the first begins after the one before it has ended, (n - 1,)."""
        return self.same & (self.onset[1:] > self.offset[:-1] + TICK / 2)

    @property
    def repeats(self) -> Bools:
        """Return whether each row but the first has the times of the one before it, (n - 1,)."""
        repeats: Bools = self.same & (self.onset[1:] == self.onset[:-1])
        repeats &= self.offset[1:] == self.offset[:-1]
        return repeats


def in_order(rows: EventTable, group: npt.NDArray[np.int64]) -> Ordered:
    """Return rows by group and onset; those with the same tick are in the order of the table."""
    key = _key(rows, group)
    # One number is sorted in a tenth of the time of two, where rows are nearly in order.
    order = np.lexsort((rows.onset, group)) if key is None else np.argsort(key, kind="stable")
    return Ordered.of(rows, order, group)


def _key(rows: EventTable, group: npt.NDArray[np.int64]) -> npt.NDArray[np.int64] | None:
    """Return a number for each row that is in order of group and tick of the onset; None if none is."""
    ticks = np.rint(rows.onset * (1 / TICK))
    last = float(ticks.max()) + 1
    if (float(group.max()) + 1) * last >= _MOST:
        return None
    return group * int(last) + ticks.astype(np.int64)


def last_offsets(rows: EventTable) -> Floats:
    """Return the last offset of each file of a table, 0 where it has no row."""
    last = np.zeros(len(rows.files))
    enter_maxima(last, rows.file, rows.offset)
    return last


def rows_after_end(rows: EventTable, last: Floats, whole: Floats) -> Index:
    """Return the rows that end after their recording does, in order.

    last, whole: (n_files,) the last offsets, and how long recordings are, infinite where that is not known.
    The last time step of a table of them may reach over the end.
    """
    late = last > whole + TICK / 2
    if not late.any():
        return np.zeros(0, dtype=np.intp)
    at = np.flatnonzero(late[rows.file])
    at = at[rows.offset[at] > whole[rows.file[at]] + TICK / 2]
    if not rows.has_values:
        return at
    inside = rows.offset <= whole[rows.file] + TICK / 2
    step = np.zeros(len(last))
    enter_maxima(step, rows.file[inside], (rows.offset - rows.onset)[inside])
    file = rows.file[at]
    begins_inside = rows.onset[at] < whole[file] - TICK / 2
    return at[~begins_inside | (rows.offset[at] - rows.onset[at] > step[file] + TICK)]


def rows_well_after_end(rows: EventTable, last: Floats, whole: Floats) -> Index:
    """Return those of these rows that begin after the end too, or end so late that they may be misread."""
    at = rows_after_end(rows, last, whole)
    end = whole[rows.file[at]]
    return at[(rows.onset[at] >= end - TICK / 2) | (rows.offset[at] > (1 + _OVERHANG) * end)]


def files_ended_early(rows: EventTable, last: Floats, expected: Floats) -> Index:
    """Return the files of a wide table that it ends before the end of, by more than a time step.

    last, expected: (n_files,) the last offsets, and how long recordings are at least, 0 where unknown.
    """
    if not rows.has_steps or not (last < expected).any():
        return np.zeros(0, dtype=np.intp)
    step = np.zeros(len(last))
    enter_maxima(step, rows.file, rows.offset - rows.onset)
    return np.flatnonzero((last > 0) & (last < expected - np.maximum(step, TICK)))


def decimal_files(rows: EventTable, *, has_header: bool) -> str | None:
    """Return what is said of a table whose file names are all decimal numbers, None of all others.

    Where a header names the column, its author has said what it is.
    """
    if has_header or not rows.files or not all(map(_DECIMAL.fullmatch, rows.files)):
        return None
    return "all file names are decimal numbers: these could be onset, offset, value and label"


def decimal_doubts(rows: EventTable) -> list[str]:
    """Return a line for a table whose file names are decimal numbers."""
    said = decimal_files(rows, has_header="without header" not in rows.origin.form)
    return [] if said is None else [f"{said}; name the columns in a header (swapped-columns)"]


def similar_names(names: Iterable[str]) -> dict[str, str]:
    """Return names that differ from an earlier one in case, blanks, `-` and `_` only, with that one."""
    by_look: dict[str, str] = {}
    return {name: other for name in names if (other := by_look.setdefault(folded(name), name)) != name}


def are_swapped(
    files: Iterable[str], classes: Iterable[str], reference_files: Iterable[str], known: Iterable[str]
) -> bool:
    """Return whether files stand where classes belong, and classes where files do.

    files, classes: of a table; reference_files, known: files and classes of the reference.
    """
    theirs, labels, files, classes = {*reference_files}, {*known}, {*files}, {*classes}
    return bool(theirs & classes and labels & files and not theirs & files)


def tables_read(
    reference: EventTable, system: EventTable, durations: Mapping[int, float], last: Mapping[str, Floats]
) -> dict[str, RowStatistics]:
    """Return the statistics of both sides by role, of those that are tables: times of arrays are our own.

    reference, system: of the same files. durations: seconds by the code of a file, where they are given.
    last: (n_files,) by role the last offsets, in seconds.
    """
    whole = np.full(len(reference.files), np.inf)
    whole[list(durations)] = list(durations.values())
    given = np.where(np.isfinite(whole), whole, 0.0)
    expected = {"reference": given, "system": np.where(given > 0, given, last["reference"])}
    sides = {"reference": reference, "system": system}
    return {
        role: RowStatistics.of(
            rows, expected[role] if role == "system" or durations else None, whole, last[role]
        )
        for role, rows in sides.items()
        if not rows.origin.form.startswith(_ARRAY)
    }


def doubts(sides: Mapping[str, RowStatistics]) -> list[str]:
    """Return a line for each reason to think that a table is misread; sides: the statistics by role."""
    said = []
    for role, own in sides.items():
        name = own.called(role)
        other = sides["reference"].called("reference") if "reference" in sides else "the reference"
        lines = [*_of_times(own, role, other), *_of_shares(own)]
        said += [f"{name}: {text}; {mend} ({code})" for code, text, mend in lines]
    return said


def _of_times(own: RowStatistics, role: str, other: str) -> list[tuple[str, str, str]]:
    """Return the code of each doubt of times, what is said, and what can be done about it."""
    exact = role == "reference" or bool(own.ratios and own.exact == sum(n for _, n in own.ratios))
    unit = own.unit("their durations" if exact else f"in {other}", "" if exact else other)
    if unit is not None:
        found = own.ratio()
        milli = found is not None and _unit(found[0]) == "milliseconds" and found[0] > 1
        mend = "divide them by 1000" if milli else "write seconds"
        given = "" if exact and own.ratios else ", or give durations if they are seconds"
        said = f"{unit}; the last row ends at {own.last:.6g}, which was taken for seconds"
        return [("time-unit", said, f"{mend}{given}")]
    lines = []
    latest = own.latest
    if own.over_day:
        days = f"a recording would be {own.last / DAY:.3g} days long: its last row ends at {own.last:.6g} s"
        lines.append(("long-recording", days, "write seconds, or give durations if it is so long"))
    elif latest is not None and own.is_late():
        end = latest.length or own.longest
        ends = f"{latest} ends {_times(latest.offset / end)} times as late as "
        ends += "its recording" if latest.length else "any recording"
        said = f"{ends} in {other}, which ends at {end:.6g} s"
        lines.append(("after-end", said, "correct its times if they are not seconds, or give durations"))
    if own.after_end and own.beyond is not None:
        rows = "row ends after its" if own.after_end == 1 else "rows end after their"
        said = f"{own.after_end:,} {rows} recording does: {own.beyond}, which has {own.beyond.length:.6g} s"
        lines.append(("after-end", said, "correct the times: segments after the end are not evaluated"))
    return lines


def _of_shares(own: RowStatistics) -> list[tuple[str, str, str]]:
    """Return the same of what is a doubt where it is so of many rows."""
    rows, recordings = f"of {counted(own.rows, 'row')}", f"of {counted(own.files, 'recording')}"
    seen = (
        ("zero-length", own.zero_length, own.rows,
         f"onset and offset are equal in {own.zero_length:,} {rows}", "write when each event ends"),
        ("duplicate-row", own.repeated, own.rows,
         f"file, class and times are those of another row in {own.repeated:,} {rows}",
         "are several outputs, views or annotators in one table? Keep one of each"),
        ("overlapping-rows", own.overlapping, own.rows,
         f"another event of the same file and class goes on at the onset of {own.overlapping:,} {rows}",
         "are several recordings or outputs in one? Name the file of each row"),
        ("gap", own.gaps, own.rows, f"a wide table leaves a gap before {own.gaps:,} {rows}",
         "write a row for all times"),
        ("early-end", own.early, own.files, f"a wide table ends before {own.early:,} {recordings} do",
         "are the time steps as long as they are said to be? Write rows up to the end"),
    )  # fmt: skip
    lines = []
    for code, number, of, said, mend in seen:
        share = RULES[code].misread
        if share is not None and number and number >= share * of:
            lines.append((code, said, mend))
    return lines


def _times(ratio: float) -> str:
    """Return a ratio as it is told: three digits of it."""
    return f"{float(f'{ratio:.3g}'):,g}" if ratio < 1e6 else f"{ratio:.3g}"


def _unit(ratio: float) -> str:
    if 500 <= ratio <= 2000:
        return "milliseconds"
    return "frames or samples, or milliseconds"


def _of_times_alone(rows: EventTable) -> tuple[bool, bool, int, int]:
    """Return what `RowStatistics` has of times alone: whole, minutes, lasting and zero_length."""
    whole, minutes, lasting, zero_length = True, True, 0, 0
    for part in stretches(len(rows)):
        times = rows.onset[part], rows.offset[part]
        length = times[1] - times[0]
        zero_length += len(length) - int(np.count_nonzero(length))
        whole = whole and all(bool((t == np.floor(t)).all()) for t in times)
        minutes = minutes and whole and not any(bool((t % _MINUTE).any()) for t in times)
        lasting += int(np.count_nonzero(length >= _TYPICAL)) if whole else 0
    return whole, minutes and whole, lasting if whole else 0, zero_length


def _counts(bins: npt.NDArray[np.int64]) -> tuple[tuple[int, int], ...]:
    values, counts = np.unique(bins, return_counts=True)
    return tuple(zip(values.tolist(), counts.tolist(), strict=True))


def _of_neighbours(rows: EventTable) -> tuple[int, int, int]:
    """Return how many rows are repeated, overlapping, and behind a gap."""
    values, times = rows.has_values, replace(rows, values=())
    counts = [
        _neighbours_in(times.take(slice(begin, end)), values=values) for begin, end in _stretches(rows.file)
    ]
    repeated, overlapping, gaps = (sum(column) for column in zip(*counts, strict=True))
    return repeated, overlapping, gaps


def _stretches(file: npt.NDArray[np.int32]) -> list[tuple[int, int]]:
    """Return where stretches of whole recordings begin and end: short enough for the processor's cache.

    There is one where the rows of a recording do not stand together.
    """
    if len(file) <= STRETCH:
        return [(0, len(file))]
    heads = np.flatnonzero(file[1:] != file[:-1]) + 1
    if len(np.unique(np.append(file[:1], file[heads]))) <= len(heads):
        return [(0, len(file))]
    wanted = np.arange(STRETCH, len(file), STRETCH)
    at = np.searchsorted(heads, wanted)
    cuts = [0, *np.unique(heads[at[at < len(heads)]]).tolist(), len(file)]
    return list(pairwise(cuts))


def _neighbours_in(rows: EventTable, *, values: bool) -> tuple[int, int, int]:
    """Return what `_of_neighbours` does; values: whether these are rows with values."""
    group = rows.groups()
    if values and rows.label is not None:
        # Of a table of values only repeated rows tell anything; mostly all of them begin at another time,
        # and stand in order of time or of class.
        key = _key(rows, rows.file.astype(np.int64))
        if key is not None and float(key.max()) * len(rows.classes) < _MOST:
            key *= len(rows.classes)
            key += rows.label
            if bool((key[1:] > key[:-1]).all()):
                return 0, 0, 0
        key = _key(rows, group)
        if key is not None and not _has_equal(key):
            return 0, 0, 0
    ordered = in_order(rows, group)
    repeats = ordered.repeats
    # Windows that slide are rows with values that overlap by nature.
    overlaps = np.zeros(0, dtype=bool) if values else ordered.overlaps & ~repeats
    gaps = ordered.gaps if rows.has_steps else np.zeros(0, dtype=bool)
    return int(np.count_nonzero(repeats)), int(np.count_nonzero(overlaps)), int(np.count_nonzero(gaps))


def _has_equal(numbers: npt.NDArray[np.int64]) -> bool:
    ordered = np.sort(numbers)
    return bool((ordered[1:] == ordered[:-1]).any())


def _furthest(rows: EventTable, at: Index, length: Floats) -> PlacedRow:
    """Return the row that ends furthest after its recording; at: of which. Ties go to the first file."""
    over = rows.offset[at] - length[rows.file[at]]
    return _placed(rows, at[over == over.max()], length)


def _latest(rows: EventTable, last: Floats, files: Bools, length: Floats) -> PlacedRow:
    """Return the row that ends last in some files, (n_files,) whether it is one. Ties go to the first."""
    weight = np.where(length > 0, last, last * _UNKNOWN)
    latest = int(np.argmax(np.where(files, weight, -1.0)))
    at = np.flatnonzero(rows.file == latest)
    return _placed(rows, at[rows.offset[at] == last[latest]], length)


def _placed(rows: EventTable, at: Index, length: Floats) -> PlacedRow:
    """Return the first of some rows by file, class and onset, whatever their order in the table."""
    label = np.zeros(len(at), dtype=np.int32) if rows.label is None else rows.label[at]
    row = int(at[np.lexsort((rows.onset[at], label, rows.file[at]))[0]])
    file = int(rows.file[row])
    return PlacedRow(
        rows.files[file],
        rows.class_of(row),
        float(rows.onset[row]),
        float(rows.offset[row]),
        float(length[file]),
    )
