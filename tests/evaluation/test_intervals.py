"""Intervals: against scipy.stats.bootstrap on the same resamples, plain formulas, and laws."""

import numpy as np
import pytest
import scipy.stats
from documents import script

from sedeval_soft.evaluation.intervals import (
    MEASURED,
    MEASURED_WITH,
    bca,
    expanded_z,
    jackknife,
    mean_of_runs,
    percentile,
)

NAN, INF = np.nan, np.inf


def ratio(part, whole, axis=-1):
    return 2 * part.sum(axis=axis) / whole.sum(axis=axis)


def mean_of(part, whole, axis=-1):
    return part.mean(axis=axis)


@pytest.mark.parametrize("statistic", [ratio, mean_of])
@pytest.mark.parametrize("confidence", [0.5, 0.99])
@pytest.mark.parametrize("n_files", [5, 60])
def test_percentile_and_bca_are_those_of_scipy(statistic, confidence, n_files):
    """Skewed, with a common factor, and in whole numbers: replicates are tied with the estimate."""
    rng = np.random.default_rng(n_files)
    size = rng.geometric(0.1, (25, n_files))
    part, whole = rng.binomial(size, 0.4).astype(float), (2 * size + rng.poisson(3, size.shape)).astype(float)
    left_out = np.array([statistic(np.delete(part, i, -1), np.delete(whole, i, -1)) for i in range(n_files)])
    how = {"vectorized": True, "paired": True, "axis": -1, "n_resamples": 499, "rng": rng}
    for method, interval in (
        ("percentile", percentile),
        ("BCa", lambda values, level: bca(values, statistic(part, whole), left_out, level)),
    ):
        wanted = scipy.stats.bootstrap(
            (part, whole), statistic, confidence_level=confidence, method=method, **how
        )
        ours = interval(wanted.bootstrap_distribution.T, confidence)
        np.testing.assert_allclose(ours, wanted.confidence_interval, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999999])
def test_expanded_ends_are_those_of_student(confidence):
    level = (1 + confidence) / 2
    for n in (2, 3, 8, 50):
        wanted = np.sqrt(n / (n - 1)) * scipy.stats.t.ppf(level, n - 1)
        assert expanded_z(confidence, n) == pytest.approx(wanted, rel=1e-9)
    assert expanded_z(confidence, 10**7) == pytest.approx(scipy.stats.norm.ppf(level), rel=1e-5)
    # They are the ends of BCa for a confidence whose z is as large.
    values, left_out = np.split(np.random.default_rng(1).gamma(1.0, size=(149, 1)), [99])
    wanted = bca(values, [1.1], left_out, 2 * scipy.stats.norm.cdf(expanded_z(confidence, 50)) - 1)
    np.testing.assert_allclose(bca(values, [1.1], left_out, confidence, expanded=True), wanted, rtol=1e-6)


def test_what_is_undefined_is_left_out_score_by_score():
    rng = np.random.default_rng(3)
    values = rng.normal(size=(50, 6))
    values[rng.random(values.shape) < [0, 0.1, 0.5, 1, 1, 1]] = NAN
    # Two are enough, one is not.
    values[[3, 9, 7], [3, 3, 5]] = -0.5, 0.5, 1.0
    # An estimate that is undefined has no such interval.
    estimate, left_out = [0, 0, 0, 0, 0, 0, NAN], rng.gamma(1.0, size=(9, 7))
    values = np.hstack([values, values[:, :1]])
    plain, corrected = np.array((percentile(values, 0.9), bca(values, estimate, left_out, 0.9)))
    assert np.isnan(corrected).tolist() == [[False] * 4 + [True] * 3] * 2
    assert np.isnan(plain).tolist() == [[False] * 4 + [True, True, False]] * 2
    for j in range(4):
        known = values[~np.isnan(values[:, j]), j][:, None]
        assert plain[:, j] == pytest.approx(np.quantile(known[:, 0], [0.05, 0.95]), abs=1e-12)
        alone = bca(known, [0], left_out[:, [j]], 0.9)
        assert corrected[:, [j]] == pytest.approx(np.array(alone), abs=1e-12)


