"""The kind of error of each event that is not a hit, after TIDE and DETAD, for events in time.

Every false positive and every false negative has exactly one kind. Pairs of one class are explained first,
in this order, each kind from what those before it leave:

- hits: the largest matching by the rule of the evaluation (collars or overlap), the nearest of the largest.
- split: two or more detections, each at least half inside one reference event. merge: the same with the
  roles exchanged.
- onset, offset, both boundaries: a pair that overlaps, near enough that one end is right, or a tenth of what
  both cover is common; the end that is wrong names it.
- duplicate: a detection that could pair with a reference event that another one has. An event at least half
  inside an event of the other side belongs to a split or a merge as well.
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

from sedeval_soft.apps.diagnosis.prices import Counts, prices
from sedeval_soft.apps.diagnosis.results import Example
from sedeval_soft.arrays import Array, Bools, Floats, Index
from sedeval_soft.evaluation import not_ignored
from sedeval_soft.measures import (
    PairCandidates,
    PairRule,
    file_class,
    intersection_over_union,
    match_events,
    nearest_matching,
    overlapping,
    pair_rule,
)
from sedeval_soft.tables import Ticks, to_seconds
from sedeval_soft.timeline import Events, Recordings, check_pairs, hard_events

KINDS = (
    *("missed", "background", "onset", "offset", "both_boundaries"),
    *("split", "merge", "duplicate", "confusion", "confusion_and_boundary"),
)
"""The names of the kinds of errors of events, in the order of tables."""

(MISSED, BACKGROUND, ONSET, OFFSET, BOTH, SPLIT, MERGE, DUPLICATE, CONFUSION, CONFUSED_BOUNDARY) = range(10)
"""The places of kinds in `KINDS`."""

HIT = -1
"""The code for no kind of error."""

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


@dataclass(frozen=True, slots=True)
class EventErrors:
    """Events of the reference and the system, and the kind of error of each, as a place in `KINDS`, or `HIT`.

    missed: (n_ref,). false: (n_sys,). links: pairs of a missed event and a false positive of one error: for a
    split the event with each of its detections, for a merge the detection with each of its events.
    """

    reference: Events
    system: Events
    missed: Index
    false: Index
    links: EventPairs

    def counts(self, pair: Recordings, n_ref: Array) -> Counts:
        """Return the errors by kind, class and file; n_ref: (n_files, n_classes)."""
        from scipy.sparse import csr_array

        rows, files = [], []
        for k, (kind, events) in enumerate(((self.false, self.system), (self.missed, self.reference))):
            some = kind != HIT
            rows.append((k * len(KINDS) + kind[some]) * len(pair.classes) + events.label[some])
            files.append(events.file[some])
        place = np.concatenate(rows), np.concatenate(files)
        shape = 2 * len(KINDS) * len(pair.classes), len(pair.files)
        # What is in one place is added up.
        return Counts(KINDS, csr_array((np.ones(len(place[0]), dtype=np.int64), place), shape=shape), n_ref)

    def examples(self, pair: Recordings, beta: float) -> list[tuple[str, Example]]:
        """Return errors with their kinds, those that cost most and are wrong for longest first.

        An error is a miss, a false alarm, or all of those that belong together, such as an event and the
        detections that it is split into; it begins with the first of its misses.
        """
        reference, system, (left, right) = self.reference, self.system, self.links
        n_ref, n_sys = len(reference), len(system)
        # An error goes by the first of its misses; a false alarm without any by itself.
        of_false = np.arange(n_sys) + n_ref
        by_time = np.lexsort((reference.offset[left], reference.onset[left], right))[::-1]
        of_false[right[by_time]] = left[by_time]
        of_missed = np.arange(n_ref)
        of_missed[left] = of_false[right]
        file, onset, label, offset = (
            np.concatenate((getattr(reference, name), getattr(system, name))).astype(np.int64)
            for name in ("file", "onset", "label", "offset")
        )
        kind, error = np.concatenate((self.missed, self.false)), np.concatenate((of_missed, of_false))
        tp = np.asarray(np.count_nonzero(self.missed == HIT))
        of_fp, of_fn = prices(tp, n_sys - tp, n_ref - tp, beta)
        wrong, price = kind != HIT, np.repeat((of_fn, of_fp), (n_ref, n_sys))
        cost = np.bincount(error, price * wrong, minlength=len(error))
        length = np.bincount(error, (offset - onset) * wrong, minlength=len(error))
        # What both sides say of one class is right.
        same = reference.label[left] == system.label[right]
        ours, theirs = reference.take(left[same]), system.take(right[same])
        common = np.minimum(ours.offset, theirs.offset) - np.maximum(ours.onset, theirs.onset)
        np.add.at(length, of_missed[left[same]], -2.0 * np.maximum(common, 0))
        some = np.flatnonzero(cost > 0)
        worst = some[np.lexsort((label[some], onset[some], file[some], -length[some], -cost[some]))]
        of_worst = zip(*(each[worst].tolist() for each in (kind, file, onset, label)), strict=True)
        return [
            (KINDS[number], Example(pair.files[where], float(to_seconds(begin)), pair.classes[of]))
            for number, where, begin, of in of_worst
        ]


def errors_of(pair: Recordings) -> EventErrors:
    """Classify the errors of a pair; raises TooManyOverlapsError where too many events overlap."""
    (reference, everything), rule = hard_events(pair), pair_rule(pair.settings)
    system = not_ignored(pair, reference, everything, rule)
    return classify_errors(reference, system, len(pair.classes), rule)


def classify_errors(reference: Events, system: Events, n_classes: int, rule: PairRule) -> EventErrors:
    """Return the kinds of errors of events, in the order of the tables.

    rule: which events can pair; as many as can be do. Raises EvaluationError where too many events overlap to
    look at all pairs.
    """
    ours, theirs = _order(reference, system, n_classes)
    place = np.append(np.argsort(theirs), -1)
    kinds = _Kinds(reference.take(ours), system.take(theirs), rule)
    kinds.explain(place[match_events(reference, system, n_classes, rule)[ours]])
    left, right = (np.concatenate(side) for side in zip(*kinds.links, strict=True))
    return EventErrors(
        reference,
        system,
        kinds.missed[np.argsort(ours)],
        kinds.false[np.argsort(theirs)],
        EventPairs(ours[left], theirs[right]),
    )


def _order(reference: Events, system: Events, n_classes: int) -> tuple[Index, Index]:
    """Return orders of events by file and time; classes at one time follow their events in the file.

    So neither the order of rows nor the names of classes decide which of two equal errors comes first:
    classes with one number have equal events, up to the chance of 64 bits.
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
    """The kinds of errors of events in the order of time, found one kind after another.

    Misses and false alarms without an explanation so far are `MISSED` and `BACKGROUND`.
    """

    def __init__(self, reference: Events, system: Events, rule: PairRule) -> None:
        self.reference, self.system, self.rule = reference, system, rule
        self.missed = np.full(len(reference), MISSED, dtype=np.int64)
        self.false = np.full(len(system), BACKGROUND, dtype=np.int64)
        none = np.zeros(0, dtype=np.int64)
        self.links = [EventPairs(none, none)]

    def explain(self, hits: Index) -> None:
        """Explain each event that is not a hit; hits: (n_ref,) the partners of those, -1 for none."""
        files = self.reference.file.astype(np.int64), self.system.file.astype(np.int64)
        candidates = PairCandidates.of(self.reference, self.system, files, self.rule)
        check_pairs(*candidates.windows[1:], _MOST_PAIRS)
        compatible, confusable = self._by_class(EventPairs(*candidates.pairs()))
        inside, others = self._by_class(
            EventPairs(*overlapping(self.reference, self.system, *files, _MOST_PAIRS))
        )
        left = np.flatnonzero(hits >= 0)
        self.missed[left] = self.false[hits[left]] = HIT
        ours, theirs = self._events(inside)
        common = np.minimum(ours.offset, theirs.offset) - np.maximum(ours.onset, theirs.onset)
        in_ref = 2 * common >= theirs.offset - theirs.onset
        in_sys = 2 * common >= ours.offset - ours.onset
        self._gather(inside, common, in_ref, SPLIT)
        self._gather(inside, common, in_sys, MERGE)
        self._boundaries(inside)
        for right, kind in ((compatible.right, DUPLICATE), (inside.right[in_ref], SPLIT)):
            self.false[right[self.false[right] == BACKGROUND]] = kind
        for left in (compatible.left, inside.left[in_sys]):
            self.missed[left[self.missed[left] == MISSED]] = MERGE
        self._pair(confusable, CONFUSION)
        self._pair(others.where(self._share(others) >= _SAME), CONFUSED_BOUNDARY)

    def _by_class(self, edges: EventPairs) -> tuple[EventPairs, EventPairs]:
        """Return the pairs of one class, and the pairs of two."""
        same = self.reference.label[edges.left] == self.system.label[edges.right]
        return edges.where(same), edges.where(~same)

    def _events(self, edges: EventPairs) -> tuple[Events, Events]:
        return self.reference.take(edges.left), self.system.take(edges.right)

    def _share(self, edges: EventPairs) -> Floats:
        """Return the intersection over union of each pair."""
        ours, theirs = self._events(edges)
        return intersection_over_union(ours.onset, ours.offset, theirs.onset, theirs.offset)

    def _free(self, edges: EventPairs) -> Bools:
        """Return the pairs of which neither event is explained."""
        free: Bools = (self.missed[edges.left] == MISSED) & (self.false[edges.right] == BACKGROUND)
        return free

    def _explain(self, left: Index, right: Index, kind: int) -> None:
        """Give pairs a kind, and link them."""
        self.missed[left], self.false[right] = kind, kind
        self.links.append(EventPairs(left, right))

    def _pair(self, edges: EventPairs, kind: int) -> Index:
        """Pair as many unexplained events as can be, the nearest; return the partners of the reference's."""
        partner = nearest_matching(*edges.where(self._free(edges)), self.reference, self.system)
        left = np.flatnonzero(partner >= 0)
        self._explain(left, partner[left], kind)
        return partner

    def _gather(self, edges: EventPairs, common: Ticks, inside: Bools, kind: int) -> None:
        """Explain two or more events of one side inside the same event of the other.

        inside: the pairs with one event inside the other. kind: a split, with detections inside a reference
        event, or a merge, with reference events inside a detection. Each event is assigned to the event with
        which it has most in common.
        """
        chosen = inside & self._free(edges)
        edges, common = edges.where(chosen), common[chosen]
        part, whole = (edges.right, edges.left) if kind == SPLIT else (edges.left, edges.right)
        order = np.lexsort((whole, -common, part))
        nearest = np.sort(order[np.unique(part[order], return_index=True)[1]])
        several = np.bincount(whole[nearest], minlength=1)[whole[nearest]] >= 2
        self._explain(*edges.where(nearest[several]), kind)

    def _boundaries(self, inside: EventPairs) -> None:
        """Explain pairs of which an end is wrong, or both are."""
        onset, offset = self.rule.right_ends(*self._events(inside))
        partner = self._pair(inside.where((self._share(inside) >= _NEAR) | onset | offset), BOTH)
        paired = partner[inside.left] == inside.right
        left, right = inside.where(paired)
        onset, offset = onset[paired], offset[paired]
        self.missed[left] = self.false[right] = np.where(
            onset == offset, BOTH, np.where(offset, ONSET, OFFSET)
        )
