"""p-values, places, Kendall's tau and ties of systems, against scipy.stats, fractions and by hand.

Also exact p-values of few files, scores that differ by rounding, and intervals in the range of a score.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tables import columns_of

from sedeval_soft import compare, mean_of_runs
from sedeval_soft.comparison import places
from sedeval_soft.comparison.ranks import (
    alike_groups,
    holm,
    kendall,
    letters,
    mcnemar,
    p_bootstrap,
    p_exchange,
)
from sedeval_soft.evaluation.resample import all_exchanges, exchanges

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
        # Real differences decide, however small.
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

    # System 3 is close to 1 and 2 but far from 0, where the first run begins; the run from 2 is part of 1's.
    groups = alike_groups([0, 1, 2, 3, 4], p_values, 0.05)
    assert groups == [range(3), range(1, 4), range(4, 5)]
    assert letters(groups) == ["a", "ab", "ab", "b", "c"]
    assert alike_groups([2, 0, 1], lambda _, others: np.full(len(others), 0.05), 0.05) == [range(3)]
    apart = alike_groups([2, 0, 1], lambda _, others: np.full(len(others), np.nan), 0.05)
    assert letters(apart) == ["a", "b", "c"]
    assert letters(alike_groups([], p_values, 0.05)) == []


def test_places_and_tau_have_a_tolerance_of_1e_12():
    assert places([0.5, 0.5 + 1e-13, 0.5 - 1e-13, 0.4], False).tolist() == [1, 1, 1, 4]
    assert places([0.5, 0.5 + 1e-11], False).tolist() == [2, 1]
    assert places([1e6, 1e6 * (1 + 1e-13), np.inf, np.inf, np.nan, np.nan], False).tolist() == [
        *(3, 3, 1, 1, 5, 5)
    ]
    # Both order two of three pairs alike; the third is a tie in the first: tau-b = 2 / sqrt(2 * 3).
    scores = np.array([[0.5, 0.1], [0.5 + 1e-14, 0.2], [0.7, 0.3]])
    assert kendall(scores, [False, False])[0, 1] == pytest.approx(2 / math.sqrt(6), rel=1e-12)


# --- exact p-values of few files ----------------------------------------------------------------------


def table(values: dict[str, list[float]]) -> dict[str, list]:
    """Return one class with a value in each second of some files."""
    return columns_of([(f, k, k + 1, "car", v) for f, column in values.items() for k, v in enumerate(column)])


def soft_f(reference: dict[str, list[float]], system: dict[str, list[float]]) -> Fraction:
    """Return 2 sum min(y, p) / sum (y + p), in fractions."""
    pairs = [pair for f in reference for pair in zip(reference[f], system[f], strict=True)]
    return 2 * Fraction(sum(min(pair) for pair in pairs)) / Fraction(sum(sum(pair) for pair in pairs))


@pytest.mark.parametrize(("n_files", "seed"), [(2, 0), (6, 0), (6, 23)])
def test_p_exchange_of_few_files_is_exact_and_has_no_seed(n_files, seed):
    """Enumerate all exchanges in fractions: random draws of 6 files gave .048 to .080 for .0625.

    All files agree, so two of 2^n exchanges are as extreme as the observed difference.
    """
    rng = np.random.default_rng(n_files)
    reference, other = (
        {k: (rng.integers(1, 9, 4) / 8).tolist() for k in "abcdef"[:n_files]} for _ in range(2)
    )
    one = {f: [(3 * y + p) / 4 for y, p in zip(reference[f], other[f], strict=True)] for f in reference}
    asked = {"rank_by": "segment.soft.f1.micro", "only": "segment.soft", "seed": seed}
    entries = compare(table(reference), {"one": table(one), "other": table(other)}, **asked).entries
    off = []
    for moved in itertools.product((False, True), repeat=n_files):
        swap = dict(zip(reference, moved, strict=True))
        sides = [{f: (b if swap[f] else a)[f] for f in reference} for a, b in ((one, other), (other, one))]
        off.append(abs(soft_f(reference, sides[0]) - soft_f(reference, sides[1])))
    p = sum(each >= off[0] for each in off) / len(off)
    assert entries[1].difference.p_exchange == p == 2 / 2**n_files
    assert "".join(entry.letters for entry in entries) == ("aa" if n_files == 2 else "ab")


def test_all_exchanges_are_each_yielded_once_without_a_complement():
    for n in range(1, 9):
        rows = [tuple(row) for block in exchanges(n, 2 ** (n - 1), 0) for row in block.astype(int).tolist()]
        assert len(rows) == all_exchanges(n) - 1 == 2 ** (n - 1) - 1
        halves = {(0,) * n, *rows}
        assert len(halves | {tuple(1 - k for k in row) for row in halves}) == 2**n
        # With one replicate fewer, exchanges are drawn.
        assert sum(map(len, exchanges(n, 2 ** (n - 1) - 1, 0))) == 2 ** (n - 1) - 1 or n == 1


# Equal scores whose values come in another order.


def test_values_in_another_order_give_the_same_place():
    """Two systems with the same values in other seconds have the same F in fractions, and the same place."""
    rng, unlike = np.random.default_rng(1), 0
    for _ in range(8):
        values = (rng.integers(1, 1000, 12) / 1000).tolist()
        systems = {"a": values, "b": rng.permutation(values).tolist()}
        asked = {"rank_by": "segment.soft.f1.micro", "only": "segment.soft", "replicates": 2}
        tables = {name: table({"f": column, "g": column[::-1]}) for name, column in systems.items()}
        first, second = compare(table({"f": [1.0] * 12, "g": [1.0] * 12}), tables, **asked).entries
        unlike += first.value != second.value
        assert (first.place, second.place) == (1, 1)
        assert second.difference.value == 0.0 and second.difference.p_exchange == 1.0
    assert unlike, "no sum was rounded otherwise: these are no values to test with"


# Limits of intervals.


def test_intervals_over_runs_lie_within_the_range_of_the_score():
    """Two runs have F of 2/3 and 1: with t = 12.7 (one degree of freedom) the interval would leave [0, 1]."""
    reference = table({"f": [1.0, 1.0, 1.0]})
    runs = {"1": table({"f": [1.0, 1.0, 1.0]}), "2": table({"f": [1.0, 0.5, 0.0]})}
    scores = mean_of_runs(reference, runs, only="segment.soft")
    f1, error_rate = (scores.score(f"segment.soft.{name}.micro") for name in ("f1", "error_rate"))
    assert (f1.value, f1.low, f1.high) == (pytest.approx(5 / 6, rel=1e-12), 0.0, 1.0)
    # By hand: error rates of 0 and 1/2 give 1/4 + 12.706 / 4; an error rate has no upper limit.
    high = pytest.approx(0.25 + 0.25 * math.tan(math.pi * 0.475), rel=1e-12)
    assert (error_rate.low, error_rate.high) == (0.0, high)
