"""What differs between two results, for people and for programs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from sedeval_soft.board.changes import ABSENT, Changes, InputChange, ScoreChange, SystemChange
from sedeval_soft.core.counted import counted
from sedeval_soft.core.visible import visible
from sedeval_soft.report.escape import json_text
from sedeval_soft.report.plain import plain_table
from sedeval_soft.report.table import UNDEFINED, Table
from sedeval_soft.tables.results import ResultScore

SCHEMA = "soft-sed-eval-diff/1"

_NOT_THERE = "(none)"
_SHOWN = 12
"""Digits of a checksum that are shown."""

_DIGITS = 10
"""Digits of scores in text: with more, what is the same in both hides what differs."""


def changes_text(changes: Changes, names: tuple[str, str]) -> str:
    """Return what differs as lines of text; names: of the two files."""
    parts = [_heads(changes, names), _settings(changes.settings), _inputs(changes.inputs)]
    parts += [_scores(system, changes.tolerance) for system in changes.systems]
    parts.append(_unpaired(changes, names))
    if changes.board:
        parts.append("The leaderboards differ; --format json of both has them.\n")
    return "\n".join(filter(None, parts))


def changes_json(changes: Changes, names: tuple[str, str]) -> str:
    """Return what differs as a JSON document, whose numbers are exact."""
    import msgspec

    document = {
        "schema": SCHEMA,
        "a": {"path": names[0], "version": changes.versions[0]},
        "b": {"path": names[1], "version": changes.versions[1]},
        "tolerance": changes.tolerance,
        "same": changes.same,
        "settings": [
            {"name": name, "a": _setting_or_none(a), "b": _setting_or_none(b)}
            for name, (a, b) in changes.settings.items()
        ],
        "inputs": [_input(change) for change in changes.inputs],
        "systems": [_system(system) for system in changes.systems],
        "only_a": list(changes.only_a),
        "only_b": list(changes.only_b),
        "board": changes.board,
    }
    return json_text(msgspec.json.format(msgspec.json.encode(document), indent=2).decode()) + "\n"


def _heads(changes: Changes, names: tuple[str, str]) -> str:
    lines = zip("ab", names, changes.versions, strict=True)
    return "".join(f"{side}  {visible(name)}  soft-sed-eval {visible(v)}\n" for side, name, v in lines)


def _settings(settings: Mapping[str, tuple[Any, Any]]) -> str:
    if not settings:
        return "The settings are the same.\n"
    rows = tuple((visible(name), _setting(a), _setting(b)) for name, (a, b) in settings.items())
    return plain_table(Table("Settings that differ", ("setting", "a", "b"), rows, names=3))


def _setting(value: Any) -> str:  # noqa: ANN401 - any setting
    return _NOT_THERE if value is ABSENT else visible(json.dumps(value, ensure_ascii=False))


def _setting_or_none(value: Any) -> Any:  # noqa: ANN401 - as above
    return None if value is ABSENT else value


def _inputs(inputs: tuple[InputChange, ...]) -> str:
    if not inputs:
        return "The inputs are the same, by their SHA-256.\n"
    rows = []
    for change in inputs:
        sides = [
            (_NOT_THERE, "") if side is None else (visible(side.path), (side.sha256 or "unknown")[:_SHOWN])
            for side in (change.a, change.b)
        ]
        rows.append((visible(change.role), *(visible(text) for side in sides for text in side)))
    head = ("role", "a", "SHA-256", "b", "SHA-256")
    return plain_table(Table("Inputs that differ, or that nobody knows", head, tuple(rows), names=5))


def _scores(system: SystemChange, tolerance: float) -> str:
    """Return the scores that differ; those of one side only, often many, by their families."""
    title = visible(system.a if system.a == system.b else f"{system.a} against {system.b}")
    within = f" by more than {tolerance!r}" if tolerance else ""
    compared = counted(system.compared, "score")
    if not system.scores:
        lines = f"{title}: none of {compared} differs{within}.\n"
    else:
        differ = "differs" if len(system.scores) == 1 else "differ"
        lines = f"{title}: {len(system.scores)} of {compared} {differ}{within}\n"
    rows = tuple(_row(change) for change in system.scores if change.a and change.b)
    if rows:
        lines = plain_table(Table(lines.removesuffix("\n"), ("score", "a", "b", "b - a"), rows))
    for side in "ab":
        only = [change for change in system.scores if getattr(change, "b" if side == "a" else "a") is None]
        if only:
            families = Counter(".".join(change.name.split(".")[:2]) for change in only)
            told = ", ".join(f"{count} of {visible(name)}" for name, count in families.items())
            lines += f"Only {side} has {told}.\n"
    if system.parts:
        lines += f"These differ, too: {', '.join(system.parts)}.\n"
    return lines


def _row(change: ScoreChange) -> tuple[str, str, str, str]:
    difference = change.difference
    if difference is None:
        told = ""
    elif difference == 0:
        told = "interval"
    else:
        told = f"{difference:+.4g}"
    return visible(change.name), _value(change.a), _value(change.b), told


def _value(score: ResultScore | None) -> str:
    value = None if score is None else score.value
    if value is None:
        return UNDEFINED
    return f"{value:.{_DIGITS}g}"


def _unpaired(changes: Changes, names: tuple[str, str]) -> str:
    sides = zip("ab", names, (changes.only_a, changes.only_b), strict=True)
    return "".join(
        f"Only {side} ({visible(name)}) has {', '.join(map(visible, only))}.\n"
        for side, name, only in sides
        if only
    )


def _input(change: InputChange) -> dict[str, Any]:
    sides = {"a": change.a, "b": change.b}
    told = {
        side: None if item is None else {"path": item.path, "sha256": item.sha256}
        for side, item in sides.items()
    }
    return {"role": change.role, **told}


def _system(system: SystemChange) -> dict[str, Any]:
    return {
        "a": system.a,
        "b": system.b,
        "compared": system.compared,
        "scores": [
            {"name": change.name, "a": _ends(change.a), "b": _ends(change.b), "difference": change.difference}
            for change in system.scores
        ],
        "parts": list(system.parts),
    }


def _ends(score: ResultScore | None) -> dict[str, Any] | None:
    return None if score is None else {"value": score.value, "low": score.low, "high": score.high}
