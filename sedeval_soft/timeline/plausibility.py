"""What of the rows of a table tells that they are probably read as something else than was meant.

Times in milliseconds, rows beyond their recording, a table whose rows stand in it twice: all of these can be
scored, and the score says nothing. `RowStatistics` are what such doubts need: those of batches of whole
recordings add up to those of all recordings at once. Which kinds of problems are doubts, and from how many
rows on, is said in `codes`. `validate` looks for the same with the functions below, and names single rows.
"""

from __future__ import annotations

import math
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
from sedeval_soft.timeline.ranges import STRETCH

Index = npt.NDArray[np.intp]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Groups = npt.NDArray[np.int64]

TICK = 1e-6
"""Seconds: times are scored as whole numbers of them, so that those closer than half of one are the same."""

DAY = 86_400.0

_FACTOR = 20.0
"""How far the ends of recordings may differ before their units must."""

_BINS = 1000
"""Ratios are counted in bins of so many for a factor of ten: their median is known to about 0.1 %."""

_LOW = 10 ** (-round(_BINS * math.log10(_FACTOR)) / _BINS)
"""One part of so many, as a bin has it."""

_TYPICAL = 50.0
"""Seconds: where all times are whole numbers and half of the rows are as long as this, they are frames."""

_MINUTE = 60.0
"""Seconds: whole numbers that are all multiples of this are seconds of a grid of minutes."""

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

