"""Which files belong together: folds of a cross-validation, scenes of a data set."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral

from sedeval_soft.errors import EvaluationError, InputError, Problem, SettingsError
from sedeval_soft.settings import PART_NAMES, is_part_name
from sedeval_soft.tables.filenames import listing, match_names

_FIELD = re.compile(r"\{([^{}]*)\}")
_DIGITS = re.compile("([0-9]+)")


@dataclass(frozen=True, slots=True)
class Partition:
    """The part that each file belongs to.

    parts: by file name, as written. source: the name of a table, or the pattern. sha256: of the table.
    """

    parts: Mapping[str, str]
    source: str
    sha256: str | None = None


def by_pattern(files: Sequence[str], pattern: str) -> Partition:
    """Return the parts that file names themselves tell.

    pattern: of whole file names, as a shell has them (`*`, `?`, `[ab]`, `[!ab]`; case matters, a slash is a
    character as others), with `{name}` where the part stands, whatever its name: `{scene}_[0-9]*`. The part
    is as little text as makes the whole match, and of several as little the first.

    Raises SettingsError for a pattern without one `{name}`, EvaluationError for files that it does not match.
    """
    head, tail = _pieces(pattern)
    parts = {name: _between(head, tail, name) for name in files}
    strangers = [name for name, part in parts.items() if part is None]
    if strangers:
        raise EvaluationError(
            f"pattern {pattern!r} does not match {listing(strangers, 'file')}; expected one that matches "
            "whole file names, folders and extensions included"
        )
    found = {name: part for name, part in parts.items() if part is not None}
    odd = [name for name, part in found.items() if not is_part_name(part)]
    if odd:
        raise EvaluationError(
            f"pattern {pattern!r} finds {found[odd[0]]!r} in {listing(odd, 'file')}; expected {PART_NAMES}"
        )
    return Partition(found, pattern)


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
    own = {match.canonical[name]: part for name, part in partition.parts.items()}
    lost = [name for name in files if name not in own]
    if lost:
        doubt = ""
        if match.ambiguous:
            names = listing(match.ambiguous, "name")
            doubt = f"; {names} could be more than one file, with and without folders or extension"
        message = f"has no part for {listing(lost, 'file')}; expected one for every evaluated file{doubt}"
        raise InputError(Problem(partition.source, message))
    parts: dict[str, list[str]] = {}
    for name in files:
        parts.setdefault(own[name], []).append(name)
    known = set(files)
    strangers = tuple(name for name in partition.parts if match.canonical[name] not in known)
    return {part: tuple(parts[part]) for part in sorted(parts, key=natural_key)}, strangers


def natural_key(name: str) -> tuple[list[tuple[int, str]], str]:
    """Return what puts names in order as people do: by text, and by numbers where there are digits."""
    pieces = _DIGITS.split(name)
    # Digits stand at odd places. Of two numbers the one of more digits is larger.
    numbers = [piece.lstrip("0") if i % 2 else "" for i, piece in enumerate(pieces)]
    key = [
        (len(number), number) if i % 2 else (0, piece)
        for i, (piece, number) in enumerate(zip(pieces, numbers, strict=True))
    ]
    return key, name


def _pieces(pattern: str) -> tuple[str, str]:
    """Return what stands before and after the one `{name}` of a pattern."""
    fields = list(_FIELD.finditer(pattern))
    if len(fields) != 1 or not (fields[0][1].isidentifier() or not fields[0][1]):
        raise SettingsError(
            f"pattern {pattern!r} must have one {{name}} where the part of a file name stands, such as "
            "'{scene}_[0-9]*'"
        )
    return pattern[: fields[0].start()], pattern[fields[0].end() :]


def _between(head: str, tail: str, name: str) -> str | None:
    """Return the shortest text between a head and a tail that match; None where they do not."""
    before, after = _expression(head), _expression(tail)
    found = re.fullmatch(f"(?s:{before}(.+?){after})", name)
    if found is None:
        return None
    # Where the head has one length, the first text found is the shortest.
    for length in range(1, len(found[1])) if "*" in head else ():
        shorter = re.fullmatch(f"(?s:{before}(.{{{length}}}){after})", name)
        if shorter is not None:
            return shorter[1]
    return found[1]


def _expression(piece: str) -> str:
    """Return a piece of a shell's pattern as a regular expression; stars take as little as they can."""
    return "".join(_terms(piece))


def _terms(piece: str) -> Iterator[str]:
    at = 0
    while at < len(piece):
        end = at + 1
        if piece[at] == "[":
            # A bracket that comes first stands for itself; one that is not closed does, too.
            first = at + (2 if piece.startswith("[!", at) else 1)
            end = max(end, piece.find("]", first + 1) + 1)
        term, at = piece[at:end], end
        if term == "*":
            yield ".*?"
        elif len(term) == 1:
            yield "." if term == "?" else re.escape(term)
        else:
            # What brackets mean is left to fnmatch: `(?s:` and `)\Z` stand around it.
            yield fnmatch.translate(term)[4:-3]
