"""Commands and options as this program has them: two pages of help, `--set`, and how texts are read."""

from __future__ import annotations

import contextlib
import inspect
import re
from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from sedeval_soft import api, report
from sedeval_soft.fields import FIELDS, METHODS, READING, SCORING

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

PATH = click.Path(path_type=str)
FILE = click.Path(dir_okay=False, path_type=str)


# What click makes of texts.


def number(text: str) -> float:
    """Return a decimal number in plain digits: Python would also take `1_0` and digits of other scripts."""
    if text.isascii() and "_" not in text:
        with contextlib.suppress(ValueError):
            return float(text)
    raise click.BadParameter(f"{text!r} is not a number such as 0.5.")


def number_or(*words: str) -> Callable[[str], float | str]:
    """Return a function that reads a number, or one of some words."""
    return lambda text: text if text in words else number(text)


def split_classes(_: object, __: object, texts: Sequence[str]) -> tuple[str, ...]:
    """Split class names at commas, as click calls it; a quoted name may contain commas."""
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


def pairs(texts: Sequence[str], form: str) -> dict[str, str]:
    """Return values by name of texts such as `NAME=VALUE`, each name once; raises BadParameter for others."""
    values: dict[str, str] = {}
    for text in texts:
        name, sign, value = (part.strip() for part in text.partition("="))
        if not name or not sign:
            raise click.BadParameter(f"{text!r}: expected {form}.")
        if name in values:
            raise click.BadParameter(f"{name} is given twice; expected once.")
        values[name] = value
    return values


# Options, commands, and their help: a short page of what most people use, and a full one of all options.


class Option(click.Option):
    """An option under a heading of the full help; with a brief text it is also in the short help."""

    def __init__(
        self, heading: str, *names: str, brief: str | bool = "", **attributes: Any  # noqa: ANN401
    ) -> None:  # fmt: skip
        """Keep the texts of the help; click takes the other attributes. brief: True for the help itself."""
        super().__init__(names, **attributes)
        self.heading = heading
        self.brief = (self.help or "") if brief is True else brief or ""


class SetOption(Option):
    """`--set NAME=VALUE`: settings that few change. settings: their names."""

    def __init__(self, settings: Sequence[str]) -> None:
        """Make the option of some settings."""
        self.settings = settings
        super().__init__(
            SCORING, "--set", "chosen", multiple=True, metavar="NAME=VALUE", callback=self.read,
            help="Change a setting that --help-settings lists, such as beta=2. Repeatable.",
        )  # fmt: skip

    def read(self, _: click.Context, __: click.Parameter, texts: Sequence[str]) -> dict[str, Any]:
        """Return values by setting, as click calls it; raises BadParameter for an unknown setting."""
        from sedeval_soft.names import did_you_mean

        values: dict[str, Any] = {}
        for text, value in pairs(texts, "NAME=VALUE").items():
            name = text.replace("-", "_")
            if name not in self.settings:
                meant = did_you_mean(name, self.settings)
                flag = f"; it is {FIELDS[name].flag} here" if name in FIELDS and FIELDS[name].heading else ""
                raise click.BadParameter(f"{text!r} is not one of {', '.join(self.settings)}{meant}{flag}.")
            values[name] = _value(name, value)
        return values

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        """Complete a name, and behind the sign the values of a setting that has choices."""
        from click.shell_completion import CompletionItem

        found = []
        for name in self.settings:
            values = _choices(name) if incomplete.startswith(f"{name}=") else ("",)
            found += [CompletionItem(f"{name}={value}", help=FIELDS[name].help) for value in values]
        return [item for item in found if str(item.value).startswith(incomplete)]


def _choices(name: str) -> tuple[str, ...]:
    """Return the values that a setting may have, if these are few."""
    field = FIELDS[name]
    return field.choices or (("true", "false") if field.kind == "switch" else ())


def _value(name: str, text: str) -> Any:  # noqa: ANN401 - what the setting takes; the library checks it
    """Return the value that a text is for a setting: names or numbers, a number, a truth value, or itself."""
    if FIELDS[name].several:
        names = split_classes(None, None, [text])
        return names if FIELDS[name].least is None else tuple(map(number, names))
    from sedeval_soft.settings import of_text

    return of_text(text)


def _page_of_settings(ctx: click.Context, settings: Sequence[str]) -> str:
    """Return the page that explains the settings of `--set`."""
    page = ctx.make_formatter()
    with page.section("Settings of --set"):
        page.write_dl(
            [
                (
                    f"{name}={'|'.join(_choices(name)) or FIELDS[name].metavar or 'VALUE'}",
                    FIELDS[name].with_default(FIELDS[name].help),
                )
                for name in settings
            ]
        )
    return page.getvalue().rstrip("\n")


_FULL = "sedeval_soft.full_help"
"""The key under which a context knows that the full help is asked for."""


