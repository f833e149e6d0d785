"""`soft-sed-eval REFERENCE SYSTEM...`: the main job."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from sedeval_soft.cli.options import (
    INPUT,
    INTAKE,
    OBJECTIVE,
    PAGE,
    PARTS,
    PATH,
    RESULTS,
    SEARCH,
    SETTINGS,
    SEVERAL,
    SINGLE,
    STREAM,
    SURE,
    TUNING,
    GroupedCommand,
    add,
)
from sedeval_soft.cli.output import (
    check_tally_path,
    each_of,
    emit,
    progress,
    refuse_overwriting,
    remark,
    to_standard_output,
)
from sedeval_soft.cli.settings import (
    check_intervals,
    check_objective,
    check_once,
    check_resampling,
    check_wanted,
    limits_of,
    move_rule,
    settings_files,
    settings_of,
)
from sedeval_soft.fields import RULES

if TYPE_CHECKING:
    from types import ModuleType

    from sedeval_soft.cli.present import Presentation
    from sedeval_soft.comparison.board import Board
    from sedeval_soft.errors import SettingsError
    from sedeval_soft.settings import Settings
    from sedeval_soft.tables.event_table import EventTable
    from sedeval_soft.tables.limits import Limits

EPILOG = """\b
Examples:
  soft-sed-eval ref.tsv sys.tsv
  soft-sed-eval ref.tsv sys.tsv --segment-length 0.2 --format json -o scores.json
  soft-sed-eval ref.tsv sys.tsv --ci --worst 10
  soft-sed-eval ref.tsv sys.tsv --report report.html
  soft-sed-eval ref.tsv a.tsv b.tsv c.tsv --rank-by segment.soft.f1.macro
  soft-sed-eval ref.tsv sys.tsv --score segment.soft.f1.macro
  soft-sed-eval ref.tsv sys.tsv --require 'segment.soft.f1.macro>=0.35'
  soft-sed-eval merge *.tally

