"""`soft-sed-eval presets`: the settings of challenges that are shipped."""

from __future__ import annotations

import click

from sedeval_soft.cli.output import emit

EPILOG = """\b
Examples:
  soft-sed-eval presets
  soft-sed-eval presets show dcase2019-task4 > mine.yaml
  soft-sed-eval ref.tsv sys.tsv --preset dcase2019-task4
  soft-sed-eval presets schema > settings.schema.json

\b
Exit status: 0 done, 2 the call is wrong.
"""


@click.group(invoke_without_command=True, epilog=EPILOG)
@click.pass_context
def presets(ctx: click.Context) -> None:
    """List the settings of challenges that --preset takes, one a line."""
    if ctx.invoked_subcommand is None:
        from sedeval_soft.settings_files import PRESETS, title_of_preset

        width = max(map(len, PRESETS))
        emit("".join(f"{name:<{width}}  {title_of_preset(name)}\n" for name in PRESETS))


@presets.command(epilog=EPILOG)
@click.argument("name", metavar="NAME")
def show(name: str) -> None:
    """Print the settings of a preset as a file that --config takes, with their source."""
    from sedeval_soft.settings_files import text_of_preset

    emit(text_of_preset(name))


@presets.command(epilog=EPILOG)
def schema() -> None:
    """Print the JSON Schema of settings files, for editors that complete and check them."""
    from sedeval_soft.settings_schema import schema_text

    emit(schema_text())
