"""P-values: against plain counting, scipy.stats.binomtest, Holm by hand, and laws."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sedeval_soft.comparison.ranks import holm, mcnemar, p_bootstrap, p_exchange

NAN, INF = np.nan, np.inf
P = st.one_of(st.floats(1e-12, 1), st.just(NAN))
DIFFERENCES = arrays(np.float64, st.tuples(st.integers(0, 20), st.just(3)), elements=st.integers(-4, 4))


@given(DIFFERENCES, st.tuples(*[st.integers(-4, 4)] * 3))
def test_p_is_the_share_of_what_is_as_extreme(differences, observed):
    n = len(differences)
    exchanged = [sum(abs(x) >= abs(d) for x in c) for c, d in zip(differences.T, observed, strict=True)]
    centred = [sum(abs(x - d) >= abs(d) for x in c) for c, d in zip(differences.T, observed, strict=True)]
    assert p_exchange(differences, observed).tolist() == [(1 + k) / (1 + n) for k in exchanged]
    assert p_bootstrap(differences, observed).tolist() == [(1 + k) / (1 + n) for k in centred]


@pytest.mark.parametrize("test", [p_bootstrap, p_exchange])
@given(differences=DIFFERENCES, observed=st.integers(-4, 4), random=st.randoms())
def test_p_is_in_range_and_does_not_depend_on_order_or_side(test, differences, observed, random):
    column = differences[:, :1].copy()
    p = test(column, [observed])
    assert 0 < p[0] <= 1
    assert test(-column, [-observed]) == p
    random.shuffle(column[:, 0])
    assert test(column, [observed]) == p


@pytest.mark.parametrize("test", [p_bootstrap, p_exchange])
def test_undefined_differences(test):
    known = np.array([[0.3], [-0.2], [0.1], [0.0]])
    holes = np.insert(known, [0, 2, 4], NAN, axis=0)
    assert test(holes, [0.15]) == test(known, [0.15])
    assert test(np.full((4, 1), NAN), [0.15]) == [1.0]
    assert test(np.empty((0, 1)), [0.15]) == [1.0]
    given_all = np.tile(known, (1, 4))
    assert np.isnan(test(given_all, [NAN, INF, -INF, 0.15])).tolist() == [True, True, True, False]
    # An infinite difference is as extreme as any.
    assert test([[INF], [-INF], [0.15], [0.15]], [0.15]) == [3 / 5 if test is p_bootstrap else 1.0]


def test_rounding_does_not_decide():
    d = 0.1 + 0.2 - 0.3  # 5.6e-17
    assert d != 0
    assert p_exchange(np.zeros((99, 1)), [d]) == [1.0]
    assert p_bootstrap(np.full((99, 1), d), [0.0]) == [1.0]
    third = 1 / 3
    assert p_exchange(np.full((99, 1), np.nextafter(third, 0)), [third]) == [1.0]
    assert p_bootstrap(np.full((99, 1), -1e-16), [third]) == [1.0]
    assert p_exchange(np.full((99, 1), 1e6 * (1 - 1e-12)), [1e6]) == [1.0]
    # Real differences decide, small as they may be.
    assert p_exchange(np.full((99, 1), third * (1 - 1e-8)), [third]) == [0.01]
    assert p_exchange(np.zeros((99, 1)), [1e-9]) == [0.01]


def test_holm_by_hand():
    # Sorted .005 .01 .03 .04 times 4 3 2 1: .02 .03 .06 .04; the last is raised to .06.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.01, NAN, 0.04]) == pytest.approx([0.02, NAN, 0.04], nan_ok=True)
    assert holm([[0.6], [0.5]]).tolist() == [[1.0], [1.0]]
    assert holm([]).shape == (0,)
    assert holm(0.3) == 0.3


@given(arrays(np.float64, st.tuples(st.integers(0, 12)), elements=P), st.randoms())
def test_laws_of_holm(p, random):
    adjusted = holm(p)
    known = ~np.isnan(p)
    assert np.array_equal(np.isnan(adjusted), ~known)
    # At least the p-value, at most Bonferroni's; in the same order.
    assert (adjusted[known] >= p[known]).all() and (adjusted[known] <= 1).all()
    assert (adjusted[known] <= np.minimum(p[known] * known.sum(), 1) + 1e-15).all()
    assert (np.diff(adjusted[known][np.argsort(p[known])]) >= 0).all()
    order = list(range(len(p)))
    random.shuffle(order)
    assert np.array_equal(holm(p[order]), adjusted[order], equal_nan=True)


def test_mcnemar_is_the_binomial_test():
    first, second = np.meshgrid(np.arange(31), np.arange(31))
    wanted = [
        1.0 if a + b == 0 else scipy.stats.binomtest(int(a), int(a + b)).pvalue
        for a, b in zip(first.ravel(), second.ravel(), strict=True)
    ]
    p = mcnemar(first, second)
    assert p.shape == (31, 31)
    np.testing.assert_allclose(p.ravel(), wanted, rtol=1e-11)
    assert p[0, 0] == 1.0 and p[5, 5] == 1.0 and p[0, 1] == 1.0 and p[0, 2] == 0.5


@pytest.mark.parametrize(
    ("first", "second"),
    [(10**7, 10**7), (10**7, 10**7 - 1), (4_999_000, 5_001_000), (9_990_000, 10**7), (10**7, 10), (0, 900)],
)
def test_mcnemar_of_many_segments(first, second):
    wanted = scipy.stats.binomtest(first, first + second).pvalue
    assert float(mcnemar(first, second)) == pytest.approx(wanted, rel=1e-9, abs=1e-300)
    assert mcnemar(second, first) == mcnemar(first, second)
