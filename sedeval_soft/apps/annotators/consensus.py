"""Consensus events: clusters of several annotators' events that mean the same.

Two annotators' events of one class in one file may mean the same if their intersection over union (IoU) is
high. A cluster has at most one event of each annotator. Clusters are made by agglomeration with average
linkage (UPGMA, Sokal & Michener 1958). At first each event is a cluster of its own. In each step, two
clusters without a common annotator become one. These two have the highest mean IoU, over all pairs of an
event of one and an event of the other; the mean must reach a given share. For equal means, the pair with the
earliest event goes first. So clusters depend on times only: not on the order of annotators, files or rows.

This greedy order aims at a high sum of (IoU - share) over all pairs within clusters. The highest one, which
is how Mathet, Widlocher & Metivier (2015) align the units of annotators, is a multidimensional assignment,
for which no fast way is known. For two annotators and a share of 1/2 or more clusters are the optimal
assignment: events of one annotator do not overlap, so none has two partners above 1/2 (Kirillov et al. 2019).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

import numpy as np

from sedeval_soft.apps.annotators.models import Patterns, competence_of, dawid_skene
from sedeval_soft.apps.annotators.units import Units
from sedeval_soft.arrays import Bools, Codes, Floats, Index, order_of
from sedeval_soft.evaluation import finite
from sedeval_soft.measures import file_class, intersection_over_union
from sedeval_soft.memory import check_room
from sedeval_soft.tables import EventTable, Origin, Ticks, to_seconds
from sedeval_soft.timeline import Events, expand

if TYPE_CHECKING:
    import pandas as pd


from itertools import combinations
from typing import NamedTuple

METHODS = {
    "mean": "share of those who labelled",
    "competence": "share of those who labelled, weighted by competence",
    "dawid-skene": "probability by Dawid & Skene's model",
    "majority": "those of the majority of those who labelled",
}
"""The value of a consensus event, by the method of the reference."""

SAME_IOU = 0.3
"""The mean IoU from which on events mean the same: what challenges of bioacoustics ask of a detection."""

_WHOLE = 1 << 30
"""IoU are whole numbers of this part of 1, so that their sums have no order; a billionth more or less."""

_EQUAL = 1 << 10
"""Means that differ by less than about this many parts, a millionth, are equal but for rounding."""

_BYTES_PER_PAIR = 72


@dataclass(frozen=True, slots=True)
class ConsensusEvents:
    """Events that one annotator or more have, by file, onset and class.

    - file, label: (n,) codes. onset, offset: (n,) ticks, medians of the annotators'.
    - confidence: (n,) in [0, 1], the share of the annotators of the file who have the event.
    - onset_spread, offset_spread: (n,) seconds, the mean distance of the annotators' onsets and offsets from
      their median; NaN for an event of one annotator.
    - members: (n_annotators, n), the positions of each annotator's event in the given events, -1 for none.
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
        """The number of annotators with each event, (n,)."""
        number: Index = (self.members >= 0).sum(axis=0)
        return number

    def take(self, chosen: Bools | Index) -> ConsensusEvents:
        """Return the events of a mask, or at some positions."""
        return ConsensusEvents(*(getattr(self, each.name)[..., chosen] for each in fields(self)))

    def rows(self, files: tuple[str, ...], classes: tuple[str, ...], name: str) -> EventTable:
        """Return the events as rows of a table whose values are their confidence."""
        times = to_seconds(self.onset), to_seconds(self.offset)
        return EventTable(files, classes, self.file, *times, (self.confidence,), Origin(name), self.label)


