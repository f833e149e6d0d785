"""The line that makes a result repeatable: version, settings, hashes of what was read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from sedeval_soft.evaluation.scores import Input
from sedeval_soft.settings import Settings, short_fraction

if TYPE_CHECKING:
    from sedeval_soft.tables.file_groups import Partition


def sign(
    version: str,
    settings: Settings,
    inputs: Sequence[Input],
    durations: Mapping[str, float] | None = None,
    **partitions: Partition | None,
) -> str:
    """Return the signature: `soft-sed-eval 0.1.0 | segment_length=1 ... | reference:sha256=...`.

    durations: seconds by file name; their hash is that of lines of name, tabulator and seconds by name.
    partitions: of the files, by the name of the option that asks for them.
    """
    shown = " ".join(
        f"{name}={short_fraction(value) if name == 'segment_length' else _show(value)}"
        for name, value in settings.to_dict().items()
        if value is not None
    )
    hashes = " ".join(f"{item.role}:sha256={item.sha256 or 'none'}" for item in inputs)
    if durations is not None:
        lines = "".join(f"{name}\t{float(durations[name])!r}\n" for name in sorted(durations))
        hashes += f" durations:sha256={sha256(lines.encode('utf-8', 'surrogatepass')).hexdigest()}"
    for name, partition in partitions.items():
        if partition is not None:
            hashed = f"sha256={partition.sha256}" if partition.sha256 else json.dumps(partition.source)
            hashes += f" {name}:{hashed}"
    return f"soft-sed-eval {version} | {shown} | {hashes}"


def sign_together(signed: Sequence[tuple[str, Sequence[Input]]], **asked: object) -> str:
    """Return the signature of several systems: that of the first, the other systems, and what they were for.

    signed: the signature and the inputs of each system. asked: what else shaped the numbers, None nothing.
    """
    others = [item for _, inputs in signed[1:] for item in inputs if item.role == "system"]
    hashes = "".join(f" system:sha256={item.sha256 or 'none'}" for item in others)
    shown = "".join(f" {name}={json.dumps(value)}" for name, value in asked.items() if value is not None)
    return f"{signed[0][0]}{hashes} |{shown}"


def _show(value: Any) -> str:  # noqa: ANN401 - any setting
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return str(value)
