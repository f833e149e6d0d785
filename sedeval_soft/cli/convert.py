"""`soft-sed-eval convert IN OUT`: a table in another form."""

from __future__ import annotations

from typing import Any

import click

from sedeval_soft.cli.options import INTAKE, PATH, QUIET, GroupedCommand, add, option
from sedeval_soft.cli.output import hand_over
from sedeval_soft.cli.settings import limits_of
from sedeval_soft.fields import OUTPUT
from sedeval_soft.tables.forms import WRITTEN

EPILOG = """\b
Examples:
  soft-sed-eval convert sys.tsv sys.parquet
  soft-sed-eval convert sys.tsv scores/ --to score-dir
  soft-sed-eval convert ref.tsv labels/ --to audacity
  soft-sed-eval convert scores.zip - --to long

\b
Exit status: 0 done, 2 the call or the input is wrong.
"""


@click.command(cls=GroupedCommand, epilog=EPILOG)
@click.argument("source", metavar="IN", type=PATH)
@click.argument("target", metavar="OUT", type=PATH)
@option(
    *(OUTPUT, "--to"),
    metavar="FORM",
    help=f"What is written: {', '.join(WRITTEN)}.  [default: what the extension of OUT says]",
)
@option(OUTPUT, "--from", "source_form", metavar="FORM", default="", help="What IN must be.")
@option(OUTPUT, "--strict", is_flag=True, help="Write nothing where anything would be lost.")
@option(OUTPUT, "--force", is_flag=True, help="Replace a folder that is not empty.")
@QUIET
@add(INTAKE)
def convert(source: str, target: str, **given: Any) -> None:  # noqa: ANN401
    """Write a table in another form.

    IN is whatever can be evaluated: a table, a folder or an archive of tables, or - for standard input. OUT
    is a file, a folder (for maestro and score-dir, and where a form has a file for each recording), or - for
    standard output. What OUT cannot hold is said on standard error.
    """
    asked = {name: given[name] for name in ("to", "source_form", "strict")}
    with limits_of(given) as limits:
        hand_over(source, target, force=given["force"], quiet=given["quiet"], limits=limits, **asked)
