"""Our scores beside another package's: which differ, and whether they are the same by its rules."""

from __future__ import annotations

import math
from collections.abc import Mapping
from importlib import import_module

from sedeval_soft.errors import SettingsError, counted, visible
from sedeval_soft.measures import Tally
from sedeval_soft.report import Table, decimal, plain_table
from sedeval_soft.settings import Settings
from sedeval_soft.timeline import Recordings

TOOLS = ("sed_eval", "sed_scores_eval")

Value = float | int | None


def same(one: Value, other: Value) -> bool:
    """Return whether two values are equal to rounding, or both undefined."""
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)


def refuse(*rules: tuple[object, str]) -> None:
    """Raise SettingsError for the first rule that is broken: whether it is, and the message."""
    for broken, message in rules:
        if broken:
            raise SettingsError(message)


def second_opinion(
    tool: str, pair: Recordings, tally: Tally, settings: Settings, ours: Mapping[str, Value]
) -> str:
    """Return a table of our scores beside the scores of a package, and the known differences.

    tool: `sed_eval` or `sed_scores_eval`. tally: the statistics of the pair. ours: our scores by name. Raises
    SettingsError if the package is missing or has no such settings, EvaluationError if it fails.
    """
    module = import_module(f"sedeval_soft.apps.second_opinion.{tool}")
    module.refuse_settings(settings)
    theirs, notes = module.opinion(pair, tally, settings)
    followed = module.by_its_rules(pair, settings)
    names = [name for name in theirs if name in ours]
    differing = [name for name in names if not same(ours[name], theirs[name])]
    rows = []
    for name in names:
        one, other, differs = ours[name], theirs[name], name in differing
        difference = "" if one is None or other is None else "0" if one == other else f"{one - other:+.2e}"
        cells = visible(name), decimal(one, 6), decimal(other, 6), difference, "differs" * differs
        rows.append((*cells, *[decimal(followed.get(name), 6) if differs else ""] * bool(followed)))
    head = ("score", "ours", tool, "difference", "", *["by its rules"] * bool(followed))
    alike = len(names) - len(differing)
    lines = [f"{alike} of {counted(len(names), 'score')} agree{'s' * (alike == 1)}."]
    if differing and followed:
        n_same = sum(same(followed[name], theirs[name]) for name in differing)
        lines.append(f"By its rules (compat={tool}) {n_same} of the {len(differing)} that differ agree, too.")
    lines += [f"{cause}: {text}." for cause, text in module.CAUSES.items() if differing]
    table = plain_table(Table(f"Second opinion: {tool}", head, tuple(rows)))
    return f"\n{table}\n" + "".join(f"{line}\n" for line in (*lines, *notes))
