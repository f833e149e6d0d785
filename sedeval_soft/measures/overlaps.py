"""Pairs of stretches of time that overlap."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sedeval_soft.arrays import Bools, Index
from sedeval_soft.tables.ticks import Ticks
from sedeval_soft.timeline.events import Timed
from sedeval_soft.timeline.ranges import TooManyOverlapsError, expand

MOST_PAIRS = 5_000_000
"""Pairs of events that are near, or overlap, up to which all are looked at."""


def check_pairs(pairs: int) -> None:
    """Raise TooManyOverlapsError for too many pairs."""
    if pairs > MOST_PAIRS:
        raise TooManyOverlapsError(
            f"{pairs:.3g} pairs of events overlap, or are near: too many to say what is wrong with each. "
            "Are rows repeated, or are there very many events at one time? --only segment needs none"
        )


class EventPairs(NamedTuple):
    """Pairs of a reference event and a detection, by their positions, (n,) each."""

    left: Index
    right: Index

    def where(self, passed: Bools | Index) -> EventPairs:
        """Return some of the pairs."""
        return EventPairs(self.left[passed], self.right[passed])


def overlapping_pairs(reference: Timed, system: Timed, groups: tuple[Index, Index]) -> EventPairs:
    """Return all pairs of one group that overlap, by reference event, then by detection.

    Two stretches of time overlap where one of them begins while the other lasts. Raises
    TooManyOverlapsError.
    """
    # Each group gets as much of one line as it needs.
    n_groups = max(int(each.max(initial=-1)) for each in groups) + 1
    longest = np.zeros(n_groups, dtype=np.int64)
    for group, side in zip(groups, (reference, system), strict=True):
        np.maximum.at(longest, group, side.offset + 1)
    base = np.append(0, np.cumsum(longest))
    ours, theirs = reference.onset + base[groups[0]], system.onset + base[groups[1]]

    def begun_while(begins: Index, onset: Index, length: Ticks, side: str) -> tuple[Index, Index]:
        """Return which stretches last while which others begin."""
        order = np.argsort(begins, kind="stable")
        line = begins[order]
        first = np.searchsorted(line, onset, side=side)  # type: ignore[call-overload]
        end = np.searchsorted(line, onset + length, side="left")
        end = np.maximum(first, end)
        check_pairs(int((end - first).sum()))
        owner, at = expand(first, end)
        return owner, order[at]

    left, right = begun_while(theirs, ours, reference.offset - reference.onset, "left")
    later, earlier = begun_while(ours, theirs, system.offset - system.onset, "right")
    # Stretches without extent overlap nothing.
    left, right = np.concatenate((left, earlier)), np.concatenate((right, later))
    lasting = (reference.offset > reference.onset)[left] & (system.offset > system.onset)[right]
    left, right = left[lasting], right[lasting]
    order = np.lexsort((right, left))
    return EventPairs(left[order], right[order])
