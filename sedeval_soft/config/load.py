"""Read a settings file: YAML with the fields of `Settings` as keys, and `extends`.

`Settings` itself is the one list of what there is and of what it can be; a typed decoding before it would be
a second one. Here only the places of keys are added to what it says.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sedeval_soft.config.plain_yaml import read_plain_yaml
from sedeval_soft.config.presets import PRESETS, UNRESTRICTED, text_of_preset
from sedeval_soft.core.errors import InputError, Problem, SettingsError
from sedeval_soft.core.hints import did_you_mean
from sedeval_soft.core.settings import Settings
from sedeval_soft.core.visible import one_line

_LARGEST = 1 << 24
"""Bytes of a file of settings: nobody writes more, and reading takes a minute."""

EXTENDS = "extends"
"""The key that is no setting: the preset or the file whose settings hold where a file has none."""

_MEANT = f"; did you mean {EXTENDS!r}?"

_MOST_LEVELS = 8
"""Files that extend one another: who reads settings must find out what holds."""

_ABOUT = re.compile(r"(?:unknown setting ')?(\w+)")
"""What a message about settings begins with: the setting."""


@dataclass(frozen=True, slots=True)
class _File:
    """A settings file as it stands: its settings, on which lines they are, and what it extends."""

    path: str
    values: dict[str, Any]
    lines: dict[str, int]
    base: object

    def refused(self, message: str, name: str | None) -> SettingsError:
        """Return an error that names this file, and the line of a setting where it has that."""
        return SettingsError(str(Problem(self.path, message, self.lines.get(name or ""))))


def load_settings(path: str) -> dict[str, Any]:
    """Return the settings of a YAML file, checked, and those of what it extends where it has none itself.

    Raises InputError where the file is not readable YAML, SettingsError for a setting that does not exist or
    has a value that it cannot have; both name the file.
    """
    levels, values = _levels(path)
    for level in reversed(levels):
        values |= level.values
        try:
            Settings.of(**values)
        except SettingsError as error:
            about = _ABOUT.match(str(error))
            raise level.refused(str(error), about[1] if about else None) from error
    return values


def files_of_settings(path: str) -> tuple[str, ...]:
    """Return the files that settings come from: this one, and those that it extends."""
    return tuple(level.path for level in _levels(path)[0])


def load_preset(name: str) -> dict[str, Any]:
    """Return the settings of a preset; raises SettingsError where there is none of that name."""
    return dict(read_plain_yaml(text_of_preset(name)))


def classes_of_preset(name: str) -> tuple[str, ...] | None:
    """Return the classes that outputs of a challenge may name, None where any may be."""
    classes = load_preset(name).get("classes")
    return tuple(classes) if classes is not None else UNRESTRICTED.get(name)


def _levels(path: str) -> tuple[list[_File], dict[str, Any]]:
    """Return a settings file and those that it extends, and the settings of the preset below them."""
    levels = [_read(path)]
    while (base := levels[-1].base) is not None:
        if isinstance(base, str) and base in PRESETS:
            return levels, load_preset(base)
        levels.append(_read(_extended(levels)))
    return levels, {}


def _read(path: str) -> _File:
    if not path:
        raise InputError(Problem("''", "is not the name of a settings file; expected a path"))
    lines: dict[str, int] = {}
    values = read_yaml(path, lines)
    if values is None:
        values = {}
    if not isinstance(values, dict) or not all(isinstance(key, str) for key in values):
        raise InputError(
            Problem(path, f"holds {type(values).__name__}; expected settings, one `name: value` a line")
        )
    values = {key.replace("-", "_"): value for key, value in values.items()}
    file = _File(path, values, lines, values.pop(EXTENDS, None))
    for key in values:
        # Settings know their own names only.
        if key not in Settings.__slots__ and did_you_mean(key, (*Settings.__slots__, EXTENDS), n=1) == _MEANT:
            raise file.refused(f"unknown setting {key!r}{_MEANT}", key)
    return file


def _extended(levels: list[_File]) -> str:
    """Return the path of the file that the last of some files extends, which is relative to it."""
    last = levels[-1]
    name = last.base
    if not isinstance(name, str) or not name:
        message = f"extends must be the name of a preset or the path of a file, not {name!r}"
        raise last.refused(message, EXTENDS)
    path = os.path.join(os.path.dirname(last.path), name)  # noqa: PTH118, PTH120 - shown as it was written
    if not os.path.isfile(path):  # noqa: PTH113 - also False for what cannot be a path
        hint = did_you_mean(name, PRESETS, n=1)
        raise last.refused(
            f"extends {name!r}, which is neither a preset nor a file beside this one{hint}", EXTENDS
        )
    if os.path.realpath(path) in (os.path.realpath(level.path) for level in levels):
        raise last.refused(
            f"extends {name!r}, which extends this file itself; expected one that does not", EXTENDS
        )
    if len(levels) >= _MOST_LEVELS:
        expected = f"expected at most {_MOST_LEVELS} files that extend one another"
        raise last.refused(f"extends {name!r}; {expected}", EXTENDS)
    return path


def read_yaml(path: str, lines: dict[str, int] | None = None) -> Any:  # noqa: ANN401 - whatever YAML may hold
    """Return what a YAML file holds; raises InputError where it is none.

    lines: where it is put on which line each key stands.
    """
    import yaml

    try:
        with Path(path).open("rb") as file:
            content = file.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            raise InputError(Problem(path, f"has more than {_LARGEST} bytes; expected settings"))
        return read_plain_yaml(content.decode("utf-8"), lines)
    except OSError as error:
        raise InputError(Problem(path, f"cannot be read: {error.strerror or error}")) from error
    except UnicodeDecodeError as error:
        raise InputError(Problem(path, "is not UTF-8 text; expected YAML")) from error
    except RecursionError as error:
        raise InputError(Problem(path, "is nested too deeply; expected one `name: value` a line")) from error
    except (ValueError, TypeError, AttributeError, LookupError, OverflowError) as error:
        # What a tag such as !!timestamp or !!binary makes of a text that is none, a number of 5000 digits.
        said = one_line(error)
        raise InputError(Problem(path, f"holds a value that cannot be read: {said}")) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = (mark.line + 1, mark.column + 1) if mark else (None, None)
        read = isinstance(error, yaml.constructor.ConstructorError)
        message = f"{error.problem}" if read else f"is not YAML: {error.problem}"
        raise InputError(Problem(path, message, *place)) from error
    except yaml.YAMLError as error:
        raise InputError(Problem(path, f"is not YAML: {one_line(error)}")) from error


def split_classes(texts: Sequence[str]) -> tuple[str, ...]:
    """Split class names at commas; a quoted name may hold commas itself.

    Raises SettingsError for a line break, and for a quote that is not closed.
    """
    names: list[str] = []
    for text in texts:
        if len(text.splitlines()) > 1:
            raise SettingsError(f"--classes {text!r} holds a line break; expected A,B,...")
        # A blank before a quote is not part of the name.
        try:
            names += next(csv.reader([text.strip()], skipinitialspace=True, strict=True), [])
        except csv.Error as error:
            raise SettingsError(
                f"--classes {text!r} has a quote that is not closed, or text after one that is; expected "
                "quotes around a whole name: '\"a, b\",c'"
            ) from error
    return tuple(name.strip() for name in names)
