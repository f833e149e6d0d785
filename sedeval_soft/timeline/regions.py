"""Evaluated regions: the time that counts, and the treatment of rows and events at their edges.

A region has its begin and all up to its end. Regions that overlap or touch are one. Times are whole ticks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.arrays import Bools, Index, distinct, expand, running_maximum
from sedeval_soft.checks.alignment import AlignmentReport
from sedeval_soft.errors import InputError, Problem, be
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import LONGEST, UNNAMED, EventTable
from sedeval_soft.tables.filenames import listing, match_names
from sedeval_soft.tables.ticks import TICKS_PER_SECOND, Ticks, tick, to_seconds, to_ticks
from sedeval_soft.timeline.events import events_of

Codes = npt.NDArray[np.integer[Any]]

END = int(LONGEST) * TICKS_PER_SECOND
"""Ticks: end of a region that ends with its file, at whatever time."""


_LINE = 1 << 62
"""Ticks that all files may have on one line."""


@dataclass(frozen=True, slots=True)
class Regions:
    """Regions of files, sorted by file and begin; regions of a file neither overlap nor touch.

    file: (n,) codes. begin, end: (n,) ticks, begin < end.
    """

    file: Index
    begin: Ticks
    end: Ticks

    @classmethod
    def of(cls, file: Codes, begin: Ticks, end: Ticks) -> Regions:
        """Join regions, in any order, that overlap or touch; regions without extent vanish."""
        some = np.flatnonzero(end > begin)
        order = some[np.lexsort((begin[some], file[some]))]
        codes, begin, end = file[order].astype(np.int64), begin[order], end[order]
        if not len(order):
            return cls(codes, begin, end)
        reach = running_maximum(end, codes)
        new = np.append(True, (codes[1:] != codes[:-1]) | (begin[1:] > reach[:-1]))
        first = np.flatnonzero(new)
        return cls(codes[first], begin[first], reach[np.append(first[1:], len(codes)) - 1])

    def __and__(self, other: Regions) -> Regions:
        """Return the time in regions of both."""
        first, last = other._met(self.file, self.begin, self.end)
        ours, theirs = expand(first, last)
        begin = np.maximum(self.begin[ours], other.begin[theirs])
        return Regions.of(self.file[ours], begin, np.minimum(self.end[ours], other.end[theirs]))

    def moved(self, move: Callable[[Ticks], Ticks]) -> Regions:
        """Return the regions with all their times moved."""
        return Regions.of(self.file, move(self.begin), move(self.end))

    def until(self, ends: Ticks) -> Regions:
        """Return the regions as far as their files go; ends: (n_files,) ticks."""
        return Regions.of(self.file, self.begin, np.minimum(self.end, ends[self.file]))

    def with_files(self, codes: Index) -> Regions:
        """Return the regions of some files; codes: (n_files,) their new codes, -1 for dropped files."""
        file = codes[self.file]
        stays = file >= 0
        return Regions.of(file[stays], self.begin[stays], self.end[stays])

    def lengths(self, n_files: int) -> Ticks:
        """Return the total length of each file's regions, (n_files,) ticks."""
        total = np.zeros(n_files, dtype=np.int64)
        np.add.at(total, self.file, self.end - self.begin)
        return total

    def last(self, n_files: int) -> Ticks:
        """Return the end of the last region of each file, (n_files,) ticks, 0 for a file without regions."""
        last = np.zeros(n_files, dtype=np.int64)
        np.maximum.at(last, self.file, self.end)
        return last

    def before(self, file: Codes, time: Ticks) -> Ticks:
        """Return the length of regions before times of files, (n,) ticks.

        Only differences have a meaning: regions of earlier files are included.
        """
        n = self._number(self.begin, file, time, "left")
        # Of the last region that begins before, what lies after the time is too much.
        own = np.append(-1, self.file)[n] == file
        over = np.where(own, np.append(0, self.end)[n] - time, 0)
        ticks: Ticks = np.append(0, np.cumsum(self.end - self.begin))[n] - np.maximum(over, 0)
        return ticks

    def within(self, file: Codes, begin: Ticks, end: Ticks) -> Ticks:
        """Return how much of some stretches of time of files is in their regions, (n,) ticks."""
        return self.before(file, end) - self.before(file, begin)

    def at(self, file: Codes, time: Ticks) -> Index:
        """Return the last region of all that begins at some times of files or before, (n,)."""
        return self._number(self.begin, file, time, "right") - 1

    def hold(self, file: Codes, onset: Ticks, offset: Ticks) -> Bools:
        """Return which events have their onset in a region, (n,)."""
        instant = offset <= onset
        first, last = self._met(file, onset, np.where(instant, onset, onset + 1))
        held: Bools = last > first
        return held

    def cut(self, rows: EventTable) -> EventTable:
        """Return the parts of a table's rows in the regions, in order; times that are not cut stay.

        Codes are the codes of the regions' files. A row without extent is in a region that it touches.
        """
        onset, offset = to_ticks(rows.onset), to_ticks(rows.offset)
        first, last = self._met(rows.file, onset, offset)
        row, region = expand(first, last)
        begin, end = self.begin[region], self.end[region]
        early, late = onset[row] < begin, offset[row] > end
        if len(row) == len(rows) and not (early.any() or late.any() or np.any(first == last)):
            return rows
        inside = rows.take(row)
        return replace(
            inside,
            onset=np.where(early, to_seconds(begin), inside.onset),
            offset=np.where(late, to_seconds(end), inside.offset),
        )

    def _met(self, file: Codes, onset: Ticks, offset: Ticks) -> tuple[Index, Index]:
        """Return the regions that meet stretches of time, as first and one past the last, (n,) each.

        A stretch without extent meets a region that it touches, other stretches meet the regions that they
        overlap.
        """
        instant = offset <= onset
        first = self._number(self.end, file, onset, "right")
        last = self._number(self.begin, file, offset, "left")
        at = np.flatnonzero(instant)
        first[at] = self._number(self.end, file[at], onset[at], "left")
        last[at] = self._number(self.begin, file[at], onset[at], "right")
        return first, np.maximum(last, first)

    def _number(self, times: Ticks, file: Codes, time: Ticks, side: Any) -> Index:  # noqa: ANN401
        """Return the number of regions before some times, including regions of earlier files, (n,).

        times: begins or ends of regions. side: `right` to include begins or ends at the time itself.
        """
        most = int(time.max(initial=0)) + 1
        last = max(int(codes.max(initial=0)) for codes in (self.file, file))
        if (last + 1) * (most + 1) < _LINE:
            # All files are on one line.
            key, place = self.file * (most + 1) + np.minimum(times, most), file * np.int64(most + 1) + time
            return np.searchsorted(key, place, side=side)
        # Times become ranks among the times of regions: codes and ranks make small numbers.
        ranks = distinct(times)
        scale = len(ranks) + 1
        key = self.file * scale + np.searchsorted(ranks, times)
        wanted = file.astype(np.int64) * scale + np.searchsorted(ranks, time, side=side)
        number: Index = np.searchsorted(key, wanted, side="left")
        return number