def _page_of_all(ctx: click.Context) -> str:
    """Return the help with all options."""
    ctx.meta[_FULL] = True
    return ctx.get_help()


def page_option(name: str, text: str, page: Callable[[click.Context], str]) -> Option:
    """Return an option that prints a page and ends. text: its text in the help."""

    def show(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
        if wanted and not ctx.resilient_parsing:
            click.echo(page(ctx), color=ctx.color)
            ctx.exit()

    return Option("Other", name, is_flag=True, is_eager=True, expose_value=False, callback=show, help=text)


HELP_ALL = page_option("--help-all", "Show this help with all options and exit.", _page_of_all)


class _Context(click.Context):
    """The context of a command; of the one that needs no name, usage and hints show the program alone."""

    @property
    def command_path(self) -> str:
        """Return the called command as a user would type it."""
        parent = self.parent
        if parent is None or self.info_name != getattr(parent.command, "default_cmd_name", None):
            return super().command_path
        return parent.command_path


class Command(click.Command):
    """A command whose help shows options under headings; it takes none twice that has one value."""

    context_class = _Context

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read arguments, `--ci` alone with the first method; raises UsageError for an option twice."""
        args = list(args)
        for i in range(args.index("--") if "--" in args else len(args)):
            # What follows is a path, then.
            if args[i] == "--ci" and (i + 1 == len(args) or args[i + 1].lower() not in METHODS):
                args[i] = f"--ci={METHODS[0]}"
        given = [] if ctx.resilient_parsing else self.make_parser(ctx).parse_args([*args])[2]
        for each in (each for each in dict.fromkeys(given) if isinstance(each, click.Option)):
            if given.count(each) > 1 and not (each.multiple or each.count or each.is_flag):
                flag = each.opts[-1]
                raise click.UsageError(f"{flag} is given {given.count(each)} times; expected once.", ctx)
        return super().parse_args(ctx, args)

    def format_help(
        self, ctx: click.Context, formatter: click.HelpFormatter,
        commands: Callable[[click.Context, click.HelpFormatter], None] = lambda *_: None,
    ) -> None:  # fmt: skip
        """Write the full help if it is asked for, or if the command has no shorter help; else one screen.

        The screen has the options with a brief text, three examples, and the whole text of the help if it
        fits, or its first paragraph and its lists. commands: writes a list of commands.
        """
        if _FULL in ctx.meta or not any(getattr(each, "brief", "") for each in self.params):
            ctx.command.format_usage(ctx, formatter)
            self.format_help_text(ctx, formatter)
            self.write_options(ctx, formatter)
            commands(ctx, formatter)
            self.format_epilog(ctx, formatter)
            return
        first, *others = inspect.cleandoc(self.help or "").split("\n\n")
        lists = [text for text in others if text.startswith("\b")]
        examples, status = (self.epilog or "").split("\n\n")
        few = re.findall(r"\n((?:.*\\\n)*.*)", examples.removeprefix("\b\n"))[:_EXAMPLES]
        for texts in ([first, *others], [first, *lists]):
            page = click.HelpFormatter(width=formatter.width)
            ctx.command.format_usage(ctx, page)
            _write_texts(page, texts)
            self.write_options(ctx, page, brief=True)
            commands(ctx, page)
            _write_texts(page, ["\n".join(("\b\nExamples:", *few)), status.strip()])
            page.write("  --help-all shows every option.\n")
            if page.getvalue().count("\n") <= SCREEN:
                break
        formatter.write(page.getvalue())

    def write_options(self, ctx: click.Context, page: click.HelpFormatter, *, brief: bool = False) -> None:
        """Write all options below their headings, or those with a brief text below one."""
        sections: dict[str, list[tuple[str, str]]] = {}
        parameters = self.params if ctx.command is self else [*self.params, *ctx.command.params]
        for each in dict.fromkeys([*parameters, ctx.command.get_help_option(ctx)]):
            record = each.get_help_record(ctx) if isinstance(each, click.Option) else None
            text = getattr(each, "brief", "") if brief else record and record[1]
            if record and text:
                text += "  [required]" if brief and each and each.required else ""
                sections.setdefault(getattr(each, "heading", "Other"), []).append((record[0], text))
        if brief:
            sections = {"Options": [record for records in sections.values() for record in records]}
        for heading, records in sections.items():
            with page.section(heading):
                page.write_dl(records)


SCREEN = 45
"""Lines of the short help at most, at 80 columns."""

_EXAMPLES = 3
"""Number of examples that the short help shows."""


def _write_texts(formatter: click.HelpFormatter, texts: Sequence[str]) -> None:
    """Write paragraphs, each below an empty line."""
    for text in texts:
        formatter.write_paragraph()
        wrapped = click.wrap_text(text, formatter.width, "  ", "  ", preserve_paragraphs=True)
        formatter.write(f"{wrapped}\n")


def command(
    examples: str, *parameters: click.Parameter, status: str = "0 done, 2 wrong call or input.",
    **attributes: Any,  # noqa: ANN401 - click's own
) -> Callable[[Callable[..., None]], Any]:  # fmt: skip
    """Return a decorator that makes a command of a function; the help ends with its examples and exit codes.

    The function gets arguments and options by name. If it has an argument `asked`, it gets settings, tables
    beside the two sides and options for reading tables as one `Request`, and as `limits` the most that inputs
    may have; results that would replace an input are refused before.
    """
    epilog = f"\b\nExamples:\n{examples.strip(chr(10))}\n\nExit status: {status}\n"
    seldom = tuple(str(each.name) for each in parameters if isinstance(each, _Seldom))
    params = [each for each in parameters if not isinstance(each, _Seldom)]
    if seldom:
        text = "Show the settings of --set and exit."
        page = page_option("--help-settings", text, lambda ctx: _page_of_settings(ctx, seldom))
        params += [SetOption(seldom), page]

    def made(function: Callable[..., None]) -> Any:  # noqa: ANN401
        @wraps(function)
        def called(**options: Any) -> None:  # noqa: ANN401
            chosen = options.pop("chosen", {})
            taken = {n: options.pop(n) for n in (*FIELDS, *READING, *_TABLES) if n in options}
            said = {name: value for name, value in taken.items() if value not in (None, ())}
            parts = [{n: v for n, v in said.items() if n in names} for names in (FIELDS, READING, _TABLES)]
            asked = api.Request(values=parts[0] | chosen, reading=parts[1], **parts[2])
            sides = {role: options[name] for name, role in _INPUTS.items() if name in options}
            outputs = {flag: options.get(name) for name, flag in _OUTPUTS.items()}
            report.refuse_replacing(outputs, asked.files(sides))
            with asked.opened() as limits:
                function(asked=asked, limits=limits, **options)

        callback = called if "asked" in inspect.signature(function).parameters else function
        how: dict[str, Any] = {"cls": Command, "params": [*params, HELP_ALL], "epilog": epilog} | attributes
        return click.command(**how)(callback)

    return made


_TABLES = ("preset", "config", "durations", "folds", "by", "limits", "memory_limit")
"""Options that are a field of a request, beside settings and how tables are read."""


_INPUTS = {
    "reference": "reference", "system": "system output", "systems": "system output", "tallies": "tally",
    "tables": "table of annotator", "ceiling_of": "system of --ceiling-of", "train": "training data",
    "labels": "labels of annotator",
}  # fmt: skip
"""What options and arguments that are tables are called in messages."""

_OUTPUTS = {"output": "-o", "save_tally": "--save-tally", "fix": "--fix"}


def argument(metavar: str, name: str = "", **attributes: Any) -> click.Argument:  # noqa: ANN401 - click's own
    """Return an argument, by default a path, with the name of its metavar."""
    return click.Argument([name or metavar.lower()], metavar=metavar, **{"type": PATH} | attributes)


class _Seldom(Option):
    """A setting without an option of its own: `command` joins all such settings of a command to `--set`."""


def setting(name: str, **changed: Any) -> Option:  # noqa: ANN401 - click's own
    """Return the option of a setting, as `FIELDS` defines it, or an option for reading tables, of `READING`.

    `--set` gives a setting without a flag of its own, unless a command changes it. A setting that was not
    given stays as the settings have it. changed: attributes that differ for a command.
    """
    field = FIELDS.get(name) or READING[name]
    if field.seldom and not changed:
        return _Seldom("", f"--{name}")
    attributes: dict[str, Any] = {
        "help": field.help,
        "brief": field.brief,
        "metavar": field.metavar,
    } | changed
    attributes |= {text: field.with_default(attributes[text]) for text in ("help", "brief")} | {
        "default": None
    }
    flag = f"--{name.replace('_', '-')}" if field.seldom else field.flag
    if field.kind == "switch":
        return Option(field.heading, flag, name, is_flag=True, flag_value=not field.default, **attributes)
    kinds = {"number": number, "whole": int}
    choice = click.Choice(field.choices, case_sensitive=False) if field.choices else None
    attributes = {"type": _TYPES.get(name) or choice or kinds.get(field.kind, str), **attributes}
    if name == "classes":
        attributes = {**attributes, "callback": split_classes}
    return Option(field.heading, flag, name, **{"multiple": field.several} | attributes)


_TYPES: dict[str, Any] = {
    "segment_length": lambda text: text if "/" in text else number(text),
    "cross_tune": lambda text: text if text == "folds" else click.INT.convert(text, None, None),
    **dict.fromkeys(("files", "regions", "map"), PATH),
    "median_filter": number,
}
"""Types of settings that are of no simple kind."""


def refuse(*refusals: tuple[object, str]) -> None:
    """Raise UsageError with the first message whose condition is true."""
    for wrong, message in refusals:
        if wrong:
            raise click.UsageError(message)
