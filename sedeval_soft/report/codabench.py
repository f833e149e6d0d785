"""Scores as Codabench and CodaLab take them from a scoring program: `scores.json`, or `scores.txt`.

A key is that of a column of the leaderboard; Codabench passes over those of which there is no column.
Undefined scores are left out: the servers store numbers only, and a number in place of one would rank.
Nothing else stands there, the signature neither: CodaLab cuts every line at its colon.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Sequence
from decimal import Decimal

from sedeval_soft.core.value import Score, Scores
from sedeval_soft.errors import SettingsError

LONGEST = 36
"""Characters that Codabench has room for in the key of a column."""

_SAFE = re.compile(r"[A-Za-z0-9_.@ \[\]-]*")
_MARKED = 8


def codabench(scores: Scores, wanted: Sequence[str] = (), *, lines: bool = False) -> str:
    """Return the scores that were asked for, all averages where none were, as JSON.

    lines: as `key: value` lines instead, of which every server reads the numbers as numbers. Raises
    SettingsError where two scores would have one key.
    """
    found = {key: score.value for key, score in keyed(scores, wanted).items() if is_number(score)}
    if lines:
        return "".join(f"{key}: {_decimal(value)}\n" for key, value in found.items())
    return json.dumps(found, indent=2) + "\n"


def keyed(scores: Scores, wanted: Sequence[str] = ()) -> dict[str, Score]:
    """Return the scores that are told by their key, the undefined ones too."""
    if wanted:
        told = [scores.score(name) for name in dict.fromkeys(wanted)]
    else:
        told = [s for s in scores.scores.values() if s.average is not None and s.group is None]
    found: dict[str, Score] = {}
    for score in told:
        key = key_of(score.name)
        if key in found:
            raise SettingsError(
                f"--format codabench: {found[key].name} and {score.name} both have the key {key}; expected "
                "--score of one of them"
            )
        found[key] = score
    return found


def key_of(name: str) -> str:
    """Return the key of a score: its name in letters, digits and underscores.

    What is too long, or has signs that others could stand for, ends with a mark made of the whole name.
    """
    key = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")
    if len(key) <= LONGEST and _SAFE.fullmatch(name):
        return key
    mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_MARKED]
    return f"{key[: LONGEST - _MARKED - 1].rstrip('_')}_{mark}"


def is_number(score: Score) -> bool:
    """Return whether a score is defined."""
    return score.value is not None and math.isfinite(score.value)


def _decimal(value: float | int | None) -> str:
    # YAML takes 1e-07 for a text.
    return f"{Decimal(repr(value)):f}"
