"""The options that commands share, in the groups that their help shows, and what they say together.

Options of settings are made from `FIELDS`: whoever adds a setting there has its option here.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from itertools import pairwise
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import click

from sedeval_soft.fields import (
    CHECKS,
    EVENTS,
    FIELDS,
    INTERSECTIONS,
    INTERVALS,
    MEASURES,
    METHODS,
    OUTPUT,
    PROCESSING,
    READING,
    RULES,
    SCORING,
    SEGMENTS,
    SELDOM,
    STEERING,
)
from sedeval_soft.published import NAMES

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from sedeval_soft.settings import Settings
    from sedeval_soft.tables.limits import Limits

FORMATS = ("text", "json", "csv", "tsv", "markdown", "yaml", "latex")

SERVICE_FORMATS = ("github", "junit", "codabench")
"""Forms that services take, which say what is required, too."""

PATH = click.Path(path_type=str)
FILE = click.Path(dir_okay=False, path_type=str)

FILES = "Folds and scenes"
SYSTEMS = "Several systems"
LIMITS = "Limits"


# What click makes of texts.


def number(text: str) -> float:
    """Return a decimal number in plain digits: Python would take `1_0` and digits of other scripts, too."""
    if text.isascii() and "_" not in text:
        with contextlib.suppress(ValueError):
            return float(text)
    raise click.BadParameter(f"{text!r} is not a number such as 0.5.")


def number_or(*words: str) -> Callable[[str], float | str]:
    """Return what reads a number, or one of some words."""
    return lambda text: text if text in words else number(text)


def split_classes(_: object, __: object, texts: Sequence[str]) -> tuple[str, ...]:
    """Split class names at commas, as click calls it; a quoted name may hold commas itself."""
    import csv

    names: list[str] = []
    for text in texts:
        # A blank before a quote is not part of the name.
        try:
            names += next(csv.reader([text.strip()], skipinitialspace=True, strict=True)) or [""]
        except csv.Error:
            expected = "expected names on one line, with quotes around a whole name: '\"a, b\",c'"
            raise click.BadParameter(f"{text!r}: {expected}.") from None
    return tuple(name.strip() for name in names)


def _jobs(text: str) -> int:
    """Return a number of processes, 0 for one for each processor."""
    if text == "all":
        return 0
    if text.isascii() and text.isdigit() and len(text) < 5:
        return int(text)
    raise click.BadParameter(f"{text!r} is not a number of processes such as 4, or all.")


def _threshold(text: str) -> float | str:
    """Return a number, or what `--thresholds` takes: a rule, or the path of a file."""
    try:
        return number(text)
    except click.BadParameter:
        if text in RULES or os.path.isfile(text):
            return text
        rules = " or ".join(RULES)
        message = f"{text!r} is no number such as 0.5, no rule ({rules}), and no file."
        raise click.BadParameter(message) from None


_TYPES: dict[str, Any] = {
    "segment_length": lambda text: text if "/" in text else number(text),
    "threshold": _threshold,
    "cross_tune": lambda text: text if text == "folds" else click.INT.convert(text, None, None),
    **dict.fromkeys(("files", "regions"), PATH),
    **dict.fromkeys(("median_filter", "min_gap", "min_duration", "psds_median_filters"), number),
}
"""Types of settings that are of no simple kind."""


# Options, commands, and their help: a short page of what most people use, and a full one of all options.


class Option(click.Option):
    """An option under a heading of the full help; with a brief text it is in the short one, too."""

    def __init__(
        self, names: Sequence[str], heading: str = "Other", brief: str | bool = "", **attributes: Any  # noqa: ANN401
    ) -> None:  # fmt: skip
        """Keep what the help says, beside what click makes of the rest. brief: True for the help itself."""
        super().__init__(names, **attributes)
        self.heading = heading
        self.is_seldom = False
        self.brief = (self.help or "") if brief is True else brief or ""


_FULL = "sedeval_soft.full_help"
"""The key under which a context knows that the full help is asked for."""


def _show_full_help(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Print the full help and end, where it is asked for."""
    if wanted and not ctx.resilient_parsing:
        ctx.meta[_FULL] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


def _help_all(*, hidden: bool = False) -> Option:
    """Return the option of the full help; hidden: where the short one leaves nothing out."""
    return Option(
        ["--help-all"], is_flag=True, is_eager=True, expose_value=False, hidden=hidden,
        callback=_show_full_help, help="Show this help with all options and exit.",
    )  # fmt: skip


