"""The command `published`: the output of a challenge's evaluator, number by number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from sedeval_soft.cli import options
from sedeval_soft.cli.command import PATH, argument, command, option, pairs
from sedeval_soft.cli.output import check_files, emit
from sedeval_soft.fields import SCORING

if TYPE_CHECKING:
    from sedeval_soft.api.request import Request

EXAMPLES = """
  soft-sed-eval published
  soft-sed-eval published few-shot ref.csv sys.csv
  soft-sed-eval published few-shot ref.csv sys.csv --format json
"""


@command(
    EXAMPLES,
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
    name: str | None, reference: str | None, system: str | None, asked: Request,
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
    from sedeval_soft.report.render import json_document

    check_files({"-o": output}, {"reference": reference, "system output": system})
    with asked.opened() as limits:
        numbers = published_scores(
            name, reference, system, durations=asked.durations, by=asked.by, limits=limits,
            options=pairs(chosen_of_script, "OPTION=VALUE"),
        )  # fmt: skip
    source = {"project": evaluator.project, "version": evaluator.version, "script": evaluator.script}
    if form == "json":
        document = {"published": name, **source, "ranking": evaluator.ranking, "scores": numbers}
        emit(json_document(document), output)
        return
    width = max(map(len, numbers), default=0)
    lines = [f"{evaluator.script} of {evaluator.project} ({evaluator.version[:8]}) prints", ""]
    for label, value in numbers.items():
        mark = "   ranks systems" if label == evaluator.ranking else ""
        lines.append(f"{label:<{width}}  {'-' if value is None else repr(value)}{mark}")
    if not numbers:
        lines.append("nothing, as the reference has no event")
    if evaluator.preset:
        lines += ["", f"--preset {evaluator.preset} scores by the rules as they are written."]
    emit("".join(f"{line}\n" for line in lines), output)
