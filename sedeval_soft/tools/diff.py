"""What differs between two results that `--format json` wrote: scores, settings, inputs.

All that is compared is checked when it is read.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, NoReturn, TypeVar

import msgspec

from sedeval_soft.errors import InputError, Problem, SettingsError, counted, quoted, visible
from sedeval_soft.evaluation.scores import SCHEMA
from sedeval_soft.names import did_you_mean
from sedeval_soft.report.table import UNDEFINED, Table
from sedeval_soft.report.text import plain_table
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.source import Source, open_source

T = TypeVar("T")

_PLACE = re.compile(r" \(byte (\d+)\)$")
_EXPECTED = "expected a file that `soft-sed-eval --format json` wrote"

_OTHER_PARTS = ("files", "length", "segments", "classes", "confusion", "runs", "folds", "worst", "sweep")
"""What systems have beside their scores."""

_CHECKSUM_DIGITS = 12

_DIGITS = 10
"""Digits of scores in text: with more, what is the same in both hides what differs."""


class ResultScore(msgspec.Struct, frozen=True):
    """A score: its value, and the ends of its interval, None where undefined."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None


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


class _Schema(msgspec.Struct, frozen=True):
    """The beginning of any document."""

    schema: Any = None


def read_results(path: str | os.PathLike[str], limits: Limits = LIMITS) -> Results:
    """Return the results in a file, or in standard input for `-`; raises InputError for anything else."""
    source = open_source(path, limits=limits)
    schema = _decoded(source, _Schema).schema
    if schema != SCHEMA:
        name = schema if isinstance(schema, str) else ""
        if name.startswith("soft-sed-eval-validation/"):
            _refuse(source, f"is a report of `soft-sed-eval validate`, not results; {_EXPECTED}")
        if name.startswith("soft-sed-eval/"):
            other = f"has the schema {quoted(name)}, of another version of soft-sed-eval"
            _refuse(source, f"{other}; expected {SCHEMA!r}")
        kind = "no schema" if schema is None else f"the schema {quoted(str(schema))}"
        _refuse(source, f"has {kind}; {_EXPECTED}, whose schema is {SCHEMA!r}")
    results = _decoded(source, Results)
    if not results.systems:
        _refuse(source, f"has no system; {_EXPECTED}")
    for system in results.systems:
        for name, count in Counter(score.name for score in system.scores).items():
            if count > 1:
                _refuse(source, f"system {quoted(system.name)} has the score {quoted(name)} twice")
    for name, count in Counter(system.name for system in results.systems).items():
        if count > 1:
            _refuse(source, f"has the system {quoted(name)} twice")
    return results


def _decoded(source: Source, kind: type[T]) -> T:
    data = bytes(source.data[:])
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as error:
        _refuse(source, f"is not what it says: {error}; {_EXPECTED}")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        place = _PLACE.search(str(error))
        line = None if place is None else data.count(b"\n", 0, int(place[1])) + 1
        _refuse(source, f"is not JSON: {_PLACE.sub('', str(error))}; {_EXPECTED}", line)


def _refuse(source: Source, message: str, line: int | None = None) -> NoReturn:
    raise InputError(Problem(source.name, message, line))


def changes(
    a: Results, b: Results, names: tuple[str, str], tolerance: float = 0.0, only: Sequence[str] = ()
) -> dict[str, Any]:
    """Return what differs between two results as a JSON document, `same` where no score does.

    names: of the two files. tolerance: by how much values, and ends of intervals, may differ. only: the names
    of the scores to compare, none for all that there are. Systems are paired by name; where each result has
    one, these are. Raises SettingsError for a tolerance that is none, and for names that neither result has.
    """
    if not 0 <= tolerance < math.inf:
        raise SettingsError(f"tolerance {tolerance!r}: expected a number of at least 0")
    scores = {score.name: None for system in (*a.systems, *b.systems) for score in system.scores}
    unknown = [
        f"neither has a score {name!r}{did_you_mean(name, scores)}" for name in only if name not in scores
    ]
    if unknown:
        raise SettingsError("\n".join(unknown))
    single = len(a.systems) == len(b.systems) == 1
    of_b = {system.name: system for system in b.systems}
    pairs = [(system, of_b[system.name]) for system in a.systems if system.name in of_b]
    if single:
        pairs = [(a.systems[0], b.systems[0])]
    systems = [_system_changes(*pair, tolerance, only) for pair in pairs]
    only_a = [system.name for system in a.systems if system.name not in {one.name for one, _ in pairs}]
    only_b = [system.name for system in b.systems if system.name not in {other.name for _, other in pairs}]
    return {
        "schema": "soft-sed-eval-diff/1",
        "a": {"path": names[0], "version": a.version},
        "b": {"path": names[1], "version": b.version},
        "tolerance": tolerance,
        "same": not (only_a or only_b or any(system["scores"] for system in systems)),
        "settings": [
            {"name": name, "a": a.settings.get(name), "b": b.settings.get(name)}
            for name in dict.fromkeys((*a.settings, *b.settings))
            if (name in a.settings, a.settings.get(name)) != (name in b.settings, b.settings.get(name))
        ],
        "inputs": _input_changes(a, b, single=single),
        "systems": systems,
        "only_a": only_a,
        "only_b": only_b,
        "board": not only and a.board != b.board,
    }


