"""The JSON Schema of settings files: `python docs/make/settings_schema.py` makes it from `Settings`."""

from __future__ import annotations


def schema_text() -> str:
    """Return the schema as it stands in its file."""
    from importlib.resources import files

    return files(__package__).joinpath("settings.schema.json").read_text(encoding="utf-8")