\b
Exit status: 0 done, 1 a requirement was not met, 2 the call or the input is wrong.
"""


@click.command(cls=GroupedCommand, epilog=EPILOG)
@click.argument("reference", metavar="REFERENCE", required=False, type=PATH)
@click.argument("systems", metavar="SYSTEM...", required=False, nargs=-1, type=PATH)
@add(SETTINGS, SEARCH, TUNING, OBJECTIVE, SURE, INPUT, PARTS, SEVERAL, RESULTS, PAGE, SINGLE, INTAKE, STREAM)
@click.pass_context
def evaluate(ctx: click.Context, /, reference: str | None, systems: tuple[str, ...], **given: Any) -> None:  # noqa: ANN401
    """Score sound event detection systems against a hard or soft reference.

    REFERENCE and SYSTEM are tables of onset, offset, class and (optional) value in [0, 1] per row, or of
    onset, offset and one column per class; tab-, comma- or semicolon-separated, with or without a
    header, gzipped or not; or folders of such tables, one per recording. `-` is standard input.

    Prints segment- and event-based scores in three readings: hard (both sides cut at a threshold),
    optimal (each class cut at its best threshold) and soft (all levels of both sides). Of several systems
    it prints a leaderboard; with --runs they are repeated trainings of one, and their mean is printed.
    """
    if given.pop("list_scores"):
        from sedeval_soft.report.explanation import list_scores

        emit(list_scores())
        return
    points = _points(given.pop("points"), ctx)
    request = Request(reference or "", systems, points, **{name: given.pop(name) for name in _OPTIONS})
    move_rule(given)
    _check_arguments(ctx, request, given, has_reference=reference is not None)
    with limits_of(given) as limits:
        if request.points_folder is not None:
            from sedeval_soft.api import operating_points

            request = request._replace(points=operating_points(request.points_folder, limits=limits))
        ctx.exit(_run(request, given, limits))


class Request(NamedTuple):
    """Options that are neither settings nor presentation, by their names.

    points: tables by threshold, in place of systems.
    """

    reference: str
    systems: tuple[str, ...]
    points: dict[float, str]
    points_folder: str | None
    durations: str | None
    folds: str | None
    by: str | None
    rank_by: str | None
    baseline: str | None
    runs: bool
    chance: bool
    draws: int | None
    jobs: int | None
    scheduler: str | None
    check: str | None
    curves: str | None
    save_tally: str | None
    report: str | None
    timelines: tuple[str, ...]


_OPTIONS = Request._fields[3:]


def _check_arguments(
    ctx: click.Context, request: Request, given: Mapping[str, Any], *, has_reference: bool
) -> None:
    """Refuse paths and options that do not go together."""
    systems, points = request.systems, bool(request.points or request.points_folder is not None)
    if request.points and request.points_folder is not None:
        raise click.UsageError("--operating-point and --operating-points are given; expected one.", ctx)
    if points and systems:
        raise click.UsageError("--operating-point and --operating-points stand in place of SYSTEM.", ctx)
    if not has_reference or not (systems or points):
        missing = "SYSTEM..." if has_reference else "REFERENCE"
        raise click.UsageError(f"Missing argument '{missing}'.", ctx)
    if [request.reference, *systems].count("-") > 1:
        raise click.UsageError("Only one of REFERENCE and SYSTEM can be standard input.", ctx)
    check_once(systems, "SYSTEM")
    _check_jobs(ctx, request, points=points)
    _check_systems(ctx, request, given)


def _check_systems(ctx: click.Context, request: Request, given: Mapping[str, Any]) -> None:
    """Refuse options that one system has, or several have, where there are others."""
    systems = request.systems
    few = len(systems) < 2
    for name in ("rank_by", "baseline", "runs") if few else ("check", "chance", "curves", "save_tally"):
        if getattr(request, name):
            expected = "of several systems; expected two or more" if few else "of one system; expected one"
            option = f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{option} is {expected} SYSTEM, found {len(systems)}.", ctx)
    if request.runs and (request.rank_by or request.baseline):
        raise click.UsageError("--runs are of one system; --rank-by and --baseline compare several.", ctx)
    if request.baseline not in (None, *systems):
        others = ", ".join(systems)
        raise click.UsageError(f"--baseline {request.baseline} is no SYSTEM; expected one of {others}.", ctx)
    if given["form"] == "codabench" and not (few or request.runs):
        raise click.UsageError(
            f"--format codabench is of one system; expected one SYSTEM, or --runs, found {len(systems)}.", ctx
        )
    if given["worst"]:
        _check_worst(ctx, given, few=few, runs=request.runs)


def _check_jobs(ctx: click.Context, request: Request, *, points: bool) -> None:
    """Refuse several processes, and schedulers, where all rows are looked at together."""
    scheduler, jobs = request.scheduler, request.jobs
    if scheduler is not None and scheduler != "local" and jobs is not None:
        raise click.UsageError(f"--jobs is of this machine; --scheduler {scheduler} has its workers.", ctx)
    if scheduler is None and jobs in (None, 1):
        return
    option, count = ("--jobs", "count") if scheduler is None else ("--scheduler", "counts")
    if points or len(request.systems) > 1:
        raise click.UsageError(f"{option} is of one SYSTEM, a table; expected one.", ctx)
    for name in ("report", "chance", "check"):
        if getattr(request, name):
            raise click.UsageError(f"{option} {count} parts; --{name} looks at all rows at once.", ctx)


def _check_worst(ctx: click.Context, given: Mapping[str, Any], *, few: bool, runs: bool) -> None:
    """Refuse a list of what costs most where nothing would show it."""
    if runs:
        raise click.UsageError("--worst is of one system; --runs has the means of several.", ctx)
    if given["wanted"]:
        raise click.UsageError("--worst is shown beside all scores; --score prints just numbers.", ctx)
    forms = ("text", "json", "yaml", "markdown", "github") if few else ("json", "yaml")
    if given["form"] not in forms:
        of = "" if few else " of several SYSTEM"
        expected = f"expected --format {' or '.join(forms)}"
        raise click.UsageError(f"--worst{of} is not shown by --format {given['form']}; {expected}.", ctx)


def _points(texts: tuple[str, ...], ctx: click.Context) -> dict[float, str]:
    """Return tables by threshold from `THRESHOLD=TABLE`, each threshold once."""
    points: dict[float, str] = {}
    for text in texts:
        threshold, equals, path = text.partition("=")
        try:
            value = float(threshold)
        except ValueError:
            value = -1.0
        if not (equals and path and 0 <= value <= 1) or value in points:
            raise click.UsageError(
                f"--operating-point {text!r}: expected THRESHOLD=TABLE, each threshold in [0, 1] once.", ctx
            )
        points[value] = path
    return points


def _run(request: Request, given: dict[str, Any], limits: Limits) -> int:
    """Evaluate and print; return the exit code."""
    from sedeval_soft.api import settings_of_points, with_points
    from sedeval_soft.cli.present import Presentation

    presentation = Presentation.of(given)
    if request.draws and not request.chance:
        raise click.UsageError("--draws are of chance levels; expected --chance, too.")
    _check_outputs(request, presentation.output, _read(request, given))
    several = len(request.systems) > 1
    system: Any = None if several else with_points(request.points or request.systems[0], limits)
    points = not isinstance(system, str | None)
    if request.scheduler is not None and points:
        raise _refused(
            f"--scheduler counts parts; {request.systems[0]} is a folder of operating points, counted at once"
        )
    ranked = several and not request.runs
    if ranked:
        from sedeval_soft.comparison.compare import RANK_BY, check_rank_by

        rank_by = request.rank_by or RANK_BY
        check_rank_by(rank_by)
        request = request._replace(rank_by=rank_by)
    names = [*presentation.asked, *([request.rank_by] if request.rank_by else ())]
    tuned = any(".tuned." in name for name in names) or not presentation.wanted
    how: dict[str, Any] = {"curves": bool(request.curves), "folds": request.folds if tuned else None}
    # A page has all readings, also where just some numbers are printed.
    page = settings_of({**given}, names, just=False, **how) if _has_page(request) else None
    settings = settings_of(given, names, just=bool(presentation.wanted), **how)
    if points:
        settings = settings_of_points(settings, [system])
    check_wanted(names, settings, points=points, parted=bool(request.folds or request.by))
    check_intervals(presentation.wanted, settings)
    if not ranked:
        check_resampling(given, settings, runs=request.runs, chance=request.chance)
    check_objective(given["objective"], settings, request.folds)
    _check_evaluated(request, settings, worst=given["worst"])
    run = _several if several else _one
    return run(request, system, settings, presentation, page, limits)


def _read(request: Request, given: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the paths that are read, by what they are."""
    points = {f"operating point at {threshold}": path for threshold, path in request.points.items()}
    return {
        "reference": request.reference,
        **(points or each_of("system output", request.systems)),
        "table of durations": request.durations,
        "table of folds": request.folds,
        "table of scenes": request.by if request.by and "{" not in request.by else None,
        **settings_files(given["config"]),
        "file of thresholds": None if given["thresholds"] in RULES else given["thresholds"],
    }


