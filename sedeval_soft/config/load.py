"""Read a settings file: YAML with the fields of `Settings` as keys, and `extends`.

`Settings` itself is the one list of what there is and of what it can be; a typed decoding before it would be
a second one. Here only the places of keys are added to what it says.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from sedeval_soft.config.plain_yaml import read_plain_yaml
from sedeval_soft.config.presets import PRESETS, UNRESTRICTED, checked_preset
from sedeval_soft.core.errors import InputError, Problem, SettingsError
from sedeval_soft.core.hints import did_you_mean
from sedeval_soft.core.settings import Settings

_LARGEST = 1 << 24
"""Bytes of a file of settings: nobody writes more, and reading takes a minute."""

EXTENDS = "extends"
"""The key that is no setting: the preset or the file whose settings hold where a file has none."""

_MOST_LEVELS = 8
"""Files that extend one another: who reads settings must find out what holds."""

_ABOUT = re.compile(r"(?:unknown setting ')?(\w+)")
"""What a message about settings begins with: the setting."""


def load_settings(path: str) -> dict[str, Any]:
    """Return the settings of a YAML file, checked, and those of what it extends where it has none itself.

    Raises InputError where the file is not readable YAML, SettingsError for a setting that does not exist or
    has a value that it cannot have; both name the file.
    """
    return _load(path, ())


def load_preset(name: str) -> dict[str, Any]:
    """Return the settings of a preset; raises SettingsError where there is none of that name."""
    return _load_preset(checked_preset(name), ())


def classes_of_preset(name: str) -> tuple[str, ...] | None:
    """Return the classes that outputs of a challenge may name, None where any may be."""
    classes = load_preset(name).get("classes")
    return tuple(classes) if classes is not None else UNRESTRICTED.get(name)


def _load_preset(name: str, within: tuple[str, ...]) -> dict[str, Any]:
    with as_file(files("sedeval_soft.config.presets").joinpath(f"{name}.yaml")) as path:
        return _load(str(path), within)


def _load(path: str, within: tuple[str, ...]) -> dict[str, Any]:
    """Return the settings of a file; within: the files that it is extended by, the first one first."""
    if not path:
        raise InputError(Problem("''", "is not the name of a settings file; expected a path"))
    lines: dict[str, int] = {}
    values = read_yaml(path, lines)
    if values is None:
        return {}
    if not isinstance(values, dict) or not all(isinstance(key, str) for key in values):
        raise InputError(
            Problem(path, f"holds {type(values).__name__}; expected settings, one `name: value` a line")
        )
    values = {key.replace("-", "_"): value for key, value in values.items()}
    base = values.pop(EXTENDS, None)
    if base is not None:
        values = _base(base, path, lines[EXTENDS], within) | values
    try:
        Settings.of(**values)
    except SettingsError as error:
        about = _ABOUT.match(str(error))
        line = lines.get(about[1]) if about else None
        raise SettingsError(str(Problem(path, str(error), line))) from error
    return values


def _base(name: object, path: str, line: int, within: tuple[str, ...]) -> dict[str, Any]:
    """Return the settings of what a file extends: a preset, or a file whose path is relative to it."""

    def refused(message: str) -> SettingsError:
        return SettingsError(str(Problem(path, message, line)))

    if not isinstance(name, str) or not name:
        raise refused(f"extends must be the name of a preset or the path of a file, not {name!r}")
    within = (*within, path)
    if name in PRESETS:
        return _load_preset(name, within)
    found = os.path.join(os.path.dirname(path), name)  # noqa: PTH118, PTH120 - kept as the user wrote it
    if not os.path.exists(found):  # noqa: PTH110 - also False where a NUL is in the name
        hint = did_you_mean(name, PRESETS, n=1)
        raise refused(f"extends {name!r}, which is neither a preset nor a file beside this one{hint}")
    if os.path.realpath(found) in map(os.path.realpath, within):
        raise refused(f"extends {name!r}, which extends this file itself; expected one that does not")
    if len(within) >= _MOST_LEVELS:
        raise refused(f"extends {name!r}; expected at most {_MOST_LEVELS} files that extend one another")
    return _load(found, within)


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
        raise InputError(Problem(path, f"cannot be read: {error.strerror}")) from error
    except UnicodeDecodeError as error:
        raise InputError(Problem(path, "is not UTF-8 text; expected YAML")) from error
    except RecursionError as error:
        raise InputError(Problem(path, "is nested too deeply; expected one `name: value` a line")) from error
    except (ValueError, TypeError, AttributeError, LookupError, OverflowError) as error:
        # What a tag such as !!timestamp or !!binary makes of a text that is none, a number of 5000 digits.
        said = " ".join(str(error).split())[:200]
        raise InputError(Problem(path, f"holds a value that cannot be read: {said}")) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = (mark.line + 1, mark.column + 1) if mark else (None, None)
        read = isinstance(error, yaml.constructor.ConstructorError)
        message = f"{error.problem}" if read else f"is not YAML: {error.problem}"
        raise InputError(Problem(path, message, *place)) from error
    except yaml.YAMLError as error:
        raise InputError(Problem(path, f"is not YAML: {' '.join(str(error).split())}")) from error


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
