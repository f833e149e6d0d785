"""Candidate pairs: which reference and system events are within each other's collars.

A pair is a candidate if |onset - onset'| <= onset collar and |offset - offset'| <= the larger of
the offset collar and the rate times the reference event's length (Mesaros, Heittola & Virtanen
2016). Times are whole microseconds, so an onset at 0.9 s is within 0.2 s of one at 1.1 s.

Events are laid out on one line, group after group, so that one sort and two searches find the
candidates of all groups. Of onsets and offsets the one that leaves fewer pairs is searched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sedeval_soft.measures.level_matching import TooManyPairsError
from sedeval_soft.settings import Settings
from sedeval_soft.tables.ticks import Ticks, tick
from sedeval_soft.timeline.ranges import expand

Index = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

Test = tuple[Ticks, Ticks, Ticks]
"""Reference times, system times, and the tolerance of each reference event."""

_AT_ONCE = 4_000_000
"""Pairs looked at at a time."""

_MOST_LOOKED_AT = 2_000_000_000
"""Pairs within a tolerance of onsets or offsets beyond which nothing is begun: it would take minutes."""

MOST_PAIRS = 50_000_000
"""Candidate pairs held at the most: some gigabytes."""


class Timed(Protocol):
    """Anything with onsets and offsets in ticks: events, or lifetimes of events."""

    @property
    def onset(self) -> Ticks:
        """Return the onsets, (n,) ticks."""

    @property
    def offset(self) -> Ticks:
        """Return the offsets, (n,) ticks."""

    def __len__(self) -> int:
        """Return how many there are."""


@dataclass(frozen=True, slots=True)
class Collars:
    """Tolerances in ticks; None where onsets or offsets are not looked at.

    onset: of onsets. offset, rate: of offsets, in ticks and as a share of the reference's length.
    slack: ticks added to every tolerance, for candidates that are judged again in floats.
    """

    onset: int | None
    offset: int | None
    rate: float
    slack: int = 0

    @classmethod
    def of(cls, settings: Settings) -> Collars:
        """Take the collars from the settings."""
        return cls(
            tick(settings.onset_collar) if settings.onset else None,
            tick(settings.offset_collar) if settings.offset else None,
            settings.offset_collar_rate,
        )

    def onset_tolerance(self, reference: Timed) -> Ticks:
        """Return how far each reference event's onset may be missed, (n,) ticks."""
        return np.full(len(reference), (self.onset or 0) + self.slack, dtype=np.int64)

    def offset_tolerance(self, reference: Timed) -> Ticks:
        """Return how far each reference event's offset may be missed, (n,) ticks."""
        share = np.rint(self.rate * (reference.offset - reference.onset)).astype(np.int64)
        tolerance: Ticks = np.maximum(share, self.offset or 0) + self.slack
        return tolerance

    def tests(self, reference: Timed, system: Timed) -> list[Test]:
        """Return what is compared: reference times, system times and the tolerance of each reference."""
        found = []
        if self.onset is not None:
            found.append((reference.onset, system.onset, self.onset_tolerance(reference)))
        if self.offset is not None:
            found.append((reference.offset, system.offset, self.offset_tolerance(reference)))
        return found


@dataclass(frozen=True, slots=True)
class Windows:
    """For each reference event the range of system events, in sorted order, within a tolerance."""

    order: Index
    first: Index
    last: Index

    @property
    def total(self) -> int:
        """Return the number of pairs within the windows."""
        return int((self.last - self.first).sum())


def candidate_pairs(
    reference: Timed, system: Timed, reference_group: Index, system_group: Index, collars: Collars
) -> tuple[Index, Index]:
    """Return all candidate pairs of events of one group, as positions in either list.

    reference_group, system_group: (n,) numbers of groups, not negative; only events of one group
    pair. The pairs come sorted by reference event, then by system event.
    """
    if not len(reference) or not len(system):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    windows, tests = narrowest(reference, system, reference_group, system_group, collars)
    left, right = pairs_within(windows, tests)
    order = np.argsort(left * len(system) + right)
    return left[order], right[order]


def narrowest(
    reference: Timed, system: Timed, reference_group: Index, system_group: Index, collars: Collars
) -> tuple[Windows, list[Test]]:
    """Search by onsets or by offsets, whichever leaves fewer pairs; also return what is left to test."""
    tests = collars.tests(reference, system)
    windows = [search(ours, theirs, reference_group, system_group, most) for ours, theirs, most in tests]
    chosen = min(range(len(windows)), key=lambda i: windows[i].total)
    return windows[chosen], [test for i, test in enumerate(tests) if i != chosen]


def pairs_within(
    windows: Windows, tests: Sequence[Test], also: Callable[[Index, Index], Bools] | None = None
) -> tuple[Index, Index]:
    """Return the pairs within windows that pass all tests, and `also` if it is given.

    Raises TooManyPairsError.
    """
    found = [(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))]
    if windows.total > _MOST_LOOKED_AT:
        raise TooManyPairsError
    held = 0
    for begin, end in _batches(windows.last - windows.first):
        left, inside = expand(windows.first[begin:end], windows.last[begin:end])
        left += begin
        right = windows.order[inside]
        if also is not None:
            kept = also(left, right)
            left, right = left[kept], right[kept]
        for ours, theirs, tolerance in tests:
            kept = np.abs(ours[left] - theirs[right]) <= tolerance[left]
            left, right = left[kept], right[kept]
        found.append((left, right))
        held += len(left)
        if held > MOST_PAIRS:
            raise TooManyPairsError
    return np.concatenate([pair[0] for pair in found]), np.concatenate([pair[1] for pair in found])


def _batches(count: Index) -> list[tuple[int, int]]:
    """Split events into runs of not many more than `_AT_ONCE` pairs."""
    total = np.cumsum(count)
    cuts = np.searchsorted(total, np.arange(_AT_ONCE, int(total[-1]), _AT_ONCE), side="left") + 1
    return list(pairwise(dict.fromkeys([0, *cuts.tolist(), len(count)])))


def search(
    reference: Ticks, system: Ticks, reference_group: Index, system_group: Index, tolerance: Ticks
) -> Windows:
    """Find for each reference time the system times of its group within a tolerance."""
    span = int(max(reference.max(), system.max())) + 1
    tolerance = np.minimum(tolerance, span)
    n_groups = int(max(reference_group.max(), system_group.max())) + 1
    last_used = np.zeros(n_groups, dtype=np.int64)
    np.maximum.at(last_used, reference_group, reference + tolerance)
    np.maximum.at(last_used, system_group, system)
    # Each group gets as much of the line as it needs, and a gap before it as wide as any tolerance.
    gap = int(tolerance.max()) + 1
    base = np.concatenate(([0], np.cumsum(last_used[:-1] + gap)))
    line = base[system_group] + system
    order = np.argsort(line, kind="stable")
    line = line[order]
    centre = base[reference_group] + reference
    first = np.searchsorted(line, centre - tolerance, side="left")
    last = np.searchsorted(line, centre + tolerance, side="right")
    return Windows(order, first, last)
