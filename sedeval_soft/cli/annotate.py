"""`soft-sed-eval annotate TABLE TABLE...`: a reference of several annotators' labels, and their agreement."""

from __future__ import annotations

from typing import Any

import click

from sedeval_soft.cli.options import (
    CLASSES,
    INTAKE,
    PATH,
    QUIET,
    Decorator,
    GroupedCommand,
    add,
    number,
    option,
    setting,
)
from sedeval_soft.cli.output import each_of, emit, hand_over, refuse_overwriting, remark, to_standard_output
from sedeval_soft.cli.settings import check_once, limits_of
from sedeval_soft.fields import OUTPUT, SCORING

EPILOG = """\b
Examples:
  soft-sed-eval annotate a.tsv b.tsv c.tsv
  soft-sed-eval annotate a.tsv b.tsv c.tsv -o ref.tsv --method competence
  soft-sed-eval annotate a.tsv b.tsv c.tsv --ceiling-of sys.tsv

\b
Exit status: 0 done, 2 the call or the input is wrong.
"""

METHODS = ("mean", "competence", "majority")
"""How a reference is made; a test holds them against the library, which help does not load."""

ANNOTATORS = "Annotators"

OPTIONS: tuple[Decorator, ...] = (
    option(ANNOTATORS, "--method", type=click.Choice(METHODS), default="mean", show_default=True,
           help="The reference: the mean of those who labelled a file, the mean weighted by how far each can "
           "be believed (MACE), or 1 where more than half are above the threshold."),
    option(ANNOTATORS, "--all-files", is_flag=True,
           help="Everyone labelled every file: one that a table lacks has no events. Else it is missing, "
           "unless a row with only its name declares it."),
    option(ANNOTATORS, "--ceiling-of", type=PATH, metavar="SYSTEM",
           help="Give the scores of a system as a share of what annotators reach."),
    option(ANNOTATORS, "--score", "scores", multiple=True, metavar="NAME",
           help="A score to give the ceiling for. Repeatable.  [default: micro and macro F1 of segments, "
           "soft and hard]"),
    setting("threshold", type=number, metavar="NUMBER", help="A value above it is a label."),
    option(SCORING, "--durations", type=PATH, metavar="TSV",
           help="Table of filename and duration: how long files are, and which there are."),
    CLASSES,
    setting("segment_length", help="Length of a segment: each is a row of the reference."),
    setting("pool"),
    option(OUTPUT, "-o", "--output", type=PATH, metavar="FILE",
           help="Write the reference to a file, in the form of its extension; with - it is printed, and the "
           "agreement goes to standard error."),
    option(OUTPUT, "--to", metavar="FORM",
           help="Form of the reference: one of those that `soft-sed-eval convert` writes."),
    option(OUTPUT, "--force", is_flag=True, help="Replace a folder that is not empty."),
    option(OUTPUT, "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True,
           help="Form of the agreement."),
    QUIET,
)  # fmt: skip


@click.command(cls=GroupedCommand, epilog=EPILOG)
@click.argument("tables", metavar="TABLE TABLE...", nargs=-1, required=True, type=PATH)
@add(OPTIONS, INTAKE)
def annotate(tables: tuple[str, ...], **given: Any) -> None:  # noqa: ANN401
    """Make a soft reference of the labels of several annotators, and print how far they agree.

    Each TABLE is what one annotator says, in any form that can be evaluated, with values or without. Printed
    are Krippendorff's alpha, soft F of every two, competences, and the ceiling: what each annotator reaches
    against the reference of the others.
    """
    from sedeval_soft.settings_files import split_classes
    from sedeval_soft.tools.annotate import SCORES, annotation_text
    from sedeval_soft.tools.annotate import annotate as annotated

    _check(tables, given)
    output, to, force, form, quiet = (given.pop(n) for n in ("output", "to", "force", "form", "quiet"))
    given["classes"] = split_classes(given["classes"]) if given["classes"] else None
    given["scores"] = given["scores"] or SCORES
    with limits_of(given) as limits:
        asked = {name: value for name, value in given.items() if value is not None}
        found = annotated(list(tables), limits=limits, **asked)
        # The reference first: what is printed cannot be taken back where it fails.
        if output is not None:
            to = to or ("long" if to_standard_output(output) else None)
            hand_over(found.reference, output, force=force, quiet=quiet, to=to, limits=limits)
    if not quiet:
        for warning in found.warnings:
            remark(f"warning: {warning}")
    from sedeval_soft.report.render import json_document

    text = json_document(found.to_dict()) if form == "json" else annotation_text(found)
    if output is not None and to_standard_output(output):
        remark(text.removesuffix("\n"))
    else:
        emit(text)


def _check(tables: tuple[str, ...], given: dict[str, Any]) -> None:
    """Refuse paths that do not go together."""
    if len(tables) < 2:
        raise click.UsageError(f"Expected the tables of two or more annotators, found {len(tables)}.")
    check_once(tables, "TABLE")
    if [*tables, given["ceiling_of"], given["durations"]].count("-") > 1:
        raise click.UsageError("Only one of TABLE and --ceiling-of can be standard input.")
    if given["output"] is None and (given["to"] or given["force"]):
        raise click.UsageError("--to and --force are of the reference; expected -o, too.")
    read = each_of("table of annotator", tables)
    others = {"system output": given["ceiling_of"], "table of durations": given["durations"]}
    refuse_overwriting(given["output"], read | others)
