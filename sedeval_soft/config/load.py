"""Read a settings file: YAML with the fields of `Settings` as keys."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sedeval_soft.core.errors import InputError, Problem, SettingsError
from sedeval_soft.core.settings import Settings


def load_settings(path: str) -> dict[str, Any]:
    """Return the settings of a YAML file, checked.

    Raises InputError where the file is not readable YAML, SettingsError for a setting that does not exist or
    has a value that it cannot have; both name the file.
    """
    import yaml

    if not path:
        raise InputError(Problem("''", "is not the name of a settings file; expected a path"))
    try:
        values = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(Problem(path, f"cannot be read: {error.strerror}")) from error
    except UnicodeDecodeError as error:
        raise InputError(Problem(path, "is not UTF-8 text; expected YAML")) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = (mark.line + 1, mark.column + 1) if mark else (None, None)
        raise InputError(Problem(path, f"is not YAML: {error.problem}", *place)) from error
    except yaml.YAMLError as error:
        raise InputError(Problem(path, f"is not YAML: {error}")) from error
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


def split_classes(texts: Sequence[str]) -> tuple[str, ...]:
    """Split class names at commas; a quoted name may hold commas itself."""
    return tuple(name.strip() for row in csv.reader(texts, skipinitialspace=True) for name in row)
