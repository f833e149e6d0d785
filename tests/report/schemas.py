"""Holds documents against the schema of results, whose checking takes longer than most documents'."""

from __future__ import annotations

from typing import Any

import jsonschema

from sedeval_soft.report import schema

_VALIDATOR = jsonschema.Draft202012Validator(schema())


def check(document: Any) -> None:
    """Raise jsonschema.ValidationError where a document is none that the schema allows."""
    _VALIDATOR.validate(document)


def allowed(document: Any) -> bool:
    """Return whether the schema allows a document; what is first found to be wrong ends the search."""
    return _VALIDATOR.is_valid(document)
