"""Files of settings and of thresholds, presets, and the JSON Schema of the former: YAML, read strictly.

`Settings` itself is the one list of settings and their possible values; this module adds only the places of
keys.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sedeval_soft.errors import InputError, Problem, SettingsError, one_line, said, visible, without_commands
from sedeval_soft.fields import FIELDS, READING
from sedeval_soft.names import did_you_mean, hint
from sedeval_soft.settings import Schema, Settings, Thresholds, checked, forms_of

_LARGEST, _MOST_VALUES, _DEEPEST = 1 << 20, 100_000, 32
"""Bytes, keys and values together, and levels of a file of settings: nobody writes more, and to read it takes
seconds for each of them."""

EXTENDS = "extends"
"""The key that is not a setting: it names the preset or the file with the settings that a file lacks."""

_READING_KEYS = {field.flag.removeprefix("--").replace("-", "_"): name for name, field in READING.items()}
"""Keys for reading tables, and their names as arguments."""

PATHS = ("files", "regions", "map")
"""Settings that may be the path of a list or a table."""

_MOST_LEVELS = 8
"""Files that extend one another: a reader of settings must find the values that apply."""


def load_settings(path: str, files: list[str] | None = None) -> dict[str, Any]:
    """Return the settings of a YAML file, checked, completed by the settings of the file that it extends.

    files: the list that gets its path, followed by the paths of the files that it extends. Raises InputError
    if the file is not readable YAML, SettingsError for a setting that does not exist or has a value that it
    cannot have; both name the file.
    """
    files = [] if files is None else files
    files.append(path)
    if not path:
        raise InputError(Problem("''", "is not the name of a settings file; expected a path"))
    lines: dict[str, int] = {}
    values = read_yaml(path, lines)
    values = {} if values is None else values
    if not isinstance(values, dict) or not all(isinstance(key, str) for key in values):
        expected = "expected settings, one `name: value` on each line"
        raise InputError(Problem(path, f"holds {type(values).__name__}; {expected}"))
    values = {key.replace("-", "_"): value for key, value in values.items()}
    base, below = values.pop(EXTENDS, None), {}
    if isinstance(base, str) and base in PRESETS:
        below = load_preset(base)
    elif base is not None:
        with _with_place(path, lines):
            other = _extended(path, base, len(files))
        below = load_settings(other, files)
    with _with_place(path, lines):
        for key, value in values.items():
            if key not in FIELDS and key not in _READING_KEYS:
                raise SettingsError(
                    f"unknown setting {said(key)}{hint(key, [*FIELDS, *_READING_KEYS, EXTENDS])}"
                )
            forms = {str: "string", list: "array", dict: "object", bool: "boolean", type(None): "null"}
            kinds = [form["type"] for form in _ALSO.get(key, ())]
            if key in _READING_KEYS and forms.get(type(value)) not in kinds:
                what = "true or false" if "boolean" in kinds else "a text, a list or a mapping"
                raise SettingsError(f"{key} must be {what}, not {said(value)}")
        values = {_READING_KEYS.get(key, key): value for key, value in values.items()}
        for key in PATHS:
            if isinstance(values.get(key), str):
                values[key] = _beside(path, values[key])
        joined = below | values
        elsewhere = {key for key, value in joined.items() if _is_read_elsewhere(key, value)}
        elsewhere |= {"map_to"} if "map" in elsewhere else set()
        Settings.of(**{key: value for key, value in joined.items() if key not in elsewhere})
    return joined


def _is_read_elsewhere(key: str, value: object) -> bool:
    """Return whether a key is for reading tables, or is the path of a list; both are checked together."""
    return key in READING or (key in PATHS and isinstance(value, str) and bool(value))


def _beside(path: str, name: str) -> str:
    """Return the path of a file that another file names relative to itself."""
    return name if not name or "://" in name else os.path.join(os.path.dirname(path), name)  # noqa: PTH118, PTH120 - shown as it was written


@contextlib.contextmanager
def _with_place(path: str, lines: Mapping[str, int]) -> Iterator[None]:
    """Name a file, and the line of the setting that it begins with, in an error about settings."""
    try:
        yield
    except SettingsError as error:
        about = re.match(r"(?:unknown setting ')?(\w*)", str(error))
        line = lines.get(about[1]) if about else None
        raise SettingsError(str(Problem(path, str(error), line))) from error


def _extended(path: str, base: object, level: int) -> str:
    """Return the path of the file that a file extends, which is relative to it."""
    if not isinstance(base, str) or not base:
        raise SettingsError(f"extends must be the name of a preset or the path of a file, not {said(base)}")
    other = _beside(path, base)
    if not os.path.isfile(other):
        meant = did_you_mean(base, PRESETS, n=1)
        raise SettingsError(
            f"extends {said(base)}, which is neither a preset nor a file beside this one{meant}"
        )
    if level >= _MOST_LEVELS:
        expected = f"expected at most {_MOST_LEVELS} files that extend one another, and none itself"
        raise SettingsError(f"extends {said(base)}; {expected}")
    return other


def read_yaml(path: str, lines: dict[str, int] | None = None) -> Any:  # noqa: ANN401 - whatever YAML may hold
    """Return the content of a YAML file; raises InputError if it is not YAML.

    lines: the mapping that gets the line of each key.
    """
    import yaml

    try:
        with Path(path).open("rb") as file:
            content = file.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            raise InputError(Problem(path, f"has more than {_LARGEST} bytes; expected settings"))
        return read_plain_yaml(content.decode("utf-8"), lines)
    except (OSError, RecursionError, ValueError, yaml.YAMLError) as error:
        mark = getattr(error, "problem_mark", None)
        place = (mark.line + 1, mark.column + 1) if mark else ()
        match error:
            case OSError():
                message = f"cannot be read: {error.strerror or error}"
            case UnicodeDecodeError():
                message = "is not UTF-8 text; expected YAML"
            case RecursionError():
                message = "is nested too deeply; expected one `name: value` on each line"
            case yaml.constructor.ConstructorError():
                message = str(error.problem)
            case yaml.YAMLError():
                message = f"is not YAML: {getattr(error, 'problem', one_line(error))}"
            case _:
                message = f"holds a value that cannot be read: {one_line(error)}"
        raise InputError(Problem(path, message, *place)) from error


# Settings of challenges, shipped with the package, and the classes that their outputs may name.


PRESETS = (
    "dcase2016-task3",
    "dcase2017-task2",
    "dcase2017-task3",
    "dcase2019-task4",
    "dcase2019-2022-task4",
    "dcase2021-2024-few-shot",
    "dcase2023-task4b",
    "dcase2024-task4-desed",
    "dcase2024-task4-maestro",
    "biodcase2025-task2",
    "dcase2026-task6",
    "audio-grounding",
    "voice-activity",
    "maestro-soft",
    "birdnet-analyzer",
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
    meant = did_you_mean(str(name), PRESETS, n=1)
    # A part of a name, such as `desed`, means the names with it.
    known = ", ".join([each for each in PRESETS if str(name).lower() in each] or PRESETS)
    raise SettingsError(f"there is no preset {said(name)}; expected one of {known}{meant}")


def text_of_preset(name: str) -> str:
    """Return the settings file of a preset unchanged, with comments; its first line describes the preset."""
    package = Path(__file__).parent
    # A built package has its own copy; the project's own are those at its top.
    folders = (package / "presets", package.parent / "configs")
    folder = next((each for each in folders if each.is_dir()), folders[0])
    return (folder / f"{checked_preset(name)}.yaml").read_text(encoding="utf-8")


def list_presets() -> str:
    """Return two lines for each preset: its name and description, and the score that ranks systems."""
    width = max(map(len, PRESETS)) + 2
    return "".join(
        f"{name:<{width}}{text_of_preset(name).splitlines()[0].removeprefix('# ')}\n"
        f"{'':<{width}}ranked by {load_preset(name)['rank_by']}\n"
        for name in PRESETS
    )


def load_preset(name: str) -> dict[str, Any]:
    """Return the settings of a preset; raises SettingsError if no preset has the name."""
    return dict(read_plain_yaml(text_of_preset(name)))


def classes_of_preset(name: str) -> tuple[str, ...] | None:
    """Return the classes that outputs of a challenge may name, None if all are allowed."""
    classes = load_preset(name).get("classes")
    return tuple(classes) if classes is not None else UNRESTRICTED.get(name)


# YAML as people who write settings expect it: no key twice, and plain words and decimal numbers only.
#
# YAML 1.1, which PyYAML reads, takes `1e-1` for a text, `no` for false, `1:30` for 90 and `010` for 8. Here
# numbers are decimal, truth values are `true` and `false`, and everything else is text.


_DIRECTED = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Marks of direction, which PyYAML leaves as they are. YAML writes them in quotes, as escapes."""

