"""The line that makes a result repeatable: version, settings, hashes of what was read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sedeval_soft.core.settings import Settings
from sedeval_soft.core.value import Input


def sign(version: str, settings: Settings, inputs: Sequence[Input]) -> str:
    """Return the signature: `soft-sed-eval 0.1.0 | segment_length=1 ... | reference:sha256=...`."""
    shown = " ".join(
        f"{name}={_show(value)}" for name, value in settings.to_dict().items() if value is not None
    )
    hashes = " ".join(f"{item.role}:sha256={item.sha256 or 'none'}" for item in inputs)
    return f"soft-sed-eval {version} | {shown} | {hashes}"


def _show(value: Any) -> str:  # noqa: ANN401 - any setting
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return str(value)