def test_bca_where_its_bias_or_skewness_is_unknown_or_too_large():
    """All replicates on one side: percentile. Beyond its pole: the extreme replicate."""
    values = np.random.default_rng(2).random((200, 3))
    left_out = np.random.default_rng(3).random((9, 3)) ** 4
    corrected, plain = np.array((bca(values, [-1.0, 2.0, 0.5], left_out, 0.95), percentile(values, 0.95)))
    np.testing.assert_allclose(corrected[:, :2], plain[:, :2], rtol=1e-12)
    assert abs(corrected[1][2] - plain[1][2]) > 1e-6
    # One file is everything: the acceleration is +-1/6, and cannot be more.
    everything = np.eye(400)[:, :1]
    for side, end in ((1, 1), (-1, 0)):
        ends = bca(side * np.linspace(0, 1, 20_001)[:, None], [side * 0.999_97], -side * everything, 0.99)
        assert ends[end] == side and ends[0] <= ends[1]


def test_without_skewness_bca_only_corrects_the_bias():
    values = np.random.default_rng(4).gamma(1.0, size=(300, 1))

    def ends(left_out):
        return bca(values, [1.1], np.reshape(left_out, (-1, 1)), 0.9)

    even = ends([1.0, 2.0, 3.0])
    for left_out in (
        *([], [0.3], [0.3, NAN], [NAN] * 3, [0.1, 0.2, 0.9, INF], [0.1, 0.2, 0.9, -INF], [0.0] * 5),
        [*[0.1] * 50, np.nextafter(0.1, 1)],
    ):
        assert ends(left_out) == even
    # Replicates that equal the estimate but for rounding count as half below it.
    tied = values.round(1)
    assert bca(tied, [np.nextafter(1.1, 2)], [], 0.9) == bca(tied, [1.1], [], 0.9)
    # Files without which a score is undefined are left out of the skewness.
    assert ends([0.1, 0.15, NAN, 0.9]) == ends([0.1, 0.15, 0.9]) != even


@pytest.mark.parametrize(
    ("confidence", "low", "high"),
    [(0.8, [1.2, -INF, -INF], [INF, 1.8, INF]), (0.2, [1.8, -INF, INF], [INF, 1.2, INF])],
)
def test_one_infinite_replicate_is_as_far_out_as_it_can_be(confidence, low, high):
    values = np.array([[1.0, -INF, -INF], [2.0, 1.0, INF], [INF, 2.0, INF]])
    assert np.array(percentile(values, confidence)) == pytest.approx(np.array([low, high]))


def test_jackknife_and_runs_have_the_standard_error_of_the_mean_and_runs_students_t():
    values = np.random.default_rng(6).normal(3, 2, size=(11, 4))
    mean, error = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(11)
    ends = jackknife(mean, (values.sum(axis=0) - values) / 10, 0.95)
    np.testing.assert_allclose(ends, scipy.stats.norm.interval(0.95, mean, error), rtol=1e-12)
    peer = scipy.stats.t.interval(0.95, 10, mean, error)
    np.testing.assert_allclose(mean_of_runs(values, 0.95), [mean, *peer], rtol=1e-12)
    for n in (2, 7, 49):
        # What never differs has an interval without width.
        equal = np.full((n, 3), [0.1, 1 / 3, 1e9 + 0.1])
        assert np.array_equal(jackknife(equal[0], equal, 0.95), equal[:2])
        assert np.array_equal(mean_of_runs(equal, 0.95), [equal[0]] * 3)


def test_what_has_no_jackknife_interval():
    left_out = np.array([[0.1, NAN, INF, 0.3, 0.3, 1.0], [0.2, 0.2, 0.2, -INF, 0.3, 0.0]])
    ends = jackknife([0.1, 0.2, 0.3, 0.4, NAN, INF], left_out, 0.9)
    assert np.isnan(ends).tolist() == [[False, True, True, True, True, True]] * 2
    for files in (0, 1):
        assert np.isnan(jackknife([0.5], np.full((files, 1), 0.5), 0.9)).all()
    assert np.isnan(mean_of_runs(left_out[:, :4], 0.9)).tolist() == [[False, True, True, True]] * 3
    assert np.isnan(mean_of_runs([[0.25, NAN]], 0.9)).tolist() == [[False, True], [True, True], [True, True]]
    assert np.isnan(mean_of_runs(np.empty((0, 2)), 0.9)).all()


@pytest.mark.slow
def test_shares_that_are_documented_are_measured_again():
    """Simulations with a known truth, which intervals hold as often as it is written."""
    simulations = 150
    again = script("coverage").measured(simulations, (20,))
    for kind, shares in MEASURED.items():
        expected, (found,) = shares[MEASURED_WITH.index(20)], again[kind]
        assert abs(found - expected) < 4 * np.sqrt(expected * (1 - expected) / simulations), kind