_SUMS = (
    *("rows", "files", "lasting", "exact", "zero_length", "repeated", "overlapping", "gaps"),
    *("early", "after_end", "over_day"),
)
"""What statistics of batches have that is added up."""


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
    their recording, where that is known: they begin after it, too, or end so late that they may be misread;
    beyond: the one that does so by most.
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
    def of(cls, rows: EventTable, expected: Floats | None, whole: Floats, last: Floats) -> RowStatistics:
        """Return the statistics of some recordings, all rows of each; all arrays (n_files,) in seconds.

        expected: how long the recordings of the table are at least, 0 where nothing is known; None where
        nothing could be known. whole: how long exactly, infinite where that is not known. last: the last
        offsets.
        """
        lengths = np.zeros(len(last)) if expected is None else expected
        names, longest = (rows.origin.name,), float(lengths.max(initial=0.0))
        if not len(rows):
            return cls(names, longest=longest)
        times = rows.onset, rows.offset
        whole_numbers = all(bool((t == np.floor(t)).all()) for t in times)
        compared = (lengths > 0) & (last > 0)
        powers = np.clip(np.log10(last[compared]) - np.log10(lengths[compared]), -_FARTHEST, _FARTHEST)
        bins, counts = np.unique(np.rint(_BINS * powers).astype(np.int64), return_counts=True)
        over_day = (last > DAY) & ~np.isfinite(whole)
        late = over_day if expected is None else over_day | ((last > 0) & (last >= _FACTOR * lengths))
        at = rows_after_end(rows, last, whole)
        end = whole[rows.file[at]]
        at = at[(rows.onset[at] >= end - TICK / 2) | (rows.offset[at] > (1 + _OVERHANG) * end)]
        beyond = latest = None
        if len(at):
            over = rows.offset[at] - lengths[rows.file[at]]
            beyond = _placed(rows, at[over == over.max()], lengths)
        if late.any():
            weight = _weight(last, lengths)
            file = int(np.argmax(np.where(late, weight, -1.0)))
            ends = np.flatnonzero((rows.file == file) & (rows.offset == last[file]))
            latest = _placed(rows, ends, lengths)
        return cls(
            names,
            len(rows),
            int(np.count_nonzero(last > 0)),
            whole=whole_numbers,
            minutes=whole_numbers and not any(bool((t % _MINUTE).any()) for t in times),
            lasting=int(np.count_nonzero(times[1] - times[0] >= _TYPICAL)) if whole_numbers else 0,
            **_count_neighbours(rows),
            last=float(last.max()),
            ratios=tuple(zip(bins.tolist(), counts.tolist(), strict=True)),
            exact=int(np.count_nonzero(np.isfinite(whole[compared]))),
            longest=longest,
            zero_length=int(np.count_nonzero(rows.onset == rows.offset)),
            early=len(files_ended_early(rows, last, lengths)),
            after_end=len(at),
            over_day=int(np.count_nonzero(over_day)),
            beyond=beyond,
            latest=latest,
        )

    @staticmethod
    def merge(parts: Iterable[RowStatistics]) -> RowStatistics:
        """Return the statistics of all recordings of some parts, whatever their order."""
        parts = list(parts)
        ratios: Counter[int] = Counter()
        for part in parts:
            ratios.update(dict(part.ratios))
        values: dict[str, Any] = {name: sum(getattr(part, name) for part in parts) for name in _SUMS}
        whole = all(part.whole for part in parts)
        beyond = (part.beyond for part in parts if part.beyond is not None)
        latest = (part.latest for part in parts if part.latest is not None)
        return RowStatistics(
            **values | ({} if whole else {"lasting": 0}),
            names=tuple(sorted({name for part in parts for name in part.names})),
            whole=whole,
            minutes=all(part.minutes for part in parts),
            last=max((part.last for part in parts), default=0.0),
            ratios=tuple(sorted(ratios.items())),
            longest=max((part.longest for part in parts), default=0.0),
            beyond=min(beyond, key=lambda row: (row.length - row.offset, row.file), default=None),
            latest=min(latest, key=lambda row: (-_weight(row.offset, row.length), row.file), default=None),
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

    @property
    def fits_durations(self) -> bool:
        """Whether all that recordings are compared with is given durations."""
        return bool(self.ratios) and self.exact == sum(count for _, count in self.ratios)

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
        ratio = self.ratio()
        if ratio is not None:
            median, most = ratio
            if median >= 1 / _LOW:
                theirs = f", or those of {other} in minutes" if other else ""
                unit = "milliseconds" if 500 <= median <= 2000 else "frames or samples, or milliseconds"
                times = f"recordings end {_times(median)} times as late as {than}"
                return f"{times}: times could be {unit}{theirs}"
            n_files = sum(count for _, count in self.ratios)
            if most <= _LOW and (n_files > 1 or self.rows >= _FEW_ROWS):
                theirs = f", or those of {other} in milliseconds or frames" if other else ""
                ends = f"recordings end at {most:.2g} of their length at the latest"
                return f"{ends}: times could be minutes{theirs}"
        is_of_minutes = self.minutes and self.last <= DAY
        is_long = 2 * self.lasting > self.rows and self.last >= _FACTOR * _TYPICAL
        if self.fits_durations or not self.whole or is_of_minutes or not is_long:
            return None
        return (
            f"all times are whole numbers, and most rows have {_TYPICAL:g} of them or more: these could be "
            "milliseconds or frames"
        )


def _times(ratio: float) -> str:
    """Return a ratio as it is told: three digits of it."""
    return f"{float(f'{ratio:.3g}'):,g}" if ratio < 1e6 else f"{ratio:.3g}"


def _weight(ends: Any, lengths: Any) -> Any:  # noqa: ANN401 - numbers or arrays of them
    """Return how much ends of recordings tell; lengths: as far as they are known, else 0."""
    return ends * np.where(lengths > 0, 1.0, _UNKNOWN)


def doubts(sides: Mapping[str, RowStatistics]) -> list[str]:
    """Return a line for each reason to think that a table is misread; sides: the statistics by role."""
    other = sides["reference"].called("reference") if "reference" in sides else "the reference"
    return [
        f"{side.called(role)}: {text}; {mend} ({code})"
        for role, side in sides.items()
        for code, text, mend in (*_doubts_of_times(side, role, other), *_doubts_of_many(side))
    ]


def _doubts_of_times(side: RowStatistics, role: str, other: str) -> list[tuple[str, str, str]]:
    """Return the code of each doubt of times, a text, and what can be done about it."""
    exact = role == "reference" or side.fits_durations
    unit = side.unit("their durations" if exact else f"in {other}", "" if exact else other)
    if unit is not None:
        ratio = side.ratio()
        is_milli = ratio is not None and 500 <= ratio[0] <= 2000
        mend = "divide them by 1000" if is_milli else "write seconds"
        mend += "" if exact and side.ratios else ", or give durations if they are seconds"
        text = f"{unit}; the last row ends at {side.last:.6g}, which was taken for seconds"
        return [("time-unit", text, mend)]
    lines = []
    latest = side.latest
    if side.over_day:
        days = f"a recording would be {side.last / DAY:.3g} days long: its last row ends at {side.last:.6g} s"
        lines.append(("long-recording", days, "write seconds, or give durations if it is so long"))
    elif latest is not None and side.is_late():
        end = latest.length or side.longest
        recording = "its recording" if latest.length else "any recording"
        times = f"{latest} ends {_times(latest.offset / end)} times as late as {recording} in {other}"
        mend = "correct its times if they are not seconds, or give durations"
        lines.append(("after-end", f"{times}, which ends at {end:.6g} s", mend))
    if side.after_end and side.beyond is not None:
        rows = "row ends after its" if side.after_end == 1 else "rows end after their"
        beyond = f"{side.beyond}, which has {side.beyond.length:.6g} s"
        text = f"{side.after_end:,} {rows} recording does: {beyond}"
        lines.append(("after-end", text, "correct the times: segments after the end are not evaluated"))
    return lines


def _doubts_of_many(side: RowStatistics) -> list[tuple[str, str, str]]:
    """Return the same of what is a doubt where it is so of many rows, or recordings."""
    rows, recordings = f"of {counted(side.rows, 'row')}", f"of {counted(side.files, 'recording')}"
    checks = (
        ("zero-length", side.zero_length, side.rows,
         f"onset and offset are equal in {side.zero_length:,} {rows}", "write when each event ends"),
        ("duplicate-row", side.repeated, side.rows,
         f"file, class and times are those of another row in {side.repeated:,} {rows}",
         "are several outputs, views or annotators in one table? Keep one of each"),
        ("overlapping-rows", side.overlapping, side.rows,
         f"another event of the same file and class goes on at the onset of {side.overlapping:,} {rows}",
         "are several recordings or outputs in one? Name the file of each row"),
        ("gap", side.gaps, side.rows, f"a wide table leaves a gap before {side.gaps:,} {rows}",
         "write a row for all times"),
        ("early-end", side.early, side.files, f"a wide table ends before {side.early:,} {recordings} do",
         "are the time steps as long as they are said to be? Write rows up to the end"),
    )  # fmt: skip
    lines = []
    for code, number, total, text, mend in checks:
        share = RULES[code].misread
        if share is not None and number and number >= share * total:
            lines.append((code, text, mend))
    return lines


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
    expected = {
        "reference": given if durations else None,
        "system": np.where(given > 0, given, last["reference"]),
    }
    return {
        role: RowStatistics.of(rows, expected[role], whole, last[role])
        for role, rows in (("reference", reference), ("system", system))
        if not rows.origin.form.startswith(_ARRAY)
    }


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
    if not (last > whole + TICK / 2).any():
        return np.zeros(0, dtype=np.intp)
    length = rows.offset - rows.onset
    late = rows.offset > whole[rows.file] + TICK / 2
    at = np.flatnonzero(late)
    if not rows.has_values:
        return at
    step = np.zeros(len(last))
    enter_maxima(step, rows.file[~late], length[~late])
    file = rows.file[at]
    begins_inside = rows.onset[at] < whole[file] - TICK / 2
    return at[~begins_inside | (length[at] > step[file] + TICK)]


def files_ended_early(rows: EventTable, last: Floats, expected: Floats) -> Index:
    """Return the files of a wide table that it ends before the end of, by more than a time step.

    last, expected: (n_files,) the last offsets, and how long recordings are at least, 0 where unknown.
    """
    if not rows.has_steps or not (last < expected).any():
        return np.zeros(0, dtype=np.intp)
    step = np.zeros(len(last))
    enter_maxima(step, rows.file, rows.offset - rows.onset)
    return np.flatnonzero((last > 0) & (last < expected - np.maximum(step, TICK)))


def _placed(rows: EventTable, at: Index, length: Floats) -> PlacedRow:
    """Return the first of some rows by file, class and onset, whatever their order in the table."""
    row = int(at[np.lexsort((rows.onset[at], rows.groups()[at]))[0]])
    file = int(rows.file[row])
    times = float(rows.onset[row]), float(rows.offset[row])
    return PlacedRow(rows.files[file], rows.class_of(row), *times, float(length[file]))


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
    def of(cls, rows: EventTable, order: Index, group: Groups) -> Ordered:
        """Take rows in an order."""
        ordered = group[order]
        return cls(order, rows.onset[order], rows.offset[order], ordered[1:] == ordered[:-1])

    @property
    def overlaps(self) -> Bools:
        """Return whether each row but the first begins before the one before it has ended, (n - 1,)."""
        return self.same & (self.onset[1:] < self.offset[:-1] - TICK / 2)

    @property
    def repeats(self) -> Bools:
        """Return whether each row but the first has the times of the one before it, (n - 1,)."""
        repeats: Bools = self.same & (self.onset[1:] == self.onset[:-1])
        repeats &= self.offset[1:] == self.offset[:-1]
        return repeats


def in_order(rows: EventTable, group: Groups) -> Ordered:
    """Return rows by group and onset; those with the same tick are in the order of the table."""
    key = _key(rows, group)
    # One number is sorted in a tenth of the time of two, where rows are nearly in order.
    order = np.lexsort((rows.onset, group)) if key is None else np.argsort(key, kind="stable")
    return Ordered.of(rows, order, group)


def _key(rows: EventTable, group: Groups) -> Groups | None:
    """Return a number for each row that is in order of group and tick of the onset; None if none is."""
    ticks = np.rint(rows.onset * (1 / TICK))
    last = float(ticks.max()) + 1
    if (float(group.max()) + 1) * last >= _MOST:
        return None
    return group * int(last) + ticks.astype(np.int64)


def _count_neighbours(rows: EventTable) -> dict[str, Any]:
    """Return what `RowStatistics` has of neighbours: repeated, overlapping and gaps."""
    if rows.born is not None:
        # At each threshold of an operating point events are there again.
        return {}
    cuts = [0, len(rows)]
    if len(rows) > STRETCH:
        heads = np.flatnonzero(rows.file[1:] != rows.file[:-1]) + 1
        if len(np.unique(rows.file[np.append(0, heads)])) > len(heads):
            # The rows of each recording stand together: as many recordings as fit the processor's cache.
            at = np.searchsorted(heads, np.arange(STRETCH, len(rows), STRETCH))
            cuts[1:1] = np.unique(heads[at[at < len(heads)]]).tolist()
    repeated = overlapping = gaps = 0
    times = replace(rows, values=())
    for begin, end in pairwise(cuts):
        part = times.take(slice(begin, end))
        if rows.has_values and not rows.has_steps and _begin_apart(part):
            # Of a table of values only repeated rows tell anything, and there are none.
            continue
        ordered = in_order(part, part.groups())
        repeats = ordered.repeats
        repeated += int(np.count_nonzero(repeats))
        if not rows.has_values:
            # Windows that slide are rows with values that overlap by nature.
            overlapping += int(np.count_nonzero(ordered.overlaps & ~repeats))
        if rows.has_steps:
            later = ordered.onset[1:] > ordered.offset[:-1] + TICK / 2
            gaps += int(np.count_nonzero(ordered.same & later))
    return {"repeated": repeated, "overlapping": overlapping, "gaps": gaps}


def _begin_apart(rows: EventTable) -> bool:
    """Return whether it is sure that no two rows of a file and class begin at the same time."""
    key = _key(rows, rows.file.astype(np.int64))
    if key is None or float(key.max()) * len(rows.classes) >= _MOST:
        return False
    key = key * len(rows.classes) + rows.row_label
    # Mostly rows stand in order of time, then of class.
    if not (key[1:] > key[:-1]).all():
        key.sort()
    return bool((key[1:] > key[:-1]).all())


def decimal_files(rows: EventTable, *, has_header: bool) -> str | None:
    """Return what is said of a table whose file names are all decimal numbers, None of all others.

    Where a header names the column, its author has said what it is.
    """
    if has_header or not rows.files or not all(map(_DECIMAL.fullmatch, rows.files)):
        return None
    return "all file names are decimal numbers: these could be onset, offset, value and label"


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
