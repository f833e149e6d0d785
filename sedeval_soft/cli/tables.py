"""Commands that make tables: `convert IN OUT`, `annotate TABLE TABLE...` and `simulate KIND REFERENCE`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from sedeval_soft.cli import options
from sedeval_soft.cli.options import (
    PATH,
    QUIET,
    GroupedCommand,
    epilog,
    number,
    number_or,
    option,
    refuse,
    setting,
)
from sedeval_soft.cli.output import check_files, each_of, emit, remark, to_standard_output, warn
from sedeval_soft.fields import OUTPUT
from sedeval_soft.tables.forms import WRITTEN

CONVERT_EXAMPLES = """
  soft-sed-eval convert sys.tsv sys.parquet
  soft-sed-eval convert sys.tsv scores/ --to score-dir
  soft-sed-eval convert ref.tsv labels/ --to audacity
  soft-sed-eval convert scores.zip - --to long
"""

ANNOTATE_EXAMPLES = """
  soft-sed-eval annotate a.tsv b.tsv c.tsv
  soft-sed-eval annotate a.tsv b.tsv c.tsv -o ref.tsv --method competence
  soft-sed-eval annotate a.tsv b.tsv c.tsv --ceiling-of sys.tsv
"""

SIMULATE_EXAMPLES = """
  soft-sed-eval simulate betas ref.tsv -o sys.tsv --seed 1
  soft-sed-eval simulate data-sampling ref.tsv --train train.tsv -o sys.tsv
  soft-sed-eval simulate beta-noise ref.tsv --r 0.1 -o sys.parquet
  soft-sed-eval simulate perturb ref.tsv --drop 0.2 --jitter 0.5 --noise 0.1 -o sys.tsv
  soft-sed-eval simulate annotator ref.tsv --labels a.tsv --labels b.tsv -o sys.tsv
"""

METHODS = ("mean", "competence", "majority")
"""How a reference is made; a test holds them against the library, which help does not load."""

KINDS = ("betas", "shuffled-betas", "data-sampling", "constant", "beta-noise", "perturb", "annotator")
"""What can be simulated; a test holds them against the library, which help does not load."""

ANNOTATORS = "Annotators"
SIMULATED = "What is simulated"

FORCE = option(OUTPUT, "--force", is_flag=True, help="Replace a folder that is not empty.")

CONVERSION = (
    click.Argument(["source"], metavar="IN", type=PATH),
    click.Argument(["target"], metavar="OUT", type=PATH),
    option(OUTPUT, "--to", metavar="FORM",
           help=f"What is written: {', '.join(WRITTEN)}.  [default: what the extension of OUT says]"),
    option(OUTPUT, "--from", "source_form", metavar="FORM", default="", help="What IN must be."),
    option(OUTPUT, "--strict", is_flag=True, help="Write nothing where anything would be lost."),
    FORCE,
    QUIET,
    *options.INTAKE,
)  # fmt: skip

ANNOTATION = (
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
    options.DURATIONS,
    options.CLASSES,
    setting("segment_length", help="Length of a segment: each is a row of the reference."),
    setting("pool"),
)  # fmt: skip
"""The arguments of the library's function of that name."""

REFERENCE_MADE = (
    option(OUTPUT, "-o", "--output", type=PATH, metavar="FILE",
           help="Write the reference to a file, in the form of its extension; with - it is printed, and the "
           "agreement goes to standard error."),
    option(OUTPUT, "--to", metavar="FORM",
           help="Form of the reference: one of those that `soft-sed-eval convert` writes."),
    FORCE,
    option(OUTPUT, "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True,
           help="Form of the agreement."),
    QUIET,
)  # fmt: skip

