"""The JSON Schema of settings files, made from `fields`: for editors that complete and check them.

It says of each setting what it can be. What settings cannot be together is beyond it: `Settings` says so.
"""

from __future__ import annotations

import json
from typing import Any

from sedeval_soft.fields import FIELDS, LONGEST, RULES, Field
from sedeval_soft.settings import GROUPS, HIGHEST, LOWEST, OBJECTIVES, ONLY, POSTPROCESSING
from sedeval_soft.settings_files import PRESETS

Schema = dict[str, Any]

_LENGTH: Schema = {"type": "number", "minimum": 0, "maximum": LONGEST}
_NAME: Schema = {"type": "string", "minLength": 1}
_NULL: Schema = {"type": "null"}

_PARTS: Schema = {
    "type": "object",
    # Part of what `is_part_name` asks of names: what is printable is not for a pattern to say.
    "propertyNames": {"pattern": r"^(?![ <>=])[^\[\]@]*[^\[\]@ <>=]$"},
    "additionalProperties": {
        "anyOf": [_NAME, {"type": "array", "items": _NAME, "minItems": 1, "uniqueItems": True}]
    },
}


def _one_or_more(item: Schema, least: int) -> list[Schema]:
    """Return what a list of names can be: one of them, or several."""
    return [item, {"type": "array", "items": item, "minItems": least, "uniqueItems": True}]


_SPECIAL: dict[str, list[Schema]] = {
    "segment_length": [
        {"type": "number", "minimum": 1e-6, "maximum": LONGEST},
        {"type": "string", "pattern": "^ *[0-9.]+ */ *[0-9.]+ *$", "examples": ["1/3", "1024/44100"]},
    ],
    "psds_median_filters": [{"type": "array", "items": _LENGTH}, _NULL],
    "measures": [*_one_or_more({"enum": [*GROUPS, "all"]}, 0), _NULL],
    "only": [*_one_or_more({"enum": list(ONLY)}, 1), _NULL],
    "classes": [*_one_or_more(_NAME, 1), _NULL],
    "groups": [_PARTS, _NULL],
    "scenes": [_PARTS, _NULL],
    "thresholds": [
        {
            "type": "object",
            "propertyNames": {"minLength": 1},
            "additionalProperties": {"type": "number", "minimum": LOWEST, "maximum": HIGHEST},
        },
        {"enum": list(RULES)},
        _NULL,
    ],
    "cross_tune": [{"type": "integer", "minimum": 2, "maximum": 1000}, {"const": "folds"}, _NULL],
    "objective": [{"enum": [*OBJECTIVES, None]}],
    "satisfice": [{"type": "string", "examples": ["precision>=0.9", "recall at fpr_per_hour<=5"]}, _NULL],
    **{name: [_LENGTH, {"type": "object", "additionalProperties": _LENGTH}] for name in POSTPROCESSING},
}
"""The forms of settings that are no single number, word or truth value; any of them will do."""

_TYPES = {"number": "number", "whole": "integer", "switch": "boolean"}


def _forms(name: str, field: Field) -> list[Schema]:
    """Return the forms that a setting can have."""
    if name in _SPECIAL:
        return _SPECIAL[name]
    if field.choices:
        return [{"enum": [*field.choices, *([None] if field.optional else [])]}]
    schema: Schema = {"type": _TYPES[field.kind]}
    if field.least is not None:
        schema["exclusiveMinimum" if field.above else "minimum"] = field.least
    if field.most is not None:
        schema["maximum"] = field.most
    return [schema, *([_NULL] if field.optional else [])]


def schema() -> Schema:
    """Return the schema."""
    properties: dict[str, Schema] = {
        "extends": {
            "description": "A preset, or the path of a settings file from this one: its settings hold where "
            "this file has none.",
            "anyOf": [{"enum": list(PRESETS)}, _NAME, _NULL],
        }
    }
    for name, field in FIELDS.items():
        forms = _forms(name, field)
        properties[name] = {
            "description": field.meaning,
            **(forms[0] if len(forms) == 1 else {"anyOf": forms}),
            "default": list(field.default) if isinstance(field.default, tuple) else field.default,
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


def schema_text() -> str:
    """Return the schema as a document."""
    return json.dumps(schema(), indent=2) + "\n"
