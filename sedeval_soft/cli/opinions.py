"""Scores to compare with ours: `check` uses another package, `chance` a system without knowledge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from sedeval_soft.cli import options
from sedeval_soft.cli.command import PATH, argument, command, option, setting
from sedeval_soft.cli.output import check_files, emit, progress, warn
from sedeval_soft.fields import CHECKS, INTERVALS, OUTPUT

if TYPE_CHECKING:
    from sedeval_soft.api.request import Request

CHECK_EXAMPLES = """
  soft-sed-eval check ref.tsv sys.tsv --with sed_eval
  soft-sed-eval check ref.tsv sys.tsv --with sed_scores_eval
  soft-sed-eval check ref.csv sys.csv --with few-shot
"""

CHANCE_EXAMPLES = """
  soft-sed-eval chance ref.tsv sys.tsv
  soft-sed-eval chance ref.tsv sys.tsv --score segment.soft.f1.macro
  soft-sed-eval chance ref.tsv sys.tsv --draws 1000 -o chance.json
"""

TOOLS = ("sed_eval", "sed_scores_eval")


EVALUATORS = (
    "few-shot", "biodcase2025-task2", "biodcase2025-task2-ranking", "dcase2024-task4", "birdnet-analyzer",
    "lat-bench", "pyannote-vad", "dcase2026-task6",
)  # fmt: skip
"""The evaluators of `published`; a test compares them with the app, which help does not load."""

SIDES = (argument("REFERENCE"), argument("SYSTEM"))
ASKED = (
    *options.seldom(options.EVERYTHING, "threshold", "only", "segment_length"),
    *options.seldom(options.READ, "preset", "durations"),
    setting("strict"),
    *options.PARTS,
    options.POINTS,
    *options.INTAKE,
)


@command(
    CHECK_EXAMPLES,
    *SIDES,
    option(CHECKS, "--with", "tool", required=True, type=click.Choice((*TOOLS, *EVALUATORS)), metavar="NAME",
        brief="sed_eval, sed_scores_eval, or of `published`.",
        help="sed_eval or sed_scores_eval: our number, theirs and the difference; or what "
        "`soft-sed-eval published` lists: our number and theirs."),
    option(OUTPUT, "-o", "--output", type=PATH, metavar="FILE", brief=True,
        help="Write the table to a file."),
    options.QUIET,
    *ASKED,
)  # fmt: skip
def check(reference: str, system: str, asked: Request, tool: str, output: str | None, quiet: bool) -> None:
    """Score with another package, too, and print both numbers.

    `--set compat=sed_eval` computes hard scores as sed_eval does.
    """
    check_files({"-o": output}, asked.files({"reference": reference, "system output": system}))
    from sedeval_soft.api.evaluation import evaluation_of

    with asked.opened() as limits:
        settings = asked.settings()
        asked.check(settings)
        if tool in TOOLS:
            from sedeval_soft.apps.second_opinion import refuse_settings

            refuse_settings(tool, settings)
        how: dict[str, Any] = {**asked.tables, "limits": limits, "rows_in_memory": True}
        done = evaluation_of(reference, system, settings, **how)
        if done.sides is None:
            raise TypeError("the rows are not in memory")
        # With what a reference declares.
        settings = done.shard.settings
        if tool in TOOLS:
            from sedeval_soft.apps.second_opinion import second_opinion

            table = second_opinion(tool, done.pair, done.shard.tally, settings, done.scores)
        else:
            from sedeval_soft.apps.published import check_published

            table = check_published(
                tool, done.sides, done.shard.durations, done.scores, done.scenes, settings=settings
            )
    emit(table, output)
    warn(done.scores.warnings, quiet=quiet)


@command(
    CHANCE_EXAMPLES,
    *SIDES,
    option(INTERVALS, "--draws", type=click.IntRange(1, 1_000_000), default=100, show_default=True,
        metavar="N",
        brief="How often the output is moved in time.",
        help="How often the output is moved in time; chance levels are the means over these."),
    *options.SCORES,
    *ASKED,
)  # fmt: skip
def chance(reference: str, system: str, asked: Request, draws: int, **shown: Any) -> None:  # noqa: ANN401
    """Give each score beside its chance level.

    A chance level is what the same output reaches if it knows nothing about the recordings. Beside it is
    where the score lies between chance, 0, and the best value, 1.
    """
    check_files({"-o": shown["output"]}, asked.files({"reference": reference, "system output": system}))
    from sedeval_soft.api.evaluation import settings_of_points
    from sedeval_soft.api.sources import with_points
    from sedeval_soft.apps.chance import chance_levels
    from sedeval_soft.cli.present import Presentation

    with asked.opened() as limits:
        view = Presentation(**shown, likely=asked.computed)
        theirs = with_points(system, limits)
        settings = asked.settings(view.names, just=bool(view.wanted), averages=view.averages)
        settings = settings_of_points(settings, [theirs])
        asked.check(settings, view.names, also=("seed",))
        with progress(quiet=view.quiet, label="moving the output in time") as show:
            how: dict[str, Any] = {**asked.tables, "limits": limits, "settings": settings, "progress": show}
            scores = chance_levels(reference, theirs, draws, **how)
        view.check([scores])
        view.show([scores])
