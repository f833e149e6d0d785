"""Groups of classes and scenes: parts of an evaluation that are scored by themselves as well.

Scores of a part carry its name behind an `@`, see `measures.names`; so the names are checked here, once for
settings and grammar.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from sedeval_soft.core.errors import SettingsError

Parts = dict[str, tuple[str, ...]]
"""What belongs to each part by its name: classes of a group, patterns of file names of a scene."""

_NOT_INSIDE = frozenset("[]@")
_NOT_AT_ENDS = " <>="
"""Blanks at the ends of a name get lost on command lines; signs at its end are those of `--require`."""

PART_NAMES = "printable text without [, ] and @, and without blanks and <, >, = at its ends"
"""What a name of a part must be, for messages."""


def is_part_name(name: str) -> bool:
    """Return whether a group or a scene can have this name: that scores of it can be told apart by it."""
    return (
        bool(name) and name.isprintable() and not _NOT_INSIDE & set(name) and name.strip(_NOT_AT_ENDS) == name
    )


def checked_parts(setting: str, value: object, noun: str) -> Parts:
    """Return a setting that maps names of parts to lists of texts, a single text being a list of one.

    setting: `groups` or `scenes`. noun: what the texts are. Raises SettingsError for anything else.
    """
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise SettingsError(f"{setting} must map names to lists of {noun}s, not {value!r}")
    return {_name(setting, name): _members(setting, name, value[name], noun) for name in value}


def check_apart(groups: Parts, scenes: Parts) -> None:
    """Raise SettingsError where a group of classes and a scene have the same name."""
    both = [name for name in groups if name in scenes]
    if both:
        raise SettingsError(f"groups and scenes both have {both[0]!r}; expected each name once")


def _name(setting: str, name: object) -> str:
    if not isinstance(name, str):
        raise SettingsError(f"{setting} must have names, in quotes if need be, not {name!r}")
    if not is_part_name(name):
        raise SettingsError(f"{setting} cannot have the name {name!r}; expected {PART_NAMES}")
    return name


def _members(setting: str, name: str, value: object, noun: str) -> tuple[str, ...]:
    members = (value,) if isinstance(value, str) else value
    if isinstance(members, Mapping | Set) or not isinstance(members, Iterable):
        raise SettingsError(f"{setting}: {name!r} must be a list of {noun}s, not {value!r}")
    found = tuple(members)
    for member in found:
        if not isinstance(member, str):
            raise SettingsError(
                f"{setting}: {name!r} must list {noun}s, in quotes if need be, not {member!r}"
            )
    if not found or not all(found):
        raise SettingsError(f"{setting}: {name!r} must list at least one {noun}, and no empty one")
    if len(set(found)) < len(found):
        raise SettingsError(f"{setting}: {name!r} names a {noun} twice")
    return found
