"""Candidate pairs of reference and system events: by collars, or by their overlap.

By collars a pair is a candidate if |onset - onset'| <= onset collar and |offset - offset'| <= the larger of
the offset collar and the rate times the reference event's length (Mesaros, Heittola & Virtanen 2016). By
overlap a pair is a candidate if its intersection over union is at least a share, as in object detection
(Everingham et al. 2010). Times are whole microseconds, so an onset at 0.9 s is within 0.2 s of one at 1.1 s,
and events from 0 to 1 s and from 0.7 to 1 s overlap by 0.3.

Events are laid out on one line, group after group, so that one sort and two searches find the candidates of
all groups. The search uses onsets or offsets, whichever leaves fewer pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from sedeval_soft.arrays import Bools, Codes, Floats, Index, expand, order_of
from sedeval_soft.measures.matching import TooManyPairsError
from sedeval_soft.memory import check_room
from sedeval_soft.settings import Settings
from sedeval_soft.tables.ticks import Ticks, tick
from sedeval_soft.timeline.events import EventLifetimes, Timed

# System events in an order, and the range of system events near each reference event.
Windows = tuple[Index, Index, Index]
# Positions of events: of several, of one, or of a run of them.
Places = Index | Codes | int | slice

_AT_ONCE = 1 << 15  # pairs looked at at a time: few enough for the processor's cache
_LONGEST_LINE = 1 << 42  # ticks beyond which groups have as much of a line as they need, and no more
_ENOUGH = 12  # pairs in windows for each event: to look at half of these takes as long as to make others
# Pairs that may be listed of the events of a group, and of each of the reference where that is more.
MOST_PAIRS, PAIRS_OF_ONE = 4_000_000, 500
_LOOKED_AT = 25  # pairs in windows that may be looked at for each pair that may be listed
_PAIR = 72  # bytes for each pair while pairs are listed and matched at all levels, measured
_MEND = "A smaller --onset-collar or --offset-collar (a larger --set iou) leaves fewer pairs of events"


class Condition(NamedTuple):
    """Onsets of a candidate pair, or its offsets, are near each other: in a window around the reference's.

    reference: (n_ref,). system: (n_sys,). before, after: (n_ref,) how much earlier, or later, the system's
    time may be.
    """

    reference: Ticks
    system: Ticks
    before: Ticks
    after: Ticks

    def holds(self, left: Places, right: Places) -> Bools:
        """Return which pairs of events, given by their positions, meet it."""
        off = self.system[right] - self.reference[left]
        near: Bools = (off >= -self.before[left]) & (off <= self.after[left])
        return near

    def among(self, left: Index, right: Index) -> Condition:
        """Return the condition of some of the events, given by their positions."""
        return Condition(self.reference[left], self.system[right], self.before[left], self.after[left])

    def windows(self, reference_group: Index, system_group: Index) -> Windows:
        """Return the system events of its group with which each reference event meets it."""
        reference, system = self.reference, self.system
        most = max(reference.max(initial=0), system.max(initial=0)) + 1
        before, after = np.minimum(self.before, most), np.minimum(self.after, most)
        n_groups = max(reference_group.max(initial=0), system_group.max(initial=0)) + 1
        gap = int(before.max(initial=0)) + 1
        # Each group gets a piece of the line, and a gap before it as wide as any tolerance.
        last_used = np.full(n_groups, most + after.max(initial=0))
        if n_groups * (last_used[0] + float(gap)) > _LONGEST_LINE:
            last_used[:] = 0
            np.maximum.at(last_used, reference_group, reference + after)
            np.maximum.at(last_used, system_group, system)
        base = np.concatenate(([0], np.cumsum(last_used[:-1] + gap)))
        line = base[system_group] + system
        order = order_of(line)
        line = line[order]
        centre = base[reference_group] + reference
        first = np.searchsorted(line, centre - before, side="left")
        return order, first, np.searchsorted(line, centre + after, side="right")


class Overlapping(NamedTuple):
    """The intersection over union of a candidate pair is at least a share.

    onset, offset: of the reference's events, (n_ref,). their_onset, their_offset: of the system's, (n_sys,).
    """

    onset: Ticks
    offset: Ticks
    their_onset: Ticks
    their_offset: Ticks
    least: float

    def holds(self, left: Places, right: Places) -> Bools:
        """Return which pairs of events, given by their positions, meet it."""
        *times, least = self.among(left, right)
        enough: Bools = intersection_over_union(*times) >= least
        return enough

    def among(self, left: Places, right: Places) -> Overlapping:
        """Return the condition of some of the events, given by their positions."""
        onset, offset, their_onset, their_offset, least = self
        return Overlapping(onset[left], offset[left], their_onset[right], their_offset[right], least)


def intersection_over_union(onset: Ticks, offset: Ticks, their_onset: Ticks, their_offset: Ticks) -> Floats:
    """Return the intersection of two stretches of time as a share of their union, (n,).

    Two equal stretches have 1, including two without extent at one time. Two disjoint stretches have a value
    below 0. The result is a correctly rounded quotient of whole numbers: a quotient equal to a share as
    written (0.3 is 3/10) is the float of that share. No other quotient is, if the union in microseconds times
    the denominator of the share is below 2**52: an hour, and a share of six decimals.
    """
    common = np.minimum(offset, their_offset) - np.maximum(onset, their_onset)
    # The union of two stretches that overlap or touch: from the first onset to the last offset.
    extent = np.maximum(offset, their_offset) - np.minimum(onset, their_onset)
    share: Floats = (common + (extent == 0)) / np.maximum(extent, 1)
    return share


@dataclass(frozen=True, slots=True)
class Collars:
    """Tolerances in ticks; None if onsets or offsets are not compared.

    onset: of onsets. offset, rate: of offsets, in ticks and as a share of the reference's length. slack:
    ticks added to every tolerance, for candidates that are compared again in floats.
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

    def conditions(self, reference: Timed, system: Timed) -> tuple[list[Condition], list[Overlapping]]:
        """Return the conditions of candidate pairs of these events: windows, and other conditions."""
        conditions = []
        if self.onset is not None:
            tolerance = np.full(len(reference), self.onset + self.slack, dtype=np.int64)
            conditions.append(Condition(reference.onset, system.onset, tolerance, tolerance))
        if self.offset is not None:
            share = np.rint(self.rate * (reference.offset - reference.onset)).astype(np.int64)
            tolerance = np.maximum(share, self.offset) + self.slack
            conditions.append(Condition(reference.offset, system.offset, tolerance, tolerance))
        return conditions, []

    def right_ends(self, reference: Timed, system: Timed) -> tuple[Bools, Bools]:
        """Return which pairs have the right onset, and which the right offset; reference, system: (n,) pairs.

        An end that is not compared is right.
        """
        at, right = np.arange(len(reference)), np.ones(len(reference), dtype=bool)
        of_onsets, _ = replace(self, offset=None).conditions(reference, system)
        of_offsets, _ = replace(self, onset=None).conditions(reference, system)
        onset, offset = (each[0].holds(at, at) if each else right for each in (of_onsets, of_offsets))
        return onset, offset


