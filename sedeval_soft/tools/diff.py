"""Differences between two results that `--format json` wrote: scores, settings, inputs."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from sedeval_soft.errors import InputError, Problem, SettingsError, counted, visible
from sedeval_soft.evaluation.scores import SCHEMA
from sedeval_soft.names import did_you_mean, meant
from sedeval_soft.report.table import Table, plain_table
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.source import open_source

_CHECKSUM = 12
"""Digits of a checksum that are compared and shown."""


class Score(msgspec.Struct, frozen=True):
    """A score: its value, and the ends of its interval, None if undefined."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None


class Input(msgspec.Struct, frozen=True):
    """A table that was scored; sha256 is None for data in memory."""

    path: str
    role: str
    sha256: str | None


class System(msgspec.Struct, frozen=True):
    """The scores of one system."""

    name: str
    scores: tuple[Score, ...]


class Results(msgspec.Struct, frozen=True):
    """A document of results, as far as it is compared."""

    schema: str
    version: str
    settings: dict[str, Any]
    inputs: tuple[Input, ...]
    systems: tuple[System, ...]


def read_results(path: str | os.PathLike[str], limits: Limits = LIMITS) -> Results:
    """Return the results in a file, or in standard input for `-`; raises InputError for anything else."""
    source = open_source(path, limits=limits)
    data, line = bytes(source.data[:]), None
    try:
        results = msgspec.json.decode(data, type=Results)
        if results.schema == SCHEMA and results.systems:
            return results
        wrong = f"has the schema {results.schema!r} and {counted(len(results.systems), 'system')}"
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        text, _, place = str(error).partition(" (byte ")
        wrong = f"cannot be read: {text}"
        line = data.count(b"\n", 0, int(place.removesuffix(")"))) + 1 if place else None
    expected = f"expected a file that `soft-sed-eval --format json` wrote, whose schema is {SCHEMA!r}"
    raise InputError(Problem(source.name, f"{wrong}; {expected}", line))


def changes(
    a: Results, b: Results, names: tuple[str, str], tolerance: float = 0.0, only: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the differences between two results as a JSON document, `same` if no score differs.

    names: of the two files. tolerance: by how much values, and ends of intervals, may differ. only: the names
    of the scores to compare, none for all that there are. Systems are paired by name; if each result has one,
    these are paired. A difference has no `a`, or no `b`, if that side lacks it. Raises SettingsError for a
    tolerance below 0, and for names that neither result has.
    """
    if not 0 <= tolerance < math.inf:
        raise SettingsError(f"tolerance {tolerance!r}: expected a number of at least 0")
    known = {score.name: None for system in (*a.systems, *b.systems) for score in system.scores}
    unknown = [
        f"neither file has a score {name!r}{meant(name, known) or did_you_mean(name, known)}"
        for name in only
        if name not in known
    ]
    if unknown:
        raise SettingsError("\n".join(unknown))
    several = max(len(a.systems), len(b.systems)) > 1

    def inputs(results: Results) -> dict[str, str]:
        tables: dict[str, str] = {}
        for each in results.inputs:
            name = f"{each.role} {each.path}" if several and each.role != "reference" else each.role
            # Several have one role: the operating points of a system.
            key = f"{name} {len(tables)}" if name in tables else name
            tables[key] = (each.sha256 or "unknown")[:_CHECKSUM]
        return tables

    def scores(results: Results) -> dict[str, float | None]:
        return {
            f"{system.name}: " * several + score.name + end: value
            for system in results.systems
            for score in system.scores
            if not only or score.name in only
            for end, value in (("", score.value), (" low", score.low), (" high", score.high))
        }

    def far(x: float | None, y: float | None) -> bool:
        return x != y if x is None or y is None else abs(y - x) > tolerance

    moved = _unequal(scores(a), scores(b), far)
    return {
        "schema": "soft-sed-eval-diff/1",
        "a": {"path": names[0], "version": a.version, "systems": [system.name for system in a.systems]},
        "b": {"path": names[1], "version": b.version, "systems": [system.name for system in b.systems]},
        "tolerance": tolerance,
        "same": not moved,
        "settings": _unequal(a.settings, b.settings, lambda x, y: bool(x != y)),
        "inputs": _unequal(inputs(a), inputs(b), lambda x, y: x != y or x == "unknown"),
        "compared": len({**scores(a), **scores(b)}) // 3,
        "scores": moved,
    }


def _unequal(
    one: Mapping[str, Any], other: Mapping[str, Any], differ: Callable[[Any, Any], bool]
) -> list[dict[str, Any]]:
    """Return the names under which two mappings differ, with the value of each."""
    sides = {"a": one, "b": other}
    return [
        {"name": name, **{key: side[name] for key, side in sides.items() if name in side}}
        for name in {**one, **other}
        if (name in one) != (name in other) or differ(one[name], other[name])
    ]


def changes_text(changes: dict[str, Any]) -> str:
    """Return the differences, a document of `changes`, as lines of text."""

    def cell(value: Any) -> str:  # noqa: ANN401 - of a row
        # For scores with more digits, the equal parts hide the differences.
        return f"{value:.10g}" if isinstance(value, float) else "-" if value is None else str(value)

    def row(x: dict[str, Any]) -> tuple[str, ...]:
        sides = x.get("a", "(none)"), x.get("b", "(none)")
        numbers = [value for value in sides if isinstance(value, float)]
        difference = f"{numbers[1] - numbers[0]:+.4g}" if len(numbers) == 2 else ""
        return tuple(visible(text) for text in (x["name"], *map(cell, sides), difference))

    differing = {x["name"].removesuffix(" low").removesuffix(" high") for x in changes["scores"]}
    n, within = len(differing), changes["tolerance"]
    title = f"{n or 'none'} of {counted(changes['compared'], 'score')} differ{'s' * (n < 2)}"
    title += f" by more than {within!r}" * bool(within)
    heads = [
        (key, changes[key]["path"], f"soft-sed-eval {changes[key]['version']}", *changes[key]["systems"])
        for key in "ab"
    ]
    blocks = ["".join(visible("  ".join(head)) + "\n" for head in heads)]
    for key, heading, same in (
        ("settings", "Settings that differ", "The settings are the same."),
        (
            "inputs",
            "Inputs that differ or are unknown (SHA-256)",
            "The inputs are the same (SHA-256).",
        ),
        ("scores", title, f"{title}."),
    ):
        columns = 4 if key == "scores" else 3
        rows = tuple(row(x)[:columns] for x in changes[key])
        table = Table(heading, (key[:-1], "a", "b", "b - a")[:columns], rows, names=1 + 2 * (columns == 3))
        blocks.append(plain_table(table) if rows else f"{same}\n")
    return "\n".join(blocks)
