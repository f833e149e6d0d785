"""Detections that count neither way: those of time about which the reference says that nothing is known.

Rows of ignored classes (`UNK` of few-shot tables) are no events to be found but such time, for all classes. A
detection is left out if

- no reference event of its own class is compatible with it, by the rule of which events may be matched;
- an ignored event is compatible with it by the same rule, or ignored events cover more than half of it.

Intersections have no such rule of pairs. There a detection is left out if it overlaps no reference event of
its own class, and ignored events cover more than half of it: it would be a false positive, and nothing else
changes.

At each level a of the soft reading the ignored events are those alive there, so that a lifetime is left out
at some of its levels: what remains of it are lifetimes of the same onset and offset. Which levels those are
follows from intervals alone. Ignored events cover less the higher the level, so they cover more than half of
a detection up to the level that is a weighted median of their values over it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from sedeval_soft.arrays import Bools, Codes, Floats, Index
from sedeval_soft.measures.event import file_class
from sedeval_soft.measures.pairs import PairCandidates, PairRule, level_pairs, shared_levels
from sedeval_soft.timeline.events import Activity, EventLifetimes, Timed

AnyTimed = TypeVar("AnyTimed", bound=Timed)


def level_covered(
    events: EventLifetimes, groups: Index, system: Timed, system_groups: Index, needed: Index
) -> Floats:
    """Return up to which level events of its group cover so much of each detection, 0 for none, (n_sys,).

    groups, system_groups: (n,) numbers. needed: (n_sys,) ticks, at least 1. A detection without extent lasts
    for a tick.
    """
    from sedeval_soft.measures.intersections import enough, overlapping

    lasting = events.offset > events.onset
    events, groups = events.take(lasting), groups[lasting]
    if not len(events) or not len(system):
        return np.zeros(len(system))
    member = np.unique(np.concatenate((groups, system_groups)), return_inverse=True)[1]
    ours, theirs = member[: len(groups)].astype(np.int32), member[len(groups) :]
    # What several cover counts at the highest level of them.
    pieces = Activity.of_rows(Activity(ours, np.zeros_like(ours), events.onset, events.offset, events.dies))
    lasting_for = replace(system, offset=np.maximum(system.offset, system.onset + 1))
    left, right = overlapping(pieces, lasting_for, pieces.file.astype(np.int64), theirs)
    overlap = np.minimum(pieces.offset[left], lasting_for.offset[right]) - np.maximum(
        pieces.onset[left], lasting_for.onset[right]
    )
    level = np.zeros(len(system))
    detection, _, highest = enough(right, np.zeros(len(left)), pieces.value[left], overlap, needed)
    level[detection] = highest
    return level


def level_mostly(ignored: EventLifetimes, system: Timed) -> Floats:
    """Return up to which level ignored events cover more than half of each detection, 0 for none, (n_sys,).

    A detection without extent lasts for a tick.
    """
    half = np.maximum(system.offset - system.onset, 1) // 2 + 1
    return level_covered(ignored, _files(ignored), system, _files(system), half)


def without_ignored(
    ignored: EventLifetimes, reference: Timed, system: AnyTimed, n_classes: int, rule: PairRule | None
) -> AnyTimed:
    """Return the hard events of a system, or its lifetimes, that are not left out, in their order.

    ignored, reference: events of one threshold. rule: as for `soft_without_ignored`.
    """
    if not len(ignored):
        return system
    sides = _of_one_level(reference), _of_one_level(system)
    at = _remaining(_of_one_level(ignored), *sides, n_classes, rule)[0]
    return system if len(at) == len(system) else system.take(at)


def soft_without_ignored(
    ignored: EventLifetimes,
    reference: EventLifetimes,
    system: EventLifetimes,
    n_classes: int,
    rule: PairRule | None,
) -> EventLifetimes:
    """Return what remains of detections: their lifetimes at those levels at which they are not left out.

    rule: which events may be matched; None for intersections. Raises TooManyPairsError.
    """
    if not len(ignored):
        return system
    at, born, dies = _remaining(ignored, reference, system, n_classes, rule)
    return replace(system.take(at), born=born, dies=dies)


def soft_left_out(
    ignored: EventLifetimes, reference: EventLifetimes, system: EventLifetimes, n_classes: int
) -> Floats:
    """Return at how many levels each detection is left out of intersections, (n_sys,)."""
    upto = np.minimum(level_mostly(ignored, system), system.dies)
    own = _level_touched(reference, system, n_classes)
    left_out: Floats = np.maximum(upto - np.maximum(own, system.born), 0.0)
    return left_out


def touched(reference: Timed, system: Timed, n_classes: int) -> Bools:
    """Return which detections an event of their own class overlaps, (n_sys,)."""
    overlaps: Bools = _level_touched(_of_one_level(reference), system, n_classes) > 0
    return overlaps


def _level_touched(reference: EventLifetimes, system: Timed, n_classes: int) -> Floats:
    """Return up to which level an event of its own class overlaps each detection, 0 for none, (n_sys,)."""
    groups = file_class(reference, n_classes), file_class(system, n_classes)
    return level_covered(reference, groups[0], system, groups[1], np.ones(len(system), dtype=np.int64))


def _files(events: Timed) -> Index:
    return events.file.astype(np.int64)


def _of_one_level(events: Timed) -> EventLifetimes:
    """Return events, whatever their levels, as those of one level."""
    n = len(events)
    return EventLifetimes(events.file, events.label, events.onset, events.offset, np.zeros(n), np.ones(n))


def _remaining(
    ignored: EventLifetimes,
    reference: EventLifetimes,
    system: EventLifetimes,
    n_classes: int,
    rule: PairRule | None,
) -> tuple[Index, Floats, Floats]:
    """Return which detections remain, at which levels born < a <= dies, some twice."""
    from sedeval_soft.measures.intersections import spans

    level = np.clip(level_mostly(ignored, system), system.born, system.dies)
    near = _NONE if rule is None else _compatible(ignored, system, (_files(ignored), _files(system)), rule)
    doubtful = level > system.born
    doubtful[near[0]] = True
    suspects = np.flatnonzero(doubtful)
    if not len(suspects):
        return np.arange(len(system)), system.born, system.dies
    some, everyone = system.take(suspects), np.arange(len(suspects))
    own: tuple[Index | Codes, Floats, Floats]
    if rule is None:
        upto = _level_touched(reference, some, n_classes)
        own = everyone, some.born, np.clip(upto, some.born, some.dies)
    else:
        groups = file_class(reference, n_classes), file_class(some, n_classes)
        own = _compatible(reference, some, groups, rule)
    # A detection remains where it lives and either nothing ignored is there, or an event of its own class is.
    parts = (
        (1, (everyone, some.born, some.dies)),
        (-1, (everyone, some.born, level[suspects])),
        (-1, ((np.cumsum(doubtful) - 1)[near[0]], *near[1:])),
        (len(near[0]) + 2, own),
    )
    event = np.concatenate([place for _, (place, *_) in parts for _ in range(2)])
    levels = np.concatenate([ends for _, (_, *both) in parts for ends in both])
    change = np.concatenate([np.full(len(place), k) for w, (place, *_) in parts for k in (w, -w)])
    index, born, dies = spans(event, levels, change, np.ones(len(suspects), dtype=np.int64))
    others = np.flatnonzero(~doubtful)
    at = np.concatenate((others, suspects[index]))
    order = np.argsort(at, kind="stable")
    born, dies = np.concatenate((system.born[others], born)), np.concatenate((system.dies[others], dies))
    return at[order], born[order], dies[order]


def _compatible(
    events: EventLifetimes, system: EventLifetimes, groups: tuple[Index, Index], rule: PairRule
) -> tuple[Codes, Floats, Floats]:
    """Return which detections may be matched with some event, and at which levels low < a <= high, (n,)."""
    left, right = level_pairs(events, system, PairCandidates.of(events, system, groups, rule))
    return right, *shared_levels(events, system, left, right)


_NONE = np.zeros(0, dtype=np.int32), np.zeros(0), np.zeros(0)
