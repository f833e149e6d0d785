"""Sums over points below and left of others, and weighted quantiles of ranges, against plain loops."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from sedeval_soft.measures.soft_intersections import highest_level, sums_below

PLACE = st.integers(0, 6)


@given(
    st.lists(st.tuples(PLACE, PLACE, st.integers(-9, 9)), max_size=40),
    st.lists(st.tuples(PLACE, PLACE), max_size=40),
)
@example([], [])
@example([], [(1, 1)])
def test_every_point_that_is_not_above_nor_right(points, questions):
    """With ties between points and questions in either coordinate."""
    y, x, weight = (np.array([p[i] for p in points], dtype=np.int64) for i in range(3))
    places = tuple(np.array([q[i] for q in questions], dtype=np.int64) for i in range(2))
    sums = sums_below((y / 4, x), [weight, np.ones_like(weight)], (places[0] / 4, places[1]))
    below = [[w for py, px, w in points if py <= qy and px <= qx] for qy, qx in questions]
    assert sums[0].tolist() == [sum(weights) for weights in below]
    assert sums[1].tolist() == [len(weights) for weights in below]


def test_many_at_once_and_sums_that_wrap_around_come_back():
    """Halves are halved often, also at sizes that are no power of two."""
    rng = np.random.default_rng(0)
    for n, m in ((1, 300), (300, 1), (257, 255), (400, 113), (128, 128)):
        y, x, weight = rng.random(n), rng.integers(0, 50, n), rng.integers(-100, 100, n)
        qy, qx = rng.random(m), rng.integers(0, 50, m)
        (sums,) = sums_below((y, x), [weight], (qy, qx))
        below = (y <= qy[:, None]) & (x <= qx[:, None])
        assert (sums == (below * weight).sum(axis=1)).all()
    # What is far beyond 64 bits on the way is right where the sum itself is not.
    large = np.array([2**62, 2**62, 2**62, -(2**62), -(2**62), -(2**62), 5], dtype=np.int64)
    (sums,) = sums_below((np.arange(7), np.arange(7)), [large], (np.array([6]), np.array([6])))
    assert sums.tolist() == [5]


@given(st.lists(st.tuples(PLACE, st.integers(0, 4)), min_size=1, max_size=20), st.integers(0, 2**32))
def test_the_highest_level_that_enough_of_a_range_reaches(cells, seed):
    values, weights = [v / 6 for v, _ in cells], [w for _, w in cells]
    ranges = [(a, b) for a in range(len(cells) + 1) for b in range(a, len(cells) + 1)]
    needed = np.random.default_rng(seed).integers(1, 30, len(ranges))
    first, last = np.array(ranges, dtype=np.int64).T
    levels = highest_level(np.array(values), np.array(weights), first, last, needed)
    for (a, b), least, level in zip(ranges, needed, levels, strict=True):
        here = list(zip(values, weights, strict=True))[a:b]
        reached = [v for v, _ in here if sum(w for u, w in here if u >= v) >= least]
        assert level == max(reached, default=0.0)


def test_one_value_and_weights_of_years():
    """All alike, and weights near the largest sums of ticks: nothing overflows."""
    values, weight = np.full(9, 0.3), np.full(9, 2**59, dtype=np.int64)
    first, last = np.array([0, 0, 4]), np.array([9, 8, 4])
    needed = np.array([9 * 2**59, 9 * 2**59, 1])
    assert highest_level(values, weight, first, last, needed).tolist() == [0.3, 0.0, 0.0]
