"""Commands of tables, without scoring them: `convert`, `simulate`, `validate`, and `tune`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import click
from click.exceptions import Exit

import sedeval_soft as library
from sedeval_soft import api, report
from sedeval_soft.cli import options
from sedeval_soft.cli.command import (
    FILE,
    PATH,
    Option,
    argument,
    command,
    number,
    number_or,
    refuse,
    setting,
)
from sedeval_soft.cli.options import QUIET
from sedeval_soft.cli.output import emit, remark, to_standard_output, warn
from sedeval_soft.errors import SettingsError, counted
from sedeval_soft.fields import OUTPUT, SCORING
from sedeval_soft.tables.forms import WRITTEN

CONVERT_EXAMPLES = """
  soft-sed-eval convert sys.tsv sys.parquet
  soft-sed-eval convert sys.tsv scores/ --to score-dir
  soft-sed-eval convert ref.tsv labels/ --to audacity
  soft-sed-eval convert scores.zip - --to long
"""

SIMULATE_EXAMPLES = """
  soft-sed-eval simulate betas ref.tsv -o sys.tsv --seed 1
  soft-sed-eval simulate data-sampling ref.tsv --train train.tsv -o sys.tsv
  soft-sed-eval simulate beta-noise ref.tsv --r 0.1 -o sys.parquet
  soft-sed-eval simulate perturb ref.tsv --drop 0.2 --jitter 0.5 -o sys.tsv
  soft-sed-eval simulate annotator ref.tsv --labels a.tsv --labels b.tsv
"""

VALIDATE_EXAMPLES = """
  soft-sed-eval validate sys.tsv
  soft-sed-eval validate sys.tsv --reference ref.tsv
  soft-sed-eval validate sys.tsv --preset dcase2019-task4 --format github
  soft-sed-eval validate sys.tsv --reference ref.tsv --fix mended.tsv
  soft-sed-eval validate *.tsv --strict
"""

TUNE_EXAMPLES = """
  soft-sed-eval tune dev_ref.tsv dev_sys.tsv -o thresholds.yaml
  soft-sed-eval ref.tsv sys.tsv --thresholds thresholds.yaml
  soft-sed-eval tune dev_ref.tsv dev_sys.tsv --objective event.f1
