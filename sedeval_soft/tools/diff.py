"""What differs between two results that `--format json` wrote: scores, settings, inputs.

All that is compared is checked when it is read.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

import msgspec

from sedeval_soft.errors import InputError, Problem, SettingsError, counted, quoted, visible
from sedeval_soft.evaluation.scores import SCHEMA
from sedeval_soft.names import did_you_mean
from sedeval_soft.report.render import json_document
from sedeval_soft.report.table import UNDEFINED, Table
from sedeval_soft.report.text import plain_table
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.source import Source, open_source

T = TypeVar("T")
Number = float | None

_PLACE = re.compile(r" \(byte (\d+)\)$")
_EXPECTED = "expected a file that `soft-sed-eval --format json` wrote"

_OTHER_PARTS = ("files", "length", "segments", "classes", "confusion", "runs", "folds", "worst", "sweep")
"""What systems have beside their scores."""

_ABSENT: Any = object()
"""Stands for a setting that a result does not have."""

_CHECKSUM_DIGITS = 12

_DIGITS = 10
"""Digits of scores in text: with more, what is the same in both hides what differs."""


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
    """The scores of one system, and what else is said of it, which is compared as it is."""

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


class _AnyDocument(msgspec.Struct, frozen=True):
    schema: Any = None


def read_results(path: str | os.PathLike[str], limits: Limits = LIMITS) -> Results:
    """Return the results in a file, or in standard input for `-`; raises InputError for anything else."""
    source = open_source(path, limits=limits)
    data = bytes(source.data[:])
    schema = _decoded(source, data, _AnyDocument).schema
    if schema != SCHEMA:
        _refuse(source, _other_schema(schema))
    results = _decoded(source, data, Results)
    if not results.systems:
        _refuse(source, f"has no system; {_EXPECTED}")
    for system in results.systems:
        name = _first_twice(score.name for score in system.scores)
        if name is not None:
            _refuse(source, f"system {quoted(system.name)} has the score {quoted(name)} twice")
    name = _first_twice(system.name for system in results.systems)
    if name is not None:
        _refuse(source, f"has the system {quoted(name)} twice")
    return results


def _first_twice(names: Iterable[str]) -> str | None:
    return next((name for name, count in Counter(names).items() if count > 1), None)


def _decoded(source: Source, data: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as error:
        _refuse(source, f"is not what it says: {error}; {_EXPECTED}")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        message = str(error)
        place = _PLACE.search(message)
        line = None if place is None else data.count(b"\n", 0, int(place[1])) + 1
        _refuse(source, f"is not JSON: {_PLACE.sub('', message)}; {_EXPECTED}", line)


def _other_schema(schema: object) -> str:
    if isinstance(schema, str) and schema.startswith("soft-sed-eval-validation/"):
        return f"is a report of `soft-sed-eval validate`, not results; {_EXPECTED}"
    if isinstance(schema, str) and schema.startswith("soft-sed-eval/"):
        return f"has the schema {quoted(schema)}, of another version of soft-sed-eval; expected {SCHEMA!r}"
    kind = "no schema" if schema is None else f"the schema {quoted(str(schema))}"
    return f"has {kind}; {_EXPECTED}, whose schema is {SCHEMA!r}"


def _refuse(source: Source, message: str, line: int | None = None) -> NoReturn:
    raise InputError(Problem(source.name, message, line))


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """A score that differs; a side that lacks it is None, one that has it undefined has the value None."""

    name: str
    a: ResultScore | None
    b: ResultScore | None

    @property
    def difference(self) -> float | None:
        """Return b - a, None where either is not there or undefined."""
        a, b = (None if side is None else side.value for side in (self.a, self.b))
        return None if a is None or b is None else b - a


@dataclass(frozen=True, slots=True)
class SystemChange:
    """Two systems that were compared.

    a, b: their names. compared: how many scores either has. scores: those that differ.
    parts: what else of them differs.
    """

    a: str
    b: str
    compared: int
    scores: tuple[ScoreChange, ...]
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InputChange:
    """A table that differs, or that one of the results does not have."""

    role: str
    a: ResultInput | None
    b: ResultInput | None


@dataclass(frozen=True, slots=True)
class Changes:
    """All that differs between two results.

    versions: of soft-sed-eval. settings: those that differ, with both values. only_a, only_b: names of
    systems that only one of them has. board: whether their boards differ.
    """

    versions: tuple[str, str]
    settings: Mapping[str, tuple[Any, Any]]
    inputs: tuple[InputChange, ...]
    systems: tuple[SystemChange, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    board: bool
    tolerance: float

    @property
    def same(self) -> bool:
        """Return whether all scores are the same, within the tolerance."""
        return not (self.only_a or self.only_b or any(system.scores for system in self.systems))


def changes(a: Results, b: Results, tolerance: float = 0.0, only: Sequence[str] = ()) -> Changes:
    """Return what differs between two results.

    tolerance: by how much values, and ends of intervals, may differ. only: the names of the scores to
    compare, none for all that there are. Systems are paired by name; where each result has one, these
    are. Raises SettingsError for a tolerance that is none, and for names that neither result has.
    """
    if not 0 <= tolerance < math.inf:
        raise SettingsError(f"tolerance {tolerance!r}: expected a number of at least 0")
    names = {score.name: None for system in (*a.systems, *b.systems) for score in system.scores}
    unknown = [
        f"neither has a score {name!r}{did_you_mean(name, names)}" for name in only if name not in names
    ]
    if unknown:
        raise SettingsError("\n".join(unknown))
    single = len(a.systems) == len(b.systems) == 1
    of_b = {system.name: system for system in b.systems}
    pairs = [(system, of_b[system.name]) for system in a.systems if system.name in of_b]
    if single:
        pairs = [(a.systems[0], b.systems[0])]
    settings = {
        name: (a.settings.get(name, _ABSENT), b.settings.get(name, _ABSENT))
        for name in dict.fromkeys((*a.settings, *b.settings))
    }
    paired_a, paired_b = ({pair[side].name for pair in pairs} for side in (0, 1))
    return Changes(
        (a.version, b.version),
        {name: (one, other) for name, (one, other) in settings.items() if one != other},
        _inputs(a, b, single=single),
        tuple(_system(*pair, tolerance, only) for pair in pairs),
        tuple(system.name for system in a.systems if system.name not in paired_a),
        tuple(system.name for system in b.systems if system.name not in paired_b),
        not only and a.board != b.board,
        tolerance,
    )


def _inputs(a: Results, b: Results, *, single: bool) -> tuple[InputChange, ...]:
    """Return the inputs whose bytes differ, or that one result lacks.

    single: there is one system on each side: inputs go by their roles. Else they go by their names, too, all
    but the reference, of which there is one.
    """
    of_a, of_b = (_by_role(results, single=single) for results in (a, b))
    changes = [InputChange(key[0], of_a.get(key), of_b.get(key)) for key in dict.fromkeys((*of_a, *of_b))]
    return tuple(change for change in changes if not _agreed(change.a, change.b))


def _agreed(a: ResultInput | None, b: ResultInput | None) -> bool:
    return a is not None and b is not None and a.sha256 == b.sha256 is not None


def _by_role(results: Results, *, single: bool) -> dict[tuple[str, str, int], ResultInput]:
    inputs: dict[tuple[str, str, int], ResultInput] = {}
    # A role may be had by several: the operating points of a system.
    places: Counter[tuple[str, str]] = Counter()
    for item in results.inputs:
        key = item.role, "" if single or item.role == "reference" else item.path
        inputs[*key, places[key]] = item
        places[key] += 1
    return inputs


def _system(a: ResultSystem, b: ResultSystem, tolerance: float, only: Sequence[str]) -> SystemChange:
    of_a, of_b = (
        {score.name: score for score in system.scores if not only or score.name in only} for system in (a, b)
    )
    names = dict.fromkeys((*of_a, *of_b))
    pairs = [ScoreChange(name, of_a.get(name), of_b.get(name)) for name in names]
    return SystemChange(
        a.name,
        b.name,
        len(names),
        tuple(pair for pair in pairs if not _agree(pair.a, pair.b, tolerance)),
        tuple(part for part in _OTHER_PARTS if not only and getattr(a, part) != getattr(b, part)),
    )


def _agree(a: ResultScore | None, b: ResultScore | None, tolerance: float) -> bool:
    if a is None or b is None:
        return False
    pairs = ((a.value, b.value), (a.low, b.low), (a.high, b.high))
    return all(
        one == other if one is None or other is None else abs(one - other) <= tolerance
        for one, other in pairs
    )


def changes_text(changes: Changes, names: tuple[str, str]) -> str:
    """Return what differs as lines of text; names: of the two files."""
    sides = zip("ab", names, changes.versions, strict=True)
    blocks = ["".join(f"{side}  {visible(name)}  soft-sed-eval {visible(v)}\n" for side, name, v in sides)]
    blocks += [_settings_text(changes), _inputs_text(changes)]
    blocks += [_system_text(system, changes.tolerance) for system in changes.systems]
    unpaired = zip("ab", names, (changes.only_a, changes.only_b), strict=True)
    blocks.append(
        "".join(
            f"Only {side} ({visible(name)}) has {', '.join(map(visible, only))}.\n"
            for side, name, only in unpaired
            if only
        )
    )
    if changes.board:
        blocks.append("The leaderboards differ; --format json of both has them.\n")
    return "\n".join(filter(None, blocks))


def _settings_text(changes: Changes) -> str:
    if not changes.settings:
        return "The settings are the same.\n"
    rows = [(visible(name), *map(_setting, pair)) for name, pair in changes.settings.items()]
    return plain_table(Table("Settings that differ", ("setting", "a", "b"), tuple(rows), names=3))


def _setting(value: Any) -> str:  # noqa: ANN401 - any setting
    return "(none)" if value is _ABSENT else visible(json.dumps(value, ensure_ascii=False))


def _inputs_text(changes: Changes) -> str:
    if not changes.inputs:
        return "The inputs are the same, by their SHA-256.\n"
    rows = [(visible(each.role), *_file(each.a), *_file(each.b)) for each in changes.inputs]
    head = ("role", "a", "SHA-256", "b", "SHA-256")
    return plain_table(Table("Inputs that differ, or that nobody knows", head, tuple(rows), names=5))


def _file(item: ResultInput | None) -> tuple[str, str]:
    if item is None:
        return "(none)", ""
    return visible(item.path), visible((item.sha256 or "unknown")[:_CHECKSUM_DIGITS])


def _system_text(system: SystemChange, tolerance: float) -> str:
    """Return the scores that differ; those of one side only, often many, by their families."""
    title = visible(system.a if system.a == system.b else f"{system.a} against {system.b}")
    within = f" by more than {tolerance!r}" if tolerance else ""
    compared = counted(system.compared, "score")
    if system.scores:
        verb = "differs" if len(system.scores) == 1 else "differ"
        title = f"{title}: {len(system.scores)} of {compared} {verb}{within}"
    else:
        title = f"{title}: none of {compared} differs{within}."
    rows = [
        (visible(each.name), _value(each.a), _value(each.b), _difference(each))
        for each in system.scores
        if each.a and each.b
    ]
    lines = plain_table(Table(title, ("score", "a", "b", "b - a"), tuple(rows))) if rows else f"{title}\n"
    for side, other in ("ab", "ba"):
        only = [each.name for each in system.scores if getattr(each, other) is None]
        if only:
            families = Counter(".".join(name.split(".")[:2]) for name in only)
            counts = ", ".join(f"{count} of {visible(name)}" for name, count in families.items())
            lines += f"Only {side} has {counts}.\n"
    if system.parts:
        lines += f"These differ, too: {', '.join(system.parts)}.\n"
    return lines


def _value(score: ResultScore) -> str:
    return UNDEFINED if score.value is None else f"{score.value:.{_DIGITS}g}"


def _difference(change: ScoreChange) -> str:
    if change.difference is None:
        return ""
    return f"{change.difference:+.4g}" if change.difference else "interval"


def changes_json(changes: Changes, names: tuple[str, str]) -> str:
    """Return what differs as a JSON document, whose numbers are exact."""

    def score(side: ResultScore | None) -> dict[str, Number] | None:
        return None if side is None else {"value": side.value, "low": side.low, "high": side.high}

    def table(side: ResultInput | None) -> dict[str, str | None] | None:
        return None if side is None else {"path": side.path, "sha256": side.sha256}

    def setting(value: Any) -> Any:  # noqa: ANN401 - any setting
        return None if value is _ABSENT else value

    return json_document(
        {
            "schema": "soft-sed-eval-diff/1",
            "a": {"path": names[0], "version": changes.versions[0]},
            "b": {"path": names[1], "version": changes.versions[1]},
            "tolerance": changes.tolerance,
            "same": changes.same,
            "settings": [
                {"name": name, "a": setting(a), "b": setting(b)} for name, (a, b) in changes.settings.items()
            ],
            "inputs": [
                {"role": each.role, "a": table(each.a), "b": table(each.b)} for each in changes.inputs
            ],
            "systems": [
                {
                    "a": system.a,
                    "b": system.b,
                    "compared": system.compared,
                    "scores": [
                        {
                            "name": each.name,
                            "a": score(each.a),
                            "b": score(each.b),
                            "difference": each.difference,
                        }
                        for each in system.scores
                    ],
                    "parts": system.parts,
                }
                for system in changes.systems
            ],
            "only_a": changes.only_a,
            "only_b": changes.only_b,
            "board": changes.board,
        }
    )
