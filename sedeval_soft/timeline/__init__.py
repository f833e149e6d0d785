"""From tables to recordings: times in ticks, activity, segments, events and their lifetimes."""

from typing import TYPE_CHECKING

from sedeval_soft.faces import face

if TYPE_CHECKING:
    from sedeval_soft.arrays import TooManyOverlapsError, check_pairs, covered, expand, numbered
    from sedeval_soft.timeline.events import Activity, Events, Timed, active, activities, events_of
    from sedeval_soft.timeline.grid import Grid, pool_rows, rows_of
    from sedeval_soft.timeline.recordings import (
        Recordings,
        align,
        clip_values,
        detected,
        grid_of,
        hard_events,
        merges,
        positive,
        rowwise_events,
        with_unknown,
    )
    from sedeval_soft.timeline.regions import Regions

__getattr__ = face(__name__)
