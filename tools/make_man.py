"""Make the man page of the help of all commands: `python tools/make_man.py`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import click

from sedeval_soft import __version__
from sedeval_soft.cli.main import DEBUG_VARIABLE, DEFAULT, PROGRAM, SHORT_HELPS, group

PAGE = Path(__file__).parent / "share" / "man" / "man1" / f"{PROGRAM}.1"

Records = dict[str, list[tuple[str, str]]]
"""Options and their helps by the heading that they stand under."""

Shared = set[tuple[str, str]]
"""Options, with their helps, that stand above."""


def page() -> str:
    """Return the man page."""
    main = _command_of(DEFAULT)
    context = _context(main)
    options = _records(main, context)
    options["Other"] = [*_records(group, context)["Other"]]
    text, epilogue = _paragraphs(main.help), _paragraphs(main.epilog)
    lines = [
        r".\" Made by tools/make_man.py of the help of the commands.",
        f'.TH {_plain(PROGRAM.upper())} 1 "" "{_plain(PROGRAM)} {_plain(__version__)}" "User Commands"',
        ".SH NAME",
        _plain(f"{PROGRAM} - evaluate sound event detection against hard and soft references"),
        ".SH SYNOPSIS",
        f"{_bold(PROGRAM)} [OPTIONS] REFERENCE SYSTEM...",
        ".br",
        f"{_bold(PROGRAM)} {_italic('COMMAND')} [OPTIONS] ...",
        ".SH DESCRIPTION",
        *_text(text),
        ".SH OPTIONS",
        *_options(options),
        ".SH COMMANDS",
        f"Without a command's name it is {_bold(DEFAULT)}.",
    ]
    shared = {record for records in options.values() for record in records}
    for name in SHORT_HELPS:
        if name != DEFAULT:
            lines += _command(f"{PROGRAM} {name}", _command_of(name), shared)
    lines += [*_epilogue(epilogue), ".SH ENVIRONMENT", ".TP", _bold(DEBUG_VARIABLE)]
    lines += ["Where it is set, a defect shows where in the program it happened."]
    return "\n".join(lines) + "\n"


def _command_of(name: str) -> click.Command:
    return group.get_command(click.Context(group), name)


def _context(command: click.Command, called: str = PROGRAM) -> click.Context:
    return click.Context(command, info_name=called, max_content_width=100, help_option_names=["--help", "-h"])


def _records(command: click.Command, context: click.Context) -> Records:
    """Return the options of a command as its help has them."""
    found: Records = {}
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context) if isinstance(parameter, click.Option) else None
        if record is not None:
            found.setdefault(getattr(parameter, "heading", "Other"), []).append(record)
    return found


def _command(called: str, command: click.Command, shared: Shared) -> Iterator[str]:
    """Yield the section of a command, with the options that are not its default's."""
    context = _context(command, called)
    # What click says of a group differs between its releases.
    is_group = isinstance(command, click.Group)
    usage = "[COMMAND]" if is_group else " ".join(command.collect_usage_pieces(context))
    yield f".SS {_plain(f'{called} {usage}')}"
    yield from _text(_paragraphs(command.help))
    records = [record for of in _records(command, context).values() for record in of]
    yield from _listed([record for record in records if record not in shared])
    as_above = [name for name, text in records if (name, text) in shared and "--help" not in name]
    if as_above:
        names = ", ".join(_bold(re.findall(r"--[a-z-]+", name)[0]) for name in as_above)
        yield from (".PP", f"As above: {names}.")
    for paragraph in _paragraphs(command.epilog):
        yield from _text([paragraph])
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            yield from _command(f"{called} {name}", command.commands[name], shared)


def _options(records: Records) -> Iterator[str]:
    for heading, of in records.items():
        yield f".SS {_plain(heading)}"
        yield from _listed(of)


def _listed(records: list[tuple[str, str]]) -> Iterator[str]:
    """Yield options as tagged paragraphs: names bold, what they take in italics."""
    for names, text in records:
        yield ".TP"
        yield "".join(
            _bold(part) if part.startswith("-") else _italic(part) if part.strip(", /") else _plain(part)
            for part in re.split(r"((?<!\S)--?[a-zA-Z][a-z-]*|, )", names)
            if part
        )
        yield _line(re.sub(r"\s+", " ", text))


def _paragraphs(text: str | None) -> list[str]:
    """Return the paragraphs of a help; those that keep their lines begin with click's mark of them."""
    return re.split(r"\n\s*\n", inspect.cleandoc(text)) if text else []


def _text(paragraphs: list[str]) -> Iterator[str]:
    for paragraph in paragraphs:
        yield ".PP"
        if paragraph.startswith("\b\n"):
            yield from (".nf", *map(_line, paragraph.splitlines()[1:]), ".fi")
        else:
            yield _line(" ".join(paragraph.split()))


def _epilogue(paragraphs: list[str]) -> Iterator[str]:
    """Yield what stands below a help: each paragraph is a section named by its first words."""
    for paragraph in paragraphs:
        title, _, rest = paragraph.removeprefix("\b\n").partition(":")
        yield f".SH {_plain(title.upper())}"
        lines = [line.removeprefix("  ") for line in rest.strip("\n").splitlines()]
        examples = title == "Examples"
        yield from (".nf", *map(_line, lines), ".fi") if examples else map(_line, map(str.strip, lines))


def _plain(text: str) -> str:
    return text.replace("\\", r"\e").replace("-", r"\-").replace('"', r"\(dq").replace("'", r"\(aq")


def _line(text: str) -> str:
    """Return a line of text; at its begin a full stop would be a command."""
    said = _plain(text)
    return rf"\&{said}" if said.startswith(".") else said


def _bold(text: str) -> str:
    return rf"\fB{_plain(text)}\fR"


def _italic(text: str) -> str:
    blank = text[: len(text) - len(text.lstrip())]
    return rf"{blank}\fI{_plain(text.lstrip())}\fR"


if __name__ == "__main__":
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
