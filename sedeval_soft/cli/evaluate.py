"""`soft-sed-eval REFERENCE SYSTEM...`: the main job."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

import click

from sedeval_soft.cli.arguments import check_objective, check_once, move_rule
from sedeval_soft.cli.chance import draws_of, with_levels
from sedeval_soft.cli.jobs import check_jobs
from sedeval_soft.cli.options import (
    INPUT,
    INTAKE,
    OBJECTIVE,
    PAGE,
    PARTS,
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
from sedeval_soft.cli.output import check_tally_path, each_of, emit, refuse_overwriting, remark

if TYPE_CHECKING:
    from sedeval_soft.cli.present import Presentation
    from sedeval_soft.core.intake import Limits
    from sedeval_soft.settings import Settings
    from sedeval_soft.tables.event_table import EventTable

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

System = Union[str, dict[float, str], "EventTable"]
"""The path of a table, tables by threshold, or rows of such tables."""


@click.command(cls=GroupedCommand, epilog=EPILOG)
@click.argument("reference", metavar="REFERENCE", required=False, type=click.Path(path_type=str))
@click.argument("systems", metavar="SYSTEM...", required=False, nargs=-1, type=click.Path(path_type=str))
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
        from sedeval_soft.report import list_scores

        emit(list_scores())
        return
    points, folder = _points(given.pop("points"), ctx), given.pop("points_folder")
    if points and folder is not None:
        raise click.UsageError("--operating-point and --operating-points are given; expected one.", ctx)
    move_rule(given)
    _check_arguments(ctx, reference, systems, given, points=bool(points or folder is not None))
    from sedeval_soft.cli.asked import limits_of

    with limits_of(given) as limits:
        if folder is not None:
            from sedeval_soft.api import operating_points

            points = operating_points(folder, limits=limits)
        ctx.exit(_run(reference or "", points or systems, given, limits))


def _check_arguments(
    ctx: click.Context,
    reference: str | None,
    systems: Sequence[str],
    given: Mapping[str, Any],
    *,
    points: bool,
) -> None:
    """Refuse paths and options that do not go together."""
    if points and systems:
        raise click.UsageError("--operating-point and --operating-points stand in place of SYSTEM.", ctx)
    if reference is None or not (systems or points):
        missing = "REFERENCE" if reference is None else "SYSTEM..."
        raise click.UsageError(f"Missing argument '{missing}'.", ctx)
    if [reference, *systems].count("-") > 1:
        raise click.UsageError("Only one of REFERENCE and SYSTEM can be standard input.", ctx)
    check_once(systems, "SYSTEM")
    check_jobs(ctx, systems, given, points=points)
    few = len(systems) < 2
    for name in ("rank_by", "baseline", "runs") if few else ("check", "chance", "curves", "save_tally"):
        if given[name]:
            expected = "of several systems; expected two or more" if few else "of one system; expected one"
            option = f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{option} is {expected} SYSTEM, found {len(systems)}.", ctx)
    if given["runs"] and (given["rank_by"] or given["baseline"]):
        raise click.UsageError("--runs are of one system; --rank-by and --baseline compare several.", ctx)
    if given["baseline"] not in (None, *systems):
        baseline, others = given["baseline"], ", ".join(systems)
        raise click.UsageError(f"--baseline {baseline} is no SYSTEM; expected one of {others}.", ctx)
    if given["form"] == "codabench" and not (few or given["runs"]):
        raise click.UsageError(
            f"--format codabench is of one system; expected one SYSTEM, or --runs, found {len(systems)}.", ctx
        )
    _check_worst(ctx, given, few=few)


def _check_worst(ctx: click.Context, given: Mapping[str, Any], *, few: bool) -> None:
    """Refuse a list of what costs most where nothing would show it."""
    if not given["worst"]:
        return
    if given["runs"]:
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


def _run(
    reference: str, systems: dict[float, str] | Sequence[str], given: dict[str, Any], limits: Limits
) -> int:
    """Evaluate and print; return the exit code."""
    from sedeval_soft.cli.asked import check_intervals, check_resampling, check_wanted, settings_of
    from sedeval_soft.cli.page import Report
    from sedeval_soft.cli.present import Presentation

    shown = Presentation.of(given)
    names = ("curves", "check", "durations", "folds", "by", "save_tally", "rank_by", "baseline", "runs")
    more = ("report", "timelines", "jobs", "scheduler")
    io = {"limits": limits, **{name: given.pop(name) for name in (*names, *more)}}
    io["draws"] = draws_of(given)
    _check_outputs(
        shown,
        io,
        _read(
            reference, systems, io | {"config": given["config"], "thresholds": _file_of(given["thresholds"])}
        ),
    )
    system = _system(systems, io)
    points = not isinstance(system, str | None)
    ranked = system is None and not io["runs"]
    if ranked:
        from sedeval_soft.board.compare import RANK_BY, check_rank_by

        io["rank_by"] = io["rank_by"] or RANK_BY
        check_rank_by(io["rank_by"])
    asked = [*shown.asked, *([io["rank_by"]] if ranked else ())]
    given_worst = given["worst"]
    tuned = io["folds"] if any(".tuned." in name for name in asked) or not shown.wanted else None
    how: dict[str, Any] = {"curves": bool(io["curves"]), "folds": tuned}
    # A page has all readings, also where just some numbers are printed.
    page = (
        Report.of(io, settings_of({**given}, asked, just=False, **how))
        if io["report"] or io["timelines"]
        else None
    )
    settings = settings_of(given, asked, just=bool(shown.wanted), **how)
    if points:
        from sedeval_soft.api import settings_of_points

        settings = settings_of_points(settings, [system])
    check_wanted(asked, settings, points=points, parted=bool(io["folds"] or io["by"]))
    check_intervals(shown.wanted, settings)
    if not ranked:
        check_resampling(given, settings, runs=io["runs"], chance=io["draws"])
    check_objective(given["objective"], settings, io["folds"])
    _check_evaluated({**io, "worst": given_worst}, settings)
    io["page"] = page
    if system is not None:
        return _one(reference, system, settings, shown, io)
    return _several(reference, [*systems], settings, shown, io)


def _system(systems: dict[float, str] | Sequence[str], io: Mapping[str, Any]) -> System | None:
    """Return the system that is scored, a folder of operating points as its rows; None for several."""
    if isinstance(systems, dict):
        return systems
    if len(systems) > 1:
        return None
    from sedeval_soft.api import with_points

    system: System = with_points(systems[0], io["limits"])
    if io["scheduler"] is not None and not isinstance(system, str):
        from sedeval_soft.errors import SettingsError

        raise SettingsError(
            f"--scheduler counts parts; {systems[0]} is a folder of operating points, counted at once"
        )
    return system


def _file_of(thresholds: str | None) -> str | None:
    """Return the file that thresholds are in, None for none and for a rule."""
    from sedeval_soft.fields import RULES

    return None if thresholds in RULES else thresholds


def _read(
    reference: str, systems: dict[float, str] | Sequence[str], io: Mapping[str, str | None]
) -> dict[str, str | None]:
    """Return the paths that are read, by what they are."""
    from sedeval_soft.cli.asked import settings_files

    read: dict[str, str | None]
    if isinstance(systems, dict):
        read = {f"operating point at {threshold}": path for threshold, path in systems.items()}
    else:
        read = each_of("system output", systems)
    by = io["by"] if io["by"] and "{" not in io["by"] else None
    return {
        "reference": reference,
        **read,
        "table of durations": io["durations"],
        "table of folds": io["folds"],
        "table of scenes": by,
        **settings_files(io["config"]),
        "file of thresholds": io["thresholds"],
    }


def _one(reference: str, system: System, settings: Settings, shown: Presentation, io: dict[str, Any]) -> int:
    """Score one system; return the exit code."""
    from sedeval_soft import __version__
    from sedeval_soft.api import counted, has_points, read_lengths, read_parts, sides_of
    from sedeval_soft.cli.progress import progress
    from sedeval_soft.evaluation.count import shard_of_rows
    from sedeval_soft.run.evaluation import score_shard

    limits = io["limits"]
    at_once = io["page"] or io["draws"] or io["check"] or not isinstance(system, str)
    sides: tuple[EventTable, EventTable] | None
    if at_once:
        sides = sides_of(reference, system, settings, limits)
        durations = read_lengths(io["durations"], limits)
        shard = shard_of_rows(*sides, settings, durations)
    else:
        # Parts that only folds and scenes name are scored from all that was counted; that is saved, too.
        whole = any(io.get(name) for name in ("save_tally", "folds", "by"))
        how = {"jobs": io["jobs"], "scheduler": io["scheduler"], "whole": whole}
        sides, durations, shard = counted(reference, system, settings, io["durations"], limits, **how)
    parts = {name: read_parts(io[name], name, shard.tally.files, limits) for name in ("folds", "by")}
    with progress(quiet=shown.quiet) as told:
        scores = score_shard(
            shard,
            __version__,
            folds=parts["folds"],
            by=parts["by"],
            points=sides is not None and has_points(sides[1]),
            progress=told,
        )
    if sides and io["draws"]:
        scores = with_levels(scores, sides, durations, parts["folds"], io["draws"], quiet=shown.quiet)
    shown.warn([scores])
    shown.check([scores])
    # Files first: results that are printed cannot be taken back where these fail.
    if sides and io["page"]:
        io["page"].write(sides[0], {scores.system: sides[1]})
    if io["curves"]:
        from sedeval_soft.report.curves import write_curves

        write_curves(io["curves"], scores.curves, raw_names=shown.raw_names)
    if io["save_tally"]:
        from sedeval_soft.formats import pack_shard
        from sedeval_soft.report import write_atomic

        write_atomic(io["save_tally"], pack_shard(shard, __version__))
    shown.show([scores])
    if sides and io["check"]:
        from sedeval_soft.cli.second import second_opinion
        from sedeval_soft.core.pair import align

        aside = bool(shown.wanted or not shown.printed or shown.form != "text")
        text = second_opinion(io["check"], align(*sides, settings, durations), shard.tally, settings, scores)
        # On standard error where standard output is for a machine.
        (remark if aside else emit)(text.removesuffix("\n") if aside else text)
    return shown.judge([scores])


def _several(
    reference: str, systems: Sequence[str], settings: Settings, shown: Presentation, io: dict[str, Any]
) -> int:
    """Score several systems, or runs of one; return the exit code."""
    from sedeval_soft.api import compare, mean_of_runs
    from sedeval_soft.cli.page import read_systems
    from sedeval_soft.cli.progress import progress

    given: dict[str, Any] = {name: io[name] for name in ("durations", "folds", "by", "limits")}
    given["settings"] = settings
    ours, theirs = read_systems(reference, systems, settings, io["limits"])
    with progress(quiet=shown.quiet) as told:
        if io["runs"]:
            mean = mean_of_runs(ours, theirs, **given)
            board, found = None, [mean]
        else:
            ranked = {"rank_by": io["rank_by"], "baseline": io["baseline"]}
            board = compare(ours, theirs, **ranked, **given, progress=told)
            found = list(board.systems)
    shown.warn(found)
    shown.check(found)
    if io["page"]:
        io["page"].write(ours, theirs, board)
    shown.show(found, board)
    return shown.judge(found)


def _check_outputs(shown: Presentation, io: dict[str, Any], read: Mapping[str, str | None]) -> None:
    """Refuse names of files that results would replace, or write twice."""
    from sedeval_soft.errors import SettingsError

    refuse_overwriting(shown.output, read)
    if io["curves"] is not None:
        from sedeval_soft.report.curves import check_curves_path

        check_curves_path(io["curves"])
    check_tally_path(io["save_tally"], shown.output)
    written = {"-o": shown.output} if shown.output else {}
    for name in ("curves", "save_tally", "report"):
        path, option = io[name], f"--{name.replace('_', '-')}"
        if path is None:
            continue
        refuse_overwriting(path, read, option=option)
        for other, taken in written.items():
            if os.path.realpath(taken) == os.path.realpath(path):
                raise SettingsError(f"{option} {path}: {other} writes this file; expected another one")
        written[option] = path


def _check_evaluated(io: dict[str, Any], settings: Settings) -> None:
    """Refuse curves and a second opinion of what is not evaluated, before anything is printed."""
    from sedeval_soft.errors import SettingsError

    if io["curves"]:
        from sedeval_soft.run.curves import FAMILIES, has_curves

        if not has_curves(settings):
            names = ", ".join(map(".".join, FAMILIES))
            raise SettingsError(
                f"--curves {io['curves']}: nothing that is evaluated has curves; --only names, or --score "
                f"leaves, none of {names}"
            )
    if io["worst"]:
        from sedeval_soft.run.worst import family_of

        if family_of(settings) is None:
            raise SettingsError(
                "--worst is of hard and soft readings of segments, events, clips or intersections; --only "
                "names none of them"
            )
    if io["check"]:
        from sedeval_soft.cli.second import refuse_settings

        refuse_settings(io["check"], settings)
    if io["runs"] and settings.ci:
        raise SettingsError(
            f"--ci {settings.ci} is of one system's files; --runs has the jackknife's interval over runs"
        )
