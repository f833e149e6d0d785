"""`soft-sed-eval REFERENCE SYSTEM...`: the main job."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import click
from click.exceptions import Exit

from sedeval_soft.cli import options
from sedeval_soft.cli.options import argument, refuse
from sedeval_soft.cli.output import check_files, each_of, emit, progress, to_standard_output, warn
from sedeval_soft.fields import RULES
from sedeval_soft.published import NAMES

if TYPE_CHECKING:
    from sedeval_soft.api.evaluation import Evaluation
    from sedeval_soft.cli.present import Presentation
    from sedeval_soft.comparison.board import Board
    from sedeval_soft.evaluation.scores import Scores
    from sedeval_soft.settings import Settings
    from sedeval_soft.tables.event_table import EventTable
    from sedeval_soft.tables.limits import Limits

EXAMPLES = """
  soft-sed-eval ref.tsv sys.tsv
  soft-sed-eval ref.tsv sys.tsv --segment-length 0.2 --ci --report report.html
  soft-sed-eval ref.tsv a.tsv b.tsv c.tsv --rank-by segment.soft.f1.macro
  soft-sed-eval ref.tsv sys.tsv --worst 10 --format json -o scores.json
  soft-sed-eval ref.tsv sys.tsv --score segment.soft.f1.macro
  soft-sed-eval ref.tsv sys.tsv --require 'segment.soft.f1.macro>=0.35'
  soft-sed-eval merge *.tally
