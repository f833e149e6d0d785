"""A reference with errors of known kinds, which `diagnose` should find; not a test.

    python tests/apps/diagnosis/injected.py sample_data/ref.tsv anna ben cleo dan eve

writes folders of label tracks for Audacity: of people who miss some events, make up others, and are up to
0.4 s off.

Each event has at most one error, drawn by its own random numbers. What cannot be had of an event is left out:
an end that cannot move, since the next event of its class or the end of the recording is near, or a class
that it could be taken for where all classes are active.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from sedeval_soft import Settings, convert
from sedeval_soft.apps.diagnosis.events import (
    BACKGROUND,
    BOTH,
    CONFUSED_BOUNDARY,
    CONFUSION,
    DUPLICATE,
    HIT,
    KINDS,
    MERGE,
    MISSED,
    OFFSET,
    ONSET,
    SPLIT,
)
from sedeval_soft.arrays import Bools, Floats, Index, heads
from sedeval_soft.evaluation import stream
from sedeval_soft.measures import overlapping
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.event_table import EventTable, Origin
from sedeval_soft.tables.ticks import TICKS_PER_SECOND, Ticks, to_seconds
from sedeval_soft.timeline.events import Events, Timed
from sedeval_soft.timeline.recordings import Recordings, align, hard_events

_NUMBERS = 4
"""Random numbers of an event: its error, how it is made, and for a false alarm when and of which class."""

_PART, _MOVED = 0.4, 0.3
"""What each part of a split has of the event; how far an event moves that is taken for another class."""


@dataclass(frozen=True, slots=True)
class Injected:
    """The output of a system with errors of known kinds, as places in `KINDS`, -1 (`HIT`) for none.

    events: of the reference, by file, class and time. kind: (n_events,) the error of each. rows: what the
    system says. source: (n_rows,) the event that a row is made of. wrong: (n_rows,) the error of each row:
    beside a duplicate and a false alarm stands the right detection of their event.
    """

    events: Events
    kind: Index
    rows: EventTable
    source: Index
    wrong: Index


def injected_errors(
    pair: Recordings, rates: Mapping[str, float], *, shift: float = 0.5, seed: int = 0
) -> Injected:
    """Return a reference with errors of known kinds, and which event has which; pair: it on both sides."""
    events, _ = hard_events(pair)
    return inject(events, (pair.files, pair.classes), pair.length_ticks, rates, shift=shift, seed=seed)


def inject(
    events: Events,
    names: tuple[Sequence[str], Sequence[str]],
    lengths: Ticks,
    rates: Mapping[str, float],
    *,
    shift: float = 0.5,
    seed: int = 0,
) -> Injected:
    """Return a system that has errors at some rates, by kind: a share of the events each, 1 in all at most.

    names: of files and of classes. lengths: (n_files,) of recordings, in ticks. shift: how many seconds the
    ends of events move at least; an offset moves by six tenths of its event if that is more, as collars of
    offsets grow with events.
    """
    # Other orders of the table, and of names, have the same numbers.
    rank = [np.argsort(np.argsort(np.array(each, dtype=object))) for each in names]
    keys = events.offset, events.onset, rank[1][events.label], rank[0][events.file]
    events = events.take(np.lexsort(keys)).lasting()
    drawn = _drawn(events, names, seed)
    shares = np.cumsum([rates.get(name, 0.0) for name in KINDS])
    kind = np.searchsorted(shares, drawn[:, 0], side="right")
    kind[kind == len(KINDS)] = HIT
    goes_on = events.goes_on()
    first = _choose_merges(kind, goes_on)
    # What becomes of each event.
    made = Timed(events.file, events.label.astype(np.int64), events.onset.copy(), events.offset.copy())
    _move_ends(made, events, kind, drawn[:, 1], _room(events, goes_on, lengths), shift)
    _swap_classes(made, events, kind, drawn, rank[1])
    return _written(made, events, kind, first, names, lengths, drawn, rank[1])


def _drawn(events: Events, names: tuple[Sequence[str], Sequence[str]], seed: int) -> Floats:
    """Return the random numbers of events, (n_events, _NUMBERS): a stream for each file and class."""
    drawn = np.zeros((len(events), _NUMBERS))
    first = heads(events.file, events.label) if len(events) else np.zeros(0, dtype=np.int64)
    for begin, end in pairwise([*first.tolist(), len(events)]):
        of = names[0][events.file[begin]], names[1][events.label[begin]]
        drawn[begin:end] = stream(seed, "errors", *of).random((end - begin, _NUMBERS))
    return drawn


def _choose_merges(kind: Index, goes_on: Bools) -> Index:
    """Let events merge with the next one of their class; return the first of each two."""
    chosen = kind == MERGE
    chosen[:-1] &= goes_on
    chosen[-1:] = False
    # Of a run of such events the first merges with the second, the third with the fourth.
    at = np.arange(len(kind))
    before = np.maximum.accumulate(np.where(chosen, -1, at)) if len(at) else at
    first = np.flatnonzero(chosen & ((at - before) % 2 == 1))
    kind[kind == MERGE] = HIT
    kind[first] = kind[first + 1] = MERGE
    return first


def _room(events: Events, goes_on: Bools, lengths: Ticks) -> tuple[Ticks, Ticks]:
    """Return how far events can grow: to half of the gap before them, and after, or to the file's ends."""
    gap = np.maximum(events.onset[1:] - events.offset[:-1], 0) // 2
    before, after = events.onset.copy(), np.maximum(lengths[events.file] - events.offset, 0)
    before[1:][goes_on], after[:-1][goes_on] = gap[goes_on], gap[goes_on]
    return before, after


