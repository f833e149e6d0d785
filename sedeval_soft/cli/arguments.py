"""Arguments and options that do not go together, whichever command they are of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from sedeval_soft.settings import Settings


def move_rule(given: dict[str, Any]) -> None:
    """Let `--threshold` with a rule or a file be `--thresholds`; raises UsageError where both are given."""
    if not isinstance(given["threshold"], str):
        return
    if given["thresholds"] is not None:
        raise click.UsageError("--threshold with a rule or a file is --thresholds; both are given.")
    given |= {"threshold": None, "thresholds": given["threshold"]}


def check_once(paths: Sequence[str], argument: str) -> None:
    """Raise UsageError where a path is among those of an argument more than once."""
    twice = next((path for path in paths if paths.count(path) > 1), None)
    if twice is not None:
        raise click.UsageError(f"{argument} {twice} is given twice; expected each once.")


def check_objective(objective: str | None, settings: Settings, folds: str | None) -> None:
    """Raise UsageError where something is to be tuned for, and nothing is tuned."""
    if objective and settings.cross_tune is None and not folds:
        raise click.UsageError("--objective is of --cross-tune, --folds and soft-sed-eval tune.")
