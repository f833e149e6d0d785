"""The command `annotate`: a reference of several annotators' labels, and how far they agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from sedeval_soft.cli import options
from sedeval_soft.cli.command import PATH, argument, command, number, option, refuse, setting
from sedeval_soft.cli.options import QUIET
from sedeval_soft.cli.output import check_files, emit, remark, to_standard_output, warn
from sedeval_soft.cli.tables import FORCE, GRID, MADE_FORM, hand_over, only_given
from sedeval_soft.fields import OUTPUT

if TYPE_CHECKING:
    from sedeval_soft.api.request import Request

EXAMPLES = """
  soft-sed-eval annotate a.tsv b.tsv c.tsv
  soft-sed-eval annotate a.tsv b.tsv c.tsv -o ref.tsv --method competence
  soft-sed-eval annotate a.tsv b.tsv c.tsv --system sys.tsv
  soft-sed-eval annotate a.tsv b.tsv c.tsv --events consensus -o ref.tsv
"""

ANNOTATORS = "Annotators"

METHODS = ("mean", "competence", "dawid-skene", "majority")
"""Methods to make a reference; a test compares them with the library, which help does not load."""

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
    setting("confidence", help="Confidence level of intervals."),
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
    option(OUTPUT, "--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True,
        brief=True, help="Form of the agreement."),
    QUIET,
)  # fmt: skip


@command(
    EXAMPLES,
    argument("TABLE TABLE...", "tables", nargs=-1, required=True),
    *(*ANNOTATION, *REFERENCE_MADE, *options.INTAKE),
)
def annotate(
    tables: tuple[str, ...], asked: Request, systems: tuple[str, ...], ceiling_of: str | None,
    output: str | None, to: str | None, force: bool, form: str, quiet: bool,
    **how: Any,  # noqa: ANN401 - as the library has it
) -> None:  # fmt: skip
    """Make a soft reference from the labels of several annotators.

    Each TABLE has the labels of one annotator, in any form that can be evaluated, with values or without.
    Prints how far they agree: Krippendorff's alpha, the soft F of each two, how reliable each one is, and the
    ceiling, which is what each annotator reaches against a reference made from the others.
    """
    refuse(
        (len(tables) < 2, f"Expected the tables of two or more annotators, found {len(tables)}."),
        (output is None and (to or force), "--to and --force need -o, which writes the reference."),
        (how["same_iou"] and not how["consensus"], "--same-iou needs --events consensus."),
    )
    inputs = {
        "table of annotator": tables,
        "system output": (*systems, *([ceiling_of] if ceiling_of else [])),
    }
    check_files({"-o": output}, asked.files(inputs))
    from sedeval_soft.apps.annotators.annotate import annotate as annotated
    from sedeval_soft.apps.annotators.page import annotation_text
    from sedeval_soft.report.render import json_document

    printed = output is not None and to_standard_output(output)
    how |= {"systems": systems, "ceiling_of": ceiling_of, "durations": asked.durations, **asked.values}
    with asked.opened() as limits:
        annotation = annotated([*tables], limits=limits, **only_given(how))
        # The reference first: what is printed cannot be taken back where it fails.
        if output is not None:
            hand_over(annotation.reference, output, to=to, force=force, quiet=quiet, limits=limits)
    warn(annotation.warnings, quiet=quiet)
    text = json_document(annotation.to_dict()) if form == "json" else annotation_text(annotation)
    if printed:
        remark(text.removesuffix("\n"))
    else:
        emit(text)
