"""What differs between two results that `--format json` wrote: scores, settings, inputs.

All that is compared is checked when it is read.
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

from sedeval_soft.errors import InputError, Problem, SettingsError, counted, quoted, visible
from sedeval_soft.evaluation.scores import SCHEMA
from sedeval_soft.names import did_you_mean, meant
from sedeval_soft.report.fitted import UNDEFINED
from sedeval_soft.report.table import Table, plain_table
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.source import open_source

_EXPECTED = "expected a file that `soft-sed-eval --format json` wrote"

_OTHER_PARTS = ("files", "length", "segments", "classes", "confusion", "runs", "folds", "worst", "sweep")
"""What systems have beside their scores."""

_CHECKSUM = 12

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


def read_results(path: str | os.PathLike[str], limits: Limits = LIMITS) -> Results:
    """Return the results in a file, or in standard input for `-`; raises InputError for anything else."""
    source = open_source(path, limits=limits)

    def refused(message: str, line: int | None = None) -> InputError:
        return InputError(Problem(source.name, message, line))

    data = bytes(source.data[:])
    try:
        document = msgspec.json.decode(data)
        schema = document.get("schema") if isinstance(document, dict) else None
        if schema != SCHEMA:
            kind = "no schema" if schema is None else f"the schema {quoted(str(schema))}"
            raise refused(f"has {kind}; {_EXPECTED}, whose schema is {SCHEMA!r}")
        results = msgspec.convert(document, Results)
    except msgspec.ValidationError as error:
        raise refused(f"is not what it says: {error}; {_EXPECTED}") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        text, _, place = str(error).partition(" (byte ")
        line = data.count(b"\n", 0, int(place.removesuffix(")"))) + 1 if place else None
        raise refused(f"is not JSON: {text}; {_EXPECTED}", line) from error
    if not results.systems:
        raise refused(f"has no system; {_EXPECTED}")
    return results


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
        f"neither file has a score {name!r}{meant(name, scores) or did_you_mean(name, scores)}"
        for name in only
        if name not in scores
    ]
    if unknown:
        raise SettingsError("\n".join(unknown))
    single = len(a.systems) == len(b.systems) == 1
    one, other = ({each.name: each for each in results.systems} for results in (a, b))
    if single:
        other = dict.fromkeys(one, b.systems[0])
    systems = [_system_changes(one[n], other[n], tolerance, only) for n in one if n in other]
    only_a, only_b = [n for n in one if n not in other], [n for n in other if n not in one]
    settings = [
        {"name": name, "a": a.settings.get(name), "b": b.settings.get(name)}
        for name in dict.fromkeys((*a.settings, *b.settings))
        # None is a value, too, and not the same as none at all.
        if a.settings.get(name, ...) != b.settings.get(name, ...)
    ]
    return {
        "schema": "soft-sed-eval-diff/1",
        "a": {"path": names[0], "version": a.version},
        "b": {"path": names[1], "version": b.version},
        "tolerance": tolerance,
        "same": not (only_a or only_b or any(system["scores"] for system in systems)),
        "settings": settings,
        "inputs": _input_changes(a, b, single=single),
        "systems": systems,
        "only_a": only_a,
        "only_b": only_b,
        "board": not only and a.board != b.board,
    }


def _input_changes(a: Results, b: Results, *, single: bool) -> list[dict[str, Any]]:
    """Return the inputs whose bytes differ, or are not known, or that one result lacks.

    single: there is one system on each side: inputs go by their roles. Else they go by their names, too, all
    but the reference, of which there is one.
    """
    changes: dict[tuple[str, str, int], dict[str, Any]] = {}
    for side, results in (("a", a), ("b", b)):
        # A role may be had by several: the operating points of a system.
        places: Counter[tuple[str, str]] = Counter()
        for item in results.inputs:
            key = item.role, "" if single or item.role == "reference" else item.path
            change = changes.setdefault((*key, places[key]), {"role": item.role, "a": None, "b": None})
            change[side] = {"path": item.path, "sha256": item.sha256}
            places[key] += 1
    hashes = {
        key: {change[side] and change[side]["sha256"] for side in "ab"} for key, change in changes.items()
    }
    return [change for key, change in changes.items() if len(hashes[key]) > 1 or None in hashes[key]]


def _system_changes(
    a: ResultSystem, b: ResultSystem, tolerance: float, only: Sequence[str]
) -> dict[str, Any]:
    """Return the scores of two systems that differ, of how many, and what else of them differs.

    A side that lacks a score is None, one that has it undefined has the value None.
    """
    both: dict[str, dict[str, Any]] = {}
    for side, system in (("a", a), ("b", b)):
        for score in system.scores:
            if not only or score.name in only:
                change = both.setdefault(score.name, {"name": score.name, "a": None, "b": None})
                change[side] = {"value": score.value, "low": score.low, "high": score.high}
    scores = []
    for change in both.values():
        one, other = change["a"], change["b"]
        if one is None or other is None:
            scores.append({**change, "difference": None})
        elif any(_differ(one[key], other[key], tolerance) for key in one):
            undefined = one["value"] is None or other["value"] is None
            scores.append({**change, "difference": None if undefined else other["value"] - one["value"]})
    parts = [part for part in _OTHER_PARTS if not only and getattr(a, part) != getattr(b, part)]
    return {"a": a.name, "b": b.name, "compared": len(both), "scores": scores, "parts": parts}


def _differ(one: float | None, other: float | None, tolerance: float) -> bool:
    return one != other if one is None or other is None else abs(other - one) > tolerance


def changes_text(changes: dict[str, Any], a: Results, b: Results) -> str:
    """Return what differs, a document that `changes` made of two results, as lines of text."""

    def setting(name: str, results: Results) -> str:
        has_it = name in results.settings
        return json.dumps(results.settings[name], ensure_ascii=False) if has_it else "(none)"

    def table(item: dict[str, Any] | None) -> tuple[str, str]:
        return ("(none)", "") if item is None else (item["path"], (item["sha256"] or "unknown")[:_CHECKSUM])

    differing = (each["name"] for each in changes["settings"])
    settings = [(name, setting(name, a), setting(name, b)) for name in differing]
    inputs = [(each["role"], *table(each["a"]), *table(each["b"])) for each in changes["inputs"]]
    heads, only = "", ""
    for side in "ab":
        path, version = visible(changes[side]["path"]), visible(changes[side]["version"])
        heads += f"{side}  {path}  soft-sed-eval {version}\n"
        if names := changes[f"only_{side}"]:
            only += f"Only {side} ({path}) has {', '.join(map(visible, names))}.\n"
    columns = "role", *("a", "SHA-256", "b", "SHA-256")
    blocks = [
        heads,
        _table("Settings that differ", ("setting", "a", "b"), settings, 3) or "The settings are the same.\n",
        _table("Inputs that differ or are unknown", columns, inputs, 5)
        or "The inputs are the same, by their SHA-256.\n",
        *(_system_text(system, changes["tolerance"]) for system in changes["systems"]),
        only,
        "The leaderboards differ; --format json of both has them.\n" * changes["board"],
    ]
    return "\n".join(filter(None, blocks))


def _table(title: str, head: tuple[str, ...], rows: Sequence[Sequence[str]], names: int = 1) -> str:
    """Return rows of texts as a table, nothing where there is none."""
    cells = tuple(tuple(map(visible, row)) for row in rows)
    return plain_table(Table(title, head, cells, names=names)) if rows else ""


def _system_text(system: dict[str, Any], tolerance: float) -> str:
    """Return the scores that differ; those of one side only, often many, by their families."""

    def value(score: dict[str, Any]) -> str:
        return UNDEFINED if score["value"] is None else f"{score['value']:.{_DIGITS}g}"

    def difference(number: float | None) -> str:
        return "" if number is None else f"{number:+.4g}" if number else "interval"

    a, b, scores = system["a"], system["b"], system["scores"]
    title = visible(a if a == b else f"{a} against {b}")
    within = f" by more than {tolerance!r}" if tolerance else ""
    number = f"{len(scores)} of" if scores else "none of"
    verb = "differ" if len(scores) > 1 else "differs"
    title = f"{title}: {number} {counted(system['compared'], 'score')} {verb}{within}"
    rows = [
        (each["name"], value(each["a"]), value(each["b"]), difference(each["difference"]))
        for each in scores
        if each["a"] and each["b"]
    ]
    lines = _table(title, ("score", "a", "b", "b - a"), rows) or f"{title}{'' if scores else '.'}\n"
    for side, other in ("ab", "ba"):
        families = Counter(".".join(each["name"].split(".")[:2]) for each in scores if each[other] is None)
        if families:
            counts = ", ".join(f"{count} of {visible(name)}" for name, count in families.items())
            lines += f"Only {side} has {counts}.\n"
    if system["parts"]:
        lines += f"These differ, too: {', '.join(system['parts'])}.\n"
    return lines
