"""What a person should know of a reference and a system brought together, and of how they were read.

Times in milliseconds, rows beyond their recording, a table whose rows stand in it twice: all of these can be
scored, and the score says nothing. `RowStatistics` are what such doubts need. Which kinds of problems are
doubts, and from how many rows on, is said in `codes`. `validate` looks for the same with the functions at the
end, and names single rows.

Reports add up: those of batches of whole recordings together are the one of all files at once.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sedeval_soft.arrays import Bools, Codes, Floats
from sedeval_soft.errors import EvaluationError, be, counted
from sedeval_soft.fields import FIELDS
from sedeval_soft.names import apart, did_you_mean, folded
from sedeval_soft.plan import Plan
from sedeval_soft.settings import POSTPROCESSING, Settings, short_fraction
from sedeval_soft.sorting import distinct
from sedeval_soft.tables.event_table import UNKNOWN, UNNAMED, EventTable
from sedeval_soft.tables.filenames import listing, named_alike, unknown_names
from sedeval_soft.timeline.ranges import stretches

Index = npt.NDArray[np.intp]
Groups = npt.NDArray[np.int64]

STRICT = "strict makes each of these an error"
"""The last line where warnings are refused."""

NO_DURATIONS = (
    "no durations were given: recordings are assumed to end with their last offset in the reference; "
    "--durations gives their lengths"
)
"""What is said where lengths decide and none are given."""

TICK = 1e-6  # seconds: times are scored as whole numbers of them, so that closer ones are the same
DAY, _MINUTE = 86_400.0, 60.0

# How far the ends of recordings may differ before their units must. Their ratios are counted in bins, so many
# for a factor of ten: the median is known to about 0.1 %. `_LOW` is one part of so many, as a bin has it.
_FACTOR, _BINS = 20.0, 1000
_LOW = 10 ** (-round(_BINS * math.log10(_FACTOR)) / _BINS)
_TYPICAL = 50.0  # seconds: where all times are whole and half of the rows are as long, they are frames
# Share of a recording by which a row that begins in it may end after it, in a table that was read right: a
# frame of a system, a slip of an annotator, lengths that were rounded.
_OVERHANG = 0.05
_ENDS = 2  # latest offsets that are kept, to tell whether one row ends later than all others by far
_FEW_ROWS = 10  # fewer rows may all stand at the beginning of their only recording
_UNKNOWN = 0.1  # weight of the end of a recording of which nothing is known, where one too late is named
_MOST, _FARTHEST = 2**53, 20  # above all counts and times, and above all powers of ten of a ratio
# Tables, pairs of names, and classes that a message names; with how many names each class is compared to find
# one like it: a table may name as many as it likes, and looking takes time for each pair.
_NAMED, _SHOWN, _TOLD, _COMPARED = 3, 5, 50, 2000
_ROUNDING = 1e-3 + TICK / 2  # seconds by which time steps of one length may differ: they may be rounded to ms
_HARDLY = 0.1  # share of rows that touch, below which a table's rows are no time steps
_FEWEST_NEAR = 10  # rows that must nearly be on the grid, and be half of those that could, to be told

_AFTER_END = "segments after the end are not evaluated"

_BY_CLASS = (*POSTPROCESSING, "thresholds")  # settings that may have a value for each class


_NOTHING: frozenset[str] = frozenset()

OF_REGIONS = ("regions_listed", "with_region", "without_region", "too_few_shots")
"""What an `AlignmentReport` tells of the evaluated regions."""

_MANY = (
    ("zero-length", "zero_length", "row", "onset and offset are equal in {n:,} {total}",
     "write when each event ends"),
    ("duplicate-row", "repeated", "row",
     "file, class and times repeat those of another row in {n:,} {total}",
     "are several outputs, views or annotators in one table? Keep one of each"),
    ("overlapping-rows", "shifted", "row",
     "{n:,} {total} share half or more of their time with another event of the same file and class",
     "are several outputs or annotators in one table, some of them shifted? Keep one of each"),
    ("overlapping-rows", "overlapping", "row",
     "another event of the same file and class is still going on at the onset of {n:,} {total}",
     "are several recordings or outputs in one? Name the file of each row"),
    ("gap", "gaps", "row", "there is a gap in the wide table before {n:,} {total}",
     "write a row for all times"),
    ("early-end", "early", "recording", "a wide table ends before {n:,} {total} do",
     "are the time steps as long as the table says? Write rows up to the end"),
)  # fmt: skip
"""What is a doubt where it is so of many: code, statistic, of what, how it is told, what to do about it."""

_FILES = (
    ("missing", "reference file", ("{files} {have} no rows in the system; counted as misses (a row with only "
                                   "the name of a file says that nothing is detected there; --files scores "
                                   "only the files of a list)")),
    ("extra", "system file", ("{files} {are} not in the reference; counted as false alarms (a row with only "
                              "the name of a file declares it as one without events){hint}")),
    ("dropped", "system file", "{files} {are} neither in the reference nor in the durations; left out{hint}"),
    ("unlisted", "reference file", ("{files} {have} no duration; evaluated up to the last offset (--files "
                                    "leaves files out, --durations does not)")),
)  # fmt: skip
"""Files that are not on both sides, or have no duration: the names, what they are, and how it is told."""


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

        def placed(at: Index) -> PlacedRow:
            """Return the first of some rows by file, class and onset, whatever their order in the table."""
            row = int(at[np.lexsort((rows.onset[at], rows.groups()[at]))[0]])
            file, times = int(rows.file[row]), (float(rows.onset[row]), float(rows.offset[row]))
            label = "" if rows.label is None else rows.classes[rows.label[row]]
            return PlacedRow(rows.files[file], label, *times, float(lengths[file]))

        times = rows.onset, rows.offset
        # Stretch by stretch: mostly the first one says that they are not.
        parts = [column[part] for part in stretches(len(rows)) for column in times]
        whole_numbers = all(np.array_equal(part, np.floor(part)) for part in parts)
        compared = (lengths > 0) & (last > 0)
        powers = np.clip(np.log10(last[compared]) - np.log10(lengths[compared]), -_FARTHEST, _FARTHEST)
        bins, counts = np.unique(np.rint(_BINS * powers).astype(np.int64), return_counts=True)
        over_day = (last > DAY) & ~np.isfinite(whole)
        late = over_day if expected is None else over_day | ((last > 0) & (last >= _FACTOR * lengths))
        # Frames of a window go on after the end of what they were made of.
        at = rows_after_end(rows, last, whole)[: 0 if rows.has_steps else None]
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
            **_count_neighbours(rows),
            last=float(last.max()),
            ratios=tuple(zip(bins.tolist(), counts.tolist(), strict=True)),
            exact=int(np.count_nonzero(np.isfinite(whole[compared]))),
            longest=longest,
            zero_length=int(np.count_nonzero(rows.onset == rows.offset)),
            early=len(files_ended_early(rows, last, lengths)) if rows.has_steps else 0,
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
        return self.rows >= _FEW_ROWS and 0 < _FACTOR * max(self.ends[1], other) <= self.ends[0]

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
                unit = f"recordings end {_times(median)} times as late as {than}: times could be {names}"
                unit += theirs and f"{theirs}minutes"
                mend = "divide them by 1000" if is_milli else mend
            elif most <= _LOW and (ends[-1] > 1 or self.rows >= _FEW_ROWS):
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
        several = self.exact > 1 or self.rows >= _FEW_ROWS
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
            times = f"{latest} ends {_times(latest.offset / end)} times as late as {recording} in {other}"
            mend = "correct its times if they are not seconds, or give durations"
            lines.append(("after-end", f"{times}, which ends at {end:.6g} s", mend))
        if unit is None and beyond is not None:
            n = max(late, self.after_end)
            rows = "row ends after its" if n == 1 else "rows end after their"
            text = f"{n:,} {rows} recording does: {beyond}, which has {beyond.length:.6g} s"
            lines.append(("after-end", text, f"correct the times: {_AFTER_END}"))
        for code, name, noun, text, mend in _MANY:
            n, total = getattr(self, name), self.rows if noun == "row" else self.files
            # Copies that were shifted are as many as copies that were not.
            least = _misread_share("duplicate-row" if name == "shifted" else code) * total
            if n and n >= least and code not in [line[0] for line in lines]:
                lines.append((code, text.format(n=n, total=f"of {counted(total, noun)}"), mend))
        for code, text, mend in lines:
            yield f"{self.called(role)}: {text}; {mend} ({code})"


def _misread_share(code: str) -> float:
    """Return from which share of rows, or recordings, on a kind of problem is a doubt; infinite for never."""
    from sedeval_soft.tables.problem_codes import RULES

    share = RULES[code].misread
    return math.inf if share is None else share


def _latest(offsets: Floats) -> tuple[float, ...]:
    """Return the two latest of some offsets, the latest first."""
    latest = np.partition(offsets, -_ENDS)[-_ENDS:] if len(offsets) > _ENDS else offsets
    return tuple(np.sort(latest)[::-1].tolist())


def _times(ratio: float) -> str:
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


@dataclass(frozen=True, slots=True)
class AlignmentReport:
    """What was noticed in bringing a reference and a system together.

    missing: reference files that the system lacks. extra: system files that the reference lacks. dropped:
    those that are in no list of files. silent: missing and extra files without an event on the side
    that has them. unlisted: reference files without a duration, where there are any.
    listed: names of files that the settings have and either side has, too. reference_outside,
    system_outside: files that the settings leave out. Where only regions are evaluated: regions_listed: names
    of files that have some and that either side has, too; with_region: files that are evaluated;
    without_region: files that have none, too_few_shots: those with too few events, all left out.
    doubtful: texts on names that fit more than one file, and on what had to be assumed of a table, each
    with its mend; errors where settings are strict. notes: texts on how tables were read.
    reference_classes, system_classes: all that either side names. declared: those that a reference declares
    to be time about which nothing is known. beyond: by role how many rows end after
    their file, and by how many seconds at the most. after_end: the same by file of the system's rows where no
    duration is known and the reference's last offset is taken for the end. tables: by role what the rows tell
    of how they were read. off_grid: by role how many rows could show a grid, how many show one that is nearly
    that of the segments, and how many seconds off, see `timeline.grid`. ignored: what was left out for
    ignored classes, by their names together: detections, and ticks. lengthless: files without a length in
    which the system detects something. steps: by role the `step_counts` of a table with values, where these
    say whether its touching rows are one event.
    """

    missing: frozenset[str] = _NOTHING
    extra: frozenset[str] = _NOTHING
    dropped: frozenset[str] = _NOTHING
    silent: frozenset[str] = _NOTHING
    unlisted: frozenset[str] = _NOTHING
    listed: frozenset[str] = _NOTHING
    regions_listed: frozenset[str] = _NOTHING
    with_region: frozenset[str] = _NOTHING
    without_region: frozenset[str] = _NOTHING
    too_few_shots: frozenset[str] = _NOTHING
    reference_outside: frozenset[str] = _NOTHING
    system_outside: frozenset[str] = _NOTHING
    doubtful: frozenset[str] = _NOTHING
    notes: frozenset[str] = _NOTHING
    reference_classes: frozenset[str] = _NOTHING
    system_classes: frozenset[str] = _NOTHING
    declared: frozenset[str] = _NOTHING
    lengthless: frozenset[str] = _NOTHING
    beyond: Mapping[str, tuple[int, float]] = field(default_factory=dict)
    after_end: Mapping[str, tuple[int, float]] = field(default_factory=dict)
    tables: Mapping[str, RowStatistics] = field(default_factory=dict)
    off_grid: Mapping[str, tuple[int, int, float]] = field(default_factory=dict)
    ignored: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    steps: Mapping[str, tuple[int, int, int]] = field(default_factory=dict)

    @staticmethod
    def merge(parts: Iterable[AlignmentReport]) -> AlignmentReport:
        """Return the report of all parts together."""
        merged: dict[str, Any] = {}
        reports = list(parts)
        for name in AlignmentReport.__slots__:
            values = [getattr(report, name) for report in reports]
            if name not in ("beyond", "after_end", "tables", "off_grid", "ignored", "steps"):
                merged[name] = _NOTHING.union(*values)
                continue
            by_key: dict[str, list[Any]] = defaultdict(list)
            for key, value in (item for of_report in values for item in of_report.items()):
                by_key[key].append(value)
            merge: Callable[[list[Any]], Any] = counts_and_most
            if name in ("tables", "ignored", "steps"):
                merge = RowStatistics.merge if name == "tables" else _sums
            merged[name] = {key: merge(by_key[key]) for key in sorted(by_key)}
        return AlignmentReport(**merged)

    def classes(self, settings: Settings) -> tuple[str, ...]:
        """Return the evaluated classes: as the settings name them, else all that occur, sorted."""
        if settings.classes is not None:
            return settings.classes
        return tuple(
            sorted((self.reference_classes | self.system_classes) - {*(settings.ignore_class or ())})
        )

    def warnings(self, settings: Settings) -> tuple[str, ...]:
        """Return a line for all that was noticed; raises EvaluationError if settings are strict."""
        lines = [*sorted(self.doubtful), *self.misread(*self.tables), *self._of_outlasting()]
        lines += self._of_names(settings)
        only, nothing = settings.classes is not None, not self.reference_classes | self.system_classes
        unlike = self.system_classes - self.reference_classes
        by_rows = settings.events == "auto" and Plan.of(settings).counts_events
        lines += _lines_of(
            settings,
            (settings.files is not None, self._of_listed),
            (settings.has_regions, self._of_regions),
            (self.after_end, self._of_late_rows),
            (self.lengthless or self.extra - self.silent, self._of_lengthless),
            (only or unlike, self._of_classes),
            (settings.ignore_class, self._of_unknown),
            (any(near for _, near, _ in self.off_grid.values()), self._of_grid),
            (self.tables, self._of_lengths),
            (len(self.tables) > 1 and by_rows, self._of_touching),
        )
        if settings.strict and lines:
            raise EvaluationError("\n".join([*lines, STRICT]))
        lines += sorted(self.notes)
        lines += _lines_of(
            settings,
            (self.reference_outside or self.system_outside, self._of_outside),
            (settings.has_regions, self._of_left_out),
            (only or nothing, self._of_others),
            (self.ignored or settings.ignore_class, self._of_ignored),
            (self.beyond, self._of_beyond),
            (any(isinstance(getattr(settings, name), dict) for name in _BY_CLASS), self._of_settings),
        )
        return tuple(lines)

    def misread(self, *roles: str) -> list[str]:
        """Return a line for each reason to think that the table of one of some roles is misread."""
        other, tables = self._table("reference"), {r: self.tables[r] for r in roles if r in self.tables}
        lines, times = [], [table.of_durations() for table in tables.values()]
        too_long = len(times) > 1 and all(times)
        if too_long:
            # What both sides say of the recordings is more likely right than what one table says of them.
            ratio = min(times)
            is_milli = 500 <= ratio <= 2000
            unit = "milliseconds" if is_milli else "frames or samples, or times on both sides minutes"
            mend = "divide them by 1000" if is_milli else "write seconds"
            lines.append(
                f"durations: recordings are {_times(ratio)} times as long as {other} and "
                f"{self._table('system')} say: durations could be {unit}; {mend} (time-unit)"
            )
        for role, table in tables.items():
            late, _ = self.beyond.get(role, (0, 0.0))
            lines += table.doubts(role, other, late, of_unit=not too_long)
        return lines

    def _of_outlasting(self) -> Iterator[str]:
        """Yield what is said of a row of the reference that ends many times later than all others do."""
        table = self.tables.get("reference", RowStatistics())
        system = self.tables.get("system", RowStatistics()).last
        row, known = table.last_row, table.longest > 0 or table.over_day or table.unit() is not None
        if row is not None and not known and table.outlasts(system):
            later = _times(row.offset / max(*table.ends[1:], system))
            yield (
                f"{self._table('reference')}: {row} ends {later} times as late as any other on either side, "
                "and is taken as the end of its recording; correct its times if they are not seconds, or "
                "give durations (outlasting-row)"
            )

    def _table(self, role: str) -> str:
        """Return the name of the table of a role, as far as it is known."""
        return self.tables.get(role, RowStatistics()).called(role)

    def _of_names(self, settings: Settings) -> Iterator[str]:
        """Yield a line for names in the wrong column, two names of one class, and each kind of files."""
        theirs, classes = self.extra | self.dropped, {*self.classes(settings)}
        if theirs and are_swapped(theirs, self.system_classes, self.missing, self.reference_classes):
            yield (
                f"{self._table('system')}: file names are classes of the reference, and classes are its "
                "files; swap the two columns, or their names in the header (swapped-columns)"
            )
        for role, names in (("reference", self.reference_classes), ("system", self.system_classes)):
            like = similar_names(sorted(names & classes))
            pairs = [" and ".join(apart(name, other)) for name, other in like.items()]
            if pairs:
                more = f" and {len(pairs) - _SHOWN} more" if len(pairs) > _SHOWN else ""
                yield (
                    f"{self._table(role)}: classes {'; '.join(pairs[:_SHOWN])}{more} differ in case, blanks, "
                    "- or _ only, or look alike, and were taken for different ones; write both alike if they "
                    "are one (similar-classes)"
                )
        for kind, noun, text in _FILES:
            files = sorted(getattr(self, kind) - (self.silent if kind in ("missing", "extra") else _NOTHING))
            if files:
                hint = self._hint(files) if "{hint}" in text else ""
                have = "has" if len(files) == 1 else "have"
                yield text.format(files=listing(files, noun), are=be(len(files)), have=have, hint=hint)

    def _hint(self, files: Sequence[str]) -> str:
        """Return a hint for the system's files that are those of the reference, or tables at thresholds."""
        from sedeval_soft.tables.joined_tables import seem_thresholds

        thresholds = (
            "; their names hold thresholds: if they are tables of operating points, write a column of file "
            "names in each, and give the folder as --operating-points"
        )
        return named_alike(self.missing, files) + (thresholds if seem_thresholds(files) else "")

    def _of_listed(self, settings: Settings) -> Iterator[str]:
        """Yield what is wrong with the list of files of the settings; raises EvaluationError for no match."""
        unknown = unknown_names(settings.files or (), self.listed)
        if unknown:
            ours = sorted(self.reference_outside)
            like = named_alike(ours, unknown, ("reference", "list"))
            like = like or did_you_mean(unknown[0], ours[:_COMPARED])
            text = f"files: {listing(unknown, 'listed file')} {be(len(unknown))} on neither side{like}"
            if not self.listed:
                raise EvaluationError(f"{text}; expected names of files that {self._table('reference')} has")
            yield text

    def _of_regions(self, settings: Settings) -> Iterator[str]:
        """Yield what is wrong with the regions of the settings; raises EvaluationError where none is left."""
        unknown = unknown_names(
            dict.fromkeys(name for name, *_ in settings.regions or ()), self.regions_listed
        )
        if unknown:
            like = named_alike(sorted(self.without_region), unknown, ("reference", "regions"))
            text = (
                f"regions: {listing(unknown, 'file')} {be(len(unknown))} on neither side, and not evaluated"
            )
            yield f"{text} (a row with only the name of a file declares it as one without events){like}"
        if not self.with_region and (self.without_region or self.too_few_shots):
            like = f"; regions are of {listing(unknown, 'other file')}" if unknown else ""
            lines = [f"nothing is left to evaluate{like}", *self._of_left_out(settings)]
            raise EvaluationError("\n".join(lines))

    def _of_left_out(self, settings: Settings) -> Iterator[str]:
        """Yield how many files are left out as no region of them is evaluated."""
        without, few = sorted(self.without_region), sorted(self.too_few_shots)
        if without:
            have = "has" if len(without) == 1 else "have"
            yield f"{listing(without, 'file')} {have} no region that is evaluated; left out"
        if few and settings.shots is not None:
            number, label = settings.shots
            known = sorted(self.reference_classes)
            of_class = "" if label is None else f" of class {label!r}"
            hint = "" if label is None or label in known else did_you_mean(label, known[:_COMPARED])
            have = "has" if len(few) == 1 else "have"
            yield (
                f"after_shots: {listing(few, 'file')} {have} fewer than {counted(number, 'event')}{of_class} "
                f"in the reference; left out{hint}"
            )

    def _of_outside(self, _: Settings) -> Iterator[str]:
        """Yield how many files are left out as the settings do not list them."""
        sides = (("reference", self.reference_outside), ("system", self.system_outside))
        outside = " and ".join(listing(sorted(names), f"{role} file") for role, names in sides)
        yield f"files: {outside} are not listed, and left out"

    def _of_unknown(self, settings: Settings) -> Iterator[str]:
        """Yield a line for each ignored class that the reference does not have."""
        known = sorted(self.reference_classes)[:_COMPARED]
        for name in settings.ignore_class or ():
            # Of tables of few-shot tasks some have time of which nothing is known, and others do not.
            if name not in self.reference_classes | self.declared | {UNKNOWN}:
                yield f"ignore_class {name!r} is not a class of the reference{did_you_mean(name, known, n=1)}"

    def _of_grid(self, settings: Settings) -> Iterator[str]:
        """Yield what is said of rows that are nearly on the grid of segments."""
        too_long = "segment_length" in self._too_long(settings)
        for role, (rows, near, off) in sorted(self.off_grid.items()):
            if near >= _FEWEST_NEAR and 2 * near >= rows and not too_long:
                length = short_fraction(settings.segment_length).removesuffix(".0")
                yield (
                    f"{self._table(role)}: {near} of {counted(rows, 'row')} are nearly on the edges of "
                    f"segments of {length} s, off by {off:.3g} s at most: each counts in a segment that "
                    "it hardly reaches. Has the table another time step, or do its times not begin at 0? "
                    "--segment-length takes steps exactly, such as 1/3 or 1024/44100"
                )

    def _longest(self) -> float:
        """Return how long the longest recording is, in seconds, as far as that is known."""
        return max((max(table.longest, table.last) for table in self.tables.values()), default=0.0)

    def _too_long(self, settings: Settings) -> dict[str, float]:
        """Return the settings of segments and collars that are longer than every recording."""
        plan, longest = Plan.of(settings), self._longest()
        by_collar = plan.scores("event") and settings.match_by == "collar"
        used = {
            "segment_length": plan.counts_segments,
            "onset_collar": by_collar and settings.onset,
            "offset_collar": by_collar and settings.offset,
        }
        values = {name: float(getattr(settings, name)) for name, is_used in used.items() if is_used}
        # Small tables are scored with the default ones as they are.
        return {name: s for name, s in values.items() if s > max(longest, FIELDS[name].default) and longest}

    def _of_lengths(self, settings: Settings) -> Iterator[str]:
        """Yield a line for each setting that is longer than every recording."""
        for name, seconds in self._too_long(settings).items():
            so = "each is one segment" if name == "segment_length" else "it rules out no match"
            yield (
                f"{name} is {seconds:g} s, longer than every recording ({self._longest():.6g} s at most): "
                f"{so}; settings are in seconds"
            )

    def _of_touching(self, settings: Settings) -> Iterator[str]:
        """Yield what is said of a side each of whose rows is an event, though some of them touch.

        The other side has whole events, or its time steps were joined.
        """
        joined = {role: are_steps(counts) for role, counts in self.steps.items()}
        if settings.postprocesses:
            joined["system"] = True
        for role, other in (("reference", "system"), ("system", "reference")):
            if joined.get(role):
                continue
            n = self.steps[role][2] if role in self.steps else self.tables[role].touching
            rows, others, theirs = self.tables[role].rows, self.tables[other].rows, self._table(other)
            most = n >= max(_misread_share("touching-rows") * rows, _FEW_ROWS)
            touching = 0 if other in self.steps else self.tables[other].touching
            text = (
                f"{self._table(role)}: {n:,} of {rows:,} rows begin where another of their class ends: each "
            )
            if n and joined.get(other):
                yield (
                    f"{text}row counts as an event, and touching rows of {theirs} are one event; --events "
                    "merge joins those of both, --events rows those of neither (touching-rows)"
                )
            elif most and others and touching < _HARDLY * others:
                yield (
                    f"{text}row counts as an event, where {theirs} has whole events; --events merge joins "
                    "rows that touch (touching-rows)"
                )

    def _of_others(self, settings: Settings) -> Iterator[str]:
        """Yield what is said of classes that are left out, and where there are none."""
        both = self.reference_classes | self.system_classes
        if not both and settings.classes is None:
            yield "neither table has an event: there is nothing to score"
        left_out = sorted(both - {*self.classes(settings), *(settings.ignore_class or ())})
        if left_out:
            are = be(len(left_out))
            yield f"{listing(left_out, 'class')} {are} not among the classes to evaluate; left out"

    def _of_beyond(self, _: Settings) -> Iterator[str]:
        """Yield how many rows end after their file does, where no doubt of them or of their unit does."""
        for role, (count, seconds) in self.beyond.items():
            table = self.tables.get(role, RowStatistics())
            if not table.after_end and table.unit() is None and not table.is_late():
                end = "ends after its" if count == 1 else "end after their"
                yield (
                    f"{self._table(role)}: {counted(count, f'{role} row')} {end} file's duration, by "
                    f"{seconds:.6g} s at most; {_AFTER_END} (after-end)"
                )

    def _of_settings(self, settings: Settings) -> Iterator[str]:
        """Yield a line for each class that only settings by class have."""
        classes = self.classes(settings)
        for name in _BY_CLASS:
            value = getattr(settings, name)
            for label in value if isinstance(value, dict) else ():
                if label not in classes:
                    hint = did_you_mean(label, classes)
                    yield f"{name} is set for {label!r}, which is not an evaluated class{hint}"

    def _of_ignored(self, settings: Settings) -> Iterator[str]:
        """Yield what was left out for ignored classes."""
        names, counts_events = settings.ignore_class or (), Plan.of(settings).counts_events
        for called, (detections, ticks) in self.ignored.items():
            events = f"{counted(detections, 'detection')} and " if counts_events else ""
            classes = "class" if len(names) == 1 else "classes"
            itself = " (as the reference says by itself)" * (self.declared >= {*names})
            if detections or ticks:
                yield f"{events}{ticks * TICK:.6g} s were left out: ignored {classes} {called}{itself}"
        theirs = sorted(self.system_classes & {*names})
        if theirs:
            yield f"rows of the system of {listing(theirs, 'class')} are left out: ignored"

    def _of_late_rows(self, settings: Settings) -> Iterator[str]:
        """Yield what is assumed where the system goes on after the reference's last offset.

        Nothing where a doubt of its times tells of all these rows.
        """
        n_rows = n_new = sum(count for count, _ in self.after_end.values())
        table = self.tables.get("system", RowStatistics())
        if table.unit() is not None:
            n_new -= table.rows
        elif table.latest is not None and (table.over_day or table.is_late()):
            n_new -= table.latest.file in self.after_end
        if n_new <= 0:
            return
        seconds = max(seconds for _, seconds in self.after_end.values())
        rows = f"{counted(n_rows, 'system row')} of {listing(sorted(self.after_end), 'file')}"
        later = "what comes in later segments can only be false alarms"
        if settings.compat == "sed_eval":
            later += ", except in sed_eval's own scores, where a system makes files longer"
        yield (
            f"{rows} {'ends' if n_rows == 1 else 'end'} up to {seconds:.6g} s after the reference's last "
            f"offset there, which without --durations is assumed to be the end of the file: {later}"
        )

    def _of_lengthless(self, settings: Settings) -> Iterator[str]:
        """Yield which scores miss the false alarms in files of which no length, or no clip, is known."""
        for files, bases, lacking, mend in (
            (self.lengthless, ("segment", "ranking"), "known length", "; --durations gives lengths of files"),
            (self.extra - self.silent, ("clip",), "clip in the reference", ""),
        ):
            scores = Plan.of(settings).needs_lengths(*bases)
            if files and scores:
                have = "has" if len(files) == 1 else "have"
                yield (
                    f"{listing(sorted(files), 'file')} {have} detections and no {lacking}: these do not "
                    f"count in {', '.join(scores)}{mend}"
                )

    def _of_classes(self, settings: Settings) -> Iterator[str]:
        """Yield a line for each class that only the system has, or that neither side has.

        Raises EvaluationError if the tables have classes, none of which is evaluated.
        """
        asked = settings.classes
        strange = sorted(self.system_classes - self.reference_classes - {*(settings.ignore_class or ())})
        if asked is not None:
            # A class that is nearly one to evaluate, which the system never names, is misspelt. All others
            # were left out on purpose: a system may know more classes than an evaluation.
            unnamed = sorted({*asked} - self.system_classes)[:_COMPARED]
            most = _TOLD * _COMPARED // max(1, len(unnamed))
            others = [name for name in strange if name not in asked][:most]
            hints = [(name, did_you_mean(name, unnamed, n=1, cutoff=0.75)) for name in others]
            for name, hint in [pair for pair in hints if pair[1]][:_TOLD]:
                yield f"class {name!r} of the system is not among the classes to evaluate; left out{hint}"
            strange = [name for name in strange if name in asked]
        both = self.reference_classes | self.system_classes
        unnames = [name for name in asked or () if name not in both]
        every, known = sorted(both)[:_COMPARED], sorted(self.reference_classes)[:_COMPARED]
        if unnames and len(unnames) == len(asked or ()) and every:
            # As where a preset of another data set is taken: not one score would have a value.
            text = f"none of the {listing(unnames, 'class')} to evaluate is in either table"
            if len(unnames) == 1:
                hint = did_you_mean(unnames[0], every, n=1)
                text = f"class {unnames[0]!r}, the only one to evaluate, is in neither table{hint}"
            have = listing(every, "class")
            raise EvaluationError(f"{text}; the tables have {have}; expected at least one of these")
        for names, among, cutoff, middle, text in (
            (strange, known, 0.75, "", "not in the reference; counted as false alarms"),
            (unnames, every, 0.6, ", one of those to evaluate,", "in neither table"),
        ):
            for name in names[:_TOLD]:
                yield f"class {name!r}{middle} is {text}{did_you_mean(name, among, n=1, cutoff=cutoff)}"
            if len(names) > _TOLD:
                more, are = listing(names[_TOLD:], "more class"), be(len(names) - _TOLD)
                yield f"{more}{' of those to evaluate' if middle else ''} {are} {text}"


