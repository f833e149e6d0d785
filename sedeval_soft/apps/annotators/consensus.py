"""Consensus events: clusters of several annotators' events that mean the same.

Two annotators' events of one class in one file may mean the same if their intersection over union (IoU) is
high. A cluster holds one event of each annotator at the most. Clusters are made by agglomeration with average
linkage (UPGMA, Sokal & Michener 1958). At first each event is a cluster of its own. Of all two clusters that
have no annotator in common those become one that have the highest mean IoU, over all pairs of an event of
one and an event of the other, as long as that mean is at least a given share. Of equal means that one goes
first whose earliest event is earlier. So clusters depend on times only: not on the order of annotators, files
or rows.

That is the way, best first, to a high sum of (IoU - share) over all pairs within clusters. The highest one,
which is how Mathet, Widlocher & Metivier (2015) align the units of annotators, is a multidimensional
assignment, for which no fast way is known. For two annotators and a share of 1/2 or more clusters are the
optimal assignment: events of one annotator do not overlap, so none has two partners above 1/2 (Kirillov et
al. 2019).

Two clusters that are each other's best become one whatever happens elsewhere: a mean of means is not above
the highest of them, so no other merger makes a better partner for either (Bruynooghe 1977). So all such pairs
of all files are merged at once, round by round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sedeval_soft.apps.annotators.competence import Patterns, competence_of
from sedeval_soft.apps.annotators.dawid_skene import dawid_skene
from sedeval_soft.apps.annotators.units import Units
from sedeval_soft.arrays import Array, Bools, Codes, Floats, Index
from sedeval_soft.evaluation.scores import finite
from sedeval_soft.measures.event import file_class
from sedeval_soft.measures.pairs import intersection_over_union
from sedeval_soft.memory import check_room
from sedeval_soft.sorting import heads, order_of
from sedeval_soft.tables.event_table import EventTable, Origin
from sedeval_soft.tables.ticks import Ticks, to_seconds
from sedeval_soft.threads import for_each
from sedeval_soft.timeline.events import Events
from sedeval_soft.timeline.ranges import expand, portions

if TYPE_CHECKING:
    import pandas as pd

METHODS = {
    "mean": "share of those who labelled",
    "competence": "share of those who labelled, weighted by competence",
    "dawid-skene": "probability by Dawid & Skene's model of who has them",
    "majority": "those of the majority of those who labelled",
}
"""What the value of a consensus event is, by how a reference is made."""

SAME_IOU = 0.3
"""The mean IoU from which on events mean the same: what challenges of bioacoustics ask of a detection."""

_WHOLE = 1 << 30
"""IoU are whole numbers of this part of 1, so that their sums have no order; a billionth more or less."""

_EQUAL = 1 << 10
"""Means that differ by less than about this many parts, a millionth, are equal but for rounding."""

_BYTES_PER_PAIR = 72

_AT_ONCE = 1 << 18
"""Events that are worked on at a time, about."""


@dataclass(frozen=True, slots=True)
class ConsensusEvents:
    """Events that one annotator or more have, by file, onset and class.

    file, label: (n,) codes. onset, offset: (n,) ticks, medians of the annotators'. confidence: (n,) in
    [0, 1], the share of those who labelled the file and have the event. onset_spread, offset_spread: (n,)
    seconds, the mean distance of the annotators' onsets and offsets from their median; NaN where one
    annotator has the event. members: (n_annotators, n), where each annotator's event is in the events given,
    -1 for none.
    """

    file: Codes
    label: Codes
    onset: Ticks
    offset: Ticks
    confidence: Floats
    onset_spread: Floats
    offset_spread: Floats
    members: Index

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.onset)

    @property
    def annotators(self) -> Index:
        """How many annotators have each event, (n,)."""
        number: Index = (self.members >= 0).sum(axis=0)
        return number

    def take(self, chosen: Bools) -> ConsensusEvents:
        """Return those of a mask."""
        return ConsensusEvents(
            self.file[chosen], self.label[chosen], self.onset[chosen], self.offset[chosen],
            self.confidence[chosen], self.onset_spread[chosen], self.offset_spread[chosen],
            self.members[:, chosen],
        )  # fmt: skip

    def rows(self, files: tuple[str, ...], classes: tuple[str, ...], name: str) -> EventTable:
        """Return the events as rows of a table whose values are their confidence."""
        times = to_seconds(self.onset), to_seconds(self.offset)
        return EventTable(files, classes, self.file, *times, (self.confidence,), Origin(name), self.label)


@dataclass(frozen=True, slots=True)
class Consensus:
    """Consensus events and the names of what they are of.

    events: those that annotators have, or most of them. files, classes, annotators: names by their codes.
    """

    events: ConsensusEvents
    files: tuple[str, ...]
    classes: tuple[str, ...]
    annotators: tuple[str, ...]

    def of(self, annotators: Sequence[int]) -> Consensus:
        """Return the same of annotators in another order."""
        members = self.events.members[[*annotators]]
        names = tuple(self.annotators[k] for k in annotators)
        return replace(self, events=replace(self.events, members=members), annotators=names)

    def __len__(self) -> int:
        """Return how many events there are."""
        return len(self.events)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns of plain values, each with a value for each event; what is undefined is None."""
        events, n = self.events, len(self)
        names: list[list[str]] = [[] for _ in range(n)]
        for name, has in zip(self.annotators, events.members >= 0, strict=True):
            for each in np.flatnonzero(has).tolist():
                names[each].append(name)
        return {
            "file": [self.files[code] for code in events.file.tolist()],
            "class": [self.classes[code] for code in events.label.tolist()],
            "onset": to_seconds(events.onset).tolist(),
            "offset": to_seconds(events.offset).tolist(),
            "confidence": events.confidence.tolist(),
            "onset_spread": [*map(finite, events.onset_spread.tolist())],
            "offset_spread": [*map(finite, events.offset_spread.tolist())],
            "annotators": names,
        }

    def to_pandas(self) -> pd.DataFrame:
        """Return a data frame with a row for each event; what is undefined is missing."""
        import pandas as pd

        columns: dict[str, Any] = self.to_dict()
        for name in ("onset_spread", "offset_spread"):
            columns[name] = pd.array(columns[name], dtype="Float64")
        return pd.DataFrame(columns)


