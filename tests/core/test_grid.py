"""Segments of all files on one line."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sedeval_soft.errors import EvaluationError
from sedeval_soft.tables.ticks import tick, to_seconds, to_ticks
from sedeval_soft.timeline.grid import Grid

LENGTHS = st.lists(st.integers(0, 20), min_size=1, max_size=4)


@given(LENGTHS, st.integers(1, 7))
def test_segments_cover_each_file(lengths, segment):
    grid = Grid.over(np.array(lengths), segment)
    counts = [len(range(0, length, segment)) for length in lengths]
    assert grid.n_segments.tolist() == counts
    assert grid.start.tolist() == [sum(counts[:i]) for i in range(len(counts) + 1)]
    assert grid.size == sum(counts)


@given(LENGTHS, st.integers(1, 7), st.data())
def test_cells_are_those_that_a_row_overlaps(lengths, segment, data):
    grid = Grid.over(np.array(lengths), segment)
    file = data.draw(st.integers(0, len(lengths) - 1))
    onset, offset = sorted(data.draw(st.tuples(st.integers(0, 30), st.integers(0, 30))))
    first, last = grid.cells(np.array([file], dtype=np.int32), np.array([onset]), np.array([offset]))
    begin = int(grid.start[file])
    expected = [
        begin + k
        for k in range(int(grid.n_segments[file]))
        if any(k * segment <= t < (k + 1) * segment for t in range(onset, offset))
    ]
    assert list(range(int(first[0]), int(last[0]))) == expected
    assert first[0] <= last[0] <= grid.size


def test_too_large_a_grid_is_refused():
    grid = Grid.over(np.array([10**15]), 1000)
    with pytest.raises(EvaluationError, match=r"[Aa]re the times in seconds\?"):
        grid.check_size(17)


def test_values_in_order_take_twice_the_room(monkeypatch):
    from sedeval_soft import memory

    monkeypatch.setattr(memory, "free", lambda: int(17 * 10**7 * 30 / memory.SHARE))
    grid = Grid.over(np.array([10**7]), 1)
    grid.check_size(17)
    for how in ({"in_order": True}, {"means": True}):
        with pytest.raises(EvaluationError, match="are free, of which 80% may be taken"):
            grid.check_size(17, **how)


def test_more_segments_than_can_be_counted_are_refused():
    with pytest.raises(EvaluationError, match="than can be counted"):
        Grid.over(np.full(10_000, 10**15), 1)


@given(st.integers(0, 10**13))
def test_ticks_and_seconds_round_trip(ticks):
    seconds = to_seconds(np.array([ticks]))
    assert to_ticks(seconds).tolist() == [ticks]
    assert tick(float(seconds[0])) == ticks


@given(st.integers(0, 10**6), st.sampled_from([0.1, 0.2, 0.3, 0.01, 0.04, 1.0]))
def test_multiples_of_a_segment_are_on_the_grid(n, length):
    """In floats a third of the multiples of 0.1 are not: 0.3 / 0.1 is 2.9999999999999996."""
    assert tick(n * length) == n * tick(length)
