"""A folder of tables, one per recording: the name of each is that of its file, without extension."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from sedeval_soft.core.errors import InputError, Problem
from sedeval_soft.core.rows import UNNAMED, LongRows, Origin, Rows, WideRows
from sedeval_soft.formats.joined import join_long, join_wide
from sedeval_soft.formats.source import Source, open_source, spelled

EXTENSIONS = frozenset({".tsv", ".csv", ".txt", ".ann", ".lab"})


def read_folder(name: str, read: Callable[[Source], Rows | None]) -> Rows:
    """Read all tables of a folder (not of folders in it) as one.

    A table without any line is a recording without events. Raises InputError where there is no
    table, where one is wrong, or where long and wide ones are mixed.
    """
    parts: list[tuple[str, Rows]] = []
    silent: list[str] = []
    digest = hashlib.sha256()
    for path in tables_in(name):
        source = open_source(path)
        rows = read(source)
        digest.update(f"{spelled(path.name)}\0{source.sha256}\n".encode())
        if rows is None:
            silent.append(recording_of(path))
        else:
            parts.append((str(path), with_recording(rows, recording_of(path))))
    check_alike(name, parts)
    files = tuple(dict.fromkeys([*(file for _, rows in parts for file in rows.files), *silent]))
    form = f"folder of {len(parts) + len(silent)} tables" + (f", {parts[0][1].origin.form}" if parts else "")
    ignored = tuple(dict.fromkeys(column for _, rows in parts for column in rows.origin.ignored))
    notes = tuple(f"{Path(path).name}: {note}" for path, rows in parts for note in rows.origin.notes)
    origin = Origin(spelled(name), digest.hexdigest(), form, ignored, notes)
    wide = [rows for _, rows in parts if isinstance(rows, WideRows)]
    if wide:
        return join_wide(wide, files, origin)
    return join_long([rows for _, rows in parts if isinstance(rows, LongRows)], files, origin)


def tables_in(name: str) -> list[Path]:
    """Return the tables of a folder by name; raises InputError where there are none or two of one name."""
    try:
        paths = sorted(
            path for path in Path(name).iterdir() if not path.name.startswith(".") and path.is_file()
        )
    except OSError as error:
        raise InputError(
            Problem(name, f"cannot be read: {error.strerror}", code="unreadable-file")
        ) from error
    tables = [path for path in paths if Path(path.name.lower().removesuffix(".gz")).suffix in EXTENSIONS]
    if not tables:
        raise InputError(
            Problem(
                name,
                f"holds no table; expected files ending in {', '.join(sorted(EXTENSIONS))}",
                code="empty-folder",
            )
        )
    seen: dict[str, Path] = {}
    for path in tables:
        other = seen.setdefault(recording_of(path), path)
        if other is not path:
            raise InputError(
                Problem(
                    name,
                    f"{other.name} and {path.name} are both of recording {recording_of(path)!r}",
                    code="repeated-recording",
                )
            )
    return tables


def recording_of(path: Path) -> str:
    """Return the name of the recording that a table of a folder is of."""
    name = path.name[:-3] if path.name.lower().endswith(".gz") else path.name
    return Path(name).stem


def with_recording(rows: Rows, stem: str) -> Rows:
    """Name the rows of a table without file names after its file."""
    files = tuple(stem if file == UNNAMED else file for file in rows.files)
    return replace(rows, files=files or (stem,))


def check_alike(name: str, parts: Sequence[tuple[str, Rows]]) -> None:
    """Refuse a folder that mixes wide and long tables, or tables with and without values."""
    for yes, no, trait in (
        ("wide", "long", lambda rows: isinstance(rows, WideRows)),
        ("with values", "without values", lambda rows: rows.has_values),
    ):
        kinds = {trait(rows): Path(path).name for path, rows in parts if len(rows)}
        if len(kinds) > 1:
            message = f"mixes tables: {kinds[True]} is {yes}, {kinds[False]} is {no}; expected one form"
            raise InputError(Problem(name, message, code="mixed-tables"))
