"""Write the help of every command into commands.md, as the commands print it but for repetitions."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Iterator
from pathlib import Path

import click
from click.testing import CliRunner

from sedeval_soft.cli.main import PROGRAM, group

PAGE = Path(__file__).parents[1] / "reference" / "commands.md"
WIDTH = 80

_BLOCK = re.compile(
    r"(?<=^<!-- help: )(.*?)( -->\n\n<details.*\n\n```text\n)(?:.*\n)*?(?=```$)", re.MULTILINE
)


def names(command: click.Command = group, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the names of all commands: none for the program itself."""
    yield before
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            # Without a command's name the program is `evaluate`, which prints the same help.
            if below and name != "evaluate":
                yield from names(below, (*before, name))


def help_of(name: tuple[str, ...], option: str = "--help") -> str:
    """Return what a command prints for `--help`, or for `--help-all`, on a terminal of 80 columns."""
    done = CliRunner().invoke(group, [*name, option], prog_name=PROGRAM, terminal_width=WIDTH)
    if done.exit_code:
        raise ValueError(f"{' '.join(name)}: {done.output}")
    return done.output.rstrip() + "\n"


def page(text: str) -> str:
    """Return the page with each block of help as it should be."""
    known = set(help_of(()).splitlines())
    helps = {" ".join((PROGRAM, *name)): _shortened(help_of(name), known if name else ()) for name in names()}
    found = [match[1] for match in _BLOCK.finditer(text)]
    if found != [*helps]:
        raise ValueError(f"the page has {found}, the program {[*helps]}")
    return _BLOCK.sub(lambda match: match[1] + match[2] + helps[match[1]], text)


def _shortened(text: str, known: Collection[str]) -> str:
    """Return a help up to its examples, with options that the program itself has by name only.

    The page has examples of its own, with their output.
    """
    kept, same = [], []
    for line in re.split(r"^  Examples?:$", text, flags=re.MULTILINE)[0].rstrip().splitlines():
        option = re.match(r"  (?:-\w, )?(--[\w-]+) ", line)
        if option and line in known:
            same.append(option[1])
        else:
            kept.append(line)
    if same:
        kept += ["", *textwrap.wrap(f"As in {PROGRAM}: {', '.join(same)}.", WIDTH, break_on_hyphens=False)]
    return "\n".join(kept) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
