"""A grid without some of its segments: those that are left are numbered anew, and stay where they are."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sedeval_soft.tables.ticks import to_ticks
from sedeval_soft.timeline.grid import Grid

LENGTHS = st.lists(st.integers(0, 60), min_size=1, max_size=4)
RANGES = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 8)), max_size=6)


def ticks(tenths: list[int]) -> np.ndarray:
    """Return tenths of a second in ticks."""
    return to_ticks(np.array(tenths) / 10)


@given(LENGTHS, st.lists(RANGES, min_size=1, max_size=3), RANGES)
def test_segments_that_are_left_are_numbered_in_order_and_stay_where_they_are(
    lengths: list[int], dropped: list[list[tuple[int, int]]], rows: list[tuple[int, int]]
) -> None:
    """Dropped at once or one after another: as a list of all segments of which some are struck out."""
    whole = Grid.over(ticks(lengths), 700_000, ticks([length // 2 for length in lengths]))
    left, grid = np.ones(whole.size, dtype=bool), whole
    for ranges in dropped:
        # Numbers of segments of the grid as it is by then.
        first = np.array([min(a, grid.size) for a, _ in ranges], dtype=np.int64)
        last = np.array([min(a + n, grid.size) for a, n in ranges], dtype=np.int64)
        still = np.flatnonzero(left)
        for a, b in zip(first, last, strict=True):
            left[still[a:b]] = False
        grid = grid.without(first, last)

    kept = np.flatnonzero(left)
    files, begin, end = whole.spans(np.arange(whole.size))
    cells = np.arange(grid.size)
    assert grid.size == len(kept)
    assert grid.n_segments.tolist() == np.bincount(files[kept], minlength=len(lengths)).tolist()
    for ours, theirs in zip(grid.spans(cells), (files, begin, end), strict=True):
        assert ours.tolist() == theirs[kept].tolist()
    assert grid.place(cells).tolist() == (kept - whole.start[files[kept]]).tolist()
    evaluated = begin[kept] < whole.evaluated[files[kept]]
    assert grid.n_evaluated.tolist() == np.bincount(files[kept[evaluated]], minlength=len(lengths)).tolist()

    # Rows cover of the segments that are left those that they covered before.
    columns = (
        np.arange(len(rows)) % len(lengths),
        ticks([a for a, _ in rows]),
        ticks([a + n for a, n in rows]),
    )
    before, after = whole.cells(*columns), grid.cells(*columns)
    for a, b, c, d in zip(*before, *after, strict=True):
        assert kept[c:d].tolist() == [k for k in range(a, b) if left[k]]

    heads = [n for n, k in enumerate(kept.tolist()) if k == 0 or not left[k - 1] or files[k - 1] != files[k]]
    tails = [n - 1 for n in [*heads, len(kept)][1:]]
    ends = files[kept[heads]], begin[kept[heads]], end[kept[tails]]
    assert [column.tolist() for column in grid.runs()] == [column.tolist() for column in ends]
