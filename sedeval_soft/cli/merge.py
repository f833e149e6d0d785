"""`soft-sed-eval merge TALLY...`: scores from statistics that were counted elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from sedeval_soft.cli.options import LIMITED, PARTS, PATH, RESULTS, SURE, GroupedCommand, add
from sedeval_soft.cli.output import check_tally_path, each_of, progress, refuse_overwriting
from sedeval_soft.cli.settings import check_intervals, check_resampling, check_wanted, limits_of

if TYPE_CHECKING:
    from sedeval_soft.tables.limits import Limits

EPILOG = """\b
Examples:
  soft-sed-eval shard1/ref.tsv shard1/sys.tsv --save-tally 1.tally
  soft-sed-eval shard2/ref.tsv shard2/sys.tsv --save-tally 2.tally
  soft-sed-eval merge 1.tally 2.tally --ci

\b
Exit status: 0 done, 1 a requirement was not met, 2 the call or the input is wrong.
"""


@click.command(cls=GroupedCommand, epilog=EPILOG)
@click.argument("tallies", metavar="TALLY...", nargs=-1, required=True, type=PATH)
@add(PARTS, SURE, RESULTS, LIMITED)
@click.pass_context
def merge(ctx: click.Context, /, tallies: tuple[str, ...], **given: Any) -> None:  # noqa: ANN401
    """Score tallies that --save-tally wrote, as if all their files had been evaluated at once.

    The tallies must be of the same settings and of different files. In whatever order they come, and however
    files were split among them, the scores are the same to the last digit.
    """
    with limits_of(given) as limits:
        ctx.exit(_merge(tallies, given, limits))


def _merge(tallies: Sequence[str], given: dict[str, Any], limits: Limits) -> int:
    """Score tallies and print; return the exit code."""
    from dataclasses import replace

    from sedeval_soft import __version__
    from sedeval_soft.api import merge_tallies, read_parts
    from sedeval_soft.cli.present import Presentation
    from sedeval_soft.evaluation.score import score_shard
    from sedeval_soft.evaluation.tally_file import pack_shard
    from sedeval_soft.report import write_atomic

    shown = Presentation.of(given)
    parted, saved = {name: given.pop(name) for name in ("folds", "by")}, given.pop("save_tally")
    read = each_of("tally", tallies)
    refuse_overwriting(shown.output, read)
    refuse_overwriting(saved, read, option="--save-tally")
    check_tally_path(saved, shown.output)
    shard = merge_tallies(tallies, limits)
    steered = {name: value for name, value in given.items() if value is not None}
    settings = replace(shard.settings, **steered)
    check_wanted(shown.asked, settings, points=False, parted=any(parted.values()))
    check_intervals(shown.wanted, settings)
    check_resampling(given, settings)
    parts = [read_parts(parted[name], name, shard.tally.files, limits) for name in ("folds", "by")]
    with progress(quiet=shown.quiet) as told:
        scores = score_shard(
            replace(shard, settings=settings), __version__, folds=parts[0], by=parts[1], progress=told
        )
    shown.warn([scores])
    shown.check([scores])
    if saved:
        write_atomic(saved, pack_shard(shard, __version__))
    shown.show([scores])
    return shown.judge([scores])
