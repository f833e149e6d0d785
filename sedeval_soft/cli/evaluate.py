"""`soft-sed-eval REFERENCE SYSTEM...`: the main job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.exceptions import Exit

from sedeval_soft.cli import options
from sedeval_soft.cli.options import PATH, GroupedCommand, epilog, refuse
from sedeval_soft.cli.output import check_files, each_of, emit, progress, remark, to_standard_output
from sedeval_soft.fields import RULES

if TYPE_CHECKING:
    from types import ModuleType

    from sedeval_soft.cli.present import Presentation
    from sedeval_soft.comparison.board import Board
    from sedeval_soft.settings import Settings
    from sedeval_soft.tables.event_table import EventTable
    from sedeval_soft.tables.limits import Limits

EXAMPLES = """
  soft-sed-eval ref.tsv sys.tsv
  soft-sed-eval ref.tsv sys.tsv --segment-length 0.2 --format json -o scores.json
  soft-sed-eval ref.tsv sys.tsv --ci --worst 10
  soft-sed-eval ref.tsv sys.tsv --report report.html
  soft-sed-eval ref.tsv a.tsv b.tsv c.tsv --rank-by segment.soft.f1.macro
  soft-sed-eval ref.tsv sys.tsv --score segment.soft.f1.macro
  soft-sed-eval ref.tsv sys.tsv --require 'segment.soft.f1.macro>=0.35'
  soft-sed-eval merge *.tally
