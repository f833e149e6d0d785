"""Hard events: what is active at one threshold.

`rows`: each row whose value is active is one event. `merge`: rows of a class that touch or overlap
are one event, as a table of fixed time steps needs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.ticks import Ticks, to_ticks
from sedeval_soft.timeline.ranges import running_maximum

Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Events:
    """Events in the order of the table (`rows`) or by file, class and onset (`merge`).

    file, label: (n,) codes. onset, offset: (n,) ticks. onset_seconds, offset_seconds: (n,) the
    floats as read, for arithmetic that must follow another tool's to the bit.
    """

    file: Codes
    label: Codes
    onset: Ticks
    offset: Ticks
    onset_seconds: Floats
    offset_seconds: Floats

    def __len__(self) -> int:
        """Return the number of events."""
        return len(self.onset)

    def take(self, index: npt.NDArray[np.intp] | Bools) -> Events:
        """Return the events at some positions, or those of a mask."""
        return Events(
            self.file[index],
            self.label[index],
            self.onset[index],
            self.offset[index],
            self.onset_seconds[index],
            self.offset_seconds[index],
        )

    def by_time(self) -> Events:
        """Return the events by file, onset, offset and class."""
        return self.take(np.lexsort((self.label, self.offset, self.onset, self.file)))

    def in_order(self) -> Events:
        """Return the events by file, class, onset and offset, whatever the order of the table."""
        return self.take(np.lexsort((self.offset, self.onset, self.label, self.file)))


def active(values: Floats, threshold: float | Floats, inclusive: bool) -> Bools:
    """Return which values are active: above the threshold, or at it too where `inclusive`."""
    above: Bools = values >= threshold if inclusive else values > threshold
    return above


def active_rows(rows: EventTable, threshold: float, inclusive: bool) -> Events:
    """Return one event per active row, in the order of the table."""
    row, label = rows.active(threshold, inclusive=inclusive)
    onset, offset = rows.onset[row], rows.offset[row]
    return Events(rows.file[row], label, to_ticks(onset), to_ticks(offset), onset, offset)


def merged(events: Events) -> Events:
    """Merge events of one class that touch or overlap, sorted by file, class and onset.

    Events without extent vanish: a time step of no length holds nothing.
    """
    events = events.take(events.offset > events.onset)
    if not len(events):
        return events
    order = np.lexsort((events.offset, events.onset, events.label, events.file))
    pieces = events.take(order)
    change = (np.diff(pieces.file) != 0) | (np.diff(pieces.label) != 0)
    group = np.concatenate(([0], np.cumsum(change)))
    reach = running_maximum(pieces.offset, group)
    first = np.flatnonzero(np.concatenate(([True], change | (pieces.onset[1:] > reach[:-1]))))
    last = np.append(first[1:], len(pieces)) - 1
    return Events(
        pieces.file[first],
        pieces.label[first],
        pieces.onset[first],
        reach[last],
        pieces.onset_seconds[first],
        np.maximum.reduceat(pieces.offset_seconds, first),
    )


def _merged_steps(rows: EventTable, threshold: float, inclusive: bool) -> Events | None:
    """Merge as `merged` does, where the rows are time steps in order; None where they are not."""
    spans = rows.spans()
    if not (spans.are_steps and rows.values):
        return None
    firsts, lasts = [], []
    for column in rows.values:
        detected = active(column, threshold, inclusive)
        begins, ends = detected.copy(), detected.copy()
        joined = detected[1:] & detected[:-1] & spans.touching
        begins[1:] &= ~joined
        ends[:-1] &= ~joined
        firsts.append(np.flatnonzero(begins))
        lasts.append(np.flatnonzero(ends))
    first, last = np.concatenate(firsts), np.concatenate(lasts)
    label = np.repeat(np.arange(len(firsts), dtype=np.int32), [len(found) for found in firsts])
    order = np.argsort(rows.file[first], kind="stable")
    first, last, label = first[order], last[order], label[order]
    times = spans.onset[first], spans.offset[last], rows.onset[first], rows.offset[last]
    return Events(rows.file[first], label, *times)


def events_of(rows: EventTable, threshold: float, inclusive: bool, merge: bool) -> Events:
    """Return the events of a table at one threshold, merged or row by row."""
    if not merge:
        return active_rows(rows, threshold, inclusive)
    steps = _merged_steps(rows, threshold, inclusive)
    return merged(active_rows(rows, threshold, inclusive)) if steps is None else steps
