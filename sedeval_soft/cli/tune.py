"""`soft-sed-eval tune REFERENCE SYSTEM`: thresholds from data that are not those to be scored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from sedeval_soft.cli.options import (
    COUNTING,
    INTAKE,
    OBJECTIVE,
    PATH,
    TUNE,
    GroupedCommand,
    add,
    number,
    setting,
)
from sedeval_soft.cli.output import emit, refuse_overwriting, remark, to_standard_output
from sedeval_soft.cli.settings import limits_of, settings_files, settings_of

if TYPE_CHECKING:
    from sedeval_soft.tables.limits import Limits

EPILOG = """\b
Examples:
  soft-sed-eval tune dev_ref.tsv dev_sys.tsv -o thresholds.yaml
  soft-sed-eval ref.tsv sys.tsv --thresholds thresholds.yaml
  soft-sed-eval tune dev_ref.tsv dev_sys.tsv --objective event.f1 --min-gap 0.2

\b
Exit status: 0 done, 2 the call or the input is wrong.
"""

CUT = setting(
    "threshold",
    type=number,
    metavar="NUMBER",
    help="Reference values above it are active, unless --reference-threshold is given. Those of the "
    "system are found.",
)
VARIANT = setting("psds", help="Sets --dtc and --gtc as DCASE does for PSDS, where they are not given.")


@click.command(cls=GroupedCommand, epilog=EPILOG)
@click.argument("reference", metavar="REFERENCE", type=PATH)
@click.argument("system", metavar="SYSTEM", type=PATH)
@add((CUT, *COUNTING, VARIANT), OBJECTIVE, TUNE, INTAKE)
def tune(reference: str, system: str, **given: Any) -> None:  # noqa: ANN401
    """Find the threshold of each class that is best on some data, to score other data with it.

    REFERENCE and SYSTEM are tables as `soft-sed-eval` takes them. Thresholds that are found on the data that
    they are scored on flatter a system; those of a development set do not. Writes YAML: the thresholds, what
    they reach there, and between which thresholds all are as good.
    """
    with limits_of(given) as limits:
        _tune(reference, system, given, limits)


def _tune(reference: str, system: str, given: dict[str, Any], limits: Limits) -> None:
    """Find thresholds, and print or write them."""
    from dataclasses import replace

    from sedeval_soft import __version__
    from sedeval_soft.api import read_lengths, sides_of
    from sedeval_soft.evaluation.score import sign
    from sedeval_soft.evaluation.shard import shard_of_rows
    from sedeval_soft.evaluation.tuned import tune as find
    from sedeval_soft.report import write_atomic
    from sedeval_soft.settings_files import dump_thresholds

    output, quiet, durations = (given.pop(name) for name in ("output", "quiet", "durations"))
    read = {"reference": reference, "system output": system, "table of durations": durations}
    refuse_overwriting(output, read | settings_files(given["config"]))
    settings = settings_of(given, [], just=False, curves=False)
    objective = settings.objective or "segment.f1"
    only = (f"{objective.partition('.')[0]}.optimal",)
    settings = replace(
        settings,
        only=only,
        measures=(),
        thresholds=None,
        cross_tune=None,
        satisfice=None,
        reference_sweep=False,
        objective=objective,
    )
    rows = sides_of(reference, system, settings, limits)
    lengths = read_lengths(durations, limits)
    shard = shard_of_rows(*rows, settings, lengths)
    if not quiet:
        for warning in shard.findings.warnings(settings):
            remark(f"warning: {warning}")
    text = dump_thresholds(find(shard.tally, settings), sign(__version__, settings, shard.inputs, lengths))
    if to_standard_output(output):
        emit(text)
    else:
        write_atomic(output, text)
