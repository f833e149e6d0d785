"""Settings files: `extends`, and messages that name the file and line of a mistake.

The JSON Schema of settings files agrees with `Settings` about every setting.
"""

import json
import os
import re
from dataclasses import fields

import jsonschema
import pytest
from called import REFERENCE, SYSTEM, Called, call
from documents import ROOT
from drawn import lay_out
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sedeval_soft import evaluate
from sedeval_soft.errors import EvaluationError, SettingsError
from sedeval_soft.fields import FIELDS
from sedeval_soft.settings import _TICKS, READINGS, Settings, is_part_name
from sedeval_soft.settings_files import (
    PRESETS,
    load_preset,
    load_settings,
    read_yaml,
    schema_text,
    text_of_preset,
)
from sedeval_soft.tables import TICKS_PER_SECOND

CHAIN = {f"f{i}.yaml": f"extends: f{i + 1}.yaml\n" for i in range(7)} | {"f7.yaml": "beta: 2.0\n"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("extends: dcase2019-task4\noffset-collar-rate: 0.5\n",
         load_preset("dcase2019-task4") | {"offset_collar_rate": 0.5}),
        ("min_gap: 0.5\nextends: base/b.yaml\n", {"bins": 7, "beta": 2.0, "min_gap": 0.5}),
        ("extends: c.yaml\nmin_gap: {car: 1.0}\n", {"bins": 7, "beta": 3.0, "min_gap": {"car": 1.0}}),
        ("extends: null\nbeta: 2.0\n", {"beta": 2.0}),
        ("extends: maestro-soft\nclasses: null\n", load_preset("maestro-soft") | {"classes": None}),
        # At most eight files may extend one another.
        ("extends: f1.yaml\n", {"beta": 2.0}),
        *((f"beta: {text}", {"beta": number}) for text, number in
          {"1e-1": 0.1, "1E1": 10.0, ".5": 0.5, "+2": 2.0, "010": 10.0, "2.": 2.0}.items()),
    ],
)  # fmt: skip
def test_a_file_holds_over_what_it_extends_found_beside_it_and_each_setting_as_a_whole(
    text, expected, tmp_path, monkeypatch
):
    others = {
        "base/b.yaml": "extends: ../c.yaml\nbeta: 2.0\nmin_gap: 0.3\n",
        "c.yaml": "beta: 3.0\nbins: 7\nmin_gap: {car: 0.5, dog: 0.2}\n",
    }
    monkeypatch.chdir("/")
    assert load_settings(str(lay_out(tmp_path, {"a.yaml": text, **others, **CHAIN}) / "a.yaml")) == expected


@pytest.mark.parametrize(
    ("text", "other", "said"),
    [
        ("extends: a.yaml\n", "", "a.yaml:1: extends 'a.yaml'"),
        ("extends: b.yaml\n", "beta: 1\nextends: a.yaml\n", "b.yaml:2: extends 'a.yaml'"),
        ("beta: 1\nextends: dcase2019-tsk4\n", "", "a.yaml:2: .*'dcase2019-task4'"),
        ("extends: [dcase2019-task4]\n", "", "a.yaml:1: extends"),
        ('extends: "a\\0b"\n', "", "a.yaml:1: extends"),
        ("extends: /dev/zero\n", "", "a.yaml:1: extends '/dev/zero'"),
        ("extends: b.yaml\n", "bins: 3\nbeta: -1\n", "b.yaml:2: beta"),
        ("extends: b.yaml\n", "extends: f0.yaml\n", "f5.yaml:1: extends 'f6.yaml'"),
        # A conflict between two files is reported for the file that extends.
        ("bins: 3\nmedian_filter: 1\nextends: b.yaml\n", "psds_median_filters: [1]\n", "a.yaml:2: median"),
        ("# one\n\nbeta: -1\n", "", "a.yaml:3: beta"),
        ("a: [1", "", "a.yaml:1:6: "),
        ("- 1", "", "a.yaml: holds list"),
        ("beta: 1\nthreshold: 0.4\nbeta: 2", "", "a.yaml:3:1: .*'beta'"),
        ("strict: yes", "", "a.yaml:1: strict .*'yes'"),
        ("segment_length: 1:30", "", "a.yaml:1: segment_length .*'1:30'"),
        ("groups: {a: [car]}\nscenes: {a: '*'}", "", "a.yaml:1: groups and scenes"),
        ("bins: 3\nbetta: 2\n", "", "a.yaml:2: .*'betta'.*'beta'"),
        ("bins: 3\nextend: maestro-soft\n", "", "a.yaml:2: .*'extend'.*'extends'"),
        ("bins: 3\nmin-gap: {car: x}\n", "", "a.yaml:2: min_gap of 'car'"),
        ("median_filter: 1\nevents: rows\n", "", "a.yaml:2: events=rows"),
        # A name cannot send control codes to a terminal.
        ('"\\x1b[31m\\uFEFF": 1\n', "", r"a.yaml:.* '\\x1b\[31m\\ufeff'"),
    ],
)  # fmt: skip
def test_messages_name_the_file_and_the_line(text, other, said, tmp_path):
    path = lay_out(tmp_path, {"a.yaml": text, "b.yaml": other, **CHAIN}) / "a.yaml"
    with pytest.raises(EvaluationError, match=f"{tmp_path}/{said}") as error:
        load_settings(str(path))
    assert str(error.value).replace("\n", "").isprintable()
    assert call(REFERENCE, SYSTEM, "--config", path) == Called(2, "", f"{error.value}\n")