def _has_page(request: Request) -> bool:
    """Return whether a report is asked for; raises SettingsError where it cannot be."""
    path = request.report
    if path is None:
        if request.timelines:
            raise _refused("--timeline is of --report; expected --report FILE beside it")
        return False
    if to_standard_output(path):
        raise _refused(f"--report {path}: expected the path of a file")
    if request.runs:
        raise _refused("--report is of systems; --runs has the means of several")
    return True


def _one(
    request: Request,
    system: Any,  # noqa: ANN401 - a path, or operating points
    settings: Settings,
    presentation: Presentation,
    page: Settings | None,
    limits: Limits,
) -> int:
    """Score one system; return the exit code."""
    from sedeval_soft.api.evaluation import DRAWS, evaluation_of

    quiet = presentation.quiet
    with progress(quiet=quiet) as show:
        evaluation = evaluation_of(
            request.reference, system, settings,
            durations=request.durations, folds=request.folds, by=request.by, limits=limits,
            jobs=request.jobs, scheduler=request.scheduler,
            whole=request.save_tally is not None,
            at_once=bool(page or request.chance or request.check), progress=show,
        )  # fmt: skip
    if request.chance:
        with progress(quiet=quiet, label="moving the output in time") as show:
            evaluation = evaluation.with_chance(request.draws or DRAWS, show)
    scores = evaluation.scores
    presentation.warn([scores])
    presentation.check([scores])
    # Files first: results that are printed cannot be taken back where these fail.
    if page and evaluation.sides:
        reference, rows = evaluation.sides
        _write_page(request, reference, {scores.system: rows}, page, limits)
    if request.curves:
        from sedeval_soft.report.curves import write_curves

        write_curves(request.curves, scores.curves, raw_names=presentation.raw_names)
    if request.save_tally:
        evaluation.save(request.save_tally)
    presentation.show([scores])
    if request.check:
        shard = evaluation.shard
        table = _peer(request.check).second_opinion(evaluation.pair, shard.tally, settings, scores)
        if presentation.wanted or not presentation.printed or presentation.form != "text":
            remark(table.removesuffix("\n"))  # standard output is for a machine
        else:
            emit(table)
    return presentation.judge([scores])


