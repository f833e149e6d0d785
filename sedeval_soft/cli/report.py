"""`soft-sed-eval report REFERENCE SYSTEM... -o PAGE`: a page of HTML of one system or several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sedeval_soft.cli import options
from sedeval_soft.cli.command import PATH, argument, command, option, refuse, setting
from sedeval_soft.cli.output import check_files, progress, to_standard_output, warn
from sedeval_soft.fields import OUTPUT, STEERING

if TYPE_CHECKING:
    from sedeval_soft.api.request import Request

EXAMPLES = """
  soft-sed-eval report ref.tsv sys.tsv -o page.html
  soft-sed-eval report ref.tsv a.tsv b.tsv -o page.html
  soft-sed-eval report ref.tsv sys.tsv -o page.html --audio wav/
"""

SHOWN_ANYWAY = ("dtc", "gtc", "cttc", "iou", "bins", "max_fpr", "max_fnr", "worst")
"""Settings of those parts that a page always shows, asked for or not."""


@command(
    EXAMPLES,
    argument("REFERENCE"),
    argument("SYSTEM...", "systems", required=True, nargs=-1),
    option(OUTPUT, "-o", "--output", required=True, type=PATH, metavar="PAGE", brief="Where the page goes.",
        help="Where the page goes, such as page.html. If something fails, the file stays as it was."),
    option(OUTPUT, "--timeline", "timelines", multiple=True, metavar="FILENAME",
        brief="Show this recording over time, too.",
        help="Show this recording over time, besides those that cost most and some that are drawn at random. "
        "Repeatable."),
    option(OUTPUT, "--audio", type=PATH, metavar="FOLDER", brief="Show and play recordings in this folder.",
        help="Show spectrograms of the recordings in the timelines, and play them: wav, flac and others, "
        "found in this folder and in those within it by the file names in the tables."),
    option(OUTPUT, "--title", metavar="TEXT", brief=True, help="Title of the page."),
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
    reference: str, systems: tuple[str, ...], asked: Request, output: str, timelines: tuple[str, ...],
    audio: str | None, title: str | None, baseline: str | None, quiet: bool,
) -> None:  # fmt: skip
    """Write a page of HTML of one system or several, to look at.

    It has all readings, thresholds to move, curves, errors, and recordings over time; of several systems also
    their ranks and differences. It needs no network.
    """
    refuse((to_standard_output(output) and output, f"-o {output}: expected the path of a file."))
    check_files({"-o": output}, asked.files({"reference": reference, "system output": systems}))
    from sedeval_soft.api.comparison import compare
    from sedeval_soft.api.sources import to_rows, with_points
    from sedeval_soft.apps.page import Choices, check_audio, write_report
    from sedeval_soft.report.requirements import parse_name

    if audio is not None:
        check_audio(audio)
    with asked.opened() as limits:
        rank_by = asked.rank_by and parse_name(asked.rank_by, asked.computed)
        settings = asked.settings([rank_by] if rank_by else [])
        several = len(systems) > 1
        asked.check(
            settings, [rank_by] if rank_by else [], also=(*SHOWN_ANYWAY, *(STEERING if several else ()))
        )
        how: dict[str, Any] = {"settings": settings, "limits": limits, **asked.tables}
        # Each is read once, for the ranks and for the page.
        ours = to_rows(reference, "reference", settings, limits)
        rows = {each: to_rows(with_points(each, limits), each, settings, limits) for each in systems}
        with progress(quiet=quiet) as show:
            board = compare(ours, rows, baseline=baseline, progress=show, **how) if several else None
            choices = Choices(title=title, files=timelines)
            shown = write_report(
                ours, rows, output, board=board, choices=choices, audio=audio, progress=show, **how
            )
    known = [*board.systems] if board else []
    warn([text for each in (*known, *shown) for text in each.warnings], quiet=quiet)
