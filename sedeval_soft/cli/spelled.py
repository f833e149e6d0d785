"""Messages about settings, as a command line has them: the library says `rank_by`, we say `--rank-by`."""

from __future__ import annotations

import re

_BEFORE = r"^|(?<=; )"
"""What stands before a setting whose name is an English word; elsewhere it is that word."""


def as_options(text: str) -> str:
    """Return a message with options in the place of settings, in the lines that begin with a setting.

    Others are about something else, or about a file of settings, where a setting has its own name.
    """
    from sedeval_soft.cli.evaluate import evaluate

    spelled = {
        name: option
        for parameter in evaluate.params
        for option in parameter.opts
        if option == f"--{(name := parameter.name or '').replace('_', '-')}"
    }
    return "\n".join(_respelled(line, spelled) for line in text.split("\n"))


def _respelled(line: str, spelled: dict[str, str]) -> str:
    first = re.match(r"(\w+)(?=[ =]|: )", line)
    if first is None or first[1] not in spelled:
        return line
    joined = "|".join(name for name in spelled if "_" in name)
    places = rf"(?:{_BEFORE})(?:{'|'.join(spelled)})(?=[ =:,])|(?<![\w./'\"-])(?:{joined})(?![\w./'\"-])"
    return re.sub(rf"({places})(=?)", lambda found: f"{spelled[found[1]]}{' ' if found[2] else ''}", line)
