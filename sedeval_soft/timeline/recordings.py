"""Alignment of reference and system: one list of files, one list of classes, one length each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from sedeval_soft.arrays import Bools, Floats, distinct, for_each
from sedeval_soft.checks.alignment import AlignmentReport, said
from sedeval_soft.checks.names import NAMES
from sedeval_soft.checks.rows import (
    STEP_ROUNDING,
    Ordered,
    RowStatistics,
    Side,
    are_steps,
    by_time,
    last_offsets,
)
from sedeval_soft.errors import InputError, Problem, be, counted, quoted
from sedeval_soft.plan import Plan
from sedeval_soft.settings import Settings
from sedeval_soft.tables.columns import option
from sedeval_soft.tables.event_table import AXES, LONGEST, UNNAMED, EventTable, Origin
from sedeval_soft.tables.filenames import listing, match_names, named_alike, without_folders
from sedeval_soft.tables.ticks import Ticks, to_seconds, to_ticks
from sedeval_soft.timeline.events import (
    SILENCE,
    EventLifetimes,
    Events,
    Timed,
    active,
    active_rows,
    events_of,
    lifetimes_of,
)
from sedeval_soft.timeline.grid import Edges, Grid, maxima, pool_rows

if TYPE_CHECKING:
    from sedeval_soft.timeline.regions import Regions


Of = TypeVar("Of", bound=Timed)
"""Events of one threshold, or of all."""


class Recordings(NamedTuple):
    """Two tables with common codes for files and classes.

    files: All evaluated files, sorted.
    classes: All evaluated classes, sorted unless they were named.
    reference, system: The rows, coded into `files` and `classes`.
    length: (n_files,) evaluated seconds of each file: its duration if given, else the last offset of the
        reference: System rows must not make a recording longer.
    reach: (n_files,) seconds that segments cover: `length`, and without a duration also the time of the
        system's rows after it. This time may have false alarms, but no true negatives, and rates do
        not divide by it.
    raw: The system's rows before post-processing.
    findings: Findings of the alignment of the two tables.
    expected: The classes that the settings or the reference name. Other classes are known from the system
        alone: they may be false alarms, but never true negatives.
    in_reference: (n_files,) whether the reference or the durations name a file.
    is_known: (n_files,) whether `length` is the end of the recording, by its duration or regions: else the
        recording may go on.
    plan: The evaluation plan, settled for these tables: classes that the reference itself ignores are
        ignored, and `joined` of a side's origin settles whether its touching rows are one event.
    ignored: The rows of ignored classes of the reference, None if no class is ignored.
    regions: The evaluated regions, None for whole files. Rows of `reference`, `system` and `ignored` are cut
        to the regions, and a file ends with its last region; `raw` is not cut.
    whole: The three tables before the cut, if an event counts whole by its onset in a region; else None.
    """

    files: tuple[str, ...]
    classes: tuple[str, ...]
    reference: EventTable
    system: EventTable
    length: Floats
    reach: Floats
    raw: EventTable
    expected: frozenset[str]
    in_reference: Bools
    is_known: Bools
    plan: Plan
    findings: AlignmentReport = AlignmentReport()
    ignored: EventTable | None = None
    regions: Regions | None = None
    whole: tuple[EventTable, EventTable, EventTable | None] | None = None

    @property
    def settings(self) -> Settings:
        """Return the settings, as they are settled for these tables."""
        return self.plan.settings

    @property
    def length_ticks(self) -> Ticks:
        """Return the end of each file in ticks, shape (n_files,)."""
        return to_ticks(self.length)

    @property
    def reach_ticks(self) -> Ticks:
        """Return the time that segments cover of each file in ticks, shape (n_files,)."""
        return to_ticks(self.reach)

    def with_classes(self, classes: tuple[str, ...]) -> Recordings:
        """Return some of the classes, in this order; lengths and post-processing stay as they are."""
        return self._recoded(lambda rows: rows.with_classes(classes), classes=classes)

    def with_files(self, files: tuple[str, ...]) -> Recordings:
        """Return some of the files, given in their order; all classes stay."""
        if files == self.files:
            return self
        position = {name: code for code, name in enumerate(files)}
        codes = [position.get(name, -1) for name in self.files]
        stays = np.asarray(codes, dtype=np.int64) >= 0
        names = ("length", "reach", "in_reference", "is_known")
        columns = {name: getattr(self, name)[stays] for name in names}
        if self.regions is not None:
            columns["regions"] = self.regions.with_files(np.asarray(codes, dtype=np.int64))

        def ignored(rows: EventTable | None) -> EventTable | None:
            return rows and rows.with_files(files, codes)

        return self._recoded(lambda rows: rows.with_files(files, codes), ignored, files=files, **columns)

    def inside(self, rows: EventTable) -> EventTable:
        """Return the evaluated parts of rows of events that were made of `raw`."""
        return rows if self.regions is None or self.whole else self.regions.cut(rows)

    @property
    def event_rows(self) -> tuple[EventTable, EventTable]:
        """The rows of both sides that make events; `held` selects the events that count."""
        return self.whole[:2] if self.whole else (self.reference, self.system)

    def held(self, events: Of) -> Of:
        """Return the events that count, if their onset decides it."""
        if self.regions is None or self.whole is None:
            return events
        return events.take(self.regions.hold(events.file, events.onset, events.offset))

    def _recoded(
        self,
        recode: Callable[[EventTable], EventTable],
        ignored: Callable[[EventTable | None], EventTable | None] = lambda rows: rows,
        **changed: Any,  # noqa: ANN401 - fields
    ) -> Recordings:
        reference, system = recode(self.reference), recode(self.system)
        raw = system if self.raw is self.system else recode(self.raw)
        whole = self.whole and (recode(self.whole[0]), recode(self.whole[1]), ignored(self.whole[2]))
        changed["ignored"] = ignored(self.ignored)
        changed |= {"raw": raw, "findings": AlignmentReport(), "whole": whole}
        return self._replace(reference=reference, system=system, **changed)


def align(
    reference: EventTable,
    system: EventTable,
    settings: Settings,
    durations: Mapping[str, float] | None = None,
    *,
    look: bool = True,
) -> Recordings:
    """Bring a reference and a system onto one list of files and one of classes.

    A file or class that one side lacks is evaluated (as all false alarms or all misses) and reported.
    `durations` (seconds by file name) is also the list of evaluated files: it adds files without any row, and
    leaves out system files that neither it nor the reference names. `settings.files` restricts the files: of
    a long table that loses some, classes that no row is of any more are none. `settings.classes` restricts
    and orders the classes. The system's rows are post-processed as the settings ask for, then cut to the
    evaluated regions; files without regions are left out. Rows of ignored classes (of the settings, and of
    the reference's own declaration) are evaluated on neither side; rows that a system declares as unknown are
    not detections. Classes are the classes of the whole tables, whatever the regions are. look: whether
    findings about the rows are reported.

    Raises InputError if names cannot be matched, and for arrays of different shapes.
    """
    settings, reference, system = _settled(settings, reference, system, durations or {})
    reference, system, steps = _with_forms(reference, system, settings)
    files, canonical, lengths, findings = match_files(reference, system, durations, settings.files)
    codes = {name: code for code, name in enumerate(files)}
    reference = reference.with_files(files, [codes.get(name, -1) for name in reference.files])
    system = system.with_files(files, [codes.get(canonical[name], -1) for name in system.files])
    if settings.files is not None:
        reference = reference.of_used_classes() if findings.reference_outside else reference
        system = system.of_used_classes() if findings.system_outside else system
        # An ignored class is known, though none of its rows may be of these files.
        ours = frozenset(reference.classes) | findings.reference_classes & {*(settings.ignore_class or ())}
        theirs = frozenset(system.classes)
        findings = replace(findings, reference_classes=ours, system_classes=theirs)
    regions, own = None, dict[str, "Regions"]()
    if settings.has_regions:
        from sedeval_soft.timeline.regions import regions_of

        regions, own, stays, findings = regions_of(reference, files, lengths, settings, findings)
        reference, system = reference.only_files(stays), system.only_files(stays)
        files = reference.files
    is_given = np.array([name in lengths for name in files], dtype=bool)
    in_reference = np.array([name not in findings.extra for name in files], dtype=bool)

    sides = {"reference": reference, "system": system}
    last = {role: last_offsets(rows) for role, rows in sides.items()}
    length, reach = _lengths(reference, system, last, settings)
    length[is_given] = reach[is_given] = [lengths[name] for name in files if name in lengths]

    # Rows show how a table was read.
    ends, given = np.where(is_given, length, np.inf), np.where(is_given, length, 0.0)
    by_reference = np.where(given > 0, given, last["reference"]) if reference.origin.timed else given
    at_least = {"reference": given, "system": by_reference}
    # A file that only the system names is reported as such, and in a file that the reference declares to be
    # without events all are false alarms wherever they are. Regions that are listed say how far files go.
    is_said = is_given | (settings.regions is not None)
    assumed = np.where(is_said | ~in_reference | (length == 0), np.inf, length)
    read = [role for role, rows in sides.items() if look and rows.origin.timed]
    statistics = for_each(
        lambda role: RowStatistics.of(Side(sides[role], at_least[role], ends, assumed, last[role])),
        read,
        sum(map(len, sides.values())),
    )

    # Classes, and the rows of these.
    classes = findings.classes(settings)
    named = findings.reference_classes & {*classes} if settings.classes is None else frozenset(classes)
    ignored = None if settings.ignore_class is None else reference.with_classes(settings.ignore_class)
    declared = frozenset(reference.origin.unknown)
    reference, raw = reference.with_classes(classes), system.with_classes(classes)
    coded = {"reference": reference, "system": raw} if Plan.of(settings).counts_segments else {}
    edges = Edges(settings.segment_ticks)
    off_grid = {role: edges.near_misses(rows.file, rows.onset, rows.offset) for role, rows in coded.items()}
    lengthless = ~is_said & (length == 0) & (reach > 0)
    findings = replace(
        findings,
        steps=steps,
        lengthless=frozenset(compress(files, lengthless.tolist())),
        tables=dict(zip(read, statistics, strict=True)),
        off_grid={role: misses for role, misses in off_grid.items() if misses[0]},
        declared=declared,
    )
    system = raw
    if settings.postprocesses:
        from sedeval_soft.timeline.postprocess import postprocessed

        system = postprocessed(raw, settings)
    pair = Recordings(
        files, classes, reference, system, length, reach, raw, named, in_reference, is_given,
        Plan.of(settings), findings, ignored,
    )  # fmt: skip
    return pair if regions is None else _within(pair, regions, own)


def _settled(
    settings: Settings, reference: EventTable, system: EventTable, durations: Mapping[str, float]
) -> tuple[Settings, EventTable, EventTable]:
    """Settle properties that only some tables have: shapes, no times, unknown time, no names of files."""
    ours, theirs = reference.origin, system.origin
    if ours.shape is not None or theirs.shape is not None:
        check_shapes(ours, theirs)
    if not (ours.timed and theirs.timed):
        _check_timed((ours, theirs), settings)
    if ours.unknown or theirs.unknown:
        settings, system = with_unknown(settings, ours), _without_unknown(system, settings)
        reference = _without_unknown(reference, settings) if settings.compat else reference
    if UNNAMED in (*reference.files, *system.files):
        reference, system = name_single_file(reference, system, durations)
    return settings, reference, system


def _with_forms(
    reference: EventTable, system: EventTable, settings: Settings
) -> tuple[EventTable, EventTable, dict[str, tuple[int, int, int]]]:
    """Return tables that know whether their touching rows are one event, and the step counts behind that.

    The counts are absent if settings define an event, and for a table without values, in which each row is
    one event. Classes have the names that the settings map them to.
    """
    sides, steps = {"reference": reference, "system": system}, dict[str, tuple[int, int, int]]()
    for role, rows in sides.items():
        known = rows
        if settings.events == "auto" and rows.has_values:
            steps[role] = step_counts(rows)
            known = rows.known_as_joined(are_steps(steps[role]))
        known = replace(known, origin=replace(known.origin, joined=merges(known, settings)))
        sides[role] = mapped(role, known, settings) if settings.map else known
    return sides["reference"], sides["system"], steps


def _lengths(
    reference: EventTable, system: EventTable, last: Mapping[str, Floats], settings: Settings
) -> tuple[Floats, Floats]:
    """Return length and reach of files, see `Recordings`, by their last offsets, (n_files,) each.

    Rows of the system beyond the length reach as far as they go, but for rows of value 0 or without extent.
    sed_eval has no values: in its scores every row makes a file longer.
    """
    # If the reference has no times, the recording is as long as in the system.
    length = last["reference"].copy() if reference.origin.timed else np.maximum(*last.values())
    system_ends = last["system"] if settings.compat == "sed_eval" else np.zeros_like(length)
    if settings.compat != "sed_eval" and (last["system"] > length).any():
        late = (system.offset > length[system.file]) & (system.offset > system.onset)
        beyond = system.take(np.flatnonzero(late))
        sounding = beyond.levels()[0]
        system_ends = last_offsets(beyond.take(distinct(sounding) if beyond.has_steps else sounding))
    for rows, times in ((reference, length), (system, system_ends)):
        if times.max(initial=0.0) > LONGEST:
            text = f"a row ends at {times.max():g} s, over {LONGEST:g} s (31 years); expected seconds"
            raise InputError(Problem(rows.origin.name, text, code="time-too-long"))
    return length, np.maximum(length, system_ends)


def _within(pair: Recordings, regions: Regions, own: Mapping[str, Regions]) -> Recordings:
    """Return a pair cut to its regions.

    own: regions of classes by name, of other classes by the empty name; empty if all classes have the same.
    """
    from sedeval_soft.timeline.regions import END, cut_by_class

    settings, changed = pair.settings, dict[str, Any]()
    if settings.region_edges == "onset":
        changed["whole"] = pair.reference, pair.system, pair.ignored
    if settings.regions is not None:
        # They say how far files go, if they do not take them whole.
        last = regions.last(len(pair.files))
        for name in ("length", "reach"):
            changed[name] = np.where(last < END, to_seconds(last), getattr(pair, name))
        changed["is_known"] = pair.is_known | (last < END)
    if pair.ignored is not None:
        changed["ignored"] = regions.cut(pair.ignored)
    for role in ("reference", "system"):
        rows = getattr(pair, role)
        changed[role] = cut_by_class(rows, own) if own else regions.cut(rows)
    if own:
        # Silence is right or wrong only in time in which a class was looked for.
        changed["expected"] = frozenset()
    return pair._replace(regions=regions, **changed)


def with_unknown(settings: Settings, origin: Origin) -> Settings:
    """Return settings that also ignore the classes that a reference declares as unknown time.

    Classes to evaluate are not ignored; settings that follow another tool ignore nothing.
    """
    chosen = settings.ignore_class or ()
    more = [name for name in origin.unknown if name not in (*chosen, *(settings.classes or ()))]
    return settings if not more or settings.compat else replace(settings, ignore_class=(*chosen, *more))


def _without_unknown(rows: EventTable, settings: Settings) -> EventTable:
    """Return a table without the classes that it declares to be unknown time, and are not to be evaluated."""
    names = {*rows.origin.unknown} - {*(settings.classes or ())}
    if not names & {*rows.classes}:
        return rows
    known = rows.with_classes(tuple(name for name in rows.classes if name not in names))
    called = " and ".join(sorted(names))
    n = len(rows) - len(known)
    note = f"{counted(n, 'row')} of {called} count{'s' * (n == 1)} as no event"
    return replace(known, origin=replace(known.origin, notes=(*known.origin.notes, note)))


def _check_timed(origins: tuple[Origin, Origin], settings: Settings) -> None:
    """Refuse labels of whole recordings if anything but clips is evaluated; raises InputError.

    origins: of both sides, at least one of them without times.
    """
    untimed, plan = [origin.name for origin in origins if not origin.timed], Plan.of(settings)
    if settings.has_regions:
        text = "has labels of whole recordings without times, of which no regions can be evaluated"
        mend = "expected onset and offset of each event, or neither --regions nor --set after_shots"
        raise InputError(Problem(untimed[0], f"{text}; {mend}", code="missing-column"))
    if plan.counts_segments or plan.counts_events or settings.postprocesses:
        text = "has labels of whole recordings without times, of which only clips can be scored"
        mend = "without post-processing" if settings.postprocesses else "or onset and offset of each event"
        raise InputError(Problem(untimed[0], f"{text}; expected --only clip, {mend}", code="missing-column"))


def check_shapes(reference: Origin, system: Origin) -> None:
    """Refuse two arrays of different shapes, and an array of several files with a table."""
    ours, theirs = reference.shape, system.shape
    if ours is not None and theirs is not None and ours != theirs:
        expected = f"expected that of the reference, {ours}"
        raise InputError(Problem(system.name, f"array of shape {theirs}; {expected}"))
    for side, shape, other in ((reference, ours, theirs), (system, theirs, ours)):
        if shape is not None and len(shape) > 2 and other is None:
            text = (
                f"array of shape {shape}, whose files have no names, beside a table; expected a mapping of "
                "file names to arrays of shape (n_segments, n_classes)"
            )
            raise InputError(Problem(side.name, text))


_MOST_ANSWERS, _LOOKED_AT = 50, 10_000
"""Largest number of different values of annotators' answers, and the number of values looked at."""


def _of_exchanged(reference: EventTable) -> list[str]:
    """Return a warning if a reference looks like a network's output: many values, in short steps."""
    values = np.concatenate([column[:_LOOKED_AT] for column in reference.values])
    short = float(np.median(reference.offset - reference.onset)) < 1
    line = (
        f"{reference.origin.name}: has values of short time steps, as scores of systems do, and the "
        "system has none; if the two are exchanged, give the reference first"
    )
    return [line] * (short and len(distinct(values)) > _MOST_ANSWERS)


def match_files(
    reference: EventTable,
    system: EventTable,
    durations: Mapping[str, float] | None,
    chosen: Sequence[str] | None = None,
) -> tuple[tuple[str, ...], Mapping[str, str], dict[str, float], AlignmentReport]:
    """Return the files to evaluate, the reference's name of each system file, durations, and findings.

    Files are the files of the reference and of the durations, spelt as in the reference; without durations,
    system files are added. chosen: The names to which the files are restricted, matched like the names of a
    side.
    """
    origins = reference.origin, system.origin
    doubtful = [f"{origin.name}: {text}" for origin in origins for text in origin.assumed]
    if len(reference) and reference.has_values and not system.has_values:
        doubtful += _of_exchanged(reference)
    notes = [f"{origin.name}: {text}" for origin in origins for text in origin.notes]
    if (shape := system.origin.shape) is not None and reference.origin.shape and shape[-1] > shape[-2]:
        notes.append(
            f"arrays of shape {shape} have more classes ({shape[-1]}) than segments ({shape[-2]}); if "
            f"classes come first, exchange the axes: expected {AXES}"
        )
    if vain := sorted({*reference.origin.lacking} & {*system.origin.lacking}):
        both = " and ".join(dict.fromkeys((reference.origin.name, system.origin.name)))
        raise InputError([Problem(both, text, code="no-effect") for text in vain])
    listed = match_names(reference.files, durations or {})
    lengths = {listed.canonical[name]: seconds for name, seconds in (durations or {}).items()}
    expected = dict.fromkeys([*reference.files, *lengths])
    match = match_names([*expected], system.files)
    unlisted = {*reference.files} - {*lengths} if durations is not None else set()
    unknown = {*lengths} - {*reference.files}
    hint = named_alike(unlisted, unknown, ("reference", "durations")) if unlisted and unknown else ""
    text = "durations: {files} {are} not in the reference{hint}"
    doubtful += said(text, unknown if hint else (), hint=hint)
    in_system = {*match.canonical.values()}
    every = [*expected, *sorted(in_system - {*expected})]
    if chosen is not None and UNNAMED in every:
        text = "there is no column of file names, but files are listed; expected a filename column"
        raise InputError(Problem(reference.origin.name, text, code="missing-filename-column"))
    of_list = match_names(every, every if chosen is None else chosen)
    inside = {*of_list.canonical.values()} & {*every}
    evaluated = inside if durations is None else inside & {*expected}
    lengths = {name: seconds for name, seconds in lengths.items() if name in inside}
    for source, noun, names in (
        ("durations", "file name", listed.ambiguous),
        ("files", "listed name", of_list.ambiguous),
    ):
        text = f"{source}: {NAMES['ambiguous-file'].counted}"
        doubtful += said(text, names, noun, other=reference.origin.name)
    missing, extra = {*reference.files} & inside - in_system, (in_system & evaluated) - {*expected}
    detected = {name for name in system.files if match.canonical[name] in extra}
    heard = {match.canonical[name] for name in files_with_events(system, detected)} if detected else set()
    silent = (missing - files_with_events(reference, missing) if missing else set()) | (extra - heard)
    findings = AlignmentReport(
        missing=frozenset(missing),
        extra=frozenset(extra),
        silent=frozenset(silent),
        dropped=frozenset((in_system & inside) - evaluated),
        unlisted=frozenset(unlisted & inside),
        ambiguous=frozenset(match.ambiguous),
        listed=frozenset(name for name in chosen or () if of_list.canonical[name] in inside),
        reference_outside=frozenset({*reference.files} - inside),
        system_outside=frozenset(in_system - inside),
        doubtful=frozenset(doubtful),
        notes=frozenset(notes),
        reference_classes=frozenset(reference.classes),
        system_classes=frozenset(system.classes),
    )
    return tuple(sorted(evaluated)), match.canonical, lengths, findings


def files_with_events(rows: EventTable, files: Collection[str]) -> set[str]:
    """Return which of some files of a table have a value above 0."""
    some = rows.only_files(np.array([name in files for name in rows.files], dtype=bool))
    return {some.files[code] for code in distinct(some.file[some.levels()[0]]).tolist()}


def name_single_file(
    reference: EventTable, system: EventTable, durations: Mapping[str, float]
) -> tuple[EventTable, EventTable]:
    """Give the rows of a table without file names the name of the other table's, or duration's, only file."""
    if reference.files == system.files == (UNNAMED,) and len(durations) == 1:
        return replace(reference, files=tuple(durations)), replace(system, files=tuple(durations))
    sides = [reference, system]
    for side, other in ((0, 1), (1, 0)):
        rows, files = sides[side], sides[other].files
        if UNNAMED not in rows.files or UNNAMED in files or not files:
            continue
        if len(files) > 1:
            from sedeval_soft.tables.joined_tables import recording_of

            # A table may be named after its recording.
            table = recording_of(without_folders(rows.origin.name))
            named = match_names(files, [table]).canonical[table]
            if named not in files or rows.files != (UNNAMED,):
                columns = rows.origin.ignored[:3]
                example = "".join(option(("filename", name)) for name in columns[:1])
                ignored = (
                    f" ({example}, if it is one of {', '.join(map(quoted, columns))})" if columns else ""
                )
                text = (
                    f"there is no column of file names, but {sides[other].origin.name} has {len(files)} "
                    f"files; expected a filename column{ignored}, or a folder with a table for each, which "
                    "has its name"
                )
                raise InputError(Problem(rows.origin.name, text, code="missing-filename-column"))
            note = f"it was assumed to be of recording {named!r}, after which it is named"
            rows = replace(rows, origin=replace(rows.origin, notes=(*rows.origin.notes, note)))
            files = (named,)
        sides[side] = replace(rows, files=files)
    return sides[0], sides[1]


def mapped(role: str, rows: EventTable, settings: Settings) -> EventTable:
    """Return the rows of a side with the classes to which the settings map its labels."""
    names = settings.names_of(role)
    others = sorted({*rows.classes} - {*names, *settings.map.values()})
    said = [f"{listing(others, 'label')} {be(len(others))} not in `map`; expected a class for each"]
    assumed = (*rows.origin.assumed, *said[: len(others)])
    return replace(rows.renamed(names), origin=replace(rows.origin, assumed=assumed))


def grid_of(pair: Recordings, *, ignored: bool = False) -> Grid:
    """Return the evaluated segments: dropped segments count nowhere.

    ignored: whether segments of ignored time are nevertheless included. Means are over the part of the last
    segment before the end of a recording, if known, else over the whole segment: late ends of rows do not
    raise a side's values.
    """
    settings, lengths = pair.settings, [pair.reach_ticks, pair.length_ticks]
    if settings.pool == "mean":
        edges = Edges(settings.segment_ticks)
        ends = [np.maximum(each, edges.at(edges.until(each))) for each in lengths]
        lengths = [np.where(pair.is_known, each, end) for each, end in zip(lengths, ends, strict=True)]
    grid = Grid.over(lengths[0], settings.segment_ticks, lengths[1])
    grid = grid if pair.regions is None else grid.within(pair.regions)
    if pair.ignored is None or ignored:
        return grid
    if settings.pool == "max":
        # A segment is above the threshold if a row that overlaps it is.
        rows = active_rows(pair.ignored, settings.reference_cut, settings.inclusive)
        return grid.without(*grid.cells(rows.file, rows.onset, rows.offset))
    values = pool_rows(joined(pair.ignored), grid, settings.pool)[0]
    cells = np.flatnonzero(positive(values, settings))
    return grid.without(cells, cells + 1)


def joined(rows: EventTable) -> EventTable:
    """Return rows of all classes as rows of one: its value at each time is the largest of all classes."""
    if rows.label is None:
        values = np.max(rows.values, axis=0) if rows.values else np.zeros(len(rows))
        return replace(rows, classes=("",), values=(values,))
    return replace(rows, classes=("",), label=np.zeros_like(rows.label))


# Values of whole files (clips), for one table: a file takes the largest value in it.


def clip_sides(pair: Recordings) -> tuple[Floats, Floats]:
    """Return the values of all files of all classes of reference and system, (n_classes, n_files) each.

    System rows after the evaluated length of a file are a false alarm if the reference lacks the class. They
    do not count if it has the class: else a system could detect every class somewhere later. Ignored
    time does not affect a file's value: it takes the largest value of all other time.
    """
    ours, theirs = (outside_ignored(rows, pair) for rows in (pair.reference, pair.system))
    reference, inside = (clip_values(rows, pair.length_ticks) for rows in (ours, theirs))
    if np.array_equal(pair.length, pair.reach):
        return reference, inside
    return reference, np.where(reference > 0, inside, clip_values(theirs, pair.reach_ticks))


def outside_ignored(rows: EventTable, pair: Recordings) -> EventTable:
    """Return the rows that are not wholly in ignored time, at the reference's threshold."""
    if pair.ignored is None or not len((ignored := _ignored_time(pair)).file):
        return rows
    spans = rows.spans()
    at = ignored.at(spans.file, spans.onset)
    inside = (at >= 0) & (ignored.file[at] == spans.file) & (spans.offset <= ignored.end[at])
    return rows.take(~inside)


def clip_values(rows: EventTable, length: Ticks) -> Floats:
    """Return the values of all files of all classes, shape (n_classes, n_files).

    length: (n_files,) ticks. Rows without extent, and rows that begin at the end of their file or later, do
    not count, as on the grid of segments.
    """
    spans = rows.spans()
    inside = np.flatnonzero((spans.offset > spans.onset) & (spans.onset < length[spans.file]))
    file = spans.file[inside].astype(np.int64)
    return maxima(rows.take(inside), file, file + 1, len(length))


# The hard reading: active rows of either side at its threshold.


def merges(rows: EventTable, settings: Settings) -> bool:
    """Return whether touching rows of a table are one event.

    If the settings leave that to the table, touching rows are one event in a table with values and time
    steps. The rows of the whole table decide it, if these are some of them.
    """
    if settings.events != "auto":
        return settings.events == "merge"
    joined = rows.origin.joined
    return rows.has_values and (are_steps(step_counts(rows)) if joined is None else joined)


def step_counts(rows: EventTable) -> tuple[int, int, int]:
    """Return counts that show whether the rows of a table with values are time steps, see `are_steps`.

    The first two count rows of functions of time (a class in a file) that have touching or overlapping rows;
    other functions do not matter. They are the number of rows, and of rows that begin at the end of the row
    before and have its length, to the rounding of milliseconds. The third counts rows that begin at the end
    of the row before, whatever their lengths. Repeated rows count once. The counts of parts of a table add
    up.
    """
    if rows.has_steps or rows.origin.joined:
        return (len(rows),) * 3
    ordered = Ordered.of(rows, by_time(rows))
    touching, length = ordered.touching, ordered.offset - ordered.onset
    meets = touching | ordered.overlaps | ordered.repeats
    group = np.append(0, np.cumsum(~ordered.same)) if len(rows) else np.zeros(0, dtype=np.intp)
    in_question = np.bincount(group[1:][meets], minlength=len(group))[group] > 0
    n_rows = np.count_nonzero(in_question) - np.count_nonzero(ordered.repeats)
    goes_on = touching & (np.abs(np.diff(length)) <= STEP_ROUNDING)
    return int(n_rows), int(np.count_nonzero(goes_on)), int(np.count_nonzero(touching))


def hard_events(pair: Recordings) -> tuple[Events, Events]:
    """Return the events of the reference and of the system, merged or not as the settings ask for."""
    settings = pair.settings
    # Greedy matching, and sed_eval's, go by the order of the table. Which optimal one is found must not.
    as_read = settings.matching == "greedy" or settings.compat is not None
    sides = []
    for rows, threshold in zip(pair.event_rows, (settings.reference_cut, settings.threshold), strict=True):
        merge = bool(rows.origin.joined)
        events = pair.held(events_of(rows, threshold, settings.inclusive, merge))
        # Merged ones are by class and time already.
        sides.append(events.in_order(by_class=not merge) if merge is as_read else events)
    return sides[0], sides[1]


def all_lifetimes(pair: Recordings, rows: EventTable) -> EventLifetimes:
    """Return the events of rows of a pair at all thresholds, if they count."""
    return pair.held(lifetimes_of(rows, bool(rows.origin.joined)))


def ignored_events(pair: Recordings) -> Events:
    """Return the events of ignored classes at the reference's threshold; some must be ignored."""
    return _ignored_events(pair.ignored if pair.whole is None else pair.whole[2], pair.settings)


def _ignored_events(rows: EventTable | None, settings: Settings) -> Events:
    if rows is None:
        raise ValueError("no classes are ignored")
    return events_of(rows, settings.reference_cut, settings.inclusive, bool(rows.origin.joined))


def _ignored_time(pair: Recordings) -> Regions:
    """Return the time that is ignored at the reference's threshold; some classes must be ignored."""
    from sedeval_soft.timeline.regions import Regions

    events = _ignored_events(pair.ignored, pair.settings)
    return Regions.of(events.file, events.onset, events.offset)


def ignored_ticks(pair: Recordings) -> Ticks:
    """Return how much of the length of each file is ignored, at the reference's threshold, (n_files,)."""
    return _ignored_time(pair).until(pair.length_ticks).lengths(len(pair.files))


def ignored_levels(pair: Recordings) -> EventLifetimes:
    """Return the events of ignored classes at all levels."""
    rows = pair.ignored if pair.whole is None else pair.whole[2]
    return EventLifetimes.of(SILENCE) if rows is None else lifetimes_of(rows, bool(rows.origin.joined))


def rowwise_events(pair: Recordings) -> tuple[Events, Events]:
    """Return the active rows of the reference and of the system, each an event of its own."""
    settings = pair.settings
    return (
        active_rows(pair.reference, settings.reference_cut, settings.inclusive),
        active_rows(pair.system, settings.threshold, settings.inclusive),
    )


def positive(reference: Floats, settings: Settings) -> Bools:
    """Return which reference values are active."""
    return active(reference, settings.reference_cut, settings.inclusive)


def detected(system: Floats, settings: Settings) -> Bools:
    """Return which system values are active."""
    return active(system, settings.threshold, settings.inclusive)
