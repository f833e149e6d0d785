"""The options that commands share, in the groups that their help shows.

Those that are settings are made from `FIELDS`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import click

from sedeval_soft.fields import (
    CHECKS,
    FIELDS,
    INTERSECTIONS,
    INTERVALS,
    METHODS,
    OUTPUT,
    RULES,
    SCORING,
    STEERING,
    Field,
    option_of,
)
from sedeval_soft.tables.paths import is_file

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

FORMATS = ("text", "json", "csv", "tsv", "markdown", "yaml", "latex")

SERVICE_FORMATS = ("github", "junit", "codabench")
"""Forms that services take, which say what is required, too."""


def number(text: str) -> float:
    """Return a decimal number in plain digits: Python would take `1_0` and digits of other scripts, too."""
    if text.isascii() and "_" not in text:
        with contextlib.suppress(ValueError):
            return float(text)
    raise click.BadParameter(f"{text!r} is not a number such as 0.5.")


def segment_length(text: str) -> float:
    """Return a number of seconds, which may be a fraction such as 1/3 or 1024/44100."""
    if "/" not in text:
        return number(text)
    # Not before they are asked for: they import numpy and dataclasses, which the help has no use for.
    from sedeval_soft.errors import SettingsError
    from sedeval_soft.settings import segment_length as parsed

    try:
        return parsed("it", text)
    except SettingsError:
        raise click.BadParameter(f"{text!r} is not a number of seconds such as 0.5 or 1/3.") from None


def jobs(text: str) -> int:
    """Return a number of processes, 0 for one for each processor."""
    if text == "all":
        return 0
    if text.isascii() and text.isdigit() and len(text) < 5:
        return int(text)
    raise click.BadParameter(f"{text!r} is not a number of processes such as 4, or all.")


def threshold(text: str) -> float | str:
    """Return a number, or what `--thresholds` takes: a rule, or the path of a file."""
    try:
        return number(text)
    except click.BadParameter:
        if text in RULES or is_file(text):
            return text
        rules = " or ".join(RULES)
        raise click.BadParameter(
            f"{text!r} is no number such as 0.5, no rule ({rules}), and no file."
        ) from None


class Grouped(click.Option):
    """An option that knows under which heading the help shows it, and which default to show."""

    def __init__(self, *args: Any, heading: str = "Other", shown: str | None = None, **kwargs: Any) -> None:  # noqa: ANN401 - click's own
        super().__init__(*args, **kwargs)
        self.heading = heading
        self.shown = shown

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the option and its help, with the default that it stands for."""
        record = super().get_help_record(ctx)
        if record is None or self.shown is None:
            return record
        return record[0], f"{record[1]}  [default: {self.shown}]"


class _Context(click.Context):
    """The context of a command; of the one that needs no name, usage and hints show the program alone."""

    @property
    def command_path(self) -> str:
        """Return what was called, as one would call it."""
        parent = self.parent
        if parent is None or self.info_name != getattr(parent.command, "default_cmd_name", None):
            return super().command_path
        return parent.command_path


class GroupedCommand(click.Command):
    """A command whose help shows its options under headings."""

    context_class = _Context

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read `--ci` without a method as that with the first: what follows it is a path, then."""
        args = list(args)
        end = args.index("--") if "--" in args else len(args)
        for i in range(end):
            if args[i] == "--ci" and (i + 1 == len(args) or args[i + 1].lower() not in METHODS):
                args[i] = f"--ci={METHODS[0]}"
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options heading by heading, in the order in which headings first appear."""
        sections: dict[str, list[tuple[str, str]]] = {}
        parameters = self.params if ctx.command is self else [*self.params, *ctx.command.params]
        for parameter in [*parameters, ctx.command.get_help_option(ctx)]:
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                sections.setdefault(getattr(parameter, "heading", "Other"), []).append(record)
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl(records)


def option(heading: str, *names: str, **kwargs: Any) -> Decorator:  # noqa: ANN401 - click's own
    """Return a decorator that adds an option under a heading."""
    return click.option(*names, cls=Grouped, heading=heading, **kwargs)


def setting(name: str, **changed: Any) -> Decorator:  # noqa: ANN401 - click's own
    """Return a decorator for the option of a setting, as `FIELDS` defines it.

    changed: what a command has otherwise. What was not given stays as the settings have it.
    """
    field = FIELDS[name]
    how: dict[str, Any] = {"help": field.help, "metavar": field.metavar}
    if field.kind == "switch":
        how |= {"is_flag": True, "flag_value": not field.default}
    else:
        shown = field.default if field.implied is None else field.implied
        how |= {
            "type": _TYPES.get(name) or _type_of(field),
            "multiple": name == "classes" or isinstance(field.default, tuple),
            "shown": field.shown or (str(shown) if isinstance(shown, float | int | str) else None),
        }
    return option(field.heading, option_of(name), name, default=None, **how | changed)


