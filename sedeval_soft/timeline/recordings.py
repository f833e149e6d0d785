"""Reference and system brought together: one list of files, one list of classes, one length each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.errors import InputError, Problem, be
from sedeval_soft.plan import Plan
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import LONGEST, UNNAMED, EventTable, enter_maxima
from sedeval_soft.tables.filenames import listing, match_names
from sedeval_soft.tables.ticks import Ticks, to_ticks
from sedeval_soft.timeline.alignment_report import AlignmentReport, named_alike
from sedeval_soft.timeline.events import Events, active, active_rows, events_of
from sedeval_soft.timeline.grid import Edges
from sedeval_soft.timeline.plausibility import decimal_doubts, last_offsets, tables_read
from sedeval_soft.timeline.postprocess import postprocessed


@dataclass(frozen=True, slots=True)
class Recordings:
    """Two tables whose codes mean the same.

    files: all evaluated files, sorted. classes: all evaluated classes, sorted unless they were named.
    reference, system: the rows, coded into `files` and `classes`.
    length: (n_files,) evaluated seconds of each file: its duration where given, else the last
        offset of the reference: what a system adds must not make a recording longer.
    reach: (n_files,) seconds that segments cover: `length`, and without a duration all that the system has
        beyond it, which may be false alarms, but never is a true negative, and no time that rates divide by.
    raw: the system's rows before post-processing. findings: what a person should know about the two tables.
    expected: the classes that the settings or the reference name. Others are known from the system alone:
        they may be false alarms, too, and never true negatives.
    in_reference: (n_files,) whether the reference or the durations name a file.
    """

    files: tuple[str, ...]
    classes: tuple[str, ...]
    reference: EventTable
    system: EventTable
    length: npt.NDArray[np.float64]
    reach: npt.NDArray[np.float64]
    raw: EventTable
    expected: frozenset[str]
    in_reference: npt.NDArray[np.bool_]
    findings: AlignmentReport = field(default_factory=AlignmentReport)

    @property
    def length_ticks(self) -> Ticks:
        """Return the evaluated length of each file in ticks, shape (n_files,)."""
        return to_ticks(self.length)

    @property
    def reach_ticks(self) -> Ticks:
        """Return what segments cover of each file in ticks, shape (n_files,)."""
        return to_ticks(self.reach)


def align(
    reference: EventTable,
    system: EventTable,
    settings: Settings,
    durations: Mapping[str, float] | None = None,
) -> Recordings:
    """Bring a reference and a system onto one list of files and one of classes.

    A file or class that one side lacks is evaluated all the same (as all false alarms or all
    misses) and found. `durations` (seconds by file name) is also the list of evaluated files:
    it adds files without any row, and leaves out system files that neither it nor the reference names.
    `settings.classes` restricts and orders the classes. The system's rows are post-processed as the
    settings ask for.

    Raises InputError where names cannot be matched.
    """
    reference, system = name_single_file(reference, system, durations or {})
    doubtful = [
        f"{side.origin.name}: {text}"
        for side in (reference, system)
        for text in (*side.origin.assumed, *decimal_doubts(side))
    ]
    by_reference = reference.files, reference.origin.name
    listed = _match_files(*by_reference, [*(durations or {})], "durations", doubtful)
    lengths = {listed[name]: seconds for name, seconds in (durations or {}).items()}
    unlisted = {*reference.files} - {*lengths} if durations is not None else set()
    unknown = {*lengths} - {*reference.files}
    hint = named_alike(unlisted, unknown, ("reference", "durations"))
    if hint:
        doubtful.append(
            f"durations: {listing(sorted(unknown), 'file')} {be(len(unknown))} not in the reference{hint}"
        )
    reference_files = tuple(dict.fromkeys([*reference.files, *lengths]))
    matched = _match_files(reference_files, reference.origin.name, system.files, system.origin.name, doubtful)
    in_system = {*matched.values()}
    files = tuple(sorted({*reference_files} if durations is not None else {*reference_files} | in_system))
    findings = AlignmentReport(
        missing=frozenset({*reference.files} - in_system),
        extra=frozenset((in_system & {*files}) - {*reference_files}),
        dropped=frozenset(in_system - {*files}),
        unlisted=frozenset(unlisted),
        doubtful=frozenset(doubtful),
        notes=frozenset(f"{s.origin.name}: {note}" for s in (reference, system) for note in s.origin.notes),
        reference_classes=frozenset(reference.classes),
        system_classes=frozenset(system.classes),
    )
    classes = findings.classes(settings)
    expected = findings.reference_classes if settings.classes is None else frozenset(classes)
    codes = {name: code for code, name in enumerate(files)}
    reference = reference.with_files(files, [codes[name] for name in reference.files])
    system = system.with_files(files, [codes.get(matched[name], -1) for name in system.files])
    last = {"reference": last_offsets(reference), "system": last_offsets(system)}
    length = _lengths(reference, last["reference"])
    said = _said(system, last["system"], length, settings)
    reach = np.maximum(length, _lengths(said, last["system"] if said is system else last_offsets(said)))
    given = {codes[name]: seconds for name, seconds in lengths.items()}
    for seconds in (length, reach):
        seconds[list(given)] = list(given.values())
    in_reference = np.zeros(len(files), dtype=bool)
    in_reference[[codes[name] for name in reference_files]] = True
    # Of a file that only the system names it is said that the reference has no such file, and what it has in
    # one that the reference declares to be without events are false alarms wherever they are.
    ends_known = ~in_reference | (length == 0)
    ends_known[list(given)] = True
    ends = np.full(len(files), np.inf)
    ends[list(given)] = length[list(given)]
    over = {
        role: _beyond(side, last[role], ends) for role, side in (("reference", reference), ("system", system))
    }
    tables = tables_read(reference, system, given, last)
    reference, raw = reference.with_classes(classes), system.with_classes(classes)
    findings = replace(
        findings,
        beyond={role: found for role, found in over.items() if found[0]},
        after_end=_after_end(raw, last["system"], np.where(ends_known, LONGEST, length)),
        tables=tables,
        off_grid=_off_grid({"reference": reference, "system": raw}, settings),
    )
    return Recordings(
        files,
        classes,
        reference,
        postprocessed(raw, settings),
        length,
        reach,
        raw,
        expected,
        in_reference,
        findings,
    )


def with_classes(pair: Recordings, classes: tuple[str, ...]) -> Recordings:
    """Return a pair of some of its classes, in this order; lengths and post-processing stay as they are."""
    return _recoded(pair, lambda rows: rows.with_classes(classes), classes=classes)


def with_files(pair: Recordings, files: tuple[str, ...]) -> Recordings:
    """Return a pair of some of its files, given in their order; all classes stay."""
    position = {name: code for code, name in enumerate(files)}
    codes = [position.get(name, -1) for name in pair.files]
    stays = np.asarray(codes, dtype=np.int64) >= 0
    of_files = {name: getattr(pair, name)[stays] for name in ("length", "reach", "in_reference")}
    return _recoded(pair, lambda rows: rows.with_files(files, codes), files=files, **of_files)


def _recoded(pair: Recordings, recode: Callable[[EventTable], EventTable], **changed: Any) -> Recordings:  # noqa: ANN401 - fields
    system = recode(pair.system)
    raw = system if pair.raw is pair.system else recode(pair.raw)
    return replace(
        pair, reference=recode(pair.reference), system=system, raw=raw, findings=AlignmentReport(), **changed
    )


def name_single_file(
    reference: EventTable, system: EventTable, durations: Mapping[str, float]
) -> tuple[EventTable, EventTable]:
    """Give the rows of a table without file names the name of the other table's, or duration's, only file."""
    if reference.files == system.files == (UNNAMED,) and len(durations) == 1:
        return replace(reference, files=tuple(durations)), replace(system, files=tuple(durations))
    sides = [reference, system]
    for this, other in ((0, 1), (1, 0)):
        if UNNAMED in sides[this].files and UNNAMED not in sides[other].files:
            if len(sides[other].files) > 1:
                named, unnamed = sides[other].origin.name, sides[this].origin.name
                raise InputError(
                    Problem(
                        unnamed,
                        f"there is no column of file names, but {named} has "
                        f"{len(sides[other].files)} files; expected a filename column",
                        code="missing-filename-column",
                    )
                )
            if sides[other].files:
                sides[this] = replace(sides[this], files=sides[other].files)
    return sides[0], sides[1]


def _match_files(
    reference: Sequence[str], reference_name: str, other: Sequence[str], other_name: str, doubtful: list[str]
) -> dict[str, str]:
    match = match_names(reference, other)
    if match.ambiguous:
        doubtful.append(
            f"{other_name}: {listing(match.ambiguous, 'file name')} could be more than one file of "
            f"{reference_name} (with and without folders or extension); taken as written"
        )
    return match.canonical


def _beyond(
    rows: EventTable, last: npt.NDArray[np.float64], length: npt.NDArray[np.float64]
) -> tuple[int, float]:
    """Return how many rows end after their file does, and by how many seconds at the most.

    last, length: (n_files,) seconds: where the last row of each file ends, and where the file does.
    """
    if not (last > length).any():
        return 0, 0.0
    over = rows.offset - length[rows.file]
    return int(np.count_nonzero(over > 0)), float(over.max(initial=0.0))


def _off_grid(sides: Mapping[str, EventTable], settings: Settings) -> dict[str, tuple[int, int, float]]:
    """Return by role what rows show of a grid that is nearly that of the segments, if these are evaluated."""
    if not Plan.of(settings).counts_segments:
        return {}
    edges = Edges(settings.segment_ticks)
    found = {role: edges.near_misses(rows.file, rows.onset, rows.offset) for role, rows in sides.items()}
    return {role: of for role, of in found.items() if of[0]}


def _after_end(
    rows: EventTable, last: npt.NDArray[np.float64], length: npt.NDArray[np.float64]
) -> dict[str, tuple[int, float]]:
    """Return by file how many rows end after it does, and by how many seconds at the most.

    last, length: (n_files,) seconds: no row of a file ends after the one, and the file ends at the other.
    Times are compared in ticks: what no segment can tell is not later.
    """
    if not (to_ticks(last) > to_ticks(length)).any():
        return {}
    late = np.flatnonzero(to_ticks(rows.offset) > to_ticks(length)[rows.file])
    n_rows, seconds = np.bincount(rows.file[late], minlength=len(length)), np.zeros(len(length))
    enter_maxima(seconds, rows.file[late], rows.offset[late] - length[rows.file[late]])
    return {
        rows.files[file]: (int(n_rows[file]), float(seconds[file]))
        for file in np.flatnonzero(n_rows).tolist()
    }


def _said(
    rows: EventTable, last: npt.NDArray[np.float64], length: npt.NDArray[np.float64], settings: Settings
) -> EventTable:
    """Return the rows of a system that make segments after the end of their file.

    last, length: (n_files,) seconds: where the last row of each file ends, and where the file does.
    Those of value 0 or without extent say nothing there. sed_eval has no values: in its scores every row
    makes a file longer.
    """
    if not len(rows) or settings.compat == "sed_eval":
        return rows
    late = np.zeros(0, dtype=np.intp)
    if (last > length).any():
        late = np.flatnonzero((rows.offset > length[rows.file]) & (rows.offset > rows.onset))
    return rows.take(late[rows.sounding(late)])


def _lengths(rows: EventTable, last: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the last offset of each file, (n_files,), in seconds; raises InputError where one is too late.

    last: (n_files,) the same of these rows, which stays as it is.
    """
    if last.max(initial=0.0) > LONGEST:
        raise InputError(
            Problem(
                rows.origin.name,
                f"a row ends at {last.max():g} s, over {LONGEST:g} s (31 years); expected seconds",
                code="time-too-long",
            )
        )
    return last.copy()