"""

KINDS = (
    "betas", "shuffled-betas", "data-sampling", "constant", "beta-noise", "perturb", "annotator",
)  # fmt: skip
"""Kinds of simulated systems; a test compares them with the library, which help does not load."""

SIMULATED = "Simulation"
ANNOTATORS = "Annotators"

FORCE = Option(OUTPUT, "--force", is_flag=True, brief=True,
    help="Replace a folder that is not empty.")  # fmt: skip
MADE_FORM = Option(OUTPUT, "--to", metavar="FORM",
    help="Form of the table that is written: one of those that `soft-sed-eval convert` writes.")  # fmt: skip
GRID = (
    Option(
        SCORING,
        "--durations",
        type=PATH,
        metavar="TSV",
        help="Table of filename and duration: how long files are, and which files there are.",
    ),
    setting(
        "classes",
        brief="Only these classes.",
        help="Only these classes. Repeatable; a name with a comma needs quotes: '\"a, b\",c'.",
    ),
    setting(
        "segment_length",
        help="Length of a segment; the table has a row for each.",
        brief="Length of a segment.",
    ),
    setting("pool", brief=""),
)


SIMULATION = (
    Option(SIMULATED, "--seed", type=int, default=0, show_default=True, metavar="N",
        brief="Seed of the random numbers.",
        help="Seed of the random numbers: the same seed gives the same system."),
    Option(SIMULATED, "--train", type=PATH, metavar="TABLE",
        brief="Learn from this table, not from REFERENCE.",
        help="betas, shuffled-betas, data-sampling, constant: learn from this table, not from REFERENCE."),
    Option(SIMULATED, "--fit", type=click.Choice(["moments", "likelihood"]),
        help="betas, shuffled-betas: how distributions are fitted.  [default: moments]"),
    Option(SIMULATED, "--epsilon", type=number, metavar="NUMBER",
        help="--fit likelihood: keep values this far from 0 and 1.  [default: 1e-07]"),
    Option(SIMULATED, "--value", type=number_or("prior"), metavar="NUMBER|prior",
        brief="constant: this value, or the mean of a class.",
        help="constant: this value all the time, or the mean of each class.  [default: 0.5]"),
    Option(SIMULATED, "--r", type=number, metavar="NUMBER", brief=True,
        help="beta-noise: alpha = beta = r."),
    Option(SIMULATED, "--drop", type=number, metavar="SHARE",
        brief=True,
        help="perturb: drop events with this probability."),
    Option(SIMULATED, "--merge", type=number, metavar="SHARE",
        brief="perturb: fill gaps with this probability.",
        help="perturb: fill gaps between events of a class with this probability."),
    Option(SIMULATED, "--jitter", type=number, metavar="SECONDS",
        brief="perturb: shift events by about this much.",
        help="perturb: shift events by a normally distributed time with this standard deviation."),
    Option(SIMULATED, "--smoothing", type=number, metavar="SECONDS",
        brief="perturb: moving average over this time.",
        help="perturb: take a moving average over about this time."),
    Option(SIMULATED, "--scale", type=number, metavar="NUMBER", brief=True,
        help="perturb: multiply values by this."),
    Option(SIMULATED, "--noise", type=number, metavar="NUMBER",
        brief="perturb: add noise of about this size.",
        help="perturb: add normally distributed noise with this standard deviation."),
    Option(SIMULATED, "--labels", multiple=True, type=PATH, metavar="TABLE",
        brief="annotator: the labels of one annotator.",
        help="annotator: the labels of one annotator. Repeatable."),
    *GRID,
)  # fmt: skip
"""The arguments of the library's function of that name."""


REPORTS = ("text", "json", "sarif", "github")

_HELD = "Compared with"


ANNOTATE_EXAMPLES = """
  soft-sed-eval annotate a.tsv b.tsv c.tsv
  soft-sed-eval annotate a.tsv b.tsv c.tsv -o ref.tsv --method competence
  soft-sed-eval annotate a.tsv b.tsv c.tsv --system sys.tsv
  soft-sed-eval annotate a.tsv b.tsv c.tsv --events consensus -o ref.tsv
"""

METHODS = ("mean", "competence", "dawid-skene", "majority")
"""Methods to make a reference; a test compares them with the library, which help does not load."""