def agreed(
    events: Sequence[Events], has_file: Bools, units: Units, method: str, threshold: float, iou: float
) -> ConsensusEvents:
    """Return the consensus events with the confidence of one of the METHODS.

    events, has_file, iou: as in `consensus_of`. units, threshold: what competence is estimated of. By the
    majority there are the events of more than half of those who labelled the file, all with confidence 1.
    """
    weight = competence_of(units, threshold).competence if method == "competence" else None
    made = consensus_of(events, has_file, weight, iou)
    if method == "dawid-skene":
        answers = answers_of(made, has_file)
        estimate = dawid_skene(answers, int(made.label.max(initial=-1)) + 1)
        return replace(made, confidence=np.clip(estimate.posterior[answers.pattern], 0.0, 1.0))
    if method != "majority":
        return made
    most = made.take(2 * made.annotators > has_file.sum(axis=0)[made.file])
    return replace(most, confidence=np.ones(len(most)))


def consensus_of(
    events: Sequence[Events], has_file: Bools, weight: Floats | None = None, iou: float = SAME_IOU
) -> ConsensusEvents:
    """Return the consensus events of annotators.

    events: of each annotator, without overlap within a class of a file.
    has_file: (n_annotators, n_files), who labelled which. weight: (n_annotators,) not negative, of which the
    confidence is the share; where those who labelled a file weigh 0, and if it is None, they count alike.
    iou: the mean intersection over union from which on events mean the same, in (0, 1].
    """
    start = np.array([np.searchsorted(each.file, np.arange(has_file.shape[1] + 1)) for each in events])

    def of_files(files: slice) -> ConsensusEvents:
        begin, end = start[:, files.start].tolist(), start[:, files.stop].tolist()
        own = [each.take(slice(*ends)) for each, *ends in zip(events, begin, end, strict=True)]
        return _of_files(own, begin, has_file, weight, iou)

    parts = for_each(of_files, portions(start.sum(axis=0), _AT_ONCE), int(start[:, -1].sum()))
    columns = ([getattr(part, each.name) for part in parts] for each in fields(ConsensusEvents))
    return ConsensusEvents(*(np.concatenate(column, axis=-1) for column in columns))


def _of_files(
    events: Sequence[Events], before: Sequence[int], has_file: Bools, weight: Floats | None, iou: float
) -> ConsensusEvents:
    """Return the consensus events of some files; before: how many events each annotator has before these."""
    joint = Events.joined(events)
    sizes = [len(each) for each in events]
    annotator = np.repeat(np.arange(len(events)), sizes)
    position = np.concatenate([k + np.arange(size) for k, size in zip(before, sizes, strict=True)])
    stretches = _Stretches.of(joint)
    clusters = _clusters(stretches, annotator, len(events), iou)
    number = np.cumsum(clusters == np.arange(len(clusters))) - 1
    of_event, n = number[clusters[stretches.number]], int(number.max(initial=-1)) + 1
    members = np.full((len(events), n), -1, dtype=np.int64)
    members[annotator, of_event] = position
    onset, onset_spread = _middle(joint.onset, of_event, n)
    offset, offset_spread = _middle(joint.offset, of_event, n)
    some = np.empty(n, dtype=np.int64)
    some[of_event] = np.arange(len(of_event))
    file, label = joint.file[some], joint.label[some]
    confidence = _share(members >= 0, has_file[:, file], weight)
    ordered = order_of(offset, label, onset, file)
    return ConsensusEvents(
        file[ordered], label[ordered], onset[ordered], offset[ordered], confidence[ordered],
        onset_spread[ordered], offset_spread[ordered], members[:, ordered],
    )  # fmt: skip