@dataclass(frozen=True, slots=True)
class Consensus:
    """Consensus events with the names of their files, classes and annotators.

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
        """Return columns of plain values, each with a value for each event; undefined values are None."""
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
        """Return a data frame with a row for each event; undefined values are missing."""
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

    - events: of each annotator, in order, without overlap within a class of a file.
    - has_file: (n_annotators, n_files), which annotator labelled which file.
    - weight: (n_annotators,) not negative; the confidence is a share of it. Annotators count alike if it is
      None, or if all annotators of the file weigh 0.
    - iou: the least mean intersection over union of events that mean the same, in (0, 1].
    """
    joint, sizes = Events.joined(events), [*map(len, events)]
    annotator = np.repeat(np.arange(len(events)), sizes)
    position = np.concatenate([np.arange(size) for size in sizes])
    order = order_of(joint.offset, joint.onset, joint.label, joint.file)
    joint, annotator, position = joint.take(order), annotator[order], position[order]
    clusters = _clusters(joint, annotator, iou)
    some, of_event = np.unique(clusters, return_inverse=True)
    members = np.full((len(events), len(some)), -1, dtype=np.int64)
    members[annotator, of_event] = position
    onset, onset_spread = _middle(joint.onset, of_event, len(some))
    offset, offset_spread = _middle(joint.offset, of_event, len(some))
    file, label = joint.file[some], joint.label[some]
    confidence = _share(members >= 0, has_file[:, file], weight)
    made = ConsensusEvents(file, label, onset, offset, confidence, onset_spread, offset_spread, members)
    return made.take(order_of(offset, label, onset, file))


def answers_of(events: ConsensusEvents, has_file: Bools) -> Patterns:
    """Return who has each event, of those who labelled its file; has_file: (n_annotators, n_files)."""
    ones = np.ones(len(events))
    return Patterns.of_answers(events.members >= 0, has_file[:, events.file], events.label, ones)


def _clusters(events: Events, annotator: Index, iou: float) -> Index:
    """Return for each event the first one of its cluster, (n,).

    events: of all annotators, by file, class, onset and offset; annotator: (n,) whose each is.
    """
    # All files and classes on one line, each class of a file with as much of it as the longest needs.
    group = file_class(events, int(events.label.max(initial=0)) + 1)
    base = np.unique(group, return_inverse=True)[1] * (int(events.offset.max(initial=0)) + 1)
    begin, end = base + events.onset, base + events.offset
    n = len(begin)
    following = np.searchsorted(begin, end, side="left")
    n_pairs = int((following - np.arange(1, n + 1)).sum())
    check_room(_BYTES_PER_PAIR * n_pairs, f"for {n_pairs} pairs of events that overlap", "Are rows repeated?")
    left, right = expand(np.arange(1, n + 1), following)
    share = intersection_over_union(begin[left], end[left], begin[right], end[right])
    total = np.rint(share * _WHOLE).astype(np.int64)
    # Rounding is at most half a part of a mean, and of the share.
    least = round(iou * _WHOLE) - 1
    # Runs of events that overlap one another: where all pairs are alike enough, a run is one cluster.
    run = np.cumsum(np.append(True, begin[1:] >= np.maximum.accumulate(end)[:-1])[:n]) - 1
    length = np.bincount(run)
    alike = np.bincount(run[left], total >= least, minlength=len(length))
    whole = 2 * alike == length * (length - 1)
    others = ~whole[run[left]]
    pairs = zip(*(each[others].tolist() for each in (left, right, total)), strict=True)
    clusters = _agglomerated(pairs, [1 << who for who in annotator.tolist()], least)
    return np.where(whole[run], (np.cumsum(length) - length)[run], np.array(clusters, dtype=np.int64))


def _agglomerated(pairs: Iterable[tuple[int, int, int]], who: list[int], least: int) -> list[int]:
    """Return for each event the first one of its cluster.

    pairs: of events that overlap, the earlier one first, and their IoU. who: the annotator of each event,
    then the annotators of each cluster, as bits. least: the least mean IoU at which two clusters become one.
    """
    size, clusters = [1] * len(who), [*range(len(who))]
    near: list[dict[int, int]] = [{} for _ in who]
    heap = list[tuple[int, int, int, int, int]]()

    def consider(one: int, other: int) -> None:
        mean = near[one][other] / (size[one] * size[other])
        if mean >= least and not who[one] & who[other]:
            heappush(heap, (-round(mean / _EQUAL), one, other, size[one], size[other]))

    for one, other, shared in pairs:
        near[one][other] = near[other][one] = shared
        consider(one, other)
    while heap:
        _, one, other, *sizes = heappop(heap)
        if sizes != [size[one], size[other]]:
            continue  # One of them has grown, or is part of another.
        clusters[other] = one
        size[one], size[other], who[one] = sum(sizes), 0, who[one] | who[other]
        del near[one][other], near[other][one]
        for third, total in near[other].items():
            del near[third][other]
            near[one][third] = near[third][one] = near[one].get(third, 0) + total
        for third in near[one]:
            consider(min(one, third), max(one, third))
    for each, first in enumerate(clusters):
        clusters[each] = clusters[first]
    return clusters


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


