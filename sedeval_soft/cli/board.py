"""`soft-sed-eval board SUBMISSIONS`: a leaderboard of many submissions as a site of static pages."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click
from click.exceptions import Exit

from sedeval_soft.cli import options
from sedeval_soft.cli.options import PATH, QUIET, argument, option, refuse, setting
from sedeval_soft.cli.output import progress, remark, to_standard_output, warn
from sedeval_soft.fields import OUTPUT, SCORING

if TYPE_CHECKING:
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
    option(options.SYSTEMS, "--ties", type=click.Choice(["exchange", "bootstrap", "none"]),
        help="How the differences between submissions are tested: by exchanging their outputs in random "
        "files, by the paired bootstrap, or not at all, so that the score alone ranks them.  [default: "
        "exchange for hard, soft and tuned readings, none where each replicate would look for thresholds]"),
    option(options.LIMITS, "--time-limit", type=options.number, metavar="SECONDS", default="600",
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
    QUIET,
    *(*options.READ, *options.SETTINGS, *options.TUNING, options.OBJECTIVE),
    *(*options.SURE, *options.PARTS, options.POINTS, *options.INTAKE),
)  # fmt: skip

_SHOWN = 200
"""Characters of a problem that are told."""


@options.command(EXAMPLES, *BOARD, status=STATUS)
def board(submissions: str, **given: Any) -> None:  # noqa: ANN401
    """Make a leaderboard of a folder of submissions: a static site.

    Each table and each folder of tables in SUBMISSIONS is one submission, named after it; NAME.yaml beside it
    may say who submitted it. The index ranks them, and each has a report. Submissions that cannot be scored
    are listed with all their problems; the others are scored all the same. What has not changed since the
    last call is not scored again.
    """
    refuse(
        (to_standard_output(given["output"]), "-o names standard output; a site is a folder."),
        (
            "-" in (given["reference"], submissions),
            "Standard input is no reference of a site: it is built more than once.",
        ),
    )
    from sedeval_soft.apps.board import build_site
    from sedeval_soft.cli.present import all_of, parse_name

    with options.limits_of(given) as limits:
        read_name = partial(parse_name, likely=partial(options.computed_names, given))
        given["rank_by"] = given["rank_by"] and read_name(given["rank_by"])
        ranking = options.rank_by_of(given)
        scores = all_of(read_name, given["scores"])
        names = [ranking, *scores] if ranking else scores
        parts = {name: given[name] for name in ("durations", "folds", "by")}
        settings = options.settings_of(given, names, folds=given["folds"])
        options.check_scores(given, settings, names)
        with progress(quiet=given["quiet"], label="scoring submissions") as show:
            site = build_site(
                submissions, given["reference"], given["output"], cache=given["cache"],
                baseline=given["baseline"], scores=scores,
                title=given["title"], reports=not given["no_reports"], ties=given["ties"],
                time_limit=given["time_limit"],
                **parts, progress=show, limits=limits, settings=settings,
            )  # fmt: skip
    if not given["quiet"]:
        _tell(site)
    raise Exit(1 if given["fail_on_invalid"] and site.invalid else 0)


def _tell(site: Site) -> None:
    """Say on standard error what came of the submissions; a name has no lines of its own."""
    from sedeval_soft.errors import counted, visible

    ignored = [f"{visible(name)} is not a submission; ignored" for name in site.ignored]
    warn([*ignored, *map(visible, (*site.warnings, *site.ranking))], quiet=False)
    for name, number in site.invalid.items():
        first = visible(site.first.get(name, ""))
        problems = "problem" if number == 1 else "problems, the first"
        cut = first if len(first) <= _SHOWN else f"{first[:_SHOWN]}..."
        remark(f"invalid: {visible(name)}: {number} {problems}: {cut}")
    valid = 0 if site.board is None else len(site.board.systems)
    invalid = len(site.invalid)
    total = valid + invalid
    same = total - len(site.scored)
    remark(f"{counted(total, 'submission')}: {valid} ranked, {invalid} invalid; {same} unchanged")
