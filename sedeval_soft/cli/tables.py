"""Commands of tables, without scoring them: `convert`, `simulate`, `validate`, and `tune`."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click
from click.exceptions import Exit

from sedeval_soft.cli import options
from sedeval_soft.cli.options import (
    FILE,
    PATH,
    QUIET,
    argument,
    command,
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

SIMULATE_EXAMPLES = """
  soft-sed-eval simulate betas ref.tsv -o sys.tsv --seed 1
  soft-sed-eval simulate data-sampling ref.tsv --train train.tsv -o sys.tsv
  soft-sed-eval simulate beta-noise ref.tsv --r 0.1 -o sys.parquet
  soft-sed-eval simulate perturb ref.tsv --drop 0.2 --jitter 0.5 -o sys.tsv
  soft-sed-eval simulate errors ref.tsv --rate onset=0.1 --rate split=0.05
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
    "betas", "shuffled-betas", "data-sampling", "constant", "beta-noise", "perturb", "errors", "annotator",
)  # fmt: skip
"""What can be simulated; a test holds them against the library, which help does not load."""

SIMULATED = "What is simulated"

FORCE = option(OUTPUT, "--force", is_flag=True, brief=True,
    help="Replace a folder that is not empty.")  # fmt: skip
MADE_FORM = option(OUTPUT, "--to", metavar="FORM",
    help="Form of the table that is written: one of those that `soft-sed-eval convert` writes.")  # fmt: skip
GRID = (
    options.DURATIONS,
    options.CLASSES,
    setting(
        "segment_length",
        help="Length of a segment; the table has a row for each.",
        brief="Length of a segment.",
    ),
    setting("pool"),
)

CONVERSION = (
    argument("IN", "source"),
    argument("OUT", "target"),
    option(OUTPUT, "--to", metavar="FORM",
        brief="Form of OUT, such as audacity or raven.",
        help=f"Form of OUT: {', '.join(WRITTEN)}.  [default: what the extension of OUT says; TSV for -]"),
    option(OUTPUT, "--strict", is_flag=True,
        brief="Write nothing if anything would be lost.",
        help="Write nothing if anything would be lost or had to be assumed."),
    setting("files", brief="Write only these recordings.", help="Write only these recordings: a list of "
        "names, or a table with a column of file names."),
    FORCE,
    QUIET,
    *options.INTAKE,
)  # fmt: skip


def _rates(_: object, __: object, texts: Sequence[str]) -> dict[str, float]:
    """Return shares by kind of error, as click calls it."""
    rates: dict[str, float] = {}
    for text in texts:
        kind, equals, share = text.partition("=")
        if not equals or kind in rates:
            expected = "given twice; expected each kind once" if equals else "expected KIND=SHARE"
            raise click.BadParameter(f"{text!r}: {expected}.")
        rates[kind] = number(share)
    return rates


