"""Statistics of the rows of a table: counts of the checks' findings, and warnings that the table is misread.

Statistics of batches of whole recordings merge into the statistics of all files.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from sedeval_soft.arrays import Floats
from sedeval_soft.checks.rows import CHECKS, DAY, STEPS, TICK, Index, Side, last_row
from sedeval_soft.tables.event_table import UNNAMED

_MINUTE = 60

# How far the ends of recordings may differ before their units must. Their ratios are counted in bins, so many
# for a factor of ten: the median is known to about 0.1 %. `_LOW` is one part of so many, as a bin has it.
_FACTOR, _BINS = 20.0, 1000
_LOW = 10 ** (-round(_BINS * math.log10(_FACTOR)) / _BINS)
_TYPICAL = 50.0  # seconds: where all times are whole and half of the rows are as long, they are frames
# Share of a recording by which a row that begins in it may end after it, in a table that was read right: a
# frame of a system, a slip of an annotator, lengths that were rounded.
_OVERHANG = 0.05
_ENDS = 2  # latest offsets that are kept, to tell whether one row ends later than all others by far
FEW_ROWS = 10  # fewer rows may all stand at the beginning of their only recording
_MOST, _FARTHEST = 2**53, 20  # above all counts and times, and above all powers of ten of a ratio
_NAMED = 3  # tables that a message names
_STRETCH = 1 << 15  # rows that are looked at together, as many as fit the cache of a processor

_NOT_BY_SHARE = ("time-unit", "long-recording", "after-end", "outlasting-row", "touching-rows")
"""Checks that more is known of than how many rows they find."""


class PlacedRow(NamedTuple):
    """A row that a message names.

    event_label: its class, nothing for the row of a wide table. length: of its recording as far as that is
    known, else 0. All times in seconds. weight: the row with the greatest weight is named.
    """

    file: str
    event_label: str
    onset: float
    offset: float
    length: float
    weight: float

    def __str__(self) -> str:
        """Return the row in words."""
        what = f"the row of {self.event_label!r}" if self.event_label else "the row"
        where = f" in {self.file!r}" if self.file != UNNAMED else ""
        return f"{what} from {self.onset:.6g} to {self.offset:.6g} s{where}"


@dataclass(frozen=True, slots=True)
class RowStatistics:
    """Statistics of the rows of one side, or of some of its recordings, that show how the rows were read.

    names: Names of the tables. rows, files: Number of rows, and of files with a row. multiple: 60 if all
    times are whole minutes, 1 if they are whole numbers, else 0. lasting: Rows as long as counts of frames or
    milliseconds, if times are whole. ratios: Number of recordings by the ratio of their end to their expected
    length, as pairs of rounded 1000 log10 of the ratio, and a count. exact: Number of ratios of given
    durations. longest: Greatest expected length of a recording. ends: The two latest offsets. counts: Number
    of rows, or recordings, that each check finds. rows_named: One row by name of a check: `after-end` The row
    that ends well after its recording of known length, by the most. `outlasting-row` The row
    that ends last.
    """

    names: tuple[str, ...] = ()
    rows: int = 0
    files: int = 0
    multiple: int = _MINUTE
    lasting: int = 0
    ratios: tuple[tuple[int, int], ...] = ()
    exact: int = 0
    longest: float = 0.0
    ends: tuple[float, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    rows_named: Mapping[str, PlacedRow] = field(default_factory=dict)

    @classmethod
    def of(cls, side: Side) -> RowStatistics:
        """Return the statistics of some recordings, all rows of each."""
        rows, lengths, last = side.rows, side.expected, side.last
        names, longest = (rows.origin.name,), float(lengths.max(initial=0.0))
        if not len(rows):
            return cls(names, longest=longest)
        compared = (lengths > 0) & (last > 0)
        powers = np.clip(np.log10(last[compared]) - np.log10(lengths[compared]), -_FARTHEST, _FARTHEST)
        bins, n_of_bins = np.unique(np.rint(_BINS * powers).astype(np.int64), return_counts=True)
        multiple = _multiple(rows.onset, rows.offset)
        counts = {
            name: len(check.find(side))
            for name, check in CHECKS.items()
            if check.counted and check.find is not last_row and side.kind in check.kinds
        }
        return cls(
            names,
            len(rows),
            int(np.count_nonzero(last > 0)),
            multiple,
            int(np.count_nonzero(rows.offset - rows.onset >= _TYPICAL)) if multiple else 0,
            tuple(zip(bins.tolist(), n_of_bins.tolist(), strict=True)),
            int(np.count_nonzero(np.isfinite(side.whole[compared]))),
            longest,
            _latest(rows.offset),
            # In order, and without zeros, like the sums of parts.
            {name: n for name, n in sorted(counts.items()) if n},
            {name: _named(side, *each) for name, each in sorted(_in_doubt(side).items())},
        )

    @staticmethod
    def merge(parts: Sequence[RowStatistics]) -> RowStatistics:
        """Return the statistics of all recordings of some parts, at least one, whatever their order."""
        columns = {name: [getattr(part, name) for part in parts] for name in RowStatistics.__slots__}
        return RowStatistics(**{name: _MERGED.get(name, sum)(column) for name, column in columns.items()})

    def fault(self) -> str | None:
        """Return an impossible value in statistics read from a file, None if all are possible."""
        numbers = [(name, getattr(self, name)) for name in ("rows", "files", "lasting", "exact", "longest")]
        numbers += [*self.counts.items(), *(("ends", end) for end in self.ends[:_ENDS])]
        numbers += [(name, s) for name, row in self.rows_named.items() for s in row[2:5]]
        faults = [f"{name} {value}" for name, value in numbers if not 0 <= value <= _MOST]
        for place, number in self.ratios:
            if abs(place) > _FARTHEST * _BINS or not 0 < number <= _MOST:
                faults.append(f"ratios {place} {number}")
        return faults[0] if faults else None

    def called(self, role: str) -> str:
        """Return the names of the tables, the first few if there are many; the role without names."""
        names = self.names or (f"the {role}",)
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        return ", ".join(names[:_NAMED]) + more

    @property
    def last(self) -> float:
        """The latest offset."""
        return max(self.ends, default=0.0)

    def of_times(self, role: str = "", other: str = "", elsewhere: float = 0.0) -> dict[str, dict[str, Any]]:
        """Return the facts of the messages about wrong times, by name of a check.

        role: of the table. other: the name of the reference. elsewhere: the latest offset of the other side.
        """
        told: dict[str, dict[str, Any]] = {}
        after, last = (self.rows_named.get(name) for name in ("after-end", "outlasting-row"))
        if (unit := self._unit(role, other)) is not None:
            return {"time-unit": {"unit": unit[0], "mend": unit[1], "offset": self.last}}
        before = max([*self.ends[1:], elsewhere, self.longest])
        if after is not None:
            told["after-end"] = {"row": after, "length": after.length}
        elif self.counts.get("long-recording"):
            told["long-recording"] = {"days": self.last / DAY, "offset": self.last}
        elif (
            last is not None
            and (self.longest or self.rows >= FEW_ROWS)
            and 0 < _FACTOR * before <= last.offset
        ):
            told["outlasting-row"] = {"row": last, "times": in_times(last.offset / before)}
        return told

    def _unit(self, role: str, other: str) -> tuple[str, str] | None:
        """Return why times seem to be in another unit than seconds, and the fix; None if they do not."""
        fits_durations = bool(self.ratios) and self.exact == sum(count for _, count in self.ratios)
        exact, unit, mend = role == "reference" or fits_durations, "", "write seconds"
        than = ("their durations" if exact else f"in {other}") if role else "expected"
        if self.ratios:
            bins, counts = np.array(self.ratios).T
            ends = np.cumsum(counts)
            # The lower one of two medians, and the greatest ratio.
            middle = bins[np.searchsorted(ends, (ends[-1] - 1) // 2, side="right")]
            median, most = 10 ** (float(middle) / _BINS), 10 ** (float(bins[-1]) / _BINS)
            theirs = "" if exact or not role else f", or those of {other} in "
            if median >= 1 / _LOW:
                is_milli = 500 <= median <= 2000
                names = "milliseconds" if is_milli else "frames or samples, or milliseconds"
                unit = f"recordings end {in_times(median)} times as late as {than}: times could be {names}"
                unit += theirs and f"{theirs}minutes"
                mend = "divide them by 1000" if is_milli else mend
            elif most <= _LOW and (ends[-1] > 1 or self.rows >= FEW_ROWS):
                unit = f"recordings end at {most:.2g} of their length at the latest: times could be minutes"
                unit += ", or durations milliseconds or frames" if fits_durations else ""
                unit += theirs and f"{theirs}milliseconds or frames"
        is_of_minutes = self.multiple == _MINUTE and self.last <= DAY
        is_long = 2 * self.lasting > self.rows and self.last >= _FACTOR * _TYPICAL
        if not unit and self.multiple and is_long and not (fits_durations or is_of_minutes):
            unit = (
                f"all times are whole numbers, and most rows have {_TYPICAL:g} of them or more: these could "
                "be milliseconds or frames"
            )
        mend += "" if exact and self.ratios else ", or give durations if they are seconds"
        return (unit, mend) if unit else None

    def doubts(self, role: str, told: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
        """Yield a line for each reason to think that a table is misread.

        role: Of the table. told: Findings about times, see `of_times`.
        """
        codes = set()
        for name, check in CHECKS.items():
            n, total = self.counts.get(name, 0), self.files if check.noun == "recording" else self.rows
            by_share = name not in _NOT_BY_SHARE and n and n >= check.share * total
            if name in told or (by_share and check.code not in codes):
                codes.add(check.code)
                yield f"{self.called(role)}: {check.message(n, total, told.get(name, {}))} ({check.code})"


def _multiple(*times: Floats) -> int:
    """Return 60 if all times are whole minutes, 1 if they are whole numbers, else 0."""
    # Stretch by stretch: mostly the first one says that they are not.
    begins = range(0, len(times[0]), _STRETCH)
    parts = [column[begin : begin + _STRETCH] for begin in begins for column in times]
    if not all(np.array_equal(part, np.floor(part)) for part in parts):
        return 0
    return 1 if any(np.any(part % _MINUTE) for part in parts) else _MINUTE


def _in_doubt(side: Side) -> dict[str, tuple[Index, float]]:
    """Return by name of a check the candidate rows to name, with the greatest weight, and the weight."""
    rows, lengths, whole, last = side.rows, side.expected, side.whole, side.last
    found = {"outlasting-row": (np.flatnonzero(rows.offset == last.max()), float(last.max()))}
    # Frames of a window go on after the end of what they were made of.
    at = np.flatnonzero(side.late)[: 0 if side.kind == STEPS else None]
    end = whole[rows.file[at]]
    at = at[(rows.onset[at] >= end - TICK / 2) | (rows.offset[at] > (1 + _OVERHANG) * end)]
    if len(at):
        over = rows.offset[at] - lengths[rows.file[at]]
        found["after-end"] = (at[over == over.max()], float(over.max()))
    return found


def _named(side: Side, at: Index, weight: float) -> PlacedRow:
    """Return the first of some rows by file, class and onset, whatever their order in the table."""
    rows = side.rows
    row = int(at[np.lexsort((rows.onset[at], rows.groups()[at]))[0]])
    file, times = int(rows.file[row]), (float(rows.onset[row]), float(rows.offset[row]))
    label = "" if rows.label is None else rows.classes[rows.label[row]]
    return PlacedRow(rows.files[file], label, *times, float(side.expected[file]), weight)


def _latest(offsets: Floats) -> tuple[float, ...]:
    """Return the two latest of some offsets, the latest first."""
    latest = np.partition(offsets, -_ENDS)[-_ENDS:] if len(offsets) > _ENDS else offsets
    return tuple(np.sort(latest)[::-1].tolist())


def in_times(ratio: float) -> str:
    """Return a ratio as text with three digits."""
    return f"{float(f'{ratio:.3g}'):,g}" if ratio < 1e6 else f"{ratio:.3g}"


def _most_of(parts: Sequence[Mapping[str, PlacedRow]]) -> dict[str, PlacedRow]:
    """Return of each check the row that weighs most, the first by file of several."""
    return {
        name: min((part[name] for part in parts if name in part), key=lambda row: (-row.weight, row.file))
        for name in sorted({name for part in parts for name in part})
    }


def _sums(parts: Sequence[Mapping[Any, int]]) -> dict[Any, int]:
    """Return the sums of counts by name."""
    return dict(sorted(sum(map(Counter, parts), Counter()).items()))


_MERGED: Mapping[str, Callable[[list[Any]], Any]] = {
    "names": lambda parts: tuple(sorted({name for names in parts for name in names})),
    "multiple": min,
    "ratios": lambda parts: tuple(_sums([*map(dict, parts)]).items()),
    "longest": max,
    "ends": lambda parts: _latest(np.array(sum(parts, ()))),
    "counts": _sums,
    "rows_named": _most_of,
}
"""Functions that merge statistics of parts; fields not listed are added up."""
