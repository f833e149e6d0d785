"""Post-processing of activity: short gaps closed, short events dropped, for all thresholds at once.

Both are flat morphology (a closing and an opening by length), which commutes with cutting: whatever
the threshold, the events of the result are the events of the input at that threshold after the
same operation on them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sedeval_soft.core.activity import Activity
from sedeval_soft.core.lifetimes import EventLifetimes, level_runs
from sedeval_soft.core.ranges import range_maximum


def closed(activity: Activity, min_gap: int) -> Activity:
    """Fill gaps shorter than `min_gap` ticks between events of one file and class, at every level.

    What lies before the first event or after the last one of a file is no gap.
    """
    n = len(activity.onset)
    if not n or min_gap <= 0:
        return activity
    group = np.concatenate(([True], ~activity.goes_on(), [True]))
    silent = ~group[1:n] & (activity.onset[1:] != activity.offset[:-1])
    # Slots: a wall before each group and at the end, pieces, silences between pieces as pieces of value 0.
    before = group.astype(np.int64)
    before[1:n] += silent
    place = np.arange(n) + np.cumsum(before)[:n]
    size = n + int(before.sum())
    value = np.full(size, np.inf)
    onset, offset = np.zeros((2, size), dtype=np.int64)
    value[place], onset[place], offset[place] = activity.value, activity.onset, activity.offset
    hole = place[1:][silent] - 1
    value[hole], onset[hole], offset[hole] = 0.0, activity.offset[:-1][silent], activity.onset[1:][silent]
    slot, left, right = level_runs(-value)
    edge = np.minimum(value[left], value[right])
    between = np.isfinite(value[left]) & np.isfinite(value[right]) & np.isfinite(value[slot])
    short = between & (offset[right - 1] - onset[left + 1] < min_gap)
    filled = range_maximum(size, left[short] + 1, right[short], edge[short])
    inside = np.isfinite(value)
    value[inside] = np.maximum(value[inside], filled[inside])
    kept = np.flatnonzero(inside & (value > 0))
    # A silence takes file and class from the piece after it.
    source = np.minimum(np.searchsorted(place, kept), n - 1)
    return Activity(activity.file[source], activity.label[source], onset[kept], offset[kept], value[kept])


def opened(activity: Activity, min_duration: int) -> Activity:
    """Drop events shorter than `min_duration` ticks, at every level."""
    if not len(activity.onset) or min_duration <= 0:
        return activity
    activity = activity.sounding()
    lifetimes, first, last = EventLifetimes.with_pieces(activity)
    long = lifetimes.offset - lifetimes.onset >= min_duration
    value = range_maximum(len(activity.onset), first[long], last[long] + 1, lifetimes.dies[long])
    return replace(activity, value=value).sounding()