def cut_by_class(rows: EventTable, own: Mapping[str, Regions]) -> EventTable:
    """Return the parts of rows in the regions of their class, as a long table.

    own: regions by class, of other classes by the empty name.
    """
    parts = []
    for k, name in enumerate(rows.classes):
        if rows.label is None:
            some = np.flatnonzero(rows.values[k] > 0)
            of_class = replace(rows, values=rows.values[k : k + 1], label=np.full(len(rows), k, np.int32))
        else:
            some, of_class = np.flatnonzero(rows.label == k), rows
        parts.append(own.get(name, own[""]).cut(of_class.take(some)))
    return EventTable.join(parts, rows.files) if parts else rows


def regions_of(
    reference: EventTable,
    files: tuple[str, ...],
    lengths: Mapping[str, float],
    settings: Settings,
    findings: AlignmentReport,
) -> tuple[Regions, dict[str, Regions], Bools, AlignmentReport]:
    """Return the evaluated regions, the files that have some, (n_files,), and findings without the others.

    Beside the regions of any class it returns the regions of each class by name, see `cut_by_class`.

    reference: coded into `files`. lengths: durations in seconds, if known. Regions are coded into the files
    that have some.
    """
    codes, n_files = np.arange(len(files)), len(files)
    ends = np.array([tick(lengths[name]) if name in lengths else END for name in files], dtype=np.int64)
    regions, listed = Regions.of(codes, np.zeros_like(ends), ends), {}
    own, doubtful = dict[str, Regions](), findings.doubtful
    if settings.regions is not None:
        names = [*dict.fromkeys(name for name, *_ in settings.regions)]
        listed = dict.fromkeys(names, UNNAMED)
        if UNNAMED not in files:
            # Files that are left out for another reason are there all the same.
            outside = findings.dropped | findings.reference_outside | findings.system_outside
            match = match_names([*files, *sorted(outside)], names)
            listed = {name: own for name, own in match.canonical.items() if own in {*files, *outside}}
            if match.ambiguous:
                text = f"regions: {listing(match.ambiguous, 'file')} could be more than one file of "
                text += f"{reference.origin.name} (with and without folders or extension); taken as written"
                doubtful |= {text}
        elif len(names) > 1:
            text = "there is no column of file names, but regions name files; expected a filename column"
            raise InputError(Problem(reference.origin.name, text, code="missing-filename-column"))
        code = {name: k for k, name in enumerate(files)}
        rows = [(code[listed[name]], *each) for name, *each in settings.regions if listed.get(name) in code]

        def of(*labels: str) -> Regions:
            some = [row[:3] for row in rows if not labels or row[3] in labels]
            file, begin, end = np.array(some, dtype=np.float64).reshape(-1, 3).T
            return Regions.of(file.astype(np.int64), to_ticks(begin), to_ticks(end)).until(ends)

        regions = of()
        if settings.regions.labels:
            own = {label: of("", label) for label in ("", *settings.regions.labels)}
            unknown = {*settings.regions.labels} - findings.reference_classes - findings.system_classes
            text = f"regions: {listing(sorted(unknown), 'class')} {be(len(unknown))} on neither side"
            doubtful |= {text} if unknown else set()
    few = np.zeros(n_files, dtype=bool)
    if settings.shots is not None:
        after = _after_shots(reference, *settings.shots, settings)
        few = after < 0
        shots = Regions.of(codes, np.where(few, END, after), np.full(n_files, END))
        regions, own = regions & shots, {label: each & shots for label, each in own.items()}
    stays = regions.lengths(n_files) > 0
    left_out = frozenset(compress(files, (~stays).tolist()))
    too_few = frozenset(compress(files, few.tolist()))
    findings = replace(
        findings,
        **{name: getattr(findings, name) - left_out for name in ("missing", "extra", "unlisted")},
        doubtful=doubtful,
        regions_listed=frozenset(listed),
        with_region=frozenset({*files} - left_out),
        without_region=left_out - too_few,
        too_few_shots=too_few,
    )
    places = np.where(stays, np.cumsum(stays) - 1, -1)
    own = {label: each.with_files(places) for label, each in own.items()}
    return regions.with_files(places), own, stays, findings


def _after_shots(rows: EventTable, number: int, label: str | None, settings: Settings) -> Ticks:
    """Return the end of the N-th event of each file, (n_files,) ticks, -1 for files with fewer events.

    number: N. label: the class of the events, None for all that are evaluated. Events are in order of onset,
    then of offset.
    """
    events = events_of(rows, settings.reference_cut, settings.inclusive, merge=bool(rows.origin.joined))
    wanted = {*(settings.classes or rows.classes)} - {*(settings.ignore_class or ())}
    wanted = wanted if label is None else {label}
    events = events.take(np.array([name in wanted for name in rows.classes], dtype=bool)[events.label])
    events = events.take(np.lexsort((events.offset, events.onset, events.file)))
    first = np.searchsorted(events.file, np.arange(len(rows.files) + 1))
    has = np.diff(first) >= number
    after = np.full(len(rows.files), -1, dtype=np.int64)
    after[has] = events.offset[first[:-1][has] + number - 1]
    return after
