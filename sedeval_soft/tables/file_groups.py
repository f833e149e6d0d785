"""What is said of each file: its duration, or the part (fold of a cross-validation, scene) it belongs to.

A table that says it has a header, whose other columns are read past, or none. A file may stand there many
times (DCASE metadata has a line per event) if the same is said of it.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import NamedTuple, TypeVar

from sedeval_soft.errors import MAX_PROBLEMS, EvaluationError, InputError, Problem, SettingsError
from sedeval_soft.settings import PART_NAMES, is_part_name
from sedeval_soft.tables.columns import DURATION_NAMES, is_number, normal, role_of
from sedeval_soft.tables.columns import PART_NAMES as PART_COLUMNS
from sedeval_soft.tables.filenames import listing, match_names
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.source import Source, open_source
from sedeval_soft.tables.text import BLANK, DELIMITERS, check_lines, decode, records

T = TypeVar("T")

_FIELD = re.compile(r"\{([^{}]*)\}")
_TERM = re.compile(r"\[(?:!|(?!!)).[^]]*\]|.", re.DOTALL)
"""A piece of a shell's pattern: brackets, in which one that comes first stands for itself, or a character."""


@dataclass(frozen=True, slots=True)
class Partition:
    """The part that each file belongs to.

    parts: by file name, as written. source: the name of a table, or the pattern. sha256: of the table.
    """

    parts: Mapping[str, str]
    source: str
    sha256: str | None = None


def read_durations(path: str | os.PathLike[str], limits: Limits = LIMITS) -> dict[str, float]:
    """Return seconds by file name; raises InputError with all that is wrong, up to `MAX_PROBLEMS`."""

    def places(fields: Sequence[str]) -> _Places | None:
        files = _file_columns(fields)
        lengths = [i for i, field in enumerate(fields) if normal(field) in DURATION_NAMES]
        if files and lengths:
            return _Places(files[0], lengths[0], header=True)
        if len(fields) == 2 and not is_number(fields[0]) and is_number(fields[1]):
            return _Places(0, 1, header=False)
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

    def places(fields: Sequence[str]) -> _Places | None:
        files = _file_columns(fields)
        for names in (frozenset(prefer), PART_COLUMNS):
            parts = [i for i, field in enumerate(fields) if normal(field) in names]
            if len(parts) > 1:
                several = " and ".join(repr(fields[i].strip()) for i in parts)
                raise ValueError(f"columns {several} could each be the part; expected one of them")
            if parts and not files:
                name = fields[parts[0]].strip()
                raise ValueError(f"{name!r} names a column of parts, but no column is filename; expected one")
            if parts:
                return _Places(files[0], parts[0], header=True)
        if len(fields) != 2:
            return None
        if files and not any(is_number(field) for field in fields):
            return _Places(files[0], 1 - files[0], header=True)
        return _Places(0, 1, header=False, width=2)

    def part(text: str) -> str:
        if not is_part_name(text):
            raise ValueError(f"part {text!r} cannot stand in names of scores; expected {PART_NAMES}")
        return text

    source = open_source(path, limits=limits)
    return Partition(_read(source, "part", places, part, limits), source.name, source.sha256)


class _Places(NamedTuple):
    """Positions of the name of a file and of what is said of it; header: whether the first line is one.

    width: how many fields each line must have; None where more than are needed do not matter.
    """

    file: int
    value: int
    header: bool
    width: int | None = None


def _file_columns(fields: Sequence[str]) -> list[int]:
    """Return the positions of the columns that a header calls by a name of file names."""
    return [i for i, field in enumerate(fields) if role_of(field) == "filename"]


def _read(
    source: Source,
    noun: str,
    places_in: Callable[[Sequence[str]], _Places | None],
    parse: Callable[[str], T],
    limits: Limits,
) -> dict[str, T]:
    """Return what a table says by name of file; raises InputError with all that is wrong.

    noun: what is said. places_in: where it stands, from the fields of the first line; None where that line is
    neither a header nor a row, ValueError where it is a header that leaves it open. parse: makes a value of a
    text, or raises ValueError with what is wrong.
    """
    name = source.name
    check_lines(source, limits)
    first = next((line for line in decode(source).splitlines() if line.strip(BLANK)), None)
    if first is None:
        raise InputError(Problem(name, f"is empty; expected a table of filename and {noun}"))
    values: dict[str, T] = {}
    problems: list[Problem] = []
    places: _Places | None = None
    for line, fields in records(source, max(DELIMITERS, key=first.count)):
        if isinstance(fields, Problem):
            problems.append(fields)
        else:
            if places is None:
                places = _first_line(name, line, fields, noun, places_in)
                if places.header:
                    continue
            wrong = _enter(values, fields, places, noun, parse)
            if wrong is not None:
                problems.append(Problem(name, wrong[0], line, wrong[1]))
        if len(problems) > MAX_PROBLEMS:
            raise InputError(problems[:MAX_PROBLEMS], more=True)
    if problems:
        raise InputError(problems)
    limits.check(name, "files", len(values), "files")
    limits.check(name, "name_length", max(map(len, values), default=0), "characters in the name of a file")
    return values


def _first_line(
    name: str, line: int, fields: list[str], noun: str, places_in: Callable[[Sequence[str]], _Places | None]
) -> _Places:
    """Return what the first line says of where things stand; raises InputError where it says nothing."""
    try:
        places = places_in(fields)
    except ValueError as error:
        raise InputError(Problem(name, str(error), line)) from error
    if places is None:
        what = f"{', '.join(map(repr, fields))} is neither a header nor a row"
        raise InputError(Problem(name, f"{what}; expected filename and {noun}", line))
    return places


