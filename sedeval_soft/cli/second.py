"""`--check`: another tool's scores beside ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sedeval_soft.core.pair import Pair
    from sedeval_soft.core.tally import Tally
    from sedeval_soft.core.value import Scores
    from sedeval_soft.settings import Settings


def refuse_settings(tool: str, settings: Settings) -> None:
    """Raise SettingsError where a tool has no such setting, or nothing of its is evaluated."""
    if tool == "sed_eval":
        from sedeval_soft.compat.check import refuse_settings as refuse
    else:
        from sedeval_soft.run.second_opinion import refuse_settings as refuse
    refuse(settings)


def second_opinion(tool: str, pair: Pair, tally: Tally, settings: Settings, scores: Scores) -> str:
    """Return a table of a tool's scores beside ours, and why they differ."""
    from sedeval_soft.report import comparison_table

    if tool == "sed_eval":
        from sedeval_soft.compat.causes import CAUSES, touching
        from sedeval_soft.compat.check import check_sed_eval

        notes = [
            f"{side}: {rows} active rows, of which those that touch are one event, were given as {events}."
            for side, (rows, events) in touching(pair, settings).items()
        ]
        return comparison_table(tool, check_sed_eval(pair, settings, scores), CAUSES, notes)
    from sedeval_soft.run import second_opinion as theirs

    compared, notes = theirs.check_sed_scores_eval(pair, tally, settings, scores)
    return comparison_table(tool, compared, theirs.CAUSES, notes)
