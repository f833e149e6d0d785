"""Several tables read as one: tables of a folder or an archive, shards, operating points.

- A folder has a table for each recording, which is named after it unless the table names it. If the folder
  itself has no table, the reader takes the tables of the folders in it, at any depth; so it does with
  archives.
- Rows of all shards are rows of one table, in the order of their names; a recording may be in several of
  them. If no shard names its recordings, each is one, named after its file.
- Operating points are a system known at some thresholds only: a list of events for each, as psds_eval takes
  them. The list of a threshold is valid from it up to the next one; the lowest list also below its threshold.
  So results over all thresholds are an approximation, as coarse as the thresholds are. The names of tables
  may have the thresholds, as psds_eval, DESED and others publish them: `baseline_0.1.csv`, `0.010.tsv`.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path, PurePath, PurePosixPath
from typing import Any

import numpy as np

from sedeval_soft.arrays import distinct
from sedeval_soft.errors import InputError, Problem, be, counted
from sedeval_soft.memory import check_room
from sedeval_soft.tables.columns import WORD_LISTS
from sedeval_soft.tables.event_table import UNNAMED, EventTable, Origin
from sedeval_soft.tables.filenames import listing
from sedeval_soft.tables.forms import LAST_EXTENSIONS, MEMBER_EXTENSIONS, TEXT_EXTENSIONS, read_table
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.rows import joined_notes
from sedeval_soft.tables.source import (
    Source,
    extension_of,
    is_pattern,
    list_files,
    open_source,
    spelled,
    unreadable,
    without_compression,
)

_EMPTY = "empty"
"""The format of a file without any line."""

_NUMBER = re.compile(r"((?<!\d)(?<!\d\.)\d+(?:\.\d+)?(?:[eE]-?\d+)?(?!\d|\.\d))")
"""A number in a name, as written; neither part of a longer one nor of a version such as 1.0.2."""

_ENDINGS = re.compile(f"(?:{'|'.join(WORD_LISTS['table-endings'])})$", re.ASCII | re.IGNORECASE)
"""Endings that tools write between the name of a recording and the extension of its table."""

_EXTENSION = re.compile(r"[A-Za-z]\w*")
"""An extension: characters behind a dot at the end of a name that are not part of a number: `csv`, `gz`."""


# The files of a folder or a pattern.


def stem_of(name: str) -> str:
    """Return the name of a table without its extension."""
    return PurePosixPath(without_compression(name)).stem


def recording_of(name: str) -> str:
    """Return the recording that a table is named after: `rec1` of `rec1.Table.1.selections.txt`."""
    stem = stem_of(name)
    return _ENDINGS.sub("", stem) or stem


def is_table(name: str, extensions: Iterable[str] = TEXT_EXTENSIONS | MEMBER_EXTENSIONS) -> bool:
    """Return whether a file is a table, by its name."""
    return extension_of(name) in extensions


def visible_entries(folder: str, limits: Limits) -> list[Path]:
    """Return the visible entries of a folder by name; raises OSError, InputError over a limit."""
    with os.scandir(folder) as entries:
        names = limits.few_enough(spelled(folder), (entry.name for entry in entries))
    return [Path(folder) / name for name in sorted(names) if not name.startswith(".")]


def tables_in(name: str, limits: Limits = LIMITS) -> list[Path]:
    """Return the tables of a folder by name: tables of text, if any are; else the tables of folders in it.

    A folder without tables of text has the tables of other formats, `.json` if there is nothing else.

    Links to folders are followed, each folder is read once. Raises InputError for a folder without any table,
    or with too many files.
    """
    files: list[Path] = []
    folders, seen, n_entries = [Path(name)], set[str](), 0
    for folder in folders:
        if (place := os.path.realpath(folder)) in seen:
            continue
        seen.add(place)
        try:
            entries = visible_entries(str(folder), limits)
        except OSError as error:
            raise unreadable(str(folder), f"cannot be read: {error.strerror or error}") from error
        n_entries += len(entries)
        limits.check(spelled(name), "members", n_entries, "files or more")
        files += [path for path in entries if path.is_file()]
        if folder == folders[0] and any(is_table(path.name) for path in files):
            break
        folders += [path for path in entries if path.is_dir()]
    for extensions in (TEXT_EXTENSIONS, MEMBER_EXTENSIONS, LAST_EXTENSIONS):
        if tables := [path for path in files if is_table(path.name, extensions)]:
            return sorted(tables, key=lambda path: os.path.relpath(path, name))
    raise _no_table(name)


def _no_table(name: str) -> InputError:
    expected = f"expected files ending in {', '.join(sorted(TEXT_EXTENSIONS))}"
    if name.lower().endswith((".xlsx", ".xlsm", ".ods")):
        expected = "it is a spreadsheet: save it as CSV"
    return InputError(Problem(name, f"holds no table; {expected}", code="empty-folder"))


def _check_recordings(name: str, tables: Sequence[str], recordings: Iterable[str]) -> None:
    """Refuse tables of which two are named after one recording."""
    first: dict[str, str] = {}
    for table, recording in zip(tables, recordings, strict=True):
        if first.setdefault(recording, table) != table:
            message = f"{first[recording]} and {table} are both of recording {recording_of(table)!r}"
            raise InputError(Problem(name, message, code="repeated-recording"))


def paths_below(name: str, tables: Iterable[Path]) -> list[str]:
    """Return the paths of tables from a folder on, with slashes."""
    return [spelled(PurePath(os.path.relpath(table, name)).as_posix()) for table in tables]


def folders_left_out(name: str, paths: Iterable[str]) -> tuple[str, ...]:
    """Return a note of the folders with tables in a folder that has tables itself, which alone are read.

    paths: of its tables, from it on.
    """
    if any("/" in path for path in paths):
        return ()
    left_out = []
    for folder in (path for path in sorted(Path(name).iterdir()) if path.name[:1] != "." and path.is_dir()):
        with suppress(OSError), os.scandir(folder) as entries:
            if any(is_table(entry.name) and entry.name[:1] != "." for entry in entries):
                left_out.append(spelled(folder.name))
    return _left_out(left_out)


def _left_out(folders: Sequence[str]) -> tuple[str, ...]:
    hold = "holds" if len(folders) == 1 else "hold"
    rest = f"{be(len(folders))} left out: only tables beside them are read"
    return (f"{listing(folders, 'folder')} in it {hold} tables and {rest}",) * bool(folders)


@dataclass(frozen=True, slots=True)
class Members:
    """The tables of a folder or an archive that are read, and the recordings that they are named after.

    places: of the tables that are read, among all. labels: their paths from the folder on that has all
    tables.

    recordings: of each its name without extension if no other table has it, else with the folders before it.
    notes: for the user.
    """

    places: tuple[int, ...]
    labels: tuple[str, ...]
    recordings: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, paths: Sequence[str]) -> Members:
        """Choose among paths within a folder or an archive: the tables at the top, if any are there.

        Raises InputError without any table, if two tables side by side are of one recording, and if names of
        folders have thresholds.
        """
        if not paths:
            raise _no_table(name)
        split = [tuple(part for part in path.split("/") if part not in {"", "."}) for path in paths]
        common = _common([parts[:-1] for parts in split])
        below = [parts[common:] for parts in split]
        top = tuple(k for k, parts in enumerate(below) if len(parts) == 1)
        left_out = sorted({parts[0] for parts in below if len(parts) > 1}) if top else []
        if left_out:
            # Nobody knows which of two tables of one recording is meant.
            _check_recordings(name, ["/".join(parts) for parts in below], (stem_of(p[-1]) for p in below))
        places = top or tuple(range(len(below)))
        labels = ["/".join(below[k]) for k in places]
        stems = [recording_of(below[k][-1]) for k in places]
        whole = ["/".join((*below[k][:-1], stem)) for k, stem in zip(places, stems, strict=True)]
        _check_recordings(name, labels, whole)
        times = Counter(stems)
        recordings = [stem if times[stem] == 1 else full for stem, full in zip(stems, whole, strict=True)]
        several = [full for stem, full in zip(stems, whole, strict=True) if times[stem] > 1]
        folders = sorted({label.partition("/")[0] for label in labels})
        if several and seem_thresholds(folders):
            message = (
                f"names of folders in it have thresholds ({', '.join(folders[:3])} ...), and several have "
                "tables of one recording; expected --operating-points for operating points of one system"
            )
            raise InputError(Problem(spelled(name), message, code="repeated-recording"))
        notes = _left_out(left_out)
        if several:
            why = "named with the folders of their tables, as tables in others have the same name"
            notes += (f"{listing(several, 'recording')} {be(len(several))} {why}",)
        return cls(places, tuple(labels), tuple(recordings), notes)


@dataclass(frozen=True, slots=True)
class TableFile:
    """A file with some rows of a table, and its content once it was read.

    name: for reading and for messages. size: its bytes. label: its name below the folder that all shards are
    in, wherever that is.

    alone: whether it is the whole table, and not a shard. only: whether it is the only file.

    rows: all of them, or an empty table with all other fields; nothing before they are read. n_rows: the
    number of rows. named: whether they name their recordings, None if that is unknown.
    """

    name: str
    size: int
    label: str
    alone: bool = False
    only: bool = False
    rows: EventTable = EventTable.empty(Origin(""))  # noqa: RUF009 - frozen
    n_rows: int = 0
    named: bool | None = None

    def limits(self, limits: Limits) -> Limits:
        """Return the limits of a shard, which names a recording unless it is the whole table."""
        return limits if self.alone else replace(limits, by_table=True, only=self.only)

    def read(self, path: str, limits: Limits, form: str = "") -> TableFile:
        """Return the shard with its rows, read from a path."""
        return self.holding(_read(open_source(path, limits=limits), form, self.limits(limits)))

    def holding(self, rows: EventTable) -> TableFile:
        """Return the shard with all of its rows; rows that name no recording have the name of the shard."""
        named = UNNAMED not in rows.files if rows.files else None
        if named is False and not self.alone:
            rows = with_recording(rows, recording_of(self.name))
        return replace(self, rows=rows, n_rows=len(rows), named=named)


def shards_of(name: str, limits: Limits = LIMITS) -> list[TableFile]:
    """Return the shards of a table by name; a single file or a folder is its only shard.

    name: a path, a URL, or a pattern of either, such as `ref/*.parquet`. Raises InputError if a pattern fits
    no file.
    """
    files = list_files(name, limits)
    if not is_pattern(name):
        return [TableFile(name, files[0][1], name, alone=True)]
    if not files:
        expected = "expected a pattern of names of tables such as 'ref/*.parquet'"
        raise InputError(Problem(spelled(name), f"fits no file; {expected}", code="empty-folder"))
    limits.check(spelled(name), "size", sum(size for _, size in files), "bytes in all shards")
    split = [path.split("/") for path, _ in files]
    common = _common([parts[:-1] for parts in split])
    return [
        TableFile(path, size, "/".join(parts[common:]), only=len(files) == 1)
        for (path, size), parts in zip(files, split, strict=True)
    ]


def _common(folders: Iterable[Sequence[str]]) -> int:
    """Return how many parts at the begin are the same in all of some paths."""
    same = [len(set(parts)) == 1 for parts in zip(*folders, strict=False)]
    return [*same, False].index(False)


# Names with thresholds.


def thresholds_in(names: Sequence[str]) -> list[float] | None:
    """Return the threshold in each of some names, None if the names do not have any.

    They have thresholds if they differ in one number alone, which is in [0, 1], and another one in each.
    """
    split = [_NUMBER.split(_without_extensions(PurePath(name).name)) for name in names]
    if not split or len({len(parts) for parts in split}) > 1:
        return None
    columns = list(zip(*split, strict=True))
    # Numbers are at odd places. A single name has nothing to differ from: it must have no other number.
    varying = [at for at, texts in enumerate(columns) if len(set(texts)) > 1 or (len(split) == 1 and at % 2)]
    if len(varying) != 1 or not varying[0] % 2:
        return None
    thresholds = [float(text) for text in columns[varying[0]]]
    different = len(set(thresholds)) == len(thresholds)
    return thresholds if different and all(0 <= each <= 1 for each in thresholds) else None


def _without_extensions(name: str) -> str:
    parts = name.split(".")
    while len(parts) > 1 and _EXTENSION.fullmatch(parts[-1]):
        parts.pop()
    return ".".join(parts)


def seem_thresholds(names: Sequence[str]) -> bool:
    """Return whether names of several tables have thresholds, of which one is a fraction at least."""
    return len(names) > 1 and any(threshold % 1 for threshold in thresholds_in(names) or ())


def points_in(path: str, limits: Limits = LIMITS) -> dict[float, str]:
    """Return the tables of a folder, or the tables that a pattern fits, by the thresholds in their names.

    Raises InputError if there are none, and if a name does not have one threshold.
    """
    if is_pattern(path):
        names = [file.name for file in shards_of(path, limits)]
    else:
        names = [*map(str, tables_in(path, limits))]
        inner = {below.partition("/")[0] for below in paths_below(path, map(Path, names)) if "/" in below}
        # A folder for each threshold, with a table for each recording.
        names = [str(Path(path, folder)) for folder in sorted(inner)] or names
    thresholds = thresholds_in(names)
    if thresholds is None:
        first = ", ".join(spelled(PurePath(name).name) for name in names[:3])
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        message = (
            f"does not say by its names at which thresholds its tables are ({first}{more}); expected names "
            "that differ in one number in [0, 1] alone, such as 'baseline_0.1.csv' and 'baseline_0.5.csv'; "
            "in Python a mapping of thresholds to tables takes any"
        )
        raise InputError(Problem(spelled(path), message, code="no-thresholds"))
    return dict(zip(thresholds, names, strict=True))


# Tables that can be one.


def with_recording(rows: EventTable, stem: str) -> EventTable:
    """Name the rows of a table without file names after its file."""
    files = tuple(stem if file == UNNAMED else file for file in rows.files)
    return replace(rows, files=files or (stem,))


def check_alike(source: str, tables: Sequence[tuple[str, EventTable]]) -> None:
    """Refuse tables with rows of which some are wide or have values, and others are not or have none."""
    traits: tuple[tuple[str, str, Callable[[EventTable], bool]], ...] = (
        ("wide", "long", lambda rows: rows.has_steps),
        ("with values", "without values", lambda rows: rows.has_values),
        ("with times", "without times", lambda rows: rows.origin.timed),
    )
    for yes, no, trait in traits:
        kinds = {trait(rows): table for table, rows in tables}
        if len(kinds) > 1:
            raise _mixed(source, f"{kinds[True]} is {yes}, {kinds[False]} is {no}")


def _mixed(source: str, message: str) -> InputError:
    return InputError(Problem(source, f"mixes tables: {message}; expected one form", code="mixed-tables"))


def check_apart(name: str, tables: Iterable[tuple[str, EventTable]]) -> None:
    """Refuse a folder, or an archive, of which two tables, by their paths in it, have rows of one recording.

    They may be one system at several thresholds, runs of it, other systems, or parts of one table: added up
    they would be scored as a system that does not exist.
    """
    first: dict[str, str] = {}
    for table, rows in tables:
        for recording in (rows.files[code] for code in distinct(rows.file).tolist()):
            other = first.setdefault(recording, table)
            if other != table:
                # Only the source has the folder's path: others may read the message on a board.
                message = (
                    f"{other} and {table} both have rows of recording "
                    f"{recording!r}; expected one table for each recording: --operating-points says that "
                    "they are of one system at several thresholds, and a pattern such as "
                    f"'FOLDER/*{PurePath(table).suffix}' that they are parts of one table"
                )
                mend = "keep one of them, or say what they are: `--operating-points` or a pattern"
                raise InputError(Problem(spelled(name), message, code="repeated-recording", mend=mend))


# Reading and joining them.


def _join(
    name: str,
    form: str,
    tables: Mapping[str, EventTable],
    limits: Limits,
    mend: str,
    prefixes: Iterable[str],
) -> EventTable:
    """Return the rows of all tables, which are in memory already.

    tables: by their names in the hash of all. `mend`: a change that needs less memory. prefixes: of the notes
    of each. Raises InputError over a limit, RoomError if memory is short.
    """
    name, digest, parts = spelled(name), hashlib.sha256(), list(tables.values())
    for label, rows in tables.items():
        digest.update(f"{label}\0{rows.origin.sha256}\n".encode("utf-8", "backslashreplace"))
    sha256 = digest.hexdigest() if all(rows.origin.sha256 for rows in parts) else None
    origins = [(prefix, rows.origin) for prefix, rows in zip(prefixes, parts, strict=True)]
    if any(prefix for prefix, _ in origins):
        notes = tuple(_said_of([(prefix, origin.notes) for prefix, origin in origins]))
    else:
        notes = joined_notes(text for _, origin in origins for text in origin.notes)
    assumptions = _said_of([(prefix, origin.assumed) for prefix, origin in origins])
    ignored = tuple(dict.fromkeys(column for _, origin in origins for column in origin.ignored))
    timed = all(origin.timed for _, origin in origins)
    unknown = tuple(dict.fromkeys(label for _, origin in origins for label in origin.unknown))
    first, *others = (origin.lacking for _, origin in origins)
    lacking = tuple(text for text in first if all(text in other for other in others))
    origin = Origin(
        name,
        sha256,
        form,
        ignored,
        notes,
        tuple(assumptions),
        timed=timed,
        unknown=unknown,
        lacking=lacking,
        joined={rows.origin.joined for rows in parts if len(rows) or rows.origin.joined} == {True} or None,
    )
    files = tuple(dict.fromkeys(file for rows in parts for file in rows.files))
    classes = {label for rows in parts for label in rows.classes}
    limits.check(name, "files", len(files), "files")
    limits.check(name, "classes", len(classes), "classes")
    n_rows, wide = sum(map(len, parts)), any(rows.has_steps for rows in parts)
    check_room(
        8 * n_rows * (len(classes) + 4 if wide else 6),
        f"{name}: to join {counted(n_rows, 'row')} of {counted(len(classes), 'class')}",
        mend,
    )
    return EventTable.join(parts, files, origin)


def _said_of(tables: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    """Return notes on tables, each once; tables: a prefix for each, and its notes."""
    prefixes: dict[str, list[str]] = {}
    for prefix, texts in tables:
        for text in texts:
            prefixes.setdefault(text, []).append(prefix)
    return [
        f"{of[0]}{text}" if len(of) == 1 else f"{counted(len(of), 'table')}: {text}"
        for text, of in prefixes.items()
    ]


def read_folder(name: str, form: str = "", limits: Limits = LIMITS) -> EventTable:
    """Read all tables of a folder as one, see `tables_in`; form: their required format, if there is one.

    A table without any line is a recording without events. Raises InputError for a folder without any table,
    if one is wrong, if long and wide ones are mixed, if two have rows of one recording, and if all together
    are over a limit.
    """
    tables = tables_in(name, limits)
    paths = paths_below(name, tables)
    sources = ((path, open_source(table, limits=limits)) for path, table in zip(paths, tables, strict=True))
    return read_members(name, sources, "folder", limits, form, folders_left_out(name, paths))


def read_members(
    name: str,
    sources: Iterable[tuple[str, Source]],
    what: str,
    limits: Limits = LIMITS,
    form: str = "",
    notes: Sequence[str] = (),
) -> EventTable:
    """Read some tables as one, errors as for `read_folder`.

    sources: each with its path within the folder or archive. what: the word for it. notes: on it.
    """
    sources = iter(sources)
    first = list(islice(sources, 2))
    of_each = replace(limits, by_table=True, only=len(first) < 2)
    read: list[EventTable] = []
    paths, size, n_rows = list[str](), 0, 0
    for path, source in chain(first, sources):
        size += len(source.data)
        limits.check(spelled(name), "size", size, "bytes or more in its tables")
        rows = _read(source, form, of_each)
        n_rows += len(rows)
        limits.check(spelled(name), "rows", n_rows, "rows or more in its tables")
        paths.append(path)
        read.append(rows)
    members = Members.of(name, paths)
    chosen = zip(members.places, members.labels, members.recordings, strict=True)
    tables = {label: with_recording(read[k], recording) for k, label, recording in chosen}
    check_alike(name, [(label, rows) for label, rows in tables.items() if len(rows)])
    check_apart(name, tables.items())
    forms = [rows.origin.form for rows in tables.values() if rows.origin.form != _EMPTY]
    form = ", ".join([f"{what} of {counted(len(tables), 'table')}", *forms[:1]])
    prefixes = [f"{label}: " for label in tables]
    rows = _join(name, form, tables, limits, "Expected batches of files", prefixes)
    return replace(rows, origin=replace(rows.origin, notes=(*notes, *members.notes, *rows.origin.notes)))


def _read(source: Source, form: str, limits: Limits) -> EventTable:
    """Read a table; one without any line has no rows."""
    rows = read_table(source, form, limits)
    return EventTable.empty(Origin(source.name, source.sha256, _EMPTY)) if rows is None else rows


def read_shards(name: str, form: str = "", limits: Limits = LIMITS) -> EventTable:
    """Return the rows of all shards that a pattern fits; raises InputError as `joined` does."""
    return joined(name, [shard.read(shard.name, limits, form) for shard in shards_of(name, limits)], limits)


def joined(name: str, shards: Sequence[TableFile], limits: Limits = LIMITS) -> EventTable:
    """Return the rows of shards as rows of one table; the rows of a single file are its own.

    Raises InputError in five cases:

    - Only some shards name their recordings, or two shards are of the same recording.
    - Files without any line are beside shards that name recordings.
    - Names of shards seem to have thresholds.
    - Long and wide shards are mixed.
    - All shards together are over a limit.
    """
    tables = {shard.label: shard.rows for shard in shards}
    if shards[0].alone:
        return tables[shards[0].label]
    kinds = {shard.named: shard.name for shard in shards}
    if {True, False} <= kinds.keys():
        raise _mixed(spelled(name), f"{kinds[True]} names its recordings, {kinds[False]} does not")
    if False in kinds:
        names = [shard.name for shard in shards]
        _check_recordings(spelled(name), names, map(recording_of, names))
        tables = {label: with_recording(rows, recording_of(label)) for label, rows in tables.items()}
    else:
        _check_named(name, [shard.name for shard in shards], list(tables.values()))
    check_alike(spelled(name), [(shard.name, tables[shard.label]) for shard in shards if shard.n_rows])
    limits.check(spelled(name), "rows", sum(shard.n_rows for shard in shards), "rows")
    forms = {rows.origin.form for rows in tables.values()} - {_EMPTY}
    form = ", ".join([counted(len(shards), "shard"), *sorted(forms)])
    mend = "--memory-limit or --jobs counts shards in parts"
    return _join(name, form, tables, limits, mend, [""] * len(tables))


def _check_named(name: str, names: Sequence[str], tables: Sequence[EventTable]) -> None:
    """Refuse shards that name their recordings, and may be operating points, or have no line."""
    n_recordings = len({file for rows in tables for file in rows.files})
    if seem_thresholds(names) and n_recordings < sum(len(rows.files) for rows in tables):
        # Rows of a recording are added up, and rows of operating points must not be.
        thresholds = thresholds_in(names) or []
        message = (
            f"names of its tables have thresholds, {min(thresholds)!r} to {max(thresholds)!r}, and several "
            f"have the same recordings; expected --operating-points '{name}' for operating points of one "
            "system, or other names for parts of one table"
        )
        mend = "say what they are: `--operating-points`, or other names"
        raise InputError(Problem(spelled(name), message, code="repeated-recording", mend=mend))
    for path, rows in zip(names, tables, strict=True):
        if rows.origin.form == _EMPTY:
            message = "is empty; expected a table (a shard without rows is written as a header alone)"
            raise InputError(Problem(spelled(path), message, code="empty-file"))


def by_file(role: str, tables: Mapping[str, EventTable], limits: Limits = LIMITS) -> EventTable:
    """Return the rows of tables that are given by the names of their recordings.

    Raises InputError for one that names another recording, if wide and long ones are mixed, and if all
    together are over a limit.
    """
    for file, rows in tables.items():
        others = sorted({*rows.files} - {UNNAMED, file})
        if others:
            message = f"names the recording {others[0]!r}; expected {file!r}, as which it was given, or none"
            raise InputError(Problem(rows.origin.name, message, code="repeated-recording"))
    check_alike(role, [(rows.origin.name, rows) for rows in tables.values() if len(rows)])
    limits.check(role, "rows", sum(map(len, tables.values())), "rows in its tables")
    form = next((rows.origin.form for rows in tables.values() if len(rows)), _EMPTY)
    named = {file: with_recording(rows, file) for file, rows in tables.items()}
    prefixes = [f"{rows.origin.name}: " for rows in tables.values()]
    form = f"{counted(len(tables), 'file')}, {form}"
    return _join(role, form, named, limits, "Expected batches of files", prefixes)


def read_points(
    points: Mapping[Any, Any],
    role: str,
    read: Callable[[Any], EventTable],
    limits: Limits = LIMITS,
    *,
    name: str = "",
) -> EventTable:
    """Return the rows of all lists, each with the thresholds between which it is valid.

    points: arguments of `read`, by threshold in [0, 1]. name: of all of them, if they have one. Raises
    InputError for an invalid threshold, and for a table with values; a list without rows is an empty list.
    """
    for key in points:
        number = isinstance(key, int | float | np.number) and not isinstance(key, bool)
        if not number or not 0 <= key <= 1:
            message = f"has an operating point at {key!r}; expected a threshold in [0, 1]"
            raise InputError(Problem(role, message))
    tables = {float(key): read(source) for key, source in points.items()}
    check_points([*tables.values()])
    if len(tables) < len(points):
        raise InputError(Problem(role, "has two operating points of one threshold"))
    thresholds = sorted(tables)
    # The list of the last threshold is valid up to 1, or a breath above it.
    ends = [*thresholds[1:], max(1.0, float(np.nextafter(thresholds[-1], 2.0)))]
    lists: dict[str, EventTable] = {}
    for low, high in zip(thresholds, ends, strict=True):
        rows = tables[low]
        born = np.full(len(rows), 0.0 if low == thresholds[0] else low)
        lists[repr(low)] = replace(rows, values=(np.full(len(rows), high),), born=born)
    form, name = f"operating points at {', '.join(lists)}", name or counted(len(lists), "operating point")
    prefixes = [f"{rows.origin.name}: " for rows in lists.values()]
    rows = _join(name, form, lists, limits, "Expected fewer operating points", prefixes)
    return replace(rows, origin=replace(rows.origin, points=tuple(thresholds)))


def check_points(tables: Sequence[EventTable]) -> None:
    """Refuse operating points with values, and points of which only some name their recordings."""
    for rows in tables:
        # A list without rows has no value that could be lost, whatever columns its header names.
        if rows.has_steps or (rows.value is not None and len(rows)):
            message = "has values; expected a list of events, as of one threshold"
            raise InputError(Problem(rows.origin.name, message, code="mixed-tables"))
    kinds = {UNNAMED in rows.files: rows.origin.name for rows in tables if rows.files}
    if len(kinds) > 1:
        raise _mixed(kinds[True], f"it does not name its recordings, {kinds[False]} does")
