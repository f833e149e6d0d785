"""The pyramid of minima against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sedeval_soft.timeline.ranges import Pyramid

VALUES = st.lists(st.integers(0, 5).map(float), min_size=1, max_size=50)


@settings(max_examples=100)
@given(VALUES, st.booleans(), st.booleans())
def test_the_nearest_smaller_value_before(values, or_equal, tied):
    """From every place for every wanted value for which there is one; wanted values between and at values."""
    array = np.array(values)
    asked = []
    for place in range(len(values)):
        for wanted in {*values, 0.5, 3.5, 9.0} if tied else {values[place]}:
            small = [i for i in range(place) if values[i] < wanted or (or_equal and values[i] == wanted)]
            if small:
                asked.append((place, wanted, small[-1]))
    places = np.array([place for place, _, _ in asked], dtype=np.int64)
    wanted = np.array([value for _, value, _ in asked])
    found = Pyramid(array).before(places, wanted, or_equal=or_equal)
    assert found.tolist() == [answer for _, _, answer in asked]
    # What was asked is not written to.
    assert places.tolist() == [place for place, _, _ in asked]


@settings(max_examples=100)
@given(VALUES)
def test_minima_of_all_ranges(values):
    ranges = [(a, b) for a in range(len(values) + 1) for b in range(a, len(values) + 1)]
    first, last = np.array(ranges, dtype=np.int64).T
    smallest = Pyramid(np.array(values)).minimum(first, last)
    assert smallest.tolist() == [min(values[a:b], default=np.inf) for a, b in ranges]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 8, 9, 255, 256, 257, 1000])
def test_sizes_around_powers_of_two(n):
    """A far answer: the only small value stands first, or last in a range."""
    values = np.ones(n)
    values[0] = 0.0
    pyramid = Pyramid(values)
    places = np.arange(1, n, dtype=np.int64)
    assert (pyramid.before(places, np.ones(n - 1), or_equal=False) == 0).all()
    assert (pyramid.before(places, np.ones(n - 1), or_equal=True) == places - 1).all()
    first = np.array([0, min(1, n - 1)], dtype=np.int64)
    assert pyramid.minimum(first, np.array([n, n])).tolist() == [0.0, 0.0 if n == 1 else 1.0]


def test_nothing_asked():
    pyramid, none = Pyramid(np.zeros(5)), np.zeros(0, dtype=np.int64)
    assert len(pyramid.before(none, np.zeros(0), or_equal=True)) == 0
    assert len(pyramid.minimum(none, none)) == 0
