"""How many recordings may be counted at once: an estimate, held against what there is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.room import check_room, room
from sedeval_soft.evaluation.count import bytes_per_file
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import UNNAMED, EventTable
from sedeval_soft.tables.filenames import stem_of
from sedeval_soft.tables.forms import OTHER_EXTENSIONS
from sedeval_soft.tables.source import extension_of
from sedeval_soft.timeline.alignment_report import listing
from sedeval_soft.timeline.ranges import enter_maxima

ROLES = ("reference", "system")

PROCESS = 160 << 20
"""Bytes of a process that has done nothing yet, and of what it needs beside what it counts."""

BLOCK = (1 << 20, 1 << 24)
"""Bytes that are read at a time, at the least and at the most: more leave the processor's cache, and the
system has to find new memory for each."""

_BUCKETS = 256
"""The most parts that a table is parted into on one machine."""

_UNPACKED = 6
"""How many bytes of text a packed byte stands for."""

BYTES_PER_ROW = 400
"""Memory that a row of either side takes at the most while it is counted; half as much is tried."""

BYTES_PER_CELL = 64
"""The same for each segment of each class; where means are taken, three times as much."""

BYTES_PER_VALUE = 40
"""The same for each value of a row of a wide table after its first."""


@dataclass(frozen=True, slots=True)
class Extent:
    """Rows of a table, as far as their number and times go.

    names: the table's names, without or with rows. file: (n,) codes into the files of `names`. offset: (n,)
    seconds.
    """

    names: EventTable
    file: npt.NDArray[np.int32]
    offset: npt.NDArray[np.float64]


def pieces(
    sides: Sequence[Extent], settings: Settings, durations: Mapping[str, float] | None
) -> list[set[str]]:
    """Return the recordings of each piece, by the least of their names: as many as may be in memory.

    Raises RoomError for a recording that cannot be.
    """
    given = durations or {}
    every = [file for side in sides for file in side.names.files]
    number = {stem: k for k, stem in enumerate(dict.fromkeys(map(stem_of, [*every, *given])))}
    n_rows, length = np.zeros(len(number)), np.zeros(len(number))
    for side in sides:
        if len(side.file):
            of = np.asarray([number[stem_of(file)] for file in side.names.files])
            n_own, longest = np.bincount(side.file, minlength=len(of)), np.zeros(len(of))
            enter_maxima(longest, side.file, side.offset)
            np.add.at(n_rows, of, n_own)
            np.maximum.at(length, of, longest)
    for name, seconds in given.items():
        length[number[stem_of(name)]] = max(length[number[stem_of(name)]], seconds)
    n_classes = len(settings.classes or {name for side in sides for name in side.names.classes})
    wide = any(side.names.is_wide for side in sides)
    size = n_rows * bytes_per_row(n_classes if wide else 1)
    source = sides[1].names.origin.name
    if UNNAMED in every:
        # It goes by the name that the other side has: only together they are one recording.
        check_recordings(size.sum() / 2, n_rows.sum(), [*filter(None, number)] or [UNNAMED], source)
        return [{*number}]
    largest = int(np.argmax(size))
    check_recordings(size[largest] / 2, n_rows[largest], [list(number)[largest]], source)
    if any(settings.wants(basis) or settings.tunes_by(basis) for basis in ("segment", "ranking")):
        each = BYTES_PER_CELL * (3 if settings.pool == "mean" else 1)
        size += np.ceil(length / settings.segment_length) * n_classes * each
    size += bytes_per_file(n_classes, settings)
    # What was counted already stays.
    end = np.cumsum(size) // max(1.0, room() / 2)
    found: dict[float, set[str]] = {}
    for stem, k in number.items():
        found.setdefault(float(end[k]), set()).add(stem)
    return list(found.values())


def bytes_of_text(name: str, size: int) -> int:
    """Return the bytes of a table of so many bytes as text, estimated."""
    return size * _UNPACKED if is_gzipped(name) or extension_of(name) in OTHER_EXTENSIONS else size


def is_gzipped(name: str) -> bool:
    """Return whether a file is gzipped by its name."""
    return name.lower().endswith(".gz")


def buckets_for(size: int, share: int, jobs: int) -> int:
    """Return into how many parts tables of so many bytes of text go; share: memory of each process."""
    return min(_BUCKETS, max(4 * jobs, -(-8 * size // max(1, share))))


def bytes_per_row(width: int) -> int:
    """Return the memory that a row takes while it is counted; width: how many values it has."""
    return BYTES_PER_ROW + BYTES_PER_VALUE * (width - 1)


def check_recordings(needed: float, n_rows: float, files: Iterable[str], source: str) -> None:
    """Refuse recordings that memory cannot hold: each is counted as a whole; raises RoomError."""
    check_room(
        needed,
        f"{source}: to count the {n_rows:.15g} rows of {listing([*files], 'recording')} on both sides",
        "Expected shorter recordings, or more memory: each is counted as a whole",
    )