# Values of whole files (clips), for one table: a file takes the largest value of what lies in it.


Floats = npt.NDArray[np.float64]


def clip_sides(pair: Recordings) -> tuple[Floats, Floats]:
    """Return the values of all files of all classes of reference and system, (n_classes, n_files) each.

    What the system has after the evaluated length of a file is a false alarm where the reference does not
    have the class, and is nothing where it has: else a system could have every class somewhere later.
    """
    reference, inside = (clip_values(rows, pair.length_ticks) for rows in (pair.reference, pair.system))
    if np.array_equal(pair.length, pair.reach):
        return reference, inside
    return reference, np.where(reference > 0, inside, clip_values(pair.system, pair.reach_ticks))


def clip_values(rows: EventTable, length: Ticks) -> Floats:
    """Return the values of all files of all classes, shape (n_classes, n_files).

    length: (n_files,) ticks. Rows without extent, and those that begin at the end of their file or later,
    count nothing, as on the grid of segments.
    """
    spans, n_files = rows.spans(), len(length)
    inside = np.flatnonzero((spans.offset > spans.onset) & (spans.onset < length[spans.file]))
    place = spans.file[inside].astype(np.int64)
    if spans.label is not None:
        place += spans.label[inside] * np.int64(n_files)
    values = np.zeros((len(rows.classes), n_files))
    for track in rows.tracks():
        value = np.ones(len(inside)) if track.value is None else track.value[inside]
        enter_maxima(values[track.classes.start : track.classes.stop].reshape(-1), place, value)
    return values


