"""Who submits: a small YAML file beside a submission, written by strangers."""

from __future__ import annotations

import stat
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sedeval_soft.errors import InputError, Problem
from sedeval_soft.names import did_you_mean
from sedeval_soft.settings_files import read_yaml

_LARGEST = 1 << 16
_LONGEST = 300
"""Characters of a text."""

_MOST_AUTHORS = 100


@dataclass(frozen=True, slots=True)
class About:
    """What a file says of a submission; empty where it does not. url: of a page on the web."""

    team: str = ""
    title: str = ""
    authors: tuple[str, ...] = ()
    url: str = ""
    note: str = ""


_KEYS = tuple(field.name for field in fields(About))


def read_about(path: Path, name: str) -> About:
    """Return what a file says; name: of the file, for messages. Raises InputError where it cannot be used."""
    try:
        state = path.lstat()
        if not stat.S_ISREG(state.st_mode):
            raise _refused(name, "is a link or a device; expected a file")
        if state.st_size > _LARGEST:
            raise _refused(name, f"has {state.st_size} bytes; expected {_LARGEST} or fewer")
        found = read_yaml(str(path))
    except OSError as error:
        raise _refused(name, f"cannot be read: {error.strerror or error}") from error
    except InputError as error:
        first = error.problems[0]
        raise InputError(Problem(name, first.message, first.line, first.column)) from error
    if found is None:
        return About()
    if not isinstance(found, dict):
        raise _refused(name, f"expected lines such as team: NAME, with the keys {', '.join(_KEYS)}")
    values: dict[str, Any] = {}
    for key, value in found.items():
        if key not in _KEYS:
            hint = did_you_mean(str(key)[:_LONGEST], _KEYS) or f"; expected {', '.join(_KEYS)}"
            raise _refused(name, f"unknown key {str(key)[:_LONGEST]!r}{hint}")
        values[key] = _authors(value, name) if key == "authors" else _text(value, key, name)
    about = About(**values)
    if about.url and not _of_the_web(about.url):
        raise _refused(name, f"url {about.url!r} is not the address of a page; expected https://...")
    return about


def _authors(value: object, name: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        return (_text(value, "authors", name),) if value is not None else ()
    if len(value) > _MOST_AUTHORS:
        raise _refused(name, f"has {len(value)} authors; expected {_MOST_AUTHORS} or fewer")
    return tuple(_text(each, "authors", name) for each in value)


def _text(value: object, key: str, name: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise _refused(name, f"{key} is not a text")
    text = " ".join(str(value).split())
    if len(text) > _LONGEST:
        raise _refused(name, f"{key} has {len(text)} characters; expected {_LONGEST} or fewer")
    return text


def _of_the_web(url: str) -> bool:
    if not url.isascii() or not url.isprintable() or set(url) & set(" \"'<>\\`"):
        return False
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and "@" not in parts.netloc


def _refused(name: str, message: str) -> InputError:
    return InputError(Problem(name, message))
