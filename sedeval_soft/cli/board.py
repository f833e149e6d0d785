"""`soft-sed-eval board SUBMISSIONS`: a leaderboard of many submissions as a site of static pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from sedeval_soft.cli.options import (
    INTAKE,
    OBJECTIVE,
    PARTS,
    PATH,
    QUIET,
    READ,
    SETTINGS,
    SURE,
    SYSTEMS,
    TUNING,
    Decorator,
    GroupedCommand,
    add,
    option,
    setting,
)
from sedeval_soft.cli.output import progress, remark, to_standard_output
from sedeval_soft.cli.settings import check_objective, check_wanted, limits_of, move_rule, settings_of
from sedeval_soft.fields import OUTPUT, SCORING

if TYPE_CHECKING:
    from sedeval_soft.core.intake import Limits
    from sedeval_soft.settings import Settings
    from sedeval_soft.tools.site import Site

EPILOG = """\b
Examples:
  soft-sed-eval board submissions/ --reference ref.tsv -o site/
  soft-sed-eval board submissions/ --reference ref.tsv -o site/ --preset dcase2019-task4 \\
    --rank-by event.hard.f1.macro --title 'Sound events 2026' --no-reports

\b
Exit status: 0 the site was built, 1 with --fail-on-invalid: a submission is invalid, 2 the call, the
reference or the folder is wrong.
"""

BOARD: tuple[Decorator, ...] = (
    option(SCORING, "--reference", required=True, type=PATH, metavar="REFERENCE",
           help="Table that all submissions are scored against."),
    setting("strict",
            help="A submission that may be misread (times, columns, files and classes that are missing or "
            "unknown) is invalid; such a reference is refused."),
    option(SYSTEMS, "--rank-by", metavar="NAME",
           help="The score by which submissions are ranked.  [default: segment.soft.f1.macro]"),
    option(SYSTEMS, "--baseline", metavar="NAME",
           help="Compare the others with this submission, by its name or its file's.  [default: the best]"),
    option(SYSTEMS, "--ties", type=click.Choice(["exchange", "bootstrap", "none"]),
           help="How submissions are told apart: by exchanging their outputs in random files, as when "
           "several SYSTEM are compared, by the paired bootstrap, or not at all: ranked by the score alone.  "
           "[default: exchange for hard, soft and tuned readings, none where each replicate would look for "
           "thresholds]"),
    option(OUTPUT, "-o", "--output", required=True, type=PATH, metavar="SITE",
           help="The folder of the site: made, or brought up to date."),
    option(OUTPUT, "--cache", type=PATH, metavar="FOLDER",
           help="Folder for results that need not be computed again. Do not publish it.  "
           "[default: SITE.cache]"),
    option(OUTPUT, "--title", default="Leaderboard", show_default=True, metavar="TEXT",
           help="Title of the site."),
    option(OUTPUT, "--score", "scores", multiple=True, metavar="NAME",
           help="Show this score of all submissions, such as event.hard.f1.macro. Repeatable.  [default: the "
           "main ones of what is evaluated]"),
    option(OUTPUT, "--no-reports", is_flag=True,
           help="No report of each submission: reports show the reference, which may be meant to stay "
           "hidden."),
    option(OUTPUT, "--fail-on-invalid", is_flag=True, help="Exit with 1 where a submission is invalid."),
    QUIET,
)  # fmt: skip

_SHOWN = 200
"""Characters of a problem that are told."""


@click.command(cls=GroupedCommand, epilog=EPILOG)
@click.argument("submissions", metavar="SUBMISSIONS", type=PATH)
@add(BOARD, READ, SETTINGS, TUNING, OBJECTIVE, SURE, PARTS, INTAKE)
@click.pass_context
def board(ctx: click.Context, /, submissions: str, **given: Any) -> None:  # noqa: ANN401
    """Make a leaderboard of a folder of submissions: a site of static pages.

    Each table and each folder of tables in SUBMISSIONS is one submission, named after it; NAME.yaml beside it
    may say who submits. The index ranks them; each has a report. Those that cannot be scored are listed with
    all their problems, and stop nobody else's. What did not change is not scored again.
    """
    move_rule(given)
    if to_standard_output(given["output"]):
        raise click.UsageError("-o names standard output; a site is a folder.", ctx)
    if "-" in (given["reference"], submissions):
        raise click.UsageError("Standard input is no reference of a site: it is built more than once.", ctx)
    with limits_of(given) as limits:
        ctx.exit(_build(submissions, given, limits))


def _build(submissions: str, given: dict[str, Any], limits: Limits) -> int:
    """Build the site; return the exit code."""
    from sedeval_soft.tools.site import build_site

    names = ("output", "cache", "reference", "title", "no_reports", "fail_on_invalid", "quiet", "ties")
    more = ("baseline", "rank_by", "scores", "folds", "by", "durations")
    io = {name: given.pop(name) for name in (*names, *more)}
    settings, rank_by, scores = _settings(given, io)
    with progress(quiet=io["quiet"], label="scoring submissions") as told:
        site = build_site(
            submissions,
            io["reference"],
            io["output"],
            cache=io["cache"],
            rank_by=rank_by,
            baseline=io["baseline"],
            scores=scores,
            title=io["title"],
            reports=not io["no_reports"],
            ties=io["ties"],
            durations=io["durations"],
            folds=io["folds"],
            by=io["by"],
            progress=told,
            limits=limits,
            settings=settings,
        )
    if not io["quiet"]:
        _tell(site)
    return 1 if io["fail_on_invalid"] and site.invalid else 0


def _settings(given: dict[str, Any], io: Mapping[str, Any]) -> tuple[Settings, str, list[str]]:
    """Return the settings, the score that ranks, and those that are shown; refuses what does not fit."""
    from sedeval_soft.cli.present import parse_wanted
    from sedeval_soft.comparison.compare import RANK_BY, check_rank_by

    scores = parse_wanted(io["scores"])
    rank_by = io["rank_by"] or RANK_BY
    check_rank_by(rank_by)
    asked = [rank_by, *scores]
    settings = settings_of(given, asked, just=False, curves=False, folds=io["folds"])
    check_wanted(asked, settings, points=False, parted=bool(io["folds"] or io["by"]))
    check_objective(given["objective"], settings, io["folds"])
    return settings, rank_by, scores


def _tell(site: Site) -> None:
    """Say on standard error what came of the submissions; a name has no lines of its own."""
    from sedeval_soft.errors import counted, visible

    for name in site.ignored:
        remark(f"warning: {visible(name)} is not a submission; ignored")
    for warning in site.warnings:
        remark(f"warning: {visible(warning)}")
    for name, number in site.invalid.items():
        first = visible(site.first.get(name, ""))
        told = "problem" if number == 1 else "problems, the first"
        remark(f"invalid: {visible(name)}: {number} {told}: {first[:_SHOWN]}{'...' * (len(first) > _SHOWN)}")
    valid = 0 if site.board is None else len(site.board.systems)
    bad = len(site.invalid)
    total = valid + bad
    same = total - len(site.scored)
    remark(f"{counted(total, 'submission')}: {valid} ranked, {bad} invalid; {same} as before")
