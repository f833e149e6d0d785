"""What settings ask for beside plain scores: imported where they do, since start-up is a feature.

Each function stands for the one of the same name in the module that it imports.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sedeval_soft.core.tally import Tally
from sedeval_soft.core.value import Confusion, Score
from sedeval_soft.settings import Settings

if TYPE_CHECKING:
    from sedeval_soft.core.spread import Worst
    from sedeval_soft.core.sweep import Sweep
    from sedeval_soft.run.curves import Curves
    from sedeval_soft.run.intervals import Progress


def with_rule_followed(settings: Settings, tally: Tally) -> Settings:
    """Return settings that name the thresholds that follow from their rule, if they have one."""
    if not isinstance(settings.thresholds, str):
        return settings
    from sedeval_soft.run import tuned

    return tuned.with_rule_followed(settings, tally)


def with_intervals(
    scores: dict[str, Score], tally: Tally, settings: Settings, progress: Progress | None = None
) -> dict[str, Score]:
    """Return the scores of a tally with the intervals that the settings ask for."""
    if settings.ci is None:
        return scores
    from sedeval_soft.run import intervals

    return intervals.with_intervals(scores, tally, settings, progress)


def score_notes(scores: Sequence[Score], tally: Tally, settings: Settings) -> list[str]:
    """Return what a reader must know of constraints that nothing satisfies, and of intervals."""
    notes = []
    if settings.satisfice is not None:
        from sedeval_soft.run.optimal import unreachable

        notes += unreachable(scores, settings)
    if settings.ci is not None:
        from sedeval_soft.run.intervals import interval_notes

        notes += interval_notes(tally, settings)
    return notes


def psds_notes(tally: Tally, settings: Settings, group: str | None = None) -> list[str]:
    """Return what a reader must know of how PSDS was computed, for the whole or a group or scene."""
    if not settings.wants_psds_of("soft"):
        return []
    from sedeval_soft.run import psds

    return psds.psds_notes(tally, settings, group)


def confusion_tables(tally: Tally, settings: Settings) -> tuple[Confusion, ...]:
    """Return the confusions that the settings ask for."""
    if "confusion" not in settings.measures:
        return ()
    from sedeval_soft.run import confusion

    return confusion.confusion_tables(tally, settings)


def worst_of(tally: Tally, settings: Settings) -> Worst | None:
    """Return the files, classes and segments that cost most; None if not asked for."""
    if not settings.worst:
        return None
    from sedeval_soft.run import worst

    return worst.worst_of(tally, settings)


def sweep_of(tally: Tally, settings: Settings) -> Sweep | None:
    """Return the averages at thresholds of the reference; None if not asked for."""
    if not settings.reference_sweep:
        return None
    from sedeval_soft.run import sweep

    return sweep.sweep_of(tally, settings)


def curves_of(tally: Tally, settings: Settings) -> Curves:
    """Return the curves that a tally has."""
    from sedeval_soft.run import curves

    return curves.curves_of(tally, settings)
