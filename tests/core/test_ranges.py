"""Maxima over ranges against loops over every cell."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sedeval_soft.timeline.ranges import range_maximum, running_maximum


@st.composite
def ranges(draw):
    size = draw(st.integers(1, 70))
    edge = st.integers(0, size)
    found = draw(st.lists(st.tuples(edge, edge, st.floats(0, 1)), max_size=30))
    return size, [(*sorted((a, b)), value) for a, b, value in found]


@given(ranges(), st.sampled_from([0.0, -1.0]))
def test_range_maximum(case, empty):
    size, found = case
    expected = [max([v for a, b, v in found if a <= cell < b], default=empty) for cell in range(size)]
    first, last = (np.array([item[k] for item in found], dtype=np.int64) for k in (0, 1))
    value = np.array([item[2] for item in found], dtype=np.float64)
    assert range_maximum(size, first, last, value, empty).tolist() == expected


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2**62)), max_size=40).map(
        lambda x: sorted(x, key=lambda t: t[0])
    )
)
def test_running_maximum(items):
    group, value = (np.array([item[k] for item in items], dtype=np.int64) for k in (0, 1))
    expected = [max(v for g, v in items[: i + 1] if g == items[i][0]) for i in range(len(items))]
    assert running_maximum(value, group).tolist() == expected
