"""`soft-sed-eval diff A B`: what differs between two results."""

from __future__ import annotations

import click

from sedeval_soft.cli.output import emit, refuse_overwriting

EPILOG = """\b
Examples:
  soft-sed-eval diff old.json new.json
  soft-sed-eval diff old.json new.json --tolerance 1e-9
  soft-sed-eval diff old.json new.json --score segment.soft.f1.macro
  soft-sed-eval ref.tsv sys.tsv --format json | soft-sed-eval diff expected.json -

\b
Exit status: 0 all scores are the same, 1 scores differ, 2 a file cannot be compared.
"""


@click.command(epilog=EPILOG)
@click.argument("a", metavar="A", type=click.Path(path_type=str))
@click.argument("b", metavar="B", type=click.Path(path_type=str))
@click.option(
    "--tolerance",
    type=float,
    default=0.0,
    show_default=True,
    metavar="NUMBER",
    help="By how much scores, and the ends of their intervals, may differ.",
)
@click.option(
    "--score",
    "only",
    multiple=True,
    metavar="NAME",
    help="Compare just this score, such as segment.soft.f1.macro. Repeatable.  [default: all]",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "json")),
    default="text",
    show_default=True,
    help="For people, or for programs.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=str),
    metavar="FILE",
    help="Write to a file; it is complete or not touched.",
)
@click.pass_context
def diff(
    ctx: click.Context, a: str, b: str, tolerance: float, only: tuple[str, ...], form: str, output: str | None
) -> None:
    """Compare two results of --format json: score by score, and which settings and inputs differ.

    Systems are paired by name; where both files have one, these are compared whatever their names.
    """
    if a == b == "-":
        raise click.UsageError("Only one of A and B can be standard input.", ctx)
    refuse_overwriting(output, {"first file": a, "second file": b})
    from sedeval_soft.report.json import json_document
    from sedeval_soft.tools.diff import changes, changes_text, read_results

    results = read_results(a), read_results(b)
    document = changes(*results, (a, b), tolerance, only)
    emit(json_document(document) if form == "json" else changes_text(document, *results), output)
    ctx.exit(0 if document["same"] else 1)