SIMULATION = (
    option(SIMULATED, "--seed", type=int, default=0, show_default=True, metavar="N",
           help="Seed of the random numbers: the same seed gives the same system."),
    option(SIMULATED, "--train", type=PATH, metavar="TABLE",
           help="betas, shuffled-betas, data-sampling, constant: learn from this table, not from REFERENCE."),
    option(SIMULATED, "--fit", type=click.Choice(["moments", "likelihood"]),
           help="betas, shuffled-betas: how distributions are fitted.  [default: moments]"),
    option(SIMULATED, "--epsilon", type=number, metavar="NUMBER",
           help="--fit likelihood: values stay this far from 0 and 1.  [default: 1e-07]"),
    option(SIMULATED, "--value", type=number_or("prior"), metavar="NUMBER|prior",
           help="constant: this all the time, or the mean of each class.  [default: 0.5]"),
    option(SIMULATED, "--r", type=number, metavar="NUMBER", help="beta-noise: alpha = beta = r."),
    option(SIMULATED, "--drop", type=number, metavar="SHARE",
           help="perturb: silence events with this probability."),
    option(SIMULATED, "--merge", type=number, metavar="SHARE",
           help="perturb: fill gaps between events of a class with this probability."),
    option(SIMULATED, "--jitter", type=number, metavar="SECONDS",
           help="perturb: shift events by a normally distributed time of this standard deviation."),
    option(SIMULATED, "--smoothing", type=number, metavar="SECONDS",
           help="perturb: a moving average over about so long."),
    option(SIMULATED, "--noise", type=number, metavar="NUMBER",
           help="perturb: add normally distributed noise of this standard deviation."),
    option(SIMULATED, "--labels", multiple=True, type=PATH, metavar="TABLE",
           help="annotator: the labels of one annotator. Repeatable."),
    options.DURATIONS,
    options.CLASSES,
    setting("segment_length", help="Length of a segment: each is a row."),
    setting("pool"),
)  # fmt: skip
"""The arguments of the library's function of that name."""

SYSTEM_MADE = (
    option(OUTPUT, "-o", "--output", type=PATH, metavar="FILE",
           help="Write the table to a file, in the form of its extension.  [default: standard output]"),
    option(OUTPUT, "--to", metavar="FORM",
           help="Form of the table: one of those that `soft-sed-eval convert` writes."),
    FORCE,
    QUIET,
)  # fmt: skip


@click.command(cls=GroupedCommand, params=[*CONVERSION], epilog=epilog(CONVERT_EXAMPLES))
def convert(source: str, target: str, **given: Any) -> None:  # noqa: ANN401
    """Write a table in another form.

    IN is whatever can be evaluated: a table, a folder or an archive of tables, or - for standard input. OUT
    is a file, a folder (for maestro and score-dir, and where a form has a file for each recording), or - for
    standard output. What OUT cannot hold is said on standard error.
    """
    how = {name: given[name] for name in ("to", "source_form", "strict")}
    with options.limits_of(given) as limits:
        _hand_over(source, target, given, limits=limits, **how)


@click.command(
    cls=GroupedCommand,
    params=[
        click.Argument(["tables"], metavar="TABLE TABLE...", nargs=-1, required=True, type=PATH),
        *(*ANNOTATION, *REFERENCE_MADE, *options.INTAKE),
    ],
    epilog=epilog(ANNOTATE_EXAMPLES),
)
def annotate(tables: tuple[str, ...], **given: Any) -> None:  # noqa: ANN401
    """Make a soft reference of the labels of several annotators, and print how far they agree.

    Each TABLE is what one annotator says, in any form that can be evaluated, with values or without. Printed
    are Krippendorff's alpha, soft F of every two, competences, and the ceiling: what each annotator reaches
    against the reference of the others.
    """
    output: str | None = given["output"]
    standard_input = [*tables, given["ceiling_of"], given["durations"]].count("-")
    refuse(
        (len(tables) < 2, f"Expected the tables of two or more annotators, found {len(tables)}."),
        options.twice(tables, "TABLE"),
        (standard_input > 1, "Only one of TABLE and --ceiling-of can be standard input."),
        (
            output is None and (given["to"] or given["force"]),
            "--to and --force are of the reference; expected -o, too.",
        ),
    )
    others = {"system output": given["ceiling_of"], "table of durations": given["durations"]}
    check_files({"-o": output}, each_of("table of annotator", tables) | others)
    from sedeval_soft.report.render import json_document
    from sedeval_soft.tools.annotate import SCORES, annotation_text
    from sedeval_soft.tools.annotate import annotate as annotated

    printed = output is not None and to_standard_output(output)
    with options.limits_of(given) as limits:
        how = {"scores": SCORES} | _arguments(ANNOTATION, given)
        annotation = annotated([*tables], limits=limits, **how)
        # The reference first: what is printed cannot be taken back where it fails.
        if output is not None:
            to = given["to"] or ("long" if printed else None)
            _hand_over(annotation.reference, output, given, to=to, limits=limits)
    warn(annotation.warnings, quiet=given["quiet"])
    text = json_document(annotation.to_dict()) if given["form"] == "json" else annotation_text(annotation)
    if printed:
        remark(text.removesuffix("\n"))
    else:
        emit(text)