class SetOption(Option):
    """`--set NAME=VALUE`: the settings of a command that few change.

    settings: their options, by name, which read and check the values.
    """

    def __init__(self, settings: Mapping[str, Option]) -> None:
        """Make the option of some settings."""
        self.settings = settings
        super().__init__(
            ["--set", "chosen"], SCORING, multiple=True, metavar="NAME=VALUE", callback=self.read,
            help=f"Change one of these settings: {', '.join(settings)}. --help-settings says what they mean. "
            "Repeatable.",
        )  # fmt: skip

    def read(self, ctx: click.Context, _: click.Parameter, texts: Sequence[str]) -> dict[str, Any]:
        """Return values by setting, as click calls it; raises UsageError for what is not a setting."""
        values: dict[str, Any] = {}
        for text in texts:
            name, sign, value = text.partition("=")
            name = name.strip().replace("-", "_")
            if not sign or name not in self.settings:
                from sedeval_soft.names import did_you_mean

                known = f"expected NAME=VALUE, with NAME one of {', '.join(self.settings)}"
                raise click.UsageError(f"--set {text!r}: {known}{did_you_mean(name, self.settings)}", ctx)
            if name in values:
                raise click.UsageError(f"--set {name} is given twice; expected once.", ctx)
            try:
                values[name] = self.settings[name].type.convert(value.strip(), None, ctx)
            except click.BadParameter as error:
                raise click.UsageError(f"--set {text!r}: {error.message}", ctx) from None
        return values

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        """Complete a name, and behind the sign the values of a setting that has choices."""
        from click.shell_completion import CompletionItem

        found = []
        for name, each in self.settings.items():
            choices = getattr(each.type, "choices", ()) if incomplete.startswith(f"{name}=") else ("",)
            found += [CompletionItem(f"{name}={choice}", help=each.help) for choice in choices]
        return [item for item in found if str(item.value).startswith(incomplete)]


