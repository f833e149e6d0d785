"""Commands that write pages to look at: `report`, `diagnose`, and `board`, a site of many submissions."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from shutil import get_terminal_size
from typing import Any

from click import Choice
from click.exceptions import Exit

import sedeval_soft as library
from sedeval_soft import api
from sedeval_soft import report as reports
from sedeval_soft.cli import options
from sedeval_soft.cli.command import PATH, Option, argument, command, number, refuse, setting
from sedeval_soft.cli.output import emit, progress, remark, sign, to_standard_output, warn
from sedeval_soft.errors import visible
from sedeval_soft.fields import OUTPUT, SCORING, STEERING

REPORT_EXAMPLES = """
  soft-sed-eval report ref.tsv sys.tsv -o page.html
  soft-sed-eval report ref.tsv a.tsv b.tsv -o page.html
  soft-sed-eval report ref.tsv sys.tsv -o page.html --audio wav/
"""

SHOWN_ANYWAY = ("dtc", "gtc", "cttc", "iou", "bins", "max_fpr", "max_fnr", "worst")
"""Settings of those parts that a page always shows, asked for or not."""


@command(
    REPORT_EXAMPLES,
    argument("REFERENCE"),
    argument("SYSTEM...", "systems", required=True, nargs=-1),
    Option(OUTPUT, "-o", "--output", required=True, type=PATH, metavar="PAGE", brief="Where the page goes.",
        help="Where the page goes, such as page.html. If something fails, the file stays as it was."),
    Option(OUTPUT, "--timeline", "timelines", multiple=True, metavar="FILENAME",
        brief="Show this recording over time, too.",
        help="Show this recording over time, besides those that cost most and some that are drawn at random. "
        "Repeatable."),
    Option(OUTPUT, "--audio", type=PATH, metavar="FOLDER", brief="Show and play recordings in this folder.",
        help="Show spectrograms of the recordings in the timelines, and play them: wav, flac and others, "
        "found in this folder and in those within it by the file names in the tables."),
    Option(OUTPUT, "--title", metavar="TEXT", brief=True, help="Title of the page."),
    options.QUIET,
    *options.seldom(options.EVERYTHING, "threshold", "only", "segment_length", "ci"),
    *options.seldom(options.READ, "preset", "durations"),
    setting("strict"),
    *options.PARTS,
    *options.RANKED,
    setting("worst"),
    options.POINTS,
    *options.INTAKE,
)  # fmt: skip
def report(
    reference: str, systems: tuple[str, ...], asked: api.Request, limits: library.Limits, output: str,
    timelines: tuple[str, ...], audio: str | None, title: str | None, baseline: str | None, quiet: bool,
) -> None:  # fmt: skip
    """Write a page of HTML of one system or several, to look at.

    It has all readings, thresholds to move, curves, errors, and recordings over time; of several systems also
    their ranks and differences. It needs no network.
    """
    refuse((to_standard_output(output) and output, f"-o {output}: expected the path of a file."))
    from sedeval_soft.apps.page import check_audio

    if audio is not None:
        check_audio(audio)
    several = len(systems) > 1
    settings = asked.checked(ranks=True, also=(*SHOWN_ANYWAY, *(STEERING if several else ())))
    how: dict[str, Any] = {"settings": settings, "limits": limits, **asked.tables}
    # Each is read once, for the ranks and for the page.
    ours = api.to_rows(reference, "reference", settings, limits)
    rows = {each: api.to_rows(api.with_points(each, limits), each, settings, limits) for each in systems}
    with progress(quiet=quiet) as show:
        how["progress"] = show
        board = api.compare(ours, rows, baseline=baseline, **how) if several else None
        choices = library.Choices(title=title, files=timelines)
        shown = library.write_report(ours, rows, output, board=board, choices=choices, audio=audio, **how)
    scored = (*(board.systems if board else ()), *shown)
    warn([text for each in scored for text in each.warnings], quiet=quiet)


DIAGNOSIS_EXAMPLES = """
  soft-sed-eval diagnose ref.tsv sys.tsv
  soft-sed-eval diagnose ref.tsv old.tsv new.tsv
  soft-sed-eval diagnose ref.tsv sys.tsv --only event.hard --format json
"""


@command(
    DIAGNOSIS_EXAMPLES,
    argument("REFERENCE"),
    argument("SYSTEM...", "systems", nargs=-1, required=True),
    *options.seldom(options.COUNTING, "segment_length", "onset_collar", "offset_collar", "classes"),
    *options.seldom((setting("threshold"), setting("only")), "threshold", "only"),
    *options.seldom(options.SURE, "ci"),
    *options.READ,
    Option(OUTPUT, "--no-suggestions", is_flag=True, brief="Try no thresholds and no post-processing.",
        help="Try no other thresholds and no post-processing: that takes a dozen evaluations."),
    *options.result_forms(("text", "json", "csv", "tsv"), metavar="FORM", brief="text, json, csv or tsv.",
        help="Form of the results: text, json, csv or tsv."),
    options.QUIET,
    *options.INTAKE,
)  # fmt: skip
def diagnose(
    reference: str, systems: tuple[str, ...], asked: api.Request, limits: library.Limits,
    no_suggestions: bool, form: str, output: str | None, quiet: bool,
) -> None:  # fmt: skip
    """Say where a score went: what each kind of error costs.

    Every miss and every false alarm has one kind, and the shares of kinds add up to 1 - F. For two systems it
    shows where each of them is better.
    """
    refuse((len(systems) > 2, "Expected one SYSTEM, or two to compare."))
    from sedeval_soft.apps.diagnosis.screen import WIDTH, render_diagnoses

    settings = asked.checked(also=STEERING)
    how: dict[str, Any] = {"durations": asked.durations, "limits": limits, "suggestions": not no_suggestions}
    how["settings"] = settings if settings.ci else replace(settings, ci="bootstrap")
    diagnoses = [library.diagnose(reference, system, **how) for system in systems]
    warn([text for each in diagnoses for text in each.scores.warnings], quiet=quiet)
    screen: dict[str, Any] = {}
    if to_standard_output(output) and sys.stdout.isatty():
        screen = {"color": True, "width": max(get_terminal_size().columns, WIDTH)}
    emit(render_diagnoses(diagnoses, form, **screen), output)
    sign([each.scores for each in diagnoses], form, output, quiet=quiet)


BOARD_EXAMPLES = """
  soft-sed-eval board submissions/ --reference ref.tsv -o site/
  soft-sed-eval board submissions/ --reference ref.tsv -o site/ --no-reports
  soft-sed-eval board submissions/ --reference ref.tsv -o site/ \\
    --preset dcase2019-task4 --rank-by event.hard.f1.macro