def _enter(
    values: dict[str, T], fields: list[str], places: _Places, noun: str, parse: Callable[[str], T]
) -> tuple[str, int | None] | None:
    """Enter a line; return what is wrong with it and in which column, None where nothing is."""
    if max(places.file, places.value) >= len(fields) or places.width not in {None, len(fields)}:
        return f"has {len(fields)} fields; expected filename and {noun}", None
    file, text = fields[places.file].strip(), fields[places.value].strip()
    if not file:
        return "filename is empty; expected a name", places.file + 1
    try:
        value = parse(text)
    except ValueError as error:
        return str(error), places.value + 1
    earlier = values.setdefault(file, value)
    if earlier != value:
        # A part is told in quotes, a duration as it is written.
        given = repr(value) if value == text else text
        message = f"{file!r} has {noun} {given}, but {earlier!r} on an earlier line; expected one"
        return message, places.value + 1
    return None


def by_pattern(files: Sequence[str], pattern: str) -> Partition:
    """Return the parts that file names themselves tell.

    pattern: of whole file names, as a shell has them (`*`, `?`, `[ab]`, `[!ab]`; case matters, a slash is a
    character as others), with `{name}` where the part stands, whatever its name: `{scene}_[0-9]*`. The part
    is as little text as makes the whole match, and of several as little the first.

    Raises SettingsError for a pattern without one `{name}`, EvaluationError for files that it does not match.
    """
    fields = list(_FIELD.finditer(pattern))
    if len(fields) != 1 or not (fields[0][1].isidentifier() or not fields[0][1]):
        raise SettingsError(
            f"pattern {pattern!r} must have one {{name}} where the part of a file name stands, such as "
            "'{scene}_[0-9]*'"
        )
    head, tail = map(_expression, (pattern[: fields[0].start()], pattern[fields[0].end() :]))
    found = {name: _between(head, tail, name) for name in files}
    strangers = [name for name, part in found.items() if part is None]
    if strangers:
        raise EvaluationError(
            f"pattern {pattern!r} does not match {listing(strangers, 'file')}; expected one that matches "
            "whole file names, folders and extensions included"
        )
    parts = {name: part or "" for name, part in found.items()}
    odd = [name for name, part in parts.items() if not is_part_name(part)]
    if odd:
        raise EvaluationError(
            f"pattern {pattern!r} finds {parts[odd[0]]!r} in {listing(odd, 'file')}; expected {PART_NAMES}"
        )
    return Partition(parts, pattern)


def _expression(pattern: str) -> str:
    """Return a shell's pattern as a regular expression; stars take as little as they can."""
    terms = {"*": ".*?", "?": "."}
    return "".join(
        # What brackets mean is left to fnmatch: `(?s:` and `)\\Z` stand around it.
        terms.get(term) or (re.escape(term) if len(term) == 1 else fnmatch.translate(term)[4:-3])
        for term in _TERM.findall(pattern)
    )


def _between(head: str, tail: str, name: str) -> str | None:
    """Return the shortest text between two expressions that match; None where they do not."""
    match = re.fullmatch(f"(?s:{head}(.+?){tail})", name)
    # Where the head has one length, the first text found is the shortest.
    for length in range(1, len(match[1])) if match and ".*?" in head else ():
        shorter = re.fullmatch(f"(?s:{head}(.{{{length}}}){tail})", name)
        if shorter is not None:
            return shorter[1]
    return match and match[1]


def of_mapping(parts: Mapping[str, object], source: str) -> Partition:
    """Return the parts that a mapping of file names says; raises SettingsError for what is no name of one."""
    named = {file: str(part) if isinstance(part, Integral) else part for file, part in parts.items()}
    for file, part in named.items():
        if not isinstance(file, str) or not isinstance(part, str) or not is_part_name(part):
            raise SettingsError(f"{source}: {file!r} is in {part!r}; expected a file name, and {PART_NAMES}")
    return Partition({file: str(part) for file, part in named.items()}, source)


def assign(partition: Partition, files: Sequence[str]) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    """Return the files of each part, and the names of the partition that are no file of these.

    Parts are in the order of their names, 2 before 10, files as given. Names match with or without folders
    and extensions where that is unambiguous. Raises InputError for files that are in no part.
    """
    match = match_names(files, partition.parts)
    part_of = {match.canonical[name]: part for name, part in partition.parts.items()}
    lost = [name for name in files if name not in part_of]
    if lost:
        doubt = ""
        if match.ambiguous:
            names = listing(match.ambiguous, "name")
            doubt = f"; {names} could be more than one file, with and without folders or extension"
        message = f"has no part for {listing(lost, 'file')}; expected one for every evaluated file{doubt}"
        raise InputError(Problem(partition.source, message))
    parts: dict[str, list[str]] = {}
    for name in files:
        parts.setdefault(part_of[name], []).append(name)
    evaluated = set(files)
    strangers = tuple(name for name in partition.parts if match.canonical[name] not in evaluated)
    return {part: tuple(parts[part]) for part in sorted(parts, key=natural_key)}, strangers


def natural_key(name: str) -> tuple[list[tuple[int, str]], str]:
    """Return what puts names in order as people do: by text, and by numbers where there are digits."""
    # Digits stand at odd places. Of two numbers the one of more digits is larger.
    pieces = [
        (len(piece.lstrip("0")), piece.lstrip("0")) if i % 2 else (0, piece)
        for i, piece in enumerate(re.split("([0-9]+)", name))
    ]
    return pieces, name
