"""The JSON Schema of the JSON output, shipped with the package."""

from __future__ import annotations

import json
from typing import Any

NAME = "soft-sed-eval-1.schema.json"


VALIDATION = "soft-sed-eval-validation-1.schema.json"


def schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of documents of schema `soft-sed-eval/1`."""
    return _read(NAME)


def validation_schema() -> dict[str, Any]:
    """Return the JSON Schema of documents of schema `soft-sed-eval-validation/1`."""
    return _read(VALIDATION)


def _read(name: str) -> dict[str, Any]:
    from importlib.resources import files

    found: dict[str, Any] = json.loads(files(__package__).joinpath(name).read_text(encoding="utf-8"))
    return found
