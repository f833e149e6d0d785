"""Tables that say one thing of each file: its duration, or the part that it belongs to.

Such a table has a header, whose other columns are read past, or none. A file may stand there many times
(DCASE metadata has a line per event) if the same is said of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from sedeval_soft.core.intake import LIMITS, Limits
from sedeval_soft.core.partition import Partition
from sedeval_soft.errors import MAX_PROBLEMS, InputError, Problem
from sedeval_soft.settings import PART_NAMES, is_part_name
from sedeval_soft.tables.columns import ALIASES, is_number, normal
from sedeval_soft.tables.source import Source, open_source
from sedeval_soft.tables.text_lines import BLANK, DELIMITERS, check_lines, decode, records

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Places:
    """Where names of files and what is said of them stand, from 0, and whether the first line is a header.

    width: how many fields each line must have; None where more than are needed do not matter.
    """

    file: int
    said: int
    header: bool
    width: int | None = None


@dataclass(frozen=True, slots=True)
class Saying(Generic[T]):
    """What a table says of files.

    noun: what it is called. places: where it stands, from the fields of the first line; None where that line
    is neither a header nor a row, ValueError where it is a header that leaves it open. parse: makes a value
    of a text without blanks around it, or raises ValueError with what is wrong. shown: a text as messages
    have it.
    """

    noun: str
    places: Callable[[Sequence[str]], Places | None]
    parse: Callable[[str], T]
    shown: Callable[[str], str] = str


def read_by_file(source: Source, saying: Saying[T], limits: Limits = LIMITS) -> dict[str, T]:
    """Return what a table says by name of file.

    Raises InputError with all that is wrong, up to `MAX_PROBLEMS`.
    """
    check_lines(source, limits)
    text = decode(source)
    first = next((line for line in text.splitlines() if line.strip(BLANK)), None)
    if first is None:
        raise InputError(Problem(source.name, f"is empty; expected a table of filename and {saying.noun}"))
    delimiter = max(DELIMITERS, key=first.count)
    found: dict[str, T] = {}
    problems: list[Problem] = []
    places: Places | None = None
    for number, fields in records(source, delimiter):
        if isinstance(fields, Problem):
            problems.append(fields)
        else:
            if places is None:
                places = _places(source.name, number, fields, saying)
                if places.header:
                    continue
            problem = _enter(found, number, fields, places, saying)
            if problem:
                problems.append(Problem(source.name, *problem))
        if len(problems) > MAX_PROBLEMS:
            raise InputError(problems[:MAX_PROBLEMS], more=True)
    if problems:
        raise InputError(problems)
    limits.check(source.name, "files", len(found), "files")
    longest = max(map(len, found), default=0)
    limits.check(source.name, "name_length", longest, "characters in the name of a file")
    return found


def file_columns(fields: Sequence[str]) -> list[int]:
    """Return the positions of the columns that a header calls by a name of file names."""
    return [i for i, field in enumerate(fields) if normal(field) in ALIASES["filename"]]


def _places(name: str, line: int, fields: list[str], saying: Saying[T]) -> Places:
    try:
        places = saying.places(fields)
    except ValueError as error:
        raise InputError(Problem(name, str(error), line)) from error
    if places is None:
        what = f"{', '.join(map(repr, fields))} is neither a header nor a row"
        raise InputError(Problem(name, f"{what}; expected filename and {saying.noun}", line))
    return places


def _enter(
    found: dict[str, T], line: int, fields: list[str], places: Places, saying: Saying[T]
) -> tuple[str, int, int | None] | None:
    """Enter one line; return what is wrong with it, if anything is, with its line and column."""
    short = max(places.file, places.said) >= len(fields)
    if short or (places.width is not None and len(fields) != places.width):
        return f"has {len(fields)} fields; expected filename and {saying.noun}", line, None
    name, text = fields[places.file].strip(), fields[places.said].strip()
    if not name:
        return "filename is empty; expected a name", line, places.file + 1
    place = (line, places.said + 1)
    try:
        value = saying.parse(text)
    except ValueError as error:
        return str(error), *place
    known = found.setdefault(name, value)
    if known != value:
        earlier = f"but {known!r} on an earlier line; expected one"
        return f"{name!r} has {saying.noun} {saying.shown(text)}, {earlier}", *place
    return None


# Tables of file durations: filename and duration, with or without a header.


_DURATION = frozenset(
    {"duration", "length", "duration_seconds", "seconds", "duration_s", "dur", "length_seconds"}
)


def read_durations(path: str | os.PathLike[str], limits: Limits = LIMITS) -> dict[str, float]:
    """Return seconds by file name.

    A file may stand there many times (DCASE metadata has a line per event) if it has one duration.
    Raises InputError with all that is wrong, up to `MAX_PROBLEMS`.
    """
    saying = Saying("duration", _places_durations, partial(_seconds, limits=limits))
    return read_by_file(open_source(path, limits=limits), saying, limits)


def _places_durations(fields: Sequence[str]) -> Places | None:
    files = file_columns(fields)
    lengths = [i for i, field in enumerate(fields) if normal(field) in _DURATION]
    if files and lengths:
        return Places(files[0], lengths[0], header=True)
    if len(fields) == 2 and not is_number(fields[0]) and is_number(fields[1]):
        return Places(0, 1, header=False)
    return None


def _seconds(text: str, limits: Limits) -> float:
    if not is_number(text) or float(text) < 0:
        raise ValueError(f"duration {text!r} is not a number of seconds, 0 or more")
    if float(text) > limits.duration:
        raise ValueError(f"duration {text} {limits.too_long()}; expected seconds")
    return float(text)


# Tables of parts: filename and the fold or scene that a file belongs to, with or without a header.


_PART = frozenset(
    f"{name}{ending}"
    for name in ("fold", "split", "scene", "group", "part", "partition", "subset", "location", "city")
    for ending in ("", "_id", "_label", "_name", "_number")
)


def read_partition(
    path: str | os.PathLike[str], prefer: Sequence[str] = (), limits: Limits = LIMITS
) -> Partition:
    """Return the part of each file that a table names.

    prefer: names of columns, as `fold`, that are parts even where there are others that could be. A file may
    stand there many times if it has one part. Raises InputError with all that is wrong, up to `MAX_PROBLEMS`.
    """
    source = open_source(path, limits=limits)
    names = frozenset(prefer)
    parts = read_by_file(
        source, Saying("part", lambda fields: _places_partition(fields, names), _part, repr), limits
    )
    return Partition(parts, source.name, source.sha256)


def _places_partition(fields: Sequence[str], prefer: frozenset[str]) -> Places | None:
    files = file_columns(fields)
    names = [normal(field) for field in fields]
    for known in (prefer, _PART):
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


def _part(text: str) -> str:
    if not is_part_name(text):
        raise ValueError(f"part {text!r} cannot stand in names of scores; expected {PART_NAMES}")
    return text