def answers_of(events: ConsensusEvents, has_file: Bools) -> Patterns:
    """Return who has each event, of those who labelled its file; has_file: (n_annotators, n_files)."""
    ones = np.ones(len(events))
    return Patterns.of_answers(events.members >= 0, has_file[:, events.file], events.label, ones)


class _Stretches(NamedTuple):
    """The distinct times of events, all files and classes on one line, by onset and offset.

    number: (n_events,) which one each event has. begin, end: (n,) on the line. size: (n,) events that have
    it.
    """

    number: Index
    begin: Ticks
    end: Ticks
    size: Index

    @classmethod
    def of(cls, events: Events) -> _Stretches:
        """Lay events out: each class of a file gets as much of the line as it needs."""
        group = file_class(events, int(events.label.max(initial=0)) + 1)
        group -= group.min(initial=int(group.max(initial=0)))
        longest = np.zeros(int(group.max(initial=-1)) + 1, dtype=np.int64)
        np.maximum.at(longest, group, events.offset)
        base = np.cumsum(longest) - longest
        begin, end = base[group] + events.onset, base[group] + events.offset
        order = order_of(end, begin)
        first = heads(begin[order], end[order]) if len(order) else order
        size = np.diff(first, append=len(order))
        number = np.empty(len(order), dtype=np.int64)
        number[order] = np.repeat(np.arange(len(first)), size)
        return cls(number, begin[order[first]], end[order[first]], size)


def _clusters(stretches: _Stretches, annotator: Index, n_annotators: int, iou: float) -> Index:
    """Return for each stretch the first one of its cluster, (n,)."""
    _, begin, end, size = stretches
    n = len(begin)
    following = np.searchsorted(begin, end, side="left")
    n_pairs = int((following - np.arange(1, n + 1)).sum())
    check_room(_BYTES_PER_PAIR * n_pairs, f"for {n_pairs} pairs of events that overlap", "Are rows repeated?")
    left, right = expand(np.arange(1, n + 1), following)
    share = intersection_over_union(begin[left], end[left], begin[right], end[right])
    total = np.rint(share * _WHOLE).astype(np.int64)
    # Rounding is at most half a part of a mean, and of the share.
    least = round(iou * _WHOLE) - 1
    # Runs of stretches that overlap one another: where all pairs are alike enough, a run is one cluster.
    until = np.maximum.accumulate(end)
    run = np.cumsum(np.append(True, begin[1:] >= until[:-1])[:n]) - 1
    length = np.bincount(run)
    alike = np.bincount(run[left], total >= least, minlength=len(length))
    whole = 2 * alike == length * (length - 1)
    clusters = np.where(whole[run], (np.cumsum(length) - length)[run], np.arange(n))
    if whole.all():
        return clusters
    rest = np.flatnonzero(~whole[run])
    place = np.cumsum(~whole[run]) - 1
    inside = ~whole[run[left]]
    left, right, total = place[left[inside]], place[right[inside]], total[inside]
    event = np.flatnonzero(~whole[run[stretches.number]])
    has = np.zeros((len(rest), n_annotators), dtype=bool)
    has[place[stretches.number[event]], annotator[event]] = True
    pairs = _Pairs(left, right, total * size[rest[left]] * size[rest[right]])
    clusters[rest] = rest[_agglomerated(pairs, size[rest], np.packbits(has, axis=1), least)]
    return clusters


class _Pairs(NamedTuple):
    """Pairs of clusters, each the number of its first stretch, left < right, and the sum of their IoU."""

    left: Index
    right: Index
    total: Index

    def take(self, chosen: Bools | Index) -> _Pairs:
        return _Pairs(self.left[chosen], self.right[chosen], self.total[chosen])