_FORMS: tuple[tuple[str, str, str], ...] = (
    ("null", r"~|null|Null|NULL|", "~nN"),
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("float", r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?", "-+.0123456789"),
)
"""Values other than texts: the tag, the form and the characters that it begins with."""


def read_plain_yaml(text: str, lines: dict[str, int] | None = None) -> Any:  # noqa: ANN401 - whatever it may hold
    """Return the content of YAML; raises yaml.YAMLError, also for aliases and for a key twice in a mapping.

    `-` is `_` in the keys of the whole, which are settings; it is not in names of classes, groups and scenes.
    lines: the mapping that gets the line of each of these keys.
    """
    import yaml

    places = {} if lines is None else lines

    class Loader(yaml.SafeLoader):
        yaml_implicit_resolvers = {}  # noqa: RUF012 - PyYAML's own; filled below
        yaml_constructors = {  # noqa: RUF012 - likewise: no dates, no objects
            tag: construct
            for tag, construct in yaml.SafeLoader.yaml_constructors.items()
            if tag is None or tag.rpartition(":")[2] in {"null", "bool", "str", "seq", "map"}
        }

        n_values = depth = 0

        def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
            self.n_values += 1
            self.depth += 1
            problem = _excess(self.check_event(yaml.AliasEvent), self.depth, self.n_values)
            if problem:
                mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
                raise yaml.constructor.ConstructorError(None, None, problem, mark)
            node = super().compose_node(parent, index)
            self.depth -= 1
            return node

        def construct_document(self, node: yaml.Node) -> Any:  # noqa: ANN401 - as above
            self.whole = node
            return super().construct_document(node)

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            seen: set[str] = set()
            for key, _ in node.value:
                name = str(key.value).replace("-", "_") if node is self.whole else str(key.value)
                if name in seen:
                    problem = f"setting {said(name)} is given twice; expected it once"
                    raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
                seen.add(name)
                if node is self.whole:
                    places[name] = key.start_mark.line + 1
            return super().construct_mapping(node, deep)

    def decimal(loader: Loader, node: yaml.ScalarNode) -> int | float:
        number = loader.construct_scalar(node)
        return int(number) if number.lstrip("-+").isdigit() else float(number)

    for tag, form, first in _FORMS:
        begins = [*first, ""] if tag == "null" else list(first)
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(rf"(?:{form})\Z"), begins)
    Loader.add_constructor("tag:yaml.org,2002:float", decimal)
    return yaml.load(text, Loader)  # noqa: S506 - it is safer than the safe one


