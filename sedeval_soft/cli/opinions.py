"""Scores to compare with ours: `check` uses another package, `chance` a system without knowledge."""

from __future__ import annotations

from typing import Any

import click

import sedeval_soft as library
from sedeval_soft import api, report
from sedeval_soft.cli import options
from sedeval_soft.cli.command import PATH, argument, command, option, pairs, setting
from sedeval_soft.cli.output import emit, progress, warn
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
def check(
    reference: str, system: str, asked: api.Request, limits: library.Limits, tool: str, output: str | None,
    quiet: bool,
) -> None:  # fmt: skip
    """Score with another package, too, and print both numbers.

    `--set compat=sed_eval` computes hard scores as sed_eval does.
    """
    report.refuse_replacing({"-o": output}, asked.files({"reference": reference, "system output": system}))
    settings = asked.settings()
    asked.check(settings)
    if tool in TOOLS:
        from sedeval_soft.apps.second_opinion import refuse_settings, second_opinion

        refuse_settings(tool, settings)
    how: dict[str, Any] = {**asked.tables, "limits": limits, "rows_in_memory": True}
    done = api.evaluation_of(reference, system, settings, **how)
    if done.sides is None:
        raise TypeError("the rows are not in memory")
    # With what a reference declares.
    settings, scores = done.shard.settings, done.scores
    if tool in TOOLS:
        table = second_opinion(tool, done.pair, done.shard.tally, settings, scores)
    else:
        from sedeval_soft.apps.published import check_published

        lengths = done.shard.durations
        table = check_published(tool, done.sides, lengths, scores, done.scenes, settings=settings)
    emit(table, output)
    warn(scores.warnings, quiet=quiet)


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
def chance(
    reference: str, system: str, asked: api.Request, limits: library.Limits, draws: int,
    **shown: Any,  # noqa: ANN401 - as `Presentation` takes them
) -> None:  # fmt: skip
    """Give each score beside its chance level.

    A chance level is what the same output reaches if it knows nothing about the recordings. Beside it is
    where the score lies between chance, 0, and the best value, 1.
    """
    report.refuse_replacing(
        {"-o": shown["output"]}, asked.files({"reference": reference, "system output": system})
    )
    from sedeval_soft.cli.present import Presentation

    view = Presentation(**shown, likely=asked.computed)
    theirs = api.with_points(system, limits)
    settings = asked.settings(view.names, just=bool(view.wanted), averages=view.averages)
    settings = api.settings_of_points(settings, [theirs])
    asked.check(settings, view.names, also=("seed",))
    with progress(quiet=view.quiet, label="moving the output in time") as show:
        how: dict[str, Any] = {**asked.tables, "limits": limits, "settings": settings, "progress": show}
        scores = library.chance_levels(reference, theirs, draws, **how)
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
    option(SCORING, "--durations", type=PATH, metavar="TSV", brief=True,
        help="Table with the length of each file."),
    option(SCORING, "--by", type=PATH, metavar="TSV|PATTERN", brief="The scene, or subset, of each file.",
        help="The scene, or subset, of each file of the reference: a table of filename and scene, or a "
        "pattern of file names with the scene in braces, such as '{scene}/*'."),
    option(SCORING, "--set", "chosen_of_script", multiple=True, metavar="OPTION=VALUE",
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
    from sedeval_soft.apps.published import EXPLAINED, NAMES, published_evaluator, published_scores

    if name is None:
        width = max(map(len, NAMES)) + 2
        for evaluator in map(published_evaluator, NAMES):
            rules = f"\n{'':<{width}}its rules: --preset {evaluator.preset}" * bool(evaluator.preset)
            emit(f"{evaluator.name:<{width}}{evaluator.title}{rules}\n")
        emit(f"\nWhere rules and published code differ: {EXPLAINED}\n")
        return
    evaluator = published_evaluator(name)
    if reference is None or system is None:
        raise click.UsageError(f"Expected a reference and a system to score as {name} does.")
    report.refuse_replacing({"-o": output}, {"reference": reference, "system output": system})
    how: dict[str, Any] = {"durations": asked.durations, "by": asked.by, "limits": limits}
    chosen = pairs(chosen_of_script, "OPTION=VALUE")
    numbers = published_scores(name, reference, system, **how, options=chosen)
    source = {"project": evaluator.project, "version": evaluator.version, "script": evaluator.script}
    if form == "json":
        document = {"published": name, **source, "ranking": evaluator.ranking, "scores": numbers}
        emit(report.json_document(document), output)
        return
    width = max(map(len, numbers), default=0)
    lines = [f"{evaluator.script} of {evaluator.project} ({evaluator.version[:8]}) prints", ""]
    lines += [
        f"{label:<{width}}  {report.exact(value)}{'   ranks systems' * (label == evaluator.ranking)}"
        for label, value in numbers.items()
    ] or ["nothing, as the reference has no event"]
    rules = f"\n--preset {evaluator.preset} scores by the rules as they are written.\n"
    emit("".join(f"{line}\n" for line in lines) + rules * bool(evaluator.preset), output)
