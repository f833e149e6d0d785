"""Sums over points below and left of others, against plain loops."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sedeval_soft.measures.soft_intersections import sums_below

PLACE = st.integers(0, 6)
POINTS = st.lists(st.tuples(PLACE, PLACE, st.integers(-9, 9)), max_size=40)
QUESTIONS = st.lists(st.tuples(PLACE, PLACE), max_size=40)


@settings(max_examples=400)
@given(POINTS, QUESTIONS)
def test_every_point_that_is_not_above_nor_right(points, questions):
    """With ties between points and questions in either coordinate."""
    y, x, weight = (np.array([p[i] for p in points], dtype=np.int64) for i in range(3))
    asked = tuple(np.array([q[i] for q in questions], dtype=np.int64) for i in range(2))
    sums = sums_below((y / 4, x), [weight, np.ones_like(weight)], (asked[0] / 4, asked[1]))
    below = [[w for py, px, w in points if py <= qy and px <= qx] for qy, qx in questions]
    assert sums[0].tolist() == [sum(weights) for weights in below]
    assert sums[1].tolist() == [len(weights) for weights in below]


def test_many_at_once():
    """Some hundred of each, so that halves are halved often, also at sizes that are no power of two."""
    rng = np.random.default_rng(0)
    for n, m in ((1, 300), (300, 1), (257, 255), (400, 113), (128, 128)):
        y, x, weight = rng.random(n), rng.integers(0, 50, n), rng.integers(-100, 100, n)
        qy, qx = rng.random(m), rng.integers(0, 50, m)
        (sums,) = sums_below((y, x), [weight], (qy, qx))
        below = (y <= qy[:, None]) & (x <= qx[:, None])
        assert (sums == (below * weight).sum(axis=1)).all()


def test_sums_that_wrap_around_come_back():
    """What is far beyond 64 bits on the way is right where the sum itself is not."""
    large = np.array([2**62, 2**62, 2**62, -(2**62), -(2**62), -(2**62), 5], dtype=np.int64)
    place = np.arange(7)
    (sums,) = sums_below((place, place), [large], (np.array([6]), np.array([6])))
    assert sums.tolist() == [5]


def test_nothing_at_all():
    none = np.zeros(0, dtype=np.int64)
    (sums,) = sums_below((none, none), [none], (none, none))
    assert len(sums) == 0
    (sums,) = sums_below((none, none), [none], (np.array([1.0]), np.array([1])))
    assert sums.tolist() == [0]
