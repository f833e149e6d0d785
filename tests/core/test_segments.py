"""Values of segments against a look at every tick."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from oracles import END, FILES, LEVELS, in_seconds, segment_values, tick_rows
from tables import long_rows, wide_rows

from sedeval_soft.timeline.grid import Grid, pool_rows

LENGTHS = st.tuples(st.integers(0, END + 3), st.integers(0, END + 3))


def grid_over(table, lengths, segment):
    by_name = dict(zip(FILES, lengths, strict=True))
    return Grid.over(np.array([by_name[name] for name in table.files]), segment)


@pytest.mark.parametrize("pool", ["max", "mean"])
@given(tick_rows(), LENGTHS, st.integers(1, 7))
@example([("a", 6, 9, "car", 0.5)], (5, 0), 4)  # in the last segment, but beyond the file's end
@example([("a", 0, 2, "car", 0.5), ("a", 2, 3, "car", 1.0)], (2, 0), 3)  # the same, after a full segment
def test_long_rows(pool, rows, lengths, segment):
    table = long_rows(in_seconds(rows) or [("a", 0.0, 0.0, "car", 0.0)], files=FILES)
    grid = grid_over(table, lengths, segment)
    pooled = pool_rows(table, grid, pool)
    assert pooled.shape == (len(table.classes), grid.size)
    for code, label in enumerate(table.classes):
        for file, name in enumerate(table.files):
            expected = segment_values(rows, name, label, segment, int(grid.length[file]), pool)
            got = pooled[code, grid.start[file] : grid.start[file + 1]].tolist()
            if pool == "max":
                assert got == expected
            else:
                assert got == pytest.approx([float(value) for value in expected], rel=1e-14, abs=0)


@given(tick_rows(values=st.just(1.0)), LENGTHS, st.integers(1, 7))
def test_means_of_binary_rows_are_exact(rows, lengths, segment):
    table = long_rows(in_seconds(rows) or [("a", 0.0, 0.0, "car", 1.0)], files=FILES)
    grid = grid_over(table, lengths, segment)
    pooled = pool_rows(table, grid, "mean")
    for code, label in enumerate(table.classes):
        for file, name in enumerate(table.files):
            expected = segment_values(rows, name, label, segment, int(grid.length[file]), "mean")
            got = pooled[code, grid.start[file] : grid.start[file + 1]].tolist()
            assert got == [float(Fraction(value)) for value in expected]


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
    return replace(
        table,
        file=table.file[order],
        onset=table.onset[order],
        offset=table.offset[order] + longer,
        values=tuple(column[order] for column in table.values),
    )


@pytest.mark.parametrize("pool", ["max", "mean"])
@given(wide_tables(), st.integers(0, 40), st.integers(1, 12))
def test_wide_is_long_unfolded(pool, wide, length, segment):
    long = unfolded(wide)
    assert long.classes == wide.classes
    grid = Grid.over(np.array([length] * len(wide.files)), segment)
    ours, theirs = pool_rows(wide, grid, pool), pool_rows(long, grid, pool)
    if pool == "max":
        assert ours.tolist() == theirs.tolist()
    else:
        # Zeros of a wide table are no pieces, so that overlaps are cut in other places.
        assert ours == pytest.approx(theirs, rel=1e-14, abs=0)