def settings(*names: str) -> tuple[Decorator, ...]:
    """Return decorators for the options of some settings."""
    return tuple(map(setting, names))


def _type_of(field: Field) -> Any:  # noqa: ANN401 - what click takes for a type
    if field.choices:
        return click.Choice(field.choices, case_sensitive=False)
    return {"number": number, "whole": int}.get(field.kind, str)


_TYPES: dict[str, Any] = {
    "segment_length": segment_length,
    "threshold": threshold,
    "cross_tune": int,
    **dict.fromkeys(("median_filter", "min_gap", "min_duration", "psds_median_filters"), number),
}
"""What click makes of the texts of settings that are of no simple kind."""


PATH = click.Path(path_type=str)
FILE = click.Path(dir_okay=False, path_type=str)

FILES = "Parts of the files"
SYSTEMS = "Several systems"
TABLES = "Columns of tables"
LIMITS = "Limits of inputs"

READ: tuple[Decorator, ...] = (
    option(SCORING, "--durations", type=PATH, metavar="TSV",
           help="Table of filename and duration: evaluated lengths (else the reference's last offsets), and "
                "the list of evaluated files."),
    option(SCORING, "--preset", metavar="NAME",
           help="Settings of a challenge, as `soft-sed-eval presets` lists them; options override them."),
    option(SCORING, "--config", type=FILE, metavar="YAML",
           help="File of settings. Options override it; it overrides the file or preset that it `extends`."),
)  # fmt: skip

LIMITED: tuple[Decorator, ...] = (
    option(LIMITS, "--limit", "limits", multiple=True, metavar="NAME=NUMBER",
           help="Raise or lower the most that an input may have: size (bytes, decompressed), ratio (of "
           "compression), rows, classes, files, duration (seconds), name_length, members (of a folder), "
           "line_length. Repeatable."),
    option(LIMITS, "--memory-limit", metavar="SIZE",
           help="Take no more memory than this, such as 4G; what would need more is refused, or counted in "
           "parts where it can be.  [default: 80 % of what is free]"),
)  # fmt: skip

INTAKE: tuple[Decorator, ...] = (
    option(TABLES, "--columns", "columns", multiple=True, metavar="ROLE=COLUMN[,...]",
           help="Which column of a table is its filename, onset, offset, event_label or value, where it is "
           "not called so, and which to ignore: filename=segment_id,value=p,ignore=scene. It holds for each "
           "table that has such a column. Repeatable."),
    *LIMITED,
)  # fmt: skip

STREAM: tuple[Decorator, ...] = (
    option(LIMITS, "--jobs", type=jobs, metavar="N|all",
           help="Count large tables in N processes; 0 or all: one for each processor. The scores are the "
           "same.  [default: half as many as processors, from 256 MiB]"),
    option(LIMITS, "--scheduler", metavar="ADDRESS|local|FILE",
           help="Count by the workers of a dask scheduler: tcp://HOST:PORT, the file that a scheduler writes "
           "for jobs of a cluster, or local for workers of this machine (--jobs of them). The scores are the "
           "same."),
)  # fmt: skip

QUIET = option(OUTPUT, "-q", "--quiet", is_flag=True, help="No warnings and remarks on standard error.")

COUNTING = settings(
    *("reference_threshold", "inclusive", "beta", "classes", "segment_length", "pool"),
    *("onset_collar", "offset_collar", "offset_collar_rate", "onset", "offset", "events"),
    *("median_filter", "min_gap", "min_duration", "dtc", "gtc"),
)
"""What shapes the counts at any threshold."""

CLASSES = setting("classes", help="These classes only. Repeatable; quote names with commas: '\"a, b\",c'.")
"""Of commands where their order does not matter."""

SETTINGS = (
    setting("threshold"),
    *COUNTING,
    *settings(
        *("only", "matching", "cttc", "psds", "alpha_ct", "alpha_st", "max_efpr", "psds_median_filters"),
        *("measures", "max_fpr", "max_fnr", "iou", "bins", "t_norm", "entropy_unit", "epsilon"),
    ),
)

TUNING = settings("thresholds", "cross_tune")
SEARCH = settings("satisfice", "reference_sweep")
OBJECTIVE = settings("objective")
SURE = settings(*STEERING)

TUNE: tuple[Decorator, ...] = (
    *READ,
    option(OUTPUT, "-o", "--output", type=PATH, metavar="FILE",
           help="Write the thresholds to a file; it is complete or not touched."),
    QUIET,
)  # fmt: skip

