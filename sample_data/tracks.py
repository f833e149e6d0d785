"""Label tracks of people who miss some events, make up others, and are up to 0.4 s off.

    python sample_data/tracks.py sample_data/ref.tsv anna ben cleo dan eve

writes a folder of tracks for Audacity for each name. An end that cannot move stays, since the next event of
its class or the end of the recording is near.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TypeVar

import numpy as np

from sedeval_soft import Settings, convert
from sedeval_soft.evaluation import stream
from sedeval_soft.tables import read_rows, to_seconds
from sedeval_soft.tables.event_table import EventTable, Origin
from sedeval_soft.timeline import Recordings, align, hard_events

T = TypeVar("T")

SHIFT = 400_000
MISSED, MADE_UP, ONSET, OFFSET = range(4)
RATES = (0.1, 0.1, 0.3, 0.3)


def one_of(ways: Iterable[tuple[bool, T]], number: float) -> T | None:
    """Return one of the ways that are possible, by a random number; None if there are none."""
    possible = [way for is_possible, way in ways if is_possible]
    return possible[min(int(number * len(possible)), len(possible) - 1)] if possible else None


def tracks(pair: Recordings, seed: int) -> EventTable:
    """Return what somebody labels in a reference; pair: it on both sides."""
    events, rows = hard_events(pair)[0].lasting(), []
    heard = list(zip(events.file, events.label, events.onset.tolist(), events.offset.tolist(), strict=True))
    heard.sort(key=lambda e: (pair.files[e[0]], pair.classes[e[1]], *e[2:]))
    names = sorted(range(len(pair.classes)), key=lambda label: pair.classes[label])
    for of in dict.fromkeys(each[:2] for each in heard):
        own = [each[2:] for each in heard if each[:2] == of]
        end = int(pair.length_ticks[of[0]])
        random = stream(seed, "errors", pair.files[of[0]], pair.classes[of[1]]).random((len(own), 4))
        for k, ((onset, offset), drawn) in enumerate(zip(own, random, strict=True)):
            kind = np.searchsorted(np.cumsum(RATES), drawn[0], side="right")
            length, far = offset - onset, max(SHIFT, int(0.6 * (offset - onset)))
            before = max(onset - own[k - 1][1], 0) // 2 if k else onset
            after = max(own[k + 1][0] - offset, 0) // 2 if k + 1 < len(own) else max(end - offset, 0)
            moved = [onset, offset]
            if kind == ONSET:
                moved[0] += one_of([(length >= 2 * SHIFT, SHIFT), (before >= SHIFT, -SHIFT)], drawn[1]) or 0
            if kind == OFFSET:
                moved[1] += one_of([(far <= 0.6 * length, -far), (far <= after, far)], drawn[1]) or 0
            if kind != MISSED:
                rows.append((*of, *moved))
            if kind == MADE_UP:
                begin = int(drawn[3] * max(end - length, 0))
                busy = {e[1] for e in heard if e[0] == of[0] and e[2] < begin + length and begin < e[3]}
                label = one_of([(name not in busy, name) for name in names], drawn[2])
                rows += [] if label is None else [(of[0], label, begin, begin + length)]
    rows.sort(key=lambda row: (row[0], *row[2:], pair.classes[row[1]]))
    file, label, onset, offset = np.array(rows).T
    return EventTable(
        pair.files, pair.classes, file.astype(np.int32), to_seconds(onset), to_seconds(offset), (),
        Origin("errors", form="simulated"), label.astype(np.int32),
    )  # fmt: skip


if __name__ == "__main__":
    reference = read_rows(sys.argv[1])
    both = align(reference, reference, Settings())
    for number, name in enumerate(sys.argv[2:], 1):
        convert(tracks(both, number), f"{name}/", to="audacity")
