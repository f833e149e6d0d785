"""Undefined differences, rounding, places, Kendall's tau and ties, against scipy.stats and by hand."""

import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sedeval_soft.comparison.ranks import (
    alike_groups,
    holm,
    kendall,
    letters,
    mcnemar,
    p_bootstrap,
    p_exchange,
    places,
)

NAN, INF = np.nan, np.inf
SCORE = st.sampled_from([0.0, 0.25, 0.5, 1.0, 3.0, -1.0, INF, -INF, NAN])
FINITE = st.sampled_from([0.0, 0.25, 0.5, 1.0, NAN])


@pytest.mark.parametrize("test", [p_bootstrap, p_exchange])
def test_undefined_differences(test):
    known = np.array([[0.3], [-0.2], [0.1], [0.0]])
    assert test(np.insert(known, [0, 2, 4], NAN, axis=0), [0.15]) == test(known, [0.15])
    assert test(np.full((4, 1), NAN), [0.15]) == test(np.empty((0, 1)), [0.15]) == [1.0]
    p = test(np.tile(known, (1, 4)), [NAN, INF, -INF, 0.15])
    assert np.isnan(p).tolist() == [True, True, True, False]
    # An infinite difference is as extreme as any.
    assert test([[INF], [-INF], [0.15], [0.15]], [0.15]) == [3 / 5 if test is p_bootstrap else 1.0]


def test_rounding_does_not_decide():
    d, third = 0.1 + 0.2 - 0.3, 1 / 3  # 5.6e-17
    for test, each, observed, p in (
        (p_exchange, 0.0, d, 1.0), (p_exchange, np.nextafter(third, 0), third, 1.0),
        (p_exchange, 1e6 * (1 - 1e-12), 1e6, 1.0),
        (p_bootstrap, d, 0.0, 1.0), (p_bootstrap, -1e-16, third, 1.0),
        # Real differences decide, small as they may be.
        (p_exchange, third * (1 - 1e-8), third, 0.01), (p_exchange, 0.0, 1e-9, 0.01),
    ):  # fmt: skip
        assert test(np.full((99, 1), each), [observed]) == [p]


def test_holm_by_hand():
    # Sorted .005 .01 .03 .04 times 4 3 2 1: .02 .03 .06 .04; the last is raised to .06.
    adjusted = holm([0.01, 0.04, NAN, 0.03, 0.005])
    assert adjusted == pytest.approx([0.03, 0.06, NAN, 0.06, 0.02], nan_ok=True)
    assert holm([[0.6], [0.7]]).tolist() == [[1.0], [1.0]]


def test_mcnemar_is_the_binomial_test():
    n = 10**7
    many = [(n, n), (n, n - 1), (4_999_000, 5_001_000), (9_990_000, n), (n, 10), (0, 900), (900, 0)]
    counts = [*itertools.product(range(21), repeat=2), *many]
    wanted = [scipy.stats.binomtest(a, max(a + b, 1)).pvalue for a, b in counts]
    np.testing.assert_allclose(mcnemar(*np.transpose(counts)), wanted, rtol=1e-9, atol=1e-300)


@given(arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 7)), elements=SCORE), st.booleans())
def test_a_place_is_one_more_than_the_number_of_better_systems(values, lower):
    def better(a, b):
        return np.isnan(b) and not np.isnan(a) if np.isnan(a) or np.isnan(b) else a < b if lower else a > b

    wanted = [[1 + sum(better(other, x) for other in row) for x in row] for row in values]
    assert places(values, lower).tolist() == places(values, np.full(len(values), lower)).tolist() == wanted


@given(
    arrays(np.float64, st.tuples(st.integers(0, 7), st.just(4)), elements=FINITE),
    st.tuples(*[st.booleans()] * 4),
)
def test_kendall_is_that_of_scipy(values, lower):
    tau, turned = kendall(values, lower), np.where(lower, -values, values)
    for i, j in np.ndindex(4, 4):
        pair = turned[~np.isnan(turned[:, [i, j]]).any(axis=1)][:, [i, j]]
        constant = len(pair) < 2 or (np.ptp(pair, axis=0) == 0).any()
        wanted = NAN if constant else scipy.stats.kendalltau(*pair.T).statistic
        assert tau[i, j] == pytest.approx(wanted, abs=1e-12, nan_ok=True)


def test_systems_that_share_a_letter_are_in_a_run_that_no_difference_ends():
    means = [0.9, 0.85, 0.82, 0.78, 0.5]

    def p_values(first, others):
        return np.array([0.0 if means[first] - means[other] > 0.1 else 1.0 for other in others])

    # 3 is close to 1 and 2, but far from 0, with which the first run began; the run of 2 lies in that of 1.
    groups = alike_groups([0, 1, 2, 3, 4], p_values, 0.05)
    assert groups == [range(3), range(1, 4), range(4, 5)]
    assert letters(groups) == ["a", "ab", "ab", "b", "c"]
    assert alike_groups([2, 0, 1], lambda _, others: np.full(len(others), 0.05), 0.05) == [range(3)]
    apart = alike_groups([2, 0, 1], lambda _, others: np.full(len(others), np.nan), 0.05)
    assert letters(apart) == ["a", "b", "c"]
    assert letters(alike_groups([], p_values, 0.05)) == []
