"""What the rows of a table tell of how they were read: counts of what the checks find, and doubts by these.

Statistics of parts, batches of whole recordings, make those of all files at once.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sedeval_soft.arrays import Floats
from sedeval_soft.checks.messages import MESSAGES, SHIFTED
from sedeval_soft.checks.rows import (
    DAY,
    TICK,
    Index,
    Side,
    early_ends,
    gaps,
    overlapping,
    shifted,
    touching,
    zero_length,
)
from sedeval_soft.errors import counted
from sedeval_soft.tables.event_table import UNNAMED

_MINUTE = 60.0

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
_UNKNOWN = 0.1  # weight of the end of a recording of which nothing is known, where one too late is named
_MOST, _FARTHEST = 2**53, 20  # above all counts and times, and above all powers of ten of a ratio
_NAMED = 3  # tables that a message names
_STRETCH = 1 << 15  # rows that are looked at together, as many as fit the cache of a processor

AFTER_END = "segments after the end are not evaluated"
"""What is said of rows after the end of their recording."""

_COUNTED = (
    ("zero-length", "zero_length", MESSAGES["zero-length"]),
    ("duplicate-row", "repeated", MESSAGES["duplicate-row"]),
    ("overlapping-rows", "shifted", SHIFTED),
    ("overlapping-rows", "overlapping", MESSAGES["overlapping-rows"]),
    ("gap", "gaps", MESSAGES["gap"]),
    ("early-end", "early", MESSAGES["early-end"]),
)
"""What is a doubt if it is so of many rows: code, statistic, and what is said."""


class PlacedRow(NamedTuple):
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
    in order of time. overlapping: other rows of events that begin before the one before has ended. shifted:
    those of them that share half or more of what both cover, as copies that were shifted do. gaps: rows
    of a wide table that begin after it has. touching: rows without values that begin where it ends.
    early: recordings that a wide table ends before the end of. after_end: rows that end well after the end of
    their recording, where that is known: they begin after it, too, or end so late that they may be misread;
    beyond: the one that does so by most.
    over_day: recordings that are longer than a day, and were not said to be. latest: the row that ends
    last in one of these, or in one that ends many times later than it should.
    ends: the two latest offsets of all rows. last_row: the one that ends last.
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
    shifted: int = 0
    gaps: int = 0
    touching: int = 0
    early: int = 0
    after_end: int = 0
    over_day: int = 0
    beyond: PlacedRow | None = None
    latest: PlacedRow | None = None
    ends: tuple[float, ...] = ()
    last_row: PlacedRow | None = None

    @classmethod
    def of(cls, side: Side) -> RowStatistics:
        """Return the statistics of some recordings, all rows of each."""
        rows, lengths, whole, last = side.rows, side.expected, side.whole, side.last
        names, longest = (rows.origin.name,), float(lengths.max(initial=0.0))
        if not len(rows):
            return cls(names, longest=longest)

        def placed(at: Index) -> PlacedRow:
            """Return the first of some rows by file, class and onset, whatever their order in the table."""
            row = int(at[np.lexsort((rows.onset[at], rows.groups()[at]))[0]])
            file, times = int(rows.file[row]), (float(rows.onset[row]), float(rows.offset[row]))
            label = "" if rows.label is None else rows.classes[rows.label[row]]
            return PlacedRow(rows.files[file], label, *times, float(lengths[file]))

        times = rows.onset, rows.offset
        # Stretch by stretch: mostly the first one says that they are not.
        begins = range(0, len(rows), _STRETCH)
        parts = [column[begin : begin + _STRETCH] for begin in begins for column in times]
        whole_numbers = all(np.array_equal(part, np.floor(part)) for part in parts)
        compared = (lengths > 0) & (last > 0)
        powers = np.clip(np.log10(last[compared]) - np.log10(lengths[compared]), -_FARTHEST, _FARTHEST)
        bins, counts = np.unique(np.rint(_BINS * powers).astype(np.int64), return_counts=True)
        over_day = (last > DAY) & ~np.isfinite(whole)
        late = over_day | ((last > 0) & (last >= _FACTOR * lengths))
        # Frames of a window go on after the end of what they were made of.
        at = side.after_end[: 0 if rows.has_steps else None]
        end = whole[rows.file[at]]
        at = at[(rows.onset[at] >= end - TICK / 2) | (rows.offset[at] > (1 + _OVERHANG) * end)]
        beyond = latest = None
        if len(at):
            over = rows.offset[at] - lengths[rows.file[at]]
            beyond = placed(at[over == over.max()])
        if late.any():
            file = int(np.argmax(np.where(late, _weight(last, lengths), -1.0)))
            latest = placed(np.flatnonzero((rows.file == file) & (rows.offset == last[file])))
        return cls(
            names,
            len(rows),
            int(np.count_nonzero(last > 0)),
            whole=whole_numbers,
            minutes=whole_numbers and not any(np.any(part % _MINUTE) for part in parts),
            lasting=int(np.count_nonzero(times[1] - times[0] >= _TYPICAL)) if whole_numbers else 0,
            **_counts(side),
            last=float(last.max()),
            ratios=tuple(zip(bins.tolist(), counts.tolist(), strict=True)),
            exact=int(np.count_nonzero(np.isfinite(whole[compared]))),
            longest=longest,
            zero_length=len(zero_length(side).rows),
            early=len(early_ends(side).rows),
            after_end=len(at),
            over_day=int(np.count_nonzero(over_day)),
            beyond=beyond,
            latest=latest,
            ends=_latest(rows.offset),
            last_row=placed(np.flatnonzero(rows.offset == last.max())),
        )

    @staticmethod
    def merge(parts: Sequence[RowStatistics]) -> RowStatistics:
        """Return the statistics of all recordings of some parts, at least one, whatever their order."""
        columns = {name: [getattr(part, name) for part in parts] for name in RowStatistics.__slots__}
        merged: dict[str, Any] = {name: _MERGED.get(name, sum)(column) for name, column in columns.items()}
        return RowStatistics(**merged | ({} if merged["whole"] else {"lasting": 0}))

    def fault(self) -> str | None:
        """Return what is impossible in statistics that were read from a file, None where nothing is."""
        for name in self.__slots__:
            value = getattr(self, name)
            if isinstance(value, int | float) and not 0 <= value <= _MOST:
                return f"{name} {value}"
        for place, number in self.ratios:
            if abs(place) > _FARTHEST * _BINS or not 0 < number <= _MOST:
                return f"ratios {place} {number}"
        if len(self.ends) > _ENDS or not all(0 <= end <= _MOST for end in self.ends):
            return f"ends {self.ends}"
        for row in (self.beyond, self.latest, self.last_row):
            if row is not None and not all(0 <= s <= _MOST for s in (row.onset, row.offset, row.length)):
                return f"a row {row}"
        return None

    def called(self, role: str) -> str:
        """Return the names of the tables, of many the first few; the role where there is none."""
        names = self.names or (f"the {role}",)
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        return ", ".join(names[:_NAMED]) + more

    def is_late(self) -> bool:
        """Return whether `latest` ends too late for its recording, which it is not known to be longer than.

        It ends many times later than its own one already, if anything is known of that.
        """
        if self.latest is None or self.after_end or not self.longest:
            return False
        return self.latest.offset >= (2 if self.latest.length else _FACTOR) * self.longest

    def outlasts(self, other: float = 0.0) -> bool:
        """Return whether the last row ends many times later than any other one; other: an end elsewhere."""
        return self.rows >= FEW_ROWS and 0 < _FACTOR * max(self.ends[1], other) <= self.ends[0]

    def unit(self, role: str = "", other: str = "") -> tuple[str, str] | None:
        """Return why times seem to be in another unit than seconds, and the mend; None where they do not.

        role: of the table. other: the name of the reference.
        """
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
        is_of_minutes = self.minutes and self.last <= DAY
        is_long = 2 * self.lasting > self.rows and self.last >= _FACTOR * _TYPICAL
        if not unit and self.whole and is_long and not (fits_durations or is_of_minutes):
            unit = (
                f"all times are whole numbers, and most rows have {_TYPICAL:g} of them or more: these could "
            )
            unit += "be milliseconds or frames"
        mend += "" if exact and self.ratios else ", or give durations if they are seconds"
        return (unit, mend) if unit else None

    def of_durations(self) -> float:
        """Return how many times as long as the rows say all recordings are by given durations, at least.

        0 where lengths are not given, or may be right.
        """
        if not self.ratios or self.exact < sum(count for _, count in self.ratios):
            return 0.0
        most = 10 ** (self.ratios[-1][0] / _BINS)
        several = self.exact > 1 or self.rows >= FEW_ROWS
        return 1 / most if most <= _LOW and several else 0.0

    def doubts(self, role: str, other: str, late: int = 0, *, of_unit: bool = True) -> Iterator[str]:
        """Yield a line for each reason to think that a table is misread.

        role: of the table. other: the name of the reference. late: how many rows end after their recording,
        however little. of_unit: whether its unit may be doubted.
        """
        unit, latest, beyond, lines = self.unit(role, other), self.latest, self.beyond, []
        unit = unit if of_unit else None
        if unit is not None:
            last = f"the last row ends at {self.last:.6g}, which was read as seconds"
            lines.append(("time-unit", f"{unit[0]}; {last}", unit[1]))
        elif self.over_day:
            days = f"a recording would be {self.last / DAY:.3g} days long"
            days += f": its last row ends at {self.last:.6g} s"
            lines.append(("long-recording", days, "write seconds, or give durations if it is so long"))
        elif latest is not None and self.is_late():
            end = latest.length or self.longest
            recording = "its recording" if latest.length else "any recording"
            times = f"{latest} ends {in_times(latest.offset / end)} times as late as {recording} in {other}"
            mend = "correct its times if they are not seconds, or give durations"
            lines.append(("after-end", f"{times}, which ends at {end:.6g} s", mend))
        if unit is None and beyond is not None:
            n = max(late, self.after_end)
            rows = "row ends after its" if n == 1 else "rows end after their"
            text = f"{n:,} {rows} recording does: {beyond}, which has {beyond.length:.6g} s"
            lines.append(("after-end", text, f"correct the times: {AFTER_END}"))
        for code, name, message in _COUNTED:
            n, total = getattr(self, name), self.files if message.noun == "recording" else self.rows
            # Copies that were shifted are as many as copies that were not.
            least = misread_share("duplicate-row" if message is SHIFTED else code) * total
            if n and n >= least and code not in [line[0] for line in lines]:
                text = message.counted.format(n=n, total=f"of {counted(total, message.noun)}")
                lines.append((code, text, message.mend))
        for code, text, mend in lines:
            yield f"{self.called(role)}: {text}; {mend} ({code})"


def _counts(side: Side) -> dict[str, int]:
    """Return what `RowStatistics` has of neighbours: repeated, overlapping, shifted, gaps and touching."""
    rows = side.rows
    if rows.born is not None:
        # At each threshold of an operating point events are there again.
        return {}
    if not rows.has_values:
        checks = {"overlapping": overlapping, "shifted": shifted, "touching": touching}
    elif rows.has_steps:
        checks = {"gaps": gaps}
    elif side.has_repeated_onsets():
        # Windows that slide are rows with values that overlap by nature.
        checks = {}
    else:
        return {}
    return {
        "repeated": side.spans.same_times,
        **{name: len(find(side).rows) for name, find in checks.items()},
    }


def misread_share(code: str) -> float:
    """Return from which share of rows, or recordings, on a kind of problem is a doubt; infinite for never."""
    from sedeval_soft.tables.problem_codes import RULES

    share = RULES[code].misread
    return math.inf if share is None else share


def _latest(offsets: Floats) -> tuple[float, ...]:
    """Return the two latest of some offsets, the latest first."""
    latest = np.partition(offsets, -_ENDS)[-_ENDS:] if len(offsets) > _ENDS else offsets
    return tuple(np.sort(latest)[::-1].tolist())


def in_times(ratio: float) -> str:
    """Return a ratio as it is told: three digits of it."""
    return f"{float(f'{ratio:.3g}'):,g}" if ratio < 1e6 else f"{ratio:.3g}"


def _weight(ends: Any, lengths: Any) -> Any:  # noqa: ANN401 - numbers or arrays of them
    """Return how much ends of recordings tell; lengths: as far as they are known, else 0."""
    return ends * np.where(lengths > 0, 1.0, _UNKNOWN)


_MERGED: Mapping[str, Callable[[list[Any]], Any]] = {
    "names": lambda parts: tuple(sorted({name for names in parts for name in names})),
    "ratios": lambda parts: tuple(sorted(sum(map(Counter, map(dict, parts)), Counter()).items())),
    "beyond": lambda rows: min(
        filter(None, rows), key=lambda row: (row.length - row.offset, row.file), default=None
    ),
    "latest": lambda rows: min(
        filter(None, rows), key=lambda row: (-_weight(row.offset, row.length), row.file), default=None
    ),
    "ends": lambda parts: _latest(np.array(sum(parts, ()))),
    "last_row": lambda rows: min(filter(None, rows), key=lambda row: (-row.offset, row.file), default=None),
    "whole": all,
    "minutes": all,
    "last": max,
    "longest": max,
}
"""How the statistics of parts make one; what is not named here is added up."""