def _help_settings(settings: Mapping[str, Option]) -> Option:
    """Return the option that lists the settings of `--set`."""

    def show(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
        if wanted and not ctx.resilient_parsing:
            page = ctx.make_formatter()
            records = []
            for name, each in settings.items():
                choices = getattr(each.type, "choices", None)
                values = "|".join(choices) if choices else each.metavar or each.type.name.upper()
                records.append((f"{name}={values}", each.help or ""))
            with page.section("Settings of --set"):
                page.write_dl(records)
            click.echo(page.getvalue(), nl=False)
            ctx.exit()

    return Option(
        ["--help-settings"], is_flag=True, is_eager=True, expose_value=False, callback=show,
        help="Show the settings of --set and exit.",
    )  # fmt: skip


HELP_ALL = _help_all()
SAME_HELP = _help_all(hidden=True)


class _Context(click.Context):
    """The context of a command; of the one that needs no name, usage and hints show the program alone."""

    @property
    def command_path(self) -> str:
        """Return what was called, as one would call it."""
        parent = self.parent
        if parent is None or self.info_name != getattr(parent.command, "default_cmd_name", None):
            return super().command_path
        return parent.command_path


class PlainCommand(click.Command):
    """A command that refuses an option with one value that is given twice: neither value is the right one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read arguments; raises UsageError for such an option."""
        given = [] if ctx.resilient_parsing else self.make_parser(ctx).parse_args([*args])[2]
        for option in dict.fromkeys(given):
            once = isinstance(option, click.Option) and not (
                option.multiple or option.count or option.is_flag
            )
            if once and given.count(option) > 1:
                flag = option.opts[-1]
                message = f"{flag} is given {given.count(option)} times; expected once."
                hint = " One call computes one PSDS: call it once for each." if flag == "--psds" else ""
                raise click.UsageError(message + hint, ctx)
        return super().parse_args(ctx, args)


class GroupedCommand(PlainCommand):
    """A command whose help shows its options under headings."""

    context_class = _Context

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read `--ci` alone as that with the first method, a rule of `--threshold` as `--thresholds`."""
        args = list(args)
        end = args.index("--") if "--" in args else len(args)
        for i in range(end):
            # What follows is a path, then.
            if args[i] == "--ci" and (i + 1 == len(args) or args[i + 1].lower() not in METHODS):
                args[i] = f"--ci={METHODS[0]}"
        rest = super().parse_args(ctx, args)
        ctx.params |= ctx.params.get("chosen") or {}
        if isinstance(ctx.params.get("threshold"), str):
            if ctx.params["thresholds"] is not None:
                message = "--threshold with a rule or a file is --thresholds; both are given."
                raise click.UsageError(message, ctx)
            ctx.params |= {"threshold": None, "thresholds": ctx.params["threshold"]}
        return rest

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the full help where it is asked for, or there is no shorter one."""
        if self.has_full_help(ctx):
            super().format_help(ctx, formatter)
        else:
            self.format_short_help(ctx, formatter)

    def has_full_help(self, ctx: click.Context) -> bool:
        """Return whether all options are shown."""
        return _FULL in ctx.meta or not any(getattr(each, "brief", "") for each in self.params)

    def format_short_help(
        self, ctx: click.Context, formatter: click.HelpFormatter,
        commands: Callable[[click.HelpFormatter], None] = lambda _: None, more: str = "",
    ) -> None:  # fmt: skip
        """Write one screen: the options with a brief text, three examples, and how to see the others.

        Of the text all that fits, or its first sentence and its lists. commands: writes a list of commands.
        more: what the last line says beside.
        """
        first, *others = inspect.cleandoc(self.help or "").split("\n\n")
        lists = [text for text in others if text.startswith("\b")]
        for texts in ([first, *others], [first, *lists]):
            page = click.HelpFormatter(width=formatter.width)
            ctx.command.format_usage(ctx, page)
            _write_texts(page, texts)
            with page.section("Options"):
                page.write_dl(self._brief_options(ctx))
            commands(page)
            examples, status = (self.epilog or "").split("\n\n")
            few = re.findall(r"\n((?:.*\\\n)*.*)", examples.removeprefix("\b\n"))[:_EXAMPLES]
            _write_texts(page, ["\n".join(("\b\nExamples:", *few)), status.strip()])
            page.write(f"  --help-all shows every option{more}.\n")
            if page.getvalue().count("\n") <= SCREEN:
                break
        formatter.write(page.getvalue())

    def _brief_options(self, ctx: click.Context) -> list[tuple[str, str]]:
        """Return the options of the short help, those of a heading together."""
        brief: dict[str, list[tuple[str, str]]] = {}
        for option in self.params:
            record = option.get_help_record(ctx)
            if isinstance(option, Option) and option.brief and record:
                text = f"{option.brief}  [required]" if option.required else option.brief
                brief.setdefault(option.heading, []).append((record[0], text))
        return [record for records in brief.values() for record in records]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write all options heading by heading, in the order in which headings first appear."""
        sections: dict[str, list[tuple[str, str]]] = {}
        parameters = self.params if ctx.command is self else [*self.params, *ctx.command.params]
        for parameter in dict.fromkeys([*parameters, ctx.command.get_help_option(ctx)]):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                sections.setdefault(getattr(parameter, "heading", "Other"), []).append(record)
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl(records)


SCREEN = 45
"""Lines of the short help at most, at 80 columns."""

_EXAMPLES = 3
"""How many examples the short help shows."""


def _write_texts(formatter: click.HelpFormatter, texts: Sequence[str]) -> None:
    """Write paragraphs, each below an empty line."""
    for text in texts:
        formatter.write_paragraph()
        wrapped = click.wrap_text(text, formatter.width, "  ", "  ", preserve_paragraphs=True)
        formatter.write(f"{wrapped}\n")


def command(
    examples: str, *parameters: click.Parameter, status: str = "0 done, 2 wrong call or input.",
    cls: type[click.Command] = GroupedCommand, **attributes: Any,  # noqa: ANN401 - click's own
) -> Callable[[Callable[..., None]], Any]:  # fmt: skip
    """Return what makes a command of a function. Examples of calls and exit codes stand below its help."""
    epilog = f"\b\nExamples:\n{examples.strip(chr(10))}\n\nExit status: {status}\n"
    shortened = any(getattr(each, "brief", "") for each in parameters)
    seldom = {str(each.name): each for each in parameters if isinstance(each, Option) and each.is_seldom}
    others = [each for each in parameters if each not in seldom.values()]
    if len(seldom) > 1:
        others += [SetOption(seldom), _help_settings(seldom)]
    else:
        others = [*parameters]
    params = [*others, HELP_ALL if shortened else SAME_HELP]
    return click.command(cls=cls, params=params, epilog=epilog, **attributes)


def argument(metavar: str, name: str = "", **attributes: Any) -> click.Argument:  # noqa: ANN401 - click's own
    """Return an argument, a path if nothing else is said, of the name of its metavar."""
    return click.Argument([name or metavar.lower()], metavar=metavar, **{"type": PATH} | attributes)


def option(heading: str, *names: str, **attributes: Any) -> Option:  # noqa: ANN401 - click's own
    """Return an option under a heading."""
    return Option(names, heading, **attributes)


_EXTENSIONS = {"md": "markdown", "tex": "latex", "xml": "junit", "yml": "yaml"}
"""Forms of results by the extensions of files that hold them, where these have other names."""

_PAGE, _FIGURE = "--report", "soft-sed-eval plot KIND ... -o"
_ELSEWHERE = {
    **dict.fromkeys(("html", "htm"), _PAGE),
    **dict.fromkeys(("pdf", "png", "svg"), _FIGURE),
    **dict.fromkeys(("parquet", "xlsx")),
}
"""Extensions of files that hold no text of results, with what writes such files, if anything does."""


def by_extension(context: click.Context, parameter: click.Parameter, form: str | None) -> str:
    """Return the form of results, as click calls it: by the extension of -o where none is given, or text.

    Raises SettingsError for an extension of another kind of files: a page that holds text opens as nothing.
    """
    output, choices = context.params["output"] or "", getattr(parameter.type, "choices", ())
    extension = PurePath(output).suffix.lower().removeprefix(".")
    likely = _EXTENSIONS.get(extension, extension)
    if form or likely in choices:
        return form or likely
    if extension in {*FORMATS, *_EXTENSIONS, *_ELSEWHERE}:
        from sedeval_soft.errors import SettingsError

        scores = any(_PAGE in each.opts for each in context.command.params)
        option = _ELSEWHERE.get(extension) if scores else None
        expected = f"{option} {output}" if option else f"--format {', '.join(choices)}, or another extension"
        raise SettingsError(f"-o {output}: results are not written as .{extension}; expected {expected}")
    return "text"


def form_option(forms: Sequence[str], **attributes: Any) -> Option:  # noqa: ANN401 - click's own
    """Return the option that says in which form results are."""
    return option(OUTPUT, "--format", "form", type=click.Choice(forms), **attributes)


def result_forms(forms: Sequence[str], **attributes: Any) -> tuple[Option, Option]:  # noqa: ANN401
    """Return the options that say where results go, and in which form; attributes: of the latter."""
    attributes["help"] += "  [default: that of the extension of -o, such as scores.csv; else text]"
    form = form_option(forms, callback=by_extension, **attributes)
    output = option(
        OUTPUT, "-o", "--output", type=PATH, metavar="FILE",
        brief="Write the results to a file." if form.brief else "",
        help="Write the results to a file. If something fails, the file stays as it was.",
        is_eager=True,  # it is read first
    )  # fmt: skip
    return form, output


def seldom(options: Sequence[Option], *but: str) -> tuple[Option, ...]:
    """Return options for a command whose short help has many of its own: only some of these are in it."""
    copies = [copy(option) for option in options]
    for each in copies:
        each.brief = each.brief if each.name in but else ""
    return tuple(copies)


def setting(name: str, **changed: Any) -> Option:  # noqa: ANN401 - click's own
    """Return the option of a setting, as `FIELDS` defines it, or of how tables are read, as `READING` does.

    What was not given stays as the settings have it. changed: what a command has otherwise.
    """
    field = FIELDS.get(name) or READING[name]
    attributes: dict[str, Any] = {"help": field.help, "brief": field.brief, "metavar": field.metavar}
    attributes |= {"default": None, **changed}
    if field.kind == "switch":
        return option(
            field.heading, field.flag, name, is_flag=True, flag_value=not field.default, **attributes
        )
    default = field.default if field.implied is None else field.implied
    shown = field.shown or (str(default) if isinstance(default, float | int | str) else None)
    if shown is not None:
        for text in ("help", "brief"):
            attributes[text] = attributes[text] and f"{attributes[text]}  [default: {shown}]"
    if "type" not in changed:
        choice = click.Choice(field.choices, case_sensitive=False) if field.choices else None
        attributes["type"] = (
            _TYPES.get(name) or choice or {"number": number, "whole": int}.get(field.kind, str)
        )
    if name == "classes":
        attributes["callback"] = split_classes
    multiple = name in ("classes", "ignore_class", "columns", "source_form") or isinstance(
        field.default, tuple
    )
    flag = f"--{name.replace('_', '-')}" if name in SELDOM else field.flag
    made = option(field.heading, flag, name, multiple=multiple, **attributes)
    made.is_seldom = name in SELDOM
    return made


def settings_under(*headings: str, without: Sequence[str]) -> tuple[Option, ...]:
    """Return the options of all settings under some headings, without some of them."""
    return tuple(
        setting(name)
        for heading in headings
        for name, field in FIELDS.items()
        if field.heading == heading and name not in without
    )


DURATIONS = option(
    SCORING, "--durations", type=PATH, metavar="TSV",
    help="Table of filename and duration: how long files are, and which files there are.",
)  # fmt: skip

READ = (
    option(SCORING, "--durations", type=PATH, metavar="TSV", brief="Table with the length of each file.",
        help="Table of filename and duration: which files are evaluated, and how long they are. Without it a "
        "file ends with the last offset in the reference."),
    option(SCORING, "--preset", metavar="NAME", brief="Settings of a challenge; see `presets`.",
        help="Settings of a challenge, as `soft-sed-eval presets` lists them; options override them."),
    option(SCORING, "--config", type=FILE, metavar="YAML",
        help="File of settings. Options override it; it overrides the file or preset that it `extends`."),
)  # fmt: skip

LIMITED = (
    option(LIMITS, "--limit", "limits", multiple=True, metavar="NAME=NUMBER",
        help="Raise or lower the most that an input may have: size (bytes, decompressed), ratio (of "
        "compression), rows, classes, files, duration (seconds), name_length, members (of a folder), "
        "line_length. Repeatable."),
    option(LIMITS, "--memory-limit", metavar="SIZE", help="Use no more memory than this, such as 4G. What "
        "needs more is counted in parts where that is possible, and refused where not.  [default: 80 % of "
        "what is free]"),
)  # fmt: skip

POINTS = setting("operating_points")
INTAKE = (*(setting(name) for name in READING if name != "operating_points"), *LIMITED)

STREAM = (
    option(LIMITS, "--jobs", type=_jobs, metavar="N|all", help="Count large tables in N processes; 0 or all "
        "means one for each processor. The scores are the same.  [default: half as many as there are "
        "processors, for tables from 256 MiB on]"),
    option(LIMITS, "--scheduler", metavar="ADDRESS|FILE", help="Count on the workers of a dask "
        "scheduler: tcp://HOST:PORT, or the file that the scheduler writes for the jobs of a cluster. The "
        "scores are the same."),
)  # fmt: skip

QUIET = option(OUTPUT, "-q", "--quiet", is_flag=True, brief="No warnings and remarks.",
    help="No warnings and remarks on standard error.")  # fmt: skip

CLASSES = setting("classes", help="Only these classes. Repeatable; a name with a comma needs quotes: '\"a, "
    "b\",c'.", brief="Only these classes.")  # fmt: skip
"""Of commands where their order does not matter."""

SETTINGS = settings_under(
    *(SCORING, SEGMENTS, EVENTS, PROCESSING, INTERSECTIONS, MEASURES),
    without=("strict", "satisfice", "reference_sweep"),
)
COUNTING = settings_under(
    *(SCORING, SEGMENTS, EVENTS, PROCESSING, INTERSECTIONS),
    without=(
        *("strict", "threshold", "only", "matching", "cttc", "psds"),
        *("alpha_ct", "alpha_st", "max_efpr", "psds_median_filters"),
    ),
)
"""What shapes the counts at any threshold."""

TUNING = (setting("thresholds"), setting("cross_tune"))
OBJECTIVE = setting("objective")
AVERAGED = setting("means")
SURE = tuple(map(setting, STEERING))

PARTS = (
    option(FILES, "--folds", type=PATH, metavar="TSV",
        help="Table of filename and fold. The files of all folds are scored together, and how much the "
        "scores of single folds differ is shown below."),
    option(FILES, "--by", type=PATH, metavar="TSV|PATTERN", help="Also score the files of each scene by "
        "themselves: a table of filename and scene, or a pattern of file names with the scene in "
        "braces, such as '{scene}_[0-9]*'."),
)  # fmt: skip

RESULTS = (
    *result_forms((*FORMATS, *SERVICE_FORMATS), metavar="FORM",
        brief="Such as json, csv, markdown, latex or junit.",
        help=f"Form of the results: {', '.join(FORMATS)}, or one that services take: github (annotations, "
        "and a job summary in $GITHUB_STEP_SUMMARY), junit (each --require is a test) or codabench "
        "(scores.json, or scores.txt if that is what -o names)."),
    option(OUTPUT, "--save-tally", type=PATH, metavar="FILE",
        help="Write what was counted in each file to FILE, for `soft-sed-eval merge`."),
    option(OUTPUT, "-v", "--verbose", count=True, brief="Print all tables; -vv the whole signature.",
        help="Print all tables (with --per-file all files), not just the screen that fits a terminal; -vv "
        "with the whole signature."),
    option(OUTPUT, "--by-class", is_flag=True,
        help="Show F of all classes, groups and scenes on the screen, not just of the worst."),
    option(OUTPUT, "--words", is_flag=True, help="Say below the screen what its words mean in this call."),
    option(OUTPUT, "--per-file", is_flag=True,
        help="Print the scores of each file, the worst first: those that fit a screen; in forms for "
        "programs all files and scores. --score chooses scores."),
    option(OUTPUT, "--raw-names", is_flag=True,
        help="Leave names in CSV and TSV as they are, even those that a spreadsheet would run as formulas."),
    option(OUTPUT, "--average", "averages", multiple=True,
        type=click.Choice(["micro", "macro", "weighted", "harmonic", "geometric"]),
        help="Show only these averages, in whatever form. Repeatable.  [default: all]"),
    option(OUTPUT, "--score", "wanted", multiple=True, metavar="NAME",
        brief="Print only this, such as segment.soft.f1.macro.",
        help="Print just this number, such as segment.soft.f1.macro; with --ci, followed by its interval. "
        "With another --format, that form of these scores. Repeatable."),
    QUIET,
    option(CHECKS, "--require", "requirements", multiple=True, metavar="'NAME>=NUMBER'",
        brief="Exit with 1 if this does not hold.",
        help="Exit with 1 if this does not hold; >, <=, < and == are also possible. Repeatable."),
)  # fmt: skip

REQUIRED = "0 done, 1 a requirement failed, 2 wrong call or input."
"""The exit codes of commands that hold scores against requirements."""

EVALUATE = (
    *SETTINGS,
    option(OUTPUT, "--name", "names", multiple=True, metavar="TEXT",
        brief="What a SYSTEM is called; once for each.",
        help="What a SYSTEM is called in all outputs; given once for each, in the same order, or with --runs "
        "once for the mean.  [default: file names, paths if these are equal]"),
    setting("satisfice"),
    setting("reference_sweep"),
    *TUNING,
    OBJECTIVE,
    *SURE,
    option(INTERSECTIONS, "--operating-point", "points", multiple=True, metavar="THRESHOLD=TABLE",
        help="Instead of SYSTEM: the events that it detects at one threshold. Repeatable; what is computed "
        "over all thresholds is then computed over these."),
    option(INTERSECTIONS, "--operating-points", "points_folder", metavar="FOLDER",
        help="Instead of SYSTEM: a folder of such tables, or a pattern in quotes, with the thresholds in "
        "their names (out_0.1.tsv, out_0.5.tsv)."),
    *READ,
    setting("strict"),
    *PARTS,
    option(SYSTEMS, "--rank-by", metavar="NAME",
        help="The score that stands first, and by which several systems are ranked.  [default: that "
        "of the preset; else segment.soft.f1.macro, or segment.hard.f1.macro if the reference has no "
        "values]"),
    option(SYSTEMS, "--baseline", metavar="SYSTEM",
        help="The system with which the others are compared.  [default: the best]"),
    option(SYSTEMS, "--runs", is_flag=True, help="Each SYSTEM is one training run of the same system: print "
        "the mean of each score over the runs, and its interval."),
    *RESULTS,
    option(OUTPUT, "--report", type=PATH, metavar="FILE", brief="Write an HTML page, too.",
        help="Also write an HTML page with all readings, thresholds to move, curves and timelines."),
    option(OUTPUT, "--timeline", "timelines", multiple=True, metavar="FILENAME",
        help="Show this recording over time in the report, besides those that cost most and some that are "
        "drawn at random. Repeatable."),
    option(OUTPUT, "--audio", type=PATH, metavar="FOLDER",
        help="Show spectrograms of the recordings in the report's timelines, and play them: wav, flac and "
        "others, found in this folder and in those within it by the file names in the tables."),
    option(INTERVALS, "--chance", is_flag=True, help="Show the chance level of each score (what the same "
        "output reaches if it knows nothing about the recordings), and where the score lies between chance "
        "and the best value."),
    option(INTERVALS, "--draws", type=click.IntRange(1, 1_000_000), metavar="N",
        help="How often the output is moved in time to find the chance levels that no formula gives.  "
        "[default: 100]"),
    setting("worst"),
    option(OUTPUT, "--curves", type=PATH, metavar="FILE",
        help="Write the curves over all thresholds to a .tsv or .parquet file."),
    option(OUTPUT, "--list-scores", is_flag=True,
        help="Print the names and meanings of all scores, and exit."),
    option(CHECKS, "--check", type=click.Choice(["sed_eval", "sed_scores_eval", *NAMES]), metavar="NAME",
        help="Score again with that package, sed_eval or sed_scores_eval, and print our number, theirs, the "
        "difference and its cause. Or with what `soft-sed-eval published` lists: our number and theirs."),
    setting("compat"),
    *INTAKE,
    *STREAM,
)  # fmt: skip
"""The options of the main command, in the order of its help."""


# What options say together.


def settings_of(
    given: Mapping[str, Any], names: Sequence[str] = (), *, just: bool = False, folds: object = None
) -> Settings:
    """Join the settings file or preset and the options that were given, which win.

    names: of scores, whose groups of measures are computed; just: nothing but these is needed. folds: over
    which thresholds are tuned, unless something else is said.
    """
    from dataclasses import replace

    from sedeval_soft.fields import DEFAULT_ONLY
    from sedeval_soft.measures.registry import group_of
    from sedeval_soft.settings import GROUPS, MEANS, Settings, means_in

    values = {name: given[name] for name in FIELDS if given.get(name) not in (None, ())}
    if "thresholds" in values or (given["preset"], given["config"]) != (None, None):
        values = _with_files(values, given["preset"], given["config"])
    families = {name: ".".join(name.split(".")[:2]) for name in names}
    if just and not given["only"]:
        values["only"] = tuple(dict.fromkeys(families.values()))
    elif "only" not in values:
        # What must be met is evaluated beside what is printed anyway; PSDS is asked for in its own way.
        more = [family for name, family in families.items() if "psds" not in name]
        more = [family for family in more if family.split(".")[0] not in DEFAULT_ONLY]
        values["only"] = (*DEFAULT_ONLY, *dict.fromkeys(more))
    if isinstance(values.get("files"), str) or isinstance(values.get("regions"), str):
        from sedeval_soft.api.sources import with_listed
        from sedeval_soft.tables.limits import Limits

        values = with_listed(values, Limits.of(given.get("limits") or ()))
    if folds is not None and values.get("thresholds") is None and values.get("cross_tune") is None:
        values["cross_tune"] = "folds"
    settings = Settings.of(**values)
    needed = {*settings.measures, *(["curves"] if given.get("curves") else [])}
    if not given.get("measures"):
        needed |= {*map(group_of, names)}
    means = {*settings.means, *(mean for name in names for mean in means_in(name))}
    means |= {*(given.get("averages") or ())}
    return replace(
        settings,
        measures=tuple(group for group in GROUPS if group in needed),
        means=tuple(mean for mean in MEANS if mean in means),
    )


def _with_files(values: Mapping[str, Any], preset: str | None, config: str | None) -> dict[str, Any]:
    """Return settings that were given over those of a preset or a file, and with thresholds as read."""
    from sedeval_soft import settings_files as files

    below = file_values(preset, config)
    joined = {**{name: value for name, value in below.items() if name not in READING}, **values}
    if values.get("thresholds", RULES[0]) not in RULES:
        inclusive = bool(joined.get("inclusive"))
        joined["thresholds"] = files.load_thresholds(values["thresholds"], inclusive=inclusive)
    return joined


def rank_by_of(given: Mapping[str, Any]) -> str | None:
    """Return the score that ranks, as the option, the settings file or the preset has it."""
    return given["rank_by"] or file_values(given["preset"], given["config"]).get("rank_by")


def file_values(preset: str | None, config: str | None) -> dict[str, Any]:
    """Return what a preset or a settings file says, which is read once a call: it may be a pipe."""
    if preset is config is None:
        return {}
    from sedeval_soft import settings_files as files
    from sedeval_soft.errors import SettingsError

    if preset is not None and config is not None:
        extends = f"`extends: {files.checked_preset(preset)}` in {config} has both"
        raise SettingsError(f"--preset and --config are both given; expected one of them: {extends}")
    if config is None:
        return files.load_preset(str(preset))
    read: dict[str, dict[str, Any]] = click.get_current_context().meta.setdefault("settings files", {})
    if config not in read:
        read[config] = files.load_settings(config)
    return read[config]


def settings_files(config: str | None) -> dict[str, str | None]:
    """Return a settings file and all that it extends, by what they are: results must not replace them."""
    files: list[str] = []
    if config is not None and os.path.isfile(config):  # what is no file can be read once only
        from sedeval_soft.errors import EvaluationError
        from sedeval_soft.settings_files import load_settings

        with contextlib.suppress(EvaluationError):  # raised where the settings are used
            load_settings(config, files)
    extended = {f"settings file that {by} extends": path for by, path in pairwise(files)}
    return {"settings file": config} | extended


@contextlib.contextmanager
def limits_of(given: Mapping[str, Any]) -> Iterator[Limits]:
    """Yield the limits of inputs that were given; memory is limited, too, until the end."""
    from sedeval_soft.errors import SettingsError
    from sedeval_soft.memory import memory_limited
    from sedeval_soft.tables.limits import Limits, size_of

    below = file_values(given.get("preset"), given.get("config"))
    said = {name: given.get(name) or None for name in READING}
    offered = {name: below[name] for name in READING if below.get(name)}
    limits = Limits.of(given["limits"])
    if offered or any(said.values()):
        from sedeval_soft.api.sources import limits_from

        limits = limits_from(limits, said, offered)
    memory = given["memory_limit"]
    most = None if memory is None else size_of(memory)
    if memory is not None and not most:
        raise SettingsError(f"--memory-limit {memory!r} is not a size; expected one such as 4G or 512M")
    with memory_limited(most):
        yield limits


# What does not go together, whichever command it is of.


def refuse(*refusals: tuple[object, str]) -> None:
    """Raise UsageError with the first message whose condition holds."""
    for wrong, message in refusals:
        if wrong:
            raise click.UsageError(message)


def check_effects(given: Mapping[str, Any], settings: Settings) -> None:
    """Raise SettingsError for a setting of --set that changes no score of this call.

    settings: those by which everything is computed that is shown or written.
    """
    chosen = given.get("chosen")
    if not chosen:
        return
    from sedeval_soft.errors import SettingsError
    from sedeval_soft.plan import Plan

    plan = Plan.of(settings)
    bases, soft = (
        {basis for basis, _ in plan.families},
        {basis for basis, reading in plan.families if reading == "soft"},
    )
    cells = {"segment", "clip", "ranking"}
    divergences = "divergence" in settings.measures or soft & cells
    needs = {
        "pool": (bases & cells, "segments or clips, and --only or --score leaves them out"),
        "matching": ("event" in bases, "events, and --only or --score leaves them out"),
        "cttc": (plan.psds, "PSDS: --psds NAME"),
        "t_norm": (soft & cells, "soft scores of segments or clips, and --only or --score leaves them out"),
        "max_fpr": ("curves" in settings.measures, "--measures curves"),
        "max_fnr": ("curves" in settings.measures, "--measures curves"),
        "bins": ("calibration" in settings.measures, "--measures calibration"),
        "entropy_unit": (divergences, "--measures divergence, or soft scores of segments"),
        "epsilon": (divergences, "--measures divergence, or soft scores of segments"),
    }
    for name in chosen:
        has_effect, needed = needs.get(name, (True, ""))
        if not has_effect:
            raise SettingsError(f"--set {name} has no effect in this call: it needs {needed}")


def check_scores(
    given: Mapping[str, Any], settings: Settings, names: Sequence[str], *, points: bool = False
) -> None:
    """Raise SettingsError for names of scores that are computed only when asked for, and were not.

    points: the system is one of operating points. UsageError for an objective where nothing is tuned.
    """
    from sedeval_soft.errors import SettingsError
    from sedeval_soft.evaluation.scores import not_computed

    for name in names:
        reason = not_computed(name, settings, _option, points=points)
        if reason:
            raise SettingsError(f"{name} {reason}")
    if given.get("objective") and settings.cross_tune is None and not given["folds"]:
        raise click.UsageError("--objective belongs to --cross-tune, --folds or soft-sed-eval tune.")


def computed_names(given: Mapping[str, Any]) -> list[str]:
    """Return the names of the scores that options ask for, none where the options are wrong."""
    from sedeval_soft.errors import EvaluationError
    from sedeval_soft.evaluation.scores import not_computed
    from sedeval_soft.measures.registry import score_names

    try:
        settings = settings_of(given, folds=given["folds"])
    except EvaluationError:  # raised where the settings are used
        return []
    return [name for name in score_names(means=settings.means) if not not_computed(name, settings, _option)]


def _option(name: str, *values: str) -> str:
    """Return how a setting with some values is typed: `--only segment --only event`."""
    flag = f"--{name.replace('_', '-')}"
    return " ".join(f"{flag} {shlex.quote(value)}" for value in values) or flag


def check_intervals(
    given: Mapping[str, Any], settings: Settings, wanted: Sequence[str] | None = None
) -> None:
    """Raise SettingsError for options of intervals without any, and for intervals that are not valid.

    wanted: the scores that are printed alone, if any can be. Several runs of one system have intervals of
    their own, which have a confidence; chance levels have a seed.
    """
    runs, chance = given.get("runs"), given.get("chance")
    others = (*(["confidence"] if runs else []), *(["seed"] if chance else []))
    names = [name for name in STEERING if given.get(name) is not None and name not in others]
    if settings.ci is None and not names:
        return
    from sedeval_soft.errors import SettingsError
    from sedeval_soft.evaluation.resample import skips_optimal
    from sedeval_soft.measures.registry import ScoreName

    if settings.ci is None:
        flags = ", ".join(FIELDS[name].flag for name in names)
        more = "; --runs gives jackknife intervals over runs" if runs else ""
        raise SettingsError(f"{flags}: files are resampled only with --ci{more}")
    if wanted is None or not skips_optimal(settings):
        return
    optimal = [name for name in wanted if ScoreName.parse(name).reading == "optimal"]
    if optimal or all(part.endswith(".optimal") for part in settings.only):
        raise SettingsError(
            f"--ci jackknife is not valid for {', '.join(optimal) or 'optimal readings'}: best thresholds "
            "are not smooth in the files; use --ci bootstrap, or --fixed-thresholds"
        )
