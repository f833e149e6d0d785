"""Median filtering of a table's values over time, class by class.

A filter of an odd number of time steps replaces each value by the median of those around it; beyond
a file's ends values are 0. Cut at any threshold, the result is the median filter of what was cut. It is
the median over a sliding window of time, too, as sed_scores_eval's: both change at time steps only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sedeval_soft.errors import EvaluationError
from sedeval_soft.names import did_you_mean
from sedeval_soft.settings import POSTPROCESSING, Settings
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.ticks import TICKS_PER_SECOND, Ticks, tick, to_seconds, to_ticks
from sedeval_soft.timeline.events import Activity, activities
from sedeval_soft.timeline.grid import Grid, maxima
from sedeval_soft.timeline.lifetimes import EventLifetimes, level_runs
from sedeval_soft.timeline.ranges import expand, range_maximum

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

_SHORTEST = TICKS_PER_SECOND // 1000
"""Ticks of the shortest time step that is read off whole times."""

_SLACK = 1.5
"""Ticks that a time may lie off its multiple of a time step which is no whole number of ticks."""


def median_filtered(rows: EventTable, seconds: Sequence[float]) -> EventTable:
    """Filter each class over about so many seconds: the nearest odd number of the table's time steps.

    seconds: one for each class of `rows`, 0 to leave its values as they are. Returns one row per time step.
    Raises EvaluationError where times keep no fixed step.
    """
    onset, offset = to_ticks(rows.onset), to_ticks(rows.offset)
    step = time_step(rows)
    first, last = (np.rint(times / step).astype(np.int64) for times in (onset, offset))
    n_frames = np.zeros(len(rows.files), dtype=np.int64)
    np.maximum.at(n_frames, rows.file, last)
    Grid.over(n_frames * round(step), max(1, round(step))).check_size(len(rows.classes))
    windows = [odd_steps(length, step) for length in seconds]
    # Silence between files as wide as half the longest window keeps them apart.
    start = np.concatenate(([0], np.cumsum(n_frames + max(windows, default=1) // 2)))
    file, inside = expand(np.zeros(len(n_frames), dtype=np.int64), n_frames)
    place = inside + start[file]
    first, last = first + start[rows.file], last + start[rows.file]
    tracks = maxima(rows, first, last, int(start[-1]))
    values = [_median(track, window)[place] for track, window in zip(tracks, windows, strict=True)]
    begin, end = (np.rint(index * step) / TICKS_PER_SECOND for index in (inside, inside + 1))
    return EventTable.wide(
        rows.files, rows.classes, file.astype(np.int32), begin, end, tuple(values), rows.origin
    )


def odd_steps(seconds: float, step: float) -> int:
    """Return the odd number of time steps (in ticks) nearest to a length, at least 1; of two the larger."""
    return 1 + 2 * int(seconds * TICKS_PER_SECOND / (2 * step))


@dataclass(frozen=True, slots=True)
class TimeGrid:
    """What rows tell of their time step.

    times: (n,) all ticks at which they begin or end, ascending and distinct. shortest: ticks of the shortest
    row that lasts; the most that there is where none does.
    """

    times: Ticks
    shortest: int

    @classmethod
    def of(cls, onset: Ticks, offset: Ticks) -> TimeGrid:
        """Return what rows tell, (n,) each."""
        lengths = offset - onset
        shortest = int(lengths[lengths > 0].min(initial=np.iinfo(np.int64).max))
        return cls(np.unique(np.concatenate((onset, offset))), shortest)

    @classmethod
    def merge(cls, parts: Sequence[TimeGrid]) -> TimeGrid:
        """Return what the rows of all parts tell together."""
        times = np.unique(np.concatenate([part.times for part in parts]))
        return cls(times, min(part.shortest for part in parts))

    def step(self, name: str) -> float:
        """Return the time step in ticks, as `time_step` does."""
        divisor = int(np.gcd.reduce(self.times)) if len(self.times) else _SHORTEST
        return float(divisor or _SHORTEST) if divisor >= _SHORTEST or not divisor else self._uneven(name)

    def _uneven(self, name: str) -> float:
        """Return a step that is no whole number of ticks."""
        times, step = self.times, float(self.shortest)
        # Longer and longer times tell the step more and more exactly.
        horizon = step
        while horizon < times[-1]:
            horizon *= 4
            longest = float(times[np.searchsorted(times, horizon, side="right") - 1])
            if longest > 0:
                step = longest / max(1.0, round(longest / step))
        if step < _SHORTEST or np.abs(times - np.rint(times / step) * step).max() > _SLACK:
            raise EvaluationError(
                f"{name}: a median filter needs rows on a fixed time step of a millisecond or more; its "
                "times have none"
            )
        return step


def time_step(rows: EventTable) -> float:
    """Return the length in ticks of the steps that all times are multiples of, to the rounding of ticks.

    Where rows are some of a table, it is the step of all of them. Raises EvaluationError, naming the table,
    where there is none of a millisecond or more.
    """
    if rows.classes in rows.origin.steps:
        return rows.origin.steps[rows.classes]
    onset, offset = to_ticks(rows.onset), to_ticks(rows.offset)
    divisor = int(np.gcd.reduce(np.concatenate((onset, offset)))) if len(rows) else 0
    return float(divisor) if divisor >= _SHORTEST else TimeGrid.of(onset, offset).step(rows.origin.name)


def _median(values: Floats, window: int) -> Floats:
    if window <= 1:
        return values
    from scipy.ndimage import median_filter

    filtered: Floats = median_filter(values, size=window, mode="constant", cval=0.0)
    return filtered


# Post-processing of activity: short gaps closed, short events dropped, for all thresholds at once.
#
# Both are flat morphology (a closing and an opening by length), which commutes with cutting: whatever
# the threshold, the events of the result are the events of the input at that threshold after the
# same operation on them.


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


# What is done to a system's output before it is scored: median filter, then gaps, then durations.


def postprocessed(rows: EventTable, settings: Settings) -> EventTable:
    """Return the rows after the post-processing that the settings ask for, as they are if none.

    Raises EvaluationError where a median filter finds no fixed time step.
    """
    median, gap, duration = (settings.of_classes(name, rows.classes) for name in POSTPROCESSING)
    if any(median):
        rows = median_filtered(rows, median)
    if not (any(gap) or any(duration)):
        return rows
    parts = []
    for label, activity in enumerate(activities(rows)):
        joined = closed(activity, tick(gap[label])) if gap[label] else activity
        parts.append(opened(joined, tick(duration[label])) if duration[label] else joined)
    columns = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("file", "label", "onset", "offset", "value")
    }
    onset, offset = to_seconds(columns["onset"]), to_seconds(columns["offset"])
    names = rows.files, rows.classes
    return EventTable.long(
        *names, columns["file"], columns["label"], onset, offset, columns["value"], rows.origin
    )


def strangers(settings: Settings, classes: tuple[str, ...]) -> list[str]:
    """Return a warning for each class that only class-wise lengths or thresholds name."""
    found = []
    for name in (*POSTPROCESSING, "thresholds"):
        value = getattr(settings, name)
        for label in value if isinstance(value, dict) else ():
            if label not in classes:
                hint = did_you_mean(label, classes)
                found.append(f"{name} is set for {label!r}, which is no evaluated class{hint}")
    return found
