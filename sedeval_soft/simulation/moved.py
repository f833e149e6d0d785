"""An output that is moved in time: all it says stays, but it says it elsewhere.

Files are laid end to end, each as long as its whole segments, and the output moves along them as on a ring.
So values, lengths of events, and what is heard together stay as they are, except where the end of a file cuts
an event in two. The mean over all moves of any sum over segments is that over all pairs of a reference
segment and a system segment: what an output has that knows nothing of the recordings.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.rows import Rows, WideRows
from sedeval_soft.core.ticks import Ticks, to_seconds, to_ticks

Index = npt.NDArray[np.int64]


def moved(rows: Rows, edges: Ticks, shift: int) -> Rows:
    """Return rows moved along all files.

    edges: (n_files + 1,) where each file begins on the ring, in ticks, and where the last ends. shift: ticks,
    from 0 to less than the end of the ring. What a row has after the end of its file is cut off before.
    """
    row, file, onset, offset = _pieces(rows, edges, shift)
    times: dict[str, Any] = {
        "file": file.astype(np.int32),
        "onset": to_seconds(onset),
        "offset": to_seconds(offset),
    }
    if isinstance(rows, WideRows):
        return replace(rows, values=tuple(column[row] for column in rows.values), **times)
    return replace(
        rows,
        label=rows.label[row],
        value=None if rows.value is None else rows.value[row],
        born=None if rows.born is None else rows.born[row],
        **times,
    )


def _pieces(rows: Rows, edges: Ticks, shift: int) -> tuple[Index, Index, Ticks, Ticks]:
    """Return what rows become: of which row each piece is, its file, and its onset and offset in it."""
    n_files, ring = len(edges) - 1, int(edges[-1])
    length = np.diff(edges)
    file = rows.file.astype(np.int64)
    onset, offset = to_ticks(rows.onset), np.minimum(to_ticks(rows.offset), length[file])
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
