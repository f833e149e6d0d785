"""Several tables read as one: those of a folder or an archive, shards, operating points.

- A folder has a table for each recording, which is named after it unless the table names it.
- Rows of all shards are those of one table, in the order of their names; a recording may be in several of
  them. Where no shard names its recordings, each is one, named after its file.
- Operating points are a system known at some thresholds only: a list of events for each, as psds_eval takes
  them. The list of a threshold stands for all from it up to the next one; that of the lowest for those below
  it, too. So what is computed over all thresholds is an approximation, as coarse as the thresholds are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import PurePath
from typing import Any

import numpy as np

from sedeval_soft.errors import InputError, Problem, counted
from sedeval_soft.memory import check_room
from sedeval_soft.sorting import distinct
from sedeval_soft.tables.assemble import joined_notes
from sedeval_soft.tables.event_table import UNNAMED, EventTable, Origin
from sedeval_soft.tables.files import (
    ShardFile,
    check_distinct,
    no_table,
    seem_thresholds,
    shards_of,
    stem_of,
    tables_in,
    tables_of_folder,
    thresholds_in,
)
from sedeval_soft.tables.forms import read_table
from sedeval_soft.tables.limits import LIMITS, Limits, for_members
from sedeval_soft.tables.source import Source, open_source, spelled


def read_folder(name: str, form: str = "", limits: Limits = LIMITS) -> EventTable:
    """Read all tables of a folder (not of folders in it) as one; form: what they must be, if that is known.

    A table without any line is a recording without events. Raises InputError where there is no
    table, where one is wrong, where long and wide ones are mixed, where two have rows of one recording, and
    where all together are over a limit.
    """
    paths = tables_of_folder(name, limits)
    members = ((stem_of(path.name), open_source(path, limits=limits)) for path in paths)
    return read_members(name, members, "folder", limits, form)


def read_members(
    name: str, members: Iterable[tuple[str, Source]], what: str, limits: Limits = LIMITS, form: str = ""
) -> EventTable:
    """Read some tables as one, errors as for `read_folder`.

    members: what each is called without extension, and its bytes. what: they are of, a folder or an archive.
    """
    members = iter(members)
    first = list(islice(members, 2))
    of_each = for_members(limits, only=len(first) < 2)
    tables: list[tuple[str, EventTable]] = []
    silent: list[str] = []
    hashes: list[tuple[str, str | None]] = []
    for stem, source, rows in _read_each(name, chain(first, members), limits, of_each, form):
        short = PurePath(source.name).name
        hashes.append((short, source.sha256))
        if rows is None:
            silent.append(stem)
        else:
            tables.append((short, with_recording(rows, stem)))
    if not hashes:
        raise no_table(name)
    check_alike(name, [(short, rows) for short, rows in tables if len(rows)])
    check_apart(name, tables, what)
    form = f", {tables[0][1].origin.form}" if tables else ""
    form = f"{what} of {counted(len(hashes), 'table')}{form}"
    origin = _origin(name, form, hashes, [(short, rows.origin) for short, rows in tables])
    return _join([rows for _, rows in tables], silent, origin, limits, "Expected batches of files")


def _read_each(
    name: str, members: Iterable[tuple[str, Source]], limits: Limits, of_each: Limits, form: str = ""
) -> Iterator[tuple[str, Source, EventTable | None]]:
    """Read tables one by one; raises InputError where two are called alike, or all so far are too large."""
    stems: dict[str, str] = {}
    size = n_rows = 0
    for stem, source in members:
        check_distinct(name, stems, stem, PurePath(source.name).name)
        size += len(source.data)
        limits.check(spelled(name), "size", size, "bytes or more in its tables")
        rows = read_table(source, form, of_each)
        n_rows += 0 if rows is None else len(rows)
        limits.check(spelled(name), "rows", n_rows, "rows or more in its tables")
        yield stem, source, rows


def _origin(
    name: str,
    form: str,
    hashes: Iterable[tuple[object, str | None]],
    origins: Sequence[tuple[str, Origin]],
) -> Origin:
    """Return where a table is from that others were joined to, with a hash of theirs.

    hashes: what each is called, and its own. origins: of those that have one, each with what its notes begin
    with, nothing for notes of the table as a whole.
    """
    digest = hashlib.sha256()
    for label, sha256 in hashes:
        digest.update(f"{label}\0{sha256}\n".encode("utf-8", "backslashreplace"))
    notes, assumed = (
        [f"{label}: {text}" if label else text for label, origin in origins for text in getattr(origin, what)]
        for what in ("notes", "assumed")
    )
    ignored = tuple(dict.fromkeys(column for _, origin in origins for column in origin.ignored))
    return Origin(spelled(name), digest.hexdigest(), form, ignored, tuple(notes), tuple(assumed))


def _join(
    tables: Sequence[EventTable], silent: Iterable[str], origin: Origin, limits: Limits, mend: str
) -> EventTable:
    """Return the rows of all tables; raises InputError over a limit, RoomError where memory is short.

    silent: recordings without rows. Each of the tables is in memory already.
    """
    files = tuple(dict.fromkeys([*(file for rows in tables for file in rows.files), *silent]))
    classes = {label for rows in tables for label in rows.classes}
    limits.check(origin.name, "files", len(files), "files")
    limits.check(origin.name, "classes", len(classes), "classes")
    n_rows, wide = sum(map(len, tables)), any(rows.is_wide for rows in tables)
    check_room(
        8 * n_rows * (len(classes) + 4 if wide else 5),
        f"{origin.name}: to join {counted(n_rows, 'row')} of {counted(len(classes), 'class')}",
        mend,
    )
    return EventTable.join(tables, files, origin)


def with_recording(rows: EventTable, stem: str) -> EventTable:
    """Name the rows of a table without file names after its file."""
    files = tuple(stem if file == UNNAMED else file for file in rows.files)
    return replace(rows, files=files or (stem,))


def check_alike(source: str, tables: Sequence[tuple[str, EventTable]]) -> None:
    """Refuse tables with rows of which some are wide or have values, and others are not or have none."""
    traits: tuple[tuple[str, str, Callable[[EventTable], bool]], ...] = (
        ("wide", "long", lambda rows: rows.is_wide),
        ("with values", "without values", lambda rows: rows.has_values),
    )
    for yes, no, trait in traits:
        kinds = {trait(rows): table for table, rows in tables}
        if len(kinds) > 1:
            message = f"mixes tables: {kinds[True]} is {yes}, {kinds[False]} is {no}; expected one form"
            raise InputError(Problem(source, message, code="mixed-tables"))


def check_apart(name: str, tables: Iterable[tuple[str, EventTable]], what: str = "folder") -> None:
    """Refuse a folder, or an archive, of which two tables have rows of one recording.

    They may be one system at several thresholds, runs of it, other systems, or parts of one table: added up
    they would be scored as something that nobody has made.
    """
    first: dict[str, str] = {}
    for table, rows in tables:
        for code in distinct(rows.file).tolist():
            other = first.setdefault(rows.files[code], table)
            if other != table:
                short, recording = (PurePath(other).name, PurePath(table).name), rows.files[code]
                raise InputError(_shared(name, *short, recording, what))


def _shared(name: str, one: str, other: str, recording: str, what: str) -> Problem:
    # Where the folder lies is said by the source alone: others may read the message on a board.
    packed = "unpacked into a FOLDER, " if what == "archive" else ""
    message = (
        f"{one} and {other} both have rows of recording {recording!r}; expected one "
        f"table for each recording: {packed}--operating-points FOLDER takes tables of one system at several "
        "thresholds"
    )
    if seem_thresholds([one, other]):
        # A pattern of such names is refused as well.
        message += ", of events without values, in place of SYSTEM; as REFERENCE, give one of them"
        mend = "leave one of them, or say what they are: `--operating-points`"
    else:
        message += f", and a pattern such as 'FOLDER/*{PurePath(one).suffix}' parts of one table"
        mend = "leave one of them, or say what they are: `--operating-points` or a pattern"
    return Problem(spelled(name), message, code="repeated-recording", mend=mend)


@dataclass(frozen=True, slots=True)
class Held:
    """What a shard holds.

    rows: all of them, or without any row but with all else that they have; None for a file without any line.
    n_rows: how many there are. named: whether they name their recordings, None where nobody can tell.
    """

    file: ShardFile
    rows: EventTable | None
    n_rows: int
    named: bool | None

    @classmethod
    def of(cls, file: ShardFile, rows: EventTable | None) -> Held:
        """Return what a file holds of which all rows were read."""
        if rows is None or not rows.files:
            return cls(file, rows, 0, None)
        return cls(file, rows, len(rows), UNNAMED not in rows.files)


def read_shards(name: str, form: str = "", limits: Limits = LIMITS) -> EventTable:
    """Return the rows of all shards that a pattern fits; raises InputError as `joined` does."""
    shards: list[Held] = []
    n_rows = 0
    for file in shards_of(name, limits):
        rows = read_table(open_source(file.name, limits=limits), form, file.limits(limits))
        shards.append(Held.of(file, rows))
        n_rows += shards[-1].n_rows
        limits.check(spelled(name), "rows", n_rows, "rows or more in its shards")
    return joined(name, recordings(name, shards), limits)


def recordings(name: str, shards: Sequence[Held]) -> list[Held]:
    """Return shards whose rows name their recordings; those that do not are named after their files.

    Raises InputError where just some name them, where two are of the same recording, for files without any
    line beside shards that name them, and where names of shards seem to hold thresholds.
    """
    if shards[0].file.alone:
        return list(shards)
    kinds = {shard.named: shard.file.name for shard in shards}
    if {True, False} <= kinds.keys():
        message = f"mixes tables: {kinds[True]} names its recordings, {kinds[False]} does not"
        raise InputError(Problem(spelled(name), f"{message}; expected one form", code="mixed-tables"))
    if False in kinds:
        tables: dict[str, str] = {}
        for shard in shards:
            check_distinct(spelled(name), tables, stem_of(shard.file.name), shard.file.name)
        return [
            shard if shard.rows is None else replace(shard, rows=with_recording(shard.rows, stem))
            for stem, shard in zip(tables, shards, strict=True)
        ]
    names = [shard.file.name for shard in shards]
    if seem_thresholds(names) and are_lists_of_one([s.rows for s in shards if s.rows is not None]):
        # Rows of a recording are added up, and those of operating points must not be.
        thresholds = thresholds_in(names) or []
        message = (
            f"names of its tables hold thresholds, {min(thresholds)!r} to {max(thresholds)!r}, and several "
            f"have the same recordings; expected --operating-points '{name}' for operating points of one "
            "system, or other names for parts of one table"
        )
        mend = "say what they are: `--operating-points`, or other names"
        raise InputError(Problem(spelled(name), message, code="repeated-recording", mend=mend))
    for shard in shards:
        if shard.rows is None:
            message = "is empty; expected a table (a shard without rows is written as a header alone)"
            raise InputError(Problem(spelled(shard.file.name), message, code="empty-file"))
    return list(shards)


def joined(name: str, shards: Sequence[Held], limits: Limits = LIMITS) -> EventTable:
    """Return the rows of shards as those of one table; those of a single file are its own.

    Raises InputError where long and wide shards are mixed, and where all together are over a limit.
    """
    if shards[0].file.alone and shards[0].rows is not None:
        return shards[0].rows
    tables = [shard.rows for shard in shards if shard.rows is not None]
    check_alike(spelled(name), [(s.file.name, s.rows) for s in shards if s.rows is not None and s.n_rows])
    limits.check(spelled(name), "rows", sum(shard.n_rows for shard in shards), "rows")
    hashes = [
        (shard.file.label, _NOTHING if shard.rows is None else shard.rows.origin.sha256) for shard in shards
    ]
    forms = sorted({rows.origin.form for rows in tables})
    form = ", ".join([counted(len(shards), "shard"), *forms])
    origin = _origin(name, form, hashes, [("", rows.origin) for rows in tables])
    assumed = tuple(dict.fromkeys(origin.assumed))
    origin = replace(origin, notes=joined_notes(origin.notes), assumed=assumed)
    silent = [stem_of(shard.file.name) for shard in shards if shard.rows is None]
    mend = "--memory-limit or --jobs counts shards in parts"
    return _join(tables, silent, origin, limits, mend)


_NOTHING = hashlib.sha256(b"").hexdigest()


def read_points(
    points: Mapping[Any, Any],
    role: str,
    read: Callable[[Any], EventTable],
    *,
    name: str = "",
    assumed: Sequence[str] = (),
) -> EventTable:
    """Return the rows of all lists, each with the thresholds between which it stands.

    points: what `read` takes, by threshold in [0, 1]. name: of all of them, where they have one. assumed: of
    how they were found, beside what was assumed of each. Raises InputError for a threshold that is none, and
    for a table with values; a list without rows is one of nothing.
    """
    for key in points:
        number = isinstance(key, int | float | np.number) and not isinstance(key, bool)
        if not number or not 0 <= key <= 1:
            message = f"has an operating point at {key!r}; expected a threshold in [0, 1]"
            raise InputError(Problem(role, message))
    tables = {float(key): read(source) for key, source in points.items()}
    if len(tables) < len(points):
        raise InputError(Problem(role, "has two operating points of one threshold"))
    thresholds = sorted(tables)
    # That of the last threshold stands up to 1, or a breath above it.
    ends = [*thresholds[1:], max(1.0, float(np.nextafter(thresholds[-1], 2.0)))]
    lists: list[EventTable] = []
    for low, high in zip(thresholds, ends, strict=True):
        rows = tables[low]
        # A list without rows has no value that could be lost, whatever columns its header names.
        if rows.is_wide or (rows.value is not None and len(rows)):
            message = "has values; expected a list of events, as of one threshold"
            raise InputError(Problem(rows.origin.name, message))
        born = np.full(len(rows), 0.0 if low == thresholds[0] else low)
        lists.append(replace(rows, values=(np.full(len(rows), high),), born=born))
    form = f"operating points at {', '.join(f'{low!r}' for low in thresholds)}"
    origins = [rows.origin for rows in lists]
    hashes = [(repr(low), each.sha256) for low, each in zip(thresholds, origins, strict=True)]
    name = name or f"{len(lists)} operating points"
    origin = _origin(name, form, hashes, [(each.name, each) for each in origins])
    sha256 = origin.sha256 if all(each.sha256 for each in origins) else None
    origin = replace(origin, sha256=sha256, assumed=(*assumed, *origin.assumed))
    return EventTable.join(lists, origin=origin)


def points_of_folder(path: str, limits: Limits = LIMITS) -> EventTable | None:
    """Return the rows of a folder of operating points; None where its names and tables do not say it is one.

    What was assumed says so: thresholds were found in names that nobody declared to hold any. Raises
    InputError for a table that cannot be read, and for more than the limits allow.
    """
    try:
        paths = tables_in(path, limits)
    except InputError:
        return None  # who reads it as a folder of recordings says what is wrong
    thresholds = thresholds_in([str(table) for table in paths]) or []
    if not seem_thresholds([str(table) for table in paths]):
        return None
    members = ((stem_of(table.name), open_source(table, limits=limits)) for table in paths)
    tables = [
        EventTable.empty(Origin(source.name, source.sha256, "empty")) if rows is None else rows
        for _, source, rows in _read_each(path, members, limits, limits)
    ]
    if not are_lists_of_one(tables):
        return None
    n_rows = sum(map(len, tables))
    check_room(
        # Of each row file, class, onset, offset, and the thresholds between which it stands.
        n_rows * 8 * 6,
        f"{spelled(path)}: to join {counted(n_rows, 'row')} of {counted(len(paths), 'operating point')}",
        "Expected fewer operating points",
    )
    assumed = (
        f"taken as {len(paths)} operating points of one system, at thresholds {min(thresholds)!r} to "
        f"{max(thresholds)!r} by the names of its tables; --operating-points FOLDER in place of SYSTEM says "
        "that they are (in Python, evaluate(reference, operating_points(folder)))"
    )
    by_threshold = dict(zip(thresholds, tables, strict=True))
    return read_points(by_threshold, "system", lambda rows: rows, name=spelled(path), assumed=(assumed,))


def are_lists_of_one(tables: Sequence[EventTable]) -> bool:
    """Return whether tables can be lists of the events of one system, at several thresholds.

    Each must be long, without values, and name its recordings. Two must have one recording in common, unless
    only one of them has any: tables of different recordings are a table in parts. Only names are looked at,
    so that rows may be elsewhere.
    """
    with_files = [rows for rows in tables if rows.files]
    if any(rows.is_wide or rows.has_values or UNNAMED in rows.files for rows in with_files):
        return False
    files = [{*rows.files} for rows in with_files]
    return len(files) == 1 or sum(map(len, files)) > len(set[str]().union(*files))