PARTS: tuple[Decorator, ...] = (
    option(FILES, "--folds", type=PATH, metavar="TSV",
           help="Table of filename and fold: the files of all folds are scored together, and how far the "
           "scores of single folds lie apart is shown below."),
    option(FILES, "--by", type=PATH, metavar="TSV|PATTERN",
           help="Score the files of each scene by themselves, too: a table of filename and scene, or a "
           "pattern of file names with the scene in braces, such as '{scene}_[0-9]*'."),
)  # fmt: skip

SEVERAL: tuple[Decorator, ...] = (
    option(SYSTEMS, "--rank-by", metavar="NAME",
           help="The score by which several systems are ranked.  [default: segment.soft.f1.macro]"),
    option(SYSTEMS, "--baseline", metavar="SYSTEM",
           help="Compare the others with this one of them.  [default: the best]"),
    option(SYSTEMS, "--runs", is_flag=True,
           help="Each SYSTEM is one training of the same system: print the mean of each score over "
           "trainings, and its interval."),
)  # fmt: skip

INPUT: tuple[Decorator, ...] = (
    option(INTERSECTIONS, "--operating-point", "points", multiple=True, metavar="THRESHOLD=TABLE",
           help="In place of SYSTEM: the events that it detects at a threshold. Repeatable; what is computed "
           "over all thresholds is then over these."),
    option(INTERSECTIONS, "--operating-points", "points_folder", metavar="FOLDER",
           help="In place of SYSTEM: a folder, or a pattern in quotes, of such tables whose names hold their "
           "thresholds (out_0.1.tsv, out_0.5.tsv)."),
    *READ,
    setting("strict"),
)  # fmt: skip

RESULTS: tuple[Decorator, ...] = (
    option(OUTPUT, "--format", "form", type=click.Choice((*FORMATS, *SERVICE_FORMATS)), default="text",
           show_default=True,
           help="Form of the results: for people, programs, papers (latex), services. github: annotations, "
           "and a job summary in $GITHUB_STEP_SUMMARY; junit: each requirement a test; codabench: "
           "scores.json, or scores.txt where that is what -o names."),
    option(OUTPUT, "-o", "--output", type=PATH, metavar="FILE",
           help="Write the results to a file; it is complete or not touched."),
    option(OUTPUT, "--save-tally", type=PATH, metavar="FILE",
           help="Write what was counted in each file to FILE, for `soft-sed-eval merge`."),
    option(OUTPUT, "--raw-names", is_flag=True,
           help="Leave names in CSV and TSV as they are, also those that a spreadsheet would run."),
    option(OUTPUT, "--average", "averages", multiple=True, type=click.Choice(["micro", "macro", "weighted"]),
           help="Show only these averages, whatever the form of the results. Repeatable.  [default: all]"),
    option(OUTPUT, "--score", "wanted", multiple=True, metavar="NAME",
           help="Print just this number, such as segment.soft.f1.macro; with --ci, its interval behind it. "
           "Repeatable."),
    QUIET,
    option(CHECKS, "--require", "requirements", multiple=True, metavar="'NAME>=NUMBER'",
           help="Exit with 1 unless the score is so (>=, >, <=, <, ==). Repeatable."),
)  # fmt: skip

PAGE: tuple[Decorator, ...] = (
    option(OUTPUT, "--report", type=PATH, metavar="FILE",
           help="Write a page of HTML for people, too: all readings, thresholds to move, curves, timelines."),
    option(OUTPUT, "--timeline", "timelines", multiple=True, metavar="FILENAME",
           help="Show this recording over time in the report, beside those that cost most and some drawn at "
           "random. Repeatable."),
)  # fmt: skip

SINGLE: tuple[Decorator, ...] = (
    option(INTERVALS, "--chance", is_flag=True,
           help="Show the chance level of each score, what the same output has where it knows nothing of the "
           "recordings, and the score between chance and the best."),
    option(INTERVALS, "--draws", type=click.IntRange(1, 1_000_000), metavar="N",
           help="How often the output is moved in time for chance levels without closed form.  "
           "[default: 100]"),
    setting("worst"),
    option(OUTPUT, "--curves", type=PATH, metavar="FILE",
           help="Write the curves of what is evaluated, over all thresholds, to a .tsv or .parquet file."),
    option(OUTPUT, "--list-scores", is_flag=True,
           help="Print the names and meanings of all scores, and exit."),
    option(CHECKS, "--check", type=click.Choice(["sed_eval", "sed_scores_eval"]),
           help="Score once more with that package, and print ours, theirs, the difference and its causes."),
    setting("compat"),
)  # fmt: skip


def add(*groups: tuple[Decorator, ...]) -> Decorator:
    """Return one decorator that adds all options of some groups, in their order."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed([item for group in groups for item in group]):
            function = decorator(function)
        return function

    return decorate
