"""A table in shards: the files that a pattern such as `ref/*.parquet` fits, here or elsewhere, read as one.

Rows of all shards are those of one table, in the order of their names; a recording may be in several of them.
Where no shard names its recordings, each is one, named after its file.
"""

from __future__ import annotations

import glob
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from sedeval_soft.errors import InputError, Problem, counted
from sedeval_soft.memory import check_room
from sedeval_soft.tables.assemble import joined_notes
from sedeval_soft.tables.event_table import UNNAMED, EventTable, Origin
from sedeval_soft.tables.folder import stem_of, with_recording
from sedeval_soft.tables.limits import LIMITS, Limits, for_members
from sedeval_soft.tables.named_thresholds import are_lists_of_one, seem_thresholds, thresholds_in
from sedeval_soft.tables.paths import is_file
from sedeval_soft.tables.remote import found_by, size_of_remote
from sedeval_soft.tables.source import is_pattern, is_url, spelled


@dataclass(frozen=True, slots=True)
class ShardFile:
    """A file with some rows of a table.

    name: to be read by, and told by. size: its bytes. label: its name below the folder that all shards are
    in, wherever that is. alone: whether it is the whole table, and no shard. only: whether there is no other.
    """

    name: str
    size: int
    label: str
    alone: bool = False
    only: bool = False

    def limits(self, limits: Limits) -> Limits:
        """Return the limits of a shard, which names a recording unless it is the whole table."""
        return limits if self.alone else for_members(limits, only=self.only)


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


def shards_of(name: str, limits: Limits = LIMITS) -> list[ShardFile]:
    """Return the shards of a table by name; of one that is a single file or a folder, that.

    Raises InputError where there are none.
    """
    if not is_pattern(name):
        size = size_of_remote(name) if is_url(name) else _size(name)
        return [ShardFile(name, size, name, alone=True)]
    if is_url(name):
        found = found_by(name, limits)
    else:
        names = list(islice(_fitting(name), limits.members + 1))
        if len(names) > limits.members:
            raise limits.refusal(spelled(name), "members", f"has more than {limits.members} files")
        found = [(path, _size(path)) for path in sorted(names)]
    if not found:
        expected = "expected a pattern of names of tables such as 'ref/*.parquet'"
        raise InputError(Problem(spelled(name), f"fits no file; {expected}", code="empty-folder"))
    limits.check(spelled(name), "size", sum(size for _, size in found), "bytes in all shards")
    labels = _labels([path for path, _ in found])
    only = len(found) == 1
    return [
        ShardFile(path, size, label, only=only) for (path, size), label in zip(found, labels, strict=True)
    ]


def read_shards(
    name: str, read: Callable[[ShardFile], EventTable | None], limits: Limits = LIMITS
) -> EventTable:
    """Return the rows of all shards that a pattern fits; raises InputError as `joined` does, and `read`."""
    held: list[Held] = []
    n_rows = 0
    for file in shards_of(name, limits):
        held.append(Held.of(file, read(file)))
        n_rows += held[-1].n_rows
        limits.check(spelled(name), "rows", n_rows, "rows or more in its shards")
    return joined(name, recordings(name, held), limits)


def recordings(name: str, held: Sequence[Held]) -> list[Held]:
    """Return shards whose rows name their recordings; those that do not are named after their files.

    Raises InputError where just some name them, where two are of the same recording, for files without any
    line beside shards that name them, and where names of shards seem to hold thresholds.
    """
    if held[0].file.alone:
        return list(held)
    kinds = {each.named: each.file.name for each in held}
    if {True, False} <= kinds.keys():
        message = f"mixes tables: {kinds[True]} names its recordings, {kinds[False]} does not"
        raise InputError(Problem(spelled(name), f"{message}; expected one form", code="mixed-tables"))
    if False not in kinds:
        _refuse_thresholds(name, held)
        for each in held:
            if each.rows is None:
                message = "is empty; expected a table (a shard without rows is written as a header alone)"
                raise InputError(Problem(spelled(each.file.name), message, code="empty-file"))
        return list(held)
    seen: dict[str, str] = {}
    found = []
    for each in held:
        stem = stem_of(each.file.name)
        other = seen.setdefault(stem, each.file.name)
        if other != each.file.name:
            message = f"{other} and {each.file.name} are both of recording {stem!r}"
            raise InputError(Problem(spelled(name), message, code="repeated-recording"))
        rows = None if each.rows is None else with_recording(each.rows, stem)
        found.append(replace(each, rows=rows))
    return found


