"""Detections that do not count: they are in time that the reference declares unknown.

Rows of ignored classes (`UNK` of few-shot tables) mark unknown time for all classes, not events to be found.
A detection is left out if

- no reference event of its own class is compatible with it, by the rule of candidate pairs;
- an ignored event is compatible with it by the same rule, or ignored events cover more than half of it.

Intersections have no such rule of pairs. There a detection is left out if it overlaps no reference event of
its own class, and ignored events cover more than half of it. Such a detection would be a false positive, and
other counts stay the same.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from sedeval_soft.arrays import Bools, Codes, Index
from sedeval_soft.measures.event import file_class
from sedeval_soft.measures.matching import PairCandidates, PairRule
from sedeval_soft.tables.ticks import Ticks
from sedeval_soft.timeline.events import Timed
from sedeval_soft.timeline.regions import Regions

AnyTimed = TypeVar("AnyTimed", bound=Timed)


def without_ignored(
    ignored: Timed, reference: Timed, system: AnyTimed, n_classes: int, rule: PairRule | None
) -> AnyTimed:
    """Return the events of a system, or its lifetimes, that are not left out, in their order.

    ignored, reference: events of one threshold. rule: which events may be matched; None for intersections.
    Raises TooManyPairsError.
    """
    if not len(ignored):
        return system
    suspect, own = mostly_covered(ignored, system), touched(reference, system, n_classes)
    if rule is not None:
        suspect[_compatible(ignored, system, (_files(ignored), _files(system)), rule)] = True
        groups = file_class(reference, n_classes), file_class(system, n_classes)
        own = np.zeros_like(suspect)
        own[_compatible(reference, system, groups, rule)] = True
    left_out = suspect & ~own
    return system.take(~left_out) if left_out.any() else system


def mostly_covered(ignored: Timed, system: Timed) -> Bools:
    """Return which detections ignored events cover for more than half their length, (n_sys,).

    A detection without extent lasts for a tick.
    """
    covered, length = _covered(ignored, _files(ignored), system, _files(system))
    mostly: Bools = 2 * covered > length
    return mostly


def touched(reference: Timed, system: Timed, n_classes: int) -> Bools:
    """Return which detections an event of their own class overlaps, (n_sys,)."""
    groups = file_class(reference, n_classes), file_class(system, n_classes)
    overlaps: Bools = _covered(reference, groups[0], system, groups[1])[0] > 0
    return overlaps


def _covered(events: Timed, groups: Index, system: Timed, system_groups: Index) -> tuple[Ticks, Ticks]:
    """Return the covered time and the length of each detection, (n_sys,) ticks each.

    Events of its group cover a detection. groups, system_groups: (n,) numbers. A detection without extent
    lasts for a tick.
    """
    union, end = Regions.of(groups, events.onset, events.offset), np.maximum(system.offset, system.onset + 1)
    return union.within(system_groups, system.onset, end), end - system.onset


def _files(events: Timed) -> Index:
    return events.file.astype(np.int64)


def _compatible(events: Timed, system: Timed, groups: tuple[Index, Index], rule: PairRule) -> Codes:
    """Return which detections may be matched with some event of their group, some several times."""
    return PairCandidates.of(events, system, groups, rule).where()[1]
