"""The pyramid of minima against plain loops."""

from __future__ import annotations

import numpy as np
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
