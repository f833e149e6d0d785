"""A folder of tables, one per recording: the name of each is that of its file, without extension."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path, PurePosixPath

from sedeval_soft.errors import InputError, Problem, counted
from sedeval_soft.sorting import distinct
from sedeval_soft.tables.event_table import UNNAMED, EventTable, Origin
from sedeval_soft.tables.forms import MEMBER_EXTENSIONS, TEXT_EXTENSIONS, read_table
from sedeval_soft.tables.limits import LIMITS, Limits, for_members
from sedeval_soft.tables.named_thresholds import seem_thresholds
from sedeval_soft.tables.source import Source, open_source, spelled


@dataclass(frozen=True, slots=True)
class Member:
    """A table of a folder or an archive: where it is, the recording it is named after, and its bytes."""

    name: str
    stem: str
    source: Source


def read_folder(name: str, form: str = "", limits: Limits = LIMITS) -> EventTable:
    """Read all tables of a folder (not of folders in it) as one; form: what they must be, if that is known.

    A table without any line is a recording without events. Raises InputError where there is no
    table, where one is wrong, where long and wide ones are mixed, where two have rows of one recording, and
    where all together are over a limit.
    """
    return read_members(name, _members(name, limits), "folder", limits, form)


def read_members(
    name: str, members: Iterable[Member], what: str, limits: Limits = LIMITS, form: str = ""
) -> EventTable:
    """Read some tables as one; what: they are of, a folder or an archive."""
    members = iter(members)
    first = list(islice(members, 2))
    of_each = for_members(limits, only=len(first) < 2)
    parts: list[tuple[str, EventTable]] = []
    silent: list[str] = []
    seen: dict[str, str] = {}
    digest = hashlib.sha256()
    size = n_rows = 0
    for member in chain(first, members):
        short = PurePosixPath(member.name).name
        other = seen.setdefault(member.stem, short)
        if len(seen) == len(parts) + len(silent):
            raise InputError(_both(name, other, short, member.stem))
        size += len(member.source.data)
        limits.check(spelled(name), "size", size, "bytes or more in its tables")
        rows = read_table(member.source, form, of_each)
        n_rows += 0 if rows is None else len(rows)
        limits.check(spelled(name), "rows", n_rows, "rows or more in its tables")
        digest.update(f"{spelled(short)}\0{member.source.sha256}\n".encode())
        if rows is None:
            silent.append(member.stem)
        else:
            parts.append((member.name, with_recording(rows, member.stem)))
    if not seen:
        raise InputError(_none(name))
    check_alike(name, parts)
    check_apart(name, parts, what)
    files = tuple(dict.fromkeys([*(file for _, rows in parts for file in rows.files), *silent]))
    classes = {label for _, rows in parts for label in rows.classes}
    limits.check(spelled(name), "files", len(files), "files")
    limits.check(spelled(name), "classes", len(classes), "classes")
    _check_memory(spelled(name), n_rows, len(classes), wide=any(r.is_wide for _, r in parts))
    form = f", {parts[0][1].origin.form}" if parts else ""
    form = f"{what} of {counted(len(parts) + len(silent), 'table')}{form}"
    ignored = tuple(dict.fromkeys(column for _, rows in parts for column in rows.origin.ignored))
    notes = tuple(f"{Path(path).name}: {note}" for path, rows in parts for note in rows.origin.notes)
    assumed = tuple(f"{Path(path).name}: {text}" for path, rows in parts for text in rows.origin.assumed)
    origin = Origin(spelled(name), digest.hexdigest(), form, ignored, notes, assumed)
    return EventTable.join([rows for _, rows in parts], files, origin)


def _check_memory(name: str, n_rows: int, n_classes: int, *, wide: bool) -> None:
    """Refuse tables that cannot be joined in memory; each of them is there already."""
    from sedeval_soft.memory import check_room

    needed = n_rows * 8 * (n_classes + 4 if wide else 5)
    check_room(
        needed,
        f"{name}: to join {counted(n_rows, 'row')} of {counted(n_classes, 'class')}",
        "Expected batches of files",
    )


def is_table(name: str) -> bool:
    """Return whether a file is a table, by its name."""
    return _extension(name) in TEXT_EXTENSIONS | MEMBER_EXTENSIONS


def stem_of(name: str) -> str:
    """Return the recording that a table is named after."""
    last = PurePosixPath(name).name
    return PurePosixPath(last[:-3] if last.lower().endswith(".gz") else last).stem


def _both(name: str, one: str, other: str, stem: str) -> Problem:
    return Problem(name, f"{one} and {other} are both of recording {stem!r}", code="repeated-recording")


def _none(name: str) -> Problem:
    expected = f"expected files ending in {', '.join(sorted(TEXT_EXTENSIONS))}"
    return Problem(name, f"holds no table; {expected}", code="empty-folder")


def _members(name: str, limits: Limits) -> Iterator[Member]:
    """Yield the tables of a folder by name."""
    for path in _paths(name, limits):
        yield Member(str(path), stem_of(path.name), open_source(path, limits=limits))


def tables_in(name: str, limits: Limits = LIMITS) -> list[Path]:
    """Return the tables of a folder by name; raises InputError where there are none or two of one name."""
    paths = _paths(name, limits)
    if not paths:
        raise InputError(_none(name))
    seen: dict[str, Path] = {}
    for path in paths:
        other = seen.setdefault(stem_of(path.name), path)
        if other is not path:
            raise InputError(_both(name, other.name, path.name, stem_of(path.name)))
    return paths


def _paths(name: str, limits: Limits) -> list[Path]:
    try:
        with os.scandir(name) as entries:
            inside = [entry.name for entry in islice(entries, limits.members + 1)]
        if len(inside) > limits.members:
            raise limits.refusal(spelled(name), "members", f"has more than {limits.members} files")
        folder = Path(name)
        paths = [folder / entry for entry in sorted(inside) if not entry.startswith(".")]
        paths = [path for path in paths if path.is_file()]
    except OSError as error:
        raise InputError(
            Problem(name, f"cannot be read: {error.strerror or error}", code="unreadable-file")
        ) from error
    tables = [path for path in paths if _extension(path.name) in TEXT_EXTENSIONS]
    return tables or [path for path in paths if _extension(path.name) in MEMBER_EXTENSIONS]


def _extension(name: str) -> str:
    return PurePosixPath(name.lower().removesuffix(".gz")).suffix


def with_recording(rows: EventTable, stem: str) -> EventTable:
    """Name the rows of a table without file names after its file."""
    files = tuple(stem if file == UNNAMED else file for file in rows.files)
    return replace(rows, files=files or (stem,))


def check_alike(name: str, parts: Sequence[tuple[str, EventTable]]) -> None:
    """Refuse a folder that mixes wide and long tables, or tables with and without values."""
    traits: tuple[tuple[str, str, Callable[[EventTable], bool]], ...] = (
        ("wide", "long", lambda rows: rows.is_wide),
        ("with values", "without values", lambda rows: rows.has_values),
    )
    for yes, no, trait in traits:
        kinds = {trait(rows): Path(path).name for path, rows in parts if len(rows)}
        if len(kinds) > 1:
            message = f"mixes tables: {kinds[True]} is {yes}, {kinds[False]} is {no}; expected one form"
            raise InputError(Problem(name, message, code="mixed-tables"))


def check_apart(name: str, parts: Sequence[tuple[str, EventTable]], what: str = "folder") -> None:
    """Refuse a folder, or an archive, of which two tables have rows of one recording.

    They may be one system at several thresholds, runs of it, other systems, or parts of one table: added up
    they would be scored as something that nobody has made.
    """
    first: dict[str, str] = {}
    for path, rows in parts:
        for recording in recordings_of(rows):
            other = first.setdefault(recording, path)
            if other != path:
                raise InputError(_shared(name, other, path, recording, what))


def recordings_of(rows: EventTable) -> list[str]:
    """Return the names of the recordings that rows are of, those without rows left out."""
    return [rows.files[code] for code in distinct(rows.file).tolist()]


def _shared(name: str, one: str, other: str, recording: str, what: str) -> Problem:
    # Where the folder lies is said by the source alone: others may read the message on a board.
    packed = "unpacked into a FOLDER, " if what == "archive" else ""
    message = (
        f"{Path(one).name} and {Path(other).name} both have rows of recording {recording!r}; expected one "
        f"table for each recording: {packed}--operating-points FOLDER takes tables of one system at several "
        "thresholds"
    )
    if seem_thresholds([one, other]):
        # A pattern of such names is refused as well.
        message += ", of events without values, in place of SYSTEM; as REFERENCE, give one of them"
        mend = "leave one of them, or say what they are: `--operating-points`"
    else:
        message += f", and a pattern such as 'FOLDER/*{PurePosixPath(one).suffix}' parts of one table"
        mend = "leave one of them, or say what they are: `--operating-points` or a pattern"
    return Problem(spelled(name), message, code="repeated-recording", mend=mend)
