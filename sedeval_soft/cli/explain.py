"""`soft-sed-eval explain SCORE...`: what scores mean."""

from __future__ import annotations

import click

from sedeval_soft.cli.output import emit

EPILOG = """\b
Examples:
  soft-sed-eval explain segment.soft.f1.macro
  soft-sed-eval explain event.optimal.f1 'segment.hard.recall[car]'
  soft-sed-eval explain intersection.hard.psds --format json

\b
Exit status: 0 done, 2 the call is wrong.
"""


@click.command(epilog=EPILOG)
@click.argument("scores", metavar="SCORE...", nargs=-1, required=True)
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "json")),
    default="text",
    show_default=True,
    help="For people, or for programs.",
)
def explain(scores: tuple[str, ...], form: str) -> None:
    """Tell what scores mean: formula, source, when they are undefined, what differs elsewhere.

    SCORE is a name as --list-scores prints them, also of a class (`[car]`) or a group (`@traffic`), or one
    without its average.
    """
    from sedeval_soft.cli.present import all_of
    from sedeval_soft.measures.explanation import explained
    from sedeval_soft.report.explanation import explanation_json, explanation_text

    found = all_of(explained, [name.strip() for name in scores])
    emit(explanation_json(found) if form == "json" else explanation_text(found))
