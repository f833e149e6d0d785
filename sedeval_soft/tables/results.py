"""Results that `--format json` wrote, read back: all of it is checked that `diff` looks at."""

from __future__ import annotations

import os
import re
from collections import Counter
from typing import Any, NoReturn, TypeVar

import msgspec

from sedeval_soft.core.errors import InputError, Problem
from sedeval_soft.core.intake import LIMITS, Limits
from sedeval_soft.core.value import SCHEMA
from sedeval_soft.core.visible import quoted
from sedeval_soft.tables.source import Source, open_source

Number = float | None
T = TypeVar("T")

_PLACE = re.compile(r" \(byte (\d+)\)$")
_EXPECTED = "expected a file that `soft-sed-eval --format json` wrote"


class ResultScore(msgspec.Struct, frozen=True):
    """A score: its value, and the ends of its interval, None where undefined."""

    name: str
    value: Number
    low: Number = None
    high: Number = None


class ResultInput(msgspec.Struct, frozen=True):
    """A table that was scored; sha256 is None for data in memory."""

    path: str
    role: str
    sha256: str | None


class ResultSystem(msgspec.Struct, frozen=True):
    """The scores of one system, and what else is told of it, which is compared as it is."""

    name: str
    scores: tuple[ResultScore, ...]
    files: int
    length: float
    segments: int
    classes: tuple[str, ...]
    confusion: Any = None
    runs: Any = None
    folds: Any = None
    worst: Any = None
    sweep: Any = None


class Results(msgspec.Struct, frozen=True):
    """A document of results. Versions of a minor number may add to it: what is not known is left alone."""

    schema: str
    version: str
    settings: dict[str, Any]
    inputs: tuple[ResultInput, ...]
    systems: tuple[ResultSystem, ...]
    board: Any = None


class _Kind(msgspec.Struct, frozen=True):
    schema: Any = None


def read_results(path: str | os.PathLike[str], limits: Limits = LIMITS) -> Results:
    """Return the results in a file, or in standard input for `-`; raises InputError for anything else."""
    source = open_source(path, limits=limits)
    data = bytes(source.data[:])
    kind = _decoded(source, data, _Kind).schema
    if kind != SCHEMA:
        _refuse(source, _other(kind))
    found = _decoded(source, data, Results)
    if not found.systems:
        _refuse(source, f"has no system; {_EXPECTED}")
    for system in found.systems:
        twice = [name for name, count in Counter(score.name for score in system.scores).items() if count > 1]
        if twice:
            _refuse(source, f"system {quoted(system.name)} has the score {quoted(twice[0])} twice")
    names = Counter(system.name for system in found.systems)
    if max(names.values()) > 1:
        _refuse(source, f"has the system {quoted(names.most_common(1)[0][0])} twice")
    return found


def _decoded(source: Source, data: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as error:
        _refuse(source, f"is not what it says: {error}; {_EXPECTED}")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        said = str(error)
        place = _PLACE.search(said)
        line = None if place is None else data.count(b"\n", 0, int(place[1])) + 1
        _refuse(source, f"is not JSON: {_PLACE.sub('', said)}; {_EXPECTED}", line)


def _other(kind: object) -> str:
    if isinstance(kind, str) and kind.startswith("soft-sed-eval-validation/"):
        return f"is a report of `soft-sed-eval validate`, not results; {_EXPECTED}"
    if isinstance(kind, str) and kind.startswith("soft-sed-eval/"):
        return f"has the schema {quoted(kind)}, of another version of soft-sed-eval; expected {SCHEMA!r}"
    told = "no schema" if kind is None else f"the schema {quoted(str(kind))}"
    return f"has {told}; {_EXPECTED}, whose schema is {SCHEMA!r}"


def _refuse(source: Source, message: str, line: int | None = None) -> NoReturn:
    raise InputError(Problem(source.name, message, line))
