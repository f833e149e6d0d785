"""What differs between two results: scores, settings, inputs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sedeval_soft.core.errors import SettingsError
from sedeval_soft.core.hints import did_you_mean
from sedeval_soft.tables.results import ResultInput, Results, ResultScore, ResultSystem

ABSENT = "absent"
"""Stands for a setting that a result does not have."""

_PARTS = (
    *("files", "length", "segments", "classes"),
    *("confusion", "runs", "folds", "worst", "sweep"),
)
"""What systems have beside their scores."""


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """A score that differs; a side that lacks it is None, one that has it undefined has the value None."""

    name: str
    a: ResultScore | None
    b: ResultScore | None

    @property
    def difference(self) -> float | None:
        """Return b - a, None where either is not there or undefined."""
        values = [side.value if side is not None else None for side in (self.a, self.b)]
        if values[0] is None or values[1] is None:
            return None
        return values[1] - values[0]


@dataclass(frozen=True, slots=True)
class SystemChange:
    """Two systems that were held against one another.

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

    versions: of soft-sed-eval. settings: those that differ, with their values, `ABSENT` where there is none.
    only_a, only_b: names of systems that only one of them has. board: whether their boards differ.
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
    _check_known(only, a, b)
    pairs = _paired(a.systems, b.systems)
    names = [{pair[side].name for pair in pairs} for side in (0, 1)]
    return Changes(
        (a.version, b.version),
        _settings(a.settings, b.settings),
        _inputs(a, b, single=len(a.systems) == len(b.systems) == 1),
        tuple(_system(*pair, tolerance, only) for pair in pairs),
        tuple(system.name for system in a.systems if system.name not in names[0]),
        tuple(system.name for system in b.systems if system.name not in names[1]),
        not only and a.board != b.board,
        tolerance,
    )


def _check_known(only: Sequence[str], a: Results, b: Results) -> None:
    if not only:
        return
    known = {score.name: None for system in (*a.systems, *b.systems) for score in system.scores}
    unknown = [
        f"neither has a score {name!r}{did_you_mean(name, known)}" for name in only if name not in known
    ]
    if unknown:
        raise SettingsError("\n".join(unknown))


def _paired(a: Sequence[ResultSystem], b: Sequence[ResultSystem]) -> list[tuple[ResultSystem, ResultSystem]]:
    if len(a) == len(b) == 1:
        return [(a[0], b[0])]
    others = {system.name: system for system in b}
    return [(system, others[system.name]) for system in a if system.name in others]


def _settings(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    found = {name: (a.get(name, ABSENT), b.get(name, ABSENT)) for name in dict.fromkeys((*a, *b))}
    return {name: pair for name, pair in found.items() if pair[0] != pair[1]}


def _inputs(a: Results, b: Results, *, single: bool) -> tuple[InputChange, ...]:
    """Return the inputs whose bytes differ, or that one result lacks.

    single: there is one system on each side: inputs go by their roles. Else they go by their names, too, all
    but the reference, of which there is one.
    """
    sides = []
    for results in (a, b):
        named = [
            (item.role, "" if single or item.role == "reference" else item.path) for item in results.inputs
        ]
        # A role may be had by several: the operating points of a system.
        keyed: dict[tuple[str, str, int], ResultInput] = {}
        for (role, path), item in zip(named, results.inputs, strict=True):
            place = sum(key[:2] == (role, path) for key in keyed)
            keyed[role, path, place] = item
        sides.append(keyed)
    pairs = [(key[0], sides[0].get(key), sides[1].get(key)) for key in dict.fromkeys((*sides[0], *sides[1]))]
    return tuple(
        InputChange(role, one, other)
        for role, one, other in pairs
        if one is None or other is None or one.sha256 != other.sha256 or one.sha256 is None
    )


def _system(a: ResultSystem, b: ResultSystem, tolerance: float, only: Sequence[str]) -> SystemChange:
    ours, theirs = (
        {score.name: score for score in system.scores if not only or score.name in only} for system in (a, b)
    )
    names = list(dict.fromkeys((*ours, *theirs)))
    found = [ScoreChange(name, ours.get(name), theirs.get(name)) for name in names]
    return SystemChange(
        a.name,
        b.name,
        len(names),
        tuple(change for change in found if not _agree(change, tolerance)),
        tuple(part for part in _PARTS if not only and getattr(a, part) != getattr(b, part)),
    )


def _agree(change: ScoreChange, tolerance: float) -> bool:
    a, b = change.a, change.b
    if a is None or b is None:
        return False
    pairs = ((a.value, b.value), (a.low, b.low), (a.high, b.high))
    return all(
        one == other if one is None or other is None else abs(one - other) <= tolerance
        for one, other in pairs
    )
