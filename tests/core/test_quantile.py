"""Weighted quantiles of ranges, against plain loops."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sedeval_soft.measures.soft_intersections import highest_level

CELLS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 4)), min_size=1, max_size=24)


def by_hand(values, weights, first, last, needed):
    cells = list(zip(values, weights, strict=True))[first:last]
    levels = [v for v, _ in cells if sum(w for u, w in cells if u >= v) >= needed]
    return max(levels, default=0.0)


@settings(max_examples=120)
@given(CELLS, st.data())
def test_all_ranges(cells, data):
    values, weights = [v / 6 for v, _ in cells], [w for _, w in cells]
    ranges = [(a, b) for a in range(len(cells) + 1) for b in range(a, len(cells) + 1)]
    needed = data.draw(st.lists(st.integers(1, 30), min_size=len(ranges), max_size=len(ranges)))
    first, last = np.array(ranges, dtype=np.int64).T
    levels = highest_level(np.array(values), np.array(weights), first, last, np.array(needed))
    wanted = [by_hand(values, weights, *pair, need) for pair, need in zip(ranges, needed, strict=True)]
    assert levels.tolist() == wanted


def test_one_value_and_weights_of_years():
    """All alike, and weights near the largest sums of ticks: nothing overflows."""
    values, weight = np.full(9, 0.3), np.full(9, 2**59, dtype=np.int64)
    first, last = np.array([0, 0, 4]), np.array([9, 8, 4])
    needed = np.array([9 * 2**59, 9 * 2**59, 1])
    assert highest_level(values, weight, first, last, needed).tolist() == [0.3, 0.0, 0.0]
