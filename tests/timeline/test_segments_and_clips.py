"""Segments of all files on one line, and values of segments and clips against a look at every tick."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles import END, FILES, LEVELS, in_seconds, segment_values, tick_rows
from tables import long_rows, wide_rows

from sedeval_soft.api.evaluation import evaluate_rows
from sedeval_soft.errors import EvaluationError
from sedeval_soft.memory import memory_limited, taken
from sedeval_soft.settings import Settings
from sedeval_soft.timeline.grid import Grid, pool_rows

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


@st.composite
def wide_tables(draw):
    """Time steps that fit segments, share them, cross them, overlap, leave gaps, or come in any order."""
    n = draw(st.integers(1, 10))
    values = np.array(draw(st.lists(st.tuples(LEVELS, LEVELS), min_size=n, max_size=n)))
    table = wide_rows(values, length=draw(st.integers(1, 5)) / 10, files=draw(st.integers(1, 2)))
    table = table.take(np.array(draw(st.permutations(range(n)))))
    longer = draw(st.sampled_from([1.0, 1.0, 3.0, 0.5]))
    return replace(table, offset=table.onset + longer * (table.offset - table.onset))


@settings(max_examples=10)
@given(wide_tables(), wide_tables(), st.sampled_from(["max", "mean"]), st.sampled_from(["merge", "rows"]))
def test_a_wide_table_is_the_long_one_unfolded(reference, system, pool, events):
    """In its segments, its clips and its events, at one level and at all."""
    long = [
        long_rows([
            (side.files[file], onset, offset, label, value)
            for label, column in zip(side.classes, side.values, strict=True)
            for file, onset, offset, value in zip(side.file, side.onset, side.offset, column, strict=True)
        ], files=side.files)
        for side in (reference, system)
    ]  # fmt: skip
    only = ("segment", "clip", "event.hard", "event.soft", "event.optimal")
    asked = Settings(
        only=only, segment_length=0.3, pool=pool, events=events, threshold=0.3, classes=("class0", "class1")
    )
    ours, theirs = (evaluate_rows(*sides, asked) for sides in ((reference, system), long))
    wanted = {name: v if v is None else pytest.approx(v, rel=1e-12, abs=1e-12) for name, v in theirs.items()}
    assert dict(ours) == wanted


def test_segments_that_are_dropped_one_after_another_are_gone():
    """By hand: of 0 to 9 of a and 0 to 4 of b first 1, 2 and 10, then, by their new numbers, 0, 5 and 6."""
    grid = Grid.over(np.array([10, 5]), 1).without(np.array([10, 1]), np.array([11, 3]))
    grid = grid.without(np.array([5, 0]), np.array([7, 1]))
    files, begin, _ = grid.spans(np.arange(grid.size))
    assert (files.tolist(), begin.tolist()) == ([0] * 5 + [1] * 4, [3, 4, 5, 6, 9, 1, 2, 3, 4])
    assert [each.tolist() for each in grid.runs()] == [[0, 0, 1], [3, 9, 1], [7, 10, 5]]
    assert grid.n_segments.tolist() == grid.n_evaluated.tolist() == [5, 4]