SIMULATION = (
    option(SIMULATED, "--seed", type=int, default=0, show_default=True, metavar="N",
        brief="Seed of the random numbers.",
        help="Seed of the random numbers: the same seed gives the same system."),
    option(SIMULATED, "--train", type=PATH, metavar="TABLE",
        brief="Learn from this table, not from REFERENCE.",
        help="betas, shuffled-betas, data-sampling, constant: learn from this table, not from REFERENCE."),
    option(SIMULATED, "--fit", type=click.Choice(["moments", "likelihood"]),
        help="betas, shuffled-betas: how distributions are fitted.  [default: moments]"),
    option(SIMULATED, "--epsilon", type=number, metavar="NUMBER",
        help="--fit likelihood: keep values this far from 0 and 1.  [default: 1e-07]"),
    option(SIMULATED, "--value", type=number_or("prior"), metavar="NUMBER|prior",
        brief="constant: this value, or the mean of a class.",
        help="constant: this value all the time, or the mean of each class.  [default: 0.5]"),
    option(SIMULATED, "--r", type=number, metavar="NUMBER", brief=True,
        help="beta-noise: alpha = beta = r."),
    option(SIMULATED, "--drop", type=number, metavar="SHARE",
        brief=True,
        help="perturb: drop events with this probability."),
    option(SIMULATED, "--merge", type=number, metavar="SHARE",
        brief="perturb: fill gaps with this probability.",
        help="perturb: fill gaps between events of a class with this probability."),
    option(SIMULATED, "--jitter", type=number, metavar="SECONDS",
        brief="perturb: shift events by about this much.",
        help="perturb: shift events by a normally distributed time with this standard deviation."),
    option(SIMULATED, "--smoothing", type=number, metavar="SECONDS",
        brief="perturb: moving average over this time.",
        help="perturb: take a moving average over about this time."),
    option(SIMULATED, "--scale", type=number, metavar="NUMBER", brief=True,
        help="perturb: multiply values by this."),
    option(SIMULATED, "--noise", type=number, metavar="NUMBER",
        brief="perturb: add noise of about this size.",
        help="perturb: add normally distributed noise with this standard deviation."),
    option(SIMULATED, "--rate", "rates", multiple=True, metavar="KIND=SHARE", callback=_rates,
        brief="errors: the share of events with such an error.",
        help="errors: the share of events with an error of this kind: missed, background, onset, offset, "
        "both_boundaries, split, merge, duplicate, confusion or confusion_and_boundary. Repeatable; 1 in all "
        "at most."),
    option(SIMULATED, "--shift", type=number, metavar="SECONDS",
        brief="errors: how far ends of events move.",
        help="errors: how far wrong onsets and offsets are off; offsets six tenths of their event if that is "
        "more.  [default: 0.5]"),
    option(SIMULATED, "--labels", multiple=True, type=PATH, metavar="TABLE",
        brief="annotator: the labels of one annotator.",
        help="annotator: the labels of one annotator. Repeatable."),
    *GRID,
)  # fmt: skip
"""The arguments of the library's function of that name."""

SYSTEM_MADE = (
    option(OUTPUT, "-o", "--output", type=PATH, metavar="FILE",
        brief="Write the table to a file.",
        help="Write the table to a file, in the form of its extension.  [default: standard output]"),
    MADE_FORM,
    FORCE,
    QUIET,
)  # fmt: skip


REPORTS = ("text", "json", "sarif", "github")

_HELD = "What the table is held against"

VALIDATION = (
    argument("SYSTEM...", "systems", nargs=-1, required=True),
    option(_HELD, "--reference", type=PATH, metavar="REFERENCE",
        brief="Table that it will be scored against.",
        help="Table that it will be scored against, which has the names of files and classes and the lengths "
        "of recordings."),
    option(_HELD, "--durations", type=PATH, metavar="TSV", brief="Table with the length of each file.",
        help="Table of filename and duration."),
    option(_HELD, "--files", type=PATH, metavar="LIST", brief="Recordings that will be scored.",
        help="List of the recordings that will be scored, or a table with a column of file names; others are "
        "ignored."),
    option(_HELD, "--preset", metavar="NAME",
        brief="Challenge whose classes are allowed.",
        help="Challenge whose classes are allowed, as `soft-sed-eval presets` lists them."),
    option(_HELD, "--config", type=FILE, metavar="YAML",
        brief="File of settings with classes and files.",
        help="File of settings: its `classes` are allowed, its `files` will be scored."),
    option(OUTPUT, "--max-problems", type=click.IntRange(min=1), default=100, show_default=True, metavar="N",
        brief="How many problems are listed.", help="How many problems are listed; all are counted."),
    option(OUTPUT, "--strict", is_flag=True,
        brief=True, help="Exit with 1 for warnings, too: scoring with --strict refuses these."),
    *options.result_forms(REPORTS, metavar="FORM", brief="text, json, sarif (code scanning) or github.",
        help="Form of the report: text for people, json for programs, sarif for code scanning, github for "
        "GitHub Actions."),
    option(OUTPUT, "-q", "--quiet", is_flag=True,
        brief="Print nothing about a SYSTEM that passes.", help="Print nothing about a SYSTEM that passes. "
        "With -o, json or sarif the report is complete all the same."),
    option(OUTPUT, "--fix", type=PATH, metavar="FILE", brief="Write a corrected copy.",
        help="Write a copy with corrections that are safe, and report these and the problems that remain."),
    options.POINTS,
    *options.INTAKE,
)  # fmt: skip

