"""What scores mean, `soft-sed-eval explain SCORE...`, and settings of challenges, `soft-sed-eval presets`."""

from __future__ import annotations

import click

from sedeval_soft.cli.options import epilog
from sedeval_soft.cli.output import emit

EXPLAIN_EXAMPLES = """
  soft-sed-eval explain segment.soft.f1.macro
  soft-sed-eval explain event.optimal.f1 'segment.hard.recall[car]'
  soft-sed-eval explain intersection.hard.psds --format json
"""

PRESETS_EXAMPLES = """
  soft-sed-eval presets
  soft-sed-eval presets show dcase2019-task4 > mine.yaml
  soft-sed-eval ref.tsv sys.tsv --preset dcase2019-task4
  soft-sed-eval presets schema > settings.schema.json
"""


@click.command(epilog=epilog(EXPLAIN_EXAMPLES, "0 done, 2 the call is wrong."))
@click.argument("scores", metavar="SCORE...", nargs=-1, required=True)
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True,
              help="For people, or for programs.")  # fmt: skip
def explain(scores: tuple[str, ...], form: str) -> None:
    """Tell what scores mean: formula, source, when they are undefined, what differs elsewhere.

    SCORE is a name as --list-scores prints them, also of a class (`[car]`) or a group (`@traffic`), or one
    without its average.
    """
    from sedeval_soft.cli.present import all_of
    from sedeval_soft.measures.explanation import explained
    from sedeval_soft.report.explanation import explanation_json, explanation_text

    explanations = all_of(explained, [name.strip() for name in scores])
    emit(explanation_json(explanations) if form == "json" else explanation_text(explanations))


@click.group(invoke_without_command=True, epilog=epilog(PRESETS_EXAMPLES, "0 done, 2 the call is wrong."))
@click.pass_context
def presets(ctx: click.Context) -> None:
    """List the settings of challenges that --preset takes, one a line."""
    if ctx.invoked_subcommand is None:
        from sedeval_soft.settings_files import PRESETS, text_of_preset

        width = max(map(len, PRESETS))
        titles = {name: text_of_preset(name).partition("\n")[0].removeprefix("# ") for name in PRESETS}
        emit("".join(f"{name:<{width}}  {title}\n" for name, title in titles.items()))


@presets.command(epilog=epilog(PRESETS_EXAMPLES, "0 done, 2 the call is wrong."))
@click.argument("name", metavar="NAME")
def show(name: str) -> None:
    """Print the settings of a preset as a file that --config takes, with their source."""
    from sedeval_soft.settings_files import text_of_preset

    emit(text_of_preset(name))


@presets.command(epilog=epilog(PRESETS_EXAMPLES, "0 done, 2 the call is wrong."))
def schema() -> None:
    """Print the JSON Schema of settings files, for editors that complete and check them."""
    from sedeval_soft.settings_files import schema_text

    emit(schema_text())
