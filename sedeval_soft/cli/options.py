"""The options that commands share, in the groups that their help shows.

Options of settings are made from `FIELDS`: a setting added there has its option here.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from pathlib import PurePath
from typing import Any

import click

import sedeval_soft as library
from sedeval_soft.cli.command import FILE, PATH, Option, setting
from sedeval_soft.fields import (
    CHECKS,
    EVENTS,
    FIELDS,
    FORMATS,
    INTERSECTIONS,
    MEASURES,
    OUTPUT,
    PROCESSING,
    READING,
    SCORING,
    STEERING,
)

SERVICE_FORMATS = ("github", "junit", "codabench")
"""Forms that services take; they also include the requirements."""

FILES = "Folds and scenes"
SYSTEMS = "Several systems"
LIMITS = "Limits"


_EXTENSIONS = {"md": "markdown", "tex": "latex", "xml": "junit", "yml": "yaml"}
"""Forms of results by the extensions of their files, if the extension differs from the form's name."""

_ELSEWHERE = {
    **dict.fromkeys(("html", "htm"), "soft-sed-eval report REFERENCE SYSTEM... -o"),
    **dict.fromkeys(("pdf", "png", "svg"), "soft-sed-eval plot KIND ... -o"),
    **dict.fromkeys(("parquet", "xlsx")),
}
"""Extensions of files without text of results, with the command, if any, that writes such files."""


def by_extension(context: click.Context, parameter: click.Parameter, form: str | None) -> str:
    """Return the form of results, as click calls it: if none is given, by the extension of -o, or text.

    Raises SettingsError for an extension of another kind of files: no program opens text as a page or figure.
    """
    output, choices = context.params["output"] or "", getattr(parameter.type, "choices", ())
    extension = PurePath(output).suffix.lower().removeprefix(".")
    likely = _EXTENSIONS.get(extension, extension)
    if form or likely in choices:
        return form or likely
    if extension in {*FORMATS, *_EXTENSIONS, *_ELSEWHERE}:
        scores = any(each.name == "baseline" for each in context.command.params)
        other = _ELSEWHERE.get(extension) if scores else None
        expected = f"{other} {output}" if other else f"--format {', '.join(choices)}, or another extension"
        raise library.SettingsError(
            f"-o {output}: results are not written as .{extension}; expected {expected}"
        )
    return "text"


def result_forms(forms: Sequence[str], **attributes: Any) -> tuple[Option, Option]:  # noqa: ANN401
    """Return the options for the file and the form of results; attributes: of the option for the form."""
    attributes["help"] += "  [default: that of the extension of -o; else text]"
    kind = click.Choice(forms)
    form = Option(OUTPUT, "--format", "form", type=kind, callback=by_extension, **attributes)
    output = Option(
        OUTPUT, "-o", "--output", type=PATH, metavar="FILE",
        brief="Write the results to a file." if form.brief else "",
        help="Write the results to a file. If something fails, the file stays as it was.",
        is_eager=True,  # it is read first
    )  # fmt: skip
    return form, output


def seldom(options: Sequence[Option], *but: str) -> tuple[Option, ...]:
    """Return options for a command whose short help has many of its own: only some of these are in it."""
    copies = [copy(each) for each in options]
    for each in copies:
        each.brief = each.brief if each.name in but else ""
    return tuple(copies)


def settings_under(*headings: str, without: Sequence[str]) -> tuple[Option, ...]:
    """Return the options of all settings under some headings, without some of them."""
    return tuple(
        setting(name)
        for heading in headings
        for name, field in FIELDS.items()
        if field.heading == heading and name not in without
    )


READ = (
    Option(SCORING, "--durations", type=PATH, metavar="TSV", brief="Table with the length of each file.",
        help="Table of filename and duration: the files to evaluate, and their lengths.  [default: up to "
        "the last offset in the reference]"),
    Option(SCORING, "--preset", metavar="NAME", brief="Settings of a challenge; see `presets`.",
        help="Settings of a challenge, as `soft-sed-eval presets` lists them; options override them."),
    Option(SCORING, "--config", type=FILE, metavar="YAML",
        help="File of settings; options override them."),
)  # fmt: skip

LIMITED = (
    Option(LIMITS, "--limit", "limits", multiple=True, metavar="NAME=NUMBER",
        help="Change the most that an input may have: size (bytes, decompressed), ratio (of compression), "
        "rows, classes, files, duration (seconds), name_length, members, line_length. Repeatable."),
    Option(LIMITS, "--memory-limit", metavar="SIZE", help="Use no more memory than this, such as 4G: "
        "count in parts, or refuse.  [default: 80 % of what is free]"),
)  # fmt: skip