def _move_ends(
    made: Timed, events: Events, kind: Index, number: Floats, room: tuple[Ticks, Ticks], shift: float
) -> None:
    """Move the ends of events that have such errors; where none can move there is no error."""
    length = events.offset - events.onset
    by = np.full(len(length), round(shift * TICKS_PER_SECOND))
    far = np.maximum(by, (0.6 * length).astype(np.int64))
    before, after = room
    onset_in, offset_in = 2 * by <= length, far <= 0.6 * length
    onset_out, offset_out = by <= before, far <= after
    # Of both ends a tenth of the event stays common.
    ways = {
        ONSET: ((onset_in, 1, 0), (onset_out, -1, 0)),
        OFFSET: ((offset_in, 0, -1), (offset_out, 0, 1)),
        BOTH: (
            (onset_in & offset_out, 1, 1), (onset_out & offset_in & (by <= length), -1, -1),
            (onset_out & offset_out & (by + far <= 6 * length), -1, 1),
            (offset_in & (5 * by <= length), 1, -1),
        ),
        CONFUSED_BOUNDARY: ((_MOVED * length <= events.onset, -1, -1), (_MOVED * length <= after, 1, 1)),
    }  # fmt: skip
    for which, each in ways.items():
        way = _nth(np.stack([possible for possible, _, _ in each], axis=1), number)
        chosen = kind == which
        kind[chosen & (way < 0)] = HIT
        moved = chosen & (way >= 0)
        onset, offset = (np.array([way_[end] for way_ in each])[way[moved]] for end in (1, 2))
        both = (_MOVED * length).astype(np.int64)
        near, away = (both, both) if which == CONFUSED_BOUNDARY else (by, far)
        made.onset[moved] += onset * near[moved]
        made.offset[moved] += offset * away[moved]


def _nth(possible: Bools, number: Floats) -> Index:
    """Return for each row one of its columns that are possible, by a random number; -1 where none is."""
    if not possible.shape[1]:
        return np.full(len(possible), -1)
    n = possible.sum(axis=1)
    wanted = np.minimum((number * n).astype(np.int64), np.maximum(n - 1, 0)) + 1
    place: Index = np.where(n > 0, np.argmax(np.cumsum(possible, axis=1) == wanted[:, None], axis=1), -1)
    return place


