"""The commands by name, each imported when it is called: start-up is a feature."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from importlib import import_module

import click

SHORT_HELPS = {
    "annotate": "Make a soft reference of the labels of several annotators, and print how far they agree.",
    "board": "Make a leaderboard of a folder of submissions: a site of static pages.",
    "convert": "Write a table in another form.",
    "diff": "Compare two results of --format json: score by score, and which settings and inputs differ.",
    "evaluate": "Score sound event detection systems against a hard or soft reference.",
    "explain": "Tell what scores mean: formula, source, when they are undefined, what differs elsewhere.",
    "merge": "Score tallies that --save-tally wrote, as if all their files had been evaluated at once.",
    "plot": "Draw a figure of one or more systems, as papers and talks have them.",
    "presets": "List the settings of challenges that --preset takes, one a line.",
    "simulate": "Write the output of a made-up system, to read the scores of real ones against.",
    "tune": "Find the threshold of each class that is best on some data, to score other data with it.",
    "validate": "Find all problems of a system's output: not just the first, and more than stops its "
    "scoring.",
}
"""The first sentence of each command's help; a test holds them against the commands.

The command NAME is `NAME` of the module `sedeval_soft.cli.NAME`.
"""


class Commands(MutableMapping[str, click.Command]):
    """What a group of click's takes for a dictionary of commands; one is imported when it is looked up."""

    def __init__(self) -> None:
        self._known: dict[str, click.Command | None] = dict.fromkeys(SHORT_HELPS)

    def __getitem__(self, name: str) -> click.Command:
        found = self._known[name]
        if found is None:
            found = getattr(import_module(f"sedeval_soft.cli.{name}"), name)
            self._known[name] = found
        return found

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._known[name] = command

    def __delitem__(self, name: str) -> None:
        del self._known[name]

    def __contains__(self, name: object) -> bool:
        """Return whether there is such a command; that of Mapping would import it."""
        return name in self._known

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


def listing(default: str | None, width: int) -> list[tuple[str, str]]:
    """Return names and short helps, cut to a width, the default first and with a star; imports no command."""
    limit = width - 6 - max(map(len, SHORT_HELPS))
    names = sorted(SHORT_HELPS, key=lambda name: (name != default, name))
    return [
        (
            name + "*" * (name == default),
            click.Command(name, help=SHORT_HELPS[name]).get_short_help_str(limit),
        )
        for name in names
    ]
