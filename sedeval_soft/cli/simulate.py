"""`soft-sed-eval simulate KIND REFERENCE`: systems to read a score against."""

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
from sedeval_soft.cli.output import each_of, hand_over, refuse_overwriting, remark, to_standard_output
from sedeval_soft.cli.settings import limits_of
from sedeval_soft.fields import OUTPUT, SCORING

EPILOG = """\b
Examples:
  soft-sed-eval simulate betas ref.tsv -o sys.tsv --seed 1
  soft-sed-eval simulate data-sampling ref.tsv --train train.tsv -o sys.tsv
  soft-sed-eval simulate beta-noise ref.tsv --r 0.1 -o sys.parquet
  soft-sed-eval simulate perturb ref.tsv --drop 0.2 --jitter 0.5 --noise 0.1 -o sys.tsv
  soft-sed-eval simulate annotator ref.tsv --labels a.tsv --labels b.tsv -o sys.tsv

\b
Exit status: 0 done, 2 the call or the input is wrong.
"""

KINDS = ("betas", "shuffled-betas", "data-sampling", "constant", "beta-noise", "perturb", "annotator")
"""What can be simulated; a test holds them against the library, which help does not load."""

SIMULATED = "What is simulated"


def level(text: str) -> float | str:
    """Return a number, or `prior`."""
    return text if text == "prior" else number(text)


OF_KINDS: tuple[Decorator, ...] = (
    option(SIMULATED, "--seed", type=int, default=0, show_default=True, metavar="N",
           help="Seed of the random numbers: the same seed gives the same system."),
    option(SIMULATED, "--train", type=PATH, metavar="TABLE",
           help="betas, shuffled-betas, data-sampling, constant: learn from this table, not from REFERENCE."),
    option(SIMULATED, "--fit", type=click.Choice(["moments", "likelihood"]),
           help="betas, shuffled-betas: how distributions are fitted.  [default: moments]"),
    option(SIMULATED, "--epsilon", type=number, metavar="NUMBER",
           help="--fit likelihood: values stay this far from 0 and 1.  [default: 1e-07]"),
    option(SIMULATED, "--value", type=level, metavar="NUMBER|prior",
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
)  # fmt: skip

OF_ALL: tuple[Decorator, ...] = (
    option(SCORING, "--durations", type=PATH, metavar="TSV",
           help="Table of filename and duration: how long files are, and which there are."),
    CLASSES,
    setting("segment_length", help="Length of a segment: each is a row."),
    setting("pool"),
    option(OUTPUT, "-o", "--output", type=PATH, metavar="FILE",
           help="Write the table to a file, in the form of its extension.  [default: standard output]"),
    option(OUTPUT, "--to", metavar="FORM",
           help="Form of the table: one of those that `soft-sed-eval convert` writes."),
    option(OUTPUT, "--force", is_flag=True, help="Replace a folder that is not empty."),
    QUIET,
)  # fmt: skip


@click.command(cls=GroupedCommand, epilog=EPILOG)
@click.argument("kind", metavar="KIND", type=click.Choice(KINDS))
@click.argument("reference", metavar="REFERENCE", type=PATH)
@add(OF_KINDS, OF_ALL, INTAKE)
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
    from sedeval_soft.settings_files import split_classes
    from sedeval_soft.tools.simulate import simulate as simulated

    output, form, force, quiet = (given.pop(name) for name in ("output", "to", "force", "quiet"))
    labels = each_of("labels of annotator", given["labels"])
    read = {"reference": reference, "training data": given["train"], "table of durations": given["durations"]}
    refuse_overwriting(output, read | labels)
    if [reference, given["train"], *labels.values()].count("-") > 1:
        raise click.UsageError("Only one of REFERENCE, --train and --labels can be standard input.")
    given["labels"] = given["labels"] or None
    given["classes"] = split_classes(given["classes"]) if given["classes"] else None
    form = form or ("long" if to_standard_output(output) else None)
    with limits_of(given) as limits:
        asked = {name: value for name, value in given.items() if value is not None}
        rows = simulated(kind, reference, limits=limits, **asked)
        hand_over(rows, output, force=force, quiet=quiet, to=form, limits=limits)
    if not quiet:
        sizes = f"{counted(len(rows), 'row')}, {counted(len(rows.files), 'file')}"
        remark(f"simulated {kind}, seed {given['seed']}: {sizes}")
