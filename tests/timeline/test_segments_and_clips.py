"""Segments of all files on one line, and values of segments and clips against a look at every tick."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from oracles import END, FILES, LEVELS, in_seconds, segment_values, tick_rows
from tables import long_rows, wide_rows

from sedeval_soft.errors import EvaluationError
from sedeval_soft.memory import memory_limited, taken
from sedeval_soft.timeline.events import events_of
from sedeval_soft.timeline.grid import Grid, pool_rows
from sedeval_soft.timeline.recordings import clip_values

LENGTHS = st.tuples(st.integers(0, END + 3), st.integers(0, END + 3))


def test_grids_that_are_too_large_are_refused():
    with pytest.raises(EvaluationError, match=r"[Aa]re the times in seconds\?"):
        Grid.over(np.array([10**15]), 1000).check_size(17)
    with pytest.raises(EvaluationError, match="than can be counted"):
        Grid.over(np.full(10_000, 10**15), 1)
    # Values in order, and means, take more room.
    grid = Grid.over(np.array([10**7]), 1)
    with memory_limited(taken() + 17 * 10**7 * 40):
        grid.check_size(17)
        for how in ({"in_order": True}, {"means": True}):
            with pytest.raises(EvaluationError, match="are left of --memory-limit"):
                grid.check_size(17, **how)


def grid_over(table, lengths, segment):
    by_name = dict(zip(FILES, lengths, strict=True))
    return Grid.over(np.array([by_name[name] for name in table.files]), segment)


@pytest.mark.parametrize("pool", ["max", "mean"])
@given(tick_rows(), LENGTHS, st.integers(1, 7), st.booleans())
@example([("a", 6, 9, "car", 0.5)], (5, 0), 4, False)  # in the last segment, but beyond the file's end
@example([("a", 0, 2, "car", 0.5), ("a", 2, 3, "car", 1.0)], (2, 0), 3, False)  # and after a full segment
def test_values_of_segments(pool, rows, lengths, segment, binary):
    """Those of binary rows are exact, means too."""
    if binary:
        rows = [(*row[:4], 1.0) for row in rows]
    table = long_rows(in_seconds(rows) or [("a", 0.0, 0.0, "car", 0.0)], files=FILES)
    grid = grid_over(table, lengths, segment)
    pooled = pool_rows(table, grid, pool)
    assert pooled.shape == (len(table.classes), grid.size)
    for code, label in enumerate(table.classes):
        for file, name in enumerate(table.files):
            values = segment_values(rows, name, label, segment, int(grid.length[file]), pool)
            expected = [float(Fraction(value)) for value in values]
            got = pooled[code, grid.start[file] : grid.start[file + 1]].tolist()
            if pool == "max" or binary:
                assert got == expected
            else:
                assert got == pytest.approx(expected, rel=1e-14, abs=0)


def unfolded(wide):
    """The same table with a row for each cell."""
    rows = [
        (wide.files[file], onset, offset, label, float(wide.values[code][row]))
        for row, (file, onset, offset) in enumerate(zip(wide.file, wide.onset, wide.offset, strict=True))
        for code, label in enumerate(wide.classes)
    ]
    table = long_rows(rows)
    codes = np.array([wide.files.index(name) for name in table.files], dtype=np.int32)
    return replace(table, files=wide.files, file=codes[table.file])


@st.composite
def wide_tables(draw):
    """Time steps that fit segments, share them, cross them, overlap, or come in any order."""
    n = draw(st.integers(1, 10))
    values = draw(st.lists(st.tuples(LEVELS, LEVELS), min_size=n, max_size=n))
    table = wide_rows(np.array(values), length=draw(st.integers(1, 5)) * 1e-6, files=draw(st.integers(1, 2)))
    order = np.array(draw(st.permutations(range(n))))
    longer = draw(st.sampled_from([0, 0, 2])) * 1e-6
    return replace(table.take(order), offset=table.offset[order] + longer)


@given(wide_tables(), st.integers(0, 40), st.integers(1, 12))
def test_a_wide_table_is_the_long_one_unfolded(wide, length, segment):
    """In its segments, its clips, which are the largest segments of each file, and its events."""
    long = unfolded(wide)
    assert long.classes == wide.classes
    lengths = np.array([length] * len(wide.files))
    grid = Grid.over(lengths, segment)
    maxima = pool_rows(wide, grid, "max")
    assert maxima.tolist() == pool_rows(long, grid, "max").tolist()
    # Zeros of a wide table are no pieces, so that overlaps are cut in other places.
    assert pool_rows(wide, grid, "mean") == pytest.approx(pool_rows(long, grid, "mean"), rel=1e-14, abs=0)
    files = [maxima[:, a:b].max(axis=1, initial=0) for a, b in zip(grid.start, grid.start[1:], strict=False)]
    if length % segment == 0:
        assert clip_values(wide, lengths).tolist() == np.array(files).T.tolist()
    assert clip_values(long, lengths).tolist() == clip_values(wide, lengths).tolist()
    for merge in (True, False):
        events = [events_of(side, 0.3, False, merge).in_order() for side in (wide, long)]
        for name in ("file", "label", "onset", "offset"):
            assert getattr(events[0], name).tolist() == getattr(events[1], name).tolist()
