"""How scores change with the threshold of the reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

THRESHOLDS = tuple(k / 10 for k in range(1, 10))
"""Thresholds of the reference at which scores are told."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """Averages of scores at each of some thresholds of the reference.

    thresholds: (n,) ascending. at: by basis, (n,) how many segments or clips of a class have exactly that
    value in the reference, or how many of its events are there up to it and not above: whether these count is
    decided by > or >=. scores: by name, (n,) values, None where undefined.
    """

    thresholds: tuple[float, ...]
    at: Mapping[str, tuple[int, ...]]
    scores: Mapping[str, tuple[float | int | None, ...]]
