"""Answers to wrong calls, also to those as other tools would have them: their options and verbs.

The program imports this module only after a wrong call. Each answer names the equivalent here; words are in
`aliases.toml`.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

import click

from sedeval_soft.errors import SettingsError
from sedeval_soft.fields import FIELDS, SELDOM
from sedeval_soft.names import by_alias, close_matches, normal, other_settings


def message_of(error: click.ClickException, arguments: Sequence[str]) -> str:
    """Return the message of a wrong call, with the name here of another tool's option or verb."""
    hint = ""
    if isinstance(error, click.NoSuchOption):
        hint = _of_option(error.option_name, error.ctx)
        if hint:
            # Options that look alike would lead elsewhere.
            error = click.NoSuchOption(error.option_name, ctx=error.ctx)
    else:
        hint = of_words(arguments)
    text = io.StringIO()
    error.show(text)
    # click lists choices behind tabs, which would be shown as escapes.
    message = text.getvalue().removesuffix("\n").replace("\n\t", "\n    ")
    return f"{message}\n{hint}" if hint else message


def of_words(arguments: Sequence[str]) -> str:
    """Return the advice for an argument that is not a file, but a verb or a number."""
    for option, value in pairwise(arguments):
        is_number = value.replace(".", "", 1).isdecimal()
        known = by_alias("numbers" if is_number else "words")
        if option in known and not (is_number and os.path.exists(value)):
            return known[option]
    first = arguments[0] if arguments else ""
    return "" if os.path.exists(first) else by_alias("commands").get(first.lower(), "")


_CLOSE = 0.7
"""Least similarity of a misspelling and a command's name: 0.75 is the similarity of `plto` and `plot`."""


def refuse_misspelt(word: str, commands: Iterable[str]) -> None:
    """Raise SettingsError for a first word that is almost a command or a command elsewhere."""
    if not re.fullmatch("[A-Za-z][A-Za-z_-]+", word):  # a path
        return
    matches = close_matches(word, commands, n=1, cutoff=_CLOSE)
    if matches:
        raise SettingsError(f"there is no command {word!r}; did you mean {matches[0]}?")
    if of_words([word]):  # said below
        raise SettingsError(f"there is no command {word!r}")


def _of_option(name: str, context: click.Context | None) -> str:
    """Return the name here of another tool's option, if the command has this option."""
    plain = normal(name)
    if plain in SELDOM:
        hint, ours = f"It is a setting that few change: --set {plain}=VALUE.", ["--set"]
    elif plain in other_settings():
        tool, settings = other_settings()[plain]
        ours = [FIELDS[setting].flag for setting in settings]
        hint = f"{tool} {plain} is {' and '.join(ours)} here."
    else:
        hint = by_alias("options").get(plain, "")
        ours = re.findall(r"--[a-z][a-z-]+", hint)
    if context is None or context.command.name == "evaluate":
        return hint
    options = {flag for each in context.command.params for flag in each.opts}
    return hint if ours and options.issuperset(ours) else ""


def as_options(text: str, command: click.Command) -> str:
    """Return a message with options of a command in the place of settings: `rank_by` is `--rank-by` here.

    In the lines that begin with a setting; others are about something else, or about a file of settings,
    where a setting has its own name.
    """
    spelled = {
        name: option
        for parameter in command.params
        for option in parameter.opts
        if option == f"--{(name := parameter.name or '').replace('_', '-')}"
    }
    joined = "|".join(name for name in spelled if "_" in name)
    # A setting whose name is an English word is one at the beginning, and behind a semicolon.
    places = rf"(?:^|(?<=; ))(?:{'|'.join(spelled)})(?=[ =:,])|(?<![\w./'\"-])(?:{joined})(?![\w./'\"-])"

    def respelled(line: re.Match[str]) -> str:
        return re.sub(rf"({places})(=?)", lambda at: f"{spelled[at[1]]}{' ' if at[2] else ''}", line[0])

    return re.sub(rf"^(?:{'|'.join({*spelled, *FIELDS})})(?:[ =]|: ).*", respelled, text, flags=re.MULTILINE)