ANNOTATION = (
    Option(ANNOTATORS, "--method", type=click.Choice(METHODS), default="mean", show_default=True,
        metavar="METHOD", brief="mean, competence, dawid-skene, majority.",
        help="How labels are combined: mean of all who labelled a file; competence: mean weighted by how "
        "reliable each annotator is (MACE); dawid-skene: probability of the class, by how often each "
        "annotator hears it and makes it up (Dawid & Skene 1979); majority: 1 where more than half are above "
        "the threshold."),
    Option(ANNOTATORS, "--continuous", is_flag=True, default=None,
        brief="Keep the annotators' own boundaries.",
        help="The reference begins and ends where annotators do, also where tables have values in time steps "
        "or --segment-length is given. Where neither is so, this needs no option."),
    Option(ANNOTATORS, "--events", "consensus", type=click.Choice(["consensus"]), metavar="consensus",
        callback=lambda _, __, value: True if value else None,
        brief="Reference of events that mean the same.",
        help="The reference has consensus events: clusters of annotators' events that mean the same, one of "
        "each at the most, from the median onset to the median offset. The value is the share of those who "
        "labelled the file and have it; --method weights it, or takes those of more than half."),
    Option(ANNOTATORS, "--same-iou", type=number, metavar="SHARE",
        brief="IoU from which on events mean the same.",
        help="With --events consensus: the mean intersection over union from which on events mean the same.  "
        "[default: 0.3]"),
    Option(ANNOTATORS, "--missing", type=click.Choice(["silent", "unlabelled"]), metavar="HOW",
        brief="If a table lacks a file: silent, unlabelled.",
        help="Whether a file of which a table has no row is silent, labelled and nothing heard, or "
        "unlabelled, so that this annotator counts for nothing there. Must be given if there is such a file; "
        "a row with just its name says that it was labelled."),
    Option(ANNOTATORS, "--ceiling-of", type=PATH, metavar="SYSTEM",
        brief="Compare a system with annotators.",
        help="Also give the scores of a system as a share of what annotators reach."),
    Option(ANNOTATORS, "--system", "systems", multiple=True, type=PATH, metavar="SYSTEM",
        brief="How sure its scores are; its place.",
        help="Also give the scores of a system with their intervals over annotators and files, over the "
        "number of annotators, and against each of them with its place among them. Repeatable: of several it "
        "is said how many annotators it takes to rank them."),
    Option(ANNOTATORS, "--score", "scores", multiple=True, metavar="NAME",
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


@command(
    CONVERT_EXAMPLES,
    argument("IN", "source"),
    argument("OUT", "target"),
    Option(OUTPUT, "--to", metavar="FORM",
        brief="Form of OUT, such as audacity or raven.",
        help=f"Form of OUT: {', '.join(WRITTEN)}.  [default: by the extension of OUT; TSV for -]"),
    Option(OUTPUT, "--strict", is_flag=True,
        brief="Write nothing if anything would be lost.",
        help="Write nothing if anything would be lost or had to be assumed."),
    setting("files", brief="Write only these recordings.", help="Write only these recordings: a list of "
        "names, or a table with a column of file names."),
    FORCE,
    QUIET,
    *options.INTAKE,
)  # fmt: skip
def convert(
    source: str, target: str, asked: api.Request, limits: library.Limits, to: str | None, force: bool,
    quiet: bool,
) -> None:  # fmt: skip
    """Write a table in another form.

    IN is whatever can be evaluated: a table, a folder or an archive of tables, or - for standard input. OUT
    is a file, a folder (for maestro and score-dir, and for forms with a file for each recording), or - for
    standard output. Warnings on standard error name the data that the form of OUT loses.
    """
    hand_over(source, target, to=to, force=force, quiet=quiet, limits=limits, **asked.values)


@command(
    SIMULATE_EXAMPLES,
    argument("KIND", type=click.Choice(KINDS)),
    argument("REFERENCE"),
    *SIMULATION,
    Option(OUTPUT, "-o", "--output", type=PATH, metavar="FILE",
        brief="Write the table to a file.",
        help="Write the table to a file, in the form of its extension.  [default: standard output]"),
    MADE_FORM,
    FORCE,
    QUIET,
    *options.INTAKE,
)  # fmt: skip
def simulate(
    kind: str, reference: str, asked: api.Request, limits: library.Limits, output: str | None,
    to: str | None, force: bool, quiet: bool, train: str | None, labels: tuple[str, ...],
    **how: Any,  # noqa: ANN401 - as the library's function has it
) -> None:  # fmt: skip
    """Make up the output of a system, to compare real ones with.

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
    how |= {"train": train, "labels": labels, "durations": asked.durations, **asked.values}
    rows = library.simulate(kind, reference, limits=limits, **only_given(how))
    hand_over(rows, output, to=to, force=force, quiet=quiet, limits=limits)
    if not quiet:
        sizes = f"{counted(len(rows), 'row')}, {counted(len(rows.files), 'file')}"
        remark(f"simulated {kind}, seed {asked.values['seed']}: {sizes}")


@command(
    VALIDATE_EXAMPLES,
    argument("SYSTEM...", "systems", nargs=-1, required=True),
    Option(_HELD, "--reference", type=PATH, metavar="REFERENCE",
        brief="Table that it will be scored against.",
        help="Table that it will be scored against, which has the names of files and classes and the lengths "
        "of recordings."),
    Option(_HELD, "--durations", type=PATH, metavar="TSV", brief="Table with the length of each file.",
        help="Table of filename and duration."),
    Option(_HELD, "--files", type=PATH, metavar="LIST", brief="Recordings that will be scored.",
        help="List of the recordings that will be scored, or a table with a column of file names; others are "
        "ignored."),
    Option(_HELD, "--preset", metavar="NAME",
        brief="Challenge whose classes are allowed.",
        help="Challenge whose classes are allowed, as `soft-sed-eval presets` lists them."),
    Option(_HELD, "--config", type=FILE, metavar="YAML",
        brief="File of settings with classes and files.",
        help="File of settings: its `classes` are allowed, its `files` will be scored."),
    Option(OUTPUT, "--max-problems", type=click.IntRange(min=1), default=100, show_default=True, metavar="N",
        brief="How many problems are listed.", help="How many problems are listed; all are counted."),
    Option(OUTPUT, "--strict", is_flag=True,
        brief=True, help="Exit with 1 for warnings, too: scoring with --strict refuses these."),
    *options.result_forms(REPORTS, metavar="FORM", brief="text, json, sarif (code scanning) or github.",
        help="Form of the report: text for people, json for programs, sarif for code scanning, github for "
        "GitHub Actions."),
    Option(OUTPUT, "-q", "--quiet", is_flag=True,
        brief="Print nothing about a SYSTEM that passes.", help="Print nothing about a SYSTEM that passes. "
        "With -o, json or sarif the report is complete."),
    Option(OUTPUT, "--fix", type=PATH, metavar="FILE", brief="Write a corrected copy.",
        help="Write a copy with corrections that are safe, and report these and the problems that remain."),
    options.POINTS,
    *options.INTAKE,
    status="0 no errors, 1 errors (with --strict: or warnings), 2 wrong call or input.",
)  # fmt: skip
def validate(
    systems: tuple[str, ...], asked: api.Request, limits: library.Limits, reference: str | None, form: str,
    output: str | None, fix: str | None, max_problems: int, quiet: bool,
) -> None:  # fmt: skip
    """Find all problems in a system's output before it is scored.

    SYSTEM is a table or a folder as `soft-sed-eval` takes them; several are checked one by one. A table with
    errors cannot be scored; one with warnings can, but is probably not what was meant.
    """
    one = "--fix" if fix is not None else f"--format {form}" if form in {"json", "sarif"} else ""
    refuse((len(systems) > 1 and one, f"{one} needs one SYSTEM, as it writes one copy or one report."))
    how: dict[str, Any] = {"fix": fix, "max_problems": max_problems, "limits": limits, **asked.expected}
    results = [library.validate(each, reference, **how) for each in systems]
    strict = asked.values.get("strict")
    failed = [result for result in results if not result.ok or (strict and result.count("warning"))]
    # Files, and documents for programs, are complete.
    brief = quiet and to_standard_output(output) and form in {"text", "github"}
    text = "".join(report.render_validation(result, form) for result in (failed if brief else results))
    emit(text, output, exact=form == "github")
    raise Exit(1 if failed else 0)


@command(
    TUNE_EXAMPLES,
    argument("REFERENCE"),
    argument("SYSTEM"),
    setting("threshold", type=number, metavar="NUMBER", help="The reference is active where its values are "
        "above this, unless --reference-threshold is given. Thresholds of the system are what is looked for.",
        brief="Above it, the reference is active."),
    *options.COUNTING,
    setting("psds", help="Set dtc and gtc as DCASE does for PSDS, if they are not given: "
        "dcase-psds1 or dcase-psds2.", brief="", multiple=False),
    setting("objective", brief="Such as event.f1 or segment.error_rate."),
    *options.READ,
    Option(OUTPUT, "-o", "--output", type=PATH, metavar="FILE",
        brief="Write the thresholds to a file.",
        help="Write the thresholds to a file. If something fails, the file stays as it was."),
    QUIET,
    *options.INTAKE,
)  # fmt: skip
def tune(
    reference: str, system: str, asked: api.Request, limits: library.Limits, output: str | None, quiet: bool
) -> None:
    """Find the best threshold of each class, to score other data.

    REFERENCE and SYSTEM are tables as `soft-sed-eval` takes them. Scores are too
    good if the thresholds were tuned on the scored data: tune on a development set. Writes YAML: the
    thresholds, the scores that they reach there, and the range of equally good thresholds.
    """
    from sedeval_soft.settings_files import dump_thresholds

    tuning, warnings, settings = api.tune(reference, system, asked.settings(), asked.durations, limits)
    asked.check(settings, also=("objective",))
    warn(warnings, quiet=quiet)
    emit(dump_thresholds(tuning), output)


@command(
    ANNOTATE_EXAMPLES,
    argument("TABLE TABLE...", "tables", nargs=-1, required=True),
    *ANNOTATION,
    Option(OUTPUT, "-o", "--output", type=PATH, metavar="FILE", brief="Write the reference to a file.",
        help="Write the reference to a file, in the form of its extension. With - it is printed, and the "
        "agreement goes to standard error."),
    MADE_FORM,
    FORCE,
    Option(OUTPUT, "--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True,
        brief=True, help="Form of the agreement."),
    QUIET,
    *options.INTAKE,
)  # fmt: skip
def annotate(
    tables: tuple[str, ...], asked: api.Request, limits: library.Limits, systems: tuple[str, ...],
    ceiling_of: str | None, output: str | None, to: str | None, force: bool, form: str, quiet: bool,
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
    )
    from sedeval_soft.apps.annotators.page import annotation_text

    how |= {"systems": systems, "ceiling_of": ceiling_of, "durations": asked.durations, **asked.values}
    annotation = library.annotate([*tables], limits=limits, **only_given(how))
    # The reference first: what is printed cannot be taken back where it fails.
    if output is not None:
        hand_over(annotation.reference, output, to=to, force=force, quiet=quiet, limits=limits)
    warn(annotation.warnings, quiet=quiet)
    text = report.json_document(annotation.to_dict()) if form == "json" else annotation_text(annotation)
    if output is not None and to_standard_output(output):
        remark(text.removesuffix("\n"))
    else:
        emit(text)


def only_given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options that were given, as arguments of a function that has defaults."""
    return {name: value for name, value in options.items() if value not in (None, (), {})}


def hand_over(
    table: Any,  # noqa: ANN401 - rows, or the path of a table
    output: str | None,
    *,
    to: str | None,
    force: bool,
    quiet: bool,
    **how: Any,  # noqa: ANN401
) -> None:
    """Write rows, or a table that is read first, to a file or standard output; warn of losses.

    to: the form; rows get long TSV on standard output. how: other arguments of `prepare`. Raises
    SettingsError if a terminal would get a form that is not text.
    """
    from sedeval_soft.tools.convert import prepare

    printed = to_standard_output(output)
    to = to or ("long" if printed and not isinstance(table, str) else None)
    prepared = prepare(table, "-" if printed else output or "", to=to, **how)
    form = prepared.form
    if printed:
        if not form.of_text and sys.stdout.isatty():
            raise SettingsError(f"{form.name} is not text for a terminal; expected the name of a file")
        click.echo(prepared.content(), nl=False)
    else:
        prepared.write(output or "", force=force)
    losses = [f"{form.name} loses {loss}" for loss in prepared.conversion.losses]
    warn([*prepared.conversion.notes, *losses], quiet=quiet)