FEWEST = 10
"""The fewest events that two annotators must share for a comparison of their boundaries."""

_SMALL = 1e-3
"""The part of the largest variance of a pair below which others do not count for more."""

_WITHIN, _DEVIATIONS = 0.8, 1.2815515655446004
"""The share of a normal variable's values within so many standard deviations of its median."""


class Boundaries(NamedTuple):
    """An annotator's boundaries, in seconds; a negative bias is early.

    events: how many events the annotator shares with others. Biases are against the mean annotator, jitters
    standard deviations; None where events in common are too few, or annotators fewer than three.
    """

    annotator: str
    events: int
    onset_bias: float | None
    onset_jitter: float | None
    offset_bias: float | None
    offset_jitter: float | None


def boundaries_of(
    annotators: Sequence[str], events: Sequence[Events], consensus: ConsensusEvents
) -> tuple[Boundaries, ...]:
    """Return the boundaries of each annotator; events: of each, as clustered in the consensus."""
    members = consensus.members
    shared = (members >= 0) & (consensus.annotators > 1)
    columns = []
    for side in ("onset", "offset"):
        times = np.full(members.shape, np.nan)
        for of_one, has, own, member in zip(times, shared, events, members, strict=True):
            of_one[has] = to_seconds(getattr(own, side)[member[has]])
        columns += [*bias_and_jitter(times)]
    rows = zip(*([*map(finite, each.tolist())] for each in columns), strict=True)
    number = shared.sum(axis=1).tolist()
    return tuple(Boundaries(name, n, *row) for name, n, row in zip(annotators, number, rows, strict=True))


def bias_and_jitter(times: Floats) -> tuple[Floats, Floats]:
    """Return biases and standard deviations of annotators, (n_annotators,), NaN where not determined.

    times: (n_annotators, n_events), NaN where an annotator has no such event.
    """
    n = len(times)
    less, more, weight, middle, variance = [], [], [], [], []
    for a, b in combinations(range(n), 2):
        difference = times[a] - times[b]
        difference = difference[~np.isnan(difference)]
        if len(difference) < FEWEST:
            continue
        centre = float(np.median(difference))
        less.append(b)
        more.append(a)
        weight.append(len(difference))
        middle.append(centre)
        variance.append(float(np.quantile(np.abs(difference - centre), _WITHIN) / _DEVIATIONS) ** 2)
    bias, jitter = np.full((2, n), np.nan)
    if not weight:
        return bias, jitter
    rows, root, squares = np.arange(len(weight)), np.sqrt(weight), np.array(variance)
    # The error of a variance is as large as it is itself: small ones are known better.
    sharp = root / np.maximum(squares, _SMALL * max(squares.max(), _SMALL))
    apart, both = np.zeros((2, len(weight), n))
    apart[rows, more], apart[rows, less] = 1.0, -1.0
    both[rows, more] = both[rows, less] = 1.0
    if np.linalg.matrix_rank(apart) == n - 1:
        # The shortest of all solutions is the one whose sum is 0.
        bias = np.linalg.lstsq(root[:, None] * apart, root * middle, rcond=None)[0]
        bias = bias - bias.mean()
    if np.linalg.matrix_rank(both) == n:
        from scipy.optimize import nnls

        jitter = np.sqrt(nnls(sharp[:, None] * both, sharp * squares)[0])
    return bias, jitter