def _input_changes(a: Results, b: Results, *, single: bool) -> list[dict[str, Any]]:
    """Return the inputs whose bytes differ, or that one result lacks.

    single: there is one system on each side: inputs go by their roles. Else they go by their names, too, all
    but the reference, of which there is one.
    """

    def by_role(results: Results) -> dict[tuple[str, str, int], dict[str, Any]]:
        inputs: dict[tuple[str, str, int], dict[str, Any]] = {}
        # A role may be had by several: the operating points of a system.
        places: Counter[tuple[str, str]] = Counter()
        for item in results.inputs:
            key = item.role, "" if single or item.role == "reference" else item.path
            inputs[*key, places[key]] = {"path": item.path, "sha256": item.sha256}
            places[key] += 1
        return inputs

    of_a, of_b = by_role(a), by_role(b)
    pairs = {key: (of_a.get(key), of_b.get(key)) for key in dict.fromkeys((*of_a, *of_b))}
    return [
        {"role": key[0], "a": one, "b": other}
        for key, (one, other) in pairs.items()
        if not (one and other and one["sha256"] == other["sha256"] is not None)
    ]


def _system_changes(
    a: ResultSystem, b: ResultSystem, tolerance: float, only: Sequence[str]
) -> dict[str, Any]:
    """Return the scores of two systems that differ, of how many, and what else of them differs.

    A side that lacks a score is None, one that has it undefined has the value None.
    """

    def agree(one: float | None, other: float | None) -> bool:
        return one == other if one is None or other is None else abs(one - other) <= tolerance

    of_a, of_b = (
        {
            score.name: {"value": score.value, "low": score.low, "high": score.high}
            for score in system.scores
            if not only or score.name in only
        }
        for system in (a, b)
    )
    names = dict.fromkeys((*of_a, *of_b))
    scores = []
    for name in names:
        one, other = of_a.get(name), of_b.get(name)
        if one and other and all(agree(one[key], other[key]) for key in one):
            continue
        values = (one or {}).get("value"), (other or {}).get("value")
        difference = None if values[0] is None or values[1] is None else values[1] - values[0]
        scores.append({"name": name, "a": one, "b": other, "difference": difference})
    parts = [part for part in _OTHER_PARTS if not only and getattr(a, part) != getattr(b, part)]
    return {"a": a.name, "b": b.name, "compared": len(names), "scores": scores, "parts": parts}


def changes_text(changes: dict[str, Any], a: Results, b: Results) -> str:
    """Return what differs, a document that `changes` made of two results, as lines of text."""

    def setting(name: str, results: Results) -> str:
        absent = name not in results.settings
        return "(none)" if absent else visible(json.dumps(results.settings[name], ensure_ascii=False))

    def table(item: dict[str, Any] | None) -> tuple[str, str]:
        if item is None:
            return "(none)", ""
        return visible(item["path"]), visible((item["sha256"] or "unknown")[:_CHECKSUM_DIGITS])

    paths = {side: visible(changes[side]["path"]) for side in "ab"}
    versions = {side: visible(changes[side]["version"]) for side in "ab"}
    blocks = ["".join(f"{side}  {paths[side]}  soft-sed-eval {versions[side]}\n" for side in "ab")]
    names = [each["name"] for each in changes["settings"]]
    if names:
        rows = tuple((visible(name), setting(name, a), setting(name, b)) for name in names)
        blocks.append(plain_table(Table("Settings that differ", ("setting", "a", "b"), rows, names=3)))
    else:
        blocks.append("The settings are the same.\n")
    if changes["inputs"]:
        head = ("role", "a", "SHA-256", "b", "SHA-256")
        inputs = tuple(
            (visible(each["role"]), *table(each["a"]), *table(each["b"])) for each in changes["inputs"]
        )
        blocks.append(plain_table(Table("Inputs that differ, or that nobody knows", head, inputs, names=5)))
    else:
        blocks.append("The inputs are the same, by their SHA-256.\n")
    blocks += [_system_text(system, changes["tolerance"]) for system in changes["systems"]]
    only = [
        f"Only {side} ({paths[side]}) has {', '.join(map(visible, changes[f'only_{side}']))}.\n"
        for side in "ab"
        if changes[f"only_{side}"]
    ]
    if only:
        blocks.append("".join(only))
    if changes["board"]:
        blocks.append("The leaderboards differ; --format json of both has them.\n")
    return "\n".join(blocks)


def _system_text(system: dict[str, Any], tolerance: float) -> str:
    """Return the scores that differ; those of one side only, often many, by their families."""

    def value(score: dict[str, Any]) -> str:
        return UNDEFINED if score["value"] is None else f"{score['value']:.{_DIGITS}g}"

    def difference(number: float | None) -> str:
        if number is None:
            return ""
        return f"{number:+.4g}" if number else "interval"

    a, b, scores = system["a"], system["b"], system["scores"]
    title = visible(a if a == b else f"{a} against {b}")
    within = f" by more than {tolerance!r}" if tolerance else ""
    compared = counted(system["compared"], "score")
    if scores:
        verb = "differs" if len(scores) == 1 else "differ"
        title = f"{title}: {len(scores)} of {compared} {verb}{within}"
    else:
        title = f"{title}: none of {compared} differs{within}."
    rows = tuple(
        (visible(each["name"]), value(each["a"]), value(each["b"]), difference(each["difference"]))
        for each in scores
        if each["a"] and each["b"]
    )
    lines = plain_table(Table(title, ("score", "a", "b", "b - a"), rows)) if rows else f"{title}\n"
    for side, other in ("ab", "ba"):
        families = Counter(".".join(each["name"].split(".")[:2]) for each in scores if each[other] is None)
        if families:
            counts = ", ".join(f"{count} of {visible(name)}" for name, count in families.items())
            lines += f"Only {side} has {counts}.\n"
    if system["parts"]:
        lines += f"These differ, too: {', '.join(system['parts'])}.\n"
    return lines