def _excess(is_alias: bool, depth: int, n_values: int) -> str:
    """Return the problem of the next value of a file: few lines may mean billions of values."""
    if is_alias:
        return "uses a YAML alias; expected the value that it stands for"
    if depth > _DEEPEST:
        return "is nested too deeply; expected one `name: value` on each line"
    return f"has more than {_MOST_VALUES} keys and values; expected settings" * (n_values > _MOST_VALUES)


def write_plain_yaml(value: Mapping[str, Any], *, flow: bool | None = False) -> str:
    """Return a mapping as YAML that reads back as it is; unprintable characters are escaped.

    flow: whether lists are written on one line; None for lists of plain values only.
    """
    import yaml

    class Dumper(yaml.SafeDumper):
        """Quotes commands and unprintable characters: PyYAML turns U+0085 into a blank."""

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        style = None if visible(value) == value else '"'
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    how: dict[str, Any] = {"sort_keys": False, "allow_unicode": True, "width": 10**6}
    written = str(yaml.dump(value, Dumper=Dumper, default_flow_style=flow, **how))
    return _DIRECTED.sub(lambda match: f"\\u{ord(match[0]):04x}", without_commands(written))


# Files of thresholds: what `soft-sed-eval tune` writes and `--thresholds` reads.


def dump_thresholds(tuning: Mapping[str, Any]) -> str:
    """Return the text of a file of thresholds, with the scores that they reach and how they were found."""
    rest = {name: value for name, value in tuning.items() if name != "thresholds"}
    return (
        "# Thresholds for --thresholds; a class that has none is cut at --threshold.\n"
        f"{write_plain_yaml({'thresholds': tuning['thresholds']})}{write_plain_yaml(rest, flow=None)}"
    )


