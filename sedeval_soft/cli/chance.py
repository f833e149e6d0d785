"""`--chance`: chance levels beside the scores of one system."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from sedeval_soft.core.partition import Partition
    from sedeval_soft.core.value import Scores
    from sedeval_soft.tables.event_table import EventTable


def draws_of(given: dict[str, Any]) -> int:
    """Take out what chance levels are of: the number of draws, 0 where none are asked for."""
    from sedeval_soft.api.evaluation import DRAWS

    chance, draws = given.pop("chance"), given.pop("draws")
    if draws and not chance:
        raise click.UsageError("--draws are of chance levels; expected --chance, too.")
    return (draws or DRAWS) if chance else 0


def with_levels(
    scores: Scores,
    sides: tuple[EventTable, EventTable],
    durations: Mapping[str, float] | None,
    folds: Partition | None,
    draws: int,
    *,
    quiet: bool,
) -> Scores:
    """Return scores with their chance levels."""
    from sedeval_soft.api import with_chance
    from sedeval_soft.cli.progress import progress
    from sedeval_soft.core.pair import align

    pair = align(*sides, scores.settings, durations)
    with progress(quiet=quiet, label="moving the output in time") as told:
        return with_chance(scores, pair, draws, folds, told)
