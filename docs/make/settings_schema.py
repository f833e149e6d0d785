"""Write the JSON Schema of settings files from `Settings`, and the presets' copies in configs/.

It says of each setting what it can be. What settings cannot be together is beyond it: `Settings` says so.
"""

from __future__ import annotations

import json
import re
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from sedeval_soft.config import PRESETS, text_of_preset
from sedeval_soft.core.choices import CHOICES, OPTIONAL_CHOICES
from sedeval_soft.core.criteria import OPTIONAL_RANGES
from sedeval_soft.core.numbers import LONGEST_SETTING
from sedeval_soft.core.setting_ranges import GREATEST_BETA, LEAST_BETA, NUMBERS, SHARES, WHOLE
from sedeval_soft.core.settings import GROUPS, POSTPROCESSING, READINGS, STEERING, Settings
from sedeval_soft.core.ticks import TICKS_PER_SECOND
from sedeval_soft.core.tuning import HIGHEST, LOWEST, MOST_PARTS, OBJECTIVES, RULES

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "sedeval_soft" / "config" / "schema" / "settings.schema.json"

Schema = dict[str, Any]

LENGTH: Schema = {"type": "number", "minimum": 0, "maximum": LONGEST_SETTING}
NAME: Schema = {"type": "string", "minLength": 1}
NULL: Schema = {"type": "null"}

PARTS: Schema = {
    "type": "object",
    # Part of what `core.groups` asks of names: what is printable is not for a pattern to say.
    "propertyNames": {"pattern": r"^(?![ <>=])[^\[\]@]*[^\[\]@ <>=]$"},
    "additionalProperties": {
        "anyOf": [NAME, {"type": "array", "items": NAME, "minItems": 1, "uniqueItems": True}]
    },
}

RANGES: dict[str, Schema] = {
    "beta": {"minimum": LEAST_BETA, "maximum": GREATEST_BETA},
    "reference_threshold": {"minimum": 0},
    **{
        name: {"minimum": 0, "maximum": LONGEST_SETTING}
        for name in ("onset_collar", "offset_collar", "offset_collar_rate")
    },
    **{name: {"exclusiveMinimum": low, "maximum": high} for name, (low, high) in SHARES.items()},
}


def one_or_more(item: Schema, least: int) -> list[Schema]:
    """Return what a list of names can be: one of them, or several."""
    return [item, {"type": "array", "items": item, "minItems": least, "uniqueItems": True}]


def families() -> list[str]:
    """Return what `only` can name."""
    return [*READINGS, "all", *(f"{basis}.{reading}" for basis in READINGS for reading in READINGS[basis])]


SPECIAL: dict[str, list[Schema]] = {
    "segment_length": [
        {"type": "number", "minimum": 1 / TICKS_PER_SECOND, "maximum": LONGEST_SETTING},
        {"type": "string", "pattern": "^ *[0-9.]+ */ *[0-9.]+ *$", "examples": ["1/3", "1024/44100"]},
    ],
    "psds_median_filters": [{"type": "array", "items": LENGTH}, NULL],
    "measures": [*one_or_more({"enum": [*GROUPS, "all"]}, 0), NULL],
    "only": [*one_or_more({"enum": families()}, 1), NULL],
    "classes": [*one_or_more(NAME, 1), NULL],
    "groups": [PARTS, NULL],
    "scenes": [PARTS, NULL],
    "thresholds": [
        {
            "type": "object",
            "propertyNames": {"minLength": 1},
            "additionalProperties": {"type": "number", "minimum": LOWEST, "maximum": HIGHEST},
        },
        {"enum": list(RULES)},
        NULL,
    ],
    "cross_tune": [{"type": "integer", "minimum": 2, "maximum": MOST_PARTS}, {"const": "folds"}, NULL],
    "objective": [{"enum": [*OBJECTIVES, None]}],
    "satisfice": [{"type": "string", "examples": ["precision>=0.9", "recall at fpr_per_hour<=5"]}, NULL],
    **{
        name: [LENGTH, {"type": "object", "additionalProperties": LENGTH}]
        for name in POSTPROCESSING
    },
}  # fmt: skip

KNOWN: dict[str, list[Schema]] = {
    **{name: [{"enum": list(choices)}] for name, choices in CHOICES.items()},
    **{name: [{"enum": [*choices, None]}] for name, choices in OPTIONAL_CHOICES.items()},
    **SPECIAL,
}


def forms(name: str) -> list[Schema]:
    """Return the forms that a setting can have; any of them will do."""
    if name in KNOWN:
        return KNOWN[name]
    optional = [NULL] if name in STEERING or name == "reference_threshold" else []
    if name in WHOLE:
        least, most = WHOLE[name]
        return [{"type": "integer", "minimum": least, "maximum": most}, *optional]
    if name in OPTIONAL_RANGES:
        low, high = OPTIONAL_RANGES[name]
        least = "minimum" if name.startswith("alpha") else "exclusiveMinimum"
        return [{"type": "number", least: low, "maximum": high}, NULL]
    if name in NUMBERS:
        return [{"type": "number", **RANGES.get(name, {})}, *optional]
    default = next(field.default for field in fields(Settings) if field.name == name)
    if not isinstance(default, bool):
        raise TypeError(f"{name}: this script does not know what it can be")
    return [{"type": "boolean"}, *optional]


def meanings() -> dict[str, str]:
    """Return what each setting means, from where `Settings` says it, as `name, name: meaning`."""
    text = " ".join((Settings.__doc__ or "").split())
    names = "|".join(field.name for field in fields(Settings))
    heading = rf"(?<=[.;] )((?:{names})(?:, (?:{names}))*): "
    # A line break ends the last of them: what is raised is no setting.
    parts = re.split(heading, text.partition(" Raises SettingsError")[0])[1:]
    told = {}
    for many, raw in zip(parts[::2], parts[1::2], strict=True):
        meaning = raw.strip(" ;.").replace("None", "null")
        told |= dict.fromkeys(many.split(", "), f"{meaning[:1].upper()}{meaning[1:]}.")
    return told


def schema() -> Schema:
    """Return the schema."""
    told = meanings()
    properties: dict[str, Schema] = {
        "extends": {
            "description": "A preset, or the path of a settings file from this one: its settings hold where "
            "this file has none.",
            "anyOf": [{"enum": list(PRESETS)}, NAME, NULL],
        }
    }
    for field in fields(Settings):
        default = field.default_factory() if field.default is MISSING else field.default
        several = forms(field.name)
        properties[field.name] = {
            "description": told[field.name],
            **(several[0] if len(several) == 1 else {"anyOf": several}),
            "default": list(default) if isinstance(default, tuple) else default,
        }
    dashed = {
        f"^(?!{name}$){name.replace('_', '[-_]')}$": {"$ref": f"#/properties/{name}"}
        for name in properties
        if "_" in name
    }
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Settings of soft-sed-eval",
        "type": ["object", "null"],
        "properties": properties,
        "patternProperties": dashed,
        "additionalProperties": False,
    }


def text() -> str:
    """Return the schema as it stands in its file."""
    return json.dumps(schema(), indent=2) + "\n"


if __name__ == "__main__":
    SCHEMA.write_text(text(), encoding="utf-8")
    for name in PRESETS:
        (ROOT / "configs" / f"{name}.yaml").write_text(text_of_preset(name), encoding="utf-8")
