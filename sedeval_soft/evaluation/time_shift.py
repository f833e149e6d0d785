"""Random streams that depend on names, and outputs that are moved in time."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.ticks import Ticks, to_seconds, to_ticks
from sedeval_soft.timeline.grid import Edges, Grid

# Streams of random numbers that depend on names, not on the order in which things come.
#
# Every recording, and every class of it, has a stream of its own: a `numpy.random.Generator` over Philox,
# whose key is the first 128 bits of the SHA-256 of seed and names. So another order of files or classes, or
# more of them, draws the same numbers for those that were there.


Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

Draw = Callable[[np.random.Generator, int, int], Floats]
"""Values of one class in one recording: from its stream, the place of the class, and how many segments."""


def stream(seed: int, *names: str) -> np.random.Generator:
    """Return the stream of a seed and some names."""
    # Lengths go first: ("a", "b") and ("ab", "") are two streams.
    parts = [str(seed), *names]
    text = " ".join(map(str, map(len, parts))) + " " + "".join(parts)
    digest = sha256(text.encode("utf-8", "surrogatepass")).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest[:16], "little")))


@dataclass(frozen=True, slots=True)
class Timeline:
    """The segments of all recordings, one after another.

    files, classes: names. start: (n_files + 1,) first segment of each recording, and the end of the last.
    """

    files: tuple[str, ...]
    classes: tuple[str, ...]
    start: Index

    @property
    def size(self) -> int:
        """Return the number of segments of all recordings."""
        return int(self.start[-1])

    @property
    def shape(self) -> tuple[int, int]:
        """Return the shape of values: (n_classes, n_segments)."""
        return len(self.classes), self.size

    def pieces(self) -> Sequence[tuple[str, slice]]:
        """Return each recording with its segments."""
        edges = self.start.tolist()
        return [
            (name, slice(begin, end))
            for name, begin, end in zip(self.files, edges[:-1], edges[1:], strict=True)
        ]

    def drawn(self, seed: int, kind: str, draw: Draw) -> Floats:
        """Return values of all classes in all recordings, each from a stream of its own."""
        values = np.zeros(self.shape)
        for name, segments in self.pieces():
            for k, label in enumerate(self.classes):
                n_segments = segments.stop - segments.start
                values[k, segments] = draw(stream(seed, kind, name, label), k, n_segments)
        return values


# An output that is moved in time: all it says stays, but it says it elsewhere.
#
# Files are laid end to end, each as long as its whole segments, and the output moves along them as on a
# ring. So values, lengths of events, and what is heard together stay as they are, except where the end of a
# file cuts an event in two. The mean over all moves of any sum over segments is that over all pairs of a
# reference segment and a system segment: what an output has that knows nothing of the recordings.


def moved(rows: EventTable, grid: Grid, shift: int) -> EventTable:
    """Return rows moved along all files, which are laid end to end as the grid lays their segments.

    shift: segments, from 0 to less than the grid has. What a row has after the end of its file is cut off
    before.
    """
    # Segments may differ by a tick. All are as long as the longest on the ring, and cut back behind it.
    width = math.ceil(grid.edges.step)
    onset, offset = (_on_ring(grid.edges, to_ticks(times), width) for times in (rows.onset, rows.offset))
    row, file, onset, offset = _pieces(rows, (onset, offset), grid.start * width, shift * width)
    onset, offset = (_in_file(grid.edges, times, width) for times in (onset, offset))
    times: dict[str, Any] = {
        "file": file.astype(np.int32),
        "onset": to_seconds(onset),
        "offset": to_seconds(offset),
    }
    return replace(rows.take(row), **times)


def _on_ring(edges: Edges, ticks: Ticks, width: int) -> Ticks:
    """Return times of a file as they are where each of its segments has so many ticks."""
    ticks = edges.on(ticks)
    segment = edges.before(ticks)
    return segment * width + ticks - edges.at(segment)


def _in_file(edges: Edges, ticks: Ticks, width: int) -> Ticks:
    """Return what `_on_ring` makes these times of."""
    segment, inside = np.divmod(ticks, width)
    return edges.at(segment) + inside


def _pieces(
    rows: EventTable, times: tuple[Ticks, Ticks], edges: Ticks, shift: int
) -> tuple[Index, Index, Ticks, Ticks]:
    """Return what rows become: of which row each piece is, its file, and its onset and offset in it.

    times: (n,) onsets and offsets of the rows. edges: (n_files + 1,) where each file begins on the ring, in
    ticks, and where the last ends. shift: ticks, from 0 to less than the end of the ring.
    """
    n_files, ring = len(edges) - 1, int(edges[-1])
    length = np.diff(edges)
    file = rows.file.astype(np.int64)
    onset, offset = times[0], np.minimum(times[1], length[file])
    kept = np.flatnonzero((onset < length[file]) & (offset >= onset))
    begin = (edges[file[kept]] + onset[kept] + shift) % max(ring, 1)
    end = begin + offset[kept] - onset[kept]
    # Twice around: what goes on over the end of the ring goes on at its beginning.
    twice = np.concatenate((edges[:-1], edges + ring))
    first = np.searchsorted(twice, begin, side="right") - 1
    last = np.maximum(np.searchsorted(twice, end, side="left") - 1, first)
    count = last - first + 1
    piece = np.repeat(np.arange(len(kept)), count)
    place = np.arange(len(piece)) - np.repeat(np.cumsum(count) - count, count) + first[piece]
    start, stop = np.maximum(begin[piece], twice[place]), np.minimum(end[piece], twice[place + 1])
    # Files without length are crossed, and get nothing.
    lasting = np.flatnonzero((stop > start) | (end == begin)[piece])
    place, start, stop = place[lasting], start[lasting], stop[lasting]
    return kept[piece[lasting]], place % n_files, start - twice[place], stop - twice[place]