@dataclass(frozen=True, slots=True)
class Overlap:
    """The least intersection over union of two events, in (0, 1].

    The intersection of a reference event of length L with another is at most L, and at least a share t of
    their union. So the union is at most L / t, and at most L (1 - t) of the first is not in the intersection.
    The system's onset is at most L / t - L earlier and L (1 - t) later, its offset the other way round. The
    search for candidates uses these windows.
    """

    least: float

    def conditions(self, reference: Timed, system: Timed) -> tuple[list[Condition], list[Overlapping]]:
        """Return the conditions of candidate pairs of these events: windows, and other conditions."""
        length = (reference.offset - reference.onset).astype(np.float64)
        # A little more than needed, for rounding. Windows beyond all times are clipped.
        outside, inside = (
            np.minimum(rate * length * (1 + 1e-12) + 2, 2.0**60).astype(np.int64)
            for rate in (min(1 / self.least, 2.0**60) - 1, 1 - self.least)
        )
        # No event overlaps one that begins later than it by more than the longest of a file lasts.
        longest = np.zeros(max(reference.file.max(initial=0), system.file.max(initial=0)) + 1, dtype=np.int64)
        np.maximum.at(longest, system.file, system.offset - system.onset)
        outside = np.minimum(outside, longest[reference.file])
        return (
            [
                Condition(reference.onset, system.onset, outside, inside),
                Condition(reference.offset, system.offset, inside, outside),
            ],
            [Overlapping(reference.onset, reference.offset, system.onset, system.offset, self.least)],
        )

    def right_ends(self, reference: Timed, system: Timed) -> tuple[Bools, Bools]:
        """Return which pairs have the right onset, and which the right offset; reference, system: (n,) pairs.

        An end is wrong if correcting it alone is enough. If correcting either is enough, the end that is
        further off is wrong; if neither is enough, both are wrong.
        """
        times = reference.onset, reference.offset
        by_onset = intersection_over_union(*times, reference.onset, system.offset) >= self.least
        by_offset = intersection_over_union(*times, system.onset, reference.offset) >= self.least
        off = np.abs(system.onset - reference.onset), np.abs(system.offset - reference.offset)
        return by_offset & ~(by_onset & (off[0] >= off[1])), by_onset & ~(by_offset & (off[1] > off[0]))


PairRule = Collars | Overlap
"""Rule of candidate pairs."""


def pair_rule(settings: Settings) -> PairRule:
    """Return the rule of candidate pairs: within collars, or by enough overlap."""
    return Overlap(settings.iou) if settings.match_by == "iou" else Collars.of(settings)