TUNING = (
    argument("REFERENCE"),
    argument("SYSTEM"),
    setting("threshold", type=number, metavar="NUMBER", help="The reference is active where its values are "
        "above this, unless --reference-threshold is given. Thresholds of the system are what is looked for.",
        brief="Above it, the reference is active."),
    *options.COUNTING,
    setting("psds", help="Set --dtc and --gtc as DCASE does for PSDS, where they are not given: "
        "dcase-psds1 or dcase-psds2.", brief=""),
    setting("objective", brief="Such as event.f1 or segment.error_rate."),
    *options.READ,
    option(OUTPUT, "-o", "--output", type=PATH, metavar="FILE",
        brief="Write the thresholds to a file.",
        help="Write the thresholds to a file. If something fails, the file stays as it was."),
    QUIET,
    *options.INTAKE,
)  # fmt: skip


@command(CONVERT_EXAMPLES, *CONVERSION)
def convert(source: str, target: str, **given: Any) -> None:  # noqa: ANN401
    """Write a table in another form.

    IN is whatever can be evaluated: a table, a folder or an archive of tables, or - for standard input. OUT
    is a file, a folder (for maestro and score-dir, and for forms with a file for each recording), or - for
    standard output. What the form of OUT cannot hold is named on standard error.
    """
    how = {name: given[name] for name in ("to", "strict", "files")}
    with options.limits_of(given) as limits:
        hand_over(source, target, given, limits=limits, **how)


