"""What becomes of each hard event, and of each segment: hit, missed, or a false alarm.

Found anew as the counts of the hard reading are, so that what is shown adds up to them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sedeval_soft.measures import sed_eval_rules
from sedeval_soft.measures.event import Collars, match_events
from sedeval_soft.measures.segment import Runs
from sedeval_soft.settings import Settings
from sedeval_soft.timeline.events import Events
from sedeval_soft.timeline.grid import Grid, pool_rows
from sedeval_soft.timeline.ranges import covered
from sedeval_soft.timeline.recordings import Recordings, detected, hard_events, positive, rowwise_events

Index = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

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

    file, label: (n,) codes. first: (n,) the first segment, of its file. count: (n,) how many. outcome: (n,)
    `MISS`, `FALSE_ALARM` or `HIT`; where neither side is active there is no run. n_segments: (n_files,).
    """

    file: Index
    label: Index
    first: Index
    count: Index
    outcome: Index
    n_segments: Index


def event_outcomes(pair: Recordings, settings: Settings) -> EventOutcomes:
    """Match the hard events of a pair as the event-based scores do."""
    reference, system = hard_events(pair, settings)
    if settings.compat == "sed_eval":
        collars = sed_eval_rules.collars_of(settings)
        partner = sed_eval_rules.match_events(
            reference, system, len(pair.classes), collars, settings.matching
        )
    else:
        ours = Collars.of(settings)
        partner = match_events(reference, system, len(pair.classes), ours, settings.matching)
    back = np.full(len(system), -1, dtype=np.int64)
    hit = np.flatnonzero(partner >= 0)
    back[partner[hit]] = hit
    return EventOutcomes(reference, system, partner, back)


def segment_outcomes(pair: Recordings, settings: Settings) -> SegmentOutcomes:
    """Compare the segments of a pair as the hard segment-based scores do."""
    if settings.compat == "sed_eval":
        start = sed_eval_rules.grid_start(pair.reach, settings.segment_length)
        sides = [
            _unrolled(
                sed_eval_rules.runs_on_roll(events, start, settings.segment_length), len(pair.classes), start
            )
            for events in rowwise_events(pair, settings)
        ]
    else:
        grid = Grid.over(pair.reach_ticks, settings.segment_ticks, pair.length_ticks)
        grid.check_size(len(pair.classes), means=settings.pool == "mean")
        start = grid.start
        values = [pool_rows(rows, grid, settings.pool) for rows in (pair.reference, pair.system)]
        sides = [positive(values[0], settings), detected(values[1], settings)]
    return _runs_of(sides[0] * np.uint8(MISS) + sides[1] * np.uint8(FALSE_ALARM), start)


def _unrolled(runs: Runs, n_classes: int, start: Index) -> Bools:
    """Return which segments are active, (n_classes, n_segments)."""
    size = int(start[-1])
    cells = covered(n_classes * size, runs.label * size + runs.first, runs.label * size + runs.last)
    return cells.reshape(n_classes, size) > 0


def _runs_of(outcome: npt.NDArray[np.uint8], start: Index) -> SegmentOutcomes:
    """Join equal outcomes, (n_classes, n_segments), of one file and class that follow one another."""
    changes = np.ones(outcome.shape, dtype=bool)
    changes[:, 1:] = outcome[:, 1:] != outcome[:, :-1]
    begins = start[:-1][np.diff(start) > 0]
    changes[:, begins] = True
    place = np.flatnonzero(changes)
    count = np.diff(place, append=outcome.size)
    kept = np.flatnonzero(outcome.reshape(-1)[place])
    place, count = place[kept], count[kept]
    label, cell = np.divmod(place, max(outcome.shape[1], 1))
    file = np.searchsorted(start, cell, side="right") - 1
    order = np.lexsort((cell, label, file))
    label, cell, file = label[order], cell[order], file[order]
    values = outcome.reshape(-1)[place[order]].astype(np.int64)
    return SegmentOutcomes(file, label, cell - start[file], count[order], values, np.diff(start))
