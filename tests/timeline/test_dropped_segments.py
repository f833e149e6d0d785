"""A grid without some of its segments: those that are left are numbered anew, and stay where they are."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sedeval_soft.timeline.grid import Grid

LENGTHS = st.lists(st.integers(0, 60), min_size=1, max_size=4)
RANGES = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 8)), max_size=6)


@given(LENGTHS, st.lists(RANGES, min_size=1, max_size=3), RANGES)
def test_segments_that_are_left_are_numbered_in_order_and_stay_where_they_are(lengths, dropped, rows):
    """Dropped at once or one after another: as a list of all segments of which some are struck out."""
    lengths, rows = np.array(lengths) * 10**5, np.array(rows, dtype=np.int64).reshape(-1, 2).T * 10**5
    grid = whole = Grid.over(lengths, 700_000, lengths // 2)
    kept = np.arange(whole.size)
    for ranges in dropped:
        # Numbers of segments of the grid as it is by then.
        first, last = (
            np.minimum(edge, grid.size) for edge in np.array([(a, a + n) for a, n in ranges] or [(0, 0)]).T
        )
        struck = np.concatenate([np.arange(a, b) for a, b in zip(first, last, strict=True)])
        grid, kept = grid.without(first, last), np.delete(kept, np.unique(struck))
    files, begin, end = whole.spans(kept)
    cells = np.arange(grid.size)
    assert grid.size == len(kept)
    for ours, theirs in zip(grid.spans(cells), (files, begin, end), strict=True):
        assert ours.tolist() == theirs.tolist()
    assert grid.place(cells).tolist() == (kept - whole.start[files]).tolist()
    evaluated = files[begin < whole.evaluated[files]]
    for ours, theirs in ((grid.n_segments, files), (grid.n_evaluated, evaluated)):
        assert ours.tolist() == np.bincount(theirs, minlength=len(lengths)).tolist()
    # Rows cover of the segments that are left those that they covered before.
    columns = np.arange(len(rows[0])) % len(lengths), rows[0], rows[0] + rows[1]
    for a, b, c, d in zip(*whole.cells(*columns), *grid.cells(*columns), strict=True):
        assert kept[c:d].tolist() == [k for k in kept if a <= k < b]
    heads = [n for n, k in enumerate(kept) if not n or kept[n - 1] != k - 1 or files[n - 1] != files[n]]
    tails = [n - 1 for n in [*heads, len(kept)][1:]]
    ends = files[heads], begin[heads], end[tails]
    assert [column.tolist() for column in grid.runs()] == [column.tolist() for column in ends]
