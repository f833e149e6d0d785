"""Places, their stability, Kendall's tau and groups of ties, against scipy.stats and plain loops."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sedeval_soft.comparison.ranks import kendall, place_interval, places, stability, tie_groups

NAN, INF = np.nan, np.inf
SCORE = st.sampled_from([0.0, 0.25, 0.5, 1.0, 3.0, -1.0, INF, -INF, NAN])
FINITE = st.sampled_from([0.0, 0.25, 0.5, 1.0, NAN])


def test_places_by_hand():
    assert places([0.5, 0.7, 0.5, 0.1], False).tolist() == [2, 1, 2, 4]
    assert places([0.5, 0.7, 0.5, 0.1], True).tolist() == [2, 4, 2, 1]
    assert places([NAN, 0.7, NAN, 0.1], False).tolist() == [3, 1, 3, 2]
    assert places([-INF, NAN, INF], False).tolist() == [2, 3, 1]
    assert places([0.0, -0.0], False).tolist() == [1, 1]
    assert places([[1, 2], [1, 2]], [True, False]).tolist() == [[1, 2], [2, 1]]
    assert places([[]], False).shape == (1, 0) and places([NAN], True).tolist() == [1]


@given(arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 7)), elements=SCORE), st.booleans())
def test_a_place_is_one_more_than_the_number_of_better_systems(values, lower):
    def better(a, b):
        return np.isnan(b) and not np.isnan(a) if np.isnan(a) or np.isnan(b) else a < b if lower else a > b

    wanted = [[1 + sum(better(other, x) for other in row) for x in row] for row in values]
    assert places(values, lower).tolist() == wanted
    assert places(values, np.full(len(values), lower)).tolist() == wanted


def test_stability_and_place_interval_by_hand():
    replicates = np.array([[1, 2, 3]] * 18 + [[2, 1, 3]] * 2)
    assert stability(replicates, [1, 2, 3]) == pytest.approx([0.9, 0.9, 1.0])
    best, worst = place_interval(replicates, 0.95)
    assert best.tolist() == [1, 1, 3] and worst.tolist() == [2, 2, 3]
    # Of 21, a tenth on either side is two whole replicates.
    replicates = np.repeat([1, 2, 3, 4], [1, 1, 17, 2])[:, None]
    assert [end.tolist() for end in place_interval(replicates, 0.8)] == [[3], [3]]
    assert [end.tolist() for end in place_interval(replicates, 0.9)] == [[2], [4]]
    assert [end.tolist() for end in place_interval([[4, 2]], 0.95)] == [[4, 2], [4, 2]]
    assert np.isnan(stability(np.empty((0, 2)), [1, 2])).all()


@given(arrays(np.int64, st.tuples(st.integers(1, 40), st.just(2)), elements=st.integers(1, 5)), st.data())
def test_place_intervals_are_places_that_occurred_and_hold_their_share(replicates, data):
    inner, outer = sorted(data.draw(st.tuples(st.floats(0.01, 0.99), st.floats(0.01, 0.99))))
    best, worst = place_interval(replicates, outer)
    narrow = place_interval(replicates, inner)
    assert (best <= narrow[0]).all() and (narrow[0] <= narrow[1]).all() and (narrow[1] <= worst).all()
    held = ((replicates >= best) & (replicates <= worst)).mean(axis=0)
    assert (held >= outer - 1e-9).all()
    for j in range(2):
        assert best[j] in replicates[:, j] and worst[j] in replicates[:, j]


@given(
    arrays(np.float64, st.tuples(st.integers(0, 7), st.just(4)), elements=FINITE),
    st.tuples(*[st.booleans()] * 4),
)
def test_kendall_is_that_of_scipy(values, lower):
    tau = kendall(values, lower)
    turned = np.where(lower, -values, values)
    for i in range(4):
        for j in range(4):
            both = ~np.isnan(turned[:, i]) & ~np.isnan(turned[:, j])
            pair = turned[both][:, [i, j]]
            constant = len(pair) < 2 or (np.ptp(pair, axis=0) == 0).any()
            wanted = NAN if constant else scipy.stats.kendalltau(*pair.T).statistic
            assert tau[i, j] == pytest.approx(wanted, abs=1e-12, nan_ok=True)
    assert np.array_equal(tau, tau.T, equal_nan=True)
    assert (np.abs(tau[~np.isnan(tau)]) <= 1).all()


def test_groups_are_separated_from_their_first():
    means = {0: 0.9, 1: 0.85, 2: 0.82, 3: 0.78, 4: 0.5}

    def p_values(first, others):
        return np.array([0.0 if means[first] - means[other] > 0.1 else 1.0 for other in others])

    # 3 is close to 2, but far from 0, with which the group began.
    assert tie_groups([0, 1, 2, 3, 4], p_values, 0.05) == [[0, 1, 2], [3], [4]]
    assert tie_groups([2, 0, 1], lambda _, others: np.full(len(others), 0.05), 0.05) == [[2, 0, 1]]
    assert tie_groups([2, 0, 1], lambda _, others: np.full(len(others), np.nan), 0.05) == [[2], [0], [1]]
    assert tie_groups([], p_values, 0.05) == []
