"""`soft-sed-eval board SUBMISSIONS`: a leaderboard of many submissions as a site of static pages."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click
from click.exceptions import Exit

from sedeval_soft.cli import options
from sedeval_soft.cli.command import PATH, argument, command, number, option, refuse, setting
from sedeval_soft.cli.output import progress, remark, to_standard_output, warn
from sedeval_soft.fields import OUTPUT, SCORING, STEERING

if TYPE_CHECKING:
    from sedeval_soft.api.request import Request
    from sedeval_soft.apps.board import Site

EXAMPLES = """
  soft-sed-eval board submissions/ --reference ref.tsv -o site/
  soft-sed-eval board submissions/ --reference ref.tsv -o site/ --no-reports
  soft-sed-eval board submissions/ --reference ref.tsv -o site/ \\
    --preset dcase2019-task4 --rank-by event.hard.f1.macro
"""

STATUS = "0 the site was built, 1 a submission is invalid (--fail-on-invalid), 2 wrong call or input."

BOARD = (
    argument("SUBMISSIONS"),
    option(SCORING, "--reference", required=True, type=PATH, metavar="REFERENCE",
        brief="Table that all are scored against.", help="Table that all submissions are scored against."),
    setting("strict", help="A submission that may be misread is invalid (times, columns, and files and "
        "classes that are missing or unknown); such a reference is refused."),
    option(options.SYSTEMS, "--rank-by", metavar="NAME", brief="The score that ranks submissions.",
        help="The score by which submissions are ranked.  [default: that of the preset; else "
        "segment.soft.f1.macro, or segment.hard.f1.macro if the reference has no values]"),
    option(options.SYSTEMS, "--baseline", metavar="NAME",
        help="Compare the others with this submission, by its name or its file's.  [default: the best]"),
    option(options.SYSTEMS, "--ties", type=click.Choice(["exchange", "none"]),
        help="How the differences between submissions are tested: by exchanging their outputs in random "
        "files, or not at all, so that the score alone ranks them.  [default: "
        "exchange for hard, soft and tuned readings, none where each replicate would look for thresholds]"),
    option(options.LIMITS, "--time-limit", type=number, metavar="SECONDS", default="600",
        help="How long it may take to read, score and report a submission; one that takes longer is invalid "
        "until the next call.  [default: 600]"),
    option(OUTPUT, "-o", "--output", required=True, type=PATH, metavar="SITE", brief="Folder of the site.",
        help="The folder of the site; it is made, or brought up to date."),
    option(OUTPUT, "--cache", type=PATH, metavar="FOLDER",
        help="Folder for results that are used again by the next call. Do not publish it.  [default: "
        "SITE.cache]"),
    option(OUTPUT, "--title", default="Leaderboard", show_default=True, metavar="TEXT", brief=True,
        help="Title of the site."),
    option(OUTPUT, "--score", "scores", multiple=True, metavar="NAME",
        brief="Show this score, such as event.hard.f1.macro.", help="Show this score of all "
        "submissions, such as event.hard.f1.macro. Repeatable.  [default: the main scores of what is "
        "evaluated]"),
    option(OUTPUT, "--no-reports", is_flag=True, brief="Leave out reports, which show the reference.",
        help="Make no reports of single submissions: these show the reference, which may be secret."),
    option(OUTPUT, "--fail-on-invalid", is_flag=True, brief=True,
        help="Exit with 1 if a submission is invalid."),
    options.QUIET,
    *(*options.READ, *options.SETTINGS, *options.TUNING, options.OBJECTIVE),
    *(*options.SURE, setting("compat"), *options.PARTS, options.POINTS, *options.INTAKE),
)  # fmt: skip

_SHOWN = 200
"""Characters of a problem that are shown."""


@command(EXAMPLES, *BOARD, status=STATUS)
def board(
    submissions: str, asked: Request, reference: str, output: str, baseline: str | None,
    scores: tuple[str, ...], no_reports: bool, fail_on_invalid: bool, quiet: bool,
    **site: Any,  # noqa: ANN401 - as `build_site` has it
) -> None:  # fmt: skip
    """Make a leaderboard of a folder of submissions: a static site.

    Each table and each folder of tables in SUBMISSIONS is one submission, named after it; NAME.yaml beside it
    may say who submitted it. The index ranks them, and each has a report. Submissions that cannot be scored
    are listed with all their problems; the others are scored. Submissions that have not changed since the
    last call are not scored again.
    """
    piped = "-" in (reference, submissions)
    refuse(
        (to_standard_output(output), "-o names standard output; a site is a folder."),
        (piped, "Standard input is not a reference of a site: it is built more than once."),
    )
    from sedeval_soft.apps.board import build_site
    from sedeval_soft.report.requirements import all_of, parse_name

    with asked.opened() as limits:
        names = all_of(partial(parse_name, likely=asked.computed), [*filter(None, [asked.rank_by]), *scores])
        settings = replace(asked.settings(names), rank_by=names[0] if asked.rank_by else None)
        asked.check(settings, names, also=STEERING)
        with progress(quiet=quiet, label="scoring submissions") as show:
            built = build_site(
                submissions, reference, output, baseline=baseline, reports=not no_reports,
                scores=names[1:] if asked.rank_by else names, progress=show, limits=limits, settings=settings,
                **{**site, **asked.tables},
            )  # fmt: skip
    if not quiet:
        _tell(built)
    raise Exit(1 if fail_on_invalid and built.invalid else 0)


def _tell(site: Site) -> None:
    """Print the outcome of the submissions on standard error; a name never breaks a line."""
    from sedeval_soft.errors import counted, visible

    ignored = [f"{visible(name)} is not a submission; ignored" for name in site.ignored]
    warn([*ignored, *map(visible, (*site.warnings, *site.ranking))], quiet=False)
    for name, count in site.invalid.items():
        first = visible(site.first.get(name, ""))
        problems = "problem" if count == 1 else "problems, the first"
        cut = first if len(first) <= _SHOWN else f"{first[:_SHOWN]}..."
        remark(f"invalid: {visible(name)}: {count} {problems}: {cut}")
    valid = 0 if site.board is None else len(site.board.systems)
    invalid = len(site.invalid)
    total = valid + invalid
    same = total - len(site.scored)
    remark(f"{counted(total, 'submission')}: {valid} ranked, {invalid} invalid; {same} unchanged")
