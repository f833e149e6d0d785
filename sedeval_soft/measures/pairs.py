"""Which events of the reference and the system may pair: those whose onsets and offsets are within collars.

A pair is a candidate if |onset - onset'| <= onset collar and |offset - offset'| <= the larger of the offset
collar and the rate times the reference event's length (Mesaros, Heittola & Virtanen 2016). Times are whole
microseconds, so an onset at 0.9 s is within 0.2 s of one at 1.1 s.

Events are laid out on one line, group after group, so that one sort and two searches find the candidates of
all groups. Of onsets and offsets the one that leaves fewer pairs is searched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from sedeval_soft.arrays import Bools, Index
from sedeval_soft.measures.matching import TooManyPairsError
from sedeval_soft.settings import Settings
from sedeval_soft.tables.ticks import Ticks, tick
from sedeval_soft.timeline.events import Timed
from sedeval_soft.timeline.ranges import expand

# System events in an order, and where in it those begin and end that are near each reference event.
Windows = tuple[Index, Index, Index]

_AT_ONCE = 4_000_000  # pairs looked at at a time
# Pairs within a tolerance of onsets or offsets beyond which nothing is begun: it would take minutes.
_MOST_LOOKED_AT = 2_000_000_000
MOST_PAIRS = 50_000_000  # candidate pairs held at the most: some gigabytes


class Condition(NamedTuple):
    """Onsets of a candidate pair, or its offsets, are at most a tolerance apart.

    reference, tolerance: (n_ref,). system: (n_sys,).
    """

    reference: Ticks
    system: Ticks
    tolerance: Ticks

    def holds(self, left: Index, right: Index) -> Bools:
        """Return which pairs of events, given by their positions, meet it."""
        near: Bools = np.abs(self.reference[left] - self.system[right]) <= self.tolerance[left]
        return near

    def among(self, left: Index, right: Index) -> Condition:
        """Return the condition of some of the events, given by their positions."""
        return Condition(self.reference[left], self.system[right], self.tolerance[left])

    def windows(self, reference_group: Index, system_group: Index) -> Windows:
        """Return the system events of its group with which each reference event meets it."""
        reference, system, tolerance = self
        tolerance = np.minimum(tolerance, max(reference.max(initial=0), system.max(initial=0)) + 1)
        n_groups = max(reference_group.max(initial=0), system_group.max(initial=0)) + 1
        last_used = np.zeros(n_groups, dtype=np.int64)
        np.maximum.at(last_used, reference_group, reference + tolerance)
        np.maximum.at(last_used, system_group, system)
        # Each group gets as much of the line as it needs, and a gap before it as wide as any tolerance.
        gap = int(tolerance.max(initial=0)) + 1
        base = np.concatenate(([0], np.cumsum(last_used[:-1] + gap)))
        line = base[system_group] + system
        order = np.argsort(line, kind="stable")
        line = line[order]
        centre = base[reference_group] + reference
        first = np.searchsorted(line, centre - tolerance, side="left")
        return order, first, np.searchsorted(line, centre + tolerance, side="right")


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

    def conditions(self, reference: Timed, system: Timed) -> list[Condition]:
        """Return what candidate pairs of these events must meet."""
        conditions = []
        if self.onset is not None:
            tolerance = np.full(len(reference), self.onset + self.slack, dtype=np.int64)
            conditions.append(Condition(reference.onset, system.onset, tolerance))
        if self.offset is not None:
            share = np.rint(self.rate * (reference.offset - reference.onset)).astype(np.int64)
            tolerance = np.maximum(share, self.offset) + self.slack
            conditions.append(Condition(reference.offset, system.offset, tolerance))
        return conditions


class Candidates(NamedTuple):
    """Where the candidate pairs of events of one group are: not yet a list of them.

    windows: of the condition that leaves the fewest pairs. conditions: all that must hold, that one first.
    """

    windows: Windows
    conditions: Sequence[Condition]

    @classmethod
    def of(cls, reference: Timed, system: Timed, groups: tuple[Index, Index], collars: Collars) -> Candidates:
        """Lay events out; groups: of the reference and the system, (n,) numbers that are not negative."""
        conditions = collars.conditions(reference, system)
        windows = [condition.windows(*groups) for condition in conditions]
        sizes = [int((last - first).sum()) for _, first, last in windows]
        at = sizes.index(min(sizes))
        return cls(windows[at], [conditions[at], *conditions[:at], *conditions[at + 1 :]])

    @property
    def in_windows(self) -> int:
        """The number of pairs that meet the first condition."""
        _, first, last = self.windows
        return int((last - first).sum())

    def pairs(self) -> tuple[Index, Index]:
        """Return all candidate pairs, as positions in either list, by reference event, then by system event.

        Raises TooManyPairsError.
        """
        left, right = self.where()
        order = np.argsort(left * len(self.windows[0]) + right)
        return left[order], right[order]

    def where(self, also: Callable[[Index, Index], Bools] | None = None) -> tuple[Index, Index]:
        """Return the candidate pairs in any order, those that meet `also` if it is given.

        Raises TooManyPairsError.
        """
        order, first, last = self.windows
        total = np.cumsum(last - first)
        n_pairs = int(total.max(initial=0))
        if n_pairs > _MOST_LOOKED_AT:
            raise TooManyPairsError
        # Runs of events with not many more than `_AT_ONCE` pairs.
        cuts = np.searchsorted(total, np.arange(_AT_ONCE, n_pairs, _AT_ONCE), side="left") + 1
        checks = [*([] if also is None else [also]), *(condition.holds for condition in self.conditions[1:])]
        pairs, held = [(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))], 0
        for begin, end in pairwise(dict.fromkeys([0, *cuts.tolist(), len(first)])):
            left, inside = expand(first[begin:end], last[begin:end])
            left += begin
            right = order[inside]
            for check in checks:
                passed = check(left, right)
                left, right = left[passed], right[passed]
            pairs.append((left, right))
            held += len(left)
            if held > MOST_PAIRS:
                raise TooManyPairsError
        return np.concatenate([left for left, _ in pairs]), np.concatenate([right for _, right in pairs])