class PairCandidates(NamedTuple):
    """Search ranges of the candidate pairs of events of one group, not yet a list of pairs.

    reference, group: the events of the reference, and the numbers of their groups. windows: windows of the
    condition that leaves the fewest pairs. others: the other conditions.
    """

    reference: Timed
    group: Index
    windows: Windows
    others: Sequence[Condition | Overlapping]

    @classmethod
    def of(
        cls, reference: Timed, system: Timed, groups: tuple[Index, Index], rule: PairRule
    ) -> PairCandidates:
        """Lay events out; groups: of the reference and the system, (n,) numbers that are not negative."""
        conditions, others = rule.conditions(reference, system)
        windows, sizes = [], []
        for condition in conditions:
            _, first, last = window = condition.windows(*groups)
            windows.append(window)
            sizes.append(int((last - first).sum()))
            if sizes[-1] <= _ENOUGH * (len(reference) + len(system)):
                # It would take longer to find fewer.
                break
        at = sizes.index(min(sizes))
        return cls(reference, groups[0], windows[at], [*conditions[:at], *conditions[at + 1 :], *others])

    def pairs(self) -> tuple[Index, Index]:
        """Return all candidate pairs, as positions in either list, by reference event, then by system event.

        Raises TooManyPairsError.
        """
        left, right = self.where()
        order = np.argsort(left.astype(np.int64) * len(self.windows[0]) + right)
        return left[order].astype(np.int64), right[order].astype(np.int64)

    def where(self, *checks: Callable[[Codes, Codes], Bools]) -> tuple[Codes, Codes]:
        """Return the candidate pairs in any order; checks: conditions that are tested first.

        Raises TooManyPairsError if a group has too many pairs, whatever other groups there are, and RoomError
        if all pairs do not fit into memory.
        """
        places, first, last = self.windows
        order = places.astype(np.int32)
        every: list[Callable[[Codes, Codes], Bools]] = [*checks, *(each.holds for each in self.others)]
        self._check_groups(self.group, last - first, _LOOKED_AT)
        pairs: list[tuple[Codes, Codes]] = [(order[:0], order[:0])]
        n_pairs, n_checked = 0, 0.0
        # Windows are unfolded some at a time, with not many more than `_AT_ONCE` pairs.
        total = np.cumsum(last - first)
        ends = np.arange(_AT_ONCE, int(total.max(initial=0)), _AT_ONCE)
        cuts = np.searchsorted(total, ends, side="left") + 1
        for begin, end in pairwise(dict.fromkeys([0, *cuts.tolist(), len(first)])):
            owner, inside = expand(first[begin:end], last[begin:end])
            left, right = (owner + begin).astype(np.int32), order.take(inside)
            for check in every:
                passed = np.flatnonzero(check(left, right))
                left, right = left.take(passed), right.take(passed)
            pairs.append((left, right))
            n_pairs += len(left)
            if n_pairs > n_checked:
                # To look at groups and at what is free takes as long as many pairs: for a tenth more at once.
                n_checked = 1.1 * n_pairs
                check_room(_PAIR * n_checked, "events: to match them", _MEND)
                self._check_groups(self.group[np.concatenate([left for left, _ in pairs])])
        left, right = (np.concatenate(side) for side in zip(*pairs, strict=True))
        self._check_groups(self.group[left])
        return left, right

    def _check_groups(self, group: Index, weight: Index | None = None, times: int = 1) -> None:
        """Raise TooManyPairsError if a group has more pairs than allowed, or than `times` as many.

        group, weight: (n,) groups of pairs, and the number of pairs that each represents.
        """
        if (len(group) if weight is None else weight.sum()) <= times * MOST_PAIRS:
            return
        most = times * np.maximum(MOST_PAIRS, PAIRS_OF_ONE * np.bincount(self.group))
        excess = np.bincount(group, weight, minlength=len(most)) - most
        worst = int(np.argmax(excess))
        if excess[worst] > 0:
            raise TooManyPairsError(self.reference.take(self.group == worst), int(most[worst]))


def level_pairs(
    reference: EventLifetimes, system: EventLifetimes, candidates: PairCandidates
) -> tuple[Codes, Codes]:
    """Return all candidate pairs of lifetimes that share a level, as positions; raises as `where`."""
    return candidates.where(
        lambda left, right: reference.born.take(left) < system.dies.take(right),
        lambda left, right: system.born.take(right) < reference.dies.take(left),
    )


def shared_levels(
    reference: EventLifetimes, system: EventLifetimes, left: Codes | Index, right: Codes | Index
) -> tuple[Floats, Floats]:
    """Return the levels low < a <= high at which both events of a pair are alive; none if low >= high."""
    low = np.maximum(reference.born[left], system.born[right])
    return low, np.minimum(reference.dies[left], system.dies[right])
