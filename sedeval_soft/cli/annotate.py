"""The command `annotate`: a reference of several annotators' labels, and how far they agree."""

from __future__ import annotations

from typing import Any

import click

from sedeval_soft.cli import options
from sedeval_soft.cli.options import PATH, QUIET, argument, command, number, option, refuse, setting
from sedeval_soft.cli.output import check_files, each_of, emit, remark, to_standard_output, warn
from sedeval_soft.cli.tables import FORCE, GRID, MADE_FORM, arguments_of, hand_over
from sedeval_soft.fields import OUTPUT

EXAMPLES = """
  soft-sed-eval annotate a.tsv b.tsv c.tsv
  soft-sed-eval annotate a.tsv b.tsv c.tsv -o ref.tsv --method competence
  soft-sed-eval annotate a.tsv b.tsv c.tsv --system sys.tsv
  soft-sed-eval annotate a.tsv b.tsv c.tsv --events consensus -o ref.tsv
"""

ANNOTATORS = "Annotators"

METHODS = ("mean", "competence", "dawid-skene", "majority")
"""How a reference is made; a test holds them against the library, which help does not load."""

ANNOTATION = (
    option(ANNOTATORS, "--method", type=click.Choice(METHODS), default="mean", show_default=True,
        metavar="METHOD", brief="mean, competence, dawid-skene, majority.",
        help="How labels are combined: mean of all who labelled a file; competence: mean weighted by how "
        "reliable each annotator is (MACE); dawid-skene: probability of the class, by how often each "
        "annotator hears it and makes it up (Dawid & Skene 1979); majority: 1 where more than half are above "
        "the threshold."),
    option(ANNOTATORS, "--continuous", is_flag=True, default=None,
        brief="Keep the annotators' own boundaries.",
        help="The reference begins and ends where annotators do, also where tables have values in time steps "
        "or --segment-length is given. Where neither is so, this needs no option."),
    option(ANNOTATORS, "--events", "consensus", type=click.Choice(["consensus"]), metavar="consensus",
        callback=lambda _, __, value: True if value else None,
        brief="Reference of events that mean the same.",
        help="The reference has consensus events: clusters of annotators' events that mean the same, one of "
        "each at the most, from the median onset to the median offset. The value is the share of those who "
        "labelled the file and have it; --method weights it, or takes those of more than half."),
    option(ANNOTATORS, "--same-iou", type=number, metavar="SHARE",
        brief="IoU from which on events mean the same.",
        help="With --events consensus: the mean intersection over union from which on events mean the same.  "
        "[default: 0.3]"),
    option(ANNOTATORS, "--missing", type=click.Choice(["silent", "unlabelled"]), metavar="HOW",
        brief="If a table lacks a file: silent, unlabelled.",
        help="Whether a file of which a table has no row is silent, labelled and nothing heard, or "
        "unlabelled, so that this annotator counts for nothing there. Must be given if there is such a file; "
        "a row with just its name says that it was labelled."),
    option(ANNOTATORS, "--ceiling-of", type=PATH, metavar="SYSTEM",
        brief="Compare a system with annotators.",
        help="Also give the scores of a system as a share of what annotators reach."),
    option(ANNOTATORS, "--system", "systems", multiple=True, type=PATH, metavar="SYSTEM",
        brief="How sure its scores are; its place.",
        help="Also give the scores of a system with their intervals over annotators and files, over the "
        "number of annotators, and against each of them with its place among them. Repeatable: of several it "
        "is said how many annotators it takes to rank them."),
    option(ANNOTATORS, "--score", "scores", multiple=True, metavar="NAME",
        brief="Score to give.",
        help="A score to give the ceiling and the systems of. Repeatable.  [default: micro and macro F1 of "
        "segments, soft and hard]"),
    setting("confidence"),
    setting("seed", help="Seed of the sets of annotators that are drawn where there are very many."),
    setting("threshold", type=number, metavar="NUMBER", help="A value above this is a label.",
        brief="A value above it is a label."),
    *GRID,
)  # fmt: skip
"""The arguments of the library's function of that name."""

REFERENCE_MADE = (
    option(OUTPUT, "-o", "--output", type=PATH, metavar="FILE", brief="Write the reference to a file.",
        help="Write the reference to a file, in the form of its extension. With - it is printed, and the "
        "agreement goes to standard error."),
    MADE_FORM,
    FORCE,
    options.form_option(("text", "json"), default="text", show_default=True, brief=True,
        help="Form of the agreement."),
    QUIET,
)  # fmt: skip


@command(
    EXAMPLES,
    argument("TABLE TABLE...", "tables", nargs=-1, required=True),
    *(*ANNOTATION, *REFERENCE_MADE, *options.INTAKE),
)
def annotate(tables: tuple[str, ...], **given: Any) -> None:  # noqa: ANN401
    """Make a soft reference from the labels of several annotators.

    Each TABLE has the labels of one annotator, in any form that can be evaluated, with values or without.
    Prints how far they agree: Krippendorff's alpha, the soft F of each two, how reliable each one is, and the
    ceiling, which is what each annotator reaches against a reference made from the others.
    """
    output: str | None = given["output"]
    systems = given["systems"]
    standard_input = [*tables, *systems, given["ceiling_of"], given["durations"]].count("-")
    refuse(
        (len(tables) < 2, f"Expected the tables of two or more annotators, found {len(tables)}."),
        *((tables.count(path) > 1, f"TABLE {path} is given twice; expected each once.") for path in tables),
        *((systems.count(path) > 1, f"--system {path} is given twice.") for path in systems),
        (standard_input > 1, "Only one of TABLE, --system and --ceiling-of can be standard input."),
        (output is None and (given["to"] or given["force"]),
         "--to and --force need -o, which writes the reference."),
        (given["same_iou"] is not None and not given["consensus"], "--same-iou needs --events consensus."),
    )  # fmt: skip
    others = {"system output": given["ceiling_of"], "table of durations": given["durations"]}
    inputs = each_of("table of annotator", tables) | each_of("system output", systems) | others
    check_files({"-o": output}, inputs)
    from sedeval_soft.apps.annotators.annotate import SCORES
    from sedeval_soft.apps.annotators.annotate import annotate as annotated
    from sedeval_soft.apps.annotators.page import annotation_text
    from sedeval_soft.report.render import json_document

    printed = output is not None and to_standard_output(output)
    with options.limits_of(given) as limits:
        how = {"scores": SCORES} | arguments_of(ANNOTATION, given)
        annotation = annotated([*tables], limits=limits, **how)
        # The reference first: what is printed cannot be taken back where it fails.
        if output is not None:
            to = given["to"] or ("long" if printed else None)
            hand_over(annotation.reference, output, given, to=to, limits=limits)
    warn(annotation.warnings, quiet=given["quiet"])
    text = json_document(annotation.to_dict()) if given["form"] == "json" else annotation_text(annotation)
    if printed:
        remark(text.removesuffix("\n"))
    else:
        emit(text)
