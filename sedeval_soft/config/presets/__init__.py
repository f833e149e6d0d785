"""Settings of challenges, shipped with the package, and the classes that their outputs may name."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import Any

from sedeval_soft.config.load import load_settings

_CLASSES: dict[str, tuple[str, ...]] = {
    "dcase2017-task2": ("babycry", "glassbreak", "gunshot"),
    "dcase2019-task4": (
        "Alarm_bell_ringing", "Blender", "Cat", "Dishes", "Dog", "Electric_shaver_toothbrush", "Frying",
        "Running_water", "Speech", "Vacuum_cleaner",
    ),
}  # fmt: skip
"""Classes of challenges whose settings do not restrict them: scores of other tables shall not change."""

PRESETS = ("dcase2016-task3", "dcase2017-task2", "dcase2019-task4", "dcase2023-task4b")
"""The names of presets: each is a settings file of that name."""


def load_preset(name: str) -> dict[str, Any]:
    """Return the settings of a preset."""
    with as_file(files(__package__).joinpath(f"{name}.yaml")) as path:
        return load_settings(str(path))


def classes_of_preset(name: str) -> tuple[str, ...] | None:
    """Return the classes that outputs of a challenge may name, None where any may be."""
    classes = load_preset(name).get("classes")
    return tuple(classes) if classes is not None else _CLASSES.get(name)
