"""Post-processing of a system's output before scoring: median filter, then gaps, then durations.

All three are flat morphology, which commutes with thresholds: the events of the result at any threshold are
the events of the input at that threshold after the same operation. So each is done once for all thresholds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sedeval_soft.arrays import expand, range_maximum
from sedeval_soft.errors import EvaluationError
from sedeval_soft.settings import POSTPROCESSING, Settings
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.ticks import TICKS_PER_SECOND, Ticks, tick, to_seconds, to_ticks
from sedeval_soft.timeline.events import SILENCE, Activity, activities, level_runs
from sedeval_soft.timeline.grid import Grid, maxima

_SHORTEST = TICKS_PER_SECOND // 1000  # ticks of the shortest time step that is read off whole times

_SLACK = 1.5  # ticks that a time may lie off its multiple of a time step which is no whole number of ticks


def postprocessed(rows: EventTable, settings: Settings) -> EventTable:
    """Return the rows after the post-processing that the settings ask for, as they are if none.

    Raises EvaluationError if a median filter finds no fixed time step.
    """
    median, gap, duration = (settings.of_classes(name, rows.classes) for name in POSTPROCESSING)
    # Pieces of one function of time: those that touch are one event, of classes that stay as they are, too.
    rows = replace(rows, origin=replace(rows.origin, joined=settings.events != "rows"))
    if any(median):
        rows = median_filtered(rows, median)
    if not (any(gap) or any(duration)):
        return rows
    parts = []
    for label, activity in enumerate(activities(rows)):
        filled = flattened(activity, tick(gap[label]), gaps=True)
        parts.append(flattened(filled, tick(duration[label]), gaps=False))
    whole = Activity.joined([SILENCE, *parts])
    times = to_seconds(whole.onset), to_seconds(whole.offset)
    return EventTable(rows.files, rows.classes, whole.file, *times, (whole.value,), rows.origin, whole.label)


def median_filtered(rows: EventTable, seconds: Sequence[float]) -> EventTable:
    """Filter each class over about so many seconds: the nearest odd number of the table's time steps.

    Each value is replaced by the median of its neighbourhood; beyond a file's ends values are 0. The median
    over a sliding window of time, as in sed_scores_eval, is the same: both change at time steps only.

    seconds: one for each class of `rows`, 0 to leave its values as they are. Returns one row per time step.
    Raises EvaluationError if times keep no fixed step.
    """
    onset, offset = to_ticks(rows.onset), to_ticks(rows.offset)
    step = time_step(rows)
    first, last = (np.rint(times / step).astype(np.int64) for times in (onset, offset))
    n_frames = np.zeros(len(rows.files), dtype=np.int64)
    np.maximum.at(n_frames, rows.file, last)
    Grid.over(n_frames * round(step), max(1, round(step))).check_size(len(rows.classes))
    windows = [window_of(length, step) for length in seconds]
    # Silence between files as wide as half the longest window keeps them apart.
    start = np.concatenate(([0], np.cumsum(n_frames + max(windows, default=1) // 2)))
    file, inside = expand(np.zeros(len(n_frames), dtype=np.int64), n_frames)
    place = inside + start[file]
    values = maxima(rows, first + start[rows.file], last + start[rows.file], int(start[-1]))
    if any(window > 1 for window in windows):
        from scipy.ndimage import median_filter

        for k, window in enumerate(windows):
            if window > 1:
                values[k] = median_filter(values[k], size=window, mode="constant", cval=0.0)
    begin, end = (np.rint(index * step) / TICKS_PER_SECOND for index in (inside, inside + 1))
    return EventTable(
        rows.files, rows.classes, file.astype(np.int32), begin, end, tuple(values[:, place]), rows.origin
    )


def time_step(rows: EventTable) -> float:
    """Return the ticks of a table's time step; raises EvaluationError if times keep none."""
    # For some rows of a table, the step is the step of all its rows.
    step = rows.origin.steps.get(rows.classes)
    return step or TimeGrid.of(to_ticks(rows.onset), to_ticks(rows.offset)).step(rows.origin.name)


def window_of(seconds: float, step: float) -> int:
    """Return the odd number of time steps, of so many ticks, that is nearest; of two the larger."""
    return 1 + 2 * int(seconds * TICKS_PER_SECOND / (2 * step))


@dataclass(frozen=True, slots=True)
class TimeGrid:
    """Times of rows, from which their time step follows.

    times: (n,) all ticks at which rows begin or end, ascending and distinct. shortest: ticks of the shortest
    row with an extent; the largest possible number without such a row.
    """

    times: Ticks
    shortest: int

    @classmethod
    def of(cls, onset: Ticks, offset: Ticks) -> TimeGrid:
        """Return the times of rows, (n,) each."""
        lengths = offset - onset
        shortest = int(lengths[lengths > 0].min(initial=np.iinfo(np.int64).max))
        return cls(np.unique(np.concatenate((onset, offset))), shortest)

    @classmethod
    def merge(cls, parts: Sequence[TimeGrid]) -> TimeGrid:
        """Return the times of the rows of all parts together."""
        times = np.unique(np.concatenate([part.times for part in parts]))
        return cls(times, min(part.shortest for part in parts))

    def step(self, name: str) -> float:
        """Return the length in ticks of the steps that all times are multiples of, to the rounding of ticks.

        Raises EvaluationError, naming the table, if no step of a millisecond or more fits.
        """
        times, step = self.times, float(self.shortest)
        divisor = int(np.gcd.reduce(times)) if len(times) else 0
        if divisor >= _SHORTEST or not divisor:
            return float(divisor or _SHORTEST)
        # No whole number of ticks: longer and longer times tell the step more and more exactly.
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


def flattened(activity: Activity, shortest: int, *, gaps: bool) -> Activity:
    """Drop events shorter than some ticks, or fill such gaps between events, at every level.

    The time before the first event of a file and class, or after the last one, is not a gap.
    """
    n = len(activity)
    if not n or shortest <= 0:
        return activity
    group = np.concatenate(([True], ~activity.goes_on(), [True]))
    silent = ~group[1:n] & (activity.onset[1:] != activity.offset[:-1])
    # Slots: a wall before each group and at the end, pieces, silences between pieces as pieces of value 0.
    # Gaps are the events of what is turned over.
    before = group.astype(np.int64)
    before[1:n] += silent
    place = np.arange(n) + np.cumsum(before)[:n]
    size, wall, sign = n + int(before.sum()), -np.inf if gaps else 0.0, -1.0 if gaps else 1.0
    value = np.full(size, wall)
    onset, offset = np.zeros((2, size), dtype=np.int64)
    value[place], onset[place], offset[place] = sign * activity.value, activity.onset, activity.offset
    hole = place[1:][silent] - 1
    value[hole], onset[hole], offset[hole] = 0.0, activity.offset[:-1][silent], activity.onset[1:][silent]
    slot, left, right = level_runs(value)
    stays = offset[right - 1] - onset[left + 1] >= shortest
    if gaps:
        stays |= np.isinf(value[left]) | np.isinf(value[right])
    level = np.abs(range_maximum(size, left[stays] + 1, right[stays], value[slot[stays]], empty=wall))
    at = np.flatnonzero((level > 0) & np.isfinite(level))
    # A silence takes file and class from the piece after it.
    source = np.minimum(np.searchsorted(place, at), n - 1)
    return Activity(activity.file[source], activity.label[source], onset[at], offset[at], level[at])
