"""Write the table of all settings into settings.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sedeval_soft.fields import FIELDS, READING
from sedeval_soft.settings_files import schema_text

MARK = "<!-- settings: made by `python docs/make/settings.py` -->\n"
PAGE = Path(__file__).parents[1] / "reference" / "settings.md"


def form(schema: dict[str, Any]) -> str:
    """Return what a setting may be, in few words."""
    if "anyOf" in schema:
        several = [form(each) for each in schema["anyOf"]]
        # A list of what may also stand alone need not be told twice.
        return "; or ".join(
            each.replace(several[0], "these", 1) if i else each for i, each in enumerate(several)
        )
    if "enum" in schema:
        return ", ".join(f"`{json.dumps(each).strip(chr(34))}`" for each in schema["enum"])
    plain = {"boolean": "`true`, `false`", "null": "`null`", "string": "a text"}
    if schema["type"] == "array":
        return f"a list of {form(schema['items'])}"
    if schema["type"] == "object":
        return f"for each name {form(schema['additionalProperties'])}"
    return plain.get(schema["type"]) or number(schema)


def number(schema: dict[str, Any]) -> str:
    """Return which numbers a setting may be."""
    kind = "number" if schema["type"] == "number" else "whole number"
    if "maximum" not in schema:
        return f"a {kind}"
    least = schema.get("minimum", schema.get("exclusiveMinimum"))
    above = "above " if "exclusiveMinimum" in schema else ""
    return f"{'whole, ' if kind != 'number' else ''}{above}{least:g} to {schema['maximum']:g}"


def table() -> str:
    """Return the table: a row for each setting."""
    properties = json.loads(schema_text())["properties"]
    reading = {field.flag.removeprefix("--").replace("-", "_"): field for field in READING.values()}
    lines = ["| setting | option | meaning | may be | default |", "|---|---|---|---|---|"]
    for name, schema in properties.items():
        field = FIELDS.get(name) or reading.get(name)
        # The commands declare these options themselves.
        option = {"rank_by": "`--rank-by`", "variants": "`--score`"}.get(name, "")
        if field is not None and field.heading:
            option = f"`{field.flag}`"
        default = f"`{json.dumps(schema['default']).strip(chr(34))}`" if "default" in schema else ""
        lines.append(f"| `{name}` | {option} | {schema['description']} | {form(schema)} | {default} |")
    return "".join(f"{line}\n" for line in lines)


def page(text: str) -> str:
    """Return the page with the table below the mark."""
    return text[: text.index(MARK) + len(MARK)] + "\n" + table()


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