def load_thresholds(path: str, *, inclusive: bool) -> Thresholds:
    """Return the thresholds of a file: its key `thresholds`, or all of the file if it lacks this key.

    Raises InputError if the file cannot be read. Raises SettingsError for a value that cannot be a threshold,
    and for thresholds found with the other value of `inclusive` (active at them, or only above them).
    """
    values = read_yaml(path)
    if not isinstance(values, Mapping):
        expected = "expected thresholds, one `class: number` on each line"
        raise InputError(Problem(path, f"holds {type(values).__name__}; {expected}"))
    made = values.get("inclusive")
    if "thresholds" in values and isinstance(made, bool) and made is not inclusive:
        here, there = ("at or above", "above") if inclusive else ("above", "at or above")
        raise SettingsError(f"{path}: found for active {there} thresholds; this evaluation has {here}")
    try:
        thresholds: Thresholds | str = checked("thresholds", values.get("thresholds", values))
    except SettingsError as error:
        raise SettingsError(f"{path}: {error}") from error
    if isinstance(thresholds, str):
        raise SettingsError(
            f"{path}: thresholds are the rule {thresholds}; expected `--thresholds {thresholds}`"
        )
    return thresholds


def signature_of_thresholds(path: str) -> str:
    """Return the signature in a file of thresholds; empty if it has none, or can be read once only."""
    values = read_yaml(path) if os.path.isfile(path) else None
    return str(values.get("signature", "")) if isinstance(values, Mapping) else ""


# The JSON Schema of settings files, for editors that complete and check them.
#
# It says of each setting what it can be. What settings cannot be together is beyond it: `Settings` says so.


_TEXT: Schema = {"type": "string", "minLength": 1}
_TEXTS: Schema = {"type": "array", "items": _TEXT, "minItems": 1}
_NONE: Schema = {"type": "null"}


def _by_name(names: Sequence[str], *forms: Schema) -> Schema:
    values = forms[0] if len(forms) == 1 else {"anyOf": [*forms]}
    return {"type": "object", "propertyNames": {"enum": [*names]}, "additionalProperties": values}


_ROLES = ("filename", "onset", "offset", "event_label", "label", "value", "soft_value", "ignore")

_ALSO: dict[str, list[Schema]] = {
    **{key: [_TEXT] for key in PATHS},
    "columns": [_TEXT, _TEXTS, _by_name(_ROLES, _TEXT, _TEXTS), _NONE],
    "label": [_TEXT, _NONE],
    "sample_rate": [{"type": "number", "exclusiveMinimum": 0}, _NONE],
    "operating_points": [{"type": "boolean"}, _NONE],
    "from": [_TEXT, _TEXTS, _by_name(("reference", "system"), _TEXT), _NONE],
}
"""Keys of files that are not settings elsewhere: paths, and keys for reading tables."""


def schema_text() -> str:
    """Return the JSON Schema of settings files as a document."""
    properties: dict[str, Schema] = {
        EXTENDS: {
            "description": "A preset, or the path of a settings file from this one: its settings hold where "
            "this file has none.",
            "anyOf": [{"enum": list(PRESETS)}, {"type": "string", "minLength": 1}, {"type": "null"}],
        }
    }
    for name, field in FIELDS.items():
        forms = [*_ALSO.get(name, ()), *forms_of(name)]
        properties[name] = {
            "description": field.meaning,
            **(forms[0] if len(forms) == 1 else {"anyOf": forms}),
            "default": list(field.default) if isinstance(field.default, tuple) else field.default,
        }
    for key, name in _READING_KEYS.items():
        properties[key] = {"description": READING[name].meaning, "anyOf": _ALSO[key], "default": None}
    dashed = {
        f"^(?!{name}$){name.replace('_', '[-_]')}$": {"$ref": f"#/properties/{name}"}
        for name in properties
        if "_" in name
    }
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Settings of soft-sed-eval",
        "type": ["object", "null"],
        "properties": properties,
        "patternProperties": dashed,
        "additionalProperties": False,
    }
    return json.dumps(schema, indent=2) + "\n"