@command(
    SIMULATE_EXAMPLES,
    argument("KIND", type=click.Choice(KINDS)),
    argument("REFERENCE"),
    *(*SIMULATION, *SYSTEM_MADE, *options.INTAKE),
)
def simulate(kind: str, reference: str, **given: Any) -> None:  # noqa: ANN401
    """Make up the output of a system, to compare real ones with.

    \b
    KIND is one of
      betas           a beta distribution for each class, fitted to its values
      shuffled-betas  the same, but each class has the distribution of another
      data-sampling   whole time steps of the data, drawn at random
      constant        one value all the time
      beta-noise      a beta distribution that knows nothing of the data
      perturb         REFERENCE with errors of known effect
      errors          the events of REFERENCE with errors of known kinds
      annotator       the labels of an annotator, for each file one at random

    REFERENCE is the table that the system is to be scored against. Each row of the output is a segment, or an
    event where KIND is errors.
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
        rows = simulated(kind, reference, limits=limits, **arguments_of(SIMULATION, given))
        hand_over(rows, output, given, to=to, limits=limits)
    if not given["quiet"]:
        sizes = f"{counted(len(rows), 'row')}, {counted(len(rows.files), 'file')}"
        remark(f"simulated {kind}, seed {given['seed']}: {sizes}")


@command(
    VALIDATE_EXAMPLES,
    *VALIDATION,
    status="0 no errors, 1 errors (with --strict: or warnings), 2 wrong call or input.",
)
def validate(systems: tuple[str, ...], **given: Any) -> None:  # noqa: ANN401
    """Find all problems in a system's output before it is scored.

    SYSTEM is a table or a folder as `soft-sed-eval` takes them; several are checked one by one. A table with
    errors cannot be scored; one with warnings can, but is probably not what was meant.
    """
    from sedeval_soft.api.sources import settings_from
    from sedeval_soft.api.validation import validate as validated
    from sedeval_soft.report.validation import render_validation

    several, form, output, fix = len(systems) > 1, given["form"], given["output"], given["fix"]
    config, reference = given["config"], given["reference"]
    one_file = fix and output and os.path.realpath(output) == os.path.realpath(fix)
    refuse(
        (given["preset"] and config, "--preset and --config both set classes; expected one of them."),
        ([*systems, reference].count("-") > 1, "Only one of SYSTEM and --reference can be standard input."),
        (several and fix is not None, "--fix needs exactly one SYSTEM, as it writes one copy."),
        (several and form in {"json", "sarif"},
         f"--format {form} holds just one SYSTEM; expected text or github."),
        (fix is not None and to_standard_output(fix),
         "--fix writes a file; standard output has the report."),
        (one_file, "-o and --fix name the same file; expected two."),
    )  # fmt: skip
    read = {"reference": reference, "table of durations": given["durations"], "list of files": given["files"]}
    read |= each_of("system output", systems) | options.settings_files(config)
    check_files({"-o": output, "--fix": fix}, read)
    how = {name: given[name] for name in ("durations", "preset", "max_problems", "fix")}
    with options.limits_of(given) as limits:
        classes, files = None, given["files"]
        if config is not None:
            values = options.file_values(None, config)
            classes = settings_from(None, {"classes": values.get("classes")}).classes
            files = files or values.get("files")
        how |= {"classes": classes, "files": files, "limits": limits}
        results = [validated(each, reference, **how) for each in systems]
    failed = [result for result in results if not result.ok or (given["strict"] and result.count("warning"))]
    # Files, and documents for programs, are complete.
    brief = given["quiet"] and to_standard_output(output) and form in {"text", "github"}
    report = "".join(render_validation(result, form) for result in (failed if brief else results))
    emit(report, output, exact=form == "github")
    raise Exit(1 if failed else 0)


@command(TUNE_EXAMPLES, *TUNING)
def tune(reference: str, system: str, **given: Any) -> None:  # noqa: ANN401
    """Find the best threshold of each class, to score other data.

    REFERENCE and SYSTEM are tables as `soft-sed-eval` takes them. Thresholds flatter a system where they are
    found on the very data that is scored; those from a development set do not. Writes YAML: the thresholds,
    the scores that they reach there, and the range of thresholds that do as well.
    """
    from dataclasses import replace

    from sedeval_soft import __version__
    from sedeval_soft.api.sources import read_lengths, sides_of
    from sedeval_soft.evaluation.optimal import tune as find
    from sedeval_soft.evaluation.shard import shard_of_rows
    from sedeval_soft.evaluation.signature import sign
    from sedeval_soft.settings_files import dump_thresholds

    output, durations = given["output"], given["durations"]
    with options.limits_of(given) as limits:
        read = {"reference": reference, "system output": system, "table of durations": durations}
        read |= {"list of files": given["files"], "table of regions": given["regions"]}
        check_files({"-o": output}, read | options.settings_files(given["config"]))
        settings = options.settings_of(given)
        objective = settings.objective or "segment.f1"
        settings = replace(
            settings, objective=objective, only=(f"{objective.partition('.')[0]}.optimal",), measures=(),
            thresholds=None, cross_tune=None, satisfice=None, reference_sweep=False,
        )  # fmt: skip
        rows = sides_of(reference, system, settings, limits)
        lengths = read_lengths(durations, limits)
        shard = shard_of_rows(*rows, settings, lengths)
        warn(shard.findings.warnings(settings), quiet=given["quiet"])
        tuning = find(shard.tally, settings)
        tuning["signature"] = sign(__version__, settings, shard.inputs, lengths).full
        emit(dump_thresholds(tuning), output)


def arguments_of(parameters: Sequence[click.Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that were given as arguments of a function of the library."""
    values = {str(each.name): given[str(each.name)] for each in parameters}
    return {name: value for name, value in values.items() if value not in (None, (), {})}


def hand_over(
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
        if not prepared.form.of_text and sys.stdout.isatty():
            raise SettingsError(f"{name} is not text for a terminal; expected the name of a file")
        click.echo(prepared.content(), nl=False)
    else:
        prepared.write(target, force=given["force"])
    losses = [f"{name} loses {loss}" for loss in prepared.conversion.losses]
    warn([*prepared.conversion.notes, *losses], quiet=given["quiet"])