"""


@command(
    BOARD_EXAMPLES,
    argument("SUBMISSIONS"),
    Option(SCORING, "--reference", required=True, type=PATH, metavar="REFERENCE",
        brief="Table that all are scored against.", help="Table that all submissions are scored against."),
    setting("strict", help="A submission that may be misread is invalid (times, columns, and files and "
        "classes that are missing or unknown); such a reference is refused."),
    Option(options.SYSTEMS, "--rank-by", metavar="NAME", brief="The score that ranks submissions.",
        help="The score by which submissions are ranked.  [default: that of the preset; else "
        "segment.soft.f1.macro, or segment.hard.f1.macro if the reference has no values]"),
    Option(options.SYSTEMS, "--baseline", metavar="NAME",
        help="Compare the others with this submission, by its name or its file's.  [default: the best]"),
    Option(options.SYSTEMS, "--ties", type=Choice(["exchange", "none"]),
        help="How the differences between submissions are tested: by exchanging their outputs in random "
        "files, or not at all, so that the score alone ranks them.  [default: "
        "exchange for hard, soft and tuned readings, none where each replicate would look for thresholds]"),
    Option(options.LIMITS, "--time-limit", type=number, metavar="SECONDS", default="600",
        help="How long it may take to score a submission, and then to make its report; one that takes longer "
        "is invalid until the next call.  [default: 600]"),
    Option(OUTPUT, "-o", "--output", required=True, type=PATH, metavar="SITE", brief="Folder of the site.",
        help="The folder of the site; it is made, or brought up to date."),
    Option(OUTPUT, "--cache", type=PATH, metavar="FOLDER",
        help="Folder for results that are used again by the next call. Do not publish it.  [default: "
        "SITE.cache]"),
    Option(OUTPUT, "--title", default="Leaderboard", show_default=True, metavar="TEXT", brief=True,
        help="Title of the site."),
    Option(OUTPUT, "--score", "scores", multiple=True, metavar="NAME",
        brief="Show this score, such as event.hard.f1.macro.", help="Show this score of all "
        "submissions, such as event.hard.f1.macro. Repeatable.  [default: the main scores of what is "
        "evaluated]"),
    Option(OUTPUT, "--no-reports", is_flag=True, brief="Leave out reports, which show the reference.",
        help="Make no reports of single submissions: these show the reference, which may be secret."),
    Option(OUTPUT, "--fail-on-invalid", is_flag=True, brief=True,
        help="Exit with 1 if a submission is invalid."),
    options.QUIET,
    *(*options.READ, *options.SETTINGS, *options.TUNING, options.OBJECTIVE),
    *(*options.SURE, setting("compat"), *options.PARTS, options.POINTS, *options.INTAKE),
    status="0 the site was built, 1 a submission is invalid (--fail-on-invalid), 2 wrong call or input.",
)  # fmt: skip
def board(
    submissions: str, asked: api.Request, limits: library.Limits, reference: str, output: str,
    scores: tuple[str, ...], no_reports: bool, fail_on_invalid: bool, quiet: bool,
    **site: Any,  # noqa: ANN401 - as `build_site` has it
) -> None:  # fmt: skip
    """Make a leaderboard of a folder of submissions: a static site.

    Each table and each folder of tables in SUBMISSIONS is one submission, named after it; NAME.yaml beside it
    may say who submitted it. The index ranks them, and each has a report. Submissions that cannot be scored
    are listed with all their problems; the others are scored. Submissions that have not changed since the
    last call are not scored again.
    """
    refuse(
        (to_standard_output(output), "-o names standard output; a site is a folder."),
        ("-" in (reference, submissions), "A site is built more than once; standard input is read once."),
    )
    names = reports.all_of(partial(reports.parse_name, likely=asked.computed), scores)
    settings = asked.checked(names, ranks=True, also=STEERING)
    site |= {"reports": not no_reports, "scores": names, **asked.tables}
    with progress(quiet=quiet, label="scoring submissions") as show:
        how: dict[str, Any] = {"progress": show, "limits": limits, "settings": settings, **site}
        built = library.build_site(submissions, reference, output, **how)
    warn([*(f"{visible(name)} is not a submission; ignored" for name in built.ignored),
          *map(visible, (*built.warnings, *built.ranking))], quiet=quiet)  # fmt: skip
    if not quiet:
        remark(built.outcome)
    raise Exit(1 if fail_on_invalid and built.invalid else 0)
