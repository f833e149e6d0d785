"""Tables that say one thing of each file: its duration, or the part (fold, scene) that it belongs to.

Such a table has a header, whose other columns are read past, or none. A file may stand there many times
(DCASE metadata has a line per event) if the same is said of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from sedeval_soft.errors import MAX_PROBLEMS, InputError, Problem
from sedeval_soft.tables.columns import DURATION_NAMES, PART_NAMES, is_number, normal, role_of
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.source import Source, open_source
from sedeval_soft.tables.text import BLANK, DELIMITERS, check_lines
from sedeval_soft.tables.text_lines import decode, records

if TYPE_CHECKING:
    from sedeval_soft.tables.file_groups import Partition

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Places:
    """Where names of files and what is said of them stand, from 0, and whether the first line is a header.

    width: how many fields each line must have; None where more than are needed do not matter.
    """

    file: int
    value: int
    header: bool
    width: int | None = None


def read_durations(path: str | os.PathLike[str], limits: Limits = LIMITS) -> dict[str, float]:
    """Return seconds by file name; raises InputError with all that is wrong, up to `MAX_PROBLEMS`."""

    def places(fields: Sequence[str]) -> Places | None:
        files = _file_columns(fields)
        lengths = [i for i, field in enumerate(fields) if normal(field) in DURATION_NAMES]
        if files and lengths:
            return Places(files[0], lengths[0], header=True)
        if len(fields) == 2 and not is_number(fields[0]) and is_number(fields[1]):
            return Places(0, 1, header=False)
        return None

    def seconds(text: str) -> float:
        if not is_number(text) or float(text) < 0:
            raise ValueError(f"duration {text!r} is not a number of seconds, 0 or more")
        if float(text) > limits.duration:
            raise ValueError(f"duration {text} {limits.too_long()}; expected seconds")
        return float(text)

    return _read(open_source(path, limits=limits), "duration", places, seconds, limits)


def read_partition(
    path: str | os.PathLike[str], prefer: Sequence[str] = (), limits: Limits = LIMITS
) -> Partition:
    """Return the part of each file that a table names; raises InputError as `read_durations` does.

    prefer: names of columns, as `fold`, that are parts even where there are others that could be.
    """
    from sedeval_soft import settings
    from sedeval_soft.tables.file_groups import Partition

    def part(text: str) -> str:
        if not settings.is_part_name(text):
            raise ValueError(f"part {text!r} cannot stand in names of scores; expected {settings.PART_NAMES}")
        return text

    source = open_source(path, limits=limits)
    names = frozenset(prefer)
    parts = _read(source, "part", lambda fields: _part_places(fields, names), part, limits, repr)
    return Partition(parts, source.name, source.sha256)


def _part_places(fields: Sequence[str], prefer: frozenset[str]) -> Places | None:
    files = _file_columns(fields)
    names = [normal(field) for field in fields]
    for known in (prefer, PART_NAMES):
        parts = [i for i, name in enumerate(names) if name in known]
        if len(parts) > 1:
            several = " and ".join(repr(fields[i].strip()) for i in parts)
            raise ValueError(f"columns {several} could each be the part; expected one of them")
        if parts and not files:
            found = fields[parts[0]].strip()
            raise ValueError(f"{found!r} names a column of parts, but no column is filename; expected one")
        if parts:
            return Places(files[0], parts[0], header=True)
    if len(fields) != 2:
        return None
    if files and not any(is_number(field) for field in fields):
        return Places(files[0], 1 - files[0], header=True)
    return Places(0, 1, header=False, width=2)


def _file_columns(fields: Sequence[str]) -> list[int]:
    """Return the positions of the columns that a header calls by a name of file names."""
    return [i for i, field in enumerate(fields) if role_of(field) == "filename"]


def _read(
    source: Source,
    noun: str,
    places_in: Callable[[Sequence[str]], Places | None],
    parse: Callable[[str], T],
    limits: Limits,
    shown: Callable[[str], str] = str,
) -> dict[str, T]:
    """Return what a table says by name of file; raises InputError with all that is wrong.

    noun: what is said. places_in: where it stands, from the fields of the first line; None where that line is
    neither a header nor a row, ValueError where it is a header that leaves it open. parse: makes a value of a
    text, or raises ValueError with what is wrong. shown: a text as messages have it.
    """
    name = source.name
    check_lines(source, limits)
    first = next((line for line in decode(source).splitlines() if line.strip(BLANK)), None)
    if first is None:
        raise InputError(Problem(name, f"is empty; expected a table of filename and {noun}"))
    values: dict[str, T] = {}
    problems: list[Problem] = []
    places: Places | None = None
    for line, fields in records(source, max(DELIMITERS, key=first.count)):
        if isinstance(fields, Problem):
            problems.append(fields)
        else:
            if places is None:
                places = _places(name, line, fields, noun, places_in)
                if places.header:
                    continue
            try:
                _enter(values, fields, places, noun, parse, shown)
            except _WrongError as error:
                problems.append(Problem(name, str(error), line, error.column))
        if len(problems) > MAX_PROBLEMS:
            raise InputError(problems[:MAX_PROBLEMS], more=True)
    if problems:
        raise InputError(problems)
    limits.check(name, "files", len(values), "files")
    limits.check(name, "name_length", max(map(len, values), default=0), "characters in the name of a file")
    return values


class _WrongError(Exception):
    """What is wrong with a line, and in which column."""

    def __init__(self, message: str, column: int | None = None) -> None:
        super().__init__(message)
        self.column = column


def _places(
    name: str,
    line: int,
    fields: list[str],
    noun: str,
    places_in: Callable[[Sequence[str]], Places | None],
) -> Places:
    try:
        places = places_in(fields)
    except ValueError as error:
        raise InputError(Problem(name, str(error), line)) from error
    if places is None:
        what = f"{', '.join(map(repr, fields))} is neither a header nor a row"
        raise InputError(Problem(name, f"{what}; expected filename and {noun}", line))
    return places


def _enter(
    values: dict[str, T],
    fields: list[str],
    places: Places,
    noun: str,
    parse: Callable[[str], T],
    shown: Callable[[str], str],
) -> None:
    """Enter one line; raises _WrongError."""
    short = max(places.file, places.value) >= len(fields)
    if short or (places.width is not None and len(fields) != places.width):
        raise _WrongError(f"has {len(fields)} fields; expected filename and {noun}")
    file, text = fields[places.file].strip(), fields[places.value].strip()
    if not file:
        raise _WrongError("filename is empty; expected a name", places.file + 1)
    try:
        value = parse(text)
    except ValueError as error:
        raise _WrongError(str(error), places.value + 1) from error
    known = values.setdefault(file, value)
    if known != value:
        earlier = f"but {known!r} on an earlier line; expected one"
        raise _WrongError(f"{file!r} has {noun} {shown(text)}, {earlier}", places.value + 1)
