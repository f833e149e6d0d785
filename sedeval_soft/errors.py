"""Errors that this package raises for a wrong call or input.

Every error names its place, the value found there and the value expected instead. The command line turns each
of them into exit code 2 and its text, never into a traceback.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

MAX_PROBLEMS = 10
"""Number of problems in one message."""


Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of an input.

    source: The file as the user named it, `-` for standard input. message: The value found and the value
    expected. line, column: Counted from 1, the column in fields; None for the whole file. code: Stable name
    of this kind of problem. severity: Whether the input can be scored nevertheless. mend: Advice beyond the
    message.
    """

    source: str
    message: str
    line: int | None = None
    column: int | None = None
    code: str = "invalid"
    severity: Severity = "error"
    mend: str = ""

    def __str__(self) -> str:
        """Return `source:line:column: message`, the form that editors and CI understand."""
        source = self.source if self.source.isprintable() else repr(self.source)
        place = ":".join(str(part) for part in (source, self.line, self.column) if part is not None)
        return visible(f"{place}: {self.message}")


class EvaluationError(Exception):
    """The base of all errors that the caller can fix."""


class SettingsError(EvaluationError):
    """A setting or an option has a value that it cannot have."""

    def __init__(self, message: str) -> None:
        """Keep a message of one line or several, safe to show even if it quotes content of a file."""
        super().__init__("\n".join(visible(line) for line in message.split("\n")))


class InputError(EvaluationError):
    """An input cannot be read, or contains a value that cannot be scored."""

    def __init__(self, problems: Sequence[Problem] | Problem, more: int | bool = 0) -> None:
        """Keep `problems`; `more` is the number of further problems (True: some, not counted)."""
        self.problems: tuple[Problem, ...] = (problems,) if isinstance(problems, Problem) else tuple(problems)
        self.more = more
        lines = [str(problem) for problem in self.problems]
        if more:
            lines.append(
                f"... and {more} more"
                if more is not True
                else "... and more problems of this kind after these"
            )
        super().__init__("\n".join(lines))

    def __reduce__(self) -> tuple[type[InputError], tuple[tuple[Problem, ...], int | bool]]:
        """Allow raising in one process and reporting in another."""
        return type(self), (self.problems, self.more)


# Names in a safe form for terminals and logs, which obey some characters.


SHOWN = 80
"""Characters of a field that messages show."""

SAID = 200
"""Number of characters of a library's message that messages show."""


_BLANK = "[^\\S\n]|[\u00ad\u200b-\u200d\u2060\ufeff]"

_COMMAND = rf"^(?:{_BLANK})*:(?=:)|#(?=#\w*\[)"
"""Begins of commands in a log: GitHub's `::error::` at the begin of a line, `##[` and `##vso[` anywhere."""


def visible(text: str) -> str:
    """Return a name with everything that a terminal might obey, or nobody might see, written as an escape.

    The first characters that a log of GitHub or Azure would take for a command are also escaped.
    """
    if not text.isprintable():
        text = "".join(c if c.isprintable() else escaped(c) for c in text)
    return without_commands(text)


def without_commands(text: str) -> str:
    r"""Return a text without a line that a log would take for a command: `\x3a:error::`, `\x23#[error]`."""
    if "::" not in text and "##" not in text:
        return text
    return re.sub(
        _COMMAND, lambda match: f"{match[0][:-1]}\\x{ord(match[0][-1]):x}", text, flags=re.MULTILINE
    )


def quoted(text: str) -> str:
    """Return a text in quotes, control characters escaped, the end of a long one left out."""
    return repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}...")


def said(value: object) -> str:
    """Return a value as Python writes it, as far as a message of settings shows it."""
    text = repr(value[: SHOWN + 1] if isinstance(value, str | list | tuple) else value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def one_line(said: object) -> str:
    """Return a library's message, such as its error, on one line, shortened at the end if long."""
    return " ".join(str(said).split())[:SAID]


def escaped(character: str) -> str:
    r"""Return a character as Python writes it by its number: `\x1b`, `\u202e`."""
    return character.encode("unicode_escape").decode("ascii")


# Packages that are not installed: a slim install leaves some out, and extras are asked for.


_PACKAGES = {"pkg_resources": "setuptools", "yaml": "pyyaml"}
"""Packages whose name differs from the name of their module."""


def install_command(*modules: str) -> str:
    """Return the command that installs the packages of modules, in versions that go with this one.

    The command names the running Python, and packages that this one asks for. If another package needs the
    missing module, the command names all packages that are not extras.
    """
    import shlex
    import sys
    from importlib.metadata import PackageNotFoundError, requires

    try:
        required = requires("soft-sed-eval") or []
    except PackageNotFoundError:  # what runs is not installed: nothing tells versions
        required = [_PACKAGES.get(module, module) for module in modules]
    known = {_plain_name(text): text.partition(";")[0].strip() for text in required}
    names = [_plain_name(_PACKAGES.get(module, module)) for module in modules]
    if not known.keys() >= {*names}:
        names = [_plain_name(text) for text in required if "extra ==" not in text]
    wanted = " ".join(f'"{known[name]}"' for name in names)
    return f"{shlex.quote(sys.executable)} -m pip install {wanted}"


def missing_package(error: ModuleNotFoundError) -> str | None:
    """Return a message about a package that is not installed; None if only a part of one is missing.

    An app of this package is a folder that may have been deleted.
    """
    from importlib.util import find_spec

    module, _, part = (error.name or "").partition(".")
    if module == __package__ and part.startswith("apps."):
        return f"this needs the app {part.split('.')[1]}, which this installation of {module} does not have"
    if not module or find_spec(module) is not None:
        return None
    return f"this needs {module}, which is not installed; this installs it:\n{install_command(module)}"


def _plain_name(text: str) -> str:
    """Return the name of a package at the begin of a requirement, as all spellings of it have it."""
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", text, maxsplit=1)[0]).lower()


# Numbers of things in words: one thing has no plural.


def counted(number: int, noun: str) -> str:
    """Return a number of things: `1 file`, `2 files`, `3 classes`."""
    return f"{number} {noun if number == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """Return the plural of a noun: `files`, `classes`."""
    return f"{noun}es" if noun.endswith("s") else f"{noun}s"


def be(number: float) -> str:
    """Return the verb that goes with a number of things: 1 `is`, 2 `are`."""
    return "is" if number == 1 else "are"
