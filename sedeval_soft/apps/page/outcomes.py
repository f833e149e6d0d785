"""The outcome of each hard event and segment: hit, missed, or a false alarm.

Outcomes are computed as the counts of the hard reading are: the page shows outcomes that add up to these.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sedeval_soft.arrays import Index
from sedeval_soft.evaluation import not_ignored
from sedeval_soft.measures import match_events, pair_rule
from sedeval_soft.settings import Settings
from sedeval_soft.timeline import (
    Events,
    Recordings,
    covered,
    detected,
    grid_of,
    hard_events,
    pool_rows,
    positive,
    rowwise_events,
)

MISS, FALSE_ALARM, HIT = 1, 2, 3
"""Outcomes of a segment: whether the reference is active, and twice whether the system is."""


@dataclass(frozen=True, slots=True)
class EventOutcomes:
    """The hard events of either side, and who is matched with whom.

    reference_partner, system_partner: (n,) the position of the partner on the other side, -1 for none: a
    miss, or a false alarm.
    """

    reference: Events
    system: Events
    reference_partner: Index
    system_partner: Index


@dataclass(frozen=True, slots=True)
class SegmentOutcomes:
    """Runs of segments of one file and class with one outcome, sorted by file, class and time.

    file, label: (n,) codes. first: (n,) the first segment, of its file. count: (n,) the number of segments.
    outcome: (n,) `MISS`, `FALSE_ALARM` or `HIT`; no run if neither side is active.
    """

    file: Index
    label: Index
    first: Index
    count: Index
    outcome: Index


def event_outcomes(pair: Recordings, settings: Settings) -> EventOutcomes:
    """Match the hard events of a pair as the event-based scores do; what these leave out is left out."""
    reference, system = hard_events(pair)
    n_classes = len(pair.classes)
    system = not_ignored(pair, reference, system, pair_rule(settings))
    sides = reference, system
    if settings.compat == "sed_eval":
        from sedeval_soft.measures import match_by_sed_eval

        partner = match_by_sed_eval(*sides, n_classes, settings)
    else:
        partner = match_events(*sides, n_classes, pair_rule(settings), settings.matching)
    back = np.full(len(system), -1, dtype=np.int64)
    hit = np.flatnonzero(partner >= 0)
    back[partner[hit]] = hit
    return EventOutcomes(reference, system, partner, back)


def segment_outcomes(pair: Recordings, settings: Settings) -> SegmentOutcomes:
    """Compare the segments of a pair as the hard segment-based scores do."""
    if settings.compat == "sed_eval":
        from sedeval_soft.measures import grid_start, runs_on_roll

        start = grid_start(pair.reach, settings.segment_length)
        shape, sides = (len(pair.classes), int(start[-1])), []
        for events in rowwise_events(pair):
            runs = runs_on_roll(events, start, settings.segment_length)
            first, last = (runs.file * shape[1] + at for at in (runs.begin, runs.end))
            sides.append(covered(shape[0] * shape[1], first, last).reshape(shape) > 0)
        place = np.concatenate([np.zeros(0, dtype=np.int64), *map(np.arange, np.diff(start))])
    else:
        grid = grid_of(pair)
        grid.check_size(len(pair.classes), means=settings.pool == "mean")
        start, place = grid.start, grid.place(np.arange(grid.size))
        y, p = (pool_rows(rows, grid, settings.pool) for rows in (pair.reference, pair.system))
        sides = [positive(y, settings), detected(p, settings)]
    outcome = sides[0] * np.uint8(MISS) + sides[1] * np.uint8(FALSE_ALARM)
    # Equal outcomes of one file and class that follow one another are joined.
    changes = np.ones(outcome.shape, dtype=bool)
    changes[:, 1:] = (outcome[:, 1:] != outcome[:, :-1]) | (np.diff(place) != 1)
    head = np.flatnonzero(changes)
    count, values = np.diff(head, append=outcome.size), outcome.reshape(-1)[head].astype(np.int64)
    label, cell = np.divmod(head, max(outcome.shape[1], 1))
    file = np.searchsorted(start, cell, side="right") - 1
    order = np.lexsort((cell, label, file))
    order = order[values[order] > 0]
    file, label, cell, count, values = (column[order] for column in (file, label, cell, count, values))
    return SegmentOutcomes(file, label, place[cell], count, values)
