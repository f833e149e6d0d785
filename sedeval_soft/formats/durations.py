"""Tables of file durations: filename and duration, with or without a header."""

from __future__ import annotations

import os

from sedeval_soft.core.errors import MAX_PROBLEMS, InputError, Problem
from sedeval_soft.core.rows import LONGEST
from sedeval_soft.formats.columns import ALIASES, is_number, normal
from sedeval_soft.formats.records import decode, records
from sedeval_soft.formats.sniff import BLANK, DELIMITERS
from sedeval_soft.formats.source import open_source

_DURATION = frozenset(
    {"duration", "length", "duration_seconds", "seconds", "duration_s", "dur", "length_seconds"}
)


def read_durations(path: str | os.PathLike[str]) -> dict[str, float]:
    """Return seconds by file name.

    A file may stand there many times (DCASE metadata has a line per event) if it has one duration.
    Raises InputError with all that is wrong, up to `MAX_PROBLEMS`.
    """
    source = open_source(path)
    text = decode(source)
    first = next((line for line in text.splitlines() if line.strip(BLANK)), None)
    if first is None:
        raise InputError(Problem(source.name, "is empty; expected a table of filename and duration"))
    delimiter = max(DELIMITERS, key=first.count)
    durations: dict[str, float] = {}
    problems: list[Problem] = []
    places: tuple[int, int] | None = None
    for number, fields in records(source.name, text, delimiter):
        if isinstance(fields, Problem):
            problems.append(fields)
        else:
            if places is None:
                file_at, duration_at, header = _columns(source.name, number, fields)
                places = (file_at, duration_at)
                if header:
                    continue
            problem = _enter(durations, number, fields, *places)
            if problem:
                problems.append(Problem(source.name, *problem))
        if len(problems) > MAX_PROBLEMS:
            raise InputError(problems[:MAX_PROBLEMS], more=True)
    if problems:
        raise InputError(problems)
    return durations


def _columns(name: str, line: int, fields: list[str]) -> tuple[int, int, bool]:
    """Return the positions of filename and duration, and whether the first line is a header."""
    names = [normal(field) for field in fields]
    files = [i for i, field in enumerate(names) if field in ALIASES["filename"]]
    lengths = [i for i, field in enumerate(names) if field in _DURATION]
    if files and lengths:
        return files[0], lengths[0], True
    if len(fields) == 2 and not is_number(fields[0]) and is_number(fields[1]):
        return 0, 1, False
    raise InputError(
        Problem(name, f"{', '.join(map(repr, fields))} is neither a header nor a row; expected filename and "
                "duration", line)
    )  # fmt: skip


def _enter(
    durations: dict[str, float], line: int, fields: list[str], file_at: int, duration_at: int
) -> tuple[str, int, int | None] | None:
    """Enter one line; return what is wrong with it, if anything is, with its line and column."""
    if max(file_at, duration_at) >= len(fields):
        return f"has {len(fields)} fields; expected filename and duration", line, None
    name, text = fields[file_at].strip(), fields[duration_at].strip()
    if not name:
        return "filename is empty; expected a name", line, file_at + 1
    place = (line, duration_at + 1)
    if not is_number(text) or float(text) < 0:
        return f"duration {text!r} is not a number of seconds, 0 or more", *place
    seconds = float(text)
    if seconds > LONGEST:
        return f"duration {text} is over {LONGEST:g} s (31 years); expected seconds", *place
    known = durations.setdefault(name, seconds)
    if known != seconds:
        return f"{name!r} has duration {text}, but {known!r} on an earlier line; expected one", *place
    return None
