"""YAML as people who write settings expect it: no key twice, and plain words and decimal numbers only.

YAML 1.1, which PyYAML reads, takes `1e-1` for a text, `no` for false, `1:30` for 90 and `010` for 8. Here
numbers are decimal, truth values are `true` and `false`, and everything else is text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_DIGITS = re.compile(r"[-+]?\d+", re.ASCII)

_DEEPEST = 100
"""Mappings and lists in one another."""

_DIRECTED = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Marks of direction, which PyYAML leaves as they are. They stand between quotes, where escapes are read."""

_FORMS: tuple[tuple[str, str, str], ...] = (
    ("null", r"~|null|Null|NULL|", "~nN"),
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("float", r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?", "-+.0123456789"),
)
"""What is not a text: the tag, the form and the characters that it begins with."""


_MOST_NODES = 1_000_000
"""Values that a file may have, counted each time that an alias repeats them: few lines can be billions."""


def _unfolded(node: Any, known: dict[int, float], depth: int) -> float:  # noqa: ANN401 - a node of PyYAML
    """Return how many values a node has if every alias is written out; infinitely many if it holds itself."""
    if depth > _DEEPEST:
        raise RecursionError
    if id(node) not in known:
        known[id(node)] = float("inf")  # until it is known: it may be asked for by what is in it
        plain = isinstance(node.value, str)
        pairs = () if plain else (pair if isinstance(pair, tuple) else (pair,) for pair in node.value)
        known[id(node)] = 1.0 + sum(_unfolded(part, known, depth + 1) for pair in pairs for part in pair)
    return known[id(node)]


def read_plain_yaml(text: str, lines: dict[str, int] | None = None) -> Any:  # noqa: ANN401 - whatever it may hold
    """Return what YAML says; raises yaml.YAMLError, also where a mapping has a key twice.

    `-` is `_` in the keys of the whole, which are settings; it is not in names of classes, groups and scenes.
    lines: where it is put on which line each of these keys stands.
    """
    import yaml

    found = {} if lines is None else lines

    class Loader(yaml.SafeLoader):
        yaml_implicit_resolvers = {}  # noqa: RUF012 - PyYAML's own; filled below

        def construct_document(self, node: yaml.Node) -> Any:  # noqa: ANN401 - as above
            self.whole = node
            if _unfolded(node, {}, 0) > _MOST_NODES:
                problem = "aliases repeat what they stand for too often; expected it written out"
                raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
            return super().construct_document(node)

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            seen: set[str] = set()
            for key, _ in node.value:
                name = str(key.value).replace("-", "_") if node is self.whole else str(key.value)
                if name in seen:
                    problem = f"setting {name!r} is given a second time; expected it once"
                    raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
                seen.add(name)
                if node is self.whole:
                    found[name] = key.start_mark.line + 1
            return super().construct_mapping(node, deep)

    def decimal(loader: Loader, node: yaml.ScalarNode) -> int | float:
        number = loader.construct_scalar(node)
        return int(number) if _DIGITS.fullmatch(number) else float(number)

    for tag, form, first in _FORMS:
        begins = [*first, ""] if tag == "null" else list(first)
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(rf"(?:{form})\Z"), begins)
    Loader.add_constructor("tag:yaml.org,2002:float", decimal)
    loader = Loader(text)
    try:
        return loader.get_single_data()
    finally:
        loader.dispose()


def write_plain_yaml(value: Mapping[str, Any], *, flow: bool | None = False) -> str:
    """Return a mapping as YAML that reads back as it is; what is not printable is escaped.

    flow: whether lists stand on one line; None for those of plain values only.
    """
    import yaml

    class Dumper(yaml.SafeDumper):
        """Quotes what is not printable: PyYAML writes U+0085 so that it reads back as a blank."""

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        style = None if value.isprintable() else '"'
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    how: dict[str, Any] = {"sort_keys": False, "allow_unicode": True, "width": 10**6}
    written = str(yaml.dump(value, Dumper=Dumper, default_flow_style=flow, **how))
    return _DIRECTED.sub(lambda match: f"\\u{ord(match[0]):04x}", written)
