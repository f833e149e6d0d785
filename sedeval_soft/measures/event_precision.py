"""Average precision of events as in object detection: ranked by value, matched by overlap in time.

Of a table whose touching rows are one event, the detections are the events at the threshold, each with the
highest value in it; otherwise every row with a value above 0 is one, whatever the threshold. A detection
takes the reference event of its file and class that is still free and overlaps it most, detections with
higher values first. Sources: Everingham et al. 2010; Lin et al. 2014 (COCO).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sedeval_soft.arrays import Bools, Floats, Index
from sedeval_soft.measures.base import Table, averaged
from sedeval_soft.measures.curve_scores import CurveCounts
from sedeval_soft.measures.event import file_class
from sedeval_soft.measures.file_sums import counted_together, of_each
from sedeval_soft.measures.intersections import overlapping
from sedeval_soft.measures.matching import first_free_matching
from sedeval_soft.measures.pairs import intersection_over_union
from sedeval_soft.sorting import in_order
from sedeval_soft.threads import for_each
from sedeval_soft.timeline.events import EventLifetimes, Events

COCO = tuple((50 + 5 * k) / 100 for k in range(10))
"""The overlaps over which COCO takes the mean."""

NAMES = ("average_precision", "average_precision_voc", "average_precision_coco101")
"""What is had at the overlap that a match must reach; of the last one COCO takes the mean."""

_MOST_PAIRS, _MANY = 4_000_000, 64
"""Pairs of events that overlap beyond which nothing is begun, if they are so many for each detection."""


@dataclass(frozen=True, slots=True)
class Detections:
    """Events with values, those of each class in descending order of value; value: (n,)."""

    events: Events
    value: Floats

    @classmethod
    def of(cls, system: EventLifetimes, threshold: float, inclusive: bool) -> Detections:
        """Rank the detections of a system; equal values by file, onset and offset."""
        found, value = system.take(system.dies > 0), system.dies[system.dies > 0]
        if system.nested:
            above = system.take(system.dies >= threshold if inclusive else system.dies > threshold)
            whole = above.alive(threshold, inclusive)
            # Whatever lasts to a level above the threshold lies in one event at it, and begins there or
            # later: the value is the highest in it.
            order = np.lexsort((~whole, above.onset, above.label, above.file))
            found, value = above.take(order[whole[order]]), np.zeros(int(whole.sum()))
            inner, head = above.take(order), np.cumsum(whole[order]) - 1
            # Those whose event at the threshold begins outside of the evaluated regions are left out.
            own = (head >= 0) & (inner.offset <= found.offset[head]) if len(found) else head >= 0
            for codes, theirs in ((inner.file, found.file), (inner.label, found.label)):
                own &= codes == theirs[head] if len(found) else False
            np.maximum.at(value, head[own], inner.dies[own])
        order = np.lexsort((found.offset, found.onset, found.file, -value, found.label))
        return cls(found.take(order).events(), value[order])


def weighted_precisions(
    reference: Events, detections: Detections, owner: Index, n_classes: int, iou: float
) -> Callable[[Floats], Table]:
    """Return what gives the average precisions of events of weighted files.

    owner: (n_files,) numbers from 0; weights are of owners. iou: the overlap that a match must reach. Whether
    a detection finds an event depends on its own file alone.
    """
    found, n_owners = detections.events, int(owner.max(initial=0)) + 1
    n_ref = np.zeros((n_owners, n_classes), dtype=np.int64)
    np.add.at(n_ref, (owner[reference.file], reference.label), 1)
    bounds = np.searchsorted(found.label, np.arange(n_classes + 1))
    groups = counted_together(np.diff(bounds), int(np.diff(bounds).max(initial=0)), n_owners)
    curves = []
    for hits in _hits(reference, detections, n_classes, (iou, *COCO)):
        for some in groups:
            own = slice(bounds[some.start], bounds[some.stop])
            own = own.start + in_order(detections.value[own])[1][::-1]
            of = (found.label[own] - some.start) * n_owners + owner[found.file[own]]
            total = n_ref[:, some].T.reshape(-1)
            curve = CurveCounts.of(detections.value[own], hits[own], of, len(total), n_ref=total)
            curves.append(of_each(curve.scores, some.stop - some.start))

    def table(weights: Floats) -> Table:
        size = len(found) * (1 + len(COCO)) * len(weights)
        columns = for_each(lambda curve: curve(weights), curves, size)
        shape, total = (1 + len(COCO), n_classes, len(weights)), weights @ n_ref
        values = {name: np.reshape([row for own in columns for row in own[name]], shape) for name in NAMES}
        scores = {name: values[name][0] for name in NAMES}
        scores["average_precision_coco"] = values[NAMES[-1]][1:].mean(axis=0)
        return {name: averaged(of_classes.T, None, total) for name, of_classes in scores.items()}

    return table


def _hits(
    reference: Events, detections: Detections, n_classes: int, overlaps: Sequence[float]
) -> list[Bools]:
    """Return for each overlap which detections find a reference event."""
    found = detections.events
    groups = file_class(reference, n_classes), file_class(found, n_classes)
    right, left = overlapping(reference, found, *groups, max(_MOST_PAIRS, _MANY * len(found)))
    overlap = intersection_over_union(
        reference.onset[right], reference.offset[right], found.onset[left], found.offset[left]
    )
    hits = []
    for wanted in overlaps:
        enough = overlap >= wanted
        pairs = left[enough], right[enough], len(found), len(reference)
        hits.append(first_free_matching(*pairs, merit=overlap[enough]) >= 0)
    return hits