def test_options_hold_over_files_and_these_over_what_they_extend(tmp_path):
    """A pipe works as a settings file, though it can be read only once."""
    path = tmp_path / "a.yaml"
    path.write_text("extends: dcase2019-task4\noffset_collar_rate: 0.3\nonly: [event.hard]\n")
    read, write = os.pipe()
    os.write(write, path.read_bytes().replace(b"0.3", b"0.6"))
    os.close(write)
    for options, rate in (
        (["--preset", "dcase2019-task4"], 0.2),
        (["--config", path], 0.3),
        (["--config", f"/dev/fd/{read}"], 0.6),
        (["--config", path, "--offset-collar-rate", "0.9"], 0.9),
    ):
        done = call(REFERENCE, SYSTEM, "-q", *options, "--score", "event.hard.f1.macro")
        expected = evaluate(REFERENCE, SYSTEM, compat="sed_eval", offset_collar_rate=rate)
        assert float(done.out) == expected["event.hard.f1.macro"], done.err


@pytest.mark.parametrize(
    ("command", "option"),
    [
        *(([REFERENCE, SYSTEM], option) for option in ("-o", "--save-tally")),
        *(([name, REFERENCE, SYSTEM], "-o") for name in ("report", "tune")),
        *((["validate", SYSTEM, "--format", "text"], option) for option in ("-o", "--fix")),
        (["plot", "matrix", REFERENCE, SYSTEM], "-o"),
    ],
)
def test_results_do_not_replace_settings_or_what_they_extend(command, option, tmp_path):
    lay_out(tmp_path, CHAIN)
    for name, text in CHAIN.items():
        done = call(*command, "--config", tmp_path / "f0.yaml", option, tmp_path / name)
        assert done.code == 2 and f"{name}: this is the settings file" in done.err
        assert (tmp_path / name).read_text() == text


def test_the_library_takes_presets():
    name, more = "dcase2024-task4-maestro", {"segment_length": 4.0, "only": ["segment.hard"]}
    got = evaluate(REFERENCE, SYSTEM, preset=name, **more)
    plain = evaluate(REFERENCE, SYSTEM, **load_preset(name) | more)
    assert (got.settings, dict(got)) == (plain.settings, dict(plain))


# --- the schema -----------------------------------------------------------------------------------

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
    assert list(SCHEMA["properties"]) == [
        *("extends", *NAMES, "columns", "label", "sample_rate", "from", "operating_points")
    ]


def test_fields_are_those_of_settings():
    """`fields` defines every setting of `Settings`, with its default and meaning."""
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
    """Return all texts that the schema lists as values."""
    if isinstance(node, dict):
        found = {word for word in node.get("enum", ()) if isinstance(word, str)}
        return found.union(*map(words, node.values()))
    return set().union(*map(words, node)) if isinstance(node, list) else set()


TEXTS = st.one_of(st.sampled_from(sorted(words(SCHEMA) - {*PRESETS})), st.text(max_size=3))
EDGES = (
    *(0, 1, 2, 1000, 1001, 10_000, 10_001, 2**63 - 1, 2**63, 0.0, 0.5, 1.0, 1e-6, 9e-7, 1e-16, 0.1, 0.9999),
    *(1e-3, 999.0, 1e3, 1001.0, 1e6, 1e6 + 1, 1e9, 2e9, -1.0, -1.1, 2.0, 2.1),
)
NUMBERS = st.sampled_from(EDGES) | st.integers(-3, 2**64) | st.floats(allow_nan=False, allow_infinity=False)
PLAIN = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
MAPPINGS = st.dictionaries(TEXTS, PLAIN | st.lists(PLAIN, max_size=2), max_size=2)
VALUES = st.one_of(PLAIN, st.lists(PLAIN, max_size=3), MAPPINGS)


def refused(name: str, value: object) -> str:
    """Return why settings refuse a value; an empty text if they take it."""
    try:
        Settings.of(**{name: value})
    except SettingsError as error:
        return str(error) or "refused"
    return ""


def beyond_schemas(name: str, value: object) -> bool:
    """Return whether only `Settings`, and not the schema, can refuse a value."""
    texts = [value] if isinstance(value, str) else value
    return (
        # JSON Schema takes 1.0 for a whole number, and does not compare times.
        (isinstance(value, float) and value.is_integer())
        or name in {"regions", "region_edges"}
        # The schema takes any text here, such as a path that is read first.
        or (name in {"files", "satisfice", "map", "map_to"} and isinstance(value, str))
        # Means of groups need `groups`, and tuned readings need `thresholds`.
        or (
            name in {"only", "means"}
            and any(mark in part for part in texts for mark in (".tuned", "groups."))
        )
        # `threshold` is also the reference's threshold if that is not given.
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
    """Settings refuse most random values: each setting must also be tried with values that it takes."""
    drawn = [
        *(0, 1, 2, 0.1, True, None, "a", [], ["a"], {"a": 0.5}, {"a": ["b"]}, {"a": "b"}, {"a": [[0, 1]]}),
        "precision>=0.9",
        *sorted(words(SCHEMA["properties"][name])),
    ]
    valid = [VALIDATOR.is_valid({name: value}) for value in drawn]
    taken = [is_valid for value, is_valid in zip(drawn, valid, strict=True) if not refused(name, value)]
    assert taken and all(taken) and not all(valid)


def test_dashes_stand_for_underscores():
    dashed = {name: name.replace("_", "-") for name in NAMES if "_" in name}
    for name, spelled in dashed.items():
        for each in (spelled, spelled.replace("-", "_", 1)):
            assert VALIDATOR.is_valid({each: SCHEMA["properties"][name]["default"]}), name
        assert not VALIDATOR.is_valid({spelled: {"a": {"b": [[]]}}}), name
