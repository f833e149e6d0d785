"""Read a settings file: YAML with the fields of `Settings` as keys."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sedeval_soft.config.plain_yaml import read_plain_yaml
from sedeval_soft.core.errors import InputError, Problem, SettingsError
from sedeval_soft.core.settings import Settings

_LARGEST = 1 << 24
"""Bytes of a file of settings: nobody writes more, and reading takes a minute."""


def load_settings(path: str) -> dict[str, Any]:
    """Return the settings of a YAML file, checked.

    Raises InputError where the file is not readable YAML, SettingsError for a setting that does not exist or
    has a value that it cannot have; both name the file.
    """
    if not path:
        raise InputError(Problem("''", "is not the name of a settings file; expected a path"))
    values = read_yaml(path)
    if values is None:
        return {}
    if not isinstance(values, dict) or not all(isinstance(key, str) for key in values):
        raise InputError(
            Problem(path, f"holds {type(values).__name__}; expected settings, one `name: value` a line")
        )
    values = {key.replace("-", "_"): value for key, value in values.items()}
    try:
        Settings.of(**values)
    except SettingsError as error:
        raise SettingsError(f"{path}: {error}") from error
    return values


def read_yaml(path: str) -> Any:  # noqa: ANN401 - whatever YAML may hold
    """Return what a YAML file holds; raises InputError where it is none."""
    import yaml

    try:
        with Path(path).open("rb") as file:
            content = file.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            raise InputError(Problem(path, f"has more than {_LARGEST} bytes; expected settings"))
        return read_plain_yaml(content.decode("utf-8"))
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