def _agglomerated(pairs: _Pairs, size: Index, who: Array, least: int) -> Index:
    """Return for each stretch the first one of its cluster, (n,).

    pairs: of stretches that overlap. size: (n,) events of each. who: (n, n_bytes), the annotators of each as
    bits. least: the mean from which on clusters become one.
    """
    n, size, who = len(size), size.copy(), who.copy()
    clusters = np.arange(n)
    while True:
        mean = pairs.total / (size[pairs.left] * size[pairs.right])
        near = mean >= least
        # A cluster without a partner will never have one: no mean that it is in can grow.
        partner = np.zeros(n, dtype=bool)
        partner[pairs.left[near]] = partner[pairs.right[near]] = True
        going = partner[pairs.left] & partner[pairs.right]
        pairs, mean, near = pairs.take(going), np.rint(mean[going] / _EQUAL), near[going]
        if not len(mean):
            return clusters
        best = _best(pairs.take(near), mean[near], n)
        size[best.left] += size[best.right]
        who[best.left] |= who[best.right]
        target = np.arange(n)
        target[best.right] = best.left
        clusters = target[clusters]
        pairs = _renamed(pairs, target, who)


def _best(pairs: _Pairs, mean: Floats, n: int) -> _Pairs:
    """Return the pairs of which both clusters have none that goes before; n: how many clusters there are."""
    highest = np.zeros(n)
    np.maximum.at(highest, pairs.left, mean)
    np.maximum.at(highest, pairs.right, mean)
    high = (mean == highest[pairs.left]) | (mean == highest[pairs.right])
    pairs, mean = pairs.take(high), mean[high]
    pairs = pairs.take(np.lexsort((pairs.right, pairs.left, -mean)))
    rank, last = np.arange(len(pairs.left)), len(pairs.left)
    of_left, of_right = np.full((2, n), last)
    # What is written last stays: the first in order.
    of_left[pairs.left[::-1]], of_right[pairs.right[::-1]] = rank[::-1], rank[::-1]
    of_both = np.minimum(of_left, of_right)
    return pairs.take((of_both[pairs.left] == rank) & (of_both[pairs.right] == rank))


def _renamed(pairs: _Pairs, target: Index, who: Array) -> _Pairs:
    """Return the pairs of the clusters that clusters have become; those with an annotator in common go."""
    changed = target != np.arange(len(target))
    changed[target[changed]] = True
    moved = changed[pairs.left] | changed[pairs.right]
    same, pairs = pairs.take(~moved), pairs.take(moved)
    ends = target[pairs.left], target[pairs.right]
    left, right = np.minimum(*ends), np.maximum(*ends)
    apart = np.flatnonzero((left != right) & ~(who[left] & who[right]).any(axis=1))
    apart = apart[np.argsort(left[apart] * len(target) + right[apart], kind="stable")]
    if not len(apart):
        return same
    left, right, total = left[apart], right[apart], pairs.total[apart]
    first = heads(left, right)
    both = _Pairs(left[first], right[first], np.add.reduceat(total, first))
    return _Pairs(*map(np.concatenate, zip(same, both, strict=True)))


def _middle(times: Ticks, cluster: Index, n: int) -> tuple[Ticks, Floats]:
    """Return the median time of each cluster, and in seconds the mean distance from it, NaN of one time.

    times, cluster: (n_events,). The median of an even number is half-way between the two in the middle, cut
    to a whole tick. The mean distance is the same from any time between these two.
    """
    count, scale = np.bincount(cluster, minlength=n), int(times.max(initial=0)) + 1
    first = np.cumsum(count) - count
    if n < (1 << 62) // scale:
        # Plain numbers are sorted in a fraction of the time that places take.
        times = np.sort(cluster * scale + times) - np.repeat(np.arange(n) * scale, count)
    else:
        times = times[np.lexsort((times, cluster))]
    low, high = times[first + (count - 1) // 2], times[first + count // 2]
    rank, many = np.arange(len(times)) - np.repeat(first, count), np.repeat(count, count)
    side = (rank >= (many + 1) // 2).astype(np.int64) - (rank < many // 2)
    distance = np.add.reduceat(side * times, first) if n else count
    spread = np.where(count > 1, to_seconds(distance) / np.maximum(count, 1), np.nan)
    return (low + high) // 2, spread


def _share(has: Bools, given: Bools, weight: Floats | None) -> Floats:
    """Return the share of those who labelled that have it, (n,); has, given: (n_annotators, n)."""
    alike = has.sum(axis=0) / given.sum(axis=0)
    if weight is None:
        return np.asarray(alike)
    part, whole = np.zeros(has.shape[1]), np.zeros(has.shape[1])
    # By weight, so that the sums do not depend on who comes first.
    for each in np.argsort(weight).tolist():
        part += weight[each] * has[each]
        whole += weight[each] * given[each]
    return np.asarray(np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), alike))
