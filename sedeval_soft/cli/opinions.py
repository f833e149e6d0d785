"""Scores to compare with ours: `check` uses another package, `chance` a system without knowledge."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

import click

import sedeval_soft as library
from sedeval_soft import api
from sedeval_soft.cli import options
from sedeval_soft.cli.command import PATH, Option, argument, command, pairs, refuse, setting
from sedeval_soft.cli.output import Presentation, emit, progress, warn
from sedeval_soft.fields import CHECKS, INTERVALS, OUTPUT, SCORING

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
    Option(CHECKS, "--with", "tool", required=True, metavar="NAME",
        brief="sed_eval, sed_scores_eval, or of `published`.",
        help="sed_eval or sed_scores_eval: our number, theirs and the difference; or what "
        "`soft-sed-eval published` lists: our number and theirs."),
    Option(OUTPUT, "-o", "--output", type=PATH, metavar="FILE", brief=True,
        help="Write the table to a file."),
    options.QUIET,
    *ASKED,
)  # fmt: skip
def check(
    reference: str, system: str, asked: api.Request, limits: library.Limits, tool: str, output: str | None,
    quiet: bool,
) -> None:  # fmt: skip
    """Score with another package, too, and print both numbers.

    `--set compat=sed_eval` computes hard scores as sed_eval does.
    """
    from sedeval_soft.apps.published import NAMES, check_published
    from sedeval_soft.apps.second_opinion import TOOLS, second_opinion

    refuse((tool not in (*TOOLS, *NAMES), f"--with {tool}: expected one of {', '.join((*TOOLS, *NAMES))}."))
    settings = asked.checked()
    how: dict[str, Any] = {"limits": limits, **asked.tables}
    done = api.evaluation_of(reference, system, settings, rows_in_memory=True, **how)
    # With what a reference declares.
    settings = done.shard.settings
    if tool in TOOLS:
        table = second_opinion(tool, done.pair, done.shard.tally, settings, done.scores)
    else:
        lengths = done.shard.durations
        table = check_published(tool, done.rows, lengths, done.scores, done.scenes, settings=settings)
    emit(table, output)
    warn(done.scores.warnings, quiet=quiet)


@command(
    CHANCE_EXAMPLES,
    *SIDES,
    Option(INTERVALS, "--draws", type=click.IntRange(1, 1_000_000), default=100, show_default=True,
        metavar="N",
        brief="How often the output is moved in time.",
        help="How often the output is moved in time; chance levels are the means over these."),
    *options.SCORES,
    *ASKED,
)  # fmt: skip
def chance(
    reference: str, system: str, asked: api.Request, limits: library.Limits, draws: int,
    **shown: Any,  # noqa: ANN401 - as `Presentation` takes them
) -> None:  # fmt: skip
    """Give each score beside its chance level.

    A chance level is what the same output reaches if it knows nothing about the recordings. Beside it is
    where the score lies between chance, 0, and the best value, 1.
    """
    view = Presentation(**shown, likely=asked.computed)
    theirs = api.with_points(system, limits)
    settings = asked.checked(
        view.names, systems=[theirs], also=("seed",), just=bool(view.wanted), averages=view.averages
    )
    with progress(quiet=view.quiet, label="moving the output in time") as show:
        how: dict[str, Any] = {**asked.tables, "limits": limits, "settings": settings, "progress": show}
        scores = library.chance_levels(reference, theirs, draws, name=PurePath(system).name or system, **how)
    view.finish([scores])


PUBLISHED_EXAMPLES = """
  soft-sed-eval published
  soft-sed-eval published few-shot ref.csv sys.csv
  soft-sed-eval published few-shot ref.csv sys.csv --format json
"""


@command(
    PUBLISHED_EXAMPLES,
    argument("NAME", required=False, type=str),
    argument("REFERENCE", required=False),
    argument("SYSTEM", required=False),
    Option(SCORING, "--durations", type=PATH, metavar="TSV", brief=True,
        help="Table with the length of each file."),
    Option(SCORING, "--by", type=PATH, metavar="TSV|PATTERN", brief="The scene, or subset, of each file.",
        help="The scene, or subset, of each file of the reference: a table of filename and scene, or a "
        "pattern of file names with the scene in braces, such as '{scene}/*'."),
    Option(SCORING, "--set", "chosen_of_script", multiple=True, metavar="OPTION=VALUE",
        brief="An option of the script.",
        help="An option of the script, by its name there. Repeatable."),
    *options.result_forms(("text", "json"), brief=True, help="For people, or for programs."),
    *options.INTAKE,
)  # fmt: skip
def published(
    name: str | None, reference: str | None, system: str | None, asked: api.Request, limits: library.Limits,
    chosen_of_script: tuple[str, ...], form: str, output: str | None,
) -> None:  # fmt: skip
    """Reproduce the output of a challenge's official scoring script.

    The numbers equal the script's to the last digit, even if the script differs from the challenge's rules;
    presets follow the rules. Without a NAME the command lists all evaluators.
    """
    from sedeval_soft.apps.published import list_published, published_evaluator, published_text

    if name is None:
        emit(list_published())
        return
    published_evaluator(name)
    if reference is None or system is None:
        raise click.UsageError(f"Expected a reference and a system to score as {name} does.")
    how: dict[str, Any] = {"durations": asked.durations, "by": asked.by, "limits": limits}
    chosen = pairs(chosen_of_script, "OPTION=VALUE")
    numbers = library.published_scores(name, reference, system, **how, options=chosen)
    emit(published_text(name, numbers, form), output)
