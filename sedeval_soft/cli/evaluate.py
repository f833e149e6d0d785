"""`soft-sed-eval REFERENCE SYSTEM...`: the main job."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import click
from click.exceptions import Exit

from sedeval_soft.cli import options
from sedeval_soft.cli.command import argument, command, option, refuse, setting
from sedeval_soft.cli.output import check_files, progress
from sedeval_soft.fields import OUTPUT, STEERING

if TYPE_CHECKING:
    from sedeval_soft.api.request import Request
    from sedeval_soft.comparison.board import Board
    from sedeval_soft.evaluation.partition import Execute

EXAMPLES = """
  soft-sed-eval ref.tsv sys.tsv
  soft-sed-eval ref.tsv a.tsv b.tsv c.tsv --rank-by segment.soft.f1.macro
  soft-sed-eval ref.tsv sys.tsv --score segment.soft.f1.macro --ci
  soft-sed-eval ref.tsv sys.tsv --require 'segment.soft.f1.macro>=0.35'
  soft-sed-eval report ref.tsv sys.tsv -o page.html
"""


def _jobs(text: str) -> int:
    """Return a number of processes, 0 for one for each processor."""
    if text == "all":
        return 0
    if text.isascii() and text.isdigit() and len(text) < 5:
        return int(text)
    raise click.BadParameter(f"{text!r} is not a number of processes such as 4, or all.")


def _names(paths: Sequence[str], names: Sequence[str], *, runs: bool) -> list[str]:
    """Return the names of systems: the values of `--name`, else the names of their files if these differ."""
    if names and not runs:
        expected = f"expected {len(paths)} different names, one for each SYSTEM; found {', '.join(names)}"
        refuse((len({*names}) != len(paths) or len(names) != len(paths), f"--name: {expected}."))
        return [*names]
    refuse((len(names) > 1, "--name with --runs is the name of the mean; expected it once."))
    files = [PurePath(path).name or path for path in paths]
    return files if len({*files}) == len(files) else [*paths]


def _workers(scheduler: str | None, *, points: bool) -> AbstractContextManager[Execute | None]:
    """Return the workers of a scheduler, or none if there is none; points: whether it would count these."""
    if scheduler is None:
        return nullcontext()
    refuse((points, "--scheduler needs tables in files; found operating points."))
    from sedeval_soft.apps.cluster import workers

    return workers(scheduler)


@command(
    EXAMPLES,
    argument("REFERENCE"),
    argument("SYSTEM...", "systems", required=True, nargs=-1),
    *options.EVERYTHING,
    *options.READ,
    setting("strict"),
    *options.PARTS,
    *options.RANKED,
    option(options.SYSTEMS, "--runs", is_flag=True, help="Each SYSTEM is a training run of one system: print "
        "the mean of each score over the runs, and its interval."),
    *options.RESULTS,
    option(OUTPUT, "--name", "names", multiple=True, metavar="TEXT",
        help="What a SYSTEM is called, once for each; with --runs, once for the mean.  "
        "[default: its file's name]"),
    setting("worst"),
    options.POINTS,
    *options.INTAKE,
    option(options.LIMITS, "--jobs", type=_jobs, metavar="N|all", help="Count large tables in N "
        "processes; all: one for each processor.  [default: half of these, for tables from 256 MiB on]"),
    option(options.LIMITS, "--scheduler", metavar="ADDRESS|FILE", help="Count on the workers of a dask "
        "scheduler: tcp://HOST:PORT, or its file."),
    status=options.REQUIRED,
)  # fmt: skip
def evaluate(
    reference: str, systems: tuple[str, ...], asked: Request, baseline: str | None, runs: bool,
    names: tuple[str, ...], jobs: int | None, scheduler: str | None, save_tally: str | None, **shown: Any,  # noqa: ANN401 - as `Presentation` takes them
) -> None:  # fmt: skip
    """Score sound event detection systems against a hard or soft reference.

    REFERENCE and SYSTEM are tables of onset, offset, class and (optional) value in [0, 1] per row, or of
    onset, offset and one column per class; tab-, comma- or semicolon-separated, with or without a
    header, gzipped or not; or folders of such tables, one per recording. `-` is standard input.

    Prints segment- and event-based scores in three readings: hard (both sides at one threshold),
    optimal (each class at its best threshold) and soft (all levels of both sides). For several systems
    it prints a leaderboard; with --runs they are training runs of one system, and it prints their mean.
    """
    values, several, form, per_file = asked.values, len(systems) > 1, shown["form"], shown["per_file"]
    # Which forms of results show what costs most.
    listing = ("json", "yaml") if several else ("json", "yaml", "text", "markdown", "github")
    many, services = f"one SYSTEM; found {len(systems)}", ", ".join(options.SERVICE_FORMATS)
    refuse(
        (several and (save_tally or jobs is not None or scheduler or (form == "codabench" and not runs)),
         f"--save-tally, --jobs, --scheduler and --format codabench need {many}."),
        (not several and (runs or baseline), "--runs and --baseline need two or more SYSTEM; found 1."),
        (runs and (baseline or per_file or {"ci", "worst"} & {*values}),
         "--runs prints means over trainings: it cannot go with --baseline, --ci, --worst or --per-file."),
        (per_file and (form in options.SERVICE_FORMATS or {"ci", "worst"} & {*values}),
         f"--per-file prints scores of single files, not --ci and --worst of all, nor --format {services}."),
        (shown["wanted"] and (shown["averages"] or "worst" in values),
         "--score prints what it names and nothing else: it cannot go with --average or --worst."),
        (scheduler and jobs is not None,
         "--jobs counts on this machine, --scheduler on its workers; expected one of them."),
        (form == "junit" and not shown["requirements"],
         "--format junit has a test for each requirement; expected --require 'NAME>=NUMBER', too."),
        ("worst" in values and form not in listing,
         f"--worst needs --format {' or '.join(listing)}, where the others show no lists; found {form}."),
    )  # fmt: skip
    called = _names(systems, names, runs=runs)
    baseline = dict(zip(systems, called, strict=True)).get(baseline or "", baseline)
    check_files(
        {"-o": shown["output"], "--save-tally": save_tally},
        asked.files({"reference": reference, "system output": systems}),
    )
    from dataclasses import replace

    from sedeval_soft.api.evaluation import evaluation_of, settings_of_points
    from sedeval_soft.api.sources import is_points, with_points
    from sedeval_soft.cli.present import Presentation
    from sedeval_soft.report.requirements import parse_name

    with asked.opened() as limits:
        view = Presentation(**shown, likely=asked.computed)
        rank_by = asked.rank_by and parse_name(asked.rank_by, asked.computed)
        scored = [*view.names, *([rank_by] if rank_by else [])]
        default: list[str] = []
        if several and not runs:
            from sedeval_soft.comparison.compare import RANK_BY, check_rank_by

            # One of the default ones ranks systems: which one is known when the reference was read.
            default = [] if rank_by and check_rank_by(rank_by) else [*RANK_BY.values()]
        settings = asked.settings([*scored, *default], just=bool(view.wanted), averages=view.averages)
        settings = replace(settings, rank_by=rank_by)
        system = None if several else with_points(systems[0], limits)
        points = is_points(system)
        settings = settings_of_points(settings, [system]) if points else settings
        of_several = ("confidence",) if runs else () if per_file else STEERING
        asked.check(settings, scored, points=points, also=of_several if several else ())
        if settings.ci:
            from sedeval_soft.evaluation.resample import refuse_jackknife

            refuse_jackknife(settings, view.wanted)
        how: dict[str, Any] = {"settings": settings, "limits": limits, **asked.tables}
        board: Board | None = None
        with progress(quiet=view.quiet) as show, _workers(scheduler, points=points) as execute:
            if several:
                from sedeval_soft.api.comparison import score_several

                how |= {"baseline": baseline, "runs": runs, "apart": per_file, "progress": show}
                how |= {"name": names[0]} if runs and names else {}
                scores, board = score_several(reference, dict(zip(called, systems, strict=True)), **how)
            else:
                how |= {"jobs": jobs, "execute": execute, "progress": show, "name": called[0]}
                evaluation = evaluation_of(reference, system, **how)
                scores = [evaluation.scores]
        scores = [asked.with_doubts(each) for each in scores]
        view.check(scores)
        # Files first: results that are printed cannot be taken back if these fail.
        if save_tally and not several:
            evaluation.save(save_tally)
        view.show(scores, board and replace(board, systems=tuple(scores)))
        raise Exit(view.judge(scores))
