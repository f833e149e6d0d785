"""`soft-sed-eval REFERENCE SYSTEM`: the main job."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from sedeval_soft.cli.options import INPUT, RESULTS, SETTINGS, GroupedCommand, add
from sedeval_soft.cli.output import emit, refuse_overwriting, remark, to_standard_output

if TYPE_CHECKING:
    from sedeval_soft.cli.requirements import Requirement
    from sedeval_soft.core.settings import Settings
    from sedeval_soft.core.value import Scores

EPILOG = """\b
Examples:
  soft-sed-eval ref.tsv sys.tsv
  soft-sed-eval ref.tsv sys.tsv --segment-length 0.2 --format json -o scores.json
  soft-sed-eval ref.tsv sys.tsv --score segment.soft.f1.macro
  soft-sed-eval ref.tsv sys.tsv --require 'segment.soft.f1.macro>=0.35'

\b
Exit status: 0 done, 1 a requirement was not met, 2 the call or the input is wrong.
"""


@click.command(cls=GroupedCommand, epilog=EPILOG)
@click.argument("reference", metavar="REFERENCE", required=False, type=click.Path(path_type=str))
@click.argument("system", metavar="SYSTEM", required=False, type=click.Path(path_type=str))
@add(SETTINGS, INPUT, RESULTS)
@click.pass_context
def evaluate(ctx: click.Context, /, reference: str | None, system: str | None, **given: Any) -> None:  # noqa: ANN401
    """Score a sound event detection system against a hard or soft reference.

    REFERENCE and SYSTEM are tables of onset, offset, class and (optional) value in [0, 1] per row, or of
    onset, offset and one column per class; tab-, comma- or semicolon-separated, with or without a
    header, gzipped or not; or folders of such tables, one per recording. `-` is standard input.

    Prints segment- and event-based scores in three readings: hard (both sides cut at a threshold),
    optimal (each class cut at its best threshold) and soft (all levels of both sides).
    """
    if given.pop("list_scores"):
        from sedeval_soft.report import list_scores

        emit(list_scores())
        return
    points = _points(given.pop("points"), ctx)
    if points and system is not None:
        raise click.UsageError("--operating-point stands in place of SYSTEM.", ctx)
    if reference is None or (system is None and not points):
        missing = "REFERENCE" if reference is None else "SYSTEM"
        raise click.UsageError(f"Missing argument '{missing}'.", ctx)
    if reference == "-" and system == "-":
        raise click.UsageError("Only one of REFERENCE and SYSTEM can be standard input.", ctx)
    code = _run(reference, points if system is None else system, given)
    ctx.exit(code)


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


def _run(reference: str, system: str | dict[float, str], given: dict[str, Any]) -> int:
    """Evaluate and print; return the exit code."""
    from sedeval_soft.api import read_lengths, score_pair, to_rows
    from sedeval_soft.cli.requirements import parse_requirements, parse_wanted, unmet
    from sedeval_soft.core.pair import align

    names = ("form", "averages", "output", "curves", "quiet", "wanted", "requirements", "check", "durations")
    io = {name: given.pop(name) for name in names}
    requirements = parse_requirements(io["requirements"])
    wanted = parse_wanted(io["wanted"])
    read = {"reference": reference}
    if isinstance(system, dict):
        read |= {f"operating point at {threshold}": path for threshold, path in system.items()}
    else:
        read["system output"] = system
    read |= {"table of durations": io["durations"], "settings file": given["config"]}
    refuse_overwriting(io["output"], read)
    _check_curves(io, read)
    asked = [*wanted, *(requirement.name for requirement in requirements)]
    settings = _settings(given, asked, just=bool(wanted), curves=bool(io["curves"]))
    settings = _of(system, settings)
    _check_wanted(asked, settings, points=isinstance(system, dict))
    _check_evaluated(io, settings)
    sides = (to_rows(reference, "reference", settings), to_rows(system, "system", settings))
    durations = read_lengths(io["durations"])
    pair = align(*sides, settings, durations)
    scores = score_pair(*sides, pair, settings, durations=durations)
    if not io["quiet"]:
        for warning in scores.warnings:
            remark(f"warning: {warning}")
    printed = to_standard_output(io["output"])
    if io["curves"]:
        # First: results that are printed cannot be taken back where this fails.
        from sedeval_soft.report.curves import write_curves

        write_curves(io["curves"], scores.curves)
    emit(
        _numbers(scores, wanted) if wanted else _tables(scores, io, printed=printed),
        io["output"],
    )
    if io["check"]:
        _second_opinion(pair, settings, scores, aside=bool(wanted or not printed or io["form"] != "text"))
    return _judge(scores, requirements, unmet)


def _of(system: str | dict[float, str], settings: Settings) -> Settings:
    """Return the settings for a table, or for a system of operating points."""
    from sedeval_soft.api import of_points

    return settings if isinstance(system, str) else of_points(settings)


def _check_curves(io: dict[str, Any], read: Mapping[str, str | None]) -> None:
    """Refuse a name of a file of curves that is none, or that of another file."""
    from sedeval_soft.core.errors import SettingsError
    from sedeval_soft.report.curves import check_curves_path

    if io["curves"] is None:
        return
    check_curves_path(io["curves"])
    refuse_overwriting(io["curves"], read, option="--curves")
    if io["output"] and os.path.realpath(io["output"]) == os.path.realpath(io["curves"]):
        raise SettingsError(f"--curves {io['curves']}: -o writes this file; expected another one")


def _check_evaluated(io: dict[str, Any], settings: Settings) -> None:
    """Refuse curves and a second opinion of what is not evaluated, before anything is printed."""
    if io["curves"]:
        from sedeval_soft.core.errors import SettingsError
        from sedeval_soft.run.curves import FAMILIES, has_curves

        if not has_curves(settings):
            names = ", ".join(map(".".join, FAMILIES))
            raise SettingsError(
                f"--curves {io['curves']}: nothing that is evaluated has curves; --only names, or --score "
                f"leaves, none of {names}"
            )
    if io["check"]:
        from sedeval_soft.compat.check import refuse_settings

        refuse_settings(settings)


def _check_wanted(names: list[str], settings: Settings, *, points: bool) -> None:
    """Refuse names of scores that are computed only when asked for, and were not.

    points: the system is one of operating points.
    """
    from sedeval_soft.cli.requirements import check_part
    from sedeval_soft.core.errors import SettingsError
    from sedeval_soft.measures.names import ScoreName
    from sedeval_soft.measures.registry import group_of

    for name in names:
        parsed = ScoreName.parse(name)
        basis, reading, measure = parsed.basis, parsed.reading, parsed.measure
        check_part(parsed, settings)
        if measure == "pipsds" and not settings.psds_median_filters:
            raise SettingsError(f"{name} needs --psds-median-filters")
        if measure == "psds" and not settings.wants_psds:
            raise SettingsError(f"{name} needs --psds NAME, or one of --alpha-ct, --alpha-st and --max-efpr")
        if group_of(name) not in ("", *settings.measures):
            if points:
                raise SettingsError(f"{name} needs values; --operating-point has lists of events without")
            raise SettingsError(f"{name} is left out by --measures {' --measures '.join(settings.measures)}")
        if not (settings.wants_psds_of(reading) if "psds" in measure else settings.wants(basis, reading)):
            raise SettingsError(f"{name} is left out by --only {' --only '.join(settings.only)}")


def _settings(given: dict[str, Any], asked: list[str], *, just: bool, curves: bool) -> Settings:
    """Join the settings file and the options that were given, which win.

    asked: names of scores, whose groups of measures are computed; just: nothing but these is needed.
    curves: those are needed.
    """
    from dataclasses import replace

    from sedeval_soft.config import load_settings, split_classes
    from sedeval_soft.core.settings import DEFAULT_ONLY, GROUPS, Settings
    from sedeval_soft.measures.registry import group_of

    config = given.pop("config")
    values = {} if config is None else load_settings(config)
    for name, value in given.items():
        if value is None or value == ():
            continue
        values[name] = split_classes(value) if name == "classes" else value
    families = [".".join(name.split(".")[:2]) for name in asked]
    if just and not given["only"]:
        values["only"] = tuple(dict.fromkeys(families))
    elif "only" not in values:
        # What must be met is evaluated beside what is printed anyway; PSDS is asked for in its own way.
        more = [f for f, name in zip(families, asked, strict=True) if "psds" not in name]
        values["only"] = (
            *DEFAULT_ONLY,
            *dict.fromkeys(f for f in more if f.split(".")[0] not in DEFAULT_ONLY),
        )
    settings = Settings.of(**values)
    needed = {*settings.measures, "curves"} if curves else {*settings.measures}
    if not given["measures"]:
        needed |= {*map(group_of, asked)}
    return replace(settings, measures=tuple(group for group in GROUPS if group in needed))


def _numbers(scores: Scores, wanted: list[str]) -> str:
    """Return just the wanted numbers, one per line, `-` where undefined."""
    from sedeval_soft.report.table import exact

    return "".join(f"{exact(scores[name])}\n" for name in wanted)


def _tables(scores: Scores, io: dict[str, Any], *, printed: bool) -> str:
    from sedeval_soft.report import render

    form, averages = io["form"], io["averages"]
    if form == "text" and printed and sys.stdout.isatty():
        from shutil import get_terminal_size

        return render([scores], form, averages=averages, color=True, width=get_terminal_size().columns)
    return render([scores], form, averages=averages)


def _second_opinion(pair: Any, settings: Settings, scores: Scores, *, aside: bool) -> None:  # noqa: ANN401 - a Pair
    """Print another tool's scores beside ours; aside on standard error where stdout is for a machine."""
    from sedeval_soft.compat.check import check_sed_eval
    from sedeval_soft.report import comparison_table

    text = comparison_table("sed_eval", check_sed_eval(pair, settings, scores))
    if aside:
        remark(text.removesuffix("\n"))
    else:
        emit(text)


def _judge(scores: Scores, requirements: list[Requirement], unmet: Any) -> int:  # noqa: ANN401 - a function
    failures = unmet(scores, requirements)
    for failure in failures:
        remark(f"requirement not met: {failure}")
    return 1 if failures else 0