def _silent_class(spans: Timed, events: Events, number: Floats, rank: Index) -> Index:
    """Return for each stretch of time a class without events then, by a random number; -1 where none is."""
    files = spans.file.astype(np.int64), events.file.astype(np.int64)
    at, busy = overlapping(spans, events, *files)
    silent = np.ones((len(spans), len(rank)), dtype=bool)
    silent[at, rank[events.label[busy]]] = False
    place = _nth(silent, number)
    return np.where(place >= 0, np.argsort(rank)[place], -1)


def _swap_classes(made: Timed, events: Events, kind: Index, drawn: Floats, rank: Index) -> None:
    """Give events that are taken for others a class that is silent; where there is none there is no error."""
    at = np.flatnonzero((kind == CONFUSION) | (kind == CONFUSED_BOUNDARY))
    if not len(at):
        return
    label = _silent_class(made.take(at), events, drawn[at, 2], rank)
    none = at[label < 0]
    kind[none], made.onset[none], made.offset[none] = HIT, events.onset[none], events.offset[none]
    made.label[at[label >= 0]] = label[label >= 0]


def _written(
    made: Timed,
    events: Events,
    kind: Index,
    first: Index,
    names: tuple[Sequence[str], Sequence[str]],
    lengths: Ticks,
    drawn: Floats,
    rank: Index,
) -> Injected:
    """Write what the system says of all events, by file and time; first: of each two that merge."""
    length = events.offset - events.onset
    made.offset[first] = np.maximum(events.offset[first], events.offset[first + 1])
    silent = kind == MISSED
    silent[first + 1] = True
    part = (_PART * length).astype(np.int64)
    split = kind == SPLIT
    made.offset[split] = events.onset[split] + part[split]
    right = (kind == DUPLICATE) | (kind == BACKGROUND)
    at = np.flatnonzero(~silent)
    error = np.where(right, HIT, kind)
    rows: list[tuple[Any, ...]] = []
    rows.append((at, made.onset[at], made.offset[at], made.label[at], error[at]))

    at = np.flatnonzero(split)
    rows.append((at, events.offset[at] - part[at], events.offset[at], made.label[at], kind[at]))
    at = np.flatnonzero(kind == DUPLICATE)
    later = np.minimum(length[at] // 10, TICKS_PER_SECOND // 20)
    rows.append((at, events.onset[at] + later, events.offset[at], made.label[at], kind[at]))
    at = np.flatnonzero(kind == BACKGROUND)
    begin = (drawn[at, 3] * np.maximum(lengths[events.file[at]] - length[at], 0)).astype(np.int64)
    spans = Timed(events.file[at], events.label[at], begin, begin + length[at])
    label = _silent_class(spans, events, drawn[at, 2], rank)
    kind[at[label < 0]] = HIT
    at, begin, label = at[label >= 0], begin[label >= 0], label[label >= 0]
    rows.append((at, begin, begin + length[at], label, kind[at]))

    source, onset, offset, of_class, wrong = (np.concatenate(each) for each in zip(*rows, strict=True))
    order = np.lexsort((rank[of_class], offset, onset, events.file[source]))
    source, onset, offset, of_class, wrong = (
        each[order] for each in (source, onset, offset, of_class, wrong)
    )
    table = EventTable(
        tuple(names[0]), tuple(names[1]), events.file[source], to_seconds(onset), to_seconds(offset), (),
        Origin("errors", form="simulated"), of_class.astype(np.int32),
    )  # fmt: skip
    return Injected(events, kind, table, source, wrong)


if __name__ == "__main__":
    reference = read_rows(sys.argv[1])
    both = align(reference, reference, Settings())
    often = {"missed": 0.1, "background": 0.1, "onset": 0.3, "offset": 0.3}
    for number, name in enumerate(sys.argv[2:], 1):
        convert(injected_errors(both, often, shift=0.4, seed=number).rows, f"{name}/", to="audacity")
