"""stub"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Partition:
    parts: Mapping[str, str]
    source: str
    sha256: str | None = None


def by_pattern(files: Sequence[str], pattern: str) -> Partition: ...
def of_mapping(parts: Mapping[str, str], what: str) -> Partition:
    return Partition(parts, what)


def assign(partition: Partition, files: Sequence[str]) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for f in files:
        found[partition.parts[f]] = (*found.get(partition.parts[f], ()), f)
    return dict(sorted(found.items())), ()
