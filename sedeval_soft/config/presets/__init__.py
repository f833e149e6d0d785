"""Settings of challenges, shipped with the package, and the classes that their outputs may name.

Each is a settings file beside this one, whose first line says what it is. Nothing heavy is imported here.
"""

from __future__ import annotations

from sedeval_soft.core.errors import SettingsError
from sedeval_soft.core.hints import did_you_mean

PRESETS = (
    "dcase2016-task3",
    "dcase2017-task2",
    "dcase2017-task3",
    "dcase2019-task4",
    "dcase2019-2022-task4",
    "dcase2023-task4b",
    "dcase2024-task4-desed",
    "dcase2024-task4-maestro",
    "maestro-soft",
)
"""The names of presets: each is a settings file of that name."""

_DOMESTIC = (
    "Alarm_bell_ringing", "Blender", "Cat", "Dishes", "Dog", "Electric_shaver_toothbrush", "Frying",
    "Running_water", "Speech", "Vacuum_cleaner",
)  # fmt: skip

UNRESTRICTED: dict[str, tuple[str, ...]] = {
    "dcase2017-task2": ("babycry", "glassbreak", "gunshot"),
    "dcase2019-task4": _DOMESTIC,
    "dcase2019-2022-task4": _DOMESTIC,
}
"""Classes of challenges whose settings do not restrict them: scores of other tables shall not change."""


def checked_preset(name: object) -> str:
    """Return the name of a preset; raises SettingsError for anything else, with the name that was meant."""
    if isinstance(name, str) and name in PRESETS:
        return name
    hint = did_you_mean(str(name), PRESETS, n=1)
    raise SettingsError(f"there is no preset {name!r}; expected one of {', '.join(PRESETS)}{hint}")


def text_of_preset(name: str) -> str:
    """Return the settings file of a preset as it stands, comments and all."""
    from importlib.resources import files

    return files(__package__).joinpath(f"{checked_preset(name)}.yaml").read_text(encoding="utf-8")


def title_of_preset(name: str) -> str:
    """Return what a preset is, in a line."""
    return text_of_preset(name).partition("\n")[0].removeprefix("# ")