"""


@options.command(
    EXAMPLES,
    argument("REFERENCE", required=False),
    argument("SYSTEM...", "systems", required=False, nargs=-1),
    *options.EVALUATE,
    status=options.REQUIRED,
)
def evaluate(**given: Any) -> None:  # noqa: ANN401
    """Score sound event detection systems against a hard or soft reference.

    REFERENCE and SYSTEM are tables of onset, offset, class and (optional) value in [0, 1] per row, or of
    onset, offset and one column per class; tab-, comma- or semicolon-separated, with or without a
    header, gzipped or not; or folders of such tables, one per recording. `-` is standard input.

    Prints segment- and event-based scores in three readings: hard (both sides cut at a threshold),
    optimal (each class cut at its best threshold) and soft (all levels of both sides). For several systems
    it prints a leaderboard; with --runs they are training runs of one system, and it prints their mean.
    """
    if given["list_scores"]:
        from sedeval_soft.report.explanation import list_scores

        emit(list_scores())
        return
    given["points"] = given["points"] and _points(given["points"])
    _check_call(given, len(given["systems"]))
    names, paths = _names(given), given["systems"]
    # The baseline is given by its path, or by its name.
    if given["baseline"] in paths:
        given["baseline"] = names[paths.index(given["baseline"])]
    expected = f"is not one of the systems; expected one of {', '.join(names)}."
    refuse((given["baseline"] not in (None, *names), f"--baseline {given['baseline']} {expected}"))
    given["named"] = dict(zip(names, paths, strict=False))
    with options.limits_of(given) as limits:
        if given["points_folder"] is not None:
            from sedeval_soft.api.sources import operating_points

            given["points"] = operating_points(given["points_folder"], limits=limits)
        raise Exit(_run(given, limits))


def _names(given: Mapping[str, Any]) -> list[str]:
    """Return what systems are called: as `--name` says, else the names of their files if these differ."""
    paths, names = given["systems"], [*given["names"]]
    if names and not given["runs"]:
        expected = (
            f"expected {len(paths) or 1} different names, one for each SYSTEM; found {', '.join(names)}"
        )
        refuse((len({*names}) != (len(paths) or 1) or len(names) != len({*names}), f"--name: {expected}."))
        return names
    refuse((len(names) > 1, "--name with --runs is the name of the mean; expected it once."))
    files = [PurePath(path).name or path for path in paths]
    return files if len({*files}) == len(files) else [*paths]


def _points(texts: tuple[str, ...]) -> dict[float, str]:
    """Return tables by threshold from `THRESHOLD=TABLE`, each threshold once."""
    points: dict[float, str] = {}
    for text in texts:
        threshold, _, path = text.partition("=")
        try:
            value = float(threshold)
        except ValueError:
            value = -1.0
        if not (path and 0 <= value <= 1) or value in points:
            expected = "expected THRESHOLD=TABLE, each threshold in [0, 1] once"
            raise click.UsageError(f"--operating-point {text!r}: {expected}.")
        points[value] = path
    return points


def _check_call(given: Mapping[str, Any], count: int) -> None:
    """Raise UsageError for arguments and options that do not go together. count: of systems."""
    reference, systems, form, report = (given[each] for each in ("reference", "systems", "form", "report"))
    points, folder = bool(given["points"]), given["points_folder"] is not None
    scheduler, jobs, runs, worst = (given[name] for name in ("scheduler", "jobs", "runs", "worst"))
    in_parts = scheduler is not None or jobs not in (None, 1)
    option = "--jobs" if scheduler is None else "--scheduler"
    # Which forms of results show what costs most.
    forms = ("text", "json", "yaml", "markdown", "github") if count < 2 else ("json", "yaml")
    kind = "" if count < 2 else " of several SYSTEM"
    two, one = f"two or more SYSTEM; found {count}", f"one SYSTEM; found {count}"
    refuse(
        (points and folder, "--operating-point and --operating-points are both given; expected one."),
        ((points or folder) and systems,
         "--operating-point and --operating-points stand in place of SYSTEM."),
        (reference is None, "Missing argument 'REFERENCE'."),
        (not (systems or points or folder), "Missing argument 'SYSTEM...'."),
        ([reference, *systems].count("-") > 1, "Only one of REFERENCE and SYSTEM can be standard input."),
        *((systems.count(one) > 1, f"SYSTEM {one} is given twice; expected each once.") for one in systems),
        (scheduler is not None and jobs is not None,
         f"--jobs counts on this machine, --scheduler {scheduler} on its workers; expected one of them."),
        (in_parts and count != 1, f"{option} needs exactly one SYSTEM, a table."),
        *((in_parts and given[name], f"{option} cannot go with --{name}, which needs all rows at once.")
          for name in ("report", "chance", "check")),
        *((count < 2 and given[name],
           f"--{name.replace('_', '-')} needs {two}.")
          for name in ("baseline", "runs")),
        *((count > 1 and given[name],
           f"--{name.replace('_', '-')} needs {one}.")
          for name in ("check", "chance", "curves", "save_tally")),
        (runs and given["baseline"], "--runs cannot go with --baseline, which compares several systems."),
        (form == "codabench" and count > 1 and not runs,
         f"--format codabench needs one SYSTEM, or --runs; found {count}."),
        (worst and runs, "--worst cannot go with --runs, which prints means."),
        (worst and given["wanted"], "--worst cannot go with --score, which prints only numbers."),
        (worst and form not in forms,
         f"--worst{kind} is not shown by --format {form}; expected --format {' or '.join(forms)}."),
        (given["draws"] and not given["chance"], "--draws needs --chance."),
        (given["timelines"] and not report, "--timeline needs --report FILE."),
        (given["audio"] and not report, "--audio needs --report FILE."),
        (report is not None and to_standard_output(report),
         f"--report {report}: expected the path of a file."),
        (report is not None and runs, "--report cannot go with --runs, which prints means."),
    )  # fmt: skip


def _names_that_rank(given: dict[str, Any], likely: Callable[[], Sequence[str]]) -> list[str]:
    """Return the score that ranks several systems, or is to stand first of one, if there is any."""
    if given["rank_by"]:
        from sedeval_soft.cli.present import parse_name

        given["rank_by"] = parse_name(given["rank_by"], likely)
    if len(given["systems"]) < 2 or given["runs"]:
        return [given["rank_by"]] if given["rank_by"] else []
    name = options.rank_by_of(given)
    if name is None:
        return []
    from sedeval_soft.comparison.compare import check_rank_by

    check_rank_by(name)
    return [name]


def _run(given: dict[str, Any], limits: Limits) -> int:
    """Read the settings, evaluate and print; return the exit code."""
    from sedeval_soft.api.evaluation import settings_of_points
    from sedeval_soft.api.sources import with_points
    from sedeval_soft.cli.present import Presentation
    from sedeval_soft.errors import SettingsError

    likely = partial(options.computed_names, given)
    presentation = Presentation(given, likely)
    if given["audio"] is not None:
        from sedeval_soft.html.sounds import check_audio

        check_audio(given["audio"])
    if any(given[option] is not None for option in ("output", "report", "curves", "save_tally")):
        _check_outputs(given)
    systems, runs = given["systems"], given["runs"]
    system = with_points(given["points"] or systems[0], limits) if len(systems) < 2 else None
    points = not isinstance(system, str | None)
    if given["scheduler"] is not None and points:
        folder = f"{systems[0]} is a folder of operating points"
        raise SettingsError(f"--scheduler needs a table; {folder}")
    names, just = presentation.names, bool(presentation.wanted)
    ranking = _names_that_rank(given, likely) if given["rank_by"] or len(systems) > 1 else []
    names = [*names, *ranking]
    defaults: Sequence[str] = ()
    if len(systems) > 1 and not (ranking or runs):
        from sedeval_soft.comparison.compare import RANK_BY

        # One of them ranks systems: which one is known when the reference was read.
        defaults = [*RANK_BY.values()]
    folds = given["folds"] if not just or any(".tuned." in name for name in names) else None
    # A page has all readings, also where just some numbers are printed.
    page = options.settings_of(given, names, folds=folds) if given["report"] else None
    settings = options.settings_of(given, [*names, *defaults], just=just, folds=folds)
    if points:
        settings = settings_of_points(settings, [system])
    options.check_effects(given, page or settings)
    if names or given["objective"]:
        options.check_scores(given, settings, names, points=points)
    if settings.ci or len(systems) < 2 or runs:  # of several differences are resampled whatever is asked for
        options.check_intervals(given, settings, presentation.wanted)
    if any(given[option] for option in ("curves", "worst", "check", "runs")):
        _check_evaluated(given, settings)
    return _score(given, system, settings, page, presentation, limits)


def _check_outputs(given: Mapping[str, Any]) -> None:
    """Raise SettingsError for files that results would replace or write twice."""
    by, curves, points = (given[name] for name in ("by", "curves", "points"))
    inputs = {f"operating point at {threshold}": path for threshold, path in dict(points).items()}
    read = {
        "reference": given["reference"],
        **(inputs or each_of("system output", given["systems"])),
        "table of durations": given["durations"],
        "table of folds": given["folds"],
        "list of files": given["files"],
        "table of regions": given["regions"],
        "table of scenes": by if by and "{" not in by else None,
        **options.settings_files(given["config"]),
        "file of thresholds": None if given["thresholds"] in RULES else given["thresholds"],
    }
    if curves is not None:
        from sedeval_soft.report.delimited import check_curves_path

        check_curves_path(curves)
    outputs = {"--curves": curves, "--save-tally": given["save_tally"], "--report": given["report"]}
    check_files({"-o": given["output"], **outputs}, read)


def _check_evaluated(given: Mapping[str, Any], settings: Settings) -> None:
    """Raise SettingsError where what is evaluated has no curves, no costs, or no second opinion."""
    from sedeval_soft.errors import SettingsError
    from sedeval_soft.evaluation.curves import FAMILIES, has_curves
    from sedeval_soft.evaluation.details import family_of

    if given["curves"] and not has_curves(settings):
        names = ", ".join(map(".".join, FAMILIES))
        raise SettingsError(
            f"--curves {given['curves']}: nothing that is evaluated has curves: --only names, or --score "
            f"leaves, none of {names}"
        )
    if given["worst"] and family_of(settings) is None:
        raise SettingsError(
            "--worst needs a hard or soft reading of segments, events, clips or intersections; --only names "
            "none of them"
        )
    if given["check"] and given["check"] not in NAMES:
        import_module(f"sedeval_soft.interop.{given['check']}").refuse_settings(settings)
    if given["runs"] and settings.ci:
        expected = "--runs gives jackknife intervals over runs"
        raise SettingsError(f"--ci {settings.ci} cannot go with --runs; {expected}")


def _score(
    given: Mapping[str, Any],
    system: Any,  # noqa: ANN401 - a path, or operating points
    settings: Settings,
    page: Settings | None,
    presentation: Presentation,
    limits: Limits,
) -> int:
    """Score one system or several, write and print; return the exit code. system: where there is one."""
    from sedeval_soft.api.evaluation import DRAWS, evaluation_of

    tables = {name: given[name] for name in ("durations", "folds", "by")}
    how: dict[str, Any] = {"settings": settings, "limits": limits, **tables}
    board, evaluation, quiet = None, None, presentation.quiet
    sides: tuple[EventTable, dict[str, EventTable]] | None
    with progress(quiet=quiet) as show:
        if system is None:
            sides, board, scores = _score_several(given, how, show)
        else:
            evaluation = evaluation_of(
                given["reference"], system, **how, name=next(iter((*given["names"], *given["named"])), None),
                jobs=given["jobs"], scheduler=given["scheduler"],
                rows_in_memory=bool(page or given["chance"] or given["check"]), progress=show,
            )  # fmt: skip
    if evaluation is not None:
        if given["chance"]:
            with progress(quiet=quiet, label="moving the output in time") as show:
                evaluation = evaluation.with_chance(given["draws"] or DRAWS, show)
        scores = [evaluation.scores]
        rows = evaluation.sides
        sides = rows and (rows[0], {scores[0].system: rows[1]})
    if given["thresholds"] not in (None, *RULES):
        board, scores = _with_doubts(given["thresholds"], board, scores)
    presentation.check(scores)
    # Files first: results that are printed cannot be taken back where these fail.
    if page and sides:
        from sedeval_soft.api.report import write_report
        from sedeval_soft.html.report_page import Choices

        choices = Choices(files=given["timelines"])
        how_shown = {**how, "settings": page, "audio": given["audio"]}
        reported = write_report(*sides, given["report"], board=board, choices=choices, **how_shown)
        if given["audio"]:
            known = {text for each in scores for text in each.warnings}
            texts = [text for each in reported for text in each.warnings if text not in known]
            warn(texts, quiet=presentation.quiet)
    if given["curves"]:
        from sedeval_soft.report.delimited import write_curves

        write_curves(given["curves"], scores[0].curves, raw_names=presentation.raw_names)
    if given["save_tally"] and evaluation:
        evaluation.save(given["save_tally"])
    presentation.show(scores, board)
    if given["check"] and evaluation:
        # With what a reference declares.
        presentation.add(_second_opinion(given["check"], evaluation, evaluation.shard.settings))
    return presentation.judge(scores) if presentation.requirements else 0


def _with_doubts(path: str, board: Board | None, systems: list[Scores]) -> tuple[Board | None, list[Scores]]:
    """Return scores with warnings of thresholds that were found on the same tables, or by other settings."""
    from dataclasses import replace

    from sedeval_soft.evaluation.signature import doubts_of_tuning
    from sedeval_soft.settings_files import signature_of_thresholds

    made = signature_of_thresholds(path)
    doubted = [
        replace(s, warnings=(*s.warnings, *doubts_of_tuning(path, made, s.settings, s.inputs)))
        for s in systems
    ]
    return board and replace(board, systems=tuple(doubted)), doubted


def _second_opinion(tool: str, evaluation: Evaluation, settings: Settings) -> str:
    """Return a table of our scores beside those of a package, or of an evaluator that was published."""
    if tool in NAMES:
        from sedeval_soft.interop.published import check_published

        if evaluation.sides is None:
            raise TypeError("the rows are not in memory")
        return check_published(
            tool, evaluation.sides, evaluation.shard.durations, evaluation.scores, evaluation.scenes,
            settings=settings,
        )  # fmt: skip
    table: str = import_module(f"sedeval_soft.interop.{tool}").second_opinion(
        evaluation.pair, evaluation.shard.tally, settings, evaluation.scores
    )
    return table


def _score_several(
    given: Mapping[str, Any], how: Mapping[str, Any], show: Callable[[int, int], None] | None
) -> tuple[tuple[EventTable, dict[str, EventTable]], Board | None, list[Scores]]:
    """Return the rows of both sides, the board of several systems unless they are runs of one, and scores."""
    from sedeval_soft.api.comparison import compare, mean_of_runs, score_each
    from sedeval_soft.api.sources import to_rows, with_points
    from sedeval_soft.memory import reuse_freed

    settings, limits = how["settings"], how["limits"]
    # Before there are threads, which reading tables begins.
    reuse_freed()
    # Read once, for scores and for the page.
    reference = to_rows(given["reference"], "reference", settings, limits)
    systems = {
        name: to_rows(with_points(path, limits), "system", settings, limits)
        for name, path in given["named"].items()
    }
    if given["per_file"] and not given["report"]:
        # Scores of single files are not compared, nor resampled.
        return (reference, systems), None, score_each(reference, systems, **how)
    if given["runs"]:
        return (
            (reference, systems),
            None,
            [mean_of_runs(reference, systems, name=next(iter(given["names"]), None), **how)],
        )
    board = compare(reference, systems, baseline=given["baseline"], **how, progress=show)
    return (reference, systems), board, [*board.systems]