def _refuse_thresholds(name: str, held: Sequence[Held]) -> None:
    """Refuse shards that seem to be lists of one system's events at several thresholds, not parts of a table.

    Rows of a recording may be in several shards, and are added up: those of operating points must not be.
    """
    names = [each.file.name for each in held]
    tables = [each.rows for each in held if each.rows is not None]
    if not seem_thresholds(names) or not are_lists_of_one(tables):
        return
    thresholds = thresholds_in(names) or []
    message = (
        f"names of its tables hold thresholds, {min(thresholds)!r} to {max(thresholds)!r}, and several have "
        f"the same recordings; expected --operating-points '{name}' for operating points of one system, or "
        "other names for parts of one table"
    )
    mend = "say what they are: `--operating-points`, or other names"
    raise InputError(Problem(spelled(name), message, code="repeated-recording", mend=mend))


def joined(name: str, held: Sequence[Held], limits: Limits = LIMITS) -> EventTable:
    """Return the rows of shards as those of one table; those of a single file are its own.

    Raises InputError where long and wide shards are mixed, and where all together are over a limit.
    """
    if held[0].file.alone and held[0].rows is not None:
        return held[0].rows
    parts = [(each, each.rows) for each in held if each.rows is not None]
    _check_alike(name, parts)
    silent = [stem_of(each.file.name) for each in held if each.rows is None]
    files = tuple(dict.fromkeys([*(file for _, rows in parts for file in rows.files), *silent]))
    classes = {label for _, rows in parts for label in rows.classes}
    for what, found in (
        ("rows", sum(each.n_rows for each in held)),
        ("files", len(files)),
        ("classes", len(classes)),
    ):
        limits.check(spelled(name), what, found, what)
    origin = _origin(name, held)
    wide = any(rows.is_wide for _, rows in parts)
    n_rows, width = sum(len(rows) for _, rows in parts), len(classes) + 4 if wide else 5
    check_room(
        8 * n_rows * width,
        f"{spelled(name)}: to join {counted(n_rows, 'row')} of {counted(len(classes), 'class')}",
        "--memory-limit or --jobs counts shards in parts",
    )
    return EventTable.join([rows for _, rows in parts], files, origin)


def _check_alike(name: str, parts: Sequence[tuple[Held, EventTable]]) -> None:
    """Refuse shards of which some are wide or have values, and others are not or have none."""
    traits: tuple[tuple[str, str, Callable[[EventTable], bool]], ...] = (
        ("wide", "long", lambda rows: rows.is_wide),
        ("with values", "without values", lambda rows: rows.has_values),
    )
    for yes, no, trait in traits:
        kinds = {trait(rows): each.file.name for each, rows in parts if each.n_rows}
        if len(kinds) > 1:
            message = f"mixes tables: {kinds[True]} is {yes}, {kinds[False]} is {no}; expected one form"
            raise InputError(Problem(spelled(name), message, code="mixed-tables"))


def _origin(name: str, held: Sequence[Held]) -> Origin:
    """Return where a table in shards is from: a hash of those of all shards, and what they look like."""
    digest = hashlib.sha256()
    for each in held:
        own = _NOTHING if each.rows is None else each.rows.origin.sha256
        digest.update(f"{spelled(each.file.label)}\0{own}\n".encode())
    origins = [each.rows.origin for each in held if each.rows is not None]
    forms = sorted({origin.form for origin in origins})
    number = counted(len(held), "shard")
    return Origin(
        spelled(name),
        digest.hexdigest(),
        ", ".join([number, *forms]),
        tuple(dict.fromkeys(column for origin in origins for column in origin.ignored)),
        joined_notes(note for origin in origins for note in origin.notes),
        tuple(dict.fromkeys(text for origin in origins for text in origin.assumed)),
    )


_NOTHING = hashlib.sha256(b"").hexdigest()


def _labels(names: Sequence[str]) -> list[str]:
    """Return names without the folders that all of them are in."""
    split = [name.split("/") for name in names]
    same = [len(set(parts)) == 1 for parts in zip(*(parts[:-1] for parts in split), strict=False)]
    common = (*same, False).index(False)
    return ["/".join(parts[common:]) for parts in split]


def _fitting(pattern: str) -> Iterator[str]:
    try:
        # Names are told as they were typed, which a Path would change.
        for path in glob.iglob(pattern, recursive=True):  # noqa: PTH207
            if is_file(path):
                yield path
    except (OSError, ValueError) as error:
        raise InputError(
            Problem(spelled(pattern), f"cannot be looked for: {error}", code="unreadable-file")
        ) from error


def _size(name: str) -> int:
    try:
        return Path(name).stat().st_size
    except (OSError, ValueError):
        return 0
