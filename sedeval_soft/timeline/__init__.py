"""From tables to recordings: times in ticks, activity, segments, events and their lifetimes."""

from typing import TYPE_CHECKING

from sedeval_soft.faces import face

if TYPE_CHECKING:
    from sedeval_soft.timeline.events import Activity, Events, Timed, events_of
    from sedeval_soft.timeline.grid import Grid, pool_rows
    from sedeval_soft.timeline.ranges import expand, numbered
    from sedeval_soft.timeline.recordings import align, merges

__all__ = [
    "Activity",
    "Events",
    "Grid",
    "Timed",
    "align",
    "events_of",
    "expand",
    "merges",
    "numbered",
    "pool_rows",
]

__getattr__ = face(
    __name__,
    {
        "events": "Activity Events Timed events_of",
        "grid": "Grid pool_rows",
        "ranges": "expand numbered",
        "recordings": "align merges",
    },
)