POINTS = setting("operating_points")
INTAKE = (*(setting(name) for name in READING if name != "operating_points"), *LIMITED)

QUIET = Option(OUTPUT, "-q", "--quiet", is_flag=True, brief="No warnings and remarks.",
    help="No warnings and remarks on standard error.")  # fmt: skip

SETTINGS = settings_under(
    *(SCORING, EVENTS, PROCESSING, INTERSECTIONS, MEASURES),
    without=("strict", "satisfice", "reference_sweep"),
)
COUNTING = settings_under(
    *(SCORING, EVENTS, PROCESSING, INTERSECTIONS),
    without=(
        *("strict", "threshold", "only", "matching", "cttc", "psds"),
        *("alpha_ct", "alpha_st", "max_efpr", "psds_median_filters"),
    ),
)
"""Settings that shape the counts at any threshold."""

TUNING = (setting("thresholds"), setting("cross_tune"))
OBJECTIVE = setting("objective")
SURE = tuple(map(setting, STEERING))
EVERYTHING = (
    *SETTINGS,
    setting("satisfice"),
    setting("reference_sweep"),
    *TUNING,
    OBJECTIVE,
    *SURE,
    setting("compat"),
)

PARTS = (
    Option(FILES, "--folds", type=PATH, metavar="TSV",
        help="Table of filename and fold: also show how much the scores of folds differ."),
    Option(FILES, "--by", type=PATH, metavar="TSV|PATTERN", help="Also score the files of each scene "
        "separately: a table of filename and scene, or a pattern of file names with the scene in "
        "braces, such as '{scene}_[0-9]*'."),
)  # fmt: skip

RANKED = (
    Option(SYSTEMS, "--rank-by", metavar="NAME",
        help="The score that is shown first and ranks several systems.  [default: the preset's score; else "
        "segment.soft.f1.macro, or segment.hard.f1.macro if the reference has no values]"),
    Option(SYSTEMS, "--baseline", metavar="SYSTEM",
        help="The system with which the others are compared.  [default: the best]"),
)  # fmt: skip

SCORES = (
    *result_forms((*FORMATS, *SERVICE_FORMATS), metavar="FORM",
        brief="Such as json, csv, markdown, latex or junit.",
        help=f"{', '.join(FORMATS)}, or one that services take: github (annotations, and a summary in "
        "$GITHUB_STEP_SUMMARY), junit (each --require is a test) or codabench (scores.json, or scores.txt)."),
    Option(OUTPUT, "-v", "--verbose", count=True, brief="Print all tables; -vv the whole signature.",
        help="Print all tables (with --per-file all files); -vv with the whole signature."),
    Option(OUTPUT, "--by-class", is_flag=True,
        help="Show F of all classes, groups and scenes, not just of the worst."),
    Option(OUTPUT, "--words", is_flag=True, help="Explain the words of the screen below it."),
    Option(OUTPUT, "--average", "averages", multiple=True,
        type=click.Choice(["micro", "macro", "weighted", "harmonic", "geometric"]), metavar="AVERAGE",
        help="Show only these averages: micro, macro, weighted, harmonic or geometric. Repeatable."),
    Option(OUTPUT, "--score", "wanted", multiple=True, metavar="NAME",
        brief="Print only this, such as segment.soft.f1.macro.",
        help="Print only this number, such as segment.soft.f1.macro, and its interval with --ci; or these "
        "scores in the --format. Repeatable."),
    QUIET,
)  # fmt: skip
"""Options that shape the display of scores."""

RESULTS = (
    *SCORES,
    Option(OUTPUT, "--save-tally", type=PATH, metavar="FILE",
        help="Write what was counted in each file, for `merge`."),
    Option(OUTPUT, "--per-file", is_flag=True,
        help="Print the scores of each file, the worst first. --score chooses scores."),
    Option(CHECKS, "--require", "requirements", multiple=True, metavar="'NAME>=NUMBER'",
        brief="Exit with 1 if this does not hold.",
        help="Exit with 1 if this does not hold; >, <=, < and == are also possible. Repeatable."),
)  # fmt: skip

REQUIRED = "0 done, 1 a requirement failed, 2 wrong call or input."
"""The exit codes of commands that compare scores with requirements."""
