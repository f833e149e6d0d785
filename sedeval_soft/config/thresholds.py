"""Files of thresholds: what `soft-sed-eval tune` writes and `--thresholds` reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sedeval_soft.config.load import read_yaml
from sedeval_soft.config.plain_yaml import write_plain_yaml
from sedeval_soft.core.errors import InputError, Problem, SettingsError
from sedeval_soft.core.tuning import Thresholds, Tuning, checked_thresholds


def dump_thresholds(tuning: Tuning, signature: str) -> str:
    """Return the text of a file of thresholds: they, what they reach, and how they were found."""
    rest: dict[str, Any] = {
        "objective": tuning.objective,
        "beta": tuning.beta,
        "inclusive": tuning.inclusive,
        "classes": {
            label: {"n_ref": of.n_ref, "score": of.score, "as_good": [of.low, of.high]}
            for label, of in tuning.classes.items()
        },
        "signature": signature,
    }
    first = write_plain_yaml({"thresholds": tuning.thresholds})
    return (
        "# Thresholds for --thresholds; a class that has none is cut at --threshold.\n"
        f"{first}{write_plain_yaml(rest, flow=None)}"
    )


def load_thresholds(path: str, *, inclusive: bool) -> Thresholds:
    """Return the thresholds of a file: those under `thresholds`, or all of it if there is no such key.

    Raises InputError where it cannot be read, SettingsError for what no threshold can be, and for thresholds
    that were found for the other of active above and at them.
    """
    values = read_yaml(path)
    if not isinstance(values, Mapping):
        raise InputError(
            Problem(path, f"holds {type(values).__name__}; expected thresholds, one `class: number` a line")
        )
    made = values.get("inclusive")
    if "thresholds" in values and isinstance(made, bool) and made is not inclusive:
        here, there = ("at or above", "above") if inclusive else ("above", "at or above")
        raise SettingsError(f"{path}: found for active {there} thresholds; this evaluation has {here}")
    try:
        found = checked_thresholds(values.get("thresholds", values))
    except SettingsError as error:
        raise SettingsError(f"{path}: {error}") from error
    if isinstance(found, str):
        raise SettingsError(f"{path}: thresholds are the rule {found}; expected `--thresholds {found}`")
    return found