def _several(
    request: Request,
    _: object,
    settings: Settings,
    presentation: Presentation,
    page: Settings | None,
    limits: Limits,
) -> int:
    """Score several systems, or runs of one; return the exit code."""
    from sedeval_soft.api import compare, mean_of_runs, to_rows, with_points

    # Read once, for scores and for the page.
    reference = to_rows(request.reference, "reference", settings, limits)
    systems = {
        path: to_rows(with_points(path, limits), "system", settings, limits) for path in request.systems
    }
    parts: dict[str, Any] = {"durations": request.durations, "folds": request.folds, "by": request.by}
    parts |= {"limits": limits, "settings": settings}
    with progress(quiet=presentation.quiet) as show:
        if request.runs:
            board, scores = None, [mean_of_runs(reference, systems, **parts)]
        else:
            ranked: dict[str, Any] = {"rank_by": request.rank_by, "baseline": request.baseline}
            board = compare(reference, systems, **ranked, **parts, progress=show)
            scores = list(board.systems)
    presentation.warn(scores)
    presentation.check(scores)
    if page:
        _write_page(request, reference, systems, page, limits, board)
    presentation.show(scores, board)
    return presentation.judge(scores)


def _write_page(
    request: Request,
    reference: EventTable,
    systems: Mapping[str, EventTable],
    settings: Settings,
    limits: Limits,
    board: Board | None = None,
) -> None:
    """Score the systems for the report, and write it."""
    from sedeval_soft.api.report import write_report
    from sedeval_soft.html.report_page import Choices

    write_report(
        reference, systems, request.report or "", board=board, choices=Choices(files=request.timelines),
        durations=request.durations, folds=request.folds, by=request.by, limits=limits, settings=settings,
    )  # fmt: skip


def _check_outputs(request: Request, output: str | None, read: Mapping[str, str | None]) -> None:
    """Refuse names of files that results would replace, or write twice."""
    refuse_overwriting(output, read)
    if request.curves is not None:
        from sedeval_soft.report.curves import check_curves_path

        check_curves_path(request.curves)
    check_tally_path(request.save_tally, output)
    written = {"-o": output} if output else {}
    for name in ("curves", "save_tally", "report"):
        path, option = getattr(request, name), f"--{name.replace('_', '-')}"
        if path is None:
            continue
        refuse_overwriting(path, read, option=option)
        for other, earlier in written.items():
            if os.path.realpath(earlier) == os.path.realpath(path):
                raise _refused(f"{option} {path}: {other} writes this file; expected another one")
        written[option] = path


def _check_evaluated(request: Request, settings: Settings, *, worst: int | None) -> None:
    """Refuse curves and a second opinion of what is not evaluated, before anything is printed."""
    if request.curves:
        from sedeval_soft.evaluation.curves import FAMILIES, has_curves

        if not has_curves(settings):
            names = ", ".join(map(".".join, FAMILIES))
            raise _refused(
                f"--curves {request.curves}: nothing that is evaluated has curves; --only names, or --score "
                f"leaves, none of {names}"
            )
    if worst:
        from sedeval_soft.evaluation.worst import family_of

        if family_of(settings) is None:
            raise _refused(
                "--worst is of hard and soft readings of segments, events, clips or intersections; --only "
                "names none of them"
            )
    if request.check:
        _peer(request.check).refuse_settings(settings)
    if request.runs and settings.ci:
        raise _refused(
            f"--ci {settings.ci} is of one system's files; --runs has the jackknife's interval over runs"
        )


def _refused(message: str) -> SettingsError:
    """Return an error of the call; errors are not imported before there is one, for the help's sake."""
    from sedeval_soft.errors import SettingsError

    return SettingsError(message)


def _peer(tool: str) -> ModuleType:
    """Return the module that asks another tool for its scores."""
    from sedeval_soft.interop import sed_eval, sed_scores_eval

    return sed_eval if tool == "sed_eval" else sed_scores_eval
