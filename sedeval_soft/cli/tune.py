"""`soft-sed-eval tune REFERENCE SYSTEM`: thresholds from data that are not those to be scored."""

from __future__ import annotations

from typing import Any

import click

from sedeval_soft.cli import options
from sedeval_soft.cli.options import PATH, QUIET, GroupedCommand, epilog, number, option, setting
from sedeval_soft.cli.output import check_files, emit, warn
from sedeval_soft.fields import OUTPUT

EXAMPLES = """
  soft-sed-eval tune dev_ref.tsv dev_sys.tsv -o thresholds.yaml
  soft-sed-eval ref.tsv sys.tsv --thresholds thresholds.yaml
  soft-sed-eval tune dev_ref.tsv dev_sys.tsv --objective event.f1 --min-gap 0.2
"""

TUNE = (
    click.Argument(["reference"], metavar="REFERENCE", type=PATH),
    click.Argument(["system"], metavar="SYSTEM", type=PATH),
    setting("threshold", type=number, metavar="NUMBER",
            help="Reference values above it are active, unless --reference-threshold is given. Those of the "
            "system are found."),
    *options.COUNTING,
    setting("psds", help="Sets --dtc and --gtc as DCASE does for PSDS, where they are not given."),
    options.OBJECTIVE,
    *options.READ,
    option(OUTPUT, "-o", "--output", type=PATH, metavar="FILE",
           help="Write the thresholds to a file; it is complete or not touched."),
    QUIET,
    *options.INTAKE,
)  # fmt: skip


@click.command(cls=GroupedCommand, params=[*TUNE], epilog=epilog(EXAMPLES))
def tune(reference: str, system: str, **given: Any) -> None:  # noqa: ANN401
    """Find the threshold of each class that is best on some data, to score other data with it.

    REFERENCE and SYSTEM are tables as `soft-sed-eval` takes them. Thresholds that are found on the data that
    they are scored on flatter a system; those of a development set do not. Writes YAML: the thresholds, what
    they reach there, and between which thresholds all are as good.
    """
    from dataclasses import replace

    from sedeval_soft import __version__
    from sedeval_soft.api import read_lengths, sides_of
    from sedeval_soft.evaluation.optimal import tune as find
    from sedeval_soft.evaluation.shard import shard_of_rows
    from sedeval_soft.evaluation.system_scores import sign
    from sedeval_soft.settings_files import dump_thresholds

    output, durations = given["output"], given["durations"]
    with options.limits_of(given) as limits:
        read = {"reference": reference, "system output": system, "table of durations": durations}
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
        tuning["signature"] = sign(__version__, settings, shard.inputs, lengths)
        emit(dump_thresholds(tuning), output)