"""

ARGUMENTS = (
    click.Argument(["reference"], metavar="REFERENCE", required=False, type=PATH),
    click.Argument(["systems"], metavar="SYSTEM...", required=False, nargs=-1, type=PATH),
)


class Request(NamedTuple):
    """What is read, and what is made of it: the options that neither are settings nor say how results look.

    points: tables by threshold, in place of systems.
    """

    reference: str
    systems: tuple[str, ...]
    points: Mapping[float, str]
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

    @property
    def tables(self) -> dict[str, Any]:
        """The tables beside reference and system, as the library takes them."""
        return {"durations": self.durations, "folds": self.folds, "by": self.by}


@click.command(
    cls=GroupedCommand,
    params=[*ARGUMENTS, *options.EVALUATE],
    epilog=epilog(EXAMPLES, "0 done, 1 a requirement was not met, 2 the call or the input is wrong."),
)
def evaluate(**given: Any) -> None:  # noqa: ANN401
    """Score sound event detection systems against a hard or soft reference.

    REFERENCE and SYSTEM are tables of onset, offset, class and (optional) value in [0, 1] per row, or of
    onset, offset and one column per class; tab-, comma- or semicolon-separated, with or without a
    header, gzipped or not; or folders of such tables, one per recording. `-` is standard input.

    Prints segment- and event-based scores in three readings: hard (both sides cut at a threshold),
    optimal (each class cut at its best threshold) and soft (all levels of both sides). Of several systems
    it prints a leaderboard; with --runs they are repeated trainings of one, and their mean is printed.
    """
    if given["list_scores"]:
        from sedeval_soft.report.explanation import list_scores

        emit(list_scores())
        return
    given["points"] = _points(given["points"])
    options.move_rule(given)
    _check_call(**given)
    with options.limits_of(given) as limits:
        if given["points_folder"] is not None:
            from sedeval_soft.api import operating_points

            given["points"] = operating_points(given["points_folder"], limits=limits)
        request = Request(**{name: given[name] for name in Request._fields})
        raise Exit(_run(request, given, limits))


def _points(texts: tuple[str, ...]) -> dict[float, str]:
    """Return tables by threshold from `THRESHOLD=TABLE`, each threshold once."""
    points: dict[float, str] = {}
    for text in texts:
        threshold, equals, path = text.partition("=")
        try:
            value = float(threshold)
        except ValueError:
            value = -1.0
        if not (equals and path and 0 <= value <= 1) or value in points:
            expected = "expected THRESHOLD=TABLE, each threshold in [0, 1] once"
            raise click.UsageError(f"--operating-point {text!r}: {expected}.")
        points[value] = path
    return points


def _check_call(
    *, reference: str | None, systems: tuple[str, ...], jobs: int | None, scheduler: str | None, form: str,
    **given: Any,  # noqa: ANN401
) -> None:  # fmt: skip
    """Raise UsageError for arguments and options that do not go together."""
    points, folder = bool(given["points"]), given["points_folder"] is not None
    count = len(systems)
    missing = "REFERENCE" if reference is None else "SYSTEM..."
    in_parts = scheduler is not None or jobs not in (None, 1)
    option, counts = ("--jobs", "count") if scheduler is None else ("--scheduler", "counts")
    runs, worst = given["runs"], given["worst"]
    # Which forms of results show what costs most.
    forms = ("text", "json", "yaml", "markdown", "github") if count < 2 else ("json", "yaml")
    kind = "" if count < 2 else " of several SYSTEM"
    two = f"expected two or more SYSTEM, found {count}."
    several_only, one_only = ("rank_by", "baseline", "runs"), ("check", "chance", "curves", "save_tally")
    refuse(
        (points and folder, "--operating-point and --operating-points are given; expected one."),
        ((points or folder) and systems,
         "--operating-point and --operating-points stand in place of SYSTEM."),
        (reference is None or not (systems or points or folder), f"Missing argument '{missing}'."),
        ([reference, *systems].count("-") > 1, "Only one of REFERENCE and SYSTEM can be standard input."),
        options.twice(systems, "SYSTEM"),
        (scheduler not in (None, "local") and jobs is not None,
         f"--jobs is of this machine; --scheduler {scheduler} has its workers."),
        (in_parts and count != 1, f"{option} is of one SYSTEM, a table; expected one."),
        *((in_parts and given[name], f"{option} {counts} parts; --{name} looks at all rows at once.")
          for name in ("report", "chance", "check")),
        *((count < 2 and given[name],
           f"--{name.replace('_', '-')} is of several systems; {two}")
          for name in several_only),
        *((count > 1 and given[name],
           f"--{name.replace('_', '-')} is of one system; expected one SYSTEM, found {count}.")
          for name in one_only),
        (runs and (given["rank_by"] or given["baseline"]),
         "--runs are of one system; --rank-by and --baseline compare several."),
        (given["baseline"] not in (None, *systems),
         f"--baseline {given['baseline']} is no SYSTEM; expected one of {', '.join(systems)}."),
        (form == "codabench" and count > 1 and not runs,
         f"--format codabench is of one system; expected one SYSTEM, or --runs, found {count}."),
        (worst and runs, "--worst is of one system; --runs has the means of several."),
        (worst and given["wanted"], "--worst is shown beside all scores; --score prints just numbers."),
        (worst and form not in forms,
         f"--worst{kind} is not shown by --format {form}; expected --format {' or '.join(forms)}."),
        (given["draws"] and not given["chance"], "--draws are of chance levels; expected --chance, too."),
    )  # fmt: skip


def _run(request: Request, given: dict[str, Any], limits: Limits) -> int:
    """Evaluate and print; return the exit code."""
    from sedeval_soft.api import settings_of_points, with_points
    from sedeval_soft.cli.present import Presentation
    from sedeval_soft.errors import SettingsError

    presentation = Presentation(given)
    _check_paths(request, given)
    several = len(request.systems) > 1
    system: Any = None if several else with_points(request.points or request.systems[0], limits)
    points = not isinstance(system, str | None)
    if request.scheduler is not None and points:
        folder = f"{request.systems[0]} is a folder of operating points, counted at once"
        raise SettingsError(f"--scheduler counts parts; {folder}")
    names = presentation.names
    ranked = several and not request.runs
    if ranked:
        from sedeval_soft.comparison.compare import RANK_BY, check_rank_by

        request = request._replace(rank_by=request.rank_by or RANK_BY)
        names = [*names, str(request.rank_by)]
        check_rank_by(names[-1])
    just = bool(presentation.wanted)
    tuned = any(".tuned." in name for name in names) or not just
    how: dict[str, Any] = {"curves": bool(request.curves), "folds": request.folds if tuned else None}
    # A page has all readings, also where just some numbers are printed.
    page = options.settings_of(given, names, just=False, **how) if request.report else None
    settings = options.settings_of(given, names, just=just, **how)
    if points:
        settings = settings_of_points(settings, [system])
    options.check_wanted(names, settings, points=points, parted=bool(request.folds or request.by))
    if settings.ci or not ranked:  # of several systems differences are resampled whatever is asked for
        runs, chance = request.runs, request.chance
        options.check_intervals(given, settings, presentation.wanted, runs=runs, chance=chance)
    options.check_objective(given["objective"], settings, request.folds)
    _check_evaluated(request, settings, worst=given["worst"])
    if several:
        return _score_several(request, settings, presentation, page, limits)
    return _score_one(request, system, settings, presentation, page, limits)


def _check_paths(request: Request, given: Mapping[str, Any]) -> None:
    """Raise SettingsError for files that results would replace or write twice, and wrong ones of reports."""
    from sedeval_soft.errors import SettingsError

    points = {f"operating point at {threshold}": path for threshold, path in request.points.items()}
    read = {
        "reference": request.reference,
        **(points or each_of("system output", request.systems)),
        "table of durations": request.durations,
        "table of folds": request.folds,
        "table of scenes": request.by if request.by and "{" not in request.by else None,
        **options.settings_files(given["config"]),
        "file of thresholds": None if given["thresholds"] in RULES else given["thresholds"],
    }
    report = request.report
    if request.curves is not None:
        from sedeval_soft.report.curves import check_curves_path

        check_curves_path(request.curves)
    outputs = {"--curves": request.curves, "--save-tally": request.save_tally, "--report": report}
    check_files({"-o": given["output"], **outputs}, read)
    if report is None and request.timelines:
        raise SettingsError("--timeline is of --report; expected --report FILE beside it")
    if report is not None and to_standard_output(report):
        raise SettingsError(f"--report {report}: expected the path of a file")
    if report is not None and request.runs:
        raise SettingsError("--report is of systems; --runs has the means of several")


def _check_evaluated(request: Request, settings: Settings, *, worst: int | None) -> None:
    """Raise SettingsError where what is evaluated has no curves, no costs, or no second opinion."""
    from sedeval_soft.errors import SettingsError

    if request.curves:
        from sedeval_soft.evaluation.curves import FAMILIES, has_curves

        if not has_curves(settings):
            names = ", ".join(map(".".join, FAMILIES))
            raise SettingsError(
                f"--curves {request.curves}: nothing that is evaluated has curves; --only names, or --score "
                f"leaves, none of {names}"
            )
    if worst:
        from sedeval_soft.evaluation.worst import family_of

        if family_of(settings) is None:
            raise SettingsError(
                "--worst is of hard and soft readings of segments, events, clips or intersections; --only "
                "names none of them"
            )
    if request.check:
        _peer(request.check).refuse_settings(settings)
    if request.runs and settings.ci:
        raise SettingsError(
            f"--ci {settings.ci} is of one system's files; --runs has the jackknife's interval over runs"
        )


def _score_one(
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
            request.reference, system, settings, **request.tables, limits=limits,
            jobs=request.jobs, scheduler=request.scheduler,
            keep_all=request.save_tally is not None,
            rows_in_memory=bool(page or request.chance or request.check), progress=show,
        )  # fmt: skip
    if request.chance:
        with progress(quiet=quiet, label="moving the output in time") as show:
            evaluation = evaluation.with_chance(request.draws or DRAWS, show)
    scores = evaluation.scores
    presentation.check([scores])
    # Files first: results that are printed cannot be taken back where these fail.
    if page and evaluation.sides:
        reference, rows = evaluation.sides
        _write_page(request, page, limits, reference, {scores.system: rows})
    if request.curves:
        from sedeval_soft.report.curves import write_curves

        write_curves(request.curves, scores.curves, raw_names=presentation.raw_names)
    if request.save_tally:
        evaluation.save(request.save_tally)
    presentation.show([scores])
    if request.check:
        tally = evaluation.shard.tally
        table = _peer(request.check).second_opinion(evaluation.pair, tally, settings, scores)
        printed = to_standard_output(presentation.output)
        if presentation.wanted or not printed or presentation.form != "text":
            remark(table.removesuffix("\n"))  # standard output is for a machine
        else:
            emit(table)
    return presentation.judge([scores])


def _score_several(
    request: Request, settings: Settings, presentation: Presentation, page: Settings | None, limits: Limits
) -> int:
    """Score several systems, or runs of one; return the exit code."""
    from sedeval_soft.api import compare, mean_of_runs, to_rows, with_points

    # Read once, for scores and for the page.
    reference = to_rows(request.reference, "reference", settings, limits)
    systems = {
        path: to_rows(with_points(path, limits), "system", settings, limits) for path in request.systems
    }
    how: dict[str, Any] = {**request.tables, "limits": limits, "settings": settings}
    with progress(quiet=presentation.quiet) as show:
        if request.runs:
            board, scores = None, [mean_of_runs(reference, systems, **how)]
        else:
            ranked: dict[str, Any] = {"rank_by": request.rank_by, "baseline": request.baseline}
            board = compare(reference, systems, **ranked, **how, progress=show)
            scores = list(board.systems)
    presentation.check(scores)
    if page:
        _write_page(request, page, limits, reference, systems, board)
    presentation.show(scores, board)
    return presentation.judge(scores)


def _write_page(
    request: Request,
    settings: Settings,
    limits: Limits,
    reference: EventTable,
    systems: Mapping[str, EventTable],
    board: Board | None = None,
) -> None:
    """Score the systems for the report, and write it."""
    from sedeval_soft.api.report import write_report
    from sedeval_soft.html.report_page import Choices

    write_report(
        reference, systems, request.report or "", board=board, choices=Choices(files=request.timelines),
        **request.tables, limits=limits, settings=settings,
    )  # fmt: skip


def _peer(tool: str) -> ModuleType:
    """Return the module that asks another tool for its scores."""
    from sedeval_soft.interop import sed_eval, sed_scores_eval

    return sed_eval if tool == "sed_eval" else sed_scores_eval
