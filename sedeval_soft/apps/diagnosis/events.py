"""What is wrong with each event that is no hit: kinds of errors, after TIDE and DETAD, for events in time.

Every false positive and every false negative has exactly one kind. Pairs of one class are explained first,
in this order, each kind from what those before it leave:

- hits: the largest matching by the rule of the evaluation (collars or overlap), the nearest of the largest.
- split: two or more detections, each at least half inside one reference event. merge: the same with the
  roles exchanged.
- onset, offset, both boundaries: a pair that overlaps, near enough that one end is right, or a tenth of what
  both cover is common; the end that is wrong names it.
- duplicate: a detection that could pair with a reference event that another one has. What is at least half
  inside one of the other side belongs to a split or a merge, too.
- confusion: a pair of two classes by the rule of the evaluation. confusion and boundary: one that has half of
  what both cover in common.
- background and missed: all others.

Sources: Bolya et al. 2020 (TIDE), Alwassel et al. 2018 (DETAD), for splits and merges Araya-Salas et al. 2023
(ohun). The order is this project's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sedeval_soft.apps.diagnosis.kinds import (
    BACKGROUND,
    BOTH,
    CONFUSED_BOUNDARY,
    CONFUSION,
    DUPLICATE,
    HIT,
    MERGE,
    MISSED,
    OFFSET,
    ONSET,
    SPLIT,
)
from sedeval_soft.arrays import Array, Bools, Floats, Index
from sedeval_soft.fields import Matching
from sedeval_soft.measures import (
    PairCandidates,
    PairRule,
    file_class,
    intersection_over_union,
    match_events,
    nearest_matching,
    overlapping,
)
from sedeval_soft.tables import Ticks
from sedeval_soft.timeline import Events, Timed, check_pairs

_NEAR, _SAME = 0.1, 0.5
"""Intersection over union from which two events of one class, and of two, can be one event."""


_MOST_PAIRS = 5_000_000
"""Pairs of events that are near, or overlap, up to which all are looked at."""


class EventPairs(NamedTuple):
    """Pairs of a reference event and a detection, by their positions, (n,) each."""

    left: Index
    right: Index

    def where(self, passed: Bools | Index) -> EventPairs:
        """Return some of the pairs."""
        return EventPairs(self.left[passed], self.right[passed])


@dataclass(slots=True)
class EventErrors:
    """The kind of error of each event, as a place in `KINDS`; `HIT` for none.

    missed: (n_ref,). false: (n_sys,). links: pairs of a missed event and a false positive of one error: of
    a split the event with each of its detections, of a merge the detection with each of its events.
    """

    missed: Index
    false: Index
    links: EventPairs


def classify_errors(
    reference: Events, system: Events, n_classes: int, rule: PairRule, matching: Matching = "optimal"
) -> EventErrors:
    """Return the kinds of errors of events, in the order of the tables.

    rule: which events can pair. matching: how; greedy hits are not as many as can be. Raises EvaluationError
    where too many events overlap to look at all pairs.
    """
    ours, theirs = _order(reference, system, n_classes)
    place = np.full(len(theirs) + 1, -1)
    place[theirs] = np.arange(len(theirs))
    kinds = _Kinds(reference.take(ours), system.take(theirs), rule)
    kinds.explain(place[match_events(reference, system, n_classes, rule, matching)[ours]])
    links = kinds.links()
    errors = EventErrors(
        np.empty_like(ours), np.empty_like(theirs), EventPairs(ours[links.left], theirs[links.right])
    )
    errors.missed[ours], errors.false[theirs] = kinds.missed, kinds.false
    return errors


def _order(reference: Events, system: Events, n_classes: int) -> tuple[Index, Index]:
    """Return orders of events by file and time; of classes at one time by what they have in the file.

    So neither the order of rows nor the names of classes decide which of two equal errors comes first:
    classes that have one number are alike in all their events, up to the chance of 64 bits.
    """
    sides = reference, system
    group = [file_class(side, n_classes) for side in sides]
    whole = np.zeros(max((int(each.max(initial=-1)) for each in group), default=-1) + 1, dtype=np.uint64)
    for salt, each, side in zip((1, 2), group, sides, strict=True):
        np.add.at(whole, each, _mixed(_mixed(side.onset + salt) + side.offset.astype(np.uint64)))
    orders = [
        np.lexsort((side.label, whole[each], side.offset, side.onset, side.file))
        for each, side in zip(group, sides, strict=True)
    ]
    return orders[0], orders[1]


def _mixed(values: Array) -> Array:
    """Return whole numbers that look random, the same for the same values (Steele et al. 2014, SplitMix)."""
    bits = values.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


class _Kinds:
    """What is wrong with events in the order of time, one kind after another."""

    def __init__(self, reference: Events, system: Events, rule: PairRule) -> None:
        """Find all pairs of events of a file that overlap, or that the rule lets pair."""
        self.reference, self.system = reference, system
        self.files = reference.file.astype(np.int64), system.file.astype(np.int64)
        candidates = PairCandidates.of(reference, system, self.files, rule)
        check_pairs(*candidates.windows[1:], _MOST_PAIRS)
        self.compatible = EventPairs(*candidates.pairs())
        self.overlapping = EventPairs(*overlapping(reference, system, *self.files, _MOST_PAIRS))
        self.rule = rule
        self.missed = np.full(len(reference), MISSED, dtype=np.int64)
        self.false = np.full(len(system), BACKGROUND, dtype=np.int64)
        self.free_ref, self.free_sys = np.ones(len(reference), dtype=bool), np.ones(len(system), dtype=bool)
        self._links: list[EventPairs] = []

    def explain(self, hits: Index) -> None:
        """Explain each event that is not a hit; hits: (n_ref,) the partners of those, -1 for none."""
        left = np.flatnonzero(hits >= 0)
        self._explain(left, hits[left], HIT)
        same = self._same_class(self.compatible)
        inside = self.overlapping.where(self._same_class(self.overlapping))
        common = self._common(inside)
        in_ref = 2 * common >= self._length(self.system)[inside.right]
        in_sys = 2 * common >= self._length(self.reference)[inside.left]
        self._gather(inside, common, in_ref, SPLIT)
        self._gather(inside, common, in_sys, MERGE)
        self._boundaries(inside)
        compatible = self.compatible.where(same)
        self._rest_of_system(compatible.right, DUPLICATE)
        self._rest_of_system(inside.right[in_ref], SPLIT)
        self._rest_of_reference(compatible.left, MERGE)
        self._rest_of_reference(inside.left[in_sys], MERGE)
        self._pair(self.compatible.where(~same), CONFUSION)
        others = self.overlapping.where(~self._same_class(self.overlapping))
        self._pair(others.where(self._share(others) >= _SAME), CONFUSED_BOUNDARY)

    def links(self) -> EventPairs:
        """Return the pairs of misses and false positives of one error."""
        none = np.zeros(0, dtype=np.int64)
        return EventPairs(*(np.concatenate(side) for side in zip((none, none), *self._links, strict=True)))

    def _same_class(self, edges: EventPairs) -> Bools:
        same: Bools = self.reference.label[edges.left] == self.system.label[edges.right]
        return same

    @staticmethod
    def _length(side: Timed) -> Ticks:
        length: Ticks = side.offset - side.onset
        return length

    def _common(self, edges: EventPairs) -> Ticks:
        """Return how long both events of each pair last together."""
        ours, theirs = self.reference.take(edges.left), self.system.take(edges.right)
        common: Ticks = np.minimum(ours.offset, theirs.offset) - np.maximum(ours.onset, theirs.onset)
        return common

    def _share(self, edges: EventPairs) -> Floats:
        """Return the intersection over union of each pair."""
        ours, theirs = self.reference.take(edges.left), self.system.take(edges.right)
        return intersection_over_union(ours.onset, ours.offset, theirs.onset, theirs.offset)

    def _free(self, edges: EventPairs) -> Bools:
        """Return the pairs of which neither event is explained."""
        free: Bools = self.free_ref[edges.left] & self.free_sys[edges.right]
        return free

    def _explain(self, left: Index, right: Index, kind: int) -> None:
        """Give pairs a kind; those that are no hits are linked."""
        self.free_ref[left] = self.free_sys[right] = False
        self.missed[left], self.false[right] = kind, kind
        if kind != HIT:
            self._links.append(EventPairs(left, right))

    def _pair(self, edges: EventPairs, kind: int) -> Index:
        """Pair as many unexplained events as can be, the nearest; return the partners of the reference's."""
        edges = edges.where(self._free(edges))
        partner = nearest_matching(*edges, self.reference, self.system)
        left = np.flatnonzero(partner >= 0)
        self._explain(left, partner[left], kind)
        return partner

    def _gather(self, edges: EventPairs, common: Ticks, inside: Bools, kind: int) -> None:
        """Explain two or more events of one side that lie in the same event of the other.

        inside: of which pairs the one lies in the other. kind: a split, where detections lie in a reference
        event, or a merge, where reference events lie in a detection. Each event lies in the one that it has
        most in common with.
        """
        chosen = inside & self._free(edges)
        edges, common = edges.where(chosen), common[chosen]
        part, whole = (edges.right, edges.left) if kind == SPLIT else (edges.left, edges.right)
        nearest = _most(part, whole, common)
        several = np.bincount(whole[nearest], minlength=1)[whole[nearest]] >= 2
        self._explain(*edges.where(nearest[several]), kind)

    def _boundaries(self, inside: EventPairs) -> None:
        """Explain pairs of which an end is wrong, or both are."""
        onset, offset = self._ends(inside)
        near = (self._share(inside) >= _NEAR) | onset | offset
        partner = self._pair(inside.where(near), BOTH)
        paired = partner[inside.left] == inside.right
        left, right = inside.left[paired], inside.right[paired]
        onset, offset = onset[paired], offset[paired]
        kind = np.where(onset == offset, BOTH, np.where(offset, ONSET, OFFSET))
        self.missed[left], self.false[right] = kind, kind

    def _ends(self, edges: EventPairs) -> tuple[Bools, Bools]:
        """Return of which pairs the onset is right, and of which the offset."""
        ours, theirs = self.reference.take(edges.left), self.system.take(edges.right)
        return self.rule.right_ends(ours, theirs)

    def _rest_of_system(self, right: Index, kind: int) -> None:
        some = right[self.free_sys[right]]
        self.false[some] = kind
        self.free_sys[some] = False

    def _rest_of_reference(self, left: Index, kind: int) -> None:
        some = left[self.free_ref[left]]
        self.missed[some] = kind
        self.free_ref[some] = False


def _most(member: Index, holder: Index, common: Ticks) -> Index:
    """Return for each member the pair with the holder that has most in common with it, the first of those."""
    order = np.lexsort((holder, -common, member))
    first = np.append(True, member[order][1:] != member[order][:-1])[: len(order)]
    chosen: Index = np.sort(order[first])
    return chosen
