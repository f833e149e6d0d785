"""The JSON Schema of settings files says of every setting what `Settings` says."""

import json
import re
from dataclasses import fields
from pathlib import Path

import jsonschema
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sedeval_soft.errors import SettingsError
from sedeval_soft.fields import FIELDS
from sedeval_soft.settings import _TICKS, READINGS, Settings, is_part_name
from sedeval_soft.settings_files import PRESETS, load_settings, read_yaml, schema_text, text_of_preset
from sedeval_soft.tables.ticks import TICKS_PER_SECOND

ROOT = Path(__file__).parents[2]
SHIPPED = [*(ROOT / "configs").glob("*.yaml")]
NAMES = [field.name for field in fields(Settings)]
SCHEMA = json.loads(schema_text())
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)


def test_it_is_a_schema_of_all_settings_and_of_files_that_are_shipped():
    assert Settings.of(**load_settings(str(ROOT / "configs" / "default.yaml"))) == Settings()
    every = [part for basis, of in READINGS.items() for part in (basis, *(f"{basis}.{each}" for each in of))]
    for good in (None, {"extends": "dcase2019-task4", "beta": 2}, {"only": every}):
        VALIDATOR.validate(good)
    for bad in ({"betta": 1}, {"extends": 3}, {"extends": ""}, [], "text", 3):
        assert not VALIDATOR.is_valid(bad)
    for path in map(str, SHIPPED):
        assert load_settings(path)
        VALIDATOR.validate(read_yaml(path))
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    reading = ["columns", "label", "sample_rate", "from", "operating_points"]
    assert list(SCHEMA["properties"]) == ["extends", *NAMES, *reading]


def test_fields_are_those_of_settings():
    """What `fields` defines is what `Settings` has."""
    assert list(FIELDS) == NAMES
    for name, field in FIELDS.items():
        assert getattr(Settings(), name) == field.default, name
        assert field.meaning.endswith(".") and f"    {name}: " in Settings.__doc__, name
    assert _TICKS == TICKS_PER_SECOND


def test_presets_are_the_files_of_configs_and_listed():
    assert {path.stem for path in SHIPPED} == {*PRESETS, "default"}
    pages = [
        (ROOT / page).read_text(encoding="utf-8")
        for page in ("configs/README.md", "docs/reference/presets.md")
    ]
    for name in PRESETS:
        assert text_of_preset(name) == (ROOT / "configs" / f"{name}.yaml").read_text(encoding="utf-8")
        assert all(re.search(rf"`{name}(\.yaml)?`", page) for page in pages)


def words(node: object) -> set[str]:
    """Return all texts that the schema names as values."""
    if isinstance(node, dict):
        found = {word for word in node.get("enum", ()) if isinstance(word, str)}
        return found.union(*map(words, node.values()))
    return set().union(*map(words, node)) if isinstance(node, list) else set()


TEXTS = st.one_of(st.sampled_from(sorted(words(SCHEMA) - {*PRESETS})), st.text(max_size=3))
EDGES = (
    *(0, 1, 2, 1000, 1001, 10_000, 10_001, 2**63 - 1, 2**63, 0.0, 0.5, 1.0, 1e-6, 9e-7, 1e-16, 0.1, 0.9999),
    *(1e-3, 999.0, 1e3, 1001.0, 1e6, 1e6 + 1, 1e9, 2e9, -1.0, -1.1, 2.0, 2.1),
)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
NUMBERS = st.sampled_from(EDGES) | st.integers(-3, 2**64) | FLOATS
PLAIN = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
MAPPINGS = st.dictionaries(TEXTS, PLAIN | st.lists(PLAIN, max_size=2), max_size=2)
VALUES = st.one_of(PLAIN, st.lists(PLAIN, max_size=3), MAPPINGS)


def refused(name: str, value: object) -> str:
    """Return why settings do not take a value, nothing where they do."""
    try:
        Settings.of(**{name: value})
    except SettingsError as error:
        return str(error) or "refused"
    return ""


def beyond_schemas(name: str, value: object) -> bool:
    """Return whether only `Settings` can know that a value is none."""
    texts = [value] if isinstance(value, str) else value
    return (
        # A whole number is one in JSON Schema however it is written. It does not know which time is later.
        (isinstance(value, float) and value.is_integer())
        or name in {"regions", "region_edges"}
        # The path of a list of files is read before.
        or (name in {"files", "satisfice", "map", "map_to"} and isinstance(value, str))
        # Means of groups need groups, and tuned readings thresholds.
        or (
            name in {"only", "means"}
            and any(mark in part for part in texts for mark in (".tuned", "groups."))
        )
        # The reference's threshold is the same where it is not given.
        or (name == "threshold" and value < 0)
        or (name in {"groups", "scenes"} and isinstance(value, dict) and not all(map(is_part_name, value)))
    )


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=12)
@given(value=VALUES)
@example({"a": 1})
@example({"a=": ["b"]})
@example({"a": -1.1})
@example({"a": 2.1})
@example({"a": 1e6 + 1})
@example([1e6 + 1])
@example(1e-16)
@example(0)
@example("groups.geometric")
def test_it_takes_what_settings_take(name, value):
    why = refused(name, value)
    assert (not why or beyond_schemas(name, value)) if VALIDATOR.is_valid({name: value}) else why


@pytest.mark.parametrize("name", NAMES)
def test_values_of_the_right_kind_are_drawn(name):
    """Settings refuse most of what is drawn at random: something that they take must be among it."""
    drawn = [
        *(0, 1, 2, 0.1, True, None, "a", [], ["a"], {"a": 0.5}, {"a": ["b"]}, {"a": "b"}, {"a": [[0, 1]]}),
        "precision>=0.9",
        *sorted(words(SCHEMA["properties"][name])),
    ]
    taken = [value for value in drawn if not refused(name, value)]
    assert taken
    assert all(VALIDATOR.is_valid({name: value}) for value in taken)
    assert any(not VALIDATOR.is_valid({name: value}) for value in drawn)


def test_dashes_stand_for_underscores():
    dashed = {name: name.replace("_", "-") for name in NAMES if "_" in name}
    for name, spelled in dashed.items():
        for each in (spelled, spelled.replace("-", "_", 1)):
            assert VALIDATOR.is_valid({each: SCHEMA["properties"][name]["default"]}), name
        assert not VALIDATOR.is_valid({spelled: {"a": {"b": [[]]}}}), name