# The hard reading of a pair: what is active on either side at its threshold.


Bools = npt.NDArray[np.bool_]


def merges(rows: EventTable, settings: Settings) -> bool:
    """Return whether touching rows of a table are one event."""
    return rows.has_values if settings.events == "auto" else settings.events == "merge"


def hard_events(pair: Recordings, settings: Settings) -> tuple[Events, Events]:
    """Return the events of the reference and of the system, merged or not as the settings say."""
    # Greedy matching, and sed_eval's, go by the order of the table. Which optimal one is found must not.
    as_read = settings.matching == "greedy" or settings.compat is not None

    def side(rows: EventTable, cut: float) -> Events:
        merge = merges(rows, settings)
        events = events_of(rows, cut, settings.inclusive, merge)
        if merge:
            return events.by_time() if as_read else events
        return events if as_read else events.in_order()

    return side(pair.reference, settings.reference_cut), side(pair.system, settings.threshold)


def rowwise_events(pair: Recordings, settings: Settings) -> tuple[Events, Events]:
    """Return the active rows of the reference and of the system, each an event of its own."""
    return (
        active_rows(pair.reference, settings.reference_cut, settings.inclusive),
        active_rows(pair.system, settings.threshold, settings.inclusive),
    )


def positive(reference: Floats, settings: Settings) -> Bools:
    """Return where reference values are active."""
    return active(reference, settings.reference_cut, settings.inclusive)


def detected(system: Floats, settings: Settings) -> Bools:
    """Return where system values are active."""
    return active(system, settings.threshold, settings.inclusive)