def _lines_of(settings: Settings, *sections: tuple[object, Callable[[Settings], Iterable[str]]]) -> list[str]:
    """Return the lines of those sections about which there is something to say."""
    return [line for there, section in sections if there for line in section(settings)]


def _sums(parts: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the sums of counts."""
    return tuple(map(sum, zip(*parts, strict=True)))


def counts_and_most(parts: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return the sums of counts and the most of the seconds that stand after them."""
    *counts, seconds = zip(*parts, strict=True)
    return *map(sum, counts), max(seconds)


# What rows and names tell, here and in `validate`.


def last_offsets(rows: EventTable) -> Floats:
    """Return the last offset of each file of a table, 0 where it has no row."""
    last = np.zeros(len(rows.files))
    np.maximum.at(last, rows.file, rows.offset)
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
    np.maximum.at(step, rows.file[~late], length[~late])
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
    np.maximum.at(step, rows.file, rows.offset - rows.onset)
    return np.flatnonzero((last > 0) & (last < expected - np.maximum(step, TICK)))


class Ordered(NamedTuple):
    """Rows by group (file and class; the file in a wide table) and onset.

    row: (n,) where each stands in the table. same, overlaps, repeats: (n - 1,) whether each but the first is
    of the group of the one before it, begins before that one has ended, and has its times.
    """

    row: Index
    onset: Floats
    offset: Floats
    same: Bools
    overlaps: Bools
    repeats: Bools

    @classmethod
    def of(cls, rows: EventTable, group: Groups, order: Index | None = None) -> Ordered:
        """Take rows in an order; None: by group and onset, those with the same tick as in the table."""
        at = _by_time(rows, group) if order is None else order
        group, onset, offset = group[at], rows.onset[at], rows.offset[at]
        same = group[1:] == group[:-1]
        repeats = same & (onset[1:] == onset[:-1]) & (offset[1:] == offset[:-1])
        row = np.arange(len(rows))[at]
        return cls(row, onset, offset, same, same & (onset[1:] < offset[:-1] - TICK / 2), repeats)


def _by_time(rows: EventTable, group: Groups) -> Index | slice:
    """Return the order of rows by group and onset, those with the same tick as in the table."""
    onset = rows.onset
    if np.where(group[1:] == group[:-1], onset[1:] >= onset[:-1], group[1:] > group[:-1]).all():
        return slice(None)
    key = _joint_key(rows, group)
    # One number is sorted in a tenth of the time of two, where rows are nearly in order.
    return np.lexsort((onset, group)) if key is None else np.argsort(key, kind="stable")


def _joint_key(rows: EventTable, group: npt.NDArray[np.integer[Any]], *last: Codes) -> Groups | None:
    """Return a number for each row, by group, onset and the last; None where it might be too large."""
    columns = group, np.rint(rows.onset * (1 / TICK)).astype(np.int64), *last
    sizes = [int(column.max()) + 1 for column in columns]
    return np.ravel_multi_index(columns, sizes) if math.prod(sizes) < _MOST else None


def _count_neighbours(rows: EventTable) -> dict[str, int]:
    """Return what `RowStatistics` has of neighbours: repeated, overlapping, shifted, gaps and touching."""
    if rows.born is not None:
        # At each threshold of an operating point events are there again.
        return {}
    if rows.has_values and not rows.has_steps:
        # Of a table of values only repeated rows tell anything. Mostly it is in order of time, then of class,
        # and each row begins apart from all others of its class.
        key = _joint_key(rows, rows.file, rows.row_label)
        if key is not None and ((key[1:] > key[:-1]).all() or len(distinct(key)) == len(key)):
            return {}
    ordered = Ordered.of(rows, rows.groups())
    later = ordered.onset[1:] > ordered.offset[:-1] + TICK / 2
    overlapping = ordered.overlaps & ~ordered.repeats
    ends = ordered.offset[1:], ordered.offset[:-1]
    shared, covered = np.minimum(*ends) - ordered.onset[1:], np.maximum(*ends) - ordered.onset[:-1]
    return {
        "repeated": int(np.count_nonzero(ordered.repeats)),
        # Windows that slide are rows with values that overlap by nature.
        "overlapping": 0 if rows.has_values else int(np.count_nonzero(overlapping)),
        "shifted": 0 if rows.has_values else int(np.count_nonzero(overlapping & (2 * shared >= covered))),
        "gaps": int(np.count_nonzero(ordered.same & later)) if rows.has_steps else 0,
        "touching": 0 if rows.has_values else int(np.count_nonzero(touching_rows(ordered))),
    }


def touching_rows(ordered: Ordered) -> Bools:
    """Return which rows but the first begin where the one before ends, both with a length, (n - 1,)."""
    has_length = ordered.offset > ordered.onset
    touching = ordered.same & (np.abs(ordered.onset[1:] - ordered.offset[:-1]) <= TICK / 2)
    return touching & has_length[1:] & has_length[:-1]


def step_counts(rows: EventTable) -> tuple[int, int, int]:
    """Return what tells whether the rows of a table with values are time steps, see `are_steps`.

    The first two are of functions of time (a class in a file) some rows of which touch or overlap, as only
    there it matters: how many rows, and how many begin where the row before ends and are as long as it is, to
    the rounding of milliseconds. The third: how many begin where the row before ends, whatever their lengths.
    Rows that are there twice count once. The counts of parts of a table add up.
    """
    if rows.has_steps or rows.origin.joined:
        return (len(rows),) * 3
    ordered = Ordered.of(rows, rows.groups())
    touching, length = touching_rows(ordered), ordered.offset - ordered.onset
    meets = touching | ordered.overlaps | ordered.repeats
    group = np.append(0, np.cumsum(~ordered.same)) if len(rows) else np.zeros(0, dtype=np.intp)
    in_question = np.bincount(group[1:][meets], minlength=len(group))[group] > 0
    n_rows = np.count_nonzero(in_question) - np.count_nonzero(ordered.repeats)
    goes_on = touching & (np.abs(np.diff(length)) <= _ROUNDING)
    return int(n_rows), int(np.count_nonzero(goes_on)), int(np.count_nonzero(touching))


def are_steps(counts: tuple[int, ...]) -> bool:
    """Return whether rows are time steps by their `step_counts`: most go on where the one before ends.

    Rows that touch and are of one length are on one grid, too.
    """
    return 2 * counts[1] > counts[0]


def joined_as_whole(parts: Sequence[AlignmentReport]) -> dict[str, bool]:
    """Return by role whether the rows of all parts together are time steps; nothing if each part says so."""
    steps = [item for part in parts for item in part.steps.items()]
    roles = dict.fromkeys(role for role, _ in steps)
    whole = {role: are_steps(_sums([counts for of, counts in steps if of == role])) for role in roles}
    return whole if any(counts[0] and are_steps(counts) != whole[role] for role, counts in steps) else {}


def similar_names(names: Iterable[str]) -> dict[str, str]:
    """Return names that differ from an earlier one as `folded` names do not, with that one."""
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