@click.command(
    cls=GroupedCommand,
    params=[
        click.Argument(["kind"], metavar="KIND", type=click.Choice(KINDS)),
        click.Argument(["reference"], metavar="REFERENCE", type=PATH),
        *(*SIMULATION, *SYSTEM_MADE, *options.INTAKE),
    ],
    epilog=epilog(SIMULATE_EXAMPLES),
)
def simulate(kind: str, reference: str, **given: Any) -> None:  # noqa: ANN401
    """Write the output of a made-up system, to read the scores of real ones against.

    \b
    KIND is one of
      betas           a beta distribution for each class, fitted to its values
      shuffled-betas  the same, but each class has the distribution of another
      data-sampling   whole time steps of the data, drawn at random
      constant        one value all the time
      beta-noise      a beta distribution that knows nothing of the data
      perturb         REFERENCE with errors of known effect
      annotator       the labels of an annotator, for each file one at random

    REFERENCE is the table that the system is to be scored against. Each row of the output is a segment.
    """  # noqa: D301 - click's mark for lines that stay as they are
    from sedeval_soft.errors import counted
    from sedeval_soft.tools.simulate import simulate as simulated

    output: str | None = given["output"]
    read = {"reference": reference, "training data": given["train"], "table of durations": given["durations"]}
    check_files({"-o": output}, read | each_of("labels of annotator", given["labels"]))
    standard_input = [reference, given["train"], *given["labels"]].count("-")
    refuse((standard_input > 1, "Only one of REFERENCE, --train and --labels can be standard input."))
    to = given["to"] or ("long" if to_standard_output(output) else None)
    with options.limits_of(given) as limits:
        rows = simulated(kind, reference, limits=limits, **_arguments(SIMULATION, given))
        _hand_over(rows, output, given, to=to, limits=limits)
    if not given["quiet"]:
        sizes = f"{counted(len(rows), 'row')}, {counted(len(rows.files), 'file')}"
        remark(f"simulated {kind}, seed {given['seed']}: {sizes}")


def _arguments(parameters: Sequence[click.Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that were given as arguments of a function of the library."""
    values = {str(each.name): given[str(each.name)] for each in parameters}
    values = {name: value for name, value in values.items() if value not in (None, ())}
    if "classes" in values:
        from sedeval_soft.settings_files import split_classes

        values["classes"] = split_classes(values["classes"])
    return values


def _hand_over(
    table: Any,  # noqa: ANN401 - rows, or the path of a table
    output: str | None,
    given: Mapping[str, Any],
    **how: Any,  # noqa: ANN401
) -> None:
    """Write rows, or a table that is read first, where they are wanted, and say what the form loses.

    how: the arguments of `prepare`; without `to` standard output gets long TSV. Raises SettingsError where a
    terminal would get what is no text.
    """
    from sedeval_soft.errors import SettingsError
    from sedeval_soft.tools.convert import prepare

    printed = to_standard_output(output)
    target = "-" if printed or output is None else output
    prepared = prepare(table, target, **how)
    name = prepared.form.name
    if printed:
        if not prepared.form.text and sys.stdout.isatty():
            raise SettingsError(f"{name} is no text for a terminal; expected the name of a file")
        click.echo(prepared.content(), nl=False)
    else:
        prepared.write(target, force=given["force"])
    warn([f"{name} loses {loss}" for loss in prepared.conversion.losses], quiet=given["quiet"])
