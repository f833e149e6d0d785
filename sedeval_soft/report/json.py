"""Documents as JSON and YAML. What is not finite becomes null, as undefined is: no NaN gets out."""

from __future__ import annotations

from typing import Any

import msgspec

from sedeval_soft.report.escape import encodable, json_text


def json_document(document: Any) -> str:  # noqa: ANN401 - plain values
    """Return plain values as indented JSON in which nothing stands that a terminal obeys."""
    return json_text(msgspec.json.format(_json(document), indent=2).decode()) + "\n"


def yaml_document(document: Any) -> str:  # noqa: ANN401 - plain values
    """Return as YAML the very document that JSON has, so that the two cannot differ."""
    from sedeval_soft.settings_files import write_plain_yaml

    return write_plain_yaml(msgspec.json.decode(_json(document)))


def _json(document: Any) -> bytes:  # noqa: ANN401 - plain values
    try:
        return msgspec.json.encode(document)
    except UnicodeEncodeError:
        return msgspec.json.encode(_encodable(document))


def _encodable(value: Any) -> Any:  # noqa: ANN401 - any part of a document
    """Return a part of a document with every text in it encodable."""
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, dict):
        return {key: _encodable(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_encodable(part) for part in value]
    return value
